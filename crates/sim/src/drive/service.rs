//! How a drive serves a command, from start to end.

use super::{Bus, Current, Drive, Ledger, Phase, Waiting};
use crate::{Event, Fault, Nanos, Part};
use block::{Op, Request};

impl Drive {
    /// Starts to serve `waiting`.
    pub(super) fn begin(&mut self, now: Nanos, waiting: &Waiting, bus: &mut Bus) {
        let &Waiting { tag, request, arrived, .. } = waiting;
        self.ledger = Ledger::start(arrived);
        self.ledger.charge(Part::QUEUE, now);
        let mut result = Ok(());
        let phase = match request.op {
            Op::Read if self.is_damaged(&request) => {
                result = Err(Fault::Medium);
                self.begin_failing_read(now, &request)
            }
            Op::Read => self.begin_read(now, &request, bus),
            Op::Write { fua } => self.begin_write(now, &request, fua),
            Op::Flush if self.is_clean() => Phase::Finish { at: now },
            Op::Flush => Phase::Drain,
            Op::Discard | Op::Zeroes => {
                let done = now + self.controller.write_overhead_ns;
                self.ledger.charge(Part::OVERHEAD, done);
                if self.is_clear_of(&request) { Phase::Finish { at: done } } else { Phase::Room }
            }
        };
        // On a bus of its own, a drive knows at once when it will have it: no event is needed to ask.
        let phase = if bus.is_private() { self.take_bus(phase, &request, bus) } else { phase };
        self.current = Some(Current { tag, request, arrived, phase, result });
        if matches!(phase, Phase::Room | Phase::Drain) {
            self.destage_next(now);
        }
    }

    /// The command in service gets the bus that it has asked for.
    pub(super) fn take_asked_bus(&mut self, bus: &mut Bus) {
        if let Some(Current { phase, request, .. }) = self.current {
            let phase = self.take_bus(phase, &request, bus);
            self.current = self.current.map(|current| Current { phase, ..current });
        }
    }

    /// A command that asks for the bus in `phase` gets it at that time, or after those before it. Returns
    /// what it then waits for.
    #[inline]
    fn take_bus(&mut self, phase: Phase, request: &Request, bus: &mut Bus) -> Phase {
        let Phase::AskBusToSend { at, available } = phase else {
            return self.take_bus_to_receive(phase, request, bus);
        };
        let (_, end) = bus.reserve(at, self.port, request.sectors);
        self.ledger.charge(Part::CACHE, available.min(end));
        self.ledger.charge(Part::BUS, end);
        let done = end + self.controller.firmware.overheads.read_completion_ns;
        self.ledger.charge(Part::OVERHEAD, done);
        Phase::Finish { at: done }
    }

    /// The same for a write, or for what asks for no bus.
    fn take_bus_to_receive(&mut self, phase: Phase, request: &Request, bus: &mut Bus) -> Phase {
        match phase {
            Phase::AskBusToBuffer { at } => {
                let (_, end) = bus.reserve(at, self.port, request.sectors);
                self.ledger.charge(Part::BUS, end);
                Phase::Finish { at: end }
            }
            Phase::AskBusToMedium { at, ready } => {
                let transfer = bus.reserve(at, self.port, request.sectors);
                self.write_through(ready, transfer, request, bus)
            }
            _ => phase,
        }
    }

    /// The command in service is done.
    pub(super) fn finish(&mut self, now: Nanos, bus: &mut Bus, out: &mut Vec<Event>) {
        let Some(Current { tag, request, result, .. }) = self.current else { return };
        debug_assert_eq!(self.ledger.charged_to(), now);
        out.push(Event::Done { tag, at: now, result, spent: *self.ledger.spent() });
        self.current = None;
        self.counters.commands += 1;
        match request.op {
            Op::Read if result.is_err() => {}
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { fua } => self.finish_write(now, tag, &request, fua, out),
            Op::Discard | Op::Zeroes => {
                self.forget(now, &request);
                if request.op == Op::Zeroes {
                    self.damage.repair(request.sector, request.end());
                }
                out.push(Event::Durable { tag, at: now });
            }
            Op::Flush => {}
        }
        match self.next_waiting(now) {
            Some(waiting) => self.begin(now, &waiting, bus),
            None => self.counters.busy_ns += now - self.busy_since,
        }
        self.destage_next(now);
    }
}
