//! The layouts by the names that people use.
//!
//! A plain name (`raid5`) is bare arithmetic over whole members. With the name of a system in front
//! (`md-raid5`, `raidframe-raid5`) it is what that system makes of blank members: its metadata in
//! front, its rotation, its rounding, its choice between read-modify-write and reconstruct-write.
//!
//! [`LEVELS`] is the only definition: names, aliases, help and construction come from its rows.

use super::btrfs::{self, Chunks, Profile};
use super::{
    Code, Concat, Dealing, Layout, LayoutError, Mirrors, Offset, Pairing, Parity, Raid0, Raid10,
    Rotation, Spread, Stripe, WriteRule, check_members,
};
use crate::layout;
use std::fmt;
use std::str::FromStr;

mod all;
mod system;
pub use all::LEVELS;
pub use system::{Mdadm, Redundancy, System};

/// A kind of volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name here.
    pub name: &'static str,
    /// Other names that are accepted.
    pub also: &'static [&'static str],
    /// What other systems call it, and what is special about it.
    pub about: &'static str,
    front: Front,
    kind: Kind,
}

/// A level of arrays side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestedLevel {
    /// How many arrays, each of equally many neighbours.
    pub groups: usize,
    /// What each of them is.
    pub inner: Level,
    /// What joins them, with the same interleave.
    pub outer: Level,
}

/// What is in front of the volume on each member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    Nothing,
    /// RAIDframe's component label, in sectors it protects.
    Label,
    /// md's superblock and bitmap, and its reserve for reshaping.
    Superblock,
    /// LVM's label and metadata, and as many extents as its RAID keeps in front of the data; members are cut to whole
    /// extents.
    Extents(u64),
}

/// The layout of the volume behind that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    Concat,
    /// Members one after another, each cut to the smallest.
    EvenConcat,
    /// Members one after another, each cut to a multiple of this many sectors; 0 does not cut.
    RoundedConcat(u64),
    Stripe,
    Uniform,
    Raid0(Dealing),
    Mirror,
    Pairs(Pairing),
    Copies(Spread, u32),
    Rows(Code, Rotation),
    /// So many arrays of md with this parity side by side, under md's stripe.
    Nested(usize, Code),
    Btrfs(Profile),
}

type Laid = Result<Box<dyn Layout>, LayoutError>;

impl Level {
    /// Lays it out over members of these sizes. Levels without an interleave ignore it.
    ///
    /// # Errors
    ///
    /// Where there are too few members, or they are too small, or their number does not fit the level.
    pub fn lay_out(&self, interleave_sectors: u64, member_sectors: &[u64]) -> Laid {
        check_members(member_sectors)?;
        let (needed, given) = (self.members_min(), member_sectors.len());
        if given < needed {
            return Err(LayoutError::TooFewMembers { needed, given });
        }
        if let Some(nested) = self.nested() {
            let by = |level: Level| move |of: &[u64]| level.lay_out(interleave_sectors, of);
            let [inner, outer] = [by(nested.inner), by(nested.outer)];
            return boxed(layout::Nested::new(nested.groups, member_sectors, inner, outer));
        }
        let start_sectors = match self.front {
            Front::Nothing => {
                return self.kind.lay_out(interleave_sectors, member_sectors, self.rule());
            }
            Front::Label => RAIDFRAME_RESERVED_SECTORS,
            Front::Superblock => {
                let interleave = self.interleaved().then_some(interleave_sectors);
                md_data_offset_sectors(interleave, member_sectors[0])
            }
            Front::Extents(kept) => LVM_START_SECTORS + kept * LVM_EXTENT_SECTORS,
        };
        self.lay_out_from(start_sectors, interleave_sectors, member_sectors)
    }

