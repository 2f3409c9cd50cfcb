//! A drive file in the making.

use super::figure::Kind;
use super::import::{MADE, quoted};
use std::fmt::{Display, Write as _};

/// The figures of a drive on their way to its file.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    name: String,
    /// Its class, unless it is a disk.
    pub(crate) class: Option<&'static str>,
    /// What to know before trusting it.
    pub(crate) note: Option<String>,
    /// What answers about it say.
    pub(crate) doubt: Option<String>,
    /// What answers about it say where something is written.
    pub(crate) doubt_of_writes: Option<String>,
    /// The key and the citation of each.
    sources: Vec<(&'static str, String)>,
    figures: Vec<Drafted>,
}

/// A figure on its way to a file.
#[derive(Clone, Debug)]
struct Drafted {
    key: &'static str,
    value: String,
    kind: Kind,
    source: &'static str,
    note: String,
}

impl Draft {
    /// A drive that people call `name`, with the key and the citation of each source of its figures.
    pub(crate) fn new(name: &str, sources: Vec<(&'static str, String)>) -> Self {
        Draft {
            name: name.into(),
            class: None,
            note: None,
            doubt: None,
            doubt_of_writes: None,
            sources,
            figures: vec![],
        }
    }

    /// Adds a figure, whose `value` is written as in TOML; or replaces what stood there.
    pub(crate) fn add(
        &mut self,
        key: &'static str,
        value: impl Display,
        (kind, source): (Kind, &'static str),
        note: impl Into<String>,
    ) {
        self.figures.retain(|figure| figure.key != key);
        let (value, note) = (value.to_string(), note.into());
        self.figures.push(Drafted { key, value, kind, source, note });
    }

    /// The value of a figure, as it will stand in the file.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let figure = self.figures.iter().find(|figure| figure.key == key)?;
        Some(&figure.value)
    }

    /// Figure, value and where it is from, for people.
    pub(crate) fn rows(&self) -> Vec<[String; 3]> {
        let row = |figure: &Drafted| {
            let from = match figure.kind {
                Kind::Estimate => format!("estimate: {}", figure.note),
                Kind::Datasheet => format!("data sheet: {}", figure.note),
                _ => figure.note.clone(),
            };
            [figure.key.to_string(), shortened(&figure.value), from]
        };
        self.figures.iter().map(row).collect()
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{MADE}\nname = {}\n", quoted(&self.name));
        if let Some(class) = self.class {
            let _ = writeln!(text, "class = {class:?}");
        }
        if let Some(note) = &self.note {
            let _ = writeln!(text, "note = {}", quoted(note));
        }
        for (key, doubt) in [("doubt", &self.doubt), ("doubt_of_writes", &self.doubt_of_writes)] {
            if let Some(doubt) = doubt {
                let _ = writeln!(text, "{key} = {}", quoted(doubt));
            }
        }
        text += "\n[sources]\n";
        for (key, citation) in &self.sources {
            let _ = writeln!(text, "{key} = {}", quoted(citation));
        }
        text += "\n[figures]\n";
        for Drafted { key, value, kind, source, note } in &self.figures {
            let _ = writeln!(
                text,
                "{key} = {{ value = {value}, kind = \"{kind}\", source = \"{source}\", note = {} }}",
                quoted(note)
            );
        }
        text
    }
}

/// The longest list that is printed in full, in characters.
const LIST_CHARACTERS: usize = 60;

/// Of a long list, how many it has.
fn shortened(value: &str) -> String {
    let value = value.trim_matches('"');
    let Some(inner) = value.strip_prefix('[').filter(|list| list.len() > LIST_CHARACTERS) else {
        return value.into();
    };
    match inner.matches(['[', '{']).count() {
        1 => "1 entry".into(),
        count => format!("{count} entries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_stands_once_with_where_it_is_from() {
        let mut draft = Draft::new("My \"disk\"", vec![("guess", "our estimate".into())]);
        draft.add("rpm", 5400, (Kind::Estimate, "guess"), "of such drives");
        draft.add("rpm", 7200, (Kind::Datasheet, "guess"), "--rpm");
        let points = format!("[{}]", vec!["[1, 2]"; 20].join(", "));
        draft.add("seek_points_ms", points, (Kind::Measured, "guess"), "30 reads");
        assert_eq!(draft.value("rpm"), Some("7200"));
        assert_eq!(
            draft.rows(),
            [["rpm", "7200", "data sheet: --rpm"], ["seek_points_ms", "20 entries", "30 reads"]]
        );
        let text = draft.text();
        assert!(text.contains("name = \"My \\\"disk\\\"\"\n"), "{text}");
        assert!(
            text.contains(
                "rpm = { value = 7200, kind = \"datasheet\", source = \"guess\", note = \"--rpm\" }\n"
            ),
            "{text}"
        );
        assert_eq!(text.matches("rpm = ").count(), 1);
    }
}
