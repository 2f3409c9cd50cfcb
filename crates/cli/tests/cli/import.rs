//! Imports of fio's ordinary output: jobs are workloads, runs of the same cell are repeats.

use super::{ileave, json, project, scratch, stdout};
use std::path::Path;

const CHUNKS: [&str; 4] = ["64k", "128k", "256k", "512k"];

/// The runs, as the person who ran fio has them: `64k/run1.json`.
fn runs(here: &Path) {
    let from = project("crates/lab/src/import/fixtures/fio");
    for chunk in CHUNKS {
        std::fs::create_dir(here.join(chunk)).unwrap();
        for run in ["run1.json", "run2.json"] {
            std::fs::copy(from.join(chunk).join(run), here.join(chunk).join(run)).unwrap();
        }
    }
}

/// `--factor` in front of each chunk's files, the first `repeats` of each.
fn arguments(repeats: usize) -> Vec<String> {
    let mut arguments = vec!["import".to_string()];
    for chunk in CHUNKS {
        arguments.extend(["--factor".into(), format!("volume.interleave={chunk}")]);
        arguments.extend((1..=repeats).map(|run| format!("{chunk}/run{run}.json")));
    }
    arguments
}

fn import(here: &Path, repeats: usize, out: &str) -> String {
    let mut arguments = arguments(repeats);
    arguments.extend(["--out".into(), out.into()]);
    stdout(here, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn two_jobs_on_four_chunks_are_ranked() {
    let scratch = scratch();
    let here = scratch.path();
    runs(here);
    let said = import(here, 2, "given");
    assert!(
        said.contains("16 trials, 8 cells") && said.contains("repeats of one layout"),
        "{said}"
    );
    let ranking = json(here, &["report", "given", "--json"])["verdict"]["ranked"].clone();
    assert_eq!(ranking.as_array().unwrap().len(), 4);
    // Nothing of what fio does not measure.
    for word in ["disks busy", "commands per request", "0.000"] {
        assert!(!said.contains(word), "`{word}` in: {said}");
    }
    let files: Vec<String> =
        arguments(2).into_iter().filter(|word| word.contains("/run")).collect();
    let mut by_path =
        vec!["import", "--factor-from", "{volume.interleave}/run*.json", "--out", "found"];
    by_path.extend(files.iter().map(String::as_str));
    stdout(here, &by_path);
    let trials = |name: &str| std::fs::read(here.join(name).join("trials.jsonl")).unwrap();
    assert_eq!(trials("given"), trials("found"));
}

/// With one run of each there is what fio says of the rate over time.
#[test]
fn the_spread_within_a_run_is_used_where_there_is_one() {
    let scratch = scratch();
    let here = scratch.path();
    runs(here);
    let said = import(here, 1, "once");
    assert!(said.contains("throughput varied by") && said.contains("during a run"), "{said}");
    assert!(said.contains('–'), "{said}");
}

#[test]
fn a_prediction_is_compared_with_what_fio_measured() {
    let scratch = scratch();
    let here = scratch.path();
    runs(here);
    import(here, 2, "measured");
    let experiment = "[volume]\ndrives = \"2xwd740gd\"\ninterleave = [\"64KiB\", \"256KiB\"]\n\
                      [workload.backup]\nop = \"write\"\nblock = \"1MiB\"\ndepth = 4\ncount = 50\n";
    std::fs::write(here.join("e.toml"), experiment).unwrap();
    stdout(here, &["run", "e.toml", "--out", "modelled"]);
    let cells = |first: &str, second: &str| {
        let compared = json(here, &["compare", first, second, "--json"]);
        let cells = compared["cells"].as_array().unwrap().clone();
        let mut sizes: Vec<String> =
            cells.iter().map(|cell| cell["at"]["volume.interleave"].to_string()).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(cells("modelled", "measured"), ["128", "512"]);
    // One interleave as a setting, varied on the other side.
    stdout(here, &["run", "e.toml", "--interleave", "128KiB", "--out", "one"]);
    assert_eq!(cells("measured", "one"), ["256"]);
}

#[test]
fn a_factor_is_for_the_files_behind_it() {
    let scratch = scratch();
    let here = scratch.path();
    runs(here);
    for (arguments, said) in [
        (
            ["64k/run1.json", "--factor", "volume.interleave=64k", "128k/run1.json"],
            "has no value of",
        ),
        (["64k/run1.json", "128k/run1.json", "--factor", "a=1"], "has no file behind it"),
        (
            ["--factor", "volume.interleave=fast", "64k/run1.json", "128k/run1.json"],
            "is not a size",
        ),
        (["--factor", "interleave=64k", "64k/run1.json", "128k/run1.json"], "`volume.interleave`"),
    ] {
        let output = ileave(here, &[&["import"], arguments.as_slice()].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && errors.contains(said), "{errors}");
    }
}

/// A job that syncs each write was shown by the latency of the write alone, 0.044 ms.
#[test]
fn a_job_that_syncs_is_shown_by_its_flushes() {
    let scratch = scratch();
    let here = scratch.path();
    let job = |name: &str, p99_ns: u64| {
        let text = format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "wal", "groupid": 0, "error": 0,
            "job options": {{"rw": "write", "bs": "8k", "fsync": "1"}},
            "write": {{"io_bytes": 4194304, "bw_bytes": 4997120, "iops": 610.0, "total_ios": 512,
                "lat_ns": {{"max": 60000, "mean": 21000.0, "N": 512}},
                "clat_ns": {{"percentile": {{"50.000000": 19000, "99.000000": 44000}}}}}},
            "sync": {{"total_ios": 511, "lat_ns": {{"max": 4000000, "mean": 1600000.0, "N": 511,
                "percentile": {{"99.000000": {p99_ns}}}}}}}}}]}}"#
        );
        std::fs::write(here.join(name), text).unwrap();
    };
    job("a.json", 2_500_000);
    job("b.json", 3_700_000);
    let [ten, five] = ["volume.level=md-raid10", "volume.level=md-raid5"];
    let arguments =
        ["import", "--factor", ten, "a.json", "--factor", five, "b.json", "--out", "given"];
    let said = stdout(here, &arguments);
    assert!(said.contains("commits/s  flush p99 ms"), "{said}");
    assert!(said.contains("2.50") && said.contains("3.70") && !said.contains("0.044"), "{said}");
}
