//! Laws that hold whatever the model: queueing theory, rotation, and what mechanics allow.

use super::common::arrivals::Poisson;
use super::common::drives::{self, TURN, spec};
use block::layout::Stripe;
use block::{Op, Request};
use sim::drive::{Discipline, DriveSpec, Keeps, Platters, ReadAheadPolicy};
use sim::workload::{Jobs, Pattern, RunningStream, Stream};
use sim::{
    Advance, Array, Device, Driver, Event, Nanos, Outcome, Part, Processor, Server, Shelf,
    Splitter, run, run_on,
};

fn shelf(drives: u64, spec: &DriveSpec) -> Shelf {
    drives::shelf(drives, spec, 40_000_000)
}

fn stream(op: Op, pattern: Pattern, block_sectors: u32, count: u64, depth: u32) -> Stream {
    Stream {
        op,
        pattern,
        span_sectors: 4_000_000,
        block_sectors,
        count,
        depth,
        ..Stream::default()
    }
}

fn random_reads(device: &mut dyn Device, count: u64, depth: u32) -> Outcome {
    run(device, &mut RunningStream::new(stream(Op::Read, Pattern::Random, 8, count, depth), 42))
}

/// M/D/1: the mean wait is ρ / (2 (1 − ρ)) service times (Pollaczek and Khinchine).
#[test]
fn a_server_with_random_arrivals_waits_as_m_d_1_does() {
    const SERVICE: Nanos = 1_000_000;
    for load in [0.3, 0.5, 0.8] {
        let mean_gap_ns = SERVICE as f64 / load;
        let mut arrivals = Poisson::new(11, mean_gap_ns, 400_000, |_| Request::read(0, 1));
        let outcome = run(&mut Server::new(8, SERVICE), &mut arrivals);
        let waited = outcome.spent_ns[Part::QUEUE.index()] as f64 / outcome.requests as f64;
        let expected = load / (2.0 * (1.0 - load)) * SERVICE as f64;
        assert!((waited / expected - 1.0).abs() < 0.03, "load {load}: {waited}, not {expected}");
        let busy = outcome.counters.targets[0].busy_ns as f64 / outcome.elapsed_ns as f64;
        assert!((busy / load - 1.0).abs() < 0.01, "load {load}: busy {busy}");
    }
}

/// One processor cannot work on requests and fill blocks at a time, however many are under way: what it
/// has to do for one write, it has to do for each.
#[test]
fn a_program_s_work_and_its_requests_share_the_processor() {
    const FILL_NS: Nanos = 700_000;
    const REQUEST_NS: Nanos = 200_000;
    const COMMAND_NS: Nanos = 100_000;
    for (jobs, depth, cut) in [(1, 1, u32::MAX), (1, 8, u32::MAX), (4, 4, u32::MAX), (4, 4, 4)] {
        let layout = Stripe::new(128, &[100_000]).unwrap();
        let processor = Processor::default();
        let driver = Driver::new(REQUEST_NS, COMMAND_NS).on(&processor);
        let array = Array::new(Box::new(layout), Server::new(100_000, 1000), driver);
        let mut device = Splitter::new(array, cut, 16);
        let job = || {
            let writes = stream(Op::WRITE, Pattern::Sequential, 8, 500, depth);
            let filled = Stream { work_ns: FILL_NS, span_sectors: 80_000, ..writes };
            RunningStream::new(filled, 1)
        };
        let mut all = Jobs::new((0..jobs).map(|_| job()).collect());
        let outcome = run_on(&processor, &mut device, &mut all);
        let pieces = u64::from(8_u32.div_ceil(cut));
        let work_ns = jobs * 500 * (FILL_NS + pieces * (REQUEST_NS + COMMAND_NS));
        assert_eq!(outcome.cpu_busy_ns, work_ns);
        let idle = outcome.elapsed_ns as f64 / work_ns as f64 - 1.0;
        let most = if depth == 1 { 0.002 } else { 0.0005 };
        assert!((0.0..most).contains(&idle), "{jobs} jobs, depth {depth}: idle {idle}");
    }
}

/// What the program does while nothing is under way is its own time; while something is, it is hidden.
#[test]
fn the_program_s_own_time_is_when_nothing_is_under_way() {
    const THINK: Nanos = 400_000;
    const SERVICE: Nanos = 1_000_000;
    for (depth, idle) in [(1, 50 * THINK), (2, THINK)] {
        let reads = stream(Op::Read, Pattern::Sequential, 8, 50, depth);
        let thinking = Stream { think_ns: THINK, span_sectors: 8000, ..reads };
        let outcome = run(&mut Server::new(8000, SERVICE), &mut RunningStream::new(thinking, 1));
        assert_eq!((outcome.idle_ns, outcome.elapsed_ns), (idle, idle + 50 * SERVICE));
    }
}

