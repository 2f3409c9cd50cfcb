//! A layout over a device is a device.
//!
//! The driver works on each stage of the [`Core`]; then the array sends the stage's commands to the
//! device below. As in ccd(4), all commands of a stage are built before the first is sent. So the
//! processor's work on them comes first, and the disks cannot hide it.
//!
//! `array/core.rs` is what an array does; `array/planning.rs` plans and locks; `array/passing.rs` passes reads on
//! that need neither; `array/copy_choice.rs` chooses the copy that serves a read; `array/sending.rs` sends the
//! commands of a stage, by the threads of `array/threads.rs` where these may sleep; `array/rebuild.rs` restores a member
//! while the array serves, `array/barrier.rs` as md does it, and `array/repair.rs` rewrites what a member cannot read.

mod barrier;
mod copy_choice;
mod core;
mod locks;
mod passing;
mod planning;
mod rebuild;
mod repair;
mod sending;
mod threads;

pub use barrier::Barrier;
pub use copy_choice::{CopyChoice, MemberKind};
pub use core::{Command, Core, Stage};
pub use rebuild::{CHUNK_SECTORS, Rebuild};
use threads::Unsent;

use crate::host::Sender;
use crate::outbox::earlier;
use crate::{Counters, Device, Disturbance, Driver, Event, Geometry, Nanos, Part, Tag};
use block::bios::Cut;
use block::{Layout, Request};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A layout over one lower device, whose targets are the layout's members.
pub struct Array<D> {
    core: Core,
    below: D,
    driver: Driver,
    geometry: Geometry,
    /// Stages that the processor is working on: when it will be done, and whose stage it is. In time
    /// order, because the processor works on one after the other.
    in_work: VecDeque<(Nanos, usize)>,
    events: Vec<Event>,
    unsent: Unsent,
    /// Whether anything was sent below since it last went on there.
    has_sent: bool,
    /// Who has submitted what the processor has not sent yet, where threads of a file system do.
    submitted_by: BTreeMap<Tag, Sender>,
}

impl<D: Device> Array<D> {
    /// `layout` over the targets of `below`, run by `driver`.
    ///
    /// # Panics
    ///
    /// Where the layout's number of members differs from the number of targets of `below`.
    pub fn new(layout: Box<dyn Layout>, below: D, driver: Driver) -> Self {
        let targets = below.geometry().target_sectors.len();
        assert_eq!(layout.members(), targets, "one target a member");
        Array {
            geometry: Geometry::single(layout.sectors()),
            core: Core::new(layout),
            below,
            driver,
            in_work: VecDeque::new(),
            events: Vec::new(),
            unsent: Unsent::default(),
            has_sent: false,
            submitted_by: BTreeMap::new(),
        }
    }

    /// The same array with copies chosen by this rule, among members of these kinds.
    #[must_use]
    pub fn choosing_copies(mut self, by: CopyChoice, kinds: &[MemberKind]) -> Self {
        self.core.choose_copies(by);
        self.core.know_members(kinds);
        self
    }

    /// The same array, which cuts requests for data into bios, before it chooses copies, as md does.
    #[must_use]
    pub fn cutting_into_bios(mut self, cut: Cut) -> Self {
        self.core.cut_into_bios(cut);
        self
    }

    /// The same array with these members down from the start.
    #[must_use]
    pub fn degraded(mut self, members: &[u32]) -> Self {
        for &member in members {
            self.core.fail(0, member);
        }
        self
    }

    /// The same array with a member down and a spare in its place. The rebuild onto all of the spare starts
    /// at time 0.
    ///
    /// # Panics
    ///
    /// Where the speed limit is zero.
    #[must_use]
    pub fn rebuilding(self, rebuild: Rebuild) -> Self {
        let sectors = self.below.geometry().target_sectors[rebuild.member as usize];
        self.rebuilding_part(rebuild, 0..sectors)
    }

    /// The same where only the sectors `part` of the member are still to be restored: it uses none behind
    /// them, and has those before them.
    ///
    /// # Panics
    ///
    /// As [`Array::rebuilding`], and where the part is empty.
    #[must_use]
    pub fn rebuilding_part(mut self, rebuild: Rebuild, part: Range<u64>) -> Self {
        self.core.rebuild(0, rebuild, part);
        self
    }

    /// The same array, whose member is restored by md's thread, with such a barrier; that begins behind what is asked for at
    /// time 0 where the load `is_first`.
    ///
    /// # Panics
    ///
    /// Where none is being restored.
    #[must_use]
    pub fn restored_by_md(mut self, barrier: Barrier, is_first: bool) -> Self {
        self.core.restore_by_md(0, barrier, is_first);
        self
    }

