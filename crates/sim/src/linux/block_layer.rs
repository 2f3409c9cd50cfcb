//! Linux's block layer in front of drives: neighbours are merged, and what is too large is cut.
//!
//! Whoever maps a request to drives (md, dm) sends all its pieces at once, and they are held back in a plug until then
//! ([`Plugs`]). So pieces of one request that are neighbours on a drive become one command again, and a small chunk
//! costs no more commands than a large one. Where nothing is held back, as for what a program reads of the device itself,
//! they still meet in a scheduler's queue, which is run a moment later; without a scheduler each goes to the drive. Requests
//! of one instant are sent apart: a program sends each by itself (fio does, unless told otherwise), and they merge only where
//! they wait in a scheduler's queue.

use super::callers::Callers;
use super::queue::{Memory, Plug, QueueSpec, Slot};
use super::requests::{Carry, Requests};
use super::sender::WORKERS;
use super::whole::Whole;
use crate::host::{Plugs, Try};
use crate::outbox::earlier;
use crate::{Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Spent, Tag};
use block::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

/// The queues in front of the targets of a device. It has the same targets.
pub struct BlockLayer<D> {
    queues: Requests<D, Bio>,
    callers: Callers,
    plug: Plug,
    /// Since when the plug holds something.
    plugged_at: Option<Nanos>,
    /// Whose plug it is.
    plugs: Plugs,
    plug_number: u64,
    /// What threads that sleep for a place in a queue send once they have it.
    asleep: BTreeMap<u64, VecDeque<Bio>>,
    /// Those of them that are not asleep yet, but wait for a worker that may be.
    for_workers: VecDeque<u64>,
    /// Requests that are tried without sleeping, and fail as a whole.
    whole: Whole<Bio>,
    /// When those wake whose place has become free, where programs try without sleeping.
    wakes_at: Option<Nanos>,
    /// Who has slept and sends what is left of a request, into the plug that it holds: nobody else goes on before.
    goes_on: Option<u64>,
}

/// A part of a caller's request.
#[derive(Clone, Copy, Debug)]
struct Bio {
    caller: usize,
    part: Request,
    /// It is sent again after an error, and so that it meets nobody else's.
    is_alone: bool,
    /// Which thread sends it.
    thread: u64,
    /// Whether that has a plug for it.
    is_plugged: bool,
    tried: Tried,
}

/// Whether a part is of a request that is tried without sleeping, and fails as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    No,
    /// Of one in one piece, which fails by itself.
    Alone,
    Whole,
    /// It was done in vain: all of its request is sent again.
    InVain,
}

impl Bio {
    fn new(caller: usize, part: Request, thread: u64, is_plugged: bool) -> Self {
        Bio { caller, part, is_alone: false, thread, is_plugged, tried: Tried::No }
    }
}

impl Carry for Bio {
    fn memory(&self) -> Memory {
        Memory::Whole
    }
}

impl<D: Device> BlockLayer<D> {
    /// Queues as `spec` says in front of the targets of `below`, for a driver that sends with `plugs`.
    pub fn new(below: D, spec: QueueSpec, plugs: &Plugs) -> Self {
        BlockLayer {
            queues: Requests::new(below, spec),
            callers: Callers::default(),
            plug: Plug::default(),
            plugged_at: None,
            plugs: plugs.clone(),
            plug_number: plugs.present().0,
            asleep: BTreeMap::new(),
            for_workers: VecDeque::new(),
            whole: Whole::default(),
            wakes_at: None,
            goes_on: None,
        }
    }

    /// The same with a queue of its own for each target.
    ///
    /// # Panics
    ///
    /// Where there are not as many.
    #[must_use]
    pub fn queued(self, specs: &[QueueSpec]) -> Self {
        BlockLayer { queues: self.queues.queued(specs), ..self }
    }

    /// The sender of what was submitted has nothing more to send: its plug is sent on.
    pub fn unplug(&mut self, now: Nanos) {
        self.plugged_at = None;
        self.goes_on = None;
        self.queues.unplug(now, &mut self.plug);
    }

