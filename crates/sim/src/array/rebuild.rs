//! Restoring a member onto a spare while the array serves requests.
//!
//! The spare takes the place of the member that it replaces. It is restored from its first sector on,
//! chunk by chunk. Two chunks are in flight, so that the other members read while the spare is written:
//!
//! ```text
//! 0 ─── restored ─── front ─── chunks in flight ─── started ─── still lost ─── end
//! requests: as healthy         writes wait                      as degraded
//! ```
//!
//! A read that needs an unrestored part of the member is planned as if the member were down, which is
//! always correct. A write needs more care: its data on the restored part must reach the spare, and the
//! unrestored part of the spare must not be read as data. So a write that touches both sides of the
//! front, or the chunks in flight, waits until the front has passed, as behind md's resync barrier. A
//! write that waited for a row is replanned when it gets the row. A row's lock keeps chunks and writes
//! of that row apart. Layouts without rows lock regions of the volume instead while a member is being
//! restored.
//!
//! md restores its copies by rules of its own: `array/barrier.rs`. Then a write goes to the spare wherever it is, and a read does where md
//! has noted that it is restored.

use super::barrier::{Barrier, SyncThread};
use super::copy_choice::CopyChoice;
use super::core::{Active, Core, Owner};
use crate::linux::sync_pace;
use crate::{Fault, Nanos};
use block::{Content, Plan, Request, SECTOR_BYTES, Step};
use std::collections::VecDeque;
use std::ops::Range;

/// What to restore, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// The member whose place the spare has taken.
    pub member: u32,
    /// At most this many bytes of it are restored a second; `None` for as fast as the drives go.
    pub bytes_per_s: Option<u64>,
}

impl Rebuild {
    /// How long it is from one burst of what is restored to the next, where the limit holds it back: md's or of chunks. None without
    /// a limit.
    pub fn period_ns(&self, is_by_md: bool) -> Option<Nanos> {
        let rate = self.bytes_per_s?;
        let chunk_ns =
            || u128::from(CHUNK_SECTORS * SECTOR_BYTES) * 1_000_000_000 / u128::from(rate);
        Some(if is_by_md { sync_pace::period_ns(rate) } else { chunk_ns() as Nanos })
    }
}

/// Sectors of the member in a chunk: the largest command that Linux sends (512 KiB).
pub const CHUNK_SECTORS: u64 = 1024;

/// Sectors that the kernel reads of a device in which it looks for partitions: a page.
const PARTITIONS_SECTORS: u64 = 8;

/// Chunks in flight at a time.
const CHUNKS_MAX: usize = 2;

/// Sectors of a region of the volume: the unit of locking.
const REGION_SECTORS: u64 = 128;

/// A [`Rebuild`] in progress.
#[derive(Clone, Debug)]
pub(super) struct Restoring {
    pub(super) rebuild: Rebuild,
    /// What is to be restored of the member.
    part: Range<u64>,
    /// Everything before this sector is restored.
    front: u64,
    /// Where the next chunk starts.
    started: u64,
    /// When the next chunk may start, where md does not say that.
    next_at: Nanos,
    /// md's thread, where that restores.
    pub(super) thread: Option<SyncThread>,
    /// Chunks in flight, in order: where each ends, and whether it is done.
    chunks: VecDeque<(u64, bool)>,
    /// Writes that wait for the front.
    pub(super) waiting: Vec<usize>,
}

/// What a request may do while a member is being restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Continue as if the member were up.
    Up,
    /// Continue without the member.
    Down,
    /// Wait until the front has moved.
    Wait,
}

impl Restoring {
    pub(super) fn new(now: Nanos, rebuild: Rebuild, part: Range<u64>) -> Self {
        Restoring {
            rebuild,
            front: part.start,
            started: part.start,
            part,
            next_at: now,
            thread: None,
            chunks: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// Sectors restored so far.
    pub(super) fn restored_sectors(&self) -> u64 {
        self.front - self.part.start
    }

    /// Whether all is restored.
    pub(super) fn is_over(&self) -> bool {
        self.front == self.part.end
    }

    /// When the next chunk may start, if one can.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        if let Some(thread) = &self.thread {
            let is_left = self.started < self.part.end;
            return if is_left { thread.next_event(self.started) } else { None };
        }
        let can = self.chunks.len() < CHUNKS_MAX && self.started < self.part.end;
        can.then_some(self.next_at)
    }

