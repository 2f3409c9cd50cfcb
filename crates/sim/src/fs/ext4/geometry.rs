//! Where mke2fs(8) puts superblocks, descriptors, bitmaps, inode tables and the journal.
//!
//! The disk is cut into groups of as many blocks as one bitmap block has bits. Sixteen of them make a
//! flex group: their bitmaps and inode tables lie together in its first group, so that metadata is one
//! place to seek to. Group 0 and the groups 1 and powers of 3, 5 and 7 begin with the superblock, all
//! group descriptors and blocks into which the descriptors may grow:
//!
//! ```text
//! 64 GiB, 4 KiB blocks   0       1 .. 8        9 .. 1032       1033 ..1048   1049 .. 1064   1065 .. 9256
//! group 0                super   descriptors   room to grow    16 block b.   16 inode b.    16 tables
//! group 16               16 block bitmaps from 524288, 16 inode bitmaps, 16 tables
//! group 257              the journal: 131072 blocks from 8421376, half-way through
//! ```
//!
//! After e2fsprogs 1.47.0: `lib/ext2fs/initialize.c` (`ext2fs_initialize`), `res_gdt.c`
//! (`calc_reserved_gdt_blocks`), `alloc_tables.c` (`flexbg_offset`, `ext2fs_allocate_group_table`) and
//! `mkjournal.c` (`ext2fs_default_journal_size`, `get_midpoint_journal_block`).

use super::runs::Runs;
use block::SECTOR_BYTES;
use block::units::format_sectors;
use std::fmt;
use std::ops::Range;

/// A group descriptor with the feature `64bit`.
const DESCRIPTOR_BYTES: u64 = 64;
/// Descriptors may grow for a file system this many times as large (`calc_reserved_gdt_blocks`).
const GROWTH: u64 = 1024;
/// A last group with fewer blocks for data is left out (`ext2fs_initialize`).
const LAST_GROUP_BLOCKS_MIN: u64 = 50;
/// What lost+found is made with (`create_lost_and_found`), and the most blocks that it may be.
const LOST_BYTES: u64 = 16_384;
const LOST_BLOCKS_MAX: u64 = 12;
/// Inodes below the first that files may have (`EXT4_GOOD_OLD_FIRST_INO`); lost+found has that one.
pub(super) const RESERVED_INODES: u32 = 11;

/// What mke2fs is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A block, in bytes: `-b`.
    pub block_bytes: u64,
    /// Bytes of file system for each inode: `-i`.
    pub inode_ratio_bytes: u64,
    /// An inode, in bytes: `-I`.
    pub inode_bytes: u64,
    /// Groups in a flex group: `-G`.
    pub flex_groups: u64,
    /// Blocks on one member before the next: `-E stride`; 0 where it is not given.
    pub stride_blocks: u64,
    /// Blocks in a stripe over all data members: `-E stripe-width`; 0 where it is not given.
    pub stripe_width_blocks: u64,
    /// Whether it has a journal: `-O has_journal`.
    pub has_journal: bool,
}

impl Options {
    /// What `/etc/mke2fs.conf` says of a file system of so many bytes: its types are small (below
    /// 512 MiB), big (from 4 TiB) and huge (from 16 TiB).
    pub fn for_bytes(bytes: u64) -> Self {
        const MIB: u64 = 1 << 20;
        const TIB: u64 = 1 << 40;
        let (block_bytes, inode_ratio_bytes) = match bytes {
            _ if bytes < 3 * MIB => (1024, 8192),
            _ if bytes < 512 * MIB => (1024, 4096),
            _ if bytes < 4 * TIB => (4096, 16_384),
            _ if bytes < 16 * TIB => (4096, 32_768),
            _ => (4096, 65_536),
        };
        Options {
            block_bytes,
            inode_ratio_bytes,
            inode_bytes: 256,
            flex_groups: 16,
            stride_blocks: 0,
            stripe_width_blocks: 0,
            has_journal: true,
        }
    }
}

