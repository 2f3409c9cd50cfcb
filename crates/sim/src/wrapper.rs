//! A device around a device: what all of these have in common, written once.
//!
//! A [`Policy`] decides what to send to the device below, and when. The wrapper names commands, tracks
//! which requests are in flight, done, durable, lost or aborted, and orders events. A policy is a few
//! dozen lines; `host/limiter.rs` is the shortest to start from.

use crate::outbox::{Outbox, earlier};
use crate::progress::Progress;
use crate::{
    Advance, Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag,
};
use block::Request;
use slab::Slab;

/// The decisions of a device around a device.
pub trait Policy {
    /// Its note on each request.
    type Note: Default;

    /// The request in `slot` arrived.
    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Self::Note, D>);

    /// A command for the request in `slot` came back; `spent` says where its time went, and `label` is
    /// the one it was sent with. The policy calls [`Io::finish`] for the request, at the latest when
    /// the last of its commands is back.
    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        label: u32,
        spent: Spent,
        io: &mut Io<'_, Self::Note, D>,
    );

    /// A command that was sent beside the requests came back.
    fn returned_beside<D: Device>(
        &mut self,
        _now: Nanos,
        _label: u32,
        _result: Result<(), Fault>,
        _io: &mut Io<'_, Self::Note, D>,
    ) {
    }

    /// All that the request in `slot` changed is durable, or lost.
    fn settled<D: Device>(&mut self, _now: Nanos, _slot: usize, _io: &mut Io<'_, Self::Note, D>) {}

    /// When it has something to do without an event from below.
    fn next_event(&self) -> Option<Nanos> {
        None
    }

    /// Does what is due at `now`.
    fn due<D: Device>(&mut self, _now: Nanos, _io: &mut Io<'_, Self::Note, D>) {}

    /// A reset or a power cut: requests with nothing in flight are returned, and it drops them.
    fn forget_waiting(&mut self);
}

/// The device `D` behind the policy `P`. It has the targets of `D`.
pub struct Wrapper<P: Policy, D> {
    policy: P,
    below: D,
    requests: Slab<Kept<P::Note>>,
    outbox: Outbox,
    events: Vec<Event>,
}

/// Where a command stands that no request has.
const BESIDE: usize = u32::MAX as usize;

/// A request that is not over.
struct Kept<N> {
    tag: Tag,
    request: Request,
    arrived: Nanos,
    progress: Progress,
    note: N,
}

/// What a [`Policy`] works with: the requests, the device below, and the events to return.
pub struct Io<'a, N, D> {
    below: &'a mut D,
    requests: &'a mut Slab<Kept<N>>,
    outbox: &'a mut Outbox,
}

impl<N, D: Device> Io<'_, N, D> {
    /// The geometry of the device below.
    pub fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    /// The request in `slot`.
    pub fn request(&self, slot: usize) -> Request {
        self.requests[slot].request
    }

    /// When the request in `slot` arrived.
    pub fn arrived(&self, slot: usize) -> Nanos {
        self.requests[slot].arrived
    }

    /// The policy's note on the request in `slot`.
    pub fn note(&mut self, slot: usize) -> &mut N {
        &mut self.requests[slot].note
    }

    /// How many commands for the request in `slot` are in flight.
    pub fn in_flight(&self, slot: usize) -> u32 {
        self.requests[slot].progress.in_flight()
    }

    /// The results so far of the commands for the request in `slot`.
    ///
    /// # Errors
    ///
    /// The first fault among them, or the one that aborted them.
    pub fn result(&self, slot: usize) -> Result<(), Fault> {
        self.requests[slot].progress.result()
    }

    /// The request in `slot` fails, whatever becomes of its commands.
    pub fn fail(&mut self, slot: usize, fault: Fault) {
        self.requests[slot].progress.fail(fault);
    }

    /// Sends `command` below for the request in `slot`.
    pub fn send(&mut self, now: Nanos, slot: usize, label: u32, command: Request) {
        self.requests[slot].progress.sent(1);
        self.below.submit(now, Tag::from(label) << 32 | slot as Tag, command);
    }

    /// Sends `command` below for no request: what becomes of it concerns none.
    pub fn send_beside(&mut self, now: Nanos, label: u32, command: Request) {
        self.below.submit(now, Tag::from(label) << 32 | BESIDE as Tag, command);
    }

    /// The request in `slot` is done, with the result of its commands.
    pub fn finish(&mut self, at: Nanos, slot: usize, spent: Spent) {
        let Kept { tag, progress, .. } = &mut self.requests[slot];
        progress.finish();
        self.outbox.push(Event::Done { tag: *tag, at, result: progress.result(), spent });
        self.let_go(at, slot);
    }

    /// Drops the request in `slot` if nothing more can happen to it.
    fn let_go(&mut self, at: Nanos, slot: usize) {
        let Kept { tag, request, progress, .. } = &self.requests[slot];
        if progress.is_over() {
            if let Some(event) = progress.last_word(at, *tag, request.op, progress.is_lost()) {
                self.outbox.push(event);
            }
            self.requests.remove(slot);
        }
    }
}

