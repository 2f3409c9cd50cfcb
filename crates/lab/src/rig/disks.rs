//! The `disks` rig: workloads measured on real files and devices, over any layout.
//!
//! Nothing is touched that was not named, and nothing is written that was not agreed to: see
//! [`members`].

mod caches;
mod create;
mod device;
mod engine;
mod flags;
mod in_memory;
mod locks;
mod measure;
pub mod members;
mod noise;
mod planned;
mod probed;

pub(in crate::rig) use device::BlockDevice;
pub use engine::{Ended, Engine};
pub use members::{Access, Member, Options};
pub use noise::Noise;
pub use probed::ProbedDisk;

pub(super) use flags::KIND;

use super::admit::{
    admit_volume, check_no_log, check_no_search, check_own_layout, check_queues, check_work,
};
use super::calibration::{self, Ground};
use super::jobs::jobs;
use super::mounted::Device;
use super::observed::{SAMPLES, Watch, check_cold, from_memory_percent, health, machine, warnings};
use super::site::{Images, Site};
use super::state::{Filled, State, Target};
use super::{Prepared, Rig, Undo};
use crate::capabilities::{Capabilities, Members, RealMember, Uses};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::record::Measured;
use crate::steady::{self, Bits, Caches};
use crate::workload::Requests;
use sim::{Batches, Counters};
use std::fs::File;
use std::path::Path;
use store::Calibration;
use uring::Ring;

/// Whether only a model knows this sample: a real member does not say what it spent its time on.
pub fn is_model_only(sample: &str) -> bool {
    let measured = ["queue_ms", "cpu_ms"];
    sample == "hits_per_command"
        || store::sample::parts().any(|part| part.name == sample) && !measured.contains(&sample)
}

/// Real files and devices.
pub struct Disks {
    members: Vec<Member>,
    failed: Vec<u32>,
    write: bool,
    warnings: Vec<String>,
    /// The members, by name and size.
    devices: Vec<Device>,
    /// What the manifest says of the machine.
    machine: Vec<(String, String)>,
    /// The state that they are to be in.
    state: Option<State>,
    filled: Filled,
    /// Where the members are, if the run has made them; they go with it.
    site: Option<Site>,
}

impl Disks {
    /// Looks at the members that `options` name, and opens them; see [`members::open`].
    ///
    /// # Errors
    ///
    /// Where one is not there, in use or signed, or was not confirmed.
    pub fn open(
        options: &Options,
        confirm: &mut dyn FnMut(&Path, u64) -> Result<bool>,
    ) -> Result<Self> {
        options.check_failed(options.paths.len())?;
        let (members, mut doubts) = members::open(options, confirm)?;
        let (failed, write) = (options.failed.clone(), options.write);
        let device = |member: &Member| Device {
            path: member.path.display().to_string(),
            sectors: member.sectors,
        };
        let devices: Vec<Device> = members.iter().map(device).collect();
        let mut machine = machine(&devices);
        machine.extend(health(&devices));
        doubts.extend(warnings(&devices));
        let (warnings, state, filled) = (doubts, None, Filled::default());
        Ok(Disks { members, failed, write, warnings, devices, machine, state, filled, site: None })
    }

    /// The same, whose members are brought into a state first.
    ///
    /// # Errors
    ///
    /// Where they may not be written.
    pub(in crate::rig) fn in_state(self, state: Option<State>) -> Result<Self> {
        let Some(known) = state else { return Ok(self) };
        State::check(state, self.write)?;
        let mut warnings = self.warnings;
        warnings.extend(known.doubts(&self.devices));
        let mut machine = self.machine;
        machine.push(("state".into(), known.to_string()));
        Ok(Disks { warnings, machine, state, ..self })
    }

    /// Brings the members into their state, where that was not done yet.
    fn fill(&self) -> Result<()> {
        let targets = self.members.iter().zip(&self.devices).enumerate();
        let in_use = targets.filter(|(number, _)| !self.failed.contains(&(*number as u32)));
        let targets: Vec<Target<'_>> =
            in_use.map(|(_, (member, device))| Target { file: &member.file, device }).collect();
        self.filled.fill(self.state, &targets)
    }

