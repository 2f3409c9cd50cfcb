//! md's RAID 5 and 6 keep the contract of a device, healthy and degraded.

use block::layout::{Code, Parity, Rotation, WriteRule};
use sim::linux::md::{Md, MdError, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::spiral::Spirals;
use sim::{Device, Driver, contract};

const QUEUE: QueueSpec = QueueSpec {
    scheduler: Scheduler::MqDeadline,
    requests: 16,
    tags: 4,
    max_sectors: 2560,
    max_segments: 168,
};

const SPEC: MdSpec = MdSpec { stripe_cache_rows: 24, queue: QUEUE };

fn layout(code: Code, members: usize, chunk: u64) -> Parity {
    let rule = WriteRule::FewestRequests;
    Parity::new(code, Rotation::LeftSymmetric, rule, chunk, &vec![4000; members]).unwrap()
}

#[test]
fn ideal_disks_alone() {
    for buffer in [0, 300] {
        contract::check(&|| Box::new(Spirals::new(3, 20_000, buffer)));
        contract::check_medium_errors(&|| Box::new(Spirals::new(3, 20_000, buffer)));
    }
}

#[test]
fn healthy_and_degraded_arrays_keep_the_contract() {
    for (code, members) in [(Code::P, 3), (Code::P, 5), (Code::PQ, 4), (Code::PQ, 6)] {
        for scheduler in [Scheduler::None, Scheduler::MqDeadline] {
            for (down, buffer) in [(&[][..], 0), (&[], 300), (&[1], 300)] {
                let spec = MdSpec { queue: QueueSpec { scheduler, ..QUEUE }, ..SPEC };
                let make = || -> Box<dyn Device> {
                    let disks = Spirals::new(members, 4000, buffer);
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

#[test]
fn what_md_refuses_is_refused() {
    let new = |chunk, spec| {
        Md::new(
            Box::new(layout(Code::P, 3, chunk)),
            Spirals::new(3, 4000, 0),
            Driver::default(),
            spec,
        )
        .err()
    };
    assert_eq!(new(12, SPEC), Some(MdError::Chunk { interleave_sectors: 12 }));
    let small = MdSpec { stripe_cache_rows: 16, ..SPEC };
    assert_eq!(new(16, small), Some(MdError::StripeCache { rows: 16 }));
}
