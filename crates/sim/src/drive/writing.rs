//! How a write is accepted, into the buffer or straight to the medium.

use super::destage::Destage;
use super::firmware::{Before, Taking};
use super::mechanics::{Start, Transfer};
use super::{Bus, Drive, Phase};
use crate::{Event, Nanos, Part, Tag};
use block::{Op, Request};

impl Drive {
    #[inline(never)]
    pub(super) fn begin_write(&mut self, now: Nanos, request: &Request, fua: bool, bus: &mut Bus) {
        let goes_on = self.goes_on_writing(now, request, self.current.arrived);
        let overhead_ns = self.write_overhead_ns(request);
        let ready = if goes_on { now } else { now + overhead_ns };
        if self.goes_to_medium(request, fua) {
            let data_ns = self.controller.firmware.overheads.write_data_ns;
            let at = data_ns.map_or(ready, |data_ns| ready.min(now + data_ns));
            self.ledger.charge(Part::OVERHEAD, at);
            if self.is_free_to_write(request) {
                self.ask_bus(Phase::AskBusToMedium { at, ready, goes_on }, request, bus);
            } else {
                self.phase = Phase::Room;
            }
            return;
        }
        self.ledger.charge(Part::OVERHEAD, ready);
        if self.has_room_for(request) {
            self.ask_bus(Phase::AskBusToBuffer { at: ready }, request, bus);
        } else {
            self.phase = Phase::Room;
        }
    }

    /// Continues a command that has waited for room, at `now`; `None` where it must wait longer.
    pub(super) fn after_room(&self, now: Nanos, request: &Request) -> Option<Phase> {
        match request.op {
            Op::Write { fua } if !self.goes_to_medium(request, fua) => {
                self.has_room_for(request).then_some(Phase::AskBusToBuffer { at: now })
            }
            Op::Write { .. } => self.is_free_to_write(request).then_some(Phase::AskBusToMedium {
                at: now,
                ready: now,
                goes_on: false,
            }),
            _ => self.is_clear_of(request).then_some(Phase::Finish { at: now }),
        }
    }

    /// Whether the buffer holds no older data that would reach the medium after `request` and overwrite
    /// it.
    pub(super) fn is_free_to_write(&self, request: &Request) -> bool {
        !self.dirty.overlaps(request.sector, request.end())
    }

    /// Whether no older write of the sectors of `request` is in the buffer, or being written to the
    /// medium.
    pub(super) fn is_clear_of(&self, request: &Request) -> bool {
        let (start, end) = (request.sector, request.end());
        let meets = |it: &Destage| it.extent.sector < end && start < it.extent.end();
        self.is_free_to_write(request) && !self.destage.as_ref().is_some_and(meets)
    }

    /// Whether a write only goes on where the last one, which ended at `now`, has left the head: it goes to the medium,
    /// too, and has waited in the drive's queue, so that its data is there and the drive is done with its own work.
    #[inline]
    pub(super) fn goes_on_writing(&self, now: Nanos, request: &Request, arrived: Nanos) -> bool {
        let Op::Write { fua } = request.op else { return false };
        let controller = &self.controller;
        self.written_to == (request.sector, now)
            && controller.firmware.queue_depth > 1
            && arrived + controller.write_overhead_ns.max(1) <= now
            && self.goes_to_medium(request, fua)
    }

    /// Whether its write cache is off: what is done is on the medium.
    pub(super) fn holds_no_writes(&self) -> bool {
        self.controller.write_buffer_sectors == 0
    }

    fn goes_to_medium(&self, request: &Request, fua: bool) -> bool {
        fua || u64::from(request.sectors) > self.controller.write_buffer_sectors
    }

    fn write_overhead_ns(&mut self, request: &Request) -> Nanos {
        let before = self.before.replace(Before { wrote: true, end: request.end() });
        let controller = &self.controller;
        let Some(before) = before else { return controller.write_overhead_ns };
        if before.wrote && before.end == request.sector {
            return controller.sequential_write_overhead_ns;
        }
        let other_zone = || !self.mechanics.platters().share_zone(before.end - 1, request.sector);
        let overheads = &controller.firmware.overheads;
        overheads.write_ns(controller.write_overhead_ns, before.wrote, other_zone)
    }

