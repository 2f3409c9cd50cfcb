//! Traces of block devices as workloads: read line by line, twice, and never held.
//!
//! The first reading counts: requests, disks and how far each reaches, lines that are not of the format, the digest of the
//! files. The second is the replay.

mod doubts;
mod ends;
pub mod format;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use doubts::doubts;
use ends::Ends;
pub use format::Format;
pub use source::{Oddities, SORTED};

use crate::error::{Error, Result};
use block::{Op, Request, SECTOR_BYTES};
use sha2::{Digest, Sha256};
use sim::workload::Traced;
use source::{Disks, Lines, Merged, Requests, format_of};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// A request as a trace has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it came, in ns since whatever the trace counts from.
    pub at_ns: u64,
    /// Which of the trace's disks it went to.
    pub disk: u32,
    /// What was asked.
    pub op: Op,
    /// Where, in bytes.
    pub offset_bytes: u64,
    /// How much.
    pub bytes: u64,
    /// Whether a flush has to be done before it is sent.
    pub flush_first: bool,
}

/// More malformed lines than this share of all are no trace: 1 %.
pub const MALFORMED_MAX: f64 = 0.01;

/// The speed of a trace at its own times, in millionths.
pub const ONCE: u64 = 1_000_000;

/// Disks of a trace start at multiples of this on the volume: 1 MiB.
const ALIGNED_SECTORS: u64 = 2048;
/// A share of a volume is a multiple of this: 4 KiB.
const SHARE_SECTORS: u64 = 8;

/// A trace: its files, and which of its disks count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its files, which are merged by their times.
    pub files: Vec<PathBuf>,
    /// The format of each.
    pub formats: Vec<Format>,
    /// The disks that count; none for all.
    pub disks: Vec<String>,
}

/// What a first reading of a trace has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Reads, writes, discards and flushes.
    pub requests: u64,
    /// Reads among them, and bytes of those.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes and discards among them.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Discards alone.
    pub discards: u64,
    /// Flushes.
    pub flushes: u64,
    /// When the first comes, in ns since whatever the trace counts from, and how long after it the last.
    pub origin_ns: u64,
    /// From the first request to the last.
    pub span_ns: u64,
    /// Each disk's name, and how many sectors it reaches to.
    pub disks: Vec<(String, u64)>,
    /// The largest request of each, in sectors.
    pub largest: Vec<u64>,
    /// Where the requests of each end, roughly.
    ends: Vec<Ends>,
    /// What is not replayed.
    pub odd: Oddities,
    /// A hash of the files.
    pub digest: String,
}

impl Trace {
    /// The trace in these files; of each the format is found where none is given.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or its format is not known.
    pub fn open(files: Vec<PathBuf>, format: Option<Format>, disks: Vec<String>) -> Result<Self> {
        let found = files.iter().map(|file| format.map_or_else(|| format_of(file), Ok));
        let formats = found.collect::<Result<Vec<Format>>>()?;
        Ok(Trace { files, formats, disks })
    }

    /// Reads all of it once.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, too many of its lines are malformed, or it has no reads and no writes.
    pub fn survey(&self) -> Result<Survey> {
        // The files are hashed one after the other whatever the order of reading.
        let digests: Vec<_> =
            self.files.iter().map(|_| Rc::new(RefCell::new(Sha256::new()))).collect();
        let mut merged = self.merged(|file| Some(Rc::clone(&digests[file])))?;
        let mut survey = Survey::nothing(merged.origin_ns());
        while let Some(entry) = merged.next()? {
            survey.note(&entry);
        }
        merged.note_apart();
        survey.odd = merged.odd.clone();
        let has: Vec<String> = merged.all_disks().map(String::from).collect();
        for (disk, name) in survey.disks.iter_mut().zip(merged.disks()) {
            disk.0.clone_from(name);
        }
        drop(merged);
        let mut whole = Sha256::new();
        for digest in digests {
            whole.update(digest.borrow().clone().finalize());
        }
        let hash = whole.finalize();
        let first: [u8; 8] = hash[..8].try_into().expect("a SHA-256 has 32 bytes");
        survey.digest = format!("{:016x}", u64::from_be_bytes(first));
        self.check(&survey, &has)?;
        Ok(survey)
    }

