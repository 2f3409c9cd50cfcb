//! The page of a results directory: the verdict, its reasons, and what was measured.

use super::curves;
use super::latencies::{against_load, labelled, latencies, over_time};
use super::reproduced::{MULTIPLES, table_json};
use super::thin::{self, ENDS};
use super::told::Told;
use super::{Page, escaped, filled, frame, html_table};
use crate::cells::row_order;
use crate::cells::{self, CellSummary};
use crate::evidence::Evidence;
use crate::judge::factors::design;
use crate::judge::layouts::Measure;
use crate::judge::{Layouts, Point, Verdict};
use crate::lost;
use crate::report::ranking;
use crate::reproduce::{Comparison, REPRODUCED_WITHIN};
use crate::stats::median;
use crate::stats::noise::Noise;
use crate::tables::figure;
use crate::why;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use store::Results;
use store::published::Published;
use store::quantity::Better;
use store::record::short_key;
use store::sample;
use store::words::counted;

const SECTIONS: &str = include_str!("../../../assets/run.html");
const FIRST: &str = include_str!("../../../assets/run_first.html");
const SCRIPT: &str = include_str!("../../../assets/run.js");

/// The page of a results directory. Where there are too many cells to draw each, it says what it has of them.
pub fn run(results: &Results, verdict: &Verdict, published: Option<&Published>) -> String {
    of_most(results, verdict, published, thin::ALL_MAX)
}

/// The page, where more than `most` cells or rows are too many.
fn of_most(
    results: &Results,
    verdict: &Verdict,
    published: Option<&Published>,
    most: usize,
) -> String {
    let manifest = &results.manifest;
    let trials = counted(results.records.len(), "trial");
    let heading = format!("{} on {}: {trials}", manifest.name, manifest.rig);
    // One layout alone is no answer, but its figure is what the page is about.
    let is_alone = verdict.answer.is_empty() && verdict.ranked.len() == 1;
    let answer = if is_alone { verdict.of_one() } else { verdict.answer.clone() };
    let cells = cells::cells(manifest, &results.records);
    let mut reasons = why::sentences(manifest, &cells);
    reasons.extend(lost::sentences(&cells));
    reasons.extend(verdict.sentences.iter().cloned());
    let count = cells.len();
    drop(cells);
    let mut points = verdict.points.clone();
    let data = data(results, verdict, published, most);
    let on_this_page = |text| Point { about: "on this page".into(), text };
    if count > most {
        points.push(on_this_page(thin::words(count)));
    } else if let Some(left_out) = data["left_out"].as_u64().filter(|&count| count > 0) {
        points.push(on_this_page(thin::words_of_quantities(left_out)));
    }
    let source = manifest.imported.as_ref().map(|imported| format!(" {}.", imported.source));
    let sections = [
        ("{{ranking_note}}", escaped(&ranking_note(verdict, most))),
        ("{{ranking}}", ranking_table(results, verdict, most)),
        ("{{manifest}}", escaped(&toml::to_string(manifest).unwrap_or_default())),
    ];
    frame(&Page {
        title: &manifest.name,
        heading: &heading,
        answer: &answer,
        first: FIRST,
        points: &points,
        reasons: &reasons,
        sections: &filled(SECTIONS, &sections),
        footer: &format!("Made by ileave {}.{}", manifest.ileave, source.unwrap_or_default()),
        data: &data,
        scripts: &[MULTIPLES, SCRIPT],
    })
}

fn ranking_note(verdict: &Verdict, most: usize) -> String {
    if verdict.objective.is_empty() {
        return "The metric has no better direction.".into();
    }
    let left = match verdict.left_out.len() {
        0 => String::new(),
        count => format!(" {count} layouts are left out."),
    };
    format!(
        "Ranked by {}. Failures survived: this many disks, whichever they are, may fail without data loss.{left}{}",
        ranking::measure(verdict),
        match verdict.ranked.len() {
            count if count > most =>
                format!(" The best and the worst {ENDS} of {count} are listed."),
            _ => String::new(),
        }
    )
}

/// The ranking has a column for each workload, up to so many.
const WORKLOADS_MAX: usize = 6;

