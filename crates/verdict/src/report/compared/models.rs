//! How often what a model errs by counts between two runs.

use crate::cells::CellSummary;
use crate::evidence::Evidence;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use store::{Manifest, Results};

/// Whose error is in the interval of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Nobody's: neither side is modelled.
    None,
    /// Nobody's: one model had the same settings on both sides. What it errs by is the same in both, and only the luck of
    /// their seeds can differ.
    Same,
    /// That of one model with different settings: it counts once, as between the layouts of one run.
    Settings,
    /// That of the side that is modelled.
    One,
    /// Those of two models, or of two versions of one, which may err apart: their sum.
    Apart,
}

impl Model {
    /// What is said of it below the table, without the full stop; `cells` says of which cells, where it is not of all.
    pub(super) fn words(self, error: f64, cells: Option<&str>) -> String {
        let sentence = self.sentence(error);
        let Some(cells) = cells else { return sentence };
        let mut letters = sentence.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        format!("{cells}: {}{}", first.map(String::from).unwrap_or_default(), letters.as_str())
    }

    fn sentence(self, error: f64) -> String {
        let much = if error.is_finite() {
            format!("{:.1} %", 100.0 * error)
        } else {
            "which is not known, so that no change counts".into()
        };
        match self {
            Model::None => String::new(),
            Model::Same => {
                "One model ran both with the same settings; its error is in both, and not in the \
                            intervals"
                    .into()
            }
            Model::Settings => {
                format!("They include the model's error between layouts, {much}")
            }
            Model::One => format!("They include the model's error, {much}"),
            Model::Apart => {
                format!(
                    "They include the errors of both models, {much} (rig, version or files differ)"
                )
            }
        }
    }
}

/// What is known of the models of two runs.
pub(super) struct Models {
    errors: [f64; 2],
    are_modelled: [bool; 2],
    /// Whether one model made both.
    are_one: bool,
    /// Whether both were made on one machine.
    are_on_one_machine: bool,
    settings: [toml::Table; 2],
}

impl Models {
    pub(super) fn of(first: &Results, second: &Results) -> Self {
        let error = |of: &Results| {
            let judged = of.records.iter().flat_map(|record| of.manifest.judged(record));
            let plain = judged.filter_map(|(_, sample)| sample.rsplit('.').next());
            let samples: Vec<&str> = plain.collect::<BTreeSet<_>>().into_iter().collect();
            Evidence::of(&of.manifest, &of.records, &samples).difference()
        };
        let (a, b) = (&first.manifest, &second.manifest);
        Models {
            errors: [error(first), error(second)],
            are_modelled: [a.modelled(), b.modelled()],
            are_one: are_one(a, b),
            are_on_one_machine: a.machine == b.machine,
            settings: [a.settings(), b.settings()],
        }
    }

    /// Whose error counts between two cells with the same factors, and how large it is.
    pub(super) fn between(&self, a: &CellSummary<'_>, b: &CellSummary<'_>) -> (Model, f64) {
        let [first, second] = self.errors;
        match self.are_modelled {
            [false, false] => (Model::None, 0.0),
            [true, true] if self.are_one && self.have_same_settings(a, b) => (Model::Same, 0.0),
            [true, true] if self.are_one => (Model::Settings, first.max(second)),
            [true, true] => (Model::Apart, first + second),
            [..] => (Model::One, first + second),
        }
    }

    /// Whether they are alike in all that is no factor of theirs, but for how often and how long they were tried.
    fn have_same_settings(&self, a: &CellSummary<'_>, b: &CellSummary<'_>) -> bool {
        let is_of_the_system = |path: &&String| {
            let is_asked = ["run.", "ask."].iter().any(|section| path.starts_with(section));
            path.contains('.') && !is_asked
        };
        let is_factor = |path: &&String| a.at.contains_key(*path) || b.at.contains_key(*path);
        let [first, second] = &self.settings;
        let paths = first.keys().chain(second.keys());
        let alike = paths
            .filter(is_of_the_system)
            .filter(|path| !is_factor(path))
            .all(|path| first.get(path) == second.get(path));
        alike && self.are_on_one_machine
    }
}

/// Whether one model made both: the same rig, version and files. A drive that only one of them has is a layout of its own.
fn are_one(a: &Manifest, b: &Manifest) -> bool {
    fn agree<T: PartialEq>(a: &BTreeMap<String, T>, b: &BTreeMap<String, T>) -> bool {
        a.iter().all(|(name, known)| b.get(name).is_none_or(|other| other == known))
    }
    a.rig == b.rig
        && a.ileave == b.ileave
        && agree(&a.drives, &b.drives)
        && agree(&a.hosts, &b.hosts)
        && agree(&a.controllers, &b.controllers)
        && agree(&a.trees, &b.trees)
        && agree(&a.traces, &b.traces)
}
