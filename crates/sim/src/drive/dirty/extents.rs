//! Extents by their first sector, in the order in which an elevator comes to them.

use super::Extent;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// So many extents are kept in a list. A search in it has no branch that could be guessed wrong, and nothing is taken or
/// given back, so that it costs less than a tree.
const FEW_MAX: usize = 64;

/// Extents by first sector, which never overlap.
#[derive(Clone, Debug)]
pub(super) enum Extents {
    /// In the order in which the elevator comes to them, the next one last: to take it moves no other.
    Few(Vec<Extent>),
    /// More than that, or some of them.
    Many(BTreeMap<u64, Extent>),
}

impl Default for Extents {
    fn default() -> Self {
        Extents::Few(Vec::new())
    }
}

/// How far the elevator goes up from `position` until it comes to `sector`; what is below comes last, as if the sectors
/// after the greatest number were those from 0 on.
#[inline]
fn way(position: u64, sector: u64) -> u64 {
    sector.wrapping_sub(position)
}

/// The place in `few` of the extent that starts at `sector`, or of the last that starts before it.
#[inline]
fn place(few: &[Extent], position: u64, sector: u64) -> usize {
    few.partition_point(|extent| way(position, extent.sector) > way(position, sector))
}

/// How many of `few` end or start where `start..end` starts or ends, which is before `place`. What the elevator comes to
/// first and last may touch each other.
#[inline]
fn neighbours(few: &[Extent], place: usize, (start, end): (u64, u64)) -> usize {
    let before = few.get(place).or(few.first()).is_some_and(|it| it.end() == start);
    let behind = few.get(place.wrapping_sub(1)).or(few.last()).is_some_and(|it| it.sector == end);
    usize::from(before) + usize::from(behind)
}

/// The same of `many`.
fn neighbours_of_many(many: &BTreeMap<u64, Extent>, (start, end): (u64, u64)) -> usize {
    let before = many.range(..start).next_back().is_some_and(|(_, it)| it.end() == start);
    usize::from(before) + usize::from(many.contains_key(&end))
}

impl Extents {
    /// How many of them end or start where `start..end` starts or ends.
    pub(super) fn neighbours(&self, position: u64, (start, end): (u64, u64)) -> usize {
        match self {
            Extents::Few(few) => neighbours(few, place(few, position, start), (start, end)),
            Extents::Many(many) => neighbours_of_many(many, (start, end)),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Extents::Few(few) => few.is_empty(),
            Extents::Many(many) => many.is_empty(),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Extents::Few(few) => few.len(),
            Extents::Many(many) => many.len(),
        }
    }

    /// The last that starts before `sector`.
    #[inline]
    pub(super) fn before(&self, position: u64, sector: u64) -> Option<&Extent> {
        match self {
            Extents::Few(few) => {
                let is_behind = |it: &Extent| way(position, it.sector) >= way(position, sector);
                let before = few.get(few.partition_point(is_behind)).or(few.first());
                before.filter(|it| it.sector < sector)
            }
            Extents::Many(many) => many.range(..sector).next_back().map(|(_, extent)| extent),
        }
    }

    /// That which starts at `sector`.
    #[inline]
    pub(super) fn get(&self, position: u64, sector: u64) -> Option<&Extent> {
        match self {
            Extents::Few(few) => {
                few.get(place(few, position, sector)).filter(|it| it.sector == sector)
            }
            Extents::Many(many) => many.get(&sector),
        }
    }

    /// Adds an extent; returns how many others it touches, or that which starts where it does.
    pub(super) fn insert(&mut self, position: u64, extent: Extent) -> Result<usize, &mut Extent> {
        if let Extents::Few(few) = self
            && few.len() == FEW_MAX
        {
            let all = few.drain(..).map(|extent| (extent.sector, extent));
            *self = Extents::Many(all.collect());
        }
        let (sector, end) = (extent.sector, extent.end());
        match self {
            Extents::Few(few) => {
                let place = place(few, position, sector);
                if few.get(place).is_some_and(|it| it.sector == sector) {
                    return Err(&mut few[place]);
                }
                let neighbours = neighbours(few, place, (sector, end));
                few.insert(place, extent);
                Ok(neighbours)
            }
            Extents::Many(many) => {
                let neighbours = neighbours_of_many(many, (sector, end));
                match many.entry(sector) {
                    Entry::Occupied(there) => Err(there.into_mut()),
                    Entry::Vacant(free) => {
                        free.insert(extent);
                        Ok(neighbours)
                    }
                }
            }
        }
    }

