//! Drives an array of real members: the same [`Core`] as in virtual time, by the clock and with bytes.
//!
//! What the core has ready is prepared by the arithmetic of parity, and sent through the kernel's rings.
//! A member that fails is taken out of service, and the array goes on without it where it can. A sector that a
//! member cannot read is not a failure if the run may write: as with md, it is computed from the other members
//! and written again.

use crate::error::{Error, Result};
use block::{Layout, Op, Payload, Place, Plan, Request, SECTOR_BYTES};
use rustix::io::Errno;
use sim::array::{Command, Core};
use sim::{Counters, Event, Fault, Nanos, Part, Spent, Tag, TargetCounters};
use slab::Slab;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};
use uring::{Action, Buffer, Ring, Transfer};

/// A layout over real members.
pub struct Engine {
    core: Core,
    ring: Ring,
    epoch: Instant,
    /// The requests in flight, by the name that the core has for each.
    jobs: Slab<Job>,
    members: Vec<Member>,
    /// Jobs that are over, kept for their memory.
    spare: Vec<Job>,
    ended: Vec<uring::Ended>,
    events: Vec<Event>,
    /// The job of the core's own requests, by slot: the repairs. Kept for their memory.
    repairing: BTreeMap<usize, usize>,
    /// Where the part of the one member begins that each file of the ring is for; empty where each member has its file.
    starts: Vec<u64>,
    /// Whether the members may be written.
    may_write: bool,
    repairs: u64,
    /// What a member could not read last.
    unreadable: Option<String>,
}

/// A request in flight, with its bytes.
struct Job {
    tag: Tag,
    request: Request,
    payload: Payload,
    /// With the ring while a stage runs.
    buffer: Buffer,
    /// What the stage has sent to the ring, in the order of its transfers.
    sent: Vec<Command>,
    sent_at: Nanos,
    /// How many of them have not come back.
    in_flight: usize,
}

/// What a member is doing and has done.
#[derive(Clone, Debug, Default)]
struct Member {
    name: String,
    in_flight: u32,
    busy_since: Nanos,
    done: TargetCounters,
    /// How it failed in service, if it did, and where.
    failure: Option<(String, u64)>,
}

/// A request that came back.
pub struct Ended<'a> {
    /// Its name.
    pub tag: Tag,
    /// When.
    pub at: Nanos,
    /// Waiting for a row to be unlocked, computing parity, and (as [`Part::MEDIA`]) the members.
    pub spent: Spent,
    /// What it read or wrote.
    pub bytes: &'a [u8],
}

impl Engine {
    /// `layout` over the files of `ring`, which `names` are for messages. What a member cannot read is
    /// written again only where the run `may_write`.
    pub fn new(layout: Box<dyn Layout>, ring: Ring, names: Vec<String>, may_write: bool) -> Self {
        assert_eq!(layout.members(), names.len(), "one file per member");
        let member = |name| Member { name, ..Member::default() };
        Engine {
            core: Core::new(layout),
            ring,
            epoch: Instant::now(),
            jobs: Slab::new(),
            members: names.into_iter().map(member).collect(),
            spare: Vec::new(),
            ended: Vec::new(),
            events: Vec::new(),
            repairing: BTreeMap::new(),
            starts: Vec::new(),
            may_write,
            repairs: 0,
            unreadable: None,
        }
    }

    /// The same over one member that is opened several times: from each of these sectors on by a file of its own.
    #[must_use]
    pub fn opened_at(self, starts: Vec<u64>) -> Self {
        assert_eq!(self.members.len(), 1, "one member is opened several times");
        Engine { starts, ..self }
    }

    /// How many unreadable ranges were written again.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// The layout.
    pub fn layout(&self) -> &dyn Layout {
        self.core.layout()
    }

    /// Takes a member out of service; nothing touches it from now on.
    pub fn fail(&mut self, member: u32) {
        self.core.fail(self.now(), member);
    }

    /// The first member that failed in service, and how. The volume goes on without it where it can.
    pub fn failure(&self) -> Option<Error> {
        let failed = self.members.iter().position(|member| member.failure.is_some());
        failed.and_then(|member| self.failure_of(member as u32))
    }

    fn failure_of(&self, member: u32) -> Option<Error> {
        let (failure, sector) = self.members[member as usize].failure.as_ref()?;
        let lost = Place { member, sector: *sector };
        let rebuilt = self.layout().rebuild(lost, 1, self.core.health(), &mut Plan::new());
        let next = match rebuilt {
            Ok(()) => format!(
                "to measure the volume without it, start a new run with `--failed {member}`"
            ),
            Err(_) => "the level has no redundancy for it".into(),
        };
        Some(Error::failure(format!("{failure}; {next}")))
    }

