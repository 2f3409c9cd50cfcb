//! The read segments of a drive: what its buffer holds of what was read, or written before.

use super::firmware::OnWrite;

/// Read segments, each one run of sectors; the least recently used one is replaced first.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    held: Vec<Segment>,
    capacity: u64,
    clock: u64,
    /// Those that the host wrote: none of them overlap.
    written: Vec<usize>,
    /// An outline of what is held, and of some of what was held.
    outline: Outline,
    /// How often it was added to.
    outlined: usize,
}

/// So many numbers segments have.
const INDICES: usize = 1 << 20;

/// The sectors `start..end`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// The first sector held.
    pub(crate) start: u64,
    /// The sector after the last.
    pub(crate) end: u64,
    /// Whether the host wrote it; else it was read from the medium.
    pub(crate) written: bool,
    /// When it was used last, and its number in the last bits: the least recently used has the least, and of equals the
    /// first. One number, because the least of numbers is found without a branch.
    rank: u64,
}

impl Segment {
    /// Segment `index`, empty and never used.
    fn unused(index: usize) -> Self {
        Segment { rank: index as u64, ..Segment::default() }
    }

    /// Its number.
    #[inline]
    fn index(&self) -> usize {
        self.rank as usize & (INDICES - 1)
    }

    /// Whether its place and `start..end` have a sector in common, or it is empty and within: in one comparison, because
    /// of two each alone is as often true as not, and a processor cannot guess it.
    #[inline]
    fn meets(&self, start: u64, end: u64) -> bool {
        let both = (end - start) + (self.end - self.start);
        end.wrapping_sub(self.start).wrapping_sub(1) < both.max(1) - 1
    }

