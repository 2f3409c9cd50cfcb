//! The race beside the exhaustive search and beside chance, on the cells of a shipped experiment.

use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::{Keep, run};
use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use std::convert::Infallible;
use store::record::{Record, plain};
use tune::search::{Effort, race};

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
    fn raced(&self) -> (f64, usize) {
        let effort = Effort { exhaustive: 16, seeds: 1 };
        let mut measure = |which: &[usize], _: u64| {
            Ok::<_, Infallible>(which.iter().map(|&cell| Some(self.scores[cell])).collect())
        };
        let Ok(raced) = race(&self.cells, effort, &mut measure);
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
    let text = include_str!("../../../experiments/md-measured.toml");
    let mut experiment = Experiment::parse("md-measured.toml", text).unwrap();
    for setting in [
        "workload.write.amount=32MiB",
        "workload.write.depth=8",
        "workload.write.block=128KiB,1MiB",
        "volume.level=md-raid5,md-raid6",
        "volume.interleave=16KiB,32KiB,64KiB,128KiB,256KiB,512KiB,1MiB",
        "volume.stripe_cache=256,1024,4096",
    ] {
        experiment.set(setting).unwrap();
    }
    let records = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap().records();
    let table = Table::of(&records, |record| record.sample("mb_per_s").unwrap().ln());
    let (behind, evaluations) = table.raced();
    assert_eq!(table.cells.len(), 84);
    assert!(behind < 0.01_f64.ln_1p(), "{behind} behind after {evaluations}");
    assert!(evaluations * 2 < table.cells.len(), "{evaluations} of {}", table.cells.len());
    let chance = table.at_random(evaluations);
    assert!(behind <= chance, "{behind} by the race, {chance} by chance");
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
        let (behind, evaluations) = table.raced();
        let chance = table.at_random(evaluations);
        assert!(
            behind <= chance + 1e-12,
            "{seed}: {behind} by the race, {chance} by chance, {evaluations} cells"
        );
        worst = worst.max(behind);
    }
    assert!(worst < 0.01, "{worst}");
}
