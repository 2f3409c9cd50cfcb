//! From factors to trials: every cell, every repeat, in an order that the seed decides.

use super::file::{Experiment, Setting};
use super::files::{FilesSetup, check_idle};
use super::keys::Value;
use super::seeds::{mixed, shuffle};
use super::trees::Trees;
use super::volume::{Member, Volume};
use super::work::Work;
use crate::capabilities::{Capabilities, Members};
use crate::catalogue::{self, Drive, Host, KnownDrive, KnownHost};
use crate::error::{Error, Result};
use block::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::members::{MemberSpec, parse_members};

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
    /// The RAID boxes that take part, likewise.
    pub boxes: BTreeMap<String, KnownHost>,
    /// The trees that are unpacked, likewise, with the digest of each file.
    pub trees: BTreeMap<String, String>,
    /// What in the experiment means nothing where it runs, or makes no difference.
    pub warnings: Vec<String>,
}

/// One cell, one repeat.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its place in the plan.
    pub number: usize,
    /// The cell that it belongs to.
    pub cell: Cell,
    /// Which repeat, from 0.
    pub repeat: u64,
    /// All that is random in it follows from this. Trials of a workload's cells with the same repeat have
    /// the same seed, so that cells can be compared in pairs.
    pub seed: u64,
    /// What it runs on.
    pub setup: Arc<Setup>,
    /// What it runs.
    pub work: Work,
    /// What runs beside it, where it is the first of a group.
    pub beside: Vec<Work>,
}

impl Trial {
    /// All that it runs.
    pub fn works(&self) -> impl Iterator<Item = &Work> {
        std::iter::once(&self.work).chain(&self.beside)
    }
}

/// A workload and one value of each factor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's or group's place in the file.
    pub workload_index: usize,
    /// The workload's or group's name.
    pub workload: String,
    /// The factors' values, by key path.
    pub at: Vec<(String, Value)>,
}

/// What a trial runs on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host as modelled; the ideal one, which costs nothing, where the host is real.
    pub host: Host,
    /// The volume.
    pub volume: Volume,
    /// The file system on the volume, if there is one.
    pub files: Option<FilesSetup>,
}

/// The value of `volume.box` where the host itself runs the level.
const NO_BOX: &str = "none";

/// A plan of more trials than this is a typo in a factor.
const TRIALS_MAX: u64 = 1_000_000;

/// What raid(4) has under way at a time (`RAIDOUTSTANDING` in `rf_netbsdkintf.c`); the rest waits in
/// front of it, in order.
const RAIDFRAME_OUTSTANDING: u32 = 6;
/// What it has with a component at a time, as raidctl(8) shows it: `fifo 100`.
const RAIDFRAME_FIFO: u32 = 100;

impl Plan {
    /// The trials of `experiment` where everything is modelled.
    ///
    /// # Errors
    ///
    /// Where a drive or host is not known, or a cell makes no sense; the message names the key.
    pub fn new(experiment: &Experiment) -> Result<Self> {
        Plan::build(experiment, &Members::Modelled, true)
    }

    /// The trials of `experiment` on a rig that can do what `can` says. Each key that means nothing there
    /// is a warning.
    ///
    /// # Errors
    ///
    /// Where such a key is varied, or a cell makes no sense; the message names the key.
    pub fn on(experiment: &Experiment, can: &Capabilities) -> Result<Self> {
        let origin = &experiment.origin;
        let mut warnings = Vec::new();
        for (path, setting) in experiment.settings().iter().filter(|(path, _)| can.ignores(path)) {
            // For one workload alone, too.
            if path.ends_with("volume.failed") || path.ends_with("volume.rebuild") {
                return Err(Error::input(format!(
                    "{origin}: `{path}` is for modelled members; take it out, and say which real members \
                     are down by `--failed`"
                )));
            }
            if setting.values.len() > 1 {
                return Err(Error::input(format!(
                    "{origin}: `{path}` is varied, and only a model can; take the list out (`--set \
                     {path}={}`), or run it on sim",
                    setting.values[0]
                )));
            }
            if !path.ends_with("volume.drives") {
                warnings.push(format!("{origin}: `{path}` means nothing on real members"));
            }
        }
        let meant = experiment.without(|path| can.ignores(path));
        let mut plan = Plan::build(&meant, &can.members, can.host_is_modelled)?;
        warnings.append(&mut plan.warnings);
        Ok(Plan { warnings, ..plan })
    }

