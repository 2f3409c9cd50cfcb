//! A choice among few: each is looked at.

use super::super::cache::Outline;
use super::{Discipline, Drive, Waiting};
use crate::Nanos;
use block::Op;
use std::collections::VecDeque;

/// The place of the one with the least `cost` among the oldest `depth` before a flush; of equals, the oldest. Where
/// `floor` gives a cost, neither this command nor a later one costs less.
fn least<C: Ord>(
    waiting: &VecDeque<Waiting>,
    depth: usize,
    cost: impl Fn(&Waiting) -> C,
    floor: impl Fn(&Waiting) -> Option<C>,
) -> usize {
    let held = waiting.iter().take(depth);
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

impl Drive {
    /// The place among those outside of the command that is next at `now`.
    pub(super) fn scanned(&self, now: Nanos) -> usize {
        let (waiting, depth) = (&self.queue.outside, self.choices());
        match self.controller.firmware.discipline {
            Discipline::Fcfs => 0,
            Discipline::CLook => {
                let position = self.before.map_or(0, |before| before.end);
                let upwards =
                    |waiting: &Waiting| (waiting.request.sector < position, waiting.request.sector);
                least(waiting, depth, upwards, |_| None)
            }
            Discipline::Sptf { ageing_us_per_ms } => {
                let outline = self.segments.outline();
                let aged = |waiting: &Waiting| {
                    let aged = (now - waiting.arrived) * u64::from(ageing_us_per_ms) / 1000;
                    aged.cast_signed()
                };
                let cost = |waiting: &Waiting| {
                    self.scanned_ns(now, waiting, &outline).cast_signed() - aged(waiting)
                };
                // The later ones have waited less, and none can be reached sooner than at once.
                least(waiting, depth, cost, |waiting| Some(-aged(waiting)))
            }
        }
    }

    /// How long after `now` the arm would be in place for `waiting`; zero for a command that needs no
    /// arm. `outline` is that of the segments.
    #[inline]
    fn scanned_ns(&self, now: Nanos, waiting: &Waiting, outline: &Outline) -> Nanos {
        let request = &waiting.request;
        let (write, overhead_ns) = match request.op {
            Op::Read => {
                let (start, end) = (request.sector, request.end());
                let read = outline.meets(start) && self.segments.hold(start, end);
                if read || self.dirty.covers(start, end) || self.goes_on_ahead(start, end) {
                    return 0;
                }
                (false, self.controller.read_miss_overhead_ns)
            }
            Op::Write { .. } if self.goes_on_writing(now, request, waiting.arrived) => return 0,
            Op::Write { fua } if fua || !self.has_room_for(request) => {
                (true, self.controller.write_overhead_ns)
            }
            Op::Write { .. } | Op::Flush | Op::Discard | Op::Zeroes => return 0,
        };
        let from = (now + overhead_ns).max(self.arm_free_at);
        from - now + self.mechanics.positioning_ns(from, waiting.aim, write)
    }
}