/// The ranking, with what each workload measured in its own unit.
fn ranking_table(results: &Results, verdict: &Verdict, most: usize) -> String {
    if verdict.ranked.len() < 2 {
        return String::new();
    }
    let mut ranking = ranking::columns(verdict, false);
    ranking.rows = thin::ends(ranking.rows, most);
    let ranked = thin::ends(verdict.ranked.iter().collect(), most);
    let layouts = Layouts::new(&results.manifest, &results.records);
    let is_ranked_by = |name: &str| verdict.objective.get(4..) == Some(name);
    let own: Vec<(&str, usize)> = layouts.main().filter(|(name, _)| !is_ranked_by(name)).collect();
    // More columns than fit would hide the others.
    let shown = if own.len() <= WORKLOADS_MAX { own.as_slice() } else { &[] };
    for (at, &(name, index)) in (ranking.words..).zip(shown) {
        let unit = &layouts.quantities[index].unit;
        ranking.header.insert(at, format!("{name} {unit}").trim_end().into());
        for (row, ranked) in ranking.rows.iter_mut().zip(&ranked) {
            let layout = layouts.layouts.iter().find(|layout| layout.at == ranked.at);
            let value = layout.and_then(|layout| layout.median(index));
            row.insert(at, value.map_or_else(String::new, figure));
        }
    }
    html_table(&ranking.header, ranking.words, &ranking.rows, |row| (row == 0).then_some("best"))
}

/// What the script draws.
fn data(results: &Results, verdict: &Verdict, published: Option<&Published>, most: usize) -> Json {
    let manifest = &results.manifest;
    let layouts = Layouts::new(manifest, &results.records);
    let ats: Vec<&Map<String, Json>> = layouts.layouts.iter().map(|layout| &layout.at).collect();
    let single = design::single(&ats, &layouts.factors);
    let factors: Vec<Json> = single
        .iter()
        .map(|factor| {
            let levels: Vec<String> = factor.levels.iter().map(|level| layouts.factors.shown(&factor.paths[0], &level[0])).collect();
            let path = &factor.paths[0];
            json!({ "path": path, "name": short_key(path), "axis": layouts.factors.axis(path), "levels": levels })
        })
        .collect();
    let mut crossed = design::crossed(&ats, &layouts.factors);
    crossed.retain(|factor| factor.paths.len() == 1);
    crossed.sort_by_key(|factor| std::cmp::Reverse(factor.levels.len()));
    let mut first = crossed.iter().map(|factor| &factor.paths[0]);
    let (first, second) = (first.next(), first.next());
    let mut told = Told::default();
    let quantities = quantities(results, &layouts, verdict, (&mut told, most));
    let all = (layouts.layouts.len() > most).then(|| {
        let is_less_better = quantities.first().is_some_and(|of| of["better"] == "lower");
        told.thinned(&layouts, &single, is_less_better, most)
    });
    let (first, second) = (first.cloned(), second.cloned());
    let decisive = decisive(verdict, &ats);
    // The samples of 100,000 cells are not held beside the cells.
    drop((ats, single, crossed));
    drop(layouts);
    let all_cells = cells::cells(manifest, &results.records);
    let sweeps = curves::sweeps(results, &all_cells, most);
    let [ranked, drawn_cells] = thin::ranked_and_drawn(results, all_cells, most);
    let ranked = labelled(ranked);
    json!({
        "factors": factors,
        "first_factor": first,
        "second_factor": second,
        "quantities": quantities,
        "layouts": told.layouts,
        "rows": told.rows,
        "left_out": told.left_out,
        "all": all,
        "sweeps": sweeps,
        "decisive": decisive,
        "against_load": against_load(&ranked),
        "latencies": latencies(&ranked),
        "over_time": over_time(&ranked),
        "cells": cells(results, &drawn_cells),
        "parts": sample::parts_and_program().map(|part| part.words).collect::<Vec<_>>(),
        "within": REPRODUCED_WITHIN,
        "published": published.and_then(|published| beside(results, published)),
    })
}

/// The factors, those that explain most of the objective first; of those that vary only together, the one with most
/// values.
fn decisive(verdict: &Verdict, ats: &[&Map<String, Json>]) -> Vec<String> {
    let single = design::single(ats, &verdict.factors);
    let mut effects: Vec<(&str, f64)> = verdict
        .effects
        .iter()
        .take(1)
        .flat_map(|of| &of.factors)
        .map(|effect| (effect.factor.as_str(), effect.variance_share))
        .collect();
    effects.sort_by(|a, b| b.1.total_cmp(&a.1));
    let of = |name: &str| {
        let members = single
            .iter()
            .filter(|factor| name.split('/').any(|n| n == short_key(&factor.paths[0])));
        members.max_by_key(|factor| factor.levels.len()).map(|factor| factor.paths[0].clone())
    };
    effects.into_iter().filter_map(|(name, _)| of(name)).collect()
}

