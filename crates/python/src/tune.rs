//! `ileave.tune`.

use crate::background::do_work;
use crate::raised;
use crate::run::{Given, simulated};
use ::tune::drives::{Asked, held, warnings};
use ::tune::work::Work;
use ::tune::{Drives, Posed, Question, capacity_bytes, hours, tune_experiment};
use lab::experiment::Experiment;
use lab::inventory::Inventory;
use lab::rig::sim::Sim;
use lab::rig::{Rig, Stoppable};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use store::known::KnownDrive;
use store::{Error, Result};
use verdict::Wishes;
use verdict::tables::unmarked;

/// What is asked, in the words of the command's flags.
#[derive(FromPyObject)]
pub(crate) struct Wanted {
    path: Option<PathBuf>,
    json: Option<String>,
    assignments: Vec<(String, String)>,
    choose: Vec<String>,
    results: Option<PathBuf>,
    drives: Option<String>,
    from_: Vec<PathBuf>,
    workload: Option<String>,
    survive: Option<usize>,
    capacity: Option<String>,
    spares: Option<usize>,
    replace_after: Option<String>,
    budget: Option<f64>,
    price: Option<f64>,
    safe: bool,
    level: Vec<String>,
    objective: Option<String>,
    subject_to: Vec<String>,
    seed: Option<u64>,
}

/// What was found.
#[pyclass(frozen)]
pub(crate) struct Tuned {
    found: ::tune::Tuned,
    warnings: Vec<String>,
    /// What was taken of an inventory, and what was left out of it.
    notes: Vec<String>,
}

#[pymethods]
impl Tuned {
    /// As `ileave tune --json` prints it.
    fn json(&self) -> String {
        self.found.json().to_string()
    }

    /// As `ileave tune` prints it.
    fn text(&self) -> String {
        unmarked(&self.found.text())
    }

    /// As `ileave tune --html` writes it.
    fn html(&self) -> PyResult<String> {
        self.found.html().map_err(|error| raised(&error))
    }

    /// Everything assumed, as an experiment.
    fn experiment(&self) -> String {
        self.found.experiment.clone()
    }

    /// What the person must know of what was asked.
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// What was taken of an inventory, and what was left out of it.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Which layout to build, or which of an experiment's to choose.
#[pyfunction]
pub(crate) fn tune(py: Python<'_>, wanted: Wanted) -> PyResult<Tuned> {
    do_work(py, move |stopped| {
        let rig = Stoppable::new(&Sim, Arc::clone(&stopped));
        let open = |_: &Experiment| -> Result<Box<dyn Rig>> {
            Ok(Box::new(Stoppable::new(&Sim, Arc::clone(&stopped))))
        };
        if wanted.path.is_none() && wanted.json.is_none() {
            let (question, mut warnings, notes) = question(wanted)?;
            let found = ::tune::tune(&question, &rig, None, &mut |_| ())?;
            warnings.extend_from_slice(&found.warnings);
            return Ok(Tuned { found, warnings, notes });
        }
        let results = wanted.results.clone();
        let (mut posed, mut warnings) = posed(wanted)?;
        if let Some(directory) = results {
            let said = posed.take(&directory, &rig).map_err(|error| error.context("results"))?;
            warnings.extend(said);
        }
        let found = tune_experiment(&posed, &open, None, &mut |_| ())?;
        warnings.extend_from_slice(&found.warnings);
        Ok(Tuned { found, warnings, notes: Vec::new() })
    })
}

/// The question of an experiment.
fn posed(wanted: Wanted) -> Result<(Posed, Vec<String>)> {
    let given = Given { path: wanted.path, json: wanted.json, assignments: wanted.assignments };
    let (mut experiment, warnings) = given.read()?;
    simulated(&experiment)?;
    if let Some(seed) = wanted.seed {
        experiment.set_values("run.seed", &seed.to_string())?;
    }
    let wishes = Wishes {
        safe: wanted.safe,
        objectives: wanted.objective.into_iter().collect(),
        subject_to: wanted.subject_to,
        choose: wanted.choose,
    };
    Ok((Posed::new(experiment, wishes, wanted.price)?, warnings))
}

/// The question of drives and work.
fn question(wanted: Wanted) -> Result<(Question, Vec<String>, Vec<String>)> {
    let capacity_bytes = match &wanted.capacity {
        None => 0,
        Some(text) => capacity_bytes("capacity", text)?,
    };
    let replaced_after = wanted.replace_after.as_deref();
    let replaced_after_h = replaced_after.map(|text| hours("replace_after", text)).transpose()?;
    let Found { drives, price_usd, mut warnings, notes } = drives(&wanted)?;
    let work = Work::find(wanted.workload.as_deref().unwrap_or_default(), &drives);
    let mut work = work.map_err(|error| error.context("workload"))?;
    for (key, value) in &wanted.assignments {
        work.set(&format!("{key}={value}"))?;
    }
    let question = Question {
        survive: wanted.survive.unwrap_or(1),
        is_survive_assumed: wanted.survive.is_none(),
        capacity_bytes,
        safe: wanted.safe,
        objective: wanted.objective,
        subject_to: wanted.subject_to,
        spares: wanted.spares.unwrap_or(0),
        replaced_after_h,
        are_spares_open: wanted.spares.is_none(),
        price_usd,
        budget_usd: wanted.budget,
        levels: wanted.level,
        seed: wanted.seed.unwrap_or(1),
        ..Question::new(drives, work)
    };
    let question = question.with_wishes_of_work()?.with_spares_needed()?;
    warnings.extend_from_slice(&question.work.warnings);
    Ok((question, warnings, notes))
}

/// The drives that are asked for or there, as many as the budget pays for.
struct Found {
    drives: Drives,
    /// What one costs.
    price_usd: Option<f64>,
    /// What is to be known of them.
    warnings: Vec<String>,
    /// What was taken of an inventory, and what was left out of it.
    notes: Vec<String>,
}

fn drives(wanted: &Wanted) -> Result<Found> {
    let asked = wanted.drives.as_deref().map(Asked::read).transpose()?;
    let paid = |asked: Asked| -> Result<(Drives, Option<f64>)> {
        let price = wanted.price.or(KnownDrive::from(&asked.drive).price_usd);
        Ok((asked.within(wanted.budget, price)?, price))
    };
    if wanted.from_.is_empty() {
        let asked = asked.ok_or_else(|| Error::input("give `drives`, `from_` or `experiment`"))?;
        let (drives, price_usd) = paid(asked)?;
        return Ok(Found { drives, price_usd, warnings: Vec::new(), notes: Vec::new() });
    }
    let inventory = Inventory::open(&wanted.from_)?;
    let (found, said) = held(&inventory, asked.as_ref())?;
    let (drives, price_usd) = paid(found)?;
    let named =
        |texts: Vec<String>| texts.into_iter().map(|text| format!("from_: {text}")).collect();
    let warnings = named(warnings(&inventory, &drives));
    let drives = drives.as_linux_calls_them(&inventory);
    Ok(Found { drives, price_usd, warnings, notes: named(said.notes) })
}
