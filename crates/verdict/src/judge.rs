//! The verdict: which layout to choose, what comes second, and whether the difference can be relied on.
//!
//! docs/verdict.md tells how it is reached.

mod answer;
mod asked;
pub mod drives;
pub mod factors;
pub mod host;
pub mod layouts;
pub mod loads;
mod points_of_trials;
pub mod ranking;
mod risk;
pub mod trials;

pub use answer::Point;
pub use asked::checked_first::{check_objective, check_wishes};
pub use layouts::{Layouts, Samples};
pub use loads::situations::Situation;
pub use ranking::plainest::nearest_to_md;

use crate::cells::compare_all;
use crate::evidence::Evidence;
use crate::stats::noise::Noise;
use crate::stats::{Interval, median};
use asked::aim::{Aim, EVERY_WORKLOAD, aims};
use asked::constraints::failing;
use factors::effects::{Effects, Paired};
use factors::{all_effects, splits};
use layouts::facts::Facts;
use layouts::sorted_words;
use ranking::standing::Known;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use store::error::Result;
use store::expression::Constraint;
use store::factor::Factors;
use store::quantity::Better;
use store::record::Record;
use store::{Happened, Manifest, Trials};
use trials::far_off::Off;

/// What is asked of a layout.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Leave out what loses data in a crash or with one disk.
    pub safe: bool,
    /// What to minimise or maximise; the first decides the ranking.
    pub objectives: Vec<String>,
    /// What must hold.
    pub subject_to: Vec<String>,
    /// The factors to choose; none for those that the experiment asks for, or can be chosen.
    pub choose: Vec<String>,
}

impl Wishes {
    /// The same with what the experiment says must hold of what is measured, and whether layouts must be safe.
    #[must_use]
    pub fn and_of(mut self, manifest: &Manifest) -> Wishes {
        self.safe |= manifest.asks_safe();
        for text in manifest.subject_to() {
            if !self.subject_to.contains(&text) {
                self.subject_to.push(text);
            }
        }
        self
    }
}

/// The verdict on a results directory.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What the layouts are ranked by, in words; empty where what was measured has no better side.
    pub objective: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The layouts that may be chosen, the best first.
    pub ranked: Vec<Ranked>,
    /// Those that may not.
    pub left_out: Vec<LeftOut>,
    /// What differences are judged by.
    pub noise: Noise,
    /// The best for each workload, load and condition.
    pub situations: Vec<Situation>,
    /// What safety costs, where it was asked for.
    pub safety: Option<PriceOfSafety>,
    /// Where there are several objectives: those that no layout beats in all of them.
    pub front: Vec<FrontRow>,
    /// What each factor does, for the objective and for each workload.
    pub effects: Vec<Effects>,
    /// How two interleaves, levels or drives compare where another factor decides it.
    pub splits: Vec<SplitFinding>,
    /// What stands below the answer: margin, certainty, risk, settings.
    pub points: Vec<Point>,
    /// Details of factors and interactions, in sentences.
    pub sentences: Vec<String>,
    /// What to do, in one sentence.
    pub answer: String,
    /// Whether `--repeat` repeats its trials: what others measured they have to repeat.
    #[serde(skip)]
    pub can_repeat: bool,
    /// How far luck may move comparisons of cells that ran once, as a logarithm; 0 where it has no part.
    #[serde(skip)]
    pub luck: f64,
    /// Whether some of what is asked ran once and turns on what drives' buffers came to hold by chance.
    #[serde(skip)]
    pub is_chance_of_buffers: bool,
    /// The choices that make no reliable difference beside the others.
    pub any_will_do: Vec<String>,
    /// What was the same on all layouts that others measured, and was no choice.
    #[serde(skip)]
    pub given: BTreeSet<String>,
    /// What is known of the factors.
    #[serde(skip)]
    pub factors: Factors,
    /// How many trials there are to be, and are, where that is known.
    #[serde(skip)]
    pub trials: Option<Trials>,
}

/// How a layout stands to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The best measured.
    Best,
    /// No difference from the best that could be relied on.
    Tie,
    /// Behind it.
    Behind,
    /// Nothing says how large the noise is.
    Unknown,
}

