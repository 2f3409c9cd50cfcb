//! What the verdict says where trials were not in a steady state.

use crate::judge::answer::no_layout::nothing_to_choose;
use crate::judge::answer::{Point, all_alike, amount, each, in_brackets, point};
use crate::judge::trials::far_off::Off;
use crate::judge::{LeftOut, Ranked, Verdict};
use crate::tables::{SHARE_OF_BEST, listed};
use crate::unsteady::{overloaded, words};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::Record;

/// The `answer` of what is ranked, and what could not be judged: `silent`, with how many layouts were steady under each.
pub(crate) fn answer(
    verdict: &Verdict,
    answer: String,
    silent: &BTreeMap<String, usize>,
) -> String {
    let answer = of_others(verdict, answer);
    // Where nothing can be chosen, nothing is ranked anyhow.
    if answer.is_empty() || silent.is_empty() || answer == nothing_to_choose(&verdict.factors) {
        return answer;
    }
    let under = |is_none: bool| -> Vec<String> {
        let of = silent.iter().filter(|(_, steady)| (**steady == 0) == is_none);
        of.map(|(under, _)| under.clone()).collect()
    };
    let mut said = answer;
    for (layouts, under) in [("No", under(true)), ("Only one", under(false))] {
        if !under.is_empty() {
            let under = listed(&under);
            said = format!("{said} {layouts} layout was steady under {under}: that ranks nothing.");
        }
    }
    said
}

/// The same of what was steady on some layout.
fn of_others(verdict: &Verdict, answer: String) -> String {
    let unsteady = verdict.left_out.iter().filter(|out| out.is_unsteady).count();
    match verdict.ranked.as_slice() {
        [] if verdict.left_out.iter().any(|out| out.is_overloaded && !out.at.is_empty()) => {
            "No answer: no layout keeps up with the requests.".into()
        }
        [only] if unsteady == 0 && is_the_only_one_that_keeps_up(verdict) => {
            let which = match in_brackets(verdict, only) {
                value if value.is_empty() => format!(" at each {}", each(verdict)),
                value => value,
            };
            format!("Use {}: the only layout that keeps up with the requests{which}.", only.label)
        }
        _ if unsteady == 0 => answer,
        // Nothing that can be chosen was varied, so nothing was asked.
        [] if verdict.left_out.iter().all(|out| out.at.is_empty()) => {
            nothing_to_choose(&verdict.factors)
        }
        // Each workload has layouts of its own that were steady.
        [] if verdict.situations.iter().any(|situation| situation.layouts > 1) => {
            "No layout ran every workload and was steady in it, so none is best for all of them. Below is the best for each.".into()
        }
        [] => "No answer: no layout was in a steady state.".into(),
        [only] => {
            let value = in_brackets(verdict, only);
            format!("No answer yet: only {} was in a steady state{value}.", only.label)
        }
        [best, ..] if first_of(verdict, Off::Ahead).is_some() => ahead(verdict, best),
        _ if verdict.is_level() => format!("{answer} {}", all_alike::unsaid(verdict)),
        ranked => {
            let of = ranked.len() + unsteady;
            let behind = of_off(verdict, Off::Behind).count();
            let may = match unsteady - behind {
                0 => "far behind".into(),
                _ if behind == 0 => "may be better".into(),
                some => format!("{some} of them may be better"),
            };
            format!("{answer} {unsteady} of {of} layouts were not steady and {may}.")
        }
    }
}

/// The layouts that are so far off and were not steady.
fn of_off(verdict: &Verdict, off: Off) -> impl Iterator<Item = &LeftOut> {
    verdict.left_out.iter().filter(move |out| out.is_unsteady && out.off == off)
}

/// The best of these, by what was measured.
fn first_of(verdict: &Verdict, off: Off) -> Option<(&LeftOut, f64)> {
    let all = of_off(verdict, off).filter_map(|out| Some((out, out.measured?)));
    all.reduce(|a, b| if verdict.better.ahead(b.1, a.1) > 0.0 { b } else { a })
}

/// That the best of those that were steady is not to be used, as another was far ahead of it.
fn ahead(verdict: &Verdict, best: &Ranked) -> String {
    let Some((out, value)) = first_of(verdict, Off::Ahead) else { return String::new() };
    let made = if verdict.unit == SHARE_OF_BEST {
        "was far ahead".into()
    } else {
        format!("reached {}", amount(value, &verdict.unit))
    };
    let others = match of_off(verdict, Off::Ahead).count() - 1 {
        0 => String::new(),
        1 => "; so is 1 other".into(),
        more => format!("; so are {more} others"),
    };
    format!(
        "No answer yet: {} is the best steady layout{}, but {} {made} and is not steady yet{others}. Measure it for longer (see \
         `not steady`).",
        best.label,
        in_brackets(verdict, best),
        out.label,
    )
}

fn is_the_only_one_that_keeps_up(verdict: &Verdict) -> bool {
    !verdict.left_out.is_empty() && verdict.left_out.iter().all(|out| out.is_overloaded)
}

/// Which trials were not steady or were overloaded, and what to do about it.
pub(crate) fn told(manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    let unsteady = words(manifest, records).into_iter().map(|text| point("not steady", text));
    let overloaded = overloaded(manifest, records).map(|text| point("overloaded", text));
    unsteady.chain(overloaded).collect()
}
