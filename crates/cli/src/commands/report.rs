//! `ileave report`.

use super::{print_json, run_text};
use crate::flags::ReportFlags;
use lab::report::json;
use lab::store::Results;
use lab::{Result, why};
use std::fmt::Write as _;

/// Prints a results directory again.
pub(crate) fn report(flags: &ReportFlags) -> Result<String> {
    let results = Results::read(&flags.directory)?;
    if flags.json {
        let why = why::sentences(&why::cells(&results.records, &results.manifest.workloads));
        return Ok(print_json(&json::run(results.records.iter().map(|r| (r, None)), &why)));
    }
    let trials = results.manifest.trials;
    let mut output = run_text(&results.manifest, &results.records)?;
    if results.records.len() < trials {
        writeln!(
            output,
            "\n{} of {trials} trials are finished; `ileave run … --resume {}` runs the others",
            results.records.len(),
            flags.directory.display()
        )
        .expect("a string grows");
    }
    if !results.suspects.is_empty() {
        let suspects: Vec<String> = results.suspects.iter().map(usize::to_string).collect();
        writeln!(
            output,
            "\nThe run was interrupted during trial {}, which ran again from the start; on real disks, \
             look at it twice",
            suspects.join(", ")
        )
        .expect("a string grows");
    }
    Ok(output)
}
