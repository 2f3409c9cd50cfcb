//! Whether two runs have their cells in the same order.

use super::ComparedCell;
use crate::stats::correlation;
use crate::stats::noise::Noise;
use crate::stats::ranks_within;

/// Of fewer cells even the same order is no evidence: four stand in it by chance once in 24, and in it or the reverse
/// once in 12.
const CELLS_LEAST: usize = 5;

/// What differs by less is the same for everybody who reads it.
const SAME: f64 = 0.005;

/// Spearman's rank correlation over the cells of each workload; `noises` are those of the two runs.
///
/// A run's cells that its repeats cannot tell apart share a rank: 1085.2 beside 1085.4 MB/s is no order.
pub(super) fn correlations(cells: &[ComparedCell], noises: [Noise; 2]) -> Vec<(String, f64)> {
    let mut workloads: Vec<&String> = cells.iter().map(|cell| &cell.workload).collect();
    workloads.dedup();
    let of = |workload: &String| {
        let own: Vec<&ComparedCell> =
            cells.iter().filter(|cell| cell.workload == *workload).collect();
        let [first, second] = [0, 1].map(|side| {
            let values: Vec<f64> = own.iter().map(|cell| [cell.first, cell.second][side]).collect();
            let noise = noises[side];
            let tie = |place: usize| {
                let trials = own[place].trials[side];
                let half = if noise.is_known() { noise.half_width(trials, trials) } else { 0.0 };
                half.max(SAME)
            };
            ranks_within(&values, tie)
        });
        let found = correlation(&first, &second).filter(|_| own.len() >= CELLS_LEAST);
        Some((workload.clone(), found?))
    };
    workloads.into_iter().filter_map(of).collect()
}
