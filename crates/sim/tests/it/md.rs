//! Linux's block layer and md's RAID 5 and 6 keep the contract of a device, healthy and degraded; and so do the
//! ideal drives that they are held to.

use block::layout::{Code, Parity, Rotation, Stripe, WriteRule};
use block::{Level, Op, Request};
use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};
use sim::linux::bitmap::{BitSizes, BitmapSpec};
use sim::linux::block_layer::BlockLayer;
use sim::linux::flushes::SharedFlushes;
use sim::linux::in_use::MarksInUse;
use sim::linux::intent::WriteIntents;
use sim::linux::md::{Md, MdError, MdSpec, RowCosts};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::linux::writer::{OneWriter, Writer};
use sim::spiral::{SpiralSpec, Spirals};
use sim::{
    Advance, Array, Counters, Device, Disturbance, Driver, Event, Plugs, Processor, Rack, Rebuild,
    Trace, Tracer, contract,
};

pub(crate) const QUEUE: QueueSpec = QueueSpec {
    scheduler: Scheduler::MqDeadline,
    requests: 16,
    tags: 4,
    max_sectors: 2560,
    max_segments: 168,
    is_write_back: true,
};

const SPEC: MdSpec = MdSpec {
    stripe_cache_rows: 24,
    queue: QUEUE,
    is_written_back: false,
    bitmap: None,
    is_cut_at_chunks: false,
};

/// What rows cost, in ns, in other digits each.
const COSTS: RowCosts = RowCosts {
    row_ns: 200,
    copy_ns: 800,
    one_parity_ns: 30,
    two_parities_ns: 70,
    send_ns: 150,
    command_ns: 1000,
};

fn costing(rows: Option<RowCosts>) -> Driver {
    Driver { rows, ..Driver::new(0, 256) }
}

fn layout(code: Code, members: usize, chunk: u64) -> Parity {
    let rule = WriteRule::FewestRequests;
    Parity::new(code, Rotation::LeftSymmetric, rule, chunk, &vec![4000; members]).unwrap()
}

/// Each layer over boxed ones: so they are compiled in `sim`, which is optimized (`sim::boxed`).
fn boxed(device: impl Into<Box<dyn Device>>) -> Box<dyn Device> {
    device.into()
}

fn disks(number: usize, sectors: u64, buffer_sectors: u64) -> Box<dyn Device> {
    let spec = SpiralSpec { sectors, buffer_sectors, ..SpiralSpec::default() };
    Box::new(Spirals::new(number, spec))
}

const FLASH: IdealFlashSpec = IdealFlashSpec { sectors: 4000, ..crate::md_cells::FLASH };

pub(crate) fn flashes(number: usize) -> Box<dyn Device> {
    Box::new(IdealFlashes::new(number, FLASH))
}

#[test]
fn ideal_drives_alone() {
    for buffer in [0, 300] {
        contract::check(&|| disks(1, 20_000, buffer));
        contract::check(&|| disks(3, 20_000, buffer));
        contract::check_power(&|| disks(3, 20_000, buffer));
        contract::check_medium_errors(&|| disks(3, 20_000, buffer));
    }
    contract::check(&|| flashes(3));
    contract::check_power(&|| flashes(3));
    contract::check_medium_errors(&|| flashes(3));
}

#[test]
fn queues_in_front_of_drives() {
    for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
        let spec = QueueSpec { scheduler, max_sectors: 48, ..QUEUE };
        let through = QueueSpec { is_write_back: false, ..spec };
        contract::check(&|| {
            BlockLayer::new(disks(3, 20_000, 0), through, &Plugs::default()).into()
        });
        contract::check(&|| BlockLayer::new(disks(3, 20_000, 300), spec, &Plugs::default()).into());
        contract::check_medium_errors(&|| {
            BlockLayer::new(disks(3, 20_000, 0), spec, &Plugs::default()).into()
        });
        contract::check(&|| {
            let stripe = Stripe::new(16, &[4000; 3]).unwrap();
            let driver = Driver::new(0, 256);
            let queues = boxed(BlockLayer::new(flashes(3), spec, &driver.plugs));
            Array::new(Box::new(stripe), queues, driver).into()
        });
    }
}

