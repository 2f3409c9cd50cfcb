//! The keys of the experiment itself: its name, its question, how often it is tried, and how long a trial lasts.

use super::sections::find;
use crate::error::Error;
use crate::keys::{FromValue, Key, Takes, Value, YEAR_NS, keys, label};
use crate::rig::KINDS as RIGS;
use store::ask::{BEFOREHAND, is_beforehand};
use store::expression::{Constraint, Objective};

/// What `objective` takes.
const OBJECTIVE: Takes = Takes::Form {
    expects: "`min` or `max` and a formula, as in \"min tar_s + rm_s\"",
    read: |text| Objective::parse(text).map(|objective| objective.text),
};

keys! {
    /// The keys that stand above all sections.
    pub struct AboutKeys {
        /// Name of the experiment [default: the file's name]
        name: Option<String> = label("name", Takes::Text),
        /// The question in one sentence
        about: String = label("about", Takes::Text).default(""),
        /// Published table to print beside the results, as in `ileave reproduce`
        published: String = label("published", Takes::Text).default(""),
        /// What layouts are ranked by: a formula over workloads and their samples [default: the first sample of the only
        /// workload, or of all of them]
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

/// What `subject_to` takes.
const CONSTRAINT: Takes = Takes::Form {
    expects: "a formula with >= or <=, as in \"commit_p99 <= 5ms\"",
    read: |text| Constraint::parse(text).map(|constraint| constraint.text),
};

/// What the `objective` of `ask` takes.
const BEFOREHAND_OBJECTIVE: Takes = Takes::Form {
    expects: "`min` or `max` and a formula of what is known beforehand, as in \"min usd_per_tb\"",
    read: |text| {
        let objective = Objective::parse(text)?;
        if !is_beforehand(text) {
            return Err(Error::input(format!(
                "`{text}` is not of {}; write what is measured as `objective`, outside of `[ask]`",
                BEFOREHAND.join(", ")
            )));
        }
        Ok(objective.text)
    },
};

/// The keys of `ask`. Nothing in a trial depends on them: they are for the verdict, which finds them in the manifest.
#[derive(Clone, Copy, Debug)]
pub struct AskKeys;

impl AskKeys {
    /// Its keys.
    pub const KEYS: &'static [Key] = &[
        label("choose", FACTOR).list().help(
            "Factors to choose; the others become loads and conditions. `*` stands for the name of any workload. Without \
             it every choice",
        ),
        label("subject_to", CONSTRAINT).list().help(
            "What must hold of a layout, as `--subject-to` has it. What is known beforehand, as `usable_tb` and `loss_5y`, \
             `ileave tune` alone looks at",
        ),
        label("objective", BEFOREHAND_OBJECTIVE).help(
            "What `ileave tune` minimises or maximises of what needs no measuring, as in `max usable_tb`; among the layouts that are best in it, \
             `objective` decides",
        ),
        label("safe", Takes::Switch).default("false").help(
            "Leave out layouts that one failed disk or a crash damages, as `--safe` has it; `--safe` of `ileave tune` with drives \
             turns their write caches off, too, and writes both",
        ),
        label("all_drives", Takes::Text).help(
            "The drives that `ileave tune` was asked about, spares included, as `--save` writes them: `ileave tune FILE` asks the same \
             again, as long as the rest of the file is as it was written. Without it the layouts of the file are what is chosen among",
        ),
        label("work", Takes::Text).help("The work that it was asked about: a name, or a file"),
        label("survive", Takes::Count(0, 64)).help("As `--survive`"),
        label("capacity", Takes::Text).help("As `--capacity`"),
        label("spares", Takes::Count(0, 64)).help("As `--spares`"),
        label("replace_after", Takes::Text).help("As `--replace-after`"),
        label("price", Takes::Text).help("As `--price`: what one drive costs, in US$"),
        label("budget", Takes::Text).help("As `--budget`, in US$"),
        label("levels", Takes::Text).list().help("As `--level`"),
    ];
}

/// What `on` takes.
const ON: Takes = Takes::Name {
    names: || RIGS.iter().map(|kind| kind.name).collect(),
    also: Vec::new,
    read: |text| RIGS.iter().find(|kind| kind.name == text).map(|kind| kind.name),
};

keys! {
    /// The keys of `run`.
    pub struct RunKeys {
        /// Rig that the experiment is for, where it is for one alone
        on: Option<String> = label("on", ON),
        /// Random seed
        seed: u64 = label("seed", Takes::Count(0, u64::MAX)).default("1"),
        /// Repeats per cell, each with a seed of its own [default: 1; 5 where a modelled volume (in `sim`) has several rotating
        /// disks, whose relative rotation differs with each seed; 3 on real disks, where runs differ, and where a `capacity` is
        /// searched for]
        repeats: Option<u64> = label("repeats", Takes::Count(1, 10_000)),
        /// Half of the 95 % interval of throughput at which a trial without a length of its own (`count`, `amount`
        /// or `runtime`) ends
        precision: Precision = label("precision", Precision::TAKES).default("2%"),
        /// Half of the 95 % interval of a comparison at which a cell gets no more repeats; `repeats` is then the most,
        /// without it 30
        compare_within: Option<Precision> = label("compare_within", Precision::TAKES),
        /// Longest such trial, in its own time [default: an hour where drives are modelled, 5 minutes on real ones]
        budget_ns: Option<u64> = label("budget", Takes::Time(1, YEAR_NS)),
        /// Most requests of such a trial, one of more than 64 KiB counted as several
        budget_requests: u64 = label("budget_requests", Takes::Count(1, 1_000_000_000_000)).default("2000000"),
    }
}

impl RunKeys {
    /// Repeats per cell, as the experiment says, or else one.
    pub fn stated_repeats(&self) -> u64 {
        self.repeats.unwrap_or(1)
    }
}

/// How narrow an interval is to be, in thousandths of the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision(u32);

impl Precision {
    const TAKES: Takes = Takes::Form {
        expects: "a percentage from 0.1% to 50%, as in \"2%\"",
        read: |text| match Precision::parse(text) {
            Some(Precision(thousandths)) => Ok(format!("{}%", f64::from(thousandths) / 10.0)),
            None => Err(Error::input(format!(
                "`{text}` is not a percentage from 0.1% to 50%; write it as \"2%\""
            ))),
        },
    };

    fn parse(text: &str) -> Option<Self> {
        let percent: f64 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
        (0.1..=50.0).contains(&percent).then(|| Precision((percent * 10.0).round() as u32))
    }

    /// As a share of the mean.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl FromValue for Precision {
    fn from_value(value: &Value) -> Option<Self> {
        Precision::parse(&value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_knows_the_seed_of_who_says_none() {
        let unset = std::collections::BTreeMap::new();
        let run = RunKeys::read(&crate::keys::Section::new(&unset, "run"));
        assert_eq!(i64::try_from(run.seed), Ok(store::SEED));
    }
}
