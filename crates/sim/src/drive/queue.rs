//! Which waiting command is next: tagged command queueing, as in SCSI drives since the 1990s and in
//! SATA drives as NCQ.
//!
//! A drive chooses among the oldest few commands that it holds. A flush is a fence: later commands
//! wait. Among few, each is looked at ([`scan`]). Many are kept in order, so that a choice looks at few of
//! them: C-LOOK at one, [`shortest`] at those near the arm.
//!
//! ```text
//! head at sector 50; waiting in order of arrival: 90, 10, 60; sector 10 arrives under the head first
//! first come, first served   90 10 60
//! C-LOOK                     60 90 10
//! shortest positioning       10 …
//! ```

mod held;
mod scan;
mod shortest;
#[cfg(test)]
mod tests;

use super::{Aim, Drive, Waiting};
use crate::Nanos;
use block::Op;
use held::Held;
use std::collections::VecDeque;

/// Among no more than this many commands each is looked at, which then costs less than to keep them in order
/// (docs/speed.md).
const SCANNED_MAX: usize = 64;

/// Which waiting command a drive takes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// The oldest.
    #[default]
    Fcfs,
    /// The next one upwards from the end of the last; after the highest, the lowest.
    CLook,
    /// The one whose first sector can be reached soonest, by seek and rotation (Jacobson and Wilkes
    /// 1991). Commands that the buffer can answer come first, and those that only go on where the drive is reading
    /// ahead or has just written.
    Sptf {
        /// The weight of waiting: each ms waited is worth this many µs of positioning (the weight of
        /// Worthington, Ganger and Patt's ASPTF). With 0 a command may starve. With 1000 waiting counts
        /// as much as positioning, and the order is nearly first come, first served.
        ageing_us_per_ms: u32,
    },
}

/// Waiting commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// Those that the drive chooses among, where they are kept in order.
    held: Held,
    /// The younger ones, the oldest first: they wait for a place among those, or behind a flush. All, where none are
    /// kept in order.
    outside: VecDeque<Waiting>,
}

impl Queue {
    /// Takes the oldest.
    pub(super) fn pop_oldest(&mut self) -> Option<Waiting> {
        let oldest = self.held.oldest().and_then(|rank| self.held.take(rank));
        oldest.or_else(|| self.outside.pop_front())
    }

    /// A write of `start..end` has come into the drive's buffer.
    pub(super) fn meet(&mut self, start: u64, end: u64) {
        self.held.meet(start, end);
    }
}

impl Drive {
    /// Puts `waiting` into the queue.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        let aims = matches!(self.controller.firmware.discipline, Discipline::Sptf { .. })
            && self.choices() > 1
            && waiting.request.op != Op::Flush;
        let aim = if aims { self.mechanics.aim(waiting.request.sector) } else { Aim::default() };
        self.queue.outside.push_back(Waiting { aim, ..waiting });
        if self.choices() > SCANNED_MAX {
            self.admit();
        }
    }

    /// Among how many commands the drive chooses; 1 where it does not.
    fn choices(&self) -> usize {
        let firmware = &self.controller.firmware;
        if firmware.discipline == Discipline::Fcfs { 1 } else { firmware.queue_depth.max(1) }
    }

    /// Lets the drive choose among what came next, as far as it can and up to the next flush; called where what it chooses
    /// among is kept in order.
    fn admit(&mut self) {
        let choices = self.choices();
        while self.queue.held.len() < choices
            && self.queue.outside.front().is_some_and(|next| next.request.op != Op::Flush)
            && let Some(waiting) = self.queue.outside.pop_front()
        {
            let aims = matches!(self.controller.firmware.discipline, Discipline::Sptf { .. });
            let met = aims && self.meets_dirty(&waiting);
            self.queue.held.push(waiting, met);
        }
    }

    /// Takes the command that is next at `now`.
    #[inline]
    pub(super) fn next_waiting(&mut self, now: Nanos) -> Option<Waiting> {
        if matches!(self.controller.firmware.discipline, Discipline::Sptf { .. }) {
            self.catch_up_ahead(now);
        }
        #[cfg(test)]
        let plain = self.plain_choice(now);
        let waiting = match self.choices() {
            1 => self.queue.outside.pop_front(),
            2..=SCANNED_MAX => self.next_scanned(now),
            _ => self.next_in_order(now),
        };
        #[cfg(test)]
        assert_eq!(waiting.as_ref().map(|it| it.tag), plain, "a plain scan chooses another");
        waiting
    }

    /// The same where it looks at each.
    #[inline(never)]
    fn next_scanned(&mut self, now: Nanos) -> Option<Waiting> {
        let next = self.scanned(now);
        self.queue.outside.remove(next)
    }

    /// The same from what is kept in order.
    #[inline(never)]
    fn next_in_order(&mut self, now: Nanos) -> Option<Waiting> {
        let chosen = match self.controller.firmware.discipline {
            Discipline::Fcfs => None,
            Discipline::CLook => {
                self.queue.held.upwards(self.before.map_or(0, |before| before.end))
            }
            Discipline::Sptf { ageing_us_per_ms } => self.shortest(now, ageing_us_per_ms),
        };
        let chosen = chosen.and_then(|rank| self.queue.held.take(rank));
        let waiting = chosen.or_else(|| self.queue.outside.pop_front());
        self.admit();
        waiting
    }
}
