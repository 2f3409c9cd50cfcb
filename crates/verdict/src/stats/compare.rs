//! Two settings held against each other, in pairs and unpaired, as ratios.

use super::Interval;
use super::student::{t95, two_sided};
use serde::Serialize;

/// Two settings over pairs that are alike in everything else.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Pairs.
    pub pairs: usize,
    /// Pairs in which the first is the smaller.
    pub first_smaller: usize,
    /// Pairs in which the second is.
    pub second_smaller: usize,
    /// The geometric mean of first ÷ second.
    pub ratio: f64,
    /// Its 95 % interval: Student's, of the differences of the logarithms.
    pub interval: Interval,
    /// The chance of so large a mean difference from none, by Student's paired test on logarithms.
    pub p_student: f64,
    /// The chance of so uneven signed ranks (Wilcoxon, Individual comparisons by ranking methods,
    /// Biometrics Bulletin 1, 1945), from their exact distribution.
    pub p_wilcoxon: f64,
}

/// Compares in pairs. `None` of fewer than two pairs, or where a number is not above 0.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Paired> {
    if pairs.len() < 2 || pairs.iter().any(|&(a, b)| a <= 0.0 || b <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = pairs.iter().map(|&(a, b)| (a / b).ln()).collect();
    let (mean, sd) = mean_sd(&logs);
    let degrees = logs.len() as f64 - 1.0;
    let error = sd / (logs.len() as f64).sqrt();
    let half = t95(degrees) * error;
    let p_student = match (error > 0.0, mean == 0.0) {
        (true, _) => two_sided(mean / error, degrees),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Some(Paired {
        pairs: pairs.len(),
        first_smaller: logs.iter().filter(|log| **log < 0.0).count(),
        second_smaller: logs.iter().filter(|log| **log > 0.0).count(),
        ratio: mean.exp(),
        interval: Interval { low: (mean - half).exp(), high: (mean + half).exp() },
        p_student,
        p_wilcoxon: wilcoxon(&logs),
    })
}

/// The ratio of two settings' geometric means and its 95 % interval, from samples that are no pairs
/// (Welch, The generalization of "Student's" problem, Biometrika 34, 1947, on logarithms). `None`
/// where either has fewer than two samples, or a number is not above 0.
pub fn unpaired(a: &[f64], b: &[f64]) -> Option<(f64, Interval)> {
    if a.len() < 2 || b.len() < 2 || a.iter().chain(b).any(|x| *x <= 0.0) {
        return None;
    }
    let logs = |samples: &[f64]| samples.iter().map(|x| x.ln()).collect::<Vec<f64>>();
    let ((mean_a, sd_a), (mean_b, sd_b)) = (mean_sd(&logs(a)), mean_sd(&logs(b)));
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let (part_a, part_b) = (sd_a * sd_a / n_a, sd_b * sd_b / n_b);
    let variance = part_a + part_b;
    let ratio = mean_a - mean_b;
    if variance <= 0.0 {
        return Some((ratio.exp(), Interval { low: ratio.exp(), high: ratio.exp() }));
    }
    let squares = part_a * part_a / (n_a - 1.0) + part_b * part_b / (n_b - 1.0);
    let half = t95(variance * variance / squares) * variance.sqrt();
    Some((ratio.exp(), Interval { low: (ratio - half).exp(), high: (ratio + half).exp() }))
}

/// Mean and standard deviation of a sample.
pub fn mean_sd(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, if samples.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() })
}

/// The two-sided chance of signed ranks so uneven: of all ways to give the ranks signs, the share in
/// which the sum lies as far from the middle. Differences of 0 are left out, ties share their rank;
/// ranks are counted double so that shared ones are whole too.
fn wilcoxon(differences: &[f64]) -> f64 {
    let differences: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranks: Vec<usize> = super::ranks(&sizes).iter().map(|rank| (2.0 * rank) as usize).collect();
    let total: usize = ranks.iter().sum();
    if ranks.is_empty() || ranks.len() > 300 {
        return if ranks.is_empty() { 1.0 } else { wilcoxon_normal(&differences, &ranks) };
    }
    let positive = positive_sum(&differences, &ranks);
    let tail = positive.min(total - positive);
    // No sum beyond the tail is asked for, and none of the tail is made of one beyond it.
    let mut share = vec![0.0; tail + 1];
    share[0] = 1.0;
    let mut largest = 0;
    for &rank in &ranks {
        largest = tail.min(largest + rank);
        for sum in (rank..=largest).rev() {
            share[sum] = 0.5 * (share[sum] + share[sum - rank]);
        }
        share.iter_mut().take(rank).for_each(|share| *share *= 0.5);
    }
    (2.0 * share.iter().sum::<f64>()).min(1.0)
}

fn positive_sum(differences: &[f64], ranks: &[usize]) -> usize {
    differences.iter().zip(ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum()
}

/// The same for many pairs: the sum is then normal.
fn wilcoxon_normal(differences: &[f64], ranks: &[usize]) -> f64 {
    let total: usize = ranks.iter().sum();
    let squares: f64 = ranks.iter().map(|&rank| (rank * rank) as f64).sum();
    let z = (positive_sum(differences, ranks) as f64 - total as f64 / 2.0) / (squares / 4.0).sqrt();
    two_sided(z, 1e7)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are exact")]
mod tests {
    use super::*;

    #[test]
    fn wilcoxon_matches_its_tables() {
        // n = 6, all of one sign: 2 / 64; and n = 5 with the smallest rank the other way: 4 / 32.
        assert!((wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) - 2.0 / 64.0).abs() < 1e-12);
        assert!((wilcoxon(&[-1.0, 2.0, 3.0, 4.0, 5.0]) - 4.0 / 32.0).abs() < 1e-12);
        assert_eq!(wilcoxon(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn pairs_are_compared_as_ratios() {
        let found = paired(&[(2.0, 1.0), (4.2, 2.0), (5.8, 3.0)]).unwrap();
        assert!((found.ratio - 2.0).abs() < 0.03, "{found:?}");
        assert_eq!((found.first_smaller, found.second_smaller), (0, 3));
        assert!(found.interval.low > 1.5 && found.interval.high < 2.5);
        assert_eq!(paired(&[(1.0, 0.0), (1.0, 1.0)]), None);
    }

    #[test]
    fn welch_knows_a_difference_from_none() {
        let (ratio, interval) = unpaired(&[10.0, 10.2, 9.9], &[5.0, 5.1, 4.9]).unwrap();
        assert!(ratio > 1.9 && interval.low > 1.8);
        let (_, interval) = unpaired(&[10.0, 12.0], &[11.0, 11.5]).unwrap();
        assert!(interval.low < 1.0 && interval.high > 1.0);
    }
}
