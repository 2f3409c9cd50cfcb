//! What a run says that it takes of memory, beside what it takes.
//!
//! A test binary of its own: each shape is run by a process of its own, whose largest resident set is read.

#![cfg(target_os = "linux")]

use lab::Keep;
use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::run::Run;
use std::io::Write as _;
use std::process::Command;

/// Host, drives, level, and the keys of a workload: some 100,000 requests in flight.
const SHAPES: [[&str; 4]; 5] = [
    ["linux-6.12", "4x980-pro-1tb", "md-raid0", "op = 'read'\nblock = '4KiB'\ndepth = 512"],
    ["linux-6.12", "4x980-pro-1tb", "md-raid0", "op = 'read'\nblock = '256KiB'\ndepth = 512"],
    ["linux-6.12", "4x980-pro-1tb", "md-raid5", "op = 'write'\nblock = '64KiB'\ndepth = 512"],
    ["ultra2-netbsd-3", "4xwd740gd", "stripe", "op = 'read'\nblock = '4KiB'\ndepth = 512"],
    // Deeper than what each job asks for.
    ["linux-6.12", "1x980-pro-1tb", "single", "op = 'read'\nblock = '4KiB'\ndepth = 65536"],
];
const JOBS: u64 = 256;
const COUNT: u64 = 512;

const SHAPE: &str = "ILEAVE_TEST_SHAPE";

#[test]
fn the_memory_that_is_stated_is_within_a_fifth_of_the_peak() {
    for (number, shape) in SHAPES.iter().enumerate() {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_shape", "--ignored", "--nocapture"])
            .env(SHAPE, number.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("memory ")).expect(&text);
        let [stated, peak] =
            *line.split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<_>>()
        else {
            panic!("{line}")
        };
        let mib = |bytes: f64| bytes / 1_048_576.0;
        let (stated_mib, peak_mib) = (mib(stated), mib(peak));
        assert!((stated / peak - 1.0).abs() <= 0.2, "{shape:?}: {stated_mib} and {peak_mib} MiB");
    }
}

#[test]
#[ignore = "a process of its own, which the other test starts"]
fn one_shape() {
    let Ok(number) = std::env::var(SHAPE) else { return };
    let [host, drives, level, work] = SHAPES[number.parse::<usize>().unwrap()];
    let text = format!(
        "[host]\nname = '{host}'\n[volume]\ndrives = '{drives}'\nlevel = '{level}'\ninterleave = '64KiB'\n\
         [workload.w]\nkind = 'random'\njobs = {JOBS}\ncount = {COUNT}\n{work}\n"
    );
    let experiment = Experiment::parse("shape.toml", &text).unwrap();
    let run = Run::plan(&experiment, &Sim).unwrap();
    let stated = run.memory_bytes();
    run.open(Keep::Nowhere).unwrap().finish(&mut |_| ()).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    writeln!(std::io::stdout(), "memory {stated} {}", kib * 1024).unwrap();
}
