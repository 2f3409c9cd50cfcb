//! The layout of a volume over its members.

use crate::error::{Error, Result};
use crate::experiment::Setup;
use block::{Layout, Level};

/// The sectors of each member that the volume uses.
///
/// # Errors
///
/// Where it would use more of a drive than there is.
pub fn member_sectors(setup: &Setup) -> Result<Vec<u64>> {
    let sectors = setup.members.iter().map(|(drive, spec)| {
        let there = drive.sectors();
        let used = spec.sectors.unwrap_or(there);
        if used > there {
            return Err(Error::input(format!(
                "`volume.drives` uses {used} sectors of {}, which has {there}; take a smaller part",
                drive.name
            )));
        }
        Ok(used)
    });
    sectors.collect()
}

/// The layout over the parts of the members that the volume uses.
///
/// # Errors
///
/// Where the members make no such volume; the message names the key.
pub fn layout(setup: &Setup) -> Result<Box<dyn Layout>> {
    let members = member_sectors(setup)?;
    let interleave = setup.interleave_sectors;
    let level: Level =
        setup.level.parse().map_err(|error| Error::input(format!("`volume.level`: {error}")))?;
    level.lay_out(interleave, &members).map_err(|error| match error {
        block::LayoutError::NoInterleave => Error::input(format!(
            "`volume.interleave` of {interleave} is below one sector; a stripe needs at least 1 (for \
             members one after another, set `volume.level = \"concat\"`)"
        )),
        block::LayoutError::NotSingle { given } => Error::input(format!(
            "`volume.level` = single takes one drive, not the {given} of `volume.drives`; set it to \
             stripe or concat"
        )),
        block::LayoutError::TooFewMembers { needed, given } => Error::input(format!(
            "`volume.level` = {level} needs at least {needed} drives, not the {given} of \
             `volume.drives`; add some"
        )),
        other => Error::input(format!(
            "`volume.drives`, `volume.level` = {level} and `volume.interleave` = {interleave}: {other}"
        )),
    })
}
