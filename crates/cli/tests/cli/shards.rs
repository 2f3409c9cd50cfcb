//! Shards of a run, on their own and merged: the same bytes as one run, whatever happens to them meanwhile.

use super::{ileave, json, scratch, stdout};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// 96 short trials.
pub(super) const SWEEP: &str = "
name = \"sweep\"
[volume]
drives = \"2xst118273lc\"
interleave = [8, 16, 32, 64]
[run]
repeats = 12
[workload.read]
block = \"1MiB\"
count = 30
[workload.write]
op = \"write\"
block = \"1MiB\"
count = 30
";

/// The files that follow from the experiment alone.
pub(super) fn bytes(directory: &Path) -> [Vec<u8>; 2] {
    ["manifest.toml", "trials.jsonl"].map(|name| fs::read(directory.join(name)).unwrap())
}

fn fails(here: &Path, arguments: &[&str], expected: &str) {
    let output = ileave(here, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
}

#[test]
fn seven_shards_in_any_order_are_one_run() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    stdout(here, &["run", "sweep.toml", "--out", "whole"]);
    let mut finished = 0;
    for number in [3, 7, 1, 6, 2, 5, 4] {
        let shard = format!("{number}/7");
        let said = json(here, &["run", "sweep.toml", "--shard", &shard, "--json"]);
        assert_eq!(said["shard"], shard.as_str());
        finished += said["finished"].as_u64().unwrap();
    }
    assert_eq!(finished, 96);
    let shards: Vec<String> =
        (1..=7).map(|number| format!("ileave-results/sweep-{number}-of-7")).collect();
    let shards: Vec<&str> = shards.iter().map(String::as_str).collect();
    stdout(here, &[&["merge", "--out", "merged"], &shards[..]].concat());
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
    // Wall-clock facts are kept, once each.
    let attempts = || fs::read_to_string(here.join("merged/attempts.jsonl")).unwrap();
    assert_eq!(attempts().lines().count(), 2 * 96);
    // Merged again, in another order, one of them twice, and the merged one with them.
    let again = [&["merge", "merged", "./merged", shards[4]], &shards[..], &["--out", "merged"]];
    let said = json(here, &[&again.concat()[..], &["--json"]].concat());
    assert_eq!((said["trials"].as_u64(), said["finished"].as_u64()), (Some(96), Some(96)));
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
    assert_eq!(attempts().lines().count(), 2 * 96);
    assert_eq!(stdout(here, &["report", "merged"]), stdout(here, &["report", "whole"]));
}

#[test]
fn a_shard_says_what_comes_next_and_is_continued() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    let said = stdout(here, &["run", "sweep.toml", "--shard", "2/3", "--lanes", "1"]);
    let directory = "ileave-results/sweep-2-of-3";
    let next = format!("ileave merge {directory} … --out DIR");
    assert!(said.contains("Shard 2/3") && said.contains(&next), "{said}");
    // Asked for again, it has nothing left to do.
    let before = bytes(&here.join(directory));
    assert_eq!(stdout(here, &["run", "sweep.toml", "--shard", "2/3"]), said);
    assert!(bytes(&here.join(directory)) == before);
    let starts = fs::read_to_string(here.join(directory).join("attempts.jsonl")).unwrap();
    assert_eq!(starts.lines().count(), 2 * String::from_utf8_lossy(&before[1]).lines().count());
}

/// A killed `submit` took another `about`, and merged neither with it nor without it.
#[test]
fn shards_of_one_run_may_be_about_other_things() {
    let scratch = scratch();
    let here = scratch.path();
    for (number, about) in [("1/2", ""), ("2/2", "about = \"two disks\"\n")] {
        fs::write(here.join("sweep.toml"), format!("{about}{SWEEP}")).unwrap();
        stdout(here, &["run", "sweep.toml", "--shard", number]);
    }
    let shards = ["1", "2"].map(|number| format!("ileave-results/sweep-{number}-of-2"));
    stdout(here, &["merge", "--out", "merged", &shards[1], &shards[0]]);
    let said = json(here, &["report", "merged", "--json"]);
    assert_eq!(said["trials"].as_array().unwrap().len(), 96);
    fs::write(here.join("sweep.toml"), SWEEP.replace("count = 30", "count = 31")).unwrap();
    stdout(here, &["run", "sweep.toml", "--shard", "2/2", "--out", "other"]);
    fails(here, &["merge", "--out", "merged", "other"], "are not of the same run");
}

