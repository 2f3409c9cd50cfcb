//! Files: nothing of others' is overwritten, nothing without an end is read, and nothing half made is left.

use super::{experiment, ileave, project, scratch, stdout};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command that must be refused says.
pub(super) fn refused(here: &Path, arguments: &[&str]) -> String {
    let output = ileave(here, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    errors
}

/// Makes a drive file of a data sheet's figures.
pub(super) const FIT: [&str; 10] = [
    "drives",
    "fit",
    "--name",
    "X 1TB",
    "--read-iops",
    "500000",
    "--read-latency",
    "60",
    "--read-mb",
    "3000",
];

#[test]
fn a_page_replaces_pages_only() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    let trials = fs::read(here.join("results/trials.jsonl")).unwrap();
    fs::write(here.join("mine.html"), "my own page").unwrap();
    std::os::unix::fs::symlink("results/trials.jsonl", here.join("link.html")).unwrap();
    for file in [
        "results/trials.jsonl",
        "link.html",
        "results/manifest.toml",
        "new/attempts.jsonl",
        "mine.html",
    ] {
        let said = refused(here, &["report", "results", "--html", file]);
        assert!(said.contains("is not overwritten; give `--html` another name"), "{said}");
    }
    assert_eq!(fs::read(here.join("results/trials.jsonl")).unwrap(), trials);
    assert_eq!(fs::read(here.join("mine.html")).unwrap(), b"my own page");
    for _ in 0..2 {
        stdout(here, &["report", "results", "--html", "page.html"]);
    }
}

/// A Parquet file is ileave's where its footer says so.
#[test]
fn a_parquet_file_replaces_its_own_kind_only() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    let export = ["export", "results", "--parquet", "--out", "trials.parquet"];
    stdout(here, &export);
    stdout(here, &export);
    let path = here.join("trials.parquet");
    let own = fs::read(&path).unwrap();
    let foreign = String::from_utf8_lossy(&own).replace("\"ileave\":", "\"other!\":");
    for other in [foreign.as_str(), "\"ileave\": PAR2", "notes of mine about PAR1"] {
        fs::write(&path, other).unwrap();
        assert!(refused(here, &export).contains("is no Parquet file of ileave's"));
        assert_eq!(fs::read(&path).unwrap(), other.as_bytes());
    }
}

/// Not with `--force`, either.
#[test]
fn a_drive_file_does_not_take_results_with_it() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    let trials = fs::read(here.join("results/trials.jsonl")).unwrap();
    let said = refused(here, &[&FIT[..], &["--force", "--out", "results/trials.jsonl"]].concat());
    assert!(said.contains("belongs to a results directory"), "{said}");
    assert_eq!(fs::read(here.join("results/trials.jsonl")).unwrap(), trials);
}

#[test]
fn results_go_to_a_directory_of_their_own() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("letter.txt"), "dear").unwrap();
    let said = refused(here, &["run", &experiment("fair-2006.toml"), "--out", "."]);
    assert!(
        said.contains("neither empty nor a results directory (it has letter.txt)")
            && said.contains("./results"),
        "{said}"
    );
    assert_eq!(fs::read_dir(here).unwrap().count(), 1);
    fs::create_dir(here.join("empty")).unwrap();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "empty"]);
}

