//! Closed forms: a group as a chain of states, by the members that are down.
//!
//! From state j, with j members down, the next failure comes at (n − j) λ times an acceleration, and a rebuild ends at
//! µ. The chain ends when one more is down than the group survives. A rebuild from the last state that it survives
//! reads the others without a spare copy; it meets what cannot be read with the probability `unreadable`.
//!
//! The mean time from one state to the next is found without a subtraction, so no digit is lost however rare the end:
//!
//! ```text
//! T(0) = 1 / f(0)      T(j) = (1 + r(j) T(j−1)) / f(j)      mean time to the end = T(0) + T(1) + …
//! ```
//!
//! For one parity that is ((2n − 1) λ + µ) / (n (n − 1) λ²) (Greenan, Plank & Wylie, HotStorage 2010). Eight drives of
//! 461,386 h that are rebuilt in 12 h: 316,904,896.54 h.

/// A group of members that fail and are rebuilt, all at constant rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Members.
    pub members: usize,
    /// How many may be down.
    pub survived: usize,
    /// Failures of one member in an hour.
    pub failures_per_h: f64,
    /// How many times that is it with none down, with one, with two …; empty where all members are alike.
    pub uneven: Vec<f64>,
    /// Rebuilds in an hour.
    pub rebuilds_per_h: f64,
    /// Whether all that are down are rebuilt side by side, each at that rate; or one after another, each in the same time.
    ///
    /// Both end alike: p + 1 are down together only while the first of them is not back after its time x, and the others
    /// fail in it in x^p / p! ways. Without memory, one after another, that is x^p.
    pub side_by_side: bool,
    /// How much likelier a failure is once another member is down.
    pub acceleration: f64,
    /// The probability that the last possible rebuild meets what cannot be read.
    pub unreadable: f64,
}

impl Chain {
    /// Mean time until more are down than survive, or the last possible rebuild cannot read, in hours.
    pub fn end_h(&self) -> f64 {
        let last = self.survived;
        let mut total_h = self.states_h(last);
        let (failures, rebuilds) = (self.failures_per_h(last), self.rebuilds_per_h(last));
        let before_h = if last == 0 { 0.0 } else { self.state_h(last - 1) };
        let ended = failures + rebuilds * self.unreadable;
        total_h += (1.0 + rebuilds * (1.0 - self.unreadable) * before_h) / ended;
        total_h
    }

    /// Mean time until as many are down as survive, in hours: from there on nothing may be unreadable.
    pub fn last_chance_h(&self) -> f64 {
        self.states_h(self.survived)
    }

    /// T(0) + … + T(`count` − 1).
    fn states_h(&self, count: usize) -> f64 {
        (0..count).map(|down| self.state_h(down)).sum()
    }

    /// T(j): from the first time that `down` are down until one more is.
    fn state_h(&self, down: usize) -> f64 {
        let mut time_h = 0.0;
        for state in 0..=down {
            time_h = (1.0 + self.rebuilds_per_h(state) * time_h) / self.failures_per_h(state);
        }
        time_h
    }

    pub(crate) fn failures_per_h(&self, down: usize) -> f64 {
        let acceleration = if down == 0 { 1.0 } else { self.acceleration };
        let uneven = self.uneven.get(down).copied().unwrap_or(1.0);
        (self.members - down) as f64 * self.failures_per_h * uneven * acceleration
    }

    fn rebuilds_per_h(&self, down: usize) -> f64 {
        let lanes = if self.side_by_side { down } else { down.min(1) };
        lanes as f64 * self.rebuilds_per_h
    }
}

/// The probability that something of a mean time of `mean_h` happens within `hours`.
pub fn within(hours: f64, mean_h: f64) -> f64 {
    -(-hours / mean_h).exp_m1()
}

