//! The `sim` rig: modelled drives on a modelled host, in virtual time.

mod files;
mod moving;

use super::{Rig, RigKind};
use crate::catalogue::RaidBox;
use crate::error::{Error, Result};
use crate::experiment::{Op, Setup, Trial, Work, WorkKind};
use crate::record::Measured;
use block::layout::{Concat, Layout};
use block::{Health, Level, Place, Plan};
use rustix::time::{ClockId, clock_gettime};
use sim::bus::Bus;
use sim::drive::Drive;
use sim::workload::{Jobs, Pattern, RunningStream, Stream};
use sim::{
    Array, Counters, Device, Driver, Order, Processor, RaidController, RaidControllerSpec, Rebuild,
    Scheduler, Shelf, Splitter,
};
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

    fn rig(&self) -> Box<dyn Rig + '_> {
        Box::new(SimRig { machine: None })
    }
}

/// One modelled machine.
struct SimRig {
    machine: Option<(Processor, Below)>,
}

impl Rig for SimRig {
    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = layout(&trial.setup)?;
        check_setup_failed(&*layout, &trial.setup)?;
        if let Some(files) = &trial.setup.files {
            if let Some(other) = trial.beside.first() {
                return Err(Error::input(format!(
                    "`workload.{}` and `workload.{}` are of one group, but of programs that use files one \
                     runs at a time; leave out the group",
                    trial.work.name, other.name
                )));
            }
            return files::admit(trial, files, layout.sectors());
        }
        trial.works().try_for_each(|work| check_work(work, layout.sectors()))?;
        moving::check(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        match trial.setup.files {
            Some(_) => files::samples(trial.work.files.program),
            None => Measured::block_samples(trial),
        }
    }

    fn prepare(&mut self, trial: &Trial) -> Result<()> {
        if trial.setup.files.is_none() {
            let processor = Processor::default();
            let device = build(&trial.setup, trial.seed, &processor)?;
            self.machine = Some((processor, device));
        }
        Ok(())
    }

    fn measure(&mut self, trial: &Trial) -> Result<Measured> {
        if let Some(files) = &trial.setup.files {
            let before = cpu_s();
            let ran = files::run(trial, files)?;
            return Ok(ran.measured(cpu_s() - before));
        }
        let (processor, device) = self.machine.as_mut().expect("prepare comes before measure");
        let sectors = device.geometry().target_sectors[0];
        let mut jobs = Jobs::new(streams(trial, sectors));
        let before = cpu_s();
        let outcome = sim::run_on(processor, &mut **device, &mut jobs);
        let cpu_s = cpu_s() - before;
        let mut measured = Measured::from_sim(&outcome, cpu_s);
        if let Some(lateness) = jobs.lateness() {
            measured.add_lateness(lateness);
        }
        if trial.setup.rebuild_bytes_per_s.is_some() {
            sim::settle(&mut **device);
            let mut counters = Counters::default();
            device.count(&mut counters);
            measured.add_rebuild(&outcome.counters, &counters);
        }
        Ok(measured)
    }