/// A program sends each request by itself: what it has ready at one moment does not merge, but the pieces of one
/// request on a drive do; not those of a read of up to 1 MiB of the device itself.
#[test]
fn only_pieces_of_one_request_share_a_plug() {
    let commands_with = |plugs: &Plugs, requests: &[Request]| {
        let mut driver = Driver::new(0, 0);
        driver.plugs = plugs.clone();
        let spec = QueueSpec { scheduler: Scheduler::None, ..QUEUE };
        let queues = boxed(BlockLayer::new(flashes(2), spec, &driver.plugs));
        let stripe = Stripe::new(16, &[4000; 2]).unwrap();
        let mut array = boxed(Array::new(Box::new(stripe), queues, driver));
        let mut events = Vec::new();
        for (tag, &request) in requests.iter().enumerate() {
            array.submit(0, tag as u64, request);
        }
        array.advance(1_000_000_000, &mut events);
        let done = events.iter().filter(|event| matches!(event, Event::Done { .. }));
        assert_eq!(done.count(), requests.len());
        let mut counters = Counters::default();
        array.count(&mut counters);
        counters.targets.iter().map(|target| target.commands).sum::<u64>()
    };
    let commands_of = |requests: &[Request]| commands_with(&Plugs::default(), requests);
    // Four chunks, two on each drive.
    assert_eq!(commands_of(&[Request::read(0, 64)]), 2);
    let apart: Vec<_> = (0..4).map(|chunk| Request::read(chunk * 16, 16)).collect();
    assert_eq!(commands_of(&apart), 4);
    let of_programs = |request| commands_with(&Plugs::of_programs(), &[request]);
    assert_eq!(of_programs(Request::read(0, 64)), 4);
    assert_eq!(of_programs(Request { op: Op::WRITE, ..Request::read(0, 64) }), 2);
}

/// What a program reads of the device itself is not plugged: its pieces meet in a scheduler's queue, however large they
/// are. What it writes is plugged, and a plug is sent on at 128 KiB. By hand: 1 MiB over three drives in chunks of 128 KiB.
#[test]
fn large_pieces_merge_where_no_plug_is_sent_on() {
    let mib_on_three = |op: Op, scheduler, has_parity: bool| {
        let mut driver = Driver::new(0, 0);
        driver.plugs = Plugs::of_programs();
        let queue = QueueSpec { scheduler, max_sectors: 2560, ..QUEUE };
        let mut array: Box<dyn Device> = if has_parity {
            let layout = Box::new(layout(Code::P, 3, 256));
            Md::new(layout, flashes(3), driver, MdSpec { queue, ..SPEC }).unwrap().into()
        } else {
            let queues = boxed(BlockLayer::new(flashes(3), queue, &driver.plugs));
            let stripe = Stripe::new(256, &[4096; 3]).unwrap();
            Array::new(Box::new(stripe), queues, driver).into()
        };
        array.submit(0, 0, Request { op, ..Request::read(0, 2048) });
        array.advance(1_000_000_000, &mut Vec::new());
        let mut counters = Counters::default();
        array.count(&mut counters);
        counters.targets.iter().map(|target| target.commands).sum::<u64>()
    };
    let [deadline, none] = [Scheduler::MqDeadline, Scheduler::None];
    assert_eq!(mib_on_three(Op::Read, deadline, false), 3);
    assert_eq!(mib_on_three(Op::Read, none, false), 8);
    assert_eq!(mib_on_three(Op::WRITE, deadline, false), 8);
    // Of RAID 5 the parity lies between some of them.
    assert_eq!([deadline, none].map(|of| mib_on_three(Op::Read, of, true)), [5, 8]);
}

/// A write that waits for its bitmap is sent when something else may have been begun, and is plugged all the same; what
/// was read before it leaves no mark.
#[test]
fn what_is_written_is_plugged_whatever_was_begun_since() {
    let plugs = Plugs::of_programs();
    let queue = QueueSpec { scheduler: Scheduler::MqDeadline, max_sectors: 2560, ..QUEUE };
    let mut layer = BlockLayer::new(flashes(2), queue, &plugs);
    // Three pieces on two drives.
    let mut commands_of = |at, op, begun: Request| {
        plugs.begin(&begun);
        for piece in 0..3 {
            let request = Request::read(piece / 2 * 256, 256).to(piece as u32 % 2);
            layer.submit(at, piece, Request { op, ..request });
        }
        layer.advance(at + 1_000_000_000, &mut Vec::new());
        let mut counters = Counters::default();
        layer.count(&mut counters);
        counters.targets.iter().map(|target| target.commands).sum::<u64>()
    };
    let small_read = Request::read(0, 8);
    assert_eq!(commands_of(0, Op::Read, small_read), 2);
    assert_eq!(commands_of(2_000_000_000, Op::WRITE, small_read), 2 + 3);
}

