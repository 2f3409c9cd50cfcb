//! Soft updates: which changes of a block may come to the disk only after which others.
//!
//! A block is written whenever its time has come, but without those of its changes that are still too
//! early: they are *rolled back* for the write, and the block stays dirty for them. Each change is kept
//! apart, as in *Soft Updates* (USENIX 1999): an inode block in which one inode is too early is written
//! with all the others.
//!
//! ```text
//! a file is made: its inode (change 1) waits for the bitmaps, its name (change 2) for change 1
//! the directory's block is written    without 2, and stays dirty
//! the bitmaps are written             1 may go
//! the inode block is written          with 1; now 2 may go
//! ```

use super::window::Window;
use crate::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// One change of a block, among all that were ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeId(u64);

/// A change that is not on the disk yet.
#[derive(Debug)]
struct Change {
    /// The first sector of its block.
    sector: u64,
    /// Blocks and other changes that it still waits for.
    waits_for: usize,
    /// Changes of other blocks that wait for this one.
    waiting: Vec<ChangeId>,
}

/// The changes of a block that are not on the disk yet.
#[derive(Debug)]
pub(super) struct Unwritten {
    /// Which delay the block has, and how long that is.
    pub(super) delay: usize,
    pub(super) delay_ns: Nanos,
    /// Those that may go.
    ready: Vec<ChangeId>,
    /// Those that may not.
    early: BTreeSet<ChangeId>,
}

/// All changes that are not on the disk yet.
#[derive(Debug, Default)]
pub(super) struct Orders {
    changes: Window<Change>,
    /// By the first sector of each block.
    blocks: BTreeMap<u64, Unwritten>,
    /// By the first sector of a block: the changes that wait for all of it.
    waiting: BTreeMap<u64, Vec<ChangeId>>,
}

impl Orders {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.blocks.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn get(&self, sector: u64) -> Option<&Unwritten> {
        self.blocks.get(&sector)
    }

    /// A change of the block at `sector`, which may only come after the blocks at `sectors` and after
    /// the change `first`.
    pub(super) fn add(
        &mut self,
        sector: u64,
        (delay, delay_ns): (usize, Nanos),
        sectors: &[u64],
        first: Option<ChangeId>,
    ) -> ChangeId {
        let id = ChangeId(self.changes.push(Change { sector, waits_for: 0, waiting: Vec::new() }));
        let mut waits_for = 0;
        for &other in sectors.iter().filter(|&&other| other != sector) {
            self.waiting.entry(other).or_default().push(id);
            waits_for += 1;
        }
        if let Some(first) = first.and_then(|first| self.changes.get_mut(first.0)) {
            first.waiting.push(id);
            waits_for += 1;
        }
        let new = || Unwritten { delay, delay_ns, ready: Vec::new(), early: BTreeSet::new() };
        let block = self.blocks.entry(sector).or_insert_with(new);
        if waits_for == 0 {
            block.ready.push(id);
        } else {
            block.early.insert(id);
        }
        self.changes.newest_mut().expect("it was just added").waits_for = waits_for;
        id
    }

    /// The blocks that the changes of the one at `sector` wait for.
    pub(super) fn waits_for(&self, sector: u64) -> Vec<u64> {
        let early = self.blocks.get(&sector).map(|block| &block.early);
        let is_here = |id: &ChangeId| early.is_some_and(|early| early.contains(id));
        let blocks = self.waiting.iter().filter(|(_, ids)| ids.iter().any(is_here));
        let changes = self.changes.iter().map(|(_, change)| change);
        let changes = changes.filter(|change| change.waiting.iter().any(is_here));
        blocks.map(|(&other, _)| other).chain(changes.map(|change| change.sector)).collect()
    }

    /// The block at `sector` is about to be written: gives the changes that go with it, and says
    /// whether others are rolled back.
    pub(super) fn go_with(&mut self, sector: u64) -> (Vec<ChangeId>, bool) {
        let Some(block) = self.blocks.get_mut(&sector) else { return (Vec::new(), false) };
        let (ready, rolls_back) = (std::mem::take(&mut block.ready), !block.early.is_empty());
        if !rolls_back {
            self.blocks.remove(&sector);
        }
        (ready, rolls_back)
    }

    /// These changes are on the disk.
    pub(super) fn changes_written(&mut self, changes: &[ChangeId]) {
        for id in changes {
            if let Some(change) = self.changes.remove(id.0) {
                for waiting in change.waiting {
                    self.waits_no_more(waiting);
                }
            }
        }
    }

    /// All of the block at `sector` is on the disk, or need not be.
    pub(super) fn block_written(&mut self, sector: u64) {
        if let Some(waiting) = self.waiting.remove(&sector) {
            for waiting in waiting {
                self.waits_no_more(waiting);
            }
        }
    }

    /// The block at `sector` holds nothing any more.
    pub(super) fn forget(&mut self, sector: u64) {
        self.block_written(sector);
        if let Some(Unwritten { ready, early, .. }) = self.blocks.remove(&sector) {
            self.changes_written(&ready);
            self.changes_written(&early.into_iter().collect::<Vec<_>>());
        }
    }

    /// A change waits for one thing less.
    fn waits_no_more(&mut self, id: ChangeId) {
        let Some(change) = self.changes.get_mut(id.0) else { return };
        change.waits_for -= 1;
        let (waits_for, sector) = (change.waits_for, change.sector);
        if waits_for == 0
            && let Some(block) = self.blocks.get_mut(&sector)
        {
            block.early.remove(&id);
            block.ready.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INODES: u64 = 100;
    const NAMES: u64 = 200;
    const BITMAPS: u64 = 300;
    const DELAY: (usize, Nanos) = (0, 0);

    #[test]
    fn a_name_comes_after_its_inode_and_that_after_the_bitmaps() {
        let mut orders = Orders::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[], Some(inode));
        assert_eq!(orders.waits_for(NAMES), [INODES]);
        assert_eq!(orders.waits_for(INODES), [BITMAPS]);
        assert_eq!(orders.go_with(NAMES), (vec![], true));
        assert_eq!(orders.go_with(INODES), (vec![], true));
        orders.block_written(BITMAPS);
        assert_eq!(orders.go_with(INODES), (vec![inode], false));
        // It is on its way, but not there.
        assert_eq!(orders.go_with(NAMES), (vec![], true));
        orders.changes_written(&[inode]);
        assert_eq!(orders.go_with(NAMES), (vec![name], false));
        orders.changes_written(&[name]);
        assert!(orders.is_empty());
    }

    #[test]
    fn one_inode_that_is_early_does_not_keep_the_others() {
        let mut orders = Orders::default();
        let ready = orders.add(INODES, DELAY, &[], None);
        orders.add(INODES, DELAY, &[BITMAPS, INODES], None);
        assert_eq!(orders.go_with(INODES), (vec![ready], true));
    }

    #[test]
    fn what_is_forgotten_keeps_nobody() {
        let mut orders = Orders::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[BITMAPS], Some(inode));
        orders.forget(INODES);
        orders.forget(BITMAPS);
        assert_eq!(orders.go_with(NAMES), (vec![name], false));
        assert_eq!(orders.go_with(INODES), (vec![], false));
    }
}
