//! A volume: a layout over members, modelled or real; and the keys that describe it.

use super::queues::{REQUESTS_MAX, REQUESTS_MIN};
use super::remembered::WriteIntents;
use super::{PageCache, ReadAhead, STRIPE_CACHE_ROWS, check_interleave};
use crate::capabilities::RealMember;
use crate::catalogue::{Drive, RaidController};
use crate::error::{Error, Result};
use crate::keys::{
    FromValue, RATE, SIZE, SIZE_OR_ZERO, Takes, Value, choice, condition, keys, words,
};
use block::layout::System;
use block::units::{self, format_bytes};
use block::{LEVELS, Layout, LayoutError, Level, SECTOR_BYTES};
use std::sync::Arc;
use store::factor::{DEFAULT_INTERLEAVE, DEFAULT_LEVEL};
use store::members::{MemberSpec, parse_members, stated_failed};

/// The value of `volume.controller` where the host itself runs the level.
const NO_CONTROLLER: &str = "none";
/// The value of `volume.log_drives` where a log has no drives of its own.
const NO_LOG_DRIVES: &str = "none";

/// What `level` takes.
const LEVEL: Takes = Takes::Name {
    names: || LEVELS.iter().map(|level| level.name).collect(),
    also: || LEVELS.iter().flat_map(|level| level.also).copied().collect(),
    read: |text| text.parse().ok().map(|level: Level| level.name),
};

keys! {
    /// The keys of a volume.
    pub struct VolumeKeys {
        /// Members, as in `2xst118273lc` or `2xst118273lc:1GiB+1xxp32150w`: how many, which drive, and how much
        /// of each
        drives: Option<String> = choice("drives", Takes::Text),
        /// Drives of a log's own beside the volume, as in `2xp4800x-375gb`: one alone, several as copies of each other;
        /// requests with `to_log` go there. `none` where those go to the volume, too
        log_drives: String = choice("log_drives", Takes::Text).default(NO_LOG_DRIVES),
        /// RAID controller that the drives are behind and that runs the level, a name from controllers/ or a
        /// file: the host sees one disk; `none` where the host runs the level
        controller: String = choice("controller", Takes::Text).default(NO_CONTROLLER),
        /// RAID level or other layout; a name with a system in front lays it out as that system does
        level: Level = choice("level", LEVEL).default(DEFAULT_LEVEL),
        /// Interleave (md chunk, LVM stripe size, XFS su, RAIDframe sectPerSU)
        interleave_sectors: u64 = choice("interleave", SIZE_OR_ZERO).in_sectors().default(DEFAULT_INTERLEAVE),
        /// Requests that the volume's driver has in flight, the others wait in order of arrival [default: 6 for RAIDframe
        /// (RAIDOUTSTANDING), else all]
        outstanding: Option<u32> = choice("outstanding", Takes::Count(1, 65_536)),
        /// Commands that the driver has in flight per member, the others wait in order of arrival [default: 100 for
        /// RAIDframe (`fifo 100`), else all]
        member_outstanding: Option<u32> = choice("member_outstanding", Takes::Count(1, 65_536)),
        /// Rows in the stripe cache of md's RAID 4, 5 and 6 (`stripe_cache_size`)
        stripe_cache_rows: u32 = choice("stripe_cache", Takes::Count(17, 32_768)).default("256"),
        /// I/O scheduler that Linux has before each member: mq-deadline, none, or `auto`, as it chooses by itself: mq-deadline
        /// for disks and for drives of up to 32 commands, none for others; an older disk by itself (`single`, sectors of
        /// 512 bytes, `md-hdd` aside) has none of Linux's queues unless a scheduler or `nr_requests` is set; bfq and kyber with
        /// `--on kernel` only
        scheduler: Scheduling = choice("scheduler", Scheduling::TAKES).default("auto"),
        /// Requests that Linux's queue before each member holds, with those that the member has (`nr_requests`); who sends one
        /// more waits until one is done [default: twice as many as the member takes, up to 256; with the scheduler none as many
        /// as it takes, which is then the maximum]
        nr_requests: Option<u32> = choice("nr_requests", Takes::Count(REQUESTS_MIN, REQUESTS_MAX)),
        /// Linux's read-ahead of the volume (`read_ahead_kb`), for what is read in order through the page cache: a size, or
        /// `auto`, as it chooses by itself: 128 KiB, or twice the stripe where that is more
        read_ahead: ReadAhead = choice("read_ahead", ReadAhead::TAKES).default("auto"),
        /// Write-intent bitmap of md's levels with redundancy (`mdadm --bitmap`): after a crash only parts written to
        /// lately are made to agree again; each of them is marked first. A size is what a bit stands for (`--bitmap-chunk`);
        /// `internal` leaves that to mdadm, which takes 64 MiB or more
        bitmap: WriteIntents = choice("bitmap", WriteIntents::TAKES).default("none"),
        /// What a bit stands for of the bitmap that LVM always keeps for its levels with redundancy (`lvcreate
        /// --regionsize`) [default: 2 MiB]
        region_sectors: Option<u64> = choice("region_size", SIZE).in_sectors(),
        /// Partial parity log of md's RAID 5 (`mdadm --consistency-policy=ppl`), instead of a bitmap: after a crash no
        /// parity is left wrong; a real Linux only
        ppl: bool = choice("ppl", Takes::Switch).default("false"),
        /// Members of md-mirror that are read only where no other can be (`mdadm --write-mostly`), counted from 0 and joined
        /// by +, as in `1`: the disk beside a flash drive; `none` for none
        write_mostly: String = choice("write_mostly", Takes::Text).default("none"),
        /// Failed members, counted from 0 and joined by +, as in `1` or `0+3`; `none` for none
        failed: Option<String> = condition("failed", Takes::Text),
        /// Rebuild rate: the first failed member is restored onto a spare, no faster than this [default: no rebuild]
        rebuild_bytes_per_s: Option<u64> = condition("rebuild", RATE),
    }
}

