//! `--on disks`: its flags, and asking before a disk is lost.

use super::{Disks, Options};
use crate::capabilities::{Capabilities, Members, Uses};
use crate::error::{Error, Result};
use crate::experiment::parse_size;
use crate::rig::{Ask, Given, RigFlag, RigKind, Takes};
use std::path::{Path, PathBuf};

/// What `--on disks` is.
pub(in crate::rig) const KIND: RigKind = RigKind {
    name: "disks",
    about: "Real files and devices, given by --members; Linux only",
    capabilities: || Capabilities {
        members: Members::Real { members: Vec::new(), failed: Vec::new() },
        host_is_modelled: false,
        uses: Uses::Blocks,
        lanes: 1,
        repeats: 3,
        durable_starts: true,
    },
    flags: FLAGS,
    open: |given, ask| Ok(Box::new(open(given, ask)?)),
};

const MEMBERS: RigFlag = RigFlag {
    name: "members",
    about: "Files or devices in volume order; they replace volume.drives",
    takes: Takes::Paths("PATH[,PATH…]"),
    is_required: true,
    needs: None,
};

const FLAGS: &[RigFlag] = &[
    MEMBERS,
    flag(
        "member-size",
        Takes::Value("SIZE"),
        "members",
        "Use this much of each member [default: all]",
    ),
    flag(
        "create",
        Takes::Value("SIZE"),
        "members",
        "Create missing image files of this size, filled with random data",
    ),
    flag(
        "failed",
        Takes::List("N[,N…]"),
        "members",
        "Failed members, counted from 0; they are not accessed",
    ),
    flag("buffered", Takes::Nothing, "members", "Use the page cache instead of direct I/O"),
    flag("write", Takes::Nothing, "members", "Allow writes: the members' contents are lost"),
    flag(
        "overwrite-signed",
        Takes::Nothing,
        "write",
        "Allow writes to image files that hold a file system or another signature",
    ),
    flag(
        "destroy",
        Takes::PathEach("SERIAL-OR-NAME"),
        "write",
        "Write to this block device without asking, whatever stands on it",
    ),
];

const fn flag(
    name: &'static str,
    takes: Takes,
    needs: &'static str,
    about: &'static str,
) -> RigFlag {
    RigFlag { name, about, takes, is_required: false, needs: Some(needs) }
}

fn open(given: &Given, ask: &mut Ask<'_>) -> Result<Disks> {
    let size = |flag: &str| Ok::<_, Error>(given.read(flag, parse_size)?.pop());
    let member = |text: &str| {
        text.parse().map_err(|_| Error::input("not the number of a member; they count from 0"))
    };
    let options = Options {
        paths: given.all(MEMBERS.name).iter().map(PathBuf::from).collect(),
        member_sectors: size("member-size")?,
        create_bytes: size("create")?.map(|sectors| sectors.saturating_mul(block::SECTOR_BYTES)),
        write: given.has("write"),
        overwrite_signed: given.has("overwrite-signed"),
        buffered: given.has("buffered"),
        destroy: given.all("destroy").iter().map(|n| n.to_string_lossy().into_owned()).collect(),
        failed: given.read("failed", member)?,
    };
    Disks::open(&options, &mut |path, bytes| typed_back(path, bytes, ask))
}

/// Asks for the name of a device that is to be written; where nobody can be asked, that is a no.
fn typed_back(path: &Path, bytes: u64, ask: &mut Ask<'_>) -> Result<bool> {
    let name = path.display().to_string();
    let (unit_bytes, unit) = if bytes < 1_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    let size = bytes as f64 / unit_bytes;
    let typed = ask(&format!(
        "{name} is a block device of {size:.1} {unit}. All data on it will be lost.\n\
         Type its name to continue: "
    ))?;
    Ok(typed.is_some_and(|line| line == name))
}
