//! Flash drives: the contract, and what the model claims.

use block::{Op, Request};
use sim::flash::{Fill, FlashError, FlashSpec, Slc};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Advance, Array, Device, Driver, Event, Flash, Outcome, Part, Rack, contract, run};

/// A drive of round numbers: 80 us for a read of 4 KiB alone, 1 GB/s, 500 MB/s to flash.
fn spec() -> FlashSpec {
    FlashSpec {
        sectors: 1 << 21,
        queue_depth: 64,
        read_command_ns: 2_000,
        read_page_ns: 0,
        write_command_ns: 2_000,
        read_alone_ns: vec![(4096, 80_000), (65_536, 160_000)],
        write_alone_ns: vec![(4096, 15_000)],
        units: 16,
        unit_read_ns: 50_000,
        unit_spread_percent: 20,
        page_bytes: 4096,
        read_bytes_per_s: 1_000_000_000,
        write_bytes_per_s: 1_000_000_000,
        half_duplex: false,
        buffer_bytes: 1 << 20,
        stripe_bytes: 1 << 18,
        drain_bytes_per_s: 500_000_000,
        random_write_ns: 0,
        partial_write_ns: 0,
        program_ns: 500_000,
        program_wait_ns: 200_000,
        power_loss_protection: false,
        slc: None,
        reserve_bytes: 1 << 26,
        write_amplification_percent: 300,
        fill: Fill::Random,
    }
}

fn drive(change: impl Fn(&mut FlashSpec)) -> Flash {
    let mut spec = spec();
    change(&mut spec);
    Flash::new(&spec).expect("it is a drive")
}

fn check(change: impl Fn(&mut FlashSpec)) {
    let make = || -> Box<dyn Device> {
        Box::new(drive(|spec| {
            spec.sectors = 5000;
            change(spec);
        }))
    };
    contract::check(&make);
    contract::check_power(&make);
    contract::check_medium_errors(&make);
}

#[test]
fn keeps_the_contract() {
    check(|_| {});
    check(|spec| spec.queue_depth = 1);
    check(|spec| spec.power_loss_protection = true);
    check(|spec| (spec.buffer_bytes, spec.stripe_bytes) = (8192, 4096));
    check(|spec| (spec.fill, spec.program_ns) = (Fill::Fresh, 0));
    check(|spec| (spec.fill, spec.program_wait_ns) = (Fill::Steady, 0));
    let slc = Slc {
        bytes: 1 << 19,
        left_bytes: 1 << 18,
        full_bytes_per_s: 10_000_000,
        fold_bytes_per_s: 5_000_000,
    };
    check(|spec| (spec.slc, spec.fill) = (Some(slc), Fill::Sequential));
}

#[test]
fn drives_in_a_rack_keep_the_contract_and_mirrors_lose_nothing() {
    let rack = || -> Rack {
        let drive = || Box::new(drive(|spec| spec.sectors = 4000)) as Box<dyn Device>;
        Rack::new(vec![drive(), Box::new(Rack::new(vec![drive(), drive()]))])
    };
    contract::check(&|| Box::new(rack()));
    contract::check_power(&|| Box::new(rack()));
    contract::check_medium_errors(&|| Box::new(rack()));
    let level: block::Level = "mirror".parse().expect("a level");
    let mirror = || -> Box<dyn Device> {
        let layout = level.lay_out(0, &[4000; 3]).expect("a mirror");
        Box::new(Array::new(layout, rack(), Driver::default()))
    };
    contract::check(&mirror);
    contract::check_redundant(&mirror);
}

/// Runs requests of `op` at random places.
fn play(device: &mut Flash, op: Op, block_sectors: u32, depth: u32, count: u64) -> Outcome {
    let stream = Stream {
        op,
        pattern: Pattern::Random,
        span_sectors: device.geometry().target_sectors[0],
        block_sectors,
        depth,
        count,
        ..Stream::default()
    };
    run(device, &mut RunningStream::new(stream, 7))
}

fn mean_us(outcome: &Outcome) -> f64 {
    outcome.latency_ns.mean() / 1e3
}

fn per_second(outcome: &Outcome) -> f64 {
    outcome.requests as f64 * 1e9 / outcome.elapsed_ns as f64
}

