//! What a trial runs, from the keys of a workload.

use super::files::FilesWork;
use super::keys::Value;
use crate::error::{Error, Result};
use block::{SECTOR_BYTES, units};
use std::collections::BTreeMap;

/// Jobs of one sort, side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Whose it is: the workload's name.
    pub name: String,
    /// In which order it goes over the volume.
    pub kind: WorkKind,
    /// What it asks.
    pub op: Op,
    /// How many of a hundred requests are reads, where they are mixed with writes.
    pub reads_percent: Option<u32>,
    /// The size of each request, in sectors.
    pub block_sectors: u64,
    /// Other sizes in sectors, and how often each comes; empty where all are `block_sectors`.
    pub sizes: Vec<(u32, u32)>,
    /// What a strided workload leaves out after each block, in sectors.
    pub gap_sectors: u64,
    /// How many requests each job makes; `u64::MAX` for as many as the other limits allow.
    pub count: u64,
    /// How much each job asks for, in sectors; `u64::MAX` for as much as the other limits allow.
    pub amount_sectors: u64,
    /// For how long requests are made, in ns; `u64::MAX` for as long as the other limits allow.
    pub runtime_ns: u64,
    /// Requests under way at a time.
    pub depth: u64,
    /// How many jobs there are.
    pub jobs: u64,
    /// Where the part of the volume that is used starts, in sectors.
    pub offset_sectors: u64,
    /// The part of the volume that is used, in sectors; all of it where it is not said.
    pub span_sectors: Option<u64>,
    /// How far behind the one before each job starts; the span is dealt out where it is not said.
    pub job_step_sectors: Option<u64>,
    /// What the program does before each request, in ns.
    pub think_ns: u64,
    /// No more than so many bytes a second by each job.
    pub bytes_per_s: Option<u64>,
    /// No more than so many requests a second by each job.
    pub requests_per_s: Option<u64>,
    /// After so many writes a flush; 0 for none.
    pub flush_every: u64,
    /// The program that uses files, where there is a file system.
    pub files: FilesWork,
}

/// The order in which a workload goes over the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// One block after the other; a write fills each block from /dev/zero first.
    Dd,
    /// One block after the other.
    Sequential,
    /// One block after the other, with a gap after each.
    Strided,
    /// Anywhere.
    Random,
}

/// What a workload asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// The largest request (1 TiB), as `block` takes it.
const SECTORS_MAX: u32 = 1 << 31;
/// How many requests there are where nothing says it.
const COUNT: u64 = 1000;

impl Work {
    /// Whether any of its requests reads.
    pub fn reads(&self) -> bool {
        self.reads_percent.map_or(self.op == Op::Read, |percent| percent > 0)
    }

    /// Whether any of its requests changes what the volume holds.
    pub fn writes(&self) -> bool {
        self.reads_percent.map_or(self.op == Op::Write, |percent| percent < 100)
    }

