//! The blocks that fsck(8) reads, in order.
//!
//! ```text
//! phase 1   each group's block (NetBSD), then its inodes, side by side, 56 KiB at a time and
//!           more where that is no whole block; of an inode with indirect blocks, those
//! phase 2   the blocks of all directories, in the order of their first ones
//! phase 3   where directories are, phase 4 how many names each inode has: nothing is read
//! phase 5   each group's block, to compare its bitmaps
//! ```
//!
//! Version 1 reads all inodes, in use or not. Version 2 records in each group how many were ever
//! written (`cg_initediblk`) and reads no others: that is why it is faster. After soft updates, `fsck
//! -p` on NetBSD stops in each group at the last inode in use.

use super::geometry::{AREA_BYTES, SUMMARY_BYTES, Version};
use super::mount::{Mode, System};
use super::{DIRECT_BLOCKS, Ffs, Ino, Inode};
use crate::fs::filesystem::{Access, Look, Survey};
use crate::fs::kernel::Extent;
use block::Op;
use std::ops::Range;

/// The size of fsck's reads of inodes (`INOBUFSIZE`), in bytes.
const INODE_BYTES: u64 = 56 << 10;

impl Ffs {
    /// The steps of `fsck -p` on it, as it is mounted.
    pub fn survey(&self) -> Survey {
        let set_up = self.superblock_reads().into_iter();
        let set_up = set_up.chain([self.last_superblock_copy()]).chain(self.summary());
        let mut survey = Survey {
            set_up: set_up.map(Look::Read).collect(),
            finish: vec![(Op::WRITE, self.superblock())],
            ..Survey::default()
        };
        for group in 0..self.geometry.groups {
            let block = Look::Read(extent(&self.geometry.group_block(group)));
            if self.mount.system == System::NetBsd2 {
                survey.inodes.push(block);
            }
            self.look_at_inodes(group, &mut survey);
            survey.groups.push(block);
        }
        survey.directories = self.look_at_directories();
        survey
    }

    /// The inodes of a group that fsck reads.
    fn look_at_inodes(&self, group: u64, survey: &mut Survey) {
        let bits = &self.groups[group as usize];
        let mut end = match self.geometry.options.version {
            Version::Ufs1 => self.geometry.inodes_per_group,
            Version::Ufs2 => u64::from(bits.initialised_inodes).min(self.geometry.inodes_per_group),
        };
        if self.mount.mode == Mode::SoftUpdates && self.mount.system == System::NetBsd2 {
            end = end.min(u64::from(bits.inodes_up_to_last_used()));
        }
        let block_sectors = self.geometry.block_sectors();
        let step_sectors = (INODE_BYTES / block::SECTOR_BYTES).next_multiple_of(block_sectors);
        let step_inodes = step_sectors / block_sectors * self.geometry.inodes_per_block();
        let area = self.geometry.inode_area(group);
        for (number, inode) in (0..).zip((0..end).step_by(step_inodes as usize)) {
            let start = area.start + number * step_sectors;
            let read = extent(&(start..(start + step_sectors).min(area.end)));
            survey.inode_sectors += u64::from(read.sectors);
            let here = inode..(inode + step_inodes).min(end);
            survey.inodes.push(Look::Read(read));
            survey.inodes.push(Look::Inodes(here.end - here.start));
            for inode in here {
                let body = self.inodes.get((group as usize, inode as usize));
                let indirects = body.into_iter().flat_map(|body| self.indirects(body));
                survey.inodes.extend(indirects);
            }
        }
    }

    /// The indirect blocks of a file.
    fn indirects<'a>(&'a self, inode: &'a Inode) -> impl Iterator<Item = Look> + 'a {
        let whole = self.frags_per_block();
        inode.indirects.iter().map(move |&frag| Look::Read(self.frag_extent(frag, whole)))
    }

    /// All directories.
    fn look_at_directories(&self) -> Vec<Look> {
        let per_group = self.geometry.inodes_per_group;
        let all = self.inodes.iter().filter_map(|((group, within), body)| {
            let ino = group as u64 * per_group + within as u64;
            Some((ino as Ino, body, body.directory.as_deref()?))
        });
        let mut directories: Vec<_> = all.collect();
        directories.sort_by_key(|(_, inode, _)| inode.blocks.first().copied());
        let mut looks = Vec::new();
        for (ino, inode, directory) in directories {
            for index in 0..inode.blocks.len() as u64 {
                if index == DIRECT_BLOCKS {
                    looks.extend(self.indirects(inode));
                }
                looks.push(Look::Read(self.file_block(ino, index).extent));
            }
            looks.push(Look::Entries(2 + directory.entries().count() as u64));
        }
        looks
    }

    /// What mount(8) does for writing: reads the superblock and the summary, and writes both back,
    /// because the file system is not clean from now on (`ffs_cgupdate`).
    pub(super) fn mount_accesses(&self) -> Vec<Access> {
        let reads = self.superblock_reads().into_iter().chain(self.summary());
        reads.map(|extent| (Op::Read, extent)).chain(self.write_back()).collect()
    }

    /// What umount(8) writes: the superblock and the summary, then the superblock again, marked clean.
    pub(super) fn unmount_accesses(&self) -> Vec<Access> {
        self.write_back().chain([(Op::WRITE, self.superblock())]).collect()
    }

    fn write_back(&self) -> impl Iterator<Item = Access> {
        [self.superblock()].into_iter().chain(self.summary()).map(|extent| (Op::WRITE, extent))
    }

    /// The superblock.
    fn superblock(&self) -> Extent {
        superblock_at(self.geometry.options.version)
    }

    /// The places where a system looks for the superblock until it finds one: NetBSD tries version 2's
    /// first.
    fn superblock_reads(&self) -> Vec<Extent> {
        let mut reads = vec![self.superblock()];
        if self.mount.system == System::NetBsd2 {
            reads.insert(0, superblock_at(Version::Ufs2));
        }
        reads.dedup();
        reads
    }

    /// The superblock copy in the last group, which fsck compares.
    fn last_superblock_copy(&self) -> Extent {
        extent(&self.geometry.superblock(self.geometry.groups - 1))
    }

    /// The summary of all groups, in whole fragments and a block at a time. It is behind the first
    /// group's inodes; the model does not reserve that space.
    fn summary(&self) -> Vec<Extent> {
        let frag_sectors = self.geometry.frag_sectors();
        let bytes = self.geometry.groups * SUMMARY_BYTES;
        let sectors = bytes.div_ceil(block::SECTOR_BYTES).next_multiple_of(frag_sectors);
        let start = self.geometry.inode_area(0).end;
        let block_sectors = self.geometry.block_sectors();
        let end = start + sectors;
        let blocks = (start..end).step_by(block_sectors as usize);
        blocks.map(|sector| extent(&(sector..(sector + block_sectors).min(end)))).collect()
    }
}

/// The superblock where `version` has it.
fn superblock_at(version: Version) -> Extent {
    let start = version.superblock_byte() / block::SECTOR_BYTES;
    extent(&(start..start + AREA_BYTES / block::SECTOR_BYTES))
}

fn extent(sectors: &Range<u64>) -> Extent {
    Extent { sector: sectors.start, sectors: (sectors.end - sectors.start) as u32 }
}
