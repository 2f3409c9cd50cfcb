//! What each factor does to a quantity, what is interaction, and what is wild.

use super::design::{self, Factor};
pub use crate::stats::compare::Paired;
use crate::stats::compare::paired;
use crate::stats::polish::{Polish, polish};
use crate::stats::shares::variance_shares;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use store::factor::Factors;

/// What the factors do to one quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Effects {
    /// The quantity, or the objective.
    pub of: String,
    /// What each factor does.
    pub factors: Vec<FactorEffect>,
    /// The share of the variance that the factors do not explain: what interacts, and noise.
    pub unexplained: f64,
    /// How far a cell lies from the additive fit, as a standard deviation of logarithms.
    pub scale: f64,
    /// Degrees of freedom of that.
    pub degrees: f64,
    /// Cells that the fit misses wildly, and that are alike: something happens there.
    pub interactions: Vec<Interaction>,
    /// Cells that it misses wildly, each alone of its kind.
    pub lone: Vec<Lone>,
    /// Pairs of settings held against each other.
    pub contrasts: Vec<Contrast>,
}

/// What one factor does.
#[derive(Clone, Debug, Serialize)]
pub struct FactorEffect {
    /// The factor.
    pub factor: String,
    /// The share of the variance of the logarithms that it explains; those of all factors add up to 1 at most.
    pub variance_share: f64,
    /// Its levels, each with the ratio to the middle one that it makes.
    pub levels: Vec<(String, f64)>,
}

/// Cells with these settings lie far from what their factors say apart.
#[derive(Clone, Debug, Serialize)]
pub struct Interaction {
    /// The settings that they share: factor and level.
    pub settings: Vec<(String, String)>,
    /// Cells with these settings that are far off.
    pub wild: usize,
    /// Cells with these settings.
    pub cells: usize,
    /// The smallest of their ratios of measured to fitted.
    pub ratio_low: f64,
    /// The largest.
    pub ratio_high: f64,
}

/// A cell that is far off on its own.
#[derive(Clone, Debug, Serialize)]
pub struct Lone {
    /// Which.
    pub cell: String,
    /// Measured to fitted.
    pub ratio: f64,
    /// How often it was tried.
    pub trials: usize,
}

/// Two values of a factor, over all pairs of cells that differ in nothing else.
#[derive(Clone, Debug, Serialize)]
pub struct Contrast {
    /// The key path.
    pub path: String,
    /// The first value.
    pub first: String,
    /// The second.
    pub second: String,
    /// All pairs.
    pub all: Paired,
    /// Where one value of another factor behaves otherwise than the rest: which, its pairs, and the
    /// pairs of the rest.
    pub split: Option<Split>,
}

/// A value of another factor at which two settings compare otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Split {
    /// The other factor.
    pub path: String,
    /// Its value.
    pub value: String,
    /// The pairs at that value.
    pub there: Paired,
    /// The other values of that factor.
    pub others: Vec<String>,
    /// The pairs at the others.
    pub elsewhere: Paired,
}

/// Residuals beyond so many standard deviations are wild (Iglewicz & Hoaglin, How to Detect and Handle
/// Outliers, 1993: 3.5 for the modified z-score).
const WILD: f64 = 3.5;

/// A level of significance for what is said of factors; over the splits that are looked at for one
/// contrast it is Bonferroni's (Dunn, Multiple comparisons among means, JASA 56, 1961).
const ALPHA: f64 = 0.05;

/// Pairs that must agree before a split is spoken of.
const SPLIT_PAIRS_MIN: usize = 5;

/// Cells with the quantity's value, the number of trials behind it, and the cell's name.
pub struct Cells<'a> {
    /// The factors' values.
    pub at: Vec<&'a Map<String, Json>>,
    /// The quantity in each.
    pub values: Vec<f64>,
    /// The trials of each.
    pub trials: Vec<usize>,
    /// What is known of the factors.
    pub factors: &'a Factors,
}

/// What the factors do to the quantity `of`. `None` where nothing was varied, or a value is not above 0.
pub fn effects(of: &str, cells: &Cells<'_>) -> Option<Effects> {
    let factors = design::crossed(&cells.at, cells.factors);
    if factors.is_empty() || cells.values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = cells.values.iter().map(|value| value.ln()).collect();
    let levels: Vec<Vec<usize>> = factors.iter().map(|factor| factor.of.clone()).collect();
    let fit = polish(&logs, &levels);
    let shares = variance_shares(&logs, &levels);
    let described =
        factors.iter().zip(&shares).zip(&fit.effects).map(|((factor, share), effects)| {
            let levels = effects.iter().enumerate();
            FactorEffect {
                factor: factor.name(),
                variance_share: *share,
                levels: levels.map(|(level, effect)| (factor.level(level), effect.exp())).collect(),
            }
        });
    let (interactions, lone) = wild_cells(&factors, &fit, cells);
    Some(Effects {
        of: of.into(),
        factors: described.collect(),
        unexplained: (1.0 - shares.iter().sum::<f64>()).max(0.0),
        scale: fit.scale,
        degrees: fit.degrees,
        interactions,
        lone,
        contrasts: contrasts(cells),
    })
}

