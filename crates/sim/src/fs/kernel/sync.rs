//! Writing everything: sync(8) and umount(8).

use super::{Kernel, State};
use crate::fs::cache::BufferId;
use crate::fs::filesystem::Block;

impl Kernel {
    /// From now on the current task will wait for what it writes.
    pub(in crate::fs) fn begins_to_sync(&self) {
        self.syncing.borrow_mut().push(self.clock.current());
    }

    /// The end of that.
    pub(in crate::fs) fn ends_to_sync(&self) {
        let mut syncing = self.syncing.borrow_mut();
        let last = syncing.iter().rposition(|&task| task == self.clock.current());
        syncing.remove(last.expect("it has begun"));
    }

    /// Starts to write everything that is dirty.
    pub(in crate::fs) async fn start_all(&self) {
        self.clock.settle().await;
        for sector in self.dirty() {
            self.start_cluster(sector, false);
        }
    }

    /// Writes everything that is dirty and waits until it is written.
    pub async fn sync(&self) {
        self.clock.settle().await;
        loop {
            let dirty = self.dirty();
            for &sector in &dirty {
                self.start_cluster(sector, false);
            }
            self.wait_for_writes().await;
            // A block that was written without its last changes is dirty again.
            if dirty.is_empty() {
                return;
            }
        }
    }

    fn dirty(&self) -> Vec<u64> {
        let inner = self.state.borrow();
        let is_dirty = |id: &BufferId| matches!(inner.cache.get(*id).state, State::Dirty(_));
        inner.cache.all().filter(is_dirty).map(|id| inner.cache.get(id).extent.sector).collect()
    }

    /// Checks that everything is on the disk, as after [`Kernel::sync`].
    ///
    /// # Panics
    ///
    /// Where anything is dirty or in flight, or state is held for it.
    pub fn check_written(&self) {
        assert_eq!(self.dirty(), [], "blocks are dirty");
        let inner = self.state.borrow();
        let held = inner.cache.all().find(|&id| inner.cache.get(id).state == State::Held);
        assert_eq!(held, None, "a block is held back");
        drop(inner);
        self.state.borrow().check_idle();
    }

    /// Waits for the writes that have been started.
    pub(in crate::fs) async fn wait_for_writes(&self) {
        loop {
            let writing = {
                let inner = self.state.borrow();
                inner.under_way.iter().find(|(_, request)| request.write).map(|(tag, _)| tag)
            };
            match writing {
                // Whose it is is told.
                Some(tag) => drop(self.wait_for(tag).await),
                None => return,
            }
        }
    }

    /// What mount(8) has read is in memory, as far as there is room.
    pub fn keep(&self, blocks: &[Block]) {
        let inner = &mut *self.state.borrow_mut();
        for block in blocks {
            let pool = self.pool(block.pool);
            let is_absent = inner.cache.find(block.extent.sector).is_none();
            if is_absent && inner.cache.has_room(pool, block.extent.sectors) {
                inner.cache.insert(block.extent, pool, block.owner, State::Clean);
            }
        }
    }

    /// Drops all clean blocks.
    pub fn drop_clean(&self) {
        let inner = &mut *self.state.borrow_mut();
        let idle: Vec<_> =
            inner.cache.all().filter(|&id| inner.cache.get(id).state == State::Clean).collect();
        for id in idle {
            inner.cache.remove(id);
        }
    }
}
