//! The chosen layout with two values of one key that is no layout to choose among, both measured in full.

use crate::tried::Settings;
use lab::{Error, Result};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use store::Manifest;
use store::quantity::Better;
use store::record::Record;
use verdict::judge::Ranked;
use verdict::tables::slower;
use verdict::{Verdict, Wishes};

/// A gain of up to so many times is not worth a setting of one's own.
const WORTH_TIMES: f64 = 1.1;

/// A layout with one value of a key beside itself with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Pair {
    /// How many times better it is with the first; none where either of the two trials did not settle, or failed.
    pub(crate) times: Option<f64>,
    /// What a trial failed of, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
    /// Whether what must hold (`--subject-to`) holds with the second.
    pub(crate) keeps_limits: bool,
    /// By how much the two trials' own intervals may shift `times`, in percent; where they have none, by how much it is
    /// another with another seed.
    pub(crate) error_percent: f64,
    /// What it rests on that nobody measured, and the layout alone does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) doubts: Vec<String>,
    /// Which way is better.
    #[serde(skip)]
    pub(crate) better: Better,
    /// What it is counted in.
    #[serde(skip)]
    pub(crate) unit: String,
}

/// A key that is no layout to choose among, and the two values that are compared; the search had the first, where the
/// question leaves the key open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both {
    pub(crate) key: &'static str,
    pub(crate) values: [&'static str; 2],
}

/// A layout that can be measured with other values of keys that it does not choose.
pub(crate) trait Layout {
    /// What the search measured of it, with the first seed.
    fn known(&self) -> Vec<Record>;

    /// Whether the question says nothing of a key, so that the search had what it is by itself.
    fn leaves_open(&self, key: &str) -> bool;

    /// Whether a key is one of its own.
    fn chooses(&self, key: &str) -> bool;

    /// Measures it with each of these settings, with so much added to the seed; in their order. One that fails does not
    /// end the others.
    fn measure(&self, settings: &[Settings], seed: u64) -> Vec<Result<Vec<Record>>>;

    /// What results of it with these settings are of.
    fn manifest(&self, settings: &Settings) -> Result<Manifest>;

    /// What it is ranked by, and what must hold.
    fn wishes(&self) -> Wishes;
}

/// What was measured of a layout, by what was added to the seed and what was set; or what failed, in a line.
pub(crate) struct Measured(BTreeMap<(u64, Settings), Outcome>);

type Outcome = std::result::Result<Vec<Record>, String>;

impl Measured {
    /// What the search measured.
    pub(crate) fn by_search(layout: &dyn Layout) -> Measured {
        let known = Some(layout.known()).filter(|known| !known.is_empty());
        Measured(known.map(|known| ((0, Settings::new()), Ok(known))).into_iter().collect())
    }

    /// What each of these settings measures, in their order.
    fn records(&mut self, layout: &dyn Layout, asked: &[Settings], seed: u64) -> Vec<Outcome> {
        let mut missing: Vec<Settings> = Vec::new();
        for settings in asked {
            let is_known = self.0.contains_key(&(seed, settings.clone()));
            if !is_known && !missing.contains(settings) {
                missing.push(settings.clone());
            }
        }
        if !missing.is_empty() {
            let found = layout.measure(&missing, seed).into_iter();
            let found = found.map(|records| records.map_err(|error| in_a_line(&error)));
            self.0.extend(missing.into_iter().map(|settings| (seed, settings)).zip(found));
        }
        let records = |settings: &Settings| self.0[&(seed, settings.clone())].clone();
        asked.iter().map(records).collect()
    }
}

impl Pair {
    /// Measures `layout` with each value, and with what is `beside` it; what was `measured` before is not again. A trial
    /// that fails costs the pairs that need it, and says why.
    pub(crate) fn measure(
        layout: &dyn Layout,
        asked: &[Both],
        beside: &Settings,
        measured: &mut Measured,
    ) -> Vec<Pair> {
        let with = |both: &Both, value: &str| -> Settings {
            let own = (both.key.to_string(), value.to_string());
            beside.iter().cloned().chain([own]).collect()
        };
        // Without what is asked the layout is the same for every key that it leaves open.
        let own = |both: &Both| {
            if layout.leaves_open(both.key) { beside.clone() } else { with(both, both.values[0]) }
        };
        let owns: Vec<Settings> = asked.iter().map(own).collect();
        let others: Vec<Settings> = asked.iter().map(|both| with(both, both.values[1])).collect();
        let mut pairs: Vec<Option<Pair>> = vec![None; asked.len()];
        for seed in 0..2 {
            let others = measured.records(layout, &others, seed);
            let owns = measured.records(layout, &owns, seed);
            // A trial with an interval says itself how sure it is.
            let mut of_all = others.iter().flatten().flatten();
            let are_sure = of_all.all(|of| of.samples.get("interval_percent").is_some());
            for ((both, (own, other)), pair) in
                asked.iter().zip(owns.into_iter().zip(others)).zip(&mut pairs)
            {
                let found = own.and_then(|own| Ok([own, other?])).and_then(|records| {
                    let alone = layout.manifest(&with(both, both.values[0]));
                    let manifest = layout.manifest(&with(both, &both.values.join(",")));
                    let found = alone
                        .and_then(|alone| Pair::of(layout, both, [&alone, &manifest?], records));
                    found.map_err(|error| in_a_line(&error))
                });
                let found = found.unwrap_or_else(Pair::failed);
                *pair = Some(match pair.take() {
                    Some(pair) => pair.and(&found),
                    None => found,
                });
            }
            if are_sure {
                break;
            }
        }
        pairs.into_iter().flatten().collect()
    }

