//! Where the kernel says what there is. Tests put recorded trees in its place.

use std::fs;
use std::path::{Path, PathBuf};

/// The directories that the kernel fills, below one root.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// This machine.
    pub fn here() -> Self {
        System { root: "/".into() }
    }

    /// A machine whose `/sys`, `/proc`, `/dev` and `/run` were recorded below `root`.
    pub fn recorded(root: &Path) -> Self {
        System { root: root.into() }
    }

    /// A path of that machine as it is here: `/sys/block` is `ROOT/sys/block`.
    pub(super) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A file of the kernel's, without the end of its last line; empty where there is none.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default().trim_end().to_string()
    }

    /// The names in a directory, in order; none where there is no such directory.
    pub(super) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.at(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
