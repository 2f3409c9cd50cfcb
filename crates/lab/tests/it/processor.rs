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

/// 4 KiB reads at random a second by one process or more, each with `depth` in flight, by `engine` on Optane drives.
fn by_engine(engine: &str, (drives, processes, depth): (usize, u64, u64)) -> f64 {
    let level = if drives == 1 { "single" } else { "stripe" };
    let text = format!(
        "name = 'x'\nhost.name = 'linux-6.1'\n[volume]\ndrives = '{drives}xp4800x-375gb'\nlevel = '{level}'\n\
         [workload.w]\nkind = 'random'\nop = 'read'\nblock = '4KiB'\ndepth = {depth}\njobs = {processes}\nengine = '{engine}'\n\
         count = 20000\n"
    );
    let experiment = Experiment::parse("x.toml", &text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    ran.records()[0].sample("requests_per_s").unwrap()
}

/// What was published of Optane drives (stonet-research/Performance-Characterization-Storage-Stacks, CHEOPS 2023). The host's figures
/// were read off one request in flight, with the drive's time as another study has it, and off one process with 128.
#[test]
fn engines_send_as_fast_as_published() {
    let published = [
        ("psync", 94_630.0, None),
        ("libaio", 81_095.0, Some(293_421.0)),
        ("io_uring-plain", 81_307.0, Some(315_246.0)),
        ("io_uring-polled", 112_930.0, Some(334_932.0)),
        ("io_uring-sqpoll", 108_625.0, Some(539_255.0)),
        ("spdk", 138_935.0, Some(1_020_052.0)),
    ];
    for (engine, alone, busy) in published {
        let ours = by_engine(engine, (1, 1, 1));
        assert!((ours / alone - 1.0_f64).abs() < 0.01, "{engine}: {ours:.0}, not {alone}");
        let Some(busy) = busy else { continue };
        let ours = by_engine(engine, (8, 1, 128));
        assert!((ours / busy - 1.0_f64).abs() < 0.01, "{engine}: {ours:.0}, not {busy}");
    }
}

/// The same study with four processes, which no figure was read off.
#[test]
fn several_processes_send_as_fast_as_published() {
    for (engine, published) in [
        ("libaio", 1_164_940.0),
        ("io_uring-plain", 1_265_404.0),
        ("io_uring-sqpoll", 2_148_070.0),
        ("spdk", 3_943_217.0),
    ] {
        let ours = by_engine(engine, (8, 4, 128));
        assert!((ours / published - 1.0_f64).abs() < 0.05, "{engine}: {ours:.0}, not {published}");
    }
}

/// A drive that was measured by `io_uring` with registered buffers is as it was measured (one in flight on a 980 PRO), and
/// `host.cpu_percent = 0` leaves the engine out.
#[test]
fn an_engine_adds_to_the_drive_what_its_fit_left_to_the_host() {
    let of = |more: &str| {
        let text = format!(
            "name = 'x'\nhost.name = 'linux-6.1'\nvolume = {{ drives = '980-pro-1tb', level = 'single' }}\n{more}\n\
             workload.w = {{ kind = 'random', op = 'read', block = '4KiB', count = 20000, engine = 'io_uring' }}"
        );
        let ran =
            run(&Experiment::parse("x.toml", &text).unwrap(), &Sim, Keep::Nowhere, &mut |_| ());
        1e6 / ran.unwrap().records()[0].sample("requests_per_s").unwrap()
    };
    let added_us = of("") - of("host.cpu_percent = 0");
    assert!((added_us - 2.62).abs() < 0.005, "{added_us}");
}
