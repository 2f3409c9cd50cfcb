//! The keys of the experiment itself: its name, its question, and how often it is tried.

use super::sections::find;
use crate::error::Error;
use crate::keys::{Key, Takes, keys, label};
use store::expression::Objective;

/// What `objective` takes.
const OBJECTIVE: Takes = Takes::Form {
    expects: "`min` or `max` and a formula, as in \"min tar_s + rm_s\"",
    read: |text| Objective::parse(text).map(|objective| objective.text),
};

keys! {
    /// The keys that stand above all sections.
    pub struct AboutKeys {
        /// Name of the experiment; without it the file's name
        name: Option<String> = label("name", Takes::Text),
        /// The question in one sentence
        about: String = label("about", Takes::Text).default(""),
        /// Published table to print beside the results, as in `ileave reproduce`
        published: String = label("published", Takes::Text).default(""),
        /// What layouts are ranked by: a formula over workloads and their samples; without it the first sample
        /// of the only workload, or of all of them
        objective: Option<String> = label("objective", OBJECTIVE),
    }
}

/// What `choose` takes: a key that a list makes a factor.
const FACTOR: Takes = Takes::Form {
    expects: "a key that can be varied, as in \"volume.interleave\" or \"workload.*.offset\"",
    read: |path| {
        let key = find(path)?;
        if !key.factor {
            return Err(Error::input(format!("`{path}` cannot be varied, so it cannot be chosen")));
        }
        Ok(path.into())
    },
};

/// The keys of `ask`. Nothing in a trial depends on them: they are for the verdict, which finds them in the manifest.
#[derive(Clone, Copy, Debug)]
pub struct AskKeys;

impl AskKeys {
    /// Its keys.
    pub const KEYS: &'static [Key] = &[label("choose", FACTOR).list().help(
        "Factors to choose; the others become loads and conditions. `*` stands for the name of any workload. Without \
         it every choice",
    )];
}

keys! {
    /// The keys of `run`.
    pub struct RunKeys {
        /// Random seed
        seed: u64 = label("seed", Takes::Count(0, u64::MAX)).default("1"),
        /// Repeats per cell, each with a seed of its own
        repeats: u64 = label("repeats", Takes::Count(1, 10_000)).default("1"),
    }
}
