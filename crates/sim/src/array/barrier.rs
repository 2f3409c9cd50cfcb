//! md's thread that restores a member of copies, and the barrier that keeps it and the load apart.
//!
//! The thread copies pieces of 64 KiB. Before each it raises a barrier: it waits until nobody waits for the one before, lets nobody
//! in, and waits until those inside are done. So with somebody always waiting, they take turns:
//!
//! ```text
//! thread   raises ─ waits for the load ─ copies 64 KiB ─┐             sleeps 10 to 20 ms ─ raises ─ …
//! load     8 in flight ──── 3 ─── 0      waits          └ 8 in flight ──────────────────────── …
//! ```
//!
//! The thread sleeps for a tick of the clock where somebody waits as it comes to its next piece. Where nobody does, it goes on at
//! once, until as many pieces are in flight as may be: whoever comes then waits for all of them.
//!
//! RAID 10 has one barrier, for all of the array (`raise_barrier` of `drivers/md/raid10.c` of Linux 6.1). RAID 1 has one for each
//! unit of 64 MiB, and stops only writes there (`drivers/md/raid1.c`).

use crate::Nanos;
use crate::linux::sender::WORKERS;
use crate::linux::sync_pace::{Noted, SyncPace, after_ticks};
use block::Request;
use std::collections::BTreeMap;

/// Sectors of a piece (`RESYNC_BLOCK_SIZE`, 64 KiB).
const PIECE_SECTORS: u64 = 128;
/// Pieces that follow each other and are sent at one time are as one, of so many. Those of RAID 1 are of 16 pages each, and a request
/// is of at most 168 (`max_segments` of the kernel that the model is held to): few pages are in use, and they come back in another
/// order. The pages of RAID 10 come by the thousand and lie side by side: there a request has as many sectors as it may
/// (`BLK_DEF_MAX_SECTORS`, 2560).
const RAID1_MERGED: u64 = 10;
const RAID10_MERGED: u64 = 20;
/// Pieces in flight below which the thread goes on: of RAID 10, and of a unit of RAID 1 (`RESYNC_DEPTH`).
const RAID10_PIECES: u64 = 512;
const RAID1_PIECES: u64 = 32;
/// Sectors of a unit of RAID 1 (`BARRIER_UNIT_SECTOR_SIZE`), and the barriers that these share (`BARRIER_BUCKETS_NR_BITS`).
const UNIT_SECTORS: u64 = 1 << 17;
const UNITS_BITS: u32 = 10;
/// What multiplies a number that is hashed (`GOLDEN_RATIO_64`).
const GOLDEN_RATIO: u64 = 0x61c8_8646_80b5_83eb;

/// What keeps the load of copies and what is restored of them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// md's RAID 10: all or nothing. A piece is of one chunk.
    Whole {
        /// A chunk.
        chunk_sectors: u64,
        /// Whether what is read for a chunk follows what is read for the one before it.
        goes_on: bool,
        /// Where chunks begin on a member.
        data_sector: u64,
    },
    /// md's RAID 1: writes, for each 64 MiB of the array.
    Units {
        /// Where the array begins on a member: pieces have sectors of the member, the load has those of the array.
        data_sector: u64,
    },
}

impl Barrier {
    fn pieces_max(self) -> u64 {
        match self {
            Barrier::Whole { .. } => RAID10_PIECES,
            Barrier::Units { .. } => RAID1_PIECES,
        }
    }

    /// Where the array begins on a member.
    pub(super) fn data_sector(self) -> u64 {
        match self {
            Barrier::Whole { data_sector, .. } | Barrier::Units { data_sector } => data_sector,
        }
    }

    fn pieces_merged(self) -> u64 {
        match self {
            Barrier::Whole { .. } => RAID10_MERGED,
            Barrier::Units { .. } => RAID1_MERGED,
        }
    }

    /// The barrier that a sector of the array has (`sector_to_idx`).
    fn of(self, sector: u64) -> u64 {
        match self {
            Barrier::Whole { .. } => 0,
            Barrier::Units { .. } => {
                (sector / UNIT_SECTORS).wrapping_mul(GOLDEN_RATIO) >> (64 - UNITS_BITS)
            }
        }
    }

    fn stops(self, request: &Request) -> bool {
        matches!(self, Barrier::Whole { .. }) || request.op.modifies()
    }

    fn piece_sectors(self) -> u64 {
        match self {
            Barrier::Whole { chunk_sectors, .. } => PIECE_SECTORS.min(chunk_sectors),
            Barrier::Units { .. } => PIECE_SECTORS,
        }
    }

    /// The barrier of a piece that begins at `sector` of the member.
    fn of_piece(self, sector: u64) -> u64 {
        match self {
            Barrier::Whole { .. } => 0,
            Barrier::Units { data_sector } => self.of(sector - data_sector),
        }
    }

