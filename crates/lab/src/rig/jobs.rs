//! The jobs that a trial's work is.

use crate::experiment::Trial;
use crate::workload::Requests;
use sim::workload::{RunningStream, Stream};

/// The jobs of a trial on a volume of `sectors`, the first with the trial's seed.
pub(super) fn streams(trial: &Trial, sectors: u64) -> Vec<RunningStream> {
    let mut running = Vec::new();
    // What has no end beside something that has one ends with it.
    let some_end = trial.requests().any(Requests::ends);
    for requests in trial.requests() {
        let block_bytes = requests.keys.block_sectors * block::SECTOR_BYTES;
        let fill_ns = trial.setup.host.zero_fill_ns(block_bytes);
        for part in requests.parts(sectors) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let background = some_end && !requests.ends();
            let stream = Stream { background, ..requests.stream(part, fill_ns) };
            running.push(RunningStream::new(stream, seed));
        }
    }
    running
}
