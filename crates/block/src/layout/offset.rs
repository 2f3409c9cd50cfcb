//! Sectors at the front of each member that the volume does not use.
//!
//! RAIDframe reserves 64 for its label, md reserves room for its superblock and bitmap (the *data
//! offset*), and a dm table names any start. The layout inside counts from behind them:
//!
//! ```text
//! member sector     0 .. 63      64 .. 50002
//! belongs to        RAIDframe    the layout inside, as 0 .. 49938
//! ```

use super::{Layout, LayoutError, Rows};
use crate::{Health, Place, Plan, Request, Unservable};

/// A layout that starts some way into its members.
#[derive(Clone, Debug)]
pub struct Offset<L> {
    inner: L,
    start_sectors: Vec<u64>,
}

impl<L: Layout> Offset<L> {
    /// A layout that leaves `start_sectors` free at the front of each member.
    ///
    /// `lay_out` gets the sizes that remain.
    ///
    /// # Errors
    ///
    /// Where a member has no more sectors than are left free, or `lay_out` fails.
    pub fn new(
        start_sectors: u64,
        member_sectors: &[u64],
        lay_out: impl FnOnce(&[u64]) -> Result<L, LayoutError>,
    ) -> Result<Self, LayoutError> {
        if let Some(member) = member_sectors.iter().position(|&sectors| sectors <= start_sectors) {
            return Err(LayoutError::MemberBelowReserved {
                member,
                sectors: member_sectors[member],
                reserved_sectors: start_sectors,
            });
        }
        let left: Vec<u64> = member_sectors.iter().map(|sectors| sectors - start_sectors).collect();
        let inner = lay_out(&left)?;
        Ok(Offset { inner, start_sectors: vec![start_sectors; member_sectors.len()] })
    }

    /// A layout whose part of each member starts at a different sector.
    pub fn each(inner: L, start_sectors: Vec<u64>) -> Self {
        assert_eq!(inner.members(), start_sectors.len(), "every member starts somewhere");
        Offset { inner, start_sectors }
    }

    fn shifted(&self, place: Place) -> Place {
        Place { sector: place.sector + self.start_sectors[place.member as usize], ..place }
    }
}

impl<L: Layout> Layout for Offset<L> {
    fn members(&self) -> usize {
        self.inner.members()
    }

    fn sectors(&self) -> u64 {
        self.inner.sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let start = places.len();
        let run = self.inner.places(sector, places);
        for place in &mut places[start..] {
            *place = self.shifted(*place);
        }
        run
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let start_sector = self.start_sectors[place.member as usize];
        match place.sector.checked_sub(start_sector) {
            Some(sector) => self.inner.holds(Place { sector, ..place }),
            None => (None, start_sector - place.sector),
        }
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        self.inner.plan(request, health, plan)?;
        plan.relocate(|place| self.shifted(place), 0, 0);
        Ok(())
    }

    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        let start_sector = self.start_sectors[lost.member as usize];
        let end = (lost.sector + u64::from(sectors)).saturating_sub(start_sector);
        let sector = lost.sector.saturating_sub(start_sector);
        let inner_lost = Place { sector, ..lost };
        self.inner.rebuild(inner_lost, (end - sector) as u32, health, plan)?;
        plan.relocate(|place| self.shifted(place), 0, 0);
        Ok(())
    }

    fn rows_at(&self, sector: u64) -> Option<Rows<'_>> {
        self.inner.rows_at(sector)
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        let (p, q) = self.inner.row_parity(row)?;
        Some((self.shifted(p), q.map(|q| self.shifted(q))))
    }
}