    /// Lays it out behind so many sectors of each member, instead of those that mdadm would leave free (its data
    /// offset). `None` where its system has a place of its own that nobody sets: LVM, btrfs, RAIDframe, and arrays of
    /// md under a stripe.
    ///
    /// Three members of 1000 sectors as a stripe behind 16: 2952 sectors, three times 984.
    pub fn lay_out_behind(
        &self,
        reserved_sectors: u64,
        interleave_sectors: u64,
        member_sectors: &[u64],
    ) -> Option<Laid> {
        if !self.starts_anywhere() {
            return None;
        }
        let laid = check_members(member_sectors).and_then(|()| {
            let (needed, given) = (self.members_min(), member_sectors.len());
            if given < needed {
                return Err(LayoutError::TooFewMembers { needed, given });
            }
            self.lay_out_from(reserved_sectors, interleave_sectors, member_sectors)
        });
        Some(laid)
    }

    /// Whether where its data starts on the members can be chosen.
    fn starts_anywhere(&self) -> bool {
        let is_of_array = matches!(self.kind, Kind::Btrfs(_) | Kind::Nested(..));
        matches!(self.front, Front::Nothing | Front::Superblock) && !is_of_array
    }

    fn lay_out_from(
        &self,
        start_sectors: u64,
        interleave_sectors: u64,
        member_sectors: &[u64],
    ) -> Laid {
        let inner = |left: &[u64]| {
            if matches!(self.front, Front::Extents(_)) {
                let whole = |sectors: &u64| sectors / LVM_EXTENT_SECTORS * LVM_EXTENT_SECTORS;
                let left: Vec<u64> = left.iter().map(whole).collect();
                self.kind.lay_out(interleave_sectors, &left, self.rule())
            } else if (self.front, self.kind) == (Front::Superblock, Kind::Mirror) {
                self.kind.lay_out(0, &md_mirror_members(left), self.rule())
            } else {
                self.kind.lay_out(interleave_sectors, left, self.rule())
            }
        };
        boxed(Offset::new(start_sectors, member_sectors, inner))
    }

    /// The fewest members that it takes.
    pub fn members_min(&self) -> usize {
        match self.kind {
            Kind::Mirror | Kind::Pairs(_) | Kind::Rows(Code::P, _) => 2,
            Kind::Copies(_, copies) => copies as usize,
            Kind::Rows(Code::PQ, _) => 4,
            // Two members under parity are a mirror, and better made as one.
            Kind::Nested(groups, code) => groups * if code == Code::P { 3 } else { 4 },
            Kind::Btrfs(profile) => profile.devices_min(),
            _ => 1,
        }
    }

    /// How many sectors the level's system needs on a member for itself; 0 where that depends on the
    /// interleave alone.
    pub fn member_sectors_min(&self) -> u64 {
        match (self.front, self.kind) {
            (_, Kind::Btrfs(profile)) => profile.device_sectors_min(),
            (Front::Extents(kept), _) => LVM_START_SECTORS + (kept + 1) * LVM_EXTENT_SECTORS,
            _ => 0,
        }
    }

    /// How many of this many members, whichever they are, may fail without losing data.
    pub fn losses_survived(&self, members: usize) -> usize {
        match self.kind {
            Kind::Mirror => members.saturating_sub(1),
            Kind::Pairs(_) | Kind::Rows(Code::P, _) | Kind::Nested(_, Code::P) => 1,
            Kind::Copies(_, copies) => copies as usize - 1,
            Kind::Rows(Code::PQ, _) | Kind::Nested(_, Code::PQ) => 2,
            Kind::Btrfs(profile) => profile.losses_survived(),
            _ => 0,
        }
    }

    /// The groups of members that hold the same rows or copies, each of which survives
    /// [`losses_survived`](Self::losses_survived) losses: their number, and the members of each.
    ///
    /// Eight members of `raid10` are four pairs, 24 of `md-raid60-2` two groups of twelve. Where copies overlap all around
    /// (md's far and offset copies, or two copies on three members), each member begins a group: eight members of
    /// `md-raid10-f2` are eight pairs of neighbours.
    pub fn groups(&self, members: usize) -> [usize; 2] {
        match self.kind {
            Kind::Pairs(_) => [members / 2, 2],
            Kind::Nested(groups, _) => [groups, members / groups],
            Kind::Copies(spread, copies) => {
                let copies = copies as usize;
                let apart =
                    spread == Spread::Near && members.is_multiple_of(copies) || members == copies;
                [if apart { members / copies } else { members }, copies]
            }
            _ => [1, members],
        }
    }

