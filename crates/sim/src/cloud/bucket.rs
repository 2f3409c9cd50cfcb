//! What a command costs, and when a limit lets it pass: accounting and token buckets.

use super::spec::{Counts, Limit};
use crate::Nanos;
use block::Op;

/// What a command is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Billed I/Os.
    pub(crate) ios: u64,
    /// Bytes asked for.
    pub(crate) bytes: u64,
    /// Bytes in whole I/O units.
    pub(crate) unit_bytes: u64,
    /// Whether it changes the volume.
    pub(crate) writes: bool,
}

/// A token bucket, kept as the time that it needs to be full again: its debt.
///
/// A bucket of 3000 I/Os a second with a depth of 10 ms holds 30 of them. When it is full, 30 commands pass at
/// once and the bucket owes 10 ms; the next waits for 1/3000 s.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    limit: Limit,
    /// When it is full again if nothing more passes.
    full_at: Nanos,
}

impl Bucket {
    pub(crate) fn new(limit: Limit) -> Self {
        Bucket { full_at: if limit.starts_full { 0 } else { limit.kept_ns }, limit }
    }

    pub(crate) fn limit(&self) -> &Limit {
        &self.limit
    }

    /// When a command that comes at `now` may pass: when the bucket is not overdrawn.
    pub(crate) fn opens_at(&self, now: Nanos, cost: &Cost) -> Nanos {
        if self.tokens(cost) == 0 {
            now
        } else {
            now.max(self.full_at.saturating_sub(self.limit.kept_ns))
        }
    }

    /// It passes at `at`.
    pub(crate) fn take(&mut self, at: Nanos, cost: &Cost) {
        let rate = if cost.writes { self.limit.writes_per_s } else { self.limit.reads_per_s };
        let tokens = u128::from(self.tokens(cost));
        let taken_ns = (tokens * 1_000_000_000 + u128::from(rate) / 2) / u128::from(rate);
        self.full_at = self.full_at.max(at) + taken_ns as Nanos;
    }

    /// Of what it owes at `now`, what the commands that pass were ahead of the rate: in tokens of reads. A bucket that
    /// is empty owes no more for the command that may overdraw it: the next one waits that long.
    pub(crate) fn owed(&self, now: Nanos) -> f64 {
        let owed_ns = self.full_at.saturating_sub(now).min(self.limit.kept_ns);
        owed_ns as f64 * self.limit.reads_per_s as f64 / 1e9
    }

    /// The commands that wait are aborted: they are charged no more than what the bucket holds.
    pub(crate) fn release(&mut self, now: Nanos) {
        self.full_at = self.full_at.min(now + self.limit.kept_ns);
    }

    fn tokens(&self, cost: &Cost) -> u64 {
        match self.limit.counts {
            Counts::Ios => cost.ios,
            Counts::Bytes => cost.bytes,
            Counts::UnitBytes => cost.unit_bytes,
        }
    }
}

/// How many sequences of commands are remembered: more than a volume has readers and writers at a time.
const RUNS: usize = 8;

/// A sequence of commands that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// The first sector.
    start: u64,
    /// The sector after the last; 0 where there is no sequence.
    end: u64,
    writes: bool,
    /// Of the billed I/Os, the bytes that nothing was asked of.
    left_bytes: u64,
    /// On SSD volumes, when the first of the commands in the last billed I/O is done; on those of disks, when all commands are.
    done_at: Nanos,
    /// Whether the command that came last began that I/O.
    is_begun: bool,
}

/// Counts I/Os as they are billed.
///
/// With a unit of 256 KiB a command of 512 KiB is two I/Os. Eight commands of 32 KiB are eight; where the
/// volume merges and each continues the one before it, they are one. On SSD volumes an I/O holds only commands that are
/// there at the same time: once one of them is acknowledged, the next that comes begins another (our estimate; the maker says
/// "attempts to merge"). Volumes of disks, whose unit is larger, are billed by sequences, and what is there at the same time makes a
/// sequence in whatever order it came: md hands in the pieces of a large request out of order (our estimate, too).
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    unit_bytes: u64,
    merges: bool,
    runs: [Run; RUNS],
    oldest: usize,
    /// The run of the last command, if that is of one.
    last: Option<usize>,
}

/// The largest unit of SSD volumes.
const SSD_UNIT_BYTES: u64 = 256 << 10;

impl Meter {
    pub(crate) fn new(unit_bytes: u32, merges: bool) -> Self {
        Meter {
            unit_bytes: unit_bytes.into(),
            merges,
            runs: [Run::default(); RUNS],
            oldest: 0,
            last: None,
        }
    }

