//! `ileave drives`, `ileave hosts`, `ileave controllers` and `ileave trees`.

use super::run::warn;
use super::written::{put, refuse_results};
use super::{print_json, to_json};
use crate::flags::{
    DriveImportFlags, DriveMatchFlags, DriveProbeFlags, DrivesCommand, DrivesFlags, HostsFlags,
    TreesFlags,
};
use lab::catalogue::{self, Description, Host, RaidController, Row, Tree};
use lab::inventory::Inventory;
use lab::{Error, Result};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use store::input;
use verdict::tables::{figure, table};

/// Lists the drives, those with a word in common, or one in full.
pub(crate) fn drives(flags: &DrivesFlags) -> Result<String> {
    match &flags.command {
        Some(DrivesCommand::Import(import)) => return import_drives(import),
        Some(DrivesCommand::Match(found)) => return match_drives(found),
        Some(DrivesCommand::Probe(flags)) => return probe(flags),
        Some(DrivesCommand::Fit(fit)) => return super::grid::fit(fit),
        None => {}
    }
    let rows = match &flags.name {
        None => catalogue::list()?,
        Some(name) => match catalogue::describe(name) {
            Ok(one) if !catalogue::is_class(name) => return describe(&one, flags.json),
            Err(error) if name.contains(['/', '[']) => return Err(error),
            Ok(_) => catalogue::list_like(name)?,
            // It may be a part of several names.
            Err(error) => match catalogue::list_like(name)? {
                none if none.is_empty() => {
                    return of_no_real_drive(name, flags.json)?.ok_or(error);
                }
                some => some,
            },
        },
    };
    if flags.json {
        return to_json(&rows);
    }
    Ok(listed_drives(&rows))
}

/// The ideal drives whose titles have every word of `text`: they stand in no table of drives, as nobody can buy one.
fn of_no_real_drive(text: &str, as_json: bool) -> Result<Option<String>> {
    let mut titles = Vec::new();
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    // A number alone names nothing.
    let is_name = words.iter().any(|word| word.chars().any(char::is_alphabetic));
    for name in catalogue::drive_names() {
        let drive = catalogue::drive(name)?;
        let title = drive.title.to_lowercase();
        let has = |word: &str| title.split_whitespace().any(|own| own == word);
        let is_meant = is_name && words.iter().all(|word| has(word));
        if drive.class().starts_with("ideal-") && is_meant {
            titles.push((drive.name.clone(), drive.title.clone()));
        }
    }
    Ok((!titles.is_empty()).then(|| table_of_titles(titles, as_json)))
}

fn probe(flags: &DriveProbeFlags) -> Result<String> {
    match &flags.rotating {
        Some(device) => super::probe::probe(device, flags),
        None => Ok(super::grid::probe(flags)),
    }
}

