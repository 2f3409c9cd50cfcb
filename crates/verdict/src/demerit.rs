//! How far apart two sets of service times are.
//!
//! The *demerit figure* of Ruemmler and Wilkes (1994) is the root mean square horizontal distance
//! between two cumulative distributions. For sets of equal size that is the distance between the n-th
//! smallest of the one and the n-th smallest of the other:
//!
//! ```text
//! measured 1 3 8   modelled 4 9 2   sorted 1 3 8 and 2 4 9: all 1 apart, so the figure is 1
//! ```
//!
//! It asks whether the model takes as long as the drive as often, not whether it does so for the same
//! request; for that there is the root mean square over requests.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

type Nanos = u64;

/// Service times in ascending order: their cumulative distribution, ready to be drawn. The n-th of N
/// stands at the height n / N.
pub fn distribution(times_ns: &[Nanos]) -> Vec<Nanos> {
    let mut sorted = times_ns.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The demerit figure of two sets of equal size, in ns; 0 for empty ones.
pub fn demerit_ns(measured_ns: &[Nanos], modelled_ns: &[Nanos]) -> f64 {
    rms_ns(&distribution(measured_ns), &distribution(modelled_ns))
}

/// The root mean square difference of each from its counterpart, in ns; 0 for empty sets.
pub fn rms_ns(measured_ns: &[Nanos], modelled_ns: &[Nanos]) -> f64 {
    assert_eq!(measured_ns.len(), modelled_ns.len(), "one time a request in both");
    let squares = measured_ns.iter().zip(modelled_ns).map(|(&a, &b)| (a as f64 - b as f64).powi(2));
    (squares.sum::<f64>() / (measured_ns.len().max(1)) as f64).sqrt()
}

/// The mean, in ns; 0 for an empty set.
pub fn mean_ns(times_ns: &[Nanos]) -> f64 {
    times_ns.iter().map(|&ns| ns as f64).sum::<f64>() / times_ns.len().max(1) as f64
}

/// The figure that chance alone gives: the mean demerit of `measured_ns` against sets of equal size
/// drawn from it with replacement (bootstrap), in ns. A figure below it is luck.
///
/// Only one side is drawn: it says how far a sample lies from what it was drawn from, as a model that has
/// the drive's very distribution would. Two samples of the drive, each drawn by itself, lie about √2 times
/// as far apart.
pub fn noise_ns(measured_ns: &[Nanos]) -> f64 {
    const DRAWS: usize = 40;
    let mut random = Pcg64Mcg::new(1994);
    let sorted = distribution(measured_ns);
    let mut draw = || {
        let drawn: Vec<Nanos> = sorted
            .iter()
            .map(|_| sorted[(random.next_u64() % sorted.len() as u64) as usize])
            .collect();
        demerit_ns(&sorted, &drawn)
    };
    (0..DRAWS).map(|_| draw()).sum::<f64>() / DRAWS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a}, not {b}");
        near(demerit_ns(&[1, 3, 8], &[4, 9, 2]), 1.0);
        near(rms_ns(&[1, 3, 8], &[4, 9, 2]), ((9.0 + 36.0 + 36.0_f64) / 3.0).sqrt());
        near(mean_ns(&[1, 3, 8]), 4.0);
        near(demerit_ns(&[], &[]), 0.0);
    }

    /// The distance between two uniform distributions of width w, one shifted by s, is s.
    #[test]
    fn a_shift_is_its_own_figure_and_chance_is_small() {
        let times: Vec<Nanos> = (0..10_000).map(|n| n * 100).collect();
        let shifted: Vec<Nanos> = times.iter().rev().map(|ns| ns + 777).collect();
        assert!((demerit_ns(&times, &shifted) - 777.0).abs() < 1e-6);
        let share = noise_ns(&times) / mean_ns(&times);
        assert!((0.003..0.02).contains(&share), "{share}");
    }
}
