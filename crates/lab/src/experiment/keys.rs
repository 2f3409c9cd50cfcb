//! The keys of an experiment: what each is called, what it takes, and what it means.
//!
//! This table is the one definition. The parser, `--set`, the error messages, `ileave keys` and
//! docs/experiment.md all come from it.

use crate::catalogue::{DISCIPLINES, ELEVATORS};
use crate::error::{Error, Result, nearest};
use block::{LEVELS, Level, units};
use serde::{Serialize, Serializer};
use std::fmt;

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number between these two.
    Count(u64, u64),
    /// A size between these two, in sectors; a bare number counts sectors.
    Sectors(u64, u64),
    /// A rate between these two, in bytes a second; `2MB/s`, or a bare number of bytes a second.
    Rate(u64, u64),
    /// A time between these two, in ns; `10ms`, or a bare number of ns.
    Time(u64, u64),
    /// The name of a layout, one of [`LEVELS`].
    Level,
    /// `true` or `false`; after `--set` also `on` and `off`.
    Switch,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its path; `*` stands for the name of a workload. A key of `host`, `volume` or `drive` may also
    /// be set for one workload alone, as in `workload.NAME.volume.level`.
    pub path: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its value where the file says nothing; `None` where that has a meaning of its own.
    pub default: Option<&'static str>,
    /// What it means.
    pub help: &'static str,
    /// Whether a list of values makes it a factor.
    pub factor: bool,
}

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
        "volume.level",
        Kind::Level,
        Some("stripe"),
        "how the members become one volume; a name with a system in front lays it out as that system does",
    ),
    key(
        "volume.interleave",
        Kind::Sectors(0, TIB),
        Some("64KiB"),
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
        Kind::Word(&["touch", "iozone", "bonnie", "newfs", "nfs", "untar", "spool"]),
        Some("touch"),
        "touch: makes, touches and removes `files` files in one directory; iozone: writes and reads a file in order; bonnie: the six tests of that name; newfs: makes the file system; nfs: takes a file in writes of 8 KiB, each safe on the disk before the next; untar: makes a tree of `files` files of `size` together in `directories`, unmounts, mounts and removes it; spool: `readers` read articles anywhere in a news spool of `files` files in `directories`, made beforehand in no time",
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
        "untar: how much of `size` is in files of 1 MiB; the others are small, as sources are",
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
        "the size of each request (dd's bs)",
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

/// The key with this path, workload names allowed for.
///
/// # Errors
///
/// Where there is none, saying which may have been meant.
pub fn find(path: &str) -> Result<&'static Key> {
    let generic = generic_path(path);
    KEYS.iter().find(|key| key.path == generic).ok_or_else(|| unknown(path, &generic))
}

/// `workload.read.op` is an instance of `workload.*.op`.
fn generic_path(path: &str) -> String {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, key] => format!("workload.*.{key}"),
        ["workload", _, section @ ("host" | "volume" | "drive" | "fs"), key] => {
            format!("{section}.{key}")
        }
        _ => path.to_string(),
    }
}

fn unknown(path: &str, generic: &str) -> Error {
    let unnamed = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload"] => true,
        ["workload", key] => KEYS.iter().any(|known| known.path == format!("workload.*.{key}")),
        _ => false,
    };
    if unnamed {
        return Error::input(format!(
            "`{path}` is no key of an experiment; a workload has a name: write `[workload.read]`, or \
             another name, above its keys"
        ));
    }
    let next = match nearest(generic, KEYS.iter().map(|key| key.path)) {
        Some(near) => format!("did you mean `{}`?", named_as(near, path)),
        None => "`ileave keys` lists what there is".to_string(),
    };
    Error::input(format!("`{path}` is no key of an experiment; {next}"))
}

/// The generic path with the name that `path` has.
fn named_as(generic: &str, path: &str) -> String {
    let name = path.split('.').nth(1).unwrap_or("NAME");
    if path.split('.').count() == 4 && !generic.contains('*') {
        return format!("workload.{name}.{generic}");
    }
    generic.replace('*', name)
}

/// A value of a key, checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number; for a size, in sectors.
    Count(u64),
    /// A switch.
    Switch(bool),
    /// A text or a word.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Switch(on) => on.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Switch(on) => serializer.serialize_bool(*on),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A value as it was written, before a key has looked at it.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A number in a file.
    Integer(i128),
    /// A switch in a file.
    Switch(bool),
    /// A text in quotes in a file.
    Text(String),
    /// Something on the command line, which has no quotes.
    Bare(String),
    /// Anything else that TOML knows, by its name.
    Other(&'static str),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Integer(number) => number.fmt(f),
            Written::Switch(on) => on.fmt(f),
            Written::Text(text) => write!(f, "\"{text}\""),
            Written::Bare(text) => f.write_str(text),
            Written::Other(what) => f.write_str(what),
        }
    }
}

