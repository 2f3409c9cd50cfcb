//! The front: the best of each level, where none beats it in everything.

use crate::danger;
use crate::question::Question;
use block::layout::Level;
use lab::Result;
use risk::in_words;
use risk::inputs::Range;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::quantity::Better;
use store::record::plain;
use verdict::Verdict;
use verdict::judge::pareto;
use verdict::tables::{figure, slower};

/// A layout that no other beats.
#[derive(Clone, Debug, Serialize)]
pub struct FrontRow {
    /// Its factors.
    pub at: Map<String, Json>,
    /// What the objective says of it, and in what.
    pub value: f64,
    /// The unit.
    pub unit: String,
    /// Bytes that can be used.
    pub usable_bytes: u64,
    /// What the drives cost for a terabyte of that, in US dollars, where the price is known.
    pub usd_per_tb: Option<f64>,
    /// Drives that may fail.
    pub survives: usize,
    /// Hours that a rebuild takes: idle, and under load.
    pub rebuild_h: Range,
    /// The chance that all is gone in five years.
    pub gone: Range,
    /// The chance that some sectors are.
    pub unreadable: Range,
    /// The chance of a stripe torn by a crash, where parity is kept.
    pub torn_by_crash: Option<Range>,
    #[serde(skip)]
    chunk: String,
}

impl FrontRow {
    /// What it holds, and what that costs beside a layout that does `best`.
    pub(crate) fn with_room(&self, best: f64, better: Better) -> String {
        let level = self.at.get("volume.level").map(plain).unwrap_or_default();
        let chunk =
            if self.chunk.is_empty() { String::new() } else { format!(", {} chunk", self.chunk) };
        let behind = better.ahead(best, self.value).exp();
        format!(
            "{level}{chunk}: {:.1} TB, survives {}, {}",
            self.usable_bytes as f64 / 1e12,
            self.survives,
            slower(behind.max(1.0), better, &self.unit)
        )
    }

    pub(crate) fn cells(&self) -> Vec<String> {
        let level = self.at.get("volume.level").map(plain).unwrap_or_default();
        let [idle, _, loaded] = self.rebuild_h.values();
        let [low, high] = [self.gone.low, self.gone.high].map(in_words);
        vec![
            level,
            self.chunk.clone(),
            format!("{} {}", figure(self.value), self.unit),
            format!("{:.1}", self.usable_bytes as f64 / 1e12),
            self.survives.to_string(),
            format!("{idle:.0} to {loaded:.0}"),
            if low == high { low } else { format!("{low} to {high}") },
        ]
    }
}

/// The front of what is ranked.
pub(crate) fn front(question: &Question, verdict: &Verdict) -> Result<Vec<FrontRow>> {
    let mut rows: Vec<FrontRow> = Vec::new();
    for ranked in &verdict.ranked {
        let name = ranked.at.get("volume.level").map(plain).unwrap_or_default();
        let told = |row: &FrontRow| row.at.get("volume.level").map(plain).as_ref() == Some(&name);
        let Ok(level) = name.parse::<Level>() else { continue };
        if rows.iter().any(told) {
            continue;
        }
        let (risk, inputs) =
            danger::of_level(&level, question.members(), question.spares, &question.drives.drive)?;
        let chunk = ranked.at.get("volume.interleave");
        let chunk = chunk.and_then(Json::as_u64).filter(|_| level.interleaved());
        rows.push(FrontRow {
            value: ranked.value,
            unit: verdict.unit.clone(),
            usable_bytes: question.usable_bytes(&level),
            usd_per_tb: question
                .cost_usd()
                .map(|cost| cost / (question.usable_bytes(&level) as f64 / 1e12)),
            survives: level.losses_survived(question.members()),
            rebuild_h: inputs.rebuild_h.range,
            gone: risk.gone,
            unreadable: risk.unreadable,
            torn_by_crash: risk.torn,
            chunk: chunk.map_or_else(String::new, |sectors| format!("{} KiB", sectors / 2)),
            at: ranked.at.clone(),
        });
    }
    let figures: Vec<[f64; 4]> = rows
        .iter()
        .map(|row| [row.value, row.usable_bytes as f64, row.survives as f64, row.gone.middle])
        .collect();
    let ways = [verdict.better, Better::Higher, Better::Higher, Better::Lower];
    let figures: Vec<&[f64]> = figures.iter().map(<[f64; 4]>::as_slice).collect();
    Ok(pareto::front(&figures, &ways).into_iter().map(|place| rows[place].clone()).collect())
}
