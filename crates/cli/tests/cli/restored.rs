//! What md restores under load: the model against the kernel, as recorded.

use super::kernel::{has_kernel, kernel_version, write};
use super::{json, project, scratch, stdout, takes_long};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// Cells, what the kernel made of them, and how near the model has to be.
struct Held {
    cells: &'static str,
    number: usize,
    /// What the kernel made of the cells: a line of a workload, the cell, MB/s and the share that was restored each.
    recorded: &'static str,
    /// The most that the model may differ by, in MB/s and in what is restored: docs/md.md has the cells that are further off.
    most: fn(&(String, String)) -> [f64; 2],
}

const COPIES: Held = Held {
    cells: OF_COPIES,
    number: 32,
    recorded: "crates/cli/tests/golden/kernel-rebuilds.tsv",
    most: most_of_copies,
};

const PARITY: Held = Held {
    cells: OF_PARITY,
    number: 8,
    recorded: "crates/cli/tests/golden/kernel-rebuilds-parity.tsv",
    most: most_of_parity,
};

/// Rows of the stripe cache are what load and rebuild share here.
const OF_PARITY: &str = r#"
    drive.write_cache = false
    [volume]
    drives = "5xst18000nm000j:1GiB"
    level = ["md-raid5", "md-raid6"]
    interleave = "64KiB"
    failed = "1"
    rebuild = "400MB/s"
    [workload.reads]
    kind = "random"
    op = "read"
    block = "8KiB"
    depth = 8
    count = 600
    [workload.writes]
    kind = "random"
    op = "write"
    block = "8KiB"
    depth = 8
    count = 300
    [workload.ahead]
    kind = "sequential"
    op = "read"
    block = "1MiB"
    depth = 8
    count = 500
    [workload.behind]
    kind = "sequential"
    op = "write"
    block = "64KiB"
    depth = 8
    count = 500
"#;

fn most_of_parity((workload, cell): &(String, String)) -> [f64; 2] {
    match &workload[..] {
        "ahead" if cell.contains("md-raid5") => [0.10, 0.30],
        "behind" if cell.contains("md-raid6") => [0.10, 0.17],
        _ => [0.10; 2],
    }
}

/// The load waits for what is restored in most of these, and the limit holds that back in the others.
const OF_COPIES: &str = r#"
    drive.write_cache = false
    [volume]
    drives = ["2xst18000nm000j:2GiB", "4xst18000nm000j:2GiB"]
    level = ["md-mirror", "md-raid10"]
    interleave = "64KiB"
    failed = "1"
    rebuild = ["20MB/s", "400MB/s"]
    [workload.reads]
    kind = "random"
    op = "read"
    block = "8KiB"
    depth = 8
    count = 3000
    [workload.writes]
    kind = "random"
    op = "write"
    block = "8KiB"
    depth = 8
    count = 1500
    [workload.ahead]
    kind = "sequential"
    op = "read"
    block = "1MiB"
    depth = 8
    count = 1500
    [workload.behind]
    kind = "sequential"
    op = "write"
    block = "64KiB"
    depth = 8
    count = 4000
"#;

/// The part of them that CI runs on the kernel: one of RAID 10, which takes 1.5 s of processor time. Those tried of RAID 10 came out
/// the same by another build of ileave; of mirrors, one was 2 % slower.
const PART: &str = "2/24";

fn most_of_copies((workload, cell): &(String, String)) -> [f64; 2] {
    match &workload[..] {
        "reads" | "writes" if cell.contains("md-mirror") => [0.10, 0.15],
        "behind" => [0.11, 0.10],
        _ => [0.10; 2],
    }
}

type Cells = BTreeMap<(String, String), [f64; 2]>;

fn measured(run: &Json) -> Cells {
    let trials = run["trials"].as_array().expect("a run has trials").iter();
    let of = |trial: &Json| {
        let sample = |name: &str| trial["samples"][name].as_f64().unwrap();
        let cell = (trial["workload"].as_str().unwrap().to_string(), trial["at"].to_string());
        (cell, [sample("mb_per_s"), sample("rebuilt_share")])
    };
    trials.map(of).collect()
}

impl Held {
    fn recorded(&self) -> Cells {
        let text = fs::read_to_string(project(self.recorded)).unwrap();
        let cell = |line: &str| {
            let [workload, cell, rate, share] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}: no workload, cell, rate and share");
            };
            let values = [rate, share].map(|value| value.parse().unwrap());
            ((workload.to_string(), cell.to_string()), values)
        };
        text.lines().filter(|line| !line.starts_with('#')).map(cell).collect()
    }

    /// The load and the rebuild are as near the kernel's as they have to be.
    fn check_model(&self) {
        let here = scratch();
        let file = write(here.path(), self.cells);
        let modelled =
            measured(&json(here.path(), &["run", &file, "--json", "--out", "s", "--repeat", "1"]));
        let recorded = self.recorded();
        assert_eq!((modelled.len(), recorded.len()), (self.number, self.number));
        let mut worst = String::new();
        for (cell, kernel) in &recorded {
            let model = modelled[cell];
            let ratios = [model[0] / kernel[0], model[1] / kernel[1]];
            let most = (self.most)(cell);
            if ratios.iter().zip(most).any(|(ratio, most)| (ratio - 1.0).abs() > most) {
                writeln!(worst, "{cell:?}: model ÷ kernel {ratios:.3?}, at most {most:?}").unwrap();
            }
        }
        assert!(worst.is_empty(), "{worst}");
    }

    /// What the kernel makes now of a shard of the cells.
    fn run_on_kernel(&self, shard: &str) -> Cells {
        let here = scratch();
        let file = write(here.path(), self.cells);
        stdout(here.path(), &["run", &file, "--out", "k", "--on", "kernel", "--shard", shard]);
        measured(&json(here.path(), &["report", "k", "--json"]))
    }

    /// Records what the kernel makes of all cells.
    fn record(&self) {
        let mut text = format!(
            "# MB/s and share restored of the cells of restored.rs by {}: UPDATE=1 of the_kernel_restores_as_was_recorded records them anew\n",
            kernel_version()
        );
        for ((workload, cell), [rate, share]) in &self.run_on_kernel("1/1") {
            writeln!(text, "{workload}\t{cell}\t{rate}\t{share}").unwrap();
        }
        fs::write(project(self.recorded), text).unwrap();
    }
}

#[test]
fn md_restores_copies_in_the_model_as_the_kernel_does() {
    COPIES.check_model();
}

#[test]
fn md_restores_parity_in_the_model_as_the_kernel_does() {
    PARITY.check_model();
}

/// The kernel makes today what was recorded: in CI in one of the cells of copies. `UPDATE=1` runs all cells, those of parity, too, and
/// records them anew.
#[test]
fn the_kernel_restores_as_was_recorded() {
    if takes_long() || !has_kernel() {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        COPIES.record();
        return PARITY.record();
    }
    let now = COPIES.run_on_kernel(PART);
    let text = fs::read_to_string(project(COPIES.recorded)).unwrap();
    // A later kernel of the distribution may differ, as the model may.
    let is_as_recorded = text.lines().next().unwrap().contains(&format!(" {}: ", kernel_version()));
    let recorded = COPIES.recorded();
    assert!(!now.is_empty());
    for (cell, values) in now {
        let most = if is_as_recorded { [0.001; 2] } else { (COPIES.most)(&cell) };
        for ((value, before), most) in values.into_iter().zip(recorded[&cell]).zip(most) {
            assert!((value / before - 1.0).abs() < most, "{cell:?}: {value}, {before} recorded");
        }
    }
}
