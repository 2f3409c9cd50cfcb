//! `ileave run --on disks`, on image files.

use super::{scratch, skipped};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const EXPERIMENT: &str = r#"
[volume]
drives = "2xst118273lc"
interleave = [8, 16]

[workload.read]
kind = "random"
block = "4KiB"
count = 100
depth = 4

[workload.write]
op = "write"
block = "32KiB"
count = 20
"#;

/// A directory with an experiment that only reads and one that writes, too.
fn directory() -> TempDir {
    let directory = scratch();
    let reads = EXPERIMENT.split("\n[workload.write]").next().unwrap();
    fs::write(directory.path().join("reads.toml"), reads).unwrap();
    fs::write(directory.path().join("writes.toml"), EXPERIMENT).unwrap();
    directory
}

/// Runs ileave with these arguments; gives its exit status, output and errors.
fn ileave(directory: &Path, arguments: &str) -> (i32, String, String) {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output = super::ileave(directory, &arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Whether rings are allowed; where they are not, that is said, and an error if they are required.
fn rings_allowed(directory: &Path) -> bool {
    let run = "run reads.toml --on disks --members probe.img --create 1MiB --out probe";
    let (status, _, errors) = ileave(directory, run);
    if status == 0 {
        return true;
    }
    assert!(errors.contains("cannot make an io_uring"), "{errors}");
    skipped(&errors);
    false
}

#[test]
fn an_experiment_runs_on_image_files_and_is_reported() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let run =
        "run writes.toml --on disks --members a.img,b.img --create 2MiB --write --out results";
    let (status, output, errors) = ileave(directory, run);
    assert_eq!(status, 0, "{errors}");
    assert!(output.contains("writes on disks: 12 trials, 4 cells"), "{output}");
    let manifest = fs::read_to_string(directory.join("results/manifest.toml")).unwrap();
    assert!(manifest.contains("\"0: a.img\" = \"file of 4096 sectors, cache = "), "{manifest}");
    let (status, report, _) = ileave(directory, "report results");
    assert!(status == 0 && report.contains("writes on disks"), "{report}");
    let again = "run writes.toml --on disks --members a.img,b.img --write --resume results";
    let (status, _, errors) = ileave(directory, again);
    assert_eq!(status, 0, "{errors}");
    let swapped = "run writes.toml --on disks --members b.img,a.img --write --resume results";
    assert_eq!(ileave(directory, swapped).0, 2, "another order is another volume");
}

#[test]
fn requests_that_come_by_the_clock_are_measured() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let open = "[volume]\nlevel = 'stripe'\n[workload.read]\nkind = 'random'\narrivals = 'fixed'\nrequests_per_s = 500\ncount = 200\n";
    fs::write(directory.join("open.toml"), open).unwrap();
    let run = "run open.toml --on disks --images 2x4MiB --repeat 1 --json";
    let (status, output, errors) = ileave(directory, run);
    assert_eq!(status, 0, "{errors}");
    let run: serde_json::Value = serde_json::from_str(&output).unwrap();
    let samples = &run["trials"][0]["samples"];
    let rate = samples["requests_per_s"].as_f64().unwrap();
    // A busy machine may be late with the last; none comes too soon.
    assert!(rate > 250.0 && rate < 505.0, "{rate}");
    // Whoever looks for the highest rate asks for many measurements.
    fs::write(directory.join("most.toml"), format!("{open}capacity = 'p99 <= 2ms'\n")).unwrap();
    let (status, _, errors) = ileave(directory, "run most.toml --on disks --images 2x4MiB");
    assert_eq!(status, 2);
    assert!(errors.contains("`workload.read.capacity` works only on sim"), "{errors}");
}

#[test]
fn a_prediction_stands_beside_the_measurement() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let run =
        "run writes.toml --on sim,disks --members a.img,b.img --create 2MiB --write --repeat 2";
    let (status, output, errors) = ileave(directory, &format!("{run} --out results"));
    assert_eq!(status, 0, "{errors}");
    // Whether there is a choice is this machine's affair: trials may not have been steady.
    for part in ["Prediction (first) beside measurement (second)", "hoice ", "95 % interval"] {
        assert!(output.contains(part), "{output}");
    }
    assert!(errors.contains("it holds for those drives, not for these images"), "{errors}");
    // The models are cut to the members, so that heads move no further than on them.
    let manifest = fs::read_to_string(directory.join("results-sim/manifest.toml")).unwrap();
    assert!(manifest.contains("1xst118273lc:4096+1xst118273lc:4096"), "{manifest}");
    let (status, output, errors) = ileave(directory, &format!("{run} --json --out again"));
    assert_eq!(status, 0, "{errors}");
    let json: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(json["prediction"]["cells"].as_array().unwrap().len(), 4);
    // Without a model it says how to come by one, before anything runs.
    let none = fs::read_to_string(directory.join("reads.toml")).unwrap();
    let none = none.replace("drives = \"2xst118273lc\"\n", "");
    fs::write(directory.join("none.toml"), none).unwrap();
    let run = "run none.toml --on sim,disks --members a.img,b.img --out none";
    let (status, _, errors) = ileave(directory, run);
    assert!(status == 2 && errors.contains("`ileave drives probe`"), "{errors}");
    assert!(!directory.join("none").exists());
    let (status, _, errors) = ileave(directory, "run reads.toml --on disks,sim --members a.img");
    assert!(status == 2 && errors.contains("write sim,disks"), "{errors}");
}

