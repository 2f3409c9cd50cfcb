//! The samples of each workload that is recorded apart.

use super::{LATE_SAMPLES, Measured};
use crate::experiment::Trial;
use crate::workload::Requests;
use sim::{Direction, Nanos, Outcome, StreamOutcome, latency};

/// The samples of a stream.
const ALL: [&str; 6] = [
    "requests_per_s",
    "mb_per_s",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p99_ms",
    "latency_p999_ms",
];
/// Where it mixes reads and writes.
const MIXED: [&str; 6] =
    ["reads_per_s", "read_p99_ms", "read_p999_ms", "writes_per_s", "write_p99_ms", "write_p999_ms"];
/// Where it waits for flushes.
const COMMITS: [&str; 5] =
    ["commits_per_s", "commit_mean_ms", "commit_p50_ms", "commit_p99_ms", "commit_p999_ms"];

/// How long it ran, where it may end before the others.
const ELAPSED: &str = "elapsed_s";

/// The samples of a workload, that by which it is judged first: the 99th percentile of its commits, else of its
/// requests, where they come by the clock; their mean where a rate limits it and programs wait for them; else how many
/// it makes.
fn listed(work: &Requests) -> Vec<&'static str> {
    let mut names = Vec::from(ALL);
    if work.reads() && work.writes() {
        names.extend(MIXED);
    }
    if work.commits() {
        names.extend(COMMITS);
    }
    let first = match (work.commits(), work.is_open(), work.is_limited()) {
        (true, true, _) => "commit_p99_ms",
        (true, false, true) => "commit_mean_ms",
        (true, false, false) => "commits_per_s",
        (false, true, _) => "latency_p99_ms",
        (false, false, true) if !work.is_unwaited() => "latency_mean_ms",
        (false, false, _) => "requests_per_s",
    };
    names.retain(|name| *name != first);
    names.insert(0, first);
    names.extend(work.ends().then_some(ELAPSED));
    names
}

/// How long a stream ran of the `all_ns` that its trial took. What has no end of its own goes on as long as the others; what is
/// given a time takes it, though its last request comes before.
fn elapsed_ns(work: &Requests, stream: &StreamOutcome, all_ns: Nanos) -> Nanos {
    let keys = &work.keys;
    if !work.ends() || stream.elapsed_ns == 0 {
        return all_ns;
    }
    let is_counted = keys.count.or(keys.amount_sectors).is_some();
    let given_ns = keys.runtime_ns.filter(|_| !is_counted).unwrap_or(0);
    stream.elapsed_ns.max(given_ns.min(all_ns))
}

/// The names of all samples of a trial's streams, with those of the streams. One alone is all there is.
pub(super) fn names(trial: &Trial) -> Vec<String> {
    let works = trial.requests().filter(|_| trial.requests().count() > 1);
    let named = |work: &Requests| {
        let late: &[&str] = if work.is_limited() { &LATE_SAMPLES } else { &[] };
        let names = listed(work).into_iter().chain(late.iter().copied());
        names.map(|name| format!("{}.{name}", work.name)).collect::<Vec<_>>()
    };
    works.flat_map(named).collect()
}

/// The samples of commits of a workload that runs alone.
pub(super) fn of_commits(trial: &Trial) -> &'static [&'static str] {
    let is_alone = trial.requests().count() == 1;
    if is_alone && trial.requests().any(Requests::commits) { &COMMITS } else { &[] }
}

/// Adds the samples of each workload of a trial.
pub(crate) fn add(measured: &mut Measured, trial: &Trial, outcome: &Outcome) {
    let there = |stream: &StreamOutcome, name: &str| {
        // What there was none of has no latencies.
        !name.starts_with("commit") || !stream.commit_ns.is_empty()
    };
    if let ([stream], None) = (outcome.streams.as_slice(), trial.trace()) {
        let names = of_commits(trial).iter().filter(|name| there(stream, name));
        let all = both(stream);
        let seconds = outcome.elapsed_ns as f64 / 1e9;
        measured.samples.extend(names.map(|&name| (name, value(name, stream, &all, seconds))));
        return;
    }
    for (work, stream) in trial.requests().zip(&outcome.streams) {
        let names = listed(work).into_iter().filter(|name| there(stream, name));
        let all = both(stream);
        let seconds = elapsed_ns(work, stream, outcome.elapsed_ns) as f64 / 1e9;
        let samples = names.map(|name| (name, value(name, stream, &all, seconds))).collect();
        measured.streams.push((work.name.clone(), samples));
    }
}

/// A sample of a stream that ran for so many `seconds`.
fn value(name: &str, stream: &StreamOutcome, all: &Direction, seconds: f64) -> f64 {
    let [reads, writes] = &stream.directions;
    let own_ms = |direction: &Direction, quantile| {
        latency::quantile_ns(&direction.latency_ns, quantile) as f64 / 1e6
    };
    let commit_ms = |quantile| latency::quantile_ns(&stream.commit_ns, quantile) as f64 / 1e6;
    let latency_ms = |quantile| latency::quantile_ns(&all.latency_ns, quantile) as f64 / 1e6;
    match name {
        "requests_per_s" => all.requests as f64 / seconds,
        "mb_per_s" => all.bytes as f64 / 1e6 / seconds,
        "latency_mean_ms" => latency::mean_ns(&all.latency_ns) / 1e6,
        "latency_p50_ms" => latency_ms(0.5),
        "latency_p99_ms" => latency_ms(0.99),
        "latency_p999_ms" => latency_ms(0.999),
        "reads_per_s" => reads.requests as f64 / seconds,
        "read_p99_ms" => own_ms(reads, 0.99),
        "read_p999_ms" => own_ms(reads, 0.999),
        "writes_per_s" => writes.requests as f64 / seconds,
        "write_p99_ms" => own_ms(writes, 0.99),
        "write_p999_ms" => own_ms(writes, 0.999),
        "commits_per_s" => stream.commit_ns.len() as f64 / seconds,
        "commit_mean_ms" => latency::mean_ns(&stream.commit_ns) / 1e6,
        "commit_p50_ms" => commit_ms(0.5),
        "commit_p99_ms" => commit_ms(0.99),
        "commit_p999_ms" => commit_ms(0.999),
        ELAPSED => seconds,
        name => unreachable!("`{name}` is no sample of a stream"),
    }
}

/// Both directions as one.
fn both(stream: &StreamOutcome) -> Direction {
    let [reads, writes] = &stream.directions;
    Direction {
        requests: reads.requests + writes.requests,
        bytes: reads.bytes + writes.bytes,
        latency_ns: latency::of_both(&reads.latency_ns, &writes.latency_ns),
    }
}
