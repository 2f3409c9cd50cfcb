//! What fio says of its `fsync` and `fdatasync`.

use super::doubts::is_group;
use super::{Direction, Figures, option};
use crate::error::Result;
use crate::text::Source;
use serde_json::Value as Json;

/// The samples of a job's syncs, which no latency of a write has in it.
///
/// As many as there are writes make each write a commit, and a loop of depth 1 commits in the sum of both means. No
/// percentile of a commit follows from those of its parts. The one sync of `end_fsync` commits nothing at a rate.
pub(super) fn samples(
    source: Source<'_>,
    (job, all, global): (&str, &Json, Option<&Json>),
    moved: &[Direction],
) -> Result<Vec<(&'static str, f64)>> {
    let Some(part) = all.get("sync") else { return Ok(Vec::new()) };
    let figures = Figures { source, job, name: "sync", part };
    // `total_ios` has those of `fsync` only; those of `fdatasync` are counted with their latencies.
    let counts = [figures.number(&["total_ios"])?, figures.number(&["lat_ns", "N"])?];
    let count = counts.into_iter().flatten().fold(0.0, f64::max);
    if count <= 0.0 || has_ranges(all, global) {
        return Ok(Vec::new());
    }
    let mean_ms = figures.latency_ms("lat", &["mean"])?;
    let p99_ms = figures.latency_ms("lat", &["percentile", "99.000000"])?;
    let writes = moved.iter().find(|way| way.name == "write");
    let written = writes.and_then(|way| Some((way.requests_per_s?, way.requests?)));
    let is_synced = is_set(all, global, "fsync") || is_set(all, global, "fdatasync");
    // Which of a group's jobs syncs, and after how many writes, is not known.
    let is_each_few = is_synced && !is_group(all, global);
    let jobs = option(all, global, "numjobs").and_then(|jobs| jobs.parse().ok()).unwrap_or(1.0_f64);
    let commits_per_s = written.filter(|_| is_each_few).map(|(per_s, requests)| {
        // The last write of each job may have none behind it.
        let is_each = (count - requests).abs() <= jobs.max(1.0);
        if is_each { per_s } else { per_s * (count / requests).min(1.0) }
    });
    let is_alone = moved.len() == 1
        && option(all, global, "iodepth").is_none_or(|depth| depth == "1")
        && written.is_some_and(|(per_s, _)| commits_per_s == Some(per_s));
    let commit_ms =
        writes.and_then(|way| way.mean_ms).zip(mean_ms).map(|(write, flush)| write + flush);
    let samples = [
        ("flushes", Some(count)),
        ("flush_mean_ms", mean_ms),
        ("flush_p99_ms", p99_ms),
        ("commits_per_s", commits_per_s),
        ("commit_mean_ms", commit_ms.filter(|_| is_alone)),
    ];
    Ok(samples.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// Whether an option is there and is not 0.
pub(super) fn is_set(job: &Json, global: Option<&Json>, name: &str) -> bool {
    option(job, global, name).is_some_and(|value| !["", "0", "none"].contains(&value.as_str()))
}

/// Whether calls of `sync_file_range` are among the syncs. They leave what was written in the drive's cache.
pub(super) fn has_ranges(job: &Json, global: Option<&Json>) -> bool {
    is_set(job, global, "sync_file_range")
}
