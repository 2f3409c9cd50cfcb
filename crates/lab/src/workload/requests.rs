//! Requests to the volume itself: what `dd`, `sequential`, `strided` and `random` have in common.

use super::engine::{Engine, LOADS_MAX};
use super::open::{Access, Arrivals, Capacity};
use super::stage::Toll;
use crate::error::{Error, Result};
use crate::keys::{FromValue, RATE, SIZE, Section, Takes, Value, YEAR_NS, keys, load, words};
use block::{SECTOR_BYTES, units};
use sim::workload::{Pattern, Skew, Stream};

/// A size on a volume of any size, in sectors.
const ANY_SIZE: Takes = Takes::Sectors(1, u64::MAX);

keys! {
    /// The keys of each kind of requests.
    pub struct RequestKeys {
        /// Read or write
        op: Op = load("op", Op::TAKES).default("read"),
        /// Percentage of reads; the others are writes [default: all as `op` says]
        reads_percent: Option<u32> = load("reads_percent", Takes::Count(0, 100)),
        /// Size of each request (dd's bs)
        block_sectors: u64 = load("block", SIZE).default("64KiB"),
        /// Mixed request sizes with their weights, as in `4KiB/60:64KiB/40`, instead of `block`; random
        /// requests stay aligned to `block`
        sizes: Option<Sizes> = load("sizes", Sizes::TAKES),
        /// Requests per job [default: as many as `amount` or `runtime` allow; without these a trial runs until precise to
        /// `run.precision`]
        count: Option<u64> = load("count", Takes::Count(1, 1_000_000_000_000)),
        /// Data read and written per job [default: as much as `count` and `runtime` allow]
        amount_sectors: Option<u64> = load("amount", ANY_SIZE),
        /// Time limit, as in `60s`
        runtime_ns: Option<u64> = load("runtime", Takes::Time(1, YEAR_NS)),
        /// Requests in flight per job (queue depth)
        depth: u64 = load("depth", Takes::Count(1, 65_536)).default("1"),
        /// Size of the part of the volume that is used, from `offset` on [default: all of the volume]
        span_sectors: Option<u64> = load("span", ANY_SIZE),
        /// Share of the volume that is used, from `offset` on, instead of `span`
        span_percent: Option<u64> = load("span_percent", Takes::Count(1, 100)),
        /// Start of the part of the volume that is used, as a share of the volume, instead of `offset`
        offset_percent: Option<u64> = load("offset_percent", Takes::Count(0, 99)),
        /// Start of the part of the volume that is used
        offset_sectors: u64 = load("offset", Takes::Sectors(0, u64::MAX)).in_sectors().default("0"),
        /// These requests go to the log's own drives, `volume.log_drives`, if there are any; of those they use all that
        /// `span` allows, from the start
        to_log: bool = load("to_log", Takes::Switch).default("false"),
        /// Identical jobs side by side, each with `count` requests, `depth` of them in flight
        jobs: u64 = load("jobs", Takes::Count(1, LOADS_MAX)).default("1"),
        /// Programs that send the requests of a job, each on a processor of its own (the `program_` figures of the host)
        programs: u64 = load("programs", Takes::Count(1, LOADS_MAX)).default("1"),
        /// By what programs send direct requests to flash drives: what the host's figures say of its processor time, and of what
        /// it adds to the drive's own time; `io_uring` with registered buffers, `io_uring-plain` without them, `libaio`; `psync`,
        /// one request in flight per program; `io_uring-sqpoll`, a thread of the kernel submits; on drives alone
        /// `io_uring-polled` and `spdk`. Without it the processor time is that of `io_uring`, and nothing is added. Writes of more
        /// than 1 MiB to md's RAID 4, 5 and 6 are left to workers where it is one of `io_uring`'s, also on disks
        engine: Option<Engine> = load("engine", Engine::TAKES),
        /// Distance between the starts of neighbouring jobs, which then have the same `span` [default: each job has its
        /// share of the span]
        job_step_sectors: Option<u64> = load("job_step", Takes::Sectors(0, u64::MAX)),
        /// Distance between the starts of neighbouring jobs as a share of the volume, instead of `job_step`
        job_step_percent: Option<u64> = load("job_step_percent", Takes::Count(0, 99)),
        /// Think time before each request
        think_ns: u64 = load("think", Takes::Time(0, YEAR_NS)).default("0ns"),
        /// Requests after each think time, which follow each other without one (fio's `thinktime_blocks`)
        think_every: u64 = load("think_every", Takes::Count(1, 1_000_000_000)).default("1"),
        /// Data rate limit per job, as in `2MB/s`; late blocks are counted, with `depth` buffers
        bytes_per_s: Option<u64> = load("rate", RATE),
        /// Request rate limit per job; where requests come by the clock (`arrivals`), how many come
        requests_per_s: Option<u64> = load("requests_per_s", Takes::Count(1, 1_000_000_000)),
        /// When requests come: `closed` when earlier ones are done, `depth` in flight; `fixed` and `poisson` by the
        /// clock, at equal or at random distances, `requests_per_s` a job, whether or not earlier ones are done
        arrivals: Arrivals = load("arrivals", Arrivals::TAKES).default("closed"),
        /// Requests that come together, where they come by the clock; the bursts are farther apart then
        burst: u32 = load("burst", Takes::Count(1, 1_000_000)).default("1"),
        /// Where random requests go: `uniform`; `zipf:1.1`, some blocks more often than others; `pareto:0.2`, as fio has it: 20 %
        /// of the blocks get 80 % of the requests; or `zones:80/20:20/80`, 80 % of the requests to the first 20 % of the range
        access: Option<Access> = load("access", Access::TAKES),
        /// Random requests that follow each other in order before the next random place (fio's `rw=randread:8`)
        in_a_row: u32 = load("in_a_row", Takes::Count(1, 1_000_000)).default("1"),
        /// Look for the highest rate at which this holds, as in `p99 <= 2ms` or `commit p99 <= 5ms`; the rates of all
        /// workloads of the group that come by the clock keep their proportions
        capacity: Option<Capacity> = load("capacity", Capacity::TAKES),
        /// Writes between flushes, for each of which the job waits (fsync) [default: none]
        flush_every: Option<u64> = load("flush_every", Takes::Count(1, 1_000_000_000)),
        /// Where requests come by the clock: all writes that came during a flush share the next one, as databases do; its
        /// time is that of the oldest
        group_commit: bool = load("group_commit", Takes::Switch).default("false"),
        /// Direct I/O; `false` reads or writes in order through the page cache of Linux, which reads ahead
        /// (`volume.read_ahead`), and whose write-back fills whole rows and keeps 256 MiB in flight, whatever `depth` says;
        /// latencies of writes are then those of the write-back
        direct: bool = load("direct", Takes::Switch).default("true"),
        /// Flush at the end, inside the time, once every request of the job is done (fio's `end_fsync`)
        end_flush: bool = load("end_fsync", Takes::Switch).default("false"),
    }
}

