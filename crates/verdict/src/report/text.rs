//! Tables for the terminal.

use crate::judge::design::row_order;
use crate::reproduce::{Comparison, Summary, is_fitted};
use crate::tables::{figure, paragraphs, share, table, trimmed};
use crate::why::{CellSummary, judged_by, workloads};
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::Manifest;
use store::known::Cell;
use store::published::{Published, PublishedCell, includes};
use store::record::{label, short_key, shown};

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
    let main: Vec<(&str, String)> = names
        .iter()
        .filter_map(|name| {
            let (sample, quantity) = match published.and_then(|table| only_sample(table, name)) {
                Some(sample) => (sample, manifest.quantity(name, sample)),
                None => judged_by(manifest, name, cells)?,
            };
            Some((sample, quantity.unit))
        })
        .collect();
    let beside: Vec<Option<&Published>> = names
        .iter()
        .zip(&main)
        .map(|(name, (sample, _))| published.filter(|table| has_sample(table, name, sample)))
        .collect();
    let mut fitted: Vec<_> =
        manifest.hosts_and_controllers().flat_map(|host| &host.fitted).collect();
    fitted.retain(|cell| published.is_some_and(|table| cell.table == table.name));
    let latencies = cells.iter().any(|c| c.records.iter().any(|r| r.sample(P99).is_some()));
    for ((name, (_, unit)), beside) in names.iter().zip(&main).zip(&beside) {
        header.push(format!("{name} {unit}"));
        if beside.is_some() {
            header.push("published".into());
        }
        if latencies {
            header.push("p99 ms".into());
        }
    }
    let mut table = table(&header, factors);
    for at in rows {
        let mut row: Vec<String> = at.iter().map(|(path, value)| shown(path, value)).collect();
        for ((name, (sample, _)), beside) in names.iter().zip(&main).zip(&beside) {
            let cell = cells.iter().find(|cell| cell.workload == *name && cell.at == at);
            row.push(cell.map_or_else(String::new, |cell| spread(cell, sample)));
            if let Some(published) = beside {
                row.push(published_number(published, name, sample, at, &fitted));
            }
            if latencies {
                row.push(cell.map_or_else(String::new, |c| figure(c.median(P99))));
            }
        }
        table.add_row(row);
    }
    let text = format!("{table}\n");
    match published {
        Some(published) => with_source(&text, published, beside.iter().any(Option::is_none)),
        None => text,
    }
}

/// A table with where its published numbers are from, and where those are that it has `left_out`.
fn with_source(table: &str, published: &Published, left_out: bool) -> String {
    let mut text = format!("{table}\npublished: {}", published.source);
    if text.contains(FITTED) {
        write!(text, "; {FITTED} a constant of the model was fitted to it")
            .expect("a string grows");
    }
    if left_out {
        let next = format!("`ileave reproduce {}` has its numbers beside ours", published.name);
        write!(text, "; {next}").expect("a string grows");
    }
    text + "\n"
}

/// Marks a published number that a constant of the model was fitted to.
const FITTED: char = '*';

/// The sample that a published table has of a workload, where it is just one.
fn only_sample<'a>(published: &'a Published, workload: &str) -> Option<&'a str> {
    let mut samples = published.cells.iter().filter(|cell| cell.workload == workload);
    let first = samples.next()?.sample.as_str();
    samples.all(|cell| cell.sample == first).then_some(first)
}

fn has_sample(published: &Published, workload: &str, sample: &str) -> bool {
    published.cells.iter().any(|cell| cell.workload == workload && cell.sample == sample)
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

/// What was published for a cell, marked where the model was fitted to it.
fn published_number(
    published: &Published,
    workload: &str,
    sample: &str,
    at: &Map<String, Json>,
    fitted: &[&Cell],
) -> String {
    let of = |cell: &&PublishedCell| {
        cell.workload == workload && cell.sample == sample && includes(at, &cell.at)
    };
    let Some(cell) = published.cells.iter().find(of) else { return String::new() };
    let number = cell.published.show(|number| figure(number / cell.per_sample));
    match is_fitted(&published.name, cell, fitted) {
        true => format!("{number}{FITTED}"),
        // So that the digits of a column stand below each other.
        false if !fitted.is_empty() => format!("{number} "),
        false => number,
    }
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
        let mut row = vec![cell.quantity.clone()];
        row.extend(
            keys.iter().map(|key| cell.at.get(*key).map_or_else(String::new, |v| shown(key, v))),
        );
        row.extend([
            cell.published.show(figure),
            cell.simulated.map_or_else(String::new, figure),
            cell.unit.clone(),
            cell.error_words(),
            cell.remark().into(),
        ]);
        table.add_row(row);
    }
    format!("{}{}\n\n{}", heading(comparison), trimmed(&table), summary(comparison))
}

fn heading(comparison: &Comparison) -> String {
    format!("{}: {}\n\n", comparison.name, comparison.source)
}

/// The same without the cells.
pub fn comparison_in_short(comparison: &Comparison) -> String {
    heading(comparison) + &summary(comparison)
}

fn summary(comparison: &Comparison) -> String {
    let mut text = String::new();
    let quantities = comparison.quantities();
    // What nothing was published of has nothing to agree with.
    for (name, summary) in quantities.iter().filter(|(_, summary)| summary.cells > 0) {
        writeln!(text, "{name}: {}", summary_line(summary)).expect("a string grows");
    }
    if quantities.len() > 1 {
        writeln!(text, "all: {}", summary_line(&comparison.summary)).expect("a string grows");
    }
    let mut sentences = Vec::new();
    if !comparison.inferred.is_empty() {
        let inferred = comparison.inferred.join("; ");
        sentences.push(format!("Inferred, for the source does not say it: {inferred}."));
    }
    sentences.extend(comparison.not_modelled.iter().map(|words| format!("Not modelled: {words}.")));
    if !sentences.is_empty() {
        write!(text, "\n{}", paragraphs(&sentences)).expect("a string grows");
    }
    text
}

fn summary_line(summary: &Summary) -> String {
    let mut parts =
        vec![if summary.cells == 1 { "1 cell".into() } else { format!("{} cells", summary.cells) }];
    match (summary.median_error, summary.max_error) {
        (Some(median), Some(most)) => parts.push(format!(
            "{} predicted with a median error of {} and at most {}",
            summary.predicted_cells,
            share(median),
            share(most)
        )),
        _ => parts.push("none predicted".into()),
    }
    if let Some(rank) = summary.rank_correlation {
        parts.push(format!("rank correlation {rank:.2}"));
    }
    if let (Some(theirs), Some(ours)) = (&summary.best_published, &summary.best_simulated) {
        parts.push(format!("best published {}, best simulated {}", label(theirs), label(ours)));
    }
    if summary.missing_cells > 0 {
        parts.push(format!("{} not simulated", summary.missing_cells));
    }
    parts.join("; ")
}
