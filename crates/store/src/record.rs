//! One finished trial: the line of the store that keeps it, and how its cell is written.

use crate::error::{Error, Result};
use crate::factor;
use base64::prelude::{BASE64_STANDARD, Engine};
use block::SECTOR_BYTES;
use block::units::format_bytes;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

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

impl Record {
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
        .map(|(path, value)| format!("{} {}", short_key(path), with_unit(path, value)))
        .collect();
    parts.join(", ")
}

/// The last part of a key path: what people call it.
pub fn short_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// A factor's value as people write it: sizes in bytes, but for interleaves, which are counted in sectors.
pub fn shown(path: &str, value: &Json) -> String {
    let is_size = factor::is_size(path);
    match value.as_u64().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)) {
        Some(bytes) if is_size => format_bytes(bytes),
        _ => plain(value),
    }
}

/// The same, and beside an interleave, which is counted in sectors, its size: `64 (32 KiB)`.
pub fn with_unit(path: &str, value: &Json) -> String {
    let bytes = value.as_u64().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
    match bytes.filter(|&bytes| bytes > 0 && short_key(path) == "interleave") {
        Some(bytes) => {
            let size = format_bytes(bytes);
            let unit = size.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(size.len());
            format!("{value} ({} {})", &size[..unit], &size[unit..])
        }
        None => shown(path, value),
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(with_unit("volume.interleave", &Json::from(64)), "64 (32 KiB)");
        assert_eq!(with_unit("fs.block", &Json::from(8)), "4KiB");
    }
}
