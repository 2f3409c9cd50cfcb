//! Rotating disks probed by reads alone: modelled ones, whose truth is known, and what does not rotate.

use lab::Result;
use lab::catalogue::{self, Drive};
use lab::probe::{self, Disk, Modelled, Policy, Probed, Timed, fit, probe};
use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use sim::drive::{DriveSpec, Keeps, Platters, ReadAheadPolicy, Sending, seek_table};

/// Disks of four decades: old ones as measured, one of 18 TB from its data sheet.
const DISKS: [&str; 5] = ["st41601n", "c3323a", "qm39100td-sw", "st39102lw", "st18000nm000j"];

fn known(name: &str) -> (Drive, DriveSpec) {
    let drive = catalogue::drive(name).unwrap();
    let spec = drive.disk().unwrap().spec().unwrap();
    (drive, spec)
}

fn probed(name: &str) -> (DriveSpec, Probed) {
    let (drive, spec) = known(name);
    let mut disk = Modelled::new(&drive, 1_234_567).unwrap();
    (spec, probe(&mut disk, &mut |_| {}).unwrap())
}

/// The first sector of each zone that holds any.
fn borders(platters: &Platters, zones: usize) -> Vec<u64> {
    let first = |zone: usize| {
        let (mut before, mut within) = (0, platters.sectors() - 1);
        while zone > 0 && within - before > 1 {
            let middle = u64::midpoint(before, within);
            if platters.zone(middle) < zone { before = middle } else { within = middle }
        }
        if zone == 0 { 0 } else { within }
    };
    (0..zones)
        .take_while(|&zone| zone <= platters.zone(platters.sectors() - 1))
        .map(first)
        .collect()
}

#[test]
fn revolution_and_zones_are_found_exactly() {
    for name in DISKS {
        let (spec, probed) = probed(name);
        let found = &probed.found;
        let off = found.revolution_ns - spec.platters.revolution_ns as f64;
        assert!(off.abs() < 0.01, "{name}: {off} ns");
        let platters = Platters::new(&spec.platters).unwrap();
        let starts: Vec<u64> = found.zones.iter().map(|zone| zone.first_lba).collect();
        assert_eq!(starts, borders(&platters, spec.platters.zones.len()), "{name}");
        for (zone, truth) in found.zones.iter().zip(&spec.platters.zones) {
            assert_eq!(zone.heads, Some(spec.platters.heads), "{name}: {zone:?}");
            let is = [zone.sectors_per_track, zone.track_skew_sectors, zone.cylinder_skew_sectors];
            let was = [truth.slots_per_track, truth.track_skew_slots, truth.cylinder_skew_slots];
            assert_eq!(is, was, "{name}: {zone:?}");
        }
    }
}

/// From the command to the first sector, within 12 us and 1.5 % at each distance: the last step of the halving, and
/// cylinders between zones that no sector shows.
#[test]
fn the_time_to_reach_a_sector_is_found_at_each_distance() {
    for name in DISKS {
        let (spec, probed) = probed(name);
        let platters = Platters::new(&spec.platters).unwrap();
        let table = seek_table(&spec.seek, platters.cylinders()).unwrap();
        let controller = &spec.controller;
        let sector_ns = 512e9 / controller.interface_bytes_per_s as f64;
        let overhead_ns =
            controller.read_miss_overhead_ns + controller.firmware.overheads.read_completion_ns;
        let found = &probed.found.seeks.cylinders;
        assert!(found.len() > 25, "{name}: {}", found.len());
        for &(distance, ns) in found {
            let seek = u64::from(table[distance as usize]).max(spec.command_settle_ns);
            let truth = (overhead_ns + seek) as f64 + sector_ns;
            let off = (ns - truth).abs();
            assert!(off < 12_000.0 + truth / 65.0, "{name}: {distance}: {ns} for {truth}");
        }
    }
}

