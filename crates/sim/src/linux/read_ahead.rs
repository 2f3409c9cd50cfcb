//! Reads through the page cache: what Linux reads ahead of programs that read in order (`mm/readahead.c` of 6.1).
//!
//! Each program has a file of its own, and the file a window: what is read ahead, and a mark in it. A program that comes
//! to the mark has the next window read, up to `read_ahead_kb`, and goes on; one that comes to a page that is not there
//! yet waits for it. Pages are never taken away again: what is read in order is not read twice.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Fault, Nanos, Part, Spent};
use block::{Op, Request};
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The page cache in front of the device below, for programs that read in order; what is written goes past it.
pub type PageCache<D> = Wrapper<ReadAhead, D>;

/// Sectors of a page.
const PAGE_SECTORS: u64 = 8;

/// Files that are remembered: as many programs read side by side at most.
const FILES_MAX: usize = 4096;

/// How far a device is read ahead of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadSpec {
    /// `read_ahead_kb`, in sectors.
    pub ahead_sectors: u64,
    /// `max_sectors_kb`, in sectors: so far a single request that is larger than the window is read at once.
    pub request_sectors: u64,
}

/// The state of a [`PageCache`].
#[derive(Clone, Debug)]
pub struct ReadAhead {
    /// Pages that are read ahead at most, and of a large request.
    ahead: u64,
    request: u64,
    files: Slab<File>,
    /// Files that no program reads at the moment, by target and the sector that comes next.
    idle: BTreeMap<(u32, u64), usize>,
    /// The file for which each command reads.
    commands: BTreeMap<u32, usize>,
    last_command: u32,
}

/// A file as it is read (`file_ra_state`), in pages.
#[derive(Clone, Debug, Default)]
struct File {
    start: u64,
    size: u64,
    async_size: u64,
    /// Where the last read ended; nowhere at first.
    previous: Option<u64>,
    /// The page whose reader has the next window read (`PG_readahead`).
    mark: Option<u64>,
    windows: VecDeque<Window>,
    reader: Option<Reader>,
}

/// Pages that are in memory, or being read.
#[derive(Clone, Debug)]
struct Window {
    pages: Range<u64>,
    command: u32,
    is_there: bool,
}

/// A request that is being read: the page that it is at, and where it ends.
#[derive(Clone, Copy, Debug)]
struct Reader {
    slot: usize,
    at: u64,
    end: u64,
}

impl<D: Device> PageCache<D> {
    /// `below`, read as `spec` says.
    pub fn new(below: D, spec: ReadAheadSpec) -> Self {
        Wrapper::around(
            below,
            ReadAhead {
                ahead: (spec.ahead_sectors / PAGE_SECTORS).max(1),
                request: spec.request_sectors / PAGE_SECTORS,
                files: Slab::new(),
                idle: BTreeMap::new(),
                commands: BTreeMap::new(),
                last_command: 0,
            },
        )
    }
}

impl File {
    /// What is to be read where `asked` pages from `at` on are wanted, the first of which is marked or not there
    /// (`ondemand_readahead`).
    fn on_demand(&mut self, at: u64, asked: u64, [ahead, request]: [u64; 2]) -> Option<Range<u64>> {
        let is_marked = self.mark == Some(at);
        let most = if asked > ahead { asked.min(request).max(ahead) } else { ahead };
        let next = self.start + self.size;
        if at > 0 && (at == next - self.async_size || at == next) {
            self.start = next;
            self.size = next_size(self.size, most);
            self.async_size = self.size;
        } else if is_marked {
            return None;
        } else if at == 0 || asked > most || self.previous.is_some_and(|page| at - page <= 1) {
            self.start = at;
            self.size = initial_size(asked, most);
            self.async_size = if self.size > asked { self.size - asked } else { self.size };
        } else {
            // A read that nothing comes before: as it is.
            return Some(at..at + asked);
        }
        // A window that its own reader would find marked at once.
        if at == self.start && self.size == self.async_size {
            let more = next_size(self.size, most);
            if self.size + more <= most {
                self.async_size = more;
                self.size += more;
            } else {
                self.size = most;
                self.async_size = most / 2;
            }
        }
        self.mark = Some(self.start + self.size - self.async_size);
        Some(self.start..self.start + self.size)
    }

    /// Where what is in memory or being read ends.
    fn end(&self) -> u64 {
        self.windows.back().map_or(0, |window| window.pages.end)
    }
}

/// The first window (`get_init_ra_size`).
fn initial_size(asked: u64, most: u64) -> u64 {
    match asked.next_power_of_two() {
        size if size <= most / 32 => size * 4,
        size if size <= most / 4 => size * 2,
        _ => most,
    }
}

/// The one after a window of `size` (`get_next_ra_size`).
fn next_size(size: u64, most: u64) -> u64 {
    let next = if size < most / 16 {
        4 * size
    } else if size <= most / 2 {
        2 * size
    } else {
        most
    };
    next.max(size)
}

impl ReadAhead {
    /// The file that is read on at this place, or one that is opened for it.
    fn file_at(&mut self, target: u32, sector: u64) -> usize {
        if let Some(file) = self.idle.remove(&(target, sector)) {
            return file;
        }
        if self.idle.len() == FILES_MAX
            && let Some((_, file)) = self.idle.pop_first()
        {
            self.commands.retain(|_, of| *of != file);
            self.files.remove(file);
        }
        self.files.insert(File::default())
    }

