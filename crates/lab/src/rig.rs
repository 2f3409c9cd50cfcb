//! Rigs: where a trial can be run.
//!
//! A rig is the only thing that knows whether a run is real.

mod admit;
#[cfg(target_os = "linux")]
pub mod disks;
mod jobs;
pub mod sim;

use crate::error::Result;
use crate::experiment::Trial;
use crate::record::Measured;

/// Somewhere a trial can be run. One rig runs one trial at a time.
pub trait Rig {
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
    fn prepare(&mut self, trial: &Trial) -> Result<()>;

    /// Runs the trial's workload on what was prepared.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn measure(&mut self, trial: &Trial) -> Result<Measured>;

    /// Takes down what was prepared.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn tear_down(&mut self) -> Result<()>;
}

/// A kind of rig: what it is called, and how many of it can work side by side.
pub trait RigKind: Sync {
    /// The name that `--on` takes.
    fn name(&self) -> &'static str;

    /// How many trials may run at a time without disturbing each other.
    fn lanes(&self) -> usize;

    /// A rig for one lane.
    fn rig(&self) -> Box<dyn Rig + '_>;

    /// Whether it touches the world, so that a trial may take the machine down with it: then each start
    /// of a trial is on the disk before the trial begins.
    fn is_real(&self) -> bool {
        false
    }
}
