//! The result of a run while it is added up.

use super::earliest::{Latency, Sort};
use super::{Direction, Outcome, StreamOutcome};
use crate::{Counters, Nanos, Part, Spent};
use hdrhistogram::Histogram;

impl Outcome {
    /// That of a run that has done nothing.
    pub(super) fn nothing() -> Self {
        Outcome {
            requests: 0,
            faults: 0,
            lost_writes: 0,
            bytes: 0,
            elapsed_ns: 0,
            latency_ns: histogram(),
            directions: [Direction::nothing(), Direction::nothing()],
            flush_ns: histogram(),
            streams: Vec::new(),
            spent_ns: [0; Part::COUNT],
            idle_ns: 0,
            cpu_busy_ns: 0,
            counters: Counters::default(),
        }
    }

    /// The same with no latencies.
    pub(super) fn without_latencies(&self) -> Self {
        Outcome {
            latency_ns: smallest(),
            directions: self.directions.each_ref().map(Direction::without_latencies),
            flush_ns: smallest(),
            streams: self.streams.iter().map(StreamOutcome::without_latencies).collect(),
            counters: Counters::default(),
            ..*self
        }
    }

    /// What was done took so long.
    pub(super) fn note_latency(&mut self, latency: &Latency) {
        self.note_of_stream(latency);
        let &Latency { sort, whole_ns, served_ns, .. } = latency;
        match sort {
            Sort::Read => record(&mut self.directions[0].latency_ns, whole_ns),
            Sort::Modify => record(&mut self.directions[1].latency_ns, whole_ns),
            Sort::Flush => record(&mut self.flush_ns, served_ns),
        }
    }

    /// The same of its stream alone, where that is recorded apart.
    #[inline]
    pub(super) fn note_of_stream(&mut self, latency: &Latency) {
        let &Latency { sort, stream, whole_ns, .. } = latency;
        if let Some(stream) = stream {
            let stream = &mut self.streams[stream as usize];
            record(
                match sort {
                    Sort::Read => &mut stream.directions[0].latency_ns,
                    Sort::Modify => &mut stream.directions[1].latency_ns,
                    Sort::Flush => &mut stream.commit_ns,
                },
                whole_ns,
            );
        }
    }

    /// All of its histograms.
    pub(super) fn latencies_mut(&mut self) -> impl Iterator<Item = &mut Histogram<u64>> {
        let of_streams = self.streams.iter_mut().flat_map(|stream| {
            let directions = stream.directions.iter_mut();
            directions.map(|direction| &mut direction.latency_ns).chain([&mut stream.commit_ns])
        });
        let directions = self.directions.iter_mut().map(|direction| &mut direction.latency_ns);
        directions.chain([&mut self.flush_ns]).chain(of_streams)
    }

    /// Adds up both directions.
    pub(super) fn sum(&mut self) {
        for direction in &self.directions {
            self.requests += direction.requests;
            self.bytes += direction.bytes;
            self.latency_ns.add(&direction.latency_ns).expect("the histogram grows as needed");
        }
    }

    /// Adds where the time of requests went.
    pub(super) fn take_in(&mut self, spent: Spent) {
        for part in Part::all() {
            self.spent_ns[part.index()] += u128::from(spent[part]);
        }
    }

    /// Takes off what was done until `mark`, before the directions are added up.
    pub(super) fn take_off(&mut self, mark: &Outcome) {
        self.faults -= mark.faults;
        self.lost_writes -= mark.lost_writes;
        self.elapsed_ns -= mark.elapsed_ns;
        for (direction, before) in self.directions.iter_mut().zip(&mark.directions) {
            direction.take_off(before);
        }
        for (stream, before) in self.streams.iter_mut().zip(&mark.streams) {
            stream.take_off(before, mark.elapsed_ns);
        }
        less(&mut self.flush_ns, &mark.flush_ns);
        for (spent, before) in self.spent_ns.iter_mut().zip(mark.spent_ns) {
            *spent -= before;
        }
        self.idle_ns -= mark.idle_ns;
        // What a processor has accepted counts from then on, so that it may be ahead of the clock.
        self.cpu_busy_ns = self.cpu_busy_ns.saturating_sub(mark.cpu_busy_ns);
        self.counters.take_off(&mark.counters);
    }
}

impl Direction {
    pub(super) fn nothing() -> Self {
        Direction { requests: 0, bytes: 0, latency_ns: histogram() }
    }

    pub(super) fn without_latencies(&self) -> Self {
        Direction { latency_ns: smallest(), ..*self }
    }

    /// One request more.
    pub(super) fn count(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }

    fn take_off(&mut self, before: &Direction) {
        self.requests -= before.requests;
        self.bytes -= before.bytes;
        less(&mut self.latency_ns, &before.latency_ns);
    }
}

impl StreamOutcome {
    pub(super) fn nothing() -> Self {
        let directions = [Direction::nothing(), Direction::nothing()];
        StreamOutcome { elapsed_ns: 0, directions, commit_ns: histogram() }
    }

    pub(super) fn without_latencies(&self) -> Self {
        let directions = self.directions.each_ref().map(Direction::without_latencies);
        StreamOutcome { elapsed_ns: self.elapsed_ns, directions, commit_ns: smallest() }
    }

    /// Takes off what it did `before`, in so many ns.
    fn take_off(&mut self, before: &StreamOutcome, passed_ns: Nanos) {
        // It may have ended by then.
        self.elapsed_ns = self.elapsed_ns.saturating_sub(passed_ns);
        for (direction, before) in self.directions.iter_mut().zip(&before.directions) {
            direction.take_off(before);
        }
        less(&mut self.commit_ns, &before.commit_ns);
    }
}

pub(super) fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are within its range")
}

/// One that stands for another and takes little memory.
fn smallest() -> Histogram<u64> {
    Histogram::new(0).expect("no digits are within its range")
}

fn record(latencies_ns: &mut Histogram<u64>, latency_ns: Nanos) {
    latencies_ns.record(latency_ns).expect("the histogram grows as needed");
}

/// Takes off what an earlier histogram of the same run has.
fn less(from: &mut Histogram<u64>, what: &Histogram<u64>) {
    from.subtract(what).expect("an earlier histogram of the same run");
}
