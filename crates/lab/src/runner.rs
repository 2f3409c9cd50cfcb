//! Runs a plan: several trials side by side, each kept as it finishes.

mod lanes;

use lanes::{Lost, Message, Queue, Returned, lane, one};

use crate::capabilities::Uses;
use crate::error::{Error, Result};
use crate::experiment::{Plan, Trial};
use crate::record::{Record, at_json, expected as expected_record, label};
use crate::rig::{Rig, RigKind};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Instant;
use store::record::cell_name;
use store::{Failed, Shard, Store};

/// What happens during a run, for whoever watches.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The run begins.
    Begin {
        /// All trials of the plan.
        trials: usize,
        /// Those of an earlier run.
        finished: usize,
    },
    /// A trial is finished and kept.
    Finished(&'a Record),
    /// A trial has failed; its cell is left out, and the run goes on.
    Failed(&'a Failed),
    /// So many trials will not run: their cells are settled, or have failed.
    Dropped(usize),
}

/// A finished trial and the CPU time that running it took, where it ran just now.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it measured.
    pub record: Record,
    /// CPU time, in s.
    pub cpu_s: Option<f64>,
}

/// What a run leaves.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All trials that finished, in plan order, those of an earlier run included.
    pub finished: Vec<Finished>,
    /// Those that failed while others went on: the other trials of their cells did not run.
    pub failed: Vec<Failed>,
}

impl Outcome {
    /// The trials, where none failed.
    ///
    /// # Errors
    ///
    /// Where one failed.
    pub fn whole(self) -> Result<Vec<Finished>> {
        match self.failed.first() {
            Some(failed) => Err(Error::failure(&failed.words)),
            None => Ok(self.finished),
        }
    }
}

/// Says which cells need no more repeats, from the records of the first so many repeats; asked after each.
pub type Enough = dyn Fn(&[Record], u64) -> Vec<(String, Map<String, Json>)>;

/// Which trials of a plan are run, and how many side by side.
#[derive(Clone, Default)]
pub struct Part {
    /// Only these trials; all of them where there is none.
    pub shard: Option<Shard>,
    /// At most so many at a time; as many as the rig has lanes where there is none.
    pub lanes_max: Option<usize>,
    /// Not these trials.
    pub left_out: BTreeSet<usize>,
    /// No trial begins after this.
    pub until: Option<Instant>,
    /// Who says when a cell has enough repeats; without it each has all of the plan.
    pub enough: Option<Rc<Enough>>,
}

/// The number of the shard, of `of`, that has a trial.
pub fn shard_number(trial: &Trial, of: u64) -> u64 {
    let (workload, at) = (&trial.cell.workload, at_json(&trial.cell));
    Shard::number_of(workload, &at, trial.repeat, trial.window(), of)
}

impl Part {
    /// Whether a trial is of the shard that is run.
    fn has(&self, trial: &Trial) -> bool {
        self.shard.is_none_or(|shard| shard_number(trial, shard.of()) == shard.number())
    }
}

/// Asks the rig about every trial, so that a plan that cannot be run fails before anything is written.
///
/// # Errors
///
/// Why a trial cannot be run.
pub fn admit(plan: &Plan, rig: &dyn Rig) -> Result<()> {
    admit_part(plan, &Part::default(), rig)
}

/// The same of a part: of 100,000 trials a shard has a few, and whoever has the others asks for them.
///
/// # Errors
///
/// Why a trial cannot be run.
pub fn admit_part(plan: &Plan, part: &Part, rig: &dyn Rig) -> Result<()> {
    let can = rig.capabilities();
    plan.trials.iter().filter(|trial| part.has(trial)).try_for_each(|trial| {
        let lacks = match (can.uses, &trial.setup.files) {
            (Uses::Blocks, Some(_)) => {
                Some(("has no file systems so far; leave out [fs]", Uses::Files))
            }
            (Uses::Files, None) => {
                Some(("runs programs on file systems only; add [fs]", Uses::Blocks))
            }
            _ => None,
        };
        if let Some((lacks, wanted)) = lacks {
            let name = rig.name();
            let other = RigKind::that(|can| can.uses == wanted || can.uses == Uses::BlocksAndFiles);
            let next =
                other.map_or_else(String::new, |kind| format!(", or take `--on {}`", kind.name));
            return Err(Error::input(format!("`--on {name}` {lacks}{next}")));
        }
        rig.admit(trial)
    })
}

