//! The race beside the exhaustive search and beside chance, on the cells of a shipped experiment.

use crate::search::remembered::Sim;
use crate::search::{Effort, Prior, race};
use lab::experiment::Experiment;
use lab::{Keep, run};
use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use std::convert::Infallible;
use store::record::{Record, plain};

/// Draws at random.
const DRAWS: usize = 2000;

/// The cells of an experiment: the places of their factors' values, and the score of each, greater for better.
struct Table {
    cells: Vec<Vec<usize>>,
    scores: Vec<f64>,
}

impl Table {
    fn of(records: &[Record], score: impl Fn(&Record) -> f64) -> Self {
        let paths: Vec<String> = records[0].at.keys().cloned().collect();
        let values = |path: &String| {
            let mut values: Vec<String> =
                records.iter().map(|record| plain(&record.at[path])).collect();
            values.sort_by_key(|value| (value.parse::<u64>().unwrap_or(0), value.clone()));
            values.dedup();
            values
        };
        let levels: Vec<Vec<String>> = paths.iter().map(values).collect();
        let place = |record: &Record| -> Vec<usize> {
            let of = |(path, levels): (&String, &Vec<String>)| {
                levels.iter().position(|level| *level == plain(&record.at[path])).unwrap()
            };
            paths.iter().zip(&levels).map(of).collect()
        };
        Table {
            cells: records.iter().map(place).collect(),
            scores: records.iter().map(score).collect(),
        }
    }

    fn best(&self) -> f64 {
        self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// How far what the race finds is behind the best, as a logarithm, and its evaluations.
    fn raced(&self, prior: Option<Prior<'_>>) -> (f64, usize) {
        let effort = Effort { exhaustive: 16, seeds: 1, near: 0.15, at_least: 1 };
        let mut measure = |which: &[usize], _: u64| {
            Ok::<_, Infallible>(which.iter().map(|&cell| Some(self.scores[cell])).collect())
        };
        let Ok(raced) = race(&self.cells, prior, effort, &mut measure);
        let found = raced.scores.values().map(|scores| scores[0]).fold(f64::NEG_INFINITY, f64::max);
        (self.best() - found, raced.evaluations)
    }

    /// How far the best of as many cells at random is behind, in the mean of many draws.
    fn at_random(&self, evaluations: usize) -> f64 {
        let mut random = Pcg64Mcg::new(5);
        let mut behind = 0.0;
        for _ in 0..DRAWS {
            let mut order: Vec<usize> = (0..self.cells.len()).collect();
            let mut found = f64::NEG_INFINITY;
            for taken in 0..evaluations {
                let left = (order.len() - taken) as u64;
                let place =
                    taken + ((u128::from(random.next_u64()) * u128::from(left)) >> 64) as usize;
                order.swap(taken, place);
                found = found.max(self.scores[order[taken]]);
            }
            behind += self.best() - found;
        }
        behind / DRAWS as f64
    }
}

/// Within 1 % of the exhaustive search on the drives and rules of `md-measured`, with far fewer cells, and never worse
/// than chance with as many.
#[test]
fn the_race_finds_what_the_exhaustive_search_finds() {
    let experiment = SPACES[0].experiment();
    let records = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap().records();
    let table = Table::of(&records, |record| record.sample("mb_per_s").unwrap().ln());
    let (behind, evaluations) = table.raced(None);
    assert_eq!(table.cells.len(), 84);
    assert!(behind < 0.01_f64.ln_1p(), "{behind} behind after {evaluations}");
    assert!(evaluations * 2 < table.cells.len(), "{evaluations} of {}", table.cells.len());
    let chance = table.at_random(evaluations);
    assert!(behind <= chance, "{behind} by the race, {chance} by chance");
}

/// A space around a shipped experiment: what is varied of it, what makes its trials short, and how many times.
struct Space {
    name: &'static str,
    text: &'static str,
    set: &'static [&'static str],
    short: &'static str,
    times_shorter: usize,
    /// The factor whose values are kinds, by its path.
    kinds: &'static str,
}

impl Space {
    fn experiment(&self) -> Experiment {
        let mut experiment = Experiment::parse(self.name, self.text).unwrap();
        for setting in self.set {
            experiment.set(setting).unwrap();
        }
        experiment
    }
}

