//! The chosen layout with two values of one key that is no layout to choose among, both measured in full.

use crate::question::Candidate;
use crate::tried::{Settings, Tried, run_alone};
use lab::Result;
use lab::experiment::Experiment;
use lab::run::Run;
use serde::Serialize;
use serde_json::Value as Json;
use store::Manifest;
use store::quantity::Better;
use store::record::Record;
use verdict::judge::Ranked;
use verdict::tables::slower;
use verdict::{Verdict, Wishes};

/// A layout with one value of a key beside itself with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Pair {
    /// How many times better it is with the first; none where either of the two trials did not settle.
    pub(crate) times: Option<f64>,
    /// Whether what must hold (`--subject-to`) holds with the second.
    pub(crate) keeps_limits: bool,
    /// By how much the two trials' own intervals may shift `times`, in percent.
    pub(crate) error_percent: f64,
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

impl Pair {
    /// Measures `best` with each other value, side by side, and sets it beside what the search measured.
    pub(crate) fn measure(
        tried: &Tried<'_>,
        best: &Candidate,
        asked: &[Both],
    ) -> Result<Vec<Pair>> {
        let with = |both: &Both, values: &str| {
            let own = (both.key.to_string(), values.to_string());
            let settings: Settings = best.settings().into_iter().chain([own]).collect();
            tried.with(&settings, 0)
        };
        let others: Vec<Experiment> =
            asked.iter().map(|both| with(both, both.values[1])).collect::<Result<_>>()?;
        let others = tried.run_experiments(&others, 0)?;
        let pair = |(both, others): (&Both, Vec<Record>)| {
            let mut own = tried.first_of(best);
            if own.is_empty() || !tried.leaves_open(both.key) {
                own = run_alone(&with(both, both.values[0])?, tried.rig())?;
            }
            let manifest = Run::plan(&with(both, &both.values.join(","))?, tried.rig())?;
            Pair::of(tried, best, both, manifest.manifest(), [own, others])
        };
        asked.iter().zip(others).map(pair).collect()
    }

    /// What the records with each value say.
    fn of(
        tried: &Tried<'_>,
        best: &Candidate,
        both: &Both,
        manifest: &Manifest,
        mut records: [Vec<Record>; 2],
    ) -> Result<Pair> {
        for (of, value) in records.iter_mut().zip(both.values) {
            for record in of {
                // The layout is the same in both; loads stay.
                best.settings().iter().for_each(|(path, _)| drop(record.at.remove(path)));
                record.at.insert(both.key.into(), Json::from(value));
            }
        }
        let mut records = records.concat();
        for (trial, record) in records.iter_mut().enumerate() {
            record.trial = trial;
        }
        let unlimited = Wishes { subject_to: Vec::new(), ..tried.wishes() };
        let verdict = Verdict::new(manifest, &records, &unlimited)?;
        let limited = Verdict::new(manifest, &records, &tried.wishes())?;
        let [own, other] = both.values.map(|value| ranked(&verdict, both.key, value));
        Ok(Pair {
            times: own
                .zip(other)
                .map(|(own, other)| verdict.better.ahead(own.value, other.value).exp()),
            keeps_limits: ranked(&limited, both.key, both.values[1]).is_some(),
            error_percent: records.iter().filter_map(|of| of.samples.get("interval_percent")).sum(),
            better: verdict.better,
            unit: verdict.unit.clone(),
        })
    }

    /// Whether `times` is within what the two trials' own intervals may shift it by.
    pub(crate) fn is_within_error(&self, times: f64) -> bool {
        (times - 1.0) * 100.0 <= self.error_percent
    }

    /// Something so many times worse, in words.
    pub(crate) fn slower(&self, times: f64) -> String {
        slower(times, self.better, &self.unit)
    }
}

/// The layout with this value of the key, where it may be chosen.
fn ranked<'a>(verdict: &'a Verdict, key: &str, value: &str) -> Option<&'a Ranked> {
    let is_it = |ranked: &&Ranked| {
        ranked.at.get(key).is_some_and(|stated| store::record::plain(stated) == value)
    };
    verdict.ranked.iter().find(is_it)
}
