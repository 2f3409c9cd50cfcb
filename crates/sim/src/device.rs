//! The seam between everything that serves requests and everything that makes them.

use crate::Spent;
use block::Request;

/// Nanoseconds since the run began.
pub type Nanos = u64;

/// A name that the caller gives a request, to know it again when it is done.
pub type Tag = u64;

/// Something that serves requests. Told the time, never asks for it.
///
/// The contract, which [`crate::contract`] checks for every device there is:
///
/// * `now` never goes back, and `advance(now)` comes before `submit(now)`.
/// * `next_event` costs O(1), is a lower bound on the time of the device's next output, and changes
///   only through the device's own calls.
/// * `advance` called late gives the same events, with the same times, as `advance` called on time:
///   the device steps inside in time order.
/// * Everything submitted comes back as exactly one [`Event::Done`], also after a disturbance.
/// * What changes sectors (a write, a discard, zeroes) and is done well is then heard of exactly once
///   more, as [`Event::Durable`] or [`Event::Lost`]; only a power cut, which takes all that is not
///   durable, ends that in silence.
/// * A flush is done when all that was done before it arrived is durable.
/// * An idle device holds no request state.
/// * The `spent` of a request sums to its latency.
pub trait Device {
    /// What can be addressed.
    fn geometry(&self) -> &Geometry;

    /// Takes in a request that arrives at `now`. It must lie inside its target.
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request);

    /// The earliest time at which `advance` has something to do; `None` while nothing is in flight.
    fn next_event(&self) -> Option<Nanos>;

    /// Does all that is due by `now` and appends what came of it, in time order.
    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>);

    /// Something happens to it. What that ends comes back from the next `advance`.
    fn disturb(&mut self, now: Nanos, what: Disturbance);

    /// Adds what it has done so far to `counters`.
    fn count(&self, counters: &mut Counters);
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn geometry(&self) -> &Geometry {
        (**self).geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        (**self).submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        (**self).next_event()
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        (**self).advance(now, out);
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        (**self).disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        (**self).count(counters);
    }
}

/// What a device lets its user address: targets of 512-byte sectors, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The size of each target, in sectors.
    pub target_sectors: Vec<u64>,
}

impl Geometry {
    /// A device with one target.
    pub fn single(sectors: u64) -> Self {
        Geometry { target_sectors: vec![sectors] }
    }

    /// Stops at a request that does not lie inside its target: that is its maker's bug.
    pub fn check(&self, request: &Request) {
        let sectors = self.target_sectors[request.target as usize];
        assert!(request.end() <= sectors, "{request:?} lies outside its {sectors} sectors");
    }
}

/// What comes out of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is finished.
    Done {
        /// The request's name.
        tag: Tag,
        /// When.
        at: Nanos,
        /// How it went.
        result: Result<(), Fault>,
        /// Where its time went.
        spent: Spent,
    },
    /// What a write (or a discard, or zeroes) changed can no longer be lost to a power cut. It may
    /// follow its `Done` (a write cache) but never comes before it.
    Durable {
        /// The write's name.
        tag: Tag,
        /// When.
        at: Nanos,
    },
    /// What a write stored, and the device had said was done, will never be durable: it was still in
    /// the cache of a target that broke, and nothing else holds it. Where copies or parity hold it, the
    /// write is `Durable` when they are. It follows the break, at once or when the write's other parts
    /// are settled.
    Lost {
        /// The write's name.
        tag: Tag,
        /// When.
        at: Nanos,
    },
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> Nanos {
        match *self {
            Event::Done { at, .. } | Event::Durable { at, .. } | Event::Lost { at, .. } => at,
        }
    }
}

/// Why a request was not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its target is down, and nothing else holds the data.
    Failed,
    /// Sectors that it reads are unreadable until they are written again, and nothing else holds the
    /// data.
    Medium,
    /// The device was reset while the request was in flight.
    Reset,
    /// Power was cut while the request was in flight.
    PowerCut,
}

impl Disturbance {
    /// The fault with which every request in flight comes back, whatever its target; none where only
    /// some do, or none.
    pub fn aborts_all(self) -> Option<Fault> {
        match self {
            Disturbance::Fail(_) | Disturbance::FailDrive(_) | Disturbance::MediumError { .. } => {
                None
            }
            Disturbance::Reset => Some(Fault::Reset),
            Disturbance::PowerCut => Some(Fault::PowerCut),
        }
    }
}

/// Something that happens to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// This target of the device that is told breaks, for good, and with it goes what it alone holds
    /// ([`Event::Lost`]). For a shelf that is a drive; for a volume, what runs it: its drives are as
    /// before, and nobody reaches them through it.
    Fail(u32),
    /// This drive breaks, for good, likewise. Drives are numbered as in [`Counters::targets`], whatever
    /// they are behind; a device without drives of its own hands this down.
    FailDrive(u32),
    /// Sectors of a drive, numbered likewise, cannot be read ([`Fault::Medium`]) until they are written
    /// again.
    MediumError {
        /// The drive.
        drive: u32,
        /// The first sector.
        sector: u64,
        /// How many.
        sectors: u32,
    },
    /// What is in flight is aborted; caches keep what they hold.
    Reset,
    /// What is in flight is lost, and with it whatever was not durable. Power is back at once.
    PowerCut,
}

/// What a device has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Per drive, in the order of the shelf.
    pub targets: Vec<TargetCounters>,
    /// Requests that are kept in mind, at every layer by itself: in flight, or done and not yet durable.
    pub kept: u64,
    /// Sectors of a member that were restored onto a spare.
    pub restored_sectors: u64,
    /// When the last of them were; `None` while some are left, or where there was nothing to restore.
    pub restored_at: Option<Nanos>,
}

/// What one drive has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetCounters {
    /// Requests finished.
    pub commands: u64,
    /// Sectors read by requests.
    pub sectors_read: u64,
    /// Sectors written by requests.
    pub sectors_written: u64,
    /// Reads served from the cache or from read-ahead.
    pub read_hits: u64,
    /// Time with at least one request in flight, in ns.
    pub busy_ns: Nanos,
}
