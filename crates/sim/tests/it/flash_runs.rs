//! Garbage collection of a steady flash drive depends on which bytes are overwritten together, not on how they are cut
//! into commands, in which order these come, or beside how many others.

use block::{Level, Op, Request};
use sim::flash::{Fill, FlashSpec};
use sim::workload::{Jobs, Name, Next, Pattern, RunningStream, Stream, Workload};
use sim::{Array, Device, Driver, Flash, Nanos, Rack, run};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;
const SECTOR: u64 = 512;
const SECTORS: u64 = 7_500_000_000;

/// A steady drive of 3.84 TB with figures like those of a Micron 7450 PRO: 5300 MB/s to flash in order, a seventh of
/// it at random.
fn steady() -> Flash {
    Flash::new(&spec()).expect("it is a drive")
}

fn spec() -> FlashSpec {
    FlashSpec {
        sectors: SECTORS,
        queue_depth: 1023,
        read_command_ns: 1000,
        read_page_ns: 590,
        write_command_ns: 1000,
        read_alone_ns: vec![(4096, 80_000)],
        write_alone_ns: vec![(4096, 15_000)],
        units: 113,
        unit_read_ns: 52_000,
        unit_spread_percent: 15,
        page_bytes: 4096,
        read_bytes_per_s: 7_000_000_000,
        write_bytes_per_s: 7_000_000_000,
        half_duplex: false,
        buffer_bytes: 4 << 20,
        stripe_bytes: 1 << 20,
        drain_bytes_per_s: IN_ORDER as u64,
        random_write_ns: 0,
        partial_write_ns: 0,
        program_ns: 800_000,
        program_wait_ns: 200_000,
        power_loss_protection: true,
        slc: None,
        reserve_bytes: 1 << 39,
        write_amplification_percent: 720,
        fill: Fill::Steady,
    }
}

const IN_ORDER: f64 = 5.3e9;
const AT_RANDOM: f64 = IN_ORDER / 7.2;

fn array(level: &str, chunk: u64, members: usize) -> Array<Rack> {
    array_of(&spec(), level, chunk, members)
}

fn array_of(spec: &FlashSpec, level: &str, chunk: u64, members: usize) -> Array<Rack> {
    let level: Level = level.parse().expect("a level");
    let layout = level.lay_out(chunk / SECTOR, &vec![SECTORS; members]).expect("it fits");
    let drive = || Box::new(Flash::new(spec).expect("it is a drive")) as Box<dyn Device>;
    let drives = (0..members).map(|_| drive()).collect();
    Array::new(layout, Rack::new(drives), Driver::default())
}

/// These writes of `bytes` each at these bytes, as many in flight as `depth`.
struct Writes<I> {
    at: I,
    bytes: u64,
    depth: u64,
    in_flight: u64,
}

impl<I: Iterator<Item = u64>> Workload for Writes<I> {
    fn next(&mut self, _now: Nanos) -> Next {
        if self.in_flight == self.depth {
            return Next::Nothing;
        }
        let Some(at) = self.at.next() else { return Next::Nothing };
        self.in_flight += 1;
        Next::Issue(at, Request::write(at / SECTOR, (self.bytes / SECTOR) as u32))
    }

    fn done(&mut self, _now: Nanos, _name: Name) {
        self.in_flight -= 1;
    }
}

/// Bytes a second of such writes to a drive.
fn rate_of(at: impl Iterator<Item = u64>, bytes: u64) -> f64 {
    let outcome = run(&mut steady(), &mut Writes { at, bytes, depth: 32, in_flight: 0 });
    outcome.bytes as f64 * 1e9 / outcome.elapsed_ns as f64
}

/// A place for the run of that number: apart from all others, in no order, on multiples of 64 MiB.
fn place(run: u64) -> u64 {
    (run * 7919 % 50_021) * 64 * MIB
}

/// Bytes a second of `jobs` writers, each in order in a range of its own.
fn writers_rate(device: &mut dyn Device, jobs: u64, bytes: u64, depth: u32, all: u64) -> f64 {
    let span_sectors = device.geometry().target_sectors[0] / jobs / 2048 * 2048;
    let stream = |job| Stream {
        op: Op::WRITE,
        start_sector: job * span_sectors,
        span_sectors,
        block_sectors: (bytes / SECTOR) as u32,
        count: all / jobs / bytes,
        depth,
        ..Stream::default()
    };
    let streams = (0..jobs).map(|job| RunningStream::new(stream(job), job)).collect();
    let outcome = run(device, &mut Jobs::new(streams));
    outcome.bytes as f64 * 1e9 / outcome.elapsed_ns as f64
}

