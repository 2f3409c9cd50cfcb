//! Errors for the person at the terminal.

use std::fmt;

/// What went wrong, and who can mend it.
#[derive(Debug)]
pub enum Error {
    /// The input is at fault, and the person who wrote it can mend it: exit status 2.
    Input(String),
    /// Something outside the input failed: exit status 1.
    Failure(String),
    /// A failure that comes again as long as the run is set up as it is: exit status 1.
    Setup(String),
}

/// A result whose error is for the person at the terminal.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The input is at fault.
    pub fn input(message: impl fmt::Display) -> Self {
        Error::Input(message.to_string())
    }

    /// Something outside the input failed.
    pub fn failure(message: impl fmt::Display) -> Self {
        Error::Failure(message.to_string())
    }

    /// The same error, with what was being done in front of it.
    #[must_use]
    pub fn context(self, doing: impl fmt::Display) -> Self {
        match self {
            Error::Input(message) => Error::Input(format!("{doing}: {message}")),
            Error::Failure(message) => Error::Failure(format!("{doing}: {message}")),
            Error::Setup(message) => Error::Setup(format!("{doing}: {message}")),
        }
    }

    /// The same error, with the next step behind it.
    #[must_use]
    pub fn followed_by(self, next: impl fmt::Display) -> Self {
        match self {
            Error::Input(message) => Error::Input(format!("{message}; {next}")),
            Error::Failure(message) => Error::Failure(format!("{message}; {next}")),
            Error::Setup(message) => Error::Setup(format!("{message}; {next}")),
        }
    }

    /// The exit status of a command that ends with it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Input(_) => 2,
            Error::Failure(_) | Error::Setup(_) => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(message) | Error::Failure(message) | Error::Setup(message) => {
                f.write_str(message)
            }
        }
    }
}

impl std::error::Error for Error {}

/// Line and column of a byte of a text, both counted from 1.
pub fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    (1 + before.matches('\n').count(), 1 + column)
}

/// The known name nearest to one that is not known, if any is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(name, known).into_iter().next()
}

/// How many letters of a word to change, leave out, put in or swap for the other.
pub fn distance(word: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(word, other)
}

/// What to do about a name that is not known: take the nearest one, or one of those that `otherwise` lists.
pub fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(name, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// The most names that a message suggests.
const FEW: usize = 3;

/// Whether one letter stands for another in a word so short that this makes another word of it: zfs is not xfs.
fn is_another_short_word(name: &str, other: &str) -> bool {
    const SHORT: usize = 3;
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    name.len() <= SHORT && name.len() == other.len() && letters(name) != letters(other)
}

/// The known names nearest to one that is not known, of those that are near enough to be meant: by typing errors, or
/// because they begin with it.
pub fn nearest_few<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = &*name.to_lowercase();
    let errors = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let errors = strsim::damerau_levenshtein(name, &candidate);
        let is_near = errors <= (candidate.len().min(name.len()) / 3).max(1)
            && !is_another_short_word(name, &candidate);
        let begins = name.len() >= 3 && candidate.starts_with(name);
        (is_near || begins).then_some(if begins { errors.min(1) } else { errors })
    };
    let mut near: Vec<(usize, &str)> =
        known.into_iter().filter_map(|candidate| Some((errors(candidate)?, candidate))).collect();
    near.sort_unstable();
    near.dedup();
    let least = near.first().map(|(errors, _)| *errors);
    let few = near.into_iter().take_while(|(errors, _)| Some(*errors) == least).take(FEW);
    few.map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_what_was_meant() {
        let known = ["volume.interleave", "volume.level", "host.name"];
        assert_eq!(nearest("volume.interleeve", known), Some("volume.interleave"));
        assert_eq!(nearest("volume.levle", known), Some("volume.level"));
        assert_eq!(nearest("quite.different", known), None);
        assert_eq!(nearest("foo", ["ffs", "fsck"]), None, "short names need more in common");
        assert_eq!(nearest("zfs", ["ext4", "xfs", "btrfs"]), None, "one letter makes another word");
        assert_eq!(nearest("xsf", ["ext4", "xfs", "btrfs"]), Some("xfs"));
        assert_eq!(nearest("linux", ["ideal", "linux-6.1"]), Some("linux-6.1"));
        assert_eq!(nearest_few("RAID5", ["raid5", "raid4", "raid10"]), ["raid5"]);
        assert_eq!(nearest_few("raid7", ["raid5", "raid4", "raid10"]), ["raid4", "raid5"]);
    }
}
