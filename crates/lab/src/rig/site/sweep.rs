//! Takes a site down: what runs in it, what is mounted below it, its loop devices, its files.

use super::PREFIX;
use super::shell::PROMISED;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long what a busy mount is busy with may take to end, and a killed program.
const BUSY: Duration = Duration::from_secs(5);

/// Takes down the sites in `parent` whose run is dead.
///
/// # Errors
///
/// Where something cannot be taken down, naming it.
pub fn sweep(parent: &Path) -> Result<()> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_site = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    };
    for site in entries.filter(is_site) {
        let is_dead = match File::open(site.join("lock")) {
            Ok(lock) => lock.try_lock().is_ok(),
            // Killed before it had a lock.
            Err(_) => true,
        };
        if is_dead {
            take_down(&site)?;
        }
    }
    Ok(())
}

/// Takes down a site.
///
/// # Errors
///
/// Where something cannot be taken down, naming it.
pub(super) fn take_down(site: &Path) -> Result<()> {
    unmount_all(site);
    take_down_built(site);
    // A `losetup` that outlives its run would attach an image after the search for loop devices: without the images none
    // can begin to, and whichever has one open is ended first.
    remove_images(site);
    end_programs(site);
    detach_all(site);
    if !site.exists() {
        return Ok(());
    }
    if let Some(at) = mounts_below(site).first() {
        return Err(left(site, &format!("{} is still mounted", at.display())));
    }
    until_empty(|| fs::remove_dir_all(site)).map_err(|error| left(site, &error.to_string()))
}

