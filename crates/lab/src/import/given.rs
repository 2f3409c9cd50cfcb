//! Factors that the person who imports gives: what tells files apart, which no program wrote into them.

use crate::error::{Error, Result};
use crate::experiment::{SECTIONS, SectionKeys, find};
use crate::keys::Written;
use crate::record::factor_value;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// The factors' values that were given with a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// The values by key path: those of keys of experiments as they keep them, any other as it is.
    pub at: Map<String, Json>,
    /// The paths whose sizes were written in bytes.
    pub in_bytes: BTreeSet<String>,
}

impl Given {
    /// Takes in `KEY=VALUE`; a later value of a key is in the place of an earlier one.
    ///
    /// # Errors
    ///
    /// Where it has no `=`, or the key does not take that value or cannot be varied.
    pub fn set(&mut self, text: &str) -> Result<()> {
        let (path, value) = text.split_once('=').ok_or_else(|| {
            Error::input(format!("`{text}` is not KEY=VALUE, as in `volume.interleave=64KiB`"))
        })?;
        let (path, value) = (path.trim(), value.trim());
        check_name(path)?;
        self.insert(path, value)
    }

    fn insert(&mut self, path: &str, text: &str) -> Result<()> {
        let value = factor(path, text)?;
        self.at.insert(path.into(), value);
        if Written::Bare(text.into()).is_in_bytes() {
            self.in_bytes.insert(path.into());
        }
        Ok(())
    }
}

/// Whether a factor can be called so.
pub(super) fn check_name(path: &str) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if path.is_empty() || !path.chars().all(is_plain) {
        let example = "`volume.interleave`, or a name of your own";
        return Err(Error::input(format!("`{path}` is not a factor's name; take {example}")));
    }
    // A name of one's own is neither in a section of experiments nor called like one of their keys.
    let is_meant = path.split_once('.').is_some_and(|(section, _)| {
        section == "workload" || SECTIONS.iter().any(|of| of.path == section)
    });
    let same_name = |of: &&SectionKeys| of.all().any(|key| key.name == path && key.factor);
    if let (false, Some(section)) = (path.contains('.'), SECTIONS.iter().find(same_name)) {
        let whole = section.path_of(path).replace('*', "NAME");
        return Err(Error::input(format!(
            "`{path}` is a key of experiments; write it as `{whole}`"
        )));
    }
    match find(path) {
        Ok(key) if !key.factor => {
            Err(Error::input(format!("`{path}` cannot be a factor: it takes one value only")))
        }
        Err(error) if is_meant => Err(error),
        _ => Ok(()),
    }
}

/// The value of a factor as its key keeps it, or as it is where it is none of an experiment's.
pub(super) fn factor(path: &str, text: &str) -> Result<Json> {
    if text.is_empty() {
        return Err(Error::input(format!("`{path}` has no value; write {path}=VALUE")));
    }
    let Ok(key) = find(path) else { return Ok(factor_value(text)) };
    let value = key.takes.read(&Written::Bare(text.into())).map_err(|error| error.context(path))?;
    serde_json::to_value(value).map_err(Error::failure)
}

/// Where factors stand in the paths of files: `{volume.interleave}/run*.json`.
///
/// It is held against the end of a path. `{KEY}` is a value, `*` anything; neither goes past a `/`.
#[derive(Clone, Debug)]
pub struct PathPattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Factor(String),
    Any,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// Where a brace has no partner, a key is none, or there is nothing between two values.
    pub fn read(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            let example = "write it as in '{volume.interleave}/run*.json'";
            Error::input(format!("`{text}` is not a pattern of paths: {what}; {example}"))
        };
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (piece, length) = match first {
                '{' => {
                    let end = rest.find('}').ok_or_else(|| wrong("a `{` has no `}`"))?;
                    check_name(&rest[1..end])?;
                    (Piece::Factor(rest[1..end].into()), end + 1)
                }
                '}' => return Err(wrong("a `}` has no `{`")),
                '*' => (Piece::Any, 1),
                _ => {
                    let end = rest.find(['{', '}', '*']).unwrap_or(rest.len());
                    (Piece::Text(rest[..end].into()), end)
                }
            };
            let is_open = |piece: &Piece| !matches!(piece, Piece::Text(_));
            if is_open(&piece) && pieces.last().is_some_and(is_open) {
                return Err(wrong("there is nothing between two values"));
            }
            pieces.push(piece);
            rest = &rest[length..];
        }
        if !pieces.iter().any(|piece| matches!(piece, Piece::Factor(_))) {
            return Err(wrong("it has no {KEY}"));
        }
        Ok(PathPattern { text: text.into(), pieces })
    }

    /// The factors' values in a path.
    ///
    /// # Errors
    ///
    /// Where the path does not end so, or a value is none that its key takes.
    pub fn factors(&self, path: &str) -> Result<Given> {
        // It begins at the path's start or behind a `/`, as late as it fits.
        let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).chain(Some(0));
        let mut found = starts.filter_map(|start| fit(&self.pieces, &path[start..]));
        let found = found.next().ok_or_else(|| {
            Error::input(format!(
                "{path} does not fit the pattern `{}`; leave the file out or change --factor-from",
                self.text
            ))
        })?;
        let mut given = Given::default();
        for (path, text) in found {
            given.insert(path, text)?;
        }
        Ok(given)
    }
}

