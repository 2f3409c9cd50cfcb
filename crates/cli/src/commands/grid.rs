//! `ileave drives probe`, `ileave drives fit` and `ileave validate --drive`: measured grids.

mod validate;

pub(crate) use validate::validate;

use super::fitted::{Fitted, finish};
use crate::flags::{DriveFitFlags, DriveProbeFlags};
use lab::catalogue::FillState;
use lab::grid::{self, Cell, Given, Grid, Group, Interface, Judged};
use lab::keys::Word;
use lab::{Error, Result};
use serde_json::Map;
use std::fmt::Write as _;
use std::path::Path;
use store::input;
use store::words::whole_percent;
use verdict::tables::table;

/// Prints the fio job that measures a flash drive.
pub(crate) fn probe(flags: &DriveProbeFlags) -> String {
    grid::probe(flags.writes)
}

/// What `read` makes of a file.
fn read<T>(path: &Path, read: fn(&str, &str) -> Result<T>) -> Result<T> {
    let label = path.display().to_string();
    let text = input::read_text(path, input::RESULTS_BYTES).map_err(|error| {
        let next = "give a CSV grid, or the JSON of fio";
        Error::input(format!("cannot read {label}: {error}; {next}"))
    })?;
    read(&label, &text)
}

/// A cell that is fitted to and is missed by more than this is named.
const MISSED: f64 = 0.1;

/// Makes a drive file.
pub(crate) fn fit(flags: &DriveFitFlags) -> Result<String> {
    if let Some(output) = super::probe::fit(flags)? {
        return Ok(output);
    }
    if let Some(output) = super::data_sheet::fit(flags)? {
        return Ok(output);
    }
    let mut all = Grid::default();
    for path in &flags.results {
        all.add(read(path, grid::read)?);
    }
    if !flags.results.is_empty() {
        all = all.of_device(flags.device.as_deref())?;
    }
    let given = Given { doubt: all.doubt.clone(), ..given(flags)? };
    let fit = grid::fit(&all.cells, &given)?;
    let mut checked = format!("fitted to {} cells:\n", fit.used.len());
    for cell in &fit.used {
        writeln!(checked, "  {cell}").expect("a string grows");
    }
    checked += &left_out(&all.left_out);
    if let Some(doubt) = &all.doubt {
        writeln!(checked, "doubt: {doubt}").expect("a string grows");
    }
    let (fitted_cells, of_fitted) = grid::judge(fit.drive.flash()?, &fit.used)?;
    if !fit.used.is_empty() {
        let listed = table_of_groups(&of_fitted);
        writeln!(checked, "the same cells, as modelled:\n{listed}").expect("a string grows");
        let worst = fitted_cells.iter().max_by(|a, b| a.error().total_cmp(&b.error()));
        if let Some(worst) = worst.filter(|worst| worst.error() > MISSED) {
            let (cell, percent) = (&worst.cell, 100.0 * worst.error());
            writeln!(checked, "the worst of them: {cell}, {percent:.0} % off")
                .expect("a string grows");
        }
    }
    let mut groups = Vec::new();
    if fit.rest.is_empty() {
        checked += "No cell is left to check it with.\n";
    } else {
        (_, groups) = grid::judge(fit.drive.flash()?, &fit.rest)?;
        writeln!(
            checked,
            "the cells that were not used, as modelled:\n{}",
            table_of_groups(&groups)
        )
        .expect("a string grows");
    }
    let used = fit.used.iter().map(Cell::to_string).collect::<Vec<_>>();
    let mut checked_json = Map::new();
    checked_json.insert("cells_used".into(), used.into());
    checked_json
        .insert("groups_used".into(), serde_json::to_value(&of_fitted).map_err(Error::failure)?);
    checked_json.insert("groups".into(), serde_json::to_value(&groups).map_err(Error::failure)?);
    let fitted = Fitted {
        drive: fit.drive.title.clone(),
        text: grid::drive_file(&fit.fitting),
        rows: fit.fitting.rows(),
        missing: fit.fitting.missing,
        checked,
        checked_json,
    };
    finish(fitted, flags)
}

