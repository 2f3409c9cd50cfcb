//! Why there is no answer: nothing to choose, or no layout that may be chosen.

use super::each;
use crate::judge::asked::aim::EVERY_WORKLOAD;
use crate::judge::layouts::facts::{CACHED, SINCE_FLUSH};
use crate::judge::{LeftOut, Verdict, Wishes};
use crate::tables::listed;
use store::Manifest;
use store::factor::{Factors, Role};
use store::record::short_key;

/// Nothing was varied that can be chosen. Where nothing but loads was, nothing was asked.
pub(crate) fn nothing_to_choose(factors: &Factors) -> String {
    let conditions = factors.0.iter().filter(|(_, kind)| kind.role == Role::Condition);
    let names: Vec<String> = conditions.map(|(path, _)| short_key(path).to_string()).collect();
    match names.as_slice() {
        [] => String::new(),
        [_] => format!("Nothing to choose: {} is a condition.", names[0]),
        _ => format!("Nothing to choose: {} are conditions.", listed(&names)),
    }
}

impl Verdict {
    /// Whether a wish left out the last layout: what was not steady or too slow was judged by none.
    pub fn none_meets(&self) -> bool {
        let by_wish = |out: &LeftOut| !out.is_unsteady && !out.is_overloaded;
        self.ranked.is_empty() && self.left_out.iter().any(by_wish)
    }
}

/// Why no layout is safe: what all of them share, and what would help.
fn none_is_safe(left_out: &[LeftOut]) -> String {
    let mut others = left_out.iter().filter(|out| out.is_unsafe);
    let mut shared = others.next().map_or(Vec::new(), |first| first.because.clone());
    for other in others {
        shared.retain(|reason| other.because.contains(reason));
    }
    let advice = "Try a mirror or a level with parity, without async mounts";
    if shared.is_empty() {
        return format!("No layout here is safe. {advice}.");
    }
    let is_cache = left_out.iter().any(|out| {
        let why = out.facts.lost_by_crash.as_ref();
        why.is_some_and(|why| [CACHED, SINCE_FLUSH].contains(&why.as_str()) && shared.contains(why))
    });
    let advice = if is_cache {
        "Take drives with power-loss protection or without a write cache, have the work flush what must last, \
         or leave out `--safe` (in a file, `ask.safe`)"
    } else {
        advice
    };
    format!("No layout here is safe: {}. {advice}.", shared.join("; "))
}

/// That no cell can be judged: where trials finished, each lacks windows of its trace, or failed.
fn none_whole(verdict: &Verdict, manifest: &Manifest) -> &'static str {
    if verdict.trials.is_none_or(|trials| trials.finished == 0) {
        "No trial has finished."
    } else if manifest.settings().keys().any(|key| key.ends_with(".windows")) {
        "No cell has all of its windows yet."
    } else {
        "No cell finished without a failure."
    }
}

/// That no layout ran everything; where trials are missing, not yet.
fn best_for_each(verdict: &Verdict) -> String {
    if verdict.trials.is_some_and(|trials| trials.missing() > 0) {
        let each = each(verdict);
        return format!(
            "No layout has all its results yet. Below is the best for each {each} so far."
        );
    }
    "No layout ran every workload, so none is best for all of them. Below is the best for each."
        .into()
}

/// That no two layouts have a result under the same load; where trials are missing, not yet.
fn none_comparable(verdict: &Verdict) -> &'static str {
    if verdict.trials.is_some_and(|trials| trials.missing() > 0) {
        "No two layouts have a result under the same load yet."
    } else {
        "No two layouts ran the same workload under the same load, so none can be compared with another."
    }
}

/// Why there is nothing to choose.
pub(crate) fn nothing_ranked(verdict: &Verdict, manifest: &Manifest, wishes: &Wishes) -> String {
    if verdict.objective.is_empty() {
        return match verdict.left_out.len() {
            // Nothing was varied, so nothing was asked.
            0 | 1 => String::new(),
            _ => "No layout can be called best: the metric has no better direction. Name one: `--objective \
                  \"min NAME\"` or `\"max NAME\"`."
                .into(),
        };
    }
    let left_out = &verdict.left_out;
    if wishes.safe && left_out.iter().any(|out| out.is_unsafe) {
        none_is_safe(left_out)
    } else if left_out.is_empty() {
        none_whole(verdict, manifest).into()
    } else if left_out.iter().all(|out| out.is_overloaded) {
        "No answer: requests come faster than they are served.".into()
    } else if verdict.objective != EVERY_WORKLOAD && left_out.iter().all(|out| out.value.is_none())
    {
        format!(
            "No layout can be ranked by `{}`: it is below 0, divides by 0 or lacks a value on each.",
            verdict.objective
        )
    } else if left_out.iter().all(|out| out.value.is_none()) {
        if verdict.situations.iter().any(|situation| situation.layouts > 1) {
            best_for_each(verdict)
        } else {
            none_comparable(verdict).into()
        }
    } else {
        "No layout meets all that is asked of it (`--subject-to`, `ask.subject_to`). Relax one of these limits.".into()
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::{Happened, Manifest, Trials};

    /// "No layout can be ranked by `min w`: it is below 0, divides by 0 or lacks a value on each" stood above the line that said why.
    #[test]
    fn an_overloaded_layout_alone_is_called_that() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '1xwd740gd'\n[workload.w]\nkind = 'random'\nblock = '4KiB'\narrivals = 'poisson'\n\
             requests_per_s = 5000\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        assert_eq!(verdict.answer, "No answer: requests come faster than they are served.");
    }

    /// "No trial has finished." stood above "27 of 70 trials finished", where each cell lacked a window.
    #[test]
    fn windows_that_are_not_whole_are_no_lack_of_trials() {
        let (mut manifest, _) =
            modelled("[volume]\ndrives = 'wd740gd'\n[workload.r]\ncount = 20\n");
        let answer = |manifest: &Manifest, finished: usize| {
            let trials = Some(Trials { planned: 70, finished });
            let happened = Happened { trials, ..Happened::default() };
            Verdict::knowing(manifest, &[], &happened, &Wishes::default()).unwrap().answer
        };
        assert_eq!(answer(&manifest, 0), "No trial has finished.");
        manifest.experiment += "\n\"workload.r.windows\" = 7\n";
        assert_eq!(answer(&manifest, 0), "No trial has finished.");
        assert_eq!(answer(&manifest, 27), "No cell has all of its windows yet.");
    }
}
