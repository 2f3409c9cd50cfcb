//! What a drive cannot do: be in two places, undo a newer write, forget what it holds, or keep a bus
//! that nobody uses. Each was a fault once.

use super::common::drives::{self, TURN};
use block::{Op, Request};
use sim::drive::{DriveSpec, ReadAheadPolicy};
use sim::{Advance, Counters, Device, Disturbance, Event, Nanos, Shelf, Tag};

/// Sequential writes cost little, and 2048 sectors of them are taken in.
fn caching() -> DriveSpec {
    let mut spec = drives::spec();
    let controller = &mut spec.controller;
    controller.sequential_write_overhead_ns = 80_000;
    (controller.segment_sectors, controller.read_ahead_sectors) = (512, 512);
    controller.write_buffer_sectors = 2048;
    spec
}

fn shelf(bus_bytes_per_s: u64) -> Shelf {
    drives::shelf(1, &caching(), bus_bytes_per_s)
}

fn write(sector: u64, sectors: u32) -> Request {
    Request::write(sector, sectors)
}

fn drain(device: &mut dyn Device) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
    }
    events
}

/// Advances until `wanted` is done; gives when.
fn until_done(device: &mut dyn Device, wanted: Tag) -> Nanos {
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
        if let Some(at) = done_at(&events, wanted) {
            return at;
        }
    }
    panic!("{wanted} never came back");
}

fn done_at(events: &[Event], wanted: Tag) -> Option<Nanos> {
    events.iter().find_map(|event| match event {
        Event::Done { tag, at, .. } if *tag == wanted => Some(*at),
        _ => None,
    })
}

fn durable_at(events: &[Event], wanted: Tag) -> Nanos {
    let found = events.iter().find_map(|event| match event {
        Event::Durable { tag, at } if *tag == wanted => Some(*at),
        _ => None,
    });
    found.expect("it becomes durable")
}

fn hits(device: &dyn Device) -> u64 {
    let mut counters = Counters::default();
    device.count(&mut counters);
    counters.targets[0].read_hits
}

/// A buffer with room for all, but few segments, takes only as many writes apart from each other; those
/// that go on where one before them ended share its segment.
#[test]
fn a_write_waits_for_a_segment_unless_it_goes_on() {
    let last_done = |gap: u64, write_segments: usize| {
        let mut spec = caching();
        spec.controller.firmware.write_segments = write_segments;
        let mut device = drives::shelf(1, &spec, 40_000_000);
        for tag in 0..20 {
            device.submit(0, tag, write(tag * gap, 8));
        }
        done_at(&drain(&mut device), 19).unwrap()
    };
    assert!(last_done(100_000, 4) > 3 * last_done(100_000, 0));
    assert_eq!(last_done(8, 4), last_done(8, 0));
}

/// A read that waits for read-ahead holds the arm: a write far away goes to the medium after it.
#[test]
fn a_destage_waits_for_a_read_that_is_being_read_ahead() {
    let mut device = shelf(40_000_000);
    device.submit(0, 1, Request::read(0, 64));
    device.submit(0, 2, write(3_900_000, 1024));
    for tag in 3..8 {
        device.submit(0, tag, Request::read(64 + (tag - 3) * 512, 512));
    }
    let events = drain(&mut device);
    let first_read = done_at(&events, 3).unwrap();
    assert!(durable_at(&events, 2) > first_read, "{events:?}");
    // Its own seek, and the way back, separate the write from the reads beside it.
    let seek_ns = 16_000_000;
    for tag in 3..8 {
        let done = done_at(&events, tag).unwrap();
        assert!(
            done.abs_diff(durable_at(&events, 2)) > seek_ns / 4 || done < durable_at(&events, 2)
        );
    }
}

#[test]
fn a_sector_that_was_never_read_is_no_hit() {
    let mut device = shelf(40_000_000);
    device.submit(0, 1, Request::read(100_000, 8));
    drain(&mut device);
    let mut events = Vec::new();
    device.advance(30_000_000, &mut events);
    device.submit(30_000_000, 2, write(100_000, 8));
    drain(&mut device);
    device.advance(2_000_000_000, &mut events);
    device.submit(2_000_000_000, 3, Request::read(99_950, 8));
    drain(&mut device);
    assert_eq!(hits(&device), 0);
}

#[test]
fn an_older_write_never_reaches_the_medium_after_a_newer_one() {
    for newer in [Op::Write { fua: true }, Op::WRITE] {
        let mut device = shelf(40_000_000);
        device.submit(0, 9, write(3_000_000, 1024));
        let now = until_done(&mut device, 9);
        device.submit(now, 1, write(1000, 8));
        let sectors = if newer == Op::WRITE { 3000 } else { 8 };
        device.submit(now, 2, Request { op: newer, ..write(1000, sectors) });
        let events = drain(&mut device);
        assert!(durable_at(&events, 1) <= durable_at(&events, 2));
    }
}

