//! The plain drive that most tests are about.

use sim::bus::Bus;
use sim::drive::{ControllerSpec, Drive, DriveSpec, Firmware, PlatterSpec, SeekSpec, Zone};
use sim::{Nanos, Shelf};

/// A turn at 7200 rpm.
pub(crate) const TURN: Nanos = 8_333_333;

/// 7200 rpm, 4,000,000 sectors, 186 a track, skewed for moves that take longer than here; it neither
/// caches writes nor settles.
pub(crate) fn spec() -> DriveSpec {
    DriveSpec {
        platters: PlatterSpec {
            sectors: 4_000_000,
            heads: 5,
            revolution_ns: TURN,
            zones: vec![Zone {
                first_cylinder: 0,
                last_cylinder: 4999,
                slots_per_track: 186,
                track_skew_slots: 37,
                cylinder_skew_slots: 52,
                ..Zone::default()
            }],
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Points(vec![(1, 1_900_000), (4999, 17_000_000)]),
        write_settle_ns: 0,
        command_settle_ns: 0,
        head_switch_ns: 100_000,
        controller: ControllerSpec {
            read_hit_overhead_ns: 80_000,
            read_miss_overhead_ns: 600_000,
            write_overhead_ns: 800_000,
            sequential_write_overhead_ns: 800_000,
            segments: 3,
            segment_sectors: 281,
            read_ahead_sectors: 281,
            write_buffer_sectors: 0,
            zero_latency: false,
            interface_bytes_per_s: 40_000_000,
            firmware: Firmware::default(),
        },
    }
}

/// So many of these drives, each on a bus of its own, their spindles at different angles.
pub(crate) fn shelf(drives: u64, spec: &DriveSpec, bus_bytes_per_s: u64) -> Shelf {
    let drives: Vec<Drive> =
        (0..drives).map(|n| Drive::new(spec, n * 1_234_567).unwrap()).collect();
    let buses = vec![Bus::new(bus_bytes_per_s, 0); drives.len()];
    Shelf::new(drives, buses)
}
