//! How much of a volume may fail: groups of members, each of which survives so many losses.

use block::Level;
use block::layout::System;
use serde::Serialize;
use std::fmt;

/// A volume as failures see it. RAID 10 on eight drives is four groups of two that survive one loss each; it is not
/// "any four of eight".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// Its name, as it was asked for.
    pub level: String,
    /// Groups side by side; when one is gone, all is.
    pub groups: usize,
    /// Members of each group.
    pub members: usize,
    /// Members of a group that may fail, whichever they are.
    pub survived: usize,
    /// What a crash can leave wrong.
    pub crash: Crash,
    /// Of how many drives all has to be read in a group that has lost as many members as it survives.
    pub at_stake: f64,
    /// Whether each block is there twice on the same member, which helps against bad sectors alone.
    pub is_twice: bool,
    /// Members in all; fewer than the groups have together where they overlap.
    pub drives: usize,
}

/// What a crash or a power cut can do to what was written long before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Crash {
    /// Nothing: no parity, or every write goes to a new place.
    None,
    /// Copies may differ; one of them is chosen.
    Copies,
    /// The write hole: parity that is wrong.
    Hole,
}

/// Levels of file systems that ileave does not lay out, but whose failures it can count.
const RAIDZ: [(&str, usize); 4] = [("raidz", 1), ("raidz1", 1), ("raidz2", 2), ("raidz3", 3)];
/// Levels of several groups, with the level of each.
const NESTED: [(&str, &str); 2] = [("raid50", "raid5"), ("raid60", "raid6")];

/// Why there is no such volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// No level has this name.
    NoSuchLevel(String),
    /// The members cannot be divided into so many groups.
    Groups {
        /// Members in all.
        members: usize,
        /// Groups asked for.
        groups: usize,
    },
    /// The members cannot be divided into as many arrays as the level has.
    OwnGroups {
        /// The level.
        level: String,
        /// Members in all.
        members: usize,
        /// Its arrays.
        groups: usize,
    },
    /// Groups were asked for beside those that the level has.
    HasOwnGroups {
        /// The level.
        level: String,
        /// Its arrays.
        groups: usize,
    },
    /// Too few members in a group.
    TooFew {
        /// The level.
        level: String,
        /// How many it needs.
        needed: usize,
        /// How many there are.
        given: usize,
    },
    /// A level of one member with several.
    NotOne(String),
    /// Members that are in none of the level's groups.
    Leftover {
        /// The level.
        level: String,
        /// Members in all.
        members: usize,
        /// Members of each group.
        of: usize,
    },
    /// Groups of a level for which they make no difference.
    NoGroups(String),
}

/// The level and groups that somebody means by `raid60-2`.
fn grouped(name: &str) -> Option<(&str, usize)> {
    let (level, groups) = name.split_once('-')?;
    let groups = groups.parse().ok().filter(|&groups: &usize| groups > 0)?;
    ["raid50", "raid60"].contains(&level).then_some((level, groups))
}

/// The raidz that has as many parities as a dRAID; one without a number has one.
fn raidz_of(draid: &str) -> String {
    let name = draid.split(':').next().unwrap_or(draid).replace("draid", "raidz");
    if name == "raidz" { "raidz1".into() } else { name }
}

/// Whether somebody asks for a code with parities by its kind.
fn is_erasure_code(name: &str) -> bool {
    let kind = name.split([':', '-']).next().unwrap_or(name).to_ascii_lowercase();
    ["erasure", "ec", "reed", "rs"].contains(&kind.as_str())
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::NoSuchLevel(name) if grouped(name).is_some() => {
                let (level, groups) = grouped(name).expect("it was asked");
                write!(f, "no level is called `{name}`; write `{level}` with `--groups {groups}`")
            }
            ShapeError::NoSuchLevel(name) if format!("btrfs-{name}").parse::<Level>().is_ok() => {
                write!(f, "no level is called `{name}`; btrfs's is `btrfs-{name}`")
            }
            ShapeError::NoSuchLevel(name) if format!("md-{name}").parse::<Level>().is_ok() => {
                write!(f, "no level is called `{name}`; md's is `md-{name}`")
            }
            ShapeError::NoSuchLevel(name) if name.starts_with("draid") => write!(
                f,
                "`{name}`: dRAID is not worked out; write `{}` over the members of one of its groups, whose rebuild \
                 takes longer than one to a distributed spare",
                raidz_of(name)
            ),
            ShapeError::NoSuchLevel(name) if is_erasure_code(name) => write!(
                f,
                "`{name}`: erasure codes are not worked out beyond three parities; raidz3 is one over as many members"
            ),
            ShapeError::NoSuchLevel(name) => write!(
                f,
                "no level is called `{name}`; write one of stripe, mirror, raid10, raid5, raid6, raid50, raid60, \
                 raidz1, raidz2, raidz3, or another that `ileave keys volume` lists"
            ),
            ShapeError::Groups { members, groups } => {
                write!(
                    f,
                    "{members} members do not make {groups} equal groups; give `--groups` a divisor of it"
                )
            }
            ShapeError::OwnGroups { level, members, groups } => {
                write!(
                    f,
                    "{members} members do not make the {groups} equal arrays of {level}; give `--members` a multiple of {groups}"
                )
            }
            ShapeError::HasOwnGroups { level, groups } => {
                write!(f, "{level} has {groups} arrays of its own; leave out `--groups`")
            }
            ShapeError::TooFew { level, needed, given } => {
                write!(
                    f,
                    "{level} needs at least {needed} members in each group, not {given}; add some"
                )
            }
            ShapeError::NotOne(level) => {
                write!(
                    f,
                    "{level} takes one member; leave out `--members`, or choose another level"
                )
            }
            ShapeError::Leftover { level, members, of } => {
                write!(
                    f,
                    "{level} is made of groups of {of}, and {members} members leave some over; give `--members` a multiple of {of}"
                )?;
                if level == "raid10" && *of == 2 {
                    f.write_str(", or `--level md-raid10`: Linux's md takes any number")?;
                }
                Ok(())
            }
            ShapeError::NoGroups(level) => {
                write!(
                    f,
                    "`--groups` makes no difference to {level}; leave it out, or choose a level with parity"
                )
            }
        }
    }
}

