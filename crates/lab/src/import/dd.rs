//! What dd says at its end:
//!
//! ```text
//! 1048576000 bytes (1.0 GB, 1000 MiB) copied, 12.3456 s, 84.9 MB/s      GNU
//! 1048576000 bytes transferred in 45.012 secs (23295473 bytes/sec)      BSD
//! ```
//!
//! Lines of its `status=progress` look like the first and are no results.

use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, words};
use serde_json::Map;

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.lines().any(is_result)
}

fn is_result(line: &str) -> bool {
    line.contains(" bytes transferred in ")
        || (line.contains(" bytes") && line.contains(" copied, "))
}

/// What the number of records that were written stands in, in front of the result.
const RECORDS: &str = " records out";

/// The lines that are results, by number, and how many were left out as progress: `status=progress` writes lines like a
/// result, one over the other, and perhaps none at the end. Where the counts of records are there, a result is what follows
/// one. Where they were taken out, progress is what was written over.
fn results(source: Source<'_>) -> (Vec<usize>, usize) {
    let has_records = source.lines().any(|(_, line)| line.contains(RECORDS));
    let mut is_due = false;
    let mut found = Vec::new();
    let mut progress = 0;
    for (number, line) in source.lines() {
        if line.contains(RECORDS) {
            is_due = true;
        }
        if is_result(line) {
            let is_over = line.trim_end_matches('\r').contains('\r');
            if if has_records { std::mem::take(&mut is_due) } else { !is_over } {
                found.push(number);
            } else {
                progress += 1;
            }
        } else if line.contains(PROGRESS_OF_BSD) {
            progress += 1;
        }
    }
    (found, progress)
}

/// What stands in the progress of BSD's dd: its result has `transferred in`.
const PROGRESS_OF_BSD: &str = ") transferred ";

/// What dd says went wrong.
fn error_in(line: &str) -> Option<&str> {
    let (program, what) = line.trim().split_once(": ")?;
    let is_dd = program == "dd" || program.ends_with("/dd");
    (is_dd && !what.starts_with("warning:")).then_some(what)
}

/// Whether the result of what it had copied until then follows such an error: a file that it could not open has none, and
/// the next result is that of another copy. BSD's dd names only the file and what was wrong with it.
fn ends_a_copy(error: &str) -> bool {
    const OPENING: &[&str] = &["failed to open", "can't open", "opening", "failed to truncate"];
    const COPYING: &[&str] = &[
        "error reading",
        "error writing",
        "reading",
        "writing",
        "fsync failed",
        "fdatasync failed",
        "closing",
    ];
    const CAUSES: &[&str] = &[
        "No space left on device",
        "Input/output error",
        "File too large",
        "Disk quota exceeded",
        "Device not configured",
        "Broken pipe",
        "end of device",
        "short write on character device",
    ];
    let begins = |words: &[&str]| words.iter().any(|word| error.starts_with(word));
    begins(COPYING) || (!begins(OPENING) && CAUSES.iter().any(|cause| error.ends_with(cause)))
}

/// A row for each result of a copy that did not fail, all of one workload: several are repeats.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut failure: Option<(usize, &str)> = None;
    let (results, progress) = results(source);
    if results.is_empty() && progress > 0 {
        let what = "the last line of dd's progress has no result behind it; was dd stopped?";
        table.warnings.push(format!("{}: {what}", source.label));
    }
    for (number, line) in source.lines() {
        if let Some(error) = error_in(line) {
            if ends_a_copy(error) {
                failure = Some((number, error));
            } else {
                table.warnings.push(format!(
                    "{}:{number}: dd failed ({error}) and has no result; run it again",
                    source.label
                ));
            }
        }
        if results.binary_search(&number).is_err() {
            continue;
        }
        if let Some((number, error)) = failure.take() {
            table.warnings.push(format!(
                "{}:{number}: dd failed ({error}), and its result was left out; run it again, with less \
                 data where there was no space",
                source.label
            ));
            continue;
        }
        let found = words(number, line);
        let behind = if line.contains(" transferred in ") { "in" } else { "copied," };
        let time = found.iter().position(|word| word.text == behind).map_or(0, |at| at + 1);
        let Some(&time) = found.get(time) else {
            return Err(source.wrong_at(
                number,
                1,
                "dd's line ends before the time; was it cut off?",
            ));
        };
        let bytes = source.number(found[0])?;
        let seconds = source.number(time)?;
        if bytes <= 0.0 {
            return Err(source.wrong_word(
                found[0],
                "bytes copied measure nothing; was the input empty? Copy more bytes, or remove the line",
            ));
        }
        if seconds <= 0.0 {
            return Err(
                source.wrong_word(time, "s is too short to measure a rate; copy more bytes")
            );
        }
        let samples = [("mb_per_s", bytes / 1e6 / seconds), ("elapsed_s", seconds)];
        table.rows.push(row("dd", Map::new(), &samples));
    }
    Ok(table)
}
