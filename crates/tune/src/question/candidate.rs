//! A layout among which a question chooses.

use block::layout::Level;
use lab::{Error, Result};

/// Rows of md's stripe cache as it comes.
pub(crate) const DEFAULT_CACHE: &str = CACHES[0];

/// Rows of md's stripe cache that are tried: as it comes, and its usual tuning.
pub(crate) const CACHES: [&str; 2] = ["256", "4096"];

/// md's default chunk (mdadm 3.1.1 and later).
pub(crate) const DEFAULT_CHUNK: &str = "512KiB";

/// A layout that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The level.
    pub level: Level,
    /// Its chunk, as it is written; one of all where the level has none.
    pub chunk: &'static str,
    /// Rows of its stripe cache, as they are written.
    pub cache: &'static str,
}

impl Candidate {
    /// What it is called.
    pub fn name(&self) -> String {
        let chunk = if self.level.interleaved() {
            format!(", {} chunk", self.chunk)
        } else {
            String::new()
        };
        let cache = if self.cache == DEFAULT_CACHE {
            String::new()
        } else {
            format!(", {} rows of stripe cache", self.cache)
        };
        format!("{}{chunk}{cache}", self.level)
    }

    /// What tells it from another, without what its level does not have.
    pub(crate) fn told_from(&self, other: &Candidate) -> String {
        let is_other_chunk = self.chunk != other.chunk && self.level.interleaved();
        let is_other_cache = self.cache != other.cache && self.level.has_stripe_cache();
        let parts = [
            (self.level != other.level, self.level.to_string()),
            (is_other_chunk, self.chunk.to_string()),
            (is_other_cache, format!("{} rows", self.cache)),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(apart, _)| *apart).map(|(_, part)| part).collect();
        parts.join(", ")
    }

    /// The keys that make it.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        [("level", self.level.name), ("interleave", self.chunk), ("stripe_cache", self.cache)]
            .map(|(key, value)| (format!("volume.{key}"), value.to_string()))
            .into()
    }
}

/// The level that `--level` names, of those that are `known`: `raid6` is Linux's, too.
pub(crate) fn level_named(name: &str, known: &[&str]) -> Result<Level> {
    let is_known = |level: &Level| known.contains(&level.name);
    let of_md = format!("md-{}", name.trim().to_ascii_lowercase());
    if let Some(level) = of_md.parse().ok().filter(is_known) {
        return Ok(level);
    }
    let level: Level =
        name.parse().map_err(|error| Error::input(format!("--level {name}: {error}")))?;
    Some(level).filter(is_known).ok_or_else(|| {
        Error::input(format!(
            "--level {name}: not a level that tune can choose; write one or more of {}",
            known.join(", ")
        ))
    })
}
