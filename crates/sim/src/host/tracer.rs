//! A trace: every request that reaches the device below, with its times.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Fault, Nanos, Spent};
use block::Request;
use std::cell::RefCell;
use std::rc::Rc;

/// Records the requests to the device below.
pub type Tracer<D> = Wrapper<Trace, D>;

/// A request that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it arrived, in ns.
    pub arrived: Nanos,
    /// When it came back, in ns.
    pub done: Nanos,
    /// The request.
    pub request: Request,
    /// Its result.
    pub result: Result<(), Fault>,
}

/// The record of a [`Tracer`], in the order in which requests came back. Clones are the same trace.
#[derive(Clone, Debug, Default)]
pub struct Trace(Rc<RefCell<Vec<Traced>>>);

impl Trace {
    /// Takes what was recorded since the last call.
    pub fn take(&self) -> Vec<Traced> {
        self.0.take()
    }
}

impl<D: Device> Tracer<D> {
    /// Records in `trace` the requests to `below`.
    pub fn new(below: D, trace: &Trace) -> Self {
        Wrapper::around(below, trace.clone())
    }
}

impl Policy for Trace {
    type Note = ();

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, (), D>) {
        let request = io.request(slot);
        io.send(now, slot, 0, request);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        spent: Spent,
        io: &mut Io<'_, (), D>,
    ) {
        let (arrived, request, result) = (io.arrived(slot), io.request(slot), io.result(slot));
        self.0.borrow_mut().push(Traced { arrived, done: now, request, result });
        io.finish(now, slot, spent);
    }

    fn forget_waiting(&mut self) {}
}
