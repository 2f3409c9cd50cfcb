//! From factors to trials: every cell, every repeat, in an order that the seed decides.

use super::about::RunKeys;
use super::bare;
use super::checks::check_keys_apply;
use super::engine::{on_a_real_kernel, sent_by};
use super::fault::{FaultKeys, FaultSetup};
use super::file::{Experiment, Setting};
use super::idle::IdleKeys;
use super::lasting::lasting;
use super::page_cache::{PageCache, cached};
use super::queues::check_requests;
use super::repeats::{Repeats, TRIALS_MAX};
use super::same_as;
use super::seeds::{mixed, shuffle};
use super::trial::{Cell, Setup, Trial};
use super::volume::{InUse, Member, Sorts, Volume, VolumeKeys};
use crate::capabilities::{Capabilities, Members};
use crate::catalogue::{self, Drive, DriveKeys, Host, HostKeys, KnownDrive, KnownHost};
use crate::error::{Error, Result};
use crate::file_system;
use crate::keys::{Section, Value};
use crate::machine::{REQUEST_SECTORS, bio_sectors};
use crate::workload::{Budget, Traces, Trees, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::members::{MemberSpec, stated_failed};

/// All trials of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order in which they run.
    pub trials: Vec<Trial>,
    /// The modelled drives that take part, by the names that the experiment gives them.
    pub drives: BTreeMap<String, KnownDrive>,
    /// The real members that take part, and how each is accessed.
    pub members: BTreeMap<String, String>,
    /// The hosts that take part, by catalogue name.
    pub hosts: BTreeMap<String, KnownHost>,
    /// The RAID controllers that take part, likewise.
    pub controllers: BTreeMap<String, KnownHost>,
    /// The trees that are unpacked, likewise, with the digest of each file.
    pub trees: BTreeMap<String, String>,
    /// The traces that are replayed, by their files, with the digest of each.
    pub traces: BTreeMap<String, String>,
    /// What in the experiment means nothing where it runs, or makes no difference.
    pub warnings: Vec<String>,
    /// Keys of the drives that may change nothing.
    idle: IdleKeys,
}

impl Plan {
    /// The trials of `experiment` where everything is modelled.
    ///
    /// # Errors
    ///
    /// Where a drive or host is not known, or a cell makes no sense; the message names the key.
    pub fn new(experiment: &Experiment) -> Result<Self> {
        let repeats = Repeats::stated(&experiment.run());
        let plan = Plan::build(experiment, &Members::Modelled, true, repeats)?;
        plan.idle.check(|path| experiment.place(path))?;
        Ok(plan)
    }

    /// The trials of `experiment` on a rig that can do what `can` says. Each key that means nothing there
    /// is a warning.
    ///
    /// # Errors
    ///
    /// Where such a key is varied, or a cell makes no sense; the message names the key.
    pub fn on(experiment: &Experiment, can: &Capabilities) -> Result<Self> {
        let plan = Plan::of_part(experiment, can)?;
        plan.idle.check(|path| experiment.place(path))?;
        Ok(plan)
    }

    /// The same of a part of an experiment, of which other parts may use what this one does not.
    ///
    /// # Errors
    ///
    /// As [`Plan::on`].
    pub fn of_part(experiment: &Experiment, can: &Capabilities) -> Result<Self> {
        let origin = &experiment.origin;
        let mut warnings = Vec::new();
        for (path, setting) in experiment.settings().iter().filter(|(path, _)| can.ignores(path)) {
            // For one workload alone, too.
            let is_none = |value: &Value| stated_failed(&value.to_string()).is_empty();
            if path.ends_with("volume.failed") && setting.values.iter().all(is_none) {
                continue;
            }
            if path.ends_with("volume.failed") || path.ends_with("volume.rebuild") {
                return Err(Error::input(format!(
                    "{origin}: `{path}` is for modelled members; take it out, and say which real members \
                     are down by `--failed`"
                )));
            }
            if path.contains("fault.") {
                return Err(Error::input(format!(
                    "{origin}: `{path}`: nothing is made to go wrong with real members; take it out, or give \
                     `--on kernel`"
                )));
            }
            if path.ends_with(".engine") {
                warnings.push(on_a_real_kernel(origin, path, &setting.values)?);
                continue;
            }
            if setting.values.len() > 1 {
                return Err(Error::input(format!(
                    "{origin}: `{path}` is varied, but only modelled drives have it; remove the list (`--set \
                     {path}={}`) or leave out `--on`",
                    setting.values[0]
                )));
            }
            if !path.ends_with("volume.drives") {
                warnings.push(format!("{origin}: `{path}` is ignored: only the simulator uses it"));
            }
        }
        let meant = experiment.without(|path| can.ignores(path));
        let repeats = Repeats::on(&meant, can);
        let mut plan = Plan::build(&meant, &can.members, can.host_is_modelled, repeats)?;
        warnings.append(&mut plan.warnings);
        Ok(Plan { warnings, ..plan })
    }

