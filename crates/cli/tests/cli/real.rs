//! What real members are before a trial and did in it: their state, what came from memory, what is said beforehand.

use super::mounted::{errors, is_empty, runs_here, words};
use super::{ileave, mounts, scratch, skipped, stdout};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Output;

const FILES: &str = r#"
    run = { on = "disks", repeats = 1 }
    volume.level = "single"
    fs.kind = "ext4"
    workload.touch = { kind = "touch", files = 50 }
"#;

const READS: &str = r#"
    volume.level = "single"
    workload.read = { kind = "random", block = "64KiB", depth = 4, count = 10000 }
"#;

fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).unwrap();
}

fn run(directory: &Path, line: &str) -> Output {
    ileave(directory, &words(line))
}

/// An answer without its line breaks.
fn joined(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the kernel counts what is read of files here, and rings are allowed.
fn counts_here(output: &Output, directory: &Path) -> bool {
    if errors(output).contains("io_uring") {
        skipped("io_uring is not allowed here");
        return false;
    }
    let number = fs::metadata(directory).unwrap().dev();
    let (major, minor) = (number >> 8 & 0xfff, number & 0xff);
    let is_counted = Path::new(&format!("/sys/dev/block/{major}:{minor}")).exists();
    if !is_counted {
        skipped("the temporary directory is on no disk whose reads are counted");
    }
    is_counted
}

/// The commands of all trials, a line each.
fn commands(store: &Path) -> String {
    let text = fs::read_to_string(store.join("trials.jsonl")).unwrap();
    let mut lines = String::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        for command in record["commands"].as_array().unwrap() {
            lines += command.as_str().unwrap();
            lines.push('\n');
        }
    }
    lines
}

#[test]
fn members_below_file_systems_are_filled_or_emptied_first_and_it_is_said() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    let scratch = scratch();
    let here = scratch.path();
    write(here, "f.toml", FILES);
    let base = "run f.toml --on disks --images 1x320MiB --set fs.kind=ext4,btrfs";
    let steady = run(here, &format!("{base} --state steady --out steady"));
    assert!(steady.status.success(), "{}", errors(&steady));
    let said = joined(&steady.stderr);
    assert!(said.contains("before the first trial, the member is written in order once"), "{said}");
    let manifest = fs::read_to_string(here.join("steady/manifest.toml")).unwrap();
    assert!(manifest.contains("state = \"steady\""), "{manifest}");
    let attempts = fs::read_to_string(here.join("steady/attempts.jsonl")).unwrap();
    assert!(attempts.contains("member0.filled_mb_per_s"), "{attempts}");
    let answer = joined(stdout(here, &["report", "steady"]).as_bytes());
    assert!(answer.contains("were filled before the first trial"), "{answer}");
    let ran = commands(&here.join("steady"));
    assert!(ran.contains(",nodiscard /dev/loop") && ran.contains("mkfs.btrfs -K "), "{ran}");
    assert!(!ran.contains("blkdiscard"), "{ran}");
    let fresh = run(here, &format!("{base} --state fresh --out fresh"));
    assert!(fresh.status.success(), "{}", errors(&fresh));
    let ran = commands(&here.join("fresh"));
    assert_eq!(ran.matches("blkdiscard --force /dev/loop").count(), 2, "{ran}");
    let answer = joined(stdout(here, &["report", "fresh"]).as_bytes());
    assert!(answer.contains("discarded in full before each trial (fresh)"), "{answer}");
    // Results of one state are not gone on with in another.
    let other = run(here, &format!("{base} --state fresh --resume steady"));
    assert_eq!(other.status.code(), Some(2));
    assert!(
        errors(&other).contains("state is `steady`, your file where it is `fresh`"),
        "{}",
        errors(&other)
    );
    is_empty(here);
}

