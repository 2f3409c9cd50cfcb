//! What `mdadm --detail` and `mdadm --examine` print of an array, as mdadm(8) and md(4) describe it.
//!
//! `--detail` is one report of the array; it does not say where the data starts on the members.
//! `--examine` is one report a member; those of several members may follow each other in any order.
//! Lines of the report that have nothing to do with the layout are read over.

mod detail;
mod examine;
mod listing;

use crate::error::{Error, Result};
use crate::text::Source;
use block::layout::{
    Code, Concat, Dealing, Layout, LayoutError, Mirrors, Pairing, Parity, Raid0, Raid10, Rotation,
    Spread, WriteRule,
};
use listing::{Report, reports};

/// An array, as far as its layout goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Md {
    /// What it is called, where the report says so.
    pub name: Option<String>,
    /// The version of its metadata: `0.90`, `1.0`, `1.1` or `1.2`.
    pub metadata: String,
    /// How sectors are spread.
    pub shape: Shape,
    /// md's chunk, or what a linear array rounds its members to; 0 where it has none.
    pub interleave_sectors: u64,
    /// What the array uses of each member, where that is the same for all.
    pub used_sectors: Option<u64>,
    /// The size of the array, where it is said.
    pub array_sectors: Option<u64>,
    /// Its members, in the order of their roles.
    pub members: Vec<MdMember>,
    /// What else a reader should know: spares, failed members.
    pub notes: Vec<String>,
}

/// A member of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdMember {
    /// Its device, or `missing`.
    pub name: String,
    /// Where its data starts, where that is said.
    pub data_offset_sectors: Option<u64>,
    /// How much data it has room for, where that is said.
    pub data_sectors: Option<u64>,
}

/// How md spreads sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `linear`.
    Linear,
    /// `raid0`.
    Stripe(Dealing),
    /// `raid1`.
    Mirror,
    /// `raid4`, `raid5` and `raid6`.
    Rows(Code, Rotation),
    /// `raid10`.
    Copies(Spread, u32),
}

/// Reads what mdadm printed; `label` is the file's name, for messages. `unit` names one of several
/// arrays.
///
/// # Errors
///
/// Where it is no such report, the array is being reshaped, has a level that cannot be laid out, or
/// reports of several arrays are mixed.
pub fn parse(label: &str, text: &str, unit: Option<&str>) -> Result<Md> {
    let source = Source { label, text };
    let mut reports = reports(source)?;
    reports.retain(|report| report.find("Raid Level").is_some());
    if reports.is_empty() {
        return Err(source.wrong_file(
            "it has no `Raid Level`; give the output of `mdadm --detail /dev/md0` or `mdadm \
             --examine /dev/sd[abc]1`",
        ));
    }
    if reports.iter().any(|report| report.find("Magic").is_some()) {
        if let Some(unit) = unit {
            return Err(Error::input(format!(
                "--unit {unit}: {label} is an `mdadm --examine` report, which has no array names; leave it out"
            )));
        }
        return examine::array(source, &reports);
    }
    let names = || reports.iter().map(Report::shown).collect::<Vec<_>>().join(", ");
    let report = match (unit, reports.as_slice()) {
        (None, [only]) => only,
        (None, _) => {
            return Err(Error::input(format!(
                "{label} has the arrays {}; choose one with --unit",
                names()
            )));
        }
        (Some(unit), _) => reports
            .iter()
            .find(|report| report.device.is_some_and(|device| device.text == unit))
            .ok_or_else(|| {
                Error::input(format!(
                    "--unit {unit}: {label} has no array of that name; it has {}",
                    names()
                ))
            })?,
    };
    detail::array(source, report)
}

/// More members than md takes.
const MEMBERS_MAX: u64 = 4096;

/// What `--detail` and the reports of `--examine` say alike.
struct Common {
    metadata: String,
    shape: Shape,
    interleave_sectors: u64,
    devices: usize,
}

