//! The ideal disks that md was measured on: no skew, no zones, one arm over one long spiral.
//!
//! This is the drive model of the virtual-time kernel that `tests/it/md_write_path.csv` comes from, stated
//! exactly with those measurements, so that what an array does can be told from what its drives do. It is no
//! model of any real disk: [`crate::drive`] is.

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

impl Spiral {
    /// The sectors read ahead by `now`: first, and the one after the last.
    fn read_ahead(&self, now: Nanos) -> Option<(u64, u64)> {
        self.ahead.map(|ahead| {
            let passed = now.saturating_sub(self.end_at) / self.spec.sector_ns;
            let end = (self.end_sector + passed).min(ahead.limit);
            (ahead.start.max(ahead.last.saturating_sub(self.spec.behind_sectors)), end)
        })
    }

    /// The write that is on its way from the buffer to the medium.
    fn destaged(&self) -> Option<&Waiting> {
        self.current.as_ref().filter(|current| current.destages).map(|current| &current.command)
    }

    /// Whether the buffer holds writes that are done.
    fn holds_writes(&self) -> bool {
        !self.dirty.is_empty() || self.destaged().is_some()
    }

    /// How long the head, which reads on, still takes to the end of a read that it is in the middle of.
    fn rest_ns(&self, now: Nanos, request: &Request) -> Option<Nanos> {
        let (start, end) = self.read_ahead(now)?;
        let is_in_it = request.op == Op::Read && (start..=end).contains(&request.sector);
        let reads_on = end < self.ahead?.limit;
        (is_in_it && reads_on && request.end() > end).then(|| {
            (self.end_at + (request.end() - self.end_sector) * self.spec.sector_ns)
                .saturating_sub(now)
        })
    }

    fn holds(&self, now: Nanos, request: &Request) -> bool {
        let within = |(start, end): (u64, u64)| start <= request.sector && request.end() <= end;
        request.op == Op::Read
            && (self.read_ahead(now).is_some_and(within) || self.frozen.iter().copied().any(within))
    }

    /// Seek and rotation to `sector`; where waiting on the spiral is shorter, that wait as rotation.
    fn positioning(&self, now: Nanos, sector: u64) -> (Nanos, Nanos) {
        let here = self.read_ahead(now).map_or(self.end_sector, |(_, end)| end);
        let seek =
            self.spec.seek_ns(here / self.spec.track_sectors, sector / self.spec.track_sectors);
        let angle_ns = sector % self.spec.track_sectors * self.spec.sector_ns;
        let rotation = (angle_ns + self.spec.revolution_ns()
            - (now + seek) % self.spec.revolution_ns())
            % self.spec.revolution_ns();
        let ahead =
            sector.checked_sub(self.end_sector).filter(|&by| by <= 2 * self.spec.track_sectors);
        let by_itself = ahead
            .and_then(|sectors| (self.end_at + sectors * self.spec.sector_ns).checked_sub(now))
            .filter(|&wait| wait < seek + rotation);
        by_itself.map_or((seek, rotation), |wait| (0, wait))
    }

    /// Seek and rotation before a command, or nothing where the read buffer has it.
    fn cost(&self, now: Nanos, command: &Waiting) -> Nanos {
        if matches!(command.request.op, Op::Flush | Op::Discard | Op::Zeroes)
            || self.holds(now, &command.request)
            || self.rest_ns(now, &command.request).is_some()
        {
            return 0;
        }
        let (seek, rotation) = self.positioning(now, command.request.sector);
        seek + rotation
    }

    /// The command in `line` that may be chosen and costs least, the oldest where it has waited too long.
    fn best(&self, now: Nanos, line: &[Waiting]) -> Option<usize> {
        let ready =
            |(_, command): &(usize, &Waiting)| command.arrived + self.spec.command_ns <= now;
        let key = |(index, command): &(usize, &Waiting)| {
            let aged = command.arrived + self.spec.aged_ns <= now;
            (!aged, if aged { 0 } else { self.cost(now, command) }, command.arrived, *index)
        };
        line.iter().enumerate().filter(ready).min_by_key(key).map(|(index, _)| index)
    }

    /// Starts the next command that can be chosen: reads first, but alternating with buffered writes while a
    /// flush or a full buffer waits.
    fn choose(&mut self, now: Nanos) {
        self.chooses_at = None;
        if self.current.is_some() {
            return;
        }
        let pressed = !self.flushes.is_empty() || !self.incoming.is_empty();
        let next = self.best(now, &self.waiting);
        if !self.dirty.is_empty() && (next.is_none() || (pressed && !self.has_moved_enough())) {
            return self.begin_destage(now);
        }
        match next {
            Some(index) => self.begin(now, index),
            None => {
                let oldest = self.waiting.iter().map(|command| command.arrived).min();
                self.chooses_at = oldest.map(|arrived| arrived + self.spec.command_ns);
            }
        }
    }

    /// Whether as much was moved to the medium since the last read as goes between two reads.
    fn has_moved_enough(&self) -> bool {
        self.moved_since_read.is_some_and(|sectors| sectors >= self.spec.burst_sectors)
    }

