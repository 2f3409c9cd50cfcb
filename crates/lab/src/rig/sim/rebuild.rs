//! How long the rest of a rebuild takes that nothing disturbs.
//!
//! A short one is run to its end. Of a long one, stretches are run, each on a machine of its own whose rebuild has come as
//! far, and the time of the rest follows from theirs: a drive is slower towards its end, but changes little within a
//! stretch. md's RAID 5 and 6 are restored at the drives' pace there, or at the limit: as long as its thread finds no row free,
//! the stripe cache grows, and within a minute there are enough rows for that.

use crate::error::Result;
use crate::experiment::Setup;
use crate::machine;
use block::SECTOR_BYTES;
use sim::array::CHUNK_SECTORS;
use sim::{Advance, Counters, Device, Nanos, Processor};

/// As many chunks as are run to their end.
const CHUNKS_MAX: u64 = 16_384;
/// The same where md restores row by row.
const CHUNKS_OF_ROWS_MAX: u64 = 1024;
/// Places at which a longer rebuild is looked at.
const STRETCHES: u64 = 32;
/// Chunks of a stretch: those that fill caches, and those that count.
const CHUNKS_BEFORE: u64 = 512;
const CHUNKS: u64 = 128;

/// What a rebuild has come to.
pub(super) struct Rebuilt {
    /// The share that was restored when the workload had ended.
    pub(super) share: f64,
    /// When all is restored, in ns; `None` where it cannot be.
    pub(super) restored_at: Option<Nanos>,
}

/// The rebuild of the volume of `setup`, which is `device`, whose workload ended at `now`.
///
/// # Errors
///
/// Where the machine cannot be built again.
pub(super) fn rest(
    setup: &Setup,
    seed: u64,
    device: &mut dyn Device,
    now: Nanos,
) -> Result<Rebuilt> {
    let Some(&member) = setup.volume.failed.first() else {
        return Ok(Rebuilt { share: 0.0, restored_at: None });
    };
    let part = machine::restored_part(&setup.volume, member)?;
    let ended = counters_of(device);
    let share = ended.restored_sectors as f64 / (part.end - part.start) as f64;
    let left = part.start + ended.restored_sectors..part.end;
    let goes_on = ended.restored_at.is_none() && device.next_event().is_some();
    let is_by_rows = setup.volume.level.has_stripe_cache();
    let most = if is_by_rows { CHUNKS_OF_ROWS_MAX } else { CHUNKS_MAX };
    if !goes_on || left.end.saturating_sub(left.start) / CHUNK_SECTORS <= most {
        sim::settle(device);
        return Ok(Rebuilt { share, restored_at: counters_of(device).restored_at });
    }
    let mut rest_ns = 0.0;
    let rate = setup.volume.rebuild_bytes_per_s.unwrap_or(u64::MAX);
    let (at_drives, least_ns) = if machine::is_restored_behind_barrier(&setup.volume) {
        // md restores what it may in a second at once, which is more than a stretch: the limit is worked out.
        (u64::MAX, SECTOR_BYTES as f64 * 1e9 / rate as f64)
    } else {
        (rate, 0.0)
    };
    let length = (left.end - left.start) / STRETCHES;
    for stretch in 0..STRETCHES {
        let from = left.start + stretch * length + length / 2;
        // There is room behind it for a stretch, and chunks start as they do from the first sector on.
        let from = from.min(left.end - (CHUNKS_BEFORE + CHUNKS + 1) * CHUNK_SECTORS);
        let from = from / CHUNK_SECTORS * CHUNK_SECTORS;
        let each_ns = ns_per_sector(setup, seed, from, at_drives)?;
        rest_ns += length as f64 * each_ns.max(least_ns);
    }
    Ok(Rebuilt { share, restored_at: Some(now + rest_ns as Nanos) })
}

/// What restoring a sector takes from sector `from` on, at most at so many bytes a second.
fn ns_per_sector(setup: &Setup, seed: u64, from: u64, bytes_per_s: u64) -> Result<f64> {
    let mut setup = setup.clone();
    setup.volume.restored_sectors = from;
    setup.volume.rebuild_bytes_per_s = Some(bytes_per_s);
    let mut device = machine::volume(&setup, seed, &Processor::default())?;
    let start = run_until(&mut *device, CHUNKS_BEFORE * CHUNK_SECTORS);
    let end = run_until(&mut *device, (CHUNKS_BEFORE + CHUNKS) * CHUNK_SECTORS);
    Ok((end - start) as f64 / (CHUNKS * CHUNK_SECTORS) as f64)
}

/// Runs `device` until this many sectors are restored; gives the time.
fn run_until(device: &mut dyn Device, sectors: u64) -> Nanos {
    let mut events = Vec::new();
    let mut now = 0;
    while counters_of(device).restored_sectors < sectors {
        now = device.next_event().expect("a rebuild that nothing disturbs goes on");
        device.advance(now, &mut events);
        events.clear();
    }
    now
}

fn counters_of(device: &dyn Device) -> Counters {
    let mut counters = Counters::default();
    device.count(&mut counters);
    counters
}
