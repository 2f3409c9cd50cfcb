//! Shingled disks: what the model claims. The contract is in `contract.rs`.

use crate::common::drives;
use block::Op;
use sim::smr::{SmrError, SmrSpec};
use sim::workload::{Pattern, RunningStream, Stream};
use sim::{Advance, Counters, Device, Nanos, Outcome, Part, Shelf, Smr, run};

const SECTORS: u64 = 3_890_000;
const BAND: u64 = 2048;
const ENTRIES: u64 = 1900;

/// The plain drive with a write cache: 1900 bands of 1 MiB, and a media cache that keeps as many writes.
fn shingled(change: impl Fn(&mut SmrSpec)) -> Smr<Shelf> {
    let mut disk = drives::spec();
    disk.controller.write_buffer_sectors = 4096;
    let mut spec = SmrSpec {
        sectors: SECTORS,
        band_sectors: BAND,
        cache_sectors: 100_000,
        cache_entries: ENTRIES,
        entry_sectors: 8,
        header_sectors: 8,
        copies_first: true,
        stream_sectors: 256,
        streams: 4,
        idle_ns: 500_000_000,
        clean_ns: 400_000_000,
        is_filled: true,
    };
    change(&mut spec);
    Smr::new(drives::shelf(1, &disk, 100_000_000), &spec, 3).unwrap()
}

fn play(device: &mut dyn Device, pattern: Pattern, op: Op, sectors: u32, count: u64) -> Outcome {
    let stream = Stream {
        op,
        pattern,
        span_sectors: SECTORS,
        block_sectors: sectors,
        depth: 1,
        count,
        ..Stream::default()
    };
    run(device, &mut RunningStream::new(stream, 7))
}

fn per_second(outcome: &Outcome) -> f64 {
    outcome.requests as f64 * 1e9 / outcome.elapsed_ns as f64
}

fn deferred(device: &dyn Device) -> u64 {
    let mut counters = Counters::default();
    device.count(&mut counters);
    counters.targets[0].deferred
}

/// In the long run a write waits for the share of a band that is rewritten for it: each band is rewritten for its
/// oldest write, and as many of those that came since as fall on a band by chance.
#[test]
fn random_writes_fall_from_appending_to_cleaning() {
    let mut clean = shingled(|spec| spec.is_filled = false);
    let appended = play(&mut clean, Pattern::Random, Op::WRITE, 8, ENTRIES);
    assert!(per_second(&appended) > 300.0, "{} appends a second", per_second(&appended));
    assert_eq!(deferred(&clean), ENTRIES);

    let turns = BAND as f64 / 186.0;
    let pass_s = turns * 223.0 / 186.0 * drives::TURN as f64 / 1e9;
    let writes_of_a_band = 1.0 + ENTRIES as f64 / (SECTORS / BAND) as f64;
    // Three passes, and for each and each write a seek and half a turn.
    let band_s = 3.0 * pass_s + (3.0 + writes_of_a_band) * 0.012;
    let expected = writes_of_a_band / band_s;
    for count in [ENTRIES / 4, ENTRIES, 4 * ENTRIES] {
        let mut filled = shingled(|_| ());
        let rate = per_second(&play(&mut filled, Pattern::Random, Op::WRITE, 8, count));
        assert!((rate / expected - 1.0).abs() < 0.12, "{rate} writes a second, not {expected}");
        assert_eq!(deferred(&filled), 0, "it was full before");
    }
}

/// The time of such writes is the time of rewriting bands, and without the copy they take two thirds of it.
#[test]
fn what_writes_wait_for_is_said() {
    let mut filled = shingled(|_| ());
    let outcome = play(&mut filled, Pattern::Random, Op::WRITE, 8, 500);
    let cleaning = outcome.spent_ns[Part::CLEANING.index()] as f64;
    assert!(cleaning > 0.95 * outcome.elapsed_ns as f64);
    let moved = per_second(&play(
        &mut shingled(|spec| spec.copies_first = false),
        Pattern::Random,
        Op::WRITE,
        8,
        500,
    ));
    let ratio = moved / per_second(&outcome);
    assert!((1.35..1.6).contains(&ratio), "{ratio}");
}

/// What is written in order goes to its bands, at the rate of the disk below, however full the media cache is.
#[test]
fn streams_pass_a_full_media_cache() {
    let mut disk = drives::spec();
    disk.controller.write_buffer_sectors = 4096;
    let mut below = drives::shelf(1, &disk, 100_000_000);
    let plain = per_second(&play(&mut below, Pattern::Sequential, Op::WRITE, 256, 4000));
    let shingled =
        per_second(&play(&mut shingled(|_| ()), Pattern::Sequential, Op::WRITE, 256, 4000));
    assert!((shingled / plain - 1.0).abs() < 0.05, "{shingled} of {plain} writes a second");
}

/// Idle time empties the media cache, band by band.
#[test]
fn idle_time_empties_the_media_cache() {
    let left_after = |idle_ns: Nanos| {
        let mut drive = shingled(|spec| spec.is_filled = false);
        let written = play(&mut drive, Pattern::Random, Op::WRITE, 8, ENTRIES);
        let now = written.elapsed_ns + idle_ns;
        drive.advance(now, &mut Vec::new());
        drive.submit(now, 0, block::Request::read(0, 8));
        drive.advance(u64::MAX, &mut Vec::new());
        deferred(&drive)
    };
    assert_eq!(left_after(500_000_000), ENTRIES);
    let later = left_after(500_000_000 + 200 * 400_000_000);
    assert!((ENTRIES / 2..ENTRIES - 200).contains(&later), "{later}");
    assert_eq!(left_after(3600 * 1_000_000_000), 0);
}

/// What was overwritten at random is read in pieces.
#[test]
fn reads_in_order_are_cut_by_random_writes() {
    let rate = |is_filled| {
        let mut drive = shingled(|spec| (spec.is_filled, spec.cache_entries) = (is_filled, 6000));
        per_second(&play(&mut drive, Pattern::Sequential, Op::Read, 256, 4000))
    };
    let [clean, filled] = [rate(false), rate(true)];
    assert!(filled < 0.8 * clean, "{filled} of {clean} reads a second");
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut SmrSpec)| {
        let shelf = drives::shelf(1, &drives::spec(), 100_000_000);
        let mut spec = SmrSpec {
            sectors: 3_000_000,
            band_sectors: BAND,
            cache_sectors: 100_000,
            cache_entries: 100,
            entry_sectors: 8,
            header_sectors: 0,
            copies_first: true,
            stream_sectors: 256,
            streams: 4,
            idle_ns: 0,
            clean_ns: 1,
            is_filled: false,
        };
        change(&mut spec);
        Smr::new(shelf, &spec, 0).err()
    };
    assert_eq!(refused(|_| ()), None);
    assert_eq!(refused(|spec| spec.band_sectors = 0), Some(SmrError::Band));
    assert_eq!(refused(|spec| spec.cache_sectors = 4 * BAND), Some(SmrError::Cache));
    assert_eq!(refused(|spec| spec.entry_sectors = 0), Some(SmrError::Entries));
    assert_eq!(refused(|spec| spec.sectors = u64::MAX), Some(SmrError::Disk));
    assert_eq!(refused(|spec| spec.clean_ns = 0), Some(SmrError::Clean));
}
