//! How long requests take that come by the clock, held to a real kernel on the same modelled drives.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of each cell the kernel's times and ours, from which verdicts count how often ours has a difference the right way round.
const CELLS: &str = include_str!("../../../verdict/data/md_latencies.csv");

/// What is measured of a cell: the mean and the 99th percentile, in ms.
const SAMPLES: [&str; 2] = ["latency_mean_ms", "latency_p99_ms"];

/// Ours of each cell of a draw; none where more come than are done. All are workloads of one experiment, as they were
/// in the kernel: where the spindles of a trial stand follows from the workload's place.
fn ours(lines: &[&str]) -> Vec<[Option<f64>; 2]> {
    let mut text =
        "run.repeats = 1\nvolume.drives = '4xmd-hdd'\nvolume.level = 'md-raid5'\n".to_string();
    for (place, line) in lines.iter().enumerate() {
        let columns: Vec<&str> = line.split(',').collect();
        let [
            _,
            _,
            drive,
            _,
            members,
            level,
            chunk,
            write_cache,
            block,
            reads,
            rate,
            flush_every,
            ..,
        ] = columns[..]
        else {
            panic!("{line} has twelve columns and more")
        };
        let given = |key: &str, value: &str| {
            if value.is_empty() { String::new() } else { format!("{key} = {value}\n") }
        };
        let mut keys = match reads {
            "100" => "op = 'read'\n".to_string(),
            _ => format!("reads_percent = {reads}\n"),
        };
        keys += &given("drive.write_cache", write_cache);
        keys += &given("flush_every", flush_every);
        if !chunk.is_empty() {
            writeln!(keys, "volume.interleave = '{chunk}KiB'").expect("a string grows");
        }
        write!(
            text,
            "[workload.{}]\nkind = 'random'\nblock = '{block}KiB'\narrivals = 'poisson'\nrequests_per_s = {rate}\ncount = 12000\n\
             volume.drives = '{members}x{drive}'\nvolume.level = '{level}'\n{keys}",
            name(place)
        )
        .expect("a string grows");
    }
    let experiment = Experiment::parse("x.toml", &text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    let times = |record: &store::record::Record| {
        let is_overloaded = record.sample("overloaded").is_some();
        SAMPLES.map(|sample| record.sample(sample).filter(|_| !is_overloaded))
    };
    let records = ran.records();
    let by_name: BTreeMap<&str, [Option<f64>; 2]> =
        records.iter().map(|record| (record.workload.as_str(), times(record))).collect();
    (0..lines.len()).map(|place| by_name[name(place).as_str()]).collect()
}

fn name(place: usize) -> String {
    format!("w{place:03}")
}

/// All draws where everything is required, else the first: 90 of the 150 cells, of every drive and level.
#[test]
fn requests_that_come_by_the_clock_take_as_long_as_in_the_kernel() {
    let all: Vec<&str> = CELLS.lines().skip(2).collect();
    let draws = all.chunk_by(|one, next| one.split(',').next() == next.split(',').next());
    let is_whole =
        ["ILEAVE_REQUIRE", "UPDATE"].into_iter().any(|of| std::env::var_os(of).is_some());
    let draws: Vec<&[&str]> = draws.take(if is_whole { usize::MAX } else { 1 }).collect();
    let lines = draws.concat();
    let ours: Vec<[Option<f64>; 2]> = draws.into_iter().flat_map(ours).collect();
    let mut written = String::new();
    let mut close = [0; 2];
    let mut kept_up = 0;
    for (line, own) in lines.iter().zip(ours) {
        let columns: Vec<&str> = line.split(',').collect();
        let kernel = &columns[12..14];
        let drive = columns[..3].join(",");
        let devices = crate::drawn::devices_of(columns[2]);
        assert_eq!(own[0].is_none(), kernel[0] == "-", "{line}: which of them keep up");
        let shown = own.map(|time| time.map_or("-".into(), |time| format!("{time:.5}")));
        let rest = columns[4..14].join(",");
        writeln!(written, "{drive},{devices},{rest},{}", shown.join(",")).unwrap();
        for (which, time) in own.into_iter().enumerate() {
            let Some(time) = time else { continue };
            let error = (time / kernel[which].parse::<f64>().unwrap()).ln().abs();
            close[which] += usize::from(error <= 0.1_f64.ln_1p());
        }
        kept_up += usize::from(own[0].is_some());
    }
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../verdict/data/md_latencies.csv");
        let head: String = CELLS.lines().take(2).flat_map(|line| [line, "\n"]).collect();
        return std::fs::write(file, head + &written).unwrap();
    }
    assert_eq!(written, lines.join("\n") + "\n", "UPDATE=1 writes ours anew");
    if is_whole {
        // docs/load.md has these numbers.
        assert_eq!((close, kept_up), ([136, 132], 142));
    }
}
