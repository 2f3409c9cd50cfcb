//! Running a workload on a device, and what is measured.

mod batches;
mod earliest;
mod outcome;
mod recorder;
mod tally;
#[cfg(test)]
mod tests;

pub use batches::{Batch, Batches};
pub use recorder::{Ended, Recorded, Recorder};

use crate::outbox::earlier;
use crate::workload::{Jobs, Name, Next, Workload};
use crate::{Advance, Counters, Device, Event, Nanos, Part, Processor};
use hdrhistogram::Histogram;

/// The result of one run of a workload. Its size does not depend on the number of requests.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Successful reads and writes, without flushes and discards.
    pub requests: u64,
    /// Failed requests.
    pub faults: u64,
    /// Successful writes that were later lost with the target that held them.
    pub lost_writes: u64,
    /// Bytes that the successful ones read or wrote.
    pub bytes: u64,
    /// From the start to the last request's end, in ns.
    pub elapsed_ns: Nanos,
    /// Latencies in ns, to three digits.
    pub latency_ns: Histogram<u64>,
    /// Reads and writes, counted separately.
    pub directions: [Direction; 2],
    /// Latencies of flushes in ns.
    pub flush_ns: Histogram<u64>,
    /// Each stream that is recorded apart; latencies count from when the program had the request.
    pub streams: Vec<StreamOutcome>,
    /// Where the time of all requests went, in ns, summed; in the order of [`Part::all`].
    pub spent_ns: [u128; Part::COUNT],
    /// The workload's own work between requests while none was in flight, in ns.
    pub idle_ns: Nanos,
    /// Time the host's processor was at work, in ns.
    pub cpu_busy_ns: Nanos,
    /// The counters of the device.
    pub counters: Counters,
}

/// The successful requests of one direction.
#[derive(Clone, Debug)]
pub struct Direction {
    /// How many.
    pub requests: u64,
    /// Bytes that they carried.
    pub bytes: u64,
    /// Their latencies in ns, to three digits.
    pub latency_ns: Histogram<u64>,
}

/// The successful requests of one stream.
#[derive(Clone, Debug)]
pub struct StreamOutcome {
    /// From the start to its own last request's end, in ns; others may go on for longer.
    pub elapsed_ns: Nanos,
    /// Reads and writes.
    pub directions: [Direction; 2],
    /// Commits, in ns: from when the program had the first write until the flush behind the last is done.
    pub commit_ns: Histogram<u64>,
}

/// Runs `workload` on `device` from time 0 until its last request has come back, with a processor that
/// nothing else uses.
///
/// # Panics
///
/// Where the device breaks its contract: a request is in flight but there is no next event.
pub fn run(device: &mut dyn Device, workload: &mut dyn Workload) -> Outcome {
    run_on(&Processor::default(), device, workload)
}

/// The same on a machine whose `processor` does the workload's own work, and possibly that of the
/// driver of `device`.
///
/// # Panics
///
/// As [`run`].
pub fn run_on(
    processor: &Processor,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
) -> Outcome {
    run_until(processor, device, workload, &mut |_| false).outcome
}

/// The same until the measurement is long `enough`, which is asked each time that it is half as long again. Then
/// no more requests are made, and those in flight come back.
///
/// # Panics
///
/// As [`run`].
pub fn run_until(
    processor: &Processor,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
    enough: &mut dyn FnMut(&Batches) -> bool,
) -> Recorded {
    driven(processor, device, workload, enough, &|| false).expect("nothing stops it")
}

