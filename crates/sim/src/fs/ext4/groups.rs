//! The groups of blocks: how much of each is free, and which inodes.

use super::geometry::{Geometry, RESERVED_INODES};
use crate::fs::filesystem::Ino;

/// One group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Blocks that are free, those delayed not counted.
    pub(super) free_blocks: u64,
    /// Inodes that are free.
    pub(super) free_inodes: u64,
    /// Directories among its inodes.
    pub(super) directories: u64,
    /// No block of it was ever taken by mke2fs: its bitmap need not be read (`BLOCK_UNINIT`).
    pub(super) blocks_are_untouched: bool,
    /// Its bitmap was made in memory when its first block was taken, and is yet to be changed (`ext4_init_block_bitmap`).
    pub(super) bitmap_is_new: bool,
    /// No inode of it was ever used: neither need that bitmap (`INODE_UNINIT`).
    pub(super) inodes_are_untouched: bool,
    /// Inodes up to here were used at some time, as the descriptor says (`bg_itable_unused`).
    pub(super) used_inodes: u64,
    /// A bit for each inode in use; empty while there is none.
    bitmap: Vec<u64>,
}

/// All groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    all: Vec<Group>,
    inodes_each: u64,
    blocks_each: u64,
    per_flex: u64,
}

/// What Orlov's rule looks at in a flex group (`struct orlov_stats`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlexFigures {
    pub(super) free_inodes: u64,
    pub(super) free_blocks: u64,
    pub(super) directories: u64,
}

impl Groups {
    /// The groups as mke2fs leaves them.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let group = |group: u64| {
            let free_blocks = geometry.free_blocks(group);
            let area = geometry.group_area(group);
            Group {
                free_blocks,
                free_inodes: geometry.group_inodes,
                directories: 0,
                blocks_are_untouched: free_blocks + geometry.super_blocks(group)
                    == area.end - area.start,
                bitmap_is_new: false,
                inodes_are_untouched: true,
                used_inodes: 0,
                bitmap: Vec::new(),
            }
        };
        let mut groups = Groups {
            all: (0..geometry.group_count()).map(group).collect(),
            inodes_each: geometry.group_inodes,
            blocks_each: geometry.group_blocks,
            per_flex: geometry.options.flex_groups,
        };
        for ino in 1..=RESERVED_INODES {
            groups.take_inode(ino);
        }
        groups
    }

    pub(super) fn get(&self, group: u64) -> &Group {
        &self.all[group as usize]
    }

    pub(super) fn get_mut(&mut self, group: u64) -> &mut Group {
        &mut self.all[group as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group> {
        self.all.iter()
    }

    pub(super) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    pub(super) fn inodes_per_group(&self) -> u64 {
        self.inodes_each
    }

    pub(super) fn blocks_per_group(&self) -> u64 {
        self.blocks_each
    }

    /// Flex groups, the last perhaps with fewer groups.
    pub(super) fn flex_count(&self) -> u64 {
        self.count().div_ceil(self.per_flex)
    }

    /// The groups of a flex group.
    pub(super) fn of_flex(&self, flex: u64) -> std::ops::Range<u64> {
        flex * self.per_flex..((flex + 1) * self.per_flex).min(self.count())
    }

    /// The sums over a flex group.
    pub(super) fn figures(&self, flex: u64) -> FlexFigures {
        let mut figures = FlexFigures::default();
        for group in self.of_flex(flex) {
            let group = self.get(group);
            figures.free_inodes += group.free_inodes;
            figures.free_blocks += group.free_blocks;
            figures.directories += group.directories;
        }
        figures
    }

    /// The group of an inode.
    pub(super) fn of_inode(&self, ino: Ino) -> u64 {
        u64::from(ino - 1) / self.inodes_each
    }

    fn bit(&self, ino: Ino) -> (u64, usize, u64) {
        let within = u64::from(ino - 1) % self.inodes_each;
        (self.of_inode(ino), (within / 64) as usize, 1 << (within % 64))
    }

    /// Whether an inode is in use.
    pub(super) fn has_inode(&self, ino: Ino) -> bool {
        let (group, word, bit) = self.bit(ino);
        self.get(group).bitmap.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Takes an inode that is free.
    pub(super) fn take_inode(&mut self, ino: Ino) {
        let (group, word, bit) = self.bit(ino);
        let words = self.inodes_each.div_ceil(64) as usize;
        let within = u64::from(ino - 1) % self.inodes_each;
        let group = self.get_mut(group);
        group.bitmap.resize(words, 0);
        assert_eq!(group.bitmap[word] & bit, 0, "inode {ino} is taken twice");
        group.bitmap[word] |= bit;
        group.free_inodes -= 1;
        group.inodes_are_untouched = false;
        group.used_inodes = group.used_inodes.max(within + 1);
    }

    /// Frees an inode that is in use.
    pub(super) fn free_inode(&mut self, ino: Ino) {
        let (group, word, bit) = self.bit(ino);
        let group = self.get_mut(group);
        assert_ne!(group.bitmap[word] & bit, 0, "inode {ino} is freed twice");
        group.bitmap[word] &= !bit;
        group.free_inodes += 1;
    }

    /// The first free inode of a group.
    pub(super) fn first_free_inode(&self, group: u64) -> Option<Ino> {
        let bitmap = &self.get(group).bitmap;
        let first = match bitmap.iter().position(|&word| word != u64::MAX) {
            Some(word) => word as u64 * 64 + u64::from(bitmap[word].trailing_ones()),
            None => bitmap.len() as u64 * 64,
        };
        (first < self.inodes_each).then(|| (group * self.inodes_each + first + 1) as Ino)
    }
}
