//! Layouts: where each sector of a volume lives.
//!
//! A layout is pure: it turns a request to the volume into a [`Plan`] of requests to its members.
//! When its requests run and what they cost is the simulation's business.
//!
//! ```text
//! every sector once        Concat   Stripe   Raid0 (md's own way to deal unequal members)
//! every sector copied      Mirrors around one of those, Raid10 (md's near, far and offset)
//! rows under parity        Parity (RAID 4, 5 and 6, every rotation)
//! around any of them       Offset (sectors at the front of each member that are not the volume's)
//! side by side, striped    Nested (RAID 50 and 60)
//! several of them          Segments (btrfs's chunks, device-mapper's targets)
//! ```
//!
//! [`LEVELS`] is the list of them by the names that people use.

pub mod btrfs;
mod concat;
mod copies;
mod level;
mod mirrors;
mod nested;
mod offset;
mod parity;
mod raid0;
mod raid10;
mod segments;
mod stripe;
mod table;
mod unused;

pub use concat::Concat;
pub use level::{
    LEVELS, Level, Mdadm, NestedLevel, NoSuchLevel, Redundancy, System, md_data_offset_sectors,
};
pub use mirrors::{Mirrors, Pairing};
pub use nested::Nested;
pub use offset::Offset;
pub use parity::{Code, Parity, Rotation, WriteRule};
pub use raid0::{Dealing, Raid0};
pub use raid10::{Raid10, Spread};
pub use segments::{Part, Segments};
pub use stripe::Stripe;
pub use unused::unused;

use crate::units::format_sectors;
use crate::{Health, Place, Plan, Request, SECTOR_BYTES, Unservable};
use std::fmt;

/// An address map over some members.
///
/// Sectors are 512 bytes. A volume has one target, so a layout ignores a request's target. It asks its
/// members only for sectors that they have.
///
/// A layout without parity says where the copies of each sector are, and which sector each place holds.
/// Its plans follow from that. A layout with parity writes its own plans.
pub trait Layout {
    /// How many members it spreads over.
    fn members(&self) -> usize;

    /// How many sectors the volume offers.
    fn sectors(&self) -> u64;

    /// Adds every place that holds `sector` of the volume, the first copy first. Returns how many
    /// sectors from it on (at least 1) are contiguous in every copy.
    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64;

    /// Where all of `sectors` sectors from `sector` on are, if one stretch of one member has them and no other copy is: as
    /// long as that member is up, a read of them is one command to it. A layout that says nothing is right, too.
    fn only_place(&self, _sector: u64, _sectors: u32) -> Option<Place> {
        None
    }

    /// The sector of the volume at `place` (none where it holds parity or nothing), and for how many
    /// sectors from there on (at least 1) the mapping is contiguous.
    fn holds(&self, place: Place) -> (Option<u64>, u64);

    /// Fills `plan` (which it clears first) with the steps that carry out `request`.
    ///
    /// # Errors
    ///
    /// Where the request needs a member that is down in `health` and the other members cannot replace
    /// it.
    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        copies::plan(self, request, health, plan)
    }

    /// Fills `plan` (which it clears first) with the steps that rebuild `sectors` sectors of a member
    /// from `lost` on from the other members. Sectors that the volume does not use are left out.
    ///
    /// The member counts as down, whatever `health` says of it. Where the plan locks no row, the caller
    /// must keep other writes away meanwhile. The caller plans requests to restored sectors with the
    /// member up, and requests to the rest with it down.
    ///
    /// # Errors
    ///
    /// Where the members that are up do not determine what was there.
    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        copies::rebuild(self, lost, sectors, health, plan)
    }

    /// The rows under parity that contain a sector of the volume, if any do.
    fn rows_at(&self, _sector: u64) -> Option<Rows<'_>> {
        None
    }

    /// The arithmetic of its parity, if it has any: the columns, and the weight of each unit. For
    /// segments this is the arithmetic of the first; [`Layout::rows_at`] gives that of each.
    fn parity(&self) -> Option<&Parity> {
        self.rows_at(0).map(|rows| rows.parity)
    }

    /// Where P starts in a row, and with two parities Q.
    fn row_parity(&self, _row: u64) -> Option<(Place, Option<Place>)> {
        None
    }

    /// Its segments, where it has any.
    fn segments(&self) -> Option<&Segments> {
        None
    }
}

