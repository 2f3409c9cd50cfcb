//! The ideal disks that md was measured on: no skew, no zones, one arm over one long spiral.
//!
//! This is the drive model of the virtual-time kernel that `tests/it/md_write_path.csv` comes from, stated
//! exactly with those measurements, so that what an array does can be told from what its drives do. It is no
//! model of any real disk: [`crate::drive`] is.

mod disk;
mod spec;

pub use spec::SpiralSpec;

use crate::damage::Damage;
use crate::outbox::{Outbox, earlier};
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
    step_by_step,
};
use block::{Op, Request};
use std::collections::VecDeque;

/// A command that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    tag: Tag,
    request: Request,
    arrived: Nanos,
}

/// What the head does.
#[derive(Clone, Copy, Debug)]
struct Current {
    end: Nanos,
    command: Waiting,
    spent: Spent,
    /// For how long it has the head, in ns.
    busy_ns: Nanos,
    /// It moves a write from the buffer to the medium.
    destages: bool,
}

/// What the head reads when it has nothing else to do.
#[derive(Clone, Copy, Debug)]
struct ReadAhead {
    start: u64,
    /// Where the last read began, behind which so much is kept.
    last: u64,
    limit: u64,
}

/// Ideal disks side by side, with nothing shared.
///
/// With a write buffer a write is done when the link has moved it, waits while the buffer is full, and is moved
/// to the medium as soon as the head has nothing to read.
#[derive(Clone, Debug)]
pub struct Spirals {
    geometry: Geometry,
    drives: Vec<Spiral>,
    outbox: Outbox,
}

#[derive(Clone, Debug, Default)]
struct Spiral {
    spec: SpiralSpec,
    waiting: Vec<Waiting>,
    current: Option<Current>,
    /// Where the last transfer ended, and when.
    end_sector: u64,
    end_at: Nanos,
    ahead: Option<ReadAhead>,
    frozen: VecDeque<(u64, u64)>,
    link_free_at: Nanos,
    /// When the next waiting command may be chosen, while nothing is served.
    chooses_at: Option<Nanos>,
    /// What the write buffer holds, and what is on its way into it.
    buffered_sectors: u64,
    /// Writes that wait for the link or for room, in order, and the one on the link with its end.
    incoming: VecDeque<Waiting>,
    on_link: Option<(Nanos, Waiting)>,
    /// Writes that are done and not yet on the medium.
    dirty: Vec<Waiting>,
    /// Flushes, and the writes that each still waits for.
    flushes: Vec<(Waiting, Vec<Tag>)>,
    /// Sectors moved to the medium since the head read last; none where it has not read since.
    moved_since_read: Option<u64>,
    failed: bool,
    damage: Damage,
    counters: TargetCounters,
}

impl Spirals {
    /// `disks` such disks.
    pub fn new(disks: usize, spec: SpiralSpec) -> Self {
        let drive = Spiral { spec, ..Spiral::default() };
        Spirals {
            geometry: Geometry { target_sectors: vec![spec.sectors; disks] },
            drives: vec![drive; disks],
            outbox: Outbox::default(),
        }
    }

    /// Does everything that is due on one disk.
    fn step(&mut self, target: usize, now: Nanos) {
        let drive = &mut self.drives[target];
        if drive.on_link.as_ref().is_some_and(|&(end, _)| end <= now) {
            let (_, command) = drive.on_link.take().expect("it is there");
            let mut spent = Spent::NONE;
            spent.add(Part::CACHE, now - command.arrived);
            if command.request.op == Op::WRITE {
                self.outbox.push(Event::Done { tag: command.tag, at: now, result: Ok(()), spent });
            }
            drive.dirty.push(command);
            drive.take_in(now);
        }
        if drive.current.as_ref().is_some_and(|current| current.end <= now) {
            self.finish(target, now);
        }
        self.drives[target].choose(now);
    }

    fn finish(&mut self, target: usize, now: Nanos) {
        let drive = &mut self.drives[target];
        let Some(current) = drive.current.take() else { return };
        let Current { command, spent, busy_ns, destages, .. } = current;
        let Waiting { tag, request, .. } = command;
        let sectors = u64::from(request.sectors);
        drive.counters.busy_ns += busy_ns;
        let is_unreadable = request.op == Op::Read
            && drive.damage.meets(request.sector, request.end(), |_, _| false);
        if matches!(request.op, Op::Write { .. } | Op::Zeroes) {
            drive.damage.repair(request.sector, request.end());
        }
        if !destages || request.op != Op::WRITE {
            let mut all = spent;
            if destages {
                all.add(Part::CACHE, now - command.arrived);
            }
            let result = if is_unreadable { Err(Fault::Medium) } else { Ok(()) };
            self.outbox.push(Event::Done { tag, at: now, result, spent: all });
        }
        match request.op {
            Op::Read => drive.counters.sectors_read += sectors,
            Op::Write { .. } => {
                drive.counters.sectors_written += sectors;
                self.outbox.push(Event::Durable { tag, at: now });
            }
            Op::Discard | Op::Zeroes => {
                self.replace(target, now, &request);
                self.outbox.push(Event::Durable { tag, at: now });
            }
            Op::Flush => {}
        }
        if destages {
            let drive = &mut self.drives[target];
            drive.buffered_sectors -= sectors;
            drive.take_in(now);
            self.settle_flushes(target, now, tag);
        }
    }

