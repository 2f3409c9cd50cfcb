//! A rate of writes over time, as fio's `write_bw_log` has it: where it falls, and where it recovers.

use super::device::device;
use super::judge::{ALL, Group, errors_of};
use super::read::{each_once, one_device};
use super::rows::{self, IN_FLIGHT_MAX, Row};
use crate::catalogue::Drive;
use crate::error::{Error, Result};
use block::{Request, SECTOR_BYTES};
use serde::Serialize;
use sim::{Advance, Event, Nanos};
use store::words::counted;

/// Random writes at one depth, and what they made over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The device, as the file names it.
    pub device: String,
    /// Size of a write, in bytes.
    pub bytes: u32,
    /// Requests in flight of each process.
    pub depth: u32,
    /// Processes.
    pub jobs: u32,
    /// Ends of intervals in seconds, and the bytes a second in each.
    pub rates: Vec<(f64, f64)>,
}

/// Columns of such a file.
pub(super) const NEEDED: [&str; 5] = ["device", "qd", "jobs", "t_s", "write_KiBps"];
/// The longest log.
const LONGEST_S: f64 = 3600.0;
/// The most requests in flight, of all processes.
const SERIES_IN_FLIGHT_MAX: u64 = 65_536;
/// What the logs are of that do not say it: random writes of 4 KiB.
const BYTES: u32 = 4096;

/// The series in `text`, of the file called `label`.
///
/// # Errors
///
/// Where a column is missing, a number is none, or times do not grow; the message names the line.
pub fn read_series(label: &str, text: &str) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    rows::each(label, text, ("a log of rates", &NEEDED), &mut |row| take(&mut all, row))?;
    if all.is_empty() {
        return Err(Error::input(format!("{label} has no row; give a log of rates")));
    }
    let is_still = |one: &&Series| one.rates.iter().all(|&(_, rate)| rate == 0.0);
    if let Some(Series { device, depth, jobs, .. }) = all.iter().find(is_still) {
        let jobs = counted(jobs, "job");
        return Err(Error::input(format!(
            "{label}: {device}, depth {depth}, {jobs}: no rate is above 0; take its rows out"
        )));
    }
    Ok(all)
}

fn take(all: &mut Vec<Series>, row: &Row<'_>) -> Result<()> {
    if !matches!(row.text("rw"), "" | "randwrite") {
        let found = row.text("rw");
        return Err(row.wrong(format!("`rw`: {found} is not randwrite; take such rows out")));
    }
    let bytes = if row.text("bs").is_empty() { BYTES } else { row.request_bytes("bs")? };
    let (device, depth) = (row.text("device"), row.whole("qd", 1..=IN_FLIGHT_MAX)?);
    let jobs = row.whole("jobs", 1..=IN_FLIGHT_MAX)?;
    let in_flight = u64::from(depth) * u64::from(jobs);
    if in_flight > SERIES_IN_FLIGHT_MAX {
        return Err(row.wrong(format!(
            "`qd` x `jobs`: {in_flight} requests in flight are more than {SERIES_IN_FLIGHT_MAX}; correct them"
        )));
    }
    let at_s = row.need("t_s")?;
    let rate = 1024.0 * row.number("write_KiBps")?.unwrap_or(0.0);
    let of = |one: &&mut Series| {
        (one.device.as_str(), one.bytes, one.depth, one.jobs) == (device, bytes, depth, jobs)
    };
    let before_s = match all.iter_mut().find(of) {
        Some(known) => {
            known.rates.push((at_s, rate));
            known.rates[known.rates.len() - 2].0
        }
        None => {
            let rates = vec![(at_s, rate)];
            all.push(Series { device: device.into(), bytes, depth, jobs, rates });
            0.0
        }
    };
    if at_s <= before_s || at_s > LONGEST_S {
        return Err(row.wrong(format!(
            "`t_s`: {at_s} does not come after {before_s}, or is beyond {LONGEST_S}; give the times of a log in order"
        )));
    }
    Ok(())
}

/// Only the series of the device that has `wanted` in its name; of the only one, where nothing is wanted.
///
/// # Errors
///
/// Where none or several have.
pub fn series_of_device(all: Vec<Series>, wanted: Option<&str>) -> Result<Vec<Series>> {
    let device = one_device(&series_devices(&all), wanted)?;
    Ok(all.into_iter().filter(|one| one.device == device).collect())
}

/// The devices that they are of.
pub fn series_devices(all: &[Series]) -> Vec<&str> {
    each_once(all.iter().map(|one| one.device.as_str()))
}