/// A number with as many digits as a chart or a table shows.
pub(super) fn drawn(number: f64) -> f64 {
    const DIGITS: i32 = 6;
    if !number.is_normal() {
        return number;
    }
    let digits = DIGITS - 1 - number.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits < 0 { (number / scale).round() * scale } else { (number * scale).round() / scale }
}

/// What can be looked at, the objective first; what it is on each layout is `told`.
fn quantities(
    results: &Results,
    layouts: &Layouts,
    verdict: &Verdict,
    (told, most): (&mut Told, usize),
) -> Vec<Json> {
    // What tests the model of a time is not what tests it of a rate, and is asked once for each.
    let mut known: BTreeMap<Option<&'static str>, Evidence> = BTreeMap::new();
    let mut quantities = Vec::new();
    let (objective, factors) = (&verdict.objective, &layouts.factors);
    let is_objective = |quantity: &Measure| objective.get(4..) == Some(quantity.called());
    if !layouts.quantities.iter().any(is_objective) {
        for row in &verdict.ranked {
            told.row(0, (&row.at, &row.label, factors), (row.value, row.interval, row.trials));
        }
        for out in &verdict.left_out {
            let Some(value) = out.value else { continue };
            told.row(0, (&out.at, &out.label, factors), (value, None, out.trials));
        }
        // What no layout was measured for cannot be looked at.
        if !told.rows.is_empty() {
            quantities.push(named(objective, &verdict.unit, verdict.better, verdict.tie_ratio()));
        }
    }
    let mut order: Vec<usize> = (0..layouts.quantities.len()).collect();
    order.sort_by_key(|&index| {
        let quantity = &layouts.quantities[index];
        (!is_objective(quantity), quantity.short.is_none())
    });
    // The others would be too many rows; what the layouts are ranked by is there.
    let room = (most / layouts.layouts.len().max(1)).saturating_sub(quantities.len());
    let measured = order.len();
    order.truncate(room.max(usize::from(quantities.is_empty())));
    told.left_out = measured - order.len();
    for index in order {
        let quantity = &layouts.quantities[index];
        let name = quantity.called();
        let place = quantities.len();
        let samples: Vec<Vec<f64>> =
            layouts.layouts.iter().map(|layout| layout.values(index)).collect();
        let residuals = verdict.effects.iter().find(|effects| effects.of == *name);
        let residuals = residuals.map(|e| (e.scale, e.degrees));
        let sample = quantity.sample();
        let evidence = known
            .entry(Evidence::of_time(sample))
            .or_insert_with(|| Evidence::of(&results.manifest, &results.records, &[sample]));
        let noise =
            Noise::of(&samples, residuals, evidence.difference()).with_level(evidence.level());
        let trials = samples.iter().map(Vec::len).filter(|trials| *trials > 0).min().unwrap_or(1);
        let tie = if is_objective(quantity) {
            verdict.tie_ratio()
        } else {
            noise.half_width(trials, trials).exp()
        };
        quantities.push(named(name, &quantity.unit, quantity.better, tie));
        for (layout, samples) in layouts.layouts.iter().zip(&samples) {
            let Some(value) = median(samples) else { continue };
            let label = layouts.label(&layout.at);
            let measured = (value, noise.interval(samples), samples.len());
            told.row(place, (&layout.at, &label, factors), measured);
        }
    }
    quantities
}

/// What is looked at, and how many times as much as another a value must be for the difference to count.
fn named(name: &str, unit: &str, better: Better, tie: f64) -> Json {
    // JSON has no infinity.
    json!({ "name": name, "unit": unit, "better": better, "tie": drawn(tie.min(1e6)) })
}

/// The cells by workload and in the order of their values.
pub(super) fn in_order<'a>(
    results: &'a Results,
    mut cells: Vec<CellSummary<'a>>,
) -> Vec<CellSummary<'a>> {
    let workloads = &results.manifest.workloads;
    cells.sort_by(|a, b| {
        let place =
            |cell: &CellSummary<'_>| workloads.iter().position(|name| name == cell.workload);
        place(a).cmp(&place(b)).then_with(|| row_order(a.at, b.at))
    });
    cells
}

