//! The kernel is the judge of the layouts: what it reads for each sector of a volume is where they say.

use super::kernel::{has_kernel, write};
use super::{scratch, skipped, stdout, takes_long};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How many places each of them is asked.
const READS: u64 = 500;

/// The levels whose maps are held to the kernel.
const HELD: [&str; 19] = [
    "md-stripe",
    "md-raid4",
    "md-raid5",
    "md-raid5-left-asymmetric",
    "md-raid5-right-symmetric",
    "md-raid5-right-asymmetric",
    "md-raid6",
    "md-raid6-left-asymmetric",
    "md-raid6-right-asymmetric",
    "md-raid50-2",
    "md-raid60-2",
    "md-raid10",
    "md-raid10-n3",
    "md-raid10-f2",
    "md-raid10-o2",
    "dm-stripe",
    "lvm-stripe",
    "lvm-raid5",
    "lvm-raid10",
];

/// The kernel is the judge of the layouts: what it reads for each sector of a volume is where they say. Each level is asked
/// of a geometry that a fixed seed draws.
#[test]
fn sectors_are_where_the_layouts_say() {
    if takes_long() {
        return;
    }
    if !has_kernel() {
        return;
    }
    let has_lvm = Path::new("/usr/sbin/lvcreate").exists();
    if !has_lvm {
        skipped("levels of LVM: there is no lvcreate; install the package lvm2");
    }
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % bound
    };
    let mut text = String::new();
    let mut geometries = std::collections::BTreeMap::new();
    for (number, name) in HELD.iter().enumerate() {
        let level = name.parse::<block::Level>().unwrap();
        let least = level.members_min().max(3) as u64;
        let mut drives = least + draw(8_u64.saturating_sub(least).max(1));
        // Groups have as many members each.
        drives += if level.nested().is_some() { drives % 2 } else { 0 };
        // LVM pairs its members.
        drives += if *name == "lvm-raid10" { drives % 2 } else { 0 };
        let chunk_kib = 4 << draw(4);
        // A stripe of md need not be a power of two.
        let chunk_kib = if *name == "md-stripe" { 4 * (1 + draw(10)) } else { chunk_kib };
        if name.starts_with("lvm-") && !has_lvm {
            continue;
        }
        geometries.insert(format!("w{number}"), (level, chunk_kib * 2, drives as usize));
        // Each goes through all rotations of parity.
        writeln!(
            text,
            "workload.w{number} = {{ kind = \"sequential\", block = \"4KiB\", count = {READS}, volume.level = \"{name}\", \
             volume.drives = \"{drives}xmd-hdd:1GiB\", volume.interleave = \"{chunk_kib}KiB\" }}"
        )
        .unwrap();
    }
    let here = scratch();
    let file = write(here.path(), &text);
    stdout(here.path(), &["run", &file, "--on", "kernel", "--keep-trace", "--out", "k"]);
    let trials = fs::read_to_string(here.path().join("k/trials.jsonl")).unwrap();
    assert_eq!(trials.lines().count(), geometries.len());
    for trial in trials.lines() {
        let trial: Json = serde_json::from_str(trial).unwrap();
        let name = format!("k/kept/trial-{}-blocks.csv", trial["trial"]);
        let trace = fs::read_to_string(here.path().join(name)).unwrap();
        let (level, interleave, drives) = geometries[trial["workload"].as_str().unwrap()];
        let agree = compared(level.name, interleave, drives, &trace);
        assert_eq!(agree, READS, "{level} {interleave} {drives}");
    }
}

/// How many reads of 4 KiB in order, as the drives saw them, are where the layout says; panics at the first that is not.
/// Where md's data begin on a member is taken from the first.
fn compared(level: &str, interleave: u64, drives: usize, trace: &str) -> u64 {
    let layout = level.parse::<block::Level>().unwrap();
    let layout = layout.lay_out(interleave, &vec![2 << 20; drives]).unwrap();
    let mut data_offset = None;
    let reads = trace.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let mut number = 0;
    for read in reads.filter(|words| words[2] == "R" && words[4] == "8") {
        let (drive, sector): (u32, u64) = (read[1].parse().unwrap(), read[3].parse().unwrap());
        let mut places = Vec::new();
        layout.places(8 * number, &mut places);
        let own = places.iter().find(|place| place.member == drive);
        let own = own.unwrap_or_else(|| {
            panic!(
                "{level} {interleave}: sector {} is read from drive {drive}, not {places:?}",
                8 * number
            )
        });
        let offset = sector.checked_sub(own.sector).expect("md's data are behind its superblock");
        assert!(offset == 0 || level.starts_with("md-"), "{level}: {offset} sectors too far");
        assert_eq!(
            *data_offset.get_or_insert(offset),
            offset,
            "{level} {interleave}: sector {}",
            8 * number
        );
        number += 1;
    }
    number
}
