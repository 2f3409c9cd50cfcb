//! What files hold: written without a place at first, placed when it is written to the disk, freed.
//!
//! After Linux 6.1 `fs/ext4/inode.c` (`ext4_da_map_blocks`, `mpage_map_and_submit_extent`,
//! `ext4_inode_to_goal_block` in `balloc.c`), `fs/ext4/extents.c` (`ext4_ext_map_blocks`,
//! `ext4_ext_remove_space`). With delayed allocation new blocks are unwritten until their data are on the disk
//! (`dioread_nolock`), so that no commit waits for data.

use super::mballoc::{Kind, SMALL_BLOCKS, Want, normalized};
use super::mount::Data;
use super::{Ext4, FsError, Ino};
use crate::Nanos;
use crate::fs::filesystem::{Block, Step, UNPLACED, Write};
use crate::fs::kernel::{Delay, Extent, Pool};
use std::ops::Range;

/// Sectors that each file has for what has no place: 2 TiB.
const UNPLACED_SECTORS: u64 = 1 << 32;
/// Blocks that an operation may need besides those of files: of directories, and of extents.
const OWN_BLOCKS: u64 = 8;
/// How exactly times are kept: a tick of the kernel's clock (`current_time`, HZ = 250).
const TICK_NS: Nanos = 4_000_000;

impl Ext4 {
    fn unplaced(&self, ino: Ino, logical: Range<u64>) -> Extent {
        let Extent { sector, sectors } = self.extent_of(logical);
        assert!(sector + u64::from(sectors) <= UNPLACED_SECTORS, "no file is so large");
        Extent { sector: UNPLACED + u64::from(ino) * UNPLACED_SECTORS + sector, sectors }
    }

    /// Block `index` of a file, where it is now.
    pub(super) fn block_of(&self, ino: Ino, index: u64) -> Block {
        let inode = self.inode(ino);
        if inode.directory.is_some() {
            let places = inode.extents.find(index).expect("a directory has no holes");
            return self.metadata(places.start);
        }
        let extent = match inode.extents.find(index) {
            Some(places) => self.extent_of(places.start..places.start + 1),
            None => self.unplaced(ino, index..index + 1),
        };
        Block { extent, pool: Pool::Data, delay: Delay::Data, owner: ino }
    }

    /// All that a file holds, as runs.
    pub(super) fn runs_of(&self, ino: Ino) -> Vec<Extent> {
        let inode = self.inode(ino);
        let placed = inode.extents.runs().iter().map(|run| self.extent_of(run.places()));
        let delayed = inode.delayed.within(0..u64::MAX).map(|run| self.unplaced(ino, run));
        placed.chain(delayed).collect()
    }

    /// Whether there is room for so many blocks, and for what an operation needs besides.
    pub(super) fn check_room(&self, blocks: u64) -> Result<(), FsError> {
        let promised = self.delayed_blocks + blocks + OWN_BLOCKS;
        if self.blocks.free_blocks() < promised { Err(FsError::NoSpace) } else { Ok(()) }
    }

