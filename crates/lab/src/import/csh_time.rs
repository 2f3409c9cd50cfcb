//! What csh's `time` says, each line with a label in front or none, below headings or none:
//!
//! ```text
//! CCD-async
//!   touch:   0.230u 58.327s 0:59.14  99.0%  10+170k 165+  314io  6pf+0w
//! ```

use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, Word, words};
use serde_json::{Map, Value as Json};

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    (1..).zip(text.lines()).any(|(number, line)| find(&words(number, line)).is_some())
}

/// Where `user system elapsed` stand among the words.
fn find(words: &[Word<'_>]) -> Option<usize> {
    let number = |text: &str, unit| text.strip_suffix(unit).and_then(|n| n.parse::<f64>().ok());
    words.windows(3).position(|three| {
        number(three[0].text, 'u').is_some()
            && number(three[1].text, 's').is_some()
            && three[2].text.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// A row for each line; a heading of one word above is the factor `volume`.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut at = Map::new();
    for (number, line) in source.lines() {
        let found = words(number, line);
        let Some(start) = find(&found) else {
            if let [heading] = found.as_slice() {
                at = Map::from_iter([("volume".into(), Json::from(heading.text))]);
            }
            continue;
        };
        let workload = match start {
            0 => "command",
            _ => found[start - 1].text.trim_end_matches(':'),
        };
        let shorn = |word: Word<'_>| {
            let text =
                word.text.char_indices().next_back().map_or("", |(end, _)| &word.text[..end]);
            let (line, column) = (word.line, word.column);
            source.number(Word { line, column, text })
        };
        let mut samples = vec![
            ("elapsed_s", clock(source, found[start + 2])?),
            ("user_s", shorn(found[start])?),
            ("system_s", shorn(found[start + 1])?),
        ];
        if let Some((input, output)) = blocks(line) {
            samples.extend([("input_blocks", input), ("output_blocks", output)]);
        }
        table.rows.push(row(workload, at.clone(), &samples));
    }
    Ok(table)
}

/// `1:02:03.5`, `3:54.02` or `54.02` in s.
fn clock(source: Source<'_>, word: Word<'_>) -> Result<f64> {
    word.text.split(':').try_fold(0.0, |sum, part| {
        let part = source.number(Word { text: part, ..word })?;
        Ok(sum * 60.0 + part)
    })
}

/// The two numbers of `165+  314io`.
fn blocks(line: &str) -> Option<(f64, f64)> {
    let before = &line[..line.rfind("io")?];
    let (front, output) = before.rsplit_once('+')?;
    let input = front.rsplit(char::is_whitespace).next()?;
    Some((input.parse().ok()?, output.trim().parse().ok()?))
}
