//! What somebody means by the name of a drive who does not write that of its file.

use super::family::{Family, is_other_series};
use super::matching::{OF_SIZE, disks_first, goes_with_instance, has_size, is_cloud, is_shingled};
use super::{Error, Folder, Named, Result, drive, nearest};
use std::cmp::Reverse;
use store::error::distance;

/// Whether a number may be I/Os a second that are provisioned of a volume of 500 GiB.
fn is_of_ios(volume: &str, number: &str) -> bool {
    drive(&format!("{volume}[size=500GiB,iops={number}]")).is_ok()
}

/// A drive is of about a size that is its own within this, where none is nearer.
const ABOUT_SIZE: f64 = 0.25;

/// A name of which more is otherwise is no name like it.
const UNLIKE_MAX_PERCENT: usize = 50;

/// A name may have one wrong letter in as many, and still be known.
const LETTERS_EACH: usize = 5;

/// The most drives that a message names.
const FEW: usize = 6;

impl Folder {
    /// The files that have every word of `name` in one of their names. A size, as `8tb`, may be the drive's own instead.
    pub(super) fn with_words(&'static self, name: &str) -> Result<Vec<&'static Named>> {
        let words = self.words(name);
        // A size alone names nothing.
        if words.iter().all(|word| bytes_of(word).is_some()) {
            return Ok(vec![]);
        }
        let files = self.named()?.iter();
        let is_meant = |file: &&Named| {
            words.iter().all(|word| has_word(file, word)) && !is_akin_series(file, name)
        };
        let files = files.filter(is_meant);
        Ok(files.filter(|file| !shares_its_name(file, &words)).collect())
    }

    /// The keys of all files that have every word of `text` in one of their names, or as their class or size.
    pub(super) fn like(&'static self, text: &str) -> Result<Vec<&'static str>> {
        let words = words(text);
        // A number alone names nothing, and no word would name all.
        if !words.iter().any(|word| word.chars().any(char::is_alphabetic)) {
            return Ok(vec![]);
        }
        let is_class =
            |file: &Named, word: &str| drive(file.key).is_ok_and(|drive| drive.class() == word);
        let has_all =
            |file: &&Named| words.iter().all(|word| has_word(file, word) || is_class(file, word));
        let is_meant = |file: &&Named| has_all(file) && !is_akin_series(file, text);
        Ok(self.named()?.iter().filter(is_meant).map(|file| file.key).collect())
    }

    /// What to say of a name that means no file, or several.
    pub(super) fn unknown(&'static self, name: &str) -> Result<Error> {
        let thing = self.thing;
        if name.len() <= 2 && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Error::input(format!(
                "`{name}` is a number, and no {thing}; write a name, behind a count where there are several, as in 4xNAME"
            )));
        }
        let one = without_count(name);
        let meant: Vec<&str> = self.with_words(one)?.into_iter().map(|file| file.key).collect();
        if meant.len() > 1 {
            let meant = meant.join(", ");
            return Ok(Error::input(format!(
                "`{name}` may be any of {meant}; write more of its name"
            )));
        }
        if self.thing == "drive"
            && let Some(size) = self.of_size_alone(name)?
        {
            return Ok(Error::input(size));
        }
        let names = self.named()?.iter().flat_map(|file| &file.names);
        let known: Vec<String> = names.map(|name| name.to_ascii_lowercase()).collect();
        let near = self.nearest_name(&name.to_ascii_lowercase(), &known)?;
        let counted = meant.first().filter(|_| one != name);
        if let Some((volume, gib)) = self.volume_of(name) {
            // 3000 may be of either.
            let ios = if is_of_ios(&volume, &gib) {
                format!(" or `{volume}[size=500GiB,iops={gib}]`")
            } else {
                String::new()
            };
            return Ok(Error::input(format!(
                "no {thing} is called `{name}`; write what is provisioned of it in brackets, as in `{volume}[size={gib}GiB]`{ios}"
            )));
        }
        let family = Family::of(one).filter(|_| self.thing == "drive");
        // As an inventory has it, with the letters of a customer behind: `ST20000NM007D-3DJ103`.
        let begins = |name: &&str| one.to_ascii_lowercase().starts_with(&format!("{name}-"));
        let begun = self.named()?.iter().map(|file| file.key).find(begins);
        let meant = match near {
            _ if let Some(key) = counted.or(begun.as_ref()) => format!("; did you mean `{key}`?"),
            _ if let Some(family) = family => family.instead(one, self.named()?),
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => self.akin(name)?,
        };
        let shingled = self.shingled_among(&meant)?;
        Ok(Error::input(format!(
            "no {thing} is called `{name}`{meant}{shingled}\n`ileave {}` lists them; the path of a file of your own will do \
             too{}",
            self.name,
            if thing == "drive" { " (`ileave drives fit` makes one)" } else { "" }
        )))
    }

