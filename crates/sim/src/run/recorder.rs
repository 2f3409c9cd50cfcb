//! Records what a run does: the result so far, batches of completions, and marks to leave out a beginning.

use super::batches::Done;
use super::earliest::{Earliest, Latency, Sort};
use super::tally::Tally;
use super::{Batches, Outcome, StreamOutcome};
use crate::workload::Came;
use crate::{Counters, Nanos, Part, Spent};
use block::{Op, SECTOR_BYTES};

/// Requests in flight, and the result so far; for a run in virtual time or by the clock.
pub struct Recorder {
    /// For each tag in use: when it started, what it carries, its sort, and whether it counts. A discard has no sort: it
    /// moves nothing, and is no write that anything is judged by.
    started: Vec<(Nanos, u64, Option<Sort>, bool)>,
    /// Likewise, where streams are recorded apart: where it came from.
    came: Vec<Came>,
    free: Vec<u64>,
    in_flight: u64,
    last_end: Nanos,
    /// Where the time of the last requests went, not yet in the outcome, and their latencies summed.
    spent: Spent,
    latencies_ns: Nanos,
    outcome: Outcome,
    /// Latencies of reads and of writes that are not yet in the outcome.
    tallies: [Tally; 2],
    batches: Batches,
    /// The result up to each doubling of the time, as far as it is in the first half.
    marks: Vec<Mark>,
    /// What the latencies of the first marks are made of.
    earliest: Earliest,
    stretch: Stretch,
}

/// Which part of a run counts.
struct Stretch {
    /// Whether what starts now counts.
    is_on: bool,
    /// When it began, and what had been counted until then.
    from: Nanos,
    before: (Counters, Nanos),
    /// When it ended, where others come behind, and what had been counted until then.
    end: Option<(Nanos, Counters, Nanos)>,
}

impl Stretch {
    /// Takes off what was counted before it began.
    fn take_off(&self, outcome: &mut Outcome) {
        if self.from > 0 {
            outcome.counters.take_off(&self.before.0);
            // What a processor has accepted counts from then on, so that it may be ahead of the clock.
            outcome.cpu_busy_ns = outcome.cpu_busy_ns.saturating_sub(self.before.1);
        }
    }
}

/// What a run did until one moment.
#[derive(Clone, Debug)]
struct Mark {
    at: Nanos,
    outcome: Outcome,
    /// Its latencies are those of the first so many requests, and not in the outcome.
    first: Option<usize>,
}

/// A run: its result, and what it did over time.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The result of all of it.
    pub outcome: Outcome,
    /// Its completions over time.
    pub batches: Batches,
    /// The result when the measurement ended; requests in flight then came back later.
    end: Mark,
    marks: Vec<Mark>,
    earliest: Earliest,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::new()
    }
}

impl Recorder {
    /// Nothing has happened, at time 0.
    pub fn new() -> Self {
        Recorder {
            started: Vec::new(),
            came: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            last_end: 0,
            spent: Spent::NONE,
            latencies_ns: 0,
            outcome: Outcome::nothing(),
            tallies: <[Tally; 2]>::default(),
            batches: Batches::default(),
            marks: Vec::new(),
            earliest: Earliest::default(),
            stretch: Stretch { is_on: true, from: 0, before: (Counters::default(), 0), end: None },
        }
    }

    /// The same, for so many streams that are recorded apart, too: of each request it is said where it
    /// [`Recorder::came`] from.
    pub fn apart(streams: usize) -> Self {
        let mut recorder = Recorder::new();
        recorder.outcome.streams = vec![StreamOutcome::nothing(); streams];
        recorder.batches = Batches::apart(streams);
        recorder
    }

    /// Whether what starts now counts.
    pub fn is_counting(&self) -> bool {
        self.stretch.is_on
    }

