//! `ileave map`.

mod text;

use super::print_json;
use crate::flags::{MapFlags, NewfsFlag, SystemFlag};
use block::units;
use lab::formats::{ccd, dm, mdadm, raidctl};
use lab::map::straddle::{self, Pattern};
use lab::map::vector::{Vector, Verdict, check_cases};
use lab::map::{Asked, Sizes, Volume, ffs, json, parse_member_sizes};
use lab::{Error, Result};
use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use store::input;

/// Shows where sectors and FFS metadata land, and counts split requests.
pub(crate) fn map(flags: &MapFlags) -> Result<String> {
    let text = flags.vector.as_deref().map(read).transpose()?;
    if let Some((label, text)) = &text
        && let Some(verdict) = check_cases(label, text)?
    {
        return said(verdict, flags.json);
    }
    let vector = match text {
        Some((label, text)) => Some((Vector::parse(&label, &text)?, label)),
        None => None,
    };
    let volume = match (volume(flags)?, &vector) {
        (Some(volume), _) => volume,
        (None, Some((vector, label))) => vector.volume(label)?,
        (None, None) => {
            return Err(Error::input(
                "no layout; give --level with --interleave and --members, or a file with --ccd, \
                 --raidctl, --md or --dm",
            ));
        }
    };
    if let Some((vector, _)) = &vector {
        return said(vector.check(&volume), flags.json);
    }
    if flags.ffs {
        return land(&volume, flags);
    }
    if !flags.straddle.is_empty() {
        let patterns: Result<Vec<Pattern>> =
            flags.straddle.iter().map(|text| Pattern::parse(text)).collect();
        let counts: Vec<_> = patterns?
            .into_iter()
            .map(|pattern| {
                let count = straddle::count(&*volume.layout, &pattern);
                (pattern, count)
            })
            .collect();
        return Ok(if flags.json {
            print_json(&json::straddles(&counts))
        } else {
            text::straddles(&volume, &counts)
        });
    }
    if flags.sectors.is_empty() {
        let shape = || print_json(&json::shape(&volume));
        return Ok(if flags.json { shape() } else { text::shape(&volume) });
    }
    let mut answers = Vec::new();
    for asked in &flags.sectors {
        let asked = Asked::parse(asked)?;
        answers.push((asked, asked.pieces(&*volume.layout)?));
    }
    if flags.json {
        return Ok(print_json(&json::answers(&answers)?));
    }
    Ok(text::answers(&volume, &answers))
}

/// The volume that the flags describe, if they do.
fn volume(flags: &MapFlags) -> Result<Option<Volume>> {
    let given: Result<Vec<u64>> =
        flags.member_size.iter().map(|size| sectors("--member-size", size)).collect();
    let sizes = Sizes { given: given?, of_path: &size_of };
    let size =
        |flag, value: &Option<String>| value.as_ref().map(|value| sectors(flag, value)).transpose();
    let reserved = size("--reserved", &flags.reserved)?;
    if let Some(path) = &flags.ccd {
        let (label, text) = read(path)?;
        let system = flags.system.map(|system| match system {
            SystemFlag::Netbsd => ccd::System::NetBsd,
            SystemFlag::Freebsd => ccd::System::FreeBsd,
        });
        let ccds = ccd::parse(&label, &text, system)?;
        let ccd = ccd::choose(&label, &ccds, flags.unit.as_deref())?;
        return Volume::of_ccd(&label, ccd, &sizes, reserved).map(Some);
    }
    if let Some(path) = &flags.raidctl {
        let (label, text) = read(path)?;
        let raid = raidctl::parse(&label, &text)?;
        return Volume::of_raidctl(&label, &raid, &sizes, reserved).map(Some);
    }
    if let Some(path) = &flags.md {
        let (label, text) = read(path)?;
        let md = mdadm::parse(&label, &text, flags.unit.as_deref())?;
        return Volume::of_md(&label, &md, &sizes, reserved).map(Some);
    }
    if let Some(path) = &flags.dm {
        if flags.reserved.is_some() {
            return Err(Error::input(
                "--reserved: a dm table already holds the offsets; leave it out with --dm",
            ));
        }
        let (label, text) = read(path)?;
        let dm = dm::parse(&label, &text, flags.unit.as_deref())?;
        return Volume::of_dm(&label, &dm, &sizes).map(Some);
    }
    let Some(level) = &flags.level else { return Ok(None) };
    let Some(members) = &flags.members else {
        return Err(Error::input(format!(
            "--level {level} needs members; give their number, as in `--members 3`, or their sizes, as in \
             `--members 2GiB,2GiB`"
        )));
    };
    let (count, each) = parse_member_sizes(members)?;
    let interleave = size("--interleave", &flags.interleave)?;
    Volume::of_level(level, interleave, (count, &each), &sizes, reserved).map(Some)
}

