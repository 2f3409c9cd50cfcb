//! An ideal disk: one arm over one long spiral, without skew and zones. It is no real disk: what md was measured on
//! in virtual time is.

use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::figure::{SECTORS_PER_TRACK_MAX, Shape, count, figure, rate, time_ms};
use crate::catalogue::listing::Row;
use crate::catalogue::sheet::{Sheet, ms_as_ns, wrong};
use crate::error::Result;
use block::SECTOR_BYTES;
use sim::spiral::{SpiralSpec, Spirals};

/// The class of ideal disks.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "ideal-disk",
    title: "Figures of an ideal disk",
    figures: IdealDiskFigures::FIGURES,
    keys: &["write_cache", "read_ahead", "queue_depth"],
    provisioned: &[],
    all: &[DriveFigures::FIGURES, IdealDiskFigures::FIGURES],
    read: |sheet, figures| IdealDisk::read(sheet, figures).map(Model::IdealDisk),
};

figures! {
    /// The figures of an ideal disk.
    pub struct IdealDiskFigures {
        /// rate at which the medium passes under the head, everywhere
        media_mb_per_s: f64 = figure("media_mb_per_s", "MB/s", rate()),
        /// sectors in a track; a revolution is as long as all of them take
        sectors_per_track: u64 = figure("sectors_per_track", "sectors", count(1, SECTORS_PER_TRACK_MAX)),
        /// seek to the next track
        seek_single_ms: f64 = figure("seek_single_ms", "ms", time_ms()),
        /// what a seek over the whole disk takes longer than that; in between it grows with the root of the distance
        seek_span_ms: f64 = figure("seek_span_ms", "ms", time_ms()),
        /// time from a command's arrival until the drive may choose it
        command_ms: f64 = figure("command_ms", "ms", time_ms()).default("0"),
        /// age from which a command goes before all that are reached sooner
        aged_ms: f64 = figure("aged_ms", "ms", Shape::Number(0.0..=600_000.0)),
        /// read-ahead after a read
        read_ahead: u64 = figure("read_ahead", "bytes", Shape::Size),
        /// what is kept in front of the last read
        read_behind: u64 = figure("read_behind", "bytes", Shape::Size),
        /// read segments kept besides the one that is being read
        read_segments: u32 = figure("read_segments", "", count(0, 100_000)),
        /// data rate of the link, for what the read cache has and what the write cache takes
        link_mb_per_s: f64 = figure("link_mb_per_s", "MB/s", rate()),
        /// write-back cache, as the drive was used
        write_cache: bool = figure("write_cache", "", Shape::Switch),
        /// size of the write cache
        write_buffer: u64 = figure("write_buffer", "bytes", Shape::Size),
        /// what goes to the medium between two reads while a flush or a full write cache waits
        write_burst: Option<u64> = figure("write_burst", "bytes", Shape::Size).or("one write"),
        /// commands that it has at a time
        queue_depth: u32 = figure("queue_depth", "", count(1, 65_536)),
    }
}

/// An ideal disk, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct IdealDisk {
    /// Its figures.
    pub figures: IdealDiskFigures,
    /// Whether a write is done once it is in the buffer.
    pub write_cache: bool,
    /// Commands that it has at a time.
    pub queue_depth: u32,
    /// Whether it reads on after a read.
    read_ahead: bool,
    sectors: u64,
}

impl IdealDisk {
    fn read(sheet: &Sheet, of_every_drive: &DriveFigures) -> Result<Self> {
        let figures = IdealDiskFigures::read(sheet);
        if figures.media_mb_per_s > SECTOR_BYTES as f64 * 1e3 {
            let why = "moves a sector in less than 1 ns; write at most 512000";
            return Err(wrong(&sheet.label, "media_mb_per_s", why));
        }
        Ok(IdealDisk {
            write_cache: figures.write_cache,
            queue_depth: figures.queue_depth,
            read_ahead: true,
            figures,
            sectors: of_every_drive.sectors,
        })
    }

    /// The disk as the simulator models it.
    pub fn spec(&self) -> SpiralSpec {
        let figures = &self.figures;
        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        SpiralSpec {
            sectors: self.sectors,
            sector_ns: (SECTOR_BYTES as f64 * 1e3 / figures.media_mb_per_s).round() as u64,
            track_sectors: figures.sectors_per_track,
            seek_single_ns: ms_as_ns(figures.seek_single_ms),
            seek_span_ns: ms_as_ns(figures.seek_span_ms),
            command_ns: ms_as_ns(figures.command_ms),
            aged_ns: ms_as_ns(figures.aged_ms),
            ahead_sectors: if self.read_ahead { sectors(figures.read_ahead) } else { 0 },
            behind_sectors: sectors(figures.read_behind),
            frozen_segments: figures.read_segments as usize,
            link_bytes_per_s: (figures.link_mb_per_s * 1e6) as u64,
            buffer_sectors: if self.write_cache { sectors(figures.write_buffer) } else { 0 },
            burst_sectors: sectors(figures.write_burst.unwrap_or(0)),
        }
    }
}

impl ClassModel for IdealDisk {
    fn change(&mut self, keys: &DriveKeys) {
        self.write_cache = keys.write_cache.unwrap_or(self.write_cache);
        self.read_ahead = keys.read_ahead.unwrap_or(self.read_ahead);
        self.queue_depth = keys.queue_depth.unwrap_or(self.queue_depth);
    }

    fn build(&self, _: u64) -> Result<Built> {
        Ok(Built::Alone(Box::new(Spirals::new(1, self.spec()))))
    }

    fn limits(&self) -> Result<Limits> {
        let figures = &self.figures;
        let segments_bytes =
            (figures.read_ahead + figures.read_behind) * (u64::from(figures.read_segments) + 1);
        Ok(Limits {
            media_bytes_per_s: figures.media_mb_per_s * 1e6,
            interface_bytes_per_s: figures.link_mb_per_s * 1e6,
            read_cache_sectors: segments_bytes / SECTOR_BYTES,
            write_cache_sectors: self.spec().buffer_sectors,
            reorders: true,
        })
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        let figures = &self.figures;
        let rates =
            [("link_mb_per_s", figures.link_mb_per_s), ("media_mb_per_s", figures.media_mb_per_s)];
        Ok(rates.map(|(key, rate)| (key, (rate * 1e6) as u64)).into())
    }

    fn write_cache(&self) -> bool {
        self.write_cache
    }

    fn queue_depth(&self) -> usize {
        self.queue_depth as usize
    }

    fn is_rotational(&self) -> bool {
        true
    }

    /// It was made to measure Linux.
    fn is_of_today(&self) -> bool {
        true
    }

    fn row(&self, _: &Drive) -> Result<Option<Row>> {
        Ok(None)
    }
}
