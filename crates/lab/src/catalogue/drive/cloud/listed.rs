//! A cloud volume in the list of drives, and what follows from its figures.

use super::Cloud;
use crate::catalogue::Drive;
use crate::catalogue::listing::{Derived, Row};
use serde::Serialize;

/// A cloud volume in a line, of the size that its file has.
#[derive(Clone, Debug, Serialize)]
struct CloudRow {
    /// Its name in the catalogue.
    name: String,
    /// What people call it.
    title: String,
    /// Capacity, in 10^9 bytes.
    gigabytes: f64,
    /// I/Os a second that last.
    iops: Option<f64>,
    /// Bytes that last, in MB/s.
    mb_per_s: Option<f64>,
    /// What counts as one I/O, in KiB.
    io_unit_kib: u64,
    /// I/Os a second while there is burst credit.
    burst_iops: Option<f64>,
    /// The median time of a read, in us.
    read_us: f64,
}

impl CloudRow {
    const HEADINGS: [&'static str; 8] =
        ["name", "title", "GB", "IOPS", "MB/s", "I/O unit KiB", "burst IOPS", "read us"];

    fn of(drive: &Drive, cloud: &Cloud) -> Self {
        CloudRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            gigabytes: drive.gigabytes(),
            iops: cloud.iops(),
            mb_per_s: cloud.bytes_per_s().map(|rate| rate / 1e6),
            io_unit_kib: cloud.figures.io_unit / 1024,
            burst_iops: cloud.figures.burst_iops,
            read_us: cloud.figures.latency_p50_us,
        }
    }

    fn cells(&self) -> [String; 8] {
        let whole = |rate: Option<f64>| rate.map(|rate| format!("{rate:.0}")).unwrap_or_default();
        [
            self.name.clone(),
            self.title.clone(),
            format!("{:.0}", self.gigabytes),
            whole(self.iops),
            whole(self.mb_per_s),
            self.io_unit_kib.to_string(),
            whole(self.burst_iops),
            format!("{:.0}", self.read_us),
        ]
    }
}

/// The line of a cloud volume.
pub(super) fn row(drive: &Drive, cloud: &Cloud) -> Row {
    let row = CloudRow::of(drive, cloud);
    Row::new(&CloudRow::HEADINGS, row.cells(), &row)
}

/// What follows from its figures.
pub(super) fn derived(drive: &Drive, cloud: &Cloud) -> Vec<Derived> {
    let base = [
        ("capacity", Some(drive.gigabytes()), "GB"),
        ("iops_that_last", cloud.iops(), "1/s"),
        ("mb_per_s_that_last", cloud.bytes_per_s().map(|rate| rate / 1e6), "MB/s"),
    ];
    let known = base.into_iter().filter_map(|(key, value, unit)| Some((key, value?, unit)));
    known.flat_map(|one| Derived::of([one])).collect()
}
