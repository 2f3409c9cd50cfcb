//! ext4, as Linux 6.1 has it: what each operation touches, and what has to be on the disk before what.
//!
//! ```text
//! geometry    where mke2fs puts everything
//! orlov       the group of a new inode                 groups, hash
//! mballoc     the blocks of a file                     runs
//! extents     how a file's blocks are named            directory: its names
//! delayed     written data without a place             file: growing, placing, truncating
//! journal     what a transaction holds                 commit: in which order it comes to the disk
//! ```
//!
//! Every change to metadata belongs to the running transaction of the journal, and is held in memory
//! until that is committed. What files hold goes to its place directly, in ordered mode before the
//! transaction that names it. Each rule says which function of the kernel it is from.

pub mod geometry;
pub mod mount;

mod check;
mod commit;
mod directory;
mod extents;
mod file;
mod groups;
mod handle;
mod hash;
mod journal;
mod mballoc;
mod operations;
mod orlov;
mod reserved;
mod runs;
mod seam;
mod tools;

#[cfg(test)]
mod tests;

use super::files::FsError;
use super::filesystem::{Block, Ino, Step, Write};
use super::kernel::{Delay, Extent, Pool};
use crate::Nanos;
use directory::Directory;
use extents::Extents;
use geometry::{Geometry, RESERVED_INODES};
use groups::Groups;
use hash::Seed;
use journal::Journal;
use mballoc::Blocks;
use mount::Mount;
use reserved::Reserved;
use runs::Runs;
use std::collections::{BTreeMap, BTreeSet};

/// The root directory.
pub const ROOT: Ino = 2;
/// lost+found, which mke2fs makes.
const LOST_AND_FOUND: Ino = RESERVED_INODES;

/// The owner of all metadata: the block device's own cache, whose neighbouring blocks are written together.
const BLOCK_DEVICE: Ino = Ino::MAX;
/// Blocks of an inode table that are read together, where one of them is.
const AHEAD_BLOCKS: u64 = 32;

/// A file or directory.
#[derive(Clone, Debug, Default)]
struct Inode {
    /// What is in it, if it is a directory.
    directory: Option<Box<Directory>>,
    bytes: u64,
    links: u32,
    extents: Extents,
    /// Blocks that were written and have no place yet.
    delayed: Runs,
    /// Blocks kept behind its last ones while it grows: its first block that they are for, and where.
    kept: Option<(u64, std::ops::Range<u64>)>,
    /// A program has it open, and has made it or written to it.
    is_open: bool,
    /// It was read since it was last changed: reading it again does not change the time (`relatime`).
    accessed: bool,
    /// For a directory: the group of the last directory made in it.
    last_group: Option<u64>,
    /// When it was last written to, as exactly as its times are kept.
    changed: Option<Nanos>,
    /// The transaction that changed it last.
    transaction: u64,
}

/// A file system.
#[derive(Clone, Debug)]
pub struct Ext4 {
    geometry: Geometry,
    /// Files with extents whose data were not on the disk when they were placed.
    unwritten: BTreeSet<Ino>,
    /// The operation behind which the running transaction is locked.
    locks_behind: Option<u64>,
    /// What is kept for marking them, where there is a journal.
    reserved: Option<Reserved>,
    mount: Mount,
    seed: Seed,
    groups: Groups,
    blocks: Blocks,
    inodes: BTreeMap<Ino, Inode>,
    journal: Option<Journal>,
    /// Operations whose steps are not all taken, where there is no journal, and what they free.
    handles: handle::Handles,
    /// Blocks promised to files that are written later.
    delayed_blocks: u64,
    /// Files that have been given delayed blocks since all was last settled.
    delayed_files: BTreeSet<Ino>,
    /// The superblock was told where it is mounted (`ext4_sample_last_mounted`).
    mount_is_noted: bool,
    now: Nanos,
    steps: Vec<Step>,
}

impl Ext4 {
    /// The file system that mke2fs makes: a root directory, and lost+found in it. Names are hashed from
    /// `hash_seed` on (`mke2fs -E hash_seed`).
    pub fn new(geometry: Geometry, mount: Mount, hash_seed: [u32; 4]) -> Self {
        let blocks = Blocks::new(&geometry);
        let groups = Groups::new(&geometry);
        let journal_blocks: u64 = geometry.journal.iter().map(|run| run.end - run.start).sum();
        let has_journal = journal_blocks > 0;
        let mut ext4 = Ext4 {
            seed: hash_seed,
            journal: has_journal
                .then(|| Journal::new(journal_blocks, geometry.options.block_bytes)),
            groups,
            blocks,
            inodes: BTreeMap::new(),
            handles: handle::Handles::default(),
            delayed_blocks: 0,
            delayed_files: BTreeSet::new(),
            mount_is_noted: false,
            now: 0,
            steps: Vec::new(),
            mount,
            geometry,
            unwritten: BTreeSet::new(),
            locks_behind: None,
            reserved: None,
        };
        ext4.make_first_directories();
        let geometry = &ext4.geometry;
        let (groups, descriptors) = (geometry.groups.len() as u64, geometry.descriptor_blocks);
        let reserved =
            |journal: &Journal| Reserved::new(journal.transaction_blocks(), groups, descriptors);
        ext4.reserved = ext4.journal.as_ref().map(reserved);
        ext4
    }

