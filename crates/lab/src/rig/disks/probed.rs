//! A real disk to probe: opened for reading only, past the page cache, one read at a time, by the clock.

use super::in_memory;
use super::members::direct_block_sectors;
use crate::error::{Error, Result};
use crate::probe::{Disk, Timed};
use crate::rig::guard::{Number, System, users_of_device};
use block::SECTOR_BYTES;
use rustix::fs::OFlags;
use rustix::io::pread;
use sim::Nanos;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use uring::Buffer;

/// What is left of a pause is waited for without sleeping, so that a read is in time.
const AWAKE: Duration = Duration::from_micros(300);

/// A disk or an image of one.
pub struct ProbedDisk {
    name: String,
    file: File,
    sectors: u64,
    unit: u32,
    start: Instant,
    buffer: Buffer,
    /// What makes its times doubtful.
    pub warnings: Vec<String>,
}

impl ProbedDisk {
    /// Opens the device or image at `path`, for reading only.
    ///
    /// # Errors
    ///
    /// Where it cannot be, is neither, or cannot be read past the page cache.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |error: io::Error| {
            let next = match error.kind() {
                io::ErrorKind::NotFound => {
                    let next = "name a disk, or an image of one";
                    return Error::input(format!("--rotating: {name}: {error}; {next}"));
                }
                io::ErrorKind::PermissionDenied => "run as a user who may read it",
                _ => "name another disk",
            };
            Error::failure(format!("--rotating: {name}: {error}; {next}"))
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        let kind = metadata.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(Error::input(format!(
                "--rotating: {name} is neither a block device nor a file; name a disk, or an image of one"
            )));
        }
        let open = |flags: OFlags| {
            OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
        };
        let mut file = open(OFlags::DIRECT).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => past_the_cache(&name),
            _ => failed(error),
        })?;
        let sectors = file.seek(SeekFrom::End(0)).map_err(failed)? / SECTOR_BYTES;
        if sectors == 0 {
            return Err(Error::input(format!(
                "--rotating: {name} is empty; name a disk, or an image of one"
            )));
        }
        let least = direct_block_sectors(&file, sectors).ok_or_else(|| past_the_cache(&name))?;
        let device = kind.is_block_device().then(|| Number::new(metadata.rdev()));
        let physical = device.and_then(physical_sectors).unwrap_or(1);
        Ok(ProbedDisk {
            warnings: warnings(path, device),
            name,
            file,
            sectors,
            unit: least.max(physical) as u32,
            start: Instant::now(),
            buffer: Buffer::default(),
        })
    }

    fn now(&self) -> Nanos {
        self.start.elapsed().as_nanos() as Nanos
    }

    /// Waits until `at`: asleep at first, awake at last.
    fn wait(&self, at: Nanos) {
        loop {
            let left = Duration::from_nanos(at.saturating_sub(self.now()));
            if left.is_zero() {
                return;
            }
            if left > AWAKE {
                thread::sleep(left.saturating_sub(AWAKE));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

fn past_the_cache(name: &str) -> Error {
    Error::failure(format!(
        "--rotating: {name} cannot be read past the page cache (O_DIRECT), and memory has no revolution; \
         name the disk itself"
    ))
}

/// Sectors in one on the medium, as the kernel knows it.
fn physical_sectors(device: Number) -> Option<u64> {
    let directory = device.directory().canonicalize().ok()?;
    // A partition's queue is that of its disk.
    let queues = [directory.join("queue"), directory.parent()?.join("queue")];
    let text =
        queues.iter().find_map(|at| fs::read_to_string(at.join("physical_block_size")).ok())?;
    let bytes: u64 = text.trim().parse().ok()?;
    Some(bytes / SECTOR_BYTES).filter(|sectors| (1..=128).contains(sectors))
}

fn warnings(path: &Path, device: Option<Number>) -> Vec<String> {
    let name = path.display();
    let mut warnings = vec![];
    let memory = device.map_or_else(|| in_memory::of_file(path), in_memory::of_device);
    if let Some(on) = memory {
        warnings.push(format!("{name} lies in memory ({on})"));
    } else if device.is_none() {
        warnings.push(format!(
            "{name} is a file: the probe sees the disk that it lies on, and others use that disk"
        ));
    }
    let users = device.map(|number| users_of_device(&System::here(), number, Some(path)));
    if let Some(users) = users.filter(|users| !users.is_empty()) {
        warnings
            .push(format!("{name} is in use ({}): other load disturbs a probe", users.join("; ")));
    }
    warnings
}

impl Disk for ProbedDisk {
    fn name(&self) -> &str {
        &self.name
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn unit(&self) -> u32 {
        self.unit
    }

    fn read(&mut self, not_before: Nanos, lba: u64, sectors: u32) -> Result<Timed> {
        let bytes = sectors as usize * SECTOR_BYTES as usize;
        self.buffer.grow(bytes);
        self.wait(not_before);
        let issued = self.now();
        let read = pread(&self.file, &mut self.buffer[..bytes], lba * SECTOR_BYTES);
        let done = self.now();
        match read {
            Ok(count) if count == bytes => Ok(Timed { issued, done }),
            Ok(count) => Err(Error::failure(format!(
                "{}: {count} of {bytes} bytes at sector {lba}; its size changed",
                self.name
            ))),
            Err(error) => Err(Error::failure(format!(
                "{}: cannot read sector {lba}: {error}; look at its health with smartctl",
                self.name
            ))),
        }
    }
}