const SPACES: [Space; 3] = [
    Space {
        name: "md-measured",
        text: include_str!("../../../../experiments/md-measured.toml"),
        set: &[
            "workload.write.amount=64MiB",
            "workload.write.depth=8",
            "workload.write.block=128KiB,1MiB",
            "volume.level=md-raid5,md-raid6",
            "volume.interleave=16KiB,32KiB,64KiB,128KiB,256KiB,512KiB,1MiB",
            "volume.stripe_cache=256,1024,4096",
        ],
        short: "workload.write.amount=16MiB",
        times_shorter: 4,
        kinds: "volume.level",
    },
    Space {
        name: "fair-2006",
        text: include_str!("../../../../experiments/fair-2006.toml"),
        set: &[
            "workload.read.count=200",
            "workload.write.count=1",
            "volume.interleave=8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,160,192,224,256,320,384,448,512,1024",
            "host.physio_concurrency=1,2,4,8",
            "host.max_transfer=32KiB,64KiB,128KiB",
        ],
        short: "workload.read.count=20",
        times_shorter: 10,
        kinds: "host.physio_concurrency",
    },
    Space {
        name: "queueing",
        text: include_str!("../../../../experiments/queueing.toml"),
        set: &[
            "workload.read.count=2000",
            "workload.read.depth=64",
            "drive.queue_depth=1,2,4,8,16,32,64",
            "host.elevator=fcfs,c-look,deadline",
            "host.queue_outstanding=1,4,16,64",
        ],
        short: "workload.read.count=200",
        times_shorter: 10,
        kinds: "drive.queue_discipline",
    },
];

