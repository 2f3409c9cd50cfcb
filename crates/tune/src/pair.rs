//! The chosen layout with two values of one key that is no layout to choose among, both measured in full.

use crate::question::Candidate;
use crate::tried::{Settings, Tried, run_alone};
use lab::Result;
use lab::run::Run;
use serde::Serialize;
use store::quantity::Better;
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

impl Pair {
    /// Measures `best` with `key` at each of two values.
    pub(crate) fn measure(
        tried: &Tried<'_>,
        best: &Candidate,
        key: &str,
        [first, second]: [&str; 2],
    ) -> Result<Pair> {
        let both = (key.to_string(), format!("{first},{second}"));
        let settings: Settings = best.settings().into_iter().chain([both]).collect();
        let experiment = tried.with(&settings, 0)?;
        let manifest = Run::plan(&experiment, tried.rig())?.manifest().clone();
        let records = run_alone(&experiment, tried.rig())?;
        let unlimited = Wishes { subject_to: Vec::new(), ..tried.wishes() };
        let verdict = Verdict::new(&manifest, &records, &unlimited)?;
        let limited = Verdict::new(&manifest, &records, &tried.wishes())?;
        let pair = ranked(&verdict, key, first).zip(ranked(&verdict, key, second));
        Ok(Pair {
            times: pair.map(|(own, other)| verdict.better.ahead(own.value, other.value).exp()),
            keeps_limits: ranked(&limited, key, second).is_some(),
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
