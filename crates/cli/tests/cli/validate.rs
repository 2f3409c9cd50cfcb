//! `ileave validate`, on traces made here.

use super::files::FIT;
use super::{ileave, json, scratch, stdout};
use std::fmt::Write as _;
use std::path::Path;

/// Reads and writes all over a small disk, every one measured at 12 ms but each tenth at 3 ms.
fn trace() -> String {
    let mut text = String::new();
    for index in 0..400_u64 {
        let way = if index % 3 == 0 { 'W' } else { 'R' };
        let sector = index * 7919 * 331 % 2_600_000;
        let micros = if index % 10 == 0 { 3000 } else { 12_000 };
        writeln!(text, "{way} Miss {sector} {} {micros} {}", 1 + index % 16, 20_000 + index)
            .unwrap();
    }
    text
}

/// A folder with one trace, and what says whose it is.
pub(super) fn folder(directory: &Path, drives: &str) {
    std::fs::create_dir(directory.join("traces")).unwrap();
    std::fs::write(directory.join("traces/elite.trace"), trace()).unwrap();
    std::fs::write(directory.join("traces/drives.toml"), drives).unwrap();
}

#[test]
fn it_prints_a_row_for_each_trace() {
    let scratch = scratch();
    folder(scratch.path(), "elite = \"Seagate ST41601N Elite (ex-CDC/Imprimis)\"");
    let rows = json(scratch.path(), &["validate", "traces", "--json"]);
    let row = &rows.as_array().unwrap()[0];
    let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "trace",
        "drive",
        "requests",
        "measured_mean_ms",
        "modelled_mean_ms",
        "demerit_ms",
        "demerit_percent",
        "read_demerit_percent",
        "write_demerit_percent",
        "reads",
        "writes",
        "per_request_rms_ms",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&row["trace"], &row["requests"]), (&"elite".into(), &400.into()));
    assert!((row["measured_mean_ms"].as_f64().unwrap() - 11.1).abs() < 1e-9);
    let text = stdout(scratch.path(), &["validate", "traces"]);
    assert!(text.contains("11.100") && text.contains("second half"), "{text}");
}

/// The next step was said to be a line in `grid.csv/drives.toml`.
#[test]
fn a_grid_needs_a_drive() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("grid.csv"), "device,rw,bs,qd,jobs,iops\n").unwrap();
    let output = ileave(scratch.path(), &["validate", "grid.csv"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("grid.csv is a file") && error.contains("`--drive NAME`"), "{error}");
}

/// Latencies at loads and rates over time are held to drives of any class, each file by its columns.
#[test]
fn loads_and_rates_over_time_are_compared_too() {
    let scratch = scratch();
    let write = |name: &str, text: &str| std::fs::write(scratch.path().join(name), text).unwrap();
    write(
        "loads.csv",
        "device,read_bs,write_bw_Bps,read_iops_offered,quantile,read_clat_us,flag,throughput_achieved\n\
         a disk,512,0,20,p50,17147,,yes\na disk,512,0,20,p95,36000,clipped>=,yes\nother,512,0,20,p50,9,,\n",
    );
    let asked = ["validate", "loads.csv", "--drive", "dt01aca200", "--json", "--device", "disk"];
    let found = json(scratch.path(), &asked);
    let group = &found["groups"][0];
    assert_eq!((&group["group"], &group["cells"]), (&"read 512 p50".into(), &1.into()));
    assert!(group["median_error"].as_f64().unwrap() < 0.2, "{found}");
    assert_eq!((&group["behind"], &found["left_out"][0]["rows"]), (&0.into(), &1.into()));
    let text = stdout(
        scratch.path(),
        &["validate", "loads.csv", "--drive", "dt01aca200", "--device", "other"],
    );
    assert!(text.contains("nothing says whether the load was reached: 1 row\n"), "{text}");
    // 9 us of a disk.
    assert!(text.contains("about 1") && !text.contains("00000"), "{text}");

    write(
        "log.csv",
        "device,qd,jobs,t_s,write_KiBps\nx,1,1,1,100\nx,1,1,2,20\nx,1,1,3,100\nx,1,1,4,0\n",
    );
    let found = json(scratch.path(), &["validate", "log.csv", "--drive", "gp3", "--json"]);
    let series = &found["series"][0];
    assert_eq!(series["series"], "randwrite 4096 depth 1");
    assert_eq!(
        (&series["measured"]["falls_s"], &series["measured"]["recovers_s"]),
        (&2.0.into(), &3.0.into())
    );
    assert_eq!(found["groups"].as_array().unwrap().len(), 4);
    let text = stdout(scratch.path(), &["validate", "log.csv", "--drive", "gp3", "--cells"]);
    assert!(text.contains("falls below half never (measured at 2 s), recovers never"), "{text}");
    assert!(text.contains(" times") && !text.contains("inf"), "{text}");
}