    /// Starts the clock, and the counts of what the members do, again from 0.
    pub fn restart_clock(&mut self) {
        assert_eq!(
            self.jobs.len(),
            self.repairing.len(),
            "nothing is in flight when the clock starts"
        );
        self.repairs = 0;
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
    /// Where it is a discard.
    pub fn accept(&mut self, request: Request, fill: impl FnOnce(&mut [u8])) -> Result<usize> {
        if request.op == Op::Discard {
            return Err(Error::input("discards cannot be measured on disks; leave them out"));
        }
        let mut job = self.spare.pop().unwrap_or_else(|| Job::new(request));
        job.request = request;
        let own = bytes(request.sectors);
        job.buffer.grow(own);
        match request.op {
            Op::Write { .. } => fill(&mut job.buffer[..own]),
            Op::Zeroes => job.buffer[..own].fill(0),
            _ => {}
        }
        Ok(self.jobs.insert(job))
    }

    /// Starts an accepted request at `now` under the name `tag`.
    ///
    /// # Errors
    ///
    /// Where the kernel takes no more requests.
    pub fn start(&mut self, now: Nanos, job: usize, tag: Tag) -> Result<()> {
        self.jobs[job].tag = tag;
        self.core.submit(now, job as Tag, self.jobs[job].request);
        self.start_stages()
    }

    /// Waits until a request comes back or it is `until`, and tells `each` of those that did.
    ///
    /// # Errors
    ///
    /// Where members have failed without which a request cannot be served, naming one.
    pub fn wait(&mut self, until: Option<Nanos>, mut each: impl FnMut(Ended<'_>)) -> Result<()> {
        if self.core.next_event().is_none() {
            let timeout = until.map(|at| Duration::from_nanos(at.saturating_sub(self.now())));
            let mut ended = std::mem::take(&mut self.ended);
            self.ring.wait(timeout, &mut ended).map_err(|error| ring_failed(&error))?;
            for transfer in ended.drain(..) {
                self.transfer_ended(transfer);
                self.start_stages()?;
            }
            self.ended = ended;
        }
        let mut events = std::mem::take(&mut self.events);
        self.core.collect(self.now(), &mut events);
        for event in events.drain(..) {
            // When a real member has what it wrote on the medium, it does not say.
            let Event::Done { tag, at, result, mut spent } = event else { continue };
            let mut job = self.jobs.remove(tag as usize);
            result.map_err(|fault| match (fault, self.unreadable.take()) {
                (Fault::Medium, Some(unreadable)) => {
                    let next = "no other member has it; replace the disk";
                    Error::failure(format!("{unreadable}; {next}"))
                }
                _ => self.unservable(job.request),
            })?;
            let start = Instant::now();
            let mut worked_ns = 0;
            if job.payload.after_read(self.core.layout(), &mut job.buffer) {
                worked_ns = start.elapsed().as_nanos() as Nanos;
                spent.add(Part::CPU, worked_ns);
            }
            let bytes = &job.buffer[job.payload.own()];
            each(Ended { tag: job.tag, at: at + worked_ns, spent, bytes });
            self.spare.push(job);
        }
        self.events = events;
        Ok(())
    }

    /// Adds what the members have done to `counters`.
    pub fn count(&self, counters: &mut Counters) {
        counters.targets.extend(self.members.iter().map(|member| TargetCounters {
            busy_since: (member.in_flight > 0).then_some(member.busy_since),
            ..member.done
        }));
    }

    /// Starts the stages that are ready.
    fn start_stages(&mut self) -> Result<()> {
        while let Some(slot) = self.core.next_ready() {
            let job = self.prepare(slot);
            self.send(slot, job)?;
        }
        Ok(())
    }

    /// Works out what a stage writes; gives whose stage it is.
    fn prepare(&mut self, slot: usize) -> usize {
        let stage = self.core.stage(slot);
        let key = match stage.owner {
            Some(tag) => tag as usize,
            None => *self.repairing.entry(slot).or_insert_with(|| {
                let job = self.spare.pop().unwrap_or_else(|| Job::new(stage.request));
                self.jobs.insert(job)
            }),
        };
        let job = &mut self.jobs[key];
        if stage.index == 0 {
            let own = stage.owner.map(|_| stage.request);
            self.repairs += u64::from(own.is_none());
            job.payload.lay_out(own, stage.plan, SECTOR_BYTES as usize);
            job.buffer.grow(job.payload.len());
        }
        let first = stage.plan.stage_start(stage.index);
        let steps = first..first + stage.plan.stage(stage.index).len();
        let worked = job.payload.before_stage(self.core.layout(), steps, &mut job.buffer);
        job.sent_at = self.epoch.elapsed().as_nanos() as Nanos;
        let part = if worked { Part::CPU } else { Part::QUEUE };
        self.core.charge(slot, part, job.sent_at);
        key
    }

    /// Sends the commands of a stage that is prepared. A member that is down is not asked.
    fn send(&mut self, slot: usize, key: usize) -> Result<()> {
        let job = &mut self.jobs[key];
        let now = job.sent_at;
        job.sent.clear();
        self.core.start(now, slot, |command| job.sent.push(command));
        let refused: Vec<Command> = job
            .sent
            .extract_if(.., |command| !self.core.health().is_up(command.request.target))
            .collect();
        job.in_flight = job.sent.len();
        if job.in_flight > 0 {
            let (members, starts) = (&mut self.members, &self.starts);
            let transfers = job.sent.iter().map(|Command { step, request, .. }| {
                members[request.target as usize].start(now);
                let later = starts.partition_point(|start| *start <= request.sector);
                let file = later.checked_sub(1).map_or(request.target, |place| place as u32);
                transfer(file, request, job.payload.part(*step, request.sectors))
            });
            let buffer = std::mem::take(&mut job.buffer);
            let started = self.ring.start(key as u32, buffer, transfers);
            started.map_err(|error| ring_failed(&error))?;
        }
        for Command { tag, .. } in refused {
            self.core.done(now, tag, Err(Fault::Failed), &Spent::NONE);
        }
        Ok(())
    }

    fn transfer_ended(&mut self, ended: uring::Ended) {
        let now = self.now();
        let job = &mut self.jobs[ended.key as usize];
        let Command { tag, request, .. } = job.sent[ended.index as usize];
        job.in_flight -= 1;
        if job.in_flight == 0 {
            job.buffer = self.ring.take(ended.key);
        }
        let mut spent = Spent::NONE;
        spent.add(Part::MEDIA, now - job.sent_at);
        let member = &mut self.members[request.target as usize];
        member.end(now, &request);
        let mut result = Ok(());
        if let Err(error) = ended.result {
            let Request { target, op, sector, sectors } = request;
            let name = &member.name;
            let what = format!("{op:?} of {sectors} sectors at {sector}: {error}");
            if op == Op::Read && self.may_write && is_medium_error(&error) {
                result = Err(Fault::Medium);
                self.unreadable = Some(format!("member {target} ({name}) cannot be read: {what}"));
            } else {
                let failure = format!("member {target} ({name}) failed: {what}");
                member.failure.get_or_insert((failure, sector));
                self.core.fail(now, target);
            }
        }
        // What a member did after it had failed does not count.
        let up = self.core.health().is_up(request.target);
        self.core.done(now, tag, if up { result } else { Err(Fault::Failed) }, &spent);
        if up && request.op.modifies() {
            self.core.settled(now, tag, false);
        }
    }

    /// Why nothing serves `request`.
    fn unservable(&self, request: Request) -> Error {
        let planned = self.core.layout().plan(request, self.core.health(), &mut Plan::new());
        let member = planned.expect_err("a request that could not be served still cannot").member;
        self.failure_of(member).unwrap_or_else(|| {
            let name = &self.members[member as usize].name;
            Error::input(format!(
                "member {member} ({name}) has failed, and nothing else holds what a request for {} \
                 sectors at {} needs; take a level that stands in for it, or leave out `--failed`",
                request.sectors, request.sector
            ))
        })
    }
}

impl Job {
    fn new(request: Request) -> Self {
        Job {
            tag: 0,
            request,
            payload: Payload::default(),
            buffer: Buffer::default(),
            sent: Vec::new(),
            sent_at: 0,
            in_flight: 0,
        }
    }
}

impl Member {
    fn start(&mut self, now: Nanos) {
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
    }

    fn end(&mut self, now: Nanos, request: &Request) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
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

fn transfer(file: u32, request: &Request, part: Range<usize>) -> Transfer {
    let action = match request.op {
        Op::Read => Action::Read,
        Op::Write { fua } => Action::Write { durable: fua },
        Op::Zeroes => Action::Write { durable: false },
        Op::Flush => Action::Flush,
        Op::Discard => unreachable!("no discard is accepted"),
    };
    let offset_bytes = request.sector * SECTOR_BYTES;
    Transfer { file, action, offset_bytes, part }
}

/// Whether a read failed for its sectors' sake and not because the member is gone: what Linux makes of
/// `BLK_STS_IOERR`, `_MEDIUM`, `_TARGET` and `_PROTECTION` (`blk_errors` of block/blk-core.c).
fn is_medium_error(error: &std::io::Error) -> bool {
    let of_sectors = [Errno::IO, Errno::NODATA, Errno::REMOTEIO, Errno::ILSEQ];
    Errno::from_io_error(error).is_some_and(|errno| of_sectors.contains(&errno))
}

fn bytes(sectors: u32) -> usize {
    sectors as usize * SECTOR_BYTES as usize
}

fn ring_failed(error: &std::io::Error) -> Error {
    Error::failure(format!("the kernel takes no more requests: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn only_errors_of_sectors_are_repaired() {
        let of = |errno: Errno| is_medium_error(&io::Error::from(errno));
        assert!(of(Errno::IO) && of(Errno::NODATA));
        assert!(!of(Errno::NXIO) && !of(Errno::NODEV) && !of(Errno::NOSPC));
        assert!(!is_medium_error(&io::Error::from(io::ErrorKind::UnexpectedEof)));
    }
}
