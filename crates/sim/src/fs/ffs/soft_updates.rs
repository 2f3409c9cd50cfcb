//! Soft updates: which changes may reach the disk only after which others.
//!
//! | may be written | only after |
//! |---|---|
//! | a directory entry | the new inode that it names |
//! | an inode, an indirect block | the bitmaps that allocate its blocks; the content of its new blocks
//! |
//!
//! Dependencies of a directory's inode are not modelled.
//!
//! A block is written when it is due, but without those changes whose dependencies are not on the disk
//! yet. These changes are *rolled back* for the write, and the block stays dirty for them. Each change
//! is tracked separately, as in *Soft Updates* (USENIX 1999): an inode block in which one inode is not
//! ready is written with all the others.
//!
//! ```text
//! a file is made: its inode (change 1) waits for the bitmaps, its name (change 2) for change 1
//! the directory's block is written    without 2, and stays dirty
//! the bitmaps are written             1 may go
//! the inode block is written          with 1; now 2 may go
//! ```

use super::mount::Role;
use crate::by_number::ByNumber;
use crate::fs::filesystem::{Block, Held, Memory, Step, Write};
use crate::fs::kernel::{Delay, Pool};
use crate::fs::window::Window;
use std::collections::VecDeque;
use std::ops::Range;

/// One change of a block, among all that have dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChangeId(u64);

/// A change that is not on the disk yet.
#[derive(Debug)]
struct Change {
    /// The first sector of its block.
    sector: u64,
    /// How many blocks and other changes it still waits for.
    waits_for: usize,
    /// Changes of other blocks that wait for this one: one operation makes them, one after the other.
    waiting: Range<u64>,
}

/// What is not on the disk yet of a block, and what waits for it.
#[derive(Debug)]
struct Unwritten {
    /// How long the block may stay dirty.
    delay: Delay,
    /// Changes that may be written.
    ready: Vec<ChangeId>,
    /// Changes that may not be written yet, in order.
    early: VecDeque<ChangeId>,
    /// The changes in its write that is in flight.
    going: Vec<ChangeId>,
    /// Changes of other blocks that wait for all of this one.
    waiting: Vec<ChangeId>,
}

impl Unwritten {
    fn new(delay: Delay) -> Self {
        let (ready, going, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Unwritten { delay, ready, early: VecDeque::new(), going, waiting }
    }

    /// Takes the change `id` out of those that may not be written yet; returns whether it was there. They become ready in
    /// about the order in which they were made.
    fn take_early(&mut self, id: ChangeId) -> bool {
        if self.early.front() == Some(&id) {
            return self.early.pop_front().is_some();
        }
        let place = self.early.binary_search(&id);
        place.is_ok_and(|place| self.early.remove(place).is_some())
    }

    /// Whether it has changes that are in no write.
    fn is_dirty(&self) -> bool {
        !self.ready.is_empty() || !self.early.is_empty()
    }
}

/// All changes that are not on the disk yet.
#[derive(Debug, Default)]
pub(super) struct SoftUpdates {
    changes: Window<Change>,
    blocks: ByNumber<Unwritten>,
    /// Empty between operations: kept for its memory.
    pointed_to: Vec<u64>,
}

impl SoftUpdates {
    /// Records the dependencies of an operation's changes after its `steps` have been taken. A block
    /// that was written too early meanwhile becomes dirty again, by a step of `more`.
    pub(super) fn keep_order(&mut self, steps: &[Step], memory: &dyn Memory, more: &mut Vec<Step>) {
        let is_unwritten = |sector| !matches!(memory.held(sector), Held::Absent | Held::Clean);
        let changed = |is: fn(&Block, u8) -> bool| {
            steps.iter().filter_map(move |step| match step {
                Step::Change { block, purpose, .. } if is(block, *purpose) => {
                    Some((*block, *purpose == Role::NewInode as u8))
                }
                _ => None,
            })
        };
        let mut pointed_to = std::mem::take(&mut self.pointed_to);
        pointed_to.extend(changed(is_pointed_to).map(|(block, _)| block.extent.sector));
        pointed_to.sort_unstable();
        pointed_to.dedup();
        pointed_to.retain(|&sector| is_unwritten(sector));
        let mut new_inode = None;
        for (block, is_new) in changed(points) {
            if is_new || !pointed_to.is_empty() {
                let id = self.order(&block, &pointed_to, None, memory, more);
                new_inode = new_inode.or(is_new.then_some(id));
            }
        }
        if new_inode.is_some() {
            for (block, _) in changed(names) {
                self.order(&block, &[], new_inode, memory, more);
            }
        }
        pointed_to.clear();
        self.pointed_to = pointed_to;
    }

