//! A mechanical drive: one command at a time, a buffer, an arm and a spindle.
//!
//! A command waits in the queue, costs the controller its overhead, and then takes one of four paths:
//!
//! ```text
//! read, in the buffer or being read ahead   wait for read-ahead · bus
//! read, not in the buffer                   seek · rotation · media, the bus alongside · then read ahead
//! write, write-behind                       wait for room · bus              · later: seek · rotation · media
//! write, write-through or forced            bus, the arm alongside · seek · rotation · media
//! ```
//!
//! The firmware chooses the next command ([`Discipline`]) and much of what happens in the buffer
//! ([`Firmware`]). While no command needs the arm, writes in the buffer go to the medium (*destage*),
//! one extent at a time and never interrupted. Otherwise the drive reads ahead. An adjacent extent
//! costs no lost revolution if it is in the buffer by the time the head gets there.

mod cache;
mod destage;
mod dirty;
mod firmware;
mod geometry;
mod mechanics;
mod model;
mod parts;
mod physical;
mod queue;
mod read_ahead;
mod reading;
mod seek;
mod service;
mod spec;
mod starts;
mod writing;

pub use firmware::{Firmware, Keeps, OnWrite, Overheads, ReadAheadPolicy, Sending, Taking};
pub use geometry::{PlatterError, PlatterSpec, Platters, Spot, Zone};
pub use mechanics::{Aim, Mechanics, Run, Start, Transfer};
pub use model::DriveModel;
pub use queue::Discipline;
pub use seek::{SeekError, SeekSpec, mean_seek_ns, seek_table};
pub use spec::{ControllerSpec, DriveError, DriveSpec};

use crate::bus::{Bus, Port};
use crate::damage::Damage;
use crate::outbox::{Outbox, earlier};
use crate::spent::Ledger;
use crate::{Disturbance, Event, Fault, Nanos, Spent, Tag, TargetCounters};
use block::{Op, Request};
use cache::Segments;
use destage::Destage;
use dirty::Dirty;
use firmware::Before;
pub(crate) use parts::PARTS;
use queue::Queue;
use read_ahead::ReadAhead;
use std::sync::Arc;

/// A mechanical drive. It is attached to a bus, and so belongs to a [`crate::Shelf`].
#[derive(Clone, Debug)]
pub struct Drive {
    controller: Arc<ControllerSpec>,
    port: Port,
    mechanics: Mechanics,
    /// From here on no command or destage moves the arm.
    arm_free_at: Nanos,
    segments: Segments,
    ahead: Option<ReadAhead>,
    dirty: Dirty,
    destage: Option<Destage>,
    /// The sector after what was last written to the medium, and when that ended.
    written_to: (u64, Nanos),
    /// The last command that read or wrote.
    before: Option<Before>,
    queue: Queue,
    /// The command in service, or the last one.
    current: Current,
    /// What it waits for. It is set in its place: to move it costs more than to decide on it.
    phase: Phase,
    /// Where the time of the command in service went. It is filled in its place: to move it costs more than to charge.
    ledger: Ledger,
    outbox: Outbox,
    failed: bool,
    /// Sectors that cannot be read until they are rewritten.
    damage: Damage,
    counters: TargetCounters,
    /// Since when it has served commands or written from its buffer; none while it does neither.
    busy_since: Option<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    tag: Tag,
    request: Request,
    arrived: Nanos,
    /// Where its first sector is, for a drive that chooses by that.
    aim: Aim,
}

/// A command in service.
#[derive(Clone, Copy, Debug)]
struct Current {
    tag: Tag,
    request: Request,
    arrived: Nanos,
    result: Result<(), Fault>,
}

/// What the command in service waits for.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// There is none.
    Idle,
    /// The drive asks for the bus at this time, for a read whose last sector is ready at `available`.
    AskBusToSend { at: Nanos, available: Nanos },
    /// The drive asks for the bus at this time, to receive a write into the buffer.
    AskBusToBuffer { at: Nanos },
    /// The drive asks for the bus at this time, to receive a write that goes straight to the medium.
    AskBusToMedium {
        at: Nanos,
        /// When the controller has finished its own work.
        ready: Nanos,
        /// Whether it goes on where the last write ended: its first data have come while it waited.
        goes_on: bool,
    },
    /// Room in the buffer, and no older writes of the same sectors.
    Room,
    /// An empty buffer.
    Drain,
    /// Only this time.
    Finish { at: Nanos },
}

impl Drive {
    /// A drive as in `spec`, whose index mark passes the head at `phase_ns`. For many of the same model,
    /// see [`DriveModel`].
    ///
    /// # Errors
    ///
    /// Where the description is invalid.
    pub fn new(spec: &DriveSpec, phase_ns: Nanos) -> Result<Self, DriveError> {
        Ok(DriveModel::new(spec)?.drive(phase_ns))
    }