/// What tells each cell from the others of its workload, and the workload where there are `several`: no more, so that
/// nothing has to be cut off.
pub(super) fn short_labels(cells: &[CellSummary<'_>], several: bool) -> Vec<String> {
    let label = |cell: &CellSummary<'_>| {
        let own = cells.iter().filter(|other| other.workload == cell.workload);
        let varied = |path: &String, value: &Json| {
            own.clone().any(|other| other.at.get(path) != Some(value))
        };
        let mut words: Vec<String> = if several { vec![cell.workload.into()] } else { Vec::new() };
        let applies = cell
            .at
            .iter()
            .filter(|(path, value)| value.as_str() != Some("") && varied(path, value));
        words.extend(applies.map(|(path, value)| cell.factors.shown(path, value)));
        if words.is_empty() { cell.workload.into() } else { words.join(" · ") }
    };
    cells.iter().map(label).collect()
}

/// Each cell's time in its parts and its members' load.
fn cells(results: &Results, cells: &[CellSummary<'_>]) -> Vec<Json> {
    let labels = short_labels(cells, results.manifest.workloads.len() > 1);
    let told = cells.iter().zip(&labels).filter(|(cell, _)| {
        let members = cell.records.iter().any(|record| !record.member_busy.is_empty());
        members || sample::parts().any(|part| cell.median(part.name) > 0.0)
    });
    told.map(|(cell, short)| {
        // What took no time is not drawn.
        let parts: Vec<Json> = sample::parts_and_program()
            .map(|part| (part, cell.median(part.name)))
            .filter(|(_, ms)| *ms > 0.0)
            .map(|(part, ms)| json!({ "part": part.words, "ms": drawn(ms) }))
            .collect();
        let members = cell.records.iter().map(|record| record.member_busy.len()).max().unwrap_or(0);
        let busy: Vec<f64> = (0..members)
            .filter_map(|member| {
                let shares: Vec<f64> = cell
                    .records
                    .iter()
                    .filter_map(|r| r.member_busy.get(member).copied())
                    .collect();
                median(&shares).map(drawn)
            })
            .collect();
        json!({
            "label": cell.label(), "short": short, "workload": cell.workload, "parts": parts,
            "member_busy": busy,
        })
    })
    .collect()
}

/// Published numbers beside ours, as far as what was run is what was published.
fn beside(results: &Results, published: &Published) -> Option<Json> {
    let mut compared =
        Comparison::new(published, results.manifest.hosts_and_controllers(), &results.records);
    compared.cells.retain(|cell| cell.simulated.is_some());
    let mut json = table_json(&compared);
    json["source"] = format!("{}.", compared.source).into();
    (!compared.cells.is_empty()).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::{Verdict, data, of_most};
    use crate::Wishes;
    use crate::stats::median;
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    use serde_json::Value as Json;
    use std::collections::BTreeSet;
    use store::{Happened, Results};

    const CHOICES: &str = "[volume]\ndrives = '2xwd740gd'\ninterleave = [16, 32, 64]\n[workload.w]\nkind = 'random'\n\
                           count = 3\ndepth = [1, 2, 3, 4]\nblock = ['4KiB', '8KiB', '16KiB', '32KiB', '64KiB']\n";

    /// Three interleaves, four depths and five blocks, chosen among by these.
    fn results(choose: &[&str]) -> (Results, Verdict) {
        let experiment = Experiment::parse("some.toml", CHOICES).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let mut records = ran.records();
        for (at, record) in records.iter_mut().enumerate() {
            record.samples.insert("requests_per_s", 100.0 + (at * 37 % 61) as f64);
        }
        let choose: Vec<String> = choose.iter().map(ToString::to_string).collect();
        let manifest = ran.manifest.asked(&choose).unwrap();
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let finished = records.len();
        let (suspects, happened) = (BTreeSet::new(), Happened::default());
        (Results { manifest, records, finished, suspects, happened }, verdict)
    }

    /// The same number, of which a page has six digits.
    #[track_caller]
    fn assert_drawn(drawn: &Json, number: Option<f64>) {
        let (drawn, number) = (drawn.as_f64().expect("it is drawn"), number.expect("it is there"));
        assert!((drawn / number - 1.0).abs() < 1e-5, "{drawn} {number}");
    }

    fn list(json: &Json) -> &[Json] {
        json.as_array().unwrap()
    }

    /// From 323 layouts on, pages had fewer and fewer of the quantities that were measured, and did not say so.
    #[test]
    fn quantities_that_have_no_room_are_told_of() {
        let (results, verdict) =
            results(&["workload.w.depth", "workload.w.block", "volume.interleave"]);
        let says = |most| {
            of_most(&results, &verdict, None, most).contains("of the quantities are not here")
        };
        assert!(says(120) && !says(10_000));
    }

    /// 100,000 cells made a page of 216 MB, and 5.3 GB of memory.
    #[test]
    fn of_too_many_cells_the_page_has_medians_over_all_of_them() {
        let (results, verdict) = results(&[]);
        let all = data(&results, &verdict, None, 1000);
        let some = data(&results, &verdict, None, 30);
        assert_eq!(all["all"], Json::Null);
        let cells = list(&all["sweeps"][0]["cells"]);
        assert_eq!((cells.len(), list(&some["sweeps"][0]["cells"]).len()), (60, 0));
        let pairs = list(&some["sweeps"][0]["pairs"]);
        assert_eq!(pairs.len(), 2, "the third has more pairs of values than there is room for");
        for pair in pairs {
            let paths: Vec<&str> = list(&pair["paths"]).iter().filter_map(Json::as_str).collect();
            for cell in list(&pair["cells"]) {
                let is_like =
                    |other: &&Json| paths.iter().all(|path| other["at"][path] == cell["at"][path]);
                let values: Vec<f64> = cells
                    .iter()
                    .filter(is_like)
                    .filter_map(|other| other["values"][0][0].as_f64())
                    .collect();
                assert_eq!(cell["count"], values.len());
                assert_drawn(&cell["values"][0][0], median(&values));
            }
        }
        let page = of_most(&results, &verdict, None, 30);
        assert!(page.contains("60 cells are too many to draw"), "{}", verdict.answer);
        assert!(!of_most(&results, &verdict, None, 60).contains("too many to draw"));
    }

    /// The best of each pair of values and the medians are of all layouts, whichever of them are in the page.
    #[test]
    fn of_too_many_layouts_the_overview_is_of_all_of_them() {
        let (results, verdict) =
            results(&["volume.interleave", "workload.w.depth", "workload.w.block"]);
        let all = data(&results, &verdict, None, 1000);
        let some = data(&results, &verdict, None, 30);
        assert_eq!((list(&all["layouts"]).len(), &some["all"]["layouts"]), (60, &60.into()));
        let factors = list(&all["factors"]);
        let is_less_better = all["quantities"][0]["better"] == "lower";
        // The values of layouts whose factors have these levels.
        let values = |levels: &[(usize, usize)]| -> Vec<f64> {
            let is_so = |row: &&Json| {
                let at = &all["layouts"][row[1].as_u64().unwrap() as usize]["at"];
                let has = |&(factor, level): &(usize, usize)| {
                    let factor: &Json = &factors[factor];
                    at[factor["path"].as_str().unwrap()] == factor["levels"][level]
                };
                row[0] == 0 && levels.iter().all(has)
            };
            list(&all["rows"]).iter().filter(is_so).filter_map(|row| row[2].as_f64()).collect()
        };
        for (factor, middles) in list(&some["all"]["middles"]).iter().enumerate() {
            for (level, middle) in list(middles).iter().enumerate() {
                assert_drawn(middle, median(&values(&[(factor, level)])));
            }
        }
        let pairs = list(&some["all"]["pairs"]);
        assert_eq!(pairs.len(), 2);
        for pair in pairs {
            let [a, b] = [0, 1].map(|at| pair["factors"][at].as_u64().unwrap() as usize);
            for cell in list(&pair["cells"]) {
                let level = |at: usize| cell[at].as_u64().unwrap() as usize;
                let values = values(&[(a, level(0)), (b, level(1))]);
                let better = if is_less_better { f64::min } else { f64::max };
                assert_drawn(&cell[3], values.iter().copied().reduce(better));
                assert_drawn(&cell[4], median(&values));
                assert_eq!(cell[5], values.len());
                let best = &some["layouts"][level(2)]["at"];
                assert_eq!(
                    best[factors[a]["path"].as_str().unwrap()],
                    factors[a]["levels"][level(0)]
                );
            }
        }
    }
}
