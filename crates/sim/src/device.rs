//! The seam between what serves requests and what makes them.

use crate::Spent;
use block::Request;

/// Nanoseconds since the run began.
pub type Nanos = u64;

/// A name that the caller gives a request, to recognise it when it is done.
pub type Tag = u64;

/// Something that serves requests. It is told the time and never asks for it.
///
/// The contract; [`crate::contract`] checks it for every device:
///
/// * `now` never goes back, and [`Advance::advance`] to `now` comes before `submit(now)` and before a disturbance at
///   `now`, also behind another: what that one ended is collected first.
/// * `next_event` costs O(1), is a lower bound on the time of the device's next output, and changes
///   only through the device's own calls.
/// * `proceed` called late gives the same events, with the same times, as `proceed` called on time:
///   inside, the device steps in time order.
/// * Everything submitted comes back as exactly one [`Event::Done`], also after a disturbance.
/// * Every successful change of sectors (a write, a discard, zeroes) has exactly one later event,
///   [`Event::Durable`] or [`Event::Lost`]. The exception is a power cut: it loses everything that is
///   not durable, and no event follows.
/// * A flush is done when everything that was done before it arrived is durable.
/// * An idle device holds no request state.
/// * The `spent` of a request sums to its latency.
pub trait Device {
    /// The sectors that can be addressed.
    fn geometry(&self) -> &Geometry;

    /// Accepts a request that arrives at `now`. It must lie inside its target.
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request);

    /// Accepts a read that arrives at `now`, while nothing else is in flight. If the device's next event would be the success
    /// of this read, at `limit` or before, it may serve the read here: it returns when that is done, `spent` is where the time
    /// went, and no event follows. Otherwise the read is submitted like any other. For a program that waits for each of its
    /// requests, taking them in and handing them out is a sixth of the cost of simulating it.
    fn serve(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: Request,
        _limit: Nanos,
        _spent: &mut Spent,
    ) -> Option<Nanos> {
        self.submit(now, tag, request);
        None
    }

    /// The earliest time at which `proceed` has something to do; `None` while nothing is in flight.
    fn next_event(&self) -> Option<Nanos>;

    /// Does what is due, one time after the other and none after `limit`, until something comes out: everything of that
    /// time. Returns when that was; `None` where nothing came out, and all that was due by `limit` is done. Much of what
    /// happens in a device is seen by nobody, which is why this is one call.
    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos>;

    /// Something happens to it. Requests that this ends come back from the next `proceed`.
    fn disturb(&mut self, now: Nanos, what: Disturbance);

    /// Adds its work so far to `counters`.
    fn count(&self, counters: &mut Counters);
}

/// What can be done with every device.
pub trait Advance: Device {
    /// Does everything that is due by `now` and appends the resulting events, in time order.
    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        // What comes at `now` comes with all that is due by then.
        while self.proceed(now, out).is_some_and(|at| at < now) {}
    }
}

impl<D: Device + ?Sized> Advance for D {}

/// [`Device::proceed`] of a device that does with `step` some of what is due at its next event.
pub fn step_by_step<D: Device + ?Sized>(
    device: &mut D,
    mut limit: Nanos,
    out: &mut Vec<Event>,
    mut step: impl FnMut(&mut D, Nanos, &mut Vec<Event>),
) -> Option<Nanos> {
    let (before, mut came) = (out.len(), None);
    while let Some(at) = device.next_event()
        && at <= limit
    {
        step(device, at, out);
        if out.len() > before {
            // What else is due at that time comes with it.
            (limit, came) = (at, Some(at));
        }
    }
    came
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn geometry(&self) -> &Geometry {
        (**self).geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        (**self).submit(now, tag, request);
    }

    fn serve(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: Request,
        limit: Nanos,
        spent: &mut Spent,
    ) -> Option<Nanos> {
        (**self).serve(now, tag, request, limit, spent)
    }

    fn next_event(&self) -> Option<Nanos> {
        (**self).next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        (**self).proceed(limit, out)
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

    /// Panics if a request does not lie inside its target: that is a bug of whoever made it.
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
        /// Its result.
        result: Result<(), Fault>,
        /// Where its time went.
        spent: Spent,
    },
    /// A power cut can no longer lose what a write (or a discard, or zeroes) changed. It may follow its
    /// `Done` (a write cache) but never precedes it.
    Durable {
        /// The write's name.
        tag: Tag,
        /// When.
        at: Nanos,
    },
    /// What a finished write stored will never be durable: it was still in the cache of a target that
    /// failed or lost its power, and nothing else holds it. Where copies or parity hold it, the write is `Durable` when
    /// they are. This event follows the failure, at once or when the write's other parts are settled.
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
    /// It reads sectors that are unreadable until they are rewritten, and nothing else holds the data.
    Medium,
    /// The device was reset while the request was in flight.
    Reset,
    /// Power was cut while the request was in flight.
    PowerCut,
}

