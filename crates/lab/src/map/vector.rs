//! Holding a map to a vector file: what a real system does with an address, observed.
//!
//! A vector says the capacity, some hundred samples (a sector and its places), a digest over every
//! sector that it covers, and where a layout with parity has P and Q. The digest is SHA-256 over lines
//! `SECTOR MEMBER:SECTOR …`, places sorted.

mod addresses;
mod cases;

pub use cases::check_cases;

use super::volume::{Member, Volume};
use crate::error::{Error, Result};
use crate::formats::dm;
use crate::formats::mdadm::{Md, MdMember, Shape};
use crate::map::Sizes;
use addresses::Map;
use block::layout::btrfs::{self, Chunk, Profile};
use block::layout::{Code, Dealing, Rows, Spread, System};
use block::{Level, Place};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::ops::Range;

/// A vector file.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    /// What it is called.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    layout: String,
    algorithm: Option<String>,
    #[serde(default)]
    metadata: String,
    #[serde(default)]
    uniform: bool,
    members: Vec<u64>,
    #[serde(default)]
    interleave_sectors: u64,
    #[serde(default)]
    data_offset_sectors: Vec<u64>,
    #[serde(default)]
    member_size_kib_sysfs: Vec<u64>,
    array_sectors: Option<u64>,
    #[serde(default)]
    chunks: Vec<BtrfsChunk>,
    #[serde(default)]
    table: Table,
    #[serde(default)]
    covered: Vec<(u64, u64)>,
    map_sha256: Option<String>,
    #[serde(default)]
    samples: Vec<Sample>,
    #[serde(default)]
    parity: Vec<ParityRow>,
    parity_sha256: Option<String>,
    parity_rows: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Sample {
    sector: u64,
    places: Vec<(u32, u64)>,
}

/// A chunk of a btrfs.
#[derive(Clone, Debug, Deserialize)]
struct BtrfsChunk {
    logical_bytes: u64,
    length_bytes: u64,
    stripes: Vec<(u32, u64)>,
}

/// A table: device-mapper's, by its lines, or ccd's, which is not looked at.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Table {
    Lines(Vec<String>),
    Other(serde::de::IgnoredAny),
}

impl Default for Table {
    fn default() -> Self {
        Table::Lines(Vec::new())
    }
}

#[derive(Clone, Debug, Deserialize)]
struct ParityRow {
    row: u64,
    /// The chunk that the row is counted in.
    chunk_logical_bytes: Option<u64>,
    p: (u32, u64),
    q: Option<(u32, u64)>,
}

/// What came of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it agrees; the sentence says how much that is.
    Agrees(String),
    /// Where it first differs.
    Differs(String),
}

/// The most sectors that are walked over for a digest (1 TiB).
const COVERED_MAX: u64 = 1 << 31;

impl Vector {
    /// Reads a vector file; `label` is its name, for messages.
    ///
    /// # Errors
    ///
    /// Where it is none, or says nothing to compare with.
    pub fn parse(label: &str, text: &str) -> Result<Vector> {
        let vector: Vector = serde_json::from_str(text).map_err(|error| {
            Error::input(format!(
                "{label}: {error}; a vector is one JSON object with `members`, `samples` and \
                 `map_sha256`"
            ))
        })?;
        if vector.map_sha256.is_none() && vector.samples.is_empty() {
            return Err(Error::input(format!(
                "{label}: no `samples` and no `map_sha256`, so there is nothing to compare"
            )));
        }
        let covered =
            vector.covered.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        if covered.is_none_or(|covered| covered > COVERED_MAX) {
            return Err(Error::input(format!(
                "{label}: `covered` has more than {COVERED_MAX} sectors; cover fewer"
            )));
        }
        Ok(vector)
    }

