//! From the write buffer to flash: what each write costs there, and when there is room again.
//!
//! Flash takes a stripe at a time, and the room of all of it is free at once. That is why a buffer that is full
//! lets writes in by bursts, and why their latencies have the tail that they have.

use super::place::mixed;
use super::runs::Runs;
use super::spec::{Fill, FlashSpec, Slc, moving_ns};
use crate::Nanos;
use block::{Request, SECTOR_BYTES};
use std::collections::VecDeque;

/// What flash takes for a write.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) whole_ns: Nanos,
    /// The part of it that copies of other data cause.
    pub(super) garbage_ns: Nanos,
}

/// A stripe that is full, or that was closed early.
#[derive(Clone, Copy, Debug)]
struct Stripe {
    /// When flash begins with it.
    start_at: Nanos,
    /// When its room is free.
    free_at: Nanos,
    /// When a power cut cannot lose it any more.
    durable_at: Nanos,
    /// Bytes written since the drive was made, up to its end.
    upto_bytes: u64,
    /// Writes since the drive was made, up to its end.
    upto_writes: u64,
    /// The share of garbage collection in its time, in 1/1024.
    garbage: u64,
}

/// The buffer, and what takes from it.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    spec: FlashSpec,
    /// Closed stripes, oldest first. Those whose room was free long ago are gone.
    stripes: VecDeque<Stripe>,
    /// Bytes up to the end of the last stripe that is gone.
    gone_bytes: u64,
    /// When flash has taken all closed stripes, and when the last of them is durable.
    free_at: Nanos,
    durable_at: Nanos,
    /// The stripe that is filling: its bytes, what it costs, and when its last write is done.
    open_bytes: u64,
    open_cost: Cost,
    open_done_at: Nanos,
    /// Bytes and writes since the drive was made, and the writes in closed stripes.
    bytes: u64,
    writes: u64,
    closed_writes: u64,
    runs: Runs,
    slc_left_bytes: u64,
    slc_full: bool,
    /// Up to when the emptying of the SLC cache is accounted for.
    folded_at: Nanos,
    erased_bytes: u64,
}

/// What an entry of the drive's tables points to, in bytes.
const MAPPED_BYTES: u64 = 4096;

impl Drain {
    pub(super) fn new(spec: &FlashSpec) -> Self {
        let capacity = spec.sectors * SECTOR_BYTES;
        let erased_bytes = match spec.fill {
            Fill::Fresh => capacity + spec.reserve_bytes,
            Fill::Sequential | Fill::Random => spec.reserve_bytes,
            Fill::Steady => 0,
        };
        Drain {
            stripes: VecDeque::new(),
            gone_bytes: 0,
            free_at: 0,
            durable_at: 0,
            open_bytes: 0,
            open_cost: Cost::default(),
            open_done_at: 0,
            bytes: 0,
            writes: 0,
            closed_writes: 0,
            runs: Runs::new(),
            slc_left_bytes: spec.slc.map_or(0, |slc| slc.left_bytes.min(slc.bytes)),
            slc_full: false,
            folded_at: 0,
            erased_bytes,
            spec: spec.clone(),
        }
    }

    /// Takes a write that is asked for at `now`, whose data is there at `there_at`, and which is done `delay_ns` after its
    /// last byte has room. Returns when that is, and how much of the wait garbage collection caused.
    pub(super) fn admit(
        &mut self,
        now: Nanos,
        there_at: Nanos,
        request: &Request,
        delay_ns: Nanos,
    ) -> (Nanos, Nanos) {
        // Not what flash takes until the data is there: reads come before then.
        self.forget(now);
        let mut rest = u64::from(request.sectors) * SECTOR_BYTES;
        let (mut cost, mut whole) = (self.cost(there_at, request, rest), rest);
        let (mut at, mut garbage_ns) = (there_at, 0);
        while rest > 0 {
            let piece = rest.min(self.spec.stripe_bytes - self.open_bytes);
            let (room_at, garbage) = self.room_at(piece);
            let wait = room_at.saturating_sub(at);
            garbage_ns += wait * garbage / 1024;
            at += wait;
            // A stripe that ends within a write does not make it durable.
            self.writes += u64::from(piece == rest);
            self.fill(at + delay_ns, piece, cost.take(piece, whole));
            (rest, whole) = (rest - piece, whole - piece);
        }
        (at, garbage_ns)
    }

