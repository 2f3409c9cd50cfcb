//! Free blocks as runs: what ext4 keeps as bitmaps on the disk and as buddies in memory.

use std::collections::BTreeMap;
use std::ops::Range;

/// The free blocks of a file system, as runs that do not touch one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    /// The end of each run, by its start.
    ends: BTreeMap<u64, u64>,
}

impl Runs {
    /// All of `blocks` is free.
    pub(super) fn new(blocks: Range<u64>) -> Self {
        Runs { ends: BTreeMap::from([(blocks.start, blocks.end)]) }
    }

    /// The free runs within `area`, cut at its ends, in order.
    pub(super) fn within(&self, area: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let before = self.ends.range(..area.start).next_back();
        let first = before.filter(|&(_, &end)| end > area.start);
        let cut = move |(&start, &end): (&u64, &u64)| start.max(area.start)..end.min(area.end);
        first.into_iter().chain(self.ends.range(area.start..area.end)).map(cut)
    }

    /// The first `count` free blocks in a row within `area`.
    pub(super) fn first_fit(&self, area: Range<u64>, count: u64) -> Option<u64> {
        self.within(area).find(|run| run.end - run.start >= count).map(|run| run.start)
    }

    /// How many blocks from `block` on are free, within `area_end`.
    pub(super) fn free_from(&self, block: u64, area_end: u64) -> u64 {
        let run = self.within(block..area_end).next().filter(|run| run.start == block);
        run.map_or(0, |run| run.end - run.start)
    }

    /// Free blocks within `area`.
    pub(super) fn count(&self, area: Range<u64>) -> u64 {
        self.within(area).map(|run| run.end - run.start).sum()
    }

    /// Takes blocks that are free.
    ///
    /// # Panics
    ///
    /// Where one of them is not.
    pub(super) fn take(&mut self, blocks: Range<u64>) {
        let found = self.ends.range(..=blocks.start).next_back().map(|(&start, &end)| start..end);
        let run = found.filter(|run| run.end >= blocks.end).expect("what is taken is free");
        self.ends.remove(&run.start);
        if run.start < blocks.start {
            self.ends.insert(run.start, blocks.start);
        }
        if blocks.end < run.end {
            self.ends.insert(blocks.end, run.end);
        }
    }

    /// Frees blocks that are taken.
    ///
    /// # Panics
    ///
    /// Where one of them is free.
    pub(super) fn give(&mut self, blocks: Range<u64>) {
        let mut merged = blocks.clone();
        if let Some((&start, &end)) = self.ends.range(..blocks.end).next_back() {
            assert!(end <= blocks.start, "{blocks:?} is freed twice");
            if end == blocks.start {
                merged.start = start;
            }
        }
        if let Some(end) = self.ends.remove(&blocks.end) {
            merged.end = end;
        }
        self.ends.insert(merged.start, merged.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(runs: &Runs) -> Vec<Range<u64>> {
        runs.within(0..u64::MAX).collect()
    }

    #[test]
    fn what_is_given_back_joins_its_neighbours() {
        let mut runs = Runs::new(10..100);
        for blocks in [20..30, 10..15, 95..100, 30..40] {
            runs.take(blocks);
        }
        assert_eq!(all(&runs), [15..20, 40..95]);
        assert_eq!(runs.count(18..50), 12);
        assert_eq!(runs.first_fit(0..90, 6), Some(40));
        assert_eq!((runs.free_from(45, 50), runs.free_from(20, 50)), (5, 0));
        assert_eq!((runs.first_fit(0..44, 6), runs.first_fit(16..90, 4)), (None, Some(16)));
        for blocks in [25..30, 20..25, 95..100, 30..40, 10..15] {
            runs.give(blocks);
        }
        assert_eq!(runs, Runs::new(10..100));
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn nothing_is_freed_twice() {
        let mut runs = Runs::new(0..100);
        runs.take(10..20);
        runs.give(15..25);
    }
}
