//! Lines and words that know where they stand, so that an error can point there.

use crate::error::{Error, Result};
use std::fmt;
use std::ops::RangeInclusive;

/// A file, by the name that a person knows it by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// The name in errors.
    pub(super) label: &'a str,
    /// All of it.
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    /// Its lines, counted from 1.
    pub(super) fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// A line is at fault.
    pub(super) fn wrong(self, line: usize, message: impl fmt::Display) -> Error {
        Error::input(format!("{}:{line}: {message}", self.label))
    }

    /// The file as a whole is at fault.
    pub(super) fn wrong_file(self, message: impl fmt::Display) -> Error {
        Error::input(format!("{}: {message}", self.label))
    }
}

/// A word and the line it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
}

impl Word<'_> {
    /// The word as it can be shown: cut short where it is long.
    pub(super) fn shown(&self) -> String {
        shown(self.text)
    }

    /// A whole number within `range`.
    pub(super) fn count(
        &self,
        source: Source<'_>,
        what: &str,
        range: &RangeInclusive<u64>,
    ) -> Result<u64> {
        let count = self.text.parse().ok().filter(|count| range.contains(count));
        count.ok_or_else(|| {
            let (least, most) = range.clone().into_inner();
            let word = self.shown();
            source.wrong(
                self.line,
                format!(
                    "{word} is not a valid {what}; write a whole number from {least} to {most}"
                ),
            )
        })
    }
}

/// Text in backticks, cut short where it is long.
pub(super) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short} …`") } else { format!("`{short}`") }
}

/// The words of a line.
pub(super) fn words(line: usize, text: &str) -> Vec<Word<'_>> {
    text.split_whitespace().map(|text| Word { line, text }).collect()
}
