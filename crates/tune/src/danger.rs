//! What a layout may lose: the risk of each level, with what the catalogue knows of the drive.

use block::SECTOR_BYTES;
use block::layout::{Level, System};
use block::units::parse_nanos;
use lab::catalogue::{self, Drive, Model, Shared};
use lab::{Error, Result};
use risk::inputs::{DriveFacts, Inputs, MD_BYTES_PER_S, Rented};
use risk::{Copied, Risk, Shape, assess};
use serde_json::{Value as Json, json};

/// Chances to lose all that are closer than this are one.
pub(crate) const EVEN_RISK: f64 = 1.1;

pub(crate) const SAFER_BY: f64 = 4.0;

/// Where all may be gone in five years with at least this chance, a layout is named with which it is so many times
/// smaller; where that one is as fast, and keeps at least this share of the room, it is chosen.
pub(crate) const GONE_MIN: f64 = 0.01;

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
        rented: match drive {
            _ if drive.is_remote() => Some(Rented::Volume),
            _ if drive.figures.goes_with_instance => Some(Rented::OfInstance),
            _ => None,
        },
    })
}

/// Whether it is a cloud's: a volume, or a disk of a rented machine. It may be gone when the machine starts.
pub(crate) fn is_of_cloud(drive: &Drive) -> bool {
    drive.is_remote() || drive.figures.goes_with_instance
}

/// At what it is copied, from its start to its end.
fn copied(drive: &Drive) -> Result<Copied> {
    let (first, last) = drive.copied_bytes_per_s()?;
    let is_guessed = drive.guessed().any(|what| matches!(what, "writes" | "long writes"));
    Ok(Copied { first, last, is_guessed })
}

/// Groups that are simulated for a row of the front, where only the closed forms are shown.
const GROUPS: u64 = 2000;

/// What is there when a drive fails.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Repairs {
    /// Spares that are ready.
    pub(crate) spares: usize,
    /// Hours until a failed drive is replaced, where that is said.
    pub(crate) replaced_after_h: Option<f64>,
}

/// A time in hours, as people write it.
///
/// # Errors
///
/// Where it is none; the message names `flag`.
pub fn hours(flag: &str, text: &str) -> Result<f64> {
    let ns = parse_nanos(text).map_err(|_| {
        Error::input(format!("{flag} {text}: not a time; write it like 30h or 14d"))
    })?;
    Ok(ns as f64 / 3.6e12)
}

/// What a level over so many drives of one kind may lose, and what that assumes.
pub(crate) fn of_level(
    level: &Level,
    members: usize,
    repairs: Repairs,
    drive: &Drive,
    limit: Limit,
) -> Result<(Risk, Inputs)> {
    Ok(exposed(level, members, repairs, drive, limit)?.assessed())
}

/// What a level may lose that is built without a bitmap, where it loses this with one.
pub(crate) fn without_bitmap(
    level: &Level,
    members: usize,
    (risk, inputs): (Risk, Inputs),
) -> Result<(Risk, Inputs)> {
    let shape = Shape::new(level.name, members, None).map_err(Error::input)?;
    Ok(risk.without_bitmap(&shape, inputs))
}

/// A volume, and what is assumed of its drives: what that comes to takes longer to work out.
pub(crate) struct Exposed {
    shape: Shape,
    pub(crate) inputs: Inputs,
}

impl Exposed {
    /// What it may lose, and what that assumes.
    pub(crate) fn assessed(self) -> (Risk, Inputs) {
        (assess(&self.shape, &self.inputs, GROUPS, 1), self.inputs)
    }

    /// How many hours a rebuild takes at worst, under load.
    pub(crate) fn rebuild_h(&self) -> f64 {
        self.inputs.rebuild_h.range.high
    }
}

/// The same, before it is worked out.
pub(crate) fn exposed(
    level: &Level,
    members: usize,
    repairs: Repairs,
    drive: &Drive,
    limit: Limit,
) -> Result<Exposed> {
    let inputs = Inputs::of(&drive_facts(drive)?, repairs.spares);
    let inputs = match repairs.replaced_after_h {
        Some(hours) => inputs.replaced_after(hours),
        None => inputs,
    };
    of_inputs(level, members, inputs, limit.of(&vec![drive; members]))
}

