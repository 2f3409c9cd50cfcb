//! What a shingled disk does with each request, and when it rewrites a band.

use super::SmrSpec;
use super::cache::{MediaCache, Taken};
use super::streams::{Piece, Streams};
use crate::damage::Damage;
use crate::flash::mixed;
use crate::wrapper::{Io, Policy};
use crate::{Device, Fault, Nanos, Part, Spent, TargetCounters};
use block::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

/// The state of a shingled disk.
pub struct Shingles {
    spec: SmrSpec,
    cache: MediaCache,
    streams: Streams,
    /// Changes that wait for room in the media cache, or for older ones of the same sectors.
    waiting: VecDeque<usize>,
    /// Changes that are not durable: first sector, the one after the last, and the request.
    unsettled: BTreeMap<u64, (u64, usize)>,
    cleaning: Option<Cleaning>,
    /// Rests of bands that streams left.
    merges: VecDeque<(u64, u64)>,
    /// Numbers bands as they are rewritten, so that nothing late is taken for a part of the next.
    rewrites: u32,
    /// For how long bands have been rewritten so far, without the one that is now.
    cleaned_ns: Nanos,
    /// Requests that are not done.
    active: u32,
    idle_since: Nanos,
    damage: Damage,
    failed: bool,
    counters: TargetCounters,
    /// Writes in the media cache when the run began.
    entries_at_start: u64,
}

/// A band that is being rewritten, or the rest of one.
struct Cleaning {
    start: u64,
    end: u64,
    /// What the media cache got from here on is not part of it.
    until: u64,
    since: Nanos,
    step: Step,
    in_flight: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Read,
    Copy,
    Write,
}

/// What is noted of a request.
#[derive(Default)]
pub struct Note {
    /// For how long bands had been rewritten when it arrived, in all.
    cleaned_ns: Nanos,
    sent_at: Nanos,
    /// The first of the sectors that it changes and that others wait for.
    claims: Option<u64>,
}

impl Shingles {
    pub(super) fn new(spec: &SmrSpec, seed: u64) -> Self {
        let mut cache = MediaCache::new(spec.cache_sectors, spec.cache_entries);
        if spec.is_filled {
            fill(&mut cache, spec, seed);
        }
        Shingles {
            entries_at_start: cache.entries(),
            cache,
            streams: Streams::new(spec.band_sectors, spec.stream_sectors, spec.streams),
            spec: spec.clone(),
            waiting: VecDeque::new(),
            unsettled: BTreeMap::new(),
            cleaning: None,
            merges: VecDeque::new(),
            rewrites: 0,
            cleaned_ns: 0,
            active: 0,
            idle_since: 0,
            damage: Damage::default(),
            failed: false,
            counters: TargetCounters::default(),
        }
    }

    /// `start..end` cannot be read until it is written again.
    pub(super) fn damage(&mut self, start: u64, end: u64) {
        self.damage.add(start, end);
    }

    /// A power cut: what is done and not durable never will be.
    pub(super) fn lose_unsettled(&mut self) {
        self.unsettled.clear();
    }

    /// What it has done, where `arm` is what its arm has.
    pub(super) fn counted(&self, arm: &TargetCounters) -> TargetCounters {
        TargetCounters {
            busy_ns: arm.busy_ns,
            busy_since: arm.busy_since,
            read_hits: arm.read_hits.min(self.counters.commands),
            deferred: self.cache.entries().saturating_sub(self.entries_at_start),
            ..self.counters
        }
    }

    fn busy_band(&self) -> Option<u64> {
        self.cleaning.as_ref().map(|of| of.start / self.spec.band_sectors)
    }

    /// The sectors of the band with `sector`.
    fn band_of(&self, sector: u64) -> (u64, u64) {
        let start = sector / self.spec.band_sectors * self.spec.band_sectors;
        (start, (start + self.spec.band_sectors).min(self.spec.sectors))
    }

    /// For how long bands have been rewritten until `now`.
    fn cleaned_until(&self, now: Nanos) -> Nanos {
        self.cleaned_ns + self.cleaning.as_ref().map_or(0, |of| now - of.since)
    }

