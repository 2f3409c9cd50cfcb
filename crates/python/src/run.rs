//! `ileave.run`.

use crate::background::do_work;
use crate::raised;
use crate::report::to_columns;
use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::rig::{Rig as _, Stoppable};
use lab::run::Run;
use lab::{Keep, Result};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use store::Manifest;
use store::record::Record;
use verdict::report::columns::columns;
use verdict::{Verdict, Wishes};

/// An experiment that is to be run.
struct Asked {
    experiment: Experiment,
    warnings: Vec<String>,
    out: Option<PathBuf>,
    resume: bool,
}

/// Runs an experiment, of the file `path` or of `json`, with the keys of `assignments` set; keeps the results in `out`.
/// Gives its columns, the verdict's answer and the warnings.
#[pyfunction]
#[pyo3(signature = (path, json, assignments, out, resume))]
pub(crate) fn run(
    py: Python<'_>,
    path: Option<PathBuf>,
    json: Option<String>,
    assignments: Vec<(String, String)>,
    out: Option<PathBuf>,
    resume: bool,
) -> PyResult<(Bound<'_, PyList>, String, Vec<String>)> {
    let given = Given { path, json, assignments };
    let read = || {
        let (experiment, warnings) = given.read()?;
        simulated(&experiment)?;
        Ok(Asked { experiment, warnings, out, resume })
    };
    let asked = read().map_err(|error| raised(&error))?;
    let (manifest, records, answer, warnings) = do_work(py, move |stopped| {
        let rig = Stoppable::new(&Sim, stopped);
        ran(asked, &rig)
    })?;
    Ok((to_columns(py, columns(&manifest, &records))?, answer, warnings))
}

type Ran = (Manifest, Vec<Record>, String, Vec<String>);

fn ran(asked: Asked, rig: &Stoppable<&Sim>) -> Result<Ran> {
    let Asked { experiment, mut warnings, out, resume } = asked;
    let run = Run::plan(&experiment, rig)?;
    warnings.extend_from_slice(run.warnings());
    run.admit()?;
    verdict::check_objective(run.manifest(), &run.expected())
        .map_err(|error| error.context(&experiment.origin))?;
    let keep = match &out {
        None => Keep::Nowhere,
        Some(out) if resume => Keep::Resume(out),
        Some(out) => Keep::In(out),
    };
    let ran = run.open(keep)?.finish(&mut |_| ())?;
    let ran = ran.joined()?;
    let records = ran.records();
    let manifest = ran.manifest.asked(&[])?;
    let verdict = Verdict::new(&manifest, &records, &Wishes::default().and_of(&manifest))?;
    Ok((manifest, records, verdict.answer, warnings))
}

/// An experiment as it is given: a file, or a dict as JSON; and the keys that are set.
pub(crate) struct Given {
    pub(crate) path: Option<PathBuf>,
    pub(crate) json: Option<String>,
    pub(crate) assignments: Vec<(String, String)>,
}

impl Given {
    /// The experiment, and warnings.
    pub(crate) fn read(self) -> Result<(Experiment, Vec<String>)> {
        let (mut experiment, warnings) = match (self.path, self.json) {
            (Some(path), _) => Experiment::open(&path)?,
            (None, json) => (of_json(&json.unwrap_or_default())?, Vec::new()),
        };
        for (key, values) in self.assignments {
            let set = experiment.set_values(&key, &values);
            set.map_err(|error| error.context(format!("set {key}={values}")))?;
        }
        Ok((experiment, warnings))
    }
}

/// Refuses what asks for another rig: the advice of the command's error is a flag, which the module does not have.
pub(crate) fn simulated(experiment: &Experiment) -> Result<()> {
    match experiment.run().on {
        Some(on) if on != Sim.name() => Err(store::Error::input(format!(
            "{}: `run.on` = {on}: the module only simulates; run it with the command `ileave`, and read its results with \
             `ileave.report`",
            experiment.place("run.on")
        ))),
        _ => Ok(()),
    }
}

/// The experiment of a Python dictionary.
fn of_json(json: &str) -> Result<Experiment> {
    const ORIGIN: &str = "the dict";
    let table: toml::Table = serde_json::from_str(json).map_err(|error| {
        store::Error::input(format!("{ORIGIN}: {error}; give what a TOML file has"))
    })?;
    let text = toml::to_string(&table).map_err(store::Error::input)?;
    let mut experiment = Experiment::parse(ORIGIN, &text)?;
    experiment.name = match table.get("name").and_then(toml::Value::as_str) {
        Some(name) => name.into(),
        None => "experiment".into(),
    };
    Ok(experiment)
}
