//! The drives, hosts, RAID controllers and trees that ileave knows, every figure with its source.
//!
//! One file a thing, such as `drives/NAME.toml` and `hosts/NAME.toml`, built into the program. Whatever takes
//! a name takes the path of such a file too. `docs/catalogue.md` describes the format.
//!
//! ```text
//! figure     what may stand in a figure · a figure as read: value, kind, source
//! declare    `figures!`: a struct whose fields are figures
//! sheet      a file: title, sources, figures
//! drive      a drive; each class of drives has its figures and its model in a file of its own:
//!            drive/disk   platters, an arm and firmware
//!            drive/ideal_disk, drive/ideal_flash   what md was measured on
//! host       a host
//! controller a RAID controller
//! tree       a tree, in figures or listed
//! draft      a drive file in the making
//! known      what results keep of a drive, a host or a controller
//! provisioned what is given in brackets behind a name
//! matching   the drive that a device's model means
//! rented     what disks and volumes of clouds call themselves
//! family     the class of a drive whose series is known, and whose figures are not
//! naming     the drive that somebody means by a name
//! kept       what was read or made last
//! listing    all of them as data to print
//! import     measured drives in another format → files
//! ```

mod controller;
mod declare;
mod draft;
mod drive;
mod family;
mod figure;
mod host;
mod import;
mod kept;
mod known;
mod listing;
mod matching;
mod model_number;
mod naming;
mod provisioned;
pub(crate) mod rented;
mod sheet;
#[cfg(test)]
mod tests;
mod tree;

pub use controller::RaidController;
pub(crate) use draft::Draft;
pub(crate) use drive::{Built, ZONES_BY_DEFAULT};
pub use drive::{
    Cloud, CloudFigures, Credit, Disk, DiskFigures, Drive, DriveFigures, DriveKeys, FillState,
    Flash, FlashFigures, IdealDisk, IdealDiskFigures, IdealFlash, IdealFlashFigures, Limits,
    MediaCache, Model, QueueDiscipline, Shared, Shingled, ShingledFigures, classes_with, shared,
};
pub(crate) use family::{instead_of_shingled, is_shingled_series, writes_in_place};
pub(crate) use figure::{CYLINDERS_MAX, SECTORS_PER_TRACK_MAX};
pub use figure::{Cited, Figure, Kind, LeftOut, Shape, Value, ZoneRow};
pub use host::{Elevator, Host, HostFiles, HostKeys};
pub use import::{DiskSim, MADE, import, import_disksim, import_disksim_file};
pub use listing::{
    Derived, Description, FigureRow, FigureTable, Row, Stated, describe, describe_controller,
    describe_host, describe_tree, figure_tables, is_class, list, list_like, tables,
};
pub use matching::{Match, OWN_FILE, is_called, matching};
pub use sheet::Fitted;
pub use store::known::{Cell, IDEAL_HOST, KnownDrive, KnownHost};
pub use tree::Tree;

use crate::error::{Error, Result, nearest};
use include_dir::{Dir, include_dir};
use kept::Kept;
use provisioned::Provisioned;
use sheet::{Class, Sheet};
use std::path::Path;
use std::sync::OnceLock;
use store::input;

static DRIVES: Folder = Folder {
    files: include_dir!("$EMBEDDED_DRIVES"),
    name: "drives",
    thing: "drive",
    classes: drive::classes,
    named: OnceLock::new(),
};
static HOSTS: Folder = Folder {
    files: include_dir!("$EMBEDDED_HOSTS"),
    name: "hosts",
    thing: "host",
    classes: || vec![host::CLASS],
    named: OnceLock::new(),
};
static TREES: Folder = Folder {
    files: include_dir!("$EMBEDDED_TREES"),
    name: "trees",
    thing: "tree",
    classes: || vec![tree::CLASS],
    named: OnceLock::new(),
};
static CONTROLLERS: Folder = Folder {
    files: include_dir!("$EMBEDDED_CONTROLLERS"),
    name: "controllers",
    thing: "RAID controller",
    classes: || vec![controller::CLASS],
    named: OnceLock::new(),
};

/// The drive called `name` in the catalogue, or in the file with the path `name`; what is provisioned of it stands
/// in brackets behind it.
///
/// # Errors
///
/// Where there is no such drive, its file is at fault, or it cannot be provisioned so.
pub fn drive(name: &str) -> Result<Drive> {
    /// By their names, with what is provisioned, and their files. Every trial asks for its drives.
    static KEPT: Kept<(String, Found), Drive> = Kept::new();
    let provisioned = Provisioned::read(name)?;
    let file = DRIVES.find(provisioned.name)?;
    KEPT.get((name.into(), file), |(_, file)| {
        let sheet = Sheet::read(&file.label, &file.text, &drive::classes())?;
        Drive::of(file.name.clone(), sheet, provisioned)
    })
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
    static KEPT: Kept<Found, Host> = Kept::new();
    KEPT.get(HOSTS.find(name)?, |file| Host::read(&file.name, &file.label, &file.text))
}

