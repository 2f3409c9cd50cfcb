//! Copies that md restores under load: the model against the kernel, as recorded.

use super::kernel::{has_kernel, kernel_version, write};
use super::{json, project, scratch, stdout, takes_long};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// The load waits for what is restored in most of these, and the limit holds that back in the others.
const CELLS: &str = r#"
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

/// The most that the model may differ by, in MB/s and in what is restored: docs/md.md has the cells that are further off.
fn most((workload, cell): &(String, String)) -> [f64; 2] {
    match &workload[..] {
        "reads" | "writes" if cell.contains("md-mirror") => [0.10, 0.15],
        "behind" => [0.11, 0.10],
        _ => [0.10; 2],
    }
}

/// What the kernel made of the cells: a line of a workload, the cell, MB/s and the share that was restored each.
const RECORDED: &str = "crates/cli/tests/golden/kernel-rebuilds.tsv";

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

fn recorded() -> Cells {
    let text = fs::read_to_string(project(RECORDED)).unwrap();
    let cell = |line: &str| {
        let [workload, cell, rate, share] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}: no workload, cell, rate and share");
        };
        let values = [rate, share].map(|value| value.parse().unwrap());
        ((workload.to_string(), cell.to_string()), values)
    };
    text.lines().filter(|line| !line.starts_with('#')).map(cell).collect()
}

/// The load and the rebuild are within a tenth of the kernel's, or as [`most`] says.
#[test]
fn md_restores_copies_in_the_model_as_the_kernel_does() {
    let here = scratch();
    let file = write(here.path(), CELLS);
    let modelled = measured(&json(here.path(), &["run", &file, "--json", "--out", "s"]));
    let recorded = recorded();
    assert_eq!((modelled.len(), recorded.len()), (32, 32));
    let mut worst = String::new();
    for (cell, kernel) in &recorded {
        let model = modelled[cell];
        let ratios = [model[0] / kernel[0], model[1] / kernel[1]];
        let most = most(cell);
        if ratios.iter().zip(most).any(|(ratio, most)| (ratio - 1.0).abs() > most) {
            writeln!(worst, "{cell:?}: model ÷ kernel {ratios:.3?}, at most {most:?}").unwrap();
        }
    }
    assert!(worst.is_empty(), "{worst}");
}

/// The kernel makes today what was recorded: in CI in one of the cells. `UPDATE=1` runs all of them and records them anew.
#[test]
fn the_kernel_restores_as_was_recorded() {
    if takes_long() || !has_kernel() {
        return;
    }
    let here = scratch();
    let file = write(here.path(), CELLS);
    let all = std::env::var_os("UPDATE").is_some();
    let of = if all { "1/1" } else { PART };
    stdout(here.path(), &["run", &file, "--out", "k", "--on", "kernel", "--shard", of]);
    let now = measured(&json(here.path(), &["report", "k", "--json"]));
    if all {
        let mut text = format!(
            "# MB/s and share restored of the cells of restored.rs by {}: written by UPDATE=1 of the_kernel_restores_as_was_recorded\n",
            kernel_version()
        );
        for ((workload, cell), [rate, share]) in &now {
            writeln!(text, "{workload}\t{cell}\t{rate}\t{share}").unwrap();
        }
        return fs::write(project(RECORDED), text).unwrap();
    }
    let text = fs::read_to_string(project(RECORDED)).unwrap();
    // A later kernel of the distribution may differ, as the model may.
    let is_as_recorded = text.lines().next().unwrap().contains(&format!(" {}: ", kernel_version()));
    let recorded = recorded();
    assert!(!now.is_empty());
    for (cell, values) in now {
        let most = if is_as_recorded { [0.001; 2] } else { most(&cell) };
        for ((value, before), most) in values.into_iter().zip(recorded[&cell]).zip(most) {
            assert!((value / before - 1.0).abs() < most, "{cell:?}: {value}, {before} recorded");
        }
    }
}
