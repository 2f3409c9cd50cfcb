//! What layouts are called among others: by what tells them apart.

use super::sorted_words;
use crate::cells::compare;
use crate::judge::{Ranked, Standing, Verdict};
use crate::tables::listed;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

type At = Map<String, Json>;

impl Verdict {
    /// A layout among others, by the factors in which they differ; by its value alone where that is one.
    pub(crate) fn name(&self, at: &Map<String, Json>) -> String {
        let ranked = || self.ranked.iter().map(|ranked| &ranked.at);
        if ranked().any(|other| other == at) {
            return self.name_by(at, &varied(ranked()));
        }
        self.name_by(at, &varied(ranked().chain(self.left_out.iter().map(|out| &out.at))))
    }

    /// Each of these, which are ranked, among all that are, by the choices that make a difference, where all that are
    /// called the same stand the same, else by all choices; those that are called the same once.
    pub(crate) fn names_of_what_matters<'a>(
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
    pub(crate) fn names<'a>(&self, of: impl Iterator<Item = &'a Ranked>) -> Vec<String> {
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

    /// The kinds of layouts, each of one name by what makes a difference.
    pub(crate) fn kinds(&self) -> Kinds<'_> {
        let mut kinds = Kinds { free: &self.any_will_do, mixed: BTreeSet::new() };
        if kinds.free.is_empty() {
            return kinds;
        }
        let mut stands: BTreeMap<String, Standing> = BTreeMap::new();
        for ranked in &self.ranked {
            let name = kinds.name(&ranked.at);
            let is_behind = |of: Standing| of == Standing::Behind;
            match stands.get(&name) {
                Some(of) if is_behind(*of) != is_behind(ranked.standing) => {
                    kinds.mixed.insert(name);
                }
                Some(_) => {}
                None => {
                    stands.insert(name, ranked.standing);
                }
            }
        }
        let left_out = self.left_out.iter().map(|out| kinds.name(&out.at)).collect::<Vec<_>>();
        kinds.mixed.extend(left_out);
        kinds
    }

    /// The values that these have: `64KiB and 512KiB`, or where they are many and no other lies between them, the first and the last.
    pub(crate) fn values<'a>(&self, path: &str, all: impl Iterator<Item = &'a At>) -> String {
        let values = distinct(path, all);
        let ranked = self.ranked.iter().map(|ranked| &ranked.at);
        let tried = distinct(path, ranked.chain(self.left_out.iter().map(|out| &out.at)));
        let shown = |value: &&Json| self.factors.with_unit(path, value);
        match values.as_slice() {
            [first, .., last] if values.len() > NAMED && first.is_number() => {
                let place = |of: &&Json| tried.iter().position(|value| value == of);
                let (from, to) = (place(first), place(last));
                let is_all = from.zip(to).is_some_and(|(from, to)| to - from + 1 == values.len());
                if is_all {
                    return format!("{} to {}", shown(first), shown(last));
                }
            }
            _ => {}
        }
        listed(&values.iter().map(shown).collect::<Vec<_>>())
    }
}

/// As many values as are read in a sentence.
const NAMED: usize = 3;

/// Each value that these have, in order.
fn distinct<'a>(path: &str, all: impl Iterator<Item = &'a At>) -> Vec<&'a Json> {
    let mut values: Vec<&Json> = Vec::new();
    for value in all.filter_map(|at| at.get(path)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.sort_by(|a, b| compare(a, b));
    values
}

/// Kinds of layouts, which are the same in what makes a difference.
pub(crate) struct Kinds<'a> {
    free: &'a [String],
    /// Those of which some are behind the best and others not, or were left out.
    mixed: BTreeSet<String>,
}

impl Kinds<'_> {
    fn name(&self, at: &At) -> String {
        let matters = at.iter().filter(|(path, _)| !self.free.contains(path));
        sorted_words(&matters.map(|(path, value)| (path.clone(), value.clone())).collect())
    }

    /// Whether all of its kind stand to the best as this one does, so that one name does for them.
    pub(crate) fn stands_as_one(&self, at: &At) -> bool {
        self.free.is_empty() || !self.mixed.contains(&self.name(at))
    }
}

/// The factors in which layouts differ.
pub(crate) fn varied<'a>(all: impl Iterator<Item = &'a Map<String, Json>>) -> BTreeSet<&'a String> {
    let all: Vec<&Map<String, Json>> = all.collect();
    let paths: BTreeSet<&String> = all.iter().flat_map(|at| at.keys()).collect();
    let varies = |path: &&String| {
        let mut values = all.iter().map(|at| at.get(*path));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    paths.into_iter().filter(varies).collect()
}
