//! The page of published tables: each as small multiples, published against ours.

use super::{Page, escaped, frame, html_table};
use crate::reproduce::{Comparison, Overview, REPRODUCED_WITHIN};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// Draws a table's cells; the page of a run uses it too.
pub(super) const MULTIPLES: &str = include_str!("../../../assets/multiples.js");
const SCRIPT: &str = include_str!("../../../assets/reproduced.js");

/// The page of these tables.
pub fn reproduced(tables: &[Comparison], overview: &Overview) -> String {
    let title = match tables {
        [only] => only.name.clone(),
        _ => "Tables".into(),
    };
    let mut sections = summary(overview);
    for table in tables {
        sections.push_str(&section(table));
    }
    let answer = overview.answer().unwrap_or_default();
    let reasons = overview.remarks();
    frame(&Page {
        title: &title,
        heading: &format!("{title}, published and simulated"),
        answer: &answer,
        first: "",
        points: &[],
        reasons: &reasons,
        sections: &sections,
        footer: concat!("Made by ileave ", env!("CARGO_PKG_VERSION"), "."),
        data: &json!({
            "within": REPRODUCED_WITHIN,
            "tables": tables.iter().map(table_json).collect::<Vec<Json>>(),
        }),
        scripts: &[MULTIPLES, SCRIPT],
    })
}

/// All tables in one.
fn summary(overview: &Overview) -> String {
    let rows: Vec<Vec<String>> = overview.lines();
    let table = html_table(&Overview::header(), Overview::WORDS, &rows, |_| None);
    format!(
        "<section id=\"overview\" class=\"long\"><h2>Overview</h2>\
         <p class=\"note\">Errors are percentages of the published number, over cells that were not \
         fitted. “Off” cells differ by more than {:.0} %. If the best cells differ, both are named: \
         published / simulated. Counts and CPU shares have no best.</p>\
         <button type=\"button\">Copy</button>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Overview\">{table}</div>\
         </section>",
        100.0 * REPRODUCED_WITHIN
    )
}

fn section(table: &Comparison) -> String {
    let name = escaped(&table.name);
    let mut words = String::new();
    for (what, list) in [("Inferred", &table.inferred), ("Not modelled", &table.not_modelled)] {
        for sentence in list {
            write!(words, "<li>{what}: {}.</li>", escaped(sentence)).expect("a string grows");
        }
    }
    format!(
        "<section id=\"table-{name}\" class=\"long\"><h2>{name}</h2><p class=\"note\">{}</p>\
         <div class=\"controls\"><label>Colour by <select id=\"colour-{name}\"></select></label></div>\
         <div class=\"legend\"></div><div class=\"multiples\"></div><ul class=\"small\">{words}</ul>\
         <details><summary>The numbers</summary><button type=\"button\">Copy</button>\
         <div class=\"scroll\" tabindex=\"0\"></div></details></section>",
        escaped(&table.source)
    )
}

/// What the script draws of a table.
pub(super) fn table_json(table: &Comparison) -> Json {
    let cells: Vec<Json> = table
        .cells
        .iter()
        .map(|cell| {
            let at: Map<String, Json> = cell
                .at
                .iter()
                .map(|(path, value)| (path.clone(), table.factors.shown(path, value).into()))
                .collect();
            json!({
                "at": at, "quantity": cell.quantity, "unit": cell.unit, "published": cell.published,
                "ours": cell.simulated, "error_words": cell.error_words(), "remark": cell.remark(),
            })
        })
        .collect();
    json!({ "name": table.name, "summary": table.summary, "groups": table.groups, "cells": cells })
}
