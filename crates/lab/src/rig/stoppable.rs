//! A rig whose trials end once it was told to stop: for whoever cannot end the process, as a library cannot, or has no more time.

use super::{Prepared, Rig};
use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use crate::experiment::Trial;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Calibration;

/// Whether to stop, as whoever may stop a trial says.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a trial says that was stopped.
const STOPPED: &str = "the trial was stopped before its end";

/// An error of a trial that was stopped.
pub(crate) fn stopped() -> Error {
    Error::failure(STOPPED)
}

/// Another rig, until it is told to stop.
pub struct Stoppable<R> {
    rig: R,
    stop: Stop,
    /// What is said of the trials that do not begin or end.
    why: String,
}

impl<R: Deref<Target: Rig> + Sync> Stoppable<R> {
    /// The trials of `rig`, which begin and go on as long as `stopped` is not set.
    pub fn new(rig: R, stopped: Arc<AtomicBool>) -> Self {
        Stoppable::when(rig, Arc::new(move || stopped.load(Ordering::Relaxed)), "interrupted")
    }

    /// The same as long as `stop` does not say so; of the others `why` is the error.
    pub fn when(rig: R, stop: Stop, why: impl Into<String>) -> Self {
        Stoppable { rig, stop, why: why.into() }
    }

    fn error(&self) -> Error {
        Error::failure(&self.why)
    }
}

/// What a trial runs on, until it is told to stop.
struct StoppableTrial<'a> {
    prepared: Box<dyn Prepared + 'a>,
    stop: Stop,
    why: &'a str,
}

impl Prepared for StoppableTrial<'_> {
    /// Another who may stop it stops it beside the own.
    fn stop_when(&mut self, other: Stop) {
        let own = Arc::clone(&self.stop);
        self.prepared.stop_when(Arc::new(move || own() || other()));
    }

    fn measure(&mut self) -> Result<crate::record::Measured> {
        self.prepared.measure().map_err(|error| {
            // What failed while it was told to stop says another thing, and so does another who stopped it.
            let is_own = error.to_string() == STOPPED && (self.stop)();
            if is_own { Error::failure(self.why) } else { error }
        })
    }

    fn tear_down(self: Box<Self>) -> Result<()> {
        self.prepared.tear_down()
    }
}

impl<R: Deref<Target: Rig> + Sync> Rig for Stoppable<R> {
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

    fn beforehand(&self) -> Option<String> {
        self.rig.beforehand()
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
        if (self.stop)() {
            return Err(self.error());
        }
        let mut prepared = self.rig.prepare(trial)?;
        prepared.stop_when(Arc::clone(&self.stop));
        Ok(Box::new(StoppableTrial { prepared, stop: Arc::clone(&self.stop), why: &self.why }))
    }

    fn calibrate(&self) -> Result<Option<Calibration>> {
        self.rig.calibrate()
    }

    fn after_failure(&self, trial: &Trial, error: Error) -> Result<Error> {
        if (self.stop)() {
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
        let rig = Stoppable::new(&Sim, Arc::clone(&stopped));
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

    /// A trial of hours of virtual time went on to its end, whatever its asker had left of his.
    #[test]
    fn a_trial_that_is_running_is_stopped() {
        let text = "[volume]\ndrives = '1xst118273lc'\nlevel = 'single'\n[workload.read]\ncount = 100_000_000\n";
        let experiment = Experiment::parse("e.toml", text).unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let stop = move || asked.fetch_add(1, Ordering::Relaxed) > 2;
        let rig = Stoppable::when(&Sim, Arc::new(stop), "no time");
        let error = run(&experiment, &rig, Keep::Nowhere, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("no time"), "{error}");
    }

    /// Of two who may stop a trial either does, and says why.
    #[test]
    fn who_stops_a_trial_of_two_says_why() {
        let text = "[volume]\ndrives = '1xst118273lc'\nlevel = 'single'\n[workload.read]\ncount = 100_000_000\n";
        let experiment = Experiment::parse("e.toml", text).unwrap();
        let after = |looks: usize| -> Stop {
            let asked = std::sync::atomic::AtomicUsize::new(0);
            Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) > looks)
        };
        for (inner, outer, why) in [(2, usize::MAX, "interrupted"), (usize::MAX, 2, "no time")] {
            let inside = Stoppable::when(&Sim, after(inner), "interrupted");
            let rig = Stoppable::when(&inside, after(outer), "no time");
            let error = run(&experiment, &rig, Keep::Nowhere, &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
