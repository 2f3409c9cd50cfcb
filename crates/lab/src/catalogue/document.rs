//! A TOML file that knows where each thing in it stands, so that an error can point there.

use crate::error::{Error, Result, nearest, place};
use std::fmt;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file, by the name that a person knows it by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    /// The name in errors.
    pub(super) label: &'a str,
    /// All of it.
    pub(super) text: &'a str,
}

impl<'a> Document<'a> {
    /// The whole file as TOML.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>> {
        DeTable::parse(self.text)
            .map_err(|error| self.error(error.span().unwrap_or(0..0).start, error.message()))
    }

    /// The input is at fault, at byte `at`.
    fn error(&self, at: usize, message: impl fmt::Display) -> Error {
        let (line, _) = place(self.text, at);
        Error::input(format!("{}:{line}: {message}", self.label))
    }
}

/// A table in a file.
#[derive(Clone, Debug)]
pub(super) struct Table<'d> {
    document: Document<'d>,
    /// The keys that lead to it, with a dot after each.
    path: String,
    start: usize,
    entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    /// The table that a file is.
    pub(super) fn whole(document: Document<'d>, table: &'d Spanned<DeTable<'d>>) -> Self {
        Table { document, path: String::new(), start: 0, entries: table.get_ref() }
    }

    /// Its entries, in the order of the file.
    pub(super) fn items(&self) -> Vec<(&'d str, Item<'d>)> {
        let mut items: Vec<_> = self
            .entries
            .iter()
            .map(|(key, value)| (&**key.get_ref(), self.item(key, value)))
            .collect();
        items.sort_by_key(|(_, item)| item.key_start);
        items
    }

    fn item(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &'d Spanned<DeValue>,
    ) -> Item<'d> {
        Item {
            document: self.document,
            key: format!("{}{}", self.path, key.get_ref()),
            key_start: key.span().start,
            span: value.span(),
            value: value.get_ref(),
        }
    }

    /// What stands at `key`, if anything does.
    pub(super) fn find(&self, key: &str) -> Option<Item<'d>> {
        let (key, value) = self.entries.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(self.item(key, value))
    }

    /// What stands at `key`, which must be there; `example` shows how to write it.
    pub(super) fn need(&self, key: &str, example: &str) -> Result<Item<'d>> {
        self.find(key).ok_or_else(|| self.missing(key, example))
    }

    /// `key` is not there; `example` shows how to write it.
    pub(super) fn missing(&self, key: &str, example: &str) -> Error {
        let message = format!("`{}{key}` is missing; write `{key} = {example}`", self.path);
        self.document.error(self.start, message)
    }

    /// Whether every key is one of `known`.
    pub(super) fn allow(&self, known: &[&str]) -> Result<()> {
        match self.items().into_iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, item)) => Err(item.unknown(key, known)),
        }
    }
}

/// A value in a file, with its key.
#[derive(Clone, Debug)]
pub(super) struct Item<'d> {
    document: Document<'d>,
    key: String,
    key_start: usize,
    span: Range<usize>,
    value: &'d DeValue<'d>,
}

impl<'d> Item<'d> {
    /// The value is at fault.
    pub(super) fn wrong(&self, message: impl fmt::Display) -> Error {
        let message = format!("`{}`: {message}", self.key);
        self.document.error(self.span.start, message)
    }

    /// The key is none of `known`.
    pub(super) fn unknown(&self, key: &str, known: &[&str]) -> Error {
        let next = match nearest(key, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here are {}", known.join(", ")),
        };
        self.document.error(self.key_start, format!("`{}` is unknown; {next}", self.key))
    }

    /// What is written, cut short.
    pub(super) fn written(&self) -> String {
        let text = self.document.text.get(self.span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let short: String = line.chars().take(40).collect();
        if short.len() < text.len() { format!("{short} …") } else { short }
    }

    fn expected(&self, what: impl fmt::Display) -> Error {
        self.wrong(format!("{} is not {what}", self.written()))
    }

    /// Text that is not empty.
    pub(super) fn text(&self) -> Result<&'d str> {
        match self.value.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.expected("a text; write it in quotes")),
        }
    }

    /// A whole number within `range`.
    pub(super) fn count(&self, range: &RangeInclusive<u64>) -> Result<u64> {
        self.value
            .as_integer()
            .and_then(|whole| u64::from_str_radix(whole.as_str(), whole.radix()).ok())
            .filter(|count| range.contains(count))
            .ok_or_else(|| {
                let (least, most) = range.clone().into_inner();
                self.expected(format!("a whole number from {least} to {most}; correct it"))
            })
    }

    /// A number within `range`.
    pub(super) fn number(&self, range: &RangeInclusive<f64>) -> Result<f64> {
        let number = match self.value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(whole) if whole.radix() == 10 => whole.as_str().parse().ok(),
            _ => None,
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.clone().into_inner();
            self.expected(format!("a number from {least} to {most}; correct it"))
        })
    }

    /// `true` or `false`.
    pub(super) fn switch(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false; write one of the two"))
    }

    /// Its elements.
    pub(super) fn list(&self) -> Result<Vec<Item<'d>>> {
        let elements = self.value.as_array();
        let elements = elements.ok_or_else(|| self.expected("a list; write it in [ ]"))?;
        let element = |(index, value): (usize, &'d Spanned<DeValue<'d>>)| Item {
            document: self.document,
            key: format!("{}[{index}]", self.key),
            key_start: value.span().start,
            span: value.span(),
            value: value.get_ref(),
        };
        Ok(elements.iter().enumerate().map(element).collect())
    }

    /// Its elements, or itself where it is no list.
    pub(super) fn one_or_more(&self) -> Result<Vec<Item<'d>>> {
        if self.value.is_array() { self.list() } else { Ok(vec![self.clone()]) }
    }

    /// A table.
    pub(super) fn table(&self) -> Result<Table<'d>> {
        let entries = self.value.as_table();
        let entries = entries.ok_or_else(|| self.expected("a table; write it in { }"))?;
        let path = format!("{}.", self.key);
        Ok(Table { document: self.document, path, start: self.key_start, entries })
    }

    /// A word of one's own choice: text as it is, a number as it is written.
    pub(super) fn word(&self) -> Result<String> {
        match self.value {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => Ok(self.written()),
            _ => Err(self.expected("a text, a number, true or false; write one of these")),
        }
    }
}