    /// Writes to the medium while the data comes over the bus; the data must stay ahead of the head. What `goes_on` has
    /// sent the first of it while it waited.
    pub(super) fn write_through(
        &mut self,
        (ready, goes_on): (Nanos, bool),
        (bus_start, bus_end): (Nanos, Nanos),
        request: &Request,
        bus: &Bus,
    ) {
        self.stop_ahead(ready);
        self.ledger.charge(Part::OVERHEAD, ready);
        let free = ready.max(self.arm_free_at);
        self.ledger.charge(Part::QUEUE, free);
        let passing = self.mechanics.passing_ns(request.sector, request.sectors);
        let ahead_from = bus_end.saturating_sub(passing);
        let data_at = match self.controller.firmware.taking {
            _ if goes_on => ahead_from,
            Taking::Whole => bus_end,
            Taking::Streamed => (bus_start + bus.transfer_ns(self.port, 1)).max(ahead_from),
        };
        let transfer = Transfer {
            sector: request.sector,
            sectors: request.sectors,
            write: true,
            start: if goes_on { Start::On } else { Start::Command },
            data_at,
        };
        debug_assert_eq!(self.ledger.charged_to(), free);
        let mut ledger = self.ledger;
        self.write_medium(transfer, &mut ledger);
        self.ledger = ledger;
        self.arm_free_at = self.ledger.charged_to();
        self.written_to = (request.end(), self.arm_free_at);
        self.phase = Phase::Finish { at: self.arm_free_at };
    }

    /// A write is done for the host; unless it was forced, it reaches the medium later.
    #[inline(never)]
    pub(super) fn finish_write(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: &Request,
        fua: bool,
        out: &mut Vec<Event>,
    ) {
        self.counters.sectors_written += u64::from(request.sectors);
        self.forget(now, request);
        let count = self.controller.firmware.written_segments;
        self.segments.keep_written(request.sector, request.end(), count);
        if self.goes_to_medium(request, fua) {
            self.damage.repair(request.sector, request.end());
            out.push(Event::Durable { tag, at: now });
        } else {
            self.dirty.insert(request.sector, request.sectors, tag);
            self.queue.meet(request.sector, request.end());
        }
    }

    /// Reports as lost what is in the buffer, or being written to the medium.
    pub(super) fn lose_buffer(&mut self, now: Nanos) {
        let leaving = self.destage.iter().map(|destage| &destage.extent);
        for extent in leaving.chain(self.dirty.extents()) {
            for tag in extent.tags.iter() {
                self.outbox.push(Event::Lost { tag, at: now });
            }
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.destage.is_none()
    }

    /// Whether the buffer accepts `request`. It must fit, and may not overlap a waiting write unless it
    /// replaces that exactly.
    pub(super) fn has_room_for(&self, request: &Request) -> bool {
        if !self.is_free_to_write(request) {
            return self.dirty.holds_exactly(request.sector, request.sectors);
        }
        self.buffered_sectors() + u64::from(request.sectors) <= self.controller.write_buffer_sectors
            && self.has_segment_for(request)
    }

    /// Sectors that take room in the write buffer: what leaves it does so until it is on the medium.
    pub(super) fn buffered_sectors(&self) -> u64 {
        let leaving = self.destage.as_ref().map_or(0, |destage| destage.extent.sectors);
        self.dirty.sectors() + u64::from(leaving)
    }

    /// Whether there is a segment for `request`, or it continues another write's.
    fn has_segment_for(&self, request: &Request) -> bool {
        let joins = || self.destage.as_ref().is_some_and(|it| it.extent.end() == request.sector);
        self.has_spare_segment()
            || self.dirty.neighbours(request.sector, request.end()) > 0
            || joins()
    }

    /// Whether there is a segment for a write that continues no other. The segment of an extent that is
    /// being written is free again when that is on the medium.
    pub(super) fn has_spare_segment(&self) -> bool {
        let segments = self.controller.firmware.write_segments;
        if segments == 0 {
            return true;
        }
        let leaving = self.destage.as_ref().map(|destage| &destage.extent);
        let alone =
            leaving.is_some_and(|extent| !self.dirty.overlaps(extent.end(), extent.end() + 1));
        self.dirty.runs() + usize::from(alone) < segments
    }
}
