//! The media cache: a log at the outer edge, and a map of what lies in it.

use std::collections::{BTreeMap, VecDeque};

/// A write in the log, or what is left of it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    start: u64,
    end: u64,
    /// Sectors of the log that are free again once it leaves.
    taken: u64,
}

/// Sectors whose newest data is in the log.
#[derive(Clone, Copy, Debug)]
struct Extent {
    end: u64,
    /// The entry that holds them.
    number: u64,
    /// Where they are in the log.
    at: u64,
}

/// Where a part of a request lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its first sector.
    pub(super) start: u64,
    /// The sector after its last.
    pub(super) end: u64,
    /// Where it is in the log; none where it is in its band.
    pub(super) at: Option<u64>,
}

/// The log and its map. Entries leave it in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct MediaCache {
    sectors: u64,
    entries_max: u64,
    log: VecDeque<Entry>,
    /// First sector to extent; they never overlap.
    map: BTreeMap<u64, Extent>,
    used_sectors: u64,
    /// Where the next entry begins.
    head: u64,
    next_number: u64,
    /// Whether what continues the newest entry may become a part of it.
    is_open: bool,
}

/// A write as the log takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Sectors of the log for its data.
    pub(super) sectors: u64,
    /// And for its header, which a part of an entry has not.
    pub(super) header: u64,
    /// Whether it becomes a part of the newest entry.
    pub(super) extends: bool,
}

impl Taken {
    /// All that it takes.
    pub(super) fn all(&self) -> u64 {
        self.sectors + if self.extends { 0 } else { self.header }
    }
}

impl MediaCache {
    /// An empty one of this size, with at most so many entries.
    pub(super) fn new(sectors: u64, entries_max: u64) -> Self {
        MediaCache {
            sectors,
            entries_max,
            log: VecDeque::new(),
            map: BTreeMap::new(),
            used_sectors: 0,
            head: 0,
            next_number: 0,
            is_open: false,
        }
    }

    /// How many entries are in the log, those counted that hold nothing any more.
    pub(super) fn entries(&self) -> u64 {
        self.log.len() as u64
    }

    /// Ends the newest entry. Returns the number of the next.
    pub(super) fn seal(&mut self) -> u64 {
        self.is_open = false;
        self.next_number
    }

    /// Whether a write of so many sectors from `start` on would lie behind the newest entry, here and there.
    pub(super) fn continues(&self, start: u64, sectors: u64) -> bool {
        let newest = self.log.back().is_some_and(|entry| entry.end == start);
        self.is_open && newest && self.head + sectors <= self.sectors
    }

    /// Whether there is room for these writes.
    pub(super) fn has_room_for(&self, taken: &[Taken]) -> bool {
        let (mut entries, mut sectors, mut largest) = (self.entries(), self.used_sectors, 0);
        for each in taken {
            entries += u64::from(!each.extends);
            sectors += each.all();
            largest = largest.max(each.all());
        }
        // What does not fit before the end of the log goes to its start.
        largest == 0 || (entries <= self.entries_max && sectors + largest <= self.sectors)
    }

    /// Appends a write. Returns where in the log it begins, with its header.
    pub(super) fn append(&mut self, taken: Taken) -> u64 {
        let Taken { start, end, extends, .. } = taken;
        let (begins, at) = self.append_to_log(taken);
        let number = self.next_number - 1;
        // A new entry continues no extent.
        let before = extends.then(|| self.map.range_mut(..start).next_back()).flatten();
        match before {
            Some((&first, extent))
                if (extent.end, extent.number, extent.at + (start - first))
                    == (start, number, at) =>
            {
                extent.end = end;
            }
            _ => {
                self.map.insert(start, Extent { end, number, at });
            }
        }
        begins
    }

    /// Gives a write its place in the log, and forgets what it replaces. Returns where in the log it begins, with its
    /// header, and where its data do.
    fn append_to_log(&mut self, taken: Taken) -> (u64, u64) {
        let Taken { start, end, sectors, .. } = taken;
        self.forget(start, end);
        let begins = match self.log.back_mut() {
            Some(newest) if taken.extends => {
                (newest.end, newest.taken) = (end, newest.taken + sectors);
                self.used_sectors += sectors;
                self.head
            }
            _ => self.append_entry(start, end, taken.all()),
        };
        let at = begins + taken.all() - sectors;
        self.head = at + sectors;
        // Whole units lie behind each other.
        self.is_open = sectors == end - start;
        (begins, at)
    }