/// What cannot lose a write is not flushed, neither by a stripe nor by parity; what can, is.
#[test]
fn only_write_caches_are_flushed() {
    let commands_of = |is_write_back: bool, has_parity: bool| {
        let queue = QueueSpec { is_write_back, ..QUEUE };
        let (driver, buffer) = (Driver::new(0, 0), if is_write_back { 300 } else { 0 });
        let below = disks(3, 20_000, buffer);
        let mut array: Box<dyn Device> = if has_parity {
            let layout = Box::new(layout(Code::P, 3, 16));
            Md::new(layout, below, driver, MdSpec { queue, ..SPEC }).unwrap().into()
        } else {
            let stripe = Stripe::new(16, &[20_000; 3]).unwrap();
            let queues = boxed(BlockLayer::new(below, queue, &driver.plugs));
            Array::new(Box::new(stripe), queues, driver).into()
        };
        let mut events = Vec::new();
        array.submit(0, 0, Request::flush());
        array.advance(1_000_000_000, &mut events);
        assert!(matches!(events[..], [Event::Done { result: Ok(()), .. }]), "{events:?}");
        let mut counters = Counters::default();
        array.count(&mut counters);
        counters.targets.iter().map(|target| target.commands).sum::<u64>()
    };
    for has_parity in [false, true] {
        assert_eq!([false, true].map(|cached| commands_of(cached, has_parity)), [0, 3]);
    }
}

#[test]
fn healthy_and_degraded_arrays_of_one_parity_keep_the_contract() {
    healthy_and_degraded(Code::P, [3, 5]);
}

#[test]
fn healthy_and_degraded_arrays_of_two_parities_keep_the_contract() {
    healthy_and_degraded(Code::PQ, [4, 6]);
}

/// Each number of members with one of the schedulers; where everything is required, with both.
fn healthy_and_degraded(code: Code, members: [usize; 2]) {
    let is_required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    for (members, usual) in members.into_iter().zip([Scheduler::None, Scheduler::MqDeadline]) {
        let tried = |scheduler: &Scheduler| is_required || *scheduler == usual;
        for scheduler in [Scheduler::None, Scheduler::MqDeadline].into_iter().filter(tried) {
            let free = None;
            for (down, buffer, bitmap, costs) in [
                (&[][..], 0, None, Some(COSTS)),
                (&[], 0, Some(BitmapSpec { flushes: false, bits: BitSizes::Mdadm }), free),
                (&[], 300, None, free),
                (&[1], 300, Some(BitmapSpec { flushes: true, bits: BitSizes::Mdadm }), Some(COSTS)),
            ] {
                let spec = MdSpec { queue: QueueSpec { scheduler, ..QUEUE }, bitmap, ..SPEC };
                let make = || -> Box<dyn Device> {
                    let disks = disks(members, 4000, buffer);
                    let layout = Box::new(layout(code, members, 16));
                    let md = Md::new(layout, disks, costing(costs), spec).unwrap();
                    md.degraded(down).into()
                };
                contract::check(&make);
                if down.is_empty() || code == Code::PQ {
                    contract::check_redundant(&make);
                }
            }
        }
    }
}

/// An array of which member 1 is restored, and member 3 is down where `down` says so.
fn restoring(code: Code, bytes_per_s: Option<u64>, down: &[u32], buffer: u64) -> Box<dyn Device> {
    let layout = layout(code, 5, 16);
    let rebuild = Rebuild { member: 1, bytes_per_s };
    let md = Md::new(Box::new(layout), disks(5, 4000, buffer), costing(None), SPEC).unwrap();
    md.degraded(down).restoring(rebuild, 0..4000).into()
}

#[test]
fn arrays_that_are_restored_keep_the_contract() {
    for (code, bytes_per_s, down) in [
        (Code::P, None, &[][..]),
        (Code::P, Some(40_000), &[]),
        (Code::PQ, Some(1_000_000), &[]),
        (Code::PQ, None, &[3]),
    ] {
        contract::check(&|| restoring(code, bytes_per_s, down, 300));
    }
}

/// What the array has restored when nothing is left to do, and when the last of it was.
fn restored(mut device: Box<dyn Device>) -> (u64, Option<u64>) {
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
    }
    let mut counters = Counters::default();
    device.count(&mut counters);
    (counters.restored_sectors, counters.restored_at)
}

