//! Whether a trial was in its steady state, from its completions over time.
//!
//! The warm-up is found by MSER (White, An effective truncation heuristic for bias reduction in simulation output,
//! Simulation 69, 1997; White, Cobb & Spratt, A comparison of five steady-state truncation heuristics, WSC 2000), on
//! batches of equal time. The interval is Student's on the means of larger batches (Schmeiser, Batch size effects in the
//! analysis of simulation output, Operations Research 30, 1982). A rate that still rises slowly has a narrow interval all
//! the same, so the line that fits it best must be level (SNIA, Solid State Storage Performance Test Specification, slope
//! excursion), where Mann's test says that its slope is not chance. All three look at rates only, and a cache that fills at
//! a constant rate looks steady. So bytes count too that were acknowledged and are on no medium yet.

use serde::{Deserialize, Deserializer, Serialize};

/// What a trial has completed over time, in batches of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The length of a batch, in ns.
    pub batch_ns: u64,
    /// Successful requests of each batch.
    #[serde(deserialize_with = "no_larger")]
    pub requests: Vec<u64>,
    /// Bytes that they carried.
    #[serde(deserialize_with = "no_larger")]
    pub bytes: Vec<u64>,
    /// Of the bytes that were written until the end of each batch, those that only caches hold; none where the
    /// trial wrote nothing, or nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "no_larger")]
    pub held_bytes: Vec<u64>,
}

/// Numbers without the room that reading them one by one leaves: of 100,000 trials that is 36 MB.
fn no_larger<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let mut numbers = Vec::deserialize(deserializer)?;
    numbers.shrink_to_fit();
    Ok(numbers)
}

/// What the batches of a trial say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Batches at the beginning that are left out as warm-up.
    pub warm_up: usize,
    /// Whether the rate has settled: the best beginning to leave out is in the first half.
    pub settled: bool,
    /// The rate after the warm-up, in bytes per second.
    pub bytes_per_s: f64,
    /// Half of the 95 % interval of that rate, as a share of it.
    pub half_width: f64,
    /// The share of the bytes moved after the warm-up by which caches filled, or emptied.
    pub held_share: f64,
    /// How many times the rate of its first half that of its second half is after the warm-up, where it goes one way all
    /// the time: 1 where it does not.
    pub drift: f64,
    /// By how much the line that fits the rate best rises or falls from the warm-up to the end, as a share of the rate: 0
    /// where that may be chance, with three standard deviations.
    pub slope: f64,
    /// The same with 95 %: one level rate of twenty has such a slope, too, and is only watched for longer.
    pub likely_slope: f64,
}

/// Fewer batches or requests than these say nothing.
const BATCHES_MIN: usize = 16;
const REQUESTS_MIN: u64 = 100;

/// In how many larger batches the steady part is looked at, and Student's t within which 95 % lie with one degree of
/// freedom less. The widest interval counts, so that neighbours which depend on each other do not narrow it.
const GROUPS: [(usize, f64); 3] = [(8, 2.365), (16, 2.131), (32, 2.040)];

/// In how many parts a trend is looked for.
const TREND_GROUPS: usize = 16;

/// A trend beyond so many standard deviations is not chance.
const SURE_DEVIATIONS: f64 = 3.0;
/// One beyond so many is not likely to be: 95 % lie within.
const LIKELY_DEVIATIONS: f64 = 1.96;

