//! What layouts are ranked by.

use crate::evidence::Evidence;
use crate::judge::answer::point;
use crate::judge::layouts::{Layouts, Measure, Samples};
use crate::judge::{Point, Wishes};
use crate::stats::median;
use crate::tables::SHARE_OF_BEST;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use store::error::{Error, Result};
use store::expression::{Expression, Objective};
use store::quantity::Better;
use store::record::Record;
use store::{Manifest, sample};

/// What is said where the highest rate is 0 on every layout.
pub(crate) const HOLDS_NOWHERE: &str = "No answer: the limit on the latency holds on no layout at any rate, however low. Raise \
                                        it; without `capacity`, a run at a low `requests_per_s` shows what requests take.";

/// What they are ranked by where nobody says.
pub(crate) const EVERY_WORKLOAD: &str = "every workload";

/// What layouts are ranked by.
pub(crate) struct Aim {
    /// In words; none for nothing.
    pub words: String,
    /// The unit of what they are ranked by.
    pub unit: String,
    pub better: Better,
    /// The samples that it is of.
    pub samples: BTreeSet<String>,
    /// The workloads that these are of, as they are judged.
    pub workloads: BTreeSet<String>,
    /// What makes it up: one for each workload, load and condition.
    pub parts: Vec<Part>,
}

/// What layouts are judged by under one load and condition.
pub(crate) struct Part {
    /// The workload, or the formula.
    pub of: String,
    /// The loads and conditions that were varied, by key path.
    pub given: Map<String, Json>,
    pub unit: String,
    pub better: Better,
    /// For each layout its value in each repeat; nothing where a quantity is missing.
    pub scores: Vec<Samples>,
}

/// What is asked, what the results say they are about, or every workload.
pub(crate) fn aims(manifest: &Manifest, layouts: &Layouts, wishes: &Wishes) -> Result<Vec<Aim>> {
    let mut texts = wishes.objectives.clone();
    if texts.is_empty() {
        texts.extend(manifest.objective());
    }
    let judged: Vec<usize> = judged(layouts).collect();
    if let ([], [index]) = (texts.as_slice(), judged.as_slice()) {
        let quantity = &layouts.quantities[*index];
        let way = match quantity.better {
            Better::Lower => "min",
            Better::Higher => "max",
            Better::Neither => "",
        };
        let name = quantity.called();
        // A name that only brackets and letters make is one that formulas can say.
        if Objective::parse(&format!("{way} {name}")).is_ok_and(|o| o.of.quantities().len() == 1) {
            texts.push(format!("{way} {name}"));
        }
    }
    if texts.is_empty() {
        let nothing = judged.is_empty() && layouts.main().next().is_some();
        return Ok(vec![if nothing {
            Aim::nothing()
        } else {
            Aim::every_workload(layouts, &judged)
        }]);
    }
    let mut aims = Vec::new();
    for text in texts {
        let objective = Objective::parse(&text)?;
        layouts.check(&text, &objective.of.quantities())?;
        let objective = right_way(layouts, objective)?;
        aims.push(Aim::formula(layouts, &objective));
    }
    Ok(aims)
}

/// The objective the right way round: whoever writes `max reads` of work that is measured in seconds wants it fast.
///
/// # Errors
///
/// Where a sample is named, and not the work: a time that is to be as long as can be is no wish.
fn right_way(layouts: &Layouts, objective: Objective) -> Result<Objective> {
    let Expression::Quantity(name, column) = &objective.of else { return Ok(objective) };
    let (right, wrong) = match objective.better {
        Better::Higher => ("min", Better::Lower),
        _ => ("max", Better::Higher),
    };
    let found: Vec<&Measure> =
        layouts.find(name).into_iter().map(|place| &layouts.quantities[place]).collect();
    let Some(first) = found.first() else { return Ok(objective) };
    if found.iter().any(|quantity| quantity.better != wrong) {
        return Ok(objective);
    }
    if first.workload == *name {
        return Objective::parse(&format!("{right} {name}"));
    }
    let is = sample::find(first.sample()).map_or("the measured figure", |sample| sample.words);
    Err(Error::input(format!(
        "`{}`, column {column}: `{name}` is the {is}; write `{right} {name}`, or name another sample of it, as in \
         `{}.NAME`",
        objective.text, first.workload
    )))
}

/// That times count, where nobody asked for them: how many requests are done is how many come.
pub(crate) fn times(
    aim: &Aim,
    manifest: &Manifest,
    records: &[Record],
    wishes: &Wishes,
) -> Option<Point> {
    let is_asked = !wishes.objectives.is_empty() || manifest.objective().is_some();
    let are_times = aim.samples.iter().all(|sample| Evidence::of_time(sample).is_some());
    (!is_asked && are_times && !aim.samples.is_empty()).then(|| {
        let late = |record: &Record| record.sample("underruns");
        let are_kept = records.iter().all(|record| late(record) == Some(0.0));
        let kept = if are_kept { "; each keeps the rate, and no block is late" } else { "" };
        let text = "requests come at a rate, so layouts are ranked by how long these take";
        point("objective", format!("{text}{kept}"))
    })
}

/// What was asked the wrong way round, and how it was read.
pub(crate) fn turned_round(aims: &[Aim], wishes: &Wishes) -> Vec<Point> {
    let asked = aims.iter().zip(wishes.objectives.iter().map(|asked| asked.trim()));
    let turned = asked.filter(|(aim, asked)| aim.words != *asked);
    let words = |(aim, asked): (&Aim, &str)| {
        let (words, unit) = (&aim.words, &aim.parts.first()?.unit);
        Some(point(
            "objective",
            format!("`{asked}` is taken as `{words}`, because it is measured in {unit}"),
        ))
    };
    turned.filter_map(words).collect()
}

