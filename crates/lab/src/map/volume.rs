//! A layout over named members, from the command line or from another system's file.

use crate::error::{Error, Result, nearest};
use crate::experiment;
use crate::formats::ccd::Ccd;
use crate::formats::dm::Dm;
use crate::formats::mdadm::Md;
use crate::formats::raidctl::Raid;
use block::layout::{LEVELS, Layout, Level, Offset, md_data_offset_sectors, unused};
use block::units;

/// A layout over named members.
pub struct Volume {
    /// What the layout is called.
    pub level: String,
    /// Its interleave; 0 where it has none.
    pub interleave_sectors: u64,
    /// Its members.
    pub members: Vec<Member>,
    /// The map.
    pub layout: Box<dyn Layout>,
    /// What a reader should know: sizes taken for granted, members that are gone.
    pub notes: Vec<String>,
}

/// A member of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its device or image, or its number.
    pub name: String,
    /// Its size, as far as it is known.
    pub sectors: u64,
}

/// More members than anyone has.
const MEMBERS_MAX: usize = 4096;
/// What members are taken to have where nobody says: 1 GiB.
const UNSAID_SECTORS: u64 = 1 << 21;

/// How large members are, where the file that names them does not say.
pub struct Sizes<'a> {
    /// What the command line says: nothing, one size for all, or one each.
    pub given: Vec<u64>,
    /// What a device or an image has, if it is there.
    pub of_path: &'a dyn Fn(&str) -> Option<u64>,
}

/// Reads `--members`: a count, or sizes joined by commas.
///
/// # Errors
///
/// Where it is neither, or names too many.
pub fn parse_member_sizes(text: &str) -> Result<(usize, Vec<u64>)> {
    let wrong = |why: String| {
        Error::input(format!(
            "--members {text}: {why}; give a count such as `3`, or sizes such as `2GiB,2GiB,1GiB`"
        ))
    };
    let (count, sizes) = match text.trim().parse::<usize>() {
        Ok(count) => (count, Vec::new()),
        Err(_) => {
            let sizes: std::result::Result<Vec<u64>, _> =
                text.split(',').map(units::parse_sectors).collect();
            let sizes = sizes.map_err(|error| wrong(error.to_string()))?;
            (sizes.len(), sizes)
        }
    };
    if !(1..=MEMBERS_MAX).contains(&count) {
        return Err(wrong(format!("a volume has 1 to {MEMBERS_MAX} members")));
    }
    Ok((count, sizes))
}

impl Sizes<'_> {
    /// The members that the command line describes.
    fn said(&self, count: usize) -> Result<Option<Vec<u64>>> {
        match self.given.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(vec![*one; count])),
            sizes if sizes.len() == count => Ok(Some(sizes.to_vec())),
            sizes => Err(Error::input(format!(
                "--member-size gives {} sizes, and there are {count} members; give one for all, or \
                 one each",
                sizes.len()
            ))),
        }
    }

    /// The sizes of members that are named; `of` says in what, for messages.
    fn of_names(&self, of: &str, names: &[String]) -> Result<Vec<u64>> {
        if let Some(sizes) = self.said(names.len())? {
            return Ok(sizes);
        }
        let size = |name: &String| {
            (self.of_path)(name).ok_or_else(|| {
                Error::input(format!(
                    "{of}: the size of `{name}` is not known; give it with --member-size, once \
                     for all members (`--member-size 2GiB`) or for each"
                ))
            })
        };
        names.iter().map(size).collect()
    }
}

/// A layout, and how its errors are told; where sectors are named that are left free in front, behind these instead of
/// behind its own.
fn lay_out(
    of: &str,
    level: Level,
    interleave_sectors: u64,
    members: &[u64],
    reserved_sectors: Option<u64>,
) -> Result<Box<dyn Layout>> {
    let laid = match reserved_sectors {
        None => level.lay_out(interleave_sectors, members),
        Some(reserved) => {
            let laid = level.lay_out_behind(reserved, interleave_sectors, members);
            laid.ok_or_else(|| {
                Error::input(format!(
                    "--reserved: {} puts its data where its system does, behind what that keeps; leave it out",
                    level.name
                ))
            })?
        }
    };
    laid.map_err(|error| Error::input(format!("{of}: {error}")))
}

fn named(names: &[String], sectors: &[u64]) -> Vec<Member> {
    names
        .iter()
        .zip(sectors)
        .map(|(name, &sectors)| Member { name: name.clone(), sectors })
        .collect()
}