/// All of a member, by one parity or two, also where another member is down; with a limit it takes as long as that says. Then reads
/// go to the member itself again: one command, not four.
#[test]
fn a_member_is_restored_row_by_row() {
    for (code, down) in [(Code::P, &[][..]), (Code::PQ, &[]), (Code::PQ, &[3])] {
        let (sectors, at) = restored(restoring(code, None, down, 0));
        assert_eq!(sectors, 4000);
        let (_, slower_at) = restored(restoring(code, Some(512_000), down, 0));
        // 2 MB at 512 kB/s are 4 s, less what may go at once in the last.
        let takes = 3_000_000_000..4_200_000_000;
        assert!(takes.contains(&slower_at.unwrap()), "{slower_at:?}");
        assert!(at.unwrap() < 1_000_000_000, "{at:?}");
    }
    let reads_of_lost = |is_restored: bool| {
        let mut device = restoring(Code::P, Some(512_000), &[], 0);
        if is_restored {
            let mut events = Vec::new();
            while let Some(at) = device.next_event() {
                device.advance(at, &mut events);
            }
        }
        let now = if is_restored { 60_000_000_000 } else { 0 };
        let mut before = Counters::default();
        device.count(&mut before);
        // The second chunk of the array is on member 1.
        device.submit(now, 0, Request::read(16, 8));
        let mut events = Vec::new();
        while !events.iter().any(|event| matches!(event, Event::Done { tag: 0, .. })) {
            let at = device.next_event().unwrap();
            device.advance(at, &mut events);
        }
        let mut after = Counters::default();
        device.count(&mut after);
        let of = |counters: &Counters, member: usize| counters.targets[member].sectors_read;
        [0, 1, 2, 3, 4].map(|member| of(&after, member) - of(&before, member))
    };
    assert_eq!(reads_of_lost(true), [0, 8, 0, 0, 0]);
    let [first, spare, others @ ..] = reads_of_lost(false);
    assert!(spare == 0 && first >= 8 && others.iter().all(|&sectors| sectors >= 8));
}

/// What is written to a row goes to the spare at once, also far from what is restored.
#[test]
fn what_is_written_goes_to_the_spare() {
    let sectors_of_spare = |is_written: bool| {
        let mut device = restoring(Code::P, Some(4096), &[], 0);
        if is_written {
            device.submit(0, 0, Request::write(4 * 16 * 200, 4 * 16));
        }
        // The next row that is restored comes in a second: until then the thread has restored what it asked for at once.
        let mut events = Vec::new();
        while let Some(at) = device.next_event().filter(|&at| at < 500_000_000) {
            device.advance(at, &mut events);
        }
        assert_eq!(events.iter().any(|of| matches!(of, Event::Done { tag: 0, .. })), is_written);
        let mut counters = Counters::default();
        device.count(&mut counters);
        (counters.targets[1].commands, counters.restored_sectors)
    };
    let ((with, restored), (without, as_much)) = (sectors_of_spare(true), sectors_of_spare(false));
    assert_eq!(restored, as_much);
    assert!(with > without, "{with}, {without} without");
}

/// Rows that are written as one are restored behind that, the first of them, too.
#[test]
fn rows_that_are_written_whole_are_restored() {
    for (code, bytes_per_s) in [(Code::P, None), (Code::P, Some(512_000)), (Code::PQ, None)] {
        let mut device = restoring(code, bytes_per_s, &[], 0);
        let data = if code == Code::P { 4 } else { 3 };
        let whole = data * 16 * 4;
        let (mut events, mut tag) = (Vec::new(), 0);
        let mut write = |device: &mut Box<dyn Device>, at| {
            let sector = tag * 7 % 60 * whole;
            device.submit(at, tag, Request::write(sector, whole as u32));
            tag += 1;
        };
        for _ in 0..4 {
            write(&mut device, 0);
        }
        let mut done = 0;
        while done < 300 {
            let at = device.next_event().unwrap();
            device.advance(at, &mut events);
            for event in events.drain(..) {
                if matches!(event, Event::Done { .. }) {
                    done += 1;
                    write(&mut device, at);
                }
            }
        }
        let (sectors, at) = restored(device);
        assert!(sectors == 4000 && at.is_some(), "{code:?}: {sectors}");
    }
}

/// Without another parity, nothing is restored once another member has failed.
#[test]
fn a_second_failure_ends_what_one_parity_restores() {
    let fail = |code| {
        let mut device = restoring(code, Some(512_000), &[], 0);
        device.advance(100_000_000, &mut Vec::new());
        device.disturb(100_000_000, Disturbance::FailDrive(3));
        restored(device)
    };
    let (sectors, at) = fail(Code::P);
    assert!(sectors < 4000 && at.is_none());
    assert!(matches!(fail(Code::PQ), (4000, Some(_))));
}

