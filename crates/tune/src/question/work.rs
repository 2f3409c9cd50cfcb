//! Work by name: what each name stands for, as the workloads of an experiment.

mod traced;

use crate::question::drives::Drives;
use crate::question::in_flight::InFlight;
use block::SECTOR_BYTES;
use block::units::parse_sectors;
use lab::catalogue::Drive;
use lab::experiment::{PageCache, values_of};
use lab::formats::fio;
use lab::keys::Written;
use lab::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use store::error::did_you_mean;
use store::input;
use verdict::judge::drives::shingled_disks::SMALL_BYTES;

/// Work that has a name, and the file that says what it is.
pub const NAMED: [(&str, &str); 12] = [
    ("backup", include_str!("../../workloads/backup.toml")),
    ("restore", include_str!("../../workloads/restore.toml")),
    ("postgres", include_str!("../../workloads/postgres.toml")),
    ("mysql", include_str!("../../workloads/mysql.toml")),
    ("mail", include_str!("../../workloads/mail.toml")),
    ("news", include_str!("../../workloads/news.toml")),
    ("vm", include_str!("../../workloads/vm.toml")),
    ("media", include_str!("../../workloads/media.toml")),
    ("build", include_str!("../../workloads/build.toml")),
    ("object-store", include_str!("../../workloads/object-store.toml")),
    ("log", include_str!("../../workloads/log.toml")),
    ("surveillance", include_str!("../../workloads/surveillance.toml")),
];

/// The same work on files, where a name has that.
pub const ON_FILES: [(&str, &str); 3] = [
    ("build", include_str!("../../workloads/files/build.toml")),
    ("mail", include_str!("../../workloads/files/mail.toml")),
    ("news", include_str!("../../workloads/files/news.toml")),
];

/// What can be turned of a work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// Requests in flight.
    #[serde(default)]
    pub depth: Option<u64>,
    /// Size of a request, in KiB.
    #[serde(default)]
    pub block_kib: Option<u64>,
    /// Share of reads, in percent.
    #[serde(default)]
    pub reads_percent: Option<u64>,
}

/// Requests in flight where what is usually buffered is asked of direct I/O.
pub(crate) const DIRECT_DEPTH: i64 = 8;

/// Work: its name, and what it is.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// What it is called.
    pub name: String,
    /// Where it came from, for messages.
    pub origin: String,
    /// The tables of its file.
    pub tables: toml::Table,
    /// What of the file could not be taken over.
    pub warnings: Vec<String>,
    /// That it is measured with direct I/O instead of through the page cache, and why, where it is.
    pub past_the_page_cache: Option<String>,
    /// Whether it had a length, which is left out.
    pub is_without_its_length: bool,
    /// Whether who asks has said in it how the drives' write caches are. Works with names and fio jobs say that by themselves.
    pub names_caches: bool,
}

/// Kinds of plain requests, as experiments name them; one that is not named is among them.
const REQUESTS: [&str; 3] = ["sequential", "strided", "random"];

/// The keys of requests that end a trial.
const LENGTHS: [&str; 3] = ["amount", "count", "runtime"];

/// The size of the requests of this workload in bytes, where it says one: a number is of sectors, as in an experiment.
pub(crate) fn block_bytes(work: &toml::Table) -> Option<u64> {
    let block = match work.get("block")? {
        toml::Value::String(text) => text.clone(),
        number => number.to_string(),
    };
    parse_sectors(&block).ok().map(|sectors| sectors * SECTOR_BYTES)
}

/// Whether who asks has said of the drive how its write cache is: `[write_cache=true]` after its name.
pub(crate) fn names_its_cache(drive: &Drive) -> bool {
    drive.name.split_once('[').is_some_and(|(_, own)| own.contains("write_cache"))
}

/// Whether this workload writes.
pub(crate) fn writes(work: &toml::Table) -> bool {
    let op = work.get("op").and_then(toml::Value::as_str);
    let reads_percent = work.get("reads_percent").and_then(toml::Value::as_integer);
    reads_percent.map_or(op == Some("write"), |percent| percent < 100)
}

