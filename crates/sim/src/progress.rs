//! How far a request is that others carry out.

use crate::{Disturbance, Event, Fault, Nanos, Tag};
use block::Op;

/// What is known of the commands that carry out one request: which are in flight, done and not yet
/// durable, failed, aborted or lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Commands in flight.
    in_flight: u32,
    /// Commands that are done and not yet durable.
    undurable: u32,
    /// The first fault.
    fault: Option<Fault>,
    /// A command was done, and what it stored is gone.
    lost: bool,
    /// The request is done for whoever made it.
    finished: bool,
}

impl Progress {
    /// `commands` more are in flight.
    pub(crate) fn sent(&mut self, commands: u32) {
        self.in_flight += commands;
    }

    /// A command came back; `settles` says whether it will be durable or lost later, if it went well.
    pub(crate) fn returned(&mut self, result: Result<(), Fault>, settles: bool) {
        self.in_flight -= 1;
        match result {
            Ok(()) => self.undurable += u32::from(settles),
            Err(fault) => self.fail(fault),
        }
    }

    /// A command that was done is durable, or `lost`.
    pub(crate) fn settled(&mut self, lost: bool) {
        self.undurable -= 1;
        self.lost |= lost;
    }

    /// Something went wrong; the first fault counts.
    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// It is tried again, the fault forgotten.
    pub(crate) fn retry(&mut self) {
        self.fault = None;
    }

    /// A reset or a power cut. Whether there is still something to come: a power cut loses what is done
    /// and not durable, and nothing more is heard of it.
    pub(crate) fn abort(&mut self, what: Disturbance, fault: Fault) -> bool {
        if !self.finished {
            self.fail(fault);
        }
        if what == Disturbance::PowerCut {
            self.undurable = 0;
        }
        what != Disturbance::PowerCut || !self.finished
    }

    /// The request is done for whoever made it.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Commands in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The first fault.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// How it went.
    pub(crate) fn result(&self) -> Result<(), Fault> {
        self.fault.map_or(Ok(()), Err)
    }

    /// Whether what a command stored is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether the request is done for whoever made it.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether nothing more can come.
    pub(crate) fn is_over(&self) -> bool {
        self.finished && self.undurable == 0
    }

    /// The last word on a request that is over: what changed something is durable, or `lost`.
    pub(crate) fn last_word(&self, at: Nanos, tag: Tag, op: Op, lost: bool) -> Option<Event> {
        let event = if lost { Event::Lost { tag, at } } else { Event::Durable { tag, at } };
        (self.fault.is_none() && op.modifies()).then_some(event)
    }
}
