//! What results keep of a drive, a host or a RAID controller, so that no report of them has to look it up in a
//! catalogue that may have changed since.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The host of an experiment that names none: it cuts nothing and costs nothing.
pub const IDEAL_HOST: &str = "ideal";

/// What results keep of a drive: as its file said, whatever an experiment changed of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property by itself")]
pub struct KnownDrive {
    /// A hash of its file.
    pub digest: String,
    /// Sectors that can be addressed; `None` where even that is not known, as of a file that was gone.
    pub sectors: Option<u64>,
    /// Whether a write is done once it is in the buffer.
    pub write_cache: Option<bool>,
    /// How it was filled when it was measured (`drive.state`); `None` where that makes no difference, as of disks, and
    /// in results that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Its SLC cache, where it is known to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<KnownSlc>,
    /// `reads`, `writes` and `flushes`, where nothing measured them and no data sheet gives them: they are guesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guessed: Vec<String>,
    /// Whether how its read buffer is divided is an estimate: how many runs of sectors it holds, and how long each is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub buffer_is_guessed: bool,
    /// What its data sheet promises, beside the most that its model makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promised: Vec<Promise>,
    /// What measurements of its writes disagree in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt_of_writes: Option<String>,
    /// What is doubtful of all its figures, as where it misses what it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Whether what stops the instance erases it: a disk of a cloud instance's host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_with_instance: bool,
    /// Whether it is behind a network, as a cloud's volumes are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_remote: bool,
    /// The most that it moves, in MB/s, where the time of a request alone is taken to be the same at every size, since nobody
    /// measured more than one: of cloud volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_size_mb_per_s: Option<f64>,
    /// Whether it takes one command at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_one: bool,
    /// What one cost, in US dollars.
    pub price_usd: Option<f64>,
    /// What its model was found to err by, if it was held against a trace.
    pub model_error_percent: Option<f64>,
    /// Where that was found.
    pub model_error_source: Option<String>,
}

/// What is known of an SLC cache: gigabytes, and rates of writes in order in MB/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownSlc {
    /// What it holds.
    pub gb: f64,
    /// What it has room for when a job begins.
    pub left_gb: f64,
    /// The rate while it has room.
    pub mb_per_s: f64,
    /// The rate once it is full.
    pub full_mb_per_s: f64,
    /// The rate over all of the drive.
    pub lasting_mb_per_s: f64,
}

/// What a data sheet promises of long requests in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// `reads` or `writes`.
    pub what: String,
    /// The sheet's rate, in MB/s.
    pub sheet_mb_per_s: f64,
    /// The most that the model makes, in MB/s.
    pub modelled_mb_per_s: f64,
}

/// What disks of a cloud instance's host risk together.
pub const ERASED_TOGETHER: &str = "stopping the instance, or a fault of its host, erases all its disks at once, whatever the level: keep a copy elsewhere";

/// How flash may be filled (`drive.state`).
const FILLS: [&str; 4] = ["fresh", "sequential", "random", "steady"];

/// How the media cache of a shingled disk may be filled (`drive.media_cache`).
const MEDIA_CACHES: [&str; 2] = ["filled", "clean"];

impl KnownDrive {
    /// Whether it is a shingled disk: nothing else has a media cache.
    pub fn is_shingled(&self) -> bool {
        self.state.as_deref().is_some_and(|state| MEDIA_CACHES.contains(&state))
    }

    /// Whether it is a flash drive: nothing else is in a state of how it was filled.
    pub fn is_flash(&self) -> bool {
        self.state.as_deref().is_some_and(|state| FILLS.contains(&state))
    }
}

/// What results keep of a host or a RAID controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownHost {
    /// A hash of its file.
    pub digest: String,
    /// The published cells that its figures were fitted to: those are no predictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<Cell>,
}

/// Cells of a published table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The table.
    pub table: String,
    /// The workload, as the table calls it.
    pub workload: String,
    /// The factors that pick the cell, each as it is written.
    pub at: BTreeMap<String, String>,
    /// The samples; all of the cell where there is none.
    pub samples: Vec<String>,
}

impl Cell {
    /// Whether this sample is one of the cell's.
    pub fn has_sample(&self, sample: &str) -> bool {
        self.samples.is_empty() || self.samples.iter().any(|name| name == sample)
    }
}
