//! An experiment as the question: its own layouts are what is chosen among, whatever they are.

pub(crate) mod search;

use crate::answer::{Difference, Tuned, urgent_first};
use crate::beside::{Beside, OfExperiment};
use crate::clock::Clock;
use crate::commands::{self, Command};
use crate::confirm::{Confirm, Confirmed};
use crate::danger::{Exposed, Limit, Resync};
use crate::drives::Drives;
use crate::factors::Decides;
use crate::front::{self, FrontRow};
use crate::mount::rivals::{Rivals, with_options};
use crate::page::Page;
use crate::pick::of_experiment;
use crate::posed::search::measured;
use crate::question::Question;
use crate::rules::layouts;
use crate::space::{At, Open, Space};
use crate::what_if::{WhatIf, what_if};
use crate::{credit, danger, degraded, files, mixed, settings, spares, turns};
use block::SECTOR_BYTES;
use lab::catalogue::Drive;
use lab::experiment::{Experiment, Member, Trial};
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use risk::inputs::Inputs;
use risk::{Risk, in_words};
use serde_json::{Value as Json, json};
use std::path::Path;
use store::Manifest;
use store::ask;
use store::record::Record;
use verdict::judge::Ranked;
use verdict::tables::figure;
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

    /// Whether it can be answered on the rig that `open` opens, before anything runs.
    ///
    /// # Errors
    ///
    /// Where the rig cannot run it, a wish names what is not measured, or the drives' state lets nothing be ranked.
    pub fn check(&self, open: &Open<'_>) -> Result<()> {
        let (posed, beforehand) = self.parted()?;
        posed.space(open, &beforehand).map(|_| ())
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

    /// How to build what `trial` ran on.
    fn commands(&self, trial: &Trial, beside: &Beside) -> Vec<Command> {
        let own = commands::of_trial(&self.experiment, trial, self.question.as_ref(), beside);
        match &self.question {
            Some(question) => commands::free(own, &question.drives.names_taken),
            None => own,
        }
    }

    fn assumed(&self, verdict: &Verdict) -> Json {
        json!({
            "work": self.question.as_ref().and_then(|question| question.work.about()),
            "objective": verdict.objective,
            "safe": self.wishes.safe,
            "subject_to": self.wishes.subject_to,
            "price_usd": self.price_usd,
            "experiment": settings::json(&self.experiment),
        })
    }

    /// What the drives of a trial cost, spares included: `of_drives` where nobody says otherwise.
    pub(crate) fn cost_usd(&self, trial: &Trial, of_drives: Option<f64>) -> Option<f64> {
        let spares = self.question.as_ref().map_or(0, |question| question.spares);
        let count = trial.setup.volume.members.len() + spares;
        self.price_usd.map(|price| price * count as f64).or(of_drives)
    }

    /// What the volume of a trial may lose, where it is of modelled drives and no controller hides what it does.
    fn risk_of(&self, trial: &Trial) -> Option<Lost> {
        self.risk(trial)?.ok().map(|(risk, inputs)| Lost { risk, inputs })
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

/// Where a question comes from that flags asked.
pub(crate) const ORIGIN_ASSUMED: &str = "Assumed; --save FILE writes it as an experiment";

/// Answers the question of an experiment on the rig that `open` opens; `watch` is told how many cells are measured.
///
/// # Errors
///
/// Where the rig cannot run it, or a wish names what it does not measure.
pub fn tune_experiment(
    posed: &Posed,
    open: &Open<'_>,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let clock = posed.clock.anew();
    let in_time = |experiment: &Experiment| -> Result<Box<dyn Rig>> {
        Ok(Box::new(clock.stopping(open(experiment)?)))
    };
    answered(posed, &clock, &in_time, confirm, watch)
}

fn answered(
    posed: &Posed,
    clock: &Clock,
    open: &Open<'_>,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let (asked_for, (posed, beforehand)) = (posed, &posed.parted()?);
    let mut space = posed.space(open, beforehand)?;
    space.clock = clock.clone();
    confirm.map_or(Ok(()), |confirm| confirm.admit(&space.experiment))?;
    let (mut records, measured) = measured(posed, &space, open, watch)?;
    let mut verdict = verdict_of(posed, &space, &records)?;
    let all = space.layouts.len() * posed.effort().seeds as usize;
    let rivals = with_options(posed, &mut space, open, (&mut verdict, &mut records))?;
    let (asked, unconfirmed) =
        clock.ask(confirm, |of| of.ask_space(&space, &verdict, &posed.wishes, open))?;
    let confirmed = asked.as_ref().map(|(confirmed, _)| confirmed);
    // What is measured on a slower rig is what counts.
    let turned = asked.as_ref().filter(|(of, _)| !of.without_processor && !of.holds);
    let judged = turned.map_or(&verdict, |(_, there)| there);
    let first = of_experiment(judged, &space.manifest);
    let second = judged.ranked.iter().find(|of| first.is_none_or(|first| first.at != of.at));
    let best = first.and_then(|first| space.place(&first.at));
    let answer = first.map(|first| &first.at);
    let (front, is_modelled) = front_of(posed, &space, open, (&verdict, &records), answer)?;
    let risk = best.and_then(|best| posed.risk_of(&space.trials[best]));
    let said = Said { posed, space: &space, verdict: judged, best, confirmed }.told(clock);
    let beside = beside(posed, &space, open, (answer, &records), risk.as_ref())?;
    // What is built is another layout, where a slower rig turned the choice.
    let trials = measured + rivals.trials;
    let rivals = if turned.is_some() { Rivals::default() } else { rivals };
    let beside = Beside { rivals, ..beside };
    let decides = Decides::of(&verdict);
    let what_if = what_if(posed, &space, (open, clock), ([&verdict, judged], &records))?;
    let WhatIf { reasons, in_doubt, sensitivity, not_tried } = what_if;
    let mut lines = said.lines(risk.as_ref(), &front, &beside);
    mixed::say(&mut lines, best.map(|best| &space.trials[best]));
    lines.extend(posed.known_line(&space, best, beforehand));
    let is_best = |row: &FrontRow| answer == Some(&row.at);
    lines.extend(degraded::lines(&front, is_best, verdict.better, is_modelled));
    lines.extend(decides.line(str::to_string));
    turns::put_behind_doubts(&mut lines, in_doubt);
    lines.extend(turns::lines(&sensitivity));
    urgent_first(&mut lines);
    let not_tried = clock.say(&mut lines, unconfirmed.into_iter().chain(not_tried));
    Ok(Tuned {
        best: first.map(|first| first.at.clone()).unwrap_or_default(),
        runner_up: second.map(|second| second.at.clone()),
        difference: first.zip(second).map(|(first, second)| difference(first, second)),
        verdict: said.sentence() + clock.caveat(),
        lines,
        decides,
        page: Page::of(&space.manifest, records, verdict.clone()),
        front,
        risk: risk.as_ref().map_or(Json::Null, Lost::json),
        reasons,
        sensitivity,
        not_tried,
        rules: layouts::of_layouts(&space, judged),
        commands: best.map_or(Vec::new(), |best| posed.commands(&space.trials[best], &beside)),
        bitmap: beside.bitmap,
        scheduler: beside.scheduler,
        read_ahead: beside.read_ahead,
        align: beside.align,
        blocks: beside.blocks,
        mount: beside.mount.or(beside.rivals.mount),
        without_copies: None,
        assumed: asked_for.assumed(&verdict),
        confirmed: confirmed.cloned(),
        warnings: space.warnings.clone(),
        evaluations: trials,
        evaluations_left: clock.left_of_search()[1],
        short_evaluations: 0,
        short_evaluations_left: 0,
        exhaustive_evaluations: all,
        experiment: posed.text.clone(),
        origin: if posed.question.is_some() { ORIGIN_ASSUMED } else { "The experiment" },
    })
}

/// Whether the drives of an experiment, which may be that of a file, can be ranked in the state that it gives them.
pub(crate) fn check_credit(space: &Space, is_of_file: bool) -> Result<()> {
    let members = space.trials.iter().flat_map(|trial| &trial.setup.volume.members);
    let drives = members.filter_map(|member| Some(&**member.drive()?));
    credit::check(&space.experiment, drives, is_of_file)
}

/// The front, with what fails and what is kept as a spare; and whether a failed member is modelled.
fn front_of(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (verdict, records): (&Verdict, &[Record]),
    answer: Option<&At>,
) -> Result<(Vec<FrontRow>, bool)> {
    let mut front = front::of_posed(space, (verdict, records), posed, answer)?;
    let is_modelled = degraded::of_posed(posed, space, open, (records, &mut front));
    for row in spares::of_files(posed, space, open, (verdict, records), &front)? {
        row.stand_among(&mut front, verdict.better);
    }
    Ok((front, is_modelled))
}

/// What the trials say, beside what was published of the same experiment.
pub(crate) fn verdict_of(posed: &Posed, space: &Space, records: &[Record]) -> Result<Verdict> {
    let printed = lab::published::of(&space.manifest)?;
    let verdict = Verdict::new(&space.manifest, records, &posed.wishes)?;
    Ok(verdict.beside_printed(&space.manifest, printed.as_ref()))
}

/// The price of each drive of a trial in words.
fn price_of(trial: &Trial, price_usd: f64) -> String {
    let drive = trial.setup.volume.members.first().and_then(Member::drive);
    drive.map_or_else(|| format!("US$ {price_usd}"), |drive| front::price(price_usd, drive))
}

/// How long a resync of what a trial runs on takes.
fn resync(trial: &Trial, inputs: &Inputs) -> Result<Resync> {
    let volume = &trial.setup.volume;
    let members = volume.members.iter();
    let drives: Vec<&Drive> = members.filter_map(|member| Some(&**member.drive()?)).collect();
    danger::resync(&volume.level, inputs, &drives, Limit(trial.setup.host.storage_per_s[1]))
}

/// What is set beside the `best`, if it is one of the layouts; `lost` is what it may lose.
fn beside(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (best, records): (Option<&At>, &[Record]),
    lost: Option<&Lost>,
) -> Result<Beside> {
    let Some((best, place)) = best.and_then(|best| Some((best, space.place(best)?))) else {
        return Ok(Beside::default());
    };
    let trial = &space.trials[place];
    let resync = lost.map(|lost| resync(trial, &lost.inputs)).transpose()?.unwrap_or_default();
    let layout = OfExperiment { space, open, wishes: &posed.wishes, best, records };
    Ok(layout.beside(trial, resync))
}

fn difference(first: &Ranked, second: &Ranked) -> Difference {
    let interval = second.behind_interval;
    Difference {
        estimate: second.behind / first.behind,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
}

/// What the best may lose in five years.
struct Lost {
    risk: Risk,
    inputs: Inputs,
}

impl Lost {
    fn json(&self) -> Json {
        danger::json(&self.risk, &self.inputs)
    }
}

/// What was found, to be said.
struct Said<'a> {
    posed: &'a Posed,
    space: &'a Space,
    verdict: &'a Verdict,
    best: Option<usize>,
    confirmed: Option<&'a Confirmed>,
}

impl Said<'_> {
    /// The same, and whoever waits is told: what is measured from now on stands beside it.
    fn told(self, clock: &Clock) -> Self {
        if self.best.is_some() {
            clock.tell(&self.sentence());
        }
        self
    }

    /// What to build; where only one layout is asked about, what that does.
    fn sentence(&self) -> String {
        let Verdict { answer, .. } = self.verdict;
        if answer.is_empty() {
            self.verdict.of_one()
        } else if self.is_unsafe_by_caches() {
            format!(
                "{answer} Or turn the drives' write caches off: `--set drive.write_cache=false`."
            )
        } else {
            answer.clone()
        }
    }

    /// Whether nothing is safe, and all drives have caches that are on and can be off: `--safe` leaves an experiment as it is.
    fn is_unsafe_by_caches(&self) -> bool {
        let members = || self.space.trials.iter().flat_map(|trial| &trial.setup.volume.members);
        let can_be_off = |of: &Member| of.drive().is_some_and(|drive| drive.takes("write_cache"));
        self.posed.wishes.safe
            && self.verdict.ranked.is_empty()
            && self.verdict.left_out.iter().any(|out| out.is_unsafe)
            && members().all(can_be_off)
            && members().any(Member::has_write_cache)
    }

    fn lines(
        &self,
        lost: Option<&Lost>,
        front: &[FrontRow],
        beside: &Beside,
    ) -> Vec<(String, String)> {
        let points = self.verdict.points.iter();
        let mut lines: Vec<(String, String)> =
            points.map(|point| (point.about.clone(), point.text.clone())).collect();
        lines.extend(self.crash().map(|crash| ("crash".into(), crash)));
        let confirmed = self.confirmed.map(Confirmed::line);
        lines.extend(confirmed.map(|line| ("confirmed".to_string(), line)));
        if let Some(question) = &self.posed.question {
            lines.extend(files::lines(self.posed, question));
        }
        lines.extend(self.cost().map(|cost| ("cost".into(), cost)));
        if let Some(Lost { risk, .. }) = lost {
            let [low, high] = [risk.gone.low, risk.gone.high].map(in_words);
            let gone = if low == high { low } else { format!("{low} to {high}") };
            lines.push(("in 5 years".into(), format!("all data lost {gone} (docs/risk.md)")));
            let best = self.verdict.ranked.first().map(|best| (best.value, self.verdict.better));
            let safer = best.and_then(|best| front::safer(front, risk, best));
            lines.extend(safer.map(|line| ("safer".into(), line)));
        }
        lines.extend(beside.lines());
        lines
    }

    /// What a power cut loses of files.
    fn crash(&self) -> Option<String> {
        let best = self.best.filter(|_| self.posed.question.is_some())?;
        let kind = self.space.layouts[best].get("fs.kind").map(store::record::plain);
        let kind = kind.or_else(|| Some(self.space.experiment.value("fs.kind")?.to_string()))?;
        files::crash(&kind, &self.verdict.ranked.first()?.facts)
    }

    /// What the drives of the best cost, for what can be used of them.
    fn cost(&self) -> Option<String> {
        let trial = &self.space.trials[self.best?];
        let bytes = self.posed.room_bytes(trial)?;
        let spares = self.posed.question.as_ref().map_or(0, |question| question.spares);
        let count = trial.setup.volume.members.len() + spares;
        let facts = self.verdict.ranked.first().and_then(|best| best.facts.price_usd);
        let price = self.posed.price_usd.or(facts.map(|all| all / (count - spares) as f64))?;
        let gigabytes = bytes as f64 / 1e9;
        Some(format!(
            "{count} drives at {}: US$ {:.0}, {} per usable GB",
            price_of(trial, price),
            price * count as f64,
            figure(price * count as f64 / gigabytes)
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::remembered::Sim;

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
