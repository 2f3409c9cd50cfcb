//! The writer: whoever calls md brings its request to the rows itself (`raid5_make_request`).

use super::readers::BIO_SECTORS;
use super::restoring::Restores;
use super::thread::add_parts;
use super::{Bio, Carries, Md, Thread};
use crate::linux::queue::PAGE_SECTORS;
use crate::{Device, Nanos, Spent};
use block::{Op, Request};
use std::collections::VecDeque;

/// What has become of bios that are brought to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brought {
    /// The rows have all of it.
    All,
    /// Who brings it sleeps until rows are free.
    LacksRow,
    /// Who brings it sleeps until what it would overwrite is written (`R5_Overlap`).
    Overlaps,
}

impl<D: Device> Md<D> {
    /// Begins on requests that have arrived, one after the other.
    ///
    /// Whatever gives the thread something to do wakes it, and it runs before the program sends its next request: it has a
    /// processor of its own, or takes the program's. Blocks for rows that are in flight wake nobody, and what is sent while
    /// the thread sleeps for a member meets rows that it has not come to. While one request waits for rows its program sends
    /// nothing, and here no other does. Write-back goes on until it sleeps: what it has added is held back until then
    /// (`blk_start_plug`).
    pub(super) fn admit(&mut self, now: Nanos) {
        self.fill_rows(now);
        let is_plugged = self.delayed.is_some();
        while self.bios.is_empty()
            && (is_plugged || !self.thread_is_wanted())
            && self.may_begin(now)
            && let Some((caller, is_sync)) = self.arrived.pop_front()
        {
            self.begin(now, caller, is_sync);
            self.fill_rows(now);
        }
    }

    fn begin(&mut self, now: Nanos, caller: usize, is_sync: bool) {
        let request = self.callers.request(caller);
        self.busy_to = self.driver.processor.work(now, self.driver.request_ns).1;
        match request.op {
            Op::Flush => {
                let members = if self.members.need_flushes() { self.layout.members() } else { 0 };
                for member in 0..members as u32 {
                    let flush = Request::flush().to(member);
                    self.callers.add_parts(caller, 1);
                    self.members.flush(now, member, Carries::Direct(caller, flush));
                }
                self.callers.part_done(now, caller, Spent::NONE, None);
            }
            // md passes discards on only where it is told that they read as zeroes
            // (`devices_handle_discard_safely`).
            Op::Discard => self.callers.part_done(now, caller, Spent::NONE, None),
            Op::Read => self.begin_read(now, caller, request),
            Op::Write { .. } | Op::Zeroes if self.delayed.is_some() => {
                let bio = Bio::of_pages(caller, request.sector, request.end());
                self.bios.push_back(Bio { is_sync, ..bio });
            }
            Op::Write { .. } | Op::Zeroes if self.is_left_to_workers(&request) => {
                self.leave_to_workers(caller);
            }
            Op::Write { .. } | Op::Zeroes => self.push_bios(caller, request.sector, request.end()),
        }
    }

    pub(super) fn push_bios(&mut self, caller: usize, start: u64, end: u64) {
        if self.delayed.is_some() {
            return self.bios.push_back(Bio::of_pages(caller, start, end));
        }
        let bios = self.bios_of(caller, start, end);
        self.bios.extend(bios);
    }

    /// The bios of a direct request.
    pub(super) fn bios_of(&self, caller: usize, start: u64, end: u64) -> VecDeque<Bio> {
        let chunk = self.rows.chunk_sectors();
        let mut bios = VecDeque::new();
        let mut sector = start;
        while sector < end {
            let chunk_end = (sector / chunk + 1) * chunk;
            let cut = if self.is_cut_at_chunks { chunk_end } else { end };
            let next = (sector + BIO_SECTORS).min(end).min(cut);
            let bio = Bio::new(caller, sector, next, next == end);
            bios.push_back(Bio { before: self.pages_before_first(&bio), ..bio });
            sector = next;
        }
        bios
    }

    /// A bio that goes on in a second chunk begins there, where the row begins, unless the first lies on the last of the
    /// members that are not parity's (`raid5_bio_lowest_chunk_sector`). Which member is last says nothing of whether the
    /// second chunk is of the same row.
    fn pages_before_first(&self, bio: &Bio) -> u64 {
        let page = u64::from(PAGE_SECTORS);
        let start = bio.first_page() * page;
        let chunk = self.rows.chunk_sectors();
        let in_first = chunk - start % chunk;
        if in_first >= bio.end - bio.start {
            return 0;
        }
        let (number, unit) = self.rows.of(start);
        let first = self.place(number, unit as u32).member;
        let is_parity = |member| {
            (self.data..self.data + self.parities)
                .any(|unit| self.place(number, unit).member == member)
        };
        let has_next = (first + 1..self.data + self.parities).any(|member| !is_parity(member));
        if has_next { in_first / page } else { 0 }
    }

    /// The program gives rows their blocks until there is nothing left to give, or it sleeps.
    pub(super) fn fill_rows(&mut self, now: Nanos) {
        let mut bios = std::mem::take(&mut self.bios);
        self.bring(now, &mut bios, false);
        self.bios = bios;
    }

