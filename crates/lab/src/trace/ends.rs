//! Where the requests of a disk end, in memory that does not depend on how many there are.

use std::collections::BTreeMap;

/// Sixteen parts of each doubling.
const PARTS: u32 = 16;

/// How many requests end in each part of a disk; a part is 1/16 of a power of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    counts: BTreeMap<u64, u64>,
}

/// The first sector of the part in which `end` lies: 1000 is in that from 992 on, which are 31/16 of 512.
fn part(end: u64) -> u64 {
    let step = (1_u64 << end.max(1).ilog2()) / u64::from(PARTS);
    end / step.max(1) * step.max(1)
}

impl Ends {
    pub(super) fn add(&mut self, end: u64) {
        *self.counts.entry(part(end)).or_default() += 1;
    }

    /// How many requests reach beyond this sector; those of the part in which it lies are left out.
    pub(super) fn beyond(&self, sector: u64) -> u64 {
        self.counts.range(sector.saturating_add(1)..).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_a_sector_are_counted_to_a_sixteenth() {
        let mut ends = Ends::default();
        for end in [8, 1000, 2000, 1 << 40] {
            ends.add(end);
        }
        let beyond = [0, 8, 900, 992, 1900, 1 << 39, u64::MAX].map(|sector| ends.beyond(sector));
        assert_eq!(beyond, [4, 3, 3, 2, 2, 1, 0]);
        assert_eq!([0, 1, 31, 1000, 1023, 1024].map(part), [0, 1, 31, 992, 992, 1024]);
    }
}