/// Whether the requests of this workload are small, and at random. Of several sizes the block is the smallest.
pub(crate) fn is_small_at_random(work: &toml::Table) -> bool {
    let kind = work.get("kind").and_then(toml::Value::as_str);
    kind == Some("random") && block_bytes(work).is_some_and(|bytes| bytes < SMALL_BYTES)
}

/// Whether this workload only writes to the page cache, at a rate.
pub(crate) fn is_unwaited(work: &toml::Table) -> bool {
    let text = |key: &str| work.get(key).and_then(toml::Value::as_str);
    let reads = work.get("reads_percent").and_then(toml::Value::as_integer).unwrap_or(0);
    let has = |keys: &[&str]| keys.iter().any(|key| work.contains_key(*key));
    let is_closed = text("arrivals").is_none_or(|arrivals| arrivals == "closed");
    let is_buffered = work.get("direct").and_then(toml::Value::as_bool) == Some(false);
    let writes = writes(work) && reads == 0;
    is_buffered && is_closed && writes && has(&["rate", "requests_per_s"]) && !has(&["flush_every"])
}

/// Whether this workload stands for one that only writes to the page cache, at a rate.
pub(crate) fn stands_for_unwaited(work: &toml::Table) -> bool {
    let mut buffered = work.clone();
    buffered.insert("direct".into(), false.into());
    is_unwaited(&buffered)
}

/// The sample that only a trial with a length of its own has.
const ELAPSED: &str = "elapsed_s";

/// The name of the work of cameras, where another name of theirs is asked for; films that are played have one, too.
fn of_cameras(name: &str) -> Option<String> {
    let is_of_cameras = ["surveil", "camera", "cctv", "nvr"].iter().any(|of| name.contains(of));
    let may_be_played = !is_of_cameras && name.contains("video");
    (is_of_cameras || may_be_played).then(|| {
        let players = if may_be_played { "for players write `media`; " } else { "" };
        format!(
            "{players}for cameras write `surveillance`: other numbers by `--set workload.jobs=64` (cameras) and \
             `--set workload.rate=1MB/s` (of each)"
        )
    })
}