    /// What workload `name` does in a cell with these values.
    ///
    /// # Errors
    ///
    /// Where its sizes are no list of sizes.
    pub(super) fn new(name: &str, values: &BTreeMap<String, Value>) -> Result<Self> {
        let value = |key: &str| values.get(&format!("workload.{name}.{key}"));
        let text = |key: &str| value(key).map(Value::to_string).unwrap_or_default();
        let given = |key: &str| match value(key) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        };
        let number = |key: &str| given(key).expect("the key table gives it a number by default");
        let ends = given("amount").is_some() || given("runtime").is_some();
        let block_sectors = number("block");
        Ok(Work {
            name: name.into(),
            kind: match text("kind").as_str() {
                "random" => WorkKind::Random,
                "sequential" => WorkKind::Sequential,
                "strided" => WorkKind::Strided,
                _ => WorkKind::Dd,
            },
            op: if text("op") == "write" { Op::Write } else { Op::Read },
            reads_percent: given("reads_percent").map(|percent| percent as u32),
            block_sectors,
            sizes: parse_sizes(&text("sizes"))
                .map_err(|error| error.context(format!("`workload.{name}.sizes`")))?,
            gap_sectors: given("gap").unwrap_or(block_sectors),
            count: given("count").unwrap_or(if ends { u64::MAX } else { COUNT }),
            amount_sectors: given("amount").unwrap_or(u64::MAX),
            runtime_ns: given("runtime").unwrap_or(u64::MAX),
            depth: number("depth"),
            jobs: number("jobs"),
            offset_sectors: number("offset"),
            span_sectors: given("span"),
            job_step_sectors: given("job_step"),
            think_ns: number("think"),
            bytes_per_s: given("rate"),
            requests_per_s: given("requests_per_s"),
            flush_every: given("flush_every").unwrap_or(0),
            files: FilesWork::read(text, number),
        })
    }

    /// The size of the largest request, in sectors.
    pub fn largest_sectors(&self) -> u64 {
        let sizes = self.sizes.iter().map(|&(sectors, _)| u64::from(sectors));
        sizes.max().unwrap_or(0).max(self.block_sectors)
    }

    /// How many requests each job makes at most, and of how many bytes.
    fn asked(&self) -> (u128, u128) {
        let sizes = self.sizes.iter().map(|&(sectors, _)| u64::from(sectors));
        let smallest = sizes.min().unwrap_or(self.block_sectors).max(1);
        let requests = u128::from(self.count.min(self.amount_sectors.div_ceil(smallest)));
        let largest = u128::from(self.largest_sectors());
        let sectors = (requests * largest).min(u128::from(self.amount_sectors));
        (requests, sectors * u128::from(SECTOR_BYTES))
    }

    /// How long moving all that its jobs ask for takes at `bytes_per_s`; when its time is over, each still
    /// has all its requests under way.
    pub fn moving_ns(&self, bytes_per_s: u64) -> u128 {
        let at_rate = |bytes: u128| bytes.saturating_mul(1_000_000_000) / u128::from(bytes_per_s);
        let largest_bytes = u128::from(self.largest_sectors()) * u128::from(SECTOR_BYTES);
        let under_way = at_rate(u128::from(self.depth) * largest_bytes);
        let running = u128::from(self.runtime_ns) + u128::from(self.jobs) * under_way;
        at_rate(self.asked().1).saturating_mul(self.jobs.into()).min(running)
    }

    /// How long each job thinks, or waits until its requests are due, if nothing else took any time; no
    /// longer than it runs.
    pub fn idle_ns(&self) -> u128 {
        let (requests, bytes) = self.asked();
        let due = |amount: u128, rate: Option<u64>| {
            rate.map_or(0, |rate| amount.saturating_mul(1_000_000_000) / u128::from(rate))
        };
        let waits = due(bytes, self.bytes_per_s).max(due(requests, self.requests_per_s));
        waits.max(requests * u128::from(self.think_ns)).min(u128::from(self.runtime_ns))
    }

    /// Where each job's part of a volume of `sectors` starts, and how long it is.
    pub fn parts(&self, sectors: u64) -> Vec<(u64, u64)> {
        let behind = sectors.saturating_sub(self.offset_sectors);
        let part = |span: u64, step: u64| {
            let starts = (0..self.jobs)
                .map(|job| self.offset_sectors.saturating_add(job.saturating_mul(step)));
            starts.map(|start| (start, span)).collect()
        };
        match self.job_step_sectors {
            Some(step) => {
                let last = step.saturating_mul(self.jobs - 1);
                part(self.span_sectors.unwrap_or(behind.saturating_sub(last)), step)
            }
            None => {
                let share = self.span_sectors.unwrap_or(behind) / self.jobs;
                let whole = share / self.block_sectors * self.block_sectors;
                let share = if self.jobs == 1 { share } else { whole };
                part(share, share)
            }
        }
    }
}

/// Reads sizes and their weights: `4KiB/60:64KiB/40`; the empty text is none.
fn parse_sizes(text: &str) -> Result<Vec<(u32, u32)>> {
    let wrong = |part: &str| {
        Error::input(format!(
            "`{part}` is no size and weight; write a list such as `4KiB/60:64KiB/40`"
        ))
    };
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let sizes = text.split(':').map(|part| {
        let (size, weight) = part.split_once('/').ok_or_else(|| wrong(part))?;
        let sectors = units::parse_sectors(size).map_err(|error| wrong(part).followed_by(error))?;
        let sectors =
            u32::try_from(sectors).ok().filter(|sectors| (1..=SECTORS_MAX).contains(sectors));
        let weight = weight.trim().parse().ok().filter(|&weight| weight > 0);
        Ok((sectors.ok_or_else(|| wrong(part))?, weight.ok_or_else(|| wrong(part))?))
    });
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, Plan};
    use super::*;

    fn work(text: &str) -> Work {
        let text = format!("[volume]\ndrives = \"wd740gd\"\n[workload.w]\n{text}");
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
        plan.trials[0].work.clone()
    }

    #[test]
    fn a_workload_ends_somewhere() {
        let ends = |text| {
            let work = work(text);
            (work.count, work.amount_sectors, work.runtime_ns)
        };
        let max = u64::MAX;
        assert_eq!(ends(""), (1000, max, max));
        assert_eq!(ends("runtime = \"2s\""), (max, max, 2_000_000_000));
        assert_eq!(ends("amount = 100"), (max, 100, max));
        assert_eq!(ends("count = 7\nruntime = 5"), (7, max, 5));
    }

    #[test]
    fn jobs_have_parts_of_their_own() {
        assert_eq!(work("").parts(1001), [(0, 1001)]);
        let four = work("jobs = 4\nblock = 8\noffset = 100");
        assert_eq!(four.parts(1100), [(100, 248), (348, 248), (596, 248), (844, 248)]);
        let same = work("jobs = 2\njob_step = 0\nspan = 50");
        assert_eq!(same.parts(1000), [(0, 50), (0, 50)]);
        let apart = work("jobs = 2\njob_step = 300");
        assert_eq!(apart.parts(1000), [(0, 700), (300, 700)]);
    }

    #[test]
    fn sizes_are_read_with_their_weights() {
        assert_eq!(work("sizes = \"4k/60:64KiB/40\"").sizes, [(8, 60), (128, 40)]);
        for bad in ["4k", "4k/", "4k/0", "0/1", "4k/1:", "100B/1"] {
            assert!(
                parse_sizes(bad).unwrap_err().to_string().contains("4KiB/60:64KiB/40"),
                "{bad}"
            );
        }
    }
}
