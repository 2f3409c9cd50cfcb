//! A results directory holds all that its report needs, and one of a former format stays of use.

use super::{experiment, ileave, project, scratch, stdout};
use std::path::Path;

/// What a run on files of one's own needs, and its results in format 1: the first trials of it.
fn format_1(here: &Path) {
    let from = project("crates/cli/tests/format-1");
    std::fs::create_dir(here.join("results")).unwrap();
    for name in [
        "experiment.toml",
        "drive.toml",
        "box.toml",
        "results/manifest.toml",
        "results/trials.jsonl",
    ] {
        let text = std::fs::read_to_string(from.join(name)).unwrap();
        let made_by = format!("ileave = \"{}\"", env!("CARGO_PKG_VERSION"));
        std::fs::write(here.join(name), text.replace("ileave = \"0.1.0\"", &made_by)).unwrap();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_report_is_the_same_whatever_has_become_of_the_files() {
    let scratch = scratch();
    let here = scratch.path();
    format_1(here);
    let shown = stdout(here, &["run", "experiment.toml", "--out", "new"]);
    let report = stdout(here, &["report", "new"]);
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("195.3") && words.contains("below 12 % are ties"), "{report}");
    assert_eq!(shown.replace("\nResults: new\n", ""), report);
    let manifest = read(&here.join("new/manifest.toml"));
    for words in ["[drives.\"./drive.toml\"]", "[hosts.ideal]", "[controllers.\"./box.toml\"]"] {
        assert!(manifest.contains(words), "no `{words}` in: {manifest}");
    }
    std::fs::remove_file(here.join("drive.toml")).unwrap();
    std::fs::write(here.join("box.toml"), "nonsense").unwrap();
    assert_eq!(stdout(here, &["report", "new"]), report);
}

/// The star of a fitted cell, too.
#[test]
fn what_was_fitted_is_what_the_manifest_says() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    let path = here.join("results/manifest.toml");
    let manifest = read(&path);
    assert_eq!(stdout(here, &["report", "results"]).matches('*').count(), 5);
    std::fs::write(&path, manifest.replace("table = \"fair-2006\"", "table = \"other\"")).unwrap();
    assert_eq!(stdout(here, &["report", "results"]).matches('*').count(), 0);
}

#[test]
fn results_of_format_1_are_reported_with_what_the_catalogue_has() {
    let scratch = scratch();
    let here = scratch.path();
    format_1(here);
    let report = stdout(here, &["report", "results"]);
    for words in ["195.3", "model's error of 12 %", "3 of 4 trials finished"] {
        assert!(report.contains(words), "no `{words}` in: {report}");
    }
    // Reading changes nothing, and what is gone is left blank.
    assert!(read(&here.join("results/manifest.toml")).starts_with("format = 1\n"));
    std::fs::remove_file(here.join("drive.toml")).unwrap();
    let report = stdout(here, &["report", "results"]);
    assert!(!report.contains("US$") && report.contains("model's error of 5"), "{report}");
}

/// Its digests say that the files are those of then, so that it becomes a directory of today's format.
#[test]
fn a_run_of_format_1_is_gone_on_with() {
    let scratch = scratch();
    let here = scratch.path();
    format_1(here);
    let finished = read(&here.join("results/trials.jsonl"));
    stdout(here, &["run", "experiment.toml", "--resume", "results"]);
    stdout(here, &["run", "experiment.toml", "--out", "new"]);
    let [resumed, new] =
        ["results", "new"].map(|name| read(&here.join(name).join("manifest.toml")));
    assert_eq!(resumed, new);
    let trials = read(&here.join("results/trials.jsonl"));
    assert_eq!((finished.lines().count(), trials.lines().count()), (3, 4));
    assert!(finished.lines().all(|line| trials.lines().any(|kept| kept == line)));
}

#[test]
fn a_run_of_format_1_on_files_that_have_changed_is_not() {
    let scratch = scratch();
    let here = scratch.path();
    format_1(here);
    let drive = read(&here.join("drive.toml"));
    std::fs::write(here.join("drive.toml"), drive.replace("5400", "7200")).unwrap();
    let before = read(&here.join("results/manifest.toml"));
    let output = ileave(here, &["run", "experiment.toml", "--resume", "results"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    for words in
        ["a drive, host, controller or tree file has changed since", "start anew with `--out`"]
    {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(read(&here.join("results/manifest.toml")), before);
}

/// "A drive file has changed since" was said where `--drives` alone differed, and compare's two titles were alike.
#[test]
fn an_option_that_was_given_once_is_named() {
    let scratch = scratch();
    let here = scratch.path();
    let text = "name = \"nas\"\n[volume]\ndrives = \"2xwd740gd\"\nlevel = \"stripe\"\ninterleave = [\"64KiB\", \"128KiB\"]\n\
                [workload.w]\nkind = \"random\"\nblock = \"8KiB\"\ncount = 100\n";
    std::fs::write(here.join("nas.toml"), text).unwrap();
    stdout(here, &["run", "nas.toml", "--out", "one"]);
    stdout(here, &["run", "nas.toml", "--drives", "3xwd740gd", "--out", "other"]);
    let output = ileave(here, &["run", "nas.toml", "--resume", "other"]);
    let error = String::from_utf8(output.stderr).unwrap();
    for words in [
        "`volume.drives`: the store has 3xwd740gd, your file has 2xwd740gd",
        "go on with `--drives 3xwd740gd`, ",
    ] {
        assert!(error.contains(words), "{error}");
    }
    assert!(!error.contains("changed since"), "{error}");
    // What no trial depends on may change: each of these was "another experiment".
    let about = "about = \"two disks\"\nobjective = \"min latency_mean_ms\"\n[run]\nseed = 1\nrepeats = 5\n";
    std::fs::write(here.join("nas.toml"), text.replace("[volume]", &format!("{about}[volume]")))
        .unwrap();
    let resumed = stdout(here, &["run", "nas.toml", "--resume", "one"]);
    assert!(resumed.contains("Ranked by min latency_mean_ms"), "{resumed}");
    let kept = read(&here.join("one/manifest.toml"));
    assert!(kept.contains("two disks") && kept.contains("run.repeats"), "{kept}");
    let more = text
        .replace("[volume]", &format!("{}[volume]", about.replace("repeats = 5", "repeats = 6")));
    std::fs::write(here.join("nas.toml"), more).unwrap();
    let output = ileave(here, &["run", "nas.toml", "--resume", "one"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("`run.repeats`: the store has 5, your file has 6"), "{error}");
    std::fs::write(here.join("nas.toml"), text).unwrap();
    stdout(here, &["run", "nas.toml", "--drives", "3xwd740gd", "--resume", "other"]);
    let compared = stdout(here, &["compare", "one", "other"]);
    let said = "\n  volume.drives: 2xwd740gd in the first, 3xwd740gd in the second\n";
    assert!(compared.contains(said) && !compared.contains("interleave: "), "{compared}");
}
