//! A tree of the catalogue: what a program unpacks, in figures, or listed name by name.

use super::declare::figures;
use super::figure::{Shape, figure};
use super::sheet::{Class, Sheet, digest};
use crate::error::{Error, Result};
use crate::formats::listing;
use sim::fs::program::tree::{self, TreeSpec};
use std::sync::Arc;

figures! {
    /// The figures of a tree.
    pub(super) struct TreeFigures {
        /// files
        files: u64 = figure("files", "", Shape::Count(1..=10_000_000)),
        /// directories, including the top one
        directories: u64 = figure("directories", "", Shape::Count(1..=10_000_000)),
        /// mean depth of a directory below the top; 1 if all are in the top directory
        depth: u64 = figure("depth", "", Shape::Count(1..=64)).default("2"),
        /// size of all files
        bytes: u64 = figure("bytes", "bytes", Shape::Bytes),
        /// part of `bytes` in files of 1 MiB; the other sizes are log-normal
        large_bytes: u64 = figure("large_bytes", "bytes", Shape::Bytes).default("0"),
    }
}

/// Trees are of one class.
pub(super) const CLASS: Class = ("tree", &[TreeFigures::FIGURES]);

/// A tree that is the same in every trial.
const SEED: u64 = 1;

/// A tree of the catalogue, or of a file.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// What is in it.
    pub tree: Arc<tree::Tree>,
    /// What was taken for something else, for people.
    pub notes: Vec<String>,
    pub(super) sheet: Option<Sheet>,
}

impl Tree {
    /// Reads a tree from the text of its file: figures.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, &[CLASS])?;
        let TreeFigures { files, directories, depth, bytes, large_bytes } =
            TreeFigures::read(&sheet);
        if large_bytes > bytes {
            return Err(Error::input(format!(
                "{label}: `figures.large_bytes` of {large_bytes} is more than the {bytes} of \
                 `figures.bytes`, of which it is a part; take less"
            )));
        }
        let spec = spec(files, directories, depth, bytes, large_bytes);
        Ok(Tree {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            tree: Arc::new(tree::Tree::new(&spec, SEED)),
            notes: Vec::new(),
            sheet: Some(sheet),
        })
    }

    /// Reads a tree from what tar(1) or find(1) lists.
    pub(super) fn read_list(name: &str, text: &str) -> Result<Self> {
        let listed = listing::parse(name, text)?;
        Ok(Tree {
            name: name.into(),
            title: "as listed".into(),
            digest: digest(text),
            tree: Arc::new(listed.tree),
            notes: listed.notes,
            sheet: None,
        })
    }

    /// The tree that the keys of a workload describe.
    pub(crate) fn of_keys(
        files: u64,
        directories: u64,
        bytes: u64,
        large_bytes: u64,
    ) -> tree::Tree {
        tree::Tree::new(&spec(files, directories, 2, bytes, large_bytes), SEED)
    }
}

fn spec(files: u64, directories: u64, depth: u64, bytes: u64, large_bytes: u64) -> TreeSpec {
    let large_files = (large_bytes / tree::LARGE_BYTES).min(files);
    let small_bytes = bytes.saturating_sub(large_files * tree::LARGE_BYTES);
    TreeSpec {
        files,
        directories,
        depth,
        file_bytes: small_bytes / (files - large_files).max(1),
        large_files,
    }
}