/// A read alone takes what the table says, at its sizes and between them.
#[test]
fn a_read_alone_takes_its_time() {
    for (sectors, expected_us) in [(8, 80.0), (128, 160.0), (64, 117.3)] {
        let mean = mean_us(&play(&mut drive(|_| {}), Op::Read, sectors, 1, 4000));
        assert!((mean / expected_us - 1.0).abs() < 0.06, "{sectors} sectors take {mean} us");
    }
}

/// With many reads in flight the narrowest place decides: units, then the controller, then the link.
#[test]
fn the_narrowest_place_limits_reads() {
    let units = per_second(&play(&mut drive(|_| {}), Op::Read, 8, 64, 50_000));
    assert!(units < 16.0 / 50e-6 && units > 0.7 * 16.0 / 50e-6, "{units} reads a second");
    let mut slow = drive(|spec| spec.read_command_ns = 10_000);
    let controller = play(&mut slow, Op::Read, 8, 64, 50_000);
    assert!((per_second(&controller) / 100_000.0 - 1.0).abs() < 0.01);
    let [waits, units, overhead] =
        [Part::UNIT_WAIT, Part::UNIT, Part::OVERHEAD].map(|part| controller.spent_ns[part.index()]);
    assert!(overhead > 3 * (waits + units), "the controller is what is waited for");
    let link = per_second(&play(&mut drive(|spec| spec.units = 400), Op::Read, 128, 64, 20_000));
    assert!((link / (1e9 / 65_536.0) - 1.0).abs() < 0.02, "{link} reads of 64 KiB a second");
}

/// What was never written is read without flash, until it is written.
#[test]
fn a_fresh_drive_reads_nothing_from_flash() {
    let mut fresh = drive(|spec| spec.fill = Fill::Fresh);
    let empty = play(&mut fresh, Op::Read, 8, 1, 500);
    assert!(mean_us(&empty) < 40.0);
    assert_eq!(empty.spent_ns[Part::UNIT.index()], 0);
    let mut events = Vec::new();
    for (tag, request) in (0..).zip([Request::write(0, 8), Request::read(0, 8)]) {
        let now = 1_000_000_000 * (tag + 1);
        fresh.advance(now, &mut events);
        fresh.submit(now, tag, request);
    }
    fresh.advance(u64::MAX, &mut events);
    let read = events.iter().find_map(|event| match event {
        Event::Done { tag: 1, spent, .. } => Some(spent[Part::UNIT]),
        _ => None,
    });
    assert!(read.expect("it is done") > 0);
}

/// Written in order, the pages of a long read lie on different units; written at random, some meet.
#[test]
fn reads_of_many_pages_spread_where_they_were_written_in_order() {
    let change = |fill| {
        move |spec: &mut FlashSpec| {
            spec.fill = fill;
            spec.unit_spread_percent = 0;
            spec.read_alone_ns = vec![(4096, 80_000)];
        }
    };
    let read = |fill| mean_us(&play(&mut drive(change(fill)), Op::Read, 64, 1, 4000));
    let (ordered, scattered) = (read(Fill::Sequential), read(Fill::Random));
    assert!(scattered > ordered + 40.0, "{scattered} us against {ordered}");
}

/// A write is done when the buffer has it; a full buffer takes no more than flash does.
#[test]
fn writes_are_as_fast_as_the_buffer_and_then_as_flash() {
    let few = play(&mut drive(|_| {}), Op::WRITE, 8, 1, 50);
    assert!((mean_us(&few) / 15.0 - 1.0).abs() < 0.06);
    let many = play(&mut drive(|_| {}), Op::WRITE, 8, 8, 15_000);
    assert!((many.bytes as f64 * 1e9 / many.elapsed_ns as f64 / 5e8 - 1.0).abs() < 0.05);
    assert!(many.spent_ns[Part::CACHE.index()] > many.spent_ns[Part::OVERHEAD.index()]);
    // The room of a whole stripe is free at once, so that the latencies have a tail.
    let latency = &many.latency_ns;
    assert!(latency.value_at_quantile(0.99) > 3 * latency.value_at_quantile(0.5));
}

