//! Which factors were varied, and which of them only together.

use crate::cells::compare_all;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use store::factor::{FactorKind, Factors};
use store::record::short_key;

/// A factor, or several that do not vary freely of each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The key paths.
    pub paths: Vec<String>,
    /// What is known of each.
    pub kinds: Vec<FactorKind>,
    /// The values, in order: for each level one of every path.
    pub levels: Vec<Vec<Json>>,
    /// For each layout, its level.
    pub of: Vec<usize>,
}

/// Two factors are varied freely of each other where at least this share of their combinations is
/// there: a cell that failed does not make one of the two.
const CROSSED_SHARE: f64 = 0.75;

impl Factor {
    fn new(paths: Vec<String>, layouts: &[&Map<String, Json>], factors: &Factors) -> Self {
        let value = |at: &Map<String, Json>| -> Vec<Json> {
            paths
                .iter()
                .map(|path| at.get(path).cloned().unwrap_or_else(|| Json::from("")))
                .collect()
        };
        let words = |level: &[Json]| serde_json::to_string(level).expect("values are JSON");
        let mut levels: Vec<Vec<Json>> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        // By the order of appearance first: values that compare as equal keep it.
        let seen: Vec<usize> = layouts
            .iter()
            .map(|at| {
                let level = value(at);
                *known.entry(words(&level)).or_insert_with(|| {
                    levels.push(level);
                    levels.len() - 1
                })
            })
            .collect();
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| compare_all(&levels[a], &levels[b]));
        let mut places = vec![0; levels.len()];
        order.iter().enumerate().for_each(|(place, &level)| places[level] = place);
        let of = seen.into_iter().map(|level| places[level]).collect();
        let levels: Vec<Vec<Json>> =
            order.into_iter().map(|level| std::mem::take(&mut levels[level])).collect();
        let kinds = paths.iter().map(|path| factors.of(path)).collect();
        Factor { paths, kinds, levels, of }
    }

    /// `block`, or `drives/level/interleave`.
    pub fn name(&self) -> String {
        self.paths.iter().map(|path| short_key(path)).collect::<Vec<_>>().join("/")
    }

    /// A level in words, without what does not apply to it.
    pub fn level(&self, level: usize) -> String {
        let values = self.kinds.iter().zip(&self.levels[level]);
        let words = values.map(|(kind, value)| kind.shown(value));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Every path that has more than one value, each a factor of its own.
pub fn single(layouts: &[&Map<String, Json>], known: &Factors) -> Vec<Factor> {
    let mut paths: Vec<&String> = Vec::new();
    for path in layouts.iter().flat_map(|at| at.keys()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let factors = paths.into_iter().map(|path| Factor::new(vec![path.clone()], layouts, known));
    factors.filter(|factor| factor.levels.len() > 1).collect()
}

/// The factors as a full cross: those that do not vary freely of each other are made one, as drives,
/// level and interleave where only one set of drives is a mirror.
pub fn crossed(layouts: &[&Map<String, Json>], known: &Factors) -> Vec<Factor> {
    let mut factors = single(layouts, known);
    loop {
        let pair = (0..factors.len())
            .flat_map(|a| (a + 1..factors.len()).map(move |b| (a, b)))
            .find(|&(a, b)| !is_crossed(&factors[a], &factors[b]));
        let Some((a, b)) = pair else { return factors };
        let second = factors.remove(b);
        let mut paths = factors[a].paths.clone();
        paths.extend(second.paths);
        factors[a] = Factor::new(paths, layouts, known);
    }
}

fn is_crossed(a: &Factor, b: &Factor) -> bool {
    let mut pairs: Vec<(usize, usize)> = a.of.iter().copied().zip(b.of.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.len() as f64 >= CROSSED_SHARE * (a.levels.len() * b.levels.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pairs: &[(&str, &str)]) -> Map<String, Json> {
        pairs.iter().map(|(path, word)| ((*path).into(), Json::from(*word))).collect()
    }

    #[test]
    fn what_varies_only_together_is_one_factor() {
        let mut layouts = Vec::new();
        for block in ["16KiB", "4KiB", "8KiB"] {
            layouts.push(at(&[("v.drives", "a"), ("v.interleave", ""), ("fs.block", block)]));
            layouts.push(at(&[("v.drives", "2xa"), ("v.interleave", "64"), ("fs.block", block)]));
            layouts.push(at(&[("v.drives", "2xa"), ("v.interleave", "128"), ("fs.block", block)]));
            layouts.push(at(&[("v.drives", "b"), ("v.interleave", ""), ("fs.block", block)]));
        }
        let known = Factors::default();
        let layouts: Vec<&Map<String, Json>> = layouts.iter().collect();
        assert_eq!(single(&layouts, &known).len(), 3);
        let factors = crossed(&layouts, &known);
        assert_eq!(factors.len(), 2);
        assert_eq!(factors[0].name(), "drives/interleave");
        assert_eq!(factors[0].levels.len(), 4);
        assert_eq!(factors[1].level(0), "4KiB");
        assert_eq!(factors[1].level(2), "16KiB");
    }
}
