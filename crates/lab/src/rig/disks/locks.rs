//! One run a device: locks on the members, and on the disks below them, which other members may be parts of.

use crate::error::{Error, Result};
use crate::rig::guard::{Number, System};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use store::held::Held;

/// The locks of one member.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Vec<Held>,
    /// What the run has locked for it and for its other members: parts of one disk share its lock.
    known: Vec<Identity>,
}

/// What a file is, whatever it is called: its device and its inode.
type Identity = (u64, u64);

impl Locks {
    /// None yet, beside those of other members of the same run.
    pub(super) fn beside<'a>(others: impl Iterator<Item = &'a Locks>) -> Self {
        Locks { held: Vec::new(), known: others.flat_map(|of| of.known.clone()).collect() }
    }

    /// Locks a member of the run, which was opened as `file`, and the disks below it. Reading runs take it alone, too: of two
    /// on one disk each measures the other.
    ///
    /// # Errors
    ///
    /// Where another program has it.
    pub(super) fn take(&mut self, path: &Path, file: &File, device: Option<Number>) -> Result<()> {
        self.add(path, file)?;
        let system = System::here();
        for disk in device.map(|number| number.disks(&system)).into_iter().flatten() {
            // Whoever may open a partition need not be allowed its disk.
            let node = node(&system, disk);
            if let Ok(file) = File::open(&node) {
                self.add(&node, &file)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, file: &File) -> Result<()> {
        let failed = |error| Error::failure(format!("cannot lock {}: {error}", path.display()));
        let identity = identity(file).map_err(failed)?;
        if !self.known.contains(&identity) {
            self.held.push(alone(path, file)?);
            self.known.push(identity);
        }
        Ok(())
    }
}

/// Whether no other run has the device at `path`, or a disk below it.
///
/// # Errors
///
/// Where one has; the message names it.
pub(super) fn check_free(path: &Path, device: Number) -> Result<()> {
    let file = File::open(path);
    let file =
        file.map_err(|error| Error::input(format!("cannot open {}: {error}", path.display())))?;
    Locks::default().take(path, &file, Some(device))
}

/// Locks a file. Who only looks at a new disk, as udev does, is gone within half a second.
fn alone(path: &Path, file: &File) -> Result<Held> {
    const TRIES: u32 = 10;
    let name = path.display();
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(Duration::from_millis(50));
        }
        let copy = file.try_clone().map_err(|error| Error::failure(format!("{name}: {error}")))?;
        match Held::alone(copy) {
            Ok(held) => return Ok(held),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                return Err(Error::failure(format!("cannot lock {name}: {error}")));
            }
        }
    }
    let by = holder(file).unwrap_or("another program".into());
    Err(Error::input(format!(
        "{name} is used by {by}, and of two runs on one device each would measure the other; wait for it to end, or take \
         another device"
    )))
}

fn identity(file: &File) -> std::io::Result<Identity> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn node(system: &System, disk: Number) -> PathBuf {
    PathBuf::from(format!("/dev/{}", disk.name(system).replace('!', "/")))
}

/// Which process has the lock of a file, as `/proc/locks` says.
fn holder(file: &File) -> Option<String> {
    let (device, inode) = identity(file).ok()?;
    let [major, minor] = [rustix::fs::major(device), rustix::fs::minor(device)];
    let of_file = format!("{major:02x}:{minor:02x}:{inode}");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let process = locks.lines().find_map(|line| held_by(line, &of_file))?;
    let command = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let command = command.trim();
    Some(if command.is_empty() {
        format!("process {process}")
    } else {
        format!("process {process} (`{command}`)")
    })
}

/// The process of a line of `/proc/locks`, if that is of the file: `1: FLOCK  ADVISORY  WRITE 4217 fe:00:131 0 EOF`.
fn held_by(line: &str, of_file: &str) -> Option<u32> {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        [_, "FLOCK", _, _, process, of, ..] if *of == of_file => process.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_lock_stands_in_a_line_of_the_kernels() {
        let line = "12: FLOCK  ADVISORY  WRITE 4217 fe:00:131 0 EOF";
        assert_eq!(held_by(line, "fe:00:131"), Some(4217));
        assert_eq!(held_by(line, "fe:00:13"), None);
        assert_eq!(
            held_by("12: -> FLOCK  ADVISORY  WRITE 4217 fe:00:131 0 EOF", "fe:00:131"),
            None
        );
        assert_eq!(held_by("1: POSIX  ADVISORY  READ 7 fe:00:131 0 EOF", "fe:00:131"), None);
    }

    #[test]
    fn a_run_has_a_device_once_and_no_other_run_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.img");
        fs::write(&path, [0; 512]).unwrap();
        let open = || File::open(&path).unwrap();
        let mut one = Locks::default();
        one.take(&path, &open(), None).unwrap();
        let mut beside = Locks::beside([&one].into_iter());
        beside.take(&path, &open(), None).unwrap();
        assert!(beside.held.is_empty(), "two members on one disk share its lock");
        let said = Locks::default().take(&path, &open(), None).unwrap_err().to_string();
        assert!(
            said.contains("a.img is used by ") && said.contains("wait for it to end"),
            "{said}"
        );
        drop(one);
        Locks::default().take(&path, &open(), None).unwrap();
    }
}
