//! Pairs of layouts that differ in one thing, as others measured them and as the model has them.

use super::class::{CONTROLLER, class, factor};
use super::{closed, latencies, md, streams};
use crate::reproduce::{ComparedCell, Comparison};
use crate::stated::Stated;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::Manifest;
use store::expression::Objective;
use store::factor::Role;
use store::published::{Published, PublishedCell};
use store::quantity::Better;

/// What is kept; its first lines say how to write it anew.
const FILE: &str = include_str!("../../data/published.csv");

/// What the published tables were measured on: nobody's table of flash or of a cloud's volumes is among them.
const OF_PUBLISHED: Devices = Devices::Disks;

/// The columns; the line by which the file is known again.
pub const HEADER: &str = "class,table,factor,published,simulated";

/// The factor of a line that is no pair: a value as published, and ours.
pub(super) const LEVEL: &str = "level";

/// Published figures that differ by less, as a logarithm, are the same.
const SAME: f64 = 1e-4;

/// Of the kernel's, which have more digits: nobody would choose by so little, and half of the chunks of md RAID 0 are within 0.1 % of
/// each other there.
const SAME_IN_KERNEL: f64 = 5e-3;

/// What a pair was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Disks.
    Disks,
    /// Flash drives.
    Flash,
}

impl Devices {
    /// As a column of the cells has it.
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "disks" => Some(Devices::Disks),
            "flash" => Some(Devices::Flash),
            _ => None,
        }
    }
}

/// Two layouts that differ in one thing, or the level of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The kind of work on the kind of system.
    pub class: String,
    /// The table.
    pub table: String,
    /// What the two differ in.
    pub factor: String,
    /// How many times the one had what the other had, in print; of a level its value.
    pub published: f64,
    /// The same, simulated.
    pub simulated: f64,
    /// What it was measured on.
    pub devices: Devices,
}

impl Pair {
    /// Whether it is no pair, and says how far a value of ours is off.
    pub(super) fn is_level(&self) -> bool {
        self.factor == LEVEL
    }

    /// Whether a real kernel was measured over modelled drives: that tests the model of Linux, and none of a drive.
    pub(super) fn is_of_kernel(&self) -> bool {
        [md::REQUESTS.name, md::READ_AHEAD.name, latencies::TABLE, streams::TABLE, closed::TABLE]
            .contains(&self.table.as_str())
    }

    pub(super) fn ours(&self) -> f64 {
        self.simulated.ln()
    }

    pub(super) fn theirs(&self) -> f64 {
        self.published.ln()
    }

    /// Whether ours lie the same way round. Where neither has a difference, that is right, too.
    pub(super) fn is_right(&self) -> bool {
        let same = if self.is_of_kernel() { SAME_IN_KERNEL } else { SAME };
        let none = self.ours().abs().max(self.theirs().abs()) < same;
        none || self.ours() * self.theirs() > 0.0
    }

    fn line(&self) -> String {
        let Pair { class, table, factor, published, simulated, .. } = self;
        format!("{class},{table},{factor},{published:.4},{simulated:.4}")
    }
}

/// Every pair that is kept.
///
/// # Panics
///
/// Where a line of the data is none; a test reads them all.
pub fn kept() -> Vec<Pair> {
    let data = FILE.lines().filter(|line| !line.starts_with('#') && *line != HEADER);
    data.map(|line| read(line).unwrap_or_else(|| panic!("{line} is a pair"))).collect()
}

fn read(line: &str) -> Option<Pair> {
    let mut columns = line.split(',');
    let mut text = || columns.next().map(String::from);
    let (class, table, factor) = (text()?, text()?, text()?);
    let mut number = || columns.next()?.parse::<f64>().ok();
    let (published, simulated) = (number()?, number()?);
    Some(Pair { class, table, factor, published, simulated, devices: OF_PUBLISHED })
}

/// The pairs as the file has them; `about` are the lines above.
pub fn text(about: &str, pairs: &[Pair]) -> String {
    let mut text = String::new();
    for line in about.lines() {
        writeln!(text, "# {line}").expect("a string grows");
    }
    text = text + HEADER + "\n";
    for pair in pairs {
        writeln!(text, "{}", pair.line()).expect("a string grows");
    }
    text
}

/// A published row: where it stands, and its value there and here.
struct Row<'a> {
    at: &'a Map<String, Json>,
    /// What it may be held against: rows of the same work, in the same quantity.
    series: String,
    class: String,
    stated_factor: Box<dyn Fn(&str) -> String + 'a>,
    published: f64,
    simulated: f64,
}

