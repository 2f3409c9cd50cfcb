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
        let held = self.hold_at_once(block, fresh);
        if let Some(id) = held {
            self.state.borrow_mut().is_changed_later(self.clock.now(), id, block.delay);
        }
        held.is_some()
    }

    /// Does the work of [`Kernel::hold`] if that need not wait; returns the buffer if it was done.
    pub(in crate::fs) fn hold_at_once(&self, block: &Block, fresh: bool) -> Option<BufferId> {
        let extent = block.extent;
        {
            let inner = &mut *self.state.borrow_mut();
            if inner.cache.doomed_in(extent).is_some() {
                return None;
            }
            if let Some(id) = inner.cache.find(extent.sector) {
                if is_busy(inner.cache.get(id).state) {
                    return None;
                }
                if fresh {
                    inner.cache.grow(id, extent.sectors);
                } else {
                    inner.has_hit(id, extent.sectors);
                }
                return Some(id);
            }
        }
        if fresh { self.insert_at_once(block) } else { None }
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