impl Kind {
    /// What the key takes, for people.
    pub fn expects(&self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Count(low, high) if *high == u64::MAX => format!("a whole number from {low}"),
            Kind::Count(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Sectors(..) => "a size such as 64 (sectors) or \"32KiB\"".into(),
            Kind::Rate(..) => "a rate such as \"2MB/s\"".into(),
            Kind::Time(..) => "a time such as \"10ms\"".into(),
            Kind::Level => {
                let names: Vec<&str> = LEVELS.iter().map(|level| level.name).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Switch => "true or false".into(),
        }
    }

    /// Checks what was written.
    ///
    /// # Errors
    ///
    /// Where it is of another kind or out of range.
    pub fn read(&self, written: &Written) -> Result<Value> {
        let wrong = || Error::input(format!("`{written}` is not {}", self.expects()));
        match (self, written) {
            (Kind::Text, Written::Text(text) | Written::Bare(text)) => {
                Ok(Value::Text(text.clone()))
            }
            (Kind::Word(words), Written::Text(text) | Written::Bare(text)) => {
                if words.contains(&text.as_str()) {
                    return Ok(Value::Text(text.clone()));
                }
                Err(meant(wrong(), text, words.iter().copied()))
            }
            (Kind::Level, Written::Text(text) | Written::Bare(text)) => {
                let names = LEVELS.iter().flat_map(|l| std::iter::once(&l.name).chain(l.also));
                text.parse()
                    .map(|level: Level| Value::Text(level.name.into()))
                    .map_err(|_| meant(wrong(), text, names.copied()))
            }
            (Kind::Rate(low, high), _) => {
                ranged(written, *low, *high, units::parse_bytes_per_s).ok_or_else(wrong)
            }
            (Kind::Time(low, high), _) => {
                ranged(written, *low, *high, units::parse_nanos).ok_or_else(wrong)
            }
            (Kind::Count(low, high), _) => {
                let number = match written {
                    Written::Integer(number) => u64::try_from(*number).ok(),
                    Written::Bare(text) => text.replace('_', "").parse().ok(),
                    _ => None,
                };
                number.filter(|n| (low..=high).contains(&n)).map(Value::Count).ok_or_else(wrong)
            }
            (Kind::Sectors(low, high), _) => {
                let sectors = match written {
                    Written::Integer(number) => u64::try_from(*number).map_err(|_| wrong())?,
                    Written::Text(text) | Written::Bare(text) => {
                        units::parse_sectors(text).map_err(|error| wrong().followed_by(error))?
                    }
                    _ => return Err(wrong()),
                };
                if (low..=high).contains(&&sectors) {
                    return Ok(Value::Count(sectors));
                }
                let range = format!("it takes {low} to {high} sectors");
                Err(Error::input(format!("`{written}` is out of range; {range}")))
            }
            (Kind::Switch, Written::Switch(on)) => Ok(Value::Switch(*on)),
            (Kind::Switch, Written::Bare(text)) => match text.as_str() {
                "true" | "on" => Ok(Value::Switch(true)),
                "false" | "off" => Ok(Value::Switch(false)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// A number, or a text that `parse` understands, between two bounds.
fn ranged<E>(
    written: &Written,
    low: u64,
    high: u64,
    parse: impl Fn(&str) -> std::result::Result<u64, E>,
) -> Option<Value> {
    let number = match written {
        Written::Integer(number) => u64::try_from(*number).ok(),
        Written::Text(text) | Written::Bare(text) => text.parse().ok().or_else(|| parse(text).ok()),
        Written::Switch(_) | Written::Other(_) => None,
    };
    number.filter(|number| (low..=high).contains(number)).map(Value::Count)
}

/// `error`, with the known word that may have been meant.
fn meant<'a>(error: Error, text: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    match nearest(text, known) {
        Some(near) => error.followed_by(format!("did you mean `{near}`?")),
        None => error,
    }
}

impl Key {
    /// The value where the file says nothing.
    pub fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        let value = self.kind.read(&Written::Bare(text.into()));
        Some(value.expect("the defaults in the table are of the kind that the table says"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// The table of docs/experiment.md.
    fn table() -> String {
        let mut table = String::from("| key | takes | default | meaning |\n|---|---|---|---|\n");
        for key in KEYS {
            let takes = match key.kind {
                Kind::Level => "a layout's name, from the table below".into(),
                kind => kind.expects(),
            };
            let default = key.default.filter(|default| !default.is_empty());
            let default = default.map_or_else(String::new, |default| format!("`{default}`"));
            let one = if key.factor { "" } else { " (no list)" };
            let Key { path, help, .. } = key;
            writeln!(table, "| `{path}` | {takes}{one} | {default} | {help} |").unwrap();
        }
        table += "\n| level | what it is |\n|---|---|\n";
        for level in LEVELS {
            let names = level.also.iter().map(|name| format!(", `{name}`"));
            let names: String = names.collect();
            writeln!(table, "| `{}`{names} | {} |", level.name, level.about).unwrap();
        }
        table
    }

    /// `UPDATE=1` writes the tables anew.
    #[test]
    fn the_documentation_lists_every_key_and_level() {
        const MARK: &str = "<!-- from the key table; a test holds it to the code -->\n";
        let path = format!("{}/../../docs/experiment.md", env!("CARGO_MANIFEST_DIR"));
        let document = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = document.split_once(MARK).unwrap();
        let (_, after) = rest.split_once(MARK).unwrap();
        let wanted = format!("{before}{MARK}{}{MARK}{after}", table());
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(document == wanted, "docs/experiment.md is not up to date; run with UPDATE=1");
        }
    }

    #[test]
    fn every_default_is_of_its_kind_and_every_path_stands_once() {
        for (index, key) in KEYS.iter().enumerate() {
            let _ = key.default_value();
            assert!(!key.help.is_empty());
            assert!(KEYS[..index].iter().all(|other| other.path != key.path), "{}", key.path);
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_key_that_was_meant() {
        let message = |path| find(path).unwrap_err().to_string();
        assert!(message("volume.interleeve").contains("did you mean `volume.interleave`?"));
        assert!(message("workload.read.blok").contains("did you mean `workload.read.block`?"));
        assert!(message("nothing.like.it").contains("`ileave keys` lists"));
        assert_eq!(find("workload.anything.op").unwrap().path, "workload.*.op");
        assert_eq!(find("workload.any.volume.level").unwrap().path, "volume.level");
        assert!(message("workload.a.volume.levle").contains("`workload.a.volume.level`?"));
        assert!(message("workload.a.run.seed").contains("no key"));
    }

    #[test]
    fn values_are_read_by_kind() {
        let interleave = find("volume.interleave").unwrap().kind;
        for (written, sectors) in [
            (Written::Integer(64), 64),
            (Written::Text("32KiB".into()), 64),
            (Written::Bare("32k".into()), 64),
            (Written::Bare("64".into()), 64),
        ] {
            assert_eq!(interleave.read(&written).unwrap(), Value::Count(sectors));
        }
        let wrong =
            |path: &str, written| find(path).unwrap().kind.read(&written).unwrap_err().to_string();
        assert!(wrong("volume.interleave", Written::Switch(true)).contains("`true` is not a size"));
        assert!(
            wrong("volume.interleave", Written::Text("100B".into())).contains("512-byte sectors")
        );
        assert!(wrong("volume.interleave", Written::Integer(-1)).contains("`-1` is not a size"));
        assert!(wrong("run.repeats", Written::Integer(0)).contains("from 1 to 10000"));
        assert!(
            wrong("volume.level", Written::Text("strip".into())).contains("did you mean `stripe`?")
        );
        let level = find("volume.level").unwrap().kind;
        let alias = level.read(&Written::Bare("raid0".into())).unwrap();
        assert_eq!(alias, Value::Text("stripe".into()));
        let rate = find("workload.x.rate").unwrap().kind;
        let two = Value::Count(2_000_000);
        assert_eq!(rate.read(&Written::Text("2MB/s".into())).unwrap(), two);
        assert_eq!(rate.read(&Written::Integer(2_000_000)).unwrap(), two);
        assert!(wrong("workload.x.rate", Written::Text("fast".into())).contains("2MB/s"));
        let time = find("workload.x.runtime").unwrap().kind;
        assert_eq!(time.read(&Written::Bare("10ms".into())).unwrap(), Value::Count(10_000_000));
        assert!(wrong("workload.x.think", Written::Text("10".repeat(20))).contains("10ms"));
        assert!(wrong("drive.write_cache", Written::Integer(1)).contains("true or false"));
        assert!(wrong("name", Written::Other("a date")).contains("`a date` is not a text"));
    }
}
