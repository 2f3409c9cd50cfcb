//! From factors to trials: every cell, every repeat, in an order that the seed decides.

use super::file::{Experiment, Setting};
use super::files::{FilesSetup, FilesWork};
use super::keys::Value;
use super::members::{MemberSpec, parse_members};
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
}

/// A workload and one value of each factor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's place in the file.
    pub workload_index: usize,
    /// The workload's name.
    pub workload: String,
    /// The factors' values, by key path.
    pub at: Vec<(String, Value)>,
}

/// What a trial runs on, as modelled.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host.
    pub host: Host,
    /// `single`, `concat` or `stripe`.
    pub level: String,
    /// Sectors on one member before the next one's turn.
    pub interleave_sectors: u64,
    /// The members, in order.
    pub members: Vec<(Arc<Drive>, MemberSpec)>,
    /// The file system on the volume, if there is one.
    pub files: Option<FilesSetup>,
}

/// What a trial runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// In which order it goes over the volume.
    pub kind: WorkKind,
    /// What it asks.
    pub op: Op,
    /// The size of each request, in sectors.
    pub block_sectors: u64,
    /// How many requests.
    pub count: u64,
    /// Requests under way at a time.
    pub depth: u64,
    /// The part of the volume that is used, in sectors; all of it where it is not said.
    pub span_sectors: Option<u64>,
    /// The program that uses files, where there is a file system.
    pub files: FilesWork,
}

/// The order in which a workload goes over the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// One block after the other; a write fills each block from /dev/zero first.
    Dd,
    /// One block after the other.
    Sequential,
    /// Anywhere.
    Random,
}

/// What a workload asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// A plan of more trials than this is a typo in a factor.
const TRIALS_MAX: u64 = 1_000_000;

impl Plan {
    /// The trials of `experiment`.
    ///
    /// # Errors
    ///
    /// Where a drive or host is not known, or a cell makes no sense; the message names the key.
    pub fn new(experiment: &Experiment) -> Result<Self> {
        let repeats = count(experiment.value("run.repeats"));
        let seed = count(experiment.value("run.seed"));
        let cells = cells(experiment)?;
        let mut plan = Plan { trials: Vec::new(), drives: BTreeMap::new(), hosts: BTreeMap::new() };
        let mut setups: Vec<(BTreeMap<String, Value>, Arc<Setup>)> = Vec::new();
        for (cell, values) in cells {
            let setup = match setups.iter().find(|(known, _)| same_setup(known, &values)) {
                Some((_, setup)) => Arc::clone(setup),
                None => {
                    let setup = Arc::new(plan.setup(experiment, &values)?);
                    setups.push((values.clone(), Arc::clone(&setup)));
                    setup
                }
            };
            let work = work(&cell.workload, &values);
            for repeat in 0..repeats {
                plan.trials.push(Trial {
                    number: 0,
                    repeat,
                    seed: mixed(seed, cell.workload_index as u64, repeat),
                    cell: cell.clone(),
                    setup: Arc::clone(&setup),
                    work: work.clone(),
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
        let interleave_sectors = count(values.get("volume.interleave").cloned());
        let files = FilesSetup::read(values);
        Ok(Setup { files, host, level: text("volume.level"), interleave_sectors, members })
    }
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

/// Every cell with the values of all keys in it.
fn cells(experiment: &Experiment) -> Result<Vec<(Cell, BTreeMap<String, Value>)>> {
    let mut cells = Vec::new();
    for (workload_index, workload) in experiment.workloads.iter().enumerate() {
        let own = format!("workload.{workload}.");
        let mine = |path: &str| !path.starts_with("workload.") || path.starts_with(&own);
        let factors: Vec<(&String, &Setting)> = experiment
            .settings()
            .iter()
            .filter(|(path, setting)| setting.factor && mine(path))
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
        for index in 0..count {
            let mut left = index;
            let mut at: Vec<(String, Value)> = Vec::with_capacity(factors.len());
            for (path, setting) in factors.iter().rev() {
                let size = setting.values.len() as u64;
                at.push(((*path).clone(), setting.values[(left % size) as usize].clone()));
                left /= size;
            }
            at.reverse();
            let mut values = defaults(experiment, &own);
            values.extend(at.iter().cloned());
            cells.push((Cell { workload_index, workload: workload.clone(), at }, values));
        }
    }
    Ok(cells)
}

/// The value of every key that has one, factors at their first.
fn defaults(experiment: &Experiment, own: &str) -> BTreeMap<String, Value> {
    super::keys::KEYS
        .iter()
        .map(|key| key.path.replace("workload.*.", own))
        .filter_map(|path| experiment.value(&path).map(|value| (path, value)))
        .collect()
}

fn work(workload: &str, values: &BTreeMap<String, Value>) -> Work {
    let value = |key: &str| values.get(&format!("workload.{workload}.{key}")).cloned();
    let text = |key: &str| value(key).map(|value| value.to_string()).unwrap_or_default();
    Work {
        kind: match text("kind").as_str() {
            "random" => WorkKind::Random,
            "sequential" => WorkKind::Sequential,
            _ => WorkKind::Dd,
        },
        op: if text("op") == "write" { Op::Write } else { Op::Read },
        block_sectors: count(value("block")),
        count: count(value("count")),
        depth: count(value("depth")),
        span_sectors: value("span").map(|span| count(Some(span))),
        files: FilesWork::read(
            &text("program"),
            count(value("files")),
            count(value("directories")),
            count(value("size")),
        ),
    }
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
