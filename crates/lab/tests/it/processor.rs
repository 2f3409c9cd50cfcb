//! What md's thread and programs take of the processors of `linux-6.1`, held to what was measured.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};

const CELLS: &str = include_str!("../data/md/processor.csv");

/// By how much the time of ours may be off. The guest works out parity that is read, modified and written on RAID 6 without SSE
/// and AVX, and data of the last one stay in the processor's cache (docs/md.md).
const ERROR_MAX: f64 = 0.15;
const OFF: [(&str, f64); 3] = [
    ("md-raid6,8,,4096,64,random,write,4,", 0.25),
    ("md-raid6,8,,256,512,random,write,64,", 0.4),
    ("md-raid5,4,,256,512,sequential,write,256,", 1.1),
];

/// Time of md's thread for a request in `line`, in us: ours, and what was measured.
fn times(line: &str) -> [f64; 2] {
    let [level, members, failed, cache, chunk_kib, kind, op, block_kib, depth, measured] =
        line.split(',').collect::<Vec<_>>().try_into().expect("ten columns");
    let failed = if failed.is_empty() { String::new() } else { format!("failed = '{failed}'\n") };
    let text = format!(
        "name = 'x'\nhost.name = 'linux-6.1'\n\
         [volume]\ndrives = '{members}x990 pro 2tb:40GiB'\nlevel = '{level}'\ninterleave = '{chunk_kib}KiB'\n\
         stripe_cache = {cache}\n{failed}\
         [workload.w]\nkind = '{kind}'\nop = '{op}'\nblock = '{block_kib}KiB'\ndepth = {depth}\ncount = 2000\n"
    );
    let experiment = Experiment::parse("x.toml", &text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    let sample = |name| ran.records()[0].sample(name).unwrap();
    let ours = sample("cpu_busy") / sample("requests_per_s") * 1e6;
    [ours, measured.parse().unwrap()]
}

#[test]
fn rows_take_the_processor_as_long_as_in_the_kernel() {
    let mut beyond = Vec::new();
    let lines: Vec<&str> = CELLS.lines().skip(2).collect();
    for line in &lines {
        let [ours, measured] = times(line);
        let off = OFF.iter().find(|(start, _)| line.starts_with(start));
        if (ours / measured - 1.0).abs() > off.map_or(ERROR_MAX, |(_, error)| *error) {
            beyond.push(format!("{line}: {ours:.2}"));
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
    assert_eq!(lines.len(), 10);
}

/// 4 KiB reads at random a second by so many processes, 128 in flight each, on so many 980 PRO.
fn reads_per_s(drives: usize, processes: usize, scheduler: &str) -> f64 {
    let text = format!(
        "name = 'x'\nhost.name = 'linux-6.1'\n\
         [volume]\ndrives = '{drives}x980-pro-1tb'\nlevel = 'md-stripe'\ninterleave = '64KiB'\n\
         scheduler = '{scheduler}'\n\
         [workload.w]\nkind = 'random'\nop = 'read'\nblock = '4KiB'\ndepth = 128\njobs = {processes}\n"
    );
    let experiment = Experiment::parse("x.toml", &text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    ran.records()[0].sample("requests_per_s").unwrap()
}

/// What was published of eight drives (stonet-research/icpe24_io_scheduler_study_artifact, ICPE 2024): `io_uring` without a
/// scheduler. The first is what the host's figure was read off.
#[test]
fn programs_send_as_fast_as_published() {
    for (processes, published) in [(1, 355e3), (5, 1.77e6), (10, 3.42e6)] {
        let ours = reads_per_s(8, processes, "none");
        assert!((ours / published - 1.0).abs() < 0.05, "{processes}: {ours:.0}");
    }
}

/// The same study with mq-deadline. Of one drive the host's figures were read off. Of eight is a prediction: locks that many
/// want cost more than those that few want, which is left out.
#[test]
fn programs_wait_for_the_locks_of_schedulers_as_published() {
    for (drives, processes, published, error_max) in
        [(1, 1, 301e3, 0.05), (1, 10, 489e3, 0.02), (8, 10, 1.90e6, 0.20)]
    {
        let ours = reads_per_s(drives, processes, "mq-deadline");
        let error = ours / published - 1.0;
        assert!(error.abs() < error_max, "{processes} on {drives}: {ours:.0}");
    }
}