/// Why no file system of these sizes can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryError {
    /// The block is not 1, 2 or 4 KiB.
    BadBlock(u64),
    /// The inode ratio is below 1 KiB or above 64 MiB.
    BadRatio(u64),
    /// The inode is no power of two from 128 bytes to a block.
    BadInode(u64),
    /// Groups in a flex group are no power of two.
    BadFlex(u64),
    /// There is no room for the file system's own blocks.
    TooSmall {
        /// The size given.
        sectors: u64,
    },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeometryError::BadBlock(bytes) => {
                write!(f, "ext4 blocks are 1024, 2048 or 4096 bytes, not {bytes}")
            }
            GeometryError::BadRatio(bytes) => {
                write!(f, "an inode ratio is 1024 to 67108864 bytes, not {bytes}")
            }
            GeometryError::BadInode(bytes) => {
                write!(f, "an inode is a power of two from 128 bytes to a block, not {bytes}")
            }
            GeometryError::BadFlex(groups) => {
                write!(f, "a flex group has a power of two of groups, not {groups}")
            }
            GeometryError::TooSmall { sectors } => {
                write!(f, "{} are too few for an ext4 file system", format_sectors(*sectors))
            }
        }
    }
}

impl std::error::Error for GeometryError {}

/// Where one group's bitmaps and inode table are, in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlaces {
    /// Its block bitmap.
    pub block_bitmap: u64,
    /// Its inode bitmap.
    pub inode_bitmap: u64,
    /// Its inode table.
    pub inode_table: Range<u64>,
}

/// An ext4 file system as mke2fs lays it out.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// What it was made with.
    pub options: Options,
    /// Blocks of the file system.
    pub blocks: u64,
    /// The first block of group 0: 1 with blocks of 1 KiB, otherwise 0.
    pub first_block: u64,
    /// Blocks of a group.
    pub group_blocks: u64,
    /// Inodes of a group.
    pub group_inodes: u64,
    /// Blocks of one copy of the group descriptors.
    pub descriptor_blocks: u64,
    /// Blocks behind them that they may grow into.
    pub reserved_descriptor_blocks: u64,
    /// Each group's places.
    pub groups: Vec<GroupPlaces>,
    /// The journal's runs of blocks; none where there is no journal.
    pub journal: Vec<Range<u64>>,
    /// The root directory's block.
    pub root_block: u64,
    /// lost+found's runs of blocks.
    pub lost_blocks: Vec<Range<u64>>,
    /// What is left.
    pub(super) free: Runs,
}

impl Geometry {
    /// Lays out a file system on a device of `sectors`.
    ///
    /// # Errors
    ///
    /// Where mke2fs would refuse.
    pub fn new(options: Options, sectors: u64) -> Result<Self, GeometryError> {
        check(&options)?;
        let too_small = GeometryError::TooSmall { sectors };
        let bytes = sectors * SECTOR_BYTES;
        let first_block = u64::from(options.block_bytes == 1024);
        let group_blocks = 8 * options.block_bytes;
        let mut blocks = bytes / options.block_bytes;
        let inodes = (bytes / options.inode_ratio_bytes).max(u64::from(RESERVED_INODES) + 1);
        let mut geometry = loop {
            let groups = blocks.saturating_sub(first_block).div_ceil(group_blocks);
            if groups == 0 {
                return Err(too_small);
            }
            let group_inodes = inodes_per_group(&options, inodes.div_ceil(groups));
            let descriptors_per_block = options.block_bytes / DESCRIPTOR_BYTES;
            let descriptor_blocks = groups.div_ceil(descriptors_per_block);
            let largest = (blocks * GROWTH).min(u64::from(u32::MAX)) - first_block;
            let grown = largest.div_ceil(group_blocks).div_ceil(descriptors_per_block);
            let geometry = Geometry {
                options,
                blocks,
                first_block,
                group_blocks,
                group_inodes,
                descriptor_blocks,
                reserved_descriptor_blocks: grown
                    .saturating_sub(descriptor_blocks)
                    .min(options.block_bytes / 4),
                groups: Vec::with_capacity(groups as usize),
                journal: Vec::new(),
                root_block: 0,
                lost_blocks: Vec::new(),
                free: Runs::new(first_block..blocks),
            };
            let left = (blocks - first_block) % group_blocks;
            let own = 2 + geometry.table_blocks() + geometry.super_blocks(groups - 1);
            if left == 0 || left >= own + LAST_GROUP_BLOCKS_MIN {
                break geometry;
            }
            if groups == 1 {
                return Err(too_small);
            }
            blocks -= left;
        };
        geometry.place_all().ok_or(too_small)?;
        Ok(geometry)
    }

