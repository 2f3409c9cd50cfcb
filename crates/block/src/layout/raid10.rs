//! md's RAID 10, which stores copies of every interleave on any number of members.
//!
//! Two copies of interleaves A, B, C … on three members:
//!
//! ```text
//!        near        offset       far
//! row   0  1  2      0  1  2      0  1  2
//! 0     A  A  B      A  B  C      A  B  C
//! 1     B  C  C      C  A  B      D  E  F
//! 2     D  D  E      D  E  F      …            the front half of the members,
//! 3     E  F  F      F  D  E      C  A  B      and then the back half
//! 4     …            …            F  D  E
//! ```
//!
//! *Near* stripes the copies as if they were separate interleaves; where the number of members is a
//! multiple of the copies it is a stripe of mirrors. *Offset* repeats every row below itself, shifted
//! by one member. *Far* repeats all rows in the next part of the members, so the front parts are a
//! plain stripe and read like one.

use super::{Layout, LayoutError, whole_interleaves};
use crate::Place;

/// Where the copies of an interleave go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// To the next members; mdadm's `--layout=n2`.
    Near,
    /// To another part of the next members; mdadm's `--layout=f2`.
    Far,
    /// To the next row of the next members; mdadm's `--layout=o2`.
    Offset,
}

/// Copies of every interleave on any number of members.
#[derive(Clone, Debug)]
pub struct Raid10 {
    interleave_sectors: u64,
    members: u64,
    copies: u64,
    spread: Spread,
    /// How many interleaves of each member hold one copy of the whole volume (far only).
    part_rows: u64,
    interleaves: u64,
}

impl Raid10 {
    /// `copies` copies spread over members that are cut to the smallest of these sizes.
    ///
    /// # Errors
    ///
    /// Where the interleave is zero, there are fewer than two copies, fewer members than copies, or a
    /// member is too small to hold anything.
    pub fn new(
        spread: Spread,
        copies: u32,
        interleave_sectors: u64,
        member_sectors: &[u64],
    ) -> Result<Self, LayoutError> {
        let rows = whole_interleaves(interleave_sectors, member_sectors)?;
        if copies < 2 {
            return Err(LayoutError::NoCopies);
        }
        if rows.len() < copies as usize {
            return Err(LayoutError::TooFewMembers { needed: copies as usize, given: rows.len() });
        }
        let (members, copies) = (rows.len() as u64, u64::from(copies));
        let (member, member_rows) = rows
            .into_iter()
            .enumerate()
            .min_by_key(|&(_, rows)| rows)
            .expect("there is at least one member");
        let part_rows = member_rows / copies;
        let interleaves = match spread {
            Spread::Near => member_rows * members / copies,
            Spread::Far | Spread::Offset => part_rows * members,
        };
        if interleaves == 0 {
            let sectors = member_sectors[member];
            return Err(LayoutError::MemberBelowCopies {
                member,
                sectors,
                copies,
                interleave_sectors,
            });
        }
        Ok(Raid10 { interleave_sectors, members, copies, spread, part_rows, interleaves })
    }

    /// Member and row of copy `copy` of an interleave.
    fn locate(&self, interleave: u64, copy: u64) -> (u64, u64) {
        let (row, turn) = (interleave / self.members, interleave % self.members);
        match self.spread {
            Spread::Near => {
                let slot = interleave * self.copies + copy;
                (slot % self.members, slot / self.members)
            }
            Spread::Far => ((turn + copy) % self.members, row + copy * self.part_rows),
            Spread::Offset => ((turn + copy) % self.members, row * self.copies + copy),
        }
    }
}

impl Layout for Raid10 {
    fn members(&self) -> usize {
        self.members as usize
    }

    fn sectors(&self) -> u64 {
        self.interleaves * self.interleave_sectors
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let interleave = sector / self.interleave_sectors;
        let within = sector % self.interleave_sectors;
        places.extend((0..self.copies).map(|copy| {
            let (member, row) = self.locate(interleave, copy);
            Place { member: member as u32, sector: row * self.interleave_sectors + within }
        }));
        if self.spread == Spread::Near && self.copies == self.members {
            // Each member is a copy of the whole, and nothing is cut (`raid10_make_request`).
            return self.sectors() - sector;
        }
        self.interleave_sectors - within
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let row = place.sector / self.interleave_sectors;
        let within = place.sector % self.interleave_sectors;
        let member = u64::from(place.member);
        let (first_row, copy) = match self.spread {
            Spread::Near => (row, 0),
            Spread::Far => (row % self.part_rows, row / self.part_rows),
            Spread::Offset => (row / self.copies, row % self.copies),
        };
        let interleave = match self.spread {
            Spread::Near => (row * self.members + member) / self.copies,
            Spread::Far | Spread::Offset => {
                first_row * self.members
                    + (member + self.members - copy % self.members) % self.members
            }
        };
        let held = copy < self.copies && interleave < self.interleaves;
        let sector = interleave * self.interleave_sectors + within;
        (held.then_some(sector), self.interleave_sectors - within)
    }
}
