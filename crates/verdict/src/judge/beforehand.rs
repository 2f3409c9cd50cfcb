//! What can be said of a verdict before anything has run.

use super::{Layouts, Wishes, aim::aims};
use store::Manifest;
use store::error::Result;
use store::record::Record;

/// Whether what an experiment says it is about can be asked of what it measures: `expected` are its cells
/// with the names of their samples (`lab::runner::expected`).
///
/// # Errors
///
/// Where its objective names what will not be measured; the message says what will.
pub fn check_objective(manifest: &Manifest, expected: &[Record]) -> Result<()> {
    if manifest.objective().is_none() {
        return Ok(());
    }
    let layouts = Layouts::new(manifest, expected);
    let aims = aims(manifest, &layouts, &Wishes::default());
    aims.map(|_| ()).map_err(|error| error.context("`objective`"))
}
