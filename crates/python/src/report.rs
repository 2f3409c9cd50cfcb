//! `ileave.report`: the verdict on a results directory, in all forms.

use crate::background::do_work;
use crate::raised;
use lab::{published, read_results};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use store::Results;
use verdict::report::columns::{Column, Values, columns};
use verdict::report::{html, json, markdown, reasons, text};
use verdict::tables::unmarked;
use verdict::{Verdict, Wishes};

/// Columns as Python has them: of each its name, role, unit, meaning and type, and its values.
pub(crate) fn to_columns(py: Python<'_>, columns: Vec<Column>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for Column { about, values } in columns {
        let (kind, values) = match values {
            Values::Integers(values) => ("int", values.into_pyobject(py)?),
            Values::Numbers(values) => ("float", values.into_pyobject(py)?),
            Values::Switches(values) => ("bool", values.into_pyobject(py)?),
            Values::Texts(values) => ("str", values.into_pyobject(py)?),
        };
        list.append((about.name, about.role, about.unit, about.meaning, kind, values))?;
    }
    Ok(list)
}

/// What a results directory says.
#[pyclass(frozen, module = "ileave._ileave")]
pub(crate) struct Report {
    results: Results,
    verdict: Verdict,
}

#[pymethods]
impl Report {
    /// Reads `directory` and judges.
    #[new]
    #[pyo3(signature = (directory, safe, objectives, subject_to, choose))]
    fn new(
        py: Python<'_>,
        directory: PathBuf,
        safe: bool,
        objectives: Vec<String>,
        subject_to: Vec<String>,
        choose: Vec<String>,
    ) -> PyResult<Self> {
        do_work(py, move |_| {
            let mut results = read_results(&directory)?;
            let asked = results.manifest.asked(&choose);
            results.manifest = asked.map_err(|error| error.context("choose"))?;
            let wishes = Wishes { safe, objectives, subject_to, choose }.and_of(&results.manifest);
            let Results { manifest, records, happened, .. } = &results;
            let beside = published::of(manifest)?;
            let verdict = Verdict::knowing(manifest, records, happened, &wishes)?
                .beside_printed(manifest, beside.as_ref());
            Ok(Report { results, verdict })
        })
    }

    /// The answer, in a sentence.
    fn answer(&self) -> &str {
        &self.verdict.answer
    }

    /// The name of the experiment.
    fn name(&self) -> &str {
        &self.results.manifest.name
    }

    /// What the terminal shows.
    fn text(&self) -> PyResult<String> {
        let Results { manifest, records, .. } = &self.results;
        let beside = published::of(manifest).map_err(|error| raised(&error))?;
        Ok(unmarked(&text::run(manifest, records, &self.verdict, beside.as_ref())))
    }

    /// The verdict and the ranking as Markdown.
    fn markdown(&self) -> String {
        markdown::verdict(&self.results.manifest.name, &self.verdict)
    }

    /// One page with its styles and its charts.
    fn html(&self) -> PyResult<String> {
        let beside = published::of(&self.results.manifest).map_err(|error| raised(&error))?;
        Ok(html::run(&self.results, &self.verdict, beside.as_ref()))
    }

    /// All of it as JSON.
    fn json(&self) -> String {
        let Results { manifest, records, .. } = &self.results;
        let why = reasons(manifest, records, &self.verdict);
        let run = json::run(records.iter().map(|record| (record, None)), &why);
        json::with_verdict(run, &self.verdict).to_string()
    }

    /// The trials, by columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_columns(py, columns(&self.results.manifest, &self.results.records))
    }
}
