//! Runs a workload by the clock, as [`sim::run()`] does in virtual time.

use super::engine::Engine;
use super::noise::Noise;
use crate::error::Result;
use sim::workload::{Name, Next, Workload};
use sim::{Outcome, Recorder};

/// Runs `workload` on `engine` until its last request has come back. What it writes is noise.
///
/// # Errors
///
/// Where a member fails, naming it.
pub(super) fn run(
    engine: &mut Engine,
    workload: &mut dyn Workload,
    mut noise: Noise,
) -> Result<Outcome> {
    let mut recorder = Recorder::new();
    let mut names: Vec<Name> = Vec::new();
    engine.restart_clock();
    loop {
        let wake = loop {
            match workload.next(engine.now()) {
                Next::Issue(name, request) => {
                    let job = engine.accept(request, |bytes| noise.fill(bytes))?;
                    let now = engine.now();
                    let tag = recorder.started(now, &request);
                    if tag as usize == names.len() {
                        names.push(name);
                    }
                    names[tag as usize] = name;
                    engine.start(now, job, tag)?;
                }
                Next::Work(name, work_ns) => workload.worked(engine.now() + work_ns, name),
                Next::At(at) => break Some(at),
                Next::Nothing => break None,
            }
        };
        if wake.is_none() && !recorder.is_busy() {
            break;
        }
        engine.wait(wake, |ended| {
            recorder.ended(ended.tag, ended.at, true, &ended.spent);
            workload.done(ended.at, names[ended.tag as usize]);
        })?;
        // Half healthy and half degraded is a measurement of neither.
        if let Some(failure) = engine.failure() {
            return Err(failure);
        }
    }
    let mut outcome = recorder.finish();
    engine.count(&mut outcome.counters);
    Ok(outcome)
}