#[test]
fn what_the_buffer_does_is_found() {
    for name in DISKS {
        let (spec, probed) = probed(name);
        let (found, truth) = (&probed.found.buffer, &spec.controller);
        assert_eq!(found.segments, Some(truth.segments), "{name}");
        assert_eq!(found.segment_sectors, truth.segment_sectors, "{name}");
        assert_eq!(found.read_ahead_sectors, truth.read_ahead_sectors, "{name}");
        let policy = match truth.firmware.read_ahead {
            ReadAheadPolicy::Beyond => Policy::Beyond,
            ReadAheadPolicy::UntilFull => Policy::UntilFull,
            ReadAheadPolicy::SequentialTracks => Policy::SequentialTracks,
            ReadAheadPolicy::TrackEnd => Policy::TrackEnd,
            ReadAheadPolicy::WholeTrack => Policy::WholeTrack,
        };
        assert_eq!(found.policy, policy, "{name}");
        assert_eq!(found.keeps_everything, truth.firmware.keeps == Keeps::Everything, "{name}");
        assert_eq!(found.sends_whole, Some(truth.firmware.sending == Sending::Whole), "{name}");
        assert_eq!(found.zero_latency, truth.zero_latency, "{name}");
        let hit = truth.read_hit_overhead_ns + truth.firmware.overheads.read_completion_ns;
        assert!((found.hit_ns - hit as f64).abs() < 10.0, "{name}: {}", found.hit_ns);
        let sector_ns = 512e9 / truth.interface_bytes_per_s as f64;
        assert!((found.bus_sector_ns.unwrap() / sector_ns - 1.0).abs() < 1e-3, "{name}");
    }
}

/// With another policy than its own, so that each of them is found.
#[test]
fn each_way_to_read_ahead_is_told_from_the_others() {
    let (_, text) = catalogue_file("st39102lw");
    for (word, policy, zero_latency) in [
        ("until-full", Policy::UntilFull, true),
        ("track-end", Policy::TrackEnd, false),
        ("whole-track", Policy::WholeTrack, false),
    ] {
        let keeps = "keeps = { value = \"ahead\"";
        assert!(text.contains(keeps));
        let figures = format!(
            "read_ahead_policy = {{ value = \"{word}\", kind = \"estimate\", source = \"trace\" }}\n\
             zero_latency = {{ value = {zero_latency}, kind = \"estimate\", source = \"trace\" }}\n\
             keeps = {{ value = \"everything\""
        );
        let drive = catalogue::drive_from("x.toml", &text.replace(keeps, &figures)).unwrap();
        let found = probe(&mut Modelled::new(&drive, 0).unwrap(), &mut |_| {}).unwrap().found;
        assert_eq!(found.buffer.policy, policy);
        assert_eq!(found.buffer.zero_latency, zero_latency, "{word}");
        assert!(found.buffer.keeps_everything, "{word}");
        let segment = found.buffer.segment_sectors;
        assert!(policy != Policy::UntilFull || segment == 561, "{word}: {segment}");
    }
}

