//! Which trials of a run are whose, where several machines share it.
//!
//! A trial belongs to a shard by the hash of what it is (workload, factors, repeat), not by its place in the
//! plan. So long trials, which often stand side by side in a plan, are spread over all shards, and every machine
//! knows its trials without asking another.

use crate::error::{Error, Result};
use serde_json::{Map, Value as Json};
use std::fmt;
use std::str::FromStr;

/// One of several parts of a run, as in `2/7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u64,
    of: u64,
}

/// Most parts that a run is divided into.
pub const SHARDS_MAX: u64 = 1_000_000;

impl Shard {
    /// The `number`-th of `of` shards, counted from 1.
    ///
    /// # Errors
    ///
    /// Where there is no such shard.
    pub fn new(number: u64, of: u64) -> Result<Self> {
        if of > SHARDS_MAX {
            return Err(Error::input(format!(
                "shard {number}/{of}: a run has at most {SHARDS_MAX} shards; take fewer"
            )));
        }
        if number == 0 || number > of {
            let range = if of == 0 { "1/1".into() } else { format!("1/{of} to {of}/{of}") };
            return Err(Error::input(format!("there is no shard {number}/{of}; give {range}")));
        }
        Ok(Shard { number, of })
    }

    /// All of `of` shards; none where `of` is 0.
    pub fn all(of: u64) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |number| Shard { number, of })
    }

    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// How many shards there are.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Whether a trial is this shard's.
    pub fn has(self, workload: &str, at: &Map<String, Json>, repeat: u64) -> bool {
        Shard::number_of(workload, at, repeat, None, self.of) == self.number
    }

    /// The number of the shard, of `of`, that has a trial, or a window of one.
    pub fn number_of(
        workload: &str,
        at: &Map<String, Json>,
        repeat: u64,
        window: Option<u64>,
        of: u64,
    ) -> u64 {
        let product = u128::from(hash(workload, at, repeat, window)) * u128::from(of);
        // Its upper half: a shard has an equal part of all hashes, whatever `of` is.
        1 + (product >> 64) as u64
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
        let parts = text.split_once('/').and_then(|(i, n)| Some((number(i)?, number(n)?)));
        let Some((number, of)) = parts else {
            return Err(Error::input(format!(
                "`{text}` is not a shard; write its number and their count, as in 2/7"
            )));
        };
        Shard::new(number, of)
    }
}

/// FNV-1a of what a trial is, with the finish of splitmix64: FNV alone moves the upper bits too little.
fn hash(workload: &str, at: &Map<String, Json>, repeat: u64, window: Option<u64>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        // 255 is no byte of UTF-8, so no two keys run into one.
        for byte in text.bytes().chain([255]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(workload);
    for (path, value) in at {
        add(path);
        add(&value.to_string());
    }
    add(&repeat.to_string());
    if let Some(window) = window {
        add(&window.to_string());
    }
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials of a plan: two workloads, two factors, repeats.
    fn trials() -> Vec<(&'static str, Map<String, Json>, u64)> {
        let mut trials = Vec::new();
        for workload in ["read", "write"] {
            for interleave in 0..50_u64 {
                for level in ["stripe", "raid5"] {
                    for repeat in 0..10 {
                        let mut at = Map::new();
                        at.insert("volume.interleave".into(), interleave.into());
                        at.insert("volume.level".into(), level.into());
                        trials.push((workload, at, repeat));
                    }
                }
            }
        }
        trials
    }

    #[test]
    fn every_trial_is_in_one_shard_and_the_shards_are_alike() {
        let trials = trials();
        for of in [1, 2, 3, 7, 20, 64] {
            let mut counts = vec![0_u64; usize::try_from(of).unwrap()];
            for (workload, at, repeat) in &trials {
                let own: Vec<Shard> =
                    Shard::all(of).filter(|shard| shard.has(workload, at, *repeat)).collect();
                assert_eq!(own.len(), 1, "{workload} {at:?} {repeat} of {of}");
                counts[usize::try_from(own[0].number() - 1).unwrap()] += 1;
            }
            // What throwing dice would give, five standard deviations either way.
            let mean = trials.len() as f64 / of as f64;
            let far = 5.0 * (mean * (1.0 - 1.0 / of as f64)).sqrt();
            assert!(counts.iter().all(|&n| (n as f64 - mean).abs() <= far), "{of}: {counts:?}");
        }
    }

    /// Shards of one run may be of different machines and days: the hash stays as it is.
    #[test]
    fn a_trial_stays_in_its_shard() {
        let mut at = Map::new();
        at.insert("volume.interleave".into(), 64.into());
        assert_eq!(hash("read", &at, 0, None), 0x4d58_7863_137e_6c45);
        assert_ne!(hash("read", &at, 0, Some(1)), hash("read", &at, 0, Some(2)));
    }

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["1/1", "2/7", "7/7", "1000/100000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for (text, expected) in [
            ("0/7", "there is no shard 0/7; give 1/7 to 7/7"),
            ("8/7", "there is no shard 8/7; give 1/7 to 7/7"),
            ("0/0", "there is no shard 0/0; give 1/1"),
            ("2", "`2` is not a shard; write its number and their count, as in 2/7"),
            ("2/", "`2/` is not a shard"),
            ("+2/7", "`+2/7` is not a shard"),
            ("-1/7", "`-1/7` is not a shard"),
            ("2/7/9", "`2/7/9` is not a shard"),
            ("99999999999999999999/7", "is not a shard"),
        ] {
            let said = text.parse::<Shard>().unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}
