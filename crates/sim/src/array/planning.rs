//! From a request to a plan with its rows locked.

use super::core::{Active, Core, Owner};
use super::rebuild::{Verdict, lock_chunk_regions, lock_regions};
use crate::progress::Progress;
use crate::spent::Ledger;
use crate::{Fault, Nanos, Part, Spent};
use block::{Op, Place, Plan, Request, Unservable};

/// The result of planning a request.
pub(super) enum Laid {
    Planned,
    /// Replan it when more is restored.
    Later,
    Unservable,
}

impl Core {
    /// Gives `request` a slot, without a plan.
    #[inline]
    pub(super) fn hold(&mut self, now: Nanos, owner: Owner, request: &Request) -> usize {
        let slot = self.active.insert(Active {
            owner,
            request: request.parted(),
            epoch: self.epoch,
            stage: 0,
            rows_locked: 0,
            progress: Progress::default(),
            repairs: 0,
            inside: None,
        });
        if slot == self.plans.len() {
            self.plans.push(Plan::default());
            self.ledgers.push(Ledger::start(now));
        }
        self.ledgers[slot] = Ledger::start(now);
        slot
    }

    /// Plans the request in `slot` and starts it, or reports that it cannot be served.
    pub(super) fn plan(&mut self, now: Nanos, slot: usize) {
        let Active { owner, request, .. } = &self.active[slot];
        let (owner, request) = (*owner, *request);
        let laid = self.lay_plan(slot, owner, &request);
        if self.goes_on(now, slot, &laid) {
            self.lock_rows(now, slot);
        }
    }

    /// Whether a planned request has anything to do. If not, it is finished or set aside here.
    #[inline]
    pub(super) fn goes_on(&mut self, now: Nanos, slot: usize, laid: &Laid) -> bool {
        let goes_on = matches!(laid, Laid::Planned) && self.plans[slot].stages() > 0;
        if !goes_on {
            self.put_off(now, slot, laid);
        }
        goes_on
    }

    /// Finishes a planned request that has nothing to do, or sets it aside.
    fn put_off(&mut self, now: Nanos, slot: usize, laid: &Laid) {
        match laid {
            Laid::Planned => self.finish(now, slot, &Spent::NONE),
            Laid::Later => {
                self.unlock_rows(now, slot);
                match &mut self.restoring {
                    Some(restoring) => restoring.waiting.push(slot),
                    // Unlocking the rows ended the rebuild.
                    None => self.plan(now, slot),
                }
            }
            Laid::Unservable => {
                let progress = &mut self.active[slot].progress;
                progress.retry();
                progress.fail(Fault::Failed);
                self.finish(now, slot, &Spent::NONE);
            }
        }
    }

    /// Whether plans are what the layout says: nothing is being restored or was, and the array is up.
    #[inline]
    pub(super) fn plans_plainly(&self) -> bool {
        !self.down && self.restoring.is_none() && !self.locks_regions
    }

    /// Fills the plan of the `request` of `owner` in `slot`.
    #[inline]
    pub(super) fn lay_plan(&mut self, slot: usize, owner: Owner, request: &Request) -> Laid {
        if !self.plans_plainly() || !matches!(owner, Owner::Caller(_)) {
            return self.lay_other_plan(slot, owner, request);
        }
        let plan = &mut self.plans[slot];
        let laid = self.layout.plan(request.parted(), &self.health, plan);
        if laid.is_ok() {
            self.cut_plan(slot, request);
        }
        self.laid(slot, laid)
    }

    /// Cuts the plan of the `request` in `slot` into bios, where that is so.
    #[inline]
    fn cut_plan(&mut self, slot: usize, request: &Request) {
        if let Some(cut) = self.cut
            && matches!(request.op, Op::Read | Op::Write { .. })
            && request.sectors > cut.bio_sectors
        {
            self.plans[slot].cut_into_bios(request.sector, cut);
        }
    }

