//! The page of a results directory: the verdict, its reasons, and what was measured.

use super::curves;
use super::reproduced::{MULTIPLES, table_json};
use super::{Page, escaped, filled, frame, html_table};
use crate::judge::design;
use crate::judge::design::row_order;
use crate::judge::layouts::Measure;
use crate::judge::{Layouts, Verdict};
use crate::lost;
use crate::report::ranking;
use crate::reproduce::{Comparison, REPRODUCED_WITHIN};
use crate::stats::median;
use crate::stats::noise::Noise;
use crate::why::{self, CellSummary};
use serde_json::{Map, Value as Json, json};
use store::Results;
use store::factor::Factors;
use store::published::Published;
use store::record::short_key;
use store::sample;

const SECTIONS: &str = include_str!("../../../assets/run.html");
const SCRIPT: &str = include_str!("../../../assets/run.js");

/// The page of a results directory.
pub fn run(results: &Results, verdict: &Verdict, published: Option<&Published>) -> String {
    let manifest = &results.manifest;
    let heading =
        format!("{} on {}: {} trials", manifest.name, manifest.rig, results.records.len());
    let cells = why::cells(manifest, &results.records);
    let mut reasons = why::sentences(manifest, &cells);
    reasons.extend(lost::sentences(&cells));
    reasons.extend(verdict.sentences.iter().cloned());
    let source = manifest.imported.as_ref().map(|imported| format!(" {}.", imported.source));
    let sections = [
        ("{{ranking_note}}", escaped(&ranking_note(verdict))),
        ("{{ranking}}", ranking_table(verdict)),
        ("{{manifest}}", escaped(&toml::to_string(manifest).unwrap_or_default())),
    ];
    frame(&Page {
        title: &manifest.name,
        heading: &heading,
        answer: &verdict.answer,
        points: &verdict.points,
        reasons: &reasons,
        sections: &filled(SECTIONS, &sections),
        footer: &format!("Made by ileave {}.{}", manifest.ileave, source.unwrap_or_default()),
        data: &data(results, verdict, published),
        scripts: &[MULTIPLES, SCRIPT],
    })
}

fn ranking_note(verdict: &Verdict) -> String {
    if verdict.objective.is_empty() {
        return "The metric has no better direction.".into();
    }
    let left = match verdict.left_out.len() {
        0 => String::new(),
        count => format!(" {count} layouts are left out."),
    };
    format!(
        "Ranked by {}. Failures survived: any so many disks may fail without data loss.{left}",
        ranking::measure(verdict)
    )
}

fn ranking_table(verdict: &Verdict) -> String {
    if verdict.ranked.is_empty() {
        return String::new();
    }
    let ranking = ranking::columns(verdict, false);
    html_table(&ranking.header, ranking.words, &ranking.rows, |row| (row == 0).then_some("best"))
}

/// What the script draws.
fn data(results: &Results, verdict: &Verdict, published: Option<&Published>) -> Json {
    let manifest = &results.manifest;
    let layouts = Layouts::new(manifest, &results.records);
    let ats: Vec<&Map<String, Json>> = layouts.layouts.iter().map(|layout| &layout.at).collect();
    let factors: Vec<Json> = design::single(&ats, &manifest.factors)
        .iter()
        .map(|factor| {
            let levels: Vec<String> = factor.levels.iter().map(|level| manifest.factors.shown(&factor.paths[0], &level[0])).collect();
            json!({ "path": factor.paths[0], "name": short_key(&factor.paths[0]), "levels": levels })
        })
        .collect();
    let mut crossed = design::crossed(&ats, &manifest.factors);
    crossed.retain(|factor| factor.paths.len() == 1);
    crossed.sort_by_key(|factor| std::cmp::Reverse(factor.levels.len()));
    let mut first = crossed.iter().map(|factor| &factor.paths[0]);
    let (first, second) = (first.next(), first.next());
    let (quantities, rows) = quantities(&layouts, verdict, manifest.model_error());
    json!({
        "factors": factors,
        "first_factor": first,
        "second_factor": second,
        "quantities": quantities,
        "rows": rows,
        "curves": curves::curves(results),
        "cells": cells(results),
        "within": REPRODUCED_WITHIN,
        "published": published.and_then(|published| beside(results, published)),
    })
}

