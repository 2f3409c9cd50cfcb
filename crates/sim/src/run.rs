//! Running a workload on a device, and what is measured.

use crate::workload::{Name, Next, Workload};
use crate::{Counters, Device, Event, Nanos, Part, Processor, Spent};
use block::{Op, SECTOR_BYTES};
use hdrhistogram::Histogram;

/// The result of one run of a workload. Its size does not depend on the number of requests.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Successful requests, without flushes.
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
    /// Where the time of all requests went, in ns, summed; in the order of [`Part::all`].
    pub spent_ns: [u128; Part::COUNT],
    /// The workload's own work between requests while none was in flight, in ns.
    pub idle_ns: Nanos,
    /// Time the host's processor was at work, in ns.
    pub cpu_busy_ns: Nanos,
    /// The counters of the device.
    pub counters: Counters,
}

impl Outcome {
    fn take_in(&mut self, spent: Spent) {
        for part in Part::all() {
            self.spent_ns[part.index()] += u128::from(spent[part]);
        }
    }
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

/// Runs `workload` on `device` from time 0 until its last request has come back, with a processor that
/// nothing else uses.
///
/// # Panics
///
/// Where the device breaks its contract: a request is in flight but there is no next event.
pub fn run<W: Workload + ?Sized>(device: &mut dyn Device, workload: &mut W) -> Outcome {
    run_on(&Processor::default(), device, workload)
}

/// The same on a machine whose `processor` does the workload's own work, and possibly that of the
/// driver of `device`.
///
/// # Panics
///
/// As [`run`].
pub fn run_on<W: Workload + ?Sized>(
    processor: &Processor,
    device: &mut dyn Device,
    workload: &mut W,
) -> Outcome {
    let mut recorder = Recorder::new();
    let mut events = Vec::new();
    let mut names: Vec<Name> = Vec::new();
    let mut now = 0;
    // When to ask the workload, if nothing comes back before.
    let mut wake = Some(now);
    loop {
        while wake.is_some_and(|at| at <= now) {
            wake = match workload.next(now) {
                Next::Issue(name, request) => {
                    let tag = recorder.started(now, &request);
                    if tag as usize == names.len() {
                        names.push(name);
                    }
                    names[tag as usize] = name;
                    device.submit(now, tag, request);
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
        let next = match (wake, device.next_event()) {
            (Some(wake), Some(event)) => wake.min(event),
            (Some(wake), None) => wake,
            (None, Some(event)) if recorder.in_flight > 0 => event,
            (None, _) => break,
        };
        device.advance(next, &mut events);
        now = next;
        for event in &events {
            match event {
                Event::Done { tag, at, result, spent } => {
                    recorder.ended(*tag, *at, result.is_ok(), spent);
                    workload.done(*at, names[*tag as usize]);
                    wake = Some(now);
                }
                Event::Lost { .. } => recorder.outcome.lost_writes += 1,
                Event::Durable { .. } => {}
            }
        }
        events.clear();
    }
    let mut outcome = recorder.finish();
    device.count(&mut outcome.counters);
    outcome.cpu_busy_ns = processor.busy_ns();
    outcome
}

/// Lets a device finish its own work: what it still has to restore or write.
pub fn settle(device: &mut dyn Device) {
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
        events.clear();
    }
}

/// Requests in flight, and the result so far; for a run in virtual time or by the clock.
pub struct Recorder {
    /// For each tag in use: when it started, what it carries, and the workload's name for it.
    started: Vec<(Nanos, u64, Sort)>,
    free: Vec<u64>,
    in_flight: u64,
    last_end: Nanos,
    /// Where the time of the last requests went, not yet in the outcome, and their latencies summed.
    spent: Spent,
    latencies_ns: Nanos,
    outcome: Outcome,
}

/// Which of the latency histograms a request belongs to.
#[derive(Clone, Copy, Debug)]
enum Sort {
    Read,
    Modify,
    Flush,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::new()
    }
}

impl Recorder {
    /// Nothing has happened, at time 0.
    pub fn new() -> Self {
        let histogram = || Histogram::new(3).expect("three digits are within its range");
        let direction = || Direction { requests: 0, bytes: 0, latency_ns: histogram() };
        Recorder {
            started: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            last_end: 0,
            spent: Spent::NONE,
            latencies_ns: 0,
            outcome: Outcome {
                requests: 0,
                faults: 0,
                lost_writes: 0,
                bytes: 0,
                elapsed_ns: 0,
                latency_ns: histogram(),
                directions: [direction(), direction()],
                flush_ns: histogram(),
                spent_ns: [0; Part::COUNT],
                idle_ns: 0,
                cpu_busy_ns: 0,
                counters: Counters::default(),
            },
        }
    }

    /// A request starts; returns its tag.
    pub fn started(&mut self, now: Nanos, request: &block::Request) -> u64 {
        if self.in_flight == 0 {
            self.outcome.idle_ns += now - self.last_end;
        }
        self.in_flight += 1;
        let bytes = match request.op {
            Op::Read | Op::Write { .. } => u64::from(request.sectors) * SECTOR_BYTES,
            Op::Flush | Op::Discard | Op::Zeroes => 0,
        };
        let sort = match request.op {
            Op::Read => Sort::Read,
            Op::Flush => Sort::Flush,
            Op::Write { .. } | Op::Discard | Op::Zeroes => Sort::Modify,
        };
        if let Some(tag) = self.free.pop() {
            self.started[tag as usize] = (now, bytes, sort);
            tag
        } else {
            self.started.push((now, bytes, sort));
            self.started.len() as u64 - 1
        }
    }

    /// The request with this tag came back, successful or not; `spent` says where its time went.
    pub fn ended(&mut self, tag: u64, at: Nanos, well: bool, spent: &Spent) {
        let (start, bytes, sort) = self.started[tag as usize];
        self.free.push(tag);
        self.in_flight -= 1;
        self.last_end = at;
        let outcome = &mut self.outcome;
        outcome.elapsed_ns = at;
        if !well {
            outcome.faults += 1;
            return;
        }
        debug_assert_eq!(spent.total(), at - start, "what was spent is not the latency: {spent:?}");
        let direction = match sort {
            Sort::Flush => {
                return outcome.flush_ns.record(at - start).expect("the histogram grows as needed");
            }
            Sort::Read => &mut outcome.directions[0],
            Sort::Modify => &mut outcome.directions[1],
        };
        direction.requests += 1;
        direction.bytes += bytes;
        direction.latency_ns.record(at - start).expect("the histogram grows as needed");
        // No part is longer than the latency, so that none of the sums overflows before that of latencies.
        self.latencies_ns = self.latencies_ns.checked_add(at - start).unwrap_or_else(|| {
            self.outcome.take_in(std::mem::take(&mut self.spent));
            at - start
        });
        self.spent += *spent;
    }

    /// Whether anything is in flight.
    pub fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    /// The result, still without the device's counters.
    ///
    /// # Panics
    ///
    /// Where a request has not come back.
    pub fn finish(self) -> Outcome {
        assert_eq!(self.in_flight, 0, "the device still owes requests");
        let mut outcome = self.outcome;
        outcome.take_in(self.spent);
        for direction in &outcome.directions {
            outcome.requests += direction.requests;
            outcome.bytes += direction.bytes;
            outcome.latency_ns.add(&direction.latency_ns).expect("the histogram grows as needed");
        }
        outcome
    }
}
