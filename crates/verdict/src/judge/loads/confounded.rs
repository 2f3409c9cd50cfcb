//! Loads and conditions that differ wherever layouts do: then nothing tells what a layout did from what its load did.

use crate::judge::asked::aim::{EVERY_WORKLOAD, HOLDS_NOWHERE};
use crate::judge::layouts::{Layout, Layouts};
use crate::judge::trials::unsteady;
use crate::judge::{Verdict, Wishes};
use crate::tables::listed;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use store::Manifest;
use store::record::{plain, short_key};

impl Verdict {
    /// What to do, in one sentence.
    pub(crate) fn answered(
        &self,
        layouts: &Layouts,
        manifest: &Manifest,
        wishes: &Wishes,
        holds_nowhere: bool,
    ) -> String {
        if holds_nowhere {
            return HOLDS_NOWHERE.into();
        }
        let answer = answer(self, layouts);
        let answer = answer.unwrap_or_else(|| crate::judge::answer::answer(self, manifest, wishes));
        unsteady::answer(self, answer, &layouts.silent)
    }
}

/// Why no layout can be compared with another, where that is why none is ranked.
pub(crate) fn answer(verdict: &Verdict, layouts: &Layouts) -> Option<String> {
    // What a run has not come to yet was asked for, and needs no advice.
    if verdict.trials.is_some_and(|trials| trials.missing() > 0) {
        return None;
    }
    let is_alone = verdict.situations.iter().all(|situation| situation.layouts < 2);
    let is_left = verdict.left_out.iter().all(|out| out.value.is_none());
    if !verdict.ranked.is_empty()
        || verdict.objective != EVERY_WORKLOAD
        || layouts.layouts.len() < 2
        || !is_alone
        || !is_left
    {
        return None;
    }
    let paths: BTreeSet<&String> =
        layouts.quantities.iter().flat_map(|quantity| quantity.given.keys()).collect();
    let names: Vec<String> = paths
        .into_iter()
        .filter(|path| is_apart(layouts, path))
        .map(|path| short_key(path).to_string())
        .collect();
    let choices = varied(layouts);
    (!names.is_empty() && !choices.is_empty()).then(|| {
        let (names, choices) = (listed(&names), listed(&choices));
        format!(
            "No layout can be compared with another: {names} differs together with {choices}. Measure each {choices} with the same \
             {names}."
        )
    })
}

/// Whether no two layouts have a value of this load or condition in common.
fn is_apart(layouts: &Layouts, path: &str) -> bool {
    let all: Vec<BTreeSet<String>> =
        layouts.layouts.iter().map(|layout| values(layouts, layout, path)).collect();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    all.iter().flatten().all(|value| seen.insert(value))
}

/// The values of a load or condition that a layout was measured under.
fn values(layouts: &Layouts, layout: &Layout, path: &str) -> BTreeSet<String> {
    let quantities = (0..).zip(&layouts.quantities);
    let own = quantities.filter(|(place, _)| layout.samples.get(*place).is_some());
    own.filter_map(|(_, quantity)| quantity.given.get(path).map(plain)).collect()
}

/// The factors of which layouts have different values.
fn varied(layouts: &Layouts) -> Vec<String> {
    let mut paths: Vec<&String> = Vec::new();
    for path in layouts.layouts.iter().flat_map(|layout| layout.at.keys()) {
        let value = |layout: &Layout| {
            layout.at.get(path).map_or_else(String::new, |value: &Json| plain(value))
        };
        let values: BTreeSet<String> = layouts.layouts.iter().map(value).collect();
        if values.len() > 1 && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths.into_iter().map(|path| short_key(path).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::{Happened, Trials};

    const DEPTHS: &str = "[volume]\ndrives = '2xwd740gd'\nlevel = 'stripe'\ninterleave = [8, 128]\n\
                          [workload.r]\nkind = 'random'\ndepth = [1, 4]\ncount = 100\n";

    #[test]
    fn a_load_that_differs_with_the_layout_is_named() {
        let (manifest, mut records) = modelled(DEPTHS);
        records.retain(|of| {
            let is_small = of.at["volume.interleave"] == 8;
            is_small == (of.at["workload.r.depth"] == 1)
        });
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        assert_eq!(
            verdict.answer,
            "No layout can be compared with another: depth differs together with interleave. Measure each interleave \
             with the same depth."
        );
    }

    /// What a run has not come to yet is no mistake of whoever wrote it.
    #[test]
    fn of_an_unfinished_run_nothing_is_said() {
        let (manifest, mut records) = modelled(DEPTHS);
        records.retain(|of| {
            let is_small = of.at["volume.interleave"] == 8;
            is_small == (of.at["workload.r.depth"] == 1)
        });
        let answer = |planned: usize| {
            let trials = Some(Trials { planned, finished: 2 });
            let happened = Happened { trials, ..Happened::default() };
            Verdict::knowing(&manifest, &records, &happened, &Wishes::default()).unwrap().answer
        };
        assert!(answer(2).starts_with("No layout can be compared with another: depth"));
        let said = answer(4);
        assert!(!said.contains("together") && said.contains(" yet"), "{said}");
    }

    #[test]
    fn a_formula_that_gives_no_number_is_said_to_be_why() {
        let (manifest, records) = modelled(DEPTHS);
        let wishes = Wishes { objectives: vec!["max r/0".into()], ..Wishes::default() };
        let verdict = Verdict::new(&manifest, &records, &wishes).unwrap();
        assert_eq!(
            verdict.answer,
            "No layout can be ranked by `max r/0`: it is below 0, divides by 0 or lacks a value on each."
        );
        assert!(verdict.left_out[0].because[0].contains("divides by 0"), "{:?}", verdict.left_out);
    }
}
