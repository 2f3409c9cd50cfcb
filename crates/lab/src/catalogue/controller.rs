//! A hardware RAID controller of the catalogue: a controller with memory, and the buses of its drives.

use super::figure::{Figure, Shape, figure, rate, time_us};
use super::sheet::{Fitted, Sheet};
use crate::error::Result;
use sim::Nanos;

/// Every figure that a controller can have.
#[rustfmt::skip]
pub static FIGURES: &[Figure] = &[
    figure("memory", "bytes", Shape::Size, None,
        "memory for writes and for data to be read again"),
    figure("command_us", "us", time_us(), None,
        "time per command: arbitration and messages, but not its data on the bus"),
    figure("interface_mb_per_s", "MB/s", rate(), Some("as the host's bus"),
        "data rate of its host interface"),
    figure("channels", "", Shape::Count(1..=10_000), Some("one for each drive"),
        "number of drive buses (drives are assigned round-robin)"),
    figure("channel_mb_per_s", "MB/s", rate(), Some("only the drives' own interfaces limit it"),
        "data rate of a drive bus"),
    figure("channel_overhead_us", "us", time_us(), Some("0"),
        "arbitration, selection and messages per transfer on a drive bus"),
    figure("runs", "", Shape::Count(1..=65_536), Some("one for each drive"),
        "runs of sectors in flight from its memory to the drives"),
];

/// A controller of the catalogue, or of a file in the same format.
#[derive(Clone, Debug)]
pub struct RaidController {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// Data that its memory holds, in sectors.
    pub memory_sectors: u64,
    /// What each command costs it, in ns.
    pub command_ns: Nanos,
    /// What its end of the host's bus moves, in bytes a second; `u64::MAX` for as much as the bus.
    pub interface_bytes_per_s: u64,
    /// Buses that its drives are dealt round; `None` for one for each drive.
    pub channels: Option<u32>,
    /// What one of them moves, in bytes a second; `u64::MAX` where only the drives' interfaces limit it.
    pub channel_bytes_per_s: u64,
    /// For each transfer on them, in ns.
    pub channel_overhead_ns: Nanos,
    /// Runs on their way to the drives at a time; `None` for one for each drive.
    pub runs: Option<u32>,
    pub(super) sheet: Sheet,
}

impl RaidController {
    /// Reads a controller from the text of its file.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, FIGURES)?;
        let count = |key| sheet.count(key).map(|count| count as u32);
        let rate = |key| sheet.number(key).map_or(u64::MAX, |rate| (rate * 1e6) as u64);
        Ok(RaidController {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            memory_sectors: sheet.count("memory").unwrap_or(0) / block::SECTOR_BYTES,
            command_ns: sheet.us_as_ns("command_us"),
            interface_bytes_per_s: rate("interface_mb_per_s"),
            channels: count("channels"),
            channel_bytes_per_s: rate("channel_mb_per_s"),
            channel_overhead_ns: sheet.us_as_ns("channel_overhead_us"),
            runs: count("runs"),
            sheet,
        })
    }

    /// Which figures were fitted, and to which published results: those are no predictions.
    pub fn fitted(&self) -> Vec<Fitted> {
        self.sheet.fitted()
    }
}
