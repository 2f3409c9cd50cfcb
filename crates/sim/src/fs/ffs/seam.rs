//! FFS behind the seam: what the layers above and below call.

use super::mount::{Mode, Role, System};
use super::{Ffs, Ino, ROOT, newfs};
use crate::Nanos;
use crate::fs::files::FsError;
use crate::fs::filesystem::{
    Access, Block, FileSystem, Job, Policy, ReadAhead, Step, Survey, Taken, WriteBehind,
};
use crate::fs::kernel::{Delay, Extent};
use std::rc::Rc;

/// Soft updates learn of each operation when its steps have been taken.
const ORDER: Job = Job(0);

impl FileSystem for Ffs {
    fn root(&self) -> Ino {
        ROOT
    }

    fn policy(&self) -> Policy {
        match (self.mount.system, self.mount.mode) {
            (System::Bsd44, _) => Policy {
                read_ahead: ReadAhead::Window,
                write_behind: WriteBehind::Runs,
                one_call_at_a_time: true,
                raw_together: false,
                remount_ends: false,
            },
            (System::NetBsd2, mode) => Policy {
                read_ahead: ReadAhead::Fixed,
                // Mounted async, NetBSD leaves all writes to the syncer and the page daemon.
                write_behind: match mode {
                    Mode::Async => WriteBehind::None,
                    Mode::Sync | Mode::SoftUpdates => WriteBehind::Aligned,
                },
                one_call_at_a_time: false,
                raw_together: false,
                remount_ends: false,
            },
        }
    }

    fn find(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.find(parent, name)
    }

    fn names(&self, directory: Ino) -> Result<Vec<(Rc<str>, bool)>, FsError> {
        self.names(directory)
    }

    fn look_up(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.look_up(parent, name)
    }

    fn create(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.create(parent, name)
    }

    fn make_directory(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.make_directory(parent, name)
    }

    fn unlink(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.unlink(parent, name)
    }

    fn remove_directory(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.remove_directory(parent, name)
    }

    fn rename(&mut self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError> {
        self.rename(from.0, from.1, to.0, to.1)
    }

    fn read_directory(&mut self, directory: Ino) -> Result<(), FsError> {
        self.read_directory(directory)
    }

    fn set_times(&mut self, ino: Ino) {
        self.change_inode(ino, Role::Times);
    }

    fn was_read(&mut self, ino: Ino) {
        if self.mount.access_times {
            self.change_inode(ino, Role::AccessTime);
        }
    }

    fn block_bytes(&self) -> u64 {
        self.geometry.options.block_bytes
    }

    fn file_bytes(&self, ino: Ino) -> u64 {
        self.file_bytes(ino)
    }

    fn file_block(&self, ino: Ino, index: u64) -> Block {
        self.file_block(ino, index)
    }

    fn read_map(&mut self, ino: Ino, index: u64) {
        self.read_map(ino, index);
    }

    fn write(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError> {
        self.write(ino, start, end)
    }

    fn extents_of(&self, ino: Ino) -> Vec<Extent> {
        let data = (0..self.blocks_of(ino)).map(|index| self.file_block(ino, index));
        data.chain(self.map_of(ino)).map(|block| block.extent).collect()
    }

    fn sync_file(&mut self, ino: Ino) {
        // Only now may the inode say that its blocks exist; the blocks that it waits for are written
        // first.
        let inode = self.inode_block(ino).extent;
        let first = self.soft_updates.waits_for(inode.sector);
        let first = first.into_iter().map(|sector| Extent { sector, sectors: 1 });
        let first: Vec<Extent> = first.collect();
        self.steps.extend(first.iter().map(|&extent| Step::Start(extent)));
        self.steps.extend(first.iter().map(|&extent| Step::Await(extent)));
        self.steps.extend([Step::Start(inode), Step::Await(inode)]);
    }

    fn write_starts(&mut self, sector: u64) {
        self.soft_updates.write_starts(sector);
    }

    fn transfer_ends(&mut self, sector: u64) -> Option<Delay> {
        self.soft_updates.transfer_ends(sector)
    }

    fn forgotten(&mut self, sector: u64) {
        self.soft_updates.forget(sector);
    }

    fn take_steps(&mut self, _now: Nanos, into: &mut Vec<Step>) {
        into.clear();
        std::mem::swap(&mut self.steps, into);
        let changes = |step: &Step| matches!(step, Step::Change { .. });
        if self.mount.mode == Mode::SoftUpdates && into.iter().any(changes) {
            into.push(Step::Resume(ORDER));
        }
    }

    fn resume(&mut self, _job: Job, taken: &Taken<'_>) {
        self.soft_updates.keep_order(taken.steps, taken.memory, &mut self.steps);
    }

    fn settle(&mut self) {
        self.steps.clear();
    }

    fn make(&self) -> Box<dyn Iterator<Item = Access> + '_> {
        Box::new(newfs::accesses(&self.geometry, self.sectors))
    }

    fn mount(&mut self) -> Vec<Access> {
        self.mount_accesses()
    }

    fn remount(&mut self, mode: &str) -> bool {
        let mode = Mode::named(mode);
        self.mount.mode = mode.unwrap_or(self.mount.mode);
        mode.is_some()
    }

    fn unmount(&mut self) -> Vec<Access> {
        self.unmount_accesses()
    }

    fn survey(&self) -> Survey {
        self.survey()
    }

    fn check(&self) {
        self.check();
    }

    fn check_settled(&self) {
        assert!(self.soft_updates.is_empty(), "changes wait for others: {:?}", self.soft_updates);
    }
}
