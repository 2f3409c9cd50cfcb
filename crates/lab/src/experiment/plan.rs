//! From factors to trials: every cell, every repeat, in an order that the seed decides.

use super::file::{Experiment, Setting};
use super::files::FilesSetup;
use super::keys::Value;
use super::members::{MemberSpec, parse_members};
use super::work::Work;
use crate::catalogue::{self, Drive, Host};
use crate::error::{Error, Result};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All trials of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order in which they run.
    pub trials: Vec<Trial>,
    /// The drives that take part, by catalogue name, with the digest of each file.
    pub drives: BTreeMap<String, String>,
    /// The hosts that take part, likewise.
    pub hosts: BTreeMap<String, String>,
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
    /// All that is random in it follows from this. Trials of different cells with the same repeat have
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

/// What a trial runs on, as modelled.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host.
    pub host: Host,
    /// A name of [`block::LEVELS`].
    pub level: String,
    /// Sectors on one member before the next one's turn.
    pub interleave_sectors: u64,
    /// Members that are down from the start.
    pub failed: Vec<u32>,
    /// How fast the first of them is restored onto a spare, in bytes a second; `None` where it is not.
    pub rebuild_bytes_per_s: Option<u64>,
    /// Requests that the volume's driver has under way at a time; `None` for all of them.
    pub volume_outstanding: Option<u32>,
    /// Commands that it has with a member at a time; `None` for all of them.
    pub member_outstanding: Option<u32>,
    /// The members, in order.
    pub members: Vec<(Arc<Drive>, MemberSpec)>,
    /// The file system on the volume, if there is one.
    pub files: Option<FilesSetup>,
}

/// A plan of more trials than this is a typo in a factor.
const TRIALS_MAX: u64 = 1_000_000;

/// What raid(4) has under way at a time (`RAIDOUTSTANDING` in `rf_netbsdkintf.c`); the rest waits in
/// front of it, in order.
const RAIDFRAME_OUTSTANDING: u32 = 6;
/// What it has with a component at a time, as raidctl(8) shows it: `fifo 100`.
const RAIDFRAME_FIFO: u32 = 100;

impl Plan {
    /// The trials of `experiment`.
    ///
    /// # Errors
    ///
    /// Where a drive or host is not known, or a cell makes no sense; the message names the key.
    pub fn new(experiment: &Experiment) -> Result<Self> {
        Plan::build(experiment, false)
    }

    /// The trials of `experiment` where the members are real: what it says of drives and hosts is not
    /// looked at, and a setup names no members. Gives a warning for each key that means nothing there.
    ///
    /// # Errors
    ///
    /// Where such a key is varied, or a cell makes no sense; the message names the key.
    pub fn on_real_members(experiment: &Experiment) -> Result<(Self, Vec<String>)> {
        for path in ["volume.failed", "volume.rebuild"] {
            if experiment.settings().contains_key(path) {
                return Err(Error::input(format!(
                    "{}: `{path}` is for modelled members; take it out, and say which real members are \
                     down by `--failed`",
                    experiment.origin
                )));
            }
        }
        let mut warnings = Vec::new();
        for (path, setting) in experiment.settings().iter().filter(|(path, _)| is_modelled(path)) {
            if setting.values.len() > 1 {
                return Err(Error::input(format!(
                    "{}: `{path}` is varied, and only a model can; take the list out (`--set \
                     {path}={}`), or run it on sim",
                    experiment.origin, setting.values[0]
                )));
            }
            if path != "volume.drives" {
                let origin = &experiment.origin;
                warnings.push(format!("{origin}: `{path}` means nothing on real members"));
            }
        }
        Ok((Plan::build(experiment, true)?, warnings))
    }