    /// What those of `pieces` take in the media cache that go there.
    fn taken(&self, pieces: &[Piece]) -> Vec<Taken> {
        let cached = pieces.iter().enumerate().filter(|(_, piece)| !piece.is_direct);
        let taken = cached.map(|(index, &Piece { start, end, .. })| {
            let sectors = (end - start).next_multiple_of(self.spec.entry_sectors);
            // An entry ends with its band.
            let is_within = index == 0 && !start.is_multiple_of(self.spec.band_sectors);
            let extends = is_within && self.cache.continues(start, sectors);
            Taken { start, end, sectors, header: self.spec.header_sectors, extends }
        });
        taken.collect()
    }

    /// Bands that were rewritten while it was idle until `now`.
    fn catch_up(&mut self, now: Nanos) {
        let idle_ns = now.saturating_sub(self.idle_since.saturating_add(self.spec.idle_ns));
        if self.active > 0 || self.cleaning.is_some() {
            return;
        }
        for _ in 0..idle_ns / self.spec.clean_ns {
            let Some(sector) = self.cache.oldest() else { return };
            let (start, end) = self.band_of(sector);
            self.streams.close(start / self.spec.band_sectors);
            self.cache.forget(start, end);
        }
        self.cache.oldest();
    }

    /// Whether a change of `start..end` must wait for another that is not durable.
    fn is_claimed(&self, start: u64, end: u64) -> bool {
        let before = self.unsettled.range(..end).next_back();
        before.is_some_and(|(_, &(last, _))| start < last)
    }

