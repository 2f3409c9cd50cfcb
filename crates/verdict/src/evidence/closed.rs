//! The rates of direct requests in a closed loop, on the real kernel and ours: cells, and pairs of layouts under one load.

use super::Pair;
use super::loads::{self, Cell};
use super::pair::Devices;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What they are called among the tables.
pub(super) const TABLE: &str = "md-closed-loops";

/// Every cell that the model is held to; a test of `lab` writes it, and holds the model to it.
const FILE: &str = include_str!("../../data/md_closed.csv");

/// The classes.
pub(super) const RANDOM_READS: &str = "closed:random reads";
pub(super) const RANDOM_WRITES: &str = "closed:random writes";
pub(super) const READS_IN_ORDER: &str = "closed:reads in order";
pub(super) const WRITES_IN_ORDER: &str = "closed:writes in order";

/// The largest requests of the cells, at random and in order, and the most in flight.
pub(super) const RANDOM_BYTES_MAX: u64 = 1 << 20;
pub(super) const IN_ORDER_BYTES_MAX: u64 = 4 << 20;
pub(super) const IN_FLIGHT_MAX: u64 = 128;

/// The levels of the cells.
static LEVELS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| cells(FILE).map(|cell| cell.level).collect());

/// Whether some cells are of this level.
pub(super) fn has(level: &str) -> bool {
    LEVELS.contains(level)
}

/// The class of such requests.
pub(super) fn class(is_random: bool, only_read: bool) -> &'static str {
    match (is_random, only_read) {
        (true, true) => RANDOM_READS,
        (true, false) => RANDOM_WRITES,
        (false, true) => READS_IN_ORDER,
        (false, false) => WRITES_IN_ORDER,
    }
}

/// Every cell as a level, and every two cells of one load as a pair.
pub(super) fn all() -> Vec<Pair> {
    pairs(FILE)
}

/// A line as a cell; its load is the name of the cell without the letter of its layout.
fn read(line: &str) -> Option<Cell<'_, &str>> {
    let columns: Vec<&str> = line.split(',').collect();
    let [cell, devices, kind, reads_percent, level, _chunk, kernel, ours] = columns[..] else {
        return None;
    };
    Some(Cell {
        load: cell.get(..cell.len().checked_sub(1)?)?,
        class: class(kind == "random", reads_percent == "100"),
        devices: Devices::parse(devices)?,
        level,
        kernel: kernel.parse().ok()?,
        ours: ours.parse().ok()?,
    })
}

fn cells(text: &str) -> impl Iterator<Item = Cell<'_, &str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| read(line).unwrap_or_else(|| panic!("{line} has eight columns")))
}

fn pairs(text: &str) -> Vec<Pair> {
    loads::pairs(TABLE, &cells(text).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_one_load_are_pairs() {
        let text = "# about\ncell,devices,kind,reads_percent,level,chunk_kib,kernel_mb_per_s,mb_per_s\n\
                    1a,disks,random,100,md-raid5,64,10,11\n1b,disks,random,100,md-raid5,128,20,33\n\
                    1c,disks,random,100,md-raid10,64,40,44\n2a,flash,sequential,0,md-raid5,64,5,5\n\
                    3a,flash,random,70,md-raid5,64,1,2\n";
        let all = pairs(text);
        let of = |class: &str, factor: &str| -> Vec<(f64, f64)> {
            let is = |pair: &&Pair| pair.class == class && pair.factor == factor;
            all.iter().filter(is).map(|pair| (pair.published, pair.simulated)).collect()
        };
        assert_eq!(of(RANDOM_READS, "volume.interleave of md-raid5"), [(2.0, 3.0)]);
        assert_eq!(of(RANDOM_READS, "volume.level"), [(4.0, 4.0), (2.0, 44.0 / 33.0)]);
        assert_eq!(of(RANDOM_WRITES, "level"), [(1.0, 2.0)]);
        assert_eq!(of(WRITES_IN_ORDER, "level"), [(5.0, 5.0)]);
        assert_eq!(all.len(), 8);
        assert_eq!(all.iter().filter(|pair| pair.devices == Devices::Flash).count(), 2);
    }

    #[test]
    fn a_level_without_cells_is_none_of_theirs() {
        assert!(has("md-raid10") && has("lvm-raid5"));
        assert!(!has("md-raid50") && !has("raidz"));
    }
}
