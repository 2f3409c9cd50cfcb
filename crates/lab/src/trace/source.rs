//! A trace's requests, read as they are needed: plain, gzip and zstd, however long.

use super::Entry;
use super::format::{Format, Line};
use crate::error::{Error, Result};
use block::Op;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use store::input::BYTE_ORDER_MARK;

/// Longer lines are of no trace.
const LINE_BYTES: u64 = 65_536;
const BUFFER_BYTES: usize = 1 << 18;
/// So many requests of a file are read ahead and sorted by time: those of several streams are often written as they are done.
pub const SORTED: usize = 1024;
/// Files of one load are no further from each other, in ns.
const DAY_NS: u64 = 86_400_000_000_000;

/// A file of a trace, line by line.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// The file at `path`; what it holds is fed to `digest`, if there is one.
    pub(super) fn open(path: &Path, digest: Option<Hashed>) -> Result<Self> {
        let failed = |error: io::Error| {
            let next = "give the path of a trace: plain text, gzip or zstd";
            Error::input(format!("cannot read trace {}: {error}; {next}", path.display()))
        };
        // Opening a pipe waits until somebody writes to it.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other(
                "it is a directory, device, pipe or socket, not a regular file",
            )));
        }
        let file = File::open(path).map_err(failed)?;
        let raw: Box<dyn Read> = match digest {
            Some(digest) => Box::new(Hashing { inner: file, digest }),
            None => Box::new(file),
        };
        let mut raw = BufReader::with_capacity(BUFFER_BYTES, raw);
        let start = raw.fill_buf().map_err(failed)?;
        let reader: Box<dyn BufRead> = if start.starts_with(b"\x1f\x8b") {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(raw)))
        } else if start.starts_with(b"\x28\xb5\x2f\xfd") {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, Frames { raw: Some(raw), frame: None }))
        } else {
            Box::new(raw)
        };
        Ok(Lines { path: path.into(), reader, line: Vec::new(), number: 0 })
    }

    /// The next line without its end; none behind the last.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        let read = (&mut self.reader).take(LINE_BYTES).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| {
            let at = format!("{}, after line {}", self.path.display(), self.number);
            Error::input(format!("{at}: {error}; is the file whole?"))
        })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mark = BYTE_ORDER_MARK.as_bytes();
        let line = if self.number == 1 { self.line.strip_prefix(mark) } else { None };
        Ok(Some(line.unwrap_or(&self.line).trim_ascii_end()))
    }
}

/// A digest that is being made of what is read.
pub(super) type Hashed = std::rc::Rc<std::cell::RefCell<Sha256>>;

struct Hashing {
    inner: File,
    digest: Hashed,
}

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.digest.borrow_mut().update(&buffer[..count]);
        Ok(count)
    }
}

type Raw = BufReader<Box<dyn Read>>;

/// The frames of a zstd file, one after the other.
struct Frames {
    raw: Option<Raw>,
    frame: Option<Box<StreamingDecoder<Raw, ruzstd::decoding::FrameDecoder>>>,
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.raw = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut raw) = self.raw.take() else { return Ok(0) };
            if raw.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(raw).map_err(io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}

/// What a trace has that is not replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Lines that are not of the format.
    pub malformed: u64,
    /// The first of them: its file and number, and what it says.
    pub first_malformed: Option<String>,
    /// Requests with an earlier time than one that stands [`SORTED`] or more before them, with which they come.
    pub early: u64,
    /// Files between whose requests lies a day or more, as those whose clocks count from different years have.
    pub apart: Option<String>,
}

/// The requests of one file by their times, as far as [`SORTED`] of them say.
pub(super) struct Requests {
    lines: Lines,
    format: Format,
    /// Names of disks are those of this file alone.
    own_names: Option<String>,
    waited_ns: u64,
    /// What has been read ahead, by time; of equal times the earlier line first.
    sorted: VecDeque<Entry>,
    is_read: bool,
    /// Of a trace in whole seconds: the current second, spread evenly; and the first request behind it.
    second: VecDeque<Entry>,
    behind: Option<Entry>,
}

impl Requests {
    pub(super) fn new(lines: Lines, format: Format) -> Self {
        // These number disks from 0 on in each file.
        let own = matches!(format, Format::Spc | Format::Blkparse);
        let own_names = own.then(|| lines.path.display().to_string());
        Requests {
            lines,
            format,
            own_names,
            waited_ns: 0,
            sorted: VecDeque::new(),
            is_read: false,
            second: VecDeque::new(),
            behind: None,
        }
    }

    /// The next request; none behind the last.
    pub(super) fn next(&mut self, disks: &mut Disks, odd: &mut Oddities) -> Result<Option<Entry>> {
        if self.format != Format::Tencent {
            return self.next_by_time(disks, odd);
        }
        if self.second.is_empty() {
            self.fill_second(disks, odd)?;
        }
        Ok(self.second.pop_front())
    }

