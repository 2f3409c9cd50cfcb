//! What a mechanical drive is, in figures.

use super::firmware::Firmware;
use super::geometry::{PlatterError, PlatterSpec};
use super::seek::{SeekError, SeekSpec};
use crate::Nanos;
use std::fmt;

/// A mechanical drive.
#[derive(Clone, Debug)]
pub struct DriveSpec {
    /// Where sectors lie.
    pub platters: PlatterSpec,
    /// How the arm moves.
    pub seek: SeekSpec,
    /// Added to a seek or a head switch before a write, in ns.
    pub write_settle_ns: Nanos,
    /// What a command costs at least before the drive can wait for its first sector, in ns, also where
    /// the arm is there already; a shorter seek hides in it.
    pub command_settle_ns: Nanos,
    /// From one head to another on the same cylinder, within a transfer, in ns.
    pub head_switch_ns: Nanos,
    /// What the controller does.
    pub controller: ControllerSpec,
}

/// The electronics of a drive.
#[derive(Clone, Debug)]
pub struct ControllerSpec {
    /// Before a read that the buffer answers, in ns.
    pub read_hit_overhead_ns: Nanos,
    /// Before a read that the medium answers, in ns.
    pub read_miss_overhead_ns: Nanos,
    /// Before a write, in ns.
    pub write_overhead_ns: Nanos,
    /// Before a write that goes on where the one before it ended, in ns: the sequencer takes it in
    /// without the firmware, as for a hit.
    pub sequential_write_overhead_ns: Nanos,
    /// Read segments in the buffer; 0 is no read cache.
    pub segments: usize,
    /// Sectors a segment holds.
    pub segment_sectors: u64,
    /// How far the drive reads on after a read, in sectors; 0 is no read-ahead.
    pub read_ahead_sectors: u64,
    /// Sectors of writes that the buffer takes before they are on the medium; 0 is write-through.
    pub write_buffer_sectors: u64,
    /// Whether a track is read and written from wherever the head arrives.
    pub zero_latency: bool,
    /// What the drive's end of the bus can move, in bytes a second.
    pub interface_bytes_per_s: u64,
    /// What it decides.
    pub firmware: Firmware,
}

/// Why a drive cannot be as described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveError {
    /// Its platters cannot.
    Platters(PlatterError),
    /// Its seeks cannot.
    Seek(SeekError),
    /// It reads further ahead than a segment holds.
    ReadAheadBeyondSegment,
    /// Its interface moves nothing.
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
