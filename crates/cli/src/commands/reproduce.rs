//! `ileave reproduce`.

use super::{print_json, to_json};
use crate::flags::ReproduceFlags;
use crate::progress::Bar;
use lab::Result;
use lab::published::{self, Published};
use lab::record::Record;
use lab::report::text;
use lab::reproduce::{self, Comparison};
use lab::rig::sim::SimKind;
use lab::runner;
use serde_json::{Value as Json, json};

/// Puts published numbers beside ours.
pub(crate) fn reproduce(flags: &ReproduceFlags) -> Result<String> {
    let Some(name) = &flags.name else {
        return list_published(flags.json);
    };
    let published = published::find(name)?;
    let plan = reproduce::plan(&published)?;
    runner::admit(&plan, &SimKind)?;
    let bar = Bar::new();
    let finished =
        runner::run(&plan, &SimKind, None, Vec::new(), &mut |progress| bar.update(&progress));
    bar.finish();
    let records: Vec<Record> = finished?.into_iter().map(|finished| finished.record).collect();
    let comparison = Comparison::new(&published, &plan, &records)?;
    if flags.json {
        return to_json(&comparison);
    }
    Ok(text::comparison(&comparison))
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
    let mut rows = text::table(&["name", "cells", "source"].map(String::from), 3);
    for table in &tables {
        rows.add_row([&table.name, &table.cells.len().to_string(), &table.source]);
    }
    Ok(format!("{rows}\n"))
}
