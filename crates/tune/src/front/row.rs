//! A row of the front, and the table that rows make.

use crate::danger::{GONE_MIN, SAFER_BY};
use crate::front::commits::OF_COMMITS;
use crate::question::Question;
use crate::question::candidate::DEFAULT_CACHE;
use crate::question::capacity::{is_more_room, room, usd_per_tb};
use crate::words::tenths;
use block::SECTOR_BYTES;
use block::layout::Level;
use block::units::format_bytes;
use lab::Result;
use risk::inputs::Range;
use risk::{Risk, in_words};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use store::quantity::Better;
use store::record::plain;
use store::sample;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing};
use verdict::tables::{figure, slower};

/// Rates that differ by less are the same: the logarithm of their ratio.
pub(crate) const EVEN: f64 = 0.000_5;

/// The samples of commits that any row has, first the rates, and what their columns are called: with the stream where several commit.
/// What the speed says already has none.
pub(crate) fn columns(rows: &[FrontRow]) -> Vec<(String, String)> {
    let mut names: Vec<&String> = rows.iter().flat_map(|row| row.commits.keys()).collect();
    names.sort();
    names.dedup();
    let parts = |name: &str| -> (String, String) {
        let (stream, own) = name.rsplit_once('.').unwrap_or(("", name));
        (stream.into(), own.into())
    };
    let is_speed =
        |name: &str| rows.iter().all(|row| row.commits.get(name).copied() == Some(row.value));
    let is_one = names.iter().all(|name| parts(name).0 == parts(names[0]).0);
    let mut columns = Vec::new();
    for kind in OF_COMMITS {
        for name in names.iter().filter(|name| parts(name).1 == kind && !is_speed(name)) {
            let Some(of) = sample::find(kind) else { continue };
            let called = of.called.replace('_', " ");
            let blank = if of.unit.starts_with('/') { "" } else { " " };
            let stream = if is_one { String::new() } else { format!("{} ", parts(name).0) };
            columns.push(((*name).clone(), format!("{stream}{called}{blank}{}", of.unit)));
        }
    }
    columns
}

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
    /// The same with one member failed; nothing where none may fail, or that is not modelled.
    pub degraded: Option<f64>,
    /// Commands to members for each request, whole and with one failed, where both are known.
    #[serde(skip)]
    pub(crate) commands: Option<[f64; 2]>,
    /// What streams that flush make of commits: `wal.commits_per_s`, and the 99th percentile of their time.
    pub commits: BTreeMap<String, f64>,
    /// What the drives cost, spares included, in US dollars, where the price is known.
    pub cost_usd: Option<f64>,
    /// The same for a terabyte of what can be used.
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
    /// Drives in use.
    pub members: usize,
    /// Drives kept as spares.
    pub spares: usize,
    /// How many drives are in use and how many spares, where those are more than was asked for.
    #[serde(skip)]
    pub(crate) in_use: Option<String>,
    /// Its first columns: level and chunk, or the layout in words.
    #[serde(skip)]
    pub(super) words: Vec<String>,
    /// Rows of its stripe cache, where it was not measured with md's own number.
    #[serde(skip)]
    pub(super) rows: Option<String>,
    /// Whether nothing measured is reliably faster.
    #[serde(skip)]
    pub(crate) is_tied: bool,
    /// What each trial of it measured.
    #[serde(skip)]
    pub(crate) samples: Vec<f64>,
    /// Whether it is reliably faster with one failed, over the same seeds.
    #[serde(skip)]
    pub(crate) is_faster_degraded: bool,
    /// Whether md keeps stripes of it in memory.
    #[serde(skip)]
    pub(crate) has_stripe_cache: bool,
}

/// Columns of the table that not every front has.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// What streams make of commits, by sample, and what its column is called.
    commits: Vec<(String, String)>,
    /// The speed with a member failed, where it is known of any.
    degraded: bool,
    /// What room costs, where a price is known.
    cost: bool,
    /// A stripe torn by a crash, where any of them keeps parity.
    torn: bool,
}

/// The chance of a layout that all is lost, beside the `other`'s.
pub(crate) fn at_worst(own: f64, other: f64) -> String {
    format!("; all data lost {} at worst, not {}", in_words(own), in_words(other))
}

