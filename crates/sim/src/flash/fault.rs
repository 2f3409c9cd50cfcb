//! What a fault does to a flash drive: what is in flight ends, and without protection the buffer is lost.

use super::{Flash, LINGER_NS, Stage};
use crate::{Event, Fault, Nanos, Tag};
use std::cmp::Reverse;

impl Flash {
    /// Ends everything in flight with `fault`.
    pub(super) fn abort(&mut self, now: Nanos, fault: Fault) {
        let mut ended: Vec<(Tag, Nanos)> = Vec::new();
        let mut slots: Vec<u32> = self.due.drain().map(|Reverse((_, slot))| slot).collect();
        slots.sort_unstable();
        for slot in slots {
            let flight = &mut self.flights[slot as usize];
            ended.push((flight.tag, flight.arrived));
            if let Stage::Volatile(number) = flight.stage {
                self.volatile[(number - self.first_volatile) as usize].aborted = true;
            }
            flight.stage = Stage::None;
            self.free.push(slot);
        }
        if !ended.is_empty() {
            self.counters.busy_ns += now - self.busy_since;
        }
        ended.extend(self.waiting.drain(..).map(|(tag, _, arrived)| (tag, arrived)));
        for (tag, arrived) in ended {
            self.outbox.refuse(now, tag, arrived, fault);
        }
        self.controller_free_at = self.controller_free_at.min(now);
        self.link.abort(now);
        for free_at in &mut self.units_free_at {
            *free_at = (*free_at).min(now);
        }
        self.drain.abort(now, fault != Fault::Reset);
        if self.drain.is_open() {
            self.closes_at = Some(now + LINGER_NS);
        }
    }

    /// What the buffer held is gone; after a failure, whoever wrote it hears of that.
    pub(super) fn lose_buffer(&mut self, now: Nanos, is_said: bool) {
        self.closes_at = None;
        for volatile in self.volatile.drain(..) {
            self.first_volatile += 1;
            if is_said && volatile.done {
                self.outbox.push(Event::Lost { tag: volatile.tag, at: now });
            }
        }
    }
}
