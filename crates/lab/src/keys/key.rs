//! One key: its name, what it takes, its default, and what it is for.

use super::{Value, Word, Written};
use crate::error::{Error, Result, nearest_few};
use block::SECTOR_BYTES;
use block::units::{self, UnitError, format_bytes};
use store::factor::{FactorKind, Role, Written as Shown};

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A name from a table of the program.
    Name {
        /// All names, for people.
        names: fn() -> Vec<&'static str>,
        /// Other names that are taken for one of them.
        also: fn() -> Vec<&'static str>,
        /// The name that stands for this one, which may be an alias; `None` where there is none.
        read: fn(&str) -> Option<&'static str>,
    },
    /// A text of its own form.
    Form {
        /// The form, for people, with an article.
        expects: &'static str,
        /// What is kept of the text.
        read: fn(&str) -> Result<String>,
    },
    /// A whole number between these two.
    Count(u64, u64),
    /// A size between these two, in sectors; a bare number counts sectors.
    Sectors(u64, u64),
    /// A rate between these two, in bytes a second; `2MB/s`, or a bare number of bytes a second.
    Rate(u64, u64),
    /// A time between these two, in ns; `10ms`, or a bare number of ns.
    Time(u64, u64),
    /// `true` or `false`; after `--set` also `on` and `off`.
    Switch,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in its section.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it is to the person who asks; `None` for what only names or orders an experiment.
    pub role: Option<Role>,
    /// Its value where the file says nothing; `None` where that has a meaning of its own.
    pub default: Option<&'static str>,
    /// Whether a list of values makes it a factor.
    pub factor: bool,
    /// Whether it takes a list that is one setting and no factor.
    pub list: bool,
    /// Whether its sizes are written in sectors, as those of interleaves are, and not in bytes.
    in_sectors: bool,
    help: &'static str,
}

/// A key that can be chosen.
pub const fn choice(name: &'static str, takes: Takes) -> Key {
    Key::new(name, takes, Some(Role::Choice))
}

/// A key that says what the work asks for.
pub const fn load(name: &'static str, takes: Takes) -> Key {
    Key::new(name, takes, Some(Role::Load))
}

/// A key that says how things are.
pub const fn condition(name: &'static str, takes: Takes) -> Key {
    Key::new(name, takes, Some(Role::Condition))
}

/// A key that names or orders an experiment. It takes one value, no list.
pub const fn label(name: &'static str, takes: Takes) -> Key {
    let mut key = Key::new(name, takes, None);
    key.factor = false;
    key
}

impl Key {
    const fn new(name: &'static str, takes: Takes, role: Option<Role>) -> Self {
        let (default, help) = (None, "");
        Key { name, takes, role, default, factor: true, list: false, in_sectors: false, help }
    }

    /// The key with this value where the file says nothing.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// The key as one that takes a list of values, all of which it has at once.
    #[must_use]
    pub const fn list(mut self) -> Self {
        self.list = true;
        self
    }

    /// The key with its sizes written in sectors.
    #[must_use]
    pub const fn in_sectors(mut self) -> Self {
        self.in_sectors = true;
        self
    }

    /// What reports need to know of it where it is a factor.
    pub fn factor_kind(&self) -> FactorKind {
        let written = match self.takes {
            Takes::Sectors(..) if self.in_sectors => Shown::Sectors,
            Takes::Sectors(..) => Shown::Bytes,
            Takes::Rate(..) => Shown::Rate,
            Takes::Time(..) => Shown::Time,
            _ => Shown::AsIs,
        };
        FactorKind { role: self.role.unwrap_or_default(), written }
    }

    /// The key with this help; `keys!` takes it from the field's documentation.
    #[must_use]
    pub const fn help(mut self, help: &'static str) -> Self {
        self.help = help.trim_ascii();
        self
    }

    /// What it means.
    pub const fn meaning(&self) -> &'static str {
        self.help
    }

    /// The value where the file says nothing.
    pub fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        let value = self.takes.read(&Written::Bare(text.into()));
        Some(value.expect("a test reads the default of each key"))
    }
}

/// The longest list of words that a message has room for.
const LISTED_MAX: usize = 16;

impl Takes {
    /// One of the words of `T`.
    pub const fn words<T: Word>() -> Takes {
        Takes::Word(T::WORDS)
    }

    /// What the key takes, for people.
    pub fn expects(&self) -> String {
        match self {
            Takes::Text => "a text".into(),
            Takes::Word(words) => format!("one of {}", words.join(", ")),
            Takes::Name { names, .. } => format!("one of {}", names().join(", ")),
            Takes::Form { expects, .. } => (*expects).into(),
            Takes::Count(low, high) if *high == u64::MAX => format!("a whole number from {low}"),
            Takes::Count(low, high) => format!("a whole number from {low} to {high}"),
            Takes::Sectors(..) => "a size, as in 64 (sectors) or \"32KiB\"".into(),
            Takes::Rate(..) => "a rate, as in \"2MB/s\"".into(),
            Takes::Time(..) => "a time, as in \"10ms\"".into(),
            Takes::Switch => "true or false".into(),
        }
    }

