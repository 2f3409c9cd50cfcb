//! Interleaves dealt round the members in turn, as ccd(4) does it.
//!
//! Members need not be equal. Those that are full drop out, and the rest go on with what is left; the
//! *interleave table* says from which interleave on which members take part. Members of 5, 3 and 7
//! sectors at interleave 1 make three entries:
//!
//! ```text
//! members   from interleave   from row          volume sector   0 1 2 3 4 5 6 7 8 9 10 11 12 13 14
//! 0, 1, 2         0              0              member          0 1 2 0 1 2 0 1 2 0  2  0  2  2  2
//! 0, 2            9              3              member sector   0 0 0 1 1 1 2 2 2 3  3  4  4  5  6
//! 2              13              5
//! ```
//!
//! Two things are ccd's own and deliberate here: a member is first cut to whole interleaves (so the
//! capacity depends on the interleave), and pieces that meet on a member are *not* joined: a request
//! over k interleaves is k commands, even where two of them are neighbours on one disk.

use super::{Layout, LayoutError, check_members};
use crate::{Content, Health, Op, Place, Plan, Request, Unservable};

/// Interleaves dealt round the members in turn.
#[derive(Clone, Debug)]
pub struct Stripe {
    interleave_sectors: u64,
    members: usize,
    table: Vec<Entry>,
    sectors: u64,
}

/// From some interleave on, the members that still have room.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    members: Vec<u32>,
    first_interleave: u64,
    first_row: u64,
}

impl Stripe {
    /// A stripe of `interleave_sectors` over members of these sizes, each cut to whole interleaves.
    ///
    /// # Errors
    ///
    /// Where the interleave is zero (use [`super::Concat`]), there is no member, or a member has not
    /// even one interleave.
    pub fn new(interleave_sectors: u64, member_sectors: &[u64]) -> Result<Self, LayoutError> {
        check_members(member_sectors)?;
        if interleave_sectors == 0 {
            return Err(LayoutError::NoInterleave);
        }
        if let Some(member) =
            member_sectors.iter().position(|&sectors| sectors < interleave_sectors)
        {
            let sectors = member_sectors[member];
            return Err(LayoutError::MemberBelowInterleave { member, sectors, interleave_sectors });
        }
        let rows: Vec<u64> =
            member_sectors.iter().map(|sectors| sectors / interleave_sectors).collect();
        let sectors = rows.iter().sum::<u64>() * interleave_sectors;
        Ok(Stripe {
            interleave_sectors,
            members: rows.len(),
            table: interleave_table(&rows),
            sectors,
        })
    }

    /// The member that holds the volume's `interleave`-th interleave, and which of its own that is.
    fn locate(&self, interleave: u64) -> (u32, u64) {
        let entry = match self.table.as_slice() {
            [only] => only,
            table => &table[table.partition_point(|e| e.first_interleave <= interleave) - 1],
        };
        let width = entry.members.len() as u64;
        let nth = interleave - entry.first_interleave;
        (entry.members[(nth % width) as usize], entry.first_row + nth / width)
    }
}

/// The interleave table for members of so many rows (interleaves) each.
fn interleave_table(rows: &[u64]) -> Vec<Entry> {
    let mut table = Vec::new();
    let (mut first_interleave, mut first_row) = (0, 0);
    while let Some(end_row) = rows.iter().copied().filter(|&rows| rows > first_row).min() {
        let members: Vec<u32> =
            (0..rows.len() as u32).filter(|&member| rows[member as usize] > first_row).collect();
        let interleaves = members.len() as u64 * (end_row - first_row);
        table.push(Entry { members, first_interleave, first_row });
        first_interleave += interleaves;
        first_row = end_row;
    }
    table
}

impl Layout for Stripe {
    fn members(&self) -> usize {
        self.members
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        plan.clear();
        if request.op == Op::Flush {
            plan.flush_all(self.members, health);
        }
        let mut sector = request.sector;
        let mut interleave = sector / self.interleave_sectors;
        while sector < request.end() {
            let start = interleave * self.interleave_sectors;
            let end = request.end().min(start + self.interleave_sectors);
            let (member, row) = self.locate(interleave);
            if !health.is_up(member) {
                return Err(Unservable { member });
            }
            let place = Place { member, sector: row * self.interleave_sectors + (sector - start) };
            plan.step(request.op, place, (end - sector) as u32, Content::Data(sector));
            sector = end;
            interleave += 1;
        }
        plan.end_stage();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(members: &[u32], first_interleave: u64, first_row: u64) -> Entry {
        Entry { members: members.into(), first_interleave, first_row }
    }

    #[test]
    fn the_interleave_table_is_ccds() {
        let table = interleave_table(&[5, 3, 7]);
        assert_eq!(table, [entry(&[0, 1, 2], 0, 0), entry(&[0, 2], 9, 3), entry(&[2], 13, 5)]);
        let stripe = Stripe::new(128, &[1000, 1300, 1300]).unwrap();
        assert_eq!(stripe.table, [entry(&[0, 1, 2], 0, 0), entry(&[1, 2], 21, 7)]);
        assert_eq!(stripe.sectors(), 3456);
    }
}
