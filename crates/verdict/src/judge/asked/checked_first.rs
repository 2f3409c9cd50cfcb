//! What can be said of a verdict before anything has run.

use super::aim::aims;
use crate::judge::{Layouts, Wishes};
use store::Manifest;
use store::ask::SUBJECT_TO;
use store::error::Result;
use store::expression::Constraint;
use store::record::Record;

/// Whether what an experiment says it is about can be asked of what it measures: `expected` are its cells
/// with the names of their samples (`lab::runner::expected`).
///
/// # Errors
///
/// Where its objective names what will not be measured; the message says what will.
pub fn check_objective(manifest: &Manifest, expected: &[Record]) -> Result<()> {
    let measured = manifest.subject_to();
    if manifest.objective().is_none() && measured.is_empty() {
        return Ok(());
    }
    let layouts = Layouts::new(manifest, expected);
    let aims = aims(manifest, &layouts, &Wishes::default());
    aims.map_err(|error| error.context("`objective`"))?;
    let checked = measured.iter().try_for_each(|text| check_constraint(&layouts, text));
    checked.map_err(|error| error.context(format!("`{SUBJECT_TO}`")))
}

/// Whether what is wished can be asked of what will be measured, as [`check_objective`] has it.
///
/// # Errors
///
/// Where an objective or a constraint is none, or names what will not be measured.
pub fn check_wishes(manifest: &Manifest, expected: &[Record], wishes: &Wishes) -> Result<()> {
    let manifest = &manifest.asked(&wishes.choose)?;
    let layouts = Layouts::new(manifest, expected);
    aims(manifest, &layouts, wishes)?;
    wishes.subject_to.iter().try_for_each(|text| check_constraint(&layouts, text))
}

/// Whether what a constraint names will be measured.
fn check_constraint(layouts: &Layouts, text: &str) -> Result<()> {
    let constraint = Constraint::parse(text)?;
    let mut names = constraint.left.quantities();
    names.extend(constraint.right.quantities());
    layouts.check(&constraint.text, &names)
}
