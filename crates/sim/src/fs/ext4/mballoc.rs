//! Which blocks a file gets.
//!
//! ```text
//! up to 64 KiB              packed back to back into pieces of 512 blocks that all small files share
//! larger, written whole     as many blocks as it has, in one extent where there is one
//! larger, still growing     rounded up by its size, to 2, 4 or 8 MiB, and the rest kept for it
//! metadata                  the first free block from its goal's group on
//! ```
//!
//! A power of two of blocks comes from the smallest buddy that holds it, and is so aligned. Anything else
//! comes from the best of the first eleven free extents of a group. Where a stripe is given, what is a
//! multiple of it starts at one.
//!
//! After Linux 6.1 `fs/ext4/mballoc.c`: `ext4_mb_group_or_file`, `ext4_mb_normalize_request`,
//! `ext4_mb_normalize_group_request`, `ext4_mb_find_by_goal`, `ext4_mb_simple_scan_group`,
//! `ext4_mb_complex_scan_group`, `ext4_mb_scan_aligned`, `ext4_mb_regular_allocator`. Groups are
//! tried in order from the goal's; the kernel leaves that order after four groups (`mb_optimize_scan`).

use super::geometry::Geometry;
use super::groups::Groups;
use super::runs::Runs;
use std::ops::Range;

/// The largest file that shares its piece with others, in blocks (`s_mb_stream_request`).
pub(super) const SMALL_BLOCKS: u64 = 16;
/// Such a piece, in blocks (`s_mb_group_prealloc`).
const PIECE_BLOCKS: u64 = 512;
/// Free extents that are looked at before the best is taken (`s_mb_min_to_scan`).
const LOOKED_AT: u32 = 10;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    /// Where it would best be.
    pub(super) goal: u64,
    /// The goal continues what the file has: it is tried before anything else.
    pub(super) continues: bool,
    /// How many blocks.
    pub(super) blocks: u64,
    /// For whom.
    pub(super) kind: Kind,
}

/// For whom blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A directory, a block of extents, or a large file that is written whole.
    Exact,
    /// A small file.
    Small,
    /// A large file that grows: so many blocks are kept for it.
    Growing(u64),
}

/// The free blocks, and what is kept of them.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    first: u64,
    end: u64,
    per_group: u64,
    /// Neither in use nor kept.
    free: Runs,
    /// What is left of the pieces for small files.
    pieces: Vec<Range<u64>>,
    /// Where the last growing file was (`s_mb_last_group`, `s_mb_last_start`).
    last_stream: Option<u64>,
    /// Blocks in a stripe; 0 where there is none.
    stripe: u64,
    /// Groups whose bitmaps were looked at since they were last asked for.
    looked_at: Vec<u64>,
}