    /// The nearest of the `known` names to one in small letters: that of a file where no other is nearer, and never a title,
    /// which nobody writes.
    fn nearest_name<'a>(&'static self, name: &str, known: &'a [String]) -> Result<Option<&'a str>> {
        let errors = |other: &str| {
            let begins = name.len() >= 3 && other.starts_with(name);
            if begins { distance(name, other).min(1) } else { distance(name, other) }
        };
        let Some(near) = nearest(name, known.iter().map(String::as_str)) else { return Ok(None) };
        let keys = self.named()?.iter().map(|file| file.key);
        let key = nearest(name, keys).filter(|key| errors(key) <= errors(near));
        let of_file = || {
            let is_its = |file: &&Named| file.names.iter().any(|of| of.eq_ignore_ascii_case(near));
            Ok(self.named()?.iter().find(is_its).map_or(near, |file| file.key))
        };
        match key {
            Some(key) => Ok(Some(key)),
            None if near.contains(' ') => of_file().map(Some),
            None => Ok(Some(near)),
        }
    }

    /// That drives which a message names are shingled, which their names do not say.
    fn shingled_among(&'static self, said: &str) -> Result<String> {
        let named = self.named()?.iter().map(|file| file.key);
        let shingled: Vec<&str> =
            named.filter(|key| stands_in(key, said) && is_shingled(key)).collect();
        Ok(match shingled.as_slice() {
            [] => String::new(),
            [one] => format!(" ({one} is shingled, SMR)"),
            several => format!(" ({} are shingled, SMR)", several.join(", ")),
        })
    }

    /// The cloud volume that a name means without a count and bare numbers, and the first of these: `ebs gp3 3000`.
    fn volume_of(&'static self, name: &str) -> Option<(String, String)> {
        if self.thing != "drive" {
            return None;
        }
        let bare = without_count(name);
        let words = self.words(bare);
        let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
        let named: Vec<&str> =
            words.iter().filter(|word| !is_number(word)).map(String::as_str).collect();
        if named.is_empty() || (named.len() == words.len() && bare == name) {
            return None;
        }
        let meant = drive(&named.join(" ")).ok()?;
        let number = words.iter().find(is_number).map_or("500", String::as_str).to_string();
        (meant.class() == "cloud").then_some((meant.name, number))
    }

    /// What to say where a name is a size and no more, perhaps behind a count: those that are as large.
    fn of_size_alone(&'static self, name: &str) -> Result<Option<String>> {
        let words = self.words(name);
        let mut sizes = words.iter().filter(|word| !is_count(word));
        let Some((size, bytes)) = sizes.next().and_then(|size| Some((size, bytes_of(size)?)))
        else {
            return Ok(None);
        };
        if sizes.next().is_some() {
            return Ok(None);
        }
        let known = self.named()?.iter().map(|file| file.key);
        let mut found: Vec<&str> =
            known.filter(|key| !is_cloud(key) && has_size(key, bytes, OF_SIZE)).collect();
        disks_first(&mut found);
        Ok((found.len() > 1).then(|| {
            let (count, few) = (found.len(), few(found.into_iter()));
            format!(
                "`{name}`: {count} drives are of {}: {few}; write the name of one",
                size.to_uppercase()
            )
        }))
    }