/// A layout in its place.
#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    /// The factors' values.
    pub at: Map<String, Json>,
    /// The same in words.
    pub label: String,
    /// The objective's value: the median of the repeats.
    pub value: f64,
    /// Its 95 % interval, where there is one.
    pub interval: Option<Interval>,
    /// The same of each repeat, in their order.
    #[serde(skip)]
    pub samples: Vec<f64>,
    /// Repeats.
    pub trials: usize,
    /// How it stands to the best.
    pub standing: Standing,
    /// How many times better the best is: the mean over pairs of the same seed where there are such and it has the best
    /// ahead, else by the values.
    pub behind: f64,
    /// The 95 % interval of that, of the mean where there are pairs.
    pub behind_interval: Option<Interval>,
    /// What it is beside fast.
    pub facts: Facts,
    /// What was said about its trials.
    pub notes: Vec<String>,
}

/// A layout that may not be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The factors' values.
    pub at: Map<String, Json>,
    /// The same in words.
    pub label: String,
    /// Why.
    pub because: Vec<String>,
    /// The objective's value, where it has one.
    pub value: Option<f64>,
    /// The same of each repeat, in their order.
    #[serde(skip)]
    pub samples: Vec<f64>,
    /// How many trials that is of.
    pub trials: usize,
    /// Whether that is because it is not safe.
    pub is_unsafe: bool,
    /// Whether trials on it were not steady.
    pub is_unsteady: bool,
    /// How far off it is all the same, where it was not steady.
    #[serde(skip)]
    pub off: Off,
    /// What was measured of it then.
    #[serde(skip)]
    pub measured: Option<f64>,
    /// Whether requests came faster than it did them, where others could.
    pub is_overloaded: bool,
    /// What it is beside fast.
    pub facts: Facts,
}

/// Why a layout is left out that lacks results.
const NOT_UNDER_EVERY_LOAD: &str = "not measured under every load";

impl LeftOut {
    /// Whether it is left out only because it lacks results.
    fn is_unfinished(&self) -> bool {
        self.because == [NOT_UNDER_EVERY_LOAD]
    }
}

/// What safety costs.
#[derive(Clone, Debug, Serialize)]
pub struct PriceOfSafety {
    /// The best that is not safe.
    pub label: String,
    /// Why it is not.
    pub because: Vec<String>,
    /// Its value.
    pub value: f64,
    /// How many times better it is than the best safe one.
    pub ratio: f64,
    /// Whether the difference is not reliable.
    pub tie: bool,
}

/// A layout on the front.
#[derive(Clone, Debug, Serialize)]
pub struct FrontRow {
    /// Which.
    pub label: String,
    /// Its value for each objective.
    pub values: Vec<f64>,
}

/// Two values of a factor of the volume that compare otherwise at one value of another factor.
#[derive(Clone, Debug, Serialize)]
pub struct SplitFinding {
    /// The workload in which they do.
    pub workload: String,
    /// The comparison.
    pub contrast: factors::effects::Contrast,
    /// The objective, over the pairs at the other values.
    pub objective_elsewhere: Option<Paired>,
}

impl Verdict {
    /// Draws the verdict from the records.
    ///
    /// # Errors
    ///
    /// Where an objective or a constraint is none, or names what was not measured.
    pub fn new(manifest: &Manifest, records: &[Record], wishes: &Wishes) -> Result<Self> {
        Verdict::knowing(manifest, records, &Happened::default(), wishes)
    }

