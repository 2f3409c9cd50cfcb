//! How a drive serves a command, from start to end.

use super::{Bus, Current, Drive, Phase, Waiting};
use crate::{Event, Nanos, Part, Spent, Tag};
use block::{Op, Request};

impl Drive {
    /// Starts to serve `request`, which has waited since it `arrived`.
    pub(super) fn begin(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: &Request,
        arrived: Nanos,
        bus: &mut Bus,
    ) {
        self.current = Current { tag, request: request.parted(), arrived, result: Ok(()) };
        self.ledger.start_again(arrived);
        self.ledger.charge(Part::QUEUE, now);
        match request.op {
            Op::Read if self.is_damaged(request) => self.begin_failing_read(now, request),
            Op::Read => self.begin_read(now, request, bus),
            Op::Write { fua } => self.begin_write(now, request, fua, bus),
            Op::Flush => self.begin_flush(now),
            Op::Discard | Op::Zeroes => self.begin_discard(now, request),
        }
        if matches!(self.phase, Phase::Room | Phase::Drain) {
            self.destage_next(now);
        }
    }

    /// A flush costs what any command does, also where there is nothing to write.
    fn begin_flush(&mut self, now: Nanos) {
        let done = now + self.controller.write_overhead_ns;
        self.ledger.charge(Part::OVERHEAD, done);
        self.phase = if self.is_clean() { Phase::Finish { at: done } } else { Phase::Drain };
    }

    /// A command that only changes what its sectors mean.
    fn begin_discard(&mut self, now: Nanos, request: &Request) {
        let done = now + self.controller.write_overhead_ns;
        self.ledger.charge(Part::OVERHEAD, done);
        let is_clear = self.is_clear_of(request);
        self.phase = if is_clear { Phase::Finish { at: done } } else { Phase::Room };
    }

    /// The command in service asks for the bus in `phase`. On a bus of its own, a drive knows at once when it will have
    /// it: no event is needed to ask.
    #[inline]
    pub(super) fn ask_bus(&mut self, phase: Phase, request: &Request, bus: &mut Bus) {
        self.phase = phase;
        if bus.is_private() {
            self.take_bus(request, bus);
        }
    }

    /// The command in service gets the bus that it has asked for, at that time or after those before it.
    #[inline]
    pub(super) fn take_bus(&mut self, request: &Request, bus: &mut Bus) {
        match self.phase {
            Phase::AskBusToSend { at, available } => {
                let (_, end) = bus.reserve(at, self.port, request.sectors);
                self.ledger.charge(Part::CACHE, available.min(end));
                self.ledger.charge(Part::BUS, end);
                let done = end + self.controller.firmware.overheads.read_completion_ns;
                self.ledger.charge(Part::OVERHEAD, done);
                self.phase = Phase::Finish { at: done };
            }
            Phase::AskBusToBuffer { at } => {
                let (_, end) = bus.reserve(at, self.port, request.sectors);
                self.ledger.charge(Part::BUS, end);
                self.phase = Phase::Finish { at: end };
            }
            Phase::AskBusToMedium { at, ready, goes_on } => {
                let transfer = bus.reserve(at, self.port, request.sectors);
                self.write_through((ready, goes_on), transfer, request, bus);
            }
            Phase::Idle | Phase::Room | Phase::Drain | Phase::Finish { .. } => {}
        }
    }

    /// The command in service is done.
    pub(super) fn finish(&mut self, now: Nanos, bus: &mut Bus, out: &mut Vec<Event>) {
        let Current { tag, request, result, .. } = self.current;
        debug_assert_eq!(self.ledger.charged_to(), now);
        out.push(Event::Done { tag, at: now, result, spent: self.ledger.take() });
        self.phase = Phase::Idle;
        self.counters.commands += 1;
        match request.op {
            Op::Read if result.is_err() => {}
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { fua } => self.finish_write(now, tag, &request, fua, out),
            Op::Discard | Op::Zeroes => self.finish_discard(now, tag, &request, out),
            Op::Flush => {}
        }
        if let Some(Waiting { tag, request, arrived, .. }) = self.next_waiting(now) {
            self.begin(now, tag, &request, arrived, bus);
        }
        self.destage_next(now);
    }

    /// The read in service is done, it went well, and no other command waits.
    #[inline]
    pub(super) fn finish_lone_read(&mut self, now: Nanos, spent: &mut Spent) {
        debug_assert_eq!(self.ledger.charged_to(), now);
        *spent = self.ledger.take();
        self.phase = Phase::Idle;
        self.counters.commands += 1;
        self.counters.sectors_read += u64::from(self.current.request.sectors);
        self.destage_next(now);
        self.note_work(now);
    }

    fn finish_discard(&mut self, now: Nanos, tag: Tag, request: &Request, out: &mut Vec<Event>) {
        self.forget(now, request);
        if request.op == Op::Zeroes {
            self.damage.repair(request.sector, request.end());
        }
        out.push(Event::Durable { tag, at: now });
    }
}
