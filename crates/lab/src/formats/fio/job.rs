//! One job, and where on the volume its file lies.

mod ends;
mod rates;
mod shares;

use super::sending::Sending;
use super::sizes::{Sides, Split};
use crate::error::{Error, Result};
use crate::workload::Engine;
use block::SECTOR_BYTES;
use block::units::{format_bytes, format_bytes_per_s, format_nanos};
use std::fmt::Write as _;

/// What a job does; sizes in bytes.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of fio's own")]
pub(super) struct Job {
    pub(super) name: String,
    /// Where it starts in the file.
    pub(super) line: usize,
    pub(super) random: bool,
    /// How many of a hundred requests are reads.
    pub(super) reads_percent: u32,
    /// Whether reads and writes are mixed, so that `rwmixread` has a say.
    pub(super) mixed: bool,
    pub(super) mix_percent: u32,
    /// Sizes of reads and of writes.
    pub(super) blocks: Sides<u64>,
    /// Sizes and percentages; empty where all are as `blocks` has them.
    pub(super) splits: Sides<Split>,
    /// How many random requests follow each other.
    pub(super) in_a_row: u64,
    /// What requests in order leave out behind each, in bytes.
    pub(super) gap: u64,
    pub(super) depth: u64,
    pub(super) jobs: u64,
    pub(super) size: Option<u64>,
    pub(super) io_size: Option<u64>,
    pub(super) offset: u64,
    pub(super) offset_increment: u64,
    /// The same two as shares of the volume.
    pub(super) offset_percent: Option<u64>,
    pub(super) step_percent: Option<u64>,
    /// `io_size` as a share of `size`.
    pub(super) io_size_percent: Option<u64>,
    /// After so many requests it ends, if nothing ends it before.
    pub(super) number_ios: Option<u64>,
    pub(super) runtime_ns: Option<u64>,
    pub(super) time_based: bool,
    pub(super) loops: u64,
    /// `rate`, in bytes a second.
    pub(super) rate: Rates,
    /// `rate_iops`, in requests a second.
    pub(super) rate_iops: Rates,
    pub(super) think_ns: u64,
    /// It thinks before each so many requests.
    pub(super) think_every: u64,
    /// How much of the volume it uses, in percent, in place of `size`.
    pub(super) size_percent: Option<u64>,
    /// How often each block is asked for, as `access` has it.
    pub(super) access: Option<String>,
    /// Whether requests come at random times.
    pub(super) poisson: bool,
    /// Whether a warm-up is left out.
    pub(super) ramps: bool,
    /// Whether each write is durable when it is done.
    pub(super) synchronous_writes: bool,
    /// Whether it says if its requests are direct.
    pub(super) says_direct: bool,
    pub(super) end_flush: bool,
    pub(super) flush_every: u64,
    /// Whether several requests can be in flight.
    pub(super) asynchronous: bool,
    /// By what it sends them.
    pub(super) sending: Sending,
    pub(super) stonewall: bool,
    pub(super) filename: Option<String>,
    /// How long after the others it starts.
    pub(super) start_delay_ns: u64,
    /// How many files of its own it has.
    pub(super) files: u64,
    /// Whether it comes to the next file when it is through with one.
    pub(super) takes_files_in_order: bool,
    /// At multiples of what random requests begin, where it says so.
    pub(super) align: Option<u64>,
    /// How far its queue drains before it is filled again.
    pub(super) depth_low: Option<u64>,
}

/// What an option holds reads and writes to, each for itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// The option with its value, as it was written.
    pub(super) written: String,
    pub(super) reads: Option<u64>,
    pub(super) writes: Option<u64>,
}

