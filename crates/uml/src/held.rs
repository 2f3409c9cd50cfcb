//! What the write caches of the disks hold: changes that are done and not durable yet.

use block::SECTOR_BYTES;
use sim::Tag;
use std::collections::{BTreeMap, BTreeSet};

/// Changes by their tags, which are never used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// Those that are done and not durable, each with its sectors.
    done: BTreeMap<Tag, u64>,
    /// Those that were durable before they were done.
    durable: BTreeSet<Tag>,
    sectors: u64,
}

impl Held {
    /// A change of so many sectors is done.
    pub(crate) fn done(&mut self, tag: Tag, sectors: u32) {
        if !self.durable.remove(&tag) {
            self.done.insert(tag, sectors.into());
            self.sectors += u64::from(sectors);
        }
    }

    /// A change is durable, or lost; `is_done` says whether it was done before.
    pub(crate) fn settled(&mut self, tag: Tag, is_done: bool) {
        match self.done.remove(&tag) {
            Some(sectors) => self.sectors -= sectors,
            None if !is_done => drop(self.durable.insert(tag)),
            None => {}
        }
    }

    /// How much they hold.
    pub(crate) fn bytes(&self) -> u64 {
        self.sectors * SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_and_not_durable_is_held() {
        let mut held = Held::default();
        held.done(1, 8);
        held.done(2, 16);
        assert_eq!(held.bytes(), 24 * SECTOR_BYTES);
        held.settled(1, true);
        assert_eq!(held.bytes(), 16 * SECTOR_BYTES);
        // Durable first, as behind no cache.
        held.settled(3, false);
        held.done(3, 8);
        held.settled(2, true);
        assert_eq!(held.bytes(), 0);
        assert!(held.done.is_empty() && held.durable.is_empty());
    }
}
