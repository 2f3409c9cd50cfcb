//! Latency against load, where the highest rate was looked for: a table of each cell for the terminal.

use crate::tables::{STRONG, figure, marked, table};
use crate::why::CellSummary;
use std::fmt::Write as _;
use store::record::{LoadPoint, LoadState};

/// More cells than these are for `--html`.
const CELLS_MAX: usize = 12;

/// The curve of each cell's first repeat.
pub(super) fn curves(cells: &[CellSummary<'_>]) -> String {
    let drawn = drawn(cells);
    let mut text = String::new();
    for (label, points) in drawn.iter().take(CELLS_MAX) {
        let heading = marked(STRONG, &format!("Latency against load: {label}\n"));
        write!(text, "{heading}{}\n\n", of_points(points)).expect("a string grows");
    }
    if drawn.len() > CELLS_MAX {
        writeln!(text, "The other {} are in `--html`.\n", drawn.len() - CELLS_MAX)
            .expect("a string grows");
    }
    text
}

/// The cells that have a curve, each with its label.
pub(super) fn drawn<'a>(cells: &[CellSummary<'a>]) -> Vec<(String, &'a [LoadPoint])> {
    let curve = |cell: &CellSummary<'a>| {
        let first = cell.records.iter().min_by_key(|record| record.repeat)?;
        let label = cell.label();
        let label = if label.is_empty() {
            cell.workload.to_string()
        } else {
            format!("{}, {label}", cell.workload)
        };
        (!first.curve.is_empty()).then_some((label, first.curve.as_slice()))
    };
    cells.iter().filter_map(curve).collect()
}

/// What is said of a point.
pub(super) fn word(state: LoadState) -> &'static str {
    match state {
        LoadState::Holds => "holds",
        LoadState::Exceeds => "too slow",
        LoadState::Unsettled => "not settled",
        LoadState::Overloaded => "overloaded",
    }
}

fn of_points(points: &[LoadPoint]) -> String {
    let header = ["requests/s", "mean ms", "p50 ms", "p99 ms", ""].map(String::from);
    let mut table = table(&header, 0);
    for point in points {
        // Without a steady state they are whatever the run's length made of them.
        let latency = |ms: f64| match point.state {
            LoadState::Overloaded => String::new(),
            _ => figure(ms),
        };
        let [mean, p50, p99] = [point.mean_ms, point.p50_ms, point.p99_ms].map(latency);
        table.add_row([figure(point.requests_per_s), mean, p50, p99, word(point.state).into()]);
    }
    table.to_string()
}
