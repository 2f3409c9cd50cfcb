//! The states of drives that an answer holds for: how flash is filled, what burst credit is left, and what media caches
//! hold.

use super::slc_cache;
use crate::judge::Verdict;
use crate::judge::answer::{Point, point};
use crate::tables::listed;
use std::collections::BTreeSet;
use store::Manifest;
use toml::Value;

/// A state that drives of a class are in before the run.
struct State {
    /// What the line is about.
    about: &'static str,
    /// The key of an experiment that sets it.
    key: &'static str,
    /// The drives that have it.
    drives: &'static str,
    /// What it is called in front of its word, of one and of several.
    called: [&'static str; 2],
    /// Where it is from if no experiment sets it.
    from: &'static str,
    /// How to ask about another state.
    next: &'static str,
    /// Whether a word of results is one of its words.
    is: fn(&str) -> bool,
}

/// The key of how flash is filled, and the states of written flash at rest: which of them it is makes no difference to the
/// model's reads.
const FILL_KEY: &str = "drive.state";
const AT_REST: [&str; 2] = ["sequential", "random"];

/// Words of burst credit.
const CREDIT: [&str; 2] = ["spent", "full"];

/// Words of media caches.
const MEDIA_CACHE: [&str; 2] = ["filled", "clean"];

/// Burst credit and media caches have words of their own; every other one is of how flash is filled.
const STATES: [State; 3] = [
    State {
        about: "state",
        key: FILL_KEY,
        drives: "flash drives",
        called: ["in the state", "in the states"],
        from: ", as in the drive's file",
        next: "to ask about another state, set `drive.state`",
        is: |word| !CREDIT.contains(&word) && !MEDIA_CACHE.contains(&word),
    },
    State {
        about: "credit",
        key: "drive.credit",
        drives: "cloud volumes",
        called: ["with burst credit", "with burst credit"],
        from: "",
        next: "`ileave run` with `drive.credit = 'full'` measures a burst, which ends and ranks no layout",
        is: |word| CREDIT.contains(&word),
    },
    State {
        about: "media cache",
        key: "drive.media_cache",
        drives: "shingled disks",
        called: ["with the media cache", "with the media cache"],
        from: "",
        next: "to ask about another state, set `drive.media_cache`",
        is: |word| MEDIA_CACHE.contains(&word),
    },
];

/// What [`told`] says, where something was compared.
pub(crate) fn of(verdict: &Verdict, manifest: &Manifest) -> Vec<Point> {
    let has_any = !verdict.ranked.is_empty() || !verdict.situations.is_empty();
    if has_any { told(manifest).chain(slc_cache::told(manifest)).collect() } else { Vec::new() }
}

/// The lines that say for which states the answer holds; none where no modelled drive is known to have any.
fn told(manifest: &Manifest) -> impl Iterator<Item = Point> {
    STATES.iter().filter_map(|state| state.told(manifest))
}

impl State {
    fn told(&self, manifest: &Manifest) -> Option<Point> {
        let State { key, drives, called: [called, several], .. } = self;
        let known = manifest.drives.iter().filter(|_| manifest.modelled());
        let in_files: Vec<(&String, &String)> = known
            .filter_map(|(name, drive)| Some((name, drive.state.as_ref()?)))
            .filter(|(_, word)| (self.is)(word))
            .collect();
        if in_files.is_empty() {
            return None;
        }
        let (set, unset) = states_set(manifest, key);
        let is_in_its_own =
            |name: &str| unset.iter().any(|workload| may_use(manifest, workload, name));
        let in_their_own: Vec<String> = in_files
            .into_iter()
            .filter(|(name, _)| is_in_its_own(name))
            .map(|(name, word)| format!("{name} {called} {word}"))
            .collect();
        let mut parts = Vec::new();
        if !set.is_empty() {
            let called = if set.len() == 1 { called } else { several };
            parts.push(format!("{drives} {called} {} (`{key}`)", set.join(", ")));
        }
        if !in_their_own.is_empty() {
            parts.push(format!("{}{}", listed(&in_their_own), self.from));
        }
        let reads = reads_as_measured(manifest, &set).filter(|_| *key == FILL_KEY);
        let text = format!(
            "these figures are for {}{}; {}",
            parts.join(" and for "),
            reads.unwrap_or_default(),
            self.next
        );
        Some(point(self.about, text))
    }
}

/// That reads are those of the state in which a drive was measured, where an experiment `set` another.
fn reads_as_measured(manifest: &Manifest, set: &[String]) -> Option<String> {
    let is_other = |state: &str| set.iter().any(|word| word != state && AT_REST.contains(&&**word));
    let known = manifest.drives.values().filter_map(|drive| drive.state.as_deref());
    let measured: BTreeSet<&str> =
        known.filter(|state| AT_REST.contains(state) && is_other(state)).collect();
    let measured: Vec<&str> = measured.into_iter().collect();
    let text =
        || format!(", but for reads, which are as measured in the state {}", measured.join(" or "));
    (!measured.is_empty()).then(text)
}

/// The states that the experiment sets, and the workloads of which it sets none.
fn states_set<'a>(manifest: &'a Manifest, key: &str) -> (Vec<String>, Vec<&'a str>) {
    let settings = manifest.settings();
    let of_all = settings.get(key);
    let own = |workload: &String| settings.get(&format!("workload.{workload}.{key}")).or(of_all);
    let unset = manifest.workloads.iter().filter(|workload| own(workload).is_none());
    let unset: Vec<&str> = unset.map(String::as_str).collect();
    let set = of_all.into_iter().chain(manifest.workloads.iter().filter_map(own));
    let words: BTreeSet<&str> = set.flat_map(texts).collect();
    (words.into_iter().map(String::from).collect(), unset)
}

