//! `power-cut`: writes files and makes each durable; afterwards power is cut at many instants of that, and what was durable
//! must be there. On a real kernel in virtual time only, which can go through the same hour again and again.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Cuts, Program, Stage};
use super::{Build, Kind};
use crate::catalogue::Host;
use crate::error::{Error, Result};
use crate::keys::{SIZE, Takes, keys, load};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

keys! {
    /// The keys of `power-cut`.
    struct PowerCut {
        /// Files that are written, each followed by its fsync and its directory's
        files: u64 = load("files", Takes::Count(1, 10_000_000)).default("100"),
        /// Size of a file
        size_sectors: u64 = load("size", SIZE).default("64KiB"),
        /// Instants at which power is cut, evenly over the time that the files take
        cuts: u64 = load("cuts", Takes::Count(1, 10_000)).default("50"),
        /// With each cut a member is lost, too, another one each time
        loses_member: bool = load("loses_member", Takes::Switch).default("false"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "power-cut",
    about: "Writes files with fsync, cuts power at many instants, mounts again and looks; on a real kernel only",
    keys: &[PowerCut::KEYS],
    samples: SAMPLES,
    build: Build::Program(|section, _| Ok(Arc::new(PowerCut::read(section)))),
};

const SAMPLES: &[&str] = &[
    "cuts_with_loss",
    "failed_mounts",
    "lost_files",
    "torn_cuts",
    "cuts",
    "elapsed_s",
    "mb_per_s",
    "cpu_busy",
    "busiest_share",
];

/// What the guest cannot know while it writes: found after each cut.
const FOUND_LATER: &[&str] =
    &["cuts_with_loss", "failed_mounts", "lost_files", "torn_cuts", "cuts"];

/// Files in a directory.
const IN_A_DIRECTORY: u64 = 20;

/// Where file `number` is, below the mount point.
fn place(root: &Path, number: u64) -> PathBuf {
    root.join(format!("d{}", number / IN_A_DIRECTORY)).join(format!("f{number}"))
}

/// What file `number` holds: each word says whose it is and where.
fn contents(number: u64, bytes: u64) -> Vec<u8> {
    let word = |at: u64| (number << 32 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    (0..bytes / 8).flat_map(word).collect()
}

impl PowerCut {
    fn bytes(&self) -> u64 {
        self.size_sectors * block::SECTOR_BYTES
    }

    /// Writes a file, and returns when it is durable.
    fn write(&self, root: &Path, number: u64) -> std::io::Result<()> {
        let path = place(root, number);
        let directory = path.parent().expect("a file is in a directory");
        if number.is_multiple_of(IN_A_DIRECTORY) {
            fs::create_dir(directory)?;
            File::open(root)?.sync_all()?;
        }
        let mut file = File::create(&path)?;
        file.write_all(&contents(number, self.bytes()))?;
        file.sync_all()?;
        File::open(directory)?.sync_all()
    }
}

impl Program for PowerCut {
    fn admit(&self, path: &str, _: &Host) -> Result<()> {
        Err(Error::input(format!(
            "`{path}` cuts the power of a real kernel; run it with `--on kernel`"
        )))
    }

    fn run(&self, _: &mut Stage<'_>) -> Result<Vec<f64>> {
        Err(Error::input("power is cut of a real kernel only; run it with `--on kernel`"))
    }

    fn live_samples(&self) -> &'static [&'static str] {
        FOUND_LATER
    }

    fn cuts(&self) -> Option<Cuts> {
        Some(Cuts { count: self.cuts, lose_member: self.loses_member })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let root = on.mount_point();
        on.timed(|ground| {
            for number in 0..self.files {
                let written = self.write(&root, number);
                written.map_err(|error| Error::failure(format!("file {number}: {error}")))?;
                ground.note(number)?;
            }
            Ok(())
        })?;
        Ok(vec![0.0; FOUND_LATER.len()])
    }

    fn lost(&self, root: &Path, durable: u64) -> u64 {
        let is_whole = |number: &u64| {
            fs::read(place(root, *number)).is_ok_and(|held| held == contents(*number, self.bytes()))
        };
        durable - (0..durable).filter(is_whole).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Section;
    use std::collections::BTreeMap;

    #[test]
    fn a_file_that_is_not_as_it_was_is_lost() {
        let root = tempfile::tempdir().unwrap();
        let cut = PowerCut { files: 30, ..PowerCut::read(&Section::new(&BTreeMap::new(), "w")) };
        for number in 0..30 {
            cut.write(root.path(), number).unwrap();
        }
        assert_eq!(cut.lost(root.path(), 30), 0);
        // One is short, one is another's, one is gone; one more was never durable.
        fs::write(place(root.path(), 3), contents(3, 4096)).unwrap();
        fs::write(place(root.path(), 4), contents(5, cut.bytes())).unwrap();
        fs::remove_file(place(root.path(), 25)).unwrap();
        fs::remove_file(place(root.path(), 29)).unwrap();
        assert_eq!(cut.lost(root.path(), 29), 3);
    }
}