    /// From `now` on the other: what starts counts where it did not, and no longer where it did. `counted` has the device's
    /// counters and the processor's work so far.
    ///
    /// # Panics
    ///
    /// Where what counts has ended before: it is one stretch of the run.
    pub fn turn(&mut self, now: Nanos, (mut counters, cpu_busy_ns): (Counters, Nanos)) {
        let stretch = &mut self.stretch;
        assert!(stretch.end.is_none(), "what counts is one stretch of a run");
        counters.close_at(now);
        stretch.is_on = !stretch.is_on;
        if stretch.is_on {
            stretch.from = now;
            stretch.before = (counters, cpu_busy_ns);
            self.batches.begin();
            self.marks.clear();
            self.last_end = now;
        } else if !self.started.is_empty() {
            // The time until the next request comes is of what counts.
            if self.in_flight == 0 {
                self.outcome.idle_ns += now - self.last_end;
            }
            stretch.end = Some((now, counters, cpu_busy_ns));
        }
    }

    /// The request with this tag, which has just started, came from there.
    pub fn came(&mut self, tag: u64, came: Came) {
        let place = tag as usize;
        if place >= self.came.len() {
            self.came.resize(place + 1, came);
        }
        self.came[place] = came;
        let (_, _, sort, counts) = self.started[place];
        if counts && matches!(sort, Some(Sort::Read | Sort::Modify)) {
            self.batches.of_stream(came.stream).arrived += 1;
        }
    }

    /// The tag of the request that starts next.
    #[inline]
    pub(super) fn next_tag(&self) -> u64 {
        self.free.last().map_or(self.started.len() as u64, |tag| *tag)
    }

    /// What starts `now` ends the time in which nothing was in flight.
    #[inline]
    fn end_idling(&mut self, now: Nanos) {
        if self.in_flight == 0 && self.stretch.is_on {
            self.outcome.idle_ns += now - self.last_end;
        }
    }

    /// A request starts; returns its tag.
    #[inline]
    pub fn started(&mut self, now: Nanos, request: &block::Request) -> u64 {
        let counts = self.stretch.is_on;
        self.end_idling(now);
        self.in_flight += 1;
        let bytes = match request.op {
            Op::Read | Op::Write { .. } => u64::from(request.sectors) * SECTOR_BYTES,
            Op::Flush | Op::Discard | Op::Zeroes => 0,
        };
        let sort = match request.op {
            Op::Read => Some(Sort::Read),
            Op::Flush => Some(Sort::Flush),
            Op::Write { .. } | Op::Zeroes => Some(Sort::Modify),
            Op::Discard => None,
        };
        if let Some(tag) = self.free.pop() {
            self.started[tag as usize] = (now, bytes, sort, counts);
            tag
        } else {
            self.started.push((now, bytes, sort, counts));
            self.started.len() as u64 - 1
        }
    }

    /// A read that came at `start`, while nothing was in flight, was served well by `at`: as if it had started and ended.
    /// Streams are not recorded apart.
    #[inline]
    pub(super) fn served(&mut self, start: Nanos, at: Nanos, sectors: u32, spent: &Spent) {
        self.end_idling(start);
        self.last_end = at;
        if !self.stretch.is_on {
            return;
        }
        self.outcome.elapsed_ns = at - self.stretch.from;
        debug_assert_eq!(spent.total(), at - start, "what was spent is not the latency: {spent:?}");
        let whole_ns = at - start;
        let latency = Latency { sort: Sort::Read, stream: None, whole_ns, served_ns: whole_ns };
        self.earliest.push(latency);
        self.moved(0, u64::from(sectors) * SECTOR_BYTES, whole_ns, spent);
    }

    /// A read (0) or a write (1) went well.
    #[inline]
    fn moved(&mut self, direction: usize, bytes: u64, latency_ns: Nanos, spent: &Spent) {
        let of = &mut self.outcome.directions[direction];
        self.tallies[direction].note(latency_ns, &mut of.latency_ns);
        of.count(bytes);
        // No part is longer than the latency, so that none of the sums overflows before that of latencies.
        if let Some(sum) = self.latencies_ns.checked_add(latency_ns) {
            self.latencies_ns = sum;
        } else {
            self.take_in_spent();
            self.latencies_ns = latency_ns;
        }
        self.spent += *spent;
    }

    /// Puts where the time of the last requests went into the outcome.
    #[cold]
    fn take_in_spent(&mut self) {
        self.outcome.take_in(std::mem::take(&mut self.spent));
    }

