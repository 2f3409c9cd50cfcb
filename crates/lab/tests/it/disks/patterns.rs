//! What is written through a layout is what is read back through it, for every layout there is, and
//! with as many members failed as it survives.

use super::support::{Images, rings_allowed};
use block::{LEVELS, Level, Op, Request, SECTOR_BYTES};
use lab::rig::disks::{Engine, Noise};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use uring::Ring;

/// Numbers that look random and are the same in every run (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A volume on image files, and what a part of it should hold.
struct Volume {
    engine: Engine,
    expected: Vec<u8>,
    noise: Noise,
}

impl Volume {
    fn new(level: Level, images: &Images, sectors: u64, used_sectors: u64) -> Self {
        let layout = level.lay_out(8, &vec![sectors; images.paths.len()]).unwrap();
        let open = |path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let ring = Ring::new(images.paths.iter().map(open).collect(), 64).unwrap();
        let used = layout.sectors().min(used_sectors) * SECTOR_BYTES;
        let names = images.paths.iter().map(|path| path.display().to_string()).collect();
        let mut volume = Volume {
            engine: Engine::new(layout, ring, names, true),
            expected: vec![0; used as usize],
            noise: Noise::new(7),
        };
        let all = volume.expected.len() as u64 / SECTOR_BYTES;
        volume.serve(&[Request::write(0, all as u32)]);
        volume
    }

    /// Carries out requests side by side, none of which may touch what another writes.
    fn serve(&mut self, requests: &[Request]) {
        for (tag, request) in (0..).zip(requests) {
            let range = range(request);
            if request.op != Op::Read {
                self.noise.fill(&mut self.expected[range.clone()]);
            }
            let bytes = &self.expected[range];
            let slot = self.engine.accept(*request, |own| own.copy_from_slice(bytes)).unwrap();
            let now = self.engine.now();
            self.engine.start(now, slot, tag).unwrap();
        }
        let mut left: BTreeMap<u64, Request> = (0..).zip(requests.iter().copied()).collect();
        while !left.is_empty() {
            let expected = &self.expected;
            self.engine
                .wait(None, |ended| {
                    let request = left.remove(&ended.tag).expect("each comes back once");
                    assert!(ended.bytes == &expected[range(&request)], "{request:?}");
                })
                .unwrap();
        }
    }

    /// Batches of requests on distinct parts of the volume, half of them writes.
    fn churn(&mut self, batches: usize, random: &mut Random) {
        let sectors = self.expected.len() as u64 / SECTOR_BYTES;
        for _ in 0..batches {
            let (mut batch, mut sector) = (Vec::new(), random.below(16));
            while sector < sectors {
                let count = (1 + random.below(40)).min(sectors - sector) as u32;
                let read = random.below(2) == 0;
                let request =
                    if read { Request::read(sector, count) } else { Request::write(sector, count) };
                batch.push(request);
                sector = request.end() + random.below(24);
            }
            self.serve(&batch);
        }
    }

    fn read_all(&mut self) {
        let sectors = self.expected.len() as u64 / SECTOR_BYTES;
        self.serve(&[Request::read(0, sectors as u32)]);
        let pieces: Vec<Request> =
            (0..sectors / 3).map(|piece| Request::read(3 * piece, 3)).collect();
        self.serve(&pieces);
    }
}

fn range(request: &Request) -> std::ops::Range<usize> {
    (request.sector * SECTOR_BYTES) as usize..(request.end() * SECTOR_BYTES) as usize
}

/// Sets of members that the level survives the loss of.
fn survivable(level: Level) -> &'static [&'static [u32]] {
    let name = level.name;
    if name.contains("raid6") || name.ends_with('3') {
        &[&[], &[1], &[0, 3]]
    } else if name == "mirror" || name == "md-mirror" {
        &[&[], &[2], &[0, 1, 3]]
    } else if ["raid", "mirror"]
        .iter()
        .any(|word| name.trim_start_matches("raidframe-").contains(word))
    {
        &[&[], &[0], &[2]]
    } else {
        &[&[]]
    }
}

#[test]
fn what_was_written_is_read_in_every_layout_also_degraded() {
    if !rings_allowed() {
        return;
    }
    let mut random = Random(1);
    // btrfs takes no members as small as these; the test below has them. Arrays side by side are refused.
    let run = |level: &&Level| level.member_sectors_min() == 0 && level.nested().is_none();
    for &level in LEVELS.iter().filter(run) {
        let count = if level.name == "single" { 1 } else { 4 };
        // md keeps at least 1 MiB in front of the volume.
        let sectors = if level.name.starts_with("md-") { 4096 + 320 } else { 320 };
        for failed in survivable(level) {
            let images = Images::new(&vec![sectors; count]);
            let mut volume = Volume::new(level, &images, sectors, 700);
            volume.churn(6, &mut random);
            volume.read_all();
            let before = images.bytes();
            failed.iter().for_each(|&member| volume.engine.fail(member));
            volume.read_all();
            volume.churn(6, &mut random);
            volume.read_all();
            let after = images.bytes();
            for &member in *failed {
                let member = member as usize;
                assert!(before[member] == after[member], "{level} touched failed member {member}");
            }
        }
    }
}

