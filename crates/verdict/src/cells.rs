//! Cells: the trials of one workload on one layout, and the order in which tables have them.

use crate::stats::median;
use block::units::parse_bytes;
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use store::Manifest;
use store::factor::Factors;
use store::quantity::Quantity;
use store::record::{Record, plain};

/// A cell of one workload: the medians of its repeats.
#[derive(Clone, Debug)]
pub struct CellSummary<'a> {
    /// The factors' values, by key path.
    pub at: &'a Map<String, Json>,
    /// The workload.
    pub workload: &'a str,
    /// Its repeats.
    pub records: Vec<&'a Record>,
    /// What is known of the factors.
    pub factors: &'a Factors,
}

impl CellSummary<'_> {
    /// The median of a sample over the repeats; `None` where it was not measured.
    pub fn measured(&self, sample: &str) -> Option<f64> {
        median(&self.samples(sample))
    }

    /// All samples of this name, in the order of the repeats.
    pub fn samples(&self, sample: &str) -> Vec<f64> {
        let mut records = self.records.clone();
        records.sort_by_key(|record| record.repeat);
        records.into_iter().filter_map(|record| record.sample(sample)).collect()
    }

    /// The median of a sample; 0 where it was not measured.
    pub fn median(&self, sample: &str) -> f64 {
        self.measured(sample).unwrap_or(0.0)
    }

    /// The streams of a mix, in their order; none where it is no mix.
    pub fn streams(&self) -> Vec<&str> {
        let mut streams: Vec<&str> = Vec::new();
        let names = self.records.iter().flat_map(|record| record.samples.names());
        for (stream, _) in names.filter_map(|name| name.rsplit_once('.')) {
            if !streams.contains(&stream) {
                streams.push(stream);
            }
        }
        streams
    }

    /// The cell in words.
    pub fn label(&self) -> String {
        self.factors.label(self.at)
    }
}

/// The cells of all workloads, those of the first workload first.
pub fn cells<'a>(manifest: &'a Manifest, records: &'a [Record]) -> Vec<CellSummary<'a>> {
    let mut cells = unordered(&manifest.factors, records);
    cells.sort_by_key(|cell| manifest.workloads.iter().position(|name| name == cell.workload));
    cells
}

/// The cells of all workloads, in the order in which they first appear.
pub(crate) fn unordered<'a>(factors: &'a Factors, records: &'a [Record]) -> Vec<CellSummary<'a>> {
    let mut cells: Vec<CellSummary<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for record in records {
        let at = serde_json::to_string(&record.at).expect("values are JSON");
        let place = *places.entry((&record.workload, at)).or_insert(cells.len());
        if place == cells.len() {
            let records = Vec::new();
            cells.push(CellSummary {
                at: &record.at,
                workload: &record.workload,
                records,
                factors,
            });
        }
        cells[place].records.push(record);
    }
    cells
}

/// The workloads, in the order in which they first appear.
pub fn workloads<'a>(cells: &[CellSummary<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for cell in cells {
        if !names.contains(&cell.workload) {
            names.push(cell.workload);
        }
    }
    names
}

/// The sample that a workload's cells are judged by, and what it is; `None` where nothing was measured.
pub(crate) fn judged_by<'a>(
    manifest: &'a Manifest,
    name: &str,
    cells: &[&'a CellSummary<'_>],
) -> Option<(&'a str, Quantity)> {
    let of = cells.iter().find(|cell| cell.workload == name)?;
    let sample = manifest.main_sample(of.records.first()?)?;
    Some((sample, manifest.quantity(name, sample)))
}

/// The natural order of lists of values.
pub fn compare_all<'a>(
    a: impl IntoIterator<Item = &'a Json>,
    b: impl IntoIterator<Item = &'a Json>,
) -> Ordering {
    let mut orders = a.into_iter().zip(b).map(|(a, b)| compare(a, b));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The natural order of values: numbers and sizes by what they count, and other words behind them.
pub fn compare(a: &Json, b: &Json) -> Ordering {
    let size = |value: &Json| {
        let text = value.as_str()?;
        text.ends_with('B').then(|| parse_bytes(text).ok())?.map(|bytes| bytes as f64)
    };
    let number = |value: &Json| value.as_f64().or_else(|| size(value));
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => {
            let order = |value: &Json| {
                let text = plain(value);
                (count(&text), text)
            };
            order(a).cmp(&order(b))
        }
    }
}

/// How many drives: 10 of `10xwd740gd`, and one of `wd740gd`.
fn count(drives: &str) -> u32 {
    drives.split_once('x').and_then(|(count, _)| count.parse().ok()).unwrap_or(1)
}

/// Cells in the order of their values, numbers as numbers and sizes as sizes.
pub fn row_order(a: &Map<String, Json>, b: &Map<String, Json>) -> Ordering {
    let compared = a.values().zip(b.values()).map(|(a, b)| compare(a, b));
    compared.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_ordered_by_their_number() {
        let mut drives =
            ["10xwd740gd", "2xwd740gd", "wd740gd", "3xwd740gd:8GiB"].map(Json::from).to_vec();
        drives.sort_by(compare);
        assert_eq!(drives, ["wd740gd", "2xwd740gd", "3xwd740gd:8GiB", "10xwd740gd"]);
    }
}
