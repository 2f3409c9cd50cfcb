//! Which cells lack trials, by what they are: "17-23" says nothing to whoever has the experiment before them.

use super::merge::ranges;
use crate::manifest::Manifest;
use crate::record::{Record, plain};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// So many cells are named; more are counted.
const NAMED_MAX: usize = 3;

/// The cells that lack trials, as in `read at interleave 8 (4 KiB) (2 of 12 trials)`, where the plan is every value of each factor
/// with every value of the others; otherwise the numbers of the trials.
pub(super) fn named<'a>(
    manifest: &Manifest,
    records: impl Iterator<Item = &'a Record>,
    missing: &[usize],
) -> String {
    let Some(lacking) = lacking(manifest, records).filter(|cells| !cells.is_empty()) else {
        return ranges(missing);
    };
    let mut words: Vec<String> = lacking.iter().take(NAMED_MAX).cloned().collect();
    match lacking.len().saturating_sub(NAMED_MAX) {
        0 => {}
        1 => words.push("1 more cell".into()),
        more => words.push(format!("{more} more cells")),
    }
    words.join("; ")
}

fn lacking<'a>(
    manifest: &Manifest,
    records: impl Iterator<Item = &'a Record>,
) -> Option<Vec<String>> {
    let mut cells: Vec<(&String, Map<String, Json>)> = Vec::new();
    for workload in &manifest.workloads {
        let of_workload = of_workload(manifest, workload)?;
        cells.extend(of_workload.into_iter().map(|at| (workload, at)));
    }
    let each = manifest.trials.checked_div(cells.len())?;
    if each * cells.len() != manifest.trials {
        return None;
    }
    let mut there: BTreeMap<(&str, Vec<String>), usize> =
        cells.iter().map(|(workload, at)| ((workload.as_str(), key(at)), 0)).collect();
    for record in records {
        *there.get_mut(&(record.workload.as_str(), key(&record.at)))? += 1;
    }
    let lacking = cells.iter().filter_map(|(workload, at)| {
        let missing = each.saturating_sub(there[&(workload.as_str(), key(at))]);
        let at = match manifest.factors.label(at) {
            label if label.is_empty() => String::new(),
            label => format!(" at {label}"),
        };
        (missing > 0).then(|| format!("{workload}{at} ({missing} of {each} trials)"))
    });
    Some(lacking.collect())
}

/// The values of a cell, in order of their keys.
fn key(at: &Map<String, Json>) -> Vec<String> {
    let mut key: Vec<String> =
        at.iter().map(|(path, value)| format!("{path} {}", plain(value))).collect();
    key.sort_unstable();
    key
}

/// Every value of each of a workload's factors with every value of the others.
fn of_workload(manifest: &Manifest, workload: &str) -> Option<Vec<Map<String, Json>>> {
    let settings = manifest.settings();
    let members = manifest.members(workload);
    let is_own = |path: &str| match path.strip_prefix("workload.") {
        Some(rest) => members.iter().any(|name| rest.starts_with(&format!("{name}."))),
        None => true,
    };
    let mut all = vec![Map::new()];
    for path in manifest.factors.0.keys().filter(|path| is_own(path)) {
        let values = settings.get(path)?.as_array()?;
        let values: Vec<Json> =
            values.iter().map(serde_json::to_value).collect::<Result<_, _>>().ok()?;
        let with = |at: &Map<String, Json>, value: &Json| {
            let mut at = at.clone();
            at.insert(path.clone(), value.clone());
            at
        };
        all = all.iter().flat_map(|at| values.iter().map(|value| with(at, value))).collect();
    }
    Some(all)
}