    /// Whether its programs use files.
    pub fn uses_files(&self) -> bool {
        self.trials.iter().any(|trial| trial.setup.files.is_some())
    }

    fn build(
        experiment: &Experiment,
        members: &Members,
        host_is_modelled: bool,
        repeats: Repeats,
    ) -> Result<Self> {
        let run = experiment.run();
        let budget = budget(&run, members);
        let cells = cells(experiment)?;
        let mut plan = Plan {
            trials: Vec::new(),
            drives: BTreeMap::new(),
            members: described(members),
            hosts: BTreeMap::new(),
            controllers: BTreeMap::new(),
            trees: BTreeMap::new(),
            traces: BTreeMap::new(),
            warnings: [idle_interleaves(experiment, &cells), bare::warnings(experiment)].concat(),
            idle: IdleKeys::default(),
        };
        let mut trees = Trees::new(&experiment.origin);
        let mut traces = Traces::default();
        let mut setups: BTreeMap<BTreeMap<String, Value>, Arc<Setup>> = BTreeMap::new();
        let mut firsts = Vec::with_capacity(cells.len());
        for (cell, workloads, values) in cells {
            // Cells that differ only in their workloads run on the same.
            let mut shared = values.clone();
            shared.retain(|path, _| !path.starts_with("workload."));
            let setup = match setups.get(&shared) {
                Some(setup) => Arc::clone(setup),
                None => {
                    let setup = plan.setup(&experiment.origin, &values, members)?;
                    let setup = Arc::new(setup);
                    setups.insert(shared, Arc::clone(&setup));
                    setup
                }
            };
            let works: Result<Vec<Work>> = workloads
                .iter()
                .map(|name| {
                    let section = Section::new(&values, &format!("workload.{name}"));
                    Work::read(name, &section, &mut trees, &mut traces)
                })
                .collect();
            let mut beside = works.map_err(|error| error.context(&experiment.origin))?;
            for work in &mut beside {
                work.limit(budget);
            }
            let setup = lasting(cached(setup, &beside), &beside);
            let setup = sent_by(&experiment.origin, setup, &beside, &mut plan.warnings)?;
            let work = beside.remove(0);
            firsts.push(Trial {
                number: 0,
                repeat: 0,
                seed: 0,
                cell,
                setup,
                work,
                beside,
                precision: run.precision.share(),
            });
        }
        plan.add_all(firsts, &run, repeats).map_err(|error| error.context(&experiment.origin))?;
        plan.tell_idle(experiment);
        plan.warnings.append(&mut trees.warnings);
        plan.trees = trees.digests;
        let told = traces.warnings.iter().map(|told| format!("{}: {told}", experiment.origin));
        plan.warnings.extend(told);
        plan.traces = traces.digests;
        if !host_is_modelled {
            plan.hosts.clear();
        }
        shuffle(&mut plan.trials, run.seed);
        for (number, trial) in plan.trials.iter_mut().enumerate() {
            trial.number = number;
        }
        Ok(plan)
    }

    /// Warns of what has no effect in some cells.
    fn tell_idle(&mut self, experiment: &Experiment) {
        self.warnings.extend(self.idle.warnings(&experiment.origin, &self.trials));
    }

    /// Adds the trials of all cells, each as often as `repeats` says of them.
    fn add_all(&mut self, firsts: Vec<Trial>, run: &RunKeys, repeats: Repeats) -> Result<()> {
        let repeats = repeats.of(&firsts)?;
        firsts.into_iter().try_for_each(|trial| self.add(trial, run, repeats))
    }

    /// Adds the trials of a cell: its repeats, each with all windows of a trace.
    fn add(&mut self, mut trial: Trial, run: &RunKeys, repeats: u64) -> Result<()> {
        let parts = trial.work.clone().parts();
        if parts.len() > 1 && run.compare_within.is_some() {
            return Err(Error::input(
                "`windows` of a trace does not go with `run.compare_within`: windows are not repeats; leave one out",
            ));
        }
        for repeat in 0..repeats {
            trial.repeat = repeat;
            trial.seed = mixed(run.seed, trial.cell.workload_index as u64, repeat);
            let trials = parts.iter().map(|work| Trial { work: work.clone(), ..trial.clone() });
            self.trials.extend(trials);
        }
        if self.trials.len() as u64 > TRIALS_MAX {
            return Err(Error::input(format!(
                "with the `windows` of its traces it has more than {TRIALS_MAX} trials; take fewer"
            )));
        }
        Ok(())
    }