words! {
    /// Which scheduler Linux has before each member.
    pub enum Scheduling {
        /// The one that it chooses by itself.
        Auto = "auto",
        /// None: commands go to the member in order of arrival.
        Nothing = "none",
        /// Upwards by sector, reads first, until a deadline passes.
        MqDeadline = "mq-deadline",
        /// Programs in turns, each for a share of the disk's time; a real Linux only.
        Bfq = "bfq",
        /// As many in flight as latency goals allow; a real Linux only.
        Kyber = "kyber",
    }
}

impl FromValue for Level {
    fn from_value(value: &Value) -> Option<Self> {
        value.to_string().parse().ok()
    }
}

/// What raid(4) has in flight (`RAIDOUTSTANDING` in `rf_netbsdkintf.c`); the rest waits in front of it, in order.
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
    /// Where none are named, or the text is not a list of members; the message names the key.
    pub(super) fn members(&self, origin: &str) -> Result<Vec<MemberSpec>> {
        let Some(drives) = &self.drives else {
            return Err(Error::input(format!(
                "{origin} has no drives; add `drives = \"2xst118273lc\"` under [volume] (`ileave \
                 drives` lists what there is)"
            )));
        };
        parse_members(drives).map_err(|error| error.context(format!("{origin}: `volume.drives`")))
    }

    /// The drives that a log has of its own; none where it has none.
    ///
    /// # Errors
    ///
    /// Where the text is not a list of members; the message names the key.
    pub(super) fn log_members(&self, origin: &str) -> Result<Vec<MemberSpec>> {
        if self.log_drives == NO_LOG_DRIVES {
            return Ok(Vec::new());
        }
        parse_members(&self.log_drives)
            .map_err(|error| error.context(format!("{origin}: `volume.log_drives`")))
    }

    /// The members that are down, of `members`.
    ///
    /// # Errors
    ///
    /// Where one is not there, or none is down and one is to be restored; the message names the key.
    pub(super) fn failed(&self, origin: &str, members: usize) -> Result<Vec<u32>> {
        let at = |key: &str| format!("{origin}: `volume.{key}`");
        let text = self.failed.as_deref().unwrap_or_default();
        let failed = parse_numbers(text, members).map_err(|error| error.context(at("failed")))?;
        if self.rebuild_bytes_per_s.is_some() && failed.is_empty() {
            return Err(Error::input(format!(
                "{}: no member has failed; name one, as in `volume.failed = \"0\"`",
                at("rebuild")
            )));
        }
        Ok(failed)
    }

    /// How far Linux reads ahead.
    ///
    /// # Errors
    ///
    /// Where it is said and the volume is no device of a Linux; the message names the key.
    pub(super) fn read_ahead(&self, origin: &str) -> Result<ReadAhead> {
        let has_device = self.level.runs_on_linux() && !self.level.is_of(System::Btrfs);
        if self.read_ahead == ReadAhead(None) || has_device && self.controller().is_none() {
            return Ok(self.read_ahead);
        }
        Err(Error::input(format!(
            "{origin}: `volume.read_ahead` is of a device that Linux makes (md-…, dm-…, lvm-…), not of `volume.level` = \
             {}{}; leave it out",
            self.level,
            self.controller().map_or("", |_| " behind a controller"),
        )))
    }

    /// Requests and commands in flight: with the volume's driver, and per member.
    pub(super) fn in_flight(&self) -> [Option<u32>; 2] {
        let is_raidframe = self.level.is_of(System::Raidframe);
        let of_raidframe = |count| is_raidframe.then_some(count);
        [
            self.outstanding.or(of_raidframe(RAIDFRAME_OUTSTANDING)),
            self.member_outstanding.or(of_raidframe(RAIDFRAME_FIFO)),
        ]
    }
}

