//! What docs/verdict.md says of the shipped experiments is what the program says.
//!
//! Behind the table stands a comment, which no reader of the page sees. Each of its lines is an experiment, words of its row, an
//! arrow, and words of the report of its results:
//!
//! ```text
//! <!-- held to the reports
//! fair-2006: 11 % slower -> next best 32 (16 KiB), 11 % slower
//! brownlee-2005 --safe: 10 % slower -> next best block 16KiB, 10 % slower
//! -->
//! ```
//!
//! Behind the name stand the options of that report.

use super::questions::in_one_line;
use super::{is_required, project, scratch, skipped, stdout};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// An experiment, options of its report, words of its row, words of the report.
struct Held<'a> {
    experiment: &'a str,
    options: Vec<&'a str>,
    words: &'a str,
    said: &'a str,
}

fn held(section: &str) -> Vec<Held<'_>> {
    let (_, comment) = section.split_once("<!-- held to the reports\n").unwrap();
    let (comment, _) = comment.split_once("\n-->").unwrap();
    let lines = comment.lines().map(|line| {
        let held = line.split_once(": ").and_then(|(experiment, rest)| {
            let (words, said) = rest.split_once(" -> ")?;
            let mut options = experiment.split(' ');
            Some(Held { experiment: options.next()?, options: options.collect(), words, said })
        });
        held.unwrap_or_else(|| panic!("`{line}` is not `EXPERIMENT: WORDS -> WORDS`"))
    });
    lines.collect()
}

/// The experiments of a row, which stand in its first cell.
fn experiments(row: &str) -> Vec<&str> {
    row.split('|').nth(1).unwrap_or("").split('`').skip(1).step_by(2).collect()
}

/// Where the results of an experiment are: those of the continuous integration, or new ones of what takes a second.
fn results(experiment: &str, here: &Path) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("ILEAVE_RESULTS") {
        return Some(Path::new(&folder).join(experiment));
    }
    if is_required() || experiment != "fair-2006" {
        skipped("ILEAVE_RESULTS does not name the folder of the experiments' results");
        return None;
    }
    let out = here.join(experiment);
    if !out.exists() {
        let file = project(&format!("experiments/{experiment}.toml"));
        let [file, out] = [&file, &out].map(|path| path.display().to_string());
        stdout(here, &["run", &file, "--out", &out]);
    }
    Some(out)
}

#[test]
fn verdicts_read_aloud_are_what_the_reports_say() {
    let page = std::fs::read_to_string(project("docs/verdict.md")).unwrap();
    let (_, section) = page.split_once("\n## The shipped experiments, read aloud\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let held = held(section);
    let here = scratch();
    let (mut reports, mut wrong) = (BTreeMap::new(), Vec::new());
    for row in &rows {
        for experiment in experiments(row) {
            let is_there = project(&format!("experiments/{experiment}.toml")).exists();
            let is_held = held.iter().any(|held| held.experiment == experiment);
            if !is_there || !is_held {
                wrong.push(format!("{experiment}: there is none, or nothing is held of it"));
            }
        }
    }
    for Held { experiment, options, words, said } in &held {
        let row = rows.iter().find(|row| experiments(row).contains(experiment));
        if !row.is_some_and(|row| row.contains(words)) {
            wrong.push(format!("{experiment}: its row has no `{words}`"));
        }
        let Some(results) = results(experiment, here.path()) else { continue };
        let report = reports.entry((experiment, options)).or_insert_with(|| {
            let results = results.display().to_string();
            let arguments = [&["report", &results], options.as_slice()].concat();
            in_one_line(&stdout(here.path(), &arguments))
        });
        if !report.contains(said) {
            wrong.push(format!("{experiment}: its report has no `{said}`:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each experiment that a simulation runs is read aloud, or named below the table as one without an author.
#[test]
fn no_shipped_experiment_is_passed_over() {
    let page = std::fs::read_to_string(project("docs/verdict.md")).unwrap();
    let (_, section) = page.split_once("\n## The shipped experiments, read aloud\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let named: BTreeSet<&str> = section.split('`').skip(1).step_by(2).collect();
    let files = std::fs::read_dir(project("experiments")).unwrap();
    let missing: Vec<String> = files
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !named.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/verdict.md does not name {missing:?}");
}
