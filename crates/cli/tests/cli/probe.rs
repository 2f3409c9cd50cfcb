//! `ileave drives probe --rotating` and `ileave drives fit` of its result.

use super::{ileave, json, scratch, stdout};
use lab::catalogue;
use lab::probe::{Modelled, probe};
use std::fs;

/// What a probe of a modelled disk writes.
fn probed(name: &str) -> String {
    let drive = catalogue::drive(name).unwrap();
    probe(&mut Modelled::new(&drive, 0).unwrap(), &mut |_| {}).unwrap().json()
}

fn refused(directory: &std::path::Path, arguments: &[&str], status: i32) -> String {
    let output = ileave(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {errors}");
    errors
}

#[test]
fn a_probed_disk_becomes_a_drive_that_predicts_what_was_not_used() {
    let directory = scratch();
    let directory = directory.path();
    fs::write(directory.join("probe.json"), probed("c3323a")).unwrap();
    let arguments =
        ["drives", "fit", "probe.json", "--name", "My disk 1GB", "--out", "my-disk.toml"];
    let said = stdout(directory, &arguments);
    for words in [
        "one sector again and again",
        "not found: writes",
        "reads that were not used",
        "64 KiB in order, middle",
        "Drive: my-disk.toml",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let drive = json(directory, &["drives", "./my-disk.toml", "--json"]);
    assert_eq!(drive["title"], "My disk 1GB");
    // It runs like every drive of the catalogue.
    let experiment = "[volume]\ndrives = \"2x./my-disk.toml\"\ninterleave = 64\n[workload.read]\n\
                      kind = \"random\"\nblock = \"4KiB\"\ncount = 50\n";
    fs::write(directory.join("mine.toml"), experiment).unwrap();
    let run = json(directory, &["run", "mine.toml", "--json", "--repeat", "1"]);
    assert_eq!(run["trials"].as_array().unwrap().len(), 1);
    // What is printed is a drive's file, and nothing else.
    let printed = ileave(directory, &["drives", "fit", "probe.json"]);
    let report = String::from_utf8(printed.stderr).unwrap();
    assert!(report.contains("not found: writes") && report.contains("64 KiB in order"), "{report}");
    let printed = String::from_utf8(printed.stdout).unwrap();
    fs::write(directory.join("printed.toml"), &printed).unwrap();
    assert_eq!(json(directory, &["drives", "./printed.toml", "--json"])["title"], "HP C3323A");
    let told = json(directory, &[&arguments[..], &["--json"]].concat());
    assert_eq!(told["file"], "my-disk.toml");
    assert!(told["checks"][0]["mean_ms"]["modelled"].is_number() && !told["not_found"].is_null());
    assert!(printed.contains("HP C3323A") && printed.contains("kind = \"estimate\""), "{printed}");
}

#[test]
fn a_data_sheet_becomes_a_disk_that_can_be_asked_about() {
    let directory = scratch();
    let directory = directory.path();
    let sheet = ["drives", "fit", "--name", "My disk 12TB", "--rpm", "7200", "--read-mb", "245"];
    let said = stdout(directory, &[&sheet[..], &["--out", "my-disk.toml"]].concat());
    for words in
        ["as makers count", "245 MB/s sustained", "estimate: of such disks", "Drive: my-disk"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let drive = json(directory, &["drives", "./my-disk.toml", "--json"]);
    assert_eq!(drive["title"], "My disk 12TB");
    let told = json(directory, &[&sheet[..], &["--json"]].concat());
    let rpm =
        told["figures"].as_array().unwrap().iter().find(|row| row["figure"] == "rpm").unwrap();
    assert_eq!((&told["drive"], &rpm["value"]), (&"My disk 12TB".into(), &7200.into()));
    assert_eq!(
        told["text"].as_str().unwrap(),
        fs::read_to_string(directory.join("my-disk.toml")).unwrap()
    );
    let tuned = json(
        directory,
        &[
            "tune",
            "--what-if",
            "0s",
            "--drives",
            "4x./my-disk.toml",
            "--workload",
            "log",
            "--survive",
            "1",
            "--json",
        ],
    );
    assert!(tuned["best"]["volume.level"].is_string(), "{tuned}");
    for (flags, words) in [
        (&["--heads", "0"][..], "`--heads`: 0 is not from 1 to 255"),
        (&["--queue-depth", "0"], "`--queue-depth`: 0 is not from 1"),
        (&["--seek", "0.02"], "`--seek` (0.02 ms)"),
        (&["--interface", "nvme"], "a rotating disk has sata or sas"),
        (&["--buffer", "x"], "`--buffer` x is not a size"),
        (&["--capacity", "0"], "`--capacity` 0 is not a size"),
        (&["--read-iops", "5"], "cannot be used with"),
        (&["old.json"], "cannot be used with"),
    ] {
        let errors = refused(directory, &[&sheet[..], flags].concat(), 2);
        assert!(errors.contains(words), "{flags:?}: {errors}");
    }
    let too_fast = ["drives", "fit", "--name", "4TB", "--rpm", "7200", "--read-mb", "700"];
    assert!(refused(directory, &too_fast, 2).contains("for SAS add `--interface sas`"));
    let errors = refused(directory, &["drives", "fit", "--name", "4TB", "--rpm", "7200"], 2);
    assert!(errors.contains("--read-mb"), "{errors}");
    let nameless = ["drives", "fit", "--rpm", "7200", "--read-mb", "245"];
    assert!(refused(directory, &nameless, 2).contains("the disk has no name"));
    let sizeless = [&nameless[..], &["--name", "mine"]].concat();
    assert!(refused(directory, &sizeless, 2).contains("add `--capacity 18TB`"));
}

#[test]
fn what_is_no_probe_alone_is_refused() {
    let directory = scratch();
    let directory = directory.path();
    let text = probed("c3323a");
    fs::write(directory.join("probe.json"), &text).unwrap();
    fs::write(directory.join("old.json"), text.replace("\"format\":1", "\"format\":0")).unwrap();
    fs::write(directory.join("part.json"), "{\"probe\":\"rotating disk\",\"format\":1}").unwrap();
    let errors = refused(directory, &["drives", "fit", "probe.json", "--read-iops", "5"], 2);
    assert!(errors.contains("`--read-iops` is of flash drives"), "{errors}");
    let errors = refused(directory, &["drives", "fit", "probe.json", "old.json"], 2);
    assert!(errors.contains("probe.json is a probe of a rotating disk; give it alone"), "{errors}");
    let errors = refused(directory, &["drives", "fit", "old.json"], 2);
    assert!(errors.contains("old.json: a probe of format 0"), "{errors}");
    let errors = refused(directory, &["drives", "fit", "part.json"], 2);
    assert!(errors.contains("part.json: no complete probe"), "{errors}");
    // What a probe would not write is no drive, whatever it is.
    let zone = &text[text.find("\"zones\":[{").unwrap()..];
    let cylinder = zone.find("\"cylinder_sectors\":").unwrap();
    let cylinder = zone[cylinder..].split(',').next().unwrap();
    let read = text.find("\"reads\":[[").unwrap() + "\"reads\":[[".len();
    for (file, damaged) in [
        ("zone.json", text.replacen(cylinder, "\"cylinder_sectors\":0", 1)),
        ("read.json", format!("{}9999999999999{}", &text[..read], &text[read..])),
        ("steps.json", text.replacen("check: random", "check: none", 1)),
    ] {
        fs::write(directory.join(file), damaged).unwrap();
        let errors = refused(directory, &["drives", "fit", file], 2);
        assert!(errors.contains("no complete probe") && errors.contains("probe again"), "{errors}");
    }
    refused(directory, &["drives", "probe", "--rotating", "x.img", "--writes"], 2);
    refused(directory, &["drives", "probe", "--out", "probe.json"], 2);
}

/// A file is on no disk that turns for it alone: it is answered by memory, flash or a host.
#[cfg(target_os = "linux")]
#[test]
fn an_image_that_does_not_rotate_is_refused() {
    let directory = scratch();
    let directory = directory.path();
    fs::write(directory.join("a.img"), vec![7; 40 << 20]).unwrap();
    let probe = ["drives", "probe", "--rotating", "a.img", "--out", "probe.json"];
    let errors = refused(directory, &probe, 1);
    let is_said = ["does not rotate", "past the page cache", "its buffer answers again"];
    assert!(is_said.iter().any(|words| errors.contains(words)), "{errors}");
    assert!(errors.contains("a.img") && !directory.join("probe.json").exists(), "{errors}");
    fs::write(directory.join("small.img"), [7; 4096 * 4]).unwrap();
    let small = ileave(directory, &["drives", "probe", "--rotating", "small.img"]);
    let errors = String::from_utf8_lossy(&small.stderr).into_owned();
    assert!(!small.status.success() && errors.contains("small.img"), "{errors}");
    let errors = refused(directory, &["drives", "probe", "--rotating", "none.img"], 2);
    assert!(errors.contains("none.img") && errors.contains("name a disk"), "{errors}");
    let errors = refused(directory, &["drives", "probe", "--rotating", "."], 2);
    assert!(errors.contains("neither a block device nor a file"), "{errors}");
    // A result that could not be kept is not measured first.
    let probe = ["drives", "probe", "--rotating", "a.img", "--out", "nowhere/probe.json"];
    let errors = refused(directory, &probe, 1);
    assert!(errors.contains("cannot write nowhere/probe.json"), "{errors}");
    // Nothing else is overwritten.
    fs::write(directory.join("mine.txt"), "mine").unwrap();
    let probe = ["drives", "probe", "--rotating", "a.img", "--out", "mine.txt"];
    let errors = refused(directory, &probe, 2);
    assert!(errors.contains("mine.txt is no probe of ileave's"), "{errors}");
}
