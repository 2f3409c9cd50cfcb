//! md's raid0, which stripes over unequal members in its own way.
//!
//! Its *zones* are the entries of ccd's interleave table. Over time md has used two rules for which
//! member of a zone holds an interleave, and both are on disks. Members of 3, 4 and 4 interleaves: the
//! second zone starts at interleave 9, an odd number.
//!
//! ```text
//! interleave          0 1 2 3 4 5 6 7 8 |  9 10
//! alternate, member   0 1 2 0 1 2 0 1 2 |  1  2     the turn is counted from the start of the zone
//! original, member    0 1 2 0 1 2 0 1 2 |  2  1     the turn is counted from the start of the volume
//! ```
//!
//! The alternate rule is ccd's. They differ only behind a zone whose length is no multiple of the next
//! zone's number of members. The row on the member is the same in both.
//!
//! Where the interleave is no power of two, md still cuts a member's share of the capacity with a bit
//! mask, `sectors & !(interleave - 1)`. The volume is then a little smaller than its zones, and may end
//! within an interleave. With 504 sectors: 79,632 (158 interleaves) counts as 79,360.

use super::table::Table;
use super::{Layout, LayoutError, copies, whole_interleaves};
use crate::{Health, Place, Plan, Request, Unservable};

/// From where md counts the rotation over the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dealing {
    /// From the start of the volume, as before Linux 3.14; mdadm's `--layout=original`.
    Original,
    /// From the start of the zone; mdadm's `--layout=alternate`.
    Alternate,
}

/// A stripe over the members as md's raid0 does it.
#[derive(Clone, Debug)]
pub struct Raid0 {
    table: Table,
    sectors: u64,
}

impl Raid0 {
    /// A raid0 of `interleave_sectors` over members of these sizes (behind the data offset).
    ///
    /// # Errors
    ///
    /// Where the interleave is zero, there is no member, or a member has not even one interleave.
    pub fn new(
        dealing: Dealing,
        interleave_sectors: u64,
        member_sectors: &[u64],
    ) -> Result<Self, LayoutError> {
        let rows = whole_interleaves(interleave_sectors, member_sectors)?;
        let counted = |rows: &u64| (rows * interleave_sectors) & !(interleave_sectors - 1);
        let sectors = rows.iter().map(counted).sum();
        Ok(Raid0 { table: Table::new(dealing, interleave_sectors, rows), sectors })
    }
}

impl Layout for Raid0 {
    fn members(&self) -> usize {
        self.table.members()
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let (place, run) = self.table.place(sector);
        places.push(place);
        run
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        let place = |sector| self.table.place(sector);
        copies::plan_single(self.members(), request, health, plan, place)
    }

    #[inline]
    fn only_place(&self, sector: u64, sectors: u32) -> Option<Place> {
        let (place, run) = self.table.place(sector);
        (u64::from(sectors) <= run).then_some(place)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        match self.table.sector_at(place) {
            (Some(sector), run) if sector >= self.sectors => (None, run),
            (Some(sector), run) => (Some(sector), run.min(self.sectors - sector)),
            outside => outside,
        }
    }
}
