//! How 4.4BSD reads a file: block by block, with read-ahead for sequential programs.
//!
//! Each wanted block that is not in memory is a request of its own. The blocks behind it are read ahead
//! in clusters, by a window. The window grows by a block with each block read in order. It is halved
//! when a program jumps, or when blocks read ahead were dropped before use. The window belongs to the
//! file and not to the program: readers of the same file disturb each other's. So does the lock: one
//! call at a time reads or writes a file, even while it waits for the disk.
//!
//! After FreeBSD's `sys/kern/vfs_cluster.c` of 1996 (`cluster_read`; `RA_MULTIPLE_FAST` is 2 clusters,
//! `RA_MULTIPLE_SLOW` 3), `ufs_readwrite.c`, which reads a file's last block without reading ahead, and
//! 4.4BSD's `vfs_vnops.c` (`vn_read` and `vn_write` hold the vnode's lock, which is exclusive).

use super::Mounted;
use crate::fs::clock::{Clock, TaskId};
use crate::fs::files::FsError;
use crate::fs::filesystem::Ino;
use crate::fs::kernel::Pool;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The window's limit in clusters, while what it read ahead is still in memory.
const CLUSTERS: u64 = 2;
/// The same where nothing read ahead is left.
const CLUSTERS_DRY: u64 = 3;

/// What all openers of a file share: its lock, and its read-ahead window.
#[derive(Debug, Default)]
pub(super) struct Vnode {
    locked: Cell<bool>,
    waiting: RefCell<VecDeque<TaskId>>,
    /// The block that was read last.
    last: Cell<u64>,
    /// The block after the last that was read ahead.
    ahead_to: Cell<u64>,
    /// How far to read ahead, in blocks.
    blocks: Cell<u64>,
}

impl Vnode {
    /// Waits until no other call uses the file.
    pub(super) async fn lock(&self, clock: &Clock) {
        // While the processor works for this task, the file may be unlocked: whoever then does that knows of nobody who waits.
        if self.locked.get() {
            clock.settle().await;
        }
        if self.locked.replace(true) {
            self.waiting.borrow_mut().push_back(clock.current());
            // Whoever unlocks passes the lock on.
            clock.parked().await;
        }
    }

    /// Lets the next call start.
    pub(super) fn unlock(&self, clock: &Clock) {
        match self.waiting.borrow_mut().pop_front() {
            Some(task) => clock.wake(task),
            None => self.locked.set(false),
        }
    }

    /// One block more, up to `clusters` clusters of `cluster_blocks`.
    fn grow(&self, clusters: u64, cluster_blocks: u64) {
        self.blocks.set((self.blocks.get() + 1).min(clusters * cluster_blocks - 1));
    }

    fn halve(&self) {
        self.blocks.set(self.blocks.get() / 2);
    }
}

