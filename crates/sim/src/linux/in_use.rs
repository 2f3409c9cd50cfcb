//! md marks an array as clean when nobody has written to it for a while, and as in use again before the next write: that one waits
//! until the superblocks of all members say so.
//!
//! A write that comes by itself, as a few come each second, so waits for a write to every member; a disk takes a revolution for its
//! 512 bytes. An array with a bitmap writes the first page of that before, and waits for it. From `md_write_start`, `md_write_end`,
//! `md_check_recovery` and `md_update_sb` of `drivers/md/md.c` of Linux 6.1 (`safemode_delay`); docs/md.md has what it was held to. Here for RAID 1 and 10; RAID 4, 5 and 6 have the same in `md/marks.rs`.

use super::bitmap::{Bitmap, BitmapSpec, Page, page_write};
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Fault, Nanos, Part, Spent};
use block::{Op, Request};
use std::collections::VecDeque;

/// The least time without writes after which an array is clean (`DEFAULT_SAFEMODE_DELAY`), in whole ticks of 4 ms (`CONFIG_HZ` 250, as
/// Debian's kernels have it).
const DELAY_NS: Nanos = 204_000_000;

/// Where the superblock of a member lies, with its data behind it (version 1.2); here, where they begin.
const SUPERBLOCK_SECTOR: u64 = 8;

/// What the superblocks say, and when they are to say something else.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    is_in_use: bool,
    clean_at: Option<Nanos>,
    /// Flushes and writes of superblocks that are not done.
    in_flight: usize,
    /// The page of the bitmap with its header, if there is a bitmap: it says how often superblocks were written, too.
    header: Option<Page>,
    /// That page is being written, and the superblocks come after it (`md_update_sb` calls `md_bitmap_update_sb`, which waits).
    is_header: bool,
    /// It is never marked as clean (`safe_mode_delay` 0).
    is_kept: bool,
}

impl Default for Marks {
    /// In use: whoever made the array has written to it.
    fn default() -> Self {
        Marks {
            is_in_use: true,
            clean_at: None,
            in_flight: 0,
            header: None,
            is_header: false,
            is_kept: false,
        }
    }
}

impl Marks {
    /// Of an array that is never marked as clean.
    pub(super) fn kept(self) -> Self {
        Marks { is_kept: true, ..self }
    }

    /// Of an array whose bitmap has this first page.
    pub(super) fn with_header(header: Option<Page>) -> Self {
        Marks { header, ..Marks::default() }
    }

    /// A write is done at `now`: unless more come, the array is clean at the end of the next whole delay (`mod_timer` in
    /// `md_write_end`).
    ///
    /// ```text
    /// done at 50 ms → clean at 408 ms; done at 204 ms → at 408 ms, too
    /// ```
    pub(super) fn write_done(&mut self, now: Nanos) {
        let clean_at = (now.div_ceil(DELAY_NS) + 1).saturating_mul(DELAY_NS);
        self.clean_at = Some(clean_at).filter(|_| !self.is_kept);
    }

    /// When the array may have become clean.
    pub(super) fn clean_at(&self) -> Option<Nanos> {
        self.clean_at
    }

    /// It is time: the array is clean, unless it `is_written` to. Gives whether the superblocks have to say so.
    pub(super) fn is_due(&mut self, is_written: bool) -> bool {
        self.clean_at = None;
        let becomes_clean = self.is_in_use && !is_written;
        self.is_in_use &= !becomes_clean;
        becomes_clean
    }

    /// A write comes: it is in use from now on. Gives whether the superblocks have to say so.
    pub(super) fn take_up(&mut self) -> bool {
        !std::mem::replace(&mut self.is_in_use, true)
    }

    /// Whether superblocks are being written, and what is sent to the array waits.
    pub(super) fn are_written(&self) -> bool {
        self.in_flight > 0
    }

    /// All of it is to be written, first the bitmap's page.
    pub(super) fn begin(&mut self) {
        self.is_header = self.header.is_some();
    }

    /// What a member is written now.
    pub(super) fn write(&self, member: u32) -> Request {
        match self.header {
            Some(page) if self.is_header => page_write(member, page),
            _ => superblock_write(member),
        }
    }

    /// Whether all members have the bitmap's page, and the superblocks have to follow.
    pub(super) fn goes_on(&mut self) -> bool {
        self.in_flight == 0 && std::mem::take(&mut self.is_header)
    }

    /// So many flushes or writes of superblocks are sent.
    pub(super) fn sent(&mut self, many: usize) {
        self.in_flight += many;
    }

    /// One of them is done.
    pub(super) fn done(&mut self) {
        self.in_flight -= 1;
    }

    /// A reset: nothing is waited for but so much that is `in_flight`.
    pub(super) fn forget(&mut self, in_flight: usize) {
        let Marks { header, is_kept, .. } = *self;
        *self = Marks { in_flight, header, is_kept, ..Marks::default() };
    }
}

/// The write of a member's superblock.
fn superblock_write(member: u32) -> Request {
    let op = Op::Write { fua: true };
    Request { target: member, op, sector: SUPERBLOCK_SECTOR, sectors: 1 }
}

/// Marks an array of copies on the members of the device below.
pub type MarksInUse<D> = Wrapper<Mark, D>;

/// The state of [`MarksInUse`].
pub struct Mark {
    marks: Marks,
    /// The members that have a superblock: those that are down have none, nor has a spare in their place.
    members: Vec<u32>,
    flushes: bool,
    /// What the sender has not come to, as it sleeps, in order of arrival.
    waiting: VecDeque<usize>,
    /// Writes in flight.
    writes: usize,
    /// The spare that is restored, until its superblock and all others are on their way.
    begins: Option<u32>,
}

