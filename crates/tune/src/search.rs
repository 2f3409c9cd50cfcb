//! The search: all cells where that is cheap, else a race.
//!
//! A cell is one value of each factor. The race measures a spread of cells once, fits what each value of a factor does
//! (median polish), measures what that fit promises and what is next to the best, until nothing next to the best is
//! left. What is then near the best is tried again with further seeds, the same for all, and halved after each.
//!
//! Where something cheap ranks all cells beforehand (short trials; the model, before a real machine), the race begins
//! with what that puts ahead, of each kind, and measures on as long as it expects more than it has, up to a twentieth
//! of all.

pub(crate) mod clock;
pub(crate) mod confirm;
pub(crate) mod even_seeds;
pub(crate) mod lanes;
pub(crate) mod layouts;
pub(crate) mod long_trials;
pub(crate) mod of_experiment;
pub(crate) mod of_question;
pub(crate) mod pick;
#[cfg(test)]
pub(crate) mod remembered;
pub(crate) mod trials;

use std::collections::BTreeMap;
use verdict::stats::polish::polish;

/// What the race has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raced {
    /// The scores of each cell that was measured, one for each seed; greater is better.
    pub scores: BTreeMap<usize, Vec<f64>>,
    /// Cells measured, each seed counted.
    pub evaluations: usize,
}

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Up to so many cells are all measured.
    pub exhaustive: usize,
    /// Seeds that the last ones get.
    pub seeds: u64,
    /// Only what is within this of the best, in the unit of scores, gets more seeds.
    pub near: f64,
    /// So many get them wherever they are: a seed may be lucky.
    pub at_least: usize,
}

/// What is known of all cells before any is measured.
#[derive(Clone, Copy, Debug)]
pub struct Prior<'a> {
    /// A score for each cell, in the unit of what is measured; `None` of those that cannot be chosen.
    pub scores: &'a [Option<f64>],
    /// The factor whose values are kinds that the prior may misjudge against each other; the best of each is measured.
    pub kinds: usize,
}

/// Measures some cells with a seed: a score each, `None` for what cannot be compared.
pub type Measure<'a, E> = dyn FnMut(&[usize], u64) -> Result<Vec<Option<f64>>, E> + 'a;

/// Looks for the best of `cells`, each given by the place of its value in each factor.
///
/// # Errors
///
/// Where a measurement fails.
pub fn race<E>(
    cells: &[Vec<usize>],
    prior: Option<Prior<'_>>,
    effort: Effort,
    measure: &mut Measure<'_, E>,
) -> Result<Raced, E> {
    let mut race = Race { cells, tried: vec![false; cells.len()], raced: Raced::default() };
    let prior = prior.filter(|prior| prior.scores.iter().any(Option::is_some));
    if let Some(prior) = prior {
        race.by_prior(prior, measure)?;
    } else if cells.len() <= effort.exhaustive {
        race.measure(&(0..cells.len()).collect::<Vec<_>>(), measure)?;
    } else {
        race.measure(&spread(cells), measure)?;
        while let Some(next) = race.promising() {
            race.measure(&next, measure)?;
        }
    }
    // The seeds after the first, each for the better half of those before.
    let mut left = race.in_order();
    if let Some(best) = left.first().and_then(|&best| race.mean(best)) {
        let is_near =
            |&cell: &usize| race.mean(cell).is_some_and(|mean| mean >= best - effort.near);
        let near = left.iter().filter(|cell| is_near(cell)).count();
        left.truncate(near.max(effort.at_least));
    }
    for seed in 1..effort.seeds {
        if left.len() < 2 {
            break;
        }
        left.truncate(left.len().div_ceil(2).max(2));
        let scores = measure(&left, seed)?;
        race.keep(&left, scores);
        let order = race.in_order();
        left.sort_by_key(|cell| order.iter().position(|other| other == cell));
    }
    Ok(race.raced)
}

/// With a prior, one cell in so many is measured, or a few more than it takes to have each kind compared.
const SHARE: usize = 20;
const AT_LEAST: usize = 3;

/// So many more cells are measured of a kind whose first one cannot be compared.
const MORE_OF_A_KIND: usize = 3;

