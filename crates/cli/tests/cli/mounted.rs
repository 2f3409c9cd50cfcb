//! File systems on images: `--on disks --images`, from the first command to an empty machine.
//!
//! It takes root, loop devices and the programs of ext4 and btrfs; where they are not, that is said.

use super::{ileave, is_required, json, mounts, project, scratch, skipped, stdout};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// ext4 on one image and btrfs on both, small files and a cold spool.
const SMALL: &str = r#"
    name = "small"
    run = { on = "disks", repeats = 2 }
    volume.level = ["btrfs-single", "btrfs-raid1"]
    fs.kind = "btrfs"
    workload.touch = { kind = "touch", files = 200 }
    workload.one = { same_as = "touch", kind = "touch", files = 200, volume.level = "single", fs.kind = "ext4" }
    workload.spool = { kind = "spool", files = 300, directories = 20, readers = 3, files_per_reader = 100 }
"#;

/// All trials of it.
const TRIALS: usize = 10;

/// Where none of it can run, why.
fn cannot() -> Option<String> {
    let made = Command::new("losetup").args(["--find"]).output();
    let has_loops = made.is_ok_and(|made| made.status.success());
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !is_root || !has_loops {
        return Some("this machine makes no loop devices (it takes root)".into());
    }
    let filesystems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let lacks = ["ext4", "btrfs"].into_iter().find(|kind| !filesystems.contains(kind));
    lacks.map(|kind| format!("this machine's kernel has no {kind}"))
}

/// Says why nothing runs here; no package mends it.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub(super) fn runs_here() -> bool {
    match cannot() {
        None => match Command::new("mkfs.btrfs").arg("--version").output() {
            Ok(_) => true,
            Err(_) => {
                skipped("there is no mkfs.btrfs (package btrfs-progs)");
                false
            }
        },
        Some(why) => {
            eprintln!("SKIPPED: {why}");
            false
        }
    }
}

/// That nothing of a run in `directory` is left: no site, mount or loop device.
pub(super) fn is_empty(directory: &Path) {
    let directory = directory.canonicalize().unwrap();
    let here = directory.display().to_string();
    let names = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name());
    let sites: Vec<_> =
        names.filter(|name| name.to_string_lossy().starts_with(".ileave-site")).collect();
    assert!(sites.is_empty(), "{sites:?}");
    assert!(!fs::read_to_string("/proc/self/mountinfo").unwrap().contains(&here));
    for device in fs::read_dir("/sys/block").unwrap().flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file"));
        assert!(!backing.is_ok_and(|path| path.contains(&here)), "{device:?}");
    }
}

pub(super) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

const RUN: &str = "run small.toml --on disks --images 2x160MiB";

fn run(directory: &Path, more: &str) -> Output {
    fs::write(directory.join("small.toml"), SMALL).unwrap();
    ileave(directory, &words(&format!("{RUN} {more}")))
}

pub(super) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The numbers of the trials that are kept.
fn kept(store: &Path) -> Vec<u64> {
    let text = fs::read_to_string(store.join("trials.jsonl")).unwrap_or_default();
    let number = |line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line["trial"].as_u64()
    };
    text.lines().filter_map(number).collect()
}

#[test]
fn file_systems_are_made_on_images_and_nothing_is_left() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    let scratch = scratch();
    let output = run(scratch.path(), "--out results");
    assert!(output.status.success(), "{}", errors(&output));
    let doubt = "the members are images on one file system";
    assert!(errors(&output).contains(doubt));
    // Who reads the answer tomorrow has not seen the warning.
    let answer = stdout(scratch.path(), &["report", "results"]);
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains(doubt), "{answer}");
    is_empty(scratch.path());
    let report = json(scratch.path(), &["report", "results", "--json"]);
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), TRIALS);
    let text = fs::read_to_string(scratch.path().join("results/trials.jsonl")).unwrap();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let samples = &record["samples"];
        let sample = |name: &str| samples[name].as_f64().unwrap();
        assert!(sample("elapsed_s") > 0.0 && sample("members_written_mb") > 0.1, "{line}");
        let commands = record["commands"].as_array().unwrap();
        assert!(commands[0].as_str().unwrap().starts_with("mkfs."), "{line}");
        match record["workload"].as_str().unwrap() {
            // 300 articles of 3.4 KB in the mean, none in memory.
            "spool" => {
                assert!(sample("members_read_mb") > 0.9, "{line}");
                assert!(sample("from_memory_percent") < 10.0, "{line}");
                assert!(sample("files_per_s") > 1.0, "{line}");
            }
            // One image is one image: the other is not touched.
            "one" => assert_eq!(record["member_busy"][1], 0.0, "{line}"),
            _ => assert!(sample("touch_writes") >= 0.0 && sample("unlink_s") > 0.0, "{line}"),
        }
    }
    let manifest = fs::read_to_string(scratch.path().join("results/manifest.toml")).unwrap();
    assert!(manifest.contains("kernel = ") && manifest.contains("\"0: image0\""), "{manifest}");
}

