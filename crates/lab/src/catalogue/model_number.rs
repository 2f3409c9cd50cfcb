//! What the model number of a hard disk of today says of it.

const GB: u64 = 1_000_000_000;

/// Disks of HGST's Ultrastar He had at most so many TB.
const TERABYTES_MAX: u64 = 14;

/// The capacity that a hard disk's model number has, in bytes; none where it is no such number. Makers number them so:
///
/// | maker | number | capacity |
/// |---|---|---|
/// | Seagate | `st12000nm0127` | GB behind `st` |
/// | WD | `wd40efrx`, `wd101efbx` | tenths of a TB behind `wd`, of which 101 is 10 TB |
/// | WD, HGST Ultrastar | `wuh721818ale6l4`, `hus728t8tale6l4` | the last of three numbers, in TB; |
/// | | `hus724040ale640`, `huh728080ale600` | of the older ones in tenths of a TB |
/// | Toshiba | `mg08aca16te`, `mg04aca400n` | TB behind `aca` or `sca`, or hundredths of them |
///
/// A SCSI disk of the nineties, `st39173lw`, has fewer letters behind its digits, and another rule.
pub(super) fn disk_bytes(word: &str) -> Option<u64> {
    of_seagate(word)
        .or_else(|| of_wd(word))
        .or_else(|| of_ultrastar(word))
        .or_else(|| of_toshiba(word))
}

/// The digits that a text begins with, and what is behind them.
fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

/// Whether so many letters stand there, and at least so many letters or digits behind them.
fn has_letters(text: &str, letters: usize, behind: usize) -> bool {
    let is_series = |series: &str| series.bytes().all(|byte| byte.is_ascii_alphabetic());
    text.get(..letters).is_some_and(is_series) && text.len() >= letters + behind
}

fn of_seagate(word: &str) -> Option<u64> {
    let (gigabytes, rest) = digits(word.strip_prefix("st")?)?;
    let is_one = (500..50_000).contains(&gigabytes) && has_letters(rest, 2, 3);
    is_one.then_some(gigabytes * GB)
}

fn of_wd(word: &str) -> Option<u64> {
    let (tenths, rest) = digits(word.strip_prefix("wd")?)?;
    // A Raptor's number has gigabytes.
    let is_raptor = ["adfd", "hlfs", "hlhx"].iter().any(|series| rest.starts_with(series));
    let is_one = (10..400).contains(&tenths) && has_letters(rest, 4, 0) && !is_raptor;
    let terabytes_tenths = if tenths >= 100 { tenths / 10 * 10 } else { tenths };
    is_one.then_some(terabytes_tenths * 100 * GB)
}

fn of_ultrastar(word: &str) -> Option<u64> {
    let series = ["wuh72", "wus72", "huh72", "hus72"];
    let (series, numbers) =
        series.iter().find_map(|series| Some((*series, word.strip_prefix(series)?)))?;
    // `8t8t`: up to 8 TB, and this one has 8.
    let number = |from: usize, to: usize| numbers.get(from..to)?.parse::<u64>().ok();
    if numbers.as_bytes().get(1) == Some(&b't') {
        return number(2, 3)
            .filter(|&terabytes| terabytes > 0)
            .map(|terabytes| terabytes * 1000 * GB);
    }
    // `1818`: up to 18 TB, and 18; `6040`: up to 6.0 TB, and 4.0.
    let (most, own) = (number(0, 2)?, number(2, 4)?);
    let is_in_tenths = series == "hus72" || (series == "huh72" && most > TERABYTES_MAX);
    let hundreds = if is_in_tenths { 100 } else { 1000 };
    (own > 0).then_some(own * hundreds * GB)
}

fn of_toshiba(word: &str) -> Option<u64> {
    let (_, rest) = digits(word.strip_prefix("mg")?)?;
    let rest = rest.strip_prefix("aca").or_else(|| rest.strip_prefix("sca"))?;
    // `16`: TB; `400` of an older one: 4.00.
    let (number, _) = digits(rest)?;
    let gigabytes = if number >= 100 { number * 10 } else { number * 1000 };
    (500..50_000).contains(&gigabytes).then_some(gigabytes * GB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_number_disks_by_their_capacity() {
        for (word, gigabytes) in [
            ("st12000vn0008", 12_000),
            ("st8000nm0055", 8000),
            ("st4000dm004", 4000),
            ("wd40efpx", 4000),
            ("wd101efbx", 10_000),
            ("wd121kryz", 12_000),
            ("wd140edfz", 14_000),
            ("wuh721818ale6l4", 18_000),
            ("huh721212aln604", 12_000),
            ("hus728t8tale6l4", 8000),
            ("huh728080ale600", 8000),
            ("huh721008ale600", 8000),
            ("hus724040ale640", 4000),
            ("hus726040ale610", 4000),
            ("mg08aca16te", 16_000),
            ("mg07sca14te", 14_000),
            ("mg04aca400n", 4000),
        ] {
            assert_eq!(disk_bytes(word), Some(gigabytes * GB), "{word}");
        }
    }

    #[test]
    fn other_names_are_no_such_numbers() {
        for word in [
            "st39173lw",
            "st118273lc",
            "st22000",
            "wd740gd",
            "wds100t3x0c",
            "wd360adfd",
            "st99999nm0001",
            "980pro",
            "mg",
            "wuh72",
            "st",
        ] {
            assert_eq!(disk_bytes(word), None, "{word}");
        }
    }
}
