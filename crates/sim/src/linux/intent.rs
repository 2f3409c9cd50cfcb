//! The bitmap of md's RAID 1 and 10: a write to a part whose bit is not set waits until all members have it.
//!
//! Whoever sends a request has it written itself, and sleeps (`raid1_unplug`). A program that sends one request after
//! the other pays for each, however many are in flight, and sends nothing else meanwhile, not even what it reads; so does
//! the model: one part at a time, in order of arrival, and whatever arrives in between waits.
//! RAID 4, 5 and 6 leave it to their thread, for many rows at once: `md/intents.rs`.

use super::bitmap::{Bitmap, BitmapSpec, Page, page_write};
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Fault, Nanos, Part, Spent};
use block::{Op, Request};
use std::collections::VecDeque;

/// Keeps a bitmap on the members of the device below.
pub type WriteIntents<D> = Wrapper<Intend, D>;

/// The sector of what the bitmap is of that a sector of a member stands for.
pub type SectorOf = Box<dyn Fn(u32, u64) -> u64>;

/// The state of [`WriteIntents`].
pub struct Intend {
    sector_of: SectorOf,
    bitmap: Bitmap,
    /// The members that have the bitmap: those that are down, or are being restored, do not.
    members: Vec<u32>,
    flushes: bool,
    /// What the sender has not come to yet, in order of arrival.
    waiting: VecDeque<usize>,
    /// The one whose bit is being written, and its part.
    going: Option<(usize, u64)>,
    pages: Vec<Page>,
    /// Flushes and writes of pages that are not done.
    in_flight: usize,
    /// When the sender comes to its next request: it has sent the one before to the members.
    goes_on_at: Option<Nanos>,
}

/// What comes back: a member's flush, or a page.
const FLUSHED: u32 = 1 << 31;

impl<D: Device> WriteIntents<D> {
    /// A bitmap of `sectors` on all targets of `below` but these, which are down or being restored: what is written to them is
    /// written to others, too, or is no caller's.
    pub fn new(
        below: D,
        spec: BitmapSpec,
        sectors: u64,
        sector_of: SectorOf,
        absent: &[u32],
    ) -> Self {
        let all = 0..below.geometry().target_sectors.len() as u32;
        let members = all.filter(|member| !absent.contains(member)).collect();
        let intend = Intend {
            sector_of,
            bitmap: Bitmap::of(sectors, spec.bits),
            members,
            flushes: spec.flushes,
            waiting: VecDeque::new(),
            going: None,
            pages: Vec::new(),
            in_flight: 0,
            goes_on_at: None,
        };
        Wrapper::around(below, intend)
    }
}

impl Intend {
    fn part(&self, request: Request) -> u64 {
        self.bitmap.part((self.sector_of)(request.target, request.sector))
    }

    /// Whether a request needs the bit of its part.
    fn sets_bits(&self, request: Request) -> bool {
        !matches!(request.op, Op::Read | Op::Flush) && self.members.contains(&request.target)
    }

    /// Whether the sender is asleep, or has not come to its next request yet.
    fn is_held(&self) -> bool {
        self.in_flight > 0 || self.goes_on_at.is_some()
    }

    /// Sends what waits, up to the next write whose bit is not set: that is written (`md_bitmap_unplug`).
    fn go_on<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        while !self.is_held() {
            let Some(slot) = self.waiting.pop_front() else { return };
            if self.begin_if_ready(now, io.request(slot)) {
                let_go(now, slot, io);
            } else {
                self.set_bit(now, slot, io);
            }
        }
    }

    /// Begins a request that may go, as it writes nothing or its part has its bit; gives whether it may.
    fn begin_if_ready(&mut self, now: Nanos, request: Request) -> bool {
        if !self.sets_bits(request) {
            return true;
        }
        let part = self.part(request);
        let is_set = self.bitmap.is_set(now, part);
        if is_set {
            self.bitmap.begin(now, part);
        }
        is_set
    }

    /// Has the bit of a write's part written.
    fn set_bit<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let part = self.part(io.request(slot));
        self.bitmap.begin(now, part);
        self.pages = self.bitmap.take_pages();
        self.going = Some((slot, part));
        for member in self.members.clone() {
            if self.flushes {
                self.in_flight += 1;
                io.send_beside(now, FLUSHED | member, Request::flush().to(member));
            } else {
                self.write_pages(now, member, io);
            }
        }
    }

    /// The other copies of a write that may go follow it at once.
    fn let_go_copies<D: Device>(&mut self, now: Nanos, part: u64, io: &mut Io<'_, Nanos, D>) {
        while let Some(&slot) = self.waiting.front() {
            let request = io.request(slot);
            if !self.sets_bits(request) || self.part(request) != part {
                break;
            }
            self.waiting.pop_front();
            self.bitmap.begin(now, part);
            let_go(now, slot, io);
        }
    }

    fn write_pages<D: Device>(&mut self, now: Nanos, member: u32, io: &mut Io<'_, Nanos, D>) {
        self.in_flight += self.pages.len();
        for &page in &self.pages {
            io.send_beside(now, member, page_write(member, page));
        }
    }
}

/// Sends a request that the sender has come to.
fn let_go<D: Device>(now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
    *io.note(slot) = now - io.arrived(slot);
    let request = io.request(slot);
    io.send(now, slot, 0, request);
}

impl Policy for Intend {
    /// How long it waited for its bit, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
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
        if self.sets_bits(request) {
            self.bitmap.end(now, self.part(request));
        }
        spent.add(Part::BITMAP, *io.note(slot));
        io.finish(now, slot, spent);
    }

    /// A member that has failed has no bitmap, and none is missed.
    fn returned_beside<D: Device>(
        &mut self,
        now: Nanos,
        label: u32,
        result: Result<(), Fault>,
        io: &mut Io<'_, Nanos, D>,
    ) {
        if label & FLUSHED != 0 && result.is_ok() {
            self.write_pages(now, label & !FLUSHED, io);
        }
        self.in_flight -= 1;
        if self.in_flight == 0 {
            if let Some((slot, part)) = self.going.take() {
                let_go(now, slot, io);
                self.let_go_copies(now, part, io);
            }
            self.goes_on_at = Some(now + 1);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.goes_on_at
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.goes_on_at = None;
        self.go_on(now, io);
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.going = None;
        self.pages.clear();
        self.goes_on_at = None;
        self.bitmap.clear();
    }
}
