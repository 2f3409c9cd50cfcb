//! The queue that a kernel has in front of a device, and the order in which it sends requests.
//!
//! A limited number of requests is at the device at a time. The others wait here, where the kernel can
//! sort them. It knows sectors, not angles, so it sorts by sector. Each target has its own queue.
//!
//! ```text
//! the last request sent was at sector 50; waiting, in order of arrival: 90, 10, 60
//! first come, first served   90 10 60
//! C-LOOK                     60 90 10
//! deadline                   60 90 10, but a request that has waited too long goes first
//! ```

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use block::{Op, Request};
use std::collections::BTreeMap;

/// The order in which requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In order of arrival (`bufq fcfs`, Linux `none`).
    Fcfs,
    /// Ascending by sector, then again from the lowest: `disksort(9)`.
    CLook,
    /// Linux's `deadline`: C-LOOK in batches of one direction, reads before writes, with a limit on how
    /// long any request waits.
    Deadline(Deadline),
}

/// The constants of [`Order::Deadline`]; the defaults are the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// A read that has waited this long is next, in ns.
    pub read_expires_ns: Nanos,
    /// The same for a write, in ns.
    pub write_expires_ns: Nanos,
    /// The length of a batch: how many are sent in sector order before the oldest is checked.
    pub batch: u32,
    /// How many batches of reads may be sent before a waiting batch of writes.
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
pub type Scheduler<D> = Wrapper<Schedule, D>;

/// The state of a [`Scheduler`].
#[derive(Clone, Debug)]
pub struct Schedule {
    order: Order,
    /// How many requests of each target may be below.
    depth: u32,
    queues: Vec<Queue>,
    next_number: u64,
}

/// A waiting request.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: usize,
    sector: u64,
    arrived: Nanos,
    /// Its place in the order of arrival.
    number: u64,
    /// 0 for reads, 1 for the rest where the order separates them; otherwise 0.
    direction: usize,
}

/// The waiting requests of one target, by direction.
#[derive(Clone, Debug, Default)]
struct Queue {
    below: u32,
    /// By number, and so in order of arrival: their places among those that are sorted. C-LOOK asks for no age, and
    /// nothing is here.
    oldest: [BTreeMap<u64, (u64, usize)>; 2],
    /// By sector, then slot.
    sorted: [BTreeMap<(u64, usize), Waiting>; 2],
    /// Where the last request sent ended.
    position: u64,
    /// The direction of the current batch, and how many more it may send.
    batch: (usize, u32),
    starved: u32,
}

impl Queue {
    fn waits(&self, direction: usize) -> bool {
        !self.sorted[direction].is_empty()
    }

    fn oldest(&self, direction: usize) -> Option<Waiting> {
        let (_, place) = self.oldest[direction].first_key_value()?;
        self.sorted[direction].get(place).copied()
    }

    /// The next one upwards from where the last ended; `wraps` says whether the lowest follows the
    /// highest.
    fn next_upwards(&self, direction: usize, wraps: bool) -> Option<Waiting> {
        let sorted = &self.sorted[direction];
        let lowest = || sorted.first_key_value().filter(|_| wraps);
        let (_, &next) = sorted.range((self.position, 0)..).next().or_else(lowest)?;
        Some(next)
    }

    /// The next one to send at `now`. Where `order` does not separate directions, all have the same
    /// one.
    fn next(&mut self, now: Nanos, order: Order) -> Option<Waiting> {
        match order {
            Order::Fcfs => self.oldest(0),
            Order::CLook => self.next_upwards(0, true),
            Order::Deadline(deadline) => self.next_by_deadline(now, &deadline),
        }
    }

    fn next_by_deadline(&mut self, now: Nanos, deadline: &Deadline) -> Option<Waiting> {
        let (direction, left) = self.batch;
        if left > 0
            && let Some(next) = self.next_upwards(direction, false)
        {
            self.batch.1 -= 1;
            return Some(next);
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
        let expired = |oldest: &Waiting| now >= oldest.arrived + expires_ns;
        self.oldest(direction).filter(expired).or_else(|| self.next_upwards(direction, true))
    }

    fn insert(&mut self, waiting: Waiting, order: Order) {
        let Waiting { slot, sector, number, direction, .. } = waiting;
        self.sorted[direction].insert((sector, slot), waiting);
        if order != Order::CLook {
            self.oldest[direction].insert(number, (sector, slot));
        }
    }

    fn remove(&mut self, waiting: &Waiting) {
        self.sorted[waiting.direction].remove(&(waiting.sector, waiting.slot));
        self.oldest[waiting.direction].remove(&waiting.number);
    }
}

impl<D: Device> Scheduler<D> {
    /// At most `depth` requests of each target are at `below` at a time; the others wait, and are sent
    /// in `order`.
    ///
    /// # Panics
    ///
    /// Where `depth` is zero.
    pub fn new(below: D, order: Order, depth: u32) -> Self {
        assert!(depth > 0, "a request that may never go never comes back");
        let queues = vec![Queue::default(); below.geometry().target_sectors.len()];
        Wrapper::around(below, Schedule { order, depth, queues, next_number: 0 })
    }
}

impl Schedule {
    fn direction(&self, request: &Request) -> usize {
        match self.order {
            Order::Fcfs | Order::CLook => 0,
            Order::Deadline(_) => usize::from(request.op != Op::Read),
        }
    }

    /// Sends requests of `target` while there is room below.
    fn let_go<D: Device>(&mut self, now: Nanos, target: usize, io: &mut Io<'_, Nanos, D>) {
        while self.queues[target].below < self.depth
            && let Some(next) = self.queues[target].next(now, self.order)
        {
            self.queues[target].remove(&next);
            self.go(now, next.slot, io);
        }
    }

    fn go<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let request = io.request(slot);
        *io.note(slot) = now - io.arrived(slot);
        let queue = &mut self.queues[request.target as usize];
        queue.position = request.end();
        queue.below += 1;
        io.send(now, slot, 0, request);
    }
}

impl Policy for Schedule {
    /// How long it waited here, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let request = io.request(slot);
        let direction = self.direction(&request);
        let queue = &mut self.queues[request.target as usize];
        let batches = matches!(self.order, Order::Deadline(_));
        if !batches && queue.below < self.depth && !queue.waits(0) {
            // Nothing waits, so there is nothing to sort.
            return self.go(now, slot, io);
        }
        let (sector, number) = (request.sector, self.next_number);
        self.next_number += 1;
        queue.insert(Waiting { slot, sector, arrived: now, number, direction }, self.order);
        self.let_go(now, request.target as usize, io);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Nanos, D>,
    ) {
        let target = io.request(slot).target as usize;
        spent.add(Part::QUEUE, *io.note(slot));
        io.finish(now, slot, spent);
        self.queues[target].below -= 1;
        self.let_go(now, target, io);
    }

    fn forget_waiting(&mut self) {
        for queue in &mut self.queues {
            queue.sorted.iter_mut().for_each(BTreeMap::clear);
            queue.oldest.iter_mut().for_each(BTreeMap::clear);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advance;
    use crate::{Event, Server, Tag};

    /// The sectors of `requests`, all submitted at time 0 in this order, in the order in which they are
    /// done. One at a time is below, and each takes 1 ms.
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