    /// What the records with each value say; the manifests are those of the first alone, and of both.
    fn of(
        layout: &dyn Layout,
        both: &Both,
        [alone, manifest]: [&Manifest; 2],
        mut records: [Vec<Record>; 2],
    ) -> Result<Pair> {
        for (of, value) in records.iter_mut().zip(both.values) {
            for record in of {
                // The layout is the same in both; loads stay.
                record.at.retain(|path, _| !layout.chooses(path));
                record.at.insert(both.key.into(), Json::from(value));
            }
        }
        let known = doubts(&Verdict::new(alone, &records[0], &layout.wishes())?);
        let mut records = records.concat();
        for (trial, record) in records.iter_mut().enumerate() {
            record.trial = trial;
        }
        let wishes = layout.wishes();
        let limited = Verdict::new(manifest, &records, &wishes)?;
        let unlimited = Wishes { subject_to: Vec::new(), ..wishes };
        let verdict = Verdict::new(manifest, &records, &unlimited)?;
        let [own, other] = both.values.map(|value| ranked(&verdict, both.key, value));
        Ok(Pair {
            times: own
                .zip(other)
                .map(|(own, other)| verdict.better.ahead(own.value, other.value).exp()),
            failed: None,
            doubts: doubts(&verdict).into_iter().filter(|of| !known.contains(of)).collect(),
            keeps_limits: ranked(&limited, both.key, both.values[1]).is_some(),
            error_percent: records.iter().filter_map(|of| of.samples.get("interval_percent")).sum(),
            better: verdict.better,
            unit: verdict.unit.clone(),
        })
    }

    /// What can be said where a trial failed.
    pub(crate) fn failed(why: String) -> Pair {
        let (better, unit) = (Better::Higher, String::new());
        let failed = Some(why);
        let (times, keeps_limits, doubts) = (None, true, Vec::new());
        Pair { times, failed, keeps_limits, error_percent: 0.0, doubts, better, unit }
    }

    /// So many times better, for tests.
    #[cfg(test)]
    pub(crate) fn of_test(times: f64, error_percent: f64) -> Pair {
        let (better, unit) = (Better::Higher, "MB/s".to_string());
        let (failed, keeps_limits, doubts) = (None, true, Vec::new());
        Pair { times: Some(times), failed, keeps_limits, error_percent, doubts, better, unit }
    }

    /// Why it is not known how many times better it is.
    pub(crate) fn unknown(&self) -> String {
        match &self.failed {
            Some(why) => format!("a trial failed: {why}"),
            None => "a trial did not settle".into(),
        }
    }

    /// The same with another seed: in between, and as unsure as they are apart.
    fn and(self, other: &Pair) -> Pair {
        let times = self.times.zip(other.times);
        let apart = times.map_or(0.0, |(a, b)| (a / b).max(b / a) - 1.0);
        Pair {
            times: times.map(|(a, b)| (a * b).sqrt()),
            failed: self.failed.or_else(|| other.failed.clone()),
            keeps_limits: self.keeps_limits && other.keeps_limits,
            error_percent: self.error_percent.max(other.error_percent) + 100.0 * apart,
            ..self
        }
    }

    /// Whether `times` is within what the two trials' own intervals may shift it by.
    pub(crate) fn is_within_error(&self, times: f64) -> bool {
        (times - 1.0) * 100.0 <= self.error_percent
    }

    /// How many times better it is with the second, where that is worth a setting of one's own.
    pub(crate) fn gain(&self) -> Option<f64> {
        let gains = self.times.map(|times| 1.0 / times).filter(|_| self.keeps_limits);
        gains.filter(|gains| *gains > WORTH_TIMES && !self.is_within_error(*gains))
    }

    /// Something so many times worse, in words.
    pub(crate) fn slower(&self, times: f64) -> String {
        slower(times, self.better, &self.unit)
    }
}

/// What a verdict rests on that nobody measured.
fn doubts(verdict: &Verdict) -> Vec<String> {
    let points = verdict.points.iter().filter(|point| point.about == "doubt");
    points.map(|point| point.text.clone()).collect()
}

/// The first line of what went wrong.
fn in_a_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// The layout with this value of the key, where it may be chosen.
fn ranked<'a>(verdict: &'a Verdict, key: &str, value: &str) -> Option<&'a Ranked> {
    let is_it = |ranked: &&Ranked| {
        ranked.at.get(key).is_some_and(|stated| store::record::plain(stated) == value)
    };
    verdict.ranked.iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two seeds that do not agree are no gain.
    #[test]
    fn what_two_seeds_disagree_on_is_within_the_error() {
        let of = |times| Pair::of_test(times, 0.0);
        assert!(of(0.8).and(&of(0.82)).gain().is_some_and(|gain| gain > 1.2));
        assert_eq!(of(0.8).and(&of(1.0)).gain(), None);
        assert_eq!(of(0.95).gain(), None);
        assert_eq!(Pair { keeps_limits: false, ..of(0.5) }.gain(), None);
    }
}
