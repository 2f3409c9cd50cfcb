//! What a trial has measured, and the line of the store that keeps it.

use crate::error::{Error, Result};
use crate::experiment::{self, Cell, Kind, Trial, Value, Work};
use base64::prelude::{BASE64_STANDARD, Engine};
use block::SECTOR_BYTES;
use block::units::format_bytes;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sim::workload::Lateness;
use sim::{Counters, Outcome, Part};

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
    /// CPU time that running the trial took, in s.
    pub cpu_s: f64,
}

/// One finished trial, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its place in the plan.
    pub trial: usize,
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The workload.
    pub workload: String,
    /// Which repeat, from 0.
    pub repeat: u64,
    /// Samples by name.
    pub samples: Map<String, Json>,
    /// For each member, the share of the time that it was busy.
    pub member_busy: Vec<f64>,
    /// Requests that the workload made; 0 where nobody counted.
    pub requests: u64,
    /// Latencies in ns: an HdrHistogram, V2 with DEFLATE, in base64; empty where nobody kept them.
    pub latency_hdr: String,
    /// What was said about the trial.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The samples of every workload of blocks, before those of [`PART_SAMPLES`].
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

/// The sample that each part of the time is kept under, in ms a request; in the order of [`Part::ALL`].
pub const PART_SAMPLES: [&str; Part::ALL.len()] = [
    "queue_ms",
    "cpu_ms",
    "overhead_ms",
    "seek_ms",
    "rotation_ms",
    "part_sector_ms",
    "head_switch_ms",
    "media_ms",
    "bus_ms",
    "cache_ms",
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

/// The sample of writes that were lost, kept where any was. No trial is expected to have it: writes are
/// lost only with a member that breaks meanwhile, and nothing in an experiment breaks one.
const LOST_SAMPLE: &str = "lost_writes";
/// The samples of flushes, kept where there are any.
const FLUSH_SAMPLES: [&str; 3] = ["flushes", "flush_mean_ms", "flush_p99_ms"];
/// The samples of workloads with a rate.
const LATE_SAMPLES: [&str; 2] = ["underruns", "late_max_ms"];
/// The samples of a member that is restored; the second where it was restored in the end.
const REBUILD_SAMPLES: [&str; 2] = ["rebuilt_share", "rebuild_s"];

impl Measured {
    /// The names of all samples that a trial of blocks may have.
    pub fn block_samples(trial: &Trial) -> Vec<&'static str> {
        let any = |is: fn(&Work) -> bool| trial.works().any(is);
        let writes = any(Work::writes);
        let parts: [(bool, &[&'static str]); 6] = [
            (true, &BLOCK_SAMPLES),
            (true, &PART_SAMPLES),
            (writes && any(Work::reads), DIRECTION_SAMPLES.as_flattened()),
            (any(|work| work.flush_every > 0 && work.writes()), &FLUSH_SAMPLES),
            (any(|work| work.bytes_per_s.or(work.requests_per_s).is_some()), &LATE_SAMPLES),
            (trial.setup.volume.rebuild_bytes_per_s.is_some(), &REBUILD_SAMPLES),
        ];
        parts
            .into_iter()
            .filter(|(there, _)| *there)
            .flat_map(|(_, names)| names)
            .copied()
            .collect()
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
        let latency_ms = |quantile| outcome.latency_ns.value_at_quantile(quantile) as f64 / 1e6;
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
            counters.cpu_busy_ns as f64 / outcome.elapsed_ns as f64,
            outcome.faults as f64,
            per_request_ms(outcome.idle_ns as f64),
        ];
        let mut samples: Vec<(&'static str, f64)> = BLOCK_SAMPLES.into_iter().zip(values).collect();
        for (name, nanos) in PART_SAMPLES.into_iter().zip(outcome.spent_ns) {
            samples.push((name, per_request_ms(nanos as f64)));
        }
        if outcome.directions.iter().all(|direction| direction.requests > 0) {
            for (direction, names) in outcome.directions.iter().zip(DIRECTION_SAMPLES) {
                let latency = &direction.latency_ns;
                let quantile = |quantile| latency.value_at_quantile(quantile) as f64 / 1e6;
                let values = [
                    direction.bytes as f64 / 1e6 / elapsed_s,
                    direction.requests as f64 / elapsed_s,
                    latency.mean() / 1e6,
                    quantile(0.5),
                    quantile(0.99),
                    quantile(0.999),
                ];
                samples.extend(names.into_iter().zip(values));
            }
        }
        if outcome.lost_writes > 0 {
            samples.push((LOST_SAMPLE, outcome.lost_writes as f64));
        }
        if !outcome.flush_ns.is_empty() {
            let p99_ns = outcome.flush_ns.value_at_quantile(0.99) as f64;
            let values =
                [outcome.flush_ns.len() as f64, outcome.flush_ns.mean() / 1e6, p99_ns / 1e6];
            samples.extend(FLUSH_SAMPLES.into_iter().zip(values));
        }
        Measured {
            samples,
            member_busy: busy,
            requests: outcome.requests + outcome.faults,
            latency_ns: outcome.latency_ns.clone(),
            cpu_s,
        }
    }

    /// How the jobs with a rate kept up.
    pub fn add_lateness(&mut self, lateness: Lateness) {
        let values = [lateness.underruns as f64, lateness.latest_ns as f64 / 1e6];
        self.samples.extend(LATE_SAMPLES.into_iter().zip(values));
    }

    /// How far a member was restored when the workload ended, and when all of it was; `ended` and
    /// `settled` are the counters of either time.
    pub fn add_rebuild(&mut self, ended: &Counters, settled: &Counters) {
        let [share_name, end_name] = REBUILD_SAMPLES;
        let share = ended.restored_sectors as f64 / settled.restored_sectors.max(1) as f64;
        self.samples.push((share_name, share));
        if let Some(at) = settled.restored_at {
            self.samples.push((end_name, at as f64 / 1e9));
        }
    }
}

impl Record {
    /// The record of `trial`.
    pub fn new(trial: &Trial, measured: &Measured) -> Self {
        let samples =
            measured.samples.iter().map(|&(name, value)| (name.into(), Json::from(value)));
        Record {
            trial: trial.number,
            at: at_json(&trial.cell),
            workload: trial.cell.workload.clone(),
            repeat: trial.repeat,
            samples: samples.collect(),
            member_busy: measured.member_busy.clone(),
            requests: measured.requests,
            latency_hdr: encode(&measured.latency_ns),
            note: String::new(),
        }
    }

    /// What is known of a trial's record before it has run: the cell, and the names of its samples. Every
    /// value is 0.
    pub fn expected(trial: &Trial, samples: &[&str]) -> Self {
        Record {
            trial: trial.number,
            at: at_json(&trial.cell),
            workload: trial.cell.workload.clone(),
            repeat: trial.repeat,
            samples: samples.iter().map(|&name| (name.into(), Json::from(0.0))).collect(),
            member_busy: Vec::new(),
            requests: 0,
            latency_hdr: String::new(),
            note: String::new(),
        }
    }

    /// A sample, where there is one of this name.
    pub fn sample(&self, name: &str) -> Option<f64> {
        self.samples.get(name).and_then(Json::as_f64)
    }

    /// The latencies in ns.
    ///
    /// # Errors
    ///
    /// Where the store holds no histogram.
    pub fn latencies(&self) -> Result<Histogram<u64>> {
        let bytes = BASE64_STANDARD.decode(&self.latency_hdr).map_err(Error::failure)?;
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| Error::failure(format!("trial {}: {error}", self.trial)))
    }

    /// The cell in one line: `volume.interleave=32`.
    pub fn label(&self) -> String {
        label(&self.at)
    }
}

/// The factors' values in one line, without the keys' sections where that is clear.
pub fn label(at: &Map<String, Json>) -> String {
    if at.is_empty() {
        return "the only cell".into();
    }
    // An empty text is a factor that does not apply, as the interleave of a single drive.
    let applies = at.iter().filter(|(_, value)| value.as_str() != Some(""));
    let parts: Vec<String> = applies
        .map(|(path, value)| format!("{} {}", short_key(path), shown(path, value)))
        .collect();
    parts.join(", ")
}

/// The last part of a key path: what people call it.
pub fn short_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// A factor's value as people write it: sizes in bytes, but for interleaves, which are counted in sectors.
pub fn shown(path: &str, value: &Json) -> String {
    let is_size = path != "volume.interleave"
        && experiment::find(path).is_ok_and(|key| matches!(key.kind, Kind::Sectors(..)));
    match value.as_u64().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)) {
        Some(bytes) if is_size => format_bytes(bytes),
        _ => plain(value),
    }
}

/// A value without JSON's quotes.
pub fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A factor's value of a text: a whole number where it is one, and otherwise the text.
pub(crate) fn factor_value(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| Json::from(text), Json::from)
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

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail");
    BASE64_STANDARD.encode(bytes)
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
        let record = Record::new(&plan.trials[0], &measured);
        let kept = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&kept).unwrap(), record);
    }

    /// An interleave is counted in sectors everywhere; nobody counts a block so.
    #[test]
    fn sizes_are_shown_as_people_write_them() {
        let shown = |path, value| shown(path, &Json::from(value));
        assert_eq!(shown("fs.block", 32), "16KiB");
        assert_eq!(shown("workload.iozone.size", 524_288), "256MiB");
        assert_eq!(shown("volume.interleave", 128), "128");
        assert_eq!(shown("workload.read.depth", 32), "32");
        assert_eq!(shown("fs.type", 2), "2");
        let at = Map::from_iter([("fs.block".to_string(), Json::from(8))]);
        assert_eq!(label(&at), "block 4KiB");
    }
}
