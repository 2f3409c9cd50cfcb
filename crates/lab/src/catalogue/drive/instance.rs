//! How many disks an instance of a cloud has, as the files of its disks say it.

use super::Drive;

impl Drive {
    /// How many of these disks instances have, where they go with one:
    /// `m5d.large, r5d.large, m5ad.large and z1d.large have one`.
    pub fn per_instance(&self) -> Option<String> {
        let note = self.sheet.note.as_ref().filter(|_| self.figures.goes_with_instance)?;
        let note = note.replace('\n', " ");
        let (_, counts) = note.split_once("instances have one or more: ")?;
        Some(counts.split(". ").next()?.trim_end_matches('.').into())
    }

    /// The most of these disks that one instance has, where they go with one and its file says it in words that are read.
    pub fn most_per_instance(&self) -> Option<usize> {
        let counts = self.per_instance()?;
        let words = counts.split([' ', ',', ';']);
        words.filter_map(|word| number_in_words(word).or_else(|| word.parse().ok())).max()
    }
}

/// `three` is 3, up to twelve, as the files of instances' disks write.
fn number_in_words(word: &str) -> Option<usize> {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.iter().position(|known| *known == word).map(|place| place + 1)
}