    fn holds(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end && self.start < self.end
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
    pub(super) fn of_nothing(capacity: u64) -> Self {
        Outline { kinds: [0; 4], shift: capacity.next_power_of_two().trailing_zeros() }
    }

    /// The word and the bit of a sector's kind.
    #[inline]
    fn kind(&self, sector: u64) -> (usize, u64) {
        let stretch = sector >> self.shift;
        ((stretch >> 6 & 3) as usize, 1 << (stretch & 63))
    }

    /// Adds `start..end`; of nothing, what is before and behind its place.
    #[inline]
    pub(super) fn add(&mut self, start: u64, end: u64) {
        let last = end.max(1) - 1;
        self.add_stretch(last);
        if (start ^ last) >> self.shift > 0 {
            self.add_stretch(start);
        }
    }

    /// It is that of nothing again.
    pub(super) fn clear(&mut self) {
        self.kinds.fill(0);
    }

    #[inline]
    fn add_stretch(&mut self, sector: u64) {
        let (word, bit) = self.kind(sector);
        self.kinds[word] |= bit;
    }

    /// Whether a sector of `start..end` may be held. If not, none is.
    #[inline]
    pub(super) fn meets_any(&self, start: u64, end: u64) -> bool {
        // What is longer than a stretch may have all of one in it.
        end - start > 1 << self.shift || self.meets(start) || self.meets(end.max(1) - 1)
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
        assert!(count < INDICES, "{count} segments are more than a drive has");
        Segments {
            held: (0..count).map(Segment::unused).collect(),
            capacity,
            clock: 0,
            written: Vec::new(),
            outline: Outline::of_nothing(capacity),
            outlined: 0,
        }
    }

    /// The segment that holds all of `start..end`; of several, the most recently used.
    #[inline]
    pub(crate) fn find(&self, start: u64, end: u64) -> Option<usize> {
        if self.may_hold(start) { self.find_one(start, end) } else { None }
    }

    /// Whether a segment may hold `sector`. If not, none does.
    #[inline]
    pub(crate) fn may_hold(&self, sector: u64) -> bool {
        self.outline.meets(sector)
    }

    fn find_one(&self, start: u64, end: u64) -> Option<usize> {
        let holding = self.held.iter().filter(|segment| segment.holds(start, end));
        holding.max_by_key(|segment| segment.rank).map(Segment::index)
    }

    /// An outline of what is held, to look at before many calls of [`Segments::hold`].
    pub(crate) fn outline(&self) -> Outline {
        let mut outline = Outline::of_nothing(self.capacity);
        self.held.iter().for_each(|segment| outline.add(segment.start, segment.end));
        outline
    }

    /// Segment `index` has grown.
    #[inline]
    fn grown(&mut self, index: usize) {
        let Segment { start, end, .. } = self.held[index];
        self.outline.add(start, end);
        self.outlined += 1;
        // Of what is held no more, there is never much in the outline.
        if self.outlined > 16 + 2 * self.held.len() {
            self.outline_again();
        }
    }

    #[cold]
    fn outline_again(&mut self) {
        self.outline = self.outline();
        self.outlined = 0;
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
        self.held.iter().position(|s| s.end == end && !s.written && s.rank >= INDICES as u64)
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
        self.held[index].rank = self.newest(index);
    }

    /// The rank of segment `index` if it is used now.
    #[inline]
    fn newest(&mut self, index: usize) -> u64 {
        self.clock += INDICES as u64;
        self.clock | index as u64
    }

    /// Gives the least recently used segment to `start..end`, which was read, or as much of its end as fits; `None` without
    /// a cache.
    pub(crate) fn replace(&mut self, start: u64, end: u64) -> Option<usize> {
        let oldest = self.take_oldest()?;
        let rank = self.newest(oldest);
        let start = start.max(end.saturating_sub(self.capacity));
        self.held[oldest] = Segment { start, end, written: false, rank };
        self.grown(oldest);
        Some(oldest)
    }

    /// The least recently used, which is to hold something else.
    #[inline]
    fn take_oldest(&mut self) -> Option<usize> {
        let oldest = self.held.iter().map(|segment| segment.rank).reduce(u64::min)?;
        let oldest = oldest as usize & (INDICES - 1);
        if self.held[oldest].written {
            self.written.retain(|&index| index != oldest);
        }
        Some(oldest)
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
        self.grown(index);
    }

    /// `start..end` has been written: no segment may still hold the old data.
    pub(crate) fn written(&mut self, start: u64, end: u64, what: OnWrite) {
        if what == OnWrite::TakeNewest {
            let reads = (0..self.held.len()).filter(|&index| !self.held[index].written);
            if let Some(newest) = reads.max_by_key(|&index| self.held[index].rank) {
                self.held[newest] = Segment::unused(newest);
            }
        }
        if !self.outline.meets_any(start, end) {
            return;
        }
        for segment in &mut self.held {
            if segment.meets(start, end) {
                if what == OnWrite::DropSegment || segment.written || segment.end <= end {
                    let index = segment.index();
                    if segment.written {
                        self.written.retain(|&written| written != index);
                    }
                    *segment = Segment::unused(index);
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
        let joins = self.written.iter().copied().filter(|&index| self.held[index].end == start);
        let index = joins.min().unwrap_or_else(|| self.take_for_written(start, count));
        self.extend(index, end);
        self.touch(index);
    }

    /// A segment for what is written from `start` on: the least recently used of those that were, where these are `count`.
    fn take_for_written(&mut self, start: u64, count: usize) -> usize {
        let index = if self.written.len() < count {
            let oldest = self.take_oldest().expect("there is one at least");
            self.written.push(oldest);
            oldest
        } else {
            let used_first =
                self.written.iter().copied().min_by_key(|&index| self.held[index].rank);
            used_first.expect("there are as many")
        };
        let empty = Segment { start, end: start, written: true, ..Segment::unused(index) };
        self.held[index] = empty;
        index
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.written.clear();
        self.held.iter_mut().for_each(|segment| *segment = Segment::unused(segment.index()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outline that says nothing changes nothing.
    #[test]
    fn what_is_skipped_by_the_outline_is_not_there() {
        for what in [OnWrite::DropSegment, OnWrite::KeepBehind, OnWrite::TakeNewest] {
            let mut segments = Segments::new(5, 32);
            let mut state = 7_u64;
            for step in 0..20_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let start = (state >> 33) % 3000 * 4;
                let end = start + 1 + (state >> 50) % 40;
                let mut plain = segments.clone();
                plain.outline.kinds = [u64::MAX; 4];
                let act = |segments: &mut Segments| match step % 4 {
                    0 | 1 => {
                        let found = segments.find(start, end);
                        let segment = found.or_else(|| segments.replace(start, end)).unwrap();
                        segments.extend(segment, end);
                        if state >> 40 & 1 == 0 {
                            segments.keep_from(segment, end);
                        }
                        found
                    }
                    2 => {
                        segments.written(start, end, what);
                        None
                    }
                    _ => {
                        segments.keep_written(start, end, 2);
                        None
                    }
                };
                let held = |segments: &Segments| {
                    let of = |it: &Segment| (it.start, it.end, it.written, it.rank);
                    segments.held.iter().map(of).collect::<Vec<_>>()
                };
                assert_eq!(act(&mut segments), act(&mut plain));
                assert_eq!(held(&segments), held(&plain), "{step}: {start}..{end}");
                let is_written = |index: &usize| segments.held[*index].written;
                let written: Vec<usize> = (0..segments.count()).filter(is_written).collect();
                segments.written.sort_unstable();
                assert_eq!(segments.written, written, "{step}: those that were written are known");
            }
        }
    }

    #[test]
    fn segments_meet_what_has_a_sector_of_theirs() {
        for (start, end) in (0..6).flat_map(|start| (start..6).map(move |end| (start, end))) {
            let segment = Segment { start, end, ..Segment::default() };
            for (from, to) in (0..6).flat_map(|from| (from..6).map(move |to| (from, to))) {
                assert_eq!(
                    segment.meets(from, to),
                    from < end && start < to,
                    "{segment:?} {from} {to}"
                );
            }
        }
    }

    /// All that is held is in the outline, and most of what is not held is not.
    #[test]
    fn an_outline_covers_what_is_held() {
        for capacity in [1, 8, 10, 512] {
            let mut segments = Segments::new(3, capacity);
            let starts = [capacity - 1, 1_000_003, 77 * capacity + capacity / 2];
            for start in starts.into_iter().cycle().take(100) {
                let third = start + capacity / 3;
                let segment = segments.replace(third, start + capacity / 2).unwrap();
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
        let first = segments.replace(100, 108).unwrap();
        segments.extend(first, 114);
        assert_eq!((segments.get(first).start, segments.get(first).end), (104, 114));
        let second = segments.replace(200, 204).unwrap();
        let found = [(104, 114), (113, 114), (113, 115), (103, 105)];
        let found = found.map(|(start, end)| segments.find(start, end));
        assert_eq!(found, [Some(first), Some(first), None, None]);
        segments.touch(first);
        assert_eq!(segments.replace(300, 320), Some(second));
        assert_eq!((segments.get(second).start, segments.get(second).end), (310, 320));
        segments.written(113, 120, OnWrite::DropSegment);
        assert_eq!(segments.find(104, 105), None);
        assert_eq!(Segments::new(0, 10).replace(5, 8), None);
    }

    #[test]
    fn what_a_write_leaves_of_read_segments_is_policy() {
        let held = |what| {
            let mut segments = Segments::new(3, 100);
            for start in [100, 200, 300] {
                segments.replace(start, start + 50);
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
        let read = segments.replace(500, 550).unwrap();
        segments.keep_written(0, 8, 1);
        segments.keep_written(8, 16, 1);
        assert!(segments.find(0, 16).is_some());
        segments.keep_written(40, 48, 1);
        assert_eq!((segments.find(0, 8), segments.find(500, 550)), (None, Some(read)));
        segments.keep_written(60, 68, 0);
        assert_eq!(segments.find(60, 68), None);
    }
}
