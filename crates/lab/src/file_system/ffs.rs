//! The Berkeley fast file system: its keys, and what they ask newfs and mount for.

use super::{BLOCK, Bare, FileSystemKind, MakesFiles};
use crate::error::{Error, Result};
use crate::keys::{FromValue, Section, Takes, Value, Word, choice, keys, words};
use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::ffs::{Ffs, Placement};
use sim::fs::kernel::Delays;
use sim::fs::{FsError, Session};
use std::sync::Arc;

/// FFS, as `fs.kind`.
pub(crate) static KIND: FileSystemKind = FileSystemKind {
    name: "ffs",
    about: "The Berkeley fast file system of 4.4BSD, FreeBSD and NetBSD",
    keys: &[FfsKeys::KEYS],
    read: |section| Arc::new(FfsSetup::read(section)),
};

keys! {
    /// The keys of FFS.
    pub struct FfsKeys {
        /// File system on the volume, as the newfs of 4.4BSD (FreeBSD 2, NetBSD 1) or of NetBSD 2 makes it; the
        /// workloads are then programs that use files. Without it netbsd2, where `kind` is ffs
        newfs: Option<NewfsOf> = choice("newfs", NewfsOf::TAKES),
        /// On-disk format: FFS version 1 or 2 (newfs -O)
        version: u32 = choice("version", Takes::Count(1, 2)).default("1"),
        /// Block size (newfs -b)
        block_sectors: u64 = choice("block", BLOCK).default("8KiB"),
        /// Fragment size (newfs -f) [default: an eighth of a block]
        frag_sectors: Option<u64> = choice("frag", Takes::Sectors(1, 128)),
        /// Cylinder size that newfs is told, one track: ccd has 1MiB, FreeBSD's newfs takes 2MiB whatever the
        /// disk; 4.4BSD only
        cylinder_sectors: u64 = choice("cylinder", Takes::Sectors(1, 1 << 24)).default("1MiB"),
        /// Cylinders per group (newfs -c); 4.4BSD only
        cylinders: u64 = choice("cylinders", Takes::Count(1, 65_536)).default("16"),
        /// Metadata writes: synchronous, soft updates or asynchronous
        mount: Mode = choice("mount", Takes::words::<Mode>()).default("sync"),
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

impl Word for Mode {
    const WORDS: &'static [&'static str] = Mode::WORDS;

    fn of_word(word: &str) -> Option<Self> {
        Mode::named(word)
    }
}

impl FromValue for Mode {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(word) = value else { return None };
        Mode::named(word)
    }
}

/// A file system to be made, and how it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FfsSetup {
    /// What newfs is asked for.
    options: Options,
    /// How it is mounted.
    mount: Mount,
}

impl FfsSetup {
    /// What the section `fs` says.
    fn read(section: &Section<'_>) -> Self {
        let keys = FfsKeys::read(section);
        let cylinders = Cylinders {
            tracks: 1,
            track_sectors: keys.cylinder_sectors,
            per_group: keys.cylinders,
        };
        let (newfs, system) = match keys.newfs.unwrap_or(NewfsOf::NetBsd2) {
            NewfsOf::Bsd44 => (Newfs::Bsd44(cylinders), System::Bsd44),
            NewfsOf::NetBsd2 => (Newfs::NetBsd2, System::NetBsd2),
        };
        let block_bytes = keys.block_sectors * block::SECTOR_BYTES;
        let frag_bytes = keys.frag_sectors.map(|sectors| sectors * block::SECTOR_BYTES);
        FfsSetup {
            options: Options {
                newfs,
                version: if keys.version == 2 { Version::Ufs2 } else { Version::Ufs1 },
                block_bytes,
                frag_bytes: frag_bytes.unwrap_or(block_bytes / 8),
                density_bytes: None,
            },
            mount: Mount { system, mode: keys.mount, access_times: keys.atime },
        }
    }

    fn geometry(&self, sectors: u64) -> Result<Geometry> {
        Geometry::new(self.options, sectors).map_err(|error| {
            Error::input(format!("`fs.block`, `fs.frag` or `fs.version`: {error}"))
        })
    }
}

impl MakesFiles for FfsSetup {
    fn admit(&self, sectors: u64) -> Result<()> {
        self.geometry(sectors).map(|_| ())
    }

    fn delays(&self) -> Delays {
        match self.mount.system {
            System::Bsd44 => Delays::UPDATE,
            System::NetBsd2 => Delays::SYNCER,
        }
    }

    fn mount(&self, bare: Bare, sectors: u64, seed: u64) -> Result<Session> {
        let placement = match self.mount.system {
            System::Bsd44 => Placement::BSD44,
            System::NetBsd2 => Placement::NETBSD2,
        };
        let geometry = self.geometry(sectors)?;
        let ffs = Ffs::new(geometry, sectors, placement, self.mount, seed).map_err(too_small)?;
        Ok(bare.with(ffs))
    }
}

fn too_small(error: FsError) -> Error {
    Error::input(format!("the file system cannot be made: {error}; take a larger volume"))
}