/// The texts of a value, or of each in a list.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        value => Vec::from_iter(value.as_str()),
    }
}

/// Whether a workload runs on a drive of this name. A drive that no layout names, as one that was written in another way, may
/// be any workload's.
fn may_use(manifest: &Manifest, workload: &str, name: &str) -> bool {
    const DRIVES: &str = "volume.drives";
    let settings = manifest.settings();
    let named = |drives: &Value| texts(drives).into_iter().any(|text| names(text, name));
    let own = settings.get(&format!("workload.{workload}.{DRIVES}"));
    let is_named_anywhere =
        settings.iter().any(|(path, drives)| path.ends_with(DRIVES) && named(drives));
    !is_named_anywhere || own.or_else(|| settings.get(DRIVES)).is_some_and(named)
}

/// Whether a text such as `4x980-pro-1tb:8GiB` names the drive, and not one whose name begins or ends like it.
fn names(drives: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_[]".contains(c);
    drives.match_indices(name).any(|(at, _)| {
        let before = drives[..at].strip_suffix('x').unwrap_or(&drives[..at]);
        let is_counted = before.len() < at && before.ends_with(|c: char| c.is_ascii_digit());
        let starts = is_counted || !before.ends_with(is_of_name) && before.len() == at;
        starts && !drives[at + name.len()..].starts_with(is_of_name)
    })
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::Manifest;
    use store::record::Record;

    fn told(manifest: &Manifest, records: &[Record]) -> Option<String> {
        let verdict = Verdict::new(manifest, records, &Wishes::default()).unwrap();
        verdict.points.into_iter().find(|point| point.about == "state").map(|point| point.text)
    }

    fn results(drives: &str, keys: &str) -> (Manifest, Vec<Record>) {
        modelled(&format!(
            "[volume]\ndrives = '{drives}'\nlevel = ['stripe', 'concat']\n{keys}\n\
             [workload.read]\nkind = 'random'\ncount = 20\n"
        ))
    }

    #[test]
    fn answers_on_flash_drives_name_the_state_that_they_hold_for() {
        let (mut manifest, records) = results("2x980-pro-1tb", "");
        let state = manifest.drives["980-pro-1tb"].state.clone().unwrap();
        let text = told(&manifest, &records).unwrap();
        let wanted = format!(
            "these figures are for 980-pro-1tb in the state {state}, as in the drive's file"
        );
        assert!(text.starts_with(&wanted), "{text}");
        // Results that did not keep the state are read, and nothing is said of it.
        let kept = toml::to_string(&manifest).unwrap();
        let older = kept.replace(&format!("state = \"{state}\"\n"), "");
        assert_ne!(kept, older);
        manifest = toml::from_str(&older).unwrap();
        assert_eq!(told(&manifest, &records), None);
    }

    /// "Set `drive.credit`" was the next step, after which no trial ranked anything.
    #[test]
    fn a_burst_is_measured_by_a_run_and_ranks_nothing() {
        let (manifest, records) = results("2xst1[size=1TiB]", "");
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let point = verdict.points.iter().find(|point| point.about == "credit").unwrap();
        let next = "; `ileave run` with `drive.credit = 'full'` measures a burst, which ends and ranks no layout";
        assert!(point.text.ends_with(next), "{}", point.text);
    }

    /// The line named `azure-p6` with spent credit, which was asked about with full credit only.
    #[test]
    fn a_volume_is_named_in_the_states_that_its_workloads_have() {
        let said = |b: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xebs-gp2[size=200GiB]'\nlevel = ['stripe', 'concat']\n\
                 [workload.a]\nkind = 'random'\ncount = 20\n\
                 [workload.b]\nkind = 'random'\ncount = 20\nvolume.drives = '2xazure-p6'\n{b}"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "credit").unwrap().text
        };
        let of_one = said("drive.credit = 'full'\n");
        let told = "these figures are for cloud volumes with burst credit full (`drive.credit`) and for \
                    ebs-gp2[size=200GiB] with burst credit spent; ";
        assert!(of_one.starts_with(told), "{of_one}");
        let unset = said("");
        let told = "these figures are for azure-p6 with burst credit spent and ebs-gp2[size=200GiB] with burst credit spent; ";
        assert!(unset.starts_with(told), "{unset}");
        let of_both = said("drive.credit = ['spent', 'full']\n");
        assert!(of_both.contains("with burst credit full, spent (`drive.credit`)"), "{of_both}");
        assert!(!of_both.contains("azure-p6"), "{of_both}");
    }

    #[test]
    fn a_name_is_told_from_those_that_begin_or_end_like_it() {
        for text in ["2xazure-p6", "azure-p6", "1x wd740gd + 2x azure-p6", "4xazure-p6:8GiB"] {
            assert!(super::names(text, "azure-p6"), "{text}");
        }
        for text in ["2xazure-p60", "2xmy-azure-p6", "2xazure-p6[size=1GiB]"] {
            assert!(!super::names(text, "azure-p6"), "{text}");
        }
    }

    #[test]
    fn states_that_are_set_are_named() {
        let (manifest, records) = results("2x980-pro-1tb", "[drive]\nstate = 'steady'");
        let text = told(&manifest, &records).unwrap();
        assert!(text.starts_with(
            "these figures are for flash drives in the state steady (`drive.state`);"
        ));
        let (manifest, records) = results("2x980-pro-1tb", "[drive]\nstate = ['steady', 'fresh']");
        let text = told(&manifest, &records).unwrap();
        assert!(
            text.starts_with("these figures are for flash drives in the states fresh, steady"),
            "{text}"
        );
        let (manifest, records) = results("2x980-pro-1tb", "[drive]\nstate = 'sequential'");
        let text = told(&manifest, &records).unwrap();
        assert!(
            text.contains("but for reads, which are as measured in the state random"),
            "{text}"
        );
        let (manifest, records) = results("2xwd740gd", "");
        assert_eq!(told(&manifest, &records), None);
    }
}
