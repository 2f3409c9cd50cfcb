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

    /// How long after `now` the arm would be in place for `request`; zero for a request that needs no
    /// arm.
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
