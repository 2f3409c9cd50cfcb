//! From at most ten cells to the figures of a flash drive.
//!
//! Most figures follow from one or two cells by arithmetic. Only the units, their number and their time, are
//! searched for: the pair with which the modelled drive comes closest to the chosen reads.

mod choice;
mod link;
mod long;
mod sheet;
mod writes;

use super::file::{Fitting, Source};
use super::judge::ALL;
use super::play::engine_ns;
use super::{Cell, Group, judge, play};
use crate::catalogue::{self, Drive, FillState};
use crate::error::{Error, Result};
use choice::{base_bytes, choose};
pub use link::Interface;
use long::{enough_units, long_reads, only_long};
use sim::flash::FlashSpec;
use store::words::whole_percent;
use writes::writes;

/// What is given besides cells: by flags, or by a data sheet.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The name of the drive.
    pub name: Option<String>,
    /// How it was filled.
    pub state: Option<FillState>,
    /// Its capacity, in bytes.
    pub capacity_bytes: Option<u64>,
    /// How it is attached.
    pub interface: Option<Interface>,
    /// Commands that it takes at a time.
    pub queue_depth: Option<u32>,
    /// Whether its buffer survives a power cut.
    pub power_loss_protection: bool,
    /// Random reads of 4 KiB a second, at most.
    pub read_iops: Option<f64>,
    /// Random writes of 4 KiB a second, at most.
    pub write_iops: Option<f64>,
    /// The same once the drive is full and the rate stays the same.
    pub steady_write_iops: Option<f64>,
    /// The latency of a read of 4 KiB alone, in us.
    pub read_latency_us: Option<f64>,
    /// The latency of a write of 4 KiB alone, in us.
    pub write_latency_us: Option<f64>,
    /// Sequential reads, in MB/s.
    pub read_mb_per_s: Option<f64>,
    /// Sequential writes, in MB/s.
    pub write_mb_per_s: Option<f64>,
    /// Where these rates and latencies are from; a data sheet where nothing is said.
    pub source: Option<String>,
    /// What makes the cells doubtful ([`Grid::doubt`](super::Grid::doubt)).
    pub doubt: Option<String>,
}

/// A fitted drive.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Its figures, each with where it is from.
    pub fitting: Fitting,
    /// The drive.
    pub drive: Drive,
    /// The cells that it was fitted to, at most ten, and the steady writes of a data sheet.
    pub used: Vec<Cell>,
    /// The others.
    pub rest: Vec<Cell>,
}

/// The most cells that a fit looks at.
const CELLS_MAX: usize = 10;
/// What a page of the drive's tables is, and the size that most is known of, in bytes.
const BASE_BYTES: u32 = 4096;
/// The run of what a data sheet says.
pub(super) const DATA_SHEET: &str = "data sheet";

/// Fits a drive to `cells`, all of one device.
///
/// # Errors
///
/// Where there is no cell, or no capacity, a figure of the data sheet is of no drive, or reads are those of a disk that turns.
pub fn fit(cells: &[Cell], given: &Given) -> Result<Fit> {
    sheet::check(given)?;
    let mut all: Vec<Cell> = cells.to_vec();
    all.extend(sheet::cells(given));
    refuse_disks(&all)?;
    let steady = sheet::steady(given);
    let device = all.first().or(steady.as_ref()).map(|cell| cell.device.clone()).ok_or_else(|| {
        Error::input("there is no cell to fit; give results of `ileave drives probe`, or figures such as --read-iops")
    })?;
    let name = given.name.clone().unwrap_or(device);
    let mut chosen = choose(&all);
    chosen.truncate(CELLS_MAX);
    let mut used: Vec<Cell> = chosen.iter().map(|&index| all[index].clone()).collect();
    let rest = (0..cells.len()).filter(|index| !chosen.contains(index));
    let rest = rest.map(|index| all[index].clone()).collect();
    let mut fitting = Fitting::new(&name, &used, given.source.as_deref());
    add_given(&mut fitting, &name, given, sheet::is_steady_alone(given, &used))?;
    let host_us = host_us(&used, &mut fitting);
    // What the sheet's steady writes move goes over the link, too.
    let carried: Vec<Cell> = used.iter().chain(&steady).cloned().collect();
    let interface = Interface::of(&carried, given);
    reads(&used, host_us, interface, &mut fitting);
    link::add(&mut fitting, &carried, interface)?;
    let named = Given { name: Some(name.clone()), ..given.clone() };
    writes(&used, (host_us, interface), &named, &mut fitting);
    search_units(&used, host_us, &mut fitting)?;
    let text = super::file::write(&fitting);
    let drive = catalogue::drive_from(&name, &text)?;
    // It is of another state than the others, which are fitted without it.
    used.extend(steady.clone());
    all.extend(steady);
    let doubts: Vec<String> =
        [given.doubt.clone(), doubt(&drive, &all)?].into_iter().flatten().collect();
    fitting.doubt((!doubts.is_empty()).then(|| doubts.join("; ")));
    let drive = catalogue::drive_from(&name, &super::file::write(&fitting))?;
    Ok(Fit { fitting, drive, used, rest })
}

