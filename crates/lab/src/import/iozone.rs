//! iozone: the sentences of version 2 (1996), and the table and the throughput mode (`-t`) of version 3.

use super::{Row, Table, row};
use crate::error::Result;
use crate::text::{Source, Word, words};
use serde_json::{Map, Value as Json};

/// The columns of version 3 behind `kB reclen`, in order. Two lines of headings name them.
const COLUMNS: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random-read",
    "random-write",
    "backward-read",
    "record-rewrite",
    "stride-read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
];

/// What the throughput mode calls its tests, and the columns of the same.
const TESTS: [(&str, &str); 11] = [
    ("initial writers", "write"),
    ("rewriters", "rewrite"),
    ("readers", "read"),
    ("re-readers", "reread"),
    ("random readers", "random-read"),
    ("random writers", "random-write"),
    ("reverse readers", "backward-read"),
    ("stride readers", "stride-read"),
    ("mixed workload", "mixed"),
    ("pwrite writers", "pwrite"),
    ("pread readers", "pread"),
];

/// The line of the throughput mode that has the rate of all processes.
const CHILDREN: &str = "Children see throughput for";

/// What the numbers of version 3 are. Its first lines say so.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    /// KiB a second.
    Rate,
    /// Of `-O`: records a second.
    Operations,
    /// Of `-N`: µs a record.
    Microseconds,
}

impl Output {
    /// What a line of the beginning says.
    fn said_in(line: &str) -> Option<Self> {
        let is_said = |what: &str| line.contains("Output is in") && line.contains(what);
        [
            ("operations per second", Output::Operations),
            ("microseconds per operation", Output::Microseconds),
            ("ytes/sec", Output::Rate),
        ]
        .into_iter()
        .find_map(|(what, output)| is_said(what).then_some(output))
    }

    /// Such a number of records of so many KiB, as MB/s.
    fn mb_per_s(self, number: f64, record_kib: f64) -> f64 {
        match self {
            Output::Rate => number * 1024.0 / 1e6,
            Output::Operations => number * record_kib * 1024.0 / 1e6,
            Output::Microseconds => record_kib * 1024.0 / number,
        }
    }
}

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.contains("bytes/second for writing the file")
        || text.contains(CHILDREN)
        || text.lines().any(is_header)
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("kB" | "KB")) && words.next() == Some("reclen")
}

/// A row for each size and operation.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut header: Option<Vec<Word<'_>>> = None;
    let mut output = Output::Rate;
    let mut at = Map::new();
    let mut seconds: Vec<(&str, f64)> = Vec::new();
    let mut sizes = Map::new();
    for (number, line) in source.lines() {
        let found = words(number, line);
        if is_header(line) {
            header = Some(found);
        } else if let Some(said) = Output::said_in(line) {
            output = said;
        } else if let Some(header) = header.as_ref().filter(|_| is_row(&found)) {
            table.rows.extend(new_rows(source, header, output, &found)?);
        } else if line.trim_start().starts_with("Each process writes a ") {
            sizes = sizes_of(&found);
        } else if line.trim_start().starts_with(CHILDREN) {
            table.rows.extend(throughput(source, number, line, &sizes)?);
        } else if let Some(rest) = line.trim_start().strip_prefix("Writing the ") {
            seconds.clear();
            at.clear();
            if let Some((size, _)) = rest.split_once(" Megabyte")
                && let Ok(size) = size.trim().parse::<u64>()
            {
                at.insert("file_mb".into(), Json::from(size));
            }
            seconds.extend(seconds_of(line).map(|s| ("write", s)));
        } else if line.trim_start().starts_with("Reading the file") {
            seconds.extend(seconds_of(line).map(|s| ("read", s)));
        } else if line.contains("bytes/second for ") {
            let workload = if line.contains("for writing") { "write" } else { "read" };
            let rate = source.number(found[0])?;
            let mut samples = vec![("mb_per_s", rate / 1e6)];
            let known = seconds.iter().find(|(name, _)| *name == workload);
            samples.extend(known.map(|&(_, seconds)| ("elapsed_s", seconds)));
            table.rows.push(row(workload, at.clone(), &samples));
        }
    }
    Ok(table)
}

