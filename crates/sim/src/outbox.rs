//! Events that are ready but not yet collected.

use crate::{Event, Fault, Nanos, Part, Spent, Tag};
use std::collections::VecDeque;

/// Events that wait for the next `advance`, in time order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(VecDeque<Event>);

impl Outbox {
    /// Adds an event; it must be no earlier than those already here.
    pub(crate) fn push(&mut self, event: Event) {
        debug_assert!(self.0.back().is_none_or(|last| last.at() <= event.at()));
        self.0.push_back(event);
    }

    /// A request comes back with a fault: all its time was waiting.
    pub(crate) fn refuse(&mut self, now: Nanos, tag: Tag, arrived: Nanos, fault: Fault) {
        let mut spent = Spent::NONE;
        spent.add(Part::QUEUE, now - arrived);
        self.push(Event::Done { tag, at: now, result: Err(fault), spent });
    }

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the first is due.
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        self.0.front().map(Event::at)
    }

    /// Hands over the events that are due by `now`.
    pub(crate) fn collect(&mut self, now: Nanos, out: &mut Vec<Event>) {
        while let Some(event) = self.0.front()
            && event.at() <= now
        {
            out.push(*event);
            self.0.pop_front();
        }
    }
}

/// The earlier of two optional times.
pub(crate) fn earlier(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