/// Arrays that share their writer.
fn side_by_side(arrays: [Md<Box<dyn Device>>; 2]) -> Box<dyn Device> {
    Box::new(Rack::new(arrays.map(boxed).into()).linked())
}

/// RAID 50 and 60: a stripe over arrays that share nothing, whole and with a member down in one of them.
#[test]
fn arrays_side_by_side_keep_the_contract() {
    for (code, members, down) in [(Code::P, 3, &[][..]), (Code::PQ, 4, &[]), (Code::PQ, 4, &[2])] {
        let make = || -> Box<dyn Device> {
            let writer = Writer::default();
            let arrays = [down, &[]].map(|down| {
                let (disks, layout) = (disks(members, 4000, 300), layout(code, members, 16));
                let md = Md::new(Box::new(layout), disks, Driver::new(0, 256), SPEC).unwrap();
                md.degraded(down).written_by(&writer)
            });
            let rack = side_by_side(arrays);
            let sectors = rack.geometry().target_sectors.clone();
            let stripe = Box::new(Stripe::new(16, &sectors).unwrap());
            let stripe = boxed(Array::new(stripe, rack, Driver::default()));
            OneWriter::new(stripe, 16, writer).into()
        };
        contract::check(&make);
        contract::check_redundant(&make);
    }
}

/// When a small write to the second of two arrays is done, begun beside a write of so many sectors to the first.
fn second_done_at(first_sectors: u32, has_one_writer: bool) -> u64 {
    let writer = Writer::default();
    let arrays = [(); 2].map(|()| {
        let (disks, layout) = (disks(3, 4000, 0), layout(Code::P, 3, 16));
        let md = Md::new(Box::new(layout), disks, Driver::new(0, 256), SPEC).unwrap();
        if has_one_writer { md.written_by(&writer) } else { md }
    });
    let mut device = boxed(OneWriter::new(side_by_side(arrays), 4000, writer));
    device.submit(0, 1, Request::write(0, first_sectors));
    device.submit(0, 2, Request::write(0, 8).to(1));
    let mut events = Vec::new();
    device.advance(60_000_000_000, &mut events);
    let done = events.iter().find_map(|event| match event {
        Event::Done { tag: 2, at, .. } => Some(*at),
        _ => None,
    });
    done.expect("it is done within a minute")
}

/// A writer that sleeps for a row of one array gives the other nothing; one that finds rows free goes on at once.
#[test]
fn a_writer_sleeps_in_one_array_at_a_time() {
    let alone = second_done_at(8, false);
    assert_eq!(second_done_at(8, true), alone);
    // 1000 sectors are 63 rows of two blocks, and 24 rows are free.
    assert_eq!(second_done_at(1000, false), alone);
    let late = second_done_at(1000, true);
    assert!(2 * late > 3 * alone, "{late} ns, and {alone} alone");
}

fn bitmap_over(disks: Box<dyn Device>, flushes: bool) -> Box<dyn Device> {
    WriteIntents::new(
        disks,
        BitmapSpec { flushes, bits: BitSizes::Mdadm },
        4000,
        Box::new(|_, sector| sector),
        &[],
    )
    .into()
}

#[test]
fn mirrors_with_a_bitmap_keep_the_contract() {
    for (buffer, flushes) in [(0, false), (300, true)] {
        contract::check(&|| bitmap_over(disks(3, 4000, buffer), flushes));
        contract::check_redundant(&|| {
            let mirror: Level = "mirror".parse().unwrap();
            let layout = mirror.lay_out(16, &[4000; 2]).unwrap();
            Array::new(layout, bitmap_over(disks(2, 4000, buffer), flushes), Driver::default())
                .into()
        });
    }
}

fn marked_over(disks: Box<dyn Device>, is_cache: bool) -> Box<dyn Device> {
    Box::new(MarksInUse::new(disks, is_cache, &[], false, None))
}

#[test]
fn mirrors_that_are_marked_keep_the_contract() {
    for (buffer, is_cache) in [(0, false), (300, true)] {
        contract::check(&|| marked_over(disks(3, 4000, buffer), is_cache));
        contract::check_redundant(&|| {
            let mirror: Level = "mirror".parse().unwrap();
            let layout = mirror.lay_out(16, &[4000; 2]).unwrap();
            Array::new(layout, marked_over(disks(2, 4000, buffer), is_cache), Driver::default())
                .into()
        });
    }
}

