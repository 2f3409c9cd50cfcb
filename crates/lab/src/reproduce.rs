//! Published numbers beside ours.

use crate::catalogue;
use crate::error::Result;
use crate::experiment::{Experiment, Plan};
use crate::published::{Published, PublishedCell, Quoted};
use crate::record::{Record, plain};
use crate::stats::{median, rank_correlation};
use crate::why::{self, CellSummary};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A published table beside a simulated one.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The published table.
    pub name: String,
    /// Where it was published.
    pub source: String,
    /// What our numbers rest on that was not published.
    pub inferred: Vec<String>,
    /// Cell by cell.
    pub cells: Vec<ComparedCell>,
    /// All cells together, but for those that stand apart.
    pub summary: Summary,
    /// Each workload's, or each group's where the table makes groups.
    pub groups: BTreeMap<String, Summary>,
}

/// One published number and ours.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCell {
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The workload.
    pub workload: String,
    /// The unit of both numbers.
    pub unit: String,
    /// Theirs.
    pub published: Quoted,
    /// Ours.
    pub simulated: f64,
    /// Whether a constant of the model was fitted to this number, so that it is no prediction.
    pub fitted: bool,
    /// Whether it is known not to be reproduced: it is summed up apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// What it is summed up with.
    #[serde(skip)]
    pub group: String,
    /// Whether a larger number is better.
    #[serde(skip)]
    pub larger_is_better: bool,
}

/// How well numbers agree. Errors are shares of the published number, over cells that are not fitted.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Cells.
    pub cells: usize,
    /// Those to which nothing was fitted.
    pub predicted_cells: usize,
    /// The median error of the predicted cells.
    pub median_error: Option<f64>,
    /// Their largest error.
    pub max_error: Option<f64>,
    /// Spearman's rank correlation, over all cells.
    pub rank_correlation: Option<f64>,
    /// Where the best published number stands.
    pub best_published: Option<Map<String, Json>>,
    /// Where our best number stands.
    pub best_simulated: Option<Map<String, Json>>,
}

impl ComparedCell {
    /// The error as a share of the published number, or of the nearer end of a published range, with
    /// its sign.
    pub fn error(&self) -> Option<f64> {
        self.published.error(self.simulated)
    }
}

impl Comparison {
    /// `published` beside the records of its experiment.
    ///
    /// # Errors
    ///
    /// Where the plan's hosts or drives are no longer there.
    pub fn new(published: &Published, plan: &Plan, records: &[Record]) -> Result<Self> {
        let fitted = fitted_cells(plan)?;
        let simulated = why::cells(records, &[]);
        let cells: Vec<ComparedCell> = published
            .cells
            .iter()
            .filter_map(|cell| compare(&published.name, cell, &simulated, &fitted))
            .collect();
        let mut groups: BTreeMap<String, Vec<&ComparedCell>> = BTreeMap::new();
        for cell in &cells {
            groups.entry(cell.group.clone()).or_default().push(cell);
        }
        Ok(Comparison {
            name: published.name.clone(),
            source: published.source.clone(),
            inferred: published.inferred.clone(),
            summary: Summary::of(&cells.iter().filter(|cell| !cell.apart).collect::<Vec<_>>()),
            groups: groups.into_iter().map(|(name, cells)| (name, Summary::of(&cells))).collect(),
            cells,
        })
    }
}

/// What was fitted to which cell, over all hosts of the plan.
fn fitted_cells(plan: &Plan) -> Result<Vec<catalogue::Fitted>> {
    let mut fitted = Vec::new();
    for name in plan.hosts.keys() {
        fitted.extend(catalogue::host(name)?.fitted().iter().cloned());
    }
    Ok(fitted)
}

fn compare(
    table: &str,
    cell: &PublishedCell,
    simulated: &[CellSummary<'_>],
    fitted: &[catalogue::Fitted],
) -> Option<ComparedCell> {
    let run = || {
        let ours =
            simulated.iter().find(|o| o.workload == cell.trial && includes(o.at, &cell.at))?;
        Some(ours.median(&cell.sample) * cell.per_sample)
    };
    let simulated = cell.computed.or_else(run)?;
    let of_host = fitted.iter().any(|fitted| {
        let to = &fitted.cell;
        to.table == table && to.workload == cell.workload && picks(&to.at, &cell.at)
    });
    Some(ComparedCell {
        at: cell.at.clone(),
        workload: cell.workload.clone(),
        unit: cell.unit.clone(),
        published: cell.published,
        simulated,
        fitted: cell.fitted || of_host,
        apart: cell.apart,
        group: cell.group.clone(),
        larger_is_better: cell.larger_is_better(),
    })
}

/// Whether `at` has every value that `wanted` names.
pub fn includes(at: &Map<String, Json>, wanted: &Map<String, Json>) -> bool {
    wanted.iter().all(|(path, value)| at.get(path) == Some(value))
}

/// Whether a fitted figure names this cell. It names values as they are written.
fn picks(wanted: &BTreeMap<String, String>, at: &Map<String, Json>) -> bool {
    wanted.iter().all(|(path, word)| at.get(path).is_some_and(|value| plain(value) == *word))
}

impl Summary {
    fn of(cells: &[&ComparedCell]) -> Self {
        let cells: Vec<&ComparedCell> =
            cells.iter().copied().filter(|cell| cell.error().is_some()).collect();
        let predicted = cells.iter().filter(|cell| !cell.fitted);
        let errors: Vec<f64> = predicted.filter_map(|cell| cell.error().map(f64::abs)).collect();
        let theirs = |cell: &ComparedCell| cell.published.middle().unwrap_or(0.0);
        let (published, simulated): (Vec<f64>, Vec<f64>) =
            cells.iter().map(|cell| (theirs(cell), cell.simulated)).unzip();
        Summary {
            cells: cells.len(),
            predicted_cells: errors.len(),
            median_error: median(&errors),
            max_error: errors.iter().copied().reduce(f64::max),
            rank_correlation: rank_correlation(&published, &simulated),
            best_published: best(&cells, theirs),
            best_simulated: best(&cells, |cell| cell.simulated),
        }
    }
}

/// Where the best number stands.
fn best(
    cells: &[&ComparedCell],
    number: impl Fn(&ComparedCell) -> f64,
) -> Option<Map<String, Json>> {
    let goodness =
        |cell: &ComparedCell| if cell.larger_is_better { number(cell) } else { -number(cell) };
    let best = cells.iter().max_by(|a, b| goodness(a).total_cmp(&goodness(b)))?;
    Some(best.at.clone())
}

/// The plan and records' experiment of a published table.
///
/// # Errors
///
/// Where its experiment is damaged.
pub fn plan(published: &Published) -> Result<Plan> {
    let origin = format!("experiments/{}.toml", published.name);
    Plan::new(&Experiment::parse(&origin, &published.experiment)?)
}
