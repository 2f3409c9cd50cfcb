//! The common case of most steps: the block is in memory, and there is nothing to wait for.

use super::{Kernel, State};
use crate::fs::cache::BufferId;
use crate::fs::filesystem::Block;
use crate::fs::kernel::Extent;

impl Kernel {
    /// Does the work of [`Kernel::read`] if that need not wait; returns whether it was done.
    pub(in crate::fs) fn read_at_once(&self, extent: Extent) -> bool {
        let inner = &mut *self.state.borrow_mut();
        let found = inner.cache.find(extent.sector);
        let Some(id) = found.filter(|&id| !is_busy(inner.cache.get(id).state)) else {
            return false;
        };
        inner.has_hit(id, extent.sectors);
        true
    }

    /// Does the work of [`Kernel::hold`] and [`Kernel::write_later`] if they need not wait; returns
    /// whether it was done.
    pub(in crate::fs) fn change_at_once(&self, block: &Block, fresh: bool) -> bool {
        let extent = block.extent;
        let held = {
            let inner = &mut *self.state.borrow_mut();
            let found = inner.cache.find(extent.sector);
            if inner.cache.doomed_in(extent).is_some()
                || found.is_some_and(|id| is_busy(inner.cache.get(id).state))
            {
                return false;
            }
            if let Some(id) = found {
                if fresh {
                    inner.cache.grow(id, extent.sectors);
                } else {
                    inner.has_hit(id, extent.sectors);
                }
            }
            found
        };
        let Some(id) = held.or_else(|| fresh.then(|| self.insert_at_once(block)).flatten()) else {
            return false;
        };
        self.state.borrow_mut().is_changed_later(self.clock.now(), id, block.delay);
        true
    }

    /// Adds a new block, for which there is room.
    fn insert_at_once(&self, block: &Block) -> Option<BufferId> {
        let (pool, sectors) = (self.pool(block.pool), block.extent.sectors);
        if self.must_wait(self.needs(pool, sectors)).is_some() {
            return None;
        }
        let cache = &mut self.state.borrow_mut().cache;
        let has_room = cache.has_room(pool, sectors);
        has_room.then(|| cache.insert(block.extent, pool, block.owner, State::Clean))
    }
}

fn is_busy(state: State) -> bool {
    matches!(state, State::Busy(_))
}
