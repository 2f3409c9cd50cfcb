//! Which kind of work on which kind of system a result is of.

use super::pair::Devices;
use super::{Pair, closed, latencies, streams};
use crate::stated::Stated;
use block::layout::System;
use block::units::{parse_sectors, parse_weighted};
use block::{Level, SECTOR_BYTES};
use std::collections::BTreeSet;
use store::Manifest;
use store::factor::Role;
use store::known::KnownDrive;
use store::members::stated_failed;
use store::record::Record;

/// What is asked: kinds of work on kinds of systems, and what is chosen there.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The classes, as the data have them: `ffs:untar`, `md-writes`.
    classes: BTreeSet<String>,
    /// What was varied and can be chosen; of an interleave, with the level that it is of.
    factors: BTreeSet<String>,
    /// The classes of drawn cells, where all of it is like some of these: nothing where it is not.
    drawn: BTreeSet<&'static str>,
    /// Whether flash drives are among those that it runs on.
    has_flash: bool,
    /// Whether volumes behind a network are among them.
    has_remote: bool,
}

/// What the kernel rig showed of work on files that the model does badly, as times: the worst cell of each in
/// docs/filesystems.md.
const TIMES_OFF: &[(&str, f64)] =
    &[("ext4:untar", 1.51), ("ext4:newfs", 1.37), ("ext4:mail", 1.32)];

/// File systems whose work is modelled, as classes begin.
const OF_FILES: [&str; 2] = ["ffs:", "ext4:"];

/// Systems in words, where something may hold them.
const SYSTEMS: &[(&str, &str)] = &[
    (DRIVES, "requests to a drive"),
    ("stripes", "raw requests to a stripe or mirror"),
    (MD_BUFFERED, "buffered writes in order to md's RAID 5 and 6"),
    (MD_WRITES, "direct writes in order to md's RAID 5 and 6"),
    (MD_READ_AHEAD, "reads in order through the page cache of md"),
    (MD_READ_AHEAD_LARGE, "reads in order through the page cache of md, with chunks above 1 MiB"),
    (latencies::MEANS, "mean times of random requests that come at a rate, over Linux's layouts"),
    (
        latencies::PERCENTILES,
        "99th percentiles of random requests that come at a rate, over Linux's layouts",
    ),
    (latencies::RARE, "how long such requests take"),
    (
        streams::RATES,
        "the rate of small random requests with a flushed log beside them, over Linux's layouts",
    ),
    (
        streams::MEANS,
        "mean times of small random requests and of the flushed log beside them, over Linux's layouts",
    ),
    (
        streams::PERCENTILES,
        "99th percentiles of small random requests and of the flushed log beside them, over Linux's layouts",
    ),
    (streams::OTHER, "such streams side by side"),
    (closed::RANDOM_READS, "random reads over Linux's layouts"),
    (closed::RANDOM_WRITES, "random writes over Linux's layouts"),
    (closed::READS_IN_ORDER, "direct reads in order over Linux's layouts"),
    (closed::WRITES_IN_ORDER, "direct writes in order over Linux's layouts"),
    (
        MD_READ_AHEAD_SET,
        "reads in order through the page cache of md, with a read-ahead that was set",
    ),
];