/// With short trials of all cells as its prior, the race is within 1 % of the best after one cell in twenty, or three
/// more than there are kinds in a space that is smaller; and no worse than chance, also where chance has the cells that
/// the short trials cost beside.
#[test]
#[expect(clippy::print_stderr, reason = "docs/tune.md has these figures")]
fn short_trials_show_where_to_look() {
    for space in SPACES {
        let mut experiment = space.experiment();
        let measured = |experiment: &Experiment| {
            let records = run(experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap().records();
            let kept = |record: &Record| ["read", "write"].contains(&record.workload.as_str());
            let first = records[0].workload.clone();
            let records: Vec<Record> = records.into_iter().filter(kept).collect();
            records.into_iter().filter(|record| record.workload == first).collect::<Vec<_>>()
        };
        let records = measured(&experiment);
        let score = |record: &Record| record.sample("mb_per_s").unwrap().ln();
        let table = Table::of(&records, score);
        experiment.set(space.short).unwrap();
        let prior: Vec<Option<f64>> =
            measured(&experiment).iter().map(|r| Some(score(r))).collect();
        let kinds = records[0].at.keys().position(|path| path == space.kinds).unwrap();
        let prior = Prior { scores: &prior, kinds };
        let (behind, evaluations) = table.raced(Some(prior));
        let all = table.cells.len();
        let with_short = evaluations + all.div_ceil(space.times_shorter);
        let [chance, dearer] = [evaluations, with_short].map(|many| table.at_random(many));
        eprintln!(
            "{}: {evaluations} of {all}, {:.2} % behind; chance {:.1} %, with {with_short} cells {:.1} %",
            space.name,
            behind * 100.0,
            chance * 100.0,
            dearer * 100.0
        );
        let number = table.cells.iter().map(|cell| cell[kinds]).max().unwrap() + 1;
        assert!(behind < 0.01_f64.ln_1p(), "{}: {behind}", space.name);
        assert!(evaluations <= all.div_ceil(20).max(number + 3), "{}: {evaluations}", space.name);
        assert!(behind <= chance.min(dearer), "{}: {chance} or {dearer} by chance", space.name);
    }
}

/// A prior that is wrong about everything costs a few cells, and the race still ends and finds the best of each kind
/// that it is right about.
#[test]
fn a_prior_that_forbids_all_is_none() {
    let cells: Vec<Vec<usize>> = (0..48).map(|cell| vec![cell % 3, cell / 3]).collect();
    let scores: Vec<f64> = cells.iter().map(|cell| -((cell[1] as f64) - 7.0).abs()).collect();
    let table = Table { cells, scores };
    let none = vec![None; 48];
    assert_eq!(table.raced(Some(Prior { scores: &none, kinds: 0 })), table.raced(None));
    // What may not be chosen in the end is passed over until something may.
    let prior: Vec<Option<f64>> = (0..48).map(|cell| Some(-f64::from(cell))).collect();
    let effort = Effort { exhaustive: 4, seeds: 1, near: 0.15, at_least: 1 };
    let mut measure = |which: &[usize], _: u64| {
        Ok::<_, Infallible>(which.iter().map(|&cell| (cell >= 40).then_some(1.0)).collect())
    };
    let prior = Prior { scores: &prior, kinds: 0 };
    let Ok(raced) = race(&table.cells, Some(prior), effort, &mut measure);
    assert!(raced.scores.keys().any(|&cell| cell >= 40), "{raced:?}");
}

/// A kind whose first cell cannot be compared may still be the best kind: another cell of it is measured.
#[test]
fn a_kind_is_not_given_up_for_one_trial_that_does_not_settle() {
    let cells: Vec<Vec<usize>> = (0..24).map(|cell| vec![cell % 3, cell / 3]).collect();
    // The third kind is the best, and short trials do not see it. Its first two cells do not settle.
    let of =
        |cell: usize, third: f64| if cell % 3 == 2 { third } else { 1.0 } - cell as f64 / 100.0;
    let prior: Vec<Option<f64>> = (0..24).map(|cell| Some(of(cell, 0.8))).collect();
    let effort = Effort { exhaustive: 4, seeds: 1, near: 0.15, at_least: 1 };
    let mut measure = |which: &[usize], _: u64| {
        let settles = |cell: usize| ![2, 5].contains(&cell);
        Ok::<_, Infallible>(
            which.iter().map(|&cell| settles(cell).then(|| of(cell, 2.0))).collect(),
        )
    };
    let prior = Prior { scores: &prior, kinds: 0 };
    let Ok(raced) = race(&cells, Some(prior), effort, &mut measure);
    assert!(raced.scores.contains_key(&8), "{raced:?}");
}

/// Of a kind that is far behind and does not settle one more cell is measured, not three: those trials are the longest.
#[test]
fn a_kind_that_is_far_behind_is_given_up_sooner() {
    let cells: Vec<Vec<usize>> = (0..24).map(|cell| vec![cell % 3, cell / 3]).collect();
    let measured_of_third = |third: f64| {
        let of = |cell: usize| if cell % 3 == 2 { third } else { 1.0 } - cell as f64 / 100.0;
        let prior: Vec<Option<f64>> = (0..24).map(|cell| Some(of(cell))).collect();
        let effort = Effort { exhaustive: 4, seeds: 1, near: 0.15, at_least: 1 };
        let mut count = 0;
        let mut measure = |which: &[usize], _: u64| {
            count += which.iter().filter(|&&cell| cell % 3 == 2).count();
            let score = |&cell: &usize| (cell % 3 != 2).then(|| of(cell));
            Ok::<_, Infallible>(which.iter().map(score).collect())
        };
        let prior = Prior { scores: &prior, kinds: 0 };
        let Ok(_) = race(&cells, Some(prior), effort, &mut measure);
        count
    };
    // Scores are logarithms: a fifth as fast, and a fifth slower.
    assert_eq!([-0.6, 0.8].map(measured_of_third), [2, 4]);
}

/// One lucky seed does not decide: the next few get more seeds however far behind they are.
#[test]
fn a_lucky_seed_is_tried_again() {
    let cells: Vec<Vec<usize>> = (0..3).map(|cell| vec![cell]).collect();
    let mut measure = |which: &[usize], seed: u64| {
        let score =
            |&cell: &usize| Some(if cell == 0 && seed == 0 { 1.0 } else { 0.1 * cell as f64 });
        Ok::<_, Infallible>(which.iter().map(score).collect())
    };
    let effort = |at_least| Effort { exhaustive: 16, seeds: 3, near: 0.15, at_least };
    let Ok(alone) = race(&cells, None, effort(1), &mut measure);
    assert_eq!((alone.evaluations, alone.scores[&0].len()), (3, 1));
    let Ok(raced) = race(&cells, None, effort(3), &mut measure);
    // Three, then the better two of them twice.
    assert_eq!(raced.evaluations, 3 + 2 + 2);
    assert_eq!(raced.scores[&0], [1.0, 0.0, 0.0]);
}

/// The same on landscapes that were made up: factors that add, with and without an interaction that bends the ridge.
#[test]
fn the_race_is_never_worse_than_chance() {
    let mut worst = 0.0_f64;
    for seed in 0..40_u64 {
        let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let [a, b, c, bend] = [unit(), unit(), unit(), if seed % 2 == 0 { 0.0 } else { 0.05 }];
        let cells: Vec<Vec<usize>> =
            (0..4 * 8 * 3).map(|cell| vec![cell % 4, cell / 4 % 8, cell / 32]).collect();
        let score = |cell: &Vec<usize>| {
            let [level, chunk, cache] = [0, 1, 2].map(|factor| cell[factor] as f64);
            a * level.sin() - b * (chunk - 7.0 * c - bend * 10.0 * cache).powi(2) / 20.0
                + 0.1 * cache
        };
        let table = Table { scores: cells.iter().map(score).collect(), cells };
        let (behind, evaluations) = table.raced(None);
        let chance = table.at_random(evaluations);
        assert!(
            behind <= chance + 1e-12,
            "{seed}: {behind} by the race, {chance} by chance, {evaluations} cells"
        );
        worst = worst.max(behind);
    }
    assert!(worst < 0.01, "{worst}");
}