    /// Sends a part of a caller's request; nothing is merged with one that is sent alone.
    fn send(&mut self, now: Nanos, bio: Bio) {
        if bio.is_alone {
            return self.queues.send_past(now, bio.part, bio);
        }
        if self.passes_at_once(&bio) {
            // The rest of this, step by step, comes to the same.
            (self.plugged_at, self.goes_on) = (None, None);
            return self.queues.pass(now, bio.part, bio);
        }
        if let Some(later) = self.asleep.get_mut(&bio.thread) {
            return later.push_back(bio);
        }
        self.plug.set_endless(!bio.is_plugged);
        if matches!(bio.tried, Tried::Alone | Tried::Whole) {
            let is_sent = self.queues.try_send(now, &mut self.plug, bio.part, bio);
            if bio.tried == Tried::Whole || !is_sent {
                self.whole.tried(now, bio.thread, bio, is_sent);
            }
        } else if bio.part.op == Op::Flush {
            if self.has_free_worker() {
                return self.flush(now, bio);
            }
            self.wait_for_worker(bio);
        } else if self.has_free_worker() {
            let is_sent = self.queues.send(now, &mut self.plug, bio.part, bio);
            if !is_sent {
                self.asleep.insert(bio.thread, VecDeque::new());
            }
        } else if !self.queues.try_send(now, &mut self.plug, bio.part, bio) {
            self.wait_for_worker(bio);
        }
        if let Some(senders) = self.plugs.senders()
            && self.asleep.contains_key(&bio.thread)
        {
            senders.sleeps(bio.thread);
        }
        self.plugged_at = Some(now);
        if !(bio.is_plugged || self.queues.are_scheduled()) {
            self.unplug(now);
        }
    }

    /// Whether nothing holds a bio back, and nothing is there that it could meet or wait for.
    #[inline]
    fn passes_at_once(&self, bio: &Bio) -> bool {
        let is_plain = !bio.is_plugged
            && matches!(bio.tried, Tried::No | Tried::Alone)
            && bio.part.op != Op::Flush;
        is_plain
            && self.asleep.is_empty()
            && self.plug.is_empty()
            && self.queues.pass_at_once(bio.part.target)
    }

    /// Whether who finds no place may sleep for one: a thread of its own, or one of the workers that does not sleep.
    fn has_free_worker(&self) -> bool {
        let is_of_workers = self.plugs.have_workers() && self.plugs.senders().is_none();
        !is_of_workers || self.asleep.len() - self.for_workers.len() < WORKERS
    }

    fn wait_for_worker(&mut self, bio: Bio) {
        self.asleep.insert(bio.thread, VecDeque::from([bio]));
        self.for_workers.push_back(bio.thread);
    }

    /// Has workers send requests again that failed as a whole.
    fn send_failed(&mut self, now: Nanos) {
        for (thread, parts) in self.whole.take_failed() {
            let parts = parts.into_iter().map(|bio| Bio { tried: Tried::No, ..bio });
            if self.has_free_worker() {
                parts.for_each(|bio| self.send(now, bio));
            } else {
                self.asleep.insert(thread, parts.collect());
                self.for_workers.push_back(thread);
            }
        }
    }

    fn flush(&mut self, now: Nanos, bio: Bio) {
        if self.queues.need_flushes() {
            self.queues.flush(now, bio.part.target, bio);
        } else {
            self.callers.part_done(now, bio.caller, Spent::NONE, None);
        }
    }

    /// Who was woken takes a place and goes on, or sleeps again.
    fn wake_sleepers(&mut self, now: Nanos) {
        while !self.is_going_on()
            && self.queues.have_sleepers()
            && let Some((part, bio)) = self.next_woken()
        {
            if self.queues.has_room(part.target) {
                self.unplug(now);
                self.queues.hold(now, &mut self.plug, part, bio);
                self.plugged_at = Some(now);
                if !(bio.is_plugged || self.queues.are_scheduled()) {
                    self.unplug(now);
                }
                self.wake(now, bio.thread);
            } else {
                self.queues.sleep(part, bio);
            }
        }
    }

