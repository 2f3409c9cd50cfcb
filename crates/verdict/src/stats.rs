//! Statistics: pure functions of samples, each with its reference.

pub mod bootstrap;
pub mod compare;
pub mod noise;
pub mod polish;
pub mod shares;
pub mod student;

use serde::Serialize;

/// Both ends of a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The median; for an even number the mean of the two in the middle. `None` of nothing.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The ranks of samples from 1, ties sharing the mean of theirs.
pub(crate) fn ranks(samples: &[f64]) -> Vec<f64> {
    ranks_within(samples, |_| 0.0)
}

/// The same where what lies within a share of a sample ties with it; `tie` is that of each by its place, as a logarithm.
pub(crate) fn ranks_within(samples: &[f64], tie: impl Fn(usize) -> f64) -> Vec<f64> {
    // Beyond it exponentials have no number.
    const LOG_MAX: f64 = 700.0;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    samples
        .iter()
        .enumerate()
        .map(|(place, sample)| {
            let tie = tie(place).min(LOG_MAX);
            let [least, most] = [-tie, tie].map(|by| sample + sample.abs() * by.exp_m1());
            let below = sorted.partition_point(|other| *other < least);
            let up_to = sorted.partition_point(|other| *other <= most);
            f64::midpoint(below as f64 + 1.0, up_to as f64)
        })
        .collect()
}

/// Spearman's rank correlation: Pearson's correlation of the ranks. `None` where either side does not
/// vary, for then there is nothing to order.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "samples come in pairs");
    correlation(&ranks(a), &ranks(b))
}

/// Pearson's correlation; `None` where either side does not vary.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    let spread = (product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b)).sqrt();
    (spread > 0.0).then(|| product(a, mean_a, b, mean_b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn equal_numbers_share_a_rank_whatever_their_sign() {
        assert_eq!(ranks(&[0.0, 2.0, -0.0, -1.0]), [2.5, 4.0, 2.5, 1.0]);
    }

    /// 100 and 104 tie within 5 %, and 104 and 108; 100 and 108 do not. An infinite share ties all.
    #[test]
    fn what_is_within_a_share_shares_a_rank() {
        let within = |tie: f64| ranks_within(&[100.0, 104.0, 108.0, 300.0], |_| tie);
        assert_eq!(within(0.05), [1.5, 2.0, 2.5, 4.0]);
        assert_eq!(within(0.0), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(within(f64::INFINITY), [2.5; 4]);
        assert_eq!(ranks_within(&[0.0, 0.0, 1.0], |_| f64::INFINITY), [1.5, 1.5, 2.0]);
    }

    #[test]
    fn rank_correlation_sees_order_only() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 200.0, 3000.0]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(rank_correlation(&[1.0, 1.0], &[3.0, 2.0]), None);
        // Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
        let tied = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((tied - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-12);
    }
}
