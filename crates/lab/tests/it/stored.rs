//! Results directories as earlier ileaves wrote them, one of each format. How each was made: `data/stored/README.md`.

use lab::read_results;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use store::factor::{Role, Written};
use store::record::Record;
use store::{FORMAT, Manifest, Results, merge};
use verdict::{Verdict, Wishes};

fn stored(format: u64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/stored/format-{format}"))
}

/// Every format that was ever written has its files here.
#[test]
fn each_format_is_read() {
    for format in 1..=FORMAT {
        let directory = stored(format);
        let text = fs::read_to_string(directory.join("manifest.toml")).unwrap();
        assert!(text.starts_with(&format!("format = {format}\n")), "{text}");
        let Results { manifest, records, suspects, happened, .. } =
            read_results(&directory).unwrap();
        // What today's reports need is there, whatever the format kept.
        assert_eq!((manifest.format, manifest.rig.as_str(), manifest.trials), (FORMAT, "sim", 6));
        assert_eq!((manifest.workloads.join(" "), suspects.len()), ("read write".into(), 0));
        assert!(happened.failed.is_empty());
        let drive = &manifest.drives["wd740gd"];
        assert_eq!((drive.sectors, drive.digest.len()), (Some(145_226_112), 16), "format {format}");
        assert_eq!(manifest.hosts.keys().map(String::as_str).collect::<Vec<_>>(), ["ideal"]);
        let interleave = manifest.factors.of("volume.interleave");
        assert_eq!(interleave.role, Role::Choice, "format {format}");
        assert_ne!(interleave.written, Written::AsIs, "format {format}");
        assert_eq!(manifest.factors.role("workload.write.depth"), Role::Load, "format {format}");
        // The trials, to the last of them, latencies too.
        assert_eq!(records.len(), 6);
        for record in &records {
            assert_eq!((record.requests, record.member_busy.len()), (20, 3), "format {format}");
            assert_eq!(record.latencies().unwrap().len(), 20, "format {format}");
            assert!(record.sample("mb_per_s").unwrap() > 0.0, "format {format}");
        }
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        assert!(!verdict.answer.is_empty(), "format {format}");
    }
}

/// A format of the future is refused by its number, whatever else it holds.
#[test]
fn a_format_that_is_not_known_is_refused_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("format = {}\nileave = \"9.9.9\"\nwhatever = [1]\n", FORMAT + 1);
    fs::write(folder.path().join("manifest.toml"), text).unwrap();
    let error = read_results(folder.path()).unwrap_err().to_string();
    for words in [format!("has format {}", FORMAT + 1), "read it with ileave 9.9.9".into()] {
        assert!(error.contains(&words), "{error}");
    }
}

/// A copy of the stored results of a format, in a directory of this name.
fn copied(format: u64, here: &Path, name: &str) -> PathBuf {
    let copy = here.join(name);
    fs::create_dir(&copy).unwrap();
    for file in ["manifest.toml", "trials.jsonl", "attempts.jsonl"] {
        fs::copy(stored(format).join(file), copy.join(file)).unwrap();
    }
    copy
}

/// The results there get a second line with a field that no format has.
fn with_a_newer_line(directory: &Path) {
    let path = directory.join("trials.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let newer = text.replacen("\n{", "\n{\"zone\":[7],", 1);
    assert_ne!(newer, text);
    fs::write(&path, newer).unwrap();
}

/// The error of a second line in `directory` that its manifest's format has not: it names file, line, format and next step.
fn check_error(error: &store::Error, directory: &Path, format: u64) {
    let at = directory.join("trials.jsonl");
    let words = [
        format!(
            "{}:2 is not of format {format}, which the manifest.toml beside it states",
            at.display()
        ),
        "unknown field `zone`".into(),
        "read it with the ileave that wrote the line, or take the line out".into(),
        "`--resume`".into(),
    ];
    for words in words {
        assert!(error.to_string().contains(&words), "no `{words}` in: {error}");
    }
}

/// The manifest states the format of every line beside it. A line of another shape is neither called damaged nor left out.
#[test]
fn a_line_of_an_unknown_shape_is_refused_by_file_line_and_format() {
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        let directory = copied(format, folder.path(), "results");
        with_a_newer_line(&directory);
        check_error(&read_results(&directory).unwrap_err(), &directory, format);
    }
}

/// Shards have a manifest each, and what they are merged into has one of its own.
#[test]
fn a_shard_or_a_merged_store_with_such_a_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let [first, second] = ["first", "second"].map(|name| copied(FORMAT, here, name));
    let out = here.join("out");
    let merged = || merge(&[first.clone(), second.clone()], &out, false, lab::complete);
    merged().unwrap();
    with_a_newer_line(&out);
    check_error(&merged().unwrap_err(), &out, FORMAT);
    fs::remove_dir_all(&out).unwrap();
    with_a_newer_line(&second);
    check_error(&merged().unwrap_err(), &second, FORMAT);
    assert!(!out.exists(), "nothing is merged");
}

/// The keys without which something cannot be read.
fn needed(all: &[String], reads: impl Fn(&str) -> bool) -> Vec<&str> {
    all.iter().map(String::as_str).filter(|left_out| !reads(left_out)).collect()
}

/// What a record and a manifest must have is the format. A field that they may lack is no new one: files that lack it are
/// still read.
#[test]
fn what_must_be_there_changes_with_the_format() {
    let directory = stored(FORMAT);
    let text = fs::read_to_string(directory.join("trials.jsonl")).unwrap();
    let line: Map<String, Value> = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let keys: Vec<String> = line.keys().cloned().collect();
    let of_record = needed(&keys, |left_out| {
        let mut line = line.clone();
        line.remove(left_out);
        serde_json::from_value::<Record>(line.into()).is_ok()
    });
    let text = fs::read_to_string(directory.join("manifest.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let keys: Vec<String> = table.keys().cloned().collect();
    let of_manifest = needed(&keys, |left_out| {
        let mut table = table.clone();
        table.remove(left_out);
        table.try_into::<Manifest>().is_ok()
    });
    let record = "at latency_hdr member_busy repeat requests samples trial workload";
    let manifest = "experiment format ileave name published rig trials workloads";
    let sorted = |mut keys: Vec<&str>| {
        keys.sort_unstable();
        keys.join(" ")
    };
    assert_eq!(
        (FORMAT, sorted(of_record).as_str(), sorted(of_manifest).as_str()),
        (3, record, manifest),
        "raise store::FORMAT, keep a reader of the format before, and add its files to data/stored"
    );
}
