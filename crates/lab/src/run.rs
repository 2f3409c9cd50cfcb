//! An experiment, from its plan to its results: on any rig, into a directory or nowhere.
//!
//! [`run`] does it all. Its steps are there one by one for whoever has something to do in between, as the
//! command does, which warns, checks the objective and says how to go on.

use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::experiment::{
    Experiment, Plan, Trial, check_stripe_cache, factors_as_written, no_kind,
    told_without_stripe_cache,
};
use crate::rig::{Rig, example_sizes, large_writes, memory, not_linuxs, small_queues, sorted};
use crate::runner::{self, Enough, Finished, Outcome, Part, Progress, same_cell};
use crate::trace;
use crate::workload::Work;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;
use store::record::{Record, cell_name};
use store::{FORMAT, Failed, Happened, Manifest, Merged, Results, Shard, Store, Trials};

/// Where results are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep<'a> {
    /// Nowhere: they are only returned.
    Nowhere,
    /// In a new results directory.
    In(&'a Path),
    /// In the results directory of an interrupted run, whose finished trials do not run again.
    Resume(&'a Path),
    /// In a new results directory, or in that of an interrupted run if it is there: for whoever may ask for the
    /// same again, as batch systems do.
    Continue(&'a Path),
}

/// An experiment that is planned for a rig.
pub struct Run<'a> {
    rig: &'a dyn Rig,
    plan: Plan,
    manifest: Manifest,
    origin: String,
    part: Part,
    retries_suspects: bool,
}

/// A run whose results have a place.
pub struct Opened<'a> {
    run: Run<'a>,
    store: Option<Store>,
    earlier: Vec<Record>,
    suspects: Vec<String>,
}

/// A run that is finished.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the results are of.
    pub manifest: Manifest,
    /// All trials, in plan order, those of an earlier run included.
    pub finished: Vec<Finished>,
    /// The trials that failed while others went on.
    pub failed: Vec<Failed>,
    /// What happened beside the trials that finished, in earlier runs too.
    pub happened: Happened,
}

/// Runs `experiment` on `rig` and keeps its results; `watch` is told what happens. The warnings of
/// [`Run::warnings`] are ignored.
///
/// # Errors
///
/// Where the rig cannot run a trial, before any has run; or where one fails or cannot be kept. Trials that
/// finished are kept.
pub fn run(
    experiment: &Experiment,
    rig: &dyn Rig,
    keep: Keep<'_>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Ran> {
    let run = Run::plan(experiment, rig)?;
    run.admit()?;
    let ran = run.open(keep)?.finish(watch)?;
    match ran.failed.first() {
        Some(failed) => Err(Error::failure(&failed.words)),
        None => Ok(ran),
    }
}

impl<'a> Run<'a> {
    /// Plans `experiment` for `rig`.
    ///
    /// # Errors
    ///
    /// Where the experiment makes no sense there; the message names the key.
    pub fn plan(experiment: &Experiment, rig: &'a dyn Rig) -> Result<Self> {
        check_rig(experiment, rig.name())?;
        let mut plan = Plan::on(experiment, &rig.capabilities())?;
        leave_out_impossible(&mut plan, rig);
        plan.warnings.extend(no_kind::warnings(experiment));
        plan.warnings.extend_from_slice(rig.warnings());
        let doubts = rig.doubts(&plan);
        plan.warnings.extend(doubts);
        plan.warnings.extend(memory::warning(&plan, rig));
        if rig.capabilities().host_is_modelled {
            plan.warnings.extend(sorted::warning(&experiment.origin, &plan));
            plan.warnings.extend(small_queues::warning(&experiment.origin, &plan));
            plan.warnings.extend(large_writes::warning(&experiment.origin, &plan));
            plan.warnings.extend(not_linuxs::warning(&experiment.origin, &plan));
            plan.warnings.extend(example_sizes::warning(&experiment.origin, &plan));
        }
        let manifest = manifest(experiment, &plan, rig);
        Ok(Run {
            rig,
            plan,
            manifest,
            origin: experiment.origin.clone(),
            part: Part::default(),
            retries_suspects: false,
        })
    }

    /// The same run, of which only the trials of `shard` are run here. Its results are of the whole plan, and
    /// [`store::merge`] puts those of all shards together.
    #[must_use]
    pub fn only(mut self, shard: Shard) -> Self {
        self.part.shard = Some(shard);
        self
    }

