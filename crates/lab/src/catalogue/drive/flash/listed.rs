//! A flash drive in the list of drives, and what follows from its figures.

use super::Flash;
use crate::catalogue::Drive;
use crate::catalogue::listing::{Derived, Row};
use serde::Serialize;

/// A flash drive in a line. Rates are the most that the drive does, without a host.
#[derive(Clone, Debug, Serialize)]
struct FlashRow {
    /// Its name in the catalogue.
    name: String,
    /// What people call it.
    title: String,
    /// When it came to market.
    year: Option<u64>,
    /// Capacity, in 10^9 bytes.
    gigabytes: f64,
    /// How it was filled when it was measured.
    state: &'static str,
    /// The time of a read of 4 KiB alone, in us.
    read_alone_us: f64,
    /// Reads of 4 KiB, in thousands a second.
    kilo_reads_per_s: f64,
    /// Long reads, and writes that last as long as the SLC cache does, in MB/s.
    mb_per_s: [f64; 2],
}

impl FlashRow {
    const HEADINGS: [&'static str; 8] =
        ["name", "title", "year", "GB", "filled", "read us", "k reads/s", "read-write MB/s"];

    fn of(drive: &Drive, flash: &Flash) -> Self {
        let figures = &flash.figures;
        let table = &figures.read_alone_us;
        let alone = table.iter().find(|(bytes, _)| *bytes >= 4096).or(table.last());
        let units_us = figures.unit_read_us / f64::from(figures.units);
        let link_us = 4096.0 / figures.read_mb_per_s;
        let least_us = figures.read_command_us.max(units_us).max(link_us).max(1e-3);
        FlashRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: drive.gigabytes(),
            state: figures.state.word(),
            read_alone_us: alone.map_or(0.0, |&(_, us)| us),
            kilo_reads_per_s: (1e4 / least_us).round() / 10.0,
            mb_per_s: flash.most_mb_per_s(),
        }
    }

    fn cells(&self) -> [String; 8] {
        let [read, write] = self.mb_per_s;
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.0}", self.gigabytes),
            self.state.into(),
            format!("{:.0}", self.read_alone_us),
            format!("{:.0}", self.kilo_reads_per_s),
            format!("{read:.0}-{write:.0}"),
        ]
    }
}

/// The line of a flash drive.
pub(super) fn row(drive: &Drive, flash: &Flash) -> Row {
    let row = FlashRow::of(drive, flash);
    Row::new(&FlashRow::HEADINGS, row.cells(), &row)
}

/// What follows from its figures.
pub(super) fn derived(drive: &Drive, flash: &Flash) -> Vec<Derived> {
    let FlashRow { gigabytes, kilo_reads_per_s, .. } = FlashRow::of(drive, flash);
    let figures = &flash.figures;
    let steady = figures.slc_full_mb_per_s.unwrap_or(figures.drain_mb_per_s);
    Derived::of([
        ("capacity", gigabytes, "GB"),
        ("reads_4k_max", kilo_reads_per_s * 1e3, "1/s"),
        ("units_read_max", f64::from(figures.units) / figures.unit_read_us.max(1e-3) * 1e6, "1/s"),
        ("random_writes_steady", steady / figures.write_amplification, "MB/s"),
    ])
}
