//! Tables for the terminal.

use crate::catalogue::Description;
use crate::published::Published;
use crate::quantity::Quantity;
use crate::record::{label, plain, short_key};
use crate::reproduce::{Comparison, Summary, includes};
use crate::store::Manifest;
use crate::verdict::design::compare;
use crate::verdict::layouts::main_sample;
use crate::why::{CellSummary, workloads};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

/// The table of a run: a row for each cell, the workloads side by side where they share their factors,
/// and the published numbers beside ours.
pub fn run(
    manifest: &Manifest,
    cells: &[CellSummary<'_>],
    published: Option<&Published>,
) -> String {
    let mut text = String::new();
    for group in groups(cells) {
        writeln!(text, "{}", group_table(manifest, &group, published)).expect("a string grows");
    }
    text
}

/// The sample that a workload's cells are judged by, and its unit.
fn main_of<'a>(
    manifest: &'a Manifest,
    name: &str,
    cells: &[&'a CellSummary<'_>],
) -> (&'a str, String) {
    let of = cells.iter().find(|cell| cell.workload == name).and_then(|cell| cell.records.first());
    let sample = of.and_then(|record| main_sample(manifest, record)).unwrap_or("mb_per_s");
    let said = manifest.imported.iter().flat_map(|imported| &imported.quantities);
    let mut said = said.filter(|q| q.workload == name && q.sample == sample);
    let unit = said.next().map_or_else(|| Quantity::named(name, sample).unit, |q| q.unit.clone());
    (sample, unit)
}

