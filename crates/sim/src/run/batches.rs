//! What a run has done, batch by batch: the completions of equal stretches of time.

use crate::{Nanos, Part, Spent};

/// The length of the first batches. It doubles whenever there are too many.
const WIDTH_NS: Nanos = 1 << 18;

/// The completions of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Successful requests.
    pub requests: u64,
    /// Bytes that they carried.
    pub bytes: u64,
    /// Writes that were done and not yet durable at its end: what caches held, more than when what counts began.
    pub held_writes: u64,
    /// What buffers of drives held of writes at its end, in bytes of requests, where all of them count it. A write over many
    /// drives is held until the last has its part on the medium, and by then the others hold nothing of it.
    pub held_bytes: Option<u64>,
    /// Of a stream that is recorded apart: requests that came, whenever they are done.
    pub arrived: u64,
    /// The latencies of those that were done, in ns, summed.
    pub latency_ns: u64,
    /// How much of that they waited for write-intent bitmaps.
    pub bitmap_ns: u64,
}

/// Completions over time, from time 0 on, in batches of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    width_ns: Nanos,
    closed: Vec<Batch>,
    open: Batch,
    /// What was done until it began.
    before: Done,
    /// Writes that caches held before what counts began.
    held_before: u64,
    /// Those of each stream that is recorded apart.
    streams: Vec<Batches>,
}

/// What reads and writes have done since a run began: how many, with how many bytes, how long they took in all, and how much
/// of that they waited for bitmaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) latency_ns: u128,
    pub(super) bitmap_ns: u128,
}

impl Default for Batches {
    fn default() -> Self {
        Batches {
            width_ns: WIDTH_NS,
            closed: Vec::new(),
            open: Batch::default(),
            before: Done::default(),
            held_before: 0,
            streams: Vec::new(),
        }
    }
}

impl Batch {
    /// A request of so many bytes is done.
    pub(super) fn count(&mut self, bytes: u64, latency_ns: Nanos, spent: &Spent) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency_ns = self.latency_ns.saturating_add(latency_ns);
        self.bitmap_ns = self.bitmap_ns.saturating_add(spent[Part::BITMAP]);
    }
}

impl Batches {
    /// There are never more than this many; then neighbours are joined, and each is twice as long.
    pub const MAX: usize = 64;

    /// The length of each, in ns.
    pub fn width_ns(&self) -> Nanos {
        self.width_ns
    }

    /// How long those that are over took together, in ns.
    pub fn closed_ns(&self) -> Nanos {
        self.width_ns * self.closed().len() as u64
    }

    /// Those that are over, in order.
    pub fn closed(&self) -> &[Batch] {
        &self.closed
    }

    /// The same, with so many streams apart.
    pub(super) fn apart(streams: usize) -> Self {
        Batches { streams: vec![Batches::default(); streams], ..Batches::default() }
    }

    /// Begins again: what was done until now was a warm-up, and what caches hold of it stays out.
    pub(super) fn begin(&mut self) {
        let held_writes = self.open.held_writes;
        let begun = Batches::apart(self.streams.len());
        let open = Batch { held_writes, ..Batch::default() };
        *self = Batches { open, held_before: held_writes, ..begun };
    }

    /// Those of each stream that is recorded apart, of the same lengths.
    pub fn streams(&self) -> &[Batches] {
        &self.streams
    }

    /// The current one of a stream.
    pub(super) fn of_stream(&mut self, stream: usize) -> &mut Batch {
        &mut self.streams[stream].open
    }

    /// When the current one is over.
    pub(super) fn boundary_ns(&self) -> Nanos {
        self.width_ns * (self.closed.len() as u64 + 1)
    }

    /// The current one.
    pub(super) fn open(&mut self) -> &mut Batch {
        &mut self.open
    }

    /// The current one is over. What was `done` until now less what was until it began is of it: no request is counted here by
    /// itself.
    pub(super) fn close_after(&mut self, done: Done) {
        let before = std::mem::replace(&mut self.before, done);
        let nanos = |all: u128, before: u128| Nanos::try_from(all - before).unwrap_or(Nanos::MAX);
        self.open.requests = done.requests - before.requests;
        self.open.bytes = done.bytes - before.bytes;
        self.open.latency_ns = nanos(done.latency_ns, before.latency_ns);
        self.open.bitmap_ns = nanos(done.bitmap_ns, before.bitmap_ns);
        self.close();
    }

    /// The current one, whose requests were counted one by one, is over.
    fn close(&mut self) {
        let held_writes = self.open.held_writes.saturating_sub(self.held_before);
        self.closed.push(Batch { held_writes, ..self.open });
        self.open = Batch { held_writes: self.open.held_writes, ..Batch::default() };
        self.streams.iter_mut().for_each(Batches::close);
    }

    /// What requests waited for write-intent bitmaps since so many batches, as a share of how long they took.
    pub fn bitmap_share(&self, since: usize) -> f64 {
        let sum = |part: fn(&Batch) -> u64| {
            self.closed[since..].iter().map(part).map(|ns| ns as f64).sum::<f64>()
        };
        sum(|batch| batch.bitmap_ns) / sum(|batch| batch.latency_ns).max(1.0)
    }

    /// Whether so much has passed as twice, four, eight … times before: when a mark is set.
    pub(super) fn doubled(&self) -> bool {
        self.closed.len().is_power_of_two()
            && (self.closed.len() == Self::MAX || self.width_ns == WIDTH_NS)
    }

    /// Whether it is time to look whether the run is long enough: each time that it is 4/3 or 3/2 as long.
    pub(super) fn due(&self) -> bool {
        self.is_full() || self.closed.len() == Self::MAX * 3 / 4
    }

    /// Whether there are as many as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.closed.len() == Self::MAX
    }

    /// Joins neighbours.
    pub(super) fn join(&mut self) {
        let joined = self.closed.chunks_exact(2).map(|two| Batch {
            requests: two[0].requests + two[1].requests,
            bytes: two[0].bytes + two[1].bytes,
            held_writes: two[1].held_writes,
            held_bytes: two[1].held_bytes,
            arrived: two[0].arrived + two[1].arrived,
            latency_ns: two[0].latency_ns.saturating_add(two[1].latency_ns),
            bitmap_ns: two[0].bitmap_ns.saturating_add(two[1].bitmap_ns),
        });
        self.closed = joined.collect();
        self.width_ns *= 2;
        self.streams.iter_mut().for_each(Batches::join);
    }
}