    fn next_woken(&mut self) -> Option<(Request, Bio)> {
        let targets = self.geometry().target_sectors.len() as u32;
        (0..targets).find_map(|target| self.queues.next_woken(target))
    }

    /// Whether who has slept has yet to send what is left of its request.
    fn is_going_on(&self) -> bool {
        let senders = self.plugs.senders();
        self.goes_on.is_some_and(|thread| senders.is_some_and(|senders| senders.is_woken(thread)))
    }

    /// When what is held back is sent on.
    fn unplugs_at(&self) -> Option<Nanos> {
        let plugged_at = self.plugged_at.filter(|_| !self.is_going_on())?;
        self.plugs.closes_at(self.plug_number, plugged_at)
    }

    /// Who slept for a place has it, and sends what comes next until it sleeps again. Then its worker is free for others.
    fn wake(&mut self, now: Nanos, thread: u64) {
        self.send_later(now, thread);
        while self.has_free_worker()
            && let Some(next) = self.for_workers.pop_front()
        {
            self.send_later(now, next);
        }
    }

    fn send_later(&mut self, now: Nanos, thread: u64) {
        let Some(later) = self.asleep.remove(&thread) else { return };
        for bio in later {
            self.send(now, bio);
        }
        if let Some(senders) = self.plugs.senders()
            && !self.asleep.contains_key(&thread)
        {
            senders.wakes(now, thread);
            self.goes_on = self.plugged_at.map(|_| thread);
        } else {
            self.unplug(now);
        }
    }

    fn take_events(&mut self, now: Nanos) {
        let events = self.queues.take_events(now);
        self.take(events);
    }

    fn take(&mut self, events: Vec<Event>) {
        for event in &events {
            match *event {
                Event::Done { tag, at, result, ref spent } => {
                    self.target_done(at, tag as Slot, result.err(), spent);
                }
                Event::Durable { tag, at } => self.settled(at, tag as Slot, false),
                Event::Lost { tag, at } => self.settled(at, tag as Slot, true),
            }
        }
        self.queues.give_back(events);
    }

    /// Sends on what is held back until `step`, before the drives do what is due then.
    fn send_held_back(&mut self, step: Nanos) {
        if self.unplugs_at().is_some_and(|at| at <= step) {
            self.unplug(step);
            self.wake_sleepers(step);
        }
        if self.queues.next_event().is_some_and(|at| at <= step) {
            self.take_events(step);
        }
    }

    /// What waits for `step` goes to the queues.
    fn send_due(&mut self, step: Nanos) {
        if self.wakes_at.is_some_and(|at| at <= step) {
            self.wakes_at = None;
            self.wake_sleepers(step);
        }
        if self.whole.due_at().is_some_and(|at| at <= step) {
            self.send_failed(step);
        }
    }

    /// The next event but for those of the drives.
    #[inline]
    fn own_event(&self) -> Option<Nanos> {
        let own = earlier(self.unplugs_at(), self.callers.outbox.next_event());
        earlier(earlier(own, self.whole.due_at()), self.wakes_at)
    }

    fn target_done(&mut self, at: Nanos, slot: Slot, fault: Option<Fault>, spent: &Spent) {
        let request = self.queues.done(at, slot);
        if !self.plugs.fail_whole() {
            self.wake_sleepers(at);
        } else if !self.asleep.is_empty() {
            // Who hears that the request is done does so before its place is free (`blk_mq_end_request`), and tries its next one first.
            self.wakes_at = Some(self.wakes_at.map_or(at + 1, |earlier| earlier.min(at + 1)));
        }
        let modifies = request.op.modifies() && fault.is_none();
        let mut bios = self.queues.carried(slot, !modifies);
        // Of a command that meets a bad sector the other parts are served.
        let again = fault == Some(Fault::Medium) && bios.len() > 1;
        for bio in &mut bios {
            if again {
                self.send(at, Bio { is_alone: true, ..*bio });
                continue;
            }
            if bio.tried == Tried::Whole && self.whole.done(at, bio.thread) {
                bio.tried = Tried::InVain;
                continue;
            }
            if modifies {
                self.callers.not_durable_yet((bio.caller, 1));
            }
            self.callers.part_done(at, bio.caller, *spent, fault);
        }
        self.queues.carries_again(slot, !modifies, bios);
    }