#[test]
fn a_signal_takes_everything_down() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let scratch = scratch();
        fs::write(scratch.path().join("small.toml"), SMALL).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(words(&format!("{RUN} --out results --repeat 50")))
            .current_dir(scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while kept(&scratch.path().join("results")).is_empty() {
            assert!(
                start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none()
            );
            std::thread::sleep(Duration::from_millis(30));
        }
        let id = child.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", errors(&output));
        assert!(errors(&output).contains("Continue: ileave run small.toml"), "{}", errors(&output));
        is_empty(scratch.path());
    }
}

/// After a kill the next run takes down what is left and goes on; in the end every trial is there once.
#[test]
fn killed_runs_go_on_and_leave_nothing() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    let scratch = scratch();
    fs::write(scratch.path().join("small.toml"), SMALL).unwrap();
    let asked = std::env::var("ILEAVE_KILLS").ok().and_then(|kills| kills.parse().ok());
    // docs/disks.md has the result of 200.
    let kills = asked.unwrap_or(if is_required() { 20 } else { 2 });
    let repeats = if kills > 2 { 6 } else { 2 };
    let store = scratch.path().join("results");
    // No generator: times that are spread over a trial, the same each time.
    let mut killed = 0;
    for number in 0..10 * kills {
        let how = if store.join("manifest.toml").exists() { "--resume" } else { "--out" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(words(&format!("{RUN} {how} results --repeat {repeats}")))
            .current_dir(scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(200 + number * 379 % 1700));
        killed += u64::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        if killed == kills {
            break;
        }
    }
    assert!(killed > 0, "the run was over before it could be killed");
    let how = if store.join("manifest.toml").exists() { "--resume" } else { "--out" };
    stdout(scratch.path(), &words(&format!("{RUN} {how} results --repeat {repeats}")));
    let trials = kept(&store);
    assert_eq!(trials.len(), repeats * TRIALS / 2, "{trials:?}");
    assert_eq!(trials.iter().collect::<BTreeSet<_>>().len(), trials.len());
    is_empty(scratch.path());
}

#[test]
fn a_command_is_timed_and_one_that_fails_or_hangs_says_so() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    let scratch = scratch();
    let with = |command: &str, name: &str| {
        // Only what hangs is to meet its limit, however busy the machine is.
        let limit = if name == "hangs" { "2s" } else { "100s" };
        let text = format!(
            "volume.level = \"single\"\nfs.kind = \"ext4\"\nworkload.w = {{ kind = \"command\", limit = \"{limit}\", \
             command = \"{command}\" }}\n"
        );
        fs::write(scratch.path().join("c.toml"), text).unwrap();
        let run = format!("run c.toml --on disks --images 1x64MiB --repeat 1 --out {name}");
        let output = ileave(scratch.path(), &words(&run));
        is_empty(scratch.path());
        output
    };
    let good = with("dd if=/dev/zero of={mount}/x bs=1M count=8 2>/dev/null; echo done", "good");
    assert!(good.status.success(), "{}", errors(&good));
    let output = fs::read_to_string(scratch.path().join("good/kept/trial-0-output")).unwrap();
    assert_eq!(output, "done\n");
    let bad = with("ls {mount}/none", "bad");
    assert_eq!(bad.status.code(), Some(1));
    assert!(errors(&bad).contains("No such file or directory"), "{}", errors(&bad));
    let hangs = with("cd {mount}; sleep 1000", "hangs");
    assert_eq!(hangs.status.code(), Some(1));
    assert!(errors(&hangs).contains("took longer than 2 s and was ended"), "{}", errors(&hangs));
    let nowhere = with("ls", "nowhere");
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(errors(&nowhere).contains("does not say {mount}"), "{}", errors(&nowhere));
}

