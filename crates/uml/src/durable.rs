//! What is left of what was written to a disk when its power is gone.

use crate::medium::Medium;
use sim::Tag;
use std::collections::BTreeMap;

/// What a command made of sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// They hold these bytes.
    Bytes(Vec<u8>),
    /// So many of them read as zeroes.
    Zeroes(u64),
}

impl Change {
    fn sectors(&self) -> u64 {
        match self {
            Change::Bytes(bytes) => bytes.len() as u64 / block::SECTOR_BYTES,
            Change::Zeroes(sectors) => *sectors,
        }
    }

    /// Makes a part of it, which begins at `sector`.
    fn make_part(&self, medium: &mut Medium, sector: u64, (from, to): (u64, u64)) {
        match self {
            Change::Bytes(bytes) => {
                let byte = |at: u64| ((at - sector) * block::SECTOR_BYTES) as usize;
                medium.write(from, &bytes[byte(from)..byte(to)]);
            }
            Change::Zeroes(_) => medium.zero(from, to - from),
        }
    }
}

/// What a disk holds for good. Changes may become durable in another order than they were done in: a cache that holds two,
/// of which one replaces a part of the other, writes the rest of the older one last. Of each sector the newest counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durable {
    medium: Medium,
    /// Sectors that were changed, by the first: where they end, and the place of the change among those that were done.
    newest: BTreeMap<u64, (u64, u64)>,
}

impl Durable {
    pub(crate) fn medium(&self) -> &Medium {
        &self.medium
    }

    /// What a command has changed is durable: pieces, each from a sector on. It was the `place`th to change something.
    pub(crate) fn change_all(&mut self, place: u64, pieces: &[(u64, Change)]) {
        for (sector, change) in pieces {
            self.change(place, *sector, change);
        }
    }

    fn change(&mut self, place: u64, sector: u64, change: &Change) {
        for part in self.not_replaced(place, sector, sector + change.sectors()) {
            change.make_part(&mut self.medium, sector, part);
        }
    }

    /// The parts of the sectors from `from` to `to` of which nothing newer than `place` is known; from now on this is.
    fn not_replaced(&mut self, place: u64, from: u64, to: u64) -> Vec<(u64, u64)> {
        let known = self.newest.range(..to).rev();
        let mut known: Vec<_> = known
            .take_while(|&(_, &(end, _))| end > from)
            .map(|(&start, &(end, of))| (start, end, of))
            .collect();
        known.reverse();
        let (mut parts, mut at) = (Vec::new(), from);
        for (start, end, of) in known {
            if of > place {
                parts.extend((start > at).then_some((at, start)));
                at = end;
                continue;
            }
            self.newest.remove(&start);
            if start < from {
                self.newest.insert(start, (from, of));
            }
            if end > to {
                self.newest.insert(to, (end, of));
            }
        }
        parts.extend((at < to).then_some((at, to)));
        self.newest.extend(parts.iter().map(|&(from, to)| (from, (to, place))));
        parts
    }
}

/// What a disk whose power is going to be cut holds for good, and what is in its cache alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cached {
    durable: Durable,
    /// Changes that were done and are not durable, each command's with its place.
    held: BTreeMap<Tag, (u64, Vec<(u64, Change)>)>,
    /// Commands that the device has done and the kernel is not told of, so that their data is still to come; and whether
    /// they are durable already.
    untold: BTreeMap<Tag, bool>,
    /// Commands that changed something.
    changes: u64,
}

impl Cached {
    /// The same of a disk that holds this for good.
    pub(crate) fn over(medium: Medium) -> Self {
        Cached { durable: Durable { medium, ..Durable::default() }, ..Cached::default() }
    }

    /// The device has done a command that changes sectors.
    pub(crate) fn done(&mut self, tag: Tag) {
        self.untold.insert(tag, false);
    }

