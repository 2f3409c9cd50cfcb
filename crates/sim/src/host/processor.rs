//! A processor, what drivers cost on it, and what they send together.

use crate::Nanos;
use crate::linux::md::RowCosts;
use crate::linux::sender::{PROGRAM, Senders};
use block::bios::ONE_BIO_SECTORS;
use block::{Op, Request};
use std::cell::Cell;
use std::rc::Rc;

/// One processor: one piece of work at a time, in order of arrival.
///
/// A handle: clones are the same processor. Whoever builds a machine makes one and gives it to
/// everything that runs there (the driver of a volume, the kernel under a file system, the programs),
/// so that they compete for it. A hardware controller has one of its own.
#[derive(Clone, Debug, Default)]
pub struct Processor(Rc<Cell<Load>>);

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    free_at: Nanos,
    busy_ns: Nanos,
}

impl Processor {
    /// Does `work_ns` of work that arrives at `now`; returns its start and its end.
    ///
    /// Calls come in the order of `now`.
    pub fn work(&self, now: Nanos, work_ns: Nanos) -> (Nanos, Nanos) {
        let Load { free_at, busy_ns } = self.0.get();
        let start = now.max(free_at);
        let end = start + work_ns;
        self.0.set(Load { free_at: end, busy_ns: busy_ns + work_ns });
        (start, end)
    }

    /// When it has done all work that has arrived.
    pub fn free_at(&self) -> Nanos {
        self.0.get().free_at
    }

    /// Time at work so far, in ns, including queued work.
    pub fn busy_ns(&self) -> Nanos {
        self.0.get().busy_ns
    }
}

/// The driver of a volume (ccd, md, RAIDframe, or the firmware of a RAID controller): what it costs,
/// and which processor it runs on.
#[derive(Clone, Debug, Default)]
pub struct Driver {
    /// For each request that reaches the volume, in ns.
    pub request_ns: Nanos,
    /// For each command that the volume sends to a member, in ns.
    pub command_ns: Nanos,
    /// For each stripe that a request touches, if the driver works by stripes.
    pub per_stripe: Option<PerStripe>,
    /// For the rows of md's stripe cache, where that is known; its commands are in it.
    pub rows: Option<RowCosts>,
    /// The processor that does this work.
    pub processor: Processor,
    /// What it sends together.
    pub plugs: Plugs,
}

/// What a driver sends together, for queues that merge only that: Linux holds back what one thread sends until it
/// has sent everything (`blk_start_plug`), and programs send each request by itself.
///
/// A handle, like [`Processor`]: the driver begins a plug for each request that it sends the pieces of, and queues below
/// see whether what comes is still of the same one, and whether it is held back at all.
#[derive(Clone, Debug, Default)]
pub struct Plugs {
    /// Plugs that were begun.
    begun: Rc<Cell<u64>>,
    present: Rc<Cell<Plug>>,
    reads_apart: bool,
    by_io_uring: bool,
    /// Who sends more than one bio to md's RAID 5 and 6 sends it to its end, as by libaio.
    sends_large_writes: bool,
    fit: Fit,
    senders: Option<Senders>,
    threads: Option<Rc<Threads>>,
    blocks_ahead: BlocksAhead,
    /// Somebody waits for what is submitted now (`REQ_SYNC`).
    is_sync: Rc<Cell<bool>>,
}

/// What is sent together now.
#[derive(Clone, Copy, Debug, Default)]
struct Plug {
    number: u64,
    /// Who sends it.
    thread: u64,
    /// Whether it holds anything back.
    is_held: bool,
    /// Whether it is what is left of a request.
    is_rest: bool,
    tries: Try,
}

/// Whether a request whose pieces are sent is tried without sleeping first, and fails as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Try {
    /// It is not.
    #[default]
    No,
    /// It is one piece, which fails by itself.
    Alone,
    /// It is several.
    Whole,
}

/// What becomes of a request that is tried without sleeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fit {
    /// What finds no place is sent later, each piece by itself.
    #[default]
    Pieces,
    /// It fails as a whole.
    Whole(FailWhole),
    /// It cannot be tried: a worker has it from the start.
    Workers,
}

