//! Every sample that ileave measures or imports: one line each.
//!
//! Objectives, constraints, columns, axes and sentences take names, units and directions from here. The columns of a
//! mapping file state theirs.

use crate::quantity::Better::{self, Higher, Lower, Neither};
use Scope::{Direction, Flush, Imported, Part, Phase, Request, Run};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a sample is measured over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole trial.
    Run,
    /// Each request.
    Request,
    /// One part of the time that a request takes; the parts sum to its latency.
    Part,
    /// The reads or the writes of a workload that mixes them.
    Direction,
    /// Each flush.
    Flush,
    /// One phase of a program.
    Phase,
    /// Whatever the program that was imported measured.
    Imported,
}

/// What kind of figure a sample is. Its unit does not say: the delay of the latest block is in ms, and no latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measures {
    /// The time that requests or commits take, or a part of that.
    Latency,
    /// How much, or how many, are done in a second.
    Rate,
    /// Anything else: a time of the whole, a count, a share.
    Other,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its name in the store and in formulas.
    pub name: &'static str,
    /// Its name without the unit, which formulas may use; empty where it has none.
    pub called: &'static str,
    /// Its unit; empty for counts and shares.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// What it is measured over.
    pub scope: Scope,
    /// What kind of figure it is.
    pub measures: Measures,
    /// What it is, for people: a noun phrase without a full stop.
    pub words: &'static str,
    /// Which quantile of the times it is, where it is a high one: 0.99.
    pub quantile: Option<f64>,
}

const fn sample(
    name: &'static str,
    called: &'static str,
    unit: &'static str,
    better: Better,
    scope: Scope,
    words: &'static str,
) -> Sample {
    Sample { name, called, unit, better, scope, measures: Measures::Other, words, quantile: None }
}

/// A [`sample`] that is how much, or how many, are done in a second.
const fn rate(
    name: &'static str,
    called: &'static str,
    unit: &'static str,
    better: Better,
    scope: Scope,
    words: &'static str,
) -> Sample {
    Sample { measures: Measures::Rate, ..sample(name, called, unit, better, scope, words) }
}

/// A [`sample`] that is the time that requests or commits take, or a part of that.
const fn latency(
    name: &'static str,
    called: &'static str,
    unit: &'static str,
    better: Better,
    scope: Scope,
    words: &'static str,
) -> Sample {
    Sample { measures: Measures::Latency, ..sample(name, called, unit, better, scope, words) }
}

impl Sample {
    /// This high quantile of the times.
    const fn at(self, quantile: f64) -> Self {
        Sample { quantile: Some(quantile), ..self }
    }

    /// Whether it is the time that requests or commits take, or a part of that.
    pub fn is_latency(&self) -> bool {
        self.measures == Measures::Latency
    }

    /// Whether it says how much, or how many, are done in a second.
    pub fn is_rate(&self) -> bool {
        self.measures == Measures::Rate
    }

    /// Whether it says how many requests, commits or files are done in a second.
    pub fn counts_per_second(&self) -> bool {
        self.is_rate() && !["MB/s", "KiB/s"].contains(&self.unit)
    }

    /// Its name for people where a value and its unit follow; empty where the unit says it all, as `files/s` does.
    pub fn before_unit(&self) -> String {
        let name = if self.unit.is_empty() { self.name } else { self.called };
        name.replace('_', " ")
    }
}