/// Little: requests under way = throughput × mean latency. In a closed loop without thinking the left
/// side is the depth, so the sum of all latencies is depth × elapsed, but for the ends of the run.
#[test]
fn little_holds_on_every_run() {
    for depth in [1, 4, 16] {
        for members in [1, 3, 8] {
            let layout = Stripe::new(128, &vec![4_000_000; members]).unwrap();
            let below = shelf(members as u64, &spec());
            let array = Array::new(Box::new(layout), below, Driver::new(10_000, 5_000));
            let mut device = Splitter::new(array, 128, 1);
            let outcome = random_reads(&mut device, 5000, depth);
            let latencies: u128 = outcome.spent_ns.iter().sum();
            let under_way = latencies as f64 / outcome.elapsed_ns as f64;
            assert!((under_way / f64::from(depth) - 1.0).abs() < 0.01, "{depth}: {under_way}");
        }
    }
}

#[test]
fn random_reads_wait_half_a_turn() {
    let outcome = random_reads(&mut shelf(1, &spec()), 20_000, 1);
    let rotation = outcome.spent_ns[Part::ROTATION.index()] as f64 / outcome.requests as f64;
    assert!((rotation / (TURN as f64 / 2.0) - 1.0).abs() < 0.01, "mean rotation {rotation} ns");
}

/// Sequential reads run at the rate that zones and skews allow, whether the host asks for much or
/// little at a time, as long as read-ahead covers the time between.
#[test]
fn sequential_reads_run_at_the_sustained_rate() {
    let sustained = Platters::new(&spec().platters).unwrap().sustained_rates().0;
    for block_sectors in [16, 128, 256] {
        let reads = stream(
            Op::Read,
            Pattern::Sequential,
            block_sectors,
            3_000_000 / u64::from(block_sectors),
            1,
        );
        let outcome = run(&mut shelf(1, &spec()), &mut RunningStream::new(reads, 1));
        let rate = outcome.bytes as f64 / (outcome.elapsed_ns as f64 / 1e9);
        assert!((rate / sustained - 1.0).abs() < 0.01, "{block_sectors}: {rate}, not {sustained}");
    }
}

/// Neither what a command needs to settle nor how the firmware reads ahead changes that.
#[test]
fn every_firmware_waits_half_a_turn_and_streams_at_the_sustained_rate() {
    let sustained = Platters::new(&spec().platters).unwrap().sustained_rates().0;
    for read_ahead in
        [ReadAheadPolicy::Beyond, ReadAheadPolicy::UntilFull, ReadAheadPolicy::SequentialTracks]
    {
        for keeps in [Keeps::Everything, Keeps::Ahead] {
            let mut spec = spec();
            spec.command_settle_ns = 1_000_000;
            let controller = &mut spec.controller;
            (controller.firmware.read_ahead, controller.firmware.keeps) = (read_ahead, keeps);
            (controller.segment_sectors, controller.read_ahead_sectors) = (512, 512);
            let outcome = random_reads(&mut shelf(1, &spec), 20_000, 1);
            let rotation = outcome.spent_ns[Part::ROTATION.index()] as f64 / 20_000.0;
            assert!((rotation / (TURN as f64 / 2.0) - 1.0).abs() < 0.01, "{spec:?}: {rotation}");
            let reads = stream(Op::Read, Pattern::Sequential, 64, 40_000, 1);
            let outcome = run(&mut shelf(1, &spec), &mut RunningStream::new(reads, 1));
            let rate = outcome.bytes as f64 / (outcome.elapsed_ns as f64 / 1e9);
            assert!((rate / sustained - 1.0).abs() < 0.01, "{read_ahead:?} {keeps:?}: {rate}");
        }
    }
}

/// A host that is slower than the medium finds everything in the buffer: a read is then overhead and
/// bus, also where read-ahead had stopped because the buffer was full.
#[test]
fn a_slow_host_reads_from_the_buffer() {
    let mut reads = stream(Op::Read, Pattern::Sequential, 64, 2000, 1);
    reads.think_ns = 20_000_000;
    let outcome = run(&mut shelf(1, &spec()), &mut RunningStream::new(reads, 1));
    let hit_ns = 80_000 + 64 * 512 * 1000 / 40;
    assert_eq!(outcome.counters.targets[0].read_hits, 1999);
    assert_eq!(outcome.spent_ns[Part::CACHE.index()], 0);
    assert!(outcome.latency_ns.value_at_quantile(0.99).abs_diff(hit_ns) < hit_ns / 500);
}

