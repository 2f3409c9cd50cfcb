//! Running a workload on a device, and what is measured on the way.

use crate::workload::Workload;
use crate::{Counters, Device, Event, Nanos, Part, Spent};
use block::{Op, SECTOR_BYTES};
use hdrhistogram::Histogram;

/// What one run of a workload was like. Its size does not depend on the number of requests.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Requests that came back well.
    pub requests: u64,
    /// Requests that came back with a fault.
    pub faults: u64,
    /// Bytes that the well ones read or wrote.
    pub bytes: u64,
    /// From the start to the last request's end, in ns.
    pub elapsed_ns: Nanos,
    /// Latencies in ns, to three digits.
    pub latency_ns: Histogram<u64>,
    /// Where the time of all requests went, in ns, summed; in the order of [`Part::ALL`].
    pub spent_ns: [u128; Part::ALL.len()],
    /// What the workload itself did between requests while none was under way, in ns.
    pub idle_ns: Nanos,
    /// What the device did.
    pub counters: Counters,
}

/// Runs `workload` on `device` from time 0 until its last request has come back.
///
/// # Panics
///
/// Where the device breaks its contract: it owes a request but has no next event.
pub fn run(device: &mut dyn Device, workload: &mut dyn Workload) -> Outcome {
    let mut recorder = Recorder::new();
    let mut events = Vec::new();
    let mut held = workload.next(0);
    let mut now = 0;
    loop {
        while let Some((at, request)) = held
            && at <= now
        {
            let tag = recorder.started(now, &request);
            device.submit(now, tag, request);
            held = workload.next(now);
        }
        let next = match (held.map(|(at, _)| at), device.next_event()) {
            (Some(issue), Some(event)) => issue.min(event),
            (Some(issue), None) => issue,
            (None, Some(event)) if recorder.under_way > 0 => event,
            (None, _) => break,
        };
        device.advance(next, &mut events);
        now = next;
        for event in events.drain(..) {
            if let Event::Done { tag, at, result, spent } = event {
                recorder.ended(tag, at, result.is_ok(), &spent);
                workload.done(at);
            }
        }
        if held.is_none() {
            held = workload.next(now);
        }
    }
    let mut outcome = recorder.finish();
    device.count(&mut outcome.counters);
    outcome
}

/// Requests under way, and the outcome so far; for a run in virtual time or by the clock.
pub struct Recorder {
    /// For each tag in use, when it started and what it carries.
    started: Vec<(Nanos, u64)>,
    free: Vec<u64>,
    under_way: u64,
    last_end: Nanos,
    outcome: Outcome,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::new()
    }
}

impl Recorder {
    /// Nothing has happened, at time 0.
    pub fn new() -> Self {
        let latency_ns = Histogram::new(3).expect("three digits are within its range");
        Recorder {
            started: Vec::new(),
            free: Vec::new(),
            under_way: 0,
            last_end: 0,
            outcome: Outcome {
                requests: 0,
                faults: 0,
                bytes: 0,
                elapsed_ns: 0,
                latency_ns,
                spent_ns: [0; Part::ALL.len()],
                idle_ns: 0,
                counters: Counters::default(),
            },
        }
    }

    /// A request starts; gives it a name.
    pub fn started(&mut self, now: Nanos, request: &block::Request) -> u64 {
        if self.under_way == 0 {
            self.outcome.idle_ns += now - self.last_end;
        }
        self.under_way += 1;
        let bytes = match request.op {
            Op::Read | Op::Write { .. } => u64::from(request.sectors) * SECTOR_BYTES,
            Op::Flush | Op::Discard | Op::Zeroes => 0,
        };
        if let Some(tag) = self.free.pop() {
            self.started[tag as usize] = (now, bytes);
            tag
        } else {
            self.started.push((now, bytes));
            self.started.len() as u64 - 1
        }
    }

    /// The request of this name came back, `well` or with a fault, having spent its time so.
    pub fn ended(&mut self, tag: u64, at: Nanos, well: bool, spent: &Spent) {
        let (start, bytes) = self.started[tag as usize];
        self.free.push(tag);
        self.under_way -= 1;
        self.last_end = at;
        let outcome = &mut self.outcome;
        outcome.elapsed_ns = at;
        if !well {
            outcome.faults += 1;
            return;
        }
        debug_assert_eq!(spent.total(), at - start, "what was spent is not the latency: {spent:?}");
        outcome.requests += 1;
        outcome.bytes += bytes;
        outcome.latency_ns.record(at - start).expect("the histogram grows as needed");
        for part in Part::ALL {
            outcome.spent_ns[part as usize] += u128::from(spent[part]);
        }
    }

    /// Whether anything is under way.
    pub fn is_busy(&self) -> bool {
        self.under_way > 0
    }

    /// The outcome, what the device did left to be added.
    ///
    /// # Panics
    ///
    /// Where a request has not come back.
    pub fn finish(self) -> Outcome {
        assert_eq!(self.under_way, 0, "the device still owes requests");
        self.outcome
    }
}
