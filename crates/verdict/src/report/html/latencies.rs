//! How long requests took, and what was completed over time: what the charts of single cells draw.

use super::run::{drawn, short_labels};
use crate::cells::CellSummary;
use crate::report::load::word;
use serde_json::{Value as Json, json};
use store::record::LoadPoint;

/// The shares of requests at which a distribution is drawn: more where it rises.
const SHARES: [f64; 19] = [
    0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999,
    0.9999, 1.0,
];

/// A trial's completions over time are drawn in so many points at most.
const POINTS: usize = 120;

/// A cell with a short label.
pub(super) type Labelled<'a> = (CellSummary<'a>, String);

/// The cells whose trials kept their latencies, each workload's best first: milliseconds at the shares.
pub(super) fn latencies(ranked: &[Labelled<'_>]) -> Json {
    let cells: Vec<Json> = ranked
        .iter()
        .filter_map(|(cell, short)| {
            let ms = milliseconds(cell)?;
            Some(json!({ "workload": cell.workload, "short": short, "label": cell.label(), "ms": ms }))
        })
        .collect();
    json!({ "shares": SHARES, "cells": cells })
}

/// The latencies of all repeats of a cell; `None` where nobody kept them.
fn milliseconds(cell: &CellSummary<'_>) -> Option<Vec<f64>> {
    let kept = cell.records.iter().filter(|record| !record.latency_hdr.is_empty());
    let mut all = kept.filter_map(|record| record.latencies().ok());
    let mut sum = all.next()?;
    for other in all {
        // Histograms of other bounds grow to take it.
        sum.auto(true);
        sum.add(&other).ok()?;
    }
    (!sum.is_empty()).then(|| {
        let at = |share| drawn(sum.value_at_quantile(share) as f64 / 1e6);
        SHARES.into_iter().map(at).collect()
    })
}

/// The cells for which the highest rate was looked for: the latencies of the first repeat at each rate that was tried.
pub(super) fn against_load(ranked: &[Labelled<'_>]) -> Vec<Json> {
    ranked
        .iter()
        .filter_map(|(cell, short)| {
            let record = cell.records.iter().min_by_key(|record| record.repeat)?;
            let point = |point: &LoadPoint| {
                let mut drawn = json!(point);
                drawn["state"] = word(point.state).into();
                drawn
            };
            let points: Vec<Json> = record.curve.iter().map(point).collect();
            (!points.is_empty()).then(|| {
                json!({ "workload": cell.workload, "short": short, "label": cell.label(), "points": points })
            })
        })
        .collect()
}

/// The cells whose trials kept what they completed over time: MB/s of the first repeat, in points of equal length.
pub(super) fn over_time(ranked: &[Labelled<'_>]) -> Vec<Json> {
    ranked
        .iter()
        .filter_map(|(cell, short)| {
            let record = cell.records.iter().min_by_key(|record| record.repeat)?;
            let series = serde_json::to_value(record).ok()?.get("series")?.clone();
            let batch_s = series["batch_ns"].as_f64()? / 1e9;
            let bytes: Vec<f64> =
                series["bytes"].as_array()?.iter().filter_map(Json::as_f64).collect();
            let each = bytes.len().div_ceil(POINTS).max(1);
            let rate = |batches: &[f64]| {
                drawn(batches.iter().sum::<f64>() / 1e6 / (batch_s * batches.len() as f64))
            };
            let rates: Vec<f64> = bytes.chunks(each).map(rate).collect();
            let warm_up_s = record.sample("warm_up_s");
            (rates.len() > 1).then(|| {
                json!({
                    "workload": cell.workload, "short": short, "label": cell.label(),
                    "step_s": batch_s * each as f64, "mb_per_s": rates, "warm_up_s": warm_up_s,
                })
            })
        })
        .collect()
}

/// The cells with short labels.
pub(super) fn labelled(cells: Vec<CellSummary<'_>>) -> Vec<Labelled<'_>> {
    let labels = short_labels(&cells, false);
    cells.into_iter().zip(labels).collect()
}