/// What the host lets pass to all of its cloud volumes together, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limit(pub(crate) Option<u64>);

impl Limit {
    /// The same of `drives`: of those that are in the machine nothing passes it, and volumes may share less.
    pub(crate) fn of(self, drives: &[&Drive]) -> Limit {
        let of_host = self.0.filter(|_| drives.iter().all(|drive| drive.is_remote()));
        let of_all = |shared: &Shared| shared.counted.iter().all(|counted| *counted);
        let shared = catalogue::shared(drives);
        let shared = shared.iter().filter(|shared| of_all(shared)).filter_map(Shared::bytes_per_s);
        Limit(of_host.into_iter().chain(shared).min())
    }
}

/// A resync of all of an array, as after a crash without a bitmap, when nothing else is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Resync {
    /// How long it takes, in hours.
    pub(crate) hours: f64,
    /// Whether it takes that long because md counts all of the array, not a member, against `speed_limit_max`.
    pub(crate) is_of_array: bool,
}

/// How long it takes to read all of each member. It takes as long as an idle rebuild with `inputs`, but of RAID 10 md goes
/// through the array (`resync_max_sectors`), and counts that against `speed_limit_max` (`md_do_sync`): a member is read at
/// its part of that.
pub(crate) fn resync(
    level: &Level,
    inputs: &Inputs,
    drives: &[&Drive],
    limit: Limit,
) -> Result<Resync> {
    let member_h = inputs.rebuild_h.range.low;
    let each = level.resynced_for_each(drives.len());
    let mut hours = member_h;
    if each > 1.0 {
        for drive in drives {
            let rate = copied(drive)?.mean_below(MD_BYTES_PER_S / each);
            hours = hours.max(inputs.drive_bytes / rate / 3600.0);
        }
    }
    let is_of_array = hours > member_h;
    let of_host =
        limit.of(drives).0.map(|per_s| drives.len() as f64 * inputs.drive_bytes / per_s as f64);
    let of_host = of_host.map_or(0.0, |seconds| seconds / 3600.0);
    Ok(Resync { hours: hours.max(of_host), is_of_array: is_of_array && hours > of_host })
}

/// The same of members that may be of several kinds.
pub(crate) fn exposed_members(level: &Level, members: &[&Drive], limit: Limit) -> Result<Exposed> {
    let mut facts: Vec<DriveFacts> =
        members.iter().map(|drive| drive_facts(drive)).collect::<Result<_>>()?;
    // All but btrfs use as much of each member as the smallest has; so much is rebuilt.
    if !level.is_of(System::Btrfs) {
        let smallest = facts.iter().map(|own| own.bytes).min().unwrap_or_default();
        for own in &mut facts {
            own.bytes = smallest;
        }
    }
    let inputs = Inputs::of_members(&facts, 0)
        .ok_or_else(|| Error::input("a volume without members has no risk; name some drives"))?;
    of_inputs(level, members.len(), inputs, limit.of(members))
}

