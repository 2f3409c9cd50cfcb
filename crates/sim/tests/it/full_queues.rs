//! What finds no place in a drive's queue: who sends it sleeps, or it is read again row by row.

use crate::common::drives;
use crate::md::{self, flashes};
use block::layout::{Code, Concat, Mirrors, Pairing, Parity, Rotation, Stripe, WriteRule};
use block::{Layout, Request};
use sim::linux::alone::Alone;
use sim::linux::block_layer::BlockLayer;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::spiral::{SpiralSpec, Spirals};
use sim::{Advance, Array, Counters, Device, Driver, Event, FailWhole, Nanos, Plugs, contract};

/// A drive that takes one command at a time.
const QUEUE: QueueSpec = QueueSpec { requests: 2, tags: 1, ..md::QUEUE };

/// Requests of any size over chunks of 16 sectors.
const WHOLE: FailWhole = FailWhole { most_sectors: u32::MAX, chunk_sectors: 16 };

fn disks(members: usize) -> Box<dyn Device> {
    Box::new(Spirals::new(members, SpiralSpec { sectors: 20_000, ..SpiralSpec::default() }))
}

fn array(layout: impl Layout + 'static, below: Box<dyn Device>, plugs: Plugs) -> Box<dyn Device> {
    let driver = Driver { plugs, ..Driver::new(0, 0) };
    let queues: Box<dyn Device> = BlockLayer::new(below, QUEUE, &driver.plugs).into();
    Array::new(Box::new(layout), queues, driver).into()
}

fn raid_5(members: usize) -> Parity {
    let sectors = vec![4000; members];
    let rule = WriteRule::FewestRequests;
    Parity::new(Code::P, Rotation::LeftSymmetric, rule, 64, &sectors).unwrap()
}

fn parity(below: Box<dyn Device>, plugs: Plugs) -> Box<dyn Device> {
    let driver = Driver { plugs, ..Driver::new(0, 0) };
    let spec = MdSpec {
        stripe_cache_rows: 24,
        queue: QUEUE,
        is_written_back: false,
        bitmap: None,
        is_cut_at_chunks: false,
    };
    Md::new(Box::new(raid_5(3)), below, driver, spec).unwrap().into()
}

/// When each of the `requests`, all sent at 0, is done.
fn done_at(device: &mut dyn Device, requests: &[Request]) -> Vec<Nanos> {
    for (tag, &request) in requests.iter().enumerate() {
        device.submit(0, tag as u64, request);
    }
    let (mut events, mut done) = (Vec::new(), vec![0; requests.len()]);
    device.advance(1_000_000_000, &mut events);
    for event in events {
        if let Event::Done { tag, at, result, .. } = event {
            assert_eq!(result, Ok(()));
            done[tag as usize] = at;
        }
    }
    assert!(done.iter().all(|&at| at > 0), "{done:?}");
    done
}

fn commands(device: &dyn Device) -> u64 {
    let mut counters = Counters::default();
    device.count(&mut counters);
    counters.targets.iter().map(|target| target.commands).sum()
}

#[test]
fn senders_that_sleep_keep_the_contract() {
    for plugs in [Plugs::of_programs, Plugs::default] {
        let mirror = || Mirrors::new(Concat::new(&[4000]).unwrap(), 2, Pairing::Neighbours);
        contract::check(&|| array(mirror().unwrap(), disks(2), plugs().that_sleep()));
        contract::check(&|| array(mirror().unwrap(), flashes(2), plugs().that_sleep()));
        let stripe = || Stripe::new(16, &[4000; 3]).unwrap();
        contract::check(&|| array(stripe(), flashes(3), plugs().that_sleep()));
        contract::check(&|| array(stripe(), disks(3), plugs()));
        contract::check(&|| array(stripe(), disks(3), plugs().that_fail_whole(WHOLE)));
        contract::check(&|| array(stripe(), flashes(3), plugs().that_fail_whole(WHOLE)));
        contract::check(&|| parity(disks(3), plugs()));
        contract::check(&|| parity(flashes(3), plugs()));
    }
}

/// Three chunks of the first drive, then one of the second: it is idle until the first has a place for the third.
#[test]
fn a_program_that_sleeps_sends_nothing() {
    let requests = [0, 2, 4, 1].map(|chunk| Request::read(chunk * 16, 16));
    let last = |plugs: Plugs| {
        let stripe = Stripe::new(16, &[4000; 2]).unwrap();
        done_at(&mut *array(stripe, flashes(2), plugs), &requests)
    };
    let one_by_one = last(Plugs::of_programs());
    let asleep = last(Plugs::of_programs().that_sleep());
    assert_eq!(one_by_one[3], one_by_one[0]);
    assert_eq!(asleep[3], asleep[0] + one_by_one[0]);
    // What is read through the page cache is sent by threads of its own.
    assert_eq!(last(Plugs::default().that_sleep()), one_by_one);
}

