//! Text with its places, so that every error can name line and column.

use crate::error::{Error, Result};

/// A file that is being read.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

/// A word and where it stands, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    /// The lines, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        (1..).zip(self.text.lines())
    }

    /// An error at a place.
    pub(super) fn wrong_at(&self, line: usize, column: usize, what: &str) -> Error {
        Error::input(format!("{}:{line}:{column}: {what}", self.file))
    }

    /// An error at a word.
    pub(super) fn wrong(&self, word: Word<'_>, what: &str) -> Error {
        self.wrong_at(word.line, word.column, &format!("`{}` {what}", word.text))
    }

    /// The word as a number; a comma is a point, as some locales write it.
    pub(super) fn number(&self, word: Word<'_>) -> Result<f64> {
        let text = word.text.replace(',', ".");
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => {
                Err(self.wrong(word, "is not a number of 0 or more; correct it or remove the line"))
            }
        }
    }
}

/// The words of a line between white space.
pub(super) fn words(line: usize, text: &str) -> Vec<Word<'_>> {
    split(line, text, char::is_whitespace).into_iter().filter(|w| !w.text.is_empty()).collect()
}

/// The fields of a line between separators, empty ones too.
pub(super) fn split(line: usize, text: &str, separator: fn(char) -> bool) -> Vec<Word<'_>> {
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
        let source = Source { file: "f", text: "" };
        let word = |text| Word { line: 2, column: 5, text };
        assert_eq!(source.number(word("12,5")).unwrap(), 12.5);
        let message = source.number(word("nan")).unwrap_err().to_string();
        assert!(message.starts_with("f:2:5: `nan` is not a number"), "{message}");
    }
}
