//! The drive of the catalogue that a device means by the model that it states.

use super::naming::{few, stands_in, words};
use super::{DRIVES, Kind};
use std::cmp::Reverse;

/// What a model is in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// A drive of this name.
    Drive(String),
    /// A cloud volume whose kind the device does not say; the name is that of the commonest.
    Volume {
        /// The name.
        name: String,
        /// Its size.
        gib: u64,
    },
    /// No drive.
    None {
        /// The drive whose name is nearest, if one is near.
        nearest: Option<String>,
        /// The drives of its size, where that is known.
        of_size: Vec<String>,
    },
}

/// What network volumes call themselves.
const VOLUMES: [(&str, &str); 2] =
    [("amazonelasticblockstore", "ebs-gp3"), ("persistentdisk", "gcp-pd-balanced")];

/// Words that say nothing of one drive rather than another.
const COMMON: [&str; 6] = ["samsung", "seagate", "wd", "ssd", "nvme", "sata"];

/// Fewer letters and digits are no model.
const MODEL_MIN: usize = 5;

/// The drive that calls itself `model` and has this many bytes, if that is known.
///
/// A name of the catalogue is meant where all of its words stand in the model, or all words of the model in it. Of
/// several one of its size is meant, to a tenth, then the longest without what is said of every drive, then the one of
/// which most is known.
pub fn matching(model: &str, bytes: Option<u64>) -> Match {
    let plain = plain(model);
    if let Some((_, name)) = VOLUMES.iter().find(|(called, _)| plain.contains(called)) {
        let gib = bytes.map_or(100, |bytes| (bytes >> 30).max(1));
        return Match::Volume { name: (*name).into(), gib };
    }
    let known = DRIVES.named().unwrap_or_default();
    let mut best: Option<(bool, usize, Reverse<usize>, String)> = None;
    for file in known {
        for name in &file.names {
            let Some(letters) = meant(&plain, model, name) else { continue };
            let fits = bytes.is_none_or(|bytes| has_size(file.key, bytes, 0.1));
            let rank = (fits, letters, Reverse(estimates(file.key)), file.key.to_string());
            let of = |(fits, letters, guessed, _): &(bool, usize, Reverse<usize>, String)| {
                (*fits, *letters, *guessed)
            };
            if best.as_ref().is_none_or(|known| of(known) < of(&rank)) {
                best = Some(rank);
            }
        }
    }
    if let Some((true, .., name)) = best {
        return Match::Drive(name);
    }
    let names = known.iter().flat_map(|file| file.names.iter().map(move |name| (name, file.key)));
    let lower = model.to_ascii_lowercase();
    let near = crate::error::nearest(&lower, names.clone().map(|(name, _)| name.as_str()));
    let nearest = best.map(|(.., name)| name).or_else(|| {
        let near = near?;
        names.clone().find(|(name, _)| *name == near).map(|(_, key)| key.to_string())
    });
    let of_size = bytes.map_or_else(Vec::new, |bytes| {
        let drives =
            known.iter().filter(|file| has_size(file.key, bytes, OF_SIZE) && !is_cloud(file.key));
        let mut drives: Vec<String> = drives.map(|file| file.key.to_string()).collect();
        disks_first(&mut drives);
        drives
    });
    Match::None { nearest, of_size }
}

/// How a drive that is in no catalogue gets a file of its own.
pub const OWN_FILE: &str = "`ileave drives fit` makes its file, of its data sheet or of what `ileave drives probe` measures";

/// What can be said of drives that may stand for one that is not known: the nearest by name, or some of its size.
pub fn stand_ins(nearest: Option<&str>, of_size: &[String]) -> String {
    if let Some(name) = nearest {
        return format!(", nearest is {name}");
    }
    if of_size.is_empty() {
        return String::new();
    }
    format!(", of its size: {}", few(of_size.iter().map(String::as_str)))
}

/// Letters and digits, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// How many letters and digits of their own a model and a name have in common, where one means the other.
fn meant(plain_model: &str, model: &str, name: &str) -> Option<usize> {
    let plain_name = plain(name);
    if plain_model.len() < MODEL_MIN || plain_name.len() < MODEL_MIN {
        return None;
    }
    let all_in = |text: &str, whole: &str| {
        let (words, whole) = (words(text), whole.to_ascii_lowercase());
        words.len() > 1 && words.iter().all(|word| stands_in(word, &whole))
    };
    let is_meant = plain_model.contains(&plain_name)
        || plain_name.contains(plain_model)
        || all_in(name, model)
        || all_in(model, name);
    let own = |text: &str| {
        words(text)
            .iter()
            .filter(|word| !COMMON.contains(&word.as_str()))
            .map(String::len)
            .sum::<usize>()
    };
    is_meant.then(|| own(name).min(own(model)))
}

/// How many figures of the drive called `name` are estimates.
fn estimates(name: &str) -> usize {
    let figures = super::describe(name).map(|described| described.figures).unwrap_or_default();
    figures.iter().filter(|stated| stated.kind == Kind::Estimate).count()
}

/// Disks in front of flash: most that is not known is one.
pub(super) fn disks_first(names: &mut [impl AsRef<str>]) {
    let is_flash = |name: &str| super::drive(name).is_ok_and(|drive| drive.class() != "disk");
    names.sort_by_cached_key(|name| is_flash(name.as_ref()));
}

/// Whether the drive called `name` is a cloud's, and none that a system has in it.
pub(super) fn is_cloud(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| drive.class() == "cloud")
}

/// Drives of one size differ by less than this share: 1000 and 1024 GB.
pub(super) const OF_SIZE: f64 = 0.03;

/// Whether the drive called `name` has this many bytes, to such a share.
pub(super) fn has_size(name: &str, bytes: u64, share: f64) -> bool {
    super::drive(name).is_ok_and(|drive| {
        let own = drive.sectors() as f64 * block::SECTOR_BYTES as f64;
        (own / bytes as f64 - 1.0).abs() < share
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_fit_the_better_known_is_meant() {
        let bytes = Some(1_000_204_886_016);
        let found = matching("Samsung SSD 980 PRO 1TB", bytes);
        assert_eq!(found, Match::Drive("980-pro-1tb".into()));
        // A number is whole here, too, where nobody says a size.
        assert_eq!(
            matching("Seagate IronWolf Pro 18TB", None),
            Match::Drive("st18000ne000".into())
        );
        assert!(matches!(matching("Seagate IronWolf Pro 8TB", None), Match::None { .. }));
        let found = matching("WD_BLACK SN850X 1000GB", bytes);
        assert_eq!(found, Match::Drive("iocost-wd-black-sn850x-1000gb".into()));
    }

    #[test]
    fn a_disk_that_is_not_known_has_others_of_its_size() {
        let found = matching("ST8000VN004-2M2101", Some(8_001_563_222_016));
        let Match::None { nearest: None, of_size } = found else { panic!("{found:?}") };
        assert!(of_size.contains(&"hus728t8tale6l4".to_string()), "{of_size:?}");
        assert!(!of_size.contains(&"azure-p60".to_string()), "{of_size:?}");
        assert!(stand_ins(None, &of_size).starts_with(", of its size: hus728t8tale6l4, "));
        assert_eq!(stand_ins(Some("x"), &of_size), ", nearest is x");
        assert_eq!(stand_ins(None, &[]), "");
    }
}
