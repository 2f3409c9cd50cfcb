//! A rig that starts no more trials once it was told to stop: for whoever cannot end the process, as a library cannot.

use super::{Prepared, Rig};
use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use crate::experiment::Trial;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Calibration;

/// Another rig, until it is told to stop.
pub struct Stoppable<R> {
    rig: R,
    stopped: Arc<AtomicBool>,
}

impl<R: Rig> Stoppable<R> {
    /// The trials of `rig`, which begin as long as `stopped` is not set.
    pub fn new(rig: R, stopped: Arc<AtomicBool>) -> Self {
        Stoppable { rig, stopped }
    }
}

impl<R: Rig> Rig for Stoppable<R> {
    fn name(&self) -> &'static str {
        self.rig.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.rig.capabilities()
    }

    fn warnings(&self) -> &[String] {
        self.rig.warnings()
    }

    fn machine(&self) -> Vec<(String, String)> {
        self.rig.machine()
    }

    fn commands(&self, trial: &Trial) -> Result<Vec<String>> {
        self.rig.commands(trial)
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        self.rig.admit(trial)
    }

    fn impossible(&self, trial: &Trial) -> Option<String> {
        self.rig.impossible(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        self.rig.samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::failure("interrupted"));
        }
        self.rig.prepare(trial)
    }

    fn calibrate(&self) -> Result<Option<Calibration>> {
        self.rig.calibrate()
    }

    fn after_failure(&self, trial: &Trial, error: Error) -> Result<Error> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(error);
        }
        self.rig.after_failure(trial, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::rig::sim::Sim;
    use crate::runner::Progress;
    use crate::{Keep, run};

    /// What was finished before is kept, and the same run goes on.
    #[test]
    fn a_run_that_is_stopped_keeps_what_is_finished() {
        let text = "[volume]\ndrives = '1xst118273lc'\nlevel = 'single'\n[workload.read]\ncount = 4\n[run]\nrepeats = 60\n";
        let experiment = Experiment::parse("e.toml", text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("results");
        let stopped = Arc::new(AtomicBool::new(false));
        let rig = Stoppable::new(Sim, Arc::clone(&stopped));
        let mut finished = 0;
        let mut watch = |progress: Progress<'_>| {
            if let Progress::Finished(_) = progress {
                finished += 1;
                stopped.store(true, Ordering::Relaxed);
            }
        };
        let error = run(&experiment, &rig, Keep::In(&directory), &mut watch).unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
        let kept = crate::read_results(&directory).unwrap().records.len();
        assert!((1..60).contains(&kept) && kept >= finished, "{kept} of {finished}");
        let ran = run(&experiment, &Sim, Keep::Resume(&directory), &mut |_| ()).unwrap();
        assert_eq!(ran.finished.len(), 60);
    }
}
