//! Sectors that a member cannot read are computed from the other members and rewritten, as md does
//! (`fix_read_error` of raid1.c and raid10.c, `handle_stripe` of raid5.c). The drive then remaps them.
//!
//! ```text
//! read ──→ medium error ──→ the others are read ──→ the member is written ──→ the request is replanned
//!                                    ├── another cannot read either: it is done without that one, too
//!                                    └── they do not determine it: the request fails
//! ```

use super::core::{Active, Core, Owner};
use super::rebuild::lock_chunk_regions;
use crate::{Fault, Nanos, Spent};
use block::{Place, Request};

impl Core {
    /// A member could not read a step of the request in `slot`.
    pub(super) fn note_damage(&mut self, slot: usize, step: usize, member: u32) {
        let Active { owner, stage, .. } = &self.active[slot];
        let plan = &self.plans[slot];
        let of = &plan.steps()[step];
        let own = (of.request.target == member).then_some(of.request.sector);
        let copy = plan.others(of).iter().find(|copy| copy.member == member);
        let Some(sector) = own.or(copy.map(|copy| copy.sector)) else { return };
        let mut sectors = of.request.sectors;
        if *owner == Owner::Rebuild {
            let joined = self.joined(plan, *stage);
            let command = joined.iter().find(|(index, _)| plan.stage_start(*stage) + index == step);
            sectors = command.map_or(sectors, |(_, request)| request.sectors);
        }
        self.damaged.push((slot, Request::write(sector, sectors).to(member)));
    }

    /// Rewrites what members could not read for the request in `slot`; the request waits.
    pub(super) fn repair(&mut self, now: Nanos, slot: usize) {
        let mut damaged = Vec::new();
        self.damaged.retain(|&(of, request)| {
            if of == slot {
                damaged.push(request);
            }
            of != slot
        });
        self.unlock_rows(now, slot);
        if matches!(self.active[slot].owner, Owner::Repair(_)) {
            // The sectors needed to compute it cannot be read either; a second parity or a third copy may do.
            let others = damaged.iter().map(|request| (slot, request.target));
            self.unreadable.extend(others);
            return self.plan(now, slot);
        }
        self.locks_regions |= self.layout.parity().is_none();
        let active = &mut self.active[slot];
        active.progress.retry();
        active.repairs = damaged.len() as u32;
        for request in damaged {
            self.accept(now, Owner::Repair(slot), request);
        }
    }

    /// The repair in `slot` is over; the request in `of` waits for it.
    pub(super) fn repaired(&mut self, at: Nanos, of: usize, slot: usize) {
        self.unreadable.retain(|&(repair, _)| repair != slot);
        let member = self.active[slot].request.target;
        let fault = self.active[slot].progress.fault();
        let active = &mut self.active[of];
        active.repairs -= 1;
        if fault.is_some() && self.health.is_up(member) {
            // Otherwise the request is replanned without the member.
            active.progress.fail(Fault::Medium);
        }
        if active.repairs > 0 {
            return;
        }
        match active.progress.fault() {
            None => self.plan(at, of),
            Some(_) => self.finish(at, of, &Spent::NONE),
        }
    }

    /// Plans the repair `request`: reads from the others, and the write to its member.
    pub(super) fn lay_repair(&mut self, slot: usize) -> bool {
        let active = &mut self.active[slot];
        active.stage = 0;
        active.progress.retry();
        let Active { request, .. } = active;
        let plan = &mut self.plans[slot];
        let lost = Place { member: request.target, sector: request.sector };
        let mut health = self.health.clone();
        let unreadable = self.unreadable.iter().filter(|(repair, _)| *repair == slot);
        unreadable.for_each(|&(_, member)| health.fail(member));
        let known = self.health.is_up(request.target)
            && self.layout.rebuild(lost, request.sectors, &health, plan).is_ok();
        if known && self.locks_regions {
            lock_chunk_regions(plan);
        }
        known
    }
}
