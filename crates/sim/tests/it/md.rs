//! Linux's block layer and md's RAID 5 and 6 keep the contract of a device, healthy and degraded; and so do the
//! ideal drives that they are held to.

use block::Request;
use block::layout::{Code, Parity, Rotation, Stripe, WriteRule};
use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};
use sim::linux::block_layer::BlockLayer;
use sim::linux::md::{Md, MdError, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::spiral::{SpiralSpec, Spirals};
use sim::{Array, Device, Driver, Event, contract};

const QUEUE: QueueSpec = QueueSpec {
    scheduler: Scheduler::MqDeadline,
    requests: 16,
    tags: 4,
    max_sectors: 2560,
    max_segments: 168,
};

const SPEC: MdSpec = MdSpec { stripe_cache_rows: 24, queue: QUEUE, is_written_back: false };

fn layout(code: Code, members: usize, chunk: u64) -> Parity {
    let rule = WriteRule::FewestRequests;
    Parity::new(code, Rotation::LeftSymmetric, rule, chunk, &vec![4000; members]).unwrap()
}

fn disks(number: usize, sectors: u64, buffer_sectors: u64) -> Spirals {
    Spirals::new(number, SpiralSpec { sectors, buffer_sectors, ..SpiralSpec::default() })
}

fn flashes(number: usize) -> IdealFlashes {
    let spec = IdealFlashSpec {
        sectors: 4000,
        read_ns: 80_000,
        write_ns: 20_000,
        flush_ns: 20_000,
        link_bytes_per_s: 2_000_000_000,
    };
    IdealFlashes::new(number, spec)
}

#[test]
fn ideal_drives_alone() {
    for buffer in [0, 300] {
        contract::check(&|| Box::new(disks(3, 20_000, buffer)));
        contract::check_medium_errors(&|| Box::new(disks(3, 20_000, buffer)));
    }
    contract::check(&|| Box::new(flashes(3)));
    contract::check_medium_errors(&|| Box::new(flashes(3)));
}

#[test]
fn queues_in_front_of_drives() {
    for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
        let spec = QueueSpec { scheduler, max_sectors: 48, ..QUEUE };
        contract::check(&|| Box::new(BlockLayer::new(disks(3, 20_000, 300), spec)));
        contract::check_medium_errors(&|| Box::new(BlockLayer::new(disks(3, 20_000, 0), spec)));
        contract::check(&|| {
            let stripe = Stripe::new(16, &[4000; 3]).unwrap();
            let queues = BlockLayer::new(flashes(3), spec);
            Box::new(Array::new(Box::new(stripe), queues, Driver::new(0, 256)))
        });
    }
}

#[test]
fn healthy_and_degraded_arrays_keep_the_contract() {
    for (code, members) in [(Code::P, 3), (Code::P, 5), (Code::PQ, 4), (Code::PQ, 6)] {
        for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
            for (down, buffer) in [(&[][..], 0), (&[], 300), (&[1], 300)] {
                let spec = MdSpec { queue: QueueSpec { scheduler, ..QUEUE }, ..SPEC };
                let make = || -> Box<dyn Device> {
                    let disks = disks(members, 4000, buffer);
                    let layout = Box::new(layout(code, members, 16));
                    let md = Md::new(layout, disks, Driver::new(0, 256), spec).unwrap();
                    Box::new(md.degraded(down))
                };
                contract::check(&make);
                if down.is_empty() || code == Code::PQ {
                    contract::check_redundant(&make);
                }
            }
        }
    }
}

/// The writer sleeps for rows, and the thread lets go of the last of them with nothing in flight and no other request
/// to come.
#[test]
fn requests_larger_than_the_cache_are_written_to_their_end() {
    for (code, members) in [(Code::P, 3), (Code::P, 5), (Code::PQ, 6)] {
        for rows in 17..40 {
            for command_ns in [0, 2_000] {
                let spec = MdSpec { stripe_cache_rows: rows, ..SPEC };
                let layout = Box::new(layout(code, members, 16));
                let driver = Driver::new(command_ns, 256);
                let mut md = Md::new(layout, flashes(members), driver, spec).unwrap();
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
