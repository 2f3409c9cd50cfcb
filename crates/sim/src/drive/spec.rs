//! The parameters of a mechanical drive.

use super::firmware::Firmware;
use super::geometry::{PlatterError, PlatterSpec};
use super::seek::{SeekError, SeekSpec};
use crate::Nanos;
use std::fmt;

/// A mechanical drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveSpec {
    /// The platters: where sectors are.
    pub platters: PlatterSpec,
    /// How the arm moves.
    pub seek: SeekSpec,
    /// Added to a seek or a head switch before a write, in ns. Below 0 where a write starts sooner than a
    /// read would.
    pub write_settle_ns: i64,
    /// The least that a command costs before the wait for its first sector begins, in ns, even where
    /// the arm is there already. A shorter seek hides in it.
    pub command_settle_ns: Nanos,
    /// From one head to another on the same cylinder, within a transfer, in ns.
    pub head_switch_ns: Nanos,
    /// What the controller does.
    pub controller: ControllerSpec,
}

/// The electronics of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    /// Before a read that the buffer answers, in ns.
    pub read_hit_overhead_ns: Nanos,
    /// Before a read that the medium answers, in ns.
    pub read_miss_overhead_ns: Nanos,
    /// Before a write, in ns.
    pub write_overhead_ns: Nanos,
    /// Before a write that continues the one before it, in ns: the sequencer handles it without the
    /// firmware, as for a hit.
    pub sequential_write_overhead_ns: Nanos,
    /// Read segments in the buffer; 0 for no read cache.
    pub segments: usize,
    /// Sectors a segment holds.
    pub segment_sectors: u64,
    /// How far the drive reads ahead after a read, in sectors; 0 for no read-ahead.
    pub read_ahead_sectors: u64,
    /// Sectors of writes that the buffer accepts before they are on the medium; 0 is write-through.
    pub write_buffer_sectors: u64,
    /// Zero-latency access: a transfer may start at any sector of a track.
    pub zero_latency: bool,
    /// The rate of the drive's end of the bus, in bytes a second.
    pub interface_bytes_per_s: u64,
    /// Its firmware.
    pub firmware: Firmware,
}

/// Why the description of a drive is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveError {
    /// The platters are invalid.
    Platters(PlatterError),
    /// The seeks are invalid.
    Seek(SeekError),
    /// It reads further ahead than a segment can hold.
    ReadAheadBeyondSegment,
    /// The rate of its interface is zero.
    NoInterface,
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveError::Platters(error) => error.fmt(f),
            DriveError::Seek(error) => error.fmt(f),
            DriveError::ReadAheadBeyondSegment => {
                write!(f, "the read-ahead is longer than a segment; it would overwrite itself")
            }
            DriveError::NoInterface => write!(f, "the interface must move at least 1 B/s"),
        }
    }
}

impl std::error::Error for DriveError {}

impl From<PlatterError> for DriveError {
    fn from(error: PlatterError) -> Self {
        DriveError::Platters(error)
    }
}

impl From<SeekError> for DriveError {
    fn from(error: SeekError) -> Self {
        DriveError::Seek(error)
    }
}
