//! The CSV lines of bonnie++ 1.96 to 2.00 (formats 1.96, 1.97 and 1.98).
//!
//! ```text
//! format, version, name, concurrency, seed, size, io chunk, [1.98: seeks, seekers,]
//! putc, %, write, %, rewrite, %, getc, %, read, %, seeks, %,
//! files, max, min, directories, file chunk, six pairs of file operations, twelve latencies
//! ```

use super::bonnie::{COLUMNS, pair_samples, too_fast};
use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, Word, split};
use serde_json::{Map, Value as Json};

const FILE_COLUMNS: [&str; 6] = [
    "create-sequential",
    "stat-sequential",
    "delete-sequential",
    "create-random",
    "stat-random",
    "delete-random",
];

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.lines().any(is_result)
}

fn is_result(line: &str) -> bool {
    ["1.96,", "1.97,", "1.98,"].iter().any(|format| line.starts_with(format))
        && line.matches(',').count() > 12
}

/// A row for each machine and column; other lines are ignored.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    for (number, line) in source.lines().filter(|(_, line)| is_result(line)) {
        let fields = split(number, line, |c| c == ',');
        let first = if fields[0].text == "1.98" { 9 } else { 7 };
        let files = first + 2 * COLUMNS.len() + 5;
        if fields.len() < files {
            let last = fields[fields.len() - 1];
            let what = format!("ends after {} fields of at least {files}", fields.len());
            return Err(source.wrong_at(number, last.column, format!("the line {what}")));
        }
        let mut at = Map::from_iter([("machine".to_string(), Json::from(fields[2].text))]);
        at.insert("concurrency".into(), Json::from(source.number(fields[3])? as u64));
        at.insert("size".into(), Json::from(fields[5].text));
        let pairs = fields[first..files - 5].chunks_exact(2).zip(COLUMNS);
        let file_pairs = fields[files..]
            .chunks_exact(2)
            .zip(FILE_COLUMNS.map(|workload| (workload, "files_per_s")));
        let latencies = files + 2 * FILE_COLUMNS.len();
        for (index, (pair, (workload, sample))) in pairs.chain(file_pairs).enumerate() {
            let Some(mut samples) = pair_samples(source, sample, pair)? else {
                if pair[0].text.starts_with('+') {
                    table.warnings.push(too_fast(source, pair[0], workload));
                }
                continue;
            };
            if let Some(word) = fields.get(latencies + index).filter(|w| !w.text.trim().is_empty())
            {
                samples.push(("latency_max_ms", latency_ms(source, *word)?));
            }
            table.rows.push(row(workload, at.clone(), &samples));
        }
    }
    Ok(table)
}

/// `8044us`, `512ms` and `2s` in ms.
fn latency_ms(source: Source<'_>, word: Word<'_>) -> Result<f64> {
    let text = word.text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number = source.number(Word { text: &text[..end], ..word })?;
    match &text[end..] {
        "us" => Ok(number / 1e3),
        "ms" => Ok(number),
        "s" => Ok(number * 1e3),
        _ => Err(source.wrong_word(word, "is not a latency, as in 8044us")),
    }
}
