//! How many requests a volume takes before a latency exceeds its limit: the rate is looked for.
//!
//! Every rate is tried on a machine of its own with the same seed, so that the same requests come, closer together or
//! farther apart. The rate is multiplied until the limit is exceeded, and then the distance is halved, as a ratio.

use super::blocks::measured_once;
use crate::error::Result;
use crate::experiment::Trial;
use crate::record::{LoadPoint, LoadState, Measured};
use crate::workload::Work;

/// The rate of a workload that says none, from which the search begins.
const FIRST_PER_S: u64 = 1000;
/// By how much it is multiplied until the limit is exceeded.
const STEP: f64 = 4.0;
/// No workload can be given more than this (`requests_per_s`).
const MOST_PER_S: f64 = 1e9;
/// Shares of the rate found at which latencies are shown, too.
const SHOWN: [f64; 4] = [0.25, 0.5, 0.75, 0.9];

/// What `trial` measures at the highest rate at which all limits hold, with that rate first; at the lowest rate tried,
/// and a rate of 0, where they hold at none.
pub(super) fn found(trial: &Trial) -> Result<Measured> {
    let mut search = Search { trial, tried: Vec::new() };
    let (mut low, mut high) = (None, None);
    let mut factor = 1.0;
    while low.is_none() || high.is_none() {
        if search.holds(factor)? {
            low = Some(factor);
            factor *= STEP;
            if high.is_none() && search.is_beyond(factor) {
                break;
            }
        } else {
            high = Some(factor);
            factor /= STEP;
            if low.is_none() && search.is_below(factor) {
                break;
            }
        }
    }
    if let (Some(mut low), Some(mut high)) = (low, high) {
        while high / low > 1.0 + trial.precision {
            let middle = (low * high).sqrt();
            if search.holds(middle)? { low = middle } else { high = middle }
        }
        for share in SHOWN {
            search.holds(low * share)?;
        }
    }
    Ok(search.finish())
}

struct Search<'a> {
    trial: &'a Trial,
    /// Each rate as a multiple of the first, all requests a second at it, and what was measured.
    tried: Vec<(f64, f64, Measured)>,
}

impl Search<'_> {
    /// Whether the limits hold where this many times as many requests come.
    fn holds(&mut self, factor: f64) -> Result<bool> {
        let (trial, requests_per_s) = at(self.trial, factor);
        let measured = measured_once(&trial)?;
        let holds = state(&measured) == LoadState::Holds;
        self.tried.push((factor, requests_per_s, measured));
        Ok(holds)
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
        self.tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        let curve = self.tried.iter().map(|(_, rate, measured)| point(*rate, measured)).collect();
        let last = self.tried.iter().rposition(|(_, _, m)| state(m) == LoadState::Holds);
        let (_, rate, mut measured) = self.tried.swap_remove(last.unwrap_or(0));
        measured.add_capacity(last.map_or(0.0, |_| rate), curve);
        measured
    }
}

/// The first rates of the workloads whose requests come by the clock.
fn rates(trial: &Trial) -> impl Iterator<Item = u64> {
    let open = trial.requests().filter(|work| work.is_open());
    open.map(|work| work.keys.requests_per_s.unwrap_or(FIRST_PER_S))
}

/// The trial with this many times as many requests, and how many those are a second.
fn at(trial: &Trial, factor: f64) -> (Trial, f64) {
    let mut trial = trial.clone();
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
