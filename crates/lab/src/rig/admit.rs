//! What every rig refuses: members that cannot be missed, and work that does not fit.

use crate::error::{Error, Result};
use crate::experiment::{Member, Scheduling, Setup, Trial, Volume, check_stripe_cache};
use crate::workload::Requests;
use block::{Health, Layout, Place, Plan, units};
use sim::linux::md::MEMBERS_MAX;

/// The layout of `volume`, which can do without the members that are down, and restore them if they are to
/// be.
pub(super) fn admit_volume(volume: &Volume) -> Result<Box<dyn Layout>> {
    let layout = volume.layout()?;
    check_stripe_cache(volume)?;
    let failed = &volume.failed;
    let mut health = Health::all_up(layout.members());
    for &member in failed {
        health.fail(member);
    }
    let middle = volume.member_sectors()?.into_iter().min().unwrap_or(0) / 2;
    for &member in failed {
        // The middle of the smallest member is data or parity on each, whatever stands at their fronts;
        // what a larger one has behind that may not be used.
        let lost = Place { member, sector: middle };
        if layout.rebuild(lost, 1, &health, &mut Plan::new()).is_err() {
            let (said, level) = (volume.failed_named(), volume.level);
            return Err(Error::input(format!(
                "{said}: `volume.level` = {level} cannot do without member {member}; let fewer fail, or \
                 take a level with copies or parity"
            )));
        }
    }
    Ok(layout)
}

/// Refuses more members than the model of md's RAID 4, 5 and 6 has bits for.
pub(super) fn check_members(volume: &Volume) -> Result<()> {
    let groups = volume.level.nested().map_or(1, |nested| nested.groups);
    let members = volume.members.len() / groups;
    if !volume.level.has_stripe_cache() || members <= MEMBERS_MAX {
        return Ok(());
    }
    Err(Error::input(format!(
        "`volume.drives`: {members} members of `volume.level` = {}: md's RAID 4, 5 and 6 are modelled over up to \
         {MEMBERS_MAX}; take fewer, or a level without parity",
        volume.level
    )))
}

/// Refuses drives of a log's own, where all goes to one volume.
pub(super) fn check_no_log(setup: &Setup) -> Result<()> {
    match setup.log {
        None => Ok(()),
        Some(_) => Err(Error::input(
            "`volume.log_drives`: a log has drives of its own only where requests go to a modelled volume, without `[fs]`; \
             leave it out (`none`), or leave out what makes it otherwise: `--on`, or `[fs]`",
        )),
    }
}

/// Refuses to look for the highest rate, which takes many measurements.
pub(super) fn check_no_search(trial: &Trial) -> Result<()> {
    match trial.requests().find(|work| work.keys.capacity.is_some()) {
        None => Ok(()),
        Some(work) => Err(Error::input(format!(
            "`workload.{}.capacity` works only on sim so far; vary `requests_per_s` instead, or leave out `--on`",
            work.name
        ))),
    }
}

/// Whether nothing is asked of ileave's own layouts that only md does.
pub(super) fn check_own_layout(setup: &Setup) -> Result<()> {
    if setup.volume.has_ppl {
        return Err(Error::input(
            "`volume.ppl` is md's own, and not modelled; add `--on kernel`, or `--on disks` with `[fs]`, or leave it out",
        ));
    }
    Ok(())
}

/// Refuses queues that a real disk would have to be given: its own stay as the system set them, and two settings would
/// be measured as one.
pub(super) fn check_queues(volume: &Volume) -> Result<()> {
    let is_auto = volume.scheduler == Scheduling::Auto;
    let (key, value, file) = match volume.nr_requests {
        _ if !is_auto => ("scheduler", volume.scheduler.word().to_string(), "scheduler"),
        Some(requests) => ("nr_requests", requests.to_string(), "nr_requests"),
        None => return Ok(()),
    };
    Err(Error::input(format!(
        "`volume.{key}` = {value}: real disks keep the queues that they have; write it into /sys/block/DISK/queue/{file} of each \
         and leave the key out, or add `--on kernel`"
    )))
}

/// Whether nothing is asked for that only a real Linux does: that something goes wrong with a member, in the kernel rig,
/// a partial parity log, or a scheduler that is not modelled.
pub(super) fn check_not_real(setup: &Setup) -> Result<()> {
    check_own_layout(setup)?;
    if let scheduler @ (Scheduling::Bfq | Scheduling::Kyber) = setup.volume.scheduler {
        return Err(Error::input(format!(
            "`volume.scheduler` = {}: not modelled; add `--on kernel`, or take mq-deadline or none",
            scheduler.word()
        )));
    }
    match setup.fault {
        None => Ok(()),
        Some(_) => Err(Error::input(
            "`fault.kind`: members fail, err, stall and lose power at a time of their own with `--on kernel` only; add it, or set \
             `fault.kind=none`",
        )),
    }
}

