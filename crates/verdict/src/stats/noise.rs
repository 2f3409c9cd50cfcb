//! What a difference has to exceed before it is one.

use super::compare::mean_sd;
use super::student::t95;
use super::{Interval, bootstrap, median};
use serde::Serialize;
use store::quantity::Better;

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
    /// From how much the rate varied during each run, as the program that was imported says. The whole standard
    /// deviation stands for that of a run's mean: rates that follow each other are alike, so that dividing by
    /// the root of their number would promise too much.
    Within,
    /// From how long each modelled trial was: few requests leave a time unsure, and fewer its 99th percentile.
    Trials,
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
    /// What a difference must exceed for the model's sake, as a share; 0 where nothing is modelled, infinite where the
    /// model is no guide.
    pub model_error: f64,
    /// How far luck may move the ratio of two cells that ran once each, as a logarithm: 0 where it has no part, infinite where
    /// nothing bounds it.
    pub luck: f64,
    /// How far what drives' buffers held may move the ratio of two cells, as a logarithm, where how they divide these is an
    /// estimate: 0 where they held little.
    pub buffers: f64,
    /// What values of the model are off by, as a share; `None` where nothing is modelled, or nothing says.
    pub level_error: Option<f64>,
    /// Where trials of the same repeat had the same luck: how far the differences of two cells lie apart.
    pub pairs: Option<Pairs>,
}

/// The noise of differences between trials of the same repeat.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pairs {
    /// The standard deviation of a trial's logarithm once the luck of its repeat is taken off.
    pub log_sd: f64,
    /// Degrees of freedom behind that.
    pub degrees: f64,
}

/// How much better one cell is than another, as natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// By how much; above 0 where it is better.
    pub ahead: f64,
    /// Half of its 95 % interval, with what a model may err.
    pub half: f64,
}

impl Difference {
    /// Whether it is none that could be relied on.
    pub fn is_tie(&self) -> bool {
        // To the last digits: what differs by just the model's error is a tie.
        self.ahead.is_nan() || self.ahead <= self.half + 1e-9
    }

    /// How many times better it is.
    pub fn ratio(&self) -> f64 {
        self.ahead.exp()
    }

    /// The 95 % interval of that.
    pub fn interval(&self) -> Interval {
        Interval { low: (self.ahead - self.half).exp(), high: (self.ahead + self.half).exp() }
    }
}

/// A median absolute deviation makes of n samples what a standard deviation makes of 0.37 n (Rousseeuw
/// & Croux, Alternatives to the median absolute deviation, JASA 88, 1993).
const MAD_EFFICIENCY: f64 = 0.37;

/// Degrees of freedom of what a trial says of itself.
const DEGREES_OF_TRIAL: f64 = 30.0;

