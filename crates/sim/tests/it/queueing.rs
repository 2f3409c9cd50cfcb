//! What is published of queues in and before a drive, as far as it can be said in order and not in
//! numbers, and what must hold in between.
//!
//! Worthington, Ganger and Patt, "Scheduling algorithms for modern disk drives" (1994), for random
//! requests that come whether or not others are done: the mean response goes up in the order shortest
//! positioning first, C-LOOK, first come first served; C-LOOK starves requests least; and a little
//! ageing makes shortest positioning starve them less at hardly any cost.

use super::common::arrivals::Poisson;
use super::common::drives;
use block::{Op, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::drive::{Discipline, Firmware, SeekSpec};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Deadline, Device, Order, Outcome, Scheduler, Shelf, run};

const SECTORS: u64 = 4_000_000;

fn shelf(discipline: Discipline, queue_depth: usize) -> Shelf {
    let mut spec = drives::spec();
    spec.seek =
        SeekSpec::Typical { single_ns: 1_900_000, average_ns: 9_000_000, full_ns: 17_000_000 };
    (spec.write_settle_ns, spec.command_settle_ns) = (300_000, 1_000_000);
    spec.head_switch_ns = 700_000;
    let controller = &mut spec.controller;
    controller.read_miss_overhead_ns = 300_000;
    controller.write_overhead_ns = 300_000;
    controller.sequential_write_overhead_ns = 300_000;
    controller.firmware = Firmware { discipline, queue_depth, ..Firmware::default() };
    drives::shelf(1, &spec, 40_000_000)
}

const SPTF: Discipline = Discipline::Sptf { ageing_us_per_ms: 0 };

fn per_second(device: &mut dyn Device, depth: u32) -> f64 {
    let reads = Stream {
        op: Op::Read,
        pattern: Pattern::Random,
        span_sectors: SECTORS,
        block_sectors: 8,
        count: 6000,
        depth,
        ..Stream::default()
    };
    rate(device, reads)
}

fn rate(device: &mut dyn Device, stream: Stream) -> f64 {
    let outcome = run(device, &mut RunningStream::new(stream, 42));
    outcome.requests as f64 / (outcome.elapsed_ns as f64 / 1e9)
}

/// Requests at random places, two thirds of them reads.
fn anywhere(random: &mut Pcg64Mcg) -> Request {
    let sector = random.next_u64() % (SECTORS / 8) * 8;
    let read = !random.next_u64().is_multiple_of(3);
    let op = if read { Op::Read } else { Op::WRITE };
    Request { op, ..Request::read(sector, 8) }
}

/// The mean response in ms and its squared coefficient of variation, the measure of starvation.
fn response(device: &mut dyn Device, requests_per_s: f64) -> (f64, f64) {
    let mut arrivals = Poisson::new(5, 1e9 / requests_per_s, 20_000, anywhere);
    let Outcome { latency_ns, .. } = run(device, &mut arrivals);
    let mean = latency_ns.mean();
    (mean / 1e6, (latency_ns.stdev() / mean).powi(2))
}

#[test]
fn reordering_pays_with_depth_and_knowing_the_angle_pays_more() {
    let mut last = [0.0; 2];
    for depth in [4, 16, 64] {
        let held = depth as usize;
        let fcfs = per_second(&mut shelf(Discipline::Fcfs, held), depth);
        let c_look = per_second(&mut shelf(Discipline::CLook, held), depth);
        let sptf = per_second(&mut shelf(SPTF, held), depth);
        assert!(sptf > 1.1 * c_look && c_look > 1.03 * fcfs, "{depth}: {sptf} {c_look} {fcfs}");
        assert!(c_look > last[0] && sptf > last[1], "a deeper queue is no slower");
        last = [c_look, sptf];
    }
    let one = per_second(&mut shelf(Discipline::Fcfs, 1), 1);
    for discipline in [Discipline::CLook, SPTF] {
        let same = per_second(&mut shelf(discipline, 16), 1);
        assert!((same / one - 1.0).abs() < 1e-9, "with nothing to choose from all are the same");
    }
}

