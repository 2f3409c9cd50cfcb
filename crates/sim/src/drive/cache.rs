//! The buffer of a drive: segments that hold what was read, and writes that wait for the medium.

use super::firmware::OnWrite;
use crate::Tag;
use std::collections::BTreeMap;

/// Read segments, each one run of sectors; the least recently used one is replaced first.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    held: Vec<Segment>,
    capacity: u64,
    clock: u64,
    /// An outline of what is held, and of some of what was held.
    outline: Outline,
    /// How often it was added to.
    outlined: usize,
}

/// The sectors `start..end`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// The first sector held.
    pub(crate) start: u64,
    /// The sector after the last.
    pub(crate) end: u64,
    /// Whether the host wrote it; else it was read from the medium.
    pub(crate) written: bool,
    used: u64,
}

impl Segment {
    /// Whether it holds all of `start..end`. All conditions are looked at: where sectors are read at random, each
    /// alone is as often true as not, and a processor cannot guess it.
    #[inline]
    fn holds(&self, start: u64, end: u64) -> bool {
        (self.start <= start) & (end <= self.end) & (self.start < self.end)
    }
}

/// Roughly what segments hold: the disk is cut into stretches, and each is one of 256 kinds in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// The kinds of the stretches that hold something, a bit each.
    kinds: [u64; 4],
    /// The sectors of a stretch, as a power of 2.
    shift: u32,
}

impl Outline {
    /// That of nothing, for segments of `capacity` sectors. None is longer than a stretch, so that none is in more
    /// than two.
    fn of_nothing(capacity: u64) -> Self {
        Outline { kinds: [0; 4], shift: capacity.next_power_of_two().trailing_zeros() }
    }

    /// The word and the bit of a sector's kind.
    #[inline]
    fn kind(&self, sector: u64) -> (usize, u64) {
        let stretch = sector >> self.shift;
        ((stretch >> 6 & 3) as usize, 1 << (stretch & 63))
    }

    /// Adds what `segment` holds.
    #[inline]
    fn add(&mut self, segment: &Segment) {
        if segment.start < segment.end {
            for sector in [segment.start, segment.end - 1] {
                let (word, bit) = self.kind(sector);
                self.kinds[word] |= bit;
            }
        }
    }

    /// Whether `sector` may be held. If not, it is not.
    #[inline]
    pub(crate) fn meets(&self, sector: u64) -> bool {
        let (word, bit) = self.kind(sector);
        self.kinds[word] & bit != 0
    }
}

impl Segments {
    /// `count` empty segments of `capacity` sectors each.
    pub(crate) fn new(count: usize, capacity: u64) -> Self {
        Segments {
            held: vec![Segment::default(); count],
            capacity,
            clock: 0,
            outline: Outline::of_nothing(capacity),
            outlined: 0,
        }
    }

    /// The segment that holds all of `start..end`; of several, the most recently used.
    #[inline]
    pub(crate) fn find(&self, start: u64, end: u64) -> Option<usize> {
        if self.outline.meets(start) { self.find_one(start, end) } else { None }
    }

    fn find_one(&self, start: u64, end: u64) -> Option<usize> {
        let mut newest: Option<(usize, u64)> = None;
        for (index, segment) in self.held.iter().enumerate() {
            if segment.holds(start, end) && newest.is_none_or(|(_, used)| segment.used >= used) {
                newest = Some((index, segment.used));
            }
        }
        newest.map(|(index, _)| index)
    }

    /// An outline of what is held, to look at before many calls of [`Segments::hold`].
    pub(crate) fn outline(&self) -> Outline {
        let mut outline = Outline::of_nothing(self.capacity);
        self.held.iter().for_each(|segment| outline.add(segment));
        outline
    }

    /// Segment `index` has grown.
    #[inline]
    fn grown(&mut self, index: usize) {
        self.outline.add(&self.held[index]);
        self.outlined += 1;
        // Of what is held no more, there is never much in the outline.
        if self.outlined > 16 + 2 * self.held.len() {
            self.outline = self.outline();
            self.outlined = 0;
        }
    }

    /// Whether a segment holds all of `start..end`.
    pub(crate) fn hold(&self, start: u64, end: u64) -> bool {
        self.held.iter().any(|segment| segment.holds(start, end))
    }

