//! Where the time of a request went.

use crate::Nanos;
use std::ops::{AddAssign, Index};

/// The name of a part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartName {
    /// The sample that it is stored under, in ms a request; its words stand in the table of samples.
    pub sample: &'static str,
}

/// The parts of each class of device, in the order in which they are stored and printed. A class with
/// parts of its own names them in its own file, and has a line here.
const CLASSES: [&[PartName]; 6] = [
    &HOST,
    &crate::drive::PARTS,
    &crate::smr::PARTS,
    &crate::flash::PARTS,
    &crate::cloud::PARTS,
    &LINK,
];

/// What hosts and controllers spend time on.
const HOST: [PartName; 5] = [
    PartName { sample: "queue_ms" },
    PartName { sample: "bitmap_ms" },
    PartName { sample: "mark_ms" },
    PartName { sample: "cpu_ms" },
    PartName { sample: "overhead_ms" },
];

/// What is spent between a device and its host.
const LINK: [PartName; 2] = [PartName { sample: "bus_ms" }, PartName { sample: "cache_ms" }];

/// A part of a request's time: a number, named by the class of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(u8);

impl Part {
    /// How many there are.
    pub const COUNT: usize = {
        let (mut class, mut count) = (0, 0);
        while class < CLASSES.len() {
            count += CLASSES[class].len();
            class += 1;
        }
        count
    };

    /// Waiting in a queue: for the processor, in a drive, for a lock.
    pub const QUEUE: Part = Part::named("queue_ms");
    /// Waiting until the bits of a write-intent bitmap are written.
    pub const BITMAP: Part = Part::named("bitmap_ms");
    /// Waiting until the superblocks say that the array is in use.
    pub const MARK: Part = Part::named("mark_ms");
    /// The host's processor working on it.
    pub const CPU: Part = Part::named("cpu_ms");
    /// The drive's controller working on it.
    pub const OVERHEAD: Part = Part::named("overhead_ms");
    /// On the bus, or waiting for it, after the medium is done.
    pub const BUS: Part = Part::named("bus_ms");
    /// Waiting for the cache: for read-ahead to arrive, or for room to write into.
    pub const CACHE: Part = Part::named("cache_ms");

    /// All of them, in the order in which they are stored and printed.
    pub fn all() -> impl Iterator<Item = Part> {
        (0..Part::COUNT as u8).map(Part)
    }

    /// The part that is stored as `sample`; for constants.
    ///
    /// # Panics
    ///
    /// Where no class has it, which for a constant is an error of the compiler.
    pub const fn named(sample: &str) -> Part {
        let mut index = 0;
        while !is_same(Part::name_of(index).sample, sample) {
            index += 1;
        }
        Part(index as u8)
    }

    /// Its name.
    pub const fn name(self) -> PartName {
        Part::name_of(self.0 as usize)
    }

    const fn name_of(mut index: usize) -> PartName {
        let mut class = 0;
        while index >= CLASSES[class].len() {
            index -= CLASSES[class].len();
            class += 1;
        }
        CLASSES[class][index]
    }

    /// Its place in the order of [`Part::all`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// `==` for texts, which constants cannot use.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Nanoseconds spent on each part. The parts of a finished request sum exactly to its latency.
///
/// For a request that was split, it is the critical path: the piece that finished last, and what had to
/// finish before that piece could start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent([Nanos; Part::COUNT]);

impl Spent {
    /// Nothing yet.
    pub const NONE: Spent = Spent([0; Part::COUNT]);

    /// Adds `nanos` to `part`.
    pub fn add(&mut self, part: Part, nanos: Nanos) {
        self.0[part.index()] += nanos;
    }

    /// The same total, of which up to `nanos` are on `to` and no longer on `from`.
    pub(crate) fn moved(mut self, from: Part, to: Part, nanos: Nanos) -> Spent {
        let nanos = nanos.min(self[from]);
        self.0[from.index()] -= nanos;
        self.0[to.index()] += nanos;
        self
    }

