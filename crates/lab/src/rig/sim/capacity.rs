//! How many requests a volume takes before a latency exceeds its limit: the rate is looked for.
//!
//! Every rate is tried on a machine of its own with the same seed, so that the same requests come, closer together or
//! farther apart. The rate is multiplied until the limit is exceeded, and then the distance is halved, as a ratio.

use super::blocks::measured_once;
use crate::error::Result;
use crate::experiment::{InUse, Trial};
use crate::record::{LoadPoint, LoadState, Measured};
use crate::rig::Stop;
use crate::workload::Work;
use std::sync::Arc;

/// The rate of a workload that says none, from which the search begins.
const FIRST_PER_S: u64 = 1000;
/// By how much it is multiplied until the limit is exceeded.
const STEP: f64 = 4.0;
/// No workload can be given more than this (`requests_per_s`).
const MOST_PER_S: f64 = 1e9;
/// Shares of the rate found at which latencies are shown, too.
const SHOWN: [f64; 4] = [0.25, 0.5, 0.75, 0.9];

/// What `trial` measures at the highest rate up to which all limits hold, with that rate first; at the lowest rate
/// tried, and a rate of 0, where they hold at none.
pub(super) fn found(trial: &Trial, stop: &Stop) -> Result<Measured> {
    let mut search = Search { trial, stop, tried: Vec::new() };
    while let Some(factor) = search.next() {
        search.measure(factor)?;
    }
    Ok(search.finish())
}

struct Search<'a> {
    trial: &'a Trial,
    stop: &'a Stop,
    /// Each rate as a multiple of the first, all requests a second at it, and what was measured; the lowest first.
    tried: Vec<(f64, f64, Measured)>,
}

impl Search<'_> {
    /// Measures where this many times as many requests come.
    fn measure(&mut self, factor: f64) -> Result<()> {
        let (trial, requests_per_s) = at(self.trial, factor);
        let measured = measured_once(&trial, self.stop)?;
        let place = self.tried.partition_point(|(tried, ..)| *tried < factor);
        self.tried.insert(place, (factor, requests_per_s, measured));
        Ok(())
    }

    /// The next rate to try, as a multiple of the first; none when all is known.
    fn next(&self) -> Option<f64> {
        let (low, high) = bounds(&self.states());
        match (low.map(|at| self.tried[at].0), high.map(|at| self.tried[at].0)) {
            (None, None) => Some(1.0),
            (Some(low), None) => Some(low * STEP).filter(|&factor| !self.is_beyond(factor)),
            (None, Some(high)) => Some(high / STEP).filter(|&factor| !self.is_below(factor)),
            (Some(low), Some(high)) if high / low > 1.0 + self.trial.precision => {
                Some((low * high).sqrt())
            }
            (Some(low), Some(_)) => {
                let is_tried = |factor: &f64| {
                    self.tried.iter().any(|(tried, ..)| tried.total_cmp(factor).is_eq())
                };
                SHOWN.map(|share| low * share).into_iter().find(|factor| !is_tried(factor))
            }
        }
    }

    /// How each rate went, the lowest first.
    fn states(&self) -> Vec<LoadState> {
        self.tried.iter().map(|(_, _, measured)| state(measured)).collect()
    }

    /// Whether a workload would get more than it can be given.
    fn is_beyond(&self, factor: f64) -> bool {
        rates(self.trial).any(|rate| rate as f64 * factor > MOST_PER_S)
    }

    /// Whether a workload would get less than one request a second.
    fn is_below(&self, factor: f64) -> bool {
        rates(self.trial).any(|rate| rate as f64 * factor < 1.0)
    }

    fn finish(mut self) -> Measured {
        let curve = self.tried.iter().map(|(_, rate, measured)| point(*rate, measured)).collect();
        let (low, _) = bounds(&self.states());
        let (_, rate, mut measured) = self.tried.swap_remove(low.unwrap_or(0));
        measured.add_capacity(low.map_or(0.0, |_| rate), curve);
        measured
    }
}

