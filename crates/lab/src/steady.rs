//! How long a trial lasts, and what of it counts: its steady state, or all of a job.
//!
//! Requests with a length of their own (`count`, `amount`, `runtime`) are a job: all of it is measured, and it is said
//! whether a longer one would give another rate. Requests without one go on until the interval of their rate is narrow
//! enough, and what came before the steady state is left out.

mod bits;
mod load;
mod restored;
mod turns;

use crate::catalogue::Model;
use crate::experiment::{Member, Trial};
use crate::record::{Measured, streams};
use crate::workload::{Requests, Work};
use load::Ending;
use sim::{Batches, Outcome, Recorded};
use store::steady::{Series, Steadiness};

/// What is known of the write caches below a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caches {
    /// What they hold is counted: each write says when it is durable. They have room for this many bytes.
    Counted(u64),
    /// Nobody says what they hold. Their first bytes, so many, count as held.
    Assumed(u64),
    /// The same, and it is said what they held at the end. A job with an end has filled them no further than that; work without
    /// one may have filled them before what is measured began, and nothing is known of then.
    Told {
        /// What they have room for, in bytes.
        room: u64,
        /// What they held at the end, in bytes.
        held: u64,
    },
}

impl Caches {
    /// What they have room for, in bytes.
    fn room(self) -> u64 {
        match self {
            Caches::Counted(room) | Caches::Assumed(room) | Caches::Told { room, .. } => room,
        }
    }
}

/// What is known of how long requests wait for bits of a write-intent bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    /// Each request says how long it waited, and where nobody keeps a bitmap, none did.
    Counted,
    /// A kernel keeps the bitmap and does not say: only how many writes there were, and how long the bits have been kept.
    Timed,
}

/// Fewer requests have no percentiles to speak of.
const REQUESTS_MIN: u64 = 1000;

/// More requests than these are enough, however many are in flight: of small ones the page cache has many.
const REQUESTS_ENOUGH: f64 = 500_000.0;

/// How often what caches hold is moved before a trial may end.
const TURNOVERS: u64 = 8;

/// A job is not steady where caches have taken more than this share of it, or where its rate differs by more from that
/// of its steady part: less than what the models of drives err by (`store::WORST_DRIVE_ERROR`).
const BIAS_MAX: f64 = 0.05;

/// A job is not steady where its rate goes one way all the time, and the second half's is so many times the first
/// half's or the first half's the second's: more than between the halves of a disk that is read from its outer to its
/// inner tracks, whose rates are as 2 to 1 at most.
const DRIFT_MAX: f64 = 1.5;

/// A trial is not steady where burst credit has paid for more than this share of its I/Os.
const CREDIT_MAX: f64 = 0.02;

/// The sample of that share, kept where it is more.
const CREDIT_SAMPLE: &str = "credit_share";

/// A trial is not steady where media caches of shingled disks have taken more than this share of its commands, and not
/// put them into their bands.
const DEFERRED_MAX: f64 = 0.02;

/// The sample of that share, kept where it is more.
const DEFERRED_SAMPLE: &str = "deferred_share";

/// How many times as long a trial would have to be beside what is restored, where it is too short for that.
const RESTORED_SAMPLE: &str = "rebuild_needs_times";

/// After how many batches a warm-up may end: where there are marks from which on there is a result.
const STARTS: [usize; 7] = [0, 1, 2, 4, 8, 16, 32];

/// What is told of a trial's steadiness, where there is something to tell.
pub(crate) const SAMPLES: [&str; 6] =
    ["steady", "warm_up_s", "interval_percent", LATENCY_INTERVAL, "cached_share", "needed_mib"];

/// How sure the mean latency is where requests come by the clock.
const LATENCY_INTERVAL: &str = "latency_interval_percent";

/// That requests came faster than they were done, where they did.
const OVERLOADED: &str = "overloaded";

/// The share of what was moved in the second half that only caches hold more of since.
fn cached(trial: &Trial, caches: Caches, batches: &Batches) -> f64 {
    let series = series(trial, caches, batches);
    series.judge(&STARTS, trial.precision).map_or(1.0, |said| said.held_share)
}

/// Whether `trial` has an end of its own.
fn ends(trial: &Trial) -> bool {
    trial.trace().is_some() || trial.requests().any(Requests::ends)
}

