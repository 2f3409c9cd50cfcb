//! What each command does: flags in, the text to print out.

use crate::flags::{DrivesFlags, KeysFlags, ReportFlags, ReproduceFlags, Rig, RunFlags};
use crate::progress::Bar;
use lab::catalogue::{Description, Host, Row};
use lab::experiment::{Experiment, KEYS, Plan};
use lab::published::{self, Published};
use lab::record::Record;
use lab::report::{json, text};
use lab::reproduce::{self, Comparison};
use lab::rig::RigKind;
use lab::rig::sim::SimKind;
use lab::runner::{self, Finished};
use lab::store::{FORMAT, Manifest, Results, Store};
use lab::{Error, Result, catalogue, why};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs an experiment.
pub(crate) fn run(flags: &RunFlags) -> Result<String> {
    let experiment = read_experiment(flags)?;
    let plan = Plan::new(&experiment)?;
    let kind: &dyn RigKind = match flags.on {
        Rig::Sim => &SimKind,
    };
    runner::admit(&plan, kind)?;
    let manifest = manifest(&experiment, &plan, kind);
    published_of(&manifest).map_err(|error| error.context(&experiment.origin))?;
    let (mut store, earlier) = match &flags.resume {
        Some(directory) => Store::resume(directory, &manifest)?,
        None => {
            let directory = flags.out.clone().unwrap_or_else(|| free_directory(&experiment.name));
            (Store::create(&directory, &manifest)?, Vec::new())
        }
    };
    let bar = Bar::new();
    let finished =
        runner::run(&plan, kind, Some(&mut store), earlier, &mut |progress| bar.update(&progress));
    bar.finish();
    let finished = finished?;
    if flags.json {
        let (records, cpu): (Vec<Record>, Vec<Option<f64>>) =
            finished.into_iter().map(|Finished { record, cpu_s }| (record, cpu_s)).unzip();
        let why = why::sentences(&why::cells(&records, &manifest.workloads));
        return Ok(print_json(&json::run(records.iter().zip(cpu), &why)));
    }
    let records: Vec<Record> = finished.into_iter().map(|finished| finished.record).collect();
    let mut output = run_text(&manifest, &records)?;
    writeln!(output, "\nResults are in {}", store.directory().display()).expect("a string grows");
    Ok(output)
}

/// Prints a results directory again.
pub(crate) fn report(flags: &ReportFlags) -> Result<String> {
    let results = Results::read(&flags.directory)?;
    if flags.json {
        let why = why::sentences(&why::cells(&results.records, &results.manifest.workloads));
        return Ok(print_json(&json::run(results.records.iter().map(|r| (r, None)), &why)));
    }
    let trials = results.manifest.trials;
    let mut output = run_text(&results.manifest, &results.records)?;
    if results.records.len() < trials {
        writeln!(
            output,
            "\n{} of {trials} trials are finished; `ileave run … --resume {}` runs the others",
            results.records.len(),
            flags.directory.display()
        )
        .expect("a string grows");
    }
    if !results.suspects.is_empty() {
        let suspects: Vec<String> = results.suspects.iter().map(usize::to_string).collect();
        writeln!(
            output,
            "\nThe run was interrupted during trial {}, which ran again from the start; on real disks, \
             look at it twice",
            suspects.join(", ")
        )
        .expect("a string grows");
    }
    Ok(output)
}

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

/// Lists the drives, or one in full.
pub(crate) fn drives(flags: &DrivesFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe(name)?, flags.json);
    }
    let rows = catalogue::list()?;
    if flags.json {
        return to_json(&rows);
    }
    let mut table = text::table(&Row::HEADINGS.map(String::from), 2);
    for row in &rows {
        table.add_row(row.cells());
    }
    Ok(format!("{table}\n"))
}

