//! Words of sentences that every crate above writes: a number with its noun, a list, a share.

use std::fmt::Display;

/// A number with its noun: `1 trial`, `3 trials`, `0.5 reads`.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A list in words: `a`, `a and b`, `a, b and c`, with `comma` between the first and `word` before the last.
pub fn listed(items: &[impl AsRef<str>], comma: &str, word: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} {word} {last}", first.join(comma)),
    }
}

/// A share in whole percent: `42 %`.
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([counted(0, "trial"), counted(1, "trial")], ["0 trials", "1 trial"]);
        assert_eq!([counted("1.0", "read"), counted(2.5, "read")], ["1.0 reads", "2.5 reads"]);
    }

    #[test]
    fn lists_end_with_their_word() {
        assert_eq!(listed(&[] as &[&str], ", ", "and"), "");
        assert_eq!(listed(&["a"], ", ", "or"), "a");
        assert_eq!(listed(&["a", "b"], ", ", "or"), "a or b");
        assert_eq!(listed(&["a", "b", "c"].map(String::from), "; ", "and"), "a; b and c");
    }

    #[test]
    fn shares_are_rounded() {
        assert_eq!([0.424, 1.5].map(whole_percent), ["42 %", "150 %"]);
    }
}