impl std::error::Error for ShapeError {}

impl Shape {
    /// Whether ZFS lays it out.
    pub fn is_raidz(&self) -> bool {
        RAIDZ.iter().any(|(name, _)| *name == self.level)
    }

    /// The shape of `level` over `members`, side by side in `groups` groups where some are asked for.
    ///
    /// # Errors
    ///
    /// Where there is no such volume.
    pub fn new(level: &str, members: usize, groups: Option<usize>) -> Result<Self, ShapeError> {
        let nested = NESTED.iter().find(|(name, _)| *name == level);
        let asked = groups.unwrap_or(if nested.is_some() { 2 } else { 1 });
        if asked == 0 || !members.is_multiple_of(asked) {
            return Err(ShapeError::Groups { members, groups: asked });
        }
        let each = members / asked;
        let inner = nested.map_or(level, |(_, inner)| *inner);
        if let Some((_, survived)) = RAIDZ.iter().find(|(name, _)| *name == inner) {
            too_few(level, survived + 1, each)?;
            return Ok(Shape {
                level: level.into(),
                groups: asked,
                members: each,
                survived: *survived,
                crash: Crash::None,
                at_stake: (each - survived) as f64,
                is_twice: false,
                drives: members,
            });
        }
        let known: Level = inner.parse().map_err(|_| ShapeError::NoSuchLevel(level.into()))?;
        if let (Some(nested), true) = (known.nested(), asked > 1) {
            return Err(ShapeError::HasOwnGroups { level: level.into(), groups: nested.groups });
        }
        too_few(level, known.members_min(), each)?;
        if let Some(nested) = known.nested()
            && !each.is_multiple_of(nested.groups)
        {
            return Err(ShapeError::OwnGroups {
                level: level.into(),
                members: each,
                groups: nested.groups,
            });
        }
        if known.name == "single" && each > 1 {
            return Err(ShapeError::NotOne(level.into()));
        }
        let [own, of] = known.groups(each);
        // Copies that overlap have more members in groups than there are.
        if own * of < each {
            return Err(ShapeError::Leftover { level: level.into(), members: each, of });
        }
        let survived = known.losses_survived(of);
        let divided = known.groups(members);
        if asked > 1 && (survived == 0 || divided == [asked * own, of]) {
            return Err(ShapeError::NoGroups(level.into()));
        }
        Ok(Shape {
            level: level.into(),
            groups: asked * own,
            members: of,
            survived,
            crash: match survived {
                _ if known.has_parity() => Crash::Hole,
                0 => Crash::None,
                _ => Crash::Copies,
            },
            at_stake: at_stake(&known, of, survived),
            is_twice: known.name == "btrfs-dup",
            drives: members,
        })
    }

    /// Groups as they would be if none overlapped: what they hold together is what the drives hold.
    ///
    /// Eight members of `md-raid10-f2` are eight pairs of neighbours, each of half a drive's data: if one fails, half of
    /// each neighbour has to be read, as much as of a pair. Four.
    pub fn groups_apart(&self) -> f64 {
        self.drives as f64 / self.members as f64
    }
}

