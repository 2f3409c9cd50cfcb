//! What the terminal shows, to the letter. `UPDATE=1` writes the files anew.

use super::{experiment, project, scratch, stdout};

pub(super) fn check(name: &str, shown: &str) {
    let path = project("crates/cli/tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, shown).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
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
