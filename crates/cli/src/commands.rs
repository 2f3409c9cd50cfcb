//! What each command does: flags in, the text to print out. One file a command.

mod catalogue;
mod check;
mod compare;
mod completions;
mod explore;
mod export;
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
pub(crate) use export::export;
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
use verdict::report::{html, text};
use verdict::{Verdict, evidence};

/// Tables of more cells than this are for `--csv`.
const CELLS_SHOWN_MAX: usize = 100;

/// A run for the terminal.
fn run_text(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Result<String> {
    Ok(text::run(manifest, records, verdict, published::of(manifest)?.as_ref()))
}

/// A kind of file that ileave writes where an option says, and knows again by its mark.
struct Written {
    option: &'static str,
    mark: &'static str,
    /// What it is called, and a name for another.
    is: &'static str,
    example: &'static str,
}

/// What `--html` asks for.
const PAGE: Written =
    Written { option: "--html", mark: html::MARK, is: "page", example: "page.html" };

/// What `--parquet` writes.
const PARQUET: Written =
    Written { option: "--out", mark: "PAR1", is: "Parquet file", example: "trials.parquet" };

/// What `--differences` asks for.
const PAIRS: Written = Written {
    option: "--differences",
    mark: evidence::HEADER,
    is: "list of differences",
    example: "differences.csv",
};

impl Written {
    /// Writes it. An existing file is replaced whole or not at all; a pipe or a link is written to directly.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<()> {
        self.refuse_other_file(file)?;
        let is_own = fs::symlink_metadata(file).map_or_else(
            |error| error.kind() == ErrorKind::NotFound,
            |there| there.is_file() && !there.permissions().readonly(),
        );
        let written = if is_own { replace(file, bytes) } else { fs::write(file, bytes) };
        written.map_err(|error| {
            let next = format!("give `{}` a file that you may write", self.option);
            Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
        })
    }

    /// Refuses to write over a file of another kind: `--html results/trials.jsonl` would take the results with it.
    /// Ask it before the work is done, too.
    fn refuse_other_file(&self, file: &Path) -> Result<()> {
        let refused = |what: &str| {
            let next = format!("give `{}` another name, as in {}", self.option, self.example);
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
        let is_own = String::from_utf8_lossy(&start).contains(self.mark);
        if read.is_ok() && !is_own {
            refused(&format!("is no {} of ileave's", self.is))
        } else {
            Ok(())
        }
    }
}

/// Writes a temporary file in the same directory and renames it.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let draft = file.with_file_name(name);
    // The file may be writable where its directory is not.
    let Ok(mut opened) = File::create(&draft) else { return fs::write(file, bytes) };
    let written = opened.write_all(bytes).and_then(|()| fs::rename(&draft, file));
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
