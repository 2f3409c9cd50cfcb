//! An experiment as the question: its own layouts are what is chosen among, whatever they are.

use crate::danger::{self, Exposed, Limit};
use crate::question::drives::Drives;
use crate::question::{Question, burst_credit, settings};
use crate::search::clock::Clock;
use crate::search::layouts::Space;
use block::SECTOR_BYTES;
use lab::catalogue::Drive;
use lab::experiment::{Experiment, Trial};
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use risk::Risk;
use risk::inputs::Inputs;
use std::path::Path;
use store::record::Record;
use store::{Manifest, ask};
use verdict::{Verdict, Wishes};

/// An experiment that asks which of its layouts to choose.
#[derive(Clone, Debug)]
pub struct Posed {
    /// The experiment.
    pub experiment: Experiment,
    /// What is shown of it.
    pub text: String,
    /// What to rank its layouts by, and what must hold.
    pub wishes: Wishes,
    /// What one drive costs, in US dollars, where the experiment's drives do not say.
    pub price_usd: Option<f64>,
    /// What a run of the same experiment has measured before; nothing of it is measured again.
    pub known: Vec<Record>,
    /// The drives, the work and the wishes that it was made of, if it was.
    pub question: Option<Question>,
    /// Until when trials are begun.
    pub clock: Clock,
}

impl Posed {
    /// The question of an experiment, of which no results are known.
    ///
    /// # Errors
    ///
    /// Where a wish is no formula.
    pub fn new(experiment: Experiment, wishes: Wishes, price_usd: Option<f64>) -> Result<Posed> {
        let wishes = with_asked(&experiment, wishes);
        let price_usd = price_usd.or_else(|| experiment.asked("ask.price").first()?.parse().ok());
        // The search takes seeds one by one, and more of them only where they decide something.
        let mut experiment = experiment.seed_by_seed();
        let says_repeats = experiment.settings().contains_key("run.repeats");
        if experiment.searches_a_rate() && !says_repeats {
            // The race has seeds of its own.
            experiment.set_values("run.repeats", "1").expect("it is a number");
        }
        let text = settings::text(&asking(experiment.clone(), &wishes)?);
        Ok(Posed {
            experiment,
            text,
            wishes,
            price_usd,
            known: Vec::new(),
            question: None,
            clock: Clock::default(),
        })
    }

    /// Takes what a results directory has, which must be of this experiment on `rig`. Returns what to say of what is left of it.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is of something else.
    pub fn take(&mut self, directory: &Path, rig: &dyn Rig) -> Result<Option<String>> {
        let read = lab::read_results(directory)?;
        let run = Run::plan(&self.experiment, rig)?;
        let manifest = run.manifest();
        let of = |manifest: &Manifest| {
            (manifest.experiment.clone(), manifest.rig.clone(), manifest.machine.clone())
        };
        if of(&read.manifest) != of(manifest) {
            return Err(Error::input(format!(
                "{} holds the results of another experiment, rig or seed, or of another machine; leave it out",
                directory.display()
            )));
        }
        // Later repeats of a run have other seeds than those that the search gives the same numbers, and are no pairs of these.
        let planned = run.trials().iter().map(|trial| trial.repeat + 1).max().unwrap_or(0);
        let of_same_seeds = |record: &Record| record.repeat < planned;
        let (known, left): (Vec<Record>, Vec<Record>) =
            read.records.into_iter().partition(of_same_seeds);
        self.known = known;
        Ok((!left.is_empty()).then(|| {
            format!(
                "{}: {} of its {} trials are not used: the search has other seeds for its later repeats",
                directory.display(),
                left.len(),
                left.len() + self.known.len()
            )
        }))
    }

    /// Bytes that can be used of what a trial runs on: of whole drives, where it takes a part of them.
    pub(crate) fn room_bytes(&self, trial: &Trial) -> Option<u64> {
        let volume = &trial.setup.volume;
        match &self.question {
            Some(question) => Some(question.usable_bytes(&volume.level)),
            None => volume.layout().ok().map(|layout| layout.sectors() * SECTOR_BYTES),
        }
    }

    /// What the drives of a trial cost, spares included: `of_drives` where nobody says otherwise.
    pub(crate) fn cost_usd(&self, trial: &Trial, of_drives: Option<f64>) -> Option<f64> {
        let spares = self.question.as_ref().map_or(0, |question| question.spares);
        let count = trial.setup.volume.members.len() + spares;
        self.price_usd.map(|price| price * count as f64).or(of_drives)
    }

    pub(crate) fn risk(&self, trial: &Trial) -> Option<Result<(Risk, Inputs)>> {
        Some(self.exposed(trial)?.map(|exposed| risk_of(trial, exposed)))
    }