    /// How many segments there are, with data or without.
    pub(crate) fn count(&self) -> usize {
        self.held.len()
    }

    /// The stretches that are held, each from its first sector to the one after its last.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        let held = self.held.iter().filter(|segment| segment.start < segment.end);
        held.map(|segment| (segment.start, segment.end))
    }

    /// The segment whose data ends at `end`.
    pub(crate) fn read_up_to(&self, end: u64) -> Option<usize> {
        self.held.iter().position(|s| s.end == end && !s.written && s.used > 0)
    }

    /// Segment `index`.
    pub(crate) fn get(&self, index: usize) -> Segment {
        self.held[index]
    }

    /// Sectors that a segment holds.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Marks `index` as just used.
    pub(crate) fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.held[index].used = self.clock;
    }

    /// Gives the least recently used segment to a new run that starts at `start`; `None` without a
    /// cache.
    pub(crate) fn replace(&mut self, start: u64) -> Option<usize> {
        let (mut oldest, mut used) = (0, self.held.first()?.used);
        for (index, segment) in self.held.iter().enumerate() {
            if segment.used < used {
                (oldest, used) = (index, segment.used);
            }
        }
        self.restart(oldest, start);
        Some(oldest)
    }

    /// Clears `index` for a new run that starts at `start`.
    pub(crate) fn restart(&mut self, index: usize, start: u64) {
        self.held[index] = Segment { start, end: start, ..Segment::default() };
        self.touch(index);
    }

    /// Extends `index` to `end`; what no longer fits is dropped at the front.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.held[index];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.capacity));
        self.grown(index);
    }

    /// Extends `index` back to `start`, as far as that fits.
    pub(crate) fn extend_back(&mut self, index: usize, start: u64) {
        let segment = &mut self.held[index];
        let room = segment.end.saturating_sub(self.capacity);
        segment.start = segment.start.min(start.max(room));
        self.grown(index);
    }

    /// Drops what `index` holds before `start`.
    pub(crate) fn keep_from(&mut self, index: usize, start: u64) {
        let segment = &mut self.held[index];
        segment.start = segment.start.max(start);
        segment.end = segment.end.max(segment.start);
    }

    /// `start..end` has been written: no segment may still hold the old data.
    pub(crate) fn written(&mut self, start: u64, end: u64, what: OnWrite) {
        if what == OnWrite::TakeNewest {
            let reads = (0..self.held.len()).filter(|&index| !self.held[index].written);
            if let Some(newest) = reads.max_by_key(|&index| self.held[index].used) {
                self.held[newest] = Segment::default();
            }
        }
        for segment in &mut self.held {
            if start < segment.end && segment.start < end {
                if what == OnWrite::DropSegment || segment.written || segment.end <= end {
                    *segment = Segment::default();
                } else {
                    segment.start = end;
                }
            }
        }
    }

    /// Keeps `start..end`, which was written, for reads, in at most `count` segments. A write that
    /// continues an earlier one joins its segment.
    pub(crate) fn keep_written(&mut self, start: u64, end: u64, count: usize) {
        if count == 0 || self.held.is_empty() {
            return;
        }
        let joins = self.held.iter().position(|s| s.written && s.end == start);
        let index = joins.unwrap_or_else(|| {
            let written = self.held.iter().filter(|s| s.written).count();
            let candidates =
                (0..self.held.len()).filter(|&index| written < count || self.held[index].written);
            let index = candidates.min_by_key(|&index| self.held[index].used).unwrap_or(0);
            self.held[index] = Segment { start, end: start, written: true, used: 0 };
            index
        });
        self.extend(index, end);
        self.touch(index);
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.held.fill(Segment::default());
    }
}

/// Writes that are done for the host but not yet on the medium.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    /// By first sector. Extents never overlap.
    extents: BTreeMap<u64, Extent>,
    sectors: u64,
    /// Runs of adjacent extents.
    runs: usize,
    /// The current position of the elevator.
    position: u64,
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
    /// Rarely any.
    more: Vec<Tag>,
}

impl Tags {
    fn one(first: Tag) -> Self {
        Tags { first, more: Vec::new() }
    }

