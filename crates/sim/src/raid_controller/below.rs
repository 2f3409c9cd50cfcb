//! What a RAID controller has sent to its volume, and the results.

use super::memory::{Piece, Written};
use super::{Command, RaidController, Stage};
use crate::{Advance, Device, Event, Fault, Nanos, Spent, Tag};
use block::Request;
use std::collections::BTreeMap;

/// Something in flight below.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Read {
        slot: usize,
        /// None of it was changed meanwhile, so the memory may keep it.
        keeps: bool,
    },
    Flush(usize),
    /// A command that changes sectors and does not come from the memory.
    Through {
        /// The command, until it is done.
        slot: Option<usize>,
        tag: Tag,
        change: Change,
    },
    /// A run from the memory.
    Run {
        pieces: Vec<Piece>,
        change: Change,
    },
}

/// Sectors that are being changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    start: u64,
    end: u64,
}

/// Whether any of these ranges, which do not overlap, overlaps `start..end`.
pub(super) fn meets(ranges: &BTreeMap<u64, (u64, bool)>, start: u64, end: u64) -> bool {
    ranges.range(..end).next_back().is_some_and(|(_, &(to, _))| to > start)
}

impl<D: Device> RaidController<D> {
    pub(super) fn send(&mut self, now: Nanos, slot: usize, job: Job) {
        self.commands[slot].stage = Stage::Below;
        self.submit_below(now, self.commands[slot].request, job);
    }

    pub(super) fn send_through(&mut self, now: Nanos, slot: usize) {
        let Command { tag, request, .. } = self.commands[slot];
        self.forget(&request);
        self.commands[slot].stage = Stage::Below;
        let change = self.change(&request, false);
        self.submit_below(now, request, Job::Through { slot: Some(slot), tag, change });
    }

    /// Sends dirty runs, while more may be in flight.
    pub(super) fn send_runs(&mut self, now: Nanos) {
        while self.runs < self.spec.runs {
            let blocked = |start: u64, end: u64| meets(&self.changing, start, end);
            let run = self.dirty.take_run(self.spec.run_sectors, blocked, &mut self.written);
            let Some(pieces) = run else { return };
            let (start, end) = (pieces[0].start, pieces[pieces.len() - 1].end);
            let request = Request::write(start, (end - start) as u32);
            self.runs += 1;
            self.running_sectors += end - start;
            let change = self.change(&request, true);
            self.submit_below(now, request, Job::Run { pieces, change });
        }
    }

    fn change(&mut self, request: &Request, held: bool) -> Change {
        let (start, end) = (request.sector, request.end());
        self.changing.insert(start, (end, held));
        Change { start, end }
    }

    fn submit_below(&mut self, now: Nanos, request: Request, job: Job) {
        self.jobs.insert(self.next_job, job);
        self.below.submit(now, self.next_job, request);
        self.next_job += 1;
    }

    /// `request` changes sectors: data read from them before is dropped.
    pub(super) fn forget(&mut self, request: &Request) {
        self.clean.forget(request.sector, request.end());
        for job in self.jobs.values_mut() {
            if let Job::Read { slot, keeps } = job {
                let read = self.commands[*slot].request;
                *keeps &= read.end() <= request.sector || request.end() <= read.sector;
            }
        }
    }

    pub(super) fn advance_below(&mut self, now: Nanos) {
        if self.below.next_event().is_none_or(|at| at > now) {
            return;
        }
        let mut events = std::mem::take(&mut self.events);
        self.below.advance(now, &mut events);
        for event in events.drain(..) {
            match event {
                Event::Done { tag, at, result, spent } => {
                    self.done_below(at, tag, result, spent);
                    self.let_in(at);
                }
                Event::Durable { tag, at } => {
                    self.durable_below(at, tag);
                    self.let_in(at);
                }
                Event::Lost { tag, at } => {
                    self.lost_below(at, tag);
                    self.let_in(at);
                }
            }
        }
        self.events = events;
    }

