//! `ileave reproduce`.

use super::written::{PAGE, PAIRS};
use super::{CELLS_SHOWN_MAX, print_json, to_json};
use crate::flags::ReproduceFlags;
use crate::interrupt;
use crate::progress::Bar;
use lab::published;
use lab::rig::Undo;
use lab::rig::sim::Sim;
use lab::{Keep, Result};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use store::published::Published;
use verdict::evidence::{self, Pair};
use verdict::report::{html, text};
use verdict::reproduce::{Comparison, Overview};
use verdict::tables::table;

/// Compares published numbers with simulated ones.
pub(crate) fn reproduce(flags: &ReproduceFlags) -> Result<String> {
    let tables = chosen(flags)?;
    if tables.is_empty() {
        return list_published(flags.json);
    }
    for (file, kind) in [(&flags.differences, PAIRS), (&flags.html, PAGE)] {
        file.iter().try_for_each(|file| kind.refuse_other_file(file))?;
    }
    let bar = Bar::new();
    let again = interrupt::this_command(&[], &[]);
    let _last = interrupt::watch(
        &bar,
        Undo::default(),
        format!("\nInterrupted; the tables' results are not kept.\nStart again: {again}"),
    )?;
    let compared: Result<Vec<(Comparison, Vec<Pair>)>> =
        tables.iter().map(|table| compare(table, &bar)).collect();
    bar.finish();
    let (compared, pairs): (Vec<Comparison>, Vec<Vec<Pair>>) = compared?.into_iter().unzip();
    // A single named table is one object, not a list.
    let only = (!flags.all && compared.len() == 1).then(|| &compared[0]);
    let overview = Overview::new(&compared);
    let mut output = match (only, flags.json) {
        (Some(only), true) => to_json(only)?,
        (Some(only), false) => text::comparison(only),
        (None, true) => to_json(&json!({ "tables": compared, "overview": overview }))?,
        (None, false) => all_text(&compared, &overview),
    };
    if let Some(file) = &flags.differences {
        PAIRS.write(file, evidence::text(&about(&tables), &pairs.concat()).as_bytes())?;
        writeln!(output, "\nDifferences: {}", file.display()).expect("a string grows");
    }
    if let Some(file) = &flags.html {
        PAGE.write(file, html::reproduced(&compared, &overview).as_bytes())?;
        writeln!(output, "\nPage: {}", file.display()).expect("a string grows");
    }
    Ok(output)
}

/// The tables that are asked for; none where none is named.
fn chosen(flags: &ReproduceFlags) -> Result<Vec<Published>> {
    if flags.all {
        return published::names().into_iter().map(published::find).collect();
    }
    let mut chosen: Vec<Published> = Vec::new();
    for name in &flags.names {
        let table = published::find(name)?;
        if chosen.iter().all(|known| known.name != table.name) {
            chosen.push(table);
        }
    }
    Ok(chosen)
}

/// What stands above the pairs: what they are of. The sum of a table's numbers tells whether it is still the same.
fn about(tables: &[Published]) -> String {
    let mut about = String::from(
        "Layouts that differ in one thing: how many times the one had what the other had, in print and simulated;\n\
         and levels, the values themselves. Written by `ileave reproduce --all --differences FILE`.",
    );
    for table in tables {
        let sum: f64 = table.cells.iter().filter_map(|cell| cell.published.middle()).sum();
        write!(
            about,
            "\n{}: {} published numbers, their sum {sum:.3}",
            table.name,
            table.cells.len()
        )
        .expect("a string grows");
    }
    about
}

/// Runs the table's experiment.
fn compare(published: &Published, bar: &Bar) -> Result<(Comparison, Vec<Pair>)> {
    let experiment = published::experiment(published)?;
    // Pairs and errors on record are of one seed of each cell.
    let experiment = experiment.seed_by_seed();
    let ran = lab::run(&experiment, &Sim, Keep::Nowhere, &mut |progress| bar.update(&progress))?;
    let compared = Comparison::new(published, ran.manifest.hosts_and_controllers(), &ran.records());
    let pairs = evidence::differences(published, &compared, &ran.manifest);
    Ok((compared, pairs))
}

/// Each table, the large ones without their cells, and last all in one.
fn all_text(compared: &[Comparison], overview: &Overview) -> String {
    let mut output = String::new();
    for table in compared {
        let text = if table.cells.len() > CELLS_SHOWN_MAX {
            text::comparison_in_short(table)
        } else {
            text::comparison(table)
        };
        writeln!(output, "{text}").expect("a string grows");
    }
    output + &overview.text()
}

fn list_published(as_json: bool) -> Result<String> {
    let tables: Result<Vec<Published>> =
        published::names().into_iter().map(published::find).collect();
    let tables = tables?;
    if as_json {
        let rows: Vec<Json> = tables
            .iter()
            .map(|table| json!({ "name": table.name, "source": table.source, "cells": table.cells.len() }))
            .collect();
        return Ok(print_json(&Json::from(rows)));
    }
    let mut rows = table(&["name", "cells", "source"].map(String::from), 3);
    for table in &tables {
        rows.add_row([&table.name, &table.cells.len().to_string(), &table.source]);
    }
    Ok(format!("{rows}\n"))
}
