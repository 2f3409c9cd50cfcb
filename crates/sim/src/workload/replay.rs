//! Requests as somebody else made them: a trace, at its own times or as fast as they are done.

use super::stream::OPEN_MAX;
use super::{Came, Name, Next, Workload};
use crate::Nanos;
use block::Request;

/// A request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it comes; no earlier than the one before.
    pub at_ns: Nanos,
    /// What is asked.
    pub request: Request,
}

/// When the requests of a trace are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At their own times, whether or not earlier ones are done.
    Open,
    /// In their order, so many in flight.
    Closed(u32),
}

/// A trace that is replayed. It holds one request of it at a time.
#[derive(Debug)]
pub struct Replay<I> {
    source: I,
    next: Option<Traced>,
    pacing: Pacing,
    in_flight: u64,
    came_ns: Nanos,
    gave_up: bool,
}

impl<I: Iterator<Item = Traced>> Replay<I> {
    /// Nothing has been made yet.
    ///
    /// # Panics
    ///
    /// Where none may be in flight.
    pub fn new(mut source: I, pacing: Pacing) -> Self {
        assert!(pacing != Pacing::Closed(0), "a replay needs at least one request in flight");
        let next = source.next();
        Replay { source, next, pacing, in_flight: 0, came_ns: 0, gave_up: false }
    }

    /// Whether it ended before the trace did: more came than were done.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// What it reads from.
    pub fn into_source(self) -> I {
        self.source
    }
}

impl<I: Iterator<Item = Traced>> Workload for Replay<I> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        let Some(Traced { at_ns, request }) = self.next else { return Next::Nothing };
        match self.pacing {
            Pacing::Open if at_ns > now => return Next::At(at_ns),
            Pacing::Open if self.in_flight >= OPEN_MAX => {
                self.gave_up = true;
                self.next = None;
                return Next::Nothing;
            }
            Pacing::Closed(depth) if self.in_flight >= u64::from(depth) => return Next::Nothing,
            Pacing::Open | Pacing::Closed(_) => {}
        }
        self.came_ns = if self.pacing == Pacing::Open { at_ns } else { now };
        self.in_flight += 1;
        self.next = self.source.next();
        Next::Issue(0, request)
    }

    fn done(&mut self, _: Nanos, _: Name) {
        self.in_flight -= 1;
    }

    fn streams(&self) -> usize {
        1
    }

    fn came(&self, _: Name) -> Came {
        Came { stream: 0, at: self.came_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Server, run};

    fn traced(times: &[Nanos]) -> impl Iterator<Item = Traced> + '_ {
        let request = |index: u64| Request::read(8 * index, 8);
        (0..).zip(times).map(move |(index, &at_ns)| Traced { at_ns, request: request(index) })
    }

    /// Open, the second waits for the first; closed, only one is ever there.
    #[test]
    fn a_trace_is_replayed_at_its_times_or_as_fast_as_it_goes() {
        let mean_ns = |pacing| {
            let mut replay = Replay::new(traced(&[0, 10, 5000]), pacing);
            let outcome = run(&mut Server::new(800, 100), &mut replay);
            assert_eq!((outcome.requests, replay.gave_up()), (3, false));
            (outcome.spent_ns.iter().sum::<u128>(), outcome.elapsed_ns)
        };
        assert_eq!(mean_ns(Pacing::Open), (100 + 190 + 100, 5100));
        assert_eq!(mean_ns(Pacing::Closed(1)), (300, 300));
        assert_eq!(mean_ns(Pacing::Closed(2)), (100 + 200 + 200, 300));
    }

    #[test]
    fn what_is_too_much_is_given_up() {
        let all = (0..).map(|index| Traced { at_ns: index, request: Request::read(index % 90, 8) });
        let mut replay = Replay::new(all, Pacing::Open);
        let outcome = run(&mut Server::new(800, 1_000_000), &mut replay);
        assert!(replay.gave_up() && outcome.requests >= OPEN_MAX);
    }
}
