//! What a figure is: a value that says where it is from; and what may stand in one.

use crate::error::Result;
use crate::keys::Word;
use crate::text::{Item, Table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use store::known::Cell;

/// How a figure came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The maker says so, or the device itself, or whoever ran it.
    Datasheet,
    /// Somebody measured it.
    Measured,
    /// It follows from other figures; the note says how.
    Computed,
    /// It is a guess, or a data sheet figure that was not verified.
    Estimate,
    /// It was read off, or chosen with, measurements of this very drive: the first half of a trace. The
    /// second half shows what that is worth.
    Adjusted,
    /// It was chosen so that the model meets published results, which are listed with it.
    Fitted,
}

impl Kind {
    const ALL: [(&'static str, Kind); 6] = [
        ("datasheet", Kind::Datasheet),
        ("measured", Kind::Measured),
        ("computed", Kind::Computed),
        ("estimate", Kind::Estimate),
        ("adjusted", Kind::Adjusted),
        ("fitted", Kind::Fitted),
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Kind::ALL.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

/// What is known under a key: the definition from which reading, printing and documentation follow.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its key in a file.
    pub key: &'static str,
    /// Its unit; empty for counts and words.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// What may stand there.
    pub shape: Shape,
    /// What holds when it is left out.
    pub left_out: LeftOut,
}

/// What holds when a figure is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It may not be.
    Required,
    /// This value, as a file would have it, but without quotes.
    Default(&'static str),
    /// No value; these words say what holds.
    Or(&'static str),
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::Required => f.write_str("**required**"),
            LeftOut::Default(text) | LeftOut::Or(text) => f.write_str(text),
        }
    }
}

/// A figure that must be given.
pub(super) const fn figure(key: &'static str, unit: &'static str, shape: Shape) -> Figure {
    Figure { key, unit, meaning: "", shape, left_out: LeftOut::Required }
}

impl Figure {
    /// The figure with this value where it is left out.
    pub(super) const fn default(self, value: &'static str) -> Self {
        Figure { left_out: LeftOut::Default(value), ..self }
    }

    /// The figure, which may be left out; `words` say what holds then.
    pub(super) const fn or(self, words: &'static str) -> Self {
        Figure { left_out: LeftOut::Or(words), ..self }
    }

    /// The figure with this meaning; `figures!` takes it from the field's documentation.
    pub(super) const fn meaning(self, meaning: &'static str) -> Self {
        Figure { meaning: meaning.trim_ascii(), ..self }
    }
}

/// A rate in MB/s.
pub(super) const fn rate() -> Shape {
    // What a drive's interface moves at least, too: at less, moving 1 TiB is beyond a count of picoseconds.
    Shape::Number(0.1..=100_000.0)
}

/// A figure that counts from `least` to `most`.
pub(super) const fn count(least: u64, most: u64) -> Shape {
    Shape::Count(least..=most)
}

/// A time in ms that a command of a disk may take, or a part of it.
pub(super) const fn time_ms() -> Shape {
    Shape::Number(0.0..=MOVE_MS_MAX)
}

/// A time in us.
pub(super) const fn time_us() -> Shape {
    Shape::Number(0.0..=1e6)
}

/// What may stand in a figure.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// A number.
    Number(RangeInclusive<f64>),
    /// `true` or `false`.
    Switch,
    /// A size: bytes, or a text such as `64KiB`; whole sectors.
    Size,
    /// The same of any number of bytes, up to 1 PiB.
    Bytes,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Zones, outermost first.
    Zones,
    /// Whole numbers.
    Counts,
    /// Pairs of a distance in cylinders and a time in ms.
    SeekPoints,
    /// Pairs of a size in bytes and a time in us, smallest first.
    Sizes,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Count(range) => write!(f, "whole number, {} to {}", range.start(), range.end()),
            Shape::Number(range) => write!(f, "number, {} to {}", range.start(), range.end()),
            Shape::Switch => write!(f, "true or false"),
            Shape::Size | Shape::Bytes => write!(f, "bytes, or a text such as \"64KiB\""),
            Shape::Choice(words) => write!(f, "\"{}\"", words.join("\", \"")),
            Shape::Zones => write!(f, "list of zones"),
            Shape::Counts => write!(f, "list of whole numbers"),
            Shape::SeekPoints => write!(f, "list of [cylinders, ms]"),
            Shape::Sizes => write!(f, "list of [bytes, us]"),
        }
    }
}