/// Whether what `batches` say of `trial` is enough; a job goes on to its end.
pub(crate) fn enough(trial: &Trial, caches: Caches, bits: Bits, batches: &Batches) -> bool {
    if ends(trial) {
        return false;
    }
    if !outlasts_saved(trial, batches) || !bits::are_set(trial, bits, batches) {
        return false;
    }
    if !turns::are_seen(trial, batches) || restored::too_short_by(trial, batches.closed_ns()) > 1.0
    {
        return false;
    }
    if load::is_paced(trial) {
        return load::enough(trial, batches) && cached(trial, caches, batches) <= trial.precision;
    }
    let series = series(trial, caches, batches);
    series.judge(&STARTS, trial.precision).is_some_and(|said| {
        let requests: u64 = series.requests[said.warm_up..].iter().sum();
        requests >= REQUESTS_MIN
            && requests as f64 >= (in_flight(trial) as f64 / trial.precision).min(REQUESTS_ENOUGH)
            && (requests as f64 >= REQUESTS_ENOUGH || has_turned_over(&series, said.warm_up))
            && said.half_width <= trial.precision
            && is_steady(&said, trial.precision)
            && said.likely_slope <= trial.precision
    })
}

/// Whether so much was moved since the warm-up that it has gone through the caches again and again. What they hold may
/// stay the same for a while at a rate that does not last: eight disks with their caches just filled made 1490 MB/s for two
/// seconds, and 440 from then on.
fn has_turned_over(series: &Series, warm_up: usize) -> bool {
    let moved: u64 = series.bytes[warm_up..].iter().sum();
    // For a moment they may hold little.
    let held = series.held_bytes[warm_up.min(series.held_bytes.len())..].iter().max();
    moved >= TURNOVERS * held.copied().unwrap_or(0)
}

/// So many times as long as a cloud volume's limit is saved up, over the precision, a trial goes on: what passes at once in
/// the beginning is a quarter of the precision then.
const SAVED_TIMES: f64 = 4.0;

/// Whether what limits of cloud volumes have saved up when the trial begins is little of what passes in it. Two volumes of
/// 16,000 IOPS, 10 ms of which are saved up, did 38,000 a second for the 33 ms of a trial.
fn outlasts_saved(trial: &Trial, batches: &Batches) -> bool {
    let setup = &trial.setup;
    let volumes = [Some(&setup.volume), setup.log.as_ref()].into_iter().flatten();
    let drives = volumes.flat_map(|volume| &volume.members).filter_map(Member::drive);
    let saved_ns = drives.filter_map(|drive| match &drive.model {
        Model::Cloud(volume) => Some(volume.saved_ns()),
        _ => None,
    });
    let saved_ns = saved_ns.max();
    let took_ns = batches.closed_ns();
    took_ns as f64 >= SAVED_TIMES * saved_ns.unwrap_or(0) as f64 / trial.precision
}

/// Requests that are in flight at a time, those of the page cache's write-back among them. They are on loan like what
/// drives' caches hold: while a RAID 6 with 1024 in flight lets reads go before writes, it makes nearly three times the rate that lasts.
fn in_flight(trial: &Trial) -> u64 {
    trial.requests().map(Requests::in_flight).sum()
}

/// What `trial` has measured: the steady part of what was `recorded`, or all of a job; still without the CPU time that it
/// took.
pub(crate) fn measured(trial: &Trial, recorded: &Recorded, caches: Caches, bits: Bits) -> Measured {
    let series = series(trial, caches, &recorded.batches);
    let at_batch = |at: u64| (at.is_multiple_of(series.batch_ns)).then(|| at / series.batch_ns);
    let starts: Vec<usize> =
        recorded.starts().filter_map(at_batch).map(|batch| batch as usize).collect();
    let mut said = series.judge(&starts, trial.precision);
    let mut load = load::Load::of(trial, &recorded.batches, &starts);
    let ending = if ends(trial) {
        load::ending(trial, &recorded.batches, recorded.outcome.elapsed_ns)
    } else {
        Ending::Kept
    };
    let all = recorded.outcome.requests;
    let is_overloaded = load.is_overloaded || ending == Ending::Overloaded;
    let mut measured = match &mut said {
        Some(said) if !ends(trial) => {
            if load::is_paced(trial) {
                // How many are done says nothing of how long they take.
                said.warm_up =
                    load.warm_up.max(if series.held_bytes.is_empty() { 0 } else { said.warm_up });
                said.settled = load.settled && !is_overloaded;
            }
            let start_ns = said.warm_up as u64 * series.batch_ns;
            let of_part = recorded.from(start_ns);
            let mut measured = Measured::from_sim(&of_part, 0.0);
            streams::add(&mut measured, trial, &of_part);
            measured.requests = recorded.outcome.requests + recorded.outcome.faults;
            let told = Told::of_part(said, trial.precision, start_ns);
            let ended_ns = start_ns + of_part.elapsed_ns;
            let is_beginning = bits::is_beginning(trial, bits, &of_part, (all, ended_ns))
                || !turns::are_seen(trial, &recorded.batches);
            let told = told.on_loan(&of_part).unless(is_beginning).beside(trial, ended_ns);
            told.add(&mut measured, &series, caches);
            load.held = load::held(trial, &of_part);
            measured
        }
        _ => {
            let mut measured = Measured::from_sim(&recorded.outcome, 0.0);
            streams::add(&mut measured, trial, &recorded.outcome);
            let outcome = &recorded.outcome;
            let is_behind = is_overloaded || ending == Ending::Late;
            let is_unknown = said.is_none() && may_be_held(trial, caches, outcome);
            let told = Told::of_job(said.as_ref(), &series, outcome, is_behind || is_unknown);
            let ended = (all, outcome.elapsed_ns);
            let is_beginning = bits::is_beginning(trial, bits, outcome, ended);
            let told = told.on_loan(outcome).unless(is_beginning).beside(trial, outcome.elapsed_ns);
            if said.is_some() || !told.is_steady {
                told.add(&mut measured, &series, caches);
            }
            load.held = load::held(trial, &recorded.outcome);
            measured
        }
    };
    if is_overloaded {
        measured.samples.push((OVERLOADED, 1.0));
    }
    measured.samples.extend(load.half_width.map(|half| (LATENCY_INTERVAL, 100.0 * half)));
    measured.holds = load.held;
    if load::is_paced(trial) {
        measured.has_no_program();
    }
    measured.put_first(trial);
    measured.series = (!series.is_empty()).then_some(series);
    measured
}