    /// Sends the change in `slot`, if it need not wait.
    fn try_send<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Note, D>) -> bool {
        let request = io.request(slot);
        if self.failed {
            let sector = self.spec.first_band_sector() + request.sector;
            note_sent(now, slot, None, io);
            io.send(now, slot, 0, Request { sector, ..request });
            return true;
        }
        let (start, end) = (request.sector, request.end());
        if !matches!(request.op, Op::Write { .. }) {
            if self.is_claimed(start, end) {
                return false;
            }
            self.cache.forget(start, end);
            self.claim(now, slot, start, end, io);
            let sector = self.spec.first_band_sector() + start;
            io.send(now, slot, 0, Request { sector, ..request });
            return true;
        }
        let pieces = self.streams.route(start, end, self.busy_band());
        let first = pieces.first().map_or(start, |piece| piece.start);
        if self.is_claimed(first, end) {
            return false;
        }
        if !self.cache.has_room_for(&self.taken(&pieces)) {
            // What holds nothing any more may leave.
            self.cache.oldest();
            if !self.cache.has_room_for(&self.taken(&pieces)) {
                return false;
            }
        }
        self.claim(now, slot, first, end, io);
        self.send_pieces(now, slot, &pieces, io);
        let rest = self.streams.wrote(start, end, &pieces);
        self.merges.extend(rest.map(|(from, to)| (from, to.min(self.spec.sectors))));
        true
    }

    fn send_pieces<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        pieces: &[Piece],
        io: &mut Io<'_, Note, D>,
    ) {
        let op = io.request(slot).op;
        let first = self.spec.first_band_sector();
        let taken = self.taken(pieces);
        for &Piece { start, end, .. } in pieces.iter().filter(|piece| piece.is_direct) {
            self.cache.forget(start, end);
            let (sector, sectors) = (first + start, (end - start) as u32);
            io.send(now, slot, 0, Request { target: 0, op, sector, sectors });
        }
        for taken in taken {
            let (sector, sectors) = (self.cache.append(taken), taken.all() as u32);
            io.send(now, slot, 0, Request { target: 0, op, sector, sectors });
        }
    }

    /// Others that change `start..end` wait until `slot` is durable.
    fn claim<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        start: u64,
        end: u64,
        io: &mut Io<'_, Note, D>,
    ) {
        self.unsettled.insert(start, (end, slot));
        note_sent(now, slot, Some(start), io);
    }

    fn unclaim(&mut self, slot: usize, start: Option<u64>) {
        if let Some(start) = start
            && self.unsettled.get(&start).is_some_and(|&(_, of)| of == slot)
        {
            self.unsettled.remove(&start);
        }
    }

    /// Sends what waits, in order; begins to rewrite a band where that is what the first waits for.
    fn go_on<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Note, D>) {
        while let Some(&slot) = self.waiting.front()
            && self.try_send(now, slot, io)
        {
            self.waiting.pop_front();
        }
        if self.failed || self.cleaning.is_some() {
            return;
        }
        if let Some((start, end)) = self.merges.pop_front() {
            return self.begin_cleaning(now, start, end, io);
        }
        let Some(&slot) = self.waiting.front() else { return };
        let request = io.request(slot);
        let waits_for_room = !self.is_claimed(self.band_of(request.sector).0, request.end());
        if waits_for_room && let Some(sector) = self.cache.oldest() {
            let (start, end) = self.band_of(sector);
            self.begin_cleaning(now, start, end, io);
        }
    }

    fn begin_cleaning<D: Device>(
        &mut self,
        now: Nanos,
        start: u64,
        end: u64,
        io: &mut Io<'_, Note, D>,
    ) {
        self.streams.close(start / self.spec.band_sectors);
        self.rewrites = self.rewrites.wrapping_add(1);
        let parts = self.cache.find(start, end);
        let mut reads: Vec<(u64, u64)> =
            parts.iter().filter_map(|part| Some((part.at?, part.end - part.start))).collect();
        if parts.iter().any(|part| part.at.is_none()) {
            reads.push((self.spec.first_band_sector() + start, end - start));
        }
        for &(sector, sectors) in &reads {
            io.send_beside(now, self.rewrites, Request::read(sector, sectors as u32));
        }
        let (until, in_flight) = (self.cache.seal(), reads.len() as u32);
        let step = Step::Read;
        self.cleaning = Some(Cleaning { start, end, until, since: now, step, in_flight });
    }

    /// The commands of a step of a rewritten band are done.
    fn next_step<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Note, D>) {
        let Some(cleaning) = &mut self.cleaning else { return };
        let sectors = (cleaning.end - cleaning.start) as u32;
        cleaning.step = match cleaning.step {
            Step::Read if self.spec.copies_first => Step::Copy,
            Step::Read | Step::Copy => Step::Write,
            Step::Write => return self.end_cleaning(now, io),
        };
        let sector = match cleaning.step {
            Step::Copy => self.spec.cache_sectors,
            _ => self.spec.first_band_sector() + cleaning.start,
        };
        cleaning.in_flight = 1;
        let op = Op::Write { fua: true };
        io.send_beside(now, self.rewrites, Request { target: 0, op, sector, sectors });
    }

    fn end_cleaning<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Note, D>) {
        self.cleaned_ns = self.cleaned_until(now);
        if let Some(Cleaning { start, end, until, .. }) = self.cleaning.take() {
            self.cache.forget_older(start, end, until);
            self.cache.oldest();
        }
        self.idle_since = now;
        self.go_on(now, io);
    }

    fn read<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Note, D>) {
        note_sent(now, slot, None, io);
        let request = io.request(slot);
        for part in self.cache.find(request.sector, request.end()) {
            let sector = part.at.unwrap_or(self.spec.first_band_sector() + part.start);
            let sectors = (part.end - part.start) as u32;
            io.send(now, slot, 0, Request::read(sector, sectors));
        }
    }

    fn count(&mut self, request: &Request) {
        self.counters.commands += 1;
        match request.op {
            Op::Read => self.counters.sectors_read += u64::from(request.sectors),
            Op::Write { .. } => self.counters.sectors_written += u64::from(request.sectors),
            _ => {}
        }
    }
}

/// The request in `slot` goes below at `now`, and others wait for what it `claims`.
fn note_sent<D: Device>(now: Nanos, slot: usize, claims: Option<u64>, io: &mut Io<'_, Note, D>) {
    let note = io.note(slot);
    (note.sent_at, note.claims) = (now, claims);
}

