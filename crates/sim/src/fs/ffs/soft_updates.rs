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
    /// Its block.
    block: BlockId,
    /// How many blocks and other changes it still waits for.
    waits_for: usize,
    /// Changes of other blocks that wait for this one: one operation makes them, one after the other.
    waiting: Range<u64>,
}

/// One block, among those of which something is not on the disk yet.
type BlockId = u32;

/// What is not on the disk yet of a block, and what waits for it.
#[derive(Debug)]
struct Unwritten {
    /// The first sector.
    sector: u64,
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
    fn new(sector: u64, delay: Delay) -> Self {
        let (ready, going, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Unwritten { sector, delay, ready, early: VecDeque::new(), going, waiting }
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

    /// Whether nothing of it is left to write, and nothing waits for it.
    fn is_done(&self) -> bool {
        !self.is_dirty() && self.going.is_empty() && self.waiting.is_empty()
    }
}

/// The blocks of which something is not on the disk yet.
#[derive(Debug, Default)]
struct Blocks {
    /// By first sector.
    ids: ByNumber<BlockId>,
    /// By id. Those that are not in use are kept for the memory of their lists.
    all: Vec<Unwritten>,
    unused: Vec<BlockId>,
}

impl Blocks {
    #[inline]
    fn find(&self, sector: u64) -> Option<BlockId> {
        self.ids.get(&sector).copied()
    }

    #[inline]
    fn get(&mut self, id: BlockId) -> &mut Unwritten {
        &mut self.all[id as usize]
    }

    /// The block at `sector`, which is added if it is not here; `delay` says how long it may then stay dirty.
    fn add(&mut self, sector: u64, delay: Delay) -> BlockId {
        let Blocks { ids, all, unused } = self;
        *ids.entry(sector).or_insert_with(|| match unused.pop() {
            Some(id) => {
                (all[id as usize].sector, all[id as usize].delay) = (sector, delay);
                id
            }
            None => {
                all.push(Unwritten::new(sector, delay));
                all.len() as BlockId - 1
            }
        })
    }

    /// Forgets a block where nothing of it is left to write, and nothing waits for it.
    fn drop_if_done(&mut self, id: BlockId) {
        let block = &self.all[id as usize];
        if block.is_done() {
            self.ids.remove(&block.sector);
            self.unused.push(id);
        }
    }
}

/// All changes that are not on the disk yet.
#[derive(Debug, Default)]
pub(super) struct SoftUpdates {
    changes: Window<Change>,
    blocks: Blocks,
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
                if self.is_on_disk(sector) {
                    more.push(again);
                }
            }
            // It has left memory, and all of it is on the disk.
            Held::Reading | Held::Absent => self.forget(sector),
        }
        id
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.blocks.ids.is_empty()
    }

    /// The block at `sector` is about to be written, with the changes that are ready.
    pub(super) fn write_starts(&mut self, sector: u64) {
        if let Some(id) = self.blocks.find(sector) {
            let block = self.blocks.get(id);
            block.going.append(&mut block.ready);
        }
    }

    /// The block at `sector` is on the disk, with the changes in its write. Returns how long it may
    /// stay dirty, if some changes were left out.
    pub(super) fn transfer_ends(&mut self, sector: u64) -> Option<Delay> {
        let id = self.blocks.find(sector)?;
        self.are_written(id, |block| &mut block.going);
        self.nothing_waits_for(id);
        let block = self.blocks.get(id);
        let left = block.is_dirty().then_some(block.delay);
        self.blocks.drop_if_done(id);
        left
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
            let other = self.blocks.add(other, delay);
            self.blocks.get(other).waiting.push(id);
            waits_for += 1;
        }
        if let Some(first) = first.and_then(|first| self.changes.get_mut(first.0)) {
            let start = if first.waiting.is_empty() { id.0 } else { first.waiting.start };
            debug_assert!(start == id.0 || first.waiting.end == id.0, "others came in between");
            first.waiting = start..id.0 + 1;
            waits_for += 1;
        }
        let block_id = self.blocks.add(sector, delay);
        self.changes.push(Change { block: block_id, waits_for, waiting: 0..0 });
        let block = self.blocks.get(block_id);
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
        let Some(id) = self.blocks.find(sector) else { return Vec::new() };
        let early = &self.blocks.all[id as usize].early;
        let is_here = |id: &ChangeId| early.binary_search(id).is_ok();
        let blocks = self
            .blocks
            .ids
            .iter()
            .filter(|&(_, &other)| self.blocks.all[other as usize].waiting.iter().any(is_here));
        let mut blocks: Vec<u64> = blocks.map(|(&other, _)| other).collect();
        blocks.sort_unstable();
        let changes = self.changes.iter().map(|(_, change)| change);
        let changes =
            changes.filter(|change| change.waiting.clone().map(ChangeId).any(|id| is_here(&id)));
        blocks.extend(changes.map(|change| self.blocks.all[change.block as usize].sector));
        blocks
    }

    /// The block at `sector` is as on the disk, with the changes that are ready. Returns whether others are rolled back.
    fn is_on_disk(&mut self, sector: u64) -> bool {
        let Some(id) = self.blocks.find(sector) else { return false };
        let rolls_back = !self.blocks.get(id).early.is_empty();
        self.are_written(id, |block| &mut block.ready);
        self.blocks.drop_if_done(id);
        rolls_back
    }

    /// The changes of a block that are on this list of it are on the disk.
    fn are_written(&mut self, id: BlockId, list: fn(&mut Unwritten) -> &mut Vec<ChangeId>) {
        let mut changes = std::mem::take(list(self.blocks.get(id)));
        for change in changes.drain(..) {
            self.is_written(change);
        }
        give_back(list(self.blocks.get(id)), changes);
    }

    /// A change is on the disk, or no longer wanted.
    fn is_written(&mut self, id: ChangeId) {
        if let Some(change) = self.changes.remove(id.0) {
            for later in change.waiting {
                self.waits_no_more(ChangeId(later));
            }
        }
    }

    /// What waits for the block waits no more.
    fn nothing_waits_for(&mut self, id: BlockId) {
        let mut waiting = std::mem::take(&mut self.blocks.get(id).waiting);
        for change in waiting.drain(..) {
            self.waits_no_more(change);
        }
        give_back(&mut self.blocks.get(id).waiting, waiting);
    }

    /// The block at `sector` no longer holds anything.
    pub(super) fn forget(&mut self, sector: u64) {
        let Some(id) = self.blocks.find(sector) else { return };
        self.nothing_waits_for(id);
        let mut early = std::mem::take(&mut self.blocks.get(id).early);
        self.are_written(id, |block| &mut block.ready);
        for change in early.drain(..) {
            self.is_written(change);
        }
        self.blocks.get(id).early = early;
        self.blocks.drop_if_done(id);
    }

    /// A change waits for one dependency less.
    fn waits_no_more(&mut self, id: ChangeId) {
        let Some(change) = self.changes.get_mut(id.0) else { return };
        change.waits_for -= 1;
        if change.waits_for == 0 {
            let block = self.blocks.get(change.block);
            if block.take_early(id) {
                block.ready.push(id);
            }
        }
    }
}

