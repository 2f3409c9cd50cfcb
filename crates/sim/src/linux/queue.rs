//! The request queue of one drive: what is merged, what waits, what the drive has.
//!
//! ```text
//! bio → plug (a thread's own list)   merges with the thread's last request for this drive
//!     → scheduler                    merges with any request that waits there, front or back
//!     → drive                        as many at a time as there are tags
//! ```
//!
//! A request holds one of `requests` places (`nr_requests`) from the time it is made until it is done; who
//! needs one when all are taken sleeps. From `block/blk-mq.c`, `block/blk-merge.c` and
//! `block/mq-deadline.c` of Linux 6.1.

use crate::Nanos;
use block::{Op, Request};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

/// The sectors of a page, which is what a bio from md's stripe cache carries.
pub(super) const PAGE_SECTORS: u32 = 8;
/// A plug is sent on when its newest request has grown to this (`BLK_PLUG_FLUSH_SIZE`, 128 KiB).
const PLUG_FLUSH_SECTORS: u32 = 256;
/// ... or holds this many requests for one drive, twice as many for several (`BLK_MAX_REQUEST_COUNT`).
const PLUG_REQUESTS_MAX: usize = 32;
/// Requests that mq-deadline takes in sector order before it looks at deadlines again (`fifo_batch`).
const FIFO_BATCH: u32 = 16;
/// Batches of reads while writes wait (`writes_starved`).
const WRITES_STARVED: u32 = 2;
/// When a read or a write that waits becomes urgent (`read_expire`, `write_expire`).
const EXPIRES_NS: [Nanos; 2] = [500_000_000, 5_000_000_000];

/// Which request goes to the drive next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// `none`: in order of arrival.
    None,
    /// `mq-deadline`: upwards by sector, reads first, until a deadline passes.
    MqDeadline,
}

impl Scheduler {
    /// As in `/sys/block/*/queue/scheduler`.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::None => "none",
            Scheduler::MqDeadline => "mq-deadline",
        }
    }
}

/// The limits of a queue, as in `/sys/block/*/queue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// `scheduler`.
    pub scheduler: Scheduler,
    /// Requests that exist at a time (`nr_requests`); with [`Scheduler::None`] no more than `tags`.
    pub requests: usize,
    /// Requests that the drive has at a time.
    pub tags: usize,
    /// The largest request in sectors (`max_sectors_kb`).
    pub max_sectors: u32,
    /// The most pages of a request that do not lie side by side in memory (`max_segments`).
    pub max_segments: u32,
    /// Whether the drive may lose what it has said to be written (`write_cache` = `write back`). One that may not
    /// gets no flush: it is done at once (`blk_insert_flush`).
    pub is_write_back: bool,
}

/// A request's place in whoever keeps requests.
pub(super) type Slot = usize;

/// A request for a drive, as far as queues look at it.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// What it asks of the drive; grows as others are merged with it.
    pub(super) request: Request,
    /// When it was made.
    pub(super) made_at: Nanos,
    /// How far it has come.
    pub(super) stage: Stage,
    /// It is merged with nothing (`REQ_NOMERGE`).
    pub(super) is_alone: bool,
}

impl Queued {
    /// Whether it can take in another, which is no more than so many sectors then.
    pub(super) fn has_room_for(&self, other: &Request, max_sectors: u32) -> bool {
        let Request { op, sectors, .. } = self.request;
        !self.is_alone && op == other.op && sectors + other.sectors <= max_sectors
    }
}

/// How what a request carries lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Side by side, as far as that matters: a buffer of a program.
    Whole,
    /// Page by page: rows of md's cache, and the page cache.
    Pages,
}

/// Where a request grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Behind,
    InFront,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// In a plug or a queue.
    Waits,
    /// The drive has it.
    InFlight,
    /// The drive has it, past the queue.
    Past,
    /// The same: a flush that others may wait for.
    Flushes,
    /// Done; a write that may not be durable yet.
    Done,
}

