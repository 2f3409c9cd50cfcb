//! What happened beside the trials that finished, as `attempts.jsonl` has it.

use super::{ATTEMPTS, Attempt, AttemptEvent, Store, read_attempts};
use crate::error::Result;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// What happened beside the trials that finished.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Happened {
    /// The trials that failed and did not finish later, one for each cell.
    pub failed: Vec<Failed>,
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
        for attempt in attempts {
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
        Happened { failed }
    }

    /// Whether a cell failed.
    pub fn has_failed(&self, workload: &str, at: &Map<String, Json>) -> bool {
        self.failed.iter().any(|failed| failed.workload == workload && failed.at == *at)
    }
}

impl Store {
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
        Attempt { trial, event, unix_s: 1.0, cpu_s: None, boot: None, words, cell }
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
        assert_eq!(Happened::of(&attempts), Happened::default());
    }
}
