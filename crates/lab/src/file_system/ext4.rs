//! ext4: its keys, and what they ask mke2fs(8) and mount(8) for.

use super::real::{self, Making, one_device};
use super::{BLOCK, Bare, FileSystemKind, MakesFiles};
use crate::error::{Error, Result};
use crate::keys::{Takes, choice, keys, words};
use block::SECTOR_BYTES;
use block::units::format_sectors;
use sim::Nanos;
use sim::fs::Session;
use sim::fs::ext4::geometry::{Geometry, Options};
use sim::fs::ext4::mount::{AccessTimes, Barrier, Data, Mount};
use sim::fs::ext4::{Ext4, hash_seed};
use sim::fs::kernel::Delays;
use std::sync::Arc;

/// ext4, as `fs.kind`.
pub(super) static KIND: FileSystemKind = FileSystemKind {
    name: "ext4",
    about: "Linux's ext4, as mkfs.ext4 1.47 makes it and Linux 6.1 uses it",
    keys: &[Ext4Keys::KEYS],
    read: |section| Arc::new(Ext4Setup { keys: Ext4Keys::read(section) }),
};

/// A size from one sector to 64 MiB.
const PART: Takes = Takes::Sectors(1, 131_072);

keys! {
    /// The keys of ext4.
    pub struct Ext4Keys {
        /// Block size (mkfs.ext4 -b): 1KiB, 2KiB or 4KiB
        block_sectors: u64 = choice("block", BLOCK).default("4KiB"),
        /// Bytes per inode (mkfs.ext4 -i) [default: as mke2fs.conf has it, 16KiB from 512 MiB to 4 TiB]
        inode_ratio_sectors: Option<u64> = choice("inode_ratio", Takes::Sectors(2, 131_072)),
        /// Chunk of the volume that the allocator knows of (mkfs.ext4 -E stride) [default: none]
        stride_sectors: Option<u64> = choice("stride", PART),
        /// Stripe of the volume that the allocator aligns to (mkfs.ext4 -E stripe-width) [default: none]
        stripe_width_sectors: Option<u64> = choice("stripe_width", PART),
        /// Keep a journal (`mkfs.ext4 -O has_journal`)
        journal: bool = choice("journal", Takes::Switch).default("true"),
        /// What is on disk before the metadata that names it (mount -o data=)
        data: DataMode = choice("data", DataMode::TAKES).default("ordered"),
        /// Place data when they are written back, not when a program writes them (mount -o delalloc)
        delalloc: bool = choice("delalloc", Takes::Switch).default("true"),
        /// Longest time that a transaction runs (mount -o commit=)
        commit_ns: Nanos = choice("commit", Takes::Time(1_000_000, 900_000_000_000)).default("5s"),
        /// How a commit empties the drives' write caches: two flushes, as for drives without FUA; one flush
        /// and a forced write; or none (mount -o nobarrier)
        barrier: BarrierMode = choice("barrier", BarrierMode::TAKES).default("flushes"),
        /// Update access times: relatime, or noatime
        atime: bool = choice("atime", Takes::Switch).default("true"),
    }
}

words! {
    /// What is on the disk before the metadata that names it.
    pub enum DataMode {
        /// What files hold.
        Ordered = "ordered",
        /// Nothing.
        Writeback = "writeback",
    }
}

words! {
    /// How a commit empties the drives' write caches.
    pub enum BarrierMode {
        /// A flush before the commit block and one behind it.
        Flushes = "flushes",
        /// A flush before it, and a forced write.
        Fua = "fua",
        /// Not at all.
        None = "none",
    }
}

/// A file system to be made, and how it is mounted.
#[derive(Debug)]
struct Ext4Setup {
    keys: Ext4Keys,
}

impl Ext4Setup {
    fn geometry(&self, sectors: u64) -> Result<Geometry> {
        let keys = &self.keys;
        let block_bytes = keys.block_sectors * SECTOR_BYTES;
        let blocks = |key: &str, value: Option<u64>| match value {
            Some(sectors) if sectors % keys.block_sectors != 0 => Err(Error::input(format!(
                "`fs.{key}`: {} are not whole blocks of {block_bytes} bytes; give a multiple of `fs.block`",
                format_sectors(sectors)
            ))),
            value => Ok(value.unwrap_or(0) / keys.block_sectors),
        };
        let usual = Options::for_bytes(sectors * SECTOR_BYTES);
        let ratio = keys.inode_ratio_sectors.map(|sectors| sectors * SECTOR_BYTES);
        let options = Options {
            block_bytes,
            inode_ratio_bytes: ratio.unwrap_or(usual.inode_ratio_bytes),
            stride_blocks: blocks("stride", keys.stride_sectors)?,
            stripe_width_blocks: blocks("stripe_width", keys.stripe_width_sectors)?,
            has_journal: keys.journal,
            ..usual
        };
        Geometry::new(options, sectors)
            .map_err(|error| Error::input(format!("`fs.block` or `fs.inode_ratio`: {error}")))
    }

