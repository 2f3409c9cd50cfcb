//! Several streams side by side.

use super::{Came, Lateness, Name, Next, RunningStream, Workload};
use crate::Nanos;

/// Streams that run at the same time, each with its own depth and pace.
#[derive(Clone, Debug)]
pub struct Jobs {
    streams: Vec<RunningStream>,
    /// Whether some of them are there for as long as the others run, or all for as long as each other.
    has_background: bool,
    /// The stream to ask first: round-robin.
    turn: usize,
    /// As which each is recorded, where they are recorded apart.
    apart: Vec<usize>,
}

impl Jobs {
    /// These streams, all from time 0 on.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn new(streams: Vec<RunningStream>) -> Self {
        assert!(!streams.is_empty(), "there is at least one job");
        let has_background = streams.iter().any(RunningStream::is_background);
        Jobs { streams, has_background, turn: 0, apart: Vec::new() }
    }

    /// The same, recorded apart: those of the same number as one.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn apart(streams: Vec<(usize, RunningStream)>) -> Self {
        let (apart, streams) = streams.into_iter().unzip();
        Jobs { apart, ..Jobs::new(streams) }
    }

    /// Whether it is over: all streams but those of the background are done, or, where all are of it, one is.
    fn are_done(&self, now: Nanos) -> bool {
        let mut others = self.streams.iter().filter(|stream| !stream.is_background()).peekable();
        if others.peek().is_none() {
            return self.streams.iter().any(|stream| stream.is_done(now));
        }
        others.all(|stream| stream.is_done(now))
    }

    /// What the first stream wants that wants something, from the one whose turn it is.
    fn next_of_many(&mut self, now: Nanos) -> Next {
        if self.has_background && self.are_done(now) {
            return Next::Nothing;
        }
        let jobs = self.streams.len();
        let mut earliest: Option<Nanos> = None;
        let mut job = self.turn;
        for _ in 0..jobs {
            let after = if job + 1 == jobs { 0 } else { job + 1 };
            match self.streams[job].next(now) {
                Next::Issue(name, request) => {
                    self.turn = after;
                    return Next::Issue(name_of(job, name), request);
                }
                Next::Work(name, work_ns) => return Next::Work(name_of(job, name), work_ns),
                Next::At(at) => earliest = Some(earliest.map_or(at, |earliest| earliest.min(at))),
                Next::Nothing => {}
            }
            job = after;
        }
        earliest.map_or(Next::Nothing, Next::At)
    }

    /// How well the streams with a rate kept up; `None` where none has one.
    pub fn lateness(&self) -> Option<Lateness> {
        self.streams.iter().filter_map(RunningStream::lateness).reduce(Lateness::and)
    }

    /// The same of those that are recorded as `stream`.
    pub fn lateness_of(&self, stream: usize) -> Option<Lateness> {
        let own = self.streams.iter().zip(&self.apart).filter(|(_, apart)| **apart == stream);
        own.filter_map(|(running, _)| running.lateness()).reduce(Lateness::and)
    }
}

impl Workload for Jobs {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        match &mut self.streams[..] {
            [only] if !self.has_background => only.next(now),
            _ => self.next_of_many(now),
        }
    }

    #[inline]
    fn done(&mut self, now: Nanos, name: Name) {
        let (job, name) = job_of(name);
        self.streams[job].done(now, name);
    }

    #[inline]
    fn waits(&self) -> bool {
        match &self.streams[..] {
            [only] => only.waits() && !self.has_background,
            _ => false,
        }
    }

    fn worked(&mut self, at: Nanos, name: Name) {
        let (job, name) = job_of(name);
        self.streams[job].worked(at, name);
    }

    fn streams(&self) -> usize {
        self.apart.iter().map(|stream| stream + 1).max().unwrap_or(0)
    }

    fn came(&self, name: Name) -> Came {
        let (job, _) = job_of(name);
        Came { stream: self.apart[job], at: self.streams[job].came_ns() }
    }
}

/// The name, among those of all jobs, of what `job` calls `name`: a queue depth has 32 bits.
fn name_of(job: usize, name: Name) -> Name {
    (job as Name) << 33 | name
}

/// The job with this name, and what it calls it.
fn job_of(name: Name) -> (usize, Name) {
    ((name >> 33) as usize, name & ((1 << 33) - 1))
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, Stream};
    use super::*;

    /// A stream of the background ends with the others, and not before.
    #[test]
    fn the_background_ends_with_the_others() {
        let stream = |count, background| {
            let stream = Stream { span_sectors: 800, count, background, ..Stream::default() };
            RunningStream::new(stream, 1)
        };
        let mut jobs = Jobs::new(vec![stream(3, false), stream(u64::MAX, true)]);
        let mut issued = 0;
        while let Next::Issue(name, _) = jobs.next(0) {
            jobs.done(0, name);
            issued += 1;
        }
        assert_eq!(issued, 5);
    }

    /// Where all are of the background none goes on without the others.
    #[test]
    fn the_first_of_the_background_ends_all() {
        let stream = |count| {
            let stream = Stream { span_sectors: 800, count, background: true, ..Stream::default() };
            RunningStream::new(stream, 1)
        };
        let mut jobs = Jobs::new(vec![stream(3), stream(u64::MAX)]);
        let mut issued = 0;
        while let Next::Issue(name, _) = jobs.next(0) {
            jobs.done(0, name);
            issued += 1;
        }
        assert_eq!(issued, 5);
    }

    /// A job with think time does not delay one without.
    #[test]
    fn jobs_take_turns_and_do_not_wait_for_each_other() {
        let stream = |start_sector, think_ns| {
            let stream = Stream {
                pattern: Pattern::Sequential,
                start_sector,
                think_ns,
                span_sectors: 80,
                block_sectors: 8,
                count: 2,
                ..Stream::default()
            };
            RunningStream::new(stream, 1)
        };
        let mut jobs = Jobs::new(vec![stream(0, 0), stream(1000, 50), stream(2000, 0)]);
        let mut issued = Vec::new();
        let mut now = 0;
        loop {
            match jobs.next(now) {
                Next::Issue(name, request) => {
                    issued.push((now, request.sector));
                    if request.sector < 1000 {
                        jobs.done(now, name);
                    }
                }
                Next::Work(..) => panic!("none of them works"),
                Next::At(at) => now = at,
                Next::Nothing => break,
            }
        }
        assert_eq!(issued, [(0, 0), (0, 2000), (0, 8), (50, 1000)]);
        assert_eq!(jobs.lateness(), None);
    }
}
