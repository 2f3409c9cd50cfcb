//! What the levels cost, and that a spare ends up holding what it should.

use super::common::drives::{self, TURN};
use block::{Level, Op, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::drive::{DriveSpec, Platters, SeekSpec, Zone};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{
    Advance, Array, Counters, Device, Disturbance, Driver, Event, Geometry, Nanos, Outcome,
    Rebuild, Shelf, Tag, run, settle,
};
use std::cell::RefCell;
use std::rc::Rc;

/// A drive of 7200 rpm with `sectors` sectors, 100 a track, and no write cache.
fn spec(sectors: u64) -> DriveSpec {
    let mut spec = drives::spec();
    let last_cylinder = (sectors / 500) as u32;
    spec.platters.sectors = sectors;
    spec.platters.zones = vec![Zone {
        first_cylinder: 0,
        last_cylinder,
        slots_per_track: 100,
        track_skew_slots: 12,
        cylinder_skew_slots: 25,
        ..Zone::default()
    }];
    spec.seek = SeekSpec::Points(vec![(1, 1_900_000), (last_cylinder, 17_000_000)]);
    spec.head_switch_ns = 900_000;
    spec.controller.write_overhead_ns = 600_000;
    spec.controller.sequential_write_overhead_ns = 600_000;
    spec
}

fn shelf(members: u64, sectors: u64) -> Shelf {
    drives::shelf(members, &spec(sectors), 40_000_000)
}

fn array(level: &str, members: u64, sectors: u64) -> Array<Shelf> {
    let level: Level = level.parse().unwrap();
    let layout = level.lay_out(64, &vec![sectors; members as usize]).unwrap();
    Array::new(layout, shelf(members, sectors), Driver::default())
}

fn random(device: &mut dyn Device, op: Op, block_sectors: u32, count: u64, depth: u32) -> Outcome {
    let span_sectors = device.geometry().target_sectors[0];
    let pattern = Pattern::Random;
    let stream =
        Stream { op, pattern, span_sectors, block_sectors, count, depth, ..Stream::default() };
    run(device, &mut RunningStream::new(stream, 42))
}

fn commands(outcome: &Outcome) -> f64 {
    let commands: u64 = outcome.counters.targets.iter().map(|target| target.commands).sum();
    commands as f64 / outcome.requests as f64
}

fn mean_ns(outcome: &Outcome) -> f64 {
    outcome.spent_ns.iter().sum::<u128>() as f64 / outcome.requests as f64
}

/// Patterson, Gibson and Katz (1988): a small write reads the old data and the old parity and writes
/// both. The writes follow the reads on the same sectors, one turn later; a read of the same size
/// takes a random access and no more.
#[test]
fn a_small_write_to_raid_5_is_four_commands_and_costs_an_access_and_a_turn() {
    let mut device = array("raid5", 8, 4_000_000);
    let writes = random(&mut device, Op::WRITE, 8, 4000, 1);
    assert!((commands(&writes) - 4.0).abs() < 1e-9, "{}", commands(&writes));
    let mut device = array("raid5", 8, 4_000_000);
    let reads = random(&mut device, Op::Read, 8, 4000, 1);
    assert!((commands(&reads) - 1.0).abs() < 1e-9);
    // The slower of two random accesses: two thirds of a turn rather than a half, and the longer seek.
    let extra = (mean_ns(&writes) - mean_ns(&reads)) / TURN as f64;
    assert!((1.0..1.6).contains(&extra), "a write takes {extra} turns more than a read");
    // Four commands each, evenly dealt, and busy twice for an access and once for a turn more.
    let mut device = array("raid5", 8, 4_000_000);
    let many = random(&mut device, Op::WRITE, 8, 20_000, 64);
    let mut device = array("raid5", 8, 4_000_000);
    let many_reads = random(&mut device, Op::Read, 8, 20_000, 64);
    let slower = many.elapsed_ns as f64 / many_reads.elapsed_ns as f64;
    assert!((3.0..4.5).contains(&slower), "reads are {slower} times as fast as writes");
}

/// Twice the requests, twice the events: nothing grows with what has been done.
#[test]
fn raid_5_writes_are_linear_in_the_number_of_requests() {
    let took = |count| {
        let mut device = array("raid5", 8, 4_000_000);
        let outcome = random(&mut device, Op::WRITE, 8, count, 16);
        (commands(&outcome), outcome.elapsed_ns as f64 / count as f64)
    };
    let ((few, each_of_few), (many, each_of_many)) = (took(10_000), took(80_000));
    assert!((few - 4.0).abs() < 1e-9 && (many - 4.0).abs() < 1e-9);
    assert!((each_of_few / each_of_many - 1.0).abs() < 0.02, "{each_of_few} and {each_of_many} ns");
}

/// Writes of the whole row need no reads: with N members, N commands for N − 1 units.
#[test]
fn a_full_stripe_write_reads_nothing() {
    let mut device = array("raid5", 5, 1_000_000);
    let writes = random(&mut device, Op::WRITE, 4 * 64, 1000, 1);
    assert!((commands(&writes) - 5.0).abs() < 1e-9, "{}", commands(&writes));
    assert!(writes.counters.targets.iter().all(|target| target.sectors_read == 0));
}

#[test]
fn mirrored_reads_are_balanced_and_nearly_twice_as_fast() {
    let mut device = array("mirror", 2, 4_000_000);
    let outcome = random(&mut device, Op::Read, 8, 20_000, 8);
    let [a, b] = [0, 1].map(|member| outcome.counters.targets[member].commands as f64);
    assert!((a / (a + b) - 0.5).abs() < 0.01, "{a} and {b} reads");
    let mut single = array("single", 1, 4_000_000);
    let one = random(&mut single, Op::Read, 8, 20_000, 8);
    let faster = one.elapsed_ns as f64 / outcome.elapsed_ns as f64;
    assert!((1.9..2.3).contains(&faster), "two copies serve reads {faster} times as fast");
}

/// A read of what the failed member held reads all N − 1 others; any other read is one command.
#[test]
fn a_degraded_read_of_raid_5_is_n_minus_1_reads() {
    for members in [3, 5, 8] {
        let mut device = array("raid5", members, 1_000_000).degraded(&[1]);
        let outcome = random(&mut device, Op::Read, 8, 20_000, 4);
        let others = (members - 1) as f64;
        let expected = (others + others) / members as f64;
        assert!((commands(&outcome) / expected - 1.0).abs() < 0.02, "{}", commands(&outcome));
        assert_eq!(outcome.counters.targets[1].commands, 0, "the failed member was asked");
        assert_eq!(outcome.faults, 0);
    }
}

/// A drive of 2 GB is restored as fast as it can be written, or as fast as it may be.
#[test]
fn a_rebuild_takes_as_long_as_writing_the_spare() {
    const SECTORS: u64 = 4_000_000;
    let bytes = (SECTORS * 512) as f64;
    let sustained = Platters::new(&spec(SECTORS).platters).unwrap().sustained_rates().0;
    for level in ["mirror", "raid5", "raid6", "raid10"] {
        let rebuilt_s = |bytes_per_s| {
            let rebuild = Rebuild { member: 2, bytes_per_s };
            let members = if level == "mirror" { 3 } else { 4 };
            let mut device = array(level, members, SECTORS).rebuilding(rebuild);
            settle(&mut device);
            let mut counters = Counters::default();
            device.count(&mut counters);
            assert!(counters.restored_sectors == SECTORS, "{level}");
            counters.restored_at.unwrap() as f64 / 1e9
        };
        let bound = bytes / sustained;
        let free = rebuilt_s(None);
        assert!((1.0..1.2).contains(&(free / bound)), "{level}: {free} s, the bound is {bound} s");
        let limited = rebuilt_s(Some(1_000_000));
        assert!((limited / (bytes / 1e6) - 1.0).abs() < 0.01, "{level}: {limited} s at 1 MB/s");
    }
}

#[test]
fn work_slows_a_rebuild_and_a_rebuild_slows_work() {
    let rebuild = Rebuild { member: 0, bytes_per_s: None };
    let mut device = array("raid5", 4, 400_000).rebuilding(rebuild);
    let under_way = random(&mut device, Op::Read, 8, 2000, 2);
    let mut counters = Counters::default();
    settle(&mut device);
    device.count(&mut counters);
    let mut device = array("raid5", 4, 400_000).rebuilding(rebuild);
    settle(&mut device);
    let mut alone = Counters::default();
    device.count(&mut alone);
    assert!(counters.restored_at > alone.restored_at);
    let degraded = random(&mut array("raid5", 4, 400_000).degraded(&[0]), Op::Read, 8, 2000, 2);
    assert!(under_way.elapsed_ns > degraded.elapsed_ns);
}

/// What each sector of each member holds: written by a request that came at that time, or restored
/// from what the others held at that time.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    since: Nanos,
    restored: bool,
}

