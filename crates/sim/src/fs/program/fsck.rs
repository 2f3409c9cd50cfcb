//! fsck(8), mount(8) and umount(8): what they read and write of the raw device.

use crate::Nanos;
use crate::fs::ffs::mount::System;
use crate::fs::ffs::survey::Look;
use crate::fs::kernel::{Extent, Kernel};
use crate::fs::{Files, Mounted};
use std::rc::Rc;

/// The processor's work on what was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// For each inode, in ns.
    pub inode_ns: Nanos,
    /// For each directory entry, in ns.
    pub entry_ns: Nanos,
}

/// Finds the superblock, compares it with its last copy, and reads the summary of all groups.
pub async fn set_up(files: Mounted, system: System) {
    let reads = files.at_once(|ffs| {
        let mut reads = ffs.superblock_reads(system);
        reads.push(ffs.last_superblock_copy());
        reads.extend(ffs.summary());
        reads
    });
    read_all(files.kernel(), reads).await;
}

/// Runs through a phase: each read waits for the one before.
pub async fn phase(kernel: Rc<Kernel>, looks: Vec<Look>, work: Work) {
    for look in looks {
        match look {
            Look::Read(extent) => kernel.read_raw(extent).await,
            Look::Inodes(count) => kernel.clock().charge(count * work.inode_ns),
            Look::Entries(count) => kernel.clock().charge(count * work.entry_ns),
        }
        kernel.clock().settle_much().await;
    }
    kernel.clock().settle().await;
}

/// Says in the superblock that all is well.
pub async fn finish(files: Mounted) {
    let superblock = files.at_once(|ffs| ffs.superblock());
    files.kernel().write_raw(superblock).await;
    files.kernel().close().await;
}

/// Mounts a file system to be written: reads the superblock and the summary, writes both back, for it is
/// not clean from now on (`ffs_cgupdate`), and reads the root.
pub async fn mount(files: Mounted, system: System) {
    let (superblocks, summary) = files.at_once(|ffs| (ffs.superblock_reads(system), ffs.summary()));
    let kernel = Rc::clone(files.kernel());
    read_all(&kernel, superblocks).await;
    read_all(&kernel, summary).await;
    write_back(&files).await;
    files.readdir(files.root()).await.expect("there is always a root");
}

/// Unmounts: writes what is left, the superblock and the summary, and once more that it is clean.
pub async fn umount(files: Mounted) {
    files.kernel().sync().await;
    write_back(&files).await;
    let superblock = files.at_once(|ffs| ffs.superblock());
    files.kernel().write_raw(superblock).await;
    files.remount().await;
}

async fn write_back(files: &Mounted) {
    let writes = files.at_once(|ffs| [vec![ffs.superblock()], ffs.summary()].concat());
    for extent in writes {
        files.kernel().write_raw(extent).await;
    }
}

async fn read_all(kernel: &Kernel, reads: Vec<Extent>) {
    for extent in reads {
        kernel.read_raw(extent).await;
    }
}