    /// The volume that the vector says it is of.
    ///
    /// # Errors
    ///
    /// Where it is of a layout that is not known, or does not say what is needed to lay it out.
    pub fn volume(&self, label: &str) -> Result<Volume> {
        if System::of(&self.layout) == Some(System::Md) {
            return self.md_volume(label);
        }
        if let Some(profile) =
            self.layout.strip_prefix("btrfs-").filter(|_| !self.chunks.is_empty())
        {
            return self.btrfs_volume(label, profile);
        }
        if let (true, Table::Lines(lines)) =
            (System::of(&self.layout) == Some(System::Dm), &self.table)
            && !lines.is_empty()
        {
            return self.dm_volume(label, &lines.join("\n"));
        }
        let name = match (self.layout.as_str(), self.uniform) {
            ("ccd" | "ccd-concat", uniform) => cases::ccd_level(self.interleave_sectors, uniform),
            (name, _) => name,
        };
        // A linear table starts anywhere on its members.
        if name == "dm-linear" || name.parse::<Level>().is_err() {
            return Err(Error::input(format!(
                "{label}: the file does not describe a map of `{name}` completely; give the layout with \
                 --level, --interleave and --members"
            )));
        }
        let sizes = Sizes { given: Vec::new(), of_path: &|_| None };
        let members = (self.members.len(), self.members.as_slice());
        Volume::of_level(name, Some(self.interleave_sectors), members, &sizes, None)
            .map_err(|error| error.context(label))
    }

