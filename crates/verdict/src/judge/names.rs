//! What layouts are called among others: by what tells them apart.

use super::{Ranked, Verdict};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

impl Verdict {
    /// A layout among others, by the factors in which they differ; by its value alone where that is one.
    pub(super) fn name(&self, at: &Map<String, Json>) -> String {
        let ranked = || self.ranked.iter().map(|ranked| &ranked.at);
        if ranked().any(|other| other == at) {
            return self.name_by(at, &varied(ranked()));
        }
        self.name_by(at, &varied(ranked().chain(self.left_out.iter().map(|out| &out.at))))
    }

    /// Each of these, which are ranked, among all that are, by the choices that make a difference, where all that are
    /// called the same stand the same, else by all choices; those that are called the same once.
    pub(super) fn names_of_what_matters<'a>(
        &self,
        of: impl Iterator<Item = &'a Ranked>,
    ) -> Vec<String> {
        let all = varied(self.ranked.iter().map(|ranked| &ranked.at));
        let mut what_matters = all.clone();
        what_matters.retain(|path| !self.any_will_do.contains(path));
        let kinds = self.kinds();
        let mut names: Vec<String> = Vec::new();
        for ranked in of {
            let varied = if kinds.stands_as_one(&ranked.at) { &what_matters } else { &all };
            let name = self.name_by(&ranked.at, varied);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Each of these, which are ranked, among all that are.
    pub(super) fn names<'a>(&self, of: impl Iterator<Item = &'a Ranked>) -> Vec<String> {
        let varied = varied(self.ranked.iter().map(|ranked| &ranked.at));
        of.map(|ranked| self.name_by(&ranked.at, &varied)).collect()
    }

    fn name_by(&self, at: &Map<String, Json>, varied: &BTreeSet<&String>) -> String {
        let varied: Vec<&String> = at.keys().filter(|path| varied.contains(path)).collect();
        match varied.as_slice() {
            [path] => self.factors.with_unit(path, &at[path.as_str()]),
            _ => {
                let value = |path: &&String| ((*path).clone(), at[path.as_str()].clone());
                self.factors.label(&varied.iter().map(value).collect())
            }
        }
    }
}

/// The factors in which layouts differ.
pub(super) fn varied<'a>(all: impl Iterator<Item = &'a Map<String, Json>>) -> BTreeSet<&'a String> {
    let all: Vec<&Map<String, Json>> = all.collect();
    let paths: BTreeSet<&String> = all.iter().flat_map(|at| at.keys()).collect();
    let varies = |path: &&String| {
        let mut values = all.iter().map(|at| at.get(*path));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    paths.into_iter().filter(varies).collect()
}
