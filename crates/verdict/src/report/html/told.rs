//! What was measured of layouts, as the charts of a page draw it.

use super::run::drawn;
use super::thin::{self, ENDS};
use crate::judge::Layouts;
use crate::judge::factors::design::Factor;
use crate::stats::Interval;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use store::factor::Factors;

/// What was measured of layouts. Each layout is told once, and a row names it by its place: thousands of cells are as many
/// quantities on some hundred layouts.
#[derive(Default)]
pub(super) struct Told {
    pub(super) layouts: Vec<Json>,
    places: BTreeMap<String, usize>,
    /// The quantity by its place, the layout by its place, value, low, high and trials.
    pub(super) rows: Vec<Json>,
    /// How many quantities were measured, and had no room.
    pub(super) left_out: usize,
}

impl Told {
    /// Adds what was measured.
    pub(super) fn row(
        &mut self,
        quantity: usize,
        (at, label, factors): (&Map<String, Json>, &str, &Factors),
        (value, interval, trials): (f64, Option<Interval>, usize),
    ) {
        let key = Json::from(at.clone()).to_string();
        let layouts = &mut self.layouts;
        let place = *self.places.entry(key).or_insert_with(|| {
            layouts.push(json!({ "at": words(at, factors), "label": label }));
            layouts.len() - 1
        });
        let (low, high) = interval.map(|of| (drawn(of.low), drawn(of.high))).unzip();
        self.rows.push(json!([quantity, place, drawn(value), low, high, trials]));
    }

    /// Keeps the best and the worst of its layouts, and the best of each pair of values of two factors. Says what all of them
    /// come to: for each factor the median at each level; for pairs of factors of each pair of levels that some layout has the
    /// levels, the best layout, its value, the median and how many layouts there are.
    pub(super) fn thinned(
        &mut self,
        layouts: &Layouts,
        factors: &[Factor],
        is_less_better: bool,
        most: usize,
    ) -> Json {
        let of_place: BTreeMap<usize, usize> =
            self.rows.iter().enumerate().filter_map(|(row, of)| Some((place(of)?, row))).collect();
        // Of each layout its row, if anything was measured.
        let rows: Vec<Option<usize>> = layouts
            .layouts
            .iter()
            .map(|of| self.places.get(&Json::from(of.at.clone()).to_string()))
            .map(|place| of_place.get(place?).copied())
            .collect();
        let values: Vec<f64> = self.rows.iter().map(|row| row[2].as_f64().unwrap_or(0.0)).collect();
        let rank = |a: &usize, b: &usize| {
            let ranked = values[*a].total_cmp(&values[*b]);
            if is_less_better { ranked } else { ranked.reverse() }
        };
        let median_of = |layouts: &[usize]| {
            thin::middle(layouts.iter().map(|&at| rows[at].map(|row| values[row]))).map(drawn)
        };
        let middles: Vec<Vec<Option<f64>>> = factors
            .iter()
            .map(|factor| {
                let mut of_level = vec![Vec::new(); factor.levels.len()];
                factor.of.iter().enumerate().for_each(|(at, level)| of_level[*level].push(at));
                of_level.iter().map(|layouts| median_of(layouts)).collect()
            })
            .collect();
        let mut sorted: Vec<usize> = (0..self.rows.len()).collect();
        sorted.sort_by(rank);
        let mut kept: BTreeSet<usize> = thin::ends(sorted, 2 * ENDS).into_iter().collect();
        let mut pairs = Vec::new();
        for pair in thin::pairs(factors, most) {
            let mut cells = Vec::new();
            for (levels, layouts) in &pair.groups {
                let Some(best) = layouts.iter().filter_map(|&at| rows[at]).min_by(rank) else {
                    continue;
                };
                kept.insert(best);
                cells.push((*levels, best, median_of(layouts), layouts.len()));
            }
            pairs.push((pair.factors, cells));
        }
        let places = self.keep(&kept);
        let pairs = pairs.into_iter().map(|(of, cells)| {
            let cells = cells.into_iter().map(|([x, y], best, median, count)| {
                json!([x, y, places[&best], drawn(values[best]), median, count])
            });
            json!({ "factors": of, "cells": cells.collect::<Vec<_>>() })
        });
        json!({ "layouts": rows.len(), "middles": middles, "pairs": pairs.collect::<Vec<_>>() })
    }

    /// Keeps these rows and their layouts; gives the new place of each row's layout.
    fn keep(&mut self, kept: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let (mut layouts, mut rows) = (Vec::new(), Vec::new());
        let mut places = BTreeMap::new();
        for &row in kept {
            let Some(old) = place(&self.rows[row]) else { continue };
            places.insert(row, layouts.len());
            let mut moved = self.rows[row].take();
            moved[1] = layouts.len().into();
            layouts.push(self.layouts[old].take());
            rows.push(moved);
        }
        (self.layouts, self.rows) = (layouts, rows);
        self.places.clear();
        places
    }
}

/// The place of a row's layout.
fn place(row: &Json) -> Option<usize> {
    row[1].as_u64().and_then(|place| usize::try_from(place).ok())
}

/// The values of its factors, as people write them.
fn words(at: &Map<String, Json>, factors: &Factors) -> Map<String, Json> {
    at.iter().map(|(path, value)| (path.clone(), Json::from(factors.shown(path, value)))).collect()
}
