//! tar(1) and rm(1) over a described tree of source files.

use crate::fs::{Files, FsError};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A tree in figures, from which one of its kind is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpec {
    /// Files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// The mean size of a file that is not large, in bytes.
    pub file_bytes: u64,
    /// Of the files, those of 1 MiB: archives, pictures and tables among the sources.
    pub large_files: u64,
}

/// The size of a large file.
pub const LARGE_BYTES: u64 = 1 << 20;

/// A tree: its directories in the order in which an archive has them, each with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    directories: Vec<TreeDirectory>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeDirectory {
    /// The directory that it is in; the first is in the root.
    parent: Option<usize>,
    name: String,
    /// Names and sizes.
    files: Vec<(String, u64)>,
}

/// The parts of an octave of sizes that are drawn from.
const SIZE_STEPS: u64 = 8;
/// A file's octave is the number of heads among so many coins: a bell curve 2.8 octaves wide.
const SIZE_COINS: u32 = 32;
/// The mean size of a file whose octaves start at 1, in 1024ths: 1.5 ^ coins × 1.4375 × 1024.
const MEAN_1024THS: u128 = 635_080_000;

impl Tree {
    /// A tree as `spec` says. Files are dealt round the directories, and the large ones evenly among
    /// them; the logarithms of the others' sizes make a bell curve, as those of source trees do.
    pub fn new(spec: &TreeSpec, seed: u64) -> Self {
        let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut below = |bound: u64| random.next_u64() % bound;
        let mut directories: Vec<TreeDirectory> = Vec::new();
        // Depth first: the next directory is in the last one, or in one of those around it.
        for number in 0..spec.directories {
            let last = directories.len().checked_sub(1);
            let parent = last.map(|mut parent| {
                while below(3) > 0
                    && let Some(above) = directories[parent].parent
                {
                    parent = above;
                }
                parent
            });
            let name = format!("directory{number:05}");
            directories.push(TreeDirectory { parent, name, files: Vec::new() });
        }
        for number in 0..spec.files {
            let directory = (number * spec.directories / spec.files) as usize;
            let octave = (below(1 << SIZE_COINS)).count_ones();
            let part = u128::from(SIZE_STEPS + below(SIZE_STEPS)) << octave;
            let smallest = u128::from(spec.file_bytes) * 1024 / u128::from(SIZE_STEPS);
            let is_large = (number + 1) * spec.large_files / spec.files
                > number * spec.large_files / spec.files;
            let bytes =
                if is_large { LARGE_BYTES } else { (part * smallest / MEAN_1024THS) as u64 };
            directories[directory].files.push((format!("file{number:06}.cxx"), bytes));
        }
        Tree { directories }
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.directories.iter().flat_map(|d| d.files.iter().map(|&(_, bytes)| bytes)).sum()
    }
}

/// What tar(1) writes at a time.
const RECORD_BYTES: u64 = 10_240;

/// Where the bytes of an archive come from.
#[expect(async_fn_in_trait, reason = "programs run on one thread; no future has to be Send")]
pub trait Archive {
    /// Waits for the next so many bytes.
    async fn read(&self, bytes: u64);
}

/// An archive that the program unpacks itself, which costs the processor so much for each KiB.
pub struct Unpacking<F> {
    /// Whose processor.
    pub files: F,
    /// The work, in ns.
    pub work_ns_per_kib: u64,
}

impl<F: Files> Archive for Unpacking<F> {
    async fn read(&self, bytes: u64) {
        self.files.compute(bytes * self.work_ns_per_kib / 1024).await;
    }
}

/// Extracts a tree from an archive.
///
/// # Errors
///
/// As the calls.
pub async fn extract<F: Files>(files: F, tree: Tree, archive: impl Archive) -> Result<(), FsError> {
    let mut made: Vec<F::Directory> = Vec::with_capacity(tree.directories.len());
    for directory in &tree.directories {
        let parent = directory.parent.map_or(files.root(), |parent| made[parent]);
        let here = files.mkdir(parent, &directory.name).await?;
        made.push(here);
        for (name, bytes) in &directory.files {
            let file = files.create(here, name).await?;
            let mut offset = 0;
            while offset < *bytes {
                let record = RECORD_BYTES.min(bytes - offset);
                archive.read(record).await;
                files.write(&file, offset, record).await?;
                offset += record;
            }
            files.close(file).await;
            files.utimes(here, name).await?;
        }
    }
    Ok(())
}

/// Removes all that is in the root: `rm -r`.
///
/// # Errors
///
/// As the calls.
pub async fn remove_all<F: Files>(files: F) -> Result<(), FsError> {
    // What is still to be done: a directory and its name, listed when it is first come to.
    let mut open: Vec<(F::Directory, std::rc::Rc<str>, Vec<crate::fs::Entry>)> = Vec::new();
    let mut listed = files.readdir(files.root()).await?;
    listed.reverse();
    open.push((files.root(), "".into(), listed));
    while let Some((here, _, entries)) = open.last_mut() {
        let here = *here;
        let Some(entry) = entries.pop() else {
            let (_, name, _) = open.pop().expect("it was there");
            if let Some((parent, ..)) = open.last() {
                files.rmdir(*parent, &name).await?;
            }
            continue;
        };
        if entry.is_directory {
            let below = files.open_directory(here, &entry.name).await?;
            let mut listed = files.readdir(below).await?;
            listed.reverse();
            open.push((below, entry.name, listed));
        } else {
            files.stat(here, &entry.name).await?;
            files.unlink(here, &entry.name).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_as_large_as_it_is_said_to_be() {
        let spec =
            TreeSpec { files: 20_000, directories: 2000, file_bytes: 5000, large_files: 100 };
        let tree = Tree::new(&spec, 1);
        assert_eq!(tree, Tree::new(&spec, 1));
        assert_eq!(tree.directories.len(), 2000);
        let files = || tree.directories.iter().flat_map(|directory| &directory.files);
        assert_eq!(files().count(), 20_000);
        assert_eq!(files().filter(|(_, bytes)| *bytes == LARGE_BYTES).count(), 100);
        let mean = (tree.bytes() - 100 * LARGE_BYTES) / 19_900;
        assert!((4500..5500).contains(&mean), "{mean}");
        let in_root = tree.directories.iter().filter(|directory| directory.parent.is_none());
        assert_eq!(in_root.count(), 1);
    }
}
