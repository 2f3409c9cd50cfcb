//! A cloud volume: a delay behind token buckets.
//!
//! ```text
//! command    metered: how many I/Os it is billed as      waits for each limit, in order of arrival      delay
//! ```
//!
//! What the service does inside is not known, and measured latencies do not depend on the load below the limits
//! (docs/cloud.md). So there is no queue besides that of the limits, and each command takes one of the times that
//! are equally likely ([`CloudSpec::read_ns`]). A write is durable when it is done: a flush costs nothing.

mod bucket;
mod parts;
mod spec;

pub(crate) use bucket::{Bucket, Cost, Meter};
pub(crate) use parts::PARTS;
pub use spec::{CloudError, CloudSpec, Counts, Limit};

use crate::damage::Damage;
use crate::flash::mixed;
use crate::outbox::{Outbox, earlier};
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
    step_by_step,
};
use block::{Op, Request, SECTOR_BYTES};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cloud volume with one target.
#[derive(Clone, Debug)]
pub struct CloudVolume {
    geometry: Geometry,
    meter: Meter,
    gate: Gate,
    read_ns: Vec<Nanos>,
    write_ns: Vec<Nanos>,
    /// What credit was short of when the run began, in I/Os.
    owed_at_start: f64,
    seed: u64,
    arrivals: u64,
    /// Commands in flight, by slot; the heap has when each is done, those of the same time in order of arrival.
    flights: Vec<Flight>,
    free: Vec<u32>,
    due: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    outbox: Outbox,
    failed: bool,
    damage: Damage,
    counters: TargetCounters,
    busy_since: Nanos,
}

/// A command in flight; none where the slot is free.
type Flight = Option<(Tag, Request, Nanos, Spent)>;

/// Limits that commands pass in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    buckets: Vec<Bucket>,
    /// When the last command passed, and what it had waited for.
    passed_at: Nanos,
    held_by: Part,
}

impl Gate {
    /// # Errors
    ///
    /// Where a limit lets nothing pass.
    pub(crate) fn new(limits: &[Limit]) -> Result<Self, CloudError> {
        limits.iter().try_for_each(Limit::check)?;
        let buckets = limits.iter().copied().map(Bucket::new).collect();
        Ok(Gate { buckets, passed_at: 0, held_by: Part::IO_LIMIT })
    }

    /// When a command that arrives at `now` passes, and the part of its time that the wait is.
    pub(crate) fn pass(&mut self, now: Nanos, cost: &Cost) -> (Nanos, Part) {
        let mut at = now.max(self.passed_at);
        for bucket in &self.buckets {
            let opens_at = bucket.opens_at(now, cost);
            if opens_at > at {
                (at, self.held_by) = (opens_at, bucket.limit().counts.part());
            }
        }
        for bucket in &mut self.buckets {
            bucket.take(at, cost);
        }
        self.passed_at = at;
        (at, self.held_by)
    }

    /// Those that wait are aborted.
    pub(crate) fn release(&mut self, now: Nanos) {
        self.passed_at = self.passed_at.min(now);
        for bucket in &mut self.buckets {
            bucket.release(now);
        }
    }

    /// What is owed to burst credit, in I/Os of `unit_bytes`.
    fn owed_ios(&self, unit_bytes: u64) -> f64 {
        let owed = |bucket: &Bucket| {
            let tokens = bucket.owed(self.passed_at);
            match bucket.limit().counts {
                Counts::Ios => tokens,
                Counts::Bytes | Counts::UnitBytes => tokens / unit_bytes as f64,
            }
        };
        let credits = self.buckets.iter().filter(|bucket| bucket.limit().is_credit);
        credits.map(owed).fold(0.0, f64::max)
    }
}

impl CloudVolume {
    /// A volume as in `spec`, whose times follow from `seed`.
    ///
    /// # Errors
    ///
    /// Where the figures make no volume.
    pub fn new(spec: &CloudSpec, seed: u64) -> Result<Self, CloudError> {
        spec.check()?;
        let gate = Gate::new(&spec.limits)?;
        Ok(CloudVolume {
            geometry: Geometry::single(spec.sectors),
            meter: Meter::new(spec.unit_bytes, spec.merges),
            owed_at_start: gate.owed_ios(spec.unit_bytes.into()),
            gate,
            read_ns: spec.read_ns.clone(),
            write_ns: spec.write_ns.clone(),
            seed,
            arrivals: 0,
            flights: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            outbox: Outbox::default(),
            failed: false,
            damage: Damage::default(),
            counters: TargetCounters::default(),
            busy_since: 0,
        })
    }