/// The main quantities of which one side is better.
fn judged(layouts: &Layouts) -> impl Iterator<Item = usize> {
    let main = layouts.main().map(|(_, index)| index);
    main.filter(|index| layouts.quantities[*index].better != Better::Neither)
}

impl Aim {
    /// Whether layouts are ranked by the highest rate at which a limit on the latency holds.
    pub(crate) fn is_capacity(&self) -> bool {
        self.samples.len() == 1 && self.samples.contains("capacity_per_s")
    }

    /// What the workloads are judged by is neither better nor worse.
    fn nothing() -> Self {
        Aim {
            words: String::new(),
            unit: String::new(),
            better: Better::Neither,
            samples: BTreeSet::new(),
            workloads: BTreeSet::new(),
            parts: Vec::new(),
        }
    }

    fn every_workload(layouts: &Layouts, judged: &[usize]) -> Self {
        let part = |&index: &usize| {
            let quantity = &layouts.quantities[index];
            let of = |layout: &crate::judge::layouts::Layout| layout.samples.get(index);
            Part {
                of: quantity.workload.clone(),
                given: quantity.given.clone(),
                unit: quantity.unit.clone(),
                better: quantity.better,
                scores: layouts
                    .layouts
                    .iter()
                    .map(|layout| of(layout).unwrap_or_default())
                    .collect(),
            }
        };
        let mut parts = judged.iter().map(part).collect();
        drop_empty(&mut parts);
        Aim {
            words: EVERY_WORKLOAD.into(),
            unit: SHARE_OF_BEST.into(),
            better: Better::Higher,
            samples: judged
                .iter()
                .map(|&place| layouts.quantities[place].sample().to_string())
                .collect(),
            workloads: judged
                .iter()
                .map(|&place| layouts.quantities[place].workload.clone())
                .collect(),
            parts,
        }
    }

    /// A formula; under several loads or conditions, what is kept of the best under each.
    fn formula(layouts: &Layouts, objective: &Objective) -> Self {
        let names: Vec<&str> =
            objective.of.quantities().into_iter().map(|(name, _)| name).collect();
        let found = || {
            let places = names.iter().flat_map(|name| layouts.find(name));
            places.map(|place| &layouts.quantities[place])
        };
        let mut units: Vec<&str> = found().map(|quantity| quantity.unit.as_str()).collect();
        units.dedup();
        let unit = if let [unit] = units.as_slice() { (*unit).to_string() } else { String::new() };
        let meanings = layouts.meanings(&names);
        let part = |given: Map<String, Json>| {
            let situated = meanings.given(&given);
            let score = |layout| layouts.scores(layout, &objective.of, &situated);
            Part {
                of: objective.text.clone(),
                unit: unit.clone(),
                better: objective.better,
                scores: layouts.layouts.iter().map(score).collect(),
                given,
            }
        };
        let mut parts: Vec<Part> = layouts.situations(&names).into_iter().map(part).collect();
        drop_empty(&mut parts);
        let one = parts.len() == 1;
        Aim {
            words: objective.text.clone(),
            unit: if one { unit } else { SHARE_OF_BEST.into() },
            better: if one { objective.better } else { Better::Higher },
            samples: found().map(|quantity| quantity.sample().to_string()).collect(),
            workloads: found().map(|quantity| quantity.workload.clone()).collect(),
            parts,
        }
    }

    /// Its value for each repeat on each layout; nothing where a part is missing. Of several parts it is the share of
    /// the best that is kept in the one in which most is lost (minimax regret: Savage, The theory of statistical
    /// decision, JASA 46, 1951).
    pub(crate) fn scores(&self, layouts: usize) -> Vec<Samples> {
        if let ([part], true) = (self.parts.as_slice(), self.unit != SHARE_OF_BEST) {
            return part.scores.clone();
        }
        let bests: Vec<Option<f64>> = self.parts.iter().map(Part::best).collect();
        let share = |layout: usize| -> Samples {
            let repeats =
                self.parts.first().into_iter().flat_map(|part| part.scores[layout].keys());
            let kept = |repeat: &u64| {
                let kept = self.parts.iter().zip(&bests).map(|(part, best)| {
                    let value = *part.scores[layout].get(repeat)?;
                    Some((-part.better.ahead((*best)?, value)).exp())
                });
                Some((*repeat, kept.reduce(|a, b| Some(a?.min(b?))).flatten()?))
            };
            repeats.filter_map(kept).collect()
        };
        (0..layouts).map(share).collect()
    }
}

/// Leaves out the loads that were measured on no layout, as where all were overloaded, unless that is all of them.
fn drop_empty(parts: &mut Vec<Part>) {
    let is_measured = |part: &Part| part.scores.iter().any(|samples| !samples.is_empty());
    if parts.iter().any(is_measured) {
        parts.retain(is_measured);
    }
}

impl Part {
    /// The best median of all layouts.
    fn best(&self) -> Option<f64> {
        let medians = (0..self.scores.len()).filter_map(|layout| self.median(layout));
        medians.reduce(|a, b| self.better.of(a, b))
    }

    /// Its median on a layout.
    pub(crate) fn median(&self, layout: usize) -> Option<f64> {
        median(&self.values(layout))
    }

    /// Its values on a layout, in the order of the repeats.
    pub(crate) fn values(&self, layout: usize) -> Vec<f64> {
        self.scores[layout].values().copied().collect()
    }
}
