//! The work as a run of fio, which shows what was built.

use crate::question::Question;
use crate::question::work::{block_bytes, writes};
use block::SECTOR_BYTES;
use block::bios::ONE_BIO_SECTORS;
use block::layout::Level;
use block::units::{format_bytes, parse_bytes_per_s, parse_nanos, parse_sectors, parse_weighted};
use std::fmt::Write as _;
use toml::{Table, Value};

/// The largest file that is made for it.
const FILE_KIB: u64 = 64 << 20;

/// The seconds that it takes: a file of 64 GiB at random is hours on disks.
const RUNTIME: &str = "--time_based --runtime=60";

/// Requests in flight of a job whose requests come by the clock, at most.
const OPEN_DEPTH: i64 = 256;

/// A run of fio on the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fio {
    /// What it shows; without a run, why there is none.
    pub what: String,
    /// Its options: a job for each stream of the work, with a file of its own; none where fio has no such job.
    pub options: Option<String>,
}

impl Fio {
    /// That of a question whose answer is such a level.
    pub(crate) fn of(question: &Question, level: &Level) -> Option<Fio> {
        let works = question.work.tables.get("workload")?.as_table()?;
        let works = works.iter().filter_map(|(name, work)| Some((name.as_str(), work.as_table()?)));
        let works: Vec<(&str, &Table)> = works.collect();
        // Beside them the file system has room of its own.
        let room_kib = question.usable_bytes(level) / 1024 / 4 * 3 / works.len().max(1) as u64;
        let mut streams = Vec::new();
        let by = By {
            has_stripe_cache: level.has_stripe_cache(),
            is_flash: !question.drives.drive.is_rotational(),
        };
        for (_, work) in &works {
            match Stream::of(work, room_kib, works.len() > 1, by) {
                Ok(stream) => streams.push(stream),
                Err(why) => {
                    return Some(Fio {
                        what: format!("no command of fio is written for this work: {why}"),
                        options: None,
                    });
                }
            }
        }
        let part = streams.iter().find(|of| of.is_part && question.drives.drive.is_rotational());
        let file = if works.len() > 1 { "on files" } else { "on a file" };
        let what = match part {
            Some(Stream { file_kib, .. }) => format!(
                "the same work {file} of {}. On disks it is faster than over the whole volume, which the answer is for: \
                 seeks within the file are short",
                gib(*file_kib)
            ),
            None if works.len() > 1 => "the same work, each stream on a file on the array".into(),
            None => "the same work on a file on the array".into(),
        };
        Some(Fio { what, options: Some(jobs(&works, &streams)) })
    }

    /// What a shell is given.
    pub(crate) fn line(&self) -> String {
        match &self.options {
            Some(options) => format!("fio {options}"),
            None => "# none".into(),
        }
    }
}

/// The jobs of these streams. Those of one group run at the same time, the others one after the other.
fn jobs(works: &[(&str, &Table)], streams: &[Stream]) -> String {
    let named = |name: &str| match works {
        [_] => ("check".to_string(), "check".to_string()),
        _ => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = name.replace(|c| !is_plain(c), "-");
            (name.clone(), format!("check-{name}"))
        }
    };
    let group = |place: usize| works[place].1.get("group").and_then(Value::as_str);
    let jobs = works.iter().zip(streams).enumerate().map(|(place, ((work, _), stream))| {
        let (name, file) = named(work);
        let after = match place.checked_sub(1) {
            None => "",
            Some(before) if group(place).is_some() && group(place) == group(before) => {
                " --new_group"
            }
            Some(_) => " --stonewall",
        };
        format!("--name={name}{after} --filename=/srv/{file} {}", stream.options)
    });
    jobs.collect::<Vec<_>>().join(" ")
}

/// The longest file of a stream in order that has others beside it: a log comes round.
const LOG_KIB: u64 = 4 << 20;

/// A stream of a work, as a job of fio.
struct Stream {
    options: String,
    file_kib: u64,
    /// Whether the file is smaller than what requests at random keep to.
    is_part: bool,
}

