//! What is read before anybody needs it.

use super::Kernel;
use crate::BlocksAhead;
use crate::fs::cache::{Extent, Pool};

impl Kernel {
    /// Starts to read those of the contiguous `extents` that are not in memory; waits only for room.
    pub async fn read_ahead(&self, extents: &[Extent], pool: Pool, owner: u32) {
        let pool = self.pool(pool);
        let skipped = extents.iter().take_while(|extent| self.is_present(extent)).count();
        let wanted = self.absent_run(&extents[skipped..]);
        let sectors = wanted.iter().map(|extent| extent.sectors).sum();
        if !wanted.is_empty() {
            self.clock.settle().await;
            while self.make_room(pool, sectors).await {}
            if self.absent_run(wanted).len() == wanted.len() {
                self.start_read(wanted, pool, owner, false);
            }
        }
    }

    /// The same of blocks of which somebody wants the `wanted`th, where that is not in memory. Over several disks that one is left
    /// for its reader, who comes last and waits for nothing else (`__ext4_get_inode_loc` of `fs/ext4/inode.c`, whose
    /// `ext4_sb_breadahead_unmovable` passes over the block that it has locked).
    pub async fn read_around(&self, run: &[Extent], wanted: usize, pool: Pool, owner: u32) {
        if self.clock.blocks_ahead() == BlocksAhead::Together {
            return self.read_ahead(run, pool, owner).await;
        }
        if self.is_present(&run[wanted]) {
            return;
        }
        for block in run[..wanted].iter().chain(&run[wanted + 1..]) {
            self.read_ahead(std::slice::from_ref(block), pool, owner).await;
        }
    }

    fn is_present(&self, extent: &Extent) -> bool {
        self.state.borrow().cache.find(extent.sector).is_some()
    }

    pub(super) fn absent_run<'a>(&self, extents: &'a [Extent]) -> &'a [Extent] {
        let inner = self.state.borrow();
        let mut end = 0;
        let mut sectors = 0;
        for (index, extent) in extents.iter().enumerate() {
            sectors += extent.sectors;
            if inner.cache.find(extent.sector).is_some()
                || sectors > self.spec.cluster_sectors.max(extents[0].sectors)
                || index > 0 && extents[index - 1].end() != extent.sector
            {
                break;
            }
            end = index + 1;
        }
        &extents[..end]
    }
}
