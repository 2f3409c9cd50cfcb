//! How a read is answered, from the buffer or the medium, and the read-ahead after it.

use super::firmware::{Before, Keeps, OnWrite, ReadAheadPolicy, Sending};
use super::mechanics::{Start, Transfer};
use super::read_ahead::Arrival;
use super::{Bus, Drive, Phase, ReadAhead};
use crate::{Fault, Nanos, Part};
use block::Request;

impl Drive {
    #[inline]
    pub(super) fn begin_read(&mut self, now: Nanos, request: &Request, bus: &mut Bus) {
        let before = self.before.replace(Before { wrote: false, end: request.end() });
        let after_write = before.is_some_and(|before| before.wrote);
        let goes_on = before.is_some_and(|it| !it.wrote && it.end == request.sector);
        let otherwise = |other: Option<Nanos>| other.filter(|_| after_write);
        let overheads = &self.controller.firmware.overheads;
        let hit_ns = otherwise(overheads.read_hit_after_write_ns);
        let miss_ns = otherwise(overheads.read_miss_after_write_ns);
        let hit = now + hit_ns.unwrap_or(self.controller.read_hit_overhead_ns);
        if let Some(arrival) = self.buffered(hit, request, goes_on, bus) {
            self.counters.read_hits += 1;
            self.ledger.charge(Part::OVERHEAD, hit);
            let at = hit.max(arrival.streams_from);
            let available = hit.max(arrival.last_at);
            return self.ask_bus(Phase::AskBusToSend { at, available }, request, bus);
        }
        let ready = now + miss_ns.unwrap_or(self.controller.read_miss_overhead_ns);
        self.read_medium(ready, request);
        let available = self.ledger.charged_to();
        self.keep_read(request, goes_on, available);
        let at = match self.controller.firmware.sending {
            Sending::Whole => available,
            Sending::Streamed => {
                let port = self.port;
                self.mechanics.streams_from(|sectors| bus.transfer_ns(port, sectors)).max(ready)
            }
        };
        self.ask_bus(Phase::AskBusToSend { at, available }, request, bus);
    }

    /// Whether a read includes unreadable sectors that the buffer does not hold.
    pub(super) fn is_damaged(&self, request: &Request) -> bool {
        let held = |start, end| self.dirty.covers(start, end) || self.is_leaving(start, end);
        self.damage.meets(request.sector, request.end(), held)
    }

    /// A read that goes to the medium and fails there, after retries.
    #[cold]
    pub(super) fn begin_failing_read(&mut self, now: Nanos, request: &Request) {
        self.current.result = Err(Fault::Medium);
        self.before = Some(Before { wrote: false, end: request.end() });
        let ready = now + self.controller.read_miss_overhead_ns;
        self.read_medium(ready, request);
        let end = self.ledger.charged_to() + self.controller.firmware.overheads.read_retries_ns;
        self.ledger.charge(Part::OVERHEAD, end);
        self.arm_free_at = end;
        self.phase = Phase::Finish { at: end };
    }

    /// Reads from the medium; the controller finishes its own work at `ready`.
    #[inline]
    fn read_medium(&mut self, ready: Nanos, request: &Request) {
        self.ledger.charge(Part::OVERHEAD, ready);
        self.stop_ahead(ready);
        let free = ready.max(self.arm_free_at);
        self.ledger.charge(Part::QUEUE, free);
        let transfer = Transfer {
            sector: request.sector,
            sectors: request.sectors,
            write: false,
            start: Start::Command,
            data_at: 0,
        };
        self.mechanics.pass(transfer, &mut self.ledger);
        self.arm_free_at = self.ledger.charged_to();
    }

    /// When a read is in the buffer, if it is there or being read; read-ahead continues.
    #[inline]
    fn buffered(
        &mut self,
        now: Nanos,
        request: &Request,
        goes_on: bool,
        bus: &Bus,
    ) -> Option<Arrival> {
        let is_elsewhere = self.ahead.is_none()
            && !self.is_leaving(request.sector, request.end())
            && !self.dirty.may_hold(request.sector)
            && !self.segments.may_hold(request.sector);
        if is_elsewhere { None } else { self.search_buffer(now, request, goes_on, bus) }
    }

    /// Whether all of `start..end` is being written from the buffer to the medium.
    #[inline]
    fn is_leaving(&self, start: u64, end: u64) -> bool {
        self.destage.as_ref().is_some_and(|destage| destage.extent.covers(start, end))
    }

