//! Events that are ready but not yet collected.

use crate::{Event, Fault, Nanos, Part, Spent, Tag};

/// Events that wait for the next `advance`, in time order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(Vec<Event>);

impl Outbox {
    /// Adds an event; it must be no earlier than those already here.
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        debug_assert!(self.0.last().is_none_or(|last| last.at() <= event.at()));
        self.0.push(event);
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
        self.0.first().map(Event::at)
    }

    /// Hands over the events that are due by `now`.
    #[inline]
    pub(crate) fn collect(&mut self, now: Nanos, out: &mut Vec<Event>) {
        let are_all_due = self.0.last().is_some_and(|last| last.at() <= now);
        if are_all_due && out.is_empty() {
            // The lists change places: an event is 150 bytes to move.
            return std::mem::swap(&mut self.0, out);
        }
        self.collect_some(now, out);
    }

    fn collect_some(&mut self, now: Nanos, out: &mut Vec<Event>) {
        let due = self.0.partition_point(|event| event.at() <= now);
        out.extend(self.0.drain(..due));
    }
}

/// The earlier of two optional times.
pub(crate) fn earlier(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
