//! What an experiment varies: what each factor is to whoever reads the results, and how its values are written.
//!
//! The manifest keeps it for each factor, as the table of keys had it when the experiment ran.

use crate::record::{plain, short_key};
use block::SECTOR_BYTES;
use block::layout::Level;
use block::units::{format_bytes, format_bytes_per_s, format_nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;

/// The level of an experiment that names none.
pub const DEFAULT_LEVEL: &str = "stripe";
/// The interleave of an experiment that names none.
pub const DEFAULT_INTERLEAVE: &str = "64KiB";

/// What a factor is to whoever reads the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A layout or a tunable, which can be chosen. Only choices are ranked.
    #[default]
    Choice,
    /// What the work asks for: depth, size, rate. Choices are judged over it.
    Load,
    /// How things are: failed members, the machine. Choices are judged under it.
    Condition,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Choice => "choice",
            Role::Load => "load",
            Role::Condition => "condition",
        })
    }
}

/// How a factor's values are written for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// As they are: counts, words, switches.
    #[default]
    AsIs,
    /// Sizes, kept in sectors and written in bytes: `4KiB`.
    Bytes,
    /// Sizes, kept and written in sectors, with their bytes beside them where there is room: `64 (32 KiB)`.
    Sectors,
    /// Sizes of a key that counts sectors, kept in them and written in bytes, as the person did: `256KiB`, and once
    /// `256KiB (512 sectors)`.
    BytesOfSectors,
    /// Rates, kept in bytes a second: `100MB/s`.
    Rate,
    /// Times, kept in nanoseconds: `20us`.
    Time,
}

impl Written {
    /// The unit in which whole numbers are kept; empty where there is none.
    pub fn kept_in(self) -> &'static str {
        match self {
            Written::AsIs => "",
            Written::Bytes | Written::Sectors | Written::BytesOfSectors => "sectors",
            Written::Rate => "bytes/s",
            Written::Time => "ns",
        }
    }
}

/// One factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorKind {
    /// What it is to whoever reads the results.
    pub role: Role,
    /// How its values are written.
    pub written: Written,
}

impl FactorKind {
    /// A value as people write it.
    pub fn shown(self, value: &Json) -> String {
        let number = value.as_u64();
        let shown = match self.written {
            Written::Bytes | Written::BytesOfSectors => size_bytes(value).map(format_bytes),
            Written::Rate => number.map(format_bytes_per_s),
            Written::Time => number.map(format_nanos),
            Written::AsIs | Written::Sectors => None,
        };
        shown.unwrap_or_else(|| plain(value))
    }

    /// The unit that all values are written in and none of them carries; empty where there is none.
    pub fn unit(self) -> &'static str {
        if self.written == Written::Sectors { "sectors" } else { "" }
    }

    /// The same, and beside a count of sectors its size: `64 (32 KiB)`.
    pub fn with_unit(self, value: &Json) -> String {
        let bytes = size_bytes(value).filter(|&bytes| bytes > 0);
        match bytes.filter(|_| self.written == Written::Sectors) {
            Some(bytes) => {
                let size = format_bytes(bytes);
                let unit = size.find(|letter: char| letter.is_ascii_alphabetic());
                let (number, unit) = size.split_at(unit.unwrap_or(size.len()));
                format!("{value} ({number} {unit})")
            }
            None => self.shown(value),
        }
    }
}

/// Sectors in bytes.
fn size_bytes(sectors: &Json) -> Option<u64> {
    sectors.as_u64()?.checked_mul(SECTOR_BYTES)
}

/// The factors of an experiment, by key path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Factors(pub BTreeMap<String, FactorKind>);

impl Factors {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The factor at this key path. One that nothing is known of may be chosen, and is written as it is.
    pub fn of(&self, path: &str) -> FactorKind {
        self.0.get(path).copied().unwrap_or_default()
    }

    /// The role of the factor at this key path.
    pub fn role(&self, path: &str) -> Role {
        self.of(path).role
    }

    /// A factor's value as people write it.
    pub fn shown(&self, path: &str, value: &Json) -> String {
        self.of(path).shown(value)
    }

