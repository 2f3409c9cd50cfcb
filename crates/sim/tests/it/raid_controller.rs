//! A RAID controller's memory, in every small case: nothing is lost, nothing older overtakes, and a flush means durable.

use block::{Op, Request};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{
    Advance, Counters, Device, Disturbance, Event, Geometry, Nanos, Part, RaidController,
    RaidControllerSpec, Server, Tag, run,
};
use std::collections::BTreeMap;

const SECTORS: u64 = 4;
const COMMAND_NS: Nanos = 10;
/// Bytes a second: a sector takes 100 ns.
const BUS: u64 = 5_120_000_000;

fn spec(memory_sectors: u64, run_sectors: u64, runs: u32) -> RaidControllerSpec {
    RaidControllerSpec { command_ns: COMMAND_NS, memory_sectors, run_sectors, runs }
}

/// A server that notes each write: when it came, which it was, and when it was done.
struct Noting {
    below: Server,
    writes: BTreeMap<Tag, (Nanos, Request, Option<Nanos>)>,
    seen: std::rc::Rc<std::cell::RefCell<Vec<(Nanos, Request, Nanos)>>>,
}

impl Device for Noting {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        if matches!(request.op, Op::Write { .. }) {
            for (_, other, _) in self.writes.values() {
                let apart = other.end() <= request.sector || request.end() <= other.sector;
                assert!(apart, "{request:?} while {other:?} is under way");
            }
            self.writes.insert(tag, (now, request, None));
        }
        self.below.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.below.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let before = out.len();
        let came = self.below.proceed(limit, out);
        for event in &out[before..] {
            if let Event::Done { tag, at, .. } = event
                && let Some((came, request, _)) = self.writes.remove(tag)
            {
                self.seen.borrow_mut().push((came, request, *at));
            }
        }
        came
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.below.count(counters);
    }
}

/// What became of each request: done and durable.
type Fates = BTreeMap<Tag, (Nanos, Option<Nanos>)>;

/// Plays requests, `gap_ns` apart; gives what became of them and the writes that the volume saw.
fn play(
    spec: RaidControllerSpec,
    requests: &[Request],
    gap_ns: Nanos,
) -> (Fates, Vec<(Nanos, Request, Nanos)>) {
    let seen = std::rc::Rc::default();
    let below = Noting {
        below: Server::new(SECTORS, 1000),
        writes: BTreeMap::new(),
        seen: std::rc::Rc::clone(&seen),
    };
    let mut device = RaidController::new(below, spec, BUS);
    let mut events = Vec::new();
    for (tag, request) in (0..).zip(requests) {
        device.advance(tag * gap_ns, &mut events);
        device.submit(tag * gap_ns, tag, *request);
    }
    device.advance(1_000_000_000, &mut events);
    let mut fates = Fates::new();
    for event in events {
        match event {
            Event::Done { tag, at, result, .. } => {
                assert_eq!(result, Ok(()));
                fates.insert(tag, (at, None));
            }
            Event::Durable { tag, at } => fates.get_mut(&tag).expect("done first").1 = Some(at),
            Event::Lost { .. } => panic!("nothing broke: {event:?}"),
        }
    }
    drop(device);
    let seen = std::rc::Rc::try_unwrap(seen).expect("the box is gone").into_inner();
    (fates, seen)
}

/// Whether each write is on the medium when it is said to be durable, and by the end of a flush that came
/// after it was done.
fn check(requests: &[Request], gap_ns: Nanos, fates: &Fates, seen: &[(Nanos, Request, Nanos)]) {
    assert_eq!(fates.len(), requests.len(), "{requests:?}");
    let is_write = |request: &Request| matches!(request.op, Op::Write { .. });
    for (tag, request) in (0..).zip(requests).filter(|(_, request)| is_write(request)) {
        let (done_at, durable_at) = fates[&tag];
        let durable_at = durable_at.expect("every write is durable in the end");
        for sector in request.sector..request.end() {
            // What the volume was given when the memory had it, or what went through.
            let has_it = |(came, write, done): &(Nanos, Request, Nanos)| {
                (write.sector..write.end()).contains(&sector)
                    && (done_at <= *came || *done == done_at)
                    && *done <= durable_at
            };
            assert!(seen.iter().any(has_it), "{requests:?}: {tag} in {seen:?}");
        }
    }
    for (tag, _) in (0..).zip(requests).filter(|(_, request)| request.op == Op::Flush) {
        let before =
            fates.values().filter(|(done, durable)| *done <= tag * gap_ns && durable.is_some());
        for (_, durable) in before {
            assert!(*durable <= Some(fates[&tag].0), "{requests:?}: {fates:?}");
        }
    }
}