impl Stream {
    /// That of a workload, in so much room; or why fio has none.
    fn of(work: &Table, room_kib: u64, has_others: bool, by: By) -> Result<Stream, String> {
        let text = |key: &str| work.get(key).and_then(Value::as_str);
        let number = |key: &str| work.get(key).and_then(Value::as_integer);
        let in_order = match text("kind").unwrap_or("sequential") {
            "sequential" => true,
            "random" => false,
            kind => return Err(format!("its kind is `{kind}`")),
        };
        let rw = direction(work, in_order);
        let size = match text("sizes") {
            Some(sizes) => format!("--bssplit={}", sizes.replace("KiB", "k").replace("MiB", "m")),
            None => {
                let block = block_bytes(work).map_or_else(|| "64KiB".into(), format_bytes);
                format!("--bs={}", block.replace("KiB", "k").replace("MiB", "m").replace('B', ""))
            }
        };
        // A job of psync has one request in flight.
        let each = if by.engine(work) == PSYNC { number("depth").unwrap_or(1) } else { 1 };
        let jobs = number("jobs").unwrap_or(1).saturating_mul(each);
        let jobs = u64::try_from(jobs).ok().filter(|jobs| *jobs > 1);
        let span_kib = span_kib(work).unwrap_or(room_kib);
        let most_kib = if in_order && has_others { LOG_KIB } else { FILE_KIB };
        let file_kib = most_kib.min(room_kib).min(span_kib);
        // Jobs in order have a part of the file each, or the page cache would serve all but the first.
        let part = match jobs {
            Some(jobs) if in_order => {
                let each = kib((file_kib / jobs).min(4 << 20));
                format!("--size={each} --offset_increment={each}")
            }
            _ => format!("--size={}", kib(file_kib)),
        };
        let jobs =
            jobs.map_or(String::new(), |jobs| format!(" --numjobs={jobs} --group_reporting"));
        let flush =
            number("flush_every").map_or(String::new(), |every| format!(" --fsync={every}"));
        let (way, rate) = (way(work, by), rate(work, each.max(1).unsigned_abs())?);
        let options = format!("{part} {RUNTIME} {way} {rw} {size}{jobs}{flush}{rate}");
        Ok(Stream { options, file_kib, is_part: !in_order && file_kib < span_kib })
    }
}

/// Whether requests come by the clock.
fn is_open(work: &Table) -> bool {
    let arrivals = work.get("arrivals").and_then(Value::as_str);
    arrivals.is_some_and(|arrivals| arrivals != "closed")
}

/// Keys of work that the command would leave out.
const LEFT_OUT: [&str; 7] = [
    "in_a_row",
    "burst",
    "span_percent",
    "offset_percent",
    "job_step_percent",
    "to_log",
    "group_commit",
];

/// What holds a job to a rate; fio counts that of reads and that of writes apart.
fn rate(work: &Table, each: u64) -> Result<String, String> {
    if work.contains_key("capacity") {
        return Err("it looks for the highest rate, and fio holds one".into());
    }
    if work.contains_key("rate") && work.contains_key("requests_per_s") {
        return Err("it has a rate in bytes and one in requests, and fio takes one".into());
    }
    if let Some(key) = LEFT_OUT.into_iter().find(|key| work.contains_key(*key)) {
        return Err(format!("it has `{key}`, which is not turned into options of fio here"));
    }
    let reads = work.get("reads_percent").and_then(Value::as_integer);
    let apart = |all: u64| match reads.and_then(|percent| u64::try_from(percent).ok()) {
        Some(percent) if (1..100).contains(&percent) => {
            let reads = all * percent / 100;
            format!("{reads},{}", all - reads)
        }
        _ => all.to_string(),
    };
    // Of each of the jobs of fio that stand for one of the work.
    let apart = |all: u64| apart((all / each).max(1));
    let mut options = places_and_pauses(work)?;
    if let Some(each) = work.get("requests_per_s").and_then(Value::as_integer) {
        let each = apart(each.cast_unsigned());
        write!(options, " --rate_iops={each}").expect("a string grows");
    }
    if let Some(bytes) = work.get("rate").and_then(Value::as_str) {
        let bytes = parse_bytes_per_s(bytes).map_err(|error| error.to_string())?;
        write!(options, " --rate={}", apart(bytes)).expect("a string grows");
    }
    if work.get("arrivals").and_then(Value::as_str) == Some("poisson") {
        options += " --rate_process=poisson";
    }
    Ok(options)
}

/// Where random requests go, if some places are hot, and what stands between requests.
fn places_and_pauses(work: &Table) -> Result<String, String> {
    let mut options = String::new();
    let text = |key: &str| work.get(key).and_then(Value::as_str);
    if let Some(access) = text("access").filter(|access| *access != "uniform") {
        let access = access.replace("zones:", "zoned:");
        write!(options, " --random_distribution={access}").expect("a string grows");
    }
    if let Some(think) = text("think") {
        let us = parse_nanos(think).map_err(|error| error.to_string())?.div_ceil(1000);
        write!(options, " --thinktime={us}us").expect("a string grows");
    }
    if let Some(requests) = work.get("think_every").and_then(Value::as_integer) {
        write!(options, " --thinktime_blocks={requests}").expect("a string grows");
    }
    Ok(options)
}

