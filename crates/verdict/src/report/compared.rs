//! Two results directories, cell by cell.

mod cells;
mod models;
mod noise;
mod order;

pub use models::Model;

use crate::cells::CellSummary;
use crate::stats::compare::{Paired, paired, unpaired};
use crate::stats::{Interval, median};
use crate::tables::{figure, paragraphs, table, times};
use cells::{alone, are_same, in_order, is_it, only_in};
use models::Models;
use noise::{Side, fill_intervals, noise_of};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::factor::Factors;
use store::quantity::{Better, Quantity};
use store::record::{Record, plain};
use store::words::counted;
use store::{Apart, Manifest, Results};

/// Two results directories side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What is known of the factors.
    #[serde(skip)]
    factors: Factors,
    /// Whether `--repeat` repeats them: what others measured they have to repeat.
    #[serde(skip)]
    can_repeat: bool,
    /// What the first is called.
    pub first: String,
    /// What the second is called.
    pub second: String,
    /// The settings that they do not have in common and that no factor is, a sentence each.
    pub apart: Vec<String>,
    /// The cells that both have.
    pub cells: Vec<ComparedCell>,
    /// Cells that only one of them has.
    pub alone: usize,
    /// Those of the first, in words.
    pub alone_in_first: Vec<String>,
    /// Those of the second.
    pub alone_in_second: Vec<String>,
    /// Whether all that was measured is the same, to the last digit, and so are the settings.
    pub is_same: bool,
    /// All cells together, the second ÷ the first, where they measure the same thing: the mean of times and
    /// rates would say nothing.
    pub all: Option<Paired>,
    /// Spearman's rank correlation of the two, over the cells of each workload where there are enough of them. Cells
    /// within each other's noise tie.
    pub rank_correlation: Vec<(String, f64)>,
}

/// One cell in both.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCell {
    /// The factors' values.
    pub at: Map<String, Json>,
    /// The workload.
    pub workload: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The first's median.
    pub first: f64,
    /// The second's.
    pub second: f64,
    /// The second ÷ the first: of the geometric means where its interval is of those, and otherwise of the
    /// medians.
    pub ratio: f64,
    /// Its 95 % interval, where anything says how wide it is.
    pub interval: Option<Interval>,
    /// What the interval is drawn from.
    pub judged: Judged,
    /// Whose model's error is in the interval.
    pub model: Model,
    /// How large that is, as a share; infinite where the model is no guide.
    pub model_error: f64,
    /// Trials of the first, and of the second.
    #[serde(skip)]
    trials: [usize; 2],
}

/// What the interval of a cell is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// Its trials, in pairs of the same seed: Student's paired test, on logarithms.
    Paired,
    /// Its trials, those of either side by themselves: Welch's, on logarithms.
    Unpaired,
    /// What other cells and the model say, for it was tried once; or nothing, where they do not.
    Others,
}

/// Settings that are named where two runs do not have them in common.
const APART_MAX: usize = 5;

/// What tells the settings of two runs apart, a line each; a factor has its columns.
fn apart(first: &Results, second: &Results, known: &Factors) -> Vec<String> {
    // What was published or imported has none.
    if [first, second].iter().any(|of| of.manifest.experiment.is_empty()) {
        return Vec::new();
    }
    let varies = |of: &Results, key: &str| of.records.iter().any(|one| one.at.contains_key(key));
    let mut all = first.manifest.settings_apart(&second.manifest);
    all.retain(|Apart { key, .. }| {
        let is_said = ["name", "about", "workloads"].contains(&key.as_str());
        !(is_said || varies(first, key) && varies(second, key))
    });
    let more = all.len().saturating_sub(APART_MAX);
    let said = all.iter().take(APART_MAX).map(|Apart { key, first, second }| {
        let [first, second] = [first, second].map(|value| in_words(known, key, value.as_ref()));
        format!("{key}: {first} in the first, {second} in the second")
    });
    let rest = (more > 0).then(|| format!("and {more} more settings differ"));
    said.chain(rest).chain(doubts(first, second)).collect()
}