impl Default for Job {
    fn default() -> Self {
        Job {
            name: String::new(),
            line: 0,
            random: false,
            reads_percent: 100,
            mixed: false,
            mix_percent: 50,
            blocks: [4096; 2],
            splits: [Vec::new(), Vec::new()],
            in_a_row: 1,
            gap: 0,
            depth: 1,
            jobs: 1,
            size: None,
            io_size: None,
            offset: 0,
            offset_increment: 0,
            offset_percent: None,
            step_percent: None,
            io_size_percent: None,
            number_ios: None,
            runtime_ns: None,
            time_based: false,
            loops: 1,
            rate: Rates::default(),
            rate_iops: Rates::default(),
            think_ns: 0,
            think_every: 1,
            size_percent: None,
            access: None,
            poisson: false,
            ramps: false,
            synchronous_writes: false,
            says_direct: false,
            end_flush: false,
            flush_every: 0,
            asynchronous: false,
            sending: Sending::default(),
            stonewall: false,
            filename: None,
            start_delay_ns: 0,
            files: 1,
            takes_files_in_order: false,
            align: None,
            depth_low: None,
        }
    }
}

/// The most jobs of a workload.
const JOBS_MAX: u64 = 4096;

/// Where a job's file lies on the volume, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where it starts.
    start: u64,
    /// How far the files of the same job lie apart; 0 where they all use one.
    step: u64,
    /// How much the job uses; all that is left where it is not said.
    span: Option<u64>,
}

/// Several files of one job are one behind the other, which is the same for random requests alone.
fn check_files(label: &str, jobs: &[Job]) -> Result<()> {
    for job in jobs {
        let Some(files) = job.filename.as_deref().filter(|file| file.contains(':')) else {
            continue;
        };
        let wrong = |why: &str| {
            Err(Error::input(format!(
                "{label}:{}: [{}] has several files (`filename={files}`){why}; give each its own job",
                job.line, job.name
            )))
        };
        if !job.random {
            return wrong(", over which sequential requests take turns");
        }
        let parts: Vec<&str> = files.split(':').collect();
        let others = jobs.iter().filter_map(|other| other.filename.as_deref());
        let shared = others
            .filter(|other| *other != files)
            .find(|other| other.split(':').any(|part| parts.contains(&part)));
        if let Some(shared) = shared {
            return wrong(&format!(", and another job uses {shared}"));
        }
    }
    Ok(())
}

/// Where the files of `jobs` lie: one that all use is the volume, several lie one after another.
pub(super) fn places(label: &str, jobs: &[Job]) -> Result<Vec<Place>> {
    check_files(label, jobs)?;
    shares::check(label, jobs)?;
    let mut files: Vec<&str> = jobs.iter().filter_map(|job| job.filename.as_deref()).collect();
    files.sort_unstable();
    files.dedup();
    let own = |job: &Job| if job.filename.is_some() { 0 } else { job.jobs };
    let count = files.len() as u64 + jobs.iter().map(own).sum::<u64>();
    let too_large = |job: &Job| {
        Error::input(format!(
            "{label}:{}: [{}] goes past the largest sector number; give a smaller size",
            job.line, job.name
        ))
    };
    let mut end: u64 = 0;
    let mut starts: Vec<(&str, u64)> = Vec::new();
    let mut places = Vec::with_capacity(jobs.len());
    for job in jobs {
        let span = job.size.or(job.io_size.filter(|_| count > 1));
        let reach = span.and_then(|span| {
            job.offset_increment
                .checked_mul(job.jobs - 1)?
                .checked_add(span)?
                .checked_add(job.offset)
        });
        if count > 1 && job.size_percent.is_some() && files.len() <= 1 && job.filename.is_some() {
            // All of them use the volume.
        } else if count > 1 && reach.is_none() {
            return Err(Error::input(format!(
                "{label}:{}: [{}] is one of several files and has no usable `size`; say how large it \
                 is, or give all jobs the same `filename`",
                job.line, job.name
            )));
        }
        let known = job.filename.as_deref().and_then(|file| starts.iter().find(|s| s.0 == file));
        let start = known.map_or(end, |&(_, start)| start);
        let step = if job.filename.is_some() { 0 } else { reach.unwrap_or(0) };
        let copies = if job.filename.is_some() { 1 } else { job.jobs };
        if let Some(file) = &job.filename {
            // All jobs of a file have room in it.
            let same = jobs.iter().filter(|other| other.filename.as_ref() == Some(file));
            let largest = same.filter_map(|other| other.offset.checked_add(other.size?)).max();
            if known.is_none() {
                starts.push((file, start));
                let size = largest.unwrap_or(0).max(reach.unwrap_or(0));
                end = end.checked_add(size).ok_or_else(|| too_large(job))?;
            }
        } else {
            let all = reach.unwrap_or(0).checked_mul(copies).and_then(|all| all.checked_add(end));
            end = all.ok_or_else(|| too_large(job))?;
        }
        let start = start.checked_add(job.offset).ok_or_else(|| too_large(job))?;
        places.push(Place { start, step, span });
    }
    Ok(places)
}

