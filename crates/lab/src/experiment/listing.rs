//! All keys as data to print: for `ileave keys` and docs/experiment.md.
//!
//! The figures of the catalogue's files are listed beside the keys that choose such a file.

use super::sections::{KindKeys, SECTIONS, SectionKeys, generic, meant};
use crate::catalogue::{FigureRow, classes_with, figure_tables};
use crate::error::{Error, Result, nearest, nearest_few};
use crate::keys::Key;
use serde::Serialize;

/// A key, as it is listed.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its path; `*` stands for the name of a workload.
    pub key: String,
    /// The kinds that have it, or the classes of drives; none where its section has but one kind, or all have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<&'static str>,
    /// Whether it is a choice, a load or a condition; none where it is neither.
    pub role: Option<String>,
    /// What it takes, for people.
    pub takes: String,
    /// Its value where the file says nothing.
    pub default: Option<&'static str>,
    /// Whether a list of values makes it a factor.
    pub factor: bool,
    /// Whether it takes a list that is one setting.
    #[serde(skip)]
    pub list: bool,
    /// What it means.
    pub help: &'static str,
}

/// What `ileave keys` lists of one name.
#[derive(Clone, Debug, Serialize)]
pub struct Topic {
    /// A kind, a section, or a kind of file of the catalogue.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The names of its samples; none where they depend on what is asked.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub samples: &'static [&'static str],
    /// Its keys in an experiment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Row>,
    /// The figures of its files in the catalogue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRow>,
}

impl Row {
    fn new(section: &SectionKeys, key: &Key, kinds: Vec<&'static str>) -> Self {
        Row {
            key: section.path_of(key.name),
            kinds,
            role: key.role.map(|role| role.to_string()),
            takes: key.takes.expects(),
            default: key.default.filter(|default| !default.is_empty()),
            factor: key.factor,
            list: key.list,
            help: key.meaning(),
        }
    }

    /// Whether another kind's key is the same but for the kind.
    fn is_like(&self, other: &Row) -> bool {
        (&self.key, self.help, self.default) == (&other.key, other.help, other.default)
    }
}

/// Every key, in the order of the sections. One that several kinds have alike is there once, and names them.
pub fn rows() -> Vec<Row> {
    SECTIONS.iter().flat_map(section_rows).collect()
}

fn section_rows(section: &SectionKeys) -> Vec<Row> {
    let classes = |key: &Key| if section.path == "drive" { classes_with(key.name) } else { vec![] };
    let mut rows: Vec<Row> =
        section.keys.iter().map(|key| Row::new(section, key, classes(key))).collect();
    for kind in &section.kinds {
        for key in kind.all() {
            let row = Row::new(section, key, vec![kind.name]);
            match rows.iter_mut().find(|known| known.is_like(&row)) {
                Some(known) => known.kinds.push(kind.name),
                None => rows.push(row),
            }
        }
    }
    rows
}

/// Every kind of a section that has several, with its samples and keys; then every section by name, and every kind of
/// file of the catalogue.
pub fn topics() -> Vec<Topic> {
    let kinds = SECTIONS.iter().flat_map(|section| {
        section.kinds.iter().map(|kind| Topic {
            name: kind.name,
            about: kind.about,
            samples: kind.samples,
            keys: kind_rows(section, kind),
            figures: vec![],
        })
    });
    let sections =
        SECTIONS.iter().filter(|section| !section.path.is_empty()).map(|section| Topic {
            name: section.path.trim_end_matches(".*"),
            about: section.about,
            samples: &[],
            keys: section_rows(section),
            figures: vec![],
        });
    let mut topics: Vec<Topic> = kinds.chain(sections).collect();
    for table in figure_tables() {
        if let Some(section) = topics.iter_mut().find(|topic| topic.name == table.name) {
            section.figures = table.figures;
        } else {
            let (name, about, figures) = (table.name, table.title, table.figures);
            topics.push(Topic { name, about, samples: &[], keys: vec![], figures });
        }
    }
    topics
}