impl Noise {
    /// From the trials of each cell, pooled; where no cell was tried twice, from the residuals'
    /// `(scale, degrees)`. Repeats that are the same to the last digit, as those of one trace, measured nothing again: where a
    /// trial says how sure it is, that counts ([`Noise::or_of_trials`]).
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
            let source = NoiseSource::Repeats;
            let luck = 0.0;
            return Noise {
                source,
                log_sd,
                degrees,
                model_error,
                luck,
                buffers: 0.0,
                level_error: None,
                pairs: None,
            };
        }
        match residuals.filter(|(_, degrees)| degrees * MAD_EFFICIENCY >= 1.0) {
            // A model has no noise within one seed; what it leaves over is all interaction.
            Some((log_sd, degrees)) if model_error == 0.0 => Noise {
                source: NoiseSource::Residuals,
                log_sd,
                degrees: degrees * MAD_EFFICIENCY,
                model_error,
                luck: 0.0,
                buffers: 0.0,
                level_error: None,
                pairs: None,
            },
            _ => Noise {
                source: NoiseSource::Unknown,
                log_sd: 0.0,
                degrees: 0.0,
                model_error,
                luck: 0.0,
                buffers: 0.0,
                level_error: None,
                pairs: None,
            },
        }
    }

    /// The same, and where nothing else says how large the noise is, from how much the rate varied within runs:
    /// for each run the standard deviation as a share of the mean, and the number of rates that it is from.
    #[must_use]
    pub fn or_within(self, runs: &[(f64, f64)]) -> Self {
        let degrees: f64 = runs.iter().map(|(_, rates)| rates - 1.0).sum();
        if self.source != NoiseSource::Unknown || degrees < 1.0 {
            return self;
        }
        let squares: f64 = runs.iter().map(|(share, rates)| share.powi(2) * (rates - 1.0)).sum();
        Noise { source: NoiseSource::Within, log_sd: (squares / degrees).sqrt(), degrees, ..self }
    }

    /// The same, and where nothing else says how large the noise is, from how sure each trial is of what it is judged by:
    /// the standard deviation as a share of the value.
    #[must_use]
    pub fn or_of_trials(self, trials: &[f64]) -> Self {
        let is_said = self.source != NoiseSource::Unknown && self.log_sd > 0.0;
        if is_said || trials.iter().all(|share| *share <= 0.0) {
            return self;
        }
        let squares: f64 = trials.iter().map(|share| share.powi(2)).sum();
        let log_sd = (squares / trials.len() as f64).sqrt();
        // Each is from some dozens of batches, or known from the number of requests alone.
        Noise { source: NoiseSource::Trials, log_sd, degrees: DEGREES_OF_TRIAL, ..self }
    }

    /// The same where the cells' trials of a repeat had the same seed, and are given in the order of the
    /// repeats: the repeats are blocks, whose common luck no difference has (Fisher, The Design of
    /// Experiments, 1935; with models, common random numbers).
    #[must_use]
    pub fn in_pairs(mut self, cells: &[Vec<f64>]) -> Self {
        self.pairs = Pairs::of(cells).filter(|_| self.source == NoiseSource::Repeats);
        self
    }

    /// The same where luck may move the ratio of two cells by so much.
    #[must_use]
    pub fn with_luck(mut self, luck: f64) -> Self {
        self.luck = luck;
        self
    }

    /// The same where what buffers held may move it by so much.
    #[must_use]
    pub fn with_buffers(mut self, buffers: f64) -> Self {
        self.buffers = buffers;
        self
    }

    /// The same of a model whose values are off by so much.
    #[must_use]
    pub fn with_level(mut self, error: Option<f64>) -> Self {
        self.level_error = error;
        self
    }

    /// Whether anything says what a difference has to exceed.
    pub fn is_known(&self) -> bool {
        self.source != NoiseSource::Unknown || self.model_error > 0.0
    }

    /// How much better `a` is than `b`, from the samples of both.
    pub fn difference(&self, better: Better, a: &[f64], b: &[f64]) -> Difference {
        self.difference_as_of(better, a, b, 0)
    }

    /// The same, as sure as it would be if both had at least so many samples.
    pub fn difference_as_of(
        &self,
        better: Better,
        a: &[f64],
        b: &[f64],
        samples_min: usize,
    ) -> Difference {
        let error = self.beside_chance();
        let counted = |samples: &[f64]| samples.len().max(samples_min);
        if let (Some(pairs), true) = (self.pairs, a.len() == b.len() && a.len() > 1) {
            let logs: Vec<f64> = a.iter().zip(b).map(|(&a, &b)| better.ahead(a, b)).collect();
            let half = t95(pairs.degrees) * pairs.log_sd * (2.0 / counted(a) as f64).sqrt();
            return Difference { ahead: mean_sd(&logs).0, half: half + error };
        }
        let middle = |samples| median(samples).unwrap_or(f64::NAN);
        let ahead = better.ahead(middle(a), middle(b));
        Difference { ahead, half: self.half_width(counted(a), counted(b)) }
    }

    /// Half the 95 % interval of the difference of two logarithms that rest on so many trials.
    pub fn half_width(&self, trials_a: usize, trials_b: usize) -> f64 {
        let variances = self.variance(trials_a) + self.variance(trials_b);
        self.spread(variances) + self.beside_chance()
    }

    /// What a difference must exceed beside what repeats show, as a logarithm.
    fn beside_chance(&self) -> f64 {
        self.model_error.ln_1p() + self.luck + self.buffers
    }

    /// The 95 % interval of the median of samples: the bootstrap's, with few trials the noise around
    /// it, and what values of a model are off by on top. `None` where nothing says how wide it is.
    pub fn interval(&self, samples: &[f64]) -> Option<Interval> {
        let value = median(samples)?;
        let error = match self.level_error {
            Some(error) => 1.0 + error,
            None if self.model_error > 0.0 => return None,
            None => 1.0,
        };
        let known = self.source != NoiseSource::Unknown || self.level_error.is_some();
        let several = Some(samples).filter(|_| self.source != NoiseSource::Trials);
        let own = several.and_then(|of| bootstrap::median_interval(of, 1)).or_else(|| {
            let half = self.spread(self.variance(samples.len()));
            known.then(|| Interval { low: value * (-half).exp(), high: value * half.exp() })
        })?;
        Some(Interval { low: own.low / error, high: own.high * error })
    }

    /// That of the mean of so many trials, in units of one's.
    fn variance(&self, trials: usize) -> f64 {
        match self.source {
            // One alone, or several that are the same.
            NoiseSource::Trials => 1.0,
            _ => 1.0 / trials.max(1) as f64,
        }
    }

    fn spread(&self, variances: f64) -> f64 {
        if self.degrees > 0.0 { t95(self.degrees) * self.log_sd * variances.sqrt() } else { 0.0 }
    }
}

