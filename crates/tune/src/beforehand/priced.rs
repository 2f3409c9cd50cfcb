//! Formulas of money and of what is measured.

use super::unpriced;
use crate::question::Question;
use lab::Result;
use store::ask::is_beforehand;
use store::expression::{Constraint, Expression, Objective};

/// What all drives cost, in a formula.
const USD: &str = "usd";

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
            let places = places_of_usd(&text);
            if places.is_empty() || is_beforehand(&text) {
                return Ok(text);
            }
            let cost = cost_usd.ok_or_else(|| unpriced(&text))?;
            let cost = ((cost * 100.0).round() / 100.0).max(0.01).to_string();
            Ok(replaced(&text, &places, &cost))
        };
        let objective = self.objective.clone().map(in_place).transpose()?;
        let subject_to: Result<Vec<String>> =
            self.subject_to.iter().cloned().map(in_place).collect();
        Ok(Question { objective, subject_to: subject_to?, ..self })
    }
}

/// Where a formula, an objective or a constraint, has the quantity `usd`, in letters from its start.
fn places_of_usd(text: &str) -> Vec<usize> {
    let of = |formula: &Expression| -> Vec<usize> {
        let named = formula.quantities().into_iter();
        named.filter(|(name, _)| *name == USD).map(|(_, column)| column - 1).collect()
    };
    if let Ok(objective) = Objective::parse(text) {
        return of(&objective.of);
    }
    let sides = Constraint::parse(text).map(|of| [of.left, of.right]);
    sides.map_or_else(|_| Vec::new(), |sides| sides.iter().flat_map(of).collect())
}

/// The text with `cost` in these places; a workload's name in quotes stays.
fn replaced(text: &str, places: &[usize], cost: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_there = |place: usize| {
        places.contains(&place)
            && letters[place..].iter().take(USD.len()).eq(USD.chars().collect::<Vec<_>>().iter())
    };
    let (mut new, mut place) = (String::new(), 0);
    while let Some(letter) = letters.get(place) {
        if is_there(place) {
            new.push_str(cost);
            place += USD.len();
        } else {
            new.push(*letter);
            place += 1;
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workload that is called `usd-index`, or `usd` in quotes, became a number.
    #[test]
    fn only_the_quantity_is_replaced() {
        for (text, with) in [
            ("max vm / usd", "max vm / 1120"),
            ("usd * 2 + vm >= 3 usd", "usd * 2 + vm >= 3 usd"),
            ("usd * 2 + vm >= 3", "1120 * 2 + vm >= 3"),
            ("max usd-index", "max usd-index"),
            ("max 'usd' / vm", "max 'usd' / vm"),
            ("max \"réad\" / usd", "max \"réad\" / 1120"),
        ] {
            assert_eq!(replaced(text, &places_of_usd(text), "1120"), with, "{text}");
        }
    }
}