    /// About a value of this factor, as people say it: a size in whole KiB, MiB and so on, from 10 of them on; a rate or a time to two
    /// digits.
    pub fn about(&self, path: &str, value: f64) -> u64 {
        const UNITS: [f64; 4] =
            [(1_u64 << 40) as f64, (1_u64 << 30) as f64, (1_u64 << 20) as f64, 1024.0];
        let is_size = matches!(
            self.of(path).written,
            Written::Bytes | Written::BytesOfSectors | Written::Sectors
        );
        let bytes = value * SECTOR_BYTES as f64;
        match UNITS.into_iter().find(|unit| bytes >= 10.0 * unit).filter(|_| is_size) {
            Some(unit) => ((bytes / unit).round() * unit / SECTOR_BYTES as f64) as u64,
            None if matches!(self.of(path).written, Written::Rate | Written::Time) => {
                let unit = 10_f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
                ((value / unit).round() * unit) as u64
            }
            None => value.round() as u64,
        }
    }

    /// What stands at an axis of this factor: its name, and the unit that its values do not carry.
    pub fn axis(&self, path: &str) -> String {
        match self.of(path).unit() {
            "" => short_key(path).into(),
            unit => format!("{} ({unit})", short_key(path)),
        }
    }

    /// A sentence in which a size that was written in bytes, of a key that counts sectors, is said in sectors too,
    /// where it stands first.
    pub fn with_sectors_once(&self, sentence: &str, at: &Map<String, Json>) -> String {
        let mut sentence = sentence.to_string();
        for (path, value) in at {
            let (kind, sectors) = (self.of(path), value.as_u64().unwrap_or(0));
            if kind.written == Written::BytesOfSectors && sectors > 0 {
                let shown = kind.shown(value);
                sentence = sentence.replacen(&shown, &format!("{shown} ({sectors} sectors)"), 1);
            }
        }
        sentence
    }

    /// The same, and beside a count of sectors its size.
    pub fn with_unit(&self, path: &str, value: &Json) -> String {
        self.of(path).with_unit(value)
    }

    /// A workload with values of its factors: `tar[files=100]`.
    pub fn named_under<'a>(
        &self,
        workload: &str,
        given: impl IntoIterator<Item = (&'a String, &'a Json)>,
    ) -> String {
        let given = given.into_iter();
        let words =
            given.map(|(path, value)| format!("{}={}", short_key(path), self.shown(path, value)));
        match words.collect::<Vec<_>>().as_slice() {
            [] => workload.into(),
            words => format!("{workload}[{}]", words.join(",")),
        }
    }

    /// The factors' values in one line, without the keys' sections: `interleave 64 (32 KiB), block 4KiB`.
    pub fn label(&self, at: &Map<String, Json>) -> String {
        if at.is_empty() {
            return "the only cell".into();
        }
        let applies = at.iter().filter(|(path, value)| applies(at, path, value));
        let parts: Vec<String> = applies
            .map(|(path, value)| format!("{} {}", short_key(path), self.with_unit(path, value)))
            .collect();
        parts.join(", ")
    }
}