fn common(source: Source<'_>, report: &Report<'_>) -> Result<Common> {
    for (key, what) in [
        ("Reshape pos'n", "is being reshaped"),
        ("Reshape Status", "is being reshaped"),
        ("New Level", "is being reshaped"),
        ("Container", "is a member of a container"),
    ] {
        if let Some(entry) = report.find(key) {
            let message = format!(
                "`{key}`: the array {what}, so its layout is not known; give the report of one that is \
                 not"
            );
            return Err(source.wrong(entry.line, message));
        }
    }
    let version = report.need(source, "Version", "Version : 1.2")?;
    let metadata = match version.value.split_whitespace().next().unwrap_or_default() {
        text if text.starts_with("0.90") || text.starts_with("00.90") => "0.90",
        "1" | "1.0" | "01.00" | "01.00.03" => "1.0",
        "1.1" | "01.01" => "1.1",
        "1.2" | "01.02" => "1.2",
        _ => {
            return Err(version.wrong(
                source,
                "not a version of md's metadata",
                "0.90, 1.0, 1.1, 1.2",
            ));
        }
    };
    let devices = report.need(source, "Raid Devices", "Raid Devices : 4")?;
    let devices = devices.count(source, &(1..=MEMBERS_MAX))? as usize;
    let interleave_sectors = match report.find("Chunk Size").or_else(|| report.find("Rounding")) {
        None => 0,
        Some(entry) => entry.size_sectors(source, 1)?,
    };
    let shape = shape(source, report)?;
    // A linear array's is what its members are rounded to, if anything.
    let chunked = !matches!(shape, Shape::Linear | Shape::Mirror);
    if chunked && interleave_sectors == 0 {
        report.need(source, "Chunk Size", "Chunk Size : 64K")?;
        return Err(
            source.wrong_file("`Chunk Size` is 0; give the report of an array that has one")
        );
    }
    let interleave_sectors = if shape == Shape::Mirror { 0 } else { interleave_sectors };
    Ok(Common { metadata: metadata.into(), shape, interleave_sectors, devices })
}

/// The layouts of RAID 5 and 6 by md's names for them; the first is what it takes where none is said.
const ROTATIONS: &[(&str, Rotation)] = &[
    ("left-symmetric", Rotation::LeftSymmetric),
    ("left-asymmetric", Rotation::LeftAsymmetric),
    ("right-symmetric", Rotation::RightSymmetric),
    ("right-asymmetric", Rotation::RightAsymmetric),
    ("parity-first", Rotation::ParityFirst),
    ("parity-last", Rotation::ParityLast),
    ("ddf-zero-restart", Rotation::DdfZeroRestart),
    ("ddf-N-restart", Rotation::DdfNRestart),
    ("ddf-N-continue", Rotation::DdfNContinue),
    ("left-symmetric-6", Rotation::LeftSymmetric6),
    ("left-asymmetric-6", Rotation::LeftAsymmetric6),
    ("right-symmetric-6", Rotation::RightSymmetric6),
    ("right-asymmetric-6", Rotation::RightAsymmetric6),
    ("parity-first-6", Rotation::ParityFirst6),
];

fn shape(source: Source<'_>, report: &Report<'_>) -> Result<Shape> {
    let level = report.need(source, "Raid Level", "Raid Level : raid5")?;
    let layout = report.find("Layout");
    let rotation = || match layout {
        None => Ok(Rotation::LeftSymmetric),
        Some(entry) => Shape::rotation(entry.value).ok_or_else(|| {
            entry.wrong(source, "not a layout of md", "left-symmetric, right-asymmetric, …")
        }),
    };
    match level.value {
        "linear" => Ok(Shape::Linear),
        "raid0" => match layout.map(|entry| (entry, entry.value)) {
            None | Some((_, "original" | "-unknown-")) => Ok(Shape::Stripe(Dealing::Original)),
            Some((_, "alternate")) => Ok(Shape::Stripe(Dealing::Alternate)),
            Some((entry, _)) => {
                Err(entry.wrong(source, "not a layout of raid0", "original, alternate"))
            }
        },
        "raid1" => Ok(Shape::Mirror),
        "raid4" => Ok(Shape::raid4()),
        "raid5" => Ok(Shape::Rows(Code::P, rotation()?)),
        "raid6" => Ok(Shape::Rows(Code::PQ, rotation()?)),
        "raid10" => match layout {
            None => Ok(Shape::Copies(Spread::Near, 2)),
            Some(entry) => copies(entry.value).ok_or_else(|| {
                entry.wrong(source, "not a layout of raid10", "near=2, far=2, offset=2, …")
            }),
        },
        _ => Err(level.wrong(
            source,
            "not a supported level",
            "linear, raid0, raid1, raid4, raid5, raid6, raid10",
        )),
    }
}