    /// What a cell with these values runs on.
    fn setup(
        &mut self,
        origin: &str,
        values: &BTreeMap<String, Value>,
        members: &Members,
    ) -> Result<Setup> {
        let host = modelled_host(origin, values)?;
        self.hosts.insert(host.name.clone(), KnownHost::from(&host));
        let files = file_system::read(&Section::new(values, "fs"));
        let is_linuxs = files.as_ref().map(|files| files.is_modelled_on_linux());
        let sorts = match (host.elevator, is_linuxs) {
            (Some(_), _) | (None, Some(false)) => Sorts::Host,
            (None, Some(true)) => Sorts::Linux,
            (None, None) => Sorts::LinuxOfToday,
        };
        let mut volume = self.volume(origin, values, members, sorts)?;
        check_requests(origin, &volume)?;
        let mut log = self.log(origin, values, &volume)?;
        for each in std::iter::once(&mut volume).chain(&mut log) {
            each.bio_sectors = bio_sectors(&host, each);
        }
        let fault = FaultSetup::of(FaultKeys::read(&Section::new(values, "fault")));
        Ok(Setup { host, volume, log, files, fault, engine: None })
    }

    fn volume(
        &mut self,
        origin: &str,
        values: &BTreeMap<String, Value>,
        members: &Members,
        sorts: Sorts,
    ) -> Result<Volume> {
        let keys = VolumeKeys::read(&Section::new(values, "volume"));
        let controller = match keys.controller() {
            None => None,
            Some(name) => {
                let found = catalogue::controller(name)
                    .map_err(|error| error.context(format!("{origin}: `volume.controller`")))?;
                if keys.level.nested().is_some() {
                    return Err(Error::input(format!(
                        "{origin}: `volume.controller` = {name}: no controller runs arrays side by side here; take another \
                         `volume.level` than {}, or leave the controller out",
                        keys.level
                    )));
                }
                self.controllers.insert(found.name.clone(), KnownHost::from(&found));
                Some(found)
            }
        };
        let (members, failed) = match members {
            Members::Modelled => {
                let drives =
                    self.modelled_members(origin, "drives", keys.members(origin)?, values)?;
                let failed = keys.failed(origin, drives.len())?;
                (drives, failed)
            }
            Members::Real { members, failed } => {
                (members.iter().map(Member::from).collect(), failed.clone())
            }
        };
        let [volume_outstanding, member_outstanding] = keys.in_flight();
        Ok(Volume {
            stripe_cache_rows: keys.stripe_cache_rows,
            scheduler: keys.scheduler(origin)?,
            nr_requests: keys.nr_requests(origin)?,
            read_ahead: keys.read_ahead(origin)?,
            has_bitmap: keys.has_bitmap(origin)?,
            region_sectors: keys.region_sectors(origin)?,
            has_ppl: keys.has_ppl(origin)?,
            write_mostly: keys.write_mostly(origin, members.len(), &failed)?,
            page_cache: PageCache::default(),
            volume_outstanding,
            member_outstanding,
            controller,
            is_on_linux: keys.is_on_linux(&members, sorts),
            bio_sectors: REQUEST_SECTORS,
            in_use: InUse::default(),
            level: keys.level,
            interleave_sectors: keys.interleave_sectors,
            failed,
            rebuild_bytes_per_s: keys.rebuild_bytes_per_s,
            restored_sectors: 0,
            members,
        })
    }

    /// The volume of a log beside `volume`, where it has one.
    fn log(
        &mut self,
        origin: &str,
        values: &BTreeMap<String, Value>,
        volume: &Volume,
    ) -> Result<Option<Volume>> {
        let specs = VolumeKeys::read(&Section::new(values, "volume")).log_members(origin)?;
        if specs.is_empty() {
            return Ok(None);
        }
        let members = self.modelled_members(origin, "log_drives", specs, values)?;
        Ok(Some(volume.of_log(members)))
    }