impl Volume {
    /// What a member is called in a sentence.
    pub fn called(&self, member: usize) -> String {
        let name = &self.members[member].name;
        if name.parse() == Ok(member) { format!("member {name}") } else { name.clone() }
    }

    /// `--level --interleave --members`; `members` is what [`parse_member_sizes`] gave. `reserved_sectors` of each
    /// member stand in for what mdadm would leave free in front.
    ///
    /// # Errors
    ///
    /// Where there is no such level, or it cannot be laid out over these members.
    pub fn of_level(
        name: &str,
        interleave_sectors: Option<u64>,
        (count, sizes): (usize, &[u64]),
        given: &Sizes<'_>,
        reserved_sectors: Option<u64>,
    ) -> Result<Volume> {
        let level: Level = name.parse().map_err(|error| {
            let known = LEVELS.iter().map(|level| level.name);
            let next = nearest(name, known)
                .map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            Error::input(format!("--level {name}: {error}{next}"))
        })?;
        let level = interleave_sectors.and_then(|by| level.rounded_to(by)).unwrap_or(level);
        let interleave_sectors = match interleave_sectors {
            Some(sectors) if level.interleaved() => sectors,
            None if level.interleaved() => {
                return Err(Error::input(format!(
                    "--level {name} needs an interleave; give one, as in `--interleave 64KiB`"
                )));
            }
            _ => level.own_interleave_sectors().unwrap_or(0),
        };
        if let Some(why) = experiment::refusal(level, interleave_sectors) {
            return Err(Error::input(format!("--interleave: {why}")));
        }
        let mut notes = Vec::new();
        let sectors = match (sizes, given.said(count)?) {
            ([], Some(said)) => said,
            ([], None) => {
                let unsaid = units::format_bytes(UNSAID_SECTORS * units::SECTOR_BYTES);
                notes.push(format!("assuming members of {unsaid} each; set --member-size"));
                vec![UNSAID_SECTORS; count]
            }
            (sizes, _) => sizes.to_vec(),
        };
        let names: Vec<String> = (0..count).map(|member| member.to_string()).collect();
        let of = format!("--level {name}");
        let layout = lay_out(&of, level, interleave_sectors, &sectors, reserved_sectors)?;
        notes.extend(unused(&*layout, &sectors));
        let members = named(&names, &sectors);
        Ok(Volume { level: level.name.into(), interleave_sectors, members, layout, notes })
    }

    /// A ccd of a file.
    ///
    /// # Errors
    ///
    /// Where a size is not known, or ccd(4) would refuse the members.
    pub fn of_ccd(
        of: &str,
        ccd: &Ccd,
        sizes: &Sizes<'_>,
        reserved_sectors: Option<u64>,
    ) -> Result<Volume> {
        let sectors = sizes.of_names(of, &ccd.members)?;
        let members = named(&ccd.members, &sectors);
        let level: Level = ccd.level().parse().expect("a ccd has a level");
        let interleave_sectors = ccd.interleave_sectors;
        let layout = lay_out(of, level, interleave_sectors, &sectors, reserved_sectors)?;
        let notes = Vec::new();
        Ok(Volume { level: level.name.into(), interleave_sectors, members, layout, notes })
    }

    /// A device-mapper device. Its table says how much of each member it takes; how large they are only
    /// matters where it is said.
    ///
    /// # Errors
    ///
    /// Where two targets use the same sectors, or a member ends before the table's last use of it.
    pub fn of_dm(of: &str, dm: &Dm, sizes: &Sizes<'_>) -> Result<Volume> {
        let layout = dm.lay_out().map_err(|error| Error::input(format!("{of}: {error}")))?;
        let mut used = vec![0; dm.members.len()];
        for part in layout.list().flat_map(|(_, _, parts)| parts) {
            let end = &mut used[part.member as usize];
            *end = (*end).max(part.start_sector + part.sectors);
        }
        let sectors = match sizes.said(used.len())? {
            Some(said) => said,
            None => {
                let known = |(name, &used): (&String, &u64)| (sizes.of_path)(name).unwrap_or(used);
                dm.members.iter().zip(&used).map(known).collect()
            }
        };
        if let Some(member) = (0..used.len()).find(|&member| sectors[member] < used[member]) {
            return Err(Error::input(format!(
                "{of}: `{}` has {} sectors, and the table uses it up to sector {}; give the table of \
                 these members",
                dm.members[member], sectors[member], used[member]
            )));
        }
        Ok(Volume {
            level: dm.level().into(),
            interleave_sectors: dm.interleave_sectors(),
            members: named(&dm.members, &sectors),
            layout: Box::new(layout),
            notes: Vec::new(),
        })
    }

