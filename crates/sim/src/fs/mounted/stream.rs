//! How a call reads and writes the blocks of a file: what it reads ahead, and what it starts to write.

use super::{Mounted, OpenFile, copy_ns};
use crate::fs::files::FsError;
use crate::fs::filesystem::{Ino, ReadAhead, WriteBehind};
use crate::fs::kernel::{Extent, Pool};
use block::SECTOR_BYTES;

impl Mounted {
    /// Reads the blocks with bytes `start..end` of a file of `held` bytes.
    pub(super) async fn read_bytes(
        &self,
        file: &OpenFile,
        start: u64,
        end: u64,
        held: u64,
    ) -> Result<(), FsError> {
        let (block_bytes, policy) = {
            let file_system = self.0.file_system.borrow();
            (file_system.block_bytes(), file_system.policy())
        };
        let (first, last) = (start / block_bytes, (end - 1) / block_bytes);
        let end_index = held.div_ceil(block_bytes);
        match policy.read_ahead {
            ReadAhead::Window => {
                for index in first..=last {
                    self.read_block(file.ino, &file.vnode, index, end_index).await?;
                }
            }
            ReadAhead::Fixed => {
                let next_index = file.progress.next_index.get();
                let in_order = first == next_index || first + 1 == next_index;
                file.progress.ahead_to.set(if in_order {
                    file.progress.ahead_to.get().max(first)
                } else {
                    first
                });
                for index in first..=last {
                    let ahead =
                        if in_order { self.0.streaming.ahead_bytes / block_bytes } else { 0 };
                    let to = (index + 1 + ahead).max(last + 1).min(end_index);
                    self.read_ahead(file, to).await?;
                    let block = self.0.file_system.borrow().file_block(file.ino, index);
                    self.0.kernel.read(block.extent, block.pool, block.owner).await?;
                }
                file.progress.next_index.set(last + 1);
            }
        }
        Ok(())
    }

    /// The contiguous blocks of a file from `index` on, as many as one request takes.
    pub(super) fn run_from(&self, ino: Ino, index: u64, end_index: u64) -> Vec<Extent> {
        let file_system = self.0.file_system.borrow();
        let mut run: Vec<Extent> = Vec::new();
        let mut sectors = 0;
        for index in index..end_index {
            let extent = file_system.file_block(ino, index).extent;
            sectors += extent.sectors;
            let apart = run.last().is_some_and(|last| last.end() != extent.sector);
            if apart || !run.is_empty() && sectors > self.0.kernel.cluster_sectors() {
                break;
            }
            run.push(extent);
        }
        run
    }

    /// Starts reads so that every block up to `to` is in memory or being read.
    async fn read_ahead(&self, file: &OpenFile, to: u64) -> Result<(), FsError> {
        while file.progress.ahead_to.get() < to {
            let index = file.progress.ahead_to.get();
            self.read_map(file.ino, index).await?;
            let run = self.run_from(file.ino, index, to);
            file.progress.ahead_to.set(index + run.len() as u64);
            self.0.kernel.read_ahead(&run, Pool::Data, file.ino).await;
        }
        Ok(())
    }

    /// Writes bytes `offset..end` of a file to memory, and starts to write full clusters.
    pub(super) async fn write_bytes(
        &self,
        file: &OpenFile,
        offset: u64,
        end: u64,
    ) -> Result<(), FsError> {
        self.charge(copy_ns(end - offset, self.0.costs.write_ns_per_kib));
        let (block_bytes, write_behind) = {
            let file_system = self.0.file_system.borrow();
            let (held, block_bytes) = (file_system.file_bytes(file.ino), file_system.block_bytes());
            let grown = end.div_ceil(block_bytes).saturating_sub(held.div_ceil(block_bytes));
            self.charge(grown * self.0.costs.block_ns);
            (block_bytes, file_system.policy().write_behind)
        };
        // A write proceeds block by block, so that it never waits for memory for all of them.
        let mut from = offset;
        while from < end {
            let to = ((from / block_bytes + 1) * block_bytes).min(end);
            self.perform(|fs| fs.write(file.ino, from, to)).await?;
            self.push(file, (from, to), block_bytes, write_behind).await;
            from = to;
        }
        self.0.kernel.throttle(Pool::Data).await;
        Ok(())
    }

    /// After a write of `start..end`, starts to write what has become large enough. 4.4BSD counts from
    /// the start of the contiguous run, so that its requests stay aligned with a stripe; NetBSD counts
    /// from the start of the file.
    async fn push(
        &self,
        file: &OpenFile,
        (start, end): (u64, u64),
        block_bytes: u64,
        write_behind: WriteBehind,
    ) {
        let push_blocks = (self.0.streaming.push_bytes / block_bytes).max(1);
        match write_behind {
            WriteBehind::None => {}
            WriteBehind::Aligned => {
                let push_bytes = push_blocks * block_bytes;
                let blocks = |byte: u64| byte / push_bytes * push_blocks;
                self.push_blocks(file.ino, blocks(start), blocks(end)).await;
            }
            WriteBehind::Runs => {
                for index in start / block_bytes..end / block_bytes {
                    self.push_run(file, index, push_blocks).await;
                }
            }
        }
    }

    /// Block `index` is full: writes the contiguous run up to it if that is a cluster, or if the run
    /// ends.
    async fn push_run(&self, file: &OpenFile, index: u64, push_blocks: u64) {
        let (block_sectors, sector) = {
            let file_system = self.0.file_system.borrow();
            let sector = file_system.file_block(file.ino, index).extent.sector;
            (file_system.block_bytes() / SECTOR_BYTES, sector)
        };
        let (first, first_sector) = file.progress.run.get();
        let expected = first_sector + (index - first.min(index)) * block_sectors;
        if index < first || sector != expected {
            self.push_blocks(file.ino, first.min(index), index).await;
            file.progress.run.set((index, sector));
        } else if index + 1 - first == push_blocks {
            self.push_blocks(file.ino, first, index + 1).await;
            file.progress.run.set((index + 1, sector + block_sectors));
        }
    }

    async fn push_blocks(&self, ino: Ino, from: u64, to: u64) {
        for index in from..to {
            let sector = self.0.file_system.borrow().file_block(ino, index).extent.sector;
            self.0.kernel.push(sector).await;
        }
    }
}
