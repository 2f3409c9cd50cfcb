//! How a change is written: the table of each system and way to mount.
//!
//! By default FFS waits for every change that fsck(8) could not put right by itself: an inode is on
//! the disk before the entry that names it, and an entry is gone before its inode is free. With soft
//! updates nothing is waited for, for the order is kept in memory; with `async` nothing is, for there
//! is no order.

use crate::fs::filesystem::Write;

/// What a change to a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A new inode, in its block.
    NewInode,
    /// Inodes that were never used before, as UFS2 writes them when they are first needed.
    FreshInodes,
    /// A new entry, in a directory block that was there.
    Entry,
    /// A new directory block.
    NewDirectoryBlock,
    /// The inode of a directory that has grown.
    GrownDirectory,
    /// The body of a new directory.
    NewDirectory,
    /// The inode of a directory with one more in it, or one less.
    LinkCount,
    /// An entry is gone.
    Removed,
    /// The first entry of a directory block is gone.
    FirstRemoved,
    /// The inode of a file that lets its blocks go.
    Truncated,
    /// An inode that is free again.
    FreedInode,
    /// An indirect block, still empty.
    NewIndirect,
    /// An indirect block of a directory that points to one block more.
    DirectoryPointer,
    /// The same for a file.
    FilePointer,
    /// What a file holds.
    Data,
    /// The last fragments of a file, moved or made more before others are added.
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

/// Whose file system.
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
    /// Without a flag: changes to the structure are waited for.
    Sync,
    /// `softdep`.
    SoftUpdates,
    /// `async`.
    Async,
}

/// A mounted file system's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Whose file system.
    pub system: System,
    /// How it is mounted.
    pub mode: Mode,
    /// Whether reading changes a file's time of last access.
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
    /// 4.4BSD forgets `async` in the third and fourth rows, which ask for the write by another way
    /// (`IO_SYNC`, `B_SYNC`); NetBSD's `bwrite` itself looks at the mount.
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