impl Series {
    /// How many batches there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What it says; `None` where it is too short to tell. The warm-up ends at one of the batches `starts`; caches
    /// may take the share `held_max` of what is moved after it.
    pub fn judge(&self, starts: &[usize], held_max: f64) -> Option<Steadiness> {
        let batches = self.len();
        let enough = batches >= BATCHES_MIN && self.requests.iter().sum::<u64>() >= REQUESTS_MIN;
        if !enough || self.bytes.iter().all(|&bytes| bytes == 0) {
            return None;
        }
        let truncation = mser(&self.bytes);
        let in_half = |start: &&usize| **start <= batches / 2;
        let mut after = starts.iter().filter(in_half).filter(|&&start| start >= truncation);
        let settled = after.clone().next().is_some();
        let latest = starts.iter().filter(in_half).max().copied().unwrap_or(0);
        let warm_up = after.find(|&&start| self.held_share(start) <= held_max);
        let warm_up = warm_up.copied().unwrap_or(latest);
        let rest = &self.bytes[warm_up..];
        let seconds = self.batch_ns as f64 * rest.len() as f64 / 1e9;
        let trend = trend(rest);
        let beyond = |most: f64| trend.as_ref().filter(|(_, deviations)| *deviations > most);
        let slope = |most: f64| beyond(most).map_or(0.0, |_| slope(rest));
        Some(Steadiness {
            warm_up,
            settled,
            bytes_per_s: rest.iter().sum::<u64>() as f64 / seconds,
            half_width: half_width(rest),
            held_share: self.held_share(warm_up),
            drift: beyond(SURE_DEVIATIONS).map_or(1.0, |(parts, _)| drift(parts)),
            slope: slope(SURE_DEVIATIONS),
            likely_slope: slope(LIKELY_DEVIATIONS),
        })
    }

    /// By how much caches filled or emptied from this batch on, as a share of the bytes moved.
    fn held_share(&self, start: usize) -> f64 {
        let Some(&end) = self.held_bytes.last() else { return 0.0 };
        let before = start.checked_sub(1).map_or(0, |batch| self.held_bytes[batch]);
        let moved: u64 = self.bytes[start..].iter().sum();
        end.abs_diff(before) as f64 / moved.max(1) as f64
    }
}

/// How many batches at the beginning to leave out so that the standard error of the mean of the others is least; at
/// most half of them.
fn mser(values: &[u64]) -> usize {
    let error = |start: usize| {
        let rest = &values[start..];
        let mean = mean(rest);
        let squares: f64 = rest.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        squares / (rest.len() as f64).powi(2)
    };
    let errors = (0..=values.len() / 2).map(|start| (start, error(start)));
    errors.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(start, _)| start)
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

/// Half of the 95 % interval of the mean, as a share of it.
fn half_width(values: &[u64]) -> f64 {
    let widths = GROUPS.iter().filter(|(groups, _)| values.len() >= *groups).map(|(groups, t)| {
        let each = values.len() / groups;
        // The oldest are left out where they do not fill a group.
        let kept = &values[values.len() - groups * each..];
        let means: Vec<f64> = kept.chunks_exact(each).map(mean).collect();
        let count = *groups as f64;
        let centre = means.iter().sum::<f64>() / count;
        let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
        t * (squares / (count - 1.0) / count).sqrt() / centre
    });
    widths.reduce(f64::max).unwrap_or(f64::INFINITY)
}

