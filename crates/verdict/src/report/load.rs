//! Latency against load, where the highest rate was looked for: a table of each cell for the terminal.

use crate::cells::CellSummary;
use crate::tables::{STRONG, figure, marked, table};
use std::fmt::Write as _;
use store::record::{LoadPoint, LoadState, Record};

/// More cells than these are for `--html`.
const CELLS_MAX: usize = 12;

/// The curve of each cell, of all of its requests, whichever are limited.
pub(super) fn curves(cells: &[CellSummary<'_>]) -> String {
    let drawn = drawn(cells);
    let mut text = String::new();
    let repeats: Vec<String> =
        cells.iter().filter(|cell| middle(cell).is_some()).map(of_repeat).collect();
    for ((label, points), repeat) in drawn.iter().zip(repeats).take(CELLS_MAX) {
        let heading =
            marked(STRONG, &format!("Latency against load, all requests: {label}{repeat}\n"));
        write!(text, "{heading}{}\n\n", of_points(points)).expect("a string grows");
    }
    if drawn.len() > CELLS_MAX {
        writeln!(text, "The other {} are in `--html`.\n", drawn.len() - CELLS_MAX)
            .expect("a string grows");
    }
    text
}

/// The cells that have a curve, each with its label: that of the repeat with the median rate, which the cell is said to have.
pub(super) fn drawn<'a>(cells: &[CellSummary<'a>]) -> Vec<(String, &'a [LoadPoint])> {
    let curve = |cell: &CellSummary<'a>| {
        let middle = middle(cell)?;
        let label = cell.label();
        let label = if label.is_empty() {
            cell.workload.to_string()
        } else {
            format!("{}, {label}", cell.workload)
        };
        Some((label, middle.curve.as_slice()))
    };
    cells.iter().filter_map(curve).collect()
}

/// The repeat with the median rate, where it has a curve.
fn middle<'a>(cell: &CellSummary<'a>) -> Option<&'a Record> {
    let mut by_rate: Vec<&'a Record> = cell.records.clone();
    by_rate.sort_by(|a, b| {
        let rate = |record: &Record| record.sample("capacity_per_s").unwrap_or(0.0);
        rate(a).total_cmp(&rate(b)).then(a.repeat.cmp(&b.repeat))
    });
    let middle = *by_rate.get(by_rate.len().saturating_sub(1) / 2)?;
    (!middle.curve.is_empty()).then_some(middle)
}

/// Which repeat a curve is of, where there are several: other columns have the medians of all.
fn of_repeat(cell: &CellSummary<'_>) -> String {
    match (middle(cell), cell.records.len()) {
        (Some(middle), repeats) if repeats > 1 => {
            let number = middle.repeat + 1;
            format!(" (repeat {number} of {repeats}; the times above are medians of all)")
        }
        _ => String::new(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    use store::factor::Factors;

    /// The first repeat's rate may be one that its own curve calls too slow, beside the median's.
    #[test]
    fn the_curve_is_that_of_the_rate_that_is_said() {
        let text = "run.repeats = 3\n[volume]\ndrives = '4xwd740gd'\nlevel = 'stripe'\n[workload.w]\nkind = 'random'\narrivals = 'poisson'\n\
                    capacity = 'p99 <= 40ms'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let mut records = ran.records();
        assert_eq!(records.len(), 3);
        for (record, rate) in records.iter_mut().zip([9.0, 1.0, 5.0]) {
            record.samples.insert("capacity_per_s", rate);
        }
        let factors = Factors::default();
        let cells = cells::unordered(&factors, &records);
        let drawn = drawn(&cells);
        assert_eq!(drawn[0].1, records[2].curve.as_slice());
        assert_ne!(drawn[0].1, records[0].curve.as_slice());
        let screen = curves(&cells);
        let repeat = " of 3; the times above are medians of all)";
        assert!(screen.contains(repeat), "{screen}");
    }
}
