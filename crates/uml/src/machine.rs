//! The machine: one thread that serves the kernel's calendar and its disks, while a device says how long each request
//! takes.
//!
//! What it must keep to, or the kernel hangs or its time goes wrong:
//!
//! * A kick finds the kernel's time exact, for it comes after an update. It is answered only after the kernel knows that
//!   the next event may now be earlier.
//! * A disk calls the kernel only while that waits, and nothing is sent to its calendar before the call is answered.
//! * What the kernel has said to its calendar before it kicks or answers is served before that.

use crate::calendar::{Alive, Calendar, NEVER};
use crate::control::{self, Mark};
use crate::disk::{Disk, DiskSpec, Served, Taken};
use crate::durable::Cached;
use crate::fault::{Fault, Faults};
use crate::held::Held;
use crate::medium::Medium;
use crate::recording::Recording;
use crate::request::Asked;
use crate::vhost;
use crate::window::{Command, Window, done_between};
use crate::{Error, Result};
use block::{Op, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sim::{Advance, Counters, Device, Event, Nanos, Part, Spent, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::Path;

/// What a kernel's run leaves.
#[derive(Clone, Debug)]
pub struct Report {
    /// The time at which it ended.
    pub ended_at: Nanos,
    /// The guest's answer, if it gave one.
    pub answer: Option<Vec<u8>>,
    /// What was measured.
    pub window: Window,
    /// All that was written, where that was asked for.
    pub recording: Option<Recording>,
}

/// A request that a disk has and the device works on.
struct InFlight {
    disk: usize,
    taken: Taken,
    submitted: Nanos,
}

/// A request that is done: whose, and how.
pub(crate) struct Finished {
    pub(crate) disk: usize,
    taken: Taken,
    is_good: bool,
    /// None of one that the device never saw.
    by_device: Option<ByDevice>,
}

/// What a device says of a request that it has done.
struct ByDevice {
    tag: Tag,
    submitted: Nanos,
    spent: Spent,
}

impl Finished {
    /// One that no drive does.
    fn without_device(disk: usize, taken: Taken) -> Self {
        Finished { disk, taken, is_good: true, by_device: None }
    }

    /// It comes back with an error after all.
    fn fail(&mut self) {
        self.is_good = false;
    }

    /// Some request of `disk`.
    #[cfg(test)]
    pub(crate) fn some_of(disk: usize) -> Self {
        let request =
            crate::request::BlockRequest { asked: Asked::Unknown, data: Vec::new(), status: 0 };
        Finished::without_device(disk, Taken { queue: 0, head: 0, request })
    }
}

/// How much the disks may hold together: it is kept in memory.
const KEPT_BYTES_MAX: u64 = 6 << 30;
/// Requests between two looks at how much that is.
const LOOK_EVERY: u64 = 4096;

/// A guest that has answered has nothing to do but to halt. Some kernels then spin for ever instead of ending, about one in
/// six of those that have put a mirror together after a power cut; they are ended after so many looks at silence.
const HALTED_LOOKS: u32 = if cfg!(test) { 1 } else { 5 };
/// Between two looks at a kernel that is silent: a second. Tests do not wait that long.
const PATIENCE: Timespec = if cfg!(test) {
    Timespec { tv_sec: 0, tv_nsec: 20_000_000 }
} else {
    Timespec { tv_sec: 1, tv_nsec: 0 }
};

pub(crate) struct Machine<'a> {
    calendar: Calendar,
    /// The disks of the device, and the control disk behind them.
    disks: Vec<Disk>,
    device: &'a mut dyn Device,
    /// By tags that are never used again: a device may speak of a write long after it is done.
    in_flight: BTreeMap<Tag, InFlight>,
    next_tag: Tag,
    /// Done, and the kernel not yet told.
    finished: Vec<Finished>,
    /// Commands that a cut of a disk's power has ended, or whose data it has lost: what the device says of them later is
    /// not so.
    lost: BTreeSet<Tag>,
    faults: Faults,
    held: Held,
    events: Vec<Event>,
    window: Window,
    /// What was written, where that is asked for.
    recording: Option<Recording>,
    /// When the window began, while it is open, and what the disks had done by then.
    began: Option<(Nanos, Counters)>,
}

/// The disks that a kernel is about to be started with.
pub(crate) fn disks(
    directory: &Path,
    specs: &[DiskSpec],
    media: Vec<Medium>,
    job: &[u8],
) -> Result<Vec<Disk>> {
    let control = DiskSpec {
        sectors: control::CONTROL_SECTORS,
        has_write_cache: false,
        has_discard: false,
        physical_block_sectors: 8,
    };
    let specs = specs.iter().chain([&control]);
    let disk = |(number, spec): (usize, &DiskSpec)| {
        Disk::new(number, *spec, &directory.join(format!("d{number}")))
    };
    let mut disks = specs.enumerate().map(disk).collect::<Result<Vec<_>>>()?;
    for (disk, medium) in disks.iter_mut().zip(media) {
        disk.medium = medium;
    }
    let last = disks.last_mut().expect("there is the control disk");
    control::put_job(&mut last.medium, job)?;
    Ok(disks)
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        calendar: Calendar,
        mut disks: Vec<Disk>,
        device: &'a mut dyn Device,
        is_recorded: bool,
        faults: Vec<Fault>,
    ) -> Self {
        for number in Faults::that_lose_power(&faults) {
            let disk = &mut disks[number];
            disk.cached = Some(Cached::over(disk.medium.clone()));
        }
        Machine {
            recording: is_recorded.then(Recording::default),
            calendar,
            disks,
            device,
            in_flight: BTreeMap::new(),
            next_tag: 0,
            finished: Vec::new(),
            lost: BTreeSet::new(),
            faults: Faults::new(faults),
            held: Held::default(),
            events: Vec::new(),
            window: Window::default(),
            began: None,
        }
    }

    /// Serves the kernel to its end; `keep_on` is asked now and then.
    pub(crate) fn serve(mut self, keep_on: &mut dyn FnMut() -> Result<()>) -> Result<Report> {
        let mut rounds: u64 = 0;
        loop {
            rounds += 1;
            if rounds.is_multiple_of(LOOK_EVERY) {
                keep_on()?;
            }
            let alive = match self.calendar.waits_until() {
                Some(until) => self.pass(until, keep_on)?,
                None => self.listen(keep_on)?,
            };
            if alive == Alive::Ended {
                break;
            }
        }
        let answer = self.answer();
        let Machine { calendar, window, recording, .. } = self;
        Ok(Report { ended_at: calendar.now(), answer, window, recording })
    }

    /// What the guest has answered, if it has.
    fn answer(&self) -> Option<Vec<u8>> {
        control::answer(&self.disks.last().expect("there is the control disk").medium)
    }

    /// The kernel waits: what happens next is the disks', or it runs on.
    fn pass(&mut self, until: Nanos, keep_on: &mut dyn FnMut() -> Result<()>) -> Result<Alive> {
        let next = self.next_event();
        if next <= until && next < NEVER {
            self.calendar.pass_to(next);
            self.advance();
            return self.deliver();
        }
        if until < NEVER {
            self.calendar.run(next)?;
            return Ok(Alive::Yes);
        }
        // It waits for something that is not in this world, such as its connection to a disk.
        self.listen(keep_on)
    }

    /// When a disk has something to tell.
    fn next_event(&self) -> Nanos {
        if self.finished.is_empty() {
            let next = self.device.next_event().into_iter().chain(self.faults.next_event()).min();
            next.unwrap_or(NEVER)
        } else {
            self.calendar.now()
        }
    }

    /// Has the device do all that is due.
    fn advance(&mut self) {
        let now = self.calendar.now();
        let mut events = std::mem::take(&mut self.events);
        self.device.advance(now, &mut events);
        let mut cut = Vec::new();
        if self.faults.next_event().is_some_and(|at| at <= now) {
            cut = self.faults.happen(now, self.device);
            self.device.advance(now, &mut events);
        }
        let mut finished = Vec::new();
        for event in events.drain(..) {
            if let Event::Durable { tag, .. } | Event::Lost { tag, .. } = event {
                self.held.settled(tag, !self.in_flight.contains_key(&tag));
            }
            let (tag, result, spent) = match event {
                Event::Done { tag, .. } | Event::Durable { tag, .. }
                    if self.lost.contains(&tag) =>
                {
                    continue;
                }
                Event::Done { tag, result, spent, .. } => (tag, result, spent),
                Event::Durable { tag, at } => {
                    self.durable(tag, at);
                    continue;
                }
                Event::Lost { .. } => continue,
            };
            let InFlight { disk, taken, submitted } =
                self.in_flight.remove(&tag).expect("a device finishes what it was given");
            if result.is_ok() && taken.request.changes() {
                self.held.done(tag, taken.request.asked.sectors());
                if let Some(cached) = &mut self.disks[disk].cached {
                    cached.done(tag);
                }
            }
            let by_device = Some(ByDevice { tag, submitted, spent });
            finished.push(Finished { disk, taken, is_good: result.is_ok(), by_device });
        }
        self.events = events;
        let mut answered = self.faults.answered(finished);
        for disk in cut {
            answered.extend(self.cut(disk as usize));
            let own = |done: &&mut Finished| done.disk == disk as usize;
            let untold = self.finished.iter_mut().chain(self.faults.kept()).chain(&mut answered);
            untold.filter(own).for_each(Finished::fail);
        }
        for done in answered {
            self.note(&done, now);
            self.finished.push(done);
        }
    }

    /// A power cut can no longer lose what a command changed.
    fn durable(&mut self, tag: Tag, at: Nanos) {
        if let Some(recording) = &mut self.recording {
            recording.durable(tag, at);
        }
        self.disks
            .iter_mut()
            .filter_map(|disk| disk.cached.as_mut())
            .for_each(|of| of.durable(tag));
    }

    /// Cuts the power of a disk. Gives what was on its way to it: what it had it has given back.
    fn cut(&mut self, disk: usize) -> Vec<Finished> {
        self.lost.extend(self.disks[disk].cut());
        let own: Vec<Tag> =
            self.in_flight.iter().filter(|(_, of)| of.disk == disk).map(|(tag, _)| *tag).collect();
        self.lost.extend(&own);
        let ended = own.into_iter().filter_map(|tag| {
            let InFlight { disk, taken, submitted } = self.in_flight.remove(&tag)?;
            let by_device = Some(ByDevice { tag, submitted, spent: Spent::NONE });
            Some(Finished { disk, taken, is_good: false, by_device })
        });
        ended.collect()
    }

    /// Notes a command that is done, while the guest measures.
    fn note(&mut self, finished: &Finished, done: Nanos) {
        let Finished { disk, taken, by_device: Some(by_device), .. } = finished else { return };
        if self.began.is_none() {
            return;
        }
        let ByDevice { submitted, spent, .. } = by_device;
        self.window.commands += 1;
        self.window.spent_ns.resize(Part::COUNT, 0);
        for (sum, part) in self.window.spent_ns.iter_mut().zip(Part::all()) {
            *sum += u128::from(spent[part]);
        }
        if let Asked::Of { op, sector, sectors } = taken.request.asked {
            let request = Request { target: *disk as u32, op, sector, sectors };
            self.window.trace.push(Command { submitted: *submitted, done, request });
        }
    }

    /// Tells the kernel of what is done, each disk's in one call.
    fn deliver(&mut self) -> Result<Alive> {
        let mut calls: Vec<(usize, usize)> = Vec::new();
        for Finished { disk, taken, is_good, by_device } in std::mem::take(&mut self.finished) {
            let tag = by_device.map(|by| by.tag);
            let wants_call =
                self.disks[disk].finish(&taken, is_good, tag, self.recording.as_mut())?;
            let call = (disk, taken.queue);
            if wants_call && !calls.contains(&call) {
                calls.push(call);
            }
        }
        for (disk, queue) in calls {
            if self.call(disk, queue)? == Alive::Ended {
                return Ok(Alive::Ended);
            }
        }
        Ok(Alive::Yes)
    }

    /// Calls the kernel, and serves its calendar until it has answered.
    fn call(&mut self, disk: usize, queue: usize) -> Result<Alive> {
        let channel = self.disks[disk].back_channel()?;
        vhost::call(channel, queue as u32)?;
        loop {
            let channel = self.disks[disk].back_channel()?;
            let mut waiting = [
                PollFd::from_borrowed_fd(channel.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.calendar.descriptor(), PollFlags::IN),
            ];
            poll(&mut waiting, None)?;
            let has_answered = !waiting[0].revents().is_empty();
            if !waiting[1].revents().is_empty() {
                if self.calendar.serve()? == Alive::Ended {
                    return Ok(Alive::Ended);
                }
                continue;
            }
            if has_answered {
                let mut answer = [0; vhost::CALL_REPLY_BYTES];
                let channel = self.disks[disk].back_channel()?;
                return Ok(match channel.read_exact(&mut answer) {
                    Ok(()) => Alive::Yes,
                    Err(_) => Alive::Ended,
                });
            }
        }
    }

    /// Waits for the kernel to say something, and serves that.
    fn listen(&mut self, keep_on: &mut dyn FnMut() -> Result<()>) -> Result<Alive> {
        let mut silent = 0;
        let spoke = loop {
            let (mut waiting, mut whose) = (Vec::new(), Vec::new());
            for (number, disk) in self.disks.iter().enumerate() {
                if let Some(descriptor) = disk.descriptor() {
                    waiting.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
                    whose.push(number);
                }
            }
            // It is looked at last, so that what was said to it before a kick is seen with that.
            waiting.push(PollFd::from_borrowed_fd(self.calendar.descriptor(), PollFlags::IN));
            if poll(&mut waiting, Some(&PATIENCE))? == 0 {
                keep_on()?;
                silent += 1;
                if silent >= HALTED_LOOKS && self.answer().is_some() {
                    return Ok(Alive::Ended);
                }
                continue;
            }
            let mut spoke = waiting.iter().map(|waiting| !waiting.revents().is_empty());
            if spoke.next_back() == Some(true) {
                break None;
            }
            if let Some(place) = spoke.position(|spoke| spoke) {
                break Some(whose[place]);
            }
        };
        let Some(disk) = spoke else { return self.calendar.serve() };
        match self.disks[disk].serve()? {
            Served::Answered | Served::Ended => Ok(Alive::Yes),
            Served::Kicked { queue, answer } => self.kicked(disk, queue, answer),
        }
    }

    /// Takes what is in a queue, and tells the kernel of an earlier next event before it answers.
    fn kicked(&mut self, disk: usize, queue: usize, answer: Option<u32>) -> Result<Alive> {
        self.advance();
        for taken in self.disks[disk].take(queue)? {
            self.submit(disk, taken)?;
        }
        let next = self.next_event();
        if self.calendar.shorten(next)? == Alive::Ended {
            return Ok(Alive::Ended);
        }
        self.disks[disk].answer(answer)?;
        Ok(Alive::Yes)
    }

    /// Gives the device a request; what no drive does is done at once.
    fn submit(&mut self, disk: usize, taken: Taken) -> Result<()> {
        let now = self.calendar.now();
        let is_control = disk + 1 == self.disks.len();
        let Asked::Of { op, sector, sectors } = taken.request.asked else {
            self.finished.push(Finished::without_device(disk, taken));
            return Ok(());
        };
        if is_control {
            match control::mark(op, sector) {
                Some(Mark::Begin) => self.begin(now),
                Some(Mark::End) => self.end(now),
                Some(Mark::Note(number)) => {
                    if let Some(recording) = &mut self.recording {
                        recording.note(now, number);
                    }
                }
                None => {}
            }
            self.finished.push(Finished::without_device(disk, taken));
            return Ok(());
        }
        if self.faults.is_without_power(now, disk) {
            self.finished
                .push(Finished { is_good: false, ..Finished::without_device(disk, taken) });
            return Ok(());
        }
        if self.next_tag.is_multiple_of(LOOK_EVERY) {
            self.check_kept()?;
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        self.in_flight.insert(tag, InFlight { disk, taken, submitted: now });
        // A range of no sectors would be a flush.
        let op = if sectors == 0 { Op::Flush } else { op };
        self.device.submit(now, tag, Request { target: disk as u32, op, sector, sectors });
        Ok(())
    }

    fn check_kept(&self) -> Result<()> {
        let kept: u64 = self.disks.iter().map(Disk::kept_bytes).sum();
        if kept <= KEPT_BYTES_MAX {
            return Ok(());
        }
        Err(Error::new(format!(
            "the disks hold more than {} GiB by now, which are kept in memory; make the workload's `count`, `amount` \
             or `runtime` smaller",
            KEPT_BYTES_MAX >> 30
        )))
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.device.count(&mut counters);
        counters
    }

    fn begin(&mut self, now: Nanos) {
        self.window = Window { began_at: now, ..Window::default() };
        self.faults.begin(now);
        self.began = Some((now, self.counters()));
    }

    fn end(&mut self, now: Nanos) {
        let Some((began, before)) = self.began.take() else { return };
        let after = self.counters();
        self.window.elapsed_ns = now - began;
        self.window.targets = done_between((began, &before), (now, &after));
        let control = self.disks.last_mut().expect("there is the control disk");
        control::put_held(&mut control.medium, self.held.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{Message, Operation};
    use crate::fault::Happening;
    use crate::request::{BlockRequest, Buffer, Status};
    use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};
    use sim::spiral::{SpiralSpec, Spirals};
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use vm_memory::{Bytes as _, GuestAddress};

    /// Serves a kernel that says nothing; what becomes of it when it was looked at a few times.
    fn serve_silence(answer: Option<&[u8]>) -> Result<Report> {
        const SECTORS: u64 = 4000;
        let spec = DiskSpec {
            sectors: SECTORS,
            has_write_cache: false,
            has_discard: false,
            physical_block_sectors: 1,
        };
        let directory = tempfile::tempdir().unwrap();
        let mut disks = disks(directory.path(), &[spec], Vec::new(), b"wait").unwrap();
        if let Some(text) = answer {
            control::put_answer(&mut disks.last_mut().unwrap().medium, text);
        }
        let (ours, _kernel) = UnixStream::pair().unwrap();
        let drive = IdealFlashSpec {
            sectors: SECTORS,
            read_ns: 80_000,
            write_ns: 20_000,
            flush_ns: 20_000,
            link_bytes_per_s: 2_000_000_000,
        };
        let mut device = IdealFlashes::new(1, drive);
        let machine = Machine::new(Calendar::new(ours, 0), disks, &mut device, false, Vec::new());
        let mut looks = 0;
        machine.serve(&mut || {
            looks += 1;
            if looks < 3 { Ok(()) } else { Err(Error::new("it takes too long")) }
        })
    }

    #[test]
    fn a_guest_that_has_answered_and_is_silent_has_ended() {
        assert_eq!(serve_silence(Some(b"42")).unwrap().answer.unwrap(), b"42");
    }

    #[test]
    fn a_guest_that_has_not_answered_may_be_silent() {
        let said = serve_silence(None).err().unwrap().to_string();
        assert!(said.contains("too long"), "{said}");
    }

    /// One disk with a write cache, whose power is cut 1 µs after the guest begins to measure, for a second.
    struct Bench<'a> {
        machine: Machine<'a>,
        status: u64,
    }

    impl Bench<'_> {
        /// Sends a command with data of this value; gives where its status will be.
        fn send(&mut self, op: Op, sector: u64, value: u8) -> GuestAddress {
            let disk = &self.machine.disks[0];
            let (data, status) = (GuestAddress(Disk::DATA), GuestAddress(self.status));
            disk.memory().write_slice(&[value; 4096], data).unwrap();
            disk.memory().write_obj(0xff_u8, status).unwrap();
            let data = Buffer { address: data.0, bytes: 4096, is_written: op == Op::Read };
            let sectors = if op == Op::Flush { 0 } else { 8 };
            let request = BlockRequest {
                asked: Asked::Of { op, sector, sectors },
                data: vec![data],
                status: status.0,
            };
            self.status += 1;
            self.machine.submit(0, Taken { queue: 0, head: 0, request }).unwrap();
            status
        }

        /// Goes on until a command is done; gives its status.
        fn until(&mut self, status: GuestAddress) -> u8 {
            loop {
                let said = self.machine.disks[0].memory().read_obj(status).unwrap();
                if said != 0xff {
                    return said;
                }
                let next = self.machine.next_event();
                assert!(next < NEVER, "the command comes back");
                self.machine.calendar.pass_to(next);
                self.machine.advance();
                assert_eq!(self.machine.deliver().unwrap(), Alive::Yes);
            }
        }

        fn ask(&mut self, op: Op, sector: u64, value: u8) -> u8 {
            let status = self.send(op, sector, value);
            self.until(status)
        }

        /// The value that 4 KiB hold.
        fn read(&mut self, sector: u64) -> u8 {
            assert_eq!(self.ask(Op::Read, sector, 0xee), Status::Ok as u8);
            self.machine.disks[0].memory().read_obj(GuestAddress(Disk::DATA)).unwrap()
        }
    }

    #[test]
    fn without_power_a_disk_keeps_what_was_flushed_and_loses_what_was_not() {
        let directory = tempfile::tempdir().unwrap();
        let spec = SpiralSpec { sectors: 1 << 20, ..SpiralSpec::default() }.buffered(1 << 17);
        let of_disk = DiskSpec {
            sectors: spec.sectors,
            has_write_cache: true,
            has_discard: false,
            physical_block_sectors: 1,
        };
        let mut disks = disks(directory.path(), &[of_disk], Vec::new(), b"cut").unwrap();
        disks[0].with_memory();
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        let mut calendar = Calendar::new(ours, 0);
        let wait = Message { operation: Operation::Wait, sequence: 1, time: 0 };
        kernel.write_all(&wait.bytes()).unwrap();
        assert_eq!(calendar.serve().unwrap(), Alive::Yes);
        let mut device = Spirals::new(1, spec);
        let what = Happening::LosesPower { for_ns: 1_000_000_000 };
        let faults = vec![Fault { after_ns: 1000, disk: 0, what }];
        let machine = Machine::new(calendar, disks, &mut device, true, faults);
        let mut bench = Bench { machine, status: Disk::STATUS };
        let [good, bad] = [Status::Ok as u8, Status::Error as u8];

        assert_eq!((bench.ask(Op::WRITE, 0, 1), bench.ask(Op::Flush, 0, 0)), (good, good));
        assert_eq!(bench.ask(Op::WRITE, 4096, 2), good);
        let began = bench.machine.calendar.now();
        bench.machine.begin(began);
        let in_flight = bench.send(Op::WRITE, 8192, 3);
        assert_eq!(bench.until(in_flight), bad);
        assert_eq!(bench.machine.calendar.now(), began + 1000, "it ends with the power");
        assert_eq!(bench.machine.device.next_event(), None, "the drive has nothing left to do");
        assert_eq!((bench.ask(Op::Read, 0, 0), bench.ask(Op::WRITE, 0, 4)), (bad, bad));
        bench.machine.calendar.pass_to(began + 1_000_001_000);
        bench.machine.advance();
        assert_eq!([0, 4096, 8192].map(|sector| bench.read(sector)), [1, 0, 0]);
        // Of the lost writes nothing comes later, not in the recording either.
        assert_eq!((bench.ask(Op::WRITE, 4096, 5), bench.ask(Op::Flush, 0, 0)), (good, good));
        assert_eq!([0, 4096, 8192].map(|sector| bench.read(sector)), [1, 5, 0]);
        let recording = bench.machine.recording.take().unwrap();
        let left = |instant| {
            let (medium, mut first) = (recording.replay(1).cut_at(instant).remove(0), [0; 512]);
            [0, 4096, 8192].map(|sector| {
                medium.read(sector, &mut first);
                first[0]
            })
        };
        assert_eq!([left(began + 999_999_999), left(u64::MAX)], [[1, 0, 0], [1, 5, 0]]);
    }
}
