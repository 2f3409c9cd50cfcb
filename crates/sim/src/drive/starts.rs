//! Where the runs of buffered writes start, for a drive that chooses among the oldest of them.

use std::collections::{BTreeMap, BTreeSet};

/// The first sector of each run. So many of the oldest are chosen among; the others wait for a place.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    most: usize,
    chosen_among: BTreeSet<u64>,
    /// The others by age, the oldest first.
    later: BTreeMap<u64, u64>,
    /// Their ages.
    ages: BTreeMap<u64, u64>,
    next_age: u64,
}

impl Starts {
    /// Empty; at most `most` will be chosen among at a time.
    pub(super) fn new(most: usize) -> Self {
        let (later, ages) = (BTreeMap::new(), BTreeMap::new());
        Starts { most, chosen_among: BTreeSet::new(), later, ages, next_age: 0 }
    }

    /// Adds the youngest run.
    pub(super) fn add(&mut self, sector: u64) {
        self.later.insert(self.next_age, sector);
        self.ages.insert(sector, self.next_age);
        self.next_age += 1;
        self.fill();
    }

    /// The run that started at `old` starts at `new` now, and is as old.
    pub(super) fn move_to(&mut self, old: u64, new: u64) {
        if self.chosen_among.remove(&old) {
            self.chosen_among.insert(new);
        } else if let Some(age) = self.ages.remove(&old) {
            self.ages.insert(new, age);
            self.later.insert(age, new);
        }
    }

    /// The run that started at `sector` is no run of its own now, or gone.
    pub(super) fn remove(&mut self, sector: u64) {
        if self.chosen_among.remove(&sector) {
            self.fill();
        } else if let Some(age) = self.ages.remove(&sector) {
            self.later.remove(&age);
        }
    }

    /// Gives free places to the oldest that wait.
    fn fill(&mut self) {
        while self.chosen_among.len() < self.most
            && let Some((_, oldest)) = self.later.pop_first()
        {
            self.ages.remove(&oldest);
            self.chosen_among.insert(oldest);
        }
    }

    /// Those at `sector` and above that are chosen among, upwards.
    pub(super) fn above(&self, sector: u64) -> impl Iterator<Item = u64> {
        self.chosen_among.range(sector..).copied()
    }

    /// Those below, downwards.
    pub(super) fn below(&self, sector: u64) -> impl Iterator<Item = u64> {
        self.chosen_among.range(..sector).rev().copied()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Starts::new(self.most);
    }

    /// All, in ascending order.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<u64> {
        assert_eq!(self.later.len(), self.ages.len());
        assert!(self.chosen_among.len() == self.most || self.later.is_empty());
        let all: BTreeSet<u64> =
            self.chosen_among.iter().chain(self.later.values()).copied().collect();
        all.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_chosen_among() {
        let mut starts = Starts::new(2);
        for sector in [50, 10, 30, 20] {
            starts.add(sector);
        }
        let now = |starts: &Starts| starts.above(0).collect::<Vec<_>>();
        assert_eq!(now(&starts), [10, 50]);
        starts.move_to(30, 60);
        starts.move_to(50, 55);
        assert_eq!(now(&starts), [10, 55]);
        starts.remove(10);
        assert_eq!(now(&starts), [55, 60]);
        starts.remove(20);
        starts.remove(55);
        assert_eq!((now(&starts), starts.all()), (vec![60], vec![60]));
        assert!(starts.below(60).next().is_none() && starts.below(61).eq([60]));
    }
}