/// The sizes of `Each process writes a 1048576 kByte file in 64 kByte records`.
fn sizes_of(found: &[Word<'_>]) -> Map<String, Json> {
    let kib = found.windows(2).filter(|pair| pair[1].text.starts_with("kByte"));
    let kib = kib.filter_map(|pair| pair[0].text.parse::<u64>().ok());
    let names = ["file_kib", "record_kib"].map(String::from);
    names.into_iter().zip(kib.map(Json::from)).collect()
}

/// The row of `Children see throughput for  4 initial writers = 412345.67 kB/sec`; none of a test that is not known.
fn throughput(
    source: Source<'_>,
    number: usize,
    line: &str,
    sizes: &Map<String, Json>,
) -> Result<Option<Row>> {
    let found = words(number, line);
    let equals = found.iter().position(|word| word.text == "=").unwrap_or(found.len());
    let (Some(processes), Some(rate), Some(unit)) =
        (found.get(4), found.get(equals + 1), found.get(equals + 2))
    else {
        return Err(source.wrong_at(number, 1, "the line ends before the rate; was it cut off?"));
    };
    if !["kB/sec", "KB/sec"].contains(&unit.text) {
        let what = "is not kB/sec; run iozone without -O and -N";
        return Err(source.wrong_word(*unit, what));
    }
    let called: Vec<&str> = found[5.min(equals)..equals].iter().map(|word| word.text).collect();
    let called = called.join(" ");
    let Some((_, workload)) = TESTS.into_iter().find(|(test, _)| *test == called) else {
        return Ok(None);
    };
    let mut at = sizes.clone();
    at.insert("processes".into(), Json::from(source.number(*processes)? as u64));
    let rate = source.number(*rate)?;
    Ok(Some(row(workload, at, &[("mb_per_s", Output::Rate.mb_per_s(rate, 0.0))])))
}

/// `...24.000000 seconds` at the end of a line.
fn seconds_of(line: &str) -> Option<f64> {
    line.trim_end().strip_suffix("seconds")?.rsplit("...").next()?.trim().parse().ok()
}

fn is_row(words: &[Word<'_>]) -> bool {
    words.len() > 2 && words[..2].iter().all(|word| word.text.parse::<u64>().is_ok())
}

/// The column of each number of a row: in order where none is missing, else that under whose heading's end it ends.
fn columns(source: Source<'_>, header: &[Word<'_>], found: &[Word<'_>]) -> Result<Vec<usize>> {
    const NEXT: &str = "take the table with its spaces, as iozone printed it";
    let end = |word: &Word<'_>| word.column + word.text.chars().count();
    let (headings, numbers) = (&header[2..], &found[2..]);
    if numbers.len() == headings.len() {
        return Ok((0..numbers.len()).collect());
    }
    // Without its spaces a table does not tell which tests were left out.
    if let Some((word, heading)) = found.iter().zip(&header[..2]).find(|(a, b)| end(a) != end(b)) {
        let what = format!(
            "does not end where its heading `{}` does, and {} numbers for {} headings do not tell which test each is of; \
             {NEXT}",
            heading.text,
            numbers.len(),
            headings.len()
        );
        return Err(source.wrong_word(*word, &what));
    }
    let mut columns: Vec<usize> = Vec::new();
    for word in numbers {
        let all = headings.iter().enumerate();
        let nearest = all.min_by_key(|(_, heading)| end(heading).abs_diff(end(word)));
        let Some((column, heading)) = nearest else {
            return Err(source.wrong_word(*word, "is not under a known column of iozone"));
        };
        if columns.last() == Some(&column) {
            let what = format!("is the second number under the heading `{}`; {NEXT}", heading.text);
            return Err(source.wrong_word(*word, &what));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A row of version 3.
fn new_rows(
    source: Source<'_>,
    header: &[Word<'_>],
    output: Output,
    found: &[Word<'_>],
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut at = Map::new();
    for (name, word) in [("file_kib", found[0]), ("record_kib", found[1])] {
        at.insert(name.into(), Json::from(source.number(word)? as u64));
    }
    let record_kib = source.number(found[1])?;
    for (word, column) in found[2..].iter().zip(columns(source, header, found)?) {
        let number = source.number(*word)?;
        let Some(name) = COLUMNS.get(column) else {
            return Err(source.wrong_word(*word, "is not under a known column of iozone"));
        };
        if output == Output::Microseconds && number <= 0.0 {
            let what = "µs per operation gives no rate; run iozone without -N";
            return Err(source.wrong_word(*word, what));
        }
        let rate = output.mb_per_s(number, record_kib);
        rows.push(row(name, at.clone(), &[("mb_per_s", rate)]));
    }
    Ok(rows)
}
