//! Where inodes and bitmaps are, and in which group something is: [`Geometry`]'s answers, which operations ask for all
//! the time, without its divisions.

use super::Ino;
use super::geometry::Geometry;
use block::Divisor;
use std::ops::Range;

/// What of a geometry is asked for again and again.
#[derive(Debug)]
pub(super) struct Areas {
    inodes_per_group: Divisor,
    inodes_per_block: Divisor,
    group_frags: Divisor,
    block_sectors: u64,
    /// By group: the first sector of its inodes, and that of its bitmaps.
    groups: Vec<(u64, u64)>,
}

impl Areas {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let starts = |group| (geometry.inode_area(group).start, geometry.group_block(group).start);
        Areas {
            inodes_per_group: Divisor::new(geometry.inodes_per_group),
            inodes_per_block: Divisor::new(geometry.inodes_per_block()),
            group_frags: Divisor::new(geometry.group_frags),
            block_sectors: geometry.block_sectors(),
            groups: (0..geometry.groups).map(starts).collect(),
        }
    }

    /// The group of an inode, and its place there.
    #[inline]
    pub(super) fn split_inode(&self, ino: Ino) -> (usize, usize) {
        let (group, within) = self.inodes_per_group.divide(u64::from(ino));
        (group as usize, within as usize)
    }

    /// The group of a fragment, and its place there.
    #[inline]
    pub(super) fn split_frag(&self, frag: u32) -> (usize, u32) {
        let (group, within) = self.group_frags.divide(u64::from(frag));
        (group as usize, within as u32)
    }

    /// The sectors of the block that holds an inode.
    #[inline]
    pub(super) fn inode_block(&self, ino: Ino) -> Range<u64> {
        let (group, within) = self.split_inode(ino);
        let block = self.inodes_per_block.quotient(within as u64);
        let start = self.groups[group].0 + block * self.block_sectors;
        start..start + self.block_sectors
    }

    /// The sectors of a group's bitmaps.
    #[inline]
    pub(super) fn group_block(&self, group: usize) -> Range<u64> {
        let start = self.groups[group].1;
        start..start + self.block_sectors
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Cylinders, Newfs, Options, Version};
    use super::*;

    #[test]
    fn they_are_where_the_geometry_says() {
        let bsd44 = Newfs::Bsd44(Cylinders { tracks: 7, track_sectors: 63, per_group: 16 });
        for (newfs, version) in [
            (bsd44, Version::Ufs1),
            (Newfs::Bsd44(Cylinders::CCD), Version::Ufs1),
            (Newfs::NetBsd2, Version::Ufs1),
            (Newfs::NetBsd2, Version::Ufs2),
        ] {
            let options = Options {
                newfs,
                version,
                block_bytes: 8192,
                frag_bytes: 1024,
                density_bytes: None,
            };
            let geometry = Geometry::new(options, 3_000_000).unwrap();
            let areas = Areas::new(&geometry);
            for group in 0..geometry.groups {
                assert_eq!(areas.group_block(group as usize), geometry.group_block(group));
            }
            for ino in (0..geometry.groups * geometry.inodes_per_group).step_by(61) {
                assert_eq!(areas.inode_block(ino as Ino), geometry.inode_block(ino));
                let per_group = geometry.inodes_per_group;
                let split = ((ino / per_group) as usize, (ino % per_group) as usize);
                assert_eq!(areas.split_inode(ino as Ino), split);
            }
            for frag in (0..geometry.groups * geometry.group_frags).step_by(997) {
                let per_group = geometry.group_frags;
                let split = ((frag / per_group) as usize, (frag % per_group) as u32);
                assert_eq!(areas.split_frag(frag as u32), split);
            }
        }
    }
}
