//! A flash drive: SATA or `NVMe`.
//!
//! ```text
//! read    queue · controller · firmware's delay · units, each page on one · link
//! write   queue · controller · link · room in the buffer · firmware's delay     later: flash, a stripe at a time
//! flush   nothing where the buffer survives a power cut; else everything in the buffer goes to flash
//! ```
//!
//! Controller, units and link each serve one command at a time, in order of arrival; a command waits for the
//! last of its pages. Times of commands alone are a table by size ([`FlashSpec::read_alone_ns`]): what controller,
//! units and link do not explain of it is a delay without a queue.
//!
//! Writes meet reads in two places. A unit that programs lets the first of its reads wait
//! ([`FlashSpec::program_wait_ns`]); and the time of a unit that reads is missing for programs.

mod drain;
mod fault;
mod link;
mod long;
mod parts;
mod place;
mod runs;
mod spec;

pub(crate) use parts::PARTS;
pub(crate) use place::mixed;
pub use spec::{Fill, FlashError, FlashSpec, Slc};

use crate::damage::Damage;
use crate::outbox::{Outbox, earlier};
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
};
use block::{Op, Request, SECTOR_BYTES};
use drain::Drain;
use link::Link;
use place::Placement;
use spec::{Alone, WHOLE, moving_ns};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// A flash drive with one target.
#[derive(Clone, Debug)]
pub struct Flash {
    spec: FlashSpec,
    geometry: Geometry,
    placement: Placement,
    reads: Alone,
    writes: Alone,
    controller_free_at: Nanos,
    units_free_at: Vec<Nanos>,
    link: Link,
    drain: Drain,
    /// Writes so far.
    write_commands: u64,
    /// Regions of a fresh drive that were written since.
    mapped: Option<Vec<u64>>,
    /// Commands in flight, by slot; the heap has when something happens to each.
    flights: Vec<Flight>,
    free: Vec<u32>,
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Commands beyond the queue's depth.
    waiting: VecDeque<(Tag, Request, Nanos)>,
    /// Writes that are not durable yet, oldest first; the number of the first of them.
    volatile: VecDeque<Volatile>,
    first_volatile: u64,
    /// When an open stripe is sent to flash because nothing more was written.
    closes_at: Option<Nanos>,
    outbox: Outbox,
    failed: bool,
    damage: Damage,
    counters: TargetCounters,
    busy_since: Nanos,
}

/// A command in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    tag: Tag,
    request: Request,
    arrived: Nanos,
    spent: Spent,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The slot is free.
    None,
    /// A read whose pages are being read; then it takes the link.
    Units,
    /// The last thing that it waits for.
    Last,
    /// The last thing that a change waits for that is not durable by then; its number among those.
    Volatile(u64),
}

/// A change that is not durable yet.
#[derive(Clone, Copy, Debug)]
struct Volatile {
    tag: Tag,
    done: bool,
    /// It was aborted: nothing follows.
    aborted: bool,
}

/// Nothing was written for so long: what waits for a full stripe goes to flash.
const LINGER_NS: Nanos = 1_000_000;
/// A fresh drive remembers what was written by regions of this many sectors: 1 MiB.
const REGION_SECTORS: u64 = 2048;

impl Flash {
    /// A drive as in `spec`.
    ///
    /// # Errors
    ///
    /// Where the figures make no drive.
    pub fn new(spec: &FlashSpec) -> Result<Self, FlashError> {
        spec.check()?;
        let placement = Placement::new(spec);
        let regions = spec.sectors.div_ceil(REGION_SECTORS).div_ceil(64) as usize;
        Ok(Flash {
            geometry: Geometry::single(spec.sectors),
            reads: Alone::reads(spec),
            writes: Alone::writes(spec),
            placement,
            controller_free_at: 0,
            units_free_at: vec![0; spec.units as usize],
            link: Link::new(spec.half_duplex),
            drain: Drain::new(spec),
            write_commands: 0,
            mapped: (spec.fill == Fill::Fresh).then(|| vec![0; regions]),
            flights: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            waiting: VecDeque::new(),
            volatile: VecDeque::new(),
            first_volatile: 0,
            closes_at: None,
            outbox: Outbox::default(),
            failed: false,
            damage: Damage::default(),
            counters: TargetCounters::default(),
            busy_since: 0,
            spec: spec.clone(),
        })
    }