    /// All of them, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Tag> {
        std::iter::once(self.first).chain(self.more.iter().copied())
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
        if self.is_empty() {
            return 0;
        }
        let before = self.extents.range(..start).next_back();
        let joins = before.is_some_and(|(_, extent)| extent.end() == start);
        usize::from(joins) + usize::from(self.extents.contains_key(&end))
    }

    /// Whether nothing waits to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether a part of `start..end` waits to be written.
    pub(crate) fn overlaps(&self, start: u64, end: u64) -> bool {
        !self.is_empty()
            && self.extents.range(..end).next_back().is_some_and(|(_, extent)| extent.end() > start)
    }

    /// Whether exactly this extent is here, so that new data can take the old one's place.
    pub(crate) fn holds_exactly(&self, sector: u64, sectors: u32) -> bool {
        !self.is_empty()
            && self.extents.get(&sector).is_some_and(|extent| extent.sectors == sectors)
    }

    /// Whether all of `start..end` is here, possibly in several extents.
    #[inline]
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        !self.is_empty() && self.search(start, end)
    }

    fn search(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        let from = self.extents.range(..=start).next_back().map_or(start, |(&first, _)| first);
        for extent in self.extents.range(from..end).map(|(_, extent)| extent) {
            if extent.sector > at {
                return false;
            }
            at = at.max(extent.end());
        }
        at >= end
    }

    /// Accepts a write that overlaps nothing here, or is exactly an extent that is here.
    pub(crate) fn insert(&mut self, sector: u64, sectors: u32, tag: Tag) {
        if !self.is_empty()
            && let Some(extent) = self.extents.get_mut(&sector)
        {
            assert_eq!(extent.sectors, sectors, "an overlapping write was let in");
            extent.tags.more.push(tag);
            return;
        }
        self.put(Extent { sector, sectors, tags: Tags::one(tag) });
    }

    /// Takes out the next extent to write: the elevator goes up, and starts again from the bottom. If
    /// the extent ends within a group of `physical` sectors that are written together, the sectors that
    /// fill the group come with it. The rest of their extent stays, with its names.
    pub(crate) fn take_next(&mut self, physical: u64) -> Option<Extent> {
        let above = self.extents.range(self.position..).next();
        let (&sector, _) = above.or_else(|| self.extents.first_key_value())?;
        let mut extent = self.remove(sector)?;
        while physical > 1
            && !extent.end().is_multiple_of(physical)
            && let Some(mut next) = self.remove(extent.end())
        {
            let wanted = extent.end().next_multiple_of(physical) - extent.end();
            let filled = next.sectors.min(wanted as u32);
            extent.sectors += filled;
            if filled == next.sectors {
                extent.tags.more.extend(next.tags.iter());
            } else {
                next.sector += u64::from(filled);
                next.sectors -= filled;
                self.put(next);
            }
        }
        self.position = extent.end();
        Some(extent)
    }

    fn put(&mut self, extent: Extent) {
        self.runs = self.runs + 1 - self.neighbours(extent.sector, extent.end());
        self.sectors += u64::from(extent.sectors);
        self.extents.insert(extent.sector, extent);
    }

    fn remove(&mut self, sector: u64) -> Option<Extent> {
        let extent = self.extents.remove(&sector)?;
        self.sectors -= u64::from(extent.sectors);
        self.runs = self.runs + self.neighbours(sector, extent.end()) - 1;
        Some(extent)
    }

    /// Everything that waits to be written, by first sector.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &Extent> {
        self.extents.values()
    }

    /// Loses everything, as a power cut does.
    pub(crate) fn clear(&mut self) {
        self.extents.clear();
        (self.sectors, self.runs) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is held is in the outline, and most of what is not held is not.
    #[test]
    fn an_outline_covers_what_is_held() {
        for capacity in [1, 8, 10, 512] {
            let mut segments = Segments::new(3, capacity);
            let starts = [capacity - 1, 1_000_003, 77 * capacity + capacity / 2];
            for start in starts.into_iter().cycle().take(100) {
                let segment = segments.replace(start + capacity / 3).unwrap();
                segments.extend(segment, start + capacity / 2);
                segments.extend_back(segment, start);
                segments.extend(segment, start + capacity);
                for segment in &segments.held {
                    let mut held = segment.start..segment.end;
                    assert!(held.all(|sector| segments.outline.meets(sector)));
                }
            }
            let outline = segments.outline();
            for segment in &segments.held {
                assert!((segment.start..segment.end).all(|sector| outline.meets(sector)));
            }
            let met = (0..100_000).filter(|&sector| outline.meets(sector)).count();
            assert!(met < 20_000, "{met} of 100,000 with segments of {capacity}");
        }
    }

    #[test]
    fn segments_hold_the_newest_sectors_and_replace_the_oldest_run() {
        let mut segments = Segments::new(2, 10);
        let first = segments.replace(100).unwrap();
        segments.extend(first, 108);
        segments.extend(first, 114);
        assert_eq!((segments.get(first).start, segments.get(first).end), (104, 114));
        let second = segments.replace(200).unwrap();
        segments.extend(second, 204);
        let found = [(104, 114), (113, 114), (113, 115), (103, 105)];
        let found = found.map(|(start, end)| segments.find(start, end));
        assert_eq!(found, [Some(first), Some(first), None, None]);
        segments.touch(first);
        assert_eq!(segments.replace(300), Some(second));
        segments.written(113, 120, OnWrite::DropSegment);
        assert_eq!(segments.find(104, 105), None);
        assert_eq!(Segments::new(0, 10).replace(5), None);
    }

    #[test]
    fn what_a_write_leaves_of_read_segments_is_policy() {
        let held = |what| {
            let mut segments = Segments::new(3, 100);
            for start in [100, 200, 300] {
                let index = segments.replace(start).unwrap();
                segments.extend(index, start + 50);
            }
            segments.written(210, 220, what);
            let whole = [(100, 150), (200, 205), (220, 250), (300, 350)];
            whole.map(|(start, end)| segments.find(start, end).is_some())
        };
        assert_eq!(held(OnWrite::DropSegment), [true, false, false, true]);
        assert_eq!(held(OnWrite::KeepBehind), [true, false, true, true]);
        assert_eq!(held(OnWrite::TakeNewest), [true, false, true, false]);
    }

    #[test]
    fn written_data_joins_and_takes_no_more_segments_than_it_may() {
        let mut segments = Segments::new(3, 100);
        let read = segments.replace(500).unwrap();
        segments.extend(read, 550);
        segments.keep_written(0, 8, 1);
        segments.keep_written(8, 16, 1);
        assert!(segments.find(0, 16).is_some());
        segments.keep_written(40, 48, 1);
        assert_eq!((segments.find(0, 8), segments.find(500, 550)), (None, Some(read)));
        segments.keep_written(60, 68, 0);
        assert_eq!(segments.find(60, 68), None);
    }

    #[test]
    fn the_elevator_goes_up_and_starts_again() {
        let mut dirty = Dirty::default();
        for (tag, sector) in [50, 10, 30].into_iter().enumerate() {
            dirty.insert(sector, 4, tag as Tag);
        }
        dirty.position = 20;
        assert_eq!(dirty.sectors(), 12);
        let order: Vec<u64> = std::iter::from_fn(|| dirty.take_next(1)).map(|e| e.sector).collect();
        assert_eq!((order, dirty.sectors()), (vec![30, 50, 10], 0));
    }

    #[test]
    fn writes_side_by_side_are_one_run() {
        let mut dirty = Dirty::default();
        for (tag, sector) in [0, 100, 4, 8, 50].into_iter().enumerate() {
            dirty.insert(sector, 4, tag as Tag);
        }
        assert_eq!((dirty.runs(), dirty.neighbours(12, 50), dirty.neighbours(60, 70)), (3, 2, 0));
        dirty.position = 4;
        let left: Vec<usize> =
            std::iter::from_fn(|| dirty.take_next(1).map(|_| dirty.runs())).collect();
        assert_eq!(left, [4, 3, 2, 1, 0]);
    }

    #[test]
    fn a_sector_on_the_medium_is_filled_from_what_goes_on_there() {
        let mut dirty = Dirty::default();
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

    #[test]
    fn what_is_written_again_is_written_once() {
        let mut dirty = Dirty::default();
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
