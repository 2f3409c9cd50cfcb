//! File systems on real volumes: each trial builds its volume, makes and mounts the file system, runs the program and
//! takes all of it down.
//!
//! ```text
//! after_cut what is there after a power cut
//! build     the commands that make a volume of members
//! lacks     what this machine has not that a trial takes
//! recover   what makes the ground ready again after a trial that failed
//! trial     one trial, from its first command to its last
//! ```

mod after_cut;
mod build;
mod lacks;
mod recover;
mod trial;

pub(super) use after_cut::{Cut, Found};
pub use build::{Build, Device, Need, build_volume};

use super::admit::{check_no_log, check_queues};
use super::calibration::{self, Ground};
use super::observed::{health, machine, open_direct, warnings};
use super::site::{Images, Site, Step};
use super::state::{Filled, State, Target};
use super::{Prepared, Rig, Undo};
use crate::capabilities::{Capabilities, Members, RealMember, Uses};
use crate::error::{Error, Result};
use crate::experiment::{Trial, Volume};
use crate::file_system::real::Making;
use crate::workload::Work;
use block::layout::System;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Calibration;

/// The samples of every program, and those that are kept where there is something to tell.
const OF_ALL: [&str; 8] = [
    "elapsed_s",
    "mb_per_s",
    "cpu_busy",
    "busiest_share",
    "members_read_mb",
    "members_written_mb",
    "from_memory_percent",
    "others_mb",
];

/// A chunk that every tool takes: 64 KiB.
pub(super) const CHUNK_SECTORS: u64 = 128;

/// Where the members are from.
pub enum Source {
    /// Images that the run makes for itself.
    Images(Images),
    /// Devices that the guard has let through.
    Devices(Vec<Device>),
}

/// Members, and a site for what is built on them.
pub struct Mounted {
    devices: Vec<Device>,
    /// The images that the devices are over, if they are.
    images: Option<Images>,
    about: Vec<String>,
    /// None where commands are only printed.
    site: Option<Site>,
    warnings: Vec<String>,
    /// What the manifest says of the machine.
    machine: Vec<(String, String)>,
    /// The state that the members are to be in.
    state: Option<State>,
    filled: Filled,
    /// Who is told what programs note.
    notes: Option<Notes>,
    /// ext4's hash seed comes from the trial's seed.
    is_seeded: bool,
}

/// Is told a number that a program notes.
pub(super) type Notes = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// What a trial is made of, all of it commands.
struct Planned {
    /// What brings the members into their state.
    first: Vec<Step>,
    build: Build,
    making: Making,
}

