//! Rigs: where a trial can be run.
//!
//! A rig is the only thing that knows whether a run is real. It declares what it can do
//! ([`Rig::capabilities`]), and nobody compares its name. Each is a folder here and a line of [`KINDS`].

mod admit;
#[cfg(target_os = "linux")]
mod calibration;
#[cfg(target_os = "linux")]
pub mod disks;
pub(crate) mod example_sizes;
mod flags;
#[cfg(target_os = "linux")]
pub mod guard;
mod jobs;
#[cfg(target_os = "linux")]
pub mod kernel;
pub(crate) mod large_writes;
pub(crate) mod memory;
#[cfg(target_os = "linux")]
pub mod mounted;
pub(crate) mod not_linuxs;
#[cfg(target_os = "linux")]
pub(crate) mod observed;
pub mod sim;
#[cfg(unix)]
pub mod site;
pub(crate) mod small_queues;
pub(crate) mod sorted;
#[cfg(target_os = "linux")]
pub(crate) mod state;
mod stoppable;
mod undo;

pub use flags::{Ask, Given, Opening, RigFlag, Takes};
pub use stoppable::{Stop, Stoppable};
pub use undo::Undo;

use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use crate::experiment::{Plan, Trial};
use crate::record::Measured;
use store::Calibration;

/// The rigs that can be named, the default first.
pub const KINDS: &[RigKind] = &[
    sim::KIND,
    #[cfg(target_os = "linux")]
    disks::KIND,
    #[cfg(target_os = "linux")]
    kernel::KIND,
];

/// A kind of rig.
#[derive(Clone, Copy, Debug)]
pub struct RigKind {
    /// The name that `--on` takes.
    pub name: &'static str,
    /// What it is, for the help.
    pub about: &'static str,
    /// What it can do; which members it has is not known before it is opened.
    pub capabilities: fn() -> Capabilities,
    /// The flags that it alone has.
    pub flags: &'static [RigFlag],
    /// Opens it with the flags that were given.
    pub open: fn(&Given, &mut Opening<'_>) -> Result<Box<dyn Rig>>,
}

impl RigKind {
    /// The kind of this name.
    ///
    /// # Errors
    ///
    /// Where there is none; the message lists those that there are.
    pub fn find(name: &str) -> Result<&'static RigKind> {
        KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            Error::input(format!("there is no rig `{name}`; there are {}", names.join(", ")))
        })
    }

    /// The first kind whose capabilities suit.
    pub(crate) fn that(suits: impl Fn(&Capabilities) -> bool) -> Option<&'static RigKind> {
        KINDS.iter().find(|kind| suits(&(kind.capabilities)()))
    }

    /// Whether its host is a model, and what it measures a prediction.
    pub fn models_host(&self) -> bool {
        (self.capabilities)().host_is_modelled
    }

    /// Whether all flags that were `given` are its own.
    ///
    /// # Errors
    ///
    /// Where one is another rig's; the message says whose.
    pub fn check(&self, given: &Given) -> Result<()> {
        let has = |kind: &RigKind, name: &str| kind.flags.iter().any(|flag| flag.name == name);
        if let Some(name) = given.names().find(|name| !has(self, name)) {
            let owner = KINDS.iter().find(|kind| has(kind, name));
            let next = owner.map_or("leave it out".into(), |of| format!("add `--on {}`", of.name));
            return Err(Error::input(format!(
                "`--{name}` has no effect with {}; {next}",
                self.name
            )));
        }
        Ok(())
    }

    /// Opens it with the flags that were `given`.
    ///
    /// # Errors
    ///
    /// Where a flag is another rig's, or the rig cannot be opened.
    pub fn open(&self, given: &Given, opening: &mut Opening<'_>) -> Result<Box<dyn Rig>> {
        self.check(given)?;
        (self.open)(given, opening)
    }
}

/// Somewhere trials can be run, by as many threads at a time as it has lanes.
pub trait Rig: Sync {
    /// The name that results keep.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// What makes its figures doubtful, a sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// What makes its figures of `plan` doubtful, a sentence each.
    fn doubts(&self, plan: &Plan) -> Vec<String> {
        let _ = plan;
        Vec::new()
    }

    /// What its figures depend on and nobody sees in them, by name: the kernel, models of drives.
    fn machine(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What is done to the members before the first trial, and how long it may take; none where nothing is.
    fn beforehand(&self) -> Option<String> {
        None
    }

    /// The commands that a trial is made of, where it is made of commands.
    ///
    /// # Errors
    ///
    /// Where it cannot run the trial.
    fn commands(&self, trial: &Trial) -> Result<Vec<String>> {
        let _ = trial;
        Ok(Vec::new())
    }

    /// Whether it can run this trial, before any is run.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn admit(&self, trial: &Trial) -> Result<()>;

    /// Why no system makes what this trial is to run on, whatever is done about it, as a chunk that a tool does not take:
    /// its cell is left out, as long as others are left.
    fn impossible(&self, trial: &Trial) -> Option<String> {
        let _ = trial;
        None
    }

    /// The names of all samples that this trial may have, in the order in which it lists them.
    fn samples(&self, trial: &Trial) -> Vec<&'static str>;

    /// Makes what the trial runs on.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>>;

    /// Does the same small work each time it is asked, between trials, so that drift of the machine shows; none where
    /// nothing drifts.
    ///
    /// # Errors
    ///
    /// Where a member cannot do it: no trial can run.
    fn calibrate(&self) -> Result<Option<Calibration>> {
        Ok(None)
    }

    /// Asked when a trial has failed and was torn down: gives its error back where that is the matter of its cell
    /// alone, and makes the rig ready for the next trial.
    ///
    /// # Errors
    ///
    /// Where no other trial can run either: the error that ends the run.
    fn after_failure(&self, trial: &Trial, error: Error) -> Result<Error> {
        let _ = trial;
        Err(error)
    }
}

/// What a trial runs on, ready to run it once.
pub trait Prepared {
    /// From then on, the work fails where `stop` says so before its end. A rig that cannot end a trial goes on.
    fn stop_when(&mut self, stop: Stop) {
        let _ = stop;
    }

    /// Runs the trial's work.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn measure(&mut self) -> Result<Measured>;

    /// Takes down what was prepared, after the work or where it failed.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn tear_down(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Prepares, measures and tears down.
///
/// # Errors
///
/// Where any of these fails. What was prepared is torn down also where the work fails.
pub fn run(rig: &dyn Rig, trial: &Trial) -> Result<Measured> {
    let mut prepared = rig.prepare(trial)?;
    let measured = prepared.measure();
    let torn_down = prepared.tear_down();
    measured.and_then(|measured| torn_down.map(|()| measured))
}