/// A device, a pipe that nobody writes to, and a directory, wherever a file is read.
#[test]
fn only_files_that_end_are_read() {
    let scratch = scratch();
    let here = scratch.path();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    fs::create_dir(here.join("results")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", here.join("results/manifest.toml")).unwrap();
    let start = Instant::now();
    for file in ["/dev/zero", "pipe"] {
        for arguments in [
            ["run", file].as_slice(),
            &["import", file],
            &["import", file, "--as", "fio"],
            &["trees", if file == "pipe" { "./pipe" } else { file }],
            &["drives", "import", file],
            &["map", "--md", file],
            &["map", "--ccd", file],
        ] {
            let said = refused(here, arguments);
            assert!(
                said.contains("a device, pipe or socket, not a regular file"),
                "{arguments:?}: {said}"
            );
        }
    }
    let said = refused(here, &["report", "results"]);
    assert!(said.contains("not a regular file"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(60));
    // What the shell hands over is meant.
    let given = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["import", "/dev/stdin", "--out", "in"])
        .current_dir(here)
        .stdin(fs::File::open(project("crates/lab/src/import/fixtures/fio.json")).unwrap())
        .stdout(Stdio::null())
        .status();
    assert!(given.unwrap().success());
}

#[test]
fn a_foreign_name_does_not_steer_the_terminal() {
    let scratch = scratch();
    let here = scratch.path();
    let fio = fs::read_to_string(project("crates/lab/src/import/fixtures/fio.json")).unwrap();
    let named =
        fio.replace("\"jobname\": \"seq\"", "\"jobname\": \"\\u001b]0;gone\\u0007\\u009b2Jseq\"");
    assert_ne!(fio, named);
    fs::write(here.join("run.json"), named).unwrap();
    let steers =
        |text: &[u8]| String::from_utf8_lossy(text).contains(|c: char| c.is_control() && c != '\n');
    let imported = ileave(here, &["import", "run.json", "--out", "results"]);
    assert!(imported.status.success() && !steers(&imported.stdout) && !steers(&imported.stderr));
    assert!(String::from_utf8_lossy(&imported.stdout).contains("\\u001b]0;gone"));
    let missing = ileave(here, &["report", "\u{1b}[2Jnone"]);
    assert!(!steers(&missing.stderr));
}

#[test]
fn a_rate_is_a_number_of_0_or_more() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    let path = here.join("results/trials.jsonl");
    let trials = fs::read_to_string(&path).unwrap();
    let start = trials.find("\"mb_per_s\":").unwrap() + "\"mb_per_s\":".len();
    let end = start + trials[start..].find(',').unwrap();
    let shape = "is not of format 3, which the manifest.toml beside it states";
    for (wrong, what) in [("-5", "is damaged"), ("\"abc\"", shape), ("null", "is damaged")] {
        fs::write(&path, format!("{}{wrong}{}", &trials[..start], &trials[end..])).unwrap();
        let output = ileave(here, &["report", "results"]);
        let said = String::from_utf8(output.stderr).unwrap();
        let expected =
            format!("trials.jsonl:1 {what}: `mb_per_s` is {wrong}, not a number of 0 or more");
        assert!(!output.status.success() && said.contains(&expected), "{said}");
    }
}

#[test]
fn what_memory_cannot_hold_is_refused_beforehand() {
    let scratch = scratch();
    let here = scratch.path();
    let deep = "[volume]\ndrives = \"4xwd740gd\"\n[workload.w]\nkind = \"random\"\nblock = \"4KiB\"\n\
                jobs = 4096\ndepth = 65536\ncount = 1000000000\n";
    fs::write(here.join("deep.toml"), deep).unwrap();
    let said = refused(here, &["run", "deep.toml", "--out", "results"]);
    assert!(
        said.contains("up to 268435456 requests in flight") && said.contains("are available"),
        "{said}"
    );
    assert!(!here.join("results").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn images_are_made_whole_or_not_at_all() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("r.toml"), "[workload.r]\nblock = \"4KiB\"\ncount = 1\n").unwrap();
    let images = |size: &str| {
        let all = ["run", "r.toml", "--on", "disks", "--members", "a.img,b.img", "--create", size];
        [all.as_slice(), &["--out", "results"]]
            .concat()
            .iter()
            .map(|word| (*word).to_string())
            .collect::<Vec<_>>()
    };
    let left = || {
        let names = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "r.toml").collect::<Vec<_>>()
    };
    let huge = images("8000TiB");
    let said = refused(here, &huge.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("--create: 2 × 8000TiB do not fit") && left().is_empty(), "{said}");
    // Interrupted while the first is filled.
    let mut child = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(images("1GiB"))
        .current_dir(here)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = format!("/proc/{}/fd", child.id());
    let is_filled = || {
        let links = fs::read_dir(&open).into_iter().flatten().flatten();
        let mut links = links.filter_map(|entry| fs::read_link(entry.path()).ok());
        links.any(|link| link.starts_with(here) && !link.ends_with("r.toml"))
    };
    let given_up = Instant::now() + Duration::from_secs(100);
    while !is_filled() && child.try_wait().unwrap().is_none() && Instant::now() < given_up {
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(kill.success() && output.status.code() == Some(130), "{said}");
    assert!(said.contains("Interrupted before the first trial; nothing is kept."), "{said}");
    let left = left();
    assert!(!left.iter().any(|name| name == "a.img" || name == "b.img"), "{left:?}");
}
