//! The host: what waits for its disks, what runs the layout, and how requests are cut.

use super::array::{array, one_disk};
use super::linux;
use super::nested::nested;
use super::raid_controller::raid_controller;
use super::shelf::shelf;
use crate::error::Result;
use crate::experiment::{Member, Setup};
use sim::linux::flushes::SharedFlushes;
use sim::{Device, Driver, Order, Processor, Rack, Scheduler, Splitter};

/// The volume of `setup` as requests from outside of any file system reach it, its driver on the host's
/// `processor`. The drives' spindles are at angles that follow from `seed`.
///
/// # Errors
///
/// Where a drive cannot be built or the members cannot make this volume; the message names the key.
pub fn volume(setup: &Setup, seed: u64, processor: &Processor) -> Result<Box<dyn Device>> {
    let host = &setup.host;
    let queued = (host.elevator, host.queue_outstanding.unwrap_or(1));
    let mut driver = Driver::new(host.request_cpu_ns, host.command_cpu_ns).on(processor);
    driver.plugs = linux::plugs(setup);
    driver.rows = host.md_rows;
    let uncut = host.max_transfer_sectors == u32::MAX;
    if uncut && is_bare(setup, &driver) {
        return disks(setup, (seed, 0), queued);
    }
    let mut volume = queued_volume(setup, seed, queued, driver)?;
    if setup.volume.page_cache.is_read {
        volume = linux::page_cache(&setup.volume, volume);
    }
    if uncut {
        return Ok(volume);
    }
    let max_transfer_sectors = linux::largest_sectors(host, &setup.volume);
    Ok(Splitter::new(volume, max_transfer_sectors, host.physio_concurrency).into())
}

/// The volume of `setup` as the first target, and as the second that of its log, if it has one.
///
/// # Errors
///
/// As for [`volume`].
pub fn with_log(setup: &Setup, seed: u64, processor: &Processor) -> Result<Box<dyn Device>> {
    let main = volume(setup, seed, processor)?;
    let Some(log) = &setup.log else { return Ok(main) };
    let beside = Setup { volume: log.clone(), log: None, ..setup.clone() };
    let log = volume(&beside, seed.rotate_left(32), processor)?;
    Ok(Box::new(Rack::new(vec![main, log])))
}

/// Whether the volume is its one disk, with nothing of the host's in between.
fn is_bare(setup: &Setup, driver: &Driver) -> bool {
    let volume = &setup.volume;
    let queues = [volume.volume_outstanding, volume.member_outstanding];
    let whole = volume.members.iter().all(Member::is_whole);
    let one_disk = volume.controller.is_some() || (volume.level.name == "single" && whole);
    one_disk && !volume.is_on_linux && driver.is_free() && queues == [None; 2]
}

/// The drives of `setup` as a host sees them that is none of ours: each a target, or the controller that they are
/// behind as the only one.
///
/// # Errors
///
/// As for [`volume`].
pub fn drives(setup: &Setup, seed: u64) -> Result<Box<dyn Device>> {
    disks(setup, (seed, 0), (None, 1))
}

/// What the host has a driver for: each drive by itself, or the controller that they are behind as one
/// disk. Before each is the host's elevator, where it has one. The drives have so many others `before` them, whose angles
/// follow from the same seed.
pub(super) fn disks(
    setup: &Setup,
    (seed, before): (u64, usize),
    (elevator, outstanding): (Option<Order>, u32),
) -> Result<Box<dyn Device>> {
    let shelf = shelf(setup, seed, before)?;
    let disks = match &setup.volume.controller {
        Some(of) => raid_controller(setup, of, shelf)?,
        None => shelf,
    };
    Ok(match elevator {
        Some(order) => Scheduler::new(disks, order, outstanding).into(),
        None => disks,
    })
}

/// The volume of `setup` over its drives, with what is `queued` before each as [`disks`] has it.
pub(super) fn queued_volume(
    setup: &Setup,
    seed: u64,
    queued: (Option<Order>, u32),
    driver: Driver,
) -> Result<Box<dyn Device>> {
    let volume = match setup.volume.level.nested() {
        Some(of) => nested(setup, of, seed, queued, &driver)?,
        None => over(setup, disks(setup, (seed, 0), queued)?, driver)?,
    };
    let is_of_md = setup.volume.level.is_run_by_md();
    Ok(if is_of_md { SharedFlushes::new(volume).into() } else { volume })
}

/// The volume over the `disks`: run by the host, unless a controller does that already.
pub(super) fn over(
    setup: &Setup,
    disks: Box<dyn Device>,
    driver: Driver,
) -> Result<Box<dyn Device>> {
    match setup.volume.controller {
        Some(_) => one_disk(disks, driver),
        None => array(&setup.volume, disks, driver),
    }
}
