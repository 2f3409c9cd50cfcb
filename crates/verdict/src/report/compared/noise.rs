//! How sure the changes are: what repeats, or the run itself, say of the noise.

use super::{ComparedCell, Model, judged};
use crate::cells::CellSummary;
use crate::judge::trials::spread_of_run;
use crate::stats::Interval;
use crate::stats::noise::{Noise, NoiseSource};
use store::Results;

/// One of the two, and its cells.
pub(super) type Side<'a, 'r> = (&'a Results, &'a [CellSummary<'r>]);

/// What repeats say of the noise, or else what varied during each run.
pub(super) fn noise_of(of: &[Side<'_, '_>]) -> Noise {
    let samples_of = |results: &Results, cell: &CellSummary<'_>| -> Vec<Vec<f64>> {
        judged(&results.manifest, cell).iter().map(|of| cell.samples(of.sample)).collect()
    };
    let samples: Vec<Vec<f64>> = of
        .iter()
        .flat_map(|(results, cells)| cells.iter().flat_map(|cell| samples_of(results, cell)))
        .collect();
    let within: Vec<(f64, f64)> = of
        .iter()
        .flat_map(|(results, _)| results.records.iter().filter_map(spread_of_run::spread))
        .collect();
    Noise::of(&samples, None, 0.0).or_within(&within)
}

/// Cells that were tried once are judged by the repeats of others, or by what the model may err.
pub(super) fn fill_intervals(cells: &mut [ComparedCell], of: [Side<'_, '_>; 2]) {
    let all = noise_of(&of);
    // How far a model's seeds lie apart says nothing of how far measurements do.
    let measured: Vec<Side<'_, '_>> =
        of.into_iter().filter(|(results, _)| !results.manifest.modelled()).collect();
    let of_measured = noise_of(&measured);
    for cell in cells.iter_mut().filter(|cell| cell.interval.is_none()) {
        let noise = if cell.model == Model::One { of_measured } else { all };
        let is_known = noise.source != NoiseSource::Unknown;
        if !is_known && cell.model_error <= 0.0 {
            continue;
        }
        let half = Noise { model_error: cell.model_error, ..noise }.half_width(1, 1);
        let (low, high) = (cell.ratio * (-half).exp(), cell.ratio * half.exp());
        // What the model errs by makes a tie by itself, but no difference.
        let is_tie = low <= 1.0 && high >= 1.0;
        if is_known || cell.model != Model::One || is_tie {
            cell.interval = Some(Interval { low, high });
        }
    }
}
