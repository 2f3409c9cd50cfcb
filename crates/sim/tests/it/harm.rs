//! What a failure costs, and whom it is told: a volume, a drive, sectors of one.

use super::common::drives::{self, TURN};
use block::{Layout, Level, Request};
use sim::{
    Advance, Array, Counters, Delay, Device, Disturbance, Driver, Event, Fault, Nanos, Server, Tag,
    Trace, Tracer,
};

fn array(level: &str, members: u64) -> Array<sim::Shelf> {
    let level: Level = level.parse().unwrap();
    let layout = level.lay_out(64, &vec![4_000_000; members as usize]).unwrap();
    let below = drives::shelf(members, &drives::spec(), 40_000_000);
    Array::new(layout, below, Driver::default())
}

/// Submits `request` at `now`; when it is done, and how it went.
fn serve(
    device: &mut dyn Device,
    now: Nanos,
    tag: Tag,
    request: Request,
) -> (Nanos, Result<(), Fault>) {
    device.submit(now, tag, request);
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
        for event in events.drain(..) {
            if let Event::Done { tag: done, at, result, .. } = event
                && done == tag
            {
                return (at, result);
            }
        }
    }
    panic!("{request:?} does not come back")
}

/// Commands and sectors written, by drive.
fn commands(device: &dyn Device) -> Vec<(u64, u64)> {
    let mut counters = Counters::default();
    device.count(&mut counters);
    counters.targets.iter().map(|target| (target.commands, target.sectors_written)).collect()
}

fn damage(drive: u32, sector: u64, sectors: u32) -> Disturbance {
    Disturbance::MediumError { drive, sector, sectors }
}

/// The member that cannot read is read for by the others and written again, once.
#[test]
fn an_array_writes_again_what_a_member_cannot_read() {
    for (level, members) in [("mirror", 2), ("raid5", 3)] {
        let mut device = array(level, members);
        device.disturb(0, damage(0, 0, 64));
        let (at, result) = serve(&mut device, 0, 1, Request::read(0, 8));
        assert_eq!(result, Ok(()), "{level}");
        // It reads in vain, the others are read, it is written, and it is read again.
        let commands = commands(&device);
        assert_eq!(commands[0].1, 8, "{level}: {commands:?}");
        assert!(commands.iter().map(|(commands, _)| commands).sum::<u64>() >= 4, "{commands:?}");
        let before: u64 = commands.iter().map(|(commands, _)| commands).sum();
        assert_eq!(serve(&mut device, at, 2, Request::read(0, 8)).1, Ok(()), "{level}");
        let after: u64 = self::commands(&device).iter().map(|(commands, _)| commands).sum();
        assert_eq!(after, before + 1, "{level}: it is healed");
    }
}

/// Without redundancy the request fails, and the member stays in service.
#[test]
fn a_stripe_says_what_it_cannot_read() {
    for (mut device, name) in [
        (array("stripe", 2), "stripe"),
        (array("raid5", 3).degraded(&[1]), "raid5 without a member"),
    ] {
        device.disturb(0, damage(0, 0, 8));
        let (at, result) = serve(&mut device, 0, 1, Request::read(0, 8));
        assert_eq!(result, Err(Fault::Medium), "{name}");
        assert_eq!(serve(&mut device, at, 2, Request::read(8, 8)).1, Ok(()), "{name}");
    }
}

/// A second member that cannot read what a repair needs is done without as well, where that is possible.
#[test]
fn a_repair_goes_on_without_a_second_member() {
    for (level, members) in [("raid6", 5), ("mirror", 3)] {
        // Where the first interleave is, and what else is needed to compute it.
        let mut places = Vec::new();
        let layout =
            level.parse::<Level>().unwrap().lay_out(64, &vec![4_000_000; members]).unwrap();
        layout.places(0, &mut places);
        layout.places(64, &mut places);
        let mut device = array(level, members as u64);
        for place in &places[..2] {
            device.disturb(0, damage(place.member, 0, 64));
        }
        let (at, result) = serve(&mut device, 0, 1, Request::read(0, 8));
        assert_eq!(result, Ok(()), "{level}");
        let written = commands(&device)[places[0].member as usize].1;
        assert_eq!(written, 8, "{level}: it is written again");
        // The second member is repaired when it is read for its own sake.
        assert_eq!(serve(&mut device, at, 2, Request::read(0, 320)).1, Ok(()), "{level}");
    }
}

/// Two members that cannot read the same row end the request, not the run.
#[test]
fn what_two_members_cannot_read_is_a_medium_error() {
    let mut device = array("raid5", 3);
    for drive in 0..3 {
        device.disturb(0, damage(drive, 0, 64));
    }
    assert_eq!(serve(&mut device, 0, 1, Request::read(0, 8)).1, Err(Fault::Medium));
    let mut counters = Counters::default();
    device.count(&mut counters);
    assert_eq!(counters.kept, 0);
}

#[test]
fn a_drive_takes_the_time_of_its_retries() {
    let time = |read_retries_ns| {
        let mut spec = drives::spec();
        spec.controller.firmware.overheads.read_retries_ns = read_retries_ns;
        let mut device = drives::shelf(1, &spec, 40_000_000);
        device.disturb(0, damage(0, 1000, 1));
        serve(&mut device, 0, 1, Request::read(996, 8))
    };
    assert_eq!(time(0).1, Err(Fault::Medium));
    assert_eq!(time(7 * TURN).0 - time(0).0, 7 * TURN);
}

/// `Fail` is about the device that is told; `FailDrive` about a drive, wherever that is.
#[test]
fn a_volume_can_fail_and_so_can_a_drive_of_it() {
    let volume = || Delay::new(array("mirror", 2), 0, 1000);
    let mut device = volume();
    device.disturb(0, Disturbance::FailDrive(1));
    assert_eq!(serve(&mut device, 0, 1, Request::read(0, 8)).1, Ok(()));
    let mut device = volume();
    device.disturb(0, Disturbance::Fail(0));
    assert_eq!(serve(&mut device, 0, 1, Request::read(0, 8)).1, Err(Fault::Failed));
    assert_eq!(commands(&device), [(0, 0); 2], "nobody reaches the drives");
}

/// Only the slow disk is slow, and a trace says so.
#[test]
fn a_delayed_target_is_late_and_a_trace_shows_it() {
    let trace = Trace::default();
    let slow = Delay::new(Server::new(1000, 500), 0, 2000);
    let mut device = Tracer::new(slow, &trace);
    for tag in 0..3 {
        device.submit(100 * tag, tag, Request::read(tag, 1));
        device.advance(100 * tag, &mut Vec::new());
    }
    let mut events = Vec::new();
    device.advance(1_000_000, &mut events);
    let traced: Vec<(Nanos, Nanos, u64)> =
        trace.take().iter().map(|it| (it.arrived, it.done, it.request.sector)).collect();
    assert_eq!(traced, [(0, 2500, 0), (100, 3000, 1), (200, 3500, 2)]);
    assert!(trace.take().is_empty());
    let Event::Done { spent, .. } = events[0] else { panic!("a read is done") };
    assert_eq!(spent.total(), 2500);
}