/// The probability that within `hours` something goes bad, which it does so often in an hour, and is then needed before
/// it is mended: two steps, one after the other.
///
/// With x and y for both rates times the hours that is x y (φ(x) − φ(y)) / (y − x), where φ(x) = (1 − e^−x) / x. Each once
/// in five years, in five years: 1 − 2/e = 26 %; x y / 2, as for rare things, would be 50 %.
pub fn bad_when_needed(hours: f64, bad_per_h: f64, needed_per_h: f64) -> f64 {
    // Below this the difference loses digits, and the series does not need many terms.
    const SMALL: f64 = 0.5;
    const TERMS: u32 = 16;
    let [bad, needed] = [bad_per_h, needed_per_h].map(|rate| rate * hours);
    if bad.max(needed) > SMALL {
        let apart = needed - bad;
        let waiting = if apart.abs() < 1e-9 { 1.0 } else { -(-apart).exp_m1() / apart };
        return 1.0 - (-bad).exp() * (1.0 + bad * waiting);
    }
    // 1/2! − (x + y)/3! + (x² + x y + y²)/4! − …
    let (mut sum, mut products, mut power, mut factorial) = (0.0, 1.0, 1.0, 2.0);
    for term in 0..TERMS {
        sum += products / factorial;
        power *= needed;
        products = bad * products + power;
        factorial *= -f64::from(term + 3);
    }
    bad * needed * sum
}

/// The probability that a read of so many bytes meets an unreadable bit, where one in 1/`per_bit` is.
///
/// 6 TB at 1e-14: 38.1 %. Written as 1 − (1 − 1e-15)^n it would lose digits: 1.44e15 bits give 0.76280, not 0.76307.
pub fn read_error(bytes: f64, per_bit: f64) -> f64 {
    -(8.0 * bytes * (-per_bit).ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(members: usize, survived: usize) -> Chain {
        Chain {
            members,
            survived,
            failures_per_h: 1.0 / 1000.0,
            uneven: Vec::new(),
            rebuilds_per_h: 0.5,
            side_by_side: false,
            acceleration: 1.0,
            unreadable: 0.0,
        }
    }

    /// Ford et al., OSDI 2010: two copies (3λ + ρ) / 2λ², three (11λ² + 4λρ + ρ²) / 6λ³.
    #[test]
    fn copies_last_as_long_as_ford_says() {
        let (failures, rebuilds) = (1.0 / 1000.0, 0.5_f64);
        let two = (3.0 * failures + rebuilds) / (2.0 * failures * failures);
        let three = (11.0 * failures * failures + 4.0 * failures * rebuilds + rebuilds.powi(2))
            / (6.0 * failures.powi(3));
        assert!((chain(2, 1).end_h() / two - 1.0).abs() < 1e-12);
        assert!((chain(3, 2).end_h() / three - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_rebuilt_ends_with_the_last_chance() {
        let unreadable = Chain { unreadable: 1.0, ..chain(8, 2) };
        let rest = unreadable.end_h() - unreadable.last_chance_h();
        let failures = 6.0 * unreadable.failures_per_h;
        assert!((rest - 1.0 / (failures + 0.5)).abs() < 1e-9, "{rest}");
        assert!((chain(4, 0).end_h() - 250.0).abs() < 1e-9);
    }

    /// Beside the sum over many small steps, and over the seam between the two ways to compute it.
    #[test]
    fn what_is_bad_when_it_is_needed_takes_two_steps() {
        let once = bad_when_needed(5.0, 0.2, 0.2);
        assert!((once - (1.0 - 2.0 / std::f64::consts::E)).abs() < 1e-12, "{once}");
        assert!(
            (bad_when_needed(720.0, 1e-9, 1e-12) / (720.0_f64.powi(2) * 5e-22) - 1.0).abs() < 1e-5
        );
        for (bad, needed) in
            [(0.49, 0.3), (0.51, 0.3), (0.1, 0.499), (0.1, 0.501), (3.0, 40.0), (0.0, 9.0)]
        {
            let steps = 200_000_u32;
            let step = 1.0 / f64::from(steps);
            let at = |index: u32| (f64::from(index) + 0.5) * step;
            let of = |time: f64| bad * (-bad * time).exp() * -(-needed * (1.0 - time)).exp_m1();
            let sum: f64 = (0..steps).map(|index| of(at(index)) * step).sum();
            let found = bad_when_needed(1.0, bad, needed);
            assert!((found - sum).abs() < 1e-8, "{bad} {needed}: {found} {sum}");
        }
    }

    #[test]
    fn probabilities_keep_their_digits() {
        assert!((within(1.0, 1e12) / 1e-12 - 1.0).abs() < 1e-9);
        assert!((read_error(6e12, 1e-14) - 0.381).abs() < 5e-4);
        assert!((read_error(1.8e14, 1e-15) - 0.763_07).abs() < 5e-6);
    }
}
