//! What `--html` writes: one page that needs nothing else, neither network nor files.
//!
//! The verdict and the tables are there without a script; the charts are drawn by Observable Plot and
//! d3, which are in the page (crates/lab/assets/vendor, ISC).

use super::ranking;
use super::text::row_order;
use crate::published::Published;
use crate::record::{PART_SAMPLES, plain, short_key};
use crate::reproduce::includes;
use crate::stats::noise::Noise;
use crate::stats::{MODEL_ERROR, median};
use crate::store::Results;
use crate::verdict::design;
use crate::verdict::{Layouts, Verdict};
use crate::why::{self, CellSummary};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");
const D3: &str = include_str!("../../assets/vendor/d3-7.9.0.min.js");
const PLOT: &str = include_str!("../../assets/vendor/plot-0.6.17.min.js");

/// The page of a results directory.
pub fn page(results: &Results, verdict: &Verdict, published: Option<&Published>) -> String {
    let manifest = &results.manifest;
    let heading =
        format!("{} on {}: {} trials", manifest.name, manifest.rig, results.records.len());
    let cells = why::cells(&results.records, &manifest.workloads);
    let mut reasons = String::new();
    for sentence in why::sentences(&cells).iter().chain(&verdict.sentences) {
        write!(reasons, "<li>{}</li>", escaped(sentence)).expect("a string grows");
    }
    let source = manifest.imported.as_ref().map(|imported| format!(" {}.", imported.source));
    let data = data(results, verdict, published).to_string().replace('<', "\\u003c");
    let parts = [
        ("{{title}}", escaped(&manifest.name)),
        ("{{style}}", STYLE.into()),
        ("{{heading}}", escaped(&heading)),
        ("{{answer}}", escaped(&verdict.answer)),
        ("{{reasons}}", reasons),
        ("{{ranking_note}}", escaped(&ranking_note(verdict))),
        ("{{ranking}}", ranking_table(verdict)),
        ("{{manifest}}", escaped(&toml::to_string(manifest).unwrap_or_default())),
        (
            "{{footer}}",
            escaped(&format!("Made by ileave {}.{}", manifest.ileave, source.unwrap_or_default())),
        ),
        ("{{data}}", data),
        ("{{d3}}", D3.into()),
        ("{{plot}}", PLOT.into()),
        ("{{script}}", SCRIPT.into()),
    ];
    filled(PAGE, &parts)
}

/// The template with each mark replaced once, left to right, so that what is put in is not looked at.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).expect("the template has every mark, in order");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

fn ranking_note(verdict: &Verdict) -> String {
    let left = match verdict.left_out.len() {
        0 => String::new(),
        count => format!(" {count} are left out."),
    };
    format!(
        "By {}; `may lose` is how many members may be lost, whichever they are.{left}",
        verdict.objective
    )
}

fn ranking_table(verdict: &Verdict) -> String {
    if verdict.ranked.is_empty() {
        return String::new();
    }
    let ranking = ranking::columns(verdict, false);
    let cell = |tag: &str, index: usize, text: &str| {
        let class = if index < ranking.words { "" } else { " class=n" };
        format!("<{tag}{class}>{}</{tag}>", escaped(text))
    };
    let line = |tag: &str, cells: &[String]| -> String {
        cells.iter().enumerate().map(|(index, text)| cell(tag, index, text)).collect()
    };
    let mut html = format!("<table><tr>{}</tr>", line("th", &ranking.header));
    for (index, row) in ranking.rows.iter().enumerate() {
        let class = if index == 0 { " class=best" } else { "" };
        write!(html, "<tr{class}>{}</tr>", line("td", row)).expect("a string grows");
    }
    html + "</table>"
}

/// What the script draws.
fn data(results: &Results, verdict: &Verdict, published: Option<&Published>) -> Json {
    let manifest = &results.manifest;
    let layouts = Layouts::new(manifest, &results.records);
    let ats: Vec<&Map<String, Json>> = layouts.layouts.iter().map(|layout| &layout.at).collect();
    let factors: Vec<Json> = design::single(&ats)
        .iter()
        .map(|factor| {
            let levels: Vec<String> = factor.levels.iter().map(|level| plain(&level[0])).collect();
            json!({ "path": factor.paths[0], "name": short_key(&factor.paths[0]), "levels": levels })
        })
        .collect();
    let mut crossed = design::crossed(&ats);
    crossed.retain(|factor| factor.paths.len() == 1);
    crossed.sort_by_key(|factor| std::cmp::Reverse(factor.levels.len()));
    let mut first = crossed.iter().map(|factor| &factor.paths[0]);
    let (first, second) = (first.next(), first.next());
    let (quantities, rows) = quantities(&layouts, verdict, manifest.modelled());
    json!({
        "factors": factors,
        "first_factor": first,
        "second_factor": second,
        "quantities": quantities,
        "rows": rows,
        "cells": cells(results),
        "published": published.map(|p| beside(results, p)).unwrap_or_default(),
        "published_source": published.map(|p| format!("{}.", p.source)),
    })
}