    /// Where pieces that begin at `sector` of the member, have one barrier and can be as one end.
    fn end(self, sector: u64) -> u64 {
        let (each, data_sector) = match self {
            Barrier::Whole { goes_on: true, .. } => return u64::MAX,
            Barrier::Whole { chunk_sectors, data_sector, .. } => (chunk_sectors, data_sector),
            Barrier::Units { data_sector } => (UNIT_SECTORS, data_sector),
        };
        data_sector + ((sector - data_sector) / each + 1) * each
    }
}

/// What a barrier counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Pieces for which it is raised.
    raised: u64,
    /// Requests of the load inside, and those that wait.
    inside: u64,
    waiting: u64,
}

/// What the thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It comes to its next piece.
    Piece,
    /// It notes how far it is as soon as nothing is in flight.
    Note,
    /// It sleeps a tick.
    Sleep { until: Nanos },
    /// It raises the barrier as soon as nobody waits.
    Raise,
    /// It has raised it, and copies as soon as nobody is inside.
    Copy,
    /// It looks at its speed.
    Look,
    /// It was too fast.
    Doze { until: Nanos },
}

/// The thread, and its barriers.
#[derive(Clone, Debug)]
pub(super) struct SyncThread {
    barrier: Barrier,
    pace: SyncPace,
    bytes_per_s: Option<u64>,
    next: Next,
    /// Since when it may go on, where nothing holds it.
    changed_at: Nanos,
    /// It sleeps for a place in a member's queue.
    is_asleep: bool,
    counts: BTreeMap<u64, Counts>,
    /// Requests that wait, by their slots, and for which barrier.
    held: Vec<(u64, usize)>,
    noted: Noted,
}

impl SyncThread {
    /// It restores from `start` on, from `now` on.
    pub(super) fn new(now: Nanos, barrier: Barrier, bytes_per_s: Option<u64>, start: u64) -> Self {
        SyncThread {
            barrier,
            pace: SyncPace::new(now, bytes_per_s),
            bytes_per_s,
            next: Next::Piece,
            changed_at: now,
            is_asleep: false,
            counts: BTreeMap::new(),
            held: Vec::new(),
            noted: Noted::new(now, start),
        }
    }

    /// The same from the beginning.
    pub(super) fn start_again(&mut self, now: Nanos, start: u64) {
        let before = SyncThread::new(now, self.barrier, self.bytes_per_s, start);
        let Self { counts, .. } = std::mem::replace(self, before);
        // Those inside are told of what has aborted them.
        let inside = |counts: Counts| Counts { inside: counts.inside, ..Counts::default() };
        self.counts = counts.into_iter().map(|(at, counts)| (at, inside(counts))).collect();
    }

    /// It sleeps for a place in a member's queue, or goes on at `now`.
    pub(super) fn sleeps(&mut self, now: Nanos, is_asleep: bool) {
        (self.is_asleep, self.changed_at) = (is_asleep, now);
    }

    /// Whether a piece of RAID 1 is in flight, from when its barrier has let it go until it is written.
    pub(super) fn holds_all(&self) -> bool {
        matches!(self.barrier, Barrier::Units { .. }) && !self.pace.is_at_rest()
    }

    /// Up to where the member is read.
    pub(super) fn noted(&self) -> u64 {
        self.noted.so_far()
    }

    fn counts(&self, at: u64) -> Counts {
        self.counts.get(&at).copied().unwrap_or_default()
    }

    fn change(&mut self, now: Nanos, at: u64, change: impl FnOnce(&mut Counts)) {
        let counts = self.counts.entry(at).or_default();
        change(counts);
        if *counts == Counts::default() {
            self.counts.remove(&at);
        }
        self.changed_at = now;
    }

    /// The request in `slot` arrives. Gives the barrier that it is inside of; none where it has to wait.
    pub(super) fn arrives(&mut self, now: Nanos, slot: usize, request: &Request) -> Option<u64> {
        let at = self.barrier.of(request.sector);
        if self.counts(at).raised > 0 && self.barrier.stops(request) {
            self.change(now, at, |counts| counts.waiting += 1);
            self.held.push((at, slot));
            return None;
        }
        self.change(now, at, |counts| counts.inside += 1);
        Some(at)
    }

    /// A request that was inside is done.
    pub(super) fn leaves(&mut self, now: Nanos, at: u64) {
        self.change(now, at, |counts| counts.inside -= 1);
    }