    /// The drives that have the most words of `name`, and those of its size.
    fn akin(&'static self, name: &str) -> Result<String> {
        let words = self.words(name);
        let shared = |file: &Named| {
            words.iter().filter(|word| bytes_of(word).is_none() && has_word(file, word)).count()
        };
        let mut akin: Vec<(Reverse<usize>, &str)> =
            self.named()?.iter().map(|file| (Reverse(shared(file)), file.key)).collect();
        akin.sort_unstable();
        let most = akin.first().map_or(0, |(Reverse(shared), _)| *shared);
        akin.retain(|(Reverse(shared), key)| match most {
            0 => begins_like(name, key),
            _ => *shared == most,
        });
        if akin.is_empty() {
            akin = self.misspelt(name)?.into_iter().map(|key| (Reverse(0), key)).collect();
        }
        if akin.is_empty() && self.thing == "drive" {
            akin = self.alike(&words)?;
        }
        let by_name = (!akin.is_empty())
            .then(|| format!("; nearest by name: {}", few(akin.iter().map(|(_, key)| *key))));
        // What is not said to be shingled is not: those of its size go first then.
        let is_last = akin.iter().all(|(_, key)| is_shingled(key));
        let mut said: Vec<String> = by_name.iter().filter(|_| !is_last).cloned().collect();
        if let Some(size) = words.iter().find(|word| bytes_of(word).is_some()) {
            let named = self.named()?;
            let within = |share: f64| -> Vec<&str> {
                let bytes = bytes_of(size).unwrap_or(0);
                let of_size = named.iter().map(|file| file.key);
                of_size.filter(|key| !is_cloud(key) && has_size(key, bytes, share)).collect()
            };
            let (mut of_size, mut of) = (within(OF_SIZE), "of");
            if of_size.is_empty() {
                (of_size, of) = (within(ABOUT_SIZE), "of about");
            }
            disks_first(&mut of_size);
            if !of_size.is_empty() {
                let few = few(of_size.into_iter());
                said.push(format!("; {of} {}: {few}", size.to_uppercase()));
            }
        }
        said.extend(by_name.filter(|_| is_last));
        Ok(said.concat())
    }

