//! What `--json` prints.

use crate::judge::Verdict;
use serde_json::{Value as Json, json};
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

/// The same with the verdict.
pub fn with_verdict(mut run: Json, verdict: &Verdict) -> Json {
    run["verdict"] = json!(verdict);
    run
}
