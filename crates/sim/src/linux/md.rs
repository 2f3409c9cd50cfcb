//! md's RAID 5 and 6 as Linux runs them: a cache of rows, filled by writers and emptied by a thread.
//!
//! ```text
//! writer   cuts a request into bios of 1 MiB, adds each bio's blocks to the rows that they fall in, and sleeps
//!          when no row is free                                                     md/submit.rs
//! workers  do so for requests of more than one bio, several at a time                 md/workers.rs
//! thread   takes eight rows at a time: reads what parity needs, or writes           md/thread.rs
//! retries  reads that found no place in a member's queue: the thread reads them row by row    md/retries.rs
//! bitmap   rows of a part that was not written to lately wait until the members have its bit    md/intents.rs
//! marks    a write to an array that nobody has used for a while waits for the superblocks       md/marks.rs
//! rebuild  md's thread that restores a member asks for one row after the other         md/restoring.rs
//! delays   keep rows of buffered writes that are not whole, until nothing else is to do  md/delayed.rs
//! queues   merge the 4 KiB bios into requests for the members                        queue.rs
//! ```
//!
//! What decides the rate of writing in order is how much of a row a writer has added when the thread
//! comes to it: what is missing is read first. Reads go past the cache to the members, but where a member
//! is down or its queue is full. From `drivers/md/raid5.c` of Linux 6.1; docs/md.md has the rules, what each was held to, and by
//! how much it errs.

mod bio;
mod cache;
mod carries;
mod costs;
mod delayed;
mod intents;
mod marks;
mod members;
mod readers;
mod restoring;
mod retries;
mod row;
mod rows;
mod submit;
mod thread;
mod workers;

use super::bitmap::{Bitmap, BitmapSpec};
use super::callers::Callers;
use super::in_use::Marks;
use super::queue::{PAGE_SECTORS, Plug, QueueSpec};
use super::requests::Requests;
use super::writer::Writer;
use crate::by_number::ByNumber;
use crate::outbox::earlier;
use crate::{
    Counters, Device, Disturbance, Driver, Event, Fault, Geometry, Nanos, Spent, Tag, step_by_step,
};
use bio::Bio;
use block::units::format_sectors;
use block::{Health, Layout, Place, Request};
use cache::Cache;
use carries::Carries;
pub use costs::RowCosts;
use delayed::Delayed;
use intents::Intents;
use readers::Readers;
use restoring::Restoring;
use retries::Retries;
use row::Units;
use rows::Rows;
use slab::Slab;
use std::collections::VecDeque;
use std::fmt;
use workers::Workers;

/// The most members: a row of the stripe cache has a bit for each.
pub const MEMBERS_MAX: usize = 64;

/// How md runs an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MdSpec {
    /// Rows in the stripe cache to begin with (`stripe_cache_size`, 256 where nobody has set it).
    pub stripe_cache_rows: usize,
    /// The members' queues.
    pub queue: QueueSpec,
    /// What is written comes page by page from the page cache's write-back, and rows that are not whole wait for the
    /// rest (no `REQ_SYNC`); else it is direct I/O.
    pub is_written_back: bool,
    /// The bitmap that it keeps, if any.
    pub bitmap: Option<BitmapSpec>,
    /// It gets bios that are cut where chunks end, as device-mapper does (`dm_set_target_max_io_len` in `dm-raid.c`).
    pub is_cut_at_chunks: bool,
}

/// Why an array cannot be run so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MdError {
    /// The chunk is not a multiple of 4 KiB.
    Chunk {
        /// The chunk, in sectors.
        interleave_sectors: u64,
    },
    /// The stripe cache has fewer rows than md allows (17).
    StripeCache {
        /// The rows asked for.
        rows: usize,
    },
    /// The layout has no parity.
    NoParity,
    /// More members than a row has bits for.
    Members {
        /// How many.
        members: usize,
    },
}

impl fmt::Display for MdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MdError::Chunk { interleave_sectors } => {
                let chunk = format_sectors(*interleave_sectors);
                write!(f, "md's chunk is a multiple of 4 KiB, not {chunk}")
            }
            MdError::StripeCache { rows } => {
                write!(f, "a stripe cache of {rows} rows is too small; md takes 17 to 32768")
            }
            MdError::NoParity => {
                write!(f, "md runs RAID 4, 5 and 6 through its stripe cache, and nothing else")
            }
            MdError::Members { members } => write!(f, "{members} members are more than 64"),
        }
    }
}

