//! How long streams side by side take, and how much they do, held to a real kernel on the same modelled drives.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the kernel measured of each stream and ours, from which verdicts count how often ours has a difference the right way round.
const LINES: &str = include_str!("../../../verdict/data/md_streams.csv");

/// The drawn experiments, by what the names of their cells begin with.
const DRAWS: [(&str, &str); 1] = [("21", include_str!("../data/md/streams-21.toml"))];

/// Ours of every cell, by its name.
fn ours() -> BTreeMap<String, store::record::Record> {
    let mut all = BTreeMap::new();
    for (draw, text) in DRAWS {
        let text = format!("run.repeats = 1\n{text}");
        let experiment = Experiment::parse("x.toml", &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let records = ran.records().into_iter();
        all.extend(records.map(|record| (format!("{draw}{}", record.workload), record.clone())));
    }
    all
}

#[test]
fn streams_side_by_side_are_as_fast_as_in_the_kernel() {
    let ours = ours();
    let mut written: String = LINES.lines().take(2).flat_map(|line| [line, "\n"]).collect();
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in LINES.lines().skip(2) {
        let columns: Vec<&str> = line.split(',').collect();
        let [cell, stream, .., sample, kernel, _] = columns[..] else {
            panic!("{line} has seven columns")
        };
        let record = &ours[cell];
        let name = match stream {
            "all" => sample.to_string(),
            _ => format!("{}-{stream}.{sample}", record.workload),
        };
        let own = record.sample(&name).unwrap_or_else(|| panic!("{cell} has no {name}"));
        writeln!(written, "{},{own:.5}", columns[..6].join(",")).unwrap();
        let error = (own / kernel.parse::<f64>().unwrap()).ln().abs();
        let what = ["mb_per_s", "mean", "p99"].into_iter().find(|what| sample.contains(what));
        errors.entry(what.expect("a rate, a mean or a percentile")).or_default().push(error);
    }
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../verdict/data/md_streams.csv");
        return std::fs::write(file, &written).unwrap();
    }
    assert_eq!(written, LINES, "UPDATE=1 writes ours anew");
    // docs/load.md has these numbers.
    let within = |what: &str, most: f64| {
        let of = &errors[what];
        [of.iter().filter(|error| **error <= most.ln_1p()).count(), of.len()]
    };
    assert_eq!(within("mb_per_s", 0.01), [15, 15]);
    assert_eq!(within("mean", 0.1), [131, 135]);
    assert_eq!(within("p99", 0.1), [122, 135]);
}