    fn build(experiment: &Experiment, real: bool) -> Result<Self> {
        let repeats = count(experiment.value("run.repeats"));
        let seed = count(experiment.value("run.seed"));
        let cells = cells(experiment)?;
        let mut plan = Plan { trials: Vec::new(), drives: BTreeMap::new(), hosts: BTreeMap::new() };
        let mut setups: Vec<(BTreeMap<String, Value>, Arc<Setup>)> = Vec::new();
        for (cell, workloads, values) in cells {
            let setup = match setups.iter().find(|(known, _)| same_setup(known, &values)) {
                Some((_, setup)) => Arc::clone(setup),
                None => {
                    let setup =
                        if real { real_setup(&values)? } else { plan.setup(experiment, &values)? };
                    let setup = Arc::new(setup);
                    setups.push((values.clone(), Arc::clone(&setup)));
                    setup
                }
            };
            let works: Result<Vec<Work>> =
                workloads.iter().map(|name| Work::new(name, &values)).collect();
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
    ) -> Result<Setup> {
        let origin = &experiment.origin;
        let at = |key: &str| format!("{origin}: `{key}`");
        let text = |key: &str| values.get(key).map(Value::to_string).unwrap_or_default();
        let mut host =
            catalogue::host(&text("host.name")).map_err(|e| e.context(at("host.name")))?;
        self.hosts.insert(host.name.clone(), host.digest.clone());
        if let Some(Value::Count(sectors)) = values.get("host.max_transfer") {
            host.max_transfer_sectors = u32::try_from(*sectors).unwrap_or(u32::MAX);
        }
        if let Some(Value::Count(pieces)) = values.get("host.physio_concurrency") {
            host.physio_concurrency = *pieces as u32;
        }
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
        for spec in specs {
            if !known.contains_key(&spec.drive) {
                let mut drive =
                    catalogue::drive(&spec.drive).map_err(|e| e.context(at("volume.drives")))?;
                self.drives.insert(drive.name.clone(), drive.digest.clone());
                override_drive(&mut drive, values);
                known.insert(spec.drive.clone(), Arc::new(drive));
            }
            members.push((Arc::clone(&known[&spec.drive]), spec));
        }
        if let Some(Value::Count(buses)) = values.get("host.buses") {
            host.buses = Some(*buses as u32);
        }
        if let Some(Value::Count(commands)) = values.get("host.queue_outstanding") {
            host.queue_outstanding = Some(*commands as u32);
        }
        let interleave_sectors = count(values.get("volume.interleave").cloned());
        let failed = parse_failed(&text("volume.failed"), members.len())
            .map_err(|error| error.context(at("volume.failed")))?;
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
        let level = text("volume.level");
        let queue = |key: &str, of_raidframe: u32| match values.get(key) {
            Some(Value::Count(count)) => Some(*count as u32),
            _ => level.starts_with("raidframe-").then_some(of_raidframe),
        };
        Ok(Setup {
            volume_outstanding: queue("volume.outstanding", RAIDFRAME_OUTSTANDING),
            member_outstanding: queue("volume.member_outstanding", RAIDFRAME_FIFO),
            host,
            level,
            interleave_sectors,
            failed,
            rebuild_bytes_per_s,
            members,
            files: FilesSetup::read(values),
        })
    }
}

/// Whether a key is about what is modelled.
fn is_modelled(path: &str) -> bool {
    let path = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, section, key] => &format!("{section}.{key}"),
        _ => path,
    };
    matches!(path, "volume.drives" | "volume.failed" | "volume.rebuild")
        || path.starts_with("drive.")
        || path.starts_with("host.")
}

/// What a cell with these values runs on where the members are real.
fn real_setup(values: &BTreeMap<String, Value>) -> Result<Setup> {
    Ok(Setup {
        host: catalogue::host("ideal")?,
        level: values.get("volume.level").map(Value::to_string).unwrap_or_default(),
        interleave_sectors: count(values.get("volume.interleave").cloned()),
        failed: Vec::new(),
        rebuild_bytes_per_s: None,
        volume_outstanding: None,
        member_outstanding: None,
        members: Vec::new(),
        files: FilesSetup::read(values),
    })
}

fn override_drive(drive: &mut Drive, values: &BTreeMap<String, Value>) {
    if let Some(Value::Switch(on)) = values.get("drive.write_cache") {
        drive.write_cache = *on;
    }
    if let Some(Value::Switch(on)) = values.get("drive.read_ahead") {
        drive.read_ahead = *on;
    }
    if let Some(Value::Switch(on)) = values.get("drive.zero_latency") {
        drive.zero_latency = *on;
    }
}

/// Whether two cells differ only in their workloads.
fn same_setup(a: &BTreeMap<String, Value>, b: &BTreeMap<String, Value>) -> bool {
    fn setup(values: &BTreeMap<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
        values.iter().filter(|(path, _)| !path.starts_with("workload."))
    }
    setup(a).eq(setup(b))
}

/// A cell, the workloads that run in it, and the values of all keys.
type CellValues = (Cell, Vec<String>, BTreeMap<String, Value>);

/// Every cell with the values of all keys in it.
fn cells(experiment: &Experiment) -> Result<Vec<CellValues>> {
    let mut cells = Vec::new();
    for (workload_index, (workload, members)) in experiment.groups().into_iter().enumerate() {
        let settings = experiment.settings_of(&members)?;
        let factors: Vec<(&String, &Setting)> = settings
            .iter()
            .filter(|(_, setting)| setting.factor)
            .map(|(path, setting)| (path, *setting))
            .collect();
        let count = factors.iter().try_fold(1_u64, |product, (_, setting)| {
            product.checked_mul(setting.values.len() as u64)
        });
        let Some(count) = count.filter(|&count| count <= TRIALS_MAX) else {
            return Err(Error::input(format!(
                "{}: the factors of workload `{workload}` make more than {TRIALS_MAX} cells; take \
                 fewer values of some",
                experiment.origin
            )));
        };
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

/// Fisher and Yates: every order is equally likely.
fn shuffle(trials: &mut [Trial], seed: u64) {
    let mut random = Pcg64Mcg::new(u128::from(mixed(seed, u64::MAX, 0)) << 1 | 1);
    for last in (1..trials.len()).rev() {
        let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        trials.swap(last, other as usize);
    }
}

/// A seed for each combination (SplitMix64's finaliser over each part in turn).
fn mixed(seed: u64, workload: u64, repeat: u64) -> u64 {
    [seed, workload, repeat].into_iter().fold(0, |state: u64, part| {
        let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