    /// Puts `piece` bytes into the open stripe; they are done at `done_at`.
    fn fill(&mut self, done_at: Nanos, piece: u64, cost: Cost) {
        self.bytes += piece;
        self.open_bytes += piece;
        self.open_cost.whole_ns += cost.whole_ns;
        self.open_cost.garbage_ns += cost.garbage_ns;
        self.open_done_at = self.open_done_at.max(done_at);
        if self.open_bytes == self.spec.stripe_bytes {
            self.close(done_at);
        }
    }

    /// A change without data, such as a discard, is durable with the writes before it.
    pub(super) fn note(&mut self, at: Nanos, discarded_bytes: u64) {
        self.writes += 1;
        self.open_done_at = self.open_done_at.max(at);
        let most = self.spec.sectors * SECTOR_BYTES + self.spec.reserve_bytes;
        self.erased_bytes = (self.erased_bytes + discarded_bytes).min(most);
    }

    /// Whether writes wait in a stripe that is not full.
    pub(super) fn is_open(&self) -> bool {
        self.open_bytes > 0 || self.closed_writes < self.writes
    }

    /// Sends the open stripe to flash at `now`. Returns when everything so far is durable.
    pub(super) fn close(&mut self, now: Nanos) -> Nanos {
        if self.is_open() {
            let start_at = self.free_at.max(self.open_done_at).max(now);
            let Cost { whole_ns, garbage_ns } = self.open_cost;
            self.free_at = start_at + whole_ns;
            self.durable_at = self.durable_at.max(self.free_at + self.spec.program_ns);
            self.stripes.push_back(Stripe {
                start_at,
                free_at: self.free_at,
                durable_at: self.durable_at,
                upto_bytes: self.bytes,
                upto_writes: self.writes,
                garbage: garbage_ns * 1024 / whole_ns.max(1),
            });
            self.closed_writes = self.writes;
            (self.open_bytes, self.open_cost) = (0, Cost::default());
        }
        self.durable_at
    }

    /// The next stripe that becomes durable: when, and the writes up to its end.
    pub(super) fn first_durable(&self) -> Option<(Nanos, u64)> {
        self.stripes.front().map(|stripe| (stripe.durable_at, stripe.upto_writes))
    }

    /// The first stripe is durable, and everybody knows.
    pub(super) fn pop(&mut self) {
        let gone = self.stripes.pop_front();
        self.gone_bytes = gone.map_or(self.gone_bytes, |stripe| stripe.upto_bytes);
    }

    /// Whether flash programs at `at`; a read of `unit_ns` at that time takes as much from it.
    pub(super) fn is_programming(&mut self, at: Nanos, unit_ns: Nanos) -> bool {
        let last = self.stripes.iter().rev().find(|stripe| stripe.start_at <= at);
        let programs = last.is_some_and(|stripe| at < stripe.free_at);
        if programs {
            self.open_cost.whole_ns += unit_ns / u64::from(self.spec.units);
        }
        programs
    }

    /// What is in flight at `now` ends there.
    pub(super) fn abort(&mut self, now: Nanos, lose: bool) {
        self.open_done_at = self.open_done_at.min(now);
        if lose {
            self.stripes.clear();
            self.gone_bytes = self.bytes;
            self.closed_writes = self.writes;
            (self.open_bytes, self.open_cost) = (0, Cost::default());
            self.free_at = self.free_at.min(now);
            self.durable_at = self.durable_at.min(now);
        }
    }

    /// With power-loss protection nobody waits for a stripe to become durable.
    fn forget(&mut self, now: Nanos) {
        while self.spec.power_loss_protection
            && self.stripes.front().is_some_and(|stripe| stripe.free_at <= now)
        {
            self.pop();
        }
    }

    /// When `piece` more bytes have room, and the share of garbage collection in what is waited for.
    fn room_at(&self, piece: u64) -> (Nanos, u64) {
        let Some(needed) = (self.bytes + piece).checked_sub(self.spec.buffer_bytes) else {
            return (0, 0);
        };
        if needed <= self.gone_bytes {
            return (0, 0);
        }
        let first = self.stripes.partition_point(|stripe| stripe.upto_bytes < needed);
        self.stripes.get(first).map_or((0, 0), |stripe| (stripe.free_at, stripe.garbage))
    }

