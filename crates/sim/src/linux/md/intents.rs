//! Rows wait for the bitmap: the thread writes it to all members, and sleeps until they have it.

use super::cache::Row;
use super::{BitmapSpec, Carries, Md, Thread};
use crate::linux::bitmap::{Bitmap, Page, page_write};
use crate::linux::queue::{PAGE_SECTORS, Plug};
use crate::{Device, Nanos};
use block::{Op, Request};

/// The bitmap, and what of it is on its way to the members.
#[derive(Clone, Debug)]
pub(super) struct Intents {
    bitmap: Bitmap,
    flushes: bool,
    /// Pages that are being written.
    pages: Vec<Page>,
    /// Flushes and writes of pages that are not done.
    in_flight: usize,
    /// The bits have just been written: rows are handled before the next ones are.
    is_written: bool,
}

impl Intents {
    /// A bitmap of so many sectors of each member.
    pub(super) fn new(spec: BitmapSpec, used_sectors: u64) -> Self {
        Intents {
            bitmap: Bitmap::of(used_sectors, spec.bits),
            flushes: spec.flushes,
            pages: Vec::new(),
            in_flight: 0,
            is_written: false,
        }
    }

    /// The part that a row is in.
    fn part(&self, number: u64) -> u64 {
        self.bitmap.part(number * u64::from(PAGE_SECTORS))
    }

    /// A writer is about to give `row` blocks.
    pub(super) fn begin(&mut self, now: Nanos, row: &mut Row) {
        if row.waiting.is_empty() {
            self.bitmap.begin(now, self.part(row.number.expect("it stands for a row")));
        }
        row.is_intended = true;
    }

    /// The blocks that rows were given are written, or lost.
    pub(super) fn end(&mut self, now: Nanos, numbers: &[u64]) {
        for &number in numbers {
            self.bitmap.end(now, self.part(number));
        }
    }

    /// Nothing that was begun or written is waited for any more; each bit is written again.
    pub(super) fn abort(&mut self) {
        self.bitmap.clear();
        self.pages.clear();
        self.in_flight = 0;
        self.is_written = false;
    }
}

impl<D: Device> Md<D> {
    /// Takes in the rows that were let go of, those that wait for bits no sooner than these are written
    /// (`bitmap_list`, `activate_bit_delay`).
    pub(super) fn take_released(&mut self, now: Nanos) {
        let Some(intents) = &mut self.intents else {
            return self.handle.append(&mut self.released);
        };
        if !std::mem::take(&mut intents.is_written) {
            for &slot in &self.released {
                self.cache.rows[slot].is_intended = false;
            }
            intents.pages = intents.bitmap.take_pages();
            if !intents.pages.is_empty() {
                return self.write_bitmap(now);
            }
        }
        let rows = &self.cache.rows;
        let (wait, go) = self.released.drain(..).partition(|&slot| rows[slot].is_intended);
        self.released = wait;
        self.handle.extend::<std::collections::VecDeque<_>>(go);
    }

    /// Writes the pages to every member that is up (`md_bitmap_unplug`), past each one's cache.
    fn write_bitmap(&mut self, now: Nanos) {
        self.unplug(now);
        self.thread = Thread::WaitsForBitmap;
        self.callers.wait_for_bitmap(now);
        let members = 0..self.layout.members() as u32;
        let up: Vec<u32> = members.filter(|&member| self.health.is_up(member)).collect();
        let intents = self.intents.as_mut().expect("it is kept");
        if !intents.flushes {
            return up.into_iter().for_each(|member| self.write_pages(now, member));
        }
        intents.in_flight += up.len();
        for member in up {
            self.members.flush(now, member, Carries::Bitmap);
        }
    }

    fn write_pages(&mut self, now: Nanos, member: u32) {
        let intents = self.intents.as_mut().expect("it is kept");
        intents.in_flight += intents.pages.len();
        let mut plug = Plug::default();
        for &page in &intents.pages {
            self.members.send(now, &mut plug, page_write(member, page), Carries::Bitmap);
        }
        self.members.unplug(now, &mut plug);
    }

    /// A member is done with a flush or a page. One that has failed has no bitmap, and none is missed.
    pub(super) fn bitmap_done(&mut self, now: Nanos, asked: Request) {
        if asked.op == Op::Flush && self.health.is_up(asked.target) {
            self.write_pages(now, asked.target);
        }
        let intents = self.intents.as_mut().expect("it is kept");
        intents.in_flight -= 1;
        if intents.in_flight == 0 && self.thread == Thread::WaitsForBitmap {
            intents.is_written = true;
            self.callers.have_bitmap(now);
            self.thread = Thread::Runs;
        }
    }
}
