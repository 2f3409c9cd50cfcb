//! Streams of requests, as programs make them.

use crate::Nanos;
use block::{Op, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Something that makes requests and is told when one is done.
pub trait Workload {
    /// The next request and the earliest time at which it may be issued; `None` when nothing can be
    /// issued until a request comes back, or ever. It is asked again only after it gave a request, or
    /// after one came back.
    fn next(&mut self, now: Nanos) -> Option<(Nanos, Request)>;

    /// One of its requests came back.
    fn done(&mut self, now: Nanos);
}

/// The order in which a stream goes over its sectors.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// One after the other, from the start.
    Sequential,
    /// Anywhere, at multiples of the block size.
    Random,
}

/// Requests of one size, so many at a time.
#[derive(Clone, Debug)]
pub struct Stream {
    /// What is asked.
    pub op: Op,
    /// In which order.
    pub pattern: Pattern,
    /// Where the range starts, in sectors.
    pub start_sector: u64,
    /// How long the range is, in sectors. A sequential stream that reaches its end starts again.
    pub span_sectors: u64,
    /// The size of each request, in sectors.
    pub block_sectors: u32,
    /// How many requests.
    pub count: u64,
    /// How many are under way at a time.
    pub depth: u32,
    /// What the program does before each request, one after the other, in ns: for a `dd` that writes,
    /// filling the block from /dev/zero.
    pub think_ns: Nanos,
}

/// A [`Stream`] under way.
#[derive(Clone, Debug)]
pub struct RunningStream {
    stream: Stream,
    blocks: u64,
    random: Pcg64Mcg,
    issued: u64,
    under_way: u32,
    ready_at: Nanos,
}

impl RunningStream {
    /// Starts at time 0.
    ///
    /// # Panics
    ///
    /// Where not even one block fits in the span, or the depth is zero.
    pub fn new(stream: Stream, seed: u64) -> Self {
        let blocks = stream.span_sectors / u64::from(stream.block_sectors);
        assert!(blocks > 0 && stream.depth > 0, "a stream needs room and at least one request");
        let random = Pcg64Mcg::new(u128::from(seed) << 64 | u128::from(!seed));
        RunningStream { stream, blocks, random, issued: 0, under_way: 0, ready_at: 0 }
    }
}

impl Workload for RunningStream {
    fn next(&mut self, now: Nanos) -> Option<(Nanos, Request)> {
        let stream = &self.stream;
        if self.under_way == stream.depth || self.issued == stream.count {
            return None;
        }
        let block = match stream.pattern {
            Pattern::Sequential => self.issued % self.blocks,
            Pattern::Random => below(&mut self.random, self.blocks),
        };
        let sector = stream.start_sector + block * u64::from(stream.block_sectors);
        self.issued += 1;
        self.under_way += 1;
        self.ready_at = self.ready_at.max(now) + stream.think_ns;
        let request = Request { target: 0, op: stream.op, sector, sectors: stream.block_sectors };
        Some((self.ready_at, request))
    }

    fn done(&mut self, _now: Nanos) {
        self.under_way -= 1;
    }
}

/// A number below `bound`, all equally likely to within 2^-64 (Lemire's multiplication).
fn below(random: &mut Pcg64Mcg, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pattern: Pattern) -> Stream {
        Stream {
            op: Op::Read,
            pattern,
            start_sector: 100,
            span_sectors: 85,
            block_sectors: 8,
            count: 1000,
            depth: 2,
            think_ns: 5,
        }
    }

    #[test]
    fn a_sequential_stream_goes_round() {
        let mut running = RunningStream::new(stream(Pattern::Sequential), 1);
        let mut sectors = Vec::new();
        for _ in 0..11 {
            sectors.push(running.next(0).unwrap().1.sector);
            running.done(0);
        }
        let expected: Vec<u64> = (0..10).chain(0..1).map(|block| 100 + 8 * block).collect();
        assert_eq!(sectors, expected);
    }

    #[test]
    fn no_more_than_depth_are_under_way_and_thinking_takes_its_time() {
        let mut running = RunningStream::new(stream(Pattern::Random), 1);
        assert_eq!(running.next(10).map(|(at, _)| at), Some(15));
        assert_eq!(running.next(10).map(|(at, _)| at), Some(20));
        assert_eq!(running.next(10), None);
        running.done(50);
        assert_eq!(running.next(50).map(|(at, _)| at), Some(55));
    }

    #[test]
    fn a_random_stream_stays_in_its_span_and_reaches_all_of_it() {
        let mut running = RunningStream::new(stream(Pattern::Random), 7);
        let mut seen = [0; 10];
        while let Some((_, request)) = running.next(0) {
            seen[(request.sector as usize - 100) / 8] += 1;
            running.done(0);
        }
        assert!(seen.iter().all(|&times| (60..140).contains(&times)), "{seen:?}");
    }
}
