//! The drives, hosts and RAID boxes that ileave knows, every figure with its source.
//!
//! One file a thing, `drives/NAME.toml`, `hosts/NAME.toml` and `boxes/NAME.toml`, built into the program. Whatever takes
//! a name takes the path of such a file too. `docs/catalogue.md` describes the format.
//!
//! ```text
//! document   TOML that knows its lines
//! figure     what may stand in a figure · a figure as read: value, kind, source
//! sheet      a file: title, sources, figures
//! drive      the figures of a drive   → sim::drive::DriveSpec
//!            platters   its zones and skews        firmware   what it decides
//! host       the figures of a host
//! raid_box   the figures of a RAID box
//! listing    all as data to print
//! import     measured drives in another format → files
//! ```

mod document;
mod drive;
mod figure;
mod firmware;
mod host;
mod import;
mod listing;
mod platters;
mod raid_box;
mod sheet;
#[cfg(test)]
mod tests;

pub use drive::{Drive, FIGURES as DRIVE_FIGURES};
pub use figure::{Cell, Cited, Figure, Kind, Shape, Value, ZoneRow};
pub use firmware::DISCIPLINES;
pub use host::{ELEVATORS, FIGURES as HOST_FIGURES, Host, elevator};
pub use import::import;
pub use listing::{
    Derived, Description, Row, Stated, describe, describe_box, describe_host, list, tables,
};
pub use raid_box::{FIGURES as BOX_FIGURES, RaidBox};
pub use sheet::Fitted;

use crate::error::{Error, Result, nearest};
use include_dir::{Dir, include_dir};
use sheet::Sheet;
use std::path::Path;

static DRIVES: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/../../drives"),
    name: "drives",
    thing: "drive",
    listed_by: "ileave drives",
    figures: DRIVE_FIGURES,
};
static HOSTS: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/../../hosts"),
    name: "hosts",
    thing: "host",
    listed_by: "ileave hosts",
    figures: HOST_FIGURES,
};

static BOXES: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/../../boxes"),
    name: "boxes",
    thing: "RAID box",
    listed_by: "ileave boxes",
    figures: BOX_FIGURES,
};

/// The host of an experiment that names none: it cuts nothing and costs nothing.
pub const IDEAL_HOST: &str = "ideal";

/// The drive called `name` in the catalogue, or in the file with the path `name`.
///
/// # Errors
///
/// Where there is no such drive, or its file is at fault.
pub fn drive(name: &str) -> Result<Drive> {
    let file = DRIVES.find(name)?;
    Drive::read(&file.name, &file.label, &file.text)
}

/// The drive that `text`, the file called `name`, describes.
///
/// # Errors
///
/// Where the file is at fault.
pub fn drive_from(name: &str, text: &str) -> Result<Drive> {
    Drive::read(name, name, text)
}

/// The host called `name` in the catalogue, or in the file with the path `name`.
///
/// # Errors
///
/// Where there is no such host, or its file is at fault.
pub fn host(name: &str) -> Result<Host> {
    let file = HOSTS.find(name)?;
    Host::read(&file.name, &file.label, &file.text)
}

/// The RAID box called `name` in the catalogue, or in the file with the path `name`.
///
/// # Errors
///
/// Where there is no such box, or its file is at fault.
pub fn raid_box(name: &str) -> Result<RaidBox> {
    let file = BOXES.find(name)?;
    RaidBox::read(&file.name, &file.label, &file.text)
}

/// The names of the RAID boxes in the catalogue, in order.
pub fn box_names() -> Vec<&'static str> {
    BOXES.names()
}

/// The names of the drives in the catalogue, in order.
pub fn drive_names() -> Vec<&'static str> {
    DRIVES.names()
}

/// The names of the hosts in the catalogue, in order.
pub fn host_names() -> Vec<&'static str> {
    HOSTS.names()
}

/// Files of one sort, built into the program: `NAME.toml` for each thing.
struct Folder {
    files: Dir<'static>,
    name: &'static str,
    thing: &'static str,
    /// The command that lists them.
    listed_by: &'static str,
    figures: &'static [Figure],
}

/// A file that was asked for by name.
struct Found {
    name: String,
    /// What it is called in errors.
    label: String,
    text: String,
}

impl Folder {
    fn names(&'static self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.all().map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }

    /// The name and the text of each file.
    fn all(&'static self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.files.files().filter_map(|file| {
            let name = file.path().to_str()?.strip_suffix(".toml")?;
            Some((name, file.contents_utf8()?))
        })
    }

    fn find(&'static self, name: &str) -> Result<Found> {
        let is_toml =
            Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
        if is_toml {
            return self.read_file(name);
        }
        let mut known = vec![];
        for (key, text) in self.all() {
            let label = format!("{}/{key}.toml", self.name);
            let sheet = Sheet::read(&label, text, self.figures)?;
            let mut names = sheet.also;
            names.extend([key.into(), sheet.title]);
            if names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                return Ok(Found { name: key.into(), label, text: text.into() });
            }
            known.extend(names.into_iter().map(|name| name.to_ascii_lowercase()));
        }
        // A slash may stand in a title; else it makes a path.
        if name.contains('/') { self.read_file(name) } else { Err(self.unknown(name, &known)) }
    }

    fn read_file(&self, name: &str) -> Result<Found> {
        let text = std::fs::read_to_string(name).map_err(|error| {
            Error::input(format!(
                "cannot read {} file {name}: {error}; `{}` lists those that need no file",
                self.thing, self.listed_by
            ))
        })?;
        Ok(Found { name: name.into(), label: name.into(), text })
    }

    fn unknown(&'static self, name: &str, known: &[String]) -> Error {
        let thing = self.thing;
        let meant = nearest(&name.to_ascii_lowercase(), known.iter().map(String::as_str))
            .map(|meant| format!("; did you mean `{meant}`?"))
            .unwrap_or_default();
        Error::input(format!(
            "no {thing} is called `{name}`{meant}\n`{}` lists them; the path of a file of your own will do \
             too",
            self.listed_by
        ))
    }
}
