//! The contract of [`Device`], as checks that any device must pass.
//!
//! A new device's tests call [`check`]; [`check_medium_errors`] too where it has drives below, [`check_redundant`] where
//! each sector has copies or parity, and [`check_power`] where it is a drive, or several side by side.

use crate::{Advance, Counters, Device, Disturbance, Event, Fault, Nanos, Spent, Tag};
use block::{Op, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};

/// A request and when it is submitted.
type Arrival = (Nanos, Request);

/// Checks the contract on devices that `make` makes, a new one for each check.
///
/// # Panics
///
/// At the first violation, naming it.
pub fn check(make: &dyn Fn() -> Box<dyn Device>) {
    for seed in 0..6 {
        let arrivals = arrivals(&*make(), seed);
        let timely = play(make(), &arrivals, Pace::Timely, None);
        check_events(&arrivals, &timely, None);
        let again = play(make(), &arrivals, Pace::Timely, None);
        assert_eq!(timely, again, "the same run twice differs");
        let late = play(make(), &arrivals, Pace::Late, None);
        assert_eq!(timely, late, "a late advance gives other events than a timely one");
        let proceeding = play(make(), &arrivals, Pace::Proceeding, None);
        assert_eq!(timely, proceeding, "it gives other events where it proceeds");
        check_served(make, &arrivals);
        let drives = drives(&*make()).end;
        for what in [
            Disturbance::Reset,
            Disturbance::PowerCut,
            Disturbance::Fail(0),
            Disturbance::FailDrive(0),
            Disturbance::FailDrive(drives - 1),
            Disturbance::MediumError { drive: drives - 1, sector: 0, sectors: u32::MAX },
        ] {
            check_disturbed(make, &arrivals, what);
        }
    }
}

/// Checks that the reads of `arrivals`, one after the other, are served at once as they come back where they are submitted.
fn check_served(make: &dyn Fn() -> Box<dyn Device>, arrivals: &[Arrival]) {
    let (mut plain, mut device, mut now) = (make(), make(), 0);
    let reads = arrivals.iter().filter(|(_, request)| request.op == Op::Read);
    for (tag, &(_, read)) in (0..).zip(reads) {
        let (mut expected, mut events) = (Vec::new(), Vec::new());
        plain.submit(now, tag, read);
        let end = plain.proceed(Nanos::MAX - 1, &mut expected).expect("a read comes back");
        // Every other time it would end too late.
        let limit = end - tag % 2;
        let mut spent = Spent::NONE;
        if let Some(at) = device.serve(now, tag, read, limit, &mut spent) {
            assert!(at <= limit, "it serves at once what ends later");
            events.push(Event::Done { tag, at, result: Ok(()), spent });
        } else {
            device.proceed(Nanos::MAX - 1, &mut events);
        }
        assert_eq!(events, expected, "served at once a read ends in another way");
        assert_eq!(device.next_event(), plain.next_event());
        now = end;
    }
}

/// Checks that the device keeps to the contract when this happens to it amid `arrivals`.
fn check_disturbed(make: &dyn Fn() -> Box<dyn Device>, arrivals: &[Arrival], what: Disturbance) {
    let at = arrivals[arrivals.len() / 2].0 + 1;
    let events = play(make(), arrivals, Pace::Timely, Some((at, what)));
    check_events(arrivals, &events, Some((at, what)));
    for pace in [Pace::Late, Pace::Proceeding] {
        assert_eq!(events, play(make(), arrivals, pace, Some((at, what))));
    }
}

/// Checks that each drive of new devices from `make`, which has nothing in front of its drives, can lose its power
/// ([`Disturbance::CutDrive`]).
///
/// # Panics
///
/// At the first violation, naming it.
pub fn check_power(make: &dyn Fn() -> Box<dyn Device>) {
    for drive in drives(&*make()) {
        for seed in 0..6 {
            let arrivals = arrivals(&*make(), seed);
            check_disturbed(make, &arrivals, Disturbance::CutDrive(drive));
        }
    }
}

