//! What other programs are told of a level: whose it is, how mdadm calls it, and what keeps its data when members fail.

use super::super::Spread;
use super::super::btrfs::Profile;
use super::{Kind, Level};

/// The systems that levels are of. Those without one are arithmetic alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// ccd(4) of the BSDs.
    Ccd,
    /// RAIDframe of NetBSD.
    Raidframe,
    /// Linux's device mapper.
    Dm,
    /// Linux's LVM.
    Lvm,
    /// Linux's md.
    Md,
    /// Profiles of btrfs.
    Btrfs,
}

impl System {
    /// The system whose name a level's name begins with, if any: `md-raid5` is md's, and `raid5` nobody's.
    pub fn of(name: &str) -> Option<System> {
        match name.split_once('-')?.0 {
            "ccd" => Some(System::Ccd),
            "raidframe" => Some(System::Raidframe),
            "dm" => Some(System::Dm),
            "lvm" => Some(System::Lvm),
            "md" => Some(System::Md),
            "btrfs" => Some(System::Btrfs),
            _ => None,
        }
    }

    /// Whether it is one of Linux.
    pub fn is_linuxs(self) -> bool {
        match self {
            System::Dm | System::Lvm | System::Md | System::Btrfs => true,
            System::Ccd | System::Raidframe => false,
        }
    }
}

/// What mdadm(8) is told of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mdadm {
    /// `--level`: a number, or `linear`.
    pub level: &'static str,
    /// `--layout`, where it is not md's own for that level.
    pub layout: Option<&'static str>,
}

/// What keeps the data of a level when members fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redundancy {
    /// Nothing.
    Nothing,
    /// The same on every member.
    Mirror,
    /// So many copies on different members, and where md puts them, if it is md's RAID 10.
    Copies(usize, Option<Spread>),
    /// So many members of each row, or of each row of each of its arrays.
    Parity(usize),
}

impl Level {
    /// The system that it is of, if it is of one.
    pub fn system(&self) -> Option<System> {
        System::of(self.name)
    }

    /// Whether it is of this system.
    pub fn is_of(&self, system: System) -> bool {
        self.system() == Some(system)
    }

    /// md's level of this name, which may be its own, and may leave `md-` out: `raid5` is `md-raid5`.
    pub fn of_md(name: &str) -> Option<Level> {
        let own = name.strip_prefix("md-").unwrap_or(name);
        format!("md-{own}").parse().ok()
    }

    /// What mdadm is told of it, if it is one array of md.
    ///
    /// `md-raid6-ddf-n-restart` is `--level=6 --layout=ddf-N-restart`, `md-raid10` `--level=10` alone.
    pub fn mdadm(&self) -> Option<Mdadm> {
        if !self.is_of(System::Md) || self.nested().is_some() {
            return None;
        }
        let mut words = self.name.splitn(3, '-').skip(1);
        let level = match words.next()? {
            "concat" => "linear",
            "stripe" => "0",
            "mirror" => "1",
            "raid4" => "4",
            "raid5" => "5",
            "raid6" => "6",
            "raid10" => "10",
            _ => unreachable!("a test has all levels of md"),
        };
        // Names are small here, and mdadm's have a large N.
        let layout = words.next().map(|layout| match layout {
            "ddf-n-restart" => "ddf-N-restart",
            "ddf-n-continue" => "ddf-N-continue",
            layout => layout,
        });
        Some(Mdadm { level, layout })
    }

    /// Whether it is md's RAID 0, in either order on unequal members.
    pub fn is_raid_0_of_md(&self) -> bool {
        matches!(self.kind, Kind::Raid0(_))
    }

    /// The profile of btrfs that it is.
    pub fn btrfs_profile(&self) -> Option<Profile> {
        match self.kind {
            Kind::Btrfs(profile) => Some(profile),
            _ => None,
        }
    }

    /// What keeps its data when members fail.
    pub fn redundancy(&self) -> Redundancy {
        match self.kind {
            Kind::Single
            | Kind::Concat
            | Kind::EvenConcat
            | Kind::RoundedConcat(_)
            | Kind::Stripe
            | Kind::Uniform
            | Kind::Raid0(_)
            // DUP has both copies on one device.
            | Kind::Btrfs(Profile::Single | Profile::Dup | Profile::Raid0) => Redundancy::Nothing,
            Kind::Mirror => Redundancy::Mirror,
            Kind::Pairs(_) | Kind::Btrfs(Profile::Raid1 | Profile::Raid10) => {
                Redundancy::Copies(2, None)
            }
            Kind::Btrfs(Profile::Raid1c3) => Redundancy::Copies(3, None),
            Kind::Btrfs(Profile::Raid1c4) => Redundancy::Copies(4, None),
            Kind::Copies(spread, copies) => Redundancy::Copies(copies as usize, Some(spread)),
            Kind::Rows(code, _) | Kind::Nested(_, code) => Redundancy::Parity(code.members()),
            Kind::Btrfs(Profile::Raid5) => Redundancy::Parity(1),
            Kind::Btrfs(Profile::Raid6) => Redundancy::Parity(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVELS;
    use super::*;

    /// What the table of levels says to people is what mdadm is told.
    #[test]
    fn mdadm_is_told_what_the_table_says() {
        let mut told = 0;
        for level in LEVELS.iter().filter(|level| level.is_of(System::Md)) {
            let Some(mdadm) = level.mdadm() else {
                assert!(level.nested().is_some(), "{level}");
                continue;
            };
            let mut words = level.about.split([' ', ',', ';', ':']).skip(1);
            assert_eq!(words.next(), Some(&*format!("--level={}", mdadm.level)), "{level}");
            let layout = words.next().and_then(|word| word.strip_prefix("--layout="));
            assert_eq!(layout, mdadm.layout, "{level}");
            told += 1;
        }
        assert!(told > 20, "{told}");
        assert_eq!("raid5".parse::<Level>().unwrap().mdadm(), None);
    }

    #[test]
    fn a_level_is_of_the_system_that_its_description_names() {
        let of = |name: &str| name.parse::<Level>().unwrap().system();
        assert_eq!([of("raid5"), of("md-raid5")], [None, Some(System::Md)]);
        assert_eq!([of("lvm-raid5"), of("btrfs-raid1")], [Some(System::Lvm), Some(System::Btrfs)]);
        for level in LEVELS {
            let is_plain = !level.name.contains('-');
            assert_eq!(level.system().is_none(), is_plain, "{level}");
            assert_eq!(level.is_of(System::Btrfs), level.btrfs_profile().is_some(), "{level}");
        }
    }

    #[test]
    fn what_keeps_the_data_survives_as_much() {
        for level in LEVELS {
            let members = level.members_min().max(4);
            let survived = match level.redundancy() {
                Redundancy::Nothing => 0,
                Redundancy::Mirror => members - 1,
                Redundancy::Copies(copies, _) => copies - 1,
                Redundancy::Parity(parity) => parity,
            };
            assert_eq!(survived, level.losses_survived(members), "{level}");
        }
    }

    #[test]
    fn levels_of_md_go_without_its_name() {
        let named = |name: &str| Level::of_md(name).map(|level| level.name);
        assert_eq!(named("raid5"), Some("md-raid5"));
        assert_eq!([named("md-raid0"), named("linear")], [Some("md-stripe"), Some("md-concat")]);
        assert_eq!([named("raid3"), named("lvm-raid5")], [None, None]);
    }
}
