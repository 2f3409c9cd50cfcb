//! `trace`: requests that somebody else's machine made.

use super::{Build, Kind, Traces};
use crate::error::{Error, Result};
use crate::keys::{FromValue, Section, Takes, Value, keys, load, words};
use crate::trace::{Format, MALFORMED_MAX, SORTED, Survey, Trace};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

words! {
    impl Format {
        Fio2 = "fio2",
        Fio3 = "fio3",
        Blkparse = "blkparse",
        Msr = "msr",
        Alibaba = "alibaba",
        Tencent = "tencent",
        Spc = "spc",
        Systor = "systor",
    }
}

words! {
    /// When the requests of a trace are made.
    pub enum Replay {
        /// At their own times.
        Open = "open",
        /// As fast as they are done.
        Closed = "closed",
    }
}

/// How many times as fast, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(u64);

impl Speed {
    const TAKES: Takes = Takes::Form {
        expects: "how many times as fast, from 0.001 to 1000, as in \"2\" or \"0.5\"",
        read: |text| match Speed::parse(text) {
            Some(_) => Ok(text.trim().to_string()),
            None => Err(Error::input(format!(
                "`{text}` is not a number from 0.001 to 1000; write how many times as fast, as in \"2\" or \"0.5\""
            ))),
        },
    };

    fn parse(text: &str) -> Option<Self> {
        let times: f64 = text.trim().trim_end_matches('x').parse().ok()?;
        (0.001..=1000.0).contains(&times).then(|| Speed((times * 1e6).round() as u64))
    }

    /// In millionths.
    pub fn millionths(self) -> u64 {
        self.0
    }
}

impl FromValue for Speed {
    fn from_value(value: &Value) -> Option<Self> {
        Speed::parse(&value.to_string())
    }
}

keys! {
    /// The keys of `trace`.
    pub struct TraceKeys {
        /// File of the trace, plain, gzip or zstd; several, joined by +, are merged by their times
        file: Option<String> = load("file", Takes::Text),
        /// Format of the file [default: told by the first line that fits only one]
        format: Option<Format> = load("format", Takes::words::<Format>()),
        /// Disks of the trace that count, joined by +, as in `usr,0+usr,1`, or with colons, which need no quotes after `--set`:
        /// `usr:0+usr:1` [default: all of them]
        disks: Option<String> = load("disks", Takes::Text),
        /// `open`: each request at its own time, whether or not earlier ones are done; `closed`: in their order,
        /// `depth` in flight, as where the trace has no times and nothing is set
        replay: Replay = load("replay", Replay::TAKES).default("open"),
        /// How many times as fast an open replay is, as in `2` or `0.5`
        speed: Speed = load("speed", Speed::TAKES).default("1"),
        /// Requests in flight of a closed replay
        depth: u64 = load("depth", Takes::Count(1, 65_536)).default("1"),
        /// Requests of the trace that are replayed [default: all of them]
        count: Option<u64> = load("count", Takes::Count(1, 1_000_000_000_000)),
        /// Parts of the trace, of as many requests each, that are trials of their own: they run side by side, and on several
        /// machines (`--shard`)
        windows: u64 = load("windows", Takes::Count(1, WINDOWS_MAX)).default("1"),
        /// Requests before each part but the first that are replayed first and not counted
        warm_up: u64 = load("warm_up", Takes::Count(1, 1_000_000_000_000)).default("10000"),
    }
}

/// The most windows of a trace: as many lines has its cell.
const WINDOWS_MAX: u64 = 10_000;

pub(super) static KIND: Kind = Kind {
    name: "trace",
    about: "Replays a block trace: fio's iolog, blkparse, MSR Cambridge, Alibaba, Tencent, SPC, Systor",
    keys: &[TraceKeys::KEYS],
    samples: &[],
    build: Build::Trace(read),
};

/// A trace that a workload replays.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The workload's name.
    pub name: String,
    /// Its keys.
    pub keys: TraceKeys,
    /// The trace.
    pub trace: Arc<Trace>,
    /// What a first reading has found.
    pub survey: Arc<Survey>,
    /// The part of it that is replayed, where it is one of several.
    pub part: Option<TracePart>,
}

