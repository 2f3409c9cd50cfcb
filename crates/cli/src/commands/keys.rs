//! `ileave keys`.

use super::print_json;
use crate::flags::KeysFlags;
use lab::experiment::KEYS;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// Lists the keys of an experiment file.
pub(crate) fn keys(flags: &KeysFlags) -> String {
    if flags.json {
        let rows: Vec<Json> = KEYS
            .iter()
            .map(|key| {
                json!({
                    "key": key.path,
                    "takes": key.kind.expects(),
                    "default": key.default,
                    "factor": key.factor,
                    "help": key.help,
                })
            })
            .collect();
        return print_json(&Json::from(rows));
    }
    let mut output = String::new();
    for key in KEYS {
        let default = key.default.filter(|default| !default.is_empty());
        let default = default.map_or_else(String::new, |default| format!("; default {default}"));
        let one = if key.factor { "" } else { "; no list" };
        writeln!(
            output,
            "{}\n    {}\n    takes {}{default}{one}",
            key.path,
            key.help,
            key.kind.expects()
        )
        .expect("a string grows");
    }
    output
}
