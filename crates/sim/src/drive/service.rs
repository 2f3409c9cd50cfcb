//! How a drive serves a command, from start to end.

use super::{Bus, Current, Drive, Ledger, Phase, Waiting};
use crate::{Event, Fault, Nanos, Part, Spent, Tag};
use block::Op;

impl Drive {
    /// Starts to serve `waiting`.
    pub(super) fn begin(&mut self, now: Nanos, waiting: Waiting, bus: &mut Bus) {
        let Waiting { tag, request, arrived } = waiting;
        let mut ledger = Ledger::start(arrived);
        ledger.charge(Part::QUEUE, now);
        let mut result = Ok(());
        let phase = match request.op {
            Op::Read if self.is_damaged(&request) => {
                result = Err(Fault::Medium);
                self.begin_failing_read(now, request, &mut ledger)
            }
            Op::Read => self.begin_read(now, request, &mut ledger, bus),
            Op::Write { fua } => self.begin_write(now, request, fua, &mut ledger),
            Op::Flush if self.is_clean() => Phase::Finish { at: now },
            Op::Flush => Phase::Drain,
            Op::Discard | Op::Zeroes => {
                let done = now + self.controller.write_overhead_ns;
                ledger.charge(Part::OVERHEAD, done);
                if self.is_clear_of(&request) { Phase::Finish { at: done } } else { Phase::Room }
            }
        };
        self.current = Some(Current { tag, request, arrived, ledger, phase, result });
        if matches!(phase, Phase::Room | Phase::Drain) {
            self.destage_next(now);
        } else {
            self.take_private_bus(bus);
        }
    }

    /// On a bus of its own, a drive knows at once when it will have it, so no event is needed to ask.
    pub(super) fn take_private_bus(&mut self, bus: &mut Bus) {
        let asks = self.current.as_ref().is_some_and(|current| {
            matches!(
                current.phase,
                Phase::AskBusToSend { .. }
                    | Phase::AskBusToBuffer { .. }
                    | Phase::AskBusToMedium { .. }
            )
        });
        if asks && bus.is_private() {
            self.take_bus(bus);
        }
    }

    /// The command in service gets the bus at the time it asked for, or after those before it.
    pub(super) fn take_bus(&mut self, bus: &mut Bus) {
        let Some(mut current) = self.current.take() else { return };
        let sectors = current.request.sectors;
        match current.phase {
            Phase::AskBusToSend { at, available } => {
                let (_, end) = bus.reserve(at, self.port, sectors);
                current.ledger.charge(Part::CACHE, available.min(end));
                current.ledger.charge(Part::BUS, end);
                let done = end + self.controller.firmware.overheads.read_completion_ns;
                current.ledger.charge(Part::OVERHEAD, done);
                current.phase = Phase::Finish { at: done };
            }
            Phase::AskBusToBuffer { at } => {
                let (_, end) = bus.reserve(at, self.port, sectors);
                current.ledger.charge(Part::BUS, end);
                current.phase = Phase::Finish { at: end };
            }
            Phase::AskBusToMedium { at, ready } => {
                let transfer = bus.reserve(at, self.port, sectors);
                current.phase =
                    self.write_through(ready, transfer, current.request, &mut current.ledger, bus);
            }
            Phase::Room | Phase::Drain | Phase::Finish { .. } => {}
        }
        self.current = Some(current);
    }

    /// The command in service is done.
    pub(super) fn finish(&mut self, now: Nanos, bus: &mut Bus) {
        let Some(current) = self.current.take() else { return };
        let Current { tag, request, ledger, result, .. } = current;
        debug_assert_eq!(ledger.charged_to(), now);
        self.outbox.push(Event::Done { tag, at: now, result, spent: ledger.spent() });
        self.counters.commands += 1;
        match request.op {
            Op::Read if result.is_err() => {}
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { fua } => self.finish_write(now, tag, &request, fua),
            Op::Discard | Op::Zeroes => {
                self.forget(now, &request);
                if request.op == Op::Zeroes {
                    self.damage.repair(request.sector, request.end());
                }
                self.outbox.push(Event::Durable { tag, at: now });
            }
            Op::Flush => {}
        }
        match self.next_waiting(now) {
            Some(waiting) => self.begin(now, waiting, bus),
            None => self.counters.busy_ns += now - self.busy_since,
        }
        self.destage_next(now);
    }

    /// Comes back with a fault: all its time is charged as waiting.
    pub(super) fn refuse(&mut self, now: Nanos, tag: Tag, arrived: Nanos, fault: Fault) {
        let mut spent = Spent::NONE;
        spent.add(Part::QUEUE, now - arrived);
        self.outbox.push(Event::Done { tag, at: now, result: Err(fault), spent });
    }
}