    /// The RAID set of a raidctl file.
    ///
    /// # Errors
    ///
    /// Where a size is not known, or the members are too few or too small.
    pub fn of_raidctl(
        of: &str,
        raid: &Raid,
        sizes: &Sizes<'_>,
        reserved_sectors: Option<u64>,
    ) -> Result<Volume> {
        let sectors = sizes.of_names(of, &raid.members)?;
        let level: Level = raid.level.level().parse().expect("a level of RAIDframe is known");
        let interleave_sectors = raid.interleave_sectors;
        let layout = lay_out(of, level, interleave_sectors, &sectors, reserved_sectors)?;
        let notes = raid.spares.iter().map(|spare| format!("{spare} is a spare")).collect();
        let members = named(&raid.members, &sectors);
        Ok(Volume { level: level.name.into(), interleave_sectors, members, layout, notes })
    }

    /// An md array. `data_offset_sectors` stands in for what the report says, or does not.
    ///
    /// # Errors
    ///
    /// Where a size is not known, or the members are too few or too small.
    pub fn of_md(
        of: &str,
        md: &Md,
        sizes: &Sizes<'_>,
        data_offset_sectors: Option<u64>,
    ) -> Result<Volume> {
        let mut notes = md.notes.clone();
        let chosen = MdSizes::choose(of, md, sizes, data_offset_sectors, &mut notes)?;
        let layout = md
            .shape
            .lay_out(md.interleave_sectors, &chosen.data)
            .map_err(|error| Error::input(format!("{of}: {error}")))?;
        let layout = Box::new(Offset::each(layout, chosen.offsets.clone()));
        let whole = chosen.offsets.iter().zip(&chosen.data).map(|(offset, data)| offset + data);
        let names: Vec<String> = md.members.iter().map(|member| member.name.clone()).collect();
        let members = named(&names, &whole.collect::<Vec<_>>());
        if let Some(said) = md.array_sectors.filter(|&said| said != layout.sectors()) {
            notes.push(format!(
                "the report has {said} sectors for the array, this map {}",
                layout.sectors()
            ));
        }
        let interleave_sectors = md.interleave_sectors;
        Ok(Volume { level: md.shape.level(), interleave_sectors, members, layout, notes })
    }
}

/// What of each member of an md array holds data.
struct MdSizes {
    offsets: Vec<u64>,
    data: Vec<u64>,
}

impl MdSizes {
    fn choose(
        of: &str,
        md: &Md,
        sizes: &Sizes<'_>,
        data_offset_sectors: Option<u64>,
        notes: &mut Vec<String>,
    ) -> Result<MdSizes> {
        let count = md.members.len();
        let interleave = (md.interleave_sectors > 0).then_some(md.interleave_sectors);
        let said = sizes.said(count)?;
        let known = md.members.iter().find_map(|member| member.data_offset_sectors);
        let offset_of = |member: usize| {
            data_offset_sectors.or(md.members[member].data_offset_sectors).or(known)
        };
        // How much data each has room for, where the report says it.
        let each: Option<Vec<u64>> = if let Some(used) = md.used_sectors {
            Some(vec![used; count])
        } else {
            let each: Option<Vec<u64>> = md.members.iter().map(|m| m.data_sectors).collect();
            each.or_else(|| equal_shares(md, said.is_some(), notes))
        };
        if let Some(data) = each {
            let unsaid = match &said {
                Some(sizes) => md_data_offset_sectors(interleave, sizes[0]),
                None => offset_behind(interleave, data[0]),
            };
            if (0..count).any(|member| offset_of(member).is_none()) {
                notes.push(format!(
                    "assuming that data starts at sector {unsaid} of each member, mdadm's choice; \
                     `mdadm --examine` shows it, --reserved sets it"
                ));
            }
            let offsets = (0..count).map(|member| offset_of(member).unwrap_or(unsaid)).collect();
            return Ok(MdSizes { offsets, data });
        }
        if md.metadata == "1.0" {
            return Err(Error::input(format!(
                "{of}: with metadata 1.0, only `mdadm --examine` of every member says how much each \
                 holds; give its output"
            )));
        }
        let names: Vec<String> = md.members.iter().map(|member| member.name.clone()).collect();
        let whole = sizes.of_names(of, &names)?;
        let unsaid = md_data_offset_sectors(interleave, whole[0]);
        let offsets: Vec<u64> =
            (0..count).map(|member| offset_of(member).unwrap_or(unsaid)).collect();
        let left = |(member, &sectors): (usize, &u64)| {
            // Metadata 0.90 is in the last whole 64 KiB but one.
            let end = if md.metadata == "0.90" {
                (sectors / 128 * 128).saturating_sub(128)
            } else {
                sectors
            };
            end.checked_sub(offsets[member]).filter(|&data| data > 0).ok_or_else(|| {
                Error::input(format!(
                    "{of}: `{}` has {sectors} sectors, which leaves no room for data",
                    names[member]
                ))
            })
        };
        let data = whole.iter().enumerate().map(left).collect::<Result<Vec<u64>>>()?;
        Ok(MdSizes { offsets, data })
    }
}

