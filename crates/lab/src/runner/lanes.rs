//! Lanes: each takes trial after trial, and tells what comes of it.

use super::{failed, same_cell};
use crate::caught::caught;
use crate::error::Error;
use crate::experiment::Trial;
use crate::record::{Record, at_json, label, of_trial};
use crate::rig::{self, Rig};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;
use store::{Calibration, Failed};

/// What a lane reports.
pub(super) enum Message {
    /// It is about to run a trial, and waits until that is noted.
    Started(usize, mpsc::Sender<()>),
    /// The rig did its calibration, before this trial or after the last.
    Calibrated(usize, Calibration),
    /// Nothing can run.
    Broken(Error),
    /// A trial came back, with the CPU time it took.
    Returned(usize, Box<std::result::Result<Returned, Box<Lost>>>),
}

/// Why a trial did not come back with a record.
pub(super) enum Lost {
    /// It failed, and others need not.
    Trial(Failed),
    /// Nothing more can run.
    Run(Failed, Error),
}

/// What a trial that came back leaves.
pub(super) struct Returned {
    pub(super) record: Record,
    pub(super) cpu_s: f64,
    /// Texts to keep, by name.
    pub(super) kept: Vec<(String, String)>,
}

/// A calibration comes before so many trials.
const TRIALS_PER_CALIBRATION: usize = 10;

/// The trials that lanes take.
pub(super) struct Queue<'a> {
    pub(super) left: Vec<&'a Trial>,
    pub(super) next: AtomicUsize,
    /// How many trials of the run have begun, those of earlier blocks too.
    pub(super) begun: &'a AtomicUsize,
    /// No trial begins after this.
    pub(super) until: Option<Instant>,
    /// The trials whose cells have failed.
    pub(super) failed: Mutex<Vec<&'a Trial>>,
}

impl<'a> Queue<'a> {
    /// The next trial; none where there are no more, or it is too late for another.
    pub(super) fn take(&self) -> Option<&'a Trial> {
        loop {
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return None;
            }
            let trial = *self.left.get(self.next.fetch_add(1, Ordering::Relaxed))?;
            let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if !failed.iter().any(|known| same_cell(known, trial)) {
                return Some(trial);
            }
        }
    }

    /// Leaves out the cell of a trial.
    pub(super) fn leave_out(&self, trial: &'a Trial) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(trial);
    }
}

/// Runs trials until there are none left.
pub(super) fn lane(rig: &dyn Rig, queue: &Queue<'_>, sender: &mpsc::Sender<Message>) {
    while let Some(trial) = queue.take() {
        let begun = queue.begun.fetch_add(1, Ordering::Relaxed);
        if begun.is_multiple_of(TRIALS_PER_CALIBRATION) && !calibrate(rig, trial.number, sender) {
            return;
        }
        // The note that it is about to run is on its way to the disk before it runs.
        let (noted, is_noted) = mpsc::channel();
        if sender.send(Message::Started(trial.number, noted)).is_err() || is_noted.recv().is_err() {
            return;
        }
        let result = one(rig, trial);
        let mut is_over = false;
        if let Err(lost) = &result {
            queue.leave_out(trial);
            is_over = matches!(**lost, Lost::Run(..));
        }
        if sender.send(Message::Returned(trial.number, Box::new(result))).is_err() || is_over {
            return;
        }
    }
}

/// Has the rig do its calibration, if it has one; whether trials can run.
fn calibrate(rig: &dyn Rig, trial: usize, sender: &mpsc::Sender<Message>) -> bool {
    match rig.calibrate() {
        Ok(None) => true,
        Ok(Some(done)) => sender.send(Message::Calibrated(trial, done)).is_ok(),
        Err(error) => {
            // Whoever is gone needs no error.
            let _ = sender.send(Message::Broken(error));
            false
        }
    }
}

/// Runs one trial. A fault of the program itself in a modelled trial is that trial's alone; on real disks nobody knows what
/// it has left undone.
pub(super) fn one(rig: &dyn Rig, trial: &Trial) -> std::result::Result<Returned, Box<Lost>> {
    let context = |error: Error| error.context(format!("trial {}", trial.number));
    let ran = caught(|| rig::run(rig, trial)).map_err(|words| {
        let words = words_of_fault(trial, &words);
        if rig.capabilities().durable_starts {
            let error = Error::failure(&words);
            return Box::new(Lost::Run(failed(trial, words), error));
        }
        Box::new(Lost::Trial(failed(trial, words)))
    })?;
    match ran {
        Ok(measured) => Ok(Returned {
            record: of_trial(trial, &measured),
            cpu_s: measured.cpu_s,
            kept: measured.kept,
        }),
        Err(error) => Err(Box::new(match rig.after_failure(trial, error) {
            Ok(error) => Lost::Trial(failed(trial, context(error).to_string())),
            Err(error) => {
                let error = context(error);
                Lost::Run(failed(trial, error.to_string()), error)
            }
        })),
    }
}

/// What is said of a trial that a fault of the program has ended.
fn words_of_fault(trial: &Trial, words: &str) -> String {
    let Trial { number, cell, repeat, .. } = trial;
    let at = label(&at_json(cell));
    let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
    format!(
        "trial {number} (`{}`{at}, repeat {}): a fault of ileave itself: {words}; please report it, with the experiment file \
         and the seed",
        cell.workload,
        repeat + 1
    )
}
