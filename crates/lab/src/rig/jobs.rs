//! The jobs that a trial's work is.

use crate::experiment::Trial;
use crate::workload::Requests;
use sim::workload::{Jobs, RunningStream, Stream};

/// The jobs of a trial on a volume of `sectors`, the first with the trial's seed.
pub(super) fn jobs(trial: &Trial, sectors: u64) -> Jobs {
    let mut running = Vec::new();
    // What has no end beside something that has one ends with it.
    let some_end = trial.requests().any(Requests::ends);
    for (index, requests) in trial.requests().enumerate() {
        let block_bytes = requests.keys.block_sectors * block::SECTOR_BYTES;
        let fill_ns = trial.setup.host.zero_fill_ns(block_bytes);
        for part in requests.parts(sectors) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let background = some_end && !requests.ends();
            let stream = Stream { background, ..requests.stream(part, fill_ns) };
            running.push((index, RunningStream::new(stream, seed)));
        }
    }
    if is_apart(trial) {
        return Jobs::apart(running);
    }
    Jobs::new(running.into_iter().map(|(_, stream)| stream).collect())
}

/// Whether the workloads of a trial are recorded apart: there are several, or requests come by the clock, or are
/// committed.
fn is_apart(trial: &Trial) -> bool {
    let alone = |work: &Requests| work.is_open() || work.commits();
    trial.requests().count() > 1 || trial.requests().any(alone)
}
