//! The queue that a kernel keeps in front of a device, and the order in which it lets requests go.
//!
//! Only so many requests are with the device at a time; the rest wait here, where the kernel can sort
//! them. It knows sectors, not angles, so it sorts by sector. Each target has a queue of its own.
//!
//! ```text
//! the last request to go was at sector 50; waiting, in order of arrival: 90, 10, 60
//! first come, first served   90 10 60
//! C-LOOK                     60 90 10
//! deadline                   60 90 10, but whichever has waited too long goes first
//! ```

use crate::outbox::{Outbox, earlier};
use crate::{Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag};
use block::{Op, Request};
use slab::Slab;
use std::collections::BTreeSet;

/// In which order requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they came (`bufq fcfs`, Linux `none`).
    Fcfs,
    /// Upwards by sector, and again from the lowest: `disksort(9)`.
    CLook,
    /// Linux's `deadline`: C-LOOK in batches of one direction, reads before writes, but none waits
    /// for ever.
    Deadline(Deadline),
}

/// The constants of [`Order::Deadline`]; the defaults are the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// A read that has waited this long goes next, in ns.
    pub read_expires_ns: Nanos,
    /// The same for a write, in ns.
    pub write_expires_ns: Nanos,
    /// How many go in sector order before the oldest is looked at.
    pub batch: u32,
    /// How many batches of reads may go before a batch of writes that waits.
    pub writes_starved: u32,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline {
            read_expires_ns: 500_000_000,
            write_expires_ns: 5_000_000_000,
            batch: 16,
            writes_starved: 2,
        }
    }
}

/// A queue in front of a device.
pub struct Scheduler<D> {
    below: D,
    order: Order,
    /// How many requests of each target may be below.
    outstanding: u32,
    requests: Slab<Active>,
    queues: Vec<Queue>,
    next_number: u64,
    outbox: Outbox,
    events: Vec<Event>,
}

/// A request that waits, or is below, or is not yet durable.
#[derive(Clone, Copy, Debug)]
struct Active {
    tag: Tag,
    request: Request,
    /// Its place in the order of arrival.
    number: u64,
    /// 0 or, for what is no read where the order tells them apart, 1.
    direction: usize,
    arrived: Nanos,
    /// How long it waited here.
    waited_ns: Nanos,
    finished: bool,
}

/// What waits for one target, by direction.
#[derive(Clone, Debug, Default)]
struct Queue {
    below: u32,
    /// By number, and so in order of arrival.
    oldest: [BTreeSet<(u64, usize)>; 2],
    /// By sector.
    sorted: [BTreeSet<(u64, usize)>; 2],
    /// Where the last request that went ended.
    position: u64,
    /// The direction of the batch under way, and how many more it may let go.
    batch: (usize, u32),
    starved: u32,
}

impl Queue {
    fn waits(&self, direction: usize) -> bool {
        !self.sorted[direction].is_empty()
    }

    fn oldest(&self, direction: usize) -> Option<usize> {
        self.oldest[direction].first().map(|&(_, slot)| slot)
    }

    fn next_upwards(&self, direction: usize) -> Option<(u64, usize)> {
        let sorted = &self.sorted[direction];
        sorted.range((self.position, 0)..).next().or_else(|| sorted.first()).copied()
    }

    /// The next to go at `now`; all are of the one direction where `order` knows no other.
    fn next(&mut self, now: Nanos, order: Order, requests: &Slab<Active>) -> Option<usize> {
        match order {
            Order::Fcfs => self.oldest(0),
            Order::CLook => self.next_upwards(0).map(|(_, slot)| slot),
            Order::Deadline(deadline) => self.next_by_deadline(now, &deadline, requests),
        }
    }