impl std::error::Error for MdError {}

/// RAID 5 or 6 over the targets of one lower device.
pub struct Md<D> {
    layout: Box<dyn Layout>,
    /// Units of data and of parity in a row, and what is in which.
    data: u32,
    parities: u32,
    rows: Rows,
    is_cut_at_chunks: bool,
    driver: Driver,
    members: Requests<D, Carries>,
    geometry: Geometry,
    health: Health,
    /// The member that is being restored. Once that is over: how many sectors were restored, and when the last was.
    restoring: Option<Restoring>,
    restored: (u64, Option<Nanos>),
    /// What runs it has failed: nothing is served any more.
    down: bool,
    callers: Callers,
    /// Requests of callers that no writer has begun on, and whether somebody waits for them (`REQ_SYNC`).
    arrived: VecDeque<(usize, bool)>,
    /// Bios that a writer has still to add to rows, in order.
    bios: VecDeque<Bio>,
    workers: Workers,
    retries: Retries,
    readers: Readers,
    /// Requests of the member for which the thread sleeps that are done since.
    freed: usize,
    cache: Cache,
    /// Rows that its writer holds back, since so many unplugs.
    plugged: Vec<usize>,
    plugged_since: u64,
    /// Rows let go of by writers and members, then those that the thread has taken in.
    released: VecDeque<usize>,
    handle: VecDeque<usize>,
    /// Rows that wait for the rest of what is written to them; `None` where none does.
    delayed: Option<Delayed>,
    /// The bitmap, where there is one.
    intents: Option<Intents>,
    /// Whether it is marked as in use.
    marks: Marks,
    writes: Slab<RowWrite>,
    /// How far each write, by its slot, is from being durable.
    settling: Vec<Settling>,
    /// How many of them are of whole rows and not done (`pending_full_writes`).
    whole_writes: usize,
    /// The last write of each row that is done and not durable, by the row's number.
    undurable: ByNumber<usize>,
    /// Steps that the thread has decided on and not yet sent.
    steps: VecDeque<RowStep>,
    thread: Thread,
    /// When the processor goes on.
    runs_at: Option<Nanos>,
    /// Up to when the processor is busy.
    busy_to: Nanos,
    /// What rows cost the thread, and what it has done in this piece of its pass.
    costs: RowCosts,
    worked_ns: Nanos,
    /// What the thread holds back.
    plug: Plug,
    /// Its writer, and whether it has it.
    writer: Writer,
    has_writer: bool,
}

/// A write of one row, or of several whole ones.
#[derive(Clone, Debug)]
struct RowWrite {
    /// Who wrote how many parts of it, in the order of their last ones.
    callers: Vec<(usize, u32)>,
    rows: Vec<usize>,
    /// The numbers of its rows that callers have written to.
    intended: Vec<u64>,
    units: Units,
    /// Parity is worked out; the next time the thread comes to it, it is sent.
    is_sent: bool,
    fua: bool,
    /// The numbers of its rows, once it is done and not durable.
    numbers: Vec<u64>,
    /// Later writes of the same rows, which are durable no sooner.
    followers: Vec<usize>,
    fault: Option<Fault>,
    /// What it read first.
    read: Spent,
}

/// How far a write of rows is from being durable. There are many in the caches of the drives, and one after the other is
/// looked at as drives write them: these lie side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Settling {
    /// Parts that are not durable, and earlier writes of its rows that are not.
    undurable: u32,
    is_done: bool,
    /// Members that were lost with what they had of it, a bit each.
    lost: u64,
}

impl RowWrite {
    /// A write of nothing that nobody has asked for.
    fn of_nobody() -> Self {
        RowWrite {
            callers: Vec::new(),
            rows: Vec::new(),
            intended: Vec::new(),
            units: 0,
            is_sent: false,
            fua: false,
            numbers: Vec::new(),
            followers: Vec::new(),
            fault: None,
            read: Spent::NONE,
        }
    }

    /// Whether all data of its rows are written, of which there are so many units.
    fn is_whole(&self, data: u32) -> bool {
        let all = (1 << data) - 1;
        self.units & all == all
    }

