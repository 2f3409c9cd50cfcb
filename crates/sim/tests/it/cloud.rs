//! Cloud volumes: the contract, and what the model claims.

use block::Op;
use sim::cloud::{CloudError, CloudSpec, Counts, Limit};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{
    Array, CloudVolume, Device, Driver, Nanos, Outcome, Part, Rack, Throttle, contract, run,
};
use std::num::NonZeroU64;

fn limit(counts: Counts, per_s: u64) -> Limit {
    Limit {
        counts,
        reads_per_s: per_s,
        writes_per_s: per_s,
        kept_ns: 10_000_000,
        is_credit: false,
        starts_full: true,
    }
}

/// 3000 I/Os a second of 256 KiB, 1 GB/s, 400 to 600 us.
fn spec() -> CloudSpec {
    CloudSpec {
        sectors: 1 << 24,
        unit_bytes: 256 << 10,
        merges: true,
        read_ns: vec![400_000, 500_000, 600_000],
        write_ns: vec![500_000],
        limits: vec![limit(Counts::Ios, 3000), limit(Counts::Bytes, 1_000_000_000)],
    }
}

fn volume(change: impl Fn(&mut CloudSpec)) -> CloudVolume {
    let mut spec = spec();
    change(&mut spec);
    CloudVolume::new(&spec, 1).expect("it is a volume")
}

fn stream(op: Op, block_sectors: u32, depth: u32, count: u64) -> Stream {
    let span_sectors = 1 << 24;
    let pattern = Pattern::Random;
    Stream { op, pattern, span_sectors, block_sectors, depth, count, ..Stream::default() }
}

fn play(device: &mut dyn Device, stream: Stream) -> Outcome {
    run(device, &mut RunningStream::new(stream, 7))
}

fn per_second(outcome: &Outcome) -> f64 {
    outcome.requests as f64 * 1e9 / outcome.elapsed_ns as f64
}

#[test]
fn keeps_the_contract() {
    let small = || volume(|spec| spec.sectors = 5000);
    contract::check(&|| Box::new(small()));
    contract::check_power(&|| Box::new(small()));
    contract::check_medium_errors(&|| Box::new(small()));
    let slow = || {
        volume(|spec| {
            spec.sectors = 5000;
            spec.limits = vec![limit(Counts::UnitBytes, 20_000_000)];
        })
    };
    contract::check(&|| Box::new(slow()));
    let throttled = || {
        let volumes = (0..3).map(|_| Box::new(small()) as Box<dyn Device>).collect();
        let limits = [limit(Counts::Ios, 700), limit(Counts::Bytes, 5_000_000)];
        Throttle::new(Rack::new(volumes), &limits, vec![true, false, true]).expect("limits")
    };
    contract::check(&|| Box::new(throttled()));
    contract::check_medium_errors(&|| Box::new(throttled()));
}

#[test]
fn figures_that_make_no_volume_are_refused() {
    let fails = |change: fn(&mut CloudSpec)| {
        let mut spec = spec();
        change(&mut spec);
        CloudVolume::new(&spec, 1).expect_err("it is no volume")
    };
    assert_eq!(fails(|spec| spec.sectors = 0), CloudError::Zero("the capacity"));
    assert_eq!(fails(|spec| spec.unit_bytes = 0), CloudError::Zero("the I/O unit"));
    assert_eq!(fails(|spec| spec.read_ns.clear()), CloudError::Times("a read"));
    assert_eq!(fails(|spec| spec.write_ns = vec![Nanos::MAX]), CloudError::Times("a write"));
    assert_eq!(fails(|spec| spec.limits[0].reads_per_s = 0), CloudError::Zero("a limit"));
    assert_eq!(fails(|spec| spec.limits[0].kept_ns = Nanos::MAX), CloudError::Deep);
}

#[test]
fn commands_and_bytes_are_limited_and_the_wait_is_named() {
    let ios = play(&mut volume(|_| {}), stream(Op::Read, 8, 64, 30_000));
    assert!((per_second(&ios) / 3000.0 - 1.0).abs() < 0.01, "{}", per_second(&ios));
    assert!(ios.spent_ns[Part::IO_LIMIT.index()] > 0);
    assert_eq!(ios.spent_ns[Part::BYTE_LIMIT.index()], 0);
    // 512 KiB are two I/Os: 1500 would be 786 MB/s. Of 250 MB/s there are 477.
    let large = play(&mut volume(|_| {}), stream(Op::Read, 1024, 64, 10_000));
    assert!((per_second(&large) / 1500.0 - 1.0).abs() < 0.01, "{}", per_second(&large));
    let slow = |spec: &mut CloudSpec| spec.limits[1] = limit(Counts::Bytes, 250_000_000);
    let bytes = play(&mut volume(slow), stream(Op::WRITE, 1024, 64, 5000));
    assert!((per_second(&bytes) / 476.8 - 1.0).abs() < 0.01, "{}", per_second(&bytes));
    assert!(bytes.spent_ns[Part::BYTE_LIMIT.index()] > 0);
}

/// Reads and writes share a limit: what one takes, the other does not have.
#[test]
fn reads_and_writes_share_a_limit() {
    let write_half = |spec: &mut CloudSpec| spec.limits[0].writes_per_s = 1500;
    let mixed = Stream { reads_percent: Some(50), ..stream(Op::Read, 8, 64, 30_000) };
    let outcome = play(&mut volume(write_half), mixed);
    assert!((per_second(&outcome) / 2000.0 - 1.0).abs() < 0.02, "{}", per_second(&outcome));
}

