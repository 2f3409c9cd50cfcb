//! One cell of an experiment, and the cells beside it.

use super::Change;
use super::draw::Case;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Plan, Trial};
use crate::keys::Value;
use crate::record::{Measured, at_json, label};
use crate::rig::sim::Sim;
use crate::rig::{self, Rig};
use std::fmt::Write as _;

/// The workload of a cell that was drawn.
const WORKLOAD: &str = "w";

/// One cell.
pub struct Subject {
    experiment: Experiment,
    workload: String,
    at: Vec<(String, Value)>,
}

impl Subject {
    /// A cell that was drawn.
    ///
    /// # Errors
    ///
    /// Where a setting is none.
    pub(super) fn of_settings(case: &Case) -> Result<Self> {
        let mut experiment = Experiment::parse("a cell at random", "[workload.w]\n")?;
        for (path, value) in case {
            experiment.set_values(&path.replace("work.", "workload.w."), value)?;
        }
        Ok(Subject { experiment, workload: WORKLOAD.into(), at: Vec::new() })
    }

    /// Every cell of an experiment, once.
    ///
    /// # Errors
    ///
    /// Where the experiment cannot be simulated.
    pub(super) fn all_of(experiment: &Experiment) -> Result<Vec<Self>> {
        let plan = Plan::new(experiment)?;
        plan.trials.iter().try_for_each(|trial| Sim.admit(trial))?;
        let mut cells: Vec<_> = plan.trials.into_iter().map(|trial| trial.cell).collect();
        cells.sort();
        cells.dedup();
        let subject = |cell: crate::experiment::Cell| -> Result<Self> {
            let mut own = experiment.clone();
            for (path, value) in &cell.at {
                own.set_values(path, &value.to_string())?;
            }
            Ok(Subject { experiment: own, workload: cell.workload, at: cell.at })
        };
        cells.into_iter().map(subject).collect()
    }

    /// The same cell with these keys changed.
    ///
    /// # Errors
    ///
    /// Where a key does not take its value.
    pub(super) fn with(&self, change: &Change) -> Result<Self> {
        let mut experiment = self.experiment.clone();
        for (path, value) in change {
            let own = format!("workload.{}.", self.workload);
            experiment.set_values(&path.replace("work.", &own), value)?;
        }
        Ok(Subject { experiment, workload: self.workload.clone(), at: self.at.clone() })
    }

    /// Its first trial.
    ///
    /// # Errors
    ///
    /// Where it makes no sense.
    pub(super) fn trial(&self) -> Result<Trial> {
        let trials = Plan::new(&self.experiment)?.trials;
        let own = |trial: &Trial| trial.is_first() && trial.cell.workload == self.workload;
        trials.into_iter().find(own).ok_or_else(|| Error::failure("it has no trial"))
    }

    /// Simulates its first trial.
    ///
    /// # Errors
    ///
    /// Where that cannot be simulated.
    pub(super) fn measure(&self) -> Result<Measured> {
        let trial = self.trial()?;
        Sim.admit(&trial)?;
        rig::run(&Sim, &trial)
    }

    /// Its workload and the values of its factors, in one line.
    pub fn label(&self) -> String {
        let cell = crate::experiment::Cell {
            workload_index: 0,
            workload: self.workload.clone(),
            at: self.at.clone(),
        };
        format!("{}: {}", self.workload, label(&at_json(&cell)))
    }
}

/// A cell that was drawn as an experiment file.
pub(super) fn as_file(case: &Case) -> String {
    let mut text = String::new();
    let mut section = "";
    for (path, value) in case {
        let (of, key) = path.split_once('.').unwrap_or(("", path));
        if of != section {
            let name = if of == "work" { "workload.w" } else { of };
            writeln!(text, "[{name}]").expect("a string grows");
            section = of;
        }
        // Members are a list as text.
        let is_text = path == "volume.failed";
        let bare = !is_text && (value.parse::<u64>().is_ok() || value.parse::<bool>().is_ok());
        let quote = if bare { "" } else { "\"" };
        writeln!(text, "{key} = {quote}{value}{quote}").expect("a string grows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::draw;
    use super::*;

    #[test]
    fn what_is_printed_of_a_cell_is_an_experiment_that_can_be_run() {
        for index in 0..200 {
            let case = draw::case(1, index);
            let read = Experiment::parse("printed.toml", &as_file(&case));
            assert!(read.is_ok(), "{}: {:?}", as_file(&case), read.err());
        }
    }
}
