//! Where new directories, inodes and blocks go: FFS's allocation policies.

use super::geometry::Version;
use super::group::Group;
use super::mount::Role;
use super::{DIRECT_BLOCKS, DirectoryPlacement, Ffs, Ino, ROOT, metadata};
use crate::fs::files::FsError;
use crate::fs::filesystem::Step;
use rand_core::Rng;
use std::rc::Rc;

/// The expected size of a file and of a directory (`newfs -g -h`), for placing directories.
const FILE_BYTES_EXPECTED: u64 = 16_384;
const FILES_EXPECTED: u64 = 64;

/// The groups' counts, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) free_blocks: u64,
    pub(super) free_frags: u64,
    pub(super) free_inodes: u64,
    pub(super) directories: u64,
}

impl Totals {
    pub(super) fn of<'a>(groups: &(impl Iterator<Item = &'a Group> + Clone)) -> Self {
        let sum = |count: fn(&Group) -> u32| groups.clone().map(|g| u64::from(count(g))).sum();
        Totals {
            free_blocks: sum(|group| group.free_blocks),
            free_frags: sum(|group| group.free_frags),
            free_inodes: sum(|group| group.free_inodes),
            directories: sum(|group| group.directories),
        }
    }
}

impl Ffs {
    /// Changes a group, and updates the totals.
    pub(super) fn with_group<T>(&mut self, group: usize, work: impl FnOnce(&mut Group) -> T) -> T {
        let group = Rc::make_mut(&mut self.groups[group]);
        let before = Totals::of(&std::iter::once(&*group));
        let result = work(group);
        let after = Totals::of(&std::iter::once(&*group));
        let totals = &mut self.totals;
        totals.free_blocks = totals.free_blocks + after.free_blocks - before.free_blocks;
        totals.free_frags = totals.free_frags + after.free_frags - before.free_frags;
        totals.free_inodes = totals.free_inodes + after.free_inodes - before.free_inodes;
        totals.directories = totals.directories + after.directories - before.directories;
        result
    }

    /// The group where a new directory in `parent` goes.
    fn directory_group(&mut self, parent: Ino) -> usize {
        match self.placement.directories {
            DirectoryPlacement::Fewest => self.group_with_fewest_directories(),
            DirectoryPlacement::Near => self.group_near(parent),
        }
    }

    fn group_with_fewest_directories(&self) -> usize {
        let mean_inodes = self.totals.free_inodes / self.groups.len() as u64;
        let roomy = |index: &usize| u64::from(self.groups[*index].free_inodes) >= mean_inodes;
        let fewest = (0..self.groups.len())
            .filter(roomy)
            .min_by_key(|&index| self.groups[index].directories);
        fewest.unwrap_or(0)
    }

    /// Orlov's: directories in the root go where there is room, starting at a random group. Others go
    /// near their parent, unless too many are there already or too little is free.
    fn group_near(&mut self, parent: Ino) -> usize {
        let count = self.groups.len() as u64;
        let totals = self.totals;
        let (mean_inodes, mean_blocks) = (totals.free_inodes / count, totals.free_blocks / count);
        let mean_directories = totals.directories / count;
        let first = if parent == ROOT {
            (self.random.next_u64() % count) as usize
        } else {
            self.split_inode(parent).0
        };
        let groups = &self.groups;
        let all = || (first..groups.len()).chain(0..first);
        if parent == ROOT {
            let roomy = |index: &usize| {
                let group = &groups[*index];
                u64::from(group.free_inodes) >= mean_inodes
                    && u64::from(group.free_blocks) >= mean_blocks
            };
            return all()
                .filter(roomy)
                .min_by_key(|&index| groups[index].directories)
                .unwrap_or(first);
        }
        let geometry = &self.geometry;
        let group_bytes = geometry.group_frags * geometry.options.frag_bytes;
        let group_blocks = geometry.group_frags / u64::from(self.frags_per_block());
        let inodes = geometry.inodes_per_group;
        let directories_max = (mean_directories + inodes / 16).min(inodes);
        let inodes_min = mean_inodes.saturating_sub(inodes / 4).max(1);
        let blocks_min = mean_blocks.saturating_sub(group_blocks / 4).max(1);
        let used_bytes = group_bytes.saturating_sub(mean_blocks * self.block_bytes());
        let directory_bytes = (FILE_BYTES_EXPECTED * FILES_EXPECTED)
            .max(used_bytes.checked_div(mean_directories).unwrap_or(0));
        let recent_max = (mean_blocks * self.block_bytes() / directory_bytes)
            .min(255)
            .min(inodes / FILES_EXPECTED)
            .max(1);
        let near = all().find(|&index| {
            let group = &groups[index];
            u64::from(group.directories) < directories_max
                && u64::from(group.free_inodes) >= inodes_min
                && u64::from(group.free_blocks) >= blocks_min
                && u64::from(group.recent_directories) < recent_max
        });
        near.or_else(|| all().find(|&index| u64::from(groups[index].free_inodes) >= mean_inodes))
            .unwrap_or(first)
    }