impl FrontRow {
    /// The row of a level of `question`, as it is ranked in so many of a `unit`; `in_use` where that is other than was asked for.
    pub(crate) fn of(
        question: &Question,
        unit: &str,
        ranked: &Ranked,
        level: &Level,
        in_use: Option<String>,
    ) -> Result<FrontRow> {
        let (risk, inputs) = question.risk(level)?;
        let (usable_bytes, cost_usd) = (question.usable_bytes(level), question.cost_usd());
        let chunk = ranked.at.get("volume.interleave");
        let chunk = chunk.and_then(Json::as_u64).filter(|_| level.interleaved());
        let chunk = chunk.map_or_else(String::new, |sectors| format_bytes(sectors * SECTOR_BYTES));
        Ok(FrontRow {
            value: ranked.value,
            unit: unit.into(),
            usable_bytes,
            degraded: None,
            commands: None,
            commits: BTreeMap::new(),
            cost_usd,
            usd_per_tb: cost_usd.map(|cost| usd_per_tb(cost, usable_bytes)),
            survives: level.losses_survived(question.members()),
            rebuild_h: inputs.rebuild_h.range,
            gone: risk.gone,
            unreadable: risk.unreadable,
            torn_by_crash: risk.torn,
            words: vec![level.name.into(), chunk],
            members: question.members(),
            spares: question.spares,
            in_use,
            rows: other_rows(ranked, level),
            is_tied: is_tied(ranked),
            samples: ranked.samples.clone(),
            is_faster_degraded: false,
            has_stripe_cache: level.has_stripe_cache(),
            at: ranked.at.clone(),
        })
    }

    /// Whether it is one array with spares that nobody asked for.
    pub(super) fn has_spares_beside(&self) -> bool {
        self.in_use.is_some() && self.level().is_none_or(|level| level.nested().is_none())
    }

    /// The layout in words.
    pub(crate) fn layout(&self) -> String {
        let chunk = |chunk: &str| {
            if chunk.is_empty() { String::new() } else { format!("{chunk} chunk") }
        };
        let mut words: Vec<String> = match self.words.as_slice() {
            [level, own] => vec![level.clone(), chunk(own)],
            words => words.to_vec(),
        };
        words.extend(self.rows.as_ref().map(|rows| format!("{rows} rows of stripe cache")));
        words.extend(self.in_use.clone());
        words.retain(|word| !word.is_empty());
        words.join(", ")
    }

    /// What it holds, and what that costs beside a layout that does `best`.
    pub(crate) fn with_room(&self, (best, better): (f64, Better)) -> String {
        let behind = better.ahead(best, self.value);
        let costs = match behind {
            even if even.abs() < EVEN => "as fast".into(),
            ahead if ahead < 0.0 => "not slower".into(),
            behind => slower(behind.exp(), better, &self.unit),
        };
        let tie = if self.is_tied { " (no reliable difference)" } else { "" };
        format!(
            "{}: {}, survives {}, {costs}{tie}",
            self.layout(),
            room(self.usable_bytes),
            self.survives,
        )
    }

    /// What it is called first: its level, or the layout in words.
    pub(crate) fn called(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Its level, where that is a factor.
    pub(crate) fn level(&self) -> Option<Level> {
        plain(self.at.get("volume.level")?).parse().ok()
    }

    /// That it risks much more than a layout whose `risk` is this, where that matters.
    pub(crate) fn more_risk(&self, risk: &Risk) -> String {
        let [less, more] = [risk.gone.high, self.gone.high];
        if more < GONE_MIN || more < less * SAFER_BY {
            return String::new();
        }
        at_worst(more, less)
    }

    /// That a crash may leave its parity wrong, where a layout whose `risk` is this has none.
    pub(super) fn write_hole(&self, risk: &Risk) -> &'static str {
        let is_new = self.torn_by_crash.is_some() && risk.torn.is_none();
        if is_new { "; a power cut can leave its parity wrong (write hole)" } else { "" }
    }

