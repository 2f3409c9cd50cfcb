//! The `sim` rig: modelled drives on a modelled host, in virtual time.

mod files;

use super::{Rig, RigKind};
use crate::error::{Error, Result};
use crate::experiment::{Op, Setup, Trial, Work, WorkKind};
use crate::record::Measured;
use block::layout::{Concat, Layout, Stripe};
use rustix::time::{ClockId, clock_gettime};
use sim::bus::Bus;
use sim::drive::Drive;
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Array, Device, Physio, Processor, Shelf};
use std::thread::available_parallelism;

/// Modelled drives in virtual time.
pub struct SimKind;

impl RigKind for SimKind {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn lanes(&self) -> usize {
        available_parallelism().map_or(1, usize::from)
    }

    fn rig(&self) -> Box<dyn Rig> {
        Box::new(SimRig { device: None })
    }
}

/// One modelled machine.
struct SimRig {
    device: Option<Box<dyn Device>>,
}

impl Rig for SimRig {
    fn admit(&self, trial: &Trial) -> Result<()> {
        let setup = &trial.setup;
        let layout = layout(setup)?;
        let sectors = layout.sectors();
        if let Some(files) = &setup.files {
            return files::admit(files, sectors);
        }
        let span = trial.work.span_sectors.unwrap_or(sectors);
        let name = &trial.cell.workload;
        if span > sectors {
            return Err(Error::input(format!(
                "`workload.{name}.span` of {span} sectors is more than the volume's {sectors}; leave it \
                 out to use all of the volume"
            )));
        }
        if trial.work.block_sectors > span {
            return Err(Error::input(format!(
                "`workload.{name}.block` of {} sectors does not fit in the {span} sectors of the volume \
                 that are used; take smaller blocks",
                trial.work.block_sectors
            )));
        }
        Ok(())
    }

    fn prepare(&mut self, trial: &Trial) -> Result<()> {
        if trial.setup.files.is_none() {
            self.device = Some(build(&trial.setup, trial.seed)?);
        }
        Ok(())
    }

    fn measure(&mut self, trial: &Trial) -> Result<Measured> {
        if let Some(files) = &trial.setup.files {
            let before = cpu_s();
            let ran = files::run(trial, files)?;
            return Ok(ran.measured(cpu_s() - before));
        }
        let device = self.device.as_mut().expect("prepare comes before measure");
        let sectors = device.geometry().target_sectors[0];
        let stream = stream(&trial.work, sectors, &trial.setup);
        let before = cpu_s();
        let outcome = sim::run(&mut **device, &mut RunningStream::new(stream, trial.seed));
        let cpu_s = cpu_s() - before;
        Ok(Measured::from_sim(&outcome, cpu_s))
    }

    fn tear_down(&mut self) -> Result<()> {
        self.device = None;
        Ok(())
    }
}

/// The sectors of each member that the volume uses.
fn member_sectors(setup: &Setup) -> Result<Vec<u64>> {
    let sectors = setup.members.iter().map(|(drive, spec)| {
        let there = drive.sectors();
        let used = spec.sectors.unwrap_or(there);
        if used > there {
            return Err(Error::input(format!(
                "`volume.drives` uses {used} sectors of {}, which has {there}; take a smaller part",
                drive.name
            )));
        }
        Ok(used)
    });
    sectors.collect()
}

fn layout(setup: &Setup) -> Result<Box<dyn Layout>> {
    let members = member_sectors(setup)?;
    let interleave = setup.interleave_sectors;
    let refused = |error| match error {
        block::LayoutError::NoInterleave => Error::input(format!(
            "`volume.interleave` of {interleave} is below one sector; a stripe needs at least 1 (for \
             members one after another, set `volume.level = \"concat\"`)"
        )),
        other => {
            Error::input(format!("`volume.drives` and `volume.interleave` = {interleave}: {other}"))
        }
    };
    Ok(match (setup.level.as_str(), members.as_slice()) {
        ("single", [one]) => Box::new(Concat::new(&[*one]).map_err(refused)?),
        ("single", more) => {
            return Err(Error::input(format!(
                "`volume.level` = single takes one drive, not the {} of `volume.drives`; set it to \
                 stripe or concat",
                more.len()
            )));
        }
        ("concat", members) => Box::new(Concat::new(members).map_err(refused)?),
        (_, members) => Box::new(Stripe::new(interleave, members).map_err(refused)?),
    })
}

/// The drives of `setup` and their buses, the spindles at angles that follow from `seed`.
fn shelf(setup: &Setup, seed: u64) -> Result<Shelf> {
    let mut drives = Vec::with_capacity(setup.members.len());
    for (index, (drive, _)) in (0_u64..).zip(&setup.members) {
        let spec = drive.spec()?;
        let angle = (seed ^ (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(17);
        let phase_ns = angle % spec.platters.revolution_ns;
        let built = Drive::new(&spec, phase_ns);
        drives.push(built.map_err(|error| Error::input(format!("drive {}: {error}", drive.name)))?);
    }
    let host = &setup.host;
    let buses = host.buses.map_or(drives.len(), |buses| drives.len().min(buses as usize));
    let bus = Bus::new(host.bus_bytes_per_s, host.bus_overhead_ns);
    Ok(Shelf::new(drives, vec![bus; buses]))
}

/// The stack of devices that models `setup`, the drives' spindles at angles that follow from `seed`.
fn build(setup: &Setup, seed: u64) -> Result<Box<dyn Device>> {
    let host = &setup.host;
    let shelf = shelf(setup, seed)?;
    let processor = Processor::new(host.request_cpu_ns, host.command_cpu_ns);
    let bare = setup.level == "single" && processor == Processor::default();
    let uncut = host.max_transfer_sectors == u32::MAX;
    if bare && uncut {
        return Ok(Box::new(shelf));
    }
    let array = Array::new(layout(setup)?, shelf, processor);
    if uncut {
        return Ok(Box::new(array));
    }
    Ok(Box::new(Physio::new(array, host.max_transfer_sectors, host.physio_concurrency)))
}

fn stream(work: &Work, sectors: u64, setup: &Setup) -> Stream {
    let filled = work.kind == WorkKind::Dd && work.op == Op::Write;
    let bytes = work.block_sectors * block::SECTOR_BYTES;
    Stream {
        op: match work.op {
            Op::Read => block::Op::Read,
            Op::Write => block::Op::WRITE,
        },
        pattern: match work.kind {
            WorkKind::Dd | WorkKind::Sequential => Pattern::Sequential,
            WorkKind::Random => Pattern::Random,
        },
        start_sector: 0,
        span_sectors: work.span_sectors.unwrap_or(sectors),
        block_sectors: work.block_sectors as u32,
        count: work.count,
        depth: work.depth as u32,
        think_ns: if filled { setup.host.zero_fill_ns(bytes) } else { 0 },
    }
}

/// Seconds that this thread has spent on a CPU.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