/// What can be looked at, the objective first, and its value on each layout.
fn quantities(layouts: &Layouts, verdict: &Verdict, modelled: bool) -> (Vec<Json>, Vec<Json>) {
    let mut quantities = Vec::new();
    let mut rows = Vec::new();
    let objective = &verdict.objective;
    if layouts.find(objective.get(4..).unwrap_or_default()).is_none() {
        quantities
            .push(json!({ "name": objective, "unit": verdict.unit, "better": verdict.better }));
        rows.extend(verdict.ranked.iter().map(|row| {
            let (low, high) = row.interval.map(|i| (i.low, i.high)).unzip();
            json!({
                "quantity": objective, "at": words(&row.at), "label": row.label, "value": row.value,
                "low": low, "high": high, "trials": row.trials,
            })
        }));
        rows.extend(verdict.left_out.iter().filter_map(|out| {
            let value = out.value?;
            Some(json!({
                "quantity": objective, "at": words(&out.at), "label": out.label, "value": value,
                "trials": 1,
            }))
        }));
    }
    let mut order: Vec<usize> = (0..layouts.quantities.len()).collect();
    order.sort_by_key(|&index| layouts.quantities[index].short.is_none());
    for index in order {
        let quantity = &layouts.quantities[index];
        let name = quantity.short.as_ref().unwrap_or(&quantity.name);
        quantities.push(json!({ "name": name, "unit": quantity.unit, "better": quantity.better }));
        let samples: Vec<Vec<f64>> = layouts
            .layouts
            .iter()
            .map(|layout| layout.samples.get(&index).cloned().unwrap_or_default())
            .collect();
        let residuals = verdict.effects.iter().find(|effects| effects.of == *name);
        let model_error = if modelled { MODEL_ERROR } else { 0.0 };
        let noise = Noise::of(&samples, residuals.map(|e| (e.scale, e.degrees)), model_error);
        for (layout, samples) in layouts.layouts.iter().zip(&samples) {
            let Some(value) = median(samples) else { continue };
            let interval = noise.interval(samples);
            let (low, high) = interval.map(|i| (i.low, i.high)).unzip();
            rows.push(json!({
                "quantity": name, "at": words(&layout.at), "label": crate::record::label(&layout.at),
                "value": value, "low": low, "high": high, "trials": samples.len(),
            }));
        }
    }
    (quantities, rows)
}

fn words(at: &Map<String, Json>) -> Map<String, Json> {
    at.iter().map(|(path, value)| (path.clone(), Json::from(plain(value)))).collect()
}

/// The cells, by workload and in the order of their values.
fn in_order(results: &Results) -> Vec<CellSummary<'_>> {
    let workloads = &results.manifest.workloads;
    let mut cells = why::cells(&results.records, workloads);
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
    let told = cells.iter().filter(|cell| {
        let members = cell.records.iter().any(|record| !record.member_busy.is_empty());
        members || PART_SAMPLES.iter().any(|part| cell.median(part) > 0.0)
    });
    told.map(|cell| {
        let parts: Vec<Json> = PART_SAMPLES
            .iter()
            .copied()
            .chain(["program_ms"])
            .map(|part| {
                let name = part.trim_end_matches("_ms").replace('_', " ");
                json!({ "part": name, "ms": cell.median(part) })
            })
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
        json!({ "label": cell.label(), "workload": cell.workload, "parts": parts, "member_busy": busy })
    })
    .collect()
}

/// Published numbers beside ours.
fn beside(results: &Results, published: &Published) -> Vec<Json> {
    let workloads = &results.manifest.workloads;
    let cells = why::cells(&results.records, &results.manifest.workloads);
    let both = published.cells.iter().filter_map(|theirs| {
        let ours = cells
            .iter()
            .find(|ours| ours.workload == theirs.workload && includes(ours.at, &theirs.at))?;
        Some(json!({
            "label": ours.label(), "workload": theirs.workload, "unit": theirs.unit,
            "published": theirs.published, "ours": ours.median(&theirs.sample),
        }))
    });
    let mut both: Vec<Json> = both.collect();
    both.sort_by_key(|cell| workloads.iter().position(|name| cell["workload"] == **name));
    both
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