impl Policy for Shingles {
    type Note = Note;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Note, D>) {
        self.catch_up(now);
        self.active += 1;
        io.note(slot).cleaned_ns = self.cleaned_until(now);
        let request = io.request(slot);
        match request.op {
            Op::Read => self.read(now, slot, io),
            Op::Flush => {
                note_sent(now, slot, None, io);
                io.send(now, slot, 0, request);
            }
            Op::Write { .. } | Op::Discard | Op::Zeroes => {
                self.waiting.push_back(slot);
                self.go_on(now, io);
            }
        }
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Note, D>,
    ) {
        if io.in_flight(slot) > 0 {
            return;
        }
        let (request, arrived) = (io.request(slot), io.arrived(slot));
        let &mut Note { cleaned_ns, sent_at, claims } = io.note(slot);
        let (start, end) = (request.sector, request.end());
        if request.op == Op::Read && self.damage.meets(start, end, |_, _| false) {
            io.fail(slot, Fault::Medium);
        }
        let result = io.result(slot);
        if result.is_err() {
            self.unclaim(slot, claims);
        } else {
            self.count(&request);
        }
        if result.is_ok() && matches!(request.op, Op::Write { .. } | Op::Zeroes) {
            self.damage.repair(start, end);
        }
        spent.add(Part::QUEUE, sent_at - arrived);
        // A band that was given up at a reset does not count.
        let rewriting_ns = self.cleaned_until(now).saturating_sub(cleaned_ns);
        self.active -= 1;
        self.idle_since = now;
        io.finish(now, slot, spent.moved(Part::QUEUE, Part::CLEANING, rewriting_ns));
        if result.is_err() {
            self.go_on(now, io);
        }
    }

    fn returned_beside<D: Device>(
        &mut self,
        now: Nanos,
        label: u32,
        result: Result<(), Fault>,
        io: &mut Io<'_, Note, D>,
    ) {
        if label != self.rewrites {
            return;
        }
        let Some(cleaning) = &mut self.cleaning else { return };
        if result == Err(Fault::Failed) {
            self.cleaned_ns = self.cleaned_until(now);
            (self.failed, self.cleaning) = (true, None);
            return self.go_on(now, io);
        }
        cleaning.in_flight -= 1;
        if cleaning.in_flight == 0 {
            self.next_step(now, io);
        }
    }

    fn settled<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Note, D>) {
        let claims = io.note(slot).claims;
        self.unclaim(slot, claims);
        self.go_on(now, io);
    }

    fn forget_waiting(&mut self) {
        self.active -= self.waiting.len() as u32;
        self.waiting.clear();
        // Its commands come back aborted. What it had not finished is as it was.
        self.cleaning = None;
        self.rewrites = self.rewrites.wrapping_add(1);
    }
}

/// Fills the media cache with random writes of 4 KiB, as it is after very many of them.
///
/// The oldest write of a band is rewritten together with all later ones of that band. So of the writes in the
/// log, some hold nothing any more: those that came before their band was last rewritten. A band waits for its
/// first write, for the mean of `bands` writes, and is rewritten a whole log later.
fn fill(cache: &mut MediaCache, spec: &SmrSpec, seed: u64) {
    const WRITE_SECTORS: u64 = 8;
    let (sectors, header) =
        (WRITE_SECTORS.next_multiple_of(spec.entry_sectors), spec.header_sectors);
    let entries = spec.cache_entries.min(spec.cache_sectors / (sectors + header));
    let bands = spec.sectors.div_ceil(spec.band_sectors);
    let places = (spec.sectors / WRITE_SECTORS).max(1);
    let mut drawn = 0;
    let mut draw = |bound: u64| {
        drawn += 1;
        mixed(seed ^ mixed(drawn)) % bound.max(1)
    };
    let rewritten_at: Vec<u64> = (0..bands)
        .map(|_| if draw(entries + bands) < entries { draw(entries) } else { 0 })
        .collect();
    let writes = (0..entries).map(|entry| {
        let start = draw(places) * WRITE_SECTORS;
        let end = (start + WRITE_SECTORS).min(spec.sectors);
        let is_dead = entry < rewritten_at[(start / spec.band_sectors) as usize];
        (Taken { start, end, sectors, header, extends: false }, is_dead)
    });
    cache.fill(writes);
    cache.seal();
}
