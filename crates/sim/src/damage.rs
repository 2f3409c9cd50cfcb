//! Sectors that cannot be read until they are written again.

use std::collections::BTreeMap;

/// Ranges of unreadable sectors, which never overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damage {
    /// First sector to the sector after the last.
    ranges: BTreeMap<u64, u64>,
}

impl Damage {
    /// `start..end` cannot be read from now on.
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        self.repair(start, end);
        if start < end {
            self.ranges.insert(start, end);
        }
    }

    /// `start..end` was rewritten.
    #[inline]
    pub(crate) fn repair(&mut self, start: u64, end: u64) {
        if !self.ranges.is_empty() {
            self.cut(start, end);
        }
    }

    fn cut(&mut self, start: u64, end: u64) {
        while let Some((first, last)) = self.first(start, end) {
            self.ranges.remove(&first);
            if first < start {
                self.ranges.insert(first, start);
            }
            if end < last {
                self.ranges.insert(end, last);
            }
        }
    }

    /// Whether `start..end` contains a damaged sector. Ranges for which `spared` returns true do not
    /// count: they are available elsewhere.
    #[inline]
    pub(crate) fn meets(&self, start: u64, end: u64, spared: impl Fn(u64, u64) -> bool) -> bool {
        !self.ranges.is_empty() && self.any_meets(start, end, spared)
    }

    #[cold]
    fn any_meets(&self, start: u64, end: u64, spared: impl Fn(u64, u64) -> bool) -> bool {
        let before = self.ranges.range(..=start).next_back();
        let after = self.ranges.range(start + 1..end.max(start + 1));
        let touching = before.into_iter().chain(after);
        touching
            .map(|(&first, &last)| (first.max(start), last.min(end)))
            .any(|(first, last)| first < last && !spared(first, last))
    }

    /// The first range that overlaps `start..end`.
    fn first(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (&first, &last) = self.ranges.range(..end).next_back()?;
        (start < last).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any two damages and one repair on six sectors, against a plain list of sectors.
    #[test]
    fn a_sector_is_damaged_from_its_damage_to_its_repair() {
        let ranges: Vec<(u64, u64)> =
            (0..6).flat_map(|start| (start..=6).map(move |end| (start, end))).collect();
        for a in &ranges {
            for b in &ranges {
                for repaired in &ranges {
                    let mut damage = Damage::default();
                    damage.add(a.0, a.1);
                    damage.add(b.0, b.1);
                    damage.repair(repaired.0, repaired.1);
                    let within = |range: &(u64, u64), sector| (range.0..range.1).contains(&sector);
                    for sector in 0..6 {
                        let expected =
                            (within(a, sector) || within(b, sector)) && !within(repaired, sector);
                        assert_eq!(damage.meets(sector, sector + 1, |_, _| false), expected);
                    }
                    assert!(!damage.meets(0, 6, |_, _| true));
                }
            }
        }
    }
}
