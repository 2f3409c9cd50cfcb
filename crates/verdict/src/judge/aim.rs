//! What layouts are ranked by.

use super::Wishes;
use super::layouts::{Layout, Layouts, Samples};
use crate::tables::SHARE_OF_BEST;
use store::Manifest;
use store::error::Result;
use store::expression::Objective;
use store::quantity::Better;

/// What layouts are ranked by.
pub(super) enum Aim {
    Formula(Objective),
    /// The share of the best that is kept in the workload in which most is lost (minimax regret:
    /// Savage, The theory of statistical decision, JASA 46, 1951).
    EveryWorkload,
    /// Nothing: what the workloads are judged by is neither better nor worse.
    Nothing,
}

/// What is asked, what the results say they are about, or every workload.
pub(super) fn aims(manifest: &Manifest, layouts: &Layouts, wishes: &Wishes) -> Result<Vec<Aim>> {
    let mut texts = wishes.objectives.clone();
    if texts.is_empty() {
        texts.extend(manifest.objective());
    }
    let judged: Vec<(&str, usize)> = judged(layouts).collect();
    if let ([], [(name, index)]) = (texts.as_slice(), judged.as_slice()) {
        let way = match layouts.quantities[*index].better {
            Better::Lower => "min",
            Better::Higher => "max",
            Better::Neither => "",
        };
        // A name that only brackets and letters make is one that formulas can say.
        if Objective::parse(&format!("{way} {name}")).is_ok_and(|o| o.of.quantities().len() == 1) {
            texts.push(format!("{way} {name}"));
        }
    }
    if texts.is_empty() {
        let nothing = judged.is_empty() && layouts.main().next().is_some();
        return Ok(vec![if nothing { Aim::Nothing } else { Aim::EveryWorkload }]);
    }
    let mut aims = Vec::new();
    for text in texts {
        let objective = Objective::parse(&text)?;
        layouts.check(&text, &objective.of.quantities())?;
        aims.push(Aim::Formula(objective));
    }
    Ok(aims)
}

/// The main quantities of which one side is better.
pub(super) fn judged(layouts: &Layouts) -> impl Iterator<Item = (&str, usize)> {
    layouts.main().filter(|(_, index)| layouts.quantities[*index].better != Better::Neither)
}

impl Aim {
    /// In words, none for nothing.
    pub(super) fn words(&self) -> String {
        match self {
            Aim::Formula(objective) => objective.text.clone(),
            Aim::EveryWorkload => "every workload".into(),
            Aim::Nothing => String::new(),
        }
    }

    pub(super) fn better(&self) -> Better {
        match self {
            Aim::Formula(objective) => objective.better,
            Aim::EveryWorkload => Better::Higher,
            Aim::Nothing => Better::Neither,
        }
    }

    pub(super) fn unit(&self, layouts: &Layouts) -> String {
        let objective = match self {
            Aim::Formula(objective) => objective,
            Aim::EveryWorkload => return SHARE_OF_BEST.into(),
            Aim::Nothing => return String::new(),
        };
        let names = objective.of.quantities();
        let mut units: Vec<&str> = names
            .iter()
            .flat_map(|(name, _)| layouts.find(name))
            .map(|place| layouts.quantities[place].unit.as_str())
            .collect();
        units.dedup();
        if let [unit] = units.as_slice() { (*unit).to_string() } else { String::new() }
    }

    /// Its value for each repeat on a layout; nothing where a quantity is missing.
    pub(super) fn scores(&self, layouts: &Layouts, layout: &Layout) -> Samples {
        match self {
            Aim::Formula(objective) => layouts.scores(layout, &objective.of),
            Aim::EveryWorkload => every_workload(layouts, layout),
            Aim::Nothing => Samples::new(),
        }
    }
}

fn every_workload(layouts: &Layouts, layout: &Layout) -> Samples {
    let main: Vec<usize> = judged(layouts).map(|(_, index)| index).collect();
    let repeats = main.first().and_then(|index| layout.samples.get(index));
    let best = |index: usize| {
        let medians = layouts.layouts.iter().filter_map(|layout| layout.median(index));
        medians.reduce(|a, b| layouts.quantities[index].better.of(a, b))
    };
    let bests: Vec<Option<f64>> = main.iter().map(|&index| best(index)).collect();
    repeats
        .into_iter()
        .flat_map(Samples::keys)
        .filter_map(|repeat| {
            let kept = main.iter().zip(&bests).map(|(&index, best)| {
                let value = *layout.samples.get(&index)?.get(repeat)?;
                let behind = layouts.quantities[index].better.ahead((*best)?, value);
                Some((-behind).exp())
            });
            Some((*repeat, kept.reduce(|a, b| Some(a?.min(b?))).flatten()?))
        })
        .collect()
}