/// What comes back: a member's flush, or its superblock.
const FLUSHED: u32 = 1 << 31;
/// And for a superblock that is written as md begins to restore a spare.
const BEGINS: u32 = 1 << 30;

impl<D: Device> MarksInUse<D> {
    /// All targets of `below` but these have a superblock, which is written past a volatile cache if there `is_cache`. One that
    /// `is_kept` in use is never marked as clean. A `bitmap` of so many sectors is written, too.
    pub fn new(
        below: D,
        is_cache: bool,
        absent: &[u32],
        is_kept: bool,
        bitmap: Option<(BitmapSpec, u64)>,
    ) -> Self {
        let all = 0..below.geometry().target_sectors.len() as u32;
        let header = bitmap.map(|(spec, sectors)| Bitmap::of(sectors, spec.bits).header());
        let marks = Marks::with_header(header);
        let mark = Mark {
            marks: if is_kept { marks.kept() } else { marks },
            members: all.filter(|member| !absent.contains(member)).collect(),
            flushes: is_cache,
            waiting: VecDeque::new(),
            writes: 0,
            begins: None,
        };
        Wrapper::around(below, mark)
    }

    /// The same where md begins to restore a `spare` with the first request: it writes the superblocks of all members and of that one,
    /// for which nobody waits.
    #[must_use]
    pub fn restoring(self, spare: u32) -> Self {
        self.changed(|mark| mark.begins = Some(spare))
    }
}

impl Mark {
    /// Sends what waits, up to the next write to a clean array.
    fn go_on<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        while !self.marks.are_written()
            && let Some(&slot) = self.waiting.front()
        {
            let request = io.request(slot);
            if request.op.modifies() {
                if self.marks.take_up() {
                    self.mark(now, io);
                    continue;
                }
                self.writes += 1;
            }
            self.waiting.pop_front();
            *io.note(slot) = now - io.arrived(slot);
            io.send(now, slot, 0, request);
        }
    }

    /// md begins to restore `spare`.
    fn begin<D: Device>(&mut self, now: Nanos, spare: u32, io: &mut Io<'_, Nanos, D>) {
        for &member in self.members.iter().chain([&spare]) {
            if self.flushes {
                io.send_beside(now, BEGINS | FLUSHED | member, Request::flush().to(member));
            } else {
                io.send_beside(now, BEGINS | member, superblock_write(member));
            }
        }
    }

    /// Whether it goes to the spare that takes the place of a member that is down: md restores that without saying that it writes to
    /// the array (`md_write_start` is for the load alone), and what the load writes goes to the other members, too.
    fn is_restored(&self, request: &Request) -> bool {
        !self.members.contains(&request.target)
    }

    fn mark<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.marks.begin();
        self.write_to_all(now, io);
    }

    fn write_to_all<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.marks.sent(self.members.len());
        for &member in &self.members {
            if self.flushes {
                io.send_beside(now, FLUSHED | member, Request::flush().to(member));
            } else {
                io.send_beside(now, member, self.marks.write(member));
            }
        }
    }
}

impl Policy for Mark {
    /// How long it waited for the superblocks, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        if let Some(spare) = self.begins.take() {
            self.begin(now, spare, io);
        }
        let request = io.request(slot);
        if self.is_restored(&request) {
            return io.send(now, slot, 0, request);
        }
        self.waiting.push_back(slot);
        self.go_on(now, io);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Nanos, D>,
    ) {
        let request = io.request(slot);
        if request.op.modifies() && !self.is_restored(&request) {
            self.writes -= 1;
            self.marks.write_done(now);
        }
        spent.add(Part::MARK, *io.note(slot));
        io.finish(now, slot, spent);
    }

    /// A member that has failed has no superblock, and none is missed.
    fn returned_beside<D: Device>(
        &mut self,
        now: Nanos,
        label: u32,
        result: Result<(), Fault>,
        io: &mut Io<'_, Nanos, D>,
    ) {
        if label & BEGINS != 0 {
            if label & FLUSHED != 0 && result.is_ok() {
                let member = label & !(BEGINS | FLUSHED);
                io.send_beside(now, BEGINS | member, superblock_write(member));
            }
            return;
        }
        if label & FLUSHED != 0 && result.is_ok() {
            self.marks.sent(1);
            let member = label & !FLUSHED;
            io.send_beside(now, member, self.marks.write(member));
        }
        self.marks.done();
        if self.marks.goes_on() {
            self.write_to_all(now, io);
        }
        self.go_on(now, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.marks.clean_at()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        let is_written = self.writes > 0 || !self.waiting.is_empty();
        if self.marks.is_due(is_written) {
            self.mark(now, io);
        }
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.marks.forget(self.marks.in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn an_array_is_clean_after_one_to_two_delays() {
        for done_ms in 0..1000 {
            let mut marks = Marks::default();
            marks.write_done(done_ms * MS);
            let after = marks.clean_at().unwrap() - done_ms * MS;
            assert!((DELAY_NS..2 * DELAY_NS).contains(&after), "{done_ms} ms: {after}");
        }
    }

    #[test]
    fn the_superblocks_are_written_once_for_each_pause() {
        let mut marks = Marks::default();
        assert!(!marks.take_up(), "it is in use from the start");
        marks.write_done(0);
        assert!(!marks.is_due(true) && marks.clean_at().is_none(), "somebody writes");
        assert!(marks.is_due(false) && !marks.is_due(false));
        assert!(marks.take_up() && !marks.take_up());
        let mut kept = Marks::default().kept();
        kept.write_done(0);
        kept.forget(0);
        kept.write_done(0);
        assert_eq!(kept.clean_at(), None);
    }
}
