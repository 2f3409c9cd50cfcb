//! What a job says in other words than bytes of its file: shares of it, gaps, and other sizes for writes.

use super::Job;
use crate::error::{Error, Result};
use block::SECTOR_BYTES;

/// Whether places that are shares of a file are shares of the volume: that of a device which all jobs use.
pub(super) fn check(label: &str, jobs: &[Job]) -> Result<()> {
    let is_share = |job: &&Job| job.offset_percent.or(job.step_percent).is_some();
    let Some(job) = jobs.iter().find(is_share) else { return Ok(()) };
    let device = job.filename.as_deref().filter(|file| file.starts_with("/dev/"));
    let is_all = device.is_some_and(|file| !file.contains(':'))
        && jobs.iter().all(|other| other.filename == job.filename);
    if is_all {
        return Ok(());
    }
    let option = if job.offset_percent.is_some() { "offset" } else { "offset_increment" };
    Err(Error::input(format!(
        "{label}:{}: [{}]: `{option}` in percent is of a file whose size is not known here; give all jobs the same device \
         (`filename=/dev/…`), which stands for the volume, or write bytes",
        job.line, job.name
    )))
}

impl Job {
    /// The kind of workload that goes as it does.
    pub(super) fn kind(&self) -> &'static str {
        match (self.random, self.gap) {
            (true, _) => "random",
            (false, 0) => "sequential",
            (false, _) => "strided",
        }
    }

    /// What it moves where nothing ends it before, in bytes. One that leaves gaps and says no `io_size` ends with `size` where
    /// more of its file lies behind that; at the end of its file it begins again.
    pub(in crate::formats::fio) fn amount(&self) -> Option<u64> {
        let share = |size: u64, part: u64, of: u64| {
            (u128::from(size) * u128::from(part) / u128::from(of)) as u64
        };
        let once = match (self.size, self.io_size_percent) {
            (Some(size), Some(percent)) => {
                let said = share(size, percent, 100) / SECTOR_BYTES * SECTOR_BYTES;
                Some(said.max(SECTOR_BYTES))
            }
            (Some(size), None) if self.io_size.is_none() && self.has_more_behind() => {
                Some(share(size, self.block(), self.block().saturating_add(self.gap)))
            }
            (size, _) => self.io_size.or(size),
        };
        once.map(|amount| amount.saturating_mul(self.loops))
    }

    /// Whether its file goes on behind its `size`: that of a device, and one that fio lays out from `offset` on.
    fn has_more_behind(&self) -> bool {
        self.offset > 0 || self.filename.as_deref().is_some_and(|file| file.starts_with("/dev/"))
    }

    /// Whether its sizes are such as one workload has.
    pub(super) fn check_sizes(&self, label: &str) -> Result<()> {
        let wrong =
            |why: &str| Err(Error::input(format!("{label}:{}: [{}]: {why}", self.line, self.name)));
        let are_alike = |job: &Job| match [&job.splits[0], &job.splits[1]] {
            [reads, writes] if reads.is_empty() && writes.is_empty() => {
                job.blocks[0] == job.blocks[1]
            }
            [reads, writes] => reads == writes,
        };
        if self.does_both() && !are_alike(self) {
            return wrong(
                "its reads have other sizes than its writes, and those of one job have the same here; give reads and writes a \
                 job each",
            );
        }
        if self.gap > 0 && !self.split().is_empty() {
            return wrong("a gap behind each request (`rw=read:4k`) needs one size; take `bs`");
        }
        if self.io_size_percent.is_some() && self.size.is_none() {
            return wrong(
                "`io_size` in percent is of `size`, which is not given in bytes; write bytes",
            );
        }
        if self.number_ios.is_some() && self.time_based {
            return wrong("`number_ios` and `time_based` both say when it ends; leave one out");
        }
        Ok(())
    }
}