/// The pairs and the levels of a published table beside the run of its experiment. What a constant was fitted to is no
/// prediction and left out, and so is what is neither better nor worse.
pub fn differences(published: &Published, compared: &Comparison, manifest: &Manifest) -> Vec<Pair> {
    let settings = manifest.settings();
    let rows: Vec<Row<'_>> = rows(published, compared, manifest, &settings);
    let mut pairs: Vec<Pair> = rows
        .iter()
        .map(|row| Pair {
            class: row.class.clone(),
            table: published.name.clone(),
            factor: LEVEL.into(),
            published: row.published,
            simulated: row.simulated,
            devices: OF_PUBLISHED,
        })
        .collect();
    for (index, second) in rows.iter().enumerate() {
        for first in rows[..index].iter().filter(|first| first.series == second.series) {
            let Some((class, factor)) = differ(first, second, published) else { continue };
            pairs.push(Pair {
                class,
                table: published.name.clone(),
                factor,
                published: second.published / first.published,
                simulated: second.simulated / first.simulated,
                devices: OF_PUBLISHED,
            });
        }
    }
    pairs
}

/// What two rows differ in, where that is one thing and no load.
fn differ(first: &Row<'_>, second: &Row<'_>, published: &Published) -> Option<(String, String)> {
    let is_box = |row: &Row<'_>| row.class.starts_with("box:");
    let of_box = [first, second].into_iter().find(|row| is_box(row));
    let is_load = |path: &&String| published.factors.role(path) == Role::Load;
    let loads = [first, second].map(|row| row.at.keys().filter(is_load).count());
    if is_box(first) != is_box(second) && loads == [0, 0] {
        return Some((of_box?.class.clone(), CONTROLLER.into()));
    }
    let mut paths: Vec<&String> = first.at.keys().chain(second.at.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| first.at.get(*path) != second.at.get(*path));
    let [path] = paths.as_slice() else { return None };
    let is_choice = published.factors.role(path) == Role::Choice;
    let factors = [first, second].map(|row| (row.stated_factor)(path));
    (is_choice && first.class == second.class && factors[0] == factors[1])
        .then(|| (first.class.clone(), factors[0].clone()))
}

/// The rows of a table: of an experiment with an objective that of each, else every number.
fn rows<'a>(
    published: &'a Published,
    compared: &'a Comparison,
    manifest: &'a Manifest,
    settings: &'a toml::Table,
) -> Vec<Row<'a>> {
    let objective = manifest.objective().and_then(|text| Objective::parse(&text).ok());
    let cells: Vec<(&PublishedCell, &ComparedCell)> =
        published.cells.iter().zip(&compared.cells).collect();
    let row = |cell: &'a PublishedCell, quantity: &str, theirs: f64, ours: f64| {
        let full = manifest.workloads.contains(&cell.trial);
        (full && theirs > 0.0 && ours > 0.0).then(|| Row {
            at: &cell.at,
            series: format!("{}.{quantity}", manifest.judged_as(&cell.trial)),
            class: class(manifest, &cell.trial, &Stated::new(&cell.at, &cell.trial, settings)),
            stated_factor: Box::new(move |path| {
                factor(path, &Stated::new(&cell.at, &cell.trial, settings))
            }),
            published: theirs,
            simulated: ours,
        })
    };
    if let Some(objective) = objective {
        let by_row = of_rows(&cells);
        let value = |cells: &[(&'a PublishedCell, &'a ComparedCell)]| {
            let find = |name: &str| cells.iter().find(|(cell, _)| cell.sample == name);
            let theirs = objective.of.value(0.0, &|name| find(name)?.1.published.middle())?;
            let ours = objective.of.value(0.0, &|name| find(name)?.1.simulated)?;
            let fitted = cells.iter().any(|(_, compared)| compared.fitted);
            row(cells[0].0, &objective.text, theirs, ours).filter(|_| !fitted)
        };
        return by_row.iter().filter_map(|cells| value(cells)).collect();
    }
    let counts = |(cell, compared): &&(&PublishedCell, &ComparedCell)| {
        let ours = cell.computed.is_none() && !compared.fitted && !compared.repeats;
        ours && compared.better != Better::Neither
    };
    let single = |(cell, compared): &(&'a PublishedCell, &ComparedCell)| {
        // In the sample's unit, whatever that of the table.
        let of_sample = |number: f64| number / cell.per_sample;
        let theirs = of_sample(compared.published.middle()?);
        row(cell, &cell.sample, theirs, of_sample(compared.simulated?))
    };
    cells.iter().filter(counts).filter_map(single).collect()
}

/// Neighbouring cells of one place, until a sample comes again: the same drive may have been measured twice.
fn of_rows<'a>(
    cells: &[(&'a PublishedCell, &'a ComparedCell)],
) -> Vec<Vec<(&'a PublishedCell, &'a ComparedCell)>> {
    let mut rows: Vec<Vec<(&PublishedCell, &ComparedCell)>> = Vec::new();
    for &(cell, compared) in cells {
        let belongs = |row: &&mut Vec<(&PublishedCell, &ComparedCell)>| {
            let same = row[0].0.at == cell.at && row[0].0.trial == cell.trial;
            same && row.iter().all(|(other, _)| other.sample != cell.sample)
        };
        match rows.last_mut().filter(belongs) {
            Some(row) => row.push((cell, compared)),
            None => rows.push(vec![(cell, compared)]),
        }
    }
    rows
}
