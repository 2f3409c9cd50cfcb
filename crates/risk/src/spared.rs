//! A group with spares: a chain whose states know which spares were used and are not replaced yet.
//!
//! Each failure takes a spare where one is ready and orders another, which is there after L hours. Other groups of the array take
//! the same spares. With o drives on order, o − s of those that failed wait for one, w of them here, and b have theirs: the first of
//! these is being rebuilt. A state is (o, w, b, f), where f members have failed since that rebuild began.
//!
//! ```text
//! failure     (o, w, b, f) → (o + 1, w, b + 1, f + 1)   where a spare is ready (o < s), else (o + 1, w + 1, b, f + 1); f stays 0 where
//!                                                       b was
//! elsewhere   (o, w, b, f) → (o + 1, w, b, f)
//! arrival     (o, w, b, f) → (o − 1, w − 1, b + 1, f)   at o / L for w of o − s, else (o − 1, w, b, f)
//! rebuilt     (o, w, b, f) → (o, w, b − 1, 0)           at (1 + f) / R
//! ```
//!
//! Rebuilds take a fixed time R. Of one that f others have seen begin and not end, R / (1 + f) is left in the mean, as of the first of
//! o orders L / o is. Where many failures are survived, f is taken as b − 1, as if all that have a drive were rebuilt side by side:
//! 0.1 % too much where slow replacement decides, and too much by some times where that is far below what can be said. Of
//! very many nobody is rebuilt, as if that took no time.
//!
//! What is lost in so many hours is what has arrived in the last state: the chain is stepped through a short time, and that is doubled
//! until all have passed. Of many states those in which somebody is rebuilt are left out before: what they lead to is added to where
//! they are come from, and the time in them, too, so that the mean time to the end stays what it is. All of it are sums and products
//! of what is not negative, so no digit is lost however rare the end.

use crate::chain::Chain;
use std::collections::{BTreeMap, BTreeSet};

/// More spares than these are taken as these: each multiplies the states, and more than so many orders are hardly open at once.
const SPARES_MAX: usize = 64;

/// More members than these that wait in other groups are taken as these.
const ELSEWHERE_MAX: f64 = 64.0;

/// Up to so many failures that are survived, a state knows how many came since a rebuild began.
const SEEN_MAX: usize = 3;

/// Where more failures than these are survived, who has a drive is not counted as down: so many would have to fail within one rebuild.
const REBUILT_MAX: usize = 16;

/// Of more states than these those in which somebody is rebuilt are left out: a product of matrices takes their cube.
const STATES_MAX: usize = 64;

/// The shortest time that anything takes, in hours: a second. Doubled from shorter ones, a mission loses the digits of its sums.
const SHORTEST_H: f64 = 1.0 / 3600.0;

/// A chain with spares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spared<'a> {
    /// The group without them.
    pub(crate) chain: &'a Chain,
    /// Spares that are ready.
    pub(crate) spares: usize,
    /// Hours until one that was used is replaced; without end where it never is.
    pub(crate) ordered_h: f64,
    /// Drives of other groups, which take the same spares.
    pub(crate) elsewhere: usize,
}

/// Drives on order, members that wait, that have a drive, and that failed since the rebuild of these began.
type State = (usize, usize, usize, usize);

/// What follows each state, and how often in an hour.
type Rates = Vec<BTreeMap<usize, f64>>;

