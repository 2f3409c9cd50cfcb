//! Shortest positioning time first, without looking at every command.
//!
//! A command costs its positioning time less what its age is worth. Commands that need no arm are found
//! through the buffer. The others are looked at outwards from the arm, and from the oldest on. Those that are
//! left need a longer seek and are younger, so that their cost has a floor: the shortest seek of that
//! distance or more, less what the oldest of them is worth. The search ends when the floor is above the
//! least cost found.

use super::super::{Drive, Waiting};
use super::held::{Place, Rank};
use crate::Nanos;
use block::Op;

/// How costs are counted at one choice.
struct Costs {
    now: Nanos,
    ageing_us_per_ms: u32,
    /// When the arm could start for a read, and for a write.
    starts: [Nanos; 2],
}

impl Costs {
    /// What the age of a command is worth, in ns.
    fn aged_ns(&self, arrived: Nanos) -> i64 {
        if self.ageing_us_per_ms == 0 {
            return 0;
        }
        ((self.now - arrived) * u64::from(self.ageing_us_per_ms) / 1000).cast_signed()
    }
}

impl Drive {
    /// The command that costs least at `now`; of equals, the oldest.
    pub(super) fn shortest(&mut self, now: Nanos, ageing_us_per_ms: u32) -> Option<Rank> {
        let start = |overhead_ns: Nanos| (now + overhead_ns).max(self.arm_free_at);
        let controller = &self.controller;
        let starts = [controller.read_miss_overhead_ns, controller.write_overhead_ns].map(start);
        let costs = Costs { now, ageing_us_per_ms, starts };
        let without_arm = self.oldest_without_arm(now);
        self.shortest_outwards(&costs, without_arm)
    }

    /// The command that costs least, where `without_arm` is the oldest that needs no arm.
    fn shortest_outwards(&self, costs: &Costs, without_arm: Option<Rank>) -> Option<Rank> {
        let held = &self.queue.held;
        let found = without_arm.and_then(|rank| Some((rank, held.get(rank)?)));
        let mut least = found.map(|(rank, waiting)| (-costs.aged_ns(waiting.arrived), rank));
        let consider = |least: &mut Option<(i64, Rank)>, rank, place: &Place| {
            let cost = (self.cost_ns(costs, place), rank);
            if least.is_none_or(|least| cost < least) {
                *least = Some(cost);
            }
        };
        let split = self.mechanics.sector();
        let aimed = |(_, rank, place): (u64, Rank, Place)| (place.aim, (rank, place));
        let (above, below) = (held.above(split).map(aimed), held.below(split).map(aimed));
        let mut old = held.by_age().take(if costs.ageing_us_per_ms == 0 { 0 } else { usize::MAX });
        for (distance, _, (rank, place)) in self.mechanics.outwards(above, below) {
            let oldest = old.next();
            let aged_ns = oldest.map_or(0, |(_, waiting)| costs.aged_ns(waiting.arrived));
            if let Some((least, _)) = least
                && self.floor_ns(costs, distance) - aged_ns > least
            {
                break;
            }
            consider(&mut least, rank, &place);
            if let Some((rank, waiting)) = oldest {
                consider(&mut least, rank, &Place::from(waiting));
            }
        }
        least.map(|(_, rank)| rank)
    }

    /// The cost in ns of a command that needs the arm.
    #[inline]
    fn cost_ns(&self, costs: &Costs, place: &Place) -> i64 {
        let start = costs.starts[usize::from(!place.reads)];
        let positioning = self.mechanics.positioning_ns(start, place.aim, !place.reads);
        (start - costs.now + positioning).cast_signed() - costs.aged_ns(place.arrived)
    }

    /// What a command `distance` cylinders away or more costs at least, without its age.
    #[inline]
    fn floor_ns(&self, costs: &Costs, distance: u32) -> i64 {
        let floor = |write| {
            let start = costs.starts[usize::from(write)];
            start - costs.now + self.mechanics.least_reach_ns(distance, write)
        };
        floor(false).min(floor(true)).cast_signed()
    }