/// Which cells of the same operation and size the drive misses by more than a model does usually.
fn doubt(drive: &Drive, cells: &[Cell]) -> Result<Option<String>> {
    let (_, groups) = judge(drive.flash()?, cells)?;
    let is_of_size = |group: &&Group| group.group != ALL;
    let missed = groups.iter().filter(is_of_size).filter(|of| of.median_error > USUAL_ERROR);
    let missed: Vec<String> = missed
        .map(|of| format!("{} by {}", of_size(of), share_or_times(of.median_error)))
        .collect();
    Ok((!missed.is_empty()).then(|| {
        format!("its file misses the cells that it was made from: {} (median)", missed.join(", "))
    }))
}

/// An error of a rate as people read it: 42 %, and 341 times as many where percents would have four digits.
fn share_or_times(error: f64) -> String {
    if error < 9.995 {
        whole_percent(error)
    } else {
        format!("a factor of {}", round(1.0 + error).round())
    }
}

/// `randread 16384` as cells have it: `randread 16K`.
fn of_size(group: &Group) -> String {
    let split = group.group.rsplit_once(' ');
    let bytes = split.and_then(|(operation, bytes)| Some((operation, bytes.parse::<u32>().ok()?)));
    match bytes {
        Some((operation, bytes)) if bytes % 1024 == 0 => format!("{operation} {}K", bytes / 1024),
        _ => group.group.clone(),
    }
}

/// Half again of what files of measured flash drives err by in the median: in a group there are few cells.
const USUAL_ERROR: f64 = 1.5 * store::WORST_FLASH_ERROR;

/// A random read alone that takes longer is of no flash, in us.
const FLASH_READ_MAX_US: f64 = 2000.0;
/// Larger reads take long on flash, too, in bytes.
const SMALL_BYTES: u32 = 16_384;

/// Refuses cells of what turns: no figure of flash would make it as slow in the way that it is.
fn refuse_disks(cells: &[Cell]) -> Result<()> {
    let is_small = |cell: &&Cell| {
        let is_read = cell.random && !cell.writes && cell.mix.is_none();
        is_read && cell.drives == 1 && cell.bytes <= SMALL_BYTES
    };
    // A mean may be one of stalls.
    let usual_us =
        |cell: &Cell| cell.p50_us.map_or(1e6 / cell.iops, |p50| p50.min(1e6 / cell.iops));
    let small = || cells.iter().filter(is_small);
    let alone = small().filter(|cell| cell.in_flight() == 1);
    let alone = alone.into_iter().find(|cell| usual_us(cell) > FLASH_READ_MAX_US);
    // Many reads at a time are more than one after the other, on a disk and on flash.
    let few = small().filter(|cell| cell.in_flight() > 1);
    let few = few.max_by(|a, b| a.iops.total_cmp(&b.iops));
    let few = few.filter(|cell| cell.iops < 1e6 / FLASH_READ_MAX_US);
    let said = match (alone, few) {
        (Some(slow), _) => format!(
            "{} ({slow}): a read alone takes {:.3} ms, and one of flash at most {} ms",
            slow.device,
            usual_us(slow) / 1e3,
            FLASH_READ_MAX_US / 1e3
        ),
        (None, Some(slow)) => format!(
            "{} ({slow}): {:.0} random reads a second at most, and flash makes {:.0} one after the other",
            slow.device,
            slow.iops,
            1e6 / FLASH_READ_MAX_US
        ),
        (None, None) => return Ok(()),
    };
    Err(Error::input(format!(
        "{said}: this looks like a disk that turns; measure such a disk with `ileave drives probe --rotating`, or give \
         `--rpm` and `--read-mb` of its data sheet without results; for a cloud volume as slow as that, take one of the \
         catalogue (`ileave drives`)"
    )))
}

