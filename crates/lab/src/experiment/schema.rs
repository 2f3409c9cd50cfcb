//! A JSON schema of an experiment file, for editors that complete and check TOML.

use super::file::IN_BINARY;
use super::inline;
use super::sections::{KindKeys, OF_A_WORKLOAD, SECTIONS, SectionKeys};
use crate::file_system::ffs;
use crate::keys::{Key, Takes};
use serde_json::{Map, Value as Json, json};

/// The schema (draft 7, which editors of TOML understand).
///
/// It holds an editor to names, types and kinds. What it lets pass, such as a size in a wrong unit, is said
/// when the file is run.
pub fn schema() -> Json {
    let mut properties = Map::new();
    for section in SECTIONS.iter() {
        if section.path.is_empty() {
            properties.extend(section.keys.iter().map(property));
        } else if let Some(name) = section.path.strip_suffix(".*") {
            let each = of_kinds(section, &OF_A_WORKLOAD);
            properties
                .insert(name.into(), json!({ "type": "object", "additionalProperties": each }));
        } else {
            properties.insert(section.path.into(), table(section));
        }
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ileave experiment",
        "type": "object",
        "properties": properties,
        "required": ["workload"],
        "additionalProperties": false,
    })
}

/// A section of the file, of one kind or of several.
fn table(section: &SectionKeys) -> Json {
    if !section.kinds.is_empty() {
        return of_kinds(section, &[]);
    }
    json!({
        "type": "object",
        "description": section.about,
        "properties": section.keys.iter().map(property).collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// A section whose key `kind` chooses what other keys there are; `inner` names the sections that it may have of
/// its own.
fn of_kinds(section: &SectionKeys, inner: &[&'static str]) -> Json {
    let mut properties: Map<String, Json> = section.all().map(property).collect();
    // The kinds' own words say more than the key's.
    if let Some(kind) = properties.get_mut("kind") {
        let words: Vec<Json> = section
            .kinds
            .iter()
            .map(|kind| json!({ "const": kind.name, "description": kind.about }))
            .collect();
        *kind = one_or_list(&json!({ "oneOf": words }));
    }
    let own = SECTIONS.iter().filter(|of| inner.contains(&of.path));
    properties.extend(own.map(|of| (of.path.to_string(), table(of))));
    let rules: Vec<Json> = section.kinds.iter().map(|kind| rule(section, kind, inner)).collect();
    json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "additionalProperties": false,
        "allOf": rules,
    })
}

/// Which keys there are where this kind is chosen; the default one is where none is.
fn rule(section: &SectionKeys, kind: &KindKeys, inner: &[&'static str]) -> Json {
    let names = section.keys.iter().chain(kind.all()).map(|key| key.name);
    let names: Vec<&str> = names.chain(inner.iter().copied()).collect();
    // Each kind of a list must have the keys.
    let listed = json!({ "type": "array", "contains": { "const": kind.name } });
    let one_of_them = json!({ "anyOf": [{ "const": kind.name }, listed] });
    let chosen = json!({ "properties": { "kind": one_of_them } });
    let is_default = section.keys.iter().any(|key| key.default == Some(kind.name));
    let condition = if is_default {
        chosen
    } else if section.path == "fs" && kind.name == ffs::KIND.name {
        // `newfs` makes it, and need not name it.
        let is_made = json!({ "required": ["newfs"], "not": { "required": ["kind"] } });
        json!({ "anyOf": [{ "allOf": [chosen, { "required": ["kind"] }] }, is_made] })
    } else {
        json!({ "allOf": [chosen, { "required": ["kind"] }] })
    };
    json!({ "if": condition, "then": { "propertyNames": { "enum": names } } })
}

fn property(key: &Key) -> (String, Json) {
    let mut one = one(&key.takes);
    if IN_BINARY.contains(&key.name)
        && let Some(text) = one["anyOf"].get_mut(1)
    {
        text["pattern"] = BINARY_PATTERN.into();
    }
    let mut of = if key.factor || key.list { one_or_list(&one) } else { one };
    if inline::KEYS.contains(&key.name) {
        let tables = of["anyOf"].as_array_mut().expect("drives may be a list");
        tables.push(inline::schema());
    }
    let role = key.role.map_or_else(String::new, |role| format!(" ({role})"));
    of["description"] = format!("{}{role}", key.meaning()).into();
    if let Some(default) = key.default.filter(|default| !default.is_empty()) {
        of["default"] = default.into();
    }
    (key.name.into(), of)
}

/// A value, or the values of a factor.
fn one_or_list(one: &Json) -> Json {
    let list = json!({ "type": "array", "items": one, "minItems": 1, "uniqueItems": true });
    json!({ "anyOf": [one, list] })
}

/// A size as `units` reads it.
const SIZE_PATTERN: &str =
    "^ *([0-9]+[.]?[0-9]*|[.][0-9]+) *([Bb]|[Bb]ytes?|[Ss]|[Ss]ectors?|[KkMmGgTt]([Ii]?[Bb])?)? *$";
/// The same without powers of ten, which interleaves and blocks are not written in.
const BINARY_PATTERN: &str =
    "^ *([0-9]+[.]?[0-9]*|[.][0-9]+) *([Bb]|[Bb]ytes?|[Ss]|[Ss]ectors?|[KkMmGgTt]([Ii][Bb])?)? *$";

/// One value.
fn one(takes: &Takes) -> Json {
    let count = |low: u64, high: u64| {
        // A file has no larger numbers.
        json!({ "type": "integer", "minimum": low, "maximum": high.min(i64::MAX as u64) })
    };
    match takes {
        Takes::Form { read, .. } if read("1").is_ok() => json!({ "type": ["string", "number"] }),
        Takes::Text | Takes::Form { .. } => json!({ "type": "string" }),
        Takes::Word(words) => json!({ "type": "string", "enum": words }),
        Takes::Name { names, also, .. } => {
            let words = [names(), also()].concat();
            json!({ "type": "string", "enum": words })
        }
        Takes::Count(low, high) => count(*low, *high),
        Takes::Sectors(low, high) => {
            json!({ "anyOf": [count(*low, *high), { "type": "string", "pattern": SIZE_PATTERN }] })
        }
        // They name their units; only nothing at all needs none.
        Takes::Rate(low, _) | Takes::Time(low, _) => {
            let text = json!({ "type": "string", "pattern": "^([0-9.]+ ?[A-Za-zµ/]+|0)$" });
            if *low > 0 { text } else { json!({ "anyOf": [count(0, 0), text] }) }
        }
        Takes::Switch => json!({ "type": "boolean" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Editors took any text for a level.
    #[test]
    fn a_level_is_one_of_those_that_there_are() {
        let level = &schema()["properties"]["volume"]["properties"]["level"];
        let one = &level["anyOf"][0]["enum"];
        let names: Vec<&str> = one.as_array().unwrap().iter().filter_map(Json::as_str).collect();
        for name in ["stripe", "raid0", "md-raid10-f2", "md-raid1"] {
            assert!(names.contains(&name), "{name}: {level}");
        }
        assert!(!names.contains(&"nope"));
    }

    /// What the schema took and ileave refuses: `64KB`, `50%` of a span, keys of another kind beside `newfs` or a list.
    #[test]
    fn sizes_and_kinds_are_those_that_ileave_takes() {
        let schema = schema();
        let pattern = |of: &Json| of["anyOf"][0]["anyOf"][1]["pattern"].clone();
        let workload = &schema["properties"]["workload"]["additionalProperties"]["properties"];
        assert_eq!(pattern(&workload["block"]), BINARY_PATTERN);
        assert_eq!(pattern(&workload["span"]), SIZE_PATTERN);
        assert_eq!(
            pattern(&schema["properties"]["volume"]["properties"]["interleave"]),
            BINARY_PATTERN
        );
        let rules = schema["properties"]["fs"]["allOf"].as_array().unwrap();
        let of_ffs = rules.iter().find(|rule| rule["if"]["anyOf"][1]["required"][0] == "newfs");
        let keys = &of_ffs.unwrap()["then"]["propertyNames"]["enum"];
        assert!(!keys.as_array().unwrap().contains(&"stride".into()), "{keys}");
        for rule in rules {
            assert!(rule["if"].to_string().contains("\"contains\":{\"const\":"), "{rule}");
        }
    }
}