    /// The drives with a part of a name that is fewest letters from all of `name`: `980prro` is one from `980 PRO`.
    fn misspelt(&'static self, name: &str) -> Result<Vec<&'static str>> {
        let words = self.words(name);
        let typed = words.concat();
        let most = typed.len() / LETTERS_EACH;
        if most == 0 || words.iter().all(|word| bytes_of(word).is_some()) {
            return Ok(vec![]);
        }
        let files = self.named()?.iter().map(|file| {
            let edits = file.names.iter().map(|name| edits_to_part(&typed, &squeezed(name)));
            (edits.min().unwrap_or(usize::MAX), file.key)
        });
        let near: Vec<(usize, &str)> = files.filter(|(edits, _)| *edits <= most).collect();
        let least = near.iter().map(|(edits, _)| *edits).min();
        let nearest = near.into_iter().filter(|(edits, _)| Some(*edits) == least);
        Ok(nearest.map(|(_, key)| key).collect())
    }

    /// The drives that have a word most like one of `words`, by the letters alone, if half of that word is alike:
    /// `i3en` for `i9q`.
    fn alike(&'static self, words: &[String]) -> Result<Vec<(Reverse<usize>, &'static str)>> {
        let own: Vec<String> = words
            .iter()
            .filter(|word| bytes_of(word).is_none())
            .map(|word| digitless(word))
            .collect();
        let unlike = |file: &Named| {
            let names = file.names.iter().flat_map(|name| self::words(name));
            let theirs: Vec<String> = names.map(|word| digitless(&word)).collect();
            let pairs = own.iter().flat_map(|own| theirs.iter().map(move |other| (own, other)));
            pairs.map(|(own, other)| percent_unlike(own, other)).min()
        };
        let all =
            self.named()?.iter().filter(|file| goes_with_instance(file.key) || !is_cloud(file.key));
        let mut all: Vec<(usize, &str)> =
            all.filter_map(|file| Some((unlike(file)?, file.key))).collect();
        all.sort_unstable();
        let least = all.first().map_or(100, |(unlike, _)| *unlike);
        all.retain(|(unlike, _)| *unlike == least && least <= UNLIKE_MAX_PERCENT);
        Ok(all.into_iter().map(|(_, key)| (Reverse(0), key)).collect())
    }

    /// Drives have long names; whoever names a host or a tree has its file in mind.
    fn words(&self, name: &str) -> Vec<String> {
        if self.thing == "drive" { words(name) } else { Vec::new() }
    }
}

/// Whether a drive is of a series that has that of `name` in it, or of one in that: a 980 PRO is no 980.
pub(super) fn is_akin_series(file: &Named, name: &str) -> bool {
    file.names.iter().any(|own| is_other_series(name, own))
}

/// Whether a word says how many there are: `12x`.
fn is_count(word: &str) -> bool {
    word.strip_suffix('x').is_some_and(|count| count.parse::<u32>().is_ok())
}

/// A name without how many there are, as `4x pm9a3`.
fn without_count(name: &str) -> &str {
    match name.trim_start().split_once(' ') {
        Some((first, rest)) if is_count(&first.to_ascii_lowercase()) => rest.trim_start(),
        _ => name,
    }
}

/// Whether a drive's name begins with `name` but for one character in four: `st22000` in `st20000nm007d`.
fn begins_like(name: &str, key: &str) -> bool {
    let differ = |(a, b): &(u8, u8)| !a.eq_ignore_ascii_case(b);
    let others = name.bytes().zip(key.bytes()).filter(differ).count();
    name.len() <= key.len() && others <= name.len() / 4
}

/// Letters that are added, left out or exchanged between `typed` and the part of `text` that is nearest to it.
fn edits_to_part(typed: &str, text: &str) -> usize {
    // Where the part begins costs nothing, nor where it ends.
    let mut edits: Vec<usize> = vec![0; text.len() + 1];
    for (row, typed) in typed.bytes().enumerate() {
        let mut diagonal = edits[0];
        edits[0] = row + 1;
        for (at, letter) in text.bytes().enumerate() {
            let exchanged = diagonal + usize::from(letter != typed);
            diagonal = edits[at + 1];
            edits[at + 1] = exchanged.min(diagonal + 1).min(edits[at] + 1);
        }
    }
    edits.into_iter().min().unwrap_or(0)
}

/// A word with all of its digits alike: a series has many numbers.
fn digitless(word: &str) -> String {
    word.replace(|c: char| c.is_ascii_digit(), "0")
}

/// How much of the longer of two words is otherwise in the other. What has letters alone, or numbers, is no name of a series.
fn percent_unlike(own: &str, other: &str) -> usize {
    let is_of_series = other.contains(char::is_alphabetic) && other.contains(char::is_numeric);
    // Another first letter is another maker's.
    if other.len() < 3 || !is_of_series || own.chars().next() != other.chars().next() {
        return 100;
    }
    100 * distance(own, other) / own.len().max(other.len()).max(1)
}

/// The first few names, and how many there are beyond them.
pub(super) fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(FEW);
    let said = names.take(FEW).collect::<Vec<_>>().join(", ");
    if more == 0 { said } else { format!("{said} and {more} more") }
}

/// The words of a name, in lower case: runs of letters, digits and points.
pub(super) fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric() && c != '.');
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// A name without what separates its words: `980-pro-1tb`, `980 PRO 1TB` and `980pro1tb` are one.
pub(super) fn squeezed(name: &str) -> String {
    words(name).concat()
}