/// A zone as a file gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ZoneRow {
    /// The first cylinder.
    pub first_cylinder: u32,
    /// The last cylinder.
    pub last_cylinder: u32,
    /// Sectors a track, spares counted.
    pub sectors_per_track: u32,
    /// From one head's track to the next one's, in sectors; `None` where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_skew: Option<u32>,
    /// From the last track of a cylinder to the first of the next, in sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cylinder_skew: Option<u32>,
    /// Sectors at the zone's end that are kept for defects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<u64>,
    /// How far the zone's first sector is turned, in sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
}

/// What stands in a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// On or off.
    Switch(bool),
    /// A word.
    Choice(&'static str),
    /// Zones, outermost first.
    Zones(Vec<ZoneRow>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Distance in cylinders and time in ms.
    SeekPoints(Vec<(u32, f64)>),
    /// Size in bytes and time in us.
    Sizes(Vec<(u32, f64)>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => write!(f, "{count}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Switch(on) => write!(f, "{on}"),
            Value::Choice(word) => write!(f, "{word}"),
            Value::Zones(zones) => {
                let spt = |zone: Option<&ZoneRow>| zone.map_or(0, |zone| zone.sectors_per_track);
                let (outer, inner) = (spt(zones.first()), spt(zones.last()));
                write!(f, "{} zones, {outer} to {inner} sectors per track", zones.len())
            }
            Value::Counts(counts) => write!(f, "{} of them", counts.len()),
            Value::SeekPoints(points) => {
                let (Some((near, short)), Some((far, long))) = (points.first(), points.last())
                else {
                    return write!(f, "no points");
                };
                let count = points.len();
                write!(f, "{count} points, {short} at {near} cylinders to {long} at {far}")
            }
            Value::Sizes(sizes) => {
                let one = |&(bytes, us): &(u32, f64)| match bytes % 1024 {
                    0 => format!("{}K {us}", bytes / 1024),
                    _ => format!("{bytes} {us}"),
                };
                f.write_str(&sizes.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// What a field of a struct of `figures!` can be. The figure has checked the value before.
pub(super) trait FromFigure: Sized {
    /// The field's value; `None` where the value is of another type.
    fn from_value(value: &Value) -> Option<Self>;

    /// The field's value where the figure is left out and has no default; `None` where it needs one.
    fn absent() -> Option<Self> {
        None
    }
}

impl<T: FromFigure> FromFigure for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Fields of a type that one variant of [`Value`] holds.
macro_rules! from_figure {
    ($($type:ty: $variant:ident($held:ident) => $field:expr,)+) => {
        $(impl FromFigure for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::$variant($held) => $field,
                    _ => None,
                }
            }
        })+
    };
}

from_figure! {
    u64: Count(count) => Some(*count),
    u32: Count(count) => (*count).try_into().ok(),
    usize: Count(count) => (*count).try_into().ok(),
    f64: Number(number) => Some(*number),
    bool: Switch(on) => Some(*on),
    Vec<ZoneRow>: Zones(zones) => Some(zones.clone()),
    Vec<u64>: Counts(counts) => Some(counts.clone()),
}

impl FromFigure for Vec<(u32, f64)> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::SeekPoints(points) | Value::Sizes(points) => Some(points.clone()),
            _ => None,
        }
    }
}

impl<T: Word> FromFigure for T {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Choice(word) => T::of_word(word),
            _ => None,
        }
    }
}

/// A figure in a file: the value, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    /// What it is.
    pub value: Value,
    /// How it came about.
    pub kind: Kind,
    /// The key of its source.
    pub source: String,
    /// How it was computed, or what else to know.
    pub note: Option<String>,
    /// For a fitted figure, what it was fitted to.
    pub fitted_to: Vec<Cell>,
}

impl Figure {
    /// Reads `{ value = …, kind = …, source = … }`.
    pub(super) fn read(&self, item: &Item, sources: &[(String, String)]) -> Result<Cited> {
        let table = item.table()?;
        table.allow(&["value", "kind", "source", "note", "fitted_to"])?;
        let value = self.shape.read(&table.need("value", "…")?)?;
        let kind = read_kind(&table.need("kind", "\"estimate\"")?)?;
        let source = table.need("source", "\"…\"")?;
        let source_key = source.text()?;
        if !sources.iter().any(|(key, _)| key == source_key) {
            let known: Vec<&str> = sources.iter().map(|(key, _)| key.as_str()).collect();
            let known = known.join(", ");
            let message = format!("`{source_key}` is not in [sources] ({known}); cite it there");
            return Err(source.wrong(message));
        }
        let note = table.find("note").map(|note| note.text().map(String::from)).transpose()?;
        let fitted_to = match (kind, table.find("fitted_to")) {
            (Kind::Fitted, Some(cells)) => read_cells(&cells)?,
            (Kind::Fitted, None) => {
                let example = r#"[{ table = "…", workload = "…", at = { … } }]"#;
                return Err(table.missing("fitted_to", example));
            }
            (_, Some(cells)) => {
                return Err(cells.wrong("only figures of kind \"fitted\" have it; remove it"));
            }
            (_, None) => vec![],
        };
        Ok(Cited { value, kind, source: source_key.into(), note, fitted_to })
    }
}