/// One cell fails; the other runs to the end.
#[test]
fn a_cell_that_fails_is_left_out_and_the_run_goes_on() {
    if !runs_here() {
        return;
    }
    let _mounts = mounts();
    let scratch = scratch();
    let text = r#"
        run = { on = "disks", repeats = 2 }
        volume.level = "single"
        fs.kind = ["ext4", "btrfs"]
        workload.touch = { kind = "touch", files = 50 }
    "#;
    // Too small for btrfs.
    fs::write(scratch.path().join("f.toml"), text).unwrap();
    let run = "run f.toml --on disks --images 1x64MiB";
    let output = ileave(scratch.path(), &words(&format!("{run} --out results")));
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("its cell is left out, and the run goes on"), "{said}");
    assert!(said.contains("1 trial failed") && said.contains("--retry-suspects"), "{said}");
    is_empty(scratch.path());
    assert_eq!(kept(&scratch.path().join("results")).len(), 2);
    // Whoever reads the answer is told of it, now and tomorrow.
    let now = String::from_utf8_lossy(&output.stdout).into_owned();
    let tomorrow = stdout(scratch.path(), &["report", "results"]);
    for answer in [now, tomorrow] {
        let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(answer.contains("btrfs is left out"), "{answer}");
    }
    // Another run leaves it out, and has nothing to do; that is no success, and only one command changes it.
    let again = ileave(scratch.path(), &words(&format!("{run} --resume results")));
    assert_eq!(again.status.code(), Some(1), "{}", errors(&again));
    assert!(errors(&again).contains("--resume results --retry-suspects"), "{}", errors(&again));
    assert!(!errors(&again).contains("trials are finished"), "{}", errors(&again));
    let report = stdout(scratch.path(), &["report", "results"]);
    assert!(report.contains("--resume results --retry-suspects"), "{report}");
    assert!(!report.contains("unfinished"), "{report}");
    assert!(errors(&again).contains("left out `touch` at file system btrfs"), "{}", errors(&again));
}

#[test]
fn a_plan_prints_every_command_and_runs_none() {
    let scratch = scratch();
    let plan = |more: &str| {
        let run = format!("run small.toml --on disks --images 4x1GiB --plan --repeat 1 {more}");
        fs::write(scratch.path().join("small.toml"), SMALL).unwrap();
        stdout(scratch.path(), &words(&run))
    };
    let printed = plan("--set volume.level=btrfs-raid10");
    // Two programs on btrfs, one on ext4.
    assert!(printed.contains("\n# estimate: 3 trials, about "), "{printed}");
    assert!(printed.contains("3 of them by the amount of work at assumed rates"), "{printed}");
    let one = "# trial 0: touch at the only cell\n";
    assert!(printed.contains(one) || printed.contains("# trial 0: "), "{printed}");
    assert!(printed.contains(
        "mkfs.btrfs -q -f -d raid10 -m raid10 /dev/IMAGE0 /dev/IMAGE1 /dev/IMAGE2 /dev/IMAGE3\n\
         mount -t btrfs /dev/IMAGE0 SITE/mnt\numount SITE/mnt\n\
         wipefs --all --quiet /dev/IMAGE0 /dev/IMAGE1 /dev/IMAGE2 /dev/IMAGE3\n"
    ));
    assert!(printed.contains(
        "mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/IMAGE0\n"
    ));
    // The same on an array of md's, which this machine need not have.
    fs::write(
        scratch.path().join("md.toml"),
        "volume = { level = \"md-raid5\", interleave = \"64KiB\" }\nfs.kind = \"xfs\"\nworkload.t.kind = \"touch\"\n",
    )
    .unwrap();
    let run = "run md.toml --on disks --images 4x1GiB --plan --repeat 1";
    let printed = stdout(scratch.path(), &words(run));
    for part in [
        "--run --metadata=1.2 --level=5 --chunk=64 --assume-clean --bitmap=none --raid-devices=4",
        "-d su=64k,sw=3",
        "mdadm --stop",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    // A chunk that mdadm does not take is left out, and said.
    let run = "run md.toml --on disks --images 4x1GiB --plan --repeat 1 --set volume.interleave=12KiB,64KiB";
    let output = ileave(scratch.path(), &words(run));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && printed.contains("--chunk=64"), "{}", errors(&output));
    assert!(!printed.contains("--chunk=12"), "{printed}");
    let left_out = "left out `t` at interleave";
    assert!(errors(&output).contains(left_out) && errors(&output).contains("powers of two"));
    // ZFS, whose module no machine of ours has.
    fs::write(
        scratch.path().join("zfs.toml"),
        "volume.level = \"raid5\"\nfs = { kind = \"zfs\", recordsize = \"16KiB\", ashift = 12, properties = \"atime=off\" }\n\
         workload.t.kind = \"touch\"\n",
    )
    .unwrap();
    let run = "run zfs.toml --on disks --images 3x1GiB --plan --repeat 1";
    let printed = stdout(scratch.path(), &words(run));
    let id = printed.split("ileave-").nth(1).unwrap().split(' ').next().unwrap();
    let devices = "/dev/IMAGE0 /dev/IMAGE1 /dev/IMAGE2";
    let expected = format!(
        "zpool create -f -o ashift=12 -O mountpoint=legacy -O recordsize=16384 -O atime=off ileave-{id} raidz1 {devices}\n\
         zpool export ileave-{id}\n\
         zpool import -N -d /dev/IMAGE0 -d /dev/IMAGE1 -d /dev/IMAGE2 ileave-{id}\n\
         mount -t zfs ileave-{id} SITE/mnt\numount SITE/mnt\nzpool export ileave-{id}\n\
         sh -c '! zpool list ileave-{id} || zpool export -f ileave-{id}'\n\
         zpool labelclear -f /dev/IMAGE0\nzpool labelclear -f /dev/IMAGE1\nzpool labelclear -f /dev/IMAGE2\n\
         wipefs --all --quiet {devices}\n"
    );
    assert!(printed.contains(&expected), "{printed}");
    let names: Vec<_> = fs::read_dir(scratch.path()).unwrap().collect();
    assert_eq!(names.len(), 3, "only the experiments are there: {names:?}");
}