    /// Sectors that can be addressed.
    pub fn sectors(&self) -> u64 {
        self.mechanics.sectors()
    }

    /// Its counters so far.
    pub fn counters(&self) -> TargetCounters {
        let leaving = self.destage.as_ref().map_or(0, |of| u64::from(of.extent.sectors));
        let held_sectors = Some(self.dirty.sectors() + leaving);
        TargetCounters { busy_since: self.busy_since, held_sectors, ..self.counters }
    }

    /// Counts the time in which it is at work: with a command, or with what its buffer writes by itself.
    #[inline]
    fn note_work(&mut self, now: Nanos) {
        let is_at_work = self.is_busy() || self.destage.is_some();
        match self.busy_since {
            None if is_at_work => self.busy_since = Some(now),
            Some(since) if !is_at_work => {
                self.counters.busy_ns += now - since;
                self.busy_since = None;
            }
            _ => {}
        }
    }

    /// Whether a command is in service.
    fn is_busy(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// Accepts a request. Says whether it waits for others: then the next event is the same as before.
    #[inline]
    pub(crate) fn submit(&mut self, now: Nanos, tag: Tag, request: Request, bus: &mut Bus) -> bool {
        if self.failed {
            self.outbox.refuse(now, tag, now, Fault::Failed);
            return false;
        }
        if request.op == Op::Flush && self.holds_no_writes() {
            // Without a write cache a host does not even ask (Linux's `submit_bio_noacct`).
            let spent = Spent::NONE;
            self.outbox.push(Event::Done { tag, at: now, result: Ok(()), spent });
            return false;
        }
        if self.is_busy() {
            let request = request.parted();
            self.wait(Waiting { tag, request, arrived: now, aim: Aim::default() });
            return true;
        }
        self.begin(now, tag, &request, now, bus);
        self.note_work(now);
        false
    }

    /// Whether it can serve at once what is served well: it has not failed.
    pub(crate) fn is_up(&self) -> bool {
        !self.failed
    }

    /// [`crate::Device::serve`], while it is up and nothing is due here.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        now: Nanos,
        tag: Tag,
        read: &Request,
        limit: Nanos,
        bus: &mut Bus,
        spent: &mut Spent,
    ) -> Option<Nanos> {
        debug_assert!(self.next_event().is_none() && !self.is_busy(), "something else is due");
        self.busy_since = Some(now);
        self.begin(now, tag, read, now, bus);
        match self.phase {
            Phase::Finish { at } if at <= limit && self.current.result.is_ok() => {
                self.finish_lone_read(at, spent);
                Some(at)
            }
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        let own = match self.phase {
            Phase::AskBusToSend { at, .. }
            | Phase::AskBusToBuffer { at }
            | Phase::AskBusToMedium { at, .. }
            | Phase::Finish { at } => Some(at),
            Phase::Idle | Phase::Room | Phase::Drain => None,
        };
        if self.destage.is_none() && self.outbox.is_empty() {
            return own;
        }
        let destaged = self.destage.as_ref().map(|destage| destage.end);
        earlier(earlier(own, destaged), self.outbox.next_event())
    }

    /// Does everything that is due at `now`, which must be the time of the next event.
    pub(crate) fn advance(&mut self, now: Nanos, bus: &mut Bus, out: &mut Vec<Event>) {
        // What was refused came before this event.
        if !self.outbox.is_empty() {
            self.outbox.collect(now, out);
        }
        if self.destage.as_ref().is_some_and(|destage| destage.end <= now) {
            self.end_destage(bus, out);
        }
        match self.phase {
            Phase::AskBusToSend { at, .. }
            | Phase::AskBusToBuffer { at }
            | Phase::AskBusToMedium { at, .. }
                if at <= now =>
            {
                let request = self.current.request;
                self.take_bus(&request, bus);
            }
            Phase::Finish { at } if at <= now => self.finish(at, bus, out),
            _ => {}
        }
        self.note_work(now);
    }

    pub(crate) fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if let Disturbance::MediumError { sector, sectors, .. } = what {
            return self.damage.add(sector, sector + u64::from(sectors));
        }
        let fault = what.fault();
        if self.is_busy() {
            self.phase = Phase::Idle;
            self.ledger = Ledger::start(now);
            self.outbox.refuse(now, self.current.tag, self.current.arrived, fault);
        }
        while let Some(waiting) = self.queue.pop_oldest() {
            self.outbox.refuse(now, waiting.tag, waiting.arrived, fault);
        }
        self.failed |= fault == Fault::Failed;
        if what.says_what_is_lost() {
            self.lose_buffer(now);
        }
        if fault != Fault::Reset {
            self.dirty.clear();
            self.destage = None;
            self.segments.clear();
        }
        self.ahead = None;
        self.arm_free_at = self.destage.as_ref().map_or(now, |destage| destage.end);
        self.destage_next(now);
        self.note_work(now);
    }
}
