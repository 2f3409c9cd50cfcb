//! A queue depth: at most that many requests of each target are at the device; the others wait in order
//! of arrival.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use std::collections::VecDeque;

/// Limits the queue depth of the device below.
pub type Limiter<D> = Wrapper<Limit, D>;

/// The state of a [`Limiter`].
#[derive(Clone, Debug)]
pub struct Limit {
    depth: u32,
    /// For each target, how many requests are below, and which wait.
    targets: Vec<(u32, VecDeque<usize>)>,
}

impl<D: Device> Limiter<D> {
    /// At most `depth` requests of each target of `below` are below at a time.
    ///
    /// # Panics
    ///
    /// Where `depth` is zero.
    pub fn new(below: D, depth: u32) -> Self {
        assert!(depth > 0, "a request that may never go never comes back");
        let targets = vec![(0, VecDeque::new()); below.geometry().target_sectors.len()];
        Wrapper::around(below, Limit { depth, targets })
    }
}

impl Policy for Limit {
    /// How long it waited here, in ns.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let request = io.request(slot);
        let (below, waiting) = &mut self.targets[request.target as usize];
        if *below == self.depth {
            waiting.push_back(slot);
        } else {
            *below += 1;
            io.send(now, slot, 0, request);
        }
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Nanos, D>,
    ) {
        let (below, waiting) = &mut self.targets[io.request(slot).target as usize];
        spent.add(Part::QUEUE, *io.note(slot));
        io.finish(now, slot, spent);
        match waiting.pop_front() {
            Some(next) => {
                *io.note(next) = now - io.arrived(next);
                let request = io.request(next);
                io.send(now, next, 0, request);
            }
            None => *below -= 1,
        }
    }

    fn forget_waiting(&mut self) {
        for (_, waiting) in &mut self.targets {
            waiting.clear();
        }
    }
}
