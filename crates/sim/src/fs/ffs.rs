//! The Berkeley fast file system, as 4.4BSD and NetBSD 2 make it: what each operation touches.
//!
//! This is the file system without time. Bitmaps, inodes and directories are held as they would be on
//! the disk. An operation changes them at once, and answers with the [`Step`]s that a kernel would have
//! taken: blocks read, entries compared, blocks changed. The [`mount`] decides which changes are
//! synchronous. With soft updates, `soft_updates.rs` decides the order of writes.

pub mod geometry;
pub mod mount;

mod areas;
mod bodies;
mod check;
mod directory;
mod file;
mod group;
mod newfs;
mod operations;
mod place;
mod seam;
mod soft_updates;
mod survey;

use super::files::FsError;
pub use super::filesystem::Ino;
use super::filesystem::{Block, Step};
use super::kernel::{Delay, Extent, Pool};
use areas::Areas;
use bodies::Bodies;
use directory::Directory;
use geometry::Geometry;
use group::Group;
use mount::{Mount, Role};
use place::Totals;
use rand_pcg::Pcg64Mcg;
use soft_updates::SoftUpdates;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The root directory. 0 is no inode, and 1 once listed bad blocks.
pub const ROOT: Ino = 2;

/// Direct blocks of an inode.
const DIRECT_BLOCKS: u64 = 12;

/// How new directories and blocks are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where directories go.
    pub directories: DirectoryPlacement,
    /// Blocks of one file in a group before it moves to another (`newfs -e`); 0 for as many as one
    /// indirect block of the version points to.
    pub blocks_per_group: u32,
    /// Contiguous blocks before a gap (`newfs -a`, maxcontig).
    pub contiguous_blocks: u32,
    /// The gap, in blocks: the rotational delay (rotdelay) on this disk.
    pub gap_blocks: u32,
}

/// Where new directories go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryPlacement {
    /// 4.4BSD: of the groups with at least the mean of free inodes, the one with the fewest
    /// directories.
    Fewest,
    /// Orlov's, in NetBSD from 2.0 on: directories in the root are spread, all others stay near their
    /// parent.
    Near,
}

impl Placement {
    /// 4.4BSD's, without gaps, as on drives that buffer.
    pub const BSD44: Placement = Placement {
        directories: DirectoryPlacement::Fewest,
        blocks_per_group: 0,
        contiguous_blocks: 1,
        gap_blocks: 0,
    };
    /// NetBSD 2's.
    pub const NETBSD2: Placement =
        Placement { directories: DirectoryPlacement::Near, ..Placement::BSD44 };
}

/// A file or directory.
#[derive(Clone, Debug, Default)]
struct Inode {
    /// Its entries, if it is a directory.
    directory: Option<Box<Directory>>,
    bytes: u64,
    links: u32,
    /// The first fragment of each block.
    blocks: Vec<u32>,
    /// The first fragment of each indirect block, in the order in which they were needed.
    indirects: Vec<u32>,
}

/// A file system.
#[derive(Debug)]
pub struct Ffs {
    geometry: Geometry,
    areas: Areas,
    sectors: u64,
    placement: Placement,
    mount: Mount,
    soft_updates: SoftUpdates,
    /// Those that nothing has changed since newfs are one, where they are alike: a volume of 72 TB has hundreds of thousands.
    groups: Vec<Rc<Group>>,
    totals: Totals,
    inodes: Bodies,
    random: Pcg64Mcg,
    steps: Vec<Step>,
    /// Fragments that files can have.
    usable_frags: u64,
}

impl Ffs {
    /// The empty file system that newfs makes: a root directory and nothing else, mounted as `mount` says.
    ///
    /// # Errors
    ///
    /// Where there is no room for even that.
    pub fn new(
        geometry: Geometry,
        sectors: u64,
        placement: Placement,
        mount: Mount,
        seed: u64,
    ) -> Result<Self, FsError> {
        let groups = new_groups(&geometry, sectors);
        let totals = Totals::of(&groups.iter().map(Rc::as_ref));
        let frags_per_block = geometry.block_sectors() / geometry.frag_sectors();
        let mut ffs = Ffs {
            totals,
            usable_frags: totals.free_blocks * frags_per_block + totals.free_frags,
            inodes: Bodies::new(groups.len(), geometry.inodes_per_group),
            groups,
            areas: Areas::new(&geometry),
            geometry,
            sectors,
            placement,
            mount,
            soft_updates: SoftUpdates::default(),
            random: Pcg64Mcg::new(u128::from(seed) << 1 | 1),
            steps: Vec::new(),
        };
        for inode in 0..ROOT {
            ffs.take_inode_at(inode);
        }
        ffs.make_root()?;
        ffs.steps.clear();
        Ok(ffs)
    }