/// All samples.
#[rustfmt::skip] // One line each: a table.
pub const SAMPLES: &[Sample] = &[
    rate("mb_per_s", "", "MB/s", Higher, Run, "throughput"),
    rate("requests_per_s", "", "requests/s", Higher, Run, "requests completed per second"),
    sample("elapsed_s", "elapsed", "s", Lower, Run, "elapsed time"),
    sample("members_busy", "", "", Neither, Run, "members busy at a time, on average"),
    sample("commands_per_request", "", "", Neither, Run, "commands to members for each request"),
    sample("hits_per_command", "", "hits/command", Neither, Run, "read commands served from a drive's cache"),
    sample("cpu_busy", "", "", Neither, Run, "share of the time that the processor was busy"),
    sample("busiest_share", "", "", Neither, Run, "share of all commands that the busiest member got"),
    sample("members_read_mb", "", "MB", Neither, Run, "megabytes that the members read"),
    sample("members_written_mb", "", "MB", Neither, Run, "megabytes that the members wrote"),
    sample("from_memory_percent", "from_memory", "%", Neither, Run, "share of the bytes read cold that no member read"),
    sample("others_mb", "", "MB", Neither, Run, "megabytes that others moved on this machine's disks meanwhile"),
    sample("faults", "", "", Lower, Run, "requests that failed"),
    sample("repairs", "", "", Lower, Run, "unreadable ranges of members that were rewritten"),
    sample("lost_writes", "", "", Lower, Run, "acknowledged writes that were lost"),
    sample("cuts_with_loss", "", "", Lower, Run, "power cuts after which a durable file was not whole"),
    sample("failed_mounts", "", "", Lower, Run, "power cuts after which the volume did not assemble or mount"),
    sample("lost_files", "", "", Lower, Run, "durable files that were not whole, at the worst cut"),
    sample("torn_cuts", "", "", Lower, Run, "power cuts that left copies or parity different from their data"),
    sample("cuts", "", "", Neither, Run, "power cuts"),
    sample("underruns", "", "", Lower, Run, "blocks that came late at the rate asked for"),
    sample("late_max_ms", "late_max", "ms", Lower, Run, "delay of the latest block"),
    sample("rebuilt_share", "", "", Higher, Run, "share of the member rebuilt when the workload ended"),
    sample("rebuild_s", "rebuild", "s", Lower, Run, "time to rebuild the member"),
    sample("steady", "", "", Neither, Run, "1 in a steady state, 0 outside it"),
    sample("warm_up_s", "warm_up", "s", Neither, Run, "warm-up that is left out"),
    sample("interval_percent", "interval", "%", Neither, Run, "half of the 95 % interval of throughput within the trial"),
    sample("latency_interval_percent", "latency_interval", "%", Neither, Run, "half of the 95 % interval of the mean latency within the trial, of requests that come by the clock"),
    sample("overloaded", "", "", Neither, Run, "1 where requests came faster than they were done"),
    rate("capacity_per_s", "capacity", "requests/s", Higher, Run, "highest rate at which the latency that is asked for holds"),
    sample("cached_share", "", "", Neither, Run, "share of the bytes moved that only write caches hold"),
    sample("credit_share", "", "", Neither, Run, "share of the billed I/Os that burst credit paid for"),
    sample("program_busy", "", "", Neither, Run, "share of the time that the processor of each program was busy with its requests"),
    sample("lock_wait", "", "", Neither, Run, "share of the time in which the processor of each program waited for the lock of a drive's scheduler"),
    sample("refused_share", "", "", Neither, Run, "reads that found no place in a drive's queue, for each request"),
    sample("rebuild_needs_times", "", "", Neither, Run, "how many times as long a trial beside a rebuild has to be, where it is too short"),
    sample("deferred_share", "", "", Neither, Run, "share of the commands that only media caches of shingled disks hold"),
    sample("billed_per_request", "", "", Neither, Run, "I/Os that cloud volumes bill for each request"),
    sample("needed_mib", "", "MiB", Neither, Run, "amount after which the trial would be steady, estimated"),
    latency("latency_mean_ms", "latency_mean", "ms", Lower, Request, "mean latency"),
    latency("latency_p50_ms", "latency_p50", "ms", Lower, Request, "median latency"),
    latency("latency_p99_ms", "latency_p99", "ms", Lower, Request, "99th percentile of latency").at(0.99),
    latency("latency_p999_ms", "latency_p999", "ms", Lower, Request, "99.9th percentile of latency").at(0.999),
    latency("queue_ms", "queue", "ms", Lower, Part, "queue"),
    latency("bitmap_ms", "bitmap", "ms", Lower, Part, "wait for the write-intent bitmap"),
    latency("mark_ms", "mark", "ms", Lower, Part, "wait for md's superblocks, which mark the array as in use"),
    latency("cpu_ms", "cpu", "ms", Lower, Part, "host processor"),
    latency("overhead_ms", "overhead", "ms", Lower, Part, "drive controller"),
    latency("seek_ms", "seek", "ms", Lower, Part, "seek"),
    latency("rotation_ms", "rotation", "ms", Lower, Part, "rotation"),
    latency("part_sector_ms", "part_sector", "ms", Lower, Part, "partial-sector (read-modify-write) writes"),
    latency("head_switch_ms", "head_switch", "ms", Lower, Part, "head switch"),
    latency("media_ms", "media", "ms", Lower, Part, "media transfer"),
    latency("cleaning_ms", "cleaning", "ms", Lower, Part, "bands being rewritten"),
    latency("unit_wait_ms", "unit_wait", "ms", Lower, Part, "wait for a flash unit"),
    latency("unit_ms", "unit", "ms", Lower, Part, "flash units"),
    latency("garbage_ms", "garbage", "ms", Lower, Part, "garbage collection"),
    latency("io_limit_ms", "io_limit", "ms", Lower, Part, "wait for the limit on I/Os"),
    latency("byte_limit_ms", "byte_limit", "ms", Lower, Part, "wait for the limit on bytes"),
    latency("bus_ms", "bus", "ms", Lower, Part, "bus"),
    latency("cache_ms", "cache", "ms", Lower, Part, "wait for drive buffer"),
    sample("program_ms", "program", "ms", Neither, Request, "program between requests"),
    rate("read_mb_per_s", "read", "MB/s", Higher, Direction, "read throughput"),
    rate("reads_per_s", "reads", "/s", Higher, Direction, "reads completed per second"),
    latency("read_mean_ms", "read_mean", "ms", Lower, Direction, "mean read latency"),
    latency("read_p50_ms", "read_p50", "ms", Lower, Direction, "median read latency"),
    latency("read_p99_ms", "read_p99", "ms", Lower, Direction, "99th percentile of read latency").at(0.99),
    latency("read_p999_ms", "read_p999", "ms", Lower, Direction, "99.9th percentile of read latency").at(0.999),
    rate("write_mb_per_s", "write", "MB/s", Higher, Direction, "write throughput"),
    rate("writes_per_s", "writes", "/s", Higher, Direction, "writes completed per second"),
    latency("write_mean_ms", "write_mean", "ms", Lower, Direction, "mean write latency"),
    latency("write_p50_ms", "write_p50", "ms", Lower, Direction, "median write latency"),
    latency("write_p99_ms", "write_p99", "ms", Lower, Direction, "99th percentile of write latency").at(0.99),
    latency("write_p999_ms", "write_p999", "ms", Lower, Direction, "99.9th percentile of write latency").at(0.999),
    sample("flushes", "", "", Neither, Flush, "flushes"),
    latency("flush_mean_ms", "flush_mean", "ms", Lower, Flush, "mean flush latency"),
    latency("flush_p99_ms", "flush_p99", "ms", Lower, Flush, "99th percentile of flush latency").at(0.99),
    rate("commits_per_s", "commits", "/s", Higher, Flush, "commits per second"),
    latency("commit_mean_ms", "commit_mean", "ms", Lower, Flush, "mean commit latency, from its first write to the end of its flush"),
    latency("commit_p50_ms", "commit_p50", "ms", Lower, Flush, "median commit latency"),
    latency("commit_p99_ms", "commit_p99", "ms", Lower, Flush, "99th percentile of commit latency").at(0.99),
    latency("commit_p999_ms", "commit_p999", "ms", Lower, Flush, "99.9th percentile of commit latency").at(0.999),
    sample("touch_s", "touch", "s", Lower, Phase, "time for creating the files"),
    sample("touch_cpu", "", "%", Neither, Phase, "processor time for creating the files"),
    sample("touch_reads", "", "", Neither, Phase, "disk reads for creating the files"),
    sample("touch_writes", "", "", Neither, Phase, "disk writes for creating the files"),
    sample("retouch_s", "retouch", "s", Lower, Phase, "time for touching the files again"),
    sample("retouch_cpu", "", "%", Neither, Phase, "processor time for touching the files again"),
    sample("retouch_reads", "", "", Neither, Phase, "disk reads for touching the files again"),
    sample("retouch_writes", "", "", Neither, Phase, "disk writes for touching the files again"),
    sample("unlink_s", "unlink", "s", Lower, Phase, "time for removing the files"),
    sample("unlink_cpu", "", "%", Neither, Phase, "processor time for removing the files"),
    sample("unlink_reads", "", "", Neither, Phase, "disk reads for removing the files"),
    sample("unlink_writes", "", "", Neither, Phase, "disk writes for removing the files"),
    rate("rewrite_mb_per_s", "rewrite", "MB/s", Higher, Phase, "rewrite throughput"),
    rate("putc_kib_per_s", "putc", "KiB/s", Higher, Phase, "character write rate"),
    sample("putc_cpu", "", "%", Neither, Phase, "processor time for the character write"),
    rate("rewrite_kib_per_s", "rewrite", "KiB/s", Higher, Phase, "rewrite rate"),
    sample("rewrite_cpu", "", "%", Neither, Phase, "processor time for the rewrite"),
    rate("write_kib_per_s", "write", "KiB/s", Higher, Phase, "block write rate"),
    sample("write_cpu", "", "%", Neither, Phase, "processor time for the block write"),
    rate("getc_kib_per_s", "getc", "KiB/s", Higher, Phase, "character read rate"),
    sample("getc_cpu", "", "%", Neither, Phase, "processor time for the character read"),
    rate("read_kib_per_s", "read", "KiB/s", Higher, Phase, "block read rate"),
    sample("read_cpu", "", "%", Neither, Phase, "processor time for the block read"),
    rate("seeks_per_s", "seeks", "seeks/s", Higher, Phase, "random seeks per second"),
    sample("seeks_cpu", "", "%", Neither, Phase, "processor time for the random seeks"),
    rate("kib_per_s", "", "KiB/s", Higher, Run, "throughput"),
    rate("bytes_per_s", "", "bytes/s", Higher, Run, "throughput"),
    rate("files_per_s", "", "files/s", Higher, Run, "files per second"),
    sample("reads_per_file", "", "", Neither, Run, "disk reads per file"),
    sample("writes_per_file", "", "", Neither, Run, "disk writes per file"),
    rate("delivered_per_s", "delivered", "messages/s", Higher, Phase, "messages delivered per second"),
    sample("writes_per_message", "", "", Neither, Phase, "disk writes per message delivered"),
    rate("collected_per_s", "collected", "messages/s", Higher, Phase, "messages collected per second"),
    sample("reads_per_message", "", "", Neither, Phase, "disk reads per message collected"),
    sample("writes", "", "", Neither, Run, "disk writes"),
    sample("newfs_s", "newfs", "s", Lower, Phase, "time to make the file system"),
    sample("tar_s", "tar", "s", Lower, Phase, "time for unpacking the tree"),
    sample("tar_reads", "", "", Neither, Phase, "disk reads for unpacking the tree"),
    sample("tar_writes", "", "", Neither, Phase, "disk writes for unpacking the tree"),
    sample("tar_waited_writes", "", "", Neither, Phase, "synchronous writes for unpacking the tree"),
    sample("umount_after_tar_s", "umount_after_tar", "s", Lower, Phase, "time to unmount after unpacking the tree"),
    sample("rm_s", "rm", "s", Lower, Phase, "time for removing the tree"),
    sample("rm_reads", "", "", Neither, Phase, "disk reads for removing the tree"),
    sample("rm_writes", "", "", Neither, Phase, "disk writes for removing the tree"),
    sample("rm_waited_writes", "", "", Neither, Phase, "synchronous writes for removing the tree"),
    sample("umount_after_rm_s", "umount_after_rm", "s", Lower, Phase, "time to unmount after removing the tree"),
    sample("umount_s", "umount", "s", Lower, Phase, "time to unmount"),
    sample("mount_s", "mount", "s", Lower, Phase, "time to mount"),
    sample("fsck_s", "fsck", "s", Lower, Phase, "time for the file system check"),
    sample("fsck_phase_1_s", "fsck_phase_1", "s", Lower, Phase, "time for phase 1 of the check"),
    sample("fsck_phase_2_s", "fsck_phase_2", "s", Lower, Phase, "time for phase 2 of the check"),
    sample("fsck_phase_5_s", "fsck_phase_5", "s", Lower, Phase, "time for phase 5 of the check"),
    sample("fsck_inode_mib", "", "MiB", Neither, Phase, "inodes read by the check"),
    sample("fsck_reads", "", "", Neither, Phase, "disk reads for the check"),
    sample("fsck_cpu_s", "fsck_cpu", "s", Lower, Phase, "processor time for the check"),
    sample("user_s", "user", "s", Lower, Imported, "user time"),
    sample("system_s", "system", "s", Lower, Imported, "system time"),
    sample("input_blocks", "", "blocks", Neither, Imported, "blocks read"),
    sample("output_blocks", "", "blocks", Neither, Imported, "blocks written"),
    sample("cpu_percent", "cpu", "%", Neither, Imported, "share of the processor's time"),
    rate("sd_mb_per_s", "", "MB/s", Neither, Imported, "standard deviation of throughput over time"),
    rate("low_mb_per_s", "", "MB/s", Neither, Imported, "lowest throughput over time"),
    rate("high_mb_per_s", "", "MB/s", Neither, Imported, "highest throughput over time"),
    sample("rates", "", "", Neither, Imported, "intervals that throughput over time is known for"),
    latency("latency_max_ms", "latency_max", "ms", Lower, Imported, "longest latency"),
];

