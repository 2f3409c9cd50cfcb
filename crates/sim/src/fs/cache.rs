//! The bookkeeping of the buffer cache: which blocks are in memory, in which state, and which to drop
//! next.
//!
//! A buffer is a run of sectors, named by its first sector. It is clean (as on the disk), dirty (newer
//! than the disk) or busy (a request for it is in flight). Each pool has its own memory and drops the
//! least recently used buffer. 4.4BSD has one pool for everything. NetBSD from 1.6 on keeps file data
//! in pages and only metadata in buffers.
//!
//! FreeBSD 2.2 keeps pages in two queues ([`Replacement::TwoQueues`]). Written pages stay on the active
//! queue. Pages that were only read go to the end of the cache queue, and new pages are taken from its
//! front: a file that is read sequentially replaces itself, and not what was written before.
//!
//! ```text
//! memory for 6 pages, 2 of them for pages only read; written: 1 2 3 4 5 6 7 8     kept: 3 4 5 6 7 8
//! then read:          1     2     3     4     5 …  hit  8  hit
//! least recently used 45678 | 5678 1 2 | 678 1 2 3 …   never a hit: each is dropped just before it is read
//! two queues          5 6 7 8 stay, 1 2 → 2 3 → 3 4;   then 5 6 7 8 are hits
//! ```

mod index;
mod neighbours;

use crate::{Nanos, Tag};
use index::Index;
use std::ops::Range;

pub(super) type BufferId = u32;

/// Contiguous sectors: a block, or the fragments at a file's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first sector.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
}

impl Extent {
    /// The sector after the last.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }
}

/// The pool of memory that a block is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Buffers: inodes, directories, indirect blocks, bitmaps.
    Metadata,
    /// Pages: file data.
    Data,
}

/// Which block a pool drops when another needs its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The least recently used.
    LeastRecentlyUsed,
    /// The least recently used of those that were only read, while these have more than this many
    /// bytes; otherwise the least recently written.
    TwoQueues {
        /// The memory that blocks share that were only read.
        read_bytes: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Clean,
    /// To be written at this time at the latest.
    Dirty(Nanos),
    /// Changed, and not to be written until the file system releases it.
    Held,
    Busy(Tag),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) extent: Extent,
    pub(super) pool: Pool,
    pub(super) state: State,
    /// The file that it belongs to: only blocks of one file are written together.
    pub(super) owner: u32,
    /// Dropped when its request comes back.
    pub(super) doomed: bool,
    /// The first to be dropped once its request is back.
    pub(super) aged: bool,
    /// It was read and not written, where that decides what is dropped first.
    only_read: bool,
    used: u64,
    before: BufferId,
    after: BufferId,
}

const NONE: BufferId = BufferId::MAX;
/// The largest block of a file system.
const LARGEST_SECTORS: u64 = 128;

/// Buffers from the least to the most recently used.
#[derive(Clone, Copy, Debug)]
struct List {
    oldest: BufferId,
    newest: BufferId,
}

const EMPTY: List = List { oldest: NONE, newest: NONE };

/// What is in memory.
#[derive(Debug)]
pub(super) struct Cache {
    buffers: Vec<Buffer>,
    free: Vec<BufferId>,
    by_sector: Index,
    /// For each pool, its clean and its dirty buffers, and those that were only read.
    lists: [[List; 3]; 2],
    /// The sectors that pages share that were only read; `None` where they are like any other.
    turns_sectors: Option<u64>,
    /// Sectors of the data pool's third list.
    only_read_sectors: u64,
    /// Whether the memory for data is what buffers leave free.
    buffers_take_pages: bool,
    capacity_sectors: [u64; 2],
    held_sectors: [u64; 2],
    dirty_sectors: [u64; 2],
    uses: u64,
    /// Buffers that are dropped when their requests come back.
    doomed: usize,
}

impl Cache {
    /// Pools of this many sectors.
    pub(super) fn new(metadata_sectors: u64, data_sectors: u64) -> Self {
        Cache {
            buffers: Vec::new(),
            free: Vec::new(),
            by_sector: Index::default(),
            lists: [[EMPTY; 3]; 2],
            turns_sectors: None,
            only_read_sectors: 0,
            buffers_take_pages: false,
            capacity_sectors: [metadata_sectors, data_sectors],
            held_sectors: [0; 2],
            dirty_sectors: [0; 2],
            uses: 0,
            doomed: 0,
        }
    }