words! {
    /// What a request asks.
    pub enum Op {
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
    }
}

/// Sizes in sectors, and how often each comes relative to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<(u32, u32)>);

impl Sizes {
    /// What a key of sizes takes.
    pub const TAKES: Takes = Takes::Form {
        expects: "a list of sizes and weights, as in \"4KiB/60:64KiB/40\"",
        read: |text| parse_sizes(text).map(|_| text.to_string()),
    };
}

impl FromValue for Sizes {
    fn from_value(value: &Value) -> Option<Self> {
        parse_sizes(&value.to_string()).ok().map(Sizes)
    }
}

/// Jobs of one sort, side by side, that make requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// The workload's name.
    pub name: String,
    /// In which order they go over the volume.
    pub pattern: Pattern,
    /// Whether a write fills its block from /dev/zero first.
    pub fills: bool,
    /// What the workload's keys say.
    pub keys: RequestKeys,
    /// How far it goes at most if its keys do not say it.
    pub budget: Budget,
}

/// What counts as one request of a [`Budget`]: larger ones cost more to model.
const COUNTED_BYTES: f64 = 65_536.0;

/// How far requests go at most that have no end of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests, of all jobs together; one of more than 64 KiB counts as several.
    pub requests: u64,
    /// For how long, in ns.
    pub runtime_ns: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { requests: u64::MAX, runtime_ns: u64::MAX }
    }
}

