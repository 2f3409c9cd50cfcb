//! Arrays side by side where the members do not divide: with some more drives kept as spares they do. These are measured as the answer
//! is, and stand beside it on the front.

use crate::front::more_spares::{Groups, MoreSpares};
use crate::front::row::FrontRow;
use crate::question::{Question, in_use, nested};
use crate::search::clock::is_of_time;
use crate::search::of_question::raced;
use crate::search::trials::Tried;
use block::layout::Level;
use lab::Result;
use risk::in_words;
use store::quantity::Better;
use verdict::Verdict;

/// Fewer members are one array, and one in so many at most is kept as a spare for that.
const MEMBERS_MIN: usize = 12;
const ONE_IN: usize = 10;

/// `question` with as few spares more as make equal arrays that survive two failures, where its own members make none.
fn with_spares(question: &Question) -> Option<Question> {
    let members = question.members();
    if !question.levels.is_empty() || question.survive > 2 || members < MEMBERS_MIN {
        return None;
    }
    let fitting = |question: &Question| -> Vec<Level> {
        let all = nested().filter_map(|name| name.parse::<Level>().ok());
        let fits = |level: &Level| {
            level.losses_survived(question.members()) == 2
                && question.is_worth_trying(level)
                && question.why_not(level).is_none()
                && question.usable_bytes(level) >= question.capacity_bytes
        };
        all.filter(fits).collect()
    };
    if !fitting(question).is_empty() {
        return None;
    }
    (1..=members.div_ceil(ONE_IN)).find_map(|more| {
        let other = Question { spares: question.spares + more, ..question.clone() };
        let levels = fitting(&other);
        let names = levels.iter().map(|level| level.name.to_string()).collect();
        (!levels.is_empty()).then_some(Question { levels: names, ..other })
    })
}

impl Groups {
    /// Searches them, where there are any. Nothing where none may be chosen, as under a limit.
    pub(crate) fn measure(tried: &Tried<'_>) -> Result<Option<Groups>> {
        let Some(question) = with_spares(tried.question) else { return Ok(None) };
        // None of them may be what must hold.
        let Ok((candidates, places)) = question.candidates() else { return Ok(None) };
        let watch = &mut |_| ();
        let mut own = Tried::new(&question, &candidates, tried.rig(), watch)?;
        own.is_beside = true;
        match raced(&mut own, &candidates, &places) {
            Ok((_, Some(_))) => {}
            Ok((_, None)) => return Ok(None),
            // There was no time for any.
            Err(error) if is_of_time(&error.to_string()) => return Ok(None),
            Err(error) => return Err(error),
        }
        // All are judged together, as if they had been asked about at once.
        let records = [tried.records.as_slice(), &own.records].concat();
        let verdict = Verdict::new(&tried.manifest, &records, &tried.wishes())?;
        let Tried { experiment, records, .. } = own;
        let with = MoreSpares { question, experiment, candidates, records };
        Ok(Some(Groups { with, verdict }))
    }

    /// What they do beside a layout of the question `asked` that does `best`.
    pub(crate) fn line(
        &self,
        asked: &Question,
        front: &[FrontRow],
        best: (f64, Better),
    ) -> (String, String) {
        let spares = self.with.question.spares;
        let row = front.iter().find(|row| row.level().is_some_and(|level| self.has(&level)));
        let how = match row {
            Some(row) => format!(
                "{}, all data lost {} at worst",
                row.with_room(best),
                in_words(row.gone.high)
            ),
            None => format!("with {} what is on the front beats them", in_use(&self.with.question)),
        };
        let text = format!(
            "RAID 60 needs equal arrays of 6 to 14 drives, which {} do not make: {how} (`--spares {spares}`)",
            asked.members(),
        );
        ("groups".into(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use crate::search::remembered::Sim;

    /// It said that the search was ended, which was complete.
    #[test]
    fn what_had_no_time_is_not_of_the_search() {
        let clock = crate::Clock::default().within("10s", || 1.0);
        let asked = Question { spares: 2, clock, ..question("60x st18000nm000j", "restore", 2) };
        let (candidates, _) = asked.candidates().unwrap();
        let watch = &mut |_| ();
        let tried = Tried::new(&asked, &candidates, &Sim, watch).unwrap();
        assert!(Groups::measure(&tried).unwrap().is_none());
        assert_eq!((asked.clock.left_of_search(), asked.clock.caveat()), ([0, 0], ""));
    }

    /// 58 members are two arrays of 29, which is too wide; 56 are four of 14 or eight of seven.
    #[test]
    fn as_few_more_spares_as_make_equal_arrays_are_kept() {
        let of = |drives: &str, survive, spares| {
            let asked = Question { spares, ..question(drives, "restore", survive) };
            with_spares(&asked).map(|other| (other.spares, other.levels.join(" ")))
        };
        let levels = "md-raid60-4 md-raid60-8".to_string();
        assert_eq!(of("60x st18000nm000j", 2, 2), Some((4, levels)));
        assert_eq!(of("23x st18000nm000j", 2, 0), Some((1, "md-raid60-2".into())));
        // RAID 50 is no RAID 60, though one failure would do.
        assert_eq!(of("13x st18000nm000j", 1, 0), Some((1, "md-raid60-2".into())));
        // These divide, are too few, or need more than two failures survived.
        assert_eq!(of("60x st18000nm000j", 2, 0), None);
        assert_eq!(of("11x st18000nm000j", 2, 0), None);
        assert_eq!(of("60x st18000nm000j", 3, 2), None);
        let held = Question {
            capacity_bytes: 1_000_000_000_000_000,
            spares: 2,
            ..question("60x st18000nm000j", "restore", 2)
        };
        assert!(with_spares(&held).is_none(), "56 in use do not hold that");
    }
}
