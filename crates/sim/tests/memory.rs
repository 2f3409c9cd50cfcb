//! Memory does not grow with the number of requests.
//!
//! A test binary of its own: its allocator counts every allocation of the process, and would slow the other tests and
//! count theirs.

use block::Op;
use block::layout::Stripe;
use peak_alloc::PeakAlloc;
use sim::bus::Bus;
use sim::drive::{ControllerSpec, Drive, DriveSpec, Firmware, PlatterSpec, SeekSpec, Zone};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Array, Driver, Shelf, Splitter, run};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn spec() -> DriveSpec {
    DriveSpec {
        platters: PlatterSpec {
            sectors: 1_000_000,
            heads: 4,
            revolution_ns: 6_000_000,
            zones: vec![Zone {
                first_cylinder: 0,
                last_cylinder: 2499,
                slots_per_track: 100,
                track_skew_slots: 20,
                cylinder_skew_slots: 30,
                ..Zone::default()
            }],
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Typical { single_ns: 1_000_000, average_ns: 5_000_000, full_ns: 9_000_000 },
        write_settle_ns: 0,
        command_settle_ns: 0,
        head_switch_ns: 500_000,
        controller: ControllerSpec {
            read_hit_overhead_ns: 100_000,
            read_miss_overhead_ns: 500_000,
            write_overhead_ns: 500_000,
            sequential_write_overhead_ns: 500_000,
            segments: 4,
            segment_sectors: 128,
            read_ahead_sectors: 128,
            write_buffer_sectors: 512,
            zero_latency: false,
            interface_bytes_per_s: 40_000_000,
            firmware: Firmware::default(),
        },
    }
}

/// The most bytes in use at a time while `count` requests run on a stripe behind a cutting host.
fn peak_bytes(op: Op, count: u64) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let drives = (0..4).map(|n| Drive::new(&spec(), n * 999_999).unwrap()).collect();
    let shelf = Shelf::new(drives, vec![Bus::new(20_000_000, 1000)]);
    let layout = Stripe::new(64, &[1_000_000; 4]).unwrap();
    let array = Array::new(Box::new(layout), shelf, Driver::new(1000, 1000));
    let stream = Stream {
        op,
        pattern: Pattern::Random,
        span_sectors: 3_999_744,
        block_sectors: 96,
        count,
        depth: 8,
        ..Stream::default()
    };
    let mut device = Splitter::new(array, 128, 1);
    let outcome = run(&mut device, &mut RunningStream::new(stream, 5));
    assert_eq!(outcome.requests, count);
    ALLOCATOR.peak_usage() - before
}

/// A short run takes less: its marks are no copies of all histograms. One test, as others beside it would count.
#[test]
fn twice_the_requests_take_no_more_memory() {
    for op in [Op::Read, Op::WRITE] {
        let [short, few, many] = [3_000, 300_000, 600_000].map(|count| peak_bytes(op, count));
        assert!(short < few * 2 / 3, "{op:?}: {short} bytes for a short run, {few} for a long one");
        assert!(many < few + few / 10, "{op:?}: {few} bytes for few requests, {many} for many");
    }
}
