//! What this machine has not that a trial takes, found before anything is set up.

use super::Need;
use crate::error::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether all of it is there.
///
/// # Errors
///
/// Where something is not; the message names the package that has it.
pub(super) fn check(needs: &[Need]) -> Result<()> {
    needs.iter().try_for_each(|need| match need {
        Need::Program(program, package) => check_program(program, package),
        Need::Driver(path, _) if Path::new(path).exists() => Ok(()),
        Need::Driver(path, driver) => {
            load(driver);
            if Path::new(path).exists() {
                return Ok(());
            }
            Err(Error::input(format!(
                "this machine's kernel has no {driver} ({path} is not there); take another kernel, or another \
                 `volume.level`"
            )))
        }
    })
}

/// Whether a program is there.
///
/// # Errors
///
/// Where it is not.
pub(super) fn check_program(program: &str, package: &str) -> Result<()> {
    // mkfs lives where only root looks.
    let path = std::env::var("PATH").unwrap_or_default();
    let is_there = path
        .split(':')
        .chain(["/usr/sbin", "/sbin"])
        .any(|directory| !directory.is_empty() && Path::new(directory).join(program).is_file());
    if is_there {
        return Ok(());
    }
    Err(Error::input(format!("there is no {program} here; install the package {package}")))
}

/// Whether the kernel can mount such a file system.
///
/// # Errors
///
/// Where it cannot.
pub(super) fn check_file_system(kind: &str) -> Result<()> {
    let knows = || {
        let text = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        text.lines().any(|line| line.split_whitespace().last() == Some(kind))
    };
    if !knows() {
        load(kind);
    }
    if knows() {
        return Ok(());
    }
    Err(Error::input(format!(
        "this machine's kernel cannot mount {kind}; take another `fs.kind`, or another kernel"
    )))
}

/// Loads a module, if it is one.
fn load(module: &str) {
    let quiet = Command::new("modprobe")
        .args(["--quiet", module])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Whether that helped is seen by what is there then.
    let _ = quiet;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named_with_its_package() {
        let said =
            check(&[Need::Program("no-such-mkfs", "no-such-progs")]).unwrap_err().to_string();
        assert_eq!(said, "there is no no-such-mkfs here; install the package no-such-progs");
        let driver = check(&[Need::Driver("/proc/no-such", "no-such")]).unwrap_err().to_string();
        assert!(driver.contains("kernel has no no-such"), "{driver}");
        assert!(check(&[Need::Program("sh", "dash"), Need::Driver("/proc/self", "proc")]).is_ok());
        assert!(check_file_system("no-such-fs").is_err());
    }
}
