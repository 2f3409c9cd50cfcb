//! The operations of a file system, each as the blocks that it reads and changes.

use super::directory::{DIRECTORY_BLOCK_BYTES, Directory, Purpose};
use super::mount::Role;
use super::{Ffs, Ino, ROOT};
use crate::fs::files::FsError;
use crate::fs::filesystem::Step;
use std::rc::Rc;

impl Ffs {
    /// The inode of a name, found without touching a block: as if from the name cache.
    ///
    /// # Errors
    ///
    /// Where there is no such name.
    pub fn find(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.directory(parent)?.get(name).ok_or(FsError::NoEntry)
    }

    /// The names in a directory, and whether each is a directory, in their order on the disk.
    ///
    /// # Errors
    ///
    /// Where it is no directory.
    pub fn names(&self, ino: Ino) -> Result<Vec<(Rc<str>, bool)>, FsError> {
        let directory = self.directory(ino)?;
        let entry =
            |(name, ino): (&Rc<str>, Ino)| (Rc::clone(name), self.inode(ino).directory.is_some());
        Ok(directory.entries().map(entry).collect())
    }

    /// Looks a name up, and reads its inode.
    ///
    /// # Errors
    ///
    /// Where there is no such name.
    pub fn look_up(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        let found = self.search(parent, name, Purpose::LookUp)?;
        let ino = found.ok_or(FsError::NoEntry)?;
        let block = self.inode_block(ino);
        self.read(block);
        Ok(ino)
    }

    /// Makes an empty file.
    ///
    /// # Errors
    ///
    /// Where the name is taken or there is no room.
    pub fn create(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        if self.search(parent, name, Purpose::Create)?.is_some() {
            return Err(FsError::Exists);
        }
        let ino = self.take_inode(parent, false)?;
        self.inode_mut(ino).links = 1;
        self.change_inode(ino, Role::NewInode);
        if let Err(error) = self.enter(parent, name, ino) {
            self.free_inode(ino, false);
            return Err(error);
        }
        Ok(ino)
    }

    /// Makes an empty directory.
    ///
    /// # Errors
    ///
    /// Where the name is taken or there is no room.
    pub fn make_directory(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        if self.search(parent, name, Purpose::Create)?.is_some() {
            return Err(FsError::Exists);
        }
        let ino = self.take_inode(parent, true)?;
        self.inode_mut(parent).links += 1;
        self.change_inode(parent, Role::LinkCount);
        let made = self.make_body_of_directory(ino, parent).and_then(|()| {
            self.change_inode(ino, Role::NewInode);
            self.enter(parent, name, ino)
        });
        if let Err(error) = made {
            self.inode_mut(parent).links -= 1;
            self.truncate(ino);
            self.free_inode(ino, true);
            return Err(error);
        }
        Ok(ino)
    }

    /// The root, which newfs makes.
    pub(super) fn make_root(&mut self) -> Result<(), FsError> {
        let (group, within) = self.split_inode(ROOT);
        self.take_inode_at(ROOT);
        self.inodes.add((group, within));
        self.with_group(group, |group| group.directories += 1);
        self.make_body_of_directory(ROOT, ROOT)
    }

    fn make_body_of_directory(&mut self, ino: Ino, parent: Ino) -> Result<(), FsError> {
        let inode = self.inode_mut(ino);
        inode.directory = Some(Box::new(Directory::new(parent)));
        inode.links = 2;
        self.grow(ino, DIRECTORY_BLOCK_BYTES)?;
        let block = self.file_block(ino, 0);
        self.change(block, true, Role::NewDirectory);
        Ok(())
    }

