//! What decided: sentences drawn from where the time went.

use crate::record::{PART_SAMPLES, Record, label};
use crate::stats::{MODEL_ERROR, median};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A cell of one workload: the medians of its repeats.
#[derive(Clone, Debug)]
pub struct CellSummary<'a> {
    /// The factors' values, by key path.
    pub at: &'a Map<String, Json>,
    /// The workload.
    pub workload: &'a str,
    /// Its repeats.
    pub records: Vec<&'a Record>,
}

impl CellSummary<'_> {
    /// The median of a sample over the repeats; 0 where it was not measured.
    pub fn median(&self, sample: &str) -> f64 {
        let samples: Vec<f64> = self.records.iter().filter_map(|r| r.sample(sample)).collect();
        median(&samples).unwrap_or(0.0)
    }

    /// The cell in words.
    pub fn label(&self) -> String {
        label(self.at)
    }

    fn rate(&self) -> f64 {
        self.median("mb_per_s")
    }

    /// Time a request took, what the program did between requests counted.
    fn request_ms(&self) -> f64 {
        self.median("latency_mean_ms") + self.median("program_ms")
    }
}

/// The cells of all workloads, those of the first workload first.
pub fn cells<'a>(records: &'a [Record], workload_order: &[String]) -> Vec<CellSummary<'a>> {
    let mut cells: Vec<CellSummary<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for record in records {
        let at = serde_json::to_string(&record.at).expect("values are JSON");
        let place = *places.entry((&record.workload, at)).or_insert(cells.len());
        if place == cells.len() {
            let records = Vec::new();
            cells.push(CellSummary { at: &record.at, workload: &record.workload, records });
        }
        cells[place].records.push(record);
    }
    cells.sort_by_key(|cell| workload_order.iter().position(|name| name == cell.workload));
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

/// The sentences: for each workload that moves bytes, and whose time was taken apart, what is best and
/// what decides it.
pub fn sentences(cells: &[CellSummary<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for workload in workloads(cells) {
        let mut ranked: Vec<&CellSummary<'_>> =
            cells.iter().filter(|cell| cell.workload == workload).collect();
        ranked.sort_by(|a, b| b.rate().total_cmp(&a.rate()));
        let told = |cell: &&CellSummary<'_>| cell.rate() > 0.0 && cell.request_ms() > 0.0;
        if let [best, others @ ..] = ranked.as_slice()
            && !others.is_empty()
            && ranked.iter().all(told)
        {
            sentences.extend(workload_sentences(workload, best, others));
        }
    }
    sentences
}

/// What is best for one workload, and why not the others.
fn workload_sentences(
    workload: &str,
    best: &CellSummary<'_>,
    others: &[&CellSummary<'_>],
) -> Vec<String> {
    let (equal, behind): (Vec<_>, Vec<_>) = others.iter().partition(|other| is_tie(best, other));
    let Some(next) = behind.first() else {
        return vec![format!(
            "{workload}: no difference you could rely on: all {} cells lie within {:.0} % of {:.1} MB/s.",
            others.len() + 1,
            100.0 * MODEL_ERROR,
            best.rate()
        )];
    };
    let mut sentences = vec![format!(
        "{workload}: {} is best at {:.1} MB/s{}, {} more than {} at {:.1}. {}",
        best.label(),
        best.rate(),
        beside(&equal),
        percent(best.rate() / next.rate() - 1.0),
        next.label(),
        next.rate(),
        because(best, next),
    )];
    if let Some(last) = behind.last().filter(|last| last.at != next.at) {
        let same: Vec<String> = behind
            .iter()
            .filter(|cell| (cell.rate() / last.rate() - 1.0).abs() < 0.001)
            .map(|cell| cell.label())
            .collect();
        sentences.push(format!(
            "{workload}: {} {} last at {:.1} MB/s. {}",
            same.join(" and "),
            if same.len() == 1 { "comes" } else { "come" },
            last.rate(),
            because(best, last),
        ));
    }
    sentences
}

/// The cells that are as good as the best, in a parenthesis.
fn beside(equal: &[&&CellSummary<'_>]) -> String {
    let labels: Vec<String> = equal.iter().map(|cell| cell.label()).collect();
    match labels.len() {
        0 => String::new(),
        1 => format!(" (and {}, which makes no difference you could rely on)", labels[0]),
        _ => format!(" (and {}, which make no difference you could rely on)", labels.join("; ")),
    }
}

/// What the slower of two cells does otherwise: members busy, commands, and where its time went.
fn because(best: &CellSummary<'_>, other: &CellSummary<'_>) -> String {
    let busy = |cell: &CellSummary<'_>| {
        format!("{:.2} of {} members busy", cell.median("members_busy"), members(cell))
    };
    let commands = |cell: &CellSummary<'_>| {
        format!("{:.0} commands a request", cell.median("commands_per_request"))
    };
    let (best_ms, other_ms) = (best.request_ms(), other.request_ms());
    let mut differences: Vec<(f64, &str)> = PART_SAMPLES
        .iter()
        .copied()
        .chain(["program_ms"])
        .map(|part| (other.median(part) - best.median(part), part.trim_end_matches("_ms")))
        .collect();
    differences.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let named: Vec<String> = differences
        .iter()
        .take(3)
        .filter(|(ms, _)| ms.abs() > 0.02 * (other_ms - best_ms).abs())
        .map(|(ms, part)| format!("{} {ms:+.2}", part_words(part)))
        .collect();
    format!(
        "{} has {} and {}, {} has {} and {}; there a request takes {other_ms:.2} ms rather than {best_ms:.2}: {} ms.",
        best.label(),
        busy(best),
        commands(best),
        other.label(),
        busy(other),
        commands(other),
        named.join(", ")
    )
}

fn part_words(part: &str) -> &str {
    match part {
        "cpu" => "the host's processor",
        "overhead" => "the drives' controllers",
        "head_switch" => "head switches",
        "bus" => "the bus",
        "cache" => "waiting for a drive's buffer",
        "program" => "the program itself",
        other => other,
    }
}

/// Whether two rates differ by less than the model may be wrong.
fn is_tie(best: &CellSummary<'_>, other: &CellSummary<'_>) -> bool {
    best.rate() / other.rate() - 1.0 < MODEL_ERROR
}

fn members(cell: &CellSummary<'_>) -> usize {
    cell.records.first().map_or(0, |record| record.member_busy.len())
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
