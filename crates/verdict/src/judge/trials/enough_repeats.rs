//! Whether more repeats of a cell could change what is said of it.
//!
//! After each repeat of all cells every layout is held against the best, for each workload, load and condition, by the
//! interval that the verdict goes by. A layout is settled where that interval is as narrow as was asked for, or where it is
//! clearly worse. Who looks after each repeat finds a difference sooner or later where there is none; so the 5 % that a
//! clear difference may be wrong are shared out over all looks, 5 % / (k (k + 1)) for the k-th, which sums to 5 % however
//! many there are (Lan & De Mets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983).
//!
//! It follows from the records alone: whoever asks again is told the same.

use crate::judge::Wishes;
use crate::judge::answer::{Point, point};
use crate::judge::asked::aim::{Aim, Part, aims};
use crate::judge::layouts::{Layouts, split};
use crate::stats::noise::{Noise, NoiseSource};
use crate::stats::student::{t95, two_sided};
use crate::tables::percent;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::{Record, cell_name};

/// The key that says how narrow an interval is to be.
const WITHIN: &str = "run.compare_within";

/// Fewer repeats say too little of the noise.
const REPEATS_MIN: u64 = 3;

/// What may be wrong of all clear differences.
const WRONG: f64 = 0.05;

/// The cells of a run that stops repeating what is settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// How narrow an interval was to be, as a share.
    pub within: f64,
    /// For each cell how many repeats it took to settle it; none where it is not.
    pub cells: BTreeMap<String, Option<u64>>,
    /// How many trials of the plan are not needed.
    pub needless: usize,
}

/// How narrow an interval is to be, as a share, where the experiment says it.
pub fn within(manifest: &Manifest) -> Option<f64> {
    let said = manifest.settings().get(WITHIN)?.as_str()?.trim_end_matches('%').parse::<f64>();
    said.ok().map(|percent| percent / 100.0)
}

/// The cells that need no more than these repeats, by workload and factors; `records` are of the first so many.
pub fn look(
    manifest: &Manifest,
    records: &[Record],
    repeats: u64,
) -> Vec<(String, Map<String, Json>)> {
    let Some(within) = within(manifest).filter(|_| repeats >= REPEATS_MIN) else {
        return Vec::new();
    };
    let layouts = Layouts::new(manifest, records);
    let Ok(aims) = aims(manifest, &layouts, &Wishes::default()) else { return Vec::new() };
    let looks = repeats - REPEATS_MIN + 1;
    let parts: Vec<(&Part, Vec<bool>)> = aims
        .iter()
        .flat_map(|Aim { parts, .. }| parts)
        .map(|part| (part, settled(part, layouts.layouts.len(), within, looks)))
        .collect();
    let mut found: Vec<(String, Map<String, Json>)> = Vec::new();
    for record in records {
        let cell = (record.workload.clone(), record.at.clone());
        if parts.is_empty() || found.contains(&cell) {
            continue;
        }
        let (given, at) = split(manifest, record);
        let Some(layout) = layouts.layouts.iter().position(|known| known.at == at) else {
            continue;
        };
        let mut own = parts.iter().filter(|(part, _)| concerns(manifest, part, record, &given));
        if own.all(|(_, settled)| settled[layout]) {
            found.push(cell);
        }
    }
    found
}

/// Whether a part is about a cell: about its workload or a formula, at its load and condition.
fn concerns(manifest: &Manifest, part: &Part, record: &Record, given: &Map<String, Json>) -> bool {
    let is_of_another = part.of != manifest.judged_as(&record.workload)
        && manifest.workloads.iter().any(|workload| manifest.judged_as(workload) == part.of);
    let fits = |(path, value): (&String, &Json)| given.get(path).is_none_or(|own| own == value);
    !is_of_another && part.given.iter().all(fits)
}

/// For each layout whether it is settled under one load and condition.
fn settled(part: &Part, layouts: usize, within: f64, looks: u64) -> Vec<bool> {
    let values: Vec<Vec<f64>> = (0..layouts).map(|layout| part.values(layout)).collect();
    let noise = Noise::of(&values, None, 0.0);
    let mut is_settled = vec![false; layouts];
    if noise.source != NoiseSource::Repeats {
        return is_settled;
    }
    let measured: Vec<usize> = (0..layouts).filter(|&layout| !values[layout].is_empty()).collect();
    let order = |&&a: &&usize, &&b: &&usize| {
        let ahead =
            part.median(a).zip(part.median(b)).map_or(0.0, |(a, b)| part.better.ahead(a, b));
        ahead.total_cmp(&0.0)
    };
    let Some(&best) = measured.iter().max_by(order) else { return is_settled };
    let is_narrow = |half: f64| half <= within.ln_1p();
    let chance_max = WRONG / (looks * (looks + 1)) as f64;
    for &other in measured.iter().filter(|&&layout| layout != best) {
        let found = noise.difference(part.better, &values[best], &values[other]);
        let error = found.half / t95(noise.degrees);
        // Where nothing swings, every difference is one.
        let is_clear = error <= 0.0 || two_sided(found.ahead / error, noise.degrees) <= chance_max;
        is_settled[other] = is_narrow(found.half) || found.ahead > 0.0 && is_clear;
    }
    // The best is settled with the last of the others; alone it is held against itself.
    let others = measured.iter().filter(|&&layout| layout != best);
    let own = noise.half_width(values[best].len(), values[best].len());
    is_settled[best] = match measured.len() {
        1 => is_narrow(own),
        _ => others.clone().all(|&other| is_settled[other]),
    };
    is_settled
}