    fn next_by_deadline(
        &mut self,
        now: Nanos,
        deadline: &Deadline,
        requests: &Slab<Active>,
    ) -> Option<usize> {
        let (direction, left) = self.batch;
        if left > 0
            && let Some(&(_, slot)) = self.sorted[direction].range((self.position, 0)..).next()
        {
            self.batch.1 -= 1;
            return Some(slot);
        }
        let direction = match [self.waits(0), self.waits(1)] {
            [false, false] => return None,
            [true, writes] if !writes || self.starved < deadline.writes_starved => {
                self.starved += u32::from(writes);
                0
            }
            _ => {
                self.starved = 0;
                1
            }
        };
        self.batch = (direction, deadline.batch.saturating_sub(1));
        let expires_ns = [deadline.read_expires_ns, deadline.write_expires_ns][direction];
        match self.oldest(direction) {
            Some(slot) if now >= requests[slot].arrived + expires_ns => Some(slot),
            _ => self.next_upwards(direction).map(|(_, slot)| slot),
        }
    }

    fn insert(&mut self, slot: usize, active: &Active) {
        self.sorted[active.direction].insert((active.request.sector, slot));
        self.oldest[active.direction].insert((active.number, slot));
    }

    fn remove(&mut self, slot: usize, active: &Active) {
        self.sorted[active.direction].remove(&(active.request.sector, slot));
        self.oldest[active.direction].remove(&(active.number, slot));
    }
}

impl<D: Device> Scheduler<D> {
    /// Lets at most `outstanding` requests of each target of `below` be there at a time; the others
    /// wait, and go in `order`.
    ///
    /// # Panics
    ///
    /// Where none may be below.
    pub fn new(below: D, order: Order, outstanding: u32) -> Self {
        assert!(outstanding > 0, "a request that may never go never comes back");
        let targets = below.geometry().target_sectors.len();
        Scheduler {
            below,
            order,
            outstanding,
            requests: Slab::new(),
            queues: vec![Queue::default(); targets],
            next_number: 0,
            outbox: Outbox::default(),
            events: Vec::new(),
        }
    }

    fn direction(&self, request: &Request) -> usize {
        match self.order {
            Order::Fcfs | Order::CLook => 0,
            Order::Deadline(_) => usize::from(request.op != Op::Read),
        }
    }

    /// Lets requests of `target` go while there is room below.
    fn let_go(&mut self, now: Nanos, target: usize) {
        while self.queues[target].below < self.outstanding
            && let Some(slot) = self.queues[target].next(now, self.order, &self.requests)
        {
            let queue = &mut self.queues[target];
            queue.remove(slot, &self.requests[slot]);
            self.go(now, slot);
        }
    }

    fn go(&mut self, now: Nanos, slot: usize) {
        let active = &mut self.requests[slot];
        active.waited_ns = now - active.arrived;
        let queue = &mut self.queues[active.request.target as usize];
        queue.position = active.request.end();
        queue.below += 1;
        self.below.submit(now, slot as Tag, active.request);
    }

    fn done(&mut self, at: Nanos, slot: usize, result: Result<(), Fault>, mut spent: Spent) {
        let active = &mut self.requests[slot];
        spent.add(Part::Queue, active.waited_ns);
        self.outbox.push(Event::Done { tag: active.tag, at, result, spent });
        active.finished = true;
        let target = active.request.target as usize;
        if result.is_err() || !matches!(active.request.op, Op::Write { .. }) {
            self.requests.remove(slot);
        }
        self.queues[target].below -= 1;
        self.let_go(at, target);
    }

    /// Gives back all that waits.
    fn refuse_waiting(&mut self, now: Nanos, fault: Fault) {
        for target in 0..self.queues.len() {
            for direction in 0..2 {
                let queue = &mut self.queues[target];
                queue.sorted[direction].clear();
                for (_, slot) in std::mem::take(&mut queue.oldest[direction]) {
                    let Active { tag, arrived, .. } = self.requests.remove(slot);
                    let mut spent = Spent::NONE;
                    spent.add(Part::Queue, now - arrived);
                    self.outbox.push(Event::Done { tag, at: now, result: Err(fault), spent });
                }
            }
        }
    }
}