    /// Changes the blocks of a file that hold bytes `start..end`.
    pub(super) fn write_bytes(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError> {
        let block_bytes = self.geometry.options.block_bytes;
        let held_bytes = self.inode(ino).bytes;
        let held_blocks = held_bytes.div_ceil(block_bytes);
        let blocks = start / block_bytes..end.div_ceil(block_bytes);
        let absent = |index: &u64| {
            let inode = self.inode(ino);
            inode.extents.find(*index).is_none() && inode.delayed.free_from(*index, u64::MAX) == 0
        };
        let new: Vec<u64> = blocks.clone().filter(absent).collect();
        if !new.is_empty() {
            self.check_room(new.len() as u64)?;
        }
        for &index in &new {
            if self.mount.delayed_allocation {
                self.inode_mut(ino).delayed.give(index..index + 1);
                self.delayed_files.insert(ino);
                self.delayed_blocks += 1;
            }
        }
        let grows = end > held_bytes;
        self.inode_mut(ino).bytes = held_bytes.max(end);
        if !self.mount.delayed_allocation && !new.is_empty() {
            let first = new[0];
            self.modify(|ext4| ext4.place_blocks(ino, first, new.len() as u64))?;
        }
        for index in blocks {
            let block = self.block_of(ino, index);
            let block_start = index * block_bytes;
            let covered = start <= block_start && end >= block_start + block_bytes;
            let fresh = covered || index >= held_blocks || new.contains(&index);
            if !fresh {
                self.read_path(ino, index);
            }
            self.steps.push(Step::Change { block, fresh, write: Write::Later, purpose: 0 });
        }
        self.note_write(ino, grows && new.is_empty());
        Ok(())
    }

    /// Times change with the clock's next tick, and a size that no placing will write is written now
    /// (`file_modified`, `ext4_da_write_end`).
    fn note_write(&mut self, ino: Ino, has_new_size: bool) {
        let now = self.now;
        let inode = self.inode_mut(ino);
        (inode.accessed, inode.is_open) = (false, true);
        let is_noted = inode.changed.is_some_and(|at| now < at + TICK_NS);
        if !is_noted || has_new_size {
            inode.changed = Some(now);
            self.modify(|ext4| ext4.change_inode(ino));
        }
    }

    /// Reads the blocks that say where block `index` of a file is.
    pub(super) fn read_path(&mut self, ino: Ino, index: u64) {
        let block_bytes = self.geometry.options.block_bytes;
        for block in self.inode(ino).extents.path(index, block_bytes) {
            self.read(block);
        }
    }

    /// Gives delayed blocks of a file their places.
    pub(super) fn place_delayed(&mut self, ino: Ino, unplaced: &[Extent]) -> Vec<Extent> {
        let Some(first) = unplaced.first() else { return Vec::new() };
        let start = UNPLACED + u64::from(ino) * UNPLACED_SECTORS;
        let logical = (first.sector - start) / self.geometry.block_sectors();
        let count = unplaced.len() as u64;
        self.inode_mut(ino).delayed.take(logical..logical + count);
        self.delayed_blocks -= count;
        let placed = self.modify(|ext4| ext4.place_blocks(ino, logical, count));
        placed.expect("room was kept for what is delayed");
        self.unwritten.insert(ino);
        let block_sectors = self.geometry.block_sectors();
        let extents: Vec<Extent> =
            (logical..logical + count).map(|index| self.block_of(ino, index).extent).collect();
        if let Some(reserved) = &mut self.reserved {
            let blocks =
                |extent: &Extent| extent.sector / block_sectors..extent.end() / block_sectors;
            reserved.placed(ino, extents.iter().map(blocks));
        }
        extents
    }

    /// The data of a file are on the disk: its new extents, which were unwritten until then, are so no more
    /// (`ext4_end_io_end`). That is an operation of its own, in whatever transaction runs then.
    pub(super) fn convert(&mut self, ino: Ino) {
        if self.unwritten.remove(&ino) && self.inodes.contains_key(&ino) {
            self.modify(|ext4| ext4.change_inode(ino));
        }
    }

    /// Places blocks `logical..` of a file, in as few runs as there are.
    fn place_blocks(&mut self, ino: Ino, mut logical: u64, mut count: u64) -> Result<(), FsError> {
        while count > 0 {
            let places = self.take_data(ino, logical, count)?;
            let taken = places.end - places.start;
            self.note_looked_at();
            self.change_block_bitmaps(places.clone());
            let extent = self.extent_of(places.clone());
            if self.mount.data == Data::Ordered
                && !self.mount.delayed_allocation
                && let Some(journal) = &mut self.journal
            {
                journal.current().data.push(extent);
            }
            self.inode_mut(ino).extents.append(logical, places);
            self.change_tree(ino, logical)?;
            logical += taken;
            count -= taken;
        }
        self.change_inode(ino);
        Ok(())
    }

    fn note_looked_at(&mut self) {
        for group in self.blocks.take_looked_at() {
            self.read_block_bitmap(group);
        }
    }

    fn take_data(&mut self, ino: Ino, logical: u64, count: u64) -> Result<Range<u64>, FsError> {
        let block_bytes = self.geometry.options.block_bytes;
        if let Some((from, places)) = self.inode_mut(ino).kept.take() {
            if from == logical && !places.is_empty() {
                let end = places.end.min(places.start + count);
                let taken = places.start..end;
                self.inode_mut(ino).kept = Some((from + end - places.start, end..places.end));
                self.blocks.take_kept(taken.clone(), &mut self.groups);
                return Ok(taken);
            }
            self.blocks.give_kept(places);
        }
        let inode = self.inode(ino);
        let file_blocks = inode.bytes.div_ceil(block_bytes).max(logical + count);
        let kind = if file_blocks <= SMALL_BLOCKS {
            Kind::Small
        } else if logical + count == file_blocks && !inode.is_open {
            Kind::Exact
        } else {
            let kept = normalized(logical, count, file_blocks, block_bytes);
            Kind::Growing(kept.end.saturating_sub(logical).max(count))
        };
        let (goal, continues) =
            inode.extents.goal(logical).unwrap_or_else(|| (self.first_goal(ino), false));
        let want = Want { goal, continues, blocks: count, kind };
        let [taken, kept] = self.blocks.take(want, &mut self.groups).ok_or(FsError::NoSpace)?;
        if !kept.is_empty() {
            let next = logical + taken.end - taken.start;
            self.inode_mut(ino).kept = Some((next, kept));
        }
        Ok(taken)
    }

    /// The first group of the inode's flex group is for directories, files start with the next
    /// (`ext4_inode_to_goal_block`).
    fn first_goal(&self, ino: Ino) -> u64 {
        let flex = self.geometry.options.flex_groups;
        let own = self.groups.of_inode(ino);
        let group = if flex >= 4 {
            let is_file = self.inode(ino).directory.is_none();
            own / flex * flex + u64::from(is_file)
        } else {
            own
        };
        self.geometry.group_area(group.min(self.groups.count() - 1)).start
    }

    /// One block of metadata for a file or directory.
    pub(super) fn take_metadata(&mut self, ino: Ino) -> Result<u64, FsError> {
        let extents = &self.inode(ino).extents;
        let last = extents.runs().last().map(|run| run.places().end);
        let is_directory = self.inode(ino).directory.is_some();
        let goal = last.filter(|_| is_directory).unwrap_or_else(|| self.first_goal(ino));
        let want = Want { goal, continues: last.is_some(), blocks: 1, kind: Kind::Exact };
        let [taken, _] = self.blocks.take(want, &mut self.groups).ok_or(FsError::NoSpace)?;
        self.note_looked_at();
        self.change_block_bitmaps(taken.clone());
        Ok(taken.start)
    }

    /// The blocks that hold extents change, and there may have to be more of them.
    pub(super) fn change_tree(&mut self, ino: Ino, logical: u64) -> Result<(), FsError> {
        let block_bytes = self.geometry.options.block_bytes;
        let wanted = self.inode(ino).extents.tree_blocks(block_bytes);
        while (self.inode(ino).extents.tree.len() as u64) < wanted {
            let block = self.take_metadata(ino)?;
            self.change(block, true);
            self.inode_mut(ino).extents.tree.push(block);
        }
        if let Some(&leaf) = self.inode(ino).extents.path(logical, block_bytes).last() {
            self.change(leaf, false);
        }
        Ok(())
    }

    /// Nobody has the file open: nothing is kept for it (`ext4_release_file`).
    pub(super) fn close(&mut self, ino: Ino) {
        let Some(inode) = self.inodes.get_mut(&ino) else { return };
        inode.is_open = false;
        if let Some((_, places)) = inode.kept.take() {
            self.blocks.give_kept(places);
        }
    }

    /// Frees all that a file or directory has (`ext4_truncate`, `ext4_evict_inode`).
    pub(super) fn free_all(&mut self, ino: Ino) {
        let is_directory = self.inode(ino).directory.is_some();
        for block in self.inode(ino).extents.tree.clone() {
            self.read(block);
        }
        let inode = self.inode_mut(ino);
        let extents = std::mem::take(&mut inode.extents);
        let delayed = std::mem::take(&mut inode.delayed);
        inode.bytes = 0;
        if let Some((_, places)) = inode.kept.take() {
            self.blocks.give_kept(places);
        }
        for run in delayed.within(0..u64::MAX) {
            self.delayed_blocks -= run.end - run.start;
            let extent = self.unplaced(ino, run.clone());
            self.steps.push(Step::Await(extent));
            for index in run {
                let extent = self.unplaced(ino, index..index + 1);
                self.steps.push(Step::Forget(extent));
            }
        }
        for run in extents.runs() {
            self.free_blocks(run.places(), is_directory);
        }
        for block in extents.tree {
            self.free_blocks(block..block + 1, true);
        }
    }

    fn free_blocks(&mut self, blocks: Range<u64>, is_metadata: bool) {
        for group in self.geometry.group_of(blocks.start)..=self.geometry.group_of(blocks.end - 1) {
            self.read_block_bitmap(group);
        }
        if !is_metadata {
            // What is on its way arrives first (`truncate_inode_pages`).
            let extent = self.extent_of(blocks.clone());
            self.steps.push(Step::Await(extent));
        }
        for block in blocks.clone() {
            if is_metadata && let Some(journal) = &mut self.journal {
                journal.forget(block);
            }
            let extent = self.extent_of(block..block + 1);
            self.steps.push(Step::Forget(extent));
        }
        self.blocks.uncount(blocks.clone(), &mut self.groups);
        self.change_block_bitmaps(blocks.clone());
        self.free_later(blocks);
    }
}
