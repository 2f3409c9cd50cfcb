//! `ileave validate --drive`: measured cells, latencies at loads and rates over time against a drive.

use super::{cells, error, left_out, signed_error, table_of_groups};
use crate::commands::print_json;
use crate::flags::ValidateFlags;
use lab::catalogue::{self, Drive, Match};
use lab::grid::{
    self, Cliff, Group, JudgedLoad, JudgedSeries, Loads, Measurements, Series, series_devices,
    series_of_device,
};
use lab::{Error, Result};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use store::words::{counted, whole_percent};
use verdict::tables::table;

/// Compares a drive with what was measured.
pub(crate) fn validate(name: &str, flags: &ValidateFlags) -> Result<String> {
    let drive = catalogue::drive(name).map_err(|error| error.context("`--drive`"))?;
    let (device, text) = match super::read(&flags.directory, grid::measurements)? {
        Measurements::Cells(grid) => {
            let wanted = wanted(&drive, &grid.devices(), flags);
            let grid = grid.of_device(wanted.as_deref())?;
            (first(&grid.devices()), of_cells(&drive, &grid, flags)?)
        }
        Measurements::Loads(loads) => {
            let wanted = wanted(&drive, &loads.devices(), flags);
            let loads = loads.of_device(wanted.as_deref())?;
            (first(&loads.devices()), of_loads(&drive, &loads, flags)?)
        }
        Measurements::Series(series) => {
            let wanted = wanted(&drive, &series_devices(&series), flags);
            let series = series_of_device(series, wanted.as_deref())?;
            (first(&series_devices(&series)), of_series(&drive, &series, flags)?)
        }
    };
    match device.filter(|device| !flags.json && is_another(&drive, device)) {
        Some(device) => Ok(format!(
            "note: measured on `{device}`, and that is no name of {}\n{text}",
            drive.title
        )),
        None => Ok(text),
    }
}

fn first(devices: &[&str]) -> Option<String> {
    devices.first().map(ToString::to_string)
}

/// Whether a device has a name, and another than the drive. A path or what fio is told says nothing of that.
fn is_another(drive: &Drive, device: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    };
    let own = plain(device);
    let is_same = |name: &str| {
        let name = plain(name);
        name.contains(&own) || own.contains(&name)
    };
    let is_nameless = device.contains('/') || matches!(device, "" | "drive");
    let is_its_own = drive.names().iter().any(|name| is_same(name));
    let is_meant = catalogue::matching(device, None, None) == Match::Drive(drive.name.clone());
    !is_nameless && !is_its_own && !is_meant
}

/// Which device is meant: the one that is asked for, or the drive itself.
fn wanted(drive: &Drive, devices: &[&str], flags: &ValidateFlags) -> Option<String> {
    let names = drive.names();
    let is_its_own = |device: &&&str| names.iter().any(|name| device.eq_ignore_ascii_case(name));
    let own = || devices.iter().find(is_its_own).map(ToString::to_string);
    flags.device.clone().or_else(own)
}

fn of_cells(drive: &Drive, grid: &grid::Grid, flags: &ValidateFlags) -> Result<String> {
    let (judged, groups) = grid::judge(drive.flash()?, &grid.cells)?;
    if flags.json {
        return as_json(drive, &groups, json!({}));
    }
    let each = if flags.cells { cells(&judged) } else { String::new() };
    Ok(format!("{}{each}{}\n{}", headed(drive), table_of_groups(&groups), left_out(&grid.left_out)))
}

fn of_loads(drive: &Drive, loads: &Loads, flags: &ValidateFlags) -> Result<String> {
    let (judged, groups) = grid::judge_loads(drive, &loads.loads)?;
    if flags.json {
        let left_out: Vec<Json> = loads
            .left_out()
            .iter()
            .map(|(why, rows)| json!({ "why": why, "rows": rows }))
            .collect();
        return as_json(drive, &groups, json!({ "left_out": left_out, "unsure": loads.unsure() }));
    }
    let each = if flags.cells { each_load(&judged) } else { String::new() };
    let mut text = format!("{}{each}{}\n", headed(drive), errors(&groups));
    text += &left_out(&loads.left_out());
    let rows = loads.unsure();
    if rows > 0 {
        let rows = counted(rows, "row");
        writeln!(text, "used, though nothing says whether the load was reached: {rows}")
            .expect("a string grows");
    }
    Ok(text)
}

