//! What an array does, without a clock and without devices.
//!
//! The core plans requests, locks rows, starts stages, joins the results, replans when a member fails,
//! and rebuilds a member onto a spare. Its driver tells it the time, prepares each stage that is ready
//! (a processor's time, or parity arithmetic), sends the stage's commands to the members, and reports
//! the result of each:
//!
//! ```text
//! submit ──→ next_ready ──→ start ──→ members ──→ done, settled ──→ collect
//!                 ↑                                     │
//!                 └──────────── next stage ─────────────┘
//! ```
//!
//! [`super::Array`] drives it with modelled devices in virtual time; the `disks` rig drives it with
//! real ones, by the clock and with bytes.

use super::Rebuild;
use super::copy_choice::{CopyChoice, Member, end_on};
use super::locks::Locks;
use super::passing::{self, Passed};
use super::rebuild::Restoring;
use crate::outbox::{Outbox, earlier};
use crate::progress::Progress;
use crate::spent::Ledger;
use crate::{Counters, Disturbance, Event, Fault, Nanos, Part, Spent, Tag};
use block::bios::Cut;
use block::{Health, Layout, Op, Plan, Request, Step};
use slab::Slab;
use std::collections::VecDeque;
use std::ops::Range;

/// A layout's requests in flight.
pub struct Core {
    pub(super) layout: Box<dyn Layout>,
    pub(super) health: Health,
    pub(super) active: Slab<Active>,
    /// Reads in flight that need no plan.
    pub(super) passed: Slab<Passed>,
    /// The plan of the request in each slot. Those of empty slots are kept for their memory.
    pub(super) plans: Vec<Plan>,
    /// Likewise where the time of the request in each slot went.
    pub(super) ledgers: Vec<Ledger>,
    /// An unused plan, for its memory.
    pub(super) spare: Plan,
    /// Requests whose next stage can start.
    pub(super) ready: VecDeque<usize>,
    pub(super) locks: Locks,
    /// The load of each member, for choosing among copies.
    pub(super) members: Vec<Member>,
    pub(super) copy_choice: CopyChoice,
    /// How requests for data are cut, where they are.
    pub(super) cut: Option<Cut>,
    /// The member that is being restored.
    pub(super) restoring: Option<Restoring>,
    /// Whether what is restored counts on all members at once, as md's thread has it, and on none by itself.
    pub(super) holds_all: bool,
    /// Whether a member is or was being restored on a layout that has no rows to lock.
    pub(super) locks_regions: bool,
    /// Changes whenever an earlier plan might be different now.
    pub(super) epoch: u64,
    /// Whether whatever runs the volume has failed.
    pub(super) down: bool,
    /// What members could not read, with the slot of the request that needed it.
    pub(super) damaged: Vec<(usize, Request)>,
    /// Members that could not read what a repair needs, with the slot of the repair: it does without them.
    pub(super) unreadable: Vec<(usize, u32)>,
    pub(super) restored_sectors: u64,
    pub(super) restored_at: Option<Nanos>,
    outbox: Outbox,
}

/// Who waits for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user of the array.
    Caller(Tag),
    /// The array itself, to rebuild a member.
    Rebuild,
    /// The request in this slot. It waits until sectors that a member could not read are rewritten.
    Repair(usize),
}

/// A request in flight, or not yet durable.
pub(super) struct Active {
    pub(super) owner: Owner,
    pub(super) request: Request,
    /// The core's epoch when it was planned.
    pub(super) epoch: u64,
    /// The stage that is running.
    pub(super) stage: usize,
    /// Rows locked so far.
    pub(super) rows_locked: usize,
    /// Its commands; those of a stage are in flight together.
    pub(super) progress: Progress,
    /// How many repairs it waits for.
    pub(super) repairs: u32,
    /// The barrier against what is restored that it is inside of.
    pub(super) inside: Option<u64>,
}

/// A command to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name, for [`Core::done`] and [`Core::settled`].
    pub tag: Tag,
    /// Which of the plan's steps it carries out; for adjacent steps joined into one command, the first.
    pub step: usize,
    /// What to ask of the member that `request.target` names.
    pub request: Request,
}

/// A stage of a request.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The name of the request; none for a chunk of a rebuild or for sectors that are rewritten.
    pub owner: Option<Tag>,
    /// The request; for a chunk, the write to the member that is restored.
    pub request: Request,
    /// How it is carried out.
    pub plan: &'a Plan,
    /// Which of the plan's stages.
    pub index: usize,
}

