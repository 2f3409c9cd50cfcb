//! What the charts of a workload draw: for each workload what it is judged by, over all factors, loads too.

use super::run::drawn;
use super::thin;
use crate::cells::{self, CellSummary};
use crate::evidence::Evidence;
use crate::judge::factors::design::{Factor, single};
use crate::stats::noise::Noise;
use serde_json::{Map, Value as Json, json};
use store::factor::Role;
use store::record::short_key;
use store::{Results, sample};

/// What may be drawn beside what the workload is judged by.
const BESIDE: [&str; 3] = ["latency_mean_ms", "latency_p50_ms", "latency_p99_ms"];

/// The workloads in which anything was varied.
pub(super) fn sweeps(results: &Results, cells: &[CellSummary<'_>], most: usize) -> Vec<Json> {
    let names = cells::workloads(cells);
    names.into_iter().filter_map(|name| sweep(results, name, cells, most)).collect()
}

fn sweep(
    results: &Results,
    workload: &str,
    cells: &[CellSummary<'_>],
    most: usize,
) -> Option<Json> {
    let own: Vec<&CellSummary<'_>> =
        cells.iter().filter(|cell| cell.workload == workload).collect();
    let (main, _) = cells::judged_by(&results.manifest, workload, &own)?;
    let ats: Vec<&Map<String, Json>> = own.iter().map(|cell| cell.at).collect();
    let factors = single(&ats, &results.manifest.factors);
    let is_load = |path: &str| results.manifest.factors.role(path) != Role::Choice;
    if factors.is_empty() {
        return None;
    }
    let mut names = vec![main];
    let is_measured = |name: &&str| own.iter().any(|cell| cell.measured(name).is_some());
    names.extend(BESIDE.into_iter().filter(|name| *name != main).filter(is_measured));
    let samples: Vec<Json> = names
        .iter()
        .map(|name| {
            let quantity = results.manifest.quantity(workload, name);
            let words = sample::find(name).map_or(*name, |sample| sample.words);
            json!({ "name": name, "words": words, "unit": quantity.unit, "better": quantity.better })
        })
        .collect();
    let listed: Vec<Json> = factors
        .iter()
        .map(|factor| {
            let path = &factor.paths[0];
            let levels: Vec<String> =
                factor.levels.iter().map(|level| results.manifest.factors.shown(path, &level[0])).collect();
            json!({ "path": path, "name": short_key(path), "axis": results.manifest.factors.axis(path), "load": is_load(path), "levels": levels })
        })
        .collect();
    let mut told = json!({ "workload": workload, "samples": samples, "factors": listed });
    if cells.len() > most && factors.len() > 1 {
        told["cells"] = json!([]);
        told["pairs"] = paired(&own, &names, &factors, most);
        return Some(told);
    }
    let samples_of_main: Vec<Vec<f64>> = own.iter().map(|cell| cell.samples(main)).collect();
    let evidence = Evidence::of(&results.manifest, &results.records, &[main]);
    let noise = Noise::of(&samples_of_main, None, evidence.difference());
    let noise = noise.with_level(evidence.level());
    let drawn: Vec<Json> = own
        .iter()
        .zip(&samples_of_main)
        .map(|(cell, samples)| {
            let interval =
                noise.interval(samples).map(|interval| [drawn(interval.low), drawn(interval.high)]);
            point(cell, &names, interval)
        })
        .collect();
    told["cells"] = json!(drawn);
    Some(told)
}

/// For pairs of factors, what stands for the cells with each pair of values: the medians of what [`point`] has, and how many
/// cells they are of.
fn paired(own: &[&CellSummary<'_>], names: &[&str], factors: &[Factor], most: usize) -> Json {
    let measured: Vec<Vec<[Option<f64>; 3]>> = names
        .iter()
        .map(|name| own.iter().map(|cell| median_and_range(cell, name)).collect())
        .collect();
    let pairs = thin::pairs(factors, most).map(|pair| {
        let [a, b] = pair.factors.map(|factor| &factors[factor]);
        let cells = pair.groups.iter().map(|([x, y], places)| {
            let values: Vec<[Option<f64>; 3]> = measured
                .iter()
                .map(|of| {
                    [0, 1, 2].map(|at| {
                        thin::middle(places.iter().map(|&place| of[place][at])).map(drawn)
                    })
                })
                .collect();
            let shown = |factor: &Factor, level: usize| {
                own[0].factors.shown(&factor.paths[0], &factor.levels[level][0])
            };
            json!({
                "at": { &a.paths[0]: shown(a, *x), &b.paths[0]: shown(b, *y) },
                "values": values, "interval": null, "count": places.len(),
            })
        });
        json!({ "paths": [a.paths[0], b.paths[0]], "cells": cells.collect::<Vec<_>>() })
    });
    pairs.collect()
}

/// Of the repeats of a cell.
fn median_and_range(cell: &CellSummary<'_>, name: &str) -> [Option<f64>; 3] {
    let samples = cell.samples(name);
    let low = samples.iter().copied().reduce(f64::min);
    let high = samples.iter().copied().reduce(f64::max);
    [cell.measured(name), low, high]
}

/// A cell: its factors in words, of each sample the median and the range of the repeats, and of the first its 95 %
/// interval.
fn point(cell: &CellSummary<'_>, names: &[&str], interval: Option<[f64; 2]>) -> Json {
    let at: Map<String, Json> = cell
        .at
        .iter()
        .map(|(path, value)| (path.clone(), cell.factors.shown(path, value).into()))
        .collect();
    let values: Vec<Json> = names
        .iter()
        .map(|name| json!(median_and_range(cell, name).map(|value| value.map(drawn))))
        .collect();
    json!({ "at": at, "values": values, "interval": interval })
}