/// Which requests fail as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailWhole {
    /// The largest; of larger ones a worker sends the pieces, and sleeps for each.
    pub most_sectors: u32,
    /// What crosses no multiple of this is one piece.
    pub chunk_sectors: u64,
}

/// How blocks around one that a file system reads are read with it (`__ext4_get_inode_loc` of `fs/ext4/inode.c`). Linux sends each
/// as a bio of its own, all others before the one that is waited for, in one plug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlocksAhead {
    /// They come back together: one disk, where they are one request, and md's RAID 5 and 6, which send each request at once here.
    #[default]
    Together,
    /// Each by itself: of several disks, each sends what it has as soon as it has it, and of copies md chooses one for each.
    Each,
}

/// Threads of a file system, of which each holds back what it sends until it sleeps.
#[derive(Debug, Default)]
struct Threads {
    /// The one that has sent last, since it last slept.
    open: Cell<Option<Sender>>,
    /// When the last one slept.
    closed_at: Cell<Nanos>,
}

/// A thread of a file system, and its plug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    thread: u64,
    number: u64,
}

/// Threads of a file system have numbers from here on, apart from those of plugs.
const THREADS: u64 = 1 << 32;

impl Plugs {
    /// Those of programs that use the device itself: Linux holds back what they write (`blkdev_write_iter`), and what they
    /// read only where it is more than one bio (`__blkdev_direct_IO`). The page cache and file systems hold back both
    /// (`Plugs::default`).
    pub fn of_programs() -> Self {
        Plugs { reads_apart: true, by_io_uring: true, ..Plugs::default() }
    }

    /// The same of programs of which no worker sends what they write to md's RAID 5 and 6, however large it is.
    #[must_use]
    pub fn that_send_large_writes(self) -> Self {
        Plugs { sends_large_writes: true, ..self }
    }

    /// Whether workers send what is more than one bio to md's RAID 5 and 6.
    pub(crate) fn leave_large_writes(&self) -> bool {
        self.by_io_uring && !self.sends_large_writes
    }

    /// The same over a device that cannot be tried without sleeping, as device-mapper's RAID: `io_uring` leaves every request to
    /// a worker (`io_file_supports_nowait`).
    #[must_use]
    pub fn all_by_workers(self) -> Self {
        Plugs { fit: Fit::Workers, ..self }
    }

    /// The same over a device whose requests fail as a whole where one of their pieces finds no place (device-mapper, and md's
    /// RAID 0): all of it is sent again.
    #[must_use]
    pub fn that_fail_whole(self, which: FailWhole) -> Self {
        Plugs { fit: Fit::Whole(which), ..self }
    }

    /// Whether any request fails as a whole.
    pub(crate) fn fail_whole(&self) -> bool {
        matches!(self.fit, Fit::Whole(_))
    }

    /// Whether the request whose pieces are sent now is tried without sleeping first, and fails as a whole.
    pub(crate) fn tries(&self) -> Try {
        self.present.get().tries
    }

    fn tries_of(&self, request: &Request) -> Try {
        match self.fit {
            _ if request.op == Op::Flush || self.may_sleep(request) => Try::No,
            Fit::Whole(which) if request.sectors <= which.most_sectors => {
                let chunk = |sector: u64| sector / which.chunk_sectors;
                let is_one = chunk(request.sector) == chunk(request.end().max(1) - 1);
                if is_one { Try::Alone } else { Try::Whole }
            }
            _ => Try::No,
        }
    }

    /// The same, where who sends sleeps for a place in a drive's queue, and until then sends nothing.
    #[must_use]
    pub fn that_sleep(self) -> Self {
        Plugs { senders: Some(Senders::default()), ..self }
    }

    /// Those of the threads of a file system, which write back, commit and read with a plug. What is in it is sent on when the thread
    /// sleeps (`sched_submit_work` of `kernel/sched/core.c`), not when one request or one file is over: `wb_writeback` of
    /// `fs/fs-writeback.c` begins one plug for all files, and those that others begin meanwhile are none (`blk_start_plug_nr_ios`).
    pub fn of_threads() -> Self {
        Plugs { threads: Some(Rc::default()), ..Plugs::default() }
    }

