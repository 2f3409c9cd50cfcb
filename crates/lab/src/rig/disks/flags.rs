//! `--on disks`: its flags, and asking before a disk is lost.

use super::locks::check_free;
use super::planned::Planned;
use super::{Disks, Options};
use crate::capabilities::{Capabilities, Members, Uses};
use crate::error::{Error, Result};
use crate::experiment::parse_size;
use crate::rig::guard::{Findings, Number, System, check, is_meant, look};
use crate::rig::mounted::{Device, Mounted, Source};
use crate::rig::site::{Images, parse_images};
use crate::rig::state::{self, State};
use crate::rig::{Ask, Given, Opening, Rig, RigFlag, RigKind, Takes};
use crate::run::Run;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// What `--on disks` is.
pub(in crate::rig) const KIND: RigKind = RigKind {
    name: "disks",
    about: "Real files and devices, given by --members or --images; Linux only",
    capabilities: || Capabilities {
        members: Members::Real { members: Vec::new(), failed: Vec::new() },
        host_is_modelled: false,
        uses: Uses::BlocksAndFiles,
        lanes: 1,
        repeats: 3,
        durable_starts: true,
    },
    flags: FLAGS,
    open,
};

const MEMBERS: RigFlag = RigFlag {
    name: "members",
    about: "Files or devices in volume order; they replace volume.drives",
    takes: Takes::Paths("PATH[,PATH…]"),
    needs: None,
    for_results: false,
};
const IMAGES: RigFlag = RigFlag {
    name: "images",
    about: "Members that are created for the run and removed after it: image files in DIR or here",
    takes: Takes::Value("COUNTxSIZE[:DIR]"),
    needs: None,
    for_results: false,
};
const PLAN: RigFlag = RigFlag {
    name: "plan",
    about: "Print every command, what is written beforehand and how long it takes, and run nothing",
    takes: Takes::Nothing,
    needs: None,
    for_results: false,
};
const STATE: RigFlag = RigFlag {
    name: "state",
    about: "Members before trials: fresh (all discarded), or steady (filled until the rate is steady)",
    takes: Takes::Value("STATE"),
    needs: None,
    for_results: false,
};

const MEMBER_SIZE: &str = "member-size";
const CREATE: &str = "create";
const FAILED: &str = "failed";
const BUFFERED: &str = "buffered";

const FLAGS: &[RigFlag] = &[
    MEMBERS,
    IMAGES,
    PLAN,
    STATE,
    flag(MEMBER_SIZE, Takes::Value("SIZE"), None, "Use this much of each member [default: all]"),
    flag(
        CREATE,
        Takes::Value("SIZE"),
        None,
        "Create missing image files of this size, filled with random data",
    ),
    flag(
        FAILED,
        Takes::List("N[,N…]"),
        None,
        "Failed members, counted from 0; they are not accessed",
    ),
    flag(BUFFERED, Takes::Nothing, None, "Use the page cache instead of direct I/O"),
    flag("write", Takes::Nothing, None, "Allow writes: the members' contents are lost"),
    flag(
        "overwrite-signed",
        Takes::Nothing,
        Some("write"),
        "Allow writes to image files that hold a file system or another signature",
    ),
    flag(
        "destroy",
        Takes::PathEach("SERIAL-OR-NAME"),
        Some("write"),
        "Write to this block device without asking, whatever it holds",
    ),
];

const fn flag(
    name: &'static str,
    takes: Takes,
    needs: Option<&'static str>,
    about: &'static str,
) -> RigFlag {
    RigFlag { name, about, takes, needs, for_results: false }
}

/// The rig for blocks, or for file systems where the experiment has some.
fn open(given: &Given, opening: &mut Opening<'_>) -> Result<Box<dyn Rig>> {
    let images = given.read(IMAGES.name, parse_images)?.pop();
    match (given.has(MEMBERS.name), &images) {
        (false, None) => {
            return Err(Error::input(
                "`--on disks` has no members; give `--members PATH[,PATH…]`, or `--images 4x1GiB` to have some \
                 made for the run",
            ));
        }
        (true, Some(_)) => {
            return Err(Error::input(
                "`--members` and `--images` both name the members; leave one out",
            ));
        }
        _ => {}
    }
    check_apply(given, images.is_some(), opening.uses_files)?;
    let state = given.read(STATE.name, state::parse)?.pop();
    if !opening.uses_files {
        if given.has(PLAN.name) {
            return Ok(Box::new(planned_blocks(given, images.as_ref())?));
        }
        if images.is_some() || given.has(CREATE) {
            // Before any image is filled: what cannot be run is refused, and leaves none behind.
            Run::plan(opening.experiment, &planned_blocks(given, images.as_ref())?)?.admit()?;
        }
        let disks = match images {
            Some(images) => Disks::on_images(&images, options(given)?, &opening.undo)?,
            None => open_members(given, opening.ask)?,
        };
        return Ok(Box::new(disks.in_state(state)?));
    }
    let source = match images {
        Some(images) => Source::Images(images),
        None => Source::Devices(devices(given, opening.ask)?),
    };
    if given.has(PLAN.name) {
        return Ok(Box::new(Mounted::planned(source).in_state(state)));
    }
    let parent = match &source {
        Source::Images(images) => images.parent.clone(),
        Source::Devices(_) => std::env::temp_dir(),
    };
    Ok(Box::new(Mounted::open(source, &parent, &opening.undo)?.in_state(state)))
}