    fn in_flight(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// Takes a command that has a place in the queue, and knows from then on when it is done, all but the link.
    fn begin(&mut self, now: Nanos, tag: Tag, request: Request, arrived: Nanos) {
        if self.in_flight() == 0 {
            self.busy_since = now;
        }
        let mut flight = Flight { tag, request, arrived, spent: Spent::NONE, stage: Stage::Last };
        flight.spent.add(Part::QUEUE, now - arrived);
        let at = match request.op {
            Op::Read => self.begin_read(now, &mut flight),
            Op::Write { fua } => self.begin_write(now, &mut flight, fua),
            Op::Flush => self.begin_flush(now, &mut flight),
            Op::Discard | Op::Zeroes => self.begin_note(now, &mut flight),
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.flights[slot as usize] = flight;
                slot
            }
            None => {
                self.flights.push(flight);
                self.flights.len() as u32 - 1
            }
        };
        self.due.push(Reverse((at, slot)));
    }

    /// The controller works for `command_ns`, then the firmware's delay passes.
    fn command(&mut self, now: Nanos, command_ns: Nanos) -> Nanos {
        self.controller_free_at = self.controller_free_at.max(now) + command_ns;
        self.controller_free_at
    }

    /// The controller's time for the next write. It varies as an exponential distribution does, in quarters: what
    /// firmware does for a write is not always the same.
    fn write_command_ns(&mut self) -> Nanos {
        const QUARTERS: [u64; 4] = [140, 488, 1024, 2444];
        self.write_commands += 1;
        let quarter = QUARTERS[(place::mixed(self.write_commands) >> 62) as usize];
        self.spec.write_command_ns * quarter / 1024
    }

    fn begin_read(&mut self, now: Nanos, flight: &mut Flight) -> Nanos {
        let request = flight.request;
        let bytes = request.sectors * SECTOR_BYTES as u32;
        let (delay_ns, share) = self.reads.of_size(bytes, Some(&self.placement));
        let start = request.sector * SECTOR_BYTES;
        let pages = self.placement.pages(start, start + u64::from(bytes));
        let further_ns = (pages.end - pages.start - 1) * self.spec.read_page_ns;
        let command_ns = self.spec.read_command_ns + further_ns;
        let ready_at = self.command(now, command_ns) + delay_ns;
        flight.spent.add(Part::OVERHEAD, ready_at - now);
        flight.stage = Stage::Units;
        if !self.is_mapped(&request) {
            return ready_at;
        }
        let (mut last, mut last_unit_ns) = (ready_at, 0);
        for page in pages {
            let (unit, whole_ns) = self.placement.unit_of(page);
            let unit_ns = whole_ns * share / WHOLE;
            let free_at = self.units_free_at[unit];
            let mut begin = free_at.max(ready_at);
            let programs =
                self.spec.program_wait_ns > 0 && self.drain.is_programming(begin, unit_ns);
            // For the read before it the unit has suspended its program, and goes on with that when it has no read.
            if programs && free_at <= ready_at {
                begin += drain::program_wait_ns(begin ^ page, self.spec.program_wait_ns);
            }
            let end = begin + unit_ns;
            self.units_free_at[unit] = end;
            if end >= last {
                (last, last_unit_ns) = (end, unit_ns);
            }
        }
        flight.spent.add(Part::UNIT, last_unit_ns);
        flight.spent.add(Part::UNIT_WAIT, last - ready_at - last_unit_ns);
        last
    }

    fn begin_write(&mut self, now: Nanos, flight: &mut Flight, fua: bool) -> Nanos {
        let request = flight.request;
        let bytes = request.sectors * SECTOR_BYTES as u32;
        let (delay_ns, _) = self.writes.of_size(bytes, None);
        let command_ns = self.write_command_ns();
        let controlled_at = self.command(now, command_ns);
        let moved_ns = moving_ns(bytes.into(), self.spec.write_bytes_per_s);
        let there_at = self.link.write(now, controlled_at, moved_ns);
        let (room_at, garbage_ns) = self.drain.admit(now, there_at, &request, delay_ns);
        let done_at = room_at + delay_ns;
        self.map(&request, true);
        let spent = &mut flight.spent;
        spent.add(Part::OVERHEAD, controlled_at - now + delay_ns);
        spent.add(Part::BUS, there_at - controlled_at);
        spent.add(Part::GARBAGE, garbage_ns);
        spent.add(Part::CACHE, room_at - there_at - garbage_ns);
        self.settle_write(now, flight, done_at, fua)
    }