fn random_rate(device: &mut dyn Device, bytes: u64, all: u64) -> f64 {
    let stream = Stream {
        op: Op::WRITE,
        pattern: Pattern::Random,
        span_sectors: device.geometry().target_sectors[0],
        block_sectors: (bytes / SECTOR) as u32,
        count: all / bytes,
        depth: 8,
        ..Stream::default()
    };
    let outcome = run(device, &mut RunningStream::new(stream, 7));
    outcome.bytes as f64 * 1e9 / outcome.elapsed_ns as f64
}

fn assert_near(rate: f64, expected: f64, tolerance: f64, what: &str) {
    let error = rate / expected - 1.0;
    let [rate, expected] = [rate, expected].map(|rate| rate / 1e6);
    assert!(error.abs() < tolerance, "{what}: {rate:.0} MB/s, not {expected:.0}");
}

/// What a data sheet says of a steady drive, at any size of a command: the rate at random, and that in order.
#[test]
fn one_command_at_a_time_meets_the_data_sheet() {
    for bytes in [4 * KIB, 64 * KIB, 256 * KIB, MIB] {
        let all = if bytes < 64 * KIB { 128 * MIB } else { GIB };
        let what = format!("{} KiB", bytes / KIB);
        assert_near(random_rate(&mut steady(), bytes, all), AT_RANDOM, 0.05, &what);
        if bytes > 4 * KIB {
            let in_order = writers_rate(&mut steady(), 1, bytes, 8, GIB);
            assert_near(in_order, IN_ORDER, 0.05, &what);
        }
    }
}

/// A run of 256 KiB costs the same, in however many commands it comes.
#[test]
fn cutting_a_run_makes_it_no_cheaper() {
    for pieces in [1, 2, 4, 16] {
        let bytes = 256 * KIB / pieces;
        let at = (0..6 * GIB / (256 * KIB))
            .flat_map(|run| (0..pieces).map(move |piece| place(run) + piece * bytes));
        assert_near(rate_of(at, bytes), AT_RANDOM, 0.05, &format!("{pieces} pieces"));
    }
}

/// Nor does cutting it over the drives of a stripe: each has the same bytes with any chunk.
#[test]
fn the_chunk_of_a_stripe_is_no_way_around_garbage_collection() {
    for chunk in [16 * KIB, 64 * KIB, 512 * KIB] {
        let rate = random_rate(&mut array("stripe", chunk, 4), MIB, 6 * GIB);
        let what = format!("chunk of {} KiB", chunk / KIB);
        // With one chunk of 512 KiB on a drive, some wait for others.
        assert!(rate < 4.0 * AT_RANDOM * 1.05, "{what}: {:.0} MB/s", rate / 1e6);
        assert!(rate > 4.0 * AT_RANDOM * 0.85, "{what}: {:.0} MB/s", rate / 1e6);
    }
}

/// Blocks that writers in step fill become free together, however many the writers are.
#[test]
fn any_number_of_writers_in_order_is_as_fast() {
    for jobs in [8, 9, 12, 16, 32, 64, 128] {
        for (bytes, all) in [(64 * KIB, GIB), (MIB, 16 * GIB)] {
            let rate = writers_rate(&mut steady(), jobs, bytes, 1, all);
            assert_near(rate, IN_ORDER, 0.08, &format!("{jobs} writers of {} KiB", bytes / KIB));
        }
    }
}

/// Commands that overtake each other fill the same bytes.
#[test]
fn the_order_within_a_run_does_not_count() {
    for window in [2, 8, 32] {
        // Each window backwards, and shuffled.
        let count = GIB / (64 * KIB);
        let backwards = move |index: u64| index / window * window + (window - 1 - index % window);
        let shuffled = move |index: u64| index / window * window + index * 5 % window;
        for at in
            [(0..count).map(backwards).collect::<Vec<_>>(), (0..count).map(shuffled).collect()]
        {
            let rate = rate_of(at.into_iter().map(|block| block * 64 * KIB), 64 * KIB);
            assert_near(rate, IN_ORDER, 0.05, &format!("windows of {window}"));
        }
    }
}