/// How many commands two drives had after each of three writes, and when those were done: one at once, one soon after, one a second later.
fn after_a_pause(device: &mut dyn Device) -> ([u64; 3], [u64; 3]) {
    let (mut commands, mut took) = ([0; 3], [0; 3]);
    let mut events = Vec::new();
    for (tag, at) in [(0_u64, 0), (1, 50_000_000), (2, 1_050_000_000)] {
        let mut until = |device: &mut dyn Device, last| {
            while let Some(next) = device.next_event().filter(|&next| next <= last) {
                device.advance(next, &mut events);
            }
        };
        until(device, at);
        device.submit(at, tag, Request::write(64 + 8 * tag, 8));
        until(device, at + 45_000_000);
        let mut counters = Counters::default();
        device.count(&mut counters);
        commands[tag as usize] = counters.targets.iter().map(|target| target.commands).sum();
        let done = events.iter().find_map(|event| match event {
            Event::Done { tag: of, at, .. } if *of == tag => Some(*at),
            _ => None,
        });
        took[tag as usize] = done.expect("it is done within 45 ms") - at;
    }
    (commands, took)
}

/// A write after a pause waits until all members say that the array is in use; to say that it was not took a write to each, too.
#[test]
fn a_write_after_a_pause_waits_for_the_superblocks() {
    let mut copies = marked_over(disks(2, 4000, 0), false);
    let (commands, took) = after_a_pause(&mut *copies);
    assert_eq!(commands, [1, 2, 2 + 2 + 2 + 1]);
    assert!(took[2] > took[1], "{took:?}");
    // One that is kept in use does not.
    let mut kept: Box<dyn Device> =
        Box::new(MarksInUse::new(disks(2, 4000, 0), false, &[], true, None));
    assert_eq!(after_a_pause(&mut *kept).0, [1, 2, 3]);
    // Nor does what md restores on a spare.
    let mut spare: Box<dyn Device> =
        Box::new(MarksInUse::new(disks(2, 4000, 0), false, &[0], false, None));
    assert_eq!(after_a_pause(&mut *spare).0, [1, 2, 3]);
    // But as it begins, both have their superblocks written.
    let spare = MarksInUse::new(disks(2, 4000, 0), false, &[0], false, None).restoring(0);
    assert_eq!(after_a_pause(&mut (Box::new(spare) as Box<dyn Device>)).0, [3, 4, 5]);
    // RAID 5 of three with caches: a flush and a superblock each, to say that it is clean and that it is not.
    let parity = |is_kept: bool| {
        let level: Level = "raid5".parse().unwrap();
        let layout = level.lay_out(64, &[4000; 3]).unwrap();
        let md = Md::new(layout, disks(3, 4000, 0), Driver::new(0, 256), SPEC).unwrap();
        let mut md = if is_kept { md.kept_in_use() } else { md };
        after_a_pause(&mut md)
    };
    let ([_, two, three], took) = parity(false);
    let ([_, two_kept, three_kept], took_kept) = parity(true);
    assert_eq!((two, three), (two_kept, three_kept + 12));
    assert!(took[2] > took_kept[2], "{took:?} {took_kept:?}");
}

/// With a bitmap its first page is written to all members before the superblocks are, each time.
#[test]
fn a_mark_is_the_bitmaps_page_and_then_the_superblocks() {
    let spec = BitmapSpec { flushes: false, bits: BitSizes::Mdadm };
    let copies = |bitmap| MarksInUse::new(disks(2, 4000, 0), false, &[], false, bitmap);
    let (commands, took) = after_a_pause(&mut copies(Some((spec, 4000))));
    let (commands_without, took_without) = after_a_pause(&mut copies(None));
    // Of each of two members a page and a superblock, to say that the array is clean and that it is not.
    assert_eq!(commands, [1, 2, 2 + 4 + 4 + 1]);
    assert_eq!(commands_without, [1, 2, 2 + 2 + 2 + 1]);
    assert!(took[2] > took_without[2], "{took:?} {took_without:?}");
    let parity = |bitmap| {
        let level: Level = "raid5".parse().unwrap();
        let layout = level.lay_out(64, &[4000; 3]).unwrap();
        let spec = MdSpec { bitmap, ..SPEC };
        after_a_pause(&mut Md::new(layout, disks(3, 4000, 0), Driver::new(0, 256), spec).unwrap()).0
    };
    let ([_, two, three], [_, two_without, three_without]) = (parity(Some(spec)), parity(None));
    // The bit's own page once, as the bit is set for seconds; with a flush before each page, to say that the array is clean and that
    // it is not.
    assert_eq!((two - two_without, three - three_without), (3, 3 + 12));
}

