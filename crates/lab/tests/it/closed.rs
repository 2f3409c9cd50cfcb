//! The rates of direct requests in a closed loop, held to a real kernel on the same modelled drives.

use crate::drawn::{is_whole, ours};
use std::fmt::Write as _;

/// What the kernel measured of each cell and ours, from which verdicts count how often ours has a difference the right way round.
const CELLS: &str = include_str!("../../../verdict/data/md_closed.csv");

/// The drawn experiment, by what the names of its cells begin with.
const DRAW: (&str, &str) = ("31", include_str!("../data/md/closed-31.toml"));

#[test]
fn closed_loops_are_as_fast_as_in_the_kernel() {
    let ours = ours(DRAW.0, DRAW.1);
    let is_ours = |line: &&str| ours.contains_key(line.split(',').next().expect("it has columns"));
    let lines: Vec<&str> = CELLS.lines().skip(2).filter(is_ours).collect();
    assert_eq!([ours.len(), lines.len()], if is_whole() { [300; 2] } else { [75; 2] });
    let mut written = String::new();
    let mut errors = Vec::new();
    for line in &lines {
        let columns: Vec<&str> = line.split(',').collect();
        let [cell, .., kernel, _] = columns[..] else { panic!("{line} has seven columns") };
        let own = ours[cell].sample("mb_per_s").expect("every cell has a rate");
        writeln!(written, "{},{own:.5}", columns[..6].join(",")).unwrap();
        errors.push((own / kernel.parse::<f64>().unwrap()).ln().abs());
    }
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../verdict/data/md_closed.csv");
        let head: String = CELLS.lines().take(2).flat_map(|line| [line, "\n"]).collect();
        return std::fs::write(file, head + &written).unwrap();
    }
    assert_eq!(written, lines.join("\n") + "\n", "UPDATE=1 writes ours anew");
    if is_whole() {
        // docs/kernel-rig.md has these numbers.
        let within = |most: f64| errors.iter().filter(|error| **error <= most.ln_1p()).count();
        assert_eq!([0.01, 0.05, 0.1].map(within), [253, 290, 292]);
    }
}