/// Whether caches may have taken all that a trial wrote which is too short to tell. Flushes leave them nothing, and of a
/// trace's windows the others tell.
fn may_be_held(trial: &Trial, caches: Caches, outcome: &Outcome) -> bool {
    let is_window = trial.trace().is_some_and(|trace| trace.part.is_some());
    let flushes = trial.requests().any(Requests::flushes);
    let written_bytes = outcome.bytes as f64 * written_share(trial);
    !is_window && !flushes && written_bytes > 0.0 && written_bytes <= caches.room() as f64
}

/// Whether a part from which the warm-up was left out is steady.
fn is_steady(said: &Steadiness, precision: f64) -> bool {
    said.settled && said.held_share <= precision && said.slope <= precision
}

/// What is told of a trial.
struct Told {
    is_steady: bool,
    warm_up_s: f64,
    half_width: Option<f64>,
    held_share: f64,
    /// The share of the I/Os that burst credit paid for.
    credit_share: f64,
    /// The share of the commands that media caches took and still hold.
    deferred_share: f64,
    /// How often as much as caches hold it would have to move.
    times_held: f64,
    /// How many times as long it would have to last beside what is restored; 1 where it was long enough.
    too_short_by: f64,
}

impl Told {
    /// Of the part of a trial that begins at `start_ns`.
    fn of_part(said: &Steadiness, precision: f64, start_ns: u64) -> Told {
        Told {
            is_steady: is_steady(said, precision),
            warm_up_s: start_ns as f64 / 1e9,
            half_width: Some(said.half_width),
            held_share: said.held_share,
            credit_share: 0.0,
            deferred_share: 0.0,
            times_held: 4.0,
            too_short_by: 1.0,
        }
    }

    /// Of a job, all of which was measured; `is_behind` where something else says that its rate does not last.
    fn of_job(
        said: Option<&Steadiness>,
        series: &Series,
        outcome: &Outcome,
        is_behind: bool,
    ) -> Told {
        let held = series.held_bytes.last().copied().unwrap_or(0) as f64;
        let held_share = if outcome.bytes > 0 { held / outcome.bytes as f64 } else { 0.0 };
        let rate = outcome.bytes as f64 * 1e9 / outcome.elapsed_ns as f64;
        let bias = said.map(|said| (rate / said.bytes_per_s - 1.0).abs());
        let tolerance = said.map(|said| BIAS_MAX.max(said.half_width));
        let is_biased = bias.zip(tolerance).is_some_and(|(bias, most)| bias > most);
        let drifts = said.is_some_and(|said| said.drift.max(1.0 / said.drift) > DRIFT_MAX);
        let is_steady = held_share <= BIAS_MAX && !is_biased && !drifts && !is_behind;
        Told {
            is_steady,
            warm_up_s: 0.0,
            half_width: said.map(|said| said.half_width),
            held_share,
            credit_share: 0.0,
            deferred_share: 0.0,
            times_held: 1.0 / BIAS_MAX,
            too_short_by: 1.0,
        }
    }

