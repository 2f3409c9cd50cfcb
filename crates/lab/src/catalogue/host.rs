//! A host of the catalogue: how an operating system cuts and issues I/O, and what that costs.

use super::figure::{Cell, Cited, Figure, Shape, figure};
use super::sheet::Sheet;
use crate::error::Result;
use sim::Nanos;

const fn rate() -> Shape {
    Shape::Number(0.001..=100_000.0)
}

const fn time_us() -> Shape {
    Shape::Number(0.0..=1e6)
}

/// Every figure that a host can have.
#[rustfmt::skip]
pub static FIGURES: &[Figure] = &[
    figure("max_transfer", "bytes", Shape::Size, Some("requests are not cut"),
        "the largest piece that reaches a volume: MAXPHYS in BSD"),
    figure("physio_concurrency", "", Shape::Count(1..=1_000_000), Some("all at once"),
        "pieces of one raw request that are under way at a time"),
    figure("request_cpu_us", "us", time_us(), Some("0"),
        "the processor's work for each piece that reaches the volume"),
    figure("command_cpu_us", "us", time_us(), Some("0"),
        "the processor's work for each command to a member"),
    figure("zero_fill_mb_per_s", "MB/s", rate(), Some("takes no time"),
        "how fast a program reads /dev/zero before it writes"),
    figure("buses", "", Shape::Count(1..=10_000), Some("one for each drive"),
        "buses that the drives are dealt round"),
    figure("bus_mb_per_s", "MB/s", rate(), Some("only the drives' own interfaces limit it"),
        "what a bus moves"),
    figure("bus_overhead_us", "us", time_us(), Some("0"),
        "arbitration, selection and messages of each transfer on a bus"),
];

/// A host of the catalogue, or of a file in the same format.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// The largest piece that reaches a volume, in sectors; `u32::MAX` where requests are not cut.
    pub max_transfer_sectors: u32,
    /// Pieces of one raw request that are under way at a time; `u32::MAX` for all of them.
    pub physio_concurrency: u32,
    /// For each piece that reaches the volume, in ns.
    pub request_cpu_ns: Nanos,
    /// For each command to a member, in ns.
    pub command_cpu_ns: Nanos,
    /// How fast a program reads /dev/zero, in bytes a second; `None` where that takes no time.
    pub zero_fill_bytes_per_s: Option<f64>,
    /// Buses that the drives are dealt round; `None` for one for each drive.
    pub buses: Option<u32>,
    /// What a bus moves, in bytes a second; `u64::MAX` where only the drives' interfaces limit it.
    pub bus_bytes_per_s: u64,
    /// For each transfer on a bus, in ns.
    pub bus_overhead_ns: Nanos,
    fitted: Vec<Fitted>,
    pub(super) sheet: Sheet,
}

/// A figure of a host, and a cell of a published table that it was fitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The key of the figure.
    pub figure: &'static str,
    /// The cell.
    pub cell: Cell,
}

impl Host {
    /// Reads a host from the text of its file.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, FIGURES)?;
        let us_as_ns = |key| (sheet.number(key).unwrap_or(0.0) * 1e3).round() as u64;
        let count = |key| sheet.count(key).map(|count| count as u32);
        let rate = |key| sheet.number(key).map(|rate| rate * 1e6);
        let max_transfer = sheet.count("max_transfer").map(|bytes| bytes / block::SECTOR_BYTES);
        let cells = |(figure, cited): &(&'static Figure, Cited)| {
            let figure = figure.key;
            cited.fitted_to.iter().map(move |cell| Fitted { figure, cell: cell.clone() }).collect()
        };
        Ok(Host {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            max_transfer_sectors: max_transfer.map_or(u32::MAX, |sectors| sectors as u32),
            physio_concurrency: count("physio_concurrency").unwrap_or(u32::MAX),
            request_cpu_ns: us_as_ns("request_cpu_us"),
            command_cpu_ns: us_as_ns("command_cpu_us"),
            zero_fill_bytes_per_s: rate("zero_fill_mb_per_s"),
            buses: count("buses"),
            bus_bytes_per_s: rate("bus_mb_per_s").map_or(u64::MAX, |rate| rate as u64),
            bus_overhead_ns: us_as_ns("bus_overhead_us"),
            fitted: sheet.figures.iter().flat_map::<Vec<Fitted>, _>(cells).collect(),
            sheet,
        })
    }

    /// Which figures were fitted, and to which published results: those are no predictions.
    pub fn fitted(&self) -> &[Fitted] {
        &self.fitted
    }

    /// The time that a program takes to fill `bytes` from /dev/zero, in ns.
    pub fn zero_fill_ns(&self, bytes: u64) -> Nanos {
        self.zero_fill_bytes_per_s.map_or(0, |rate| (bytes as f64 * 1e9 / rate).round() as u64)
    }
}