    /// `has` are all disks of the files, those that do not count among them.
    fn check(&self, survey: &Survey, has: &[String]) -> Result<()> {
        let named = self.named();
        let lines = survey.requests + survey.odd.malformed;
        if survey.odd.malformed as f64 > MALFORMED_MAX * lines as f64 {
            let first = survey.odd.first_malformed.as_deref().unwrap_or_default();
            return Err(Error::input(format!(
                "{named}: {} of {lines} lines are not of the format {}, and 1 % may be; the first is {first}; name the \
                 format by `format`, or mend the file",
                survey.odd.malformed,
                self.formats[0].word()
            )));
        }
        let Some(lacks) = survey.lacks() else { return Ok(()) };
        let wanted = self.disks.join(", ");
        let next = match self.disks.as_slice() {
            [] if survey.requests == 0 && self.formats.contains(&Format::Blkparse) => {
                "of blkparse's events only Q is replayed, a request as it comes, and D and C are not; trace with `blktrace` without `-a`, \
                 or with `-a queue`, and let blkparse print all of it"
                    .to_string()
            }
            [] => "give a trace that has some".to_string(),
            _ => format!("name other `disks` than {wanted}; {}", first_disks(has)),
        };
        Err(Error::input(format!("{named}: it has {lacks}; {next}")))
    }

    /// Its files, for messages.
    pub fn named(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        names.join(" + ")
    }

    fn merged(&self, digest: impl Fn(usize) -> Option<source::Hashed>) -> Result<Merged> {
        let files = self.files.iter().zip(&self.formats).enumerate();
        let files = files.map(|(index, (path, format))| {
            Ok(Requests::new(Lines::open(path, digest(index))?, *format))
        });
        Merged::new(files.collect::<Result<_>>()?, Disks::new(self.disks.clone()))
    }

    /// Its requests on a volume.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read.
    pub fn replay(
        &self,
        survey: &Arc<Survey>,
        onto: Onto,
        speed_millionths: u64,
    ) -> Result<Replaying> {
        let merged = self.merged(|_| None)?;
        Ok(Replaying {
            merged,
            origin_ns: survey.origin_ns,
            onto,
            speed_millionths,
            left: u64::MAX,
            error: None,
        })
    }
}

/// More disks than these are not listed in a message.
const LISTED_MAX: usize = 10;

/// The disks of a trace, as a message has them and `--set` takes them.
fn first_disks(disks: &[String]) -> String {
    let first = disks.iter().take(LISTED_MAX).map(String::as_str).collect::<Vec<_>>().join(" + ");
    let rest = disks.len().saturating_sub(LISTED_MAX);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let example = disks.iter().find(|name| name.contains(','));
    let spelling = example.map_or_else(String::new, |name| {
        let spelt = name.split(" of ").next().unwrap_or(name).replace(',', ":");
        format!("; a comma may be a colon, as in `--set` it has to be: {spelt}")
    });
    format!("it has {first}{more}{spelling}")
}

impl Survey {
    fn nothing(origin_ns: u64) -> Self {
        Survey {
            requests: 0,
            reads: 0,
            read_bytes: 0,
            writes: 0,
            write_bytes: 0,
            discards: 0,
            flushes: 0,
            origin_ns,
            span_ns: 0,
            disks: Vec::new(),
            largest: Vec::new(),
            ends: Vec::new(),
            odd: Oddities::default(),
            digest: String::new(),
        }
    }

    /// What it has, where nothing of that takes a time to compare: discards move nothing, and a flush waits for writes.
    fn lacks(&self) -> Option<String> {
        if self.requests == 0 {
            return Some("no requests".into());
        }
        let is_still = self.reads == 0 && self.writes == self.discards;
        let kinds = [("discards", self.discards), ("flushes", self.flushes)];
        let kinds = kinds.iter().filter(|(_, count)| *count > 0);
        let has: Vec<String> = kinds.map(|(kind, count)| format!("{kind} ({count})")).collect();
        is_still.then(|| {
            format!(
                "only {}; layouts are compared by how long reads and writes take",
                has.join(" and ")
            )
        })
    }

    fn note(&mut self, entry: &Entry) {
        self.requests += 1;
        self.flushes += u64::from(entry.flush_first);
        self.span_ns = entry.at_ns - self.origin_ns;
        let sectors = sectors_of(entry);
        let disk = entry.disk as usize;
        if disk >= self.disks.len() {
            self.disks.resize(disk + 1, (String::new(), 0));
            self.largest.resize(disk + 1, 0);
            self.ends.resize_with(disk + 1, Ends::default);
        }
        self.disks[disk].1 = self.disks[disk].1.max(sectors.0 + sectors.1);
        self.ends[disk].add(sectors.0 + sectors.1);
        self.largest[disk] = self.largest[disk].max(sectors.1);
        match entry.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes += entry.bytes;
            }
            Op::Flush => self.flushes += 1,
            _ => {
                self.writes += 1;
                self.discards += u64::from(entry.op == Op::Discard);
                self.write_bytes += entry.bytes;
            }
        }
    }
}

