//! How far modelled cells lie from measured ones.

use super::play::engine_ns;
use super::{Cell, Modelled, play};
use crate::catalogue::Flash;
use crate::error::Result;
use serde::Serialize;
use sim::flash::{Fill, FlashSpec};
use std::collections::BTreeMap;

/// A cell as measured and as modelled.
#[derive(Clone, Debug)]
pub struct Judged {
    /// As measured.
    pub cell: Cell,
    /// As modelled.
    pub modelled: Modelled,
}

impl Judged {
    /// The error of the rate, as a fraction of the measured one.
    pub fn error(&self) -> f64 {
        (self.modelled.iops / self.cell.iops - 1.0).abs()
    }

    /// The modelled 99th percentile over the measured one.
    pub fn p99_ratio(&self) -> Option<f64> {
        self.cell.p99_us.filter(|p99| *p99 > 0.0).map(|p99| self.modelled.p99_us / p99)
    }
}

/// The group of all cells.
pub(super) const ALL: &str = "all";

/// The errors of the cells of one operation and size; as fractions.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Operation and size.
    pub group: String,
    /// How many cells.
    pub cells: usize,
    /// Errors of the rate.
    pub median_error: f64,
    /// Nine cells of ten lie below.
    pub p90_error: f64,
    /// The largest.
    pub max_error: f64,
    /// The median of the modelled 99th percentile over the measured one; none where it was not measured.
    pub p99_ratio: Option<f64>,
    /// Of the cells with a 99th percentile, how many are within a factor of 1.5.
    pub p99_within_half: Option<f64>,
    /// Of latencies at a load: in how many cells the model does not keep up with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<usize>,
    /// Of what is no grid of rates: which share of the cells is within 20 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_20_percent: Option<f64>,
}

/// Plays every cell to `drive`, in groups of one operation and size; all of them together are the last group.
///
/// # Errors
///
/// Where a cell does not fit the drive.
pub fn judge(drive: &Flash, cells: &[Cell]) -> Result<(Vec<Judged>, Vec<Group>)> {
    let spec = drive.spec()?;
    let measured_ns = drive.figures.measured_host_us.map(|us| (us * 1e3) as u64);
    let judged = cells.iter().map(|cell| {
        let own = measured_ns.filter(|_| cell.engine != "spdk");
        let host_ns = own.unwrap_or_else(|| engine_ns(&cell.engine));
        let spec = FlashSpec { fill: fill_of(cell, spec.fill), ..spec.clone() };
        Ok(Judged { cell: cell.clone(), modelled: play(&spec, cell, host_ns)? })
    });
    let judged = judged.collect::<Result<Vec<Judged>>>()?;
    let mut groups: BTreeMap<(&str, u32), Vec<&Judged>> = BTreeMap::new();
    for one in &judged {
        groups.entry((one.cell.operation(), one.cell.bytes)).or_default().push(one);
    }
    let mut rows: Vec<Group> = groups
        .into_iter()
        .map(|((operation, bytes), of)| group(format!("{operation} {bytes}"), &of))
        .collect();
    if rows.len() > 1 {
        rows.push(group(ALL.into(), &judged.iter().collect::<Vec<_>>()));
    }
    Ok((judged, rows))
}

/// How full the drive was in a cell: a data sheet says rates of several states.
fn fill_of(cell: &Cell, usual: Fill) -> Fill {
    match usual {
        _ if cell.steady => Fill::Steady,
        Fill::Steady if !cell.is_measured() => Fill::Random,
        usual => usual,
    }
}

/// Cells with these errors, as fractions of what was measured.
pub(super) fn errors_of(name: String, errors: impl Iterator<Item = f64>) -> Group {
    let mut errors: Vec<f64> = errors.collect();
    errors.sort_by(f64::total_cmp);
    let near = errors.iter().filter(|error| **error <= 0.2).count();
    Group {
        group: name,
        cells: errors.len(),
        median_error: quantile(&errors, 0.5),
        p90_error: quantile(&errors, 0.9),
        max_error: quantile(&errors, 1.0),
        p99_ratio: None,
        p99_within_half: None,
        behind: None,
        within_20_percent: Some(near as f64 / errors.len() as f64),
    }
}

fn group(name: String, judged: &[&Judged]) -> Group {
    let mut ratios: Vec<f64> = judged.iter().filter_map(|one| one.p99_ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    let within = ratios.iter().filter(|ratio| (1.0 / 1.5..=1.5).contains(*ratio)).count();
    let has = !ratios.is_empty();
    Group {
        within_20_percent: None,
        p99_ratio: has.then(|| quantile(&ratios, 0.5)),
        p99_within_half: has.then(|| within as f64 / ratios.len() as f64),
        ..errors_of(name, judged.iter().map(|one| one.error()))
    }
}

/// The quantile of sorted numbers, between two of them in proportion.
fn quantile(sorted: &[f64], at: f64) -> f64 {
    let place = at * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}
