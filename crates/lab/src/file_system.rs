//! The file system of an experiment: its keys, and what they ask newfs and mount for.

use crate::keys::{Section, Takes, choice, keys, words};
use sim::fs::ffs::geometry::{Cylinders, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};

keys! {
    /// The keys of `fs`.
    pub struct FsKeys {
        /// File system on the volume, as the newfs of 4.4BSD (FreeBSD 2, NetBSD 1) or of NetBSD 2 makes it; the
        /// workloads are then programs that use files
        newfs: Option<NewfsOf> = choice("newfs", NewfsOf::TAKES),
        /// On-disk format: FFS version 1 or 2 (newfs -O)
        version: u32 = choice("version", Takes::Count(1, 2)).default("1"),
        /// Block size (newfs -b)
        block_sectors: u64 = choice("block", Takes::Sectors(8, 128)).default("8KiB"),
        /// Fragment size (newfs -f); without it an eighth of a block
        frag_sectors: Option<u64> = choice("frag", Takes::Sectors(1, 128)),
        /// Cylinder size that newfs is told, one track: ccd has 1MiB, FreeBSD's newfs takes 2MiB whatever the
        /// disk; 4.4BSD only
        cylinder_sectors: u64 = choice("cylinder", Takes::Sectors(1, 1 << 24)).default("1MiB"),
        /// Cylinders per group (newfs -c); 4.4BSD only
        cylinders: u64 = choice("cylinders", Takes::Count(1, 65_536)).default("16"),
        /// Metadata writes: synchronous, soft updates or asynchronous
        mount: MountMode = choice("mount", MountMode::TAKES).default("sync"),
        /// Update access times (atime)
        atime: bool = choice("atime", Takes::Switch).default("true"),
    }
}

words! {
    /// Whose newfs.
    pub enum NewfsOf {
        /// 4.4BSD, FreeBSD 2, NetBSD 1.
        Bsd44 = "4.4bsd",
        /// NetBSD 2.
        NetBsd2 = "netbsd2",
    }
}

words! {
    /// Which changes to the structure a program waits for.
    pub enum MountMode {
        /// All.
        Sync = "sync",
        /// None; soft updates order them.
        SoftUpdates = "softdep",
        /// None.
        Async = "async",
    }
}

impl From<MountMode> for Mode {
    fn from(mode: MountMode) -> Self {
        match mode {
            MountMode::Sync => Mode::Sync,
            MountMode::SoftUpdates => Mode::SoftUpdates,
            MountMode::Async => Mode::Async,
        }
    }
}

/// A file system to be made, and how it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesSetup {
    /// What newfs is asked for.
    pub options: Options,
    /// How it is mounted.
    pub mount: Mount,
}

impl FilesSetup {
    /// What the section `fs` says, if it says that there is a file system.
    pub fn read(section: &Section<'_>) -> Option<Self> {
        let keys = FsKeys::read(section);
        let cylinders = Cylinders {
            tracks: 1,
            track_sectors: keys.cylinder_sectors,
            per_group: keys.cylinders,
        };
        let (newfs, system) = match keys.newfs? {
            NewfsOf::Bsd44 => (Newfs::Bsd44(cylinders), System::Bsd44),
            NewfsOf::NetBsd2 => (Newfs::NetBsd2, System::NetBsd2),
        };
        let block_bytes = keys.block_sectors * block::SECTOR_BYTES;
        let frag_bytes = keys.frag_sectors.map(|sectors| sectors * block::SECTOR_BYTES);
        Some(FilesSetup {
            options: Options {
                newfs,
                version: if keys.version == 2 { Version::Ufs2 } else { Version::Ufs1 },
                block_bytes,
                frag_bytes: frag_bytes.unwrap_or(block_bytes / 8),
                density_bytes: None,
            },
            mount: Mount { system, mode: keys.mount.into(), access_times: keys.atime },
        })
    }
}
