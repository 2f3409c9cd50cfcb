//! md's cells, measured on the real kernel, as pairs of layouts that differ in one choice.

use super::Pair;
use super::class::{of_md, of_read_ahead};
use super::pair::Devices;
use block::Level;
use std::collections::BTreeMap;

/// Cells of one kind, a line each.
pub(super) struct Table {
    file: &'static str,
    pub(super) name: &'static str,
    /// What was measured, and ours.
    rates: [&'static str; 2],
    /// The other columns that are no setting.
    beside: &'static [&'static str],
    class: fn(&Cell<'_>) -> String,
}

/// Every cell that the model of md's requests is held to; a test of `sim` writes it and holds it to what is simulated.
pub(super) const REQUESTS: Table = Table {
    file: include_str!("../../data/md_cells.csv"),
    name: "md-write-path",
    rates: ["measured_mb_per_s", "mb_per_s"],
    beside: &["measured_pre_read_mib", "pre_read_mib"],
    class: |cell| {
        let (in_order, reads) = (cell.text("pattern") == "seq", cell.text("op") == "read");
        of_md(&cell.level(), in_order, reads, cell.text("buffered") == "1")
    },
};

/// Every cell that the model of reads through the page cache is held to; a test of `lab` writes it, likewise.
pub(super) const READ_AHEAD: Table = Table {
    file: include_str!("../../data/md_read_ahead.csv"),
    name: "md-read-ahead",
    rates: ["kernel_mb_per_s", "mb_per_s"],
    beside: &[],
    class: |cell| {
        let chunk_kib = cell.text("chunk_kib").parse().expect("a number");
        of_read_ahead(cell.text("read_ahead"), chunk_kib).into()
    },
};

/// The columns that are a choice, and the choice. The rest are loads, conditions and drives.
const CHOICES: [(&str, &str); 4] = [
    ("chunk_kib", "volume.interleave"),
    ("stripe_cache", "volume.stripe_cache"),
    ("read_ahead", "volume.read_ahead"),
    ("level", "volume.level"),
];

/// A cell: its values by column.
struct Cell<'a> {
    header: &'a [&'a str],
    values: Vec<&'a str>,
    /// The columns that are settings, as numbers: those of equal texts are equal.
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

    /// What it was measured on; those without the column are of one disk.
    fn devices(&self) -> Devices {
        let column = self.header.iter().position(|column| *column == "drive_model");
        match column.map(|column| self.values[column]) {
            Some("flash") => Devices::Flash,
            _ => Devices::Disks,
        }
    }

    /// The level as results have it: `raid5` is md's, and md's RAID 0 is `md-stripe` there.
    fn level(&self) -> String {
        Level::of_md(self.text("level")).expect("a level of md").to_string()
    }
}

/// Every two cells that differ in one choice and in nothing else: the later, the earlier, the choice; in their order.
/// There are 165,000 pairs of cells, which no short command has the time to go through.
fn differing<'a, 'b>(
    settings: &[&str],
    cells: &'a [Cell<'b>],
) -> Vec<(&'a Cell<'b>, &'a Cell<'b>, &'static str)> {
    let mut found = Vec::new();
    for (column, choice) in CHOICES {
        let Some(column) = settings.iter().position(|name| *name == column) else { continue };
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
    [REQUESTS, READ_AHEAD].iter().flat_map(Table::pairs).collect()
}

impl Table {
    fn pairs(&self) -> Vec<Pair> {
        let mut lines = self.file.lines().filter(|line| !line.starts_with('#'));
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let settings: Vec<&str> = header.iter().copied().filter(|name| self.is_set(name)).collect();
        let cells = self.cells(&header, lines);
        let [measured, ours] = self.rates;
        let level = |cell: &Cell<'_>| {
            let factor = super::pair::LEVEL.into();
            self.pair(cell, factor, cell.number(measured), cell.number(ours))
        };
        let mut pairs: Vec<Pair> = cells.iter().map(level).collect();
        for (second, first, choice) in differing(&settings, &cells) {
            let factor = match choice {
                "volume.interleave" => format!("{choice} of {}", second.level()),
                _ => choice.to_string(),
            };
            let ratio = |name: &str| second.number(name) / first.number(name);
            if (self.class)(first) == (self.class)(second) {
                pairs.push(self.pair(second, factor, ratio(measured), ratio(ours)));
            }
        }
        pairs
    }

    fn is_set(&self, column: &str) -> bool {
        !self.rates.contains(&column) && !self.beside.contains(&column)
    }

    fn cells<'a>(
        &self,
        header: &'a [&'a str],
        lines: impl Iterator<Item = &'a str>,
    ) -> Vec<Cell<'a>> {
        let mut numbered: BTreeMap<&str, u32> = BTreeMap::new();
        lines
            .map(|line| {
                let values: Vec<&str> = line.split(',').collect();
                let set = header.iter().zip(&values).filter(|(name, _)| self.is_set(name));
                let numbers = set.map(|(_, &value)| {
                    let next = numbered.len() as u32;
                    *numbered.entry(value).or_insert(next)
                });
                Cell { header, numbers: numbers.collect(), values }
            })
            .collect()
    }

    fn pair(&self, cell: &Cell<'_>, factor: String, measured: f64, ours: f64) -> Pair {
        let class = (self.class)(cell);
        let (table, devices) = (self.name.into(), cell.devices());
        Pair { class, table, factor, published: measured, simulated: ours, devices }
    }
}