    /// What flash takes for `request`, which arrives at `now`.
    fn cost(&mut self, now: Nanos, request: &Request, bytes: u64) -> Cost {
        let spec = &self.spec;
        let partial = |byte: u64| u64::from(!byte.is_multiple_of(MAPPED_BYTES));
        let (start, end) = (request.sector * SECTOR_BYTES, request.end() * SECTOR_BYTES);
        let is_within_one = start / MAPPED_BYTES == (end - 1) / MAPPED_BYTES;
        let partials = if is_within_one {
            partial(start).max(partial(end))
        } else {
            partial(start) + partial(end)
        };
        let partial_ns = partials * spec.partial_write_ns;
        let (least_ns, amplification) =
            (spec.random_write_ns, u64::from(spec.write_amplification_percent));
        let moved_ns = moving_ns(bytes, self.rate(now, bytes));
        let has_erased = self.erased_bytes >= bytes;
        self.erased_bytes = self.erased_bytes.saturating_sub(bytes);
        let garbage_ns = if has_erased { 0 } else { moved_ns * (amplification - 100) / 100 };
        let whole_ns = least_ns.saturating_sub(moved_ns) + garbage_ns;
        let further = self.runs.write(request, Cost { whole_ns, garbage_ns });
        Cost { whole_ns: moved_ns + partial_ns + further.whole_ns, ..further }
    }

    /// The rate at which flash takes `bytes` that arrive at `now`, in bytes a second.
    fn rate(&mut self, now: Nanos, bytes: u64) -> u64 {
        let Some(slc) = self.spec.slc else { return self.spec.drain_bytes_per_s };
        self.fold(now, slc);
        if !self.slc_full {
            if let Some(left) = self.slc_left_bytes.checked_sub(bytes) {
                self.slc_left_bytes = left;
                return self.spec.drain_bytes_per_s;
            }
            self.slc_full = true;
        }
        slc.full_bytes_per_s
    }

    /// Empties the SLC cache: while it is full, and while nothing is written.
    fn fold(&mut self, now: Nanos, slc: Slc) {
        let since = if self.slc_full { self.folded_at } else { self.folded_at.max(self.free_at) };
        let idle_ns = u128::from(now.saturating_sub(since));
        let folded = idle_ns * u128::from(slc.fold_bytes_per_s) / 1_000_000_000;
        self.folded_at = self.folded_at.max(now);
        let left = u128::from(self.slc_left_bytes) + folded;
        self.slc_left_bytes = left.min(u128::from(slc.bytes)) as u64;
        self.slc_full &= self.slc_left_bytes < slc.bytes;
    }
}

impl Cost {
    pub(super) fn of_garbage(ns: Nanos) -> Self {
        Cost { whole_ns: ns, garbage_ns: ns }
    }

    /// The same with so much of garbage collection.
    pub(super) fn with_garbage(self, garbage_ns: Nanos) -> Self {
        Cost { whole_ns: self.whole_ns - self.garbage_ns + garbage_ns, garbage_ns }
    }

    /// Takes out the part for `piece` of `whole` bytes.
    fn take(&mut self, piece: u64, whole: u64) -> Cost {
        let part = |ns: Nanos| (u128::from(ns) * u128::from(piece) / u128::from(whole)) as Nanos;
        let taken = Cost { whole_ns: part(self.whole_ns), garbage_ns: part(self.garbage_ns) };
        self.whole_ns -= taken.whole_ns;
        self.garbage_ns -= taken.garbage_ns;
        taken
    }
}

/// How long a read waits for a unit that programs, by chance of `seed`; half of `twice_mean_ns` in the mean. What a unit is
/// at is short or long (a program of few or of many bits a cell, a copy, an erasure), so waits have no longest: a half of
/// them ends in the first step, a half of the others in the second, and so on.
pub(super) fn program_wait_ns(seed: u64, twice_mean_ns: Nanos) -> Nanos {
    let step_ns = twice_mean_ns / 3;
    let chance = mixed(seed);
    let steps = chance.leading_zeros();
    let within = chance.checked_shl(steps + 1).unwrap_or(0);
    let part_ns = (u128::from(within) * u128::from(step_ns)) >> 64;
    u64::from(steps) * step_ns + part_ns as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any wait up to the longest was as likely as any other: beside writes of an i3en the slowest twentieth of its reads
    /// waits 3 to 4 times as long as the mean.
    #[test]
    fn few_reads_wait_long_for_a_program() {
        let mut waits: Vec<Nanos> = (0..100_000).map(|seed| program_wait_ns(seed, 300)).collect();
        waits.sort_unstable();
        let mean = waits.iter().sum::<Nanos>() as f64 / waits.len() as f64;
        assert!((mean / 150.0 - 1.0).abs() < 0.02, "{mean}");
        let quantiles = [50, 75, 95].map(|percent| waits[percent * 1000]);
        assert!(quantiles[0].abs_diff(100) < 3 && quantiles[1].abs_diff(200) < 5);
        assert!(quantiles[2].abs_diff(440) < 10, "{quantiles:?}");
    }
}
