//! Nothing finished is ever lost: kill -9 anywhere, resume, and the bytes are those of a run that was
//! never interrupted.

use super::{ileave, is_required, scratch, stdout};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

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
count = 100
[workload.write]
op = \"write\"
block = \"1MiB\"
count = 100
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

/// Waits until something has happened. How long that takes is the machine's affair; that it happens is
/// not.
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let given_up = Instant::now() + Duration::from_secs(300);
    while !happened() {
        assert!(Instant::now() < given_up, "it never happens: {what}");
        sleep(Duration::from_millis(1));
    }
}

/// How long the longest file of a directory is, in blocks of 512 bytes.
fn longest_blocks(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let bytes = entries.map(|entry| entry.unwrap().metadata().unwrap().len());
    bytes.max().unwrap_or(0).div_ceil(512)
}

/// A run that dies at the byte with which a file of its results becomes longer than so many blocks of 512
/// bytes, or else is killed once a trial has been added. Whether it came to its end.
fn run_and_die(here: &Path, blocks: Option<u64>) -> bool {
    let started = here.join("killed/manifest.toml").exists();
    let target = if started { "--resume" } else { "--out" };
    let limit = blocks.map_or("unlimited".into(), |blocks| blocks.to_string());
    let script = format!("ulimit -c 0; ulimit -f {limit}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_ileave"), "run", "many.toml", target, "killed"])
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if blocks.is_none() {
        let store = here.join("killed/trials.jsonl");
        let before = read(&store);
        wait_until("a trial is added or all are there", || {
            read(&store) != before || child.try_wait().unwrap().is_some()
        });
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let killed = output.status.code().is_none();
    assert!(output.status.success() || killed, "it failed by itself: {message}");
    !killed
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
    // First at points inside lines, of all files, that no clock chooses; then at once after a trial.
    let manifest_blocks = std::fs::metadata(here.join("whole/manifest.toml")).unwrap().len() / 512;
    let (mut kept, mut deaths, mut ended) = (BTreeSet::new(), 0, false);
    while !ended {
        let blocks = longest_blocks(&here.join("killed")).max(manifest_blocks) + 1 + deaths % 5;
        ended = run_and_die(here, (deaths < 16).then_some(blocks));
        let now = lines(&read(&store));
        assert!(now.is_superset(&kept), "a finished trial was lost");
        kept = now;
        deaths += u64::from(!ended);
        assert!(deaths < 500, "it never finishes");
    }
    assert!(deaths >= 16, "only {deaths} deaths: the run is too short to test anything");
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
    let mut whole = BTreeMap::new();
    for (signal, status, json) in [("INT", 130, false), ("TERM", 143, true)] {
        // A run that is over before the signal comes was too short.
        let counts = std::iter::successors(Some(1000_u64), |count| Some(count * 4));
        let interrupted = |count| interrupted_and_resumed(signal, status, json, count, &mut whole);
        assert!(counts.take(8).any(interrupted), "no run was long enough to be interrupted");
    }
}

/// Whether a run of trials of so many requests was interrupted before its end; if so, all of the above. `whole` has what
/// comes of one that is not interrupted, by that number.
fn interrupted_and_resumed(
    signal: &str,
    status: i32,
    json: bool,
    count: u64,
    whole: &mut BTreeMap<u64, Vec<u8>>,
) -> bool {
    let scratch = scratch();
    let here = scratch.path();
    let long = MANY.replace("count = 100", &format!("count = {count}"));
    std::fs::write(here.join("it's many.toml"), long).unwrap();
    let asked = ["run", "it's many.toml", "--set", "volume.interleave=16,32", "--repeat", "8"];
    let store = here.join("the results/trials.jsonl");
    let more: &[&str] = if json { &["--json"] } else { &[] };
    let mut child = spawn(here, &[&asked[..], &["--out", "the results"], more].concat());
    wait_until("a trial is kept", || {
        !lines(&read(&store)).is_empty() || child.try_wait().unwrap().is_some()
    });
    send(signal, &child);
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        return false;
    }
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(status), &[][..]), "{said}");
    let expected = format!(
        "Continue: ileave run 'it'\\''s many.toml' --set volume.interleave=16,32 --repeat 8{} \
         --resume 'the results'",
        if json { " --json" } else { "" }
    );
    assert_eq!(said.lines().last(), Some(expected.as_str()), "{said}");
    if lines(&read(&store)).len() == 32 {
        return false;
    }
    let command = expected.strip_prefix("Continue: ileave ").unwrap();
    let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_ileave"));
    let shell = Command::new("sh").args(["-c", &command]).current_dir(here).output().unwrap();
    assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
    let whole = whole.entry(count).or_insert_with(|| {
        stdout(here, &[&asked[..], &["--out", "whole"]].concat());
        read(&here.join("whole/trials.jsonl"))
    });
    assert_eq!(read(&store), *whole);
    true
}