    /// The same run, with at most this many trials side by side.
    #[must_use]
    pub fn side_by_side(mut self, lanes_max: usize) -> Self {
        self.part.lanes_max = Some(lanes_max);
        self
    }

    /// The same run, where no trial begins after `until`.
    #[must_use]
    pub fn until(mut self, until: Instant) -> Self {
        self.part.until = Some(until);
        self
    }

    /// The same run, where `enough` says after each repeat which cells need no more.
    #[must_use]
    pub fn until_enough(mut self, enough: Rc<Enough>) -> Self {
        self.part.enough = Some(enough);
        self
    }

    /// The same run, which tries again what failed or took the machine down before.
    #[must_use]
    pub fn with_suspects(mut self) -> Self {
        self.retries_suspects = true;
        self
    }

    /// The same run without some of its trials. Its results are of the whole plan.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&Trial) -> bool) -> Self {
        let left_out = self.plan.trials.iter().filter(|trial| is_left_out(trial));
        self.part.left_out.extend(left_out.map(|trial| trial.number));
        self
    }

    /// Its trials, in the order in which they run; without those that no system makes.
    pub fn trials(&self) -> &[Trial] {
        &self.plan.trials
    }

    /// How many trials each of `of` shards has.
    pub fn trials_by_shard(&self, of: u64) -> BTreeMap<Shard, usize> {
        let mut counts: BTreeMap<Shard, usize> = Shard::all(of).map(|shard| (shard, 0)).collect();
        let numbers = self.plan.trials.iter().map(|trial| runner::shard_number(trial, of));
        for shard in numbers.filter_map(|number| Shard::new(number, of).ok()) {
            *counts.entry(shard).or_default() += 1;
        }
        counts
    }

    /// What in the experiment means nothing on this rig, and what makes its figures doubtful.
    pub fn warnings(&self) -> &[String] {
        &self.plan.warnings
    }

    /// What the results will be of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What the trials may measure, as far as that is known before any has run: a record for each cell, of
    /// which only the names of the samples mean something.
    pub fn expected(&self) -> Vec<Record> {
        runner::expected(&self.plan, self.rig)
    }

    /// Asks the rig about every trial that is run here, so that nothing is written for a run that cannot be.
    ///
    /// # Errors
    ///
    /// Why a trial cannot be run.
    pub fn admit(&self) -> Result<()> {
        runner::admit_part(&self.plan, &self.part, self.rig)
            .and_then(|()| memory::admit(&self.plan, self.rig))
            .map_err(|error| error.context(&self.origin))
    }

    /// The commands of all trials, in order, a line each.
    ///
    /// # Errors
    ///
    /// Where a trial cannot be run.
    pub fn commands(&self) -> Result<String> {
        let mut text = String::new();
        for trial in &self.plan.trials {
            let at = crate::record::label(&crate::record::at_json(&trial.cell));
            let _ = writeln!(text, "# trial {}: {} at {at}", trial.number, trial.cell.workload);
            for command in self.rig.commands(trial)? {
                let _ = writeln!(text, "{command}");
            }
        }
        Ok(text)
    }

    /// The workload whose trials make the most requests, and how many, where that is said.
    pub fn most_requests(&self) -> Option<(&str, u64)> {
        let works = self.plan.trials.iter().flat_map(Trial::requests);
        let all = works.filter_map(|work| Some((work.name.as_str(), work.in_all()?)));
        all.max_by_key(|(_, requests)| *requests)
    }

    /// How much memory its trials take that are side by side, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        memory::needed_bytes(&self.plan, self.rig)
    }

    /// What is done to the members before the first trial, if anything is.
    pub fn beforehand(&self) -> Option<String> {
        self.rig.beforehand()
    }

    /// How long its trials will take; of an earlier run's `results` those that are not finished.
    pub fn estimate(&self, results: Option<&Results>) -> Estimate {
        Estimate::new(&self.plan, results)
    }

    /// Makes or opens the place of the results.
    ///
    /// # Errors
    ///
    /// Where that cannot be, or holds the results of something else.
    pub fn open(mut self, keep: Keep<'_>) -> Result<Opened<'a>> {
        let (mut store, earlier) = match keep {
            Keep::Nowhere => (None, Vec::new()),
            Keep::Continue(directory) if store::is_results(directory) => {
                return self.open(Keep::Resume(directory));
            }
            Keep::In(directory) | Keep::Continue(directory) => {
                (Some(Store::create(directory, &self.manifest)?), Vec::new())
            }
            Keep::Resume(directory) => {
                let (store, earlier) = Store::resume(directory, &self.manifest, crate::complete)?;
                runner::check_earlier(&self.plan, &earlier)
                    .map_err(|error| error.context(directory.display()))?;
                (Some(store), earlier)
            }
        };
        let mut suspects = Vec::new();
        if let Some(store) = store.as_mut().filter(|_| !self.retries_suspects) {
            suspects = self.leave_out(store, &earlier)?;
        }
        Ok(Opened { run: self, store, earlier, suspects })
    }

    /// Leaves out the cells of suspect trials, all their repeats; gives what to say of each.
    fn leave_out(&mut self, store: &mut Store, earlier: &[Record]) -> Result<Vec<String>> {
        let finished: BTreeSet<usize> = earlier.iter().map(|record| record.trial).collect();
        let known = store.happened()?;
        let mut said = Vec::new();
        for (number, words) in store.suspects()? {
            let suspect = self.plan.trials.get(number).filter(|_| !finished.contains(&number));
            let Some(suspect) = suspect else { continue };
            let own = self.plan.trials.iter().filter(|trial| same_cell(trial, suspect));
            let own = own.map(|trial| trial.number);
            self.part.left_out.extend(own.filter(|number| !finished.contains(number)));
            let failed = runner::failed(suspect, words);
            let at = crate::record::label(&failed.at);
            said.push(format!(
                "left out `{}` at {at}, which failed before: {}",
                failed.workload, failed.words
            ));
            // What took the machine down could not say so itself.
            if !known.has_failed(&failed.workload, &failed.at) {
                store.failed(&failed)?;
            }
        }
        Ok(said)
    }
}

