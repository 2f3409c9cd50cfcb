//! A disk in the list of drives, and what follows from its figures.

use super::Disk;
use crate::catalogue::Drive;
use crate::catalogue::listing::{Derived, Row};
use crate::error::{Error, Result};
use serde::Serialize;
use sim::drive::Platters;

/// A disk in a line.
#[derive(Clone, Debug, Serialize)]
struct DiskRow {
    /// Its name in the catalogue.
    name: String,
    /// What people call it.
    title: String,
    /// Year of introduction.
    year: Option<u64>,
    /// Capacity, in 10^9 bytes.
    gigabytes: f64,
    /// Rotational speed, in rpm.
    rpm: f64,
    /// Recording surfaces.
    heads: u64,
    /// Cylinders.
    cylinders: u32,
    /// The rate at which sectors pass the head, outermost and innermost zone, in MB/s.
    media_mb_per_s: [f64; 2],
    /// The rate of long transfers, switches counted, outermost and innermost zone, in MB/s.
    sustained_mb_per_s: [f64; 2],
    /// The mean seek over random requests, in ms.
    seek_mean_ms: f64,
}

impl DiskRow {
    const HEADINGS: [&'static str; 9] =
        ["name", "title", "year", "GB", "rpm", "heads", "media MB/s", "sustained MB/s", "seek ms"];

    fn cells(&self) -> [String; 9] {
        let pair = |[outer, inner]: [f64; 2]| format!("{outer:.1}-{inner:.1}");
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.2}", self.gigabytes),
            format!("{:.0}", self.rpm),
            self.heads.to_string(),
            pair(self.media_mb_per_s),
            pair(self.sustained_mb_per_s),
            format!("{:.1}", self.seek_mean_ms),
        ]
    }

    fn of(drive: &Drive, disk: &Disk) -> Result<Self> {
        let spec = disk.spec()?;
        let impossible = |error: &dyn std::fmt::Display| {
            Error::input(format!("{}: {error}; check these figures", drive.sheet.label))
        };
        let platters = Platters::new(&spec.platters).map_err(|error| impossible(&error))?;
        let seek_mean_ms = disk.model()?.mean_seek_ns() / 1e6;
        let in_mb = |(outer, inner): (f64, f64)| [outer / 1e6, inner / 1e6];
        Ok(DiskRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: drive.gigabytes(),
            rpm: disk.figures.rpm,
            heads: u64::from(spec.platters.heads),
            cylinders: platters.cylinders(),
            media_mb_per_s: in_mb(platters.media_rates()),
            sustained_mb_per_s: in_mb(platters.sustained_rates()),
            seek_mean_ms,
        })
    }
}

/// The line of a disk.
pub(super) fn row(drive: &Drive, disk: &Disk) -> Result<Row> {
    let row = DiskRow::of(drive, disk)?;
    Ok(Row::new(&DiskRow::HEADINGS, row.cells(), &row))
}

/// What follows from its figures.
pub(super) fn derived(drive: &Drive, disk: &Disk) -> Result<Vec<Derived>> {
    let DiskRow { gigabytes, cylinders, media_mb_per_s, sustained_mb_per_s, seek_mean_ms, .. } =
        DiskRow::of(drive, disk)?;
    let spec = disk.spec()?.platters;
    let revolution_ms = spec.revolution_ns as f64 / 1e6;
    let outer = &spec.zones[0];
    let skew_ms = |slots: u32| revolution_ms * f64::from(slots) / f64::from(outer.slots_per_track);
    Ok(Derived::of([
        ("capacity", gigabytes, "GB"),
        ("cylinders", f64::from(cylinders), ""),
        ("media_rate_outer", media_mb_per_s[0], "MB/s"),
        ("media_rate_inner", media_mb_per_s[1], "MB/s"),
        ("sustained_rate_outer", sustained_mb_per_s[0], "MB/s"),
        ("sustained_rate_inner", sustained_mb_per_s[1], "MB/s"),
        ("seek_mean", seek_mean_ms, "ms"),
        ("rotation_mean", revolution_ms / 2.0, "ms"),
        ("track_skew_outer", skew_ms(outer.track_skew_slots), "ms"),
        ("cylinder_skew_outer", skew_ms(outer.cylinder_skew_slots), "ms"),
    ]))
}
