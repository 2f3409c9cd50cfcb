//! Carries out a layout's plans on real members: reads, then the arithmetic of parity, then writes.
//!
//! What [`sim::Array`] does in virtual time this does by the clock and with bytes: the same plans, the
//! same row locks, the same choice among copies. A member that fails ends the run; it is the measurement
//! of a healthy volume, or of one whose failed members were named.

use super::locks::Locks;
use crate::error::{Error, Result};
use block::{
    Content, Health, Layout, Op, Payload, Place, Plan, Request, SECTOR_BYTES, Step, Unservable,
};
use sim::{Counters, Nanos, Part, Spent, Tag, TargetCounters};
use slab::Slab;
use std::ops::Range;
use std::time::{Duration, Instant};
use uring::{Action, Buffer, Ring, Transfer};

/// A layout over real members.
pub struct Engine {
    layout: Box<dyn Layout>,
    ring: Ring,
    epoch: Instant,
    health: Health,
    active: Slab<Active>,
    locks: Locks,
    members: Vec<Member>,
    /// Plans and buffers that are not in use, kept for their memory.
    spare: Vec<(Plan, Buffer)>,
    /// Requests that came to an end but were not yet told.
    finished: Vec<(usize, Nanos)>,
    ended: Vec<uring::Ended>,
}

/// A request under way.
struct Active {
    tag: Tag,
    request: Request,
    plan: Plan,
    /// The request's own bytes, then what else its steps read, then the parity that they write. With
    /// the ring while a stage runs.
    buffer: Buffer,
    /// Each step's part of the buffer.
    parts: Vec<Range<usize>>,
    /// Where the parity starts that is written.
    reads_end: usize,
    stage: usize,
    rows_locked: usize,
    /// The stage's requests, each to the copy that was chosen.
    sent: Vec<Request>,
    under_way: usize,
    started: Nanos,
    spent: Spent,
}

/// What a member is doing and has done.
#[derive(Clone, Debug, Default)]
struct Member {
    name: String,
    under_way: u32,
    /// Where its last command ended.
    position: u64,
    busy_since: Nanos,
    done: TargetCounters,
}

/// A request that came back.
pub struct Ended<'a> {
    /// Its name.
    pub tag: Tag,
    /// When.
    pub at: Nanos,
    /// Waiting for a row to be unlocked, computing parity, and (as [`Part::Media`]) the members.
    pub spent: Spent,
    /// What it read or wrote.
    pub bytes: &'a [u8],
}