#[test]
fn a_partial_merge_names_what_is_missing_and_is_resumed() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    stdout(here, &["run", "sweep.toml", "--out", "whole"]);
    for shard in ["1/3", "3/3"] {
        stdout(here, &["run", "sweep.toml", "--shard", shard]);
    }
    let (first, third) = ("ileave-results/sweep-1-of-3", "ileave-results/sweep-3-of-3");
    let merge = ["merge", first, third, "--out", "merged"];
    fails(here, &merge, "of the 96 trials of `sweep` are missing: ");
    assert!(!here.join("merged").exists());
    let said = stdout(here, &[&merge[..], &["--partial"]].concat());
    assert!(said.contains("Missing trials: ") && said.contains("--resume merged"), "{said}");
    let missing = json(here, &[&merge[..], &["--partial", "--json"]].concat());
    let missing = missing["missing"].as_array().unwrap().len();
    let finished = fs::read_to_string(here.join("merged/trials.jsonl")).unwrap().lines().count();
    assert!(missing > 0 && finished + missing == 96, "{finished} and {missing}");
    stdout(here, &["run", "sweep.toml", "--resume", "merged"]);
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
}

/// What is not there may be better: no form of the verdict leaves that out.
#[test]
fn a_verdict_on_a_part_of_the_trials_says_so_in_every_form() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    stdout(here, &["run", "sweep.toml", "--out", "whole"]);
    stdout(here, &["run", "sweep.toml", "--shard", "1/2", "--out", "half"]);
    let finished = fs::read_to_string(here.join("half/trials.jsonl")).unwrap().lines().count();
    let missing = 96 - finished;
    let said = json(here, &["report", "half", "--json"]);
    assert_eq!(
        (&said["planned"], &said["finished"], &said["missing"]),
        (&96.into(), &finished.into(), &missing.into())
    );
    assert_eq!(said["verdict"]["points"][0]["about"], "unfinished");
    let words = format!("{missing} of 96 trials are missing");
    let page = stdout(here, &["report", "half", "--html", "half.html"]);
    let forms = [
        stdout(here, &["report", "half"]),
        stdout(here, &["report", "half", "--markdown"]),
        fs::read_to_string(here.join("half.html")).unwrap(),
        page,
        said.to_string(),
    ];
    for form in forms {
        assert!(form.contains(&words), "{form}");
    }
    let whole = json(here, &["report", "whole", "--json"]);
    assert_eq!((&whole["planned"], &whole["missing"]), (&96.into(), &0.into()));
    assert!(!whole.to_string().contains("unfinished"));
}

/// A merge notes when trials ran, and writes the trials last. Killed anywhere between, it is done again: nothing is
/// noted twice, and no trial is lost.
#[test]
fn a_merge_that_was_killed_before_its_trials_is_done_again() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    for shard in ["1/3", "2/3", "3/3"] {
        stdout(here, &["run", "sweep.toml", "--shard", shard]);
    }
    let shards = [1, 2, 3].map(|number| format!("ileave-results/sweep-{number}-of-3"));
    let merge = ["merge", &shards[0], &shards[1], &shards[2], "--out", "merged"];
    stdout(here, &merge);
    let merged = here.join("merged");
    let whole = bytes(&merged);
    let lines = || {
        let text = fs::read_to_string(merged.join("attempts.jsonl")).unwrap();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    let noted = lines();
    assert_eq!(noted.len(), 2 * 96);
    let attempts = fs::read(merged.join("attempts.jsonl")).unwrap();
    // Within a line, at the end of one, and when all were noted.
    let line = attempts.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for kept in [0, line / 2, line, attempts.len() / 3, attempts.len()] {
        fs::write(merged.join("attempts.jsonl"), &attempts[..kept]).unwrap();
        fs::write(merged.join("trials.jsonl"), "").unwrap();
        // What was to become the trials, and did not.
        fs::write(merged.join("trials.jsonl.new"), &whole[1][..kept.min(1000)]).unwrap();
        stdout(here, &merge);
        assert!(bytes(&merged) == whole, "{kept}");
        assert_eq!(lines(), noted, "{kept}");
    }
}

/// Kill -9 of a shard whenever a trial has been added, and the same command again.
#[test]
fn a_shard_that_is_killed_loses_nothing() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    stdout(here, &["run", "sweep.toml", "--out", "whole"]);
    stdout(here, &["run", "sweep.toml", "--shard", "2/2"]);
    let trials = here.join("ileave-results/sweep-1-of-2/trials.jsonl");
    let length = || fs::metadata(&trials).map_or(0, |file| file.len());
    let (mut deaths, given_up) = (0, Instant::now() + Duration::from_secs(300));
    loop {
        let before = length();
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(["run", "sweep.toml", "--shard", "1/2", "--lanes", "1"])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while length() == before && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < given_up, "no trial is ever added");
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            break;
        }
        assert_eq!(status.code(), None, "it failed on its own");
        deaths += 1;
    }
    assert!(deaths > 1, "{deaths} deaths: the shard is too short to test anything");
    let shards = ["ileave-results/sweep-1-of-2", "ileave-results/sweep-2-of-2"];
    stdout(here, &["merge", shards[0], shards[1], "--out", "merged"]);
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
}

