//! Published numbers beside ours.

mod overview;

pub use overview::{Overview, OverviewRow};

use crate::cells::{self, CellSummary};
use crate::stats::{median, rank_correlation};
use crate::tables::figure;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use store::factor::Factors;
use store::known::{Cell, KnownHost};
use store::published::{Published, PublishedCell, includes};
use store::quantity::{Better, Quantity};
use store::quoted::Quoted;
use store::record::{Record, plain};

/// A published table beside a simulated one.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What is known of the factors.
    #[serde(skip)]
    pub factors: Factors,
    /// The published table.
    pub name: String,
    /// Where it was published.
    pub source: String,
    /// What our numbers rest on that was not published.
    pub inferred: Vec<String>,
    /// What was published beside it and is not re-run.
    pub not_modelled: Vec<String>,
    /// Every published cell.
    pub cells: Vec<ComparedCell>,
    /// All cells together, those that stand apart too: no failure is left out of the sum.
    pub summary: Summary,
    /// Each quantity's.
    pub groups: BTreeMap<String, Summary>,
}

/// One published number and ours.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCell {
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The workload.
    pub workload: String,
    /// What of it, and what it is summed up with: the workload's name, the table's own group, or `bonnie.putc_cpu` where the table has several of its samples.
    pub quantity: String,
    /// The unit of both numbers.
    pub unit: String,
    /// Which way is better, as of our sample: a share of the processor's time or a count is neither.
    pub better: Better,
    /// Theirs.
    pub published: Quoted,
    /// Ours; `None` where the experiment has no such cell.
    pub simulated: Option<f64>,
    /// Ours beside theirs as a share of the published number, or of the nearer end of a published range,
    /// with its sign; `None` where there is no such share.
    pub error: Option<f64>,
    /// Whether a constant of the model was fitted to this number, so that it is not a prediction.
    pub fitted: bool,
    /// Whether it is known not to be reproduced: its quantity is summed up without it, and it apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Whether another cell has the same number more exactly: it is summed up nowhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

/// A prediction farther than this from the published number, as a share, is said to be not reproduced:
/// it is what the project asks of a single number of a file system (docs/reproduction.md).
pub const REPRODUCED_WITHIN: f64 = 0.15;

/// How well numbers agree. Errors are shares of the published number, over cells that are not fitted.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Published numbers.
    pub cells: usize,
    /// Those to which a constant of the model was fitted.
    pub fitted_cells: usize,
    /// Those to which nothing was fitted, and that have a share by which ours are off.
    pub predicted_cells: usize,
    /// Of these, those farther off than [`REPRODUCED_WITHIN`].
    pub off_cells: usize,
    /// Of the fitted cells, those farther off: one constant cannot fit them all.
    pub off_fitted_cells: usize,
    /// Those that have no number of ours.
    pub missing_cells: usize,
    /// The median error of the predicted cells.
    pub median_error: Option<f64>,
    /// Their largest error.
    pub max_error: Option<f64>,
    /// Spearman's rank correlation, over all cells; `None` of numbers in several units.
    pub rank_correlation: Option<f64>,
    /// Where the best published number stands, where there is one to be called the best.
    pub best_published: Option<Map<String, Json>>,
    /// Where our best number stands.
    pub best_simulated: Option<Map<String, Json>>,
    /// How much our number where theirs is best is behind our best, as a share of our best: what a reader loses who
    /// believes the other of the two.
    pub best_behind: Option<f64>,
    /// What is known of the factors.
    #[serde(skip)]
    pub factors: Factors,
}

impl ComparedCell {
    /// Whether there is a number to compare with that no other cell has.
    fn counts(&self) -> bool {
        self.published != Quoted::Nothing && !self.repeats
    }

    fn is_off(&self) -> bool {
        self.error.is_some_and(|error| error.abs() > REPRODUCED_WITHIN)
    }

