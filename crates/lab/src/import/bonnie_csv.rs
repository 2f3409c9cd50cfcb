//! The CSV lines of bonnie++ 1.96 to 2.00 (formats 1.96, 1.97 and 1.98).
//!
//! ```text
//! format, version, name, concurrency, seed, size, io chunk, [1.98: seeks, seekers,]
//! putc, %, write, %, rewrite, %, getc, %, read, %, seeks, %,
//! files, max, min, directories, file chunk, six pairs of file operations, twelve latencies
//! ```
//!
//! Those of 1.03, the classic, have no format in front and no latencies:
//!
//! ```text
//! name, size, putc, %, write, %, rewrite, %, getc, %, read, %, seeks, %, files, six pairs of file operations
//! ```

use super::bonnie::{COLUMNS, pair_samples, too_fast};
use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, Word, split};
use serde_json::{Map, Value as Json};

pub(super) const FILE_COLUMNS: [&str; 6] = [
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
    let has_format = ["1.96,", "1.97,", "1.98,"].iter().any(|format| line.starts_with(format));
    is_classic(line) || (has_format && line.matches(',').count() > 12)
}

/// The fields of a line of 1.03, those of file operations counted.
const CLASSIC: usize = 2 + 2 * COLUMNS.len() + 1 + 2 * FILE_COLUMNS.len();

/// Whether it is a line of 1.03: its second field is a size, where that of a later one is a version.
fn is_classic(line: &str) -> bool {
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    let is_number =
        |field: &&str| field.is_empty() || field.starts_with('+') || field.parse::<f64>().is_ok();
    let of_rates = fields.get(2..2 + 2 * COLUMNS.len());
    fields.len() <= CLASSIC
        && is_size(fields.get(1).copied().unwrap_or_default())
        && of_rates.is_some_and(|fields| fields.iter().all(is_number))
}

/// Whether it is a size of bonnie++, as in `4G`, `4096M` or, with the size of a chunk, `4G:64k`.
pub(super) fn is_size(text: &str) -> bool {
    let size = text.split(':').next().unwrap_or_default();
    size.strip_suffix(['M', 'G', 'T']).is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A row for each machine and column; other lines are ignored.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    for (number, line) in source.lines().filter(|(_, line)| is_result(line)) {
        let fields = split(number, line.trim_end(), |c| c == ',');
        if is_classic(line) {
            add_classic(source, &fields, &mut table)?;
            continue;
        }
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

/// Adds the rows of a line of 1.03.
fn add_classic(source: Source<'_>, fields: &[Word<'_>], table: &mut Table) -> Result<()> {
    let rates = 2 + 2 * COLUMNS.len();
    let at = Map::from_iter([
        ("machine".to_string(), Json::from(fields[0].text)),
        ("size".to_string(), Json::from(fields[1].text)),
    ]);
    let of_files = fields.get(rates + 1..).unwrap_or_default();
    let file_columns = FILE_COLUMNS.map(|workload| (workload, "files_per_s"));
    let pairs = fields[2..rates].chunks_exact(2).zip(COLUMNS);
    for (pair, (workload, sample)) in pairs.chain(of_files.chunks_exact(2).zip(file_columns)) {
        if let Some(samples) = pair_samples(source, sample, pair)? {
            table.rows.push(row(workload, at.clone(), &samples));
        } else if pair[0].text.starts_with('+') {
            table.warnings.push(too_fast(source, pair[0], workload));
        }
    }
    Ok(())
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
