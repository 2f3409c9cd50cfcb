//! What makes answers about a trace doubtful.

use super::{Format, Onto};
use crate::experiment::{Plan, Trial};
use crate::workload::{Replay, Replayed};
use block::SECTOR_BYTES;

/// What is doubtful of the traces of `plan`, each said once.
pub(crate) fn doubts(plan: &Plan) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let traced = plan.trials.iter().filter(|trial| trial.is_first());
    for (trial, trace) in traced.filter_map(|trial| Some((trial, trial.trace()?))) {
        for doubt in [of_times(trace), of_places(trial, trace)].into_iter().flatten() {
            if !said.contains(&doubt) {
                said.push(doubt);
            }
        }
    }
    said
}

/// Times that the trace has not.
fn of_times(trace: &Replayed) -> Option<String> {
    let is_invented =
        trace.keys.replay == Replay::Open && trace.trace.formats.contains(&Format::Tencent);
    is_invented.then(|| {
        format!(
            "the times of {} are whole seconds: those within a second are invented, evenly spread. Real requests come in bursts, and \
             queues and percentiles are longer; do not choose by `latency_p99_ms` alone",
            trace.trace.named()
        )
    })
}

/// Places that the volume has not.
fn of_places(trial: &Trial, trace: &Replayed) -> Option<String> {
    let sectors = trial.setup.volume.layout().ok()?.sectors();
    let onto = Onto::volume(&trace.survey, sectors).ok().filter(|onto| onto.is_folded)?;
    let survey = &trace.survey;
    let beyond =
        onto.parts.iter().zip(&survey.ends).map(|((_, length), ends)| ends.beyond(*length));
    let reaches = survey.disks.iter().map(|(_, end)| u128::from(*end)).sum::<u128>();
    let reaches = u64::try_from(reaches * u128::from(SECTOR_BYTES)).unwrap_or(u64::MAX);
    Some(format!(
        "{} reaches over {}, and a volume of {} is smaller: {} of its {} requests lie beyond their disk's share and are folded back, so \
         that seek distances are not those of the trace",
        trace.trace.named(),
        size(reaches),
        size(sectors * SECTOR_BYTES),
        beyond.sum::<u64>(),
        survey.requests
    ))
}

/// As makers of drives write it: `148 GB`, `8.0 TB`.
fn size(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    match gb {
        1000.0.. => format!("{:.1} TB", gb / 1e3),
        10.0.. => format!("{gb:.0} GB"),
        _ => format!("{gb:.1} GB"),
    }
}
