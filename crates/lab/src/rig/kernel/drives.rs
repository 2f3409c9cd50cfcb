//! The drives of a trial as the kernel's disks.

use crate::error::{Error, Result};
use crate::experiment::{Member, Plan, Trial, Volume};
use crate::machine;
use crate::workload::Requests;
use block::SECTOR_BYTES;
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
            |number: usize| volume.controller.is_some() || volume.members[number].has_write_cache();
        let is_large = volume.members.iter().any(Member::has_large_sectors);
        let physical_block_sectors = if is_large { LARGE_SECTOR } else { 1 };
        // Disks that turn take no discards, and what zeroes them writes zeroes.
        let has_discard = !volume.members.iter().any(Member::is_rotational);
        let spec = |(number, sectors)| DiskSpec {
            sectors,
            has_write_cache: has_write_cache(number),
            has_discard,
            physical_block_sectors,
        };
        Ok(Drives {
            device,
            specs: used.into_iter().enumerate().map(spec).collect(),
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
    queue_depth(volume).clamp(1, COMMANDS_MAX)
}

/// Commands that each drive of `volume` takes at a time.
fn queue_depth(volume: &Volume) -> usize {
    volume.members.iter().map(Member::queue_depth).min().unwrap_or(1)
}

/// # Errors
///
/// Where the queues of `trial` are to hold more than the guest's disks let them: without a scheduler what a disk takes
/// (`blk_mq_tag_update_depth`).
pub(super) fn check_queues(trial: &Trial) -> Result<()> {
    let volume = &trial.setup.volume;
    let most = commands(volume);
    let is_without = |member| machine::scheduler_of(volume, member) == Scheduler::None;
    match volume.nr_requests {
        Some(asked) if volume.members.iter().any(is_without) && asked as usize > most => {
            Err(Error::input(format!(
                "`volume.nr_requests` = {asked}: without a scheduler a queue holds what its drive takes, with `--on kernel` {most} at \
                 most; take no more, or `volume.scheduler = \"mq-deadline\"`, or leave out `--on`"
            )))
        }
        _ => Ok(()),
    }
}

/// That drives take more commands than the guest's disks do, and the work of `plan` has more in flight: the 45 GB/s of eleven
/// flash drives with 1056 requests in flight were 27 there.
pub(super) fn cut_queues(plan: &Plan) -> Option<String> {
    let cut = plan.trials.iter().filter(|trial| {
        let volume = &trial.setup.volume;
        volume.controller.is_none() && queue_depth(volume) > COMMANDS_MAX
    });
    let worst = cut.max_by(|one, other| on_each(one).total_cmp(&on_each(other)))?;
    let most = on_each(worst);
    (most > COMMANDS_MAX as f64).then(|| {
        format!(
            "with `--on kernel` a disk takes {COMMANDS_MAX} commands at a time, where these drives take {}, and `{}` has up to about \
             {most:.0} in flight on each: the kernel's rates may be too low, and `sim` has no such limit",
            queue_depth(&worst.setup.volume),
            worst.cell.workload
        )
    })
}

/// About how many commands of its requests each drive of a trial has, where it takes them all.
fn on_each(trial: &Trial) -> f64 {
    let volume = &trial.setup.volume;
    if !volume.level.interleaved() {
        return trial.requests().map(|requests| requests.in_flight() as f64).sum();
    }
    // Each chunk of a request is a command of its own.
    let chunk_bytes = (volume.interleave_sectors.max(1) * SECTOR_BYTES) as f64;
    let commands = |of: &Requests| of.in_flight() as f64 * (of.mean_bytes() / chunk_bytes).max(1.0);
    trial.requests().map(commands).sum::<f64>() / volume.members.len().max(1) as f64
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
    use crate::experiment::Experiment;

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

    /// The kernel's 27 GB/s stood beside the model's 45 without a word.
    #[test]
    fn queues_that_the_guest_cuts_are_said_where_the_work_fills_them() {
        let said = |drives: &str, depth: u32, block: &str| {
            let text = format!(
                "volume = {{ drives = \"{drives}\", level = \"md-raid5\", interleave = \"64KiB\" }}\n\
                 workload.w = {{ kind = \"random\", block = \"{block}\", depth = {depth}, count = 10000 }}\n"
            );
            cut_queues(&Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap())
        };
        let cut = said("4x980-pro-1tb", 2048, "4KiB").unwrap();
        assert!(cut.contains("takes 256 commands at a time"), "{cut}");
        assert!(cut.contains("`w` has up to about 512 in flight on each"), "{cut}");
        assert!(said("4x980-pro-1tb", 128, "1MiB").is_some(), "16 chunks a request");
        assert_eq!(said("4x980-pro-1tb", 128, "64KiB"), None);
        assert_eq!(said("4xst18000nm000j", 2048, "4KiB"), None, "they take 32 anyway");
    }

    #[test]
    fn disks_are_named_as_the_kernel_names_them() {
        let names: Vec<String> = [0, 25, 26, 27, 52].into_iter().map(name_of).collect();
        assert_eq!(names, ["/dev/vda", "/dev/vdz", "/dev/vdaa", "/dev/vdab", "/dev/vdba"]);
    }
}
