//! How many requests are simulated a second; the figures are recorded in docs/speed.md.

use block::Op;
use block::layout::Stripe;
use divan::Bencher;
use divan::counter::ItemsCount;
use sim::bus::Bus;
use sim::drive::{
    ControllerSpec, Discipline, Drive, DriveSpec, Firmware, Keeps, OnWrite, PlatterSpec,
    ReadAheadPolicy, SeekSpec, Sending, Zone,
};
use sim::flash::{Fill, Flash, FlashSpec};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Array, Device, Driver, Rack, Shelf, run};

const REQUESTS: u64 = 200_000;
const SECTORS: u64 = 17_783_250;

fn main() {
    divan::main();
}

fn shelf(drives: u64, firmware: &Firmware) -> Shelf {
    let zones = (0..9).map(|zone| Zone {
        first_cylinder: zone * 895,
        last_cylinder: zone * 895 + 894,
        slots_per_track: 270 - 5 * zone,
        track_skew_slots: 75,
        cylinder_skew_slots: 86,
        ..Zone::default()
    });
    let spec = DriveSpec {
        platters: PlatterSpec {
            sectors: SECTORS,
            heads: 10,
            revolution_ns: 8_333_333,
            zones: zones.collect(),
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Typical {
            single_ns: 1_663_000,
            average_ns: 8_310_000,
            full_ns: 15_400_000,
        },
        write_settle_ns: 0,
        command_settle_ns: 0,
        head_switch_ns: 999_000,
        controller: ControllerSpec {
            read_hit_overhead_ns: 374_000,
            read_miss_overhead_ns: 100_000,
            write_overhead_ns: 500_000,
            sequential_write_overhead_ns: 500_000,
            segments: 6,
            segment_sectors: 64,
            read_ahead_sectors: 64,
            write_buffer_sectors: 0,
            zero_latency: false,
            interface_bytes_per_s: 40_000_000,
            firmware: firmware.clone(),
        },
    };
    let drives = (0..drives).map(|n| Drive::new(&spec, n * 77_777).expect("it is a drive"));
    let drives: Vec<Drive> = drives.collect();
    let buses = vec![Bus::new(40_000_000, 0); drives.len()];
    Shelf::new(drives, buses)
}

fn random_reads(bencher: Bencher, make: impl Fn() -> Box<dyn Device> + Sync, depth: u32) {
    let span_sectors = make().geometry().target_sectors[0];
    bencher.counter(ItemsCount::new(REQUESTS)).with_inputs(&make).bench_values(|mut device| {
        let stream = Stream {
            op: Op::Read,
            pattern: Pattern::Random,
            span_sectors,
            block_sectors: 8,
            count: REQUESTS,
            depth,
            ..Stream::default()
        };
        run(&mut *device, &mut RunningStream::new(stream, 42)).elapsed_ns
    });
}

#[divan::bench(args = [1, 16])]
fn one_drive(bencher: Bencher, depth: u32) {
    random_reads(bencher, || Box::new(shelf(1, &Firmware::default())), depth);
}

/// Everything that a firmware can choose away from the default.
#[divan::bench]
fn one_drive_of_its_own_mind(bencher: Bencher) {
    let firmware = Firmware {
        read_ahead: ReadAheadPolicy::UntilFull,
        keeps: Keeps::Ahead,
        on_write: OnWrite::KeepBehind,
        written_segments: 2,
        sending: Sending::Whole,
        ..Firmware::default()
    };
    random_reads(bencher, || Box::new(shelf(1, &firmware)), 1);
}

/// Random reads on one drive that chooses among as many as wait.
fn choosing(bencher: Bencher, discipline: Discipline, depth: u32) {
    let firmware = Firmware { discipline, queue_depth: depth as usize, ..Firmware::default() };
    random_reads(bencher, || Box::new(shelf(1, &firmware)), depth);
}

#[divan::bench(args = [4, 16, 32, 256, 4096])]
fn shortest_positioning_first(bencher: Bencher, depth: u32) {
    choosing(bencher, Discipline::Sptf { ageing_us_per_ms: 0 }, depth);
}

#[divan::bench(args = [4, 16, 32, 256, 4096])]
fn shortest_positioning_first_with_age(bencher: Bencher, depth: u32) {
    choosing(bencher, Discipline::Sptf { ageing_us_per_ms: 6 }, depth);
}

#[divan::bench(args = [4, 16, 32, 256, 4096])]
fn next_upwards(bencher: Bencher, depth: u32) {
    choosing(bencher, Discipline::CLook, depth);
}

#[divan::bench(args = [8, 96])]
fn stripe(bencher: Bencher, members: u64) {
    let make = || -> Box<dyn Device> {
        let layout = Stripe::new(128, &vec![SECTORS; members as usize]);
        let layout = layout.expect("it is a stripe");
        Box::new(Array::new(
            Box::new(layout),
            shelf(members, &Firmware::default()),
            Driver::default(),
        ))
    };
    random_reads(bencher, make, 64);
}

/// An `NVMe` drive with figures like those of a 980 PRO.
fn nvme() -> Flash {
    let spec = FlashSpec {
        sectors: 1_953_525_168,
        queue_depth: 1024,
        read_command_ns: 1_280,
        read_page_ns: 0,
        write_command_ns: 3_000,
        read_alone_ns: vec![(4096, 66_000)],
        write_alone_ns: vec![(4096, 12_000)],
        units: 40,
        unit_read_ns: 45_000,
        unit_spread_percent: 29,
        page_bytes: 4096,
        read_bytes_per_s: 3_300_000_000,
        write_bytes_per_s: 3_000_000_000,
        half_duplex: false,
        buffer_bytes: 4 << 20,
        stripe_bytes: 1 << 20,
        drain_bytes_per_s: 1_500_000_000,
        random_write_ns: 0,
        partial_write_ns: 0,
        program_ns: 800_000,
        program_wait_ns: 200_000,
        power_loss_protection: false,
        slc: None,
        reserve_bytes: 1 << 36,
        write_amplification_percent: 400,
        fill: Fill::Random,
    };
    Flash::new(&spec).expect("it is a drive")
}

#[divan::bench(args = [1, 32, 256])]
fn flash(bencher: Bencher, depth: u32) {
    random_reads(bencher, || Box::new(nvme()), depth);
}

/// A stripe of eight such drives, so many requests for each of them in flight.
#[divan::bench(args = [1, 32])]
fn flash_stripe_of_8(bencher: Bencher, depth: u32) {
    let make = || -> Box<dyn Device> {
        let drives: Vec<Box<dyn Device>> = (0..8).map(|_| Box::new(nvme()) as _).collect();
        let rack = Rack::new(drives);
        let layout = Stripe::new(128, &rack.geometry().target_sectors);
        let layout = layout.expect("it is a stripe");
        Box::new(Array::new(Box::new(layout), rack, Driver::default()))
    };
    random_reads(bencher, make, 8 * depth);
}
