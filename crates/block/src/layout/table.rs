//! The interleave table: which members still have room from which interleave on, and so where each
//! sector is.
//!
//! The name is ccd(4)'s; md calls the entries zones, and makes the same table. Members of 5, 3 and 7
//! interleaves make three entries:
//!
//! ```text
//! members   from interleave   from row
//! 0, 1, 2         0              0
//! 0, 2            9              3
//! 2              13              5
//! ```

use super::Dealing;
use crate::{Divisor, Place};

/// From some interleave on, the members that still have room.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The members that take part, in order.
    members: Vec<u32>,
    /// How many.
    width: Divisor,
    /// The first interleave of the volume that this entry maps.
    first_interleave: u64,
    /// The row of that interleave, the same on all of the members.
    first_row: u64,
}

/// The entries, in order.
#[derive(Clone, Debug)]
pub(super) struct Table {
    interleave: Divisor,
    dealing: Dealing,
    entries: Vec<Entry>,
    rows: Vec<u64>,
}

impl Table {
    /// The table for members with these numbers of rows (interleaves).
    pub(super) fn new(dealing: Dealing, interleave_sectors: u64, rows: Vec<u64>) -> Self {
        let mut entries = Vec::new();
        let (mut first_interleave, mut first_row) = (0, 0);
        while let Some(end_row) = rows.iter().copied().filter(|&rows| rows > first_row).min() {
            let members: Vec<u32> = (0..rows.len() as u32)
                .filter(|&member| rows[member as usize] > first_row)
                .collect();
            let interleaves = members.len() as u64 * (end_row - first_row);
            let width = Divisor::new(members.len() as u64);
            entries.push(Entry { members, width, first_interleave, first_row });
            first_interleave += interleaves;
            first_row = end_row;
        }
        Table { interleave: Divisor::new(interleave_sectors), dealing, entries, rows }
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.rows.len()
    }

    /// Where a sector of the volume is, and how many sectors from there on are contiguous.
    #[inline]
    pub(super) fn place(&self, sector: u64) -> (Place, u64) {
        let (interleave, within) = self.interleave.divide(sector);
        let entry = self.of_interleave(interleave);
        let (nth_row, nth) = entry.width.divide(interleave - entry.first_interleave);
        let turn = match self.dealing {
            Dealing::Original => entry.width.remainder(interleave),
            Dealing::Alternate => nth,
        };
        let row = entry.first_row + nth_row;
        let place = Place {
            member: entry.members[turn as usize],
            sector: row * self.interleave.get() + within,
        };
        (place, self.interleave.get() - within)
    }

    /// The sector of the volume that is there, if any, and for how many sectors that is contiguous.
    pub(super) fn sector_at(&self, place: Place) -> (Option<u64>, u64) {
        let (row, within) = self.interleave.divide(place.sector);
        let sector = self.of_row(place.member, row).map(|(entry, turn)| {
            let width = entry.width.get();
            let nth = match self.dealing {
                Dealing::Original => (turn + width - entry.first_interleave % width) % width,
                Dealing::Alternate => turn,
            };
            let interleave = entry.first_interleave + (row - entry.first_row) * width + nth;
            interleave * self.interleave.get() + within
        });
        (sector, self.interleave.get() - within)
    }

    /// The entry that maps the volume's `interleave`-th interleave.
    fn of_interleave(&self, interleave: u64) -> &Entry {
        match self.entries.as_slice() {
            [only] => only,
            entries => &entries[entries.partition_point(|e| e.first_interleave <= interleave) - 1],
        }
    }

    /// The entry that maps a row, and the position of a member in it; none where the member has no such
    /// row.
    fn of_row(&self, member: u32, row: u64) -> Option<(&Entry, u64)> {
        if row >= self.rows[member as usize] {
            return None;
        }
        let entry = &self.entries[self.entries.partition_point(|e| e.first_row <= row) - 1];
        let turn = entry.members.iter().position(|&other| other == member);
        Some((entry, turn.expect("a member with room takes part") as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(members: &[u32], first_interleave: u64, first_row: u64) -> Entry {
        let width = Divisor::new(members.len() as u64);
        Entry { members: members.into(), width, first_interleave, first_row }
    }

    #[test]
    fn the_interleave_table_is_ccds() {
        let table = Table::new(Dealing::Alternate, 1, vec![5, 3, 7]);
        let expected = [entry(&[0, 1, 2], 0, 0), entry(&[0, 2], 9, 3), entry(&[2], 13, 5)];
        assert_eq!(table.entries, expected);
        let table = Table::new(Dealing::Alternate, 128, vec![1000 / 128, 1300 / 128, 1300 / 128]);
        assert_eq!(table.entries, [entry(&[0, 1, 2], 0, 0), entry(&[1, 2], 21, 7)]);
    }
}
