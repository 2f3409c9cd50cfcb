//! What runs in the kernel, as its first and only program: it sets up what programs expect of a system, builds the
//! trial's volume of the disks that it finds, measures, answers and switches the machine off.

use super::drives::name_of;
use super::job::{Answer, Job};
use super::restore;
use crate::error::{Error, Result};
use crate::experiment::{Member, Scheduling, Trial, Volume};
use crate::machine;
use crate::record::Measured;
use crate::rig::admit::check_work;
use crate::rig::disks::BlockDevice;
use crate::rig::mounted::{Build, CHUNK_SECTORS, Device, Mounted, Need, Source, build_volume};
use crate::rig::site::{Shell, Site, Step};
use crate::rig::{Rig, Undo, mounted};
use crate::steady::Caches;
use crate::workload::Requests;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use uml::Control;

/// The word on the command line by which this program knows that it is the guest.
pub const COMMAND: &str = "guest";

/// Where the guest's own files are; the rest is the host's, to be read.
const OWN: &str = "/run";

/// Runs as the guest; `path` is that of the disk that holds the job. Returns only where the machine cannot be
/// switched off.
///
/// # Errors
///
/// Where this is no guest, or nobody can be answered.
pub fn run(path: &Path) -> Result<()> {
    if std::process::id() != 1 {
        return Err(Error::input(
            "`ileave guest` is what a kernel of `--on kernel` runs; give `ileave run FILE --on kernel`",
        ));
    }
    let said = set_up().and_then(|()| {
        let failed = |error| Error::failure(format!("{}: {error}", path.display()));
        let control = Control::open(path).map_err(failed)?;
        let job = control.job().map_err(failed)?;
        let answer = answer(&job, &Arc::new(control))?;
        Control::open(path).and_then(|control| control.answer(&answer)).map_err(failed)
    });
    if let Err(error) = &said {
        // The console is all that is left.
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "the guest failed: {error}");
    }
    let _ = reboot(RebootCommand::PowerOff);
    said
}

/// What every program expects to find.
fn set_up() -> Result<()> {
    let quiet = MountFlags::empty();
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", OWN)] {
        mount("none", at, kind, quiet, None)
            .map_err(|error| Error::failure(format!("cannot mount {at}: {error}")))?;
    }
    // The kernel may have done it already.
    let _ = mount("none", "/dev", "devtmpfs", quiet, None);
    Ok(())
}

/// Does what `job` asks for, and gives what is to be answered.
fn answer(job: &[u8], control: &Arc<Control>) -> Result<Vec<u8>> {
    let job = Job::from_bytes(job)?;
    job.enter_directory();
    let Some(cut) = job.cut() else {
        return Answer::new(job.trial().and_then(|trial| measured(&trial, control))).to_bytes();
    };
    let found = job.trial().and_then(|trial| {
        let mounted =
            Mounted::open(Source::Devices(devices(&trial)?), Path::new(OWN), &Undo::default())?;
        mounted.after_cut(&trial, cut)
    });
    serde_json::to_vec(&found.map_err(|error| error.to_string())).map_err(Error::failure)
}

/// Runs the trial; the number is of all requests to the volume, where those are what it runs.
fn measured(trial: &Trial, control: &Arc<Control>) -> Result<(Measured, Option<u64>)> {
    let devices = devices(trial)?;
    devices.iter().enumerate().try_for_each(|(number, device)| tune(number, device, trial))?;
    if trial.setup.files.is_some() {
        return of_files(trial, devices, control).map(|measured| (measured, None));
    }
    of_blocks(trial, &devices, control)
}

/// The disks that the drives of the trial are, in order.
fn devices(trial: &Trial) -> Result<Vec<Device>> {
    let sectors = match trial.setup.volume.controller {
        Some(_) => vec![None],
        None => trial.setup.volume.member_sectors()?.into_iter().map(Some).collect(),
    };
    let device = |(number, sectors): (usize, Option<u64>)| {
        let path = name_of(number);
        let sectors = match sectors {
            Some(sectors) => sectors,
            None => read_number(&format!("/sys/block/{}/size", short(&path)))?,
        };
        Ok(Device { path, sectors })
    };
    sectors.into_iter().enumerate().map(device).collect()
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn read_number(path: &str) -> Result<u64> {
    let text = fs::read_to_string(path).ok();
    let number = text.and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| Error::failure(format!("the guest's {path} holds no number")))
}

