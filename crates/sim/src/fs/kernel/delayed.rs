//! The kernel's side of what a file system decides after its operations: held blocks, blocks without a
//! place yet, its own task, and the tasks that wait for it.

use super::{Cleaning, Delay, Kernel, Pool, State};
use crate::fs::cache::BufferId;
use crate::fs::files::FsError;
use crate::fs::filesystem::{Block, Call, Ino, Milestone, UNPLACED};
use crate::fs::kernel::Extent;
use crate::{Nanos, Tag};
use block::Op;

/// The most blocks that are placed at once: `MAX_WRITEPAGES_EXTENT_LEN` of Linux's `fs/ext4/inode.c` is
/// 2048 blocks, here of 4 KiB.
const PLACED_SECTORS_MAX: u32 = 2048 * 8;

impl Kernel {
    /// A block in memory has changed, and is held until it is released.
    pub(in crate::fs) fn hold_back(&self, sector: u64) {
        let inner = &mut *self.state.borrow_mut();
        let id = inner.cache.find(sector).expect("what is changed is held");
        inner.cache.used_for(id, false);
        inner.cache.set(id, State::Held);
    }

    /// A held block is now dirty like any other.
    pub(in crate::fs) fn release(&self, block: Block) {
        let inner = &mut *self.state.borrow_mut();
        if let Some(id) = inner.cache.find(block.extent.sector)
            && inner.cache.get(id).state == State::Held
        {
            inner.is_dirty(self.clock.now(), id, block.delay);
            for task in inner.waiting_for_room.drain(..) {
                self.clock.wake(task);
            }
        }
    }

    /// The file of the block at `sector`, and the dirty blocks around it, where those are in memory
    /// only.
    pub(in crate::fs) fn unplaced_run(&self, sector: u64) -> Option<(Ino, Vec<Extent>)> {
        let inner = self.state.borrow();
        let id = inner.cache.find(sector).filter(|_| sector >= UNPLACED)?;
        let buffer = inner.cache.get(id);
        if !matches!(buffer.state, State::Dirty(_)) {
            return None;
        }
        let mut run = Vec::new();
        inner.cache.neighbours(id, PLACED_SECTORS_MAX, &mut run);
        let extents = run.iter().map(|&id| inner.cache.get(id).extent).collect();
        Some((buffer.owner, extents))
    }

    /// Blocks that were in memory only get these places.
    pub(in crate::fs) fn rename(&self, unplaced: &[Extent], placed: &[Extent]) {
        assert_eq!(unplaced.len(), placed.len(), "each block gets a place");
        let inner = &mut *self.state.borrow_mut();
        for (from, to) in unplaced.iter().zip(placed) {
            let id = inner.cache.find(from.sector).expect("it is in memory");
            assert!(inner.cache.find(to.sector).is_none(), "{to:?} is in use");
            inner.cache.rename(id, to.sector);
            if let State::Dirty(due) = inner.cache.get(id).state {
                // If its write does not start now, the syncer finds it.
                inner.due[Delay::Data as usize].push_front((due, to.sector));
            }
        }
    }

    /// The first dirty block in memory only, if there is one.
    pub(in crate::fs) fn first_unplaced(&self) -> Option<u64> {
        let nowhere = Extent { sector: UNPLACED, sectors: 0 };
        self.state.borrow().cache.first_dirty(nowhere.sector..u64::MAX)
    }

    /// Sleeps until memory is so short that blocks without a place must be written.
    pub(in crate::fs) async fn flusher_wanted(&self) {
        self.flusher.sleep(&self.clock).await;
    }

    /// The block that the flusher writes next, while too much is dirty.
    pub(in crate::fs) fn next_to_flush(&self) -> Option<u64> {
        let pool = self.pool(Pool::Data);
        let inner = self.state.borrow();
        let enough = match self.spec.cleaning {
            Cleaning::Limit(bytes) => bytes / block::SECTOR_BYTES / 2,
            Cleaning::Background { background_bytes, .. } => background_bytes / block::SECTOR_BYTES,
            Cleaning::PageDaemon(_) => 0,
        };
        let oldest = |id: BufferId| inner.cache.get(id).extent.sector;
        (inner.cache.dirty_sectors(pool) > enough)
            .then(|| inner.cache.oldest_dirty(pool).map(oldest))
            .flatten()
    }

    /// Waits until a request is done.
    pub(in crate::fs) async fn any_done(&self) {
        self.state.borrow_mut().waiting_for_room.push(self.clock.current());
        self.clock.parked().await;
    }

    /// The flusher or the file system has done what it could: tasks that wait for room look again.
    pub(in crate::fs) fn has_made_room(&self) {
        for task in self.state.borrow_mut().waiting_for_room.drain(..) {
            self.clock.wake(task);
        }
    }

    /// Asks the file system to release what it holds, where that takes all memory. Returns whether a
    /// task is at work that will make room.
    pub(super) fn is_room_coming(&self) -> bool {
        let is_held_back = {
            let cache = &self.state.borrow().cache;
            cache.all().any(|id| cache.get(id).state == State::Held)
        };
        if is_held_back {
            self.is_short.set(true);
            self.own_work.call(&self.clock);
        }
        is_held_back || self.flusher.is_busy()
    }

    /// Sleeps until the file system has work for its own task; returns why.
    pub(in crate::fs) async fn own_work(&self) -> Call {
        self.own_work.sleep(&self.clock).await;
        if self.is_short.replace(false) { Call::Memory } else { Call::Time }
    }

    /// The file system has changed: its own task has work at `next`, and a milestone may have been
    /// reached.
    pub(in crate::fs) fn has_moved(&self, next: Option<Nanos>) {
        self.own_work.call_at(next);
        for task in self.waiting_for_milestones.borrow_mut().drain(..) {
            self.clock.wake(task);
        }
    }

    /// Waits until the file system has reached `milestone`.
    pub(in crate::fs) async fn until(&self, milestone: Milestone) {
        let has_happened = || {
            let file_system = std::rc::Rc::clone(&self.state.borrow().file_system);
            let file_system = file_system.borrow();
            file_system.has_happened(milestone)
        };
        while !has_happened() {
            self.clock.settle().await;
            if !has_happened() {
                self.waiting_for_milestones.borrow_mut().push(self.clock.current());
                self.clock.parked().await;
            }
        }
    }

    /// Starts requests that bypass the cache, of the largest size, and adds their tags to `tags`.
    pub(in crate::fs) async fn submit(&self, op: Op, extent: Extent, tags: &mut Vec<Tag>) {
        self.clock.settle().await;
        let mut sector = extent.sector;
        loop {
            let left = extent.end() - sector;
            let sectors = left.min(u64::from(self.spec.cluster_sectors)) as u32;
            tags.push(self.start_raw(op, sector, sectors, true));
            sector += u64::from(sectors);
            if sector >= extent.end() {
                return;
            }
        }
    }

    /// Waits for all of `tags`.
    pub(in crate::fs) async fn drain(&self, tags: &mut Vec<Tag>) -> Result<(), FsError> {
        let mut result = Ok(());
        for tag in tags.drain(..) {
            result = result.and(self.wait_for(tag).await);
        }
        result
    }
}
