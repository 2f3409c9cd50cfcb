//! Rows of data under parity: RAID 4 and 5 with P, RAID 6 with P and Q.
//!
//! One interleave on every member is a *row*. One unit of it holds P, the exclusive or of the data
//! units. One may hold Q, their sum weighted by powers of 2 in the field of 256 elements modulo x^8 +
//! x^4 + x^3 + x^2 + 1. Left-symmetric on four members, interleave 32 sectors:
//!
//! ```text
//! member           0       1       2       3
//! row 0 (0..31)    0..31   32..63  64..95  P
//! row 1 (32..63)   128..   160..   P       96..127
//! ```
//!
//! The cost of a write depends, for each row, on how the new parity is computed:
//!
//! ```text
//! write of sectors 0..32, P alone          reads first          then writes    requests
//! modify (read-modify-write)               old unit 0, old P    unit 0, P      4
//! reconstruct (reconstruct-write)          units 1 and 2        unit 0, P      4
//! write of sectors 0..96 (the whole row)   nothing              units 0-2, P   4
//! ```
//!
//! All reads are in the first stage, with the writes of rows that need no reads. The other writes are
//! in the second stage. Every write locks its rows, and so does a read that reconstructs data from
//! parity. `parity/row.rs` says which sectors of a row each way needs, healthy or degraded.
//!
//! Plans carry no bytes and do not record which way was chosen. The reads show it. Where all data of a
//! column is known, old or new, parity is computed from it. Otherwise, where the old content of all
//! changed data is known, parity is changed by the difference. Otherwise the missing units are
//! reconstructed first. One of the three is always possible.

mod rotation;
mod row;

pub use rotation::Rotation;

use super::{Layout, LayoutError, Rows, whole_interleaves};
use crate::{Content, Divisor, Health, Op, Place, Plan, Request, Unservable};
use rotation::Columns;
use row::{Piece, Row, Unit};

/// The parity of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// P: one member may fail.
    P,
    /// P and Q: two members may fail.
    PQ,
}

impl Code {
    /// Members of a row that hold it.
    pub const fn members(self) -> usize {
        match self {
            Code::P => 1,
            Code::PQ => 2,
        }
    }
}

/// How new parity is computed where a row is not written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRule {
    /// With the fewest requests; by reconstruction where both take equally many: md.
    FewestRequests,
    /// By modification up to half of the row's units, where two separate parts of the parity change,
    /// and where a member of the row has failed: RAIDframe.
    HalfOfRow,
}

/// Rows of data under parity.
#[derive(Clone, Debug)]
pub struct Parity {
    rotation: Rotation,
    rule: WriteRule,
    interleave: Divisor,
    members: u32,
    parities: u32,
    data_units: Divisor,
    rows: u64,
    /// Whether a write within one unit changes parity by the difference, as long as all members are up.
    modifies_one_unit: bool,
}

impl Parity {
    /// Rows over members that are cut to whole interleaves of the smallest of these sizes.
    ///
    /// # Errors
    ///
    /// Where the interleave is zero, there are fewer than 2 members (4 under P and Q, for btrfs 3), a
    /// member is smaller than one interleave, or the rotation does not fit this code.
    pub fn new(
        code: Code,
        rotation: Rotation,
        rule: WriteRule,
        interleave_sectors: u64,
        member_sectors: &[u64],
    ) -> Result<Self, LayoutError> {
        let rows = whole_interleaves(interleave_sectors, member_sectors)?;
        let (parities, needed) = match code {
            Code::P => (1, 2),
            // btrfs writes two parities for a single data unit where it must.
            Code::PQ if rotation == Rotation::Btrfs => (2, 3),
            Code::PQ => (2, 4),
        };
        if rows.len() < needed {
            return Err(LayoutError::TooFewMembers { needed, given: rows.len() });
        }
        if code == Code::P && rotation.needs_q() {
            return Err(LayoutError::RotationNeedsQ);
        }
        let members = rows.len() as u32;
        let rows = rows.into_iter().min().expect("there is at least one member");
        let data_units = members - parities;
        let modifies_one_unit = match rule {
            WriteRule::FewestRequests => 1 + parities + 1 < data_units,
            WriteRule::HalfOfRow => data_units >= 2,
        };
        Ok(Parity {
            rotation,
            rule,
            interleave: Divisor::new(interleave_sectors),
            members,
            parities,
            data_units: Divisor::new(u64::from(data_units)),
            rows,
            modifies_one_unit,
        })
    }