/// Two writes of a part at once wait for one write of the bitmap on each member; one that comes soon after does not.
#[test]
fn a_part_is_marked_once() {
    let mut disks = bitmap_over(disks(2, 4000, 0), false);
    let mut commands = Vec::new();
    for (tag, at) in [(0, 0), (1, 0), (2, 1_000_000_000), (3, 60_000_000_000)] {
        let mut events = Vec::new();
        while let Some(next) = disks.next_event().filter(|&next| next <= at) {
            disks.advance(next, &mut events);
        }
        disks.submit(at, tag, Request::write(100 + tag * 8, 8));
        let mut counters = Counters::default();
        disks.count(&mut counters);
        commands.push(counters.targets.iter().map(|target| target.commands).sum::<u64>());
    }
    // One of the bitmap to each of two members, then what waited for it and what did not, then the bitmap again.
    assert_eq!(commands, [2, 2, 5, 7]);
}

/// Who waits for a bit sleeps: what it would send meanwhile, reads and writes to parts whose bits are set among it, goes
/// after that, in order.
#[test]
fn who_waits_for_a_bit_sends_nothing() {
    let part = 64 << 11;
    let new = || {
        let flashes = IdealFlashes::new(2, IdealFlashSpec { sectors: 1 << 20, ..FLASH });
        let (flashes, spec): (Box<dyn Device>, _) =
            (Box::new(flashes), BitmapSpec { flushes: true, bits: BitSizes::Mdadm });
        boxed(WriteIntents::new(flashes, spec, 1 << 20, Box::new(|_, at| at), &[]))
    };
    let done_at = |requests: &[Request]| {
        let mut disks = new();
        let mut events = Vec::new();
        // The first part has its bit before the others come.
        disks.submit(0, 0, Request::write(0, 8));
        while let Some(at) = disks.next_event() {
            disks.advance(at, &mut events);
        }
        events.clear();
        let start = 1_000_000_000;
        for (tag, request) in requests.iter().enumerate() {
            disks.submit(start, tag as u64, *request);
        }
        while let Some(at) = disks.next_event() {
            disks.advance(at, &mut events);
        }
        let mut done = vec![0; requests.len()];
        for event in &events {
            if let Event::Done { tag, at, .. } = event {
                done[*tag as usize] = at - start;
            }
        }
        done
    };
    let (set, unset) = (Request::write(8, 8), Request::write(part, 8));
    let read = Request::read(16, 8);
    let slept = done_at(&[unset])[0] - done_at(&[set])[0];
    assert!(slept > 40_000, "a flush and a write of a page take {slept} ns");
    for other in [set, read] {
        let alone = done_at(&[other])[0];
        // In front of it nothing waits, behind it both do.
        let [before, _] = done_at(&[other, unset])[..] else { unreachable!() };
        let [_, behind] = done_at(&[unset, other])[..] else { unreachable!() };
        assert_eq!(before, alone, "{other:?}");
        assert!(behind >= alone + slept, "{other:?}: {behind} ns, {alone} alone");
    }
}

/// The writer sleeps for rows, and the thread lets go of the last of them with nothing in flight and no other request
/// to come.
#[test]
fn requests_larger_than_the_cache_are_written_to_their_end() {
    let free = None;
    for (code, members) in [(Code::P, 3), (Code::P, 5), (Code::PQ, 6)] {
        for rows in 17..40 {
            for (command_ns, rows_cost) in [(0, free), (2_000, free), (0, Some(COSTS))] {
                let spec = MdSpec { stripe_cache_rows: rows, ..SPEC };
                let layout = Box::new(layout(code, members, 16));
                let driver = Driver { rows: rows_cost, ..Driver::new(command_ns, 256) };
                let mut md = boxed(Md::new(layout, flashes(members), driver, spec).unwrap());
                for (tag, sector) in [(0, 0), (1, 2000), (2, 1000)] {
                    md.submit(0, tag, Request::write(sector, 2000));
                }
                let mut events = Vec::new();
                while let Some(at) = md.next_event() {
                    md.advance(at, &mut events);
                }
                let done = events.iter().filter(|event| matches!(event, Event::Done { .. }));
                assert_eq!(done.count(), 3, "{members} members, {rows} rows, {command_ns} ns");
            }
        }
    }
}

