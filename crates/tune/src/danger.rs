//! What a layout may lose: the risk of each level, with what the catalogue knows of the drive.

use block::SECTOR_BYTES;
use block::layout::Level;
use lab::catalogue::{Drive, Model};
use lab::{Error, Result};
use risk::inputs::{DriveFacts, Inputs};
use risk::{Risk, Shape, assess};
use serde_json::{Value as Json, json};

/// What failures need to know of a drive.
///
/// # Errors
///
/// Where its figures make no drive.
pub fn drive_facts(drive: &Drive) -> Result<DriveFacts> {
    Ok(DriveFacts {
        names: drive.names(),
        bytes: drive.sectors() * SECTOR_BYTES,
        copy_bytes_per_s: drive.copy_bytes_per_s()?,
        is_flash: !drive.is_rotational(),
        is_shingled: matches!(drive.model, Model::Shingled(_)),
        is_rented: drive.is_remote(),
    })
}

/// Groups that are simulated for a row of the front, where only the closed forms are shown.
const GROUPS: u64 = 2000;

/// What a level over so many drives may lose, and what that assumes.
pub(crate) fn of_level(
    level: &Level,
    members: usize,
    spares: usize,
    drive: &Drive,
) -> Result<(Risk, Inputs)> {
    let shape = Shape::new(level.name, members, None).map_err(Error::input)?;
    let inputs = Inputs::of(&drive_facts(drive)?, spares);
    Ok((assess(&shape, &inputs, GROUPS, 1), inputs))
}

/// The same as data.
pub(crate) fn json(risk: &Risk, inputs: &Inputs) -> Json {
    json!({
        "years": inputs.years, "gone": risk.gone, "unreadable": risk.unreadable, "torn_by_crash": risk.torn,
        "rebuild_h": inputs.rebuild_h.range,
    })
}