/// Checks medium errors on new devices from `make`: sectors of a drive cannot be read until they are
/// rewritten, while no member is down and nothing else holds the data.
///
/// # Panics
///
/// At the first violation, naming it.
pub fn check_medium_errors(make: &dyn Fn() -> Box<dyn Device>) {
    for drive in drives(&*make()) {
        let [first, write, again] = damaged(make(), drive);
        assert!(first.iter().any(Result::is_err), "what drive {drive} cannot read is read");
        let others = first.iter().filter_map(|result| result.err()).find(|&f| f != Fault::Medium);
        assert_eq!(others, None, "a medium error comes back as another fault");
        assert!(
            write.iter().all(Result::is_ok),
            "a write fails for what drive {drive} cannot read"
        );
        assert!(again.iter().all(Result::is_ok), "what was written again still cannot be read");
    }
}

/// Checks redundancy on new devices from `make`, with copies of all data or parity: no single failed
/// drive and no unreadable sector loses anything.
///
/// # Panics
///
/// At the first violation, naming it.
pub fn check_redundant(make: &dyn Fn() -> Box<dyn Device>) {
    for drive in drives(&*make()) {
        for seed in 0..3 {
            let arrivals = arrivals(&*make(), seed);
            let at = arrivals[arrivals.len() / 2].0 + 1;
            for what in [
                Disturbance::FailDrive(drive),
                Disturbance::MediumError { drive, sector: 0, sectors: u32::MAX },
            ] {
                for event in play(make(), &arrivals, Pace::Timely, Some((at, what))) {
                    let fails = matches!(event, Event::Done { result: Err(_), .. });
                    assert!(!fails, "a request fails ({what:?}): {event:?}");
                    let lost = matches!(event, Event::Lost { .. });
                    assert!(!lost, "a write is lost ({what:?}): {event:?}");
                }
            }
        }
        let unread = damaged(make(), drive).concat().into_iter().find(Result::is_err);
        assert_eq!(unread, None, "what drive {drive} cannot read is not read from the others");
    }
}

/// The numbers of a device's drives.
fn drives(device: &dyn Device) -> std::ops::Range<u32> {
    let mut counters = Counters::default();
    device.count(&mut counters);
    0..counters.targets.len() as u32
}

/// Damages all of `drive`; returns how reading everything goes then, writing everything, and reading it
/// again.
fn damaged(mut device: Box<dyn Device>, drive: u32) -> [Vec<Result<(), Fault>>; 3] {
    device.disturb(0, Disturbance::MediumError { drive, sector: 0, sectors: u32::MAX });
    let sizes = device.geometry().target_sectors.clone();
    let (mut now, mut tag, mut events) = (0, 0, Vec::new());
    [Op::Read, Op::WRITE, Op::Read].map(|op| {
        let mut results = Vec::new();
        for (target, &sectors) in (0..).zip(&sizes) {
            for sector in (0..sectors).step_by(64) {
                let sectors = (sectors - sector).min(64) as u32;
                device.submit(now, tag, Request { target, op, sector, sectors });
                let known = results.len();
                while results.len() == known {
                    now = device.next_event().expect("the request comes back");
                    device.advance(now, &mut events);
                    for event in events.drain(..) {
                        if let Event::Done { tag: done, result, .. } = event {
                            assert_eq!(done, tag, "another request came back");
                            results.push(result);
                        }
                    }
                }
                tag += 1;
            }
        }
        results
    })
}

/// Requests of every kind, in bursts and with pauses; some are adjacent, some repeat.
fn arrivals(device: &dyn Device, seed: u64) -> Vec<Arrival> {
    let mut random = Pcg64Mcg::new(u128::from(seed) * 2 + 1);
    let mut pick = |bound: u64| random.next_u64() % bound;
    let sizes = &device.geometry().target_sectors;
    let mut now = 0;
    let mut last = 0;
    let arrivals = (0..300).map(|_| {
        now += [0, 0, pick(100_000), pick(10_000_000), pick(100_000_000)][pick(5) as usize];
        let target = pick(sizes.len() as u64) as u32;
        let sectors_there = sizes[target as usize];
        let sectors = [1, 8, 16, 1 + pick(300)][pick(4) as usize].min(sectors_there);
        let room = sectors_there - sectors;
        let sector = if pick(3) == 0 { last } else { pick(room + 1) }.min(room);
        let op = match pick(12) {
            0 => return (now, Request::flush().to(target)),
            1 => Op::Write { fua: true },
            2 => Op::Discard,
            3 => Op::Zeroes,
            4..=7 => Op::WRITE,
            _ => Op::Read,
        };
        if pick(4) > 0 {
            last = sector + sectors;
        }
        (now, Request { target, op, sector, sectors: sectors as u32 })
    });
    arrivals.collect()
}