impl Settled {
    /// What is settled by these records; none where repeats do not end that way.
    pub fn of(manifest: &Manifest, records: &[Record]) -> Option<Self> {
        let within = within(manifest)?;
        let mut cells: BTreeMap<String, Option<u64>> = BTreeMap::new();
        for record in records {
            cells.insert(cell_name(&record.workload, &record.at), None);
        }
        let last = records.iter().map(|record| record.repeat + 1).max().unwrap_or(0);
        for repeats in REPEATS_MIN..=last {
            let first: Vec<Record> =
                records.iter().filter(|record| record.repeat < repeats).cloned().collect();
            for (workload, at) in look(manifest, &first, repeats) {
                let cell = cells.entry(cell_name(&workload, &at)).or_default();
                cell.get_or_insert(repeats);
            }
        }
        let planned = manifest.trials / cells.len().max(1);
        let spared =
            |repeats: u64| planned.saturating_sub(usize::try_from(repeats).unwrap_or(planned));
        let needless = cells.values().flatten().map(|&repeats| spared(repeats)).sum();
        Some(Settled { within, cells, needless })
    }
}

/// Why repeats ended.
pub(crate) fn told(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let Settled { within, cells, .. } = Settled::of(manifest, records)?;
    let settled: Vec<u64> = cells.values().flatten().copied().collect();
    let (all, open) = (cells.len(), cells.len() - settled.len());
    let most = settled.iter().max().zip(settled.iter().min());
    let took = most.map_or_else(String::new, |(most, least)| {
        let from = if most == least { String::new() } else { format!("{least} to ") };
        format!(" after {from}{most} repeats")
    });
    let rest = match open {
        0 => String::new(),
        _ => format!("; {open} of {all} cells are not, and more repeats may change their results"),
    };
    let text = match settled.len() {
        0 => format!(
            "no cell is settled to {} of the best yet; more repeats may change the answer",
            percent(within)
        ),
        count => format!(
            "{count} of {all} cells are settled{took}: clearly worse than the best, or compared to {}{rest}",
            percent(within)
        ),
    };
    Some(point("repeats", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::modelled;

    /// Three layouts of which one is far behind and two are alike, measured with noise of so many percent.
    fn measured(noise_percent: f64, repeats: u64) -> (Manifest, Vec<Record>) {
        let (mut manifest, records) = modelled(&format!(
            "[volume]\ndrives = '2xst118273lc'\ninterleave = [8, 64, 128]\n[workload.read]\ncount = 20\n\
             [run]\nrepeats = {repeats}\ncompare_within = '2%'\n"
        ));
        manifest.members.insert("0".into(), "file".into());
        let mut records = records;
        for record in &mut records {
            let interleave = record.at["volume.interleave"].as_u64().unwrap();
            // Swings that do not follow from the layout.
            let luck = ((record.repeat * 7 + interleave * 3) % 5) as f64 / 2.0 - 1.0;
            let middle = if interleave == 8 { 50.0 } else { 100.0 };
            let rate = middle * (1.0 + luck * noise_percent / 100.0);
            record.samples = [("mb_per_s".to_string(), rate)].into_iter().collect();
        }
        (manifest, records)
    }

    fn first(records: &[Record], repeats: u64) -> Vec<Record> {
        records.iter().filter(|record| record.repeat < repeats).cloned().collect()
    }

    #[test]
    fn what_is_clearly_worse_is_settled_before_what_is_alike() {
        let (manifest, records) = measured(4.0, 30);
        assert!(look(&manifest, &first(&records, 2), 2).is_empty(), "two repeats say too little");
        let settled = look(&manifest, &first(&records, 3), 3);
        let interleaves: Vec<u64> =
            settled.iter().map(|(_, at)| at["volume.interleave"].as_u64().unwrap()).collect();
        assert_eq!(interleaves, [8], "half as fast; the others may still differ by more than 2 %");
        // In the end the two are known to be alike, and the best with them.
        assert_eq!(look(&manifest, &records, 30).len(), 3);
        let said = Settled::of(&manifest, &records).unwrap();
        let repeats: Vec<u64> = said.cells.values().flatten().copied().collect();
        assert!(repeats.contains(&3) && repeats.iter().all(|&repeats| repeats < 30), "{repeats:?}");
        assert_eq!(
            said.needless,
            repeats.iter().map(|&repeats| 30 - repeats as usize).sum::<usize>()
        );
        let text = told(&manifest, &records).unwrap().text;
        assert!(text.starts_with("3 of 3 cells are settled after 3 to"), "{text}");
    }

    #[test]
    fn noise_takes_more_repeats_and_without_the_key_none_is_settled() {
        let least = |noise| {
            let (manifest, records) = measured(noise, 30);
            let cells = Settled::of(&manifest, &records).unwrap().cells;
            cells.values().map(|repeats| repeats.unwrap_or(99)).max().unwrap()
        };
        assert!(least(0.5) < least(3.0) && least(3.0) < least(30.0));
        let (mut manifest, records) = measured(1.0, 5);
        manifest.experiment = manifest.experiment.replace("compare_within", "seed_within");
        assert_eq!(Settled::of(&manifest, &records), None);
        assert!(look(&manifest, &records, 5).is_empty());
    }
}
