//! Arrays side by side under a stripe: RAID 50 and 60.
//!
//! Six members in two groups of RAID 5, with one interleave for all; the outer stripe deals A, B, C … to the groups in
//! turn, and each group puts what it gets into its rows:
//!
//! ```text
//! member   0 1 2   3 4 5
//!          A C p   B D p
//!          G p E   H p F
//! ```
//!
//! A row belongs to one group. The group's number is the remainder of the row's, so that rows of all groups have numbers
//! of their own.

use super::{Layout, LayoutError, check_members};
use crate::plan::Content;
use crate::{Health, Op, Place, Plan, Request, Unservable};

/// Groups of equally many members, each laid out by itself, and a stripe over them.
pub struct Nested {
    outer: Box<dyn Layout>,
    groups: Vec<Box<dyn Layout>>,
    /// Members of each group.
    each: usize,
}

impl Nested {
    /// `groups` groups of neighbours, each laid out by `inner`, and `outer` over what they offer.
    ///
    /// # Errors
    ///
    /// Where the members do not divide into so many groups, or a layout fails.
    pub fn new(
        groups: usize,
        member_sectors: &[u64],
        inner: impl Fn(&[u64]) -> Result<Box<dyn Layout>, LayoutError>,
        outer: impl Fn(&[u64]) -> Result<Box<dyn Layout>, LayoutError>,
    ) -> Result<Self, LayoutError> {
        check_members(member_sectors)?;
        let given = member_sectors.len();
        if !given.is_multiple_of(groups) {
            return Err(LayoutError::UnevenGroups { groups, given });
        }
        let each = given / groups;
        let groups: Vec<_> =
            member_sectors.chunks_exact(each).map(inner).collect::<Result<_, _>>()?;
        let offered: Vec<u64> = groups.iter().map(Layout::sectors).collect();
        Ok(Nested { outer: outer(&offered)?, groups, each })
    }

    /// The group of a member, and the member's number in it.
    fn of(&self, member: u32) -> (usize, u32) {
        let each = self.each as u32;
        ((member / each) as usize, member % each)
    }

    fn outside(&self, group: usize, place: Place) -> Place {
        Place { member: (group * self.each) as u32 + place.member, ..place }
    }

    fn health(&self, group: usize, health: &Health) -> Health {
        let mut own = Health::all_up(self.each);
        for member in 0..self.each as u32 {
            let place = self.outside(group, Place { member, sector: 0 });
            if !health.is_up(place.member) {
                own.fail(member);
            }
        }
        own
    }

    /// Translates a plan of a group to one of the volume. What is the outer stripe's own, in front of its data, is named
    /// as the volume's first sector.
    fn translate(
        &self,
        group: usize,
        planned: Result<(), Unservable>,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        planned.map_err(|Unservable { member }| {
            let place = self.outside(group, Place { member, sector: 0 });
            Unservable { member: place.member }
        })?;
        let sector_of =
            |sector| self.outer.holds(Place { member: group as u32, sector }).0.unwrap_or_default();
        let content = |content| match content {
            Content::Data(sector) => Content::Data(sector_of(sector)),
            Content::P(sector) => Content::P(sector_of(sector)),
            Content::Q(sector) => Content::Q(sector_of(sector)),
        };
        let row = |row| row * self.groups.len() as u64 + group as u64;
        plan.translate(|place| self.outside(group, place), content, row);
        Ok(())
    }
}

impl Layout for Nested {
    fn members(&self) -> usize {
        self.groups.len() * self.each
    }