/// A table for each class of drives.
fn listed_drives(rows: &[Row]) -> String {
    let mut classes: Vec<&[&str]> = rows.iter().map(|row| row.headings).collect();
    classes.dedup();
    classes.sort_unstable();
    classes.dedup();
    let tables = classes.into_iter().map(|headings| {
        let names: Vec<String> = headings.iter().map(|name| (*name).to_string()).collect();
        let mut table = table(&names, 2);
        for row in rows.iter().filter(|row| row.headings == headings) {
            table.add_row(row.cells.clone());
        }
        format!("{table}\n")
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// Prints what a system has as an experiment.
fn match_drives(flags: &DriveMatchFlags) -> Result<String> {
    let (inventory, unit) = (Inventory::open(&flags.files)?, flags.unit.as_deref());
    if flags.json { Ok(print_json(&inventory.json(unit)?)) } else { inventory.experiment(unit) }
}

/// Writes a catalogue file for each measured drive.
fn import_drives(flags: &DriveImportFlags) -> Result<String> {
    let origin = flags.file.display();
    let text = input::read_text(&flags.file, input::TEXT_BYTES).map_err(|error| {
        let next = "give a JSON file of measured drives, or a .diskspecs file";
        Error::input(format!("cannot read {origin}: {error}; {next}"))
    })?;
    let is_named = flags.file.extension().is_some_and(|extension| extension == "diskspecs");
    if is_named || text.contains("disksim_disk") {
        return import_disksim(flags, &text);
    }
    if flags.name.is_some() {
        return Err(Error::input(
            "`--name` is for a .diskspecs file; the drives of a JSON file have names",
        ));
    }
    let files = catalogue::import(&text).map_err(|error| error.context(origin))?;
    let out = flags.out.as_deref().unwrap_or(Path::new("."));
    fs::create_dir_all(out)
        .map_err(|error| Error::failure(format!("cannot create {}: {error}", out.display())))?;
    let mut output = String::new();
    for (name, text) in files {
        let path = out.join(name);
        write_drive(&path, &text, flags.force)?;
        writeln!(output, "{}", path.display()).expect("a string grows");
    }
    Ok(output)
}

/// Writes or prints the catalogue file of a drive of `DiskSim`.
fn import_disksim(flags: &DriveImportFlags, text: &str) -> Result<String> {
    let drive = catalogue::import_disksim_file(&flags.file, text, flags.name.as_deref())?;
    for warning in &drive.warnings {
        warn(warning);
    }
    let Some(out) = &flags.out else { return Ok(drive.text) };
    let path = if out.is_dir() { out.join(&drive.file_name) } else { out.clone() };
    write_drive(&path, &drive.text, flags.force)?;
    let mut output = format!("{}\n", path.display());
    for what in &drive.not_modelled {
        writeln!(output, "not modelled: {what}").expect("a string grows");
    }
    Ok(output)
}

/// Writes a drive file. One that is there is kept, unless ileave made it or `force`.
pub(super) fn write_drive(path: &Path, text: &str, force: bool) -> Result<()> {
    let next = "give `--out` another place";
    refuse_results(path, next)?;
    let is_made = || {
        let there = input::read_text(path, input::TEXT_BYTES);
        there.is_ok_and(|text| text.starts_with(catalogue::MADE))
    };
    if !force && fs::symlink_metadata(path).is_ok() && !is_made() {
        return Err(Error::failure(format!(
            "{} exists, and ileave did not make it; {next}, or `--force`",
            path.display()
        )));
    }
    put(path, text.as_bytes()).map_err(|error| {
        Error::failure(format!("cannot write {}: {error}; {next}", path.display()))
    })
}

/// Lists the hosts, or one in full.
pub(crate) fn hosts(flags: &HostsFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe_host(name)?, flags.json);
    }
    let hosts: Result<Vec<Host>> =
        catalogue::host_names().into_iter().map(catalogue::host).collect();
    let titles = hosts?.into_iter().map(|host| (host.name, host.title)).collect();
    Ok(table_of_titles(titles, flags.json))
}

/// Lists the trees, or describes one.
pub(crate) fn trees(flags: &TreesFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe_tree(name)?, flags.json);
    }
    let trees: Result<Vec<Tree>> =
        catalogue::tree_names().into_iter().map(catalogue::tree).collect();
    let trees = trees?;
    if flags.json {
        let titles = trees.into_iter().map(|tree| (tree.name, tree.title)).collect();
        return Ok(table_of_titles(titles, true));
    }
    let mut table = table(&["name", "title", "files", "directories", "MiB"].map(String::from), 2);
    for Tree { name, title, tree, .. } in &trees {
        let figures = tree.figures();
        let counted =
            [figures.files, figures.directories, figures.bytes >> 20].map(|n| n.to_string());
        table.add_row([name.clone(), title.clone()].into_iter().chain(counted));
    }
    Ok(format!("{table}\n"))
}

/// Lists the RAID controllers, or one in full.
pub(crate) fn controllers(flags: &HostsFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe_controller(name)?, flags.json);
    }
    let controllers: Result<Vec<RaidController>> =
        catalogue::controller_names().into_iter().map(catalogue::controller).collect();
    let titles = controllers?.into_iter().map(|of| (of.name, of.title)).collect();
    Ok(table_of_titles(titles, flags.json))
}

/// Names with titles.
fn table_of_titles(titles: Vec<(String, String)>, as_json: bool) -> String {
    if as_json {
        let rows: Vec<Json> = titles
            .into_iter()
            .map(|(name, title)| json!({ "name": name, "title": title }))
            .collect();
        return print_json(&Json::from(rows));
    }
    let mut table = table(&["name", "title"].map(String::from), 2);
    for (name, title) in titles {
        table.add_row([name, title]);
    }
    format!("{table}\n")
}

/// Every figure of a drive, host, controller or tree, with its source.
fn describe(description: &Description, as_json: bool) -> Result<String> {
    if as_json {
        return to_json(description);
    }
    Ok(description_text(description))
}

/// A drive or a host: every figure with its kind and source, and what follows from them.
fn description_text(of: &Description) -> String {
    let mut text = format!("{} ({})\n", of.title, of.name);
    if !of.also.is_empty() {
        writeln!(text, "other names: {}", of.also.join(", ")).expect("a string grows");
    }
    if let Some(note) = &of.note {
        writeln!(text, "{note}").expect("a string grows");
    }
    let mut figures = table(&["figure", "value", "unit", "kind", "source"].map(String::from), 5);
    for stated in &of.figures {
        figures.add_row([
            stated.key,
            &stated.value.to_string(),
            stated.unit,
            &stated.kind.to_string(),
            &stated.source,
        ]);
    }
    if !of.figures.is_empty() {
        write!(text, "\n{figures}\n").expect("a string grows");
    }
    if !of.derived.is_empty() {
        let mut derived = table(&["follows", "value", "unit"].map(String::from), 1);
        for row in &of.derived {
            derived.add_row([row.key, &figure(row.value), row.unit]);
        }
        write!(text, "\n{derived}\n").expect("a string grows");
    }
    text
}
