//! What a trial has measured, and the record that is made of it.

pub(crate) mod streams;

use crate::experiment::{Cell, Trial, factors};
use crate::keys::Value;
use crate::workload::{Replay, Requests};
use hdrhistogram::Histogram;
use serde_json::{Map, Value as Json};
use sim::workload::{Jobs, Lateness};
use sim::{Nanos, Outcome, latency};
use std::borrow::Cow;
pub use store::record::*;
use store::sample;
use store::steady::Series;

/// What one trial measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Samples by name, in the order in which they are listed.
    pub samples: Vec<(&'static str, f64)>,
    /// For each member, the share of the time that it was busy.
    pub member_busy: Vec<f64>,
    /// Requests that the workload made.
    pub requests: u64,
    /// Latencies in ns.
    pub latency_ns: Histogram<u64>,
    /// What it completed over time, where that was kept.
    pub series: Option<Series>,
    /// The samples of each workload that was recorded apart, the first of which it is judged by.
    pub streams: Vec<(String, Vec<(&'static str, f64)>)>,
    /// Latencies at the rates that were tried, the lowest first, where a rate was looked for.
    pub curve: Vec<LoadPoint>,
    /// Whether latencies that are limited were below their limits; none where none is limited.
    pub holds: Option<bool>,
    /// The part of a trace that was replayed, where it was one of several.
    pub window: Option<store::windows::Window>,
    /// CPU time that running the trial took, in s.
    pub cpu_s: f64,
    /// The commands that it ran.
    pub commands: Vec<String>,
    /// Texts to keep beside the record, by name.
    pub kept: Vec<(String, String)>,
}

/// The samples of every workload of blocks, before the parts of a request's time.
const BLOCK_SAMPLES: [&str; 13] = [
    "mb_per_s",
    "requests_per_s",
    "elapsed_s",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p99_ms",
    "latency_p999_ms",
    "members_busy",
    "commands_per_request",
    "hits_per_command",
    "cpu_busy",
    "faults",
    "program_ms",
];

/// The samples of reads and of writes, kept where a workload mixes them.
static DIRECTION_SAMPLES: [[&str; 6]; 2] = [
    ["read_mb_per_s", "reads_per_s", "read_mean_ms", "read_p50_ms", "read_p99_ms", "read_p999_ms"],
    [
        "write_mb_per_s",
        "writes_per_s",
        "write_mean_ms",
        "write_p50_ms",
        "write_p99_ms",
        "write_p999_ms",
    ],
];

/// The sample of reads that found no place in a member's queue.
const REFUSED_SAMPLE: &str = "refused_share";
/// The samples of how busy programs were with sending, and for how much of that with waiting for locks.
const PROGRAMS_SAMPLES: [&str; 2] = ["program_busy", "lock_wait"];
/// The sample of writes that were lost, kept where any was. No trial is expected to have it: writes are
/// lost only with a member that breaks meanwhile, and nothing in an experiment breaks one.
const LOST_SAMPLE: &str = "lost_writes";
/// The sample of what cloud volumes bill, kept where there are any.
const BILLED_SAMPLE: &str = "billed_per_request";
/// The samples of flushes, kept where there are any.
const FLUSH_SAMPLES: [&str; 3] = ["flushes", "flush_mean_ms", "flush_p99_ms"];
/// The samples of workloads with a rate.
const LATE_SAMPLES: [&str; 2] = ["underruns", "late_max_ms"];
/// The sample of a rate that was looked for.
const CAPACITY_SAMPLE: &str = "capacity_per_s";
/// The samples of a member that is restored; the second where it was restored in the end.
const REBUILD_SAMPLES: [&str; 2] = ["rebuilt_share", "rebuild_s"];

/// The sample by which a trial is judged that makes as many requests as it is told to: by how long they take. The mean
/// where a program waits for them: then it ranks what does not keep the rate as the rate would. Where no program waits
/// for any, by the rate.
fn first(trial: &Trial) -> Option<&'static str> {
    let all =
        |is: fn(&Requests) -> bool| trial.requests().next().is_some() && trial.requests().all(is);
    let (is_open, is_limited) = match trial.trace() {
        Some(trace) => (trace.keys.replay == Replay::Open, false),
        None => (all(Requests::is_open), all(|work| work.is_open() || work.is_limited())),
    };
    if trial.trace().is_none() && all(Requests::is_unwaited) {
        return None;
    }
    let commits = !streams::of_commits(trial).is_empty();
    match (commits, is_open) {
        (true, true) => Some("commit_p99_ms"),
        (false, true) => Some("latency_p99_ms"),
        (true, false) => is_limited.then_some("commit_mean_ms"),
        (false, false) => is_limited.then_some("latency_mean_ms"),
    }
}

/// Whether a trial looks for a rate.
fn capacity(trial: &Trial) -> bool {
    trial.requests().any(|work| work.keys.capacity.is_some())
}

impl Measured {
    /// The names of all samples that a trial of blocks may have.
    pub fn block_samples(trial: &Trial) -> Vec<&'static str> {
        let any = |is: fn(&Requests) -> bool| trial.requests().any(is);
        let writes = any(Requests::writes);
        let survey = trial.trace().map(|trace| &*trace.survey);
        let mixes = survey.is_some_and(|survey| survey.reads > 0 && survey.writes > 0);
        let flushes = survey.is_some_and(|survey| survey.flushes > 0);
        let of_parts: Vec<&'static str> = sample::parts().map(|part| part.name).collect();
        let sought: &[&'static str] = if capacity(trial) { &[CAPACITY_SAMPLE] } else { &[] };
        let first: Vec<&'static str> = first(trial).into_iter().collect();
        let parts: [(bool, &[&'static str]); 9] = [
            (true, sought),
            (true, &first),
            (true, &BLOCK_SAMPLES),
            (true, &of_parts),
            (mixes || (writes && any(Requests::reads)), DIRECTION_SAMPLES.as_flattened()),
            (flushes || any(Requests::flushes), &FLUSH_SAMPLES),
            (any(Requests::is_limited), &LATE_SAMPLES),
            (true, streams::of_commits(trial)),
            (trial.setup.volume.rebuild_bytes_per_s.is_some(), &REBUILD_SAMPLES),
        ];
        let all = parts.into_iter().filter(|(there, _)| *there).flat_map(|(_, names)| names);
        let mut names: Vec<&'static str> = Vec::new();
        for name in all {
            if !names.contains(name) {
                names.push(name);
            }
        }
        names
    }

    /// What a trial whose requests come at a rate is judged by comes first: not by how many it does, which is how many come.
    pub(crate) fn put_first(&mut self, trial: &Trial) {
        let place =
            first(trial).and_then(|first| self.samples.iter().position(|(name, _)| *name == first));
        if let Some(place) = place {
            let sample = self.samples.remove(place);
            self.samples.insert(0, sample);
        }
    }

    /// What nobody asked for was no work of a program: requests came by the clock, or a rate limited them.
    pub(crate) fn has_no_program(&mut self) {
        let of_program = self.samples.iter_mut().filter(|(name, _)| *name == "program_ms");
        of_program.for_each(|(_, ms)| *ms = 0.0);
    }

    /// More came than was done, which the end of the trial hides: there is no steady state.
    pub(crate) fn add_overloaded(&mut self) {
        self.samples.retain(|(name, _)| *name != "steady");
        self.samples.extend([("steady", 0.0), ("overloaded", 1.0)]);
    }

    /// A sample, where there is one of this name.
    pub(crate) fn value(&self, name: &str) -> Option<f64> {
        self.samples.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The rate that was found, of all requests that come by the clock, and latencies at the rates that were tried.
    pub(crate) fn add_capacity(&mut self, requests_per_s: f64, curve: Vec<LoadPoint>) {
        self.samples.insert(0, (CAPACITY_SAMPLE, requests_per_s));
        self.curve = curve;
    }

    /// The samples of a simulated run that took `cpu_s` to simulate.
    pub fn from_sim(outcome: &Outcome, cpu_s: f64) -> Self {
        let elapsed_s = outcome.elapsed_ns as f64 / 1e9;
        let requests = outcome.requests as f64;
        let counters = &outcome.counters;
        let busy: Vec<f64> = counters
            .targets
            .iter()
            .map(|target| share(target.busy_ns as f64, outcome.elapsed_ns as f64))
            .collect();
        let commands: u64 = counters.targets.iter().map(|target| target.commands).sum();
        let reads_hit: u64 = counters.targets.iter().map(|target| target.read_hits).sum();
        let latency_ms =
            |quantile| latency::quantile_ns(&outcome.latency_ns, quantile) as f64 / 1e6;
        let per_request_ms = |nanos: f64| nanos / requests / 1e6;
        let values: [f64; BLOCK_SAMPLES.len()] = [
            outcome.bytes as f64 / 1e6 / elapsed_s,
            requests / elapsed_s,
            elapsed_s,
            per_request_ms(outcome.spent_ns.iter().sum::<u128>() as f64),
            latency_ms(0.5),
            latency_ms(0.99),
            latency_ms(0.999),
            busy.iter().sum(),
            commands as f64 / requests,
            reads_hit as f64 / commands as f64,
            outcome.cpu_busy_ns as f64 / outcome.elapsed_ns as f64,
            outcome.faults as f64,
            per_request_ms(outcome.idle_ns as f64),
        ];
        let mut samples: Vec<(&'static str, f64)> = BLOCK_SAMPLES.into_iter().zip(values).collect();
        for (part, nanos) in sample::parts().zip(outcome.spent_ns) {
            samples.push((part.name, per_request_ms(nanos as f64)));
        }
        samples.extend(of_directions(outcome));
        let billed: u64 = counters.targets.iter().map(|target| target.billed).sum();
        if billed > 0 {
            samples.push((BILLED_SAMPLE, billed as f64 / requests));
        }
        if counters.refused > 0 {
            samples.push((REFUSED_SAMPLE, counters.refused as f64 / requests));
        }
        if outcome.lost_writes > 0 {
            samples.push((LOST_SAMPLE, outcome.lost_writes as f64));
        }
        if !outcome.flush_ns.is_empty() {
            let p99_ns = latency::quantile_ns(&outcome.flush_ns, 0.99) as f64;
            let values = [
                outcome.flush_ns.len() as f64,
                latency::mean_ns(&outcome.flush_ns) / 1e6,
                p99_ns / 1e6,
            ];
            samples.extend(FLUSH_SAMPLES.into_iter().zip(values));
        }
        Measured {
            samples,
            member_busy: busy,
            requests: outcome.requests + outcome.faults,
            latency_ns: outcome.latency_ns.clone(),
            series: None,
            streams: Vec::new(),
            curve: Vec::new(),
            holds: None,
            window: None,
            cpu_s,
            commands: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// How busy programs were with sending, and with waiting for locks, which are `busy` for so much of the time at so many
    /// requests a second.
    pub fn add_programs(&mut self, busy: impl FnOnce(f64) -> [f64; 2]) {
        let per_s = self.samples.iter().find(|(name, _)| *name == "requests_per_s");
        let per_s = per_s.map_or(0.0, |(_, value)| *value);
        self.samples.extend(PROGRAMS_SAMPLES.into_iter().zip(busy(per_s)));
    }

    /// How the jobs with a rate kept up, all of them and each stream that was recorded apart.
    pub fn add_lateness(&mut self, jobs: &Jobs) {
        let samples = |lateness: Lateness| {
            let values = [lateness.underruns as f64, lateness.latest_ns as f64 / 1e6];
            LATE_SAMPLES.into_iter().zip(values)
        };
        self.samples.extend(jobs.lateness().into_iter().flat_map(samples));
        for (stream, (_, own)) in self.streams.iter_mut().enumerate() {
            own.extend(jobs.lateness_of(stream).into_iter().flat_map(samples));
        }
    }

    /// Which share of a member was restored when the workload ended, and after how many ns all of it is.
    pub fn add_rebuild(&mut self, share: f64, restored_at: Option<Nanos>) {
        let [share_name, end_name] = REBUILD_SAMPLES;
        self.samples.push((share_name, share));
        if let Some(at) = restored_at {
            self.samples.push((end_name, at as f64 / 1e9));
        }
    }
}

/// The samples of reads and of writes, where there are both.
fn of_directions(outcome: &Outcome) -> Vec<(&'static str, f64)> {
    if outcome.directions.iter().any(|direction| direction.requests == 0) {
        return Vec::new();
    }
    let elapsed_s = outcome.elapsed_ns as f64 / 1e9;
    let pairs = outcome.directions.iter().zip(DIRECTION_SAMPLES);
    let of_direction = pairs.flat_map(|(direction, names)| {
        let latency_ns = &direction.latency_ns;
        let quantile = |quantile| latency::quantile_ns(latency_ns, quantile) as f64 / 1e6;
        let values = [
            direction.bytes as f64 / 1e6 / elapsed_s,
            direction.requests as f64 / elapsed_s,
            latency::mean_ns(latency_ns) / 1e6,
            quantile(0.5),
            quantile(0.99),
            quantile(0.999),
        ];
        names.into_iter().zip(values)
    });
    of_direction.collect()
}

/// The record of `trial`.
pub fn of_trial(trial: &Trial, measured: &Measured) -> Record {
    // A share of nothing, as of no commands, is no number.
    let finite = measured.samples.iter().filter(|(_, value)| value.is_finite());
    let samples = finite.map(|&(name, value)| (Cow::Borrowed(name), value));
    let of_streams = measured.streams.iter().flat_map(|(stream, samples)| {
        let finite = samples.iter().filter(|(_, value)| value.is_finite());
        finite.map(move |(name, value)| (Cow::Owned(format!("{stream}.{name}")), *value))
    });
    let samples = samples.chain(of_streams);
    Record {
        trial: trial.number,
        at: at_json(&trial.cell),
        workload: trial.cell.workload.clone(),
        repeat: trial.repeat,
        samples: samples.collect(),
        member_busy: measured.member_busy.clone(),
        requests: measured.requests,
        latency_hdr: encode_latencies(&measured.latency_ns),
        series: measured.series.clone(),
        commands: measured.commands.clone(),
        curve: measured.curve.clone(),
        window: measured.window.clone(),
        note: String::new(),
    }
}

/// What is known of a trial's record before it has run: the cell, and the names of its samples. Every
/// value is 0.
pub fn expected(trial: &Trial, samples: &[&str]) -> Record {
    let mut names: Vec<String> = samples.iter().map(|name| (*name).into()).collect();
    names.extend(streams::names(trial));
    Record {
        trial: trial.number,
        at: at_json(&trial.cell),
        workload: trial.cell.workload.clone(),
        repeat: trial.repeat,
        samples: names.into_iter().map(|name| (name, 0.0)).collect(),
        member_busy: Vec::new(),
        requests: 0,
        latency_hdr: String::new(),
        series: None,
        commands: Vec::new(),
        curve: Vec::new(),
        window: None,
        note: String::new(),
    }
}

/// The factors' values of a record in one line, for messages: `interleave 64 (32 KiB), block 4KiB`.
pub fn label(at: &Map<String, Json>) -> String {
    factors(at.keys()).label(at)
}

/// The factors' values of a cell as JSON.
pub fn at_json(cell: &Cell) -> Map<String, Json> {
    let value = |value: &Value| match value {
        Value::Count(count) => Json::from(*count),
        Value::Switch(on) => Json::from(*on),
        Value::Text(text) => Json::from(text.as_str()),
    };
    cell.at.iter().map(|(path, v)| (path.clone(), value(v))).collect()
}

/// A part of a time, as a share of it; none of no time at all, for the store keeps numbers only.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};
    use crate::rig::{self, sim::Sim};

    /// A run that was over at once.
    #[test]
    fn no_time_at_all_is_kept_and_read_again() {
        let text =
            "[volume]\ndrives = 'wd740gd'\n[workload.read]\nruntime = '1ns'\nthink = '1ms'\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        let measured = rig::run(&Sim, &plan.trials[0]).unwrap();
        assert_eq!(measured.requests, 0);
        let record = of_trial(&plan.trials[0], &measured);
        let kept = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&kept).unwrap(), record);
    }

    #[test]
    fn each_part_of_the_time_has_a_sample() {
        let samples: Vec<&str> = sim::Part::all().map(|part| part.name().sample).collect();
        assert!(sample::parts().map(|part| part.name).eq(samples));
    }

    /// How many requests are done is how many come, as soon as a rate says how many.
    #[test]
    fn what_comes_at_a_rate_is_judged_by_how_long_it_takes() {
        let first = |keys: &str| {
            let text = format!(
                "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\n[workload.w]\nkind = 'random'\nop = 'write'\ncount = 2000\n{keys}"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            let measured = rig::run(&Sim, &plan.trials[0]).unwrap();
            let listed = Measured::block_samples(&plan.trials[0])[0];
            assert_eq!(measured.samples[0].0, listed, "{keys}");
            if keys.contains("requests_per_s") {
                assert_eq!(measured.value("program_ms"), Some(0.0), "{keys}");
            }
            listed
        };
        assert_eq!(first("depth = 4"), "mb_per_s");
        assert_eq!(first("depth = 4\nrequests_per_s = 50"), "latency_mean_ms");
        assert_eq!(first("requests_per_s = 50\nflush_every = 1"), "commit_mean_ms");
        assert_eq!(first("requests_per_s = 50\narrivals = 'fixed'"), "latency_p99_ms");
    }

    /// Nobody waits for the write-back: what keeps the rate is as good as what writes faster.
    #[test]
    fn writes_to_the_page_cache_at_a_rate_are_judged_by_the_rate() {
        let first = |keys: &str| {
            let text = format!(
                "[host]\nname = 'linux-6.1'\n[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\n\
                 [workload.w]\nkind = 'sequential'\nblock = '512KiB'\nrate = '1MB/s'\n{keys}"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            Measured::block_samples(&plan.trials[0])[0]
        };
        assert_eq!(first("op = 'write'\ndirect = false"), "mb_per_s");
        assert_eq!(first("op = 'write'"), "latency_mean_ms");
        assert_eq!(first("op = 'read'\ndirect = false"), "latency_mean_ms");
    }

    /// What a rig may measure stands in the table of samples, whatever the experiment.
    #[test]
    fn every_sample_is_in_the_table() {
        let mut seen = 0;
        for name in crate::published::names() {
            let table = crate::published::find(name).unwrap();
            let plan = Plan::new(&crate::published::experiment(&table).unwrap()).unwrap();
            for record in crate::runner::expected(&plan, &Sim) {
                for sample in record.samples.names() {
                    assert!(sample::find(sample).is_some(), "{name}: {sample}");
                    seen += 1;
                }
            }
        }
        let jobs = "[volume]\ndrives = '3xwd740gd'\nlevel = 'raid5'\nfailed = '1'\nrebuild = '1MB/s'\n\
                    [workload.w]\nkind = 'random'\nreads_percent = 50\nflush_every = 2\nrate = '1MB/s'\n";
        let plan = Plan::new(&Experiment::parse("x.toml", jobs).unwrap()).unwrap();
        for sample in Measured::block_samples(&plan.trials[0]) {
            assert!(sample::find(sample).is_some(), "{sample}");
            seen += 1;
        }
        assert!(sample::find(LOST_SAMPLE).is_some() && seen > 100);
    }
}
