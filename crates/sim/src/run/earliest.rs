//! The first latencies of a run, one by one: what a mark among them leaves out is known without a copy of all histograms.

use super::Outcome;
use super::outcome::histogram;
use crate::Nanos;

/// Which of the latency histograms a request belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sort {
    Read,
    Modify,
    Flush,
}

/// The latencies of a successful request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) sort: Sort,
    /// Which stream it came from, where they are recorded apart.
    pub(super) stream: Option<u32>,
    /// Since the program had it.
    pub(super) whole_ns: Nanos,
    /// Since the device had it.
    pub(super) served_ns: Nanos,
}

/// About as many as a short trial has. Later on marks are so far from each other that copies do not count.
const MOST: usize = 1 << 12;

/// The latencies of the first requests that were done.
#[derive(Clone, Debug, Default)]
pub(super) struct Earliest(Vec<Latency>);

impl Earliest {
    /// One more, unless there are too many.
    #[inline]
    pub(super) fn push(&mut self, latency: Latency) {
        if self.0.len() <= MOST {
            self.0.push(latency);
        }
    }

    /// How many requests are done, if all of them are here.
    pub(super) fn all(&self) -> Option<usize> {
        (self.0.len() <= MOST).then_some(self.0.len())
    }

    /// Puts the latencies of the first so many requests into an outcome that has none.
    pub(super) fn fill(&self, outcome: &mut Outcome, first: usize) {
        outcome.latencies_mut().for_each(|latencies_ns| *latencies_ns = histogram());
        for latency in &self.0[..first] {
            outcome.note_latency(latency);
        }
    }
}
