//! One block device over modelled disks, measured as it is: whatever layout is behind it, somebody else runs it.

use super::engine::Engine;
use super::noise::Noise;
use super::{in_flight_max, is_model_only, measure, ring};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::record::Measured;
use crate::rig::jobs::jobs;
use crate::steady::{self, Bits, Caches};
use crate::workload::Requests;
use rustix::fs::{Advice, OFlags};
use sim::Batches;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use uring::Buffer;

/// The sectors of a page.
const PAGE_SECTORS: u64 = 8;

/// A block device, open past the page cache or through it.
pub(in crate::rig) struct BlockDevice {
    path: PathBuf,
    file: File,
    is_direct: bool,
    sectors: u64,
    may_write: bool,
}

impl BlockDevice {
    /// Opens the device at `path`, past the page cache or not.
    ///
    /// # Errors
    ///
    /// Where it cannot be.
    pub(in crate::rig) fn open(path: &Path, may_write: bool, is_direct: bool) -> Result<Self> {
        let mut file = opened(path, may_write, is_direct)?;
        let end = file.seek(SeekFrom::End(0));
        let bytes = end.map_err(|error| Error::failure(format!("{}: {error}", path.display())))?;
        let sectors = bytes / block::SECTOR_BYTES;
        Ok(BlockDevice { path: path.into(), file, is_direct, sectors, may_write })
    }

    /// Where the programs of `trial` begin, if each opens the device for itself: what is read ahead is a matter of the
    /// open file. Else the start.
    fn starts(&self, trial: &Trial) -> Vec<u64> {
        if self.is_direct || trial.requests().any(Requests::writes) {
            return vec![0];
        }
        let parts = trial.requests().flat_map(|work| work.parts(self.sectors));
        let mut starts: Vec<u64> = parts.map(|(start, _)| start).chain([0]).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Its size.
    pub(in crate::rig) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Writes its last page, or reads it where it may not write. An array of md that nobody has written to for a fifth of a
    /// second is marked as clean; its first write has to change that on all members, and what is sent meanwhile waits
    /// (`md_write_start`). So does what is read from rows of RAID 5 and 6 while their thread writes down that a member has
    /// failed. Then all of it goes on at one instant, and requests that began together may stay so, at twice the rate or half
    /// of it.
    ///
    /// # Errors
    ///
    /// Where it fails.
    pub(in crate::rig) fn wake(&self) -> Result<()> {
        let end = self.sectors / PAGE_SECTORS * PAGE_SECTORS;
        let start = end.saturating_sub(PAGE_SECTORS) * block::SECTOR_BYTES;
        let mut page = Buffer::zeroed((PAGE_SECTORS * block::SECTOR_BYTES) as usize);
        let done = if self.may_write {
            self.file.write_all_at(&page, start).and_then(|()| self.file.sync_data())
        } else {
            self.file.read_exact_at(&mut page, start)
        };
        done.map_err(|error| Error::failure(format!("{}: {error}", self.path.display())))
    }

    /// Has the kernel forget what it has read of it by itself, which is its partition table. A request past the page cache
    /// to pages in it is left to a worker (`iomap_dio_rw` with `IOCB_NOWAIT`), so the first of those in order would come
    /// after all that are sent with it; and on RAID 5 they may stay like that for good, at 1.3 times the rate.
    fn forget_pages(&self) -> Result<()> {
        rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed).map_err(|error| {
            Error::failure(format!("{}: cannot empty its page cache: {error}", self.path.display()))
        })
    }

    /// What the requests of `trial` measure on it, and how many they were, its warm-up included. As long as they go on, write
    /// caches hold what `caches` says; `over` is told when they are done, and says what is known of that then.
    ///
    /// # Errors
    ///
    /// Where it fails.
    pub(in crate::rig) fn measure(
        &self,
        trial: &Trial,
        caches: Caches,
        over: &mut dyn FnMut() -> Result<Caches>,
    ) -> Result<(Measured, u64)> {
        self.forget_pages()?;
        let starts = self.starts(trial);
        let single: block::Level = "single".parse().expect("it is a level");
        let layout = single.lay_out(0, &[self.sectors]).map_err(Error::failure)?;
        let mut files = vec![self.file.try_clone().map_err(Error::failure)?];
        for _ in 1..starts.len() {
            files.push(opened(&self.path, self.may_write, self.is_direct)?);
        }
        let ring = ring(trial, files, 1, !self.is_direct)?;
        let names = vec![self.path.display().to_string()];
        let mut engine = Engine::new(layout, ring, names, self.may_write).opened_at(starts);
        let mut jobs = jobs(trial, &[self.sectors]);
        let mut enough = |batches: &Batches| steady::enough(trial, caches, Bits::Timed, batches);
        let noise = Noise::of_pages(trial.seed);
        let recorded =
            measure::run(&mut engine, &mut jobs, noise, in_flight_max(trial), &mut enough);
        let caches = over()?;
        let recorded = recorded?;
        let mut measured = steady::measured(trial, &recorded, caches, Bits::Timed);
        measured.add_lateness(&jobs);
        measured.samples.retain(|(name, _)| !is_model_only(name));
        Ok((measured, recorded.outcome.requests))
    }
}

fn opened(path: &Path, may_write: bool, is_direct: bool) -> Result<File> {
    let direct = if is_direct { OFlags::DIRECT.bits().cast_signed() } else { 0 };
    let opened = OpenOptions::new().read(true).write(may_write).custom_flags(direct).open(path);
    opened.map_err(|error| {
        Error::failure(format!(
            "cannot open {}: {error}; see that it is still there, and `ulimit -n`",
            path.display()
        ))
    })
}
