//! Read-ahead: filling a segment while no command needs the arm.
//!
//! Read-ahead is computed lazily: it schedules no events, because nobody waits for it unless a request
//! needs it. Its state is updated when the drive next looks at it.

use super::cache::Segments;
use super::mechanics::{Mechanics, Run};
use crate::Nanos;
use block::Request;

/// A running read-ahead, or one that stopped at its limit.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    /// The segment that it fills.
    pub(crate) segment: usize,
    /// The first sector of the run that is passing, or of the next one.
    next: u64,
    /// It stops here.
    limit: u64,
    /// The run that is passing under the head; `None` at the limit.
    run: Option<Run>,
    /// A sector to read back to, on the current track. After the track's end its first sectors pass
    /// again, and are read before the head moves on.
    back_to: Option<u64>,
    /// The first of the sectors that pass last, before the request, and when they all have.
    coming: Option<(u64, Nanos)>,
    /// When the head became free for it.
    since: Nanos,
}

/// When a request's sectors are available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// The earliest time at which sending may start without a gap.
    pub(crate) streams_from: Nanos,
    /// The last sector.
    pub(crate) last_at: Nanos,
}

impl ReadAhead {
    /// Continues at `next` from time `at`, up to `limit`; on the first track, then back to `back_to`.
    pub(crate) fn start(
        mechanics: &mut Mechanics,
        segment: usize,
        at: Nanos,
        (next, limit): (u64, u64),
        back_to: Option<u64>,
    ) -> Self {
        let limit = limit.min(mechanics.sectors());
        let mut ahead =
            ReadAhead { segment, next, limit, run: None, back_to, coming: None, since: at };
        ahead.start_run(mechanics);
        ahead
    }

    /// Nothing is to be read beyond `end`, only `first..request` on the same track, which pass next.
    pub(crate) fn round(
        mechanics: &mut Mechanics,
        segment: usize,
        at: Nanos,
        (first, request): (u64, u64),
        end: u64,
    ) -> Self {
        let came_round = mechanics.start_run(at, first, request - first);
        let since = mechanics.run_end(&came_round);
        ReadAhead {
            segment,
            next: end,
            limit: end,
            run: None,
            back_to: None,
            coming: Some((first, since)),
            since,
        }
    }

    fn start_run(&mut self, mechanics: &mut Mechanics) {
        self.run = (self.next < self.limit)
            .then(|| mechanics.start_run(self.since, self.next, self.limit - self.next));
    }

    /// Where it stops.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether it has reached its limit by `now`.
    pub(crate) fn is_over(&self) -> bool {
        self.run.is_none()
    }

    /// Whether it has read, or will read, all of `first..last`; or is still reading and has reached
    /// `first`, so that it need only continue. The segment holds `start..end` so far.
    pub(crate) fn leads_to(&self, start: u64, end: u64, (first, last): (u64, u64)) -> bool {
        let comes_by = last <= self.limit || (!self.is_over() && first <= end);
        start <= first && comes_by
    }

    /// Whether it has read or will read a part of `request`, in a segment that starts at `start`.
    pub(crate) fn overlaps(&self, start: u64, request: &Request) -> bool {
        start < request.end() && request.sector < self.limit
    }

    /// Updates it with all sectors that have passed under the head by `now`.
    pub(crate) fn catch_up(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        now: Nanos,
    ) {
        if let Some((first, _)) = self.coming.take_if(|(_, at)| *at <= now) {
            segments.extend_back(self.segment, first);
        }
        while let Some(run) = self.run {
            let end = mechanics.run_end(&run);
            if end > now {
                let passed = u64::from(mechanics.passed_by(&run, now));
                segments.extend(self.segment, self.next + passed);
                return;
            }
            self.finish_run(mechanics, segments, run, end, now);
        }
    }

    /// When the sectors of `request`, which must lie within the limit, were or will be read. Updates it
    /// to that time. Sending n sectors takes `pace(n)`.
    pub(crate) fn reach(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        request: &Request,
        pace: impl Fn(u32) -> Nanos,
    ) -> Arrival {
        debug_assert!(request.end() <= self.limit);
        let mut arrival = Arrival { streams_from: 0, last_at: 0 };
        while let Some(run) = self.run
            && request.end() > self.next
        {
            let run_end = self.next + u64::from(run.sectors);
            let (first, end) = (request.sector.max(self.next), request.end().min(run_end));
            if first < end {
                for last in [first + 1, end] {
                    let passed_at = mechanics.passed_at(&run, (last - self.next) as u32);
                    let before = pace((last - 1 - request.sector) as u32);
                    let from = passed_at.saturating_sub(before);
                    arrival.streams_from = arrival.streams_from.max(from);
                    arrival.last_at = passed_at;
                }
            }
            if request.end() <= run_end {
                segments.extend(self.segment, request.end());
                break;
            }
            let end = mechanics.run_end(&run);
            self.finish_run(mechanics, segments, run, end, Nanos::MAX);
        }
        arrival
    }

    /// `run` has passed at `end`: it continues with the next run, unless the track's first sectors are
    /// still to come by `now`.
    fn finish_run(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        run: Run,
        end: Nanos,
        now: Nanos,
    ) {
        self.next += u64::from(run.sectors);
        segments.extend(self.segment, self.next);
        self.since = end;
        let held_from = segments.get(self.segment).start;
        if let Some(first) = self.back_to.take()
            && first < held_from
        {
            let sectors = held_from - first;
            let came_round = mechanics.start_run(end, first, sectors);
            self.since = mechanics.run_end(&came_round);
            if self.since <= now {
                segments.extend_back(self.segment, first);
            } else if self.next >= self.limit {
                self.coming = Some((first, self.since));
            }
        }
        self.start_run(mechanics);
    }

    /// The host has read what lies before: it may read on up to `limit`, from `now` if it had stopped.
    pub(crate) fn extend(&mut self, mechanics: &mut Mechanics, limit: u64, now: Nanos) {
        let limit = limit.min(mechanics.sectors());
        if limit <= self.limit {
            return;
        }
        self.limit = limit;
        if let Some(run) = &mut self.run {
            // It was cut at the old limit; let it continue while the head is there.
            *run = mechanics.lengthen(run, self.next, limit - self.next);
        } else {
            self.since = self.since.max(now);
            self.start_run(mechanics);
        }
    }
}
