//! The array: a layout over disks, and the driver that runs it.

use super::{linux, nested};
use crate::error::{Error, Result};
use crate::experiment::Volume;
use block::layout::Concat;
use sim::linux::alone::Alone;
use sim::linux::md::Md;
use sim::{Array, Device, Driver, Limiter, Rebuild};
use std::ops::Range;

/// The layout of `volume` over the drives `below`, what its driver has with each of them, and what waits for it.
pub(super) fn array(
    volume: &Volume,
    below: Box<dyn Device>,
    driver: Driver,
) -> Result<Box<dyn Device>> {
    let below = limited(volume, below);
    // A stretch of a rebuild that nothing disturbs is restored at the drives' pace, chunk by chunk.
    let is_stretch = volume.restored_sectors > 0;
    let array: Box<dyn Device> = if volume.level.has_stripe_cache() && !is_stretch {
        of_parity(volume, below, driver)?.into()
    } else if volume.is_on_linux {
        if is_alone(volume, &driver) {
            return Ok(held_back(volume, linux::alone(volume, below, driver.plugs)?));
        }
        let queues = linux::block_layer(volume, below, &driver.plugs)?;
        let copies = linux::copy_choice(volume);
        let array =
            mapped(volume, queues, driver)?.choosing_copies(copies, &linux::member_kinds(volume));
        // md cuts a request into bios (`bio_split_to_limits`) before it chooses copies, and comes to their pieces in an order of
        // its own, which a disk that empties its cache can feel. Write-back sends single pages. RAID 5 and 6 are here for a
        // stretch of a rebuild.
        let is_cut = volume.level.is_run_by_md() && !volume.level.has_stripe_cache();
        if is_cut && !volume.page_cache.is_written {
            array.cutting_into_bios(linux::cut(volume)).into()
        } else {
            array.into()
        }
    } else if is_alone(volume, &driver) {
        Alone::new(below, volume.layout()?.sectors(), driver.plugs).into()
    } else {
        mapped(volume, below, driver)?.into()
    };
    Ok(held_back(volume, array))
}

/// Whether nothing maps what is asked of the one drive of `volume`: it is whole, and its `driver` neither takes time nor sleeps.
fn is_alone(volume: &Volume, driver: &Driver) -> bool {
    let may_sleep = driver.plugs.senders().is_some() || driver.plugs.are_of_threads();
    volume.level.name == "single" && volume.failed.is_empty() && driver.is_free() && !may_sleep
}

/// The `array` of `volume`, with what waits for it.
fn held_back(volume: &Volume, array: Box<dyn Device>) -> Box<dyn Device> {
    match volume.volume_outstanding {
        Some(outstanding) => Limiter::new(array, outstanding).into(),
        None => array,
    }
}

/// The drives `below`, with what its driver has with each of them at a time.
pub(super) fn limited(volume: &Volume, below: Box<dyn Device>) -> Box<dyn Device> {
    match volume.member_outstanding {
        Some(outstanding) => Limiter::new(below, outstanding).into(),
        None => below,
    }
}

/// The layout of `volume` as its general rules have it, with what is down and restored.
fn mapped(
    volume: &Volume,
    below: Box<dyn Device>,
    driver: Driver,
) -> Result<Array<Box<dyn Device>>> {
    let array = Array::new(volume.layout()?, below, driver).degraded(&volume.failed);
    Ok(match to_restore(volume)? {
        Some((rebuild, part)) => {
            let start = part.start.max(volume.restored_sectors);
            let array = array.rebuilding_part(rebuild, start..part.end);
            match linux::barrier(volume, part.start) {
                Some(barrier) => array.restored_by_md(barrier, linux::is_load_first(volume)),
                None => array,
            }
        }
        None => array,
    })
}

/// md's array of parity over `below`, with a spare where a member is restored.
pub(super) fn of_parity(
    volume: &Volume,
    below: Box<dyn Device>,
    driver: Driver,
) -> Result<Md<Box<dyn Device>>> {
    let md = linux::md(volume, below, driver)?;
    Ok(match to_restore(volume)? {
        // What is restored is down no more.
        Some((rebuild, part)) => md.degraded(&volume.failed[1..]).restoring(rebuild, part),
        None => md.degraded(&volume.failed),
    })
}

/// The member of `volume` that is restored and how fast, if any is, and what is restored of it.
pub(crate) fn to_restore(volume: &Volume) -> Result<Option<(Rebuild, Range<u64>)>> {
    Ok(match (volume.rebuild_bytes_per_s, volume.failed.first()) {
        (Some(rate), Some(&member)) => {
            let rebuild = Rebuild { member, bytes_per_s: Some(rate) };
            Some((rebuild, restored_part(volume, member)?))
        }
        _ => None,
    })
}

/// What is restored of `member`: all that is used of it, but not what md has in front of the data. Of arrays side by side
/// that is what the one that it is in restores.
pub(crate) fn restored_part(volume: &Volume, member: u32) -> Result<Range<u64>> {
    if let Some(of) = volume.level.nested() {
        let each = (volume.members.len() / of.groups) as u32;
        let group = nested::part(volume, of, (member / each) as usize);
        return restored_part(&group, member % each);
    }
    let mut first = Vec::new();
    if volume.level.is_run_by_md() {
        volume.layout()?.places(0, &mut first);
    }
    let start = first.first().map_or(0, |place| place.sector);
    Ok(start..volume.members[member as usize].sectors()?)
}

/// One `disk` as a volume, for what the host's `driver` does for each request to it.
pub(super) fn one_disk(disk: Box<dyn Device>, driver: Driver) -> Result<Box<dyn Device>> {
    if driver.is_free() {
        return Ok(disk);
    }
    let sectors = disk.geometry().target_sectors[0];
    let one = Concat::new(&[sectors]).map_err(Error::failure)?;
    Ok(Array::new(Box::new(one), disk, driver).into())
}
