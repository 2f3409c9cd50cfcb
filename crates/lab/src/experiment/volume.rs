//! The keys of `volume`: which drives, and how they become one volume.

use crate::error::{Error, Result};
use crate::keys::{FromValue, RATE, SIZE_OR_ZERO, Takes, Value, choice, condition, keys};
use block::{LEVELS, Level};
use store::factor::{DEFAULT_INTERLEAVE, DEFAULT_LEVEL};
use store::members::{MemberSpec, parse_members};

/// The value of `volume.controller` where the host itself runs the level.
const NO_CONTROLLER: &str = "none";

/// What `level` takes.
const LEVEL: Takes = Takes::Name {
    names: || LEVELS.iter().map(|level| level.name).collect(),
    read: |text| text.parse().ok().map(|level: Level| level.name),
};

keys! {
    /// The keys of a volume.
    pub struct VolumeKeys {
        /// Members, as in `2xst118273lc` or `2xst118273lc:1GiB+1xxp32150w`: how many, which drive, and how much
        /// of each
        drives: Option<String> = choice("drives", Takes::Text),
        /// RAID controller that the drives are behind and that runs the level, a name from controllers/ or a
        /// file: the host sees one disk; `none` where the host runs the level
        controller: String = choice("controller", Takes::Text).default(NO_CONTROLLER),
        /// RAID level or other layout; a name with a system in front lays it out as that system does
        level: Level = choice("level", LEVEL).default(DEFAULT_LEVEL),
        /// Interleave (md chunk, LVM stripe size, XFS su, RAIDframe sectPerSU)
        interleave_sectors: u64 = choice("interleave", SIZE_OR_ZERO).default(DEFAULT_INTERLEAVE),
        /// Requests that the volume's driver has in flight, the others wait in order of arrival; without it 6
        /// for RAIDframe (RAIDOUTSTANDING), else all
        outstanding: Option<u32> = choice("outstanding", Takes::Count(1, 65_536)),
        /// Commands that the driver has in flight per member, the others wait in order of arrival; without it
        /// 100 for RAIDframe (`fifo 100`), else all
        member_outstanding: Option<u32> = choice("member_outstanding", Takes::Count(1, 65_536)),
        /// Failed members, counted from 0 and joined by +, as in `1` or `0+3`
        failed: Option<String> = condition("failed", Takes::Text),
        /// Rebuild rate: the first failed member is restored onto a spare, no faster than this; without it none
        /// is
        rebuild_bytes_per_s: Option<u64> = condition("rebuild", RATE),
    }
}

impl FromValue for Level {
    fn from_value(value: &Value) -> Option<Self> {
        value.to_string().parse().ok()
    }
}

/// What raid(4) has in flight (`RAIDOUTSTANDING` in `rf_netbsdkintf.c`); the rest waits in front of it, in
/// order.
const RAIDFRAME_OUTSTANDING: u32 = 6;
/// What it has in flight with a component, as raidctl(8) shows it: `fifo 100`.
const RAIDFRAME_FIFO: u32 = 100;

impl VolumeKeys {
    /// The controller that runs the level, if the host does not.
    pub(super) fn controller(&self) -> Option<&str> {
        Some(self.controller.as_str()).filter(|name| *name != NO_CONTROLLER)
    }

    /// The members, in order.
    ///
    /// # Errors
    ///
    /// Where none are named, or the text is no list of members; the message names the key.
    pub(super) fn members(&self, origin: &str) -> Result<Vec<MemberSpec>> {
        let Some(drives) = &self.drives else {
            return Err(Error::input(format!(
                "{origin} names no drives; add `drives = \"2xst118273lc\"` under [volume] (`ileave \
                 drives` lists what there is)"
            )));
        };
        parse_members(drives).map_err(|error| error.context(format!("{origin}: `volume.drives`")))
    }

    /// The members that are down, of `members`.
    ///
    /// # Errors
    ///
    /// Where one is not there, or none is down and one is to be restored; the message names the key.
    pub(super) fn failed(&self, origin: &str, members: usize) -> Result<Vec<u32>> {
        let at = |key: &str| format!("{origin}: `volume.{key}`");
        let text = self.failed.as_deref().unwrap_or_default();
        let failed = parse_failed(text, members).map_err(|error| error.context(at("failed")))?;
        if self.rebuild_bytes_per_s.is_some() && failed.is_empty() {
            return Err(Error::input(format!(
                "{}: no member has failed; say which, as in `volume.failed = \"0\"`",
                at("rebuild")
            )));
        }
        Ok(failed)
    }

    /// Requests and commands in flight: with the volume's driver, and per member.
    pub(super) fn in_flight(&self) -> [Option<u32>; 2] {
        let is_raidframe = self.level.name.starts_with("raidframe-");
        let of_raidframe = |count| is_raidframe.then_some(count);
        [
            self.outstanding.or(of_raidframe(RAIDFRAME_OUTSTANDING)),
            self.member_outstanding.or(of_raidframe(RAIDFRAME_FIFO)),
        ]
    }
}

/// The keys of `volume` that a modelled volume alone has.
pub(super) const MODELLED: &[&str] =
    &["drives", "controller", "failed", "rebuild", "outstanding", "member_outstanding"];

/// The members that are down: `1` or `0+3`, of `members`.
fn parse_failed(text: &str, members: usize) -> Result<Vec<u32>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let failed = text.split('+').map(|word| {
        let member = word.trim().parse().ok().filter(|&member| (member as usize) < members);
        member.ok_or_else(|| {
            Error::input(format!(
                "`{word}` is no member; they are counted from 0 to {}, and joined by + as in `0+1`",
                members - 1
            ))
        })
    });
    failed.collect()
}
