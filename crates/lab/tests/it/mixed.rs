//! Copies of md on disks and flash drives together, held to a real kernel on the same modelled drives.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};
use std::fmt::Write as _;

const CELLS: &str = include_str!("../data/md/mixed.csv");

/// By how much the rate may be off. Who reads from a plain mirror reads where fewest wait, also from a disk: each request that goes
/// there counts, and which do differs.
fn error_max(level: &str, write_mostly: &str) -> f64 {
    match (level, write_mostly) {
        ("md-mirror", "none") => 0.12,
        ("md-raid10", _) => 0.05,
        _ => 0.02,
    }
}

/// One disk made the kernel rig take all members for disks, and the model take RAID 10's copies from disks, too: half the rate.
#[test]
fn copies_on_disks_and_flash_drives_are_read_as_the_kernel_reads_them() {
    let lines: Vec<&str> = CELLS.lines().skip(2).collect();
    // The seed of a workload follows from its place among all.
    let mut text = String::from("run.repeats = 1\nvolume.drives = '2xst18000nm000j'\n");
    for (number, line) in lines.iter().enumerate() {
        let [drives, level, write_mostly, depth, reads, _] = columns(line);
        writeln!(
            text,
            "workload.c{number} = {{ kind = 'random', reads_percent = {reads}, block = '16KiB', depth = {depth}, count = 3000, \
             volume.drives = '{drives}', volume.level = '{level}', volume.write_mostly = '{write_mostly}' }}"
        )
        .unwrap();
    }
    let ran = run(&Experiment::parse("x.toml", &text).unwrap(), &Sim, Keep::Nowhere, &mut |_| ());
    let ran = ran.unwrap();
    assert_eq!(ran.records().len(), lines.len());
    let mut beyond = String::new();
    for record in ran.records() {
        let line = lines[record.workload[1..].parse::<usize>().unwrap()];
        let [_, level, write_mostly, _, _, rate] = columns(line);
        let ratio = record.sample("mb_per_s").unwrap() / rate.parse::<f64>().unwrap();
        let most = error_max(level, write_mostly);
        if (ratio - 1.0).abs() > most {
            writeln!(beyond, "{line}: {ratio:.3} times the kernel's, at most {most} off").unwrap();
        }
    }
    assert!(beyond.is_empty(), "{beyond}");
}

fn columns(line: &str) -> [&str; 6] {
    line.split(',').collect::<Vec<_>>().try_into().expect("six columns")
}
