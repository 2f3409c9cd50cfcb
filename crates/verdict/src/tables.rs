//! Figures, tables and paragraphs as text.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};
use std::sync::OnceLock;
use store::quantity::Better;
use store::sample;
use store::words;

/// Columns of the screen that texts are laid out for.
static COLUMNS: OnceLock<usize> = OnceLock::new();

/// As wide as a text is where no screen is known, and at most.
const TEXT_COLUMNS: usize = 100;

/// Lays texts and tables out for a screen of so many columns, once and for all that follows.
pub fn set_columns(columns: usize) {
    // Said twice, the first stays.
    let _ = COLUMNS.set(columns);
}

fn columns() -> usize {
    TEXT_COLUMNS.min(*COLUMNS.get().unwrap_or(&TEXT_COLUMNS))
}

/// From here on to [`PLAIN`] a text is strong. Marks are private characters: whoever prints the text makes colours of
/// them, or leaves them out.
pub const STRONG: char = '\u{f8f0}';
/// From here on to [`PLAIN`] a text is a label.
pub const LABEL: char = '\u{f8f1}';
/// The end of what [`STRONG`] or [`LABEL`] has begun.
pub const PLAIN: char = '\u{f8f2}';

/// A text without its marks.
pub fn unmarked(text: &str) -> String {
    text.replace([STRONG, LABEL, PLAIN], "")
}

