//! A layout over a device is a device.
//!
//! The array turns each request into the layout's plan, has its processor work on it, starts the plan
//! stage by stage, and joins what comes back. As in ccd(4) all commands of a stage are built before
//! the first is sent, so the processor's work on them comes first and is not hidden behind the disks.
//!
//! `array/planning.rs` plans and locks; `array/rebuild.rs` restores a member while the array serves.

mod planning;
mod rebuild;

pub use rebuild::Rebuild;

use crate::outbox::{Outbox, earlier};
use crate::{
    Counters, Device, Disturbance, Driver, Event, Fault, Geometry, Nanos, Part, Spent, Tag,
};
use block::{Health, Layout, Op, Plan, Request, Step};
use rebuild::{Restoring, join_steps};
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};

/// A layout over one lower device, whose targets are the layout's members.
pub struct Array<D> {
    layout: Box<dyn Layout>,
    below: D,
    driver: Driver,
    health: Health,
    geometry: Geometry,
    active: Slab<Active>,
    /// Plans that are not in use, kept for their memory.
    plans: Vec<Plan>,
    /// Stages that the processor is working on: when it will be done, and whose stage it is. In time
    /// order, for the processor does one after the other.
    in_work: VecDeque<(Nanos, usize)>,
    /// Rows that are locked, and who waits for each.
    locks: BTreeMap<u64, VecDeque<usize>>,
    /// What each member is doing, for choosing among copies.
    members: Vec<Member>,
    /// The member that is being restored.
    restoring: Option<Restoring>,
    /// Whether a member is or was being restored on a layout that locks no rows of its own.
    locks_regions: bool,
    /// Changes whenever a request planned before might be planned otherwise now.
    epoch: u64,
    restored_sectors: u64,
    restored_at: Option<Nanos>,
    outbox: Outbox,
    events: Vec<Event>,
}

/// Who waits for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Whoever uses the array.
    Caller(Tag),
    /// The array itself, which restores a member.
    Rebuild,
}

/// A request under way, or not yet durable.
struct Active {
    owner: Owner,
    request: Request,
    plan: Plan,
    /// The array's when it was planned.
    epoch: u64,
    /// The stage that is running.
    stage: usize,
    /// Rows locked so far.
    rows_locked: usize,
    /// The stage's commands that are under way.
    under_way: u32,
    /// Steps that are done but not durable.
    undurable: u32,
    spent: Spent,
    /// Up to when `spent` reaches.
    spent_to: Nanos,
    fault: Option<Fault>,
    /// A step was done, and went with its member before it was durable.
    lost: bool,
    /// It is done, and waits only to be durable.
    finished: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Member {
    under_way: u32,
    /// Where its last command ended.
    position: u64,
}

/// A step's name below: its request's slot, whether it writes, and the member it went to.
fn step_tag(slot: usize, request: &Request) -> Tag {
    let write = u64::from(matches!(request.op, Op::Write { .. }));
    (slot as Tag) << 32 | write << 31 | Tag::from(request.target)
}

fn read_step_tag(tag: Tag) -> (usize, bool, u32) {
    ((tag >> 32) as usize, tag >> 31 & 1 == 1, tag as u32 & (u32::MAX >> 1))
}

impl<D: Device> Array<D> {
    /// `layout` over the targets of `below`, run by `driver`.
    ///
    /// # Panics
    ///
    /// Where the layout has another number of members than `below` has targets.
    pub fn new(layout: Box<dyn Layout>, below: D, driver: Driver) -> Self {
        let members = layout.members();
        assert_eq!(members, below.geometry().target_sectors.len(), "one target a member");
        Array {
            geometry: Geometry::single(layout.sectors()),
            layout,
            below,
            driver,
            health: Health::all_up(members),
            active: Slab::new(),
            plans: Vec::new(),
            in_work: VecDeque::new(),
            locks: BTreeMap::new(),
            members: vec![Member::default(); members],
            restoring: None,
            locks_regions: false,
            epoch: 0,
            restored_sectors: 0,
            restored_at: None,
            outbox: Outbox::default(),
            events: Vec::new(),
        }
    }

    /// The same array with these members down from the start.
    #[must_use]
    pub fn degraded(mut self, members: &[u32]) -> Self {
        for &member in members {
            self.health.fail(member);
        }
        self
    }

