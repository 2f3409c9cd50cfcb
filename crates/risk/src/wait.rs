//! How long things last: Weibull times, and random numbers for them.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A random time: at least `least_h`, and a Weibull time on top. A shape of 1 makes it exponential, a scale of 0 fixed.
///
/// A rebuild of Elerath & Pecht is `Wait { least_h: 6.0, shape: 2.0, scale_h: 12.0 }`: 6 h and about 10.6 more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The least that it takes.
    pub least_h: f64,
    /// The Weibull shape: below 1 early deaths, 1 no memory, above 1 wear.
    pub shape: f64,
    /// The Weibull scale: after so long 63 % are over.
    pub scale_h: f64,
}

impl Wait {
    /// Always the same.
    pub fn fixed(hours: f64) -> Self {
        Wait { least_h: hours, shape: 1.0, scale_h: 0.0 }
    }

    /// Exponential, with this mean.
    pub fn exponential(mean_h: f64) -> Self {
        Wait { least_h: 0.0, shape: 1.0, scale_h: mean_h }
    }

    /// One such time.
    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        self.least_h + self.scale_h * random.exponential().powf(1.0 / self.shape)
    }

    /// The hazard that has gathered at an age: (age / scale)^shape, whatever comes at least first.
    pub(crate) fn gathered(&self, age_h: f64) -> f64 {
        ((age_h - self.least_h).max(0.0) / self.scale_h).powf(self.shape)
    }

    /// The age at which so much hazard has gathered.
    pub(crate) fn age_at(&self, gathered: f64) -> f64 {
        self.least_h + self.scale_h * gathered.powf(1.0 / self.shape)
    }

    /// The lifetime of this shape of which the share `failed` is over after `hours`.
    ///
    /// Shape 1.5 and 6.57 % in five years: a scale of 266,000 h.
    pub fn of_share(shape: f64, failed: f64, hours: f64) -> Self {
        let gathered = -(-failed).ln_1p();
        Wait { least_h: 0.0, shape, scale_h: hours / gathered.powf(1.0 / shape) }
    }
}

/// Random numbers from a seed.
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(Pcg64Mcg::new(u128::from(seed) << 1 | 1))
    }

    /// Above 0, and at most 1.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_its_mean() {
        let mut random = Random::new(1);
        let repair = Wait { least_h: 6.0, shape: 2.0, scale_h: 12.0 };
        let mean_h = (0..100_000).map(|_| repair.draw(&mut random)).sum::<f64>() / 1e5;
        // The mean of a Weibull time of shape 2 is sqrt(pi) / 2 of its scale.
        assert!((mean_h - (6.0 + 12.0 * 0.886_226_9)).abs() < 0.1, "{mean_h}");
        assert!((repair.age_at(repair.gathered(20.0)) - 20.0).abs() < 1e-9);
        let life = Wait::of_share(1.5, 0.0657, 43_800.0);
        assert!((life.scale_h / 266_000.0 - 1.0).abs() < 0.02, "{life:?}");
        assert!((1.0 - (-life.gathered(43_800.0)).exp() - 0.0657).abs() < 1e-12);
    }
}