impl Mounted {
    /// Sets up a site in `parent`, with images where those are the members.
    ///
    /// # Errors
    ///
    /// Where images do not fit or cannot be made.
    pub fn open(source: Source, parent: &Path, undo: &Undo) -> Result<Self> {
        if let Source::Images(images) = &source {
            images.check_space()?;
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Error::input(
                "file systems on real volumes take root: losetup, mkfs and mount; run it as root, or measure blocks \
                 alone, without [fs]",
            ));
        }
        lacks::check(&[Need::Program("losetup", "mount"), Need::Program("mount", "mount")])?;
        let site = Site::new(parent, undo)?;
        let (devices, about, images) = match source {
            Source::Images(images) => {
                let paths = images.attach(&site)?;
                (image_devices(&images, paths), image_words(&images), Some(images))
            }
            Source::Devices(devices) => {
                let about = devices.iter().map(|d| format!("device of {} sectors", d.sectors));
                let about = about.collect();
                (devices, about, None)
            }
        };
        let mut machine = machine(&devices);
        machine.extend(health(&devices));
        let warnings = warnings(&devices);
        let planned = Mounted::over(devices, about);
        Ok(Mounted { images, site: Some(site), warnings, machine, ..planned })
    }

    /// The same with nothing set up, for its commands alone.
    pub fn planned(source: Source) -> Self {
        let (devices, about) = match source {
            Source::Images(images) => {
                let paths = (0..images.count).map(|n| PathBuf::from(format!("/dev/IMAGE{n}")));
                (image_devices(&images, paths.collect()), image_words(&images))
            }
            Source::Devices(devices) => {
                let about = devices.iter().map(|_| String::new()).collect();
                (devices, about)
            }
        };
        Mounted::over(devices, about)
    }

    /// Over these members, with nothing set up.
    fn over(devices: Vec<Device>, about: Vec<String>) -> Self {
        Mounted {
            devices,
            images: None,
            about,
            site: None,
            warnings: Vec::new(),
            machine: Vec::new(),
            state: None,
            filled: Filled::default(),
            notes: None,
            is_seeded: false,
        }
    }

    /// The same, whose members are brought into a state first.
    pub(super) fn in_state(self, state: Option<State>) -> Self {
        let Some(known) = state else { return self };
        let (mut warnings, mut machine) = (self.warnings, self.machine);
        warnings.extend(known.doubts(&self.devices));
        machine.push(("state".into(), known.to_string()));
        Mounted { warnings, machine, state, ..self }
    }

    /// Brings the members into their state, where that was not done yet.
    fn fill(&self) -> Result<()> {
        if self.state != Some(State::Steady) {
            return Ok(());
        }
        let opened: Result<Vec<File>> = self.devices.iter().map(open_direct).collect();
        let opened = opened?;
        let target = |(file, device)| Target { file, device };
        let targets: Vec<Target<'_>> = opened.iter().zip(&self.devices).map(target).collect();
        self.filled.fill(self.state, &targets)
    }

    /// The same, where somebody is told what programs note.
    pub(super) fn with_notes(self, notes: Notes) -> Self {
        Mounted { notes: Some(notes), ..self }
    }

    /// The same, with ext4's hash seed from the trial's seed. The guest's own random numbers are the same in every repeat.
    pub(super) fn seeded(self) -> Self {
        Mounted { is_seeded: true, ..self }
    }

    /// What the trial is made of, on as many of the members as its level takes.
    fn plan_of(&self, trial: &Trial) -> Result<Planned> {
        self.plan_on(trial, &trial.setup.volume)
    }

    /// The same on another volume.
    fn plan_on(&self, trial: &Trial, volume: &Volume) -> Result<Planned> {
        let files = trial.setup.files.as_ref().ok_or_else(|| {
            Error::input(format!("`workload.{}` has no file system to use", trial.work.name()))
        })?;
        let name = format!("ileave-{}", std::process::id());
        let build = if files.is_its_own_volume() {
            build::zfs::build(volume.level, &self.devices, &name)?
        } else {
            build_volume(volume, &self.devices, &name)?
        };
        let making = files.on_linux(&build.geometry)?;
        let making = match self.state {
            Some(State::Steady) => making.without_discards(),
            _ => making,
        };
        let making = if self.is_seeded { making.hashing_from(trial.seed) } else { making };
        let first = match self.state {
            Some(State::Fresh) => State::steps(&self.devices),
            _ => Vec::new(),
        };
        Ok(Planned { first, build, making })
    }

    /// What a machine must have for the trial.
    pub(super) fn needs(&self, trial: &Trial) -> Result<Vec<Need>> {
        let Planned { first, build, making } = self.plan_of(trial)?;
        let mut needs = build.needs;
        needs.extend(first.first().map(|_| Need::Program("blkdiscard", "util-linux")));
        let mkfs = making.mkfs.first().map_or("", String::as_str);
        lacks::check_program(mkfs, making.package)?;
        if let Work::Program { program, .. } = &trial.work {
            needs
                .extend(program.live_program().map(|(name, package)| Need::Program(name, package)));
        }
        Ok(needs)
    }

    fn mount_point(&self) -> PathBuf {
        self.site.as_ref().map_or_else(|| PathBuf::from("SITE/mnt"), Site::mount_point)
    }
}

fn image_devices(images: &Images, paths: Vec<PathBuf>) -> Vec<Device> {
    let sectors = images.bytes / block::SECTOR_BYTES;
    let device = |path: PathBuf| Device { path: path.display().to_string(), sectors };
    paths.into_iter().map(device).collect()
}

fn image_words(images: &Images) -> Vec<String> {
    let sectors = images.bytes / block::SECTOR_BYTES;
    vec![format!("image of {sectors} sectors on a loop device"); images.count]
}

impl Rig for Mounted {
    fn name(&self) -> &'static str {
        super::disks::KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        let is_image = self.about.iter().any(|about| about.starts_with("image"));
        let member = |(number, (device, about)): (usize, (&Device, &String))| RealMember {
            // A loop device has another number each time.
            name: if is_image { format!("image{number}") } else { device.path.clone() },
            sectors: device.sectors,
            about: about.clone(),
        };
        let members = self.devices.iter().zip(&self.about).enumerate().map(member).collect();
        Capabilities {
            members: Members::Real { members, failed: Vec::new() },
            uses: Uses::Files,
            ..(super::disks::KIND.capabilities)()
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
        check_no_log(&trial.setup)?;
        if let Some(other) = trial.beside.first() {
            return Err(Error::input(format!(
                "`workload.{}` and `workload.{}` are of one group, but of programs that use files one runs at a \
                 time; leave out the group",
                trial.work.name(),
                other.name()
            )));
        }
        self.plan_of(trial)?;
        let Work::Program { name, kind, program } = &trial.work else {
            return Err(Error::input(format!(
                "`workload.{}` makes requests to the volume, which has a file system",
                trial.work.name()
            )));
        };
        if program.live_samples().is_empty() {
            return Err(Error::input(format!(
                "`workload.{name}`: `kind` = {} runs on modelled file systems only; take untar, touch, spool, \
                 mail, iozone, log, nfs, fio or command",
                kind.name
            )));
        }
        let volume = &trial.setup.volume;
        let is_md = volume.level.is_of(System::Md)
            && volume.level.nested().is_none()
            && volume.controller.is_none();
        if program.cuts().is_some_and(|cuts| cuts.lose_member) && !is_md {
            return Err(Error::input(format!(
                "`workload.{name}.loses_member`: no command puts `volume.level` = {} together without a member; take a level \
                 of md that is one array, over drives of its own",
                volume.level
            )));
        }
        if self.site.is_none() {
            return Ok(());
        }
        // A guest's kernel is told of them.
        if self.notes.is_none() {
            check_queues(volume)?;
        }
        if program.cuts().is_some() && self.notes.is_none() {
            return Err(Error::input(format!(
                "`workload.{name}`: `kind` = {} cuts the power of a kernel in virtual time; run it with `--on kernel`",
                kind.name
            )));
        }
        lacks::check(&self.needs(trial)?)?;
        let files = trial.setup.files.as_ref();
        files.map_or(Ok(()), |_| lacks::check_file_system(self.plan_of(trial)?.making.kind))
    }