/// The same, and nothing where `stop` says so before the end: it is asked once in a while.
///
/// # Panics
///
/// As [`run`].
pub fn run_unless(
    processor: &Processor,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
    enough: &mut dyn FnMut(&Batches) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Recorded> {
    driven(processor, device, workload, enough, stop)
}

/// The same for jobs, compiled for them: most runs are of jobs, and some of their requests cost little more than calls.
///
/// # Panics
///
/// As [`run`].
pub fn run_jobs(
    processor: &Processor,
    device: &mut dyn Device,
    jobs: &mut Jobs,
    enough: &mut dyn FnMut(&Batches) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Recorded> {
    driven(processor, device, jobs, enough, stop)
}

/// Whoever may stop a run is asked once in so many of its steps: a step of 24 disks with parity may take a millisecond.
const STEPS_UNASKED: u32 = 64;
/// A request counts for so much of a step: millions may come at one time, and be in flight from the beginning.
const STEP_REQUESTS: u32 = 256;

/// Counts so many requests since `stop` was asked, and asks it when it is time; nothing where it says so.
#[inline]
fn go_on(unasked: &mut u32, requests: u32, stop: &dyn Fn() -> bool) -> Option<()> {
    *unasked += requests;
    if *unasked < STEPS_UNASKED * STEP_REQUESTS {
        return Some(());
    }
    *unasked = 0;
    if stop() { None } else { Some(()) }
}

fn driven<W: Workload + ?Sized>(
    processor: &Processor,
    device: &mut dyn Device,
    workload: &mut W,
    enough: &mut dyn FnMut(&Batches) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Recorded> {
    let streams = workload.streams();
    let mut recorder = if streams == 0 { Recorder::new() } else { Recorder::apart(streams) };
    let mut events = Vec::new();
    let mut names: Vec<Name> = Vec::new();
    let mut now = 0;
    // When to ask the workload, if nothing comes back before.
    let mut wake = Some(now);
    let (mut ended, mut unasked) = (None, 0);
    loop {
        go_on(&mut unasked, STEP_REQUESTS, stop)?;
        while wake.is_some_and(|at| at <= now) {
            go_on(&mut unasked, 1, stop)?;
            wake = match workload.next(now) {
                Next::Issue(name, request) => {
                    if workload.counts() != recorder.is_counting() {
                        recorder.turn(now, counted(device, processor));
                    }
                    let tag = recorder.started(now, &request);
                    if tag as usize == names.len() {
                        names.push(name);
                    }
                    names[tag as usize] = name;
                    if streams > 0 {
                        recorder.came(tag, workload.came(name));
                    }
                    device.submit(now, tag, request.parted());
                    Some(now)
                }
                Next::Work(name, work_ns) => {
                    let (_, end) = processor.work(now, work_ns);
                    workload.worked(end, name);
                    Some(now)
                }
                Next::At(at) => Some(at),
                Next::Nothing => None,
            }
        }
        if wake.is_none() && !recorder.is_busy() {
            break;
        }
        // Until the workload is to be asked, or a batch is over, all depends on what the device gives.
        let boundary = if ended.is_none() { recorder.boundary_ns() } else { Nanos::MAX };
        let came = device.proceed(wake.unwrap_or(Nanos::MAX).min(boundary - 1), &mut events);
        now = if let Some(at) = came {
            at
        } else {
            let Some(next) = earlier(wake, device.next_event()) else { break };
            if next >= boundary {
                ended = recorder.pass(next, &|| counted(device, processor), enough);
                wake = wake.filter(|_| ended.is_none());
            }
            device.advance(next, &mut events);
            next
        };
        for event in &events {
            match event {
                Event::Done { tag, at, result, spent } => {
                    recorder.ended(*tag, *at, result.is_ok(), spent);
                    workload.done(*at, names[*tag as usize]);
                    wake = Some(now).filter(|_| ended.is_none());
                }
                Event::Lost { .. } => recorder.settled(true),
                Event::Durable { .. } => recorder.settled(false),
            }
        }
        events.clear();
    }
    let (mut counters, cpu_busy_ns) = counted(device, processor);
    // Disks may still write what their caches hold.
    counters.close_at(now);
    Some(recorder.finish((counters, cpu_busy_ns), ended))
}

/// The device's counters, and the processor's work so far.
fn counted(device: &dyn Device, processor: &Processor) -> (Counters, Nanos) {
    let mut counters = Counters::default();
    device.count(&mut counters);
    (counters, processor.busy_ns())
}

/// Lets a device finish its own work: what it still has to restore or write.
pub fn settle(device: &mut dyn Device) {
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
        events.clear();
    }
}
