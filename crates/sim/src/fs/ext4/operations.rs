//! Names: what making, finding and removing them touches.
//!
//! After Linux 6.1 `fs/ext4/namei.c` (`ext4_create`, `ext4_mkdir`, `ext4_unlink`, `ext4_rmdir`,
//! `ext4_rename`, `ext4_orphan_add`) and `fs/ext4/ialloc.c` (`__ext4_new_inode`, `ext4_free_inode`).

use super::directory::Directory;
use super::mount::AccessTimes;
use super::orlov::Parent;
use super::{Ext4, FsError, Ino, Inode, ROOT};
use crate::fs::filesystem::Step;

impl Ext4 {
    /// Goes over a directory for a name.
    pub(super) fn search(&mut self, parent: Ino, name: &str) -> Result<Option<Ino>, FsError> {
        let search = self.directory(parent)?.search(name);
        for logical in search.blocks {
            let block =
                self.block_of(parent, logical).extent.sector / self.geometry.block_sectors();
            self.read(block);
        }
        self.steps.push(Step::Scan(search.entries));
        Ok(search.found)
    }

    fn search_file(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        let ino = self.search(parent, name)?.ok_or(FsError::NoEntry)?;
        if self.inode(ino).directory.is_some() { Err(FsError::IsDirectory) } else { Ok(ino) }
    }

    /// Makes an empty file or directory.
    pub(super) fn make_node(
        &mut self,
        parent: Ino,
        name: &str,
        is_directory: bool,
    ) -> Result<Ino, FsError> {
        if self.search(parent, name)?.is_some() {
            return Err(FsError::Exists);
        }
        self.check_room(0)?;
        let group = self.group_for(parent, name, is_directory).ok_or(FsError::NoInodes)?;
        let ino = self.groups.first_free_inode(group).ok_or(FsError::NoInodes)?;
        self.modify(|ext4| {
            ext4.take_inode(ino, parent, is_directory);
            if is_directory {
                ext4.make_body(ino, parent)?;
            } else {
                ext4.note_mount();
            }
            ext4.change_inode(ino);
            ext4.enter(parent, name, ino, is_directory)?;
            Ok(ino)
        })
    }

    fn group_for(&self, parent: Ino, name: &str, is_directory: bool) -> Option<u64> {
        let from = Parent {
            group: self.groups.of_inode(parent),
            last_group: self.inode(parent).last_group,
            is_root: parent == ROOT,
        };
        if is_directory {
            self.groups.for_directory(from, name, self.seed, self.delayed_blocks)
        } else {
            self.groups.for_file(from, self.delayed_blocks)
        }
    }

    fn take_inode(&mut self, ino: Ino, parent: Ino, is_directory: bool) {
        let group = self.groups.of_inode(ino);
        let places = self.geometry.groups[group as usize].clone();
        let is_first = self.groups.get(group).inodes_are_untouched;
        if !is_first {
            self.read(places.inode_bitmap);
        }
        self.change(places.inode_bitmap, is_first);
        // The bitmap of blocks comes to the disk with the first inode.
        if self.groups.get(group).blocks_are_untouched {
            self.groups.get_mut(group).blocks_are_untouched = false;
            self.change(places.block_bitmap, true);
        }
        self.change_descriptor(group);
        self.groups.take_inode(ino);
        self.groups.get_mut(group).directories += u64::from(is_directory);
        self.inode_mut(parent).last_group = Some(group);
        self.inodes.insert(ino, Inode { links: 1, ..Inode::default() });
    }

    fn make_body(&mut self, ino: Ino, parent: Ino) -> Result<(), FsError> {
        let block_bytes = self.geometry.options.block_bytes;
        let directory = Directory::new(parent, block_bytes, self.seed);
        let inode = self.inode_mut(ino);
        inode.directory = Some(Box::new(directory));
        inode.links = 2;
        self.add_directory_block(ino)?;
        self.inode_mut(parent).links += 1;
        Ok(())
    }

    fn add_directory_block(&mut self, ino: Ino) -> Result<(), FsError> {
        let block = self.take_metadata(ino)?;
        self.change(block, true);
        let block_bytes = self.geometry.options.block_bytes;
        let inode = self.inode_mut(ino);
        let logical = inode.extents.blocks();
        inode.extents.append(logical, block..block + 1);
        inode.bytes += block_bytes;
        self.change_tree(ino, logical)
    }

