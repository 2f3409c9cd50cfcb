//! When memory runs out: writers wait while much is dirty, and old blocks make room for new ones.

use super::{Cleaning, Kernel, Pool, State};
use crate::fs::filesystem::UNPLACED;

impl Kernel {
    /// After each write of a program: waits while too much is dirty, or wakes the page daemon.
    pub async fn throttle(&self, pool: Pool) {
        match self.spec.cleaning {
            Cleaning::Limit(bytes) => {
                self.wait_while_dirty(self.pool(pool), bytes / block::SECTOR_BYTES).await;
            }
            Cleaning::Background { background_bytes, limit_bytes } => {
                let pool = self.pool(pool);
                let sectors = |bytes: u64| bytes / block::SECTOR_BYTES;
                self.wait_for_flusher(pool, sectors(background_bytes), sectors(limit_bytes)).await;
            }
            Cleaning::PageDaemon(daemon) => self.clean_pages(daemon).await,
        }
    }

    /// Waits until less than `max` sectors are dirty or being written. Where most of that is being
    /// written already, the rest is left to grow into whole clusters.
    async fn wait_while_dirty(&self, pool: Pool, max: u64) {
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

    /// Calls the flusher where more than `background` sectors are dirty, and waits for it while more than
    /// `limit` are dirty or being written.
    async fn wait_for_flusher(&self, pool: Pool, background: u64, limit: u64) {
        loop {
            let (dirty, writing) = {
                let inner = self.state.borrow();
                (inner.cache.dirty_sectors(pool), inner.writing_sectors[pool as usize])
            };
            if dirty > background {
                self.flusher.call(&self.clock);
            }
            if dirty + writing <= limit {
                return;
            }
            self.clock.settle().await;
            self.wait_for_room().await;
        }
    }

    /// Makes room for `sectors` more. Returns whether it had to wait, so that the caller looks again.
    pub(super) async fn make_room(&self, pool: Pool, sectors: u32) -> bool {
        let fits = self.state.borrow().cache.could_hold(pool, sectors);
        assert!(fits, "one block is more than the cache");
        let mut needs = self.needs(pool, sectors);
        let mut waited = false;
        loop {
            let has_room = self.state.borrow().cache.has_room(pool, sectors);
            let must_wait = match self.must_wait(needs) {
                None if has_room => return waited,
                Some(must_wait) => has_room && must_wait,
                None => false,
            };
            if !must_wait && let Some(gone) = self.take_oldest_clean(pool) {
                needs.taken(gone, sectors);
                continue;
            }
            waited = true;
            self.clock.settle().await;
            if must_wait {
                self.wait_for_buffer().await;
            } else if !self.start_oldest(pool) {
                self.wait_for_room().await;
            }
        }
    }

    /// Drops the least recently used block if it is clean, and returns its sectors.
    pub(super) fn take_oldest_clean(&self, pool: Pool) -> Option<u32> {
        let inner = &mut *self.state.borrow_mut();
        let oldest = inner.cache.oldest(pool)?;
        // A block without a place is not written to free memory: a clean block goes instead.
        let has_place = inner.cache.get(oldest).extent.sector < UNPLACED;
        let id = if has_place { oldest } else { inner.cache.oldest_clean(pool)? };
        let buffer = *inner.cache.get(id);
        (buffer.state == State::Clean).then(|| {
            inner.cache.remove(id);
            buffer.extent.sectors
        })
    }

    /// Starts to write the least recently used block, to drop it when it is written. Returns whether
    /// there was one.
    pub(super) fn start_oldest(&self, pool: Pool) -> bool {
        let oldest = {
            let inner = self.state.borrow();
            inner.cache.oldest(pool).map(|id| inner.cache.get(id).extent.sector)
        };
        if let Some(sector) = oldest {
            // If it was written in the meantime, nothing is started.
            self.start_cluster(sector, true);
        }
        oldest.is_some_and(|sector| sector < UNPLACED)
    }

    /// Waits until a request is back. While the processor worked, the last one may have come back.
    async fn wait_for_room(&self) {
        let is_under_way = !self.state.borrow().under_way.is_empty();
        if is_under_way || self.is_room_coming() {
            self.state.borrow_mut().waiting_for_room.push(self.clock.current());
            self.clock.parked().await;
        }
    }
}
