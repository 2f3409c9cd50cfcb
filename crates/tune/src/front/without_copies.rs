//! What cloud volumes do as a plain stripe, where nobody said how many failures to survive: the service keeps copies of
//! its own, and many people stripe over its volumes. It is measured as the answer is, and stands beside its risk.

use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::question::capacity::room;
use crate::search::clock::is_of_time;
use crate::search::of_question::raced;
use crate::search::trials::{Tried, is_at};
use lab::Result;
use lab::run::Run;
use risk::in_words;
use risk::inputs::Range;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::quantity::Better;
use store::record::Record;
use verdict::Verdict;
use verdict::judge::Standing;
use verdict::tables::{figure, slower};

/// The level.
const STRIPE: &str = "md-stripe";

/// The best stripe without copies, beside the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WithoutCopies {
    /// Its factors.
    at: Map<String, Json>,
    /// What the objective says of it, and in what.
    value: f64,
    unit: String,
    /// How many times better it is than the answer.
    times: f64,
    /// Whether that is more than the trials and the models err.
    is_reliable: bool,
    /// Bytes that can be used.
    usable_bytes: u64,
    /// The chance that all is gone in five years.
    gone: Range,
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    better: Better,
}

impl WithoutCopies {
    /// Whether it is asked: nobody said what must survive, or which level it shall be, and the service keeps copies.
    pub(crate) fn is_asked(question: &Question) -> bool {
        let Question { survive, levels, spares, .. } = question;
        let is_free = levels.is_empty() && *spares == 0;
        question.is_survive_assumed && *survive > 0 && is_free && question.drives.drive.is_remote()
    }

    /// Searches the stripes of the question that `tried` has tried, and sets the best beside `best`. Nothing where none
    /// may be chosen, as under a limit.
    pub(crate) fn measure(tried: &Tried<'_>, best: &Candidate) -> Result<Option<WithoutCopies>> {
        let question = tried.question;
        if !WithoutCopies::is_asked(question) {
            return Ok(None);
        }
        let of = |levels: &[&str]| Question {
            survive: 0,
            levels: levels.iter().map(ToString::to_string).collect(),
            ..question.clone()
        };
        let stripes = of(&[STRIPE]);
        // A stripe may not be what must hold.
        let Ok((candidates, places)) = stripes.candidates() else { return Ok(None) };
        let watch = &mut |_| ();
        let mut own = Tried::new(&stripes, &candidates, tried.rig(), watch)?;
        own.is_beside = true;
        let place = match raced(&mut own, &candidates, &places) {
            Ok((_, Some((place, _)))) => place,
            Ok((_, None)) => return Ok(None),
            // There was no time for any.
            Err(error) if is_of_time(&error.to_string()) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stripe = &candidates[place];
        // Both are judged together, as if both had been asked about.
        let manifest = Run::plan(&of(&[STRIPE, best.level.name]).experiment()?, tried.rig())?;
        let both = [(&tried.records, best), (&own.records, stripe)];
        let of_both = both.into_iter().flat_map(|(records, candidate)| {
            records.iter().filter(|of| is_at(candidate, &of.at)).cloned()
        });
        let records: Vec<Record> = of_both.collect();
        let verdict = Verdict::new(manifest.manifest(), &records, &tried.wishes())?;
        let ranked = |of: &Candidate| verdict.ranked.iter().find(|ranked| is_at(of, &ranked.at));
        let (Some(first), Some(other)) = (ranked(best), ranked(stripe)) else { return Ok(None) };
        let (risk, _) = question.risk(&stripe.level)?;
        Ok(Some(WithoutCopies {
            at: other.at.clone(),
            value: other.value,
            unit: verdict.unit.clone(),
            times: verdict.better.ahead(other.value, first.value).exp(),
            is_reliable: [first, other].iter().any(|of| of.standing == Standing::Behind),
            usable_bytes: question.usable_bytes(&stripe.level),
            gone: risk.gone,
            name: stripe.name(),
            better: verdict.better,
        }))
    }

    /// What it gains and what it risks, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let Range { low, high, .. } = self.gone;
        let [low, high] = [low, high].map(in_words);
        let gone = if low == high { low } else { format!("{low} to {high}") };
        let beside = if !self.is_reliable {
            "not reliably faster or slower".into()
        } else if self.times > 1.0 {
            format!("the answer is {}", slower(self.times, self.better, &self.unit))
        } else {
            slower(1.0 / self.times, self.better, &self.unit)
        };
        let text = format!(
            "{}: {} {}, {}; {beside}; one failed volume loses everything: {gone} in 5 years (`--survive 0`)",
            self.name,
            figure(self.value),
            self.unit,
            room(self.usable_bytes)
        );
        ("without copies".into(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drives;
    use crate::question::work::Work;
    use crate::search::remembered::Sim;
    use lab::Error;
    use lab::capabilities::Capabilities;
    use lab::experiment::Trial;
    use lab::rig::{Prepared, Rig};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn the_gain_stands_beside_the_risk() {
        let of = |times, is_reliable| WithoutCopies {
            at: Map::new(),
            value: 97.6,
            unit: "MB/s".into(),
            times,
            is_reliable,
            usable_bytes: 4_295_000_000_000,
            gone: Range { low: 0.02, middle: 0.03, high: 0.039 },
            name: "md-stripe, 512KiB chunk".into(),
            better: Better::Higher,
        };
        let line = |beside: &str| {
            let text = format!(
                "md-stripe, 512KiB chunk: 97.6 MB/s, 4.3 TB; {beside}; one failed volume loses everything: \
                 2.0 % to 3.9 % in 5 years (`--survive 0`)"
            );
            ("without copies".to_string(), text)
        };
        assert_eq!(of(1.33, true).line(), line("the answer is 25 % slower"));
        assert_eq!(of(0.5, true).line(), line("50 % slower"));
        assert_eq!(of(1.04, false).line(), line("not reliably faster or slower"));
    }

    /// It said that the search was ended, which was complete.
    #[test]
    fn what_had_no_time_is_not_of_the_search() {
        let drives = Drives::read("4x gp3").unwrap();
        let work = Work::find("postgres", &drives).unwrap();
        let clock = crate::Clock::default().within("10s", || 1.0);
        let asked =
            Question { survive: 1, is_survive_assumed: true, clock, ..Question::new(drives, work) };
        let (candidates, _) = asked.candidates().unwrap();
        let watch = &mut |_| ();
        let tried = Tried::new(&asked, &candidates, &Sim, watch).unwrap();
        assert_eq!(WithoutCopies::measure(&tried, &candidates[0]).unwrap(), None);
        assert_eq!((asked.clock.left_of_search(), asked.clock.caveat()), ([0, 0], ""));
    }

    /// The model, whose trials end with an error that is none of the time's.
    struct Ends<'a>(&'a AtomicBool);

    impl Rig for Ends<'_> {
        fn name(&self) -> &'static str {
            Sim.name()
        }

        fn capabilities(&self) -> Capabilities {
            Sim.capabilities()
        }

        fn admit(&self, trial: &Trial) -> Result<()> {
            Sim.admit(trial)
        }

        fn samples(&self, trial: &Trial) -> Vec<&'static str> {
            Sim.samples(trial)
        }