/// All of the members that are left; but btrfs's copies of a chunk are on some members, and of another on others. What had
/// its other copies on those that failed is at stake alone.
///
/// Two copies on eight: of the one that fails each chunk is somewhere once more, together one drive. Three copies: two
/// that fail share 2 of 7 of what they hold, and so much has to be read.
fn at_stake(level: &Level, members: usize, survived: usize) -> f64 {
    let left = (members - survived) as f64;
    let is_spread = level.is_of(System::Btrfs) && !level.has_parity();
    // Of the sets of other members that may have a member's other copies, one is the set that failed.
    let sets = (1..=survived).map(|taken| (members - taken) as f64 / taken as f64);
    if is_spread { left / sets.product::<f64>() } else { left }
}

fn too_few(level: &str, needed: usize, given: usize) -> Result<(), ShapeError> {
    if given < needed {
        return Err(ShapeError::TooFew { level: level.into(), needed, given });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_shapes() {
        let of = |level: &str, members, groups| {
            let shape = Shape::new(level, members, groups).unwrap();
            (shape.groups, shape.members, shape.survived)
        };
        assert_eq!(of("raid10", 8, None), (4, 2, 1));
        assert_eq!(of("md-raid6", 8, None), (1, 8, 2));
        assert_eq!(of("md-raid60-2", 24, None), (2, 12, 2));
        assert!(Shape::new("md-raid60-2", 25, None).is_err());
        assert_eq!(of("raid60", 16, None), (2, 8, 2));
        assert_eq!(of("raid5", 12, Some(3)), (3, 4, 1));
        assert_eq!(of("raidz3", 8, None), (1, 8, 3));
        assert_eq!(of("mirror", 3, None), (1, 3, 2));
        assert_eq!(of("stripe", 4, None), (1, 4, 0));
        let at_stake = |level: &str, members| {
            let shape = Shape::new(level, members, None).unwrap();
            format!("{:.3}", shape.at_stake)
        };
        assert_eq!([at_stake("raid6", 8), at_stake("raidz2", 8)], ["6.000"; 2]);
        assert_eq!([at_stake("btrfs-raid1", 8), at_stake("btrfs-raid10", 8)], ["1.000"; 2]);
        assert_eq!(
            [at_stake("btrfs-raid1c3", 8), at_stake("btrfs-raid1c3", 3)],
            ["0.286", "1.000"]
        );
        assert_eq!([at_stake("btrfs-raid6", 8), at_stake("btrfs-raid0", 8)], ["6.000", "8.000"]);
        // Eight pairs of neighbours, but still eight drives.
        assert_eq!(of("md-raid10-f2", 8, None), (8, 2, 1));
        let apart = |level: &str, members| {
            let shape = Shape::new(level, members, None).unwrap();
            (shape.drives, (3.0 * shape.groups_apart()).round())
        };
        assert_eq!([apart("md-raid10-f2", 8), apart("md-raid10-o3", 8)], [(8, 12.0), (8, 8.0)]);
        assert_eq!([apart("md-raid10", 8), apart("md-raid60-2", 24)], [(8, 12.0), (24, 6.0)]);
    }

    #[test]
    fn what_is_no_volume_is_refused() {
        let error = |level: &str, members, groups| {
            Shape::new(level, members, groups).unwrap_err().to_string()
        };
        assert!(error("raid7", 8, None).contains("no level is called `raid7`"));
        assert!(error("raid60-2", 8, None).contains("write `raid60` with `--groups 2`"));
        assert_eq!(
            error("raid1c3", 3, None),
            "no level is called `raid1c3`; btrfs's is `btrfs-raid1c3`"
        );
        // The nearest name was not among those that were offered.
        assert_eq!(
            error("raid10-n3", 6, None),
            "no level is called `raid10-n3`; md's is `md-raid10-n3`"
        );
        assert!(error("draid2:8d:24c:2s", 24, None).contains("; write `raidz2` over the members"));
        assert!(error("draid:8d:24c", 24, None).contains("; write `raidz1` over the members"));
        assert!(error("ec:8+3", 11, None).ends_with("raidz3 is one over as many members"));
        assert!(error("raid6", 3, None).contains("at least 4 members"));
        assert!(error("raid60", 9, None).contains("do not make 2 equal groups"));
        assert!(error("raid6", 8, Some(0)).contains("0 equal groups"));
        assert!(error("single", 2, None).contains("takes one member"));
        assert!(error("raid10", 5, None).contains("5 members leave some over"));
        assert!(
            error("raid10", 5, None).ends_with("`--level md-raid10`: Linux's md takes any number")
        );
        assert!(error("raid10", 8, Some(2)).contains("makes no difference to raid10"));
        assert!(error("stripe", 8, Some(2)).contains("makes no difference to stripe"));
        // md's copies are spread over five members, too.
        assert_eq!(Shape::new("md-raid10", 5, None).unwrap().drives, 5);
    }
}
