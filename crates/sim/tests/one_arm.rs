//! What a drive cannot do: be in two places, undo a newer write, forget what it holds, or keep a bus
//! that nobody uses. Each was a fault once.

use block::{Op, Request};
use sim::bus::Bus;
use sim::drive::{ControllerSpec, Drive, DriveSpec, Firmware, PlatterSpec, SeekSpec, Zone};
use sim::{Counters, Device, Disturbance, Event, Nanos, Shelf, Tag};

fn shelf(bus_bytes_per_s: u64) -> Shelf {
    shelf_with(bus_bytes_per_s, Firmware::default())
}

fn shelf_with(bus_bytes_per_s: u64, firmware: Firmware) -> Shelf {
    let zone = Zone {
        first_cylinder: 0,
        last_cylinder: 4999,
        slots_per_track: 186,
        track_skew_slots: 37,
        cylinder_skew_slots: 52,
        ..Zone::default()
    };
    let spec = DriveSpec {
        platters: PlatterSpec {
            sectors: 4_000_000,
            heads: 5,
            revolution_ns: 8_333_333,
            zones: vec![zone],
            spare_slots_per_track: 0,
            spare_slots_per_cylinder: 0,
            spare_range_cylinders: 1,
            reserved_slots: 0,
            slipped: vec![],
        },
        seek: SeekSpec::Points(vec![(1, 1_900_000), (4999, 17_000_000)]),
        write_settle_ns: 0,
        command_settle_ns: 0,
        head_switch_ns: 100_000,
        controller: ControllerSpec {
            read_hit_overhead_ns: 80_000,
            read_miss_overhead_ns: 600_000,
            write_overhead_ns: 800_000,
            sequential_write_overhead_ns: 80_000,
            segments: 3,
            segment_sectors: 512,
            read_ahead_sectors: 512,
            write_buffer_sectors: 2048,
            zero_latency: false,
            interface_bytes_per_s: 40_000_000,
            firmware,
        },
    };
    Shelf::new(vec![Drive::new(&spec, 0).unwrap()], vec![Bus::new(bus_bytes_per_s, 0)])
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
        let mut device = shelf_with(40_000_000, Firmware { write_segments, ..Firmware::default() });
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