/// What can be looked at, the objective first, and its value on each layout.
fn quantities(layouts: &Layouts, verdict: &Verdict, model_error: f64) -> (Vec<Json>, Vec<Json>) {
    let mut quantities = Vec::new();
    let mut rows = Vec::new();
    let (objective, factors) = (&verdict.objective, &layouts.factors);
    let is_objective = |quantity: &Measure| objective.get(4..) == Some(quantity.called());
    if !layouts.quantities.iter().any(is_objective) {
        rows.extend(verdict.ranked.iter().map(|row| {
            let (low, high) = row.interval.map(|i| (i.low, i.high)).unzip();
            json!({
                "quantity": objective, "at": words(&row.at, factors), "label": row.label, "value": row.value,
                "low": low, "high": high, "trials": row.trials,
            })
        }));
        rows.extend(verdict.left_out.iter().filter_map(|out| {
            let value = out.value?;
            Some(json!({
                "quantity": objective, "at": words(&out.at, factors), "label": out.label, "value": value,
                "trials": out.trials,
            }))
        }));
        // What no layout was measured for cannot be looked at.
        if !rows.is_empty() {
            quantities
                .push(json!({ "name": objective, "unit": verdict.unit, "better": verdict.better }));
        }
    }
    let mut order: Vec<usize> = (0..layouts.quantities.len()).collect();
    order.sort_by_key(|&index| {
        let quantity = &layouts.quantities[index];
        (!is_objective(quantity), quantity.short.is_none())
    });
    for index in order {
        let quantity = &layouts.quantities[index];
        let name = quantity.called();
        quantities.push(json!({ "name": name, "unit": quantity.unit, "better": quantity.better }));
        let samples: Vec<Vec<f64>> =
            layouts.layouts.iter().map(|layout| layout.values(index)).collect();
        let residuals = verdict.effects.iter().find(|effects| effects.of == *name);
        let noise = Noise::of(&samples, residuals.map(|e| (e.scale, e.degrees)), model_error);
        for (layout, samples) in layouts.layouts.iter().zip(&samples) {
            let Some(value) = median(samples) else { continue };
            let interval = noise.interval(samples);
            let (low, high) = interval.map(|i| (i.low, i.high)).unzip();
            rows.push(json!({
                "quantity": name, "at": words(&layout.at, factors), "label": factors.label(&layout.at),
                "value": value, "low": low, "high": high, "trials": samples.len(),
            }));
        }
    }
    (quantities, rows)
}

fn words(at: &Map<String, Json>, factors: &Factors) -> Map<String, Json> {
    at.iter().map(|(path, value)| (path.clone(), Json::from(factors.shown(path, value)))).collect()
}

/// The cells, by workload and in the order of their values.
fn in_order(results: &Results) -> Vec<CellSummary<'_>> {
    let workloads = &results.manifest.workloads;
    let mut cells = why::cells(&results.manifest, &results.records);
    cells.sort_by(|a, b| {
        let place =
            |cell: &CellSummary<'_>| workloads.iter().position(|name| name == cell.workload);
        place(a).cmp(&place(b)).then_with(|| row_order(a.at, b.at))
    });
    cells
}

/// Each cell's time in its parts and its members' load.
fn cells(results: &Results) -> Vec<Json> {
    let cells = in_order(results);
    let several = results.manifest.workloads.len() > 1;
    let told = cells.iter().filter(|cell| {
        let members = cell.records.iter().any(|record| !record.member_busy.is_empty());
        members || sample::parts().any(|part| cell.median(part.name) > 0.0)
    });
    told.map(|cell| {
        let parts: Vec<Json> = sample::parts_and_program()
            .map(|part| json!({ "part": part.words, "ms": cell.median(part.name) }))
            .collect();
        let members = cell.records.iter().map(|record| record.member_busy.len()).max().unwrap_or(0);
        let busy: Vec<f64> = (0..members)
            .filter_map(|member| {
                let shares: Vec<f64> =
                    cell.records.iter().filter_map(|r| r.member_busy.get(member).copied()).collect();
                median(&shares)
            })
            .collect();
        let parts = if parts.iter().all(|p| p["ms"] == 0.0) { Vec::new() } else { parts };
        let mut short: Vec<String> = if several { vec![cell.workload.into()] } else { Vec::new() };
        let applies = cell.at.iter().filter(|(_, value)| value.as_str() != Some(""));
        short.extend(applies.map(|(path, value)| cell.factors.shown(path, value)));
        json!({
            "label": cell.label(), "short": short.join(" · "), "workload": cell.workload, "parts": parts,
            "member_busy": busy,
        })
    })
    .collect()
}

/// Published numbers beside ours, as far as what was run is what was published.
fn beside(results: &Results, published: &Published) -> Option<Json> {
    let mut compared =
        Comparison::new(published, results.manifest.hosts_and_controllers(), &results.records);
    compared.cells.retain(|cell| cell.simulated.is_some());
    let mut json = table_json(&compared);
    json["source"] = format!("{}.", compared.source).into();
    (!compared.cells.is_empty()).then_some(json)
}
