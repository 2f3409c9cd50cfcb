//! Text that knows where everything in it stands, so that an error can name file, line and key or column.
//!
//! ```text
//! text     a file, its lines and words
//! table    a TOML file: its tables, keys and values
//! ```

mod table;

pub(crate) use table::{Item, Table};

use crate::error::{Error, Result, place};
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::RangeInclusive;

/// A file, by the name that a person knows it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The name in errors.
    pub(crate) label: &'a str,
    /// All of it.
    pub(crate) text: &'a str,
}

/// A word and where it stands, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// The lines, counted from 1.
    pub(crate) fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        (1..).zip(self.text.lines())
    }

    /// The file as a whole is at fault.
    pub(crate) fn wrong_file(self, message: impl fmt::Display) -> Error {
        Error::input(format!("{}: {message}", self.label))
    }

    /// A line is at fault.
    pub(crate) fn wrong(self, line: usize, message: impl fmt::Display) -> Error {
        Error::input(format!("{}:{line}: {message}", self.label))
    }

    /// What stands at a line and a column is at fault.
    pub(crate) fn wrong_at(self, line: usize, column: usize, message: impl fmt::Display) -> Error {
        Error::input(format!("{}:{line}:{column}: {message}", self.label))
    }

    /// A word is at fault.
    pub(crate) fn wrong_word(self, word: Word<'_>, message: impl fmt::Display) -> Error {
        self.wrong_at(word.line, word.column, format!("{} {message}", word.shown()))
    }

    /// The line of the byte `at`, counted from 1.
    pub(crate) fn line_of(self, at: usize) -> usize {
        place(self.text, at).0
    }

    /// The word as a number; a comma is a point, as some locales write it.
    pub(crate) fn number(self, word: Word<'_>) -> Result<f64> {
        let text = word.text.replace(',', ".");
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(self
                .wrong_word(word, "is not a number of 0 or more; correct it or remove the line")),
        }
    }

    /// A TOML file that fills a struct; `next` says what to do where it does not.
    pub(crate) fn deserialize<T: DeserializeOwned>(self, next: &str) -> Result<T> {
        toml::from_str(self.text).map_err(|error| {
            let (line, column) = place(self.text, error.span().map_or(0, |span| span.start));
            // What else there may be is a long list, and `next` says where it is.
            let message = error.message();
            let message = message.split(", expected one of").next().unwrap_or(message);
            self.wrong_at(line, column, format!("{message}; {next}"))
        })
    }
}

impl Word<'_> {
    /// The word as it can be shown: cut short where it is long.
    pub(crate) fn shown(&self) -> String {
        shown(self.text)
    }

    /// A whole number within `range`.
    pub(crate) fn count(
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
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short} …`") } else { format!("`{short}`") }
}

/// The words of a line between white space.
pub(crate) fn words(line: usize, text: &str) -> Vec<Word<'_>> {
    split(line, text, char::is_whitespace).into_iter().filter(|w| !w.text.is_empty()).collect()
}

/// The fields of a line between separators, empty ones too.
pub(crate) fn split(line: usize, text: &str, separator: fn(char) -> bool) -> Vec<Word<'_>> {
    let mut column = 1;
    let mut fields = Vec::new();
    for field in text.split(separator) {
        fields.push(Word { line, column, text: field });
        column += field.chars().count() + 1;
    }
    fields
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are exact")]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_columns() {
        let found = words(3, "  ab  c");
        assert_eq!(found[0], Word { line: 3, column: 3, text: "ab" });
        assert_eq!(found[1], Word { line: 3, column: 7, text: "c" });
        let fields = split(1, "a,,b", |c| c == ',');
        assert_eq!(fields.iter().map(|field| field.column).collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn a_number_may_have_a_comma_and_must_be_one() {
        let source = Source { label: "f", text: "" };
        let word = |text| Word { line: 2, column: 5, text };
        assert_eq!(source.number(word("12,5")).unwrap(), 12.5);
        let message = source.number(word("nan")).unwrap_err().to_string();
        assert!(message.starts_with("f:2:5: `nan` is not a number"), "{message}");
    }
}