    /// `sectors` from `sector` on are copied. Gives the requests that go in now, and by which barrier.
    pub(super) fn copied(&mut self, now: Nanos, sector: u64, sectors: u64) -> Vec<(u64, usize)> {
        self.pace.restored(sectors);
        let at = self.barrier.of_piece(sector);
        let pieces = sectors.div_ceil(self.barrier.piece_sectors());
        // A piece of before all began again, as after a power cut, is not counted any more.
        self.change(now, at, |counts| counts.raised = counts.raised.saturating_sub(pieces));
        if self.counts(at).raised > 0 {
            return Vec::new();
        }
        let mut free: Vec<_> = self.held.extract_if(.., |&mut (of, _)| of == at).collect();
        // A request that may not sleep is left to a worker, which does (`io_wq_submit_work`), and who has come last is woken first
        // (`prepare_to_wait`). The others have no worker before.
        let asleep = free.len().min(WORKERS);
        free[..asleep].reverse();
        let count = free.len() as u64;
        self.change(now, at, |counts| {
            counts.waiting -= count;
            counts.inside += count;
        });
        free
    }

    /// Nobody waits any more: gives those who did.
    pub(super) fn take_held(&mut self) -> Vec<usize> {
        for counts in self.counts.values_mut() {
            counts.waiting = 0;
        }
        std::mem::take(&mut self.held).into_iter().map(|(_, slot)| slot).collect()
    }

    /// When it goes on, if only time keeps it; its next piece begins at `started`.
    pub(super) fn next_event(&self, started: u64) -> Option<Nanos> {
        let counts = self.counts(self.barrier.of_piece(started));
        let may = match self.next {
            Next::Sleep { until } | Next::Doze { until } => return Some(until),
            Next::Piece | Next::Look => true,
            Next::Note => self.pace.is_at_rest(),
            Next::Raise => counts.waiting == 0,
            Next::Copy => counts.inside == 0 && counts.raised < self.barrier.pieces_max(),
        };
        (may && !self.is_asleep).then_some(self.changed_at)
    }

    /// Goes on until it copies something or waits; gives the sectors that it copies from `started` on, of a member that ends at
    /// `end`.
    pub(super) fn go_on(&mut self, now: Nanos, started: u64, end: u64) -> Option<u64> {
        while self.next_event(started).is_some_and(|at| at <= now) {
            let at = self.barrier.of_piece(started);
            self.next = match self.next {
                Next::Piece if self.noted.is_due(now, started, end) => Next::Note,
                Next::Note => {
                    self.noted = Noted::new(now, started);
                    Next::Piece
                }
                Next::Piece if self.counts(at).waiting > 0 => {
                    Next::Sleep { until: after_ticks(now, 1) }
                }
                Next::Piece | Next::Sleep { .. } => Next::Raise,
                Next::Raise => {
                    self.change(now, at, |counts| counts.raised += 1);
                    Next::Copy
                }
                Next::Copy => {
                    self.next = Next::Look;
                    return Some(self.copy(now, started, end));
                }
                Next::Look | Next::Doze { .. } => match self.pace.sleeps_until(now) {
                    Some(until) => Next::Doze { until },
                    None => Next::Piece,
                },
            };
        }
        None
    }

