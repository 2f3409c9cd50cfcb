//! Requests as somebody else made them: a trace, at its own times or as fast as they are done.

use super::stream::OPEN_MAX;
use super::{Came, Name, Next, Workload};
use crate::Nanos;
use block::Request;
use std::collections::VecDeque;

/// A request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it comes; no earlier than the one before.
    pub at_ns: Nanos,
    /// What is asked.
    pub request: Request,
    /// It is sent when a flush of its own is done, and takes as long as both (Linux's `REQ_PREFLUSH`).
    pub flush_first: bool,
}

/// When the requests of a trace are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At their own times, whether or not earlier ones are done.
    Open,
    /// In their order, so many in flight.
    Closed(u32),
}

/// Which requests of a trace count. Those before warm the device up; those behind keep it as busy as it is until the last
/// that counts is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// So many come before.
    pub warm_up: u64,
    /// So many count.
    pub requests: u64,
}

impl Counted {
    /// All of them.
    pub const ALL: Counted = Counted { warm_up: 0, requests: u64::MAX };
}

/// The names of requests that count, and of others.
const COUNTS: Name = 0;
const OTHER: Name = 1;
/// That of the flush in the first slot of [`Replay::behind_flush`]; the others follow.
const FLUSH: Name = 2;

/// A request behind a flush, or none.
type Slot = Option<Behind>;

/// A request that is sent when its flush is done.
#[derive(Clone, Copy, Debug)]
struct Behind {
    request: Request,
    name: Name,
    came_ns: Nanos,
}

/// A trace that is replayed. It holds the next request of it, and those that wait for a flush.
#[derive(Debug)]
pub struct Replay<I> {
    source: I,
    counted: Counted,
    /// Requests that have been made, and those among them that count and are not done yet.
    made: u64,
    awaited: u64,
    next: Option<Traced>,
    pacing: Pacing,
    in_flight: u64,
    behind_flush: Vec<Slot>,
    free: Vec<usize>,
    /// Those whose flush is done.
    flushed: VecDeque<Behind>,
    /// When came what was issued last.
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
        Replay {
            source,
            counted: Counted::ALL,
            made: 0,
            awaited: 0,
            next,
            pacing,
            in_flight: 0,
            behind_flush: Vec::new(),
            free: Vec::new(),
            flushed: VecDeque::new(),
            came_ns: 0,
            gave_up: false,
        }
    }

    /// The same, of which only these requests count. It ends when the last of them is done.
    #[must_use]
    pub fn counting(self, counted: Counted) -> Self {
        Replay { counted, ..self }
    }

    /// Whether the last request that was made counts.
    fn last_counts(&self) -> bool {
        let Counted { warm_up, requests } = self.counted;
        self.made > warm_up && self.made - warm_up <= requests
    }

    /// Whether it ended before the trace did: more came than were done.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// What it reads from.
    pub fn into_source(self) -> I {
        self.source
    }

    /// Issues a request, or the flush that it is behind.
    fn issue(&mut self, behind: Behind, flush_first: bool) -> Next {
        let (name, request) = if flush_first {
            (self.wait_behind(behind), Request::flush())
        } else {
            (behind.name, behind.request)
        };
        self.came_ns = behind.came_ns;
        Next::Issue(name, request)
    }

    /// Keeps a request until its flush is done; the name of that flush.
    fn wait_behind(&mut self, behind: Behind) -> Name {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.behind_flush.push(None);
            self.behind_flush.len() - 1
        });
        self.behind_flush[slot] = Some(behind);
        FLUSH + slot as Name
    }
}