    /// Whether it keeps parity, which a crash can leave wrong.
    pub fn has_parity(&self) -> bool {
        match self.kind {
            Kind::Rows(..) | Kind::Nested(..) => true,
            Kind::Btrfs(profile) => matches!(profile, Profile::Raid5 | Profile::Raid6),
            _ => false,
        }
    }

    /// Whether it has an interleave to choose.
    pub fn interleaved(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Single
                | Kind::Concat
                | Kind::EvenConcat
                | Kind::RoundedConcat(_)
                | Kind::Mirror
                | Kind::Btrfs(_)
        )
    }

    /// The same with members cut to a multiple of this many sectors, where that can be chosen: mdadm's
    /// `--rounding` of md-concat.
    pub fn rounded_to(self, sectors: u64) -> Option<Level> {
        let rounds = matches!(self.kind, Kind::RoundedConcat(_));
        rounds.then_some(Level { kind: Kind::RoundedConcat(sectors), ..self })
    }

    /// Its fixed interleave, where none can be chosen.
    pub fn own_interleave_sectors(&self) -> Option<u64> {
        match self.kind {
            Kind::Btrfs(profile) => profile.is_striped().then_some(btrfs::INTERLEAVE_SECTORS),
            _ => None,
        }
    }

    /// Whether Linux's md runs it through its stripe cache (RAID 4, 5 and 6), in rows of 4 KiB.
    pub fn has_stripe_cache(&self) -> bool {
        let is_rows = matches!(self.kind, Kind::Rows(..) | Kind::Nested(..));
        is_rows && matches!(self.front, Front::Superblock | Front::Extents(_))
    }

    /// The arrays that it is made of, where those are arrays by themselves.
    pub fn nested(&self) -> Option<NestedLevel> {
        let Kind::Nested(groups, code) = self.kind else { return None };
        let named = |name: &str| name.parse().expect("it stands in the list");
        let inner = named(if code == Code::P { "md-raid5" } else { "md-raid6" });
        Some(NestedLevel { groups, inner, outer: named("md-stripe") })
    }

    /// Whether md may keep a write-intent bitmap for it: one of its levels that has redundancy.
    pub fn has_bitmap(&self) -> bool {
        self.is_of(System::Md) && self.losses_survived(self.members_min()) > 0
    }

    /// Whether LVM keeps a bitmap for it, always: its levels with redundancy (dm-raid).
    pub fn has_bitmap_of_lvm(&self) -> bool {
        self.is_run_by_dm() && self.is_run_by_md()
    }

    /// Chunks in a stripe of so many members as file systems should know it, which is what md tells them (`io_opt`): those
    /// of data; of RAID 10 what the near copies leave, or all members where they do not divide them
    /// (`raid10_nr_stripes`).
    ///
    /// Six members: 5 of md-raid5, 4 of md-raid6, 3 of md-raid10, 2 of md-raid10-n3, 6 of md-raid10-f2. A stripe of arrays
    /// says the least common multiple of its own and theirs (`raid0_run`, `blk_stack_limits`): 24 members of md-raid60-2,
    /// that of 2 and 10, which is 10.
    pub fn stripe_chunks(&self, members: usize) -> usize {
        let near = |copies: usize| {
            if members.is_multiple_of(copies) { members / copies } else { members }
        };
        match self.kind {
            Kind::Rows(code, _) => members.saturating_sub(code.members()),
            Kind::Pairs(_) => near(2),
            Kind::Copies(Spread::Near, copies) => near(copies as usize),
            Kind::Nested(groups, code) => {
                lcm(groups, (members / groups).saturating_sub(code.members()).max(1))
            }
            Kind::Mirror => 1,
            _ => members,
        }
    }

    /// Whether md can keep a partial parity log for it (`raid5-ppl.c`).
    pub fn has_ppl(&self) -> bool {
        self.mdadm().is_some_and(|mdadm| mdadm.level == "5")
    }

    /// Whether md can have members of it that it reads only where no other can be (`mdadm --write-mostly`).
    pub fn has_write_mostly(&self) -> bool {
        self.is_of(System::Md) && self.mdadm().is_some_and(|mdadm| mdadm.level == "1")
    }

    /// Members of each row that hold parity: 1 of RAID 4 and 5, 2 of RAID 6, of a nested level 1 or 2 in each of its groups;
    /// none of the others.
    pub fn parity_members(&self) -> usize {
        match self.kind {
            Kind::Rows(code, _) | Kind::Nested(_, code) => code.members(),
            _ => 0,
        }
    }

    /// Where it puts its copies, if it is md's RAID 10.
    pub fn spread(&self) -> Option<Spread> {
        match self.kind {
            Kind::Copies(spread, _) => Some(spread),
            _ => None,
        }
    }

    /// Sectors of the array for each sector of a member, where md's resync and check go through the array: RAID 10
    /// (`resync_max_sectors = raid10_size()` in `raid10_run`). All other levels go through the members.
    ///
    /// Eight members in two copies: 4. Two members: 1.
    pub fn resynced_for_each(&self, members: usize) -> f64 {
        match self.kind {
            Kind::Copies(_, copies) => members as f64 / f64::from(copies),
            _ => 1.0,
        }
    }

    /// Whether Linux runs it: md, dm, LVM and btrfs.
    pub fn runs_on_linux(&self) -> bool {
        self.system().is_some_and(System::is_linuxs)
    }

    /// Whether Linux's md runs it: its own levels, and those of LVM that have redundancy (dm-raid).
    pub fn is_run_by_md(&self) -> bool {
        let is_dm_raid = self.is_of(System::Lvm) && matches!(self.front, Front::Extents(1..));
        self.is_of(System::Md) || is_dm_raid
    }

    /// Whether device-mapper runs it, as all levels of LVM.
    pub fn is_run_by_dm(&self) -> bool {
        matches!(self.system(), Some(System::Lvm | System::Dm))
    }

    fn rule(&self) -> WriteRule {
        match self.front {
            Front::Label => WriteRule::HalfOfRow,
            Front::Nothing | Front::Superblock | Front::Extents(_) => WriteRule::FewestRequests,
        }
    }
}

