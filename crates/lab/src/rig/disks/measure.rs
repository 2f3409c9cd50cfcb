//! Runs a workload by the clock, as [`sim::run()`] does in virtual time.

use super::engine::Engine;
use super::noise::Noise;
use crate::error::Result;
use rustix::time::{ClockId, clock_gettime};
use sim::workload::{Name, Next, Workload};
use sim::{Batches, Counters, Nanos, Recorded, Recorder};

/// Runs `workload` on `engine`, at most `in_flight_max` requests at a time, until it ends or the measurement is long `enough`, and
/// its last request has come back. What it writes is noise.
///
/// # Errors
///
/// Where a member fails, naming it.
pub(super) fn run(
    engine: &mut Engine,
    workload: &mut dyn Workload,
    mut noise: Noise,
    in_flight_max: u64,
    enough: &mut dyn FnMut(&Batches) -> bool,
) -> Result<Recorded> {
    let streams = workload.streams();
    let mut recorder = if streams == 0 { Recorder::new() } else { Recorder::apart(streams) };
    let mut names: Vec<Name> = Vec::new();
    let mut is_over = None;
    engine.restart_clock();
    let before = cpu_ns();
    loop {
        let wake = loop {
            if is_over.is_some() || recorder.in_flight() >= in_flight_max {
                break None;
            }
            match workload.next(engine.now()) {
                Next::Issue(name, request) => {
                    let job = engine.accept(request, |bytes| noise.fill(bytes))?;
                    let now = engine.now();
                    let tag = recorder.started(now, &request);
                    if tag as usize == names.len() {
                        names.push(name);
                    }
                    names[tag as usize] = name;
                    if streams > 0 {
                        recorder.came(tag, workload.came(name));
                    }
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
        let now = engine.now();
        if now >= recorder.boundary_ns() && is_over.is_none() {
            is_over = recorder.pass(now, &|| counters_since(engine, before), enough);
        }
        // Half healthy and half degraded is a measurement of neither.
        if let Some(failure) = engine.failure() {
            return Err(failure);
        }
    }
    Ok(recorder.finish(counters_since(engine, before), is_over))
}

/// What the members have done, and this thread's time on a CPU since it had spent `before`.
fn counters_since(engine: &Engine, before: Nanos) -> (Counters, Nanos) {
    let mut counters = Counters::default();
    engine.count(&mut counters);
    (counters, cpu_ns() - before)
}

/// Nanoseconds that this thread has spent on a CPU.
pub(super) fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
