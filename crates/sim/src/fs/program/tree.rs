//! tar(1) and rm(1) on a synthetic tree of source files.

use crate::fs::{Files, FsError};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;

/// The parameters of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpec {
    /// Files.
    pub files: u64,
    /// Directories, including the top one.
    pub directories: u64,
    /// Mean depth of a directory below the top one; 1 where all others are in it.
    pub depth: u64,
    /// Mean size of files below 1 MiB, in bytes.
    pub file_bytes: u64,
    /// Files of 1 MiB: archives, pictures and tables among the sources.
    pub large_files: u64,
}

/// The size of a large file.
pub const LARGE_BYTES: u64 = 1 << 20;

/// A directory of a tree, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryId(usize);

/// A tree: its content, in the order of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    members: Vec<Member>,
    /// The depth of each directory; 0 for the top ones.
    depths: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    /// The directory that it is in; `None` for the root of the file system.
    parent: Option<DirectoryId>,
    name: Box<str>,
    /// The size of a file; `None` for a directory.
    bytes: Option<u64>,
}

/// The totals of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeFigures {
    /// Files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// All files together, in bytes.
    pub bytes: u64,
    /// The bytes in files of 1 MiB and more.
    pub large_bytes: u64,
    /// Mean depth of a directory; 0 for the top ones.
    pub depth_mean: f64,
    /// The greatest depth.
    pub depth_max: u32,
}

/// The steps within an octave of sizes.
const SIZE_STEPS: u64 = 8;
/// A file's octave is the number of heads among this many coins: a bell curve 2.8 octaves wide.
const SIZE_COINS: u32 = 32;
/// The mean size of a file whose octaves start at 1, in 1024ths: 1.5 ^ coins × 1.4375 × 1024.
const MEAN_1024THS: u128 = 635_080_000;

impl Tree {
    /// A tree as `spec` says. Files are assigned to the directories round-robin, with the large ones
    /// spread evenly. The logarithms of the other sizes form a bell curve, as those of source trees do.
    pub fn new(spec: &TreeSpec, seed: u64) -> Self {
        let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut below = |bound: u64| random.next_u64() % bound;
        let parents = Self::parents(spec, &mut below);
        let mut tree = Tree::default();
        let mut made: Vec<DirectoryId> = Vec::with_capacity(parents.len());
        let mut number = 0;
        for (index, parent) in (0..).zip(parents) {
            let name = format!("directory{index:05}");
            let here = tree.add_directory(parent.map(|parent: usize| made[parent]), &name);
            made.push(here);
            while number < spec.files && number * spec.directories / spec.files == index {
                let octave = (below(1 << SIZE_COINS)).count_ones();
                let part = u128::from(SIZE_STEPS + below(SIZE_STEPS)) << octave;
                let smallest = u128::from(spec.file_bytes) * 1024 / u128::from(SIZE_STEPS);
                let is_large = (number + 1) * spec.large_files / spec.files
                    > number * spec.large_files / spec.files;
                let bytes =
                    if is_large { LARGE_BYTES } else { (part * smallest / MEAN_1024THS) as u64 };
                tree.add_file(Some(here), &format!("file{number:06}.cxx"), bytes);
                number += 1;
            }
        }
        tree
    }

    /// The parent of each directory. They come depth first: the next one is in the last one, or in one
    /// of its ancestors. Going up from a directory at depth `d` with a probability of `d / (2 d - 1)`
    /// at each step keeps the mean at `d`.
    fn parents(spec: &TreeSpec, below: &mut impl FnMut(u64) -> u64) -> Vec<Option<usize>> {
        let depth = spec.depth.max(1);
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(spec.directories as usize);
        for _ in 0..spec.directories {
            let parent = parents.len().checked_sub(1).map(|mut parent| {
                while below(2 * depth - 1) >= depth - 1
                    && let Some(above) = parents[parent]
                {
                    parent = above;
                }
                parent
            });
            parents.push(parent);
        }
        parents
    }

    /// Adds a directory.
    pub fn add_directory(&mut self, parent: Option<DirectoryId>, name: &str) -> DirectoryId {
        let depth = parent.map_or(0, |parent| self.depths[parent.0] + 1);
        self.members.push(Member { parent, name: name.into(), bytes: None });
        self.depths.push(depth);
        DirectoryId(self.depths.len() - 1)
    }