impl Kind {
    fn lay_out(self, interleave_sectors: u64, member_sectors: &[u64], rule: WriteRule) -> Laid {
        let (interleave, members, given) =
            (interleave_sectors, member_sectors, member_sectors.len());
        let smallest = members.iter().copied().min().unwrap_or(0);
        match self {
            Kind::Single if given > 1 => Err(LayoutError::NotSingle { given }),
            Kind::Single | Kind::Concat => boxed(Concat::new(members)),
            Kind::EvenConcat => boxed(Concat::new(&vec![smallest; given])),
            Kind::RoundedConcat(sectors) => boxed(Concat::rounded(sectors, members)),
            Kind::Stripe => boxed(Stripe::new(interleave, members)),
            Kind::Uniform => boxed(Stripe::uniform(interleave, members)),
            Kind::Raid0(dealing) => boxed(Raid0::new(dealing, interleave, members)),
            Kind::Mirror => {
                let one = Concat::new(&[smallest])?;
                boxed(Mirrors::new(one, given as u32, Pairing::Neighbours))
            }
            Kind::Pairs(_) if !given.is_multiple_of(2) => {
                Err(LayoutError::UnevenCopies { copies: 2, given })
            }
            Kind::Pairs(pairing) => {
                let stripe = Stripe::new(interleave, &vec![smallest; given / 2])?;
                boxed(Mirrors::new(stripe, 2, pairing))
            }
            Kind::Copies(spread, copies) => boxed(Raid10::new(spread, copies, interleave, members)),
            Kind::Rows(code, rotation) => {
                boxed(Parity::new(code, rotation, rule, interleave, members))
            }
            Kind::Nested(..) => unreachable!("its arrays are laid out one by one"),
            Kind::Btrfs(profile) => {
                let chunks = Chunks::of_blank(profile, members)?;
                boxed(btrfs::lay_out(profile, &chunks.data, given))
            }
        }
    }
}

