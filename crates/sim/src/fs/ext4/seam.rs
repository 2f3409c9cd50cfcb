//! ext4 behind the seam of file systems.

use super::handle::Next;
use super::reserved::Reserved;
use super::{Ext4, FsError, Ino, ROOT};
use crate::Nanos;
use crate::fs::filesystem::{
    Access, Block, Call, FileSystem, Job, Milestone, Policy, ReadAhead, Step, Survey, Taken,
    WriteBehind,
};
use crate::fs::kernel::Extent;
use std::rc::Rc;

impl FileSystem for Ext4 {
    fn root(&self) -> Ino {
        ROOT
    }

    fn policy(&self) -> Policy {
        Policy {
            read_ahead: ReadAhead::Fixed,
            write_behind: WriteBehind::None,
            one_call_at_a_time: false,
            raw_together: true,
            remount_ends: true,
        }
    }

    fn find(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.directory(parent)?.get(name).ok_or(FsError::NoEntry)
    }

    fn names(&self, directory: Ino) -> Result<Vec<(Rc<str>, bool)>, FsError> {
        let entries = self.directory(directory)?.entries();
        // lost+found is there and not a program's: what removes everything leaves it.
        Ok(entries
            .filter(|&(_, ino, _)| ino != super::LOST_AND_FOUND)
            .map(|(name, _, is_directory)| (Rc::clone(name), is_directory))
            .collect())
    }

    fn look_up(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        let ino = self.search(parent, name)?.ok_or(FsError::NoEntry)?;
        self.read_inode(ino);
        Ok(ino)
    }

    fn create(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.make_node(parent, name, false)
    }

    fn make_directory(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.make_node(parent, name, true)
    }

    fn unlink(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.remove_file(parent, name)
    }

    fn remove_directory(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.remove_empty(parent, name)
    }

    fn rename(&mut self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError> {
        self.rename_file(from, to)
    }

    fn read_directory(&mut self, directory: Ino) -> Result<(), FsError> {
        self.list(directory)
    }

    fn set_times(&mut self, ino: Ino) {
        self.inode_mut(ino).accessed = false;
        self.modify(|ext4| ext4.change_inode(ino));
    }

    fn was_read(&mut self, ino: Ino) {
        if self.inodes.contains_key(&ino) {
            if !self.mount_is_noted {
                self.modify(Ext4::note_mount);
            }
            self.note_access(ino);
        }
    }

    fn closed(&mut self, ino: Ino) {
        self.close(ino);
    }

    fn block_bytes(&self) -> u64 {
        self.geometry.options.block_bytes
    }

    fn file_bytes(&self, ino: Ino) -> u64 {
        self.inode(ino).bytes
    }

    fn file_block(&self, ino: Ino, index: u64) -> Block {
        self.block_of(ino, index)
    }

    fn read_map(&mut self, ino: Ino, index: u64) {
        self.read_path(ino, index);
    }

    fn write(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError> {
        self.write_bytes(ino, start, end)
    }

    fn place(&mut self, ino: Ino, unplaced: &[Extent]) -> Vec<Extent> {
        self.place_delayed(ino, unplaced)
    }

    fn begin_sync(&mut self) {
        self.begin_sync_all();
    }

    fn may_place(&mut self) -> bool {
        self.reserved.as_mut().is_none_or(Reserved::has_room)
    }

    fn finish_placed(&mut self) -> bool {
        self.reserved.as_mut().is_some_and(Reserved::mark_next)
    }

    fn extents_of(&self, ino: Ino) -> Vec<Extent> {
        self.runs_of(ino)
    }

    fn data_are_written(&mut self, ino: Ino) {
        self.convert(ino);
    }

    fn sync_file(&mut self, ino: Ino) {
        self.sync_inode(ino);
    }

    fn sync(&mut self) {
        self.sync_all();
    }

    fn transfer_ends(&mut self, sector: u64) -> Option<crate::fs::kernel::Delay> {
        let block = sector / self.geometry.block_sectors();
        if let Some(journal) = &mut self.journal {
            journal.placed(block);
        }
        if let Some(reserved) = &mut self.reserved {
            reserved.ended(block);
        }
        None
    }

    fn forgotten(&mut self, sector: u64) {
        if let Some(reserved) = &mut self.reserved {
            reserved.ended(sector / self.geometry.block_sectors());
        }
    }

    fn take_steps(&mut self, now: Nanos, into: &mut Vec<Step>) {
        self.now = now;
        if let Some(current) = self.journal.as_mut().and_then(|journal| journal.current.as_mut()) {
            current.started.get_or_insert(now);
        }
        self.end_of_call();
        into.clear();
        std::mem::swap(&mut self.steps, into);
    }

    fn resume(&mut self, job: Job, _taken: &Taken<'_>) {
        match Next::of(job) {
            Next::Stop(handle) => {
                self.stop(handle);
                self.lock_behind(handle);
            }
            Next::Lock => self.lock(),
            Next::Log => self.write_log(),
            Next::Logged => self.write_commit_block(),
            Next::Committed => self.has_committed(),
        }
    }

    fn has_happened(&self, milestone: Milestone) -> bool {
        self.has_come_to(milestone)
    }

    fn next_work(&self) -> Option<Nanos> {
        self.next_commit()
    }

    fn work(&mut self, why: Call) {
        self.start_commit(why);
    }

    fn settle(&mut self) {
        self.settle_all();
    }

    fn make(&self) -> Box<dyn Iterator<Item = Access> + '_> {
        self.mkfs()
    }

    fn mount(&mut self) -> Vec<Access> {
        self.mount_accesses()
    }

    fn unmount(&mut self) -> Vec<Access> {
        self.unmount_accesses()
    }

    /// The superblock and the descriptors, which stay (`s_sbh`, `s_group_desc`), and the root's inode (`ext4_fill_super`).
    fn kept_by_mount(&self) -> Vec<Block> {
        let geometry = &self.geometry;
        let first = geometry.super_block();
        let root = geometry.inode_block(super::ROOT);
        let blocks = (first..first + 1 + geometry.descriptor_blocks).chain([root]);
        blocks.map(|block| self.metadata(block)).collect()
    }

    fn survey(&self) -> Survey {
        self.fsck()
    }

    fn check(&self) {
        self.check_all();
    }

    fn check_settled(&self) {
        self.check_idle();
    }
}
