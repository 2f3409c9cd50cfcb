//! A slow disk: each request to it is delayed before the device below sees it.

use super::held::Held;
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};

/// Delays requests to one target of the device below.
pub type Delay<D> = Wrapper<HoldBack, D>;

/// The requests that a [`Delay`] is delaying.
#[derive(Clone, Debug)]
pub struct HoldBack {
    target: u32,
    delay_ns: Nanos,
    /// When each is sent, in order.
    held: Held,
}

impl<D: Device> Delay<D> {
    /// Delays every request to `target` of `below` by `delay_ns`.
    ///
    /// # Panics
    ///
    /// Where `below` has no such target.
    pub fn new(below: D, target: u32, delay_ns: Nanos) -> Self {
        let targets = below.geometry().target_sectors.len();
        assert!((target as usize) < targets, "target {target} of {targets}");
        Wrapper::around(below, HoldBack { target, delay_ns, held: Held::default() })
    }
}

impl Policy for HoldBack {
    type Note = ();

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, (), D>) {
        let request = io.request(slot);
        if request.target == self.target {
            self.held.hold(now + self.delay_ns, slot);
        } else {
            io.send(now, slot, 0, request);
        }
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, (), D>,
    ) {
        if io.request(slot).target == self.target {
            spent.add(Part::QUEUE, self.delay_ns);
        }
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.held.next_event()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, (), D>) {
        self.held.send_due(now, io);
    }

    fn forget_waiting(&mut self) {
        self.held.clear();
    }
}