    /// Has the processor work on the stages that are ready.
    #[inline]
    fn prepare(&mut self, now: Nanos) {
        while let Some(slot) = self.core.next_ready() {
            self.prepare_stage(now, slot);
        }
    }

    fn prepare_stage(&mut self, now: Nanos, slot: usize) {
        if self.driver.is_free() {
            return self.start(now, slot);
        }
        let stage = self.core.stage(slot);
        let commands = stage.plan.stage(stage.index).len() as u64;
        let request_ns = match stage.index {
            0 => self.driver.request_work_ns(&stage.request),
            _ => 0,
        };
        let work_ns = request_ns + commands * self.driver.command_ns;
        if work_ns == 0 {
            return self.start(now, slot);
        }
        let (start, end) = self.driver.processor.work(now, work_ns);
        self.core.charge(slot, Part::QUEUE, start);
        self.core.charge(slot, Part::CPU, end);
        self.in_work.push_back((end, slot));
    }

    fn start(&mut self, now: Nanos, slot: usize) {
        if self.driver.plugs.senders().is_some() {
            return self.start_by_thread(now, slot);
        }
        let stage = self.core.stage(slot);
        let sender = stage.owner.and_then(|tag| self.submitted_by.remove(&tag));
        self.driver.plugs.begin_by(sender, &stage.request);
        self.has_sent = true;
        let below = &mut self.below;
        let send = |Command { tag, request, .. }| below.submit(now, tag, request.parted());
        self.core.start(now, slot, send);
    }

    /// The next event but for those below and those of threads that sleep.
    #[inline]
    fn own_event(&self) -> Option<Nanos> {
        earlier(self.in_work.front().map(|&(at, _)| at), self.core.next_event())
    }

    /// Passes the events from below to the core.
    fn take_events(&mut self) {
        for index in 0..self.events.len() {
            let event = &self.events[index];
            let at = event.at();
            match *event {
                Event::Done { tag, at, result, ref spent } => {
                    self.core.done(at, tag, result, spent);
                }
                Event::Durable { tag, at } => self.core.settled(at, tag, false),
                Event::Lost { tag, at } => self.core.settled(at, tag, true),
            }
            self.prepare(at);
        }
        self.events.clear();
    }
}

impl<D: Device> Device for Array<D> {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let sender = self.driver.plugs.sender();
        if self.driver.is_free()
            && self.driver.plugs.senders().is_none()
            && let Some((tag, command)) = self.core.pass(now, tag, &request)
        {
            self.driver.plugs.begin_by(sender, &request);
            self.has_sent = true;
            return self.below.submit(now, tag, command);
        }
        if let Some(sender) = sender {
            self.submitted_by.insert(tag, sender);
        }
        // md's thread goes before a program.
        while self.core.md_restores_at().is_some_and(|at| at <= now) {
            self.core.advance(now);
            self.prepare(now);
        }
        self.core.submit(now, tag, request);
        self.prepare(now);
    }

    fn next_event(&self) -> Option<Nanos> {
        earlier(self.below.next_event(), earlier(self.own_event(), self.goes_on_at()))
    }

    fn proceed(&mut self, mut limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let (before, mut came) = (out.len(), None);
        let may_sleep = self.driver.plugs.senders().is_some();
        loop {
            let mut own = self.own_event();
            if may_sleep {
                own = earlier(own, earlier(self.goes_on_at(), self.may_wake_at()));
            }
            let own = own.filter(|&own| own <= limit);
            self.has_sent = false;
            let below = self.below.proceed(own.unwrap_or(limit), &mut self.events);
            let Some(step) = below.or(own) else { return came };
            if below.is_some() {
                if own.is_none() && out.is_empty() && self.core.hand_back(&mut self.events) {
                    // Nothing else is due at that time.
                    std::mem::swap(&mut self.events, out);
                    return below;
                }
                self.take_events();
            }
            while let Some(&(at, slot)) = self.in_work.front()
                && at <= step
            {
                self.in_work.pop_front();
                self.start(at, slot);
                self.prepare(at);
            }
            if may_sleep {
                self.wake(step);
            }
            self.core.advance(step);
            self.prepare(step);
            self.core.collect(step, out);
            if out.len() > before {
                // What else is due at that time comes with it. Below that has come, but for what was sent since.
                (limit, came) = (step, Some(step));
                let is_own_due = self.own_event().is_some_and(|own| own <= step);
                if below.is_some() && !self.has_sent && !may_sleep && !is_own_due {
                    return came;
                }
            }
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if !matches!(what, Disturbance::Fail(_)) {
            self.below.disturb(now, what);
        }
        self.core.disturb(now, what);
        if let Some(fault) = what.aborts_all() {
            self.give_up_unsent(now, fault);
        }
        self.prepare(now);
    }

    fn count(&self, counters: &mut Counters) {
        self.core.count(counters);
        self.below.count(counters);
    }
}
