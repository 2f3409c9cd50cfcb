//! `ileave merge`.

use super::to_json;
use crate::flags::MergeFlags;
use lab::{Result, complete};
use serde::Serialize;
use std::fmt::Write as _;

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    results: String,
    trials: usize,
    finished: usize,
    missing: Vec<usize>,
}

/// Puts the results of several shards together.
pub(crate) fn merge(flags: &MergeFlags) -> Result<String> {
    let merged = store::merge(&flags.directories, &flags.out, flags.partial, complete)?;
    let finished = merged.trials - merged.missing.len();
    let results = flags.out.display().to_string();
    if flags.json {
        return to_json(&Printed {
            results,
            trials: merged.trials,
            finished,
            missing: merged.missing,
        });
    }
    let mut text = format!("{finished} of {} trials are in {results}.\n", merged.trials);
    if merged.missing.is_empty() {
        let _ = writeln!(text, "Verdict: ileave report {results}");
    } else {
        let _ = writeln!(text, "Missing trials: {}", merged.cells);
        let _ = writeln!(text, "Run them: ileave run FILE --resume {results}");
    }
    Ok(text)
}
