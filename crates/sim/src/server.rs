//! A device that serves one request at a time, each in the same time: the simplest there is.
//!
//! It stands for an ideal drive, and as the server of M/D/1 it is what queueing laws are tested on.

use crate::outbox::Outbox;
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
};
use block::{Op, Request};
use std::collections::VecDeque;

/// Serves requests in order of arrival, one at a time, each in `service_ns`.
#[derive(Clone, Debug)]
pub struct Server {
    geometry: Geometry,
    service_ns: Nanos,
    /// Requests under way: tag, request, arrival, end.
    under_way: VecDeque<(Tag, Request, Nanos, Nanos)>,
    free_at: Nanos,
    outbox: Outbox,
    failed: bool,
    counters: TargetCounters,
}

impl Server {
    /// One target of `sectors` sectors.
    pub fn new(sectors: u64, service_ns: Nanos) -> Self {
        Server {
            geometry: Geometry::single(sectors),
            service_ns,
            under_way: VecDeque::new(),
            free_at: 0,
            outbox: Outbox::default(),
            failed: false,
            counters: TargetCounters::default(),
        }
    }

    fn refuse(&mut self, now: Nanos, tag: Tag, arrived: Nanos, fault: Fault) {
        let mut spent = Spent::NONE;
        spent.add(Part::Queue, now - arrived);
        self.outbox.push(Event::Done { tag, at: now, result: Err(fault), spent });
    }
}

impl Device for Server {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        if self.failed {
            return self.refuse(now, tag, now, Fault::Failed);
        }
        self.free_at = self.free_at.max(now) + self.service_ns;
        self.counters.busy_ns += self.service_ns;
        self.under_way.push_back((tag, request, now, self.free_at));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.outbox.next_event().or_else(|| self.under_way.front().map(|&(.., end)| end))
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        self.outbox.collect(now, out);
        while let Some(&(tag, request, arrived, end)) = self.under_way.front()
            && end <= now
        {
            self.under_way.pop_front();
            let mut spent = Spent::NONE;
            spent.add(Part::Queue, end - arrived - self.service_ns);
            spent.add(Part::Overhead, self.service_ns);
            out.push(Event::Done { tag, at: end, result: Ok(()), spent });
            self.counters.commands += 1;
            match request.op {
                Op::Read => self.counters.sectors_read += u64::from(request.sectors),
                Op::Write { .. } => {
                    self.counters.sectors_written += u64::from(request.sectors);
                    out.push(Event::Durable { tag, at: end });
                }
                Op::Flush | Op::Discard | Op::Zeroes => {}
            }
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        let fault = what.fault();
        self.failed |= fault == Fault::Failed;
        self.counters.busy_ns -= self.free_at.saturating_sub(now);
        self.free_at = self.free_at.min(now);
        while let Some((tag, _, arrived, _)) = self.under_way.pop_front() {
            self.refuse(now, tag, arrived, fault);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.targets.push(self.counters);
    }
}
