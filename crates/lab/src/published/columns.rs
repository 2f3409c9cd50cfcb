//! Published tables with the same columns in every row.

use super::{Column, Mapping, PublishedCell, Quoted};
use crate::error::{Error, Result};
use crate::record::factor_value;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Where the rows are in the experiment, if that has other words than the table itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ours {
    /// What the rows' workload is called beside ours; as the columns say where it is not given.
    #[serde(default)]
    called: String,
    /// The key path that each of these CSV columns gives.
    #[serde(default)]
    factors: BTreeMap<String, String>,
    /// For a CSV column, the factors that each of its words stands for.
    #[serde(default)]
    places: BTreeMap<String, BTreeMap<String, Map<String, Json>>>,
    /// For a CSV column of factors, what its words are called in the experiment; "" where they are no
    /// factor there.
    #[serde(default)]
    values: BTreeMap<String, BTreeMap<String, String>>,
    /// The CSV column that says which workload a row is, by its words here.
    workload: String,
    workloads: BTreeMap<String, String>,
    /// The CSV columns whose words make groups, together with what a column is; each sample makes one
    /// where there are none.
    #[serde(default)]
    groups: Vec<String>,
    /// The sample for each CSV column of numbers, in which `{step}` stands for the word of column `step`;
    /// "" where ours has none.
    samples: BTreeMap<String, String>,
    /// Of the published unit, how much one of the sample's is.
    per_sample: Option<f64>,
    /// Rows to which inputs of the experiment were fitted.
    #[serde(default)]
    fitted: Vec<Picked>,
    /// Numbers that are known not to be reproduced, and stand apart.
    #[serde(default)]
    apart: Vec<Picked>,
}

/// Some numbers of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Picked {
    /// The CSV columns of numbers.
    columns: Vec<String>,
    /// The words that pick the rows.
    #[serde(rename = "where")]
    rows: BTreeMap<String, String>,
}

/// A row of the CSV file, by column.
type Row = BTreeMap<String, String>;

impl Picked {
    fn picks(&self, row: &Row, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
            && self.rows.iter().all(|(name, word)| row.get(name) == Some(word))
    }
}

impl Ours {
    /// Whether all columns that it names are there; else one that is not.
    fn missing<'a>(&'a self, row: &Row) -> Option<&'a String> {
        let picked = self.fitted.iter().chain(&self.apart).flat_map(|p| p.rows.keys());
        let places = self.places.keys().chain(&self.groups);
        let named = self.factors.keys().chain([&self.workload]).chain(places).chain(picked);
        named.into_iter().find(|name| !row.contains_key(*name))
    }

    fn at(&self, row: &Row) -> Result<Map<String, Json>> {
        let factor = |(column, path): (&String, &String)| {
            let word = &row[column];
            let word = self.values.get(column).and_then(|words| words.get(word)).unwrap_or(word);
            (!word.is_empty()).then(|| (path.clone(), factor_value(word)))
        };
        let mut at: Map<String, Json> = self.factors.iter().filter_map(factor).collect();
        for (column, places) in &self.places {
            at.extend(named(places, &format!("places.{column}"), &row[column])?);
        }
        Ok(at)
    }

    /// The cell of one number, if ours has one beside it.
    fn place(
        &self,
        cell: PublishedCell,
        row: &Row,
        column: &Column,
    ) -> Result<Option<PublishedCell>> {
        let csv = &column.csv;
        let mut sample = named(&self.samples, "samples", csv)?;
        if sample.is_empty() {
            return Ok(None);
        }
        for (name, word) in row {
            sample = sample.replace(&format!("{{{name}}}"), word);
        }
        let mut cell = PublishedCell { sample, at: self.at(row)?, ..cell };
        cell.trial = named(&self.workloads, "workloads", &row[&self.workload])?;
        cell.per_sample = self.per_sample.unwrap_or(1.0);
        cell.fitted |= self.fitted.iter().any(|picked| picked.picks(row, csv));
        cell.apart = self.apart.iter().any(|picked| picked.picks(row, csv));
        if !self.called.is_empty() {
            cell.workload.clone_from(&self.called);
        }
        if self.groups.is_empty() {
            return Ok(Some(cell));
        }
        let words = self.groups.iter().map(|name| row[name].as_str());
        let parts = [column.workload.as_str()].into_iter().chain(words);
        let mut group = parts.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if cell.apart {
            group.push_str(", apart");
        }
        cell.group = Some(group);
        Ok(Some(cell))
    }
}

fn named<T: Clone>(table: &BTreeMap<String, T>, what: &str, word: &str) -> Result<T> {
    let found = table.get(word).cloned();
    found.ok_or_else(|| Error::failure(format!("`ours.{what}` has no `{word}`")))
}

/// The cells of the CSV text of `mapping`.
pub(super) fn read(mapping: &Mapping, csv: &str) -> Result<Vec<PublishedCell>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let mut cells = Vec::new();
    for row in reader.deserialize() {
        let row: Row = row.map_err(Error::failure)?;
        let columns = mapping.column.iter().map(|column| &column.csv);
        let ours = mapping.ours.as_ref();
        let missing = columns.chain(mapping.factors.keys()).find(|name| !row.contains_key(*name));
        if let Some(name) = missing.or_else(|| ours.and_then(|ours| ours.missing(&row))) {
            return Err(Error::failure(format!("{} has no column `{name}`", mapping.csv)));
        }
        let factors = mapping.factors.iter();
        let at: Map<String, Json> =
            factors.map(|(csv, path)| (path.clone(), factor_value(&row[csv]))).collect();
        for column in mapping.column.iter().filter(|column| !row[&column.csv].is_empty()) {
            let text = &row[&column.csv];
            let number = text.parse().map_err(|_| {
                Error::failure(format!("{}: `{text}` is not a number", mapping.csv))
            })?;
            let cell = PublishedCell {
                at: at.clone(),
                workload: column.workload.clone(),
                trial: column.workload.clone(),
                group: None,
                sample: column.sample.clone(),
                unit: column.unit.clone(),
                per_sample: 1.0,
                published: Quoted::Number(number),
                computed: None,
                fitted: column.fitted,
                apart: false,
                repeats: false,
            };
            match ours {
                Some(ours) => cells.extend(ours.place(cell, &row, column)?),
                None => cells.push(cell),
            }
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use crate::experiment::Plan;
    use crate::published::{experiment, find};
    use serde_json::Map;
    use store::published::includes;

    #[test]
    fn every_number_of_brownlee_s_table_has_a_trial() {
        let published = find("brownlee-2005").unwrap();
        let plan = Plan::new(&experiment(&published).unwrap()).unwrap();
        assert_eq!((published.cells.len(), plan.trials.len()), (900, 150));
        let trials: Vec<_> = plan
            .trials
            .iter()
            .map(|trial| {
                let at = trial.cell.at.iter();
                let at: Map<_, _> =
                    at.map(|(path, v)| (path.clone(), serde_json::to_value(v).unwrap())).collect();
                (trial.work.name(), at)
            })
            .collect();
        for cell in &published.cells {
            let theirs =
                |(name, at): &&(&str, Map<_, _>)| *name == cell.trial && includes(at, &cell.at);
            assert_eq!(trials.iter().filter(theirs).count(), 1, "{:?}", cell.at);
        }
        let count = |wanted: fn(&crate::published::PublishedCell) -> bool| {
            published.cells.iter().filter(|cell| wanted(cell)).count()
        };
        assert_eq!((count(|cell| cell.fitted), count(|cell| cell.apart)), (150, 12));
    }
}
