//! Past the cache: what newfs(8), fsck(8) and mount(8) ask of the device itself.

use super::{Extent, Kernel};
use crate::fs::files::FsError;
use block::Op;

impl Kernel {
    /// Reads or writes past the cache, as the raw device: cut into the largest requests, one after the
    /// other.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub async fn raw(&self, op: Op, extent: Extent) -> Result<(), FsError> {
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
                let tag = inner.submit(now, op, sector, sectors, Vec::new());
                inner.is_awaited_by(self.clock.current());
                tag
            };
            self.wait_for(tag).await?;
            sector += u64::from(sectors);
        }
        Ok(())
    }

    /// The device is closed: wd(4) has the drive empty its write buffer then, and waits.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub async fn close(&self) -> Result<(), FsError> {
        if self.spec.close_flushes {
            let now = self.clock.now();
            let tag = self.state.borrow_mut().submit(now, Op::Flush, 0, 0, Vec::new());
            return self.wait_for(tag).await;
        }
        Ok(())
    }
}