fn of_inputs(level: &Level, members: usize, inputs: Inputs, limit: Limit) -> Result<Exposed> {
    let shape = Shape::new(level.name, members, None).map_err(Error::input)?;
    // Of parity all members of a group are read or written, of copies one is read and one written.
    let moved = if level.has_parity() { shape.members } else { 2 };
    let inputs = match limit.0 {
        Some(per_s) => {
            let bytes = moved as f64 * inputs.drive_bytes;
            inputs.through(bytes, per_s as f64)
        }
        None => inputs,
    };
    // `tune` builds with one where the system has it; the commands say so.
    let has_bitmap = level.has_bitmap() || level.has_bitmap_of_lvm();
    Ok(Exposed { shape, inputs: Inputs { has_bitmap, ..inputs } })
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

    /// Five of 512 GiB at 300 MB/s each behind 192 MB/s: a rebuild was 45 min, of 2.7 TB that pass the limit.
    #[test]
    fn a_rebuild_passes_the_host_s_limit() {
        let volume = catalogue::drive("gp3[size=500GiB,iops=8000,mb_per_s=300]").unwrap();
        let disk = catalogue::drive("st16000nm001g").unwrap();
        let of = |level: &str, drive: &Drive, limit: Option<u64>| {
            let (_, inputs) =
                of_level(&level.parse().unwrap(), 6, Repairs::default(), drive, Limit(limit))
                    .unwrap();
            let level = level.parse().unwrap();
            let resync = resync(&level, &inputs, &[drive; 6], Limit(limit)).unwrap().hours;
            (inputs.rebuild_h.range, resync, inputs.limited_by_host)
        };
        let limit = Some(100_000_000);
        let hours = |members: f64| members * (500_u64 << 30) as f64 / 1e8 / 3600.0;
        for (level, moved) in [("md-raid5", 6.0), ("md-raid10", 2.0), ("md-raid50-2", 3.0)] {
            let (range, resync, by) = of(level, &volume, limit);
            assert!((range.low - hours(moved)).abs() < 0.01, "{level}: {range:?}");
            assert!((range.high - 5.0 * hours(moved)).abs() < 0.05, "{level}: {range:?}");
            // After a crash all copies are read.
            assert!((resync - hours(6.0)).abs() < 0.01, "{level}: {resync}");
            assert!(by.unwrap().ends_with("TB in all at a shared limit of 100 MB/s"));
        }
        let free = of("md-raid5", &volume, None);
        assert!(free.2.is_none() && (free.0.low - free.1).abs() < 1e-9);
        assert_eq!(of("md-raid5", &volume, Some(100_000_000_000)), free);
        // A disk in the machine does not pass it.
        assert_eq!(of("md-raid5", &disk, limit), of("md-raid5", &disk, None));
    }

    /// md-raid10 of eight disks of 18 TB was said to be resynced in 27 h, as a member is rebuilt. md goes through the array's
    /// 72 TB at 204.8 MB/s: 98 h.
    #[test]
    fn a_resync_of_raid_10_goes_through_the_array() {
        let disk = catalogue::drive("st18000nm000j").unwrap();
        let of = |level: &str, members: usize| {
            let level: Level = level.parse().unwrap();
            let (_, inputs) =
                of_level(&level, members, Repairs::default(), &disk, Limit(None)).unwrap();
            let resync = resync(&level, &inputs, &vec![&disk; members], Limit(None)).unwrap();
            (resync.hours, resync.is_of_array, inputs.rebuild_h.range.low)
        };
        let hours = |tb: f64| tb * 1e12 / 204.8e6 / 3600.0;
        for (level, members, tb) in [("md-raid10", 8, 72.0), ("md-raid10-f2", 8, 72.0)] {
            let (took, is_of_array, _) = of(level, members);
            assert!((took / hours(tb) - 1.0).abs() < 0.01, "{level}: {took} h");
            assert!(is_of_array, "{level}");
        }
        // Three copies on eight: 48 TB, and less of each disk is below its part of the limit.
        let (took, is_of_array, _) = of("md-raid10-n3", 8);
        assert!(took > hours(48.0) && took < 1.05 * hours(48.0) && is_of_array, "{took} h");
        // Of what has no more in the array than in a member, and of parity, all is as a rebuild.
        for (level, members) in [("md-raid10", 2), ("md-mirror", 2), ("md-raid6", 8)] {
            let (took, is_of_array, rebuild_h) = of(level, members);
            assert!((took - rebuild_h).abs() < 1e-9 && !is_of_array, "{level}: {took} h");
        }
    }

    /// One of 20 TB and five of 16 TB: up to 2.6 % and 136 h, or up to 0.16 % and 115 h, by which was named first.
    #[test]
    fn unequal_members_have_one_risk() {
        let [large, small] =
            ["st20000nm007d", "st16000nm001g"].map(|name| catalogue::drive(name).unwrap());
        let mut members = vec![&small; 5];
        members.push(&large);
        let found = |level: &str, members: &[&Drive]| {
            let exposed = exposed_members(&level.parse().unwrap(), members, Limit::default());
            exposed.unwrap().assessed()
        };
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
