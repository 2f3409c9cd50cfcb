//! Whether what a trial asks for can be moved within the time that can be counted.

use crate::error::{Error, Result};
use crate::experiment::{Member, Setup, Trial};
use crate::rig::admit::CENTURY_NS;
use crate::workload::Requests;

/// Refuses what would be on its way for more than a hundred years: every byte one after the other at the
/// slowest rate that it comes by, and what is written once for each member.
pub(super) fn check(trial: &Trial) -> Result<()> {
    check_rebuild(&trial.setup)?;
    let mut all_ns = 0_u128;
    for work in trial.requests() {
        let (key, bytes_per_s) = slowest(&trial.setup, work)?;
        let times = if work.writes() { trial.setup.members().count() as u128 } else { 1 };
        all_ns = all_ns.saturating_add(work.moving_ns(bytes_per_s).saturating_mul(times));
        if all_ns > u128::from(CENTURY_NS) {
            return Err(Error::input(format!(
                "`workload.{}` would take more than a hundred years to move at {} MB/s (`{key}`); take a \
                 smaller `count`, `amount` or `block`, fewer `jobs`, or a faster `{key}`",
                work.name,
                bytes_per_s as f64 / 1e6
            )));
        }
    }
    Ok(())
}

/// A member is restored to its end, also after the last request.
fn check_rebuild(setup: &Setup) -> Result<()> {
    let Some(rate) = setup.volume.rebuild_bytes_per_s else { return Ok(()) };
    let sectors = setup.volume.member_sectors()?.into_iter().max().unwrap_or(0);
    let century_s = u128::from(CENTURY_NS / 1_000_000_000);
    let least = (u128::from(sectors) * u128::from(block::SECTOR_BYTES)).div_ceil(century_s);
    if u128::from(rate) >= least {
        return Ok(());
    }
    Err(Error::input(format!(
        "`volume.rebuild` of {rate} B/s would take more than a hundred years to restore a member of \
         {sectors} sectors; give {least} B/s or more"
    )))
}

/// The slowest that the bytes of `work` come by, and the figure that says so.
fn slowest(setup: &Setup, work: &Requests) -> Result<(&'static str, u64)> {
    let mut rates = vec![("bus_mb_per_s", setup.host.bus_bytes_per_s)];
    for member in setup.members() {
        let Member::Modelled { drive, .. } = member else { continue };
        rates.extend(drive.slowest_bytes_per_s()?);
    }
    if let Some(of) = &setup.volume.controller {
        rates.push(("interface_mb_per_s", of.interface_bytes_per_s));
        rates.push(("channel_mb_per_s", of.channel_bytes_per_s));
    }
    if let Some(rate) = setup.host.zero_fill_bytes_per_s.filter(|_| work.fills) {
        rates.push(("zero_fill_mb_per_s", rate as u64));
    }
    Ok(rates.into_iter().min_by_key(|&(_, rate)| rate).expect("there is always a bus"))
}