/// Tells the kernel what it would know of the drive with this number by itself: whether it turns, and which scheduler it gets,
/// unless one is named; and how many requests its queue holds, where that is said. A RAID controller is one disk.
fn tune(number: usize, device: &Device, trial: &Trial) -> Result<()> {
    let volume = &trial.setup.volume;
    let members = &volume.members;
    let (rotates, by_itself) = match &volume.controller {
        None => {
            let member = &members[number];
            (member.is_rotational(), machine::scheduler_of(volume, member))
        }
        Some(_) => (members.iter().any(Member::is_rotational), machine::scheduler(volume)),
    };
    let scheduler = match volume.scheduler {
        Scheduling::Auto => by_itself.name(),
        named => named.word(),
    };
    let queue = format!("/sys/block/{}/queue", short(&device.path));
    let rotates = if rotates { "1" } else { "0" };
    let mut settings = vec![("rotational", rotates.to_string()), ("scheduler", scheduler.into())];
    // The scheduler begins with its own number.
    let requests = volume.nr_requests;
    settings.extend(requests.map(|requests| ("nr_requests", requests.to_string())));
    for (key, value) in settings {
        let path = format!("{queue}/{key}");
        fs::write(&path, value)
            .map_err(|error| Error::failure(format!("the guest's {path}: {error}")))?;
    }
    Ok(())
}

/// Measures a program on a file system.
fn of_files(trial: &Trial, devices: Vec<Device>, control: &Arc<Control>) -> Result<Measured> {
    let mounted =
        Mounted::open(Source::Devices(devices), Path::new(OWN), &Undo::default())?.seeded();
    let noted = Arc::clone(control);
    let mounted = mounted.with_notes(Arc::new(move |number| {
        noted.note(number).map_err(|error| Error::failure(format!("cannot note: {error}")))
    }));
    mounted.admit(trial)?;
    let mut prepared = mounted.prepare(trial)?;
    mark(control, true)?;
    let measured = prepared.measure();
    mark(control, false)?;
    let torn_down = prepared.tear_down();
    measured.and_then(|measured| torn_down.map(|()| measured))
}

/// Measures requests to the volume that the kernel makes of the disks.
fn of_blocks(
    trial: &Trial,
    devices: &[Device],
    control: &Control,
) -> Result<(Measured, Option<u64>)> {
    let Build { make, devices: made, .. } = built(trial, devices)?;
    let site = Site::new(Path::new(OWN), &Undo::default())?;
    let mut shell = site.shell().untimed();
    for step in &make {
        shell.run(step)?;
    }
    let room = machine::write_cache_bytes(&trial.setup)?;
    let caches = Caches::Assumed(room);
    let writes = trial.requests().any(Requests::writes);
    let is_direct = trial.requests().all(|work| work.keys.direct);
    let volume = BlockDevice::open(Path::new(&made[0]), writes, is_direct)?;
    trial.requests().try_for_each(|work| check_work(work, volume.sectors()))?;
    let is_restored = restore::add(trial, &made[0], devices, &mut shell)?;
    let mut commands = shell.take_ran();
    step_behind(&mut shell)?;
    let is_degraded = !trial.setup.volume.failed.is_empty();
    if (writes || is_degraded) && trial.setup.volume.level.has_bitmap() {
        volume.wake()?;
    }
    if is_restored {
        shell.take_ran();
        restore::begin(&made[0], &mut shell)?;
        commands.append(&mut shell.take_ran());
    }
    mark(control, true)?;
    let mut over = || {
        mark(control, false)?;
        let held = control.held_bytes();
        held.map(|held| Caches::Told { room, held })
            .map_err(|error| Error::failure(format!("cannot read what caches hold: {error}")))
    };
    let (mut measured, requests) = volume.measure(trial, caches, &mut over)?;
    if is_restored {
        measured.add_rebuild(restore::share(trial.setup.volume.failed.len())?, None);
    }
    measured.commands = commands;
    Ok((measured, Some(requests)))
}