/// The sample of this name.
pub fn find(name: &str) -> Option<&'static Sample> {
    static BY_NAME: LazyLock<BTreeMap<&str, &Sample>> =
        LazyLock::new(|| SAMPLES.iter().map(|sample| (sample.name, sample)).collect());
    BY_NAME.get(name).copied()
}

/// The parts of the time that a request takes, in the order of `sim::Part::all`.
pub fn parts() -> impl Iterator<Item = &'static Sample> {
    SAMPLES.iter().filter(|sample| sample.scope == Part)
}

/// The same, and what the program did between requests.
pub fn parts_and_program() -> impl Iterator<Item = &'static Sample> {
    parts().chain(find("program_ms"))
}

/// Units that people write in mapping files, and which way is better. Of what a `%` is a share, it does not say.
const UNITS: &[(&str, Better)] = &[
    ("MB/s", Higher),
    ("KB/s", Higher),
    ("GB/s", Higher),
    ("MiB/s", Higher),
    ("KiB/s", Higher),
    ("GiB/s", Higher),
    ("bytes/s", Higher),
    ("requests/s", Higher),
    ("files/s", Higher),
    ("seeks/s", Higher),
    ("IOPS", Higher),
    ("/s", Higher),
    ("h", Lower),
    ("min", Lower),
    ("s", Lower),
    ("ms", Lower),
    ("us", Lower),
    ("µs", Lower),
    ("ns", Lower),
    ("%", Neither),
];

