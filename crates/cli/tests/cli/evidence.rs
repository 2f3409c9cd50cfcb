//! What verdicts take their certainty from is what the published tables show.

use super::files::refused;
use super::{project, scratch, stdout};
use std::sync::LazyLock;

/// What comes of the tables that take no time.
pub(super) struct QuickTables {
    pub(super) said: String,
    pub(super) page: String,
    pairs: String,
}

/// They are simulated once for all tests.
pub(super) static QUICK_TABLES: LazyLock<QuickTables> = LazyLock::new(|| {
    let scratch = scratch();
    let tables = ["reproduce", "fair-2006", "mcvoy-1990", "tao-1996"];
    let files = ["--differences", "pairs.csv", "--html", "page.html"];
    let said = stdout(scratch.path(), &[&tables[..], &files].concat());
    let read = |name| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    QuickTables { said, page: read("page.html"), pairs: read("pairs.csv") }
});

/// The file says how all of it is written.
#[test]
fn the_pairs_of_the_quick_tables_are_up_to_date() {
    let path = project("crates/verdict/data/published.csv");
    let kept = std::fs::read_to_string(&path).unwrap();
    let of = |text: &str| -> Vec<String> {
        let names = ["fair-2006", "mcvoy-1990", "tao-1996"];
        let is_one = |line: &&str| names.iter().any(|name| line.contains(name));
        text.lines().filter(is_one).map(String::from).collect()
    };
    let (found, kept) = (of(&QUICK_TABLES.pairs), of(&kept));
    assert!(found.len() > 100, "{found:?}");
    assert!(
        found == kept,
        "{} is not up to date; its first lines say how to write it",
        path.display()
    );
}

/// As the documentation has it, the file is written anew over itself; another file is refused before a table is run.
#[test]
fn differences_replace_differences_only() {
    let scratch = scratch();
    let here = scratch.path();
    for _ in 0..2 {
        stdout(here, &["reproduce", "fair-2006", "--differences", "pairs.csv"]);
    }
    std::fs::write(here.join("mine.csv"), "interleave,rate\n").unwrap();
    let said = refused(here, &["reproduce", "--all", "--differences", "mine.csv"]);
    assert!(said.contains("mine.csv is no list of differences of ileave's"), "{said}");
    assert!(said.contains("give `--differences` another name"), "{said}");
}
