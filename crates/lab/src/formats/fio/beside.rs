//! fio's options that a model of requests has little to do with: some change nothing here, which a note says, some only with
//! other values, and some are refused by name.

use super::job::Job;
use super::options::{IDLE, KNOWN, count, switch, time};
use super::shown;
use crate::error::nearest;

/// What came of an option: a note, or nothing to say.
type Applied = Result<Option<String>, String>;

/// The options.
pub(super) const OPTIONS: &[&str] = &[
    "startdelay",
    "nrfiles",
    "file_service_type",
    "ba",
    "blockalign",
    "verify",
    "do_verify",
    "iodepth_low",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
];

/// Options that say more than is modelled, whatever their value, and what to do.
const REFUSED: &[(&str, &str)] = &[
    ("include", "another file is not read; write its lines here in its place"),
    (
        "latency_target",
        "fio would search for the depth; an experiment has `capacity = \"p99 <= 10ms\"` for requests by the clock",
    ),
    ("latency_window", "it belongs to `latency_target`; take it out with that"),
    ("latency_percentile", "it belongs to `latency_target`; take it out with that"),
    ("latency_run", "it belongs to `latency_target`; take it out with that"),
    (
        "verify_backlog",
        "reads of what was written would mix with the writes; take it out, or write rw=rw",
    ),
    ("verify_backlog_batch", "it belongs to `verify_backlog`; take it out with that"),
    ("wait_for", "a job waits for all before it here; write `stonewall`"),
    ("trim_percentage", "no job here trims; leave it out"),
    ("trim_backlog", "no job here trims; leave it out"),
    (
        "bs_unaligned",
        "requests are of whole sectors here; take it out, or write the sizes by `bssplit`",
    ),
    (
        "blocksize_unaligned",
        "requests are of whole sectors here; take it out, or write the sizes by `bssplit`",
    ),
    (
        "read_iolog",
        "a recorded load is a workload of its own in an experiment: `kind = \"trace\"`, `file = …`",
    ),
    (
        "replay_no_stall",
        "a recorded load is a workload of its own in an experiment: `kind = \"trace\"`, `replay = \"closed\"`",
    ),
    (
        "zonesize",
        "no job has zones here; for hot zones take random_distribution=zoned:REQUESTS/RANGE:…",
    ),
    (
        "zonerange",
        "no job has zones here; for hot zones take random_distribution=zoned:REQUESTS/RANGE:…",
    ),
    (
        "zoneskip",
        "no job has zones here; for hot zones take random_distribution=zoned:REQUESTS/RANGE:…",
    ),
];

/// Why `option` is refused whatever its value is, where it is.
pub(super) fn refused(option: &str) -> Option<String> {
    let (_, why) = REFUSED.iter().find(|(refused, _)| *refused == option)?;
    Some(format!("`{option}` is not supported: {why}"))
}

/// Applies an option of these to `job`.
pub(super) fn apply(job: &mut Job, option: &str, value: &str) -> Applied {
    let is = |what: String| Ok(Some(what));
    match option {
        "startdelay" => {
            job.start_delay_ns = time(option, value, 1_000_000_000)?;
            if job.start_delay_ns > 0 {
                return is(format!(
                    "`{option}={}`: what comes before the first request is not measured",
                    shown(value)
                ));
            }
        }
        "nrfiles" => job.files = count(option, value, 1_000_000)?,
        "file_service_type" => return file_service(job, value),
        "ba" | "blockalign" => {
            job.align = Some(super::sizes::one_size(option, value)?);
        }
        "verify" => {
            return is(format!(
                "`{option}={}`: what was written is not read again here: these are the figures of the jobs' own requests",
                shown(value)
            ));
        }
        "do_verify" => {
            switch(option, Some(value))?;
            return is("`do_verify` has no effect here and is ignored".into());
        }
        "iodepth_low" => job.depth_low = Some(count(option, value, 65_536)?),
        "iodepth_batch_complete_max" => {
            count(option, value, 65_536)?;
            return is(format!(
                "`{option}={}`: each request that is done makes room for the next one here",
                shown(value)
            ));
        }
        "iodepth_batch" | "iodepth_batch_submit" => one_by_one(option, value, "sent")?,
        "iodepth_batch_complete" | "iodepth_batch_complete_min" => {
            one_by_one(option, value, "waited for")?;
        }
        _ => return Err(unknown(option)),
    }
    Ok(None)
}