    /// The request with this tag came back, successful or not; `spent` says where its time went.
    #[inline]
    pub fn ended(&mut self, tag: u64, at: Nanos, well: bool, spent: &Spent) {
        let (start, bytes, sort, counts) = self.started[tag as usize];
        let is_held = u64::from(well && matches!(sort, None | Some(Sort::Modify)));
        self.free.push(tag);
        self.in_flight -= 1;
        self.last_end = at;
        if !counts {
            // What caches hold is theirs, too.
            self.batches.open().held_writes += is_held;
            return;
        }
        let outcome = &mut self.outcome;
        outcome.elapsed_ns = at - self.stretch.from;
        let came = self.came.get(tag as usize).copied();
        if let Some(came) = came {
            outcome.streams[came.stream].elapsed_ns = outcome.elapsed_ns;
        }
        if !well {
            outcome.faults += 1;
            return;
        }
        self.batches.open().held_writes += is_held;
        debug_assert_eq!(spent.total(), at - start, "what was spent is not the latency: {spent:?}");
        let Some(sort) = sort else { return };
        let latency_ns = at - came.map_or(start, |came| came.at);
        let stream = came.map(|came| came.stream as u32);
        let latency = Latency { sort, stream, whole_ns: latency_ns, served_ns: at - start };
        self.earliest.push(latency);
        let direction = match sort {
            Sort::Flush => return outcome.note_latency(&latency),
            Sort::Read => 0,
            Sort::Modify => 1,
        };
        outcome.note_of_stream(&latency);
        if let Some(came) = came {
            outcome.streams[came.stream].directions[direction].count(bytes);
            // What waited for a flush of its own stream did so in the program's queue.
            self.spent.add(Part::QUEUE, start - came.at);
            self.batches.of_stream(came.stream).count(bytes, latency_ns, spent);
        }
        self.moved(direction, bytes, latency_ns, spent);
    }

    /// A successful write is durable, or `lost`.
    pub fn settled(&mut self, lost: bool) {
        self.batches.open().held_writes -= 1;
        self.outcome.lost_writes += u64::from(lost);
    }

    /// Whether anything is in flight.
    pub fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    /// How many requests are in flight.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// When a batch of completions is over next.
    #[inline]
    pub fn boundary_ns(&self) -> Nanos {
        self.stretch.from + self.batches.boundary_ns()
    }

    /// Closes the batches that are over at `now`, after everything that was done before. Each time that the
    /// run is half as long again, `enough` is asked whether that will do; then the measurement ends there,
    /// and this returns its end. `count` has the device's counters and the processor's work so far.
    pub fn pass(
        &mut self,
        now: Nanos,
        count: &dyn Fn() -> (Counters, Nanos),
        enough: &mut dyn FnMut(&Batches) -> bool,
    ) -> Option<Ended> {
        while self.boundary_ns() <= now {
            let at = self.boundary_ns();
            self.batches.open().held_bytes = self.held_bytes(&count().0);
            self.batches.close_after(self.done());
            if self.batches.due() && enough(&self.batches) {
                self.pour();
                let outcome = self.until(at, self.outcome.clone(), count());
                let end = Mark { at: outcome.elapsed_ns, outcome, first: None };
                return Some(Ended { batches: self.batches.clone(), end });
            }
            if !self.batches.doubled() {
                continue;
            }
            let mark = self.mark(at, count());
            if self.batches.is_full() {
                self.batches.join();
            }
            self.marks.push(mark);
            // Of a run twice as long these are all that are at the edge of a batch.
            let first = self.marks.len().saturating_sub(MARKS);
            self.marks.drain(..first);
        }
        None
    }

    /// What was done until now.
    fn done(&self) -> Done {
        let spent = |part: Part| self.outcome.spent_ns[part.index()] + u128::from(self.spent[part]);
        let [reads, writes] = &self.outcome.directions;
        Done {
            requests: reads.requests + writes.requests,
            bytes: reads.bytes + writes.bytes,
            // All of a latency is spent on something.
            latency_ns: Part::all().map(spent).sum(),
            bitmap_ns: spent(Part::BITMAP),
        }
    }

    /// What buffers of drives hold more than when what counts began, in bytes of requests: of what they have taken since then,
    /// copies and parity are the rest.
    fn held_bytes(&self, counters: &Counters) -> Option<u64> {
        let (before, _) = &self.stretch.before;
        let held = counters.held_sectors()?.saturating_sub(before.held_sectors().unwrap_or(0));
        let taken = counters.sectors_written() - before.sectors_written();
        let written = self.outcome.directions[1].bytes;
        Some((u128::from(held) * u128::from(written) / u128::from(taken.max(1))) as u64)
    }

