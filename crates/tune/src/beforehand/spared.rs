//! Spares, and more survived failures, where a wish of what is known beforehand asks for them.

use super::{Beforehand, Figures, is_even};
use crate::question::capacity::{is_more_room, room};
use crate::question::{Question, SPARES_MAX, SURVIVE_MAX, in_use};
use lab::{Error, Result};

impl Question {
    /// The same with as few spares as what must hold of the risk needs, or what is to be best of it is best with, where nobody
    /// said how many there are; and with the price of the drives in formulas of what is measured.
    ///
    /// # Errors
    ///
    /// Where nothing meets it with spares either; the message says what would, where that is known. Where a price is not known.
    pub fn with_spares_needed(self) -> Result<Question> {
        let of = self.priced()?;
        let beforehand = of.parted()?.beforehand;
        // What is wrong without any formula is said where it is asked.
        if beforehand.is_empty() || of.holding().is_err() {
            return Ok(of);
        }
        let most = if of.may_have_spares() { SPARES_MAX } else { 0 };
        let of = match of.possible() {
            Err(without) if beforehand.limits() => {
                if of.price_usd.is_none() && beforehand.of_money().is_some() {
                    return Err(without);
                }
                of.with_spares_that_meet(&without, most)?
            }
            Err(_) => return Ok(of),
            Ok(_) => of,
        };
        of.with_spares_that_are_best(most)
    }

    /// The same with as few spares as meet what must hold, where nothing meets it `without`.
    fn with_spares_that_meet(self, without: &Error, most: usize) -> Result<Question> {
        let with = |survive: usize, spares: usize| {
            let spares_because = Some(format!("without spares {without}"));
            let other = Question { survive, spares, spares_because, ..self.clone() };
            other.possible().is_ok().then_some(other)
        };
        if let Some(other) = (1..=most).find_map(|spares| with(self.survive, spares)) {
            return Ok(other);
        }
        let beforehand = self.parted()?.beforehand;
        let mut all = (self.survive + 1..=SURVIVE_MAX)
            .flat_map(|survive| (0..=most).map(move |spares| (survive, spares)));
        let next = match all.find_map(|(survive, spares)| with(survive, spares)) {
            Some(other) => other.in_words_of_flags(&beforehand)?,
            None => beforehand.next_step(&self),
        };
        Err(Error::failure(format!("{without}{next}")))
    }

    /// How to ask for this, which meets what must hold, and what of it holds most.
    fn in_words_of_flags(&self, beforehand: &Beforehand) -> Result<String> {
        let levels = self.possible()?;
        // Of levels that hold as much the plainest, which stands first.
        let roomiest = levels.iter().rev().max_by_key(|level| self.usable_bytes(level));
        let holds = roomiest.map_or_else(String::new, |level| {
            format!(": {}, which holds {}", level.name, room(self.usable_bytes(level)))
        });
        let spares = match self.spares {
            0 => String::new(),
            spares => format!(" --spares {spares}"),
        };
        let floor = if beforehand.asks_below_floor() {
            "; other causes decide below 1e-5 (docs/risk.md)"
        } else {
            ""
        };
        let survive = self.survive;
        Ok(format!("; `--survive {survive}{spares}` has what meets them{holds}{floor}"))
    }

    /// The same with more spares, up to `most`, as long as what is to be best beforehand is better with them: spares were tried once
    /// the level was chosen, and another level without any, or the same with some, was safer.
    fn with_spares_that_are_best(self, most: usize) -> Result<Question> {
        let best = |of: &Question| -> Result<Option<(f64, String)>> {
            let levels = of.possible()?;
            let figures: Result<Vec<Figures>> =
                levels.iter().map(|level| of.figures(level)).collect();
            Ok(of.parted()?.beforehand.best(&figures?))
        };
        let Some((mut least, mut said)) = best(&self)? else { return Ok(self) };
        let better = self.parted()?.beforehand.objective.map(|of| of.better);
        let mut chosen = self.clone();
        for spares in self.spares + 1..=most {
            let other = Question { spares, ..self.clone() };
            let Ok(Some((value, own))) = best(&other) else { continue };
            let is_better = better.is_some_and(|better| better.ahead(value, least) > 0.0);
            if is_better && !is_even(value, least) {
                let with = match chosen.spares {
                    0 => "without spares".to_string(),
                    1 => "with one spare".into(),
                    many => format!("with {many} spares"),
                };
                chosen = Question { spares_because: Some(format!("{with} {said}")), ..other };
                (least, said) = (value, own);
            }
        }
        Ok(chosen)
    }

    /// The level that meets what must hold with spares, and holds most, where that is more than any does without.
    pub(crate) fn roomier_with_spares(&self) -> Option<String> {
        let most = if self.may_have_spares() { SPARES_MAX } else { 0 };
        let beforehand = self.parted().ok()?.beforehand;
        if !beforehand.limits() || beforehand.has_objective() {
            return None;
        }
        let with = (1..=most).map(|spares| Question { spares, ..self.clone() });
        let of = |with: Question| {
            let levels = with.possible().ok()?;
            let roomiest = levels.into_iter().rev().max_by_key(|level| with.usable_bytes(level))?;
            Some((roomiest, with))
        };
        let all = with.filter_map(of);
        let (level, with) = all.max_by_key(|(level, with)| {
            (with.usable_bytes(level), std::cmp::Reverse(with.spares))
        })?;
        let own = self.possible().ok()?;
        let without = own.iter().map(|level| self.usable_bytes(level)).max()?;
        is_more_room(with.usable_bytes(&level), without).then(|| {
            format!(
                "{}, {}, meets it, too, and holds {} (`--spares {}`)",
                level.name,
                in_use(&with),
                room(with.usable_bytes(&level)),
                with.spares
            )
        })
    }
}
