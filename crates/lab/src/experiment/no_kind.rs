//! What is said beforehand of workloads that do not say of which kind they are.

use super::Experiment;
use std::collections::BTreeSet;

/// What dd does, too: who sets no other key may well mean it.
const OF_DD: [&str; 13] = [
    "amount",
    "block",
    "count",
    "direct",
    "end_fsync",
    "group",
    "jobs",
    "offset",
    "op",
    "runtime",
    "same_as",
    "span",
    "span_percent",
];

/// A warning for each workload without a `kind` that has keys dd has no use for: it ran in order, and nobody was told.
pub(crate) fn warnings(experiment: &Experiment) -> Vec<String> {
    let settings = experiment.settings();
    let own = settings.keys().filter_map(|path| path.strip_prefix("workload.")?.split_once('.'));
    let own: Vec<(&str, &str)> = own.filter(|(_, key)| !key.contains('.')).collect();
    let names: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
    let warning = |name: &str| {
        let keys: Vec<&str> =
            own.iter().filter(|(of, _)| *of == name).map(|(_, key)| *key).collect();
        let beyond: Vec<String> =
            keys.iter().filter(|key| !OF_DD.contains(key)).map(|key| format!("`{key}`")).collect();
        (!keys.contains(&"kind") && !beyond.is_empty()).then(|| {
            format!(
                "{}: `workload.{name}` has {} and no `kind`; taken as `dd`, one block after the other; write `kind = \"dd\"`, or \
                 `kind = \"random\"`",
                experiment.origin,
                beyond.join(", ")
            )
        })
    };
    names.into_iter().filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dd_does_is_all_keys() {
        for key in OF_DD {
            assert!(crate::experiment::find(&format!("workload.w.{key}")).is_ok(), "{key}");
        }
    }

    #[test]
    fn a_workload_that_forgets_its_kind_is_told_of() {
        let said = |keys: &str| {
            let text = format!("[volume]\ndrives = '4xwd740gd'\n[workload.db]\n{keys}\n");
            warnings(&Experiment::parse("x.toml", &text).unwrap()).join("\n")
        };
        let forgot = said("block = '8KiB'\ndepth = 16\nreads_percent = 70\nruntime = '10s'");
        let begin =
            "x.toml: `workload.db` has `depth`, `reads_percent` and no `kind`; taken as `dd`";
        assert!(forgot.starts_with(begin), "{forgot}");
        assert_eq!(said("block = '8KiB'\nop = 'write'\ncount = 100"), "");
        assert_eq!(said("kind = 'dd'\ndepth = 16"), "");
    }
}
