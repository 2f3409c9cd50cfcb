//! Where memory ends: writers wait while much is dirty, and old blocks make room for new ones.

use super::{Kernel, Pool, State};

impl Kernel {
    /// Waits until less than the limit is dirty or being written. Where most of that is being written
    /// already, the rest is left to grow into whole clusters.
    pub async fn throttle(&self, pool: Pool) {
        let pool = self.pool(pool);
        let max = self.spec.dirty_max_bytes / block::SECTOR_BYTES;
        loop {
            let oldest = {
                let inner = self.state.borrow();
                let dirty = inner.cache.dirty_sectors(pool);
                if dirty + inner.writing_sectors[pool as usize] <= max {
                    return;
                }
                let oldest = inner.cache.oldest_dirty(pool).filter(|_| dirty > max / 2);
                oldest.map(|id| inner.cache.get(id).extent.sector)
            };
            self.clock.settle().await;
            let started = oldest.is_some_and(|sector| self.start_cluster(sector, false));
            if !started || self.state.borrow().writing_sectors[pool as usize] > max / 2 {
                self.wait_for_room().await;
            }
        }
    }

    /// Makes room for `sectors` more. Says whether it had to wait, so that the caller looks again.
    pub(super) async fn make_room(&self, pool: Pool, sectors: u32) -> bool {
        let mut waited = false;
        loop {
            let dirty = {
                let inner = &mut *self.state.borrow_mut();
                if inner.cache.has_room(pool, sectors) {
                    return waited;
                }
                match inner.cache.oldest(pool) {
                    Some(id) if inner.cache.get(id).state == State::Clean => {
                        inner.cache.remove(id);
                        continue;
                    }
                    Some(id) => Some(inner.cache.get(id).extent.sector),
                    None => None,
                }
            };
            waited = true;
            if let Some(sector) = dirty {
                self.clock.settle().await;
                self.start_cluster(sector, true);
                // The next one may be clean: look on, and wait only where none is.
                let clean = self.state.borrow().cache.oldest_clean(pool);
                if let Some(id) = clean {
                    self.state.borrow_mut().cache.remove(id);
                }
            } else {
                self.wait_for_room().await;
            }
        }
    }

    pub(super) async fn wait_for_room(&self) {
        assert!(!self.state.borrow().under_way.is_empty(), "one block is more than the cache");
        self.state.borrow_mut().waiting_for_room.push(self.clock.current());
        self.clock.parked().await;
    }
}