    /// Gives rows the blocks of `bios`, of which those are left that are not brought. Who `lacks_row` has slept for one.
    pub(super) fn bring(
        &mut self,
        now: Nanos,
        bios: &mut VecDeque<Bio>,
        mut lacks_row: bool,
    ) -> Brought {
        while let Some(bio) = bios.front_mut() {
            while let Some(sector) = bio.next() {
                let brought = self.fill_row(now, bio, sector, std::mem::take(&mut lacks_row));
                if brought != Brought::All {
                    return brought;
                }
                bio.over += 1;
            }
            let Bio { caller, last, .. } = *bio;
            bios.pop_front();
            if last {
                self.callers.part_done(now, caller, Spent::NONE, None);
            }
        }
        Brought::All
    }

    /// Adds to the row of `sector` all blocks that `bio` has in it, unless it has done so already.
    fn fill_row(&mut self, now: Nanos, bio: &Bio, sector: u64, lacks_row: bool) -> Brought {
        let page = u64::from(PAGE_SECTORS);
        let (number, unit) = self.rows.of(sector);
        let chunk = self.rows.chunk_sectors();
        let block = |other: u64| sector - unit * chunk + other * chunk;
        let units = bio.units(unit, u64::from(self.data), block);
        if units.clone().any(|unit| bio.is_over(block(unit))) {
            return Brought::All;
        }
        let taken = if lacks_row { self.cache.take_woken(number) } else { self.cache.take(number) };
        let Some(slot) = taken else { return Brought::LacksRow };
        let reads = self.callers.request(bio.caller).op == Op::Read;
        let sectors = |unit: u64| {
            let start = bio.start.max(block(unit)) - block(unit);
            let end = bio.end.min(block(unit) + page) - block(unit);
            (unit as u32, (u8::MAX >> (8 - (end - start))) << start)
        };
        let parts = || units.clone().map(sectors);
        let row = &mut self.cache.rows[slot];
        if reads {
            let units = parts().map(|(unit, _)| 1 << unit).sum();
            row.readers.push((units, bio.caller));
            self.callers.add_parts(bio.caller, 1);
        } else {
            // A block that waits to be written already: the writer sleeps until it is (R5_Overlap).
            if parts().any(|(unit, sectors)| row.covered.overlaps(unit, sectors)) {
                return Brought::Overlaps;
            }
            if let Some(intents) = &mut self.intents {
                intents.begin(now, row);
            }
            for (unit, sectors) in parts() {
                row.covered.add(unit, sectors);
            }
            let units = (units.end - units.start) as u32;
            add_parts(&mut row.waiting, bio.caller, units);
            self.callers.add_parts(bio.caller, units);
        }
        let has_joined = !reads && self.join(slot);
        if has_joined {
            // Its head has its turn for it.
            self.ends_reading(slot);
        } else if bio.is_sync {
            self.may_read_at_once(slot);
        }
        if !has_joined && self.cache.rows[slot].steps == 0 {
            self.give(slot);
        }
        Brought::All
    }

    /// Whole rows of one chunk that nobody has handled yet are written as one (`stripe_add_to_batch_list`).
    fn join(&mut self, slot: usize) -> bool {
        let row = &self.cache.rows[slot];
        let number = row.number.expect("it stands for a row");
        let all = (1 << self.data) - 1;
        let may = |row: &super::cache::Row| {
            row.joinable && row.active && row.covered.whole == all && row.readers.is_empty()
        };
        if row.head.is_some() {
            return true;
        }
        if !may(row) || !row.batch.is_empty() || number.is_multiple_of(self.rows.in_chunk()) {
            return false;
        }
        let Some(before) = self.cache.before(slot) else { return false };
        if !may(&self.cache.rows[before]) {
            return false;
        }
        let head = self.cache.rows[before].head.unwrap_or(before);
        self.cache.rows[slot].head = Some(head);
        self.cache.rows[head].batch.push(slot);
        true
    }

    /// A row has blocks for the thread to look at, at once or when the writer lets go of it (`release_stripe_plug`).
    fn give(&mut self, slot: usize) {
        if !self.writer.is_plugged() {
            return self.release(slot);
        }
        self.take_unplugged();
        self.plugged_since = self.writer.unplugs();
        self.plugged.push(slot);
    }

    /// Takes in the rows that the writer has let go of.
    pub(super) fn take_unplugged(&mut self) {
        if self.plugged_since != self.writer.unplugs() {
            for slot in std::mem::take(&mut self.plugged) {
                self.release(slot);
            }
        }
    }

    /// A row has something for the thread to look at.
    pub(super) fn release(&mut self, slot: usize) {
        self.retries.row_released();
        let row = &mut self.cache.rows[slot];
        // Who restores it has it, and lets go of it later.
        if !row.queued && row.restores != Restores::Held {
            row.queued = true;
            self.released.push_back(slot);
        }
    }

    /// Whether the thread sleeps and is woken.
    pub(super) fn thread_is_wanted(&self) -> bool {
        self.thread == Thread::Sleeps && (!self.released.is_empty() || self.retries.are_ready())
    }

    /// Whether the writer could go on: the thread is not in the middle of a pass.
    pub(super) fn thread_is_idle(&self) -> bool {
        self.thread != Thread::Runs
    }
}