/// Which way is better in this unit; `None` where the unit is not known.
pub fn better_in(unit: &str) -> Option<Better> {
    UNITS.iter().find(|(known, _)| *known == unit).map(|(_, better)| *better)
}

/// Units that measure the same thing, by how much of it each is. KB is left out: to some it is 1000 bytes, to some 1024.
const SCALES: &[&[(&str, f64)]] = &[
    &[
        ("bytes/s", 1.0),
        ("kB/s", 1000.0),
        ("KiB/s", 1024.0),
        ("MB/s", 1e6),
        ("MiB/s", 1_048_576.0),
        ("GB/s", 1e9),
        ("GiB/s", 1_073_741_824.0),
    ],
    &[
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("min", 60.0),
        ("h", 3600.0),
    ],
    &[
        ("/s", 1.0),
        ("IOPS", 1.0),
        ("requests/s", 1.0),
        ("files/s", 1.0),
        ("seeks/s", 1.0),
        ("messages/s", 1.0),
    ],
];

/// What a number in the unit `from` has to be multiplied by to be one in `to`; `None` where they do not measure the same,
/// or it is not known.
pub fn conversion(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    SCALES.iter().find_map(|units| {
        let size = |unit: &str| units.iter().find(|(name, _)| *name == unit).map(|(_, size)| size);
        Some(size(from)? / size(to)?)
    })
}

