//! Programs that send requests: each one after the other, on a processor of its own.

use super::held::Held;
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use std::collections::VecDeque;

/// The device below, as so many programs reach it.
pub type Programs<D> = Wrapper<Turns, D>;

/// The state of [`Programs`].
#[derive(Clone, Debug)]
pub struct Turns {
    request_ns: Nanos,
    /// When each program can send again, the earliest first.
    free_at: VecDeque<Nanos>,
    held: Held,
}

impl<D: Device> Programs<D> {
    /// So many `programs` send to `below`, each a request every `request_ns` at most. One that has been idle sends at once: the
    /// latencies of drives are measured with what the host takes.
    ///
    /// # Panics
    ///
    /// Where there is no program.
    pub fn new(below: D, programs: usize, request_ns: Nanos) -> Self {
        assert!(programs > 0, "somebody sends");
        let free_at = VecDeque::from(vec![0; programs]);
        Wrapper::around(below, Turns { request_ns, free_at, held: Held::default() })
    }
}

impl Policy for Turns {
    /// How long it waited for its program, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        // All take as long, so whoever has begun first can send again first.
        let at = self.free_at.pop_front().expect("there is a program").max(now);
        self.free_at.push_back(at + self.request_ns);
        if at == now {
            let request = io.request(slot);
            return io.send(now, slot, 0, request);
        }
        *io.note(slot) = at - now;
        self.held.hold(at, slot);
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
        self.held.next_event()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.held.send_due(now, io);
    }

    fn forget_waiting(&mut self) {
        self.held.clear();
    }
}
