//! What a drive does with a command, from its turn to its end; and what it does when it has none.

use super::{Bus, Current, Destage, Drive, Ledger, Phase, ReadAhead, Waiting};
use crate::{Event, Fault, Nanos, Part, Spent, Tag};
use block::{Op, Request};

impl Drive {
    /// It is `waiting`'s turn.
    pub(super) fn begin(&mut self, now: Nanos, waiting: Waiting, bus: &mut Bus) {
        let Waiting { tag, request, arrived } = waiting;
        let mut ledger = Ledger::start(arrived);
        ledger.charge(Part::Queue, now);
        let phase = match request.op {
            Op::Read => self.begin_read(now, request, &mut ledger, bus),
            Op::Write { fua } => {
                let ready = now + self.write_overhead_ns(&request);
                ledger.charge(Part::Overhead, ready);
                let buffer = self.controller.write_buffer_sectors;
                if fua || u64::from(request.sectors) > buffer {
                    Phase::AskBusToMedium { at: ready }
                } else if self.has_room_for(&request) {
                    Phase::AskBusToBuffer { at: ready }
                } else {
                    Phase::Room
                }
            }
            Op::Flush if self.is_clean() => Phase::Finish { at: now },
            Op::Flush => Phase::Drain,
            Op::Discard | Op::Zeroes => {
                let done = now + self.controller.write_overhead_ns;
                ledger.charge(Part::Overhead, done);
                Phase::Finish { at: done }
            }
        };
        self.current = Some(Current { tag, request, arrived, ledger, phase });
        if matches!(phase, Phase::Room | Phase::Drain) {
            self.destage_next(now);
        } else {
            self.take_private_bus(bus);
        }
    }

    fn write_overhead_ns(&mut self, request: &Request) -> Nanos {
        let goes_on = self.last_write_end.replace(request.end()) == Some(request.sector);
        if goes_on {
            self.controller.sequential_write_overhead_ns
        } else {
            self.controller.write_overhead_ns
        }
    }

    fn begin_read(
        &mut self,
        now: Nanos,
        request: Request,
        ledger: &mut Ledger,
        bus: &Bus,
    ) -> Phase {
        self.last_write_end = None;
        let hit = now + self.controller.read_hit_overhead_ns;
        if let Some(buffered) = self.buffered_at(hit, &request) {
            self.counters.read_hits += 1;
            ledger.charge(Part::Overhead, hit);
            return self.ask_to_send(hit, hit.max(buffered), request.sectors, bus);
        }
        let ready = now + self.controller.read_miss_overhead_ns;
        ledger.charge(Part::Overhead, ready);
        self.stop_ahead(ready);
        let free = ready.max(self.arm_free_at);
        ledger.charge(Part::Queue, free);
        let spent = self.mechanics.transfer(free, request.sector, request.sectors, false, 0);
        ledger.charge_all(spent);
        let available = ledger.charged_to();
        self.arm_free_at = available;
        if let Some(segment) = self.segments.replace(request.sector) {
            self.segments.extend(segment, request.end());
            self.read_on(segment, available, request.end());
        }
        let first_off = available - spent[Part::Media] - spent[Part::HeadSwitch];
        self.ask_to_send(first_off.max(ready), available, request.sectors, bus)
    }

    /// When all of a read is in the buffer, if it is there or on its way; reading ahead goes on.
    fn buffered_at(&mut self, now: Nanos, request: &Request) -> Option<Nanos> {
        if self.dirty.covers(request.sector, request.end()) {
            return Some(now);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.catch_up(&mut self.mechanics, &mut self.segments, now);
        }
        let found = self.segments.find(request.sector);
        let index = found.filter(|&index| request.end() <= self.segments.get(index).end);
        if let Some(ahead) = &mut self.ahead
            && found == Some(ahead.segment)
        {
            let limit = request.end() + self.controller.read_ahead_sectors;
            ahead.extend(&mut self.mechanics, limit, now);
            self.segments.touch(ahead.segment);
            return Some(ahead.reach(&mut self.mechanics, &mut self.segments, request.end()));
        }
        self.segments.touch(index?);
        Some(now)
    }

    /// The drive asks for the bus so that it finishes with the last sector from the medium, rather
    /// than hold the bus while sectors trickle in.
    fn ask_to_send(&self, from: Nanos, available: Nanos, sectors: u32, bus: &Bus) -> Phase {
        let all_but_one = bus.transfer_ns(self.port, sectors.saturating_sub(1));
        Phase::AskBusToSend { at: from.max(available.saturating_sub(all_but_one)), available }
    }

