//! Disks from data sheets: as fast in order as the sheet says, and how near measured disks that is.

use block::Op;
use lab::data_sheet::{DataSheet, disk};
use lab::validate::{read_trace, replay};
use sim::bus::Bus;
use sim::drive::Drive;
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Outcome, Shelf, run};
use store::played::Served;
use verdict::validation::Comparison;

fn sheet(name: &str, capacity_bytes: u64, rpm: f64, read_mb_per_s: f64) -> DataSheet {
    DataSheet { name: name.into(), capacity_bytes, rpm, read_mb_per_s, ..DataSheet::default() }
}

fn read(
    drive: &lab::catalogue::Drive,
    pattern: Pattern,
    block_sectors: u32,
    count: u64,
) -> Outcome {
    let disk = Drive::new(&drive.disk().unwrap().spec().unwrap(), 0).unwrap();
    let span_sectors = disk.sectors();
    let mut shelf = Shelf::new(vec![disk], vec![Bus::new(600_000_000, 0)]);
    let stream = Stream {
        op: Op::Read,
        pattern,
        span_sectors,
        block_sectors,
        depth: 1,
        count,
        ..Stream::default()
    };
    run(&mut shelf, &mut RunningStream::new(stream, 5))
}

#[test]
fn a_disk_reads_in_order_as_fast_as_its_sheet_says() {
    let gb = 1_000_000_000;
    for (capacity_gb, rpm, mb_per_s, heads) in [
        (18_000, 7200.0, 270.0, None),
        (18_000, 7200.0, 270.0, Some(18)),
        (4_000, 5400.0, 150.0, None),
        (600, 10_000.0, 160.0, Some(6)),
        (300, 15_000.0, 125.0, None),
        (9, 7200.0, 12.1, Some(10)),
    ] {
        let sheet = DataSheet { heads, ..sheet("a disk", capacity_gb * gb, rpm, mb_per_s) };
        let made = disk(&sheet).unwrap();
        assert!(made.drive.sectors() >= capacity_gb * gb / 4096 * 8, "{capacity_gb} GB");
        let outcome = read(&made.drive, Pattern::Sequential, 2048, 400);
        let modelled = outcome.bytes as f64 * 1e3 / outcome.elapsed_ns as f64;
        assert!((modelled / mb_per_s - 1.0).abs() < 0.01, "{sheet:?}: {modelled} MB/s");
    }
}

/// The catalogue's own disk of the same figures takes as long for a random read.
#[test]
fn the_exos_x18_is_the_catalogues_from_three_figures() {
    let made = disk(&sheet("Exos X18", 18_000_000_000_000, 7200.0, 270.0)).unwrap();
    let ours = lab::catalogue::drive("st18000nm000j").unwrap();
    assert_eq!(made.drive.sectors(), ours.sectors());
    let mean = |drive| read(drive, Pattern::Random, 8, 2000).latency_ns.mean();
    let ratio = mean(&made.drive) / mean(&ours);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// What the data sheet of a traced disk would say, computed from what was measured of it, and how near that comes.
struct Traced {
    trace: &'static str,
    /// The measured drive, for the bus of the machine that measured.
    measured: &'static str,
    capacity_bytes: u64,
    rpm: f64,
    read_mb_per_s: f64,
    seek_average_ms: f64,
    buffer_bytes: u64,
    write_cache: bool,
    /// The most that the demerits of all requests and of reads may be, in per cent. docs/drives.md has the figures.
    most_percent: [f64; 2],
}

const TRACED: [Traced; 5] = [
    Traced {
        trace: "atlas_III",
        measured: "qm39100td-sw",
        capacity_bytes: 9_104_000_000,
        rpm: 7200.0,
        read_mb_per_s: 12.1,
        seek_average_ms: 8.31,
        buffer_bytes: 1 << 20,
        write_cache: true,
        most_percent: [23.0, 22.0],
    },
    Traced {
        trace: "barracuda",
        measured: "st32171w",
        capacity_bytes: 2_104_320_000,
        rpm: 7200.0,
        read_mb_per_s: 9.4,
        seek_average_ms: 9.33,
        buffer_bytes: 512 << 10,
        write_cache: true,
        most_percent: [12.0, 9.0],
    },
    Traced {
        trace: "cheetah9LP",
        measured: "st39102lw",
        capacity_bytes: 9_105_018_880,
        rpm: 10_045.0,
        read_mb_per_s: 15.6,
        seek_average_ms: 5.47,
        buffer_bytes: 1 << 20,
        write_cache: true,
        most_percent: [7.0, 4.5],
    },
    Traced {
        trace: "hp_c3323a",
        measured: "c3323a",
        capacity_bytes: 1_052_676_096,
        rpm: 5400.0,
        read_mb_per_s: 4.8,
        seek_average_ms: 9.53,
        buffer_bytes: 512 << 10,
        write_cache: false,
        most_percent: [23.0, 25.5],
    },
    Traced {
        trace: "ibm18es",
        measured: "dnes-309170w",
        capacity_bytes: 9_173_114_880,
        rpm: 7200.0,
        read_mb_per_s: 20.5,
        seek_average_ms: 7.2,
        buffer_bytes: 2 << 20,
        write_cache: true,
        most_percent: [7.5, 6.0],
    },
];

#[test]
fn traced_disks_from_their_sheets_alone() {
    let Some(folder) = crate::validation::folder() else { return };
    for traced in TRACED {
        let trace = traced.trace;
        let sheet = DataSheet {
            seek_average_ms: Some(traced.seek_average_ms),
            buffer_bytes: Some(traced.buffer_bytes),
            write_cache: Some(traced.write_cache),
            ..sheet(trace, traced.capacity_bytes, traced.rpm, traced.read_mb_per_s)
        };
        let spec = disk(&sheet).unwrap().drive.disk().unwrap().spec().unwrap();
        let measured = lab::catalogue::drive(traced.measured).unwrap();
        let bus = measured.disk().unwrap().measured_bus_bytes_per_s().unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{trace}.trace"))).unwrap();
        let played = read_trace(trace, &text).unwrap();
        let modelled = replay(&spec, bus, &played, None).unwrap();
        let served: Vec<Served> = played.iter().map(Served::from).collect();
        let Comparison { all, reads, .. } = Comparison::new(&served, &modelled);
        for (figures, most) in [all, reads].into_iter().zip(traced.most_percent) {
            let percent = figures.demerit_percent().unwrap();
            assert!(percent < most, "{trace}: {percent} %: {figures:?}");
        }
    }
}