    /// The same of a request of the array itself, and of any while something is being restored or was.
    #[inline(never)]
    fn lay_other_plan(&mut self, slot: usize, owner: Owner, request: &Request) -> Laid {
        if self.down {
            return Laid::Unservable;
        }
        let plan = &mut self.plans[slot];
        let mut later = false;
        let laid = match (&self.restoring, owner) {
            (_, Owner::Repair(_)) => {
                return if self.lay_repair(slot) { Laid::Planned } else { Laid::Unservable };
            }
            (None, Owner::Rebuild) => return Laid::Unservable,
            (None, _) => self.layout.plan(*request, &self.health, plan),
            (Some(_), Owner::Rebuild) => {
                let lost = Place { member: request.target, sector: request.sector };
                self.layout.rebuild(lost, request.sectors, &self.health, plan)
            }
            (Some(restoring), _) => {
                self.health.restore(restoring.rebuild.member);
                let laid = self.layout.plan(*request, &self.health, plan);
                self.health.fail(restoring.rebuild.member);
                let verdict = restoring.judge(request, plan);
                later = verdict == Verdict::Wait;
                match verdict {
                    Verdict::Down => self.layout.plan(*request, &self.health, plan),
                    Verdict::Up | Verdict::Wait => laid,
                }
            }
        };
        if self.is_restored_by_md() && laid.is_ok() && matches!(owner, Owner::Caller(_)) {
            self.cut_plan(slot, request);
        }
        let plan = &mut self.plans[slot];
        if self.locks_regions {
            match owner {
                Owner::Rebuild => lock_chunk_regions(plan),
                _ => lock_regions(request, plan),
            }
        }
        match self.laid(slot, laid) {
            Laid::Planned if later => Laid::Later,
            laid => laid,
        }
    }

    /// The request in `slot` was planned as `laid` says: it begins with the first stage.
    #[inline]
    fn laid(&mut self, slot: usize, laid: Result<(), Unservable>) -> Laid {
        let active = &mut self.active[slot];
        active.stage = 0;
        active.progress.retry();
        active.epoch = self.epoch;
        if laid.is_ok() { Laid::Planned } else { Laid::Unservable }
    }

    /// Locks the next rows of the request, in ascending order so that no two requests can wait for each
    /// other. Starts the first stage when all are locked.
    pub(super) fn lock_rows(&mut self, now: Nanos, slot: usize) {
        let active = &mut self.active[slot];
        while let Some(&row) = self.plans[slot].rows().get(active.rows_locked) {
            if !self.locks.lock(row, slot) {
                return;
            }
            active.rows_locked += 1;
        }
        self.ledgers[slot].charge(Part::QUEUE, now);
        if self.is_outdated(slot) && !self.plan_again(now, slot) {
            return;
        }
        self.ready.push_back(slot);
    }

    /// Whether more was restored since a write was planned: the write must reach that, too.
    fn is_outdated(&self, slot: usize) -> bool {
        let active = &self.active[slot];
        active.epoch != self.epoch
            && active.request.op.modifies()
            && matches!(active.owner, Owner::Caller(_))
            && active.progress.fault().is_none()
    }

    /// Replans a write that has its rows locked; returns whether it continues. The rows stay the same.
    fn plan_again(&mut self, now: Nanos, slot: usize) -> bool {
        std::mem::swap(&mut self.plans[slot], &mut self.spare);
        let Active { owner, request, .. } = &self.active[slot];
        let (owner, request) = (*owner, *request);
        let laid = self.lay_plan(slot, owner, &request);
        let (plan, other) = (&mut self.plans[slot], &mut self.spare);
        debug_assert!(!matches!(laid, Laid::Planned) || plan.rows() == other.rows());
        if !matches!(laid, Laid::Planned) {
            // The old plan lists the locked rows.
            std::mem::swap(plan, other);
        }
        self.goes_on(now, slot, &laid)
    }

    pub(super) fn unlock_rows(&mut self, now: Nanos, slot: usize) {
        let locked = std::mem::take(&mut self.active[slot].rows_locked);
        for index in 0..locked {
            let row = self.plans[slot].rows()[index];
            if let Some(next) = self.locks.unlock(row) {
                self.active[next].rows_locked += 1;
                self.lock_rows(now, next);
            }
        }
    }
}
