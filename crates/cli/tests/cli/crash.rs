//! Nothing finished is ever lost: kill -9 anywhere, resume, and the bytes are those of a run that was
//! never interrupted.

use super::{ileave, scratch, stdout};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Enough small trials that a kill falls between, before and into them.
const MANY: &str = "
[volume]
drives = \"2xst118273lc\"
interleave = [8, 16, 32, 64]
[host]
name = \"ultra2-netbsd-3\"
[run]
repeats = 12
[workload.read]
block = \"1MiB\"
count = 300
[workload.write]
op = \"write\"
block = \"1MiB\"
count = 300
";

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

/// The trials of the store whose lines are whole.
fn lines(bytes: &[u8]) -> BTreeSet<Vec<u8>> {
    whole_lines(bytes).split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The lines of the store that are whole.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)]
}

#[test]
fn kill_minus_9_at_many_points_loses_nothing() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("many.toml"), MANY).unwrap();
    stdout(here, &["run", "many.toml", "--out", "whole"]);
    let expected = read(&here.join("whole/trials.jsonl"));
    assert_eq!(String::from_utf8_lossy(&expected).lines().count(), 96);

    let store = here.join("killed/trials.jsonl");
    let mut kept = BTreeSet::new();
    let (mut kills, mut stalled) = (0, 0);
    loop {
        let started = here.join("killed/manifest.toml").exists();
        let target = if started { "--resume" } else { "--out" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(["run", "many.toml", target, "killed"])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // At ever new points; later while nothing gets done, as on a machine that is busy.
        sleep(Duration::from_micros(1500 + 2700 * (kills % 17) + 5000 * stalled));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let now = lines(&read(&store));
        assert!(now.is_superset(&kept), "a finished trial was lost");
        stalled = if now.len() > kept.len() { 0 } else { stalled + 1 };
        kept = now;
        if output.status.success() {
            break;
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), None, "it failed by itself: {message}");
        kills += 1;
        assert!(stalled < 500, "it never finishes");
    }
    assert!(kills >= 10, "only {kills} kills: the run is too short to test anything");
    assert_eq!(read(&store), expected);
    let again = stdout(here, &["report", "killed"]);
    assert!(again.contains("interrupted during trial"), "{again}");
}

fn spawn(here: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(arguments)
        .current_dir(here)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// `INT` is what Ctrl-C sends.
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// What was finished is kept, and the last line is a command that does the rest.
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let scratch = scratch();
    let here = scratch.path();
    let long = MANY.replace("count = 300", "count = 3000");
    std::fs::write(here.join("it's many.toml"), long).unwrap();
    let asked = ["run", "it's many.toml", "--set", "volume.interleave=16,32", "--repeat", "20"];
    stdout(here, &[&asked[..], &["--out", "whole"]].concat());
    for (signal, status, json) in [("INT", 130, false), ("TERM", 143, true)] {
        let results = format!("results {signal}");
        let store = here.join(&results).join("trials.jsonl");
        let more: &[&str] = if json { &["--json"] } else { &[] };
        let mut child = spawn(here, &[&asked[..], &["--out", &results], more].concat());
        while lines(&read(&store)).is_empty() {
            assert_eq!(child.try_wait().unwrap(), None);
            sleep(Duration::from_millis(5));
        }
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(status), &[][..]),
            "{said}"
        );
        let expected = format!(
            "go on with: ileave run 'it'\\''s many.toml' --set volume.interleave=16,32 --repeat 20{} \
             --resume '{results}'",
            if json { " --json" } else { "" }
        );
        assert_eq!(said.lines().last(), Some(expected.as_str()), "{said}");
        assert!(lines(&read(&store)).len() < 80, "it was over before it was interrupted");
        let command = expected.strip_prefix("go on with: ileave ").unwrap();
        let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_ileave"));
        let shell = Command::new("sh").args(["-c", &command]).current_dir(here).output().unwrap();
        assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
        assert_eq!(read(&store), read(&here.join("whole/trials.jsonl")));
    }
}