/// One window of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePart {
    /// Which one, from 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
    /// How many requests of the trace come before the first that is replayed.
    pub skipped: u64,
    /// So many warm the volume up and do not count.
    pub warm_up: u64,
    /// So many count.
    pub requests: u64,
}

/// The traces that an experiment names, each read once beforehand.
#[derive(Debug, Default)]
pub struct KnownTraces {
    known: BTreeMap<String, (Arc<Trace>, Arc<Survey>)>,
    /// By files, the digest of each.
    pub digests: BTreeMap<String, String>,
    /// What is odd about them.
    pub warnings: Vec<String>,
}

fn read(name: &str, section: &Section<'_>, traces: &mut Traces) -> Result<Replayed> {
    let mut keys = TraceKeys::read(section);
    let wrong = |key: &str, why: &str| Err(Error::input(format!("`{}` {why}", section.path(key))));
    let Some(files) = keys.file.clone() else {
        return wrong("file", "is not set: give the file of the trace");
    };
    let (trace, survey) = opened(&keys, &files, section, traces)?;
    // fio's iolog of version 2 has no times, and nothing else can be asked of it.
    let is_without_times = survey.span_ns == 0 && survey.requests > 1;
    if is_without_times && !section.sets("replay") && !section.sets("speed") {
        keys.replay = Replay::Closed;
        traces.note_without_times(section, &files, keys.depth);
    }
    if keys.replay == Replay::Open && section.sets("depth") {
        return wrong(
            "depth",
            "has no effect where requests come at their own times; set `replay = \"closed\"`",
        );
    }
    if keys.replay == Replay::Closed && section.sets("speed") {
        return wrong("speed", "has no effect where requests wait for each other; leave it out");
    }
    if keys.replay == Replay::Open {
        check_order(&files, &survey)
            .map_err(|error| error.context(format!("`{}`", section.path("file"))))?;
        traces.note_apart(&section.path("file"), &survey);
    }
    if keys.replay == Replay::Open && is_without_times {
        return wrong(
            "replay",
            "= open needs times, and the trace has none; set `replay = \"closed\"`",
        );
    }
    let replayed = Replayed { name: name.into(), keys, trace, survey, part: None };
    replayed.check_windows(section)?;
    Ok(replayed)
}

/// The trace and what is in it; each is read once.
fn opened(
    keys: &TraceKeys,
    files: &str,
    section: &Section<'_>,
    traces: &mut Traces,
) -> Result<(Arc<Trace>, Arc<Survey>)> {
    let of = format!("{files} {:?} {:?}", keys.format, keys.disks);
    if !traces.known.contains_key(&of) {
        let at = |error: Error| error.context(format!("`{}`", section.path("file")));
        let split = |text: &str| text.split('+').map(|part| part.trim().to_string()).collect();
        let disks: Vec<String> = keys.disks.as_deref().map_or_else(Vec::new, split);
        let paths: Vec<PathBuf> = files.split('+').map(|part| part.trim().into()).collect();
        let trace = Trace::open(paths, keys.format, disks).map_err(at)?;
        let survey = trace.survey().map_err(at)?;
        traces.note(&section.path("file"), files, &survey);
        traces.known.insert(of.clone(), (Arc::new(trace), Arc::new(survey)));
    }
    Ok(traces.known[&of].clone())
}

/// Whether the lines of a trace are in the order of their times, nearly: otherwise most would come at once.
fn check_order(files: &str, survey: &Survey) -> Result<()> {
    let (early, requests) = (survey.odd.early, survey.requests);
    if early as f64 <= MALFORMED_MAX * requests as f64 {
        return Ok(());
    }
    Err(Error::input(format!(
        "{files}: {early} of {requests} requests have an earlier time than one {SORTED} lines before them, and 1 % may: the \
         times run backwards; sort the file by time, or set `replay = \"closed\"`"
    )))
}