/// What is asked of these records, which are judged by these `samples`.
pub(super) fn asked<'a>(
    manifest: &Manifest,
    records: impl IntoIterator<Item = &'a Record>,
    samples: &[&str],
) -> Asked {
    let mut asked = Asked {
        has_flash: manifest.drives.values().any(KnownDrive::is_flash),
        has_remote: manifest.drives.values().any(|drive| drive.is_remote),
        ..Asked::default()
    };
    let mut are_drawn = !manifest.are_remote();
    let mut are_like_the_cells = true;
    let mut are_grouped = false;
    let settings = manifest.settings();
    for record in records {
        let stated = Stated::new(&record.at, &record.workload, &settings);
        are_like_the_cells &= is_like_the_cells(&stated);
        let only_read = manifest.only_read.contains(&record.workload);
        let drawn = in_a_closed_loop(&stated, only_read);
        are_drawn &= drawn.is_some();
        asked.drawn.extend(drawn);
        let streams = stated.streams();
        are_grouped |= !streams.is_empty();
        if streams.is_empty() {
            asked.classes.insert(class(manifest, &record.workload, &stated));
        } else {
            asked.classes.extend(classes_of_streams(manifest, &streams, samples));
        }
        for path in record.at.keys().filter(|path| manifest.factors.role(path) == Role::Choice) {
            asked.factors.insert(factor(path, &stated));
        }
    }
    // In a closed loop a mean is the number in flight over the rate, which rates test; percentiles they do not.
    let class = match latencies::class(samples.iter().copied()) {
        // The cells are of drives, whose times say nothing of a cloud's.
        Some(_) if manifest.are_remote() => Some(latencies::RARE),
        Some(latencies::MEANS) if !are_like_the_cells => None,
        Some(_) if !are_like_the_cells => Some(latencies::RARE),
        class => class,
    };
    if !are_drawn || class.is_some() || asked.is_drives_alone() {
        asked.drawn.clear();
    }
    if let Some(class) = class.filter(|_| !are_grouped && !asked.is_drives_alone()) {
        asked.classes = BTreeSet::from([class.into()]);
    }
    asked
}

/// Whether it is what the cells of times are of: random direct requests that come at a rate, to Linux's layouts of
/// which nothing failed.
fn is_like_the_cells(stated: &Stated<'_>) -> bool {
    let own = |key: &str| stated.own(key);
    let comes = own("arrivals").is_some_and(|arrivals| arrivals != "closed");
    own("kind").is_some_and(|kind| kind == "random")
        && (comes || own("requests_per_s").is_some() || own("rate").is_some())
        && is_on_linux_as_built(stated)
}

/// What the drawn cells set of a workload, and how long it goes on. Any other key makes it another load.
const KEYS_OF_DRAWN: [&str; 13] = [
    "kind",
    "op",
    "reads_percent",
    "block",
    "depth",
    "jobs",
    "programs",
    "direct",
    "engine",
    "count",
    "amount",
    "runtime",
    "arrivals",
];

/// What md remembers of writes in none of the drawn cells.
const NOT_REMEMBERED: [&str; 2] = ["volume.bitmap", "volume.ppl"];