    /// Takes the next write into the buffer, once the link is free and there is room.
    fn take_in(&mut self, now: Nanos) {
        let Some(&command) = self.incoming.front() else { return };
        let sectors = u64::from(command.request.sectors);
        let fits = self.buffered_sectors + sectors <= self.spec.buffer_sectors
            || self.buffered_sectors == 0;
        if self.on_link.is_some() || !fits {
            return;
        }
        self.incoming.pop_front();
        self.buffered_sectors += sectors;
        let start = self.link_free_at.max(now).max(command.arrived + self.spec.command_ns);
        let end = start + self.spec.link_ns(command.request.sectors);
        self.link_free_at = end;
        self.on_link = Some((end, command));
    }

    /// Moves the write to the medium that costs least, of those that replace no older one in the buffer.
    fn begin_destage(&mut self, now: Nanos) {
        let replaces_older = |index: usize| {
            let request = self.dirty[index].request;
            let mut older = self.dirty[..index].iter().map(|older| older.request);
            older.any(|older| older.sector < request.end() && request.sector < older.end())
        };
        // The cheapest nearly always may go; a buffer of 100,000 writes would be slow to compare with itself.
        let mut tried = None;
        let index = loop {
            let costs = self.dirty.iter().enumerate();
            let costs = costs.map(|(index, command)| (self.cost(now, command), index));
            let cheapest = costs.filter(|place| tried.is_none_or(|tried| *place > tried)).min();
            let cheapest = cheapest.expect("the oldest replaces nothing older");
            if !replaces_older(cheapest.1) {
                break cheapest.1;
            }
            tried = Some(cheapest);
        };
        let command = self.dirty.remove(index);
        let (end, moved) = self.move_to(now, &command.request);
        self.moved_since_read =
            Some(self.moved_since_read.unwrap_or(0) + u64::from(command.request.sectors));
        let busy_ns = moved.total();
        self.current = Some(Current { end, command, spent: Spent::NONE, busy_ns, destages: true });
    }

    fn begin(&mut self, now: Nanos, index: usize) {
        let command = self.waiting.remove(index);
        let request = command.request;
        let mut busy_ns = 0;
        let mut spent = Spent::NONE;
        spent.add(Part::QUEUE, now - command.arrived);
        let end = if !matches!(request.op, Op::Read | Op::Write { .. }) {
            now
        } else if self.holds(now, &request) {
            let end = self.link_free_at.max(now) + self.spec.link_ns(request.sectors);
            self.link_free_at = end;
            if let Some(ahead) = &mut self.ahead {
                ahead.last = request.sector;
            }
            self.counters.read_hits += 1;
            spent.add(Part::BUS, end - now);
            end
        } else if let Some(rest) = self.rest_ns(now, &request) {
            self.moved_since_read = None;
            spent.add(Part::MEDIA, rest);
            busy_ns = rest;
            self.turn_to(now, &request, now + rest, true);
            now + rest
        } else {
            if request.op == Op::Read {
                self.moved_since_read = None;
            }
            let (end, moved) = self.move_to(now, &request);
            busy_ns = moved.total();
            spent += moved;
            end
        };
        self.current = Some(Current { end, command, spent, busy_ns, destages: false });
    }

    /// The head goes to `request` and passes over it; gives when that ends, and where the time goes.
    fn move_to(&mut self, now: Nanos, request: &Request) -> (Nanos, Spent) {
        let (seek, rotation) = self.positioning(now, request.sector);
        let media = u64::from(request.sectors) * self.spec.sector_ns;
        let mut spent = Spent::NONE;
        spent.add(Part::SEEK, seek);
        spent.add(Part::ROTATION, rotation);
        spent.add(Part::MEDIA, media);
        let end = now + spent.total();
        self.turn_to(now, request, end, seek == 0);
        (end, spent)
    }

    /// Freezes the read segment that the head leaves. A read starts read-ahead, a write invalidates.
    fn turn_to(&mut self, now: Nanos, request: &Request, end_at: Nanos, by_itself: bool) {
        let reads = request.op == Op::Read;
        if let Some((start, end)) = self.read_ahead(now) {
            let goes_on = reads
                && by_itself
                && (start..=end + 2 * self.spec.track_sectors).contains(&request.sector);
            if !goes_on {
                self.frozen.push_back((start, end));
                self.ahead = None;
            }
        }
        if reads {
            let start = self.ahead.map_or(request.sector, |ahead| ahead.start);
            self.ahead = Some(ReadAhead {
                start,
                last: request.sector,
                limit: request.end() + self.spec.ahead_sectors,
            });
        } else {
            self.ahead = None;
            let (start, end) = (request.sector, request.end());
            let pieces = std::mem::take(&mut self.frozen);
            for (from, to) in pieces {
                let left = [(from, to.min(start)), (from.max(end), to)];
                self.frozen.extend(left.into_iter().filter(|(from, to)| from < to));
            }
        }
        while self.frozen.len() > self.spec.frozen_segments {
            self.frozen.pop_front();
        }
        (self.end_sector, self.end_at) = (request.end(), end_at);
    }

    fn next_event(&self) -> Option<Nanos> {
        let head = self.current.as_ref().map(|current| current.end).or(self.chooses_at);
        earlier(head, self.on_link.as_ref().map(|&(end, _)| end))
    }
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