    /// The same, over what blocks are read so from.
    #[must_use]
    pub fn reading_ahead(self, blocks_ahead: BlocksAhead) -> Self {
        Plugs { blocks_ahead, ..self }
    }

    /// How what is around a block is read with it.
    pub fn blocks_ahead(&self) -> BlocksAhead {
        self.blocks_ahead
    }

    /// Whether threads of a file system send.
    pub fn are_of_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// Whether somebody waits for what a file system submits now (`REQ_SYNC`).
    pub fn is_sync(&self) -> bool {
        self.is_sync.get()
    }

    /// What is submitted from `now` on is sent by task `task` of a file system; somebody waits for it where that `is_sync`.
    pub fn sends(&self, now: Nanos, task: usize, is_sync: bool) {
        self.is_sync.set(is_sync);
        let Some(threads) = &self.threads else { return };
        let thread = THREADS + task as u64;
        if threads.open.get().is_none_or(|open| open.thread != thread) {
            threads.closed_at.set(now.max(threads.closed_at.get()));
            threads.open.set(Some(Sender { thread, number: self.next_number() }));
        }
    }

    /// A task of a file system sleeps from `at` on.
    pub fn sleeps(&self, at: Nanos, task: usize) {
        let Some(threads) = &self.threads else { return };
        if threads.open.get().is_some_and(|open| open.thread == THREADS + task as u64) {
            threads.closed_at.set(at.max(threads.closed_at.get()));
            threads.open.set(None);
        }
    }

    /// Who submits what is submitted now, where that is a thread of a file system.
    pub fn sender(&self) -> Option<Sender> {
        self.threads.as_ref()?.open.get()
    }

    /// The pieces of a request that `sender` has submitted are sent from now on.
    pub fn begin_for(&self, sender: Sender) {
        let Sender { thread, number } = sender;
        let tries = self.tries();
        self.present.set(Plug { number, thread, is_held: true, is_rest: false, tries });
    }

    /// The same, or of one that nobody in particular has submitted.
    pub fn begin_by(&self, sender: Option<Sender>, request: &Request) {
        match sender {
            Some(sender) => self.begin_for(sender),
            None => self.begin(request),
        }
    }

    /// When a plug that holds something since `plugged_at` is sent on; none as long as its thread neither sleeps nor has sent it all.
    pub(crate) fn closes_at(&self, number: u64, plugged_at: Nanos) -> Option<Nanos> {
        let Some(threads) = &self.threads else { return Some(plugged_at) };
        let is_open = threads.open.get().is_some_and(|open| open.number == number);
        (!is_open).then(|| plugged_at.max(threads.closed_at.get()))
    }

    fn next_number(&self) -> u64 {
        self.begun.set(self.begun.get() + 1);
        self.begun.get()
    }

    /// Who sleeps, where that is so.
    pub fn senders(&self) -> Option<&Senders> {
        self.senders.as_ref()
    }

    /// The thread that sends what is sent now: the program's, or one for the request alone.
    pub fn thread(&self) -> u64 {
        self.present.get().thread
    }

    /// The pieces of `request` are sent from now on, together, and apart from what came before.
    pub fn begin(&self, request: &Request) {
        let number = self.next_number();
        // A flush is a worker's (`io_fsync_prep`).
        let is_workers = self.may_sleep(request) || request.op == Op::Flush;
        let is_programs = self.senders.is_some() && !is_workers;
        self.turn(number, if is_programs { PROGRAM } else { number }, request, false);
    }

    /// The same by a thread of its own: what no program has asked for.
    pub fn begin_beside(&self, request: &Request) {
        let number = self.next_number();
        self.turn(number, number, request, false);
    }

    /// The same of what is left of `request`, which `thread` has begun to send.
    pub fn resume(&self, thread: u64, request: &Request) {
        self.turn(self.next_number(), thread, request, true);
    }

    fn turn(&self, number: u64, thread: u64, request: &Request, is_rest: bool) {
        let (is_held, tries) = (self.hold(request), self.tries_of(request));
        self.present.set(Plug { number, thread, is_held, is_rest, tries });
    }

    /// The thread that sends now, where it sends what is left of a request.
    pub(crate) fn resumed(&self) -> Option<u64> {
        let Plug { thread, is_rest, .. } = self.present.get();
        is_rest.then_some(thread)
    }