/// The tree called `name` in the catalogue, or in the file with the path `name`: one of figures, or what
/// tar(1) or find(1) lists.
///
/// # Errors
///
/// Where there is no such tree, or its file is at fault.
pub fn tree(name: &str) -> Result<Tree> {
    let is_path = name.contains('/') || Path::new(name).exists();
    if is_path && !is_toml(name) && TREES.built_in(name)?.is_none() {
        return Tree::read_list(name, &read_list(name)?);
    }
    let file = TREES.find(name)?;
    Tree::read(&file.name, &file.label, &file.text)
}

/// How compressed archives start: gzip, compress, bzip2, xz.
const ARCHIVES: [&[u8]; 4] = [b"\x1f\x8b", b"\x1f\x9d", b"BZh", b"\xfd7zXZ"];

/// The text of a list. Names in it that are not UTF-8 are taken as Latin-1, so that they stay apart.
fn read_list(name: &str) -> Result<String> {
    let bytes = input::read_bytes(Path::new(name), input::RESULTS_BYTES).map_err(|error| {
        Error::input(format!(
            "cannot read tree file {name}: {error}; give a file of figures, or what `tar tvf ARCHIVE` or \
             `find DIR -printf '%y %s %p\\n'` prints"
        ))
    })?;
    if bytes.contains(&0) || ARCHIVES.iter().any(|magic| bytes.starts_with(magic)) {
        let next = format!("list it: `tar tvf {name} > list.txt`");
        return Err(Error::input(format!("{name} is an archive, and no list of one; {next}")));
    }
    let latin1 = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect();
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| latin1(error.as_bytes())))
}

/// The names of the trees in the catalogue, in order.
pub fn tree_names() -> Vec<&'static str> {
    TREES.names()
}

/// The RAID controller called `name` in the catalogue, or in the file with the path `name`.
///
/// # Errors
///
/// Where there is no such controller, or its file is at fault.
pub fn controller(name: &str) -> Result<RaidController> {
    let file = CONTROLLERS.find(name)?;
    RaidController::read(&file.name, &file.label, &file.text)
}

/// The names of the RAID controllers in the catalogue, in order.
pub fn controller_names() -> Vec<&'static str> {
    CONTROLLERS.names()
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
    /// The folder's name, and that of the command that lists them.
    name: &'static str,
    thing: &'static str,
    classes: fn() -> Vec<Class>,
    /// What [`Folder::named`] has read.
    named: OnceLock<Vec<Named>>,
}

/// A file of a folder by all of its names.
struct Named {
    /// The file's name without its ending.
    key: &'static str,
    text: &'static str,
    /// What else it is called, the key, and its title.
    names: Vec<String>,
}

/// A file that was asked for by name.
#[derive(PartialEq, Eq)]
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
        if is_toml(name) {
            return self.read_file(name);
        }
        match self.built_in(name)? {
            Some(found) => Ok(found),
            // A slash may stand in a title; else it makes a path.
            None if name.contains('/') => self.read_file(name),
            None => Err(self.unknown(name)?),
        }
    }

    /// Every file with its names. To know them all files are read, once in a program.
    fn named(&'static self) -> Result<&'static [Named]> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        let read = |(key, text)| {
            let sheet = Sheet::read(&self.label(key), text, &(self.classes)())?;
            let mut names = sheet.also;
            names.extend([key.into(), sheet.title]);
            Ok(Named { key, text, names })
        };
        let named: Result<Vec<Named>> = self.all().map(read).collect();
        let named = named?;
        Ok(self.named.get_or_init(|| named))
    }

    /// What the file of `key` is called in errors.
    fn label(&self, key: &str) -> String {
        format!("{}/{key}.toml", self.name)
    }

    fn found(&self, key: &str, text: &str) -> Found {
        Found { name: key.into(), label: self.label(key), text: text.into() }
    }

    fn built_in(&'static self, name: &str) -> Result<Option<Found>> {
        // Most names are those of files, and no two things share a name: nothing else need be read.
        if let Some((key, text)) = self.all().find(|(key, _)| key.eq_ignore_ascii_case(name)) {
            return Ok(Some(self.found(key, text)));
        }
        let squeezed = naming::squeezed(name);
        let is_meant =
            |file: &&Named| file.names.iter().any(|name| naming::squeezed(name) == squeezed);
        if let Some(file) = self.named()?.iter().find(is_meant) {
            return Ok(Some(self.found(file.key, file.text)));
        }
        Ok(match self.with_words(name)?[..] {
            [file] => Some(self.found(file.key, file.text)),
            _ => None,
        })
    }

    fn read_file(&self, name: &str) -> Result<Found> {
        let text = input::read_text(Path::new(name), input::TEXT_BYTES).map_err(|error| {
            Error::input(format!(
                "cannot read {} file {name}: {error}; `ileave {}` lists those that need no file",
                self.thing, self.name
            ))
        })?;
        Ok(Found { name: name.into(), label: name.into(), text })
    }
}

/// Whether a name is that of a TOML file.
fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"))
}