/// A shelf that keeps track of what its drives hold.
struct Watched {
    below: Shelf,
    held: Rc<RefCell<Vec<Vec<Held>>>>,
    /// When the others were first asked for what restores each sector.
    asked: Vec<Nanos>,
}

/// Requests of the test are smaller, chunks of a rebuild larger than this.
const SMALL: u32 = 100;

impl Device for Watched {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let sectors = request.sector as usize..request.end() as usize;
        let restored = request.sectors > SMALL;
        match request.op {
            Op::Read if restored => self.asked[sectors].fill(now),
            Op::Write { .. } => {
                let held = &mut self.held.borrow_mut()[request.target as usize];
                for sector in sectors {
                    let since = if restored { self.asked[sector] } else { now };
                    held[sector] = Held { since, restored };
                }
            }
            _ => {}
        }
        self.below.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.below.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        self.below.proceed(limit, out)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.below.count(counters);
    }
}

/// Random writes while a member is restored: in the end the spare holds, for every sector that was
/// written, that write or what was restored after it.
#[test]
fn the_spare_holds_every_write() {
    const SECTORS: u64 = 24_000;
    for (level, members, lost) in
        [("mirror", 2, 1_u32), ("raid5", 4, 2), ("raid6", 5, 0), ("raid10", 4, 3)]
    {
        let layout =
            level.parse::<Level>().unwrap().lay_out(2048, &vec![SECTORS; members]).unwrap();
        let held = Rc::new(RefCell::new(vec![vec![Held::default(); SECTORS as usize]; members]));
        let below = Watched {
            below: shelf(members as u64, SECTORS),
            held: Rc::clone(&held),
            asked: vec![0; SECTORS as usize],
        };
        let homes = level.parse::<Level>().unwrap().lay_out(2048, &vec![SECTORS; members]).unwrap();
        let rebuild = Rebuild { member: lost, bytes_per_s: Some(3_000_000) };
        let mut device = Array::new(layout, below, Driver::new(50_000, 10_000)).rebuilding(rebuild);
        let written = write_at_random(&mut device);
        let mut counters = Counters::default();
        device.count(&mut counters);
        assert_eq!(counters.restored_sectors, SECTORS, "{level}");
        let held = held.borrow();
        let mut places = Vec::new();
        for (sector, &(from, to)) in (0..).zip(&written) {
            places.clear();
            homes.places(sector, &mut places);
            for place in places.iter().filter(|place| to > 0 && place.member == lost) {
                let there = held[lost as usize][place.sector as usize];
                let since = if there.restored { to } else { from };
                assert!(there.since >= since, "{level}: {place:?} has {there:?}, not {from}..{to}");
            }
        }
    }
}