/// Which drawn cells it is like, if any: direct requests to Linux's layouts of which nothing failed, so many in flight.
fn in_a_closed_loop(stated: &Stated<'_>, only_read: bool) -> Option<&'static str> {
    let own = |key: &str| stated.own(key);
    let is_random = match own("kind")?.as_str() {
        "random" => true,
        "sequential" => false,
        _ => return None,
    };
    let is_open = own("arrivals").is_some_and(|arrivals| arrivals != "closed");
    let streams = if is_random { 1 } else { count(stated, "jobs") };
    let bytes_max = if is_random { closed::RANDOM_BYTES_MAX } else { closed::IN_ORDER_BYTES_MAX };
    let level = stated.value("volume.level").unwrap_or_default();
    let remembers =
        |path: &&str| stated.value(path).is_some_and(|is| !["none", "false"].contains(&&*is));
    let is_like = stated.keys().all(|key| KEYS_OF_DRAWN.contains(&key))
        && !is_open
        && streams == 1
        && !NOT_REMEMBERED.iter().any(remembers)
        && in_flight(stated) <= closed::IN_FLIGHT_MAX
        && largest_bytes(stated).is_none_or(|bytes| bytes <= bytes_max)
        && closed::has(&level)
        && !stated.runs_program()
        && is_on_linux_as_built(stated);
    is_like.then(|| closed::class(is_random, only_read))
}

/// A number of a workload, which is 1 where it has none.
fn count(stated: &Stated<'_>, key: &str) -> u64 {
    stated.own(key).and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// How many requests are in flight at most.
fn in_flight(stated: &Stated<'_>) -> u64 {
    count(stated, "depth") * count(stated, "jobs")
}

/// Whether it is direct requests to a layout of Linux's of which nothing failed.
fn is_on_linux_as_built(stated: &Stated<'_>) -> bool {
    let level = stated.value("volume.level").unwrap_or_default();
    let failed = stated.value("volume.failed");
    stated.own("direct").is_none_or(|direct| direct == "true")
        && ["md-", "lvm-", "dm-"].iter().any(|of| level.starts_with(of))
        && failed.is_none_or(|failed| stated_failed(&failed).is_empty())
        && stated.value("volume.rebuild").is_none()
        && stated.value("volume.controller").is_none_or(|name| name == "none")
}

/// The classes of streams side by side: one for all where they are requests, and each its own on files or on a drive alone.
fn classes_of_streams(
    manifest: &Manifest,
    streams: &[(String, Stated<'_>)],
    samples: &[&str],
) -> BTreeSet<String> {
    let own = |(name, stated): &(String, Stated<'_>)| class(manifest, name, stated);
    let has_files = streams.iter().any(|(_, stated)| stated.runs_program());
    let classes: BTreeSet<String> = streams.iter().map(own).collect();
    if has_files || classes.iter().all(|class| class == DRIVES) {
        return classes;
    }
    let kinds = || streams.iter().map(|(_, stated)| of_a_database(stated));
    let has = |wanted: OfADatabase| kinds().any(|kind| kind == Some(wanted));
    let are_like_the_cells = !manifest.are_remote()
        && kinds().all(|kind| kind.is_some())
        && has(OfADatabase::Pages)
        && has(OfADatabase::Log);
    let class =
        if are_like_the_cells { streams::class(samples.iter().copied()) } else { streams::OTHER };
    BTreeSet::from([class.into()])
}

/// What the cells of streams are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfADatabase {
    /// Small random requests.
    Pages,
    /// Writes in order, one at a time, each flushed.
    Log,
}

/// Which of them it is, direct and to Linux's layouts of which nothing failed; none where it is like no cell.
fn of_a_database(stated: &Stated<'_>) -> Option<OfADatabase> {
    let own = |key: &str| stated.own(key);
    let in_flight = in_flight(stated);
    let flushes = own("flush_every").is_some_and(|every| every == "1");
    let is_open = own("arrivals").is_some_and(|arrivals| arrivals != "closed");
    let (of, most) = match own("kind")?.as_str() {
        "random" if is_open || in_flight <= streams::IN_FLIGHT_MAX => {
            (OfADatabase::Pages, streams::PAGE_BYTES_MAX)
        }
        "sequential" if own("op")? == "write" && flushes && in_flight == 1 => {
            (OfADatabase::Log, streams::APPEND_BYTES_MAX)
        }
        _ => return None,
    };
    let is_small = largest_bytes(stated).is_none_or(|bytes| bytes <= most);
    (is_small && is_on_linux_as_built(stated)).then_some(of)
}

/// The size of the largest requests; nothing where none is said.
fn largest_bytes(stated: &Stated<'_>) -> Option<u64> {
    let sectors = match stated.own("sizes") {
        Some(sizes) => sizes.split(':').filter_map(|part| parse_weighted(part)?.0.ok()).max(),
        None => parse_sectors(&stated.own("block")?).ok(),
    };
    Some(sectors? * SECTOR_BYTES)
}

/// A factor as pairs have it: an interleave is one of a level.
pub(super) fn factor(path: &str, stated: &Stated<'_>) -> String {
    match (path, stated.value("volume.level")) {
        ("volume.interleave", Some(level)) => format!("{path} of {level}"),
        _ => path.into(),
    }
}

/// The class of what only a drive decides.
const DRIVES: &str = "drives";

/// The kind of work on the kind of system.
pub(super) fn class(manifest: &Manifest, workload: &str, stated: &Stated<'_>) -> String {
    if manifest.host_is_real() {
        return DRIVES.into();
    }
    let kind = stated.own("kind").or_else(|| stated.own("program")).unwrap_or_else(|| "dd".into());
    let has_files = stated.runs_program();
    if stated.value("volume.controller").is_some_and(|name| name != "none") {
        return format!("box:{kind}");
    }
    if has_files {
        let system = stated.value("fs.kind").unwrap_or_else(|| "ffs".into());
        return format!("{system}:{kind}");
    }
    let level = stated.value("volume.level").unwrap_or_default();
    let reads = manifest.only_read.iter().any(|name| name == workload);
    let in_order = ["dd", "sequential", "strided"].contains(&kind.as_str());
    let failed = stated.value("volume.failed");
    let down = failed.is_some_and(|failed| !stated_failed(&failed).is_empty());
    if down {
        return format!("{level} with members down");
    }
    match level.as_str() {
        "single" => DRIVES.into(),
        "stripe" | "concat" | "mirror" | "raidframe-mirror" => "stripes".into(),
        level if System::of(level) == Some(System::Md) => {
            let buffered = stated.own("direct").is_some_and(|direct| direct == "false");
            if buffered && in_order && reads {
                let read_ahead = stated.value("volume.read_ahead");
                let sectors =
                    stated.value("volume.interleave").and_then(|sectors| sectors.parse().ok());
                let chunk_kib = sectors.map_or(0, |sectors: u64| sectors * SECTOR_BYTES / 1024);
                return of_read_ahead(read_ahead.as_deref().unwrap_or(AUTO), chunk_kib).into();
            }
            of_md(level, in_order, reads, buffered)
        }
        level => level.into(),
    }
}

/// The read-ahead that Linux takes by itself.
const AUTO: &str = "auto";

/// Reads in order through the page cache of md, whatever the level, which decides little there. Chunks above 1 MiB are another
/// matter: reads meet in md's own order there, which the model does not have of RAID 10 (docs/md.md).
pub(super) fn of_read_ahead(read_ahead: &str, chunk_kib: u64) -> &'static str {
    match (read_ahead, chunk_kib) {
        (AUTO, 0..=1024) => MD_READ_AHEAD,
        (AUTO, _) => MD_READ_AHEAD_LARGE,
        _ => MD_READ_AHEAD_SET,
    }
}

/// Requests to md: writes in order to its RAID 5 and 6 are one class, whatever the level; a mirror or a stripe is one each.
pub(super) fn of_md(level: &str, in_order: bool, reads: bool, buffered: bool) -> String {
    // Arrays side by side share one writer, which is another matter.
    let is_nested = level.parse::<Level>().is_ok_and(|level| level.nested().is_some());
    let has_rows =
        ["md-raid5", "md-raid6"].iter().any(|name| level.starts_with(name)) && !is_nested;
    match (has_rows, in_order, reads) {
        (false, ..) if buffered => format!("{level}, buffered"),
        (false, ..) => level.into(),
        (true, true, false) if buffered => MD_BUFFERED.into(),
        (true, true, false) => MD_WRITES.into(),
        (true, _, reads) => {
            let order = if in_order { "in order" } else { "at random" };
            format!("{level}, {} {order}", if reads { "reads" } else { "writes" })
        }
    }
}

/// Buffered writes in order to md's RAID 5 and 6.
const MD_BUFFERED: &str = "md-buffered-writes";

/// Direct ones.
const MD_WRITES: &str = "md-writes";

/// Reads in order through the page cache, with the read-ahead that Linux takes by itself, and with another.
const MD_READ_AHEAD: &str = "md-read-ahead:auto";
const MD_READ_AHEAD_LARGE: &str = "md-read-ahead:large";
const MD_READ_AHEAD_SET: &str = "md-read-ahead:set";

impl Asked {
    /// A class without factors, for tests.
    #[cfg(test)]
    pub(super) fn of_test(class: &str) -> Self {
        Asked { classes: BTreeSet::from([class.into()]), ..Asked::default() }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.classes.is_empty()
    }

    /// The same, asked of drawn cells; nothing where it is like none of them.
    pub(super) fn as_closed_loops(&self) -> Option<Self> {
        let classes: BTreeSet<String> = self.drawn.iter().map(ToString::to_string).collect();
        (!classes.is_empty()).then(|| Asked { classes, ..self.clone() })
    }

    /// Whether nothing but drives is modelled.
    pub(super) fn is_drives_alone(&self) -> bool {
        self.classes.iter().all(|class| class == DRIVES)
    }

    /// How many times as long as on the real kernel the model takes, or the reverse, for work that no test holds it to.
    pub(super) fn times_off(&self) -> Option<f64> {
        let of = |class: &String| TIMES_OFF.iter().find(|(of, _)| of == class).map(|of| of.1);
        self.classes.iter().filter_map(of).reduce(f64::max)
    }

    /// Whether md's direct writes are asked about, which buffered ones are not like.
    pub(super) fn has_md_writes(&self) -> bool {
        self.classes.contains(MD_WRITES)
    }

    /// Whether a pair was measured on such devices: disks say nothing of flash nor flash of disks, and neither says anything of
    /// a cloud's volumes, which bill I/Os and answer over a network.
    pub(super) fn is_on_such(&self, pair: &Pair) -> bool {
        !self.has_remote && self.has_flash == (pair.devices == Devices::Flash)
    }

    pub(super) fn is_of_class(&self, pair: &Pair) -> bool {
        self.classes.contains(&pair.class)
    }

    /// Whether a pair is of what is asked of one kind of system: the same work, chosen by the same. Where one layout has a
    /// controller and the other has none, that is the choice.
    pub(super) fn is_answered_by(&self, pair: &Pair) -> bool {
        let factor = self.factors.contains(&pair.factor) || pair.factor == CONTROLLER;
        factor && self.is_of_class(pair)
    }

    /// The kinds of work on kinds of systems.
    pub(super) fn classes(&self) -> impl Iterator<Item = &String> {
        self.classes.iter()
    }

    /// Whether it is work on files on a computer's own file system, and so is a pair's.
    pub(super) fn is_near(&self, pair: &Pair) -> bool {
        let of_files = |class: &String| OF_FILES.iter().any(|system| class.starts_with(system));
        self.classes.iter().any(of_files) && of_files(&pair.class)
    }

    /// Whether the layouts are of one kind of system; a controller was held against none.
    pub(super) fn is_one_system(&self) -> bool {
        let system = |class: &String| class.split(':').next().unwrap_or(class).to_string();
        let mut systems: BTreeSet<String> = self.classes.iter().map(system).collect();
        if systems.contains("box") {
            systems.remove("ffs");
        }
        systems.len() == 1
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let words: BTreeSet<String> = self.classes.iter().map(|class| words(class)).collect();
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        match all.as_slice() {
            [first, second, _, ..] => format!("{first}, {second} and {} more", all.len() - 2),
            all => all.join(" and "),
        }
    }
}

/// What tells a layout with a controller from one without.
pub(super) const CONTROLLER: &str = "volume.controller";

fn words(class: &str) -> String {
    if let Some((_, words)) = SYSTEMS.iter().find(|(name, _)| *name == class) {
        return (*words).into();
    }
    match class.split_once(':') {
        Some(("box", kind)) => format!("{kind} behind a RAID controller"),
        Some(("ffs", kind)) => format!("{kind} on FFS"),
        Some((system, kind)) => format!("{kind} on {system}"),
        None => match class.split_once(", ") {
            Some((level, "buffered")) => format!("buffered requests to {level}"),
            Some((level, requests)) => format!("{requests} on {level}"),
            None => format!("requests to {class}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "requests to md-raid6, reads in order" in a list was two things.
    #[test]
    fn a_class_is_said_in_words() {
        for (class, said) in [
            (of_md("md-raid6", true, true, false), "reads in order on md-raid6"),
            (of_md("md-raid5", false, false, false), "writes at random on md-raid5"),
            (of_md("md-raid10-f3", true, false, true), "buffered requests to md-raid10-f3"),
            (of_md("md-stripe", true, true, false), "requests to md-stripe"),
            ("ffs:untar".into(), "untar on FFS"),
        ] {
            assert_eq!(words(&class), said);
        }
    }
}
