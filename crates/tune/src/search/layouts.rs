//! The layouts of an experiment, and what measures some of them: its own trials, run by what runs every experiment.

use crate::search::clock::{Clock, For, unless_stopped};
use lab::experiment::{Experiment, Plan, Trial};
use lab::keys::Value;
use lab::record::at_json;
use lab::rig::Rig;
use lab::run::{Keep, Run};
use lab::{Error, Result};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::ask::of_any_workload;
use store::factor::Role;
use store::record::{Record, plain};
use verdict::Wishes;
use verdict::cells::compare;

/// A layout: a value of each factor that can be chosen, by key path.
pub(crate) type At = Map<String, Json>;

/// Opens a rig for an experiment: some hand that on to a guest.
pub type Open<'a> = dyn Fn(&Experiment) -> Result<Box<dyn Rig>> + Sync + 'a;

/// What can be chosen in an experiment.
pub(crate) struct Space {
    /// The experiment.
    pub(crate) experiment: Experiment,
    /// What its results are of, with the roles that are asked for.
    pub(crate) manifest: Manifest,
    /// The layouts, in the order of their values.
    pub(crate) layouts: Vec<At>,
    /// For each the places of its values, one for each factor.
    pub(crate) places: Vec<Vec<usize>>,
    /// A trial of each.
    pub(crate) trials: Vec<Trial>,
    /// How many trials each has.
    counts: Vec<usize>,
    /// Layouts that the experiment does not have: each is one of its own with one more key.
    added: Vec<At>,
    /// Cells left out as impossible, keys without effect.
    pub(crate) warnings: Vec<String>,
    /// Until when trials are begun.
    pub(crate) clock: Clock,
}

