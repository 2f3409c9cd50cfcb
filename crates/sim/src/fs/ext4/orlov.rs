//! Where new inodes go: directories of the root are spread over the flex groups, everything else stays
//! near its parent.
//!
//! ```text
//! a directory in the root   from the flex group that the hash of its name gives, the first of those with the
//!                           fewest directories, among those with free inodes and blocks not below the mean
//! a directory elsewhere     the parent's flex group, while it has not too many directories and enough room
//! a file                    the first group with a free inode in the parent's flex group
//! ```
//!
//! After Linux 6.1 `fs/ext4/ialloc.c` (`find_group_orlov`, `find_group_other`).

use super::groups::Groups;
use super::hash::{Seed, name_hash};

/// What the search starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    /// The group of the parent's inode.
    pub(super) group: u64,
    /// Where the parent's last directory went, if it was another (`i_last_alloc_group`).
    pub(super) last_group: Option<u64>,
    /// The parent is the root.
    pub(super) is_root: bool,
}

/// Sums over all groups.
struct Means {
    free_inodes: u64,
    free_blocks: u64,
    directories: u64,
}

impl Groups {
    fn means(&self, delayed_blocks: u64) -> Means {
        let flex = self.flex_count();
        let sum = |of: fn(&super::groups::Group) -> u64| self.iter().map(of).sum::<u64>();
        Means {
            free_inodes: sum(|group| group.free_inodes) / flex,
            free_blocks: sum(|group| group.free_blocks).saturating_sub(delayed_blocks) / flex,
            directories: sum(|group| group.directories) / flex,
        }
    }

    fn first_with_inode(&self, flex: u64) -> Option<u64> {
        self.of_flex(flex).find(|&group| self.get(group).free_inodes > 0)
    }

    /// The group for a new directory; `None` where no inode is free. `delayed_blocks` are promised to
    /// files and not placed yet.
    pub(super) fn for_directory(
        &self,
        parent: Parent,
        name: &str,
        seed: Seed,
        delayed_blocks: u64,
    ) -> Option<u64> {
        let (flex_count, means) = (self.flex_count(), self.means(delayed_blocks));
        let from = |start: u64| (0..flex_count).map(move |step| (start + step) % flex_count);
        let found = if parent.is_root {
            let mut best: Option<(u64, u64)> = None;
            for flex in from(u64::from(name_hash(name, seed)) % flex_count) {
                let figures = self.figures(flex);
                let is_better = best.is_none_or(|(_, fewest)| figures.directories < fewest);
                if figures.free_inodes > 0
                    && is_better
                    && figures.free_inodes >= means.free_inodes
                    && figures.free_blocks >= means.free_blocks
                {
                    best = Some((flex, figures.directories));
                }
            }
            best.map(|(flex, _)| flex)
        } else {
            self.near(parent, &means)
        };
        found.and_then(|flex| self.first_with_inode(flex)).or_else(|| self.anywhere(parent.group))
    }

    /// The first flex group from the parent's on that has not too many directories and enough room.
    fn near(&self, parent: Parent, means: &Means) -> Option<u64> {
        let groups_per_flex = self.of_flex(0).count() as u64;
        let (inodes, blocks) = (self.inodes_per_group(), self.blocks_per_group());
        let directories_max = means.directories + inodes * groups_per_flex / 16;
        let inodes_min = means.free_inodes.saturating_sub(inodes * groups_per_flex / 4).max(1);
        let blocks_min = means.free_blocks.saturating_sub(blocks * groups_per_flex / 4);
        let start = parent.last_group.unwrap_or(parent.group) / groups_per_flex;
        let flex_count = self.flex_count();
        (0..flex_count).map(|step| (start + step) % flex_count).find(|&flex| {
            let figures = self.figures(flex);
            figures.directories < directories_max
                && figures.free_inodes >= inodes_min
                && figures.free_blocks >= blocks_min
        })
    }

    /// Any group with inodes not below the mean, or with one at all, from the parent's on.
    fn anywhere(&self, start: u64) -> Option<u64> {
        let count = self.count();
        let mean = self.iter().map(|group| group.free_inodes).sum::<u64>() / count;
        let least = |least: u64| {
            (0..count)
                .map(|step| (start + step) % count)
                .find(|&group| self.get(group).free_inodes >= least.max(1))
        };
        least(mean).or_else(|| least(1))
    }

    /// The group for a new file; `None` where no inode is free.
    pub(super) fn for_file(&self, parent: Parent, delayed_blocks: u64) -> Option<u64> {
        let groups_per_flex = self.of_flex(0).count() as u64;
        let of = |group: u64| self.first_with_inode(group / groups_per_flex);
        of(parent.group).or_else(|| parent.last_group.and_then(of)).or_else(|| {
            let next = parent.group + groups_per_flex;
            let group = if next < self.count() { next } else { 0 };
            let parent = Parent { group, last_group: None, is_root: false };
            let flex = self.near(parent, &self.means(delayed_blocks));
            flex.and_then(|flex| self.first_with_inode(flex)).or_else(|| self.anywhere(group))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Geometry, Options};
    use super::super::hash::MEASURED_SEED;
    use super::*;

    /// The flex groups of 32 directories in the root of the measured file system, as they were made.
    #[test]
    fn directories_in_the_root_go_where_the_real_ones_went() {
        let bytes = 64 << 30;
        let geometry = Geometry::new(Options::for_bytes(bytes), bytes / 512).unwrap();
        let mut groups = Groups::new(&geometry);
        groups.get_mut(0).directories = 2;
        // The directory that was there before.
        let mut make = |name: &str| {
            let parent = Parent { group: 0, last_group: None, is_root: true };
            let group = groups.for_directory(parent, name, MEASURED_SEED, 0).unwrap();
            let ino = groups.first_free_inode(group).unwrap();
            groups.take_inode(ino);
            groups.get_mut(group).directories += 1;
            groups.get_mut(group).free_blocks -= 1;
            ino
        };
        make("many");
        let fixture = include_str!("../../../tests/fixtures/ext4/root_directories.csv");
        for line in fixture.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let (name, ino) = line.split_once(',').unwrap();
            assert_eq!(make(name), ino.parse::<u32>().unwrap(), "{name}");
        }
    }
}