    /// Its geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn block_bytes(&self) -> u64 {
        self.geometry.options.block_bytes
    }

    fn frags_per_block(&self) -> u32 {
        (self.geometry.options.block_bytes / self.geometry.options.frag_bytes) as u32
    }

    fn inode(&self, ino: Ino) -> &Inode {
        self.inodes.get(self.split_inode(ino)).expect("an inode in use has a body")
    }

    fn inode_mut(&mut self, ino: Ino) -> &mut Inode {
        self.inodes.get_mut(self.areas.split_inode(ino)).expect("an inode in use has a body")
    }

    fn split_inode(&self, ino: Ino) -> (usize, usize) {
        self.areas.split_inode(ino)
    }

    fn group_of(&self, frag: u32) -> usize {
        self.areas.split_frag(frag).0
    }

    fn frag_extent(&self, frag: u32, frags: u32) -> Extent {
        let frag_sectors = self.geometry.frag_sectors();
        Extent { sector: u64::from(frag) * frag_sectors, sectors: frags * frag_sectors as u32 }
    }

    fn inode_block(&self, ino: Ino) -> Block {
        metadata(self.areas.inode_block(ino))
    }

    fn read(&mut self, block: Block) {
        self.steps.push(Step::Read(block));
    }

    fn change(&mut self, block: Block, fresh: bool, role: Role) {
        let write = self.mount.write(role);
        self.steps.push(Step::Change { block, fresh, write, purpose: role as u8 });
    }

    fn change_inode(&mut self, ino: Ino, role: Role) {
        let block = self.inode_block(ino);
        self.change(block, false, role);
    }

    /// Marks the group's bitmaps as changed; twice in one operation counts once.
    fn change_group(&mut self, group: usize) {
        let block = metadata(self.areas.group_block(group));
        let (write, purpose) = (self.mount.write(Role::Bitmaps), Role::Bitmaps as u8);
        let is_same = |step: &Step| match step {
            Step::Change { block: it, purpose: its, .. } => {
                it.extent.sector == block.extent.sector && *its == purpose
            }
            _ => false,
        };
        if !self.steps.iter().rev().take(12).any(is_same) {
            self.steps.push(Step::Change { block, fresh: false, write, purpose });
        }
    }
}

/// A metadata block.
fn metadata(sectors: std::ops::Range<u64>) -> Block {
    Block {
        extent: Extent { sector: sectors.start, sectors: (sectors.end - sectors.start) as u32 },
        pool: Pool::Metadata,
        delay: Delay::Metadata,
        owner: 0,
    }
}

/// The groups as newfs leaves them.
fn new_groups(geometry: &Geometry, sectors: u64) -> Vec<Rc<Group>> {
    let mut alike = BTreeMap::new();
    let mut group = |group| {
        let made = NewGroup::of(geometry, group, sectors);
        let key = (made.frags, made.own.start, made.own.end);
        Rc::clone(alike.entry(key).or_insert_with(|| Rc::new(made.group(geometry))))
    };
    (0..geometry.groups).map(&mut group).collect()
}

/// What makes a new group differ from others, in fragments from its start.
struct NewGroup {
    frags: u32,
    /// What is newfs's own. In all groups but the first, the space before the superblock copy is for data.
    own: std::ops::Range<u32>,
}

impl NewGroup {
    fn of(geometry: &Geometry, group: u64, sectors: u64) -> Self {
        let frag_sectors = geometry.frag_sectors();
        let base = group * geometry.group_frags;
        let frags = (sectors / frag_sectors - base).min(geometry.group_frags) as u32;
        let superblock = (geometry.superblock(group).start / frag_sectors - base) as u32;
        let data = (geometry.inode_area(group).end / frag_sectors - base) as u32;
        NewGroup { frags, own: if group == 0 { 0..data } else { superblock..data } }
    }

    /// The group, with its metadata blocks allocated.
    fn group(self, geometry: &Geometry) -> Group {
        let frags_per_block = (geometry.options.block_bytes / geometry.options.frag_bytes) as u32;
        let inodes = geometry.inodes_per_group as u32;
        let mut made = Group::new(self.frags, frags_per_block, inodes);
        made.reserve(self.own);
        made.initialised_inodes = match geometry.options.version {
            geometry::Version::Ufs1 => inodes,
            // newfs writes two blocks of inodes; the others are written when they are needed.
            geometry::Version::Ufs2 => 2 * geometry.inodes_per_block() as u32,
        };
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geometry::{Newfs, Options, Version};
    use std::collections::BTreeSet;

    #[test]
    fn groups_that_are_alike_take_no_memory_of_their_own() {
        let options = Options {
            newfs: Newfs::NetBsd2,
            version: Version::Ufs2,
            block_bytes: 16_384,
            frag_bytes: 2048,
            density_bytes: None,
        };
        let sectors = 72_000_000_000_000 / block::SECTOR_BYTES;
        let geometry = Geometry::new(options, sectors).unwrap();
        let groups = new_groups(&geometry, sectors);
        assert!(groups.len() > 100_000, "{}", groups.len());
        let apart: BTreeSet<_> = groups.iter().map(Rc::as_ptr).collect();
        // The first, those in the middle, the last.
        assert_eq!(apart.len(), 3);
    }
}
