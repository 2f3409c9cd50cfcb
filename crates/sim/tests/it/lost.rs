//! What goes with a member that breaks while writes wait in its cache: nothing that another member
//! holds, and of the rest exactly what was not durable.

use super::common::drives;
use block::{Level, Request};
use sim::{
    Advance, Array, Counters, Device, Disturbance, Driver, Event, Limiter, Nanos, Order, Scheduler,
    Shelf, Splitter, Tag,
};
use std::collections::BTreeSet;

const INTERLEAVE_SECTORS: u64 = 16;

/// Drives that say a write is done long before it is on the medium.
fn shelf(members: u64) -> Shelf {
    let mut spec = drives::spec();
    spec.controller.write_buffer_sectors = 4096;
    drives::shelf(members, &spec, 40_000_000)
}

/// `level` over caching drives, with a queue for each of them, behind a host that cuts requests: every
/// layer that keeps requests in mind.
fn stack(level: &str, members: usize, down: &[u32]) -> impl Device + use<> {
    let level: Level = level.parse().unwrap();
    let layout = level.lay_out(INTERLEAVE_SECTORS, &vec![4_000_000; members]).unwrap();
    let below = Scheduler::new(shelf(members as u64), Order::CLook, 4);
    let array = Array::new(layout, below, Driver::new(20_000, 10_000)).degraded(down);
    Splitter::new(Limiter::new(array, 16), 40, 3)
}

/// Writes apart from each other, of 1 to 90 sectors.
fn write(tag: Tag) -> Request {
    Request::write(tag * 7919 % 10_000 * 200, 1 + (tag * 37 % 90) as u32)
}

/// Which writes came to which end.
#[derive(Debug, Default, PartialEq)]
struct Ends {
    done: BTreeSet<Tag>,
    failed: BTreeSet<Tag>,
    durable: BTreeSet<Tag>,
    lost: BTreeSet<Tag>,
}

impl Ends {
    fn advance(&mut self, device: &mut dyn Device, now: Nanos) {
        let mut events = Vec::new();
        device.advance(now, &mut events);
        for event in events {
            assert!(match event {
                Event::Done { tag, result: Ok(()), .. } => self.done.insert(tag),
                Event::Done { tag, .. } => self.failed.insert(tag),
                Event::Durable { tag, .. } => self.durable.insert(tag),
                Event::Lost { tag, .. } => self.lost.insert(tag),
            });
        }
    }
}

/// Forty writes, and when twenty of them are done these members break; what had come to which end by
/// then, and what after.
fn broken(device: &mut dyn Device, members: &[u32]) -> (Ends, Ends) {
    let (mut before, mut after) = (Ends::default(), Ends::default());
    for tag in 0..40 {
        device.submit(0, tag, write(tag));
    }
    let mut now = 0;
    while before.done.len() < 20 {
        now = device.next_event().unwrap();
        before.advance(device, now);
    }
    for &member in members {
        device.disturb(now, Disturbance::FailDrive(member));
    }
    while let Some(at) = device.next_event() {
        after.advance(device, at);
    }
    let mut counters = Counters::default();
    device.count(&mut counters);
    assert_eq!(counters.kept, 0, "it keeps requests that it will never hear of again");
    (before, after)
}

#[test]
fn a_single_drive_loses_what_it_had_said_was_done() {
    let (before, after) = broken(&mut shelf(1), &[0]);
    let waiting: BTreeSet<Tag> = before.done.difference(&before.durable).copied().collect();
    assert!(waiting.len() > 5 && !before.durable.is_empty(), "{before:?}");
    assert_eq!(after.lost, waiting);
    assert_eq!((after.done.len(), after.durable.len()), (0, 0));
    assert_eq!(after.failed.len() + before.done.len(), 40);
}

