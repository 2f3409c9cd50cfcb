//! The answer where all layouts that could be judged are alike: of those alone it speaks.

use crate::judge::Verdict;
use crate::judge::layouts::names::varied;
use crate::tables::listed;
use serde_json::{Map, Value as Json};
use store::record::short_key;

type At = Map<String, Json>;

/// What to do where nothing that was judged differs: `what` is `No reliable difference`, and `why` stands behind it.
pub(crate) fn answer(verdict: &Verdict, what: &str, why: &str) -> String {
    if verdict.left_out.is_empty() {
        return format!("{what} ({why}). Keep what you have.");
    }
    format!("{what} {} ({why}). Keep yours if it is one of these.", which(verdict))
}

/// `between interleave 64KiB and 512KiB with level md-raid10`: what was ranked, among all that was tried.
fn which(verdict: &Verdict) -> String {
    let ranked = || verdict.ranked.iter().map(|ranked| &ranked.at);
    let left_out = || verdict.left_out.iter().map(|out| &out.at);
    let apart = varied(ranked());
    let shared: Vec<String> = varied(ranked().chain(left_out()))
        .into_iter()
        .filter(|path| !apart.contains(path))
        .filter_map(|path| Some((path, verdict.ranked.first()?.at.get(path)?)))
        .map(|(path, value)| {
            format!("{} {}", short_key(path), verdict.factors.with_unit(path, value))
        })
        .collect();
    let with = if shared.is_empty() { String::new() } else { format!(" with {}", listed(&shared)) };
    let mut apart = apart.into_iter();
    match (apart.next(), apart.next()) {
        (Some(path), None) => {
            format!("between {} {}{with}", short_key(path), verdict.values(path, ranked()))
        }
        _ => format!("between the {} layouts{with} that were judged", verdict.ranked.len()),
    }
}

/// What is not among those that were judged because it was not steady: by a factor none of whose values was judged,
/// else by number.
pub(crate) fn unsaid(verdict: &Verdict) -> String {
    let unsteady: Vec<&At> =
        verdict.left_out.iter().filter(|out| out.is_unsteady).map(|out| &out.at).collect();
    let ranked = || verdict.ranked.iter().map(|ranked| &ranked.at);
    let tells = |path: &&String| {
        unsteady.iter().all(|at| {
            at.get(*path).is_some_and(|value| ranked().all(|of| of.get(*path) != Some(value)))
        })
    };
    let telling = varied(ranked().chain(unsteady.iter().copied())).into_iter().find(tells);
    let of = telling.map_or_else(
        || format!("{} of {} layouts", unsteady.len(), verdict.ranked.len() + unsteady.len()),
        |path| {
            let values = verdict.values(path, unsteady.iter().copied());
            format!("{} {values}", short_key(path))
        },
    );
    format!("Nothing is said of {of}: not steady.")
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::record::Record;

    /// Of four layouts, of which those that `is_unsteady` were not steady and all others have the same rate.
    fn answer(is_unsteady: impl Fn(&Record) -> bool) -> String {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['md-raid10', 'md-raid5']\ninterleave = ['64KiB', '512KiB']\n\
             [workload.w]\nkind = 'random'\ncount = 20\n[host]\nname = 'linux-6.1'\n",
        );
        for record in &mut records {
            let first = record.at["volume.interleave"] == 128;
            record.samples.insert("mb_per_s", if first { 100.0 } else { 100.1 });
            if is_unsteady(record) {
                record.samples.insert("mb_per_s", 20.0);
                record.samples.insert("steady", 0.0);
            }
        }
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap().answer
    }

    /// What could not be judged may be five times slower: who has it is not told to keep it.
    #[test]
    fn a_tie_of_some_layouts_says_nothing_of_the_others() {
        let all = answer(|_| false);
        assert!(all.starts_with("No reliable difference (all within "), "{all}");
        assert!(all.ends_with(". Keep what you have."), "{all}");
        let of_one_level = answer(|of| of.at["volume.level"] == "md-raid5");
        let by = "No reliable difference between interleave 128 (64 KiB) and 1024 (512 KiB) with level md-raid10 \
                  (all within ";
        assert!(of_one_level.starts_with(by), "{of_one_level}");
        let rest =
            " Keep yours if it is one of these. Nothing is said of level md-raid5: not steady.";
        assert!(of_one_level.ends_with(rest), "{of_one_level}");
        let but_one =
            answer(|of| of.at["volume.level"] == "md-raid5" && of.at["volume.interleave"] == 1024);
        assert!(but_one.contains(" between the 3 layouts that were judged (all "), "{but_one}");
        let rest = "Nothing is said of 1 of 4 layouts: not steady.";
        assert!(but_one.ends_with(rest), "{but_one}");
    }
}
