//! What a trial needs of memory, told before it runs and refused where there is less.

use super::Rig;
use crate::error::{Error, Result};
use crate::experiment::{Plan, Trial};
use crate::workload::Requests;
use block::SECTOR_BYTES;
use block::units::format_bytes;
use std::fs;

/// What a modelled request in flight takes, in bytes, and what each command beyond its first adds; measured as the largest
/// resident set of runs with 131,072 to 2,097,152 requests in flight, less [`PROGRAM_BYTES`].
struct Modelled {
    request_bytes: u64,
    command_bytes: u64,
}

/// Requests to md's RAID 4, 5 and 6 wait until rows are free for them: 416 to 490.
const MD_PARITY: Modelled = Modelled { request_bytes: 450, command_bytes: 0 };
/// One drive, with no plan: 550.
const ALONE: Modelled = Modelled { request_bytes: 550, command_bytes: 0 };
/// Levels of Linux, behind its queues: 1080 to 1220; of four commands 1594.
const ON_LINUX: Modelled = Modelled { request_bytes: 1150, command_bytes: 130 };
/// Others: 900 to 1130; of four commands 1260.
const PLAIN: Modelled = Modelled { request_bytes: 1000, command_bytes: 130 };
/// What the program takes without any request.
const PROGRAM_BYTES: u64 = 20 << 20;
/// What a real request in flight takes beside its data: the engine's plan, entries of the ring.
const REAL_BYTES: u64 = 2048;
/// More than this is told.
const TOLD_BYTES: u64 = 1 << 30;

/// What the lanes of a rig need together, and the workload that needs most.
struct Need {
    bytes: u64,
    workload: String,
    in_flight: u64,
}

impl Need {
    fn of(plan: &Plan, rig: &dyn Rig) -> Option<Self> {
        let can = rig.capabilities();
        let of = |trial: &Trial| {
            let works = trial
                .requests()
                .map(|work| (work.in_flight(), bytes(trial, work, can.host_is_modelled)));
            let (in_flight, bytes) =
                works.fold((0u64, 0u64), |a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)));
            Need { bytes, workload: trial.cell.workload.clone(), in_flight }
        };
        let mut all: Vec<Need> = plan.trials.iter().map(of).collect();
        all.sort_by_key(|need| std::cmp::Reverse(need.bytes));
        // The largest side by side, one in each lane.
        let bytes = all
            .iter()
            .take(can.lanes.max(1))
            .fold(PROGRAM_BYTES, |sum, need| sum.saturating_add(need.bytes));
        let most = all.into_iter().next()?;
        Some(Need { bytes, ..most })
    }

    fn words(&self) -> String {
        let Need { bytes, workload, in_flight } = self;
        let about = format_bytes((bytes >> 20).max(1) << 20);
        format!(
            "workload `{workload}` has up to {in_flight} requests in flight and takes about {about} of memory"
        )
    }
}

/// What the trials of a run that are side by side take together, in bytes.
pub(crate) fn needed_bytes(plan: &Plan, rig: &dyn Rig) -> u64 {
    Need::of(plan, rig).map_or(0, |need| need.bytes)
}

/// What to say beforehand of a run that takes much memory.
pub(crate) fn warning(plan: &Plan, rig: &dyn Rig) -> Option<String> {
    Need::of(plan, rig).filter(|need| need.bytes > TOLD_BYTES).map(|need| need.words())
}

/// Whether there is enough memory.
///
/// # Errors
///
/// Where there is less than the trials that run side by side take.
pub(crate) fn admit(plan: &Plan, rig: &dyn Rig) -> Result<()> {
    let (Some(need), Some(there)) = (Need::of(plan, rig), available_bytes()) else { return Ok(()) };
    check(&need, there)
}

fn check(need: &Need, there_bytes: u64) -> Result<()> {
    if need.bytes <= there_bytes {
        return Ok(());
    }
    Err(Error::input(format!(
        "{}; {} are available. Take fewer `jobs` or a smaller `depth`",
        need.words(),
        format_bytes(there_bytes >> 20 << 20)
    )))
}

/// What the requests of a work take.
fn bytes(trial: &Trial, work: &Requests, is_modelled: bool) -> u64 {
    let largest = work.largest_sectors();
    let each = if is_modelled {
        let volume = &trial.setup.volume;
        let pieces = if volume.level.interleaved() {
            largest.div_ceil(volume.interleave_sectors.max(1))
        } else {
            1
        };
        let more = pieces.saturating_sub(1).min(volume.members.len() as u64);
        let Modelled { request_bytes, command_bytes } = match volume {
            _ if volume.level.has_stripe_cache() => MD_PARITY,
            _ if volume.members.len() == 1 => ALONE,
            _ if volume.is_on_linux => ON_LINUX,
            _ => PLAIN,
        };
        request_bytes + more * command_bytes
    } else {
        REAL_BYTES.saturating_add(largest.saturating_mul(SECTOR_BYTES))
    };
    work.in_flight().saturating_mul(each)
}

/// What Linux says that programs may still take, within the limit of the control group; `None` where nothing says it.
fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let of_group = number("memory.max").zip(number("memory.current"));
    let left = of_group.map_or(u64::MAX, |(most, used)| most.saturating_sub(used));
    Some((kib << 10).min(left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::rig::sim::Sim;

    fn need(keys: &str) -> Need {
        let text =
            format!("[volume]\ndrives = \"4xwd740gd\"\n[workload.w]\nkind = \"random\"\n{keys}");
        let plan = Plan::new(&Experiment::parse("e", &text).unwrap()).unwrap();
        Need::of(&plan, &Sim).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_runs() {
        let deep = need("jobs = 4096\ndepth = 65536\ncount = 1000000");
        assert_eq!(deep.in_flight, 4096 * 65536);
        assert!(deep.bytes > 200 << 30);
        let said = check(&deep, 2 << 30).unwrap_err().to_string();
        assert!(
            said.contains("268435456 requests in flight") && said.contains("2GiB are available"),
            "{said}"
        );
        // A job that asks for less than its depth has no more in flight.
        assert_eq!(need("jobs = 4\ndepth = 65536\ncount = 10").in_flight, 40);
        assert!(check(&need("depth = 32"), 32 << 20).is_ok());
    }
}