fn kind_rows(section: &SectionKeys, kind: &KindKeys) -> Vec<Row> {
    let keys = section.keys.iter().chain(kind.all());
    keys.map(|key| Row::new(section, key, Vec::new())).collect()
}

/// The keys of this name: a path, as `volume.interleave` or `workload.read.depth`, its last part, or either with `*` in it.
///
/// # Errors
///
/// Where there is none, and no kind, section or file either, saying which may have been meant.
pub fn keys_named(name: &str) -> Result<Vec<Row>> {
    let path = generic(name);
    let is_meant = |row: &Row| {
        let last = row.key.rsplit('.').next().unwrap_or(&row.key);
        row.key == path || is_like(&row.key, &path) || !name.contains('.') && is_like(last, name)
    };
    let found: Vec<Row> = rows().into_iter().filter(is_meant).collect();
    if found.is_empty() { Err(unknown(name)) } else { Ok(found) }
}

/// Whether a text is of a pattern, part by part between its points, where `*` stands for any letters of one.
fn is_like(text: &str, pattern: &str) -> bool {
    let [texts, patterns] = [text, pattern].map(|of| of.split('.').collect::<Vec<_>>());
    texts.len() == patterns.len() && texts.iter().zip(&patterns).all(|(of, like)| is_part(of, like))
}

fn is_part(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| {
            text.char_indices().any(|(at, _)| is_part(&text[at..], rest)) || is_part("", rest)
        }),
    }
}

/// What to say of a name that nothing has.
fn unknown(name: &str) -> Error {
    let topics = topics();
    let topics: Vec<&str> = topics.iter().map(|topic| topic.name).collect();
    let rows = rows();
    let mut near: Vec<String> =
        nearest(name, topics.iter().copied()).into_iter().map(String::from).collect();
    if near.is_empty() {
        near = meant(&generic(name));
    }
    if near.is_empty() {
        let last = |row: &Row| row.key.rsplit('.').next().unwrap_or_default().to_string();
        let lasts: Vec<String> = rows.iter().map(last).collect();
        let few = nearest_few(name, lasts.iter().map(String::as_str));
        let is_near = |row: &&Row| few.contains(&last(row).as_str());
        near = rows.iter().filter(is_near).map(|row| row.key.clone()).collect();
        near.dedup();
    }
    let next = if near.is_empty() {
        format!("`ileave keys` lists all keys; kinds, sections and files are {}", topics.join(", "))
    } else {
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        format!("did you mean {}?", near.join(" or "))
    };
    Error::input(format!("no key, kind, section or file is called `{name}`; {next}"))
}

