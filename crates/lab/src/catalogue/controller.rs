//! A hardware RAID controller of the catalogue: a controller with memory, and the buses of its drives.

use super::declare::figures;
use super::figure::{Shape, figure, rate, time_us};
use super::sheet::{Class, Fitted, Sheet, us_as_ns};
use crate::error::Result;
use sim::Nanos;

figures! {
    /// The figures of a RAID controller.
    pub(super) struct ControllerFigures {
        /// memory for writes and for data to be read again
        memory_bytes: u64 = figure("memory", "bytes", Shape::Size),
        /// time per command: arbitration and messages, but not its data on the bus
        command_us: f64 = figure("command_us", "us", time_us()),
        /// data rate of its host interface
        interface_mb_per_s: Option<f64> = figure("interface_mb_per_s", "MB/s", rate())
            .or("as the host's bus"),
        /// number of drive buses (drives are assigned round-robin)
        channels: Option<u32> = figure("channels", "", Shape::Count(1..=10_000))
            .or("one for each drive"),
        /// data rate of a drive bus
        channel_mb_per_s: Option<f64> = figure("channel_mb_per_s", "MB/s", rate())
            .or("only the drives' own interfaces limit it"),
        /// arbitration, selection and messages per transfer on a drive bus
        channel_overhead_us: f64 = figure("channel_overhead_us", "us", time_us()).default("0"),
        /// runs of sectors in flight from its memory to the drives
        runs: Option<u32> = figure("runs", "", Shape::Count(1..=65_536))
            .or("one for each drive"),
    }
}

/// Controllers are of one class.
pub(super) const CLASS: Class = ("controller", &[ControllerFigures::FIGURES]);

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
    /// Time per command, in ns.
    pub command_ns: Nanos,
    /// Data rate of its host interface, in bytes per second; `u64::MAX` for as much as the bus.
    pub interface_bytes_per_s: u64,
    /// Number of drive buses (drives are assigned round-robin); `None` for one per drive.
    pub channels: Option<u32>,
    /// What one of them moves, in bytes a second; `u64::MAX` where only the drives' interfaces limit it.
    pub channel_bytes_per_s: u64,
    /// Time per transfer on a drive bus besides the data, in ns.
    pub channel_overhead_ns: Nanos,
    /// Runs in flight to the drives; `None` for one per drive.
    pub runs: Option<u32>,
    pub(super) sheet: Sheet,
}

impl RaidController {
    /// Reads a controller from the text of its file.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, &[CLASS])?;
        let figures = ControllerFigures::read(&sheet);
        let rate = |rate: Option<f64>| rate.map_or(u64::MAX, |rate| (rate * 1e6) as u64);
        Ok(RaidController {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            memory_sectors: figures.memory_bytes / block::SECTOR_BYTES,
            command_ns: us_as_ns(figures.command_us),
            interface_bytes_per_s: rate(figures.interface_mb_per_s),
            channels: figures.channels,
            channel_bytes_per_s: rate(figures.channel_mb_per_s),
            channel_overhead_ns: us_as_ns(figures.channel_overhead_us),
            runs: figures.runs,
            sheet,
        })
    }

    /// Which figures were fitted, and to which published results: those are no predictions.
    pub fn fitted(&self) -> Vec<Fitted> {
        self.sheet.fitted()
    }
}
