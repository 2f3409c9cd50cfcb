//! Segments: an address space in parts, each with a layout of its own.
//!
//! btrfs calls them chunks, device-mapper calls them targets, LVM segments. Each uses a part of some
//! members and has its own layout over them. Three members, where each segment is a mirror of two:
//!
//! ```text
//! volume sector   0 .. 99        100 .. 199     200 .. 249
//! segment         mirror         mirror         mirror
//! lives on        1 from 32      2 from 132     0 from 100
//!                 2 from 32      0 from 0       1 from 132
//! ```
//!
//! Rows under parity are numbered consecutively across segments. A request over several segments is
//! planned for each, and the plans run side by side.

use super::{Layout, LayoutError, Rows};
use crate::{Health, Op, Place, Plan, Request, Unservable};
use std::borrow::Cow;

/// A part of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which member.
    pub member: u32,
    /// Where the part starts on it.
    pub start_sector: u64,
    /// How long it is.
    pub sectors: u64,
}

/// A part of the address space and its layout.
struct Segment {
    first_sector: u64,
    first_row: u64,
    layout: Box<dyn Layout>,
    /// The part of the volume's members that each of the layout's members is.
    parts: Vec<Part>,
    all_up: Health,
}

/// Where a member's part is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    start_sector: u64,
    sectors: u64,
    segment: usize,
    /// Which of the segment's members it is.
    nth: u32,
}

/// Segments one after another.
pub struct Segments {
    list: Vec<Segment>,
    /// The extents of each member, in order.
    extents: Vec<Vec<Extent>>,
    sectors: u64,
}

impl Segments {
    /// Segments over `members` members, in the order of the volume. Each is a layout, with the part of
    /// a member for each of the layout's members.
    ///
    /// # Errors
    ///
    /// Where there is no segment, or two parts of a member overlap.
    ///
    /// # Panics
    ///
    /// Where the number of parts differs from the layout's members, or a part is on no member.
    pub fn new(
        members: usize,
        segments: Vec<(Box<dyn Layout>, Vec<Part>)>,
    ) -> Result<Self, LayoutError> {
        if segments.is_empty() {
            return Err(LayoutError::NoMembers);
        }
        let mut volume =
            Segments { list: Vec::new(), extents: vec![Vec::new(); members], sectors: 0 };
        let mut first_row = 0;
        for (index, (layout, parts)) in segments.into_iter().enumerate() {
            assert_eq!(layout.members(), parts.len(), "every member of a segment is a part of one");
            for (nth, part) in (0..).zip(&parts) {
                let Part { member, start_sector, sectors } = *part;
                start_sector.checked_add(sectors).ok_or(LayoutError::TooLarge)?;
                volume.extents[member as usize].push(Extent {
                    start_sector,
                    sectors,
                    segment: index,
                    nth,
                });
            }
            let (first_sector, rows) =
                (volume.sectors, layout.parity().map_or(0, super::Parity::rows));
            volume.sectors =
                first_sector.checked_add(layout.sectors()).ok_or(LayoutError::TooLarge)?;
            let all_up = Health::all_up(parts.len());
            volume.list.push(Segment { first_sector, first_row, layout, parts, all_up });
            first_row += rows;
        }
        for (member, extents) in volume.extents.iter_mut().enumerate() {
            extents.sort_unstable();
            let overlap = extents.windows(2).find(|two| two[0].end() > two[1].start_sector);
            if let Some(two) = overlap {
                return Err(LayoutError::Overlap { member, sector: two[1].start_sector });
            }
        }
        Ok(volume)
    }

    /// The segments: for each, the volume's sector that it starts at, how many it has, and the parts of
    /// members that it takes.
    pub fn list(&self) -> impl Iterator<Item = (u64, u64, &[Part])> {
        self.list.iter().map(|s| (s.first_sector, s.layout.sectors(), s.parts.as_slice()))
    }

    /// The segment that contains a sector of the volume.
    fn of_sector(&self, sector: u64) -> usize {
        self.list.partition_point(|segment| segment.first_sector <= sector) - 1
    }

    /// Where a segment ends, in sectors of the volume.
    fn end(&self, index: usize) -> u64 {
        self.list.get(index + 1).map_or(self.sectors, |next| next.first_sector)
    }
}

impl Extent {
    fn end(&self) -> u64 {
        self.start_sector + self.sectors
    }
}

