//! Running a plan: so many trials side by side, each kept as it finishes.

use crate::error::{Error, Result};
use crate::experiment::{Plan, Trial};
use crate::record::{Measured, Record};
use crate::rig::RigKind;
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// What happens during a run, for whoever watches.
#[derive(Debug)]
pub enum Progress<'a> {
    /// So many trials are to run; so many were finished before.
    Begin {
        /// All trials of the plan.
        trials: usize,
        /// Those of an earlier run.
        finished: usize,
    },
    /// A trial is finished and kept.
    Finished(&'a Record),
}

/// A trial that came back.
struct Returned {
    index: usize,
    result: Result<Measured>,
}

/// What a lane reports.
enum Message {
    /// It is about to run the trial. Where that is to be on the disk first, it waits for word that it
    /// is.
    Started(usize, Option<mpsc::SyncSender<()>>),
    Returned(Box<Returned>),
}

/// A finished trial and the CPU time that running it took, where it ran just now.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it measured.
    pub record: Record,
    /// CPU time, in s.
    pub cpu_s: Option<f64>,
}

/// Asks the rig about every trial, so that a plan that cannot be run fails before anything is written.
///
/// # Errors
///
/// Why a trial cannot be run.
pub fn admit(plan: &Plan, kind: &dyn RigKind) -> Result<()> {
    let rig = kind.rig();
    plan.trials.iter().try_for_each(|trial| rig.admit(trial))
}

/// Runs what is left of `plan` on rigs of `kind`; `earlier` is what was finished before. Gives all
/// records in plan order.
///
/// Trials run side by side but are kept in plan order, so that the store's bytes do not depend on
/// which lane was quicker.
///
/// # Errors
///
/// Where a trial cannot be run or kept. What was finished before it is kept.
pub fn run(
    plan: &Plan,
    kind: &dyn RigKind,
    mut store: Option<&mut Store>,
    earlier: Vec<Record>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    let finished: BTreeSet<usize> = earlier.iter().map(|record| record.trial).collect();
    watch(Progress::Begin { trials: plan.trials.len(), finished: finished.len() });
    let left: Vec<&Trial> =
        plan.trials.iter().filter(|trial| !finished.contains(&trial.number)).collect();
    let mut all: Vec<Finished> =
        earlier.into_iter().map(|record| Finished { record, cpu_s: None }).collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..kind.lanes().min(left.len()) {
            let sender = sender.clone();
            let (left, next) = (&left, &next);
            scope.spawn(move || lane(kind, left, next, &sender));
        }
        drop(sender);
        let kept = keep(&left, &receiver, &mut store, watch);
        // However this ends, the lanes take no more.
        next.store(left.len(), Ordering::Relaxed);
        all.extend(kept?);
        Ok::<(), Error>(())
    })?;
    all.sort_by_key(|finished| finished.record.trial);
    Ok(all)
}

/// Runs trials until there are none left.
fn lane(kind: &dyn RigKind, left: &[&Trial], next: &AtomicUsize, sender: &mpsc::Sender<Message>) {
    let mut rig = kind.rig();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(trial) = left.get(index) else { return };
        let result = announce(kind, trial, sender)
            .and_then(|()| rig.prepare(trial))
            .and_then(|()| rig.measure(trial))
            .and_then(|measured| rig.tear_down().map(|()| measured));
        let failed = result.is_err();
        let gone = sender.send(Message::Returned(Box::new(Returned { index, result }))).is_err();
        if failed || gone {
            return;
        }
    }
}

/// Says that a trial is about to run, and on a real rig waits until that is on the disk.
fn announce(kind: &dyn RigKind, trial: &Trial, sender: &mpsc::Sender<Message>) -> Result<()> {
    let ended = || Error::failure("the run has ended");
    let (noted, note) = mpsc::sync_channel(1);
    let noted = kind.is_real().then_some(noted);
    let wait = noted.is_some();
    sender.send(Message::Started(trial.number, noted)).map_err(|_| ended())?;
    if wait { note.recv().map_err(|_| ended()) } else { Ok(()) }
}

/// Keeps what comes back, in plan order.
fn keep(
    left: &[&Trial],
    receiver: &mpsc::Receiver<Message>,
    store: &mut Option<&mut Store>,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Finished>> {
    let mut waiting: BTreeMap<usize, Result<Measured>> = BTreeMap::new();
    let mut kept: Vec<Finished> = Vec::with_capacity(left.len());
    while kept.len() < left.len() {
        let mut waiting_for_note: Vec<mpsc::SyncSender<()>> = Vec::new();
        // Takes all that is there, so that trials shorter than a sync share one.
        let first = receiver.recv().map_err(|_| Error::failure("a lane has ended too soon"))?;
        for message in std::iter::once(first).chain(receiver.try_iter()) {
            match message {
                Message::Started(trial, noted) => {
                    store.as_deref_mut().map_or(Ok(()), |s| s.started(trial, noted.is_some()))?;
                    waiting_for_note.extend(noted);
                }
                Message::Returned(returned) => _ = waiting.insert(returned.index, returned.result),
            }
        }
        let mut batch = Vec::new();
        let mut failed = None;
        while let Some(result) = waiting.remove(&(kept.len() + batch.len())) {
            let trial = left[kept.len() + batch.len()];
            match result {
                Ok(measured) => batch.push((Record::new(trial, &measured), measured.cpu_s)),
                Err(error) => {
                    failed = Some(error.context(format!("trial {}", trial.number)));
                    break;
                }
            }
        }
        if let Some(store) = store.as_deref_mut()
            && !batch.is_empty()
        {
            store.append(&batch)?;
        }
        // Only now: keeping what was finished must not disturb the trial that is next. A lane that no
        // longer waits has ended, and says so itself.
        for noted in waiting_for_note {
            _ = noted.send(());
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
