//! Finds a block's buffer by its first sector.

use super::BufferId;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// Slots for recently looked-up blocks; a power of two.
const RECENT: usize = 4096;
/// 2^64 over the golden ratio: multiplied by it, numbers that differ little differ in their first bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Buffers by their first sector, in order.
///
/// A file system asks for the same few blocks over and over. Each has one slot, given by its sector,
/// and is found there again without a search.
#[derive(Debug)]
pub(super) struct Index {
    ordered: BTreeMap<u64, BufferId>,
    /// Each of these is in `ordered`, too.
    recent: Vec<Cell<Option<(u64, BufferId)>>>,
}

impl Index {
    pub(super) fn new() -> Self {
        Index { ordered: BTreeMap::new(), recent: vec![Cell::new(None); RECENT] }
    }

    pub(super) fn get(&self, sector: u64) -> Option<BufferId> {
        let recent = self.place(sector);
        if let Some((found, id)) = recent.get()
            && found == sector
        {
            return Some(id);
        }
        let id = *self.ordered.get(&sector)?;
        recent.set(Some((sector, id)));
        Some(id)
    }

    pub(super) fn insert(&mut self, sector: u64, id: BufferId) {
        self.ordered.insert(sector, id);
        self.place(sector).set(Some((sector, id)));
    }

    pub(super) fn remove(&mut self, sector: u64) {
        self.ordered.remove(&sector);
        let recent = self.place(sector);
        if recent.get().is_some_and(|(found, _)| found == sector) {
            recent.set(None);
        }
    }

    /// Those whose first sectors are in `sectors`, in order.
    pub(super) fn range(
        &self,
        sectors: impl RangeBounds<u64>,
    ) -> impl DoubleEndedIterator<Item = BufferId> {
        self.ordered.range(sectors).map(|(_, &id)| id)
    }

    fn place(&self, sector: u64) -> &Cell<Option<(u64, BufferId)>> {
        let spread = sector.wrapping_mul(SPREAD) >> (u64::BITS - RECENT.ilog2());
        &self.recent[spread as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More sectors than slots, so that they replace each other.
    #[test]
    fn what_was_found_last_is_what_is_there() {
        let mut index = Index::new();
        let mut truth = BTreeMap::new();
        for step in 0..200_000_u64 {
            let sector = step * 7919 % 10_007;
            match step % 5 {
                0 | 1 => {
                    index.insert(sector, step as usize);
                    truth.insert(sector, step as usize);
                }
                2 => {
                    index.remove(sector);
                    truth.remove(&sector);
                }
                _ => assert_eq!(index.get(sector), truth.get(&sector).copied()),
            }
        }
        assert!(truth.len() > 2 * RECENT / 3, "{}", truth.len());
        assert!(index.range(..).eq(truth.values().copied()));
        assert!(index.range(100..200).rev().eq(truth.range(100..200).rev().map(|(_, &id)| id)));
    }
}
