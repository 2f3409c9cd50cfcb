//! A group with spares: a chain whose states know which spares were used and are not replaced yet.
//!
//! Each failure takes a spare where one is ready and orders another, which is there after L hours. With o drives on order, o − s
//! of those that failed wait for one, and b have theirs: the first of these is being rebuilt. A state is (o, b, f), where f members
//! have failed since that rebuild began.
//!
//! ```text
//! failure     (o, b, f) → (o + 1, b + 1, f + 1)   where a spare is ready (o < s), else (o + 1, b, f + 1); f stays 0 where b was
//! arrival     (o, b, f) → (o − 1, b + 1, f)       at o / L where one waits for it (o > s), else (o − 1, b, f)
//! rebuilt     (o, b, f) → (o, b − 1, 0)           at (1 + f) / R
//! ```
//!
//! Rebuilds take a fixed time R. Of one that f others have seen begin and not end, R / (1 + f) is left in the mean, as of the first of
//! o orders L / o is.
//!
//! What is lost in so many hours is what has arrived in the last state: the chain is stepped through a short time, and that is doubled
//! until all have passed. All of it are sums and products of what is not negative, so no digit is lost however rare the end.

use crate::chain::Chain;
use std::collections::BTreeMap;

/// More spares than these are as good as these: each multiplies the states, and is used where as many orders are open at once.
const SPARES_MAX: usize = 8;

/// A chain with spares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spared<'a> {
    /// The group without them.
    pub(crate) chain: &'a Chain,
    /// Spares that are ready.
    pub(crate) spares: usize,
    /// Hours until one that was used is replaced; without end where it never is.
    pub(crate) ordered_h: f64,
}

/// Drives on order, members that have theirs, and members that failed since the rebuild of these began.
type State = (usize, usize, usize);

impl Spared<'_> {
    /// The probability that within `hours` more members are down than `survived`.
    pub(crate) fn within(&self, hours: f64, survived: usize) -> f64 {
        let (rates, lost) = self.rates(survived);
        let mut steps = stepped(&rates, hours);
        let start = lost_from_start(&mut steps, lost);
        start.clamp(0.0, 1.0)
    }

    /// Mean hours until as many are down as the group survives, as what happens in `hours` has it.
    pub(crate) fn last_chance_h(&self, hours: f64) -> f64 {
        let seen = self.within(hours, self.chain.survived.saturating_sub(1));
        // What is sure happens at once, for all that is asked here.
        hours / -(-seen.min(1.0 - f64::EPSILON)).ln_1p()
    }

    fn spares(&self) -> usize {
        self.spares.min(SPARES_MAX)
    }

    fn waiting(&self, ordered: usize) -> usize {
        ordered.saturating_sub(self.spares())
    }

    /// What follows a state, and how often in an hour; nothing where more are down than `survived`.
    fn next(&self, (ordered, begun, since): State, survived: usize) -> Vec<(Option<State>, f64)> {
        let down = self.waiting(ordered) + begun;
        let is_ready = ordered < self.spares();
        let failed =
            (ordered + 1, begun + usize::from(is_ready), if begun > 0 { since + 1 } else { 0 });
        let failed = (down < survived).then_some(failed);
        let failures_per_h = self.chain.failures_per_h(down);
        let mut next = vec![(failed, failures_per_h)];
        if ordered > 0 && self.ordered_h.is_finite() {
            let waits = self.waiting(ordered) > 0;
            let arrived = (ordered - 1, begun + usize::from(waits), since);
            let per_h = over_per_h(self.ordered_h, ordered - 1, failures_per_h);
            next.push((Some(arrived), per_h));
        }
        if begun > 0 {
            let per_h = over_per_h(1.0 / self.chain.rebuilds_per_h, since, failures_per_h);
            next.push((Some((ordered, begun - 1, 0)), per_h));
        }
        next
    }

    /// The rates from each state that can be reached to each, the first of them with all spares ready, and which is the end.
    fn rates(&self, survived: usize) -> (Vec<Vec<f64>>, usize) {
        let mut places: BTreeMap<State, usize> = BTreeMap::from([((0, 0, 0), 0)]);
        let mut states: Vec<State> = vec![(0, 0, 0)];
        let mut found: Vec<Vec<(Option<usize>, f64)>> = Vec::new();
        while let Some(&state) = states.get(found.len()) {
            let next = self.next(state, survived).into_iter().map(|(next, per_h)| {
                let place = next.map(|next| {
                    *places.entry(next).or_insert_with(|| {
                        states.push(next);
                        states.len() - 1
                    })
                });
                (place, per_h)
            });
            found.push(next.collect());
        }
        let lost = states.len();
        let mut rates = vec![vec![0.0; lost + 1]; lost + 1];
        for (from, next) in found.into_iter().enumerate() {
            for (place, per_h) in next {
                rates[from][place.unwrap_or(lost)] += per_h;
            }
        }
        (rates, lost)
    }

    /// How long a member that failed waits for a drive in the mean, in hours: with m orders open in the mean, a Poisson number of them.
    pub(crate) fn wait_h(&self, hours: f64) -> f64 {
        const TERMS: usize = 400;
        let failures_per_h = self.chain.failures_per_h(0);
        // One that is never replaced waits to the end.
        let open = failures_per_h * self.ordered_h.min(hours);
        let (mut share, mut waiting) = ((-open).exp(), 0.0);
        if share <= 0.0 {
            return (open - self.spares() as f64).max(0.0) / failures_per_h;
        }
        for ordered in 1..TERMS.max(self.spares() + 1) {
            share *= open / ordered as f64;
            waiting += self.waiting(ordered) as f64 * share;
        }
        waiting / failures_per_h
    }
}

