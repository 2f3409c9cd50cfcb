//! Tables for the terminal.

use super::{load, ranking};
use crate::cells::row_order;
use crate::cells::{self, CellSummary, judged_by, workloads};
use crate::judge::{Point, Verdict};
use crate::reproduce::{Comparison, Overview, is_fitted};
use crate::tables::{
    STRONG, figure, fitted as fitted_table, labelled, marked, paragraphs, table, trimmed,
};
use crate::why;
use crate::{lost, pace, unsteady};
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::Manifest;
use store::known::Cell;
use store::published::{Published, PublishedCell, includes};
use store::record::{Record, short_key};
use store::sample::{self, Sample};
use store::words::counted;

/// More cells than these are for `--csv`.
const CELLS_SHOWN_MAX: usize = 100;

/// A run for the terminal: the answer first, what stands below it, why, the numbers, and last the details.
pub fn run(
    manifest: &Manifest,
    records: &[Record],
    verdict: &Verdict,
    published: Option<&Published>,
) -> String {
    let cells = cells::cells(manifest, records);
    let mut text = conclusion(manifest, verdict, &cells);
    let Manifest { name, rig, .. } = manifest;
    let (trials, cells_counted) = (counted(records.len(), "trial"), counted(cells.len(), "cell"));
    let apart = if text.is_empty() { "" } else { "\n" };
    write!(text, "{apart}{name} on {rig}: {trials}, {cells_counted}\n\n").expect("a string grows");
    if cells.len() <= CELLS_SHOWN_MAX {
        text.push_str(&tables(manifest, &cells, published));
    }
    text.push_str(&load::curves(&cells));
    text.push_str(&paragraphs(&pace::sentences(&cells)));
    text.push_str(&ranking::terminal(verdict));
    if !verdict.sentences.is_empty() {
        let heading = marked(STRONG, "Details\n");
        write!(text, "{heading}{}", paragraphs(&verdict.sentences)).expect("a string grows");
    }
    // Without an answer the reasons come first.
    format!("{}\n", text.trim_start_matches('\n').trim_end())
}