/// McVoy (1990): without a write cache each write of c bytes costs c / R and one turn (blown revolutions).
#[test]
fn uncached_sequential_writes_lose_a_turn_each() {
    let writes = stream(Op::WRITE, Pattern::Sequential, 16, 2000, 1);
    let mut unskewed = spec();
    let zone = &mut unskewed.platters.zones[0];
    (zone.slots_per_track, zone.track_skew_slots, zone.cylinder_skew_slots) = (192, 0, 0);
    let outcome = run(&mut shelf(1, &unskewed), &mut RunningStream::new(writes, 1));
    let each = outcome.elapsed_ns as f64 / 2000.0;
    let expected = TURN as f64 * (1.0 + 16.0 / 192.0);
    assert!((each / expected - 1.0).abs() < 0.01, "{each} ns a write, not {expected}");
}

/// With a write cache, and more written than it holds, sequential writes run at the sustained rate.
#[test]
fn cached_sequential_writes_run_at_the_sustained_rate() {
    let mut cached = spec();
    cached.controller.write_buffer_sectors = 1024;
    let sustained = Platters::new(&cached.platters).unwrap().sustained_rates().0;
    let writes = stream(Op::WRITE, Pattern::Sequential, 128, 20_000, 1);
    let outcome = run(&mut shelf(1, &cached), &mut RunningStream::new(writes, 1));
    let rate = outcome.bytes as f64 / (outcome.elapsed_ns as f64 / 1e9);
    assert!((rate / sustained - 1.0).abs() < 0.02, "{rate} B/s, not {sustained}");
}

/// Without a write cache nothing waits for a flush: writes in flight are served in the drive's best order, however often
/// one is asked for. A kernel does not flush such a drive at all, and is as fast.
#[test]
fn flushes_cost_nothing_without_a_write_cache() {
    let rate = |flush_every, write_buffer_sectors| {
        let mut spec = spec();
        spec.controller.firmware.queue_depth = 32;
        spec.controller.firmware.discipline = Discipline::Sptf { ageing_us_per_ms: 0 };
        spec.controller.write_buffer_sectors = write_buffer_sectors;
        let writes = stream(Op::WRITE, Pattern::Random, 8, 1000, 32);
        let writes = Stream { flush_every, ..writes };
        let took = run(&mut shelf(1, &spec), &mut RunningStream::new(writes, 42)).elapsed_ns;
        1000.0 / (took as f64 / 1e9)
    };
    let (plain, flushed) = (rate(0, 0), rate(1, 0));
    assert!((flushed / plain - 1.0).abs() < 0.01, "{flushed} {plain}");
    // With one each flush waits for the write before.
    let cached = rate(1, 4096);
    assert!(cached < 0.6 * flushed, "{cached} {flushed}");
}

/// A flush costs a command's overhead where everything is on the medium already: who comes back from the flush before has
/// sent on by then.
#[test]
fn a_flush_of_nothing_costs_a_command() {
    let mut spec = spec();
    spec.controller.write_buffer_sectors = 4096;
    let mut drives = shelf(1, &spec);
    let mut done = Vec::new();
    drives.submit(0, 1, Request::flush());
    while let Some(at) = drives.next_event() {
        drives.advance(at, &mut done);
    }
    let [Event::Done { at, .. }] = done[..] else { panic!("{done:?}") };
    assert_eq!(at, spec.controller.write_overhead_ns);
    assert!(at > 0);
}

#[test]
fn the_same_run_twice_is_the_same_run() {
    let play = || {
        let layout = Stripe::new(32, &[4_000_000; 4]).unwrap();
        let array = Array::new(Box::new(layout), shelf(4, &spec()), Driver::new(10_000, 5_000));
        let outcome = random_reads(&mut Splitter::new(array, 128, 1), 3000, 8);
        (outcome.elapsed_ns, outcome.spent_ns, outcome.counters)
    };
    assert_eq!(play(), play());
}

#[test]
fn a_queue_of_requests_keeps_all_members_busy() {
    let layout = Stripe::new(128, &[4_000_000; 8]).unwrap();
    let mut array = Array::new(Box::new(layout), shelf(8, &spec()), Driver::default());
    let one = random_reads(&mut array, 5000, 1);
    let layout = Stripe::new(128, &[4_000_000; 8]).unwrap();
    let mut array = Array::new(Box::new(layout), shelf(8, &spec()), Driver::default());
    let many = random_reads(&mut array, 5000, 64);
    let speedup = one.elapsed_ns as f64 / many.elapsed_ns as f64;
    assert!((6.0..8.0).contains(&speedup), "64 at a time over 8 drives: {speedup} times as fast");
}
