//! Reads from md's copies of three and four members while one is restored, held to a real kernel on the same modelled drives.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};
use std::fmt::Write as _;

const CELLS: &str = include_str!("../data/md/rebuilds.csv");
const FAR: &str = include_str!("../data/md/far_rebuilds.csv");

/// By how much the load, and the share that is restored meanwhile, may be off.
const ERROR_MAX: [f64; 2] = [0.05, 0.10];
/// Where they are off by more (docs/md.md): which of two survivors reads, seconds that have begun, and what is restored at once
/// before the load comes.
const OFF: [(&str, [f64; 2]); 5] = [
    ("st16000nm001g,3,md-mirror,3,150,", [0.07, 0.11]),
    ("wd121kryz,4,md-mirror,3,150,", [0.08, 0.14]),
    ("st16000nm001g,4,md-raid10-n3,1,40,", [0.05, 0.13]),
    ("wd121kryz,4,md-raid10-n3,1,40,", [0.05, 0.13]),
    ("wd121kryz,4,md-raid10-n3,3,40,", [0.05, 0.68]),
];

/// Likewise of [`FAR`]: how often the thread sleeps in 20 s, and the load runs alone, turns on a few percent of its pace.
const FAR_OFF: (&str, [f64; 2]) = ("6xst18000nm000j,md-raid10-f2,0,200,1MiB,1,", [0.25, 0.21]);

/// By how often the kernel's the load and the share restored of an experiment are.
fn ratios(text: &str, kernel: [&str; 2]) -> [f64; 2] {
    let experiment = Experiment::parse("x.toml", text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    let sample = |name| ran.records()[0].sample(name).unwrap();
    let kernel = kernel.map(|value| value.parse::<f64>().unwrap());
    [sample("mb_per_s") / kernel[0], sample("rebuilt_share") / kernel[1]]
}

/// Each piece that md restores counts as a command in flight of every member of a RAID 1. Where it counted only on the member that it
/// is read from, reads avoided that one: three disks at 150 MB/s read at 1.95 times the kernel's rate, and half as much was restored.
#[test]
fn reads_of_copies_that_are_restored_are_the_kernels() {
    let is_required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    let mut beyond = String::new();
    for line in CELLS.lines().skip(2).step_by(if is_required { 1 } else { 3 }) {
        let [drive, members, level, depth, rebuild, count, rate, share] =
            line.split(',').collect::<Vec<_>>().try_into().expect("eight columns");
        let text = format!(
            "run.repeats = 1\n[volume]\ndrives = '{members}x{drive}:40GiB'\nlevel = '{level}'\ninterleave = '512KiB'\nfailed = '2'\n\
             rebuild = '{rebuild}MB/s'\n[workload.w]\nkind = 'random'\nop = 'read'\nblock = '64KiB'\ndepth = {depth}\n\
             count = {count}\n"
        );
        let ratios = ratios(&text, [rate, share]);
        let off = OFF.iter().find(|(start, _)| line.starts_with(start));
        let most = off.map_or(ERROR_MAX, |&(_, most)| most);
        if ratios.iter().zip(most).any(|(ratio, most)| (ratio - 1.0).abs() > most) {
            writeln!(beyond, "{line}: {ratios:.3?} times the kernel's, at most {most:?} off")
                .unwrap();
        }
    }
    assert!(beyond.is_empty(), "{beyond}");
}

/// A read is planned part by part: a far copy that is not restored yet does not keep other parts from the member, which has their near
/// copies. Where it did, six disks lost a revolution with each request for good, and read at 0.16 times the kernel's rate.
#[test]
fn reads_in_order_of_far_copies_that_are_restored_are_the_kernels() {
    let mut beyond = String::new();
    for line in FAR.lines().skip(2) {
        let [drives, level, failed, rebuild, block, depth, count, rate, share] =
            line.split(',').collect::<Vec<_>>().try_into().expect("nine columns");
        let text = format!(
            "run.repeats = 1\n[volume]\ndrives = '{drives}:8GiB'\nlevel = '{level}'\nfailed = '{failed}'\nrebuild = '{rebuild}MB/s'\n\
             [drive]\nwrite_cache = false\n[workload.w]\nkind = 'sequential'\nop = 'read'\nblock = '{block}'\ndepth = {depth}\n\
             count = {count}\n"
        );
        let ratios = ratios(&text, [rate, share]);
        let most = if line.starts_with(FAR_OFF.0) { FAR_OFF.1 } else { ERROR_MAX };
        if ratios.iter().zip(most).any(|(ratio, most)| (ratio - 1.0).abs() > most) {
            writeln!(beyond, "{line}: {ratios:.3?} times the kernel's, at most {most:?} off")
                .unwrap();
        }
    }
    assert!(beyond.is_empty(), "{beyond}");
}