/// Which way requests go, and in what order.
fn direction(work: &Table, in_order: bool) -> String {
    let op = work.get("op").and_then(Value::as_str);
    match (work.get("reads_percent").and_then(Value::as_integer), op, in_order) {
        (Some(reads), _, true) => format!("--rw=rw --rwmixread={reads}"),
        (Some(reads), _, false) => format!("--rw=randrw --rwmixread={reads}"),
        (None, Some("write"), true) => "--rw=write".into(),
        (None, Some("write"), false) => "--rw=randwrite".into(),
        (None, _, true) => "--rw=read".into(),
        (None, _, false) => "--rw=randread".into(),
    }
}

/// What decides by what a work is sent, beside what it says itself.
#[derive(Clone, Copy, Debug, Default)]
struct By {
    has_stripe_cache: bool,
    is_flash: bool,
}

/// The engine that has one request in flight.
const PSYNC: &str = "psync";

impl By {
    /// fio's engine that the figures stand for: the one that is named, or else what the model takes without a name.
    fn engine(self, work: &Table) -> &'static str {
        match work.get("engine").and_then(Value::as_str) {
            Some("libaio") => "libaio",
            Some("psync") => PSYNC,
            Some("io_uring-sqpoll") => "io_uring --fixedbufs=1 --sqthread_poll=1",
            // What polls is taken as plain over arrays.
            Some("io_uring-plain" | "io_uring-polled") => "io_uring",
            // Who sends what one bio cannot hold brings it to its rows; io_uring leaves it to workers.
            None if self.has_stripe_cache && writes(work) && largest(work) > ONE_BIO => "libaio",
            // On disks registered buffers change nothing.
            _ if self.is_flash => "io_uring --fixedbufs=1",
            _ => "io_uring",
        }
    }
}

/// What one bio holds, in bytes.
const ONE_BIO: u64 = ONE_BIO_SECTORS as u64 * SECTOR_BYTES;

/// The bytes of the largest request of a work.
fn largest(work: &Table) -> u64 {
    let sizes = work.get("sizes").and_then(Value::as_str);
    let sectors = sizes
        .into_iter()
        .flat_map(|sizes| sizes.split(':'))
        .filter_map(|part| parse_weighted(part)?.0.ok());
    let largest = sectors.max().map(|sectors| sectors * SECTOR_BYTES);
    largest.or_else(|| block_bytes(work)).unwrap_or(0)
}

/// Through the page cache, or past it with so many in flight.
fn way(work: &Table, by: By) -> String {
    let number = |key: &str| work.get(key).and_then(Value::as_integer);
    if work.get("direct").and_then(Value::as_bool) == Some(false) {
        let writes = work.get("op").and_then(Value::as_str) == Some("write");
        let reads_alone = !writes && number("reads_percent").is_none_or(|p| p == 100);
        format!("--direct=0{}", if reads_alone { "" } else { " --end_fsync=1" })
    } else {
        // What comes by the clock does not wait for what came before.
        let depth = if is_open(work) { OPEN_DEPTH } else { number("depth").unwrap_or(1) };
        let (engine, depth) = (by.engine(work), if by.engine(work) == PSYNC { 1 } else { depth });
        format!("--direct=1 --ioengine={engine} --iodepth={depth}")
    }
}

/// The part of the volume that requests keep to, where the work says one.
fn span_kib(work: &Table) -> Option<u64> {
    let sectors = match work.get("span")? {
        Value::Integer(sectors) => u64::try_from(*sectors).ok()?,
        span => parse_sectors(span.as_str()?).ok()?,
    };
    Some(sectors * SECTOR_BYTES / 1024)
}

/// So much as fio takes it.
fn kib(kib: u64) -> String {
    if kib.is_multiple_of(1 << 20) { format!("{}g", kib >> 20) } else { format!("{kib}k") }
}

