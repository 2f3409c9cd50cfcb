//! fio's job files from outside, and McVoy's table.

use super::{ileave, json, project, scratch, skipped, stdout};
use std::process::Command;

#[test]
fn a_job_file_runs_as_it_does_in_fio() {
    let scratch = scratch();
    let here = scratch.path();
    let job = std::fs::read_to_string(project("fuzz/seeds/fio/mix")).unwrap();
    std::fs::write(here.join("job.fio"), format!("{job}group_reporting\n")).unwrap();
    let volume = ["--drives", "4xwd740gd", "--level", "stripe", "--interleave", "128"];
    let output = ileave(here, &[&["run", "job.fio", "--json"][..], &volume].concat());
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && warnings.contains("warning: job.fio:"), "{warnings}");
    assert!(warnings.contains("`group_reporting` has no effect here"), "{warnings}");
    let shown = stdout(here, &[&["run", "job.fio"][..], &volume].concat());
    assert!(shown.contains("mix MB/s") && shown.contains("kept its rate"), "{shown}");
    let sampled = json(here, &[&["run", "job.fio", "--json"][..], &volume].concat());
    let trials = sampled["trials"].as_array().unwrap();
    let mix = trials.iter().find(|trial| trial["workload"] == "mix").unwrap();
    for sample in ["read_p99_ms", "write_p99_ms", "flush_p99_ms"] {
        assert!(mix["samples"][sample].as_f64().unwrap() > 0.0, "{sample}");
    }
    match Command::new("fio").args(["--parse-only", "job.fio"]).current_dir(here).output() {
        Ok(output) => assert!(output.status.success(), "fio refuses it: {output:?}"),
        // Where there is no fio, there is nothing to compare with; the test says so.
        Err(error) => skipped(&format!("is the job fio's too? ({error})")),
    }
}

#[test]
fn what_a_job_asks_and_ileave_has_not_is_named() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("job.fio"), "[a]\nsize=1m\nverify_backlog=8\nwait_for=b\n")
        .unwrap();
    let output = ileave(scratch.path(), &["run", "job.fio", "--drives", "wd740gd"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("job.fio:3: `verify_backlog` is not supported"), "{error}");
    assert!(error.contains("job.fio:4: `wait_for` is not supported"), "{error}");
}

#[test]
fn the_1990_numbers_lie_within_6_percent() {
    let compared = json(scratch().path(), &["reproduce", "mcvoy-1990", "--json"]);
    let cells = compared["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 7);
    for cell in cells {
        let ours = cell["simulated"].as_f64().unwrap();
        let theirs = &cell["published"];
        let (low, high) = match theirs.as_f64() {
            Some(number) => (number, number),
            None if theirs.is_null() => continue,
            None => (theirs["low"].as_f64().unwrap(), theirs["high"].as_f64().unwrap()),
        };
        assert!(ours > 0.94 * low && ours < 1.06 * high, "{cell}");
        assert_eq!(cell["fitted"], false);
    }
    assert!(compared["inferred"].as_array().unwrap().len() > 3);
}

/// fio's latency of a write with `sync=1` has the flush in it; the write alone stood first, 0.107 ms beside 8.35.
#[test]
fn a_synchronous_write_is_a_commit() {
    let scratch = scratch();
    let here = scratch.path();
    let job = "[log]\nioengine=libaio\ndirect=1\nsync=1\nbs=4k\nsize=1g\nrw=write\niodepth=1\n";
    std::fs::write(here.join("log.fio"), job).unwrap();
    let run = ["run", "log.fio", "--drives", "1xst18000nm000j", "--out", "there"];
    let output = ileave(here, &run);
    let [text, warned] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(text.contains("commit p99 ms") && !text.contains("  p99 ms"), "{text}");
    assert!(
        warned.contains("fio's latency of a write includes it, as that of a commit does here"),
        "{warned}"
    );
    // Of a mix the reads still have theirs.
    std::fs::write(here.join("mix.fio"), job.replace("rw=write", "rw=rw")).unwrap();
    let text = stdout(here, &["run", "mix.fio", "--drives", "1xst18000nm000j", "--out", "mix"]);
    assert!(text.contains("  p99 ms"), "{text}");
}

/// 26 million requests ran for minutes, and nothing was said.
#[test]
fn a_long_job_says_how_many_requests_it_makes() {
    let scratch = scratch();
    let here = scratch.path();
    let job = "[r]\nrw=randread\nbs=4k\ndirect=1\nsize=100g\n";
    std::fs::write(here.join("job.fio"), job).unwrap();
    std::fs::write(here.join("file"), "").unwrap();
    let said = |job: &str| {
        std::fs::write(here.join("job.fio"), job).unwrap();
        // It ends where there is no place for results.
        let volume = ["--drives", "2xwd740gd:60GiB", "--level", "stripe", "--out", "file/x"];
        let output = ileave(here, &[&["run", "job.fio"][..], &volume].concat());
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let long = said(job);
    let words =
        "each trial of `r` makes up to 26 million requests, which takes a while; without `amount`";
    assert!(long.contains(words) && long.contains("`time_based` with `runtime`"), "{long}");
    assert!(!said(&format!("{job}time_based\nruntime=9\n")).contains("million"));
}
