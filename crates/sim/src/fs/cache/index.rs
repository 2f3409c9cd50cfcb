//! Finds a block's buffer by its first sector.

use super::BufferId;
use crate::by_number::ByNumber;
use std::collections::BTreeMap;
use std::ops::Range;

/// Buffers by their first sector, in order.
#[derive(Debug, Default)]
pub(super) struct Index {
    buffers: ByNumber<BufferId>,
    /// The pages in which a block begins, by their numbers.
    pages: BTreeMap<u64, Box<Page>>,
}

const WORD: u64 = u64::BITS as u64;
const PAGE: u64 = WORD * WORD;

/// Where blocks begin in as many sectors as a page has: a bit for each.
#[derive(Debug)]
struct Page {
    /// A bit for each word that is not 0.
    used: u64,
    words: [u64; WORD as usize],
}

impl Page {
    /// The sectors within it from `from` on where blocks begin, in order.
    fn from(&self, from: u64) -> impl Iterator<Item = u64> {
        let first = from / WORD;
        bits(self.used & (u64::MAX << first)).flat_map(move |word| {
            let rest = if word == first { u64::MAX << (from % WORD) } else { u64::MAX };
            bits(self.words[word as usize] & rest).map(move |bit| word * WORD + bit)
        })
    }

    /// The last sector within it before `end` where a block begins.
    fn last_before(&self, end: u64) -> Option<u64> {
        let (last, rest) = ((end - 1) / WORD, u64::MAX >> (WORD - 1 - (end - 1) % WORD));
        let bit = |word: u64, bits: u64| Some(word * WORD + u64::from(bits.checked_ilog2()?));
        bit(last, self.words[last as usize] & rest).or_else(|| {
            let word = u64::from((self.used & !(u64::MAX << last)).checked_ilog2()?);
            bit(word, self.words[word as usize])
        })
    }
}

/// The bits that are set, from the lowest on.
fn bits(all: u64) -> impl Iterator<Item = u64> {
    let rest = std::iter::successors(Some(all), |&bits| Some(bits & bits.wrapping_sub(1)));
    rest.take_while(|&bits| bits != 0).map(|bits| u64::from(bits.trailing_zeros()))
}

impl Index {
    #[inline]
    pub(super) fn get(&self, sector: u64) -> Option<BufferId> {
        self.buffers.get(&sector).copied()
    }

    pub(super) fn insert(&mut self, sector: u64, id: BufferId) {
        self.buffers.insert(sector, id);
        let new = || Box::new(Page { used: 0, words: [0; WORD as usize] });
        let page = self.pages.entry(sector / PAGE).or_insert_with(new);
        let within = sector % PAGE;
        page.words[(within / WORD) as usize] |= 1 << (within % WORD);
        page.used |= 1 << (within / WORD);
    }

    pub(super) fn remove(&mut self, sector: u64) {
        if self.buffers.remove(&sector).is_none() {
            return;
        }
        let page = self.pages.get_mut(&(sector / PAGE)).expect("a block begins in it");
        let within = sector % PAGE;
        let word = &mut page.words[(within / WORD) as usize];
        *word &= !(1 << (within % WORD));
        if *word == 0 {
            page.used &= !(1 << (within / WORD));
            if page.used == 0 {
                self.pages.remove(&(sector / PAGE));
            }
        }
    }

    /// Those whose first sectors are in `sectors`, in order.
    pub(super) fn range(&self, sectors: Range<u64>) -> impl Iterator<Item = BufferId> {
        let Range { start, end } = sectors;
        let pages = start / PAGE..end.div_ceil(PAGE).max(start / PAGE);
        let firsts = self.pages.range(pages).flat_map(move |(&page, begin)| {
            let from = start.saturating_sub(page * PAGE);
            begin.from(from).map(move |within| page * PAGE + within)
        });
        firsts.take_while(move |&sector| sector < end).map(|sector| self.buffers[&sector])
    }

    /// The last whose first sector is in `sectors`.
    pub(super) fn last(&self, sectors: Range<u64>) -> Option<BufferId> {
        if sectors.is_empty() {
            return None;
        }
        let pages = sectors.start / PAGE..=(sectors.end - 1) / PAGE;
        let last = self.pages.range(pages).rev().find_map(|(&page, begin)| {
            let within = begin.last_before((sectors.end - page * PAGE).min(PAGE))?;
            Some(page * PAGE + within)
        })?;
        (last >= sectors.start).then(|| self.buffers[&last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for start in (0..300).chain(PAGE - 70..PAGE + 70) {
            for end in start..start + 300 {
                let expected = || truth.range(start..end).map(|(_, &id)| id);
                assert!(index.range(start..end).eq(expected()), "{start}..{end}");
                assert_eq!(index.last(start..end), expected().next_back(), "{start}..{end}");
            }
        }
    }
}
