//! Drive models against measured traces.
//!
//! A folder holds traces, `NAME.trace`, and a `drives.toml` that says which drive each is of:
//!
//! ```toml
//! cheetah9LP = "Seagate ST39102LW Cheetah 9LP"   # a catalogue name
//! mine = "mine.toml"                             # or a file beside it, in the same format
//! ```
//!
//! Each trace is played to the model of its drive; what it shows is judged elsewhere: the distributions of service
//! times over the whole trace, and over its halves. What was adjusted in a drive's file
//! was adjusted on the first half, so that the second is a prediction.

mod replay;
mod trace;

pub use replay::replay;
pub use trace::{Measured, read as read_trace};

use crate::catalogue::{self, Drive};
use crate::error::{Error, Result};
use crate::text::{Source, Table};
use std::path::Path;
use store::input;
use store::played::{Played, Served};

/// Replays with the gaps moved, beside the exact one.
const MOVED: u64 = 6;

impl From<&Measured> for Served {
    fn from(measured: &Measured) -> Self {
        Served { writes: measured.writes(), measured_ns: measured.service_ns }
    }
}

/// Plays `trace`, called `name`, to the model of `drive`.
///
/// # Errors
///
/// Where the trace goes beyond the drive.
pub fn play(name: &str, trace: &[Measured], drive: &Drive) -> Result<Played> {
    let title = &drive.title;
    let disk = drive.disk()?;
    let spec = disk.spec()?;
    let sectors = spec.platters.sectors;
    if let Some(far) = trace.iter().position(|measured| measured.request.end() > sectors) {
        let end = trace[far].request.end();
        return Err(Error::input(format!(
            "{name}: request {} goes up to sector {}, but {title} has {sectors} sectors; \
             is it another drive?",
            far + 1,
            end - 1
        )));
    }
    let bus = disk.measured_bus_bytes_per_s().unwrap_or(spec.controller.interface_bytes_per_s);
    let play =
        |seed| replay(&spec, bus, trace, seed).map_err(|error| Error::input(error).context(title));
    Ok(Played {
        trace: name.into(),
        drive: title.clone(),
        requests: trace.iter().map(Served::from).collect(),
        exact_ns: play(None)?,
        moved_ns: (1..=MOVED).map(|seed| play(Some(seed))).collect::<Result<_>>()?,
    })
}

/// Plays every trace in `folder`, in the order of their names. Drives are looked for in the JSON
/// file `measured_drives` first, if there is one; else in the catalogue, or beside the traces.
///
/// # Errors
///
/// Where the folder, its `drives.toml`, a trace or a drive cannot be read, or `measured_drives` holds
/// none of the drives.
pub fn validate(folder: &Path, measured_drives: Option<&Path>) -> Result<Vec<Played>> {
    let named = drives_of(folder)?;
    let imported = match measured_drives {
        Some(path) => import(path, &named)?,
        None => vec![],
    };
    let mut all = vec![];
    for (name, drive_name) in named {
        let path = folder.join(format!("{name}.trace"));
        let trace = read_trace(&path.display().to_string(), &read_file(&path)?)?;
        let drive = find_drive(folder, &drive_name, &imported)
            .map_err(|error| error.context(format!("the drive of the trace {name}")))?;
        all.push(play(&name, &trace, &drive)?);
    }
    Ok(all)
}

/// A trace, and what was played of it, or why not.
pub type Tried = (String, Result<Played>);

/// Plays the traces in `folder` that the `drives.toml` in `drives` names, each to its drive: a file in `drives`,
/// as a catalogue file or a `.diskspecs` of `DiskSim`, else a name of the catalogue. What one of them lacks keeps
/// nobody from the others.
///
/// # Errors
///
/// Where `drives.toml` cannot be read.
pub fn validate_each(folder: &Path, drives: &Path) -> Result<Vec<Tried>> {
    let tried = named_in(drives)?.into_iter().map(|(name, drive_name)| {
        let played = || {
            let path = [folder, drives].map(|folder| folder.join(format!("{name}.trace")));
            let path = if path[0].exists() { &path[0] } else { &path[1] };
            let trace = read_trace(&path.display().to_string(), &read_file(path)?)?;
            let drive = read_drive(drives, &drive_name)
                .map_err(|error| error.context(format!("the drive of the trace {name}")))?;
            play(&name, &trace, &drive)
        };
        let played = played();
        (name, played)
    });
    Ok(tried.collect())
}

