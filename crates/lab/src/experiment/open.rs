//! Experiments from the files that people name: experiment files, and fio's job files.

use super::Experiment;
use crate::error::{Error, Result};
use crate::formats::fio;
use std::path::Path;
use store::input;

impl Experiment {
    /// Whether it was read from a fio job file.
    pub fn is_fio_job(&self) -> bool {
        is_fio(Path::new(&self.origin))
    }

    /// Reads an experiment file or a fio job file (`NAME.fio`); gives what is doubtful of it, too, a sentence each.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is no experiment.
    pub fn open(file: &Path) -> Result<(Self, Vec<String>)> {
        let origin = file.display().to_string();
        let text = text_of(file)?;
        if !is_fio(file) {
            return Ok((Experiment::parse(&origin, &text)?, Vec::new()));
        }
        let job = fio::read(&origin, &text)?;
        let mut experiment = Experiment::parse(&origin, &job.experiment)?;
        let name = file.file_stem().map_or("job".into(), |stem| stem.to_string_lossy());
        experiment.name = name.into();
        Ok((experiment, job.warnings))
    }
}

/// Whether it is a job file of fio, by its name.
fn is_fio(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("fio"))
}

/// The text of an experiment file.
fn text_of(file: &Path) -> Result<String> {
    let next = if is_fio(file) {
        "give the path of a job file of fio, a text in UTF-8"
    } else {
        "give the path of a TOML file, as in experiments/fair-2006.toml"
    };
    input::read_text(file, input::TEXT_BYTES).map_err(|error| {
        Error::input(format!(
            "cannot read the {} {}: {error}; {next}",
            if is_fio(file) { "job file" } else { "experiment file" },
            file.display()
        ))
    })
}