    /// The same total, all of it on `part` except what was spent on `kept`.
    pub(crate) fn all_on(self, part: Part, kept: &[Part]) -> Spent {
        let mut spent = Spent::NONE;
        for each in Part::all() {
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
        &self.0[part.index()]
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

    /// Starts again at `start`, after all that was spent was taken.
    #[inline]
    pub(crate) fn start_again(&mut self, start: Nanos) {
        debug_assert_eq!(self.spent, Spent::NONE, "it is of another command");
        self.charged_to = start;
    }

    /// Takes what was spent out of it. To copy all of a [`Spent`] is a call, and then there would still be zeroes to write.
    #[inline]
    pub(crate) fn take(&mut self) -> Spent {
        let mut taken = Spent::NONE;
        for (taken, mine) in taken.0.iter_mut().zip(&mut self.spent.0) {
            *taken = std::mem::take(mine);
        }
        taken
    }

    /// Charges the time up to `until` to `part`. Time already charged is not charged again.
    pub(crate) fn charge(&mut self, part: Part, until: Nanos) {
        self.spent.add(part, until.saturating_sub(self.charged_to));
        self.charged_to = self.charged_to.max(until);
    }

    /// Charges a stretch whose parts are known; it starts at the end of the last one.
    pub(crate) fn charge_all(&mut self, parts: &Spent) {
        let mut total = 0;
        for (mine, theirs) in self.spent.0.iter_mut().zip(&parts.0) {
            *mine += theirs;
            total += theirs;
        }
        self.charged_to += total;
    }

    /// What was spent by `at`, the end of one more stretch whose parts are `last`. What neither has was waiting.
    #[inline]
    pub(crate) fn ended(&self, at: Nanos, last: &Spent) -> Spent {
        let (mut spent, mut charged_to) = (self.spent, self.charged_to);
        for (mine, theirs) in spent.0.iter_mut().zip(&last.0) {
            *mine += theirs;
            charged_to += theirs;
        }
        spent.add(Part::QUEUE, at.saturating_sub(charged_to));
        spent
    }

    /// Up to when everything is charged.
    pub(crate) fn charged_to(&self) -> Nanos {
        self.charged_to
    }

    /// The time spent on each part.
    pub(crate) fn spent(&self) -> &Spent {
        &self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_charges_every_nanosecond_once() {
        let mut ledger = Ledger::start(100);
        ledger.charge(Part::QUEUE, 150);
        ledger.charge(Part::BUS, 140);
        let mut parts = Spent::NONE;
        parts.add(Part::SEEK, 30);
        parts.add(Part::MEDIA, 20);
        ledger.charge_all(&parts);
        ledger.charge(Part::BUS, 210);
        assert_eq!((ledger.spent().total(), ledger.charged_to()), (110, 210));
        assert_eq!((ledger.spent()[Part::QUEUE], ledger.spent()[Part::BUS]), (50, 10));
    }

    /// As if the last stretch were charged, and then what is left until the end.
    #[test]
    fn what_ends_a_ledger_is_charged_as_a_stretch() {
        let mut last = Spent::NONE;
        last.add(Part::QUEUE, 5);
        last.add(Part::MEDIA, 20);
        for end in [130, 175, 190] {
            let mut ledger = Ledger::start(100);
            ledger.charge(Part::CPU, 150);
            let spent = ledger.ended(end, &last);
            ledger.charge_all(&last);
            ledger.charge(Part::QUEUE, end);
            assert_eq!(spent, *ledger.spent());
        }
    }

    #[test]
    fn what_is_taken_out_of_a_ledger_is_there_no_more() {
        let mut ledger = Ledger::start(100);
        ledger.charge(Part::QUEUE, 130);
        ledger.charge(Part::CACHE, 140);
        let whole = *ledger.spent();
        assert_eq!((ledger.take(), *ledger.spent()), (whole, Spent::NONE));
        ledger.start_again(200);
        ledger.charge(Part::BUS, 205);
        assert_eq!((ledger.spent().total(), ledger.spent()[Part::BUS]), (5, 5));
    }

    #[test]
    fn each_part_has_a_sample_of_its_own() {
        for part in Part::all() {
            assert_eq!(Part::named(part.name().sample), part);
            assert!(part.name().sample.ends_with("_ms"));
        }
        assert_eq!(Part::all().count(), Part::COUNT);
    }
}