/// A command in order that waits in the queue goes on where the one before it ends, whatever is next by its angle: the head
/// does not come round again for it. Without a queue each write does, where nothing buffers it.
#[test]
fn commands_in_order_that_wait_in_the_drive_lose_no_revolution() {
    let in_order = |op, block_sectors, (discipline, held), depth| {
        let mut device = shelf(discipline, held);
        let stream = Stream {
            op,
            pattern: Pattern::Sequential,
            span_sectors: SECTORS,
            block_sectors,
            count: 400_000 / u64::from(block_sectors),
            depth,
            ..Stream::default()
        };
        rate(&mut device, stream)
    };
    for block_sectors in [16, 128, 1024] {
        let media = in_order(Op::Read, block_sectors, (Discipline::Fcfs, 1), 1);
        for discipline in [Discipline::Fcfs, Discipline::CLook, SPTF] {
            for (held, depth) in [(4, 3), (32, 8), (32, 32), (200, 100)] {
                for op in [Op::Read, Op::WRITE] {
                    let queued = in_order(op, block_sectors, (discipline, held), depth);
                    assert!(
                        (queued / media - 1.0).abs() < 0.03,
                        "{op:?} {block_sectors} {discipline:?} {held} {depth}: {queued} {media}"
                    );
                }
            }
        }
        let alone = in_order(Op::WRITE, block_sectors, (SPTF, 32), 1);
        assert!(alone < 0.9 * media, "{alone} {media}");
    }
}

#[test]
fn responses_are_in_the_order_of_worthington_ganger_and_patt() {
    let at = |discipline| response(&mut shelf(discipline, 1000), 85.0);
    let (sptf, starved) = at(SPTF);
    let (aged, starved_aged) = at(Discipline::Sptf { ageing_us_per_ms: 12 });
    let (c_look, starved_c_look) = at(Discipline::CLook);
    let (fcfs, _) = response(&mut shelf(Discipline::Fcfs, 1000), 60.0);
    let (old, _) = at(Discipline::Sptf { ageing_us_per_ms: 1000 });
    assert!((aged / sptf - 1.0).abs() < 0.05, "a little ageing costs little: {sptf} {aged}");
    assert!(sptf < 0.8 * c_look && aged < 0.8 * c_look && old > 1.5 * c_look);
    assert!(starved_c_look < starved_aged && starved_aged < starved);
    let (at_same_rate, _) = response(&mut shelf(Discipline::CLook, 1000), 60.0);
    assert!(at_same_rate < fcfs, "{at_same_rate} {fcfs}");
}

/// A host that sorts and lets one request go at a time does what a drive does that sorts as it does;
/// and letting more go than a plain drive can use takes away from what the host can sort.
#[test]
fn a_host_that_sorts_is_as_good_as_a_drive_that_sorts() {
    let plain = || shelf(Discipline::Fcfs, 1);
    let in_drive = per_second(&mut shelf(Discipline::CLook, 64), 32);
    let host =
        |order, outstanding| per_second(&mut Scheduler::new(plain(), order, outstanding), 32);
    let in_host = host(Order::CLook, 1);
    assert!((in_host / in_drive - 1.0).abs() < 0.02, "{in_host} {in_drive}");
    assert!(host(Order::CLook, 16) < 0.99 * in_host);
    let patient = Deadline { read_expires_ns: u64::MAX / 2, ..Deadline::default() };
    assert!((host(Order::Deadline(patient), 1) / in_host - 1.0).abs() < 1e-9);
    let by_deadline = host(Order::Deadline(Deadline::default()), 1);
    assert!(host(Order::Fcfs, 1) < by_deadline && by_deadline < in_host);
    assert!((host(Order::Fcfs, 1) / per_second(&mut plain(), 32) - 1.0).abs() < 1e-3);
    let both = per_second(&mut Scheduler::new(shelf(SPTF, 16), Order::CLook, 16), 32);
    assert!(both > in_host, "the drive knows the angle: {both} {in_host}");
}