/// The answer, what stands below it, and why.
fn conclusion(manifest: &Manifest, verdict: &Verdict, cells: &[CellSummary<'_>]) -> String {
    let mut text = String::new();
    if !verdict.answer.is_empty() {
        let answer = paragraphs(std::slice::from_ref(&verdict.answer));
        text.push_str(&marked(STRONG, &answer));
    }
    let point = |point: &Point| (point.about.clone(), point.text.clone());
    let points: Vec<(String, String)> = verdict.points.iter().map(point).collect();
    text.push_str(&labelled(&points));
    text.push_str(&paragraphs(&lost::sentences(cells)));
    let reasons = why::reasons(manifest, cells);
    let mut workloads: Vec<&String> = reasons.iter().map(|reason| &reason.workload).collect();
    workloads.dedup();
    for workload in workloads {
        let of = reasons.iter().filter(|reason| reason.workload == *workload);
        let lines: Vec<(String, String)> =
            of.map(|reason| (reason.label.clone(), reason.text.clone())).collect();
        let heading = marked(STRONG, &format!("Why, for {workload}\n"));
        write!(text, "\n{heading}{}", labelled(&lines)).expect("a string grows");
    }
    text
}

/// The tables of a run: a row for each cell, the workloads side by side where they share their factors,
/// and the published numbers beside ours.
fn tables(manifest: &Manifest, cells: &[CellSummary<'_>], published: Option<&Published>) -> String {
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

/// What a table of cells shows of a workload, or of a stream of a mix.
struct Column<'a> {
    title: String,
    workload: &'a str,
    sample: &'a str,
    unit: String,
    /// The published numbers that stand beside it.
    beside: Option<&'a Published>,
    /// The samples that follow, each with its heading.
    followed_by: Vec<(&'static str, &'static str)>,
}

/// What follows the main sample where it was measured. A commit is a write and the flush that makes it durable; where every
/// request is one, the latency of the write alone would mislead, and is left out.
const FOLLOWING: [(&str, &str); 4] = [
    ("p99 ms", P99),
    ("commits/s", "commits_per_s"),
    ("commit p99 ms", COMMIT_P99),
    ("flush p99 ms", FLUSH_P99),
];
const COMMIT_P99: &str = "commit_p99_ms";
/// Of other programs, which say it of flushes and not of commits.
const FLUSH_P99: &str = "flush_p99_ms";

/// So many of the requests are all but one that the end of a run cut off.
const ALL: f64 = 0.99;

/// The columns of a workload: one, or one for each stream that is judged apart.
fn columns_of<'a>(
    manifest: &'a Manifest,
    name: &'a str,
    cells: &[&'a CellSummary<'_>],
    published: Option<&'a Published>,
) -> Vec<Column<'a>> {
    let record =
        cells.iter().find(|cell| cell.workload == name).and_then(|cell| cell.records.first());
    let streams = record.map(|record| record.judged_streams()).unwrap_or_default();
    if !streams.is_empty() {
        let column = |(stream, sample): (&str, &'a str)| {
            let plain = sample.rsplit_once('.').map_or(sample, |(_, plain)| plain);
            let of = sample::find(plain);
            let called = of.map_or_else(|| plain.replace('_', " "), Sample::before_unit);
            let unit = of.map_or("", |sample| sample.unit).to_string();
            let title = format!("{stream} {called}").trim_end().to_string();
            Column { title, workload: name, sample, unit, beside: None, followed_by: Vec::new() }
        };
        return streams.into_iter().map(column).collect();
    }
    let (sample, unit) = match published.and_then(|table| only_sample(table, name)) {
        Some(sample) => (sample, manifest.quantity(name, sample).unit),
        None => match judged_by(manifest, name, cells) {
            Some((sample, quantity)) => (sample, quantity.unit),
            None => return Vec::new(),
        },
    };
    let beside = published.filter(|table| has_sample(table, name, sample));
    let title = if sample == P99 { format!("{name} p99") } else { name.to_string() };
    let records = || {
        let cells = cells.iter().filter(|cell| cell.workload == name);
        cells.flat_map(|cell| &cell.records)
    };
    let is_measured = |of: &str| records().any(|record| record.sample(of).is_some());
    let are_commits = records().all(|record| {
        let per_s = ["commits_per_s", "requests_per_s"].map(|of| record.sample(of));
        matches!(per_s, [Some(commits), Some(requests)] if commits > ALL * requests)
    });
    let is_said = |of: &str| match of {
        P99 => are_commits,
        // One flush at the end is none of a commit.
        FLUSH_P99 => is_measured(COMMIT_P99) || !is_measured("commits_per_s"),
        _ => false,
    };
    let is_shown = |of: &str| is_measured(of) && of != sample && !is_said(of);
    let followed_by = FOLLOWING.into_iter().filter(|(_, of)| is_shown(of)).collect();
    vec![Column { title, workload: name, sample, unit, beside, followed_by }]
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
    let columns: Vec<Column<'_>> =
        names.iter().flat_map(|name| columns_of(manifest, name, cells, published)).collect();
    let mut fitted: Vec<_> =
        manifest.hosts_and_controllers().flat_map(|host| &host.fitted).collect();
    fitted.retain(|cell| published.is_some_and(|table| cell.table == table.name));
    for column in &columns {
        header.push(format!("{} {}", column.title, column.unit));
        if column.beside.is_some() {
            header.push("published".into());
        }
        header.extend(column.followed_by.iter().map(|(title, _)| (*title).to_string()));
    }
    let mut table = table(&header, factors);
    for at in rows {
        let mut row: Vec<String> =
            at.iter().map(|(path, value)| manifest.factors.with_unit(path, value)).collect();
        for Column { workload, sample, beside, followed_by, .. } in &columns {
            let cell = cells.iter().find(|cell| cell.workload == *workload && cell.at == at);
            row.push(cell.map_or_else(String::new, |cell| spread(cell, sample)));
            if let Some(published) = beside {
                row.push(published_number(published, workload, sample, at, &fitted));
            }
            row.extend(followed_by.iter().map(|(_, of)| {
                cell.and_then(|cell| cell.measured(of)).map_or_else(String::new, figure)
            }));
        }
        table.add_row(row);
    }
    let text = format!("{}\n", fitted_table(table, &[]));
    match published {
        Some(published) => {
            with_source(&text, published, columns.iter().any(|column| column.beside.is_none()))
        }
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
    if cell.records.iter().any(|record| record.is_overloaded()) {
        return "overloaded".into();
    }
    if cell.records.iter().any(|record| unsteady::reason(record).is_some()) {
        return format!("not steady: {median}");
    }
    let rates: Vec<f64> = cell.records.iter().filter_map(|r| r.sample(sample)).collect();
    if rates.len() < 2 {
        // Of one run, what its program says of the rate over time.
        let over_time = cell.measured("low_mb_per_s").zip(cell.measured("high_mb_per_s"));
        return match over_time.filter(|_| sample == "mb_per_s") {
            Some((low, high)) => format!("{median} ({}–{})", figure(low), figure(high)),
            None => median,
        };
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

/// Published beside simulated: how well they agree, cell by cell, and in sum.
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
        row.extend(keys.iter().map(|key| {
            cell.at.get(*key).map_or_else(String::new, |v| comparison.factors.with_unit(key, v))
        }));
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

/// How well it agrees, and where it is from.
fn heading(comparison: &Comparison) -> String {
    let answer = Overview::new(std::slice::from_ref(comparison)).answer();
    let source = format!("{}: {}", comparison.name, comparison.source);
    let answer = paragraphs(&answer.into_iter().collect::<Vec<_>>());
    format!("{answer}{}\n", paragraphs(&[source]))
}

/// The same without the cells.
pub fn comparison_in_short(comparison: &Comparison) -> String {
    heading(comparison) + &summary(comparison)
}

/// A line for each quantity, and what our numbers rest on.
fn summary(comparison: &Comparison) -> String {
    let mut text = Overview::new(std::slice::from_ref(comparison)).table();
    let mut sentences = Vec::new();
    if !comparison.inferred.is_empty() {
        let inferred = comparison.inferred.join("; ");
        sentences.push(format!("Inferred (the source does not say): {inferred}."));
    }
    sentences.extend(comparison.not_modelled.iter().map(|words| format!("Not modelled: {words}.")));
    if !sentences.is_empty() {
        write!(text, "\n{}", paragraphs(&sentences)).expect("a string grows");
    }
    text
}
