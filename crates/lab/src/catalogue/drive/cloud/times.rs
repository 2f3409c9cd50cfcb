//! Times of a command: equally likely ones of a log-normal distribution.

use crate::catalogue::sheet::us_as_ns;
use sim::Nanos;

/// How many equally likely times stand for a distribution.
const TIMES: usize = 512;

/// The standard normal distribution is below this with a chance of 95 %.
const Z_95: f64 = 1.644_853_627;

/// Equally likely times of a log-normal distribution with this median and 95th percentile.
///
/// A time is `p50 · (p95 / p50)^(z / 1.645)`, z of the standard normal distribution. Of 438 and 711 us the
/// quartiles are 359 and 534 us.
pub(super) fn log_normal_ns(p50_us: f64, p95_us: f64) -> Vec<Nanos> {
    let ratio = if p50_us > 0.0 { p95_us / p50_us } else { 1.0 };
    let time = |index: usize| {
        let chance = (index as f64 + 0.5) / TIMES as f64;
        us_as_ns(p50_us * ratio.powf(normal_quantile(chance) / Z_95))
    };
    (0..TIMES).map(time).collect()
}

/// Below what the standard normal distribution is with this chance; to 0.0005, by Abramowitz and Stegun 26.2.23.
fn normal_quantile(chance: f64) -> f64 {
    let tail = chance.min(1.0 - chance);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let z = t - above / below;
    if chance < 0.5 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_meets_both_percentiles() {
        let times = log_normal_ns(438.0, 711.0);
        let at = |share: f64| times[(share * TIMES as f64) as usize] as f64 / 1e3;
        for (share, expected) in [(0.5, 438.0), (0.95, 711.0), (0.25, 359.0), (0.75, 534.0)] {
            assert!((at(share) / expected - 1.0).abs() < 0.01, "{share}: {}", at(share));
        }
        assert_eq!(log_normal_ns(500.0, 500.0)[3], 500_000);
    }
}
