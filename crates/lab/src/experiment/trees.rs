//! What the workloads of an experiment unpack, each tree read once.

use super::file::Experiment;
use super::keys::Value;
use super::work::Work;
use crate::catalogue;
use crate::error::{Error, Result};
use sim::fs::program::tree::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The keys of a workload that describe a tree where none is named.
const FIGURES: [&str; 4] = ["files", "directories", "size", "large"];

/// The trees that an experiment names.
pub(super) struct Trees<'a> {
    experiment: &'a Experiment,
    known: BTreeMap<String, Arc<Tree>>,
    /// By name, the digest of each file.
    pub(super) digests: BTreeMap<String, String>,
    /// What was taken for something else.
    pub(super) warnings: Vec<String>,
}

impl<'a> Trees<'a> {
    /// None yet.
    pub(super) fn new(experiment: &'a Experiment) -> Self {
        let (known, digests) = (BTreeMap::new(), BTreeMap::new());
        Trees { experiment, known, digests, warnings: Vec::new() }
    }

    /// The workload with the tree that `values` name, if they name one.
    pub(super) fn give(
        &mut self,
        mut work: Work,
        values: &BTreeMap<String, Value>,
    ) -> Result<Work> {
        let path = format!("workload.{}.tree", work.name);
        let Some(Value::Text(name)) = values.get(&path) else { return Ok(work) };
        for figure in FIGURES {
            let other = format!("workload.{}.{figure}", work.name);
            if self.experiment.settings().contains_key(&other) {
                return Err(Error::input(format!(
                    "`{other}` and `{path}` both say what is unpacked; take one of them out"
                )));
            }
        }
        if !self.known.contains_key(name) {
            let tree = catalogue::tree(name).map_err(|error| error.context(format!("`{path}`")))?;
            let origin = &self.experiment.origin;
            let told = tree.notes.iter().map(|note| format!("{origin}: `{path}` = {name}: {note}"));
            self.warnings.extend(told);
            self.digests.insert(tree.name, tree.digest);
            self.known.insert(name.clone(), tree.tree);
        }
        work.files.tree = Some(Arc::clone(&self.known[name]));
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;

    fn plan(keys: &str) -> Result<Plan> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"netbsd2\"\n[workload.w]\nprogram = \
             \"untar\"\n{keys}"
        );
        Plan::new(&Experiment::parse("some.toml", &text)?)
    }

    #[test]
    fn a_tree_is_varied_by_name_and_kept_with_its_digest() {
        let plan = plan("tree = [\"openoffice-1.1\", \"freebsd-2.2\"]").unwrap();
        let trees = plan.trials.iter().map(|trial| trial.work.files.tree.as_ref().unwrap());
        let mut files: Vec<u64> = trees.map(|tree| tree.figures().files).collect();
        files.sort_unstable();
        assert_eq!(files, [15_556, 60_000]);
        let names: Vec<&str> = plan.trees.keys().map(String::as_str).collect();
        assert_eq!((names, plan.warnings.len()), (vec!["freebsd-2.2-src", "openoffice-1.1"], 0));
    }

    #[test]
    fn a_tree_that_is_not_one_says_so() {
        let error = |keys: &str| plan(keys).unwrap_err().to_string();
        let twice = error("tree = \"openoffice-1.1\"\nlarge = \"1MiB\"");
        assert_eq!(
            twice,
            "some.toml: `workload.w.large` and `workload.w.tree` both say what is unpacked; take one of \
             them out"
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
        let figures = plan.trials[0].work.files.tree.as_ref().unwrap().figures();
        assert_eq!((figures.files, figures.directories, figures.bytes), (7, 3, 5003));
        assert_eq!(plan.warnings.len(), 3);
        assert!(plan.warnings[0].contains("symbolic links are taken as empty files"));
    }
}