    /// On a bus of its own, a drive knows at once when it will have it: no event is needed to ask.
    fn take_private_bus(&mut self, bus: &mut Bus) {
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
                current.ledger.charge(Part::Cache, available.min(end));
                current.ledger.charge(Part::Bus, end);
                current.phase = Phase::Finish { at: end };
            }
            Phase::AskBusToBuffer { at } => {
                let (_, end) = bus.reserve(at, self.port, sectors);
                current.ledger.charge(Part::Bus, end);
                current.phase = Phase::Finish { at: end };
            }
            Phase::AskBusToMedium { at } => {
                let transfer = bus.reserve(at, self.port, sectors);
                current.phase =
                    self.write_through(at, transfer, current.request, &mut current.ledger, bus);
            }
            Phase::Room | Phase::Drain | Phase::Finish { .. } => {}
        }
        self.current = Some(current);
    }

    /// Writes to the medium while the data comes over the bus, which must stay ahead of the head.
    fn write_through(
        &mut self,
        ready: Nanos,
        (bus_start, bus_end): (Nanos, Nanos),
        request: Request,
        ledger: &mut Ledger,
        bus: &Bus,
    ) -> Phase {
        self.stop_ahead(ready);
        let free = ready.max(self.arm_free_at);
        ledger.charge(Part::Queue, free);
        let passing = self.mechanics.passing_ns(request.sector, request.sectors);
        let data_at =
            (bus_start + bus.transfer_ns(self.port, 1)).max(bus_end.saturating_sub(passing));
        let spent = self.mechanics.transfer(free, request.sector, request.sectors, true, data_at);
        ledger.charge_all(spent);
        self.arm_free_at = ledger.charged_to();
        Phase::Finish { at: ledger.charged_to() }
    }

    /// The command in service is done.
    pub(super) fn finish(&mut self, now: Nanos, bus: &mut Bus) {
        let Some(current) = self.current.take() else { return };
        let Current { tag, request, ledger, .. } = current;
        debug_assert_eq!(ledger.charged_to(), now);
        self.outbox.push(Event::Done { tag, at: now, result: Ok(()), spent: ledger.spent() });
        self.counters.commands += 1;
        match request.op {
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { fua } => {
                self.counters.sectors_written += u64::from(request.sectors);
                self.segments.invalidate(request.sector, request.end());
                if fua || u64::from(request.sectors) > self.controller.write_buffer_sectors {
                    self.outbox.push(Event::Durable { tag, at: now });
                } else {
                    self.dirty.insert(request.sector, request.sectors, tag);
                }
            }
            Op::Discard | Op::Zeroes => self.segments.invalidate(request.sector, request.end()),
            Op::Flush => {}
        }
        match self.queue.pop_front() {
            Some(waiting) => self.begin(now, waiting, bus),
            None => self.counters.busy_ns += now - self.busy_since,
        }
        self.destage_next(now);
    }

    /// Comes back with a fault: all its time is charged as waiting.
    pub(super) fn refuse(&mut self, now: Nanos, tag: Tag, arrived: Nanos, fault: Fault) {
        let mut spent = Spent::NONE;
        spent.add(Part::Queue, now - arrived);
        self.outbox.push(Event::Done { tag, at: now, result: Err(fault), spent });
    }

    /// Starts to read on after a read, if the drive does that.
    fn read_on(&mut self, segment: usize, at: Nanos, sector: u64) {
        self.ahead = (self.controller.read_ahead_sectors > 0).then(|| {
            let limit = sector + self.controller.read_ahead_sectors;
            ReadAhead::start(&mut self.mechanics, segment, at, sector, limit)
        });
    }

    /// The arm is needed elsewhere from `now` on.
    fn stop_ahead(&mut self, now: Nanos) {
        if let Some(mut ahead) = self.ahead.take() {
            ahead.catch_up(&mut self.mechanics, &mut self.segments, now);
        }
    }

    fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.destage.is_none()
    }

    /// Whether the buffer takes `request`. It must fit, and may not overlap what waits there unless it
    /// replaces it exactly.
    fn has_room_for(&self, request: &Request) -> bool {
        if self.dirty.holds_exactly(request.sector, request.sectors) {
            return true;
        }
        let leaving = self.destage.as_ref().map_or(0, |destage| destage.extent.sectors);
        let held = self.dirty.sectors() + u64::from(leaving) + u64::from(request.sectors);
        held <= self.controller.write_buffer_sectors
            && !self.dirty.overlaps(request.sector, request.end())
    }

    /// Starts to write the next extent from the buffer, if there is one and nothing else moves the arm.
    pub(super) fn destage_next(&mut self, now: Nanos) {
        if self.destage.is_some() || self.arm_free_at > now {
            return;
        }
        let Some(extent) = self.dirty.take_next() else { return };
        self.stop_ahead(now);
        let spent = self.mechanics.transfer(now, extent.sector, extent.sectors, true, now);
        let end = now + spent.total();
        self.arm_free_at = end;
        self.destage = Some(Destage { extent, end });
    }

    /// An extent is on the medium.
    pub(super) fn end_destage(&mut self, bus: &mut Bus) {
        let Some(Destage { extent, end }) = self.destage.take() else { return };
        for tag in extent.tags {
            self.outbox.push(Event::Durable { tag, at: end });
        }
        self.destage_next(end);
        let Some(current) = &self.current else { return };
        let phase = match current.phase {
            Phase::Room if self.has_room_for(&current.request) => {
                Phase::AskBusToBuffer { at: end.max(current.ledger.charged_to()) }
            }
            Phase::Drain if self.is_clean() => Phase::Finish { at: end },
            _ => return,
        };
        if let Some(current) = &mut self.current {
            current.ledger.charge(Part::Cache, end);
            current.phase = phase;
        }
        self.take_private_bus(bus);
    }
}