/// The rate of what takes fixed hours, in a chain where it is over before the next failure as likely as it really is: `failed` members
/// have failed since it began, at any time of it, so that what is left is the least of so many shares of it.
///
/// ```text
/// (1 + failed) / hours where failures are rare, λ / (e^(λ hours) − 1) where none failed yet
/// ```
fn over_per_h(hours: f64, failed: usize, failures_per_h: f64) -> f64 {
    const PARTS: u32 = 64;
    let expected = hours * failures_per_h;
    let fails_within = |share: f64| -(-expected * share).exp_m1();
    let fails = if failed == 0 {
        fails_within(1.0)
    } else {
        let of_part = |part: u32| {
            let beyond = 1.0 - (f64::from(part) + 0.5) / f64::from(PARTS);
            fails_within(1.0 - beyond.powf(1.0 / failed as f64))
        };
        (0..PARTS).map(of_part).sum::<f64>() / f64::from(PARTS)
    };
    failures_per_h * (1.0 - fails) / fails
}

/// Where each state is after `hours` over 2ⁿ, and n: by steps at the rate of the fastest (A. Jensen, Markoff chains as an aid in the
/// study of Markoff processes, Skand. Aktuarietidskr. 36, 1953).
fn stepped(rates: &[Vec<f64>], hours: f64) -> (Vec<Vec<f64>>, u32) {
    const TERMS: u32 = 20;
    let count = rates.len();
    let out: Vec<f64> = rates.iter().map(|row| row.iter().sum()).collect();
    let fastest = out.iter().copied().fold(0.0, f64::max);
    let halvings = (fastest * hours).max(1.0).log2().ceil();
    let (expected, halvings) = (fastest * hours / halvings.exp2(), halvings as u32);
    let one: Vec<Vec<f64>> = rates
        .iter()
        .enumerate()
        .map(|(from, row)| {
            let stays = |to: usize| if from == to { (fastest - out[from]).max(0.0) } else { 0.0 };
            row.iter().enumerate().map(|(to, rate)| (rate + stays(to)) / fastest).collect()
        })
        .collect();
    let mut power: Vec<Vec<f64>> = (0..count)
        .map(|from| (0..count).map(|to| f64::from(u8::from(from == to))).collect())
        .collect();
    let mut weight = (-expected).exp();
    let mut sum = vec![vec![0.0; count]; count];
    for term in 1..=TERMS {
        for (row, added) in sum.iter_mut().zip(&power) {
            row.iter_mut().zip(added).for_each(|(own, more)| *own += weight * more);
        }
        power = product(&power, &one);
        weight *= expected / f64::from(term);
    }
    (sum, halvings)
}

