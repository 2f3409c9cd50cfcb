//! One finished trial: the line of the store that keeps it, and what its cell is called.

use crate::error::{Error, Result};
use crate::named::NamedSamples;
use crate::sample::{self, Sample};
use crate::steady::Series;
use crate::windows::Window;
use base64::prelude::{BASE64_STANDARD, Engine};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// What tells a cell from the others of an experiment.
pub fn cell_name(workload: &str, at: &Map<String, Json>) -> String {
    format!("{workload} {}", Json::Object(at.clone()))
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
    pub samples: NamedSamples,
    /// For each member, the share of the time that it was busy.
    pub member_busy: Vec<f64>,
    /// Requests that the workload made; 0 where nobody counted.
    pub requests: u64,
    /// Latencies in ns: an HdrHistogram, V2 with DEFLATE, in base64; empty where nobody kept them.
    pub latency_hdr: String,
    /// What it completed over time; none of programs on files, and where nobody kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// The commands that it ran on a real machine, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Latencies at the rates that were tried, the lowest first, where a rate was looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<LoadPoint>,
    /// The part of a trace that it replayed, where it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What was said about the trial.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Latencies at one rate of requests that come by the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadPoint {
    /// Requests that came per second, those of all workloads that come by the clock together.
    pub requests_per_s: f64,
    /// The mean of their latencies, in ms.
    pub mean_ms: f64,
    /// Their median.
    pub p50_ms: f64,
    /// Their 99th percentile.
    pub p99_ms: f64,
    /// How it went.
    pub state: LoadState,
}

/// How requests went at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// What is asked of latencies held.
    Holds,
    /// It did not.
    Exceeds,
    /// The latencies had not settled when the trial ended.
    Unsettled,
    /// More came than was done: there is no steady state.
    Overloaded,
}

impl Record {
    /// A sample, where there is one of this name.
    pub fn sample(&self, name: &str) -> Option<f64> {
        self.samples.get(name)
    }

    /// The samples by which the streams of this mix are judged, each stream apart and by its first: none where it is no
    /// mix, where it is judged as one, or where a rate was looked for.
    pub fn judged_streams(&self) -> Vec<(&str, &str)> {
        let mut first: Vec<(&str, &str)> = Vec::new();
        for name in self.samples.names() {
            if let Some((stream, _)) = name.rsplit_once('.')
                && first.iter().all(|(known, _)| *known != stream)
            {
                first.push((stream, name));
            }
        }
        // Of loops that wait for each other's requests, what all of them do together counts.
        let counts = |name: &str| {
            let own = name.rsplit_once('.').map_or(name, |(_, own)| own);
            sample::find(own).is_some_and(Sample::counts_per_second)
        };
        let is_one = first.iter().all(|(_, name)| counts(name));
        let is_sought = self.samples.contains("capacity_per_s");
        if is_one || is_sought { Vec::new() } else { first }
    }

    /// Whether requests came faster than they were done.
    pub fn is_overloaded(&self) -> bool {
        self.sample("overloaded") == Some(1.0)
    }

    /// The latencies in ns.
    ///
    /// # Errors
    ///
    /// Where the store holds no histogram.
    pub fn latencies(&self) -> Result<Histogram<u64>> {
        decode_latencies(&self.latency_hdr)
            .map_err(|error| error.context(format!("trial {}", self.trial)))
    }
}

/// The latencies in ns that [`Record::latency_hdr`] holds.
///
/// # Errors
///
/// Where the text is no histogram.
pub fn decode_latencies(text: &str) -> Result<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).map_err(Error::failure)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(Error::failure)
}

/// Latencies in ns, as [`Record::latency_hdr`] holds them.
pub fn encode_latencies(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail");
    BASE64_STANDARD.encode(bytes)
}

/// What people call a key: the last part of its path, but for the kind of a file system.
pub fn short_key(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((table, "kind")) if table.rsplit('.').next() == Some("fs") => "file system",
        Some((_, last)) => last,
        None => path,
    }
}

/// A value without JSON's quotes.
pub fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A factor's value of a text: a whole number where it is one, and otherwise the text.
pub fn factor_value(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| Json::from(text), Json::from)
}
