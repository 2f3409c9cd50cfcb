//! The Python module `ileave._ileave`: experiments, tuning, reports, drives and maps for the package `ileave`, whose
//! Python files make objects of what is returned here.
//!
//! Whatever takes longer than a moment runs on a thread of its own, while the interpreter's looks for signals.

mod background;
mod catalogue;
mod map;
mod report;
mod run;
mod tune;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use store::Error;

create_exception!(
    ileave,
    InputError,
    PyValueError,
    "The input is at fault; the message says what to write instead."
);
create_exception!(ileave, Failure, PyRuntimeError, "Something outside the input failed.");

/// An error as Python has it, with the text that the command prints.
pub(crate) fn raised(error: &Error) -> PyErr {
    match error {
        Error::Input(message) => InputError::new_err(message.clone()),
        Error::Failure(message) | Error::Setup(message) => Failure::new_err(message.clone()),
    }
}

/// What `ileave` is made of.
#[pymodule]
fn _ileave(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add("Failure", module.py().get_type::<Failure>())?;
    module.add_class::<report::Report>()?;
    module.add_class::<map::Map>()?;
    module.add_class::<tune::Tuned>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::drive, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::drives, module)?)
}