    fn done_below(&mut self, at: Nanos, name: Tag, result: Result<(), Fault>, spent: Spent) {
        // A power cut has removed it.
        let Some(job) = self.jobs.remove(&name) else { return };
        let result = if self.failed { Err(Fault::Failed) } else { result };
        match job {
            Job::Read { slot, keeps } => {
                let command = &mut self.commands[slot];
                command.ledger.charge_all(&spent);
                let request = command.request;
                if result.is_err() {
                    return self.finish(at, slot, result);
                }
                if keeps {
                    self.clean.keep(request.sector, request.end());
                    self.clean.shrink_to(self.spec.memory_sectors - self.held());
                }
                self.onto_bus(at, slot, Stage::Sending);
            }
            Job::Flush(slot) => {
                self.commands[slot].ledger.charge_all(&spent);
                self.finish(at, slot, result);
            }
            Job::Through { slot, tag, change } => {
                let durable_later = result.is_ok();
                if let Some(slot) = slot {
                    let command = &mut self.commands[slot];
                    command.ledger.charge_all(&spent);
                    self.finish(at, slot, result);
                }
                if durable_later {
                    self.jobs.insert(name, Job::Through { slot: None, tag, change });
                } else {
                    self.changing.remove(&change.start);
                }
            }
            Job::Run { pieces, change } => match result {
                Ok(()) => _ = self.jobs.insert(name, Job::Run { pieces, change }),
                Err(Fault::Reset) => self.take_back(pieces, &change),
                Err(_) => self.lose(at, &pieces, &change),
            },
        }
    }

    fn durable_below(&mut self, at: Nanos, name: Tag) {
        match self.jobs.remove(&name) {
            Some(Job::Through { tag, change, .. }) => {
                self.changing.remove(&change.start);
                self.outbox.push(Event::Durable { tag, at });
            }
            Some(Job::Run { pieces, change }) => {
                self.end_run(&change);
                self.clean.keep(change.start, change.end);
                self.clean.shrink_to(self.spec.memory_sectors - self.held());
                for write in pieces.iter().flat_map(|piece| &piece.writes) {
                    self.let_go(at, *write);
                }
            }
            _ => {}
        }
    }

    fn lost_below(&mut self, at: Nanos, name: Tag) {
        match self.jobs.remove(&name) {
            Some(Job::Through { tag, change, .. }) => {
                self.changing.remove(&change.start);
                self.outbox.push(Event::Lost { tag, at });
            }
            Some(Job::Run { pieces, change }) => self.lose(at, &pieces, &change),
            _ => {}
        }
    }

    fn end_run(&mut self, change: &Change) {
        self.changing.remove(&change.start);
        self.running_sectors -= change.end - change.start;
        self.runs -= 1;
    }

    /// A piece with a part of `write` is gone, durable or lost.
    fn let_go(&mut self, at: Nanos, write: usize) {
        let written = &mut self.written[write];
        written.pieces -= 1;
        if written.pieces == 0 {
            let Written { tag, lost, .. } = self.written.remove(write);
            let durable = Event::Durable { tag, at };
            self.outbox.push(if lost { Event::Lost { tag, at } } else { durable });
        }
    }

    /// A run was aborted: it is dirty again, except for what has been replaced meanwhile.
    fn take_back(&mut self, pieces: Vec<Piece>, change: &Change) {
        self.end_run(change);
        for Piece { start, end, writes } in pieces {
            for write in writes {
                self.dirty.lay(start, end, write, &mut self.written);
                self.written[write].pieces -= 1;
            }
        }
    }

    /// A run failed, or the volume that had accepted it did.
    fn lose(&mut self, at: Nanos, pieces: &[Piece], change: &Change) {
        self.end_run(change);
        for &write in pieces.iter().flat_map(|piece| &piece.writes) {
            self.written[write].lost = true;
            self.let_go(at, write);
        }
    }

    /// The controller has failed, and its memory is lost. Commands in flight below still come back, and
    /// writes that went through are durable when the volume says so.
    pub(super) fn die(&mut self, now: Nanos) {
        self.failed = true;
        for (_, Written { tag, .. }) in &self.written {
            self.outbox.push(Event::Lost { tag: *tag, at: now });
        }
        self.forget_memory();
        self.jobs.retain(|_, job| !matches!(job, Job::Run { .. }));
    }

    /// Power was cut: only commands in flight below still come back.
    pub(super) fn forget_all(&mut self) {
        self.forget_memory();
        self.jobs.retain(|_, job| match job {
            Job::Read { keeps, .. } => {
                *keeps = false;
                true
            }
            Job::Flush(_) => true,
            Job::Through { slot, .. } => slot.is_some(),
            Job::Run { .. } => false,
        });
    }

    fn forget_memory(&mut self) {
        self.dirty.clear();
        self.clean.shrink_to(0);
        self.written.clear();
        self.changing.clear();
        (self.running_sectors, self.runs) = (0, 0);
    }
}
