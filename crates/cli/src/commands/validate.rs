//! `ileave validate`.

use super::{PAGE, to_json};
use crate::flags::ValidateFlags;
use lab::Result;
use lab::validate;
use verdict::report::{html, validation};
use verdict::validation::{Row, Validation};

/// Compares drive models with measured traces.
pub(crate) fn validate(flags: &ValidateFlags) -> Result<String> {
    if let Some(drive) = &flags.drive {
        return super::grid::validate(drive, flags);
    }
    let played = validate::validate(&flags.directory, flags.drives.as_deref())?;
    let validations: Vec<Validation> = played.iter().map(Validation::new).collect();
    if flags.json {
        let rows: Vec<Row> = validations.iter().map(Validation::row).collect();
        return to_json(&rows);
    }
    if let Some(file) = &flags.html {
        PAGE.write(file, &html::validated(&validations))?;
        let text = validation::validations(&validations);
        return Ok(format!("{text}\nPage: {}\n", file.display()));
    }
    Ok(validation::validations(&validations))
}
