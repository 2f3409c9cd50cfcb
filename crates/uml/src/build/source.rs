//! Where the kernel's source is.

use super::run;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian's packages put the source.
const DEBIAN: &str = "/usr/src";

/// A kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A tree; it is copied, and stays as it is.
    Tree(PathBuf),
    /// A tar file, packed or not.
    Tar(PathBuf),
}

impl Source {
    /// The source at `path`.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn at(path: &Path) -> Result<Self> {
        if path.join("Makefile").is_file() && path.join("arch/um").is_dir() {
            return Ok(Source::Tree(path.into()));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && name.contains(".tar") {
            return Ok(Source::Tar(path.into()));
        }
        Err(Error::new(format!(
            "{} is not a kernel's source; name its tree, or a tar file of it, as linux-source-6.1.tar.xz",
            path.display()
        )))
    }

    /// The source that Debian's package linux-source-6.1 has, or a newer one's.
    ///
    /// # Errors
    ///
    /// Where there is none; the message names the package.
    pub fn installed() -> Result<Self> {
        let mut found: Vec<PathBuf> = fs::read_dir(DEBIAN)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("linux-source-") && name.contains(".tar") && path.is_file()
            })
            .collect();
        found.sort();
        // The kernel that the models are held to, where it is there.
        let held_to = found.iter().position(|path| path.to_string_lossy().contains("-6.1.tar"));
        let found = held_to.map(|place| found.swap_remove(place)).or_else(|| found.pop());
        found.map(Source::Tar).ok_or_else(|| {
            Error::new(format!(
                "there is no kernel source in {DEBIAN}; install the package linux-source-6.1, or name one by \
                 `--source`"
            ))
        })
    }

    /// Unpacks it; gives the tree.
    pub(super) fn unpack(&self, into: &Path) -> Result<PathBuf> {
        fs::create_dir_all(into)?;
        match self {
            Source::Tree(tree) => {
                let mut copy = Command::new("cp");
                copy.args(["-a", "--reflink=auto"]).arg(tree.join(".")).arg(into);
                run(copy)?;
            }
            Source::Tar(tar) => {
                let mut unpack = Command::new("tar");
                unpack.arg("--extract").arg("--file").arg(tar).arg("--directory").arg(into);
                unpack.arg("--strip-components=1");
                run(unpack).map_err(|error| error.context(tar.display()))?;
            }
        }
        Ok(into.into())
    }
}

/// The version that a tree says, as in `6.1.176`.
pub(super) fn version(tree: &Path) -> Result<String> {
    let makefile = tree.join("Makefile");
    let text = fs::read_to_string(&makefile)
        .map_err(|error| Error::from(error).context(makefile.display()))?;
    let value = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
        value.map(|value| value.trim().to_string()).unwrap_or_default()
    };
    let numbers = ["VERSION", "PATCHLEVEL", "SUBLEVEL"].map(value);
    if numbers.iter().any(String::is_empty) {
        return Err(Error::new(format!("{} says no version", makefile.display())));
    }
    Ok(numbers.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_its_version() {
        let tree = tempfile::tempdir().unwrap();
        let text = "# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 176\nEXTRAVERSION =\n";
        fs::write(tree.path().join("Makefile"), text).unwrap();
        assert_eq!(version(tree.path()).unwrap(), "6.1.176");
        fs::write(tree.path().join("Makefile"), "all:\n").unwrap();
        assert!(version(tree.path()).unwrap_err().to_string().contains("says no version"));
        let said = Source::at(tree.path()).unwrap_err().to_string();
        assert!(said.contains("is not a kernel's source"), "{said}");
    }
}