    /// The chunks that the file lists, in the order of their addresses.
    fn btrfs_volume(&self, label: &str, profile: &str) -> Result<Volume> {
        let count = self.members.len();
        let profile = Profile::named(profile).ok_or_else(|| {
            Error::input(format!(
                "{label}: `{profile}` is not a btrfs profile; those are single, dup, raid0, raid1, \
                 raid1c3, raid1c4, raid10, raid5 and raid6"
            ))
        })?;
        let chunk = |chunk: &BtrfsChunk| Chunk {
            logical_bytes: chunk.logical_bytes,
            length_bytes: chunk.length_bytes,
            stripes: chunk.stripes.clone(),
        };
        let mut chunks: Vec<Chunk> = self.chunks.iter().map(chunk).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.logical_bytes);
        let beyond = |chunk: &Chunk| chunk.stripes.iter().any(|stripe| stripe.0 as usize >= count);
        if let Some(chunk) = chunks.iter().find(|chunk| beyond(chunk)) {
            return Err(Error::input(format!(
                "{label}: the chunk at {} has a stripe on a missing member; there are {count} members",
                chunk.logical_bytes
            )));
        }
        let layout = btrfs::lay_out(profile, &chunks, count)
            .map_err(|error| Error::input(format!("{label}: {error}")))?;
        Ok(Volume {
            level: self.layout.clone(),
            interleave_sectors: if profile.is_striped() { btrfs::INTERLEAVE_SECTORS } else { 0 },
            members: numbered(&self.members),
            layout: Box::new(layout),
            notes: Vec::new(),
        })
    }

    /// The device-mapper table that the file quotes, over `member0`, `member1` and so on.
    fn dm_volume(&self, label: &str, table: &str) -> Result<Volume> {
        let mut dm = dm::parse(label, table, None)?;
        let count = self.members.len();
        let number = |name: &str| name.strip_prefix("member")?.parse::<u32>().ok();
        let numbers: Option<Vec<u32>> = dm.members.iter().map(|name| number(name)).collect();
        let Some(numbers) = numbers.filter(|all| all.iter().all(|&one| (one as usize) < count))
        else {
            return Err(Error::input(format!(
                "{label}: its table is over {}; a vector names its {count} members member0, member1 …",
                dm.members.join(", ")
            )));
        };
        for (member, _) in dm.targets.iter_mut().flat_map(|target| &mut target.starts) {
            *member = numbers[*member as usize];
        }
        dm.members = (0..count).map(|member| member.to_string()).collect();
        let sizes = Sizes { given: self.members.clone(), of_path: &|_| None };
        Volume::of_dm(label, &dm, &sizes)
    }

    fn md_volume(&self, label: &str) -> Result<Volume> {
        let shape = self.md_shape().ok_or_else(|| {
            Error::input(format!(
                "{label}: `{}` with `{}` is not a known md layout; give the layout with \
                 --level, --interleave and --members",
                self.layout,
                self.algorithm.as_deref().unwrap_or_default()
            ))
        })?;
        let member = |index: usize| {
            let offset = self.data_offset_sectors.get(index).copied().unwrap_or(0);
            let data = match self.metadata.as_str() {
                // Behind the data is metadata, and the kernel says how much is left.
                "0.90" | "1.0" => {
                    self.member_size_kib_sysfs.get(index).and_then(|kib| kib.checked_mul(2))
                }
                _ => self.members[index].checked_sub(offset),
            };
            MdMember {
                name: index.to_string(),
                data_offset_sectors: Some(offset),
                data_sectors: data.map(|sectors| match shape {
                    Shape::Mirror => sectors / 128 * 128,
                    _ => sectors,
                }),
            }
        };
        let members: Vec<MdMember> = (0..self.members.len()).map(member).collect();
        let md = Md {
            name: None,
            metadata: self.metadata.clone(),
            shape,
            interleave_sectors: match shape {
                Shape::Mirror => 0,
                _ => self.interleave_sectors,
            },
            used_sectors: None,
            array_sectors: None,
            members,
            notes: Vec::new(),
        };
        let sizes = Sizes { given: Vec::new(), of_path: &|_| None };
        let mut volume = Volume::of_md(label, &md, &sizes, None)?;
        volume.members = numbered(&self.members);
        Ok(volume)
    }

    fn md_shape(&self) -> Option<Shape> {
        let algorithm = self.algorithm.as_deref().unwrap_or_default();
        let rotation = || Shape::rotation(algorithm);
        Some(match self.layout.as_str() {
            "md-linear" => Shape::Linear,
            "md-raid0" if algorithm == "alternate" => Shape::Stripe(Dealing::Alternate),
            "md-raid0" => Shape::Stripe(Dealing::Original),
            "md-raid1" => Shape::Mirror,
            "md-raid4" => Shape::raid4(),
            "md-raid5" => Shape::Rows(Code::P, rotation()?),
            "md-raid6" => Shape::Rows(Code::PQ, rotation()?),
            "md-raid10" => {
                let (letter, copies) = algorithm.split_at_checked(1)?;
                let spread = match letter {
                    "n" => Spread::Near,
                    "f" => Spread::Far,
                    "o" => Spread::Offset,
                    _ => return None,
                };
                Shape::Copies(spread, copies.parse().ok()?)
            }
            _ => return None,
        })
    }

    /// Compares a map with it.
    pub fn check(&self, volume: &Volume) -> Verdict {
        let map = match Map::new(&*volume.layout, &self.chunks) {
            Ok(map) => map,
            Err(why) => return Verdict::Differs(format!("{}: {why}", self.name)),
        };
        let checks = [Self::capacity, Self::samples, Self::digest, Self::parity];
        let mut agreed = Vec::new();
        for check in checks {
            match check(self, &map) {
                Ok(None) => {}
                Ok(Some(what)) => agreed.push(what),
                Err(first) => return Verdict::Differs(format!("{}: {first}", self.name)),
            }
        }
        Verdict::Agrees(format!("{} agrees: {}", self.name, agreed.join(", ")))
    }

    fn capacity(&self, map: &Map) -> Checked {
        let layout = map.layout;
        let members = (self.members.len(), layout.members());
        if members.0 != members.1 {
            return Err(format!("it has {} members, the map {}", members.0, members.1));
        }
        match self.array_sectors {
            Some(theirs) if theirs != layout.sectors() => {
                Err(format!("it has {theirs} sectors, the map {}", layout.sectors()))
            }
            Some(theirs) => Ok(Some(format!("its {theirs} sectors"))),
            None => Ok(None),
        }
    }

    fn samples(&self, map: &Map) -> Checked {
        for sample in &self.samples {
            let theirs: Vec<Place> = sample.places.iter().map(place).collect();
            let ours = map.places(sample.sector);
            if ours != theirs {
                return Err(format!(
                    "sector {} is at {}, in the map {}",
                    sample.sector,
                    shown(&theirs),
                    shown(&ours)
                ));
            }
        }
        let count = self.samples.len();
        Ok((count > 0).then(|| format!("{count} samples")))
    }

    fn digest(&self, map: &Map) -> Checked {
        let Some(theirs) = &self.map_sha256 else { return Ok(None) };
        let (mut digest, mut lines, mut sectors) = (Sha256::new(), String::new(), 0);
        for &(start, count) in &self.covered {
            for sector in start..start.saturating_add(count) {
                let places = map.places(sector);
                if places.is_empty() {
                    return Err(format!("sector {sector} is nowhere in the map"));
                }
                write!(lines, "{sector}").expect("a string grows");
                for place in places {
                    write!(lines, " {}:{}", place.member, place.sector).expect("a string grows");
                }
                lines.push('\n');
                if lines.len() > 1 << 16 {
                    digest.update(&lines);
                    lines.clear();
                }
                sectors += 1;
            }
        }
        digest.update(&lines);
        if hex(digest) == *theirs {
            return Ok(Some(format!("the digest over {sectors} sectors")));
        }
        Err(format!(
            "the {} samples agree, but the digest over {sectors} sectors differs: the first sector \
             that differs is between two samples",
            self.samples.len()
        ))
    }

    fn parity(&self, map: &Map) -> Checked {
        if self.parity.is_empty() && self.parity_sha256.is_none() {
            return Ok(None);
        }
        for row in &self.parity {
            let theirs: Vec<Place> = [Some(row.p), row.q].iter().flatten().map(place).collect();
            let ours = map.row_places(row.chunk_logical_bytes, row.row);
            if ours != theirs {
                return Err(format!(
                    "parity of row {} is at {}, in the map {}",
                    row.row,
                    shown(&theirs),
                    shown(&ours)
                ));
            }
        }
        let count = self.parity.len();
        let (Some(theirs), Some(rows)) = (&self.parity_sha256, self.parity_rows) else {
            return Ok(Some(format!("parity of {count} rows")));
        };
        // The digest is over the rows observed, which are known where they are all there are, or all of
        // those covered.
        let seen: Vec<(Rows, Vec<Range<u64>>)> =
            map.all_rows().map(|(rows, start)| (rows, self.rows_seen(&rows, start))).collect();
        let ranges = || seen.iter().flat_map(|(_, ranges)| ranges);
        if ranges().map(|range| range.end - range.start).sum::<u64>() != rows {
            return Ok(Some(format!("parity of {count} rows")));
        }
        let mut digest = Sha256::new();
        for (of, ranges) in &seen {
            for row in ranges.iter().cloned().flatten() {
                let places = map.parity_of(of, row);
                let places: Vec<String> =
                    places.iter().map(|at| format!(" {}:{}", at.member, at.sector)).collect();
                digest.update(format!("{row}{}\n", places.concat()));
            }
        }
        if hex(digest) == *theirs {
            Ok(Some(format!("parity of {rows} rows")))
        } else {
            Err(format!("the digest over the parity of {rows} rows differs"))
        }
    }

    /// The rows whose data is all covered, upwards, each in one range; the first of them starts at the
    /// address `start`.
    fn rows_seen(&self, of: &Rows, start: u64) -> Vec<Range<u64>> {
        let stripe = of.parity.interleave_sectors() * u64::from(of.parity.data_units());
        // What follows without a gap counts as one: a row may be covered in two ranges.
        let mut covered: Vec<(u64, u64)> = Vec::new();
        for &(first, count) in &self.covered {
            let end = first.saturating_add(count);
            match covered.last_mut() {
                Some(last) if last.1 == first => last.1 = end,
                _ => covered.push((first, end)),
            }
        }
        let whole_rows = |(first, end): (u64, u64)| {
            let (first, end) = (first.saturating_sub(start), end.saturating_sub(start));
            first.div_ceil(stripe)..(end / stripe).min(of.parity.rows())
        };
        let mut ranges: Vec<Range<u64>> = covered.into_iter().map(whole_rows).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut seen = 0;
        for range in &mut ranges {
            range.start = range.start.max(seen);
            range.end = range.end.max(range.start);
            seen = range.end;
        }
        ranges
    }
}

