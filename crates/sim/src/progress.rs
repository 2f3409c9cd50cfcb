//! The progress of a request that other devices carry out.

use crate::{Disturbance, Event, Fault, Nanos, Tag};
use block::Op;

/// The state of the commands that carry out one request: in flight, done and not yet durable, failed,
/// aborted or lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Commands in flight.
    in_flight: u32,
    /// Commands that are done and not yet durable.
    undurable: u32,
    /// The first fault.
    fault: Option<Fault>,
    /// A finished command's data is lost.
    lost: bool,
    /// The request is done for its caller.
    finished: bool,
}

impl Progress {
    /// `commands` more are in flight.
    pub(crate) fn sent(&mut self, commands: u32) {
        self.in_flight += commands;
    }

    /// A command came back; `settles` says whether, if successful, it will later be durable or lost.
    pub(crate) fn returned(&mut self, result: Result<(), Fault>, settles: bool) {
        self.in_flight -= 1;
        match result {
            Ok(()) => self.undurable += u32::from(settles),
            Err(fault) => self.fail(fault),
        }
    }

    /// A finished command is durable, or `lost`.
    pub(crate) fn settled(&mut self, lost: bool) {
        self.undurable -= 1;
        self.lost |= lost;
    }

    /// Something failed; the first fault counts.
    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Clears the fault for another try.
    pub(crate) fn retry(&mut self) {
        self.fault = None;
    }

    /// A reset or a power cut. Returns whether events are still to come: a power cut loses what is done
    /// and not durable, and no event follows for it.
    pub(crate) fn abort(&mut self, what: Disturbance, fault: Fault) -> bool {
        if !self.finished {
            self.fail(fault);
        }
        if what == Disturbance::PowerCut {
            self.undurable = 0;
        }
        what != Disturbance::PowerCut || !self.finished
    }

    /// The request is done for its caller.
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

    /// Its result.
    pub(crate) fn result(&self) -> Result<(), Fault> {
        self.fault.map_or(Ok(()), Err)
    }

    /// Whether the data of a command is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether the request is done for its caller.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether all its commands are back, and what they changed is durable or lost.
    pub(crate) fn is_settled(&self) -> bool {
        self.in_flight == 0 && self.undurable == 0
    }

    /// Whether nothing more can happen to it.
    pub(crate) fn is_over(&self) -> bool {
        self.finished && self.undurable == 0
    }

    /// The last event of a request that is over: its change is durable, or `lost`.
    pub(crate) fn last_word(&self, at: Nanos, tag: Tag, op: Op, lost: bool) -> Option<Event> {
        let event = if lost { Event::Lost { tag, at } } else { Event::Durable { tag, at } };
        (self.fault.is_none() && op.modifies()).then_some(event)
    }
}
