//! Which of the commands that wait is next: tagged command queueing, as SCSI drives have had it since
//! the 1990s and SATA drives as NCQ.
//!
//! A drive chooses among the oldest few that it holds. A flush is a fence: what came after it waits.
//!
//! ```text
//! head at sector 50, waiting in order of arrival: 90, 10, 60; the platter will bring 10 round first
//! first come, first served   90 10 60
//! C-LOOK                     60 90 10
//! shortest positioning       10 …
//! ```

use super::{Drive, Waiting};
use crate::Nanos;
use block::{Op, Request};
use std::collections::VecDeque;

/// Which waiting command a drive takes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// The oldest.
    #[default]
    Fcfs,
    /// The next one upwards from where the last ended; after the highest, the lowest.
    CLook,
    /// The one whose first sector can be had soonest, seek and rotation reckoned with (Jacobson and
    /// Wilkes 1991). What the buffer can answer comes first.
    Sptf {
        /// How much a wait counts: each ms waited is worth so many µs of positioning (the weight of
        /// Worthington, Ganger and Patt's ASPTF). 0 lets an unlucky command wait for ever; at 1000
        /// waiting counts as much as positioning, and it is nearly first come, first served.
        ageing_us_per_ms: u32,
    },
}

/// Commands that wait, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(VecDeque<Waiting>);

impl Queue {
    /// One more.
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    /// Takes the oldest.
    pub(super) fn pop_oldest(&mut self) -> Option<Waiting> {
        self.0.pop_front()
    }

    /// Takes the one with the least `cost` among the oldest `depth` before a flush; of equals, the
    /// oldest.
    fn pop_least<C: Ord>(
        &mut self,
        depth: usize,
        mut cost: impl FnMut(&Waiting) -> C,
    ) -> Option<Waiting> {
        let held = self.0.iter().take(depth.max(1));
        let free = held.take_while(|waiting| waiting.request.op != Op::Flush);
        let least = free.map(&mut cost).enumerate().min_by(|(_, a), (_, b)| a.cmp(b));
        self.0.remove(least.map_or(0, |(index, _)| index))
    }
}

impl Drive {
    /// Takes the command whose turn it is at `now`.
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
                self.queue.pop_least(depth, upwards)
            }
            Discipline::Sptf { ageing_us_per_ms } => {
                let mut queue = std::mem::take(&mut self.queue);
                let next = queue.pop_least(depth, |waiting| {
                    let aged = (now - waiting.arrived) * u64::from(ageing_us_per_ms) / 1000;
                    self.positioning_ns(now, &waiting.request).cast_signed() - aged.cast_signed()
                });
                self.queue = queue;
                next
            }
        }
    }

    /// How long after `now` the arm would be in place for `request`; nothing for what needs no arm.
    fn positioning_ns(&self, now: Nanos, request: &Request) -> Nanos {
        let (write, overhead_ns) = match request.op {
            Op::Read => {
                let (start, end) = (request.sector, request.end());
                if self.segments.find(start, end).is_some() || self.dirty.covers(start, end) {
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
        from - now + self.mechanics.positioning_ns(from, request.sector, write)
    }
}