impl<P: Policy, D: Device> Wrapper<P, D> {
    /// `below` with `policy` in front of it.
    pub fn around(below: D, policy: P) -> Self {
        Wrapper {
            policy,
            below,
            requests: Slab::new(),
            outbox: Outbox::default(),
            events: Vec::new(),
        }
    }

    /// The same with its policy changed.
    #[must_use]
    pub(crate) fn changed(mut self, change: impl FnOnce(&mut P)) -> Self {
        change(&mut self.policy);
        self
    }

    /// The device below.
    pub fn below(&self) -> &D {
        &self.below
    }

    /// The policy.
    pub(crate) fn policy(&self) -> &P {
        &self.policy
    }

    /// The policy, to be changed.
    pub(crate) fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    /// The policy, and what it works with.
    fn parts(&mut self) -> (&mut P, Io<'_, P::Note, D>) {
        let Wrapper { policy, below, requests, outbox, .. } = self;
        (policy, Io { below, requests, outbox })
    }

    #[inline]
    fn returned(&mut self, at: Nanos, tag: Tag, result: Result<(), Fault>, spent: Spent) {
        let (slot, label) = (tag as u32 as usize, (tag >> 32) as u32);
        if slot == BESIDE {
            let (policy, mut io) = self.parts();
            return policy.returned_beside(at, label, result, &mut io);
        }
        let Kept { progress, request, .. } = &mut self.requests[slot];
        progress.returned(result, request.op.modifies());
        let (policy, mut io) = self.parts();
        policy.returned(at, slot, label, spent, &mut io);
    }

    fn settled(&mut self, at: Nanos, tag: Tag, lost: bool) {
        let slot = tag as u32 as usize;
        if slot == BESIDE {
            return;
        }
        let progress = &mut self.requests[slot].progress;
        progress.settled(lost);
        if lost && !progress.is_finished() {
            progress.fail(Fault::Failed);
        }
        let is_settled = progress.is_settled();
        let (policy, mut io) = self.parts();
        if is_settled {
            policy.settled(at, slot, &mut io);
        }
        io.let_go(at, slot);
    }

    fn advance_below(&mut self, now: Nanos) {
        self.below.advance(now, &mut self.events);
        for index in 0..self.events.len() {
            match self.events[index] {
                Event::Done { tag, at, result, ref spent } => {
                    let spent = *spent;
                    self.returned(at, tag, result, spent);
                }
                Event::Durable { tag, at } => self.settled(at, tag, false),
                Event::Lost { tag, at } => self.settled(at, tag, true),
            }
        }
        self.events.clear();
    }
}

impl<P: Policy, D: Device> Wrapper<P, D> {
    /// Cuts the power of all of it, and says what is lost of what was done.
    pub(crate) fn cut(&mut self, now: Nanos) {
        let done = self.requests.iter().filter(|(_, kept)| kept.progress.is_finished());
        let lost: Vec<Event> = done
            .filter_map(|(_, kept)| kept.progress.last_word(now, kept.tag, kept.request.op, true))
            .collect();
        self.disturb(now, Disturbance::PowerCut);
        for event in lost {
            self.outbox.push(event);
        }
    }
}

impl<P: Policy, D: Device> Device for Wrapper<P, D> {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let (progress, note) = (Progress::default(), P::Note::default());
        let slot = self.requests.insert(Kept { tag, request, arrived: now, progress, note });
        let (policy, mut io) = self.parts();
        policy.arrived(now, slot, &mut io);
    }

    fn next_event(&self) -> Option<Nanos> {
        let own = earlier(self.policy.next_event(), self.outbox.next_event());
        earlier(self.below.next_event(), own)
    }

    fn proceed(&mut self, mut limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let (before, mut came) = (out.len(), None);
        loop {
            // Asked once: it asks all that is below, each time.
            let below = self.below.next_event();
            let own = earlier(self.policy.next_event(), self.outbox.next_event());
            let Some(step) = earlier(below, own).filter(|&step| step <= limit) else {
                return came;
            };
            if below == Some(step) {
                self.advance_below(step);
            }
            if self.policy.next_event().is_some_and(|at| at <= step) {
                let (policy, mut io) = self.parts();
                policy.due(step, &mut io);
            }
            if !self.outbox.is_empty() {
                self.outbox.collect(step, out);
            }
            if out.len() > before {
                // What else is due at that time comes with it.
                (limit, came) = (step, Some(step));
            }
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
        let Some(fault) = what.aborts_all() else { return };
        self.policy.forget_waiting();
        let mut waiting = Vec::new();
        self.requests.retain(|slot, kept| {
            let stays = kept.progress.abort(what, fault);
            if !kept.progress.is_finished() && kept.progress.in_flight() == 0 {
                waiting.push(slot);
            }
            stays
        });
        for slot in waiting {
            let mut spent = Spent::NONE;
            spent.add(Part::QUEUE, now - self.requests[slot].arrived);
            self.parts().1.finish(now, slot, spent);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += self.requests.len() as u64;
        self.below.count(counters);
    }
}
