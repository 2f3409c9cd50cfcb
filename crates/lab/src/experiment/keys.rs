//! The keys of an experiment: what each is called, what it takes, and what it means.
//!
//! The table is the one definition. The parser, `--set`, the error messages, `ileave keys` and
//! docs/experiment.md all come from it.

use crate::error::{Error, Result, nearest};
use block::{LEVELS, Level, units};
use serde::{Serialize, Serializer};
use std::fmt;
use store::expression::Objective;

mod table;

pub use table::KEYS;

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number between these two.
    Count(u64, u64),
    /// A size between these two, in sectors; a bare number counts sectors.
    Sectors(u64, u64),
    /// A rate between these two, in bytes a second; `2MB/s`, or a bare number of bytes a second.
    Rate(u64, u64),
    /// A time between these two, in ns; `10ms`, or a bare number of ns.
    Time(u64, u64),
    /// The name of a layout, one of [`LEVELS`].
    Level,
    /// `true` or `false`; after `--set` also `on` and `off`.
    Switch,
    /// What is to be made small or large, as in `--objective`.
    Objective,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its path; `*` stands for the name of a workload. A key of `host`, `volume`, `drive` or `fs` may
    /// also be set for one workload alone, as in `workload.NAME.volume.level`.
    pub path: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its value where the file says nothing; `None` where that has a meaning of its own.
    pub default: Option<&'static str>,
    /// What it means.
    pub help: &'static str,
    /// Whether a list of values makes it a factor.
    pub factor: bool,
}

/// The key with this path, workload names allowed for.
///
/// # Errors
///
/// Where there is none, saying which may have been meant.
pub fn find(path: &str) -> Result<&'static Key> {
    let generic = generic_path(path);
    KEYS.iter().find(|key| key.path == generic).ok_or_else(|| unknown(path, &generic))
}

/// `workload.read.op` is an instance of `workload.*.op`.
fn generic_path(path: &str) -> String {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, key] => format!("workload.*.{key}"),
        ["workload", _, section @ ("host" | "volume" | "drive" | "fs"), key] => {
            format!("{section}.{key}")
        }
        _ => path.to_string(),
    }
}

fn unknown(path: &str, generic: &str) -> Error {
    let unnamed = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload"] => true,
        ["workload", key] => KEYS.iter().any(|known| known.path == format!("workload.*.{key}")),
        _ => false,
    };
    if unnamed {
        return Error::input(format!(
            "`{path}` is no key of an experiment; a workload has a name: write `[workload.read]`, or \
             another name, above its keys"
        ));
    }
    let next = match nearest(generic, KEYS.iter().map(|key| key.path)) {
        Some(near) => format!("did you mean `{}`?", named_as(near, path)),
        None => "`ileave keys` lists what there is".to_string(),
    };
    Error::input(format!("`{path}` is no key of an experiment; {next}"))
}

/// The generic path with the name that `path` has.
fn named_as(generic: &str, path: &str) -> String {
    let name = path.split('.').nth(1).unwrap_or("NAME");
    if path.split('.').count() == 4 && !generic.contains('*') {
        return format!("workload.{name}.{generic}");
    }
    generic.replace('*', name)
}

/// A value of a key, checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number; for a size, in sectors.
    Count(u64),
    /// A switch.
    Switch(bool),
    /// A text or a word.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Switch(on) => on.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Switch(on) => serializer.serialize_bool(*on),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A value as it was written, before a key has looked at it.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A number in a file.
    Integer(i128),
    /// A switch in a file.
    Switch(bool),
    /// A text in quotes in a file.
    Text(String),
    /// Something on the command line, which has no quotes.
    Bare(String),
    /// Anything else that TOML knows, by its name.
    Other(&'static str),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Integer(number) => number.fmt(f),
            Written::Switch(on) => on.fmt(f),
            Written::Text(text) => write!(f, "\"{text}\""),
            Written::Bare(text) => f.write_str(text),
            Written::Other(what) => f.write_str(what),
        }
    }
}

