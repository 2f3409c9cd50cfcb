//! What an ideal disk is.

use crate::Nanos;

/// What an ideal disk is. [`SpiralSpec::default`] is the disk that md was measured on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpiralSpec {
    /// Its size, in sectors.
    pub sectors: u64,
    /// What one sector takes under the head, in ns.
    pub sector_ns: Nanos,
    /// Sectors in a track; a revolution is as long as all of them take.
    pub track_sectors: u64,
    /// A seek to the next track, in ns.
    pub seek_single_ns: Nanos,
    /// What a seek over the whole disk takes longer than that, in ns. In between, it grows with the root of the
    /// distance.
    pub seek_span_ns: Nanos,
    /// From a command's arrival until the drive can choose it, in ns.
    pub command_ns: Nanos,
    /// A command older than this goes first, in ns.
    pub aged_ns: Nanos,
    /// How far it reads on after a read, in sectors.
    pub ahead_sectors: u64,
    /// What it keeps in front of the last read, in sectors.
    pub behind_sectors: u64,
    /// Read segments that it keeps besides the one that is being read.
    pub frozen_segments: usize,
    /// What the link moves, in bytes a second.
    pub link_bytes_per_s: u64,
    /// The write buffer, in sectors; 0 where writes go to the medium at once.
    pub buffer_sectors: u64,
    /// While a flush or a full buffer waits, so much is moved to the medium between two reads, in sectors, and no
    /// less than one write.
    pub burst_sectors: u64,
}

impl Default for SpiralSpec {
    fn default() -> Self {
        SpiralSpec {
            sectors: 7_812_500_000,
            sector_ns: 2048,
            track_sectors: 4069,
            seek_single_ns: 1_200_000,
            seek_span_ns: 13_690_000,
            command_ns: 100_000,
            aged_ns: 2_000_000_000,
            ahead_sectors: 8 << 11,
            behind_sectors: 2 << 11,
            frozen_segments: 8,
            link_bytes_per_s: 550_000_000,
            buffer_sectors: 0,
            burst_sectors: 0,
        }
    }
}

impl SpiralSpec {
    /// The same disk with a write buffer of so many sectors.
    #[must_use]
    pub fn buffered(self, buffer_sectors: u64) -> Self {
        SpiralSpec { buffer_sectors, ..self }
    }

    /// How long a revolution takes.
    pub(super) fn revolution_ns(&self) -> Nanos {
        self.track_sectors * self.sector_ns
    }

    /// A seek from one track to another.
    pub(super) fn seek_ns(&self, from: u64, to: u64) -> Nanos {
        match from.abs_diff(to) {
            0 => 0,
            tracks => {
                let all = (self.sectors as f64 / self.track_sectors as f64).ceil();
                let root = (tracks as f64 / all).sqrt() - (1.0 / all).sqrt();
                self.seek_single_ns + (self.seek_span_ns as f64 * root) as Nanos
            }
        }
    }

    /// What the link takes.
    pub(super) fn link_ns(&self, sectors: u32) -> Nanos {
        let bytes = u128::from(sectors) * u128::from(block::SECTOR_BYTES);
        (bytes * 1_000_000_000 / u128::from(self.link_bytes_per_s)) as Nanos
    }
}
