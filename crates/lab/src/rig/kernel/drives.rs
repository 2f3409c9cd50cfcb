//! The drives of a trial as the kernel's disks.

use crate::error::{Error, Result};
use crate::experiment::{Member, Trial, Volume};
use crate::machine;
use sim::linux::queue::Scheduler;
use sim::{Charged, Device, Processor};
use uml::DiskSpec;

/// The drives of a trial.
pub(super) struct Drives {
    /// All of them; each target is a disk.
    pub(super) device: Box<dyn Device>,
    /// What the kernel is told of each.
    pub(super) specs: Vec<DiskSpec>,
    /// Commands that a disk takes at a time.
    pub(super) queue_depth: u32,
}

/// The most commands that a disk of the guest takes at a time.
const COMMANDS_MAX: usize = 256;

/// Sectors of 4096 bytes, in sectors.
const LARGE_SECTOR: u32 = 8;

impl Drives {
    /// The drives that `trial` names, or the RAID controller that they are behind, which is one disk.
    pub(super) fn of(trial: &Trial) -> Result<Self> {
        let volume = &trial.setup.volume;
        let device = machine::drives(&trial.setup, trial.seed)?;
        let used = match volume.controller {
            Some(_) => device.geometry().target_sectors.clone(),
            None => volume.member_sectors()?,
        };
        let has_write_cache =
            volume.controller.is_some() || volume.members.iter().any(Member::has_write_cache);
        let is_large = volume.members.iter().any(Member::has_large_sectors);
        let physical_block_sectors = if is_large { LARGE_SECTOR } else { 1 };
        // Disks that turn take no discards, and what zeroes them writes zeroes.
        let has_discard = !volume.members.iter().any(Member::is_rotational);
        let spec =
            |sectors| DiskSpec { sectors, has_write_cache, has_discard, physical_block_sectors };
        Ok(Drives {
            device,
            specs: used.into_iter().map(spec).collect(),
            queue_depth: commands(volume) as u32,
        })
    }

    /// Each command takes the host's one processor for so long.
    pub(super) fn charged(self, command_ns: u64) -> Self {
        let device = Box::new(Charged::new(self.device, command_ns, Processor::default()));
        Drives { device, ..self }
    }

    /// The name that the guest knows its control disk by: the one behind the drives.
    pub(super) fn control(&self) -> String {
        name_of(self.specs.len())
    }
}

/// Commands that each disk of `volume` takes at a time.
fn commands(volume: &Volume) -> usize {
    let depth = volume.members.iter().map(Member::queue_depth).min().unwrap_or(1);
    depth.clamp(1, COMMANDS_MAX)
}

/// # Errors
///
/// Where the queues of `trial` are to hold more than the guest's disks let them: without a scheduler what a disk takes
/// (`blk_mq_tag_update_depth`).
pub(super) fn check_queues(trial: &Trial) -> Result<()> {
    let volume = &trial.setup.volume;
    let most = commands(volume);
    match volume.nr_requests {
        Some(asked) if machine::scheduler(volume) == Scheduler::None && asked as usize > most => {
            Err(Error::input(format!(
                "`volume.nr_requests` = {asked}: without a scheduler a queue holds what its drive takes, with `--on kernel` {most} at \
                 most; take no more, or `volume.scheduler = \"mq-deadline\"`, or leave out `--on`"
            )))
        }
        _ => Ok(()),
    }
}

/// What the guest calls its disk of this number: `/dev/vda` to `/dev/vdz`, then `/dev/vdaa`.
pub(super) fn name_of(number: usize) -> String {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    match number.checked_div(26).unwrap_or(0) {
        0 => format!("/dev/vd{}", letter(number)),
        more => format!("/dev/vd{}{}", letter(more - 1), letter(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    /// One such cell ended an experiment in its middle, and `--resume` never got past it.
    #[test]
    fn queues_that_hold_more_than_a_disk_of_the_guest_takes_are_refused_beforehand() {
        let refused = |keys: &str| {
            let text = format!(
                "volume = {{ drives = \"2x980-pro-1tb\", level = \"md-stripe\", {keys} }}\n\
                 workload.w = {{ kind = \"random\", count = 10 }}\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            check_queues(&plan.trials[0]).err().map(|error| error.to_string())
        };
        let why = refused("nr_requests = 512, scheduler = \"none\"").unwrap();
        assert!(
            why.starts_with("`volume.nr_requests` = 512: ") && why.contains(" 256 at most"),
            "{why}"
        );
        // Linux's own choice before such drives is no scheduler.
        assert!(refused("nr_requests = 257").is_some());
        assert_eq!(refused("nr_requests = 256"), None);
        assert_eq!(refused("nr_requests = 512, scheduler = \"mq-deadline\""), None);
    }

    #[test]
    fn disks_are_named_as_the_kernel_names_them() {
        let names: Vec<String> = [0, 25, 26, 27, 52].into_iter().map(name_of).collect();
        assert_eq!(names, ["/dev/vda", "/dev/vdz", "/dev/vdaa", "/dev/vdab", "/dev/vdba"]);
    }
}
