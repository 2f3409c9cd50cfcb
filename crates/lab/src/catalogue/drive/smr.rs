//! A shingled disk that hides it: a disk with a media cache and bands.

mod listed;

use super::disk::Disk;
use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::drive::DiskFigures;
use crate::catalogue::figure::{Shape, count, figure};
use crate::catalogue::listing::{Derived, Row};
use crate::catalogue::sheet::{Sheet, ms_as_ns};
use crate::error::{Error, Result};
use crate::keys::words;
use block::SECTOR_BYTES;
use sim::bus::Bus;
use sim::smr::SmrSpec;
use sim::{Shelf, Smr};

/// The class of shingled disks.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "smr",
    title: "Figures of a shingled disk, besides those of a disk",
    figures: ShingledFigures::FIGURES,
    keys: &[
        "write_cache",
        "read_ahead",
        "zero_latency",
        "queue_discipline",
        "queue_depth",
        "media_cache",
    ],
    provisioned: &[],
    all: &[DriveFigures::FIGURES, DiskFigures::FIGURES, ShingledFigures::FIGURES],
    read: |sheet, figures| Shingled::read(sheet, figures).map(|it| Model::Shingled(Box::new(it))),
};

words! {
    /// What the media cache of a shingled disk holds when a run begins.
    pub enum MediaCache {
        /// As many random writes as it keeps: what lasts.
        Filled = "filled",
        /// Nothing.
        Clean = "clean",
    }
}

figures! {
    /// The figures of a shingled disk, besides those of a disk.
    pub struct ShingledFigures {
        /// band: what is rewritten for a write within it
        band: u64 = figure("band", "bytes", Shape::Size),
        /// media cache, at the outer edge
        media_cache_size: u64 = figure("media_cache_size", "bytes", Shape::Bytes),
        /// writes that the media cache keeps apart
        media_cache_writes: Option<u64> = figure("media_cache_writes", "", count(4, 100_000_000))
            .or("as many as find room"),
        /// a write takes a multiple of it in the media cache
        media_cache_unit: u64 = figure("media_cache_unit", "bytes", Shape::Size).default("4KiB"),
        /// what a write takes besides
        media_cache_header: u64 = figure("media_cache_header", "bytes", Shape::Bytes).default("0"),
        /// a band is written to a spare one before it is written in place
        band_copied_first: bool = figure("band_copied_first", "", Shape::Switch),
        /// writes in a row, from the start of a band on, after which they go to their bands
        stream: u64 = figure("stream", "bytes", Shape::Size),
        /// streams that do so at a time
        streams: usize = figure("streams", "", count(0, 10_000)),
        /// idle time before bands are rewritten
        idle_ms: f64 = figure("idle_ms", "ms", Shape::Number(0.0..=3.6e6)),
    }
}

/// A shingled disk, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct Shingled {
    /// The disk that it is besides, with all that its media cache takes.
    pub disk: Disk,
    /// Its own figures.
    pub figures: ShingledFigures,
    /// What its media cache holds when a run begins.
    pub media_cache: MediaCache,
    sectors: u64,
    /// The name of its file in errors.
    label: String,
}

impl Shingled {
    fn read(sheet: &Sheet, of_every_drive: &DriveFigures) -> Result<Self> {
        let figures = ShingledFigures::read(sheet);
        let beside = (figures.band + figures.media_cache_size) / SECTOR_BYTES;
        let shingled = Shingled {
            disk: Disk::of(sheet, of_every_drive.sectors + beside)?,
            figures,
            // Whether it can be built does not depend on what is in its media cache, and to fill that takes long.
            media_cache: MediaCache::Clean,
            sectors: of_every_drive.sectors,
            label: sheet.label.clone(),
        };
        shingled.build(0)?;
        Ok(Shingled { media_cache: MediaCache::Filled, ..shingled })
    }

    fn impossible(&self, error: &dyn std::fmt::Display) -> Error {
        Error::input(format!("{}: {error}; check these figures", self.label))
    }

    /// How its disk is shingled.
    ///
    /// # Errors
    ///
    /// Where the figures make no disk.
    pub fn spec(&self) -> Result<SmrSpec> {
        let figures = &self.figures;
        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        let [entry_sectors, header_sectors] =
            [figures.media_cache_unit, figures.media_cache_header].map(sectors);
        let room = sectors(figures.media_cache_size) / (entry_sectors + header_sectors).max(1);
        Ok(SmrSpec {
            sectors: self.sectors,
            band_sectors: sectors(figures.band),
            cache_sectors: sectors(figures.media_cache_size),
            cache_entries: figures.media_cache_writes.unwrap_or(room),
            entry_sectors,
            header_sectors,
            copies_first: figures.band_copied_first,
            stream_sectors: sectors(figures.stream),
            streams: figures.streams,
            idle_ns: ms_as_ns(figures.idle_ms),
            clean_ns: self.clean_ns()?,
            is_filled: self.media_cache == MediaCache::Filled,
        })
    }

    /// The mean time to rewrite a band: it passes the head twice or three times, each time a seek and half a revolution
    /// away.
    fn clean_ns(&self) -> Result<u64> {
        let seek_ns = self.disk.model()?.mean_seek_ns();
        let (outer, inner) = self.disk.copied_bytes_per_s()?;
        let pass_ns = self.figures.band as f64 * 1e9 / f64::midpoint(outer, inner);
        let revolution_ns = self.disk.spec()?.platters.revolution_ns;
        let away_ns = seek_ns + revolution_ns as f64 / 2.0;
        let passes = if self.figures.band_copied_first { 3.0 } else { 2.0 };
        Ok((passes * (pass_ns + away_ns)) as u64)
    }
}

impl ClassModel for Shingled {
    fn change(&mut self, keys: &DriveKeys) {
        self.disk.change(keys);
        self.media_cache = keys.media_cache.unwrap_or(self.media_cache);
    }

    fn build(&self, seed: u64) -> Result<Built> {
        let disk = self.disk.spec()?;
        let model = self.disk.model()?;
        let bus = Bus::new(disk.controller.interface_bytes_per_s, 0);
        let alone = Shelf::new(vec![model.drive(seed)], vec![bus]);
        let built =
            Smr::new(alone, &self.spec()?, seed).map_err(|error| self.impossible(&error))?;
        Ok(Built::Alone(built.into()))
    }

    fn limits(&self) -> Result<Limits> {
        let mut limits = self.disk.limits()?;
        if self.media_cache == MediaCache::Clean {
            limits.write_cache_sectors += self.figures.media_cache_size / SECTOR_BYTES;
        }
        Ok(limits)
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        // A sector for which a band is rewritten, in the slowest zone.
        let band = SECTOR_BYTES * 500_000_000 / self.clean_ns()?.max(1);
        let mut rates = self.disk.slowest_bytes_per_s()?;
        rates.push(("band", band.max(1)));
        Ok(rates)
    }

    fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        self.disk.copied_bytes_per_s()
    }

    fn write_cache(&self) -> bool {
        self.disk.write_cache
    }

    fn queue_depth(&self) -> usize {
        self.disk.queue_depth
    }

    fn is_rotational(&self) -> bool {
        true
    }

    fn has_large_sectors(&self) -> bool {
        self.disk.has_large_sectors()
    }

    fn state(&self) -> Option<&'static str> {
        Some(self.media_cache.word())
    }

    fn row(&self, drive: &Drive) -> Result<Option<Row>> {
        listed::row(drive, self).map(Some)
    }

    fn derived(&self, drive: &Drive) -> Result<Vec<Derived>> {
        listed::derived(drive, self)
    }
}
