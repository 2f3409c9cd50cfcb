//! The drive of the catalogue that a device means by the model that it states.

use super::DRIVES;

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
    },
}

/// What network volumes call themselves.
const VOLUMES: [(&str, &str); 2] =
    [("amazonelasticblockstore", "ebs-gp3"), ("persistentdisk", "gcp-pd-balanced")];

/// Fewer letters and digits are no model.
const MODEL_MIN: usize = 5;

/// The drive that calls itself `model` and has this many bytes, if that is known.
///
/// A name of the catalogue is meant where all of its words stand in the model, or all words of the model in it. Of
/// several the one with the nearest size is meant, and then the longest.
pub fn matching(model: &str, bytes: Option<u64>) -> Match {
    let plain = plain(model);
    if let Some((_, name)) = VOLUMES.iter().find(|(called, _)| plain.contains(called)) {
        let gib = bytes.map_or(100, |bytes| (bytes >> 30).max(1));
        return Match::Volume { name: (*name).into(), gib };
    }
    let known = DRIVES.named().unwrap_or_default();
    let mut best: Option<(bool, usize, String)> = None;
    for file in known {
        for name in &file.names {
            let Some(letters) = meant(&plain, model, name) else { continue };
            let fits = bytes.is_none_or(|bytes| has_size(file.key, bytes));
            let rank = (fits, letters, file.key.to_string());
            if best.as_ref().is_none_or(|(known, length, _)| (*known, *length) < (rank.0, rank.1)) {
                best = Some(rank);
            }
        }
    }
    if let Some((true, _, name)) = best {
        return Match::Drive(name);
    }
    let names = known.iter().flat_map(|file| file.names.iter().map(move |name| (name, file.key)));
    let lower = model.to_ascii_lowercase();
    let near = crate::error::nearest(&lower, names.clone().map(|(name, _)| name.as_str()));
    let nearest = best.map(|(_, _, name)| name).or_else(|| {
        let near = near?;
        names.clone().find(|(name, _)| *name == near).map(|(_, key)| key.to_string())
    });
    Match::None { nearest }
}

/// Letters and digits, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// How many letters and digits a model and a name have in common, where one means the other.
fn meant(plain_model: &str, model: &str, name: &str) -> Option<usize> {
    let plain_name = plain(name);
    if plain_model.len() < MODEL_MIN || plain_name.len() < MODEL_MIN {
        return None;
    }
    let all_in = |words: &str, whole: &str| {
        let words = super::naming::words(words);
        words.len() > 1 && words.iter().all(|word| whole.contains(&plain(word)))
    };
    let is_meant = plain_model.contains(&plain_name)
        || plain_name.contains(plain_model)
        || all_in(name, plain_model)
        || all_in(model, &plain_name);
    is_meant.then(|| plain_name.len().min(plain_model.len()))
}

/// Whether the drive called `name` has this many bytes, to a tenth.
pub(super) fn has_size(name: &str, bytes: u64) -> bool {
    super::drive(name).is_ok_and(|drive| {
        let own = drive.sectors() as f64 * block::SECTOR_BYTES as f64;
        (own / bytes as f64 - 1.0).abs() < 0.1
    })
}