impl Kind {
    /// What the key takes, for people.
    pub fn expects(&self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Count(low, high) if *high == u64::MAX => format!("a whole number from {low}"),
            Kind::Count(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Sectors(..) => "a size such as 64 (sectors) or \"32KiB\"".into(),
            Kind::Rate(..) => "a rate such as \"2MB/s\"".into(),
            Kind::Time(..) => "a time such as \"10ms\"".into(),
            Kind::Level => {
                let names: Vec<&str> = LEVELS.iter().map(|level| level.name).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Switch => "true or false".into(),
            Kind::Objective => "`min` or `max` and a formula, such as \"min tar_s + rm_s\"".into(),
        }
    }

    /// Checks what was written.
    ///
    /// # Errors
    ///
    /// Where it is of another kind or out of range.
    pub fn read(&self, written: &Written) -> Result<Value> {
        let wrong = || Error::input(format!("`{written}` is not {}", self.expects()));
        match (self, written) {
            (Kind::Text, Written::Text(text) | Written::Bare(text)) => {
                Ok(Value::Text(text.clone()))
            }
            (Kind::Objective, Written::Text(text) | Written::Bare(text)) => {
                Objective::parse(text).map(|objective| Value::Text(objective.text))
            }
            (Kind::Word(words), Written::Text(text) | Written::Bare(text)) => {
                if words.contains(&text.as_str()) {
                    return Ok(Value::Text(text.clone()));
                }
                Err(meant(wrong(), text, words.iter().copied()))
            }
            (Kind::Level, Written::Text(text) | Written::Bare(text)) => {
                let names = LEVELS.iter().flat_map(|l| std::iter::once(&l.name).chain(l.also));
                text.parse()
                    .map(|level: Level| Value::Text(level.name.into()))
                    .map_err(|_| meant(wrong(), text, names.copied()))
            }
            (Kind::Rate(low, high), _) => {
                ranged(written, *low, *high, units::parse_bytes_per_s).ok_or_else(wrong)
            }
            (Kind::Time(low, high), _) => {
                ranged(written, *low, *high, units::parse_nanos).ok_or_else(wrong)
            }
            (Kind::Count(low, high), _) => {
                let number = match written {
                    Written::Integer(number) => u64::try_from(*number).ok(),
                    Written::Bare(text) => text.replace('_', "").parse().ok(),
                    _ => None,
                };
                number.filter(|n| (low..=high).contains(&n)).map(Value::Count).ok_or_else(wrong)
            }
            (Kind::Sectors(low, high), _) => {
                let sectors = match written {
                    Written::Integer(number) => u64::try_from(*number).map_err(|_| wrong())?,
                    Written::Text(text) | Written::Bare(text) => {
                        units::parse_sectors(text).map_err(|error| wrong().followed_by(error))?
                    }
                    _ => return Err(wrong()),
                };
                if (low..=high).contains(&&sectors) {
                    return Ok(Value::Count(sectors));
                }
                let range = format!("it takes {low} to {high} sectors");
                Err(Error::input(format!("`{written}` is out of range; {range}")))
            }
            (Kind::Switch, Written::Switch(on)) => Ok(Value::Switch(*on)),
            (Kind::Switch, Written::Bare(text)) => match text.as_str() {
                "true" | "on" => Ok(Value::Switch(true)),
                "false" | "off" => Ok(Value::Switch(false)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// A number, or a text that `parse` understands, between two bounds.
fn ranged<E>(
    written: &Written,
    low: u64,
    high: u64,
    parse: impl Fn(&str) -> std::result::Result<u64, E>,
) -> Option<Value> {
    let number = match written {
        Written::Integer(number) => u64::try_from(*number).ok(),
        Written::Text(text) | Written::Bare(text) => text.parse().ok().or_else(|| parse(text).ok()),
        Written::Switch(_) | Written::Other(_) => None,
    };
    number.filter(|number| (low..=high).contains(number)).map(Value::Count)
}

/// `error`, with the known word that may have been meant.
fn meant<'a>(error: Error, text: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    match nearest(text, known) {
        Some(near) => error.followed_by(format!("did you mean `{near}`?")),
        None => error,
    }
}

impl Key {
    /// The value where the file says nothing.
    pub fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        let value = self.kind.read(&Written::Bare(text.into()));
        Some(value.expect("the defaults in the table are of the kind that the table says"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// The table of docs/experiment.md.
    fn table() -> String {
        let mut table = String::from("| key | takes | default | meaning |\n|---|---|---|---|\n");
        for key in KEYS {
            let takes = match key.kind {
                Kind::Level => "a layout's name, from the table below".into(),
                kind => kind.expects(),
            };
            let default = key.default.filter(|default| !default.is_empty());
            let default = default.map_or_else(String::new, |default| format!("`{default}`"));
            let one = if key.factor { "" } else { " (no list)" };
            let Key { path, help, .. } = key;
            writeln!(table, "| `{path}` | {takes}{one} | {default} | {help} |").unwrap();
        }
        table += "\n| level | what it is |\n|---|---|\n";
        for level in LEVELS {
            let names = level.also.iter().map(|name| format!(", `{name}`"));
            let names: String = names.collect();
            writeln!(table, "| `{}`{names} | {} |", level.name, level.about).unwrap();
        }
        table
    }

    /// `UPDATE=1` writes the tables anew.
    #[test]
    fn the_documentation_lists_every_key_and_level() {
        const MARK: &str = "<!-- from the key table; a test holds it to the code -->\n";
        let path = format!("{}/../../docs/experiment.md", env!("CARGO_MANIFEST_DIR"));
        let document = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = document.split_once(MARK).unwrap();
        let (_, after) = rest.split_once(MARK).unwrap();
        let wanted = format!("{before}{MARK}{}{MARK}{after}", table());
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(document == wanted, "docs/experiment.md is not up to date; run with UPDATE=1");
        }
    }

    #[test]
    fn every_default_is_of_its_kind_and_every_path_stands_once() {
        for (index, key) in KEYS.iter().enumerate() {
            let _ = key.default_value();
            assert!(!key.help.is_empty());
            assert!(KEYS[..index].iter().all(|other| other.path != key.path), "{}", key.path);
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_key_that_was_meant() {
        let message = |path| find(path).unwrap_err().to_string();
        assert!(message("volume.interleeve").contains("did you mean `volume.interleave`?"));
        assert!(message("workload.read.blok").contains("did you mean `workload.read.block`?"));
        assert!(message("nothing.like.it").contains("`ileave keys` lists"));
        assert_eq!(find("workload.anything.op").unwrap().path, "workload.*.op");
        assert_eq!(find("workload.any.volume.level").unwrap().path, "volume.level");
        assert!(message("workload.a.volume.levle").contains("`workload.a.volume.level`?"));
        assert!(message("workload.a.run.seed").contains("no key"));
    }

    #[test]
    fn values_are_read_by_kind() {
        let interleave = find("volume.interleave").unwrap().kind;
        for (written, sectors) in [
            (Written::Integer(64), 64),
            (Written::Text("32KiB".into()), 64),
            (Written::Bare("32k".into()), 64),
            (Written::Bare("64".into()), 64),
        ] {
            assert_eq!(interleave.read(&written).unwrap(), Value::Count(sectors));
        }
        let wrong =
            |path: &str, written| find(path).unwrap().kind.read(&written).unwrap_err().to_string();
        assert!(wrong("volume.interleave", Written::Switch(true)).contains("`true` is not a size"));
        assert!(
            wrong("volume.interleave", Written::Text("100B".into())).contains("512-byte sectors")
        );
        assert!(wrong("volume.interleave", Written::Integer(-1)).contains("`-1` is not a size"));
        assert!(wrong("run.repeats", Written::Integer(0)).contains("from 1 to 10000"));
        assert!(
            wrong("volume.level", Written::Text("strip".into())).contains("did you mean `stripe`?")
        );
        let level = find("volume.level").unwrap().kind;
        let alias = level.read(&Written::Bare("raid0".into())).unwrap();
        assert_eq!(alias, Value::Text("stripe".into()));
        let rate = find("workload.x.rate").unwrap().kind;
        let two = Value::Count(2_000_000);
        assert_eq!(rate.read(&Written::Text("2MB/s".into())).unwrap(), two);
        assert_eq!(rate.read(&Written::Integer(2_000_000)).unwrap(), two);
        assert!(wrong("workload.x.rate", Written::Text("fast".into())).contains("2MB/s"));
        let time = find("workload.x.runtime").unwrap().kind;
        assert_eq!(time.read(&Written::Bare("10ms".into())).unwrap(), Value::Count(10_000_000));
        assert!(wrong("workload.x.think", Written::Text("10".repeat(20))).contains("10ms"));
        assert!(wrong("drive.write_cache", Written::Integer(1)).contains("true or false"));
        assert!(wrong("name", Written::Other("a date")).contains("`a date` is not a text"));
    }
}