/// What [`step_behind`] needs.
const STEPS_BEHIND: [Need; 2] =
    [Need::Program("ionice", "util-linux"), Need::Program("chrt", "util-linux")];

/// From now on the kernel's own threads (md's, those that run the queues) go before this program, as they do on a machine
/// where they have another processor: whatever wakes one lets it run before the program sends its next request. Otherwise it
/// would be an accident of how long each has slept. The priority of what it reads and writes stays a program's.
fn step_behind(shell: &mut Shell) -> Result<()> {
    let own = std::process::id().to_string();
    shell.run(&Step::new(["ionice", "--class", "best-effort", "--pid", &own]))?;
    shell.run(&Step::new(["chrt", "--idle", "--pid", "0", &own]))?;
    Ok(())
}

fn mark(control: &Control, begins: bool) -> Result<()> {
    let said = if begins { control.begin() } else { control.end() };
    said.map_err(|error| Error::failure(format!("cannot mark what is measured: {error}")))
}

fn built(trial: &Trial, devices: &[Device]) -> Result<Build> {
    build_volume(&trial.setup.volume, devices, "ileave")
}

/// The members as the guest has them.
fn planned_devices(trial: &Trial) -> Result<Vec<Device>> {
    let sectors = trial.setup.volume.member_sectors()?.into_iter().enumerate();
    Ok(sectors.map(|(number, sectors)| Device { path: name_of(number), sectors }).collect())
}

/// Whether the guest can run the trial, as far as that is known outside.
pub(super) fn admit(trial: &Trial) -> Result<()> {
    let devices = planned_devices(trial)?;
    match trial.setup.files {
        Some(_) => {
            let mounted = Mounted::planned(Source::Devices(devices));
            mounted.admit(trial)?;
            mounted::check_programs(&mounted.needs(trial)?)
        }
        None => {
            let built = built(trial, &devices)?;
            if built.devices.len() > 1 {
                return Err(Error::input(format!(
                    "`volume.level` = {}: btrfs is a file system, not a block device; add `fs.kind` = \"btrfs\" \
                     and work on files, or take a level of md or dm",
                    trial.setup.volume.level
                )));
            }
            mounted::check_programs(&STEPS_BEHIND)?;
            mounted::check_programs(&built.needs)
        }
    }
}

/// Why no guest can build what the trial is to run on.
pub(super) fn impossible(trial: &Trial) -> Option<String> {
    let devices = planned_devices(trial).ok()?;
    if trial.setup.files.is_some() {
        return Mounted::planned(Source::Devices(devices)).impossible(trial);
    }
    let error = built(trial, &devices).err()?;
    // With a chunk that any level takes it is possible; otherwise the whole experiment is wrong.
    let other = Volume { interleave_sectors: CHUNK_SECTORS, ..trial.setup.volume.clone() };
    build_volume(&other, &devices, "ileave").is_ok().then(|| error.to_string())
}

/// The names of the samples that a trial may have.
pub(super) fn samples(trial: &Trial) -> Vec<&'static str> {
    if trial.setup.files.is_none() {
        return Measured::block_samples(trial);
    }
    mounted::samples(trial)
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    #[test]
    fn what_a_level_takes_with_another_chunk_is_impossible_and_what_it_never_takes_is_wrong() {
        let impossible = |level: &str, chunk: &str| {
            let text = format!(
                "volume = {{ drives = \"4x980-pro-1tb\", level = \"{level}\", interleave = \"{chunk}\" }}\n\
                 workload.w = {{ kind = \"random\", block = \"4KiB\", count = 10 }}\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            super::impossible(&plan.trials[0])
        };
        let why = impossible("md-raid5", "96KiB").unwrap();
        assert!(why.contains("powers of two"), "{why}");
        for (level, chunk) in [("md-raid5", "64KiB"), ("md-raid0", "96KiB"), ("raid5", "96KiB")] {
            assert_eq!(impossible(level, chunk), None, "{level} {chunk}");
        }
    }
}