    /// Whether it is forced, and its callers wait until earlier writes of its rows are durable, too.
    fn is_late(&self) -> bool {
        self.fua && !self.numbers.is_empty()
    }
}

/// One unit of a row, to be read or written; where rows are written as one, of several that follow each other.
#[derive(Clone, Copy, Debug)]
struct RowStep {
    /// The row, or the head of those that are written as one.
    row: usize,
    unit: u32,
    member: u32,
    /// Where it starts on the member.
    sector: u64,
    rows: u32,
    /// The write that it is a part of.
    write: Option<usize>,
    fua: bool,
    /// It is merged with no other (`R5_ReadNoMerge`).
    is_alone: bool,
}

impl RowStep {
    /// The first of its rows, so many of them.
    fn first(self, rows: u32) -> Self {
        RowStep { rows, ..self }
    }

    /// What is left without so many of its rows.
    fn without_first(self, rows: u32) -> Option<Self> {
        let sector = self.sector + u64::from(rows * PAGE_SECTORS);
        (rows < self.rows).then_some(RowStep { sector, rows: self.rows - rows, ..self })
    }
}

/// What the thread (raid5d) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    Sleeps,
    Runs,
    /// It sleeps in the middle of a pass, until this member has room for a request.
    WaitsFor(u32),
    /// It sleeps until the members have the bits of what it would handle next.
    WaitsForBitmap,
}

impl<D: Device> Md<D> {
    /// `layout` over the targets of `below`. The writer works for `driver.request_ns` on each request, and the thread on rows for
    /// as long as `driver.rows` says; without that, for `driver.command_ns` on each bio of 4 KiB that it sends to a
    /// member.
    ///
    /// # Errors
    ///
    /// Where md would not run it so.
    ///
    /// # Panics
    ///
    /// Where the layout has another number of members than `below` has targets.
    pub fn new(
        layout: Box<dyn Layout>,
        below: D,
        driver: Driver,
        spec: MdSpec,
    ) -> Result<Self, MdError> {
        let members = layout.members();
        assert_eq!(members, below.geometry().target_sectors.len(), "one target a member");
        let parity = layout.parity().ok_or(MdError::NoParity)?;
        let (data, parities) = (parity.data_units(), parity.parities());
        let interleave_sectors = parity.interleave_sectors();
        if !interleave_sectors.is_multiple_of(u64::from(PAGE_SECTORS)) {
            return Err(MdError::Chunk { interleave_sectors });
        }
        if spec.stripe_cache_rows < 17 {
            return Err(MdError::StripeCache { rows: spec.stripe_cache_rows });
        }
        if members > MEMBERS_MAX {
            return Err(MdError::Members { members });
        }
        // The bitmap is of what the array uses of each member (`resync_max_sectors`).
        let used_sectors = layout.sectors() / u64::from(data);
        Ok(Md {
            geometry: Geometry::single(layout.sectors()),
            health: Health::all_up(members),
            restoring: None,
            restored: (0, None),
            down: false,
            callers: Callers::default(),
            arrived: VecDeque::new(),
            bios: VecDeque::new(),
            workers: Workers::default(),
            retries: Retries::default(),
            readers: Readers::default(),
            freed: 0,
            cache: Cache::new(spec.stripe_cache_rows),
            plugged: Vec::new(),
            plugged_since: 0,
            released: VecDeque::new(),
            handle: VecDeque::new(),
            delayed: spec.is_written_back.then(Delayed::default),
            intents: spec.bitmap.map(|bitmap| Intents::new(bitmap, used_sectors)),
            marks: Marks::with_header(
                spec.bitmap.map(|spec| Bitmap::of(used_sectors, spec.bits).header()),
            ),
            writes: Slab::new(),
            settling: Vec::new(),
            whole_writes: 0,
            undurable: ByNumber::default(),
            steps: VecDeque::new(),
            thread: Thread::Sleeps,
            runs_at: None,
            busy_to: 0,
            costs: driver.rows.unwrap_or_default(),
            worked_ns: 0,
            plug: Plug::default(),
            writer: Writer::default(),
            has_writer: false,
            members: Requests::new(below, spec.queue),
            layout,
            data,
            parities,
            rows: Rows::new(interleave_sectors, data),
            is_cut_at_chunks: spec.is_cut_at_chunks,
            driver,
        })
    }