    /// The same, with this rule for the pool of data.
    pub(super) fn replacing(mut self, data: Replacement) -> Self {
        self.turns_sectors = match data {
            Replacement::LeastRecentlyUsed => None,
            Replacement::TwoQueues { read_bytes } => Some(read_bytes / block::SECTOR_BYTES),
        };
        self
    }

    /// The same, with one memory for both: data gets what the buffers leave.
    pub(super) fn sharing(mut self, is_shared: bool) -> Self {
        self.buffers_take_pages = is_shared;
        self
    }

    pub(super) fn get(&self, id: BufferId) -> &Buffer {
        &self.buffers[id as usize]
    }

    pub(super) fn find(&self, sector: u64) -> Option<BufferId> {
        self.by_sector.get(sector)
    }

    /// Sectors of a pool that are dirty.
    pub(super) fn dirty_sectors(&self, pool: Pool) -> u64 {
        self.dirty_sectors[pool as usize]
    }

    /// Sectors that a pool holds.
    pub(super) fn held_sectors(&self, pool: Pool) -> u64 {
        self.held_sectors[pool as usize]
    }

    /// Free sectors of the memory for data.
    pub(super) fn free_sectors(&self) -> u64 {
        let [buffers, pages] = self.held_sectors;
        let held = if self.buffers_take_pages { buffers + pages } else { pages };
        self.capacity_sectors[Pool::Data as usize].saturating_sub(held)
    }

    /// Whether `sectors` more fit into the pool.
    pub(super) fn has_room(&self, pool: Pool, sectors: u32) -> bool {
        let free = match pool {
            Pool::Data => self.free_sectors(),
            Pool::Metadata => {
                let capacity = self.capacity_sectors[pool as usize];
                capacity.saturating_sub(self.held_sectors(pool))
            }
        };
        u64::from(sectors) <= free
    }

    /// Whether `sectors` would fit into the pool if it held nothing else.
    pub(super) fn could_hold(&self, pool: Pool, sectors: u32) -> bool {
        u64::from(sectors) <= self.capacity_sectors[pool as usize]
    }

