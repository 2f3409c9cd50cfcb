//! What making a kernel takes of this machine.

use crate::{Error, Result};
use std::path::Path;

/// Programs, and Debian's packages that have them.
const PROGRAMS: [(&str, &str); 9] = [
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("patch", "patch"),
];

/// Whether all of it is there.
///
/// # Errors
///
/// Where something is not; the message names all packages to install.
pub fn check() -> Result<()> {
    let path = std::env::var("PATH").unwrap_or_default();
    let is_there = |program: &str| {
        path.split(':').any(|directory| Path::new(directory).join(program).is_file())
    };
    let lacking: Vec<_> = PROGRAMS.iter().filter(|(program, _)| !is_there(program)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let programs: Vec<&str> = lacking.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = lacking.iter().map(|(_, package)| *package).collect();
    Err(Error::new(format!(
        "making a kernel takes {}; install {}",
        programs.join(", "),
        packages.join(" ")
    )))
}