    /// The kernel is told of it, and this is what it has changed.
    pub(crate) fn change(&mut self, tag: Tag, pieces: Vec<(u64, Change)>) {
        let place = self.changes;
        self.changes += 1;
        if self.untold.remove(&tag) == Some(true) {
            self.durable.change_all(place, &pieces);
        } else {
            self.held.insert(tag, (place, pieces));
        }
    }

    /// No power cut can lose any more what a command changed, if it is one to this disk.
    pub(crate) fn durable(&mut self, tag: Tag) {
        if let Some(is_durable) = self.untold.get_mut(&tag) {
            *is_durable = true;
        } else if let Some((place, pieces)) = self.held.remove(&tag) {
            self.durable.change_all(place, &pieces);
        }
    }

    /// Power is cut: gives the commands whose changes are lost, and what the disk holds.
    pub(crate) fn cut(&mut self) -> (Vec<Tag>, Medium) {
        let held = std::mem::take(&mut self.held).into_keys();
        let untold = std::mem::take(&mut self.untold).into_keys();
        (held.chain(untold).collect(), self.durable.medium.clone())
    }

    /// Bytes of memory that it takes, about.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let pieces = self.held.values().flat_map(|(_, pieces)| pieces);
        let held = pieces.map(|(_, change)| match change {
            Change::Bytes(bytes) => bytes.len() as u64,
            Change::Zeroes(_) => 0,
        });
        self.durable.medium.kept_bytes() + held.sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: u8, sectors: usize) -> Change {
        Change::Bytes(vec![value; sectors * 512])
    }

    /// The first bytes of the first sectors.
    fn held(medium: &Medium, sectors: usize) -> Vec<u8> {
        let mut bytes = vec![0; sectors * 512];
        medium.read(0, &mut bytes);
        bytes.chunks(512).map(|sector| sector[0]).collect()
    }

    /// All orders in which three overlapping changes become durable, against a plain array that takes the newest.
    #[test]
    fn of_each_sector_the_newest_durable_change_counts() {
        let ranges: Vec<(u64, u64)> =
            (0..6).flat_map(|from| (from + 1..=6).map(move |to| (from, to))).collect();
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for first in &ranges {
            for second in &ranges {
                for third in &ranges {
                    let changes = [first, second, third];
                    for order in orders {
                        let mut durable = Durable::default();
                        let mut plain = [(0, 0); 6];
                        for place in order {
                            let (from, to) = *changes[place];
                            let change = match place {
                                1 => Change::Zeroes(to - from),
                                _ => bytes(place as u8 + 1, (to - from) as usize),
                            };
                            let value = if place == 1 { 0 } else { place as u8 + 1 };
                            durable.change(place as u64 + 1, from, &change);
                            for sector in &mut plain[from as usize..to as usize] {
                                *sector = (*sector).max((place + 1, value));
                            }
                        }
                        let plain: Vec<u8> = plain.iter().map(|&(_, value)| value).collect();
                        assert_eq!(held(durable.medium(), 6), plain, "{changes:?} {order:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cut_loses_what_is_in_the_cache_alone() {
        let mut before = Medium::default();
        before.write(0, &[9; 512]);
        let mut cached = Cached::over(before);
        cached.change(5, vec![(1, bytes(1, 1)), (3, bytes(1, 1))]);
        cached.change(6, vec![(1, bytes(2, 1))]);
        cached.durable(5);
        // It is durable before its data comes; of the next the data never comes, and another disk has the last.
        cached.done(7);
        cached.durable(7);
        cached.change(7, vec![(4, bytes(3, 1))]);
        cached.done(8);
        cached.durable(8);
        cached.durable(99);
        assert_eq!(cached.kept_bytes(), 4096 + 512);
        let (lost, medium) = cached.cut();
        assert_eq!((lost, held(&medium, 5)), (vec![6, 8], vec![9, 1, 0, 1, 3]));
        // What was lost stays so, and the next change is as any other.
        cached.durable(6);
        cached.change(9, vec![(1, bytes(4, 1))]);
        cached.durable(9);
        assert_eq!(held(&cached.cut().1, 5), [9, 4, 0, 1, 3]);
    }
}