/// One drive's queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    spec: QueueSpec,
    /// Reads, then writes, by sector.
    by_sector: [BTreeSet<(u64, Slot)>; 2],
    /// The same by arrival.
    by_age: [VecDeque<Slot>; 2],
    /// Requests that exist.
    made: usize,
    /// Requests that the drive has.
    with_drive: usize,
    /// What the scheduler has given away before it turned out that the drive takes no more: the next one for the drive, which
    /// nothing merges with (`blk_mq_do_dispatch_sched`).
    pulled: Option<Slot>,
    /// The one that the next request from a plug is tried with first (`last_merge`).
    last_merged: Option<Slot>,
    direction: usize,
    /// Of reads and of writes, what was next above the last one that was sent (`next_rq`).
    next: [Option<Slot>; 2],
    batch: u32,
    starved: u32,
}

fn direction(op: Op) -> usize {
    usize::from(op != Op::Read)
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(spec: QueueSpec) -> Self {
        Queue {
            spec,
            by_sector: Default::default(),
            by_age: Default::default(),
            made: 0,
            with_drive: 0,
            pulled: None,
            last_merged: None,
            direction: 0,
            next: [None; 2],
            batch: 0,
            starved: 0,
        }
    }

    /// Whether the drive gets flushes.
    pub(super) fn is_write_back(&self) -> bool {
        self.spec.is_write_back
    }

    /// Whether there is a scheduler.
    pub(super) fn has_scheduler(&self) -> bool {
        self.spec.scheduler != Scheduler::None
    }

    /// Whether one more request may be made.
    pub(super) fn has_room(&self) -> bool {
        let most = match self.spec.scheduler {
            Scheduler::None => self.spec.tags.min(self.spec.requests),
            Scheduler::MqDeadline => self.spec.requests,
        };
        self.made < most
    }

    /// How many requests must be done before who sleeps for a place is woken: an eighth of all, up to 8
    /// (`sbq_calc_wake_batch`), and one with mq-deadline (`dd_depth_updated`).
    pub(super) fn wake_batch(&self) -> usize {
        let places = self.spec.tags.min(self.spec.requests);
        if self.has_scheduler() { 1 } else { (places / 8).clamp(1, 8) }
    }

    /// A request is made, and holds its place from now on.
    pub(super) fn make(&mut self) {
        self.made += 1;
    }

    /// The most sectors that a request may have.
    pub(super) fn max_sectors(&self, memory: Memory) -> u32 {
        match memory {
            Memory::Whole => self.spec.max_sectors,
            Memory::Pages => self.spec.max_sectors.min(self.spec.max_segments * PAGE_SECTORS),
        }
    }

    /// A request that waits here, and that a bio goes on behind or in front of (`elv_merge`); grown by it, on this side.
    pub(super) fn merge(
        &mut self,
        bio: Request,
        memory: Memory,
        all: &mut slab::Slab<Queued>,
    ) -> Option<(Slot, Side)> {
        if let Some(slot) = self.merge_behind(bio, memory, all) {
            return Some((slot, Side::Behind));
        }
        let max_sectors = self.max_sectors(memory);
        let waiting = &mut self.by_sector[direction(bio.op)];
        let behind = waiting.range((bio.end(), 0)..=(bio.end(), Slot::MAX)).next().copied();
        let (sector, slot) =
            behind.filter(|&(_, slot)| all[slot].has_room_for(&bio, max_sectors))?;
        waiting.remove(&(sector, slot));
        waiting.insert((bio.sector, slot));
        all[slot].request.sector = bio.sector;
        all[slot].request.sectors += bio.sectors;
        self.last_merged = Some(slot);
        Some((slot, Side::InFront))
    }

    /// A request that grew on this side may touch another that waits: then the two become one, which is as old as the older
    /// (`attempt_merge`, `dd_merged_requests`). Gives the one that stays and the one that is no more.
    pub(super) fn join(
        &mut self,
        grown: Slot,
        side: Side,
        memory: Memory,
        all: &mut slab::Slab<Queued>,
    ) -> Option<(Slot, Slot)> {
        let max_sectors = self.max_sectors(memory);
        let direction = direction(all[grown].request.op);
        let waiting = &mut self.by_sector[direction];
        let place = (all[grown].request.sector, grown);
        let above =
            |place| waiting.range((Excluded(place), Unbounded)).next().map(|&(_, slot)| slot);
        let (stays, goes) = match side {
            Side::Behind => (grown, above(place)?),
            Side::InFront => (waiting.range(..place).next_back()?.1, grown),
        };
        let [first, second] = [stays, goes].map(|slot| all[slot].request);
        let fits = all[stays].has_room_for(&second, max_sectors) && !all[goes].is_alone;
        if first.end() != second.sector || !fits {
            return None;
        }
        let next = &mut self.next[direction];
        if *next == Some(goes) {
            *next = above((second.sector, goes));
        }
        waiting.remove(&(second.sector, goes));
        let by_age = &mut self.by_age[direction];
        let older = all[stays].made_at.min(all[goes].made_at);
        if all[stays].made_at > older {
            by_age.retain(|&slot| slot != stays);
            by_age.iter_mut().filter(|slot| **slot == goes).for_each(|slot| *slot = stays);
        } else {
            by_age.retain(|&slot| slot != goes);
        }
        all[stays].made_at = older;
        all[stays].request.sectors += second.sectors;
        self.last_merged = Some(stays);
        Some((stays, goes))
    }

    /// A request that waits here, and that `request` goes on behind; grown by it. One that comes from a plug is put in front of
    /// none (`elv_attempt_insert_merge`).
    pub(super) fn merge_behind(
        &mut self,
        request: Request,
        memory: Memory,
        all: &mut slab::Slab<Queued>,
    ) -> Option<Slot> {
        let slot = self.goes_on(request, self.max_sectors(memory), all)?;
        all[slot].request.sectors += request.sectors;
        self.last_merged = Some(slot);
        Some(slot)
    }

    /// The request that waits here and that `request` goes on behind.
    fn goes_on(
        &self,
        request: Request,
        max_sectors: u32,
        all: &slab::Slab<Queued>,
    ) -> Option<Slot> {
        if self.spec.scheduler == Scheduler::None {
            return None;
        }
        let waiting = &self.by_sector[direction(request.op)];
        let (_, slot) = waiting.range(..(request.sector, Slot::MAX)).next_back().copied()?;
        let before = &all[slot];
        let fits =
            before.request.end() == request.sector && before.has_room_for(&request, max_sectors);
        fits.then_some(slot)
    }

    /// How many sectors from `page` on, brought here page by page, all go on behind the same request that waits here: none
    /// where it is full, and no more than up to the next one that waits, with which it becomes one.
    pub(super) fn room_behind(
        &self,
        page: Request,
        memory: Memory,
        all: &slab::Slab<Queued>,
    ) -> u64 {
        let max_sectors = self.max_sectors(memory);
        let Some(slot) = self.goes_on(page, max_sectors, all) else { return 0 };
        let room = u64::from(max_sectors - all[slot].request.sectors);
        let waiting = &self.by_sector[direction(page.op)];
        let above = waiting.range((Excluded((page.sector, Slot::MAX)), Unbounded)).next();
        above.map_or(room, |&(above, _)| room.min(above - page.sector))
    }

    /// The request that the next one from a plug is tried with first, if any.
    pub(super) fn last_merged(&self) -> Option<Slot> {
        self.last_merged
    }

    /// Takes in a request that was made.
    pub(super) fn insert(&mut self, slot: Slot, queued: &Queued) {
        let direction = direction(queued.request.op);
        self.by_sector[direction].insert((queued.request.sector, slot));
        self.by_age[direction].push_back(slot);
        if self.last_merged.is_none() && !queued.is_alone {
            self.last_merged = Some(slot);
        }
    }

    /// A request is made and goes to the drive at once: without a scheduler nothing waits, so that it meets nothing. There must be
    /// room for it.
    pub(super) fn pass(&mut self) {
        debug_assert!(!self.has_scheduler() && self.has_room() && self.by_sector[0].is_empty());
        self.made += 1;
        self.with_drive += 1;
    }

    /// A request was merged with another and is no more.
    pub(super) fn unmake(&mut self) {
        self.made -= 1;
    }

    /// The next request for the drive, if it has a tag free.
    pub(super) fn dispatch(&mut self, now: Nanos, all: &slab::Slab<Queued>) -> Option<Slot> {
        let is_full = self.with_drive >= self.spec.tags;
        if is_full && (self.pulled.is_some() || !self.has_scheduler()) {
            return None;
        }
        let slot = self.pulled.take().or_else(|| self.take_next(now, all))?;
        if is_full {
            self.pulled = Some(slot);
            return None;
        }
        self.with_drive += 1;
        Some(slot)
    }

    /// Takes out what is to be sent next.
    fn take_next(&mut self, now: Nanos, all: &slab::Slab<Queued>) -> Option<Slot> {
        if self.by_sector.iter().all(BTreeSet::is_empty) {
            return None;
        }
        let slot = match self.spec.scheduler {
            Scheduler::None => self.oldest(all),
            Scheduler::MqDeadline => self.by_deadline(now, all),
        };
        if self.last_merged == Some(slot) {
            self.last_merged = None;
        }
        let request = all[slot].request;
        let direction = direction(request.op);
        self.by_sector[direction].remove(&(request.sector, slot));
        self.by_age[direction].retain(|&waiting| waiting != slot);
        let behind = self.by_sector[direction].range((request.sector, slot)..).next();
        self.next[direction] = behind.map(|&(_, slot)| slot);
        Some(slot)
    }

    fn oldest(&self, all: &slab::Slab<Queued>) -> Slot {
        let fronts = self.by_age.iter().filter_map(|line| line.front().copied());
        fronts.min_by_key(|&slot| (all[slot].made_at, slot)).expect("something waits")
    }

    /// `__dd_dispatch_request`: goes on with a batch, else reads before writes, with what was next above the last one when that
    /// was sent, but the oldest first where there was nothing or its deadline has passed.
    fn by_deadline(&mut self, now: Nanos, all: &slab::Slab<Queued>) -> Slot {
        if (1..FIFO_BATCH).contains(&self.batch)
            && let Some(slot) = self.next[self.direction]
        {
            self.batch += 1;
            return slot;
        }
        let [reads, writes] = [0, 1].map(|direction| !self.by_sector[direction].is_empty());
        self.direction = usize::from(!reads || (writes && self.starved >= WRITES_STARVED));
        self.starved = if self.direction == 1 { 0 } else { self.starved + u32::from(writes) };
        self.batch = 1;
        let oldest = *self.by_age[self.direction].front().expect("something waits");
        let expired = all[oldest].made_at + EXPIRES_NS[self.direction] <= now;
        self.next[self.direction].filter(|_| !expired).unwrap_or(oldest)
    }

    /// The drive is done with a request.
    pub(super) fn done(&mut self) {
        self.with_drive -= 1;
        self.made -= 1;
    }

    /// Everything that waits here comes to nothing, and so does what is held in plugs.
    pub(super) fn abort(&mut self) {
        self.by_sector.iter_mut().for_each(BTreeSet::clear);
        self.by_age.iter_mut().for_each(VecDeque::clear);
        self.next = [None; 2];
        self.pulled = None;
        self.last_merged = None;
        self.made = self.with_drive;
    }
}