    /// What was discarded or zeroed on the medium needs nothing of the buffer any more.
    fn replace(&mut self, target: usize, now: Nanos, by: &Request) {
        // Of forced ones nobody has been told that they are done.
        let is_within =
            |of: &Request| of.op == Op::WRITE && by.sector <= of.sector && of.end() <= by.end();
        let dirty = &mut self.drives[target].dirty;
        let (replaced, left) =
            std::mem::take(dirty).into_iter().partition(|write| is_within(&write.request));
        *dirty = left;
        let replaced: Vec<Waiting> = replaced;
        for Waiting { tag, request, .. } in replaced {
            self.outbox.push(Event::Durable { tag, at: now });
            self.drives[target].buffered_sectors -= u64::from(request.sectors);
            self.settle_flushes(target, now, tag);
        }
        self.drives[target].take_in(now);
    }

    /// A write has reached the medium: completes the flushes that waited only for it.
    fn settle_flushes(&mut self, target: usize, now: Nanos, tag: Tag) {
        let flushes = &mut self.drives[target].flushes;
        for (_, writes) in flushes.iter_mut() {
            writes.retain(|&write| write != tag);
        }
        let outbox = &mut self.outbox;
        flushes.retain(|(flush, writes)| {
            if writes.is_empty() {
                let mut spent = Spent::NONE;
                spent.add(Part::CACHE, now - flush.arrived);
                outbox.push(Event::Done { tag: flush.tag, at: now, result: Ok(()), spent });
            }
            !writes.is_empty()
        });
    }

    /// Does some of what is due at its next event.
    fn step_to(&mut self, at: Nanos, out: &mut Vec<Event>) {
        for target in 0..self.drives.len() {
            if self.drives[target].next_event().is_some_and(|due| due <= at) {
                self.step(target, at);
            }
        }
        self.outbox.collect(at, out);
    }
}

impl Device for Spirals {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let command = Waiting { tag, request, arrived: now };
        let drive = &mut self.drives[request.target as usize];
        if drive.failed {
            return self.outbox.refuse(now, command.tag, command.arrived, Fault::Failed);
        }
        drive.counters.commands += 1;
        match request.op {
            Op::Write { .. } if drive.spec.buffer_sectors > 0 => {
                drive.incoming.push_back(command);
                drive.take_in(now);
            }
            Op::Flush if drive.holds_writes() => {
                let writes = drive.dirty.iter().chain(drive.destaged());
                let writes = writes.map(|command| command.tag).collect();
                drive.flushes.push((command, writes));
            }
            _ => drive.waiting.push(command),
        }
        drive.choose(now);
    }

    fn next_event(&self) -> Option<Nanos> {
        let next = self.drives.iter().filter_map(Spiral::next_event).min();
        earlier(next, self.outbox.next_event())
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::step_to)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        let broken = match what {
            Disturbance::MediumError { drive, sector, sectors } => {
                let damage = &mut self.drives[drive as usize].damage;
                return damage.add(sector, sector + u64::from(sectors));
            }
            Disturbance::Fail(drive)
            | Disturbance::FailDrive(drive)
            | Disturbance::CutDrive(drive) => Some(drive as usize),
            Disturbance::Reset | Disturbance::PowerCut => None,
        };
        let fault = what.fault();
        for target in 0..self.drives.len() {
            if broken.is_some_and(|broken| broken != target) {
                continue;
            }
            let drive = &mut self.drives[target];
            drive.failed |= fault == Fault::Failed;
            drive.chooses_at = None;
            let current = drive.current.take();
            let destaged = current.filter(|current| current.destages);
            drive.dirty.splice(0..0, destaged.map(|current| current.command));
            // Writes that were forced are not done yet.
            let (forced, kept) = std::mem::take(&mut drive.dirty)
                .into_iter()
                .partition(|c| c.request.op != Op::WRITE);
            drive.dirty = kept;
            (drive.end_at, drive.ahead) = (drive.end_at.min(now), None);
            let mut ended: Vec<Waiting> = current
                .filter(|current| !current.destages)
                .map(|c| c.command)
                .into_iter()
                .collect();
            let mut forced: Vec<Waiting> = forced;
            ended.append(&mut forced);
            ended.append(&mut drive.waiting);
            ended.extend(drive.on_link.take().map(|(_, command)| command));
            ended.extend(drive.incoming.drain(..));
            ended.extend(drive.flushes.drain(..).map(|(flush, _)| flush));
            if fault != Fault::Reset {
                drive.frozen.clear();
                let lost = std::mem::take(&mut drive.dirty);
                if what.says_what_is_lost() {
                    for command in lost {
                        self.outbox.push(Event::Lost { tag: command.tag, at: now });
                    }
                }
            }
            let drive = &mut self.drives[target];
            drive.buffered_sectors =
                drive.dirty.iter().map(|command| u64::from(command.request.sectors)).sum();
            drive.choose(now);
            for command in ended {
                self.outbox.refuse(now, command.tag, command.arrived, fault);
            }
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.targets.extend(self.drives.iter().map(|drive| drive.counters));
    }
}