/// How likely the end is from the first state.
fn lost_from_start((steps, halvings): &mut (Vec<Vec<f64>>, u32), lost: usize) -> f64 {
    for _ in 0..*halvings {
        *steps = product(steps, steps);
    }
    steps[0][lost]
}

fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row_of = |row: &Vec<f64>| {
        let mut sums = vec![0.0; row.len()];
        for (share, other) in row.iter().zip(right).filter(|(share, _)| **share > 0.0) {
            sums.iter_mut().zip(other).for_each(|(sum, more)| *sum += share * more);
        }
        sums
    };
    left.iter().map(row_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(members: usize, survived: usize, failures_per_h: f64) -> Chain {
        Chain {
            members,
            survived,
            failures_per_h,
            uneven: Vec::new(),
            rebuilds_per_h: 0.02,
            side_by_side: true,
            acceleration: 1.0,
            unreadable: 0.0,
        }
    }

    /// With one that is there at once the group is as its chain has it, down to what is next to never.
    #[test]
    fn a_spare_that_is_always_there_is_the_chain() {
        for (survived, failures_per_h) in [(1, 1e-6), (2, 1e-6), (3, 1e-7), (2, 1e-5)] {
            let chain = chain(8, survived, failures_per_h);
            let spared = Spared { chain: &chain, spares: 1, ordered_h: 1e-3 };
            let ratio =
                spared.within(43_800.0, survived) / crate::chain::within(43_800.0, chain.end_h());
            assert!((ratio - 1.0).abs() < 0.01, "{survived} {failures_per_h}: {ratio}");
            let ratio = spared.last_chance_h(43_800.0) / chain.last_chance_h();
            assert!((ratio - 1.0).abs() < 0.01, "{survived} {failures_per_h}: {ratio}");
        }
    }

    /// Spares that nobody replaces: as many failures one after the other as there are spares, and then as the group survives.
    #[test]
    fn spares_that_are_never_replaced_are_used_up() {
        let chain = Chain { rebuilds_per_h: 100.0, ..chain(10, 1, 1e-5) };
        let spared = Spared { chain: &chain, spares: 2, ordered_h: f64::INFINITY };
        // Two of ten members at 10 λ, then one at 10 λ and one at 9 λ: the sum of four steps, by small ones.
        let (mut states, step_h) = ([1.0, 0.0, 0.0, 0.0, 0.0], 1.0);
        for _ in 0..20_000 {
            for (state, rate) in [(3, 9e-5), (2, 1e-4), (1, 1e-4), (0, 1e-4)] {
                let moved = states[state] * rate * step_h;
                states[state] -= moved;
                states[state + 1] += moved;
            }
        }
        let found = spared.within(20_000.0, 1);
        assert!((found / states[4] - 1.0).abs() < 2e-3, "{found} {states:?}");
        // The first two wait for nothing, and the third to the end.
        assert!(spared.wait_h(20_000.0) > 0.0);
    }

    /// With one drive failing in ten hours and ten to wait for each, one is open in the mean: without a spare each waits for all ten.
    #[test]
    fn who_waits_for_a_drive_waits_for_what_was_ordered_before() {
        let chain = chain(10, 2, 0.01);
        let wait_h = |spares| Spared { chain: &chain, spares, ordered_h: 10.0 }.wait_h(1e9);
        assert!((wait_h(0) - 10.0).abs() < 1e-9);
        // E[(O − 1)+] of a Poisson number of mean 1 is 1/e.
        assert!((wait_h(1) - 10.0 / std::f64::consts::E).abs() < 1e-9, "{}", wait_h(1));
    }
}