    /// The same where it may be there.
    #[inline(never)]
    fn search_buffer(
        &mut self,
        now: Nanos,
        request: &Request,
        goes_on: bool,
        bus: &Bus,
    ) -> Option<Arrival> {
        let there = Arrival { streams_from: now, last_at: now };
        if self.dirty.covers(request.sector, request.end())
            || self.is_leaving(request.sector, request.end())
        {
            return Some(there);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.catch_up(&mut self.mechanics, &mut self.segments, now);
            let segment = self.segments.get(ahead.segment);
            if ahead.leads_to(segment.start, segment.end, (request.sector, request.end())) {
                return Some(self.reading_ahead(now, request, goes_on, bus));
            }
        }
        let index = self.segments.find(request.sector, request.end())?;
        self.segments.touch(index);
        if !self.segments.get(index).written {
            let end = self.segments.get(index).end;
            self.sent(index, request.end());
            let idle = self.ahead.as_ref().is_none_or(ReadAhead::is_over);
            if idle && self.destage.is_none() {
                self.read_on_after_hit((index, end), now, request, goes_on);
            }
        }
        Some(there)
    }

    /// A read whose sectors the current read-ahead, or the one that just ended, has read or will read.
    fn reading_ahead(
        &mut self,
        now: Nanos,
        request: &Request,
        goes_on: bool,
        bus: &Bus,
    ) -> Arrival {
        let so_far = self.ahead.as_ref().map_or(0, ReadAhead::limit);
        let limit = self.limit_after_hit(request, goes_on, so_far);
        let port = self.port;
        let ahead = self.ahead.as_mut().expect("the caller has just looked at it");
        let segment = ahead.segment;
        ahead.extend(&mut self.mechanics, limit.max(request.end()), now);
        let pace = |sectors| bus.transfer_ns(port, sectors);
        let arrival = ahead.reach(&mut self.mechanics, &mut self.segments, request, pace);
        // The host waits for it now, so nothing else may move the arm.
        self.arm_free_at = self.arm_free_at.max(arrival.last_at);
        self.segments.touch(segment);
        self.sent(segment, request.end());
        arrival
    }

    /// The host has read up to `end` from the segment.
    fn sent(&mut self, segment: usize, end: u64) {
        if self.controller.firmware.keeps == Keeps::Ahead {
            self.segments.keep_from(segment, end);
        }
    }

    /// Keeps what was read from the medium, and starts a read-ahead if the drive does that.
    fn keep_read(&mut self, request: &Request, goes_on: bool, at: Nanos) {
        let grows = if goes_on { self.segments.read_up_to(request.sector) } else { None };
        let segment = if let Some(segment) = grows {
            self.segments.touch(segment);
            self.segments.extend(segment, request.end());
            segment
        } else {
            let Some(segment) = self.segments.replace(request.sector, request.end()) else {
                return;
            };
            segment
        };
        self.sent(segment, request.end());
        let (limit, back_to) = self.limit_after_miss(request, goes_on);
        if limit > request.end() || back_to.is_some() {
            self.read_ahead(request, segment, at, (limit, back_to));
        }
    }

    /// Starts a read-ahead after `request`, which has filled `segment`, up to `limit` and back to a sector on the same
    /// track.
    #[inline(never)]
    fn read_ahead(
        &mut self,
        request: &Request,
        segment: usize,
        at: Nanos,
        (limit, back_to): (u64, Option<u64>),
    ) {
        let span = (request.end(), limit);
        self.ahead = if limit > request.end() {
            Some(ReadAhead::start(&mut self.mechanics, segment, at, span, back_to))
        } else {
            // The request ends where its track does: only what lies before it is still to come.
            let before = back_to.filter(|first| *first < request.sector);
            before.map(|first| {
                let before = (first, request.sector);
                ReadAhead::round(&mut self.mechanics, segment, at, before, request.end())
            })
        };
    }

