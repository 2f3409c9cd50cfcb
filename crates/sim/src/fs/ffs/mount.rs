//! How a change is written: a table for each system and mount option.
//!
//! By default FFS writes every change synchronously that fsck(8) could not repair. An inode is on the
//! disk before the entry that names it, and an entry is gone before its inode is free. With soft
//! updates no write is synchronous, because the order is kept in memory. With `async` none is, because
//! no order is kept.

use crate::fs::filesystem::Write;

/// The purpose of a change to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A new inode, in its block.
    NewInode,
    /// Inodes that were never used before, as UFS2 writes them when they are first needed.
    FreshInodes,
    /// A new entry, in an existing directory block.
    Entry,
    /// A new directory block.
    NewDirectoryBlock,
    /// The inode of a directory that has grown.
    GrownDirectory,
    /// The body of a new directory.
    NewDirectory,
    /// The inode of a directory that gained or lost a subdirectory.
    LinkCount,
    /// An entry is gone.
    Removed,
    /// The first entry of a directory block is gone.
    FirstRemoved,
    /// The inode of a file that frees its blocks.
    Truncated,
    /// An inode that is free again.
    FreedInode,
    /// An indirect block, still empty.
    NewIndirect,
    /// An indirect block of a directory with one more pointer.
    DirectoryPointer,
    /// The same for a file.
    FilePointer,
    /// File data.
    Data,
    /// The last fragments of a file, moved or extended before others are added.
    Tail,
    /// An inode's size or block list.
    Size,
    /// An inode's times, set by a program.
    Times,
    /// An inode's time of last access.
    AccessTime,
    /// A cylinder group's bitmaps.
    Bitmaps,
}

/// Which system's FFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// 4.4BSD and FreeBSD 2.2.
    Bsd44,
    /// NetBSD 2 and 3.
    NetBsd2,
}

/// How it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Without an option: changes to the structure are synchronous.
    Sync,
    /// `softdep`.
    SoftUpdates,
    /// `async`.
    Async,
}

impl Mode {
    /// What mount(8) and an experiment call them.
    pub const WORDS: &'static [&'static str] = &["sync", "softdep", "async"];

    /// The mode of this word.
    pub fn named(word: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Some([Mode::Sync, Mode::SoftUpdates, Mode::Async][at])
    }
}

/// A mounted file system's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Which system's FFS.
    pub system: System,
    /// How it is mounted.
    pub mode: Mode,
    /// Whether reading changes a file's access time.
    pub access_times: bool,
}

impl Mount {
    /// How a change for `role` is written.
    ///
    /// | | sync | async, 4.4BSD | async, NetBSD | softdep |
    /// |---|---|---|---|---|
    /// | new inode, entry, removed entry, truncated inode, new body, link count | wait | later | later | later |
    /// | grown directory's inode | wait | later | later | later |
    /// | new directory block, first entry removed | wait | wait | later | later |
    /// | new indirect block, directory's indirect block | wait | wait | later | later |
    /// | times set by a program | wait (NetBSD: later) | later | later | later |
    ///
    /// 4.4BSD ignores `async` in the third and fourth rows, which request the write in another way
    /// (`IO_SYNC`, `B_SYNC`); NetBSD's `bwrite` itself checks the mount option.
    pub fn write(&self, role: Role) -> Write {
        match role {
            Role::FreshInodes => Write::Start,
            Role::Data
            | Role::Tail
            | Role::Size
            | Role::FreedInode
            | Role::FilePointer
            | Role::AccessTime
            | Role::Bitmaps => Write::Later,
            Role::NewDirectoryBlock
            | Role::FirstRemoved
            | Role::NewIndirect
            | Role::DirectoryPointer => match (self.mode, self.system) {
                (Mode::Sync, _) | (Mode::Async, System::Bsd44) => Write::Wait,
                _ => Write::Later,
            },
            Role::Times => match (self.mode, self.system) {
                (Mode::Sync, System::Bsd44) => Write::Wait,
                _ => Write::Later,
            },
            Role::NewInode
            | Role::Entry
            | Role::GrownDirectory
            | Role::NewDirectory
            | Role::LinkCount
            | Role::Removed
            | Role::Truncated => match self.mode {
                Mode::Sync => Write::Wait,
                Mode::SoftUpdates | Mode::Async => Write::Later,
            },
        }
    }
}
