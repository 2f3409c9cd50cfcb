//! What untar and fsck unpack: a tree that is named, each read once, or one by figures.

use crate::catalogue;
use crate::error::{Error, Result};
use crate::keys::{SIZE, SIZE_OR_ZERO, Section, Takes, keys, load};
use block::SECTOR_BYTES;
use block::units::format_bytes;
use sim::fs::program::tree::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

keys! {
    /// The keys of a tree.
    pub(super) struct TreeKeys {
        /// Tree to unpack: a name from trees/, a file of figures like those, or a file with what `tar tvf` or `find -printf
        /// '%y %s %p\n'` prints [default: the four keys below]
        tree: Option<String> = load("tree", Takes::Text),
        /// Number of files
        files: u64 = load("files", Takes::Count(1, 10_000_000)).default("10000"),
        /// Number of directories
        directories: u64 = load("directories", Takes::Count(1, 10_000_000)).default("1000"),
        /// Size of all files together
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
        /// Part of `size`, at most all of it, that is in files of 1 MiB; the others are small, as sources are
        large_sectors: u64 = load("large", SIZE_OR_ZERO).default("0"),
    }
}

/// The trees that an experiment names.
#[derive(Debug)]
pub struct Trees {
    /// Where the experiment is from, for warnings.
    origin: String,
    known: BTreeMap<String, Arc<Tree>>,
    /// By name, the digest of each file.
    pub digests: BTreeMap<String, String>,
    /// What was taken for something else.
    pub warnings: Vec<String>,
}

impl Trees {
    /// None yet; `origin` is the experiment's, for warnings.
    pub fn new(origin: &str) -> Self {
        let (known, digests) = (BTreeMap::new(), BTreeMap::new());
        Trees { origin: origin.into(), known, digests, warnings: Vec::new() }
    }

    /// The tree that the keys in `section` say.
    ///
    /// # Errors
    ///
    /// Where it is not known, or both named and described.
    pub(super) fn read(&mut self, section: &Section<'_>) -> Result<Arc<Tree>> {
        let TreeKeys { tree, files, directories, size_sectors, large_sectors } =
            TreeKeys::read(section);
        let Some(name) = tree else {
            check_large(section, size_sectors, large_sectors)?;
            let [bytes, large_bytes] = [size_sectors, large_sectors].map(|s| s * SECTOR_BYTES);
            return Ok(Arc::new(catalogue::Tree::of_keys(files, directories, bytes, large_bytes)));
        };
        let path = section.path("tree");
        let figures = TreeKeys::KEYS.iter().map(|key| key.name).filter(|&key| key != "tree");
        if let Some(figure) = figures.into_iter().find(|figure| section.sets(figure)) {
            return Err(Error::input(format!(
                "`{}` and `{path}` both choose the tree; remove one of them",
                section.path(figure)
            )));
        }
        if !self.known.contains_key(&name) {
            let tree =
                catalogue::tree(&name).map_err(|error| error.context(format!("`{path}`")))?;
            let origin = &self.origin;
            let told = tree.notes.iter().map(|note| format!("{origin}: `{path}` = {name}: {note}"));
            self.warnings.extend(told);
            self.digests.insert(tree.name, tree.digest);
            self.known.insert(name.clone(), tree.tree);
        }
        Ok(Arc::clone(&self.known[&name]))
    }
}

/// Whether large files are a part of all files.
fn check_large(section: &Section<'_>, size_sectors: u64, large_sectors: u64) -> Result<()> {
    if large_sectors <= size_sectors {
        return Ok(());
    }
    let [size, large] = [size_sectors, large_sectors].map(|s| format_bytes(s * SECTOR_BYTES));
    let [of, part] = ["size", "large"].map(|key| section.path(key));
    Err(Error::input(format!(
        "`{part}` = {large} is more than `{of}` = {size}, of which it is a part; raise `{of}`, or give less"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};
    use crate::keys::Value;

    fn plan(keys: &str) -> Result<Plan> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"netbsd2\"\n[workload.w]\nkind = \
             \"untar\"\n{keys}"
        );
        Plan::new(&Experiment::parse("some.toml", &text)?)
    }

    /// The tree that is called `name`, or that the file of this path lists.
    fn read(name: &str) -> Arc<Tree> {
        let values = BTreeMap::from([("workload.w.tree".into(), Value::Text(name.into()))]);
        Trees::new("some.toml").read(&Section::new(&values, "workload.w")).unwrap()
    }

    #[test]
    fn a_tree_is_varied_by_name_and_kept_with_its_digest() {
        let files = ["openoffice-1.1", "freebsd-2.2"].map(|name| read(name).figures().files);
        assert_eq!(files, [60_000, 15_556]);
        let plan = plan("tree = [\"openoffice-1.1\", \"freebsd-2.2\"]").unwrap();
        let names: Vec<&str> = plan.trees.keys().map(String::as_str).collect();
        assert_eq!((names, plan.warnings.len()), (vec!["freebsd-2.2-src", "openoffice-1.1"], 0));
    }

    #[test]
    fn large_files_are_a_part_of_all() {
        let said = plan("large = \"1GiB\"").map(|_| ()).unwrap_err().to_string();
        assert!(
            said.contains("`workload.w.large` = 1GiB is more than `workload.w.size` = 256MiB"),
            "{said}"
        );
        assert!(plan("large = \"256MiB\"").is_ok());
    }

    #[test]
    fn a_tree_that_is_not_one_says_so() {
        let error = |keys: &str| plan(keys).unwrap_err().to_string();
        let twice = error("tree = \"openoffice-1.1\"\nlarge = \"1MiB\"");
        assert_eq!(
            twice,
            "some.toml: `workload.w.large` and `workload.w.tree` both choose the tree; remove one of them"
        );
        let unknown = error("tree = \"openofice\"");
        assert!(unknown.contains("`workload.w.tree`: no tree is called `openofice`; did you mean"));
        assert!(error("tree = \"./none.txt\"").contains("cannot read tree file ./none.txt"));
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(error(&format!("tree = \"{manifest}\"")).contains("Cargo.toml:"));
    }

    #[test]
    fn what_a_list_has_is_unpacked_and_what_was_passed_over_said() {
        let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/listing/gnutar");
        let plan = plan(&format!("tree = \"{list}\"")).unwrap();
        let tree = read(list);
        let figures = tree.figures();
        assert_eq!((figures.files, figures.directories, figures.bytes), (7, 3, 5003));
        assert_eq!(plan.warnings.len(), 3);
        assert!(plan.warnings[0].contains("symbolic links are taken as empty files"));
    }
}
