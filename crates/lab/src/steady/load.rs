//! Trials whose requests come by the clock, or at no more than a rate. How many are done is how many come, so that their rate says
//! nothing: what has to settle is how long they take, which by Little's law is how many are under way. Where more come than are done,
//! it never does.

use crate::experiment::Trial;
use crate::workload::{Arrivals, Replay, Requests};
use sim::{Batch, Batches, Outcome};
use store::steady::Series;

/// A trial whose requests come by the clock ends once the 95 % interval of how many are under way is as many times as
/// wide as that of a rate would have to be: at 90 % of what a server can do 2 % would take 4 million requests, 10 %
/// take 150,000.
const WIDER: f64 = 5.0;

/// Fewer requests of a stream have no percentiles, and all together none that a search could rest on.
const STREAM_MIN: u64 = 1000;
const REQUESTS_MIN: u64 = 10_000;

/// After how many batches a warm-up may end, as for rates.
const STARTS: [usize; 7] = super::STARTS;

/// What the streams of a trial say.
pub(super) struct Load {
    /// Whether more came than were done.
    pub(super) is_overloaded: bool,
    /// Whether every stream has settled.
    pub(super) settled: bool,
    /// How many batches are warm-up.
    pub(super) warm_up: usize,
    /// Whether the latencies that are limited are below their limits.
    pub(super) held: Option<bool>,
    /// Half of the 95 % interval of the mean latency, as a share: that of the stream of which least is known.
    pub(super) half_width: Option<f64>,
}

/// Whether a trace of `trial` is replayed by the clock.
fn is_of_trace(trial: &Trial) -> bool {
    trial.trace().is_some_and(|trace| trace.keys.replay == Replay::Open)
}

/// Whether any requests of `trial` come by the clock, or at no more than a rate.
pub(super) fn is_paced(trial: &Trial) -> bool {
    is_of_trace(trial) || trial.requests().any(|work| work.is_open() || work.is_limited())
}

/// A stream of a trial, as far as its load is concerned.
struct Stream<'a> {
    /// Whether its requests come whether or not earlier ones are done.
    is_open: bool,
    /// Whether that, or a rate limits it.
    is_paced: bool,
    /// How many requests come at a time.
    burst: u32,
    /// When they come; of a trace nothing is known.
    arrivals: Option<Arrivals>,
    batches: &'a Batches,
}

/// The streams of a trial that are recorded apart.
fn streams<'a>(trial: &Trial, batches: &'a Batches) -> Vec<Stream<'a>> {
    if trial.trace().is_some() {
        let is_open = is_of_trace(trial);
        return batches
            .streams()
            .iter()
            .map(|batches| {
                let is_paced = is_open;
                Stream { is_open, is_paced, burst: 1, arrivals: None, batches }
            })
            .collect();
    }
    let works = trial.requests().zip(batches.streams());
    let stream = |(work, batches): (&Requests, &'a Batches)| {
        let is_open = work.is_open();
        let is_paced = is_open || work.is_limited();
        let arrivals = Some(work.keys.arrivals);
        Stream { is_open, is_paced, burst: work.keys.burst, arrivals, batches }
    };
    works.map(stream).collect()
}

impl Load {
    /// What `batches` say, of which a warm-up may end at one of `starts`.
    pub(super) fn of(trial: &Trial, batches: &Batches, starts: &[usize]) -> Self {
        let mut load =
            Load { is_overloaded: false, settled: true, warm_up: 0, held: None, half_width: None };
        if !is_paced(trial) {
            return load;
        }
        for stream in streams(trial, batches) {
            load.is_overloaded |= stream.is_open && is_overloaded(&stream);
            let said = series(&stream).judge(starts, 1.0);
            load.settled &=
                said.is_some_and(|said| said.settled && is_confined(&stream, said.warm_up));
            load.warm_up = load.warm_up.max(said.map_or(0, |said| said.warm_up));
            let half = said.filter(|_| stream.is_paced).map(|said| said.half_width);
            load.half_width = load.half_width.into_iter().chain(half).reduce(f64::max);
        }
        load
    }
}

/// Whether what `batches` say of `trial` is enough.
pub(super) fn enough(trial: &Trial, batches: &Batches) -> bool {
    let streams = streams(trial, batches);
    if streams.iter().any(|stream| stream.is_open && (is_overloaded(stream) || is_at_limit(stream)))
    {
        return true;
    }
    let all: u64 = batches.closed().iter().map(|batch| batch.requests).sum();
    let is_enough = |stream: &Stream<'_>| {
        let said = series(stream).judge(&STARTS, 1.0)?;
        let counted = stream.batches.closed()[said.warm_up..].iter();
        let counted: u64 = counted.map(|batch| batch.requests).sum();
        let widest = if stream.is_paced { WIDER * trial.precision } else { trial.precision };
        // Where a closed loop misses its rate, times stand still at the number in flight over a rate that need not.
        let is_limited = stream.is_paced && !stream.is_open;
        let rate = is_limited.then(|| bytes(stream).judge(&STARTS, 1.0));
        let has_rate = rate.is_none_or(|said| {
            said.is_some_and(|said| said.settled && said.half_width <= trial.precision)
        });
        Some(
            !is_behind(stream)
                && is_confined(stream, said.warm_up)
                && has_rate
                && said.settled
                && counted >= STREAM_MIN
                && said.half_width <= widest,
        )
    };
    all >= REQUESTS_MIN && streams.iter().all(|stream| is_enough(stream).unwrap_or(false))
}

