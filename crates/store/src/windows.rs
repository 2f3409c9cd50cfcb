//! Windows of a trace: trials that replay one part each, and what they say together.
//!
//! Each is a trial with a line of its own, so that it is run, kept and merged like any other. But one window is no sample
//! of another: Monday morning is not Monday night. So they are no repeats. Whoever reads results has one record of them:
//! rates are what all did over the sum of their times, percentiles are of all latencies.

use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::record::{Record, cell_name, decode_latencies, encode_latencies};
use crate::sample::{self, Scope};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of a trace that a trial replays, and what it takes to put it together with the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Which one, from 1.
    pub number: u64,
    /// How many the trace is cut into.
    pub of: u64,
    /// From its first request to the first of the next window, or to the end of its last, in ns.
    pub elapsed_ns: u64,
    /// Bytes that were read and written.
    pub bytes: [u64; 2],
    /// Latencies of reads and of writes in ns, as [`Record::latency_hdr`] has those of both.
    pub direction_hdr: [String; 2],
    /// Those of flushes.
    pub flush_hdr: String,
}

/// The records with all windows of a repeat as one, which has the number of the first and counts as one trial of the
/// manifest. Where a window is missing, there is none: the others are not what the whole trace would be.
///
/// # Errors
///
/// Where a histogram of a window cannot be read.
pub fn joined(manifest: &mut Manifest, records: Vec<Record>) -> Result<Vec<Record>> {
    if records.iter().all(|record| record.window.is_none()) {
        return Ok(records);
    }
    let finished = records.len();
    let mut all = Vec::new();
    let mut apart: BTreeMap<(String, u64), Vec<Record>> = BTreeMap::new();
    for record in records {
        if record.window.is_some() {
            let key = (cell_name(&record.workload, &record.at), record.repeat);
            apart.entry(key).or_default().push(record);
        } else {
            all.push(record);
        }
    }
    for mut windows in apart.into_values() {
        windows.sort_by_key(|record| record.window.as_ref().map(|window| window.number));
        let of = windows[0].window.as_ref().map_or(0, |window| window.of);
        if windows.len() as u64 == of {
            all.push(join(&windows)?);
        }
    }
    all.sort_by_key(|record| record.trial);
    manifest.trials -= finished - all.len();
    Ok(all)
}

/// What windows have measured, added up.
struct Sums {
    elapsed_ns: u64,
    bytes: [u64; 2],
    latency_ns: Histogram<u64>,
    directions: [Histogram<u64>; 2],
    flush_ns: Histogram<u64>,
}

impl Sums {
    fn of(records: &[Record]) -> Result<Self> {
        let nothing = || Histogram::new(3).map_err(Error::failure);
        let mut sums = Sums {
            elapsed_ns: 0,
            bytes: [0; 2],
            latency_ns: nothing()?,
            directions: [nothing()?, nothing()?],
            flush_ns: nothing()?,
        };
        for record in records {
            let Some(window) = &record.window else { continue };
            sums.elapsed_ns += window.elapsed_ns;
            let with = |sum: &mut Histogram<u64>, text: &str| {
                let one = decode_latencies(text)
                    .map_err(|error| error.context(format!("trial {}", record.trial)))?;
                sum.add(one).map_err(Error::failure)
            };
            with(&mut sums.latency_ns, &record.latency_hdr)?;
            with(&mut sums.flush_ns, &window.flush_hdr)?;
            for direction in 0..2 {
                sums.bytes[direction] += window.bytes[direction];
                with(&mut sums.directions[direction], &window.direction_hdr[direction])?;
            }
        }
        Ok(sums)
    }

    /// A rate or a percentile, which follows from the sums; none of other samples.
    fn sample(&self, name: &str) -> Option<f64> {
        let [reads, writes] = &self.directions;
        let per_s = |count: u64| Some(count as f64 * 1e9 / self.elapsed_ns as f64);
        let mb_per_s = |bytes: u64| per_s(bytes).map(|bytes| bytes / 1e6);
        match name {
            "mb_per_s" => return mb_per_s(self.bytes[0] + self.bytes[1]),
            "read_mb_per_s" => return mb_per_s(self.bytes[0]),
            "write_mb_per_s" => return mb_per_s(self.bytes[1]),
            "requests_per_s" => return per_s(self.latency_ns.len()),
            "reads_per_s" => return per_s(reads.len()),
            "writes_per_s" => return per_s(writes.len()),
            "elapsed_s" => return Some(self.elapsed_ns as f64 / 1e9),
            "flushes" => return Some(self.flush_ns.len() as f64),
            _ => {}
        }
        let (of, figure) = name.strip_suffix("_ms")?.split_once('_')?;
        let latencies = match of {
            "latency" => &self.latency_ns,
            "read" => reads,
            "write" => writes,
            "flush" => &self.flush_ns,
            _ => return None,
        };
        let at = |quantile| Some(latencies.value_at_quantile(quantile) as f64 / 1e6);
        match figure {
            // Of all latencies the mean is known to the nanosecond, not to three digits.
            "mean" if of != "latency" => Some(latencies.mean() / 1e6),
            "p50" => at(0.5),
            "p99" => at(0.99),
            "p999" => at(0.999),
            _ => None,
        }
    }
}