/// A stripe whose size is a whole number of chunks for each member, unless sizes are given.
fn equal_shares(md: &Md, are_given: bool, notes: &mut Vec<String>) -> Option<Vec<u64>> {
    let count = md.members.len() as u64;
    let array = md.array_sectors.filter(|_| !are_given)?;
    let row = count.checked_mul(md.interleave_sectors).filter(|&row| row > 0)?;
    if array == 0 || !array.is_multiple_of(row) {
        return None;
    }
    notes.push(format!(
        "assuming members of {} sectors each; `mdadm --examine` of every member shows it",
        array / count
    ));
    Some(vec![array / count; md.members.len()])
}

/// The data offset that mdadm chooses on a member with so much data behind it.
fn offset_behind(interleave_sectors: Option<u64>, data_sectors: u64) -> u64 {
    let mut offset = 0;
    // The larger the member, the larger the offset; it settles at once, or after a step.
    for _ in 0..4 {
        offset = md_data_offset_sectors(interleave_sectors, data_sectors + offset);
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::Place;

    fn of(level: &str, members: &[u64], reserved: Option<u64>) -> Result<Volume> {
        let sizes = Sizes { given: Vec::new(), of_path: &|_| None };
        Volume::of_level(level, Some(128), (members.len(), members), &sizes, reserved)
    }

    fn first(level: &str, reserved: Option<u64>) -> Place {
        let mut places = Vec::new();
        of(level, &[1 << 21; 4], reserved).unwrap().layout.places(0, &mut places);
        places[0]
    }

    /// It was added to mdadm's data offset: dd(1) at the sector that was said read other data.
    #[test]
    fn reserved_sectors_stand_in_for_mds_data_offset() {
        for level in ["md-raid5", "md-raid6", "md-raid10", "md-stripe", "md-mirror"] {
            assert_eq!(first(level, None).sector, 2048 + 2048, "{level}");
            for reserved in [0, 2048, 264_192] {
                assert_eq!(first(level, Some(reserved)).sector, reserved, "{level}");
            }
        }
        assert_eq!(first("stripe", Some(16)).sector, 16);
        let drawn =
            crate::map::picture::picture(&of("md-raid5", &[1 << 21; 4], Some(2048)).unwrap());
        assert!(drawn.contains("    0 │   0   │   1   │   2   │   P   │"), "{drawn}");
        assert!(drawn.contains("row 0 starts at sector 2048 of each member"), "{drawn}");
    }

    #[test]
    fn no_sectors_are_reserved_where_the_system_has_its_own() {
        for level in ["lvm-raid5", "btrfs-raid1", "raidframe-raid5", "md-raid50-2"] {
            let members = vec![1 << 24; 6];
            let why = of(level, &members, Some(2048)).err().unwrap().to_string();
            assert!(why.starts_with(&format!("--reserved: {level} ")), "{why}");
        }
    }

    /// 4 + 4 + 6 + 8 TB as RAID 5 are 12 TB of data, 4 TB of parity and 6 TB of nothing.
    #[test]
    fn what_larger_members_do_not_give_is_said() {
        let members = [4, 4, 6, 8].map(|tb| tb * 1_953_125_000);
        let notes = |level| of(level, &members, None).unwrap().notes.join("; ");
        let said = "6 TB stay unused: every member gives as much as the smallest, 4 TB";
        for level in ["md-raid5", "md-raid6", "md-raid10"] {
            assert_eq!(notes(level), said, "{level}");
        }
        assert_eq!(notes("md-stripe"), "");
    }
}