/// What was compared, nothing to compare, or the first difference.
type Checked = std::result::Result<Option<String>, String>;

fn place(&(member, sector): &(u32, u64)) -> Place {
    Place { member, sector }
}

/// Members that have numbers for names.
fn numbered(sectors: &[u64]) -> Vec<Member> {
    let numbered = sectors.iter().enumerate();
    numbered.map(|(index, &sectors)| Member { name: index.to_string(), sectors }).collect()
}

fn shown(places: &[Place]) -> String {
    let each: Vec<String> =
        places.iter().map(|at| format!("member {} sector {}", at.member, at.sector)).collect();
    if each.is_empty() { "nowhere".into() } else { each.join(" and ") }
}

fn hex(digest: Sha256) -> String {
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").expect("a string grows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ccd's own example, read off its original code.
    const CCD: &str = r#"{"name": "ccd-equal", "layout": "ccd", "members": [256, 256],
        "interleave_sectors": 128, "array_sectors": 512, "samples":
        [{"sector": 0, "places": [[0, 0]]}, {"sector": 130, "places": [[1, 2]]}]}"#;

    fn check(text: &str, changed: &str) -> Verdict {
        let vector = Vector::parse("v.json", text).unwrap();
        Vector::parse("v.json", changed).unwrap().check(&vector.volume("v.json").unwrap())
    }

    #[test]
    fn agreement_says_how_much_and_difference_where() {
        let agrees = "ccd-equal agrees: its 512 sectors, 2 samples".to_string();
        assert_eq!(check(CCD, CCD), Verdict::Agrees(agrees));
        for (was, is, expected) in [
            (
                "[1, 2]",
                "[0, 130]",
                "sector 130 is at member 0 sector 130, in the map member 1 sector 2",
            ),
            ("512,", "500,", "it has 500 sectors, the map 512"),
            ("[256, 256]", "[256]", "it has 1 members, the map 2"),
            ("\"samples\"", "\"covered\": [[0, 9]], \"map_sha256\": \"00\", \"samples\"", "digest"),
            ("130,", "9999,", "sector 9999 is at member 1 sector 2, in the map nowhere"),
        ] {
            let Verdict::Differs(why) = check(CCD, &CCD.replacen(was, is, 1)) else {
                panic!("{is} was not noticed")
            };
            assert!(why.contains(expected), "{why}");
        }
    }

    /// Rows and sizes that no sector number reaches.
    #[test]
    fn what_is_past_all_ends_is_nowhere() {
        let raid5 = r#"{"name": "r5", "layout": "raid5", "members": [256, 256, 256],
            "interleave_sectors": 128, "samples": [{"sector": 0, "places": [[0, 0]]}],
            "parity": [{"row": 18446744073709551615, "p": [2, 0]}],
            "covered": [[0, 512], [256, 256]], "parity_rows": 2, "parity_sha256": ""}"#;
        let Verdict::Differs(why) = check(raid5, raid5) else { panic!("it agrees") };
        assert!(why.contains("is at member 2 sector 0, in the map nowhere"), "{why}");
        let rows =
            raid5.replace("\"parity\": [{\"row\": 18446744073709551615, \"p\": [2, 0]}],", "");
        let Verdict::Differs(why) = check(&rows, &rows) else { panic!("it agrees") };
        assert!(why.contains("digest over the parity of 2 rows"), "{why}");
        let md = r#"{"layout": "md-raid0", "metadata": "1.0", "members": [256, 256],
            "interleave_sectors": 128, "member_size_kib_sysfs": [18446744073709551615, 128],
            "samples": [{"sector": 0, "places": [[0, 0]]}]}"#;
        assert!(Vector::parse("v.json", md).unwrap().volume("v.json").is_err());
    }

    #[test]
    fn what_is_no_vector_says_why() {
        let message = |text: &str| Vector::parse("v.json", text).unwrap_err().to_string();
        assert!(message("{").contains("v.json: EOF"));
        assert!(message(r#"{"members": [1]}"#).contains("nothing to compare"));
        let volume = |text: &str| {
            let vector = Vector::parse("v.json", text).unwrap();
            vector.volume("v.json").err().unwrap().to_string()
        };
        let lvm = volume(&CCD.replace("\"ccd\"", "\"lvm\""));
        assert!(lvm.contains("the file does not describe a map of `lvm`"), "{lvm}");
        let chunk = |of: &str, member: u32| {
            let chunks = format!(
                r#""layout": "btrfs-{of}", "chunks": [{{"logical_bytes": 0, "length_bytes": 65536,
                   "stripes": [[{member}, 1048576]]}}]"#
            );
            volume(&CCD.replace("\"layout\": \"ccd\"", &chunks))
        };
        assert!(chunk("raid7", 0).contains("`raid7` is not a btrfs profile"));
        assert!(chunk("single", 2).contains("a missing member; there are 2 members"));
        let table = CCD.replace(
            "\"layout\": \"ccd\"",
            r#""layout": "dm-linear", "table": ["0 9 linear sda 0"]"#,
        );
        assert!(volume(&table).contains("its table is over sda"));
    }
}
