//! Which copy of a mirror serves a read.
//!
//! The layout only lists the copies ([`block::Plan::others`]). Which is best depends on what each member
//! is doing, so the run decides.

use block::{Plan, Request, Step};

/// What a member is doing, as far as the choice needs it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    pub(super) in_flight: u32,
    /// Where its last command ended.
    pub(super) position: u64,
}

/// Chooses the copy on the member with the fewest commands in flight. Among equals it takes the member
/// whose last command ended nearest to the copy (RAIDframe's `rf_SelectMirrorDiskIdle`).
#[inline]
pub(super) fn choose_copy(members: &[Member], plan: &Plan, step: &Step) -> Request {
    plan.choose(step, |copy| {
        let member = members[copy.member as usize];
        (member.in_flight, member.position.abs_diff(copy.sector))
    })
}