/// Some of `members`: `1` or `0+3`.
pub(super) fn parse_numbers(text: &str, members: usize) -> Result<Vec<u32>> {
    let failed = stated_failed(text).into_iter().map(|word| {
        let member = word.parse().ok().filter(|&member| (member as usize) < members);
        member.ok_or_else(|| {
            Error::input(format!(
                "`{word}` is not a member; write numbers from 0 to {}, joined by + as in `0+1`, or `none`",
                members - 1
            ))
        })
    });
    let failed: Vec<u32> = failed.collect::<Result<_>>()?;
    let twice = failed.iter().enumerate().find(|(place, member)| failed[..*place].contains(member));
    match twice {
        Some((_, member)) => Err(Error::input(format!(
            "member {member} stands there twice; write each once, joined by + as in `0+1`"
        ))),
        None => Ok(failed),
    }
}

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
    /// What of it was restored before.
    pub restored_sectors: u64,
    /// Rows in the stripe cache, where the level has one ([`Level::has_stripe_cache`]).
    pub stripe_cache_rows: u32,
    /// The scheduler that Linux has before each member.
    pub scheduler: Scheduling,
    /// How many requests the queue before each member holds; `None` for Linux's own choice.
    pub nr_requests: Option<u32>,
    /// How far Linux reads ahead.
    pub read_ahead: ReadAhead,
    /// Whether md keeps a write-intent bitmap.
    pub has_bitmap: bool,
    /// What a bit of the bitmap is to stand for, mdadm's ([`Level::has_bitmap`]) or LVM's ([`Level::has_bitmap_of_lvm`]), where
    /// it is not the default.
    pub region_sectors: Option<u64>,
    /// Whether md keeps a partial parity log.
    pub has_ppl: bool,
    /// Members that md reads only where no other can be, from 0.
    pub write_mostly: Vec<u32>,
    /// What goes through the page cache.
    pub page_cache: PageCache,
    /// Requests that the volume's driver has in flight; `None` for no limit.
    pub volume_outstanding: Option<u32>,
    /// Commands that it has with a member at a time; `None` for all of them.
    pub member_outstanding: Option<u32>,
    /// The RAID controller that the members are behind; `None` where the host itself runs the level.
    pub controller: Option<RaidController>,
    /// Whether Linux's queues are in front of its members.
    pub is_on_linux: bool,
    /// The largest request that Linux does not cut before md chooses a copy for it, in sectors.
    pub bio_sectors: u32,
    /// How long md marks it as in use.
    pub in_use: InUse,
}

/// Who sorts what waits for one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorts {
    /// The host that is described, of whatever system.
    Host,
    /// Linux, whose file system is on it.
    Linux,
    /// Linux, where it is a drive of today.
    LinuxOfToday,
}