/// Two reads have the places of the first drive. Of the next one, the part on the second drive goes on, and is read again once
/// the request has failed; what is more than one bio is a worker's from the start.
#[test]
fn what_fails_as_a_whole_is_sent_again_as_a_whole() {
    let done_of = |last: Request, plugs: Plugs| {
        let mut array = array(Stripe::new(16, &[4000; 2]).unwrap(), flashes(2), plugs);
        let [first, second] = [0, 32].map(|sector| Request::read(sector, 16));
        let done = done_at(&mut *array, &[first, second, last]);
        (commands(&*array), done[2])
    };
    let done = |chunks: u32, plugs: Plugs| done_of(Request::read(48, 16 * chunks), plugs);
    let [whole, apart] = [Plugs::of_programs().that_fail_whole(WHOLE), Plugs::of_programs()]
        .map(|plugs| done(2, plugs));
    assert_eq!((whole.0, apart.0), (5, 4));
    assert!(whole.1 >= apart.1, "{whole:?} {apart:?}");
    let large = Plugs::of_programs().that_fail_whole(WHOLE);
    assert_eq!(done(129, large).0, done(129, Plugs::of_programs()).0);
    // Over md's RAID 0 what is more than a chunk is a worker's from the start, and what crosses two fails as a whole.
    let of_raid_0 =
        || Plugs::of_programs().that_fail_whole(FailWhole { most_sectors: 16, ..WHOLE });
    assert_eq!(done(2, of_raid_0()), apart);
    assert_eq!(done_of(Request::read(56, 16), of_raid_0()).0, 5);
    assert_eq!(done_of(Request::read(56, 16), Plugs::of_programs()).0, 4);
}

/// Who reads ahead sends the next window when this one is sent; what another reads meanwhile waits for nobody.
#[test]
fn who_reads_ahead_sends_one_window_after_the_other() {
    let stripe =
        |plugs: Plugs| array(Stripe::new(16, &[4000; 2]).unwrap(), flashes(2), plugs.that_sleep());
    let raid_5 = |plugs| parity(flashes(3), plugs);
    let check = |make: &dyn Fn(Plugs) -> Box<dyn Device>, chunk: u32| {
        // Others have the places of the drive where the first window begins, and the next one is on another drive.
        let others = [(30, 1), (36, 1)];
        let last = |next: u32| {
            let read = |(at, chunks)| Request::read(u64::from(at * chunk), chunks * chunk);
            let reads: Vec<_> = others.into_iter().chain([(0, 17), (next, 1)]).map(read).collect();
            done_at(&mut *make(Plugs::default()), &reads)[others.len()..].to_vec()
        };
        let (in_order, apart) = (last(17), last(41));
        assert!(2 * apart[1] < in_order[1], "{apart:?} {in_order:?}");
    };
    check(&stripe, 16);
    check(&raid_5, 64);
}

/// Large reads of a program are left to workers over parity, too, and the fifth that would sleep waits for one.
#[test]
fn large_reads_of_parity_have_four_workers() {
    let requests = [0, 1, 2, 3, 4, 5].map(|at| Request::read(at * 640, 2112));
    let done = |plugs| done_at(&mut *parity(flashes(3), plugs), &requests);
    let [by_workers, by_threads] = [Plugs::of_programs(), Plugs::default()].map(done);
    assert!(by_workers[0] < by_threads[0], "{by_workers:?} {by_threads:?}");
}

/// Device-mapper hands a read over chunk by chunk, and a member takes no more of a chunk at once than it can.
#[test]
fn a_chunk_that_a_member_cannot_take_at_once_is_cut() {
    let spec = MdSpec {
        stripe_cache_rows: 24,
        queue: QueueSpec { max_sectors: 32, ..QUEUE },
        is_written_back: false,
        bitmap: None,
        is_cut_at_chunks: true,
    };
    let driver = Driver { plugs: Plugs::default(), ..Driver::new(0, 0) };
    let mut md = Md::new(Box::new(raid_5(3)), flashes(3), driver, spec).unwrap();
    done_at(&mut md, &[Request::read(0, 128)]);
    assert_eq!(commands(&md), 4, "two chunks of 64");
}

/// Six reads of one drive: two have places, and four workers sleep. A flush takes a worker, too, and waits for one; what finds
/// a place does not.
#[test]
fn there_are_four_workers() {
    let mut requests = [0, 2, 4, 6, 8, 10, 1].map(|chunk| Request::read(chunk * 16, 16)).to_vec();
    requests.push(Request::flush());
    let done = |plugs: Plugs| {
        let stripe = Stripe::new(16, &[4000; 2]).unwrap();
        done_at(&mut *array(stripe, flashes(2), plugs), &requests)
    };
    let [by_workers, by_threads] = [Plugs::of_programs(), Plugs::default()].map(done);
    assert!(by_workers[7] > by_workers[0] && by_threads[7] < by_threads[0]);
    assert_eq!(by_workers[..7], by_threads[..7]);
    assert_eq!(by_workers[6], by_workers[0]);
}

