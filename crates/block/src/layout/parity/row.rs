//! Which sectors of a row a request needs, and how they are read or written.
//!
//! A request's piece in one row covers the end of a first unit, the start of a last one, and all units
//! between. So the offsets within the interleave form three *bands*. Within a band the same units are
//! written. The way is chosen for each band, because a member that is down limits the choice
//! differently in each:
//!
//! ```text
//!               band 0    band 1    band 2
//! unit 0 (first)          ########  ########
//! unit 1        ########  ########  ########
//! unit 2 (last) ########  ########
//! unit 3
//! ```
//!
//! | way         | reads                                    | needs to be up             |
//! |-------------|------------------------------------------|----------------------------|
//! | nothing     | nothing                                  | the units written          |
//! | fetch       | the units touched                        | those                      |
//! | modify      | the units touched, and parity            | those, and some parity     |
//! | reconstruct | the units not touched                    | those, and some parity     |
//! | work out    | every unit, and as much parity as needed | as many as the code allows |
//!
//! A read fetches, or works out the units that are down. A write to a unit that is down cannot modify
//! (its old content is unknown) but can reconstruct. If another data unit is down too (under P and Q),
//! the row's old content is worked out first. With no parity left, only the data is written.

use super::WriteRule;
use super::rotation::Columns;
use crate::{Health, Unservable};

/// A unit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Data unit, counted from 0 in the order of the volume.
    Data(u32),
    /// The parity P.
    P,
    /// The parity Q.
    Q,
}

impl Columns {
    /// What `member` has in this row.
    pub(super) fn of(&self, member: u32) -> Unit {
        match self.unit(member) {
            Some(unit) => Unit::Data(unit),
            None if member == self.p => Unit::P,
            None => Unit::Q,
        }
    }
}

/// The part of a request in one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) row: u64,
    cut: Cut,
}

/// Some of the bands of a piece: band 0 is the lowest bit.
type Bands = u8;

/// The bands that `is_in` picks.
fn bands_where(is_in: impl Fn(usize) -> bool) -> Bands {
    (0..3).fold(0, |bands, band| bands | Bands::from(is_in(band)) << band)
}

/// The sectors of a piece, cut into bands.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// From where to where the bands are, some of them possibly empty.
    bands: [(u64, u64); 3],
    /// The bands that are not empty.
    open: Bands,
    first: u32,
    last: u32,
    /// The bands touched of the first unit and of the last.
    of_first: Bands,
    of_last: Bands,
}

impl Cut {
    /// The bands that the piece touches of data unit `unit`.
    fn touched(&self, unit: u32) -> Bands {
        let mut bands = if (self.first..=self.last).contains(&unit) { self.open } else { 0 };
        if unit == self.first {
            bands &= self.of_first;
        }
        if unit == self.last {
            bands &= self.of_last;
        }
        bands
    }

    /// The bands of which it touches any unit.
    fn touched_at_all(&self) -> Bands {
        if self.last - self.first > 1 {
            return self.open;
        }
        self.touched(self.first) | self.touched(self.last)
    }

    /// How many stretches `wanted` has, with adjacent bands joined.
    fn count(&self, wanted: Bands) -> u32 {
        let wanted = wanted & self.open;
        // Where band 1 is empty, bands 0 and 2 are adjacent.
        let over_empty = if self.open & 0b010 == 0 { wanted << 2 } else { 0 };
        (wanted & !(wanted << 1 | over_empty)).count_ones()
    }

    /// Calls `f` for each of them.
    fn stretches(&self, wanted: Bands, mut f: impl FnMut((u64, u64))) {
        let wanted = wanted & self.open;
        if wanted == 0 {
            return;
        }
        let mut open: Option<(u64, u64)> = None;
        for (band, (start, end)) in self.bands.into_iter().enumerate() {
            if wanted >> band & 1 == 0 {
                continue;
            }
            match &mut open {
                Some(stretch) if stretch.1 == start => stretch.1 = end,
                _ => {
                    if let Some(stretch) = open.replace((start, end)) {
                        f(stretch);
                    }
                }
            }
        }
        if let Some(stretch) = open {
            f(stretch);
        }
    }
}