/// What the page cache has with the volume at a time: less than a machine of 2 GiB lets be dirty, and more than md's
/// rows or any queue below takes. With 1 GiB in flight rates are the same within 2 %.
const WRITE_BACK_SECTORS: u64 = 256 << 11;

/// The largest request (1 TiB), as `block` takes it.
const SECTORS_MAX: u32 = 1 << 31;

impl Requests {
    /// Whether they go anywhere on the volume, at random.
    pub fn are_all_over(&self) -> bool {
        let RequestKeys { span_sectors, span_percent, .. } = &self.keys;
        self.pattern == Pattern::Random && span_sectors.is_none() && span_percent.is_none()
    }

    /// Whether they go to places at random.
    pub(crate) fn are_random(&self) -> bool {
        self.pattern == Pattern::Random
    }

    /// The requests that the keys in `section` say, in this order; where `fills`, a write fills its block
    /// from /dev/zero first.
    ///
    /// # Errors
    ///
    /// Where keys make no sense together; the message names them.
    pub(super) fn read(
        name: &str,
        section: &Section<'_>,
        pattern: Pattern,
        fills: bool,
    ) -> Result<Self> {
        let keys = RequestKeys::read(section);
        Requests::check_op(&keys, section)?;
        Requests::check(&keys, section, pattern)?;
        Requests::check_engine(&keys, section)?;
        let fills = fills && keys.op == Op::Write;
        Ok(Requests { name: name.into(), pattern, fills, keys, budget: Budget::default() })
    }

    /// The same, on a log's own drives of `sectors` if it goes to those: from their start, and no farther than their end.
    #[must_use]
    pub fn on_log(&self, sectors: u64) -> Self {
        let mut on_log = self.clone();
        (on_log.keys.offset_sectors, on_log.keys.offset_percent) = (0, None);
        on_log.keys.span_sectors = self.keys.span_sectors.map(|span| span.min(sectors));
        on_log
    }

    /// One job on a part of the volume, the first sector and how many; `fill_ns` is what filling a block
    /// takes.
    pub fn stream(&self, (start_sector, span_sectors): (u64, u64), fill_ns: u64) -> Stream {
        let keys = &self.keys;
        Stream {
            target: 0,
            op: match keys.op {
                Op::Read => block::Op::Read,
                Op::Write => block::Op::WRITE,
            },
            reads_percent: keys.reads_percent,
            pattern: self.pattern,
            start_sector,
            span_sectors,
            block_sectors: keys.block_sectors as u32,
            sizes: self.sizes().to_vec(),
            count: self.count(),
            sectors: self.amount_sectors(),
            until_ns: self.runtime_ns(),
            depth: self.depth() as u32,
            think_ns: keys.think_ns,
            think_every: keys.think_every,
            work_ns: if self.fills { fill_ns } else { 0 },
            arrivals: keys.arrivals.modelled(),
            burst: keys.burst,
            in_a_row: keys.in_a_row,
            skew: keys.access.as_ref().map_or(Skew::Uniform, |Access(skew)| skew.clone()),
            bytes_per_s: keys.bytes_per_s,
            requests_per_s: keys.requests_per_s,
            flush_every: keys.flush_every.unwrap_or(0),
            group_commit: keys.group_commit,
            background: false,
            end_flush: keys.end_flush,
        }
    }

    /// Whether its keys say where it ends: it is a job, and all of it is measured. Else it goes on until enough
    /// is known of its steady state.
    pub fn ends(&self) -> bool {
        let keys = &self.keys;
        keys.count.or(keys.amount_sectors).or(keys.runtime_ns).is_some()
    }

    /// How many requests each job makes at most; `u64::MAX` for as many as the other limits allow.
    pub fn count(&self) -> u64 {
        let each = (self.mean_bytes() / COUNTED_BYTES).ceil().max(1.0) as u64;
        let share = (self.budget.requests / self.keys.jobs / each).max(1);
        self.keys.count.unwrap_or(if self.ends() { u64::MAX } else { share })
    }

