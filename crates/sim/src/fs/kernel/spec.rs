//! The parameters of a kernel: its memory and its delays; and its counters.

use crate::Nanos;
use crate::fs::cache::Replacement;

/// The sizes of its caches, and when it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Memory for metadata, in bytes; for everything where there is one cache.
    pub buffer_bytes: u64,
    /// Memory for file data, in bytes; `None` where it shares the buffers.
    pub page_bytes: Option<u64>,
    /// What is dropped when the memory for data is full.
    pub replacement: Replacement,
    /// How dirty data leaves memory.
    pub cleaning: Cleaning,
    /// The largest request, in sectors: MAXPHYS.
    pub cluster_sectors: u32,
    /// How long changes of each kind may wait.
    pub delays: Delays,
    /// Whether the driver has the drive flush its write buffer when the device is closed.
    pub close_flushes: bool,
}

/// How dirty data leaves memory before the syncer writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// A writer waits while more than this of a pool is dirty or being written, in bytes.
    Limit(u64),
    /// Linux: above `background_bytes` of dirty memory the flusher writes (`dirty_background_ratio`).
    /// Above `limit_bytes` dirty or being written, a writer waits for it (`dirty_ratio`).
    Background {
        /// Where the flusher starts, and stops.
        background_bytes: u64,
        /// Where writers wait.
        limit_bytes: u64,
    },
    /// NetBSD from 1.6 on: the page daemon writes the least recently used pages when pages run out.
    PageDaemon(PageDaemon),
}

/// When NetBSD's page daemon runs, and what buffers may keep then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageDaemon {
    /// It runs when less than this is free, in bytes: `freetarg`.
    pub free_bytes: u64,
    /// Buffers keep this while pages are short, in bytes: `bufmem_lowater`.
    pub least_buffer_bytes: u64,
}

/// How long a change may wait before the syncer writes it, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// File data.
    pub data_ns: Nanos,
    /// Directories.
    pub directory_ns: Nanos,
    /// Inodes, bitmaps and indirect blocks.
    pub metadata_ns: Nanos,
    /// How often the syncer runs.
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

    /// NetBSD from 1.5 on (and FreeBSD from 3 on): every second, the changes that are old enough.
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

/// Requests, by who made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Reads, by programs: getrusage's `ru_inblock`.
    pub reads: u64,
    /// Writes by programs, synchronous or not: `ru_oublock`.
    pub writes: u64,
    /// The synchronous ones among those.
    pub waited_writes: u64,
    /// Writes by the syncer.
    pub daemon_writes: u64,
    /// Cache hits: blocks that were looked for and in memory.
    pub hits: u64,
}

/// The kind of change that decides its delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// File data.
    Data,
    /// Directories.
    Directory,
    /// Everything else.
    Metadata,
}