/// Repeats end where comparisons are clear or narrow, and a run that goes on ends them at the same place.
#[test]
fn repeats_end_when_comparisons_are_settled() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let run =
        "run reads.toml --on disks --members a.img,b.img --create 1MiB --repeat 8 --within 50";
    let (status, output, errors) = ileave(directory, &format!("{run} --out results"));
    assert_eq!(status, 0, "{errors}");
    assert!(
        output.contains("cells are settled") || output.contains("no cell is settled"),
        "{output}"
    );
    let trials = || fs::read_to_string(directory.join("results/trials.jsonl")).unwrap();
    let (once, lines) = (trials(), trials().lines().count());
    assert!((6..=16).contains(&lines), "three repeats of two cells at least: {lines}");
    let attempts = fs::read_to_string(directory.join("results/attempts.jsonl")).unwrap();
    assert!(attempts.contains("\"calibrated\""), "{attempts}");
    // Some of the last trials are lost, as after a crash; `--create` finds its files.
    let kept: Vec<&str> = once.lines().take(lines - 2).collect();
    fs::write(directory.join("results/trials.jsonl"), kept.join("\n") + "\n").unwrap();
    let (status, _, errors) = ileave(directory, &format!("{run} --resume results"));
    assert_eq!(status, 0, "{errors}");
    let (status, _, errors) = ileave(directory, &format!("{run} --resume results --shard 1/2"));
    assert!(status == 2 && errors.contains("`run.compare_within` compares all cells"), "{errors}");
}

#[test]
fn nothing_is_written_without_being_told_to() {
    let directory = directory();
    let directory = directory.path();
    let image = vec![0xa5; 1 << 20];
    fs::write(directory.join("a.img"), &image).unwrap();
    let (status, _, errors) =
        ileave(directory, "run writes.toml --on disks --members a.img --out results");
    assert_eq!(status, 2);
    assert!(errors.contains("workload `write` would write on a.img"), "{errors}");
    assert!(errors.contains("give `--write`"), "{errors}");
    let mut signed = image.clone();
    signed[510..512].copy_from_slice(&[0x55, 0xaa]);
    fs::write(directory.join("a.img"), &signed).unwrap();
    let (status, _, errors) =
        ileave(directory, "run writes.toml --on disks --members a.img --write --out results");
    assert_eq!(status, 2);
    assert!(errors.contains("a.img holds an MBR partition table or boot block"), "{errors}");
    assert!(fs::read(directory.join("a.img")).unwrap() == signed);
    assert!(!directory.join("results").exists());
}

#[test]
fn what_only_a_model_can_vary_is_an_error_that_names_the_key() {
    let directory = directory();
    let directory = directory.path();
    let run = "run reads.toml --on disks --members a.img --create 1MiB --out results";
    for (set, key) in [
        ("drive.write_cache=on,off", "drive.write_cache"),
        ("host.max_transfer=64KiB,1MiB", "host.max_transfer"),
        ("volume.drives=2xst118273lc,3xst118273lc", "volume.drives"),
    ] {
        let (status, _, errors) = ileave(directory, &format!("{run} --set {set}"));
        assert_eq!(status, 2, "{errors}");
        assert!(
            errors.contains(&format!("`{key}` is varied, but only modelled drives have it")),
            "{errors}"
        );
        assert!(!directory.join("a.img").exists(), "nothing is made for a run that cannot be");
    }
    if rings_allowed(directory) {
        let (status, _, errors) = ileave(directory, &format!("{run} --set drive.write_cache=on"));
        assert_eq!(status, 0, "{errors}");
        assert!(
            errors.contains("`drive.write_cache` is ignored: only the simulator uses it"),
            "{errors}"
        );
    }
}

