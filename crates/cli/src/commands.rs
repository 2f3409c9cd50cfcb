//! What each command does: flags in, the text to print out. One file a command.

mod catalogue;
mod check;
mod compare;
mod completions;
mod data_sheet;
mod explore;
mod export;
mod fitted;
mod grid;
mod import;
#[cfg(target_os = "linux")]
mod kernel;
mod keys;
mod map;
mod merge;
mod probe;
mod report;
mod reproduce;
mod risk;
mod run;
mod submit;
mod tune;
mod validate;
mod written;

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
use std::io::{ErrorKind, Write as _};
use store::Manifest;
use store::record::Record;
use verdict::Verdict;
use verdict::report::text;

/// Tables of more cells than this are for `--csv`.
const CELLS_SHOWN_MAX: usize = 100;

/// A run for the terminal.
fn run_text(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Result<String> {
    Ok(text::run(manifest, records, verdict, published::of(manifest)?.as_ref()))
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