/// Of four reads of one member two find places; each of the others is read in its two rows, which do not merge.
#[test]
fn what_finds_no_place_over_parity_is_read_row_by_row() {
    let requests = [0, 32, 16, 48].map(|sector| Request::read(sector, 16));
    let commands_of = |plugs: Plugs| {
        let mut array = parity(flashes(3), plugs);
        done_at(&mut *array, &requests);
        commands(&*array)
    };
    assert_eq!(commands_of(Plugs::of_programs()), 2 + 2 * 2);
    // Who reads through the page cache sleeps.
    assert_eq!(commands_of(Plugs::default()), 4);
}

/// The second request has left the scheduler when the third comes, which is its neighbour; the fourth merges with that.
#[test]
fn what_the_scheduler_has_given_away_merges_with_nothing() {
    let driver = Driver::new(0, 0);
    let spec = QueueSpec { requests: 8, ..QUEUE };
    let mut queue: Box<dyn Device> = BlockLayer::new(flashes(1), spec, &driver.plugs).into();
    for (tag, sector) in [1000, 0, 16, 32].into_iter().enumerate() {
        queue.submit(tag as u64, tag as u64, Request::read(sector, 16));
        queue.advance(tag as u64, &mut Vec::new());
    }
    queue.advance(1_000_000_000, &mut Vec::new());
    assert_eq!(commands(&*queue), 3);
}

/// One drive behind its `queue`, for who sends with `plugs`: by itself, or as an array of one member.
fn one_drive<Q: Device + 'static>(queue: Q, plugs: &Plugs, alone: bool) -> Box<dyn Device>
where
    Box<dyn Device>: From<Q> + From<Alone<Q>>,
{
    let sectors = queue.geometry().target_sectors[0] - 96;
    if alone {
        return Alone::new(queue, sectors, plugs.clone()).into();
    }
    let driver = Driver { plugs: plugs.clone(), ..Driver::new(0, 0) };
    let queue: Box<dyn Device> = queue.into();
    Array::new(Box::new(Concat::new(&[sectors]).unwrap()), queue, driver).into()
}

/// A drive with a write cache behind a queue that sorts, as BSD has it.
fn sorted() -> Box<dyn Device> {
    let mut spec = drives::spec();
    spec.controller.write_buffer_sectors = 2000;
    let shelf: Box<dyn Device> = Box::new(drives::shelf(1, &spec, 100_000_000));
    sim::Scheduler::new(shelf, sim::Order::CLook, 1).into()
}

/// What `device` says to requests of all kinds and sizes: some of one instant, and some so many that its queue is full.
fn events_of(mut device: Box<dyn Device>, seed: u64) -> Vec<Event> {
    let sectors = device.geometry().target_sectors[0];
    let (mut dice, mut now, mut events) = (seed, 0, Vec::new());
    let mut throw = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    for tag in 0..600 {
        now += [0, 0, 900, 40_000][throw(4) as usize];
        device.advance(now, &mut events);
        let length = [1, 8, 64, 300][throw(4) as usize];
        let at = throw((sectors - length) / 8) * 8;
        let request = match throw(8) {
            0..4 => Request::read(at, length as u32),
            4..7 => Request::write(at, length as u32),
            _ => Request::flush(),
        };
        device.submit(now, tag, request);
    }
    device.advance(1_000_000_000_000, &mut events);
    events
}

/// The array that is not there changes neither when anything is done nor what its time is spent on.
#[test]
fn one_drive_alone_is_an_array_of_one() {
    for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
        for tags in [1, 32] {
            let spec = QueueSpec { scheduler, requests: 2 * tags, tags, max_sectors: 48, ..QUEUE };
            for plugs in [Plugs::of_programs as fn() -> Plugs, Plugs::default] {
                for seed in 0..8 {
                    let [alone, array] = [true, false].map(|alone| {
                        let plugs = plugs();
                        let queue = BlockLayer::new(flashes(1), spec, &plugs);
                        events_of(one_drive(queue, &plugs, alone), seed)
                    });
                    assert!(alone.len() > 600, "everything comes back");
                    assert_eq!(alone, array, "{scheduler:?}, {tags} tags, seed {seed}");
                }
            }
        }
        let spec = QueueSpec { scheduler, requests: 64, tags: 32, ..QUEUE };
        let plugs = Plugs::of_programs;
        let alone = || one_drive(BlockLayer::new(flashes(1), spec, &plugs()), &plugs(), true);
        contract::check(&alone);
        contract::check_medium_errors(&alone);
    }
    for seed in 0..8 {
        let [alone, array] = [true, false]
            .map(|alone| events_of(one_drive(sorted(), &Plugs::default(), alone), seed));
        assert!(alone.len() > 600, "everything comes back");
        assert_eq!(alone, array, "seed {seed}");
    }
}
