//! The jobs that a trial's work is.

use crate::experiment::Trial;
use sim::workload::RunningStream;

/// The jobs of a trial on a volume of `sectors`, the first with the trial's seed.
pub(super) fn streams(trial: &Trial, sectors: u64) -> Vec<RunningStream> {
    let mut running = Vec::new();
    for requests in trial.requests() {
        let block_bytes = requests.keys.block_sectors * block::SECTOR_BYTES;
        let fill_ns = trial.setup.host.zero_fill_ns(block_bytes);
        for part in requests.parts(sectors) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            running.push(RunningStream::new(requests.stream(part, fill_ns), seed));
        }
    }
    running
}