    /// When a change is done that is in the buffer at `done_at`.
    fn settle_write(
        &mut self,
        now: Nanos,
        flight: &mut Flight,
        done_at: Nanos,
        fua: bool,
    ) -> Nanos {
        if self.spec.power_loss_protection {
            return done_at;
        }
        flight.stage = Stage::Volatile(self.first_volatile + self.volatile.len() as u64);
        self.volatile.push_back(Volatile { tag: flight.tag, done: false, aborted: false });
        if !fua {
            // Only what is still open when nothing more comes is closed by the clock.
            self.closes_at = Some(now.max(done_at) + LINGER_NS);
            return done_at;
        }
        let durable_at = self.close(done_at);
        flight.spent.add(Part::CACHE, durable_at - done_at);
        durable_at
    }

    fn close(&mut self, now: Nanos) -> Nanos {
        self.closes_at = None;
        self.drain.close(now)
    }

    fn begin_flush(&mut self, now: Nanos, flight: &mut Flight) -> Nanos {
        let controlled_at = self.command(now, self.spec.write_command_ns);
        flight.spent.add(Part::OVERHEAD, controlled_at - now);
        if self.spec.power_loss_protection {
            return controlled_at;
        }
        let durable_at = self.close(controlled_at).max(controlled_at);
        flight.spent.add(Part::CACHE, durable_at - controlled_at);
        durable_at
    }

    fn begin_note(&mut self, now: Nanos, flight: &mut Flight) -> Nanos {
        let discards = flight.request.op == Op::Discard;
        let done_at = self.command(now, self.spec.write_command_ns);
        flight.spent.add(Part::OVERHEAD, done_at - now);
        let discarded = if discards { u64::from(flight.request.sectors) * SECTOR_BYTES } else { 0 };
        self.drain.note(done_at, discarded);
        self.map(&flight.request, !discards);
        self.settle_write(now, flight, done_at, false)
    }

    /// Whether any of the request was ever written.
    fn is_mapped(&self, request: &Request) -> bool {
        let Some(mapped) = &self.mapped else { return true };
        let mut regions = request.sector / REGION_SECTORS..=(request.end() - 1) / REGION_SECTORS;
        regions.any(|region| mapped[(region / 64) as usize] >> (region % 64) & 1 == 1)
    }

    /// Notes that the request was written, or that the regions that it covers were discarded.
    fn map(&mut self, request: &Request, written: bool) {
        let Some(mapped) = &mut self.mapped else { return };
        let (first, end) = if written {
            (request.sector / REGION_SECTORS, request.end().div_ceil(REGION_SECTORS))
        } else {
            (request.sector.div_ceil(REGION_SECTORS), request.end() / REGION_SECTORS)
        };
        for region in first..end {
            let (word, bit) = ((region / 64) as usize, 1 << (region % 64));
            mapped[word] = if written { mapped[word] | bit } else { mapped[word] & !bit };
        }
    }

    /// What is due at `now` for the first command that something is due for.
    fn step(&mut self, now: Nanos, out: &mut Vec<Event>) {
        let mut first = self.due.peek_mut().expect("something is due");
        let Reverse((_, slot)) = *first;
        let flight = &mut self.flights[slot as usize];
        if flight.stage == Stage::Units {
            let bytes = u64::from(flight.request.sectors) * SECTOR_BYTES;
            let end = self.link.read(now, moving_ns(bytes, self.spec.read_bytes_per_s));
            flight.spent.add(Part::BUS, end - now);
            flight.stage = Stage::Last;
            if end > now {
                *first = Reverse((end, slot));
                return;
            }
        }
        PeekMut::pop(first);
        self.finish(now, slot, out);
    }

