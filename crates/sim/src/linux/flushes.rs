//! md flushes an array once at a time, and one flush is for all that ask meanwhile (`md_flush_request`).
//!
//! A flush of the array goes to all its members. Programs that ask for one while it is under way sleep until it is over; then
//! the next is sent, for all of them. So where several programs commit, each waits for up to two flushes, and the members
//! see no more of them for more programs.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use block::Op;

/// A sleeper that wakes comes after what others send at the same instant, and what they send is flushed, too.
const WAKES_NS: Nanos = 1;

/// Flushes the array below once at a time.
pub type SharedFlushes<D> = Wrapper<ShareFlushes, D>;

/// The state of [`SharedFlushes`].
#[derive(Clone, Debug, Default)]
pub struct ShareFlushes {
    /// Those that the flush under way is for: the first was sent.
    served: Vec<usize>,
    /// Those that the next is for.
    waiting: Vec<usize>,
    /// When the next is sent.
    next_at: Option<Nanos>,
}

impl<D: Device> SharedFlushes<D> {
    /// One flush at a time to the array `below`.
    ///
    /// # Panics
    ///
    /// Where `below` is not one target.
    pub fn new(below: D) -> Self {
        assert_eq!(below.geometry().target_sectors.len(), 1, "an array is one target");
        Wrapper::around(below, ShareFlushes::default())
    }
}

impl ShareFlushes {
    /// Sends one flush for all that wait.
    fn send_next<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.next_at = None;
        self.served = std::mem::take(&mut self.waiting);
        for &slot in &self.served {
            *io.note(slot) = now - io.arrived(slot);
        }
        if let Some(&first) = self.served.first() {
            let flush = io.request(first);
            io.send(now, first, 0, flush);
        }
    }
}

impl Policy for ShareFlushes {
    /// How long it waited here, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let request = io.request(slot);
        if request.op != Op::Flush {
            return io.send(now, slot, 0, request);
        }
        self.waiting.push(slot);
        if self.served.is_empty() && self.next_at.is_none() {
            self.send_next(now, io);
        }
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        spent: Spent,
        io: &mut Io<'_, Nanos, D>,
    ) {
        if io.request(slot).op != Op::Flush {
            return io.finish(now, slot, spent);
        }
        let result = io.result(slot);
        for served in std::mem::take(&mut self.served) {
            if let Err(fault) = result {
                io.fail(served, fault);
            }
            let mut spent = spent;
            spent.add(Part::QUEUE, *io.note(served));
            io.finish(now, served, spent);
        }
        if !self.waiting.is_empty() {
            self.next_at = Some(now + WAKES_NS);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.next_at
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.send_next(now, io);
    }

    /// The one that was sent comes back by itself.
    fn forget_waiting(&mut self) {
        self.served.truncate(1);
        self.waiting.clear();
        self.next_at = None;
    }
}
