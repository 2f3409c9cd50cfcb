//! The layouts in order, the best first, with their bars.

use crate::judge::{Ranked, Standing, Verdict};
use crate::tables::{SHARE_OF_BEST, STRONG, figure, fitted, marked, slower, table, trimmed_lines};
use store::record::short_key;

/// What stands in the table: words in each column, and how many columns are words.
pub struct Ranking {
    /// The headings.
    pub header: Vec<String>,
    /// How many columns from the left are words.
    pub words: usize,
    /// The rows, the best first.
    pub rows: Vec<Vec<String>>,
}

/// So many rows fit on a screen; `--csv` and the page have all.
const ROWS_MAX: usize = 12;

const BAR_CELLS: usize = 16;

/// The ranking as columns of words.
pub fn columns(verdict: &Verdict, bars: bool) -> Ranking {
    let ranked = &verdict.ranked;
    let mut paths: Vec<&String> = Vec::new();
    for path in ranked.iter().flat_map(|row| row.at.keys()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // What is the same everywhere tells nothing apart.
    paths.retain(|path| ranked.iter().any(|row| row.at.get(*path) != ranked[0].at.get(*path)));
    let some = |of: fn(&Ranked) -> bool| ranked.iter().any(of);
    let (intervals, sizes) =
        (some(|row| row.interval.is_some()), some(|row| row.facts.usable_bytes.is_some()));
    let (losses, prices) = (
        some(|row| row.facts.losses_survived.is_some()),
        some(|row| row.facts.usd_per_gb().is_some()),
    );
    // A risk that all have stands below the answer, and tells nothing apart.
    let risk = |row: &Ranked| row.facts.lost_by_crash.clone();
    let risks = !bars && ranked.iter().any(|row| risk(row) != risk(&ranked[0]));
    let mut header: Vec<String> = paths.iter().map(|path| short_key(path).to_string()).collect();
    let words = header.len();
    header.push(if verdict.unit.is_empty() { "value".into() } else { verdict.unit.clone() });
    let optional = [
        (intervals, "95 % interval"),
        (true, "behind"),
        (sizes, "GB"),
        (losses, "failures survived"),
        (prices, "US$/GB"),
        (risks, "risk"),
    ];
    header.extend(optional.iter().filter(|(there, _)| *there).map(|(_, name)| (*name).to_string()));
    if bars {
        header.push(String::new());
    }
    header.push(String::new());
    let most = ranked.iter().take(ROWS_MAX).map(|row| row.value).fold(0.0, f64::max);
    let rows = ranked.iter().map(|row| {
        let mut cells: Vec<String> = paths
            .iter()
            .map(|path| {
                row.at.get(*path).map(|v| verdict.factors.with_unit(path, v)).unwrap_or_default()
            })
            .collect();
        cells.push(figure(row.value));
        let interval = row.interval.map(|i| format!("{}–{}", figure(i.low), figure(i.high)));
        let size = row.facts.usable_bytes.map(|bytes| figure(bytes as f64 / 1e9));
        let lose = row.facts.losses_survived.map(|losses| losses.to_string());
        let price = row.facts.usd_per_gb().map(figure);
        let behind = Some(match row.standing {
            Standing::Best => String::new(),
            _ => slower(row.behind, verdict.better, &verdict.unit),
        });
        let risk = risk(row);
        let values = [interval, behind, size, lose, price, risk];
        let there = values.into_iter().zip(optional).filter(|(_, (there, _))| *there);
        cells.extend(there.map(|(value, _)| value.unwrap_or_default()));
        if bars {
            cells.push(bar(row.value / most));
        }
        cells.push(standing(row.standing).into());
        cells
    });
    Ranking { rows: rows.collect(), header, words }
}

/// The first rows for the terminal; nothing where there is nothing to rank.
pub fn terminal(verdict: &Verdict) -> String {
    if verdict.ranked.len() < 2 {
        return String::new();
    }
    let ranking = columns(verdict, true);
    let mut shown = table(&ranking.header, ranking.words);
    let bar_column = ranking.header.len() - 2;
    for column in [bar_column, bar_column + 1] {
        if let Some(column) = shown.column_mut(column) {
            column.set_cell_alignment(comfy_table::CellAlignment::Left);
        }
    }
    for row in ranking.rows.iter().take(ROWS_MAX) {
        shown.add_row(row);
    }
    let more = match ranking.rows.len().saturating_sub(ROWS_MAX) {
        0 => String::new(),
        more => format!("\n… and {more} more: see `--csv`, `--markdown` or `--html`\n"),
    };
    let heading = marked(STRONG, &format!("Ranked by {}\n", measure(verdict)));
    format!("{heading}\n{}\n{more}\n", trimmed_lines(&fitted(shown, &[bar_column])))
}

/// What the layouts are ranked by, in words.
pub(super) fn measure(verdict: &Verdict) -> String {
    if verdict.unit == SHARE_OF_BEST {
        return "the workload in which each is worst, as a share of the best".into();
    }
    verdict.objective.clone()
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Best => "best",
        Standing::Tie => "tie",
        Standing::Behind | Standing::Unknown => "",
    }
}

/// A bar of eighths of a character.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR_CELLS) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(1.0), "█".repeat(16));
        assert_eq!(bar(0.5), "█".repeat(8));
        assert_eq!(bar(1.0 / 128.0), "▏");
        assert_eq!(bar(0.0), "");
    }
}
