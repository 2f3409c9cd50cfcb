//! NetBSD's page daemon, and the buffers while pages are short.
//!
//! From 1.6 on data is kept in pages and metadata in buffers, in one memory. When few pages are free,
//! the daemon starts to write the least recently used ones until four times its target is free or being
//! written (`uvm_pdaemon.c`). Each request writes a whole cluster, but counts for the one page that was
//! wanted (`genfs_putpages`). Then it takes back a sixteenth of what buffers have above their minimum
//! (`buf_drain`). While pages are short a new buffer replaces the least recently used one, and dirty
//! buffers found before that are written (`getnewbuf`). After NetBSD's `sys/kern/vfs_bio.c` 1.123
//! (2004) and `sys/miscfs/genfs/genfs_vnops.c`.
//!
//! A buffer of 64 KiB needs sixteen free pages at once. Where buffers are at their minimum and no such
//! pages are free, a program sleeps until another buffer comes back or the syncer has freed one
//! (`buf_malloc`). This makes blocks of 64 KiB so slow with little memory.

use super::{Cleaning, Kernel, PageDaemon, Pool};
use crate::fs::cache::Cache;
use block::SECTOR_BYTES;

/// A page.
const PAGE_SECTORS: u64 = 8;
/// The largest buffer, which does not share its memory with others (`MAXBSIZE`).
const LARGEST_BUFFER_SECTORS: u64 = 128;
/// Pages that are reserved for the kernel.
const RESERVED_SECTORS: u64 = 5 * PAGE_SECTORS;
/// Free pages that one of the largest buffers needs.
const PIECE_SECTORS: u64 = LARGEST_BUFFER_SECTORS + RESERVED_SECTORS;
/// The most that the daemon asks of the buffers at a time.
const DRAINED_SECTORS_MAX: u64 = 2 * LARGEST_BUFFER_SECTORS;

impl PageDaemon {
    /// At least what a buffer needs in one piece; otherwise it would wait for ever.
    fn free_sectors(self) -> u64 {
        (self.free_bytes / SECTOR_BYTES).max(PIECE_SECTORS)
    }

    fn least_buffer_sectors(self) -> u64 {
        self.least_buffer_bytes / SECTOR_BYTES
    }
}

/// What a new buffer needs besides a place in the list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// That another is replaced.
    place: bool,
    /// Memory in one piece.
    piece: bool,
}

impl Needs {
    /// A buffer of `sectors` was freed; its memory goes to one of `wanted_sectors`.
    pub(super) fn taken(&mut self, sectors: u32, wanted_sectors: u32) {
        self.place = false;
        self.piece &= sectors < wanted_sectors;
    }
}

/// Whether there are buffers to take, above the minimum.
fn has_least(cache: &Cache, daemon: PageDaemon) -> bool {
    cache.held_sectors(Pool::Metadata) >= daemon.least_buffer_sectors().max(1)
}

impl Kernel {
    fn page_daemon(&self) -> Option<PageDaemon> {
        match self.spec.cleaning {
            Cleaning::PageDaemon(daemon) => Some(daemon),
            Cleaning::Limit(_) | Cleaning::Background { .. } => None,
        }
    }

    /// What a new buffer of `sectors` needs.
    pub(super) fn needs(&self, pool: Pool, sectors: u32) -> Needs {
        let Some(daemon) = self.page_daemon().filter(|_| pool == Pool::Metadata) else {
            return Needs::default();
        };
        let cache = &self.state.borrow().cache;
        Needs {
            place: has_least(cache, daemon) && cache.free_sectors() < 2 * daemon.free_sectors(),
            piece: u64::from(sectors) >= LARGEST_BUFFER_SECTORS,
        }
    }

    /// Whether a buffer that still has these `needs` must wait until another comes back; `None` where
    /// it has everything.
    pub(super) fn must_wait(&self, needs: Needs) -> Option<bool> {
        let daemon = self.page_daemon()?;
        let cache = &self.state.borrow().cache;
        let is_free = cache.free_sectors() >= PIECE_SECTORS;
        let lacks_piece = needs.piece && !is_free;
        // There may be no buffer left to replace: all were lost with their device.
        let lacks_place = needs.place && cache.held_sectors(Pool::Metadata) > 0;
        let must_wait = !lacks_place && !has_least(cache, daemon);
        (lacks_place || lacks_piece).then_some(must_wait)
    }

    /// Waits until a buffer comes back, or the syncer runs.
    pub(super) async fn wait_for_buffer(&self) {
        if let Some(daemon) = self.page_daemon() {
            self.clean_pages(daemon).await;
        }
        self.state.borrow_mut().waiting_for_buffer.push(self.clock.current());
        self.clock.parked().await;
    }

    /// Starts to write pages and takes buffers back, where few pages are free.
    pub(super) async fn clean_pages(&self, daemon: PageDaemon) {
        let target = daemon.free_sectors();
        let free_soon = || {
            let inner = self.state.borrow();
            inner.cache.free_sectors() + inner.paging_sectors
        };
        if free_soon() >= target {
            return;
        }
        self.clock.settle().await;
        let demand = target.saturating_sub(self.state.borrow().cache.free_sectors());
        while free_soon() < 4 * target {
            if self.take_oldest_clean(Pool::Data).is_none() {
                if !self.start_oldest(Pool::Data) {
                    break;
                }
                self.state.borrow_mut().last_is_paging(PAGE_SECTORS);
            }
        }
        self.drain_buffers(daemon.least_buffer_sectors(), demand);
    }

    /// Takes a part of the buffers above `least_sectors`, or `demand_sectors` if that is less.
    fn drain_buffers(&self, least_sectors: u64, demand_sectors: u64) {
        let above = || {
            let held = self.state.borrow().cache.held_sectors(Pool::Metadata);
            held.saturating_sub(least_sectors)
        };
        let mut left = (above() / 16).min(demand_sectors).min(DRAINED_SECTORS_MAX);
        while left > 0 && above() > 0 {
            match self.take_oldest_clean(Pool::Metadata) {
                Some(gone) => left = left.saturating_sub(u64::from(gone)),
                None if self.start_oldest(Pool::Metadata) => {}
                None => return,
            }
        }
    }
}