fn given(flags: &DriveFitFlags) -> Result<Given> {
    let state = flags.state.as_deref().map(|word| {
        FillState::of_word(word).ok_or_else(|| {
            let known = FillState::WORDS.join(", ");
            Error::input(format!("`--state` {word} is not one of {known}; choose one"))
        })
    });
    let interface = flags.interface.as_deref().map(|word| {
        Interface::of_word(word).ok_or_else(|| {
            let known = Interface::WORDS.join(" or ");
            Error::input(format!("`--interface` {word} is unknown; choose {known}"))
        })
    });
    Ok(Given {
        name: flags.name.clone(),
        state: state.transpose()?,
        capacity_bytes: capacity_bytes(flags)?,
        interface: interface.transpose()?,
        queue_depth: flags.queue_depth,
        power_loss_protection: flags.power_loss_protection,
        read_iops: flags.read_iops,
        write_iops: flags.write_iops,
        steady_write_iops: flags.steady_write_iops,
        read_latency_us: flags.read_latency,
        write_latency_us: flags.write_latency,
        read_mb_per_s: flags.read_mb,
        write_mb_per_s: flags.write_mb,
        source: flags.source.clone(),
        doubt: None,
    })
}

/// What `--capacity` says, in bytes: a number, or as makers count them.
pub(super) fn capacity_bytes(flags: &DriveFitFlags) -> Result<Option<u64>> {
    let Some(text) = flags.capacity.as_deref() else { return Ok(None) };
    let bytes = grid::capacity_in(text).or_else(|| block::units::parse_bytes(text).ok());
    match bytes.filter(|bytes| (1..=100_000_000_000_000_000).contains(bytes)) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Error::input(format!(
            "`--capacity` {text} is not a size; write it like 1TB or 480GB, or in bytes"
        ))),
    }
}

/// What of the results is no cell.
fn left_out(left_out: &[(String, usize)]) -> String {
    let lines = left_out.iter().map(|(why, count)| match count {
        1 => format!("left out: {why}\n"),
        _ => format!("left out: {why} ({count} times)\n"),
    });
    lines.collect()
}

/// An error in percent, of a `fraction` of what was measured; above 200 % as how many times that.
fn error(fraction: f64) -> String {
    if fraction > 2.0 { times(1.0 + fraction) } else { format!("{:.1}", 100.0 * fraction) }
}

/// The same of what is modelled over what was measured, with its sign.
fn signed_error(ratio: f64) -> String {
    if ratio > 3.0 { times(ratio) } else { format!("{:+.1}", 100.0 * (ratio - 1.0)) }
}

fn times(ratio: f64) -> String {
    if ratio > 20.0 { format!("about {ratio:.0} times") } else { format!("{ratio:.1} times") }
}

fn cells(judged: &[Judged]) -> String {
    let headings = ["measured", "modelled /s", "error %", "p99 us", "modelled"];
    let mut table = table(&headings.map(String::from), 1);
    for one in judged {
        table.add_row([
            one.cell.to_string(),
            format!("{:.0}", one.modelled.iops),
            signed_error(one.modelled.iops / one.cell.iops),
            one.cell.p99_us.map(|us| format!("{us:.0}")).unwrap_or_default(),
            format!("{:.0}", one.modelled.p99_us),
        ]);
    }
    format!("{table}\n")
}

fn table_of_groups(groups: &[Group]) -> String {
    let headings = [
        "group",
        "cells",
        "median error %",
        "90 % below",
        "largest",
        "p99 ratio",
        "p99 within 1.5",
    ];
    let mut table = table(&headings.map(String::from), 1);
    for group in groups {
        table.add_row([
            group.group.clone(),
            group.cells.to_string(),
            error(group.median_error),
            error(group.p90_error),
            error(group.max_error),
            group.p99_ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            group.p99_within_half.map(whole_percent).unwrap_or_default(),
        ]);
    }
    table.to_string()
}
