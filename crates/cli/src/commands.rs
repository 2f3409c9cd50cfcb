//! What each command does: flags in, the text to print out. One file a command.

mod catalogue;
mod compare;
mod completions;
mod disks;
mod import;
mod keys;
mod map;
mod report;
mod reproduce;
mod run;
mod validate;

pub(crate) use catalogue::{boxes, drives, hosts, trees};
pub(crate) use compare::compare;
pub(crate) use completions::{completions, man};
pub(crate) use import::import;
pub(crate) use keys::keys;
pub(crate) use map::map;
pub(crate) use report::report;
pub(crate) use reproduce::reproduce;
pub(crate) use run::run;
pub(crate) use validate::validate;

use lab::published::{self, Published};
use lab::record::Record;
use lab::report::{ranking, text};
use lab::store::Manifest;
use lab::verdict::Verdict;
use lab::{Error, Result, lost, pace, why};
use serde::Serialize;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

/// The published table that an experiment names, if it names one.
fn published_of(manifest: &Manifest) -> Result<Option<Published>> {
    if manifest.published.is_empty() {
        return Ok(None);
    }
    let found = published::find(&manifest.published);
    found.map(Some).map_err(|error| error.context("`published`"))
}

/// Tables of more cells than this are for `--csv`.
const CELLS_SHOWN_MAX: usize = 100;

/// The table of a run, the published numbers beside it, what follows, and last what to do.
fn run_text(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Result<String> {
    let published = published_of(manifest)?;
    let cells = why::cells(records, &manifest.workloads);
    let Manifest { name, rig, .. } = manifest;
    let (trials, cells_counted) = (counted(records.len(), "trial"), counted(cells.len(), "cell"));
    let mut output = format!("{name} on {rig}: {trials}, {cells_counted}\n\n");
    if cells.len() <= CELLS_SHOWN_MAX {
        output.push_str(&text::run(manifest, &cells, published.as_ref()));
    }
    output.push_str(&text::paragraphs(&pace::sentences(&cells)));
    output.push_str(&text::paragraphs(&lost::sentences(&cells)));
    output.push_str(&ranking::terminal(verdict));
    output.push_str(&text::paragraphs(&reasons(manifest, records, verdict)));
    Ok(output)
}

/// What decided, what follows, and last what to do.
fn reasons(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Vec<String> {
    let mut sentences = why::sentences(manifest, &why::cells(records, &manifest.workloads));
    sentences.extend(verdict.sentences.iter().cloned());
    sentences.extend(Some(verdict.answer.clone()).filter(|answer| !answer.is_empty()));
    sentences
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Writes what `--html` asks for.
fn write_page(file: &Path, page: &str) -> Result<()> {
    fs::write(file, page).map_err(|error| {
        let next = "give `--html` a file that you may write";
        Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
    })
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_value(value).map(|json| print_json(&json)).map_err(Error::failure)
}

fn print_json(value: &Json) -> String {
    format!("{value:#}\n")
}