/// What the trials of `plan` may measure, as far as that is known before any has run: a record for each
/// cell, of which only the names of the samples mean something.
pub fn expected(plan: &Plan, rig: &dyn Rig) -> Vec<Record> {
    let firsts = plan.trials.iter().filter(|trial| trial.is_first());
    firsts.map(|trial| expected_record(trial, &rig.samples(trial))).collect()
}

/// Whether what was finished before is of `plan`: the cells, workloads and repeats that it says.
///
/// # Errors
///
/// Where a record is of something else, naming its trial.
pub fn check_earlier(plan: &Plan, earlier: &[Record]) -> Result<()> {
    for record in earlier {
        let here = plan.trials.get(record.trial).map(|trial| {
            (&trial.cell.workload, at_json(&trial.cell), trial.repeat, trial.window())
        });
        let window = record.window.as_ref().map(|window| window.number);
        if here != Some((&record.workload, record.at.clone(), record.repeat, window)) {
            return Err(Error::failure(format!(
                "its trial {} is repeat {} of `{}` at {}, but this plan has another trial there; remove its line \
                 out of trials.jsonl to have it run again",
                record.trial,
                record.repeat,
                record.workload,
                label(&record.at)
            )));
        }
    }
    Ok(())
}

/// Runs what is left of `plan` on `rig`, as [`run_part`] does of a part of it.
///
/// # Errors
///
/// As [`run_part`]; and where a trial fails.
pub fn run(
    plan: &Plan,
    rig: &dyn Rig,
    store: Option<&mut Store>,
    earlier: Vec<Record>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    run_part(plan, &Part::default(), rig, store, earlier, watch)?.whole()
}

/// Runs what is left of `part` of `plan` on `rig`; `earlier` is what was finished before. Gives all
/// records in plan order.
///
/// Each trial is kept as it comes back. When all are there they are put in plan order, so that the
/// store's bytes do not depend on which lane was quicker.
///
/// A trial that fails ends the run, unless the rig says that it is the matter of its cell alone
/// ([`Rig::after_failure`]): then the cell's other trials are left out, and the run goes on.
///
/// # Errors
///
/// Where a trial cannot be run or kept. What was finished before it is kept.
pub fn run_part(
    plan: &Plan,
    part: &Part,
    rig: &dyn Rig,
    mut store: Option<&mut Store>,
    earlier: Vec<Record>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome> {
    let finished: BTreeSet<usize> = earlier.iter().map(|record| record.trial).collect();
    let mut left: Vec<&Trial> = plan.trials.iter().filter(|trial| part.has(trial)).collect();
    left.retain(|trial| !part.left_out.contains(&trial.number));
    let trials = left.len();
    left.retain(|trial| !finished.contains(&trial.number));
    if rig.capabilities().durable_starts {
        in_blocks(&mut left);
    }
    watch(Progress::Begin { trials, finished: trials - left.len() });
    let earlier = earlier.into_iter().map(|record| Finished { record, cpu_s: None });
    let mut outcome = Outcome { finished: earlier.collect(), failed: Vec::new() };
    let mut settled = BTreeSet::new();
    let begun = AtomicUsize::new(0);
    for (repeats, mut block) in blocks(left, part) {
        let all = block.len();
        // Naming each of many cells takes time.
        if !settled.is_empty() || !outcome.failed.is_empty() {
            block.retain(|trial| !settled.contains(&key_of(trial)) && !outcome.has_failed(trial));
        }
        if block.len() < all {
            watch(Progress::Dropped(all - block.len()));
        }
        let is_whole = run_block(block, &begun, part, rig, &mut store, watch, &mut outcome)?;
        if !is_whole {
            break;
        }
        if let Some(enough) = &part.enough {
            let of_cells = outcome.compared(plan, part, repeats);
            let enough = enough(&of_cells, repeats);
            settled.extend(enough.into_iter().map(|(workload, at)| cell_name(&workload, &at)));
        }
    }
    outcome.finished.sort_by_key(|finished| finished.record.trial);
    if let (Some(store), true) = (store.as_deref_mut(), begun.into_inner() > 0) {
        // Drift shows between the first and the last.
        if let (Some(done), Some(last)) = (rig.calibrate()?, plan.trials.last()) {
            store.calibrated(last.number, &done)?;
        }
    }
    if let Some(store) = store {
        let records = outcome.finished.iter().map(|finished| &finished.record);
        store.finish(&records.collect::<Vec<_>>())?;
    }
    Ok(outcome)
}

pub(crate) fn key_of(trial: &Trial) -> String {
    cell_name(&trial.cell.workload, &at_json(&trial.cell))
}

/// The trials of each repeat where somebody looks in between, with how many repeats there are then; otherwise all.
fn blocks<'a>(left: Vec<&'a Trial>, part: &Part) -> Vec<(u64, Vec<&'a Trial>)> {
    let Some(last) = left.iter().map(|trial| trial.repeat).max() else { return Vec::new() };
    if part.enough.is_none() {
        return vec![(last + 1, left)];
    }
    let of = |repeat: u64| left.iter().copied().filter(|t| t.repeat == repeat).collect();
    // Also the repeats of which nothing is left: what they settled is settled again.
    (0..=last).map(|repeat| (repeat + 1, of(repeat))).collect()
}

