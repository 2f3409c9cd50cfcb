//! Whoever uses a device of Linux: what of each request is done, durable or lost.

use crate::outbox::Outbox;
use crate::{Event, Fault, Nanos, Part, Spent, Tag};
use block::{Op, Request};
use slab::Slab;

/// A request of whoever uses the device.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    tag: Tag,
    pub(super) request: Request,
    arrived: Nanos,
    /// How long the bitmap had been waited for when it arrived, and superblocks.
    bitmap_ns_before: Nanos,
    mark_ns_before: Nanos,
    /// Parts not done, and one for as long as it is being taken apart.
    parts: u32,
    /// Parts done and not durable.
    undurable: u32,
    lost: bool,
    pub(super) fault: Option<Fault>,
    is_done: bool,
}

/// The requests of callers, and the events that they wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Callers {
    pub(super) all: Slab<Caller>,
    pub(super) outbox: Outbox,
    bitmap: Waits,
    /// For superblocks.
    pub(super) mark: Waits,
}

/// How long something has been waited for since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    total_ns: Nanos,
    /// Since when it is.
    since: Option<Nanos>,
}

impl Waits {
    fn up_to(self, now: Nanos) -> Nanos {
        self.total_ns + self.since.map_or(0, |since| now.saturating_sub(since))
    }

    /// From now on it is waited for.
    pub(super) fn wait(&mut self, now: Nanos) {
        self.since = Some(now);
    }

    /// It is not waited for any more.
    pub(super) fn is_over(&mut self, now: Nanos) {
        *self = Waits { total_ns: self.up_to(now), since: None };
    }
}

impl Callers {
    /// A request arrives; it has one part, until [`Callers::part_done`] says that it is taken apart.
    pub(super) fn arrived(&mut self, now: Nanos, tag: Tag, request: Request) -> usize {
        self.all.insert(Caller {
            tag,
            request,
            arrived: now,
            bitmap_ns_before: self.bitmap.up_to(now),
            mark_ns_before: self.mark.up_to(now),
            parts: 1,
            undurable: 0,
            lost: false,
            fault: None,
            is_done: false,
        })
    }

    /// From now on all wait for the bitmap.
    pub(super) fn wait_for_bitmap(&mut self, now: Nanos) {
        self.bitmap.wait(now);
    }

    /// Nobody waits for the bitmap any more.
    pub(super) fn have_bitmap(&mut self, now: Nanos) {
        self.bitmap.is_over(now);
    }

    /// What `caller` asks.
    pub(super) fn request(&self, caller: usize) -> Request {
        self.all[caller].request
    }

    /// Whether `caller` has heard that its request is done.
    pub(super) fn is_done(&self, caller: usize) -> bool {
        self.all[caller].is_done
    }

    /// Whether anything that is not done modifies what there is.
    pub(super) fn modify(&self) -> bool {
        self.all.iter().any(|(_, caller)| !caller.is_done && caller.request.op.modifies())
    }

    /// A request has so many parts more.
    pub(super) fn add_parts(&mut self, caller: usize, parts: u32) {
        self.all[caller].parts += parts;
    }

    /// One part of a request is done.
    pub(super) fn part_done(
        &mut self,
        at: Nanos,
        caller: usize,
        spent: Spent,
        fault: Option<Fault>,
    ) {
        self.parts_done(at, (caller, 1), spent, fault);
    }

    /// So many parts of a request are done together. What its last part has `spent` counts, behind its waits.
    pub(super) fn parts_done(
        &mut self,
        at: Nanos,
        (caller, parts): (usize, u32),
        mut spent: Spent,
        fault: Option<Fault>,
    ) {
        let request = &mut self.all[caller];
        request.parts -= parts;
        request.fault = request.fault.or(fault);
        if request.parts > 0 {
            return;
        }
        request.is_done = true;
        let latency = at - request.arrived;
        let mut total = spent.total();
        if total > latency {
            // What it waited for had begun before it came.
            (spent, total) = (Spent::NONE, 0);
        }
        // What no member spent on it is a wait: for superblocks as long as these were written, then of what modifies for the
        // bitmap likewise. Reads pass by that.
        let waited = latency - total;
        let for_mark = waited.min(self.mark.up_to(at) - request.mark_ns_before);
        let waited = waited - for_mark;
        spent.add(Part::MARK, for_mark);
        let is_modified = !matches!(request.request.op, Op::Read | Op::Flush);
        let written_ns = self.bitmap.up_to(at) - request.bitmap_ns_before;
        let for_bitmap = if is_modified { waited.min(written_ns) } else { 0 };
        spent.add(Part::BITMAP, for_bitmap);
        spent.add(Part::QUEUE, waited - for_bitmap);
        let result = request.fault.map_or(Ok(()), Err);
        self.outbox.push(Event::Done { tag: request.tag, at, result, spent });
        self.let_go_of(at, caller);
    }

    /// So many parts that were done, or are about to be, are not durable yet.
    pub(super) fn not_durable_yet(&mut self, (caller, parts): (usize, u32)) {
        self.all[caller].undurable += parts;
    }

    /// So many parts that were not durable are, or are lost.
    pub(super) fn settled(&mut self, at: Nanos, (caller, parts): (usize, u32), lost: bool) {
        self.all[caller].undurable -= parts;
        self.all[caller].lost |= lost;
        self.let_go_of(at, caller);
    }

    /// Forgets a request that is done and durable.
    fn let_go_of(&mut self, at: Nanos, caller: usize) {
        let request = &self.all[caller];
        if !request.is_done || request.undurable > 0 {
            return;
        }
        let request = self.all.remove(caller);
        if request.fault.is_none() && request.request.op.modifies() {
            let tag = request.tag;
            let lost = Event::Lost { tag, at };
            self.outbox.push(if request.lost { lost } else { Event::Durable { tag, at } });
        }
    }

    /// What is not done comes back with `fault`. After a power cut nothing more is heard of what was done and not
    /// durable.
    pub(super) fn abort(&mut self, now: Nanos, fault: Fault) {
        let mut ended = Vec::new();
        self.all.retain(|_, caller| {
            if !caller.is_done {
                ended.push((caller.tag, caller.arrived));
            }
            caller.is_done && fault != Fault::PowerCut
        });
        for (tag, arrived) in ended {
            self.outbox.refuse(now, tag, arrived, fault);
        }
    }
}
