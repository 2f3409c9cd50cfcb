//! Published tables: other people's numbers, to stand beside ours.

mod columns;
mod rows;

pub use store::published::{Published, PublishedCell};
pub use store::quoted::Quoted;

use crate::error::{Error, Result, nearest};
use crate::experiment::Experiment;
use crate::text::Source;
use include_dir::{Dir, File, include_dir};
use serde::Deserialize;
use std::collections::BTreeMap;
use store::quantity::Better;
use store::{Manifest, sample};

static PUBLISHED: Dir<'_> = include_dir!("$EMBEDDED_PUBLISHED");
static EXPERIMENTS: Dir<'_> = include_dir!("$EMBEDDED_EXPERIMENTS");

/// How a CSV file becomes cells, and results.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    pub(crate) name: String,
    pub(crate) source: String,
    /// The CSV file; empty where the numbers are in the parts.
    #[serde(default)]
    pub(crate) csv: String,
    /// Other files of published/ that the table consists of, by name.
    #[serde(default)]
    pub(crate) parts: Vec<String>,
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
    /// Which way is better; where nothing is said, as the sample's or the unit's table has it.
    #[serde(default)]
    pub(crate) better: Option<Better>,
    /// An input of the experiment was fitted to all its numbers.
    #[serde(default)]
    pub(crate) fitted: bool,
}

impl Column {
    /// Which way is better: as the file says; else as the table of samples has it, if the unit is the same; else as
    /// the unit says.
    pub(crate) fn better(&self) -> Result<Better> {
        let known = sample::find(&self.sample).filter(|known| known.unit == self.unit);
        let said = self.better.or_else(|| known.map(|known| known.better));
        said.or_else(|| sample::better_in(&self.unit)).ok_or_else(|| {
            Error::input(format!(
                "column `{}`: which way is better in `{}`? Add `better = \"lower\"`, `\"higher\"` or `\"neither\"` to it",
                self.csv, self.unit
            ))
        })
    }
}

fn yes() -> bool {
    true
}

/// The text of a file of published/.
pub(crate) fn shipped(file: &str) -> Option<&'static str> {
    PUBLISHED.get_file(file).and_then(|file| file.contents_utf8())
}

/// The names of the published tables, in order. Each is re-run by an experiment.
pub fn names() -> Vec<&'static str> {
    let is_run =
        |file: &&File<'_>| file.contents_utf8().is_some_and(|t| t.contains("\nexperiment = "));
    let mut names: Vec<&str> = PUBLISHED
        .files()
        .filter(is_run)
        .filter_map(|file| file.path().to_str()?.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

/// The published table that stands beside these results, if one does.
///
/// # Errors
///
/// Where there is no table of the name that they have.
pub fn of(manifest: &Manifest) -> Result<Option<Published>> {
    if manifest.published.is_empty() {
        return Ok(None);
    }
    let found = find(&manifest.published);
    found.map(Some).map_err(|error| error.context("`published`"))
}

/// The published table of this name.
///
/// # Errors
///
/// Where there is none.
pub fn find(name: &str) -> Result<Published> {
    let mapping = mapping(name)?;
    if mapping.experiment.is_empty() {
        let has_it = |whole: &&str| mapping_has_part(whole, name);
        let whole = names().into_iter().find(has_it).unwrap_or_default();
        return Err(Error::input(format!(
            "`{name}` is part of the table `{whole}`; name that, or report the part alone with \
             `ileave import {name}`"
        )));
    }
    let experiment = EXPERIMENTS.get_file(&mapping.experiment).and_then(|f| f.contents_utf8());
    let experiment =
        experiment.ok_or_else(|| damaged(name, format!("{} is missing", mapping.experiment)))?;
    let mut published = Published {
        cells: cells(name, &mapping)?,
        name: mapping.name,
        source: mapping.source,
        experiment: experiment.into(),
        inferred: mapping.inferred,
        not_modelled: mapping.not_modelled,
        factors: store::factor::Factors::default(),
    };
    for part in &mapping.parts {
        let mapping = self::mapping(part)?;
        published.cells.extend(cells(part, &mapping)?);
        published.inferred.extend(mapping.inferred);
        published.not_modelled.extend(mapping.not_modelled);
    }
    published.factors =
        crate::experiment::factors(published.cells.iter().flat_map(|cell| cell.at.keys()));
    Ok(published)
}

fn damaged(name: &str, what: impl std::fmt::Display) -> Error {
    Error::failure(format!("published/{name}.toml: {what}"))
}

/// What the file of this name in published/ says.
fn mapping(name: &str) -> Result<Mapping> {
    let Some(text) = shipped(&format!("{name}.toml")) else {
        let names = names();
        let next = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(Error::input(format!("unknown published table `{name}`; {next}")));
    };
    let label = format!("published/{name}.toml");
    Source { label: &label, text }.deserialize("the program was built from a damaged file")
}

fn mapping_has_part(whole: &str, part: &str) -> bool {
    mapping(whole).is_ok_and(|mapping| mapping.parts.iter().any(|name| name == part))
}

/// The cells that the file `name` itself maps.
fn cells(name: &str, mapping: &Mapping) -> Result<Vec<PublishedCell>> {
    if mapping.csv.is_empty() {
        return Ok(Vec::new());
    }
    let csv = shipped(&mapping.csv);
    let csv = csv.ok_or_else(|| damaged(name, format!("{} is missing", mapping.csv)))?;
    let mut cells = columns::read(mapping, csv).map_err(|error| damaged(name, error))?;
    if let Some(common) = &mapping.rows {
        let rows = rows::read(&mapping.csv, csv, common, &mapping.row);
        cells.extend(rows.map_err(|error| damaged(name, error))?);
    }
    Ok(cells)
}

/// The experiment that re-runs a published table.
///
/// # Errors
///
/// Where it is damaged.
pub fn experiment(published: &Published) -> Result<Experiment> {
    let origin = format!("experiments/{}.toml", published.name);
    Experiment::parse(&origin, &published.experiment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_no_table_and_a_typo_is_answered() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert!(message("tao-1996-touch").contains("part of the table `tao-1996`"));
        assert!(message("fair-2007").contains("`fair-2006`"));
    }

    /// What is published in the repository is a table that an experiment re-runs, or a part of one.
    #[test]
    fn nothing_is_left_lying_about() {
        for file in PUBLISHED.files().filter_map(|file| file.path().to_str()) {
            let (name, kind) = file.rsplit_once('.').unwrap();
            let part = names().into_iter().any(|whole| mapping_has_part(whole, name));
            assert!(names().contains(&name) || part, "{file} is of no table");
            assert!(kind == "csv" || find(name).is_ok() || part, "{file}");
        }
    }
}