    fn build(experiment: &Experiment, members: &Members, host_is_modelled: bool) -> Result<Self> {
        let repeats = count(experiment.value("run.repeats"));
        let seed = count(experiment.value("run.seed"));
        let cells = cells(experiment)?;
        let mut plan = Plan {
            trials: Vec::new(),
            drives: BTreeMap::new(),
            members: described(members),
            hosts: BTreeMap::new(),
            boxes: BTreeMap::new(),
            trees: BTreeMap::new(),
            warnings: idle_interleaves(experiment, &cells),
        };
        let mut trees = Trees::new(experiment);
        let mut setups: BTreeMap<BTreeMap<String, Value>, Arc<Setup>> = BTreeMap::new();
        for (cell, workloads, values) in cells {
            // Cells that differ only in their workloads run on the same.
            let mut shared = values.clone();
            shared.retain(|path, _| !path.starts_with("workload."));
            let setup = match setups.get(&shared) {
                Some(setup) => Arc::clone(setup),
                None => {
                    let setup = plan.setup(experiment, &values, members)?;
                    let setup = Arc::new(setup);
                    setups.insert(shared, Arc::clone(&setup));
                    setup
                }
            };
            let works: Result<Vec<Work>> = workloads
                .iter()
                .map(|name| trees.give(Work::new(name, &values)?, &values))
                .collect();
            let mut beside = works.map_err(|error| error.context(&experiment.origin))?;
            let work = beside.remove(0);
            for repeat in 0..repeats {
                plan.trials.push(Trial {
                    number: 0,
                    repeat,
                    seed: mixed(seed, cell.workload_index as u64, repeat),
                    cell: cell.clone(),
                    setup: Arc::clone(&setup),
                    work: work.clone(),
                    beside: beside.clone(),
                });
            }
        }
        plan.warnings.append(&mut trees.warnings);
        plan.trees = trees.digests;
        if !host_is_modelled {
            plan.hosts.clear();
        }
        shuffle(&mut plan.trials, seed);
        for (number, trial) in plan.trials.iter_mut().enumerate() {
            trial.number = number;
        }
        Ok(plan)
    }

    /// What a cell with these values runs on.
    fn setup(
        &mut self,
        experiment: &Experiment,
        values: &BTreeMap<String, Value>,
        members: &Members,
    ) -> Result<Setup> {
        let origin = &experiment.origin;
        let host = modelled_host(origin, values)?;
        self.hosts.insert(host.name.clone(), KnownHost::from(&host));
        let volume = self.volume(origin, values, members)?;
        Ok(Setup { host, volume, files: FilesSetup::read(values) })
    }