impl Blocks {
    /// What mke2fs leaves free.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let options = &geometry.options;
        // `ext4_get_stripe_size`
        let stripe = [options.stripe_width_blocks, options.stride_blocks]
            .into_iter()
            .find(|&blocks| blocks > 1 && blocks <= geometry.group_blocks);
        Blocks {
            first: geometry.first_block,
            end: geometry.blocks,
            per_group: geometry.group_blocks,
            free: geometry.free.clone(),
            pieces: Vec::new(),
            last_stream: None,
            stripe: stripe.unwrap_or(0),
            looked_at: Vec::new(),
        }
    }

    fn group_of(&self, block: u64) -> u64 {
        (block - self.first) / self.per_group
    }

    fn area(&self, group: u64) -> Range<u64> {
        let start = self.first + group * self.per_group;
        start..(start + self.per_group).min(self.end)
    }

    /// The groups whose bitmaps a search has looked at.
    pub(super) fn take_looked_at(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.looked_at)
    }

    /// Blocks that are free, kept or not.
    pub(super) fn free_blocks(&self) -> u64 {
        let kept: u64 = self.pieces.iter().map(|piece| piece.end - piece.start).sum();
        self.free.count(0..self.end) + kept
    }

    /// Whether any of `blocks` is free, kept or not.
    pub(super) fn has_free(&self, blocks: Range<u64>) -> bool {
        let overlaps = |piece: &Range<u64>| piece.start < blocks.end && blocks.start < piece.end;
        self.free.count(blocks.clone()) > 0 || self.pieces.iter().any(overlaps)
    }

    /// Takes blocks as wanted, perhaps fewer; gives them, and what is kept behind them for a growing
    /// file. `None` where nothing is free.
    pub(super) fn take(&mut self, want: Want, groups: &mut Groups) -> Option<[Range<u64>; 2]> {
        let taken = match want.kind {
            Kind::Small => self.take_small(want),
            Kind::Exact => {
                self.search(want, want.blocks).map(|run| [run.clone(), run.end..run.end])
            }
            Kind::Growing(kept) => self.take_growing(want, kept.max(want.blocks)),
        };
        let taken = taken.or_else(|| {
            // What is kept for others goes before anything fails (`ext4_mb_discard_preallocations`).
            self.discard();
            self.search(want, want.blocks).map(|run| [run.clone(), run.end..run.end])
        })?;
        self.count(groups, taken[0].clone(), false);
        Some(taken)
    }

    /// Takes blocks that were kept for a file.
    pub(super) fn take_kept(&mut self, blocks: Range<u64>, groups: &mut Groups) {
        self.count(groups, blocks, false);
    }

    /// Blocks that were kept for a file are no longer.
    pub(super) fn give_kept(&mut self, blocks: Range<u64>) {
        if !blocks.is_empty() {
            self.free.give(blocks);
        }
    }

    /// The blocks in use become free as far as groups count; they are given only later.
    pub(super) fn uncount(&self, blocks: Range<u64>, groups: &mut Groups) {
        self.count(groups, blocks, true);
    }

    /// Blocks that are in use no more can be taken again.
    pub(super) fn give(&mut self, blocks: Range<u64>) {
        self.free.give(blocks);
    }

    /// Nothing is kept for small files any more.
    pub(super) fn discard(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            self.give_kept(piece);
        }
    }

    fn count(&self, groups: &mut Groups, blocks: Range<u64>, gained: bool) {
        let mut start = blocks.start;
        while start < blocks.end {
            let group = self.group_of(start);
            let end = blocks.end.min(self.area(group).end);
            let state = groups.get_mut(group);
            state.bitmap_is_new |= std::mem::take(&mut state.blocks_are_untouched);
            if gained {
                state.free_blocks += end - start;
            } else {
                state.free_blocks -= end - start;
            }
            start = end;
        }
    }

    fn take_small(&mut self, want: Want) -> Option<[Range<u64>; 2]> {
        let fits = |piece: &&mut Range<u64>| piece.end - piece.start >= want.blocks;
        let nearest = |piece: &&mut Range<u64>| piece.start.abs_diff(want.goal);
        let piece = match self.pieces.iter_mut().filter(fits).min_by_key(nearest) {
            Some(piece) => piece,
            None => {
                let blocks = match self.stripe {
                    0 => PIECE_BLOCKS,
                    stripe => PIECE_BLOCKS.next_multiple_of(stripe),
                };
                let run =
                    self.search(want, blocks).filter(|run| run.end - run.start >= want.blocks)?;
                self.pieces.push(run);
                self.pieces.last_mut()?
            }
        };
        let taken = piece.start..piece.start + want.blocks;
        piece.start = taken.end;
        self.pieces.retain(|piece| !piece.is_empty());
        Some([taken.clone(), taken.end..taken.end])
    }

    fn take_growing(&mut self, want: Want, blocks: u64) -> Option<[Range<u64>; 2]> {
        let goal = if want.continues { want.goal } else { self.last_stream.unwrap_or(want.goal) };
        let run = self.search(Want { goal, ..want }, blocks)?;
        self.last_stream = Some(run.start);
        let end = run.end.min(run.start + want.blocks);
        Some([run.start..end, end..run.end])
    }

    /// Takes `blocks` in a row, or the longest run there is.
    fn search(&mut self, want: Want, blocks: u64) -> Option<Range<u64>> {
        let blocks = blocks.min(self.per_group);
        let goal = want.goal.clamp(self.first, self.end - 1);
        let first = self.group_of(goal);
        if want.continues {
            self.look_at(first);
            if self.free.free_from(goal, self.area(first).end) >= blocks {
                return Some(self.take_run(goal..goal + blocks));
            }
        }
        let groups = self.group_of(self.end - 1) + 1;
        let from_goal = || (0..groups).map(move |step| (first + step) % groups);
        for group in from_goal() {
            if self.suits(group, blocks) {
                self.look_at(group);
                if let Some(run) = self.find(group, blocks) {
                    return Some(self.take_run(run));
                }
            }
        }
        let longest = |area: Range<u64>| {
            let runs = self.free.within(area);
            runs.min_by_key(|run| (std::cmp::Reverse(run.end - run.start), run.start))
        };
        let (group, run) =
            from_goal().find_map(|group| Some((group, longest(self.area(group))?)))?;
        self.look_at(group);
        let end = run.end.min(run.start + blocks);
        Some(self.take_run(run.start..end))
    }

    fn look_at(&mut self, group: u64) {
        if !self.looked_at.contains(&group) {
            self.looked_at.push(group);
        }
    }

    fn take_run(&mut self, run: Range<u64>) -> Range<u64> {
        self.free.take(run.clone());
        run
    }

    /// Whether a group's free extents have that many blocks on the mean (`ext4_mb_good_group`), or at
    /// least one of them does.
    fn suits(&self, group: u64, blocks: u64) -> bool {
        self.free.within(self.area(group)).any(|run| run.end - run.start >= blocks)
    }

    fn find(&self, group: u64, blocks: u64) -> Option<Range<u64>> {
        let area = self.area(group);
        let start = if blocks > 1 && blocks.is_power_of_two() {
            self.find_buddy(area, blocks)
        } else if self.stripe > 0 && blocks.is_multiple_of(self.stripe) {
            self.find_aligned(area.clone(), blocks).or_else(|| self.find_best(area, blocks))
        } else {
            self.find_best(area, blocks)
        }?;
        Some(start..start + blocks)
    }

    /// The first of the smallest free buddies that hold `blocks`; where none does, a run that does.
    fn find_buddy(&self, area: Range<u64>, blocks: u64) -> Option<u64> {
        let mut best: Option<(u64, u64)> = None;
        for run in self.free.within(area.clone()) {
            let mut start = run.start;
            while start < run.end {
                let size = self.buddy_at(start, run.end);
                if size >= blocks && best.is_none_or(|(smallest, _)| size < smallest) {
                    best = Some((size, start));
                }
                start += size;
            }
        }
        best.map(|(_, start)| start).or_else(|| self.free.first_fit(area, blocks))
    }

    /// The free buddy that starts at `block` in a run that ends at `end`.
    fn buddy_at(&self, block: u64, end: u64) -> u64 {
        let within = (block - self.first) % self.per_group;
        let aligned = if within == 0 { self.per_group } else { 1 << within.trailing_zeros() };
        let fits = 1 << (end - block).ilog2();
        // The largest buddy is a quarter of a group (`MB_NUM_ORDERS`).
        aligned.min(fits).min(self.per_group / 4)
    }

    /// A stripe's start with `blocks` free behind it.
    fn find_aligned(&self, area: Range<u64>, blocks: u64) -> Option<u64> {
        self.free.within(area).find_map(|run| {
            let start = run.start.next_multiple_of(self.stripe);
            (start + blocks <= run.end).then_some(start)
        })
    }

    /// The best of the first free extents: the shortest that is long enough. Extents are put together of
    /// buddies, and so may be longer than what is asked for.
    fn find_best(&self, area: Range<u64>, blocks: u64) -> Option<u64> {
        let mut best: Option<(u64, u64)> = None;
        let mut seen = 0;
        for run in self.free.within(area) {
            let mut start = run.start;
            while start < run.end {
                let mut length = 0;
                while length < blocks && start + length < run.end {
                    length += self.buddy_at(start + length, run.end);
                }
                if length == blocks {
                    return Some(start);
                }
                if length > blocks && best.is_none_or(|(shortest, _)| length < shortest) {
                    best = Some((length, start));
                }
                seen += 1;
                if let (Some((_, start)), true) = (best, seen > LOOKED_AT) {
                    return Some(start);
                }
                start += length;
            }
        }
        best.map(|(_, start)| start)
    }
}

