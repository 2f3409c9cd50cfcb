//! Layouts: where each sector of a volume lives.
//!
//! A layout is pure: it turns a request to the volume into a [`Plan`] of requests to its members.
//! When they run and what they cost is not its business.

mod concat;
mod stripe;

pub use concat::Concat;
pub use stripe::Stripe;

use crate::{Health, Plan, Request, Unservable};
use std::fmt;

/// An address map over some members.
///
/// Sectors are 512 bytes. A layout never looks at a request's target (a volume has one), and asks of
/// its members only sectors that they have.
pub trait Layout {
    /// How many members it spreads over.
    fn members(&self) -> usize;

    /// How many sectors the volume offers.
    fn sectors(&self) -> u64;

    /// Fills `plan` (which it clears first) with the steps that carry out `request`.
    ///
    /// # Errors
    ///
    /// Where the request needs a member that is down in `health` and no other can stand in.
    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable>;
}

/// Why a layout cannot be laid over the members given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// There are no members.
    NoMembers,
    /// A member offers no sectors (for ccd, ENODEV).
    EmptyMember {
        /// Which member, counted from 0.
        member: usize,
    },
    /// A member is smaller than one interleave, so nothing of it could be used.
    MemberBelowInterleave {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// The interleave.
        interleave_sectors: u64,
    },
    /// A stripe needs an interleave of at least one sector.
    NoInterleave,
    /// The sizes add up to more than 2^63 sectors.
    TooLarge,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::NoMembers => write!(f, "a volume needs at least one member"),
            LayoutError::EmptyMember { member } => write!(f, "member {member} has zero sectors"),
            LayoutError::MemberBelowInterleave { member, sectors, interleave_sectors } => write!(
                f,
                "member {member} has {sectors} sectors, less than one interleave of \
                 {interleave_sectors}"
            ),
            LayoutError::NoInterleave => {
                write!(f, "the interleave is below one sector; a stripe needs at least 1")
            }
            LayoutError::TooLarge => write!(f, "the members add up to more than 2^63 sectors"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// Checks what every layout asks of its members.
fn check_members(member_sectors: &[u64]) -> Result<(), LayoutError> {
    if member_sectors.is_empty() {
        return Err(LayoutError::NoMembers);
    }
    if let Some(member) = member_sectors.iter().position(|&sectors| sectors == 0) {
        return Err(LayoutError::EmptyMember { member });
    }
    let total = member_sectors.iter().try_fold(0_u64, |sum, &sectors| sum.checked_add(sectors));
    if total.is_none_or(|total| total > 1 << 63) { Err(LayoutError::TooLarge) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
