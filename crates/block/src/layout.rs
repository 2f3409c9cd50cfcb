//! Layouts: where each sector of a volume lives.
//!
//! A layout is pure: it turns a request to the volume into a [`Plan`] of requests to its members.
//! When they run and what they cost is not its business.
//!
//! ```text
//! every sector once        Concat   Stripe   Raid0 (md's own way to deal unequal members)
//! every sector copied      Mirrors around one of those, Raid10 (md's near, far and offset)
//! rows under parity        Parity (RAID 4, 5 and 6, every rotation)
//! around any of them       Offset (sectors at the front of each member that are not the volume's)
//! several of them          Segments (btrfs's chunks, device-mapper's targets)
//! ```
//!
//! [`LEVELS`] is the list of them by the names that people use.

pub mod btrfs;
mod concat;
mod copies;
mod level;
mod mirrors;
mod offset;
mod parity;
mod raid0;
mod raid10;
mod segments;
mod stripe;
mod table;

pub use concat::Concat;
pub use level::{LEVELS, Level, NoSuchLevel, md_data_offset_sectors};
pub use mirrors::{Mirrors, Pairing};
pub use offset::Offset;
pub use parity::{Code, Parity, Rotation, WriteRule};
pub use raid0::{Dealing, Raid0};
pub use raid10::{Raid10, Spread};
pub use segments::{Part, Segments};
pub use stripe::Stripe;

use crate::{Health, Place, Plan, Request, SECTOR_BYTES, Unservable};
use std::fmt;

/// An address map over some members.
///
/// Sectors are 512 bytes. A layout never looks at a request's target (a volume has one), and asks of
/// its members only sectors that they have.
///
/// A layout that only copies says where each sector's copies are, and what lives where; plans follow
/// from that. One with parity writes its own.
pub trait Layout {
    /// How many members it spreads over.
    fn members(&self) -> usize;

    /// How many sectors the volume offers.
    fn sectors(&self) -> u64;

    /// Adds every place where `sector` of the volume lives, the first copy first, and returns how
    /// many sectors from it on (at least 1) lie one after another in the same way.
    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64;

    /// Which sector of the volume lives at `place` (none where it holds parity or nothing), and for
    /// how many sectors from there on (at least 1) that goes on in the same way.
    fn holds(&self, place: Place) -> (Option<u64>, u64);

    /// Fills `plan` (which it clears first) with the steps that carry out `request`.
    ///
    /// # Errors
    ///
    /// Where the request needs a member that is down in `health` and no other can stand in.
    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        copies::plan(self, request, health, plan)
    }

    /// Fills `plan` (which it clears first) with the steps that write again what `sectors` sectors of
    /// a member from `lost` on should hold, from the other members. What the volume does not use of
    /// them is left out.
    ///
    /// The member counts as down, whatever `health` says of it. It is the caller who keeps other
    /// writes away meanwhile where the plan locks no row, and who plans requests to what is restored
    /// with the member up, and those to the rest with it down.
    ///
    /// # Errors
    ///
    /// Where the members that are up do not tell what was there.
    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        copies::rebuild(self, lost, sectors, health, plan)
    }

    /// The rows under parity that a sector of the volume is in, if it is in any.
    fn rows_at(&self, _sector: u64) -> Option<Rows<'_>> {
        None
    }

    /// The arithmetic of its parity, if it has any: what a column is, and what each unit counts for. Of
    /// segments it is the first one's; [`Layout::rows_at`] has that of each.
    fn parity(&self) -> Option<&Parity> {
        self.rows_at(0).map(|rows| rows.parity)
    }

    /// Where P and, under two parities, Q of a row start.
    fn row_parity(&self, _row: u64) -> Option<(Place, Option<Place>)> {
        None
    }

    /// Its segments, where it is in several.
    fn segments(&self) -> Option<&Segments> {
        None
    }
}

/// Rows under parity, and where they are in the volume.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Their arithmetic, which counts sectors and rows from 0.
    pub parity: &'a Parity,
    /// The volume's sector that the first row starts at.
    pub first_sector: u64,
    /// The number of the first row in the volume.
    pub first_row: u64,
}

impl Rows<'_> {
    /// The row that a sector of the volume is in, counted from these rows' first, and the volume's
    /// sector at which that row starts.
    pub fn row_of(&self, sector: u64) -> (u64, u64) {
        let row_sectors = u64::from(self.parity.data_units()) * self.parity.interleave_sectors();
        let row = (sector - self.first_sector) / row_sectors;
        (row, self.first_sector + row * row_sectors)
    }
}

impl<L: Layout + ?Sized> Layout for Box<L> {
    fn members(&self) -> usize {
        (**self).members()
    }

    fn sectors(&self) -> u64 {
        (**self).sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        (**self).places(sector, places)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        (**self).holds(place)
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        (**self).plan(request, health, plan)
    }

    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        (**self).rebuild(lost, sectors, health, plan)
    }

    fn rows_at(&self, sector: u64) -> Option<Rows<'_>> {
        (**self).rows_at(sector)
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        (**self).row_parity(row)
    }

    fn segments(&self) -> Option<&Segments> {
        (**self).segments()
    }
}

