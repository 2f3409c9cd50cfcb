//! Trials that went wrong: noted before they run, so that one that takes the machine down is known afterwards.

use super::{ATTEMPTS, Attempt, AttemptEvent, Cell, Failed, Store, read_attempts, writing};
use crate::error::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which boot of the kernel this is; none where no kernel says it.
fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_string())
}

impl Store {
    /// Notes that a trial is about to run; with `durable`, that is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// Where that cannot be written.
    pub fn started(&mut self, trial: usize, durable: bool) -> Result<()> {
        let boot = boot().filter(|_| durable);
        self.attempt(&Attempt { boot, ..Attempt::now(trial, AttemptEvent::Started) })?;
        if durable { self.sync_attempts() } else { Ok(()) }
    }

    /// Notes that a trial has failed; that is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// Where that cannot be written.
    pub fn failed(&mut self, failed: &Failed) -> Result<()> {
        let cell = Cell { workload: failed.workload.clone(), at: failed.at.clone() };
        self.attempt(&Attempt {
            words: Some(failed.words.clone()),
            cell: Some(cell),
            ..Attempt::now(failed.trial, AttemptEvent::Failed)
        })?;
        self.sync_attempts()
    }

    fn sync_attempts(&mut self) -> Result<()> {
        let path = self.directory.join(ATTEMPTS);
        self.attempts.sync_data().map_err(|error| writing(&path, &error))
    }

    /// The trials whose last attempt failed, or during which the machine went down, each with its last words. One whose
    /// run was killed while the machine stayed up is not among them.
    ///
    /// # Errors
    ///
    /// Where the attempts cannot be read.
    pub fn suspects(&self) -> Result<BTreeMap<usize, String>> {
        Ok(suspects(&read_attempts(&self.directory.join(ATTEMPTS))?, boot().as_deref()))
    }
}

/// The same of `attempts`, in the kernel's boot `now`.
fn suspects(attempts: &[Attempt], now: Option<&str>) -> BTreeMap<usize, String> {
    let mut suspects = BTreeMap::new();
    for attempt in attempts {
        let went_down = attempt.boot.is_some() && attempt.boot.as_deref() != now;
        let words = match attempt.event {
            AttemptEvent::Failed => attempt.words.clone().or(Some(String::new())),
            AttemptEvent::Started if went_down => {
                Some("the machine went down while it ran, or before its run went on".into())
            }
            AttemptEvent::Started | AttemptEvent::Finished => None,
            AttemptEvent::Calibrated => continue,
        };
        match words {
            Some(words) => suspects.insert(attempt.trial, words),
            None => suspects.remove(&attempt.trial),
        };
    }
    suspects
}

/// Trials that were started more often than they were finished.
///
/// # Errors
///
/// Where the attempts cannot be read.
pub(super) fn disturbed(path: &Path) -> Result<BTreeSet<usize>> {
    let mut open: BTreeMap<usize, i64> = BTreeMap::new();
    let mut disturbed = BTreeSet::new();
    for attempt in read_attempts(path)? {
        let open = open.entry(attempt.trial).or_default();
        *open += match attempt.event {
            AttemptEvent::Started => 1,
            AttemptEvent::Finished => -1,
            // What it had begun to write may be there still.
            AttemptEvent::Failed | AttemptEvent::Calibrated => 0,
        };
        if *open > 1 {
            disturbed.insert(attempt.trial);
        }
    }
    Ok(disturbed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(trial: usize, event: AttemptEvent, boot: &str) -> Attempt {
        let boot = Some(boot.to_string()).filter(|boot| !boot.is_empty());
        let words = (event == AttemptEvent::Failed).then(|| "mkfs failed".to_string());
        Attempt { unix_s: 1.0, boot, words, ..Attempt::now(trial, event) }
    }

    #[test]
    fn a_trial_that_failed_or_took_the_machine_down_is_suspect() {
        use AttemptEvent::{Failed, Finished, Started};
        let attempts = [
            attempt(0, Started, "a"),
            attempt(0, Failed, ""),
            attempt(1, Started, "a"),
            attempt(2, Started, "b"),
            attempt(3, Started, "a"),
            attempt(3, Finished, ""),
            attempt(4, Started, ""),
        ];
        let found = suspects(&attempts, Some("b"));
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found[&0], "mkfs failed");
        assert!(found[&1].contains("went down"));
        // Tried again, and finished.
        let mut attempts = Vec::from(attempts);
        attempts.extend([attempt(0, Started, "b"), attempt(0, Finished, "")]);
        let found = suspects(&attempts, Some("b"));
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [1]);
    }
}