/// Whether a drive has `word` in one of its names, or is as large as it says. `990pro` stands in `990 PRO` too.
fn has_word(file: &Named, word: &str) -> bool {
    let stands = |name: &String| {
        let name = name.to_ascii_lowercase();
        stands_in(word, &name) || stands_in(word, &squeezed(&name))
    };
    file.names.iter().any(stands)
        || bytes_of(word).is_some_and(|bytes| has_size(file.key, bytes, OF_SIZE))
}

/// Whether these words are what a shingled disk has in common with others of its name, which are not: a `WD Red 4TB`
/// was a WD40EFRX before it was a WD40EFAX. Its model number says which; disks that have a name without one were all
/// shingled.
fn shares_its_name(file: &Named, words: &[String]) -> bool {
    let is_number =
        |word: &String| word.bytes().any(|byte| byte.is_ascii_digit()) && stands_in(word, file.key);
    let is_shared = file.names.iter().all(|name| name.to_ascii_lowercase().contains(file.key));
    is_shared && !words.iter().any(is_number) && is_shingled(file.key)
}

/// Whether `word` stands in `text` with its numbers whole: `8tb` does not in `18tb`, nor `870` in `8700`.
pub(super) fn stands_in(word: &str, text: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let begins_in_number = digit(word.chars().next()) && digit(before.chars().next_back());
        let ends_in_number = digit(word.chars().next_back()) && digit(after.chars().next());
        !begins_in_number && !ends_in_number
    })
}

