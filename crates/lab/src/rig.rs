//! Rigs: where a trial can be run.
//!
//! A rig is the only thing that knows whether a run is real. It declares what it can do
//! ([`Rig::capabilities`]), and nobody compares its name. Each is a folder here and a line of [`KINDS`].

mod admit;
#[cfg(target_os = "linux")]
pub mod disks;
mod jobs;
mod kind;
pub mod sim;

pub use kind::{Ask, Given, RigFlag, RigKind, Takes};

use crate::capabilities::Capabilities;
use crate::error::Result;
use crate::experiment::Trial;
use crate::record::Measured;

/// The rigs that can be named, the default first.
pub const KINDS: &[RigKind] = &[
    sim::KIND,
    #[cfg(target_os = "linux")]
    disks::KIND,
];

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

    /// Whether it can run this trial, before any is run.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn admit(&self, trial: &Trial) -> Result<()>;

    /// The names of all samples that this trial may have, in the order in which it lists them.
    fn samples(&self, trial: &Trial) -> Vec<&'static str>;

    /// Makes what the trial runs on.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>>;
}

/// What a trial runs on, ready to run it once.
pub trait Prepared {
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