    /// From now on, md's thread restores it.
    pub(super) fn by_md(&mut self, now: Nanos, barrier: Barrier, is_load_first: bool) {
        let rate = self.rebuild.bytes_per_s;
        let begins = now + Nanos::from(is_load_first);
        self.thread = Some(SyncThread::new(begins, barrier, rate, self.part.start));
    }

    /// Whether what is restored now counts on every member where a copy is chosen.
    pub(super) fn holds_all(&self) -> bool {
        self.thread.as_ref().is_some_and(SyncThread::holds_all)
    }

    /// The member that md restores, and from which sector on it is not read.
    pub(super) fn unread(&self) -> Option<(u32, u64)> {
        self.thread.as_ref().map(|thread| (self.rebuild.member, thread.noted()))
    }

    /// The next chunk, if one starts at `now`: the write to the member.
    pub(super) fn start_chunk(&mut self, now: Nanos) -> Option<Request> {
        let left = self.part.end - self.started;
        let sectors = match &mut self.thread {
            Some(thread) => thread.go_on(now, self.started, self.part.end)?,
            None => CHUNK_SECTORS.min(left),
        };
        let request = Request::write(self.started, sectors as u32).to(self.rebuild.member);
        self.started = request.end();
        self.chunks.push_back((request.end(), false));
        let pace = self.rebuild.bytes_per_s.map_or(0, |rate| {
            (u128::from(sectors * SECTOR_BYTES) * 1_000_000_000 / u128::from(rate)) as Nanos
        });
        self.next_at = now + pace;
        Some(request)
    }

    /// A chunk was restored at `at`. Gives the requests that md lets in then.
    pub(super) fn chunk_done(&mut self, at: Nanos, chunk: Request) -> Vec<(u64, usize)> {
        let end = chunk.end();
        self.next_at = self.next_at.max(at);
        for chunk in self.chunks.iter_mut().filter(|chunk| chunk.0 == end) {
            chunk.1 = true;
        }
        while let Some(&(end, true)) = self.chunks.front() {
            self.chunks.pop_front();
            self.front = end;
        }
        let thread = self.thread.as_mut();
        thread.map_or_else(Vec::new, |thread| thread.copied(at, chunk.sector, chunk.sectors.into()))
    }

    /// Takes the requests that wait.
    pub(super) fn take_waiting(&mut self) -> Vec<usize> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(self.thread.iter_mut().flat_map(SyncThread::take_held));
        waiting
    }

    /// Starts again from the first sector: what the spare's cache held is lost.
    pub(super) fn start_again(&mut self, now: Nanos) {
        self.next_at = self.next_at.max(now);
        (self.front, self.started) = (self.part.start, self.part.start);
        self.chunks.clear();
        if let Some(thread) = &mut self.thread {
            thread.start_again(now, self.part.start);
        }
    }

    /// What a request may do, given its plan with the member up.
    pub(super) fn judge(&self, request: &Request, plan: &Plan) -> Verdict {
        if let Some((member, unread)) = self.unread() {
            // Each part of a read takes a copy that is there (`Copies::is_there`), if it has another.
            let is_lost = |step: &Step| {
                step.request.target == member
                    && step.request.end() > unread
                    && plan.others(step).is_empty()
            };
            let is_down = !request.op.modifies() && plan.steps().iter().any(is_lost);
            return if is_down { Verdict::Down } else { Verdict::Up };
        }
        let (member, front, started) = (self.rebuild.member, self.front, self.started);
        let (mut restored, mut lost, mut between) = (false, false, false);
        for step in plan.steps().iter().filter(|step| step.request.sectors > 0) {
            let own = (step.request.target == member).then_some(step.request.sector);
            let other = plan.others(step).iter().find(|copy| copy.member == member);
            let Some(sector) = own.or(other.map(|copy| copy.sector)) else { continue };
            let end = sector + u64::from(step.request.sectors);
            restored |= sector < front;
            lost |= end > started;
            between |= end > front && sector < started;
        }
        match (restored, lost || between) {
            (_, false) => Verdict::Up,
            _ if !request.op.modifies() => Verdict::Down,
            (false, true) if !between => Verdict::Down,
            _ => Verdict::Wait,
        }
    }
}