    /// By how much ours is beside theirs, in words: a share, or where that is none, in its unit.
    pub fn error_words(&self) -> String {
        let signed = |number: f64, text: String| {
            let sign = if number < 0.0 { '-' } else { '+' };
            let is_some = text.contains(|c| ('1'..='9').contains(&c));
            if is_some { format!("{sign}{text}") } else { text }
        };
        let Some(ours) = self.simulated else { return String::new() };
        match (self.error, self.published.difference(ours)) {
            (Some(error), _) => signed(error, format!("{:.1} %", 100.0 * error.abs())),
            (None, Some(by)) => signed(by, format!("{} {}", figure(by.abs()), self.unit)),
            (None, None) => String::new(),
        }
    }

    /// What is to be known beside the numbers.
    pub fn remark(&self) -> &'static str {
        match self.simulated {
            None => "not simulated",
            Some(_) if self.repeats => "said twice",
            Some(_) if self.apart => "apart",
            Some(_) if self.fitted => "fitted",
            Some(_) => "",
        }
    }
}

impl Comparison {
    /// `published` beside the records of its experiment, which ran on these hosts and RAID controllers.
    pub fn new<'a>(
        published: &Published,
        hosts: impl Iterator<Item = &'a KnownHost>,
        records: &[Record],
    ) -> Self {
        let fitted: Vec<&Cell> = hosts.flat_map(|host| &host.fitted).collect();
        let simulated = cells::unordered(&published.factors, records);
        let cells: Vec<ComparedCell> = published
            .cells
            .iter()
            .map(|cell| compare(published, cell, &simulated, &fitted))
            .collect();
        let mut groups: BTreeMap<String, Vec<&ComparedCell>> = BTreeMap::new();
        for cell in &cells {
            groups.entry(cell.quantity.clone()).or_default().push(cell);
        }
        let factors = &published.factors;
        Comparison {
            factors: factors.clone(),
            name: published.name.clone(),
            source: published.source.clone(),
            inferred: published.inferred.clone(),
            not_modelled: published.not_modelled.clone(),
            summary: Summary::of(&cells.iter().collect::<Vec<_>>(), factors),
            groups: groups
                .into_iter()
                .map(|(name, cells)| (name, Summary::of(&cells, factors)))
                .collect(),
            cells,
        }
    }

    /// The quantities in the order of the table, each with its summary.
    pub fn quantities(&self) -> Vec<(&str, &Summary)> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !names.contains(&cell.quantity.as_str()) {
                names.push(&cell.quantity);
            }
        }
        names.into_iter().map(|name| (name, &self.groups[name])).collect()
    }
}

/// Whether a constant, or an input of the experiment, was fitted to this cell of `table`.
pub fn is_fitted(table: &str, cell: &PublishedCell, fitted: &[&Cell]) -> bool {
    let by_host = fitted.iter().any(|to| {
        to.table == table
            && to.workload == cell.workload
            && to.has_sample(&cell.sample)
            && picks(&to.at, &cell.at)
    });
    cell.fitted || by_host
}

