//! fio's options: those that say what a job does, and those that cannot change it here.

use super::job::{Job, Rates};
use super::sizes::{block, one_size, range, sides, size, split};
use super::{AS_DIRECT, beside, shown};

/// What came of an option: a warning, or nothing to say.
type Applied = Result<Option<String>, String>;

/// The options that are understood.
pub(super) const KNOWN: &[&str] = &[
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bssplit",
    "iodepth",
    "numjobs",
    "size",
    "filesize",
    "offset",
    "offset_increment",
    "io_size",
    "io_limit",
    "runtime",
    "time_based",
    "loops",
    "rwmixread",
    "rwmixwrite",
    "rate",
    "rate_iops",
    "thinktime",
    "fsync",
    "fdatasync",
    "sync",
    "end_fsync",
    "ramp_time",
    "random_distribution",
    "bsrange",
    "blocksize_range",
    "rate_process",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_spin",
    "rw_sequencer",
    "number_ios",
    "zonemode",
    "direct",
    "buffered",
    "ioengine",
    "fixedbufs",
    "hipri",
    "sqthread_poll",
    "stonewall",
    "wait_for_previous",
    "filename",
    "name",
];

/// Options that cannot change what is simulated: how fio measures, reports and sets itself up.
pub(super) const IDLE: &[&str] = &[
    "group_reporting",
    "directory",
    "description",
    "invalidate",
    "randseed",
    "allrandrepeat",
    "randrepeat",
    "norandommap",
    "random_generator",
    "create_on_open",
    "create_serialize",
    "create_fsync",
    "fallocate",
    "overwrite",
    "unlink",
    "thread",
    "exitall",
    "disk_util",
    "clocksource",
    "gtod_reduce",
    "lat_percentiles",
    "clat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "log_avg_msec",
    "eta",
    "refill_buffers",
    "scramble_buffers",
    "buffer_pattern",
    "zero_buffers",
    "cpus_allowed",
    "cpus_allowed_policy",
    "nice",
    "prio",
    "prioclass",
    "registerfiles",
    "mem",
    "iomem",
    "per_job_logs",
    "new_group",
    "write_hist_log",
    "log_hist_msec",
    "log_offset",
    "log_max_value",
    "bwavgtime",
    "iopsavgtime",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "significant_figures",
    "unified_rw_reporting",
    "unlink_each_loop",
    "allow_file_create",
    "softrandommap",
    "iomem_align",
    "mem_align",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "status_interval",
];

/// Engines with one request in flight, and those with `iodepth` of them.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
const ASYNCHRONOUS: &[&str] =
    &["libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio", "spdk"];

/// Applies `option` to `job`.
pub(super) fn apply(job: &mut Job, option: &str, value: Option<&str>) -> Applied {
    let lower = option.to_ascii_lowercase();
    let option = lower.as_str();
    if IDLE.contains(&option) {
        return Ok(Some(format!("`{option}` has no effect here and is ignored")));
    }
    if let Some(refused) = beside::refused(option) {
        return Err(refused);
    }
    match option {
        "end_fsync" => job.end_flush = switch(option, value)?,
        "time_based" => job.time_based = switch(option, value)?,
        "fixedbufs" => job.sending.has_fixed_buffers = switch(option, value)?,
        "hipri" => job.sending.polls = switch(option, value)?,
        "sqthread_poll" => job.sending.by_thread = switch(option, value)?,
        "stonewall" | "wait_for_previous" => job.stonewall = switch(option, value)?,
        "direct" | "buffered" => {
            let on = switch(option, value)?;
            job.says_direct = true;
            if on != (option == "direct") {
                return Ok(Some(format!(
                    "`{option}={}`: {AS_DIRECT}; for the page cache write `direct = false` into an experiment",
                    u8::from(on)
                )));
            }
        }
        _ => {
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                let needs = format!("`{option}` needs a value; write `{option}=…`");
                let is_known = KNOWN.contains(&option) || beside::OPTIONS.contains(&option);
                return Err(if is_known { needs } else { beside::unknown(option) });
            };
            return apply_value(job, option, value);
        }
    }
    Ok(None)
}