    /// The same where it is known what else `happened`: cells that failed are left out.
    ///
    /// # Errors
    ///
    /// As [`Verdict::new`].
    pub fn knowing(
        manifest: &Manifest,
        records: &[Record],
        happened: &Happened,
        wishes: &Wishes,
    ) -> Result<Self> {
        let manifest = &manifest.asked(&wishes.choose)?;
        let trials = trials::unfinished::trials(manifest, records, happened);
        let unfinished = trials::unfinished::told(manifest, records, happened, trials);
        let records = &*trials::failed::left(records, happened);
        let layouts = Layouts::new(manifest, records);
        let aims = aims(manifest, &layouts, wishes)?;
        let aim = &aims[0];
        let by_repeat: Vec<Samples> = aim.scores(layouts.layouts.len());
        let scores: Vec<Vec<f64>> =
            by_repeat.iter().map(|samples| samples.values().copied().collect()).collect();
        let effects = all_effects(&layouts, aim, &scores);
        // Modelled trials of the same repeat have the same seed; what one layout lacks leaves no pairs.
        let whole = by_repeat.windows(2).all(|two| two[0].keys().eq(two[1].keys()));
        let is_whole = manifest.modelled() && records.len() == manifest.trials && whole;
        let samples: Vec<&str> = aim.samples.iter().map(String::as_str).collect();
        let evidence = Evidence::of(manifest, records, &samples);
        let known = Known::new(manifest, records, &samples, &evidence, is_whole);
        let noises = known.noises(aim, &layouts, &effects);
        let mut verdict = Verdict {
            objective: aim.words.clone(),
            unit: aim.unit.clone(),
            better: aim.better,
            ranked: Vec::new(),
            left_out: Vec::new(),
            noise: ranking::standing::widest(&noises).unwrap_or_else(|| known.noise(&scores)),
            situations: Vec::new(),
            safety: None,
            front: Vec::new(),
            splits: splits(&layouts, &scores, &effects),
            effects,
            points: Vec::new(),
            sentences: Vec::new(),
            answer: String::new(),
            can_repeat: manifest.imported.is_none(),
            luck: 0.0,
            is_chance_of_buffers: false,
            any_will_do: Vec::new(),
            given: layouts.given.clone(),
            factors: layouts.factors.clone(),
            trials,
        };
        let (may, places) = verdict.rank(manifest, &layouts, &scores, wishes)?;
        let noises = verdict.with_other_seeds(noises, manifest, records);
        let noises = verdict.with_luck(aim, noises, manifest, records);
        let noises = verdict.with_buffers(aim, noises, manifest, records);
        verdict.find_far_off(manifest, records, wishes)?;
        verdict.stand(aim, &noises, &places, &scores);
        verdict.any_will_do = ranking::any_will_do::any_will_do(&verdict);
        let holds_nowhere = aim.is_capacity() && verdict.has_no_rate();
        verdict.situations = loads::situations::situations(&layouts, aim, &may, &noises);
        verdict.price_safety();
        if aims.len() > 1 {
            verdict.front = verdict.front_of(&layouts, &aims);
        }
        verdict.points = unfinished.into_iter().collect();
        verdict.points.extend(drives::shingled_disks::told(manifest));
        verdict.points.extend(answer::points(&verdict, &evidence));
        verdict.points.extend(asked::aim::times(aim, manifest, records, wishes));
        verdict.points.extend(asked::aim::turned_round(&aims, wishes));
        verdict.points.extend(risk::left_by_safe(&verdict, wishes));
        verdict.points.extend(asked::constraints::told(&verdict, &layouts, wishes)?);
        verdict.points.extend(risk::small_volume::told(&verdict));
        let of_drives = drives::told(&verdict, aim, manifest, records);
        verdict.points.extend(of_drives);
        let of_trials = verdict.points_of_trials(manifest, records, happened);
        verdict.points.extend(of_trials);
        verdict.sentences = answer::details::sentences(&verdict);
        verdict.answer = verdict.answered(&layouts, manifest, wishes, holds_nowhere);
        verdict.say_sectors_once();
        Ok(verdict)
    }

    /// Says a chunk in sectors once in the answer, where it is chosen.
    fn say_sectors_once(&mut self) {
        if let Some(best) = self.ranked.first() {
            let mut chosen = best.at.clone();
            chosen.retain(|path, _| !self.any_will_do.contains(path));
            self.answer = self.factors.with_sectors_once(&self.answer, &chosen);
        }
    }

    /// Whether the highest rate is 0 on every layout: then none is ranked.
    fn has_no_rate(&mut self) -> bool {
        let is_none =
            !self.ranked.is_empty() && self.ranked.iter().all(|ranked| ranked.value == 0.0);
        if is_none {
            self.ranked.clear();
        }
        is_none
    }

    /// Whether the best is better than any other in a way to be relied on.
    fn chosen(&self) -> bool {
        self.ranked.iter().any(|ranked| ranked.standing == Standing::Behind)
    }

