//! Figures, tables and paragraphs as text.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Sentences as paragraphs of at most 100 columns.
pub fn paragraphs(sentences: &[String]) -> String {
    let options = textwrap::Options::new(100).subsequent_indent("  ");
    let wrapped = sentences.iter().map(|sentence| textwrap::fill(sentence, &options) + "\n");
    wrapped.collect()
}

/// A table without lines, whose first `words` columns are words and the others numbers.
pub fn table(header: &[String], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        if index >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table as text, without blanks at the ends of its lines.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// A share in percent, with as many digits as count.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A number with three or four digits that count.
pub fn figure(number: f64) -> String {
    match number.abs() {
        n if n >= 1000.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// A share in percent.
pub(crate) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