fn apply_value(job: &mut Job, option: &str, value: &str) -> Applied {
    match option {
        "rw" | "readwrite" => direction(job, option, value)?,
        "bs" | "blocksize" => sides(value, &mut job.blocks, |side| block(option, side))?,
        "bssplit" => sides(value, &mut job.splits, split)?,
        "bsrange" | "blocksize_range" => sides(value, &mut job.splits, |side| range(option, side))?,
        "iodepth" => job.depth = count(option, value, 65_536)?,
        "numjobs" => job.jobs = count(option, value, 4096)?,
        "size" if value.ends_with('%') => {
            (job.size, job.size_percent) = (None, Some(share(option, value, 100)?));
        }
        "size" | "filesize" => {
            (job.size, job.size_percent) = (Some(one_size(option, value)?), None);
        }
        "io_size" | "io_limit" if value.ends_with('%') => {
            (job.io_size, job.io_size_percent) = (None, Some(share(option, value, 100)?));
        }
        "io_size" | "io_limit" => {
            (job.io_size, job.io_size_percent) = (Some(one_size(option, value)?), None);
        }
        "offset" if value.ends_with('%') => {
            (job.offset, job.offset_percent) = (0, Some(share(option, value, 99)?));
        }
        "offset" => (job.offset, job.offset_percent) = (size(option, value)?, None),
        "offset_increment" if value.ends_with('%') => {
            (job.offset_increment, job.step_percent) = (0, Some(share(option, value, 99)?));
        }
        "offset_increment" => {
            (job.offset_increment, job.step_percent) = (size(option, value)?, None);
        }
        "number_ios" => job.number_ios = Some(count(option, value, 1_000_000_000_000)?),
        "runtime" => {
            job.runtime_ns = Some(time(option, value, 1_000_000_000)?).filter(|&ns| ns > 0);
        }
        "thinktime" => job.think_ns = time(option, value, 1000)?,
        "loops" => job.loops = count(option, value, 1_000_000)?,
        "rwmixread" | "rwmixwrite" => {
            let percent = whole(value).filter(|&percent| percent <= 100);
            let percent = percent
                .ok_or_else(|| format!("`{option}={}` is not a percentage", shown(value)))?;
            job.mix_percent = if option == "rwmixread" { percent } else { 100 - percent } as u32;
        }
        "rate" => job.rate = rates(option, value, &|side| one_size(option, side))?,
        "rate_iops" => job.rate_iops = rates(option, value, &|side| per_second(option, side))?,
        "fsync" | "fdatasync" => {
            let every = whole(value).filter(|&every| every <= 1_000_000_000);
            job.flush_every = every
                .ok_or_else(|| format!("`{option}={}` is not a whole number", shown(value)))?;
        }
        "ioengine" => return engine(job, value),
        "filename" => job.filename = Some(value.into()),
        "name" => job.name = value.into(),
        _ => return apply_rest(job, option, value),
    }
    Ok(None)
}

/// Options that are not quite the same here, which a warning says.
fn apply_rest(job: &mut Job, option: &str, value: &str) -> Applied {
    match option {
        "ramp_time" => {
            job.ramps = time(option, value, 1_000_000_000)? > 0;
            return Ok(job.ramps.then(|| {
                "`ramp_time`: the warm-up is found and left out by itself, and a job with `time_based` runs until its \
                 rate is steady, whatever its `runtime`"
                    .into()
            }));
        }
        "random_distribution" => return distribution(job, value),
        "zonemode" => {
            if value != "none" {
                return Err(format!(
                    "`zonemode={}` is not supported: zoned devices are not modelled, and for gaps between blocks an \
                     experiment has `kind = \"strided\"`; take it out, or write zonemode=none",
                    shown(value)
                ));
            }
        }
        "sync" => match value {
            "0" | "none" => job.synchronous_writes = false,
            "1" | "sync" | "dsync" => {
                job.synchronous_writes = true;
                let told = "is modelled as a flush after each write, which costs nothing without a write cache; fio's \
                     latency of a write includes it, as that of a commit does here";
                return Ok(Some(format!("`sync={value}` {told}")));
            }
            _ => return Err(format!("`sync={}` is not one of none, sync, dsync", shown(value))),
        },
        _ => return apply_pace(job, option, value),
    }
    Ok(None)
}