/// Puts an emptied list back for its memory.
fn give_back(list: &mut Vec<ChangeId>, emptied: Vec<ChangeId>) {
    if list.is_empty() {
        *list = emptied;
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

    /// A write of the block at `sector` begins: the changes that go with it, and whether others are rolled back.
    fn begin(orders: &mut SoftUpdates, sector: u64) -> (Vec<ChangeId>, bool) {
        orders.write_starts(sector);
        let Some(id) = orders.blocks.find(sector) else { return (vec![], false) };
        let block = orders.blocks.get(id);
        (block.going.clone(), !block.early.is_empty())
    }

    #[test]
    fn a_name_comes_after_its_inode_and_that_after_the_bitmaps() {
        let mut orders = SoftUpdates::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[], Some(inode));
        assert_eq!(orders.waits_for(NAMES), [INODES]);
        assert_eq!(orders.waits_for(INODES), [BITMAPS]);
        assert_eq!(begin(&mut orders, NAMES), (vec![], true));
        assert_eq!(begin(&mut orders, INODES), (vec![], true));
        orders.transfer_ends(BITMAPS);
        assert_eq!(begin(&mut orders, INODES), (vec![inode], false));
        // Its write is in flight, not done.
        assert_eq!(begin(&mut orders, NAMES), (vec![], true));
        assert_eq!(orders.transfer_ends(INODES), None);
        assert_eq!(begin(&mut orders, NAMES), (vec![name], false));
        assert_eq!(orders.transfer_ends(NAMES), None);
        assert!(orders.is_empty());
    }

    #[test]
    fn one_inode_that_is_early_does_not_keep_the_others() {
        let mut orders = SoftUpdates::default();
        let ready = orders.add(INODES, DELAY, &[], None);
        orders.add(INODES, DELAY, &[BITMAPS, INODES], None);
        assert_eq!(begin(&mut orders, INODES), (vec![ready], true));
        assert_eq!(orders.transfer_ends(INODES), Some(DELAY));
    }

    #[test]
    fn what_is_forgotten_keeps_nobody() {
        let mut orders = SoftUpdates::default();
        let inode = orders.add(INODES, DELAY, &[BITMAPS], None);
        let name = orders.add(NAMES, DELAY, &[BITMAPS], Some(inode));
        orders.forget(INODES);
        orders.forget(BITMAPS);
        assert_eq!(begin(&mut orders, NAMES), (vec![name], false));
        assert_eq!(begin(&mut orders, INODES), (vec![], false));
    }

    #[test]
    fn blocks_that_have_gone_leave_their_places_to_others() {
        let mut orders = SoftUpdates::default();
        for number in 0..10 {
            let inode = orders.add(INODES + number, DELAY, &[BITMAPS + number], None);
            orders.add(NAMES + number, DELAY, &[], Some(inode));
            for sector in [BITMAPS, INODES, NAMES] {
                orders.write_starts(sector + number);
                assert_eq!(orders.transfer_ends(sector + number), None);
            }
            assert!(orders.is_empty());
        }
        assert_eq!(orders.blocks.all.len(), 3);
    }
}