/// Published tables are run again as a whole.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_reproduction_says_how_to_begin_again() {
    let scratch = scratch();
    let child = spawn(scratch.path(), &["reproduce", "brownlee-2005", "--json"]);
    // Until it takes Ctrl-C, which is signal 2.
    let takes = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
        u64::from_str_radix(caught, 16).unwrap() & 2 != 0
    };
    while !takes() {
        sleep(Duration::from_millis(5));
    }
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    let last = "begin again with: ileave reproduce brownlee-2005 --json";
    assert_eq!(said.lines().last(), Some(last));
}

/// A terminal that takes nothing, as after Ctrl-S, holds up the first Ctrl-C, but not the second.
#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_at_once() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("slow.toml"), MANY.replace("count = 300", "count = 900000000"))
        .unwrap();
    let full = here.join("full");
    assert!(Command::new("mkfifo").arg(&full).status().unwrap().success());
    let mut pipe = File::options().read(true).write(true).open(&full).unwrap();
    // What a pipe holds.
    pipe.write_all(&vec![0; 65_536]).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["run", "slow.toml", "--out", "results"])
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(File::options().write(true).open(&full).unwrap())
        .spawn()
        .unwrap();
    while read(&here.join("results/attempts.jsonl")).is_empty() {
        sleep(Duration::from_millis(5));
    }
    send("INT", &child);
    sleep(Duration::from_millis(600));
    assert_eq!(child.try_wait().unwrap(), None, "it waits for its message to be taken");
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// A trial is kept when it comes back, also while one that was started before it is still running.
#[test]
fn a_slow_trial_keeps_no_finished_one_from_the_disk() {
    let scratch = scratch();
    let here = scratch.path();
    let text = MANY.replace("repeats = 12", "repeats = 2").replacen(
        "count = 300",
        "count = [300, 900000000]",
        1,
    );
    std::fs::write(
        here.join("slow.toml"),
        text.replace("interleave = [8, 16, 32, 64]", "interleave = 64"),
    )
    .unwrap();
    for seed in 1..=4 {
        let results = format!("results-{seed}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(["run", "slow.toml", "--seed", &seed.to_string(), "--out", &results])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let read_attempts =
            || String::from_utf8(read(&here.join(&results).join("attempts.jsonl"))).unwrap();
        // Four quick trials and two slow ones: those that have come back before the slow ones took
        // both lanes must be on the disk.
        for _ in 0..400 {
            sleep(Duration::from_millis(10));
            if read_attempts().lines().count() >= 4 {
                break;
            }
        }
        sleep(Duration::from_millis(300));
        child.kill().unwrap();
        child.wait().unwrap();
        let attempts = read_attempts();
        let started = attempts.matches("started").count();
        let kept = lines(&read(&here.join(&results).join("trials.jsonl"))).len();
        let lanes = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(kept + lanes.min(2) >= started, "{started} started and {kept} kept: {attempts}");
    }
}

/// Two runs on one directory would spoil it; the second is refused.
#[test]
fn another_ileave_is_kept_out() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("slow.toml"), MANY.replace("count = 300", "count = 900000000"))
        .unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["run", "slow.toml", "--out", "results"])
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !here.join("results/manifest.toml").exists() {
        sleep(Duration::from_millis(5));
    }
    let second = ileave(here, &["run", "slow.toml", "--resume", "results"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let error = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(2), "{error}");
    assert!(error.contains("another ileave is writing to results"), "{error}");
}

/// A last line cut at any byte is mended; the rest of the run gives the same bytes.
#[test]
fn a_truncated_last_line_is_repaired() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("few.toml"), MANY.replace("repeats = 12", "repeats = 1")).unwrap();
    stdout(here, &["run", "few.toml", "--out", "whole"]);
    let expected = read(&here.join("whole/trials.jsonl"));
    let last_line = whole_lines(&expected[..expected.len() - 1]).len();
    for length in (last_line..expected.len()).step_by(31).chain([expected.len() - 1]) {
        std::fs::write(here.join("whole/trials.jsonl"), &expected[..length]).unwrap();
        stdout(here, &["run", "few.toml", "--resume", "whole"]);
        assert_eq!(read(&here.join("whole/trials.jsonl")), expected, "cut at {length}");
    }
}