/// Capacity, state and what else no cell says.
fn add_given(
    fitting: &mut Fitting,
    name: &str,
    given: &Given,
    is_steady_alone: bool,
) -> Result<()> {
    let capacity = given.capacity_bytes.or_else(|| capacity_in(name)).ok_or_else(|| {
        Error::input(format!("`{name}` does not say how large it is; add `--capacity 1TB`"))
    })?;
    let from = if given.capacity_bytes.is_some() { "as given" } else { "from its name" };
    fitting.add("sectors", capacity / 4096 * 8, Source::Estimate, from);
    let (state, from) = match given.state {
        Some(state) => (state, "as given"),
        None if is_steady_alone => (FillState::Steady, "that of its random writes"),
        None => (FillState::Random, "not said; give `--state`"),
    };
    if let Some(depth) = given.queue_depth {
        fitting.add("queue_depth", depth, Source::Estimate, "as given");
    }
    fitting.add("state", format!("\"{}\"", state.word()), Source::Estimate, from);
    Ok(())
}

/// A capacity that stands in a name, in bytes: `480GB`, `1TB`, `3.84T`, `18 TB`.
pub fn capacity_in(name: &str) -> Option<u64> {
    let parts = name.split(|c: char| c.is_whitespace() || c == '_' || c == ',');
    let words: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
    (0..words.len()).rev().find_map(|at| {
        let word = words[at];
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        // A unit by itself belongs to the number before it.
        let number = if digits == 0 { words[at.checked_sub(1)?] } else { &word[..digits] };
        let number: f64 = number.parse().ok()?;
        let unit = match word[digits..].to_ascii_lowercase().as_str() {
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            _ => return None,
        };
        Some((number * unit) as u64)
    })
}

fn is(cell: &Cell, writes: bool, bytes: u32) -> bool {
    cell.writes == writes && cell.bytes == bytes && cell.mix.is_none()
}

/// The chosen cell of an operation and size with one request in flight, and that with most requests a second of
/// one process; of several, where only those have more than one in flight.
fn ends(used: &[Cell], writes: bool, bytes: u32) -> (Option<&Cell>, Option<&Cell>) {
    let of = || used.iter().filter(move |cell| is(cell, writes, bytes));
    let alone = of().find(|cell| cell.in_flight() == 1);
    let kernel = of().any(|cell| cell.engine != "spdk");
    let has_deep =
        |is_of: fn(u32) -> bool| of().any(|cell| is_of(cell.jobs) && cell.in_flight() > 1);
    let any_jobs = !has_deep(|jobs| jobs == 1) && has_deep(|jobs| jobs > 1);
    let is_kernels = move |cell: &Cell| cell.engine != "spdk" || !kernel;
    let one = || of().filter(move |cell| (any_jobs || cell.jobs == 1) && is_kernels(cell));
    let has_rate = one().any(|cell| !cell.is_sheet_latency());
    let one = || one().filter(move |cell| !has_rate || !cell.is_sheet_latency());
    let highest = one().map(|cell| cell.iops).fold(0.0, f64::max);
    let saturated = one().filter(|cell| cell.iops >= 0.9 * highest);
    (alone, saturated.max_by_key(|cell| cell.in_flight()))
}

fn base_of(used: &[Cell], writes: bool) -> Option<u32> {
    let pool: Vec<usize> = (0..used.len()).filter(|&index| used[index].writes == writes).collect();
    base_bytes(used, &pool)
}

/// Whether a cell has several reads in flight, so that it says how many the drive can do.
fn has_many_reads(used: &[Cell]) -> bool {
    let most = base_of(used, false).and_then(|base| ends(used, false, base).1);
    most.is_some_and(|cell| cell.in_flight() > 1)
}

