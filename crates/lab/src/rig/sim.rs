//! The `sim` rig: everything modelled, in virtual time. It is two, for blocks and for files, and each trial
//! goes to the one that it needs.

mod blocks;
mod capacity;
mod files;
mod moving;
mod rebuild;

pub use blocks::BlocksRig;
pub use files::FilesRig;

use super::{Prepared, Rig, RigKind};
use crate::capabilities::Capabilities;
use crate::error::Result;
use crate::experiment::Trial;
#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// What `--on sim` is.
pub(super) const KIND: RigKind = RigKind {
    name: "sim",
    about: "Modelled drives in virtual time",
    capabilities: modelled,
    flags: &[],
    open: |_, _| Ok(Box::new(Sim)),
};

/// Modelled machines in virtual time.
pub struct Sim;

/// The rig for what the trial uses.
fn rig_for(trial: &Trial) -> &'static dyn Rig {
    match trial.setup.files {
        Some(_) => &FilesRig,
        None => &BlocksRig,
    }
}

impl Rig for Sim {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        modelled()
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        rig_for(trial).admit(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        rig_for(trial).samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        rig_for(trial).prepare(trial)
    }
}

/// A trial takes a thread, and disturbs no other.
fn modelled() -> Capabilities {
    // Asked for each trial, and read of a dozen files.
    static LANES: OnceLock<usize> = OnceLock::new();
    let lanes = LANES.get_or_init(|| available_parallelism().map_or(1, usize::from));
    Capabilities::modelled(*lanes)
}

/// Seconds that this thread has spent on a CPU.
#[cfg(unix)]
pub(super) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A browser tells nobody. What trials took is kept with their results, and there nothing is kept.
#[cfg(not(unix))]
pub(super) fn cpu_s() -> f64 {
    0.0
}

#[cfg(test)]
mod md_tests;
#[cfg(test)]
mod tests;
