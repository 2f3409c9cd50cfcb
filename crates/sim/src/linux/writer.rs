//! One thread that writes to several arrays of md: while it sleeps for a row of one of them, the others get nothing.
//!
//! Whoever writes to md brings its blocks to the rows itself, and sleeps where none is free (`raid5_make_request`,
//! `raid5_get_active_stripe`). A stripe over arrays sends one chunk after the other from the same thread
//! (`raid0_make_request`), so that arrays side by side write hardly faster than the one that it waits for.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// When an array last let its writer go; none while it has it.
#[derive(Clone, Debug)]
pub struct LetGo(Rc<Cell<Option<Nanos>>>);

impl Default for LetGo {
    fn default() -> Self {
        LetGo(Rc::new(Cell::new(Some(0))))
    }
}

impl LetGo {
    /// The array has given all its blocks to rows.
    pub(super) fn at(&self, now: Nanos) {
        if self.0.get().is_none() {
            self.0.set(Some(now));
        }
    }
}

/// Sends requests to the targets of the device below one after the other.
pub type OneWriter<D> = Wrapper<Write, D>;

/// The state of a [`OneWriter`].
#[derive(Debug)]
pub struct Write {
    /// What says when an array lets it go; none of one that never keeps it.
    arrays: Vec<Option<LetGo>>,
    /// The array that it has sent to last.
    is_in: usize,
    waiting: VecDeque<usize>,
}

impl<D: Device> OneWriter<D> {
    /// A writer to the targets of `below`; those that may keep it say by one of `arrays` when they let it go.
    ///
    /// # Panics
    ///
    /// Where there are not as many.
    pub fn new(below: D, arrays: Vec<Option<LetGo>>) -> Self {
        assert_eq!(arrays.len(), below.geometry().target_sectors.len(), "one a target");
        Wrapper::around(below, Write { arrays, is_in: 0, waiting: VecDeque::new() })
    }
}

impl Write {
    /// Since when it is free to send; none while an array has it.
    fn is_free_since(&self) -> Option<Nanos> {
        self.arrays[self.is_in].as_ref().map_or(Some(0), |array| array.0.get())
    }

    fn go_on<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        while self.is_free_since().is_some()
            && let Some(slot) = self.waiting.pop_front()
        {
            let request = io.request(slot);
            *io.note(slot) = now - io.arrived(slot);
            self.is_in = request.target as usize;
            if let Some(array) = &self.arrays[self.is_in] {
                array.0.set(None);
            }
            io.send(now, slot, 0, request);
        }
    }
}

impl Policy for Write {
    /// How long it waited here, in ns.
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
        spent.add(Part::QUEUE, *io.note(slot));
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.is_free_since().filter(|_| !self.waiting.is_empty())
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.go_on(now, io);
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
    }
}
