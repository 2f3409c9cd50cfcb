//! The file system of an experiment, and the programs that use it.

use super::file::Setting;
use super::keys::Value;
use crate::error::{Error, Result};
use sim::fs::ffs::geometry::{Cylinders, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::program::tree::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file system to be made, and how it is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesSetup {
    /// What newfs is asked for.
    pub options: Options,
    /// How it is mounted.
    pub mount: Mount,
}

/// A program that uses files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesWork {
    /// Which.
    pub program: Program,
    /// How many files it makes.
    pub files: u64,
    /// How many directories it makes.
    pub directories: u64,
    /// How large a file it makes, or all of them, in bytes.
    pub bytes: u64,
    /// How much of that is in files of 1 MiB, in bytes.
    pub large_bytes: u64,
    /// What the pipe to the program that unpacks holds, in bytes; 0 where there is none.
    pub pipe_bytes: u64,
    /// What is unpacked, where that is not in the figures above.
    pub tree: Option<Arc<Tree>>,
    /// How it is mounted before the tree is removed, where that is not as before.
    pub remount: Option<Mode>,
    /// How many readers of a spool there are.
    pub readers: u64,
    /// How many files each of them reads.
    pub files_per_reader: u64,
    /// Whether it reads them in the order in which they were made.
    pub sorted: bool,
}

/// A way to mount, if the word is one.
fn mode(word: &str) -> Option<Mode> {
    match word {
        "sync" => Some(Mode::Sync),
        "softdep" => Some(Mode::SoftUpdates),
        "async" => Some(Mode::Async),
        _ => None,
    }
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Makes many empty files, touches them, removes them.
    Touch,
    /// Writes a file in order and reads it.
    Iozone,
    /// Bonnie's six tests.
    Bonnie,
    /// Makes the file system.
    Newfs,
    /// Takes a file as an NFS server does, each write safe before the next.
    Nfs,
    /// Makes a tree, and removes it.
    Untar,
    /// Reads a news spool.
    Spool,
    /// Makes a tree, unmounts, checks it, and mounts it.
    Fsck,
    /// Writes a file, reads it and writes it over, as far as memory goes.
    Memory,
}

impl FilesSetup {
    /// What `values` say, if they say anything of a file system.
    pub(super) fn read(values: &BTreeMap<String, Value>) -> Option<Self> {
        let text = |key: &str| values.get(key).map(Value::to_string).unwrap_or_default();
        let count = |key: &str| match values.get(key) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        };
        values.get("fs.newfs")?;
        let old = text("fs.newfs") == "4.4bsd";
        let block_bytes = count("fs.block")? * block::SECTOR_BYTES;
        let cylinders = Cylinders {
            tracks: 1,
            track_sectors: count("fs.cylinder")?,
            per_group: count("fs.cylinders")?,
        };
        Some(FilesSetup {
            options: Options {
                newfs: if old { Newfs::Bsd44(cylinders) } else { Newfs::NetBsd2 },
                version: if count("fs.version") == Some(2) { Version::Ufs2 } else { Version::Ufs1 },
                block_bytes,
                frag_bytes: count("fs.frag").map_or(block_bytes / 8, |f| f * block::SECTOR_BYTES),
                density_bytes: None,
            },
            mount: Mount {
                system: if old { System::Bsd44 } else { System::NetBsd2 },
                mode: mode(&text("fs.mount"))?,
                access_times: values.get("fs.atime") == Some(&Value::Switch(true)),
            },
        })
    }
}

/// Whether every key of these has a meaning: programs and file systems only where there is one, which
/// `fs.newfs` makes, and blocks by themselves only where there is none.
pub(super) fn check_idle(settings: &BTreeMap<String, &Setting>) -> Result<()> {
    let own = |path: &str, keys: &[&str]| {
        path.starts_with("workload.") && keys.iter().any(|key| path.ends_with(key))
    };
    let (mut paths, next) = if settings.contains_key("fs.newfs") {
        let idle: Vec<&String> =
            settings.keys().filter(|path| own(path, &[".kind", ".op"])).collect();
        (idle.into_iter(), "on a file system; say `program`, or leave out `fs.newfs`")
    } else {
        let of_files = |path: &&String| path.starts_with("fs.") || own(path, &[".program"]);
        let idle: Vec<&String> = settings.keys().filter(of_files).collect();
        (idle.into_iter(), "without a file system; make one by `newfs = \"netbsd2\"` under [fs]")
    };
    match paths.next() {
        Some(path) => Err(Error::input(format!("`{path}` means nothing {next}"))),
        None => Ok(()),
    }
}

impl FilesWork {
    /// What the keys of a workload say, each by its name.
    pub(super) fn read(text: impl Fn(&str) -> String, number: impl Fn(&str) -> u64) -> Self {
        FilesWork {
            program: match text("program").as_str() {
                "iozone" => Program::Iozone,
                "bonnie" => Program::Bonnie,
                "newfs" => Program::Newfs,
                "nfs" => Program::Nfs,
                "untar" => Program::Untar,
                "spool" => Program::Spool,
                "fsck" => Program::Fsck,
                "memory" => Program::Memory,
                _ => Program::Touch,
            },
            files: number("files"),
            directories: number("directories"),
            bytes: number("size") * block::SECTOR_BYTES,
            large_bytes: number("large") * block::SECTOR_BYTES,
            pipe_bytes: number("pipe") * block::SECTOR_BYTES,
            tree: None,
            remount: mode(&text("remount")),
            readers: number("readers"),
            files_per_reader: number("files_per_reader"),
            sorted: text("sorted") == "true",
        }
    }
}
