//! `ileave.drive` and `ileave.drives`.

use crate::raised;
use lab::catalogue;
use pyo3::prelude::*;

/// All that is known of a drive, as JSON.
#[pyfunction]
pub(crate) fn drive(name: &str) -> PyResult<String> {
    let described = catalogue::describe(name).map_err(|error| raised(&error))?;
    Ok(serde_json::json!(described).to_string())
}

/// The names of all drives of the catalogue.
#[pyfunction]
pub(crate) fn drives() -> Vec<&'static str> {
    catalogue::drive_names()
}