    /// The same array with a member down and a spare in its place, onto which it is restored from time
    /// 0 on.
    ///
    /// # Panics
    ///
    /// Where the speed is limited to nothing.
    #[must_use]
    pub fn rebuilding(mut self, rebuild: Rebuild) -> Self {
        assert!(rebuild.bytes_per_s != Some(0), "it would never end");
        self.health.fail(rebuild.member);
        let sectors = self.below.geometry().target_sectors[rebuild.member as usize];
        self.restoring = Some(Restoring::new(rebuild, sectors));
        self.locks_regions = self.layout.parity().is_none();
        self
    }

    /// The processor prepares the stage's commands, and `extra_ns` besides.
    fn work_on_stage(&mut self, now: Nanos, slot: usize, extra_ns: Nanos) {
        let active = &mut self.active[slot];
        let commands = active.plan.stage(active.stage).len() as u64;
        let work_ns = extra_ns + commands * self.driver.command_ns;
        if work_ns == 0 {
            return self.start_stage(now, slot);
        }
        let (start, end) = self.driver.processor.work(now, work_ns);
        active.spent.add(Part::Queue, start - now);
        active.spent.add(Part::Cpu, work_ns);
        active.spent_to = end;
        self.in_work.push_back((end, slot));
    }

    fn start_stage(&mut self, now: Nanos, slot: usize) {
        let active = &mut self.active[slot];
        if active.fault.is_some() {
            // Aborted while the processor worked on it, or while it waited for a row.
            return self.finish(now, slot);
        }
        let steps = active.plan.stage(active.stage);
        let joined = (active.owner == Owner::Rebuild).then(|| join_steps(&active.plan, steps));
        active.under_way = joined.as_ref().map_or(steps.len(), Vec::len) as u32;
        for step in joined.as_deref().unwrap_or(steps) {
            let request = choose_copy(&self.members, &active.plan, step);
            let member = &mut self.members[request.target as usize];
            member.under_way += 1;
            member.position = request.end();
            self.below.submit(now, step_tag(slot, &request), request);
        }
    }

    fn step_done(&mut self, at: Nanos, tag: Tag, result: Result<(), Fault>, spent: Spent) {
        let (slot, write, target) = read_step_tag(tag);
        self.members[target as usize].under_way -= 1;
        let active = &mut self.active[slot];
        active.under_way -= 1;
        match result {
            Ok(()) => active.undurable += u32::from(write),
            Err(fault) => _ = active.fault.get_or_insert(fault),
        }
        let last = active.under_way == 0;
        if result == Err(Fault::Failed) {
            self.member_failed(at, target);
        }
        if !last {
            return;
        }
        let active = &mut self.active[slot];
        // The last to finish is the critical path; what it spent joins what the stages before did.
        active.spent += spent;
        active.spent_to = at;
        match active.fault {
            Some(Fault::Failed) => {
                self.unlock_rows(at, slot);
                self.plan(at, slot);
            }
            None if active.stage + 1 < active.plan.stages() => {
                active.stage += 1;
                self.work_on_stage(at, slot, 0);
            }
            _ => self.finish(at, slot),
        }
    }

    fn member_failed(&mut self, at: Nanos, member: u32) {
        self.health.fail(member);
        if self.restoring.as_ref().is_some_and(|r| r.rebuild.member == member) {
            self.end_rebuild(at);
        }
    }

    /// A step that was done is durable, or `lost` with its member.
    fn step_settled(&mut self, at: Nanos, tag: Tag, lost: bool) {
        let (slot, _, target) = read_step_tag(tag);
        if lost {
            self.member_failed(at, target);
        }
        let active = &mut self.active[slot];
        active.undurable -= 1;
        active.lost |= lost;
        if active.undurable == 0 && active.finished {
            self.let_go(at, slot);
        }
    }

    /// Whether a step of the request in `slot` is lost, and the members that are up do not tell what
    /// it stored.
    fn is_lost(&mut self, slot: usize) -> bool {
        let active = &self.active[slot];
        if !active.lost || active.owner == Owner::Rebuild {
            return false;
        }
        let mut plan = self.plans.pop().unwrap_or_default();
        let read = Request { op: Op::Read, ..active.request };
        let laid = self.layout.plan(read, &self.health, &mut plan);
        self.plans.push(plan);
        laid.is_err()
    }

