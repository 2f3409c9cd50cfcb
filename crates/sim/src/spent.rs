//! Where the time of a request went.

use crate::Nanos;
use std::ops::{AddAssign, Index};

/// What a request can spend time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Waiting for its turn: at the processor, in a drive's queue, for a lock.
    Queue,
    /// The host's processor working on it.
    Cpu,
    /// The drive's controller working on it.
    Overhead,
    /// Moving the arm.
    Seek,
    /// Waiting for the first sector to come round.
    Rotation,
    /// Reading the sectors on the medium that a write covers only in part, and the turn until they come
    /// round again.
    PartSector,
    /// Going on to the next head or cylinder within the transfer.
    HeadSwitch,
    /// Sectors passing under the head.
    Media,
    /// On the bus, or waiting for it, after the medium is done.
    Bus,
    /// Waiting for the cache: for read-ahead to arrive, or for room to write into.
    Cache,
}

impl Part {
    /// All of them, in the order in which they are stored and printed.
    pub const ALL: [Part; 10] = [
        Part::Queue,
        Part::Cpu,
        Part::Overhead,
        Part::Seek,
        Part::Rotation,
        Part::PartSector,
        Part::HeadSwitch,
        Part::Media,
        Part::Bus,
        Part::Cache,
    ];
}

/// Nanoseconds spent on each part. The parts of a finished request sum exactly to its latency.
///
/// For a request that was split, it is the critical path: the piece that finished last, and what had
/// to finish before that piece could start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent([Nanos; Part::ALL.len()]);

impl Spent {
    /// Nothing yet.
    pub const NONE: Spent = Spent([0; Part::ALL.len()]);

    /// Adds `nanos` to `part`.
    pub fn add(&mut self, part: Part, nanos: Nanos) {
        self.0[part as usize] += nanos;
    }

    /// The same time, all of it on `part` but what went on `kept`.
    pub(crate) fn all_on(self, part: Part, kept: &[Part]) -> Spent {
        let mut spent = Spent::NONE;
        for each in Part::ALL {
            spent.add(if kept.contains(&each) { each } else { part }, self[each]);
        }
        spent
    }

    /// The sum of all parts.
    pub fn total(&self) -> Nanos {
        self.0.iter().sum()
    }
}

impl Index<Part> for Spent {
    type Output = Nanos;

    fn index(&self, part: Part) -> &Nanos {
        &self.0[part as usize]
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// A stopwatch that charges each stretch of time to a part, so that nothing is lost or counted twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledger {
    spent: Spent,
    charged_to: Nanos,
}

impl Ledger {
    /// Starts at `start`, nothing spent.
    pub(crate) fn start(start: Nanos) -> Self {
        Ledger { spent: Spent::NONE, charged_to: start }
    }

    /// Charges the time up to `until` to `part`. Time already charged is not charged again.
    pub(crate) fn charge(&mut self, part: Part, until: Nanos) {
        self.spent.add(part, until.saturating_sub(self.charged_to));
        self.charged_to = self.charged_to.max(until);
    }

    /// Charges a stretch whose parts are known; it starts where the last one ended.
    pub(crate) fn charge_all(&mut self, parts: Spent) {
        self.charged_to += parts.total();
        self.spent += parts;
    }

    /// Up to when everything is charged.
    pub(crate) fn charged_to(&self) -> Nanos {
        self.charged_to
    }

    /// What has been spent on what.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_charges_every_nanosecond_once() {
        let mut ledger = Ledger::start(100);
        ledger.charge(Part::Queue, 150);
        ledger.charge(Part::Bus, 140);
        let mut parts = Spent::NONE;
        parts.add(Part::Seek, 30);
        parts.add(Part::Media, 20);
        ledger.charge_all(parts);
        ledger.charge(Part::Bus, 210);
        assert_eq!((ledger.spent().total(), ledger.charged_to()), (110, 210));
        assert_eq!((ledger.spent()[Part::Queue], ledger.spent()[Part::Bus]), (50, 10));
    }

    #[test]
    fn parts_are_numbered_as_listed() {
        for (index, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, index);
        }
    }
}
