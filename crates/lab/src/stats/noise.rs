//! What a difference has to exceed before it is one.

use super::compare::mean_sd;
use super::student::t95;
use super::{Interval, bootstrap, median};
use serde::Serialize;

/// Where the noise is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseSource {
    /// From cells that were tried more than once.
    Repeats,
    /// From what an additive model leaves over. Interactions are in it too, so the noise is at most
    /// this: with one trial of each cell the two cannot be told apart (Tukey, One degree of freedom
    /// for non-additivity, Biometrics 5, 1949).
    Residuals,
    /// Nothing says.
    Unknown,
}

/// How far trials of the same cell lie apart, on logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// Where it is known from.
    pub source: NoiseSource,
    /// The standard deviation of a trial's logarithm: 0.05 is about 5 %.
    pub log_sd: f64,
    /// Degrees of freedom behind that.
    pub degrees: f64,
    /// What a model may err by, as a share; 0 where nothing is modelled.
    pub model_error: f64,
}

/// A median absolute deviation makes of n samples what a standard deviation makes of 0.37 n (Rousseeuw
/// & Croux, Alternatives to the median absolute deviation, JASA 88, 1993).
const MAD_EFFICIENCY: f64 = 0.37;

impl Noise {
    /// From the trials of each cell, pooled; where no cell was tried twice, from the residuals'
    /// `(scale, degrees)`.
    pub fn of(cells: &[Vec<f64>], residuals: Option<(f64, f64)>, model_error: f64) -> Self {
        let mut squares = 0.0;
        let mut degrees = 0.0;
        for cell in cells.iter().filter(|cell| cell.len() > 1 && cell.iter().all(|x| *x > 0.0)) {
            let logs: Vec<f64> = cell.iter().map(|x| x.ln()).collect();
            let own = logs.len() as f64 - 1.0;
            squares += mean_sd(&logs).1.powi(2) * own;
            degrees += own;
        }
        if degrees > 0.0 {
            let log_sd = (squares / degrees).sqrt();
            return Noise { source: NoiseSource::Repeats, log_sd, degrees, model_error };
        }
        match residuals.filter(|(_, degrees)| degrees * MAD_EFFICIENCY >= 1.0) {
            // A model has no noise within one seed; what it leaves over is all interaction.
            Some((log_sd, degrees)) if model_error == 0.0 => Noise {
                source: NoiseSource::Residuals,
                log_sd,
                degrees: degrees * MAD_EFFICIENCY,
                model_error,
            },
            _ => Noise { source: NoiseSource::Unknown, log_sd: 0.0, degrees: 0.0, model_error },
        }
    }

    /// Half the 95 % interval of the difference of two logarithms that rest on so many trials.
    pub fn half_width(&self, trials_a: usize, trials_b: usize) -> f64 {
        let trials = 1.0 / trials_a.max(1) as f64 + 1.0 / trials_b.max(1) as f64;
        self.spread(trials) + self.model_error.ln_1p()
    }

    /// The 95 % interval of the median of samples: the bootstrap's, with few trials the noise around
    /// it, and what a model may err on top. `None` where nothing says how wide it is.
    pub fn interval(&self, samples: &[f64]) -> Option<Interval> {
        let value = median(samples)?;
        let known = self.source != NoiseSource::Unknown || self.model_error > 0.0;
        let own = bootstrap::median_interval(samples, 1).or_else(|| {
            let half = self.spread(1.0 / samples.len() as f64);
            known.then(|| Interval { low: value * (-half).exp(), high: value * half.exp() })
        })?;
        let error = 1.0 + self.model_error;
        Some(Interval { low: own.low / error, high: own.high * error })
    }

    fn spread(&self, variances: f64) -> f64 {
        if self.degrees > 0.0 { t95(self.degrees) * self.log_sd * variances.sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_come_before_residuals_and_models_have_their_error() {
        let cells = [vec![100.0], vec![100.0, 102.0, 101.0]];
        let noise = Noise::of(&cells, Some((0.3, 10.0)), 0.0);
        assert_eq!((noise.source, noise.degrees), (NoiseSource::Repeats, 2.0));
        assert!((noise.log_sd - 0.0099).abs() < 1e-4);
        let noise = Noise::of(&cells[..1], Some((0.3, 10.0)), 0.0);
        assert_eq!((noise.source, noise.degrees), (NoiseSource::Residuals, 3.7));
        let noise = Noise::of(&cells[..1], Some((0.3, 10.0)), 0.05);
        assert_eq!(noise.source, NoiseSource::Unknown);
        assert!((noise.half_width(1, 1) - 1.05_f64.ln()).abs() < 1e-12);
    }
}
