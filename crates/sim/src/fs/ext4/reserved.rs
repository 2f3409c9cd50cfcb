//! What is kept free in a transaction for data on their way to the disk.
//!
//! New extents are unwritten until their data are on the disk (`dioread_nolock`), and marking them written is an operation of
//! its own. Whoever places blocks reserves what that operation may change, and half a transaction at most is reserved
//! (`add_transaction_credits` of `fs/jbd2/transaction.c`): with more runs of new blocks under way, who writes back sleeps until
//! one of them is on the disk.
//!
//! ```text
//! just below 64 GiB (RAID 0 of four disks of 16): 512 groups, 8 blocks of descriptors, a journal of 65536 blocks
//! a transaction 16384, half of it 8192; each run 36 of those: 227 files are under way at a time
//! ```
//!
//! Linux has counted so since April 2025 (6.1.192 does); before, the tree of extents was counted by its depth, and each run had 9.
//!
//! A run is marked by a kernel's worker, which wakes whoever sleeps as it begins (`sub_reserved_credits`). On one processor
//! that places one run, and sleeps again before the worker marks the next: each run is sent by itself.

use crate::fs::filesystem::Ino;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most levels of a tree of extents (`EXT4_MAX_EXTENT_DEPTH`).
const TREE_LEVELS_MAX: u64 = 5;
/// Blocks of a superblock, an inode and extended attributes (`EXT4_META_TRANS_BLOCKS`).
const OTHER_BLOCKS: u64 = 6;

/// The blocks that marking one run may change, in a file system of so many groups and blocks of descriptors: the inode, and
/// what `ext4_meta_trans_blocks` of `fs/ext4/inode.c` counts for one extent.
fn blocks_of_marking(groups: u64, descriptor_blocks: u64) -> u64 {
    let index = 2 * TREE_LEVELS_MAX;
    let touched = index + 1;
    1 + index + touched.min(groups) + descriptors(touched, groups, descriptor_blocks) + OTHER_BLOCKS
}

fn descriptors(touched: u64, groups: u64, descriptor_blocks: u64) -> u64 {
    if touched.min(groups) > descriptor_blocks { descriptor_blocks } else { touched }
}

/// Runs of new blocks whose data are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Reserved {
    /// How many there may be.
    most: u64,
    /// How many there are, those among them whose data are on the disk and that are not marked.
    runs: u64,
    done: u64,
    /// Who places blocks sleeps.
    is_waited_for: bool,
    /// By block: the number of its run.
    blocks: BTreeMap<u64, u64>,
    /// By number: how many blocks of the run are on their way, and whose they are.
    left: BTreeMap<u64, (u64, Ino)>,
    next: u64,
}

impl Reserved {
    /// For transactions of so many blocks at most.
    pub(super) fn new(transaction_blocks: u64, groups: u64, descriptor_blocks: u64) -> Self {
        let most = transaction_blocks / 2 / blocks_of_marking(groups, descriptor_blocks);
        Reserved { most: most.max(1), ..Reserved::default() }
    }

    /// Whether one more run may be placed. If not, who asks sleeps until one is marked.
    pub(super) fn has_room(&mut self) -> bool {
        self.is_waited_for = self.runs >= self.most;
        !self.is_waited_for
    }

    /// The worker marks the next run whose data are on the disk, if there is one.
    pub(super) fn mark_next(&mut self) -> bool {
        let has_next = self.done > 0;
        if has_next {
            self.done -= 1;
            self.runs -= 1;
        }
        has_next
    }

    /// These blocks of a file were placed, and are about to be written.
    pub(super) fn placed(&mut self, ino: Ino, runs: impl Iterator<Item = Range<u64>>) {
        let mut left = 0;
        for block in runs.flatten() {
            self.blocks.insert(block, self.next);
            left += 1;
        }
        if left > 0 {
            self.left.insert(self.next, (left, ino));
            (self.next, self.runs) = (self.next + 1, self.runs + 1);
        }
    }

    /// What a block holds is on the disk, or will not be.
    pub(super) fn ended(&mut self, block: u64) {
        let Some(run) = self.blocks.remove(&block) else { return };
        let (left, _) = self.left.get_mut(&run).expect("a run has blocks");
        *left -= 1;
        if *left > 0 {
            return;
        }
        self.left.remove(&run);
        self.done += 1;
        if !self.is_waited_for {
            self.runs -= std::mem::take(&mut self.done);
        }
    }

    /// The files that have data on their way.
    pub(super) fn files(&self) -> BTreeSet<Ino> {
        self.left.values().map(|&(_, ino)| ino).collect()
    }

    /// All is where it should be.
    pub(super) fn settle(&mut self) {
        *self = Reserved { most: self.most, ..Reserved::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from `ext4_meta_trans_blocks`: 10 blocks of a tree, 11 bitmaps, their descriptors, 6 others and the inode.
    #[test]
    fn half_a_transaction_is_reserved() {
        assert_eq!(blocks_of_marking(512, 8), 1 + 10 + 11 + 8 + 6);
        assert_eq!(blocks_of_marking(128, 2), 30);
        assert_eq!(blocks_of_marking(4096, 64), 39);
        assert_eq!(Reserved::new(65_536 / 4, 512, 8).most, 227);
    }

    #[test]
    fn one_run_is_placed_for_each_that_is_marked() {
        let mut reserved = Reserved { most: 2, ..Reserved::default() };
        let place = |reserved: &mut Reserved, blocks| {
            assert!(reserved.has_room());
            reserved.placed(7, std::iter::once(blocks));
        };
        place(&mut reserved, 10..12);
        place(&mut reserved, 20..21);
        assert!(!reserved.has_room() && !reserved.mark_next());
        // A run is on the disk with its last block.
        reserved.ended(10);
        assert!(!reserved.has_room() && !reserved.mark_next());
        reserved.ended(11);
        reserved.ended(20);
        assert!(reserved.mark_next());
        place(&mut reserved, 30..31);
        assert!(!reserved.has_room() && reserved.mark_next());
        place(&mut reserved, 40..41);
        // Where nobody sleeps, each is marked as soon as it is on the disk.
        assert!(!reserved.has_room() && !reserved.mark_next());
        reserved.ended(30);
        assert!(reserved.mark_next() && reserved.has_room());
        reserved.ended(40);
        reserved.ended(40);
        assert_eq!((reserved.runs, reserved.done, reserved.left.len()), (0, 0, 0));
    }
}
