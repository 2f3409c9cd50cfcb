//! When the requests of an open stream come, whether or not earlier ones are done.

use crate::Nanos;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// When the requests of a stream come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// As soon as an earlier one has come back: a closed loop, which waits for the device.
    #[default]
    Closed,
    /// At equal distances.
    Fixed,
    /// At exponentially distributed distances, as of many users who know nothing of each other.
    Poisson,
}

/// The times at which requests come, one after the other.
#[derive(Clone, Debug)]
pub(super) struct ArrivalClock {
    arrivals: Arrivals,
    /// How many come together.
    burst: u32,
    requests_per_s: u64,
    random: Pcg64Mcg,
    /// Bursts that are over, and requests of the current one.
    bursts: u64,
    of_burst: u32,
    next_ns: Nanos,
}

impl ArrivalClock {
    /// On average `requests_per_s` of them, `burst` at a time. The draws depend on the seed alone, so that
    /// another rate has the same arrivals, closer together or farther apart.
    ///
    /// # Panics
    ///
    /// Where a closed loop is asked for, or a rate or a burst of none.
    pub(super) fn new(arrivals: Arrivals, requests_per_s: u64, burst: u32, seed: u64) -> Self {
        assert!(arrivals != Arrivals::Closed, "in a closed loop nothing comes by the clock");
        assert!(requests_per_s > 0 && burst > 0, "what never comes needs no clock");
        let random = Pcg64Mcg::new(u128::from(!seed) << 64 | u128::from(seed));
        let mut clock = ArrivalClock {
            arrivals,
            burst,
            requests_per_s,
            random,
            bursts: 0,
            of_burst: 0,
            next_ns: 0,
        };
        if arrivals == Arrivals::Poisson {
            clock.next_ns = clock.gap_ns();
        }
        clock
    }

    /// When the next one comes.
    #[inline]
    pub(super) fn next_ns(&self) -> Nanos {
        self.next_ns
    }

    /// The next one has come.
    pub(super) fn pass(&mut self) {
        self.of_burst += 1;
        if self.of_burst < self.burst {
            return;
        }
        self.of_burst = 0;
        self.bursts += 1;
        self.next_ns = match self.arrivals {
            Arrivals::Poisson => self.next_ns.saturating_add(self.gap_ns()),
            // Without rounding errors that add up: burst k at k * burst / rate. At 3 a second, one at a time: 0,
            // 333,333,333, 666,666,666, 1,000,000,000 ns.
            Arrivals::Fixed | Arrivals::Closed => {
                let requests = u128::from(self.bursts) * u128::from(self.burst);
                let at = requests * 1_000_000_000 / u128::from(self.requests_per_s);
                Nanos::try_from(at).unwrap_or(Nanos::MAX)
            }
        };
    }

    /// The distance to the next burst: -ln(u) of the mean, with u from (0, 1]. At 1000 a second in bursts of 4 the
    /// mean is 4 ms, and u = 0.5 gives 2.77 ms.
    fn gap_ns(&mut self) -> Nanos {
        let u = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let mean_ns = f64::from(self.burst) * 1e9 / self.requests_per_s as f64;
        (-u.ln() * mean_ns).round() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, requests_per_s: u64, burst: u32, count: usize) -> Vec<Nanos> {
        let mut clock = ArrivalClock::new(arrivals, requests_per_s, burst, 7);
        let mut next = || {
            let at = clock.next_ns();
            clock.pass();
            at
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn fixed_arrivals_have_equal_distances_and_do_not_drift() {
        let expected = [0, 333_333_333, 666_666_666, 1_000_000_000];
        assert_eq!(times(Arrivals::Fixed, 3, 1, 4), expected);
        assert_eq!(times(Arrivals::Fixed, 1000, 2, 5), [0, 0, 2_000_000, 2_000_000, 4_000_000]);
        assert_eq!(times(Arrivals::Fixed, 3, 1, 3_000_001)[3_000_000], 1_000_000_000_000_000);
    }

    /// Mean and standard deviation of the distances are the same, and 1/e of them are longer than the mean.
    #[test]
    fn poisson_arrivals_have_exponential_distances() {
        let times = times(Arrivals::Poisson, 10_000, 1, 200_001);
        let gaps: Vec<f64> = times.windows(2).map(|two| (two[1] - two[0]) as f64).collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
        let longer = gaps.iter().filter(|&&gap| gap > mean).count() as f64 / count;
        assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.01, "{deviation}");
        assert!((longer - (-1.0_f64).exp()).abs() < 0.005, "{longer}");
    }

    /// Common random numbers: twice the rate is the same at twice the speed.
    #[test]
    fn another_rate_has_the_same_draws() {
        let [slow, fast] = [1000, 2000].map(|rate| times(Arrivals::Poisson, rate, 1, 1000));
        assert!(slow.iter().zip(&fast).all(|(slow, fast)| slow.abs_diff(2 * fast) <= 1000));
    }
}