    /// The drives of `specs`, which the volume's `key` names, each read once, with what the keys of `drive` change of them.
    fn modelled_members(
        &mut self,
        origin: &str,
        key: &str,
        specs: Vec<MemberSpec>,
        values: &BTreeMap<String, Value>,
    ) -> Result<Vec<Member>> {
        let keys = &DriveKeys::read(&Section::new(values, "drive"));
        let mut known: BTreeMap<String, Arc<Drive>> = BTreeMap::new();
        let mut members = Vec::with_capacity(specs.len());
        for MemberSpec { drive: name, sectors } in specs {
            if !known.contains_key(&name) {
                let drive = catalogue::drive(&name)
                    .map_err(|error| error.context(format!("{origin}: `volume.{key}`")))?;
                self.drives.insert(name.clone(), KnownDrive::from(&drive));
                let drive = changed_drive(origin, drive, keys)?;
                self.idle.note(&drive, keys, values);
                known.insert(name.clone(), Arc::new(drive));
            }
            let member = Member::modelled(Arc::clone(&known[&name]), sectors);
            members
                .push(member.map_err(|error| error.context(format!("{origin}: `volume.{key}`")))?);
        }
        Ok(members)
    }
}

/// How far requests go at most that have no end of their own: a modelled hour costs seconds.
fn budget(run: &RunKeys, members: &Members) -> Budget {
    let runtime_ns = match members {
        Members::Modelled => 3_600_000_000_000,
        Members::Real { .. } => 300_000_000_000,
    };
    Budget { requests: run.budget_requests, runtime_ns: run.budget_ns.unwrap_or(runtime_ns) }
}

/// The drive with what `keys` change of it.
fn changed_drive(origin: &str, drive: Drive, keys: &DriveKeys) -> Result<Drive> {
    let drive = drive.with(keys);
    let switched = [
        ("write_cache", keys.write_cache),
        ("read_ahead", keys.read_ahead),
        ("zero_latency", keys.zero_latency),
    ];
    let switched: Vec<String> = switched
        .into_iter()
        .filter(|(_, switch)| switch.is_some())
        .map(|(key, _)| format!("`drive.{key}`"))
        .collect();
    // Only those can make it no drive any more.
    if !switched.is_empty() {
        let at = format!("{origin}: {}", switched.join(", "));
        drive.check().map_err(|error| error.context(at))?;
    }
    Ok(drive)
}

/// The host that these values name, with what they change of it.
fn modelled_host(origin: &str, values: &BTreeMap<String, Value>) -> Result<Host> {
    let keys = HostKeys::read(&Section::new(values, "host"));
    let host = catalogue::host(&keys.name)
        .map_err(|error| error.context(format!("{origin}: `host.name`")))?
        .with(&keys);
    let idle = keys.queue_outstanding.is_some() && host.elevator.is_none();
    let has_files = ["fs.newfs", "fs.kind"].iter().any(|key| values.contains_key(*key));
    if idle && !has_files {
        return Err(Error::input(format!(
            "{origin}: `host.queue_outstanding` has no effect without an I/O scheduler; set \
             `host.elevator`, too"
        )));
    }
    Ok(host)
}

/// The real members for the manifest: what each is and how it is accessed.
fn described(members: &Members) -> BTreeMap<String, String> {
    match members {
        Members::Modelled => BTreeMap::new(),
        Members::Real { members, .. } => (0..)
            .zip(members)
            .map(|(index, member): (usize, _)| {
                (format!("{index}: {}", member.name), member.about.clone())
            })
            .collect(),
    }
}

/// A warning for each level that is tried with several interleaves and has none.
fn idle_interleaves(experiment: &Experiment, cells: &[CellValues]) -> Vec<String> {
    let mut tried: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (_, _, values) in cells {
        let keys = VolumeKeys::read(&Section::new(values, "volume"));
        if !keys.level.interleaved() {
            tried.entry(keys.level.name).or_default().insert(keys.interleave_sectors);
        }
    }
    tried.retain(|_, tried| tried.len() > 1);
    let warning = |(level, tried): (&str, BTreeSet<u64>)| {
        format!(
            "{}: `volume.interleave` has {} values and no effect on `volume.level` = {level}: those \
             cells are all alike",
            experiment.origin,
            tried.len()
        )
    };
    tried.into_iter().map(warning).collect()
}

/// A cell, the workloads that run in it, and the values of the keys that are set.
type CellValues = (Cell, Vec<String>, BTreeMap<String, Value>);

