//! Programs that send requests: each one after the other, on a processor of its own.

use super::held::Held;
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use block::Request;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The device below, as so many programs reach it.
pub type Programs<D> = Wrapper<Turns, D>;

/// What a request takes of the program that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How long the program waits, at work for nothing, before the request goes to the device, in ns.
    pub waits_ns: Nanos,
    /// How long its processor is busy with the request, with what it waits, in ns.
    pub busy_ns: Nanos,
    /// How much later than that the request reaches the device, by what the way to it and back adds to each, in ns.
    pub way_ns: Nanos,
}

/// What a request takes of a program that begins it at this time; asked in the order in which programs are free.
pub type Cost = Box<dyn FnMut(Nanos, &Request) -> Turn>;

/// The state of [`Programs`].
pub struct Turns {
    cost: Cost,
    /// When each program can send again.
    free_at: BinaryHeap<Reverse<Nanos>>,
    held: Held,
}

impl<D: Device> Programs<D> {
    /// So many `programs` send to `below`, each a request after the other, which take it as long as `cost` says. One that has been
    /// idle sends at once: the latencies of drives are measured with what the host takes.
    ///
    /// # Panics
    ///
    /// Where there is no program.
    pub fn new(below: D, programs: usize, cost: Cost) -> Self {
        assert!(programs > 0, "somebody sends");
        let free_at = vec![Reverse(0); programs].into();
        Wrapper::around(below, Turns { cost, free_at, held: Held::default() })
    }
}

/// What a request spent before the device, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// It waited for its program, and that for what it waits for.
    queue_ns: Nanos,
    /// On the way.
    way_ns: Nanos,
}

impl Policy for Turns {
    type Note = Before;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Before, D>) {
        let request = io.request(slot);
        let Reverse(free_at) = self.free_at.pop().expect("there is a program");
        let begins = free_at.max(now);
        let turn = (self.cost)(begins, &request);
        self.free_at.push(Reverse(begins + turn.busy_ns));
        let at = begins + turn.waits_ns + turn.way_ns;
        if at == now {
            return io.send(now, slot, 0, request);
        }
        *io.note(slot) = Before { queue_ns: at - now - turn.way_ns, way_ns: turn.way_ns };
        self.held.hold(at, slot);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Before, D>,
    ) {
        let Before { queue_ns, way_ns } = *io.note(slot);
        spent.add(Part::QUEUE, queue_ns);
        spent.add(Part::CPU, way_ns);
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.held.next_event()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Before, D>) {
        self.held.send_due(now, io);
    }

    fn forget_waiting(&mut self) {
        self.held.clear();
    }
}
