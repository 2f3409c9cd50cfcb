//! What a command needs to know of a rig to offer it: its name, its flags, and how it is opened.

use super::{KINDS, Rig};
use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// A kind of rig.
#[derive(Clone, Copy, Debug)]
pub struct RigKind {
    /// The name that `--on` takes.
    pub name: &'static str,
    /// What it is, for the help.
    pub about: &'static str,
    /// What it can do; which members it has is not known before it is opened.
    pub capabilities: fn() -> Capabilities,
    /// The flags that it alone has.
    pub flags: &'static [RigFlag],
    /// Opens it with the flags that were given.
    pub open: fn(&Given, &mut Ask<'_>) -> Result<Box<dyn Rig>>,
}

/// A flag of one rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigFlag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What it says, for the help.
    pub about: &'static str,
    /// What stands behind it.
    pub takes: Takes,
    /// Whether the rig cannot do without.
    pub is_required: bool,
    /// The flag that it means nothing without.
    pub needs: Option<&'static str>,
}

/// What stands behind a flag, as the help calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// A value.
    Value(&'static str),
    /// Values with commas between them.
    List(&'static str),
    /// Paths with commas between them.
    Paths(&'static str),
    /// A path; the flag may be given several times.
    PathEach(&'static str),
}

/// The flags of a rig that were given, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<String, Vec<OsString>>);

/// Asks a person a question; gives the line that was typed, or none where nobody can be asked.
pub type Ask<'a> = dyn FnMut(&str) -> Result<Option<String>> + 'a;

impl RigKind {
    /// The kind of this name.
    ///
    /// # Errors
    ///
    /// Where there is none; the message lists those that there are.
    pub fn find(name: &str) -> Result<&'static RigKind> {
        KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            Error::input(format!("there is no rig `{name}`; there are {}", names.join(", ")))
        })
    }

    /// Whether all flags that were `given` are its own.
    ///
    /// # Errors
    ///
    /// Where one is another rig's; the message says whose.
    pub fn check(&self, given: &Given) -> Result<()> {
        let own = |name: &String| self.flags.iter().any(|flag| flag.name == name);
        if let Some(name) = given.0.keys().find(|name| !own(name)) {
            let owner = KINDS.iter().find(|kind| kind.flags.iter().any(|flag| flag.name == name));
            let next = owner.map_or("leave it out".into(), |of| format!("add `--on {}`", of.name));
            return Err(Error::input(format!("`--{name}` means nothing to {}; {next}", self.name)));
        }
        Ok(())
    }

    /// Opens it with the flags that were `given`.
    ///
    /// # Errors
    ///
    /// Where a flag is another rig's, or the rig cannot be opened.
    pub fn open(&self, given: &Given, ask: &mut Ask<'_>) -> Result<Box<dyn Rig>> {
        self.check(given)?;
        (self.open)(given, ask)
    }
}

impl Given {
    /// Notes a flag, with what stands behind it.
    pub fn set(&mut self, name: &str, values: Vec<OsString>) {
        self.0.insert(name.into(), values);
    }

    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// What stands behind a flag; nothing where it was not given.
    pub fn all(&self, name: &str) -> &[OsString] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// What stands behind a flag as text, read by `read`.
    ///
    /// # Errors
    ///
    /// What `read` says, after the flag and the text.
    pub fn read<T>(&self, name: &str, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
        let values = self.all(name).iter().map(|value| {
            let text = value.to_string_lossy();
            read(&text).map_err(|error| error.context(format!("--{name} {text}")))
        });
        values.collect()
    }
}