    /// The reader of `file` goes on until it waits for a page, or is done.
    fn go_on<D: Device>(&mut self, now: Nanos, file: usize, io: &mut Io<'_, (), D>) {
        let Some(Reader { slot, mut at, end }) = self.files[file].reader else { return };
        let request = io.request(slot);
        while at < end && io.result(slot).is_ok() {
            let of = &self.files[file];
            let window = of.windows.iter().find(|window| window.pages.contains(&at));
            if window.is_none() || of.mark == Some(at) {
                self.read(now, (file, request.target), at..end, io);
                continue;
            }
            let window = window.expect("it was looked for");
            if !window.is_there {
                self.files[file].reader = Some(Reader { slot, at, end });
                return;
            }
            let mark = of.mark.filter(|&mark| mark > at).unwrap_or(end);
            at = window.pages.end.min(mark).min(end);
        }
        let of = &mut self.files[file];
        of.reader = None;
        let previous = request.end() / PAGE_SECTORS;
        of.previous = Some(previous);
        of.windows.retain(|window| window.pages.end >= previous || !window.is_there);
        let mut spent = Spent::NONE;
        spent.add(Part::CACHE, now - io.arrived(slot));
        io.finish(now, slot, spent);
        if let Some(other) = self.idle.insert((request.target, request.end()), file) {
            self.commands.retain(|_, of| *of != other);
            self.files.remove(other);
        }
    }

    /// Has read what is wanted at the start of `pages`, which are asked for.
    fn read<D: Device>(
        &mut self,
        now: Nanos,
        (file, target): (usize, u32),
        pages: Range<u64>,
        io: &mut Io<'_, (), D>,
    ) {
        let of = &mut self.files[file];
        let asked = pages.end - pages.start;
        let is_marked = of.mark == Some(pages.start);
        let wanted = of.on_demand(pages.start, asked, [self.ahead, self.request]);
        if is_marked && of.mark == Some(pages.start) {
            of.mark = None;
        }
        let Some(wanted) = wanted else { return };
        let last = io.geometry().target_sectors[target as usize];
        let window = wanted.start.max(of.end())..wanted.end.min(last.div_ceil(PAGE_SECTORS));
        if window.is_empty() {
            return;
        }
        self.last_command = self.last_command.wrapping_add(1);
        let command = self.last_command;
        self.commands.insert(command, file);
        of.windows.push_back(Window { pages: window.clone(), command, is_there: false });
        let sector = window.start * PAGE_SECTORS;
        let sectors = (window.end * PAGE_SECTORS).min(last) - sector;
        let read = Request { target, op: Op::Read, sector, sectors: sectors as u32 };
        io.send_beside(now, command, read);
    }
}

impl Policy for ReadAhead {
    type Note = ();

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, (), D>) {
        let request = io.request(slot);
        if request.op != Op::Read {
            return io.send(now, slot, 0, request);
        }
        let file = self.file_at(request.target, request.sector);
        let (at, end) = (request.sector / PAGE_SECTORS, request.end().div_ceil(PAGE_SECTORS));
        self.files[file].reader = Some(Reader { slot, at, end });
        self.go_on(now, file, io);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        spent: Spent,
        io: &mut Io<'_, (), D>,
    ) {
        io.finish(now, slot, spent);
    }

    fn returned_beside<D: Device>(
        &mut self,
        now: Nanos,
        label: u32,
        result: Result<(), Fault>,
        io: &mut Io<'_, (), D>,
    ) {
        let Some(file) = self.commands.remove(&label) else { return };
        let of = &mut self.files[file];
        let Some(place) = of.windows.iter().position(|window| window.command == label) else {
            return;
        };
        of.windows[place].is_there = true;
        if let Err(fault) = result {
            // Whoever waits for it hears of it; another begins anew.
            let reader = of.reader.take();
            if let Some(Reader { slot, at, .. }) = reader
                && of.windows[place].pages.contains(&at)
            {
                io.fail(slot, fault);
            }
            *of = File { reader, ..File::default() };
        }
        self.go_on(now, file, io);
    }

    fn forget_waiting(&mut self) {
        self.files.clear();
        self.idle.clear();
        self.commands.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file of such a read-ahead has read, in pages, where it is read in requests of so many from this page on.
    fn windows(from: u64, asked: u64, ahead: u64, count: usize) -> Vec<Range<u64>> {
        let (mut file, mut windows, mut at) = (File::default(), Vec::<Range<u64>>::new(), from);
        while windows.len() < count {
            let end = from + (at - from + asked) / asked * asked;
            let is_there = windows.last().is_some_and(|last| at < last.end);
            if !is_there || file.mark == Some(at) {
                let is_marked = file.mark == Some(at);
                windows.extend(file.on_demand(at, end - at, [ahead, 320]));
                if is_marked && file.mark == Some(at) {
                    file.mark = None;
                }
            } else {
                at += 1;
                file.previous = Some(at);
            }
        }
        windows
    }

    /// By hand from `mm/readahead.c`. 128 KiB are 32 pages, 4 MiB are 1024.
    #[test]
    fn windows_grow_to_the_read_ahead() {
        // At the start of a device: twice what is asked, then the double of that, up to the most.
        assert_eq!(windows(0, 8, 32, 4), [0..16, 16..48, 48..80, 80..112]);
        assert_eq!(windows(0, 32, 1024, 5), [0..128, 128..384, 384..896, 896..1920, 1920..2944]);
        // Elsewhere the first read is as it is, and the second one is in order.
        assert_eq!(windows(5000, 8, 32, 3), [5000..5008, 5008..5024, 5024..5056]);
        // A request that is larger than the read-ahead is read at once, and its window stays as large.
        assert_eq!(windows(0, 128, 32, 3), [0..128, 128..256, 256..384]);
    }
}