/// Any three requests on four sectors, close together and far apart; memories that hold two of the sectors,
/// or all; runs of two and of all.
#[test]
fn nothing_is_lost_and_nothing_older_overtakes() {
    let ranges = (0..SECTORS).flat_map(|start| (1..=SECTORS - start).map(move |len| (start, len)));
    let mut all: Vec<Request> =
        ranges.map(|(start, sectors)| Request::write(start, sectors as u32)).collect();
    all.push(Request { op: Op::Write { fua: true }, ..Request::write(1, 2) });
    all.push(Request { op: Op::Zeroes, ..Request::write(2, 2) });
    all.push(Request::read(0, 4));
    all.push(Request::flush());
    for spec in [spec(2, 2, 1), spec(4, 2, 2), spec(100, 4, 4)] {
        for gap_ns in [0, 700] {
            for a in &all {
                for b in &all {
                    for c in &all {
                        let requests = [*a, *b, *c];
                        let (fates, seen) = play(spec, &requests, gap_ns);
                        check(&requests, gap_ns, &fates, &seen);
                    }
                }
            }
        }
    }
}

/// When each of these is done, submitted one after the other.
fn latencies(spec: RaidControllerSpec, requests: &[Request]) -> Vec<Nanos> {
    let (fates, _) = play(spec, requests, 5000);
    (0..).zip(requests).map(|(tag, _)| fates[&tag].0 - tag * 5000).collect()
}

#[test]
fn the_memory_answers_writes_and_what_it_has_of_reads() {
    let requests =
        [Request::write(0, 2), Request::read(0, 2), Request::read(0, 4), Request::flush()];
    // A command is 10 ns, a sector on the bus 100, a command of the volume 1000. Lines of 16 sectors are
    // more than the volume has, so that only what is dirty or under way is found; by 5 us it is neither.
    assert_eq!(latencies(spec(4, 4, 1), &requests), [210, 1210, 1410, 1010]);
    let (fates, _) = play(spec(4, 4, 1), &requests[..2], 250);
    assert_eq!(fates[&1].0, 250 + 210, "it is under way, and still in the memory");
}

#[test]
fn where_the_memory_is_full_a_write_waits_for_the_volume() {
    let (fates, seen) = play(spec(4, 2, 1), &[Request::write(0, 4), Request::write(2, 2)], 0);
    // The first is there at 410; its first half is on the medium at 1410, and makes room for the second.
    assert_eq!((fates[&0].0, fates[&1].0), (410, 1610));
    let runs: Vec<(u64, u64)> = seen.iter().map(|(_, w, _)| (w.sector, w.end())).collect();
    // What was on its way when it was written again is written again.
    assert_eq!(runs, [(0, 2), (2, 4), (2, 4)]);
}

/// Little: requests there on the mean are their rate times their mean time.
#[test]
fn as_many_are_there_as_come_in_their_time() {
    for memory_sectors in [64, 4096] {
        for depth in [1, 3] {
            let spec = RaidControllerSpec { runs: 2, run_sectors: 8, ..spec(memory_sectors, 1, 1) };
            let mut device = RaidController::new(Server::new(100_000, 50_000), spec, BUS);
            let stream = Stream {
                op: Op::WRITE,
                pattern: Pattern::Random,
                span_sectors: 100_000,
                block_sectors: 8,
                count: 20_000,
                depth,
                ..Stream::default()
            };
            let outcome = run(&mut device, &mut RunningStream::new(stream, 7));
            let in_requests: u128 = outcome.spent_ns.iter().sum();
            let there = in_requests as f64 / outcome.elapsed_ns as f64;
            assert!((there / f64::from(depth) - 1.0).abs() < 1e-3, "{there}, not {depth}");
            // Writes leave as fast as the volume takes them (a few are written over before), and wait for room.
            let per_write_ns = outcome.elapsed_ns as f64 / 20_000.0;
            assert!((per_write_ns / 50_000.0 - 1.0).abs() < 0.1, "{per_write_ns}");
            assert!(outcome.spent_ns[Part::CACHE.index()] > in_requests / 2);
        }
    }
}
