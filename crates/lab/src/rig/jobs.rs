//! The jobs that a trial's work is.

use crate::experiment::Trial;
use crate::workload::Requests;
use sim::workload::{Jobs, RunningStream, Stream};
use std::borrow::Cow;

/// The jobs of a trial on a volume of so many sectors, and a log if there are two numbers; the first with the trial's seed.
pub(super) fn jobs(trial: &Trial, target_sectors: &[u64]) -> Jobs {
    let mut running = Vec::new();
    // What has no end beside something that has one ends with it. Where none has, the first that has used up its budget
    // ends all: what the others would do without it is not what was asked.
    let end_together = trial.requests().any(Requests::ends) || trial.requests().count() > 1;
    for (index, requests) in trial.requests().enumerate() {
        let block_bytes = requests.keys.block_sectors * block::SECTOR_BYTES;
        let fill_ns = trial.setup.host.zero_fill_ns(block_bytes);
        let (target, requests) = placed(requests, target_sectors);
        for part in requests.parts(target_sectors[target]) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let background = end_together && !requests.ends();
            let target = target as u32;
            let stream = Stream { target, background, ..requests.stream(part, fill_ns) };
            running.push((index, RunningStream::new(stream, seed)));
        }
    }
    if is_apart(trial) {
        return Jobs::apart(running);
    }
    Jobs::new(running.into_iter().map(|(_, stream)| stream).collect())
}

/// The target that `requests` go to, and what they are there.
pub(super) fn placed<'a>(
    requests: &'a Requests,
    target_sectors: &[u64],
) -> (usize, Cow<'a, Requests>) {
    match target_sectors.get(1) {
        Some(&sectors) if requests.keys.to_log => (1, Cow::Owned(requests.on_log(sectors))),
        _ => (0, Cow::Borrowed(requests)),
    }
}

/// Whether the workloads of a trial are recorded apart: there are several, or requests come at a rate, or are committed.
fn is_apart(trial: &Trial) -> bool {
    let alone = |work: &Requests| work.is_open() || work.is_limited() || work.commits();
    trial.requests().count() > 1 || trial.requests().any(alone)
}