/// Requests go alone, not in batches.
fn one_by_one(option: &str, value: &str, are: &str) -> Result<(), String> {
    match value.trim() {
        "0" | "1" => Ok(()),
        _ => Err(format!(
            "`{option}={}` is not supported: requests are {are} one by one here; take 1, or leave it out",
            shown(value)
        )),
    }
}

/// In which order a job comes to its files.
fn file_service(job: &mut Job, value: &str) -> Applied {
    let word = value.split(':').next().unwrap_or_default().trim();
    job.takes_files_in_order = match word {
        "random" | "roundrobin" => false,
        "sequential" => true,
        _ => {
            return Err(format!(
                "`file_service_type={}` is not supported; take random, roundrobin or sequential, or random_distribution for hot blocks",
                shown(value)
            ));
        }
    };
    Ok(None)
}

/// What is said of an option that is not known. Which ones there are is said once, behind the last of them.
pub(super) fn unknown(option: &str) -> String {
    let known = || [KNOWN, OPTIONS, IDLE].into_iter().flatten().copied();
    let next = match nearest(option, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => TAKE_OUT.into(),
    };
    format!("the option `{}` is not supported; {next}", shown(option))
}

/// How a message ends that leaves open what there is instead.
const TAKE_OUT: &str = "take it out";

/// So many options are named where none is near.
const NAMED: usize = 8;

/// All that was refused, in one message.
pub(super) fn all_of(mut refused: Vec<String>) -> Option<String> {
    let last = refused.iter_mut().rev().find(|said| said.ends_with(TAKE_OUT));
    if let Some(last) = last {
        let (first, more) = KNOWN.split_at(NAMED);
        let more = more.len() + OPTIONS.len();
        *last = format!("{last}, or use one of {} and {more} more", first.join(", "));
    }
    (!refused.is_empty()).then(|| refused.join("\n"))
}

/// `value` with each `${NAME}` as the variables have it, as fio reads it.
pub(super) fn substituted(
    value: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        let found = variable(name).ok_or_else(|| {
            format!(
                "`${{{}}}`: the environment has no such variable; set it, or write its value here",
                shown(name)
            )
        })?;
        text.push_str(before);
        text.push_str(&found);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// Why these options cannot be had of `job`, which sends with so many others at the same time; none where they can.
pub(super) fn check(job: &Job, others: &[&Job]) -> Result<(), String> {
    if let Some(other) = others.iter().find(|other| other.start_delay_ns != job.start_delay_ns) {
        return Err(format!(
            "starts at another time than [{}], which runs beside it (`startdelay`); all of them start together here: give them the \
             same, or write `stonewall`",
            other.name
        ));
    }
    if job.files > 1 && !job.random && !job.takes_files_in_order {
        return Err(format!(
            "has {} files (`nrfiles`), over which sequential requests take turns; write file_service_type=sequential, or give each file \
             its own job",
            job.files
        ));
    }
    if let Some(low) = job.depth_low.filter(|&low| low < job.in_flight_each()) {
        return Err(format!(
            "lets its queue drain to {low} before it is filled again (`iodepth_low`); each request that is done makes room for the \
             next one here: leave it out"
        ));
    }
    let is_other = |align: &u64| job.random && job.smallest() != *align;
    if let Some(align) = job.align.filter(is_other) {
        return Err(format!(
            "begins its requests at multiples of {align} bytes (`blockalign`); they begin at multiples of their smallest size here: \
             leave it out, or take one size for both"
        ));
    }
    Ok(())
}
