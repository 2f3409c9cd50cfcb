//! Figures as a file has them.

use super::{
    BYTES_MAX, CYLINDERS_MAX, Cited, Figure, Kind, MOVE_MS_MAX, SECTORS_PER_TRACK_MAX, Shape,
    Value, ZoneRow,
};
use crate::error::Result;
use crate::text::{Item, Table};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use store::known::Cell;

impl Figure {
    /// Reads `{ value = …, kind = …, source = … }`.
    pub(in crate::catalogue) fn read(
        &self,
        item: &Item,
        sources: &[(String, String)],
    ) -> Result<Cited> {
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
