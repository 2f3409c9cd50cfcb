//! Grids of measured cells: a drive's rates and latencies by operation, size, depth and processes; and drive
//! models against them.
//!
//! ```text
//! read     CSV and fio's JSON → cells
//! play     a cell on a modelled drive
//! judge    cells as measured and as modelled → errors by operation and size
//! fit      at most ten cells → the figures of a drive, each with the cell that it came from
//! file     figures → a drive file
//! probe    the fio job that measures those cells
//! loads    latencies at a load, as measured and as modelled
//! series   a rate over time, as measured and as modelled
//! rows     rows of CSV, for all that is read
//! ```

mod device;
mod file;
mod fio;
mod fit;
mod judge;
mod loads;
mod play;
mod probe;
mod read;
mod rows;
mod series;

pub use file::{Fitting, write as drive_file};
pub use fit::{Fit, Given, Interface, capacity_in, fit};
pub use judge::{Group, Judged, judge};
pub use loads::{JudgedLoad, Load, Loads, judge_loads, read_loads};
pub use play::{Modelled, play};
pub use probe::probe;
pub use read::{Grid, read};
pub use series::{
    Cliff, JudgedSeries, Series, judge_series, read_series, series_devices, series_of_device,
};

use crate::error::Result;
use std::fmt;

/// A file of measurements that a drive can be held to.
#[derive(Clone, Debug)]
pub enum Measurements {
    /// Cells of rates and latencies.
    Cells(Grid),
    /// Latencies at loads.
    Loads(Loads),
    /// Rates over time.
    Series(Vec<Series>),
}

/// The measurements in `text`, of the file called `label`; its columns say of which sort they are.
///
/// # Errors
///
/// As for the reader of that sort.
pub fn measurements(label: &str, text: &str) -> Result<Measurements> {
    let header = rows::header(text);
    let has_more = |columns: &[&str], others: [&[&str]; 2]| {
        let present = rows::present(&header, columns);
        present > 0 && others.iter().all(|other| present > rows::present(&header, other))
    };
    let is_of = |columns: &[&str], others: [&[&str]; 2]| {
        rows::has(&header, columns) || has_more(columns, others)
    };
    // Where one is missing, it is of the sort that it has most of.
    if is_of(&loads::NEEDED, [&read::NEEDED, &series::NEEDED]) {
        return read_loads(label, text).map(Measurements::Loads);
    }
    if is_of(&series::NEEDED, [&read::NEEDED, &loads::NEEDED]) {
        return read_series(label, text).map(Measurements::Series);
    }
    read(label, text).map(Measurements::Cells)
}

/// A cell of a grid: what was asked of a drive, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The device, as the grid names it.
    pub device: String,
    /// What was measured together, under the same conditions.
    pub run: String,
    /// Drives that share the requests.
    pub drives: u32,
    /// Whether these are writes.
    pub writes: bool,
    /// At random places, or one after the other.
    pub random: bool,
    /// Once no block is erased in advance: the rate that lasts. Elsewhere the drive is in the state of its cells.
    pub steady: bool,
    /// Percentage of reads of a mixed load, of which this is one direction.
    pub mix: Option<u32>,
    /// Size of a request, in bytes.
    pub bytes: u32,
    /// Requests in flight of each process.
    pub depth: u32,
    /// Processes.
    pub jobs: u32,
    /// The engine of the host, in fio's words.
    pub engine: String,
    /// Requests a second.
    pub iops: f64,
    /// Mean latency, in us.
    pub mean_us: Option<f64>,
    /// Median latency, in us.
    pub p50_us: Option<f64>,
    /// The 99th percentile of latency, in us.
    pub p99_us: Option<f64>,
}

impl Cell {
    /// Whether somebody measured it; a data sheet's figures are cells, too.
    pub fn is_measured(&self) -> bool {
        self.engine != fit::DATA_SHEET
    }

    /// Whether it is a latency of a data sheet, and so no rate of many requests: a buffer answers one write sooner than
    /// the drive makes many.
    pub(crate) fn is_sheet_latency(&self) -> bool {
        !self.is_measured() && self.in_flight() == 1
    }

    /// All requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.depth.saturating_mul(self.jobs)
    }

    /// Bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        self.iops * f64::from(self.bytes)
    }

    /// The operation, in fio's words.
    pub fn operation(&self) -> &'static str {
        match (self.mix, self.writes, self.random) {
            (Some(_), false, _) => "randrw:read",
            (Some(_), true, _) => "randrw:write",
            (None, false, true) => "randread",
            (None, false, false) => "read",
            (None, true, true) if self.steady => "steady randwrite",
            (None, true, true) => "randwrite",
            (None, true, false) => "write",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation();
        match self.bytes % 1024 {
            0 => write!(f, "{operation} {}K", self.bytes / 1024)?,
            _ => write!(f, "{operation} {}", self.bytes)?,
        }
        write!(f, " depth {}", self.depth)?;
        if self.jobs > 1 {
            write!(f, " x {} processes", self.jobs)?;
        }
        if self.drives > 1 {
            write!(f, " on {} drives", self.drives)?;
        }
        write!(f, ": {:.0}/s", self.iops)
    }
}
