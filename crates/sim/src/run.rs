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
use crate::{Advance, Counters, Device, Event, Nanos, Part, Processor, Spent};
use block::{Op, Request};
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
    let mut run = Driven::new(processor, device, workload);
    let mut now = 0;
    // When to ask the workload, if nothing comes back before.
    let mut wake = Some(now);
    let (mut ended, mut unasked) = (None, 0);
    loop {
        go_on(&mut unasked, STEP_REQUESTS, stop)?;
        while wake.is_some_and(|at| at <= now) {
            go_on(&mut unasked, 1, stop)?;
            wake = run.ask(&mut now);
        }
        if wake.is_none() && !run.recorder.is_busy() {
            break;
        }
        // Until the workload is to be asked, or a batch is over, all depends on what the device gives.
        let boundary = if ended.is_none() { run.recorder.boundary_ns() } else { Nanos::MAX };
        let limit = wake.unwrap_or(Nanos::MAX).min(boundary - 1);
        now = if let Some(at) = run.device.proceed(limit, &mut run.events) {
            at
        } else {
            let Some(next) = earlier(wake, run.device.next_event()) else { break };
            if next >= boundary {
                ended = run.recorder.pass(next, &|| counted(&*run.device, processor), enough);
                wake = wake.filter(|_| ended.is_none());
            }
            run.device.advance(next, &mut run.events);
            next
        };
        if run.take_events() {
            wake = Some(now).filter(|_| ended.is_none());
        }
    }
    let (mut counters, cpu_busy_ns) = counted(run.device, processor);
    // Disks may still write what their caches hold.
    counters.close_at(now);
    Some(run.recorder.finish((counters, cpu_busy_ns), ended))
}

/// A device, what drives it, and what is recorded.
struct Driven<'a, W: ?Sized> {
    processor: &'a Processor,
    device: &'a mut dyn Device,
    workload: &'a mut W,
    recorder: Recorder,
    events: Vec<Event>,
    /// The workload's name for the request with each tag.
    names: Vec<Name>,
    /// Whether streams are recorded apart.
    are_apart: bool,
    /// Where the time of what was served at once went.
    spent: Spent,
}

impl<'a, W: Workload + ?Sized> Driven<'a, W> {
    fn new(processor: &'a Processor, device: &'a mut dyn Device, workload: &'a mut W) -> Self {
        let streams = workload.streams();
        Driven {
            processor,
            device,
            workload,
            recorder: if streams == 0 { Recorder::new() } else { Recorder::apart(streams) },
            events: Vec::new(),
            names: Vec::new(),
            are_apart: streams > 0,
            spent: Spent::NONE,
        }
    }

    /// Does what the workload wants `now`; returns when to ask it again, if nothing comes back before. What it waits for
    /// alone may be served at once: then it is as late.
    #[inline]
    fn ask(&mut self, now: &mut Nanos) -> Option<Nanos> {
        match self.workload.next(*now) {
            Next::Issue(name, request) => {
                *now = self.issue(*now, name, &request);
                Some(*now)
            }
            Next::Work(name, work_ns) => {
                let (_, end) = self.processor.work(*now, work_ns);
                self.workload.worked(end, name);
                Some(*now)
            }
            Next::At(at) => Some(at),
            Next::Nothing => None,
        }
    }

    /// The workload has issued `request`. Returns when it was served, where that was at once; otherwise it is in flight `now`.
    #[inline]
    fn issue(&mut self, now: Nanos, name: Name, request: &Request) -> Nanos {
        if self.workload.counts() != self.recorder.is_counting() {
            self.recorder.turn(now, counted(self.device, self.processor));
        }
        let tag = self.recorder.next_tag();
        let is_alone = !self.recorder.is_busy() && request.op == Op::Read && self.workload.waits();
        if is_alone && !self.are_apart {
            // What ends in another batch is counted when that has begun.
            let limit = self.recorder.boundary_ns() - 1;
            let served = self.device.serve(now, tag, request.parted(), limit, &mut self.spent);
            if let Some(at) = served {
                self.recorder.served(now, at, request.sectors, &self.spent);
                self.workload.done(at, name);
                return at;
            }
        } else {
            self.device.submit(now, tag, request.parted());
        }
        self.recorder.started(now, request);
        if tag as usize == self.names.len() {
            self.names.push(name);
        }
        self.names[tag as usize] = name;
        if self.are_apart {
            self.recorder.came(tag, self.workload.came(name));
        }
        now
    }

    /// Tells the workload and the recorder what came; returns whether anything is done.
    #[inline]
    fn take_events(&mut self) -> bool {
        let mut is_done = false;
        for event in &self.events {
            match event {
                Event::Done { tag, at, result, spent } => {
                    self.recorder.ended(*tag, *at, result.is_ok(), spent);
                    self.workload.done(*at, self.names[*tag as usize]);
                    is_done = true;
                }
                Event::Lost { .. } => self.recorder.settled(true),
                Event::Durable { .. } => self.recorder.settled(false),
            }
        }
        self.events.clear();
        is_done
    }
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