impl Space {
    /// The layouts of `experiment` on `rig`, which must be able to run all of them.
    ///
    /// # Errors
    ///
    /// Where it cannot, or a wish names what is not measured; nothing has run then.
    pub(crate) fn new(experiment: &Experiment, rig: &dyn Rig, wishes: &Wishes) -> Result<Self> {
        let run = Run::plan(experiment, rig)?;
        run.admit()?;
        let manifest = run.manifest().asked(&wishes.choose)?;
        verdict::check_wishes(&manifest, &run.expected(), wishes)
            .map_err(|error| error.context(&experiment.origin))?;
        let chunks = Chunks::of(&manifest, run.trials());
        let mut first: Vec<(At, Trial, usize)> = Vec::new();
        for trial in run.trials() {
            let at = chosen(&manifest, trial);
            if chunks.are_idle_at(trial) {
                continue;
            }
            match first.iter_mut().find(|(known, ..)| *known == at) {
                Some((_, _, count)) => *count += 1,
                None => first.push((at, trial.clone(), 1)),
            }
        }
        let paths: BTreeSet<&String> = first.iter().flat_map(|(at, ..)| at.keys()).collect();
        let values: Vec<(String, Vec<Json>)> = paths
            .into_iter()
            .map(|path| {
                let mut values: Vec<Json> = Vec::new();
                for value in first.iter().filter_map(|(at, ..)| at.get(path)) {
                    if !values.contains(value) {
                        values.push(value.clone());
                    }
                }
                values.sort_by(compare);
                (path.clone(), values)
            })
            .collect();
        // What a layout does not have is a value of its own, the last.
        let places = |at: &At| -> Vec<usize> {
            let place = |(path, values): &(String, Vec<Json>)| {
                let value = at.get(path);
                let known = values.iter().position(|known| Some(known) == value);
                known.unwrap_or(values.len())
            };
            values.iter().map(place).collect()
        };
        let mut all: Vec<(Vec<usize>, At, Trial, usize)> =
            first.into_iter().map(|(at, trial, count)| (places(&at), at, trial, count)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut space = Space {
            experiment: experiment.clone(),
            manifest,
            layouts: Vec::new(),
            places: Vec::new(),
            trials: Vec::new(),
            counts: Vec::new(),
            added: Vec::new(),
            clock: Clock::default(),
            warnings: run.warnings().to_vec(),
        };
        for (places, at, trial, count) in all {
            space.places.push(places);
            space.layouts.push(at);
            space.trials.push(trial);
            space.counts.push(count);
        }
        Ok(space)
    }

    /// Keeps the layouts of which this is so.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        fn keep<T>(all: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            all.retain(|_| kept.next().is_some_and(|kept| *kept));
        }
        keep(&mut self.layouts, kept);
        keep(&mut self.places, kept);
        keep(&mut self.trials, kept);
        keep(&mut self.counts, kept);
    }

    /// Adds the layout at `place` with one more `key`.
    ///
    /// # Errors
    ///
    /// Where it cannot be planned.
    pub(crate) fn add(&mut self, place: usize, (key, value): (&str, &str)) -> Result<()> {
        let changes = [(key.to_string(), value.to_string())];
        let plan = Plan::new(&alone(&self.experiment, &self.layouts[place], &changes)?)?;
        let Some(with) = plan.trials.into_iter().next() else {
            return Err(Error::failure(format!("no trial has {key} = {value}")));
        };
        let mut trial = Trial { setup: with.setup, ..self.trials[place].clone() };
        trial.cell.at.push((key.to_string(), Value::Text(value.into())));
        let mut at = self.layouts[place].clone();
        at.insert(key.to_string(), value.into());
        let mut places = self.places[place].clone();
        places.push(1);
        self.layouts.push(at.clone());
        self.places.push(places);
        self.trials.push(trial);
        self.counts.push(self.counts[place]);
        self.added.push(at);
        Ok(())
    }

    /// The place of a layout.
    pub(crate) fn place(&self, at: &At) -> Option<usize> {
        self.layouts.iter().position(|known| known == at)
    }

    /// The layout that a record is of.
    pub(crate) fn at_of(&self, record: &Record) -> At {
        generic(record.at.clone(), &self.manifest)
    }

    /// Whether a record is of one of the layouts.
    pub(crate) fn holds(&self, record: &Record) -> bool {
        self.place(&self.at_of(record)).is_some()
    }

    /// The places of the layouts of which `records` has all trials.
    pub(crate) fn known(&self, records: &[Record]) -> Vec<usize> {
        let mut counts = vec![0; self.layouts.len()];
        for record in records {
            let at = self.at_of(record);
            if let Some(place) = self.place(&at) {
                counts[place] += 1;
            }
        }
        let is_whole = |place: &usize| counts[*place] == self.counts[*place];
        (0..self.layouts.len()).filter(is_whole).collect()
    }

    /// Runs the trials of the layouts at `which`, with so much added to the seed.
    pub(crate) fn measure(
        &self,
        which: &[usize],
        open: &Open<'_>,
        seed: u64,
    ) -> Result<Vec<Record>> {
        let layouts: Vec<&At> = which.iter().map(|&place| &self.layouts[place]).collect();
        self.measure_with(&layouts, open, seed, &[])
    }

    /// The same of one layout, on one of the rig's lanes.
    pub(crate) fn measure_alone(
        &self,
        place: usize,
        open: &Open<'_>,
        seed: u64,
    ) -> Result<Vec<Record>> {
        self.measure_on(1, &[&self.layouts[place]], (open, seed), &[])
    }

    /// The same with other values of keys that no layout chooses.
    pub(crate) fn measure_with(
        &self,
        layouts: &[&At],
        open: &Open<'_>,
        seed: u64,
        changes: &[(String, String)],
    ) -> Result<Vec<Record>> {
        self.measure_on(usize::MAX, layouts, (open, seed), changes)
    }

    fn measure_on(
        &self,
        lanes_max: usize,
        layouts: &[&At],
        (open, seed): (&Open<'_>, u64),
        changes: &[(String, String)],
    ) -> Result<Vec<Record>> {
        let mut experiment = self.experiment.clone();
        for (path, value) in changes {
            experiment.set_values(path, value)?;
        }
        let others = |trial: &Trial| !layouts.contains(&&chosen(&self.manifest, trial));
        let (added, own): (Vec<&At>, Vec<&At>) =
            layouts.iter().copied().partition(|at| self.added.contains(at));
        let mut records = if own.is_empty() {
            Vec::new()
        } else {
            run_on(lanes_max, experiment, open, seed, others)?
        };
        for at in added {
            let own = alone(&self.experiment, at, changes)?;
            let ran = run_on(lanes_max, own, open, seed, |_| false)?;
            records.extend(named(ran, at));
        }
        Ok(records)
    }
}

/// The experiment with this layout alone, and with other values of keys that it does not choose.
pub(crate) fn alone(
    experiment: &Experiment,
    layout: &At,
    changes: &[(String, String)],
) -> Result<Experiment> {
    let mut alone = experiment.clone();
    let own = layout.iter().map(|(path, value)| (path.clone(), plain(value)));
    for (path, value) in own.chain(changes.iter().cloned()) {
        let path = match experiment.workloads.as_slice() {
            [only] => path.replacen("workload.*", &format!("workload.{only}"), 1),
            _ => path,
        };
        alone.set_values(&path, &value)?;
    }
    Ok(alone)
}