fn compare(
    table: &Published,
    cell: &PublishedCell,
    simulated: &[CellSummary<'_>],
    fitted: &[&Cell],
) -> ComparedCell {
    let run = || {
        let ours =
            simulated.iter().find(|o| o.workload == cell.trial && includes(o.at, &cell.at))?;
        Some(ours.measured(&cell.sample)? * cell.per_sample)
    };
    let simulated = cell.computed.or_else(run);
    let of_workload = table.cells.iter().filter(|other| other.workload == cell.workload);
    let several = of_workload.map(|other| &other.sample).any(|sample| *sample != cell.sample);
    ComparedCell {
        at: cell.at.clone(),
        workload: cell.workload.clone(),
        quantity: match &cell.group {
            Some(group) => group.clone(),
            None if several => format!("{}.{}", cell.workload, cell.sample),
            None => cell.workload.clone(),
        },
        unit: cell.unit.clone(),
        better: Quantity::named(&cell.trial, &cell.sample).better,
        published: cell.published,
        simulated,
        error: simulated.and_then(|ours| cell.published.error(ours)),
        fitted: is_fitted(&table.name, cell, fitted),
        apart: cell.apart,
        repeats: cell.repeats,
    }
}

/// Whether a fitted figure names this cell. It names values as they are written.
fn picks(wanted: &BTreeMap<String, String>, at: &Map<String, Json>) -> bool {
    wanted.iter().all(|(path, word)| at.get(path).is_some_and(|value| plain(value) == *word))
}

impl Summary {
    /// Of these cells.
    fn of(cells: &[&ComparedCell], factors: &Factors) -> Self {
        let cells: Vec<&ComparedCell> =
            cells.iter().copied().filter(|cell| cell.counts()).collect();
        let predicted = cells.iter().filter(|cell| !cell.fitted);
        let errors: Vec<f64> = predicted.filter_map(|cell| Some(cell.error?.abs())).collect();
        let count = |of: fn(&ComparedCell) -> bool| cells.iter().filter(|cell| of(cell)).count();
        let comparable = cells.windows(2).all(|pair| pair[0].unit == pair[1].unit);
        let both: Vec<Pair<'_>> = cells.iter().filter_map(|cell| Pair::of(cell)).collect();
        let (theirs, ours): (Vec<f64>, Vec<f64>) =
            both.iter().map(|pair| (pair.theirs, pair.ours)).unzip();
        let best = Some(()).filter(|()| comparable).and_then(|()| best(&both));
        let best_behind = best.as_ref().map(|(theirs, ours)| behind(theirs.ours, ours.ours));
        let at = |pair: &Pair<'_>| pair.cell.at.clone();
        let (best_published, best_simulated) =
            best.map(|(theirs, ours)| (at(theirs), at(ours))).unzip();
        Summary {
            factors: factors.clone(),
            cells: cells.len(),
            fitted_cells: count(|cell| cell.fitted),
            predicted_cells: errors.len(),
            off_cells: count(|cell| !cell.fitted && cell.is_off()),
            off_fitted_cells: count(|cell| cell.fitted && cell.is_off()),
            missing_cells: count(|cell| cell.simulated.is_none()),
            median_error: median(&errors),
            max_error: errors.iter().copied().reduce(f64::max),
            rank_correlation: comparable.then(|| rank_correlation(&theirs, &ours)).flatten(),
            best_published,
            best_simulated,
            best_behind,
        }
    }
}

/// How far `number` is from `best`, as a share of it.
fn behind(number: f64, best: f64) -> f64 {
    if best == 0.0 { 0.0 } else { (1.0 - number / best).abs() }
}

/// A cell with both numbers.
struct Pair<'a> {
    cell: &'a ComparedCell,
    theirs: f64,
    ours: f64,
}

impl<'a> Pair<'a> {
    fn of(cell: &'a ComparedCell) -> Option<Self> {
        Some(Pair { cell, theirs: cell.published.middle()?, ours: cell.simulated? })
    }
}

