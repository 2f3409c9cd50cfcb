//! What a person may take a job's figures for although they are not.

use super::option;
use super::syncs::{has_ranges, is_set};
use crate::record::plain;
use serde_json::Value as Json;

/// Options by which a job goes no faster than it was told.
const LIMITS: [&str; 3] = ["rate", "rate_iops", "thinktime"];

/// Options by which what was written is on the drives before the time is taken.
const SYNCS: [&str; 5] = ["fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync"];

/// What is to be said of a job that moved bytes.
pub(super) fn of(name: &str, job: &Json, global: Option<&Json>) -> Vec<String> {
    let is_set = |option: &str| is_set(job, global, option);
    let mut doubts = Vec::new();
    if is_group(job, global) {
        doubts.push(format!(
            "job `{name}` is a group of several jobs, which fio summed with the options of the last only; run it without \
             `group_reporting` to have each job"
        ));
        return doubts;
    }
    if has_ranges(job, global) {
        doubts.push(format!(
            "job `{name}`: its syncs were left out: `sync_file_range` leaves data in the drive's cache; use `fdatasync=1` \
             to measure commits"
        ));
    }
    if let Some(limit) = LIMITS.into_iter().find(|limit| is_set(limit)) {
        let value = option(job, global, limit).unwrap_or_default();
        doubts.push(format!(
            "job `{name}` was limited by `{limit}={value}`: its rate is not the most that the layout can do"
        ));
    }
    if reads_to_verify(job, global) {
        doubts.push(format!(
            "job `{name}`: the reads of `verify` were left out: they ran after the writes"
        ));
    }
    if let Some(state) = job.get("steadystate")
        && state.get("attained").and_then(Json::as_u64) == Some(0)
    {
        let wanted = state.get("ss").map_or_else(String::new, plain);
        doubts.push(format!(
            "job `{name}` did not reach its steady state ({wanted}): its figures are of the whole run; run it longer"
        ));
    }
    // Older versions write no options, or not all.
    let is_told = job.get("job options").is_some();
    let wrote = has_moved("write", job);
    let is_direct = is_set("direct") || option(job, global, "buffered").as_deref() == Some("0");
    let is_synced = SYNCS.into_iter().any(is_set);
    let engine = option(job, global, "ioengine").unwrap_or_default();
    if is_told && wrote && !is_direct && !is_synced && engine != "null" {
        doubts.push(format!(
            "job `{name}` wrote through the page cache and did not wait for the disks: its rate may be that of memory; \
             use `direct=1` or `end_fsync=1`"
        ));
    }
    doubts
}

/// Whether a job reads only what it has written, and behind it.
pub(super) fn reads_to_verify(job: &Json, global: Option<&Json>) -> bool {
    !has_other_name(job)
        && does_only(["write", "randwrite"], job, global)
        && is_set(job, global, "verify")
}

/// Whether it is several jobs of one group. Its name is that of the first, and its options are those of the last.
pub(super) fn is_group(job: &Json, global: Option<&Json>) -> bool {
    let reads = has_moved("read", job) && !is_set(job, global, "verify");
    has_other_name(job)
        || (reads && does_only(["write", "randwrite"], job, global))
        || (has_moved("write", job) && does_only(["read", "randread"], job, global))
}

/// Whether the options are of a job of another name. In a file of jobs they have none.
fn has_other_name(job: &Json) -> bool {
    let own = job.get("job options").and_then(|options| options.get("name"));
    own.is_some_and(|own| job.get("jobname") != Some(own))
}

fn has_moved(direction: &str, job: &Json) -> bool {
    let bytes = job.get(direction).and_then(|part| part.get("io_bytes")).and_then(Json::as_f64);
    bytes > Some(0.0)
}

/// Whether its `rw` is one of these.
fn does_only(directions: [&str; 2], job: &Json, global: Option<&Json>) -> bool {
    let rw = option(job, global, "rw").or_else(|| option(job, global, "readwrite"));
    rw.is_some_and(|rw| directions.contains(&rw.split(':').next().unwrap_or_default()))
}