    /// The requests of the next second: the i-th of n comes at i / n of it.
    fn fill_second(&mut self, disks: &mut Disks, odd: &mut Oddities) -> Result<()> {
        let first = match self.behind.take() {
            Some(entry) => Some(entry),
            None => self.next_by_time(disks, odd)?,
        };
        let Some(first) = first else { return Ok(()) };
        let at_ns = first.at_ns;
        self.second.push_back(first);
        while let Some(entry) = self.next_by_time(disks, odd)? {
            if entry.at_ns != at_ns {
                self.behind = Some(entry);
                break;
            }
            self.second.push_back(entry);
        }
        let count = self.second.len() as u64;
        for (index, entry) in (0..).zip(&mut self.second) {
            let into_ns = u128::from(1_000_000_000_u64 * index) / u128::from(count);
            entry.at_ns += into_ns as u64;
        }
        Ok(())
    }

    /// The next request by time, of the next [`SORTED`].
    fn next_by_time(&mut self, disks: &mut Disks, odd: &mut Oddities) -> Result<Option<Entry>> {
        while !self.is_read && self.sorted.len() < SORTED {
            let Some(entry) = self.next_line(disks, odd)? else {
                self.is_read = true;
                break;
            };
            let is_last = self.sorted.back().is_none_or(|last| last.at_ns <= entry.at_ns);
            if is_last {
                self.sorted.push_back(entry);
            } else {
                let place = self.sorted.partition_point(|other| other.at_ns <= entry.at_ns);
                self.sorted.insert(place, entry);
            }
        }
        let mut next = self.sorted.pop_front();
        if let Some(entry) = &mut next {
            entry.disk = disks.appear(entry.disk);
        }
        Ok(next)
    }

    /// The request of the next line that is one; its disk is that of [`Disks::known`].
    fn next_line(&mut self, disks: &mut Disks, odd: &mut Oddities) -> Result<Option<Entry>> {
        loop {
            let format = self.format;
            let Some(line) = self.lines.next()? else { return Ok(None) };
            if line.is_empty() {
                continue;
            }
            match format.read(line) {
                Line::Request(name, mut entry) => {
                    if entry.op == Op::Zeroes {
                        self.waited_ns = self.waited_ns.saturating_add(entry.at_ns);
                        continue;
                    }
                    if let Some(disk) = disks.known(self.own_names.as_deref(), name) {
                        entry.disk = disk;
                        entry.at_ns = entry.at_ns.saturating_add(self.waited_ns);
                        return Ok(Some(entry));
                    }
                }
                Line::Other => {}
                Line::End => return Ok(None),
                Line::Malformed => {
                    odd.malformed += 1;
                    if odd.first_malformed.is_none() {
                        let said: String = String::from_utf8_lossy(line).chars().take(60).collect();
                        let (at, number) = (self.lines.path.display(), self.lines.number);
                        odd.first_malformed = Some(format!("{at}:{number}: `{said}`"));
                    }
                }
            }
        }
    }
}

/// The disks of a trace, numbered as they appear in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Disks {
    /// Only these, where any are named.
    pub(super) wanted: Vec<String>,
    /// Those that were read ahead, in the order of the files' lines; of one that is wanted its place in `read`.
    numbers: BTreeMap<String, Option<u32>>,
    /// The name of each that is wanted, and its number, once it has appeared.
    read: Vec<(String, Option<u32>)>,
    pub(super) names: Vec<String>,
    last: Option<(Vec<u8>, u32)>,
}

impl Disks {
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Disks { wanted, ..Disks::default() }
    }

    /// The number of a disk of [`Disks::known`], which appears now if it has not before.
    fn appear(&mut self, known: u32) -> u32 {
        let (name, number) = &mut self.read[known as usize];
        *number.get_or_insert_with(|| {
            self.names.push(name.clone());
            self.names.len() as u32 - 1
        })
    }

    /// Which of the disks that were read this is; none where it is not wanted. Of a file whose names are its own, `file` is
    /// named, too.
    fn known(&mut self, file: Option<&str>, name: &[u8]) -> Option<u32> {
        if let Some((last, number)) = &self.last
            && file.is_none()
            && last == name
        {
            return Some(*number);
        }
        let plain = String::from_utf8_lossy(name);
        let whole = file.map_or_else(|| plain.to_string(), |file| format!("{plain} of {file}"));
        let number = match self.numbers.get(&whole) {
            Some(known) => *known,
            None => {
                // A comma separates values on the command line.
                let is_meant =
                    |wanted: &String| *wanted == *plain || wanted.replace(':', ",") == plain;
                let is_wanted = self.wanted.is_empty() || self.wanted.iter().any(is_meant);
                let number = is_wanted.then_some(self.read.len() as u32);
                if is_wanted {
                    self.read.push((whole.clone(), None));
                }
                self.numbers.insert(whole, number);
                number
            }
        };
        if let Some(number) = number.filter(|_| file.is_none()) {
            self.last = Some((name.to_vec(), number));
        }
        number
    }
}