/// The parts in which a trend is looked for, summed, and by how many standard deviations the rate rises or falls: Mann's
/// test for a trend (Nonparametric tests against trend, Econometrica 13, 1945) on [`TREND_GROUPS`] parts of equal length.
///
/// ```text
/// 1 2 3 4: all 6 pairs rise, S = 6; 3 1 4 2: 3 rise and 3 fall, S = 0
/// ```
fn trend(values: &[u64]) -> Option<(Vec<u64>, f64)> {
    let sums = trend_groups(values)?;
    let pairs = (1..sums.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let rising: i32 = pairs.map(|(a, b)| sums[b].cmp(&sums[a]) as i32).sum();
    let count = TREND_GROUPS as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    Some((sums, f64::from(rising).abs() / deviation))
}

/// The parts in which a trend is looked for, summed; `None` where there are fewer batches.
fn trend_groups(values: &[u64]) -> Option<Vec<u64>> {
    let each = values.len() / TREND_GROUPS;
    // The oldest are left out where they do not fill a part.
    let kept = &values[values.len() - TREND_GROUPS * each..];
    (each > 0).then(|| kept.chunks_exact(each).map(|group| group.iter().sum()).collect())
}

/// How many times the rate of the first half of these parts that of the second is.
fn drift(sums: &[u64]) -> f64 {
    let [first, second] = [&sums[..sums.len() / 2], &sums[sums.len() / 2..]].map(mean);
    second / first
}

/// By how much the line of least squares rises or falls over all of them, as a share of their mean.
///
/// ```text
/// slope = Σ (i - ī)(x - x̄) / Σ (i - ī)², over n values: |slope| · n / x̄
/// ```
fn slope(values: &[u64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    let middle = (count - 1.0) / 2.0;
    let products = values.iter().enumerate();
    let products = products.map(|(at, &value)| (at as f64 - middle) * (value as f64 - mean));
    // Σ (i - ī)² of 0, 1 … n - 1 is n (n² - 1) / 12.
    let per_value = products.sum::<f64>() * 12.0 / (count * (count * count - 1.0));
    (per_value * count / mean).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTS: [usize; 7] = [0, 1, 2, 4, 8, 16, 32];

    fn series(bytes: Vec<u64>, held_bytes: Vec<u64>) -> Series {
        Series { batch_ns: 1_000_000_000, requests: vec![100; bytes.len()], bytes, held_bytes }
    }

    /// Noise of a few percent that does not depend on its neighbours.
    fn noisy(mean: u64, index: usize) -> u64 {
        let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mean * (950 + mixed % 101) / 1000
    }

    #[test]
    fn a_constant_rate_is_steady_from_the_start() {
        let said = series(vec![1000; 64], Vec::new()).judge(&STARTS, 0.02).unwrap();
        assert_eq!((said.warm_up, said.settled, said.half_width), (0, true, 0.0));
        assert!((said.bytes_per_s - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn a_fast_beginning_is_left_out() {
        let rate = |index| if index < 3 { 36_000 } else { noisy(1000, index) };
        let said = series((0..64).map(rate).collect(), Vec::new()).judge(&STARTS, 0.02).unwrap();
        assert_eq!((said.warm_up, said.settled), (4, true));
        assert!((said.bytes_per_s / 1000.0 - 1.0).abs() < 0.02, "{said:?}");
        assert!(said.half_width < 0.02, "{said:?}");
    }

    /// The rate is constant, but all of it goes to a cache.
    #[test]
    fn a_cache_that_fills_is_not_steady_however_even_the_rate() {
        let filling = series(vec![1000; 64], (1..=64).map(|n| 900 * n).collect());
        let said = filling.judge(&STARTS, 0.02).unwrap();
        assert!(said.held_share > 0.8, "{said:?}");
        let full = series(vec![1000; 64], (1..=64).map(|n| (900 * n).min(4500)).collect());
        let said = full.judge(&STARTS, 0.02).unwrap();
        // Of what came after four batches 900 in 60,000 filled the cache.
        assert_eq!((said.warm_up, said.held_share), (4, 0.015));
    }

    #[test]
    fn a_trend_is_told_from_noise_and_from_a_jump_back() {
        let of = |rate: &dyn Fn(u64) -> u64| {
            let said = series((0..64).map(rate).collect(), Vec::new());
            said.judge(&[0], 0.02).unwrap().drift
        };
        let rises = of(&|n| 100 + 10 * n);
        assert!((rises - 575.0 / 255.0).abs() < 1e-9, "{rises}");
        let falls = of(&|n| 1000 - 10 * n);
        assert!((falls - 525.0 / 845.0).abs() < 1e-9, "{falls}");
        // Exact comparisons: nothing is computed where there is no trend.
        assert_eq!(of(&|n| noisy(1000, n as usize)).to_bits(), 1.0_f64.to_bits());
        assert_eq!(of(&|n| n.abs_diff(32)).to_bits(), 1.0_f64.to_bits());
    }

    /// One of normally distributed values, roughly: the sum of twelve even ones (σ = 1).
    fn normal(seed: u64) -> f64 {
        let even = |index: u64| {
            let mut mixed = (12 * seed + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 27) as f64 / u64::MAX as f64
        };
        (0..12).map(even).sum::<f64>() - 6.0
    }

    /// How many of 1000 series of 64 batches, whose rate rises so much in each and has so much noise, slope by more than
    /// 2 %.
    fn sloping(rise: f64, noise: f64) -> usize {
        let of = |run: u64| {
            let rate = |n: u64| 1e6 * (1.0 + rise * n as f64 + noise * normal(64 * run + n));
            let said = series((0..64).map(|n| rate(n) as u64).collect(), Vec::new());
            said.judge(&[0], 0.02).unwrap().slope > 0.02
        };
        (0..1000).filter(|&run| of(run)).count()
    }

    #[test]
    fn noise_has_no_slope_and_a_slow_rise_has() {
        // Of 1000 normally distributed ones 2.7 lie beyond three standard deviations.
        let flat = [0.01, 0.05, 0.2].map(|noise| sloping(0.0, noise));
        assert!(flat.iter().all(|&count| count <= 10), "{flat:?}");
        // 0.1 % in each batch, 6 % in all; the interval is within 2 % all the same.
        let rises = [0.0, 0.01, 0.02].map(|noise| sloping(0.001, noise));
        assert!(rises.iter().all(|&count| count >= 950), "{rises:?}");
        // Where all of it is less than the precision, it does no harm.
        assert_eq!(sloping(0.0002, 0.0), 0);
    }

    #[test]
    fn the_slope_is_that_of_the_best_line() {
        let of = |rate: &dyn Fn(u64) -> u64| {
            series((0..64).map(rate).collect(), Vec::new()).judge(&[0], 0.02).unwrap().slope
        };
        // 64 times 10, of 1315 on average.
        let [rises, falls] = [of(&|n| 1000 + 10 * n), of(&|n| 1630 - 10 * n)];
        assert!((rises - 640.0 / 1315.0).abs() < 1e-9 && (rises - falls).abs() < 1e-9, "{rises}");
    }

    #[test]
    fn a_rate_that_falls_all_the_time_does_not_settle() {
        let said = series((0..64).map(|n| 10_000 - 100 * n).collect(), Vec::new());
        let said = said.judge(&STARTS, 0.02).unwrap();
        assert!(said.half_width > 0.02, "{said:?}");
        let jump = series((0..64).map(|n| if n < 40 { 9000 } else { 100 }).collect(), Vec::new());
        let said = jump.judge(&STARTS, 0.02).unwrap();
        assert!(said.half_width > 0.5, "{said:?}");
    }

    /// Neighbours that are alike widen the interval, as they should: there is less in them.
    #[test]
    fn slow_swings_are_noticed() {
        let swing = |n: u64| if (n / 8).is_multiple_of(2) { 1100 } else { 900 };
        let slow = series((0..64).map(swing).collect(), Vec::new()).judge(&STARTS, 0.02).unwrap();
        let quick = |n: u64| if n.is_multiple_of(2) { 1100 } else { 900 };
        let quick = series((0..64).map(quick).collect(), Vec::new()).judge(&STARTS, 0.02).unwrap();
        assert!(slow.half_width > 0.08 && quick.half_width < 0.04, "{slow:?} {quick:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(series(vec![1000; 15], Vec::new()).judge(&STARTS, 0.02), None);
        let few = Series { requests: vec![1; 64], ..series(vec![1000; 64], Vec::new()) };
        assert_eq!(few.judge(&STARTS, 0.02), None);
        assert_eq!(series(vec![0; 64], Vec::new()).judge(&STARTS, 0.02), None);
    }
}
