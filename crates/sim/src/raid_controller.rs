//! A hardware RAID controller: a processor with memory, in front of its volume.
//!
//! Each command costs the controller a fixed time. A write is done when the memory has it, and reaches
//! the volume later. A read that the memory cannot answer goes to the volume at once.
//!
//! ```text
//! read, all in memory      command · host's bus
//! read, else               command · the volume · host's bus
//! write                    command · wait for room · host's bus                · later: the volume
//! write, forced            command · wait for older ones · host's bus · the volume
//! flush                    command · wait until the memory is clean · the volume's own flush
//! ```
//!
//! Dirty sectors are written to the volume all the time, ascending and again from the lowest, adjacent
//! ones in one run. A run is in flight until it is durable below. Until then its sectors are not
//! written again, so that no older data can overtake. Commands that change sectors are admitted one
//! after the other, in order of arrival. Once a member has failed, the memory accepts no more writes:
//! they go through, so that their callers learn of failures.

mod below;
mod memory;

use crate::bus::{Bus, Port};
use crate::outbox::{Outbox, earlier};
use crate::spent::Ledger;
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, step_by_step,
};
use below::Job;
use block::{Op, Request};
use memory::{Clean, Dirty, Written};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The parameters of a RAID controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaidControllerSpec {
    /// What a command costs the controller, without the time of its data on the bus.
    pub command_ns: Nanos,
    /// Sectors of data that the memory holds.
    pub memory_sectors: u64,
    /// The limit on a run to the volume, and a boundary that no run crosses: a stripe.
    pub run_sectors: u64,
    /// Runs to the volume in flight at a time.
    pub runs: u32,
}

/// A RAID controller around the volume `D`.
pub struct RaidController<D> {
    below: D,
    spec: RaidControllerSpec,
    bus: Bus,
    port: Port,
    commands: Slab<Command>,
    /// When the controller, or the bus, finishes with a command: time, order, command.
    due: BTreeSet<(Nanos, u64, usize)>,
    next_number: u64,
    controller_free_at: Nanos,
    /// Commands that change sectors and are not yet admitted, in order of arrival.
    waiting: VecDeque<usize>,
    /// Writes on the bus, into the memory or through it.
    coming: Vec<usize>,
    /// Sectors of those into the memory.
    coming_sectors: u64,
    dirty: Dirty,
    clean: Clean,
    written: Slab<Written>,
    /// What is in flight below, by its name there; names are never reused.
    jobs: BTreeMap<Tag, Job>,
    next_job: Tag,
    /// Ranges that are being changed below, by first sector: the end, and whether they are in the
    /// memory as well. They never overlap.
    changing: BTreeMap<u64, (u64, bool)>,
    /// Sectors of runs in flight, which the memory still holds.
    running_sectors: u64,
    runs: u32,
    /// A member has failed: writes go through.
    through: bool,
    /// The controller itself has failed.
    failed: bool,
    outbox: Outbox,
    events: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
struct Command {
    tag: Tag,
    request: Request,
    ledger: Ledger,
    /// What the time until its next step is spent on, and before that the time of waiting for it.
    part: (Nanos, Part),
    stage: Stage,
    /// The whole write has come over the bus.
    has_come: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Controller,
    Waiting,
    /// On the host's bus, from the memory or from below.
    Sending,
    /// On the host's bus, into the memory.
    Taking,
    /// On the host's bus, to be written through.
    Passing,
    Below,
}

impl<D: Device> RaidController<D> {
    /// A RAID controller around `below`, which has one target; its host's bus moves `bus_bytes_per_s`.
    ///
    /// # Panics
    ///
    /// Where `below` has several targets, or the memory, the runs or the rate are zero.
    pub fn new(below: D, spec: RaidControllerSpec, bus_bytes_per_s: u64) -> Self {
        assert_eq!(below.geometry().target_sectors.len(), 1, "a RAID controller runs one volume");
        assert!(spec.memory_sectors > 0 && spec.run_sectors > 0 && spec.runs > 0, "{spec:?}");
        RaidController {
            below,
            spec,
            bus: Bus::new(bus_bytes_per_s, 0),
            port: Port::new(bus_bytes_per_s),
            commands: Slab::new(),
            due: BTreeSet::new(),
            next_number: 0,
            controller_free_at: 0,
            waiting: VecDeque::new(),
            coming: Vec::new(),
            coming_sectors: 0,
            dirty: Dirty::default(),
            clean: Clean::default(),
            written: Slab::new(),
            jobs: BTreeMap::new(),
            next_job: 0,
            changing: BTreeMap::new(),
            running_sectors: 0,
            runs: 0,
            through: false,
            failed: false,
            outbox: Outbox::default(),
            events: Vec::new(),
        }
    }