    /// Puts the latencies that are not yet in the outcome into it.
    fn pour(&mut self) {
        for (tally, direction) in self.tallies.iter_mut().zip(&mut self.outcome.directions) {
            tally.pour_into(&mut direction.latency_ns);
        }
    }

    fn mark(&mut self, now: Nanos, counted: (Counters, Nanos)) -> Mark {
        let first = self.earliest.all();
        if first.is_none() {
            self.pour();
        }
        let copy =
            if first.is_some() { self.outcome.without_latencies() } else { self.outcome.clone() };
        let outcome = self.until(now, copy, counted);
        Mark { at: outcome.elapsed_ns, outcome, first }
    }

    /// `outcome`, a copy of the result so far, as it is when the measurement ends `now`.
    fn until(
        &self,
        now: Nanos,
        mut outcome: Outcome,
        (counters, cpu_busy_ns): (Counters, Nanos),
    ) -> Outcome {
        outcome.take_in(self.spent);
        outcome.elapsed_ns = now - self.stretch.from;
        outcome.cpu_busy_ns = cpu_busy_ns;
        outcome.counters = counters;
        outcome.counters.close_at(now);
        self.stretch.take_off(&mut outcome);
        outcome
    }

    /// The result: of all until now, and of the measurement, if that has `ended` before.
    ///
    /// # Panics
    ///
    /// Where a request has not come back.
    pub fn finish(
        mut self,
        (counters, cpu_busy_ns): (Counters, Nanos),
        ended: Option<Ended>,
    ) -> Recorded {
        assert_eq!(self.in_flight, 0, "the device still owes requests");
        self.pour();
        let mut outcome = self.outcome;
        outcome.take_in(self.spent);
        (outcome.counters, outcome.cpu_busy_ns) = (counters, cpu_busy_ns);
        if let Some((end, counters, cpu_busy_ns)) = self.stretch.end.clone() {
            outcome.elapsed_ns = end - self.stretch.from;
            (outcome.counters, outcome.cpu_busy_ns) = (counters, cpu_busy_ns);
        }
        self.stretch.take_off(&mut outcome);
        let (batches, end) = match ended {
            Some(Ended { batches, end }) => (batches, end),
            None => {
                let (at, outcome) = (outcome.elapsed_ns, outcome.clone());
                (self.batches, Mark { at, outcome, first: None })
            }
        };
        outcome.sum();
        Recorded { outcome, batches, end, marks: self.marks, earliest: self.earliest }
    }
}

/// How many marks there are in the first half of a run, at 1/64 to 1/2 of it.
const MARKS: usize = Batches::MAX.ilog2() as usize;

/// The end of a measurement, before the last requests have come back.
#[derive(Clone, Debug)]
pub struct Ended {
    batches: Batches,
    end: Mark,
}

impl Recorded {
    /// The moments from which on there is a result, the beginning first.
    pub fn starts(&self) -> impl Iterator<Item = Nanos> {
        let before = self.marks.iter().map(|mark| mark.at).filter(|&at| at < self.end.at);
        std::iter::once(0).chain(before)
    }

    /// Whether each mark has a copy of the latencies.
    #[cfg(test)]
    pub(super) fn are_copies(&self) -> impl Iterator<Item = bool> {
        self.marks.iter().map(|mark| mark.first.is_none())
    }

    /// The result from `start` to the end of the measurement; `start` is one of [`Recorded::starts`].
    ///
    /// # Panics
    ///
    /// Where it is not.
    pub fn from(&self, start: Nanos) -> Outcome {
        let mut outcome = self.end.outcome.clone();
        if start > 0 {
            let mark = self.marks.iter().find(|mark| mark.at == start);
            let mark = mark.expect("a result starts at a mark");
            if let Some(first) = mark.first {
                let mut before = mark.outcome.clone();
                self.earliest.fill(&mut before, first);
                outcome.take_off(&before);
            } else {
                outcome.take_off(&mark.outcome);
            }
        }
        outcome.sum();
        outcome
    }
}
