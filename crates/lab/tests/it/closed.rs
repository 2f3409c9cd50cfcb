//! The rates of direct requests in a closed loop, held to a real kernel on the same modelled drives.

use crate::drawn::{devices, is_whole, ours};
use std::fmt::Write as _;

/// What the kernel measured of each cell and ours, from which verdicts count how often ours has a difference the right
/// way round.
const CELLS: &str = include_str!("../../../verdict/data/md_closed.csv");

/// The drawn experiment, by what the names of its cells begin with.
const DRAW: (&str, &str) = ("31", include_str!("../data/md/closed-31.toml"));

/// The columns of a line behind the load: the kernel's rate and ours.
fn rates(line: &str) -> [f64; 2] {
    let (rest, ours) = line.rsplit_once(',').expect("a line has eight columns");
    let (_, kernel) = rest.rsplit_once(',').expect("a line has eight columns");
    [kernel, ours].map(|rate| rate.parse().expect("a rate"))
}

/// Where everything is required, every fifth cell is simulated; what is on record of all of them is counted.
#[test]
fn closed_loops_are_as_fast_as_in_the_kernel() {
    let is_written = std::env::var_os("UPDATE").is_some();
    let step = [if is_whole() { 5 } else { 16 }, 1][usize::from(is_written)];
    let (ours, devices) = (ours(DRAW.0, DRAW.1, step), devices(DRAW.0, DRAW.1));
    let is_ours = |line: &&str| ours.contains_key(line.split(',').next().expect("it has columns"));
    let all: Vec<&str> = CELLS.lines().skip(2).collect();
    let lines: Vec<&str> = all.iter().copied().filter(is_ours).collect();
    assert_eq!([all.len(), ours.len(), lines.len()], [300, 300_usize.div_ceil(step), ours.len()]);
    let mut written = String::new();
    for line in &lines {
        let cell = line.split(',').next().expect("it has columns");
        let own = ours[cell].sample("mb_per_s").expect("every cell has a rate");
        let (rest, _) = line.rsplit_once(',').expect("a line has eight columns");
        let rest: Vec<&str> = rest.split(',').skip(2).collect();
        writeln!(written, "{cell},{},{},{own:.5}", devices[cell], rest.join(",")).unwrap();
    }
    if is_written {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../verdict/data/md_closed.csv");
        let head: String = CELLS.lines().take(2).flat_map(|line| [line, "\n"]).collect();
        return std::fs::write(file, head + &written).unwrap();
    }
    assert_eq!(written, lines.join("\n") + "\n", "UPDATE=1 writes ours anew");
    // docs/kernel-rig.md has these numbers.
    let error = |line: &&str| {
        let [kernel, ours] = rates(line);
        (ours / kernel).ln().abs()
    };
    let within = |most: f64| all.iter().filter(|line| error(line) <= most.ln_1p()).count();
    assert_eq!([0.01, 0.05, 0.1].map(within), [252, 291, 293]);
}