    pub(crate) fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// What a command costs that comes at `now`.
    pub(crate) fn charge(&mut self, now: Nanos, op: Op, sector: u64, bytes: u64) -> Cost {
        let writes = op.modifies();
        // What moves no data is one I/O of no bytes.
        if !matches!(op, Op::Read | Op::Write { .. }) {
            self.last = None;
            return Cost { ios: u64::from(op != Op::Flush), bytes: 0, unit_bytes: 0, writes };
        }
        let unit_bytes = self.unit_bytes;
        let at = self.continued(now, sector, writes);
        self.runs[at].end = sector + bytes / block::SECTOR_BYTES;
        self.take_in_the_next(now, at);
        let run = &mut self.runs[at];
        let beyond = bytes.saturating_sub(run.left_bytes);
        let ios = beyond.div_ceil(unit_bytes);
        run.is_begun = ios > 0;
        run.left_bytes = run.left_bytes + ios * unit_bytes - bytes;
        self.last = Some(at);
        Cost { ios, bytes, unit_bytes: ios * unit_bytes, writes }
    }

    /// When the command that was charged last is done.
    pub(crate) fn is_done_at(&mut self, at: Nanos) {
        let is_of_ssds = self.is_of_ssds();
        if let Some(last) = self.last {
            let run = &mut self.runs[last];
            run.done_at = match (is_of_ssds, run.is_begun) {
                (true, true) => at,
                (true, false) => run.done_at.min(at),
                (false, _) => run.done_at.max(at),
            };
        }
    }

    fn is_of_ssds(&self) -> bool {
        self.unit_bytes <= SSD_UNIT_BYTES
    }

    /// The sequence that a command continues; a new one where it continues none.
    fn continued(&mut self, now: Nanos, sector: u64, writes: bool) -> usize {
        let is_of_ssds = self.is_of_ssds();
        let is_next = |run: &Run| {
            let is_there = now < run.done_at || !is_of_ssds;
            run.end == sector && run.writes == writes && sector > 0 && is_there
        };
        let found = self.runs.iter().position(is_next).filter(|_| self.merges);
        found.unwrap_or_else(|| {
            let free = self.runs.iter().position(|run| run.end == 0);
            let at = free.unwrap_or_else(|| {
                self.oldest = (self.oldest + 1) % RUNS;
                self.oldest
            });
            self.runs[at] = Run { start: sector, writes, ..Run::default() };
            at
        })
    }