    fn impossible(&self, trial: &Trial) -> Option<String> {
        let error = self.plan_of(trial).err()?;
        // A cell is impossible if another chunk would make it possible or, where levels are crossed with file systems and
        // this is a profile of btrfs, a level that any file system takes. Otherwise the whole experiment is wrong.
        let volume = &trial.setup.volume;
        let chunk = Volume { interleave_sectors: CHUNK_SECTORS, ..volume.clone() };
        let is_varied = |key: &str| trial.cell.at.iter().any(|(path, _)| path.ends_with(key));
        let is_crossed = is_varied("volume.level") && is_varied("fs.kind");
        let is_profile = volume.level.is_of(System::Btrfs);
        let level = "md-stripe".parse().ok().filter(|_| is_profile && is_crossed);
        let level = level.map(|level| Volume { level, ..chunk.clone() });
        let mut others = std::iter::once(chunk).chain(level);
        others.any(|other| self.plan_on(trial, &other).is_ok()).then(|| error.to_string())
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        samples(trial)
    }

    fn commands(&self, trial: &Trial) -> Result<Vec<String>> {
        let planned = self.plan_of(trial)?;
        Ok(trial::commands(&planned, &self.mount_point(), &self.devices))
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let site = self.site.as_ref().ok_or_else(|| Error::failure("nothing was set up"))?;
        self.fill()?;
        let planned = self.plan_of(trial)?;
        trial::prepare(trial, planned, site, &self.devices, self.notes.clone())
    }

    fn calibrate(&self) -> Result<Option<Calibration>> {
        if self.site.is_none() {
            return Ok(None);
        }
        self.fill()?;
        let opened: Result<Vec<File>> = self.devices.iter().map(open_direct).collect();
        let files = opened?;
        let mut ground = Vec::new();
        for (Device { path, sectors }, file) in self.devices.iter().zip(&files) {
            let bytes = sectors * block::SECTOR_BYTES;
            ground.push(Ground { name: path.clone(), file, bytes, writes: true });
        }
        let took = calibration::run(&ground)?;
        let told = health(&self.devices).into_iter().chain(self.filled.told()).collect();
        Ok(took.map(|took_s| Calibration { took_s, told }))
    }

    fn after_failure(&self, trial: &Trial, error: Error) -> Result<Error> {
        let (Some(site), Ok(planned)) = (&self.site, self.plan_of(trial)) else {
            return Err(error);
        };
        match recover::recover(site, &planned.build, &self.devices, self.images.as_ref()) {
            Ok(()) => Ok(error),
            Err(why) => Err(error.followed_by(format!("no other trial can run: {why}"))),
        }
    }
}

/// The names of the samples of a trial's program.
pub(super) fn samples(trial: &Trial) -> Vec<&'static str> {
    let Work::Program { kind, program, .. } = &trial.work else { return Vec::new() };
    in_order(kind.samples, program.live_samples())
}

/// Whether the programs among `needs` are there; drivers are another kernel's.
///
/// # Errors
///
/// Where one is not, with the package that has it.
pub(super) fn check_programs(needs: &[Need]) -> Result<()> {
    let programs = needs.iter().filter(|need| matches!(need, Need::Program(..)));
    lacks::check(&programs.copied().collect::<Vec<_>>())
}

/// The samples of a program on a real file system: in the order of its kind, the others behind.
fn in_order(of_kind: &[&'static str], own: &[&'static str]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = of_kind
        .iter()
        .copied()
        .filter(|name| own.contains(name) || OF_ALL.contains(name))
        .collect();
    names.extend(OF_ALL.iter().filter(|name| !of_kind.contains(name)));
    names
}