    fn sectors(&self) -> u64 {
        self.outer.sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let start = places.len();
        let run = self.outer.places(sector, places);
        let there = places[start];
        places.truncate(start);
        let group = there.member as usize;
        let inner_run = self.groups[group].places(there.sector, places);
        for place in &mut places[start..] {
            *place = self.outside(group, *place);
        }
        run.min(inner_run)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let (group, member) = self.of(place.member);
        let (held, run) = self.groups[group].holds(Place { member, ..place });
        let Some(sector) = held else { return (None, run) };
        let (held, outer_run) = self.outer.holds(Place { member: group as u32, sector });
        (held, run.min(outer_run))
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        plan.clear();
        if request.op == Op::Flush || request.sectors == 0 {
            plan.flush_all(self.members(), health);
            plan.end_stage();
            return Ok(());
        }
        // What is contiguous in the volume is contiguous in each group, which plans it as one.
        let mut ranges: Vec<Option<(u64, u64)>> = vec![None; self.groups.len()];
        let (mut sector, mut places) = (request.sector, Vec::new());
        while sector < request.end() {
            places.clear();
            let run = self.outer.places(sector, &mut places).min(request.end() - sector);
            let there = places[0];
            let range = &mut ranges[there.member as usize];
            let (start, end) = range.unwrap_or((there.sector, there.sector));
            assert_eq!(
                end, there.sector,
                "an outer stripe deals the groups their sectors in order"
            );
            *range = Some((start, end + run));
            sector += run;
        }
        let mut one = Plan::new();
        for (group, range) in ranges.into_iter().enumerate() {
            let Some((start, end)) = range else { continue };
            let piece = Request { sector: start, sectors: (end - start) as u32, ..request };
            let planned = self.groups[group].plan(piece, &self.health(group, health), &mut one);
            self.translate(group, planned, &mut one)?;
            plan.merge(&one);
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
        let (group, member) = self.of(lost.member);
        let own = self.health(group, health);
        let planned = self.groups[group].rebuild(Place { member, ..lost }, sectors, &own, plan);
        self.translate(group, planned, plan)
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        let groups = self.groups.len() as u64;
        let group = (row % groups) as usize;
        let (p, q) = self.groups[group].row_parity(row / groups)?;
        Some((self.outside(group, p), q.map(|q| self.outside(group, q))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use std::collections::BTreeMap;

    fn laid(groups: usize, code: &str, interleave: u64, members: &[u64]) -> Nested {
        let [inner, outer] = [code, "stripe"].map(|name| name.parse::<Level>().unwrap());
        let by = |level: Level| move |of: &[u64]| level.lay_out(interleave, of);
        Nested::new(groups, members, by(inner), by(outer)).unwrap()
    }

    /// The picture at the top.
    #[test]
    fn pieces_go_to_the_groups_in_turn() {
        let layout = laid(2, "raid5", 1, &[4; 6]);
        let place = |sector| {
            let mut places = Vec::new();
            assert_eq!(layout.places(sector, &mut places), 1);
            (places[0].member, places[0].sector)
        };
        assert_eq!([place(0), place(1), place(2)], [(0, 0), (3, 0), (1, 0)]);
        assert_eq!([place(3), place(4), place(5)], [(4, 0), (2, 1), (5, 1)]);
        assert_eq!(layout.sectors(), 16);
        assert!(matches!(
            Nested::new(2, &[4; 5], |_| unreachable!(), |_| unreachable!()),
            Err(LayoutError::UnevenGroups { groups: 2, given: 5 })
        ));
    }

    /// Every sector is somewhere, nowhere are two, and who asks a place is told what it holds.
    #[test]
    fn places_and_what_they_hold_agree() {
        for (code, each, groups) in
            [("raid5", 3, 2), ("raid5", 4, 3), ("raid6", 4, 2), ("raid6", 5, 4)]
        {
            for interleave in [1, 3, 4] {
                let layout = laid(groups, code, interleave, &vec![25; each * groups]);
                let mut seen = BTreeMap::new();
                for sector in 0..layout.sectors() {
                    let mut places = Vec::new();
                    let run = layout.places(sector, &mut places);
                    assert!(run > 0 && places.len() == 1);
                    assert_eq!(layout.holds(places[0]).0, Some(sector));
                    assert_eq!(seen.insert(places[0], sector), None);
                    for further in 1..run {
                        let mut next = Vec::new();
                        layout.places(sector + further, &mut next);
                        let expected = Place { sector: places[0].sector + further, ..places[0] };
                        assert_eq!(next, [expected]);
                    }
                }
            }
        }
    }

    /// Each group does without as many members as its level, and rows of different groups have different numbers.
    #[test]
    fn groups_fail_apart() {
        let layout = laid(2, "raid6", 8, &[80; 8]);
        let mut health = Health::all_up(8);
        for member in [0, 3, 5, 6] {
            health.fail(member);
        }
        let mut plan = Plan::new();
        let all = Request { target: 0, op: Op::Read, sector: 0, sectors: layout.sectors() as u32 };
        layout.plan(all, &health, &mut plan).unwrap();
        assert!(plan.steps().iter().all(|step| health.is_up(step.request.target)));
        layout.rebuild(Place { member: 5, sector: 0 }, 8, &health, &mut plan).unwrap();
        assert!(plan.steps().iter().all(|step| (4..8).contains(&step.request.target)));
        health.fail(1);
        assert_eq!(layout.plan(all, &health, &mut plan).unwrap_err().member / 4, 0);
        // A small write reads and writes data and both parities, in its own group and row.
        let write = |sector| Request { target: 0, op: Op::WRITE, sector, sectors: 1 };
        let up = Health::all_up(8);
        let rows = [0, 8, 16].map(|sector| {
            layout.plan(write(sector), &up, &mut plan).unwrap();
            let group = u32::from(sector == 8);
            assert!(plan.steps().iter().all(|step| step.request.target / 4 == group));
            plan.rows().to_vec()
        });
        assert_eq!(rows, [[0], [1], [0]]);
        // Whole rows of both groups are written without a read.
        let rows = Request { sectors: 4 * 8, ..write(0) };
        layout.plan(rows, &up, &mut plan).unwrap();
        assert_eq!((plan.stages(), plan.steps().len(), plan.rows()), (1, 8, &[0, 1][..]));
        let (p, q) = layout.row_parity(1).unwrap();
        assert!(p.member / 4 == 1 && q.unwrap().member / 4 == 1);
    }
}