    /// On a volume of disks the sequence `at` takes in one that begins where it ends, if that has commands that are not done.
    fn take_in_the_next(&mut self, now: Nanos, at: usize) {
        if self.is_of_ssds() || !self.merges {
            return;
        }
        let Run { end, writes, .. } = self.runs[at];
        let is_next = |run: &Run| {
            run.start == end && run.end > end && run.writes == writes && now < run.done_at
        };
        if let Some(next) = self.runs.iter().position(is_next) {
            let next = std::mem::take(&mut self.runs[next]);
            let run = &mut self.runs[at];
            run.end = next.end;
            run.left_bytes += next.left_bytes;
            run.done_at = run.done_at.max(next.done_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn ios(meter: &mut Meter, op: Op, at_kib: u64, kib: u64) -> u64 {
        let ios = meter.charge(0, op, at_kib * 2, kib * KIB).ios;
        meter.is_done_at(1);
        ios
    }

    /// Appends of which each waits for the one before are an I/O each on SSD volumes, and one a unit on those of disks.
    #[test]
    fn what_is_done_before_the_next_comes_is_not_merged() {
        let billed = |unit_bytes| {
            let mut meter = Meter::new(unit_bytes, true);
            let append = |n: u64| {
                let ios = meter.charge(n, Op::WRITE, 16 * (n + 1), 8 * KIB).ios;
                meter.is_done_at(n + 1);
                ios
            };
            (0..32).map(append).sum::<u64>()
        };
        assert_eq!([billed(256 * 1024), billed(1024 * 1024)], [32, 1]);
        // Two at a time are one I/O of 16 KiB, and a flush between them changes nothing.
        let mut meter = Meter::new(256 * 1024, true);
        let append = |n: u64| {
            let ios = meter.charge(n / 2, Op::WRITE, 16 * (n + 1), 8 * KIB).ios;
            meter.is_done_at(n / 2 + 1);
            meter.charge(n / 2, Op::Flush, 0, 0);
            meter.is_done_at(n / 2);
            ios
        };
        assert_eq!((0..32).map(append).sum::<u64>(), 16);
    }

    /// With `depth` in flight, each asked when the one before by so many is done, an I/O holds `depth` of them at most.
    #[test]
    fn an_io_holds_only_what_was_in_flight_together() {
        for depth in [1, 2, 3, 8, 16] {
            let mut meter = Meter::new(256 * 1024, true);
            let append = |n: u64| {
                let ios = meter.charge(n, Op::WRITE, 32 * (n + 1), 16 * KIB).ios;
                meter.is_done_at(n + depth);
                ios
            };
            assert_eq!((0..240).map(append).sum::<u64>(), 240 / depth, "{depth} in flight");
        }
    }

    /// What md makes of 4 MiB on four members with copies and chunks of 512 KiB: one member's pieces in its order, in units of 256 KiB.
    #[test]
    fn pieces_in_flight_together_are_one_sequence_on_disks() {
        const PIECES: [(u64, u64); 5] = [(0, 2), (3, 1), (6, 2), (4, 2), (2, 1)];
        let billed = |unit_bytes, pieces: &[(u64, u64)]| {
            let mut meter = Meter::new(unit_bytes, true);
            let mut ios = 0;
            for request in 0..100 {
                for &(at, units) in pieces {
                    let sector = 512 * (8 * (request + 1) + at);
                    ios += meter.charge(request, Op::WRITE, sector, units * 256 * KIB).ios;
                    meter.is_done_at(request + 1);
                }
            }
            ios
        };
        // One unit is begun ahead.
        assert_eq!(billed(1 << 20, &PIECES), 201);
        assert_eq!(billed(1 << 20, &[(0, 2), (2, 2), (4, 2), (6, 2)]), 200);
        assert_eq!(billed(256 << 10, &PIECES), 800, "whole units");
    }

    /// One that is done before what precedes it comes is no part of its sequence: going backwards is not sequential.
    #[test]
    fn what_is_done_is_not_continued_at_its_start() {
        let mut meter = Meter::new(1024 * 1024, true);
        let back = |n: u64| {
            let ios = meter.charge(n, Op::Read, 1024 * (64 - n), 512 * KIB).ios;
            meter.is_done_at(n + 1);
            ios
        };
        assert_eq!((0..32).map(back).sum::<u64>(), 32);
    }

    #[test]
    fn a_command_is_billed_by_whole_units() {
        let mut meter = Meter::new(256 * 1024, false);
        for (kib, expected) in [(4, 1), (256, 1), (257, 2), (512, 2), (1024, 4)] {
            assert_eq!(ios(&mut meter, Op::Read, 4096, kib), expected, "{kib} KiB");
        }
        assert_eq!(meter.charge(0, Op::Flush, 0, 0).ios, 0);
        assert_eq!(meter.charge(0, Op::Discard, 0, 0).ios, 1);
    }

    #[test]
    fn only_what_follows_in_the_same_direction_is_merged() {
        let mut meter = Meter::new(256 * 1024, true);
        let eight: u64 = (0..8).map(|n| ios(&mut meter, Op::Read, 32 * (n + 1), 32)).sum();
        assert_eq!(eight, 1);
        assert_eq!(ios(&mut meter, Op::Read, 32 * 9, 32), 1, "the first unit is full");
        assert_eq!(ios(&mut meter, Op::WRITE, 32 * 10, 32), 1);
        assert_eq!(ios(&mut meter, Op::Read, 32 * 10, 32), 0, "the reads go on beside it");
        let scattered: u64 = (0..8).map(|n| ios(&mut meter, Op::Read, 4096 * n, 32)).sum();
        assert_eq!(scattered, 8);
    }

    /// Whatever is asked in sequence, as many units are billed as it covers, and one at most that is not full.
    #[test]
    fn a_sequence_costs_its_bytes() {
        for step_kib in [4, 60, 64, 100, 256, 300, 1000] {
            let mut meter = Meter::new(256 * 1024, true);
            let sum: u64 =
                (0..50).map(|n| ios(&mut meter, Op::Read, 1000 + n * step_kib, step_kib)).sum();
            assert_eq!(sum, (50 * step_kib).div_ceil(256), "steps of {step_kib} KiB");
        }
    }

    #[test]
    fn a_full_bucket_lets_its_depth_pass_and_then_its_rate() {
        let limit = Limit {
            counts: Counts::Ios,
            reads_per_s: 3000,
            writes_per_s: 1500,
            kept_ns: 10_000_000,
            is_credit: false,
            starts_full: true,
        };
        let mut bucket = Bucket::new(limit);
        let read = Cost { ios: 1, bytes: 4096, unit_bytes: 0, writes: false };
        let at: Vec<Nanos> = (0..33)
            .map(|_| {
                let at = bucket.opens_at(0, &read);
                bucket.take(at, &read);
                at
            })
            .collect();
        assert_eq!(at[..30], [0; 30]);
        // 30 tokens of 333,333 ns are not quite 10 ms, so one more passes.
        assert_eq!(at[30..], [0, 333_323, 666_656]);
        // It holds 30, and owes no more.
        assert!((bucket.owed(at[32]) - 30.0).abs() < 0.01);
        let write = Cost { writes: true, ..read };
        let before = bucket.opens_at(0, &read);
        bucket.take(before, &write);
        assert_eq!(bucket.opens_at(0, &read) - before, 666_667);
        let empty = Bucket::new(Limit { starts_full: false, ..limit });
        assert_eq!(empty.opens_at(0, &read), 0);
        assert!((empty.owed(0) - 30.0).abs() < 1e-9);
    }
}