/// Of what came, the share that may be under way when a trial ends: more of it is the beginning of an overload, or of a time that has
/// not settled. At 3 % more than two cloud volumes do, 13,000 requests were too few to tell.
const BEHIND_MAX: f64 = 0.02;

/// Whether so much of what has come is not done.
fn is_behind(stream: &Stream<'_>) -> bool {
    let closed = stream.batches.closed();
    let sum = |of: fn(&Batch) -> u64| closed.iter().map(of).sum::<u64>() as f64;
    let (came, done) = (sum(|batch| batch.arrived), sum(|batch| batch.requests));
    stream.is_open && came - done > BEHIND_MAX * came
}

/// How far what is under way may wander, as a share of how far it would if the queue never emptied. Of 6000 queues at their
/// limit, in 32 batches, five wandered less by chance; below the limit the interval of [`WIDER`] takes a quarter of that.
const WANDERS_MAX: f64 = 0.5;

/// The same of requests at equal distances, where only the times of service are random.
const OF_SERVICE: f64 = 1.0 / 3.0;

/// Whether what is under way comes back to where it was, from the batch `start` on. A queue that never empties wanders as the sum of
/// its arrivals does: as far as it was from its mean by chance, it stays. So a narrow interval of it is luck, however
/// narrow it is, and that can be told from how many came.
///
/// ```text
/// 8800 come at random to a disk that is always busy: √8800 = 94, and their number moves by 150 from batch to batch of 68 s
/// 8800 come to one that is idle for a tenth of the time: it moves by 15
/// ```
fn is_confined(stream: &Stream<'_>, start: usize) -> bool {
    let (true, Some(arrivals)) = (stream.is_open, stream.arrivals) else { return true };
    let Some(batches) = stream.batches.closed().get(start..) else { return true };
    let width_ns = stream.batches.width_ns() as f64;
    let came: u64 = batches.iter().map(|batch| batch.arrived).sum();
    let by_chance = (came as f64 * f64::from(stream.burst)).sqrt()
        * if arrivals == Arrivals::Poisson { 1.0 } else { OF_SERVICE };
    let mut in_flight = 0.0;
    let counted = batches.iter().map(|batch| {
        in_flight += batch.arrived as f64 - batch.requests as f64;
        in_flight
    });
    let by_time = batches.iter().map(|batch| batch.latency_ns as f64 / width_ns);
    let is_near = |values: &[f64]| {
        let highest = values.iter().copied().fold(f64::MIN, f64::max);
        let lowest = values.iter().copied().fold(f64::MAX, f64::min);
        highest - lowest <= WANDERS_MAX * by_chance.max(wander(values))
    };
    is_near(&counted.collect::<Vec<_>>()) && is_near(&by_time.collect::<Vec<_>>())
}

/// After so many requests a queue that still wanders is within a hundredth of its limit, and is not waited for.
const WANDERED_MIN: u64 = 250_000;
/// That is so many times as many as are under way, where there are many servers.
const OF_IN_FLIGHT: f64 = 100.0;

/// Whether a queue has been watched for long, and still wanders.
fn is_at_limit(stream: &Stream<'_>) -> bool {
    let closed = stream.batches.closed();
    let half = &closed[closed.len() / 2..];
    let sum = |of: fn(&Batch) -> u64| half.iter().map(of).sum::<u64>() as f64;
    let passed_ns = (stream.batches.width_ns() * half.len() as u64) as f64;
    let in_flight = sum(|batch| batch.latency_ns) / passed_ns;
    let came = sum(|batch| batch.arrived);
    2.0 * came >= (OF_IN_FLIGHT * in_flight).max(WANDERED_MIN as f64)
        && !is_confined(stream, closed.len() / 2)
}

/// How far the sum of as many steps would wander as lie between neighbours: their deviation times the root of their number. What
/// goes up and down again, as where a drive stops now and then, moves by less than that.
fn wander(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|two| two[1] - two[0]).collect();
    let squares: f64 = steps.iter().map(|step| step * step).sum();
    squares.sqrt()
}

/// How a job ended whose requests come by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// With its last requests.
    Kept,
    /// So long after them that its latencies depend on its length.
    Late,
    /// So long after them that more came than was done.
    Overloaded,
}

/// Fewer requests are too few to call a job late.
const LATE_MIN: u64 = 200;