/// The cells with the best published number and with our best one. Where theirs is published several times, and
/// ours stands at one of them, it is that. `None` where all cells stand at one place, or where they have
/// no side in common that is the better one.
fn best<'a, 'b>(both: &'b [Pair<'a>]) -> Option<(&'b Pair<'a>, &'b Pair<'a>)> {
    if both.windows(2).all(|pair| pair[0].cell.at == pair[1].cell.at) {
        return None;
    }
    let better = both[0].cell.better;
    if both.iter().any(|pair| pair.cell.better != better) {
        return None;
    }
    let sign = match better {
        Better::Lower => 1.0,
        Better::Higher => -1.0,
        Better::Neither => return None,
    };
    let least = |number: fn(&Pair<'_>) -> f64| {
        both.iter().min_by(|a, b| (sign * number(a)).total_cmp(&(sign * number(b))))
    };
    let (published, simulated) = (least(|pair| pair.theirs)?, least(|pair| pair.ours)?);
    let same = published.theirs.total_cmp(&simulated.theirs).is_eq();
    let published = if same { simulated } else { published };
    Some((published, simulated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::published::{find, names};

    fn published(cells: &[(&str, &str, u64, f64)]) -> Published {
        let cell =
            |&(workload, sample, interleave, number): &(&str, &str, u64, f64)| PublishedCell {
                at: Map::from_iter([("volume.interleave".into(), interleave.into())]),
                workload: workload.into(),
                sample: sample.into(),
                unit: Quantity::named(workload, sample).unit,
                per_sample: 1.0,
                published: Quoted::Number(number),
                computed: None,
                trial: workload.into(),
                group: None,
                fitted: false,
                apart: false,
                repeats: false,
            };
        Published {
            name: "mine-2001".into(),
            source: String::new(),
            experiment: String::new(),
            inferred: Vec::new(),
            not_modelled: vec!["the other half".into()],
            factors: Factors::default(),
            cells: cells.iter().map(cell).collect(),
        }
    }

    fn record(workload: &str, interleave: u64, samples: &[(&str, f64)]) -> Record {
        Record {
            trial: 0,
            at: Map::from_iter([("volume.interleave".into(), interleave.into())]),
            workload: workload.into(),
            repeat: 0,
            samples: samples.iter().copied().collect(),
            member_busy: Vec::new(),
            requests: 0,
            latency_hdr: String::new(),
            series: None,
            commands: Vec::new(),
            curve: Vec::new(),
            window: None,
            note: String::new(),
        }
    }

    #[test]
    fn a_cell_without_a_number_of_ours_is_not_dropped() {
        let table = published(&[
            ("read", "mb_per_s", 8, 10.0),
            ("read", "mb_per_s", 16, 20.0),
            ("read", "mb_per_s", 32, 30.0),
        ]);
        // Of 16 nothing was run, and of 32 the sample was not measured.
        let records = [record("read", 8, &[("mb_per_s", 11.0)]), record("read", 32, &[])];
        let compared = Comparison::new(&table, std::iter::empty(), &records);
        let ours: Vec<Option<f64>> = compared.cells.iter().map(|cell| cell.simulated).collect();
        assert_eq!(ours, [Some(11.0), None, None]);
        let Summary { cells, missing_cells, predicted_cells, .. } = compared.summary;
        assert_eq!((cells, missing_cells, predicted_cells), (3, 2, 1));
        assert_eq!(compared.cells[1].remark(), "not simulated");
        let overview = Overview::new(&[compared]);
        let text = overview.text();
        for says in [
            "2 missing",
            "2 published cells were not simulated",
            "mine-2001, not modelled: the other half",
        ] {
            assert!(text.contains(says), "{says}: {text}");
        }
    }

    #[test]
    fn where_nothing_was_published_there_is_no_share() {
        let table = published(&[("rm", "rm_s", 8, 0.0), ("rm", "rm_s", 16, 0.0)]);
        let records = [record("rm", 8, &[("rm_s", 0.0)]), record("rm", 16, &[("rm_s", 0.25)])];
        let compared = Comparison::new(&table, std::iter::empty(), &records);
        let words: Vec<String> = compared.cells.iter().map(ComparedCell::error_words).collect();
        assert_eq!(words, ["0.0 %", "+0.250 s"]);
        assert_eq!(compared.summary.predicted_cells, 1);
    }

    #[test]
    fn samples_of_a_workload_are_told_apart_and_the_best_goes_by_the_sample() {
        let table = published(&[
            ("work", "read_mb_per_s", 8, 10.0),
            ("work", "read_mb_per_s", 16, 20.0),
            ("work", "rm_s", 8, 3.0),
            ("work", "rm_s", 16, 4.0),
        ]);
        let records = [
            record("work", 8, &[("read_mb_per_s", 15.0), ("rm_s", 3.3)]),
            record("work", 16, &[("read_mb_per_s", 14.0), ("rm_s", 4.0)]),
        ];
        let compared = Comparison::new(&table, std::iter::empty(), &records);
        let names: Vec<&str> = compared.quantities().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["work.read_mb_per_s", "work.rm_s"]);
        let best =
            |at: &Option<Map<String, Json>>| at.as_ref().unwrap()["volume.interleave"].clone();
        let read = &compared.groups["work.read_mb_per_s"];
        assert_eq!((best(&read.best_published), best(&read.best_simulated)), (16.into(), 8.into()));
        assert_eq!((read.off_cells, read.predicted_cells), (2, 2));
        assert_eq!(read.best_behind, Some(1.0 - 14.0 / 15.0), "16 is best in print");
        let rm = &compared.groups["work.rm_s"];
        assert_eq!((best(&rm.best_published), best(&rm.best_simulated)), (8.into(), 8.into()));
        assert_eq!((rm.rank_correlation, rm.best_behind), (Some(1.0), Some(0.0)));
        // Seconds and MB/s have no order in common.
        assert_eq!(
            (&compared.summary.best_published, compared.summary.rank_correlation),
            (&None, None)
        );
    }

    /// The least share of the processor's time and the fewest writes are no merit, but are held against
    /// ours like all else.
    #[test]
    fn a_diagnosis_has_no_best() {
        let samples = ["touch_s", "touch_cpu", "touch_writes"];
        let cells = samples.map(|sample| [(sample, 8, 10.0), (sample, 16, 20.0)]).concat();
        let cells: Vec<_> = cells.iter().map(|&(s, i, n)| ("touch", s, i, n)).collect();
        let ours = |number: f64| samples.map(|sample| (sample, number));
        let records = [record("touch", 8, &ours(11.0)), record("touch", 16, &ours(30.0))];
        let compared = Comparison::new(&published(&cells), std::iter::empty(), &records);
        for (sample, has_best) in samples.into_iter().zip([true, false, false]) {
            let of = &compared.groups[&format!("touch.{sample}")];
            let best = [&of.best_published, &of.best_simulated];
            assert_eq!(best.map(Option::is_some), [has_best; 2], "{sample}");
            assert_eq!(of.columns()[5], if has_best { "8" } else { "-" }, "the overview's column");
            assert_eq!((of.predicted_cells, of.off_cells, of.rank_correlation), (2, 1, Some(1.0)));
        }
    }

    /// Where our sample has a better side, the unit that was published says the same.
    #[test]
    fn samples_and_units_of_published_tables_agree() {
        for cell in names().into_iter().flat_map(|name| find(name).unwrap().cells) {
            let ours = Quantity::named(&cell.trial, &cell.sample).better;
            let theirs = store::sample::better_in(&cell.unit);
            assert!(
                ours == Better::Neither || Some(ours) == theirs,
                "{}, {}",
                cell.sample,
                cell.unit
            );
        }
    }

    /// The sum of a table and that of all tables leave no failure out.
    #[test]
    fn what_stands_apart_counts_in_every_sum() {
        let mut table = published(&[
            ("read", "mb_per_s", 8, 10.0),
            ("read", "mb_per_s", 16, 10.0),
            ("rm", "rm_s", 8, 3.0),
        ]);
        table.cells[1].apart = true;
        table.cells[1].group = Some("read, apart".into());
        let records = [
            record("read", 8, &[("mb_per_s", 10.0)]),
            record("read", 16, &[("mb_per_s", 90.0)]),
            record("rm", 8, &[("rm_s", 3.0)]),
        ];
        let compared = Comparison::new(&table, std::iter::empty(), &records);
        let counts = |of: &Summary| (of.cells, of.off_cells);
        assert_eq!(counts(&compared.groups["read"]), (1, 0));
        assert_eq!(counts(&compared.summary), (3, 1));
        let overview = Overview::new(&[compared]);
        assert_eq!((counts(&overview.all), counts(&overview.rows[3].summary)), ((3, 1), (3, 1)));
    }
}
