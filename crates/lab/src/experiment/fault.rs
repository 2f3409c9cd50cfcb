//! What goes wrong with a member while a trial is measured.

use super::volume::Volume;
use crate::error::{Error, Result};
use crate::keys::{Takes, YEAR_NS, condition, keys, words};
use block::units;

words! {
    /// What goes wrong.
    pub enum FaultKind {
        /// Nothing.
        Nothing = "none",
        /// The member fails for good.
        Fail = "fail",
        /// Sectors of it cannot be read until they are written again.
        Errors = "errors",
        /// It answers nothing for a while.
        Stall = "stall",
        /// It has no power for a while, and what it had in its cache alone is lost.
        Power = "power",
    }
}

keys! {
    /// The keys of `fault`: what goes wrong with a member while a trial is measured, on the kernel rig.
    pub struct FaultKeys {
        /// What goes wrong: nothing; the member fails for good; sectors cannot be read until they are written again; it
        /// answers nothing for a while; it has no power for a while, and what it had in its cache alone is lost
        kind: FaultKind = condition("kind", FaultKind::TAKES).default("none"),
        /// The member, from 0
        member: u32 = condition("member", Takes::Count(0, 65_535)).default("0"),
        /// When, after measuring has begun
        at_ns: u64 = condition("at", Takes::Time(0, YEAR_NS)).default("1s"),
        /// How long a stall lasts, or a time without power
        lasts_ns: u64 = condition("lasts", Takes::Time(1, YEAR_NS)).default("1s"),
        /// The first sector that cannot be read, of the member
        from: u64 = condition("from", Takes::Sectors(0, u64::MAX)).default("0"),
        /// How much from there cannot be read
        length: u64 = condition("length", Takes::Sectors(1, 1 << 31)).default("1MiB"),
    }
}

/// What goes wrong with a member of a trial.
#[derive(Clone, Debug)]
pub struct FaultSetup {
    keys: FaultKeys,
}

impl FaultSetup {
    /// What these keys say goes wrong, if anything does.
    pub(super) fn of(keys: FaultKeys) -> Option<Self> {
        (keys.kind != FaultKind::Nothing).then_some(FaultSetup { keys })
    }

    /// Whether `volume` has such a member and such sectors.
    ///
    /// # Errors
    ///
    /// Where it has not; the message names the key.
    pub fn check(&self, volume: &Volume) -> Result<()> {
        let FaultKeys { kind, member, from, length, .. } = &self.keys;
        let sizes = volume.member_sectors()?;
        let Some(&sectors) = sizes.get(*member as usize).filter(|_| volume.controller.is_none())
        else {
            return Err(Error::input(format!(
                "`fault.member` = {member}: the system has {} drives of its own, the first is 0",
                if volume.controller.is_some() { 0 } else { sizes.len() }
            )));
        };
        if *kind == FaultKind::Errors && from + length > sectors {
            return Err(Error::input(format!(
                "`fault.from` = {}: member {member} has {}, and {} are to be unreadable; give less",
                units::format_sectors(*from),
                units::format_sectors(sectors),
                units::format_sectors(*length)
            )));
        }
        Ok(())
    }

    /// The same to the disks of a kernel.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_disks(&self) -> uml::Fault {
        let FaultKeys { kind, member, at_ns, lasts_ns, from, length } = self.keys;
        let what = match kind {
            FaultKind::Errors => {
                uml::Happening::CannotRead { sector: from, sectors: length as u32 }
            }
            FaultKind::Stall => uml::Happening::Stalls { for_ns: lasts_ns },
            FaultKind::Power => uml::Happening::LosesPower { for_ns: lasts_ns },
            FaultKind::Fail | FaultKind::Nothing => uml::Happening::Fails,
        };
        uml::Fault { after_ns: at_ns, disk: member, what }
    }
}
