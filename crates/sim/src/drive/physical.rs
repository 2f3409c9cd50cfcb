//! Drives whose physical sectors are larger than those that the host addresses (*512e*). A physical
//! sector that a write covers only in part is read first and written a revolution later
//! (read-modify-write).
//!
//! ```text
//! 8 logical sectors in a physical one; the host writes 12..28
//!
//! on the medium   0 ...... 8 ...... 16 ...... 24 ...... 32
//! the write                   xxxxx  xxxxxxxx  xxxx
//! read first               8 .. 16            24 .. 32      then 8..32 is written: one revolution more
//! ```

use super::Drive;
use super::mechanics::{Start, Transfer};
use crate::spent::Ledger;
use crate::{Nanos, Part, Spent};

/// The time of the first read until it transfers, the same as the write would need.
const WAY: [Part; 3] = [Part::SEEK, Part::ROTATION, Part::HEAD_SWITCH];
/// The time of a write that loses no revolution.
const WRITING: [Part; 3] = [Part::BUS, Part::HEAD_SWITCH, Part::MEDIA];

/// The physical sectors, by first logical sector, that a write of `start..end` covers only in part.
/// Each has `physical` logical sectors.
///
/// With 8, 12..28 covers a part of 8..16 and of 24..32; 9..11 one part of 8..16; 8..16 all of it.
fn covered_in_part(start: u64, end: u64, physical: u64) -> impl Iterator<Item = u64> {
    let (first, last) = (start / physical * physical, end / physical * physical);
    let front = (first < start).then_some(first);
    let back = (last < end && front != Some(last)).then_some(last);
    front.into_iter().chain(back)
}

impl Drive {
    pub(super) fn physical_sectors(&self) -> u64 {
        u64::from(self.controller.firmware.physical_sectors.max(1))
    }

    /// Writes to the medium as `transfer` says, with the arm free from the end of `ledger` on, to which the time is
    /// charged. Parts of physical sectors that are not in the buffer are read before.
    #[inline]
    pub(super) fn write_medium(&mut self, transfer: Transfer, ledger: &mut Ledger) {
        if self.physical_sectors() == 1 {
            self.mechanics.pass(transfer, ledger);
        } else {
            ledger.charge_all(&self.write_physical(ledger.charged_to(), transfer));
        }
    }

    /// The same with physical sectors of more than one, from `at` on; returns where the time went.
    fn write_physical(&mut self, at: Nanos, mut transfer: Transfer) -> Spent {
        let physical = self.physical_sectors();
        let (start, end) = (transfer.sector, transfer.sector + u64::from(transfer.sectors));
        let sectors = self.mechanics.sectors();
        let mut spent = Spent::NONE;
        for first in covered_in_part(start, end, physical) {
            let last = (first + physical).min(sectors);
            if self.holds_around(start, end, first, last) {
                continue;
            }
            let read = Transfer {
                sector: first,
                sectors: (last - first) as u32,
                write: false,
                start: transfer.start,
                data_at: 0,
            };
            let read = self.mechanics.transfer(at + spent.total(), read);
            let way: &[Part] = if spent == Spent::NONE { &WAY } else { &[] };
            spent += read.all_on(Part::PART_SECTOR, way);
            transfer.start = Start::On;
        }
        transfer.sector = start / physical * physical;
        let end = end.next_multiple_of(physical).min(sectors);
        transfer.sectors = (end - transfer.sector) as u32;
        let write = self.mechanics.transfer(at + spent.total(), transfer);
        let is_late = spent != Spent::NONE;
        spent += if is_late { write.all_on(Part::PART_SECTOR, &WRITING) } else { write };
        spent
    }

    /// Whether the buffer holds the rest of `first..last` besides `start..end`.
    fn holds_around(&self, start: u64, end: u64, first: u64, last: u64) -> bool {
        let holds = |from: u64, to: u64| {
            from >= to || self.dirty.covers(from, to) || self.segments.find(from, to).is_some()
        };
        holds(first, start) && holds(end, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_on_the_medium_is_covered_wholly_in_part_or_not_at_all() {
        for physical in 1..=8 {
            for start in 0..24 {
                for end in start + 1..=32 {
                    let covered = |sector: &u64| start <= *sector && *sector < end;
                    let expected: Vec<u64> = (0..40)
                        .step_by(physical as usize)
                        .filter(|first| {
                            let count = (*first..first + physical).filter(covered).count() as u64;
                            0 < count && count < physical
                        })
                        .collect();
                    let found: Vec<u64> = covered_in_part(start, end, physical).collect();
                    assert_eq!(found, expected, "{start}..{end} of {physical}");
                }
            }
        }
    }
}
