//! One thread that writes to several arrays of md: while it sleeps for a row of one of them, the others get nothing.
//!
//! Whoever writes to md brings its blocks to the rows itself, and sleeps where none is free (`raid5_make_request`,
//! `raid5_get_active_stripe`). A stripe over arrays sends one chunk after the other from the same thread
//! (`raid0_make_request`). The rows that a write has been given to are held back until all of it is sent or the thread sleeps
//! (`blkdev_write_iter` has a plug, `release_stripe_plug`), so that the chunks of one write fill whole rows of each array.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use block::Request;
use slab::Slab;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Where a thread is that writes to arrays of md: each of them has a copy of this.
#[derive(Clone, Debug, Default)]
pub struct Writer(Rc<Whereabouts>);

#[derive(Debug, Default)]
struct Whereabouts {
    /// Whether an array has it.
    is_in: Cell<bool>,
    /// When an array last let it go.
    let_go_at: Cell<Nanos>,
    /// Whether it holds rows back.
    is_plugged: Cell<bool>,
    /// How often it has let go of the rows that it held back, and when it last did.
    unplugs: Cell<u64>,
    unplugged_at: Cell<Nanos>,
}

impl Writer {
    /// It brings blocks to an array.
    pub(super) fn enters(&self) {
        self.0.is_in.set(true);
    }

    /// The array has given all its blocks to rows.
    pub(super) fn leaves(&self, now: Nanos) {
        self.0.is_in.set(false);
        self.0.let_go_at.set(now);
    }

    /// It lets go of the rows that it holds back: all is sent, or it sleeps.
    pub(super) fn unplug(&self, now: Nanos) {
        self.0.unplugs.set(self.0.unplugs.get() + 1);
        self.0.unplugged_at.set(now);
    }

    /// Whether it holds back the rows to which it gives blocks.
    pub(super) fn is_plugged(&self) -> bool {
        self.0.is_plugged.get()
    }

    /// How often it has let go of rows that it held back.
    pub(super) fn unplugs(&self) -> u64 {
        self.0.unplugs.get()
    }

    /// When it last did.
    pub(super) fn unplugged_at(&self) -> Nanos {
        self.0.unplugged_at.get()
    }

    /// Since when no array has it.
    fn is_free_since(&self) -> Option<Nanos> {
        (!self.0.is_in.get()).then(|| self.0.let_go_at.get())
    }

    fn plug(&self, is_plugged: bool) {
        self.0.is_plugged.set(is_plugged);
    }
}

/// Sends requests to the device below one after the other, in pieces of a stripe.
pub type OneWriter<D> = Wrapper<Write, D>;

/// The state of a [`OneWriter`].
#[derive(Debug)]
pub struct Write {
    writer: Writer,
    interleave_sectors: u64,
    waiting: VecDeque<usize>,
    sending: Option<Sending>,
    /// All of a request is sent, and what it holds back is let go of as soon as the last array lets go of the writer.
    is_sent: bool,
    /// When it goes on: the threads of the arrays come first.
    goes_on_at: Option<Nanos>,
    /// How long each piece in flight waited for the writer, in ns.
    waited_ns: Slab<Nanos>,
}

/// A request of which not all pieces are sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    slot: usize,
    request: Request,
    next: u64,
}

impl<D: Device> OneWriter<D> {
    /// `writer` brings to what is below, a stripe over arrays that know it, each request in pieces of at most
    /// `interleave_sectors`.
    ///
    /// # Panics
    ///
    /// Where these are none.
    pub fn new(below: D, interleave_sectors: u64, writer: Writer) -> Self {
        assert!(interleave_sectors > 0, "a piece has sectors");
        let write = Write {
            writer,
            interleave_sectors,
            waiting: VecDeque::new(),
            sending: None,
            is_sent: false,
            goes_on_at: None,
            waited_ns: Slab::new(),
        };
        Wrapper::around(below, write)
    }
}

impl Write {
    fn go_on<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, (), D>) {
        while self.goes_on_at.is_none() && self.writer.is_free_since().is_some() {
            if std::mem::take(&mut self.is_sent) {
                self.let_go(now);
            } else if let Some(sending) = self.sending.take().or_else(|| self.begin(io)) {
                self.send_piece(now, sending, io);
            } else {
                return;
            }
        }
    }

    fn begin<D: Device>(&mut self, io: &mut Io<'_, (), D>) -> Option<Sending> {
        let slot = self.waiting.pop_front()?;
        let request = io.request(slot);
        self.writer.plug(request.op.modifies());
        Some(Sending { slot, request, next: request.sector })
    }

    fn send_piece<D: Device>(&mut self, now: Nanos, sending: Sending, io: &mut Io<'_, (), D>) {
        let Sending { slot, request, next } = sending;
        let chunk_end = (next / self.interleave_sectors + 1) * self.interleave_sectors;
        let end = chunk_end.min(request.end());
        let label = self.waited_ns.insert(now - io.arrived(slot)) as u32;
        io.send(
            now,
            slot,
            label,
            Request { sector: next, sectors: (end - next) as u32, ..request },
        );
        self.is_sent = end == request.end();
        self.sending = (!self.is_sent).then_some(Sending { next: end, ..sending });
    }

    /// A request is sent, or given up.
    fn let_go(&mut self, now: Nanos) {
        if self.writer.is_plugged() {
            self.writer.plug(false);
            self.writer.unplug(now);
            self.goes_on_at = Some(now);
        }
    }
}

impl Policy for Write {
    type Note = ();

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, (), D>) {
        self.waiting.push_back(slot);
        self.go_on(now, io);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        label: u32,
        mut spent: Spent,
        io: &mut Io<'_, (), D>,
    ) {
        spent.add(Part::QUEUE, self.waited_ns.remove(label as usize));
        let is_sending = self.sending.is_some_and(|sending| sending.slot == slot);
        if io.in_flight(slot) > 0 || (is_sending && io.result(slot).is_ok()) {
            return;
        }
        if is_sending {
            self.sending = None;
            self.let_go(now);
        }
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        let has_more = self.is_sent || self.sending.is_some() || !self.waiting.is_empty();
        self.goes_on_at.or_else(|| self.writer.is_free_since().filter(|_| has_more))
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, (), D>) {
        self.goes_on_at = None;
        self.go_on(now, io);
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.sending = None;
        self.is_sent = false;
        self.goes_on_at = None;
        self.writer.plug(false);
    }
}