/// `near=2`, or as older versions print it, `near=2, far=1`.
fn copies(text: &str) -> Option<Shape> {
    let mut shape = None;
    for part in text.split(',') {
        let (word, count) = part.trim().split_once('=')?;
        let spread = match word {
            "near" => Spread::Near,
            "far" => Spread::Far,
            "offset" => Spread::Offset,
            _ => return None,
        };
        match count.parse().ok()? {
            1 => {}
            count @ 2..=255 if shape.is_none() => shape = Some(Shape::Copies(spread, count)),
            _ => return None,
        }
    }
    shape
}

impl Shape {
    /// RAID 4 is RAID 5 whose parity stays where it is.
    pub(crate) fn raid4() -> Shape {
        Shape::Rows(Code::P, Rotation::ParityLast)
    }

    /// A layout of RAID 5 or 6 by md's name for it.
    pub(crate) fn rotation(name: &str) -> Option<Rotation> {
        ROTATIONS.iter().find(|(known, _)| *known == name).map(|(_, rotation)| *rotation)
    }

    /// What it is called among the layouts.
    pub fn level(self) -> String {
        match self {
            Shape::Linear => "md-concat".into(),
            Shape::Stripe(Dealing::Original) => "md-stripe".into(),
            Shape::Stripe(Dealing::Alternate) => "md-stripe-alternate".into(),
            Shape::Mirror => "md-mirror".into(),
            Shape::Rows(Code::P, Rotation::ParityLast) => "md-raid4".into(),
            Shape::Rows(code, rotation) => {
                let name = ROTATIONS.iter().find(|(_, known)| *known == rotation);
                let name = name.map_or("", |(name, _)| name).to_ascii_lowercase();
                format!("md-raid{}-{name}", if code == Code::P { 5 } else { 6 })
            }
            Shape::Copies(spread, copies) => {
                let letter = match spread {
                    Spread::Near => 'n',
                    Spread::Far => 'f',
                    Spread::Offset => 'o',
                };
                format!("md-raid10-{letter}{copies}")
            }
        }
    }

    /// Lays it out over members that have room for so much data.
    ///
    /// # Errors
    ///
    /// Where the members are too few or too small.
    pub fn lay_out(
        self,
        interleave_sectors: u64,
        data_sectors: &[u64],
    ) -> std::result::Result<Box<dyn Layout>, LayoutError> {
        Ok(match self {
            Shape::Linear => Box::new(Concat::rounded(interleave_sectors, data_sectors)?),
            Shape::Stripe(dealing) => {
                Box::new(Raid0::new(dealing, interleave_sectors, data_sectors)?)
            }
            Shape::Mirror => {
                let smallest = data_sectors.iter().copied().min().unwrap_or(0);
                let one = Concat::new(&[smallest])?;
                Box::new(Mirrors::new(one, data_sectors.len() as u32, Pairing::Neighbours)?)
            }
            Shape::Rows(code, rotation) => {
                let rule = WriteRule::FewestRequests;
                Box::new(Parity::new(code, rotation, rule, interleave_sectors, data_sectors)?)
            }
            Shape::Copies(spread, copies) => {
                Box::new(Raid10::new(spread, copies, interleave_sectors, data_sectors)?)
            }
        })
    }

    /// Whether every member gives as much as the smallest.
    pub fn is_uniform(self) -> bool {
        !matches!(self, Shape::Linear | Shape::Stripe(_))
    }
}

#[cfg(test)]
mod tests;