fn read_kind(item: &Item) -> Result<Kind> {
    let text = item.text()?;
    let found = Kind::ALL.iter().find(|(name, _)| *name == text).map(|&(_, kind)| kind);
    found.ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|&(name, _)| name).collect();
        item.wrong(format!("`{text}` is not a kind; write one of {}", known.join(", ")))
    })
}

impl Shape {
    /// One of the words of `T`.
    pub(super) const fn words<T: Word>() -> Shape {
        Shape::Choice(T::WORDS)
    }

    /// The value that `text` is, without quotes: a default, which a test has read.
    pub(super) fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Shape::Count(_) => text.parse().ok().map(Value::Count),
            Shape::Number(_) => text.parse().ok().map(Value::Number),
            Shape::Switch => text.parse().ok().map(Value::Switch),
            Shape::Size | Shape::Bytes => block::units::parse_bytes(text).ok().map(Value::Count),
            Shape::Choice(words) => {
                words.iter().find(|word| **word == text).map(|word| Value::Choice(word))
            }
            Shape::Zones | Shape::Counts | Shape::SeekPoints | Shape::Sizes => None,
        }
    }

    fn read(&self, item: &Item) -> Result<Value> {
        Ok(match self {
            Shape::Count(range) => Value::Count(item.count(range)?),
            Shape::Number(range) => Value::Number(item.number(range)?),
            Shape::Switch => Value::Switch(item.switch()?),
            Shape::Size => Value::Count(read_size(item)?),
            Shape::Bytes => Value::Count(read_bytes(item, &(0..=BYTES_MAX))?),
            Shape::Choice(words) => Value::Choice(read_choice(item, words)?),
            Shape::Zones => Value::Zones(read_zones(item)?),
            Shape::Counts => {
                let counts = item.list()?;
                let counts = counts.iter().map(|count| count.count(&(0..=1 << 40)));
                Value::Counts(counts.collect::<Result<_>>()?)
            }
            Shape::SeekPoints => Value::SeekPoints(read_points(item)?),
            Shape::Sizes => Value::Sizes(read_sizes(item)?),
        })
    }
}

fn read_choice(item: &Item, words: &'static [&'static str]) -> Result<&'static str> {
    let text = item.text()?;
    let found = words.iter().find(|word| **word == text);
    found.copied().ok_or_else(|| {
        item.wrong(format!("`{text}` is not a choice; write one of {}", words.join(", ")))
    })
}

/// Bytes, as a number within `range` or as a text.
fn read_bytes(item: &Item, range: &RangeInclusive<u64>) -> Result<u64> {
    let bytes = match item.text() {
        Ok(text) => block::units::parse_bytes(text).map_err(|error| item.wrong(error))?,
        Err(_) => item.count(range)?,
    };
    if bytes <= BYTES_MAX { Ok(bytes) } else { Err(item.wrong("write at most 1PiB")) }
}

fn read_size(item: &Item) -> Result<u64> {
    let bytes = read_bytes(item, &(512..=1 << 30))?;
    let whole = bytes.is_multiple_of(block::SECTOR_BYTES) && (512..=1 << 30).contains(&bytes);
    if whole { Ok(bytes) } else { Err(item.wrong("write whole sectors of 512 bytes, up to 1GiB")) }
}

/// More bytes than anything here has, yet few enough to add them up.
pub(super) const BYTES_MAX: u64 = 1 << 50;

/// More cylinders and more sectors on a track than any drive has, yet few enough that every product
/// of them fits.
pub(super) const CYLINDERS_MAX: u64 = 2_000_000;
pub(super) const SECTORS_PER_TRACK_MAX: u64 = 50_000;