    fn make_first_directories(&mut self) {
        let block_bytes = self.geometry.options.block_bytes;
        let mut root = Directory::new(ROOT, block_bytes, self.seed);
        root.insert("lost+found", LOST_AND_FOUND, true);
        let mut extents = Extents::default();
        let block = self.geometry.root_block;
        extents.append(0, block..block + 1);
        let root = Inode { extents, links: 3, ..directory_inode(root, block_bytes) };
        let lost = Directory::new(ROOT, block_bytes, self.seed);
        let mut lost = Inode { links: 2, ..directory_inode(lost, block_bytes) };
        for run in self.geometry.lost_blocks.clone() {
            lost.extents.append(lost.extents.blocks(), run);
        }
        lost.bytes = lost.extents.blocks() * block_bytes;
        self.inodes.extend([(ROOT, root), (LOST_AND_FOUND, lost)]);
        self.groups.get_mut(0).directories = 2;
    }

    /// Its geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// How it is mounted.
    pub fn mount(&self) -> Mount {
        self.mount
    }

    fn inode(&self, ino: Ino) -> &Inode {
        self.inodes.get(&ino).expect("an inode in use has a body")
    }

    fn inode_mut(&mut self, ino: Ino) -> &mut Inode {
        self.inodes.get_mut(&ino).expect("an inode in use has a body")
    }

    fn directory(&self, ino: Ino) -> Result<&Directory, FsError> {
        let inode = self.inodes.get(&ino).ok_or(FsError::NoEntry)?;
        inode.directory.as_deref().ok_or(FsError::NotDirectory)
    }

    fn directory_mut(&mut self, ino: Ino) -> &mut Directory {
        self.inode_mut(ino).directory.as_deref_mut().expect("it was looked up as a directory")
    }

    fn extent_of(&self, blocks: std::ops::Range<u64>) -> Extent {
        let sectors = self.geometry.block_sectors();
        Extent {
            sector: blocks.start * sectors,
            sectors: ((blocks.end - blocks.start) * sectors) as u32,
        }
    }

    /// A block of the file system's own.
    fn metadata(&self, block: u64) -> Block {
        Block {
            extent: self.extent_of(block..block + 1),
            pool: Pool::Metadata,
            delay: Delay::Metadata,
            owner: BLOCK_DEVICE,
        }
    }

    fn read(&mut self, block: u64) {
        let block = self.metadata(block);
        self.steps.push(Step::Read(block));
    }

    /// A block of metadata changes: as part of the running transaction, or just so.
    fn change(&mut self, block: u64, fresh: bool) {
        self.wait_for_log(block);
        let write = match &mut self.journal {
            Some(journal) => {
                journal.join(block);
                Write::Hold
            }
            None => Write::Later,
        };
        let block = self.metadata(block);
        let change = Step::Change { block, fresh, write, purpose: 0 };
        // Twice in one operation is once.
        if !self.steps.iter().rev().take(12).any(|step| *step == change) {
            self.steps.push(change);
        }
    }

    fn change_super(&mut self) {
        let block = self.geometry.super_block();
        self.change(block, false);
    }

    fn change_descriptor(&mut self, group: u64) {
        let block = self.geometry.descriptor_block(group);
        self.change(block, false);
    }

    /// An inode changes in its block of the table, which need not be read where no other inode in it is
    /// in use (`__ext4_get_inode_loc`).
    fn change_inode(&mut self, ino: Ino) {
        let per_block = self.geometry.inodes_per_block() as Ino;
        let first = (ino - 1) / per_block * per_block + 1;
        let is_alone =
            (first..first + per_block).all(|other| other == ino || !self.groups.has_inode(other));
        let block = self.geometry.inode_block(ino);
        self.change(block, is_alone);
        if let Some(journal) = &self.journal {
            self.inode_mut(ino).transaction = journal.running();
        }
    }

    /// Reads an inode's block of the table, and the ones around it ahead (`inode_readahead_blks`).
    fn read_inode(&mut self, ino: Ino) {
        let block = self.geometry.inode_block(ino);
        let table = &self.geometry.groups[self.groups.of_inode(ino) as usize].inode_table;
        let first = (block / AHEAD_BLOCKS * AHEAD_BLOCKS).max(table.start);
        let last = (block / AHEAD_BLOCKS + 1) * AHEAD_BLOCKS;
        let used = self.groups.get(self.groups.of_inode(ino)).used_inodes;
        let used = table.start + used.div_ceil(self.geometry.inodes_per_block());
        let end = last.min(table.end).min(used.max(block + 1));
        let (blocks, wanted) = ((end - first) as u32, (block - first) as u32);
        self.steps.push(Step::Prefetch { first: self.metadata(first), blocks, wanted });
        self.read(block);
    }

    fn read_block_bitmap(&mut self, group: u64) {
        let state = self.groups.get(group);
        if !(state.blocks_are_untouched || state.bitmap_is_new) {
            let bitmap = self.geometry.groups[group as usize].block_bitmap;
            self.read(bitmap);
        }
    }

    fn change_block_bitmaps(&mut self, blocks: std::ops::Range<u64>) {
        let groups = self.geometry.group_of(blocks.start)..=self.geometry.group_of(blocks.end - 1);
        for group in groups {
            let bitmap = self.geometry.groups[group as usize].block_bitmap;
            let is_new = std::mem::take(&mut self.groups.get_mut(group).bitmap_is_new);
            self.change(bitmap, is_new);
            self.change_descriptor(group);
        }
    }
}

fn directory_inode(directory: Directory, block_bytes: u64) -> Inode {
    Inode {
        bytes: directory.blocks() * block_bytes,
        directory: Some(Box::new(directory)),
        ..Inode::default()
    }
}

/// A seed for the hashes of names, as mke2fs draws one.
pub fn hash_seed(seed: u64) -> [u32; 4] {
    use rand_core::Rng;
    let mut random = rand_pcg::Pcg64Mcg::new(u128::from(seed) << 1 | 1);
    let [low, high] = [random.next_u64(), random.next_u64()];
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}
