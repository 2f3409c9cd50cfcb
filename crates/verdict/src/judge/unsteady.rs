//! What the verdict says where trials were not in a steady state.

use super::Verdict;
use super::answer::{Point, amount, point};
use crate::unsteady::words;
use store::Manifest;
use store::record::Record;

/// The `answer` of what is ranked, and what could not be judged.
pub(super) fn answer(verdict: &Verdict, answer: String) -> String {
    let unsteady = verdict.left_out.iter().filter(|out| out.is_unsteady).count();
    match verdict.ranked.as_slice() {
        _ if unsteady == 0 => answer,
        // Nothing was varied, so nothing was asked.
        [] if verdict.left_out.iter().all(|out| out.at.is_empty()) => String::new(),
        [] => "No answer: no layout was in a steady state.".into(),
        [only] => {
            let value = amount(only.value, &verdict.unit);
            format!("No answer yet: only {} was in a steady state ({value}).", only.label)
        }
        ranked => {
            let of = ranked.len() + unsteady;
            format!("{answer} {unsteady} of {of} layouts were not steady and may be better.")
        }
    }
}

/// Which trials were not steady, and what to do about it.
pub(super) fn told(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    words(manifest, records).map(|text| point("not steady", text))
}