impl Disturbance {
    /// The fault of every request in flight, whatever its target; none where the disturbance ends only
    /// some of them, or none.
    pub fn aborts_all(self) -> Option<Fault> {
        matches!(self, Disturbance::Reset | Disturbance::PowerCut).then(|| self.fault())
    }

    /// The fault of what it ends, at a drive that it hits.
    pub fn fault(self) -> Fault {
        match self {
            Disturbance::Fail(_) | Disturbance::FailDrive(_) => Fault::Failed,
            Disturbance::MediumError { .. } => Fault::Medium,
            Disturbance::Reset => Fault::Reset,
            Disturbance::PowerCut | Disturbance::CutDrive(_) => Fault::PowerCut,
        }
    }

    /// Whether it says of each finished write that it loses that it is [`Event::Lost`]: others go on, and count on that.
    pub fn says_what_is_lost(self) -> bool {
        matches!(self, Disturbance::Fail(_) | Disturbance::FailDrive(_) | Disturbance::CutDrive(_))
    }
}

/// Something that happens to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// This target of this device fails for good, and what it alone holds is lost ([`Event::Lost`]).
    /// For a shelf that is a drive. For a volume it is whatever runs the volume: its drives are as
    /// before, but out of reach.
    Fail(u32),
    /// This drive fails for good. Drives are numbered as in [`Counters::targets`], whatever is in front
    /// of them. A device without drives of its own passes this down.
    FailDrive(u32),
    /// Sectors of a drive cannot be read ([`Fault::Medium`]) until they are rewritten. Drives are
    /// numbered in the same way.
    MediumError {
        /// The drive.
        drive: u32,
        /// The first sector.
        sector: u64,
        /// How many.
        sectors: u32,
    },
    /// Requests in flight are aborted; caches keep their content.
    Reset,
    /// Requests in flight are lost, and so is everything that was not durable. Power is back at once.
    PowerCut,
    /// This drive alone loses its power, which is back at once: it has nothing in its cache and nothing to do, and its arm is
    /// where it was. Its requests in flight are lost ([`Fault::PowerCut`]), and what it alone held is ([`Event::Lost`]).
    /// Drives are numbered as for `FailDrive`. What runs a volume over drives is not told: to it, commands have failed.
    CutDrive(u32),
}

/// What a device has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Per drive, in the order of the shelf.
    pub targets: Vec<TargetCounters>,
    /// Requests that hold state, counted at every layer: in flight, or done and not yet durable.
    pub kept: u64,
    /// Reads that found no place in a member's queue, and were read again row by row (md's RAID 4, 5 and 6).
    pub refused: u64,
    /// Sectors of a member that were restored onto a spare.
    pub restored_sectors: u64,
    /// When the last of them were; `None` while some remain, or where there was nothing to restore.
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
    /// I/Os that a cloud volume's limits counted.
    pub billed: u64,
    /// How many of them its burst credit is short of at the end: they passed ahead of the base rate.
    pub on_credit: u64,
    /// Writes that a shingled disk's media cache holds beyond those it held when the run began.
    pub deferred: u64,
    /// Sectors that only its write buffer holds now, copies and parity among them; none where nobody counts them.
    pub held_sectors: Option<u64>,
    /// Time with at least one request in flight, or in which a disk writes what its buffer holds, in ns, until it last did
    /// neither.
    pub busy_ns: Nanos,
    /// Since when it has done so; `None` while it does not.
    pub busy_since: Option<Nanos>,
}

impl Counters {
    /// Sectors that only write buffers hold now, where there are drives and every one counts them.
    pub(crate) fn held_sectors(&self) -> Option<u64> {
        self.targets
            .iter()
            .map(|target| target.held_sectors)
            .reduce(|all, own| Some(all? + own?))?
    }

    /// Sectors that drives have written, or taken into their buffers.
    pub(crate) fn sectors_written(&self) -> u64 {
        self.targets.iter().map(|target| target.sectors_written).sum()
    }

    /// Counts what is in flight at `now` as busy until then.
    pub(crate) fn close_at(&mut self, now: Nanos) {
        for target in &mut self.targets {
            let since = target.busy_since.take().unwrap_or(now);
            target.busy_ns += now.saturating_sub(since);
        }
    }

    /// Takes off what the drives had done at an `earlier` time.
    pub fn take_off(&mut self, earlier: &Counters) {
        self.refused -= earlier.refused;
        for (target, before) in self.targets.iter_mut().zip(&earlier.targets) {
            target.commands -= before.commands;
            target.sectors_read -= before.sectors_read;
            target.sectors_written -= before.sectors_written;
            target.read_hits -= before.read_hits;
            target.billed -= before.billed;
            // Credit may have been earned meanwhile.
            target.on_credit = target.on_credit.saturating_sub(before.on_credit);
            // What was there before may have been put away.
            target.deferred = target.deferred.saturating_sub(before.deferred);
            // A device may count a command's time when it takes it.
            target.busy_ns = target.busy_ns.saturating_sub(before.busy_ns);
        }
    }
}