impl Outcome {
    /// A trial is finished.
    fn add(&mut self, record: Record, cpu_s: f64, watch: &mut dyn FnMut(Progress<'_>)) {
        watch(Progress::Finished(&record));
        self.finished.push(Finished { record, cpu_s: Some(cpu_s) });
    }

    /// A trial has failed, and others go on.
    fn lose(&mut self, failed: Failed, watch: &mut dyn FnMut(Progress<'_>)) {
        watch(Progress::Failed(&failed));
        self.failed.push(failed);
    }

    fn has_failed(&self, trial: &Trial) -> bool {
        let at = at_json(&trial.cell);
        self.failed.iter().any(|f| f.workload == trial.cell.workload && f.at == at)
    }

    /// Whether the cell has failed already.
    fn knows(&self, failed: &Failed) -> bool {
        self.failed.iter().any(|f| f.workload == failed.workload && f.at == failed.at)
    }

    /// The records of the first so many repeats, but for the cells that have failed, now or before: whenever it is asked
    /// of the same results, they are the same, in plan order.
    fn compared(&self, plan: &Plan, part: &Part, repeats: u64) -> Vec<Record> {
        let mut lost: BTreeSet<String> =
            part.left_out.iter().map(|&number| key_of(&plan.trials[number])).collect();
        lost.extend(self.failed.iter().map(|failed| cell_name(&failed.workload, &failed.at)));
        let all = self.finished.iter().map(|finished| &finished.record);
        let is_compared = |record: &&Record| {
            record.repeat < repeats && !lost.contains(&cell_name(&record.workload, &record.at))
        };
        let mut records: Vec<Record> = all.filter(is_compared).cloned().collect();
        records.sort_by_key(|record| record.trial);
        records
    }
}

/// Runs trials, as many side by side as the rig and the part allow; whether all of them have been taken.
fn run_block(
    left: Vec<&Trial>,
    begun: &AtomicUsize,
    part: &Part,
    rig: &dyn Rig,
    store: &mut Option<&mut Store>,
    watch: &mut dyn FnMut(Progress<'_>),
    outcome: &mut Outcome,
) -> Result<bool> {
    let (next, until, failed) = (AtomicUsize::new(0), part.until, Mutex::default());
    let queue = Queue { left, next, begun, until, failed };
    let can = rig.capabilities();
    let lanes = part.lanes_max.map_or(can.lanes, |most| can.lanes.min(most)).min(queue.left.len());
    if lanes <= 1 && store.is_none() && !can.durable_starts {
        in_place(rig, &queue, watch, outcome)?;
        return Ok(queue.next.into_inner() >= queue.left.len());
    }
    let (sender, receiver) = mpsc::channel();
    let mut is_whole = false;
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || lane(rig, queue, &sender));
        }
        drop(sender);
        let kept = keep(can.durable_starts, &receiver, store, watch, outcome);
        is_whole = queue.next.load(Ordering::Relaxed) >= queue.left.len();
        // However this ends, the lanes take no more, and none waits for a start that nobody reads.
        queue.next.store(queue.left.len(), Ordering::Relaxed);
        drop(receiver);
        kept
    })?;
    Ok(is_whole)
}

