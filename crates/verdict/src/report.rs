//! Reports: pure functions of what the store holds.

pub mod columns;
pub mod compared;
pub mod csv;
pub mod html;
pub mod json;
mod load;
pub mod markdown;
pub mod parquet;
pub mod ranking;
pub mod text;
pub mod validation;

use crate::cells;
use crate::judge::Verdict;
use crate::why;
use store::Manifest;
use store::record::Record;

/// The answer, what stands below it and what decided, in sentences.
pub fn reasons(manifest: &Manifest, records: &[Record], verdict: &Verdict) -> Vec<String> {
    let mut sentences = why::sentences(manifest, &cells::cells(manifest, records));
    sentences.extend(verdict.points.iter().map(|point| format!("{}: {}", point.about, point.text)));
    sentences.extend(verdict.sentences.iter().cloned());
    sentences.extend(Some(verdict.answer.clone()).filter(|answer| !answer.is_empty()));
    sentences
}
