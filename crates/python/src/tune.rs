//! `ileave.tune`.

use crate::background::do_work;
use crate::raised;
use ::tune::drives::Asked;
use ::tune::work::Work;
use ::tune::{Clock, Question};
use block::units::parse_bytes;
use lab::rig::Stoppable;
use lab::rig::sim::Sim;
use pyo3::prelude::*;
use store::known::KnownDrive;
use store::{Error, Result};
use verdict::tables::unmarked;

/// What is asked, in the words of the command's flags.
#[derive(FromPyObject)]
pub(crate) struct Wanted {
    drives: String,
    workload: String,
    survive: Option<usize>,
    capacity: Option<String>,
    spares: usize,
    budget: Option<f64>,
    price: Option<f64>,
    safe: bool,
    level: Vec<String>,
    objective: Option<String>,
    subject_to: Vec<String>,
    seed: u64,
}

/// Which layout to build: as JSON, as text, and the experiment that was run; and warnings.
#[pyfunction]
pub(crate) fn tune(
    py: Python<'_>,
    wanted: Wanted,
) -> PyResult<(String, String, String, Vec<String>)> {
    let question = question(wanted).map_err(|error| raised(&error))?;
    do_work(py, move |stopped| {
        let rig = Stoppable::new(&Sim, stopped);
        let found = ::tune::tune(&question, &rig, None, &mut |_| ())?;
        let text = unmarked(&found.text());
        Ok((found.json().to_string(), text, found.experiment, question.work.warnings))
    })
}

fn question(wanted: Wanted) -> Result<Question> {
    let capacity_bytes = wanted.capacity.map_or(Ok(0), |text| {
        parse_bytes(&text).map_err(|error| Error::input(format!("capacity {text}: {error}")))
    })?;
    let asked = Asked::read(&wanted.drives)?;
    let price_usd = wanted.price.or(KnownDrive::from(&asked.drive).price_usd);
    let drives = asked.within(wanted.budget, price_usd)?;
    let work = Work::find(&wanted.workload, &drives);
    let question = Question {
        work: work.map_err(|error| error.context("workload"))?,
        drives,
        survive: wanted.survive.unwrap_or(1),
        is_survive_assumed: wanted.survive.is_none(),
        capacity_bytes,
        safe: wanted.safe,
        objective: wanted.objective,
        subject_to: wanted.subject_to,
        spares: wanted.spares,
        are_spares_open: wanted.spares == 0,
        spares_because: None,
        price_usd,
        budget_usd: wanted.budget,
        levels: wanted.level,
        seed: wanted.seed,
        clock: Clock::default(),
    };
    question.with_wishes_of_work()?.with_spares_needed()
}