/// The drive called `name`: a file in `folder`, or one of the catalogue.
fn read_drive(folder: &Path, name: &str) -> Result<Drive> {
    let path = folder.join(name);
    if !path.is_file() {
        return find_drive(folder, name, &[]);
    }
    if path.extension().is_none_or(|extension| extension != "diskspecs") {
        return catalogue::drive(&path.display().to_string());
    }
    let text = input::read_text(&path, input::TEXT_BYTES)
        .map_err(|error| Error::input(format!("cannot read {}: {error}", path.display())))?;
    let imported = catalogue::import_disksim_file(&path, &text, None)?;
    catalogue::drive_from(&imported.file_name, &imported.text)
}

/// The drives in the JSON file at `path`; `named` are the traces with their drives.
fn import(path: &Path, named: &[(String, String)]) -> Result<Vec<Drive>> {
    let at_path = |error: Error| error.context(path.display());
    let imported = catalogue::import(&read_file(path)?)
        .map_err(at_path)?
        .iter()
        .map(|(name, text)| catalogue::drive_from(name, text))
        .collect::<Result<Vec<Drive>>>()?;
    if named.iter().any(|(_, drive)| imported.iter().any(|it| is_called(it, drive))) {
        return Ok(imported);
    }
    let wanted: Vec<&str> = named.iter().map(|(_, drive)| drive.as_str()).collect();
    let held: Vec<&str> = imported.iter().map(|drive| drive.title.as_str()).collect();
    Err(at_path(Error::input(format!(
        "holds {}, but no drive of the traces: {}; use the same name in both",
        if held.is_empty() { "no drive".into() } else { held.join(", ") },
        wanted.join(", ")
    ))))
}

/// Whether `drive`, from a file of measured drives, is the one meant by `name`: its title or its model.
fn is_called(drive: &Drive, name: &str) -> bool {
    let model = drive.name.trim_end_matches(".toml");
    drive.title.eq_ignore_ascii_case(name) || model.eq_ignore_ascii_case(name)
}

fn read_file(path: &Path) -> Result<String> {
    input::read_text(path, input::RESULTS_BYTES)
        .map_err(|error| Error::input(format!("cannot read {}: {error}", path.display())))
}

const EXAMPLE: &str = r#"write a line like `my-disk = "st39102lw"`"#;

/// Each trace and the name of its drive, as the `drives.toml` in `folder` has them, in order.
fn named_in(folder: &Path) -> Result<Vec<(String, String)>> {
    let path = folder.join("drives.toml");
    let label = path.display();
    let example = EXAMPLE;
    let text = read_file(&path).map_err(|error| {
        error.followed_by(format!("it names the drive of each trace: {example}"))
    })?;
    let file = label.to_string();
    let source = Source { label: &file, text: &text };
    let parsed = source.parse()?;
    let mut named = vec![];
    for (trace, drive) in Table::whole(source, &parsed).items() {
        let Ok(drive) = drive.text() else {
            return Err(source.wrong(drive.line(), format!("`{trace}` has no drive; {example}")));
        };
        named.push((trace.to_string(), drive.to_string()));
    }
    named.sort();
    if named.is_empty() {
        return Err(Error::input(format!("{label} has no trace; {example}")));
    }
    Ok(named)
}

/// The same where each trace in `folder` must be named.
fn drives_of(folder: &Path) -> Result<Vec<(String, String)>> {
    let named = named_in(folder)?;
    for entry in std::fs::read_dir(folder).map_err(Error::failure)? {
        let file = entry.map_err(Error::failure)?.file_name();
        let file = file.to_string_lossy();
        if let Some(trace) = file.strip_suffix(".trace")
            && named.iter().all(|(name, _)| name != trace)
        {
            let label = folder.join("drives.toml").display().to_string();
            return Err(Error::input(format!(
                "{label} does not name the drive of {file}; {EXAMPLE}"
            )));
        }
    }
    Ok(named)
}

fn find_drive(folder: &Path, name: &str, imported: &[Drive]) -> Result<Drive> {
    if let Some(drive) = imported.iter().find(|drive| is_called(drive, name)) {
        return Ok(drive.clone());
    }
    let beside = folder.join(name);
    if beside.is_file() {
        return catalogue::drive(&beside.display().to_string());
    }
    catalogue::drive(name)
}