/// Requests that a thread has made and not yet sent on, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Plug {
    held: Vec<(u32, Slot)>,
    several: bool,
    is_endless: bool,
}

impl Plug {
    /// Whether it stands for schedulers' queues, which take what comes without a plug and are run a moment later
    /// (`blk_mq_sched_insert_request`): then no number of requests and no size of one has it sent on.
    pub(super) fn set_endless(&mut self, is_endless: bool) {
        self.is_endless = is_endless;
    }

    /// The request for `member` that the thread has made last.
    pub(super) fn last_for(&self, member: u32) -> Option<Slot> {
        self.held.iter().rev().find(|&&(of, _)| of == member).map(|&(_, slot)| slot)
    }

    /// Whether it has to be sent on before it takes another request.
    pub(super) fn is_full(&self, all: &slab::Slab<Queued>) -> bool {
        if self.is_endless {
            return false;
        }
        let most = if self.several { 2 * PLUG_REQUESTS_MAX } else { PLUG_REQUESTS_MAX };
        let last = self.held.last();
        self.held.len() >= most
            || last.is_some_and(|&(_, slot)| all[slot].request.sectors >= PLUG_FLUSH_SECTORS)
    }

    /// Adds a request.
    pub(super) fn push(&mut self, member: u32, slot: Slot) {
        self.several |= self.held.last().is_some_and(|&(last, _)| last != member);
        self.held.push((member, slot));
    }