    /// The same array with these members down from the start.
    #[must_use]
    pub fn degraded(mut self, members: &[u32]) -> Self {
        for &member in members {
            self.health.fail(member);
        }
        self
    }

    /// The same array, never marked as clean however long nobody writes to it.
    #[must_use]
    pub fn kept_in_use(mut self) -> Self {
        self.marks = self.marks.kept();
        self
    }

    /// The same array with a writer that writes to other arrays, too.
    #[must_use]
    pub fn written_by(mut self, writer: &Writer) -> Self {
        self.writer = writer.clone();
        self
    }

    /// The writer has nothing more to give, or it sleeps.
    fn let_writer_go(&mut self, now: Nanos) {
        if !self.bios.is_empty() {
            self.writer.unplug(now);
        } else if self.arrived.is_empty() && std::mem::take(&mut self.has_writer) {
            self.writer.leaves(now);
        }
    }

    /// When its writer lets go of rows that it has held back.
    fn unplugged_at(&self) -> Option<Nanos> {
        let is_over = !self.plugged.is_empty() && self.plugged_since != self.writer.unplugs();
        is_over.then(|| self.writer.unplugged_at().max(self.busy_to))
    }

    /// When the processor goes on.
    fn runs_at(&self) -> Option<Nanos> {
        earlier(earlier(self.runs_at, self.unplugged_at()), self.restores_at())
    }

    /// The processor has something to do, as soon as it is free.
    fn wake(&mut self, now: Nanos) {
        let at = now.max(self.busy_to);
        self.runs_at = Some(self.runs_at.map_or(at, |runs_at| runs_at.min(at)));
    }

    /// Where a unit of row `number` of the cache starts.
    fn place(&self, number: u64, unit: u32) -> Place {
        let page = u64::from(PAGE_SECTORS);
        let rows = self.rows.in_chunk();
        let (chunk_row, within) = (number / rows, number % rows * page);
        let Some(parity) = unit.checked_sub(self.data) else {
            let mut places = Vec::with_capacity(1);
            let chunk = chunk_row * u64::from(self.data) + u64::from(unit);
            self.layout.places(chunk * self.rows.chunk_sectors() + within, &mut places);
            return places[0];
        };
        let (p, q) = self.layout.row_parity(chunk_row).expect("there is parity");
        let place = if parity == 0 { p } else { q.expect("there is a second parity") };
        Place { sector: place.sector + within, ..place }
    }

    /// Does some of what is due at its next event.
    fn step_to(&mut self, step: Nanos, out: &mut Vec<Event>) {
        if self.members.next_event().is_some_and(|at| at <= step) {
            self.take_events(step);
        } else if self.runs_at().is_some_and(|at| at <= step) {
            self.run(step);
        } else if self.clean_at().is_some_and(|at| at <= step) {
            self.mark_as_clean(step);
        }
        self.wake_sleepers(step);
        self.callers.outbox.collect(step, out);
    }
}

impl<D: Device> Device for Md<D> {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let caller = self.callers.arrived(now, tag, request);
        if self.down {
            return self.callers.part_done(now, caller, Spent::NONE, Some(Fault::Failed));
        }
        // Where one thread writes to several arrays, which of its requests this is a piece of is not known here.
        let is_sync = self.driver.plugs.is_sync() && !self.writer.is_plugged();
        self.arrived.push_back((caller, is_sync));
        self.has_writer = true;
        self.writer.enters();
        self.wake(now);
    }

    fn next_event(&self) -> Option<Nanos> {
        let inside = earlier(self.members.next_event(), self.runs_at());
        earlier(earlier(inside, self.clean_at()), self.callers.outbox.next_event())
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::step_to)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if let Disturbance::Fail(_) = what {
            // The members settle what they have.
            self.down = true;
            return self.abort(now, Fault::Failed);
        }
        self.members.below.disturb(now, what);
        self.wake(now);
        if let Some(fault) = what.aborts_all() {
            self.abort(now, fault);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += (self.callers.all.len() + self.cache.active()) as u64;
        counters.refused += self.retries.count;
        self.count_restored(counters);
        self.members.count(counters);
    }
}