/// Rows under parity, and where they are in the volume.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Their arithmetic, which counts sectors and rows from 0.
    pub parity: &'a Parity,
    /// The volume's sector at which the first row starts.
    pub first_sector: u64,
    /// The number of the first row in the volume.
    pub first_row: u64,
}

impl Rows<'_> {
    /// The row that contains a sector of the volume, counted from the first of these rows, and the
    /// volume's sector at which that row starts.
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

    fn only_place(&self, sector: u64, sectors: u32) -> Option<Place> {
        (**self).only_place(sector, sectors)
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

/// Why the given members make no such layout.
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
    /// A bare disk takes exactly one member.
    NotSingle {
        /// How many there are.
        given: usize,
    },
    /// The number of members is not a multiple of the number of copies.
    UnevenCopies {
        /// How many copies there are of each sector.
        copies: u32,
        /// How many members there are.
        given: usize,
    },
    /// The number of members is not a multiple of the number of groups.
    UnevenGroups {
        /// How many groups there are to be.
        groups: usize,
        /// How many members there are.
        given: usize,
    },
    /// Fewer than two copies, or none, in a layout that copies.
    NoCopies,
    /// A member offers no sectors (for ccd, ENODEV).
    EmptyMember {
        /// Which member, counted from 0.
        member: usize,
    },
    /// A member is smaller than one interleave, so none of it could be used.
    MemberBelowInterleave {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// The interleave.
        interleave_sectors: u64,
    },
    /// A member has fewer whole interleaves than there are copies.
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
    /// A member has no more sectors than are left free at its front.
    MemberBelowReserved {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// How many sectors are to be left free.
        reserved_sectors: u64,
    },
    /// A member is smaller than the system's own metadata and the first data.
    MemberBelowLeast {
        /// Which member, counted from 0.
        member: usize,
        /// Its size.
        sectors: u64,
        /// The least that the system accepts.
        least_sectors: u64,
    },
    /// Two extents of a member overlap.
    Overlap {
        /// Which member, counted from 0.
        member: usize,
        /// The first sector in both.
        sector: u64,
    },
    /// The members are so large that the volume would have more chunks than fit into memory.
    TooManyChunks,
    /// A stripe needs an interleave of at least one sector.
    NoInterleave,
    /// The rotation places Q, but the layout has only P.
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
            LayoutError::UnevenGroups { groups, given } => {
                write!(f, "{given} members do not make {groups} equal groups")
            }
            LayoutError::NoCopies => write!(f, "a mirror keeps at least two copies"),
            LayoutError::EmptyMember { member } => write!(f, "member {member} has zero sectors"),
            LayoutError::MemberBelowInterleave { member, sectors, interleave_sectors } => write!(
                f,
                "member {member} has {}, less than one interleave of {}",
                format_sectors(*sectors),
                format_sectors(*interleave_sectors)
            ),
            LayoutError::MemberBelowCopies { member, sectors, copies, interleave_sectors } => {
                write!(
                    f,
                    "member {member} has {}, less than an interleave of {} for each of {copies} copies",
                    format_sectors(*sectors),
                    format_sectors(*interleave_sectors)
                )
            }
            LayoutError::MemberBelowReserved { member, sectors, reserved_sectors } => write!(
                f,
                "member {member} has {}, and {reserved_sectors} at its front are not the volume's",
                format_sectors(*sectors)
            ),
            LayoutError::MemberBelowLeast { member, sectors, least_sectors } => write!(
                f,
                "member {member} has {}; the system takes at least {}",
                format_sectors(*sectors),
                format_sectors(*least_sectors)
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

/// Checks what every layout requires of its members.
fn check_members(member_sectors: &[u64]) -> Result<(), LayoutError> {
    if member_sectors.is_empty() {
        return Err(LayoutError::NoMembers);
    }
    if let Some(member) = member_sectors.iter().position(|&sectors| sectors == 0) {
        return Err(LayoutError::EmptyMember { member });
    }
    let total = member_sectors.iter().try_fold(0_u64, |sum, &sectors| sum.checked_add(sectors));
    // So that a volume's size in bytes fits into 64 bits.
    let most = (1 << 63) / SECTOR_BYTES;
    if total.is_none_or(|total| total > most) { Err(LayoutError::TooLarge) } else { Ok(()) }
}

/// Checks members that are striped, and returns how many whole interleaves each has.
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