    /// Members that are made for the run, of noise, and gone after it; used as `options` say.
    ///
    /// # Errors
    ///
    /// Where they do not fit or cannot be made.
    pub(in crate::rig) fn on_images(
        images: &Images,
        options: Options,
        undo: &Undo,
    ) -> Result<Self> {
        images.check_space()?;
        let site = Site::new(&images.parent, undo)?;
        let paths = images.paths(&site);
        let options = Options { paths, create_bytes: Some(images.bytes), write: true, ..options };
        let disks = Disks::open(&options, &mut |_, _| Ok(false))?;
        Ok(Disks { site: Some(site), ..disks })
    }

    /// The members: what each is and how it is accessed.
    fn described(&self) -> Vec<RealMember> {
        let describe = |(index, member): (usize, &Member)| {
            let kind = if member.device { "device" } else { "file" };
            let cache = match member.access {
                Access::Direct { .. } => "direct",
                Access::Cold => "cold",
                Access::Warm => "warm",
            };
            let failed = if self.failed.contains(&(index as u32)) { ", failed" } else { "" };
            let memory =
                member.in_memory.map_or_else(String::new, |on| format!(", in memory ({on})"));
            let sectors = member.sectors;
            // Where the run makes its images, their directory has another name each time.
            let name = match &self.site {
                Some(_) => format!("image{index}"),
                None => member.path.display().to_string(),
            };
            RealMember {
                name,
                sectors,
                about: format!("{kind} of {sectors} sectors, cache = {cache}{memory}{failed}"),
            }
        };
        self.members.iter().enumerate().map(describe).collect()
    }