    /// Sectors that the memory must keep.
    fn held(&self) -> u64 {
        self.dirty.sectors() + self.running_sectors + self.coming_sectors
    }

    /// The command in `slot` continues at `at`: it waited until `from`, and spent the rest on `part`.
    fn go_on_at(&mut self, at: Nanos, slot: usize, from: Nanos, part: Part) {
        self.commands[slot].part = (from, part);
        self.due.insert((at, self.next_number, slot));
        self.next_number += 1;
    }

    fn onto_bus(&mut self, now: Nanos, slot: usize, stage: Stage) {
        let command = &mut self.commands[slot];
        command.stage = stage;
        let (_, end) = self.bus.reserve(now, self.port, command.request.sectors);
        self.go_on_at(end, slot, now, Part::BUS);
    }

    /// The controller, or the bus, has finished with a command.
    fn step(&mut self, now: Nanos, slot: usize) {
        let command = &mut self.commands[slot];
        let (from, part) = command.part;
        command.ledger.charge(Part::QUEUE, from);
        command.ledger.charge(part, now);
        let Command { request, stage, .. } = *command;
        match stage {
            Stage::Sending => self.finish(now, slot, Ok(())),
            Stage::Taking => self.taken(now, slot),
            Stage::Passing => {
                self.coming.retain(|other| *other != slot);
                self.send_through(now, slot);
            }
            _ if request.op != Op::Read => {
                self.commands[slot].stage = Stage::Waiting;
                self.waiting.push_back(slot);
                self.let_in(now);
            }
            _ if self.has(request.sector, request.end()) => {
                self.clean.touch(request.sector, request.end());
                self.onto_bus(now, slot, Stage::Sending);
            }
            _ => self.send(now, slot, Job::Read { slot, keeps: true }),
        }
    }

    /// Whether all of `start..end` is in the memory.
    fn has(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            let run = self.changing.range(..=at).next_back();
            let run = run.map_or(at, |(_, &(to, held))| if held { to } else { at });
            let to = self.dirty.reaches(at).max(self.clean.reaches(at)).max(run);
            if to == at {
                return false;
            }
            at = to;
        }
        true
    }

    /// Whether a command goes to the volume directly, not through the memory.
    fn goes_through(&self, request: &Request) -> bool {
        match request.op {
            Op::Write { fua } => {
                fua || self.through || u64::from(request.sectors) > self.spec.memory_sectors
            }
            _ => true,
        }
    }

    fn is_changing(&self, start: u64, end: u64) -> bool {
        below::meets(&self.changing, start, end)
    }

    /// Whether `request`, the first that waits, may go on.
    fn may_come(&self, request: &Request) -> bool {
        let (start, end) = (request.sector, request.end());
        if request.op == Op::Flush {
            return self.dirty.is_empty() && self.changing.is_empty() && self.coming.is_empty();
        }
        if !self.goes_through(request) {
            return self.held() + u64::from(request.sectors) <= self.spec.memory_sectors;
        }
        let is_coming = |slot: &usize| {
            let other = self.commands[*slot].request;
            other.sector < end && start < other.end()
        };
        !self.dirty.overlaps(start, end)
            && !self.is_changing(start, end)
            && !self.coming.iter().any(is_coming)
    }

