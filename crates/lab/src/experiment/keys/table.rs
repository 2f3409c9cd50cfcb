//! Every key of an experiment, in the order in which `ileave keys` lists them.

use super::{Key, Kind};
use crate::catalogue::{DISCIPLINES, ELEVATORS};
use store::factor::{DEFAULT_INTERLEAVE, DEFAULT_LEVEL};

const TIB: u64 = 1 << 31;
const SECOND_NS: u64 = 1_000_000_000;
const YEAR_NS: u64 = 366 * 86_400 * SECOND_NS;
const RATE: Kind = Kind::Rate(1, 1_000_000_000_000);

const fn key(
    path: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    help: &'static str,
) -> Key {
    Key { path, kind, default, help, factor: true }
}

const fn fixed(
    path: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    help: &'static str,
) -> Key {
    Key { path, kind, default, help, factor: false }
}

/// All keys, in the order in which they are documented.
pub const KEYS: &[Key] = &[
    fixed(
        "name",
        Kind::Text,
        None,
        "what the experiment is called; the file's name where it is not given",
    ),
    fixed("about", Kind::Text, Some(""), "one sentence on what it asks"),
    fixed(
        "published",
        Kind::Text,
        Some(""),
        "the published table to print beside the results, as in `ileave reproduce`",
    ),
    fixed(
        "objective",
        Kind::Objective,
        None,
        "what the layouts are ranked by, a formula over workloads and their samples; the one workload, or all of them, where it is not given",
    ),
    fixed("run.seed", Kind::Count(0, u64::MAX), Some("1"), "everything random follows from it"),
    fixed(
        "run.repeats",
        Kind::Count(1, 10_000),
        Some("1"),
        "how often each cell is tried, each time with another seed",
    ),
    key(
        "host.name",
        Kind::Text,
        Some("ideal"),
        "the modelled host, a name from hosts/ or a file; `ideal` cuts nothing and costs nothing",
    ),
    key(
        "host.max_transfer",
        Kind::Sectors(1, TIB),
        None,
        "the largest piece the host sends at once (MAXPHYS, max_sectors_kb); the host's own where it is not given",
    ),
    key(
        "host.physio_concurrency",
        Kind::Count(1, 65_536),
        None,
        "pieces of one raw request under way at a time; the host's own where it is not given",
    ),
    key(
        "host.buses",
        Kind::Count(1, 1024),
        None,
        "buses that the drives are dealt round; the host's own where it is not given",
    ),
    key(
        "host.elevator",
        Kind::Word(ELEVATORS),
        None,
        "the order in which the host lets the requests to each drive go: as they came, upwards by sector (disksort), or as Linux's deadline; where it is not given they go at once, those of a file system upwards",
    ),
    key(
        "host.queue_outstanding",
        Kind::Count(1, 65_536),
        None,
        "how many requests each drive has at a time, while the others wait for the elevator; the host's own where it is not given, or 1",
    ),
    key(
        "volume.drives",
        Kind::Text,
        None,
        "the members, as in `2xst118273lc` or `2xst118273lc:1GiB+1xxp32150w`: how many, which drive, and how much of each",
    ),
    key(
        "volume.box",
        Kind::Text,
        Some("none"),
        "the RAID box that the drives are in and that runs the level, a name from boxes/ or a file; the host sees one disk, takes its memory's answers and knows nothing of the drives; `none` where the host runs the level",
    ),
    key(
        "volume.level",
        Kind::Level,
        Some(DEFAULT_LEVEL),
        "how the members become one volume; a name with a system in front lays it out as that system does",
    ),
    key(
        "volume.interleave",
        Kind::Sectors(0, TIB),
        Some(DEFAULT_INTERLEAVE),
        "sectors on one member before the next one's turn (md: chunk, LVM: stripe size, XFS: su, RAIDframe: sectPerSU)",
    ),
    key(
        "volume.outstanding",
        Kind::Count(1, 65_536),
        None,
        "requests that the volume's driver has under way at a time, the others wait in order of arrival; where it is not given 6 for RAIDframe (RAIDOUTSTANDING), else all",
    ),
    key(
        "volume.member_outstanding",
        Kind::Count(1, 65_536),
        None,
        "commands that it has with a member at a time, the others wait in order of arrival; where it is not given 100 for RAIDframe (`fifo 100`), else all",
    ),
    key(
        "volume.failed",
        Kind::Text,
        None,
        "members that are down from the start, counted from 0 and joined by +, as in `1` or `0+3`",
    ),
    key(
        "volume.rebuild",
        RATE,
        None,
        "restores the first of the failed members onto a spare meanwhile, no faster than this; not at all where it is not given",
    ),
    key(
        "drive.write_cache",
        Kind::Switch,
        None,
        "whether a write is done once the drive's buffer has it; the drive's own setting where it is not given",
    ),
    key(
        "drive.read_ahead",
        Kind::Switch,
        None,
        "whether a drive reads on after a read; the drive's own setting where it is not given",
    ),
    key(
        "drive.zero_latency",
        Kind::Switch,
        None,
        "whether a track may be read and written from anywhere; the drive's own setting where it is not given",
    ),
    key(
        "drive.queue_discipline",
        Kind::Word(DISCIPLINES),
        None,
        "which of its commands a drive takes next: the oldest, the next upwards, or the one it reaches soonest; the drive's own where it is not given",
    ),
    key(
        "drive.queue_depth",
        Kind::Count(1, 65_536),
        None,
        "how many commands a drive chooses among (tags, NCQ); the drive's own where it is not given",
    ),
    key(
        "fs.newfs",
        Kind::Word(&["4.4bsd", "netbsd2"]),
        None,
        "makes a file system on the volume, as the newfs of 4.4BSD (FreeBSD 2, NetBSD 1) or that of NetBSD 2 does; the workloads are then programs that use files",
    ),
    key("fs.version", Kind::Count(1, 2), Some("1"), "newfs -O: which inodes"),
    key("fs.block", Kind::Sectors(8, 128), Some("8KiB"), "newfs -b: a block"),
    key(
        "fs.frag",
        Kind::Sectors(1, 128),
        None,
        "newfs -f: a fragment; an eighth of a block where it is not given",
    ),
    key(
        "fs.cylinder",
        Kind::Sectors(1, 1 << 24),
        Some("1MiB"),
        "the cylinder, of one track, that newfs is told of: ccd's is 1MiB, FreeBSD's newfs takes 2MiB whatever the disk; 4.4BSD only",
    ),
    key(
        "fs.cylinders",
        Kind::Count(1, 65_536),
        Some("16"),
        "newfs -c: such cylinders to a group; 4.4BSD only",
    ),
    key(
        "fs.mount",
        Kind::Word(&["sync", "softdep", "async"]),
        Some("sync"),
        "which changes are waited for: those to the structure (no flag), or none",
    ),
    key(
        "fs.atime",
        Kind::Switch,
        Some("true"),
        "whether reading changes a file's time of last access",
    ),
    key(
        "workload.*.program",
        Kind::Word(&[
            "touch", "iozone", "bonnie", "newfs", "nfs", "untar", "spool", "fsck", "memory",
        ]),
        Some("touch"),
        "touch: makes, touches and removes `files` files in one directory; iozone: writes and reads a file in order; bonnie: the six tests of that name; newfs: makes the file system; nfs: takes a file in writes of 8 KiB, each safe on the disk before the next; untar: makes a `tree`, or one of `files` files of `size` together in `directories`, unmounts, mounts and removes it; spool: `readers` read articles anywhere in a news spool of `files` files in `directories`, made beforehand in no time; fsck: unpacks a tree as untar does, unmounts, checks it as `fsck -p` does, and mounts it; memory: writes a file of `size` in records of `block` without waiting for the disk, reads it, and writes it over",
    ),
    key(
        "workload.*.tree",
        Kind::Text,
        None,
        "untar and fsck: what is unpacked: a name from trees/, a file of figures like those, or a file with what `tar tvf` or `find -printf '%y %s %p\\n'` prints; where it is not given the four keys below say it",
    ),
    key(
        "workload.*.files",
        Kind::Count(1, 10_000_000),
        Some("10000"),
        "how many files a program makes",
    ),
    key(
        "workload.*.directories",
        Kind::Count(1, 10_000_000),
        Some("1000"),
        "how many directories a program makes",
    ),
    key(
        "workload.*.size",
        Kind::Sectors(1, TIB),
        Some("256MiB"),
        "how large a file a program makes",
    ),
    key("workload.*.readers", Kind::Count(1, 4096), Some("30"), "how many readers a spool has"),
    key(
        "workload.*.files_per_reader",
        Kind::Count(1, 10_000_000),
        Some("1000"),
        "how many files each reader of a spool reads; no file is read twice",
    ),
    key(
        "workload.*.sorted",
        Kind::Switch,
        Some("false"),
        "whether each reader of a spool reads its files in the order in which they were made, and not as drawn",
    ),
    key(
        "workload.*.large",
        Kind::Sectors(0, TIB),
        Some("0"),
        "untar and fsck: how much of `size` is in files of 1 MiB; the others are small, as sources are",
    ),
    key(
        "workload.*.pipe",
        Kind::Sectors(0, TIB),
        Some("0"),
        "untar: what the pipe holds through which another program unpacks the archive for it; with 0 it unpacks the archive itself",
    ),
    key(
        "workload.*.remount",
        Kind::Word(&["same", "sync", "softdep", "async"]),
        Some("same"),
        "untar: how the file system is mounted before the tree is removed; as `fs.mount` says, or otherwise",
    ),
    key(
        "workload.*.kind",
        Kind::Word(&["dd", "sequential", "strided", "random"]),
        Some("dd"),
        "dd: one block after the other, and a write fills each block from /dev/zero first; sequential: the same without the filling; strided: with a gap after each; random: anywhere",
    ),
    key(
        "workload.*.op",
        Kind::Word(&["read", "write"]),
        Some("read"),
        "what it asks of the volume",
    ),
    key(
        "workload.*.reads_percent",
        Kind::Count(0, 100),
        None,
        "how many of a hundred requests are reads, the others being writes; all are as `op` says where it is not given",
    ),
    key(
        "workload.*.block",
        Kind::Sectors(1, TIB),
        Some("64KiB"),
        "the size of each request (dd's bs), and of the records of `memory`",
    ),
    key(
        "workload.*.sizes",
        Kind::Text,
        None,
        "other sizes, and how often each comes relative to the others, as in `4KiB/60:64KiB/40`; random requests stay aligned to `block`",
    ),
    key(
        "workload.*.gap",
        Kind::Sectors(0, TIB),
        None,
        "what a strided workload leaves out after each block (FFS's rotational delay); as much as a block where it is not given",
    ),
    key(
        "workload.*.count",
        Kind::Count(1, 1_000_000_000_000),
        None,
        "how many requests each job makes; 1000 where neither it nor `amount` nor `runtime` is given",
    ),
    key(
        "workload.*.amount",
        Kind::Sectors(1, u64::MAX),
        None,
        "how much each job reads and writes; as much as `count` and `runtime` allow where it is not given",
    ),
    key(
        "workload.*.runtime",
        Kind::Time(1, YEAR_NS),
        None,
        "for how long requests are made, as in `60s`",
    ),
    key("workload.*.depth", Kind::Count(1, 65_536), Some("1"), "requests under way at a time"),
    key(
        "workload.*.span",
        Kind::Sectors(1, u64::MAX),
        None,
        "the part of the volume that is used, from `offset` on; all of it where it is not given",
    ),
    key(
        "workload.*.offset",
        Kind::Sectors(0, u64::MAX),
        Some("0"),
        "where the part of the volume that is used starts",
    ),
    key(
        "workload.*.jobs",
        Kind::Count(1, 4096),
        Some("1"),
        "so many of the same side by side, each with `count` requests, `depth` of them under way",
    ),
    key(
        "workload.*.job_step",
        Kind::Sectors(0, u64::MAX),
        None,
        "how far behind the one before each job starts, all with the same `span`; where it is not given the span is dealt out among the jobs",
    ),
    key(
        "workload.*.think",
        Kind::Time(0, YEAR_NS),
        Some("0ns"),
        "what the program does before each request",
    ),
    key(
        "workload.*.rate",
        RATE,
        None,
        "no more than this by each job, as in `2MB/s`; blocks that come late are then counted, `depth` being the buffers there are",
    ),
    key(
        "workload.*.requests_per_s",
        Kind::Count(1, 1_000_000_000),
        None,
        "no more than so many requests a second by each job",
    ),
    key(
        "workload.*.flush_every",
        Kind::Count(1, 1_000_000_000),
        None,
        "after so many writes a flush, which the job waits for (fsync)",
    ),
    fixed(
        "workload.*.group",
        Kind::Text,
        None,
        "workloads of the same group run side by side as one, which has the group's name",
    ),
];