/// A command's name: its request's slot, the step, whether it changes sectors, and its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    slot: usize,
    pub(super) step: usize,
    modifies: bool,
    member: u32,
}

impl Name {
    /// That of the command that carries out `request` for a step.
    pub(super) fn of(slot: usize, step: usize, request: &Request) -> Self {
        Name { slot, step, modifies: request.op.modifies(), member: request.target }
    }

    pub(super) fn tag(self) -> Tag {
        debug_assert!(self.slot < 1 << 23 && self.step < 1 << 23 && self.member < 1 << 16);
        let (slot, step) = (self.slot as Tag, self.step as Tag);
        slot << 40 | step << 17 | Tag::from(self.modifies) << 16 | Tag::from(self.member)
    }

    fn read(tag: Tag) -> Self {
        Name {
            slot: (tag >> 40) as usize,
            step: (tag >> 17) as usize & ((1 << 23) - 1),
            modifies: tag >> 16 & 1 == 1,
            member: tag as u32 & 0xffff,
        }
    }
}

impl Core {
    /// `layout` over members that are all up.
    pub fn new(layout: Box<dyn Layout>) -> Self {
        let members = layout.members();
        Core {
            layout,
            health: Health::all_up(members),
            active: Slab::new(),
            passed: Slab::new(),
            plans: Vec::new(),
            ledgers: Vec::new(),
            spare: Plan::default(),
            ready: VecDeque::new(),
            locks: Locks::new(),
            members: vec![Member::default(); members],
            copy_choice: CopyChoice::default(),
            cut: None,
            restoring: None,
            holds_all: false,
            locks_regions: false,
            epoch: 0,
            down: false,
            damaged: Vec::new(),
            unreadable: Vec::new(),
            restored_sectors: 0,
            restored_at: None,
            outbox: Outbox::default(),
        }
    }

    /// Chooses among copies by this rule from now on.
    pub fn choose_copies(&mut self, by: CopyChoice) {
        self.copy_choice = by;
        self.holds_all = by.holds_all() && self.is_restored_by_md();
    }

    /// Cuts requests for data into bios from now on, and chooses a copy for each that is read.
    pub fn cut_into_bios(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// The layout.
    pub fn layout(&self) -> &dyn Layout {
        &*self.layout
    }

    /// Which members are up. A member that is being restored is not.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Accepts a request that arrives at `now`. Ask [`Core::next_ready`] for the stages to start.
    pub fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.accept(now, Owner::Caller(tag), request);
    }

    pub(super) fn accept(&mut self, now: Nanos, owner: Owner, request: Request) {
        let slot = self.hold(now, owner, &request);
        if self.restoring.is_some()
            && matches!(owner, Owner::Caller(_))
            && self.is_held_back(now, slot, &request)
        {
            return;
        }
        let laid = self.lay_plan(slot, owner, &request);
        if !self.goes_on(now, slot, &laid) {
            return;
        }
        if self.plans[slot].rows().is_empty() {
            // Nothing is to be locked, and nothing was restored since it was planned.
            self.ready.push_back(slot);
        } else {
            self.lock_rows(now, slot);
        }
    }

    /// The slot of the next request whose stage is to be prepared and then started. Ask until there is
    /// none, after every call that can make one ready.
    #[inline]
    pub fn next_ready(&mut self) -> Option<usize> {
        if self.ready.is_empty() { None } else { self.ready.pop_front() }
    }