fn of_series(drive: &Drive, all: &[Series], flags: &ValidateFlags) -> Result<String> {
    let judged = grid::judge_series(drive, all)?;
    let groups: Vec<Group> = judged.iter().flat_map(JudgedSeries::groups).collect();
    if flags.json {
        let series = judged.iter().map(|one| {
            let [fall_error, recovery_error] = one.time_errors();
            json!({
                "series": one.label(),
                "measured": one.measured_cliff(),
                "modelled": one.modelled_cliff(),
                "fall_error": fall_error,
                "recovery_error": recovery_error,
                "written_ratio": one.amount_ratio(),
            })
        });
        let series: Vec<Json> = series.collect();
        return as_json(drive, &groups, json!({ "series": series }));
    }
    let each = if flags.cells { each_rate(&judged) } else { String::new() };
    let cliffs: String = judged.iter().map(cliff).collect();
    Ok(format!("{}{each}{cliffs}{}\n", headed(drive), errors(&groups)))
}

/// When the rate falls and recovers, in a line.
fn cliff(one: &JudgedSeries) -> String {
    let (measured, modelled) = (one.measured_cliff(), one.modelled_cliff());
    let at = |at_s: Option<f64>| at_s.map_or("never".into(), |at_s| format!("at {at_s} s"));
    let both = |of: &dyn Fn(Cliff) -> Option<f64>| {
        format!("{} (measured {})", at(of(modelled)), at(of(measured)))
    };
    format!(
        "{}: the rate falls below half {}, recovers {}; {:.2} times the measured bytes in all\n",
        one.label(),
        both(&|cliff| cliff.falls_s),
        both(&|cliff| cliff.recovers_s),
        one.amount_ratio()
    )
}

fn headed(drive: &Drive) -> String {
    match drive.state() {
        Some(state) => format!("{}, filled: {state}\n", drive.title),
        None => format!("{}\n", drive.title),
    }
}

fn as_json(drive: &Drive, groups: &[Group], more: Json) -> Result<String> {
    let groups = serde_json::to_value(groups).map_err(Error::failure)?;
    let mut all = json!({ "drive": drive.title, "groups": groups });
    if let (Some(all), Json::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    Ok(print_json(&all))
}

fn each_load(judged: &[JudgedLoad]) -> String {
    let headings = ["reads/s", "writes MB/s", "percentile", "measured us", "modelled", "error %"];
    let mut table = table(&headings.map(String::from), 0);
    for one in judged {
        let load = &one.load;
        table.add_row([
            load.reads_per_s.to_string(),
            format!("{:.1}", load.written_per_s as f64 / 1e6),
            format!("p{}", load.percent),
            format!("{:.0}", load.us),
            format!("{:.0}{}", one.modelled_us, if one.keeps_up { "" } else { ", falls behind" }),
            signed_error(one.modelled_us / load.us),
        ]);
    }
    format!("{table}\n")
}

fn each_rate(judged: &[JudgedSeries]) -> String {
    let headings = ["series", "second", "measured MB/s", "modelled", "error %"];
    let mut table = table(&headings.map(String::from), 1);
    for one in judged {
        for ((at_s, measured), (_, modelled)) in one.series.rates.iter().zip(&one.modelled) {
            table.add_row([
                one.label(),
                at_s.to_string(),
                format!("{:.0}", measured / 1e6),
                format!("{:.0}", modelled / 1e6),
                // Of no rate there is no share.
                if *measured > 0.0 { signed_error(modelled / measured) } else { String::new() },
            ]);
        }
    }
    format!("{table}\n")
}

/// Errors where there are no percentiles beside them.
fn errors(groups: &[Group]) -> String {
    let falls_behind = groups.iter().any(|group| group.behind.is_some());
    let mut headings =
        vec!["group", "cells", "median error %", "90 % below", "largest", "within 20 %"];
    if falls_behind {
        headings.push("model falls behind");
    }
    let headings: Vec<String> = headings.into_iter().map(String::from).collect();
    let mut table = table(&headings, 1);
    for group in groups {
        let near = group.within_20_percent.unwrap_or_default();
        let mut row = vec![
            group.group.clone(),
            group.cells.to_string(),
            error(group.median_error),
            error(group.p90_error),
            error(group.max_error),
            whole_percent(near),
        ];
        row.extend(group.behind.map(|cells| cells.to_string()));
        table.add_row(row);
    }
    table.to_string()
}
