//! How often drives fail: a range, from what is known of the model, drawn towards the fleet.
//!
//! The rows are Backblaze's Drive Stats for 2022, 2023, 2024 and the first quarter of 2026 (backblaze.com/blog), by
//! model; the first three by a public transcription, the last by a public recomputation that matched all its models.
//!
//! What is known of one model is its failures in so many drive-years. Models differ: over those periods their rates
//! spread like a gamma distribution of shape 0.9 to 1.8 (median 1.2). So a model's rate has a gamma distribution of
//! shape 1.2 + failures and rate 1.2 / fleet + drive-years. ST18000NM000J, 3 failures in 21,630 drive-days: 2.8 %, and
//! with 80 % certainty 1.2 to 4.8 %.

use crate::inputs::{Range, Sourced};

const TABLE: &str = include_str!("../data/afr_by_model.csv");

/// Failures per drive-year of Backblaze's fleet in 2025 (4,317 failures, 115,638,676 drive-days).
const FLEET: f64 = 0.0136;
/// The spread of models about it.
const SHAPE: f64 = 1.2;
/// The normal deviate below which 90 % are.
const NINE_OF_TEN: f64 = 1.2816;

/// The failures of a drive in a year, from the rows of models whose names are among `names`.
pub fn disk(names: &[&str]) -> Sourced {
    let (mut failures, mut years, mut model) = (0.0, 0.0, "");
    for row in TABLE.lines().skip(1) {
        let mut cells = row.split(',');
        let (Some(name), Some(_), Some(days), Some(failed)) =
            (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        if names.iter().any(|known| has_word(known, name)) {
            failures += failed.parse::<f64>().unwrap_or(0.0);
            years += days.parse::<f64>().unwrap_or(0.0) / 365.0;
            model = name;
        }
    }
    let shape = SHAPE + failures;
    let rate = SHAPE / FLEET + years;
    let range = Range {
        low: quantile(shape, -NINE_OF_TEN) / rate,
        middle: shape / rate,
        high: quantile(shape, NINE_OF_TEN) / rate,
    };
    let source = if model.is_empty() {
        format!(
            "no figures for this model; Backblaze's fleet of 2025 has {:.2} %, and 8 of 10 models are in this range",
            100.0 * FLEET
        )
    } else {
        format!(
            "Backblaze 2022 to 2026: {model} failed {failures:.0} times in {years:.0} drive-years, adjusted towards the \
             fleet's {:.2} %",
            100.0 * FLEET
        )
    };
    Sourced { range, source }
}

/// The failures of a flash drive in a year.
pub fn flash() -> Sourced {
    Sourced {
        range: Range { low: 0.0022, middle: 0.01, high: 0.027 },
        source: "flash drives: 0.22 % replaced a year (NetApp, FAST 2020), about 1 % (Backblaze), up to 2.7 % (Google, \
                 FAST 2016)"
            .into(),
    }
}

/// The volumes of a provider that are lost in a year, by the provider's own word.
pub fn rented(names: &[&str]) -> Sourced {
    const EBS: &str = "awsdocs/amazon-ec2-user-guide, ebs-volume-types.md";
    let called = |word: &str| names.iter().any(|name| has_word(name, word));
    let (range, source) = match (called("EBS"), called("io2")) {
        (true, true) => (Range::fixed(1e-5), format!("Amazon states 0.001 % for io2 ({EBS})")),
        (true, false) => (
            Range { low: 0.001, middle: 0.0015, high: 0.002 },
            format!("Amazon states 0.1 to 0.2 % ({EBS})"),
        ),
        (false, _) => (
            Range { low: 1e-5, middle: 0.001, high: 0.002 },
            format!(
                "no figure from this provider; Amazon states 0.001 % for io2, up to 0.2 % for others ({EBS})"
            ),
        ),
    };
    Sourced { range, source }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|own| own.eq_ignore_ascii_case(word))
}

/// A quantile of the gamma distribution, by the cube of a normal deviate (Wilson & Hilferty 1931), about 2 % off at a
/// shape of 1.
fn quantile(shape: f64, deviate: f64) -> f64 {
    let spread = 1.0 / (9.0 * shape);
    shape * (1.0 - spread + deviate * spread.sqrt()).max(0.0).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_keeps_copies() {
        let middle = |name: &str| rented(&[name]).range.middle;
        assert!(middle("Amazon EBS io2 Block Express") < middle("Azure Premium SSD P30"));
        assert!(middle("Azure Premium SSD P30") < middle("Amazon EBS gp3"));
        assert!(middle("Amazon EBS gp3") < flash().range.low);
    }

    #[test]
    fn a_model_is_drawn_towards_the_fleet() {
        let few = disk(&["Seagate Exos X18 ST18000NM000J"]).range;
        assert!((few.middle - 0.0285).abs() < 5e-4, "{few:?}");
        assert!((few.low - 0.012).abs() < 2e-3 && (few.high - 0.048).abs() < 3e-3, "{few:?}");
        // 42 and more failures in thousands of drive-years speak for themselves.
        let many = disk(&["wuh722222ale6l4"]).range;
        assert!(many.high / many.low < 1.4, "{many:?}");
        let unknown = disk(&["nothing"]);
        assert!(
            (unknown.range.middle - FLEET).abs() < 1e-9 && unknown.source.contains("no figures")
        );
        // The shape that is claimed is that of the table: 8 of 10 models of 2024 are within.
        assert!(unknown.range.low > 0.001 && unknown.range.high < 0.04, "{unknown:?}");
    }
}
