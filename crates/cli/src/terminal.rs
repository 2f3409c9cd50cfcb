//! Everything that is printed goes through here: names of others cannot steer the terminal, and colours are for
//! terminals that want them.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use verdict::tables::{LABEL, PLAIN, STRONG};

/// Narrower than this no text can be read.
const COLUMNS_MIN: usize = 40;

/// Lays text out for the terminal's width, or that of `COLUMNS` where that is exported; what goes elsewhere is as wide as a text is.
pub(crate) fn follow_width() {
    let of_terminal =
        || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let exported = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    // Some wrappers export 0 where they do not know.
    let exported = exported.filter(|&columns| columns > 0);
    if let Some(columns) = exported.or_else(of_terminal) {
        verdict::tables::set_columns(COLUMNS_MIN.max(columns));
    }
}

/// What goes to standard output.
pub(crate) fn for_stdout(text: &str) -> String {
    painted(text, io::stdout().is_terminal() && wants_colour())
}

/// A message for standard error behind the word that says what it is.
pub(crate) fn message(kind: &str, colour: Colour, text: &str) -> String {
    let text = harmless(text);
    if io::stderr().is_terminal() && wants_colour() {
        return format!("{}{kind}:{RESET} {text}", colour.code());
    }
    format!("{kind}: {text}")
}

/// The colour of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colour {
    Red,
    Yellow,
    Cyan,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Colour::Red => "\x1b[1;31m",
            Colour::Yellow => "\x1b[1;33m",
            Colour::Cyan => "\x1b[1;36m",
        }
    }
}

const RESET: &str = "\x1b[0m";

/// Whether the person wants colours (no-color.org), and the terminal has them.
fn wants_colour() -> bool {
    let said = |name: &str| std::env::var_os(name).unwrap_or_default();
    said("NO_COLOR").is_empty() && said("TERM") != "dumb"
}

/// A text without what a terminal would obey, and its marks as colours, or left out.
fn painted(text: &str, in_colour: bool) -> String {
    let mut shown = harmless(text);
    for (mark, code) in [(STRONG, "\x1b[1m"), (LABEL, "\x1b[36m"), (PLAIN, RESET)] {
        if shown.contains(mark) {
            shown = shown.replace(mark, if in_colour { code } else { "" });
        }
    }
    shown
}

/// A text with each character that a terminal would obey, rather than show, written as JSON writes it: `\u001b`. Line
/// ends and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            write!(shown, "\\u{:04x}", u32::from(c)).expect("a string grows");
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Control characters, and those that turn the direction of what stands around them.
fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        let said = harmless("a\x1b[31mb\u{9b}2J\rc\u{202e}\n\tµ");
        assert_eq!(said, "a\\u001b[31mb\\u009b2J\\u000dc\\u202e\n\tµ");
        assert_eq!(harmless("64 (32 KiB) ██"), "64 (32 KiB) ██");
    }

    #[test]
    fn marks_are_colours_or_nothing() {
        let text = format!("{STRONG}Use 64{PLAIN} \x1b[5m");
        assert_eq!(painted(&text, false), "Use 64 \\u001b[5m");
        assert_eq!(painted(&text, true), "\x1b[1mUse 64\x1b[0m \\u001b[5m");
    }
}