/// Whether arrays side by side can be modelled: they are where their drives share nothing.
pub(super) fn check_nested(setup: &Setup) -> Result<()> {
    let volume = &setup.volume;
    let is_limited = !setup.shared_limits().is_empty()
        || !setup.host.storage_limits().is_empty() && volume.members.iter().any(Member::is_remote);
    if volume.level.nested().is_none() || !(setup.host.buses.is_some() || is_limited) {
        return Ok(());
    }
    if !setup.shared_limits().is_empty() {
        return Err(Error::input(format!(
            "`volume.level` = {}: its arrays are modelled with drives that share nothing, and these volumes share the limits of \
             an instance; take another level, or other drives",
            volume.level
        )));
    }
    Err(Error::input(format!(
        "`volume.level` = {}: its arrays are modelled with drives that share nothing, and `host.name` = {} has buses or \
         limits on network storage; take another level, or another host",
        volume.level, setup.host.name
    )))
}

/// Whether every drive can be where it is put: only disks share buses with each other.
pub(super) fn check_buses(setup: &Setup) -> Result<()> {
    let host = &setup.host;
    let shared_by_host = host.bus_bytes_per_s < u64::MAX || host.bus_overhead_ns > 0;
    let of_log = setup.log.iter().flat_map(|log| &log.members).filter(|_| shared_by_host);
    check_links(&host.name, "host.name", of_log)?;
    let (named, key, shared) = match &setup.volume.controller {
        Some(controller) => (&controller.name, "volume.controller", true),
        None => (&host.name, "host.name", shared_by_host),
    };
    check_links(named, key, setup.volume.members.iter().filter(|_| shared))
}

/// Whether each of `members` can be on buses of what `key` has `named`.
fn check_links<'a>(
    named: &str,
    key: &str,
    members: impl Iterator<Item = &'a Member>,
) -> Result<()> {
    for member in members {
        if let Member::Modelled { drive, .. } = member
            && !drive.shares_buses()
        {
            return Err(Error::input(format!(
                "`{key}` = {named} has buses for disks, and {} has a link of its own, which no bus limits here; \
                 take another host, as in `--set host.name=linux-6.1`, and no controller",
                drive.name
            )));
        }
    }
    Ok(())
}

/// Times are counted in ns, of which 64 bits hold no more than 584 years.
pub(super) const CENTURY_NS: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// Whether `work` fits on a volume of `sectors`.
pub(super) fn check_work(work: &Requests, sectors: u64) -> Result<()> {
    let name = &work.name;
    if work.idle_ns() > u128::from(CENTURY_NS) {
        return Err(Error::input(format!(
            "`workload.{name}` would take more than a hundred years, which it thinks (`think`) or waits \
             until it is due (`rate`, `requests_per_s`); take a smaller `count` or `amount`, or give \
             `runtime`"
        )));
    }
    if let Some(span) = work.keys.span_sectors.filter(|span| *span > sectors) {
        return Err(Error::input(format!(
            "`workload.{name}.span` of {} is more than the volume's {}; leave it out to use all of the volume",
            units::format_sectors(span),
            units::format_sectors(sectors)
        )));
    }
    for (start, span) in work.parts(sectors) {
        if start.saturating_add(span) > sectors {
            return Err(Error::input(format!(
                "`workload.{name}` goes to sector {}, past the volume's {}; take a smaller `offset`, `span` or `job_step` (in a fio job \
                 `filename=`, without which each job has a file of its own behind the others')",
                start.saturating_add(span),
                units::format_sectors(sectors)
            )));
        }
        if work.largest_sectors() > span {
            return Err(Error::input(format!(
                "`workload.{name}.block` of {} does not fit in the {} of the volume that are used; take smaller blocks",
                units::format_sectors(work.largest_sectors()),
                units::format_sectors(span)
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    /// A sweep over schedulers on real disks set none of them, and called them alike.
    #[test]
    fn real_disks_are_not_given_queues() {
        let said = |keys: &str| {
            let text = format!(
                "[volume]\ndrives = \"2xwd740gd\"\nlevel = \"md-raid0\"\n{keys}\n[workload.w]\nkind = \"random\"\ncount = 1"
            );
            let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
            check_queues(&plan.trials[0].setup.volume).err().map(|error| error.to_string())
        };
        assert_eq!(said(""), None);
        let scheduler = said("scheduler = \"none\"").unwrap();
        assert!(scheduler.starts_with("`volume.scheduler` = none: real disks keep"), "{scheduler}");
        assert!(scheduler.contains("/sys/block/DISK/queue/scheduler"), "{scheduler}");
        let requests = said("nr_requests = 128").unwrap();
        assert!(requests.contains("/sys/block/DISK/queue/nr_requests"), "{requests}");
    }
}