    /// The interleave.
    pub fn interleave_sectors(&self) -> u64 {
        self.interleave.get()
    }

    /// How many units of each row hold data.
    pub fn data_units(&self) -> u32 {
        self.data_units.get() as u32
    }

    /// How many units of each row hold parity, and so how many members may fail.
    pub fn parities(&self) -> u32 {
        self.parities
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The power of 2 that is the weight of data unit `unit` of row `row` in Q.
    pub fn exponent(&self, row: u64, unit: u32) -> u32 {
        self.columns(row).exponent(unit)
    }

    /// Sectors of data in a row.
    fn row_sectors(&self) -> u64 {
        self.data_units.get() * self.interleave.get()
    }

    /// The part of `request` in each row that it touches.
    fn pieces(&self, request: Request) -> impl Iterator<Item = Piece> {
        let (row_sectors, interleave) = (self.row_sectors(), self.interleave.get());
        let rows = request.sector / row_sectors..request.end().div_ceil(row_sectors);
        rows.map(move |row| {
            let row_start = row * row_sectors;
            let start = request.sector.max(row_start) - row_start;
            let last = request.end().min(row_start + row_sectors) - row_start - 1;
            let place = |offset: u64| ((offset / interleave) as u32, offset % interleave);
            let (last, within) = place(last);
            Piece::new(row, interleave, place(start), (last, within + 1))
        })
    }

    /// Adds a step on `start..end` of a unit.
    fn step(&self, op: Op, row: &Row, unit: Unit, (start, end): (u64, u64), plan: &mut Plan) {
        let member = row.member(unit);
        let place = Place { member, sector: row.number * self.interleave.get() + start };
        let column = row.number * self.row_sectors() + start;
        let content = match unit {
            Unit::Data(unit) => Content::Data(column + u64::from(unit) * self.interleave.get()),
            Unit::P => Content::P(column),
            Unit::Q => Content::Q(column),
        };
        plan.step(op, place, (end - start) as u32, content);
    }

    /// Where the sector is, and how many from there on follow it on that member.
    fn place(&self, sector: u64) -> (Place, u64) {
        let (number, within) = self.interleave.divide(sector);
        let (row, unit) = self.data_units.divide(number);
        let member = self.columns(row).member(unit as u32);
        let start = row * self.interleave.get() + within;
        (Place { member, sector: start }, self.interleave.get() - within)
    }

    fn columns(&self, row: u64) -> Columns {
        self.rotation.columns(row, self.members, self.parities)
    }

    fn row<'a>(&self, number: u64, health: &'a Health, lost: Option<u32>) -> Row<'a> {
        Row::new(number, self.columns(number), self.data_units(), health, lost)
    }

    fn plan_read(&self, request: Request, health: &Health, plan: &mut Plan) -> Planned {
        for piece in self.pieces(request) {
            let row = self.row(piece.row, health, None);
            let ways = row.ways_to_read(&piece)?;
            if ways.work_out() {
                plan.lock_row(piece.row);
            }
            row.each_read(&piece, ways, |unit, part| self.step(Op::Read, &row, unit, part, plan));
        }
        plan.end_stage();
        Ok(())
    }

    /// The plan of a write within one unit, all members up, where parity is changed by the difference: what
    /// [`Parity::plan_any_write`] finds, without bands. Returns whether it is one.
    fn plan_small_write(&self, request: Request, health: &Health, plan: &mut Plan) -> bool {
        let interleave = self.interleave.get();
        let (number, start) = self.interleave.divide(request.sector);
        let is_small = start + u64::from(request.sectors) <= interleave;
        if !(is_small && self.modifies_one_unit && health.failures() == 0) {
            return false;
        }
        let (row, unit) = self.data_units.divide(number);
        let columns = self.columns(row);
        let column = row * self.row_sectors() + start;
        let sector = row * interleave + start;
        plan.lock_row(row);
        for (data_op, parity_op) in [(Op::Read, Op::Read), (request.op, parity_op(request.op))] {
            let mut step = |op, member, content| {
                plan.step(op, Place { member, sector }, request.sectors, content);
            };
            step(data_op, columns.member(unit as u32), Content::Data(request.sector));
            step(parity_op, columns.p, Content::P(column));
            if let Some(q) = columns.q {
                step(parity_op, q, Content::Q(column));
            }
            plan.end_stage();
        }
        true
    }

    fn plan_any_write(&self, request: Request, health: &Health, plan: &mut Plan) -> Planned {
        // Only the first and the last row can be partial, and so need reads.
        let mut waiting = [None, None];
        for piece in self.pieces(request) {
            let row = self.row(piece.row, health, None);
            let ways = row.ways_to_write(&piece, self.rule)?;
            plan.lock_row(piece.row);
            let mut reads = false;
            row.each_read(&piece, ways, |unit, part| {
                reads = true;
                self.step(Op::Read, &row, unit, part, plan);
            });
            if reads {
                let free = usize::from(waiting[0].is_some());
                waiting[free] = Some((row, piece));
            } else {
                self.write_piece(request.op, &row, &piece, plan);
            }
        }
        plan.end_stage();
        for (row, piece) in waiting.iter().flatten() {
            self.write_piece(request.op, row, piece, plan);
        }
        plan.end_stage();
        Ok(())
    }

    fn write_piece(&self, op: Op, row: &Row, piece: &Piece, plan: &mut Plan) {
        let parity_op = parity_op(op);
        row.each_write(piece, |unit, part| {
            let op = if matches!(unit, Unit::Data(_)) { op } else { parity_op };
            self.step(op, row, unit, part, plan);
        });
    }

    /// Discards whole rows with their parity and leaves partial rows alone. If part of a row had
    /// undefined content, its parity would be undefined too. A discard is only advice.
    fn plan_discard(&self, request: Request, health: &Health, plan: &mut Plan) {
        for piece in self.pieces(request).filter(|piece| piece.is_whole(self.data_units())) {
            plan.lock_row(piece.row);
            let row = self.row(piece.row, health, None);
            self.write_piece(Op::Discard, &row, &piece, plan);
        }
        plan.end_stage();
    }
}