/// The values where the pieces fit the whole text, each as short as it can be.
fn fit<'a>(pieces: &'a [Piece], text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let Some((piece, others)) = pieces.split_first() else {
        return text.is_empty().then(Vec::new);
    };
    let open = |key: Option<&'a str>| {
        let longest = text.find('/').unwrap_or(text.len());
        let mut ends = text[..longest].char_indices().map(|(at, c)| at + c.len_utf8());
        ends.find_map(|end| {
            let mut found = fit(others, &text[end..])?;
            if let Some(key) = key {
                found.insert(0, (key, &text[..end]));
            }
            Some(found)
        })
    };
    match piece {
        Piece::Text(wanted) => fit(others, text.strip_prefix(wanted.as_str())?),
        Piece::Factor(key) => open(Some(key)),
        Piece::Any => open(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_as_its_key_keeps_it() {
        let read = |text: &str| {
            let mut given = Given::default();
            given.set(text).map(|()| given.at).map_err(|error| error.to_string())
        };
        let kept = |path: &str, value: Json| Ok(Map::from_iter([(path.to_string(), value)]));
        assert_eq!(read("volume.interleave=64k"), kept("volume.interleave", 128.into()));
        assert_eq!(read("volume.level=raid5"), kept("volume.level", "raid5".into()));
        assert_eq!(read("kernel=6.1"), kept("kernel", "6.1".into()));
        for (text, said) in [
            ("volume.interleeve=64k", "did you mean `volume.interleave`"),
            ("interleave=64k", "volume.interleave"),
            ("volume.interleave=fast", "`fast` is not a size"),
            ("run.seed=3", "cannot be a factor"),
            ("64k", "is not KEY=VALUE"),
            ("kernel=", "has no value"),
            ("a b=1", "is not a factor's name"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_pattern_takes_values_from_the_end_of_a_path() {
        let read = |pattern: &str, path: &str| {
            let found = PathPattern::read(pattern).and_then(|pattern| pattern.factors(path));
            found.map(|found| Json::Object(found.at).to_string()).map_err(|error| error.to_string())
        };
        let sixty_four = r#"{"volume.interleave":128}"#;
        let pattern = "{volume.interleave}/run*.json";
        assert_eq!(read(pattern, "/a/b/64k/run1.json").as_deref(), Ok(sixty_four));
        assert_eq!(read(pattern, "64k/run12.json").as_deref(), Ok(sixty_four));
        assert_eq!(
            read("run-{volume.interleave}-{n}.json", "x/run-64k-3.json").as_deref(),
            Ok(r#"{"volume.interleave":128,"n":3}"#)
        );
        for (pattern, path, said) in [
            (pattern, "64k/log.json", "does not fit the pattern"),
            (pattern, "run1.json", "does not fit the pattern"),
            (pattern, "fast/run1.json", "`fast` is not a size"),
            ("{a}{b}", "x", "nothing between"),
            ("{a", "x", "has no `}`"),
            ("*.json", "x.json", "has no {KEY}"),
        ] {
            let error = read(pattern, path).unwrap_err();
            assert!(error.contains(said), "{pattern}: {error}");
        }
    }
}
