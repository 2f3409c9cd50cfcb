//! `untar`: unpacks a tree, and removes it.

#[cfg(unix)]
use super::live_stage::{LiveLap, LiveStage};
use super::stage::{Made, Program, Stage, Toll};
use super::trees::TreeKeys;
use super::{Build, Kind};
use crate::error::{Error, Result};
use crate::keys::{FromValue, SIZE_OR_ZERO, Takes, Value, keys, load};
use sim::fs::program::{modelled, newfs, pipe, tree};
use sim::fs::{Files as _, Lap};
use std::sync::Arc;

keys! {
    /// What `untar` has besides its tree.
    struct UntarKeys {
        /// Size of the pipe from a program that decompresses the archive; with 0 one program does both
        pipe_sectors: u64 = load("pipe", SIZE_OR_ZERO).default("0"),
        /// How the file system is mounted before the tree is removed
        remount: Remount = load("remount", REMOUNT).default("same"),
    }
}

const REMOUNT: Takes = Takes::Word(&["same", "sync", "softdep", "async"]);

/// How the file system is mounted again; `None` for as before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Remount(Option<String>);

impl FromValue for Remount {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(mode) = value else { return None };
        Some(Remount((mode != "same").then(|| mode.clone())))
    }
}

pub(super) static KIND: Kind = Kind {
    name: "untar",
    about: "Makes a file system (which `elapsed_s` leaves out), unpacks a tree, remounts and removes the tree",
    keys: &[TreeKeys::KEYS, UntarKeys::KEYS],
    samples: &[
        "elapsed_s",
        "newfs_s",
        "tar_s",
        "tar_reads",
        "tar_writes",
        "tar_waited_writes",
        "umount_after_tar_s",
        "rm_s",
        "rm_reads",
        "rm_writes",
        "rm_waited_writes",
        "umount_after_rm_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|section, trees| {
        let tree = trees.read(section)?;
        Ok(Arc::new(Untar { tree, keys: UntarKeys::read(section) }))
    }),
};

/// What a real file system tells: not which writes were waited for.
const LIVE_SAMPLES: &[&str] = &[
    "newfs_s",
    "tar_s",
    "tar_reads",
    "tar_writes",
    "umount_after_tar_s",
    "rm_s",
    "rm_reads",
    "rm_writes",
    "umount_after_rm_s",
];

#[derive(Debug)]
struct Untar {
    tree: Arc<tree::Tree>,
    keys: UntarKeys,
}

impl Program for Untar {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let measured = |lap: &Lap| {
            let traffic = &lap.traffic;
            let writes = traffic.writes + traffic.daemon_writes;
            let counts = [traffic.reads, writes, traffic.waited_writes].map(|count| count as f64);
            [&[lap.elapsed_s][..], &counts].concat()
        };
        let pipe_bytes = self.keys.pipe_sectors * block::SECTOR_BYTES;
        let [made, unpacked] = unpack(on, &self.tree, pipe_bytes)?;
        let umount_after_tar_s = remount(on)?;
        if let Remount(Some(mode)) = &self.keys.remount
            && !on.session.files().at_once(|file_system| file_system.remount(mode))
        {
            return Err(Error::input(format!(
                "`remount` = {mode} is a mount of FFS; leave it out, or take `fs.kind` = ffs"
            )));
        }
        let removed = on.only(modelled::remove_all(on.session.files().clone()))?.1;
        let umount_after_rm_s = remount(on)?;
        let mut values = vec![made.elapsed_s];
        values.extend(measured(&unpacked));
        values.push(umount_after_tar_s);
        values.extend(measured(&removed));
        values.push(umount_after_rm_s);
        Ok(values)
    }

    fn live_samples(&self) -> &'static [&'static str] {
        LIVE_SAMPLES
    }
    fn live_toll(&self) -> Option<Toll> {
        let figures = self.tree.figures();
        // Of the inodes that rm reads some stand in one block.
        let (waits, calls) = (figures.files / 16, 8 * figures.files);
        Some(Toll { bytes: figures.bytes, waits, calls, ..Toll::default() })
    }

    /// One program unpacks and writes; `pipe` and `remount` are of the model.
    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let made_s = on.made_s();
        let tree = Arc::clone(&self.tree);
        let unpacked = on.only(async |files| {
            let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib: 0 };
            tree::extract(files, tree, archive).await
        })?;
        let umount_after_tar_s = on.remount()?;
        let removed = on.only(async |files| tree::remove_all(files).await)?;
        let umount_after_rm_s = on.remount()?;
        let figures = |lap: &LiveLap, umount_s: f64| {
            [lap.elapsed_s, lap.moved.reads as f64, lap.moved.writes as f64, umount_s]
        };
        let mut values = vec![made_s];
        values.extend(figures(&unpacked, umount_after_tar_s));
        values.extend(figures(&removed, umount_after_rm_s));
        Ok(values)
    }
}

/// Makes the file system, and unpacks a tree; through a pipe of `pipe_bytes`, where that is not 0.
pub(super) fn unpack(
    on: &mut Stage<'_>,
    tree: &Arc<tree::Tree>,
    pipe_bytes: u64,
) -> Result<[Lap; 2]> {
    let ((), made) = on.only(newfs::newfs(on.session.files().clone()))?;
    on.only(modelled::mount_new(on.session.files().clone()))?;
    let kernel = on.session.files().kernel();
    on.made = Made {
        elapsed_s: on.session.files().seconds(),
        work_ns: kernel.clock().work_ns(),
        counters: kernel.counters(),
    };
    let unpacked = extract(on, Arc::clone(tree), pipe_bytes)?;
    Ok([made, unpacked])
}

/// Unpacks and extracts `tree`, in one program or in two with a pipe between them.
fn extract(on: &mut Stage<'_>, tree: Arc<tree::Tree>, pipe_bytes: u64) -> Result<Lap> {
    let files = on.session.files().clone();
    let work_ns_per_kib = on.host.stdio_write_ns_per_kib;
    if pipe_bytes == 0 {
        let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib };
        return on.all(vec![modelled::extract(files, tree, archive)]);
    }
    let pipe = pipe::Pipe::new(files.kernel().clock().clone(), pipe_bytes);
    let bytes = tree.figures().bytes;
    let unpack = modelled::unpack(pipe.clone(), bytes, work_ns_per_kib);
    on.all(vec![unpack, modelled::extract_piped(files, tree, pipe)])
}

fn remount(on: &mut Stage<'_>) -> Result<f64> {
    Ok(on.only(modelled::remount(on.session.files().clone()))?.1.elapsed_s)
}