/// A drive whose power was cut has nothing in its cache and nothing to do: what comes next takes as long as on a drive that
/// never wrote, and what it held is lost, of it alone.
#[test]
fn a_drive_that_was_without_power_begins_with_an_empty_cache() {
    let mut device = shelf(2);
    let mut before = Ends::default();
    let own = |tag: Tag| Request::write((1 << 20) + tag % 20 * 200, 8).to((tag / 20) as u32);
    (0..40).for_each(|tag| device.submit(0, tag, own(tag)));
    let mut now = 0;
    while before.done.len() < 30 {
        now = device.next_event().unwrap();
        before.advance(&mut device, now);
    }
    device.disturb(now, Disturbance::CutDrive(1));
    let mut after = Ends::default();
    after.advance(&mut device, now);
    let of_second = |tag: &&Tag| **tag >= 20;
    let held: BTreeSet<Tag> =
        before.done.difference(&before.durable).filter(of_second).copied().collect();
    assert!(held.len() > 3, "{before:?}");
    assert_eq!((&after.lost, after.failed.iter().all(|tag| *tag >= 20)), (&held, true));
    let mut idle = shelf(2);
    idle.submit(0, 1, Request::read(1 << 20, 8).to(1));
    let first = read_of_second(&mut device, now, &mut after);
    let alone = read_of_second(&mut idle, now, &mut Ends::default());
    // The two arms come from different places, and a revolution takes 8.3 ms.
    assert!(first <= alone + 12_000_000, "{first} ns, and {alone} ns where nothing was written");
    while let Some(at) = device.next_event() {
        after.advance(&mut device, at);
    }
    let durable = before.durable.union(&after.durable);
    assert_eq!(durable.filter(|tag| **tag < 20).count(), 20, "the other drive goes on");
    assert!(after.durable.iter().all(|tag| *tag < 20), "what was lost is not written");
}

/// How long the second drive takes from `now` for a read far from all others.
fn read_of_second(shelf: &mut Shelf, now: Nanos, ends: &mut Ends) -> Nanos {
    const TAG: Tag = 100;
    ends.advance(shelf, now);
    shelf.submit(now, TAG, Request::read(3_900_000, 8).to(1));
    loop {
        let at = shelf.next_event().expect("the read comes back");
        ends.advance(shelf, at);
        if ends.done.contains(&TAG) {
            return at - now;
        }
    }
}

#[test]
fn members_whose_data_others_hold_lose_nothing() {
    for (level, members, down, breaks) in [
        ("mirror", 2, &[][..], &[0][..]),
        ("mirror", 3, &[1], &[0]),
        ("mirror", 3, &[], &[0, 2]),
        ("raid10", 4, &[], &[1, 2]),
        ("raid4", 4, &[], &[3]),
        ("raid5", 4, &[], &[2]),
        ("raid6", 5, &[1], &[0]),
        ("raid6", 5, &[], &[0, 3]),
    ] {
        let (before, after) = broken(&mut stack(level, members, down), breaks);
        assert!(before.done.len() > before.durable.len(), "{level}: nothing was pending");
        assert_eq!((after.lost.len(), after.failed.len()), (0, 0), "{level} without {breaks:?}");
        assert_eq!(before.durable.len() + after.durable.len(), 40, "{level} without {breaks:?}");
    }
}

#[test]
fn a_stripe_loses_the_writes_that_touch_the_member() {
    let (before, after) = broken(&mut stack("stripe", 3, &[]), &[1]);
    assert!(after.lost.len() > 3, "{before:?} {after:?}");
    for tag in &after.lost {
        let Request { sector, .. } = write(*tag);
        let units = sector / INTERLEAVE_SECTORS..=(write(*tag).end() - 1) / INTERLEAVE_SECTORS;
        assert!(before.done.contains(tag) && !before.durable.contains(tag));
        assert!(units.into_iter().any(|unit| unit % 3 == 1), "{tag} is not on member 1");
    }
}

/// One more than the level can miss: what was not durable is lost, not waited for.
#[test]
fn the_last_copy_takes_with_it_what_was_not_durable() {
    for (level, members, down, breaks) in [
        ("mirror", 2, &[1][..], &[0][..]),
        ("mirror", 2, &[], &[0, 1]),
        ("raid5", 3, &[1], &[0]),
        ("raid6", 4, &[], &[0, 1, 2]),
    ] {
        let (before, after) = broken(&mut stack(level, members, down), breaks);
        assert!(!after.lost.is_empty() && after.lost.is_subset(&before.done), "{level}");
        let ended = after.lost.len() + before.durable.len() + after.durable.len();
        assert_eq!(ended, before.done.len() + after.done.len(), "{level}");
    }
}