impl<I: Iterator<Item = Traced>> Workload for Replay<I> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if let Some(behind) = self.flushed.pop_front() {
            return self.issue(behind, false);
        }
        let Some(Traced { at_ns, request, flush_first }) = self.next else { return Next::Nothing };
        // The first behind those that count still comes: until then lasts their time.
        let is_over = self.made.saturating_sub(self.counted.warm_up) > self.counted.requests;
        if is_over && self.awaited == 0 {
            return Next::Nothing;
        }
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
        let came_ns = if self.pacing == Pacing::Open { at_ns } else { now };
        self.in_flight += 1;
        self.made += 1;
        self.next = self.source.next();
        let counts = self.last_counts();
        self.awaited += u64::from(counts);
        let name = if counts { COUNTS } else { OTHER };
        self.issue(Behind { request, name, came_ns }, flush_first)
    }

    fn done(&mut self, _: Nanos, name: Name) {
        if let Some(slot) = name.checked_sub(FLUSH) {
            let behind = self.behind_flush[slot as usize].take();
            self.free.push(slot as usize);
            return self.flushed.push_back(behind.expect("a request behind each flush"));
        }
        self.in_flight -= 1;
        self.awaited -= u64::from(name == COUNTS);
    }

    /// By how many were made, for what waited for a flush, too: what counts is one stretch.
    fn counts(&self) -> bool {
        self.last_counts()
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
    use crate::{Outcome, Server, run};

    /// Reads; every `flushed`-th has a flush before it.
    fn traced(times: &[Nanos], flushed: u64) -> impl Iterator<Item = Traced> + '_ {
        (0..).zip(times).map(move |(index, &at_ns)| Traced {
            at_ns,
            request: Request::read(8 * index, 8),
            flush_first: index % flushed == flushed - 1,
        })
    }

    /// Open, the second waits for the first; closed, only one is ever there.
    #[test]
    fn a_trace_is_replayed_at_its_times_or_as_fast_as_it_goes() {
        let mean_ns = |pacing| {
            let mut replay = Replay::new(traced(&[0, 10, 5000], u64::MAX), pacing);
            let outcome = run(&mut Server::new(800, 100), &mut replay);
            assert_eq!((outcome.requests, replay.gave_up()), (3, false));
            (outcome.spent_ns.iter().sum::<u128>(), outcome.elapsed_ns)
        };
        assert_eq!(mean_ns(Pacing::Open), (100 + 190 + 100, 5100));
        assert_eq!(mean_ns(Pacing::Closed(1)), (300, 300));
        assert_eq!(mean_ns(Pacing::Closed(2)), (100 + 200 + 200, 300));
    }

    /// Of windows that tile a trace, the results do: each request counts once, and so does each nanosecond.
    #[test]
    fn windows_with_a_warm_up_of_all_that_is_before_are_the_whole() {
        let times: Vec<Nanos> = (0..90).map(|index| index * 70 + index % 7 * 9).collect();
        let pacings = [Pacing::Open, Pacing::Closed(4)];
        for (pacing, flushed) in pacings.into_iter().flat_map(|of| [(of, u64::MAX), (of, 3)]) {
            let ran = |counted, server_ns| {
                let mut replay = Replay::new(traced(&times, flushed), pacing).counting(counted);
                run(&mut Server::new(800, server_ns), &mut replay)
            };
            // Slower than the requests come, and so fast that it is idle in between.
            for server_ns in [100, 20] {
                let whole = ran(Counted::ALL, server_ns);
                let window = |warm_up| ran(Counted { warm_up, requests: 30 }, server_ns);
                tiles(&whole, &[0, 30, 60].map(window));
            }
        }
    }

    fn tiles(whole: &Outcome, windows: &[Outcome]) {
        let mut latency_ns = whole.latency_ns.clone();
        latency_ns.reset();
        let (mut elapsed_ns, mut busy_ns, mut idle_ns) = (0, 0, 0);
        let counted = windows.iter().map(|window| window.requests);
        // A write may begin behind the end of the window of its flush.
        let is_flushed = !whole.flush_ns.is_empty();
        assert!(is_flushed || counted.clone().all(|requests| requests == 30));
        assert_eq!(counted.sum::<u64>(), whole.requests);
        for window in windows {
            latency_ns.add(&window.latency_ns).unwrap();
            elapsed_ns += window.elapsed_ns;
            busy_ns += window.counters.targets[0].busy_ns;
            idle_ns += window.idle_ns;
        }
        assert_eq!(latency_ns, whole.latency_ns);
        assert_eq!((elapsed_ns, idle_ns), (whole.elapsed_ns, whole.idle_ns));
        assert_eq!(busy_ns, whole.counters.targets[0].busy_ns);
    }

    /// A write behind a flush takes as long as both, and is one request.
    #[test]
    fn a_flush_of_its_own_comes_before_a_request() {
        let ran = |pacing, first: bool| {
            let request = Request::write(0, 8);
            let all = [0, 1000].map(|at_ns| Traced { at_ns, request, flush_first: first });
            let mut replay = Replay::new(all.into_iter(), pacing);
            let outcome = run(&mut Server::new(800, 100), &mut replay);
            assert_eq!((outcome.requests, outcome.flush_ns.len()), (2, 2 * u64::from(first)));
            (outcome.spent_ns.iter().sum::<u128>(), outcome.latency_ns.max(), outcome.elapsed_ns)
        };
        assert_eq!(ran(Pacing::Open, false), (200, 100, 1100));
        assert_eq!(ran(Pacing::Open, true).1, 200);
        assert_eq!(ran(Pacing::Closed(1), true).2, 400);
    }

    #[test]
    fn what_is_too_much_is_given_up() {
        let request = |index| Request::read(index % 90, 8);
        let all =
            (0..).map(|index| Traced { at_ns: index, request: request(index), flush_first: false });
        let mut replay = Replay::new(all, Pacing::Open);
        let outcome = run(&mut Server::new(800, 1_000_000), &mut replay);
        assert!(replay.gave_up() && outcome.requests >= OPEN_MAX);
    }
}
