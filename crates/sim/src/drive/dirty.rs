//! The write buffer of a drive: writes that wait for the medium.

mod extents;

use super::cache::Outline;
use super::starts::Starts;
use crate::Tag;
use extents::Extents;

/// Writes that are done for the host but not yet on the medium.
#[derive(Clone, Debug)]
pub(crate) struct Dirty {
    extents: Extents,
    sectors: u64,
    /// An outline of them, and of some that were here.
    outline: Outline,
    /// How often it was added to.
    outlined: usize,
    /// Runs of adjacent extents.
    runs: usize,
    /// The current position of the elevator. It changes only by what is taken: a few extents are kept in its order.
    position: u64,
    /// Where runs start, for a drive that chooses among them; none where it takes them in ascending order.
    starts: Option<Starts>,
    /// Whether the first sectors of an extent ever left without the others.
    parts: bool,
    /// Lists of names that are used no more, for their memory.
    spare: Spare,
}

/// One write in the buffer, and the names of the writes that it replaced.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// The first sector.
    pub(crate) sector: u64,
    /// How many.
    pub(crate) sectors: u32,
    /// The writes that are durable when it is on the medium.
    pub(crate) tags: Tags,
}

/// The names of one or more writes.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    first: Tag,
    /// Rarely any, and boxed: extents are moved among each other.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default)]
struct More(Vec<Tag>);

/// Lists that are used no more. Their boxes are kept for their memory, too.
type Spare = Vec<Box<More>>;

impl Tags {
    fn one(first: Tag) -> Self {
        Tags { first, more: None }
    }

    /// Adds `more`, in a `spare` list if there is one.
    #[cold]
    fn extend(&mut self, more: impl IntoIterator<Item = Tag>, spare: &mut Spare) {
        let list = self.more.get_or_insert_with(|| spare.pop().unwrap_or_default());
        list.0.extend(more);
    }

    /// All of them, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Tag> {
        let more = self.more.iter().flat_map(|more| more.0.iter().copied());
        std::iter::once(self.first).chain(more)
    }
}

impl Extent {
    /// The sector after the last.
    pub(crate) fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// Whether all of `start..end` is in it.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.sector <= start && end <= self.end()
    }
}

impl Dirty {
    /// None, none of which will be longer than `longest` sectors, for a drive that chooses among `choices` runs; 0 for one
    /// that takes them in ascending order.
    pub(crate) fn new(longest: u64, choices: usize) -> Self {
        Dirty {
            extents: Extents::default(),
            sectors: 0,
            outline: Outline::of_nothing(longest),
            outlined: 0,
            runs: 0,
            position: 0,
            starts: (choices > 0).then(|| Starts::new(choices)),
            parts: false,
            spare: Vec::new(),
        }
    }

    /// Sectors held.
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The number of runs of adjacent extents: each takes a segment.
    pub(crate) fn runs(&self) -> usize {
        self.runs
    }

    /// How many runs touch `start..end`: 0, 1 or 2.
    pub(crate) fn neighbours(&self, start: u64, end: u64) -> usize {
        self.extents.neighbours(self.position, (start, end))
    }

    /// Whether nothing waits to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether a part of `start..end` waits to be written.
    pub(crate) fn overlaps(&self, start: u64, end: u64) -> bool {
        !self.is_empty() && self.outline.meets_any(start, end) && self.meets(start, end)
    }

    /// The same by a search.
    fn meets(&self, start: u64, end: u64) -> bool {
        self.before(end).is_some_and(|extent| extent.end() > start)
    }

    /// Whether exactly this extent is here, so that new data can take the old one's place.
    pub(crate) fn holds_exactly(&self, sector: u64, sectors: u32) -> bool {
        !self.is_empty()
            && self.extents.get(self.position, sector).is_some_and(|it| it.sectors == sectors)
    }

    /// Whether `sector` may wait to be written. If not, it does not.
    #[inline]
    pub(crate) fn may_hold(&self, sector: u64) -> bool {
        !self.is_empty() && self.outline.meets(sector)
    }

