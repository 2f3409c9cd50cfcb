//! Words that several parts of an answer have.

use std::fmt::Display;

/// So many hours, or minutes where it is less than two.
pub(crate) fn hours(hours: f64) -> String {
    if hours < 2.0 { format!("{:.0} min", 60.0 * hours) } else { format!("{} h", tenths(hours)) }
}

/// A number of hours; below ten its tenths count.
pub(crate) fn tenths(hours: f64) -> String {
    if hours < 9.95 { format!("{hours:.1}") } else { format!("{hours:.0}") }
}

/// What a line of the answer is about, and its text.
pub(crate) type Line = (String, String);

/// A drive's name with figures that are otherwise.
pub(crate) fn with_figures(name: &str, figures: &[(&str, impl Display)]) -> String {
    let pairs: Vec<String> = figures.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let pairs = pairs.join(",");
    match name.strip_suffix(']') {
        Some(open) => format!("{open},{pairs}]"),
        None => format!("{name}[{pairs}]"),
    }
}