    /// Whether the pieces of `request` are held back until all are there.
    pub fn hold(&self, request: &Request) -> bool {
        !self.reads_apart || request.op != Op::Read || request.sectors > ONE_BIO_SECTORS
    }

    /// Whether who sends `request` sleeps where a drive's queue is full. `io_uring`, by which programs send, tries one bio without
    /// that first; larger requests it leaves to a worker at once (`__blkdev_direct_IO`).
    pub fn may_sleep(&self, request: &Request) -> bool {
        !self.by_io_uring || self.fit == Fit::Workers || request.sectors > ONE_BIO_SECTORS
    }

    /// Whether what programs do not send themselves is left to workers, of which there are few.
    pub fn have_workers(&self) -> bool {
        self.by_io_uring
    }

    /// The number of the present plug, and whether it holds anything back.
    pub fn present(&self) -> (u64, bool) {
        let Plug { number, is_held, .. } = self.present.get();
        (number, is_held)
    }
}

/// What a driver does for each stripe that a request touches. RAIDframe makes one graph a stripe, and its
/// engine's thread takes each through its nodes (`rf_State_CreateDAG`, `rf_State_ExecuteDAG` in `rf_states.c`).
#[derive(Clone, Copy, Debug)]
pub struct PerStripe {
    /// In ns.
    pub work_ns: Nanos,
    /// Sectors of data in a stripe, not 0.
    pub stripe_sectors: u64,
}

impl PerStripe {
    /// For all stripes that `request` touches, in ns. Stripes of 32 sectors: sectors 16 to 79 are of three.
    fn of(&self, request: &Request) -> Nanos {
        if request.sectors == 0 {
            return 0;
        }
        let (first, last) = (request.sector, request.end() - 1);
        self.work_ns * (last / self.stripe_sectors - first / self.stripe_sectors + 1)
    }
}

impl Driver {
    /// A driver with these costs, on a processor that does nothing else.
    pub fn new(request_ns: Nanos, command_ns: Nanos) -> Self {
        Driver { request_ns, command_ns, ..Driver::default() }
    }

    /// The same driver on `processor`.
    #[must_use]
    pub fn on(self, processor: &Processor) -> Self {
        Driver { processor: processor.clone(), ..self }
    }

    /// The same driver with work for each stripe that a request touches.
    #[must_use]
    pub fn working_by_stripes(self, per_stripe: PerStripe) -> Self {
        Driver { per_stripe: Some(per_stripe), ..self }
    }

    /// What it does for `request` as such, whatever commands follow, in ns.
    #[inline]
    pub fn request_work_ns(&self, request: &Request) -> Nanos {
        self.request_ns + self.per_stripe.map_or(0, |stripes| stripes.of(request))
    }

    /// Whether it costs no time at all.
    pub fn is_free(&self) -> bool {
        self.request_ns == 0 && self.command_ns == 0 && self.per_stripe.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stripe_that_a_request_touches_costs() {
        let driver =
            Driver::new(100, 0).working_by_stripes(PerStripe { work_ns: 7, stripe_sectors: 4 });
        for sector in 0..9 {
            for sectors in 1..10 {
                let stripes: std::collections::BTreeSet<u64> =
                    (sector..sector + u64::from(sectors)).map(|each| each / 4).collect();
                let work_ns = driver.request_work_ns(&Request::read(sector, sectors));
                assert_eq!(work_ns, 100 + 7 * stripes.len() as u64, "{sector} {sectors}");
            }
        }
        assert_eq!(driver.request_work_ns(&Request::flush()), 100);
        assert!(!driver.is_free());
    }

    #[test]
    fn all_that_runs_on_one_processor_waits_for_it() {
        let processor = Processor::default();
        let (one, other) = (Driver::new(100, 10).on(&processor), Driver::new(5, 5).on(&processor));
        assert_eq!(one.processor.work(0, 1000), (0, 1000));
        assert_eq!(other.processor.work(500, 1000), (1000, 2000));
        assert_eq!((processor.work(3000, 1), processor.busy_ns()), ((3000, 3001), 2001));
        assert_eq!(Driver::new(0, 0).processor.work(500, 7), (500, 507));
    }
}
