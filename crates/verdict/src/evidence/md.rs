//! md's cells, measured on the real kernel, as pairs of layouts that differ in one choice.

use super::Pair;
use std::collections::BTreeMap;

/// Every cell that the model of md is held to; a test of `sim` writes it and holds it to what is simulated.
const FILE: &str = include_str!("../../data/md_cells.csv");

/// The columns that are a choice, and the choice. The rest are loads, conditions and drives.
const CHOICES: [(&str, &str); 3] = [
    ("chunk_kib", "volume.interleave"),
    ("stripe_cache", "volume.stripe_cache"),
    ("level", "volume.level"),
];

/// What was measured, and ours.
const MEASURED: [&str; 4] =
    ["measured_mb_per_s", "mb_per_s", "measured_pre_read_mib", "pre_read_mib"];

/// A cell: its values by column.
struct Cell<'a> {
    header: &'a [&'a str],
    values: Vec<&'a str>,
    /// The columns that were not measured, as numbers: those of equal texts are equal.
    numbers: Vec<u32>,
}

impl Cell<'_> {
    fn text(&self, name: &str) -> &str {
        let column = self.header.iter().position(|column| *column == name);
        self.values[column.expect("a column of the cells")]
    }

    fn number(&self, name: &str) -> f64 {
        self.text(name).parse().expect("a number")
    }

    fn class(&self) -> String {
        let level = format!("md-{}", self.text("level"));
        let is_read = self.text("op") == "read";
        super::class::of_md(
            &level,
            self.text("pattern") == "seq",
            is_read,
            self.text("buffered") == "1",
        )
    }

    fn pair(&self, factor: String, measured: f64, ours: f64) -> Pair {
        let table = "md-write-path".into();
        Pair { class: self.class(), table, factor, published: measured, simulated: ours }
    }
}

/// Every two cells that differ in one choice and in nothing else: the later, the earlier, the choice; in their order.
/// There are 165,000 pairs of cells, which no short command has the time to go through.
fn differing<'a, 'b>(
    header: &[&str],
    cells: &'a [Cell<'b>],
) -> Vec<(&'a Cell<'b>, &'a Cell<'b>, &'static str)> {
    let set: Vec<&&str> = header.iter().filter(|name| !MEASURED.contains(name)).collect();
    let mut found = Vec::new();
    for (column, choice) in CHOICES {
        let column = set.iter().position(|name| **name == column).expect("a column of the cells");
        let mut alike: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for (index, cell) in cells.iter().enumerate() {
            let mut others = cell.numbers.clone();
            others.remove(column);
            let before = alike.entry(others).or_default();
            let differs = |&first: &usize| cells[first].numbers[column] != cell.numbers[column];
            let pairs = before.iter().copied().filter(differs);
            found.extend(pairs.map(|first| (index, first, choice)));
            before.push(index);
        }
    }
    found.sort_unstable();
    let pair = |(second, first, choice)| (&cells[second], &cells[first], choice);
    found.into_iter().map(pair).collect()
}

/// Every pair of cells that differ in one choice, and every cell as a level.
pub(super) fn pairs() -> Vec<Pair> {
    let mut lines = FILE.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut numbered: BTreeMap<&str, u32> = BTreeMap::new();
    let cells: Vec<Cell<'_>> = lines
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            let set = header.iter().zip(&values).filter(|(name, _)| !MEASURED.contains(name));
            let numbers = set.map(|(_, &value)| {
                let next = numbered.len() as u32;
                *numbered.entry(value).or_insert(next)
            });
            Cell { header: &header, numbers: numbers.collect(), values }
        })
        .collect();
    let [measured, ours, ..] = MEASURED;
    let level = |cell: &Cell<'_>| {
        cell.pair(super::pair::LEVEL.into(), cell.number(measured), cell.number(ours))
    };
    let mut pairs: Vec<Pair> = cells.iter().map(level).collect();
    for (second, first, choice) in differing(&header, &cells) {
        let factor = match choice {
            "volume.interleave" => format!("{choice} of md-{}", second.text("level")),
            _ => choice.to_string(),
        };
        let ratio = |name: &str| second.number(name) / first.number(name);
        if first.class() == second.class() {
            pairs.push(second.pair(factor, ratio(measured), ratio(ours)));
        }
    }
    pairs
}