impl<D: Device> Device for Scheduler<D> {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let active = Active {
            tag,
            request,
            number: self.next_number,
            direction: self.direction(&request),
            arrived: now,
            waited_ns: 0,
            finished: false,
        };
        self.next_number += 1;
        let slot = self.requests.insert(active);
        let queue = &mut self.queues[request.target as usize];
        let batches = matches!(self.order, Order::Deadline(_));
        if !batches && queue.below < self.outstanding && !queue.waits(0) {
            // Nothing waits, so there is nothing to sort.
            return self.go(now, slot);
        }
        queue.insert(slot, &active);
        self.let_go(now, request.target as usize);
    }

    fn next_event(&self) -> Option<Nanos> {
        earlier(self.below.next_event(), self.outbox.next_event())
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        while let Some(step) = self.next_event()
            && step <= now
        {
            let mut events = std::mem::take(&mut self.events);
            self.below.advance(step, &mut events);
            for event in events.drain(..) {
                match event {
                    Event::Done { tag, at, result, spent } => {
                        self.done(at, tag as usize, result, spent);
                    }
                    Event::Durable { tag, at } => {
                        let Active { tag, .. } = self.requests.remove(tag as usize);
                        self.outbox.push(Event::Durable { tag, at });
                    }
                    Event::Lost { tag, at } => {
                        let Active { tag, .. } = self.requests.remove(tag as usize);
                        self.outbox.push(Event::Lost { tag, at });
                    }
                }
            }
            self.events = events;
            self.outbox.collect(step, out);
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
        if matches!(what, Disturbance::Fail(_)) {
            return;
        }
        self.refuse_waiting(now, what.fault());
        if what == Disturbance::PowerCut {
            // What was done but not durable is lost, and nothing more will be heard of it.
            self.requests.retain(|_, active| !active.finished);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += self.requests.len() as u64;
        self.below.count(counters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;

    /// The sectors of `requests`, all there at time 0 in this order, in the order in which they are
    /// done; one at a time is below, and each takes 1 ms.
    fn served(order: Order, requests: &[Request]) -> Vec<u64> {
        let mut scheduler = Scheduler::new(Server::new(1000, 1_000_000), order, 1);
        for (tag, &request) in requests.iter().enumerate() {
            scheduler.submit(0, tag as Tag, request);
        }
        let mut events = Vec::new();
        scheduler.advance(u64::MAX >> 1, &mut events);
        let done = events.iter().filter_map(|event| match event {
            Event::Done { tag, .. } => Some(requests[*tag as usize].sector),
            Event::Durable { .. } | Event::Lost { .. } => None,
        });
        done.collect()
    }

    fn write(sector: u64) -> Request {
        Request { op: Op::WRITE, ..Request::read(sector, 1) }
    }

    #[test]
    fn the_worked_example() {
        let requests = [49, 90, 10, 60].map(|sector| Request::read(sector, 1));
        assert_eq!(served(Order::Fcfs, &requests), [49, 90, 10, 60]);
        assert_eq!(served(Order::CLook, &requests), [49, 60, 90, 10]);
        assert_eq!(served(Order::Deadline(Deadline::default()), &requests), [49, 60, 90, 10]);
    }

    #[test]
    fn deadline_prefers_reads_but_starves_no_write() {
        let one = Deadline { batch: 1, ..Deadline::default() };
        let reads = (1..=5).map(|n| Request::read(n * 10, 1));
        let requests: Vec<Request> = [write(500), write(600)].into_iter().chain(reads).collect();
        assert_eq!(served(Order::Deadline(one), &requests), [500, 10, 20, 600, 30, 40, 50]);
    }

    #[test]
    fn what_has_waited_too_long_goes_first() {
        let hasty = Deadline { batch: 2, read_expires_ns: 2_500_000, ..Deadline::default() };
        let requests = [50, 5, 60, 70, 80, 90].map(|sector| Request::read(sector, 1));
        assert_eq!(served(Order::Deadline(hasty), &requests), [50, 60, 70, 80, 5, 90]);
    }
}
