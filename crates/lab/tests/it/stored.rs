//! Results directories as earlier ileaves wrote them, one of each format. How each was made: `data/stored/README.md`.

use lab::read_results;
use std::fs;
use std::path::{Path, PathBuf};
use store::factor::{Role, Written};
use store::{FORMAT, Results};
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