/// Whether more or less of this unit is faster or slower: it is a rate or a time.
pub fn is_speed(unit: &str) -> bool {
    better_in(unit).is_some_and(|better| better != Neither)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once() {
        let mut names: Vec<&str> = SAMPLES.iter().map(|sample| sample.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        assert!(SAMPLES.iter().all(|sample| !sample.words.is_empty()));
    }

    /// A name that says its unit says the one that stands here.
    #[test]
    fn names_and_units_agree() {
        let said = [
            ("mb_per_s", "MB/s"),
            ("kib_per_s", "KiB/s"),
            ("_ms", "ms"),
            ("_s", "s"),
            ("_percent", "%"),
        ];
        for sample in SAMPLES {
            let by_name = said.iter().find(|(end, _)| sample.name.ends_with(end));
            let Some((_, unit)) = by_name.filter(|_| !sample.unit.contains("/s")) else { continue };
            assert_eq!(sample.unit, *unit, "{}", sample.name);
        }
    }

    /// Both were guessed from the unit, so that the delay of the latest block was the time of a request.
    #[test]
    fn a_unit_does_not_say_what_is_measured() {
        let is_latency = |name: &str| find(name).unwrap().is_latency();
        assert!(!is_latency("late_max_ms") && !is_latency("program_ms"));
        assert!(["latency_mean_ms", "commit_p99_ms", "queue_ms"].map(is_latency) == [true; 3]);
        for sample in SAMPLES {
            assert!(!sample.is_latency() || sample.unit == "ms", "{}", sample.name);
            assert_eq!(sample.is_rate(), sample.unit.ends_with("/s"), "{}", sample.name);
        }
    }

    #[test]
    fn a_unit_is_converted_to_one_of_the_same_kind() {
        let converted = |from, to| conversion(from, to).map(|factor| (factor * 1e9).round() / 1e9);
        assert_eq!(converted("KiB/s", "MB/s"), Some(0.001_024));
        assert_eq!(converted("min", "s"), Some(60.0));
        assert_eq!(converted("IOPS", "requests/s"), Some(1.0));
        assert_eq!(converted("parsecs", "parsecs"), Some(1.0));
        assert_eq!((converted("KB/s", "MB/s"), converted("ms", "MB/s")), (None, None));
    }

    #[test]
    fn a_unit_says_its_direction_or_nothing() {
        assert_eq!(
            ["KB/s", "s", "%", "parsecs"].map(better_in),
            [Some(Higher), Some(Lower), Some(Neither), None]
        );
    }
}