/// Every cell with the values of the keys that are set.
fn cells(experiment: &Experiment) -> Result<Vec<CellValues>> {
    same_as::check(experiment)?;
    let mut cells = Vec::new();
    let repeats = experiment.run().stated_repeats();
    let mut trials = 0_u64;
    for (workload_index, (workload, members)) in experiment.groups().into_iter().enumerate() {
        let settings = experiment.settings_of(&members)?;
        check_keys_apply(experiment, &members, &settings)?;
        let factors: Vec<(&String, &Setting)> = settings
            .iter()
            .filter(|(_, setting)| setting.factor)
            .map(|(path, setting)| (path, *setting))
            .collect();
        let count = factors.iter().try_fold(1_u64, |product, (_, setting)| {
            product.checked_mul(setting.values.len() as u64)
        });
        let all = count.and_then(|count| trials.checked_add(count.checked_mul(repeats)?));
        let (Some(count), Some(all @ ..=TRIALS_MAX)) = (count, all) else {
            return Err(Error::input(format!(
                "{}: with the factors of workload `{workload}` and `run.repeats` = {repeats} there are \
                 more than {TRIALS_MAX} trials; take fewer values of some",
                experiment.origin
            )));
        };
        trials = all;
        let first =
            settings.iter().map(|(path, setting)| (path.clone(), setting.values[0].clone()));
        let first: BTreeMap<String, Value> = first.collect();
        for index in 0..count {
            let mut left = index;
            let mut at: Vec<(String, Value)> = Vec::with_capacity(factors.len());
            for (path, setting) in factors.iter().rev() {
                let size = setting.values.len() as u64;
                at.push(((*path).clone(), setting.values[(left % size) as usize].clone()));
                left /= size;
            }
            at.reverse();
            let mut values = first.clone();
            values.extend(at.iter().cloned());
            let cell = Cell { workload_index, workload: workload.clone(), at };
            cells.push((cell, members.clone(), values));
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::RealMember;

    /// A rig of one real member.
    fn real() -> Capabilities {
        let member = RealMember { name: "a".into(), sectors: 2048, about: "file".into() };
        Capabilities {
            members: Members::Real { members: vec![member], failed: Vec::new() },
            host_is_modelled: false,
            ..Capabilities::modelled(1)
        }
    }

    fn drive_of(plan: &Plan) -> &Drive {
        match &plan.trials[0].setup.volume.members[0] {
            Member::Modelled { drive, .. } => drive,
            Member::Real { .. } => panic!("it is modelled"),
        }
    }

    const BASE: &str = "[volume]\ndrives = \"2xst118273lc\"\n";

    fn plan(text: &str) -> Result<Plan> {
        Plan::new(&Experiment::parse("x.toml", &format!("{BASE}{text}"))?)
    }

    #[test]
    fn read_ahead_is_of_a_device_that_linux_makes() {
        let plan = |volume: &str| {
            let text = format!(
                "[volume]\ndrives = \"4xwd740gd\"\n{volume}\n[workload.w]\nkind = \"sequential\"\ndirect = false"
            );
            Plan::new(&Experiment::parse("some.toml", &text)?)
        };
        let ahead = |volume: &str| {
            let plan = plan(volume).unwrap();
            let volume = &plan.trials[0].setup.volume;
            assert_eq!(volume.page_cache, PageCache { is_read: true, is_written: false });
            crate::machine::read_ahead_sectors(volume) / 2
        };
        // Twice the stripe, and 128 KiB at least.
        assert_eq!(ahead("level = 'md-raid5'\ninterleave = '512KiB'"), 3072);
        assert_eq!(ahead("level = 'md-mirror'"), 128);
        assert_eq!(ahead("level = 'md-raid5'\nread_ahead = '4MiB'"), 4096);
        for volume in ["level = 'raid5'", "level = 'btrfs-raid1'"] {
            let refused = plan(&format!("{volume}\nread_ahead = '1MiB'")).unwrap_err().to_string();
            assert!(refused.contains("some.toml: `volume.read_ahead`"), "{refused}");
        }
        let odd = plan("level = 'md-raid5'\nread_ahead = '1001'").unwrap_err().to_string();
        assert!(odd.contains("4MiB"), "{odd}");
    }

    #[test]
    fn members_fail_once_each_or_none_does() {
        let failed = |failed: &str| {
            let text = format!(
                "[volume]\ndrives = '4xwd740gd'\nlevel = 'md-raid6'\nfailed = '{failed}'\n[workload.a]\ncount = 9\n"
            );
            let plan = Plan::new(&Experiment::parse("t.toml", &text).unwrap());
            plan.map(|plan| plan.trials[0].setup.volume.failed.clone())
                .map_err(|error| error.to_string())
        };
        assert_eq!(failed("none").unwrap(), [0; 0]);
        assert_eq!(failed("0+3").unwrap(), [0, 3]);
        assert!(
            failed("3+0+3").unwrap_err().contains("`volume.failed`: member 3 stands there twice")
        );
        assert!(failed("4").unwrap_err().contains("from 0 to 3"));
    }

    #[test]
    fn a_scheduler_is_linuxs_to_have() {
        let plan = |volume: &str| {
            let text = format!(
                "[volume]\n{volume}\nscheduler = \"none\"\n[workload.w]\nkind = \"random\""
            );
            Plan::new(&Experiment::parse("some.toml", &text).unwrap())
        };
        assert!(plan("drives = \"4xwd740gd\"\nlevel = \"md-raid5\"").is_ok());
        assert!(plan("drives = \"wd740gd\"\nlevel = \"single\"").is_ok());
        let refused = plan("drives = \"4xwd740gd\"\nlevel = \"stripe\"").unwrap_err().to_string();
        assert!(refused.contains("some.toml: `volume.scheduler` = none"), "{refused}");
        assert!(refused.contains("set `host.elevator`"), "{refused}");
    }

    /// Linux refuses what its queues cannot hold, and so does a plan, whatever the scheduler.
    #[test]
    fn queues_hold_what_linux_lets_them() {
        let plan = |volume: &str| {
            let text = format!("[volume]\n{volume}\n[workload.w]\nkind = \"random\"");
            Plan::new(&Experiment::parse("some.toml", &text).unwrap())
        };
        let held = |volume: &str| plan(volume).unwrap().trials[0].setup.volume.nr_requests;
        let disks = "drives = \"4xst18000nm000j\"\nlevel = \"md-raid5\"";
        assert_eq!(held(disks), None);
        assert_eq!(held(&format!("{disks}\nnr_requests = 1024")), Some(1024));
        let refused = |volume: &str| plan(volume).unwrap_err().to_string();
        let most = refused(&format!("{disks}\nscheduler = \"none\"\nnr_requests = 64"));
        assert!(most.contains("what the drive takes, here 32;"), "{most}");
        let not_linuxs = refused("drives = \"2xwd740gd\"\nlevel = \"stripe\"\nnr_requests = 64");
        assert!(
            not_linuxs.contains("some.toml: `volume.nr_requests` is of Linux's queues"),
            "{not_linuxs}"
        );
    }

    /// Linux's queues are in front of one drive of today, and of an older disk only where its scheduler is named.
    #[test]
    fn one_drive_of_today_is_behind_linuxs_queues() {
        let is_on_linux = |volume: &str| {
            let text = format!("[volume]\n{volume}\n[workload.w]\nkind = \"random\"");
            let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
            plan.trials[0].setup.volume.is_on_linux
        };
        for drive in ["980-pro-1tb", "ebs-gp3", "st18000nm000j", "md-hdd"] {
            assert!(is_on_linux(&format!("drives = \"{drive}\"\nlevel = \"single\"")), "{drive}");
        }
        assert!(!is_on_linux("drives = \"wd740gd\"\nlevel = \"single\""));
        assert!(is_on_linux("drives = \"wd740gd\"\nlevel = \"single\"\nscheduler = \"none\""));
        assert!(!is_on_linux("drives = \"2x980-pro-1tb\"\nlevel = \"stripe\""));
        // A host that sorts is another system, and a log is on the system of its volume.
        assert!(!is_on_linux(
            "drives = \"980-pro-1tb\"\nlevel = \"single\"\n[host]\nelevator = \"c-look\""
        ));
        for (level, is_linuxs) in [("md-stripe", true), ("stripe", false)] {
            let text = format!(
                "volume = {{ drives = \"2xwd740gd\", level = \"{level}\", log_drives = \"1x980-pro-1tb\" }}\n\
                 workload.w = {{ kind = \"sequential\", op = \"write\", to_log = true }}"
            );
            let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
            assert_eq!(
                plan.trials[0].setup.log.as_ref().unwrap().is_on_linux,
                is_linuxs,
                "{level}"
            );
        }
    }

    /// Ten thousand repeats of four factors of ten values are no plan, nor is one of two workloads that
    /// each have half of too many.
    #[test]
    fn the_limit_counts_trials_not_cells() {
        let message = |text: &str| plan(text).unwrap_err().to_string();
        let text = "[workload.a]\ncount = [1, 2]\n[run]\nrepeats = 10000\n";
        assert_eq!(plan(text).unwrap().trials.len(), 20_000);
        let values: Vec<String> = (1..=101).map(|value| value.to_string()).collect();
        let many = text.replace("[1, 2]", &format!("[{}]", values.join(", ")));
        assert!(message(&many).contains("more than 1000000 trials"), "{}", message(&many));
        let half = text.replace("[1, 2]", &format!("[{}]", values[..51].join(", ")));
        let two = half.clone()
            + &half.replace("workload.a", "workload.b").replace("[run]\nrepeats = 10000\n", "");
        assert!(message(&two).contains("factors of workload `b`"), "{}", message(&two));
    }

    #[test]
    fn cells_that_differ_only_in_their_workloads_share_a_setup() {
        let plan =
            plan("interleave = [8, 16]\n[workload.a]\ncount = [1, 2]\n[workload.b]\n").unwrap();
        let mut setups: Vec<_> =
            plan.trials.iter().map(|trial| Arc::as_ptr(&trial.setup)).collect();
        setups.sort_unstable();
        setups.dedup();
        assert_eq!((plan.trials.len(), setups.len()), (6, 2));
    }

    #[test]
    fn a_drive_that_cannot_be_as_it_is_set_is_blamed_on_the_key() {
        let drives = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/cdc-9720.toml");
        let text = std::fs::read_to_string(drives).unwrap();
        let no_buffer = |line: &&str| !line.starts_with("segment_") && !line.starts_with("buffer_");
        let text: Vec<&str> = text.lines().filter(no_buffer).collect();
        let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::io::Write::write_all(&mut file, text.join("\n").as_bytes()).unwrap();
        let plan = |cache: bool| {
            let text = format!(
                "[volume]\ndrives = \"{}\"\n[drive]\nwrite_cache = {cache}\n[workload.a]\n",
                file.path().display()
            );
            Plan::new(&Experiment::parse("x.toml", &text).unwrap())
        };
        let message = plan(true).unwrap_err().to_string();
        assert!(message.contains("x.toml: `drive.write_cache`: "), "{message}");
        assert!(plan(false).is_ok());
    }

    #[test]
    fn queues_that_have_nothing_to_choose_among_say_so() {
        let drive = "level = \"concat\"\n[drive]\nqueue_discipline = \"sptf\"\n[workload.a]\n";
        let warnings = plan(drive).unwrap().warnings;
        assert!(warnings[0].contains("has no effect on st118273lc, which queues no commands"));
        let deep = plan(&drive.replace("[w", "queue_depth = 8\n[w")).unwrap();
        assert_eq!((deep.warnings.len(), drive_of(&deep).queue_depth()), (0, 8));
        let host = "[host]\nqueue_outstanding = 2\n[workload.a]\n";
        let message = plan(host).unwrap_err().to_string();
        assert!(
            message.contains("`host.queue_outstanding` has no effect without an I/O scheduler")
        );
        let sorted = plan(&host.replace("[w", "elevator = \"c-look\"\n[w")).unwrap();
        let host = &sorted.trials[0].setup.host;
        assert_eq!((host.elevator, host.queue_outstanding), (Some(sim::Order::CLook), Some(2)));
    }

    #[test]
    fn keys_that_a_drive_does_not_take_say_so() {
        let planned = |drives: &str, keys: &str| {
            let text = format!(
                "[volume]\ndrives = {drives}\nlevel = \"concat\"\n[drive]\n{keys}\n[workload.a]\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap());
            plan.map(|plan| plan.warnings).map_err(|error| error.to_string())
        };
        let (disk, flash) = ("\"st118273lc\"", "\"980-pro-1tb\"");
        let of_disk = planned(disk, "state = \"steady\"").unwrap_err();
        let said = "x.toml:5: `drive.state`: st118273lc is of the class `disk`, which has no key `state`; these have: flash. ";
        assert!(of_disk.starts_with(said), "{of_disk}");
        assert_eq!(planned(flash, "state = \"steady\""), Ok(vec![]));
        for key in ["write_cache = false", "read_ahead = true", "zero_latency = true"] {
            assert_eq!(planned(disk, key), Ok(vec![]));
            let of_flash = planned(flash, key).unwrap_err();
            assert!(of_flash.contains("980-pro-1tb is of the class `flash`"), "{of_flash}");
        }
        let sptf = planned(flash, "queue_discipline = \"sptf\"").unwrap_err();
        assert!(sptf.contains("has no key `queue_discipline`; these have: disk"), "{sptf}");
        // Each drive that is tried is looked at; one that has the key is what the sweep is for.
        let swept = planned(&format!("[{disk}, {flash}]"), "state = \"fresh\"").unwrap();
        let said = "x.toml: `drive.state` has no effect on st118273lc, of the class `disk`; these have it: flash";
        assert_eq!(swept, [said]);
    }

    #[test]
    fn queues_that_are_modelled_cannot_be_varied_on_real_members() {
        let on_real = |volume: &str| {
            let text = format!("[volume]\n{volume}\n[workload.a]\n");
            Plan::on(&Experiment::parse("x.toml", &text).unwrap(), &real())
        };
        for key in ["outstanding", "member_outstanding"] {
            let message = on_real(&format!("{key} = [1, 2]")).unwrap_err().to_string();
            assert!(
                message.contains(&format!(
                    "`volume.{key}` is varied, but only modelled drives have it"
                ))
            );
            let warnings = on_real(&format!("{key} = 1")).unwrap().warnings;
            assert!(warnings[0].contains(&format!("`volume.{key}` is ignored")), "{warnings:?}");
        }
    }

    #[test]
    fn raidframe_has_six_requests_under_way_unless_told_otherwise() {
        let queues = |volume: &str| {
            let plan = plan(&format!("{volume}\n[workload.a]\n")).unwrap();
            let volume = &plan.trials[0].setup.volume;
            (volume.volume_outstanding, volume.member_outstanding)
        };
        assert_eq!(queues("level = \"raidframe-mirror\""), (Some(6), Some(100)));
        assert_eq!(queues("level = \"raidframe-mirror\"\noutstanding = 2"), (Some(2), Some(100)));
        assert_eq!(queues("level = \"mirror\"\nmember_outstanding = 3"), (None, Some(3)));
    }

    #[test]
    fn what_has_failed_is_not_said_of_real_members_by_any_workload() {
        for path in ["volume.failed = '0'", "workload.a.volume.failed = '0'"] {
            let text = format!("{path}\n[workload.b]\n");
            let experiment = Experiment::parse("x.toml", &text).unwrap();
            let said = Plan::on(&experiment, &real()).unwrap_err().to_string();
            let key = path.split(' ').next().unwrap();
            assert!(said.contains(&format!("`{key}` is for modelled members")), "{said}");
            assert!(said.contains("--failed"), "{said}");
        }
        let none = Experiment::parse("x.toml", "volume.failed = 'none'\n[workload.b]\n").unwrap();
        assert!(Plan::on(&none, &real()).unwrap().warnings.is_empty());
    }

    #[test]
    fn a_box_is_a_factor_and_a_name_of_none_is_answered() {
        let plan_of = |text: &str| plan(&format!("{text}\n[workload.a]\n"));
        let plan = plan_of("controller = [\"none\", \"CRD-5500\"]").unwrap();
        let memory =
            |trial: &Trial| trial.setup.volume.controller.as_ref().map(|of| of.memory_sectors);
        let mut memories: Vec<Option<u64>> = plan.trials.iter().map(memory).collect();
        memories.sort_unstable();
        assert_eq!(memories, [None, Some(131_072)]);
        assert!(plan.controllers.keys().eq(["crd-5500"]) && plan.hosts.keys().eq(["ideal"]));
        let message = plan_of("controller = \"crd5501\"").unwrap_err().to_string();
        let wanted = "x.toml: `volume.controller`: no RAID controller is called `crd5501`; did you mean `crd-5500`?";
        assert!(
            message.starts_with(wanted) && message.contains("`ileave controllers`"),
            "{message}"
        );
    }

    /// What was set of it stands in the experiment.
    #[test]
    fn a_drive_is_kept_by_the_name_that_it_is_given_and_as_its_file_says() {
        let text =
            "[volume]\ndrives = \"ST39102LW:1GiB\"\n[drive]\nwrite_cache = false\n[workload.a]\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        assert!(!drive_of(&plan).write_cache());
        let known = &plan.drives["ST39102LW"];
        assert_eq!((known.sectors, known.write_cache), (Some(17_783_240), Some(true)));
        assert!(known.model_error_source.as_ref().unwrap().contains("ileave validate"));
    }

    #[test]
    fn an_interleave_that_is_varied_for_nothing_is_a_warning() {
        let warnings = |level: &str| {
            plan(&format!("interleave = [8, 16]\nlevel = {level}\n[workload.a]\n"))
                .unwrap()
                .warnings
        };
        assert_eq!(warnings("\"stripe\""), Vec::<String>::new());
        let concat = warnings("[\"stripe\", \"concat\"]");
        assert!(concat[0].contains("2 values and no effect on `volume.level` = concat"));
    }
}