impl Core {
    /// Starts the chunks of a member to restore that are due by `now`.
    pub(super) fn start_chunks(&mut self, now: Nanos) {
        while let Some(restoring) = &mut self.restoring
            && restoring.next_event().is_some_and(|at| at <= now)
        {
            let is_by_md = restoring.thread.is_some();
            let Some(chunk) = restoring.start_chunk(now) else { return };
            self.epoch += 1;
            self.accept(now, Owner::Rebuild, chunk);
            if is_by_md {
                // Whether md's thread sends another depends on whether it finds a place for this one.
                return;
            }
        }
    }

    /// A chunk is restored, or cannot be.
    pub(super) fn chunk_done(&mut self, at: Nanos, fault: Option<Fault>, chunk: Request) {
        let Some(restoring) = &mut self.restoring else { return };
        let free = match fault {
            None => restoring.chunk_done(at, chunk),
            Some(Fault::Failed | Fault::Medium) => return self.end_rebuild(at),
            // The rebuild has started again from the first sector.
            Some(Fault::Reset | Fault::PowerCut) => return,
        };
        self.epoch += 1;
        self.restored_sectors = restoring.restored_sectors();
        if restoring.is_over() {
            self.health.restore(restoring.rebuild.member);
            self.restored_at = Some(at);
            self.end_rebuild(at);
        } else {
            let waiting = std::mem::take(&mut restoring.waiting);
            for slot in waiting {
                self.plan(at, slot);
            }
        }
        for (barrier, slot) in free {
            self.active[slot].inside = Some(barrier);
            self.plan(at, slot);
        }
    }

    /// From now on md's thread restores the member that is being restored, with such a barrier. It begins behind what is asked for
    /// now where the load `is_first`: md writes its superblocks before it restores anything.
    ///
    /// # Panics
    ///
    /// Where none is being restored.
    pub fn restore_by_md(&mut self, now: Nanos, barrier: Barrier, is_first: bool) {
        let restoring = self.restoring.as_mut().expect("a member is being restored");
        restoring.by_md(now, barrier, is_first);
        self.holds_all = self.copy_choice.holds_all();
        // md begins with all heads at the array's first sector; but the kernel has looked there for partitions, and read that from
        // the first member (`read_balance`).
        let start = barrier.data_sector();
        for member in &mut self.members {
            (member.head, member.next_sector) = (start, start);
        }
        let mut members = 0..self.members.len();
        if let Some(first) = members.find(|&at| self.health.is_up(at as u32)) {
            let end = start + PARTITIONS_SECTORS;
            (self.members[first].head, self.members[first].next_sector) = (end, end);
        }
        self.locks_regions = false;
    }

    /// Whether the caller's request in `slot` has to wait for a barrier.
    pub(super) fn is_held_back(&mut self, now: Nanos, slot: usize, request: &Request) -> bool {
        let thread = self.restoring.as_mut().and_then(|restoring| restoring.thread.as_mut());
        let Some(thread) = thread.filter(|_| request.sectors > 0) else { return false };
        let inside = thread.arrives(now, slot, request);
        self.active[slot].inside = inside;
        inside.is_none()
    }

    /// The request in `slot` is done: a barrier has nobody to wait for any more.
    pub(super) fn leave_barrier(&mut self, now: Nanos, slot: usize) {
        let inside = self.active[slot].inside.take();
        let thread = self.restoring.as_mut().and_then(|restoring| restoring.thread.as_mut());
        if let (Some(barrier), Some(thread)) = (inside, thread) {
            thread.leaves(now, barrier);
        }
    }