/// Why a layout cannot be laid over the members given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// There are no members.
    NoMembers,
    /// There are too few members for this layout.
    TooFewMembers {
        /// How many it needs.
        needed: usize,
        /// How many there are.
        given: usize,
    },
    /// A bare disk is one disk.
    NotSingle {
        /// How many there are.
        given: usize,
    },
    /// The members do not make whole sets of copies.
    UnevenCopies {
        /// How many copies there are of each sector.
        copies: u32,
        /// How many members there are.
        given: usize,
    },
    /// Fewer than two copies, or none, of what is to be copied.
    NoCopies,
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
    /// A member has not an interleave for each copy.
    MemberBelowCopies {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// How many copies there are of each sector.
        copies: u64,
        /// The interleave.
        interleave_sectors: u64,
    },
    /// A member has no more than the sectors to be left free at its front.
    MemberBelowReserved {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// How many sectors are to be left free.
        reserved_sectors: u64,
    },
    /// A member is smaller than the system needs for itself and the first of the data.
    MemberBelowLeast {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// The least that the system takes.
        least_sectors: u64,
    },
    /// Two parts of a member that should be apart have a sector in common.
    Overlap {
        /// Which member, counted from 0.
        member: usize,
        /// The first sector that is in both.
        sector: u64,
    },
    /// The members are so large that the volume would have more chunks than can be kept.
    TooManyChunks,
    /// A stripe needs an interleave of at least one sector.
    NoInterleave,
    /// The rotation says where Q goes, but there is only P.
    RotationNeedsQ,
    /// The sizes add up to more than 2^63 bytes.
    TooLarge,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::NoMembers => write!(f, "a volume needs at least one member"),
            LayoutError::TooFewMembers { needed, given } => {
                write!(f, "this layout needs at least {needed} members, not {given}")
            }
            LayoutError::NotSingle { given } => {
                write!(f, "a single disk is one member, not {given}; join them with `concat`")
            }
            LayoutError::UnevenCopies { copies, given } => {
                write!(f, "{given} members do not make whole sets of {copies} copies")
            }
            LayoutError::NoCopies => write!(f, "a mirror keeps at least two copies"),
            LayoutError::EmptyMember { member } => write!(f, "member {member} has zero sectors"),
            LayoutError::MemberBelowInterleave { member, sectors, interleave_sectors } => write!(
                f,
                "member {member} has {sectors} sectors, less than one interleave of \
                 {interleave_sectors}"
            ),
            LayoutError::MemberBelowCopies { member, sectors, copies, interleave_sectors } => {
                write!(
                    f,
                    "member {member} has {sectors} sectors, less than an interleave of \
                 {interleave_sectors} for each of {copies} copies"
                )
            }
            LayoutError::MemberBelowReserved { member, sectors, reserved_sectors } => write!(
                f,
                "member {member} has {sectors} sectors, and {reserved_sectors} at its front are \
                 not the volume's"
            ),
            LayoutError::MemberBelowLeast { member, sectors, least_sectors } => write!(
                f,
                "member {member} has {sectors} sectors; the system takes at least {least_sectors}"
            ),
            LayoutError::Overlap { member, sector } => {
                write!(f, "two segments both use sector {sector} of member {member}")
            }
            LayoutError::TooManyChunks => {
                write!(
                    f,
                    "the members are too large: more chunks than fit in memory; take smaller ones"
                )
            }
            LayoutError::NoInterleave => {
                write!(f, "the interleave is below one sector; a stripe needs at least 1")
            }
            LayoutError::RotationNeedsQ => {
                write!(f, "this rotation is one of P and Q; with P alone take one of RAID 5")
            }
            LayoutError::TooLarge => {
                write!(f, "the members add up to more than 2^63 bytes; take smaller ones")
            }
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
    // So that whoever counts a volume in bytes stays within 64 bits.
    let most = (1 << 63) / SECTOR_BYTES;
    if total.is_none_or(|total| total > most) { Err(LayoutError::TooLarge) } else { Ok(()) }
}

/// Checks members that are dealt interleaves, and says how many whole ones each has.
fn whole_interleaves(
    interleave_sectors: u64,
    member_sectors: &[u64],
) -> Result<Vec<u64>, LayoutError> {
    check_members(member_sectors)?;
    if interleave_sectors == 0 {
        return Err(LayoutError::NoInterleave);
    }
    if let Some(member) = member_sectors.iter().position(|&sectors| sectors < interleave_sectors) {
        let sectors = member_sectors[member];
        return Err(LayoutError::MemberBelowInterleave { member, sectors, interleave_sectors });
    }
    Ok(member_sectors.iter().map(|sectors| sectors / interleave_sectors).collect())
}

#[cfg(test)]
mod tests;