impl Pairs {
    /// What cells and repeats leave over when each may add its own. `None` where there are not several of
    /// both, or not all repeats of each cell.
    fn of(cells: &[Vec<f64>]) -> Option<Self> {
        let repeats = cells.first()?.len();
        let whole = cells.iter().all(|cell| cell.len() == repeats && cell.iter().all(|x| *x > 0.0));
        if !whole || repeats < 2 || cells.len() < 2 {
            return None;
        }
        let logs: Vec<Vec<f64>> =
            cells.iter().map(|cell| cell.iter().map(|x| x.ln()).collect()).collect();
        let of_cell: Vec<f64> = logs.iter().map(|cell| mean_sd(cell).0).collect();
        let of_all = mean_sd(&of_cell).0;
        let of_repeat: Vec<f64> = (0..repeats)
            .map(|repeat| logs.iter().map(|cell| cell[repeat]).sum::<f64>() / cells.len() as f64)
            .collect();
        let left = logs.iter().zip(&of_cell).flat_map(|(cell, own)| {
            cell.iter().zip(&of_repeat).map(move |(log, luck)| log - own - luck + of_all)
        });
        let degrees = ((cells.len() - 1) * (repeats - 1)) as f64;
        let squares: f64 = left.map(|left| left * left).sum();
        Some(Pairs { log_sd: (squares / degrees).sqrt(), degrees })
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

    /// A trace that is replayed five times is the same five times, and as sure as once.
    #[test]
    fn repeats_that_are_the_same_say_nothing() {
        let cells = [vec![0.149; 5], vec![0.163; 5]];
        let noise = Noise::of(&cells, None, 0.0);
        assert_eq!((noise.source, noise.log_sd), (NoiseSource::Repeats, 0.0));
        let told = noise.or_of_trials(&[0.05, 0.05]).in_pairs(&cells);
        assert_eq!((told.source, told.pairs), (NoiseSource::Trials, None));
        assert!(told.difference(Better::Lower, &cells[0], &cells[1]).is_tie());
        assert_eq!(told.half_width(5, 5).to_bits(), told.half_width(1, 1).to_bits());
        let of = told.interval(&cells[0]).unwrap();
        assert!(of.low < 0.14 && of.high > 0.16, "{of:?}");
        // Any that differ do say it.
        let cells = [vec![0.149, 0.150], vec![0.163, 0.163]];
        let noise = Noise::of(&cells, None, 0.0).or_of_trials(&[0.05, 0.05]).in_pairs(&cells);
        assert!(noise.source == NoiseSource::Repeats && noise.pairs.is_some());
    }

    /// Two cells that swing together by far more than they differ.
    #[test]
    fn luck_that_both_had_is_no_noise_of_their_difference() {
        let slow = vec![100.0, 150.0, 80.0, 120.0];
        let fast = vec![110.5, 164.0, 88.2, 131.5];
        let cells = [slow.clone(), fast.clone()];
        let apart = Noise::of(&cells, None, 0.0);
        assert!(apart.difference(Better::Higher, &fast, &slow).is_tie());
        let together = apart.in_pairs(&cells);
        let found = together.difference(Better::Higher, &fast, &slow);
        assert!(!found.is_tie() && (found.ratio() - 1.1).abs() < 0.01, "{found:?}");
        // By hand: the differences' standard deviation, over the root of two, with 3 degrees of freedom.
        let logs: Vec<f64> = fast.iter().zip(&slow).map(|(a, b)| (a / b).ln()).collect();
        let pairs = together.pairs.unwrap();
        assert!((pairs.log_sd - mean_sd(&logs).1 / 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((pairs.degrees - 3.0).abs() < 1e-12);
        assert_eq!(Noise::of(&cells, None, 0.0).in_pairs(&cells[..1]).pairs, None);
    }
}