    /// A new inode, for a directory or a file in `parent`.
    pub(super) fn take_inode(&mut self, parent: Ino, directory: bool) -> Result<Ino, FsError> {
        let (group, preferred) = if directory {
            (self.directory_group(parent), 0)
        } else {
            let (group, within) = self.split_inode(parent);
            (group, within as u32)
        };
        let found = self.in_some_group(group, |ffs, index| {
            let preferred = (index == group).then_some(preferred);
            ffs.with_group(index, |group| group.take_inode(preferred))
        });
        let (group, within) = found.ok_or(FsError::NoInodes)?;
        self.with_group(group, |group| {
            group.directories += u32::from(directory);
            if directory {
                group.recent_directories = (group.recent_directories + 1).min(255);
            } else {
                group.recent_directories = group.recent_directories.saturating_sub(1);
            }
        });
        self.change_group(group);
        let ino = (group as u64 * self.geometry.inodes_per_group) as Ino + within;
        self.initialise_inodes(group, within);
        self.inodes.add((group, within as usize));
        Ok(ino)
    }

    /// Allocates an inode.
    pub(super) fn take_inode_at(&mut self, ino: Ino) {
        let (group, within) = self.split_inode(ino);
        self.with_group(group, |group| group.take_inode(Some(within as u32)));
    }

    /// UFS2 writes the next block of inodes before the last one written is used up.
    fn initialise_inodes(&mut self, group: usize, within: u32) {
        let per_block = self.geometry.inodes_per_block() as u32;
        let done = self.groups[group].initialised_inodes;
        let all = self.geometry.inodes_per_group as u32;
        if self.geometry.options.version == Version::Ufs2 && within + per_block > done && done < all
        {
            let ino = group as u64 * self.geometry.inodes_per_group + u64::from(done);
            let block = metadata(self.geometry.inode_block(ino));
            self.change(block, true, Role::FreshInodes);
            Rc::make_mut(&mut self.groups[group]).initialised_inodes += per_block;
        }
    }

    /// Frees an inode.
    pub(super) fn free_inode(&mut self, ino: Ino, directory: bool) {
        let (group, within) = self.split_inode(ino);
        self.inodes.remove((group, within));
        self.with_group(group, |group| {
            group.free_inode(within as u32);
            group.directories -= u32::from(directory);
        });
        self.change_group(group);
    }

    /// Tries `group`, then groups at growing distances, then all others.
    fn in_some_group<T>(
        &mut self,
        group: usize,
        mut attempt: impl FnMut(&mut Self, usize) -> Option<T>,
    ) -> Option<(usize, T)> {
        let count = self.groups.len();
        let mut step = 0;
        let mut index = group;
        while step < count {
            index = (index + step) % count;
            if let Some(found) = attempt(self, index) {
                return Some((index, found));
            }
            step = (step * 2).max(1);
        }
        for index in (group + 2..count).chain(0..(group + 2).min(count)) {
            if let Some(found) = attempt(self, index) {
                return Some((index, found));
            }
        }
        None
    }