/// The kind or section of this name.
pub fn topic(name: &str) -> Option<Topic> {
    topics().into_iter().find(|topic| topic.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::KINDS;
    use block::LEVELS;
    use std::fmt::Write as _;
    use store::factor::DEFAULT_INTERLEAVE;

    /// The tables of docs/experiment.md.
    fn tables() -> String {
        let mut tables =
            String::from("| key | role | takes | default | meaning |\n|---|---|---|---|---|\n");
        for row in rows() {
            let takes = match row.key.as_str() {
                "volume.level" => "a layout's name, from the table below",
                "workload.*.kind" => "a kind, from the table below",
                _ => &row.takes,
            };
            let default = row.default.map_or_else(String::new, |default| format!("`{default}`"));
            let one = if row.factor || row.list { "" } else { " (no list)" };
            let role = row.role.unwrap_or_default();
            let kinds = row.kinds.join(", ");
            let of = if kinds.is_empty() { kinds } else { format!(" ({kinds})") };
            let Row { key, help, .. } = row;
            writeln!(tables, "| `{key}` | {role} | {takes}{one} | {default} | {help}{of} |")
                .unwrap();
        }
        tables += "\n| kind of workload | what it does | samples |\n|---|---|---|\n";
        for kind in KINDS {
            let samples = kind.samples.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let samples =
                if samples.is_empty() { "those of requests".into() } else { samples.join(" ") };
            writeln!(tables, "| `{}` | {} | {samples} |", kind.name, kind.about).unwrap();
        }
        tables += "\n| level | what it is |\n|---|---|\n";
        for level in LEVELS {
            let names = level.also.iter().map(|name| format!(", `{name}`"));
            let names: String = names.collect();
            writeln!(tables, "| `{}`{names} | {} |", level.name, level.about).unwrap();
        }
        tables
    }

    /// `UPDATE=1` writes the tables anew.
    #[test]
    fn the_documentation_lists_every_key_kind_and_level() {
        const MARK: &str = "<!-- from the key table; a test holds it to the code -->\n";
        let path = format!("{}/../../docs/experiment.md", env!("CARGO_MANIFEST_DIR"));
        let document = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = document.split_once(MARK).unwrap();
        let (_, after) = rest.split_once(MARK).unwrap();
        let wanted = format!("{before}{MARK}{}{MARK}{after}", tables());
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(document == wanted, "docs/experiment.md is not up to date; run with UPDATE=1");
        }
    }

    #[test]
    fn a_kind_is_listed_with_its_keys_and_samples() {
        let spool = topic("spool").unwrap();
        let keys: Vec<&str> = spool.keys.iter().map(|row| row.key.as_str()).collect();
        assert!(keys.contains(&"workload.*.readers") && !keys.contains(&"workload.*.tree"));
        assert!(spool.samples.contains(&"files_per_s"));
        assert_eq!(topic("volume").unwrap().keys[0].key, "volume.drives");
        let error = keys_named("untarr").unwrap_err().to_string();
        assert!(error.contains("did you mean `untar`?"), "{error}");
    }

    /// Who was told that a key is unknown, and asked for it, was told that no kind is called so.
    #[test]
    fn a_key_is_found_by_its_path_its_last_part_and_a_pattern() {
        let named = |name: &str| {
            let rows = keys_named(name).unwrap();
            // A key that kinds explain in their own words is there once for each.
            let mut keys: Vec<String> = rows.into_iter().map(|row| row.key).collect();
            keys.dedup();
            keys
        };
        assert_eq!(named("volume.interleave"), ["volume.interleave"]);
        assert_eq!(named("interleave"), ["volume.interleave"]);
        assert_eq!(named("fs.kind"), ["fs.kind"]);
        assert_eq!(named("workload.*.depth"), ["workload.*.depth"]);
        assert_eq!(named("workload.read.depth"), ["workload.*.depth"]);
        assert_eq!(named("kind"), ["fault.kind", "fs.kind", "workload.*.kind"]);
        assert_eq!(
            named("volume.re*"),
            ["volume.read_ahead", "volume.region_size", "volume.rebuild"]
        );
        assert_eq!(
            named("*_cache"),
            ["volume.stripe_cache", "drive.write_cache", "drive.media_cache"]
        );
        assert_eq!(keys_named("interleave").unwrap()[0].default, Some(DEFAULT_INTERLEAVE));
        assert_eq!(keys_named("gap").unwrap()[0].kinds, ["strided"]);
        assert_eq!(keys_named("drive.state").unwrap()[0].kinds, ["flash"]);
        let said = |name: &str| keys_named(name).unwrap_err().to_string();
        assert!(said("volume.interleeve").ends_with("did you mean `volume.interleave`?"));
        assert!(said("interleeve").ends_with("did you mean `volume.interleave`?"));
        assert!(said("quite.different").contains("`ileave keys` lists all keys"));
    }

    #[test]
    fn files_of_the_catalogue_are_listed_with_their_figures() {
        let host = topic("host").unwrap();
        assert!(host.keys.iter().any(|row| row.key == "host.name"));
        assert!(host.figures.iter().any(|row| row.key == "command_cpu_us" && row.unit == "us"));
        let controller = topic("controller").unwrap();
        assert!(controller.keys.is_empty() && !controller.figures.is_empty());
        let disk = topic("disk").unwrap();
        assert!(disk.figures.iter().any(|row| row.left_out == "required"), "{disk:?}");
    }

    #[test]
    fn names_of_kinds_and_sections_stand_once() {
        let topics = topics();
        for (index, topic) in topics.iter().enumerate() {
            assert!(topics[..index].iter().all(|other| other.name != topic.name), "{}", topic.name);
        }
    }
}