impl Opened<'_> {
    /// The results directory, if there is one.
    pub fn directory(&self) -> Option<&Path> {
        self.store.as_ref().map(Store::directory)
    }

    /// What is left out because it failed or took the machine down before, with its last words, a line each.
    pub fn suspects(&self) -> &[String] {
        &self.suspects
    }

    /// How many trials were finished before.
    pub fn finished(&self) -> usize {
        self.earlier.len()
    }

    /// Takes the trials of other results directories of the same run instead of running any.
    ///
    /// # Errors
    ///
    /// Where one holds something else, or they cannot be kept.
    pub fn take(self, directories: &[PathBuf]) -> Result<Merged> {
        let store = self
            .store
            .ok_or_else(|| Error::failure("results that are kept nowhere take no others"))?;
        store.take(directories, &self.run.manifest, crate::complete)
    }

    /// Runs what is left of the plan.
    ///
    /// # Errors
    ///
    /// Where a trial cannot be run or kept. Trials that finished before that are kept.
    pub fn finish(mut self, watch: &mut dyn FnMut(Progress<'_>)) -> Result<Ran> {
        let Run { rig, plan, manifest, part, .. } = self.run;
        let outcome = runner::run_part(&plan, &part, rig, self.store.as_mut(), self.earlier, watch);
        let Outcome { finished, failed } = outcome.map_err(|error| match &self.store {
            // What goes on as it is set up ends so again.
            _ if matches!(error, Error::Setup(_)) => error,
            Some(store) => error.followed_by(format!(
                "finished trials are kept; continue with `--resume {}`{}",
                store.directory().display(),
                if rig.capabilities().durable_starts {
                    "; this cell is then left out, unless you add --retry-suspects"
                } else {
                    ""
                }
            )),
            None => error,
        })?;
        let happened = match &self.store {
            Some(store) => store.happened()?,
            None => Happened { failed: failed.clone(), ..Happened::default() },
        };
        let trials = Some(Trials { planned: manifest.trials, finished: finished.len() });
        let happened = Happened { trials, ..happened };
        Ok(Ran { manifest, finished, failed, happened })
    }
}

impl Ran {
    /// The records of all trials, in plan order.
    pub fn records(&self) -> Vec<Record> {
        self.finished.iter().map(|finished| finished.record.clone()).collect()
    }

