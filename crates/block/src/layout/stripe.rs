//! Interleaves on the members round-robin, as ccd(4) does it.
//!
//! Members need not be equal. Full members drop out, and the others continue with the rest. The
//! interleave table lists which members take part from which interleave on. Members of 5, 3 and 7
//! sectors at interleave 1:
//!
//! ```text
//! volume sector   0 1 2 3 4 5 6 7 8 9 10 11 12 13 14
//! member          0 1 2 0 1 2 0 1 2 0  2  0  2  2  2
//! member sector   0 0 0 1 1 1 2 2 2 3  3  4  4  5  6
//! ```
//!
//! Two things are ccd's own and deliberate here. A member is first cut to whole interleaves, so the
//! capacity depends on the interleave. Adjacent pieces on a member are *not* merged: a request over k
//! interleaves is k commands, even where two of them are adjacent on one disk.

use super::table::Table;
use super::{Dealing, Layout, LayoutError, copies, whole_interleaves};
use crate::{Health, Place, Plan, Request, Unservable};

/// Interleaves on the members round-robin.
#[derive(Clone, Debug)]
pub struct Stripe {
    table: Table,
    sectors: u64,
}

impl Stripe {
    /// A stripe of `interleave_sectors` over members of these sizes, each cut to whole interleaves.
    ///
    /// # Errors
    ///
    /// Where the interleave is zero (use [`super::Concat`]), there is no member, or a member is smaller
    /// than one interleave.
    pub fn new(interleave_sectors: u64, member_sectors: &[u64]) -> Result<Self, LayoutError> {
        let rows = whole_interleaves(interleave_sectors, member_sectors)?;
        Ok(Self::of_rows(interleave_sectors, rows))
    }

    /// The same with every member cut to the smallest, which is ccd's `CCDF_UNIFORM` and what
    /// RAIDframe and device-mapper always do.
    ///
    /// # Errors
    ///
    /// As [`Stripe::new`].
    pub fn uniform(interleave_sectors: u64, member_sectors: &[u64]) -> Result<Self, LayoutError> {
        let mut rows = whole_interleaves(interleave_sectors, member_sectors)?;
        let fewest = rows.iter().copied().min().expect("there is at least one member");
        rows.fill(fewest);
        Ok(Self::of_rows(interleave_sectors, rows))
    }

    fn of_rows(interleave_sectors: u64, rows: Vec<u64>) -> Self {
        let sectors = rows.iter().sum::<u64>() * interleave_sectors;
        Stripe { table: Table::new(Dealing::Alternate, interleave_sectors, rows), sectors }
    }
}

impl Layout for Stripe {
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

    #[inline]
    fn only_place(&self, sector: u64, sectors: u32) -> Option<Place> {
        let (place, run) = self.table.place(sector);
        (u64::from(sectors) <= run).then_some(place)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        self.table.sector_at(place)
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        let place = |sector| self.table.place(sector);
        copies::plan_single(self.members(), request, health, plan, place)
    }
}
