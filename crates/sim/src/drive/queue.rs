//! Which waiting command is next: tagged command queueing, as in SCSI drives since the 1990s and in
//! SATA drives as NCQ.
//!
//! A drive chooses among the oldest few commands that it holds. A flush is a fence: later commands
//! wait.
//!
//! ```text
//! head at sector 50; waiting in order of arrival: 90, 10, 60; sector 10 arrives under the head first
//! first come, first served   90 10 60
//! C-LOOK                     60 90 10
//! shortest positioning       10 …
//! ```

use super::cache::Outline;
use super::{Aim, Drive, Waiting};
use crate::Nanos;
use block::Op;
use std::collections::VecDeque;

/// Which waiting command a drive takes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// The oldest.
    #[default]
    Fcfs,
    /// The next one upwards from the end of the last; after the highest, the lowest.
    CLook,
    /// The one whose first sector can be reached soonest, by seek and rotation (Jacobson and Wilkes
    /// 1991). Commands that the buffer can answer come first.
    Sptf {
        /// The weight of waiting: each ms waited is worth this many µs of positioning (the weight of
        /// Worthington, Ganger and Patt's ASPTF). With 0 a command may starve. With 1000 waiting counts
        /// as much as positioning, and the order is nearly first come, first served.
        ageing_us_per_ms: u32,
    },
}

/// Waiting commands, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(VecDeque<Waiting>);

impl Queue {
    /// Adds a command.
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    /// Takes the one at `index`, counted from the oldest.
    fn pop(&mut self, index: usize) -> Option<Waiting> {
        self.0.remove(index)
    }

    /// Takes the oldest.
    pub(super) fn pop_oldest(&mut self) -> Option<Waiting> {
        self.0.pop_front()
    }

    /// The place of the one with the least `cost` among the oldest `depth` before a flush; of equals,
    /// the oldest. Where `floor` gives a cost, neither this command nor a later one costs less.
    fn least<C: Ord>(
        &self,
        depth: usize,
        cost: impl Fn(&Waiting) -> C,
        floor: impl Fn(&Waiting) -> Option<C>,
    ) -> usize {
        let held = self.0.iter().take(depth.max(1));
        let free = held.take_while(|waiting| waiting.request.op != Op::Flush);
        let mut least: Option<(usize, C)> = None;
        for (index, waiting) in free.enumerate() {
            if let Some((_, least)) = &least
                && floor(waiting).is_some_and(|floor| floor >= *least)
            {
                break;
            }
            let cost = cost(waiting);
            if least.as_ref().is_none_or(|(_, least)| cost < *least) {
                least = Some((index, cost));
            }
        }
        least.map_or(0, |(index, _)| index)
    }
}

impl Drive {
    /// Puts `waiting` into the queue.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        let firmware = &self.controller.firmware;
        let aims = firmware.queue_depth > 1
            && matches!(firmware.discipline, Discipline::Sptf { .. })
            && waiting.request.op != Op::Flush;
        let aim = if aims { self.mechanics.aim(waiting.request.sector) } else { Aim::default() };
        self.queue.push(Waiting { aim, ..waiting });
    }

    /// Takes the command that is next at `now`.
    pub(super) fn next_waiting(&mut self, now: Nanos) -> Option<Waiting> {
        let depth = self.controller.firmware.queue_depth;
        if depth <= 1 {
            return self.queue.pop_oldest();
        }
        match self.controller.firmware.discipline {
            Discipline::Fcfs => self.queue.pop_oldest(),
            Discipline::CLook => {
                let position = self.before.map_or(0, |before| before.end);
                let upwards =
                    |waiting: &Waiting| (waiting.request.sector < position, waiting.request.sector);
                self.queue.pop(self.queue.least(depth, upwards, |_| None))
            }
            Discipline::Sptf { ageing_us_per_ms } => {
                let outline = self.segments.outline();
                let aged = |waiting: &Waiting| {
                    let aged = (now - waiting.arrived) * u64::from(ageing_us_per_ms) / 1000;
                    aged.cast_signed()
                };
                let cost = |waiting: &Waiting| {
                    self.positioning_ns(now, waiting, outline).cast_signed() - aged(waiting)
                };
                // The later ones have waited less, and none can be reached sooner than at once.
                let next = self.queue.least(depth, cost, |waiting| Some(-aged(waiting)));
                self.queue.pop(next)
            }
        }
    }

    /// How long after `now` the arm would be in place for `waiting`; zero for a command that needs no
    /// arm. `outline` is that of the segments.
    #[inline]
    fn positioning_ns(&self, now: Nanos, waiting: &Waiting, outline: Outline) -> Nanos {
        let request = &waiting.request;
        let (write, overhead_ns) = match request.op {
            Op::Read => {
                let (start, end) = (request.sector, request.end());
                let read = outline.meets(start) && self.segments.hold(start, end);
                if read || self.dirty.covers(start, end) {
                    return 0;
                }
                (false, self.controller.read_miss_overhead_ns)
            }
            Op::Write { fua } if fua || !self.has_room_for(request) => {
                (true, self.controller.write_overhead_ns)
            }
            Op::Write { .. } | Op::Flush | Op::Discard | Op::Zeroes => return 0,
        };
        let from = (now + overhead_ns).max(self.arm_free_at);
        from - now + self.mechanics.positioning_ns(from, waiting.aim, write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::Request;

    /// Where a command's age alone decides that neither it nor a later one can be the least, looking no
    /// further finds the same command as looking at all.
    #[test]
    fn a_floor_changes_no_choice() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for length in [1, 2, 5, 40] {
            for _ in 0..200 {
                let mut queue = Queue::default();
                let mut arrived = 0;
                for tag in 0..length {
                    arrived += random(3);
                    let op = if random(30) == 0 { Op::Flush } else { Op::Read };
                    let request = Request { op, ..Request::read(random(20), 1) };
                    queue.push(Waiting { tag, request, arrived, aim: Aim::default() });
                }
                let aged = |waiting: &Waiting| (arrived - waiting.arrived).cast_signed();
                let cost = |waiting: &Waiting| waiting.request.sector.cast_signed() - aged(waiting);
                for depth in [1, 3, 40] {
                    let all = queue.least(depth, cost, |_| None);
                    assert_eq!(queue.least(depth, cost, |waiting| Some(-aged(waiting))), all);
                }
            }
        }
    }
}
