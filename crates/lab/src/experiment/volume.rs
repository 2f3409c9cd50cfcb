//! A volume: a layout over members, modelled or real.

use crate::capabilities::RealMember;
use crate::catalogue::{Drive, RaidBox};
use crate::error::{Error, Result};
use block::{Layout, LayoutError, Level};
use std::sync::Arc;

/// A layout over members.
#[derive(Clone, Debug)]
pub struct Volume {
    /// How the members become one.
    pub level: Level,
    /// Contiguous sectors on one member.
    pub interleave_sectors: u64,
    /// The members, in order.
    pub members: Vec<Member>,
    /// Members that are down from the start, from 0.
    pub failed: Vec<u32>,
    /// How fast the first of them is restored onto a spare, in bytes a second; `None` where it is not.
    pub rebuild_bytes_per_s: Option<u64>,
    /// Requests that the volume's driver has under way at a time; `None` for all of them.
    pub volume_outstanding: Option<u32>,
    /// Commands that it has with a member at a time; `None` for all of them.
    pub member_outstanding: Option<u32>,
    /// The RAID controller that the members are behind; `None` where the host itself runs the level.
    pub raid_box: Option<RaidBox>,
}

/// What a volume lies on.
#[derive(Clone, Debug)]
pub enum Member {
    /// A modelled drive.
    Modelled {
        /// Which.
        drive: Arc<Drive>,
        /// How many of its sectors are used; `None` for all of them.
        sectors: Option<u64>,
    },
    /// A file or device.
    Real {
        /// Its path.
        name: String,
        /// The sectors used of it.
        sectors: u64,
    },
}

impl From<&RealMember> for Member {
    fn from(real: &RealMember) -> Self {
        Member::Real { name: real.name.clone(), sectors: real.sectors }
    }
}

impl Member {
    /// The sectors of it that the volume uses.
    ///
    /// # Errors
    ///
    /// Where that is more than there are.
    pub fn sectors(&self) -> Result<u64> {
        match self {
            Member::Real { sectors, .. } => Ok(*sectors),
            Member::Modelled { drive, sectors } => {
                let there = drive.sectors();
                let used = sectors.unwrap_or(there);
                if used > there {
                    return Err(Error::input(format!(
                        "`volume.drives` uses {used} sectors of {}, which has {there}; take a smaller part",
                        drive.name
                    )));
                }
                Ok(used)
            }
        }
    }

    /// Whether the volume uses all of it.
    pub fn is_whole(&self) -> bool {
        match self {
            Member::Real { .. } => true,
            Member::Modelled { drive, sectors } => {
                sectors.is_none_or(|sectors| sectors == drive.sectors())
            }
        }
    }
}

impl Volume {
    /// The sectors of each member that the volume uses.
    ///
    /// # Errors
    ///
    /// Where it would use more of a drive than there is.
    pub fn member_sectors(&self) -> Result<Vec<u64>> {
        self.members.iter().map(Member::sectors).collect()
    }

    /// The layout over the parts of the members that the volume uses.
    ///
    /// # Errors
    ///
    /// Where the members make no such volume; the message names the key.
    pub fn layout(&self) -> Result<Box<dyn Layout>> {
        let members = self.member_sectors()?;
        let (level, interleave) = (self.level, self.interleave_sectors);
        let named = self.members_named();
        level.lay_out(interleave, &members).map_err(|error| match error {
            LayoutError::NoInterleave => Error::input(format!(
                "`volume.interleave` of {interleave} is below one sector; a stripe needs at least 1 (for \
                 members one after another, set `volume.level = \"concat\"`)"
            )),
            LayoutError::NotSingle { given } => Error::input(format!(
                "`volume.level` = single takes one member, not the {given} of {named}; set it to stripe \
                 or concat"
            )),
            LayoutError::TooFewMembers { needed, given } => Error::input(format!(
                "`volume.level` = {level} needs at least {needed} members, not the {given} of {named}; \
                 add some"
            )),
            other => Error::input(format!(
                "{named}, `volume.level` = {level} and `volume.interleave` = {interleave}: {other}"
            )),
        })
    }

    /// What says which members are down, for messages.
    pub fn failed_named(&self) -> String {
        let name = |&failed: &u32| match self.members.get(failed as usize) {
            Some(Member::Real { name, .. }) => format!("{failed} ({name})"),
            _ => failed.to_string(),
        };
        let names: Vec<String> = self.failed.iter().map(name).collect();
        match self.members.first() {
            Some(Member::Real { .. }) => format!("--failed {}", names.join(", ")),
            _ => format!("`volume.failed` = {}", names.join("+")),
        }
    }

    /// What names the members, for messages.
    fn members_named(&self) -> &'static str {
        match self.members.first() {
            Some(Member::Real { .. }) => "`--members`",
            _ => "`volume.drives`",
        }
    }
}
