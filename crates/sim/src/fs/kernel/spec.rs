//! A kernel in figures: its memory, its patience, and what it has done.

use crate::Nanos;
use crate::fs::cache::Replacement;

/// How large its caches are and when it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Memory for the file system's own blocks, in bytes; for everything where there is one cache.
    pub buffer_bytes: u64,
    /// Memory for what files hold, in bytes; `None` where it shares the buffers.
    pub page_bytes: Option<u64>,
    /// What goes when the memory for data is full.
    pub replacement: Replacement,
    /// How what was written leaves memory.
    pub cleaning: Cleaning,
    /// The largest request, in sectors: MAXPHYS.
    pub cluster_sectors: u32,
    /// How long changes to each may wait.
    pub delays: Delays,
    /// Whether the driver has the drive empty its write buffer when the device is closed.
    pub close_flushes: bool,
}

/// How what programs have written leaves memory before the syncer comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// A writer waits while more than this of a pool is dirty or being written, in bytes.
    Limit(u64),
    /// Linux: above `background_bytes` of dirty memory the flusher writes (`dirty_background_ratio`), and
    /// above `limit_bytes` of what is dirty or being written a writer waits for it (`dirty_ratio`).
    Background {
        /// Where the flusher begins, and ends.
        background_bytes: u64,
        /// Where writers wait.
        limit_bytes: u64,
    },
    /// NetBSD from 1.6 on: the page daemon writes what was used longest ago when pages run out.
    PageDaemon(PageDaemon),
}

/// When the page daemon of NetBSD works, and what buffers may keep then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageDaemon {
    /// It works when less than this is free, in bytes: `freetarg`.
    pub free_bytes: u64,
    /// Buffers keep this while pages are short, in bytes: `bufmem_lowater`.
    pub least_buffer_bytes: u64,
}

/// How long a change may wait before the syncer writes it, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// What files hold.
    pub data_ns: Nanos,
    /// Directories.
    pub directory_ns: Nanos,
    /// Inodes, bitmaps and indirect blocks.
    pub metadata_ns: Nanos,
    /// How often the syncer looks.
    pub tick_ns: Nanos,
}

const SECOND_NS: Nanos = 1_000_000_000;

impl Delays {
    /// How long a change with this delay may wait.
    pub(super) fn of(&self, delay: Delay) -> Nanos {
        match delay {
            Delay::Data => self.data_ns,
            Delay::Directory => self.directory_ns,
            Delay::Metadata => self.metadata_ns,
        }
    }

    /// NetBSD from 1.5 on (and FreeBSD from 3 on): each second, what is old enough.
    pub const SYNCER: Delays = Delays {
        data_ns: 30 * SECOND_NS,
        directory_ns: 15 * SECOND_NS,
        metadata_ns: 10 * SECOND_NS,
        tick_ns: SECOND_NS,
    };
    /// 4.4BSD's update(4): every 30 seconds, everything.
    pub const UPDATE: Delays =
        Delays { data_ns: 0, directory_ns: 0, metadata_ns: 0, tick_ns: 30 * SECOND_NS };
}

/// Requests made, by those who made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Reads, by programs: getrusage's `ru_inblock`.
    pub reads: u64,
    /// Writes by programs, waited for or not: `ru_oublock`.
    pub writes: u64,
    /// Of those, writes that were waited for.
    pub waited_writes: u64,
    /// Writes by the syncer.
    pub daemon_writes: u64,
    /// Blocks that were looked for in the cache and were there.
    pub hits: u64,
}

/// Which delay a change has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// What files hold.
    Data,
    /// Directories.
    Directory,
    /// Everything else.
    Metadata,
}
