//! A layout over a device is a device.
//!
//! The array turns each request into the layout's plan, has its processor work on it, starts the plan
//! stage by stage, and joins what comes back. As in ccd(4) all commands of a stage are built before
//! the first is sent, so the processor's work on them comes first and is not hidden behind the disks.

use crate::outbox::{Outbox, earlier};
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Processor, Spent, Tag,
};
use block::{Health, Layout, Op, Plan, Request, Step};
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};

/// A layout over one lower device, whose targets are the layout's members.
pub struct Array<D> {
    layout: Box<dyn Layout>,
    below: D,
    processor: Processor,
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
    outbox: Outbox,
    join_wait_ns: Nanos,
    events: Vec<Event>,
}

/// A request under way, or not yet durable.
struct Active {
    tag: Tag,
    request: Request,
    plan: Plan,
    /// The stage that is running.
    stage: usize,
    /// Rows locked so far.
    rows_locked: usize,
    /// Steps of the stage that are under way.
    under_way: u32,
    /// Steps that are done but not durable.
    undurable: u32,
    /// The ends of the stage's finished steps, summed: for the wait at the join.
    ends_ns: u128,
    spent: Spent,
    /// Up to when `spent` reaches.
    spent_to: Nanos,
    fault: Option<Fault>,
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
    /// `layout` over the targets of `below`, run by `processor`.
    ///
    /// # Panics
    ///
    /// Where the layout has another number of members than `below` has targets.
    pub fn new(layout: Box<dyn Layout>, below: D, processor: Processor) -> Self {
        let members = layout.members();
        assert_eq!(members, below.geometry().target_sectors.len(), "one target a member");
        Array {
            geometry: Geometry::single(layout.sectors()),
            layout,
            below,
            processor,
            health: Health::all_up(members),
            active: Slab::new(),
            plans: Vec::new(),
            in_work: VecDeque::new(),
            locks: BTreeMap::new(),
            members: vec![Member::default(); members],
            outbox: Outbox::default(),
            join_wait_ns: 0,
            events: Vec::new(),
        }
    }

    /// Plans the request in `slot` and starts it, or says that it cannot be served.
    fn plan(&mut self, now: Nanos, slot: usize) {
        let active = &mut self.active[slot];
        active.stage = 0;
        active.fault = None;
        let planned = self.layout.plan(active.request, &self.health, &mut active.plan);
        if planned.is_err() {
            active.fault = Some(Fault::Failed);
            self.finish(now, slot);
        } else if active.plan.stages() == 0 {
            self.finish(now, slot);
        } else {
            self.lock_rows(now, slot);
        }
    }

    /// Locks the next rows of the request, in ascending order so that no two can wait for each other;
    /// starts the first stage when it has them all.
    fn lock_rows(&mut self, now: Nanos, slot: usize) {
        let active = &mut self.active[slot];
        while let Some(&row) = active.plan.rows().get(active.rows_locked) {
            if let Some(waiting) = self.locks.get_mut(&row) {
                waiting.push_back(slot);
                return;
            }
            self.locks.insert(row, VecDeque::new());
            active.rows_locked += 1;
        }
        active.spent.add(Part::Queue, now - active.spent_to);
        active.spent_to = now;
        self.work_on_stage(now, slot, self.processor.request_ns);
    }

    fn unlock_rows(&mut self, now: Nanos, slot: usize) {
        let locked = std::mem::take(&mut self.active[slot].rows_locked);
        for index in 0..locked {
            let row = self.active[slot].plan.rows()[index];
            let Some(mut waiting) = self.locks.remove(&row) else { continue };
            if let Some(next) = waiting.pop_front() {
                self.locks.insert(row, waiting);
                self.active[next].rows_locked += 1;
                self.lock_rows(now, next);
            }
        }
    }

    /// The processor prepares the stage's commands, and `extra_ns` besides.
    fn work_on_stage(&mut self, now: Nanos, slot: usize, extra_ns: Nanos) {
        let active = &mut self.active[slot];
        let commands = active.plan.stage(active.stage).len() as u64;
        let work_ns = extra_ns + commands * self.processor.command_ns;
        if work_ns == 0 {
            return self.start_stage(now, slot);
        }
        let (start, end) = self.processor.work(now, work_ns);
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
        active.under_way = steps.len() as u32;
        active.ends_ns = 0;
        for step in steps {
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
        active.ends_ns += u128::from(at);
        match result {
            Ok(()) => active.undurable += u32::from(write),
            Err(fault) => _ = active.fault.get_or_insert(fault),
        }
        if result == Err(Fault::Failed) {
            self.health.fail(target);
        }
        if active.under_way > 0 {
            return;
        }
        // The last to finish is the critical path; what it spent joins what the stages before did.
        let steps = active.plan.stage(active.stage).len() as u128;
        self.join_wait_ns += (u128::from(at) * steps - active.ends_ns) as Nanos;
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

    fn step_durable(&mut self, at: Nanos, tag: Tag) {
        let (slot, ..) = read_step_tag(tag);
        let active = &mut self.active[slot];
        active.undurable -= 1;
        if active.undurable == 0 && active.finished {
            self.let_go(at, slot);
        }
    }

    fn finish(&mut self, at: Nanos, slot: usize) {
        self.unlock_rows(at, slot);
        let active = &mut self.active[slot];
        let result = active.fault.map_or(Ok(()), Err);
        self.outbox.push(Event::Done { tag: active.tag, at, result, spent: active.spent });
        active.finished = true;
        if active.undurable == 0 {
            self.let_go(at, slot);
        }
    }

    /// Nothing more can come for a request: its last word, if it was a write, is that it is durable.
    fn let_go(&mut self, at: Nanos, slot: usize) {
        let active = self.active.remove(slot);
        if active.fault.is_none() && matches!(active.request.op, Op::Write { .. }) {
            self.outbox.push(Event::Durable { tag: active.tag, at });
        }
        self.plans.push(active.plan);
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
        let slot = self.active.insert(Active {
            tag,
            request,
            plan: self.plans.pop().unwrap_or_default(),
            stage: 0,
            rows_locked: 0,
            under_way: 0,
            undurable: 0,
            ends_ns: 0,
            spent: Spent::NONE,
            spent_to: now,
            fault: None,
            finished: false,
        });
        self.plan(now, slot);
    }

    fn next_event(&self) -> Option<Nanos> {
        let worked = self.in_work.front().map(|&(at, _)| at);
        earlier(earlier(self.below.next_event(), worked), self.outbox.next_event())
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
                        Event::Durable { tag, at } => self.step_durable(at, tag),
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
        if what == Disturbance::PowerCut {
            // What was done but not durable is lost, and nothing more will be heard of it.
            self.active.retain(|_, active| {
                active.undurable = 0;
                !active.finished
            });
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.cpu_busy_ns += self.processor.busy_ns();
        counters.join_wait_ns += self.join_wait_ns;
        self.below.count(counters);
    }
}