    /// Burst credit ends, and media caches are full at some time: what was moved on them is no rate that lasts.
    fn on_loan(mut self, outcome: &Outcome) -> Told {
        let targets = &outcome.counters.targets;
        let billed: u64 = targets.iter().map(|target| target.billed).sum();
        let drawn: u64 = targets.iter().map(|target| target.on_credit).sum();
        self.credit_share = drawn as f64 / billed.max(1) as f64;
        self.is_steady &= self.credit_share <= CREDIT_MAX;
        let commands: u64 = targets.iter().map(|target| target.commands).sum();
        let deferred: u64 = targets.iter().map(|target| target.deferred).sum();
        self.deferred_share = deferred as f64 / commands.max(1) as f64;
        self.is_steady &= self.deferred_share <= DEFERRED_MAX;
        self
    }

    /// Not steady where it is of a beginning only.
    fn unless(mut self, is_beginning: bool) -> Told {
        self.is_steady &= !is_beginning;
        self
    }

    /// Not steady where it ended at `ended_ns`, before what is restored beside it has its pace.
    fn beside(mut self, trial: &Trial, ended_ns: u64) -> Told {
        self.too_short_by = restored::too_short_by(trial, ended_ns).max(1.0);
        self.is_steady &= self.too_short_by <= 1.0;
        self
    }

    /// Adds it to what was measured.
    fn add(&self, measured: &mut Measured, series: &Series, caches: Caches) {
        let [steady, warm_up, interval, _, held_share, needed] = SAMPLES;
        let samples = &mut measured.samples;
        samples.push((steady, f64::from(u8::from(self.is_steady))));
        samples.push((warm_up, self.warm_up_s));
        samples.extend(self.half_width.map(|half| (interval, 100.0 * half)));
        samples.push((held_share, self.held_share));
        if self.credit_share > CREDIT_MAX {
            samples.push((CREDIT_SAMPLE, self.credit_share));
        }
        if self.deferred_share > DEFERRED_MAX {
            samples.push((DEFERRED_SAMPLE, self.deferred_share));
        }
        if self.too_short_by > 1.0 {
            samples.push((RESTORED_SAMPLE, self.too_short_by));
        }
        if !self.is_steady {
            let held = series.held_bytes.last().copied().unwrap_or(0).max(caches.room()) as f64;
            let moved = series.bytes.iter().sum::<u64>() as f64;
            samples.push((
                needed,
                (self.times_held * held).max(self.too_short_by.max(2.0) * moved)
                    / f64::from(1 << 20),
            ));
        }
    }
}

/// The batches as they are kept.
fn series(trial: &Trial, caches: Caches, batches: &Batches) -> Series {
    let closed = batches.closed();
    let writes = trial.works().any(Work::writes);
    let mut written_bytes = 0.0;
    let most = match caches {
        Caches::Told { held, .. } if ends(trial) => held,
        _ => caches.room(),
    };
    let held = closed.iter().map(|batch| {
        written_bytes += batch.bytes as f64 * written_share(trial);
        match caches {
            Caches::Counted(_) => {
                let whole = (batch.held_writes as f64 * mean_write_bytes(trial)) as u64;
                whole.min(batch.held_bytes.unwrap_or(whole))
            }
            Caches::Assumed(_) | Caches::Told { .. } => most.min(written_bytes as u64),
        }
    });
    Series {
        batch_ns: batches.width_ns(),
        requests: closed.iter().map(|batch| batch.requests).collect(),
        bytes: closed.iter().map(|batch| batch.bytes).collect(),
        held_bytes: if writes { held.collect() } else { Vec::new() },
    }
}

/// The mean size of a write of `trial`: which writes a cache holds is not kept.
fn mean_write_bytes(trial: &Trial) -> f64 {
    if let Some(trace) = trial.trace() {
        return trace.survey.write_bytes as f64 / trace.survey.writes.max(1) as f64;
    }
    let writers = || trial.requests().filter(|work| work.writes());
    let count = writers().count().max(1) as f64;
    writers().map(Requests::mean_bytes).sum::<f64>() / count
}

/// The share of the bytes of `trial` that are written, its workloads alike.
fn written_share(trial: &Trial) -> f64 {
    if let Some(trace) = trial.trace() {
        let [written, read] =
            [trace.survey.write_bytes, trace.survey.read_bytes].map(|bytes| bytes as f64);
        return written / (written + read).max(1.0);
    }
    let count = trial.requests().count().max(1) as f64;
    trial.requests().map(Requests::written_share).sum::<f64>() / count
}

#[cfg(test)]
mod tests;