/// What was measured of a layout alone, under all that it is.
pub(crate) fn named(records: Vec<Record>, at: &At) -> impl Iterator<Item = Record> {
    records.into_iter().map(|record| Record { at: at.clone(), ..record })
}

/// Runs the trials of `experiment`, but for the `others`, with so much added to the seed.
pub(crate) fn run_all(
    experiment: Experiment,
    open: &Open<'_>,
    seed: u64,
    others: impl Fn(&Trial) -> bool,
) -> Result<Vec<Record>> {
    run_on(usize::MAX, experiment, open, seed, others)
}

/// The same on so many of the rig's lanes at most.
pub(crate) fn run_on(
    lanes_max: usize,
    mut experiment: Experiment,
    open: &Open<'_>,
    seed: u64,
    others: impl Fn(&Trial) -> bool,
) -> Result<Vec<Record>> {
    let (repeats, first) = (experiment.run().stated_repeats(), experiment.run().seed);
    let seed_value = first.checked_add(seed).ok_or_else(|| {
        Error::input("`run.seed` is too large to try more seeds; take a smaller one")
    })?;
    experiment.set_values("run.seed", &seed_value.to_string())?;
    let rig = open(&experiment)?;
    let run = Run::plan(&experiment, &*rig)?.without(others).side_by_side(lanes_max);
    let ran = run.open(Keep::Nowhere)?.finish(&mut |_| ())?;
    if let Some(failed) = ran.failed.first() {
        return Err(Error::failure(&failed.words));
    }
    let mut records = ran.joined()?.records();
    for record in &mut records {
        record.repeat += seed * repeats;
    }
    Ok(records)
}

/// The smallest chunk of each cell whose level has none: it stands for all, where chunks are chosen.
struct Chunks(BTreeMap<String, u64>);

impl Chunks {
    const PATH: &str = "volume.interleave";

    fn of(manifest: &Manifest, trials: &[Trial]) -> Self {
        let mut smallest = BTreeMap::new();
        let is_chosen = manifest.factors.role(Self::PATH) == Role::Choice;
        let idle = trials.iter().filter(|trial| !trial.setup.volume.level.interleaved());
        for trial in idle.filter(|_| is_chosen) {
            let sectors = trial.setup.volume.interleave_sectors;
            let known = smallest.entry(Self::rest(trial)).or_insert(sectors);
            *known = sectors.min(*known);
        }
        Chunks(smallest)
    }

    /// What a cell is without its chunk.
    fn rest(trial: &Trial) -> String {
        let at = trial.cell.at.iter().filter(|(path, _)| path != Self::PATH);
        let at = at.map(|(path, value)| format!("{path}={value}"));
        format!("{} {}", trial.cell.workload, at.collect::<Vec<_>>().join(" "))
    }

    /// Whether a smaller chunk stands for this one.
    fn are_idle_at(&self, trial: &Trial) -> bool {
        !trial.setup.volume.level.interleaved()
            && self
                .0
                .get(&Self::rest(trial))
                .is_some_and(|&smallest| smallest < trial.setup.volume.interleave_sectors)
    }
}

/// What a trial has of what can be chosen.
fn chosen(manifest: &Manifest, trial: &Trial) -> At {
    generic(at_json(&trial.cell), manifest)
}

/// The choices among factors' values.
fn generic(at: At, manifest: &Manifest) -> At {
    let own = at.into_iter().filter(|(path, _)| manifest.factors.role(path) == Role::Choice);
    own.map(|(path, value)| (of_any_workload(&path).into_owned(), value)).collect()
}

/// Measures the layouts at `which`, without a limit all at once; with one each by itself, as many side by side as the rig has lanes,
/// as long as there is time for what they are for. How many that were, and what they measured.
pub(crate) fn in_time(
    space: &Space,
    which: &[usize],
    (open, what): (&Open<'_>, For),
    seed: u64,
) -> Result<(usize, Vec<Record>)> {
    if !space.clock.limits_all() {
        return Ok((which.len(), space.measure(which, open, seed)?));
    }
    let lanes = open(&space.experiment)?.capabilities().lanes.max(1);
    let fails = |ran: &Option<Result<_>>| ran.as_ref().is_some_and(Result::is_err);
    let ran = space.clock.in_time(what, (lanes, which), fails, |&place| {
        unless_stopped(space.measure_alone(place, open, seed))
    });
    let ran: Vec<Vec<Record>> = ran.into_iter().flatten().collect::<Result<_>>()?;
    Ok((ran.len(), ran.concat()))
}