fn sectors(flag: &str, value: &str) -> Result<u64> {
    units::parse_sectors(value).map_err(|error| Error::input(format!("{flag} {value}: {error}")))
}

fn bytes(flag: &str, value: &str) -> Result<u64> {
    units::parse_bytes(value).map_err(|error| Error::input(format!("{flag} {value}: {error}")))
}

fn read(path: &Path) -> Result<(String, String)> {
    let label = path.display().to_string();
    let text = input::read_text(path, input::RESULTS_BYTES).map_err(|error| {
        Error::input(format!("cannot read {label}: {error}; give the path of a text file"))
    })?;
    Ok((label, text))
}

/// The size of a device or an image, if it is here and may be read.
fn size_of(name: &str) -> Option<u64> {
    let bytes = File::open(name).ok()?.seek(SeekFrom::End(0)).ok()?;
    Some(bytes / units::SECTOR_BYTES).filter(|&sectors| sectors > 0)
}

/// What came of a comparison.
fn said(verdict: Verdict, as_json: bool) -> Result<String> {
    match verdict {
        Verdict::Differs(why) => Err(Error::failure(why)),
        Verdict::Agrees(what) if as_json => {
            Ok(print_json(&serde_json::json!({ "agrees": true, "what": what })))
        }
        Verdict::Agrees(what) => Ok(format!("{what}\n")),
    }
}

fn land(volume: &Volume, flags: &MapFlags) -> Result<String> {
    let version = if flags.fs_version == 2 { Version::Ufs2 } else { Version::Ufs1 };
    let newfs = match (flags.newfs, version) {
        (Some(NewfsFlag::Netbsd2), _) | (None, Version::Ufs2) => Newfs::NetBsd2,
        (Some(NewfsFlag::Bsd44), _) | (None, Version::Ufs1) => Newfs::Bsd44(Cylinders {
            per_group: flags.cylinders_per_group.unwrap_or(Cylinders::CCD.per_group),
            ..Cylinders::CCD
        }),
    };
    if newfs == Newfs::NetBsd2 && flags.cylinders_per_group.is_some() {
        return Err(Error::input(
            "--cylinders-per-group: NetBSD 2's newfs has no cylinders; leave it out, or give --newfs \
             4.4bsd",
        ));
    }
    let block_bytes = bytes("--block", &flags.block)?;
    let options = Options {
        newfs,
        version,
        block_bytes,
        frag_bytes: match &flags.frag {
            Some(frag) => bytes("--frag", frag)?,
            None => (block_bytes / 8).max(512),
        },
        density_bytes: flags.density.as_ref().map(|value| bytes("--density", value)).transpose()?,
    };
    let geometry = Geometry::new(options, volume.layout.sectors())
        .map_err(|error| Error::input(format!("--ffs: {error}")))?;
    let landing = ffs::land(volume, &geometry);
    if flags.json {
        return super::to_json(&landing);
    }
    Ok(text::landing(volume, &landing))
}