/// Lists the hosts, or one in full.
pub(crate) fn hosts(flags: &DrivesFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe_host(name)?, flags.json);
    }
    let hosts: Result<Vec<Host>> =
        catalogue::host_names().into_iter().map(catalogue::host).collect();
    let hosts = hosts?;
    if flags.json {
        let rows: Vec<Json> =
            hosts.iter().map(|host| json!({ "name": host.name, "title": host.title })).collect();
        return Ok(print_json(&Json::from(rows)));
    }
    let mut table = text::table(&["name", "title"].map(String::from), 2);
    for host in &hosts {
        table.add_row([&host.name, &host.title]);
    }
    Ok(format!("{table}\n"))
}

/// Every figure of a drive or host, with its source.
fn describe(description: &Description, as_json: bool) -> Result<String> {
    if as_json {
        return to_json(description);
    }
    Ok(text::description(description))
}

/// Lists the keys of an experiment file.
pub(crate) fn keys(flags: &KeysFlags) -> String {
    if flags.json {
        let rows: Vec<Json> = KEYS
            .iter()
            .map(|key| {
                json!({
                    "key": key.path,
                    "takes": key.kind.expects(),
                    "default": key.default,
                    "factor": key.factor,
                    "help": key.help,
                })
            })
            .collect();
        return print_json(&Json::from(rows));
    }
    let mut output = String::new();
    for key in KEYS {
        let default = key.default.filter(|default| !default.is_empty());
        let default = default.map_or_else(String::new, |default| format!("; default {default}"));
        let one = if key.factor { "" } else { "; no list" };
        writeln!(
            output,
            "{}\n    {}\n    takes {}{default}{one}",
            key.path,
            key.help,
            key.kind.expects()
        )
        .expect("a string grows");
    }
    output
}

fn read_experiment(flags: &RunFlags) -> Result<Experiment> {
    let origin = flags.file.display().to_string();
    let text = fs::read_to_string(&flags.file).map_err(|error| {
        Error::input(format!(
            "cannot read the experiment file {origin}: {error}; give the path of a TOML file such as \
             experiments/fair-2006.toml"
        ))
    })?;
    let mut experiment = Experiment::parse(&origin, &text)?;
    for assignment in &flags.set {
        experiment.set(assignment)?;
    }
    for (path, value) in [("run.repeats", flags.repeat), ("run.seed", flags.seed)] {
        if let Some(value) = value {
            experiment.set(&format!("{path}={value}"))?;
        }
    }
    Ok(experiment)
}

/// The published table that an experiment names, if it names one.
fn published_of(manifest: &Manifest) -> Result<Option<Published>> {
    if manifest.published.is_empty() {
        return Ok(None);
    }
    let found = published::find(&manifest.published);
    found.map(Some).map_err(|error| error.context("`published`"))
}

fn manifest(experiment: &Experiment, plan: &Plan, kind: &dyn RigKind) -> Manifest {
    Manifest {
        format: FORMAT,
        ileave: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        rig: kind.name().into(),
        trials: plan.trials.len(),
        workloads: experiment.workloads.clone(),
        published: experiment.value("published").map_or_else(String::new, |name| name.to_string()),
        experiment: experiment.canonical(),
        drives: plan.drives.clone(),
        hosts: plan.hosts.clone(),
    }
}

/// The first of ileave-results/NAME-1, NAME-2, … that is not there.
fn free_directory(name: &str) -> PathBuf {
    let safe: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' || c == '.' { c } else { '-' })
        .collect();
    (1..u64::MAX)
        .map(|number| Path::new("ileave-results").join(format!("{safe}-{number}")))
        .find(|directory| !directory.exists())
        .expect("there are more numbers than directories")
}

/// The table of a run, the published numbers beside it, and what follows.
fn run_text(manifest: &Manifest, records: &[Record]) -> Result<String> {
    let published = published_of(manifest)?;
    let cells = why::cells(records, &manifest.workloads);
    let Manifest { name, rig, .. } = manifest;
    let mut output =
        format!("{name} on {rig}: {} trials, {} cells\n\n", records.len(), cells.len());
    output.push_str(&text::run(&cells, published.as_ref()));
    output.push_str(&text::paragraphs(&why::sentences(&cells)));
    Ok(output)
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_value(value).map(|json| print_json(&json)).map_err(Error::failure)
}

fn print_json(value: &Json) -> String {
    format!("{value:#}\n")
}