/// A text that is laid out, each of its lines marked.
pub fn marked(mark: char, text: &str) -> String {
    let line = |line: &str| match line.strip_suffix('\n') {
        Some(line) => format!("{mark}{line}{PLAIN}\n"),
        None => format!("{mark}{line}{PLAIN}"),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// As wide as the screen. Names stay whole: `md-` at the end of a line is no level.
fn wrapped<'a>() -> textwrap::Options<'a> {
    textwrap::Options::new(columns()).word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Sentences as paragraphs as wide as the screen.
pub fn paragraphs(sentences: &[String]) -> String {
    let options = wrapped().subsequent_indent("  ");
    let wrapped = sentences.iter().map(|sentence| textwrap::fill(sentence, &options) + "\n");
    wrapped.collect()
}

/// Lines with a label each, below one another: `  next best   32 (16 KiB), 12 % slower`.
pub fn labelled(lines: &[(String, String)]) -> String {
    const WIDE: usize = 26;
    let short = lines.iter().map(|(label, _)| label.chars().count()).filter(|wide| *wide <= WIDE);
    let width = short.max().unwrap_or(0);
    let text = lines.iter().map(|(label, text)| {
        let wide = label.chars().count();
        let label = marked(LABEL, label);
        // A label that leaves no room has a line of its own.
        let (start, indent) = if wide > width {
            (format!("  {label}\n      "), " ".repeat(6))
        } else {
            (format!("  {label}{}  ", " ".repeat(width - wide)), " ".repeat(width + 4))
        };
        let options = wrapped().initial_indent(&indent).subsequent_indent(&indent);
        let filled = textwrap::fill(text, options);
        format!("{start}{}\n", filled.trim_start())
    });
    text.collect()
}

/// A list in words: `a`, `a and b`, `a, b and c`; of many the first, and how many more there are.
pub fn listed(items: &[String]) -> String {
    const NAMED: usize = 3;
    if items.len() <= NAMED + 1 {
        return words::listed(items, ", ", "and");
    }
    format!("{} and {} more", items[..NAMED].join(", "), items.len() - NAMED)
}

/// How many times, as people say it: `3.4 times`, above 20 `about 80 times`.
pub fn times(ratio: f64) -> String {
    match ratio {
        _ if !ratio.is_finite() || ratio >= 1e6 => "many times".into(),
        ratio if ratio < 19.95 => format!("{ratio:.1} times"),
        ratio => {
            let magnitude = 10_f64.powf(ratio.log10().floor());
            format!("about {:.0} times", (ratio / magnitude).round() * magnitude)
        }
    }
}

/// How far one is behind, of which the best is `behind` times better: `12 % slower`, `3.4 times slower`.
pub fn slower(behind: f64, better: Better, unit: &str) -> String {
    let is_time = better == Better::Lower;
    let word = worded(unit, is_time, ["slower", "more", "less"]);
    if !behind.is_finite() {
        return match (is_time, unit) {
            // Of workloads by rate, time or count: which of them it is, nobody knows here.
            (_, SHARE_OF_BEST) => "0 in one workload, or more where the best is 0".into(),
            (true, unit) if sample::is_speed(unit) => "takes time where the best takes none".into(),
            (true, _) => "some where the best has none".into(),
            (false, unit) => format!("at 0 {unit}"),
        };
    }
    if behind > 2.0 {
        return format!("{} {word}", times(behind));
    }
    let share = if is_time { behind - 1.0 } else { 1.0 - 1.0 / behind };
    in_percent(share, word)
}

/// How something that is so many times better stands to what it is compared with: `12 % faster`.
pub fn faster(ahead: f64, better: Better, unit: &str) -> String {
    let is_time = better == Better::Lower;
    let word = worded(unit, is_time, ["faster", "less", "more"]);
    if ahead > 2.0 {
        return format!("{} {word}", times(ahead));
    }
    in_percent(if is_time { 1.0 - 1.0 / ahead } else { ahead - 1.0 }, word)
}

/// The word for another speed, for a time and for an amount.
fn worded(unit: &str, is_time: bool, [speed, time, amount]: [&'static str; 3]) -> &'static str {
    match (sample::is_speed(unit) || unit == SHARE_OF_BEST, is_time) {
        (true, _) => speed,
        (false, true) => time,
        (false, false) => amount,
    }
}

fn in_percent(share: f64, word: &str) -> String {
    match 100.0 * share {
        percent if percent < 0.95 => format!("{percent:.1} % {word}"),
        percent => format!("{percent:.0} % {word}"),
    }
}

/// The unit of a verdict over several workloads: the share of the best that is kept where most is lost.
pub const SHARE_OF_BEST: &str = "of the best";

/// A table without lines, whose first `words` columns are words and the others numbers.
pub fn table(header: &[String], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    // On a screen that is narrower than the table, cells are wrapped rather than lines.
    if let Some(columns) = COLUMNS.get().and_then(|columns| u16::try_from(*columns).ok()) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    }
    table.set_header(header);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table as text, as wide as the screen at most: cells are wrapped between words, and where that is not enough, columns are left
/// out, from the right on, but first those of `least`. A line below says which.
pub fn fitted(table: Table, least: &[usize]) -> String {
    match COLUMNS.get() {
        Some(&columns) => fitted_to(table, least, columns),
        None => table.to_string(),
    }
}

/// Whether a table of these cells has each row on one line of the screen.
pub fn fits(heading: &[String], rows: impl Iterator<Item = Vec<String>>) -> bool {
    COLUMNS.get().is_none_or(|&columns| width(heading, rows) <= columns)
}

/// How wide such a table is where no cell is wrapped.
fn width(heading: &[String], rows: impl Iterator<Item = Vec<String>>) -> usize {
    let wide = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).collect();
    let mut widest: Vec<usize> = wide(heading);
    for row in rows {
        for (own, cell) in widest.iter_mut().zip(wide(&row)) {
            *own = cell.max(*own);
        }
    }
    // Between columns are two blanks.
    widest.iter().sum::<usize>() + 2 * widest.len().saturating_sub(1)
}

/// Columns of these kinds stay, whatever the width: what tells a row from others, and what it is about.
const KEPT: usize = 3;

fn fitted_to(mut table: Table, least: &[usize], columns: usize) -> String {
    let longest_word =
        |text: &str| text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
    let headings: Vec<String> = table
        .header()
        .map(|row| row.cell_iter().map(comfy_table::Cell::content).collect())
        .unwrap_or_default();
    let mut words: Vec<usize> = headings.iter().map(|heading| longest_word(heading)).collect();
    for row in table.row_iter() {
        for (wide, cell) in words.iter_mut().zip(row.cell_iter()) {
            *wide = longest_word(&cell.content()).max(*wide);
        }
    }
    // Between columns are two blanks.
    let at_least: Vec<usize> = words
        .iter()
        .enumerate()
        .map(|(index, wide)| wide + if index == 0 { 0 } else { 2 })
        .collect();
    let mut shown: Vec<usize> = (0..at_least.len()).collect();
    let order = least.iter().copied().chain((KEPT..at_least.len()).rev());
    for index in order.collect::<Vec<_>>() {
        if shown.iter().map(|&column| at_least[column]).sum::<usize>() <= columns {
            break;
        }
        shown.retain(|&column| column != index);
    }
    let mut left_out = Vec::new();
    for (index, column) in table.column_iter_mut().enumerate() {
        let wide = u16::try_from(at_least[index]).unwrap_or(u16::MAX);
        column.set_constraint(if shown.contains(&index) {
            ColumnConstraint::LowerBoundary(Width::Fixed(wide))
        } else {
            left_out.extend(Some(headings[index].clone()).filter(|name| !name.is_empty()));
            ColumnConstraint::Hidden
        });
    }
    let text = trimmed(&table);
    if left_out.is_empty() {
        return text;
    }
    let note = format!(
        "(left out, for the width: {}; a wider terminal, or a pipe, has {})",
        left_out.join(", "),
        if left_out.len() == 1 { "it" } else { "them" }
    );
    format!("{text}\n{}", textwrap::fill(&note, columns))
}

/// A table as text, without blanks at the ends of its lines.
pub fn trimmed(table: &Table) -> String {
    trimmed_lines(&table.to_string())
}

/// A text without blanks at the ends of its lines.
pub(crate) fn trimmed_lines(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// A share in percent, with as many digits as count; above 100 % as a factor.
pub fn percent(share: f64) -> String {
    if share > 1.0 {
        return format!("a factor of {}", times(1.0 + share).trim_end_matches(" times"));
    }
    let percent = 100.0 * share;
    let digits = usize::from(percent < 9.95 && (percent - percent.round()).abs() >= 0.05);
    format!("{percent:.digits$} %")
}

/// The same as people say it of a difference: `12 %`, above 100 % `3.0 times`.
pub fn in_percent_or_times(share: f64) -> String {
    if share > 1.0 { times(1.0 + share) } else { percent(share) }
}

/// A limit on differences: `below 12 %`, above 100 % `of up to 3.0 times`.
pub fn up_to(share: f64) -> String {
    let words = in_percent_or_times(share);
    if share > 1.0 { format!("of up to {words}") } else { format!("below {words}") }
}

/// A number with three or four digits that count.
pub fn figure(number: f64) -> String {
    match number.abs() {
        _ if !number.is_finite() => "–".into(),
        n if n >= 1000.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 => format!("{number:.2}"),
        n if n >= 0.01 || n == 0.0 => format!("{number:.3}"),
        n => format!("{number:.*}", (2.0 - n.log10().floor()).min(12.0) as usize),
    }
}

/// A share in percent.
pub(crate) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_keep_their_digits() {
        let said = [0.0, 0.004_123, 0.000_051_29, 0.0123, 12.34].map(figure);
        assert_eq!(said, ["0.000", "0.00412", "0.0000513", "0.012", "12.3"]);
    }

    #[test]
    fn ratios_are_said_as_people_say_them() {
        let said = |behind| slower(behind, Better::Lower, "s");
        assert_eq!(said(1.12), "12 % slower");
        assert_eq!(said(1.004), "0.4 % slower");
        assert_eq!(said(3.4), "3.4 times slower");
        assert_eq!(said(78.15), "about 80 times slower");
        assert_eq!(said(7715.0), "about 8000 times slower");
        assert_eq!(said(f64::INFINITY), "takes time where the best takes none");
        let rate = |unit| slower(f64::INFINITY, Better::Higher, unit);
        assert_eq!(rate("MB/s"), "at 0 MB/s");
        assert_eq!(rate(SHARE_OF_BEST), "0 in one workload, or more where the best is 0");
        let count = |behind| slower(behind, Better::Lower, "");
        assert_eq!(
            [count(f64::INFINITY), count(3.0)],
            ["some where the best has none", "3.0 times more"]
        );
        // Of rates it is the share that is missing: 15 MB/s of 26 is 43 % slower.
        assert_eq!(slower(26.2 / 15.0, Better::Higher, "MB/s"), "43 % slower");
        assert_eq!(slower(1.5, Better::Lower, ""), "50 % more");
    }

    /// No name is cut in its middle: cells are wrapped between words, and what then does not fit is left out, and said to be.
    #[test]
    fn tables_are_as_wide_as_the_screen() {
        let header = ["level", "chunk", "speed", "room", "rebuild h", "all data lost in 5 years"];
        let made = |columns: u16| {
            let mut made = table(&header.map(String::from), 2);
            made.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
            let row = [
                "md-raid10-f3",
                "512KiB",
                "9.10 MB/s",
                "48.0 TB",
                "27 to 134",
                "below 1 in 100,000 to 0.11 %",
            ];
            made.add_row(row);
            fitted_to(made, &[4], usize::from(columns))
        };
        let wide = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
        assert_eq!(made(100).lines().count(), 2);
        let wrapped = made(64);
        assert!(wide(&wrapped) <= 64 && wrapped.contains("md-raid10-f3"), "{wrapped}");
        assert!(!wrapped.contains("left out") && wrapped.contains("100,000"), "{wrapped}");
        let narrow = made(44);
        assert!(wide(&narrow) <= 44 && narrow.contains("md-raid10-f3"), "{narrow}");
        assert!(
            !narrow.contains("27 to") && narrow.contains("(left out, for the width: rebuild h"),
            "{narrow}"
        );
    }

    #[test]
    fn lists_name_three_and_count_the_rest() {
        let list = |names: &[&str]| listed(&names.iter().map(|n| (*n).into()).collect::<Vec<_>>());
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c", "d"]), "a, b, c and d");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
