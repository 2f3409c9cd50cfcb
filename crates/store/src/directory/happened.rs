//! What happened beside the trials that finished, as `attempts.jsonl` has it.

use super::{ATTEMPTS, Attempt, AttemptEvent, Store, read_attempts};
use crate::error::Result;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;

/// What happened beside the trials that finished.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Happened {
    /// The trials that failed and did not finish later, one for each cell.
    pub failed: Vec<Failed>,
    /// How long each trial that finished took by the clock, from its start to when it was kept, in s.
    pub took_s: BTreeMap<usize, f64>,
    /// The calibrations, in the order in which they ran.
    pub calibrations: Vec<Calibration>,
    /// How many trials there are to be, and are; none of records that are no run's.
    pub trials: Option<Trials>,
}

/// How many trials there are, each window of a trace one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// In the plan.
    pub planned: usize,
    /// Finished.
    pub finished: usize,
}

impl Trials {
    /// Those that are not there.
    pub fn missing(self) -> usize {
        self.planned.saturating_sub(self.finished)
    }
}

/// The same small work, done between trials to see whether the machine stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// How long it took, in s.
    pub took_s: f64,
    /// What members told of themselves then, by name: `member0.temperature_c`.
    pub told: BTreeMap<String, String>,
}

/// A trial that failed: its cell is suspect.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// Its place in the plan.
    pub trial: usize,
    /// Its workload.
    pub workload: String,
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// What it said last.
    pub words: String,
}

impl Happened {
    pub(super) fn read(directory: &Path) -> Result<Self> {
        Ok(Happened::of(&read_attempts(&directory.join(ATTEMPTS))?))
    }

    fn of(attempts: &[Attempt]) -> Self {
        let mut failed: Vec<Failed> = Vec::new();
        let (mut started, mut took_s) = (BTreeMap::new(), BTreeMap::new());
        let mut calibrations = Vec::new();
        for attempt in attempts {
            if let (AttemptEvent::Calibrated, Some(took_s)) = (attempt.event, attempt.took_s) {
                calibrations.push(Calibration { took_s, told: attempt.told.clone() });
                continue;
            }
            match attempt.event {
                AttemptEvent::Started => drop(started.insert(attempt.trial, attempt.unix_s)),
                AttemptEvent::Finished => {
                    let start_s = started.get(&attempt.trial).copied().unwrap_or(f64::NAN);
                    // A clock that was set in between says nothing.
                    let took = Some(attempt.unix_s - start_s).filter(|took| *took >= 0.0);
                    took_s.extend(took.map(|took| (attempt.trial, took)));
                }
                AttemptEvent::Failed | AttemptEvent::Calibrated => {}
            }
            // Begun again, it is tried again; and of a cell the last failure counts.
            let is_same = |known: &Failed| {
                let cell = attempt.cell.as_ref();
                known.trial == attempt.trial
                    || cell.is_some_and(|cell| {
                        (&cell.workload, &cell.at) == (&known.workload, &known.at)
                    })
            };
            failed.retain(|known| !is_same(known));
            if let (AttemptEvent::Failed, Some(cell)) = (attempt.event, &attempt.cell) {
                failed.push(Failed {
                    trial: attempt.trial,
                    workload: cell.workload.clone(),
                    at: cell.at.clone(),
                    words: attempt.words.clone().unwrap_or_default(),
                });
            }
        }
        Happened { failed, took_s, calibrations, trials: None }
    }

    /// Whether a cell failed.
    pub fn has_failed(&self, workload: &str, at: &Map<String, Json>) -> bool {
        self.failed.iter().any(|failed| failed.workload == workload && failed.at == *at)
    }
}

impl Store {
    /// Notes a calibration before a trial.
    ///
    /// # Errors
    ///
    /// Where that cannot be written.
    pub fn calibrated(&mut self, trial: usize, calibration: &Calibration) -> Result<()> {
        self.attempt(&Attempt {
            took_s: Some(calibration.took_s),
            told: calibration.told.clone(),
            ..Attempt::now(trial, AttemptEvent::Calibrated)
        })
    }

    /// What has happened so far.
    ///
    /// # Errors
    ///
    /// Where the attempts cannot be read.
    pub fn happened(&self) -> Result<Happened> {
        Happened::read(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Cell;

    fn attempt(trial: usize, event: AttemptEvent, cell: Option<&str>) -> Attempt {
        let at =
            |level: &str| [("volume.level".to_string(), Json::from(level))].into_iter().collect();
        let cell = cell.map(|level| Cell { workload: "touch".into(), at: at(level) });
        let words = cell.is_some().then(|| format!("trial {trial} failed"));
        Attempt { unix_s: 1.0, words, cell, ..Attempt::now(trial, event) }
    }

    #[test]
    fn a_cell_has_failed_until_its_trial_begins_again() {
        use AttemptEvent::{Failed, Finished, Started};
        let mut attempts = vec![
            attempt(0, Started, None),
            attempt(0, Failed, Some("raid5")),
            attempt(1, Started, None),
            attempt(1, Finished, None),
            // Tried again by another repeat.
            attempt(4, Failed, Some("raid5")),
        ];
        let happened = Happened::of(&attempts);
        assert_eq!(happened.failed.len(), 1);
        assert_eq!(
            (happened.failed[0].trial, happened.failed[0].words.as_str()),
            (4, "trial 4 failed")
        );
        assert!(happened.has_failed("touch", &happened.failed[0].at));
        assert!(!happened.has_failed("untar", &happened.failed[0].at));
        attempts.push(attempt(4, Started, None));
        let happened = Happened::of(&attempts);
        assert!(happened.failed.is_empty());
        // Trial 0 failed and trial 4 has not ended.
        assert_eq!(happened.took_s, BTreeMap::from([(1, 0.0)]));
    }
}