    fn volume(
        &mut self,
        origin: &str,
        values: &BTreeMap<String, Value>,
        members: &Members,
    ) -> Result<Volume> {
        let at = |key: &str| format!("{origin}: `{key}`");
        let text = |key: &str| values.get(key).map(Value::to_string).unwrap_or_default();
        let raid_box = match text("volume.box").as_str() {
            NO_BOX => None,
            name => {
                let found = catalogue::raid_box(name).map_err(|e| e.context(at("volume.box")))?;
                self.boxes.insert(found.name.clone(), KnownHost::from(&found));
                Some(found)
            }
        };
        let (members, failed) = match members {
            Members::Modelled => {
                let drives = self.modelled_members(origin, values)?;
                let failed = parse_failed(&text("volume.failed"), drives.len())
                    .map_err(|error| error.context(at("volume.failed")))?;
                (drives, failed)
            }
            Members::Real { members, failed } => {
                (members.iter().map(Member::from).collect(), failed.clone())
            }
        };
        let rebuild_bytes_per_s = match values.get("volume.rebuild") {
            Some(Value::Count(_)) if failed.is_empty() => {
                return Err(Error::input(format!(
                    "{}: nothing is to be restored; say which member has failed, as in \
                     `volume.failed = \"0\"`",
                    at("volume.rebuild")
                )));
            }
            Some(Value::Count(rate)) => Some(*rate),
            _ => None,
        };
        let level: Level = text("volume.level")
            .parse()
            .map_err(|error| Error::input(format!("{}: {error}", at("volume.level"))))?;
        let queue = |key: &str, of_raidframe: u32| match values.get(key) {
            Some(Value::Count(count)) => Some(*count as u32),
            _ => level.name.starts_with("raidframe-").then_some(of_raidframe),
        };
        Ok(Volume {
            volume_outstanding: queue("volume.outstanding", RAIDFRAME_OUTSTANDING),
            member_outstanding: queue("volume.member_outstanding", RAIDFRAME_FIFO),
            raid_box,
            level,
            interleave_sectors: count(values.get("volume.interleave").cloned()),
            failed,
            rebuild_bytes_per_s,
            members,
        })
    }

    /// The drives that the experiment names.
    fn modelled_members(
        &mut self,
        origin: &str,
        values: &BTreeMap<String, Value>,
    ) -> Result<Vec<Member>> {
        let at = |key: &str| format!("{origin}: `{key}`");
        let text = |key: &str| values.get(key).map(Value::to_string).unwrap_or_default();
        let drives = text("volume.drives");
        if drives.is_empty() {
            return Err(Error::input(format!(
                "{origin} names no drives; add `drives = \"2xst118273lc\"` under [volume] (`ileave \
                 drives` lists what there is)"
            )));
        }
        let specs = parse_members(&drives).map_err(|e| e.context(at("volume.drives")))?;
        let mut known: BTreeMap<String, Arc<Drive>> = BTreeMap::new();
        let mut members = Vec::with_capacity(specs.len());
        for MemberSpec { drive: name, sectors } in specs {
            if !known.contains_key(&name) {
                let mut drive =
                    catalogue::drive(&name).map_err(|e| e.context(at("volume.drives")))?;
                self.drives.insert(name.clone(), KnownDrive::from(&drive));
                let said = override_drive(&mut drive, values);
                self.warn_of_short_queue(origin, &drive, &text("drive.queue_discipline"));
                if !said.is_empty() {
                    drive.spec().map_err(|error| error.context(at(&said.join("`, `"))))?;
                }
                known.insert(name.clone(), Arc::new(drive));
            }
            members.push(Member::Modelled { drive: Arc::clone(&known[&name]), sectors });
        }
        Ok(members)
    }
}