/// Published tables are run again as a whole.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_reproduction_says_how_to_begin_again() {
    let scratch = scratch();
    let child = spawn(scratch.path(), &["reproduce", "brownlee-2005", "--json"]);
    // A signal is lost between the call that catches it and the thread that waits for it.
    let takes = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let names = tasks
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.into_iter().any(|name| name.trim_end() == "signals")
    };
    wait_until("it takes Ctrl-C", takes);
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    let last = "Start again: ileave reproduce brownlee-2005 --json";
    assert_eq!(said.lines().last(), Some(last));
}

/// A terminal that takes nothing, as after Ctrl-S, holds up the first Ctrl-C, but not the second. More requests would be told of
/// before the first trial.
#[cfg(target_os = "linux")]
#[test]
fn a_second_interrupt_ends_at_once() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("slow.toml"), MANY.replace("count = 100", "count = 4900000")).unwrap();
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
    wait_until("a trial runs", || !read(&here.join("results/attempts.jsonl")).is_empty());
    send("INT", &child);
    // A thread is in a system call on standard error, which is its first argument.
    wait_until("its message waits to be taken", || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let calls = tasks
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("syscall")).ok());
        calls.into_iter().any(|call| call.split_whitespace().nth(1) == Some("0x2"))
    });
    assert_eq!(child.try_wait().unwrap(), None, "it waits for its message to be taken");
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// A trial is kept when it comes back, also while one that was started before it is still running.
#[test]
fn a_slow_trial_keeps_no_finished_one_from_the_disk() {
    let scratch = scratch();
    let here = scratch.path();
    let text = MANY
        .replace("repeats = 12", "repeats = 2")
        .replace("interleave = [8, 16, 32, 64]", "interleave = 64");
    let with = |slow: &str| text.replacen("count = 100", &format!("count = [100, {slow}]"), 1);
    std::fs::write(here.join("quick.toml"), with("301")).unwrap();
    std::fs::write(here.join("slow.toml"), with("900000000")).unwrap();
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    for seed in 1..=4 {
        let seed = seed.to_string();
        // Which numbers the slow trials have in the plan.
        let quick = format!("quick-{seed}");
        stdout(here, &["run", "quick.toml", "--seed", &seed, "--out", &quick]);
        let all = String::from_utf8(read(&here.join(&quick).join("trials.jsonl"))).unwrap();
        let slow: Vec<usize> = (0..all.lines().count())
            .filter(|&nth| all.lines().nth(nth).unwrap().contains("\"workload.read.count\":301"))
            .collect();
        assert_eq!((all.lines().count(), slow.len()), (6, 2), "{all}");
        let results = format!("results-{seed}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(["run", "slow.toml", "--seed", &seed, "--out", &results])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Once the slow ones have all lanes, or there is nothing else, what was started before is kept.
        wait_until("all that came back is kept", || {
            let attempts = read(&here.join(&results).join("attempts.jsonl"));
            let attempts = String::from_utf8_lossy(&attempts).into_owned();
            let started = attempts.matches("\"started\"").count();
            let is_started = |nth: &&usize| {
                attempts.contains(&format!("{{\"trial\":{nth},\"event\":\"started\""))
            };
            let running = slow.iter().filter(is_started).count();
            let kept = lines(&read(&here.join(&results).join("trials.jsonl"))).len();
            running == lanes.min(2) && kept + running == started && (lanes <= 2 || started == 6)
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Two runs on one directory would spoil it; the second is refused.
#[test]
fn another_ileave_is_kept_out() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("slow.toml"), MANY.replace("count = 100", "count = 900000000"))
        .unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["run", "slow.toml", "--out", "results"])
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the first has begun", || here.join("results/manifest.toml").exists());
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
    let step = if is_required() { 31 } else { 97 };
    for length in (last_line..expected.len()).step_by(step).chain([expected.len() - 1]) {
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
        (
            damaged(&[lines[0], lines[0]]),
            "trials.jsonl:2 is damaged: trial 0 is here a second time, first in line 1; remove one of the two lines",
        ),
        (good.replace("\"trial\":3,", "\"trial\":99,"), "the plan has no trial 99"),
        (good.replace("\"repeat\"", "\"repaet\""), "trials.jsonl:1 is not of format 3"),
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
    let other = "format = 4\nileave = \"7.0\"\nplans = []\n";
    std::fs::write(here.join("results/manifest.toml"), other).unwrap();
    let output = ileave(here, &["report", "results"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("reads formats 1 to 3; read it with ileave 7.0"), "{error}");
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
        assert!(error.contains("but this plan has another trial there"), "{error}");
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
    let output = ileave(here, &["run", "few.toml", "--out", "other"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2)
            && error.contains("neither empty nor a results directory (it has notes.txt)"),
        "{error}"
    );
    assert_eq!(longest_blocks(&here.join("other")), 1);
}