/// What makes the figures of one of the two doubtful, and not those of the other.
fn doubts(first: &Results, second: &Results) -> Vec<String> {
    let of = |one: &Results, other: &Results, which: &str| -> Vec<String> {
        let others = &other.manifest.doubts;
        let own = one.manifest.doubts.iter().filter(|doubt| !others.contains(doubt));
        own.map(|doubt| format!("doubt of the {which}: {doubt}")).collect()
    };
    [of(first, second, "first"), of(second, first, "second")].concat()
}

/// A setting as people write it, where it is `known` what it is: a time is kept in nanoseconds, and a size in sectors.
fn in_words(known: &Factors, key: &str, value: Option<&toml::Value>) -> String {
    let one = |value: &toml::Value| match value.as_integer() {
        Some(number) => known.with_unit(key, &Json::from(number)),
        None => Apart::in_words(Some(value)),
    };
    match value {
        Some(toml::Value::Array(all)) => all.iter().map(one).collect::<Vec<_>>().join(", "),
        Some(value) => one(value),
        None => Apart::in_words(None),
    }
}

impl Compared {
    /// `first` beside `second`.
    pub fn new(first: &Results, second: &Results) -> Self {
        Compared::knowing(first, second, &Factors::default())
    }

    /// The same where it is `known` how the values of their settings are written.
    pub fn knowing(first: &Results, second: &Results, known: &Factors) -> Self {
        let [ours, theirs] = [first, second].map(in_order);
        let models = Models::of(first, second);
        let same_luck = have_same_luck(&first.manifest, &second.manifest);
        let said = [first, second].map(|results| results.manifest.settings());
        let mut cells = Vec::new();
        let mut in_both: Vec<[&CellSummary<'_>; 2]> = Vec::new();
        for cell in &ours {
            // A factor that only one of them varies leaves several cells for one, and none to compare with.
            let Some(other) = only(&theirs, |other| is_same(cell, other, &said)) else { continue };
            if only(&ours, |cell| is_same(cell, other, &said)).is_some() {
                in_both.push([cell, other]);
                let in_pairs = same_luck && repeats(cell) == repeats(other);
                let model = models.between(cell, other);
                let of = judged(&first.manifest, cell);
                let compared = of.iter().map(|of| compare(of, cell, other, in_pairs, model));
                cells.extend(compared.flatten());
            }
        }
        let sides: [Side<'_, '_>; 2] = [(first, &ours), (second, &theirs)];
        fill_intervals(&mut cells, sides);
        let alike = cells.windows(2).all(|two| two[0].unit == two[1].unit);
        let noises = sides.map(|side| noise_of(&[side]));
        Compared {
            factors: first.manifest.factors.clone(),
            first: format!("{} on {}", first.manifest.name, first.manifest.rig),
            second: format!("{} on {}", second.manifest.name, second.manifest.rig),
            is_same: are_same(first, second),
            apart: apart(first, second, known),
            can_repeat: [first, second].iter().all(|of| of.manifest.imported.is_none()),
            alone: ours.len() + theirs.len() - 2 * in_both.len(),
            alone_in_first: alone(&ours, |cell| in_both.iter().any(|[own, _]| is_it(own, cell))),
            alone_in_second: alone(&theirs, |cell| in_both.iter().any(|[_, own]| is_it(own, cell))),
            all: together(&cells).filter(|_| alike),
            rank_correlation: order::correlations(&cells, noises),
            cells,
        }
    }

    /// The answer, the table, and how it was judged.
    pub fn text(&self) -> String {
        let answer = if self.cells.is_empty() { Vec::new() } else { vec![self.answer()] };
        let mut text = paragraphs(&answer);
        writeln!(text, "first: {}; second: {}", self.first, self.second).expect("a string grows");
        for sentence in &self.apart {
            writeln!(text, "  {sentence}").expect("a string grows");
        }
        text.push('\n');
        if self.cells.is_empty() {
            return text
                + "Nothing to compare: the runs share no workload with the same factor values.\n";
        }
        let mut paths: Vec<&String> = Vec::new();
        for path in self.cells.iter().flat_map(|cell| cell.at.keys()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let mut header = vec!["workload".to_string()];
        header.extend(paths.iter().map(|path| store::record::short_key(path).to_string()));
        let words = header.len();
        header.extend(["first", "second", "unit", "change", "95 % interval", ""].map(String::from));
        let mut rows = table(&header, words);
        for cell in &self.cells {
            let mut row = vec![cell.workload.clone()];
            let value = |path: &&String| {
                cell.at.get(*path).map(|value| self.factors.with_unit(path, value))
            };
            row.extend(paths.iter().map(|path| value(path).unwrap_or_default()));
            let interval =
                cell.interval.map(|i| format!("{} to {}", change(i.low), change(i.high)));
            row.extend([
                figure(cell.first),
                figure(cell.second),
                cell.unit.clone(),
                change(cell.ratio),
                interval.unwrap_or_default(),
                cell.standing().into(),
            ]);
            rows.add_row(row);
        }
        write!(text, "{rows}\n\n").expect("a string grows");
        for (which, cells) in [("first", &self.alone_in_first), ("second", &self.alone_in_second)] {
            if !cells.is_empty() {
                text += &paragraphs(&[only_in(which, cells)]);
            }
        }
        for (workload, rank) in &self.rank_correlation {
            writeln!(text, "{workload}: rank correlation {rank:.2}").expect("a string grows");
        }
        text + &paragraphs(&[self.how()])
    }

    /// What the intervals are drawn from.
    fn how(&self) -> String {
        let count = |wanted| self.cells.iter().filter(|cell| cell.judged == wanted).count();
        let ways = [
            (Judged::Paired, "from pairs of trials with the same seed"),
            (Judged::Unpaired, "from unpaired trials"),
            (Judged::Others, "from the model error and the repeats of other cells, if any"),
        ];
        let ways = ways.iter().map(|(judged, words)| (count(*judged), words));
        let ways: Vec<String> = ways
            .filter(|(cells, _)| *cells > 0)
            .map(|(cells, words)| {
                if cells == self.cells.len() {
                    (*words).into()
                } else {
                    format!("{words} in {cells}")
                }
            })
            .collect();
        let own = self.cells.iter().any(|cell| cell.judged != Judged::Others);
        let of = if own {
            " Changes are ratios of geometric means; the other columns are medians."
        } else {
            ""
        };
        format!("Intervals are {}.{}{of}", ways.join(", "), self.models())
    }

    /// What of the intervals is the model's error, where one is modelled.
    fn models(&self) -> String {
        let kinds = [Model::Same, Model::Settings, Model::One, Model::Apart];
        let said = kinds.into_iter().filter_map(|kind| {
            let mut of = self.cells.iter().filter(|cell| cell.model == kind);
            let error = of.next()?.model_error;
            let cells = 1 + of.count();
            let all = self.cells.len();
            let of_some = (cells < all).then(|| format!("In {cells} of {all} cells"));
            Some(format!(" {}.", kind.words(error, of_some.as_deref())))
        });
        said.collect()
    }

    /// The answer.
    pub fn answer(&self) -> String {
        let count = |wanted: &str| self.cells.iter().filter(|c| c.standing() == wanted).count();
        let (better, worse, ties) = (count("better"), count("worse"), count("tie"));
        let (other, unknown) = (count("other"), count(""));
        if self.is_same {
            let cells = counted(self.cells.len(), "cell");
            return format!(
                "The two runs are the same: every value of {cells} is equal to the last digit."
            );
        }
        let mut answer = format!(
            "The second is better in {better} of {}, worse in {worse}; {ties} show no reliable difference.",
            counted(self.cells.len(), "cell")
        );
        if other > 0 {
            write!(answer, " {other} differ in a metric that has no better direction.")
                .expect("a string grows");
        }
        if unknown > 0 {
            let next = if self.can_repeat { "add `--repeat 3`" } else { "repeat the runs" };
            write!(answer, " No noise estimate for {unknown}: {next}.").expect("a string grows");
        }
        if let Some(all) = self.all.filter(|all| all.pairs > 2) {
            write!(
                answer,
                " Over all cells, second ÷ first is {} ({}–{}).",
                figure(all.ratio),
                figure(all.interval.low),
                figure(all.interval.high)
            )
            .expect("a string grows");
        }
        answer
    }
}

impl ComparedCell {
    /// How the second stands to the first.
    pub fn standing(&self) -> &'static str {
        let Some(interval) = self.interval else { return "" };
        let up = interval.low > 1.0;
        if !up && interval.high >= 1.0 {
            return "tie";
        }
        match (self.better, up) {
            (Better::Neither, _) => "other",
            (Better::Higher, true) | (Better::Lower, false) => "better",
            _ => "worse",
        }
    }
}

/// A ratio as a change: `+12.0 %`, above 2 `3.4 times`.
fn change(ratio: f64) -> String {
    match ratio {
        ratio if ratio.is_infinite() => "from 0".into(),
        ratio if ratio > 2.0 => times(ratio),
        ratio => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
    }
}

/// Whether they are the same cell: every factor of either has the same value in the other, be it varied there or one
/// of its settings, as far as it says.
fn is_same(a: &CellSummary<'_>, b: &CellSummary<'_>, said: &[toml::Table; 2]) -> bool {
    let value = |cell: &CellSummary<'_>, said: &toml::Table, path: &String| {
        let setting = || match said.get(path)? {
            toml::Value::Array(_) | toml::Value::Table(_) => None,
            toml::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        cell.at.get(path).map(plain).or_else(setting)
    };
    let [of_a, of_b] = said;
    let alike = |path: &String| match (value(a, of_a, path), value(b, of_b, path)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    a.workload == b.workload && a.at.keys().chain(b.at.keys()).all(alike)
}

/// Whether trials of the same repeat have the same seed in both: it follows from that of the run and
/// from the place of the workload. What was not modelled has luck of its own.
fn have_same_luck(a: &Manifest, b: &Manifest) -> bool {
    let seed = |manifest: &Manifest| manifest.settings().get("run.seed").cloned();
    a.modelled() && b.modelled() && a.workloads == b.workloads && seed(a) == seed(b)
}

fn repeats(cell: &CellSummary<'_>) -> Vec<u64> {
    let mut repeats: Vec<u64> = cell.records.iter().map(|record| record.repeat).collect();
    repeats.sort_unstable();
    repeats
}

/// The one cell that is `wanted`, if just one is.
fn only<'a, 'r>(
    cells: &'a [CellSummary<'r>],
    wanted: impl Fn(&CellSummary<'r>) -> bool,
) -> Option<&'a CellSummary<'r>> {
    let mut found = cells.iter().filter(|cell| wanted(cell));
    found.next().filter(|_| found.next().is_none())
}

/// What is compared of a cell.
struct Compares<'a> {
    /// The workload, or a stream of it.
    workload: &'a str,
    sample: &'a str,
    quantity: Quantity,
}

/// What a cell is judged by.
fn judged<'a>(manifest: &'a Manifest, cell: &CellSummary<'a>) -> Vec<Compares<'a>> {
    let record = cell.records.first();
    let of = record.into_iter().flat_map(|record| manifest.judged(record));
    let compares = |(workload, sample): (&'a str, &'a str)| {
        let quantity = match sample.strip_prefix(workload).and_then(|of| of.strip_prefix('.')) {
            Some(plain) => Quantity::named(workload, plain),
            None => manifest.quantity(workload, sample),
        };
        Compares { workload, sample, quantity }
    };
    of.map(compares).collect()
}

fn compare(
    of: &Compares<'_>,
    a: &CellSummary<'_>,
    b: &CellSummary<'_>,
    in_pairs: bool,
    (model, model_error): (Model, f64),
) -> Option<ComparedCell> {
    let Compares { sample, quantity, .. } = of;
    let (first, second) = (a.samples(sample), b.samples(sample));
    let (first_median, second_median) = (median(&first)?, median(&second)?);
    let pairs = pairs(b, a, sample);
    let whole = pairs.len() == first.len() && pairs.len() == second.len();
    let own = if in_pairs && whole {
        paired(&pairs).map(|found| (Judged::Paired, found.ratio, found.interval))
    } else {
        unpaired(&second, &first).map(|(ratio, interval)| (Judged::Unpaired, ratio, interval))
    };
    let interval = own.map(|(.., interval)| Interval {
        low: interval.low / (1.0 + model_error),
        high: interval.high * (1.0 + model_error),
    });
    Some(ComparedCell {
        at: a.at.clone(),
        workload: of.workload.into(),
        unit: quantity.unit.clone(),
        better: quantity.better,
        first: first_median,
        second: second_median,
        // Nothing beside nothing is no change.
        ratio: own
            .map_or(Better::Higher.ahead(second_median, first_median).exp(), |(_, ratio, _)| ratio),
        interval,
        judged: own.map_or(Judged::Others, |(judged, ..)| judged),
        model,
        model_error,
        trials: [first.len(), second.len()],
    })
}

/// A sample in both cells, of the trials of the same repeat.
fn pairs(a: &CellSummary<'_>, b: &CellSummary<'_>, sample: &str) -> Vec<(f64, f64)> {
    let of = |record: &&Record| {
        let other = b.records.iter().find(|other| other.repeat == record.repeat)?;
        Some((record.sample(sample)?, other.sample(sample)?))
    };
    a.records.iter().filter_map(of).collect()
}

/// All cells together: their changes as the table has them.
fn together(cells: &[ComparedCell]) -> Option<Paired> {
    let changes: Vec<(f64, f64)> = cells.iter().map(|cell| (cell.ratio, 1.0)).collect();
    // From nothing to something is no ratio.
    let are_ratios = changes.iter().all(|(ratio, _)| ratio.is_finite());
    paired(&changes).filter(|_| are_ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use store::FORMAT;
    use store::named::NamedSamples;

    /// Trials of one cell of a modelled run, the last repeat first.
    fn results(seed: u64, rates: &[f64]) -> Results {
        let record = |(repeat, rate): (usize, &f64)| Record {
            trial: repeat,
            at: Map::new(),
            workload: "read".into(),
            repeat: repeat as u64,
            samples: NamedSamples::from_iter([("mb_per_s", *rate)]),
            member_busy: Vec::new(),
            requests: 0,
            latency_hdr: String::new(),
            series: None,
            commands: Vec::new(),
            curve: Vec::new(),
            window: None,
            note: String::new(),
        };
        Results {
            manifest: Manifest {
                format: FORMAT,
                ileave: String::new(),
                name: format!("seed-{seed}"),
                rig: "sim".into(),
                trials: rates.len(),
                workloads: vec!["read".into()],
                published: String::new(),
                experiment: format!("\"run.seed\" = {seed}\n"),
                drives: BTreeMap::new(),
                members: BTreeMap::new(),
                hosts: BTreeMap::new(),
                controllers: BTreeMap::new(),
                trees: BTreeMap::new(),
                traces: BTreeMap::new(),
                only_read: Vec::new(),
                factors: store::factor::Factors::default(),
                machine: std::collections::BTreeMap::new(),
                doubts: Vec::new(),
                fio: false,
                imported: None,
            },
            records: rates.iter().enumerate().map(record).rev().collect(),
            finished: 0,
            suspects: BTreeSet::new(),
            happened: store::Happened::default(),
        }
    }

    /// "10000000000 in the first, 200000000000 in the second": a time is kept in nanoseconds.
    #[test]
    fn settings_are_written_as_people_do() {
        use store::factor::{FactorKind, Written};
        let kind = |written| FactorKind { written, ..FactorKind::default() };
        let known = [("w.runtime", Written::Time), ("w.block", Written::Bytes)];
        let known = known.map(|(path, written)| (path.to_string(), kind(written)));
        let known = Factors(known.into_iter().collect());
        let said =
            |key: &str, value: i64| in_words(&known, key, Some(&toml::Value::Integer(value)));
        assert_eq!(said("w.runtime", 10_000_000_000), "10s");
        assert_eq!(said("w.block", 16), "8KiB");
        assert_eq!(said("w.depth", 16), "16");
        assert_eq!(in_words(&known, "w.runtime", None), "not set");
    }

    /// Repeats that swing by a factor of four, and a gain of about 30 % in each of them.
    #[test]
    fn trials_of_the_same_seed_are_compared_in_pairs() {
        let before = results(1, &[100.0, 200.0, 50.0, 150.0]);
        let faster = [131.0, 258.0, 65.5, 194.0];
        let standing = |second: &Results| {
            let compared = Compared::new(&before, second);
            let cell = &compared.cells[0];
            (cell.judged, cell.standing(), compared.how())
        };
        let (judged, standing_of, said) = standing(&results(1, &faster));
        assert_eq!((judged, standing_of), (Judged::Paired, "better"));
        assert!(
            said.starts_with("Intervals are from pairs of trials with the same seed."),
            "{said}"
        );
        let (judged, standing_of, said) = standing(&results(2, &faster));
        assert_eq!((judged, standing_of), (Judged::Unpaired, "tie"));
        assert!(said.contains("unpaired"), "{said}");
        // Another repeat, another seed.
        assert_eq!(standing(&results(1, &faster[..3])).0, Judged::Unpaired);
        assert_eq!(standing(&results(1, &faster[..1])).0, Judged::Others);
        let mut real = results(1, &faster);
        real.manifest.members.insert("0: a.img".into(), "file".into());
        assert_eq!(standing(&real).0, Judged::Unpaired);
    }

    /// 1085.2 beside 1085.4 MB/s came out as "rank correlation -1.00", of two cells.
    #[test]
    fn ties_and_a_few_cells_have_no_order() {
        let run = |rates: &[f64]| {
            let mut all = results(1, rates);
            for record in &mut all.records {
                record.at.insert("volume.interleave".into(), Json::from(record.trial));
                record.repeat = 0;
            }
            all
        };
        let order = |first: &[f64], second: &[f64]| {
            let compared = Compared::new(&run(first), &run(second));
            assert_eq!(compared.cells.len(), first.len());
            compared.rank_correlation.first().map(|(_, rank)| *rank)
        };
        assert_eq!(order(&[1085.4, 1085.2], &[103.2, 124.2]), None);
        assert_eq!(order(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]), None);
        let up = [103.2, 124.2, 130.0, 140.0, 150.0];
        assert_eq!(order(&[1085.4, 1085.2, 1085.1, 1085.0, 1084.9], &up), None);
        assert_eq!(order(&up, &[1.0, 2.0, 3.0, 4.0, 5.0]), Some(1.0));
        assert_eq!(order(&up, &[5.0, 4.0, 3.0, 2.0, 1.0]), Some(-1.0));
    }

    /// Repeats of one model do not differ by what it errs by, its layouts do once, and two models twice.
    #[test]
    fn what_a_model_errs_by_counts_as_often_as_it_can_differ() {
        let before = results(1, &[100.0; 3]);
        let compared = |change: &dyn Fn(&mut Manifest)| {
            let mut after = before.clone();
            change(&mut after.manifest);
            let compared = Compared::new(&before, &after);
            let cell = &compared.cells[0];
            let interval = cell.interval.unwrap();
            assert!((interval.high - 1.0 - cell.model_error).abs() < 1e-9, "{cell:?}");
            (cell.model, cell.model_error, compared.how())
        };
        let (model, error, said) = compared(&|_| ());
        assert!(model == Model::Same && error == 0.0, "{model:?} {error}");
        assert!(said.contains("its error is in both, and not in the intervals."), "{said}");
        let (model, once, said) = compared(&|of| of.experiment += "\"volume.interleave\" = 8\n");
        assert!(model == Model::Settings && once > 0.0, "{model:?} {once}");
        let percent =
            format!("They include the model's error between layouts, {:.1} %.", 100.0 * once);
        assert!(said.contains(&percent), "{said}");
        let (model, twice, said) = compared(&|of| of.ileave = "9.9.9".into());
        assert!(model == Model::Apart && (twice - 2.0 * once).abs() < 1e-9, "{model:?} {twice}");
        assert!(said.contains("the errors of both models"), "{said}");
        let (model, single, _) =
            compared(&|of| _ = of.members.insert("0: a.img".into(), "file".into()));
        assert!(model == Model::One && (single - once).abs() < 1e-9, "{model:?} {single}");
    }

    /// Behind the sentences, "in 3" was read as a part of them: "and not in the intervals in 3".
    #[test]
    fn which_cells_a_models_error_is_of_is_said_first() {
        let before = several([&[100.0; 3], &[50.0; 3]]);
        let mut compared = Compared::new(&before, &before);
        compared.cells[0].model = Model::Settings;
        compared.cells[0].model_error = 0.051;
        let said = compared.how();
        let same = " In 1 of 2 cells: one model ran both with the same settings; its error is";
        assert!(said.contains(same), "{said}");
        assert!(said.contains(" In 1 of 2 cells: they include the model's error"), "{said}");
        assert!(said.contains("5.1 %."), "{said}");
    }

    /// Results of two cells.
    fn several(rates: [&[f64]; 2]) -> Results {
        let mut both = results(1, rates[0]);
        let mut other = results(1, rates[1]).records;
        for record in &mut other {
            record.at.insert("volume.interleave".into(), 8.into());
        }
        for record in &mut both.records {
            record.at.insert("volume.interleave".into(), 16.into());
        }
        both.records.extend(other);
        both
    }

    /// A run beside itself, whose trials were done in another order, and beside one that has a cell of its own.
    #[test]
    fn the_same_run_is_said_to_be_and_what_is_alone_is_named() {
        let before = several([&[100.0; 3], &[50.0; 3]]);
        let mut after = before.clone();
        after.records.reverse();
        let compared = Compared::new(&before, &after);
        let same = "The two runs are the same: every value of 2 cells is equal to the last digit.";
        assert_eq!(compared.answer(), same);
        for record in after.records.iter_mut().filter(|of| of.at["volume.interleave"] == 8) {
            record.at.insert("volume.interleave".into(), 32.into());
        }
        let compared = Compared::new(&before, &after);
        let text = compared.text();
        assert!(compared.answer().contains("better in 0 of 1 cell, "), "{}", compared.answer());
        for said in [
            "1 cell is in the first run only: read at ",
            "1 cell is in the second run only: read at ",
        ] {
            assert!(text.contains(said), "{text}");
        }
        assert_eq!((compared.alone, compared.alone_in_first.len()), (2, 1));
    }

    /// Rows stand as in the report, whichever trial was done first.
    #[test]
    fn rows_are_in_the_order_of_their_values() {
        let before = several([&[100.0; 3], &[50.0; 3]]);
        let compared = Compared::new(&before, &before);
        let first: Vec<&Json> =
            compared.cells.iter().map(|of| &of.at["volume.interleave"]).collect();
        assert_eq!(first, [8, 16]);
    }

    /// The headline and the table are of the same ratios, which medians are not.
    #[test]
    fn all_cells_together_are_the_mean_of_their_changes() {
        let before = several([&[100.0, 101.0, 102.0], &[50.0, 51.0, 52.0]]);
        let after = several([&[100.0, 101.0, 112.0], &[50.0, 51.0, 60.0]]);
        let compared = Compared::new(&before, &after);
        let changes = compared.cells.iter().map(|cell| cell.ratio).product::<f64>().sqrt();
        assert!(changes > 1.02 && (compared.all.unwrap().ratio - changes).abs() < 1e-12);
    }

    /// A less busy processor is not a win.
    #[test]
    fn a_diagnosis_is_neither_better_nor_worse() {
        let busy = |share: f64| {
            let mut results = results(1, &[share; 3]);
            for record in &mut results.records {
                record.samples = NamedSamples::from_iter([("cpu_busy", share)]);
            }
            results
        };
        let compared = Compared::new(&busy(0.2), &busy(0.9));
        assert_eq!(compared.cells[0].standing(), "other");
        let said = compared.answer();
        assert!(
            said.contains("better in 0 of 1 cell, worse in 0")
                && said.contains("1 differ in a metric"),
            "{said}"
        );
    }

    /// Of lopsided samples the medians' ratio is far from the geometric means'.
    #[test]
    fn a_change_lies_in_its_interval() {
        let before = results(1, &[100.0, 101.0, 102.0]);
        for seed in [1, 2] {
            let after = results(seed, &[10.0, 100.0, 103.0]);
            let compared = Compared::new(&before, &after);
            let cell = &compared.cells[0];
            let geometric = (10.0 * 100.0 * 103.0 / (100.0 * 101.0 * 102.0_f64)).cbrt();
            assert!((cell.ratio - geometric).abs() < 1e-12, "{cell:?}");
        }
        // Nine tenths of the trials agree to the last digit: nothing but the median would be outside.
        let tight = |last: f64| results(2, &[[100.0; 9].as_slice(), &[last]].concat());
        let compared = Compared::new(&results(1, &[100.0; 10]), &tight(99.0));
        let (ratio, interval) = (compared.cells[0].ratio, compared.cells[0].interval.unwrap());
        assert!(interval.low <= ratio && ratio <= interval.high);
    }

    /// What a cell is judged by need not come first in its record.
    #[test]
    fn noise_is_that_of_the_sample_that_counts() {
        let mut before = results(1, &[100.0]);
        let mut repeated = results(1, &[100.0, 101.0]);
        for (record, wild) in repeated.records.iter_mut().zip([1.0, 9.0]) {
            record.at.insert("volume.interleave".into(), 8.into());
            let rate = record.sample("mb_per_s").unwrap();
            record.samples = NamedSamples::from_iter([("wild", wild), ("mb_per_s", rate)]);
        }
        let quantities = ["mb_per_s", "wild"].map(|sample| Quantity::named("read", sample));
        before.records.extend(repeated.records);
        before.records[0].at.insert("volume.interleave".into(), 16.into());
        before.manifest.imported = Some(store::Imported {
            source: String::new(),
            objective: String::new(),
            quantities: quantities.into(),
        });
        let compared = Compared::new(&before, &before);
        let once = compared.cells.iter().find(|cell| cell.judged == Judged::Others).unwrap();
        assert!(once.interval.unwrap().high < 1.2, "{once:?}");
    }

    /// A commit that takes longer is lost among many more pages.
    #[test]
    fn streams_that_are_judged_apart_are_compared_apart() {
        let of = |commit_ms: f64| {
            let mut results = results(1, &[1.0, 1.0]);
            for record in &mut results.records {
                let samples = [
                    ("latency_p99_ms", 0.5),
                    ("pages.latency_p99_ms", 0.5),
                    ("wal.commit_p99_ms", commit_ms),
                ];
                record.samples = NamedSamples::from_iter(samples);
            }
            results
        };
        let compared = Compared::new(&of(1.9), &of(2.6));
        let cells: Vec<(&str, f64, f64)> = compared
            .cells
            .iter()
            .map(|cell| (cell.workload.as_str(), cell.first, cell.second))
            .collect();
        assert_eq!(cells, [("pages", 0.5, 0.5), ("wal", 1.9, 2.6)]);
    }

    /// Nothing shows how far a measurement would lie from itself, least of all how far a model's seeds do.
    #[test]
    fn a_measurement_that_was_made_once_is_not_judged_by_a_models_seeds() {
        let modelled = results(1, &[100.0, 101.0, 99.0]);
        let measured = |rates: &[f64]| {
            let mut results = results(1, rates);
            results.manifest.members.insert("0: a.img".into(), "file".into());
            results
        };
        let once = Compared::new(&modelled, &measured(&[80.0]));
        assert!(once.cells[0].interval.is_none() && once.text().contains("No noise estimate"));
        let near = Compared::new(&modelled, &measured(&[99.0]));
        assert!(near.cells[0].interval.is_some_and(|interval| interval.high > 1.0));
        let thrice = Compared::new(&modelled, &measured(&[80.0, 81.0, 79.0]));
        assert!(thrice.cells[0].interval.is_some_and(|interval| interval.high < 1.0));
    }
}