fn read_zones(item: &Item) -> Result<Vec<ZoneRow>> {
    let zones = item.list()?;
    if zones.is_empty() {
        return Err(item.wrong("a drive has at least one zone; add one"));
    }
    zones.iter().map(|zone| read_zone(&zone.table()?)).collect()
}

fn read_zone(zone: &Table) -> Result<ZoneRow> {
    const KEYS: [&str; 5] =
        ["first_cylinder", "last_cylinder", "sectors_per_track", "track_skew", "cylinder_skew"];
    const MORE: [&str; 2] = ["spare", "offset"];
    zone.allow(&[&KEYS[..], &MORE[..]].concat())?;
    let cylinder = |key| zone.need(key, "…")?.count(&(0..=CYLINDERS_MAX - 1));
    let skew = |key| {
        let skew = zone.find(key);
        skew.map(|skew| skew.count(&(0..=SECTORS_PER_TRACK_MAX))).transpose()
    };
    let spare = zone.find(MORE[0]).map(|spare| spare.count(&(0..=1 << 40))).transpose()?;
    let track = zone.need(KEYS[2], "…")?.count(&(1..=SECTORS_PER_TRACK_MAX))?;
    Ok(ZoneRow {
        first_cylinder: cylinder(KEYS[0])? as u32,
        last_cylinder: cylinder(KEYS[1])? as u32,
        sectors_per_track: track as u32,
        track_skew: skew(KEYS[3])?.map(|slots| slots as u32),
        cylinder_skew: skew(KEYS[4])?.map(|slots| slots as u32),
        spare,
        offset: skew(MORE[1])?.map(|slots| slots as u32),
    })
}

/// The longest time that a figure may give for a movement of the arm, in ms.
pub(super) const MOVE_MS_MAX: f64 = 200.0;

fn read_points(item: &Item) -> Result<Vec<(u32, f64)>> {
    let read_point = |point: &Item| match point.list()?.as_slice() {
        [distance, time] => {
            let distance = distance.count(&(1..=CYLINDERS_MAX))? as u32;
            Ok((distance, time.number(&(0.0..=MOVE_MS_MAX))?))
        }
        _ => Err(point.wrong("a point is [cylinders, ms]; write two numbers")),
    };
    item.list()?.iter().map(read_point).collect()
}

fn read_sizes(item: &Item) -> Result<Vec<(u32, f64)>> {
    let read_size = |pair: &Item| match pair.list()?.as_slice() {
        [bytes, time] => Ok((bytes.count(&(512..=1 << 30))? as u32, time.number(&(0.0..=1e6))?)),
        _ => Err(pair.wrong("a time by size is [bytes, us]; write two numbers")),
    };
    let sizes = item.list()?.iter().map(read_size).collect::<Result<Vec<_>>>()?;
    if sizes.is_empty() || !sizes.windows(2).all(|two| two[0].0 < two[1].0) {
        return Err(item.wrong("write at least one [bytes, us], and the smallest size first"));
    }
    Ok(sizes)
}

/// Each cell once: a list in `at` stands for a cell for each of its elements.
fn read_cells(item: &Item) -> Result<Vec<Cell>> {
    let mut cells = vec![];
    for entry in item.list()? {
        let table = entry.table()?;
        table.allow(&["table", "workload", "at", "samples"])?;
        let mut ats = vec![BTreeMap::new()];
        for (factor, levels) in table.need("at", "{ \"volume.interleave\" = 32 }")?.table()?.items()
        {
            let levels = levels.one_or_more()?;
            let levels = levels.iter().map(Item::word).collect::<Result<Vec<_>>>()?;
            let with = |at: &BTreeMap<String, String>| {
                let at = at.clone();
                let one = move |level: &String| {
                    let mut at = at.clone();
                    at.insert(factor.to_string(), level.clone());
                    at
                };
                levels.iter().map(one).collect::<Vec<_>>()
            };
            ats = ats.iter().flat_map(with).collect();
        }
        let name = |key| Ok(table.need(key, "\"…\"")?.text()?.to_string());
        let (table_name, workload) = (name("table")?, name("workload")?);
        let samples = match table.find("samples") {
            Some(names) => {
                let names = names.list()?;
                names.iter().map(|name| Ok(name.text()?.into())).collect::<Result<Vec<String>>>()?
            }
            None => vec![],
        };
        cells.extend(ats.into_iter().map(|at| Cell {
            table: table_name.clone(),
            workload: workload.clone(),
            at,
            samples: samples.clone(),
        }));
    }
    if cells.is_empty() { Err(item.wrong("name at least one cell")) } else { Ok(cells) }
}