/// How a device is taken through time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// At every event.
    Timely,
    /// Only when a request is submitted.
    Late,
    /// From one time at which something comes out to the next.
    Proceeding,
}

/// Submits `arrivals`, advancing at this pace.
fn play(
    mut device: Box<dyn Device>,
    arrivals: &[Arrival],
    pace: Pace,
    disturbance: Option<(Nanos, Disturbance)>,
) -> Vec<Event> {
    let mut events = Vec::new();
    let mut pending = disturbance;
    for (tag, &(at, request)) in arrivals.iter().enumerate() {
        if let Some((when, what)) = pending.filter(|&(when, _)| when <= at) {
            advance(&mut *device, when, pace, &mut events);
            device.disturb(when, what);
            pending = None;
        }
        advance(&mut *device, at, pace, &mut events);
        device.submit(at, tag as Tag, request);
    }
    let end = arrivals.last().map_or(0, |&(at, _)| at) + 3_600_000_000_000;
    advance(&mut *device, end, pace, &mut events);
    assert_eq!(device.next_event(), None, "an hour later it still has something to do");
    let mut counters = Counters::default();
    device.count(&mut counters);
    assert_eq!(counters.kept, 0, "an hour later it still keeps requests ({disturbance:?})");
    events
}

fn advance(device: &mut dyn Device, to: Nanos, pace: Pace, events: &mut Vec<Event>) {
    let mut before = events.len();
    while pace == Pace::Proceeding
        && let Some(at) = device.proceed(to, events)
    {
        let came = &events[before..];
        before = events.len();
        assert!(!came.is_empty(), "it says that something came out at {at}");
        assert!(came.iter().all(|event| event.at() == at), "not all came out at {at}: {came:?}");
        assert_ne!(device.next_event(), Some(at), "it did not do all that was due at {at}");
    }
    while pace == Pace::Timely
        && let Some(at) = device.next_event().filter(|&at| at <= to)
    {
        let before = events.len();
        device.advance(at, events);
        let early = events[before..].iter().find(|event| event.at() < at);
        assert_eq!(early, None, "next_event said {at}, which is no lower bound");
        assert_ne!(device.next_event(), Some(at), "it did not do all that was due at {at}");
    }
    device.advance(to, events);
}

fn check_events(arrivals: &[Arrival], events: &[Event], disturbance: Option<(Nanos, Disturbance)>) {
    let mut done = BTreeMap::new();
    let mut durable = BTreeMap::new();
    let mut lost = BTreeSet::new();
    let mut latest = 0;
    for event in events {
        assert!(event.at() >= latest, "{event:?} comes after an event at {latest}");
        latest = event.at();
        match *event {
            Event::Done { tag, at, result, spent } => {
                let (arrived, _) = arrivals[tag as usize];
                assert_eq!(spent.total(), at - arrived, "spent is not the latency: {event:?}");
                assert_eq!(done.insert(tag, (at, result)), None, "done twice: {event:?}");
                if result.is_err() {
                    assert!(disturbance.is_some_and(|(when, _)| when <= at), "{event:?}");
                }
            }
            Event::Durable { tag, at } => {
                let result = done.get(&tag).map(|&(_, result)| result);
                assert_eq!(result, Some(Ok(())), "durable, but not done well: {event:?}");
                assert_eq!(durable.insert(tag, at), None, "durable twice: {event:?}");
            }
            Event::Lost { tag, at } => {
                let loses = disturbance.filter(|(_, what)| what.says_what_is_lost());
                let Some((when, _)) = loses else {
                    panic!("lost, but nothing broke: {event:?}");
                };
                let (done_at, result) = done[&tag];
                assert!(result.is_ok() && done_at <= when && when <= at, "{event:?}");
                assert!(!durable.contains_key(&tag), "durable, and lost: {event:?}");
                assert!(lost.insert(tag), "lost twice: {event:?}");
            }
        }
    }
    check_durable_order(arrivals, &done, &durable);
    check_flushes(arrivals, &done, &durable, disturbance);
    assert_eq!(done.len(), arrivals.len(), "not everything came back ({disturbance:?})");
    for (tag, &(arrived, request)) in (0..).zip(arrivals) {
        let lost = lost.contains(&tag);
        check_write(&(arrived, request), done[&tag], durable.get(&tag).copied(), lost, disturbance);
        if let Some((when, Disturbance::Fail(target))) = disturbance
            && arrived >= when
            && request.target == target
            && done[&tag].1.is_err()
        {
            assert_eq!(done[&tag].1, Err(Fault::Failed));
        }
    }
}