/// Takes the wild cells apart into those that share settings, and those that stand alone. Of the
/// settings that explain most of them the fewest are named.
fn wild_cells(
    factors: &[Factor],
    fit: &Polish,
    cells: &Cells<'_>,
) -> (Vec<Interaction>, Vec<Lone>) {
    let mut interactions = Vec::new();
    if fit.scale <= 0.0 || fit.degrees < 4.0 {
        return (interactions, Vec::new());
    }
    let is_wild = |index: usize| (fit.residuals[index] / fit.scale).abs() > WILD;
    let mut left: Vec<usize> = (0..cells.values.len()).filter(|&index| is_wild(index)).collect();
    let counts = counts(factors, &left, cells.values.len());
    while let Some(settings) = best_settings(factors, fit, &left, &counts) {
        let inside = |index: &usize| settings.iter().all(|&(f, l)| factors[f].of[*index] == l);
        let ratios: Vec<f64> =
            left.iter().filter(|index| inside(index)).map(|&i| fit.residuals[i].exp()).collect();
        left.retain(|index| !inside(index));
        let named = settings.iter().map(|&(f, l)| (factors[f].name(), factors[f].level(l)));
        interactions.push(Interaction {
            settings: named.collect(),
            wild: ratios.len(),
            cells: counts[&settings],
            ratio_low: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratio_high: ratios.iter().copied().fold(0.0, f64::max),
        });
    }
    let lone = left.into_iter().map(|index| Lone {
        cell: cells.factors.label(cells.at[index]),
        ratio: fit.residuals[index].exp(),
        trials: cells.trials[index],
    });
    (interactions, lone.collect())
}

/// The settings that most wild cells share: at least two of them, all off the same way, and half of
/// the cells with these settings or more. Of equals, those with fewer cells and fewer settings.
fn best_settings(
    factors: &[Factor],
    fit: &Polish,
    left: &[usize],
    counts: &BTreeMap<Settings, usize>,
) -> Option<Settings> {
    // For each settings the wild cells that have them, and how many of those lie above the fit.
    let mut shared: BTreeMap<Settings, (usize, usize)> = BTreeMap::new();
    for &index in left {
        for settings in subsets(factors, index) {
            let (mine, up) = shared.entry(settings).or_default();
            *mine += 1;
            *up += usize::from(fit.residuals[index] > 0.0);
        }
    }
    let scored = left.iter().flat_map(|&index| subsets(factors, index)).filter_map(|settings| {
        let ((mine, up), all) = (shared[&settings], counts[&settings]);
        let alike = up == 0 || up == mine;
        let enough = mine >= 2 && 2 * mine >= all && alike;
        enough.then_some(((mine, Reverse(all), Reverse(settings.len())), settings))
    });
    // Of the very same score the first, so that the order of equals does not depend on chance.
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, settings)| settings)
}

/// Factors by their place, each with a level.
type Settings = Vec<(usize, usize)>;

/// How many of all cells have each of the settings that these cells have.
fn counts(factors: &[Factor], of: &[usize], cells: usize) -> BTreeMap<Settings, usize> {
    let all = of.iter().flat_map(|&index| subsets(factors, index));
    let mut counts: BTreeMap<Settings, usize> = all.map(|settings| (settings, 0)).collect();
    if counts.is_empty() {
        return counts;
    }
    for settings in (0..cells).flat_map(|index| subsets(factors, index)) {
        counts.entry(settings).and_modify(|count| *count += 1);
    }
    counts
}

/// All settings of two or more factors that a cell has, but not all of them at once.
fn subsets(factors: &[Factor], cell: usize) -> impl Iterator<Item = Settings> {
    let count = factors.len().min(12);
    (1_usize..(1 << count) - 1).filter(|mask| mask.count_ones() >= 2).map(move |mask| {
        let chosen = (0..count).filter(|factor| mask >> factor & 1 == 1);
        chosen.map(|factor| (factor, factors[factor].of[cell])).collect()
    })
}