/// One, where the prior has the kind so far behind the best, as a logarithm: half as fast. It is not chosen then, and trials that do
/// not settle are the longest of all: each of a RAID 6 over four shingled disks took 10 s, whose best is five times as fast.
const FAR: f64 = std::f64::consts::LN_2;
const MORE_OF_A_FAR_KIND: usize = 1;

/// What is expected to be as little behind the best may be ahead of it: short trials err by more.
const SLACK: f64 = 0.05;

struct Race<'a> {
    cells: &'a [Vec<usize>],
    tried: Vec<bool>,
    raced: Raced,
}

impl Race<'_> {
    fn measure<E>(&mut self, which: &[usize], measure: &mut Measure<'_, E>) -> Result<(), E> {
        let scores = measure(which, 0)?;
        for &cell in which {
            self.tried[cell] = true;
        }
        self.keep(which, scores);
        Ok(())
    }

    /// Measures what the prior puts ahead: the best of each kind, then whatever is expected to be no worse than the
    /// best, until there is nothing or a twentieth of all is measured.
    fn by_prior<E>(&mut self, prior: Prior<'_>, measure: &mut Measure<'_, E>) -> Result<(), E> {
        let of = |cell: usize| prior.scores[cell].unwrap_or(f64::NEG_INFINITY);
        let kind = |cell: usize| self.cells[cell][prior.kinds];
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        order.sort_by(|&a, &b| of(b).total_cmp(&of(a)).then(a.cmp(&b)));
        let mut first: Vec<usize> = Vec::new();
        for &cell in order.iter().filter(|&&cell| prior.scores[cell].is_some()) {
            if first.iter().all(|&other| kind(other) != kind(cell)) {
                first.push(cell);
            }
        }
        self.measure(&first, measure)?;
        self.measure_next_of_kinds(&order, prior, measure)?;
        let most = self.cells.len().div_ceil(SHARE).max(self.raced.evaluations + AT_LEAST);
        loop {
            let best = self.in_order().first().and_then(|&best| Some((best, self.mean(best)?)));
            // Until something can be chosen, whatever the prior has next.
            if best.is_some() && self.raced.evaluations >= most {
                return Ok(());
            }
            let expected =
                |cell: usize| of(cell) + self.moved(prior, self.cells[cell][prior.kinds]);
            let mut open: Vec<usize> =
                order.iter().copied().filter(|&cell| !self.tried[cell]).collect();
            if let Some((_, value)) = best {
                open.retain(|&cell| expected(cell) >= value - SLACK);
                open.sort_by(|&a, &b| expected(b).total_cmp(&expected(a)).then(a.cmp(&b)));
            }
            open.truncate(most.saturating_sub(self.raced.evaluations).clamp(1, 2));
            if open.is_empty() {
                return Ok(());
            }
            self.measure(&open, measure)?;
        }
    }

    /// A kind whose first cell cannot be compared, as where its trial does not settle, has others measured, in `order`: it may
    /// be the best kind.
    fn measure_next_of_kinds<E>(
        &mut self,
        order: &[usize],
        prior: Prior<'_>,
        measure: &mut Measure<'_, E>,
    ) -> Result<(), E> {
        let kind = |cell: usize| self.cells[cell][prior.kinds];
        let best = order.first().and_then(|&cell| prior.scores[cell]);
        let is_far = |cell: usize| {
            let of_kind = order.iter().find(|&&other| kind(other) == kind(cell));
            let of_kind = of_kind.and_then(|&first| prior.scores[first]);
            best.zip(of_kind).is_some_and(|(best, own)| own < best - FAR)
        };
        for more in 0..MORE_OF_A_KIND {
            let compared: Vec<usize> = self.raced.scores.keys().copied().map(kind).collect();
            let mut next: Vec<usize> = Vec::new();
            for &cell in order {
                let is_open = !self.tried[cell] && prior.scores[cell].is_some();
                let kinds_next = |&other: &usize| kind(other) == kind(cell);
                let is_open = is_open && (more < MORE_OF_A_FAR_KIND || !is_far(cell));
                if is_open && !compared.contains(&kind(cell)) && !next.iter().any(kinds_next) {
                    next.push(cell);
                }
            }
            if next.is_empty() {
                break;
            }
            self.measure(&next, measure)?;
        }
        Ok(())
    }

    /// How far measurements of a kind are from its prior, in the mean; of a kind without any, nothing.
    fn moved(&self, prior: Prior<'_>, kind: usize) -> f64 {
        let own = self.raced.scores.keys().filter(|&&cell| self.cells[cell][prior.kinds] == kind);
        let moved: Vec<f64> =
            own.filter_map(|&cell| Some(self.mean(cell)? - prior.scores[cell]?)).collect();
        if moved.is_empty() { 0.0 } else { moved.iter().sum::<f64>() / moved.len() as f64 }
    }

    fn keep(&mut self, which: &[usize], scores: Vec<Option<f64>>) {
        self.raced.evaluations += which.len();
        for (&cell, score) in which.iter().zip(scores) {
            if let Some(score) = score {
                self.raced.scores.entry(cell).or_default().push(score);
            }
        }
    }

    fn mean(&self, cell: usize) -> Option<f64> {
        let scores = self.raced.scores.get(&cell)?;
        Some(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// The cells with a score, the best first.
    fn in_order(&self) -> Vec<usize> {
        let mut scored: Vec<(usize, f64)> =
            self.raced.scores.keys().filter_map(|&cell| Some((cell, self.mean(cell)?))).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.into_iter().map(|(cell, _)| cell).collect()
    }

    /// What to measure next: cells that differ from the best in one factor, and those that the fit sees ahead of it.
    fn promising(&self) -> Option<Vec<usize>> {
        const AT_ONCE: usize = 4;
        let order = self.in_order();
        let open: Vec<usize> = (0..self.cells.len()).filter(|&cell| !self.tried[cell]).collect();
        let best = *order.first()?;
        let expected = self.expected(&order);
        let mut next: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&cell| next_to(&self.cells[cell], &self.cells[best]))
            .collect();
        let mut ahead: Vec<usize> =
            open.into_iter().filter(|&cell| expected[cell] > expected[best]).collect();
        for list in [&mut next, &mut ahead] {
            list.sort_by(|&a, &b| expected[b].total_cmp(&expected[a]).then(a.cmp(&b)));
            list.truncate(AT_ONCE);
        }
        next.extend(ahead);
        next.sort_unstable();
        next.dedup();
        (!next.is_empty()).then_some(next)
    }

    /// What the fit expects of every cell.
    fn expected(&self, measured: &[usize]) -> Vec<f64> {
        let logs: Vec<f64> = measured.iter().filter_map(|&cell| self.mean(cell)).collect();
        let levels: Vec<Vec<usize>> = (0..self.cells[0].len())
            .map(|factor| measured.iter().map(|&cell| self.cells[cell][factor]).collect())
            .collect();
        let fit = polish(&logs, &levels);
        self.cells
            .iter()
            .map(|cell| {
                let effects = cell.iter().zip(&fit.effects);
                fit.grand
                    + effects.map(|(&level, of)| of.get(level).copied().unwrap_or(0.0)).sum::<f64>()
            })
            .collect()
    }
}

