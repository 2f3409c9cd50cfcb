//! A device that serves one request at a time, each in the same time: the simplest device.
//!
//! It stands for an ideal drive, and as the server of M/D/1 it is used to test queueing laws.

use crate::damage::Damage;
use crate::outbox::Outbox;
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
    step_by_step,
};
use block::{Op, Request};
use std::collections::VecDeque;

/// Serves requests in order of arrival, one at a time, each in `service_ns`.
#[derive(Clone, Debug)]
pub struct Server {
    geometry: Geometry,
    service_ns: Nanos,
    /// Requests in flight: tag, request, arrival, end.
    in_flight: VecDeque<(Tag, Request, Nanos, Nanos)>,
    free_at: Nanos,
    outbox: Outbox,
    failed: bool,
    damage: Damage,
    counters: TargetCounters,
}

impl Server {
    /// One target of `sectors` sectors.
    pub fn new(sectors: u64, service_ns: Nanos) -> Self {
        Server {
            geometry: Geometry::single(sectors),
            service_ns,
            in_flight: VecDeque::new(),
            free_at: 0,
            outbox: Outbox::default(),
            failed: false,
            damage: Damage::default(),
            counters: TargetCounters::default(),
        }
    }

    /// Does everything that is due by `now`.
    fn do_due(&mut self, now: Nanos, out: &mut Vec<Event>) {
        self.outbox.collect(now, out);
        while let Some(&(tag, request, arrived, end)) = self.in_flight.front()
            && end <= now
        {
            self.in_flight.pop_front();
            let mut spent = Spent::NONE;
            spent.add(Part::QUEUE, end - arrived - self.service_ns);
            spent.add(Part::OVERHEAD, self.service_ns);
            self.counters.commands += 1;
            let (first, last) = (request.sector, request.end());
            if request.op == Op::Read && self.damage.meets(first, last, |_, _| false) {
                out.push(Event::Done { tag, at: end, result: Err(Fault::Medium), spent });
                continue;
            }
            out.push(Event::Done { tag, at: end, result: Ok(()), spent });
            match request.op {
                Op::Read => self.counters.sectors_read += u64::from(request.sectors),
                Op::Write { .. } => {
                    self.counters.sectors_written += u64::from(request.sectors);
                    self.damage.repair(first, last);
                }
                Op::Zeroes => self.damage.repair(first, last),
                Op::Flush | Op::Discard => {}
            }
            if request.op.modifies() {
                out.push(Event::Durable { tag, at: end });
            }
        }
    }
}

impl Device for Server {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        if self.failed {
            return self.outbox.refuse(now, tag, now, Fault::Failed);
        }
        self.free_at = self.free_at.max(now) + self.service_ns;
        self.counters.busy_ns += self.service_ns;
        self.in_flight.push_back((tag, request, now, self.free_at));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.outbox.next_event().or_else(|| self.in_flight.front().map(|&(.., end)| end))
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
        self.counters.busy_ns -= self.free_at.saturating_sub(now);
        self.free_at = self.free_at.min(now);
        while let Some((tag, _, arrived, _)) = self.in_flight.pop_front() {
            self.outbox.refuse(now, tag, arrived, fault);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.targets.push(self.counters);
    }
}
