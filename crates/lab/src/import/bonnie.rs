//! The table of Bonnie 1.x (Bray 1990), and of bonnie++ 1.03, whose sizes have a unit (`4G`):
//!
//! ```text
//!               -------Sequential Output-------- ---Sequential Input-- --Random--
//!               -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
//! Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
//! ccd3      256 10965 88.2 11356 28.9  7134 23.2 10302 96.5 12596 20.3 163.7  3.0
//! ```

use super::bonnie_csv::{FILE_COLUMNS, is_size};
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
    let mut machine = None;
    for (number, line) in source.lines() {
        if is_header(line) {
            inside = true;
            continue;
        }
        let fields = words(number, line);
        if is_files(&fields)
            && let Some(at) = &machine
        {
            let columns = FILE_COLUMNS.map(|workload| (workload, "files_per_s"));
            add(source, at, &columns, &fields[1..], &mut table)?;
            machine = None;
            continue;
        }
        // Below the table of bonnie++ there is that of its file operations.
        if !inside || fields.is_empty() || line.contains("Sequential Create") {
            inside = false;
            continue;
        }
        let wanted = 2 + 2 * COLUMNS.len();
        if fields.len() != wanted {
            let column = fields.last().map_or(1, |word| word.column);
            let what = format!(
                "{} of the {wanted} columns of a Bonnie row; a machine's name must have no blanks, and of bonnie++ -f \
                 give the line with commas",
                fields.len()
            );
            return Err(source.wrong_at(number, column, &what));
        }
        let mut at = Map::from_iter([("machine".to_string(), Json::from(fields[0].text))]);
        if is_size(fields[1].text) {
            at.insert("size".into(), Json::from(fields[1].text));
        } else {
            at.insert("file_mb".into(), Json::from(source.number(fields[1])? as u64));
        }
        add(source, &at, &COLUMNS, &fields[2..], &mut table)?;
        machine = Some(at);
    }
    Ok(table)
}

/// Whether it is the row of bonnie++'s file operations: how many files, and six pairs.
fn is_files(fields: &[Word<'_>]) -> bool {
    let is_number =
        |word: &Word<'_>| word.text.starts_with(|c: char| c == '+' || c.is_ascii_digit());
    fields.len() == 1 + 2 * FILE_COLUMNS.len() && fields.iter().all(is_number)
}

/// Adds a row for each pair of columns.
fn add(
    source: Source<'_>,
    at: &Map<String, Json>,
    columns: &[(&str, &str)],
    fields: &[Word<'_>],
    table: &mut Table,
) -> Result<()> {
    for ((workload, sample), pair) in columns.iter().zip(fields.chunks_exact(2)) {
        if let Some(samples) = pair_samples(source, sample, pair)? {
            table.rows.push(row(workload, at.clone(), &samples));
        } else {
            table.warnings.push(too_fast(source, pair[0], workload));
        }
    }
    Ok(())
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
    let is_of_files = FILE_COLUMNS.contains(&workload);
    let next = if is_of_files { "use more files (-n)" } else { "use larger files" };
    format!(
        "{}:{}:{}: {workload} was too fast to be timed and was left out; {next}",
        source.label, word.line, word.column
    )
}