    /// Removes a file's name, and the file with its last name.
    ///
    /// # Errors
    ///
    /// Where there is no such file.
    pub fn unlink(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.search(parent, name, Purpose::Remove)?.ok_or(FsError::NoEntry)?;
        if self.inode(ino).directory.is_some() {
            return Err(FsError::IsDirectory);
        }
        let block = self.inode_block(ino);
        self.read(block);
        self.strike_out(parent, name);
        self.let_go(ino, false);
        Ok(())
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// Where there is none, or it is not empty.
    pub fn remove_directory(&mut self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.search(parent, name, Purpose::Remove)?.ok_or(FsError::NoEntry)?;
        if !self.directory(ino)?.is_empty() {
            return Err(FsError::NotEmpty);
        }
        let block = self.inode_block(ino);
        self.read(block);
        let body = self.file_block(ino, 0);
        self.read(body);
        self.strike_out(parent, name);
        self.inode_mut(parent).links -= 1;
        self.change_inode(parent, Role::Size);
        self.let_go(ino, true);
        Ok(())
    }

    /// Frees an inode without names, and its blocks.
    fn let_go(&mut self, ino: Ino, directory: bool) {
        if !self.inode(ino).blocks.is_empty() {
            // On the disk it gives up its blocks before they are free for others.
            self.change_inode(ino, Role::Truncated);
            self.truncate(ino);
        }
        self.change_inode(ino, Role::FreedInode);
        self.free_inode(ino, directory);
    }

    /// Renames a file, possibly to another directory; a file that has the new name is removed.
    ///
    /// # Errors
    ///
    /// Where there is no such file, or the new name is a directory's.
    pub fn rename(
        &mut self,
        parent: Ino,
        name: &str,
        new_parent: Ino,
        new_name: &str,
    ) -> Result<(), FsError> {
        let ino = self.search(parent, name, Purpose::Remove)?.ok_or(FsError::NoEntry)?;
        if self.inode(ino).directory.is_some() {
            return Err(FsError::IsDirectory);
        }
        if (parent, name) == (new_parent, new_name) {
            return Ok(());
        }
        // One link more while both names exist, so that a crash leaves the count too high rather than
        // too low.
        self.change_inode(ino, Role::LinkCount);
        if self.find(new_parent, new_name).is_ok() {
            self.unlink(new_parent, new_name)?;
        } else {
            self.search(new_parent, new_name, Purpose::Create)?;
        }
        self.enter(new_parent, new_name, ino)?;
        self.strike_out(parent, name);
        self.change_inode(ino, Role::LinkCount);
        Ok(())
    }

    /// Sets a file's times.
    pub fn set_times(&mut self, ino: Ino) {
        self.change_inode(ino, Role::Times);
    }

    /// Reads a whole directory, block by block.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn read_directory(&mut self, ino: Ino) -> Result<(), FsError> {
        let bytes = self.directory(ino)?.bytes();
        for index in 0..bytes.div_ceil(self.block_bytes()) {
            self.read_map(ino, index);
            let block = self.file_block(ino, index);
            self.read(block);
        }
        Ok(())
    }

    fn directory(&self, ino: Ino) -> Result<&Directory, FsError> {
        self.inode(ino).directory.as_deref().ok_or(FsError::NotDirectory)
    }

    /// Searches a directory for a name.
    fn search(
        &mut self,
        parent: Ino,
        name: &str,
        purpose: Purpose,
    ) -> Result<Option<Ino>, FsError> {
        let inode = self.inode_mut(parent);
        let directory = inode.directory.as_mut().ok_or(FsError::NotDirectory)?;
        let search = directory.search(name, purpose);
        let bytes = inode.bytes;
        let per_block = self.block_bytes() / DIRECTORY_BLOCK_BYTES;
        let count = bytes / DIRECTORY_BLOCK_BYTES;
        let mut last = None;
        let (mut block, end) = (search.from_block, search.from_block + search.blocks);
        while block < end {
            let place = u64::from(block) % count;
            let index = place / per_block;
            if last != Some(index) {
                last = Some(index);
                self.read_map(parent, index);
                let block = self.file_block(parent, index);
                self.read(block);
            }
            // On to what lies in the file system's next block, or is the first again.
            block += (count.min((index + 1) * per_block) - place) as u32;
        }
        self.steps.push(Step::Scan(search.entries));
        Ok(search.found)
    }

    /// Enters a name in a directory that has been searched.
    fn enter(&mut self, parent: Ino, name: &str, ino: Ino) -> Result<(), FsError> {
        let directory = self.inode_mut(parent).directory.as_mut().ok_or(FsError::NotDirectory)?;
        let change = directory.insert(name, ino);
        let byte = u64::from(change.block) * DIRECTORY_BLOCK_BYTES;
        let index = byte / self.block_bytes();
        if change.grown {
            let fresh = index == self.inode(parent).blocks.len() as u64;
            if let Err(error) = self.grow(parent, byte + DIRECTORY_BLOCK_BYTES) {
                if let Some(directory) = &mut self.inode_mut(parent).directory {
                    directory.remove(name);
                }
                return Err(error);
            }
            let block = self.file_block(parent, index);
            self.change(block, fresh, Role::NewDirectoryBlock);
            self.change_inode(parent, Role::GrownDirectory);
        } else {
            let block = self.file_block(parent, index);
            self.change(block, false, Role::Entry);
            self.change_inode(parent, Role::Size);
        }
        Ok(())
    }

    /// Removes a name from a directory that has been searched.
    fn strike_out(&mut self, parent: Ino, name: &str) {
        let directory = self.inode_mut(parent).directory.as_mut();
        let change = directory.and_then(|directory| directory.remove(name));
        let Some(change) = change else { return };
        let index = u64::from(change.block) * DIRECTORY_BLOCK_BYTES / self.block_bytes();
        let block = self.file_block(parent, index);
        let role = if change.first_removed { Role::FirstRemoved } else { Role::Removed };
        self.change(block, false, role);
        self.change_inode(parent, Role::Size);
    }
}