impl Piece {
    /// The part in `row` that goes from offset `start` of unit `first` to offset `end` of unit `last`.
    pub(super) fn new(
        row: u64,
        interleave: u64,
        (first, start): (u32, u64),
        (last, end): (u32, u64),
    ) -> Self {
        let (low, high) = (start.min(end), start.max(end));
        let bands = [(0, low), (low, high), (high, interleave)];
        let cut = Cut {
            bands,
            open: bands_where(|band| bands[band].0 < bands[band].1),
            first,
            last,
            of_first: bands_where(|band| bands[band].0 >= start),
            of_last: bands_where(|band| bands[band].0 < end),
        };
        Piece { row, cut }
    }

    /// Whether it covers all of the row's data.
    pub(super) fn is_whole(&self, data_units: u32) -> bool {
        let Cut { first, last, open, of_first, of_last, .. } = self.cut;
        first == 0 && last == data_units - 1 && open & of_first & of_last == open
    }

    /// Whether two separate parts of the parity change.
    fn has_gap(&self) -> bool {
        let Cut { first, last, .. } = self.cut;
        // Of neither unit is the band between them touched.
        last - first == 1 && self.cut.touched_at_all() != self.cut.open
    }

    /// How many units it touches.
    fn units(&self) -> u32 {
        self.cut.last - self.cut.first + 1
    }
}

/// How the sectors of a band are obtained; see the table above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Nothing,
    Fetch,
    Modify,
    Reconstruct,
    WorkOut,
}

/// The way of each band.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways([Way; 3]);

impl Ways {
    /// The bands with one of these ways.
    fn bands(self, ways: &[Way]) -> Bands {
        bands_where(|band| ways.contains(&self.0[band]))
    }

    /// Whether data has to be reconstructed from parity.
    pub(super) fn work_out(self) -> bool {
        self.0.contains(&Way::WorkOut)
    }
}

