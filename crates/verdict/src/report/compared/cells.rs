//! Which cells two runs have: in order, in both, in one alone.

use crate::cells::row_order;
use crate::cells::{self, CellSummary};
use crate::judge::layouts::sorted_words;
use store::Results;
use store::record::Record;
use store::words::counted;

/// Cells that are named of those that only one run has.
const ALONE_MAX: usize = 6;

/// The cells that only one run has, by name.
pub(super) fn only_in(which: &str, cells: &[String]) -> String {
    let more = match cells.len().saturating_sub(ALONE_MAX) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let named = cells[..cells.len().min(ALONE_MAX)].join("; ");
    let are = if cells.len() == 1 { "is" } else { "are" };
    format!("{} {are} in the {which} run only: {named}{more}", counted(cells.len(), "cell"))
}

/// The cells in the order of the report's table, whichever was done first.
pub(super) fn in_order(of: &Results) -> Vec<CellSummary<'_>> {
    let mut cells = cells::cells(&of.manifest, &of.records);
    let place = |cell: &CellSummary<'_>| {
        of.manifest.workloads.iter().position(|name| name == cell.workload)
    };
    cells.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| row_order(a.at, b.at)));
    cells
}

/// Whether it is this cell of the same run.
pub(super) fn is_it(one: &CellSummary<'_>, other: &CellSummary<'_>) -> bool {
    one.workload == other.workload && one.at == other.at
}

/// The cells that are not in both, in words.
pub(super) fn alone(
    cells: &[CellSummary<'_>],
    is_in_both: impl Fn(&CellSummary<'_>) -> bool,
) -> Vec<String> {
    let label = |cell: &CellSummary<'_>| match cell.label() {
        label if label.is_empty() => cell.workload.to_string(),
        label => format!("{} at {label}", cell.workload),
    };
    cells.iter().filter(|cell| !is_in_both(cell)).map(label).collect()
}

/// Whether two runs have the same trials with the same results, in whichever order these were done.
pub(super) fn are_same(first: &Results, second: &Results) -> bool {
    let by_trial = |of: &Results| {
        let mut records: Vec<Record> = of.records.clone();
        records.sort_by_key(|of| (of.trial, of.workload.clone(), sorted_words(&of.at)));
        records
    };
    first.manifest.experiment == second.manifest.experiment
        && !first.records.is_empty()
        && by_trial(first) == by_trial(second)
}