    /// The current stage of the request in `slot`.
    #[inline]
    pub fn stage(&self, slot: usize) -> Stage<'_> {
        let Active { owner, request, stage, .. } = &self.active[slot];
        let owner = match *owner {
            Owner::Caller(tag) => Some(tag),
            Owner::Rebuild | Owner::Repair(_) => None,
        };
        Stage { owner, request: *request, plan: &self.plans[slot], index: *stage }
    }

    /// Charges the time of the request in `slot` up to `until` to `part`.
    #[inline]
    pub fn charge(&mut self, slot: usize, part: Part, until: Nanos) {
        self.ledgers[slot].charge(part, until);
    }

    /// A command is done; `spent` says where its time went.
    #[inline]
    pub fn done(&mut self, at: Nanos, tag: Tag, result: Result<(), Fault>, spent: &Spent) {
        let tag = if passing::is_passed(tag) { self.hold_passed(tag) } else { tag };
        let Name { slot, step, modifies, member } = Name::read(tag);
        let is_restored = self.active[slot].owner == Owner::Rebuild;
        if !is_restored || !self.holds_all {
            self.members[member as usize].in_flight -= 1;
        }
        if is_restored {
            self.note_restored(slot, step, modifies, member);
        } else if self.copy_choice != CopyChoice::Idlest {
            let plan = &self.plans[slot];
            let step = &plan.steps()[step];
            let moves = |step: &&Step| matches!(step.request.op, Op::Read | Op::Write { .. });
            let ended = Some(step).filter(moves);
            if let Some(end) = ended.and_then(|step| end_on(plan, step, member)) {
                self.members[member as usize].head = end;
            }
        }
        let progress = &mut self.active[slot].progress;
        progress.returned(result, modifies);
        let last = progress.in_flight() == 0;
        match result {
            Err(Fault::Failed) => self.fail(at, member),
            Err(Fault::Medium) => self.note_damage(slot, step, member),
            _ => {}
        }
        if last {
            // It is the critical path.
            self.stage_over(at, slot, spent);
        }
    }

    /// All commands of a stage are back, and the last of them took what `last` says: on to the next, or again without what
    /// has failed.
    #[inline]
    pub(super) fn stage_over(&mut self, at: Nanos, slot: usize, last: &Spent) {
        let active = &mut self.active[slot];
        let fault = active.progress.fault();
        let goes_on = match fault {
            None => active.stage + 1 < self.plans[slot].stages(),
            Some(fault) => matches!(fault, Fault::Failed | Fault::Medium),
        };
        if !goes_on {
            return self.finish(at, slot, last);
        }
        self.ledgers[slot].charge_all(last);
        match fault {
            Some(Fault::Medium) => self.repair(at, slot),
            Some(_) => {
                self.unlock_rows(at, slot);
                self.plan(at, slot);
            }
            None => {
                active.stage += 1;
                self.ready.push_back(slot);
            }
        }
    }

    /// Takes a member out of service from `at` on. Requests that turn out to need it are replanned.
    pub fn fail(&mut self, at: Nanos, member: u32) {
        self.health.fail(member);
        if self.restoring.as_ref().is_some_and(|r| r.rebuild.member == member) {
            self.end_rebuild(at);
        }
    }

    /// A spare has replaced `rebuild.member`. The rebuild of its sectors `part` starts at `now`.
    ///
    /// # Panics
    ///
    /// Where the speed limit is zero or the part empty, or requests are in flight: they may lack the locks
    /// that keep requests and rebuild apart.
    pub fn rebuild(&mut self, now: Nanos, rebuild: Rebuild, part: Range<u64>) {
        assert!(!part.is_empty(), "there is something to restore");
        assert!(rebuild.bytes_per_s != Some(0), "it would never end");
        let is_idle = self.active.is_empty() && self.passed.is_empty();
        assert!(is_idle, "no request is in flight when a rebuild starts");
        self.health.fail(rebuild.member);
        self.restoring = Some(Restoring::new(now, rebuild, part));
        self.holds_all = false;
        self.locks_regions = self.layout.parity().is_none();
    }

    /// A command that changed sectors and was done is now durable, or `lost` with its member.
    #[inline]
    pub fn settled(&mut self, at: Nanos, tag: Tag, lost: bool) {
        let Name { slot, member, .. } = Name::read(tag);
        if lost {
            self.fail(at, member);
        }
        let progress = &mut self.active[slot].progress;
        progress.settled(lost);
        if progress.is_over() {
            self.let_go(at, slot);
        }
    }

    /// Whether the request in `slot`, one step of which is lost, cannot be recovered from the members
    /// that are up.
    #[cold]
    fn is_lost(&mut self, slot: usize) -> bool {
        let active = &self.active[slot];
        if !matches!(active.owner, Owner::Caller(_)) {
            return false;
        }
        let read = Request { op: Op::Read, ..active.request };
        self.layout.plan(read, &self.health, &mut self.spare).is_err()
    }

    /// The request in `slot` is done. What its `last` command took is not yet in the ledger: that would be one more pass over
    /// all parts.
    pub(super) fn finish(&mut self, at: Nanos, slot: usize, last: &Spent) {
        let Active { rows_locked, progress, .. } = &self.active[slot];
        let (locks, misses) = (*rows_locked > 0, progress.is_lost());
        if locks {
            self.unlock_rows(at, slot);
        }
        if misses && self.is_lost(slot) {
            self.active[slot].progress.fail(Fault::Failed);
        }
        self.leave_barrier(at, slot);
        let Active { owner, request, progress, .. } = &mut self.active[slot];
        let (owner, fault, request) = (*owner, progress.fault(), *request);
        if owner == Owner::Rebuild && fault == Some(Fault::Reset) {
            return self.plan(at, slot);
        }
        progress.finish();
        let is_over = progress.is_over();
        match owner {
            Owner::Caller(tag) => {
                let (result, spent) = (progress.result(), self.ledgers[slot].ended(at, last));
                self.outbox.push(Event::Done { tag, at, result, spent });
            }
            Owner::Rebuild => self.chunk_done(at, fault, request),
            Owner::Repair(of) => self.repaired(at, of, slot),
        }
        if is_over {
            self.let_go(at, slot);
        }
    }

    /// A request is over: reports whether it is durable or lost.
    #[inline]
    fn let_go(&mut self, at: Nanos, slot: usize) {
        let lost = self.active[slot].progress.is_lost() && self.is_lost(slot);
        if !self.damaged.is_empty() {
            self.damaged.retain(|&(of, _)| of != slot);
        }
        let Active { owner, request, progress, .. } = self.active.remove(slot);
        if let Owner::Caller(tag) = owner
            && let Some(event) = progress.last_word(at, tag, request.op, lost)
        {
            self.outbox.push(event);
        }
    }

    /// Aborts what was in flight. The results of commands at the members must still be reported.
    ///
    /// # Panics
    ///
    /// Where a stage is ready and was not taken.
    pub fn disturb(&mut self, now: Nanos, what: Disturbance) {
        assert!(self.ready.is_empty(), "what is ready is started first");
        if let Disturbance::Fail(_) = what {
            return self.fail_volume(now);
        }
        // A failed member shows when it is next asked for something.
        let Some(fault) = what.aborts_all() else { return };
        // A power cut loses what was done but not durable, and no further event follows for it.
        self.active.retain(|_, active| active.progress.abort(what, fault));
        self.abort_passed(fault);
        if let Some(restoring) = &mut self.restoring {
            let waiting = restoring.take_waiting();
            if what == Disturbance::PowerCut {
                restoring.start_again(now);
                self.epoch += 1;
            }
            for slot in waiting {
                self.finish(now, slot, &Spent::NONE);
            }
        }
    }

    /// Whatever runs the volume fails: nothing is served from `now` on. The members finish what they
    /// have.
    fn fail_volume(&mut self, now: Nanos) {
        self.down = true;
        for (_, active) in &mut self.active {
            if !active.progress.is_finished() {
                active.progress.fail(Fault::Failed);
            }
        }
        self.abort_passed(Fault::Failed);
        self.end_rebuild(now);
    }

    /// When there are events to collect, or the next chunk to rebuild.
    pub fn next_event(&self) -> Option<Nanos> {
        earlier(self.restores_at(), self.outbox.next_event())
    }

    /// When the next chunk to rebuild starts, if only time keeps it.
    #[inline]
    pub(super) fn restores_at(&self) -> Option<Nanos> {
        self.restoring.as_ref().and_then(Restoring::next_event)
    }

    /// The same where md's thread restores the member.
    pub(super) fn md_restores_at(&self) -> Option<Nanos> {
        let by_md = self.restoring.as_ref().filter(|restoring| restoring.thread.is_some());
        by_md.and_then(Restoring::next_event)
    }

    /// Starts the chunks of a rebuild that are due by `now`.
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        if self.restoring.is_some() {
            self.start_chunks(now);
        }
    }

    /// Appends the events up to `now`, in time order.
    pub fn collect(&mut self, now: Nanos, out: &mut Vec<Event>) {
        if !self.outbox.is_empty() {
            self.outbox.collect(now, out);
        }
    }

    /// Adds what it has done so far to `counters`.
    pub fn count(&self, counters: &mut Counters) {
        counters.kept += (self.active.len() + self.passed.len()) as u64;
        counters.restored_sectors += self.restored_sectors;
        counters.restored_at = counters.restored_at.max(self.restored_at);
    }
}