/// Writes anywhere, six at a time, some across many rows, until all is restored; for each sector, when
/// the last write to it came and when it was done.
fn write_at_random<D: Device>(device: &mut Array<D>) -> Vec<(Nanos, Nanos)> {
    let sectors = device.geometry().target_sectors[0];
    let mut random = Pcg64Mcg::new(7);
    let mut written = vec![(0, 0); sectors as usize];
    let mut under_way: Vec<Option<(Nanos, Request)>> = vec![None; 6];
    let (mut now, mut left, mut events) = (1, 6000, Vec::new());
    loop {
        for tag in 0..under_way.len() {
            if under_way[tag].is_none() && left > 0 {
                left -= 1;
                let size = [3, 8, 90][(random.next_u64() % 3) as usize];
                // Apart from the others, so that each sector has one last write.
                let part = (sectors - size) / under_way.len() as u64;
                let sector = tag as u64 * part + random.next_u64() % (part - size);
                let request = Request::write(sector, size as u32);
                under_way[tag] = Some((now, request));
                device.submit(now, tag as Tag, request);
            }
        }
        let Some(next) = device.next_event() else { return written };
        now = next;
        device.advance(now, &mut events);
        for event in events.drain(..) {
            if let Event::Done { tag, at, result, .. } = event {
                assert_eq!(result, Ok(()));
                let (from, request) = under_way[tag as usize].take().unwrap();
                written[request.sector as usize..request.end() as usize].fill((from, at));
            }
        }
    }
}