    /// Adds a file.
    pub fn add_file(&mut self, parent: Option<DirectoryId>, name: &str, bytes: u64) {
        self.members.push(Member { parent, name: name.into(), bytes: Some(bytes) });
    }

    /// Its totals.
    pub fn figures(&self) -> TreeFigures {
        let sizes = || self.members.iter().filter_map(|member| member.bytes);
        let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
        let depths: u64 = self.depths.iter().map(|&depth| u64::from(depth)).sum();
        TreeFigures {
            files: sizes().count() as u64,
            directories: self.depths.len() as u64,
            bytes: sum(&mut sizes()),
            large_bytes: sum(&mut sizes().filter(|&bytes| bytes >= LARGE_BYTES)),
            depth_mean: depths as f64 / self.depths.len().max(1) as f64,
            depth_max: self.depths.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The size of tar(1)'s writes.
const RECORD_BYTES: u64 = 10_240;

/// Where the bytes of an archive come from.
#[expect(async_fn_in_trait, reason = "programs run on one thread; no future has to be Send")]
pub trait Archive {
    /// Waits for the next bytes, this many.
    async fn read(&self, bytes: u64);
}

/// An archive that the program unpacks itself, which costs the processor this much per KiB.
pub struct Unpacking<F> {
    /// The processor.
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
pub async fn extract<F: Files>(
    files: F,
    tree: Arc<Tree>,
    archive: impl Archive,
) -> Result<(), FsError> {
    let mut made: Vec<F::Directory> = Vec::with_capacity(tree.depths.len());
    for Member { parent, name, bytes } in &tree.members {
        let parent = parent.map_or(files.root(), |parent| made[parent.0]);
        let Some(bytes) = *bytes else {
            made.push(files.mkdir(parent, name).await?);
            continue;
        };
        let file = files.create(parent, name).await?;
        let mut offset = 0;
        while offset < bytes {
            let record = RECORD_BYTES.min(bytes - offset);
            archive.read(record).await;
            files.write(&file, offset, record).await?;
            offset += record;
        }
        files.close(file).await;
        files.utimes(parent, name).await?;
    }
    Ok(())
}

/// Removes everything in the root: `rm -r`.
///
/// # Errors
///
/// As the calls.
pub async fn remove_all<F: Files>(files: F) -> Result<(), FsError> {
    // The work left: a directory and its name, listed on the first visit.
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

    const SPEC: TreeSpec =
        TreeSpec { files: 20_000, directories: 2000, depth: 2, file_bytes: 5000, large_files: 100 };

    #[test]
    fn a_tree_is_as_large_as_it_is_said_to_be() {
        let tree = Tree::new(&SPEC, 1);
        assert_eq!(tree, Tree::new(&SPEC, 1));
        let figures = tree.figures();
        assert_eq!((figures.files, figures.directories), (20_000, 2000));
        assert_eq!(figures.large_bytes, 100 * LARGE_BYTES);
        let mean = (figures.bytes - figures.large_bytes) / 19_900;
        assert!((4500..5500).contains(&mean), "{mean}");
        assert_eq!(tree.depths.iter().filter(|&&depth| depth == 0).count(), 1);
    }

    #[test]
    fn a_tree_is_as_deep_as_it_is_said_to_be() {
        for depth in [1, 2, 3, 6] {
            let directories = 100_000;
            let figures =
                Tree::new(&TreeSpec { depth, directories, files: 0, ..SPEC }, 1).figures();
            assert!((figures.depth_mean / depth as f64 - 1.0).abs() < 0.05, "{depth}: {figures:?}");
        }
        let flat = Tree::new(&TreeSpec { depth: 1, ..SPEC }, 1);
        assert_eq!(flat.figures().depth_max, 1);
    }

    /// What an archive has, in its order: files between directories, and some in none.
    #[test]
    fn a_tree_of_ones_own() {
        let mut tree = Tree::default();
        let top = tree.add_directory(None, "top");
        tree.add_file(None, "README", 100);
        let below = tree.add_directory(Some(top), "below");
        tree.add_file(Some(top), "late", 2 * LARGE_BYTES);
        tree.add_file(Some(below), "deep", 0);
        let figures = TreeFigures {
            files: 3,
            directories: 2,
            bytes: 100 + 2 * LARGE_BYTES,
            large_bytes: 2 * LARGE_BYTES,
            depth_mean: 0.5,
            depth_max: 1,
        };
        assert_eq!(tree.figures(), figures);
        assert_eq!(Tree::default().figures(), TreeFigures::default());
    }
}