/// Two rows of chunks of 8 KiB over five drives.
#[test]
fn whole_rows_take_the_thread_as_long_as_they_cost() {
    let processor = Processor::default();
    let driver = costing(Some(COSTS)).on(&processor);
    let layout = Box::new(layout(Code::P, 5, 16));
    let mut md = boxed(Md::new(layout, flashes(5), driver, SPEC).unwrap());
    md.submit(0, 0, Request::write(0, 128));
    let mut events = Vec::new();
    while let Some(at) = md.next_event() {
        md.advance(at, &mut events);
    }
    // The rows of a chunk are one write: it is worked out, sent and done.
    let handled = 2 * 3 * COSTS.row_ns;
    let data = 16 * (COSTS.copy_ns + COSTS.one_parity_ns);
    // To each drive 16 KiB, in one request.
    let sent = 5 * (4 * COSTS.send_ns + COSTS.command_ns);
    assert_eq!(processor.busy_ns(), handled + data + sent);
}

#[test]
fn what_md_refuses_is_refused() {
    let new = |chunk, spec| {
        Md::new(Box::new(layout(Code::P, 3, chunk)), disks(3, 4000, 0), Driver::default(), spec)
            .err()
    };
    assert_eq!(new(12, SPEC), Some(MdError::Chunk { interleave_sectors: 12 }));
    let small = MdSpec { stripe_cache_rows: 16, ..SPEC };
    assert_eq!(new(16, small), Some(MdError::StripeCache { rows: 16 }));
}

/// How many flushes `device` sends to its members where five programs flush at once.
fn flushes_of(mut device: Box<dyn Device>, trace: &sim::Trace) -> usize {
    for tag in 0..5 {
        device.submit(0, tag, Request::flush());
    }
    let mut events = Vec::new();
    while let Some(at) = device.next_event() {
        device.advance(at, &mut events);
    }
    let done = events.iter().filter(|event| matches!(event, Event::Done { .. })).count();
    assert_eq!(done, 5);
    trace.take().iter().filter(|traced| traced.request.op == Op::Flush).count()
}

/// An array is flushed once at a time: the first of five goes to the three members, and the other four share the next. Each
/// went to the members by itself, and four programs that commit were twice as fast as in the kernel.
#[test]
fn flushes_that_come_meanwhile_share_the_next() {
    let trace = sim::Trace::default();
    let below = || -> Box<dyn Device> { Box::new(sim::Tracer::new(disks(3, 4000, 300), &trace)) };
    let layout = Box::new(layout(Code::P, 3, 16));
    let md = boxed(Md::new(layout, below(), Driver::new(0, 256), SPEC).unwrap());
    assert_eq!(flushes_of(boxed(SharedFlushes::new(md)), &trace), 6);
    let driver = Driver::default();
    let queues = boxed(BlockLayer::new(below(), QUEUE, &driver.plugs));
    let stripe = Box::new(Stripe::new(16, &[4000; 3]).unwrap());
    let stripe = boxed(Array::new(stripe, queues, driver));
    assert_eq!(flushes_of(boxed(SharedFlushes::new(stripe)), &trace), 6);
    contract::check(&|| SharedFlushes::new(flashes(1)).into());
}

/// Two whole rows and one of which a page is written, by write-back: that one reads once the whole ones are written, or at once
/// where somebody waits for the write (`REQ_SYNC`). So it was in the kernel's trace of mkfs.ext4.
#[test]
fn a_row_that_somebody_waits_for_is_not_delayed() {
    let reads_at_once = |is_sync: bool| {
        let trace = Trace::default();
        let below: Box<dyn Device> = Box::new(Tracer::new(flashes(4), &trace));
        let driver = Driver { plugs: Plugs::of_threads(), ..Driver::new(0, 256) };
        let plugs = driver.plugs.clone();
        let spec = MdSpec { is_written_back: true, stripe_cache_rows: 256, ..SPEC };
        let layout = Box::new(layout(Code::P, 4, 16));
        let mut md = Md::new(layout, below, driver, spec).unwrap();
        plugs.sends(0, 0, is_sync);
        md.submit(0, 0, Request::write(0, 3 * 16 + 8));
        plugs.sleeps(0, 0);
        md.advance(1_000_000_000, &mut Vec::new());
        let done = trace.take();
        let of = |op: Op| done.iter().filter(move |traced| traced.request.op == op);
        let read_at = of(Op::Read).map(|traced| traced.arrived).min().unwrap();
        let whole_done = of(Op::WRITE).map(|traced| traced.done).min().unwrap();
        read_at < whole_done
    };
    assert_eq!([false, true].map(reads_at_once), [false, true]);
}
