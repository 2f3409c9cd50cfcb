//! What an experiment sets, as data and as text.

use lab::experiment::{Experiment, Setting};
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::record::factor_value;

/// All settings, by path; a factor has the list of its values.
pub(crate) fn json(experiment: &Experiment) -> Map<String, Json> {
    let value = |setting: &Setting| {
        let values: Vec<Json> =
            setting.values.iter().map(|value| factor_value(&value.to_string())).collect();
        if setting.factor { values.into() } else { values.into_iter().next().unwrap_or_default() }
    };
    experiment.settings().iter().map(|(path, setting)| (path.clone(), value(setting))).collect()
}

/// The same, a line each, in the order of their paths.
pub(crate) fn text(experiment: &Experiment) -> String {
    let mut text = String::new();
    for (path, value) in json(experiment) {
        writeln!(text, "{path} = {value}").expect("a string grows");
    }
    text
}
