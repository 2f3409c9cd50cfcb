//! What a cloud volume is.

use crate::{Nanos, Part};
use std::fmt;

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Billed I/Os.
    Ios,
    /// Bytes as they are asked for.
    Bytes,
    /// Whole I/O units of bytes: a smaller command counts as one.
    UnitBytes,
}

impl Counts {
    /// What a wait for such a limit is called.
    pub(super) fn part(self) -> Part {
        match self {
            Counts::Ios => Part::IO_LIMIT,
            Counts::Bytes | Counts::UnitBytes => Part::BYTE_LIMIT,
        }
    }
}

/// A token bucket: a rate, and how much of it is kept while it is not used.
///
/// Reads and writes share it. Where they cost differently, what is left for one is what the other leaves:
/// r / `reads_per_s` + w / `writes_per_s` is at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it counts.
    pub counts: Counts,
    /// What it lets pass of reads in a second, with no writes.
    pub reads_per_s: u64,
    /// The same of writes.
    pub writes_per_s: u64,
    /// The bucket's depth: it fills in this time.
    pub kept_ns: Nanos,
    /// Burst credit: the bucket is deep, and what is in it is spent faster than it is earned.
    pub is_credit: bool,
    /// Whether the bucket is full when the run begins; else it is empty.
    pub starts_full: bool,
}

/// A cloud volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudSpec {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// The most that counts as one I/O, in bytes; what is larger counts as several.
    pub unit_bytes: u32,
    /// Whether commands that follow each other on the volume count as one I/O up to that size.
    pub merges: bool,
    /// Equally likely times of a read that waits for no limit.
    pub read_ns: Vec<Nanos>,
    /// The same of a write.
    pub write_ns: Vec<Nanos>,
    /// Its limits; a command waits for all of them.
    pub limits: Vec<Limit>,
}

/// Why figures make no cloud volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudError {
    /// A size or a rate is zero.
    Zero(&'static str),
    /// There are no times, or one is above a minute.
    Times(&'static str),
    /// A bucket is deeper than ten years.
    Deep,
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloudError::Zero(what) => write!(f, "{what} is 0; give at least 1"),
            CloudError::Times(what) => {
                write!(f, "{what} needs at least one time, none above a minute")
            }
            CloudError::Deep => {
                f.write_str("burst credit lasts more than ten years at the base rate; give less")
            }
        }
    }
}

impl std::error::Error for CloudError {}

const MINUTE_NS: Nanos = 60_000_000_000;
const TEN_YEARS_NS: Nanos = 10 * 366 * 86_400 * 1_000_000_000;

impl Limit {
    pub(super) fn check(&self) -> Result<(), CloudError> {
        if self.reads_per_s == 0 || self.writes_per_s == 0 {
            return Err(CloudError::Zero("a limit"));
        }
        if self.kept_ns > TEN_YEARS_NS { Err(CloudError::Deep) } else { Ok(()) }
    }
}

impl CloudSpec {
    pub(super) fn check(&self) -> Result<(), CloudError> {
        if self.sectors == 0 {
            return Err(CloudError::Zero("the capacity"));
        }
        if self.unit_bytes == 0 {
            return Err(CloudError::Zero("the I/O unit"));
        }
        for (what, times) in [("a read", &self.read_ns), ("a write", &self.write_ns)] {
            if times.is_empty() || times.iter().any(|&ns| ns > MINUTE_NS) {
                return Err(CloudError::Times(what));
            }
        }
        self.limits.iter().try_for_each(Limit::check)
    }
}