/// A row in its current state: what each member has in it, and which members are up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) number: u64,
    columns: Columns,
    data_units: u32,
    health: &'a Health,
    /// A member that counts as down besides those that are down.
    lost: Option<u32>,
    data_down: u32,
    p_up: bool,
    q_up: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(
        number: u64,
        columns: Columns,
        data_units: u32,
        health: &'a Health,
        lost: Option<u32>,
    ) -> Self {
        let mut row = Row {
            number,
            columns,
            data_units,
            health,
            lost,
            data_down: 0,
            p_up: false,
            q_up: false,
        };
        if health.failures() > 0 || lost.is_some() {
            let down = (0..data_units).filter(|&unit| !row.is_up(Unit::Data(unit)));
            row.data_down = down.count() as u32;
        }
        row.p_up = row.is_up(Unit::P);
        row.q_up = columns.q.is_some() && row.is_up(Unit::Q);
        row
    }

    /// The member that has `unit`.
    pub(super) fn member(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Data(unit) => self.columns.member(unit),
            Unit::P => self.columns.p,
            Unit::Q => self.columns.q.expect("only a row with Q is asked for it"),
        }
    }

    fn is_up(&self, unit: Unit) -> bool {
        let member = self.member(unit);
        Some(member) != self.lost && self.health.is_up(member)
    }

    fn parities_up(&self) -> u32 {
        u32::from(self.p_up) + u32::from(self.q_up)
    }

    /// Whether more members are down than the code allows.
    fn is_lost(&self) -> bool {
        self.data_down > self.parities_up()
    }

    /// The reason for the loss: the first member of those `wanted` that is down.
    fn missing(&self, wanted: impl Fn(u32) -> bool) -> Unservable {
        let down = |&unit: &u32| wanted(unit) && !self.is_up(Unit::Data(unit));
        let unit = (0..self.data_units).find(down).expect("something wanted is down");
        Unservable { member: self.columns.member(unit) }
    }

    /// Whether every data unit that `wanted` picks is up.
    fn all_up(&self, wanted: impl Fn(u32) -> bool) -> bool {
        self.data_down == 0
            || (0..self.data_units).all(|unit| !wanted(unit) || self.is_up(Unit::Data(unit)))
    }

    /// How to read `piece`.
    pub(super) fn ways_to_read(&self, piece: &Piece) -> Result<Ways, Unservable> {
        self.ways(piece, |touched_up, touched| {
            if touched_up {
                Ok(Way::Fetch)
            } else if self.is_lost() {
                Err(self.missing(touched))
            } else {
                Ok(Way::WorkOut)
            }
        })
    }

    /// How to write `piece`.
    pub(super) fn ways_to_write(&self, piece: &Piece, rule: WriteRule) -> Result<Ways, Unservable> {
        if self.is_lost() {
            return Err(self.missing(|_| true));
        }
        if piece.is_whole(self.data_units) {
            return Ok(Ways([Way::Nothing; 3]));
        }
        let modify = self.ways_to_update(piece, true);
        let reconstruct = self.ways_to_update(piece, false);
        let prefer_modify = match rule {
            WriteRule::FewestRequests => self.reads(piece, modify) < self.reads(piece, reconstruct),
            WriteRule::HalfOfRow => {
                let touched = piece.units();
                let parities = 1 + u32::from(self.columns.q.is_some());
                (touched <= self.data_units / 2 && self.data_units != 1)
                    || piece.has_gap()
                    || self.data_down > 0
                    || self.parities_up() < parities
            }
        };
        Ok(if prefer_modify { modify } else { reconstruct })
    }

    /// How to write `piece` if modification is preferred, or reconstruction, where both are possible.
    fn ways_to_update(&self, piece: &Piece, prefer_modify: bool) -> Ways {
        if self.data_down == 0 && self.parities_up() > 0 {
            let way = if prefer_modify { Way::Modify } else { Way::Reconstruct };
            let touched = piece.cut.touched_at_all();
            let of = |band: u8| if touched >> band & 1 == 1 { way } else { Way::Nothing };
            return Ways([0, 1, 2].map(of));
        }
        let ways = self.ways(piece, |can_modify, touched| {
            let can_reconstruct = self.all_up(|unit| !touched(unit));
            Ok(if self.parities_up() == 0 {
                Way::Nothing
            } else if can_modify && (prefer_modify || !can_reconstruct) {
                Way::Modify
            } else if can_reconstruct {
                Way::Reconstruct
            } else {
                Way::WorkOut
            })
        });
        ways.expect("a row that is not lost can be written")
    }

    /// Chooses the way of each band, given whether all units that it touches are up, and which these
    /// are.
    fn ways(
        &self,
        piece: &Piece,
        choose: impl Fn(bool, &dyn Fn(u32) -> bool) -> Result<Way, Unservable>,
    ) -> Result<Ways, Unservable> {
        let mut ways = [Way::Nothing; 3];
        let cut = &piece.cut;
        let touched_at_all = cut.touched_at_all();
        for (band, way) in ways.iter_mut().enumerate() {
            if touched_at_all >> band & 1 == 1 {
                let touched = |unit| cut.touched(unit) >> band & 1 == 1;
                *way = choose(self.all_up(touched), &touched)?;
            }
        }
        Ok(Ways(ways))
    }

    /// Calls `f` for each unit that has to be read, at least in some bands, with these bands.
    fn each_unit_read(&self, cut: &Cut, ways: Ways, mut f: impl FnMut(Unit, Bands)) {
        let touched = ways.bands(&[Way::Fetch, Way::Modify]);
        let others = ways.bands(&[Way::Reconstruct]);
        let all = ways.bands(&[Way::WorkOut]);
        let units = if others | all == 0 { cut.first..cut.last + 1 } else { 0..self.data_units };
        for unit in units {
            let its = cut.touched(unit);
            let told = if all != 0 && self.tells(Unit::Data(unit)) { all } else { 0 };
            f(Unit::Data(unit), its & touched | !its & others | told);
        }
        let modified = ways.bands(&[Way::Modify]);
        for (unit, up) in [(Unit::P, self.p_up), (Unit::Q, self.q_up)] {
            let told = if self.tells(unit) { all } else { 0 };
            f(unit, told | if up { modified } else { 0 });
        }
    }

    /// Calls `f` for each stretch of each unit that has to be read.
    pub(super) fn each_read(&self, piece: &Piece, ways: Ways, mut f: impl FnMut(Unit, (u64, u64))) {
        let cut = &piece.cut;
        self.each_unit_read(cut, ways, |unit, bands| cut.stretches(bands, |part| f(unit, part)));
    }

    /// How many reads there are.
    fn reads(&self, piece: &Piece, ways: Ways) -> u32 {
        let mut reads = 0;
        if !ways.work_out() {
            let cut = &piece.cut;
            let [fetched, modified] =
                [&[Way::Fetch, Way::Modify][..], &[Way::Modify]].map(|of| ways.bands(of));
            let others = ways.bands(&[Way::Reconstruct]);
            for unit in cut.first..=cut.last {
                let its = cut.touched(unit);
                reads += cut.count(its & fetched | !its & others);
            }
            // The units that it does not touch are all alike.
            let untouched = self.data_units - piece.units();
            return reads
                + untouched * cut.count(others)
                + self.parities_up() * cut.count(modified);
        }
        self.each_unit_read(&piece.cut, ways, |_, bands| reads += piece.cut.count(bands));
        reads
    }

    /// Whether `unit` is needed to work out the units that are down: all data that is up, and as many
    /// parity units as data units are down, P before Q.
    fn tells(&self, unit: Unit) -> bool {
        match unit {
            Unit::Data(_) => self.is_up(unit),
            Unit::P => self.p_up && self.data_down > 0,
            Unit::Q => self.q_up && self.data_down > u32::from(self.p_up),
        }
    }

    /// Calls `f` for each unit that is needed to work out what is down.
    pub(super) fn each_survivor(&self, f: impl FnMut(Unit)) -> Result<(), Unservable> {
        if self.is_lost() {
            return Err(self.missing(|_| true));
        }
        let units = (0..self.data_units).map(Unit::Data).chain([Unit::P, Unit::Q]);
        units.filter(|&unit| self.tells(unit)).for_each(f);
        Ok(())
    }

    /// Calls `f` for each stretch of each unit that is to be written and is up.
    pub(super) fn each_write(&self, piece: &Piece, mut f: impl FnMut(Unit, (u64, u64))) {
        let cut = &piece.cut;
        for unit in (cut.first..=cut.last).filter(|&unit| self.is_up(Unit::Data(unit))) {
            cut.stretches(cut.touched(unit), |part| f(Unit::Data(unit), part));
        }
        for (unit, up) in [(Unit::P, self.p_up), (Unit::Q, self.q_up)] {
            if up {
                cut.stretches(cut.touched_at_all(), |part| f(unit, part));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rotation;
    use super::*;

    /// Every piece of rows of four units of four sectors, whatever is down: what is counted at once is what is read
    /// unit by unit.
    #[test]
    fn as_many_reads_are_counted_as_there_are() {
        for (parities, rotation) in [(1, Rotation::LeftSymmetric), (2, Rotation::DdfNContinue)] {
            let columns = rotation.columns(3, 4 + parities, parities);
            for down in 0..4 + parities {
                let mut health = Health::all_up(4 + parities as usize);
                let lost = if down == 0 { None } else { Some(down) };
                health.fail(down.max(1));
                for health in [Health::all_up(4 + parities as usize), health] {
                    let row = Row::new(3, columns, 4, &health, lost);
                    for (first, last) in
                        (0..4).flat_map(|first| (first..4).map(move |last| (first, last)))
                    {
                        for (start, end) in
                            (0..4).flat_map(|start| (1..=4).map(move |end| (start, end)))
                        {
                            if row.is_lost() || first == last && start >= end {
                                continue;
                            }
                            let piece = Piece::new(3, 4, (first, start), (last, end));
                            for ways in
                                [true, false].map(|modify| row.ways_to_update(&piece, modify))
                            {
                                let mut reads = 0;
                                row.each_read(&piece, ways, |_, _| reads += 1);
                                assert_eq!(row.reads(&piece, ways), reads, "{piece:?} {ways:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Every piece of a row of three units of four sectors, and every choice of bands.
    #[test]
    fn as_many_stretches_are_counted_as_there_are() {
        for (first, last) in [(0, 0), (0, 1), (1, 2), (0, 2)] {
            for start in 0..4 {
                for end in 1..=4 {
                    if first == last && start >= end {
                        continue;
                    }
                    let cut = Piece::new(0, 4, (first, start), (last, end)).cut;
                    for wanted in 0..8 {
                        let mut stretches = Vec::new();
                        cut.stretches(wanted, |stretch| stretches.push(stretch));
                        assert_eq!(cut.count(wanted) as usize, stretches.len());
                        assert!(stretches.windows(2).all(|two| two[0].1 < two[1].0));
                    }
                    let touched: u32 =
                        (first..=last).map(|unit| cut.count(cut.touched(unit))).sum();
                    assert_eq!(
                        touched,
                        last - first + 1,
                        "a piece touches each unit in one stretch"
                    );
                }
            }
        }
    }
}