/// What long reads move, in MB/s; of cells larger than the base, for those alone say it.
fn long_read_mb(used: &[Cell]) -> Option<f64> {
    let base = base_of(used, false)?;
    let long = used.iter().filter(|cell| !cell.writes && cell.mix.is_none() && cell.bytes > base);
    long.map(|cell| cell.bytes_per_s() / 1e6).reduce(f64::max)
}

/// The processor time of the host, in us: where one process is slower than the drive is shown to be, what it
/// reaches; else that of the engine.
fn host_us(used: &[Cell], fitting: &mut Fitting) -> f64 {
    let engine = used.iter().find(|cell| cell.engine != "spdk").map_or("spdk", |c| &c.engine);
    let table_us = if engine == DATA_SHEET { 0.0 } else { engine_ns(engine) as f64 / 1e3 };
    let most = base_of(used, false).and_then(|bytes| ends(used, false, bytes).1);
    let of_one = |cell: &&Cell| cell.engine != DATA_SHEET && cell.jobs == 1;
    let limit_us = most.filter(of_one).map(|cell| 1e6 / cell.iops);
    match (limit_us, most) {
        (Some(limit_us), Some(cell)) if limit_us < 1.35 * table_us => {
            fitting.add("measured_host_us", round(limit_us), Source::Cell, &cell.to_string());
            limit_us
        }
        _ => table_us,
    }
}

fn reads(used: &[Cell], host_us: f64, interface: Interface, fitting: &mut Fitting) {
    if let Some(long) = only_long(used) {
        return long_reads(long, interface, fitting);
    }
    let ends = base_of(used, false).and_then(|base| Some((base, ends(used, false, base).1?)));
    let Some((base, most)) = ends else { return fitting.missing_reads(interface) };
    let fastest = used.iter().filter(|cell| is(cell, false, base));
    let fastest = fastest.max_by(|a, b| a.iops.total_cmp(&b.iops)).unwrap_or(most);
    let least_us = 1e6 / fastest.iops;
    let is_host = fastest == most && most.jobs == 1 && least_us < 1.02 * host_us;
    let long = used.iter().filter(|cell| !cell.writes && cell.mix.is_none() && cell.bytes > base);
    let long = long.max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let command_us = if is_host {
        fitting.miss("controller time of reads: the host was the limit; measure several processes");
        let page_us =
            long.map_or(0.0, |cell| 1e6 / cell.iops / f64::from(cell.bytes.div_ceil(base)));
        page_us.max(least_us / 2.0).min(least_us)
    } else {
        least_us
    };
    fitting.add("read_command_us", round(command_us), Source::Cell, &fastest.to_string());
    let page_us = long.map_or(0.0, |cell| {
        let further = f64::from(cell.bytes.div_ceil(base) - 1);
        ((1e6 / cell.iops).max(0.0) - command_us).max(0.0) / further
    });
    match long {
        Some(cell) => fitting.add("read_page_us", round(page_us), Source::Cell, &cell.to_string()),
        None => fitting.miss("rate of long reads: no cell of a larger size"),
    }
    let sizes = sizes_alone(used, false, host_us);
    if sizes.is_empty() {
        fitting.miss("time of a read alone: no cell of depth 1");
        fitting.add("read_alone_us", "[[4096, 80]]", Source::Estimate, "of TLC flash");
    } else {
        fitting.add("read_alone_us", table_text(&sizes), Source::Cell, "cells of depth 1");
    }
}

/// Sizes and the time alone in the drive, in us: without the host's.
fn sizes_alone(used: &[Cell], writes: bool, host_us: f64) -> Vec<(u32, f64)> {
    let mut sizes: Vec<(u32, f64)> = used
        .iter()
        .filter(|cell| cell.writes == writes && cell.mix.is_none() && cell.in_flight() == 1)
        .map(|cell| {
            let host_us = if cell.engine == "spdk" { 0.75 } else { host_us };
            // A mean of twice the median is one of stalls, and those come from the buffer.
            let mean_us = 1e6 / cell.iops;
            let usual = cell.p50_us.filter(|p50| cell.writes && mean_us > 2.0 * p50);
            (cell.bytes, round((usual.unwrap_or(mean_us) - host_us).max(0.1)))
        })
        .collect();
    sizes.sort_by_key(|&(bytes, _)| bytes);
    sizes.dedup_by_key(|&mut (bytes, _)| bytes);
    sizes
}

