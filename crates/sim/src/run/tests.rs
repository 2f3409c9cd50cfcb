//! What a run records over time, and from where on.

use super::*;
use crate::workload::{RunningStream, Stream};
use crate::{Disturbance, Geometry, Server, Tag, step_by_step};
use block::{Op, Request};
use std::collections::VecDeque;

const SERVICE_NS: Nanos = 100_000;

fn stream(count: u64) -> RunningStream {
    let stream = Stream { op: Op::WRITE, span_sectors: 8000, count, ..Stream::default() };
    RunningStream::new(stream, 1)
}

/// A server in front of which a cache takes each write at once until it holds `room` of them.
struct Cached {
    below: Server,
    room: usize,
    held: VecDeque<Tag>,
    waiting: VecDeque<(Nanos, Tag)>,
    done: Vec<Event>,
}

impl Cached {
    fn new(room: usize) -> Self {
        Cached {
            below: Server::new(8000, SERVICE_NS),
            room,
            held: VecDeque::new(),
            waiting: VecDeque::new(),
            done: Vec::new(),
        }
    }

    /// Does everything that is due by `now`.
    fn do_due(&mut self, now: Nanos, out: &mut Vec<Event>) {
        out.extend(self.done.extract_if(.., |event| event.at() <= now));
        let mut below = Vec::new();
        self.below.advance(now, &mut below);
        for at in below.iter().filter(|event| matches!(event, Event::Durable { .. })).map(Event::at)
        {
            let tag = self.held.pop_front().expect("what is durable was held");
            out.push(Event::Durable { tag, at });
            if let Some((arrived, tag)) = self.waiting.pop_front() {
                let mut spent = crate::Spent::NONE;
                spent.add(Part::CACHE, at - arrived);
                out.push(Event::Done { tag, at, result: Ok(()), spent });
                self.held.push_back(tag);
            }
        }
    }
}

impl Device for Cached {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.below.submit(now, tag, request);
        if self.held.len() < self.room {
            self.held.push_back(tag);
            let mut spent = crate::Spent::NONE;
            spent.add(Part::CACHE, 1000);
            self.done.push(Event::Done { tag, at: now + 1000, result: Ok(()), spent });
        } else {
            self.waiting.push_back((now, tag));
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.done.first().map(Event::at).into_iter().chain(self.below.next_event()).min()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::do_due)
    }

    fn disturb(&mut self, _: Nanos, _: Disturbance) {}

    fn count(&self, counters: &mut Counters) {
        self.below.count(counters);
    }
}

#[test]
fn batches_are_of_equal_length_and_add_up() {
    let mut device = Server::new(8000, SERVICE_NS);
    let recorded =
        run_until(&Processor::default(), &mut device, &mut stream(10_000), &mut |_| false);
    let batches = recorded.batches;
    let closed = batches.closed();
    assert!((33..=64).contains(&closed.len()), "{}", closed.len());
    let each = batches.width_ns() / SERVICE_NS;
    assert!(closed.iter().all(|batch| batch.requests.abs_diff(each) <= 1), "{closed:?}");
    assert!(closed.iter().all(|batch| batch.held_writes == 0));
    assert!(closed.iter().all(|batch| batch.latency_ns == batch.requests * SERVICE_NS));
    let bytes: u64 = closed.iter().map(|batch| batch.bytes).sum();
    assert!(recorded.outcome.bytes - bytes < 2 * each * 4096);
}

/// The measurement ends when it is long enough, and its beginning can be left out.
#[test]
fn a_beginning_can_be_left_out() {
    let mut asked = Vec::new();
    let mut device = Cached::new(300);
    let recorded = run_until(
        &Processor::default(),
        &mut device,
        &mut stream(u64::MAX),
        &mut |batches: &Batches| {
            asked.push(batches.closed_ns());
            asked.len() == 4 && batches.closed().len() == 64
        },
    );
    let end_ns = asked[3];
    assert_eq!([3 * asked[1] / asked[0], 3 * end_ns / asked[0]], [4, 8]);
    assert_eq!(recorded.batches.closed()[63].held_writes, 300);
    let starts: Vec<Nanos> = recorded.starts().collect();
    assert_eq!(starts, [0, 1, 2, 4, 8, 16, 32].map(|part| part * end_ns / 64));
    let whole = recorded.from(0);
    let half = recorded.from(end_ns / 2);
    assert_eq!((whole.elapsed_ns, half.elapsed_ns), (end_ns, end_ns / 2));
    assert_eq!(half.requests, half.latency_ns.len());
    // The cache took 300 at once; from then on writes go at the server's pace.
    assert!(half.requests.abs_diff(end_ns / 2 / SERVICE_NS) <= 1, "{}", half.requests);
    assert!((whole.requests - 300).abs_diff(end_ns / SERVICE_NS) <= 3, "{}", whole.requests);
    assert!(half.latency_ns.min() > SERVICE_NS / 2, "{}", half.latency_ns.min());
    // All that was asked for came back.
    assert!(recorded.outcome.requests > whole.requests);
}