    /// The last change of `block` may be written only after the blocks at `sectors` and after the
    /// change `first`. If the operation has waited for something since the change, the block may
    /// already have been written: without the change, where that is not ready.
    fn order(
        &mut self,
        block: &Block,
        sectors: &[u64],
        first: Option<ChangeId>,
        memory: &dyn Memory,
        more: &mut Vec<Step>,
    ) -> ChangeId {
        let sector = block.extent.sector;
        let id = self.add(sector, block.delay, sectors, first);
        let again = Step::Change { block: *block, fresh: true, write: Write::Later, purpose: 0 };
        let held = if more.contains(&again) { Held::Dirty } else { memory.held(sector) };
        match held {
            Held::Dirty => {}
            Held::Writing => self.write_starts(sector),
            Held::Clean => {
                let (changes, rolls_back) = self.go_with(sector);
                self.changes_written(changes);
                if rolls_back {
                    more.push(again);
                }
            }
            // It has left memory, and all of it is on the disk.
            Held::Reading | Held::Absent => self.forget(sector),
        }
        id
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.blocks.is_empty()
    }

    /// The block at `sector` is about to be written, with the changes that are ready.
    pub(super) fn write_starts(&mut self, sector: u64) {
        if let Some(block) = self.blocks.get_mut(&sector) {
            block.going.append(&mut block.ready);
        }
    }

    /// The block at `sector` is on the disk, with the changes in its write. Returns how long it may
    /// stay dirty, if some changes were left out.
    pub(super) fn transfer_ends(&mut self, sector: u64) -> Option<Delay> {
        let block = self.blocks.get_mut(&sector)?;
        let (going, waiting) =
            (std::mem::take(&mut block.going), std::mem::take(&mut block.waiting));
        self.changes_written(going);
        self.wait_no_more(waiting);
        let block = &self.blocks[&sector];
        if block.is_dirty() {
            return Some(block.delay);
        }
        self.blocks.remove(&sector);
        None
    }

    /// Adds a change of the block at `sector`, which may be written only after the blocks at `sectors`
    /// and after the change `first`.
    fn add(
        &mut self,
        sector: u64,
        delay: Delay,
        sectors: &[u64],
        first: Option<ChangeId>,
    ) -> ChangeId {
        let id = ChangeId(self.changes.next_number());
        let mut waits_for = 0;
        for &other in sectors.iter().filter(|&&other| other != sector) {
            // Until it has changes itself its delay says nothing.
            let other = self.blocks.entry(other).or_insert_with(|| Unwritten::new(delay));
            other.waiting.push(id);
            waits_for += 1;
        }
        if let Some(first) = first.and_then(|first| self.changes.get_mut(first.0)) {
            let start = if first.waiting.is_empty() { id.0 } else { first.waiting.start };
            debug_assert!(start == id.0 || first.waiting.end == id.0, "others came in between");
            first.waiting = start..id.0 + 1;
            waits_for += 1;
        }
        self.changes.push(Change { sector, waits_for, waiting: 0..0 });
        let block = self.blocks.entry(sector).or_insert_with(|| Unwritten::new(delay));
        if !block.is_dirty() {
            block.delay = delay;
        }
        if waits_for == 0 {
            block.ready.push(id);
        } else {
            block.early.push_back(id);
        }
        id
    }

    /// The blocks that the changes of the block at `sector` wait for.
    pub(super) fn waits_for(&self, sector: u64) -> Vec<u64> {
        let early = self.blocks.get(&sector).map(|block| &block.early);
        let is_here = |id: &ChangeId| early.is_some_and(|early| early.binary_search(id).is_ok());
        let blocks = self.blocks.iter().filter(|(_, block)| block.waiting.iter().any(is_here));
        let mut blocks: Vec<u64> = blocks.map(|(&other, _)| other).collect();
        blocks.sort_unstable();
        let changes = self.changes.iter().map(|(_, change)| change);
        let changes =
            changes.filter(|change| change.waiting.clone().map(ChangeId).any(|id| is_here(&id)));
        blocks.extend(changes.map(|change| change.sector));
        blocks
    }