    /// Whether all of `start..end` is here, possibly in several extents.
    #[inline]
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.may_hold(start) && self.search(start, end)
    }

    fn search(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            match self.before(at + 1) {
                Some(extent) if extent.end() > at => at = extent.end(),
                _ => return false,
            }
        }
        true
    }

    /// The last that starts before `sector`.
    #[inline]
    fn before(&self, sector: u64) -> Option<&Extent> {
        self.extents.before(self.position, sector)
    }

    /// Accepts a write that overlaps nothing here, or is exactly an extent that is here. What was exactly one when the
    /// write began to come may have lost its first sectors to the medium: the rest is replaced.
    pub(crate) fn insert(&mut self, sector: u64, sectors: u32, tag: Tag) {
        let mut extent = Extent { sector, sectors, tags: Tags::one(tag) };
        if self.parts
            && let Some(rest) = self.take_rest(sector, extent.end())
        {
            extent.tags = rest.tags;
            extent.tags.extend([tag], &mut self.spare);
        }
        debug_assert!(
            !self.meets(sector, extent.end()) || self.holds_exactly(sector, sectors),
            "an overlapping write was let in"
        );
        match self.extents.insert(self.position, extent) {
            Ok(neighbours) => {
                self.runs = self.runs + 1 - neighbours;
                self.sectors += u64::from(sectors);
                self.outline_with(sector, sector + u64::from(sectors));
                self.join_runs(sector, sector + u64::from(sectors));
            }
            Err(extent) => {
                assert_eq!(extent.sectors, sectors, "an overlapping write was let in");
                extent.tags.extend([tag], &mut self.spare);
            }
        }
    }

    /// Takes out what is left of the extent at `start..end`, the first sectors of which have left.
    fn take_rest(&mut self, start: u64, end: u64) -> Option<Extent> {
        let rest = self.before(end).filter(|it| start < it.sector && it.end() == end)?.sector;
        let rest = self.extents.take(self.position, rest);
        let rest = self.without(rest)?;
        self.split_runs(rest.sector, end);
        Some(rest)
    }

    /// What was added at `start..end` begins a run, or joins those that it touches.
    #[inline]
    fn join_runs(&mut self, start: u64, end: u64) {
        let goes_on = self.ends_at(start);
        let Some(starts) = &mut self.starts else { return };
        match (goes_on, self.extents.get(self.position, end).is_some()) {
            (true, true) => starts.remove(end),
            (true, false) => {}
            (false, true) => starts.move_to(end, start),
            (false, false) => starts.add(start),
        }
    }

    /// `start..end` was taken out: what goes on there begins its run now.
    #[inline]
    fn split_runs(&mut self, start: u64, end: u64) {
        let goes_on = self.ends_at(start);
        let Some(starts) = &mut self.starts else { return };
        match (goes_on, self.extents.get(self.position, end).is_some()) {
            (true, true) => starts.add(end),
            (true, false) => {}
            (false, true) => starts.move_to(start, end),
            (false, false) => starts.remove(start),
        }
    }

    /// Whether an extent ends at `sector`; asked only where runs are chosen among.
    #[inline]
    fn ends_at(&self, sector: u64) -> bool {
        self.starts.is_some() && self.before(sector).is_some_and(|it| it.end() == sector)
    }

    /// Adds `start..end` to the outline. Of what is here no more, there is never much in it.
    #[inline]
    fn outline_with(&mut self, start: u64, end: u64) {
        self.outline.add(start, end);
        self.outlined += 1;
        if self.outlined > 16 + 2 * self.extents.len() {
            self.outline_again();
        }
    }

    #[cold]
    fn outline_again(&mut self) {
        self.outline.clear();
        self.extents.iter(self.position).for_each(|it| self.outline.add(it.sector, it.end()));
        self.outlined = 0;
    }

    /// Takes out the next extent in ascending order: the elevator goes up, and starts again from the bottom.
    pub(crate) fn take_next(&mut self, physical: u64) -> Option<Extent> {
        let next = self.extents.take_next(self.position);
        let extent = self.take_filled(next, physical)?;
        self.position = extent.end();
        Some(extent)
    }

    /// Takes out the extent that starts at `sector`.
    pub(crate) fn take_at(&mut self, sector: u64, physical: u64) -> Option<Extent> {
        let next = self.extents.take(self.position, sector);
        self.take_filled(next, physical)
    }

    /// If an extent that was taken ends within a group of `physical` sectors that are written together, the sectors that
    /// fill the group come with it. The rest of their extent stays, with its names.
    fn take_filled(&mut self, next: Option<(Extent, usize)>, physical: u64) -> Option<Extent> {
        let mut extent = self.without(next)?;
        while physical > 1 && !extent.end().is_multiple_of(physical) {
            let next = self.extents.take(self.position, extent.end());
            let Some(mut next) = self.without(next) else { break };
            let wanted = extent.end().next_multiple_of(physical) - extent.end();
            let filled = next.sectors.min(wanted as u32);
            extent.sectors += filled;
            if filled == next.sectors {
                extent.tags.extend(next.tags.iter(), &mut self.spare);
                self.forget(next);
            } else {
                next.sector += u64::from(filled);
                next.sectors -= filled;
                self.put_back(next);
            }
        }
        self.split_runs(extent.sector, extent.end());
        Some(extent)
    }

    /// An extent that was taken is on the medium.
    #[inline]
    pub(crate) fn forget(&mut self, extent: Extent) {
        if let Some(mut list) = extent.tags.more {
            list.0.clear();
            self.spare.push(list);
        }
    }

    /// Whether a write in the buffer starts at `sector`.
    pub(crate) fn starts_at(&self, sector: u64) -> bool {
        self.extents.get(self.position, sector).is_some()
    }

    /// Where the runs start that a drive chooses among; nothing where it takes them in ascending order.
    pub(crate) fn starts(&self) -> Option<&Starts> {
        self.starts.as_ref()
    }

    /// Puts back an extent that was taken, without its first sectors.
    fn put_back(&mut self, extent: Extent) {
        self.parts = true;
        let (sector, sectors) = (extent.sector, u64::from(extent.sectors));
        let Ok(neighbours) = self.extents.insert(self.position, extent) else { return };
        self.runs = self.runs + 1 - neighbours;
        self.sectors += sectors;
        self.outline_with(sector, sector + sectors);
    }

    /// What was taken from the extents, and between how many others it was, is here no more.
    fn without(&mut self, taken: Option<(Extent, usize)>) -> Option<Extent> {
        let (extent, neighbours) = taken?;
        self.sectors -= u64::from(extent.sectors);
        self.runs = self.runs + neighbours - 1;
        Some(extent)
    }

    /// Everything that waits to be written, by first sector.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &Extent> {
        self.extents.iter(self.position)
    }

    /// Loses everything, as a power cut does.
    pub(crate) fn clear(&mut self) {
        self.extents = Extents::default();
        (self.sectors, self.runs) = (0, 0);
        if let Some(starts) = &mut self.starts {
            starts.clear();
        }
        self.outline_again();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elevator_goes_up_and_starts_again() {
        let mut dirty = Dirty { position: 20, ..Dirty::new(8, 0) };
        for (tag, sector) in [50, 10, 30].into_iter().enumerate() {
            dirty.insert(sector, 4, tag as Tag);
        }
        assert_eq!(dirty.sectors(), 12);
        let order: Vec<u64> = std::iter::from_fn(|| dirty.take_next(1)).map(|e| e.sector).collect();
        assert_eq!((order, dirty.sectors()), (vec![30, 50, 10], 0));
    }

    #[test]
    fn writes_side_by_side_are_one_run() {
        let mut dirty = Dirty { position: 4, ..Dirty::new(8, 0) };
        for (tag, sector) in [0, 100, 4, 8, 50].into_iter().enumerate() {
            dirty.insert(sector, 4, tag as Tag);
        }
        assert_eq!((dirty.runs(), dirty.neighbours(12, 50), dirty.neighbours(60, 70)), (3, 2, 0));
        let left: Vec<usize> =
            std::iter::from_fn(|| dirty.take_next(1).map(|_| dirty.runs())).collect();
        assert_eq!(left, [4, 3, 2, 1, 0]);
    }

    #[test]
    fn a_sector_on_the_medium_is_filled_from_what_goes_on_there() {
        let mut dirty = Dirty::new(8, 0);
        for (tag, (sector, sectors)) in [(4, 8), (12, 2), (14, 8), (30, 2)].into_iter().enumerate()
        {
            dirty.insert(sector, sectors, tag as Tag);
        }
        let taken: Vec<_> = std::iter::from_fn(|| {
            let Extent { sector, sectors, tags } = dirty.take_next(8)?;
            Some((sector, sectors, tags.iter().collect(), dirty.runs(), dirty.sectors()))
        })
        .collect();
        // The third is named when its last sectors are written, not when its first are.
        let expected = [(4, 12, vec![0, 1], 2, 8), (16, 6, vec![2], 1, 2), (30, 2, vec![3], 0, 0)];
        assert_eq!(taken, expected);
    }

    /// The write of 12..20 replaces an older one while the first four sectors of that go to the medium.
    #[test]
    fn what_is_left_of_a_write_is_replaced_with_it() {
        for choices in [0, 3] {
            let mut dirty = Dirty::new(8, choices);
            dirty.insert(4, 8, 0);
            dirty.insert(12, 8, 1);
            let first = dirty.take_at(4, 8).unwrap();
            assert_eq!((first.end(), dirty.sectors()), (16, 4));
            dirty.insert(12, 8, 2);
            assert_eq!((dirty.sectors(), dirty.runs()), (8, 1));
            assert!(dirty.starts().is_none_or(|starts| starts.all() == [12]));
            let second = dirty.take_at(12, 8).unwrap();
            // The older is on the medium when the newer is.
            assert!(second.sectors == 8 && second.tags.iter().eq([1, 2]));
            assert!(dirty.is_empty() && dirty.sectors() == 0);
        }
    }

    /// Whatever is added and taken, in few extents and in many: where runs start is known of each.
    #[test]
    fn every_run_is_chosen_among_sooner_or_later() {
        for (places, most_held) in [(60, 30), (4000, 400)] {
            let mut dirty = Dirty::new(8, 3);
            let mut state = 7_u64;
            let mut below = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % below
            };
            let mut taken = 0;
            for tag in 0..20_000 {
                let (sector, sectors) = (4 * below(places) as u64, 4 + 4 * below(2) as u32);
                if !dirty.overlaps(sector, sector + u64::from(sectors)) {
                    dirty.insert(sector, sectors, tag);
                }
                let held: Vec<(u64, u64)> =
                    dirty.extents().map(|it| (it.sector, it.end())).collect();
                let is_first = |at: &usize| *at == 0 || held[at - 1].1 < held[*at].0;
                let firsts: Vec<u64> =
                    (0..held.len()).filter(is_first).map(|at| held[at].0).collect();
                assert_eq!(dirty.starts().unwrap().all(), firsts);
                assert_eq!(dirty.runs(), firsts.len());
                if held.len() > below(most_held) {
                    // Now and then what goes on where the head is, which may be no start.
                    let among: Vec<u64> = dirty.starts().unwrap().above(0).collect();
                    assert!((1..=3).contains(&among.len()), "{among:?}");
                    let any = held[below(held.len())].0;
                    let next = if below(4) == 0 { any } else { among[below(among.len())] };
                    dirty.take_at(next, [1, 16][below(2)]).expect("it is there");
                    taken += 1;
                }
            }
            assert!(taken > 3000, "{taken}");
        }
    }

    #[test]
    fn what_is_written_again_is_written_once() {
        let mut dirty = Dirty::new(8, 0);
        dirty.insert(8, 8, 1);
        assert!(dirty.holds_exactly(8, 8) && !dirty.holds_exactly(8, 4));
        dirty.insert(8, 8, 2);
        dirty.insert(16, 8, 3);
        assert!(
            dirty.overlaps(0, 9)
                && dirty.overlaps(23, 99)
                && !dirty.overlaps(0, 8)
                && !dirty.overlaps(24, 99)
        );
        assert!(
            dirty.covers(8, 24)
                && dirty.covers(10, 20)
                && !dirty.covers(7, 9)
                && !dirty.covers(20, 25)
        );
        assert!(dirty.take_next(1).unwrap().tags.iter().eq([1, 2]));
        assert_eq!(dirty.sectors(), 8);
    }
}
