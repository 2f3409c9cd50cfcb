//! What mke2fs(8), mount(8), umount(8) and e2fsck(8) read and write past the cache.

use super::Ext4;
use super::geometry::has_super;
use super::mount::Barrier;
use crate::fs::filesystem::{Access, Look, Survey};
use crate::fs::kernel::Extent;
use block::Op;
use std::ops::Range;

const NOWHERE: Extent = Extent { sector: 0, sectors: 0 };

impl Ext4 {
    fn write_of(&self, blocks: Range<u64>) -> Access {
        (Op::WRITE, self.extent_of(blocks))
    }

    /// mke2fs with all inode tables and the journal written at once (`lazy_itable_init=0`,
    /// `lazy_journal_init=0`); without that, the kernel writes the tables after the first mount. It has the kernel write the zeros,
    /// a table or a run of the journal at a time (`ext2fs_zero_blocks2`, `blkdev_issue_zeroout`).
    pub(super) fn mkfs(&self) -> Box<dyn Iterator<Item = Access> + '_> {
        let geometry = &self.geometry;
        let tables = geometry.groups.iter().map(|places| self.write_of(places.inode_table.clone()));
        let journal = geometry.journal.iter().map(|run| self.write_of(run.clone()));
        let flex = geometry.options.flex_groups as usize;
        // The bitmaps of a flex group lie side by side.
        let bitmaps = geometry.groups.chunks(flex).flat_map(move |groups| {
            let count = groups.len() as u64;
            let [block, inode] = [groups[0].block_bitmap, groups[0].inode_bitmap];
            [self.write_of(block..block + count), self.write_of(inode..inode + count)]
        });
        let supers = (0..geometry.group_count()).filter(|&group| has_super(group)).map(|group| {
            let start = geometry.group_area(group).start;
            self.write_of(start..start + 1 + geometry.descriptor_blocks)
        });
        let root = std::iter::once(self.write_of(geometry.root_block..geometry.root_block + 1));
        let lost = geometry.lost_blocks.iter().map(|run| self.write_of(run.clone()));
        let flush = std::iter::once((Op::Flush, NOWHERE));
        Box::new(
            tables.chain(root).chain(lost).chain(journal).chain(bitmaps).chain(supers).chain(flush),
        )
    }

    /// The superblock, the descriptors, the root's inode, and the journal's inode and superblock are
    /// read; the superblock says that it is mounted (`ext4_fill_super`).
    pub(super) fn mount_accesses(&mut self) -> Vec<Access> {
        self.mount_is_noted = false;
        let geometry = &self.geometry;
        let first = geometry.super_block();
        let mut accesses = vec![
            (Op::Read, self.extent_of(first..first + 1)),
            (Op::Read, self.extent_of(first + 1..first + 1 + geometry.descriptor_blocks)),
            (
                Op::Read,
                self.extent_of(
                    geometry.inode_block(super::ROOT)..geometry.inode_block(super::ROOT) + 1,
                ),
            ),
        ];
        if let Some(run) = geometry.journal.first() {
            accesses.push((Op::Read, self.extent_of(run.start..run.start + 1)));
        }
        accesses.push(self.write_of(first..first + 1));
        accesses.extend(self.flush());
        accesses
    }

    fn flush(&self) -> Option<Access> {
        (self.mount.barrier != Barrier::None).then_some((Op::Flush, NOWHERE))
    }

    /// The log's end moves past each transaction that is listed, then the log is empty, and the superblock says that it is
    /// unmounted: as many writes of the journal's superblock, each between two flushes (`jbd2_journal_destroy`,
    /// `jbd2_cleanup_journal_tail`, `jbd2_mark_journal_empty`, `ext4_put_super`).
    pub(super) fn unmount_accesses(&mut self) -> Vec<Access> {
        self.blocks.discard();
        for inode in self.inodes.values_mut() {
            if let Some((_, places)) = inode.kept.take() {
                self.blocks.give_kept(places);
            }
        }
        let mut accesses: Vec<Access> = Vec::new();
        if let (Some(run), Some(journal)) = (self.geometry.journal.first(), &mut self.journal) {
            let was_used = !std::mem::replace(&mut journal.is_empty, true);
            journal.starts_over();
            let listed = std::mem::take(&mut journal.listed);
            if was_used {
                accesses.extend(self.flush());
                for _ in 0..=listed {
                    accesses.extend(self.flush());
                    accesses.push(self.write_of(run.start..run.start + 1));
                    accesses.extend(self.flush());
                }
            }
        }
        let first = self.geometry.super_block();
        accesses.push(self.write_of(first..first + 1));
        accesses.extend(self.flush());
        accesses
    }

    /// All that was done is on the disk.
    pub(super) fn settle_all(&mut self) {
        self.stop_all();
        // Not all files: a spool is settled after each of its articles.
        for ino in std::mem::take(&mut self.delayed_files) {
            if !self.inodes.contains_key(&ino) {
                continue;
            }
            let runs: Vec<Range<u64>> = self.inode(ino).delayed.within(0..u64::MAX).collect();
            for run in runs {
                let extents: Vec<Extent> =
                    run.map(|index| self.block_of(ino, index).extent).collect();
                self.place_delayed(ino, &extents);
            }
        }
        self.unwritten.clear();
        if let Some(reserved) = &mut self.reserved {
            reserved.settle();
        }
        self.stop_all();
        let freed = self.journal.as_mut().map(super::journal::Journal::settle);
        for blocks in freed.into_iter().flatten() {
            self.blocks.give(blocks);
        }
        self.steps.clear();
    }

    /// e2fsck -f: the inode tables as far as they were ever used, the blocks of extents, then every
    /// directory in the order of its blocks, and the bitmaps of the groups in use
    /// (e2fsprogs `e2fsck/pass1.c`, `pass2.c`, `pass5.c`).
    pub(super) fn fsck(&self) -> Survey {
        let geometry = &self.geometry;
        let first = geometry.super_block();
        let read = |blocks: Range<u64>| Look::Read(self.extent_of(blocks));
        let mut survey = Survey {
            set_up: vec![read(first..first + 1 + geometry.descriptor_blocks)],
            finish: vec![self.write_of(first..first + 1)],
            ..Survey::default()
        };
        for (number, group) in (0..).zip(self.groups.iter()) {
            let places = &geometry.groups[number as usize];
            if group.used_inodes > 0 {
                let blocks = group.used_inodes.div_ceil(geometry.inodes_per_block());
                let table = places.inode_table.start..places.inode_table.start + blocks;
                survey.inode_sectors += blocks * geometry.block_sectors();
                survey.inodes.extend([read(table), Look::Inodes(group.used_inodes)]);
            }
            if !group.blocks_are_untouched {
                survey.groups.push(read(places.block_bitmap..places.block_bitmap + 1));
            }
            if !group.inodes_are_untouched {
                survey.groups.push(read(places.inode_bitmap..places.inode_bitmap + 1));
            }
        }
        let trees = self.inodes.values().flat_map(|inode| &inode.extents.tree);
        survey.inodes.extend(trees.map(|&block| read(block..block + 1)));
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for inode in self.inodes.values() {
            let Some(directory) = &inode.directory else { continue };
            let entries = directory.entries().count() as u64 + 2;
            let places = inode.extents.runs().iter().flat_map(super::extents::Run::places);
            // All entries of a directory are counted with its first block.
            blocks.extend(
                places.enumerate().map(|(at, block)| (block, if at == 0 { entries } else { 0 })),
            );
        }
        blocks.sort_unstable();
        for (block, entries) in blocks {
            survey.directories.extend([read(block..block + 1), Look::Entries(entries)]);
        }
        survey
    }
}
