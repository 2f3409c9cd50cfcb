//! What `time` says of a command, each of them one run:
//!
//! ```text
//! real    0m12.345s                     bash and ksh; `time -p` and POSIX: real 12.35
//! user    0m1.234s
//! sys     0m2.345s
//! cmd  1.23s user 2.34s system 29% cpu 12.345 total                                       zsh
//! 1.23user 2.34system 0:12.34elapsed 29%CPU (0avgtext+0avgdata 3456maxresident)k          GNU
//!     User time (seconds): 1.23                                  GNU, `time -v`: a line each, the first of three
//! ```

use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, Word, words};
use serde_json::Map;

/// How bash's three lines begin, and those of GNU's `time -v`, in the order in which either prints them.
type Lines = [(&'static str, &'static str); 3];
const LINES: Lines = [("real", "elapsed_s"), ("user", "user_s"), ("sys", "system_s")];
const VERBOSE: Lines = [
    ("User time (seconds):", "user_s"),
    ("System time (seconds):", "system_s"),
    ("Elapsed (wall clock) time (h:mm:ss or m:ss):", "elapsed_s"),
];

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    (1..).zip(text.lines()).any(|(number, line)| {
        let found = words(number, line);
        is_gnu(&found) || is_zsh(&found) || part(&found).is_some_and(|part| part.is_first)
    })
}

/// A line of three; others hardly have a line like the first.
struct Part<'a> {
    sample: &'static str,
    time: Word<'a>,
    is_first: bool,
}

fn part<'a>(found: &[Word<'a>]) -> Option<Part<'a>> {
    let (&time, before) = found.split_last()?;
    let is = |start: &str| before.iter().map(|word| word.text).eq(start.split(' '));
    let place_in = |lines: Lines| Some((lines, lines.iter().position(|(start, _)| is(start))?));
    let (lines, place) = [LINES, VERBOSE].into_iter().find_map(place_in)?;
    let part = Part { sample: lines[place].1, time, is_first: place == 0 };
    time.text.starts_with(|c: char| c.is_ascii_digit()).then_some(part)
}

fn is_gnu(found: &[Word<'_>]) -> bool {
    let ends = |at: usize, with: &str| found.get(at).is_some_and(|word| word.text.ends_with(with));
    ends(0, "user") && ends(1, "system") && ends(2, "elapsed")
}

fn is_zsh(found: &[Word<'_>]) -> bool {
    let is = |from_end: usize, text: &str| {
        let place = found.len().checked_sub(from_end);
        place.and_then(|place| found.get(place)).is_some_and(|word| word.text == text)
    };
    // The time in front of `user` is the first word at the least.
    found.len() >= 8 && is(1, "total") && is(3, "cpu") && is(5, "system") && is(7, "user")
}

/// A row for each command that did not fail, all of one workload: several are repeats.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut open: Vec<(&'static str, f64)> = Vec::new();
    let mut failure: Option<(usize, &str)> = None;
    for (number, line) in source.lines() {
        let found = words(number, line);
        let short = |word: Word<'_>, end: &str| {
            let text = &word.text[..word.text.len() - end.len()];
            seconds(source, Word { line: word.line, column: word.column, text })
        };
        let samples = if is_gnu(&found) {
            vec![
                ("elapsed_s", short(found[2], "elapsed")?),
                ("user_s", short(found[0], "user")?),
                ("system_s", short(found[1], "system")?),
            ]
        } else if is_zsh(&found) {
            let of_end = |from_end: usize| seconds(source, found[found.len() - from_end]);
            vec![("elapsed_s", of_end(2)?), ("user_s", of_end(8)?), ("system_s", of_end(6)?)]
        } else if let Some(part) = part(&found) {
            if part.is_first {
                open.clear();
            }
            open.push((part.sample, seconds(source, part.time)?));
            if open.len() < LINES.len() {
                continue;
            }
            // The first sample is what a command is judged by.
            open.sort_by_key(|(sample, _)| *sample != "elapsed_s");
            std::mem::take(&mut open)
        } else {
            if line.starts_with("Command exited with") || line.starts_with("Command terminated by")
            {
                failure = Some((number, line));
            }
            continue;
        };
        match failure.take() {
            None => table.rows.push(row("command", Map::new(), &samples)),
            Some((number, line)) => table.warnings.push(format!(
                "{}:{number}: the command failed ({}), and its time was left out; run it again",
                source.label,
                line.trim_end()
            )),
        }
    }
    Ok(table)
}

/// `1h2m3.5s`, `0m12.345s`, `1.23s`, `1:02:03`, `0:12.34` or `12.34` in s.
fn seconds(source: Source<'_>, word: Word<'_>) -> Result<f64> {
    let text = word.text.strip_suffix('s').unwrap_or(word.text);
    text.split([':', 'm', 'h']).try_fold(0.0, |sum, part| {
        let part = source.number(Word { text: part, ..word })?;
        Ok(sum * 60.0 + part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zsh_s_line_has_a_time_before_each_word() {
        let found = |line: &'static str| is_zsh(&words(1, line));
        assert!(found("1.23s user 2.34s system 29% cpu 12.345 total"));
        assert!(found("cmd 1.23s user 2.34s system 29% cpu 12.345 total"));
        assert!(!found("user 2.3s system 29% cpu 12 total"), "no time of the user's");
    }
}
