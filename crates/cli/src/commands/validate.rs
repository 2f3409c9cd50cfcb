//! `ileave validate`.

use super::to_json;
use crate::flags::ValidateFlags;
use lab::Result;
use lab::report::validation;
use lab::validate::{self, Row, Validation};

/// Holds drive models against measured traces.
pub(crate) fn validate(flags: &ValidateFlags) -> Result<String> {
    let validations = validate::validate(&flags.directory, flags.drives.as_deref())?;
    if flags.json {
        let rows: Vec<Row> = validations.iter().map(Validation::row).collect();
        return to_json(&rows);
    }
    Ok(validation::validations(&validations))
}