impl Plan {
    /// A drive that holds one command has nothing to choose among.
    fn warn_of_short_queue(&mut self, origin: &str, drive: &Drive, discipline: &str) {
        let warning = format!(
            "{origin}: `drive.queue_discipline` = {discipline} means nothing to {}, which holds one command; \
             set `drive.queue_depth`, too",
            drive.name
        );
        let chooses = !matches!(discipline, "" | "fcfs");
        if chooses && drive.queue_depth == 1 && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// The host that these values name, with what they change of it.
fn modelled_host(origin: &str, values: &BTreeMap<String, Value>) -> Result<Host> {
    let at = |key: &str| format!("{origin}: `{key}`");
    let text = |key: &str| values.get(key).map(Value::to_string).unwrap_or_default();
    let given = |key: &str| match values.get(key) {
        Some(Value::Count(count)) => Some(u32::try_from(*count).unwrap_or(u32::MAX)),
        _ => None,
    };
    let mut host = catalogue::host(&text("host.name")).map_err(|e| e.context(at("host.name")))?;
    if let Some(sectors) = given("host.max_transfer") {
        host.max_transfer_sectors = sectors;
    }
    if let Some(pieces) = given("host.physio_concurrency") {
        host.physio_concurrency = pieces;
    }
    host.buses = given("host.buses").or(host.buses);
    host.elevator = catalogue::elevator(&text("host.elevator"));
    if let Some(requests) = given("host.queue_outstanding") {
        host.queue_outstanding = Some(requests);
        if host.elevator.is_none() && !values.contains_key("fs.newfs") {
            return Err(Error::input(format!(
                "{}: nothing waits without an elevator; set `host.elevator`, too",
                at("host.queue_outstanding")
            )));
        }
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

/// Has the drive what the experiment says of all; gives the keys by which it may be no drive any more.
fn override_drive(drive: &mut Drive, values: &BTreeMap<String, Value>) -> Vec<&'static str> {
    let switches = [
        ("drive.write_cache", &mut drive.write_cache),
        ("drive.read_ahead", &mut drive.read_ahead),
        ("drive.zero_latency", &mut drive.zero_latency),
    ];
    let mut said = Vec::new();
    for (key, switch) in switches {
        if let Some(Value::Switch(on)) = values.get(key) {
            *switch = *on;
            said.push(key);
        }
    }
    if let Some(Value::Text(name)) = values.get("drive.queue_discipline") {
        drive.set_discipline(name);
    }
    if let Some(Value::Count(commands)) = values.get("drive.queue_depth") {
        drive.queue_depth = *commands as usize;
    }
    said
}

/// A warning for each level that is tried with several interleaves and has none.
fn idle_interleaves(experiment: &Experiment, cells: &[CellValues]) -> Vec<String> {
    let mut tried: BTreeMap<&str, BTreeSet<&Value>> = BTreeMap::new();
    for (_, _, values) in cells {
        if let (Some(Value::Text(level)), Some(interleave)) =
            (values.get("volume.level"), values.get("volume.interleave"))
        {
            tried.entry(level).or_default().insert(interleave);
        }
    }
    tried.retain(|level, tried| {
        tried.len() > 1 && level.parse().is_ok_and(|level: Level| !level.interleaved())
    });
    let warning = |(level, tried): (&str, BTreeSet<&Value>)| {
        format!(
            "{}: `volume.interleave` has {} values and means nothing to `volume.level` = {level}: \
             those cells are all alike",
            experiment.origin,
            tried.len()
        )
    };
    tried.into_iter().map(warning).collect()
}

/// A cell, the workloads that run in it, and the values of all keys.
type CellValues = (Cell, Vec<String>, BTreeMap<String, Value>);

/// Every cell with the values of all keys in it.
fn cells(experiment: &Experiment) -> Result<Vec<CellValues>> {
    let mut cells = Vec::new();
    let repeats = count(experiment.value("run.repeats"));
    let mut trials = 0_u64;
    for (workload_index, (workload, members)) in experiment.groups().into_iter().enumerate() {
        let settings = experiment.settings_of(&members)?;
        check_idle(&settings).map_err(|error| error.context(&experiment.origin))?;
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
        let defaults = defaults(&settings, &members);
        for index in 0..count {
            let mut left = index;
            let mut at: Vec<(String, Value)> = Vec::with_capacity(factors.len());
            for (path, setting) in factors.iter().rev() {
                let size = setting.values.len() as u64;
                at.push(((*path).clone(), setting.values[(left % size) as usize].clone()));
                left /= size;
            }
            at.reverse();
            let mut values = defaults.clone();
            values.extend(at.iter().cloned());
            let cell = Cell { workload_index, workload: workload.clone(), at };
            cells.push((cell, members.clone(), values));
        }
    }
    Ok(cells)
}

/// The value of every key that has one, factors at their first.
fn defaults(
    settings: &BTreeMap<String, &Setting>,
    workloads: &[String],
) -> BTreeMap<String, Value> {
    let mut values = BTreeMap::new();
    for key in super::keys::KEYS {
        let own = workloads.iter().map(|name| key.path.replace('*', name));
        let paths: Vec<String> =
            if key.path.contains('*') { own.collect() } else { vec![key.path.into()] };
        for path in paths {
            let set = settings.get(&path).and_then(|setting| setting.values.first().cloned());
            values.extend(set.or_else(|| key.default_value()).map(|value| (path, value)));
        }
    }
    values
}

/// The members that are down: `1` or `0+3`, of `members`.
fn parse_failed(text: &str, members: usize) -> Result<Vec<u32>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let failed = text.split('+').map(|word| {
        let member = word.trim().parse().ok().filter(|&member| (member as usize) < members);
        member.ok_or_else(|| {
            Error::input(format!(
                "`{word}` is no member; they are counted from 0 to {}, and joined by + as in `0+1`",
                members - 1
            ))
        })
    });
    failed.collect()
}

/// The number of a key that the table says is one, and has a default.
fn count(value: Option<Value>) -> u64 {
    match value {
        Some(Value::Count(count)) => count,
        other => unreachable!("the key table says this is a number, not {other:?}"),
    }
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
        assert!(warnings[0].contains("means nothing to st118273lc, which holds one command"));
        let deep = plan(&drive.replace("[w", "queue_depth = 8\n[w")).unwrap();
        assert_eq!((deep.warnings.len(), drive_of(&deep).queue_depth), (0, 8));
        let host = "[host]\nqueue_outstanding = 2\n[workload.a]\n";
        let message = plan(host).unwrap_err().to_string();
        assert!(message.contains("`host.queue_outstanding`: nothing waits without an elevator"));
        let sorted = plan(&host.replace("[w", "elevator = \"c-look\"\n[w")).unwrap();
        let host = &sorted.trials[0].setup.host;
        assert_eq!((host.elevator, host.queue_outstanding), (Some(sim::Order::CLook), Some(2)));
    }

    #[test]
    fn queues_that_are_modelled_cannot_be_varied_on_real_members() {
        let on_real = |volume: &str| {
            let text = format!("[volume]\n{volume}\n[workload.a]\n");
            Plan::on(&Experiment::parse("x.toml", &text).unwrap(), &real())
        };
        for key in ["outstanding", "member_outstanding"] {
            let message = on_real(&format!("{key} = [1, 2]")).unwrap_err().to_string();
            assert!(message.contains(&format!("`volume.{key}` is varied, and only a model can")));
            let warnings = on_real(&format!("{key} = 1")).unwrap().warnings;
            assert!(warnings[0].contains(&format!("`volume.{key}` means nothing")), "{warnings:?}");
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
    }

    #[test]
    fn a_box_is_a_factor_and_a_name_of_none_is_answered() {
        let plan_of = |text: &str| plan(&format!("{text}\n[workload.a]\n"));
        let plan = plan_of("box = [\"none\", \"CRD-5500\"]").unwrap();
        let memory =
            |trial: &Trial| trial.setup.volume.raid_box.as_ref().map(|of| of.memory_sectors);
        let mut memories: Vec<Option<u64>> = plan.trials.iter().map(memory).collect();
        memories.sort_unstable();
        assert_eq!(memories, [None, Some(131_072)]);
        assert!(plan.boxes.keys().eq(["crd-5500"]) && plan.hosts.keys().eq(["ideal"]));
        let message = plan_of("box = \"crd5500\"").unwrap_err().to_string();
        let wanted =
            "x.toml: `volume.box`: no RAID box is called `crd5500`; did you mean `crd-5500`?";
        assert!(message.starts_with(wanted) && message.contains("`ileave boxes`"), "{message}");
    }

    /// What was set of it stands in the experiment.
    #[test]
    fn a_drive_is_kept_by_the_name_that_it_is_given_and_as_its_file_says() {
        let text =
            "[volume]\ndrives = \"ST39102LW:1GiB\"\n[drive]\nwrite_cache = false\n[workload.a]\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        assert!(!drive_of(&plan).write_cache);
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
        assert!(concat[0].contains("2 values and means nothing to `volume.level` = concat"));
    }
}
