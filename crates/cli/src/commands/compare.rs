//! `ileave compare`.

use super::to_json;
use crate::flags::CompareFlags;
use lab::{Result, read_results};
use verdict::report::compared::Compared;

/// Puts two results directories side by side, cell by cell.
pub(crate) fn compare(flags: &CompareFlags) -> Result<String> {
    let compared = Compared::new(&read_results(&flags.first)?, &read_results(&flags.second)?);
    if flags.json { to_json(&compared) } else { Ok(compared.text()) }
}