/// From which shares on a job is late: of its requests that are not done when the last one has come, and of its time that passes
/// from then on. A burst at the end is done more quickly than the rest. A stable queue has few left: at 95 % of what
/// a disk can do ten of 600.
const LATE: [f64; 2] = [0.05, 0.02];
/// The same of one that is overloaded.
const TOO_LATE: [f64; 2] = [0.1, 0.05];

/// How a job that took `elapsed_ns` ended.
pub(super) fn ending(trial: &Trial, batches: &Batches, elapsed_ns: u64) -> Ending {
    // Behind a window of a trace more requests come.
    if trial.trace().is_some_and(|trace| trace.part.is_some()) {
        return Ending::Kept;
    }
    let all = streams(trial, batches);
    let of_stream = |stream: &Stream<'_>| {
        let closed = stream.batches.closed();
        let last = closed.iter().rposition(|batch| batch.arrived > 0).map_or(0, |last| last + 1);
        let sum = |of: fn(&Batch) -> u64| closed[..last].iter().map(of).sum::<u64>();
        let (came, done) = (sum(|batch| batch.arrived), sum(|batch| batch.requests));
        let left = came.saturating_sub(done) as f64;
        let rest_ns = elapsed_ns.saturating_sub(last as u64 * stream.batches.width_ns());
        let shares = [left / came.max(1) as f64, rest_ns as f64 / elapsed_ns.max(1) as f64];
        let beyond =
            |most: [f64; 2]| came >= LATE_MIN && shares[0] > most[0] && shares[1] > most[1];
        match (beyond(LATE), beyond(TOO_LATE)) {
            (_, true) => Ending::Overloaded,
            (true, _) => Ending::Late,
            _ => Ending::Kept,
        }
    };
    let open = all.iter().filter(|stream| stream.is_open).map(of_stream);
    open.max().unwrap_or(Ending::Kept)
}

/// What has to settle: how many requests of a stream are under way, or the rate of a closed loop.
fn series(stream: &Stream<'_>) -> Series {
    if stream.is_paced { of_batches(stream, |batch| batch.latency_ns) } else { bytes(stream) }
}

/// What a stream moves.
fn bytes(stream: &Stream<'_>) -> Series {
    of_batches(stream, |batch| batch.bytes)
}

fn of_batches(stream: &Stream<'_>, value: impl Fn(&Batch) -> u64) -> Series {
    let closed = stream.batches.closed();
    Series {
        batch_ns: stream.batches.width_ns(),
        requests: closed.iter().map(|batch| batch.requests).collect(),
        bytes: closed.iter().map(value).collect(),
        held_bytes: Vec::new(),
    }
}

/// Whether more requests of a stream come than are done: what is under way has grown in both halves by more than
/// chance can explain (three standard deviations of as many arrivals) and 2 % of what came. What waits in the program
/// for a flush is not in flight yet, but has its time: by Little's law how many those are is their latency times their
/// rate.
fn is_overloaded(stream: &Stream<'_>) -> bool {
    // A job ends when what came before is done.
    let closed = stream.batches.closed();
    let last = closed.iter().rposition(|batch| batch.arrived > 0).map_or(0, |last| last + 1);
    let batches = &closed[..last];
    let (half, eighth) = (batches.len() / 2, batches.len() / 8);
    if eighth == 0 {
        return false;
    }
    let mut in_flight = 0.0;
    let counted = batches.iter().map(|batch| {
        in_flight += batch.arrived as f64 - batch.requests as f64;
        in_flight
    });
    let counted: Vec<f64> = counted.collect();
    let width_ns = stream.batches.width_ns() as f64;
    let by_time: Vec<f64> =
        batches.iter().map(|batch| batch.latency_ns as f64 / width_ns).collect();
    let grown = |values: &[f64]| {
        let mean = |range: &[f64]| range.iter().sum::<f64>() / range.len() as f64;
        let at = |end: usize| mean(&values[end - eighth..end]);
        [(0..half, at(half) - at(eighth)), (half..batches.len(), at(batches.len()) - at(half))]
            .into_iter()
            .all(|(range, grown)| {
                let came: u64 = batches[range].iter().map(|batch| batch.arrived).sum();
                let chance = 3.0 * (came as f64 * f64::from(stream.burst)).sqrt();
                came >= 200 && grown > chance.max(0.02 * came as f64)
            })
    };
    grown(&counted) || grown(&by_time)
}

/// Whether all latencies that are limited are below their limits; none where none is.
pub(super) fn held(trial: &Trial, outcome: &Outcome) -> Option<bool> {
    let limited = trial.requests().zip(&outcome.streams).filter_map(|(work, stream)| {
        let capacity = work.keys.capacity.as_ref()?;
        Some(
            capacity
                .held(stream)
                .is_some_and(|(latency_ns, limit_ns)| latency_ns <= limit_ns as f64),
        )
    });
    limited.reduce(|all, one| all && one)
}