    /// Puts what may be chosen in order; for each layout, whether it may, and the places of those in that order.
    fn rank(
        &mut self,
        manifest: &Manifest,
        layouts: &Layouts,
        scores: &[Vec<f64>],
        wishes: &Wishes,
    ) -> Result<(Vec<bool>, Vec<usize>)> {
        let constraints: Result<Vec<Constraint>> =
            wishes.subject_to.iter().map(|text| Constraint::parse(text)).collect();
        let failing = failing(layouts, &constraints?)?;
        let settings = manifest.settings();
        let mut ranked: Vec<(Ranked, usize)> = Vec::new();
        let mut may = Vec::new();
        let all = layouts.layouts.iter().zip(scores).zip(failing).enumerate();
        for (index, ((layout, scores), failing)) in all {
            let facts = Facts::new(manifest, &settings, layout);
            let value = median(scores);
            let mut because = failing;
            because.extend(layout.overloaded.iter().cloned());
            because.extend(layout.unsteady.iter().cloned());
            let reasons = if wishes.safe { facts.unsafe_because() } else { Vec::new() };
            let is_unsafe = because.is_empty() && !reasons.is_empty();
            because.extend(reasons);
            may.push(because.is_empty());
            let label = layouts.label(&layout.at);
            match value {
                Some(value) if because.is_empty() => {
                    let place = self.placed(layout, label, (value, scores), facts);
                    ranked.push((place, index));
                }
                _ => {
                    let is_unsteady = !layout.unsteady.is_empty();
                    let is_overloaded = !layout.overloaded.is_empty();
                    if is_unsteady || is_overloaded {
                        // That is why.
                    } else if value.is_none() && self.objective == EVERY_WORKLOAD {
                        because.push(NOT_UNDER_EVERY_LOAD.into());
                    } else if value.is_none() && !self.objective.is_empty() {
                        let what =
                            "was not all measured on it, divides by 0, or is below 0 or no number";
                        because.push(format!("`{}` {what}", self.objective));
                    }
                    self.left_out.push(LeftOut {
                        at: layout.at.clone(),
                        label,
                        because,
                        value,
                        trials: scores.len(),
                        samples: scores.clone(),
                        is_unsafe,
                        is_unsteady,
                        off: Off::Open,
                        measured: None,
                        is_overloaded,
                        facts,
                    });
                }
            }
        }
        let places;
        (self.ranked, places) = in_order(ranked, self.better).into_iter().unzip();
        Ok((may, places))
    }

    fn front_of(&self, layouts: &Layouts, aims: &[Aim]) -> Vec<FrontRow> {
        let scores: Vec<Vec<Samples>> =
            aims.iter().map(|aim| aim.scores(layouts.layouts.len())).collect();
        let words = layouts.layouts.iter().map(|layout| sorted_words(&layout.at));
        let places: BTreeMap<String, usize> = words.zip(0..).collect();
        let row = |ranked: &Ranked| {
            let place = *places.get(&sorted_words(&ranked.at))?;
            let values: Option<Vec<f64>> =
                scores.iter().map(|scores| median_of(&scores[place])).collect();
            Some(FrontRow { label: ranked.label.clone(), values: values? })
        };
        let rows: Vec<FrontRow> = self.ranked.iter().filter_map(row).collect();
        let better: Vec<Better> = aims.iter().map(|aim| aim.better).collect();
        let values: Vec<&[f64]> = rows.iter().map(|row| row.values.as_slice()).collect();
        let kept = ranking::pareto::front(&values, &better);
        kept.into_iter().map(|index| rows[index].clone()).collect()
    }
}

/// The layouts with their places, the best first.
fn in_order(mut ranked: Vec<(Ranked, usize)>, better: Better) -> Vec<(Ranked, usize)> {
    ranked.sort_by(|(a, _), (b, _)| {
        let order = match better {
            Better::Lower => a.value.total_cmp(&b.value),
            Better::Higher => b.value.total_cmp(&a.value),
            Better::Neither => Ordering::Equal,
        };
        // Of equals, in the order of their settings, whatever the order of the trials.
        order.then_with(|| compare_all(a.at.values(), b.at.values()))
    });
    ranked
}

fn median_of(samples: &Samples) -> Option<f64> {
    median(&samples.values().copied().collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests;