/// Runs modelled trials of which nothing is kept one after another, on this thread: a browser has no other.
fn in_place(
    rig: &dyn Rig,
    queue: &Queue<'_>,
    watch: &mut dyn FnMut(Progress<'_>),
    outcome: &mut Outcome,
) -> Result<()> {
    while let Some(trial) = queue.take() {
        queue.begun.fetch_add(1, Ordering::Relaxed);
        match one(rig, trial).map_err(|lost| *lost) {
            Ok(Returned { record, cpu_s, .. }) => outcome.add(record, cpu_s, watch),
            Err(Lost::Trial(failed)) => {
                queue.leave_out(trial);
                outcome.lose(failed, watch);
            }
            Err(Lost::Run(_, error)) => return Err(error),
        }
    }
    Ok(())
}

/// The order of trials on a real machine: a block is one repeat of all cells, and within it they come at random, so
/// that what drifts with time falls on all cells alike. It follows from the trials' seeds.
fn in_blocks(trials: &mut [&Trial]) {
    trials.sort_by_key(|trial| {
        // A step of splitmix64.
        let mixed = trial.seed ^ (trial.number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (trial.repeat, mixed ^ (mixed >> 31), trial.number)
    });
}

/// Whether two trials are of one cell.
pub(crate) fn same_cell(a: &Trial, b: &Trial) -> bool {
    (&a.cell.workload, &a.cell.at) == (&b.cell.workload, &b.cell.at)
}

/// A trial that failed, with its last words.
pub(crate) fn failed(trial: &Trial, words: String) -> Failed {
    let (workload, at) = (trial.cell.workload.clone(), at_json(&trial.cell));
    Failed { trial: trial.number, workload, at, words }
}

/// Keeps what comes back, as it comes; with `durable`, a start is on the disk before its trial runs, and that a trial
/// failed is kept too.
fn keep(
    durable: bool,
    receiver: &mpsc::Receiver<Message>,
    store: &mut Option<&mut Store>,
    watch: &mut dyn FnMut(Progress<'_>),
    outcome: &mut Outcome,
) -> Result<()> {
    // Lanes that have nothing left to run are gone.
    while let Ok(first) = receiver.recv() {
        // Takes all that is there, so that trials shorter than a sync share one.
        let mut batch = Vec::new();
        let mut waiting = Vec::new();
        let mut over = None;
        for message in std::iter::once(first).chain(receiver.try_iter()) {
            match message {
                Message::Started(trial, noted) => {
                    store.as_deref_mut().map_or(Ok(()), |s| s.started(trial, durable))?;
                    if durable {
                        waiting.push(noted);
                    } else {
                        // A lane that has gone is not waiting for this.
                        let _ = noted.send(());
                    }
                }
                Message::Calibrated(trial, done) => {
                    store.as_deref_mut().map_or(Ok(()), |s| s.calibrated(trial, &done))?;
                }
                Message::Broken(error) => over = over.or(Some(error)),
                Message::Returned(trial, result) => match *result {
                    Ok(Returned { record, cpu_s, kept }) => {
                        if let Some(store) = store.as_deref_mut() {
                            kept.iter()
                                .try_for_each(|(name, text)| store.keep(trial, name, text))?;
                        }
                        batch.push((record, cpu_s));
                    }
                    // Another lane had another repeat of a cell that has failed: one says it.
                    Err(lost) if matches!(&*lost, Lost::Trial(failed) if outcome.knows(failed)) => {
                    }
                    Err(lost) => {
                        let (Lost::Trial(failed) | Lost::Run(failed, _)) = &*lost;
                        // What ends a modelled run is tried again when the run goes on.
                        let is_kept = durable || matches!(*lost, Lost::Trial(_));
                        if let Some(store) = store.as_deref_mut().filter(|_| is_kept) {
                            store.failed(failed)?;
                        }
                        match *lost {
                            Lost::Trial(failed) => outcome.lose(failed, watch),
                            Lost::Run(_, error) => over = over.or(Some(error)),
                        }
                    }
                },
            }
        }
        if let Some(store) = store.as_deref_mut()
            && !batch.is_empty()
        {
            store.append(&batch)?;
        }
        // Only now: keeping what is finished must not disturb a trial on real disks. A modelled one goes on meanwhile, so
        // that however long the disk takes, trials that come back in that time share the next sync.
        for noted in waiting {
            // A lane that has gone is not waiting for this.
            let _ = noted.send(());
        }
        for (record, cpu_s) in batch {
            outcome.add(record, cpu_s, watch);
        }
        if let Some(error) = over {
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::Capabilities;
    use crate::experiment::Experiment;
    use crate::rig::Prepared;

    /// Many lanes, on which nothing can be run; or one, of a real machine.
    struct Broken {
        is_real: bool,
    }

    impl Rig for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn capabilities(&self) -> Capabilities {
            let lanes = if self.is_real { 1 } else { 8 };
            Capabilities { durable_starts: self.is_real, ..Capabilities::modelled(lanes) }
        }

        fn admit(&self, _: &Trial) -> Result<()> {
            Ok(())
        }

        fn samples(&self, _: &Trial) -> Vec<&'static str> {
            Vec::new()
        }

        fn prepare<'a>(&'a self, _: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
            Err(Error::failure("it is broken"))
        }
    }

    /// A run that fails ends, whatever its other lanes are about to do: those that were starting a trial
    /// as it failed waited for ever once.
    #[test]
    fn a_run_that_fails_ends() {
        let plan = Plan::new(&experiment(50, "64KiB")).unwrap();
        for _ in 0..500 {
            let error =
                run(&plan, &Broken { is_real: false }, None, Vec::new(), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains("it is broken"), "{error}");
        }
    }

    fn experiment(repeats: u32, blocks: &str) -> Experiment {
        let text = format!(
            r#"
            name = "e"
            volume = {{ drives = "1xst118273lc", level = "single" }}
            workload.read = {{ op = "read", block = "4KiB", count = 16 }}
            run.repeats = {repeats}
        "#
        );
        let mut experiment = Experiment::parse("e.toml", &text).unwrap();
        experiment.set_values("workload.read.block", blocks).unwrap();
        experiment
    }

    #[test]
    fn real_trials_come_in_blocks_and_at_random_within_each() {
        let plan = Plan::new(&experiment(3, "4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,256KiB")).unwrap();
        let order = |from_behind: bool| {
            let mut trials: Vec<&Trial> = plan.trials.iter().collect();
            if from_behind {
                trials.reverse();
            }
            in_blocks(&mut trials);
            trials.iter().map(|trial| (trial.repeat, trial.cell.at.clone())).collect::<Vec<_>>()
        };
        let once = order(false);
        assert_eq!(once, order(true), "the order follows from the seeds");
        assert!(once.is_sorted_by_key(|(repeat, _)| *repeat), "a block is one repeat of all cells");
        let blocks: Vec<Vec<String>> =
            once.chunks(7).map(|b| b.iter().map(|(_, at)| format!("{at:?}")).collect()).collect();
        let distinct: BTreeSet<&Vec<String>> = blocks.iter().collect();
        assert_eq!(distinct.len(), 3, "each block has an order of its own");
    }

    #[test]
    fn no_trial_begins_when_the_time_is_over() {
        let plan = Plan::new(&experiment(3, "64KiB")).unwrap();
        let part = Part { until: Some(Instant::now()), ..Part::default() };
        let broken = Broken { is_real: true };
        let outcome = run_part(&plan, &part, &broken, None, Vec::new(), &mut |_| ()).unwrap();
        assert!(outcome.finished.is_empty() && outcome.failed.is_empty());
    }

    /// One lane of a real machine, on which reads of 8 KiB fail.
    struct Flaky;

    impl Rig for Flaky {
        fn name(&self) -> &'static str {
            "flaky"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { durable_starts: true, ..Capabilities::modelled(1) }
        }

        fn admit(&self, _: &Trial) -> Result<()> {
            Ok(())
        }

        fn samples(&self, _: &Trial) -> Vec<&'static str> {
            vec!["elapsed_s"]
        }

        fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
            if format!("{:?}", trial.cell.at).contains("16") {
                return Err(Error::failure("it is flaky"));
            }
            crate::rig::sim::Sim.prepare(trial)
        }

        fn after_failure(&self, _: &Trial, error: Error) -> Result<Error> {
            Ok(error)
        }
    }

    #[test]
    fn a_trial_that_fails_leaves_out_its_cell_and_the_run_goes_on() {
        use crate::run::{Keep, Run};
        // Of 8 sectors, of 16 and of 32.
        let experiment = experiment(3, "4KiB,8KiB,16KiB");
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("r");
        let mut told = Vec::new();
        let ran = Run::plan(&experiment, &Flaky).unwrap().open(Keep::In(&directory)).unwrap();
        let ran = ran
            .finish(&mut |progress| {
                if let Progress::Failed(failed) = progress {
                    told.push(failed.clone());
                }
            })
            .unwrap();
        assert_eq!((ran.finished.len(), ran.failed.len()), (6, 1));
        assert_eq!((&told, &ran.happened.failed), (&ran.failed, &ran.failed));
        assert!(told[0].words.contains("it is flaky"), "{told:?}");
        assert_eq!(crate::read_results(&directory).unwrap().happened.failed, told);
        // Whoever asks for all of it is told of what failed.
        let error = crate::run(&experiment, &Flaky, Keep::Nowhere, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("it is flaky"), "{error}");
    }

    /// Modelled trials side by side, of which those of reads of 8 KiB hit a fault of ileave.
    struct Faulty;

    impl Rig for Faulty {
        fn name(&self) -> &'static str {
            "faulty"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities::modelled(2)
        }

        fn admit(&self, _: &Trial) -> Result<()> {
            Ok(())
        }

        fn samples(&self, _: &Trial) -> Vec<&'static str> {
            vec!["elapsed_s"]
        }

        fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
            assert!(!format!("{:?}", trial.cell.at).contains("16"), "it owes requests");
            crate::rig::sim::Sim.prepare(trial)
        }
    }

    /// However trials are run: side by side, and on the thread of who asks.
    #[test]
    fn a_fault_of_ileave_ends_its_cell_and_no_other() {
        use crate::run::{Keep, Run};
        let experiment = experiment(3, "4KiB,8KiB,16KiB");
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("r");
        for keep in [Keep::In(&directory), Keep::Nowhere] {
            let is_kept = matches!(keep, Keep::In(_));
            let ran = Run::plan(&experiment, &Faulty).unwrap().open(keep).unwrap();
            let ran = ran.finish(&mut |_| ()).unwrap();
            assert_eq!(ran.finished.len(), 6);
            let words = &ran.failed[0].words;
            for part in ["trial ", "`read` at ", "8KiB", "it owes requests", "please report it"] {
                assert!(words.contains(part), "{words}");
            }
            if is_kept {
                assert_eq!(crate::read_results(&directory).unwrap().happened.failed, ran.failed);
            }
        }
    }

    #[test]
    fn a_cell_that_is_settled_gets_no_more_repeats_and_is_settled_again_when_its_run_goes_on() {
        use crate::rig::sim::Sim;
        let plan = Plan::new(&experiment(6, "4KiB,8KiB")).unwrap();
        let first = plan.trials[0].cell.clone();
        // The first cell has enough after three repeats.
        let enough = move |records: &[Record], repeats: u64| {
            assert!(records.iter().all(|record| record.repeat < repeats));
            let settled = (repeats >= 3).then(|| (first.workload.clone(), at_json(&first)));
            settled.into_iter().collect()
        };
        let part = Part { enough: Some(Rc::new(enough)), ..Part::default() };
        let mut dropped = 0;
        let mut watch = |progress: Progress<'_>| {
            if let Progress::Dropped(trials) = progress {
                dropped += trials;
            }
        };
        let whole = run_part(&plan, &part, &Sim, None, Vec::new(), &mut watch).unwrap();
        let numbers = |outcome: &Outcome| {
            outcome.finished.iter().map(|finished| finished.record.trial).collect::<Vec<_>>()
        };
        assert_eq!((whole.finished.len(), dropped), (9, 3));
        let earlier: Vec<Record> =
            whole.finished.iter().map(|f| f.record.clone()).filter(|r| r.repeat < 2).collect();
        let resumed = run_part(&plan, &part, &Sim, None, earlier, &mut |_| ()).unwrap();
        assert_eq!(numbers(&resumed), numbers(&whole));
    }

    #[test]
    fn a_cell_that_failed_is_left_out_when_its_run_goes_on() {
        use crate::run::{Keep, Run};
        let (experiment, broken) = (experiment(3, "64KiB"), Broken { is_real: true });
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("r");
        let opened = |keep: Keep<'_>, again: bool| {
            let run = Run::plan(&experiment, &broken).unwrap();
            let run = if again { run.with_suspects() } else { run };
            run.open(keep).unwrap()
        };
        let failed = opened(Keep::In(&directory), false).finish(&mut |_| ()).unwrap_err();
        assert!(failed.to_string().contains("unless you add --retry-suspects"), "{failed}");

        let resumed = opened(Keep::Resume(&directory), false);
        let said = resumed.suspects().join("\n");
        assert!(said.contains("left out `read`") && said.contains("it is broken"), "{said}");
        // All three repeats are of that cell: nothing is run, and nothing fails.
        assert!(resumed.finish(&mut |_| ()).unwrap().finished.is_empty());

        let again = opened(Keep::Resume(&directory), true);
        assert!(again.suspects().is_empty());
        assert!(again.finish(&mut |_| ()).is_err());
    }
}