impl Engine {
    /// `layout` over the files of `ring`, which `names` are for messages.
    pub fn new(layout: Box<dyn Layout>, ring: Ring, names: Vec<String>) -> Self {
        assert_eq!(layout.members(), names.len(), "one file a member");
        let member = |name| Member { name, ..Member::default() };
        Engine {
            health: Health::all_up(layout.members()),
            layout,
            ring,
            epoch: Instant::now(),
            active: Slab::new(),
            locks: Locks::default(),
            members: names.into_iter().map(member).collect(),
            spare: Vec::new(),
            finished: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// The layout.
    pub fn layout(&self) -> &dyn Layout {
        &*self.layout
    }

    /// Takes a member out of service; nothing touches it from now on.
    pub fn fail(&mut self, member: u32) {
        self.health.fail(member);
    }

    /// Starts the clock, and the counts of what the members do, again from 0.
    pub fn restart_clock(&mut self) {
        assert!(self.active.is_empty(), "nothing is under way when the clock starts");
        self.epoch = Instant::now();
        self.members.iter_mut().for_each(|member| member.done = TargetCounters::default());
    }

    /// Nanoseconds since the clock was started.
    pub fn now(&self) -> Nanos {
        self.epoch.elapsed().as_nanos() as Nanos
    }

    /// Takes in a request, whose bytes `fill` provides where it writes. [`Engine::start`] starts it.
    ///
    /// # Errors
    ///
    /// Where too many members have failed for it, or it is a discard.
    pub fn accept(&mut self, request: Request, fill: impl FnOnce(&mut [u8])) -> Result<usize> {
        if request.op == Op::Discard {
            return Err(Error::input("discards cannot be measured on disks; leave them out"));
        }
        let (mut plan, mut buffer) = self.spare.pop().unwrap_or_default();
        let planned = self.layout.plan(request, &self.health, &mut plan);
        planned.map_err(|Unservable { member }| {
            Error::input(format!(
                "member {member} ({}) has failed, and nothing else holds what a request for {} sectors \
                 at {} needs; take a level that stands in for it, or leave out `--failed`",
                self.members[member as usize].name, request.sectors, request.sector
            ))
        })?;
        let (parts, reads_end, end) = parts(request, &plan);
        buffer.grow(end);
        match request.op {
            Op::Write { .. } => fill(&mut buffer[..bytes(request.sectors)]),
            Op::Zeroes => buffer[..bytes(request.sectors)].fill(0),
            _ => {}
        }
        Ok(self.active.insert(Active {
            tag: 0,
            request,
            plan,
            buffer,
            parts,
            reads_end,
            stage: 0,
            rows_locked: 0,
            sent: Vec::new(),
            under_way: 0,
            started: 0,
            spent: Spent::NONE,
        }))
    }

    /// Starts an accepted request at `now` under the name `tag`.
    ///
    /// # Errors
    ///
    /// Where the kernel takes no more requests.
    pub fn start(&mut self, now: Nanos, slot: usize, tag: Tag) -> Result<()> {
        let active = &mut self.active[slot];
        (active.tag, active.started) = (tag, now);
        if active.plan.stages() == 0 {
            self.finished.push((slot, now));
            return Ok(());
        }
        self.lock_rows(now, slot)
    }

    /// Waits until a request comes back or it is `until`, and tells `each` of those that did.
    ///
    /// # Errors
    ///
    /// Where a member fails, naming it.
    pub fn wait(&mut self, until: Option<Nanos>, mut each: impl FnMut(Ended<'_>)) -> Result<()> {
        if self.finished.is_empty() {
            let timeout = until.map(|at| Duration::from_nanos(at.saturating_sub(self.now())));
            let mut ended = std::mem::take(&mut self.ended);
            self.ring.wait(timeout, &mut ended).map_err(|error| ring_failed(&error))?;
            let now = self.now();
            for step in ended.drain(..) {
                self.step_ended(now, step)?;
            }
            self.ended = ended;
        }
        for (slot, at) in self.finished.drain(..) {
            let Active { tag, request, plan, buffer, started, mut spent, .. } =
                self.active.remove(slot);
            spent.add(Part::Media, at - started - spent.total());
            each(Ended { tag, at, spent, bytes: &buffer[..bytes(request.sectors)] });
            self.spare.push((plan, buffer));
        }
        Ok(())
    }

    /// Adds what the members have done to `counters`.
    pub fn count(&self, counters: &mut Counters) {
        counters.targets.extend(self.members.iter().map(|member| member.done));
    }

    /// Locks the next rows of the request; starts the first stage when it has them all.
    fn lock_rows(&mut self, now: Nanos, slot: usize) -> Result<()> {
        let active = &mut self.active[slot];
        while let Some(&row) = active.plan.rows().get(active.rows_locked) {
            if !self.locks.lock(row, slot) {
                return Ok(());
            }
            active.rows_locked += 1;
        }
        active.spent.add(Part::Queue, now - active.started);
        self.start_stage(now, slot)
    }

    fn unlock_rows(&mut self, now: Nanos, slot: usize) -> Result<()> {
        for index in 0..self.active[slot].plan.rows().len() {
            let row = self.active[slot].plan.rows()[index];
            if let Some(next) = self.locks.unlock(row) {
                self.active[next].rows_locked += 1;
                self.lock_rows(now, next)?;
            }
        }
        Ok(())
    }

    fn start_stage(&mut self, now: Nanos, slot: usize) -> Result<()> {
        self.compute_parity(slot);
        let (members, active) = (&mut self.members, &mut self.active[slot]);
        let plan = &active.plan;
        let first = plan.stage_start(active.stage);
        active.sent.clear();
        let transfers = plan.stage(active.stage).iter().zip(&active.parts[first..]);
        let sent = &mut active.sent;
        let transfers = transfers.map(|(step, part)| {
            let request = plan.choose(step, |copy| {
                let member = &members[copy.member as usize];
                (member.under_way, member.position.abs_diff(copy.sector))
            });
            members[request.target as usize].start(now, &request);
            sent.push(request);
            transfer(&request, part.clone())
        });
        active.under_way = plan.stage(active.stage).len();
        let buffer = std::mem::take(&mut active.buffer);
        self.ring.start(slot as u32, buffer, transfers).map_err(|error| ring_failed(&error))
    }

    /// Works out the parity that the stage writes.
    fn compute_parity(&mut self, slot: usize) {
        let active = &mut self.active[slot];
        let first = active.plan.stage_start(active.stage);
        let stage = active.plan.stage(active.stage).iter().zip(&active.parts[first..]);
        let mut parity = stage.filter(|(_, part)| part.start >= active.reads_end).peekable();
        if parity.peek().is_none_or(|(step, _)| step.request.op == Op::Flush) {
            return;
        }
        let start = Instant::now();
        let (known, out) = active.buffer.split_at_mut(active.reads_end);
        let payload = payload(&*self.layout, active.request, &active.plan, &active.parts, known);
        for (step, part) in parity {
            let part = part.start - active.reads_end..part.end - active.reads_end;
            payload.fill(step.content, &mut out[part]);
        }
        active.spent.add(Part::Cpu, start.elapsed().as_nanos() as Nanos);
    }

    fn step_ended(&mut self, now: Nanos, ended: uring::Ended) -> Result<()> {
        let slot = ended.key as usize;
        let active = &mut self.active[slot];
        let request = active.sent[ended.index as usize];
        let member = &mut self.members[request.target as usize];
        member.end(now, &request);
        ended.result.map_err(|error| {
            let Request { target, op, sector, sectors } = request;
            let name = &member.name;
            let next = if can_do_without(&*self.layout, &self.health, target, sector) {
                format!("to measure the volume without it, begin another run with `--failed {target}`")
            } else {
                "nothing stands in for it".into()
            };
            Error::failure(format!(
                "member {target} ({name}) failed: {op:?} of {sectors} sectors at {sector}: {error}; \
                 {next}"
            ))
        })?;
        active.under_way -= 1;
        if active.under_way > 0 {
            return Ok(());
        }
        active.buffer = self.ring.take(ended.key);
        active.stage += 1;
        if active.stage < active.plan.stages() {
            return self.start_stage(now, slot);
        }
        let at = self.work_out_read(now, slot);
        self.unlock_rows(at, slot)?;
        self.finished.push((slot, at));
        Ok(())
    }

    /// Works out what a read found to be on a failed member; gives the time when that is done.
    fn work_out_read(&mut self, now: Nanos, slot: usize) -> Nanos {
        let active = &mut self.active[slot];
        if active.request.op != Op::Read || active.plan.rows().is_empty() {
            return now;
        }
        let start = Instant::now();
        let (out, known) = active.buffer.split_at_mut(bytes(active.request.sectors));
        let mut payload = Payload::new(&*self.layout, SECTOR_BYTES as usize);
        for (step, part) in active.plan.steps().iter().zip(&active.parts) {
            payload.add_read(step.content, &known[part.start - out.len()..part.end - out.len()]);
        }
        payload.fill(Content::Data(active.request.sector), out);
        active.spent.add(Part::Cpu, start.elapsed().as_nanos() as Nanos);
        self.now()
    }
}

impl Member {
    fn start(&mut self, now: Nanos, request: &Request) {
        if self.under_way == 0 {
            self.busy_since = now;
        }
        self.under_way += 1;
        self.position = request.end();
    }

    fn end(&mut self, now: Nanos, request: &Request) {
        self.under_way -= 1;
        if self.under_way == 0 {
            self.done.busy_ns += now - self.busy_since;
        }
        self.done.commands += 1;
        let sectors = u64::from(request.sectors);
        match request.op {
            Op::Read => self.done.sectors_read += sectors,
            _ => self.done.sectors_written += sectors,
        }
    }
}

/// Whether what `member` holds at `sector` can be had from the others that are up.
fn can_do_without(layout: &dyn Layout, health: &Health, member: u32, sector: u64) -> bool {
    let mut health = health.clone();
    health.fail(member);
    layout.rebuild(Place { member, sector }, 1, &health, &mut Plan::new()).is_ok()
}

/// Each step's part of the request's buffer, where those end that are read, and where all do.
///
/// Data moves between the request's own bytes and the members without a copy; only what a write reads
/// first, and a read that has to be worked out, has a place of its own.
fn parts(request: Request, plan: &Plan) -> (Vec<Range<usize>>, usize, usize) {
    let own = request.op != Op::Read || plan.rows().is_empty();
    let mut end = bytes(request.sectors);
    let mut parts = vec![0..0; plan.steps().len()];
    let mut place = |wanted: &dyn Fn(&Step) -> bool| {
        for (part, step) in parts.iter_mut().zip(plan.steps()).filter(|(_, step)| wanted(step)) {
            *part = end..end + bytes(step.request.sectors);
            end = part.end;
        }
        end
    };
    let is_own = |step: &Step| {
        own && matches!(step.content, Content::Data(_))
            && (step.request.op == Op::Read) == (request.op == Op::Read)
    };
    let reads_end = place(&|step| step.request.op == Op::Read && !is_own(step));
    let end = place(&|step| step.request.op != Op::Read && !is_own(step));
    for (part, step) in parts.iter_mut().zip(plan.steps()).filter(|(_, step)| is_own(step)) {
        if let (Content::Data(sector), true) = (step.content, step.request.op != Op::Flush) {
            let start = bytes((sector - request.sector) as u32);
            *part = start..start + bytes(step.request.sectors);
        }
    }
    (parts, reads_end, end)
}

/// What a write knows: its own bytes, and what its plan has read.
fn payload<'a>(
    layout: &'a dyn Layout,
    request: Request,
    plan: &Plan,
    parts: &[Range<usize>],
    known: &'a [u8],
) -> Payload<'a> {
    let mut payload = Payload::new(layout, SECTOR_BYTES as usize);
    for (step, part) in plan.steps().iter().zip(parts) {
        if step.request.op == Op::Read {
            payload.add_read(step.content, &known[part.clone()]);
        }
    }
    payload.set_written(request.sector, &known[..bytes(request.sectors)]);
    payload
}

fn transfer(request: &Request, part: Range<usize>) -> Transfer {
    let action = match request.op {
        Op::Read => Action::Read,
        Op::Write { fua } => Action::Write { durable: fua },
        Op::Zeroes => Action::Write { durable: false },
        Op::Flush => Action::Flush,
        Op::Discard => unreachable!("no discard is accepted"),
    };
    let offset_bytes = request.sector * SECTOR_BYTES;
    Transfer { file: request.target, action, offset_bytes, part }
}

fn bytes(sectors: u32) -> usize {
    sectors as usize * SECTOR_BYTES as usize
}

fn ring_failed(error: &std::io::Error) -> Error {
    Error::failure(format!("the kernel takes no more requests: {error}"))
}