    /// How far to read ahead after a miss, and where on the track to read back to.
    fn limit_after_miss(&self, request: &Request, goes_on: bool) -> (u64, Option<u64>) {
        let beyond = self.controller.read_ahead_sectors;
        if beyond == 0 {
            return (request.end(), None);
        }
        match self.controller.firmware.read_ahead {
            ReadAheadPolicy::Beyond => (request.end() + beyond, None),
            ReadAheadPolicy::UntilFull => (request.sector + self.segments.capacity(), None),
            ReadAheadPolicy::SequentialTracks if goes_on => {
                let (first, _) = self.mechanics.platters().track(request.sector);
                (self.end_of_next_track(request.sector), Some(first))
            }
            ReadAheadPolicy::SequentialTracks => (request.end(), None),
            ReadAheadPolicy::TrackEnd => (self.end_of_track(request), None),
            ReadAheadPolicy::WholeTrack => {
                let (first, _) = self.mechanics.platters().track(request.end() - 1);
                (self.end_of_track(request), Some(first))
            }
        }
    }

    /// The end of the track that `request` ends on, or as far as the drive reads ahead.
    fn end_of_track(&self, request: &Request) -> u64 {
        let (_, end) = self.mechanics.platters().track(request.end() - 1);
        end.min(request.end() + self.controller.read_ahead_sectors)
    }

    /// How far a hit lets the drive read ahead. It reads, or has read, up to `so_far`; a smaller result
    /// changes nothing.
    fn limit_after_hit(&self, request: &Request, goes_on: bool, so_far: u64) -> u64 {
        let beyond = self.controller.read_ahead_sectors;
        if beyond == 0 {
            return 0;
        }
        match self.controller.firmware.read_ahead {
            ReadAheadPolicy::Beyond => request.end() + beyond,
            ReadAheadPolicy::UntilFull => {
                let capacity = self.segments.capacity();
                let is_near_end = request.end() + capacity / 4 > so_far;
                if is_near_end { request.sector + capacity } else { 0 }
            }
            ReadAheadPolicy::SequentialTracks if goes_on => self.end_of_next_track(request.sector),
            ReadAheadPolicy::SequentialTracks => 0,
            ReadAheadPolicy::TrackEnd | ReadAheadPolicy::WholeTrack => self.end_of_track(request),
        }
    }

    fn end_of_next_track(&self, sector: u64) -> u64 {
        let platters = self.mechanics.platters();
        let (_, end) = platters.track(sector);
        if end < platters.sectors() { platters.track(end).1 } else { end }
    }

    /// The arm is idle, and a hit shows that the host continues in an older segment.
    fn read_on_after_hit(
        &mut self,
        (segment, end): (usize, u64),
        now: Nanos,
        request: &Request,
        goes_on: bool,
    ) {
        let limit = self.limit_after_hit(request, goes_on, end);
        if limit > end {
            let at = now.max(self.arm_free_at);
            let span = (end, limit);
            self.ahead = Some(ReadAhead::start(&mut self.mechanics, segment, at, span, None));
        }
    }

    /// Brings what the current read-ahead has read up to `now`.
    #[inline]
    pub(super) fn catch_up_ahead(&mut self, now: Nanos) {
        if let Some(ahead) = &mut self.ahead {
            ahead.catch_up(&mut self.mechanics, &mut self.segments, now);
        }
    }

    /// Whether a read of `start..end` only goes on where the current read-ahead is: the arm need not move for it.
    #[inline]
    pub(super) fn goes_on_ahead(&self, start: u64, end: u64) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| {
            let segment = self.segments.get(ahead.segment);
            start <= segment.end && ahead.leads_to(segment.start, segment.end, (start, end))
        })
    }

    /// The arm is needed elsewhere from `now` on.
    #[inline]
    pub(super) fn stop_ahead(&mut self, now: Nanos) {
        if self.ahead.is_some() {
            self.end_ahead(now);
        }
    }

    fn end_ahead(&mut self, now: Nanos) {
        if let Some(mut ahead) = self.ahead.take() {
            ahead.catch_up(&mut self.mechanics, &mut self.segments, now);
        }
    }

    /// `request` changes its sectors: the segments forget them, and a read-ahead that reads them, or
    /// whose segment is taken, ends.
    pub(super) fn forget(&mut self, now: Nanos, request: &Request) {
        let what = self.controller.firmware.on_write;
        let brings = self.ahead.as_ref().is_some_and(|ahead| {
            let start = self.segments.get(ahead.segment).start;
            what == OnWrite::TakeNewest || ahead.overlaps(start, request)
        });
        if brings {
            self.stop_ahead(now);
        }
        self.segments.written(request.sector, request.end(), what);
    }
}