#[test]
fn a_state_takes_leave_to_write() {
    let scratch = scratch();
    let here = scratch.path();
    write(here, "r.toml", READS);
    fs::write(here.join("a.img"), vec![0xa5; 1 << 20]).unwrap();
    let refused = run(here, "run r.toml --on disks --members a.img --state steady");
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("give `--write` if that is meant"), "{}", errors(&refused));
    assert!(fs::read(here.join("a.img")).unwrap() == vec![0xa5; 1 << 20]);
    let other = run(here, "run r.toml --on disks --members a.img --state old");
    assert_eq!(other.status.code(), Some(2));
    assert!(errors(&other).contains("--state old"), "{}", errors(&other));
    let allowed =
        "run r.toml --on disks --members a.img --write --state steady --set workload.read.count=50";
    let filled = run(here, &format!("{allowed} --repeat 1 --out filled"));
    if errors(&filled).contains("io_uring") {
        return skipped("io_uring is not allowed here");
    }
    assert!(filled.status.success(), "{}", errors(&filled));
    assert!(fs::read(here.join("a.img")).unwrap() != vec![0xa5; 1 << 20]);
    let manifest = fs::read_to_string(here.join("filled/manifest.toml")).unwrap();
    assert!(manifest.contains("state = \"steady\""), "{manifest}");
    // A file discards nothing, which is said.
    let fresh = run(here, &allowed.replace("steady", "fresh"));
    assert!(fresh.status.success(), "{}", errors(&fresh));
    assert!(errors(&fresh).contains("a.img can discard nothing"), "{}", errors(&fresh));
}

#[test]
fn a_plan_of_blocks_says_how_long_they_take_and_opens_nothing() {
    let scratch = scratch();
    let here = scratch.path();
    write(here, "r.toml", READS);
    let plan = "run r.toml --on disks --plan --repeat 2 --images 1x64MiB --state steady";
    let printed = stdout(here, &words(plan));
    assert!(printed.starts_with("# state steady: before the first trial, the member"), "{printed}");
    assert!(printed.contains("128MiB to 256MiB each"), "{printed}");
    // 655 MB and 2,500 times the longest of four: 1.5 s on flash, 32 s on disks.
    assert!(printed.contains("# estimate: 2 trials, about 3 s to 63 s"), "{printed}");
    let open = stdout(here, &words(&format!("{plan} --set workload.read.runtime=20s")));
    assert!(open.contains("# estimate: 2 trials, about 40 s"), "{open}");
    // It takes the leave that the run takes.
    fs::write(here.join("a.img"), vec![0xa5; 1 << 20]).unwrap();
    let of_file = "run r.toml --on disks --plan --members a.img --state fresh";
    assert!(errors(&run(here, of_file)).contains("give `--write` if that is meant"));
    assert!(stdout(here, &words(&format!("{of_file} --write"))).contains("before each trial"));
    let names: Vec<_> = fs::read_dir(here).unwrap().collect();
    assert_eq!(names.len(), 2, "only the experiment and the image are there: {names:?}");
}

/// Holes are read from no disk: that is no measurement of one.
#[test]
fn blocks_that_no_member_read_are_no_result() {
    let scratch = scratch();
    let here = scratch.path();
    write(here, "r.toml", READS);
    File::create(here.join("a.img")).unwrap().set_len(16 << 20).unwrap();
    let output = run(here, "run r.toml --on disks --members a.img --repeat 1 --out results");
    if !counts_here(&output, here) {
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let said = errors(&output);
    assert!(said.contains("did not come from the members"), "{said}");
    assert_eq!(fs::read_to_string(here.join("results/trials.jsonl")).unwrap_or_default(), "");
}

/// What is read through the page cache by order is a result, with what came from there beside it.
#[test]
fn blocks_read_twice_through_the_cache_are_flagged() {
    let scratch = scratch();
    let here = scratch.path();
    write(here, "r.toml", READS);
    fs::write(here.join("a.img"), vec![0xa5; 16 << 20]).unwrap();
    let line = "run r.toml --on disks --members a.img --buffered --repeat 1 --out results";
    let output = run(here, line);
    if !counts_here(&output, here) {
        return;
    }
    assert!(output.status.success(), "{}", errors(&output));
    let said = joined(&output.stdout);
    assert!(said.contains("came from memory, not from the members"), "{said}");
    // Read directly, all of it comes from the disk.
    let direct = "run r.toml --on disks --members a.img --repeat 1 --out direct";
    let output = run(here, &format!("{direct} --set workload.read.count=200"));
    assert!(output.status.success(), "{}", errors(&output));
    let text = fs::read_to_string(here.join("direct/trials.jsonl")).unwrap();
    let record: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    let sample = |name: &str| record["samples"][name].as_f64().unwrap();
    assert!(sample("members_read_mb") > 13.0, "{text}");
    assert!(sample("from_memory_percent") < 1.0, "{text}");
}
