//! The superblocks say whether the array is in use: a write to a clean one waits until they do.

use super::{Carries, Md};
use crate::linux::queue::Plug;
use crate::{Device, Nanos};
use block::{Op, Request};

impl<D: Device> Md<D> {
    /// Whether the sender comes to its next request: it sleeps while superblocks are written, and has them written where that
    /// request writes to a clean array.
    pub(super) fn may_begin(&mut self, now: Nanos) -> bool {
        let Some(&(caller, _)) = self.arrived.front() else { return false };
        let is_write = self.callers.request(caller).op.modifies();
        if !self.marks.are_written() && is_write && self.marks.take_up() {
            self.mark(now);
        }
        !self.marks.are_written()
    }

    /// When the array may have become clean.
    pub(super) fn clean_at(&self) -> Option<Nanos> {
        self.marks.clean_at()
    }

    /// Nobody has written for a while (`md_safemode_timeout`).
    pub(super) fn mark_as_clean(&mut self, now: Nanos) {
        let is_written = self.callers.modify();
        if self.marks.is_due(is_written) {
            self.mark(now);
        }
    }

    fn mark(&mut self, now: Nanos) {
        self.callers.mark.wait(now);
        self.marks.begin();
        self.write_to_all(now);
    }

    /// Writes the page of the bitmap or the superblocks of all members that are up, past their caches.
    fn write_to_all(&mut self, now: Nanos) {
        let members = 0..self.layout.members() as u32;
        let up: Vec<u32> = members.filter(|&member| self.health.is_up(member)).collect();
        if up.is_empty() {
            return self.callers.mark.is_over(now);
        }
        self.marks.sent(up.len());
        for member in up {
            if self.members.need_flushes() {
                self.members.flush(now, member, Carries::Mark);
            } else {
                self.write_mark(now, member);
            }
        }
    }

    fn write_mark(&mut self, now: Nanos, member: u32) {
        let mut plug = Plug::default();
        self.members.send(now, &mut plug, self.marks.write(member), Carries::Mark);
        self.members.unplug(now, &mut plug);
    }

    /// A member is done with a flush or its superblock. One that has failed has none, and none is missed.
    pub(super) fn mark_done(&mut self, now: Nanos, asked: Request) {
        if asked.op == Op::Flush && self.health.is_up(asked.target) {
            self.marks.sent(1);
            self.write_mark(now, asked.target);
        }
        self.marks.done();
        if self.marks.goes_on() {
            self.write_to_all(now);
        }
        if !self.marks.are_written() {
            self.callers.mark.is_over(now);
        }
    }
}