    /// Takes out the extent that the elevator comes to next; returns how many others it touches, too.
    pub(super) fn take_next(&mut self, position: u64) -> Option<(Extent, usize)> {
        match self {
            Extents::Few(few) => {
                let extent = few.pop()?;
                let neighbours = neighbours(few, few.len(), (extent.sector, extent.end()));
                Some((extent, neighbours))
            }
            Extents::Many(many) => {
                let next = many.range(position..).next().or_else(|| many.first_key_value());
                let (&first, _) = next?;
                self.take(position, first)
            }
        }
    }

    /// The same of the extent that starts at `sector`.
    pub(super) fn take(&mut self, position: u64, sector: u64) -> Option<(Extent, usize)> {
        match self {
            Extents::Few(few) => {
                let place = place(few, position, sector);
                few.get(place).filter(|it| it.sector == sector)?;
                let extent = few.remove(place);
                let neighbours = neighbours(few, place, (sector, extent.end()));
                Some((extent, neighbours))
            }
            Extents::Many(many) => {
                let extent = many.remove(&sector)?;
                let neighbours = neighbours_of_many(many, (sector, extent.end()));
                if many.is_empty() {
                    *self = Extents::default();
                }
                Some((extent, neighbours))
            }
        }
    }

    /// All of them, by first sector.
    pub(super) fn iter(&self, position: u64) -> impl Iterator<Item = &Extent> {
        let (few, many) = match self {
            Extents::Few(few) => {
                let above = few.partition_point(|it| it.sector < position);
                let (below, above) = few.split_at(above);
                (Some(below.iter().rev().chain(above.iter().rev())), None)
            }
            Extents::Many(many) => (None, Some(many.values())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tags;
    use super::*;

    /// Few and many extents are the same as a plain list of them.
    #[test]
    fn extents_are_found_however_many_there_are() {
        let mut extents = Extents::default();
        let mut plain: Vec<u64> = Vec::new();
        let (mut state, mut position) = (7_u64, 0);
        let touching = |plain: &[u64], sector: u64| {
            plain.iter().filter(|&&it| it + 4 == sector || it == sector + 4).count()
        };
        for step in 0..4000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let sector = (state >> 33) % 128 * 4;
            let grows = step / 500 % 2 == 0;
            if plain.contains(&sector) && !(grows && state >> 60 != 0) {
                plain.retain(|&it| it != sector);
                let taken =
                    extents.take(position, sector).map(|(it, neighbours)| (it.sector, neighbours));
                assert_eq!(taken, Some((sector, touching(&plain, sector))));
                assert!(extents.take(position, sector).is_none());
            } else if grows {
                let extent = Extent { sector, sectors: 4, tags: Tags::one(0) };
                let inserted = extents.insert(position, extent).map_err(|there| there.sector);
                if plain.contains(&sector) {
                    assert_eq!(inserted, Err(sector));
                } else {
                    assert_eq!(inserted, Ok(touching(&plain, sector)));
                    plain.push(sector);
                    plain.sort_unstable();
                }
            }
            if step % 8 == 0 {
                let from = plain.iter().copied().find(|&it| it >= position);
                let next = from.or(plain.first().copied());
                plain.retain(|&it| Some(it) != next);
                let taken = extents.take_next(position);
                let taken = taken.map(|(it, neighbours)| (it.sector, neighbours));
                assert_eq!(taken, next.map(|next| (next, touching(&plain, next))));
                position = next.map_or(position, |next| next + 4);
            }
            for at in [sector, sector + 1, sector.saturating_sub(1)] {
                let there = plain.iter().copied().find(|&it| it == at);
                let before = plain.iter().copied().rfind(|&it| it < at);
                assert_eq!(extents.get(position, at).map(|it| it.sector), there);
                assert_eq!(extents.before(position, at).map(|it| it.sector), before);
            }
            assert!(extents.iter(position).map(|it| it.sector).eq(plain.iter().copied()));
            assert_eq!(extents.is_empty(), plain.is_empty());
        }
    }
}
