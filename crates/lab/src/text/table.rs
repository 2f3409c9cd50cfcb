//! A TOML file that knows where each thing in it stands.

use super::{Source, shown};
use crate::error::{Error, Result, nearest};
use std::fmt;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

impl<'a> Source<'a> {
    /// The whole file as TOML.
    pub(crate) fn parse(self) -> Result<Spanned<DeTable<'a>>> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = error.message();
            let key = self.text.get(span.clone()).filter(|_| message == "duplicate key");
            let key = key.map_or_else(String::new, |key| format!(" {}", shown(key)));
            self.wrong(self.line_of(span.start), format!("not valid TOML: {message}{key}"))
        })
    }
}

/// A table in a file.
#[derive(Clone, Debug)]
pub(crate) struct Table<'d> {
    source: Source<'d>,
    /// The keys that lead to it, with a dot after each.
    path: String,
    start: usize,
    entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    /// The table that a file is.
    pub(crate) fn whole(source: Source<'d>, table: &'d Spanned<DeTable<'d>>) -> Self {
        Table { source, path: String::new(), start: 0, entries: table.get_ref() }
    }

    /// Its entries, in the order of the file.
    pub(crate) fn items(&self) -> Vec<(&'d str, Item<'d>)> {
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
            source: self.source,
            key: format!("{}{}", self.path, key.get_ref()),
            key_start: key.span().start,
            span: value.span(),
            value: value.get_ref(),
        }
    }

    /// What stands at `key`, if anything does.
    pub(crate) fn find(&self, key: &str) -> Option<Item<'d>> {
        let (key, value) = self.entries.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(self.item(key, value))
    }

    /// What stands at `key`, which must be there; `example` shows how to write it.
    pub(crate) fn need(&self, key: &str, example: &str) -> Result<Item<'d>> {
        self.find(key).ok_or_else(|| self.missing(key, example))
    }

    /// `key` is not there; `example` shows how to write it.
    pub(crate) fn missing(&self, key: &str, example: &str) -> Error {
        let message = format!("`{}{key}` is missing; write `{key} = {example}`", self.path);
        self.source.wrong(self.source.line_of(self.start), message)
    }

    /// Whether every key is one of `known`.
    pub(crate) fn allow(&self, known: &[&str]) -> Result<()> {
        match self.items().into_iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, item)) => Err(item.unknown(key, known)),
        }
    }
}

/// A value in a file, with its key.
#[derive(Clone, Debug)]
pub(crate) struct Item<'d> {
    source: Source<'d>,
    key: String,
    key_start: usize,
    span: Range<usize>,
    value: &'d DeValue<'d>,
}

impl<'d> Item<'d> {
    /// The keys that lead to it, joined by dots.
    pub(crate) fn path(&self) -> &str {
        &self.key
    }

    /// What stands there, as TOML.
    pub(crate) fn value(&self) -> &'d DeValue<'d> {
        self.value
    }

    /// The byte where its key stands: items of several tables sort by it.
    pub(crate) fn start(&self) -> usize {
        self.key_start
    }

    /// The line of its key.
    pub(crate) fn line(&self) -> usize {
        self.source.line_of(self.key_start)
    }

    /// The value is at fault.
    pub(crate) fn wrong(&self, message: impl fmt::Display) -> Error {
        let message = format!("`{}`: {message}", self.key);
        self.source.wrong(self.source.line_of(self.span.start), message)
    }

    /// The key is none of `known`.
    pub(crate) fn unknown(&self, key: &str, known: &[&str]) -> Error {
        let next = match nearest(key, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here are {}", known.join(", ")),
        };
        self.source.wrong(self.line(), format!("`{}` is unknown; {next}", self.key))
    }

    /// What is written, cut short.
    pub(crate) fn written(&self) -> String {
        let text = self.source.text.get(self.span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let short: String = line.chars().take(40).collect();
        if short.len() < text.len() { format!("{short} …") } else { short }
    }

    fn expected(&self, what: impl fmt::Display) -> Error {
        self.wrong(format!("{} is not {what}", self.written()))
    }

    /// Text that is not empty.
    pub(crate) fn text(&self) -> Result<&'d str> {
        match self.value.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.expected("a text; write it in quotes")),
        }
    }

    /// What stands for the word that is written, of those that may be.
    pub(crate) fn one_of<T>(&self, words: impl IntoIterator<Item = (&'d str, T)>) -> Result<T> {
        let text = self.text()?;
        let mut known = vec![];
        for (word, meant) in words {
            if word == text {
                return Ok(meant);
            }
            known.push(word);
        }
        let next = match nearest(text, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("write one of {}", known.join(", ")),
        };
        Err(self.wrong(format!("`{text}` is unknown; {next}")))
    }

    /// A whole number within `range`.
    pub(crate) fn count(&self, range: &RangeInclusive<u64>) -> Result<u64> {
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
    pub(crate) fn number(&self, range: &RangeInclusive<f64>) -> Result<f64> {
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
    pub(crate) fn switch(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false; write one of the two"))
    }

    /// Its elements.
    pub(crate) fn list(&self) -> Result<Vec<Item<'d>>> {
        let elements = self.value.as_array();
        let elements = elements.ok_or_else(|| self.expected("a list; write it in [ ]"))?;
        let element = |(index, value): (usize, &'d Spanned<DeValue<'d>>)| Item {
            source: self.source,
            key: format!("{}[{index}]", self.key),
            key_start: value.span().start,
            span: value.span(),
            value: value.get_ref(),
        };
        Ok(elements.iter().enumerate().map(element).collect())
    }

    /// Its elements; a value that is not a list is its only element.
    pub(crate) fn one_or_more(&self) -> Result<Vec<Item<'d>>> {
        if self.value.is_array() { self.list() } else { Ok(vec![self.clone()]) }
    }

    /// A table.
    pub(crate) fn table(&self) -> Result<Table<'d>> {
        let entries = self.value.as_table();
        let entries = entries.ok_or_else(|| self.expected("a table; write it in { }"))?;
        let path = format!("{}.", self.key);
        Ok(Table { source: self.source, path, start: self.key_start, entries })
    }

    /// A word of one's own choice: text as it is, a number as it is written.
    pub(crate) fn word(&self) -> Result<String> {
        match self.value {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => Ok(self.written()),
            _ => Err(self.expected("a text, a number, true or false; write one of these")),
        }
    }
}