    /// Enters a name that is not there.
    fn enter(
        &mut self,
        parent: Ino,
        name: &str,
        ino: Ino,
        is_directory: bool,
    ) -> Result<(), FsError> {
        let change = self.directory_mut(parent).insert(name, ino, is_directory);
        for _ in &change.added {
            self.add_directory_block(parent)?;
        }
        for logical in change.changed {
            self.change_directory_block(parent, logical);
        }
        self.change_directory(parent);
        Ok(())
    }

    fn change_directory_block(&mut self, ino: Ino, logical: u64) {
        let block = self.block_of(ino, logical).extent.sector / self.geometry.block_sectors();
        self.change(block, false);
    }

    fn change_directory(&mut self, ino: Ino) {
        self.inode_mut(ino).accessed = false;
        self.change_inode(ino);
    }

    /// The first file that is opened has the superblock note where it is mounted.
    pub(super) fn note_mount(&mut self) {
        if !std::mem::replace(&mut self.mount_is_noted, true) {
            self.change_super();
        }
    }

    fn leave(&mut self, parent: Ino, name: &str) {
        let logical = self.directory_mut(parent).remove(name).expect("the name was found");
        self.change_directory_block(parent, logical);
        self.change_directory(parent);
    }

    /// Removes a file's name, and with it the file.
    pub(super) fn remove_file(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.search_file(parent, name)?;
        self.read_inode(ino);
        self.modify(|ext4| {
            ext4.leave(parent, name);
            ext4.remove_inode(ino);
        });
        Ok(())
    }

    /// Removes an empty directory.
    pub(super) fn remove_empty(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.search(parent, name)?.ok_or(FsError::NoEntry)?;
        let directory = self.directory(ino)?;
        if !directory.is_empty() {
            return Err(FsError::NotEmpty);
        }
        // Whether it is empty is looked up in its blocks.
        for logical in 0..directory.blocks() {
            let block = self.block_of(ino, logical).extent.sector / self.geometry.block_sectors();
            self.read(block);
        }
        self.read_inode(ino);
        self.modify(|ext4| {
            ext4.leave(parent, name);
            ext4.inode_mut(parent).links -= 1;
            let group = ext4.groups.of_inode(ino);
            ext4.groups.get_mut(group).directories -= 1;
            ext4.remove_inode(ino);
        });
        Ok(())
    }

    /// Nothing names an inode any more: it is an orphan, loses its blocks, and is free.
    fn remove_inode(&mut self, ino: Ino) {
        if self.journal.is_some() {
            self.change_super();
        }
        self.change_inode(ino);
        self.free_all(ino);
        let group = self.groups.of_inode(ino);
        let bitmap = self.geometry.groups[group as usize].inode_bitmap;
        self.read(bitmap);
        self.change(bitmap, false);
        self.change_descriptor(group);
        self.groups.free_inode(ino);
        self.inodes.remove(&ino);
        self.unwritten.remove(&ino);
    }

    /// Gives a file another name; a file that has the name goes.
    pub(super) fn rename_file(
        &mut self,
        from: (Ino, &str),
        to: (Ino, &str),
    ) -> Result<(), FsError> {
        let ino = self.search_file(from.0, from.1)?;
        let gone = self.search(to.0, to.1)?;
        if gone == Some(ino) {
            return Ok(());
        }
        if let Some(gone) = gone
            && self.inode(gone).directory.is_some()
        {
            return Err(FsError::IsDirectory);
        }
        self.check_room(0)?;
        self.modify(|ext4| {
            if let Some(gone) = gone {
                ext4.leave(to.0, to.1);
                ext4.remove_inode(gone);
            }
            ext4.enter(to.0, to.1, ino, false)?;
            ext4.leave(from.0, from.1);
            ext4.change_inode(ino);
            Ok(())
        })
    }

    /// Reads a whole directory.
    pub(super) fn list(&mut self, ino: Ino) -> Result<(), FsError> {
        for logical in 0..self.directory(ino)?.blocks() {
            let block = self.block_of(ino, logical).extent.sector / self.geometry.block_sectors();
            self.read(block);
        }
        self.note_access(ino);
        Ok(())
    }

    /// A file or directory was read (`relatime_need_update`).
    pub(super) fn note_access(&mut self, ino: Ino) {
        let is_due = self.mount.access_times == AccessTimes::Relative;
        if is_due && !std::mem::replace(&mut self.inode_mut(ino).accessed, true) {
            self.modify(|ext4| ext4.change_inode(ino));
        }
    }
}