    /// How many groups there are.
    pub fn group_count(&self) -> u64 {
        (self.blocks - self.first_block).div_ceil(self.group_blocks)
    }

    /// The blocks of a group.
    pub fn group_area(&self, group: u64) -> Range<u64> {
        let start = self.first_block + group * self.group_blocks;
        start..(start + self.group_blocks).min(self.blocks)
    }

    /// The group that a block is in.
    pub fn group_of(&self, block: u64) -> u64 {
        (block - self.first_block) / self.group_blocks
    }

    /// Blocks of a group that mke2fs leaves free.
    pub fn free_blocks(&self, group: u64) -> u64 {
        self.free.count(self.group_area(group))
    }

    /// Whether mke2fs leaves a block free.
    pub fn is_free(&self, block: u64) -> bool {
        self.free.free_from(block, self.blocks) > 0
    }

    /// Sectors in a block.
    pub fn block_sectors(&self) -> u64 {
        self.options.block_bytes / SECTOR_BYTES
    }

    /// Blocks of one group's inode table.
    pub fn table_blocks(&self) -> u64 {
        (self.group_inodes * self.options.inode_bytes).div_ceil(self.options.block_bytes)
    }

    /// Inodes in a block of a table.
    pub fn inodes_per_block(&self) -> u64 {
        self.options.block_bytes / self.options.inode_bytes
    }

    /// The block of the superblock.
    pub fn super_block(&self) -> u64 {
        self.first_block
    }

    /// The block that holds a group's descriptor.
    pub fn descriptor_block(&self, group: u64) -> u64 {
        self.first_block + 1 + group * DESCRIPTOR_BYTES / self.options.block_bytes
    }

    /// The block of the table that holds an inode.
    pub fn inode_block(&self, ino: u32) -> u64 {
        let index = u64::from(ino - 1);
        let table = &self.groups[(index / self.group_inodes) as usize].inode_table;
        table.start + index % self.group_inodes / self.inodes_per_block()
    }

    /// What the superblock, the descriptors and their room take at the start of a group.
    pub fn super_blocks(&self, group: u64) -> u64 {
        if has_super(group) {
            1 + self.descriptor_blocks + self.reserved_descriptor_blocks
        } else {
            0
        }
    }

    /// Places everything; `None` where there is no room.
    fn place_all(&mut self) -> Option<()> {
        for group in 0..self.group_count() {
            let start = self.group_area(group).start;
            let own = start..start + self.super_blocks(group);
            if own.end > self.group_area(group).end {
                return None;
            }
            if !own.is_empty() {
                self.free.take(own);
            }
        }
        for group in 0..self.group_count() {
            let places = self.place_group(group)?;
            self.groups.push(places);
        }
        self.root_block = self.take_blocks(1)?[0].start;
        let lost_blocks = (LOST_BYTES / self.options.block_bytes).clamp(4, LOST_BLOCKS_MAX);
        self.lost_blocks = self.take_blocks(lost_blocks)?;
        // The inode that holds the descriptors' room has a block of pointers to it.
        if self.reserved_descriptor_blocks > 0 {
            self.take_blocks(1)?;
        }
        if self.options.has_journal {
            self.place_journal()?;
        }
        Some(())
    }

    /// Places a group's bitmaps and table: each behind that of the group before, and the first of a flex
    /// group's so that the others find room (`ext2fs_allocate_group_table`).
    fn place_group(&mut self, group: u64) -> Option<GroupPlaces> {
        let flex = self.options.flex_groups;
        let last = (group / flex * flex + flex).min(self.group_count()) - 1;
        let is_first = group.is_multiple_of(flex);
        // The last flex group may have fewer groups: its things are then kept together.
        let apart = match last % flex {
            0 => flex,
            more if last + 1 == self.group_count() => more + 1,
            _ => flex,
        };
        let before = if is_first { None } else { self.groups.last().cloned() };
        let table_blocks = self.table_blocks();
        let behind = before.as_ref().map(|before| before.block_bitmap + 1);
        let block_bitmap = self.place(group..last + 1, behind, 1)?;
        let behind = before.as_ref().map_or(block_bitmap + apart, |before| before.inode_bitmap + 1);
        let inode_bitmap = self.place(group..last + 1, Some(behind), 1)?;
        let behind = before.map_or(inode_bitmap + apart, |before| before.inode_table.end);
        let table = self.place(group..last + 1, Some(behind), table_blocks)?;
        Some(GroupPlaces { block_bitmap, inode_bitmap, inode_table: table..table + table_blocks })
    }

