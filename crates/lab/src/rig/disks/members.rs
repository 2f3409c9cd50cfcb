//! The members of a real volume: named files and devices, looked at before anything is touched.

use super::create::create;
use super::in_memory;
use super::locks::Locks;
use crate::error::{Error, Result};
use crate::rig::guard::{
    Number, Signature, System, find_signatures, is_meant, same_file, users_of_device, users_of_file,
};
use block::SECTOR_BYTES;
use block::units::{format_bytes, format_sectors};
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};
use std::fs::{self, File, OpenOptions};
use std::io::{IoSliceMut, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use uring::Buffer;

/// Which members, and what may be done to them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The files and devices, in the order of the volume.
    pub paths: Vec<PathBuf>,
    /// How many sectors of each are used; all of them where it is not said.
    pub member_sectors: Option<u64>,
    /// Size of the files to create where they are missing, in bytes.
    pub create_bytes: Option<u64>,
    /// Whether they may be written.
    pub write: bool,
    /// Whether image files may be written that hold something.
    pub overwrite_signed: bool,
    /// Whether the page cache is used even where direct I/O works.
    pub buffered: bool,
    /// The devices, by name or serial number, that may lose what they hold.
    pub destroy: Vec<String>,
    /// Members that count as failed: nothing touches them.
    pub failed: Vec<u32>,
}

impl Options {
    /// Whether each failed member is one of so many.
    ///
    /// # Errors
    ///
    /// Where one is not.
    pub fn check_failed(&self, members: usize) -> Result<()> {
        match self.failed.iter().find(|&&member| member as usize >= members) {
            None => Ok(()),
            Some(member) => Err(Error::input(format!(
                "--failed {member}: there are {members} members, counted from 0"
            ))),
        }
    }
}

/// How reads and writes get to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Direct I/O, in blocks of this many sectors.
    Direct {
        /// Requests start and end at multiples of it.
        block_sectors: u64,
    },
    /// Through the page cache, which could be emptied before a trial.
    Cold,
    /// Through the page cache, which kept what it had.
    Warm,
}

/// One member, open.
#[derive(Debug)]
pub struct Member {
    /// As it was named.
    pub path: PathBuf,
    /// Whether it is a block device.
    pub device: bool,
    /// The sectors used of it.
    pub sectors: u64,
    /// How it is accessed.
    pub access: Access,
    /// What in memory it lies on, if it is no disk: `tmpfs`.
    pub in_memory: Option<&'static str>,
    /// What it is accessed through.
    pub file: File,
    /// What keeps other runs away. They are files of their own because a ring lets go of its files only some time after it
    /// is gone.
    locks: Locks,
}

/// What a name leads to.
struct Found {
    path: PathBuf,
    device: Option<Number>,
    bytes: u64,
    identity: Identity,
}

/// What a file is by, whatever its name: the device it lies on, its inode, and the device that it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    dev: u64,
    ino: u64,
    rdev: u64,
}

impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        Identity { dev: metadata.dev(), ino: metadata.ino(), rdev: metadata.rdev() }
    }
}

impl Found {
    /// That an open file is what was looked at, and agreed to: its name may lead elsewhere by now, as
    /// that of a disk does that was plugged in again.
    fn confirm(&self, file: &File) -> Result<()> {
        let name = self.path.display();
        let there = file.metadata();
        let there =
            there.map_err(|error| Error::failure(format!("cannot read {name}: {error}")))?;
        if Identity::of(&there) == self.identity {
            return Ok(());
        }
        Err(Error::failure(format!(
            "{name} changed after it was checked; nothing was written. See what it \
             leads to now, and start again"
        )))
    }
}

/// Looks at all members, makes files where that was asked for, and opens them. `confirm` is asked, with
/// the name of each block device that is to be written, whether that is meant. Whatever is amiss is an
/// error before anything is opened for writing. Gives warnings, too.
///
/// # Errors
///
/// Where a member is not there, in use or signed, is named twice, or was not confirmed.
pub fn open(
    options: &Options,
    confirm: &mut dyn FnMut(&Path, u64) -> Result<bool>,
) -> Result<(Vec<Member>, Vec<String>)> {
    let mut warnings = Vec::new();
    let there: Vec<&PathBuf> = options.paths.iter().filter(|path| path.exists()).collect();
    let looked: Result<Vec<Found>> = there.into_iter().map(|path| look(path)).collect();
    let looked = looked?;
    refuse_overlaps(&looked)?;
    refuse_other_sizes(&looked, options)?;
    let missing: Vec<&Path> =
        options.paths.iter().map(PathBuf::as_path).filter(|path| !path.exists()).collect();
    if let Some(bytes) = options.create_bytes.filter(|_| !missing.is_empty()) {
        create(&missing, bytes)?;
    }
    let found: Result<Vec<Found>> = options.paths.iter().map(|path| look(path)).collect();
    let found = found?;
    refuse_overlaps(&found)?;
    for found in &found {
        check(found, options, &mut warnings)?;
    }
    for found in found.iter().filter(|found| options.write && found.device.is_some()) {
        if is_meant(&System::here(), &found.path, &options.destroy) {
            continue;
        }
        if !confirm(&found.path, found.bytes)? {
            return Err(Error::input(format!(
                "{} is a block device and would lose all its data ({} bytes); nothing was \
                 written. Type its name back when asked, or give `--destroy={0}`",
                found.path.display(),
                found.bytes
            )));
        }
    }
    let mut members = Vec::with_capacity(found.len());
    for found in found {
        members.push(open_one(found, options, &members, &mut warnings)?);
    }
    use_whole_blocks(&mut members);
    Ok((members, warnings))
}