impl Segment {
    fn outer(&self, place: Place) -> Place {
        let part = self.parts[place.member as usize];
        Place { member: part.member, sector: part.start_sector + place.sector }
    }

    /// Which of its members are up, if `lost` counts as down too.
    fn health(&self, health: &Health, lost: Option<u32>) -> Cow<'_, Health> {
        if health.failures() == 0 && lost.is_none() {
            return Cow::Borrowed(&self.all_up);
        }
        let mut inner = self.all_up.clone();
        for (nth, part) in (0..).zip(&self.parts) {
            if !health.is_up(part.member) || lost == Some(part.member) {
                inner.fail(nth);
            }
        }
        Cow::Owned(inner)
    }

    /// Translates a plan from its own members and sectors to those of the volume.
    fn relocate(&self, planned: Result<(), Unservable>, plan: &mut Plan) -> Result<(), Unservable> {
        planned.map_err(|Unservable { member }| Unservable {
            member: self.parts[member as usize].member,
        })?;
        plan.relocate(|place| self.outer(place), self.first_sector, self.first_row);
        Ok(())
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        let request = Request { sector: request.sector - self.first_sector, ..request };
        let planned = self.layout.plan(request, &self.health(health, None), plan);
        self.relocate(planned, plan)
    }
}

impl Layout for Segments {
    fn members(&self) -> usize {
        self.extents.len()
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let index = self.of_sector(sector);
        let (segment, start) = (&self.list[index], places.len());
        let run = segment.layout.places(sector - segment.first_sector, places);
        for place in &mut places[start..] {
            *place = segment.outer(*place);
        }
        run.min(self.end(index) - sector)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let extents = &self.extents[place.member as usize];
        let next = extents.partition_point(|extent| extent.start_sector <= place.sector);
        let within = extents[..next].last().filter(|extent| place.sector < extent.end());
        let Some(extent) = within else {
            let free = extents.get(next).map_or(u64::MAX, |extent| extent.start_sector);
            return (None, free - place.sector);
        };
        let segment = &self.list[extent.segment];
        let inner = Place { member: extent.nth, sector: place.sector - extent.start_sector };
        let (held, run) = segment.layout.holds(inner);
        (held.map(|sector| segment.first_sector + sector), run.min(extent.end() - place.sector))
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        if request.op == Op::Flush || request.sectors == 0 {
            plan.clear();
            plan.flush_all(self.members(), health);
            plan.end_stage();
            return Ok(());
        }
        let first = self.of_sector(request.sector);
        if request.end() <= self.end(first) {
            return self.list[first].plan(request, health, plan);
        }
        plan.clear();
        let (mut index, mut sector, mut one) = (first, request.sector, Plan::new());
        while sector < request.end() {
            let end = self.end(index).min(request.end());
            let piece = Request { sector, sectors: (end - sector) as u32, ..request };
            self.list[index].plan(piece, health, &mut one)?;
            plan.merge(&one);
            (index, sector) = (index + 1, end);
        }
        Ok(())
    }

    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        plan.clear();
        let (end, mut one) = (lost.sector + u64::from(sectors), Plan::new());
        let extents = &self.extents[lost.member as usize];
        let first = extents.partition_point(|extent| extent.end() <= lost.sector);
        for extent in extents[first..].iter().take_while(|extent| extent.start_sector < end) {
            let segment = &self.list[extent.segment];
            let start = lost.sector.max(extent.start_sector);
            let inner = Place { member: extent.nth, sector: start - extent.start_sector };
            let count = (end.min(extent.end()) - start) as u32;
            let health = segment.health(health, Some(lost.member));
            let planned = segment.layout.rebuild(inner, count, &health, &mut one);
            segment.relocate(planned, &mut one)?;
            plan.merge(&one);
        }
        Ok(())
    }

    fn rows_at(&self, sector: u64) -> Option<Rows<'_>> {
        let segment = &self.list[self.of_sector(sector)];
        let rows = segment.layout.rows_at(sector - segment.first_sector)?;
        Some(Rows {
            first_sector: segment.first_sector + rows.first_sector,
            first_row: segment.first_row + rows.first_row,
            ..rows
        })
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        let index = self.list.partition_point(|segment| segment.first_row <= row) - 1;
        let segment = &self.list[index];
        let (p, q) = segment.layout.row_parity(row - segment.first_row)?;
        Some((segment.outer(p), q.map(|q| segment.outer(q))))
    }

    fn segments(&self) -> Option<&Segments> {
        Some(self)
    }
}
