//! Runs a plan: several trials side by side, each kept as it finishes.

use crate::capabilities::Uses;
use crate::error::{Error, Result};
use crate::experiment::{Plan, Trial};
use crate::record::{Record, at_json, expected as expected_record, label, of_trial};
use crate::rig::{self, Rig, RigKind};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use store::{Shard, Store};

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
}

/// What a lane reports.
enum Message {
    /// It is about to run a trial, and waits until that is noted.
    Started(usize, mpsc::Sender<()>),
    /// A trial came back, with the CPU time it took.
    Returned(Box<Result<Returned>>),
}

/// What a trial that came back leaves.
struct Returned {
    record: Record,
    cpu_s: f64,
    /// Texts to keep, by name.
    kept: Vec<(String, String)>,
}

/// A finished trial and the CPU time that running it took, where it ran just now.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it measured.
    pub record: Record,
    /// CPU time, in s.
    pub cpu_s: Option<f64>,
}

/// Which trials of a plan are run, and how many side by side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Only these trials; all of them where there is none.
    pub shard: Option<Shard>,
    /// At most so many at a time; as many as the rig has lanes where there is none.
    pub lanes_max: Option<usize>,
}

/// The number of the shard, of `of`, that has a trial.
pub fn shard_number(trial: &Trial, of: u64) -> u64 {
    Shard::number_of(&trial.cell.workload, &at_json(&trial.cell), trial.repeat, of)
}

/// Asks the rig about every trial, so that a plan that cannot be run fails before anything is written.
///
/// # Errors
///
/// Why a trial cannot be run.
pub fn admit(plan: &Plan, rig: &dyn Rig) -> Result<()> {
    let can = rig.capabilities();
    plan.trials.iter().try_for_each(|trial| {
        let lacks = match (can.uses, &trial.setup.files) {
            (Uses::Blocks, Some(_)) => {
                Some(("has no file systems as yet; leave out [fs]", Uses::Files))
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
    let firsts = plan.trials.iter().filter(|trial| trial.repeat == 0);
    firsts.map(|trial| expected_record(trial, &rig.samples(trial))).collect()
}

/// Whether what was finished before is of `plan`: the cells, workloads and repeats that it says.
///
/// # Errors
///
/// Where a record is of something else, naming its trial.
pub fn check_earlier(plan: &Plan, earlier: &[Record]) -> Result<()> {
    for record in earlier {
        let here = plan
            .trials
            .get(record.trial)
            .map(|trial| (&trial.cell.workload, at_json(&trial.cell), trial.repeat));
        if here != Some((&record.workload, record.at.clone(), record.repeat)) {
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
/// As [`run_part`].
pub fn run(
    plan: &Plan,
    rig: &dyn Rig,
    store: Option<&mut Store>,
    earlier: Vec<Record>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    run_part(plan, Part::default(), rig, store, earlier, watch)
}

/// Runs what is left of `part` of `plan` on `rig`; `earlier` is what was finished before. Gives all
/// records in plan order.
///
/// Each trial is kept as it comes back. When all are there they are put in plan order, so that the
/// store's bytes do not depend on which lane was quicker.
///
/// # Errors
///
/// Where a trial cannot be run or kept. What was finished before it is kept.
pub fn run_part(
    plan: &Plan,
    part: Part,
    rig: &dyn Rig,
    mut store: Option<&mut Store>,
    earlier: Vec<Record>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    let finished: BTreeSet<usize> = earlier.iter().map(|record| record.trial).collect();
    let is_own = |trial: &&Trial| {
        part.shard.is_none_or(|shard| shard_number(trial, shard.of()) == shard.number())
    };
    let mut left: Vec<&Trial> = plan.trials.iter().filter(is_own).collect();
    let trials = left.len();
    left.retain(|trial| !finished.contains(&trial.number));
    watch(Progress::Begin { trials, finished: trials - left.len() });
    let mut all: Vec<Finished> =
        earlier.into_iter().map(|record| Finished { record, cpu_s: None }).collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let can = rig.capabilities();
        let lanes = part.lanes_max.map_or(can.lanes, |most| can.lanes.min(most));
        for _ in 0..lanes.min(left.len()) {
            let sender = sender.clone();
            let (left, next) = (&left, &next);
            scope.spawn(move || lane(rig, left, next, &sender));
        }
        drop(sender);
        let kept = keep(left.len(), can.durable_starts, &receiver, &mut store, watch);
        // However this ends, the lanes take no more, and none waits for a start that nobody reads.
        next.store(left.len(), Ordering::Relaxed);
        drop(receiver);
        all.extend(kept?);
        Ok::<(), Error>(())
    })?;
    all.sort_by_key(|finished| finished.record.trial);
    if let Some(store) = store {
        store.finish(&all.iter().map(|finished| &finished.record).collect::<Vec<_>>())?;
    }
    Ok(all)
}

/// Runs trials until there are none left.
fn lane(rig: &dyn Rig, left: &[&Trial], next: &AtomicUsize, sender: &mpsc::Sender<Message>) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(trial) = left.get(index) else { return };
        // The note that it is about to run is on its way to the disk before it runs.
        let (noted, is_noted) = mpsc::channel();
        if sender.send(Message::Started(trial.number, noted)).is_err() || is_noted.recv().is_err() {
            return;
        }
        let result = rig::run(rig, trial)
            .map(|measured| Returned {
                record: of_trial(trial, &measured),
                cpu_s: measured.cpu_s,
                kept: measured.kept,
            })
            .map_err(|error| error.context(format!("trial {}", trial.number)));
        let failed = result.is_err();
        if sender.send(Message::Returned(Box::new(result))).is_err() || failed {
            return;
        }
    }
}

/// Keeps what comes back, as it comes; with `durable`, a start is on the disk before its trial runs.
fn keep(
    left: usize,
    durable: bool,
    receiver: &mpsc::Receiver<Message>,
    store: &mut Option<&mut Store>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    let mut kept: Vec<Finished> = Vec::with_capacity(left);
    while kept.len() < left {
        // Takes all that is there, so that trials shorter than a sync share one.
        let first = receiver.recv().map_err(|_| Error::failure("a lane has ended too soon"))?;
        let mut batch = Vec::new();
        let mut waiting = Vec::new();
        let mut failed = None;
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
                Message::Returned(result) => match *result {
                    Ok(Returned { record, cpu_s, kept }) => {
                        if let Some(store) = store.as_deref_mut() {
                            kept.iter().try_for_each(|(name, text)| {
                                store.keep(record.trial, name, text)
                            })?;
                        }
                        batch.push((record, cpu_s));
                    }
                    Err(error) => failed = failed.or(Some(error)),
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
            watch(Progress::Finished(&record));
            kept.push(Finished { record, cpu_s: Some(cpu_s) });
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::Capabilities;
    use crate::experiment::Experiment;
    use crate::rig::Prepared;

    /// Many lanes, on which nothing can be run.
    struct Broken;

    impl Rig for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities::modelled(8)
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
        let text = r#"
            name = "e"
            volume = { drives = "1xst118273lc", level = "single" }
            workload.read = { op = "read", block = "64KiB", count = 16 }
            run.repeats = 50
        "#;
        let experiment = Experiment::parse("e.toml", text).unwrap();
        let plan = Plan::new(&experiment).unwrap();
        for _ in 0..500 {
            let error = run(&plan, &Broken, None, Vec::new(), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains("it is broken"), "{error}");
        }
    }
}
