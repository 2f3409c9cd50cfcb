//! The catalogue from outside.

use super::{ileave, json, project, scratch, stdout};

/// A drive in the format of measured drives.
const MEASURED: &str = r#"{ "drives": { "Acme X100 Quick": {
    "rpm": 7200, "heads": 2, "cylinders": 100, "sectors": 19000, "head_switch_ms": 0.8,
    "write_settle_add_ms": 0.2, "segments": 2, "segment_blks": 128, "max_readahead_blks": 128,
    "fast_write_level": 2, "read_hit_oh_ms": 0.1, "read_miss_oh_ms": 0.5, "write_miss_oh_ms": 0.6,
    "bulk_sector_xfer_ms": 0.02,
    "zones": [{ "cyl0": 0, "cyl1": 99, "spt": 100, "track_skew": 15, "cyl_skew": 25 }],
    "seek_ms": [[1, 1.0], [50, 4.0], [99, 7.0]] } } }"#;

#[test]
fn a_measured_drive_is_imported_and_used() {
    let scratch = scratch();
    let here = scratch.path();
    std::fs::write(here.join("measured.json"), MEASURED).unwrap();
    let written = stdout(here, &["drives", "import", "measured.json", "--out", "mine"]);
    let path = written.trim();
    assert!(here.join(path).exists(), "{written}");
    assert!(stdout(here, &["drives", path]).contains("Acme X100 Quick"));
    let again = ileave(here, &["drives", "import", "measured.json", "--out", "mine"]);
    let error = String::from_utf8(again.stderr).unwrap();
    assert!(again.status.code() == Some(1) && error.contains(path), "{error}");
    let experiment =
        format!("[volume]\ndrives = \"2x{path}\"\n[workload.read]\nkind = \"random\"\n");
    std::fs::write(here.join("mine.toml"), experiment).unwrap();
    let shown = stdout(here, &["run", "mine.toml"]);
    assert!(shown.contains("read MB/s"), "{shown}");
}

#[test]
fn what_is_no_measured_drive_is_said() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("bad.json"), MEASURED.replace("7200", "\"fast\"")).unwrap();
    let output = ileave(scratch.path(), &["drives", "import", "bad.json"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("bad.json") && error.contains("rpm"), "{error}");
}

/// `ileave drives exos` was refused for having several meanings.
#[test]
fn drives_with_a_word_in_common_are_listed() {
    let here = scratch();
    let listed = |text: &str| -> Vec<String> {
        let rows = json(here.path(), &["drives", text, "--json"]);
        let names = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
        names.map(String::from).collect()
    };
    assert_eq!(listed("smr"), ["st8000as0002", "st8000as0022", "wd40efax"]);
    let exos = listed("exos");
    assert!(exos.len() > 1 && exos.contains(&"st18000nm000j".into()), "{exos:?}");
    let of_size = listed("18tb");
    assert!(of_size.len() > 1 && of_size.contains(&"st18000ne000".into()), "{of_size:?}");
    assert!(stdout(here.path(), &["drives", "exos"]).contains("st18000nm000j  "));
    // These words stand in the name of one drive, too.
    for (class, several) in [("flash", 90), ("cloud", 25)] {
        let names = listed(class);
        assert!(names.len() > several, "{class}: {names:?}");
    }
    // What is no real drive stands in no table, and was refused as a name of several.
    let ideal = json(here.path(), &["drives", "ideal", "--json"]);
    let names: Vec<&str> =
        ideal.as_array().unwrap().iter().filter_map(|of| of["name"].as_str()).collect();
    assert_eq!(names, ["md-flash", "md-hdd", "md-hdd-burst2m"]);
    assert!(stdout(here.path(), &["drives", "ideal"]).contains("md-hdd-burst2m  "));
    for nothing in ["frobnicator", "", ".", "4", "./exos"] {
        let none = ileave(here.path(), &["drives", nothing]);
        assert_eq!(none.status.code(), Some(2), "{nothing}");
    }
}

#[test]
fn every_drive_of_the_folder_is_listed() {
    let listed = json(scratch().path(), &["drives", "--json"]);
    let files = std::fs::read_dir(project("drives")).unwrap();
    // Ideal drives are no drives that one could have: they are described by name, and not listed.
    let real = files.filter(|file| {
        let text = std::fs::read_to_string(file.as_ref().unwrap().path()).unwrap();
        !text.contains("class = \"ideal-")
    });
    assert_eq!(listed.as_array().unwrap().len(), real.count());
}

/// A controller in front of the same drives takes bursts of random writes that the drives alone cannot; what goes
/// on for longer than its memory lasts, it takes no faster than they do.
#[test]
fn a_box_of_the_user_s_own_is_used() {
    let scratch = scratch();
    let here = scratch.path();
    assert_eq!(json(here, &["controllers", "--json"]).as_array().unwrap().len(), 2);
    let mine = r#"
name = "mine"
[sources]
guess = "ours"
[figures]
memory = { value = "1MiB", kind = "estimate", source = "guess" }
command_us = { value = 500, kind = "estimate", source = "guess" }
"#;
    std::fs::write(here.join("mine.toml"), mine).unwrap();
    let experiment = r#"
[volume]
drives = "2xst118273lc"
controller = ["none", "mine.toml"]
[drive]
write_cache = false
[workload.burst]
kind = "random"
op = "write"
block = "8KiB"
count = 100
[workload.stream]
kind = "random"
op = "write"
block = "8KiB"
count = 5000
"#;
    std::fs::write(here.join("experiment.toml"), experiment).unwrap();
    stdout(here, &["run", "experiment.toml", "--out", "results"]);
    let trials = std::fs::read_to_string(here.join("results/trials.jsonl")).unwrap();
    let rate = |workload: &str, of: &str| {
        let trials =
            trials.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut mine =
            trials.filter(|t| t["workload"] == workload && t["at"]["volume.controller"] == of);
        mine.next().unwrap()["samples"]["mb_per_s"].as_f64().unwrap()
    };
    assert!(rate("burst", "mine.toml") > 5.0 * rate("burst", "none"));
    let gain = rate("stream", "mine.toml") / rate("stream", "none");
    assert!((1.0..4.0).contains(&gain), "{gain}");
    let bad = mine.replace("500", "\"slow\"");
    std::fs::write(here.join("mine.toml"), bad).unwrap();
    let output = ileave(here, &["controllers", "mine.toml"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && error.contains("command_us"), "{error}");
}

/// What a system has is data, too, with the experiment that is printed without `--json`.
#[test]
fn a_match_has_json() {
    let scratch = scratch();
    let here = scratch.path();
    let disk =
        r#"{"name":"sdb","type":"disk","model":"ST18000NM000J-2TV103","size":18000207937536}"#;
    std::fs::write(here.join("lsblk.json"), format!("{{\"blockdevices\":[{disk}]}}")).unwrap();
    let found = json(here, &["drives", "match", "lsblk.json", "--json"]);
    assert_eq!(found["disks"][0]["device"], "sdb");
    assert_eq!(found["disks"][0]["drive"], "st18000nm000j");
    assert_eq!(found["experiment"], stdout(here, &["drives", "match", "lsblk.json"]));
}

#[test]
fn the_state_of_the_kernel_has_json() {
    let found = json(scratch().path(), &["kernel", "status", "--json"]);
    let of_this = |kernel: &serde_json::Value| kernel["is_of_this_version"] == true;
    let is_there = found["kernels"].as_array().unwrap().iter().any(of_this);
    assert_eq!(found["is_ready"], is_there, "{found}");
    // What is lacking is said where there is none.
    assert_eq!(found["missing"].is_string(), !is_there, "{found}");
}