    /// Whether nothing is held back.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Empties it into `sent`, which is empty: the lists change places.
    pub(super) fn empty_into(&mut self, sent: &mut Vec<(u32, Slot)>) {
        self.several = false;
        std::mem::swap(&mut self.held, sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors 0 to 8 and 16 to 24 wait, in either order of arrival; 8 to 16 joins them, and the result is as old as the older.
    #[test]
    fn two_requests_become_one_where_a_bio_fills_the_gap() {
        let side = Side::Behind;
        for sectors in [[0, 16], [16, 0]] {
            let mut all = slab::Slab::new();
            let mut queue = Queue::new(spec(Scheduler::MqDeadline, 32));
            let slots = [0, 1].map(|number| {
                let request = Request::read(sectors[number], 8);
                let made_at = number as Nanos;
                let slot =
                    all.insert(Queued { request, made_at, stage: Stage::Waits, is_alone: false });
                queue.make();
                queue.insert(slot, &all[slot]);
                slot
            });
            let grown = queue.merge(Request::read(8, 8), Memory::Whole, &mut all);
            let at_0 = slots[usize::from(sectors[0] != 0)];
            assert_eq!(grown, Some((at_0, side)));
            let joined = queue.join(at_0, side, Memory::Whole, &mut all);
            let at_16 = slots[usize::from(sectors[0] == 0)];
            assert_eq!(joined, Some((at_0, at_16)));
            assert_eq!((all[at_0].request.sectors, all[at_0].made_at), (24, 0));
            assert_eq!(queue.join(at_0, Side::InFront, Memory::Whole, &mut all), None);
            queue.unmake();
            assert_eq!((queue.dispatch(9, &all), queue.dispatch(9, &all)), (Some(at_0), None));
        }
    }

    #[test]
    fn requests_that_would_be_too_large_stay_apart() {
        let mut all = slab::Slab::new();
        let mut queue = Queue::new(spec(Scheduler::MqDeadline, 32));
        let [_, second] = [0, 2000].map(|sector| {
            let request = Request::read(sector, 1000);
            let slot =
                all.insert(Queued { request, made_at: 0, stage: Stage::Waits, is_alone: false });
            queue.make();
            queue.insert(slot, &all[slot]);
            slot
        });
        let grown = queue.merge(Request::read(1500, 500), Memory::Whole, &mut all);
        assert_eq!(grown, Some((second, Side::InFront)));
        assert_eq!(queue.join(second, Side::InFront, Memory::Whole, &mut all), None);
        // Now they touch, but are 3000 sectors together.
        let grown = queue.merge(Request::read(1000, 500), Memory::Whole, &mut all);
        assert!(grown.is_some());
        assert_eq!(queue.join(grown.unwrap().0, grown.unwrap().1, Memory::Whole, &mut all), None);
    }

    fn spec(scheduler: Scheduler, tags: usize) -> QueueSpec {
        QueueSpec {
            scheduler,
            requests: 2 * tags,
            tags,
            max_sectors: 2560,
            max_segments: 168,
            is_write_back: false,
        }
    }

    /// `nr_requests` holds with a scheduler and without; there the drive takes no more than it has tags.
    #[test]
    fn a_queue_holds_as_many_as_it_is_told() {
        let held = |scheduler, requests| {
            let mut queue = Queue::new(QueueSpec { requests, ..spec(scheduler, 32) });
            while queue.has_room() {
                queue.make();
            }
            queue.made
        };
        assert_eq!([4, 128].map(|requests| held(Scheduler::MqDeadline, requests)), [4, 128]);
        assert_eq!([4, 128].map(|requests| held(Scheduler::None, requests)), [4, 32]);
    }

    /// By hand from `sbq_calc_wake_batch`: of 32 tags a sleeper waits for four, and never for more than 8.
    #[test]
    fn a_sleeper_wakes_by_eighths() {
        let batch = |scheduler, tags| Queue::new(spec(scheduler, tags)).wake_batch();
        assert_eq!(
            [1, 15, 16, 32, 64, 1023].map(|tags| batch(Scheduler::None, tags)),
            [1, 1, 2, 4, 8, 8]
        );
        assert_eq!([1, 32].map(|tags| batch(Scheduler::MqDeadline, tags)), [1, 1]);
    }
}