/// The least common multiple, by Euclid: of 4 and 6 it is 12.
fn lcm(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

fn boxed(layout: Result<impl Layout + 'static, LayoutError>) -> Laid {
    layout.map(|layout| Box::new(layout) as Box<dyn Layout>)
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// There is no layout of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchLevel(pub String);

impl fmt::Display for NoSuchLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no layout `{}`; the plain ones are", self.0)?;
        let plain = LEVELS.iter().filter(|level| !level.name.contains('-'));
        plain.map(|level| level.name).try_for_each(|name| write!(f, " {name}"))?;
        let is_of_zfs = self.0.starts_with("raidz") || self.0.starts_with("zfs");
        if is_of_zfs { write!(f, "; ZFS is not modelled") } else { Ok(()) }
    }
}

impl std::error::Error for NoSuchLevel {}

impl FromStr for Level {
    type Err = NoSuchLevel;

    fn from_str(text: &str) -> Result<Self, NoSuchLevel> {
        let named = |level: &&Level| level.name == text || level.also.contains(&text);
        LEVELS.iter().find(named).copied().ok_or_else(|| NoSuchLevel(text.into()))
    }
}

/// The sectors that RAIDframe leaves free at the front of each member; its label is among them.
const RAIDFRAME_RESERVED_SECTORS: u64 = 64;

/// Where LVM's first extent begins on a member (`default_data_alignment`).
const LVM_START_SECTORS: u64 = 2048;
/// LVM's extent, 4 MiB unless vgcreate is told otherwise.
const LVM_EXTENT_SECTORS: u64 = 8192;

/// mdadm cuts the members of a mirror to 64 KiB, as if they had an interleave.
fn md_mirror_members(member_sectors: &[u64]) -> Vec<u64> {
    member_sectors.iter().map(|sectors| sectors / 128 * 128).collect()
}

