//! A shingled disk in the list of drives, and what follows from its figures.

use super::{ClassModel, Shingled};
use crate::catalogue::Drive;
use crate::catalogue::listing::{Derived, Row};
use crate::error::Result;
use serde::Serialize;

/// A shingled disk in a line.
#[derive(Clone, Debug, Serialize)]
struct ShingledRow {
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
    /// Size of a band, in MiB.
    band_mib: f64,
    /// Size of the media cache, in GiB.
    media_cache_gib: f64,
    /// The mean time to rewrite a band, in s.
    band_rewrite_s: f64,
    /// Random writes of 4 KiB a second, in the long run.
    random_writes_per_s: f64,
}

const MIB: f64 = 1_048_576.0;

impl ShingledRow {
    const HEADINGS: [&'static str; 9] = [
        "name",
        "title",
        "year",
        "GB",
        "rpm",
        "band MiB",
        "media cache GiB",
        "rewrite s",
        "random writes/s",
    ];

    fn cells(&self) -> [String; 9] {
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.0}", self.gigabytes),
            format!("{:.0}", self.rpm),
            format!("{:.0}", self.band_mib),
            format!("{:.0}", self.media_cache_gib),
            format!("{:.2}", self.band_rewrite_s),
            format!("{:.1}", self.random_writes_per_s),
        ]
    }

    fn of(drive: &Drive, shingled: &Shingled) -> Result<Self> {
        let spec = shingled.spec()?;
        let figures = &shingled.figures;
        let bands = spec.sectors.div_ceil(spec.band_sectors) as f64;
        let band_rewrite_s = spec.clean_ns as f64 / 1e9;
        Ok(ShingledRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: drive.gigabytes(),
            rpm: shingled.disk.figures.rpm,
            band_mib: figures.band as f64 / MIB,
            media_cache_gib: figures.media_cache_size as f64 / (1024.0 * MIB),
            band_rewrite_s,
            // A band is rewritten for its oldest write, and with it for those that came since.
            random_writes_per_s: (1.0 + spec.cache_entries as f64 / bands) / band_rewrite_s,
        })
    }
}

/// The line of a shingled disk.
pub(super) fn row(drive: &Drive, shingled: &Shingled) -> Result<Row> {
    let row = ShingledRow::of(drive, shingled)?;
    Ok(Row::new(&ShingledRow::HEADINGS, row.cells(), &row))
}

/// What follows from its figures.
pub(super) fn derived(drive: &Drive, shingled: &Shingled) -> Result<Vec<Derived>> {
    let row = ShingledRow::of(drive, shingled)?;
    let (outer, inner) = ClassModel::copied_bytes_per_s(shingled)?;
    Ok(Derived::of([
        ("capacity", row.gigabytes, "GB"),
        ("copied_at", f64::midpoint(outer, inner) / 1e6, "MB/s"),
        ("band_rewrite", row.band_rewrite_s, "s"),
        ("random_writes_lasting", row.random_writes_per_s, "1/s"),
    ]))
}
