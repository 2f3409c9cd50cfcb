//! File systems that an experiment can make: the kinds, one file each.
//!
//! A kind's file has its keys, what they ask mkfs and mount for, and how it is started. To add one, write
//! that file and name it in [`KINDS`].

pub mod ext4;
pub mod ffs;
mod linux;
pub mod real;
mod zfs;

pub use linux::btrfs_profiles;

use crate::error::Result;
use crate::keys::{FromValue, Key, Section, Takes, Value, choice, keys};
use sim::fs::Session;
use sim::fs::filesystem::FileSystem;
use sim::fs::kernel::{Delays, Spec};
use sim::fs::mounted::{Costs, Streaming};
use sim::{Device, Plugs, Processor};
use std::fmt;
use std::sync::Arc;

/// All kinds, in the order in which they are listed.
pub static KINDS: &[&FileSystemKind] =
    &[&ffs::KIND, &ext4::KIND, &linux::XFS, &linux::BTRFS, &linux::F2FS, &zfs::KIND];

/// The sizes of blocks that any kind takes; each says itself which of them it can do.
const BLOCK: Takes = Takes::Sectors(2, 128);

/// A kind of file system.
#[derive(Debug)]
pub struct FileSystemKind {
    /// The word that `fs.kind` takes.
    pub name: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [&'static [Key]],
    /// What its keys ask for.
    read: fn(&Section<'_>) -> FilesSetup,
}

/// A file system to be made, and how it is mounted.
pub type FilesSetup = Arc<dyn MakesFiles>;

/// Makes a file system of some kind.
pub trait MakesFiles: fmt::Debug + Send + Sync {
    /// Whether it can be made on a volume of `sectors`.
    ///
    /// # Errors
    ///
    /// Where it cannot; the message names the key.
    fn admit(&self, sectors: u64) -> Result<()>;

    /// How long the kernel that it belongs to lets changes wait.
    fn delays(&self) -> Delays;

    /// The largest request that its kernel makes where the host says nothing, in sectors: 64 KiB in BSD
    /// (MAXPHYS).
    fn request_sectors_max(&self) -> u32 {
        128
    }

    /// Makes it on a volume of `sectors`, and mounts it. What is random in it follows from `seed`.
    ///
    /// # Errors
    ///
    /// Where it cannot be made; the message names the key.
    fn mount(&self, bare: Bare, sectors: u64, seed: u64) -> Result<Session>;

    /// What makes it on a real volume.
    ///
    /// # Errors
    ///
    /// Where Linux makes none of its kind, or not on such a volume; the message names the key.
    fn on_linux(&self, volume: &real::Geometry) -> Result<real::Making> {
        let _ = volume;
        Err(crate::Error::input(
            "Linux makes no FFS; take `fs.kind` = ext4, xfs, btrfs, f2fs or zfs",
        ))
    }

    /// Whether it makes a pool of the members, so that nothing is built below it.
    fn is_its_own_volume(&self) -> bool {
        false
    }

    /// Whether its model is of Linux, which has its own queues in front of every drive.
    fn is_modelled_on_linux(&self) -> bool {
        false
    }
}

/// A machine without a file system.
pub struct Bare {
    /// What it computes with.
    pub processor: Processor,
    /// The volume.
    pub device: Box<dyn Device>,
    /// Its memory, and when that is written.
    pub spec: Spec,
    /// The processor's work.
    pub costs: Costs,
    /// Reading ahead and writing behind.
    pub streaming: Streaming,
    /// What the kernel's tasks send together.
    pub plugs: Plugs,
}

impl Bare {
    /// The machine with a file system mounted.
    pub fn with(self, file_system: impl FileSystem) -> Session {
        let Bare { processor, device, spec, costs, streaming, plugs } = self;
        Session::new(processor, device, spec, file_system, costs, streaming).sending_with(&plugs)
    }
}

impl FileSystemKind {
    /// The kind of this name.
    pub fn find(name: &str) -> Option<&'static FileSystemKind> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// The kind that a section `fs` has, if there is a file system: the one that it names, or FFS where it
    /// says whose newfs makes it.
    pub fn of(kind: Option<&str>, has_newfs: bool) -> Option<&'static FileSystemKind> {
        match kind {
            Some(kind) => FileSystemKind::find(kind),
            None => has_newfs.then_some(&ffs::KIND),
        }
    }

    /// Whether it has a key of this name.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().copied().flatten().any(|known| known.name == key)
    }
}

/// What the section `fs` says, if it says that there is a file system.
pub fn read(section: &Section<'_>) -> Option<FilesSetup> {
    let kind = FsKeys::read(section).kind.map(|kind| kind.name);
    FileSystemKind::of(kind, section.sets("newfs")).map(|kind| (kind.read)(section))
}

/// What `kind` takes.
const KIND: Takes = Takes::Name {
    names: || KINDS.iter().map(|kind| kind.name).collect(),
    also: Vec::new,
    read: |text| FileSystemKind::find(text).map(|kind| kind.name),
};

keys! {
    /// The keys of every file system.
    pub struct FsKeys {
        /// Kind of file system on the volume; the workloads are then programs that use files
        kind: Option<&'static FileSystemKind> = choice("kind", KIND),
    }
}

impl FromValue for &'static FileSystemKind {
    fn from_value(value: &Value) -> Option<Self> {
        FileSystemKind::find(&value.to_string())
    }
}

impl PartialEq for FileSystemKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FileSystemKind {}