/// Whether a factor says anything of the layout `at`: an empty text does not, as the interleave of a single drive, nor do the rows
/// of a stripe cache where the level has none.
pub fn applies(at: &Map<String, Json>, path: &str, value: &Json) -> bool {
    let level = || at.get("volume.level")?.as_str()?.parse::<Level>().ok();
    let is_of_none =
        path == "volume.stripe_cache" && level().is_some_and(|level| !level.has_stripe_cache());
    value.as_str() != Some("") && !is_of_none
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Use level md-raid10, `stripe_cache` 256", which it has none of.
    #[test]
    fn a_stripe_cache_is_named_where_there_is_one() {
        let label = |level: &str| {
            let at = serde_json::json!({ "volume.level": level, "volume.stripe_cache": 256 });
            factors().label(at.as_object().unwrap())
        };
        assert_eq!(label("md-raid10"), "level md-raid10");
        assert_eq!(label("md-raid5"), "level md-raid5, stripe_cache 256");
    }

    /// "From about 130003456B on" stood between 64MiB and 192MiB.
    #[test]
    fn a_size_between_two_is_a_round_one() {
        let kind = |written| FactorKind { role: Role::Load, written };
        let factors = Factors(BTreeMap::from([
            ("workload.r.span".into(), kind(Written::BytesOfSectors)),
            ("workload.r.depth".into(), kind(Written::AsIs)),
        ]));
        let shown =
            |path: &str, value: f64| factors.shown(path, &factors.about(path, value).into());
        assert_eq!(shown("workload.r.span", 130_003_456.0 / 512.0), "124MiB");
        assert_eq!(shown("workload.r.span", 5_300.4 * 1024.0 / 512.0), "5300KiB");
        assert_eq!(shown("workload.r.depth", 24.4), "24");
    }

    /// "From about 571915874B/s on" stood between 200MB/s and 2GB/s.
    #[test]
    fn a_rate_or_a_time_between_two_has_two_digits() {
        let kind = |written| FactorKind { role: Role::Condition, written };
        let factors = Factors(BTreeMap::from([
            ("volume.rebuild".into(), kind(Written::Rate)),
            ("workload.r.think_time".into(), kind(Written::Time)),
        ]));
        let shown =
            |path: &str, value: f64| factors.shown(path, &factors.about(path, value).into());
        assert_eq!(shown("volume.rebuild", 571_915_874.0), "570MB/s");
        assert_eq!(shown("workload.r.think_time", 1_234_567.0), "1.2ms");
        assert_eq!(shown("workload.r.think_time", 7.0), "7ns");
    }

    fn factors() -> Factors {
        let kind = |role, written| FactorKind { role, written };
        Factors(BTreeMap::from([
            ("fs.block".into(), kind(Role::Choice, Written::Bytes)),
            ("volume.interleave".into(), kind(Role::Choice, Written::Sectors)),
            ("workload.read.depth".into(), kind(Role::Load, Written::AsIs)),
        ]))
    }

    /// An interleave is counted in sectors everywhere; nobody counts a block so.
    #[test]
    fn sizes_are_shown_as_people_write_them() {
        let factors = factors();
        let shown = |path, value| factors.shown(path, &Json::from(value));
        assert_eq!(shown("fs.block", 32), "16KiB");
        assert_eq!(shown("volume.interleave", 128), "128");
        assert_eq!(shown("workload.read.depth", 32), "32");
        assert_eq!(shown("somebody's", 2), "2");
        let at = Map::from_iter([("fs.block".to_string(), Json::from(8))]);
        assert_eq!(factors.label(&at), "block 4KiB");
        let with_unit = |path, value| factors.with_unit(path, &Json::from(value));
        assert_eq!(with_unit("volume.interleave", 64), "64 (32 KiB)");
        assert_eq!(with_unit("fs.block", 8), "4KiB");
        assert_eq!(factors.axis("volume.interleave"), "interleave (sectors)");
        assert_eq!(factors.axis("fs.block"), "block");
    }

    /// Who wrote 256KiB reads 256KiB, and once how many sectors those are.
    #[test]
    fn bytes_that_were_written_are_read() {
        let mut factors = factors();
        let interleave = factors.0.get_mut("volume.interleave").unwrap();
        interleave.written = Written::BytesOfSectors;
        let at = Map::from_iter([("volume.interleave".to_string(), Json::from(512))]);
        assert_eq!(factors.label(&at), "interleave 256KiB");
        assert_eq!(factors.axis("volume.interleave"), "interleave");
        let said = factors.with_sectors_once("Use interleave 256KiB. 256KiB is it.", &at);
        assert_eq!(said, "Use interleave 256KiB (512 sectors). 256KiB is it.");
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let kept = toml::to_string(&factors()).unwrap();
        assert!(kept.contains("role = \"load\"") && kept.contains("written = \"as-is\""), "{kept}");
        assert_eq!(toml::from_str::<Factors>(&kept).unwrap(), factors());
        assert_eq!(factors().role("somebody's"), Role::Choice);
        assert_eq!(factors().role("workload.read.depth"), Role::Load);
    }
}
