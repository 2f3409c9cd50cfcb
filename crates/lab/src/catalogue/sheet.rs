//! A catalogue file: what it is about, its figures, and where they are from.

use super::figure::{Cited, Figure, FromFigure, Kind, LeftOut};
use super::provisioned::GIVEN;
use crate::error::{Error, Result};
use crate::text::{Source, Table};
use store::known::Cell;

/// A catalogue file, read and checked figure by figure.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// The name of the file in errors.
    pub(super) label: String,
    /// The class of the thing, of those that its folder has.
    pub(super) class: &'static str,
    /// What people call the thing.
    pub(super) title: String,
    /// Other names it is found by.
    pub(super) also: Vec<String>,
    /// What to know before trusting it.
    pub(super) note: Option<String>,
    /// What answers about its writes say, as measurements of them disagree.
    pub(super) doubt_of_writes: Option<String>,
    /// What answers about it say, as where it misses its own measurements.
    pub(super) doubt: Option<String>,
    /// The key and the full citation of each source.
    pub(super) sources: Vec<(String, String)>,
    /// The figures that are given, in the order of their definitions.
    pub(super) figures: Vec<(&'static Figure, Cited)>,
    /// A hash of the file, to tell whether two results rest on the same figures.
    pub(super) digest: String,
}

/// The figures that a file can have, in the tables in which they are documented.
pub(super) type Figures = &'static [&'static [Figure]];

/// A class of things, and the figures of its files.
pub(super) type Class = (&'static str, Figures);

/// A figure, and a cell of a published table that it was fitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The key of the figure.
    pub figure: &'static str,
    /// The cell.
    pub cell: Cell,
}

impl Sheet {
    /// Reads `text`, which is of one of `classes`: of the first, where it does not say.
    pub(super) fn read(label: &str, text: &str, classes: &[Class]) -> Result<Self> {
        let source = Source { label, text };
        let parsed = source.parse()?;
        let whole = Table::whole(source, &parsed);
        whole.allow(&[
            "name",
            "also",
            "note",
            "doubt",
            "doubt_of_writes",
            "class",
            "sources",
            "figures",
        ])?;
        let (class, known) = match whole.find("class") {
            None => classes[0],
            Some(class) => class.one_of(classes.iter().map(|&class| (class.0, class)))?,
        };
        let title = whole.need("name", "\"…\"")?.text()?.to_string();
        let mut also = vec![];
        if let Some(names) = whole.find("also") {
            for name in names.list()? {
                also.push(name.text()?.to_string());
            }
        }
        let sentence =
            |key: &str| whole.find(key).map(|of| of.text().map(String::from)).transpose();
        let (note, doubt) = (sentence("note")?, sentence("doubt")?);
        let doubt_of_writes = sentence("doubt_of_writes")?;
        let mut sources = vec![];
        for (key, citation) in whole.need("sources", "{ … }")?.table()?.items() {
            sources.push((key.to_string(), citation.text()?.to_string()));
        }
        let figures = read_figures(&whole, &sources, known)?;
        let label = label.to_string();
        let digest = digest(text);
        Ok(Sheet {
            label,
            class,
            title,
            also,
            note,
            doubt_of_writes,
            doubt,
            sources,
            figures,
            digest,
        })
    }

    /// What a field takes of the file: the figure's value, or its default.
    ///
    /// # Panics
    ///
    /// Where the field is of another type than the figure.
    pub(super) fn take<T: FromFigure>(&self, figure: &Figure) -> T {
        let given = self.figures.iter().find(|(known, _)| known.key == figure.key);
        match (given, figure.left_out) {
            (Some((_, cited)), _) => T::from_value(&cited.value),
            (None, LeftOut::Default(text)) => {
                figure.shape.parse(text).and_then(|value| T::from_value(&value))
            }
            (None, _) => T::absent(),
        }
        .unwrap_or_else(|| panic!("`{}` and its field are of one type", figure.key))
    }

    /// The full citation of where a figure is from, if it is given.
    pub(super) fn source(&self, key: &str) -> Option<&str> {
        let (_, cited) = self.figures.iter().find(|(figure, _)| figure.key == key)?;
        self.sources.iter().find(|(key, _)| *key == cited.source).map(|(_, source)| source.as_str())
    }

    /// What is noted of a figure, if it is given.
    pub(super) fn note(&self, key: &str) -> Option<&str> {
        let (_, cited) = self.figures.iter().find(|(figure, _)| figure.key == key)?;
        cited.note.as_deref()
    }

    /// Whether it has a figure.
    pub(super) fn gives(&self, key: &str) -> bool {
        self.figures.iter().any(|(figure, _)| figure.key == key)
    }

    /// Whether a figure is given and no estimate of its file's.
    pub(super) fn is_known(&self, key: &str) -> bool {
        let cited = self.figures.iter().find(|(figure, _)| figure.key == key).map(|(_, of)| of);
        cited.is_some_and(|cited| cited.kind != Kind::Estimate || cited.source == GIVEN)
    }

    /// Which figures were fitted, and to which cells.
    pub(super) fn fitted(&self) -> Vec<Fitted> {
        let cells = |(figure, cited): &(&'static Figure, Cited)| -> Vec<Fitted> {
            let figure = figure.key;
            cited.fitted_to.iter().map(|cell| Fitted { figure, cell: cell.clone() }).collect()
        };
        self.figures.iter().flat_map(cells).collect()
    }
}

fn read_figures(
    whole: &Table,
    sources: &[(String, String)],
    known: Figures,
) -> Result<Vec<(&'static Figure, Cited)>> {
    let table = whole.need("figures", "{ … }")?.table()?;
    let known = || known.iter().copied().flatten();
    let keys: Vec<&str> = known().map(|figure| figure.key).collect();
    table.allow(&keys)?;
    let mut figures = vec![];
    for figure in known() {
        match (table.find(figure.key), figure.left_out) {
            (Some(item), _) => figures.push((figure, figure.read(&item, sources)?)),
            (None, LeftOut::Default(_) | LeftOut::Or(_)) => {}
            (None, LeftOut::Required) => {
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

/// A figure of the file `label` is at fault, in a way that shows only beside the others.
pub(super) fn wrong(label: &str, key: &str, message: impl std::fmt::Display) -> Error {
    Error::input(format!("{label}: `figures.{key}`: {message}"))
}

/// Whether there is either `one` or all of `others`, and not some of both; each is a key, and whether it is
/// given.
pub(super) fn either(label: &str, one: (&str, bool), others: &[(&str, bool)]) -> Result<()> {
    let (one, has_one) = one;
    match (has_one, others.iter().find(|(_, given)| *given)) {
        (true, Some((other, _))) => {
            Err(wrong(label, other, format!("`{one}` says this already; remove one of the two")))
        }
        (true, None) => Ok(()),
        (false, _) => match others.iter().find(|(_, given)| !given) {
            None => Ok(()),
            Some((missing, _)) => {
                Err(wrong(label, missing, format!("is missing, and so is `{one}`; add one")))
            }
        },
    }
}

/// A time in ms, in ns.
pub(super) fn ms_as_ns(ms: f64) -> u64 {
    (ms * 1e6).round() as u64
}

/// A time in us, in ns.
pub(super) fn us_as_ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
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