/// Options that say when requests come, and which follow each other.
fn apply_pace(job: &mut Job, option: &str, value: &str) -> Applied {
    match option {
        "thinktime_spin" => {
            let spins = time(option, value, 1000)? > 0;
            return Ok(spins.then(|| {
                "`thinktime_spin`: taken as thinking: no processor is kept busy by it, as each program of fio has one of its own"
                    .into()
            }));
        }
        "thinktime_blocks_type" => {
            if !["complete", "issue"].contains(&value) {
                let value = shown(value);
                return Err(format!("`{option}={value}` is not supported; take complete or issue"));
            }
        }
        "rw_sequencer" => {
            if value != "sequential" {
                return Err(format!(
                    "`rw_sequencer={}` is not supported: no request goes where the last one was; take sequential, or leave it out",
                    shown(value)
                ));
            }
        }
        "thinktime_blocks" => job.think_every = count(option, value, 1_000_000_000)?,
        "rate_process" => {
            job.poisson = match value {
                "poisson" => true,
                "linear" => false,
                _ => {
                    let next = "take linear or poisson";
                    return Err(format!(
                        "`rate_process={}` is not supported; {next}",
                        shown(value)
                    ));
                }
            };
            return Ok(job.poisson.then(|| {
                "`rate_process=poisson`: requests come at their times, however many of `iodepth` are in flight; their \
                 latency counts from then"
                    .into()
            }));
        }
        _ => return beside::apply(job, option, value),
    }
    Ok(None)
}

fn direction(job: &mut Job, option: &str, value: &str) -> Result<(), String> {
    let (word, behind) = match value.split_once(':') {
        Some((word, behind)) => (word, Some(behind.trim())),
        None => (value, None),
    };
    let (random, reads) = match word.trim() {
        "read" => (false, Some(100)),
        "write" => (false, Some(0)),
        "randread" => (true, Some(100)),
        "randwrite" => (true, Some(0)),
        "rw" | "readwrite" => (false, None),
        "randrw" => (true, None),
        "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
            return Err(format!(
                "`{option}={}` is not supported: no job trims here; take read, write, rw, randread, randwrite or randrw",
                shown(value)
            ));
        }
        _ => {
            return Err(format!(
                "`{option}={}` is not supported; take read, write, rw, randread, randwrite or randrw",
                shown(value)
            ));
        }
    };
    // Of random requests how many follow each other, and of those in order the gap behind each.
    (job.in_a_row, job.gap) = match behind {
        Some(number) if random => (count(option, number, 1_000_000)?, 0),
        Some(gap) if gap.starts_with('-') => {
            let why = "goes backwards, which is not modelled; take a gap above 0, as in read:4k";
            return Err(format!("`{option}={}` {why}", shown(value)));
        }
        Some(gap) => (1, size(option, gap)?),
        None => (1, 0),
    };
    (job.random, job.mixed) = (random, reads.is_none());
    job.reads_percent = reads.unwrap_or(100);
    Ok(())
}

/// `20%` of a volume or a file.
fn share(option: &str, value: &str, most: u64) -> Result<u64, String> {
    let percent = whole(value.trim_end_matches('%')).filter(|p| (1..=most).contains(p));
    percent.ok_or_else(|| format!("`{option}={}` is not a share from 1% to {most}%", shown(value)))
}

fn engine(job: &mut Job, value: &str) -> Applied {
    job.asynchronous = ASYNCHRONOUS.contains(&value);
    job.sending.ioengine = Some(value.into());
    if job.asynchronous || SYNCHRONOUS.contains(&value) {
        return Ok(None);
    }
    Err(format!(
        "`ioengine={}` is not supported; take one of {}, {}",
        shown(value),
        SYNCHRONOUS.join(", "),
        ASYNCHRONOUS.join(", ")
    ))
}