/// The bytes of a size in the decimal units that drives are sold in: `500gb`, `1.6tb`.
pub(super) fn bytes_of(word: &str) -> Option<u64> {
    let (number, unit) = match (word.strip_suffix("gb"), word.strip_suffix("tb")) {
        (Some(number), _) => (number, 1e9),
        (_, Some(number)) => (number, 1e12),
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    (number > 0.0 && number < 1e6).then_some((number * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sizes_name_a_drive() {
        for (name, key) in [
            ("exos x18", "st18000nm000j"),
            ("ironwolf 18tb", "st18000ne000"),
            ("980PRO1TB", "980-pro-1tb"),
            ("990pro2tb", "iocost-samsung-ssd-990-pro-2tb"),
            ("sn850x 1tb", "iocost-wd-black-sn850x-1000gb"),
            ("990 pro 2tb", "iocost-samsung-ssd-990-pro-2tb"),
            ("samsung 870 1tb", "iocost-samsung-ssd-870"),
        ] {
            assert_eq!(drive(name).unwrap().name, key);
        }
    }

    #[test]
    fn another_size_is_another_drive() {
        let refused = |name: &str| drive(name).unwrap_err().to_string();
        let error = refused("ironwolf 8tb");
        assert!(
            error.contains("nearest by name: st18000ne000; of 8TB: hus728t8tale6l4, "),
            "{error}"
        );
        let error = refused("870 evo 1tb");
        let next = "`iocost-samsung-ssd-870` is as large and may be it: write that to take it";
        assert!(error.contains(next), "{error}");
        assert!(!refused("samsung 980 1tb").contains("may be it"));
        // A WD Red Plus is not shingled, and a shingled one was named first.
        let error = refused("wd red plus 8tb");
        assert!(error.contains("`wd red plus 8tb`; of 8TB: hus728t8tale6l4, "), "{error}");
        assert!(error.contains("; nearest by name: wd40efax"), "{error}");
        let error = refused("8tb");
        assert!(error.contains("of 8TB") && !error.contains("by name"), "{error}");
        assert!(
            refused("ST22000").contains("nearest by name: st20000nm007d"),
            "{}",
            refused("ST22000")
        );
        // Of another series, and of a size that none has.
        assert!(refused("i5i").contains("nearest by name: i4i"), "{}", refused("i5i"));
        let error = refused("XPG99 3.84TB");
        assert!(!error.contains("azure") && error.contains("; of about 3.84TB: "), "{error}");
        assert!(error.contains("wd40efax"), "{error}");
        // The first letter of a series is its maker's.
        assert!(!refused("qm1777").contains("xp32150w"), "{}", refused("qm1777"));
        let error = refused("ebs gp3 3000");
        let either =
            "in brackets, as in `ebs-gp3[size=3000GiB]` or `ebs-gp3[size=500GiB,iops=3000]`";
        assert!(error.ends_with(either), "{error}");
        let error = refused("ebs gp3 1000");
        assert!(error.ends_with("in brackets, as in `ebs-gp3[size=1000GiB]`"), "{error}");
        let error = refused("3x gp3");
        assert!(error.ends_with("in brackets, as in `ebs-gp3[size=500GiB]`"), "{error}");
        let error = refused("12x 18tb");
        assert!(error.starts_with("`12x 18tb`: 4 drives are of 18TB: mg09aca18te, "), "{error}");
        assert!(!error.contains("no drive"), "{error}");
        assert!(refused("frobnicator").starts_with("no drive is called `frobnicator`\n"));
    }

    /// Most disks of the name were not shingled, and the one that is known is.
    #[test]
    fn a_name_that_shingled_disks_share_with_others_means_none() {
        for name in ["WD Red 4TB", "Western Digital Red"] {
            let error = drive(name).unwrap_err().to_string();
            assert!(error.contains("(wd40efax is shingled, SMR)"), "{name}: {error}");
        }
        let error = drive("WD40EFRX").unwrap_err().to_string();
        assert!(!error.contains("wd40efax"), "{error}");
        let error = drive("ST20000NM007D-3DJ103").unwrap_err().to_string();
        assert!(error.contains("; did you mean `st20000nm007d`?"), "{error}");
        for (name, meant) in [
            ("WD Red WD40EFAX", "wd40efax"),
            ("wd40efax 4tb", "wd40efax"),
            ("Archive HDD 8TB", "st8000as0002"),
        ] {
            let known = super::drive(meant).unwrap().name;
            assert_eq!(drive(name).unwrap().name, known, "{name}");
        }
    }

    /// `980prro` had no near name: no word of it stands anywhere, and whole names are much longer.
    #[test]
    fn a_misspelt_part_of_a_name_is_near_to_it() {
        let refused = |name: &str| drive(name).unwrap_err().to_string();
        for (name, near) in [
            ("980prro", "nearest by name: 980-pro-1tb, iocost-samsung-ssd-980-pro-1tb\n"),
            ("sn850y", "iocost-wd-black-sn850x-1000gb"),
            ("dt01aca20", "dt01aca200"),
            ("i4i.2xlrage", "i4i.2xlarge"),
        ] {
            assert!(refused(name).contains(near), "{}", refused(name));
        }
        assert_eq!(edits_to_part("980prro", "samsungssd980pro1tb"), 1);
        assert_eq!(edits_to_part("980pro", "samsungssd980pro1tb"), 0);
        assert_eq!((edits_to_part("abc", ""), edits_to_part("", "abc")), (3, 0));
    }

    #[test]
    fn numbers_in_a_word_are_whole() {
        assert!(stands_in("8tb", "ironwolf 8tb") && !stands_in("8tb", "ironwolf 18tb"));
        assert!(stands_in("870", "ssd 870 evo") && !stands_in("870", "ssd 8700"));
        assert!(!stands_in("6tb", "ssd 1.6tb") && stands_in("1.6tb", "ssd 1.6tb"));
        assert!(stands_in("x18", "exos x18") && stands_in("4000", "st4000nm"));
        assert_eq!(
            (bytes_of("1.6tb"), bytes_of("500gb")),
            (Some(1_600_000_000_000), Some(500_000_000_000))
        );
        assert_eq!((bytes_of("tb"), bytes_of("0tb"), bytes_of("x8tb")), (None, None, None));
    }
}
