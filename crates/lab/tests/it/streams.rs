//! How long streams side by side take, and how much they do, held to a real kernel on the same modelled drives.

use crate::drawn::is_whole;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the kernel measured of each stream and ours, from which verdicts count how often ours has a difference the
/// right way round.
const LINES: &str = include_str!("../../../verdict/data/md_streams.csv");

/// The drawn experiment, by what the names of its cells begin with.
const DRAW: (&str, &str) = ("21", include_str!("../data/md/streams-21.toml"));

#[test]
fn streams_side_by_side_are_as_fast_as_in_the_kernel() {
    let ours = crate::drawn::ours(DRAW.0, DRAW.1, if is_whole() { 1 } else { 4 });
    let devices = crate::drawn::devices(DRAW.0, DRAW.1);
    let is_ours = |line: &&str| ours.contains_key(line.split(',').next().expect("it has columns"));
    let lines: Vec<&str> = LINES.lines().skip(2).filter(is_ours).collect();
    assert_eq!(ours.len(), if is_whole() { 60 } else { 15 });
    let mut written = String::new();
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in &lines {
        let columns: Vec<&str> = line.split(',').collect();
        let [cell, _, stream, .., sample, kernel, _] = columns[..] else {
            panic!("{line} has eight columns")
        };
        let record = &ours[cell];
        let name = match stream {
            "all" => sample.to_string(),
            _ => format!("{}-{stream}.{sample}", record.workload),
        };
        let own = record.sample(&name).unwrap_or_else(|| panic!("{cell} has no {name}"));
        writeln!(written, "{cell},{},{},{own:.5}", devices[cell], columns[2..7].join(",")).unwrap();
        let error = (own / kernel.parse::<f64>().unwrap()).ln().abs();
        let what = ["mb_per_s", "mean", "p99"].into_iter().find(|what| sample.contains(what));
        errors.entry(what.expect("a rate, a mean or a percentile")).or_default().push(error);
    }
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../verdict/data/md_streams.csv");
        let head: String = LINES.lines().take(2).flat_map(|line| [line, "\n"]).collect();
        return std::fs::write(file, head + &written).unwrap();
    }
    assert_eq!(written, lines.join("\n") + "\n", "UPDATE=1 writes ours anew");
    if !is_whole() {
        return;
    }
    // docs/load.md has these numbers.
    let within = |what: &str, most: f64| {
        let of = &errors[what];
        [of.iter().filter(|error| **error <= most.ln_1p()).count(), of.len()]
    };
    assert_eq!(within("mb_per_s", 0.01), [15, 15]);
    assert_eq!(within("mean", 0.1), [131, 135]);
    assert_eq!(within("p99", 0.1), [120, 135]);
}