    /// Checks what was written.
    ///
    /// # Errors
    ///
    /// Where it is of another type or out of range.
    pub fn read(&self, written: &Written) -> Result<Value> {
        let next = if matches!(self, Takes::Text) { "; put it in quotes" } else { "" };
        let wrong = || Error::input(format!("{} is not {}{next}", written.shown(), self.expects()));
        if let Written::Text(text) | Written::Bare(text) = written
            && let Some(read) = self.read_text(text)
        {
            return read.map_err(|error| match error {
                Unread::NoneOf(known) => Error::input(none_of(written, &known)),
                Unread::Because(error) => error,
            });
        }
        match (self, written) {
            // A form that is a number needs no quotes.
            (Takes::Form { read, .. }, Written::Integer(_) | Written::Decimal(_)) => {
                read(&written.to_string()).map(Value::Text).map_err(|_| wrong())
            }
            (Takes::Rate(low, high), Written::Integer(_) | Written::Text(_) | Written::Bare(_)) => {
                let bounds = (*low, *high, units::format_bytes_per_s as fn(u64) -> String);
                with_unit(written, bounds, units::parse_bytes_per_s, wrong)
            }
            (Takes::Time(low, high), Written::Integer(_) | Written::Text(_) | Written::Bare(_)) => {
                let bounds = (*low, *high, units::format_nanos as fn(u64) -> String);
                with_unit(written, bounds, units::parse_nanos, wrong)
            }
            (Takes::Count(low, high), _) => {
                let number = match written {
                    Written::Integer(number) => u64::try_from(*number).ok(),
                    Written::Bare(text) => text.replace('_', "").parse().ok(),
                    _ => None,
                };
                number.filter(|n| (low..=high).contains(&n)).map(Value::Count).ok_or_else(wrong)
            }
            (Takes::Sectors(low, high), _) => {
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
                let bytes = |sectors: u64| format_bytes(sectors.saturating_mul(SECTOR_BYTES));
                let range = format!(
                    "it takes {low} to {high} sectors ({} to {})",
                    bytes(*low),
                    bytes(*high)
                );
                Err(Error::input(format!("`{written}` is out of range; {range}")))
            }
            (Takes::Switch, Written::Switch(on)) => Ok(Value::Switch(*on)),
            (Takes::Switch, Written::Bare(text)) => match text.as_str() {
                "true" | "on" => Ok(Value::Switch(true)),
                "false" | "off" => Ok(Value::Switch(false)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }

    /// Checks a text; `None` where the key takes no text as it is.
    fn read_text(&self, text: &str) -> Option<std::result::Result<Value, Unread>> {
        let kept = match self {
            Takes::Text => Ok(text.to_string()),
            Takes::Word(words) if words.contains(&text) => Ok(text.to_string()),
            Takes::Word(words) => Err(Unread::NoneOf(words.to_vec())),
            Takes::Name { names, read, .. } => {
                read(text).map(String::from).ok_or_else(|| Unread::NoneOf(names()))
            }
            Takes::Form { read, .. } => read(text).map_err(Unread::Because),
            _ => return None,
        };
        Some(kept.map(Value::Text))
    }
}

/// Why a text is no value.
enum Unread {
    /// It is none of these.
    NoneOf(Vec<&'static str>),
    Because(Error),
}

/// What is `written` is none of the `known`: which may have been meant, or all of them where that is short.
fn none_of(written: &Written, known: &[&str]) -> String {
    let (Written::Text(text) | Written::Bare(text)) = written else {
        unreachable!("only texts are compared with names")
    };
    let near = nearest_few(text, known.iter().copied());
    let meant = near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    match (near.is_empty(), known.len() <= LISTED_MAX) {
        (true, true) => format!("`{written}` is not one of {}", known.join(", ")),
        (true, false) => {
            format!("`{written}` is not one of the {} names that `ileave keys` lists", known.len())
        }
        (false, true) => {
            format!("`{written}` is not one of {}; did you mean {meant}?", known.join(", "))
        }
        (false, false) => {
            format!(
                "`{written}` is unknown; did you mean {meant}? `ileave keys` lists all {}",
                known.len()
            )
        }
    }
}

/// What `parse` understands, between two bounds, which a function writes as people do. Only nothing at all needs no unit:
/// `think = 5` was 5 ns.
fn with_unit(
    written: &Written,
    (low, high, shown): (u64, u64, fn(u64) -> String),
    parse: impl Fn(&str) -> std::result::Result<u64, UnitError>,
    wrong: impl Fn() -> Error,
) -> Result<Value> {
    let text = match written {
        Written::Text(text) | Written::Bare(text) => text.clone(),
        other => other.to_string(),
    };
    let number = if text == "0" { Ok(0) } else { parse(&text) };
    let number = number.map_err(|error| wrong().followed_by(error))?;
    let range = if number < low && low == 1 {
        "too low: it must be above 0".to_string()
    } else if number < low {
        format!("too low: it takes at least {}", shown(low))
    } else if number > high {
        format!("too high: it takes at most {}", shown(high))
    } else {
        return Ok(Value::Count(number));
    };
    Err(Error::input(format!("`{written}` is {range}")))
}