/// How long an array is marked as in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InUse {
    /// Until nobody has written for a while.
    #[default]
    UntilIdle,
    /// For good, as in the search for a highest rate: of a few writes a second each would wait for a mark, and latency
    /// would fall with the load.
    Always,
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
    /// A drive, of which `sectors` are used; all of them where none are said.
    ///
    /// # Errors
    ///
    /// Where its limits depend on its size, which nobody says: `gp2:200GiB` may be a volume or a part of a larger one.
    pub(super) fn modelled(drive: Arc<Drive>, sectors: Option<u64>) -> Result<Self> {
        if let Some(part) = sectors.filter(|_| drive.has_an_examples_limits()) {
            let (name, part) = (&drive.name, format_bytes(part * SECTOR_BYTES));
            return Err(Error::input(format!(
                "`{name}:{part}`: its IOPS and MB/s depend on its size; write `{name}[size={part}]` for a volume of that size, \
                 `{name}[size=…]:{part}` for a part of a larger one"
            )));
        }
        Ok(Member::Modelled { drive, sectors })
    }

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
                        "{} has {}, less than the {} that are to be used; take a smaller part of it in `volume.drives` or \
                         `volume.log_drives`",
                        drive.name,
                        units::format_sectors(there),
                        units::format_sectors(used)
                    )));
                }
                Ok(used)
            }
        }
    }

    /// The drive that it models; none of a real member.
    pub fn drive(&self) -> Option<&Arc<Drive>> {
        match self {
            Member::Real { .. } => None,
            Member::Modelled { drive, .. } => Some(drive),
        }
    }

    /// Whether the host's limits on network storage hold for it.
    pub fn is_remote(&self) -> bool {
        self.drive().is_some_and(|drive| drive.is_remote())
    }

    /// Among how many commands the drive chooses; 1 for a real member, of which nothing is known.
    pub fn queue_depth(&self) -> usize {
        match self {
            Member::Real { .. } => 1,
            Member::Modelled { drive, .. } => drive.queue_depth(),
        }
    }

    /// Whether Linux takes it for a disk that turns; so it does a real member, of which nothing is known.
    pub fn is_rotational(&self) -> bool {
        match self {
            Member::Real { .. } => true,
            Member::Modelled { drive, .. } => drive.is_rotational(),
        }
    }

    /// Whether it acknowledges writes before they are durable; nothing is known of a real one.
    pub fn has_write_cache(&self) -> bool {
        match self {
            Member::Real { .. } => false,
            Member::Modelled { drive, .. } => drive.write_cache(),
        }
    }

    /// Whether it writes sectors of 4096 bytes, whatever it lets be addressed.
    pub fn has_large_sectors(&self) -> bool {
        match self {
            Member::Real { .. } => false,
            Member::Modelled { drive, .. } => drive.has_large_sectors(),
        }
    }

    /// Whether a Linux of today is in front of it where nobody says what is.
    pub fn is_of_today(&self) -> bool {
        match self {
            Member::Real { .. } => !self.is_rotational(),
            Member::Modelled { drive, .. } => drive.is_of_today(),
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
    /// The volume that a log has to itself on `members` beside this one: copies of each other where they are several,
    /// which Linux keeps where it runs this one.
    #[must_use]
    pub fn of_log(&self, members: Vec<Member>) -> Volume {
        let level = match (members.len(), self.level.runs_on_linux()) {
            (1, _) => "single",
            (_, true) => "md-mirror",
            (_, false) => "mirror",
        };
        Volume {
            level: level.parse().expect("each is a level"),
            members,
            failed: Vec::new(),
            rebuild_bytes_per_s: None,
            has_bitmap: false,
            region_sectors: None,
            has_ppl: false,
            write_mostly: Vec::new(),
            stripe_cache_rows: STRIPE_CACHE_ROWS,
            page_cache: PageCache::default(),
            volume_outstanding: None,
            member_outstanding: None,
            controller: None,
            ..self.clone()
        }
    }

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
        check_interleave(level, interleave)?;
        level.lay_out(interleave, &members).map_err(|error| match error {
            LayoutError::NoInterleave => Error::input(format!(
                "`volume.interleave` of {interleave} is below one sector; a stripe needs at least 1 (for \
                 members one after another, set `volume.level = \"concat\"`)"
            )),
            LayoutError::NotSingle { given } => Error::input(format!(
                "`volume.level` = single takes one member, not the {given} in {named}; set it to stripe \
                 or concat"
            )),
            LayoutError::TooFewMembers { needed, given } => Error::input(format!(
                "`volume.level` = {level} needs at least {needed} members, not the {given} in {named}; \
                 add some"
            )),
            LayoutError::UnevenGroups { groups, given } => Error::input(format!(
                "`volume.level` = {level} takes a multiple of {groups} members, not the {given} in {named}; add some, \
                 or take some away"
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