#[test]
fn what_is_on_its_way_to_the_medium_is_still_in_the_buffer() {
    let mut device = shelf(40_000_000);
    device.submit(0, 1, write(3_000_000, 8));
    let now = until_done(&mut device, 1);
    device.submit(now, 2, Request::read(3_000_000, 8));
    let done = until_done(&mut device, 2);
    assert_eq!(hits(&device), 1);
    assert!(done - now < 1_000_000);
}

#[test]
fn a_power_cut_frees_the_bus() {
    let mut device = shelf(1_000_000);
    device.submit(0, 1, write(0, 2048));
    let mut events = Vec::new();
    device.advance(10_000_000, &mut events);
    device.disturb(10_000_000, Disturbance::PowerCut);
    device.advance(10_000_000, &mut events);
    device.submit(10_000_000, 2, write(0, 1));
    assert!(until_done(&mut device, 2) < 20_000_000);
}

/// What was written over is no longer what was read: once the write is on the medium, a read of it goes
/// there, too.
#[test]
fn a_read_after_a_write_is_not_answered_with_what_was_read_before() {
    let mut spec = caching();
    spec.controller.read_ahead_sectors = 0;
    let mut device = drives::shelf(1, &spec, 40_000_000);
    let mut now = 0;
    for (tag, request, expected) in [
        (1, Request::read(50_000, 8), 0),
        (2, Request::read(50_000, 8), 1),
        (3, write(50_004, 1), 1),
        (4, Request::read(50_000, 8), 1),
        (5, Request::read(50_000, 8), 2),
    ] {
        device.submit(now, tag, request);
        drain(&mut device);
        now += 500_000_000;
        device.advance(now, &mut Vec::new());
        assert_eq!(hits(&device), expected, "{tag}: {request:?}");
    }
}

/// A drive that reads whole tracks ahead for a program that reads on does so for nobody else.
#[test]
fn only_a_read_that_goes_on_after_a_read_is_read_ahead_of() {
    let mut spec = caching();
    spec.controller.firmware.read_ahead = ReadAheadPolicy::SequentialTracks;
    let through = Request { op: Op::Write { fua: true }, ..write(1000, 8) };
    for (first, second, hit) in [
        (Request::read(1000, 8), 1008, true),
        (Request::read(1000, 8), 1009, false),
        (Request::read(1000, 8), 5000, false),
        (through, 1008, false),
    ] {
        let mut device = drives::shelf(1, &spec, 40_000_000);
        let third = Request::read(second + 8, 8);
        for (step, request) in [first, Request::read(second, 8), third].into_iter().enumerate() {
            let now = step as Nanos * 500_000_000;
            device.advance(now, &mut Vec::new());
            device.submit(now, step as Tag, request);
            until_done(&mut device, step as Tag);
        }
        assert_eq!(hits(&device), u64::from(hit), "{first:?}, then at {second}");
    }
}

/// After a miss the rest of its track is in the buffer, or all of it; the next track is not.
#[test]
fn what_is_read_ahead_ends_at_the_track() {
    let (to_end, whole) = (ReadAheadPolicy::TrackEnd, ReadAheadPolicy::WholeTrack);
    // Tracks of 186 sectors: 1116 to 1301.
    for (policy, miss, next, hit) in [
        (to_end, 1200, 1294, true),
        (to_end, 1200, 1295, false),
        (to_end, 1200, 1116, false),
        (whole, 1200, 1294, true),
        (whole, 1200, 1295, false),
        (whole, 1200, 1116, true),
        (whole, 1200, 1115, false),
        (whole, 1294, 1116, true),
        (whole, 1294, 1300, false),
    ] {
        let mut spec = caching();
        spec.controller.firmware.read_ahead = policy;
        let mut device = drives::shelf(1, &spec, 40_000_000);
        device.submit(0, 1, Request::read(miss, 8));
        let now = until_done(&mut device, 1) + 500_000_000;
        device.advance(now, &mut Vec::new());
        device.submit(now, 2, Request::read(next, 8));
        until_done(&mut device, 2);
        assert_eq!(hits(&device), u64::from(hit), "{policy:?}: {miss}, then {next}");
    }
}

/// What lies in the buffer in two pieces is there; what lies there in part is not.
#[test]
fn a_read_of_writes_that_wait_needs_them_all() {
    for (read, hit) in [
        (Request::read(1004, 8), true),
        (Request::read(1000, 16), true),
        (Request::read(1001, 14), true),
        (Request::read(999, 8), false),
        (Request::read(1008, 9), false),
        (Request::read(1012, 16), false),
    ] {
        let mut device = shelf(40_000_000);
        device.submit(0, 1, write(3_900_000, 512));
        device.submit(0, 2, write(1000, 8));
        device.submit(0, 3, write(1008, 8));
        device.submit(0, 4, write(1024, 8));
        let now = until_done(&mut device, 4);
        device.submit(now, 5, read);
        until_done(&mut device, 5);
        assert_eq!(hits(&device), u64::from(hit), "{read:?}");
    }
}