/// Leaves out what stands behind the last whole block of each member, counted in the largest of all
/// their blocks: a request that goes on from one member to the next must be in step on both.
fn use_whole_blocks(members: &mut [Member]) {
    let blocks = members.iter().map(|member| match member.access {
        Access::Direct { block_sectors } => block_sectors,
        Access::Cold | Access::Warm => 1,
    });
    let block = blocks.max().unwrap_or(1);
    for member in members {
        member.sectors -= member.sectors % block;
    }
}

fn look(path: &Path) -> Result<Found> {
    let failed = |error: std::io::Error| {
        let next = match error.kind() {
            std::io::ErrorKind::NotFound => "; `--create SIZE` creates missing image files",
            std::io::ErrorKind::PermissionDenied => "; run as a user who may read it",
            _ => "",
        };
        Error::input(format!("--members: {}: {error}{next}", path.display()))
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    let (kind, identity) = (metadata.file_type(), Identity::of(&metadata));
    if kind.is_file() {
        let bytes = metadata.len();
        return Ok(Found { path: path.into(), device: None, bytes, identity });
    }
    if !kind.is_block_device() {
        return Err(Error::input(format!(
            "--members: {} is neither a file nor a block device; name image files or disks",
            path.display()
        )));
    }
    let bytes = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
    let device = Some(Number::new(metadata.rdev()));
    Ok(Found { path: path.into(), device, bytes: bytes.map_err(failed)?, identity })
}

/// Two members must not share a sector, by whatever names.
fn refuse_overlaps(found: &[Found]) -> Result<()> {
    let system = System::here();
    for (index, one) in found.iter().enumerate() {
        for other in &found[..index] {
            let related = one.device.zip(other.device);
            if same_file(&one.path, &other.path)
                || related.is_some_and(|(one, other)| one.related(&system).contains(&other))
            {
                return Err(Error::input(format!(
                    "--members: {} and {} overlap; name each disk once",
                    other.path.display(),
                    one.path.display()
                )));
            }
        }
    }
    Ok(())
}

/// Images that are there beside new ones are of the same size: what an earlier run left behind would make another
/// volume of them.
fn refuse_other_sizes(found: &[Found], options: &Options) -> Result<()> {
    let (Some(bytes), None) = (options.create_bytes, options.member_sectors) else { return Ok(()) };
    let is_other = |found: &&Found| found.device.is_none() && found.bytes != bytes;
    match found.iter().find(is_other) {
        None => Ok(()),
        Some(other) => Err(Error::input(format!(
            "{} is there and has {}, not the {} of `--create`; remove it, give its size, or give \
             `--member-size` to use as much of each",
            other.path.display(),
            format_bytes(other.bytes),
            format_bytes(bytes)
        ))),
    }
}

/// Refuses what must not be written, and warns of what makes figures doubtful.
fn check(found: &Found, options: &Options, warnings: &mut Vec<String>) -> Result<()> {
    let name = found.path.display();
    let system = System::here();
    let users = match found.device {
        Some(number) => users_of_device(&system, number, Some(&found.path)),
        None => users_of_file(&system, &found.path),
    };
    if !options.write {
        if !users.is_empty() {
            warnings.push(format!(
                "{name} is in use ({}): the figures include other programs' I/O",
                users.join("; ")
            ));
        }
        return Ok(());
    }
    let sectors = used_sectors(found, options)?;
    let touched = format!(
        "the first {} of {name} would be written; nothing was written yet",
        format_sectors(sectors)
    );
    if !users.is_empty() {
        return Err(Error::input(format!("{name} is in use: {}. {touched}", users.join("; "))));
    }
    let failed = |error| Error::failure(format!("cannot read {name}: {error}"));
    let file = File::open(&found.path).map_err(failed)?;
    found.confirm(&file)?;
    let signed = find_signatures(&file, found.bytes).map_err(failed)?;
    let next = match found.device {
        None if options.overwrite_signed => return Ok(()),
        None => "give `--overwrite-signed` if its data may be lost".to_string(),
        Some(_) if is_meant(&system, &found.path, &options.destroy) => return Ok(()),
        Some(_) => format!("if its data may be lost, give `--destroy={name}`"),
    };
    if signed.is_empty() {
        return Ok(());
    }
    let signs: Vec<String> = signed.iter().map(Signature::words).collect();
    Err(Error::input(format!("{name} holds {}. {touched}; {next}", signs.join(", "))))
}

fn used_sectors(found: &Found, options: &Options) -> Result<u64> {
    let (name, there) = (found.path.display(), found.bytes / SECTOR_BYTES);
    let used = options.member_sectors.unwrap_or(there);
    if used > there {
        return Err(Error::input(format!(
            "--member-size of {} is more than the {} of {name}; give a smaller size",
            format_sectors(used),
            format_sectors(there)
        )));
    }
    if used == 0 {
        return Err(Error::input(format!(
            "{name} is smaller than one sector; `--create SIZE` makes new image files only"
        )));
    }
    Ok(used)
}

fn open_one(
    found: Found,
    options: &Options,
    earlier: &[Member],
    warnings: &mut Vec<String>,
) -> Result<Member> {
    let sectors = used_sectors(&found, options)?;
    let name = found.path.display().to_string();
    let device = found.device.is_some();
    let open = |flags: OFlags| {
        // On a block device, O_EXCL keeps everyone else from mounting it meanwhile.
        let exclusive = if device && options.write { OFlags::EXCL } else { OFlags::empty() };
        let flags = (flags | exclusive).bits().cast_signed();
        OpenOptions::new().read(true).write(options.write).custom_flags(flags).open(&found.path)
    };
    let failed = |error: std::io::Error| {
        let busy = error.raw_os_error() == Some(Errno::BUSY.raw_os_error());
        let next = if busy { "; another program holds it; nothing was written" } else { "" };
        Error::input(format!("cannot open {name}: {error}{next}"))
    };
    let direct = if options.buffered { None } else { open(OFlags::DIRECT).ok() };
    // Where direct reads do not work the file is closed here: held with O_EXCL, a device would be busy.
    let direct = direct.and_then(|file| {
        let block_sectors = direct_block_sectors(&file, sectors)?;
        Some((file, Access::Direct { block_sectors }))
    });
    let (file, access) = match direct {
        Some(direct) => direct,
        None => {
            let file = open(OFlags::empty()).map_err(failed)?;
            let access = if empty_cache(&file, sectors) { Access::Cold } else { Access::Warm };
            warnings.push(format!(
                "{name} is read through the page cache, which {}",
                match access {
                    Access::Warm => "could not be emptied: data read before comes from memory",
                    _ => "is emptied before each trial: data read twice comes from memory",
                }
            ));
            (file, access)
        }
    };
    found.confirm(&file)?;
    let lock = File::open(&found.path).map_err(failed)?;
    found.confirm(&lock)?;
    let mut locks = Locks::beside(earlier.iter().map(|member| &member.locks));
    locks.take(&found.path, &lock, found.device)?;
    if !device && is_sparse(&file, found.bytes) {
        warnings.push(format!(
            "{name} has holes, and reading a hole reads no disk; fill it, or make it with `--create`"
        ));
    }
    let in_memory = match found.device {
        Some(number) => in_memory::of_device(number),
        None => in_memory::of_file(&found.path),
    };
    if let Some(on) = in_memory {
        warnings.push(format!(
            "{name} lies in memory ({on}): its figures are those of memory, not of a disk"
        ));
    }
    Ok(Member { path: found.path, device, sectors, access, in_memory, file, locks })
}

/// The smallest block in which direct reads work, if they do.
pub(super) fn direct_block_sectors(file: &File, sectors: u64) -> Option<u64> {
    let mut buffer = Buffer::zeroed(8192);
    [1, 8].into_iter().filter(|&block| 2 * block <= sectors).find(|&block: &u64| {
        let bytes = (block * SECTOR_BYTES) as usize;
        let read = pread(file, &mut buffer[bytes..2 * bytes], bytes as u64);
        read == Ok(bytes)
    })
}

fn is_sparse(file: &File, bytes: u64) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.blocks() * 512 < bytes / 16 * 15)
}