/// The format of a file: that of the first line that tells.
pub(super) fn format_of(path: &Path) -> Result<Format> {
    let mut lines = Lines::open(path, None)?;
    let mut is_blkparse = false;
    // Headings and comments come first, and traces of blkparse begin with anything.
    for place in 0..100 {
        let Some(line) = lines.next()? else {
            if place == 0 {
                return Err(Error::input(format!("{} is empty", path.display())));
            }
            break;
        };
        if let Some(format) = Format::of(line) {
            return Ok(format);
        }
        is_blkparse |= Format::Blkparse.read(line) == Line::Other;
    }
    if is_blkparse {
        return Ok(Format::Blkparse);
    }
    let known: Vec<&str> = Format::ALL.iter().map(|(format, _)| format.word()).collect();
    Err(Error::input(format!(
        "{}: none of the first lines is of a format that is known; name it by `format`: {}",
        path.display(),
        known.join(", ")
    )))
}

/// All requests of several files, in the order of their times; of equal times the earlier file first.
pub(super) struct Merged {
    files: Vec<Requests>,
    heads: Vec<Option<Entry>>,
    /// When the first and the last request of each file came.
    spans_ns: Vec<Option<(u64, u64)>>,
    disks: Disks,
    pub(super) odd: Oddities,
    last_ns: u64,
}

impl Merged {
    pub(super) fn new(files: Vec<Requests>, disks: Disks) -> Result<Self> {
        let mut merged = Merged {
            spans_ns: vec![None; files.len()],
            files,
            heads: Vec::new(),
            disks,
            odd: Oddities::default(),
            last_ns: 0,
        };
        for file in &mut merged.files {
            merged.heads.push(file.next(&mut merged.disks, &mut merged.odd)?);
        }
        merged.last_ns = merged.heads.iter().flatten().map(|entry| entry.at_ns).min().unwrap_or(0);
        Ok(merged)
    }

    /// The time of the first request.
    pub(super) fn origin_ns(&self) -> u64 {
        self.last_ns
    }

    /// The disks that have appeared.
    pub(super) fn disks(&self) -> &[String] {
        &self.disks.names
    }

    /// The next request; its time is no earlier than that of the one before.
    pub(super) fn next(&mut self) -> Result<Option<Entry>> {
        let heads = (0..).zip(&self.heads);
        let earliest = heads.filter_map(|(file, head)| Some((head.as_ref()?.at_ns, file))).min();
        let Some((_, file)) = earliest else { return Ok(None) };
        let file: usize = file;
        let entry = self.heads[file].take();
        self.heads[file] = self.files[file].next(&mut self.disks, &mut self.odd)?;
        Ok(entry.map(|mut entry| {
            self.odd.early += u64::from(entry.at_ns < self.last_ns);
            entry.at_ns = entry.at_ns.max(self.last_ns);
            self.last_ns = entry.at_ns;
            let first_ns = self.spans_ns[file].map_or(entry.at_ns, |(first_ns, _)| first_ns);
            self.spans_ns[file] = Some((first_ns, entry.at_ns));
            entry
        }))
    }

    /// All disks of what was read, those that do not count among them.
    pub(super) fn all_disks(&self) -> impl Iterator<Item = &str> {
        self.disks.numbers.keys().map(String::as_str)
    }

    /// Notes the first file that begins a day or more after all before it have ended.
    pub(super) fn note_apart(&mut self) {
        let spans = self.spans_ns.iter().zip(&self.files);
        let mut spans: Vec<((u64, u64), &Path)> =
            spans.filter_map(|(span, file)| Some(((*span)?, file.lines.path.as_path()))).collect();
        spans.sort_unstable();
        let mut before: Option<(u64, &Path)> = None;
        for ((first_ns, last_ns), path) in spans {
            if let Some((end_ns, ended)) = before
                && first_ns.saturating_sub(end_ns) >= DAY_NS
            {
                let days = (first_ns - end_ns) / DAY_NS;
                let days = if days == 1 { "a day".into() } else { format!("{days} days") };
                let (ended, path) = (ended.display(), path.display());
                self.odd.apart = Some(format!("{path} begins {days} after {ended} has ended"));
                return;
            }
            before = before.max(Some((last_ns, path)));
        }
    }
}
