//! JSON that may have other lines in front of it, as fio's warnings are.

use crate::error::{self, Result};
use crate::text::Source;
use serde_json::Value as Json;

/// The JSON objects of a text, of which there is at least one. fio writes warnings and errors in front of and behind
/// them.
pub(super) fn objects(source: Source<'_>) -> Result<Vec<Json>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_object(&source.text[at..]) {
        at += start;
        let text = &source.text[at..];
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
        match values.next() {
            Some(Ok(value)) => found.push(value),
            Some(Err(error)) => {
                let what = error.to_string();
                let what = what.split(" at line").next().unwrap_or_default();
                let line = error.line() + source.line_of(at) - 1;
                let next = "the file is damaged or was cut off";
                return Err(source.wrong_at(line, error.column(), format!("{what}; {next}")));
            }
            None => break,
        }
        at += values.byte_offset();
    }
    if found.is_empty() {
        return Err(source.wrong_at(1, 1, "there is no JSON object; was the output cut off?"));
    }
    Ok(found)
}

/// Where the next line begins that begins with one.
fn next_object(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('{') {
            return Some(start);
        }
        start += line.len();
    }
    None
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