/// `random`, `zipf:1.2`, `pareto:0.2` or `zoned:60/10:40/90`: how often each block is asked for.
fn distribution(job: &mut Job, value: &str) -> Applied {
    let wrong = || {
        format!(
            "`random_distribution={}` is not supported; take random, zipf:EXPONENT, pareto:H with 0.001 to 0.999, or \
             zoned:REQUESTS/RANGE:… with percentages that each sum to 100",
            shown(value)
        )
    };
    let (name, rest) = value.split_once(':').unwrap_or((value, ""));
    job.access = match (name, rest) {
        ("random", "") => None,
        ("zipf", exponent) if exponent.parse::<f64>().is_ok_and(|e| (0.01..=10.0).contains(&e)) => {
            Some(value.to_string())
        }
        ("pareto", h) if h.parse::<f64>().is_ok_and(|h| (0.001..=0.999).contains(&h)) => {
            Some(value.to_string())
        }
        ("normal" | "gauss", _) => {
            return Err(format!(
                "`random_distribution={}` is not modelled; take zoned:REQUESTS/RANGE:… with the shares of the parts around \
                 the middle, as in zoned:16/40:68/20:16/40",
                shown(value)
            ));
        }
        ("zoned_abs", _) => {
            return Err(format!(
                "`random_distribution={}` has sizes, and zones are shares here; take zoned:REQUESTS/RANGE:… in percent",
                shown(value)
            ));
        }
        ("zoned", zones) => {
            let zone = |zone: &str| {
                let (requests, range) = zone.split_once('/')?;
                Some((whole(requests)?, whole(range)?))
            };
            let zones: Option<Vec<(u64, u64)>> =
                zones.trim_end_matches(':').split(':').map(zone).collect();
            let zones = zones.ok_or_else(wrong)?;
            let sums = zones.iter().try_fold((0_u64, 0_u64), |(requests, range), zone| {
                Some((requests.checked_add(zone.0)?, range.checked_add(zone.1)?))
            });
            let told: Vec<String> = zones.iter().map(|(a, b)| format!("{a}/{b}")).collect();
            Some(format!("zones:{}", told.join(":")))
                .filter(|_| sums == Some((100, 100)))
                .ok_or_else(wrong)?
                .into()
        }
        _ => return Err(wrong()),
    };
    Ok(None)
}

/// The rates of reads and of writes: `100` of each, `20,70`, or `,70` where reads have none. A third is that of trims, which
/// no job here has.
fn rates(
    option: &str,
    value: &str,
    read: &dyn Fn(&str) -> Result<u64, String>,
) -> Result<Rates, String> {
    let side = |text: &str| match text.trim() {
        "" => Ok(None),
        text => read(text).map(Some),
    };
    let written = format!("{option}={}", shown(value));
    let mut sides = value.splitn(3, ',');
    let (first, second) = (sides.next().unwrap_or_default(), sides.next().unwrap_or(value));
    side(sides.next().unwrap_or_default())?;
    let rates = Rates { written, reads: side(first)?, writes: side(second)? };
    if rates.reads.or(rates.writes).is_none() {
        return Err(format!("`{}` has no rate; give one, as in 100 or 2000,700", rates.written));
    }
    Ok(rates)
}

/// Requests a second of one side.
fn per_second(option: &str, value: &str) -> Result<u64, String> {
    const MOST: u64 = 1_000_000_000;
    count(option, value, MOST)
        .map_err(|why| format!("{why}, nor one for reads and one for writes, as in 2000,700"))
}

/// A switch; the bare option turns it on.
pub(super) fn switch(option: &str, value: Option<&str>) -> Result<bool, String> {
    match value.map(str::trim) {
        None | Some("1" | "") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("`{option}={}` is not a switch; write 0 or 1", shown(other))),
    }
}

pub(super) fn whole(value: &str) -> Option<u64> {
    value.trim().parse().ok()
}

pub(super) fn count(option: &str, value: &str, most: u64) -> Result<u64, String> {
    let count = whole(value).filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| {
        format!("`{option}={}` is not a whole number from 1 to {most}", shown(value))
    })
}

/// A time in ns; a bare number counts units of `each_ns`.
pub(super) fn time(option: &str, value: &str, each_ns: u64) -> Result<u64, String> {
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let unit_ns = match unit.trim() {
        "" => each_ns,
        "us" | "usec" => 1000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => 0,
    };
    let nanos = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_ns));
    let nanos = nanos.filter(|&nanos| unit_ns > 0 && nanos <= 86_400_000_000_000 * 366);
    nanos.ok_or_else(|| format!("`{option}={}` is not a time, as in 10s or 5m", shown(value)))
}

/// Every option that has a meaning, and every one that is let pass.
#[cfg(test)]
pub(super) fn listed() -> (&'static [&'static str], &'static [&'static str]) {
    (KNOWN, IDLE)
}
