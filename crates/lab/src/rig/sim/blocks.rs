//! Requests to a modelled volume.

use super::{KIND, cpu_s, modelled, moving};
use crate::capabilities::{Capabilities, Uses};
use crate::error::Result;
use crate::experiment::Trial;
use crate::machine;
use crate::record::Measured;
use crate::rig::admit::{admit_volume, check_work};
use crate::rig::jobs::streams;
use crate::rig::{Prepared, Rig};
use sim::workload::Jobs;
use sim::{Counters, Device, Processor};

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
        trial.requests().try_for_each(|work| check_work(work, layout.sectors()))?;
        moving::check(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        Measured::block_samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let processor = Processor::default();
        let device = machine::volume(&trial.setup, trial.seed, &processor)?;
        Ok(Box::new(Ready { trial, processor, device }))
    }
}

/// A volume that a trial is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    processor: Processor,
    device: Box<dyn Device>,
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let device = &mut *self.device;
        let sectors = device.geometry().target_sectors[0];
        let mut jobs = Jobs::new(streams(self.trial, sectors));
        let before = cpu_s();
        let outcome = sim::run_on(&self.processor, device, &mut jobs);
        let cpu_s = cpu_s() - before;
        let mut measured = Measured::from_sim(&outcome, cpu_s);
        if let Some(lateness) = jobs.lateness() {
            measured.add_lateness(lateness);
        }
        if self.trial.setup.volume.rebuild_bytes_per_s.is_some() {
            sim::settle(device);
            let mut counters = Counters::default();
            device.count(&mut counters);
            measured.add_rebuild(&outcome.counters, &counters);
        }
        Ok(measured)
    }
}
