//! What a layout may lose: the risk of each level, with what the catalogue knows of the drive.

use block::SECTOR_BYTES;
use block::layout::Level;
use lab::catalogue::{Drive, Model};
use lab::{Error, Result};
use risk::Copied;
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
        copied: copied(drive)?,
        is_flash: !drive.is_rotational(),
        is_shingled: matches!(drive.model, Model::Shingled(_)),
        is_rented: drive.is_remote(),
    })
}

/// At what it is copied, from its start to its end.
fn copied(drive: &Drive) -> Result<Copied> {
    let (first, last) = drive.copied_bytes_per_s()?;
    let is_guessed = drive.guessed().any(|what| matches!(what, "writes" | "long writes"));
    Ok(Copied { first, last, is_guessed })
}

/// Groups that are simulated for a row of the front, where only the closed forms are shown.
const GROUPS: u64 = 2000;

/// What a level over so many drives of one kind may lose, and what that assumes.
pub(crate) fn of_level(
    level: &Level,
    members: usize,
    spares: usize,
    drive: &Drive,
) -> Result<(Risk, Inputs)> {
    of_inputs(level, members, Inputs::of(&drive_facts(drive)?, spares))
}

/// What a level over these members may lose, and what that assumes.
pub(crate) fn of_members(level: &Level, members: &[&Drive]) -> Result<(Risk, Inputs)> {
    let mut facts: Vec<DriveFacts> =
        members.iter().map(|drive| drive_facts(drive)).collect::<Result<_>>()?;
    // All but btrfs use as much of each member as the smallest has; so much is rebuilt.
    if !level.name.starts_with("btrfs-") {
        let smallest = facts.iter().map(|own| own.bytes).min().unwrap_or_default();
        for own in &mut facts {
            own.bytes = smallest;
        }
    }
    let inputs = Inputs::of_members(&facts, 0)
        .ok_or_else(|| Error::input("a volume without members has no risk; name some drives"))?;
    of_inputs(level, members.len(), inputs)
}

fn of_inputs(level: &Level, members: usize, inputs: Inputs) -> Result<(Risk, Inputs)> {
    let shape = Shape::new(level.name, members, None).map_err(Error::input)?;
    Ok((assess(&shape, &inputs, GROUPS, 1), inputs))
}

/// The same as data.
pub(crate) fn json(risk: &Risk, inputs: &Inputs) -> Json {
    json!({
        "years": inputs.years, "gone": risk.gone, "unreadable": risk.unreadable, "torn_by_crash": risk.torn,
        "rebuild_h": inputs.rebuild_h.range,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::catalogue;

    /// One of 20 TB and five of 16 TB: up to 2.6 % and 136 h, or up to 0.16 % and 115 h, by which was named first.
    #[test]
    fn unequal_members_have_one_risk() {
        let [large, small] =
            ["st20000nm007d", "st16000nm001g"].map(|name| catalogue::drive(name).unwrap());
        let mut members = vec![&small; 5];
        members.push(&large);
        let found =
            |level: &str, members: &[&Drive]| of_members(&level.parse().unwrap(), members).unwrap();
        let one = found("md-raid5", &members);
        members.reverse();
        assert_eq!(found("md-raid5", &members), one);
        // No more is rebuilt than the smaller ones have, unless it is btrfs that fills the larger one.
        let hours = |(_, inputs): &(Risk, Inputs)| inputs.rebuild_h.range.high;
        let of_small = found("md-raid5", &[&small; 6]);
        assert!((hours(&one) / hours(&of_small) - 1.0).abs() < 0.1, "{} h", hours(&one));
        assert!(hours(&found("btrfs-raid1", &members)) > 1.1 * hours(&one));
        assert!(one.0.gone.high > of_small.0.gone.high);
    }
}
