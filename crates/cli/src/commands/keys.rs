//! `ileave keys`.

use super::{print_json, to_json};
use crate::flags::KeysFlags;
use lab::Result;
use lab::catalogue::FigureRow;
use lab::experiment::{Row, Topic, keys_named, rows, schema, topic, topics};
use std::fmt::Write as _;

/// Lists the keys of an experiment file, those of one kind or section, or those of one name.
pub(crate) fn keys(flags: &KeysFlags) -> Result<String> {
    if flags.schema {
        return Ok(print_json(&schema()));
    }
    if let Some(name) = &flags.name {
        let Some(topic) = topic(name) else {
            let rows = keys_named(name)?;
            return if flags.json { to_json(&rows) } else { Ok(table_of_keys(&rows)) };
        };
        return if flags.json { to_json(&topic) } else { Ok(described(&topic)) };
    }
    if flags.json {
        return to_json(&rows());
    }
    let mut output = table_of_keys(&rows());
    let kinds = topics().into_iter().filter(|topic| !topic.samples.is_empty());
    let kinds: Vec<&str> = kinds.map(|topic| topic.name).collect();
    writeln!(
        output,
        "`ileave keys KEY` describes one key, `ileave keys KIND` one kind: {}",
        kinds.join(", ")
    )
    .expect("a string grows");
    Ok(output)
}

/// A kind or a section in full.
fn described(topic: &Topic) -> String {
    let mut output = format!("{}: {}\n\n", topic.name, topic.about);
    output += &table_of_keys(&topic.keys);
    if !topic.figures.is_empty() && !topic.keys.is_empty() {
        output += "\nfigures of such a file (docs/catalogue.md):\n";
    }
    output += &figures(&topic.figures);
    if !topic.samples.is_empty() {
        writeln!(output, "samples: {}", topic.samples.join(", ")).expect("a string grows");
    }
    output
}

/// Figures, three lines each.
fn figures(rows: &[FigureRow]) -> String {
    let mut output = String::new();
    for FigureRow { key, unit, takes, help, left_out } in rows {
        let unit = if unit.is_empty() { String::new() } else { format!("  {unit}") };
        let without = match left_out.as_str() {
            "required" => "required".to_string(),
            other => format!("left out: {other}"),
        };
        writeln!(output, "{key}{unit}\n    {help}\n    takes {takes}; {without}")
            .expect("a string grows");
    }
    output
}

/// Keys, three lines each.
fn table_of_keys(rows: &[Row]) -> String {
    let mut output = String::new();
    for row in rows {
        let role = row.role.as_ref().map_or_else(String::new, |role| format!("  {role}"));
        let default =
            row.default.map_or_else(String::new, |default| format!("; default {default}"));
        let one = if row.factor || row.list { "" } else { " (one value, not a list)" };
        let Row { key, help, takes, kinds, .. } = row;
        writeln!(output, "{key}{role}\n    {help}\n    takes {takes}{one}{default}")
            .expect("a string grows");
        if !kinds.is_empty() {
            writeln!(output, "    of {}", kinds.join(", ")).expect("a string grows");
        }
    }
    output
}