    /// What the service takes for the next command: one of the times, by chance.
    fn delay_ns(&self, op: Op) -> Nanos {
        let times = match op {
            Op::Read => &self.read_ns,
            Op::Write { .. } | Op::Discard | Op::Zeroes => &self.write_ns,
            Op::Flush => return 0,
        };
        let chance = mixed(self.seed ^ self.arrivals);
        times[((u128::from(chance) * times.len() as u128) >> 64) as usize]
    }

    fn finish(&mut self, at: Nanos, slot: u32, out: &mut Vec<Event>) {
        let flight = self.flights[slot as usize].take();
        let (tag, request, _, spent) = flight.expect("what is due is in flight");
        self.free.push(slot);
        let (first, last) = (request.sector, request.end());
        let is_unreadable = request.op == Op::Read && self.damage.meets(first, last, |_, _| false);
        let result = if is_unreadable { Err(Fault::Medium) } else { Ok(()) };
        out.push(Event::Done { tag, at, result, spent });
        self.counters.commands += 1;
        match request.op {
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { .. } => self.counters.sectors_written += u64::from(request.sectors),
            Op::Flush | Op::Discard | Op::Zeroes => {}
        }
        if matches!(request.op, Op::Write { .. } | Op::Zeroes) {
            self.damage.repair(first, last);
        }
        if request.op.modifies() {
            out.push(Event::Durable { tag, at });
        }
        if self.due.is_empty() {
            self.counters.busy_ns += at - self.busy_since;
        }
    }

    /// Does everything that is due by `now`.
    fn do_due(&mut self, now: Nanos, out: &mut Vec<Event>) {
        self.outbox.collect(now, out);
        while let Some(&Reverse((at, _, slot))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            self.finish(at, slot, out);
        }
    }
}

impl Device for CloudVolume {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        if self.failed {
            return self.outbox.refuse(now, tag, now, Fault::Failed);
        }
        if self.due.is_empty() {
            self.busy_since = now;
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let cost = self.meter.charge(now, request.op, request.sector, bytes);
        let (passes_at, limit) = self.gate.pass(now, &cost);
        let delay_ns = self.delay_ns(request.op);
        self.meter.is_done_at(passes_at + delay_ns);
        let mut spent = Spent::NONE;
        spent.add(limit, passes_at - now);
        spent.add(Part::OVERHEAD, delay_ns);
        self.counters.billed += cost.ios;
        let flight = Some((tag, request, now, spent));
        let slot = self.free.pop().unwrap_or(self.flights.len() as u32);
        match self.flights.get_mut(slot as usize) {
            Some(place) => *place = flight,
            None => self.flights.push(flight),
        }
        self.due.push(Reverse((passes_at + delay_ns, self.arrivals, slot)));
        self.arrivals += 1;
    }

    fn next_event(&self) -> Option<Nanos> {
        earlier(self.due.peek().map(|&Reverse((at, ..))| at), self.outbox.next_event())
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::do_due)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if let Disturbance::MediumError { sector, sectors, .. } = what {
            return self.damage.add(sector, sector + u64::from(sectors));
        }
        let fault = what.fault();
        self.failed |= fault == Fault::Failed;
        if !self.due.is_empty() {
            self.counters.busy_ns += now - self.busy_since;
        }
        self.gate.release(now);
        for Reverse((.., slot)) in std::mem::take(&mut self.due).into_sorted_vec() {
            self.free.push(slot);
            if let Some((tag, _, arrived, _)) = self.flights[slot as usize].take() {
                self.outbox.refuse(now, tag, arrived, fault);
            }
        }
    }

    fn count(&self, counters: &mut Counters) {
        let busy_since = (!self.due.is_empty()).then_some(self.busy_since);
        let owed_ios = self.gate.owed_ios(self.meter.unit_bytes());
        let on_credit = (owed_ios - self.owed_at_start).max(0.0).round() as u64;
        counters.targets.push(TargetCounters { on_credit, busy_since, ..self.counters });
    }
}