    /// One piece where somebody waits, else as many as follow each other.
    fn copy(&mut self, now: Nanos, started: u64, end: u64) -> u64 {
        let at = self.barrier.of_piece(started);
        let Counts { raised, waiting, .. } = self.counts(at);
        let most = if waiting > 0 { 1 } else { self.barrier.pieces_max() - raised };
        let sectors = (most.min(self.barrier.pieces_merged()) * self.barrier.piece_sectors())
            .min(self.barrier.end(started) - started)
            .min(end - started);
        let others = sectors.div_ceil(self.barrier.piece_sectors()) - 1;
        self.change(now, at, |counts| counts.raised += others);
        self.pace.sends(sectors);
        sectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAID10: Barrier = Barrier::Whole { chunk_sectors: 1024, goes_on: true, data_sector: 0 };
    const UNITS: Barrier = Barrier::Units { data_sector: 0 };
    const END: u64 = 1 << 24;
    const MS: Nanos = 1_000_000;

    fn thread(barrier: Barrier) -> SyncThread {
        SyncThread::new(0, barrier, None, 0)
    }

    /// The example above: the load goes in together, the last that has come of those who sleep first, and the thread sleeps.
    #[test]
    fn with_somebody_waiting_they_take_turns() {
        let mut thread = thread(RAID10);
        let read = |sector| Request::read(sector, 16);
        let inside = thread.arrives(0, 0, &read(0)).unwrap();
        assert_eq!(thread.go_on(0, 0, END), None, "somebody is inside");
        for slot in 1..=6 {
            assert_eq!(thread.arrives(MS, slot, &read(500)), None, "the barrier is raised");
        }
        thread.leaves(5 * MS, inside);
        assert_eq!(thread.go_on(5 * MS, 0, END), Some(128), "one piece, for others wait");
        assert_eq!(thread.go_on(5 * MS, 128, END), None);
        assert_eq!(thread.next_event(128), Some(20 * MS), "it sleeps a tick");
        let free = thread.copied(9 * MS, 0, 128);
        let slots: Vec<usize> = free.into_iter().map(|(_, slot)| slot).collect();
        assert_eq!(slots, [4, 3, 2, 1, 5, 6]);
        assert!(thread.arrives(19 * MS, 7, &read(0)).is_some());
        assert_eq!(thread.go_on(20 * MS, 128, END), None);
        assert!(thread.arrives(20 * MS, 8, &read(0)).is_none());
    }

    /// Where nobody waits, as many pieces are in flight as may be: 512 of RAID 10, and 32 of a unit of RAID 1.
    #[test]
    fn alone_it_sends_what_may_be_in_flight() {
        for (barrier, pieces) in [(RAID10, 511), (UNITS, 31)] {
            let mut thread = thread(barrier);
            let mut sent = Vec::new();
            while let Some(sectors) = thread.go_on(0, sent.iter().sum(), END) {
                sent.push(sectors);
            }
            assert_eq!(sent.iter().sum::<u64>(), pieces * PIECE_SECTORS, "{barrier:?}");
            assert_eq!(sent[0], barrier.pieces_merged() * PIECE_SECTORS);
            let started = sent.iter().sum();
            thread.copied(MS, 0, sent[0]);
            assert_eq!(thread.go_on(MS, started, END), Some(sent[0]));
        }
    }

    /// Two copies on three members: the next chunk is read from another member.
    #[test]
    fn pieces_that_are_read_from_two_places_are_two_requests() {
        let barrier = Barrier::Whole { chunk_sectors: 1024, goes_on: false, data_sector: 264 };
        let mut thread = SyncThread::new(0, barrier, None, 264 + 512);
        assert_eq!(thread.go_on(0, 264 + 512, END), Some(512));
        assert_eq!(thread.go_on(0, 264 + 1024, END), Some(1024));
    }

    #[test]
    fn raid_1_stops_writes_to_the_unit_that_it_restores() {
        let mut thread = thread(UNITS);
        thread.go_on(0, 0, END).unwrap();
        let far = 4 * UNIT_SECTORS;
        assert!(thread.arrives(0, 0, &Request::read(0, 8)).is_some());
        assert!(thread.arrives(0, 1, &Request::write(far, 8)).is_some());
        assert!(thread.arrives(0, 2, &Request::write(0, 8)).is_none());
    }

    /// Members of 18 TB have 129 MiB in front of the data: what is restored first belongs to the array's first unit, not to the third.
    #[test]
    fn units_are_those_of_the_array() {
        let data_sector = 264_192;
        let barrier = Barrier::Units { data_sector };
        let mut thread = SyncThread::new(0, barrier, None, data_sector);
        assert_eq!(thread.go_on(0, data_sector, data_sector + END), Some(1280));
        assert!(thread.arrives(0, 0, &Request::write(data_sector, 8)).is_some());
        assert!(thread.arrives(0, 1, &Request::write(0, 8)).is_none());
        thread.copied(MS, data_sector, 1280);
        // Pieces end with their unit.
        let last = data_sector + UNIT_SECTORS - 128;
        let mut thread = SyncThread::new(0, barrier, None, last);
        assert_eq!(thread.go_on(0, last, data_sector + END), Some(128));
    }

    /// What is left of before a power cut may end after all has begun again.
    #[test]
    fn a_piece_of_before_a_power_cut_is_not_counted() {
        let mut thread = thread(RAID10);
        let sectors = thread.go_on(0, 0, END).unwrap();
        thread.start_again(MS, 0);
        thread.copied(2 * MS, 0, sectors);
        assert!(thread.arrives(2 * MS, 0, &Request::read(0, 8)).is_some());
    }

    /// What it has restored is read after a sixteenth of the member, or five minutes, and once nothing is in flight.
    #[test]
    fn it_notes_how_far_it_is() {
        let mut thread = thread(RAID10);
        let (sectors, sixteenth) = (thread.go_on(0, 0, END).unwrap(), END / 16);
        assert_eq!((thread.go_on(MS, sixteenth + 128, END), thread.noted()), (None, 0));
        thread.copied(2 * MS, 0, sectors);
        assert!(thread.go_on(2 * MS, sixteenth + 128, END).is_some());
        assert_eq!(thread.noted(), sixteenth + 128);
    }

    #[test]
    fn a_thread_that_sleeps_for_a_place_sends_nothing() {
        let mut thread = thread(RAID10);
        thread.sleeps(0, true);
        assert_eq!((thread.next_event(0), thread.go_on(0, 0, END)), (None, None));
        thread.sleeps(MS, false);
        assert_eq!(thread.next_event(0), Some(MS));
    }
}
