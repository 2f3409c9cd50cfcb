//! Published tables: other people's numbers, to stand beside ours.

use crate::factor::Factors;
use crate::quoted::Quoted;
use crate::record::short_key;
use serde_json::{Map, Value as Json};

/// A published table, in terms of an experiment.
#[derive(Clone, Debug)]
pub struct Published {
    /// What it is called.
    pub name: String,
    /// Where it was published.
    pub source: String,
    /// The text of the experiment that re-runs it.
    pub experiment: String,
    /// What our numbers rest on that was not published, in words.
    pub inferred: Vec<String>,
    /// What was published beside it and is not re-run, in words.
    pub not_modelled: Vec<String>,
    /// What varies in it.
    pub factors: Factors,
    /// Its cells.
    pub cells: Vec<PublishedCell>,
}

/// One number of a published table.
#[derive(Clone, Debug)]
pub struct PublishedCell {
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The workload, as the table has it.
    pub workload: String,
    /// The experiment's workload that has it among its samples.
    pub trial: String,
    /// What it is summed up with, where the table says that.
    pub group: Option<String>,
    /// The sample that it is a value of.
    pub sample: String,
    /// Its unit.
    pub unit: String,
    /// Of that unit, how much one of the sample's is.
    pub per_sample: f64,
    /// The number.
    pub published: Quoted,
    /// Ours, where it follows from a drive's figures and no run is needed.
    pub computed: Option<f64>,
    /// Whether an input of the experiment was fitted to it.
    pub fitted: bool,
    /// Whether it is known not to be reproduced, and is a quantity of its own.
    pub apart: bool,
    /// Whether another cell has the same number more exactly, so that it does not count.
    pub repeats: bool,
}

impl PublishedCell {
    /// What the sample's column is called in a table.
    pub fn heading(&self) -> String {
        format!("{} {}", self.workload, short_key(&self.unit))
    }
}

/// Whether `at` has every value that `wanted` names.
pub fn includes(at: &Map<String, Json>, wanted: &Map<String, Json>) -> bool {
    wanted.iter().all(|(path, value)| at.get(path) == Some(value))
}
