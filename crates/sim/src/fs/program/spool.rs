//! A news spool (A. Rosen, 1999): articles of three sizes in many directories, made one directory after
//! the other, and readers that open them at random.
//!
//! ```text
//! 1,200,000 files in 390 directories     article n is in directory n × 390 / 1,200,000
//! sizes in rotation                      930, 3030, 6102, 930, …
//! 30 readers                             each its own list of 1000 random articles
//! ```

use super::read_to_end;
use crate::fs::filesystem::Ino;
use crate::fs::{FileSystem, Files, FsError};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The sizes of articles in bytes, each as frequent as the others.
const SIZES_BYTES: [u64; 3] = [930, 3030, 6102];
/// The size of a reader's reads.
const READ_BYTES: u64 = 8192;
/// The number of the first article, so that all numbers are of seven digits.
const FIRST_NUMBER: u64 = 1_000_000;

/// The parameters of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolSpec {
    /// Articles.
    pub files: u64,
    /// Directories; at most as many as articles.
    pub directories: u64,
    /// Concurrent readers.
    pub readers: u64,
    /// Articles that each reader reads; no article is read twice.
    pub files_per_reader: u64,
    /// Whether each reader reads its articles in the order in which they were made, not in random
    /// order.
    pub sorted: bool,
}

impl SpoolSpec {
    fn directory_of(&self, article: u64) -> usize {
        (u128::from(article) * u128::from(self.directories) / u128::from(self.files)) as usize
    }

    /// The articles of each reader, in order. The lists depend on `seed` alone, so that they are the
    /// same on every file system.
    pub fn lists(&self, seed: u64) -> Vec<Vec<u64>> {
        let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut taken = BTreeSet::new();
        let mut article = || loop {
            let article = (u128::from(random.next_u64()) * u128::from(self.files)) >> 64;
            if taken.insert(article as u64) {
                return article as u64;
            }
        };
        let mut list = || {
            let mut list: Vec<u64> = (0..self.files_per_reader).map(|_| article()).collect();
            if self.sorted {
                list.sort_unstable();
            }
            list
        };
        (0..self.readers).map(|_| list()).collect()
    }
}

fn name(article: u64) -> String {
    (FIRST_NUMBER + article).to_string()
}

fn directory_name(directory: usize) -> String {
    format!("group{directory}")
}

/// Makes all articles, through every bitmap, inode and directory block, but in no time. Returns the
/// directories.
///
/// # Errors
///
/// Where the file system is too small.
pub fn fill(file_system: &mut dyn FileSystem, spec: &SpoolSpec) -> Result<Vec<Ino>, FsError> {
    let mut directories = Vec::with_capacity(spec.directories as usize);
    let root = file_system.root();
    for article in 0..spec.files {
        let directory = spec.directory_of(article);
        if directory == directories.len() {
            directories.push(file_system.make_directory(root, &directory_name(directory))?);
        }
        let ino = file_system.create(directories[directory], &name(article))?;
        file_system.write(ino, 0, SIZES_BYTES[(article % SIZES_BYTES.len() as u64) as usize])?;
        // Nobody takes these steps, and together they would need much memory.
        file_system.settle();
    }
    Ok(directories)
}

/// Makes all articles by the calls of a program: the same names, places and sizes as [`fill`].
///
/// # Errors
///
/// As the calls.
pub async fn write<F: Files>(files: F, spec: &SpoolSpec) -> Result<(), FsError> {
    let mut directories = Vec::with_capacity(spec.directories as usize);
    for article in 0..spec.files {
        let directory = spec.directory_of(article);
        if directory == directories.len() {
            directories.push(files.mkdir(files.root(), &directory_name(directory)).await?);
        }
        let file = files.create(directories[directory], &name(article)).await?;
        files.write(&file, 0, SIZES_BYTES[(article % SIZES_BYTES.len() as u64) as usize]).await?;
        files.close(file).await;
    }
    Ok(())
}

/// Opens the directories that [`write()`] has made.
///
/// # Errors
///
/// As the calls.
pub async fn open_directories<F: Files>(
    files: F,
    spec: &SpoolSpec,
) -> Result<Vec<F::Directory>, FsError> {
    let mut directories = Vec::with_capacity(spec.directories as usize);
    for directory in 0..spec.directories as usize {
        directories.push(files.open_directory(files.root(), &directory_name(directory)).await?);
    }
    Ok(directories)
}

/// Reads the articles of one list, one after the other.
///
/// # Errors
///
/// As the calls.
pub async fn read<F: Files>(
    files: F,
    spec: SpoolSpec,
    directories: Rc<[F::Directory]>,
    list: Vec<u64>,
) -> Result<(), FsError> {
    for article in list {
        let directory = directories[spec.directory_of(article)];
        let file = files.open(directory, &name(article)).await?;
        read_to_end(&files, &file, READ_BYTES).await?;
        files.close(file).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_fill_the_directories_evenly_and_lists_never_meet() {
        let spec = SpoolSpec {
            files: 1000,
            directories: 7,
            readers: 5,
            files_per_reader: 100,
            sorted: false,
        };
        let mut counts = [0; 7];
        (0..1000).for_each(|article| counts[spec.directory_of(article)] += 1);
        assert!(counts.iter().all(|count| (142..=143).contains(count)), "{counts:?}");
        let lists = spec.lists(1);
        assert_eq!(lists, spec.lists(1));
        assert_ne!(lists, spec.lists(2));
        let all: BTreeSet<u64> = lists.iter().flatten().copied().collect();
        assert_eq!((all.len(), lists.len()), (500, 5));
        assert!(all.iter().all(|&article| article < 1000));
        let sorted = SpoolSpec { sorted: true, ..spec }.lists(1);
        assert!(!lists[0].is_sorted() && sorted[0].is_sorted());
        assert_eq!(sorted[0], {
            let mut first = lists[0].clone();
            first.sort_unstable();
            first
        });
    }
}
