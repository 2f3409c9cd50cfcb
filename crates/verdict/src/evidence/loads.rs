//! Loads that were measured on several layouts each, on the real kernel and on ours: every cell, and every two of one load.

use super::Pair;
use super::pair::{Devices, LEVEL};

/// What a load had on a layout.
pub(super) struct Cell<'a, Load> {
    /// Cells of equal loads differ in their layouts alone.
    pub(super) load: Load,
    pub(super) class: &'static str,
    pub(super) devices: Devices,
    pub(super) level: &'a str,
    pub(super) kernel: f64,
    pub(super) ours: f64,
}

/// What two layouts of these levels differ in.
fn factor(first: &str, second: &str) -> String {
    if first == second { format!("volume.interleave of {second}") } else { "volume.level".into() }
}

/// Every cell as a level, and every two cells of one load as a pair.
pub(super) fn pairs<Load: PartialEq>(table: &str, cells: &[Cell<'_, Load>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (place, second) in cells.iter().enumerate() {
        let pair = |factor: String, published: f64, simulated: f64| Pair {
            class: second.class.into(),
            table: table.into(),
            factor,
            published,
            simulated,
            devices: second.devices,
        };
        pairs.push(pair(LEVEL.into(), second.kernel, second.ours));
        for first in cells[..place].iter().filter(|first| first.load == second.load) {
            let factor = factor(first.level, second.level);
            pairs.push(pair(factor, second.kernel / first.kernel, second.ours / first.ours));
        }
    }
    pairs
}
