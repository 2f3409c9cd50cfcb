//! The model's fsck(8): no fragment owned twice, none lost, all counts correct.

use super::place::Totals;
use super::{Ffs, Ino, ROOT};

impl Ffs {
    /// Checks the file system from the root down.
    ///
    /// # Panics
    ///
    /// Where anything is wrong, naming it.
    pub fn check(&self) {
        let frags = self.geometry.groups * self.geometry.group_frags;
        let mut owners: Vec<Ino> = vec![0; frags as usize];
        let (mut files, mut directories) = (0, 0);
        let mut open = vec![ROOT];
        while let Some(ino) = open.pop() {
            self.claim_blocks(ino, &mut owners);
            let inode = self.inode(ino);
            let Some(directory) = &inode.directory else {
                files += 1;
                assert_eq!(inode.links, 1, "file {ino} has one name");
                continue;
            };
            directories += 1;
            assert_eq!(directory.bytes(), inode.bytes, "directory {ino} is as long as its blocks");
            let children = open.len();
            open.extend(directory.entries().map(|(_, child)| child));
            let subdirectories =
                open[children..].iter().filter(|&&child| self.inode(child).directory.is_some());
            assert_eq!(inode.links as usize, 2 + subdirectories.count(), "names of {ino}");
            for (_, child) in directory.entries() {
                if let Some(below) = &self.inode(child).directory {
                    assert_eq!(below.parent, ino, "directory {child} is in two places");
                }
            }
        }
        self.check_counts(files, directories, &owners);
    }

    /// Every fragment of a file is in use, and by that file only.
    fn claim_blocks(&self, ino: Ino, owners: &mut [Ino]) {
        let (group, within) = self.split_inode(ino);
        assert!(self.groups[group].inode_used(within as u32), "inode {ino} is named but free");
        let inode = self.inode(ino);
        let whole = self.frags_per_block();
        let blocks =
            (0..).zip(&inode.blocks).map(|(i, &frag)| (frag, self.frags_in(inode.bytes, i)));
        for (first, count) in blocks.chain(inode.indirects.iter().map(|&frag| (frag, whole))) {
            for frag in first..first + count {
                let owner = std::mem::replace(&mut owners[frag as usize], ino);
                assert_eq!(owner, 0, "fragment {frag} belongs to {owner} and {ino}");
                let group = &self.groups[self.group_of(frag)];
                let within = frag % self.geometry.group_frags as u32;
                assert!(!group.is_free(within), "fragment {frag} of {ino} is free");
            }
        }
        let blocks = inode.bytes.div_ceil(self.block_bytes());
        assert_eq!(inode.blocks.len() as u64, blocks, "blocks of {ino}");
        let last = blocks.checked_sub(1);
        let indirects = last.and_then(|index| self.indirects_of(index).last());
        assert_eq!(inode.indirects.len(), indirects.map_or(0, |last| last + 1), "maps of {ino}");
    }

    fn check_counts(&self, files: u64, directories: u64, owners: &[Ino]) {
        assert_eq!(
            self.totals,
            Totals::of(&self.groups.iter().map(AsRef::as_ref)),
            "the totals are the groups' sum"
        );
        assert_eq!(self.totals.directories, directories, "directories");
        let inodes = self.geometry.groups * self.geometry.inodes_per_group;
        let reserved = u64::from(ROOT);
        assert_eq!(inodes - self.totals.free_inodes - reserved, files + directories, "inodes");
        for group in &self.groups {
            assert_eq!(
                group.count_free(),
                (group.free_blocks, group.free_frags),
                "a group's counts"
            );
        }
        let per_block = u64::from(self.frags_per_block());
        let used = owners.iter().filter(|&&owner| owner != 0).count() as u64;
        let free = self.totals.free_blocks * per_block + self.totals.free_frags;
        assert_eq!(
            used + free,
            self.usable_frags,
            "fragments in files and free ones are all there are"
        );
    }
}
