//! How ext4 is mounted: ext4(5).

use crate::Nanos;

/// What is on the disk before a transaction that names it: `data=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// What files hold: `data=ordered`.
    Ordered,
    /// Nothing: `data=writeback`.
    Writeback,
}

/// When reading changes the time of last access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessTimes {
    /// The first time after each change: `relatime`.
    Relative,
    /// Never: `noatime`.
    Never,
}

/// What a commit does about the drive's own cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Nothing: `nobarrier`.
    None,
    /// A flush before the commit block, and that is written past the cache (FUA).
    Fua,
    /// A flush before and one behind it, as the block layer does for a drive without FUA, which for
    /// libata is every disk (`block/blk-flush.c`; `libata.fua` is off).
    Flushes,
}

/// How it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Order of data and metadata.
    pub data: Data,
    /// Blocks are placed when they are written to the disk, and not when a program writes them:
    /// `delalloc`.
    pub delayed_allocation: bool,
    /// How long a transaction runs: `commit=`.
    pub commit_ns: Nanos,
    /// Flushes.
    pub barrier: Barrier,
    /// Times of last access.
    pub access_times: AccessTimes,
}

impl Mount {
    /// The defaults, on a disk.
    pub const DEFAULT: Mount = Mount {
        data: Data::Ordered,
        delayed_allocation: true,
        commit_ns: 5_000_000_000,
        barrier: Barrier::Flushes,
        access_times: AccessTimes::Relative,
    };
}