    /// Adds a block that is not here yet.
    pub(super) fn insert(
        &mut self,
        extent: Extent,
        pool: Pool,
        owner: u32,
        state: State,
    ) -> BufferId {
        debug_assert!(u64::from(extent.sectors) <= LARGEST_SECTORS, "{extent:?} is no block");
        debug_assert!(
            self.by_sector
                .last(extent.sector.saturating_sub(LARGEST_SECTORS)..extent.end())
                .is_none_or(|id| self.buffers[id as usize].extent.end() <= extent.sector),
            "{extent:?} overlaps what is here"
        );
        let buffer = Buffer {
            extent,
            pool,
            state: State::Busy(0),
            owner,
            doomed: false,
            aged: false,
            only_read: false,
            used: 0,
            before: NONE,
            after: NONE,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.buffers[id as usize] = buffer;
                id
            }
            None => {
                self.buffers.push(buffer);
                self.buffers.len() as BufferId - 1
            }
        };
        self.by_sector.insert(extent.sector, id);
        self.held_sectors[pool as usize] += u64::from(extent.sectors);
        self.set(id, state);
        id
    }

    /// Drops a block.
    pub(super) fn remove(&mut self, id: BufferId) {
        self.set(id, State::Busy(0));
        let Buffer { extent, pool, .. } = self.buffers[id as usize];
        self.by_sector.remove(extent.sector);
        self.held_sectors[pool as usize] -= u64::from(extent.sectors);
        self.doomed -= usize::from(self.buffers[id as usize].doomed);
        self.free.push(id);
    }

    /// Changes a buffer's state; it is now the most recently used.
    pub(super) fn set(&mut self, id: BufferId, state: State) {
        self.unlink(id);
        let Buffer { extent, pool, .. } = self.buffers[id as usize];
        let dirty = &mut self.dirty_sectors[pool as usize];
        if matches!(self.buffers[id as usize].state, State::Dirty(_)) {
            *dirty -= u64::from(extent.sectors);
        }
        if matches!(state, State::Dirty(_)) {
            *dirty += u64::from(extent.sectors);
        }
        self.uses += 1;
        self.buffers[id as usize].state = state;
        self.buffers[id as usize].used = self.uses;
        self.link_newest(id);
    }

    /// Makes a clean buffer the least recently used: the next to be dropped.
    pub(super) fn age(&mut self, id: BufferId) {
        self.unlink(id);
        let Buffer { pool, only_read, extent, .. } = self.buffers[id as usize];
        let list = &mut self.lists[pool as usize][if only_read { 2 } else { 0 }];
        let after = std::mem::replace(&mut list.oldest, id);
        if after == NONE {
            list.newest = id;
        } else {
            self.buffers[after as usize].before = id;
        }
        let buffer = &mut self.buffers[id as usize];
        (buffer.used, buffer.before, buffer.after) = (0, NONE, after);
        if only_read {
            self.only_read_sectors += u64::from(extent.sectors);
        }
    }

    /// A buffer was used: it is now the most recently used.
    #[inline]
    pub(super) fn touch(&mut self, id: BufferId) {
        self.uses += 1;
        let buffer = &mut self.buffers[id as usize];
        buffer.used = self.uses;
        // Nothing is after the newest of a list.
        if buffer.after != NONE {
            self.move_to_end(id);
        }
    }

    fn move_to_end(&mut self, id: BufferId) {
        let Buffer { before, after, .. } = self.buffers[id as usize];
        let Some(list) = self.list(id) else { return };
        let newest = std::mem::replace(&mut list.newest, id);
        if before == NONE {
            list.oldest = after;
        } else {
            self.buffers[before as usize].after = after;
        }
        self.buffers[after as usize].before = before;
        self.buffers[newest as usize].after = id;
        let buffer = &mut self.buffers[id as usize];
        (buffer.before, buffer.after) = (newest, NONE);
    }

    /// A buffer was read, or else written: where the pool has two queues, that decides its queue.
    #[inline]
    pub(super) fn used_for(&mut self, id: BufferId, reading: bool) {
        if self.turns_sectors.is_some() && self.buffers[id as usize].pool == Pool::Data {
            self.is_only_read(id, reading);
        }
    }

    fn is_only_read(&mut self, id: BufferId, only_read: bool) {
        if self.buffers[id as usize].only_read != only_read {
            self.unlink(id);
            self.buffers[id as usize].only_read = only_read;
            self.link_newest(id);
        }
    }

    /// A block that was in memory only gets a place.
    pub(super) fn rename(&mut self, id: BufferId, sector: u64) {
        let was = std::mem::replace(&mut self.buffers[id as usize].extent.sector, sector);
        self.by_sector.remove(was);
        self.by_sector.insert(sector, id);
    }

    /// A block may have more fragments than before.
    #[inline]
    pub(super) fn grow(&mut self, id: BufferId, sectors: u32) {
        if sectors > self.buffers[id as usize].extent.sectors {
            self.grow_to(id, sectors);
        }
    }

    fn grow_to(&mut self, id: BufferId, sectors: u32) {
        let Buffer { extent, pool, state, .. } = self.buffers[id as usize];
        let more = u64::from(sectors - extent.sectors);
        self.buffers[id as usize].extent.sectors = sectors;
        self.held_sectors[pool as usize] += more;
        match state {
            State::Dirty(_) => self.dirty_sectors[pool as usize] += more,
            State::Clean if self.buffers[id as usize].only_read => self.only_read_sectors += more,
            State::Clean | State::Held | State::Busy(_) => {}
        }
    }

    /// A busy buffer is no longer wanted.
    pub(super) fn doom(&mut self, id: BufferId) {
        self.doomed += usize::from(!self.buffers[id as usize].doomed);
        self.buffers[id as usize].doomed = true;
    }

    /// A buffer in `extent` that is no longer wanted and still busy.
    #[inline]
    pub(super) fn doomed_in(&self, extent: Extent) -> Option<BufferId> {
        if self.doomed == 0 { None } else { self.some_doomed_in(extent) }
    }

    fn some_doomed_in(&self, extent: Extent) -> Option<BufferId> {
        let first_sector = extent.sector.saturating_sub(LARGEST_SECTORS);
        let mut near = self.by_sector.range(first_sector..extent.end());
        near.find(|&id| {
            self.buffers[id as usize].doomed
                && self.buffers[id as usize].extent.end() > extent.sector
        })
    }

    pub(super) fn set_aged(&mut self, id: BufferId, aged: bool) {
        self.buffers[id as usize].aged = aged;
    }

    /// The clean or dirty buffer to drop next.
    pub(super) fn oldest(&self, pool: Pool) -> Option<BufferId> {
        let [clean, dirty, only_read] = self.lists[pool as usize].map(|list| list.oldest);
        let take_turns = self.turns_sectors.is_some_and(|turns| self.only_read_sectors > turns);
        if only_read != NONE && (take_turns || (clean, dirty) == (NONE, NONE)) {
            return Some(only_read);
        }
        match (clean, dirty) {
            (NONE, NONE) => None,
            (NONE, id) | (id, NONE) => Some(id),
            (clean, dirty) => {
                let [used, used_dirty] = [clean, dirty].map(|id| self.buffers[id as usize].used);
                Some(if used < used_dirty { clean } else { dirty })
            }
        }
    }

    /// The least recently used clean buffer; those that were only read come first.
    pub(super) fn oldest_clean(&self, pool: Pool) -> Option<BufferId> {
        let [clean, _, only_read] = self.lists[pool as usize].map(|list| list.oldest);
        [only_read, clean].into_iter().find(|&id| id != NONE)
    }

    /// The least recently used dirty buffer.
    pub(super) fn oldest_dirty(&self, pool: Pool) -> Option<BufferId> {
        Some(self.lists[pool as usize][1].oldest).filter(|&id| id != NONE)
    }

    /// The first sector of the first dirty buffer that starts in `sectors`.
    pub(super) fn first_dirty(&self, sectors: Range<u64>) -> Option<u64> {
        let is_dirty = |&id: &BufferId| matches!(self.buffers[id as usize].state, State::Dirty(_));
        let id = self.by_sector.range(sectors).find(is_dirty)?;
        Some(self.buffers[id as usize].extent.sector)
    }

    /// The first buffer that starts in `sectors` and is busy.
    pub(super) fn first_busy(&self, sectors: Range<u64>) -> Option<BufferId> {
        let is_busy = |&id: &BufferId| matches!(self.buffers[id as usize].state, State::Busy(_));
        self.by_sector.range(sectors).find(is_busy)
    }

    /// Every buffer, by sector.
    pub(super) fn all(&self) -> impl Iterator<Item = BufferId> + '_ {
        self.by_sector.range(0..u64::MAX)
    }

    fn list(&mut self, id: BufferId) -> Option<&mut List> {
        let Buffer { pool, state, only_read, .. } = self.buffers[id as usize];
        let lists = &mut self.lists[pool as usize];
        match state {
            State::Clean if only_read => Some(&mut lists[2]),
            State::Clean => Some(&mut lists[0]),
            State::Dirty(_) => Some(&mut lists[1]),
            State::Held | State::Busy(_) => None,
        }
    }

    fn link_newest(&mut self, id: BufferId) {
        let Some(list) = self.list(id) else { return };
        let before = std::mem::replace(&mut list.newest, id);
        if before == NONE {
            list.oldest = id;
        } else {
            self.buffers[before as usize].after = id;
        }
        self.buffers[id as usize].before = before;
        self.buffers[id as usize].after = NONE;
        if self.waits_its_turn(id) {
            self.only_read_sectors += u64::from(self.buffers[id as usize].extent.sectors);
        }
    }

    /// Whether a buffer is on the list of those that were only read.
    #[inline]
    fn waits_its_turn(&self, id: BufferId) -> bool {
        self.buffers[id as usize].only_read && self.buffers[id as usize].state == State::Clean
    }

    fn unlink(&mut self, id: BufferId) {
        let Buffer { before, after, .. } = self.buffers[id as usize];
        let Some(list) = self.list(id) else { return };
        if before == NONE {
            list.oldest = after;
        }
        if after == NONE {
            list.newest = before;
        }
        if before != NONE {
            self.buffers[before as usize].after = after;
        }
        if after != NONE {
            self.buffers[after as usize].before = before;
        }
        if self.waits_its_turn(id) {
            self.only_read_sectors -= u64::from(self.buffers[id as usize].extent.sectors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        Cache::new(64, 64)
    }

    fn block(number: u64) -> Extent {
        Extent { sector: number * 16, sectors: 16 }
    }

    #[test]
    fn the_one_used_longest_ago_goes_first_dirty_or_not() {
        let mut cache = cache();
        let a = cache.insert(block(0), Pool::Data, 1, State::Clean);
        let b = cache.insert(block(1), Pool::Data, 1, State::Dirty(9));
        let c = cache.insert(block(2), Pool::Data, 1, State::Clean);
        assert_eq!((cache.oldest(Pool::Data), cache.oldest(Pool::Metadata)), (Some(a), None));
        cache.touch(a);
        assert_eq!((cache.oldest(Pool::Data), cache.dirty_sectors(Pool::Data)), (Some(b), 16));
        cache.set(b, State::Busy(4));
        assert_eq!((cache.oldest(Pool::Data), cache.dirty_sectors(Pool::Data)), (Some(c), 0));
        cache.age(a);
        assert_eq!(cache.oldest(Pool::Data), Some(a));
        cache.remove(a);
        assert_eq!((cache.oldest(Pool::Data), cache.find(0)), (Some(c), None));
        assert!(cache.has_room(Pool::Data, 32) && !cache.has_room(Pool::Data, 33));
        cache.grow(c, 24);
        assert!(!cache.has_room(Pool::Data, 32));
    }

    /// A file of twice the memory is written, read, and read again, in order: what is still in memory?
    fn hits(replacement: Replacement) -> [u64; 2] {
        let mut cache = Cache::new(64, 100 * 16).replacing(replacement);
        let touch = |cache: &mut Cache, number: u64, reading: bool| {
            if let Some(id) = cache.find(block(number).sector) {
                cache.touch(id);
                cache.used_for(id, reading);
                return 1;
            }
            while !cache.has_room(Pool::Data, 16) {
                cache.remove(cache.oldest(Pool::Data).unwrap());
            }
            let id = cache.insert(block(number), Pool::Data, 1, State::Clean);
            cache.used_for(id, reading);
            0
        };
        for number in 0..200 {
            touch(&mut cache, number, false);
        }
        [0; 2].map(|_| (0..200).map(|number| touch(&mut cache, number, true)).sum())
    }

    #[test]
    fn pages_that_were_written_outlast_one_reading_in_order() {
        assert_eq!(hits(Replacement::LeastRecentlyUsed), [0, 0]);
        let read_bytes = 10 * 16 * block::SECTOR_BYTES;
        // The eleventh block that is read is the first to replace another.
        assert_eq!(hits(Replacement::TwoQueues { read_bytes }), [89, 0]);
    }

    #[test]
    fn neighbours_are_dirty_adjacent_and_of_one_file() {
        let mut cache = cache();
        let dirty = |cache: &mut Cache, number, owner| {
            cache.insert(block(number), Pool::Data, owner, State::Dirty(0))
        };
        let ids: Vec<_> = (0..4).map(|number| dirty(&mut cache, number, 1)).collect();
        dirty(&mut cache, 4, 2);
        let around = |cache: &Cache, id, max_sectors| {
            let mut found = Vec::new();
            cache.neighbours(id, max_sectors, &mut found);
            found
        };
        assert_eq!(around(&cache, ids[1], 128), ids);
        assert_eq!(around(&cache, ids[1], 48), ids[1..4]);
        cache.set(ids[2], State::Clean);
        assert_eq!(around(&cache, ids[0], 128), ids[..2]);
    }

    /// A touched buffer goes to the end of its list, as if it were taken out and put in again.
    #[test]
    fn to_touch_is_to_take_out_and_put_in() {
        let turns = Replacement::TwoQueues { read_bytes: 1 << 14 };
        let mut caches = [cache().replacing(turns), cache().replacing(turns)];
        for number in 0..12 {
            let state = if number % 3 == 0 { State::Dirty(number) } else { State::Clean };
            for cache in &mut caches {
                let id = cache.insert(block(number), Pool::Data, 1, state);
                cache.used_for(id, number % 2 == 0);
            }
        }
        let mut random = 7_u64;
        for _ in 0..500 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = (random >> 40) as BufferId % 12;
            let [cache, plain] = &mut caches;
            cache.touch(id);
            plain.unlink(id);
            plain.uses += 1;
            plain.buffers[id as usize].used = plain.uses;
            plain.link_newest(id);
            assert_eq!(format!("{cache:?}"), format!("{plain:?}"));
        }
    }
}
