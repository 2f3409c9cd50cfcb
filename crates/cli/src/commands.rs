//! What each command does: flags in, the text to print out. One file a command.

mod catalogue;
mod check;
mod compare;
mod completions;
mod explore;
mod grid;
mod import;
#[cfg(target_os = "linux")]
mod kernel;
mod keys;
mod map;
mod merge;
mod report;
mod reproduce;
mod risk;
mod run;
mod submit;
mod tune;
mod validate;

pub(crate) use catalogue::{controllers, drives, hosts, trees};
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use completions::{completions, man};
pub(crate) use explore::explore;
pub(crate) use import::import;
#[cfg(target_os = "linux")]
pub(crate) use kernel::{guest, kernel};
pub(crate) use keys::keys;
pub(crate) use map::map;
pub(crate) use merge::merge;
pub(crate) use report::report;
pub(crate) use reproduce::reproduce;
pub(crate) use risk::risk;
pub(crate) use run::run;
pub(crate) use submit::submit;
pub(crate) use tune::tune;
pub(crate) use validate::validate;

use crate::terminal;
use lab::published;
use lab::{Error, Result};
use serde::Serialize;
use serde_json::Value as Json;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use store::record::Record;
use store::{Manifest, is_own_file};
use verdict::Verdict;
use verdict::report::{html, text};

/// Tables of more cells than this are for `--csv`.
const CELLS_SHOWN_MAX: usize = 100;

/// A run for the terminal.
fn run_text(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Result<String> {
    Ok(text::run(manifest, records, verdict, published::of(manifest)?.as_ref()))
}

/// Writes what `--html` asks for. An existing file is replaced whole or not at all; a pipe or a
/// link is written to directly.
fn write_page(file: &Path, page: &str) -> Result<()> {
    refuse_other_file(file)?;
    let is_own = fs::symlink_metadata(file).map_or_else(
        |error| error.kind() == ErrorKind::NotFound,
        |there| there.is_file() && !there.permissions().readonly(),
    );
    let written = if is_own { replace(file, page) } else { fs::write(file, page) };
    written.map_err(|error| {
        let next = "give `--html` a file that you may write";
        Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
    })
}

/// Refuses to write a page over what is no page: `--html results/trials.jsonl` would take the results with it.
fn refuse_other_file(file: &Path) -> Result<()> {
    let refused = |what: &str| {
        let next = "give `--html` another name, as in page.html";
        Err(Error::input(format!("{} {what} and is not overwritten; {next}", file.display())))
    };
    // Whatever leads to it.
    if file.canonicalize().is_ok_and(|file| is_own_file(&file)) || is_own_file(file) {
        return refused("belongs to a results directory");
    }
    let Ok(there) = fs::metadata(file) else { return Ok(()) };
    if !there.is_file() || there.len() == 0 {
        return Ok(());
    }
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(4096).read_to_end(&mut start));
    let is_page = String::from_utf8_lossy(&start).contains(html::MARK);
    if read.is_ok() && !is_page { refused("is no page of ileave's") } else { Ok(()) }
}

/// Writes a temporary file in the same directory and renames it.
fn replace(file: &Path, page: &str) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let draft = file.with_file_name(name);
    // The file may be writable where its directory is not.
    let Ok(mut opened) = File::create(&draft) else { return fs::write(file, page) };
    let written = opened.write_all(page.as_bytes()).and_then(|()| fs::rename(&draft, file));
    written.inspect_err(|_| {
        // Best effort: the error to report is the one above, not a failed clean-up.
        let _ = fs::remove_file(&draft);
    })
}

/// Prints on standard output.
pub(crate) fn print(output: &str) -> Result<()> {
    // A reader that has seen enough (`| head`) is no failure.
    match std::io::stdout().lock().write_all(terminal::for_stdout(output).as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::failure(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_value(value).map(|json| print_json(&json)).map_err(Error::failure)
}

fn print_json(value: &Json) -> String {
    format!("{value:#}\n")
}