/// A drive that nobody has seen before, from its figures alone.
#[test]
fn it_reads_measured_drives() {
    let scratch = scratch();
    folder(scratch.path(), "elite = \"Maker X1\"");
    let drives = r#"{ "source": "a bench", "drives": { "Maker X1": { "rpm": 7200, "heads": 4,
        "cylinders": 7000, "sectors": 2700000, "head_switch_ms": 0.5, "write_settle_add_ms": 0.1,
        "segments": 3, "segment_blks": 64, "max_readahead_blks": 32, "fast_write_level": 2,
        "read_hit_oh_ms": 0.1, "read_miss_oh_ms": 0.2, "write_miss_oh_ms": 0.3,
        "bulk_sector_xfer_ms": 0.1, "zones": [{ "cyl0": 0, "cyl1": 6999, "spt": 100,
        "track_skew": 9, "cyl_skew": 20 }], "seek_ms": [[1, 1.25], [6999, 15.0]] } } }"#;
    std::fs::write(scratch.path().join("drives.json"), drives).unwrap();
    let arguments = ["validate", "traces", "--drives", "drives.json", "--json"];
    let drive_of = |name: &str| {
        let line = format!("elite = \"{name}\"");
        std::fs::write(scratch.path().join("traces/drives.toml"), line).unwrap();
        json(scratch.path(), &arguments)[0]["drive"].clone()
    };
    assert_eq!([drive_of("Maker X1"), drive_of("x1")], ["Maker X1", "Maker X1"]);
    // A drive of the catalogue that the file does not hold is not what was asked for.
    std::fs::write(scratch.path().join("traces/drives.toml"), "elite = \"st41601n\"").unwrap();
    let output = ileave(scratch.path(), &arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let expected = "drives.json: holds Maker X1, but no drive of the traces: st41601n";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_is_wrong_is_said_with_the_next_step() {
    for (drives, expected) in [
        ("elite = \"st41601x\"", "did you mean `st41601n`?"),
        ("other = \"st41601n\"", "does not name the drive of elite.trace"),
        ("", "has no trace"),
        ("elite = 7", "has no drive"),
    ] {
        let scratch = scratch();
        folder(scratch.path(), drives);
        let output = ileave(scratch.path(), &["validate", "traces"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let scratch_too = scratch();
    folder(scratch_too.path(), "elite = \"st41601n\"");
    let far = trace() + "W Hit 2676845 2 9000 9000\n";
    std::fs::write(scratch_too.path().join("traces/elite.trace"), far).unwrap();
    let output = ileave(scratch_too.path(), &["validate", "traces"]);
    let error = String::from_utf8(output.stderr).unwrap();
    let expected = "request 401 goes up to sector 2676846, but Seagate ST41601N Elite";
    assert!(output.status.code() == Some(2) && error.contains(expected), "{error}");
    let nowhere = ileave(scratch().path(), &["validate", "nowhere"]);
    assert_eq!(nowhere.status.code(), Some(2));
}

/// The parts of the invented disk of the fuzz seeds, as three files.
fn disksim(directory: &Path) {
    let seed = include_str!("../../../../fuzz/seeds/diskspecs/small");
    for (name, text) in
        ["small.diskspecs", "small.model", "small.seek"].iter().zip(seed.split("---\n"))
    {
        std::fs::write(directory.join(name), text).unwrap();
    }
}

/// A folder of drives: `DiskSim`'s, catalogue files and names; a bad one keeps nobody from the others.
#[test]
fn it_takes_a_folder_of_drives() {
    let scratch = scratch();
    let drives = scratch.path().join("drives");
    for folder in ["traces", "drives"] {
        std::fs::create_dir(scratch.path().join(folder)).unwrap();
    }
    disksim(&drives);
    let trace = "R Miss 100 8 5000 9000\nW Miss 2000 4 900 9000\n".repeat(50);
    for name in ["one", "two", "three"] {
        std::fs::write(scratch.path().join(format!("traces/{name}.trace")), &trace).unwrap();
    }
    let named = "one = \"small.diskspecs\"\ntwo = \"st41601n\"\n";
    std::fs::write(drives.join("drives.toml"), named).unwrap();
    let rows = json(scratch.path(), &["validate", "traces", "--drives", "drives", "--json"]);
    let rows = rows.as_array().unwrap();
    assert_eq!((&rows[0]["drive"], rows.len()), (&"SMALL_1".into(), 2));
    for (part, requests) in [("reads", 50), ("writes", 50)] {
        assert_eq!(rows[0][part]["requests"], requests);
        let percent = &rows[0][part]["demerit_percent"];
        assert_eq!(percent, &rows[0][format!("{}_demerit_percent", &part[..part.len() - 1])]);
    }
    let named = format!("{named}three = \"bad.diskspecs\"\n");
    std::fs::write(drives.join("drives.toml"), named).unwrap();
    std::fs::write(drives.join("bad.diskspecs"), "disksim_disk BAD {\n Model = 3 \n}").unwrap();
    let output = ileave(scratch.path(), &["validate", "traces", "--drives", "drives", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = rows.as_array().unwrap().iter().find(|row| row["trace"] == "three").unwrap();
    let error = error["error"].as_str().unwrap();
    assert!(error.contains("bad.diskspecs:2: `Model`: write a block"), "{error}");
    assert_eq!(rows.as_array().unwrap().len(), 3);
    let output = ileave(scratch.path(), &["validate", "traces", "--drives", "drives"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("three was not played: ") && text.contains("one"), "{text}");
}

/// What was imported may be made again, and what somebody wrote stays.
#[test]
fn import_overwrites_only_what_it_made() {
    let scratch = scratch();
    disksim(scratch.path());
    let import = ["drives", "import", "small.diskspecs", "--out", "my.toml", "--name", "My disk 1"];
    let said = stdout(scratch.path(), &import);
    assert!(
        said.starts_with("my.toml\n") && said.contains("not modelled: Preseeking level = 1"),
        "{said}"
    );
    let printed =
        stdout(scratch.path(), &["drives", "import", "small.diskspecs", "--name", "My disk 1"]);
    let path = scratch.path().join("my.toml");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed);
    stdout(scratch.path(), &import);
    std::fs::write(&path, "mine").unwrap();
    for command in [&import[..], &[&FIT[..], &["--out", "my.toml"]].concat()] {
        let output = ileave(scratch.path(), command);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("my.toml exists, and ileave did not make it"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }
    stdout(scratch.path(), &[&import[..], &["--force"]].concat());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed);
}
