//! The flags of rigs: what each takes, and those that were given.

use super::{RigKind, Undo};
use crate::error::Result;
use crate::experiment::Experiment;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// A flag of one rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigFlag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What it says, for the help.
    pub about: &'static str,
    /// What stands behind it.
    pub takes: Takes,
    /// The flag that it means nothing without.
    pub needs: Option<&'static str>,
    /// Whether it says what is kept with the results, which a search keeps none of.
    pub for_results: bool,
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

/// What a rig may ask and is told when it is opened.
pub struct Opening<'a> {
    /// Asks a person.
    pub ask: &'a mut Ask<'a>,
    /// What is going to be run.
    pub experiment: &'a Experiment,
    /// Whether the experiment's programs use files.
    pub uses_files: bool,
    /// What a signal takes down.
    pub undo: Undo,
}

impl Given {
    /// Notes a flag, with what stands behind it.
    pub fn set(&mut self, name: &str, values: Vec<OsString>) {
        self.0.insert(name.into(), values);
    }

    /// The flags that were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Those that a rig has, where several are opened.
    #[must_use]
    pub fn of(&self, kind: &RigKind) -> Given {
        let is_its = |name: &String| kind.flags.iter().any(|flag| flag.name == name);
        let own = self.0.iter().filter(|(name, _)| is_its(name));
        Given(own.map(|(name, values)| (name.clone(), values.clone())).collect())
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
