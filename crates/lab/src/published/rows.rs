//! Published tables whose rows are unlike each other: each says what it is a result of.

use super::{PublishedCell, Quoted};
use crate::catalogue;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// What the rows have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    /// The CSV column with the number, or with the lower end of a range.
    low: String,
    /// The CSV column with the upper end.
    high: String,
    /// What every row is that does not say it itself.
    #[serde(default)]
    sample: String,
    #[serde(default)]
    unit: String,
    /// Of the published unit, how much one of the sample's is.
    #[serde(default = "one")]
    per_sample: f64,
}

fn one() -> f64 {
    1.0
}

/// One row: which of the CSV's it is, and what ours is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The words that pick the CSV's row; none where there is nothing published to compare with.
    #[serde(default, rename = "where")]
    picks: BTreeMap<String, String>,
    workload: String,
    /// The experiment's workload, where that has another name.
    trial: Option<String>,
    /// The factors' values, by key path, where the workload has several cells.
    #[serde(default)]
    at: Map<String, Json>,
    sample: Option<String>,
    unit: Option<String>,
    /// An input of the experiment was fitted to it.
    #[serde(default)]
    fitted: bool,
    /// Another table of the post has the same number more exactly, and counts.
    #[serde(default)]
    repeats: bool,
    /// It follows from a drive's geometry and is not the result of a run.
    bound: Option<Bound>,
}

/// What passes under a drive's head.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    drive: String,
    /// As others count them; the drive's own outermost where it is not given.
    sectors_per_track: Option<u32>,
}

impl Bound {
    /// McVoy's formula: sectors / 2 × rpm / 60, in KB of 1024 bytes a second.
    fn kib_per_s(&self) -> Result<f64> {
        let platters = catalogue::drive(&self.drive)?.disk()?.spec()?.platters;
        let formatted = platters.zones.first().map_or(0, |zone| zone.slots_per_track);
        let sectors = self.sectors_per_track.unwrap_or(formatted);
        Ok(f64::from(sectors) / 2.0 * 1e9 / platters.revolution_ns as f64)
    }
}

/// The cells of `rows`, whose numbers are in `csv`, which is called `name`.
pub(super) fn read(
    name: &str,
    csv: &str,
    common: &Rows,
    rows: &[Row],
) -> Result<Vec<PublishedCell>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let table: std::result::Result<Vec<BTreeMap<String, String>>, _> =
        reader.deserialize().collect();
    let table = table.map_err(Error::failure)?;
    let number = |line: &BTreeMap<String, String>, column: &str| -> Result<f64> {
        let text = line.get(column).map_or("", String::as_str);
        text.parse()
            .map_err(|_| Error::failure(format!("{name}: `{column}` has `{text}`, no number")))
    };
    let cell = |row: &Row| -> Result<PublishedCell> {
        let matches = |line: &&BTreeMap<String, String>| {
            row.picks.iter().all(|(column, word)| line.get(column) == Some(word))
        };
        let published = if row.picks.is_empty() {
            Quoted::Nothing
        } else {
            let line = table
                .iter()
                .find(matches)
                .ok_or_else(|| Error::failure(format!("{name} has no row {:?}", row.picks)))?;
            Quoted::between(number(line, &common.low)?, number(line, &common.high)?)
        };
        Ok(PublishedCell {
            at: row.at.clone(),
            workload: row.workload.clone(),
            trial: row.trial.as_ref().unwrap_or(&row.workload).clone(),
            group: None,
            sample: row.sample.as_ref().unwrap_or(&common.sample).clone(),
            unit: row.unit.as_ref().unwrap_or(&common.unit).clone(),
            per_sample: common.per_sample,
            published,
            computed: row.bound.as_ref().map(Bound::kib_per_s).transpose()?,
            fitted: row.fitted,
            apart: false,
            repeats: row.repeats,
        })
    };
    rows.iter().map(cell).collect()
}