/// Whether each flag means something of these members and this work.
fn check_apply(given: &Given, on_images: bool, uses_files: bool) -> Result<()> {
    let sizes = [MEMBER_SIZE, CREATE];
    if let Some(name) = sizes.into_iter().find(|name| on_images && given.has(name)) {
        return Err(Error::input(format!(
            "`--{name}` is for `--members`; `--images COUNTxSIZE` makes all its images, of that size: leave one out"
        )));
    }
    let of_requests = [MEMBER_SIZE, CREATE, FAILED, BUFFERED];
    if let Some(name) = of_requests.into_iter().find(|name| uses_files && given.has(name)) {
        return Err(Error::input(format!(
            "`--{name}` is for requests that ileave sends to the members itself, and with `[fs]` it sends none; leave it out"
        )));
    }
    Ok(())
}

/// The members as devices for file systems: each let through by the guard, and agreed to.
fn devices(given: &Given, ask: &mut Ask<'_>) -> Result<Vec<Device>> {
    if !given.has("write") {
        return Err(Error::input(
            "a file system would be made on the members, whose data would be lost; give `--write` if that is \
             meant",
        ));
    }
    let system = System::here();
    let mut destroy = named_to_destroy(given);
    let mut devices = Vec::new();
    for path in given.all(MEMBERS.name).iter().map(PathBuf::from) {
        let bytes = device_bytes(&path)?;
        let Findings { users, signatures } = look(&system, &path)?;
        if users.is_empty() && signatures.is_empty() && !is_meant(&system, &path, &destroy) {
            let is_agreed = typed_back(&path, bytes, ask)?;
            destroy.extend(is_agreed.then(|| path.display().to_string()));
        }
        check(&system, &path, &destroy)?;
        check_free(&path, Number::new(std::fs::metadata(&path).map_err(Error::failure)?.rdev()))?;
        let sectors = bytes / block::SECTOR_BYTES;
        devices.push(Device { path: path.display().to_string(), sectors });
    }
    Ok(devices)
}

/// The size of a block device.
fn device_bytes(path: &Path) -> Result<u64> {
    let failed = |error: std::io::Error| {
        Error::input(format!(
            "--members: {}: {error}; name block devices, or give `--images`",
            path.display()
        ))
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.file_type().is_block_device() {
        return Err(Error::input(format!(
            "--members: {} is not a block device, and file systems are made on devices; give `--images` instead",
            path.display()
        )));
    }
    File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0))).map_err(failed)
}

/// The devices, by name or serial number, that may lose what they hold.
fn named_to_destroy(given: &Given) -> Vec<String> {
    given.all("destroy").iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Blocks on members that nobody opens.
fn planned_blocks(given: &Given, images: Option<&Images>) -> Result<Planned> {
    let options = options(given)?;
    let device = |path: String, bytes: u64| {
        let sectors = options.member_sectors.unwrap_or(bytes / block::SECTOR_BYTES);
        Device { path, sectors }
    };
    let devices: Result<Vec<Device>> = match images {
        Some(images) => {
            (0..images.count).map(|n| Ok(device(format!("image{n}"), images.bytes))).collect()
        }
        None => options.paths.iter().map(|path| {
            let name = path.display().to_string();
            let there = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
            let bytes = match (there, options.create_bytes) {
                (Ok(bytes), _) | (Err(_), Some(bytes)) => bytes,
                (Err(error), None) => {
                    return Err(Error::input(format!(
                        "--members: {name}: {error}; name files or devices that are there, or give `--create SIZE`"
                    )));
                }
            };
            Ok(device(name, bytes))
        }).collect(),
    };
    let devices = devices?;
    options.check_failed(devices.len())?;
    let state = given.read(STATE.name, state::parse)?.pop();
    let write = options.write || images.is_some();
    State::check(state, write)?;
    Ok(Planned { devices, failed: options.failed, write, state })
}

fn open_members(given: &Given, ask: &mut Ask<'_>) -> Result<Disks> {
    Disks::open(&options(given)?, &mut |path, bytes| typed_back(path, bytes, ask))
}

/// What the flags say of members.
fn options(given: &Given) -> Result<Options> {
    let size = |flag: &str| Ok::<_, Error>(given.read(flag, parse_size)?.pop());
    let member = |text: &str| {
        text.parse().map_err(|_| Error::input("not the number of a member; they count from 0"))
    };
    Ok(Options {
        paths: given.all(MEMBERS.name).iter().map(PathBuf::from).collect(),
        member_sectors: size(MEMBER_SIZE)?,
        create_bytes: size(CREATE)?.map(|sectors| sectors.saturating_mul(block::SECTOR_BYTES)),
        write: given.has("write"),
        overwrite_signed: given.has("overwrite-signed"),
        buffered: given.has(BUFFERED),
        destroy: named_to_destroy(given),
        failed: given.read(FAILED, member)?,
    })
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
