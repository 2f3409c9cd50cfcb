//! Members that are restored while the load goes on. A limit lets bursts through: md restores at once what a second allows, and
//! sleeps. A trial that ends within the first burst, or while md sleeps, says nothing of the hours that a rebuild takes.

use crate::experiment::{Trial, Volume};
use crate::machine;
use block::SECTOR_BYTES;

/// So many bursts a trial lasts at least. From the beginning on md lets one more through than have passed: a tenth too much by then.
const BURSTS: f64 = 10.0;

/// How many times as long as it took a trial would have to be, so that what is restored beside it has its pace: 1 or less where it
/// was long enough, or nothing is restored.
pub(super) fn too_short_by(trial: &Trial, took_ns: u64) -> f64 {
    needed_ns(&trial.setup.volume).unwrap_or(0.0) / took_ns.max(1) as f64
}

/// How long a trial lasts at least; as long as the whole rebuild takes by its limit where that is less.
fn needed_ns(volume: &Volume) -> Option<f64> {
    let (rebuild, part) = machine::to_restore(volume).ok()??;
    let bursts_ns = BURSTS * rebuild.period_ns(volume.level.is_run_by_md())? as f64;
    let left_bytes = (part.end - part.start.max(volume.restored_sectors)) * SECTOR_BYTES;
    let all_ns = left_bytes as f64 * 1e9 / rebuild.bytes_per_s? as f64;
    Some(bursts_ns.min(all_ns))
}
