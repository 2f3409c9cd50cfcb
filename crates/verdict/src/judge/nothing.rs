//! Why there is no answer: nothing to choose, or no layout that may be chosen.

use super::aim::EVERY_WORKLOAD;
use super::facts::{CACHED, SINCE_FLUSH};
use super::{LeftOut, Verdict, Wishes};
use crate::tables::listed;
use store::factor::{Factors, Role};
use store::record::short_key;

/// Nothing was varied that can be chosen. Where nothing but loads was, nothing was asked.
pub(super) fn nothing_to_choose(factors: &Factors) -> String {
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

/// Why there is nothing to choose.
pub(super) fn nothing_ranked(verdict: &Verdict, wishes: &Wishes) -> String {
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
        "No trial has finished.".into()
    } else if verdict.objective != EVERY_WORKLOAD && left_out.iter().all(|out| out.value.is_none())
    {
        format!(
            "No layout can be ranked by `{}`: it is below 0, divides by 0 or lacks a value on each.",
            verdict.objective
        )
    } else if left_out.iter().all(|out| out.value.is_none()) {
        if verdict.situations.iter().any(|situation| situation.layouts > 1) {
            "No layout ran every workload, so none is best for all of them. Below is the best for each.".into()
        } else {
            "No two layouts ran the same workload under the same load, so none can be compared with another.".into()
        }
    } else {
        "No layout meets all that is asked of it (`--subject-to`, `ask.subject_to`). Relax one of these limits.".into()
    }
}