/// So much for a person.
fn gib(kib: u64) -> String {
    format!("{:.0} GiB", kib as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use lab::formats::fio;

    fn of(drives: &str, work: &str) -> Fio {
        Fio::of(&question(drives, work, 1), &"md-raid10".parse().unwrap()).unwrap()
    }

    /// fio takes one rate, and a command that leaves something out is not the same work.
    #[test]
    fn what_fio_would_not_do_is_said() {
        let of = |keys: &str| rate(&keys.parse::<Table>().unwrap(), 1);
        assert_eq!(of("requests_per_s = 100").unwrap(), " --rate_iops=100");
        assert!(of("rate = '20MB/s'\nrequests_per_s = 100").unwrap_err().contains("fio takes one"));
        // These were said to be beyond fio, whose own job had them.
        let hot = "access = 'zipf:1.2'\nthink = '2ms'\nthink_every = 4";
        let hot = of(hot).unwrap();
        assert_eq!(hot, " --random_distribution=zipf:1.2 --thinktime=2000us --thinktime_blocks=4");
        let zones = of("access = 'zones:60/10:40/90'").unwrap();
        assert_eq!(zones, " --random_distribution=zoned:60/10:40/90");
        for key in LEFT_OUT {
            assert!(of(&format!("{key} = '1ms'")).unwrap_err().contains(&format!("`{key}`")));
        }
    }

    /// A database and its log are two jobs at the same time, which ileave reads as the same work.
    #[test]
    fn a_database_is_checked_with_its_log() {
        let fio = of("4x 980 pro 1tb", "postgres");
        let options = fio.options.unwrap();
        let line = |option: &str| match option.trim_start_matches("--").split_once("name=") {
            Some(("", name)) => format!("[{name}]\n"),
            _ => format!("{}\n", option.trim_start_matches("--")),
        };
        let job: String = options.split(" --").map(line).collect();
        let read = fio::read("check.fio", &job).unwrap_or_else(|error| panic!("{error}: {job}"));
        let read: Table = read.experiment.parse().unwrap();
        let (pages, wal) = (&read["workload"]["pages"], &read["workload"]["wal"]);
        assert_eq!(pages["group"], wal["group"], "{read}");
        assert_eq!(
            (pages["depth"].as_integer(), pages["reads_percent"].as_integer()),
            (Some(16), Some(70))
        );
        assert_eq!((wal["flush_every"].as_integer(), wal["op"].as_str()), (Some(1), Some("write")));
        assert_eq!(fio.what, "the same work, each stream on a file on the array");
        assert!(of("4x st18000nm000j", "mysql").what.contains("on files of 64 GiB. On disks"));
        assert!(
            of("4x 980 pro 1tb", "vm")
                .options
                .unwrap()
                .starts_with("--name=check --filename=/srv/check --size=")
        );
    }

    /// The figures of 4 MiB to parity are for libaio, and the check was by `io_uring`.
    #[test]
    fn the_check_is_by_the_engine_that_the_figures_stand_for() {
        let by = |level: &str, drives: &str, work: &str| {
            let of = Fio::of(&question(drives, work, 1), &level.parse().unwrap()).unwrap();
            let options = of.options.unwrap();
            let (_, engine) = options.split_once("--ioengine=").unwrap();
            engine.split(" --iodepth").next().unwrap().to_string()
        };
        let disks = "6x hus728t8tale6l4";
        assert_eq!(by("md-raid6", disks, "object-store"), "libaio");
        assert_eq!(by("md-raid10", disks, "object-store"), "io_uring");
        assert_eq!(by("md-raid6", disks, "vm"), "io_uring");
        assert_eq!(by("md-raid6", "6x 980 pro 1tb", "vm"), "io_uring --fixedbufs=1");
        let stream = |engine: &str| {
            let work = format!("kind = 'random'\ndepth = 4\njobs = 2\nengine = '{engine}'");
            let work: Table = work.parse().unwrap();
            Stream::of(&work, 1 << 30, false, By::default()).unwrap().options
        };
        assert!(stream("libaio").contains("--ioengine=libaio --iodepth=4"));
        let psync = stream("psync");
        assert!(
            psync.contains("--ioengine=psync --iodepth=1") && psync.contains("--numjobs=8"),
            "{psync}"
        );
        // fio holds each of its jobs to a rate: eight made four times what was asked for.
        let psync = stream("psync'\nrate = '20MB/s");
        assert!(psync.contains("--numjobs=8") && psync.contains("--rate=5000000"), "{psync}");
    }

    #[test]
    fn what_is_held_to_a_rate_is_so_in_fio() {
        let stream = |text: &str| {
            let work: Table = text.parse().unwrap();
            Stream::of(&work, 1 << 30, false, By::default()).map(|of| of.options)
        };
        let open = "kind = 'random'\nreads_percent = 70\narrivals = 'poisson'\n";
        let said = stream(&format!("{open}requests_per_s = 1000")).unwrap();
        assert!(said.contains("--iodepth=256 --rw=randrw"), "{said}");
        assert!(said.ends_with(" --rate_iops=700,300 --rate_process=poisson"), "{said}");
        assert!(
            stream("kind = 'sequential'\nop = 'write'\nrate = '2MB/s'")
                .unwrap()
                .ends_with(" --rate=2000000")
        );
        let none = stream(&format!("{open}capacity = 'p99 <= 2ms'")).unwrap_err();
        assert_eq!(none, "it looks for the highest rate, and fio holds one");
        assert_eq!(stream("kind = 'trace'").unwrap_err(), "its kind is `trace`");
    }
}