    /// `-E stride=,stripe_width=` in blocks: what the keys say, or else what the volume is. A chunk of 64 KiB on
    /// three members with data is a stride of 16 blocks of 4 KiB, and a width of 48.
    fn extended(&self, volume: &real::Geometry) -> Option<String> {
        let keys = &self.keys;
        let chunk_sectors = volume.chunk_bytes.map(|bytes| bytes / SECTOR_BYTES);
        let stride = keys.stride_sectors.or(chunk_sectors);
        let width = keys
            .stripe_width_sectors
            .or(chunk_sectors.map(|sectors| sectors * volume.data_members));
        let blocks = |sectors: u64| sectors / keys.block_sectors;
        let parts = [("stride", stride), ("stripe_width", width)];
        let parts = parts.iter().filter_map(|(name, sectors)| {
            sectors.map(|sectors| format!("{name}={}", blocks(sectors)))
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(","))
    }

    /// The options of mount(8), those that differ from the kernel's own.
    fn options(&self) -> String {
        let keys = &self.keys;
        let seconds = keys.commit_ns / 1_000_000_000;
        let parts = [
            (keys.data == DataMode::Writeback).then(|| "data=writeback".to_string()),
            (!keys.delalloc).then(|| "nodelalloc".to_string()),
            (seconds != 5).then(|| format!("commit={}", seconds.max(1))),
            (keys.barrier == BarrierMode::None).then(|| "nobarrier".to_string()),
            (!keys.atime).then(|| "noatime".to_string()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(",")
    }

    fn mount_options(&self) -> Mount {
        let keys = &self.keys;
        Mount {
            data: match keys.data {
                DataMode::Ordered => Data::Ordered,
                DataMode::Writeback => Data::Writeback,
            },
            delayed_allocation: keys.delalloc,
            commit_ns: keys.commit_ns,
            barrier: match keys.barrier {
                BarrierMode::Flushes => Barrier::Flushes,
                BarrierMode::Fua => Barrier::Fua,
                BarrierMode::None => Barrier::None,
            },
            access_times: if keys.atime { AccessTimes::Relative } else { AccessTimes::Never },
        }
    }
}

impl MakesFiles for Ext4Setup {
    fn admit(&self, sectors: u64) -> Result<()> {
        self.geometry(sectors).map(|_| ())
    }

    /// What is dirty for 30 s is written, and every 5 s it is looked for (`dirty_expire_centisecs`,
    /// `dirty_writeback_centisecs` in `mm/page-writeback.c`).
    fn delays(&self) -> Delays {
        const SECOND_NS: Nanos = 1_000_000_000;
        let dirty_ns = 30 * SECOND_NS;
        Delays {
            data_ns: dirty_ns,
            directory_ns: dirty_ns,
            metadata_ns: dirty_ns,
            tick_ns: 5 * SECOND_NS,
        }
    }

    /// 1280 KiB (`BLK_DEF_MAX_SECTORS` in `include/linux/blkdev.h`).
    fn request_sectors_max(&self) -> u32 {
        2560
    }

    fn is_modelled_on_linux(&self) -> bool {
        true
    }

    fn mount(&self, bare: Bare, sectors: u64, seed: u64) -> Result<Session> {
        let geometry = self.geometry(sectors)?;
        Ok(bare.with(Ext4::new(geometry, self.mount_options(), hash_seed(seed))))
    }

    /// Inode tables are made at once: in a trial no kernel's thread shall write them behind.
    fn on_linux(&self, volume: &real::Geometry) -> Result<Making> {
        one_device("ext4", volume)?;
        let keys = &self.keys;
        let line = format!("mkfs.ext4 -q -F -b {}", keys.block_sectors * SECTOR_BYTES);
        let mut mkfs = real::words(&line);
        if let Some(sectors) = keys.inode_ratio_sectors {
            mkfs.extend(["-i".into(), (sectors * SECTOR_BYTES).to_string()]);
        }
        if !keys.journal {
            mkfs.extend(["-O".into(), "^has_journal".into()]);
        }
        let at_once = "lazy_itable_init=0,lazy_journal_init=0".to_string();
        let extended =
            self.extended(volume).map_or(at_once.clone(), |own| format!("{at_once},{own}"));
        mkfs.extend(["-E".into(), extended]);
        Ok(Making { mkfs, package: "e2fsprogs", kind: "ext4", options: self.options() })
    }
}
