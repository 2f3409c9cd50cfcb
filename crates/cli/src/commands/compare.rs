//! `ileave compare`.

use super::{print, to_json};
use crate::flags::CompareFlags;
use lab::{Error, Result, read_results};
use verdict::report::compared::Compared;

/// Puts two results directories side by side, cell by cell.
pub(crate) fn compare(flags: &CompareFlags) -> Result<String> {
    let compared = Compared::new(&read_results(&flags.first)?, &read_results(&flags.second)?);
    let output = if flags.json { to_json(&compared)? } else { compared.text() };
    if compared.cells.is_empty() {
        print(&output)?;
        return Err(Error::failure("the two results have no cell in common"));
    }
    Ok(output)
}