/// What is done to parity where `op` is done to data: parity over zeroes and old data is not zero.
fn parity_op(op: Op) -> Op {
    if op == Op::Zeroes { Op::WRITE } else { op }
}

type Planned = Result<(), Unservable>;

impl Layout for Parity {
    fn only_place(&self, sector: u64, sectors: u32) -> Option<Place> {
        let (place, left) = self.place(sector);
        (u64::from(sectors) <= left).then_some(place)
    }

    fn members(&self) -> usize {
        self.members as usize
    }

    fn sectors(&self) -> u64 {
        self.rows * self.row_sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let (place, left) = self.place(sector);
        places.push(place);
        left
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let (row, within) = self.interleave.divide(place.sector);
        let columns = self.columns(row);
        let sector = columns.unit(place.member).filter(|_| row < self.rows).map(|unit| {
            row * self.row_sectors() + u64::from(unit) * self.interleave.get() + within
        });
        (sector, self.interleave.get() - within)
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Planned {
        plan.clear();
        match request.op {
            Op::Read => self.plan_read(request, health, plan)?,
            Op::Write { .. } | Op::Zeroes => {
                if !self.plan_small_write(request, health, plan) {
                    self.plan_any_write(request, health, plan)?;
                }
            }
            Op::Discard => self.plan_discard(request, health, plan),
            Op::Flush => plan.flush_all(self.members(), health),
        }
        plan.end_stage();
        Ok(())
    }

    fn rebuild(&self, lost: Place, sectors: u32, health: &Health, plan: &mut Plan) -> Planned {
        plan.clear();
        let interleave = self.interleave.get();
        let end = (lost.sector + u64::from(sectors)).min(self.rows * interleave);
        for op in [Op::Read, Op::WRITE] {
            for number in lost.sector / interleave..end.div_ceil(interleave) {
                let row = self.row(number, health, Some(lost.member));
                let start = number * interleave;
                let part = (lost.sector.max(start) - start, end.min(start + interleave) - start);
                if op == Op::Read {
                    plan.lock_row(number);
                    row.each_survivor(|unit| self.step(op, &row, unit, part, plan))?;
                } else {
                    self.step(op, &row, self.columns(number).of(lost.member), part, plan);
                }
            }
            plan.end_stage();
        }
        Ok(())
    }

    fn rows_at(&self, _sector: u64) -> Option<Rows<'_>> {
        Some(Rows { parity: self, first_sector: 0, first_row: 0 })
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        let columns = self.columns(row);
        let place = |member| Place { member, sector: row * self.interleave.get() };
        Some((place(columns.p), columns.q.map(place)))
    }
}

#[cfg(test)]
mod tests;
