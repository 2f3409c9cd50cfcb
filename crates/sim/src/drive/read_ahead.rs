//! Reading on into a segment while the host is busy elsewhere.
//!
//! Nobody waits for a read-ahead unless a request comes that needs it, so it makes no events: it is
//! brought up to date when the drive next looks at it.

use super::cache::Segments;
use super::mechanics::{Mechanics, Run};
use crate::Nanos;

/// A read-ahead under way, or stopped because its segment is full.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    /// The segment that it fills.
    pub(crate) segment: usize,
    /// The first sector of the run that is passing, or of the next one.
    next: u64,
    /// It stops here.
    limit: u64,
    /// The run that is passing under the head; `None` when it has reached its limit.
    run: Option<Run>,
    /// When the head became free for it.
    since: Nanos,
}

impl ReadAhead {
    /// Goes on at `next` from time `at`, up to `limit`.
    pub(crate) fn start(
        mechanics: &mut Mechanics,
        segment: usize,
        at: Nanos,
        next: u64,
        limit: u64,
    ) -> Self {
        let mut ahead = ReadAhead {
            segment,
            next,
            limit: limit.min(mechanics.sectors()),
            run: None,
            since: at,
        };
        ahead.start_run(mechanics);
        ahead
    }

    fn start_run(&mut self, mechanics: &mut Mechanics) {
        self.run = (self.next < self.limit)
            .then(|| mechanics.start_run(self.since, self.next, self.limit - self.next));
    }

    /// Takes in all that has passed under the head by `now`.
    pub(crate) fn catch_up(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        now: Nanos,
    ) {
        while let Some(run) = self.run {
            let end = mechanics.run_end(&run);
            if end > now {
                let passed = u64::from(mechanics.passed_by(&run, now));
                segments.extend(self.segment, self.next + passed);
                return;
            }
            self.finish_run(mechanics, segments, run, end);
        }
    }

    /// When all sectors before `sector`, which must lie within the limit, were or will have been read;
    /// what is read until then is taken in.
    pub(crate) fn reach(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        sector: u64,
    ) -> Nanos {
        debug_assert!(sector <= self.limit);
        while let Some(run) = self.run
            && sector > self.next
        {
            let run_end = self.next + u64::from(run.sectors);
            if sector <= run_end {
                let passed = (sector - self.next) as u32;
                segments.extend(self.segment, sector);
                return mechanics.passed_at(&run, passed);
            }
            let end = mechanics.run_end(&run);
            self.finish_run(mechanics, segments, run, end);
        }
        self.since
    }

    fn finish_run(
        &mut self,
        mechanics: &mut Mechanics,
        segments: &mut Segments,
        run: Run,
        end: Nanos,
    ) {
        self.next += u64::from(run.sectors);
        segments.extend(self.segment, self.next);
        self.since = end;
        self.start_run(mechanics);
    }

    /// The host has taken what lies before; it may read on up to `limit`, from `now` if it had stopped.
    pub(crate) fn extend(&mut self, mechanics: &mut Mechanics, limit: u64, now: Nanos) {
        let limit = limit.min(mechanics.sectors());
        if limit <= self.limit {
            return;
        }
        self.limit = limit;
        if let Some(run) = &mut self.run {
            // It was cut at the old limit; let it go on while the head is there.
            *run = mechanics.lengthen(run, self.next, limit - self.next);
        } else {
            self.since = self.since.max(now);
            self.start_run(mechanics);
        }
    }
}