    fn finish(&mut self, at: Nanos, slot: usize) {
        self.unlock_rows(at, slot);
        if self.is_lost(slot) {
            self.active[slot].fault.get_or_insert(Fault::Failed);
        }
        let active = &mut self.active[slot];
        active.spent.add(Part::Queue, at - active.spent_to);
        active.spent_to = at;
        match active.owner {
            Owner::Caller(tag) => {
                let result = active.fault.map_or(Ok(()), Err);
                self.outbox.push(Event::Done { tag, at, result, spent: active.spent });
            }
            Owner::Rebuild if active.fault == Some(Fault::Reset) => return self.plan(at, slot),
            Owner::Rebuild => {
                let (fault, end) = (active.fault, active.request.end());
                self.chunk_done(at, fault, end);
            }
        }
        let active = &mut self.active[slot];
        active.finished = true;
        if active.undurable == 0 {
            self.let_go(at, slot);
        }
    }

    /// Nothing more can come for a request: the last word on a write is that it is durable, or lost.
    fn let_go(&mut self, at: Nanos, slot: usize) {
        let lost = self.is_lost(slot);
        let active = self.active.remove(slot);
        if let Owner::Caller(tag) = active.owner
            && active.fault.is_none()
            && matches!(active.request.op, Op::Write { .. })
        {
            self.outbox.push(if lost {
                Event::Lost { tag, at }
            } else {
                Event::Durable { tag, at }
            });
        }
        self.plans.push(active.plan);
    }

    /// Takes in a request of its own or of its user.
    fn accept(&mut self, now: Nanos, owner: Owner, request: Request) {
        let slot = self.active.insert(Active {
            owner,
            request,
            plan: self.plans.pop().unwrap_or_default(),
            epoch: self.epoch,
            stage: 0,
            rows_locked: 0,
            under_way: 0,
            undurable: 0,
            spent: Spent::NONE,
            spent_to: now,
            fault: None,
            lost: false,
            finished: false,
        });
        self.plan(now, slot);
    }
}

/// Of the copies of a step, the one on the member with the fewest commands under way; of those, the
/// one whose member last ended nearest to it (RAIDframe's `rf_SelectMirrorDiskIdle`).
fn choose_copy(members: &[Member], plan: &Plan, step: &Step) -> Request {
    plan.choose(step, |copy| {
        let member = members[copy.member as usize];
        (member.under_way, member.position.abs_diff(copy.sector))
    })
}

impl<D: Device> Device for Array<D> {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        self.accept(now, Owner::Caller(tag), request);
    }

    fn next_event(&self) -> Option<Nanos> {
        let worked = self.in_work.front().map(|&(at, _)| at);
        let own = earlier(worked, self.restoring.as_ref().and_then(Restoring::next_event));
        earlier(earlier(self.below.next_event(), own), self.outbox.next_event())
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        while let Some(step) = self.next_event()
            && step <= now
        {
            if self.below.next_event().is_some_and(|at| at <= step) {
                let mut events = std::mem::take(&mut self.events);
                self.below.advance(step, &mut events);
                for event in events.drain(..) {
                    match event {
                        Event::Done { tag, at, result, spent } => {
                            self.step_done(at, tag, result, spent);
                        }
                        Event::Durable { tag, at } => self.step_settled(at, tag, false),
                        Event::Lost { tag, at } => self.step_settled(at, tag, true),
                    }
                }
                self.events = events;
            }
            while let Some(&(at, slot)) = self.in_work.front()
                && at <= step
            {
                self.in_work.pop_front();
                self.start_stage(at, slot);
            }
            self.start_chunks(step);
            self.outbox.collect(step, out);
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
        if matches!(what, Disturbance::Fail(_)) {
            return;
        }
        for (_, active) in &mut self.active {
            if !active.finished {
                active.fault.get_or_insert(what.fault());
            }
        }
        if let Some(restoring) = &mut self.restoring {
            let waiting = std::mem::take(&mut restoring.waiting);
            if what == Disturbance::PowerCut {
                restoring.start_again(now);
                self.epoch += 1;
            }
            for slot in waiting {
                self.finish(now, slot);
            }
        }
        if what == Disturbance::PowerCut {
            // What was done but not durable is lost, and nothing more will be heard of it.
            self.active.retain(|_, active| {
                active.undurable = 0;
                !active.finished
            });
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += self.active.len() as u64;
        counters.restored_sectors += self.restored_sectors;
        counters.restored_at = counters.restored_at.max(self.restored_at);
        self.below.count(counters);
    }
}
