//! Requests to a modelled volume.

use super::rebuild::{self, Rebuilt};
use super::{KIND, cpu_s, modelled, moving};
use crate::capabilities::{Capabilities, Uses};
use crate::error::Result;
use crate::experiment::Trial;
use crate::machine;
use crate::record::Measured;
use crate::rig::admit::{admit_volume, check_buses, check_work};
use crate::rig::jobs::streams;
use crate::rig::{Prepared, Rig};
use crate::steady::{self, Caches};
use sim::workload::Jobs;
use sim::{Batches, Device, Processor};

/// Requests to modelled volumes.
pub struct BlocksRig;

impl Rig for BlocksRig {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { uses: Uses::Blocks, ..modelled() }
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = admit_volume(&trial.setup.volume)?;
        check_buses(&trial.setup)?;
        trial.requests().try_for_each(|work| check_work(work, layout.sectors()))?;
        moving::check(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        Measured::block_samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let began_s = cpu_s();
        let processor = Processor::default();
        let device = machine::volume(&trial.setup, trial.seed, &processor)?;
        Ok(Box::new(Ready { trial, processor, device, began_s }))
    }
}

/// A volume that a trial is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    processor: Processor,
    device: Box<dyn Device>,
    /// The CPU time of this thread when it began with the trial.
    began_s: f64,
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let (trial, device) = (self.trial, &mut *self.device);
        let caches = Caches::Counted(machine::write_cache_bytes(&trial.setup)?);
        let sectors = device.geometry().target_sectors[0];
        let mut jobs = Jobs::new(streams(trial, sectors));
        let mut enough = |batches: &Batches| steady::enough(trial, caches, batches);
        let recorded = sim::run_until(&self.processor, device, &mut jobs, &mut enough);
        let mut measured = steady::measured(trial, &recorded, caches);
        if let Some(lateness) = jobs.lateness() {
            measured.add_lateness(lateness);
        }
        if trial.setup.volume.rebuild_bytes_per_s.is_some() {
            let ended_ns = recorded.outcome.elapsed_ns;
            let Rebuilt { share, restored_at } =
                rebuild::rest(&trial.setup, trial.seed, device, ended_ns)?;
            measured.add_rebuild(share, restored_at);
        }
        measured.cpu_s = cpu_s() - self.began_s;
        Ok(measured)
    }
}