#[test]
fn flags_that_belong_together_say_so() {
    let directory = directory();
    let directory = directory.path();
    for (arguments, part) in [
        ("run reads.toml --on disks", "--members"),
        ("run reads.toml --members a.img", "add `--on disks`"),
        ("run reads.toml --on disks --members a.img --overwrite-signed", "--write"),
        (
            "run reads.toml --on disks --members a.img",
            "`--create SIZE` creates missing image files",
        ),
        ("run reads.toml --on disks --members a.img --create 1MiB --failed 1", "--failed 1"),
        ("run reads.toml --on disks --members a.img --create 1XB", "--create"),
        ("run reads.toml --on disks --buffered", "`--on disks` has no members"),
        (
            "run reads.toml --on disks --images 2x1MiB --create 1MiB",
            "`--create` is for `--members`",
        ),
        ("run reads.toml --on disks --images 2x1MiB --member-size 64", "`--member-size` is for"),
        ("run reads.toml --on disks --images 2x1MiB --failed 2", "--failed 2: there are 2 members"),
        (
            "run reads.toml --on disks --images 2x1MiB --failed 0 --plan",
            "cannot do without member 0",
        ),
    ] {
        let (status, _, errors) = ileave(directory, arguments);
        assert_eq!(status, 2, "{arguments}: {errors}");
        assert!(errors.contains(part), "{arguments}: {errors}");
    }
}

/// The images were filled first, and stayed.
#[test]
fn a_run_that_is_refused_creates_no_images() {
    let directory = directory();
    let directory = directory.path();
    let run = "--on disks --members a.img,b.img --create 1MiB --out results";
    for (what, part) in [
        ("writes.toml", "give `--write` if what they hold may be lost"),
        ("writes.toml --write --set workload.write.direct=false", "give `--buffered`"),
        ("reads.toml --failed 1", "`volume.level` = stripe cannot do without member 1"),
        ("reads.toml --failed 2", "--failed 2: there are 2 members"),
    ] {
        let (status, _, errors) = ileave(directory, &format!("run {what} {run}"));
        assert_eq!(status, 2, "{what}: {errors}");
        assert!(errors.contains(part), "{what}: {errors}");
        let made = ["a.img", "b.img", "results"].map(|name| directory.join(name).exists());
        assert_eq!(made, [false; 3], "{what}");
    }
}

#[test]
fn a_failed_member_that_nothing_stands_in_for_is_named() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let run =
        "run reads.toml --on disks --members a.img,b.img --create 1MiB --failed 1 --out results";
    let (status, _, errors) = ileave(directory, run);
    assert_eq!(status, 2, "{errors}");
    let part = "--failed 1 (b.img): `volume.level` = stripe cannot do without member 1";
    assert!(errors.contains(part), "{errors}");
}

/// A file that is cut short while trials run on it: the run ends, what it has is kept, and it goes on
/// when the file is whole again.
#[test]
fn a_member_that_fails_under_a_run_ends_it_and_loses_no_trial() {
    let directory = directory();
    let directory = directory.path();
    if !rings_allowed(directory) {
        return;
    }
    let run = "run reads.toml --on disks --members a.img,b.img --create 2MiB --set volume.level=mirror \
               --set volume.interleave=8 --set workload.read.runtime=1s --set \
               workload.read.requests_per_s=200 --repeat 3";
    let arguments = format!("{run} --out results");
    let child = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let trials = || fs::read_to_string(directory.join("results/trials.jsonl")).unwrap_or_default();
    for _ in 0..1000 {
        sleep(Duration::from_millis(10));
        if !trials().is_empty() {
            break;
        }
    }
    let image = OpenOptions::new().write(true).open(directory.join("b.img")).unwrap();
    image.set_len(0).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for part in [
        "trial ",
        "member 1 (b.img) failed: Read of ",
        "start a new run with `--failed 1`",
        "finished trials are kept; continue with `--resume results`",
    ] {
        assert!(errors.contains(part), "{errors}");
    }
    let kept = trials();
    assert!((1..3).contains(&kept.lines().count()), "{kept}");
    let degraded = format!("{run} --failed 1 --resume results");
    let (status, _, errors) = ileave(directory, &degraded);
    assert_eq!(status, 2, "a degraded volume is another experiment: {errors}");
    // Of a hole nothing would be read from the disk.
    std::io::Write::write_all(&mut &image, &vec![0xa5; 2 << 20]).unwrap();
    image.sync_all().unwrap();
    let (status, _, errors) = ileave(directory, &format!("{run} --resume results"));
    assert_eq!(status, 1, "{errors}");
    for part in ["left out `read`", "member 1 (b.img) failed", "--resume results --retry-suspects"]
    {
        assert!(errors.contains(part), "{errors}");
    }
    assert_eq!(trials(), kept, "the cell that failed is not tried again unasked");
    let again = format!("{run} --resume results --retry-suspects");
    let (status, _, errors) = ileave(directory, &again);
    assert_eq!(status, 0, "{errors}");
    assert!(kept.lines().all(|line| trials().contains(line)) && trials().lines().count() == 3);
    let (status, _, errors) = ileave(directory, &format!("{run} --failed 1 --out degraded"));
    assert_eq!(status, 0, "{errors}");
}
