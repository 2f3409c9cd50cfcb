//! Bypassing the cache: the requests of newfs(8), fsck(8) and mount(8) to the raw device.

use super::{Extent, Kernel};
use crate::Tag;
use crate::fs::files::FsError;
use block::Op;
use block::bios::ONE_BIO_SECTORS;

/// The most that one bio writes.
const BIO_SECTORS: u64 = ONE_BIO_SECTORS as u64;

impl Kernel {
    /// Reads, writes or flushes the raw device: split into requests of the largest size, one after the other, or all of them
    /// `together`, as Linux's `blkdev_issue_zeroout` and its page cache do.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub async fn raw(&self, op: Op, extent: Extent, together: bool) -> Result<(), FsError> {
        if together {
            let mut tags = Vec::new();
            self.submit_together(op, extent, &mut tags).await;
            return self.drain(&mut tags).await;
        }
        let mut sector = extent.sector;
        while sector < extent.end() {
            let sectors = (extent.end() - sector).min(u64::from(self.spec.cluster_sectors)) as u32;
            self.clock.settle().await;
            let tag = self.start_raw(op, sector, sectors, true);
            self.wait_for(tag).await?;
            sector += u64::from(sectors);
        }
        Ok(())
    }

    /// Starts the requests of a raw access; only the last is one that is waited for (`submit_bio_wait` behind
    /// `__blkdev_issue_zero_pages`). A host's request that is shorter than a bio cuts all of it in a row; the kernel cuts each bio by itself.
    async fn submit_together(&self, op: Op, extent: Extent, tags: &mut Vec<Tag>) {
        self.clock.settle().await;
        let most = if op.modifies() { BIO_SECTORS } else { u64::MAX };
        let most = most.min(u64::from(self.spec.cluster_sectors));
        let mut sector = extent.sector;
        loop {
            let sectors = (extent.end() - sector).min(most);
            let is_last = sector + sectors >= extent.end();
            tags.push(self.start_raw(op, sector, sectors as u32, is_last || op == Op::Read));
            sector += sectors;
            if is_last {
                return;
            }
        }
    }

    /// The device is closed: wd(4) then has the drive flush its write buffer, and waits.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub async fn close(&self) -> Result<(), FsError> {
        if self.spec.close_flushes {
            let tag = self.start_raw(Op::Flush, 0, 0, true);
            return self.wait_for(tag).await;
        }
        Ok(())
    }

    /// Starts a request that bypasses the cache; the current task will wait for it.
    pub(super) fn start_raw(&self, op: Op, sector: u64, sectors: u32, is_sync: bool) -> Tag {
        self.clock.sends(is_sync);
        let is_daemon = self.daemons.borrow().contains(&self.clock.current());
        let inner = &mut *self.state.borrow_mut();
        match op {
            Op::Read => inner.traffic.reads += 1,
            Op::Flush => {}
            _ if is_daemon => inner.traffic.daemon_writes += 1,
            _ => inner.traffic.writes += 1,
        }
        let tag = inner.submit(self.clock.now(), op, sector, sectors, &[]);
        inner.is_awaited_by(self.clock.current());
        tag
    }
}