impl Spared<'_> {
    /// The probability that within `hours` more members are down than `survived`.
    pub(crate) fn within(&self, hours: f64, survived: usize) -> f64 {
        if self.chain.failures_per_h(0) <= 0.0 {
            return 0.0;
        }
        let (states, rates) = self.rates(hours, survived);
        let rates = if states.len() > STATES_MAX {
            let is_kept: Vec<bool> = states.iter().map(|&(_, _, begun, _)| begun == 0).collect();
            without(rates, &is_kept)
        } else {
            rates
        };
        let lost = rates.len() - 1;
        let mut steps = stepped(&dense(&rates), hours);
        lost_from_start(&mut steps, lost).clamp(0.0, 1.0)
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

    /// Failures in an hour of all drives that take these spares.
    fn taken_per_h(&self) -> f64 {
        self.chain.failures_per_h(0) + self.elsewhere as f64 * self.chain.failures_per_h
    }

    /// How many more orders may be open than spares are there before other groups' are not counted any more: hardly ever more.
    fn counted_elsewhere(&self, hours: f64) -> usize {
        let open = self.taken_per_h() * self.ordered_h.min(hours);
        (open + 6.0 * open.sqrt() + 4.0).min(ELSEWHERE_MAX) as usize
    }

    /// What follows a state, and how often in an hour; nothing where more are down than `survived`.
    fn next(&self, state: State, hours: f64, survived: usize) -> Vec<(Option<State>, f64)> {
        let (ordered, waiting, begun, since) = state;
        let (down, spares) = (waiting + begun, self.spares());
        let is_ready = ordered < spares;
        let begins = usize::from(survived <= REBUILT_MAX);
        let sees = survived <= SEEN_MAX && begun > 0;
        let failed = (
            ordered + 1,
            waiting + usize::from(!is_ready),
            if is_ready { begun + begins } else { begun },
            if sees { since + 1 } else { 0 },
        );
        let failures_per_h = self.chain.failures_per_h(down);
        let mut next = vec![((down < survived).then_some(failed), failures_per_h)];
        let all_waiting = ordered.saturating_sub(spares);
        let up_elsewhere = self.elsewhere.saturating_sub(all_waiting - waiting);
        let elsewhere_per_h = up_elsewhere as f64 * self.chain.failures_per_h;
        if elsewhere_per_h > 0.0 && all_waiting < self.counted_elsewhere(hours) {
            next.push((Some((ordered + 1, waiting, begun, since)), elsewhere_per_h));
        }
        let failures_per_h = failures_per_h + elsewhere_per_h;
        // What is ordered for later than the end never comes.
        if ordered > 0 && self.ordered_h < hours {
            let per_h = over_per_h(self.ordered_h, ordered - 1, failures_per_h);
            let here = waiting as f64 / all_waiting.max(1) as f64;
            if waiting > 0 {
                next.push((Some((ordered - 1, waiting - 1, begun + begins, since)), per_h * here));
            }
            if here < 1.0 {
                next.push((Some((ordered - 1, waiting, begun, since)), per_h * (1.0 - here)));
            }
        }
        if begun > 0 {
            let since = if survived <= SEEN_MAX { since } else { begun - 1 };
            let per_h = over_per_h(1.0 / self.chain.rebuilds_per_h, since, failures_per_h);
            next.push((Some((ordered, waiting, begun - 1, 0)), per_h));
        }
        next
    }

    /// The states that can be reached, the first of them with all spares ready, and the rates from each to each; the end is one more.
    fn rates(&self, hours: f64, survived: usize) -> (Vec<State>, Rates) {
        let mut places: BTreeMap<State, usize> = BTreeMap::from([((0, 0, 0, 0), 0)]);
        let mut states: Vec<State> = vec![(0, 0, 0, 0)];
        let mut found: Vec<Vec<(Option<usize>, f64)>> = Vec::new();
        while let Some(&state) = states.get(found.len()) {
            let next = self.next(state, hours, survived).into_iter().map(|(next, per_h)| {
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
        let mut rates: Rates = vec![BTreeMap::new(); lost + 1];
        for (from, next) in found.into_iter().enumerate() {
            for (place, per_h) in next {
                *rates[from].entry(place.unwrap_or(lost)).or_default() += per_h;
            }
        }
        (states, rates)
    }

    /// How long a member that failed waits for a drive in the mean, in hours, those that wait at the end to there: what is open at a
    /// time is a Poisson number of what all drives ordered in the last L hours.
    pub(crate) fn wait_h(&self, hours: f64) -> f64 {
        const PARTS: u32 = 64;
        let taken_per_h = self.taken_per_h();
        let filled_h = self.ordered_h.min(hours);
        let waiting = |since_h: f64| self.waiting(taken_per_h * since_h);
        // No order is older than the mission.
        let filling = (0..PARTS)
            .map(|part| waiting(filled_h * (f64::from(part) + 0.5) / f64::from(PARTS)))
            .sum::<f64>()
            / f64::from(PARTS);
        let mean = (filling * filled_h + waiting(filled_h) * (hours - filled_h)) / hours;
        if taken_per_h > 0.0 { mean / taken_per_h } else { 0.0 }
    }

    /// How many wait for a drive where `open` orders are open in the mean.
    fn waiting(&self, open: f64) -> f64 {
        let mut share = (-open).exp();
        if share <= 0.0 {
            return (open - self.spares as f64).max(0.0);
        }
        let mut waiting = 0.0;
        // Beyond these are none, however many spares there are.
        let last = (open + 12.0 * open.sqrt() + 50.0) as usize;
        for ordered in 1..last {
            share *= open / ordered as f64;
            waiting += ordered.saturating_sub(self.spares) as f64 * share;
        }
        waiting
    }
}

/// The same chain without the states that are not kept; the last, which is the end, is.
fn without(mut rates: Rates, is_kept: &[bool]) -> Rates {
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); rates.len()];
    for (from, row) in rates.iter().enumerate() {
        for &to in row.keys() {
            before[to].insert(from);
        }
    }
    let mut hours = vec![1.0; rates.len()];
    for left in (0..is_kept.len()).rev().filter(|&state| !is_kept[state]) {
        let row = std::mem::take(&mut rates[left]);
        let out: f64 = row.values().sum();
        for to in row.keys() {
            before[*to].remove(&left);
        }
        for from in std::mem::take(&mut before[left]) {
            let share = rates[from].remove(&left).expect("it comes before") / out;
            hours[from] += share * hours[left];
            // Who comes back has only spent the time.
            for (&to, per_h) in row.iter().filter(|(to, _)| **to != from) {
                *rates[from].entry(to).or_default() += share * per_h;
                before[to].insert(from);
            }
        }
    }
    let kept = (0..rates.len()).filter(|&state| is_kept.get(state).copied().unwrap_or(true));
    let kept: Vec<usize> = kept.collect();
    let places: BTreeMap<usize, usize> =
        kept.iter().enumerate().map(|(place, &state)| (state, place)).collect();
    let of = |state: &usize| {
        let per_h = |(to, rate): (&usize, &f64)| (places[to], rate / hours[*state]);
        rates[*state].iter().map(per_h).collect()
    };
    kept.iter().map(of).collect()
}

fn dense(rates: &Rates) -> Vec<Vec<f64>> {
    let row_of = |row: &BTreeMap<usize, f64>| {
        (0..rates.len()).map(|to| row.get(&to).copied().unwrap_or(0.0)).collect()
    };
    rates.iter().map(row_of).collect()
}

/// The rate of what takes fixed hours, in a chain where it is over before the next failure as likely as it really is: `failed` members
/// have failed since it began, at any time of it, so that what is left is the least of so many shares of it.
///
/// ```text
/// (1 + failed) / hours where failures are rare, λ / (e^(λ hours) − 1) where none failed yet
/// ```
fn over_per_h(hours: f64, failed: usize, failures_per_h: f64) -> f64 {
    const PARTS: u32 = 64;
    let expected = hours.max(SHORTEST_H) * failures_per_h;
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
            let spared = Spared { chain: &chain, spares: 1, ordered_h: 1e-3, elsewhere: 0 };
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
        let spared = Spared { chain: &chain, spares: 2, ordered_h: f64::INFINITY, elsewhere: 0 };
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
        // With m failures expected, m − 2 + (2 + m) e^−m wait: over m from 0 to the 2 of all hours 1 − 5 e^−2, of 10,000 h each half.
        let wait_h = spared.wait_h(20_000.0);
        let by_hand = (1.0 - 5.0 * (-2.0_f64).exp()) / 2.0 * 10_000.0;
        assert!((wait_h / by_hand - 1.0).abs() < 1e-3, "{wait_h} {by_hand}");
    }

    /// With one drive failing in ten hours and ten to wait for each, one is open in the mean: without a spare each waits for all ten.
    #[test]
    fn who_waits_for_a_drive_waits_for_what_was_ordered_before() {
        let chain = chain(10, 2, 0.01);
        let wait_h =
            |spares| Spared { chain: &chain, spares, ordered_h: 10.0, elsewhere: 0 }.wait_h(1e13);
        assert!((wait_h(0) - 10.0).abs() < 1e-9);
        // E[(O − 1)+] of a Poisson number of mean 1 is 1/e.
        assert!((wait_h(1) - 10.0 / std::f64::consts::E).abs() < 1e-9, "{}", wait_h(1));
    }

    /// A mirror of 24 had a dense matrix of 7,000 states, and its answer took more than a minute.
    #[test]
    fn a_mirror_with_spares_ends_soon() {
        let lost = |members: usize, ordered_h: f64, failures_per_h: f64| {
            let chain = Chain { acceleration: 6.0, ..chain(members, members - 1, failures_per_h) };
            let spared = Spared { chain: &chain, spares: 8, ordered_h, elsewhere: 0 };
            let (states, rates) = spared.rates(43_800.0, members - 1);
            assert!(states.len() < 300, "{}", states.len());
            let is_kept: Vec<bool> = states.iter().map(|&(_, _, begun, _)| begun == 0).collect();
            assert_eq!(without(rates, &is_kept).len(), 8 + members + 1);
            spared.within(43_800.0, members - 1)
        };
        // Spares without number: a loop went through all of them.
        let chain = chain(8, 2, 1e-5);
        let many = Spared { chain: &chain, spares: usize::MAX / 2, ordered_h: 72.0, elsewhere: 0 };
        assert!(many.wait_h(43_800.0) < 1e-9);
        assert!(lost(24, 1440.0, 1e-5) < crate::FLOOR && lost(200, 72.0, 1e-6) < crate::FLOOR);
        // Spares that nobody replaces; of 17 the rebuilds are counted, of 18 they are not.
        let [counted, not] = [17, 18].map(|members| lost(members, f64::INFINITY, 2e-5));
        assert!(counted > 0.05 && not / counted > 0.8 && not < counted, "{counted} {not}");
    }

    /// States that are left out are as if they were there: what is lost with all of them.
    #[test]
    fn what_is_left_out_is_not_missed() {
        let hours = 43_800.0;
        for (survived, ordered_h) in
            [(2, 1440.0), (2, 72.0), (3, 20_000.0), (3, f64::INFINITY), (4, 20_000.0)]
        {
            let chain = Chain { acceleration: 6.0, ..chain(12, survived, 3.2e-6) };
            let spared = Spared { chain: &chain, spares: 1, ordered_h, elsewhere: 0 };
            let (states, rates) = spared.rates(hours, survived);
            let lost = |rates: &Rates| {
                let lost = rates.len() - 1;
                lost_from_start(&mut stepped(&dense(rates), hours), lost)
            };
            let is_kept: Vec<bool> = states.iter().map(|&(_, _, begun, _)| begun == 0).collect();
            let [all, kept] = [lost(&rates), lost(&without(rates, &is_kept))];
            assert!((kept / all - 1.0).abs() < 0.01, "{survived} {ordered_h}: {kept} {all}");
        }
    }

    /// Orders of a billionth of a second had lost all digits of the sums, and with them what is lost.
    #[test]
    fn what_is_replaced_at_once_is_as_in_a_second() {
        let chain = chain(8, 2, 1e-6);
        let [at_once, soon] = [1e-9 / 3600.0, 1e-2].map(|ordered_h| {
            Spared { chain: &chain, spares: 1, ordered_h, elsewhere: 0 }.within(43_800.0, 2)
        });
        assert!((at_once / soon - 1.0).abs() < 1e-3, "{at_once} {soon}");
    }

    /// Sixteen spares that nobody replaces were taken as eight, as if more than these could not be used.
    #[test]
    fn sixteen_spares_last_longer_than_eight() {
        let chain = chain(24, 2, 1e-5);
        let [eight, sixteen] = [8, 16].map(|spares| {
            Spared { chain: &chain, spares, ordered_h: f64::INFINITY, elsewhere: 0 }
                .within(43_800.0, 2)
        });
        // Of 10.5 failures in the mean more than 10 are 48 %, and more than 18 1.1 %; the rest is lost in rebuilds.
        assert!(eight > 0.4 && sixteen < 0.06, "{eight} {sixteen}");
    }
}
