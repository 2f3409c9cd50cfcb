//! What Linux puts between a volume and its members: a queue for each, and md's stripe cache.

use crate::error::{Error, Result};
use crate::experiment::{Member, Volume};
use sim::linux::block_layer::BlockLayer;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::{Device, Driver};

/// The largest request (`max_sectors_kb` 1280, `max_segments` 168), as on the kernel that the model is held to.
const MAX_SECTORS: u32 = 2560;
const MAX_SEGMENTS: u32 = 168;
/// Commands that a drive with one hardware queue takes at most (SATA's NCQ); one that turns has one, too.
const ONE_QUEUE_TAGS: usize = 32;
/// What a queue with a scheduler holds at most for each two of its requests (`BLKDEV_DEFAULT_RQ`).
const REQUESTS_MAX: usize = 128;

/// md's RAID 4, 5 or 6 over the drives `below`.
pub(super) fn md(
    volume: &Volume,
    below: Box<dyn Device>,
    driver: Driver,
) -> Result<Box<dyn Device>> {
    let spec = MdSpec {
        stripe_cache_rows: volume.stripe_cache_rows as usize,
        queue: queue(&volume.members),
        is_written_back: volume.is_written_back,
    };
    let md = Md::new(volume.layout()?, below, driver, spec).map_err(Error::input)?;
    Ok(Box::new(md.degraded(&volume.failed)))
}

/// The queues of the members alone.
pub(super) fn block_layer(volume: &Volume, below: Box<dyn Device>) -> BlockLayer<Box<dyn Device>> {
    BlockLayer::new(below, queue(&volume.members))
}

/// The queue that Linux gives each of `members`: with one hardware queue mq-deadline and twice as many requests as
/// the drive takes, else no scheduler (`elevator_get_default`, `blk_mq_init_sched`).
fn queue(members: &[Member]) -> QueueSpec {
    let tags = tags(members);
    QueueSpec {
        scheduler: if has_scheduler(members) { Scheduler::MqDeadline } else { Scheduler::None },
        requests: 2 * tags.min(REQUESTS_MAX),
        tags,
        max_sectors: MAX_SECTORS,
        max_segments: MAX_SEGMENTS,
    }
}

/// Commands that each of `members` takes at a time.
fn tags(members: &[Member]) -> usize {
    members.iter().map(Member::queue_depth).min().unwrap_or(1)
}

/// Whether Linux puts a scheduler in front of each of `members`.
pub fn has_scheduler(members: &[Member]) -> bool {
    tags(members) <= ONE_QUEUE_TAGS || members.iter().any(Member::is_rotational)
}
