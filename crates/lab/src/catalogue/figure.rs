//! What a figure is: a value that says where it is from; and what may stand in one.

mod read;

use crate::keys::Word;
use serde::Serialize;
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
            LeftOut::Required => f.write_str("required"),
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
}

/// More bytes than anything here has, yet few enough to add them up.
pub(super) const BYTES_MAX: u64 = 1 << 50;

/// More cylinders and more sectors on a track than any drive has, yet few enough that every product
/// of them fits.
pub(crate) const CYLINDERS_MAX: u64 = 2_000_000;
pub(crate) const SECTORS_PER_TRACK_MAX: u64 = 50_000;

/// The longest time that a figure may give for a movement of the arm, in ms.
pub(super) const MOVE_MS_MAX: f64 = 200.0;