impl Work {
    /// The work called `name`, or that of the experiment, fio job or block trace of this path, for such drives.
    ///
    /// # Errors
    ///
    /// Where there is neither.
    pub fn find(name: &str, drives: &Drives) -> Result<Self> {
        if let Some((known, text)) = NAMED.iter().find(|(known, _)| *known == name) {
            let mut work = Work::read(known, &format!("workload {known}"), text, Vec::new())?;
            work.go_past_the_page_cache(drives);
            return Ok(work);
        }
        let path = Path::new(name);
        let is_job = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("fio"));
        if !is_job && !path.exists() && path.extension().is_none() {
            let names = NAMED.map(|(known, _)| known);
            let next = did_you_mean(name, names, || {
                let any = || {
                    format!(
                        "write one of {}, or the path of an experiment, a fio job or a block trace",
                        names.join(", ")
                    )
                };
                of_cameras(name).unwrap_or_else(any)
            });
            return Err(Error::input(format!("no work is called `{name}`; {next}")));
        }
        let is_experiment = path.extension().is_none_or(|end| end.eq_ignore_ascii_case("toml"));
        if !is_job && !is_experiment {
            return Work::trace(name, path);
        }
        let text = input::read_text(path, input::TEXT_BYTES).map_err(|error| {
            Error::input(format!("cannot read {name}: {error}; give an experiment or fio job file"))
        })?;
        let stem = path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
        let mut work = if is_job {
            let job = fio::read(name, &text)?;
            let mut work = Work::read(&stem, name, &job.experiment, job.warnings)?;
            work.turn_caches_off(&drives.drive);
            work
        } else {
            let mut work = Work::read(&stem, name, &text, Vec::new())?;
            let drive = work.tables.get("drive").and_then(toml::Value::as_table);
            work.names_caches = drive.is_some_and(|drive| drive.contains_key("write_cache"));
            work
        };
        work.go_on_until_steady();
        Ok(work)
    }

    /// The work called `name` on files.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn of_files(name: &str) -> Result<Self> {
        let Some((known, text)) = ON_FILES.iter().find(|(known, _)| *known == name) else {
            let names = ON_FILES.map(|(known, _)| known);
            let next = did_you_mean(name, names, || {
                format!(
                    "with --fs write one of {}, or put your own into an experiment",
                    names.join(", ")
                )
            });
            return Err(Error::input(format!("no work on files is called `{name}`; {next}")));
        };
        Work::read(known, &format!("workload {known} on files"), text, Vec::new())
    }

    fn read(name: &str, origin: &str, text: &str, warnings: Vec<String>) -> Result<Self> {
        let tables: toml::Table = text.parse().map_err(|error| {
            Error::input(format!("{origin}: {error}; `ileave run` checks such a file key by key"))
        })?;
        if !tables.contains_key("workload") {
            let next = "add one, as in [workload.read]";
            return Err(Error::input(format!("{origin} has no workload; {next}")));
        }
        Ok(Work { name: name.into(), origin: origin.into(), tables, warnings, ..Work::default() })
    }

    /// Layouts are told apart by the rate that requests settle at, so a length of theirs is left out: a short one may
    /// fill a cache and no more, a job of 8 TB takes hours to simulate. Not where the time it takes is what is asked,
    /// nor beside a program, which has an end.
    fn go_on_until_steady(&mut self) {
        let objective = self.tables.get("objective").and_then(toml::Value::as_str);
        let asks_its_time = objective.is_some_and(|text| text.contains(ELAPSED));
        let works = self.tables.get_mut("workload").and_then(toml::Value::as_table_mut);
        let Some(works) = works.filter(|_| !asks_its_time) else { return };
        let is_requests = |work: &toml::Value| {
            let kind = work.get("kind").and_then(toml::Value::as_str);
            kind.is_none_or(|kind| REQUESTS.contains(&kind))
        };
        if !works.values().all(is_requests) {
            return;
        }
        for work in works.iter_mut().filter_map(|(_, work)| work.as_table_mut()) {
            for key in LENGTHS {
                self.is_without_its_length |= work.remove(key).is_some();
            }
        }
        if self.is_without_its_length {
            self.warnings.push(format!(
                "{}: not run to its end; each trial runs until its rate is steady",
                self.origin
            ));
        }
    }

    /// Refuses to be judged by how long it takes where it has no end.
    ///
    /// # Errors
    ///
    /// Where one of these expressions asks that.
    pub(crate) fn allow<'a>(
        &self,
        mut expressions: impl Iterator<Item = &'a String>,
    ) -> Result<()> {
        let asks = |text: &&String| self.is_without_its_length && text.contains(ELAPSED);
        match expressions.find(asks) {
            Some(text) => Err(Error::input(format!(
                "`{text}`: a trial runs until its rate is steady, so `{ELAPSED}` says nothing about the job; ask for a rate or a \
                 latency, or put job and drives into an experiment and run `ileave tune` on that"
            ))),
            None => Ok(()),
        }
    }

    /// Where the page cache is not modelled for what writes or reads, the same is asked of direct I/O, and said to be.
    fn go_past_the_page_cache(&mut self, drives: &Drives) {
        let Drives { count, drive, .. } = drives;
        let each = std::iter::repeat_n(Some(drive), *count);
        let is_write_back_modelled = PageCache::is_write_back_modelled(each);
        let are_reads_modelled = drive.is_rotational();
        let workloads = self.tables.get_mut("workload").and_then(toml::Value::as_table_mut);
        let mut by_rate: Vec<String> = Vec::new();
        for (name, workload) in workloads.into_iter().flatten() {
            let Some(keys) = workload.as_table_mut() else { continue };
            let jobs = keys.get("jobs").and_then(toml::Value::as_integer).unwrap_or(1);
            let is_unwaited = is_unwaited(keys);
            let writes = keys.get("op").and_then(toml::Value::as_str) == Some("write");
            let is_cached = keys.get("direct").and_then(toml::Value::as_bool) == Some(false);
            let is_modelled = if writes { is_write_back_modelled } else { are_reads_modelled };
            // Direct writes over parity say nothing of buffered ones: over many drives those are refused, and these not taken
            // instead.
            let most = lab::machine::READ_AHEAD_MEMBERS_MAX;
            if is_cached && (!is_modelled || !writes && *count > most) {
                keys.remove("direct");
                let mut in_flight = String::new();
                if writes {
                    keys.insert("depth".into(), DIRECT_DEPTH.into());
                    let each = if jobs > 1 {
                        format!(" for each of {jobs} programs")
                    } else {
                        String::new()
                    };
                    in_flight = format!(", {DIRECT_DEPTH} in flight{each}");
                }
                if is_unwaited {
                    by_rate.push(name.clone());
                }
                self.past_the_page_cache = Some(if is_modelled {
                    format!(
                        "what goes through the page cache was compared with a real kernel over up to {most} drives; over {count} the \
                         work is measured with direct I/O{in_flight}: this rate says nothing beside one of {most} drives or fewer"
                    )
                } else {
                    format!(
                        "the page cache is not modelled over such drives: the work is measured with direct I/O{in_flight}"
                    )
                });
            }
        }
        // What stands for writes that no program waits for is judged as they are: by whether it keeps the rate.
        if let [name] = by_rate.as_slice() {
            self.tables.insert("objective".into(), format!("max {name}.mb_per_s").into());
        }
        if self.past_the_page_cache.is_some() {
            let about = format!("{} (here: direct)", self.about().unwrap_or_default());
            self.tables.insert("about".into(), about.into());
        }
    }

    /// A fio job says nothing of the drives' write caches. Where all that it writes is small and at random, and the drives
    /// are disks whose caches nobody has named (`[write_cache=true]`), they are asked for off, as
    /// by the works with names: a trial of eight disks of 18 TB fills them with more than a million requests. Beside reads full
    /// caches are no faster.
    fn turn_caches_off(&mut self, drive: &Drive) {
        if !drive.is_rotational() || names_its_cache(drive) {
            return;
        }
        let works = self.tables.get("workload").and_then(toml::Value::as_table);
        let works = works.into_iter().flatten().filter_map(|(_, work)| work.as_table());
        let mut writers = works.filter(|work| writes(work)).peekable();
        if writers.peek().is_none() || !writers.all(is_small_at_random) {
            return;
        }
        let off = toml::Table::from_iter([("write_cache".to_string(), false.into())]);
        self.tables.insert("drive".into(), off.into());
        self.warnings.push(format!(
            "{}: small random writes, so disks run with their write caches off: more than a million requests would have to be \
             simulated only to fill them. The commands turn them off, too. Full caches may make writes alone up to three times as \
             fast: to ask about caches that are on, write [write_cache=true] after the drive's name",
            self.origin
        ));
    }

    /// Sets a key of the host, of the drives or of the work, as in `host.cpu_percent=50`.
    ///
    /// # Errors
    ///
    /// Where that is no assignment of one value, or of a layout, which is chosen.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let wrong = |what: &str| Error::input(format!("--set {assignment}: {what}"));
        let (path, value) = assignment
            .split_once('=')
            .ok_or_else(|| wrong("write KEY=VALUE, as in host.cpu_percent=50"))?;
        let mut names: Vec<&str> = path.trim().split('.').collect();
        let key = names.pop().filter(|key| !key.is_empty());
        let (Some(key), Some(&("host" | "drive" | "workload"))) = (key, names.first()) else {
            return Err(wrong(
                "with --drives only keys of host, drive and workload are set; layouts are chosen. For others, use --save FILE, \
                 and `ileave tune FILE`",
            ));
        };
        let is_text = matches!(values_of(value).as_slice(), [Written::Text(_)]);
        if value.contains(',') && !is_text {
            return Err(wrong(
                "write one value; to vary a key, use --save FILE, and `ileave tune FILE --set`",
            ));
        }
        let works = self.tables.get("workload").and_then(toml::Value::as_table);
        let has = |name: &str| works.is_some_and(|works| works.contains_key(name));
        let known: Vec<String> =
            works.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        match (names.as_slice(), known.as_slice()) {
            (["workload"], [only]) => names.push(only),
            (["workload"], several) => {
                let keys = several.iter().map(|name| format!("`workload.{name}.{key}`"));
                let keys = keys.collect::<Vec<_>>().join(", ");
                return Err(wrong(&format!(
                    "the work has {} workloads; write {keys}",
                    several.len()
                )));
            }
            (["workload", name, ..], _) if !has(name) => {
                let known: Vec<String> =
                    known.iter().map(|name| format!("`workload.{name}`")).collect();
                return Err(wrong(&format!("the work has {}", known.join(", "))));
            }
            _ => (),
        }
        let read = format!("value = {value}").parse::<toml::Table>();
        let read = read.ok().and_then(|mut table| table.remove("value"));
        let mut table = &mut self.tables;
        for name in names {
            let entry = table.entry(name).or_insert_with(|| toml::Table::new().into());
            table = entry.as_table_mut().ok_or_else(|| wrong("it is not a table"))?;
        }
        table.insert(key.into(), read.unwrap_or_else(|| value.into()));
        self.names_caches |= path.trim() == "drive.write_cache";
        Ok(())
    }

    /// Sets what `knobs` name; what the work does not have stays as it is.
    ///
    /// # Errors
    ///
    /// Where a value is out of range.
    pub fn turn(&mut self, knobs: &Knobs) -> Result<()> {
        let ranges = [
            (knobs.depth, 1..=1024, "depth"),
            (knobs.block_kib, 1..=16384, "block_kib"),
            (knobs.reads_percent, 0..=100, "reads_percent"),
        ];
        for (value, range, name) in ranges {
            if value.is_some_and(|value| !range.contains(&value)) {
                let (low, high) = (range.start(), range.end());
                return Err(Error::input(format!("`{name}`: write {low} to {high}")));
            }
        }
        let has = self.knobs();
        let Some(work) = self.turned() else { return Ok(()) };
        if let (Some(depth), Some(_)) = (knobs.depth, has.depth) {
            let own = InFlight::of(work);
            for (key, number) in own.with_depth(depth).keys_unlike(own) {
                work.insert(key.into(), number.cast_signed().into());
            }
        }
        if let (Some(kib), Some(_)) = (knobs.block_kib, has.block_kib) {
            work.insert("block".into(), format!("{kib}KiB").into());
        }
        if let (Some(reads), Some(_)) = (knobs.reads_percent, has.reads_percent) {
            work.insert("reads_percent".into(), reads.cast_signed().into());
        }
        Ok(())
    }

    /// What the workload that knobs turn has in flight, and its name where others stand beside it; nothing where it has no
    /// depth of its own.
    pub(crate) fn in_flight(&self) -> Option<(InFlight, Option<String>)> {
        self.knobs().depth?;
        let mut work = self.clone();
        let streams = work.tables.get("workload")?.as_table()?.len();
        let (name, table) = work.named_turned()?;
        Some((InFlight::of(table), (streams > 1).then(|| name.to_string())))
    }

    /// Has that workload have so much in flight.
    pub(crate) fn put_in_flight(&mut self, to: InFlight) {
        let Some(work) = self.turned() else { return };
        for (key, number) in to.keys_unlike(InFlight::of(work)) {
            work.insert(key.into(), number.cast_signed().into());
        }
    }

    /// What its knobs stand at; nothing where it has no such knob: what goes through the page cache or comes by the clock
    /// has no depth of its own, and requests of several sizes have no one block.
    pub fn knobs(&self) -> Knobs {
        let Some(work) = &self.clone().turned().cloned() else { return Knobs::default() };
        let number = |key: &str| work.get(key)?.as_integer().map(i64::cast_unsigned);
        let is_direct = work.get("direct").and_then(toml::Value::as_bool) != Some(false);
        let arrivals = work.get("arrivals").and_then(toml::Value::as_str);
        let is_open = arrivals.is_some_and(|arrivals| arrivals != "closed");
        let bytes = block_bytes(work).filter(|_| !work.contains_key("sizes"));
        Knobs {
            depth: (is_direct && !is_open).then(|| number("depth").unwrap_or(1)),
            block_kib: bytes.map(|bytes| bytes.div_ceil(1024)),
            reads_percent: number("reads_percent"),
        }
    }

    /// The workload that knobs turn: of requests the first that goes as fast as it can. What stands beside it, as a log
    /// that flushes or comes by the clock, stays as it is.
    fn turned(&mut self) -> Option<&mut toml::Table> {
        self.named_turned().map(|(_, work)| work)
    }

    /// The same with its name.
    fn named_turned(&mut self) -> Option<(&str, &mut toml::Table)> {
        let works = self.tables.get_mut("workload").and_then(toml::Value::as_table_mut)?;
        let works = works.iter_mut().filter_map(|(name, work)| Some((name, work.as_table_mut()?)));
        let of_requests = |(_, work): &(&String, &mut toml::Table)| {
            let kind = work.get("kind").and_then(toml::Value::as_str);
            kind.is_none_or(|kind| ["sequential", "random"].contains(&kind))
        };
        let is_beside = |(_, work): &(&String, &mut toml::Table)| {
            ["flush_every", "requests_per_s", "rate", "arrivals"]
                .iter()
                .any(|key| work.contains_key(*key))
        };
        let turned = works.filter(of_requests).min_by_key(is_beside);
        turned.map(|(name, work)| (name.as_str(), work))
    }

    /// What it is, in words.
    pub fn about(&self) -> Option<&str> {
        self.tables.get("about").and_then(toml::Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_host_the_drives_and_the_work_are_set() {
        let mut work = Work::find("vm", &Drives::read("4x 980 pro 1tb").unwrap()).unwrap();
        work.set("host.cpu_percent=50").unwrap();
        work.set("drive.state=steady").unwrap();
        work.set("workload.vm.depth = 64").unwrap();
        assert_eq!(work.tables["host"]["cpu_percent"].as_integer(), Some(50));
        assert_eq!(work.tables["drive"]["state"].as_str(), Some("steady"));
        assert_eq!(work.knobs().depth, Some(64));
        work.set(r#"workload.vm.note="a, b""#).unwrap();
        assert_eq!(work.tables["workload"]["vm"]["note"].as_str(), Some("a, b"));
        let mut refused = |what: &str| work.set(what).unwrap_err().to_string();
        assert!(refused("host.cpu_percent").contains("write KEY=VALUE"));
        assert!(refused("volume.level=md-raid5").contains("layouts are chosen"));
        assert!(refused("host=5").contains("layouts are chosen"));
        assert!(refused("drive.state=fresh,steady").contains("write one value"));
        assert!(refused("workload.db.depth=1").contains("the work has `workload.vm`"));
        assert!(refused("drive.state.x=1").contains("it is not a table"));
    }

    /// `--set workload.jobs=64`, as docs/tune.md and the error about cameras advise, was refused.
    #[test]
    fn of_one_workload_the_name_may_be_left_out() {
        let drives = Drives::read("4x st18000nm000j").unwrap();
        let mut cameras = Work::find("surveillance", &drives).unwrap();
        cameras.set("workload.jobs=64").unwrap();
        assert_eq!(cameras.tables["workload"]["surveillance"]["jobs"].as_integer(), Some(64));
        let mut database = Work::find("postgres", &drives).unwrap();
        let refused = database.set("workload.depth=1").unwrap_err().to_string();
        let keys = "the work has 2 workloads; write `workload.pages.depth`, `workload.wal.depth`";
        assert!(refused.ends_with(keys), "{refused}");
    }

    /// Who reads what can be asked finds every work that has a name.
    #[test]
    fn docs_name_every_work() {
        let docs = include_str!("../../../../docs/tune.md");
        let line = docs.lines().find(|line| line.starts_with("| work |")).unwrap();
        for (name, _) in NAMED {
            assert!(line.contains(&format!("`{name}`")), "{name}: {line}");
        }
    }

    /// `video` alone may be of players; with files there is no work of cameras.
    #[test]
    fn cameras_are_told_of_surveillance_and_players_of_media() {
        let drives = Drives::read("4x 980 pro 1tb").unwrap();
        let of = |name: &str| Work::find(name, &drives).unwrap_err().to_string();
        let cameras = "for cameras write `surveillance`: other numbers by `--set workload.jobs=64` (cameras) and \
                       `--set workload.rate=1MB/s` (of each)";
        assert!(of("video").ends_with(&format!("`video`; for players write `media`; {cameras}")));
        let video = of("video-surveillance");
        assert!(video.ends_with(&format!("`video-surveillance`; {cameras}")), "{video}");
        assert!(of("cctv").ends_with(&format!("`cctv`; {cameras}")));
        // Cameras wait for nobody: of the layouts that keep their rate the one with the most room is the answer.
        let work = Work::find("surveillance", &Drives::read("8x st18000nm000j").unwrap()).unwrap();
        assert!(work.about().unwrap().contains("(assumed)"));
        assert!(is_unwaited(work.tables["workload"]["surveillance"].as_table().unwrap()));
        // On flash direct I/O stands for it, and they were judged by how long that takes.
        let flash =
            crate::question::tests::question("4x iocost-samsung-ssd-870", "surveillance", 1);
        assert!(flash.is_unwaited());
        assert_eq!(flash.work.tables["objective"].as_str(), Some("max surveillance.mb_per_s"));
        let said = flash.work.past_the_page_cache.unwrap();
        assert!(said.ends_with("8 in flight for each of 32 programs"), "{said}");
        assert!(!crate::question::tests::question("4x 980 pro 1tb", "media", 1).is_unwaited());
        assert!(!crate::question::tests::question("4x 980 pro 1tb", "backup", 1).is_unwaited());
        let files = Work::of_files("cctv").unwrap_err().to_string();
        assert!(files.contains("; with --fs write one of build, mail, news, or"), "{files}");
    }

    /// Between 16 and 17 disks `media` fell from 2722 to 1060 MB/s, and nothing in the answer said why.
    #[test]
    fn what_goes_past_the_page_cache_over_many_drives_says_so() {
        let of = |drives: &str, name: &str| {
            let work = Work::find(name, &Drives::read(drives).unwrap()).unwrap();
            let is_cached = work.tables["workload"][name].get("direct").is_some();
            (is_cached, work.past_the_page_cache)
        };
        assert_eq!(of("24x st18000nm000j", "media"), (true, None));
        let (is_cached, said) = of("25x st18000nm000j", "media");
        assert!(!is_cached && said.unwrap().contains("up to 24 drives; over 25 the work"));
        // Direct writes over parity are another matter: what is asked is refused instead.
        assert_eq!(of("25x st18000nm000j", "backup"), (true, None));
        let (is_cached, said) = of("4x 980 pro 1tb", "media");
        assert!(!is_cached && said.unwrap().starts_with("the page cache is not modelled"));
    }

    /// The page cache fills whole rows of parity: over slow cloud volumes it is modelled, and over fast ones direct I/O
    /// stands for it.
    #[test]
    fn a_backup_to_cloud_volumes_goes_through_the_page_cache() {
        let is_direct = |drives: &str, name: &str| {
            let work = Work::find(name, &Drives::read(drives).unwrap()).unwrap();
            let keys = work.tables["workload"][name].as_table().unwrap();
            let is_past = work.past_the_page_cache.is_some();
            assert_eq!(is_past, !keys.contains_key("direct"), "{drives}");
            // The answer has a line on it, which is enough.
            assert_eq!(work.warnings, [""; 0]);
            !keys.contains_key("direct")
        };
        assert!(!is_direct("8x st1[size=500GiB]", "backup") && !is_direct("4x gp3", "backup"));
        assert!(is_direct("8x io2[iops=50000]", "backup") && is_direct("4x 980 pro 1tb", "backup"));
        assert!(is_direct("4x gp3", "media"));
    }

    /// What a work with a name has by itself nobody has asked for.
    #[test]
    fn only_ones_own_work_names_the_write_caches() {
        let drives = Drives::read("4x st18000nm000j").unwrap();
        let names = |file: &str| {
            let path = format!("{}/workloads/{file}", env!("CARGO_MANIFEST_DIR"));
            Work::find(&path, &drives).unwrap().names_caches
        };
        assert!(names("vm.toml") && !names("backup.toml"));
        assert!(!Work::find("vm", &drives).unwrap().names_caches);
    }

    /// The write caches of disks are asked for off where all that a job writes is small and random, and nobody has said
    /// how they are.
    #[test]
    fn a_job_of_small_random_writes_is_asked_without_write_caches() {
        let caches_of = |drives: &str, options: &str| {
            let job = fio::read("job.fio", &format!("[global]\nsize=1g\n{options}")).unwrap();
            let mut work = Work::read("job", "job.fio", &job.experiment, Vec::new()).unwrap();
            work.turn_caches_off(&Drives::read(drives).unwrap().drive);
            let said =
                work.warnings.iter().any(|text| text.contains("have to be simulated only to fill"));
            assert_eq!(said, work.tables.contains_key("drive"), "{:?}", work.warnings);
            work.tables.get("drive").map(ToString::to_string)
        };
        let small = "[a]\nrw=randrw\nbs=8k\n";
        assert!(caches_of("4x st18000nm000j", small).is_some_and(|drive| drive.contains("false")));
        for (drives, options) in [
            ("4x st18000nm000j[write_cache=true]", small),
            ("4x 980 pro 1tb", small),
            ("4x st18000nm000j", "[a]\nrw=randread\nbs=8k\n"),
            ("4x st18000nm000j", "[a]\nrw=randwrite\nbs=1m\n"),
            ("4x st18000nm000j", "[a]\nrw=randwrite\nbs=4k\n[b]\nrw=write\nbs=1m\n"),
        ] {
            assert_eq!(caches_of(drives, options), None, "{drives} {options}");
        }
    }

    /// A job's log, which comes first by name, stays as it is.
    #[test]
    fn knobs_turn_what_goes_as_fast_as_it_can() {
        let text = "[global]\nsize=1g\nioengine=libaio\n[log]\nrw=write\nbs=16k\niodepth=2\nfdatasync=1\nrate_iops=500\n\
                    [oltp]\nrw=randrw\nbs=8k\niodepth=32\n";
        let job = fio::read("job.fio", text).unwrap();
        let mut work = Work::read("job", "job.fio", &job.experiment, Vec::new()).unwrap();
        assert_eq!(work.knobs().depth, Some(32));
        work.turn(&Knobs { depth: Some(64), ..Knobs::default() }).unwrap();
        let depth = |name: &str| work.tables["workload"][name]["depth"].as_integer();
        assert_eq!((depth("oltp"), depth("log")), (Some(64), Some(2)));
    }
}
