//! `ileave compare`.

use super::to_json;
use crate::flags::CompareFlags;
use lab::Result;
use lab::report::compared::Compared;
use lab::store::Results;

/// Puts two results directories side by side, cell by cell.
pub(crate) fn compare(flags: &CompareFlags) -> Result<String> {
    let compared = Compared::new(&Results::read(&flags.first)?, &Results::read(&flags.second)?);
    if flags.json { to_json(&compared) } else { Ok(compared.text()) }
}