    /// Requests in flight per job: as its keys say, or its share of what the page cache writes back at a time.
    pub fn depth(&self) -> u64 {
        let share = WRITE_BACK_SECTORS / self.largest_sectors() / self.keys.jobs;
        let is_written_back = !self.keys.direct && self.writes();
        if is_written_back { share.max(self.keys.depth) } else { self.keys.depth }
    }

    /// What is left out after each block, in sectors.
    pub fn gap_sectors(&self) -> u64 {
        match self.pattern {
            Pattern::Strided(gap_sectors) => gap_sectors,
            Pattern::Sequential | Pattern::Random => 0,
        }
    }

    /// How much each job asks for, in sectors; `u64::MAX` for as much as the other limits allow.
    pub fn amount_sectors(&self) -> u64 {
        self.keys.amount_sectors.unwrap_or(u64::MAX)
    }

    /// For how long requests are made, in ns; `u64::MAX` for as long as the other limits allow.
    pub fn runtime_ns(&self) -> u64 {
        self.keys.runtime_ns.unwrap_or(if self.ends() { u64::MAX } else { self.budget.runtime_ns })
    }

    /// Sizes in sectors instead of the block's, and how often each comes.
    pub fn sizes(&self) -> &[(u32, u32)] {
        self.keys.sizes.as_ref().map_or(&[], |Sizes(sizes)| sizes)
    }

    /// Whether any of its requests reads.
    pub fn reads(&self) -> bool {
        self.keys.reads_percent.map_or(self.keys.op == Op::Read, |percent| percent > 0)
    }

    /// Whether any of its requests changes what the volume holds.
    pub fn writes(&self) -> bool {
        self.keys.reads_percent.map_or(self.keys.op == Op::Write, |percent| percent < 100)
    }

    /// What it is to do on real members, roughly; without an end of its own only its limit is known.
    pub(crate) fn toll(&self) -> Toll {
        let bare = Toll { is_bare: true, ..Toll::default() };
        if !self.ends() {
            let most_s = Some(self.budget.runtime_ns as f64 / 1e9);
            return Toll { command_max_s: most_s, ..bare };
        }
        if let Some(runtime_ns) = self.keys.runtime_ns {
            return Toll { seconds: runtime_ns as f64 / 1e9, ..bare };
        }
        let bytes = self.mean_bytes();
        let amount = self.keys.amount_sectors.map_or(f64::INFINITY, |s| (s * SECTOR_BYTES) as f64);
        let count = self.keys.count.map_or(f64::INFINITY, |count| count as f64);
        let each = count.min(amount / bytes);
        let all_bytes = (each * bytes * self.keys.jobs as f64) as u64;
        match self.pattern {
            Pattern::Sequential => Toll { bytes: all_bytes, ..bare },
            // One after the other as many as are under way at a time.
            Pattern::Random | Pattern::Strided(_) => {
                Toll { bytes: all_bytes, waits: (each / self.depth() as f64) as u64, ..bare }
            }
        }
    }

    /// The mean size of its requests, in bytes.
    pub fn mean_bytes(&self) -> f64 {
        let weights: f64 = self.sizes().iter().map(|&(_, weight)| f64::from(weight)).sum();
        let weighted =
            self.sizes().iter().map(|&(size, weight)| f64::from(size) * f64::from(weight));
        let sectors: f64 = weighted.sum::<f64>() / weights;
        (if weights > 0.0 { sectors } else { self.keys.block_sectors as f64 }) * SECTOR_BYTES as f64
    }

    /// The share of its requests that write.
    pub fn written_share(&self) -> f64 {
        let reads_all = if self.keys.op == Op::Read { 100 } else { 0 };
        1.0 - f64::from(self.keys.reads_percent.unwrap_or(reads_all)) / 100.0
    }

    /// Whether it waits for flushes.
    pub fn flushes(&self) -> bool {
        self.keys.end_flush || (self.keys.flush_every.is_some() && self.writes())
    }

    /// The size of the largest request, in sectors.
    pub fn largest_sectors(&self) -> u64 {
        let sizes = self.sizes().iter().map(|&(sectors, _)| u64::from(sectors));
        sizes.max().unwrap_or(0).max(self.keys.block_sectors)
    }