fn table_text(table: &[(u32, f64)]) -> String {
    let rows: Vec<String> = table.iter().map(|(bytes, us)| format!("[{bytes}, {us}]")).collect();
    format!("[{}]", rows.join(", "))
}

/// The units that come closest to the reads.
fn search_units(used: &[Cell], host_us: f64, fitting: &mut Fitting) -> Result<()> {
    let base = base_of(used, false);
    let reads: Vec<&Cell> = used
        .iter()
        .filter(|cell| !cell.writes && cell.mix.is_none() && cell.in_flight() > 1)
        .collect();
    let alone_us = fitting.first_alone_us();
    let most = reads.iter().map(|cell| cell.iops).fold(0.0, f64::max);
    let alone = base.and_then(|bytes| ends(used, false, bytes).0);
    let spread = alone.and_then(|cell| cell.p99_us.zip(cell.p50_us)).map(|(p99, p50)| p99 - p50);
    let spread_of =
        |unit_us: f64| spread.map_or(15.0, |us| (100.0 * us / unit_us).clamp(0.0, 60.0));
    let start = enough_units(&reads, alone_us);
    fitting.units(start, spread_of(start.0), Source::Estimate, "of such drives");
    let has_knee = reads.len() >= 2
        && base.is_some_and(|base| {
            reads.iter().filter(|cell| cell.bytes == base).any(|cell| cell.iops < 0.93 * most)
        });
    if !has_knee {
        fitting.miss("units: no cell between one read alone and the most reads a second");
        return Ok(());
    }
    let spec = catalogue::drive_from("fit", &super::file::write(fitting))?.flash()?.spec()?;
    let cost = |(unit_us, units): (f64, u32)| -> f64 {
        let spec = FlashSpec {
            units,
            unit_read_ns: (unit_us * 1e3) as u64,
            unit_spread_percent: spread_of(unit_us) as u32,
            ..spec.clone()
        };
        reads.iter().map(|cell| distance(&spec, cell, host_us)).sum()
    };
    let best = search(alone_us, cost);
    fitting.units(best, spread_of(best.0), Source::Cell, "searched with all reads above");
    Ok(())
}

/// How far a cell is from being met.
fn distance(spec: &FlashSpec, cell: &Cell, host_us: f64) -> f64 {
    let cost_ns = match cell.engine.as_str() {
        "spdk" => engine_ns("spdk"),
        _ => (host_us * 1e3) as u64,
    };
    let Ok(modelled) = play(spec, cell, cost_ns) else { return f64::MAX };
    let rate = (modelled.iops / cell.iops).ln();
    let tail = cell.p99_us.map_or(0.0, |p99| (modelled.p99_us / p99).ln());
    rate * rate + 0.05 * tail * tail
}

/// The unit's time in us and the number of units at which `cost` is least: over a coarse grid, then around its best.
fn search(alone_us: f64, cost: impl Fn((f64, u32)) -> f64) -> (f64, u32) {
    const UNITS: [u32; 9] = [2, 4, 8, 14, 24, 40, 64, 100, 160];
    const SHARES: [f64; 6] = [0.3, 0.45, 0.6, 0.72, 0.84, 0.95];
    let coarse = UNITS.iter().flat_map(|&units| SHARES.map(|share| (share * alone_us, units)));
    let tried = coarse.map(|point| (cost(point), point));
    let mut best = tried.min_by(|a, b| a.0.total_cmp(&b.0)).expect("the grid is not empty");
    let mut step = 1.25_f64;
    for _ in 0..8 {
        let (us, units) = best.1;
        let longer = (us * step.sqrt()).min(0.97 * alone_us);
        let more = ((f64::from(units) * step).round() as u32).max(units + 1);
        let fewer = ((f64::from(units) / step).round() as u32).clamp(1, units.max(2) - 1);
        let around = [
            (longer, units),
            (us / step.sqrt(), units),
            (us, more),
            (us, fewer),
            (longer, more),
            (us / step.sqrt(), fewer),
        ];
        let next = around.map(|point| (cost(point), point));
        let next = next.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are six");
        if next.0 < best.0 {
            best = next;
        } else {
            step = 1.0 + (step - 1.0) / 2.0;
        }
    }
    best.1
}

/// Four digits.
pub(super) fn round(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}