/// What is on its way to the medium takes room until it is there.
#[test]
fn the_buffer_takes_no_more_than_it_holds() {
    for (second, waits) in [(1023, false), (1024, false), (1025, true)] {
        let mut device = shelf(40_000_000);
        device.submit(0, 1, write(0, 1024));
        let now = until_done(&mut device, 1);
        device.submit(now, 2, write(2_000_000, second));
        let events = drain(&mut device);
        let waited = done_at(&events, 2).unwrap() >= durable_at(&events, 1);
        assert_eq!(waited, waits, "{second} sectors: {events:?}");
    }
}

/// Past the buffer, a sector cannot be written before it has come over the bus; the first may be while
/// the last is still to come, as far as the head then never runs ahead.
#[test]
fn the_head_does_not_overtake_the_bus() {
    const SECTORS: u32 = 100;
    let pass_ns = TURN * u64::from(SECTORS) / 186;
    for bus_bytes_per_s in [500_000, 1_000_000, 4_000_000, 40_000_000] {
        let bus_ns = u64::from(SECTORS) * 512 * 1_000_000_000 / bus_bytes_per_s;
        let mut least = u64::MAX;
        for start in (0..TURN).step_by(100_000) {
            let mut device = shelf(bus_bytes_per_s);
            device.submit(start, 1, Request { op: Op::Write { fua: true }, ..write(20, SECTORS) });
            least = least.min(until_done(&mut device, 1) - start);
        }
        // The drive's own work of 0.8 ms goes on while it waits for the bus.
        let first_ns = bus_ns / u64::from(SECTORS);
        let expected = 800_000 + bus_ns.max(pass_ns + first_ns);
        assert!(least.abs_diff(expected) < 110_000, "{bus_bytes_per_s}: {least}, not {expected}");
    }
}

/// From the buffer, what goes on where the last write ended follows it without settling, if it follows
/// at once.
#[test]
fn a_destage_that_goes_on_loses_no_turn() {
    const SETTLE: Nanos = 1_500_000;
    let mut spec = caching();
    spec.command_settle_ns = SETTLE;
    let pass_ns = TURN * 8 / 186;
    // The next sectors; those after a gap that the arm could not settle in; what is long after.
    let between = |sector: u64, pause: Nanos| {
        let mut device = drives::shelf(1, &spec, 40_000_000);
        device.submit(0, 1, write(0, 8));
        let mut now = until_done(&mut device, 1);
        if pause > 0 {
            let mut events = Vec::new();
            while let Some(at) = device.next_event() {
                device.advance(at, &mut events);
            }
            now = durable_at(&events, 1) + pause;
            device.advance(now, &mut events);
            device.submit(now, 2, write(sector, 8));
            let done = until_done(&mut device, 2);
            return durable_at(&drain(&mut device), 2) - done;
        }
        device.submit(now, 2, write(sector, 8));
        let events = drain(&mut device);
        durable_at(&events, 2) - durable_at(&events, 1)
    };
    assert!(between(8, 0).abs_diff(pass_ns) < 100, "{}", between(8, 0));
    assert!(between(9, 0) > TURN, "{}", between(9, 0));
    for pause in (1..40).map(|step| step * TURN / 37) {
        assert!(between(8, pause) >= SETTLE + pass_ns, "{pause}: {}", between(8, pause));
    }
}

/// A write that a cache acknowledges in a fraction of a millisecond keeps the arm at work for several: as long is the drive busy, and no
/// longer.
#[test]
fn emptying_the_cache_is_work() {
    let mut shelf = shelf(40_000_000);
    let mut expected = 0;
    for (tag, began) in [(0, 0), (1, 1_000_000_000)] {
        shelf.submit(began, tag, write(3000 * (tag + 1), 8));
        let events = drain(&mut shelf);
        let durable = |event: &Event| match event {
            Event::Durable { at, .. } => Some(*at),
            _ => None,
        };
        let done = done_at(&events, tag).unwrap();
        let durable = events.iter().find_map(durable).unwrap();
        assert!(durable - began > 2 * (done - began), "{durable}, {done}");
        expected += durable - began;
        let mut counters = Counters::default();
        shelf.count(&mut counters);
        let of_drive = counters.targets[0];
        assert_eq!((of_drive.busy_ns, of_drive.busy_since), (expected, None));
    }
}
