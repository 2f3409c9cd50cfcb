//! fsck(8), mount(8) and umount(8): what they read from and write to the raw device.

use crate::Nanos;
use crate::fs::filesystem::{Access, Look};
use crate::fs::{FileSystem, Files, FsError, Mounted};
use block::Op;

/// The processor's work on what was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// For each inode, in ns.
    pub inode_ns: Nanos,
    /// For each directory entry, in ns.
    pub entry_ns: Nanos,
}

/// Runs through a phase: each read waits for the one before.
///
/// # Errors
///
/// Where the device fails.
pub async fn phase(files: Mounted, looks: Vec<Look>, work: Work) -> Result<(), FsError> {
    let (kernel, clock) = (files.kernel(), files.kernel().clock());
    for look in looks {
        match look {
            Look::Read(extent) => kernel.raw(Op::Read, extent, false).await?,
            Look::Inodes(count) => clock.charge(count * work.inode_ns),
            Look::Entries(count) => clock.charge(count * work.entry_ns),
        }
        clock.settle_much().await;
    }
    clock.settle().await;
    Ok(())
}

/// Marks the file system clean in the superblock.
///
/// # Errors
///
/// Where the device fails.
pub async fn finish(files: Mounted, accesses: Vec<Access>) -> Result<(), FsError> {
    make_all(&files, accesses).await?;
    files.kernel().close().await
}

/// Mounts a file system for writing, and reads the root.
///
/// # Errors
///
/// Where the device fails.
pub async fn mount(files: Mounted) -> Result<(), FsError> {
    let accesses = files.at_once(FileSystem::mount);
    make_all(&files, accesses).await?;
    files.readdir(files.root()).await.map(drop)
}

/// Mounts what was just made, where the kernel remembers of it what mount reads: the superblock is written and flushed.
///
/// # Errors
///
/// Where the device fails.
pub async fn mount_new(files: Mounted) -> Result<(), FsError> {
    if !files.policy().remount_ends {
        return Ok(());
    }
    let accesses = files.at_once(FileSystem::mount);
    make_all(&files, accesses).await
}

/// Unmounts: writes what is left, and marks the file system clean.
///
/// # Errors
///
/// Where the device fails.
pub async fn umount(files: Mounted) -> Result<(), FsError> {
    if !files.policy().remount_ends {
        files.sync().await?;
        let accesses = files.at_once(FileSystem::unmount);
        make_all(&files, accesses).await?;
    }
    files.remount().await
}

/// One access after the other.
pub(super) async fn make_all(files: &Mounted, accesses: Vec<Access>) -> Result<(), FsError> {
    files.access_raw(accesses).await
}
