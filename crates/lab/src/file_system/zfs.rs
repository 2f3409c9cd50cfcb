//! ZFS: file system and volume in one. Made for real only; there is no model of it.

use super::real::{Geometry, Making};
use super::{Bare, FileSystemKind, MakesFiles};
use crate::error::{Error, Result};
use crate::keys::{SIZE, Section, Takes, choice, keys};
use block::SECTOR_BYTES;
use block::units::format_bytes;
use sim::fs::Session;
use sim::fs::kernel::Delays;
use std::sync::Arc;

/// ZFS, as `fs.kind`.
pub(super) static KIND: FileSystemKind = FileSystemKind {
    name: "zfs",
    about: "ZFS, on real kernels only; single, stripe, mirror, raid10, raid5 (raidz1) and raid6 (raidz2) are its pools",
    keys: &[ZfsKeys::KEYS],
    read: |section| Arc::new(Zfs::read(section)),
};

keys! {
    /// The keys of ZFS.
    struct ZfsKeys {
        /// Largest block of a file (recordsize)
        record_sectors: u64 = choice("recordsize", SIZE).default("128KiB"),
        /// Smallest block on a member, as a power of two: 12 for 4 KiB [default: what the members say]
        ashift: Option<u32> = choice("ashift", Takes::Count(9, 16)),
        /// Properties of the file system, as in `compression=off,atime=off` [default: ZFS's own]
        properties: Option<String> = choice("properties", Takes::Text),
    }
}

#[derive(Debug)]
struct Zfs(ZfsKeys);

/// recordsize is a power of two from 512 bytes to 16 MiB (zfsprops(7)).
const RECORD_BYTES_MAX: u64 = 16 << 20;

impl Zfs {
    fn read(section: &Section<'_>) -> Self {
        Zfs(ZfsKeys::read(section))
    }

    fn no_model() -> Error {
        Error::input("`fs.kind` = zfs has no model; measure it with `--on disks`, or take ext4")
    }

    /// The options of `zpool create`. The pool is mounted by mount(8), where the trial says.
    fn options(&self) -> Result<Vec<String>> {
        let bytes = self.0.record_sectors * SECTOR_BYTES;
        if !bytes.is_power_of_two() || bytes > RECORD_BYTES_MAX {
            return Err(Error::input(format!(
                "`fs.recordsize` of {}: ZFS takes powers of two from 512 bytes to 16 MiB; take 128KiB",
                format_bytes(bytes)
            )));
        }
        let mut options = vec!["-f".to_string()];
        options.extend(self.0.ashift.iter().flat_map(|n| ["-o".into(), format!("ashift={n}")]));
        let own = ["mountpoint=legacy".to_string(), format!("recordsize={bytes}")];
        let given = self.0.properties.iter().flat_map(|text| text.split(','));
        let given = given.map(|property| property.trim().to_string());
        options.extend(own.into_iter().chain(given).flat_map(|property| ["-O".into(), property]));
        Ok(options)
    }
}

impl MakesFiles for Zfs {
    fn admit(&self, _: u64) -> Result<()> {
        Err(Zfs::no_model())
    }

    fn delays(&self) -> Delays {
        Delays::SYNCER
    }

    fn mount(&self, _: Bare, _: u64, _: u64) -> Result<Session> {
        Err(Zfs::no_model())
    }

    fn on_linux(&self, _: &Geometry) -> Result<Making> {
        Ok(Making {
            mkfs: [vec!["zpool".into(), "create".into()], self.options()?].concat(),
            package: "zfsutils-linux",
            kind: KIND.name,
            options: String::new(),
        })
    }

    fn is_its_own_volume(&self) -> bool {
        true
    }
}
