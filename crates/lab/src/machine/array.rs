//! The array: a layout over disks, and the driver that runs it.

use crate::error::{Error, Result};
use crate::experiment::{Member, Volume};
use block::layout::Concat;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::{Array, Device, Driver, Limiter, Rebuild};

/// The layout of `volume` over the drives `below`, what its driver has with each of them, and what waits for it.
pub(super) fn array(
    volume: &Volume,
    mut below: Box<dyn Device>,
    driver: Driver,
) -> Result<Box<dyn Device>> {
    if let Some(outstanding) = volume.member_outstanding {
        below = Box::new(Limiter::new(below, outstanding));
    }
    let array = match (volume.rebuild_bytes_per_s, volume.failed.first()) {
        (None, _) if volume.level.has_stripe_cache() => md(volume, below, driver)?,
        (Some(rate), Some(&member)) => {
            let array = Array::new(volume.layout()?, below, driver).degraded(&volume.failed);
            let used = volume.members[member as usize].sectors()?;
            let rebuild = Rebuild { member, bytes_per_s: Some(rate) };
            Box::new(array.rebuilding_part(rebuild, volume.restored_sectors..used))
        }
        _ => Box::new(Array::new(volume.layout()?, below, driver).degraded(&volume.failed)),
    };
    Ok(match volume.volume_outstanding {
        Some(outstanding) => Box::new(Limiter::new(array, outstanding)),
        None => array,
    })
}

/// Requests that a drive's queue holds (`nr_requests`, twice a SATA drive's 32 tags), and the largest
/// (`max_sectors_kb` 1280, `max_segments` 168), as on the kernel that the model is held to.
const REQUESTS: usize = 64;
const MAX_SECTORS: u32 = 2560;
const MAX_SEGMENTS: u32 = 168;

/// md's RAID 4, 5 or 6 over the drives `below`, each behind a queue of Linux with mq-deadline, which gives it as
/// many requests as the drive can choose among.
fn md(volume: &Volume, below: Box<dyn Device>, driver: Driver) -> Result<Box<dyn Device>> {
    let tags = volume.members.iter().map(Member::queue_depth).min().unwrap_or(1);
    let spec = MdSpec {
        stripe_cache_rows: volume.stripe_cache_rows as usize,
        queue: QueueSpec {
            scheduler: Scheduler::MqDeadline,
            requests: REQUESTS,
            tags,
            max_sectors: MAX_SECTORS,
            max_segments: MAX_SEGMENTS,
        },
    };
    let md = Md::new(volume.layout()?, below, driver, spec).map_err(Error::input)?;
    Ok(Box::new(md.degraded(&volume.failed)))
}

/// One `disk` as a volume, for what the host's `driver` does for each request to it.
pub(super) fn one_disk(disk: Box<dyn Device>, driver: Driver) -> Result<Box<dyn Device>> {
    if driver.is_free() {
        return Ok(disk);
    }
    let sectors = disk.geometry().target_sectors[0];
    let one = Concat::new(&[sectors]).map_err(Error::failure)?;
    Ok(Box::new(Array::new(Box::new(one), disk, driver)))
}