/// Cells whose workloads have the same factors.
fn groups<'a, 'r>(cells: &'a [CellSummary<'r>]) -> Vec<Vec<&'a CellSummary<'r>>> {
    let mut groups: Vec<Vec<&CellSummary<'r>>> = Vec::new();
    for cell in cells {
        let same = |group: &&mut Vec<&CellSummary<'r>>| group[0].at.keys().eq(cell.at.keys());
        match groups.iter_mut().find(same) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}

fn group_table(
    manifest: &Manifest,
    cells: &[&CellSummary<'_>],
    published: Option<&Published>,
) -> String {
    let owned: Vec<CellSummary<'_>> = cells.iter().map(|cell| (*cell).clone()).collect();
    let names = workloads(&owned);
    let mut rows: Vec<&Map<String, Json>> = Vec::new();
    for cell in cells {
        if !rows.contains(&cell.at) {
            rows.push(cell.at);
        }
    }
    rows.sort_by(|a, b| row_order(a, b));
    // What was published stands beside ours only where the same was varied and nothing else.
    let published = published.filter(|published| {
        published.cells.iter().any(|cell| rows.iter().any(|at| **at == cell.at))
    });
    let mut header: Vec<String> = rows[0].keys().map(|path| short_key(path).to_string()).collect();
    let factors = header.len();
    let main: Vec<(&str, String)> =
        names.iter().map(|name| main_of(manifest, name, cells)).collect();
    let latencies = cells.iter().any(|c| c.records.iter().any(|r| r.sample(P99).is_some()));
    for (name, (_, unit)) in names.iter().zip(&main) {
        header.push(format!("{name} {unit}"));
        if published.is_some() {
            header.push("published".into());
        }
        if latencies {
            header.push("p99 ms".into());
        }
    }
    let mut table = table(&header, factors);
    for at in rows {
        let mut row: Vec<String> = at.values().map(plain).collect();
        for (name, (sample, _)) in names.iter().zip(&main) {
            let cell = cells.iter().find(|cell| cell.workload == *name && cell.at == at);
            row.push(cell.map_or_else(String::new, |cell| spread(cell, sample)));
            if let Some(published) = published {
                row.push(published_rate(published, name, at));
            }
            if latencies {
                row.push(cell.map_or_else(String::new, |c| figure(c.median(P99))));
            }
        }
        table.add_row(row);
    }
    match published {
        Some(published) => format!("{table}\n\npublished: {}\n", published.source),
        None => format!("{table}\n"),
    }
}

const P99: &str = "latency_p99_ms";

/// The median of a sample, and the spread of the repeats where there are several.
fn spread(cell: &CellSummary<'_>, sample: &str) -> String {
    let median = figure(cell.median(sample));
    let rates: Vec<f64> = cell.records.iter().filter_map(|r| r.sample(sample)).collect();
    if rates.len() < 2 {
        return median;
    }
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    format!("{median} ({}–{})", figure(low), figure(high))
}

fn published_rate(published: &Published, workload: &str, at: &Map<String, Json>) -> String {
    let cell =
        published.cells.iter().find(|cell| cell.workload == workload && includes(at, &cell.at));
    cell.map_or_else(String::new, |cell| {
        cell.published.show(|number| figure(number / cell.per_sample))
    })
}

/// Published beside simulated, cell by cell, and how well they agree.
pub fn comparison(comparison: &Comparison) -> String {
    let mut keys: Vec<&String> = Vec::new();
    for key in comparison.cells.iter().flat_map(|cell| cell.at.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut header: Vec<String> = vec!["workload".into()];
    header.extend(keys.iter().map(|path| short_key(path).to_string()));
    let words = header.len();
    header.extend(["published", "simulated", "unit", "error", ""].map(String::from));
    let mut table = table(&header, words);
    for cell in &comparison.cells {
        let mut row = vec![cell.workload.clone()];
        row.extend(keys.iter().map(|key| cell.at.get(*key).map_or_else(String::new, plain)));
        row.extend([
            cell.published.show(figure),
            figure(cell.simulated),
            cell.unit.clone(),
            cell.error().map_or_else(String::new, |error| format!("{:+.1} %", 100.0 * error)),
            match (cell.apart, cell.fitted) {
                (true, _) => "apart".into(),
                (false, true) => "fitted".into(),
                (false, false) => String::new(),
            },
        ]);
        table.add_row(row);
    }
    let mut text = format!("{}: {}\n\n{table}\n\n", comparison.name, comparison.source);
    for (name, summary) in &comparison.groups {
        writeln!(text, "{name}: {}", summary_line(summary)).expect("a string grows");
    }
    writeln!(text, "all: {}", summary_line(&comparison.summary)).expect("a string grows");
    if !comparison.inferred.is_empty() {
        let inferred = comparison.inferred.join("; ");
        let sentence = format!("Inferred, for the source does not say it: {inferred}.");
        write!(text, "\n{}", paragraphs(&[sentence])).expect("a string grows");
    }
    text
}

fn summary_line(summary: &Summary) -> String {
    let share = |share: Option<f64>| share.map_or("none".into(), |s| format!("{:.1} %", 100.0 * s));
    let best = |at: &Option<Map<String, Json>>| at.as_ref().map_or("none".into(), label);
    let ranks = summary.rank_correlation.map_or("none".into(), |r| format!("{r:.2}"));
    format!(
        "{} cells, {} of them predicted with a median error of {} and at most {}; rank correlation \
         {ranks}; best published {}, best simulated {}",
        summary.cells,
        summary.predicted_cells,
        share(summary.median_error),
        share(summary.max_error),
        best(&summary.best_published),
        best(&summary.best_simulated)
    )
}

/// Sentences as paragraphs of at most 100 columns.
pub fn paragraphs(sentences: &[String]) -> String {
    let options = textwrap::Options::new(100).subsequent_indent("  ");
    let wrapped = sentences.iter().map(|sentence| textwrap::fill(sentence, &options) + "\n");
    wrapped.collect()
}

/// A drive or a host: every figure with its kind and source, and what follows from them.
pub fn description(of: &Description) -> String {
    let mut text = format!("{} ({})\n", of.title, of.name);
    if !of.also.is_empty() {
        writeln!(text, "also found as {}", of.also.join(", ")).expect("a string grows");
    }
    if let Some(note) = &of.note {
        writeln!(text, "{note}").expect("a string grows");
    }
    let mut figures = table(&["figure", "value", "unit", "kind", "source"].map(String::from), 5);
    for stated in &of.figures {
        figures.add_row([
            stated.key,
            &stated.value.to_string(),
            stated.unit,
            &stated.kind.to_string(),
            &stated.source,
        ]);
    }
    write!(text, "\n{figures}\n").expect("a string grows");
    if !of.derived.is_empty() {
        let mut derived = table(&["follows", "value", "unit"].map(String::from), 1);
        for row in &of.derived {
            derived.add_row([row.key, &figure(row.value), row.unit]);
        }
        write!(text, "\n{derived}\n").expect("a string grows");
    }
    text
}

/// Cells in the order of their values, numbers as numbers and sizes as sizes.
pub(super) fn row_order(a: &Map<String, Json>, b: &Map<String, Json>) -> std::cmp::Ordering {
    let compared = a.values().zip(b.values()).map(|(a, b)| compare(a, b));
    compared.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
}

/// A table without lines, whose first `words` columns are words and the others numbers.
pub fn table(header: &[String], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A number with three or four digits that count.
pub fn figure(number: f64) -> String {
    match number.abs() {
        n if n >= 1000.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
