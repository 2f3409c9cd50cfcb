//! The work as a run of fio, which shows what was built.

use crate::question::Question;
use crate::work::block_bytes;
use block::SECTOR_BYTES;
use block::layout::Level;
use block::units::{format_bytes, parse_sectors};
use toml::{Table, Value};

/// The largest file that is made for it.
const FILE_KIB: u64 = 64 << 20;

/// The seconds that it takes: a file of 64 GiB at random is hours on disks.
const RUNTIME: &str = "--time_based --runtime=60";

/// A run of fio on a file of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fio {
    /// What it shows.
    pub what: String,
    /// Its options.
    pub options: String,
}

impl Fio {
    /// That of a question whose answer is such a level; nothing where the work is not plain requests.
    pub(crate) fn of(question: &Question, level: &Level) -> Option<Fio> {
        let works = question.work.tables.get("workload")?.as_table()?;
        let (_, work) = works.iter().next().filter(|_| works.len() == 1)?;
        let work = work.as_table()?;
        let text = |key: &str| work.get(key).and_then(Value::as_str);
        let number = |key: &str| work.get(key).and_then(Value::as_integer);
        let in_order = match text("kind")? {
            "sequential" => true,
            "random" => false,
            _ => return None,
        };
        let rw = direction(work, in_order);
        let size = match text("sizes") {
            Some(sizes) => format!("--bssplit={}", sizes.replace("KiB", "k").replace("MiB", "m")),
            None => {
                let block = block_bytes(work).map_or_else(|| "64KiB".into(), format_bytes);
                format!("--bs={}", block.replace("KiB", "k").replace("MiB", "m").replace('B', ""))
            }
        };
        let jobs =
            number("jobs").and_then(|jobs| u64::try_from(jobs).ok()).filter(|jobs| *jobs > 1);
        // Beside it the file system has room of its own.
        let room_kib = question.usable_bytes(level) / 1024 / 4 * 3;
        let span_kib = span_kib(work).unwrap_or(room_kib);
        let file_kib = FILE_KIB.min(room_kib).min(span_kib);
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
        let way = way(work);
        let is_part = !in_order && file_kib < span_kib;
        Some(Fio {
            what: if is_part && question.drives.drive.is_rotational() {
                format!(
                    "the same work on a file of {}. On disks it is faster than over the whole volume, which the answer is for: \
                     seeks within the file are short",
                    gib(file_kib)
                )
            } else {
                "the same work on a file on the array".into()
            },
            options: format!("{part} {RUNTIME} {way} {rw} {size}{jobs}{flush}"),
        })
    }
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

/// Through the page cache, or past it with so many in flight.
fn way(work: &Table) -> String {
    let number = |key: &str| work.get(key).and_then(Value::as_integer);
    if work.get("direct").and_then(Value::as_bool) == Some(false) {
        let writes = work.get("op").and_then(Value::as_str) == Some("write");
        let reads_alone = !writes && number("reads_percent").is_none_or(|p| p == 100);
        format!("--direct=0{}", if reads_alone { "" } else { " --end_fsync=1" })
    } else {
        format!("--direct=1 --ioengine=io_uring --iodepth={}", number("depth").unwrap_or(1))
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
