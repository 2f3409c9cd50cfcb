//! Past the cache: what newfs(8), fsck(8) and mount(8) ask of the device itself.

use super::{Extent, Kernel};
use block::Op;

impl Kernel {
    /// Reads past the cache, as from the raw device: cut into the largest requests, one after the other.
    pub async fn read_raw(&self, extent: Extent) {
        self.raw(Op::Read, extent).await;
    }

    /// Writes past the cache, likewise.
    pub async fn write_raw(&self, extent: Extent) {
        self.raw(Op::WRITE, extent).await;
    }

    /// Either, as `op` says.
    pub async fn raw(&self, op: Op, extent: Extent) {
        let mut sector = extent.sector;
        while sector < extent.end() {
            let sectors = (extent.end() - sector).min(u64::from(self.spec.cluster_sectors)) as u32;
            self.clock.settle().await;
            let now = self.clock.now();
            let tag = {
                let inner = &mut *self.state.borrow_mut();
                match op {
                    Op::Read => inner.traffic.reads += 1,
                    _ => inner.traffic.writes += 1,
                }
                inner.submit(now, op, sector, sectors, Vec::new())
            };
            self.wait_for(tag).await;
            sector += u64::from(sectors);
        }
    }

    /// The device is closed: wd(4) has the drive empty its write buffer then, and waits.
    pub async fn close(&self) {
        if self.spec.close_flushes {
            let now = self.clock.now();
            let tag = self.state.borrow_mut().submit(now, Op::Flush, 0, 0, Vec::new());
            self.wait_for(tag).await;
        }
    }
}
