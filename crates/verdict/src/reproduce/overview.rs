//! All tables in one: what is reproduced, and what is not.

use super::{ComparedCell, Comparison, REPRODUCED_WITHIN, Summary};
use crate::tables::{paragraphs, share, table, trimmed};
use comfy_table::CellAlignment;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::factor::Factors;
use store::record::short_key;

/// The tables that were re-run, one line a quantity, and what was not.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The lines, by post.
    pub rows: Vec<OverviewRow>,
    /// All cells of all tables.
    pub all: Summary,
    /// What was published beside the tables and is not re-run, in words, each with its table.
    pub not_modelled: Vec<(String, String)>,
}

/// A quantity of a post's table, or all of it.
#[derive(Clone, Debug, Serialize)]
pub struct OverviewRow {
    /// The post, which its table is called after.
    pub post: String,
    /// The quantity; `None` for all of them.
    pub quantity: Option<String>,
    /// How well the numbers agree.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Overview {
    /// Of these tables.
    pub fn new(tables: &[Comparison]) -> Self {
        let all: Vec<&ComparedCell> = tables.iter().flat_map(|table| &table.cells).collect();
        let words = tables.iter().flat_map(|table| {
            table.not_modelled.iter().map(|words| (table.name.clone(), words.clone()))
        });
        let of_tables = tables.iter().flat_map(|table| table.factors.0.clone());
        Overview {
            rows: tables.iter().flat_map(rows_of).collect(),
            all: Summary::of(&all, &Factors(of_tables.collect())),
            not_modelled: words.collect(),
        }
    }

    /// How many of the columns from the left are words.
    pub const WORDS: usize = 2;

    /// The headings of the table.
    pub fn header() -> Vec<String> {
        let header = [
            "post",
            "quantity",
            "cells",
            "fitted",
            "median error",
            "largest",
            "rank",
            "best published / simulated",
            "not reproduced",
        ];
        header.map(String::from).to_vec()
    }

    /// Its lines.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let mut before = "";
        let line = |row: &OverviewRow, before: &str| {
            let first = if row.post == before { String::new() } else { row.post.clone() };
            let of = row.quantity.clone().unwrap_or_else(|| "all".into());
            [first, of].into_iter().chain(row.summary.columns()).collect()
        };
        let mut lines = Vec::new();
        for row in &self.rows {
            lines.push(line(row, before));
            before = &row.post;
        }
        lines
    }

    /// For the terminal: the answer, the table, and what is not reproduced.
    pub fn text(&self) -> String {
        let mut text = paragraphs(&self.answer().into_iter().collect::<Vec<_>>());
        if !text.is_empty() {
            text.push('\n');
        }
        text + &self.table() + "\n" + &paragraphs(&self.remarks())
    }

    /// A line for each quantity.
    pub fn table(&self) -> String {
        let mut shown = table(&Self::header(), Self::WORDS);
        for column in [7, 8] {
            if let Some(column) = shown.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Left);
            }
        }
        for line in self.lines() {
            shown.add_row(line);
        }
        trimmed(&shown) + "\n"
    }

    /// How much of it is reproduced; nothing where nothing is predicted.
    pub fn answer(&self) -> Option<String> {
        let Summary { predicted_cells, off_cells, .. } = self.all;
        let (median, most) = (self.all.median_error?, self.all.max_error?);
        Some(format!(
            "{} of {predicted_cells} predicted cells are within {:.0} % of the published number (median error \
             {}, largest {}).",
            predicted_cells - off_cells,
            100.0 * REPRODUCED_WITHIN,
            share(median),
            share(most)
        ))
    }

    /// What is not reproduced.
    pub fn remarks(&self) -> Vec<String> {
        let Summary { off_cells, off_fitted_cells, missing_cells, .. } = self.all;
        let mut remarks = Vec::new();
        if off_cells + off_fitted_cells > 0 {
            remarks.push(format!(
                "Not reproduced: {off_cells} predicted cells, and {off_fitted_cells} fitted ones (one constant cannot \
                 match them all)."
            ));
        }
        if missing_cells > 0 {
            remarks.push(format!("{missing_cells} published cells were not simulated."));
        }
        for (table, words) in &self.not_modelled {
            remarks.push(format!("{table}, not modelled: {words}."));
        }
        remarks
    }
}

/// A line for each quantity of a table, and where they are several, one for all.
fn rows_of(table: &Comparison) -> Vec<OverviewRow> {
    let row = |quantity: Option<&str>, summary: Summary| OverviewRow {
        post: table.name.clone(),
        quantity: quantity.map(String::from),
        summary,
    };
    let quantities = table.quantities().into_iter();
    let mut rows: Vec<OverviewRow> = quantities
        .map(|(quantity, summary)| row(Some(quantity), summary.clone()))
        // What nothing was published of has nothing to agree with.
        .filter(|row| row.summary.cells > 0)
        .collect();
    if rows.len() > 1 {
        let summary = table.summary.clone();
        let unordered = Summary {
            rank_correlation: None,
            best_published: None,
            best_simulated: None,
            best_behind: None,
            ..summary
        };
        rows.push(row(None, unordered));
    }
    rows
}

impl Summary {
    /// The columns from the number of cells to what is not reproduced.
    pub fn columns(&self) -> [String; 7] {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        [
            self.cells.to_string(),
            self.fitted_cells.to_string(),
            or_dash(self.median_error.map(share)),
            or_dash(self.max_error.map(share)),
            or_dash(self.rank_correlation.map(|rank| format!("{rank:.2}"))),
            self.best_words(),
            self.not_reproduced(),
        ]
    }

    /// Where the best stands: once where both agree, and otherwise what differs.
    fn best_words(&self) -> String {
        let (Some(theirs), Some(ours)) = (&self.best_published, &self.best_simulated) else {
            return "-".into();
        };
        let words = |at: &Map<String, Json>| {
            at.iter().map(|(path, v)| self.factors.shown(path, v)).collect::<Vec<_>>().join(" ")
        };
        if theirs == ours {
            return words(theirs);
        }
        if !theirs.keys().eq(ours.keys()) {
            return format!("{} / {}", words(theirs), words(ours));
        }
        let differs = theirs.iter().filter(|(path, value)| ours.get(*path) != Some(value));
        let differences: Vec<String> = differs
            .map(|(path, value)| {
                let other = ours.get(path).map(|v| self.factors.shown(path, v)).unwrap_or_default();
                format!("{} {} / {other}", short_key(path), self.factors.shown(path, value))
            })
            .collect();
        differences.join(", ")
    }

    /// How many cells are off, and how many are missing.
    fn not_reproduced(&self) -> String {
        let mut parts = Vec::new();
        if self.off_cells > 0 {
            parts.push(format!("{} of {} off", self.off_cells, self.predicted_cells));
        }
        if self.off_fitted_cells > 0 {
            parts.push(format!("{} fitted off", self.off_fitted_cells));
        }
        if self.missing_cells > 0 {
            parts.push(format!("{} missing", self.missing_cells));
        }
        parts.join(", ")
    }
}