/// What a sample of windows is weighed with where it is a mean, and what becomes of others.
enum Rule {
    /// A mean over requests.
    Requests,
    /// A mean over commands to members.
    Commands,
    /// A mean over time.
    Time,
    /// A share of the bytes that were moved.
    Bytes,
    /// They add up.
    Sum,
    /// The worst, the highest or the lowest, is that of all.
    Highest,
    Lowest,
}

fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "latency_mean_ms" | "program_ms" | "commands_per_request" | "billed_per_request" => {
            Rule::Requests
        }
        "hits_per_command" | "credit_share" | "deferred_share" => Rule::Commands,
        "members_busy" | "cpu_busy" => Rule::Time,
        "cached_share" => Rule::Bytes,
        "faults" | "lost_writes" | "warm_up_s" => Rule::Sum,
        "overloaded"
        | "needed_mib"
        | "interval_percent"
        | "latency_interval_percent"
        | "rebuild_needs_times" => Rule::Highest,
        "steady" => Rule::Lowest,
        _ if sample::find(name).is_some_and(|sample| sample.scope == Scope::Part) => Rule::Requests,
        _ => return None,
    })
}

/// Whether it is known how a sample of windows is put together.
pub fn is_joined(name: &str) -> bool {
    rule(name).is_some() || Sums::of(&[]).is_ok_and(|nothing| nothing.sample(name).is_some())
}

/// What a window weighs for a rule.
fn weight(rule: &Rule, record: &Record) -> f64 {
    let requests = record.requests as f64 - record.sample("faults").unwrap_or(0.0);
    match (rule, &record.window) {
        (Rule::Requests, _) => requests,
        (Rule::Commands, _) => requests * record.sample("commands_per_request").unwrap_or(0.0),
        (Rule::Time, Some(window)) => window.elapsed_ns as f64,
        (Rule::Bytes, Some(window)) => (window.bytes[0] + window.bytes[1]) as f64,
        _ => 1.0,
    }
}

/// The value of a sample over all windows that have it.
fn by_rule(rule: &Rule, name: &str, windows: &[Record]) -> f64 {
    let values =
        || windows.iter().filter_map(|record| Some((record.sample(name)?, weight(rule, record))));
    match rule {
        Rule::Sum => values().map(|(value, _)| value).sum(),
        Rule::Highest => values().map(|(value, _)| value).fold(0.0, f64::max),
        Rule::Lowest => values().map(|(value, _)| value).fold(f64::INFINITY, f64::min),
        Rule::Requests | Rule::Commands | Rule::Time | Rule::Bytes => {
            let weights: f64 = values().map(|(_, weight)| weight).sum();
            values().map(|(value, weight)| value * weight).sum::<f64>() / weights
        }
    }
}

/// All windows of one repeat as one record.
fn join(windows: &[Record]) -> Result<Record> {
    let sums = Sums::of(windows)?;
    let mut first = windows[0].clone();
    let mut names: Vec<&str> = Vec::new();
    for name in windows.iter().flat_map(|record| record.samples.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |name: &str| {
        let of_sums = sums.sample(name).or_else(|| Some(by_rule(&rule(name)?, name, windows)));
        of_sums.filter(|value| value.is_finite())
    };
    first.samples = names.iter().filter_map(|name| Some((*name, value(name)?))).collect();
    let busy = |member: usize| {
        let shares = windows.iter().filter_map(|record| {
            Some((record.member_busy.get(member)?, weight(&Rule::Time, record)))
        });
        shares.map(|(share, elapsed_ns)| share * elapsed_ns).sum::<f64>() / sums.elapsed_ns as f64
    };
    first.member_busy = (0..first.member_busy.len()).map(busy).collect();
    first.requests = windows.iter().map(|record| record.requests).sum();
    first.latency_hdr = encode_latencies(&sums.latency_ns);
    // Its batches are of one length in each window, and of others in the next.
    first.series = None;
    first.window = None;
    Ok(first)
}
