//! Finds a block's buffer by its first sector.

use super::BufferId;
use crate::by_number::ByNumber;
use std::ops::Range;

/// Buffers by their first sector, in order. Blocks are allocated side by side: those of a page are found side by side, in
/// little memory, where a hash of all sectors would spread them over all of its own.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The pages in which a block begins, by their numbers.
    pages: ByNumber<Box<Page>>,
}

const WORD: u64 = u64::BITS as u64;
const WORDS: usize = 16;
/// The sectors of a page.
const PAGE: u64 = WORD * WORDS as u64;

/// The buffers of the blocks that begin in as many sectors as a page has.
#[derive(Debug, Default)]
struct Page {
    /// Where blocks begin: a bit for each sector.
    starts: [u64; WORDS],
    /// For each word, how many begin before it.
    before: [u16; WORDS],
    /// By first sector.
    buffers: Vec<BufferId>,
}

impl Page {
    /// How many blocks begin before the sector `within`, and whether one begins there.
    #[inline]
    fn find(&self, within: u64) -> (usize, bool) {
        let (word, bit) = ((within / WORD) as usize, within % WORD);
        let starts = self.starts[word];
        let before = (starts & ((1 << bit) - 1)).count_ones();
        (usize::from(self.before[word]) + before as usize, starts >> bit & 1 == 1)
    }

    /// Notes that a block begins at the sector `within`, or no longer does.
    fn toggle(&mut self, within: u64, begins: bool) {
        let word = (within / WORD) as usize;
        self.starts[word] ^= 1 << (within % WORD);
        for before in &mut self.before[word + 1..] {
            *before = if begins { *before + 1 } else { *before - 1 };
        }
    }

    /// The buffers of those that begin in `sectors`, which are counted from a page that may be another.
    fn between(&self, sectors: &Range<u64>, first: u64) -> &[BufferId] {
        let place = |sector: u64| match sector.saturating_sub(first) {
            within if within < PAGE => self.find(within).0,
            _ => self.buffers.len(),
        };
        &self.buffers[place(sectors.start)..place(sectors.end)]
    }
}

impl Index {
    #[inline]
    pub(super) fn get(&self, sector: u64) -> Option<BufferId> {
        let page = self.pages.get(&(sector / PAGE))?;
        let (place, is_here) = page.find(sector % PAGE);
        is_here.then(|| page.buffers[place])
    }

    pub(super) fn insert(&mut self, sector: u64, id: BufferId) {
        let page = self.pages.entry(sector / PAGE).or_default();
        let (place, is_here) = page.find(sector % PAGE);
        if is_here {
            page.buffers[place] = id;
        } else {
            page.buffers.insert(place, id);
            page.toggle(sector % PAGE, true);
        }
    }

    pub(super) fn remove(&mut self, sector: u64) {
        let Some(page) = self.pages.get_mut(&(sector / PAGE)) else { return };
        let (place, is_here) = page.find(sector % PAGE);
        if is_here {
            page.buffers.remove(place);
            page.toggle(sector % PAGE, false);
            if page.buffers.is_empty() {
                self.pages.remove(&(sector / PAGE));
            }
        }
    }

    /// Those whose first sectors are in `sectors`, in order.
    pub(super) fn range(&self, sectors: Range<u64>) -> impl Iterator<Item = BufferId> {
        let pages = self.pages_of(sectors.clone());
        pages.flat_map(move |(first, page)| page.between(&sectors, first)).copied()
    }

    /// The last whose first sector is in `sectors`.
    pub(super) fn last(&self, sectors: Range<u64>) -> Option<BufferId> {
        let mut pages = self.pages_of(sectors.clone()).rev();
        pages.find_map(|(first, page)| page.between(&sectors, first).last().copied())
    }

    /// The pages that meet `sectors`, in order, and where they start.
    fn pages_of(&self, sectors: Range<u64>) -> impl DoubleEndedIterator<Item = (u64, &Page)> {
        let mut numbers = sectors.start / PAGE..sectors.end.div_ceil(PAGE);
        let mut known = Vec::new();
        // Of many numbers, most are of no page.
        if numbers.end.saturating_sub(numbers.start) > self.pages.len() as u64 {
            known.extend(self.pages.keys().copied().filter(|number| numbers.contains(number)));
            known.sort_unstable();
            numbers = 0..0;
        }
        let all = numbers.chain(known);
        all.filter_map(|number| Some((number * PAGE, &**self.pages.get(&number)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_was_found_last_is_what_is_there() {
        let mut index = Index::default();
        let mut truth = BTreeMap::new();
        for step in 0..200_000_u32 {
            let sector = u64::from(step) * 7919 % 10_007;
            match step % 5 {
                0 | 1 => {
                    index.insert(sector, step);
                    truth.insert(sector, step);
                }
                2 => {
                    index.remove(sector);
                    truth.remove(&sector);
                }
                _ => assert_eq!(index.get(sector), truth.get(&sector).copied()),
            }
        }
        assert!(index.range(0..u64::MAX).eq(truth.values().copied()));
        assert_eq!(index.last(0..u64::MAX), truth.values().copied().next_back());
        for start in (0..300).chain(PAGE - 70..PAGE + 70) {
            for end in start..start + 300 {
                let expected = || truth.range(start..end).map(|(_, &id)| id);
                assert!(index.range(start..end).eq(expected()), "{start}..{end}");
                assert_eq!(index.last(start..end), expected().next_back(), "{start}..{end}");
            }
        }
    }
}