    /// The same with all windows of a trace as one trial, as reports have them; of each the CPU time that it took, where it
    /// ran just now.
    ///
    /// # Errors
    ///
    /// Where a histogram of a window cannot be read.
    pub fn joined(mut self) -> Result<Self> {
        let mut cpu_s: BTreeMap<(String, u64), Option<f64>> = BTreeMap::new();
        let key = |record: &Record| (cell_name(&record.workload, &record.at), record.repeat);
        for Finished { record, cpu_s: took_s } in &self.finished {
            let sum = cpu_s.entry(key(record)).or_insert(Some(0.0));
            *sum = sum.zip(*took_s).map(|(sum, took_s)| sum + took_s);
        }
        let records = self.finished.into_iter().map(|finished| finished.record).collect();
        let records = store::windows::joined(&mut self.manifest, records)?;
        let finished = records.into_iter().map(|record| {
            let cpu_s = cpu_s.get(&key(&record)).copied().flatten();
            Finished { record, cpu_s }
        });
        self.finished = finished.collect();
        Ok(self)
    }
}

/// Whether the experiment is for this rig, if it is for one alone.
///
/// # Errors
///
/// Where it is for another.
pub fn check_rig(experiment: &Experiment, rig: &str) -> Result<()> {
    match experiment.run().on {
        Some(on) if on != rig => Err(Error::input(format!(
            "{}: `run.on` = {on}: it cannot run on {rig}; add `--on {on}`",
            experiment.origin
        ))),
        _ => Ok(()),
    }
}

/// Takes the cells out of the plan that no system makes, each with a warning; where there are no others, admitting says
/// why.
fn leave_out_impossible(plan: &mut Plan, rig: &dyn Rig) {
    let has_no_cache = |trial: &&Trial| check_stripe_cache(&trial.setup.volume).is_err();
    let (no_cache, others): (Vec<&Trial>, Vec<&Trial>) =
        plan.trials.iter().filter(|trial| trial.is_first()).partition(has_no_cache);
    let mut left_out: BTreeSet<String> = no_cache.iter().copied().map(runner::key_of).collect();
    let mut said: Vec<String> = told_without_stripe_cache(&no_cache).into_iter().collect();
    let cells = no_cache.len() + others.len();
    for trial in others {
        let Some(why) = rig.impossible(trial) else { continue };
        let at = crate::record::label(&crate::record::at_json(&trial.cell));
        said.push(format!("left out `{}` at {at}: {why}", trial.cell.workload));
        left_out.insert(runner::key_of(trial));
    }
    if left_out.is_empty() || left_out.len() == cells {
        return;
    }
    plan.trials.retain(|trial| !left_out.contains(&runner::key_of(trial)));
    for (number, trial) in plan.trials.iter_mut().enumerate() {
        trial.number = number;
    }
    plan.warnings.extend(said);
}

fn manifest(experiment: &Experiment, plan: &Plan, rig: &dyn Rig) -> Manifest {
    Manifest {
        format: FORMAT,
        ileave: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        rig: rig.name().into(),
        trials: plan.trials.len(),
        workloads: experiment.groups().into_iter().map(|(name, _)| name).collect(),
        published: experiment.value("published").map_or_else(String::new, |name| name.to_string()),
        experiment: experiment.canonical(),
        drives: plan.drives.clone(),
        members: plan.members.clone(),
        hosts: plan.hosts.clone(),
        controllers: plan.controllers.clone(),
        trees: plan.trees.clone(),
        traces: plan.traces.clone(),
        only_read: only_read(plan),
        factors: factors_as_written(
            plan.trials.iter().flat_map(|trial| trial.cell.at.iter().map(|(path, _)| path)),
            |path| experiment.is_in_bytes(path),
        ),
        machine: rig.machine().into_iter().collect(),
        doubts: [rig.warnings().to_vec(), rig.doubts(plan), trace::doubts(plan)].concat(),
        fio: experiment.is_fio_job(),
        imported: None,
    }
}

/// The workloads none of whose trials write.
fn only_read(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = plan.trials.iter().map(|t| t.cell.workload.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let mut own = plan.trials.iter().filter(|trial| trial.cell.workload == *name);
        !own.any(|trial| trial.works().any(Work::writes))
    });
    names
}