impl KnownTraces {
    /// What there is to say of a trace that was read.
    fn note(&mut self, path: &str, files: &str, survey: &Survey) {
        self.digests.insert(files.into(), survey.digest.clone());
        let odd = &survey.odd;
        if odd.malformed > 0 {
            let first = odd.first_malformed.as_deref().unwrap_or_default();
            self.warnings.push(match odd.malformed {
                1 => format!("`{path}`: 1 malformed line of {files} is left out: {first}"),
                lines => format!(
                    "`{path}`: {lines} malformed lines of {files} are left out, the first is {first}"
                ),
            });
        }
        if odd.early > 0 {
            let (requests, come) = match odd.early {
                1 => (
                    "1 request".to_string(),
                    "has an earlier time than a line far before it, and comes",
                ),
                early => (
                    format!("{early} requests"),
                    "have an earlier time than a line far before them, and come",
                ),
            };
            self.warnings.push(format!("`{path}`: {requests} of {files} {come} with it"));
        }
    }
}

impl KnownTraces {
    /// Says that a trace has no times, once.
    fn note_without_times(&mut self, section: &Section<'_>, files: &str, depth: u64) {
        let warning = format!(
            "`{}`: {files} has no times, so its requests are replayed in their order as fast as they are done, {depth} in flight \
             (`{}`)",
            section.path("file"),
            section.path("depth")
        );
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Says that nothing comes for a day or more between two files, once.
    fn note_apart(&mut self, path: &str, survey: &Survey) {
        let Some(apart) = &survey.odd.apart else { return };
        let warning = format!(
            "`{path}`: {apart}, and nothing comes in between; give traces of one time, or set `replay = \"closed\"`"
        );
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

impl Replayed {
    /// Whether any of its requests changes what the volume holds.
    pub fn writes(&self) -> bool {
        self.survey.writes > 0
    }

    /// How many requests are replayed at most, those of all windows together.
    pub fn requests(&self) -> u64 {
        self.keys.count.unwrap_or(u64::MAX).min(self.survey.requests)
    }

    fn check_windows(&self, section: &Section<'_>) -> Result<()> {
        let TraceKeys { windows, warm_up, .. } = self.keys;
        let requests = self.requests();
        let wrong =
            |key: &str, why: String| Err(Error::input(format!("`{}` {why}", section.path(key))));
        if windows > requests {
            return wrong(
                "windows",
                format!(
                    "= {windows} is more than the {requests} requests of the trace; take fewer"
                ),
            );
        }
        if windows > 1 && self.keys.replay == Replay::Closed {
            self.check_closed_windows(&wrong)?;
        }
        if section.sets("warm_up") && !section.sets("windows") {
            return wrong("warm_up", "has no effect without `windows`; set it, too".into());
        }
        if section.sets("warm_up") && warm_up >= requests {
            return wrong(
                "warm_up",
                format!(
                    "= {warm_up} is as long as the trace, which has {requests} requests; take less, or no `windows`"
                ),
            );
        }
        Ok(())
    }

    /// Where requests wait for each other, a window begins with as many at once as are in flight: the warm-up has to be those, and
    /// what counts more.
    fn check_closed_windows(&self, wrong: &dyn Fn(&str, String) -> Result<()>) -> Result<()> {
        let TraceKeys { windows, warm_up, depth, .. } = self.keys;
        let (shortest, depth) = (self.requests() / windows, depth);
        if shortest <= depth {
            let why = "with `replay = \"closed\"` each has to be longer than what is in flight; take fewer";
            return wrong(
                "windows",
                format!(
                    "= {windows} makes windows of {shortest} requests, {depth} in flight: {why}"
                ),
            );
        }
        if warm_up < depth {
            let why = "with `replay = \"closed\"` all that is in flight begins at once";
            return wrong(
                "warm_up",
                format!(
                    "= {warm_up} is less than the {depth} requests in flight; {why}; take more"
                ),
            );
        }
        Ok(())
    }

    /// Its windows, in order, each of which is replayed by a trial of its own; itself where there is one.
    pub fn windows(&self) -> Vec<Replayed> {
        let of = self.keys.windows;
        if of == 1 {
            return vec![self.clone()];
        }
        let start = |number: u64| {
            (u128::from(self.requests()) * u128::from(number) / u128::from(of)) as u64
        };
        let part = |number: u64| {
            let (first, end) = (start(number - 1), start(number));
            let warm_up = self.keys.warm_up.min(first);
            TracePart { number, of, skipped: first - warm_up, warm_up, requests: end - first }
        };
        (1..=of).map(|number| Replayed { part: Some(part(number)), ..self.clone() }).collect()
    }
}
