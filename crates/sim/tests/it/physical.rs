//! Drives whose sectors on the medium hold eight of the host's: what a write costs that starts or ends
//! within one.

use super::common::drives::{self, TURN};
use block::Request;
use sim::drive::DriveSpec;
use sim::{Advance, Device, Event, Nanos, Part};

/// `physical` sectors of the host in one on the medium, and `buffer` sectors of writes taken in.
fn spec(physical: u32, buffer: u64) -> DriveSpec {
    let mut spec = drives::spec();
    spec.controller.firmware.physical_sectors = physical;
    spec.controller.write_buffer_sectors = buffer;
    spec
}

/// Plays `requests` to a drive, each when the one before it is done; gives when the last one is on the
/// medium, or done where it is a read.
fn last_at(spec: &DriveSpec, requests: impl IntoIterator<Item = Request>) -> Nanos {
    let mut device = drives::shelf(1, spec, 40_000_000);
    let (mut now, mut last) = (0, 0);
    for (tag, request) in requests.into_iter().enumerate() {
        device.submit(now, tag as u64, request);
        let mut events = Vec::new();
        while !events.iter().any(|event| matches!(event, Event::Done { .. })) {
            now = device.next_event().expect("a request is under way");
            device.advance(now, &mut events);
        }
        last = now;
    }
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
        last = at;
    }
    last
}

#[test]
fn a_write_that_covers_sectors_in_part_comes_a_turn_later() {
    let mut late = 0;
    for sector in (0..500).map(|place| place * 7_440) {
        let whole = last_at(&spec(1, 0), [Request::write(sector, 16)]);
        assert_eq!(last_at(&spec(8, 0), [Request::write(sector, 16)]), whole);
        for (start, sectors) in [(1, 15), (0, 15), (4, 8), (7, 2), (4, 12)] {
            let at = last_at(&spec(8, 0), [Request::write(sector + start, sectors)]);
            // Where the head is there before the data, or between the two sectors, that costs the
            // whole write a turn, too.
            assert!(at == whole + TURN || at == whole, "{sector} + {start}: {at}, {whole}");
            late += u32::from(at > whole);
        }
    }
    assert!(late > 2450, "{late} of 2500");
}

#[test]
fn the_turn_and_the_reads_are_told_apart() {
    for sector in (0..500).map(|place| place * 7_440) {
        let spent = |physical, write| {
            let mut device = drives::shelf(1, &spec(physical, 0), 40_000_000);
            device.submit(0, 0, write);
            let mut events = Vec::new();
            while let Some(at) = device.next_event() {
                device.advance(at, &mut events);
            }
            events.iter().find_map(|event| match event {
                Event::Done { spent, .. } => Some(*spent),
                _ => None,
            })
        };
        let whole = spent(1, Request::write(sector, 16)).unwrap();
        let part = spent(8, Request::write(sector + 4, 8)).unwrap();
        assert_eq!(whole[Part::PART_SECTOR], 0);
        // But for the few that the whole write comes too late for.
        if part.total() > whole.total() {
            assert_eq!(part[Part::PART_SECTOR], TURN, "{sector}: {part:?}");
            assert_eq!(part[Part::SEEK], whole[Part::SEEK]);
            assert_eq!(part[Part::MEDIA], whole[Part::MEDIA]);
        }
    }
}

#[test]
fn what_the_buffer_holds_is_not_read_before_a_write() {
    let after_reading = |physical, (start, sectors): (u64, u32)| {
        let write = Request::write(7_440 + start, sectors);
        last_at(&spec(physical, 0), [Request::read(7_440, 64), write])
    };
    assert_eq!(after_reading(8, (20, 8)), after_reading(1, (16, 16)));
}

#[test]
fn a_stream_between_the_sectors_is_as_fast_as_one_along_them() {
    let stream = |first: u64| {
        last_at(&spec(8, 1024), (0..2000).map(|place| Request::write(first + 8 * place, 8)))
    };
    let (along, between) = (stream(0), stream(4));
    assert!(between < along + along / 20, "{between} ns, {along} ns");
}

#[test]
fn random_writes_between_the_sectors_cost_a_turn_more() {
    let random = |offset: u64| {
        let place = |step: u64| step * 7_919 % 499_000;
        last_at(&spec(8, 0), (0..2000).map(|step| Request::write(8 * place(step) + offset, 8)))
    };
    let more = (random(4) - random(0)) / 2000;
    assert!(more.abs_diff(TURN) < TURN / 50, "{more} ns");
}

/// A destage is not interrupted, so it must not be the whole stream where writes end within sectors.
#[test]
fn a_read_waits_for_no_more_of_a_stream_between_the_sectors() {
    let read_at = |first: u64| {
        let mut fast = spec(8, 8192);
        // Writes come faster than they get to the medium, so that many wait in the buffer.
        fast.controller.write_overhead_ns = 10_000;
        fast.controller.sequential_write_overhead_ns = 10_000;
        let mut device = drives::shelf(1, &fast, 40_000_000);
        for tag in 0..1000 {
            device.submit(0, tag, Request::write(first + 8 * tag, 8));
        }
        device.submit(0, 1000, Request::read(3_000_000, 8));
        let mut events = Vec::new();
        while let Some(at) = device.next_event() {
            device.advance(at, &mut events);
        }
        events.iter().find_map(|event| match event {
            Event::Done { tag: 1000, at, .. } => Some(*at),
            _ => None,
        })
    };
    let (along, between) = (read_at(0).unwrap(), read_at(4).unwrap());
    assert!(between < along + 3 * TURN, "{between} ns, {along} ns");
}

/// While a write that replaces one in the buffer comes over the bus, the first sectors of the older one may go to the
/// medium with what lies before them. What is left of it is replaced all the same, and nothing waits for ever.
#[test]
fn what_is_written_again_while_its_first_sectors_leave_is_replaced() {
    for (choices, phase) in [0, 256].into_iter().flat_map(|it| (0..8).map(move |n| (it, n))) {
        let mut spec = spec(8, 2048);
        spec.controller.firmware.destage_choices = choices;
        let mut device = drives::shelf(1, &spec, 40_000_000);
        let (count, mut state) = (2000, phase);
        for tag in 0..count {
            state = (state * 1103 + 12_345) % 65_536;
            device.submit(0, tag, Request::write(3_000 + (state >> 4) % 9 * 92, 92));
        }
        let mut events = Vec::new();
        while let Some(at) = device.next_event() {
            device.advance(at, &mut events);
        }
        let done = events.iter().filter(|it| matches!(it, Event::Done { .. })).count();
        let durable = events.iter().filter(|it| matches!(it, Event::Durable { .. })).count();
        assert_eq!((done, durable), (2000, 2000), "{choices} choices, {phase}");
    }
}