/// Both copies of a RAID 10 are written in order, wherever they lie.
#[test]
fn copies_at_an_offset_cost_flash_no_more_than_near_ones() {
    for (jobs, depth) in [(4, 4), (8, 4), (16, 4)] {
        let rate = |level| {
            let mut array = array(level, 512 * KIB, 2);
            writers_rate(&mut array, jobs, 128 * KIB, depth, 2 * GIB)
        };
        let near = rate("md-raid10");
        for level in ["md-raid10-o2", "md-raid10-f2"] {
            assert_near(rate(level), near, 0.05, &format!("{level}, {jobs} writers"));
        }
    }
}

/// A small log that goes round and round dies in the order in which it was written.
#[test]
fn a_log_that_goes_round_is_written_in_order() {
    let log = 4 * MIB / (64 * KIB);
    let round = (0..GIB / (64 * KIB)).map(|block| 64 * MIB + block % log * 64 * KIB);
    assert_near(rate_of(round, 64 * KIB), IN_ORDER, 0.05, "a log of 4 MiB");
}

/// Writers in order do not make those at random cheaper, nor do these make them dearer: the times add up.
#[test]
fn runs_of_both_kinds_cost_what_each_does() {
    let bytes = 64 * KIB;
    let both = (0..2 * GIB / bytes).map(|block| {
        if block % 2 == 0 { 32 * GIB + block / 2 * bytes } else { 64 * GIB + place(block) }
    });
    let expected = 2.0 / (1.0 / IN_ORDER + 1.0 / AT_RANDOM);
    assert_near(rate_of(both, bytes), expected, 0.05, "half of each");
}

/// Pieces of a run that come late, and what is written again behind its end, as md does with a row that was filled in two
/// parts: the parity of each of its halves, after rows that follow.
#[test]
fn what_is_written_again_behind_the_end_of_a_run_goes_on_with_it() {
    for behind in [1, 4, 32] {
        let rows = GIB / (64 * KIB);
        let again = move |row: u64| {
            let back = (row % 5 == 4 && row >= behind).then(|| row - behind);
            [Some(row), back].into_iter().flatten()
        };
        let rate = rate_of((0..rows).flat_map(again).map(|row| row * 64 * KIB), 64 * KIB);
        assert_near(rate, IN_ORDER, 0.03, &format!("{behind} behind"));
        // The fifth of each five comes so much later.
        let late = move |row: u64| {
            let now = (row % 5 != 4).then_some(row);
            let late = (row % 5 == 4 && row >= 5 * behind).then(|| row - 5 * behind);
            [now, late].into_iter().flatten()
        };
        let rate = rate_of((0..rows).flat_map(late).map(|row| row * 64 * KIB), 64 * KIB);
        assert_near(rate, IN_ORDER, 0.03, &format!("{behind} late"));
    }
}

/// What was written long ago is not: blocks that it leaves behind have other bytes to copy.
#[test]
fn an_old_run_that_is_overwritten_at_random_costs_what_random_writes_do() {
    let blocks = GIB / (64 * KIB);
    let in_order = (0..blocks).map(|block| block * 64 * KIB);
    // Below what it wrote last.
    let old = (0..blocks).map(|block| block * 7919 % (blocks - 512) * 64 * KIB);
    let expected = 2.0 / (1.0 / IN_ORDER + 1.0 / AT_RANDOM);
    assert_near(rate_of(in_order.chain(old), 64 * KIB), expected, 0.03, "an old run");
}

/// 1 MiB at a time into rows that it does not fill whole: md writes the parity of some rows twice.
#[test]
fn writes_in_order_to_a_raid5_cost_no_garbage_at_any_chunk() {
    for chunk in [16, 32, 64, 128, 256, 512] {
        let rate = |amplification| {
            let spec = FlashSpec { write_amplification_percent: amplification, ..spec() };
            writers_rate(&mut array_of(&spec, "md-raid5", chunk * KIB, 4), 1, MIB, 4, GIB)
        };
        assert_near(rate(720), rate(100), 0.01, &format!("chunk of {chunk} KiB"));
    }
}
