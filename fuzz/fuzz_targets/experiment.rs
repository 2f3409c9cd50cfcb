//! An experiment file, and behind a line of `---` what `--set` is given, one a line.
#![no_main]

use lab::experiment::Experiment;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (file, assignments) = text.split_once("\n---\n").unwrap_or((text, ""));
    let Ok(mut experiment) = Experiment::parse("fuzz.toml", file) else { return };
    for assignment in assignments.lines() {
        let _ = experiment.set(assignment);
    }
    let _ = experiment.canonical();
});
