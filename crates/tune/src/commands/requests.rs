//! What the work asks for, as far as volumes of other systems are made for it.

use block::SECTOR_BYTES;
use block::units::{format_bytes, parse_sectors, parse_weighted};
use lab::experiment::{Experiment, Trial};
use std::cmp::Ordering;

/// The share of requests from which a size is common, in percent.
const COMMON_PERCENT: u64 = 20;

/// What a record size is made for, where it is not that itself.
const LARGEST: &str = "this work's largest common request";

/// The requests of a work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requests {
    /// Something else: a log, programs on files, a trace.
    #[default]
    Other,
    /// Long files in order.
    Long,
    /// At random, the largest common of so many bytes.
    Random(u64),
}

impl Requests {
    /// Those of an experiment; of one trial of it where that is given.
    pub(crate) fn of(experiment: &Experiment, trial: Option<&Trial>) -> Requests {
        let value = |work: &str, key: &str| {
            let path = format!("workload.{work}.{key}");
            let own = trial.and_then(|trial| trial.cell.at.iter().find(|(at, _)| *at == path));
            let own = own.map(|(_, value)| value.to_string());
            own.or_else(|| Some(experiment.value(&path)?.to_string()))
        };
        let is_kind = |work: &str, kind: &str| value(work, "kind").is_some_and(|own| own == kind);
        let random = experiment.workloads.iter().filter(|work| is_kind(work, "random"));
        let sizes = random.filter_map(|work| {
            // A bare number is of sectors.
            let block = || Some(parse_sectors(&value(work, "block")?).ok()? * SECTOR_BYTES);
            value(work, "sizes").and_then(|sizes| largest_common(&sizes)).or_else(block)
        });
        if let Some(bytes) = sizes.max() {
            return Requests::Random(bytes);
        }
        let is_long = |work: &String| {
            let flushes = format!("workload.{work}.flush_every");
            is_kind(work, "sequential") && !experiment.settings().contains_key(&flushes)
        };
        if experiment.workloads.iter().all(is_long) { Requests::Long } else { Requests::Other }
    }

    /// ZFS's record size in KiB, and what is said of it.
    pub(super) fn record(self) -> (u64, String) {
        match self {
            Requests::Other => (
                128,
                "recordsize is ZFS's default; databases want that of their pages, large files 1M"
                    .into(),
            ),
            Requests::Long => (1024, "recordsize=1M, for large files in order".into()),
            Requests::Random(bytes) => {
                let kib = bytes.div_ceil(1024).next_power_of_two().clamp(4, 1024);
                let size = record_size(kib);
                let asked = format_bytes(bytes);
                let (number, unit) = asked.split_at(asked.find(char::is_alphabetic).unwrap_or(0));
                let asked = format!("{number} {unit}");
                let why = match bytes.cmp(&(kib * 1024)) {
                    Ordering::Equal => "the largest common request of this work".into(),
                    Ordering::Greater => format!("the most here; {LARGEST} is {asked}"),
                    Ordering::Less if kib == 4 => format!("the least here; {LARGEST} is {asked}"),
                    Ordering::Less => format!("the next power of two; {LARGEST} is {asked}"),
                };
                (kib, format!("recordsize={size}, {why}"))
            }
        }
    }
}

/// A record size as ZFS takes it.
pub(super) fn record_size(kib: u64) -> String {
    if kib == 1024 { "1M".into() } else { format!("{kib}K") }
}

/// A sector of ZFS's (`ashift=12`).
const SECTOR_KIB: u64 = 4;

/// What a record takes of raidz, in KiB: parity of its own, and whole multiples of its parities and one.
pub(super) fn raidz_kib(record_kib: u64, parities: u64, width: u64) -> u64 {
    let data = record_kib / SECTOR_KIB;
    let sectors = data + parities * data.div_ceil(width - parities);
    sectors.next_multiple_of(parities + 1) * SECTOR_KIB
}

/// The largest of such sizes that is common, in bytes: 16 KiB of `4KiB/60:16KiB/30:64KiB/10`. Where none is, the one with
/// the largest weight. As in an experiment, a bare number is of sectors, and weights have any sum.
fn largest_common(sizes: &str) -> Option<u64> {
    let parts = sizes.split(':').map(|part| {
        let (sectors, weight) = parse_weighted(part)?;
        Some((sectors.ok()? * SECTOR_BYTES, u64::from(weight)))
    });
    let parts: Vec<(u64, u64)> = parts.collect::<Option<_>>()?;
    let sum: u64 = parts.iter().map(|(_, weight)| weight).sum();
    let common = parts.iter().filter(|(_, weight)| 100 * weight >= COMMON_PERCENT * sum);
    let heaviest = || parts.iter().max_by_key(|(bytes, weight)| (*weight, *bytes));
    common.max().or_else(heaviest).map(|(bytes, _)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;

    /// What reads and writes pages of a database has records of their size.
    #[test]
    fn records_of_zfs_are_those_of_the_work() {
        let record = |work: &str| {
            let experiment = question("4x st18000nm000j", work, 1).experiment().unwrap();
            Requests::of(&experiment, None).record().0
        };
        assert_eq!(
            ["postgres", "mysql", "vm", "build", "mail", "news"].map(record),
            [8, 16, 16, 16, 16, 16]
        );
        assert_eq!(["backup", "restore", "media", "object-store"].map(record), [1024; 4]);
        assert_eq!(record("log"), 128);
        let small = |bytes| Requests::Random(bytes).record().0;
        assert_eq!([512, 5 << 10, 4 << 20].map(small), [4, 8, 1024]);
    }

    /// A record is a power of two from 4 KiB to 1 MiB, which not all requests are.
    #[test]
    fn records_of_another_size_than_the_requests_are_said_to_be() {
        let said = |bytes| Requests::Random(bytes).record().1;
        let largest = "this work's largest common request";
        assert_eq!(said(8 << 10), "recordsize=8K, the largest common request of this work");
        assert_eq!(said(1 << 20), "recordsize=1M, the largest common request of this work");
        assert_eq!(said(4 << 20), format!("recordsize=1M, the most here; {largest} is 4 MiB"));
        assert_eq!(said(512), format!("recordsize=4K, the least here; {largest} is 512 B"));
        assert_eq!(
            said(5 << 10),
            format!("recordsize=8K, the next power of two; {largest} is 5 KiB")
        );
        assert_eq!(said(3584), format!("recordsize=4K, the least here; {largest} is 3584 B"));
    }

    /// Weights are none of percent: they are shares of their sum.
    #[test]
    fn common_sizes_are_those_of_a_fifth_of_all_weights() {
        let kib = |sizes: &str| largest_common(sizes).map(|bytes| bytes >> 10);
        assert_eq!(kib("8KiB/6:16KiB/3:64KiB/1"), Some(16));
        assert_eq!(kib("4KiB/60:16KiB/30:64KiB/10"), Some(16));
        assert_eq!(kib("4KiB/600:16KiB/300:64KiB/100"), Some(16));
        // Bare numbers are of sectors.
        assert_eq!(kib("16/3:32/2"), Some(16));
        // None has a fifth.
        assert_eq!(kib("4KiB/15:8KiB/19:16KiB/17:32KiB/17:64KiB/16:128KiB/16"), Some(8));
        assert_eq!(kib("64KiB"), None);
    }
}