    /// Makes an entry that takes `all` sectors. Returns where it begins.
    fn append_entry(&mut self, start: u64, end: u64, all: u64) -> u64 {
        let rest = self.sectors - self.head;
        let (begins, skipped) = if all > rest { (0, rest) } else { (self.head, 0) };
        self.used_sectors += all + skipped;
        let number = self.next_number;
        self.next_number += 1;
        self.log.push_back(Entry { number, start, end, taken: all + skipped });
        begins
    }

    /// Fills an empty log with these writes, in their order; of some the data was replaced since. Two of them are at the same
    /// sectors or have none in common.
    ///
    /// A filled log has more than 100,000 of them, and appending each to the map took as long as a short trial: so the map is made
    /// at once, of what is in order.
    pub(super) fn fill(&mut self, writes: impl Iterator<Item = (Taken, bool)>) {
        let placed = writes.map(|(taken, is_dead)| {
            let begins = self.append_entry(taken.start, taken.end, taken.all());
            self.head = begins + taken.all();
            self.is_open = taken.sectors == taken.end - taken.start;
            let at = begins + taken.header;
            let extent = Extent { end: taken.end, number: self.next_number - 1, at };
            (taken.start, (!is_dead).then_some(extent))
        });
        let mut newest: Vec<(u64, Option<Extent>)> = placed.collect();
        newest.sort_by_key(|(start, _)| *start);
        let mut live: Vec<(u64, Extent)> = Vec::with_capacity(newest.len());
        for of_place in newest.chunk_by(|(one, _), (other, _)| one == other) {
            if let Some(&(start, Some(extent))) = of_place.last() {
                live.push((start, extent));
            }
        }
        self.map = live.into_iter().collect();
    }

