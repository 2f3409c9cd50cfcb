//! The table of Bonnie 1.x (Bray 1990):
//!
//! ```text
//!               -------Sequential Output-------- ---Sequential Input-- --Random--
//!               -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
//! Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
//! ccd3      256 10965 88.2 11356 28.9  7134 23.2 10302 96.5 12596 20.3 163.7  3.0
//! ```

use super::{Table, row};
use crate::error::Result;
use crate::text::{Source, Word, words};
use serde_json::{Map, Value as Json};

/// The columns behind name and size, in pairs of a rate and the CPU's share.
pub(super) const COLUMNS: [(&str, &str); 6] = [
    ("putc", "mb_per_s"),
    ("write", "mb_per_s"),
    ("rewrite", "mb_per_s"),
    ("getc", "mb_per_s"),
    ("read", "mb_per_s"),
    ("seeks", "seeks_per_s"),
];

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.lines().any(is_header)
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Machine") && words.any(|word| word == "K/sec")
}

/// A row for each machine and column.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut inside = false;
    for (number, line) in source.lines() {
        if is_header(line) {
            inside = true;
            continue;
        }
        let fields = words(number, line);
        if !inside || fields.is_empty() {
            inside = false;
            continue;
        }
        let wanted = 2 + 2 * COLUMNS.len();
        if fields.len() != wanted {
            let column = fields.last().map_or(1, |word| word.column);
            let what = format!(
                "{} of the {wanted} columns of a Bonnie row; a machine's name must have no blanks",
                fields.len()
            );
            return Err(source.wrong_at(number, column, &what));
        }
        let size_mb = source.number(fields[1])?;
        let mut at = Map::from_iter([("machine".to_string(), Json::from(fields[0].text))]);
        at.insert("file_mb".into(), Json::from(size_mb as u64));
        for ((workload, sample), pair) in COLUMNS.iter().zip(fields[2..].chunks_exact(2)) {
            if let Some(samples) = pair_samples(source, sample, pair)? {
                table.rows.push(row(workload, at.clone(), &samples));
            } else {
                table.warnings.push(too_fast(source, pair[0], workload));
            }
        }
    }
    Ok(table)
}

/// A rate in KiB/s or seeks/s and a CPU share; nothing where it was too fast to say.
pub(super) fn pair_samples<'s>(
    source: Source<'_>,
    sample: &'s str,
    pair: &[Word<'_>],
) -> Result<Option<Vec<(&'s str, f64)>>> {
    if pair[0].text.is_empty() || pair[0].text.starts_with('+') {
        return Ok(None);
    }
    let rate = source.number(pair[0])?;
    let rate = if sample == "mb_per_s" { rate * 1024.0 / 1e6 } else { rate };
    let mut samples = vec![(sample, rate)];
    if !pair[1].text.is_empty() && !pair[1].text.starts_with('+') {
        samples.push(("cpu_percent", source.number(pair[1])?));
    }
    Ok(Some(samples))
}

/// What to say of a field of plus signs.
pub(super) fn too_fast(source: Source<'_>, word: Word<'_>, workload: &str) -> String {
    format!(
        "{}:{}:{}: {workload} was too fast to be timed and was left out; use larger files",
        source.label, word.line, word.column
    )
}