/// Whether two cells differ in one factor alone, and there by one step or in what has no order.
fn next_to(a: &[usize], b: &[usize]) -> bool {
    let mut apart = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).filter(|&steps| steps > 0);
    matches!((apart.next(), apart.next()), (Some(1), None))
}

/// Cells that have every value of every factor at least twice, where it is there that often.
fn spread(cells: &[Vec<usize>]) -> Vec<usize> {
    const TIMES: usize = 2;
    let mut seen: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut chosen: Vec<usize> = Vec::new();
    loop {
        // The cell whose values are the least seen so far.
        let worth = |cell: &Vec<usize>| -> usize {
            cell.iter()
                .enumerate()
                .map(|(factor, &value)| {
                    TIMES.saturating_sub(seen.get(&(factor, value)).copied().unwrap_or(0))
                })
                .sum()
        };
        let open = (0..cells.len()).filter(|cell| !chosen.contains(cell));
        let Some(next) = open.max_by_key(|&cell| (worth(&cells[cell]), std::cmp::Reverse(cell)))
        else {
            break;
        };
        if worth(&cells[next]) == 0 {
            break;
        }
        for (factor, &value) in cells[next].iter().enumerate() {
            *seen.entry((factor, value)).or_default() += 1;
        }
        chosen.push(next);
    }
    chosen.sort_unstable();
    chosen
}
