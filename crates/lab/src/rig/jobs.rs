//! The jobs that a trial's work is.

use crate::experiment::{Op, Setup, Trial, Work, WorkKind};
use sim::workload::{Pattern, RunningStream, Stream};

/// The jobs of a trial on a volume of `sectors`, the first with the trial's seed.
pub(super) fn streams(trial: &Trial, sectors: u64) -> Vec<RunningStream> {
    let mut running = Vec::new();
    for work in trial.works() {
        for part in work.parts(sectors) {
            let job = running.len() as u64;
            let seed = trial.seed ^ job.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            running.push(RunningStream::new(stream(work, part, &trial.setup), seed));
        }
    }
    running
}

/// One job of `work` on a part of the volume.
fn stream(work: &Work, (start_sector, span_sectors): (u64, u64), setup: &Setup) -> Stream {
    let filled = work.kind == WorkKind::Dd && work.op == Op::Write;
    let bytes = work.block_sectors * block::SECTOR_BYTES;
    let fill_ns = if filled { setup.host.zero_fill_ns(bytes) } else { 0 };
    Stream {
        op: match work.op {
            Op::Read => block::Op::Read,
            Op::Write => block::Op::WRITE,
        },
        reads_percent: work.reads_percent,
        pattern: match work.kind {
            WorkKind::Dd | WorkKind::Sequential => Pattern::Sequential,
            WorkKind::Strided => Pattern::Strided(work.gap_sectors),
            WorkKind::Random => Pattern::Random,
        },
        start_sector,
        span_sectors,
        block_sectors: work.block_sectors as u32,
        sizes: work.sizes.clone(),
        count: work.count,
        sectors: work.amount_sectors,
        until_ns: work.runtime_ns,
        depth: work.depth as u32,
        think_ns: work.think_ns,
        work_ns: fill_ns,
        bytes_per_s: work.bytes_per_s,
        requests_per_s: work.requests_per_s,
        flush_every: work.flush_every,
    }
}