    /// How many requests each job makes at most, and of how many bytes.
    fn asked(&self) -> (u128, u128) {
        let sizes = self.sizes().iter().map(|&(sectors, _)| u64::from(sectors));
        let smallest = sizes.min().unwrap_or(self.keys.block_sectors).max(1);
        let requests = u128::from(self.count().min(self.amount_sectors().div_ceil(smallest)));
        let largest = u128::from(self.largest_sectors());
        let sectors = (requests * largest).min(u128::from(self.amount_sectors()));
        (requests, sectors * u128::from(SECTOR_BYTES))
    }

    /// How many requests its jobs make together, where its keys say it and no time ends them sooner.
    pub fn in_all(&self) -> Option<u64> {
        let is_counted = self.ends() && self.keys.runtime_ns.is_none();
        let all = self.asked().0.saturating_mul(u128::from(self.keys.jobs));
        is_counted.then(|| u64::try_from(all).unwrap_or(u64::MAX))
    }

    /// How many requests its jobs have in flight at most, together.
    pub fn in_flight(&self) -> u64 {
        let each = self.asked().0.min(u128::from(self.depth()));
        u64::try_from(each).unwrap_or(u64::MAX).saturating_mul(self.keys.jobs)
    }

    /// How long moving all that its jobs ask for takes at `bytes_per_s`; when its time is over, each still
    /// has all its requests in flight.
    pub fn moving_ns(&self, bytes_per_s: u64) -> u128 {
        let at_rate = |bytes: u128| bytes.saturating_mul(1_000_000_000) / u128::from(bytes_per_s);
        let largest_bytes = u128::from(self.largest_sectors()) * u128::from(SECTOR_BYTES);
        let in_flight = at_rate(u128::from(self.depth()) * largest_bytes);
        let running = u128::from(self.runtime_ns()) + u128::from(self.keys.jobs) * in_flight;
        at_rate(self.asked().1).saturating_mul(self.keys.jobs.into()).min(running)
    }

    /// How long each job thinks, or waits until its requests are due, if nothing else took any time; no
    /// longer than it runs.
    pub fn idle_ns(&self) -> u128 {
        let (requests, bytes) = self.asked();
        let due = |amount: u128, rate: Option<u64>| {
            rate.map_or(0, |rate| amount.saturating_mul(1_000_000_000) / u128::from(rate))
        };
        let waits = due(bytes, self.keys.bytes_per_s).max(due(requests, self.keys.requests_per_s));
        waits
            .max(requests / u128::from(self.keys.think_every) * u128::from(self.keys.think_ns))
            .min(u128::from(self.runtime_ns()))
    }

    /// Where each job's part of a volume of `sectors` starts, and how long it is.
    pub fn parts(&self, sectors: u64) -> Vec<(u64, u64)> {
        // Of bytes, and not of whole sectors.
        let share_bytes = |percent: u64| {
            u128::from(sectors) * u128::from(SECTOR_BYTES) * u128::from(percent) / 100
        };
        let block = self.keys.block_sectors;
        let bytes_of = |sectors: u64| u128::from(sectors) * u128::from(SECTOR_BYTES);
        let is_share = self.keys.offset_percent.or(self.keys.job_step_percent).is_some();
        let offset_bytes =
            self.keys.offset_percent.map_or(bytes_of(self.keys.offset_sectors), share_bytes);
        let step_bytes = self
            .keys
            .job_step_sectors
            .map(bytes_of)
            .or(self.keys.job_step_percent.map(share_bytes));
        // A share is no multiple of anything, and requests are at multiples of a block: like fio, at the next one.
        let start_of = |job: u64| {
            let bytes = offset_bytes + u128::from(job) * step_bytes.unwrap_or(0);
            let blocks = bytes.div_ceil(bytes_of(block));
            let start = if is_share { blocks * u128::from(block) } else { bytes / bytes_of(1) };
            u64::try_from(start).unwrap_or(u64::MAX)
        };
        let offset = start_of(0);
        let behind = sectors.saturating_sub(offset);
        let share = |percent: u64| (share_bytes(percent) / bytes_of(1)) as u64;
        let span = self.keys.span_sectors.or(self.keys.span_percent.map(|p| share(p).min(behind)));
        let jobs = 0..self.keys.jobs;
        if step_bytes.is_some() {
            let last = start_of(self.keys.jobs - 1);
            let span = span.unwrap_or(sectors.saturating_sub(last));
            return jobs.map(|job| (start_of(job), span)).collect();
        }
        let share = span.unwrap_or(behind) / self.keys.jobs;
        let share = if self.keys.jobs == 1 { share } else { share / block * block };
        jobs.map(|job| (offset.saturating_add(job.saturating_mul(share)), share)).collect()
    }
}