    fn settled(&mut self, at: Nanos, slot: Slot, lost: bool) {
        let bios = self.queues.carried(slot, true);
        for bio in bios.iter().filter(|bio| bio.tried != Tried::InVain) {
            self.callers.settled(at, (bio.caller, 1), lost);
        }
        self.queues.carries_again(slot, true, bios);
    }
}

impl<D: Device> Device for BlockLayer<D> {
    fn geometry(&self) -> &Geometry {
        self.queues.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        // What is not read has a plug, whatever was sent since it was begun (a write waits for its bitmap).
        let (number, is_held) = self.plugs.present();
        let is_plugged = is_held || request.op != Op::Read;
        let is_anothers = std::mem::replace(&mut self.plug_number, number) != self.plug_number;
        let is_over = |at| self.plugs.closes_at(number, at).is_some_and(|at| at < now);
        let is_rest = self.plugs.resumed().is_some_and(|thread| self.goes_on == Some(thread));
        if self.plugged_at.is_some_and(|at| is_over(at) || is_anothers && !is_rest) {
            self.unplug(now);
        }
        let caller = self.callers.arrived(now, tag, request);
        if request.op == Op::Flush {
            self.callers.add_parts(caller, 1);
            let thread = self.plugs.thread();
            let bio = Bio::new(caller, request, thread, is_plugged);
            self.send(now, bio);
            return self.callers.part_done(now, caller, Spent::NONE, None);
        }
        let thread = self.plugs.thread();
        let mut sector = request.sector;
        let most = self.queues.max_sectors(request.target);
        while sector < request.end() {
            let sectors = (request.end() - sector).min(u64::from(most)) as u32;
            let part = Request { sector, sectors, ..request };
            self.callers.add_parts(caller, 1);
            let tried = match self.plugs.tries() {
                Try::No => Tried::No,
                Try::Alone if request.sectors <= most => Tried::Alone,
                Try::Alone | Try::Whole => Tried::Whole,
            };
            self.send(now, Bio { tried, ..Bio::new(caller, part, thread, is_plugged) });
            sector = part.end();
        }
        self.callers.part_done(now, caller, Spent::NONE, None);
    }

    fn next_event(&self) -> Option<Nanos> {
        earlier(self.queues.next_event(), self.own_event())
    }

    fn proceed(&mut self, mut limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let (before, mut came) = (out.len(), None);
        loop {
            let own = self.own_event().filter(|&own| own <= limit);
            // What the drives do before that is nobody else's; what they do at that time comes behind what is held back.
            let alone_until = own.map_or(Some(limit), |own| own.checked_sub(1));
            let alone = alone_until.and_then(|until| self.queues.proceed(until));
            let Some(step) = alone.or(own) else { return came };
            if alone.is_some() {
                let events = self.queues.events();
                self.take(events);
            }
            if alone.is_none() {
                self.send_held_back(step);
            }
            self.send_due(step);
            self.callers.outbox.collect(step, out);
            if out.len() > before {
                // What else is due at that time comes with it.
                (limit, came) = (step, Some(step));
            }
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.queues.below.disturb(now, what);
        let Some(fault) = what.aborts_all() else { return };
        self.plug = Plug::default();
        self.plugged_at = None;
        self.asleep.clear();
        self.for_workers.clear();
        self.whole.abort();
        self.wakes_at = None;
        self.goes_on = None;
        if let Some(senders) = self.plugs.senders() {
            senders.abort();
        }
        let callers = &self.callers;
        let is_kept = |bio: &Bio| bio.tried != Tried::InVain && callers.is_done(bio.caller);
        self.queues.abort(fault == Fault::PowerCut, is_kept);
        self.callers.abort(now, fault);
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += self.callers.all.len() as u64;
        self.queues.count(counters);
    }
}