/// Anything else that is wrong is said, with file and line, and nothing is overwritten.
#[test]
fn a_damaged_store_is_an_error_that_names_file_and_line() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("few.toml"), MANY.replace("repeats = 12", "repeats = 1")).unwrap();
    stdout(here, &["run", "few.toml", "--out", "results"]);
    let store = here.join("results/trials.jsonl");
    let good = String::from_utf8(read(&store)).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let damaged = |lines: &[&str]| lines.join("\n") + "\n";
    for (text, words) in [
        (damaged(&[lines[0], "{\"trial\":", lines[2]]), "trials.jsonl:2 is damaged"),
        (damaged(&[lines[0], lines[0]]), "trials.jsonl:2 is damaged: trial 0 stands here"),
        (good.replace("\"trial\":3,", "\"trial\":99,"), "the plan has no trial 99"),
        (good.replace("\"repeat\"", "\"repaet\""), "trials.jsonl:1 is damaged"),
        (good.replace("\"read\"", "\"raed\""), "has no workload `raed`"),
        (good.replacen("HISTFAA", "!ISTFAA", 1), "trials.jsonl:1 is damaged"),
    ] {
        std::fs::write(&store, &text).unwrap();
        for arguments in [&["run", "few.toml", "--resume", "results"][..], &["report", "results"]] {
            let output = ileave(here, arguments);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{error}");
            assert!(error.contains(words), "no `{words}` in: {error}");
            assert_eq!(read(&store), text.as_bytes());
        }
    }
    std::fs::write(here.join("results/manifest.toml"), "format = ").unwrap();
    let output = ileave(here, &["report", "results"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("manifest.toml is damaged"), "{error}");
    // Another format need not have the keys of this one.
    let other = "format = 3\nileave = \"7.0\"\nplans = []\n";
    std::fs::write(here.join("results/manifest.toml"), other).unwrap();
    let output = ileave(here, &["report", "results"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("reads formats 1 to 2; read it with ileave 7.0"), "{error}");
}

/// A line may be whole and still not be what the plan has there.
#[test]
fn a_trial_of_another_plan_is_not_taken_for_one_of_this() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("few.toml"), MANY.replace("repeats = 12", "repeats = 2")).unwrap();
    stdout(here, &["run", "few.toml", "--out", "results"]);
    let store = here.join("results/trials.jsonl");
    let good = String::from_utf8(read(&store)).unwrap();
    let interleaves = good.replacen("\"volume.interleave\":16", "\"volume.interleave\":24", 1);
    let repeats = good.replacen("\"repeat\":1", "\"repeat\":0", 1);
    for text in [interleaves, repeats] {
        assert_ne!(text, good);
        std::fs::write(&store, &text).unwrap();
        let output = ileave(here, &["run", "few.toml", "--resume", "results"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("which is another one in this plan"), "{error}");
        assert_eq!(read(&store), text.as_bytes());
    }
}

/// Without its manifest a directory is no dead end: what can be done is said, and its trials stay.
#[test]
fn trials_without_a_manifest_are_neither_lost_nor_taken_for_others() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("few.toml"), MANY.replace("repeats = 12", "repeats = 1")).unwrap();
    stdout(here, &["run", "few.toml", "--out", "results"]);
    let store = here.join("results/trials.jsonl");
    let trials = read(&store);
    std::fs::remove_file(here.join("results/manifest.toml")).unwrap();
    for flag in ["--resume", "--out"] {
        let output = ileave(here, &["run", "few.toml", flag, "results"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        for words in ["holds trials but no manifest.toml", "put the manifest.toml back", "`--out`"]
        {
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(read(&store), trials);
    }
    // What is not ileave's does not make a directory one of results.
    std::fs::create_dir(here.join("other")).unwrap();
    std::fs::write(here.join("other/notes.txt"), "mine").unwrap();
    stdout(here, &["run", "few.toml", "--out", "other"]);
    assert_eq!(read(&here.join("other/notes.txt")), b"mine");
}