    /// The oldest command for which the arm need not move: a read that the buffer answers or that goes on where the drive
    /// is reading ahead, a write that the buffer accepts or that goes on where the head has just written, or a discard.
    fn oldest_without_arm(&mut self, now: Nanos) -> Option<Rank> {
        let capacity = self.controller.write_buffer_sectors;
        let room = if self.has_spare_segment() {
            capacity.saturating_sub(self.buffered_sectors())
        } else {
            0
        };
        let accepted = self.queue.held.oldest_with_room(room, |waiting| self.accepts(waiting));
        let goes_on = [self.oldest_ahead(), self.oldest_written_on(now)];
        let buffered = [accepted, self.oldest_hit(), self.oldest_continuing()];
        let oldest = goes_on.into_iter().chain(buffered).flatten().min();
        if self.dirty.is_empty() {
            return oldest;
        }
        let mut held = std::mem::take(&mut self.queue.held);
        let met = held.oldest_met(
            oldest.unwrap_or(Rank::MAX),
            |waiting| self.accepts(waiting),
            |waiting| self.meets_dirty(waiting),
        );
        self.queue.held = held;
        met.or(oldest)
    }

    /// Whether the write buffer answers or accepts a command.
    fn accepts(&self, waiting: &Waiting) -> bool {
        let request = &waiting.request;
        match request.op {
            Op::Read => self.dirty.covers(request.sector, request.end()),
            Op::Write { fua } => !fua && self.has_room_for(request),
            Op::Discard | Op::Zeroes | Op::Flush => true,
        }
    }

    /// Whether a command meets a write in the buffer, or is next to one.
    pub(super) fn meets_dirty(&self, waiting: &Waiting) -> bool {
        let request = &waiting.request;
        self.dirty.overlaps(request.sector.saturating_sub(1), request.end() + 1)
    }

    /// The oldest read that a segment answers.
    fn oldest_hit(&self) -> Option<Rank> {
        let held = &self.queue.held;
        // Looking at a command costs an eighth of looking for those of a segment.
        if held.len() / 8 < self.segments.count() {
            let outline = self.segments.outline();
            let hits = held.above(0).filter(|&(sector, _, place)| {
                let end = sector + u64::from(place.sectors);
                place.reads && outline.meets(sector) && self.segments.hold(sector, end)
            });
            return hits.map(|(_, rank, _)| rank).min();
        }
        let hits = self.segments.spans().flat_map(|(start, end)| {
            let starts = held.above(start).take_while(move |&(sector, _, _)| sector < end);
            starts.filter(move |(sector, _, place)| {
                place.reads && sector + u64::from(place.sectors) <= end
            })
        });
        hits.map(|(_, rank, _)| rank).min()
    }

    /// The oldest read that only goes on where the drive is reading ahead.
    fn oldest_ahead(&self) -> Option<Rank> {
        let segment = self.segments.get(self.ahead.as_ref()?.segment);
        let starts = self.queue.held.above(segment.start);
        let near = starts.take_while(|&(sector, _, _)| sector <= segment.end);
        let goes_on = near.filter(|&(sector, _, place)| {
            place.reads && self.goes_on_ahead(sector, sector + u64::from(place.sectors))
        });
        goes_on.map(|(_, rank, _)| rank).min()
    }

    /// The oldest write that goes on where the last one has left the head.
    fn oldest_written_on(&self, now: Nanos) -> Option<Rank> {
        let (at, ended) = self.written_to;
        if ended != now {
            return None;
        }
        let held = &self.queue.held;
        let starts = held.above(at).take_while(|&(sector, _, _)| sector == at);
        let mut ranks = starts.filter(|(_, _, place)| !place.reads).map(|(_, rank, _)| rank);
        ranks.find(|&rank| {
            let goes_on =
                |waiting: &Waiting| self.goes_on_writing(now, &waiting.request, waiting.arrived);
            held.get(rank).is_some_and(goes_on)
        })
    }

    /// The oldest write that the buffer accepts because it continues the extent that leaves it.
    fn oldest_continuing(&self) -> Option<Rank> {
        let at = self.destage.as_ref()?.extent.end();
        let held = &self.queue.held;
        if self.has_spare_segment() {
            return None;
        }
        let starts = held.above(at).take_while(|&(sector, _, _)| sector == at);
        let mut ranks = starts.filter(|(_, _, place)| !place.reads).map(|(_, rank, _)| rank);
        ranks.find(|&rank| held.get(rank).is_some_and(|waiting| self.accepts(waiting)))
    }
}
