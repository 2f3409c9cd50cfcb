//! Sends the commands of a stage to the members.

use super::copy_choice::{CopyChoice, Member, MemberKind, Members};
use super::core::{Command, Core, Name, Owner};
use super::rebuild::Restoring;
use crate::{Fault, Nanos, Spent};
use block::Request;
use std::ops::Range;

impl Core {
    /// From now on its members are of these kinds, in order.
    pub fn know_members(&mut self, kinds: &[MemberKind]) {
        for (member, &kind) in self.members.iter_mut().zip(kinds) {
            member.kind = kind;
        }
    }

    /// Starts a prepared stage: passes its commands to `send`.
    pub fn start(&mut self, now: Nanos, slot: usize, mut send: impl FnMut(Command)) {
        self.start_while(now, slot, |command| {
            send(command);
            true
        });
    }

    /// The same until `send` says that it takes no more for now. Gives how many steps of the stage are left for
    /// [`Core::send_rest`].
    #[inline]
    pub fn start_while(
        &mut self,
        now: Nanos,
        slot: usize,
        mut send: impl FnMut(Command) -> bool,
    ) -> usize {
        let active = &mut self.active[slot];
        if active.progress.fault().is_some() {
            // Aborted while it was prepared, or while it waited for a row.
            self.finish(now, slot, &Spent::NONE);
            return 0;
        }
        let (plan, stage) = (&self.plans[slot], active.stage);
        let steps = plan.stage_range(stage);
        if active.owner != Owner::Rebuild {
            active.progress.sent(steps.len() as u32);
            return self.send_steps(slot, steps, send);
        }
        let joined = self.joined(plan, stage);
        self.active[slot].progress.sent(joined.len() as u32);
        // md reads the first copy that is up.
        let by = if self.is_restored_by_md() { CopyChoice::First } else { self.copy_choice };
        let counts = !self.holds_all;
        for (index, Request { sectors, .. }) in joined {
            let members = Members { each: &self.members, are_held: false, unread: None };
            let chosen = by.choose(members, plan, &plan.steps()[steps.start + index]);
            let request = Request { sectors, ..chosen };
            let name = Name::of(slot, steps.start + index, &request);
            if counts {
                self.members[request.target as usize].sent(&request);
            }
            send(Command { tag: name.tag(), step: name.step, request });
        }
        0
    }

    /// Starts the last `left` steps of a stage, like [`Core::start_while`].
    pub fn send_rest(
        &mut self,
        slot: usize,
        left: usize,
        send: impl FnMut(Command) -> bool,
    ) -> usize {
        let Range { end, .. } = self.plans[slot].stage_range(self.active[slot].stage);
        self.send_steps(slot, end - left..end, send)
    }

    /// Starts these `steps`, likewise.
    #[inline]
    fn send_steps(
        &mut self,
        slot: usize,
        steps: Range<usize>,
        mut send: impl FnMut(Command) -> bool,
    ) -> usize {
        let plan = &self.plans[slot];
        let are_held = self.restoring.as_ref().is_some_and(Restoring::holds_all);
        let unread = self.restoring.as_ref().and_then(Restoring::unread);
        for (index, step) in steps.clone().zip(&plan.steps()[steps.clone()]) {
            let members = Members { each: &self.members, are_held, unread };
            let request = self.copy_choice.choose(members, plan, step);
            let name = Name::of(slot, index, &request);
            if !send(sent(&mut self.members, name, request)) {
                return steps.end - index - 1;
            }
        }
        0
    }

    /// The last `left` steps of a stage are not started any more, for everything was aborted by `fault`.
    pub fn give_up(&mut self, now: Nanos, slot: usize, left: usize, fault: Fault) {
        let progress = &mut self.active[slot].progress;
        for _ in 0..left {
            progress.returned(Err(fault), false);
        }
        if progress.in_flight() == 0 {
            self.stage_over(now, slot, &Spent::NONE);
        }
    }
}

/// The command that carries out `request`, as its member knows of it.
#[inline]
fn sent(members: &mut [Member], name: Name, request: Request) -> Command {
    members[request.target as usize].sent(&request);
    Command { tag: name.tag(), step: name.step, request }
}
