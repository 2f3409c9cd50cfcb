//! Runs a workload by the clock, as [`sim::run()`] does in virtual time.

use super::engine::Engine;
use super::noise::Noise;
use crate::error::Result;
use sim::workload::Workload;
use sim::{Outcome, Recorder};

/// Runs `workload` on `engine` until its last request has come back. What it writes is noise.
pub(super) fn run(
    engine: &mut Engine,
    workload: &mut dyn Workload,
    mut noise: Noise,
) -> Result<Outcome> {
    let mut recorder = Recorder::new();
    engine.restart_clock();
    let mut held = workload.next(engine.now());
    loop {
        while let Some((at, request)) = held
            && at <= engine.now()
        {
            let slot = engine.accept(request, |bytes| noise.fill(bytes))?;
            let now = engine.now();
            engine.start(now, slot, recorder.started(now, &request))?;
            held = workload.next(now);
        }
        if held.is_none() && !recorder.is_busy() {
            break;
        }
        engine.wait(held.map(|(at, _)| at), |ended| {
            recorder.ended(ended.tag, ended.at, true, &ended.spent);
            workload.done(ended.at);
        })?;
        if held.is_none() {
            held = workload.next(engine.now());
        }
    }
    let mut outcome = recorder.finish();
    engine.count(&mut outcome.counters);
    Ok(outcome)
}