    /// The block at `sector` is as on the disk: returns the changes that went with it, and whether
    /// others are rolled back.
    fn go_with(&mut self, sector: u64) -> (Vec<ChangeId>, bool) {
        let Some(block) = self.blocks.get_mut(&sector) else { return (Vec::new(), false) };
        let (ready, rolls_back) = (std::mem::take(&mut block.ready), !block.early.is_empty());
        self.drop_if_done(sector);
        (ready, rolls_back)
    }

    /// Forgets the block at `sector` where nothing of it is left to write, and nothing waits for it.
    fn drop_if_done(&mut self, sector: u64) {
        let is_done = |block: &Unwritten| {
            !block.is_dirty() && block.going.is_empty() && block.waiting.is_empty()
        };
        if self.blocks.get(&sector).is_some_and(is_done) {
            self.blocks.remove(&sector);
        }
    }

    /// These changes are on the disk.
    fn changes_written(&mut self, changes: impl IntoIterator<Item = ChangeId>) {
        for id in changes {
            if let Some(change) = self.changes.remove(id.0) {
                self.wait_no_more(change.waiting.map(ChangeId));
            }
        }
    }

    /// The block at `sector` no longer holds anything.
    pub(super) fn forget(&mut self, sector: u64) {
        let Some(block) = self.blocks.get_mut(&sector) else { return };
        let waiting = std::mem::take(&mut block.waiting);
        self.wait_no_more(waiting);
        if let Some(block) = self.blocks.get_mut(&sector) {
            let (ready, early) =
                (std::mem::take(&mut block.ready), std::mem::take(&mut block.early));
            self.changes_written(ready);
            self.changes_written(early);
        }
        self.drop_if_done(sector);
    }

    /// These changes wait for one dependency less.
    fn wait_no_more(&mut self, changes: impl IntoIterator<Item = ChangeId>) {
        for id in changes {
            let Some(change) = self.changes.get_mut(id.0) else { continue };
            change.waits_for -= 1;
            let (waits_for, sector) = (change.waits_for, change.sector);
            if waits_for == 0
                && let Some(block) = self.blocks.get_mut(&sector)
                && block.take_early(id)
            {
                block.ready.push(id);
            }
        }
    }
}

fn is_pointed_to(block: &Block, purpose: u8) -> bool {
    purpose == Role::Bitmaps as u8 || block.pool == Pool::Data
}

fn points(_: &Block, purpose: u8) -> bool {
    [Role::NewInode, Role::Size, Role::FilePointer].iter().any(|&role| role as u8 == purpose)
}

fn names(_: &Block, purpose: u8) -> bool {
    [Role::Entry, Role::NewDirectoryBlock].iter().any(|&role| role as u8 == purpose)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INODES: u64 = 100;
    const NAMES: u64 = 200;
    const BITMAPS: u64 = 300;
    const DELAY: Delay = Delay::Metadata;

    #[test]
    fn a_name_comes_after_its_inode_and_that_after_the_bitmaps() {
        let mut orders = SoftUpdates::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[], Some(inode));
        assert_eq!(orders.waits_for(NAMES), [INODES]);
        assert_eq!(orders.waits_for(INODES), [BITMAPS]);
        assert_eq!(orders.go_with(NAMES), (vec![], true));
        assert_eq!(orders.go_with(INODES), (vec![], true));
        orders.transfer_ends(BITMAPS);
        assert_eq!(orders.go_with(INODES), (vec![inode], false));
        // Its write is in flight, not done.
        assert_eq!(orders.go_with(NAMES), (vec![], true));
        orders.changes_written([inode]);
        assert_eq!(orders.go_with(NAMES), (vec![name], false));
        orders.changes_written([name]);
        assert!(orders.is_empty());
    }

    #[test]
    fn one_inode_that_is_early_does_not_keep_the_others() {
        let mut orders = SoftUpdates::default();
        let ready = orders.add(INODES, DELAY, &[], None);
        orders.add(INODES, DELAY, &[BITMAPS, INODES], None);
        assert_eq!(orders.go_with(INODES), (vec![ready], true));
    }

    #[test]
    fn what_is_forgotten_keeps_nobody() {
        let mut orders = SoftUpdates::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[BITMAPS], Some(inode));
        orders.forget(INODES);
        orders.forget(BITMAPS);
        assert_eq!(orders.go_with(NAMES), (vec![name], false));
        assert_eq!(orders.go_with(INODES), (vec![], false));
    }
}