/// Without an erased block left, random writes cost as much more as the amplification says; sequential ones do
/// not, and discards give blocks back.
#[test]
fn garbage_collection_starts_when_no_block_is_erased() {
    let rate = |fill, before: Option<Op>| {
        let mut drive = drive(|spec| {
            (spec.fill, spec.drain_bytes_per_s) = (fill, 100_000_000);
            spec.reserve_bytes = 64 << 20;
        });
        if let Some(op) = before {
            let all = Request { target: 0, op, sector: 0, sectors: 1 << 21 };
            drive.submit(0, 0, all);
            while let Some(at) = drive.next_event() {
                drive.advance(at, &mut Vec::new());
            }
        }
        let outcome = play(&mut drive, Op::WRITE, 8, 8, 10_000);
        (outcome.bytes as f64 * 1e3 / outcome.elapsed_ns as f64, outcome)
    };
    assert!((rate(Fill::Random, None).0 / 100.0 - 1.0).abs() < 0.05);
    let (steady, outcome) = rate(Fill::Steady, None);
    assert!((steady / 33.3 - 1.0).abs() < 0.05, "{steady} MB/s");
    let [cache, garbage] =
        [Part::CACHE, Part::GARBAGE].map(|part| outcome.spent_ns[part.index()] as f64);
    assert!((garbage / (cache + garbage) - 2.0 / 3.0).abs() < 0.01);
    assert!((rate(Fill::Steady, Some(Op::Discard)).0 / 100.0 - 1.0).abs() < 0.05);
}

/// The rate falls when the single-level cache is full, and rises when all of it is free again.
#[test]
fn the_slc_cache_fills_and_empties() {
    let slc = Slc {
        bytes: 40 << 20,
        left_bytes: 20 << 20,
        full_bytes_per_s: 5_000_000,
        fold_bytes_per_s: 20_000_000,
    };
    let mut drive = drive(|spec| (spec.slc, spec.drain_bytes_per_s) = (Some(slc), 100_000_000));
    let mut finished = vec![0_u64; 4000];
    let (mut now, mut events) = (0, Vec::new());
    while now < 4_000_000_000 {
        drive.submit(now, 0, Request::write(now % 100_000 * 8, 256));
        loop {
            now = drive.next_event().expect("the write comes back");
            drive.advance(now, &mut events);
            if events.drain(..).any(|event| matches!(event, Event::Done { .. })) {
                break;
            }
        }
        if let Some(count) = finished.get_mut((now / 1_000_000) as usize) {
            *count += 256 * 512;
        }
    }
    let rate = |from: usize, to: usize| {
        finished[from..to].iter().sum::<u64>() as f64 / (to - from) as f64 / 1e3
    };
    assert!((rate(0, 200) / 100.0 - 1.0).abs() < 0.1, "{} MB/s at first", rate(0, 200));
    assert!((rate(300, 2200) / 5.0 - 1.0).abs() < 0.1, "{} MB/s when full", rate(300, 2200));
    assert!(rate(2600, 2800) > 90.0, "{} MB/s afterwards", rate(2600, 2800));
}

/// A flush waits for flash, unless the buffer survives a power cut.
#[test]
fn a_flush_costs_what_is_not_safe_yet() {
    let flush_us = |protected| {
        let mut drive = drive(|spec| spec.power_loss_protection = protected);
        let stream = Stream {
            op: Op::WRITE,
            span_sectors: 1 << 21,
            count: 500,
            flush_every: 1,
            ..Stream::default()
        };
        let outcome = run(&mut drive, &mut RunningStream::new(stream, 1));
        outcome.flush_ns.mean() / 1e3
    };
    // The controller still has the write before it.
    assert!(flush_us(true) < 8.0);
    assert!(flush_us(false) > 500.0);
}

/// Reads wait for units that program, and programs lose what reads take. With few in flight: of many, half are writes that
/// are in nobody's way, and reads wait for fewer reads.
#[test]
fn reads_and_writes_compete() {
    let mixed = |reads_percent| {
        let stream = Stream {
            reads_percent: Some(reads_percent),
            pattern: Pattern::Random,
            span_sectors: 1 << 21,
            depth: 8,
            count: 60_000,
            ..Stream::default()
        };
        run(&mut drive(|_| {}), &mut RunningStream::new(stream, 3)).directions
    };
    let [alone, _] = mixed(100);
    let [beside, _] = mixed(50);
    assert!(beside.latency_ns.value_at_quantile(0.5) > alone.latency_ns.value_at_quantile(0.5));
}

