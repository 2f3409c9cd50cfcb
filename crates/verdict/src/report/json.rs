//! What `--json` prints.

use crate::judge::Verdict;
use serde_json::{Value as Json, json};
use store::Trials;
use store::record::Record;

/// The results of a run: its trials in plan order, and the sentences that say why.
pub fn run<'a>(
    trials: impl IntoIterator<Item = (&'a Record, Option<f64>)>,
    why: &[String],
) -> Json {
    let trials: Vec<Json> = trials
        .into_iter()
        .map(|(record, cpu_s)| {
            json!({
                "at": record.at,
                "workload": record.workload,
                "repeat": record.repeat,
                "samples": record.samples,
                "member_busy": record.member_busy,
                "requests": record.requests,
                "cpu_s": cpu_s,
            })
        })
        .collect();
    json!({ "trials": trials, "why": why })
}

/// The same with the verdict, and with how many trials there are to be, are, and are not there.
pub fn with_verdict(mut run: Json, verdict: &Verdict) -> Json {
    let there = run["trials"].as_array().map_or(0, Vec::len);
    // What is imported is all there.
    let trials = verdict.trials.unwrap_or(Trials { planned: there, finished: there });
    run["planned"] = json!(trials.planned);
    run["finished"] = json!(trials.finished);
    run["missing"] = json!(trials.missing());
    run["verdict"] = json!(verdict);
    run
}
