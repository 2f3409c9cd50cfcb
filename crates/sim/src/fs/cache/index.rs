//! Finds a block's buffer by its first sector.

use super::BufferId;
use crate::by_number::ByNumber;
use std::collections::BTreeMap;
use std::ops::Range;

/// Buffers by their first sector, in order.
#[derive(Debug, Default)]
pub(super) struct Index {
    buffers: ByNumber<BufferId>,
    /// For each 64 sectors in which a block begins, a bit for each that is one's first.
    firsts: BTreeMap<u64, u64>,
}

const WORD: u64 = u64::BITS as u64;

impl Index {
    pub(super) fn get(&self, sector: u64) -> Option<BufferId> {
        self.buffers.get(&sector).copied()
    }

    pub(super) fn insert(&mut self, sector: u64, id: BufferId) {
        self.buffers.insert(sector, id);
        *self.firsts.entry(sector / WORD).or_default() |= 1 << (sector % WORD);
    }

    pub(super) fn remove(&mut self, sector: u64) {
        self.buffers.remove(&sector);
        if let Some(word) = self.firsts.get_mut(&(sector / WORD)) {
            *word &= !(1 << (sector % WORD));
            if *word == 0 {
                self.firsts.remove(&(sector / WORD));
            }
        }
    }

    /// Those whose first sectors are in `sectors`, in order.
    pub(super) fn range(&self, sectors: Range<u64>) -> impl Iterator<Item = BufferId> {
        let words = sectors.start / WORD..sectors.end.div_ceil(WORD).max(sectors.start / WORD);
        let firsts = self.firsts.range(words).flat_map(move |(&word, &bits)| {
            let rest = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
            let rest = rest.take_while(|&bits| bits != 0);
            rest.map(move |bits| word * WORD + u64::from(bits.trailing_zeros()))
        });
        let firsts = firsts.filter(move |sector| sectors.contains(sector));
        firsts.map(|sector| self.buffers[&sector])
    }

    /// The last whose first sector is in `sectors`.
    pub(super) fn last(&self, sectors: Range<u64>) -> Option<BufferId> {
        if sectors.is_empty() {
            return None;
        }
        let words = sectors.start / WORD..=(sectors.end - 1) / WORD;
        self.firsts.range(words).rev().find_map(|(&word, &bits)| {
            let before = (sectors.end - word * WORD).min(WORD);
            let bits = bits & (u64::MAX >> (WORD - before));
            let last = word * WORD + u64::from(bits.checked_ilog2()?);
            (last >= sectors.start).then(|| self.buffers[&last])
        })
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
        for start in 0..300 {
            for end in start..300 {
                let expected = || truth.range(start..end).map(|(_, &id)| id);
                assert!(index.range(start..end).eq(expected()), "{start}..{end}");
                assert_eq!(index.last(start..end), expected().next_back(), "{start}..{end}");
            }
        }
    }
}
