//! What stands for cells and layouts in a page where there are too many to draw each: the best, the worst, and medians over all.

use super::run::in_order;
use crate::cells::{self, CellSummary};
use crate::judge::factors::design::Factor;
use crate::stats::median;
use store::Results;
use store::quantity::Better;

/// Up to so many cells or rows, a page has each: some hundred bytes, and a dot in a chart.
pub(super) const ALL_MAX: usize = 10_000;

/// Of more, so many of the best and of the worst of each list are in the page.
pub(super) const ENDS: usize = 200;

/// The best and the worst of what is sorted, where that is more than `most`.
pub(super) fn ends<T>(sorted: Vec<T>, most: usize) -> Vec<T> {
    let count = sorted.len();
    if count <= most {
        return sorted;
    }
    let is_end = |at: usize| at < ENDS || at + ENDS >= count;
    sorted.into_iter().enumerate().filter(|(at, _)| is_end(*at)).map(|(_, one)| one).collect()
}

/// The cells, each workload's best first; and those whose parts are drawn, in the order of their values. Of more than `most` both are
/// of each workload the best and the worst.
pub(super) fn ranked_and_drawn<'a>(
    results: &'a Results,
    all: Vec<CellSummary<'a>>,
    most: usize,
) -> [Vec<CellSummary<'a>>; 2] {
    let all = in_order(results, all);
    if all.len() <= most {
        return [ranked(results, all.clone(), most), all];
    }
    let ranked = ranked(results, all, most);
    [ranked.clone(), ranked]
}

fn ranked<'a>(
    results: &'a Results,
    all: Vec<CellSummary<'a>>,
    most: usize,
) -> Vec<CellSummary<'a>> {
    let value = |cell: &CellSummary<'_>| {
        let (sample, quantity) = cells::judged_by(&results.manifest, cell.workload, &[cell])?;
        let value = cell.measured(sample)?;
        Some(if quantity.better == Better::Lower { value } else { -value })
    };
    let is_thinned = all.len() > most;
    let mut valued: Vec<(f64, CellSummary<'_>)> =
        all.into_iter().map(|cell| (value(&cell).unwrap_or(f64::INFINITY), cell)).collect();
    if is_thinned {
        // What was not measured is neither the best nor the worst.
        valued.retain(|(value, _)| value.is_finite());
    }
    let workloads = &results.manifest.workloads;
    let place = |cell: &CellSummary<'_>| workloads.iter().position(|name| name == cell.workload);
    valued.sort_by(|(x, a), (y, b)| place(a).cmp(&place(b)).then_with(|| x.total_cmp(y)));
    let ranked: Vec<CellSummary<'_>> = valued.into_iter().map(|(_, cell)| cell).collect();
    if !is_thinned {
        return ranked;
    }
    let mut kept: Vec<Vec<CellSummary<'_>>> = Vec::new();
    for cell in ranked {
        match kept.last_mut() {
            Some(of) if is_of(of, cell.workload) => of.push(cell),
            _ => kept.push(vec![cell]),
        }
    }
    kept.into_iter().flat_map(|of| ends(of, 2 * ENDS)).collect()
}

fn is_of(cells: &[CellSummary<'_>], workload: &str) -> bool {
    cells.first().is_some_and(|cell| cell.workload == workload)
}

/// Two factors, and what has each pair of their values.
pub(super) struct Pair {
    /// The places of the factors.
    pub(super) factors: [usize; 2],
    /// For each pair of levels that something has: the levels, and the places of what has them.
    pub(super) groups: Vec<([usize; 2], Vec<usize>)>,
}

/// Pairs of factors, as many as have no more than `most` pairs of values together.
pub(super) fn pairs(factors: &[Factor], most: usize) -> impl Iterator<Item = Pair> {
    let mut room = most;
    let all = (0..factors.len()).flat_map(move |a| (a + 1..factors.len()).map(move |b| [a, b]));
    all.filter_map(move |[a, b]| {
        let (down, across) = (&factors[a], &factors[b]);
        let size = down.levels.len() * across.levels.len();
        room = room.checked_sub(size)?;
        let mut groups = vec![Vec::new(); size];
        for (place, (x, y)) in down.of.iter().zip(&across.of).enumerate() {
            groups[x * across.levels.len() + y].push(place);
        }
        let groups = groups.into_iter().enumerate().filter(|(_, places)| !places.is_empty());
        let levels = |at: usize| [at / across.levels.len(), at % across.levels.len()];
        let groups = groups.map(|(at, places)| (levels(at), places)).collect();
        Some(Pair { factors: [a, b], groups })
    })
}

/// The median of those values that are there.
pub(super) fn middle(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    median(&values.flatten().collect::<Vec<_>>())
}

/// What a page says where so many of the quantities measured had no room.
pub(super) fn words_of_quantities(left_out: u64) -> String {
    format!(
        "there are too many layouts for all that was measured: {left_out} of the quantities are not here; what layouts are ranked by \
         is. All trials: `ileave report DIR --csv`"
    )
}

/// What a page says where it does not have all of its `cells`.
pub(super) fn words(cells: usize) -> String {
    format!(
        "{cells} cells are too many to draw. Medians are over all of them; single layouts and cells are the best and the worst \
         {ENDS} of each. All trials: `ileave report DIR --csv`, or `ileave export DIR --parquet`"
    )
}