/// Where among rates the highest is that holds with none that fails below it, and where the lowest above it.
///
/// Holds, fails, holds: the first and the second, for what fails at a rate cannot be trusted above it. A rate at which
/// latencies did not settle says nothing about those that hold above it.
fn bounds(states: &[LoadState]) -> (Option<usize>, Option<usize>) {
    let fails = |state: &LoadState| matches!(state, LoadState::Exceeds | LoadState::Overloaded);
    let end = states.iter().position(fails).unwrap_or(states.len());
    let low = states[..end].iter().rposition(|&state| state == LoadState::Holds);
    let above = low.map_or(0, |low| low + 1);
    (low, (above < states.len()).then_some(above))
}

/// The first rates of the workloads whose requests come by the clock.
fn rates(trial: &Trial) -> impl Iterator<Item = u64> {
    let open = trial.requests().filter(|work| work.is_open());
    open.map(|work| work.keys.requests_per_s.unwrap_or(FIRST_PER_S))
}

/// The trial with this many times as many requests, and how many those are a second.
fn at(trial: &Trial, factor: f64) -> (Trial, f64) {
    let mut trial = trial.clone();
    let setup = Arc::make_mut(&mut trial.setup);
    for volume in std::iter::once(&mut setup.volume).chain(&mut setup.log) {
        volume.in_use = InUse::Always;
    }
    let mut all = 0.0;
    for work in std::iter::once(&mut trial.work).chain(&mut trial.beside) {
        let Work::Requests(requests) = work else { continue };
        if requests.is_open() {
            let first = requests.keys.requests_per_s.unwrap_or(FIRST_PER_S);
            let rate = ((first as f64 * factor).round() as u64).max(1);
            requests.keys.requests_per_s = Some(rate);
            all += rate as f64 * requests.keys.jobs as f64;
        }
    }
    (trial, all)
}

fn state(measured: &Measured) -> LoadState {
    let is = |name: &str, value: f64| measured.value(name) == Some(value);
    if is("overloaded", 1.0) {
        LoadState::Overloaded
    } else if measured.holds != Some(true) {
        LoadState::Exceeds
    } else if is("steady", 0.0) {
        LoadState::Unsettled
    } else {
        LoadState::Holds
    }
}

fn point(requests_per_s: f64, measured: &Measured) -> LoadPoint {
    let ms = |name| measured.value(name).filter(|value| value.is_finite()).unwrap_or(0.0);
    LoadPoint {
        requests_per_s,
        mean_ms: ms("latency_mean_ms"),
        p50_ms: ms("latency_p50_ms"),
        p99_ms: ms("latency_p99_ms"),
        state: state(measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LoadState::{Exceeds, Holds, Overloaded, Unsettled};

    #[test]
    fn a_rate_is_trusted_up_to_the_first_that_fails() {
        assert_eq!(bounds(&[]), (None, None));
        assert_eq!(bounds(&[Holds, Exceeds, Holds]), (Some(0), Some(1)));
        assert_eq!(bounds(&[Unsettled, Holds, Unsettled, Overloaded]), (Some(1), Some(2)));
        assert_eq!(bounds(&[Exceeds, Holds]), (None, Some(0)));
    }

    /// All runs of up to six rates: what is found holds, nothing fails up to it, and what is above it does not hold,
    /// unless one between them fails.
    #[test]
    fn bounds_are_where_they_say() {
        let all = [Holds, Exceeds, Unsettled, Overloaded];
        for length in 0..=6_u32 {
            for code in 0..4_usize.pow(length) {
                let states: Vec<LoadState> =
                    (0..length).map(|at| all[code / 4_usize.pow(at) % 4]).collect();
                let (low, high) = bounds(&states);
                let trusted = low.map_or(0, |low| low + 1);
                assert!(low.is_none_or(|low| states[low] == Holds), "{states:?}");
                assert!(
                    states[..trusted].iter().all(|s| matches!(s, Holds | Unsettled)),
                    "{states:?}"
                );
                assert_eq!(high, (trusted < states.len()).then_some(trusted), "{states:?}");
                let beyond = states[trusted..].iter().position(|&state| state == Holds);
                let failed = states.iter().position(|s| matches!(s, Exceeds | Overloaded));
                assert!(
                    beyond.is_none_or(|at| failed.is_some_and(|f| f < trusted + at)),
                    "{states:?}"
                );
            }
        }
    }
}