    /// Direct I/O needs whole blocks of the member's own.
    fn check_blocks(&self, trial: &Trial) -> Result<()> {
        for member in &self.members {
            let Access::Direct { block_sectors } = member.access else { continue };
            let mut keys = Vec::new();
            // A level that has no interleave ignores what is said of one.
            let volume = &trial.setup.volume;
            if volume.level.interleaved() {
                keys.push(("volume.interleave".into(), volume.interleave_sectors));
            }
            for work in trial.requests() {
                let key = |key: &str| format!("workload.{}.{key}", work.name);
                keys.push((key("block"), work.keys.block_sectors));
                keys.push((key("offset"), work.keys.offset_sectors));
                keys.push((key("gap"), work.gap_sectors()));
                keys.push((key("job_step"), work.keys.job_step_sectors.unwrap_or(0)));
                keys.extend(
                    work.sizes().iter().map(|&(sectors, _)| (key("sizes"), sectors.into())),
                );
            }
            for (key, sectors) in keys {
                if !sectors.is_multiple_of(block_sectors) {
                    return Err(Error::input(format!(
                        "`{key}` of {sectors} sectors: {} takes whole blocks of {block_sectors} \
                         sectors; take a multiple, or give `--buffered`",
                        member.path.display()
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The sample that says that some of the time went into repairs.
const REPAIRS: &str = "repairs";

impl Rig for Disks {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            members: Members::Real { members: self.described(), failed: self.failed.clone() },
            uses: Uses::Blocks,
            ..(KIND.capabilities)()
        }
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn machine(&self) -> Vec<(String, String)> {
        self.machine.clone()
    }

    fn beforehand(&self) -> Option<String> {
        State::words(self.state, &self.devices)
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        admit(trial, self.write, &self.devices)?;
        self.check_blocks(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        self.fill()?;
        if let Some(State::Fresh) = self.state {
            State::discard(&self.devices)?;
        }
        let members = &self.members;
        let layout = trial.setup.volume.layout()?;
        let files: std::io::Result<Vec<_>> =
            members.iter().map(|member| member.file.try_clone()).collect();
        let files = files
            .map_err(|error| Error::failure(format!("cannot use a member once more: {error}")))?;
        let ring = ring(trial, files, members.len() as u64, false)?;
        let names = members.iter().map(|member| member.path.display().to_string()).collect();
        let mut engine = Engine::new(layout, ring, names, self.write);
        self.failed.iter().for_each(|&member| engine.fail(member));
        for member in members {
            if !matches!(member.access, Access::Direct { .. }) {
                members::empty_cache(&member.file, member.sectors);
            }
        }
        Ok(Box::new(Ready { trial, members, devices: &self.devices, engine }))
    }

    fn calibrate(&self) -> Result<Option<Calibration>> {
        self.fill()?;
        let mut ground = Vec::new();
        for (number, member) in (0..).zip(&self.members) {
            if self.failed.contains(&number) {
                continue;
            }
            // Through a cache it would tell of the cache.
            if !matches!(member.access, Access::Direct { .. }) {
                return Ok(None);
            }
            let (name, bytes) =
                (member.path.display().to_string(), member.sectors * block::SECTOR_BYTES);
            // What a run may write is what its trials write; this only reads.
            ground.push(Ground { name, file: &member.file, bytes, writes: false });
        }
        // A member that fails ends the trial that needs it, or is done without.
        let took = calibration::run(&ground).ok().flatten();
        let told = health(&self.devices).into_iter().chain(self.filled.told()).collect();
        Ok(took.map(|took_s| Calibration { took_s, told }))
    }
}

/// Whether blocks on real members can be measured as `trial` says.
fn admit(trial: &Trial, may_write: bool, devices: &[Device]) -> Result<()> {
    let layout = admit_volume(&trial.setup.volume)?;
    check_own_layout(&trial.setup)?;
    if !trial.setup.volume.write_mostly.is_empty() {
        return Err(Error::input(
            "`volume.write_mostly`: ileave's own engine has no such members; add `[fs]`, and md runs it, or `--on kernel`, or \
             leave out `--on`",
        ));
    }
    check_no_log(&trial.setup)?;
    check_queues(&trial.setup.volume)?;
    if trial.setup.volume.level.nested().is_some() {
        return Err(Error::input(format!(
            "`volume.level` = {}: ileave's own engine runs one array; add `[fs]`, and md runs it, or leave out `--on`",
            trial.setup.volume.level
        )));
    }
    if trial.requests().any(Requests::writes) && !may_write {
        let names = devices.iter().map(|device| device.path.clone());
        return Err(Error::input(format!(
            "workload `{}` would write on {}; give `--write` if what they hold may be lost",
            trial.cell.workload,
            names.collect::<Vec<_>>().join(", ")
        )));
    }
    if let Some(work) = trial.requests().find(|work| !work.keys.direct) {
        return Err(Error::input(format!(
            "`workload.{}.direct` = false is modelled only; on real members give `--buffered`",
            work.name
        )));
    }
    trial.requests().try_for_each(|work| check_work(work, layout.sectors()))?;
    if let Some(trace) = trial.trace() {
        return Err(Error::input(format!(
            "`workload.{}` replays a trace, which works only on modelled members so far; leave out `--on`",
            trace.name
        )));
    }
    check_no_search(trial)?;
    Ok(())
}

/// The names of the samples of a trial.
fn samples(trial: &Trial) -> Vec<&'static str> {
    let mut samples = Measured::block_samples(trial);
    samples.retain(|name| !is_model_only(name));
    samples.push(REPAIRS);
    samples.extend(SAMPLES);
    samples
}

/// Requests that come by the clock and are in flight at a time, and their bytes. What comes beyond that waits in the
/// program, and its time counts from when it came: where more come than are done, each would take memory until there is
/// none.
const OPEN_MAX: u64 = 4096;
const OPEN_BYTES_MAX: u64 = 128 << 20;

/// Requests of `trial` that are in flight at a time.
fn in_flight_max(trial: &Trial) -> u64 {
    let of_job = |work: &Requests| if work.is_open() { 0 } else { work.depth() + 1 };
    let jobs = trial.requests().map(|work| work.keys.jobs.saturating_mul(of_job(work)));
    let open = trial.requests().filter(|work| work.is_open());
    let largest = open.map(|work| work.largest_sectors() * block::SECTOR_BYTES).max();
    let open = largest.map_or(0, |bytes| (OPEN_BYTES_MAX / bytes.max(1)).clamp(1, OPEN_MAX));
    jobs.fold(open, u64::saturating_add)
}

/// The kernel's rings over `files` of so many `members`, with room for all that `trial` has in flight; programs that read
/// `apart` have a thread each.
fn ring(trial: &Trial, files: Vec<File>, members: u64, apart: bool) -> Result<Ring> {
    let under_way = in_flight_max(trial);
    let commands = under_way.saturating_mul(2 * files.len() as u64);
    let entries = u32::try_from(commands).unwrap_or(u32::MAX);
    let mut ring = Ring::new(files, entries).map_err(|error| {
        let next = if uring::is_forbidden(&error) {
            "; `sysctl kernel.io_uring_disabled` and the container's seccomp filter decide"
        } else {
            ""
        };
        Error::failure(format!("cannot make an io_uring: {error}{next}"))
    })?;
    let flushes = waiting(trial, members, Requests::flushes);
    let reads = if apart { reads_apart(trial, members) } else { 0 };
    if reads > 0 {
        ring.read_by_workers();
    }
    allow_workers(trial, flushes.saturating_add(reads), &mut ring)?;
    Ok(ring)
}

/// Requests that wait in the kernel at a time: one for each job, of those that do, and member.
fn waiting(trial: &Trial, members: u64, does: impl Fn(&Requests) -> bool) -> u64 {
    let jobs = trial.requests().filter(|work| does(work)).map(|work| work.keys.jobs);
    jobs.sum::<u64>().saturating_mul(members)
}

/// Reads of programs that read through the page cache side by side, each one request after the other: there each sleeps by
/// itself where a drive's queue is full. Of one program that has several in flight the thread of the ring does.
fn reads_apart(trial: &Trial, members: u64) -> u64 {
    let reads = waiting(trial, members, reads_one_by_one);
    if reads > members && trial.requests().all(reads_one_by_one) { reads } else { 0 }
}

fn reads_one_by_one(work: &Requests) -> bool {
    work.keys.depth == 1 && !work.writes()
}

/// Each job of `trial` waits for its own flush, or its own read through the page cache, and for nobody else's, as a program of
/// its own would.
fn allow_workers(trial: &Trial, wanted: u64, ring: &mut Ring) -> Result<()> {
    // A kernel before 5.15 has four for each processor, if the ring is as long, and one processor at least.
    let allowed = ring.allow_workers(u32::try_from(wanted).unwrap_or(u32::MAX)).unwrap_or(4);
    let waits = |work: &&Requests| work.flushes() || reads_one_by_one(work);
    match trial.requests().filter(waits).max_by_key(|work| work.keys.jobs) {
        Some(work) if u64::from(allowed) < wanted => Err(Error::failure(format!(
            "`workload.{}`: up to {wanted} flushes or reads through the page cache wait in the kernel at a time, one for each job and \
             member, and this system lets {allowed} wait; take fewer `jobs`, raise `ulimit -u` (in a guest `--guest-memory`), or use \
             Linux 5.15 or newer",
            work.name
        ))),
        _ => Ok(()),
    }
}

/// The members, open for a trial.
struct Ready<'a> {
    trial: &'a Trial,
    members: &'a [Member],
    devices: &'a [Device],
    engine: Engine,
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let (trial, engine) = (self.trial, &mut self.engine);
        let sectors = engine.layout().sectors();
        let mut jobs = jobs(trial, &[sectors]);
        let caches = Caches::Assumed(caches::bytes(self.members, trial, sectors));
        let noise = Noise::new(trial.seed);
        let mut enough = |batches: &Batches| steady::enough(trial, caches, Bits::Counted, batches);
        let watch = Watch::new(self.devices);
        let recorded = measure::run(engine, &mut jobs, noise, in_flight_max(trial), &mut enough)?;
        let seen = watch.seen();
        let mut measured = steady::measured(trial, &recorded, caches, Bits::Counted);
        measured.add_lateness(&jobs);
        measured.samples.retain(|(name, _)| !is_model_only(name));
        measured.cpu_s = recorded.outcome.cpu_busy_ns as f64 / 1e9;
        if engine.repairs() > 0 {
            measured.samples.push((REPAIRS, engine.repairs() as f64));
        }
        if watch.is_counted() {
            let from_memory = from_memory_percent(asked_bytes(engine), seen.moved.read_bytes);
            // Whoever asks for the page cache gets it, and is told what came from there.
            if self.members.iter().all(|member| matches!(member.access, Access::Direct { .. })) {
                check_cold(
                    from_memory,
                    "fill images that have holes, or make them with `--create`",
                )?;
            }
            let seen = SAMPLES.into_iter().zip(seen.samples(from_memory));
            measured.samples.extend(seen.filter_map(|(name, value)| Some((name, value?))));
        }
        Ok(measured)
    }
}

/// What the members were asked to read since the clock was started, in bytes.
fn asked_bytes(engine: &Engine) -> u64 {
    let mut counters = Counters::default();
    engine.count(&mut counters);
    counters.targets.iter().map(|target| target.sectors_read).sum::<u64>() * block::SECTOR_BYTES
}