/// Where mdadm starts the data on the members of an array with metadata 1.2, its default. The first
/// member decides; all members have the same offset.
///
/// mdadm reserves room for reshaping. The reserve starts at 128 MiB and is halved until it is at most
/// 1/1024 of the member, or at most two interleaves. Superblock and bitmap come in front of it. The sum
/// of both is always the next whole MiB.
pub fn md_data_offset_sectors(interleave_sectors: Option<u64>, member_sectors: u64) -> u64 {
    const MIB_SECTORS: u64 = 2048;
    let mut room_sectors = 128 * MIB_SECTORS;
    while room_sectors * 1024 > member_sectors
        && interleave_sectors.is_none_or(|interleave| room_sectors / 2 > interleave)
    {
        room_sectors /= 2;
    }
    room_sectors / MIB_SECTORS * MIB_SECTORS + MIB_SECTORS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Health, Plan, Request};
    use std::collections::BTreeSet;

    /// LVM's RAID 5 counted as a mirror where only md's names were asked.
    #[test]
    fn parity_is_what_a_row_can_lose_without_copies() {
        for level in LEVELS {
            let members = level.members_min();
            let parity = level.parity_members();
            if matches!(level.kind, Kind::Rows(..) | Kind::Nested(..)) {
                assert_eq!(parity, level.losses_survived(members), "{}", level.name);
            } else {
                assert_eq!(parity, 0, "{}", level.name);
            }
        }
        assert_eq!("lvm-raid5".parse::<Level>().unwrap().parity_members(), 1);
    }

    /// md keeps one where it is asked to, LVM always.
    #[test]
    fn bitmaps_are_of_what_has_redundancy() {
        let with = |has: &dyn Fn(&Level) -> bool| -> Vec<&str> {
            let of_lvm = LEVELS.iter().filter(|level| level.name.starts_with("lvm-"));
            of_lvm.filter(|level| has(level)).map(|level| level.name).collect()
        };
        assert_eq!(with(&Level::has_bitmap_of_lvm), ["lvm-mirror", "lvm-raid5", "lvm-raid10"]);
        assert!(with(&Level::has_bitmap).is_empty());
        assert!(!LEVELS.iter().any(|level| level.has_bitmap() && level.has_bitmap_of_lvm()));
    }

    #[test]
    fn groups_are_what_fails_apart() {
        let of = |name: &str, members| name.parse::<Level>().unwrap().groups(members);
        assert_eq!(
            [of("raid10", 8), of("md-raid10", 8), of("ccd-mirror", 4)],
            [[4, 2], [4, 2], [2, 2]]
        );
        assert_eq!(
            [of("md-raid10-n3", 6), of("md-raid10", 3), of("md-raid10-f2", 8)],
            [[2, 3], [3, 2], [8, 2]]
        );
        assert_eq!(
            [of("md-raid10-n4", 8), of("md-raid10-n4", 4), of("md-raid10-n4", 6)],
            [[2, 4], [1, 4], [6, 4]]
        );
        assert_eq!([of("raid6", 8), of("mirror", 3), of("stripe", 4)], [[1, 8], [1, 3], [1, 4]]);
        assert_eq!([of("md-raid60-2", 24), of("md-raid50-4", 12)], [[2, 12], [4, 3]]);
    }

    /// What md's `io_opt` comes to, in chunks.
    #[test]
    fn a_stripe_is_what_md_tells_file_systems() {
        let of = |name: &str, members| name.parse::<Level>().unwrap().stripe_chunks(members);
        assert_eq!([of("md-stripe", 4), of("md-raid5", 4), of("md-raid6", 8)], [4, 3, 6]);
        assert_eq!([of("md-raid10", 8), of("md-raid10", 5), of("md-raid10-n3", 6)], [4, 5, 2]);
        assert_eq!([of("md-raid10-n3", 8), of("md-raid10-f2", 4), of("md-mirror", 3)], [8, 4, 1]);
        assert_eq!([of("lvm-raid10", 6), of("lvm-raid5", 4), of("md-raid4", 3)], [3, 3, 2]);
        assert_eq!(
            [of("md-raid60-2", 24), of("md-raid50-2", 8), of("md-raid50-3", 12)],
            [10, 6, 3]
        );
    }

    #[test]
    fn every_name_is_one_layout_and_reads_back() {
        let mut names = BTreeSet::new();
        for level in LEVELS {
            assert_eq!(level.to_string().parse(), Ok(*level));
            for &name in [level.name].iter().chain(level.also) {
                assert!(names.insert(name), "{name} is there twice");
                assert_eq!(name.parse(), Ok(*level));
            }
        }
        let error = "raid7".parse::<Level>().unwrap_err().to_string();
        assert!(error.contains("`raid7`") && error.contains(" stripe mirror raid4 "), "{error}");
    }

    #[test]
    fn every_layout_can_be_laid_out_over_the_fewest_members_and_no_fewer() {
        for level in LEVELS {
            let sectors = level.member_sectors_min().max(8192);
            let members = vec![sectors; level.members_min()];
            let layout = level.lay_out(64, &members).unwrap();
            assert_eq!(layout.members(), level.members_min(), "{level}");
            assert!(layout.sectors() > 0, "{level}");
            let error = level.lay_out(64, &members[1..]).err();
            assert!(error.is_some(), "{level} over one member less");
            assert!(
                level.lay_out(64, &[sectors, 0, sectors, sectors]).is_err(),
                "{level} over an empty one"
            );
            assert_eq!(level.lay_out(0, &members).is_err(), level.interleaved(), "{level}");
        }
    }

    /// Every set of this many lost members can be restored from the others, and some larger one cannot.
    #[test]
    fn a_level_survives_the_losses_that_it_says() {
        // There are too many sets of more members.
        for level in LEVELS.iter().filter(|level| level.members_min() <= 9) {
            let count = if level.members_min() == 1 { 1 } else { 4.max(level.members_min()) };
            let sectors = level.member_sectors_min().max(8192);
            let layout = level.lay_out(64, &vec![sectors; count]).unwrap();
            let survives = |lost: u32| {
                let mut health = Health::all_up(count);
                (0..count as u32).filter(|m| lost >> m & 1 == 1).for_each(|m| health.fail(m));
                let everything = Request::read(0, layout.sectors() as u32);
                layout.plan(everything, &health, &mut Plan::new()).is_ok()
            };
            let all = |losses: usize| {
                (0..1 << count)
                    .filter(|lost: &u32| lost.count_ones() as usize == losses)
                    .all(survives)
            };
            let losses = level.losses_survived(count);
            assert!(all(losses) && !all(losses + 1), "{level}: {losses}");
        }
    }

    #[test]
    fn what_does_not_come_out_even_is_an_error() {
        let three = [8192; 3];
        for name in ["raid10", "ccd-mirror", "raidframe-mirror"] {
            let error = name.parse::<Level>().unwrap().lay_out(64, &three).err();
            assert_eq!(error, Some(LayoutError::UnevenCopies { copies: 2, given: 3 }), "{name}");
        }
        let single: Level = "single".parse().unwrap();
        assert_eq!(single.lay_out(0, &three).err(), Some(LayoutError::NotSingle { given: 3 }));
        let raidframe: Level = "raidframe-raid5".parse().unwrap();
        let error = raidframe.lay_out(8, &[100, 64, 100]).err();
        let expected =
            LayoutError::MemberBelowReserved { member: 1, sectors: 64, reserved_sectors: 64 };
        assert_eq!(error, Some(expected));
    }

    fn requests(name: &str, member_sectors: &[u64], request: Request) -> Vec<Request> {
        let layout = name.parse::<Level>().unwrap().lay_out(32, member_sectors).unwrap();
        let mut plan = Plan::new();
        layout.plan(request, &Health::all_up(layout.members()), &mut plan).unwrap();
        plan.steps().iter().map(|step| step.request).collect()
    }

    /// The formulas of its `rf_raid0.c` to `rf_raid5.c`, behind 64 protected sectors.
    #[test]
    fn raidframe_maps_by_its_formulas() {
        let unit_sectors = 32;
        for columns in 3..7_u64 {
            let members = vec![64 + 20 * unit_sectors; columns as usize];
            for sector in (0..20 * unit_sectors * 2).step_by(7) {
                let (unit, within) = (sector / unit_sectors, sector % unit_sectors);
                let data = columns - 1;
                for (name, column, row) in [
                    ("raidframe-stripe", unit % columns, unit / columns),
                    ("raidframe-raid4", unit % data, unit / data),
                    ("raidframe-raid5", unit % columns, unit / data),
                ] {
                    let expected = Request::read(64 + row * unit_sectors + within, 1);
                    let read = requests(name, &members, Request::read(sector, 1));
                    assert_eq!(read, [expected.to(column as u32)], "{name} over {columns}");
                }
                let layout = "raidframe-raid5".parse::<Level>().unwrap();
                let layout = layout.lay_out(unit_sectors, &members).unwrap();
                let parity = layout.row_parity(unit / data).unwrap().0;
                assert_eq!(u64::from(parity.member), data - (unit / data) % columns);
            }
        }
    }

    /// The second half of ccd's disks are the copies, in the same order; ccd reads the first alone.
    #[test]
    fn a_ccd_mirror_writes_disk_k_and_its_other_half() {
        let written = requests("ccd-mirror", &[4096; 4], Request::write(40, 32));
        let piece = |target, sector, sectors| Request::write(sector, sectors).to(target);
        assert_eq!(written, [piece(1, 8, 24), piece(3, 8, 24), piece(0, 32, 8), piece(2, 32, 8)]);
        assert_eq!(requests("ccd-mirror", &[4096; 4], Request::read(0, 8))[0].target, 0);
    }

    /// A stripe unit on RAIDframe's RAID 1 only says where a request is cut; md's has none.
    #[test]
    fn raidframe_cuts_mirrored_requests_and_md_does_not() {
        let read = Request::read(0, 128);
        assert_eq!(requests("raidframe-mirror", &[8192; 2], read).len(), 4);
        assert_eq!(requests("md-mirror", &[8192; 2], read).len(), 1);
    }
}
