//! JSON that may have other lines in front of it, as fio's warnings are.

use crate::error::{self, Result};
use crate::text::Source;
use serde_json::Value as Json;

/// The first JSON object of a text. fio writes warnings and errors in front of and behind it.
pub(super) fn object(source: Source<'_>) -> Result<Json> {
    let mut start = 0;
    let mut lines_before = 0;
    for line in source.text.split_inclusive('\n') {
        if line.trim_start().starts_with('{') {
            break;
        }
        start += line.len();
        lines_before += 1;
    }
    if start >= source.text.len() {
        return Err(source.wrong_at(1, 1, "there is no JSON object; was the output cut off?"));
    }
    let mut values = serde_json::Deserializer::from_str(&source.text[start..]).into_iter::<Json>();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => {
            let what = error.to_string();
            let what = what.split(" at line").next().unwrap_or_default();
            let line = error.line() + lines_before;
            let next = "the file is damaged or was cut off";
            Err(source.wrong_at(line, error.column(), format!("{what}; {next}")))
        }
        None => Err(source.wrong_at(1, 1, "there is no JSON object; was the output cut off?")),
    }
}

/// Line and column where a text stands first; the start where it does not.
pub(super) fn place(text: &str, wanted: &str) -> (usize, usize) {
    error::place(text, text.find(wanted).unwrap_or(0))
}

/// Line and column of the last of several keys, each inside or behind the one before it, that stand behind the value
/// `wanted`; of the last that there is.
pub(super) fn place_of_key(text: &str, wanted: &str, keys: &[&str]) -> (usize, usize) {
    let mut at = text.find(&format!("\"{wanted}\"")).unwrap_or(0);
    for key in keys {
        let key = format!("\"{key}\"");
        let mut found = text[at..].match_indices(&key).map(|(behind, _)| at + behind);
        let found = found.find(|found| text[found + key.len()..].trim_start().starts_with(':'));
        let Some(found) = found else { break };
        at = found;
    }
    error::place(text, at)
}
