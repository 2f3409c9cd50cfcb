//! What the factors do to the objective and to each workload, over all layouts.

pub mod design;
pub mod effects;

use super::SplitFinding;
use super::asked::aim::Aim;
use super::layouts::Layouts;
use crate::stats::median;
use effects::{Cells, Effects, effects};

/// What the factors do to the objective and to each workload.
pub(crate) fn all_effects(layouts: &Layouts, aim: &Aim, scores: &[Vec<f64>]) -> Vec<Effects> {
    let mut all = Vec::new();
    all.extend(effects(&aim.words, &cells(layouts, |index| scores[index].clone())));
    for (name, quantity) in layouts.main() {
        all.extend(effects(name, &cells(layouts, |index| layouts.layouts[index].values(quantity))));
    }
    all
}

/// The layouts that have samples, with the medians of those.
fn cells(layouts: &Layouts, samples: impl Fn(usize) -> Vec<f64>) -> Cells<'_> {
    let mut cells =
        Cells { at: Vec::new(), values: Vec::new(), trials: Vec::new(), factors: &layouts.factors };
    for (index, layout) in layouts.layouts.iter().enumerate() {
        let samples = samples(index);
        if let Some(value) = median(&samples) {
            cells.at.push(&layout.at);
            cells.values.push(value);
            cells.trials.push(samples.len());
        }
    }
    cells
}

/// Where two neighbouring values of a factor of the volume compare otherwise at one value of another.
pub(crate) fn splits(
    layouts: &Layouts,
    scores: &[Vec<f64>],
    effects: &[Effects],
) -> Vec<SplitFinding> {
    let objective = cells(layouts, |index| scores[index].clone());
    let factors = design::single(&objective.at, objective.factors);
    let mut found = Vec::new();
    for of in effects {
        for contrast in of.contrasts.iter().filter(|c| c.path.starts_with("volume.")) {
            let Some(split) = &contrast.split else { continue };
            let elsewhere = effects::without(&objective, &factors, contrast, split);
            found.push(SplitFinding {
                workload: of.of.clone(),
                contrast: contrast.clone(),
                objective_elsewhere: elsewhere,
            });
        }
    }
    found
}