    /// The heading of the table of such rows, of those columns that have something to say.
    pub(crate) fn heading(rows: &[FrontRow]) -> (Vec<String>, usize) {
        let words: &[&str] = match rows.first().map(|row| row.words.len()) {
            Some(1) => &["layout"],
            _ => &["level", "chunk"],
        };
        let shown = Shown::of(rows);
        let mut columns = words.to_vec();
        columns.push("speed");
        columns.extend(shown.degraded.then_some("one failed"));
        columns.extend(shown.commits.iter().map(|(_, called)| called.as_str()));
        columns.push("room");
        columns.extend(shown.cost.then_some("US$ per TB"));
        columns.extend(["survives", "rebuild h", "all data lost in 5 years"]);
        columns.extend(shown.torn.then_some("torn by a crash"));
        let columns = columns.into_iter();
        (columns.map(str::to_string).collect(), words.len())
    }

    /// The cells of its row.
    pub(crate) fn cells(&self, shown: &Shown) -> Vec<String> {
        let [idle, _, loaded] = self.rebuild_h.values();
        let [low, high] = [self.gone.low, self.gone.high].map(in_words);
        let mut cells = self.words.clone();
        if let (Some(chunk), Some(rows)) = (cells.last_mut(), &self.rows) {
            *chunk = format!("{chunk}, {rows} rows");
        }
        if let (Some(chunk), Some(in_use)) = (cells.last_mut(), &self.in_use) {
            *chunk = format!("{chunk}, {in_use}");
        }
        cells.push(format!("{} {}", figure(self.value), self.unit));
        let degraded = || self.degraded.map_or("–".into(), figure);
        cells.extend(shown.degraded.then(degraded));
        let commits = |(name, _): &(String, String)| {
            self.commits.get(name).map_or("–".into(), |value| figure(*value))
        };
        cells.extend(shown.commits.iter().map(commits));
        cells.push(room(self.usable_bytes));
        let cost = || self.usd_per_tb.map_or("–".into(), figure);
        cells.extend(shown.cost.then(cost));
        cells.extend([
            self.survives.to_string(),
            if self.survives == 0 {
                "–".into()
            } else {
                format!("{} to {}", tenths(idle), tenths(loaded))
            },
            if low == high { low } else { format!("{low} to {high}") },
        ]);
        let torn = self.torn_by_crash.map_or("–".into(), |torn| match in_words(torn.high) {
            below if below.starts_with("below") => below,
            most => format!("up to {most}"),
        });
        cells.extend(shown.torn.then_some(torn));
        cells
    }
}

impl Shown {
    pub(crate) fn of(rows: &[FrontRow]) -> Shown {
        Shown {
            commits: columns(rows),
            degraded: rows.iter().any(|row| row.degraded.is_some()),
            cost: rows.iter().any(|row| row.usd_per_tb.is_some()),
            torn: rows.iter().any(|row| row.torn_by_crash.is_some()),
        }
    }
}

impl FrontRow {
    /// Whether one of `others` is no worse in anything, and not reliably slower.
    pub(crate) fn is_beaten<'a>(
        &self,
        mut others: impl Iterator<Item = &'a FrontRow>,
        verdict: &Verdict,
    ) -> bool {
        others.any(|other| {
            !is_more_room(self.usable_bytes, other.usable_bytes)
                && other.survives >= self.survives
                && other.gone.high <= self.gone.high
                && (other.torn_by_crash.is_none() || self.torn_by_crash.is_some())
                && verdict.noise.difference(verdict.better, &self.samples, &other.samples).is_tie()
        })
    }

    /// Takes its place among `rows`, which begin with the fastest: behind itself without spares.
    pub(crate) fn stand_among(self, rows: &mut Vec<FrontRow>, better: Better) {
        let own = rows.iter().position(|row| row.at == self.at).map_or(0, |own| own + 1);
        let is_slower = |row: &FrontRow| better.ahead(self.value, row.value) > 0.0;
        let next = rows[own..].iter().position(is_slower);
        rows.insert(next.map_or(rows.len(), |next| own + next), self);
    }
}

/// Whether nothing measured is reliably faster.
pub(crate) fn is_tied(ranked: &Ranked) -> bool {
    matches!(ranked.standing, Standing::Best | Standing::Tie)
}

/// Rows of the stripe cache that a layout of this `level` was measured with, where those are not md's own.
fn other_rows(ranked: &Ranked, level: &Level) -> Option<String> {
    let rows = ranked.at.get("volume.stripe_cache").map(plain)?;
    (level.has_stripe_cache() && rows != DEFAULT_CACHE).then_some(rows)
}