/// Removes a directory, again while that finds it not empty: what this program is about to stop may add a file meanwhile.
fn until_empty(mut remove: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
    let start = Instant::now();
    loop {
        match remove() {
            Err(error)
                if error.kind() == ErrorKind::DirectoryNotEmpty && start.elapsed() < BUSY =>
            {
                sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

/// Ends what runs in a site, and unmounts all that is mounted below it.
///
/// # Errors
///
/// Where something stays mounted, naming it.
pub(super) fn clear(site: &Path) -> Result<()> {
    unmount_all(site);
    match mounts_below(site).first() {
        None => Ok(()),
        Some(at) => Err(Error::failure(format!("{} is still mounted", at.display()))),
    }
}

/// Takes down what was built on members: arrays, mapped devices, pools. What is down already says so, and nobody minds.
fn take_down_built(site: &Path) {
    let commands = fs::read_to_string(site.join(PROMISED)).unwrap_or_default();
    for command in commands.lines() {
        tell("sh", &["-c", command]);
    }
}

fn unmount_all(site: &Path) {
    end_programs(site);
    let mut mounts = mounts_below(site);
    // The last mounted first.
    while let Some(at) = mounts.pop() {
        unmount(&at);
    }
}

fn left(site: &Path, what: &str) -> Error {
    Error::failure(format!(
        "{} is left of an earlier run and cannot be taken down: {what}; unmount it and remove the directory",
        site.display()
    ))
}

/// Removes the images of a site, mounted or not: what has one open keeps it. What cannot be removed is named by whoever
/// removes the site.
fn remove_images(site: &Path) {
    let entries = fs::read_dir(site).into_iter().flatten().flatten().map(|entry| entry.path());
    for image in entries.filter(|path| path.extension().is_some_and(|extension| extension == "img"))
    {
        let _ = fs::remove_file(image);
    }
}

/// Ends the programs whose files or working directory are in the site, and waits up to [`BUSY`] until they are gone: a killed
/// program first finishes what it has asked of the kernel. Nobody but a run's own commands has any business there.
fn end_programs(site: &Path) {
    let start = Instant::now();
    loop {
        let users = programs_in(site);
        if users.is_empty() || start.elapsed() >= BUSY {
            return;
        }
        for id in users {
            tell("kill", &["-KILL", &id.to_string()]);
        }
        sleep(Duration::from_millis(5));
    }
}

/// The programs, other than this one, whose files or working directory are in the site.
fn programs_in(site: &Path) -> Vec<u32> {
    let uses = |path: PathBuf| fs::read_link(path).is_ok_and(|to| to.starts_with(site));
    let is_user = |process: PathBuf| {
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        uses(process.join("cwd")) || files.map(|file| file.path()).any(uses)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_string_lossy().parse().ok());
    ids.filter(|&id| id != std::process::id() && is_user(format!("/proc/{id}").into())).collect()
}

/// Detaches the loop devices over files in a site, and waits until they are gone. The kernel detaches one that somebody has
/// open only when it is closed: programs that look for file systems (mkfs.btrfs, blkid, udev) open every device for a
/// moment. One that is held for longer goes with whoever holds it.
fn detach_all(site: &Path) {
    let start = Instant::now();
    for device in loops_of(site) {
        tell("losetup", &["--detach", &device]);
    }
    while !loops_of(site).is_empty() && start.elapsed() < BUSY {
        sleep(Duration::from_millis(20));
    }
}

/// Unmounts; where it stays busy it is taken out of the tree, and goes with whoever has it open.
fn unmount(at: &Path) {
    let at = at.display().to_string();
    let start = Instant::now();
    while start.elapsed() < BUSY {
        if tell("umount", &[&at]) {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    tell("umount", &["--lazy", &at]);
}

/// The mounts below a directory, in the order in which they were made.
fn mounts_below(site: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    let points = points.map(|at| PathBuf::from(at.replace("\\040", " ")));
    points.filter(|at| at.starts_with(site)).collect()
}

/// The loop devices over files in a directory.
pub(super) fn loops_of(site: &Path) -> Vec<String> {
    let mut devices = Vec::new();
    for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file"));
        if backing.is_ok_and(|backing| Path::new(backing.trim_end()).starts_with(site)) {
            devices.push(format!("/dev/{}", device.file_name().to_string_lossy()));
        }
    }
    devices
}

/// Runs a command that says nothing; whether it did what it should.
fn tell(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that was ended left its directory: a trial that was about to stop had added a file while the others were removed.
    #[test]
    fn what_is_added_meanwhile_goes_too() {
        let parent = tempfile::tempdir().unwrap();
        let site = parent.path().join("site");
        fs::create_dir(&site).unwrap();
        let mut adds = 2;
        until_empty(|| {
            // The trial is faster than the last step of the removal.
            let added = site.join("journal");
            if adds > 0 {
                File::create(&added)?;
            } else {
                fs::remove_file(&added)?;
            }
            adds -= 1;
            fs::remove_dir(&site)
        })
        .unwrap();
        assert!(!site.exists());
        assert_eq!(until_empty(|| fs::remove_dir(&site)).unwrap_err().kind(), ErrorKind::NotFound);
    }

    /// A program with much memory takes a while to end: what it has open is closed last.
    #[test]
    fn a_program_that_is_ended_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let mut program = Command::new("dd")
            .args(["if=/dev/zero", "of=/dev/null", "bs=256M"])
            .current_dir(parent.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(500));
        let running = programs_in(parent.path());
        end_programs(parent.path());
        let left = programs_in(parent.path());
        program.kill().unwrap();
        program.wait().unwrap();
        assert_eq!(running, [program.id()]);
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
    fn a_device_that_somebody_looks_at_is_gone_all_the_same() {
        let parent = tempfile::tempdir().unwrap();
        let site = parent.path().join(format!("{PREFIX}1"));
        fs::create_dir(&site).unwrap();
        let image = site.join("0.img");
        File::create(&image).unwrap().set_len(1 << 20).unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        let Some(made) = made.ok().filter(|made| made.status.success()) else {
            return eprintln!("SKIPPED: this machine makes no loop devices (it takes root)");
        };
        let device = String::from_utf8(made.stdout).unwrap();
        let looks = File::open(device.trim()).unwrap();
        let looker = std::thread::spawn(move || {
            sleep(Duration::from_millis(500));
            drop(looks);
        });
        take_down(&site).unwrap();
        // Asked before the looker is waited for: what counts is what is there when it has been taken down.
        let left = loops_of(&site);
        looker.join().unwrap();
        assert_eq!((left, site.exists()), (Vec::new(), false));
    }
}
