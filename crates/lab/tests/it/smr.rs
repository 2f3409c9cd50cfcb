//! Shingled disks, held to what was published of them. Most of their figures are estimates: so are the tolerances.

use block::{Op, Request};
use lab::catalogue::{Model, Shingled, drive};
use sim::bus::Bus;
use sim::drive::Drive;
use sim::smr::SmrSpec;
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Advance, Device, Event, Nanos, Outcome, Shelf, Smr, run};

fn shingled(name: &str) -> Shingled {
    match drive(name).unwrap().model {
        Model::Shingled(shingled) => *shingled,
        _ => panic!("{name} is shingled"),
    }
}

fn device(name: &str, change: impl Fn(&mut SmrSpec)) -> Smr<Shelf> {
    let shingled = shingled(name);
    let disk = Drive::new(&shingled.disk.spec().unwrap(), 0).unwrap();
    let mut spec = shingled.spec().unwrap();
    change(&mut spec);
    Smr::new(Shelf::new(vec![disk], vec![Bus::new(600_000_000, 0)]), &spec, 1).unwrap()
}

fn play(device: &mut dyn Device, op: Op, depth: u32, count: u64) -> Outcome {
    let stream = Stream {
        op,
        pattern: Pattern::Random,
        span_sectors: device.geometry().target_sectors[0],
        block_sectors: 8,
        depth,
        count,
        ..Stream::default()
    };
    run(device, &mut RunningStream::new(stream, 5))
}

fn per_second(outcome: &Outcome) -> f64 {
    outcome.requests as f64 * 1e9 / outcome.elapsed_ns as f64
}

/// Tom's Hardware measured the Archive HDD of 8 TB with its media cache full: 155 random reads of 4 KiB a second at most,
/// 7 random writes, and about 1000 ms for a write.
#[test]
fn an_archive_disk_does_what_was_measured() {
    let reads = per_second(&play(&mut device("st8000as0002", |_| ()), Op::Read, 32, 4000));
    assert!((reads / 155.0 - 1.0).abs() < 0.12, "{reads} reads a second");
    // What the buffer takes at once is left out by writing much more than that.
    let write = |spec: &mut SmrSpec| spec.is_filled = true;
    let writes = per_second(&play(&mut device("st8000as0002", write), Op::WRITE, 32, 4000));
    assert!(writes < 7.0 && writes > 7.0 / 4.0, "{writes} writes a second");
    let alone = play(&mut device("st8000as0002", write), Op::WRITE, 1, 1000);
    let ms = alone.latency_ns.mean() / 1e6;
    assert!(ms < 1000.0 && ms > 1000.0 / 4.0, "a write takes {ms} ms");
}

/// Skylight: bands are rewritten in 0.6 to 1.6 s.
#[test]
fn bands_take_as_long_as_was_measured() {
    for name in ["st8000as0002", "wd40efax"] {
        let seconds = shingled(name).spec().unwrap().clean_ns as f64 / 1e9;
        assert!((0.6..1.6).contains(&seconds), "{name}: {seconds} s");
    }
}

/// Writes `mib` MiB in pieces of 1 MiB at `start`; returns when the last is done.
fn write_mib(device: &mut dyn Device, mut now: Nanos, start: u64, mib: u64) -> Nanos {
    let mut events = Vec::new();
    for piece in 0..mib {
        device.advance(now, &mut events);
        events.clear();
        device.submit(now, piece, Request::write(start + piece * 2048, 2048));
        while !events.iter().any(|event| matches!(event, Event::Done { .. })) {
            now = device.next_event().expect("the write comes back");
            events.clear();
            device.advance(now, &mut events);
        }
    }
    now
}

/// aicodix/smr: chunks of 64 MiB at random places are taken at the rate of the medium for about 32 GiB, then more slowly.
#[test]
fn the_media_cache_takes_as_much_as_was_measured() {
    let mut disk = device("st8000as0002", |spec| spec.is_filled = false);
    let chunks = disk.geometry().target_sectors[0] / (64 * 2048);
    let (mut now, mut place, mut written) = (0, 1_u64, 0_u64);
    // The time of the last sixteen chunks: a GiB.
    let mut times = vec![0];
    loop {
        place =
            place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        now = write_mib(&mut disk, now, (place >> 33) % chunks * 64 * 2048, 64);
        written += 64;
        times.push(now);
        let gib_s = (now - times[times.len().saturating_sub(17)]) as f64 / 1e9;
        if written >= 1024 && gib_s > 2.0 * 1024.0 / 180.0 {
            break;
        }
        assert!(written < 64 * 1024, "it never slows down");
    }
    let gib = written as f64 / 1024.0;
    assert!((gib / 32.0 - 1.0).abs() < 0.1, "it slows down after {gib} GiB");
}

/// What is written in order from end to end goes at the rate of the platters: openzfs/zfs#10214 has 180 MB/s at the start of
/// a disk like the WD40EFAX and 80 at its end, Tom's Hardware a constant rate per zone.
#[test]
fn writes_in_order_go_at_the_rate_of_the_platters() {
    for (share, expected) in [(0.0, 180.0), (0.998, 80.0)] {
        let mut disk = device("wd40efax", |spec| spec.is_filled = false);
        let sectors = disk.geometry().target_sectors[0];
        let start = (sectors as f64 * share) as u64 / 2048 * 2048;
        let began = write_mib(&mut disk, 0, start, 512);
        let ended = write_mib(&mut disk, began, start + 512 * 2048, 2048);
        let rate = 2048.0 * 1_048_576.0 * 1e3 / (ended - began) as f64;
        assert!((rate / expected - 1.0).abs() < 0.06, "{rate} MB/s at {share}");
    }
}