/// The latency of each read of `drive`, by its tag, of those that `requests` has: when, and what.
fn read_ns(drive: &mut Flash, requests: &[(u64, Request)]) -> Vec<u64> {
    let (mut events, mut read_ns) = (Vec::new(), vec![0; requests.len()]);
    for (tag, &(at, request)) in requests.iter().enumerate() {
        drive.advance(at, &mut events);
        drive.submit(at, tag as u64, request);
    }
    drive.advance(u64::MAX, &mut events);
    for event in events {
        if let Event::Done { tag, spent, .. } = event {
            read_ns[tag as usize] = spent.total();
        }
    }
    let reads = requests.iter().zip(read_ns).filter(|((_, request), _)| request.op == Op::Read);
    reads.map(|(_, ns)| ns).collect()
}

/// With power-loss protection it forgot what it still programmed as soon as the next write was on its way: beside writes at
/// the link's full rate reads took as long as alone.
#[test]
fn reads_wait_beside_writes_at_the_full_rate() {
    let mean_us = |protected, writes: bool| {
        let mut drive = drive(|spec| {
            spec.power_loss_protection = protected;
            spec.drain_bytes_per_s = spec.write_bytes_per_s;
        });
        // Eight writes of 128 KiB in flight, another one whenever the link has moved one, and ten reads in that time.
        let mut requests = Vec::new();
        if writes {
            requests.extend((0..8).map(|ahead| (0, Request::write((1 << 20) + ahead * 256, 256))));
        }
        for step in 0..20_000 {
            let at = step * 13_108;
            if writes && step % 10 == 0 {
                requests.push((at, Request::write(step / 10 * 256, 256)));
            }
            requests.push((at, Request::read(step * 7919 * 8 % (1 << 20), 8)));
        }
        let read_ns = read_ns(&mut drive, &requests);
        read_ns.iter().sum::<u64>() as f64 / read_ns.len() as f64 / 1e3
    };
    let alone_us = mean_us(true, false);
    let [protected, open] = [true, false].map(|protected| mean_us(protected, true) - alone_us);
    assert!(protected > 60.0, "{protected} us of waiting");
    assert!((protected / open - 1.0).abs() < 0.1, "{protected} for {open} us without protection");
}

/// Each read waited for a program of its own: of many behind each other on a unit none was done before all that.
#[test]
fn reads_behind_a_read_wait_for_no_program() {
    let mut drive = drive(|spec| {
        (spec.units, spec.unit_spread_percent) = (1, 0);
        (spec.read_command_ns, spec.program_wait_ns) = (0, 20_000_000);
        spec.drain_bytes_per_s = 1_000_000;
    });
    // A stripe of which flash takes a quarter of a second.
    let writes = (0..2).map(|number| (0, Request::write(number * 512, 512)));
    let reads = (0..8).map(|number| (2_000_000, Request::read(4096 + number * 8, 8)));
    let requests: Vec<_> = writes.chain(reads).collect();
    let read_ns = read_ns(&mut drive, &requests);
    assert!(read_ns[0] > 200_000, "the first one waits: {read_ns:?}");
    assert!(read_ns.windows(2).all(|pair| pair[1] - pair[0] == 50_000), "{read_ns:?}");
}

#[test]
fn figures_that_make_no_drive_are_refused() {
    let refused = |change: &dyn Fn(&mut FlashSpec)| {
        let mut spec = spec();
        change(&mut spec);
        Flash::new(&spec).expect_err("it is no drive")
    };
    assert_eq!(refused(&|spec| spec.units = 0), FlashError::Zero("the number of units"));
    assert_eq!(refused(&|spec| spec.read_alone_ns.clear()), FlashError::Table("read_alone"));
    assert_eq!(refused(&|spec| spec.buffer_bytes = 300_000), FlashError::SmallBuffer);
    assert_eq!(refused(&|spec| spec.write_amplification_percent = 99), FlashError::Amplification);
    assert_eq!(refused(&|spec| spec.unit_spread_percent = 101), FlashError::Spread);
    assert_eq!(refused(&|spec| spec.program_ns = u64::MAX), FlashError::TooLong("a program"));
}