/// A write that replaces a finished one is never durable before it. Otherwise a read after a power cut
/// could return the older data. (If it replaces only a part, the older write may become durable later,
/// because of its other parts.)
fn check_durable_order(
    arrivals: &[Arrival],
    done: &BTreeMap<Tag, (Nanos, Result<(), Fault>)>,
    durable: &BTreeMap<Tag, Nanos>,
) {
    let writes: Vec<(Tag, &Arrival)> =
        (0..).zip(arrivals).filter(|(tag, _)| durable.contains_key(tag)).collect();
    for (index, &(tag, (_, request))) in writes.iter().enumerate() {
        for &(later_tag, (arrived, later)) in &writes[index + 1..] {
            let replaced = later.op != Op::Discard
                && request.target == later.target
                && later.sector <= request.sector
                && request.end() <= later.end();
            if replaced && done[&tag].0 <= *arrived {
                let (first, second) = (durable[&tag], durable[&later_tag]);
                assert!(
                    first <= second,
                    "{later:?} is durable at {second}, before {request:?} at {first}"
                );
            }
        }
    }
}

/// A flush is not done before everything on its target that was done before it is durable.
fn check_flushes(
    arrivals: &[Arrival],
    done: &BTreeMap<Tag, (Nanos, Result<(), Fault>)>,
    durable: &BTreeMap<Tag, Nanos>,
    disturbance: Option<(Nanos, Disturbance)>,
) {
    let flushes = (0..).zip(arrivals).filter(|(_, (_, request))| request.op == Op::Flush);
    for (flush, &(arrived, request)) in flushes {
        let Some(&(flushed_at, Ok(()))) = done.get(&flush) else { continue };
        // What a power cut or a failed drive lost is not durable, and the flush is not at fault.
        if disturbance.is_some_and(|(when, _)| when <= flushed_at) {
            continue;
        }
        for (tag, (_, ahead)) in (0..flush).zip(arrivals) {
            let is_ahead = ahead.target == request.target && ahead.op.modifies();
            if is_ahead
                && done.get(&tag).is_some_and(|&(at, result)| result.is_ok() && at <= arrived)
            {
                assert!(
                    durable.get(&tag).is_none_or(|&at| at <= flushed_at),
                    "a flush is done at {flushed_at}, and {ahead:?} ahead of it is not durable"
                );
            }
        }
    }
}

/// A successful write becomes durable, at once if it was forced, or is `lost`. Only after a power cut
/// does no event follow for writes that were done.
fn check_write(
    (_, request): &Arrival,
    (done_at, result): (Nanos, Result<(), Fault>),
    durable_at: Option<Nanos>,
    lost: bool,
    disturbance: Option<(Nanos, Disturbance)>,
) {
    if !request.op.modifies() {
        assert_eq!((durable_at, lost), (None, false), "only changes become durable: {request:?}");
        return;
    }
    if result.is_err() {
        return;
    }
    if request.op == (Op::Write { fua: true }) {
        assert_eq!(durable_at, Some(done_at), "a forced write is durable when it is done");
    }
    let cut =
        disturbance.is_some_and(|(when, what)| what == Disturbance::PowerCut && done_at <= when);
    assert!(durable_at.is_some() || lost || cut, "neither durable nor lost: {request:?}");
}