    fn tear_down(&mut self) -> Result<()> {
        self.machine = None;
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

/// The layout over the parts of the members that the volume uses.
fn layout(setup: &Setup) -> Result<Box<dyn Layout>> {
    let members = member_sectors(setup)?;
    let interleave = setup.interleave_sectors;
    let level: Level =
        setup.level.parse().map_err(|error| Error::input(format!("`volume.level`: {error}")))?;
    level.lay_out(interleave, &members).map_err(|error| match error {
        block::LayoutError::NoInterleave => Error::input(format!(
            "`volume.interleave` of {interleave} is below one sector; a stripe needs at least 1 (for \
             members one after another, set `volume.level = \"concat\"`)"
        )),
        block::LayoutError::NotSingle { given } => Error::input(format!(
            "`volume.level` = single takes one drive, not the {given} of `volume.drives`; set it to \
             stripe or concat"
        )),
        block::LayoutError::TooFewMembers { needed, given } => Error::input(format!(
            "`volume.level` = {level} needs at least {needed} drives, not the {given} of \
             `volume.drives`; add some"
        )),
        other => Error::input(format!(
            "`volume.drives`, `volume.level` = {level} and `volume.interleave` = {interleave}: {other}"
        )),
    })
}

fn check_setup_failed(layout: &dyn Layout, setup: &Setup) -> Result<()> {
    let names: Vec<String> = setup.failed.iter().map(u32::to_string).collect();
    let said = format!("`volume.failed` = {}", names.join("+"));
    check_failed(layout, &setup.failed, &member_sectors(setup)?, &said, &setup.level)
}

/// Whether the members that are down can be missed, and restored if they are to be; `said` is how they
/// were named, for the message.
pub(super) fn check_failed(
    layout: &dyn Layout,
    failed: &[u32],
    member_sectors: &[u64],
    said: &str,
    level: &str,
) -> Result<()> {
    let mut health = Health::all_up(layout.members());
    for &member in failed {
        health.fail(member);
    }
    let middle = member_sectors.iter().min().unwrap_or(&0) / 2;
    for &member in failed {
        // The middle of the smallest member is data or parity on each, whatever stands at their fronts;
        // what a larger one has behind that may not be used.
        let lost = Place { member, sector: middle };
        if layout.rebuild(lost, 1, &health, &mut Plan::new()).is_err() {
            return Err(Error::input(format!(
                "{said}: `volume.level` = {level} cannot do without member {member}; let fewer fail, or \
                 take a level with copies or parity"
            )));
        }
    }
    Ok(())
}

/// Times are counted in ns, of which 64 bits hold no more than 584 years.
const CENTURY_NS: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// Whether `work` fits on a volume of `sectors`.
pub(super) fn check_work(work: &Work, sectors: u64) -> Result<()> {
    let name = &work.name;
    if work.idle_ns() > u128::from(CENTURY_NS) {
        return Err(Error::input(format!(
            "`workload.{name}` would take more than a hundred years, which it thinks (`think`) or waits \
             until it is due (`rate`, `requests_per_s`); take a smaller `count` or `amount`, or give \
             `runtime`"
        )));
    }
    if work.span_sectors.is_some_and(|span| span > sectors) {
        return Err(Error::input(format!(
            "`workload.{name}.span` of {} sectors is more than the volume's {sectors}; leave it out to \
             use all of the volume",
            work.span_sectors.unwrap_or(0)
        )));
    }
    for (start, span) in work.parts(sectors) {
        if start.saturating_add(span) > sectors {
            return Err(Error::input(format!(
                "`workload.{name}` goes to sector {}, past the volume's {sectors}; take a smaller \
                 `offset`, `span` or `job_step`",
                start.saturating_add(span)
            )));
        }
        if work.largest_sectors() > span {
            return Err(Error::input(format!(
                "`workload.{name}.block` of {} sectors does not fit in the {span} sectors of the \
                 volume that are used; take smaller blocks",
                work.largest_sectors()
            )));
        }
    }
    Ok(())
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
    let (buses, bytes_per_s, overhead_ns) = match &setup.raid_box {
        Some(of) => (of.channels, of.channel_bytes_per_s, of.channel_overhead_ns),
        None => (host.buses, host.bus_bytes_per_s, host.bus_overhead_ns),
    };
    let buses = buses.map_or(drives.len(), |buses| drives.len().min(buses as usize));
    Ok(Shelf::new(drives, vec![Bus::new(bytes_per_s, overhead_ns); buses]))
}

/// What the host has a driver for: each drive by itself, or the box that they are in as one disk. Before
/// each is the host's elevator, where it has one.
fn disks(setup: &Setup, seed: u64, elevator: Option<Order>, outstanding: u32) -> Result<Below> {
    let shelf: Below = Box::new(shelf(setup, seed)?);
    let disks = match &setup.raid_box {
        Some(raid_box) => in_a_box(setup, raid_box, shelf)?,
        None => shelf,
    };
    Ok(match elevator {
        Some(order) => Box::new(Scheduler::new(disks, order, outstanding)),
        None => disks,
    })
}

/// The box with these drives in it.
fn in_a_box(setup: &Setup, of: &RaidBox, drives: Below) -> Result<Below> {
    let members = member_sectors(setup)?;
    let volume = array(setup, drives, Driver::default())?;
    // As many interleaves as members have data in a row.
    let in_a_row = volume.geometry().target_sectors[0] / members.iter().min().unwrap_or(&1).max(&1);
    let spec = RaidControllerSpec {
        command_ns: of.command_ns,
        memory_sectors: of.memory_sectors,
        run_sectors: (setup.interleave_sectors * in_a_row.max(1)).clamp(1, RUN_SECTORS_MAX),
        runs: of.runs.unwrap_or(members.len() as u32),
    };
    let bytes_per_s = setup.host.bus_bytes_per_s.min(of.interface_bytes_per_s);
    Ok(Box::new(RaidController::new(volume, spec, bytes_per_s)))
}

/// A box sends no more than this to its drives in one run.
const RUN_SECTORS_MAX: u64 = 1 << 20;

type Below = Box<dyn Device>;

/// The volume over the `disks`: run by the host, unless a box does that already.
fn volume(setup: &Setup, disks: Below, driver: Driver) -> Result<Below> {
    if setup.raid_box.is_none() {
        return array(setup, disks, driver);
    }
    if driver.is_free() {
        return Ok(disks);
    }
    let sectors = disks.geometry().target_sectors[0];
    let one = Concat::new(&[sectors]).map_err(Error::failure)?;
    Ok(Box::new(Array::new(Box::new(one), disks, driver)))
}

/// The layout over the drives `below`, what its driver has with each of them, and what waits for it.
fn array(setup: &Setup, mut below: Below, driver: Driver) -> Result<Below> {
    if let Some(outstanding) = setup.member_outstanding {
        below = Box::new(Scheduler::new(below, Order::Fcfs, outstanding));
    }
    let mut array = Array::new(layout(setup)?, below, driver).degraded(&setup.failed);
    if let (Some(rate), Some(&member)) = (setup.rebuild_bytes_per_s, setup.failed.first()) {
        array = array.rebuilding(Rebuild { member, bytes_per_s: Some(rate) });
    }
    Ok(match setup.volume_outstanding {
        Some(outstanding) => Box::new(Scheduler::new(array, Order::Fcfs, outstanding)),
        None => Box::new(array),
    })
}

/// The stack of devices that models `setup`, its drivers on `processor`, the drives' spindles at angles
/// that follow from `seed`.
fn build(setup: &Setup, seed: u64, processor: &Processor) -> Result<Below> {
    let host = &setup.host;
    let below = disks(setup, seed, host.elevator, host.queue_outstanding.unwrap_or(1))?;
    let driver = Driver::new(host.request_cpu_ns, host.command_cpu_ns).on(processor);
    let queues = [setup.volume_outstanding, setup.member_outstanding];
    let uncut = host.max_transfer_sectors == u32::MAX;
    let whole = setup
        .members
        .iter()
        .all(|(drive, spec)| spec.sectors.is_none_or(|sectors| sectors == drive.sectors()));
    let bare = setup.raid_box.is_some() || (setup.level == "single" && whole);
    if bare && driver.is_free() && uncut && queues == [None; 2] {
        return Ok(below);
    }
    let volume = volume(setup, below, driver)?;
    if uncut {
        return Ok(volume);
    }
    Ok(Box::new(Splitter::new(volume, host.max_transfer_sectors, host.physio_concurrency)))
}

/// The jobs of a trial on a volume of `sectors`, the first with the trial's seed.
pub(super) fn streams(trial: &Trial, sectors: u64) -> Vec<RunningStream> {
    let mut running = Vec::new();
    for work in trial.works() {
        for part in work.parts(sectors) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            running.push(RunningStream::new(stream(work, part, &trial.setup), seed));
        }
    }
    running
}

/// One job of `work` on a part of the volume.
fn stream(work: &Work, (start_sector, span_sectors): (u64, u64), setup: &Setup) -> Stream {
    let filled = work.kind == WorkKind::Dd && work.op == Op::Write;
    let bytes = work.block_sectors * block::SECTOR_BYTES;
    let fill_ns = if filled { setup.host.zero_fill_ns(bytes) } else { 0 };
    Stream {
        op: match work.op {
            Op::Read => block::Op::Read,
            Op::Write => block::Op::WRITE,
        },
        reads_percent: work.reads_percent,
        pattern: match work.kind {
            WorkKind::Dd | WorkKind::Sequential => Pattern::Sequential,
            WorkKind::Strided => Pattern::Strided(work.gap_sectors),
            WorkKind::Random => Pattern::Random,
        },
        start_sector,
        span_sectors,
        block_sectors: work.block_sectors as u32,
        sizes: work.sizes.clone(),
        count: work.count,
        sectors: work.amount_sectors,
        until_ns: work.runtime_ns,
        depth: work.depth as u32,
        think_ns: work.think_ns,
        work_ns: fill_ns,
        bytes_per_s: work.bytes_per_s,
        requests_per_s: work.requests_per_s,
        flush_every: work.flush_every,
    }
}

/// Seconds that this thread has spent on a CPU.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn setup(text: &str) -> std::sync::Arc<Setup> {
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        std::sync::Arc::clone(&plan.trials[0].setup)
    }

    /// A part of a drive is all there is of it, whatever the level.
    #[test]
    fn a_single_drive_has_as_many_sectors_as_are_used_of_it() {
        let sectors = |drives: &str| {
            let text =
                format!("[volume]\ndrives = \"{drives}\"\nlevel = \"single\"\n[workload.a]\n");
            build(&setup(&text), 1, &Processor::default())
                .unwrap()
                .geometry()
                .target_sectors
                .clone()
        };
        assert_eq!(sectors("wd740gd:1GiB"), [1 << 21]);
        let whole = crate::catalogue::drive("wd740gd").unwrap().sectors();
        assert_eq!(sectors("wd740gd"), [whole]);
    }

    /// Behind the smallest member's end a larger one has nothing of the volume to lose.
    #[test]
    fn a_larger_member_that_cannot_be_missed_may_not_fail() {
        let text = "[volume]\ndrives = \"xp32150w+wd740gd\"\nlevel = \"ccd-uniform\"\nfailed = \"1\"\n\
                    [workload.a]\n";
        let setup = setup(text);
        let message =
            check_setup_failed(&*layout(&setup).unwrap(), &setup).unwrap_err().to_string();
        assert!(message.contains("cannot do without member 1"), "{message}");
    }

    #[test]
    fn a_workload_that_outlasts_the_clock_is_refused() {
        let message = |keys: &str| {
            let text = format!("[volume]\ndrives = \"wd740gd\"\n[workload.a]\n{keys}");
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            SimKind.rig().admit(&plan.trials[0]).map_err(|error| error.to_string())
        };
        for keys in [
            "think = '8784h'\ncount = 200",
            "rate = 1\ncount = 1_000_000",
            "rate = 1\namount = '1TiB'",
            "requests_per_s = 1\ncount = 1_000_000_000_000",
            "count = 1_000_000_000_000\nblock = '64MiB'",
            "amount = 14_000_000_000_000_000",
        ] {
            let said = message(keys).unwrap_err();
            assert!(said.contains("`workload.a` would take more than a hundred years"), "{said}");
            message(&format!("{keys}\nruntime = '1s'")).unwrap();
        }
        message("think = '8784h'\ncount = 99").unwrap();
    }

    #[test]
    fn a_rebuild_that_outlasts_the_clock_is_refused() {
        let admit = |rate: &str| {
            let text = format!(
                "[volume]\ndrives = \"2xwd740gd\"\nlevel = \"mirror\"\nfailed = \"1\"\nrebuild = \
                 {rate}\n[workload.a]\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            SimKind.rig().admit(&plan.trials[0]).map_err(|error| error.to_string())
        };
        let said = admit("1").unwrap_err();
        assert!(
            said.contains("`volume.rebuild` of 1 B/s") && said.contains("give 24 or"),
            "{said}"
        );
        admit("24").unwrap();
    }

    #[test]
    fn programs_that_use_files_do_not_run_side_by_side() {
        let text = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n\
                    [workload.a]\ngroup = \"g\"\n[workload.b]\ngroup = \"g\"\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        let message = SimKind.rig().admit(&plan.trials[0]).unwrap_err().to_string();
        assert!(message.contains("`workload.a` and `workload.b` are of one group"), "{message}");
    }

    /// Of each program and each sort of blocks: what a trial has is what was said of it beforehand.
    #[test]
    fn a_trial_has_the_samples_that_are_expected_of_it() {
        let volume = "[volume]\ndrives = '4xwd740gd:256MiB'\nlevel = 'raid10'\n";
        let blocks = "[workload.w]\nkind = 'random'\ncount = 40\n";
        let texts = [
            format!("{volume}{blocks}"),
            format!("{volume}{blocks}op = 'write'\nflush_every = 8\n"),
            format!("{volume}{blocks}reads_percent = 50\nrate = '1MB/s'\n"),
            format!("{volume}failed = '0'\nrebuild = '20MB/s'\n{blocks}"),
        ];
        let programs =
            ["touch", "iozone", "bonnie", "newfs", "nfs", "untar", "spool", "fsck", "memory"];
        let program = |name: &str| {
            format!(
                "[host]\nname = 'a8v-netbsd-2'\n{volume}[fs]\nnewfs = 'netbsd2'\n[workload.w]\n\
                 program = '{name}'\nfiles = 60\ndirectories = 4\nsize = '1MiB'\nreaders = 2\n\
                 files_per_reader = 10\n"
            )
        };
        for text in texts.into_iter().chain(programs.map(program)) {
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            let (trial, mut rig) = (&plan.trials[0], SimKind.rig());
            rig.admit(trial).unwrap();
            rig.prepare(trial).unwrap();
            let measured = rig.measure(trial).unwrap().samples.into_iter().map(|(name, _)| name);
            assert_eq!(measured.collect::<Vec<_>>(), rig.samples(trial), "{text}");
        }
    }
}