/// How many blocks are kept for a file of `file_blocks` that grows by `blocks`, and from which of its
/// blocks on (`ext4_mb_normalize_request`): rounded up to a power of two up to 1 MiB, then aligned pieces
/// of 2, 4 and 8 MiB.
pub(super) fn normalized(
    logical: u64,
    blocks: u64,
    file_blocks: u64,
    block_bytes: u64,
) -> Range<u64> {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let size_bytes = (logical + blocks).max(file_blocks) * block_bytes;
    let aligned = |piece_bytes: u64| {
        let piece = piece_bytes / block_bytes;
        let start = logical / piece * piece;
        start..start + piece
    };
    if size_bytes <= MIB {
        return 0..size_bytes.next_power_of_two().max(16 * KIB) / block_bytes;
    }
    match size_bytes {
        _ if size_bytes <= 4 * MIB => aligned(2 * MIB),
        _ if size_bytes <= 8 * MIB => aligned(4 * MIB),
        _ if blocks * block_bytes <= 8 * MIB => aligned(8 * MIB),
        _ => logical..logical + blocks,
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::Options;
    use super::*;

    fn empty() -> (Blocks, Groups) {
        let bytes = 1 << 30;
        let options = Options { has_journal: false, ..Options::for_bytes(bytes) };
        let geometry = Geometry::new(options, bytes / 512).unwrap();
        (Blocks::new(&geometry), Groups::new(&geometry))
    }

    fn want(blocks: u64, kind: Kind) -> Want {
        Want { goal: 2 * 32_768, continues: false, blocks, kind }
    }

    #[test]
    fn small_files_share_a_piece_and_larger_ones_go_behind_it() {
        let (mut blocks, mut groups) = empty();
        let mut take = |count, kind| blocks.take(want(count, kind), &mut groups).unwrap()[0].start;
        let base = 2 * 32_768;
        assert_eq!(take(1, Kind::Small), base);
        assert_eq!(take(24, Kind::Exact), base + 512);
        assert_eq!(take(8, Kind::Small), base + 1);
        assert_eq!(take(30, Kind::Exact), base + 536);
        // A power of two comes from the smallest buddy: 566 is even, so 2 there, but 16 only at 576.
        assert_eq!(take(2, Kind::Exact), base + 566);
        assert_eq!(take(16, Kind::Exact), base + 576);
    }

    #[test]
    fn what_grows_keeps_what_follows() {
        let (mut blocks, mut groups) = empty();
        let before = blocks.free_blocks();
        let grown = want(100, Kind::Growing(2048));
        let [taken, kept] = blocks.take(grown, &mut groups).unwrap();
        assert_eq!((taken.end - taken.start, kept.end - kept.start), (100, 1948));
        assert_eq!(taken.end, kept.start);
        blocks.take_kept(kept.start..kept.start + 48, &mut groups);
        blocks.give_kept(kept.start + 48..kept.end);
        assert_eq!(blocks.free_blocks(), before - 148);
        assert_eq!(groups.iter().map(|group| group.free_blocks).sum::<u64>(), before - 148);
        blocks.uncount(taken.clone(), &mut groups);
        blocks.give(taken);
        assert_eq!(blocks.free_blocks(), before - 48);
    }

    #[test]
    fn sizes_are_rounded_as_the_kernel_rounds_them() {
        for (logical, blocks, file, expected) in [
            (0, 1, 1, 0..4),
            (5, 1, 6, 0..8),
            (0, 100, 300, 0..512),
            (700, 10, 710, 512..1024),
            (1500, 10, 1510, 1024..2048),
            (2100, 10, 2110, 2048..4096),
            (4096, 3000, 10_000, 4096..7096),
        ] {
            let kept = normalized(logical, blocks, file, 4096);
            assert_eq!(kept, expected, "{logical} {blocks} {file}");
        }
    }

    #[test]
    fn the_last_blocks_are_found_where_pieces_keep_them() {
        let (mut blocks, mut groups) = empty();
        let mut taken = 0;
        blocks.take(want(1, Kind::Small), &mut groups).unwrap();
        while let Some([run, _]) = blocks.take(want(5000, Kind::Exact), &mut groups) {
            taken += run.end - run.start;
        }
        assert_eq!(blocks.free_blocks(), 0);
        assert!(taken > 200_000);
    }
}