    /// Whether md's thread restores a member, if one is restored.
    pub(super) fn is_restored_by_md(&self) -> bool {
        self.restoring.as_ref().is_some_and(|restoring| restoring.thread.is_some())
    }

    /// The steps of a stage of what is restored as they are sent, each with its place in the stage: md reads the first copy that
    /// is up, whichever other copies there are.
    pub(super) fn joined(&self, plan: &Plan, stage: usize) -> Vec<(usize, Request)> {
        join_steps(plan, plan.stage(stage), self.is_restored_by_md())
    }

    /// Whether the request in `slot` is a piece that md's thread sends itself, not what is written of it.
    pub(super) fn is_read_by_md(&self, slot: usize) -> bool {
        let Active { owner, stage, .. } = &self.active[slot];
        self.is_restored_by_md() && *owner == Owner::Rebuild && *stage == 0
    }

    /// The head of `member` is where a command of what is restored has ended, which began with this step. md's RAID 1 notes that of
    /// the member that it reads (`end_sync_read`), and RAID 10 of the one that it writes, too (`find_bio_disk`).
    pub(super) fn note_restored(&mut self, slot: usize, step: usize, modifies: bool, member: u32) {
        if self.copy_choice == CopyChoice::Idlest || modifies && self.holds_all {
            return;
        }
        let (plan, stage) = (&self.plans[slot], self.active[slot].stage);
        let first = step - plan.stage_range(stage).start;
        let ended = self
            .joined(plan, stage)
            .into_iter()
            .find(|&(index, request)| index == first && request.target == member);
        if let Some((_, request)) = ended {
            self.members[member as usize].head = request.end();
        }
    }

    /// md's thread sleeps for a place in a member's queue, or goes on at `now`.
    pub(super) fn md_sleeps(&mut self, now: Nanos, is_asleep: bool) {
        if let Some(thread) = self.restoring.as_mut().and_then(|by| by.thread.as_mut()) {
            thread.sleeps(now, is_asleep);
        }
    }

    /// The rebuild ends: all is restored, or it cannot be.
    pub(super) fn end_rebuild(&mut self, at: Nanos) {
        self.epoch += 1;
        let ended = self.restoring.take();
        for slot in ended.into_iter().flat_map(|mut restoring| restoring.take_waiting()) {
            self.plan(at, slot);
        }
    }
}

/// Locks the regions that a write to a layout without rows touches.
pub(super) fn lock_regions(request: &Request, plan: &mut Plan) {
    if request.op.modifies() {
        for region in request.sector / REGION_SECTORS..request.end().div_ceil(REGION_SECTORS) {
            plan.lock_row(region);
        }
    }
}

/// Locks the regions that a chunk on a layout without rows restores, in ascending order.
pub(super) fn lock_chunk_regions(plan: &mut Plan) {
    let mut regions: Vec<u64> = Vec::new();
    for step in plan.steps() {
        if let Content::Data(sector) = step.content {
            let end = sector + u64::from(step.request.sectors);
            regions.extend(sector / REGION_SECTORS..end.div_ceil(REGION_SECTORS));
        }
    }
    regions.sort_unstable();
    for region in regions {
        plan.lock_row(region);
    }
}

/// The steps of a chunk, with adjacent steps of a member joined into one command. Without that, a drive
/// that writes through would lose a revolution at the end of every interleave. Steps with a choice of
/// copies stay separate, because the other copies need not be adjacent, unless the first `is_first_read` always.
fn join_steps(plan: &Plan, steps: &[Step], is_first_read: bool) -> Vec<(usize, Request)> {
    let mut joined: Vec<(usize, Request)> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let request = step.request;
        let before = joined.iter_mut().rev().find(|(_, before)| before.target == request.target);
        match before.filter(|(first, before)| {
            let no_choice = |step: &Step| is_first_read || plan.others(step).is_empty();
            before.end() == request.sector && no_choice(step) && no_choice(&steps[*first])
        }) {
            Some((_, before)) => before.sectors += request.sectors,
            None => joined.push((index, request)),
        }
    }
    joined
}