    /// Does the next thing that is due by `limit`; gives when that was.
    #[inline]
    fn go_on(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let due = self.due.peek().map(|&Reverse((at, _))| at);
        let durable = self.first_durable();
        let next = earlier(earlier(due, durable.map(|(at, _)| at)), self.closes_at);
        let at = next.filter(|&at| at <= limit)?;
        if due == Some(at) {
            self.step(at, out);
        } else if let Some((_, upto)) = durable.filter(|&(durable_at, _)| durable_at == at) {
            self.become_durable(at, upto, out);
        } else {
            self.close(at);
        }
        Some(at)
    }

    fn finish(&mut self, now: Nanos, slot: u32, out: &mut Vec<Event>) {
        let Flight { tag, request, spent, stage, .. } = self.flights[slot as usize];
        self.flights[slot as usize].stage = Stage::None;
        self.free.push(slot);
        let (first, last) = (request.sector, request.end());
        let is_unreadable = request.op == Op::Read && self.damage.meets(first, last, |_, _| false);
        let result = if is_unreadable { Err(Fault::Medium) } else { Ok(()) };
        out.push(Event::Done { tag, at: now, result, spent });
        self.counters.commands += 1;
        match request.op {
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { .. } => self.counters.sectors_written += u64::from(request.sectors),
            Op::Flush | Op::Discard | Op::Zeroes => {}
        }
        if matches!(request.op, Op::Write { .. } | Op::Zeroes) {
            self.damage.repair(first, last);
        }
        match stage {
            Stage::Volatile(number) => {
                self.volatile[(number - self.first_volatile) as usize].done = true;
            }
            _ if request.op.modifies() => out.push(Event::Durable { tag, at: now }),
            _ => {}
        }
        match self.waiting.pop_front() {
            Some((tag, request, arrived)) => self.begin(now, tag, request, arrived),
            None if self.in_flight() == 0 => self.counters.busy_ns += now - self.busy_since,
            None => {}
        }
    }

    /// The first stripe is durable, with all writes up to the number `upto`.
    fn become_durable(&mut self, at: Nanos, upto: u64, out: &mut Vec<Event>) {
        self.drain.pop();
        while self.first_volatile < upto {
            let Some(volatile) = self.volatile.pop_front() else { break };
            self.first_volatile += 1;
            if !volatile.aborted {
                debug_assert!(volatile.done, "a write is durable before it is done");
                out.push(Event::Durable { tag: volatile.tag, at });
            }
        }
    }

    fn first_durable(&self) -> Option<(Nanos, u64)> {
        if self.spec.power_loss_protection { None } else { self.drain.first_durable() }
    }
}

impl Device for Flash {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        if self.failed {
            return self.outbox.refuse(now, tag, now, Fault::Failed);
        }
        if self.in_flight() < self.spec.queue_depth as usize {
            self.begin(now, tag, request, now);
        } else {
            self.waiting.push_back((tag, request, now));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        let durable = self.first_durable().map(|(at, _)| at);
        let due = self.due.peek().map(|&Reverse((at, _))| at);
        earlier(earlier(due, durable), earlier(self.closes_at, self.outbox.next_event()))
    }

    fn proceed(&mut self, mut limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let (before, mut came) = (out.len(), None);
        // What was refused comes between what is due.
        while !self.outbox.is_empty() {
            let at = self.next_event().filter(|&at| at <= limit)?;
            self.outbox.collect(at, out);
            while self.go_on(at, out).is_some() {}
            if out.len() > before {
                return Some(at);
            }
        }
        while let Some(at) = self.go_on(limit, out) {
            if out.len() > before {
                // What else is due at that time comes with it.
                (limit, came) = (at, Some(at));
            }
        }
        came
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if let Disturbance::MediumError { sector, sectors, .. } = what {
            return self.damage.add(sector, sector + u64::from(sectors));
        }
        let fault = what.fault();
        self.abort(now, fault);
        self.failed |= fault == Fault::Failed;
        if fault != Fault::Reset {
            self.lose_buffer(now, what.says_what_is_lost());
        }
    }

    fn count(&self, counters: &mut Counters) {
        let busy_since = (self.in_flight() > 0).then_some(self.busy_since);
        counters.targets.push(TargetCounters { busy_since, ..self.counters });
    }
}
