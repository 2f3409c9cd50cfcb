//! Writing changes to the device: the syncer, the flusher, fsync(2) and sync(2), and the file system's
//! own task.
//!
//! Blocks in memory only get their places when they are written. The file system chooses the places,
//! the blocks are renamed, its steps are taken, and then the blocks are written like all others.

use super::Mounted;
use crate::fs::files::FsError;
use crate::fs::filesystem::{Access, FileSystem, Ino, Policy, UNPLACED};
use crate::fs::kernel::Extent;

impl Mounted {
    /// How read(2), write(2) and umount(8) work here.
    pub fn policy(&self) -> Policy {
        self.0.file_system.borrow().policy()
    }

    /// Accesses to the raw device, one after the other.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub async fn access_raw(&self, accesses: Vec<Access>) -> Result<(), FsError> {
        let together = self.policy().raw_together;
        for (op, extent) in accesses {
            self.0.kernel.raw(op, extent, together).await?;
        }
        Ok(())
    }

    /// Starts to write the dirty blocks that start in `extent`.
    pub(super) async fn start(&self, extent: Extent) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        kernel.clock().settle().await;
        let mut rest = extent;
        while let Some(sector) = kernel.first_dirty(rest) {
            self.start_at(sector).await?;
            rest.sectors = (extent.end() - sector - 1) as u32;
            rest.sector = sector + 1;
        }
        Ok(())
    }

    /// Starts to write the dirty block at `sector` and its neighbours.
    async fn start_at(&self, sector: u64) -> Result<(), FsError> {
        if sector < UNPLACED {
            self.0.kernel.start_cluster(sector, false);
            return Ok(());
        }
        // The steps of placing may themselves start writes.
        Box::pin(self.place(sector)).await
    }

    /// Gives places to the block at `sector` and its neighbours, and starts to write them.
    async fn place(&self, sector: u64) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        self.wait_until_may_place().await;
        let Some((ino, unplaced)) = kernel.unplaced_run(sector) else { return Ok(()) };
        let mut steps = Vec::new();
        let placed = {
            let file_system = &mut *self.0.file_system.borrow_mut();
            let placed = file_system.place(ino, &unplaced);
            file_system.take_steps(kernel.clock().now(), &mut steps);
            kernel.rename(&unplaced, &placed);
            placed
        };
        let result = self.take_all(&mut steps).await;
        for extent in placed {
            kernel.start_cluster(extent.sector, false);
        }
        result
    }

    /// Waits until blocks may be given places. A task that waits sends its plug first, even if a run is already on the disk:
    /// the worker that marks it needs the processor.
    async fn wait_until_may_place(&self) {
        let file_system = &self.0.file_system;
        loop {
            if file_system.borrow_mut().may_place() {
                return;
            }
            self.0.kernel.clock().sleeps();
            if !file_system.borrow_mut().finish_placed() {
                self.0.kernel.any_done().await;
            }
        }
    }

    /// Writes the data of a file, and waits for it.
    pub(super) async fn write_file(&self, ino: Ino) -> Result<(), FsError> {
        let extents = || self.0.file_system.borrow().extents_of(ino);
        let mut result = Ok(());
        self.0.kernel.begins_to_sync();
        for extent in extents() {
            result = result.and(self.start(extent).await);
        }
        self.0.kernel.ends_to_sync();
        // Blocks that had no place have one now.
        for extent in extents() {
            result = result.and(self.0.kernel.written(extent).await);
        }
        result
    }

    /// umount(8): the file system begins to sync before anything is waited for, and its own blocks are written when it is done
    /// (`sync_filesystem`: `sync_fs` with `wait` 0, `sync_blockdev_nowait`, `sync_inodes_sb`, `sync_fs` with `wait` 1,
    /// `sync_blockdev`). Its blocks that are dirty before are started with the data here, not behind the first `sync_fs`. sync(2)
    /// waits for the data first (`ksys_sync`).
    pub(super) async fn write_all_to_unmount(&self) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        let mut result = self.place_all().await;
        kernel.start_all().await;
        result = result.and(self.note(FileSystem::begin_sync).await);
        kernel.wait_for_writes().await;
        // What follows when the data are there, and what is waited for behind it.
        for _ in 0..2 {
            result = result.and(self.note(FileSystem::sync).await);
        }
        result.and(self.write_all().await)
    }

    /// Gives all blocks their places, and starts to write them.
    async fn place_all(&self) -> Result<(), FsError> {
        let mut result = Ok(());
        while let Some(sector) = self.0.kernel.first_unplaced() {
            result = result.and(self.start_at(sector).await);
        }
        result
    }

    /// Writes all changes, and waits for them.
    pub(super) async fn write_all(&self) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        let mut result = Ok(());
        // The writes of the first round are not REQ_SYNC (`ksys_sync`: `sync_inodes_one_sb` behind `wakeup_flusher_threads`).
        let mut is_first = true;
        loop {
            result = result.and(self.place_all().await);
            let is_sync = !std::mem::take(&mut is_first);
            if is_sync {
                kernel.begins_to_sync();
            }
            kernel.sync().await;
            if is_sync {
                kernel.ends_to_sync();
            }
            let mut steps = Vec::new();
            {
                let file_system = &mut *self.0.file_system.borrow_mut();
                file_system.sync();
                file_system.take_steps(kernel.clock().now(), &mut steps);
            }
            if steps.is_empty() || result.is_err() {
                return result;
            }
            result = self.take_all(&mut steps).await;
        }
    }

    /// The syncer: writes what has waited long enough, for ever.
    pub(in crate::fs) async fn run_syncer(self) {
        let kernel = &self.0.kernel;
        kernel.becomes_daemon();
        let mut next = kernel.tick_ns();
        loop {
            kernel.clock().sleep_until(next).await;
            next += kernel.tick_ns();
            kernel.let_buffers_go();
            for delay in 0..3 {
                while let Some(sector) = kernel.next_due(delay) {
                    // Whoever syncs the file gets the error.
                    let _ = self.start_at(sector).await;
                }
            }
        }
    }

    /// The flusher: writes blocks without a place where memory is short, for ever.
    pub(in crate::fs) async fn run_flusher(self) {
        let kernel = &self.0.kernel;
        kernel.becomes_daemon();
        loop {
            kernel.flusher_wanted().await;
            while let Some(sector) = kernel.next_to_flush() {
                let _ = self.start_at(sector).await;
            }
            kernel.has_made_room();
        }
    }

    /// The file system's own task, for ever.
    pub(in crate::fs) async fn run_own_work(self) {
        let kernel = &self.0.kernel;
        kernel.becomes_daemon();
        loop {
            let why = kernel.own_work().await;
            // The file system reports errors to the tasks that wait.
            let _ = self.note(|fs| fs.work(why)).await;
            kernel.has_made_room();
        }
    }
}