    /// Admits waiting commands as far as possible; then sends dirty runs.
    fn let_in(&mut self, now: Nanos) {
        while let Some(&slot) = self.waiting.front() {
            let request = self.commands[slot].request;
            if !self.may_come(&request) {
                break;
            }
            self.waiting.pop_front();
            self.commands[slot].ledger.charge(Part::CACHE, now);
            match request.op {
                Op::Flush => self.send(now, slot, Job::Flush(slot)),
                Op::Write { .. } if !self.commands[slot].has_come => {
                    let stage =
                        if self.goes_through(&request) { Stage::Passing } else { Stage::Taking };
                    if stage == Stage::Taking {
                        self.coming_sectors += u64::from(request.sectors);
                        self.clean.shrink_to(self.spec.memory_sectors - self.held());
                    }
                    self.coming.push(slot);
                    self.onto_bus(now, slot, stage);
                }
                _ => self.send_through(now, slot),
            }
        }
        self.send_runs(now);
    }

    /// A whole write has arrived: for the memory, or after a failure to be written through.
    fn taken(&mut self, now: Nanos, slot: usize) {
        self.coming.retain(|other| *other != slot);
        let Command { tag, request, .. } = self.commands[slot];
        self.coming_sectors -= u64::from(request.sectors);
        if self.through {
            let command = &mut self.commands[slot];
            (command.stage, command.has_come) = (Stage::Waiting, true);
            self.waiting.push_front(slot);
            return self.let_in(now);
        }
        self.forget(&request);
        let write = self.written.insert(Written { tag, pieces: 0, lost: false });
        self.dirty.lay(request.sector, request.end(), write, &mut self.written);
        self.finish(now, slot, Ok(()));
        self.let_in(now);
    }

    fn finish(&mut self, at: Nanos, slot: usize, result: Result<(), Fault>) {
        let Command { tag, mut ledger, .. } = self.commands.remove(slot);
        ledger.charge(Part::QUEUE, at);
        self.outbox.push(Event::Done { tag, at, result, spent: *ledger.spent() });
    }

    /// Does some of what is due at its next event.
    fn step_to(&mut self, step: Nanos, out: &mut Vec<Event>) {
        self.advance_below(step);
        while let Some(&(at, number, slot)) = self.due.first()
            && at <= step
        {
            self.due.remove(&(at, number, slot));
            self.step(at, slot);
        }
        self.outbox.collect(step, out);
    }
}

impl<D: Device> Device for RaidController<D> {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry().check(&request);
        if self.failed {
            let (result, spent) = (Err(Fault::Failed), Spent::NONE);
            return self.outbox.push(Event::Done { tag, at: now, result, spent });
        }
        let slot = self.commands.insert(Command {
            tag,
            request,
            ledger: Ledger::start(now),
            part: (now, Part::QUEUE),
            stage: Stage::Controller,
            has_come: false,
        });
        let start = now.max(self.controller_free_at);
        self.controller_free_at = start + self.spec.command_ns;
        self.go_on_at(self.controller_free_at, slot, start, Part::OVERHEAD);
    }

    fn next_event(&self) -> Option<Nanos> {
        let due = self.due.first().map(|&(at, ..)| at);
        earlier(earlier(self.below.next_event(), due), self.outbox.next_event())
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::step_to)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        let fault = match what {
            Disturbance::Fail(_) => Fault::Failed,
            _ => {
                self.below.disturb(now, what);
                self.through |= matches!(what, Disturbance::FailDrive(_));
                let Some(fault) = what.aborts_all() else { return };
                fault
            }
        };
        self.due.clear();
        self.waiting.clear();
        self.coming.clear();
        self.coming_sectors = 0;
        self.controller_free_at = self.controller_free_at.min(now);
        self.bus.release(now);
        let here = |command: &Command| command.stage != Stage::Below;
        let refused: Vec<usize> =
            self.commands.iter().filter(|(_, c)| here(c)).map(|(slot, _)| slot).collect();
        for slot in refused {
            self.finish(now, slot, Err(fault));
        }
        match fault {
            Fault::PowerCut => self.forget_all(),
            Fault::Failed => self.die(now),
            Fault::Reset | Fault::Medium => {}
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += (self.commands.len() + self.jobs.len() + self.written.len()) as u64;
        let before = counters.targets.len();
        self.below.count(counters);
        // It has a memory of its own.
        for target in &mut counters.targets[before..] {
            target.held_sectors = None;
        }
    }
}