impl Job {
    /// How many synchronous writes it has in flight at most. Each has a flush of its own, for which the others do not wait.
    pub(super) fn lanes(&self) -> u64 {
        if self.asynchronous && self.synchronous_writes && self.writes() { self.depth } else { 1 }
    }

    /// Whether it writes at all.
    fn writes(&self) -> bool {
        let reads = if self.mixed { self.mix_percent } else { self.reads_percent };
        reads < 100
    }

    /// Why these are not as those of so many jobs, each with one in flight; `None` where they are: any of them may be next.
    pub(super) fn why_in_line(&self, place: &Place) -> Option<&'static str> {
        if self.lanes() == 1 {
            return None;
        }
        let has_a_rate =
            [&self.rate, &self.rate_iops].iter().any(|rates| self.all_of(rates).is_some());
        let amount = self.amount().filter(|_| !self.time_based);
        let is_short = amount.is_some_and(|amount| amount / self.lanes() < self.block());
        let reasons = [
            (!self.random, "they go in order"),
            (self.poisson, "they come by the clock"),
            (has_a_rate, "they have a rate"),
            (self.think_ns > 0, "the job thinks"),
            (
                self.step(place) > 0 || self.step_percent.is_some() && self.jobs > 1,
                "the jobs lie apart (give them one `filename` and no `offset_increment`)",
            ),
            (self.jobs * self.lanes() > JOBS_MAX, "more than 4096 are in flight"),
            (is_short, "there are fewer writes than that"),
        ];
        reasons.iter().find(|reason| reason.0).map(|reason| reason.1)
    }

    /// How far its jobs lie apart.
    fn step(&self, place: &Place) -> u64 {
        match self.jobs {
            1 => 0,
            _ if place.step > 0 => place.step,
            _ => self.offset_increment,
        }
    }

    /// How many requests it has in flight at most.
    pub(super) fn in_flight(&self) -> u64 {
        self.jobs * self.in_flight_each()
    }

    /// How many each of its `numjobs` has: those of a synchronous engine have one, whatever `iodepth` says.
    pub(super) fn in_flight_each(&self) -> u64 {
        if self.asynchronous { self.depth } else { 1 }
    }

    /// The side whose sizes count: that of writes where there is nothing else.
    fn side(&self) -> usize {
        let reads = if self.mixed { self.mix_percent } else { self.reads_percent };
        usize::from(reads == 0)
    }

    /// The size of a request, where it has no others.
    fn block(&self) -> u64 {
        self.blocks[self.side()]
    }

    /// The size of its smallest request.
    pub(super) fn smallest(&self) -> u64 {
        let sizes = self.split().iter().map(|&(bytes, _)| bytes);
        sizes.min().unwrap_or(self.block())
    }

    /// Its sizes with their shares, if it has several.
    fn split(&self) -> &Split {
        &self.splits[self.side()]
    }

    /// A size of `what` as a key has it.
    fn size_text(&self, label: &str, what: &str, bytes: u64) -> Result<String> {
        if bytes.is_multiple_of(SECTOR_BYTES) {
            return Ok(format_bytes(bytes));
        }
        Err(Error::input(format!(
            "{label}:{}: [{}]: `{what}` of {bytes} bytes is not a multiple of 512; \
             take a multiple (to fio, k is 1024 and KiB is 1000)",
            self.line, self.name
        )))
    }

    /// The keys of its workload, which `engine` sends, where what that takes is known.
    pub(super) fn keys(
        &self,
        label: &str,
        place: &Place,
        engine: Option<Engine>,
    ) -> Result<String> {
        let size = |what: &str, bytes: u64| self.size_text(label, what, bytes);
        self.check_rates(label)?;
        self.check_sizes(label)?;
        let lanes = if self.why_in_line(place).is_none() { self.lanes() } else { 1 };
        let mut keys = String::new();
        let mut key = |name: &str, value: &dyn std::fmt::Display| {
            writeln!(keys, "{name} = {value}").expect("a string grows");
        };
        key("kind", &quoted(self.kind()));
        if self.gap > 0 {
            key("gap", &quoted(&size("rw", self.gap)?));
        }
        if self.in_a_row > 1 {
            key("in_a_row", &self.in_a_row);
        }
        if self.mixed {
            key("reads_percent", &self.share_of_reads());
        } else {
            key("op", &if self.reads_percent == 100 { "\"read\"" } else { "\"write\"" });
        }
        let split = self.split();
        key("block", &quoted(&size("bs", self.smallest())?));
        if !split.is_empty() {
            let sizes: Result<Vec<String>> = split
                .iter()
                .map(|&(bytes, percent)| Ok(format!("{}/{percent}", size("bssplit", bytes)?)))
                .collect();
            key("sizes", &quoted(&sizes?.join(":")));
        }
        if self.poisson {
            self.arrives(label, &mut key)?;
        } else {
            if let Some(engine) = engine {
                key("engine", &quoted(engine.word()));
            }
            key("depth", &if self.asynchronous && lanes == 1 { self.depth } else { 1 });
        }
        if let Some(access) = self.access.as_ref().filter(|_| self.random) {
            key("access", &format!("\"{access}\""));
        }
        match self.offset_percent {
            Some(percent) => key("offset_percent", &percent),
            None => key("offset", &quoted(&size("offset", place.start)?)),
        }
        if self.jobs * lanes > 1 {
            key("jobs", &(self.jobs * lanes));
            match self.step_percent {
                Some(percent) => key("job_step_percent", &percent),
                None => {
                    key("job_step", &quoted(&size("offset_increment", self.step(place))?));
                }
            }
        }
        if let Some(span) = place.span {
            key("span", &quoted(&size("size", span)?));
        }
        if let Some(percent) = self.size_percent {
            key("span_percent", &percent);
        }
        self.ends(label, lanes, &mut key)?;
        self.pace(&mut key);
        Ok(keys)
    }

    /// How fast it goes, and what it flushes.
    fn pace(&self, key: &mut dyn FnMut(&str, &dyn std::fmt::Display)) {
        if !self.poisson {
            if self.think_ns > 0 {
                key("think", &quoted(&format_nanos(self.think_ns)));
                key("think_every", &self.think_every);
            }
            if let Some(rate) = self.all_of(&self.rate) {
                key("rate", &quoted(&format_bytes_per_s(rate)));
            }
            if let Some(rate) = self.all_of(&self.rate_iops) {
                key("requests_per_s", &rate);
            }
        }
        let writes = self.writes();
        if self.synchronous_writes && writes {
            key("flush_every", &1);
        } else if self.flush_every > 0 {
            key("flush_every", &self.flush_every);
        }
        if self.end_flush && writes {
            key("end_fsync", &true);
        }
    }

    /// Its rate, where requests come at random times.
    fn arrives(
        &self,
        label: &str,
        key: &mut dyn FnMut(&str, &dyn std::fmt::Display),
    ) -> Result<()> {
        let by_bytes = self.all_of(&self.rate).filter(|_| self.split().is_empty());
        let by_bytes = by_bytes.map(|rate| (rate / self.block()).max(1));
        let rate = self.all_of(&self.rate_iops).or(by_bytes);
        let Some(rate) = rate.filter(|_| self.think_ns == 0) else {
            return Err(Error::input(format!(
                "{label}:{}: [{}] has `rate_process=poisson`, which needs `rate_iops` and no `thinktime`",
                self.line, self.name
            )));
        };
        key("arrivals", &"\"poisson\"");
        key("requests_per_s", &rate);
        Ok(())
    }
}

/// As a text of TOML.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