    /// The log no longer holds `start..end`.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        self.forget_older(start, end, u64::MAX);
    }

    /// The log no longer holds what of `start..end` came before entry `number`.
    pub(super) fn forget_older(&mut self, start: u64, end: u64, number: u64) {
        // Most writes replace nothing, which one look shows.
        let last = self.map.range(..end).next_back();
        if last.is_none_or(|(_, extent)| extent.end <= start) {
            return;
        }
        let mut touching: Vec<(u64, Extent)> = Vec::new();
        touching.extend(self.overlapping(start, end).filter(|(_, of)| of.number < number));
        for (first, extent) in touching {
            self.map.remove(&first);
            if first < start {
                self.map.insert(first, Extent { end: start, ..extent });
            }
            if end < extent.end {
                self.map.insert(end, Extent { at: extent.at + (end - first), ..extent });
            }
        }
    }

    /// The extents that overlap `start..end`.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, Extent)> + '_ {
        let before = self.map.range(..start).next_back().filter(|(_, extent)| start < extent.end);
        let within = self.map.range(start..end.max(start));
        before.into_iter().chain(within).map(|(&first, &extent)| (first, extent))
    }

    /// Where the parts of `start..end` lie, in order.
    pub(super) fn find(&self, start: u64, end: u64) -> Vec<Found> {
        let mut found = Vec::new();
        let mut next = start;
        for (first, extent) in self.overlapping(start, end) {
            let (from, to) = (first.max(start), extent.end.min(end));
            if next < from {
                found.push(Found { start: next, end: from, at: None });
            }
            found.push(Found { start: from, end: to, at: Some(extent.at + (from - first)) });
            next = to;
        }
        if next < end {
            found.push(Found { start: next, end, at: None });
        }
        found
    }

    /// The first sector of the oldest entry that still holds something; those before it leave the log.
    pub(super) fn oldest(&mut self) -> Option<u64> {
        while let Some(&Entry { number, start, end, taken }) = self.log.front() {
            let held = self.overlapping(start, end).find(|(_, extent)| extent.number == number);
            if let Some((first, _)) = held {
                return Some(first.max(start));
            }
            self.log.pop_front();
            self.used_sectors -= taken;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(found: &[Found]) -> Vec<(u64, u64, Option<u64>)> {
        found.iter().map(|part| (part.start, part.end, part.at)).collect()
    }

    fn append(cache: &mut MediaCache, start: u64, end: u64, sectors: u64) -> u64 {
        let extends = cache.continues(start, sectors);
        cache.append(Taken { start, end, sectors, header: 2, extends })
    }

    fn has_room_for(cache: &MediaCache, sectors: u64) -> bool {
        let taken = Taken { start: 500, end: 501, sectors, header: 0, extends: false };
        cache.has_room_for(&[taken])
    }

    #[test]
    fn the_newest_data_is_found_and_older_data_leaves() {
        let mut cache = MediaCache::new(100, 10);
        assert_eq!(append(&mut cache, 10, 20, 16), 0);
        assert_eq!(append(&mut cache, 14, 16, 8), 18);
        let expected = [
            (8, 10, None),
            (10, 14, Some(2)),
            (14, 16, Some(20)),
            (16, 20, Some(8)),
            (20, 21, None),
        ];
        assert_eq!(at(&cache.find(8, 21)), expected);
        cache.forget_older(0, 18, 1);
        let expected = [(10, 14, None), (14, 16, Some(20)), (16, 18, None), (18, 20, Some(10))];
        assert_eq!(at(&cache.find(10, 20)), expected);
        assert_eq!(cache.oldest(), Some(18));
        cache.forget(18, 20);
        assert_eq!((cache.oldest(), cache.entries()), (Some(14), 1));
    }

    #[test]
    fn what_continues_the_newest_entry_becomes_a_part_of_it() {
        let mut cache = MediaCache::new(100, 2);
        assert_eq!(append(&mut cache, 0, 8, 8), 0);
        assert_eq!(append(&mut cache, 8, 24, 16), 10);
        assert_eq!(at(&cache.find(0, 24)), [(0, 24, Some(2))]);
        assert_eq!((cache.entries(), cache.seal()), (1, 1));
        assert_eq!(append(&mut cache, 24, 25, 8), 26);
        assert!(!cache.continues(25, 8), "it does not end with a unit");
        assert_eq!(at(&cache.find(20, 25)), [(20, 24, Some(22)), (24, 25, Some(28))]);
        assert!(!has_room_for(&cache, 1), "two entries are all that it may have");
        cache.forget(0, 25);
        assert_eq!((cache.oldest(), cache.used_sectors), (None, 0));
    }

    /// Each write of a log that is filled at once replaces what came before it, as if it were appended.
    #[test]
    fn a_log_that_is_filled_at_once_is_the_one_of_its_writes() {
        let taken =
            |start: u64| Taken { start, end: start + 8, sectors: 8, header: 2, extends: false };
        // Places come again, dead after live and live after dead.
        let places = [40, 0, 40, 16, 0, 8, 16, 16, 80];
        let writes = places.map(taken).into_iter().enumerate();
        let writes = writes.map(|(at, taken)| (taken, at % 3 == 1)).collect::<Vec<_>>();
        let mut filled = MediaCache::new(100, 9);
        filled.fill(writes.iter().copied());
        let mut appended = MediaCache::new(100, 9);
        for &(taken, is_dead) in &writes {
            if is_dead {
                appended.append_to_log(taken);
            } else {
                appended.append(taken);
            }
        }
        assert_eq!(at(&filled.find(0, 100)), at(&appended.find(0, 100)));
        assert_eq!(format!("{filled:?}"), format!("{appended:?}"));
    }

    #[test]
    fn the_log_is_a_ring() {
        let mut cache = MediaCache::new(100, 9);
        assert_eq!(append(&mut cache, 0, 8, 38), 0);
        assert_eq!(append(&mut cache, 100, 108, 38), 40);
        assert!(!has_room_for(&cache, 30), "20 are left, and what follows is at the start");
        cache.forget(0, 8);
        assert_eq!(cache.oldest(), Some(100));
        assert!(has_room_for(&cache, 30));
        assert_eq!(append(&mut cache, 200, 208, 28), 0);
        assert!(cache.has_room_for(&[]));
        cache.forget(100, 208);
        assert_eq!((cache.oldest(), cache.used_sectors), (None, 0));
    }
}