#[test]
fn what_is_not_of_the_same_run_is_refused() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    fs::write(here.join("other.toml"), SWEEP.replace("\"sweep\"", "\"other\"")).unwrap();
    stdout(here, &["run", "sweep.toml", "--shard", "1/2", "--out", "a"]);
    stdout(here, &["run", "sweep.toml", "--shard", "2/2", "--out", "b"]);
    stdout(here, &["run", "other.toml", "--shard", "2/2", "--out", "other"]);
    stdout(here, &["run", "sweep.toml", "--seed", "7", "--shard", "2/2", "--out", "seed"]);
    let refused = |second: &str, expected: &str| {
        fails(here, &["merge", "a", second, "--out", "merged"], expected);
        assert!(!here.join("merged").exists());
    };
    refused("other", "a and other are not of the same run (a is of `sweep`, other of `other`)");
    refused(
        "seed",
        "a and seed are not of the same run (`run.seed`: a does not set it, seed has 7)",
    );
    refused("none", "none is not a results directory");
    let change = |from: &str, to: &str, file: &str| {
        fs::create_dir_all(here.join("changed")).unwrap();
        for name in ["manifest.toml", "trials.jsonl"] {
            let text = fs::read_to_string(here.join("b").join(name)).unwrap();
            let text = if name == file { text.replacen(from, to, 1) } else { text };
            fs::write(here.join("changed").join(name), text).unwrap();
        }
    };
    let version = format!("ileave = \"{}\"", env!("CARGO_PKG_VERSION"));
    change(&version, "ileave = \"0.0.1\"", "manifest.toml");
    refused("changed", ", changed of 0.0.1)");
    change("[factors", "[machine]\nkernel = \"6.1\"\n\n[factors", "manifest.toml");
    refused("changed", "a ran where kernel is `unknown`, changed where it is `6.1`");
    // Another result for the same trial.
    change("\"requests\":30", "\"requests\":31", "trials.jsonl");
    fails(
        here,
        &["merge", "a", "b", "changed", "--out", "merged"],
        "has one result in b and another in changed",
    );
    // A directory with something else in it is left alone.
    fs::create_dir(here.join("full")).unwrap();
    fs::write(here.join("full/notes.txt"), "mine").unwrap();
    fails(here, &["merge", "a", "b", "--out", "full"], "is neither empty nor a results directory");
    for (shard, expected) in
        [("0/2", "there is no shard 0/2; give 1/2 to 2/2"), ("two", "`two` is not a shard")]
    {
        fails(here, &["run", "sweep.toml", "--shard", shard], expected);
    }
}

/// A window of a trace is a trial like any other: the shards of a run have its windows apart, and merged they are one run.
/// While some are missing, their cell is not reported, for the others are not the whole trace.
#[test]
fn windows_of_a_trace_are_spread_over_shards() {
    let scratch = scratch();
    let here = scratch.path();
    let line = |index: u64| {
        let offset = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000 * 4096;
        let op = if index.is_multiple_of(3) { "Write" } else { "Read" };
        format!("{},usr,0,{op},{offset},4096,1\n", 128_166_372_003_061_629 + 200_000 * index)
    };
    fs::write(here.join("day.csv"), (0..600).map(line).collect::<String>()).unwrap();
    let text = "name = \"day\"\nrun.repeats = 1\n[volume]\ndrives = \"2xst18000nm000j\"\nlevel = [\"stripe\", \"mirror\"]\n[workload.day]\n\
                kind = \"trace\"\nfile = \"day.csv\"\nwindows = 6\nwarm_up = 50\n";
    fs::write(here.join("day.toml"), text).unwrap();
    let said = stdout(here, &["run", "day.toml", "--out", "whole"]);
    let lines = fs::read_to_string(here.join("whole/trials.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 12);
    let shards = ["ileave-results/day-1-of-2", "ileave-results/day-2-of-2"];
    for (shard, directory) in ["1/2", "2/2"].into_iter().zip(shards) {
        stdout(here, &["run", "day.toml", "--shard", shard]);
        let own = fs::read_to_string(here.join(directory).join("trials.jsonl")).unwrap();
        assert!((1..12).contains(&own.lines().count()));
    }
    stdout(here, &["merge", shards[0], shards[1], "--out", "merged"]);
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
    // One trial a cell is reported.
    let report = json(here, &["report", "merged", "--json"]);
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    assert!(trials.iter().all(|trial| trial["requests"] == 600), "{report}");
    assert!(said.contains("Use ") || said.contains("tie"), "{said}");
    let csv = stdout(here, &["report", "merged", "--csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    stdout(here, &["compare", "merged", "whole"]);
    // Killed after 7 of 12: its last line is cut off, and what is left is run again.
    let cut: Vec<&str> = lines.lines().take(7).collect();
    fs::write(here.join("merged/trials.jsonl"), format!("{}\n{{\"trial\"", cut.join("\n")))
        .unwrap();
    let partial = ileave(here, &["report", "merged"]);
    let partial = String::from_utf8_lossy(&partial.stdout).to_string()
        + &String::from_utf8_lossy(&partial.stderr);
    assert!(partial.contains("7 of 12 trials"), "{partial}");
    stdout(here, &["run", "day.toml", "--resume", "merged"]);
    assert!(bytes(&here.join("merged")) == bytes(&here.join("whole")));
}