/// Discards moved nothing, were counted as writes, and made those look faster.
#[test]
fn discards_are_no_writes() {
    let request = |op, sector| Request { target: 0, op, sector, sectors: 8 };
    let ops = [Op::WRITE, Op::Discard, Op::Read, Op::Discard, Op::Zeroes];
    let mut recorder = Recorder::new();
    for (at, op) in (0..).zip(ops) {
        let tag = recorder.started(at * SERVICE_NS, &request(op, at * 8));
        let mut spent = crate::Spent::NONE;
        let took_ns = if op == Op::Discard { 1000 } else { SERVICE_NS };
        spent.add(Part::CACHE, took_ns);
        recorder.ended(tag, at * SERVICE_NS + took_ns, true, &spent);
    }
    // Each of the four that change something says when that is durable.
    for _ in 0..4 {
        recorder.settled(false);
    }
    let outcome = recorder.finish((Counters::default(), 0), None).outcome;
    let [reads, writes] = &outcome.directions;
    assert_eq!((outcome.requests, reads.requests, writes.requests), (3, 1, 2));
    assert!(writes.latency_ns.min() > SERVICE_NS / 2, "{}", writes.latency_ns.min());
    assert_eq!(outcome.spent_ns.iter().sum::<u128>(), 3 * u128::from(SERVICE_NS));
}

#[test]
fn what_is_left_out_is_left_out_of_every_figure() {
    let mut device = Server::new(8000, SERVICE_NS);
    let recorded = run_until(&Processor::default(), &mut device, &mut stream(5000), &mut |_| false);
    let start = recorded.starts().last().unwrap();
    let (whole, rest) = (recorded.from(0), recorded.from(start));
    assert!(start > 0);
    let share = rest.elapsed_ns as f64 / whole.elapsed_ns as f64;
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
    assert!(near(rest.bytes as f64, share * whole.bytes as f64));
    let [of_all, of_rest] = [&whole, &rest].map(|outcome| outcome.counters.targets[0]);
    assert!(near(of_rest.commands as f64, share * of_all.commands as f64));
    assert!(near(of_rest.busy_ns as f64, share * of_all.busy_ns as f64));
    let total = |outcome: &Outcome| outcome.spent_ns.iter().sum::<u128>() as f64;
    assert!(near(total(&rest), share * total(&whole)));
}

/// A long run's first marks are known by the latencies until then, and the others are copies.
#[test]
fn every_mark_knows_its_latencies() {
    let mut device = Cached::new(300);
    let recorded =
        run_until(&Processor::default(), &mut device, &mut stream(100_000), &mut |_| false);
    assert_eq!(recorded.starts().count(), 7);
    for start in recorded.starts() {
        let outcome = recorded.from(start);
        let [_, writes] = &outcome.directions;
        assert_eq!(outcome.latency_ns.len(), outcome.requests, "from {start}");
        assert_eq!(writes.latency_ns.len(), outcome.requests, "from {start}");
    }
    let kinds: std::collections::BTreeSet<bool> = recorded.are_copies().collect();
    assert_eq!(kinds.len(), 2, "some of each");
}

/// Who stops a run is asked while its first million requests come.
#[test]
fn a_run_is_stopped_before_all_its_requests_have_come() {
    let mut device = Cached::new(1);
    let (op, depth, count) = (Op::WRITE, 1_000_000, 1_000_000);
    let deep = Stream { op, span_sectors: 8000, depth, count, ..Stream::default() };
    let mut deep = RunningStream::new(deep, 1);
    let (processor, enough) = (Processor::default(), &mut |_: &Batches| false);
    assert!(run_unless(&processor, &mut device, &mut deep, enough, &|| true).is_none());
    assert!(device.waiting.len() < 20_000, "{}", device.waiting.len());
}
