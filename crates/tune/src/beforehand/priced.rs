//! Formulas of money and of what is measured.

use super::unpriced;
use crate::question::Question;
use lab::Result;
use store::ask::is_beforehand;

impl Question {
    /// The same with what all drives cost in place of `usd` where a formula has that beside what is measured: all layouts of
    /// the same drives cost the same.
    ///
    /// # Errors
    ///
    /// Where the price is not known.
    pub(super) fn priced(self) -> Result<Question> {
        let cost_usd = self.cost_usd();
        let in_place = |text: String| -> Result<String> {
            let named = |name: &str| words(&text).any(|word| word == name);
            if !named("usd") || is_beforehand(&text) {
                return Ok(text);
            }
            let cost = cost_usd.ok_or_else(|| unpriced(&text))?;
            let cost = format!("{cost:.2}");
            let cost = cost.trim_end_matches('0').trim_end_matches('.');
            Ok(words(&text).map(|word| if word == "usd" { cost } else { word }).collect())
        };
        let objective = self.objective.clone().map(in_place).transpose()?;
        let subject_to: Result<Vec<String>> =
            self.subject_to.iter().cloned().map(in_place).collect();
        Ok(Question { objective, subject_to: subject_to?, ..self })
    }
}

/// The names in a formula, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_name = is_of_name(first);
        let end = rest.find(|c: char| is_of_name(c) != is_name).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}
