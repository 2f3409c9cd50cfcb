//! The value of a key: as it was written, as it was checked, and as the field that it fills.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A value of a key, checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
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
    /// A number with a point in a file, as it is written there.
    Decimal(String),
    /// Anything else that TOML knows, by its name.
    Other(&'static str),
}

impl Written {
    /// As errors show it: what stands in the file in backticks, and what has no short form by its name.
    pub fn shown(&self) -> String {
        match self {
            Written::Other(what) => (*what).to_string(),
            other => format!("`{other}`"),
        }
    }

    /// Whether it is a size that carries a unit of bytes.
    pub fn is_in_bytes(&self) -> bool {
        let (Written::Text(text) | Written::Bare(text)) = self else { return false };
        let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
        let has_number = text.trim().starts_with(|c: char| c.is_ascii_digit());
        let of_sectors =
            ["s", "sector", "sectors"].iter().any(|word| unit.eq_ignore_ascii_case(word));
        has_number && !unit.is_empty() && !of_sectors
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Integer(number) => number.fmt(f),
            Written::Switch(on) => on.fmt(f),
            Written::Text(text) => write!(f, "\"{text}\""),
            Written::Bare(text) | Written::Decimal(text) => f.write_str(text),
            Written::Other(what) => f.write_str(what),
        }
    }
}

/// What a field of a struct of `keys!` can be. The key has checked the value before.
pub trait FromValue: Sized {
    /// The field's value; `None` where the value is of another type.
    fn from_value(value: &Value) -> Option<Self>;

    /// The field's value where the key has none; `None` where it needs one.
    fn absent() -> Option<Self> {
        None
    }
}

/// An enum whose variants are words of a file.
pub trait Word: Sized {
    /// Its words.
    const WORDS: &'static [&'static str];

    /// The variant of this word; `None` where it is none of them.
    fn of_word(word: &str) -> Option<Self>;
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl FromValue for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Count(count) => Some(*count),
            Value::Switch(_) | Value::Text(_) => None,
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: &Value) -> Option<Self> {
        u64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Switch(on) => Some(*on),
            Value::Count(_) | Value::Text(_) => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            Value::Count(_) | Value::Switch(_) => None,
        }
    }
}