/// The sectors that a request touches: the first, and how many.
fn sectors_of(entry: &Entry) -> (u64, u64) {
    let first = entry.offset_bytes / SECTOR_BYTES;
    let end = (entry.offset_bytes + entry.bytes).div_ceil(SECTOR_BYTES);
    (first, end - first)
}

/// Where the disks of a trace are on a volume: one behind the other, each as long as it reaches, from a multiple of 1 MiB
/// on. Where that is more than the volume has, each gets its share, and what lies behind its end is folded back: sector
/// mod share. A fold keeps neighbours together, as halving every distance would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Onto {
    /// For each disk where it starts and how long it is.
    parts: Vec<(u64, u64)>,
    /// Whether anything is folded.
    pub is_folded: bool,
}

impl Onto {
    /// On a volume of so many sectors.
    ///
    /// # Errors
    ///
    /// Where a disk's share has no room for the largest request.
    pub fn volume(survey: &Survey, sectors: u64) -> Result<Self> {
        let aligned = |sectors: u64| sectors.div_ceil(ALIGNED_SECTORS) * ALIGNED_SECTORS;
        let lengths: Vec<u64> = survey.disks.iter().map(|(_, end)| aligned(*end)).collect();
        let all: u128 = lengths.iter().map(|&length| u128::from(length)).sum();
        // The last disk need not fill its last MiB.
        let slack =
            lengths.last().zip(survey.disks.last()).map_or(0, |(length, disk)| length - disk.1);
        let is_folded = all > u128::from(sectors) + u128::from(slack);
        let share = |length: u64| {
            let share = u128::from(length) * u128::from(sectors) / all.max(1);
            share as u64 / SHARE_SECTORS * SHARE_SECTORS
        };
        let mut start = 0;
        let mut parts = Vec::with_capacity(lengths.len());
        for (index, length) in lengths.into_iter().enumerate() {
            let length = if is_folded { share(length) } else { length.min(sectors - start) };
            // A disk that is not folded has room for all that it was asked.
            if length < survey.largest[index] {
                return Err(Error::input(format!(
                    "the volume of {sectors} sectors gives disk {} of the trace {length}, and its largest request has {}; \
                     take larger drives, or fewer `disks`",
                    survey.disks[index].0, survey.largest[index]
                )));
            }
            parts.push((start, length));
            start += length;
        }
        Ok(Onto { parts, is_folded })
    }

    /// The request on the volume. With a share of 1000 sectors, 8 at 2500 go to 500, and 8 at 1996 to 992.
    fn request(&self, entry: &Entry) -> Request {
        if entry.op == Op::Flush {
            return Request::flush();
        }
        let (first, sectors) = sectors_of(entry);
        let (start, length) = self.parts[entry.disk as usize];
        let folded =
            if first + sectors <= length { first } else { (first % length).min(length - sectors) };
        Request { target: 0, op: entry.op, sector: start + folded, sectors: sectors as u32 }
    }
}

/// The requests of a trace on a volume.
pub struct Replaying {
    merged: Merged,
    /// When the first request of the trace came.
    origin_ns: u64,
    onto: Onto,
    /// How many times as fast, in millionths.
    speed_millionths: u64,
    left: u64,
    error: Option<Error>,
}

impl Replaying {
    /// No more than so many requests.
    #[must_use]
    pub fn first(self, count: u64) -> Self {
        Replaying { left: count, ..self }
    }

    /// Without the first `count`, which are read. The others keep their times, so that platters are where they are when all
    /// are replayed; and the end of [`Replaying::first`] stays.
    #[must_use]
    pub fn skipping(mut self, count: u64) -> Self {
        self.left = self.left.saturating_sub(count);
        for _ in 0..count {
            if let Err(error) = self.merged.next() {
                self.error = Some(error);
                self.left = 0;
                break;
            }
        }
        self
    }

    /// A time since the first request, at the speed: 3 ms at 2,000,000 are 1.5 ms.
    fn scaled(&self, after_ns: u64) -> u64 {
        let scaled = u128::from(after_ns) * u128::from(ONCE) / u128::from(self.speed_millionths);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// Why it ended before the trace did.
    pub fn into_error(self) -> Option<Error> {
        self.error
    }
}

impl Iterator for Replaying {
    type Item = Traced;

    fn next(&mut self) -> Option<Traced> {
        self.left = self.left.checked_sub(1)?;
        let entry = match self.merged.next() {
            Ok(entry) => entry?,
            Err(error) => {
                self.error = Some(error);
                return None;
            }
        };
        let after_ns = entry.at_ns - self.origin_ns;
        let at_ns = if self.speed_millionths == ONCE { after_ns } else { self.scaled(after_ns) };
        let request = self.onto.request(&entry);
        Some(Traced { at_ns, request, flush_first: entry.flush_first })
    }
}