        fn prepare<'a>(&'a self, _: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
            self.0.store(true, Ordering::Relaxed);
            Err(Error::failure("the guest ended"))
        }
    }

    /// It was taken for no time, where the time was over, too.
    #[test]
    fn what_fails_as_the_time_ends_is_an_error() {
        let drives = Drives::read("4x gp3").unwrap();
        let work = Work::find("postgres", &drives).unwrap();
        let has_run = Arc::new(AtomicBool::new(false));
        let seen = has_run.clone();
        let clock = crate::Clock::default()
            .within("10s", move || f64::from(u8::from(seen.load(Ordering::Relaxed))));
        let asked =
            Question { survive: 1, is_survive_assumed: true, clock, ..Question::new(drives, work) };
        let (candidates, _) = asked.candidates().unwrap();
        let (watch, rig) = (&mut |_| (), Ends(&has_run));
        let tried = Tried::new(&asked, &candidates, &rig, watch).unwrap();
        let error = WithoutCopies::measure(&tried, &candidates[0]).unwrap_err().to_string();
        assert!(error.contains("the guest ended") && asked.clock.is_over(), "{error}");
    }

    /// Who says what must survive, or which level it shall be, has decided.
    #[test]
    fn only_cloud_volumes_are_asked_and_only_where_nothing_was_said() {
        let of = |drives| {
            let drives = Drives::read(drives).unwrap();
            let work = Work::find("postgres", &drives).unwrap();
            let is_survive_assumed = true;
            Question { survive: 1, is_survive_assumed, ..Question::new(drives, work) }
        };
        let is_asked = |question: Question| WithoutCopies::is_asked(&question);
        assert!(is_asked(of("4x gp3")) && is_asked(of("2x azure-p30")));
        assert!(!is_asked(of("4x 980 pro 1tb")) && !is_asked(of("4x i3en")));
        assert!(!is_asked(Question { is_survive_assumed: false, ..of("4x gp3") }));
        assert!(!is_asked(Question { levels: vec!["md-raid5".into()], ..of("4x gp3") }));
        assert!(!is_asked(Question { spares: 1, ..of("4x gp3") }));
    }
}
