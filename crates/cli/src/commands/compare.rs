//! `ileave compare`.

use super::{print, to_json};
use crate::flags::CompareFlags;
use lab::experiment::factors;
use lab::{Error, Result, read_results};
use store::Results;
use verdict::report::compared::Compared;

/// Puts two results directories side by side, cell by cell.
pub(crate) fn compare(flags: &CompareFlags) -> Result<String> {
    let compared = beside(&read_results(&flags.first)?, &read_results(&flags.second)?);
    let output = if flags.json { to_json(&compared)? } else { compared.text() };
    if compared.cells.is_empty() {
        print(&output)?;
        return Err(Error::failure("the two results have no cell in common"));
    }
    Ok(output)
}

/// Both, with what tells their settings apart as people write it.
pub(super) fn beside(first: &Results, second: &Results) -> Compared {
    let settings = [first, second].map(|of| of.manifest.settings());
    let known = factors(settings.iter().flat_map(toml::Table::keys));
    Compared::knowing(first, second, &known)
}