/// Four volumes of 3000 I/Os a second: a request of 256 KiB over a chunk of 64 KiB is four I/Os, one on each.
#[test]
fn a_chunk_below_the_unit_makes_several_ios_of_one() {
    let rate = |chunk_sectors: u64| {
        let volumes = (0..4).map(|_| {
            let fast = |spec: &mut CloudSpec| spec.limits[1] = limit(Counts::Bytes, 4_000_000_000);
            Box::new(volume(fast)) as Box<dyn Device>
        });
        let layout = block::layout::Stripe::new(chunk_sectors, &[1 << 24; 4]).expect("a stripe");
        let shelf = Rack::new(volumes.collect());
        let mut array = Array::new(Box::new(layout), shelf, Driver::default());
        let outcome = play(&mut array, stream(Op::Read, 512, 256, 60_000));
        let billed: u64 = outcome.counters.targets.iter().map(|target| target.billed).sum();
        (per_second(&outcome), billed as f64 / outcome.requests as f64)
    };
    let (small, billed) = rate(128);
    assert!((small / 3000.0 - 1.0).abs() < 0.01 && (billed - 4.0).abs() < 0.01, "{small} {billed}");
    let (whole, billed) = rate(512);
    assert!(
        whole / 12_000.0 > 0.97 && whole < 12_100.0 && (billed - 1.0).abs() < 0.01,
        "{whole} {billed}"
    );
}

/// Burst credit: 3000 I/Os a second while there is some, then 300; and what was drawn is counted.
#[test]
fn credit_is_spent_faster_than_it_is_earned() {
    let burst = |starts_full| {
        volume(|spec| {
            let credit = Limit {
                kept_ns: 54_000 * 1_000_000_000 / 300,
                is_credit: true,
                starts_full,
                ..limit(Counts::Ios, 300)
            };
            spec.limits.push(credit);
        })
    };
    // 54,000 credits at 3000 a second, with 300 earned, last for 20 s: 60,000 I/Os.
    let full = play(&mut burst(true), stream(Op::Read, 8, 64, 57_000));
    assert!((per_second(&full) / 3000.0 - 1.0).abs() < 0.01, "{}", per_second(&full));
    let drawn = full.counters.targets[0].on_credit as f64 / full.requests as f64;
    assert!((drawn - 0.9).abs() < 0.01, "{drawn}");
    let longer = play(&mut burst(true), stream(Op::Read, 8, 64, 63_000));
    assert!((longer.elapsed_ns as f64 / 30e9 - 1.0).abs() < 0.02, "{}", longer.elapsed_ns);
    let spent = play(&mut burst(false), stream(Op::Read, 8, 64, 3000));
    assert!((per_second(&spent) / 300.0 - 1.0).abs() < 0.03, "{}", per_second(&spent));
    // What was not there at the start is not drawn.
    // The last command overdraws it, for which the next one waits: of 188 I/Os, one of each volume was called a burst.
    assert_eq!(spent.counters.targets[0].on_credit, 0);
}

/// All volumes of an instance share its limits.
#[test]
fn an_instance_limits_its_volumes_together() {
    let volumes = (0..4).map(|_| Box::new(volume(|_| {})) as Box<dyn Device>).collect();
    let rack = Rack::new(volumes);
    let limits = [limit(Counts::Ios, 5000), limit(Counts::Bytes, 400_000_000)];
    let throttled = Throttle::new(rack, &limits, vec![true; 4]).expect("limits");
    let layout = block::layout::Stripe::new(512, &[1 << 24; 4]).expect("a stripe");
    let mut array = Array::new(Box::new(layout), throttled, Driver::default());
    let small = play(&mut array, stream(Op::Read, 8, 128, 30_000));
    assert!((per_second(&small) / 5000.0 - 1.0).abs() < 0.02, "{}", per_second(&small));
    assert!(small.spent_ns[Part::IO_LIMIT.index()] > 0);
}

/// 1 MiB was written in 0.44 ms at 500 MiB/s, of what was saved up: faster than any wire.
#[test]
fn what_was_saved_up_does_not_outrun_the_wire() {
    let one = |bytes_per_s: Option<u64>, sectors| {
        let limits = [limit(Counts::Bytes, 524_288_000)];
        let volumes = vec![Box::new(volume(|_| {})) as Box<dyn Device>];
        let throttled = Throttle::new(Rack::new(volumes), &limits, vec![true]).expect("limits");
        let mut throttled = throttled.over_wire(bytes_per_s.and_then(NonZeroU64::new));
        let outcome = play(&mut throttled, stream(Op::WRITE, sectors, 1, 200));
        (outcome.elapsed_ns / 200, outcome.spent_ns[Part::BYTE_LIMIT.index()] / 200)
    };
    let ((free_ns, _), (wire_ns, waited_ns)) = (one(None, 2048), one(Some(524_288_000), 2048));
    assert!(wire_ns >= 2_000_000 && waited_ns >= 2_000_000, "{free_ns} {wire_ns} {waited_ns}");
    let ((free_ns, _), (wire_ns, _)) = (one(None, 8), one(Some(524_288_000), 8));
    assert_eq!(wire_ns - free_ns, 4096 * 1_000_000_000 / 524_288_000);
}
