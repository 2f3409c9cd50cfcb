//! Reads that one member serves alone are passed on to it.
//!
//! They need no plan, no stage and no ledger: what the member's command takes is what the request takes. Where anything
//! happens to one, it is taken into a slot like any other request, as if it had always been there.

use super::copy_choice::CopyChoice;
use super::core::{Core, Name, Owner};
use crate::{Event, Fault, Nanos, Tag};
use block::{Content, Op, Place, Request};

/// A read that was passed on.
pub(super) struct Passed {
    tag: Tag,
    request: Request,
    /// When it came.
    since: Nanos,
    place: Place,
    /// What has aborted it.
    fault: Option<Fault>,
}

/// The mark of the command of such a read; the rest of its name is its number.
const PASSED: Tag = 1 << 63;

/// Whether the command with this name is that of a read that was passed on.
#[inline]
pub(super) fn is_passed(tag: Tag) -> bool {
    tag & PASSED != 0
}

/// Its number.
#[inline]
fn number(tag: Tag) -> usize {
    (tag & !PASSED) as usize
}

impl Core {
    /// The command of a request that can be passed on to a member as it is, which is to be sent at once.
    #[inline]
    pub(super) fn pass(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: &Request,
    ) -> Option<(Tag, Request)> {
        let is_cut = self.cut.is_some_and(|cut| request.sectors > cut.bio_sectors);
        if request.op != Op::Read || is_cut || !self.plans_plainly() {
            return None;
        }
        let place = self.layout.only_place(request.sector, request.sectors)?;
        if self.health.failures() > 0 && !self.health.is_up(place.member) {
            return None;
        }
        let request = request.parted();
        let number = self.passed.insert(Passed { tag, request, since: now, place, fault: None });
        let command = Request { target: place.member, sector: place.sector, ..request };
        self.members[place.member as usize].sent(&command);
        Some((PASSED | number as Tag, command))
    }

    /// Hands back what came from below, if all of it is of reads that were passed on, and they went well: under their own
    /// names. Otherwise it changes nothing.
    #[inline]
    pub(super) fn hand_back(&mut self, events: &mut [Event]) -> bool {
        let went_well = |event: &Event| match *event {
            Event::Done { tag, result: Ok(()), .. } if is_passed(tag) => {
                self.passed[number(tag)].fault.is_none()
            }
            _ => false,
        };
        if !events.iter().all(went_well) {
            return false;
        }
        for event in events {
            if let Event::Done { tag, .. } = event {
                let read = self.passed.remove(number(*tag));
                let member = &mut self.members[read.place.member as usize];
                member.in_flight -= 1;
                if self.copy_choice != CopyChoice::Idlest {
                    member.head = read.place.sector + u64::from(read.request.sectors);
                }
                *tag = read.tag;
            }
        }
        true
    }

    /// Takes a read that was passed on into a slot, with the plan that it would have had. Gives its command's name there.
    #[inline(never)]
    pub(super) fn hold_passed(&mut self, tag: Tag) -> Tag {
        let Passed { tag, request, since, place, fault } = self.passed.remove(number(tag));
        let slot = self.hold(since, Owner::Caller(tag), &request);
        let plan = &mut self.plans[slot];
        plan.clear();
        plan.step(Op::Read, place, request.sectors, Content::Data(request.sector));
        plan.end_stage();
        let progress = &mut self.active[slot].progress;
        progress.sent(1);
        if let Some(fault) = fault {
            progress.fail(fault);
        }
        Name::of(slot, 0, &request.to(place.member)).tag()
    }

    /// `fault` ends what is in flight, though its commands' results still come.
    pub(super) fn abort_passed(&mut self, fault: Fault) {
        for (_, read) in &mut self.passed {
            read.fault.get_or_insert(fault);
        }
    }
}
