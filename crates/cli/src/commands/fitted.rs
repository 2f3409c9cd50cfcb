//! What `ileave drives fit` made: the file, where each figure is from, and what it says of how good it is; once for
//! results of flash drives, probes of disks and data sheets.

use super::print_json;
use crate::flags::DriveFitFlags;
use crate::terminal::harmless;
use lab::Result;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;
use std::io::Write as _;
use verdict::tables::table;

/// A drive's file.
pub(super) struct Fitted {
    /// The name of the drive.
    pub(super) drive: String,
    /// The file itself.
    pub(super) text: String,
    /// Figure, value and where it is from.
    pub(super) rows: Vec<[String; 3]>,
    /// What was not found, and what stands in its place.
    pub(super) missing: Vec<String>,
    /// How good it is, for people, in whole lines.
    pub(super) checked: String,
    /// The same for programs.
    pub(super) checked_json: Map<String, Json>,
}

/// Writes the file, or prints it. What is said of it goes to standard error where the file itself is printed.
pub(super) fn finish(fitted: Fitted, flags: &DriveFitFlags) -> Result<String> {
    if let Some(file) = &flags.out {
        super::catalogue::write_drive(file, &fitted.text, flags.force)?;
    }
    if flags.json {
        return Ok(print_json(&in_json(fitted, flags)));
    }
    if flags.out.is_some() {
        return Ok(for_people(fitted, flags));
    }
    let text = fitted.text.clone();
    let said = for_people(fitted, flags);
    let _ = std::io::stderr().lock().write_all(harmless(&said).as_bytes());
    Ok(text)
}

fn for_people(fitted: Fitted, flags: &DriveFitFlags) -> String {
    let mut output = String::new();
    let mut figures = table(&["figure", "value", "from"].map(String::from), 3);
    for row in fitted.rows {
        figures.add_row(row);
    }
    writeln!(output, "{figures}").expect("a string grows");
    for missing in &fitted.missing {
        writeln!(output, "not found: {missing}").expect("a string grows");
    }
    output += &fitted.checked;
    if let Some(file) = &flags.out {
        writeln!(output, "Drive: {}", file.display()).expect("a string grows");
    }
    output
}

/// The file's text stands in it where no file was written.
fn in_json(fitted: Fitted, flags: &DriveFitFlags) -> Json {
    let figure = |[figure, value, from]: [String; 3]| {
        // Numbers are numbers, and `true` is no word.
        let value = value.parse::<Json>().unwrap_or_else(|_| Json::from(value));
        json!({ "figure": figure, "value": value, "from": from })
    };
    let mut all = Map::new();
    all.insert("drive".into(), fitted.drive.into());
    match &flags.out {
        Some(file) => all.insert("file".into(), file.display().to_string().into()),
        None => all.insert("text".into(), fitted.text.into()),
    };
    all.insert("figures".into(), fitted.rows.into_iter().map(figure).collect());
    all.insert("not_found".into(), fitted.missing.into());
    all.extend(fitted.checked_json);
    Json::Object(all)
}
