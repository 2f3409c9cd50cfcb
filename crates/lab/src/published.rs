//! Published tables: other people's numbers, to stand beside ours.

mod columns;
mod quoted;
mod rows;

pub use quoted::Quoted;

use crate::error::{Error, Result, nearest};
use crate::quantity::Better;
use crate::record::short_key;
use include_dir::{Dir, File, include_dir};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

static PUBLISHED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../published");
static EXPERIMENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../experiments");

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
    /// Whether it is known not to be reproduced, and is summed up apart.
    pub apart: bool,
}

/// How a CSV file becomes cells, and results.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) csv: String,
    /// The experiment that re-runs it; empty where there is none.
    #[serde(default)]
    pub(crate) experiment: String,
    /// Whether it was published, and is not the user's own.
    #[serde(default = "yes")]
    pub(crate) published: bool,
    /// What to minimise or maximise, in the words of `--objective`; empty for every workload.
    #[serde(default)]
    pub(crate) objective: String,
    /// The CSV column of remarks; empty where there is none.
    #[serde(default)]
    pub(crate) note: String,
    /// The key path that each of these CSV columns gives.
    #[serde(default)]
    pub(crate) factors: BTreeMap<String, String>,
    /// For a CSV column of factors, what its words are called here.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) column: Vec<Column>,
    /// Rows that are unlike each other, and what they have in common.
    #[serde(default)]
    row: Vec<rows::Row>,
    rows: Option<rows::Rows>,
    /// Where the rows are in the experiment.
    ours: Option<columns::Ours>,
    #[serde(default)]
    inferred: Vec<String>,
    /// What of the post no experiment re-runs, in words.
    #[serde(default)]
    not_modelled: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    pub(crate) csv: String,
    pub(crate) workload: String,
    pub(crate) sample: String,
    pub(crate) unit: String,
    /// Which way is better, where the unit does not say it.
    #[serde(default)]
    pub(crate) better: Option<Better>,
    /// An input of the experiment was fitted to all its numbers.
    #[serde(default)]
    pub(crate) fitted: bool,
}

fn yes() -> bool {
    true
}

/// The text of a file of published/.
pub(crate) fn shipped(file: &str) -> Option<&'static str> {
    PUBLISHED.get_file(file).and_then(|file| file.contents_utf8())
}

/// The names of the published tables that an experiment re-runs.
pub fn names() -> Vec<&'static str> {
    tables(true)
}

/// The names of those that nothing re-runs yet.
pub fn names_not_run() -> Vec<&'static str> {
    tables(false)
}

fn tables(run: bool) -> Vec<&'static str> {
    let is_run =
        |file: &&File<'_>| file.contents_utf8().is_some_and(|t| t.contains("\nexperiment = "));
    let mut names: Vec<&str> = PUBLISHED
        .files()
        .filter(|file| is_run(file) == run)
        .filter_map(|file| file.path().to_str()?.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

/// The post that a table is of: of `tao-1996-iozone` it is `tao-1996`, author and year.
pub fn post(table: &str) -> &str {
    let year = |part: &str| part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit());
    let mut end = 0;
    for part in table.split('-') {
        end += part.len();
        if year(part) {
            return &table[..end];
        }
        end += 1;
    }
    table
}

/// The table of this name, or where there is none that is re-run, all tables of the post of this name.
///
/// # Errors
///
/// Where there is neither.
pub fn find_all(name: &str) -> Result<Vec<Published>> {
    let of_post: Vec<&str> = names().into_iter().filter(|table| post(table) == name).collect();
    if of_post.is_empty() || names().contains(&name) {
        return Ok(vec![find(name)?]);
    }
    of_post.into_iter().map(find).collect()
}

/// The published table of this name.
///
/// # Errors
///
/// Where there is none.
pub fn find(name: &str) -> Result<Published> {
    let text = PUBLISHED.get_file(format!("{name}.toml")).and_then(|file| file.contents_utf8());
    let Some(text) = text else {
        let names = names();
        let next = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(Error::input(format!("there is no published table `{name}`; {next}")));
    };
    let damaged = |what: String| Error::failure(format!("published/{name}.toml: {what}"));
    let mapping: Mapping = toml::from_str(text).map_err(|error| damaged(error.to_string()))?;
    if mapping.experiment.is_empty() {
        return Err(Error::input(format!(
            "no experiment re-runs `{name}` yet; `ileave import {name}` makes a report of it"
        )));
    }
    let csv = PUBLISHED.get_file(&mapping.csv).and_then(|file| file.contents_utf8());
    let csv = csv.ok_or_else(|| damaged(format!("there is no {}", mapping.csv)))?;
    let experiment = EXPERIMENTS.get_file(&mapping.experiment).and_then(|f| f.contents_utf8());
    let experiment =
        experiment.ok_or_else(|| damaged(format!("there is no {}", mapping.experiment)))?;
    let mut cells = columns::read(&mapping, csv).map_err(|error| damaged(error.to_string()))?;
    if let Some(common) = &mapping.rows {
        let rows = rows::read(&mapping.csv, csv, common, &mapping.row);
        cells.extend(rows.map_err(|error| damaged(error.to_string()))?);
    }
    Ok(Published {
        cells,
        inferred: mapping.inferred,
        not_modelled: mapping.not_modelled,
        name: mapping.name,
        source: mapping.source,
        experiment: experiment.into(),
    })
}

impl PublishedCell {
    /// Whether a larger number is better, as its unit says: it is for rates, and not for times or counts.
    pub fn larger_is_better(&self) -> bool {
        Better::of_unit(&self.unit) == Better::Higher
    }

    /// What the sample's column is called in a table.
    pub fn heading(&self) -> String {
        format!("{} {}", self.workload, short_key(&self.unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_belong_to_posts() {
        assert_eq!(post("tao-1996-ffs-touch"), "tao-1996");
        assert_eq!(post("fair-2006"), "fair-2006");
        assert_eq!(post("mine"), "mine");
        let tables = find_all("tao-1996").unwrap();
        assert!(tables.len() > 1 && tables.iter().all(|table| post(&table.name) == "tao-1996"));
        assert_eq!(find_all("fair-2006").unwrap().len(), 1);
        assert!(find_all("fair-2007").unwrap_err().to_string().contains("`fair-2006`"));
    }
}
