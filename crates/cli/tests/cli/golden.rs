//! What the terminal shows, to the letter. `UPDATE=1` writes the files anew.

use super::{experiment, project, scratch, stdout};
use std::fs;
use std::path::Path;

pub(super) fn check(name: &str, shown: &str) {
    let path = project("crates/cli/tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, shown).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, expected, "{} differs; UPDATE=1 writes it anew", path.display());
}

#[test]
fn the_2006_sweep() {
    let scratch = scratch();
    let shown = stdout(scratch.path(), &["run", &experiment("fair-2006.toml")]);
    check("run-fair-2006.txt", &shown);
    let again = stdout(scratch.path(), &["report", "ileave-results/fair-2006-1"]);
    assert_eq!(shown.replace("\nResults: ileave-results/fair-2006-1\n", ""), again);
}

/// Commits stand beside the writes that they begin with.
#[test]
fn one_drive() {
    let shown = stdout(scratch().path(), &["run", &experiment("one-drive.toml")]);
    check("run-one-drive.txt", &shown);
}

#[test]
fn the_2006_table_beside_ours() {
    check("reproduce-fair-2006.txt", &stdout(scratch().path(), &["reproduce", "fair-2006"]));
}

/// What `--all` ends with, on the tables that take no time.
#[test]
fn several_tables_and_one_of_them_all() {
    let arguments = ["reproduce", "fair-2006", "mcvoy-1990"];
    check("reproduce-several.txt", &stdout(scratch().path(), &arguments));
}

#[test]
fn lists() {
    let scratch = scratch();
    check("drives.txt", &stdout(scratch.path(), &["drives"]));
    check("drives-st118273lc.txt", &stdout(scratch.path(), &["drives", "st118273lc"]));
    check("hosts.txt", &stdout(scratch.path(), &["hosts"]));
    check("controllers-crd-5500.txt", &stdout(scratch.path(), &["controllers", "crd-5500"]));
}

#[test]
fn repeats_show_their_spread() {
    let arguments = [
        "run",
        &experiment("fair-2006.toml"),
        "--set",
        "workload.read.kind=random",
        "--set",
        "workload.read.count=50",
        "--set",
        "workload.write.count=50",
        "--set",
        "volume.interleave=64",
        "--repeat",
        "3",
    ];
    check("run-repeats.txt", &stdout(scratch().path(), &arguments));
}

/// Where the results of a shipped experiment are, if it has been run for all tests.
fn shipped_results(name: &str) -> Option<String> {
    let folder = std::env::var("ILEAVE_RESULTS").ok()?;
    Some(format!("{folder}/{name}"))
}

/// All that `run` printed of a shipped experiment, warnings too, and where its results are. What was run for all
/// tests wrote it beside its results.
fn run_shipped(here: &Path, name: &str) -> (String, String) {
    if let Some(results) = shipped_results(name) {
        return (fs::read_to_string(format!("{results}.txt")).unwrap(), results);
    }
    let output = super::ileave(here, &["run", &experiment(&format!("{name}.toml"))]);
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    (warned + &String::from_utf8(output.stdout).unwrap(), format!("ileave-results/{name}-1"))
}

/// Loads and conditions are never recommended: the queue is, and the offset of the partition.
#[test]
fn what_is_asked_is_what_is_answered() {
    let scratch = scratch();
    for name in ["queueing", "alignment"] {
        let (shown, results) = run_shipped(scratch.path(), name);
        // A discipline that some cells of a sweep have no use for is no mistake: nothing is warned of.
        assert!(!shown.contains("warning"), "{shown}");
        check(&format!("run-{name}.txt"), &shown.replace(&results, "ileave-results/DIR"));
    }
    let results = shipped_results("alignment").unwrap_or("ileave-results/alignment-1".to_string());
    let asked = ["report", &results, "--choose", "drive.write_cache"];
    let shown = stdout(scratch.path(), &asked);
    assert!(shown.starts_with("Use write_cache true: "), "{shown}");
    let wrong = super::ileave(scratch.path(), &[&asked[..3], &["write_cache"]].concat());
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("did you mean `drive.write_cache`?"), "{said}");
}

/// What the fastest layout risks, and what the safe ones cost, stand below the answer.
#[test]
fn a_stripe_that_wins_says_what_it_loses() {
    let scratch = scratch();
    let text = "name = \"levels\"\n[volume]\ndrives = \"4xst39102lw:1GiB\"\n\
                level = [\"stripe\", \"raid5\", \"raid6\", \"raid10\"]\n[workload.write]\nkind = \"random\"\n\
                op = \"write\"\nblock = \"16KiB\"\ndepth = 8\n";
    fs::write(scratch.path().join("levels.toml"), text).unwrap();
    check("run-levels.txt", &stdout(scratch.path(), &["run", "levels.toml"]));
    let stripes = stdout(
        scratch.path(),
        &["run", "levels.toml", "--set", "volume.interleave=8,128", "--set", "volume.level=stripe"],
    );
    assert!(stripes.contains("one disk failure loses everything"), "{stripes}");
    assert!(stripes.contains("volume.level=stripe,raid10,raid5,raid6"), "{stripes}");
}

/// A member that is down and a rebuild are no layouts; where an interleave is best may depend on them.
#[test]
fn failed_members_are_a_condition() {
    let scratch = scratch();
    let text = "name = \"down\"\n[volume]\ndrives = \"4xwd740gd\"\nlevel = \"raid5\"\n\
                failed = [\"\", \"0\"]\n[workload.read]\nkind = \"random\"\nblock = \"64KiB\"\n\
                count = 300\ndepth = 8\n";
    fs::write(scratch.path().join("down.toml"), text).unwrap();
    let down = stdout(scratch.path(), &["run", "down.toml"]);
    assert!(down.starts_with("Nothing to choose: failed is a condition."), "{down}");
    let sweep = ["run", "down.toml", "--set", "volume.interleave=8,128"];
    let shown = stdout(scratch.path(), &sweep);
    assert!(
        shown.starts_with("Use interleave 128 (64 KiB): fastest for read under every"),
        "{shown}"
    );
}

/// The screen that README.md shows of a command.
fn readme_screen(command: &str) -> String {
    let readme = fs::read_to_string(project("README.md")).unwrap();
    let (_, screen) = readme.split_once(&format!("$ ileave {command}\n")).unwrap();
    screen.split_once("```").unwrap().0.to_string()
}

/// Each line of a screen of README.md stands in the same order in what is shown.
fn check_readme(screen: &str, shown: &str) {
    let mut shown = shown.lines();
    for line in screen.lines().filter(|line| line.trim() != "…") {
        assert!(shown.any(|other| other == line), "README.md, not shown: {line}");
    }
}

/// The README's screen is one that is shown: what the test above holds.
#[test]
fn the_readme_shows_what_is_shown() {
    let golden = fs::read_to_string(project("crates/cli/tests/golden/run-fair-2006.txt"));
    check_readme(&readme_screen("run experiments/fair-2006.toml"), &golden.unwrap());
}

#[test]
fn the_readme_shows_what_tune_answers() {
    let drives = "4x 980 pro 1tb";
    let screen = readme_screen(&format!("tune --drives '{drives}' --workload postgres"));
    check_readme(&screen, &super::tune::QUICK_TEXT);
}