fn catalogue_file(name: &str) -> (String, String) {
    let path = format!("{}/../../drives/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Means and 99th percentiles of 20,000 random reads, each after a pause; ms.
fn random_reads(drive: &Drive, phase_ns: u64) -> [f64; 2] {
    let mut disk = Modelled::new(drive, phase_ns).unwrap();
    let mut random = Pcg64Mcg::new(7);
    let (mut at, unit) = (0, u64::from(disk.unit()));
    let mut times: Vec<u64> = (0..20_000)
        .map(|_| {
            let lba = random.next_u64() % (disk.sectors() / unit) * unit;
            let timed = disk.read(at, lba, disk.unit()).unwrap();
            at = timed.done + random.next_u64() % 10_000_000;
            timed.service()
        })
        .collect();
    times.sort_unstable();
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    [mean / 1e6, times[times.len() * 99 / 100] as f64 / 1e6]
}

#[test]
fn the_fitted_disk_predicts_the_true_one() {
    for name in DISKS {
        let (_, probed) = probed(name);
        let fit = fit("x.toml", &probed, None).unwrap();
        let truth = random_reads(&known(name).0, 0);
        let fitted = random_reads(&fit.drive, 3_333_333);
        for (is, was) in fitted.iter().zip(truth) {
            assert!((is / was - 1.0).abs() < 0.01, "{name}: {fitted:?} for {truth:?}");
        }
        assert_eq!(fit.checks.len(), 4, "{name}");
        // In order, read-ahead and skews decide: the pace is the true one.
        for check in &fit.checks[1..] {
            let [measured, modelled] = check.mean_ms;
            assert!((modelled / measured - 1.0).abs() < 0.001, "{name}: {check:?}");
        }
        let read = probe::read("probe.json", &probed.json()).unwrap().unwrap();
        assert_eq!(read, probed, "{name}");
    }
}

/// A disk of which each read comes late by up to 20 us, and one of a thousand by 2 ms, as on a host with other work.
struct Disturbed {
    disk: Modelled,
    random: Pcg64Mcg,
}

impl Disk for Disturbed {
    fn name(&self) -> &str {
        self.disk.name()
    }

    fn sectors(&self) -> u64 {
        self.disk.sectors()
    }

    fn unit(&self) -> u32 {
        self.disk.unit()
    }

    fn read(&mut self, not_before: u64, lba: u64, sectors: u32) -> Result<Timed> {
        let timed = self.disk.read(not_before, lba, sectors)?;
        let held_up = if self.random.next_u64().is_multiple_of(1000) { 2_000_000 } else { 0 };
        Ok(Timed { done: timed.done + held_up + self.random.next_u64() % 20_000, ..timed })
    }
}

#[test]
fn a_host_that_disturbs_moves_no_border() {
    for name in ["st41601n", "c3323a", "qm39100td-sw", "st18000nm000j"] {
        let (drive, spec) = known(name);
        let disk = Modelled::new(&drive, 1_234_567).unwrap();
        let probed = probe(&mut Disturbed { disk, random: Pcg64Mcg::new(1) }, &mut |_| {}).unwrap();
        let found = &probed.found;
        let off = found.revolution_ns / spec.platters.revolution_ns as f64 - 1.0;
        assert!(off.abs() < 10e-6, "{name}: {off}");
        let platters = Platters::new(&spec.platters).unwrap();
        let starts: Vec<u64> = found.zones.iter().map(|zone| zone.first_lba).collect();
        assert_eq!(starts, borders(&platters, spec.platters.zones.len()), "{name}");
        let tracks = found.zones.iter().map(|zone| zone.sectors_per_track);
        assert!(tracks.eq(spec.platters.zones.iter().map(|zone| zone.slots_per_track)), "{name}");
        let fit = fit("x.toml", &probed, None).unwrap();
        let [truth, fitted] = [random_reads(&drive, 0), random_reads(&fit.drive, 3_333_333)];
        assert!((fitted[0] / truth[0] - 1.0).abs() < 0.01, "{name}: {fitted:?} for {truth:?}");
        assert!((fitted[1] / truth[1] - 1.0).abs() < 0.015, "{name}: {fitted:?} for {truth:?}");
    }
}

/// Something whose reads take as long as they take.
struct Unmoved {
    now: u64,
    times: Box<dyn FnMut() -> u64>,
}

impl Disk for Unmoved {
    fn name(&self) -> &'static str {
        "unmoved"
    }

    fn sectors(&self) -> u64 {
        1 << 24
    }

    fn unit(&self) -> u32 {
        8
    }

    fn read(&mut self, not_before: u64, _: u64, _: u32) -> Result<Timed> {
        let issued = not_before.max(self.now);
        self.now = issued + (self.times)();
        Ok(Timed { issued, done: self.now })
    }
}

#[test]
fn what_does_not_rotate_is_refused() {
    let refused = |times: Box<dyn FnMut() -> u64>| {
        let error = probe(&mut Unmoved { now: 0, times }, &mut |_| {}).unwrap_err();
        error.to_string()
    };
    let flash = refused(Box::new(|| 80_000));
    assert!(
        flash.starts_with("unmoved: it does not rotate: ") && flash.contains("80 us"),
        "{flash}"
    );
    let mut random = Pcg64Mcg::new(1);
    let network = refused(Box::new(move || 2_000_000 + random.next_u64() % 20_000_000));
    assert!(network.contains("does not rotate") && network.contains("period"), "{network}");
}