    /// What that is worked out from.
    pub(crate) fn exposed(&self, trial: &Trial) -> Option<Result<Exposed>> {
        let volume = &trial.setup.volume;
        let drives = volume.members.iter().map(|member| member.drive().map(|drive| &**drive));
        let drives: Vec<&Drive> = drives.collect::<Option<_>>()?;
        let limit = Limit(trial.setup.host.storage_per_s[1]);
        Some(match &self.question {
            Some(question @ Question { drives: Drives { drive, .. }, .. }) => {
                danger::exposed(&volume.level, drives.len(), question.into(), drive, limit)
            }
            None => danger::exposed_members(&volume.level, &drives, limit),
        })
    }
}

/// The wishes with what the experiment's `[ask]` has beside them. Its objective is of what is known beforehand, of which
/// there is one.
fn with_asked(experiment: &Experiment, mut wishes: Wishes) -> Wishes {
    for text in experiment.asked(ask::SUBJECT_TO) {
        if !wishes.subject_to.iter().any(|own| own.trim() == text) {
            wishes.subject_to.push(text);
        }
    }
    wishes.safe |= experiment.asks_safe();
    if !wishes.objectives.iter().any(|own| ask::is_beforehand(own)) {
        wishes.objectives.extend(experiment.asked(ask::OBJECTIVE));
    }
    wishes
}

/// The experiment as one that asks what is wished.
fn asking(mut experiment: Experiment, wishes: &Wishes) -> Result<Experiment> {
    let (beforehand, measured): (Vec<String>, Vec<String>) =
        wishes.objectives.iter().cloned().partition(|text| ask::is_beforehand(text));
    let all = [
        ("objective", measured),
        (ask::OBJECTIVE, beforehand),
        (ask::SUBJECT_TO, wishes.subject_to.clone()),
        ("ask.choose", wishes.choose.clone()),
        (ask::SAFE, wishes.safe.then(|| "true".to_string()).into_iter().collect()),
    ];
    for (path, texts) in all.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        experiment.ask(path, &texts)?;
    }
    Ok(experiment)
}

/// What the volume of a trial may lose, and what that assumes.
pub(crate) fn risk_of(trial: &Trial, exposed: Exposed) -> (Risk, Inputs) {
    let (risk, inputs) = exposed.assessed();
    // A partial parity log restores what is torn.
    let torn = risk.torn.filter(|_| !trial.setup.volume.has_ppl);
    (Risk { torn, ..risk }, inputs)
}

/// Whether the drives of an experiment, which may be that of a file, can be ranked in the state that it gives them.
pub(crate) fn check_credit(space: &Space, is_of_file: bool) -> Result<()> {
    let members = space.trials.iter().flat_map(|trial| &trial.setup.volume.members);
    let drives = members.filter_map(|member| Some(&**member.drive()?));
    burst_credit::check(&space.experiment, drives, is_of_file)
}

/// What the trials say, beside what was published of the same experiment.
pub(crate) fn verdict_of(posed: &Posed, space: &Space, records: &[Record]) -> Result<Verdict> {
    let printed = lab::published::of(&space.manifest)?;
    let verdict = Verdict::new(&space.manifest, records, &posed.wishes)?;
    Ok(verdict.beside_printed(&space.manifest, printed.as_ref()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::front;
    use crate::search::layouts::At;
    use crate::search::remembered::Sim;

    /// An experiment as the question, its layouts, and what was measured of them.
    pub(crate) fn asked(text: &str) -> (Posed, Space, Vec<Record>) {
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let posed = Posed::new(experiment, Wishes::default(), None).unwrap();
        let space = Space::new(&posed.experiment, &Sim, &posed.wishes).unwrap();
        let all: Vec<usize> = (0..space.layouts.len()).collect();
        let records = space.measure(&all, &|_| Ok(Box::new(Sim)), 0).unwrap();
        (posed, space, records)
    }

    pub(crate) const COPIES: &str = "run.repeats = 1\nvolume.drives = '4xp4800x-375gb'\n\
                          volume.level = ['md-raid10', 'md-raid10-f2', 'md-raid5']\n\
                          [workload.w]\nkind = 'random'\nreads_percent = 50\nblock = '8KiB'\ncount = 500\n";

    /// A slower rig may choose what the search has behind, and what others are no worse than.
    #[test]
    fn what_is_chosen_is_on_the_front() {
        let (posed, space, records) = asked(COPIES);
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let far = verdict.ranked.iter().find(|of| of.at["volume.level"] == "md-raid10-f2").unwrap();
        let is_there = |answer: &At| {
            let rows = front::of_posed(&space, (&verdict, &records), &posed, Some(answer)).unwrap();
            rows.iter().any(|row| row.at == far.at)
        };
        assert!(!is_there(&verdict.ranked[0].at), "near copies are as fast: {:?}", verdict.ranked);
        assert!(is_there(&far.at));
    }
}