    /// Places what the first of `groups` needs, where the others of its flex group are to follow: from
    /// `behind` on, or where all that are to come fit, or where this one does (`flexbg_offset`).
    fn place(&mut self, groups: Range<u64>, behind: Option<u64>, blocks: u64) -> Option<u64> {
        let flex = self.options.flex_groups;
        let together = ((groups.end - groups.start) * blocks).min(self.group_blocks / 4);
        let area =
            self.group_area(groups.start / flex * flex).start..self.group_area(groups.end - 1).end;
        let place = if flex == 1 {
            self.fit(area, blocks)
        } else {
            behind
                .and_then(|block| self.fit(block..block + together, blocks))
                .or_else(|| self.fit(area.clone(), together))
                .or_else(|| self.fit(area.clone(), blocks))
                .or_else(|| self.fit(0..area.end, blocks))
        }?;
        self.free.take(place..place + blocks);
        Some(place)
    }

    /// The first free blocks that start within `starts`; their end may be outside.
    fn fit(&self, starts: Range<u64>, blocks: u64) -> Option<u64> {
        let mut runs = self.free.within(starts.start..self.blocks);
        let found = runs
            .by_ref()
            .take_while(|run| run.start < starts.end)
            .find(|run| run.end - run.start >= blocks);
        found.map(|run| run.start)
    }

    /// The first free blocks, as runs.
    fn take_blocks(&mut self, blocks: u64) -> Option<Vec<Range<u64>>> {
        self.take_from(0, blocks)
    }

    fn take_from(&mut self, goal: u64, mut blocks: u64) -> Option<Vec<Range<u64>>> {
        let mut taken: Vec<Range<u64>> = Vec::new();
        while blocks > 0 {
            let run = self.free.within(goal..self.blocks).next()?;
            let run = run.start..run.end.min(run.start + blocks);
            self.free.take(run.clone());
            blocks -= run.end - run.start;
            taken.push(run);
        }
        Some(taken)
    }

    /// The journal, in the emptier of the middle group and the next, from its start on.
    fn place_journal(&mut self) -> Option<()> {
        let Some(blocks) = journal_blocks(self.blocks) else { return Some(()) };
        let (groups, flex) = (self.group_count(), self.options.flex_groups);
        let free = |group: u64| self.free.count(self.group_area(group));
        let middle = self.group_of(self.first_block + (self.blocks - self.first_block) / 2);
        let (start, end) = if flex > 1 && middle > flex {
            let first = middle / flex * flex;
            let start = (first..groups).find(|&group| free(group) > 0).unwrap_or(0);
            (start, (start + 1).min(groups - 1))
        } else {
            (middle.saturating_sub(1), (middle + 1).min(groups - 1))
        };
        let emptiest = (start + 1..=end)
            .fold(start, |best, group| if free(group) > free(best) { group } else { best });
        self.journal = self.take_from(self.group_area(emptiest).start, blocks)?;
        // Extents of at most 32768 blocks each: more than four need a block of their own.
        let extents: u64 =
            self.journal.iter().map(|run| (run.end - run.start).div_ceil(32_768)).sum();
        if extents > 4 {
            let group = self.group_of(self.journal[0].start) / flex * flex;
            self.take_from(self.group_area(group).start, 1)?;
        }
        Some(())
    }
}

fn check(options: &Options) -> Result<(), GeometryError> {
    let Options { block_bytes, inode_ratio_bytes, inode_bytes, flex_groups, .. } = *options;
    if ![1024, 2048, 4096].contains(&block_bytes) {
        return Err(GeometryError::BadBlock(block_bytes));
    }
    if !(1024..=64 << 20).contains(&inode_ratio_bytes) {
        return Err(GeometryError::BadRatio(inode_ratio_bytes));
    }
    if !inode_bytes.is_power_of_two() || !(128..=block_bytes).contains(&inode_bytes) {
        return Err(GeometryError::BadInode(inode_bytes));
    }
    if !flex_groups.is_power_of_two() {
        return Err(GeometryError::BadFlex(flex_groups));
    }
    Ok(())
}

