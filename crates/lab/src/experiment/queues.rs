//! Linux's queues before the members of a volume: where they are, and what is said of them.

use super::volume::{Member, Scheduling, Sorts, Volume, VolumeKeys};
use crate::error::{Error, Result};
use crate::machine;
use sim::linux::queue::Scheduler;

/// What `nr_requests` can be: Linux takes no fewer (`BLKDEV_MIN_RQ`), and no more with a scheduler (`MAX_SCHED_RQ`).
pub(super) const REQUESTS_MIN: u64 = 4;
pub(super) const REQUESTS_MAX: u64 = 2048;

impl VolumeKeys {
    /// Whether Linux may have queues before the members.
    fn can_have_queues(&self) -> bool {
        let can_have = self.level.runs_on_linux() || self.level.name == "single";
        can_have && self.controller().is_none()
    }

    /// The scheduler before each member.
    ///
    /// # Errors
    ///
    /// Where one is named and no Linux is in front of the members; the message names the key.
    pub(super) fn scheduler(&self, origin: &str) -> Result<Scheduling> {
        if self.scheduler == Scheduling::Auto || self.can_have_queues() {
            return Ok(self.scheduler);
        }
        Err(Error::input(format!(
            "{origin}: `volume.scheduler` = {}: Linux's schedulers are modelled before one drive and the members of levels that Linux \
             runs (md-…, dm-…, lvm-…, btrfs-…), not of `volume.level` = {}{}; leave it out, or set `host.elevator`",
            self.scheduler.word(),
            self.level,
            self.controller().map_or("", |_| " behind a controller"),
        )))
    }

    /// Whether Linux's queues are in front of `members`: those of the levels that Linux runs, and one drive that is sold today,
    /// flash or a disk with sectors of 4096 bytes, or the ideal disk that Linux was measured on, or whose queue is described. An
    /// older disk by itself has what its host has, as has any that the host sorts for (`host.elevator`) or that has a file system
    /// that is not Linux's.
    pub(super) fn is_on_linux(&self, members: &[Member], sorts: Sorts) -> bool {
        let is_named = self.scheduler != Scheduling::Auto || self.nr_requests.is_some();
        let is_linuxs = match sorts {
            Sorts::Linux => true,
            Sorts::LinuxOfToday => members.iter().all(Member::is_of_today),
            Sorts::Host => false,
        };
        let is_ones = self.level.name == "single" && (is_named || is_linuxs);
        self.controller().is_none() && (self.level.runs_on_linux() || is_ones)
    }

    /// How many requests the queue before each member holds.
    ///
    /// # Errors
    ///
    /// Where it is said and no Linux is in front of the members; the message names the key.
    pub(super) fn nr_requests(&self, origin: &str) -> Result<Option<u32>> {
        if self.nr_requests.is_none() || self.can_have_queues() {
            return Ok(self.nr_requests);
        }
        Err(Error::input(format!(
            "{origin}: `volume.nr_requests` is of Linux's queues, which are before one drive and the members of levels that Linux \
             runs (md-…, dm-…, lvm-…, btrfs-…), not of `volume.level` = {}{}; leave it out",
            self.level,
            self.controller().map_or("", |_| " behind a controller"),
        )))
    }
}

/// # Errors
///
/// Where the queues of `volume` are to hold more than Linux lets them: without a scheduler what the drive takes.
pub(super) fn check_requests(origin: &str, volume: &Volume) -> Result<()> {
    let most = volume.members.iter().map(Member::queue_depth).min().unwrap_or(1);
    let is_without = |member| machine::scheduler_of(volume, member) == Scheduler::None;
    match volume.nr_requests {
        Some(asked) if volume.members.iter().any(is_without) && asked as usize > most => {
            Err(Error::input(format!(
                "{origin}: `volume.nr_requests` = {asked}: without a scheduler Linux lets a queue hold what the drive takes, here \
                 {most}; take no more, or `volume.scheduler = \"mq-deadline\"`"
            )))
        }
        _ => Ok(()),
    }
}