/// Large members, hardly any of which is used, and in several chunks.
#[test]
fn what_was_written_is_read_on_btrfs_also_degraded() {
    if !rings_allowed() {
        return;
    }
    let mut random = Random(3);
    let is_required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    let levels = LEVELS.iter().filter(|level| level.name.starts_with("btrfs-"));
    for level in levels.filter(|level| is_required || level.name == "btrfs-raid5") {
        let sectors = level.member_sectors_min() + 777;
        let images = Images::new(&[sectors; 4]);
        let mut volume = Volume::new(*level, &images, sectors, 700);
        volume.churn(6, &mut random);
        (0..level.losses_survived(4) as u32).for_each(|member| volume.engine.fail(member));
        volume.read_all();
        volume.churn(6, &mut random);
        volume.read_all();
    }
}

#[test]
fn the_members_hold_what_the_map_says_and_parity_is_real() {
    if !rings_allowed() {
        return;
    }
    let images = Images::new(&[64; 4]);
    let level: Level = "raid5".parse().unwrap();
    let mut volume = Volume::new(level, &images, 64, 192);
    volume.churn(10, &mut Random(2));
    let members = images.bytes();
    for sector in 0..192 {
        let mut places = Vec::new();
        volume.engine.layout().places(sector, &mut places);
        let start = places[0].sector as usize * 512;
        let there = &members[places[0].member as usize][start..start + 512];
        assert!(there == &volume.expected[range(&Request::read(sector, 1))], "sector {sector}");
    }
    for byte in 0..64 * 512 {
        let sum = members.iter().fold(0, |sum, member| sum ^ member[byte]);
        assert_eq!(sum, 0, "the members' bytes at {byte} cancel out");
    }
}

#[test]
fn too_many_failures_are_an_error_that_names_the_member() {
    if !rings_allowed() {
        return;
    }
    let images = Images::new(&[64; 3]);
    let mut volume = Volume::new("raid5".parse().unwrap(), &images, 64, 128);
    volume.engine.fail(0);
    volume.engine.fail(1);
    let job = volume.engine.accept(Request::read(0, 128), |_| {}).unwrap();
    volume.engine.start(volume.engine.now(), job, 0).unwrap();
    let error = volume.engine.wait(None, |_| {}).unwrap_err().to_string();
    assert!(error.contains("has failed, and nothing else holds"), "{error}");
    assert!(error.contains(".img"), "{error}");
}

/// A member that can no longer be read is taken out of service, and what it held is still read right.
#[test]
fn a_member_that_fails_in_service_is_done_without() {
    if !rings_allowed() {
        return;
    }
    let mut random = Random(3);
    for name in ["mirror", "raid10", "raid4", "raid5", "raid6"] {
        let images = Images::new(&[320; 4]);
        let mut volume = Volume::new(name.parse().unwrap(), &images, 320, 700);
        volume.churn(4, &mut random);
        assert!(volume.engine.failure().is_none());
        OpenOptions::new().write(true).open(&images.paths[1]).unwrap().set_len(0).unwrap();
        volume.churn(6, &mut random);
        volume.read_all();
        let failure = volume.engine.failure().expect("it was read").to_string();
        assert!(failure.contains("member 1 (") && failure.contains("1.img) failed"), "{failure}");
        assert!(failure.contains("start a new run with `--failed 1`"), "{failure}");
        volume.churn(6, &mut random);
        volume.read_all();
    }
}

#[test]
fn a_member_that_fails_where_nothing_stands_in_for_it_is_an_error() {
    if !rings_allowed() {
        return;
    }
    let images = Images::new(&[320; 4]);
    let mut volume = Volume::new("stripe".parse().unwrap(), &images, 320, 700);
    OpenOptions::new().write(true).open(&images.paths[2]).unwrap().set_len(0).unwrap();
    let job = volume.engine.accept(Request::read(0, 700), |_| {}).unwrap();
    volume.engine.start(volume.engine.now(), job, 0).unwrap();
    let error = loop {
        if let Err(error) = volume.engine.wait(None, |_| {}) {
            break error.to_string();
        }
    };
    assert!(error.contains("2.img) failed: Read of"), "{error}");
    assert!(error.ends_with("the level has no redundancy for it"), "{error}");
}