/// When a rate falls below half of its highest, and is back above that; in seconds from the start, where it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cliff {
    /// The end of the first interval below half, after one that is not.
    pub falls_s: Option<f64>,
    /// The end of the first interval above half after that.
    pub recovers_s: Option<f64>,
}

impl Cliff {
    /// Of rates at the ends of intervals.
    pub fn of(rates: &[(f64, f64)]) -> Self {
        let half = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max) / 2.0;
        let high = rates.iter().position(|&(_, rate)| rate >= half).unwrap_or(rates.len());
        let below = rates[high..].iter().position(|&(_, rate)| rate < half);
        let fall = below.map(|at| high + at);
        let after = &rates[fall.unwrap_or(rates.len())..];
        let back = after.iter().find(|&&(_, rate)| rate > half);
        Cliff { falls_s: fall.map(|at| rates[at].0), recovers_s: back.map(|&(at_s, _)| at_s) }
    }
}

/// A series as measured and as modelled.
#[derive(Clone, Debug)]
pub struct JudgedSeries {
    /// As measured.
    pub series: Series,
    /// As modelled, at the same times.
    pub modelled: Vec<(f64, f64)>,
}

impl JudgedSeries {
    /// Where the measured rate falls and recovers.
    pub fn measured_cliff(&self) -> Cliff {
        Cliff::of(&self.series.rates)
    }

    /// Where the modelled one does.
    pub fn modelled_cliff(&self) -> Cliff {
        Cliff::of(&self.modelled)
    }

    /// How far the modelled fall and recovery are from the measured ones, as shares of the measured times.
    pub fn time_errors(&self) -> [Option<f64>; 2] {
        let (measured, modelled) = (self.measured_cliff(), self.modelled_cliff());
        let error =
            |of: fn(Cliff) -> Option<f64>| Some((of(modelled)? / of(measured)? - 1.0).abs());
        [error(|cliff| cliff.falls_s), error(|cliff| cliff.recovers_s)]
    }

    /// What it is of.
    pub fn label(&self) -> String {
        let Series { bytes, depth, jobs, .. } = self.series;
        let jobs = if jobs > 1 { format!(" x {jobs}") } else { String::new() };
        format!("randwrite {bytes} depth {depth}{jobs}")
    }

    /// The errors of the rate: before the measured fall, until its recovery, after that, and of all intervals.
    pub fn groups(&self) -> Vec<Group> {
        let Cliff { falls_s, recovers_s } = self.measured_cliff();
        let never = |at: Option<f64>| at.unwrap_or(f64::INFINITY);
        let label = self.label();
        let phases = [
            (": before the fall", 0.0, never(falls_s)),
            (": until the recovery", never(falls_s), never(recovers_s)),
            (": after that", never(recovers_s), f64::INFINITY),
        ];
        let within = |from_s: f64, to_s: f64| {
            let both = self.series.rates.iter().zip(&self.modelled);
            // Of no rate there is no share.
            let both = both.filter(|((_, measured), _)| *measured > 0.0);
            let both = both.filter(move |((at_s, _), _)| (from_s..to_s).contains(at_s));
            both.map(|((_, measured), (_, modelled))| (modelled / measured - 1.0).abs())
        };
        let mut groups: Vec<Group> = phases
            .iter()
            .filter(|&&(_, from_s, to_s)| within(from_s, to_s).next().is_some())
            .map(|&(name, from_s, to_s)| errors_of(format!("{label}{name}"), within(from_s, to_s)))
            .collect();
        if groups.len() > 1 {
            groups.push(errors_of(format!("{label}: {ALL}"), within(0.0, f64::INFINITY)));
        }
        groups
    }

    /// The bytes that the model writes in all of it over those that were measured.
    pub fn amount_ratio(&self) -> f64 {
        amount(&self.modelled) / amount(&self.series.rates)
    }
}

fn amount(rates: &[(f64, f64)]) -> f64 {
    let mut before_s = 0.0;
    let amounts = rates.iter().map(|&(at_s, rate)| {
        let amount = rate * (at_s - before_s);
        before_s = at_s;
        amount
    });
    amounts.sum()
}

/// Plays every series to `drive`, from the state that its file says. What a host adds is not in it: the logs do not say what
/// sent the writes.
///
/// # Errors
///
/// Where the drive cannot be built, or is smaller than what is in flight.
pub fn judge_series(drive: &Drive, all: &[Series]) -> Result<Vec<JudgedSeries>> {
    all.iter()
        .map(|series| Ok(JudgedSeries { series: series.clone(), modelled: play(drive, series)? }))
        .collect()
}

