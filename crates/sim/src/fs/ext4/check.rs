//! The model's e2fsck: nothing owned twice, nothing lost, all counts right.

use super::geometry::RESERVED_INODES;
use super::{Ext4, Ino, ROOT};
use std::collections::BTreeMap;

impl Ext4 {
    /// Checks the file system from the root down.
    pub(super) fn check_all(&self) {
        let mut owners = BTreeMap::new();
        let (mut inodes, mut directories, mut delayed) = (0, 0, 0);
        let mut open = vec![ROOT];
        while let Some(ino) = open.pop() {
            inodes += 1;
            assert!(self.groups.has_inode(ino), "inode {ino} is named but free");
            self.claim(ino, &mut owners);
            let inode = self.inode(ino);
            delayed += inode.delayed.count(0..u64::MAX);
            let Some(directory) = &inode.directory else {
                assert_eq!(inode.links, 1, "file {ino} has one name");
                continue;
            };
            directories += 1;
            assert_eq!(inode.delayed.count(0..u64::MAX), 0, "directory {ino} has delayed blocks");
            if ino > RESERVED_INODES {
                assert_eq!(directory.blocks(), inode.extents.blocks(), "blocks of directory {ino}");
            }
            let below = directory.entries().filter(|&(.., is_directory)| is_directory);
            assert_eq!(inode.links as usize, 2 + below.count(), "names of {ino}");
            for (_, child, is_directory) in directory.entries() {
                let child_directory = &self.inode(child).directory;
                assert_eq!(child_directory.is_some(), is_directory, "what {child} is");
                if let Some(below) = child_directory {
                    assert_eq!(below.parent, ino, "directory {child} is in two places");
                }
                open.push(child);
            }
        }
        assert_eq!(delayed, self.delayed_blocks, "blocks that are promised");
        self.check_counts(inodes, directories, &owners);
    }

    /// Every block of a file is in use, and by nobody else.
    fn claim(&self, ino: Ino, owners: &mut BTreeMap<u64, (u64, Ino)>) {
        let inode = self.inode(ino);
        let block_bytes = self.geometry.options.block_bytes;
        let tree = inode.extents.tree.iter().map(|&block| block..block + 1);
        for run in inode.extents.runs().iter().map(super::extents::Run::places).chain(tree) {
            let before = owners.range(..run.end).next_back();
            if let Some((_, &(end, owner))) = before {
                assert!(end <= run.start, "{run:?} belongs to {owner} and {ino}");
            }
            assert!(!self.blocks.has_free(run.clone()), "{run:?} of {ino} is free");
            owners.insert(run.start, (run.end, ino));
        }
        let tree_blocks = inode.extents.tree_blocks(block_bytes);
        assert!(inode.extents.tree.len() as u64 >= tree_blocks, "blocks of extents of {ino}");
        let end = inode.extents.runs().last().map_or(0, |run| run.logical + run.blocks);
        assert!(end <= inode.bytes.div_ceil(block_bytes), "{ino} has blocks behind its end");
    }

    fn check_counts(&self, inodes: u64, directories: u64, owners: &BTreeMap<u64, (u64, Ino)>) {
        let sum = |of: fn(&super::groups::Group) -> u64| self.groups.iter().map(of).sum::<u64>();
        assert_eq!(sum(|group| group.directories), directories, "directories");
        let all_inodes = self.groups.count() * self.geometry.group_inodes;
        // Of the reserved inodes, the root and lost+found are counted.
        let reserved = u64::from(RESERVED_INODES) - 2;
        assert_eq!(all_inodes - sum(|group| group.free_inodes), inodes + reserved, "inodes");
        let first = self.geometry.root_block..self.geometry.root_block + 1;
        let lost = self.geometry.lost_blocks.iter().cloned();
        let made: u64 = lost.chain([first]).map(|run| run.end - run.start).sum();
        let used: u64 = owners.iter().map(|(start, (end, _))| end - start).sum();
        let left = self.geometry.free.count(0..self.geometry.blocks);
        assert_eq!(sum(|group| group.free_blocks), left + made - used, "what groups count as free");
        let kept: u64 = self
            .inodes
            .values()
            .filter_map(|inode| inode.kept.as_ref())
            .fold(0, |sum, (_, places)| sum + places.end - places.start);
        let free = self.blocks.free_blocks() + kept + self.freed_blocks();
        assert_eq!(free + used, left + made, "blocks in files and free ones are all there are");
    }

    /// Checks that all is committed and in its place.
    pub(super) fn check_idle(&self) {
        assert_eq!(self.delayed_blocks, 0, "blocks have no place");
        if let Some(journal) = &self.journal {
            assert!(journal.is_idle(), "the journal has something to do");
        }
        assert_eq!(self.freed_blocks(), 0, "blocks are neither in use nor free");
    }
}