/// Reads sizes and their weights: `4KiB/60:64KiB/40`.
fn parse_sizes(text: &str) -> Result<Vec<(u32, u32)>> {
    let wrong = |part: &str| {
        Error::input(format!(
            "`{part}` is not a size and weight; write a list, as in `4KiB/60:64KiB/40`"
        ))
    };
    let sizes = text.split(':').map(|part| {
        let (sectors, weight) = units::parse_weighted(part).ok_or_else(|| wrong(part))?;
        let sectors = sectors.map_err(|error| wrong(part).followed_by(error))?;
        let sectors =
            u32::try_from(sectors).ok().filter(|sectors| (1..=SECTORS_MAX).contains(sectors));
        Ok((sectors.ok_or_else(|| wrong(part))?, weight))
    });
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn work(text: &str) -> Requests {
        let text = format!("[volume]\ndrives = \"wd740gd\"\n[workload.w]\n{text}");
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
        plan.trials[0].work.requests().unwrap().clone()
    }

    #[test]
    fn a_workload_ends_somewhere() {
        let ends = |text| {
            let work = work(text);
            (work.count(), work.amount_sectors(), work.runtime_ns())
        };
        let max = u64::MAX;
        let hour_ns = 3_600_000_000_000;
        assert_eq!(ends(""), (2_000_000, max, hour_ns));
        assert_eq!(ends("jobs = 8"), (250_000, max, hour_ns));
        assert_eq!(ends("block = \"1MiB\""), (125_000, max, hour_ns));
        assert_eq!(ends("runtime = \"2s\""), (max, max, 2_000_000_000));
        assert_eq!(ends("amount = 100"), (max, 100, max));
        assert_eq!(ends("count = 7\nruntime = '5ns'"), (7, max, 5));
    }

    #[test]
    fn jobs_share_what_the_page_cache_writes_back() {
        let in_flight = |text: &str| {
            let buffered = "kind = 'sequential'\nop = 'write'\ndirect = false\ndepth = 2\n";
            work(&format!("{buffered}{text}")).in_flight()
        };
        assert_eq!(in_flight("block = '1MiB'"), 256);
        assert_eq!(in_flight("block = '1MiB'\njobs = 4"), 256);
        assert_eq!(in_flight("block = '64KiB'\njobs = 4"), 4096);
        assert_eq!(in_flight("block = '512MiB'"), 2);
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
        // 30 % are 303 sectors, behind which a block of 8 begins at 304; 50 % are 505, and the next at 512. So has fio 3.33.
        let shares = work("jobs = 2\nblock = 8\noffset_percent = 30\njob_step_percent = 20");
        assert_eq!(shares.parts(1010), [(304, 498), (512, 498)]);
        // Of 1001 KiB: what fio 3.33 says of four jobs of 4 KiB at 1 %, each 1 % behind the last.
        let starts = |keys: &str| -> Vec<u64> {
            let work = work(&format!("jobs = 4\nblock = 8\n{keys}job_step_percent = 1"));
            work.parts(2002).iter().map(|&(start, _)| start * 512).collect()
        };
        assert_eq!(starts("offset_percent = 1\n"), [12_288, 24_576, 32_768, 45_056]);
        assert_eq!(starts(""), [0, 12_288, 24_576, 32_768]);
        assert_eq!(starts("offset = 2\n")[..3], [4096, 12_288, 24_576]);
    }

    #[test]
    fn sizes_are_read_with_their_weights() {
        assert_eq!(work("sizes = \"4k/60:64KiB/40\"").sizes(), [(8, 60), (128, 40)]);
        for bad in ["4k", "4k/", "4k/0", "0/1", "4k/1:", "100B/1"] {
            assert!(
                parse_sizes(bad).unwrap_err().to_string().contains("4KiB/60:64KiB/40"),
                "{bad}"
            );
        }
    }
}