fn play(drive: &Drive, series: &Series) -> Result<Vec<(f64, f64)>> {
    let block = u64::from(series.bytes).div_ceil(SECTOR_BYTES);
    let blocks = drive.sectors() / block;
    let in_flight = u64::from(series.depth) * u64::from(series.jobs);
    if blocks < in_flight {
        let title = &drive.title;
        return Err(Error::input(format!("{title} is smaller than what is in flight")));
    }
    let ends: Vec<Nanos> = series.rates.iter().map(|&(at_s, _)| (at_s * 1e9) as Nanos).collect();
    let mut bytes = vec![0_u64; ends.len()];
    let mut device = device(drive)?;
    let (mut random, mut events, mut interval) = (1_u64, Vec::new(), 0);
    let mut somewhere = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = (u128::from(random) * u128::from(blocks)) >> 64;
        Request::write(at as u64 * block, block as u32)
    };
    for tag in 0..in_flight {
        device.submit(0, tag, somewhere());
    }
    'all: while let Some(now) = device.next_event() {
        device.advance(now, &mut events);
        for event in events.drain(..) {
            let Event::Done { tag, at, .. } = event else { continue };
            while at >= ends[interval] {
                interval += 1;
                if interval == ends.len() {
                    break 'all;
                }
            }
            bytes[interval] += u64::from(series.bytes);
            device.submit(at, tag, somewhere());
        }
    }
    let mut before_s = 0.0;
    let rates = series.rates.iter().zip(bytes).map(|(&(at_s, _), bytes)| {
        let rate = bytes as f64 / (at_s - before_s);
        before_s = at_s;
        (at_s, rate)
    });
    Ok(rates.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_found_where_there_is_one() {
        let rates = |all: &[f64]| -> Vec<(f64, f64)> {
            all.iter().zip(1..).map(|(&rate, at)| (f64::from(at), rate)).collect()
        };
        let of = |all: &[f64]| {
            let Cliff { falls_s, recovers_s } = Cliff::of(&rates(all));
            (falls_s, recovers_s)
        };
        assert_eq!(of(&[9.0, 9.0, 2.0, 1.0, 8.0]), (Some(3.0), Some(5.0)));
        assert_eq!(of(&[9.0, 9.0, 2.0, 1.0]), (Some(3.0), None));
        assert_eq!(of(&[9.0, 8.0, 9.0]), (None, None));
        // What was never high does not fall.
        assert_eq!(of(&[1.0, 9.0, 9.0]), (None, None));
        assert_eq!(of(&[1.0, 9.0, 2.0, 9.0]), (Some(3.0), Some(4.0)));
    }

    #[test]
    fn errors_name_the_line() {
        let said = |rows: &str| {
            let text = format!("device,qd,jobs,t_s,write_KiBps,rw\n{rows}");
            read_series("log.csv", &text).unwrap_err().to_string()
        };
        assert!(said("x,1,1,2,5,\nx,1,1,2,5,\n").contains("log.csv:3: `t_s`: 2 does not come"));
        assert!(said("x,1,1,9999,5,\n").contains("log.csv:2: `t_s`: 9999"));
        assert!(said("x,0,1,1,5,\n").contains("log.csv:2: `qd` must be above 0"));
        assert!(said("x,1,1,1,5,read\n").contains("log.csv:2: `rw`: read is not randwrite"));
        assert!(said("").contains("log.csv has no row"));
        // They took all memory.
        let many = said("x,65535,65535,1,5,\n");
        assert!(many.contains("log.csv:2: `qd` x `jobs`: 4294836225 requests in flight"), "{many}");
        let none = said("x,1,1,1,5,\nx,8,1,1,0,\nx,8,1,2,0,\n");
        assert!(none.contains("log.csv: x, depth 8, 1 job: no rate is above 0"), "{none}");
    }

    #[test]
    fn depths_are_series_of_their_own() {
        let text = "device,qd,jobs,t_s,write_KiBps\nx,1,1,1,5\nx,8,1,1,50\nx,1,1,2,6\n";
        let all = read_series("log.csv", text).unwrap();
        let lengths: Vec<_> = all.iter().map(|one| (one.depth, one.rates.len())).collect();
        assert_eq!(lengths, [(1, 2), (8, 1)]);
    }
}