    /// Allocates `frags` fragments as near to `preferred` as possible.
    pub(super) fn take_frags(&mut self, preferred: u32, frags: u32) -> Result<u32, FsError> {
        let per_group = self.geometry.group_frags as u32;
        let wanted = self.group_of(preferred).min(self.groups.len() - 1);
        let found = self.in_some_group(wanted, |ffs, index| {
            let group = &ffs.groups[index];
            if group.free_blocks == 0 && (frags == ffs.frags_per_block() || group.free_frags == 0) {
                return None;
            }
            let preferred =
                (index as u32 == preferred / per_group).then_some(preferred % per_group);
            ffs.with_group(index, |group| group.take_frags(preferred, frags))
        });
        let (group, frag) = found.ok_or(FsError::NoSpace)?;
        self.change_group(group);
        Ok(group as u32 * per_group + frag)
    }

    /// Frees fragments of one block.
    pub(super) fn free_frags(&mut self, frag: u32, frags: u32) {
        let (group, within) = self.areas.split_frag(frag);
        self.with_group(group, |group| group.free(within, frags));
        self.change_group(group);
        let extent = self.frag_extent(frag, frags);
        self.steps.push(Step::Forget(extent));
    }

    /// Where block `index` of a file should go. A file's first blocks are near its inode. Each next
    /// block follows the one before. After a fixed number the file moves to another group with room.
    pub(super) fn preferred_frag(&self, ino: Ino, index: u64) -> u32 {
        let blocks_per_group = u64::from(self.blocks_per_group());
        let pointers = self.pointers_per_block();
        let in_table =
            if index < DIRECT_BLOCKS { index } else { (index - DIRECT_BLOCKS) % pointers };
        let before = (in_table > 0).then(|| self.inode(ino).blocks[index as usize - 1]);
        match before {
            Some(before) if !in_table.is_multiple_of(blocks_per_group) => {
                let run = self.placement.contiguous_blocks.max(1);
                let block = self.frags_per_block();
                let gap = if (index as u32).is_multiple_of(run) {
                    self.placement.gap_blocks * block
                } else {
                    0
                };
                before + block + gap
            }
            _ if index < self.near_inode_blocks() => self.group_data(self.split_inode(ino).0),
            _ => {
                let start = match before {
                    Some(before) => self.group_of(before) + 1,
                    None => self.split_inode(ino).0 + (index / blocks_per_group) as usize,
                };
                self.group_data(self.group_with_room(start % self.groups.len()))
            }
        }
    }

    /// How many of a file's first blocks go near its inode: FreeBSD 2's `ffs_blkpref` stops at the
    /// twelve direct ones (`ffs_alloc.c` 1.19, 1995), NetBSD's after the first indirect block's.
    fn near_inode_blocks(&self) -> u64 {
        match self.placement.directories {
            DirectoryPlacement::Fewest => DIRECT_BLOCKS,
            DirectoryPlacement::Near => DIRECT_BLOCKS + self.pointers_per_block(),
        }
    }

    fn group_data(&self, group: usize) -> u32 {
        group as u32 * self.geometry.group_frags as u32 + self.frags_per_block()
    }

    fn group_with_room(&self, start: usize) -> usize {
        let mean = self.totals.free_blocks / self.groups.len() as u64;
        (start..self.groups.len())
            .chain(0..start)
            .find(|&index| u64::from(self.groups[index].free_blocks) >= mean)
            .unwrap_or(start)
    }

    fn blocks_per_group(&self) -> u32 {
        match self.placement.blocks_per_group {
            0 => self.pointers_per_block() as u32,
            blocks => blocks,
        }
    }

    /// The blocks that an indirect block points to.
    pub(super) fn pointers_per_block(&self) -> u64 {
        let pointer_bytes = match self.geometry.options.version {
            Version::Ufs1 => 4,
            Version::Ufs2 => 8,
        };
        self.block_bytes() / pointer_bytes
    }
}
