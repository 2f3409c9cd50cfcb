//! A catalogue file: what it is about, its figures, and where they are from.

use super::document::{Document, Table};
use super::figure::{Cited, Figure, Shape, Value};
use crate::error::{Error, Result};
use store::known::Cell;

/// A catalogue file, read and checked figure by figure.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// The name of the file in errors.
    pub(super) label: String,
    /// What people call the thing.
    pub(super) title: String,
    /// Other names it is found by.
    pub(super) also: Vec<String>,
    /// What to know before trusting it.
    pub(super) note: Option<String>,
    /// The key and the full citation of each source.
    pub(super) sources: Vec<(String, String)>,
    /// The figures that are given, in the order of their definitions.
    pub(super) figures: Vec<(&'static Figure, Cited)>,
    /// A hash of the file, to tell whether two results rest on the same figures.
    pub(super) digest: String,
}

/// A figure, and a cell of a published table that it was fitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The key of the figure.
    pub figure: &'static str,
    /// The cell.
    pub cell: Cell,
}

impl Sheet {
    /// Reads `text`, which may hold the figures that `known` defines.
    pub(super) fn read(label: &str, text: &str, known: &'static [Figure]) -> Result<Self> {
        let document = Document { label, text };
        let parsed = document.parse()?;
        let whole = Table::whole(document, &parsed);
        whole.allow(&["name", "also", "note", "sources", "figures"])?;
        let title = whole.need("name", "\"…\"")?.text()?.to_string();
        let mut also = vec![];
        if let Some(names) = whole.find("also") {
            for name in names.list()? {
                also.push(name.text()?.to_string());
            }
        }
        let note = whole.find("note").map(|note| note.text().map(String::from)).transpose()?;
        let mut sources = vec![];
        for (key, citation) in whole.need("sources", "{ … }")?.table()?.items() {
            sources.push((key.to_string(), citation.text()?.to_string()));
        }
        let figures = read_figures(&whole, &sources, known)?;
        let label = label.to_string();
        Ok(Sheet { label, title, also, note, sources, figures, digest: digest(text) })
    }

    /// Where a figure is from, if it is given.
    pub(super) fn cited(&self, key: &str) -> Option<&Cited> {
        self.figures.iter().find(|(figure, _)| figure.key == key).map(|(_, cited)| cited)
    }

    /// The full citation of where a figure is from, if it is given.
    pub(super) fn source(&self, key: &str) -> Option<&str> {
        let cited = self.cited(key)?;
        self.sources.iter().find(|(key, _)| *key == cited.source).map(|(_, source)| source.as_str())
    }

    /// A figure, if it is given.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.cited(key).map(|cited| &cited.value)
    }

    /// A figure that is a whole number, if it is given.
    pub(super) fn count(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// A figure that is a number, if it is given.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A figure that is a number of us, in ns; 0 if it is not given.
    pub(super) fn us_as_ns(&self, key: &str) -> u64 {
        (self.number(key).unwrap_or(0.0) * 1e3).round() as u64
    }

    /// Which figures were fitted, and to which cells.
    pub(super) fn fitted(&self) -> Vec<Fitted> {
        let cells = |(figure, cited): &(&'static Figure, Cited)| -> Vec<Fitted> {
            let figure = figure.key;
            cited.fitted_to.iter().map(|cell| Fitted { figure, cell: cell.clone() }).collect()
        };
        self.figures.iter().flat_map(cells).collect()
    }

    /// A figure that is a number of ms, in ns; 0 if it is not given.
    pub(super) fn ms_as_ns(&self, key: &str) -> u64 {
        (self.number(key).unwrap_or(0.0) * 1e6).round() as u64
    }

    /// A figure that is a number of ms, in ns, if it is given.
    pub(super) fn given_ms_as_ns(&self, key: &str) -> Option<u64> {
        self.number(key).map(|_| self.ms_as_ns(key))
    }

    /// A figure that is one of some words, as its place among them; the first if it is not given.
    pub(super) fn choice(&self, key: &str) -> usize {
        let found = self.figures.iter().find(|(figure, _)| figure.key == key);
        match found.map(|(figure, cited)| (&figure.shape, &cited.value)) {
            Some((Shape::Choice(words), Value::Choice(word))) => {
                words.iter().position(|other| other == word).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// A figure that is on or off; off if it is not given.
    pub(super) fn switch(&self, key: &str) -> bool {
        self.value(key) == Some(&Value::Switch(true))
    }
}

fn read_figures(
    whole: &Table,
    sources: &[(String, String)],
    known: &'static [Figure],
) -> Result<Vec<(&'static Figure, Cited)>> {
    let table = whole.need("figures", "{ … }")?.table()?;
    let keys: Vec<&str> = known.iter().map(|figure| figure.key).collect();
    table.allow(&keys)?;
    let mut figures = vec![];
    for figure in known {
        match (table.find(figure.key), figure.left_out) {
            (Some(item), _) => figures.push((figure, figure.read(&item, sources)?)),
            (None, Some(_)) => {}
            (None, None) => {
                let example = r#"{ value = …, kind = "estimate", source = "…" }"#;
                return Err(table.missing(figure.key, example));
            }
        }
    }
    Ok(figures)
}

/// The 64-bit hash of Fowler, Noll and Vo (FNV-1a), in hex. The same on every machine and for ever,
/// which the standard library's hashes do not promise.
pub(super) fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A figure is at fault, in a way that shows only beside the others.
pub(super) fn wrong(sheet: &Sheet, key: &str, message: impl std::fmt::Display) -> Error {
    Error::input(format!("{}: `figures.{key}`: {message}", sheet.label))
}

/// Whether there is either `one` or all of `others`, and not some of both.
pub(super) fn either(sheet: &Sheet, one: &str, others: &[&str]) -> Result<()> {
    let given = |key: &&&str| sheet.cited(key).is_some();
    match (sheet.cited(one).is_some(), others.iter().find(given)) {
        (true, Some(other)) => {
            Err(wrong(sheet, other, format!("`{one}` says this already; remove one of the two")))
        }
        (true, None) => Ok(()),
        (false, _) => match others.iter().find(|key| !given(key)) {
            None => Ok(()),
            Some(missing) => {
                Err(wrong(sheet, missing, format!("is missing, and so is `{one}`; add one")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    /// The published test vectors.
    #[test]
    fn the_digest_is_fnv_1a() {
        assert_eq!(super::digest(""), "cbf29ce484222325");
        assert_eq!(super::digest("a"), "af63dc4c8601ec8c");
        assert_eq!(super::digest("foobar"), "85944171f73967e8");
    }
}
