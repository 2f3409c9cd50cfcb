//! How a file's blocks are named: by extents, four in the inode, more in blocks of their own.
//!
//! An extent is up to 32768 blocks in a row; a block of 4 KiB holds 340 of them, and so does an index
//! block above such blocks (`fs/ext4/ext4_extents.h`: `EXT_INIT_MAX_LEN`, `ext4_ext_space_block`).

use std::ops::Range;

/// The longest extent, in blocks.
const EXTENT_BLOCKS_MAX: u64 = 32_768;
/// Extents in the inode itself.
const IN_INODE: u64 = 4;
const HEADER_BYTES: u64 = 12;
const ENTRY_BYTES: u64 = 12;

/// The blocks of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extents {
    /// Sorted by the file's blocks.
    runs: Vec<Run>,
    /// Blocks that hold extents, leaves first.
    pub(super) tree: Vec<u64>,
}

/// Blocks of a file that lie in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first of them, counted in the file.
    pub(super) logical: u64,
    /// Where it is.
    pub(super) block: u64,
    /// How many.
    pub(super) blocks: u64,
}

impl Run {
    fn end(&self) -> u64 {
        self.logical + self.blocks
    }

    /// Where they are.
    pub(super) fn places(&self) -> Range<u64> {
        self.block..self.block + self.blocks
    }
}

impl Extents {
    /// All runs, in the file's order.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Blocks that have a place.
    pub(super) fn blocks(&self) -> u64 {
        self.runs.iter().map(|run| run.blocks).sum()
    }

    /// Where block `logical` of the file is, and how many follow it in a row.
    pub(super) fn find(&self, logical: u64) -> Option<Range<u64>> {
        let after = self.runs.partition_point(|run| run.logical <= logical);
        let run = self.runs.get(after.checked_sub(1)?)?;
        (logical < run.end()).then(|| run.block + logical - run.logical..run.block + run.blocks)
    }

    /// The place next to what is in the file before or after `logical` (`ext4_ext_find_goal`), and
    /// whether that is right behind the block before.
    pub(super) fn goal(&self, logical: u64) -> Option<(u64, bool)> {
        let after = self.runs.partition_point(|run| run.logical <= logical);
        match after.checked_sub(1) {
            Some(before) => {
                let run = self.runs[before];
                Some((run.block + logical - run.logical, run.end() == logical))
            }
            None => {
                let run = self.runs.first()?;
                Some((run.block.saturating_sub(run.logical - logical), false))
            }
        }
    }

    /// Blocks `logical..` of the file are at `places`.
    pub(super) fn append(&mut self, logical: u64, places: Range<u64>) {
        let blocks = places.end - places.start;
        let at = self.runs.partition_point(|run| run.logical < logical);
        let joins_before = at > 0 && {
            let run = self.runs[at - 1];
            run.end() == logical && run.block + run.blocks == places.start
        };
        if joins_before {
            self.runs[at - 1].blocks += blocks;
        } else {
            self.runs.insert(at, Run { logical, block: places.start, blocks });
        }
        let at = if joins_before { at - 1 } else { at };
        if let (Some(&next), run) = (self.runs.get(at + 1), self.runs[at])
            && run.end() == next.logical
            && run.block + run.blocks == next.block
        {
            self.runs[at].blocks += next.blocks;
            self.runs.remove(at + 1);
        }
    }

    /// Extents, none longer than can be.
    pub(super) fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.blocks.div_ceil(EXTENT_BLOCKS_MAX)).sum()
    }

    /// Blocks that hold extents and index blocks above them: each level is filled in order.
    pub(super) fn tree_blocks(&self, block_bytes: u64) -> u64 {
        let per_block = (block_bytes - HEADER_BYTES) / ENTRY_BYTES;
        let (mut blocks, mut entries) = (0, self.count());
        while entries > IN_INODE {
            entries = entries.div_ceil(per_block);
            blocks += entries;
        }
        blocks
    }

    /// Of the blocks that hold extents, those on the way to the extent of block `logical`.
    pub(super) fn path(&self, logical: u64, block_bytes: u64) -> Vec<u64> {
        if self.tree.is_empty() {
            return Vec::new();
        }
        let per_block = ((block_bytes - HEADER_BYTES) / ENTRY_BYTES) as usize;
        let before = self.runs.partition_point(|run| run.logical <= logical).saturating_sub(1);
        let mut path = Vec::new();
        let (mut first, mut entries) = (0, self.count() as usize);
        let mut index = before;
        while entries > IN_INODE as usize {
            entries = entries.div_ceil(per_block);
            index /= per_block;
            path.extend(self.tree.get(first + index.min(entries - 1)));
            first += entries;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_row_is_one_extent() {
        let mut extents = Extents::default();
        extents.append(0, 100..110);
        extents.append(20, 120..130);
        assert_eq!(extents.count(), 2);
        extents.append(10, 110..120);
        assert_eq!(extents.runs(), [Run { logical: 0, block: 100, blocks: 30 }]);
        assert_eq!(extents.find(25), Some(125..130));
        assert_eq!(extents.find(30), None);
        assert_eq!(extents.goal(30), Some((130, true)));
        assert_eq!(extents.goal(40), Some((140, false)));
        extents.append(30, 50..60);
        assert_eq!((extents.count(), extents.blocks()), (2, 40));
    }

    #[test]
    fn more_than_four_extents_take_a_block() {
        let mut extents = Extents::default();
        for number in 0..2000 {
            extents.append(number, 2 * number..2 * number + 1);
            let blocks = extents.tree_blocks(4096);
            let expected = match number + 1 {
                0..=4 => 0,
                5..=340 => 1,
                341..=680 => 2,
                681..=1020 => 3,
                1021..=1360 => 4,
                count => (count).div_ceil(340) + 1,
            };
            assert_eq!(blocks, expected, "{number}");
        }
        extents.tree = (10_000..10_007).collect();
        assert_eq!(extents.path(0, 4096), [10_006, 10_000]);
        assert_eq!(extents.path(1999, 4096), [10_006, 10_005]);
        let mut long = Extents::default();
        long.append(0, 0..262_144);
        assert_eq!((long.count(), long.tree_blocks(4096)), (8, 1));
    }
}