/// Neighbouring values of every factor against each other.
fn contrasts(cells: &Cells<'_>) -> Vec<Contrast> {
    let factors = design::single(&cells.at, cells.factors);
    let mut found = Vec::new();
    for (place, factor) in factors.iter().enumerate() {
        for (low, high) in (0..factor.levels.len()).zip(1..) {
            let pairs = pairs(&factors, place, low, high);
            let Some(all) =
                both_apply(factor, low, high).then(|| paired(&numbers(cells, &pairs))).flatten()
            else {
                continue;
            };
            found.push(Contrast {
                path: factor.paths[0].clone(),
                first: factor.level(low),
                second: factor.level(high),
                all,
                split: split(&factors, place, &pairs, cells),
            });
        }
    }
    found
}

fn numbers(cells: &Cells<'_>, pairs: &[(usize, usize)]) -> Vec<(f64, f64)> {
    pairs.iter().map(|&(a, b)| (cells.values[a], cells.values[b])).collect()
}

/// Whether both levels are values that apply.
fn both_apply(factor: &Factor, low: usize, high: usize) -> bool {
    high < factor.levels.len() && !factor.level(low).is_empty() && !factor.level(high).is_empty()
}

/// The pairs of cells that have the two levels of one factor and are alike in all others.
fn pairs(factors: &[Factor], place: usize, low: usize, high: usize) -> Vec<(usize, usize)> {
    if high >= factors[place].levels.len() {
        return Vec::new();
    }
    let of = &factors[place].of;
    let with = |level: usize| (0..of.len()).filter(move |&index| of[index] == level);
    let rest = |index: usize| -> Vec<usize> {
        let others = factors.iter().enumerate().filter(|(other, _)| *other != place);
        others.map(|(_, factor)| factor.of[index]).collect()
    };
    let mut highs: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for index in with(high) {
        // Of several that are alike the first.
        highs.entry(rest(index)).or_insert(index);
    }
    with(low).filter_map(|a| Some((a, *highs.get(&rest(a))?))).collect()
}

/// The value of another factor at which the pairs all go one way, where the rest do not.
fn split(
    factors: &[Factor],
    place: usize,
    pairs: &[(usize, usize)],
    cells: &Cells<'_>,
) -> Option<Split> {
    let candidates: Vec<(usize, usize)> = factors
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place)
        .flat_map(|(other, factor)| (0..factor.levels.len()).map(move |level| (other, level)))
        .collect();
    let threshold = ALPHA / candidates.len().max(1) as f64;
    let mut best: Option<Split> = None;
    for (other, level) in candidates {
        let factor = &factors[other];
        let (there, rest): (Vec<_>, Vec<_>) =
            pairs.iter().partition(|(a, _)| factor.of[*a] == level);
        if there.len() < SPLIT_PAIRS_MIN {
            continue;
        }
        let (Some(there), Some(elsewhere)) =
            (paired(&numbers(cells, &there)), paired(&numbers(cells, &rest)))
        else {
            continue;
        };
        let one_way = there.first_smaller == 0 || there.second_smaller == 0;
        let otherwise = elsewhere.p_student > ALPHA
            || (elsewhere.ratio.ln() * there.ratio.ln() < 0.0)
            || elsewhere.interval.high < there.interval.low
            || elsewhere.interval.low > there.interval.high;
        let stronger = best.as_ref().is_none_or(|known| there.p_student < known.there.p_student);
        if one_way && otherwise && there.p_student < threshold && stronger {
            let mut others: Vec<usize> = rest_levels(factor, pairs, level);
            others.sort_unstable();
            others.dedup();
            best = Some(Split {
                path: factor.paths[0].clone(),
                value: factor.level(level),
                there,
                others: others.into_iter().map(|level| factor.level(level)).collect(),
                elsewhere,
            });
        }
    }
    best
}

fn rest_levels(factor: &Factor, pairs: &[(usize, usize)], level: usize) -> Vec<usize> {
    pairs.iter().map(|(a, _)| factor.of[*a]).filter(|other| *other != level).collect()
}

/// The pairs of a contrast in other cells' values, without those at the value that a split names. `factors` are those
/// of the cells, each by itself.
pub fn without(
    cells: &Cells<'_>,
    factors: &[Factor],
    contrast: &Contrast,
    split: &Split,
) -> Option<Paired> {
    let of = |path: &str| factors.iter().position(|factor| factor.paths[0] == path);
    let (place, other) = (of(&contrast.path)?, of(&split.path)?);
    let level = |place: usize, name: &str| {
        (0..factors[place].levels.len()).find(|&level| factors[place].level(level) == name)
    };
    let (first, second) = (level(place, &contrast.first)?, level(place, &contrast.second)?);
    let at = level(other, &split.value)?;
    let pairs = pairs(factors, place, first, second);
    let rest = pairs.iter().filter(|(a, _)| factors[other].of[*a] != at);
    let numbers: Vec<(f64, f64)> = rest.map(|&(a, b)| (cells.values[a], cells.values[b])).collect();
    paired(&numbers)
}