impl Mounted {
    /// Reads block `index` of a file of `end_index` blocks, and ahead of it.
    pub(super) async fn read_block(
        &self,
        ino: Ino,
        vnode: &Vnode,
        index: u64,
        end_index: u64,
    ) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        self.read_map(ino, index).await?;
        let block = self.0.file_system.borrow().file_block(ino, index);
        // A request in flight that has failed is repeated.
        let _ = kernel.written(block.extent).await;
        let present = kernel.holds(block.extent.sector);
        if !present {
            kernel.read_ahead(&[block.extent], Pool::Data, ino).await;
        }
        if index + 1 < end_index
            && let Some(from) = self.ahead_from(ino, vnode, index, present)
        {
            self.start_ahead(ino, vnode, from, end_index).await?;
        }
        kernel.read(block.extent, block.pool, block.owner).await?;
        vnode.last.set(index);
        Ok(())
    }

    /// Where to read ahead from, if at all, after block `index` was `present` in memory or not.
    fn ahead_from(&self, ino: Ino, vnode: &Vnode, index: u64, present: bool) -> Option<u64> {
        let in_order = index == vnode.last.get() || index == vnode.last.get() + 1;
        let cluster_blocks = self.blocks_per_cluster();
        let ahead_to = vnode.ahead_to.get();
        let from = if !present {
            vnode.blocks.set(0);
            vnode.ahead_to.set(index + 1);
            index + 1
        } else if !in_order {
            vnode.ahead_to.set(index + 1);
            vnode.halve();
            return None;
        } else if ahead_to > index {
            vnode.grow(CLUSTERS, cluster_blocks);
            if ahead_to > index + vnode.blocks.get() {
                return None;
            }
            ahead_to
        } else {
            index + 1
        };
        if !in_order {
            return None;
        }
        vnode.grow(CLUSTERS_DRY, cluster_blocks);
        if from < ahead_to {
            // Another reader has read ahead here: if the blocks are gone already, memory is short.
            let file_system = self.0.file_system.borrow();
            let end = ahead_to.min(file_system.file_bytes(ino).div_ceil(file_system.block_bytes()));
            let held = |&index: &u64| {
                self.0.kernel.holds(file_system.file_block(ino, index).extent.sector)
            };
            if let Some(gone) = (from..end).find(|index| !held(index)) {
                vnode.ahead_to.set(gone);
                vnode.halve();
            }
            return None;
        }
        Some(from)
    }

    /// Starts to read one cluster from block `from` on, as far as the window goes.
    async fn start_ahead(
        &self,
        ino: Ino,
        vnode: &Vnode,
        from: u64,
        end_index: u64,
    ) -> Result<(), FsError> {
        if from >= end_index {
            return Ok(());
        }
        self.read_map(ino, from).await?;
        let run = self.run_from(ino, from, (from + vnode.blocks.get() + 1).min(end_index));
        vnode.ahead_to.set(from + run.len() as u64);
        self.0.kernel.read_ahead(&run, Pool::Data, ino).await;
        Ok(())
    }

    fn blocks_per_cluster(&self) -> u64 {
        let cluster_bytes = u64::from(self.0.kernel.cluster_sectors()) * block::SECTOR_BYTES;
        (cluster_bytes / self.0.file_system.borrow().block_bytes()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::Vnode;
    use crate::fs::clock::tests::nothing;
    use crate::fs::clock::{Clock, Executor};
    use std::cell::Cell;
    use std::rc::Rc;

    /// Each of the tasks works for some ns, has the file for some, and again. Returns how often one had it.
    fn locked(works_ns: [u64; 3], holds_ns: [u64; 3]) -> u64 {
        let (clock, vnode) = (Rc::new(Clock::default()), Rc::new(Vnode::default()));
        let (holders, count) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let mut executor = Executor::new(Rc::clone(&clock));
        for (work_ns, hold_ns) in works_ns.into_iter().zip(holds_ns) {
            let (clock, vnode) = (Rc::clone(&clock), Rc::clone(&vnode));
            let (holders, count) = (Rc::clone(&holders), Rc::clone(&count));
            executor.spawn(async move {
                for _ in 0..2 {
                    clock.charge(work_ns);
                    vnode.lock(&clock).await;
                    assert_eq!(holders.replace(1), 0, "one call at a time");
                    clock.sleep_until(clock.now() + hold_ns).await;
                    holders.set(0);
                    count.set(count.get() + 1);
                    vnode.unlock(&clock);
                }
            });
        }
        executor.run(&nothing());
        count.get()
    }

    /// Who waited for the processor before the lock was passed over by whoever unlocked meanwhile, and slept for ever.
    #[test]
    fn each_call_comes_to_the_file_whoever_works_how_long() {
        let all = || 0..4_u64;
        for (a, b, c) in all().flat_map(|a| all().flat_map(move |b| all().map(move |c| (a, b, c))))
        {
            for (x, y, z) in [(1, 1, 1), (1, 2, 3), (3, 1, 1), (0, 2, 5)] {
                assert_eq!(locked([a, b, c], [x, y, z]), 6, "{a} {b} {c} {x} {y} {z}");
            }
        }
    }
}