/// Inodes of a group: as many as fill whole blocks of the table, a multiple of 8, and no more than one
/// bitmap block has bits.
fn inodes_per_group(options: &Options, wanted: u64) -> u64 {
    let table_blocks = (wanted * options.inode_bytes).div_ceil(options.block_bytes);
    let inodes = table_blocks * options.block_bytes / options.inode_bytes;
    (inodes & !7).clamp(8, 8 * options.block_bytes)
}

/// Whether a group starts with a superblock (`sparse_super`, `ext2fs_bg_has_super`).
pub fn has_super(group: u64) -> bool {
    let is_power = |base: u64| {
        let mut power = base;
        while power < group {
            power *= base;
        }
        power == group
    };
    group < 2 || is_power(3) || is_power(5) || is_power(7)
}

/// How large a journal mke2fs makes (`ext2fs_default_journal_size`); `None` where there is no room.
fn journal_blocks(blocks: u64) -> Option<u64> {
    const K: u64 = 1024;
    match blocks {
        0..2048 => None,
        2048..32_768 => Some(K),
        _ if blocks < 256 * K => Some(4 * K),
        _ if blocks < 512 * K => Some(8 * K),
        _ if blocks < 4096 * K => Some(16 * K),
        _ if blocks < 8192 * K => Some(32 * K),
        _ if blocks < 16_384 * K => Some(64 * K),
        _ if blocks < 32_768 * K => Some(128 * K),
        _ => Some(256 * K),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB_SECTORS: u64 = (1 << 30) / SECTOR_BYTES;
    const FIXTURE: &str = include_str!("../../../tests/fixtures/ext4/groups_64gib.csv");

    #[test]
    fn every_group_of_64_gib_is_where_the_real_mkfs_put_it() {
        let options = Options::for_bytes(64 << 30);
        let geometry = Geometry::new(options, 64 * GIB_SECTORS).unwrap();
        let lines = FIXTURE.lines().filter(|line| !line.starts_with('#')).skip(1);
        for (group, line) in lines.enumerate() {
            let places = &geometry.groups[group];
            let GroupPlaces { block_bitmap, inode_bitmap, inode_table } = places;
            let free = geometry.free.count(geometry.group_area(group as u64));
            let last = inode_table.end - 1;
            let ours = format!("{block_bitmap},{inode_bitmap},{},{last},{free}", inode_table.start);
            assert_eq!(ours, line, "group {group}");
        }
        assert_eq!(geometry.groups.len(), 512);
        assert_eq!(geometry.journal.first(), Some(&(8_421_376..8_552_448)));
        assert_eq!((geometry.descriptor_blocks, geometry.reserved_descriptor_blocks), (8, 1024));
        assert_eq!(geometry.inode_block(131_073), 524_320);
        assert_eq!(geometry.free.count(0..geometry.blocks), 16_369_541);
    }

    #[test]
    fn what_mke2fs_refuses_is_refused() {
        let options = Options::for_bytes(1 << 30);
        let with = |change: &dyn Fn(&mut Options)| {
            let mut options = options;
            change(&mut options);
            Geometry::new(options, GIB_SECTORS).unwrap_err()
        };
        assert_eq!(with(&|options| options.block_bytes = 8192), GeometryError::BadBlock(8192));
        assert_eq!(with(&|options| options.inode_bytes = 300), GeometryError::BadInode(300));
        assert_eq!(with(&|options| options.flex_groups = 3), GeometryError::BadFlex(3));
        assert_eq!(with(&|options| options.inode_ratio_bytes = 512), GeometryError::BadRatio(512));
        for sectors in [0, 2, 64] {
            let small = Geometry::new(Options::for_bytes(sectors * SECTOR_BYTES), sectors);
            assert_eq!(small.unwrap_err(), GeometryError::TooSmall { sectors });
        }
    }
}