#[test]
fn what_cannot_be_run_is_said_before_anything_is_made() {
    let scratch = scratch();
    fs::write(scratch.path().join("small.toml"), SMALL).unwrap();
    let refused = |line: &str| {
        let output = ileave(scratch.path(), &words(line));
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    let shipped = project("experiments/btrfs-vs-ext4.toml").display().to_string();
    let simulated = refused(&format!("run {shipped}"));
    assert!(simulated.contains("`run.on` = disks") && simulated.contains("add `--on disks`"));
    assert!(refused("run small.toml --on disks").contains("`--images 4x1GiB`"));
    assert!(refused("run small.toml --on disks --images 4x1XB").contains("--images 4x1XB"));
    let both = "run small.toml --on disks --images 2x1GiB --members a.img";
    assert!(refused(both).contains("leave one out"));
    let buffered = refused("run small.toml --on disks --images 4x1GiB --buffered");
    assert!(buffered.contains("`--buffered` is for requests that ileave sends"), "{buffered}");
    if runs_here() {
        let large = refused("run small.toml --on disks --images 64x900GiB");
        assert!(large.contains("do not fit on ."), "{large}");
        let ours = refused(&format!("{RUN} --set volume.level=raid5"));
        assert!(ours.contains("`--set volume.level=md-raid5`"), "{ours}");
        let xfs = refused(&format!("{RUN} --set fs.kind=xfs"));
        assert!(xfs.contains("is a volume of btrfs's own"), "{xfs}");
        is_empty(scratch.path());
    }
}

/// Blocks on images that are made for the run, by anybody.
#[test]
fn blocks_are_measured_on_images_that_are_gone_after_it() {
    let scratch = scratch();
    fs::write(
        scratch.path().join("blocks.toml"),
        "volume.level = \"mirror\"\nworkload.w = { kind = \"random\", op = \"write\", count = 50 }\n",
    )
    .unwrap();
    let run = "run blocks.toml --on disks --images 2x4MiB --repeat 1 --out results";
    let output = ileave(scratch.path(), &words(run));
    if errors(&output).contains("io_uring") {
        return skipped("io_uring is not allowed here");
    }
    assert!(output.status.success(), "{}", errors(&output));
    is_empty(scratch.path());
    let more = "--buffered --failed 1 --write --out degraded";
    let output = ileave(scratch.path(), &words(&run.replace("--out results", more)));
    assert!(output.status.success(), "{}", errors(&output));
    let manifest = fs::read_to_string(scratch.path().join("degraded/manifest.toml")).unwrap();
    assert!(manifest.contains("cache = cold, failed"), "{manifest}");
    is_empty(scratch.path());
}