/// Has the page cache forget a file; whether it did.
pub(super) fn empty_cache(file: &File, sectors: u64) -> bool {
    const PROBES: u64 = 64;
    let forget = || fadvise(file, 0, None, Advice::DontNeed).is_ok();
    if file.sync_data().is_err() || !forget() {
        return false;
    }
    let mut byte = [0; 1];
    let cached = |probe: u64| {
        let offset = probe * (sectors * SECTOR_BYTES / PROBES);
        let slices = &mut [IoSliceMut::new(&mut byte)];
        preadv2(file, slices, offset, ReadWriteFlags::NOWAIT) == Ok(1)
    };
    let left = (0..PROBES).map(cached).filter(|&cached| cached).count();
    // Probing may have woken the read-ahead.
    forget() && left == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_by_now_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let [path, other] = ["a.img", "b.img"].map(|name| directory.path().join(name));
        for path in [&path, &other] {
            fs::write(path, [1; 8192]).unwrap();
        }
        let options = Options { write: true, ..Options::default() };
        let open = |found| open_one(found, &options, &[], &mut Vec::new());
        let found = look(&path).unwrap();
        assert!(open(look(&path).unwrap()).is_ok());
        fs::rename(&other, &path).unwrap();
        let said = open(found).unwrap_err().to_string();
        assert!(said.contains("a.img changed after it was checked"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), [1; 8192]);
    }
}
